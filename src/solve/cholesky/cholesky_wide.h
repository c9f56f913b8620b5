/* The matrix M = L L' of an f32 factor, taken as it is: products and solves in f64 with the numbers that are stored.
 *
 * gram_cholesky_solve computes in f32 as well, so that what it applies is M^-1 only to the f32 rounding unit times the condition
 * number. That serves to solve; a determinant that is corrected by comparing A with M needs the M whose determinant is known. */
#ifndef GRAM_SOLVE_CHOLESKY_CHOLESKY_WIDE_H
#define GRAM_SOLVE_CHOLESKY_CHOLESKY_WIDE_H

#include <gram/cholesky.h>
#include <gram/random.h>

#include "base/context.h"

/* v = M^-1 v in place: n x columns, row-major; user is the f32 gram_cholesky. 2 n^2 columns operations in f64; a tile in f64 for
 * each thread. */
gram_status gram_cholesky_wide_solve(void *user, gram_context *context, int64_t columns, double *v, int64_t ldv);

/* Column c of v becomes vector number c of the stream, drawn from N(0, M): L g. Takes n columns numbers meanwhile. */
gram_status gram_cholesky_wide_draw(gram_context *context, const gram_cholesky *factor, gram_random random,
                                    int64_t columns, double *v, int64_t ldv);

#endif
