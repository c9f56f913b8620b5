/* Sketch-and-project with acceleration: A x = b with A = K(X, X) + diag(shift), a block of rows at a time. What a step keeps is a few
 * vectors and a low rank of one block: for n where the rank that conjugate gradients would need has no room. */
#ifndef GRAM_SOLVE_SKETCH_SKETCH_PROJECT_H
#define GRAM_SOLVE_SKETCH_SKETCH_PROJECT_H

#include <gram/matrix.h>

#include "base/context.h"

typedef struct gram_sketch_options {
    double tolerance; /* of the relative residual |b - A x|/|b|, the worst column; 0: 1e-5 */
    int64_t block;    /* rows of a step; 0: n/100, at least 200 */
    int64_t rank;     /* of a block's preconditioner; 0: 100 */
    int64_t passes;   /* over all rows, at most; 0: 300 */
} gram_sketch_options;

typedef struct gram_sketch_report {
    int64_t passes;
    double residual; /* the worst |b - A x|/|b|, from a product with all of A */
} gram_sketch_report;

/* Shifts above 0. x (n x columns, ld = columns, as b) holds the start and the result. Each pass makes all n^2 entries once, and so does the check of
 * the residual where it seems to be reached; 4 n columns numbers besides. GRAM_NOT_CONVERGED: the passes ran out, the last iterate stands. The
 * same bits for any number of threads; blocks are drawn by the context's seed. */
gram_status gram_sketch_solve(gram_context *context, gram_kernel *kernel, gram_points *points, const double *shift,
                              int64_t columns, const double *b, double *x, const gram_sketch_options *options,
                              gram_sketch_report *report);

#endif
