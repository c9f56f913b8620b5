/* A preconditioner for A = K + diag(shift) from neighbours: M^-1 = U U' with a sparse, upper triangular U in an order of the rows that
 * goes from coarse to fine. For rows that are functionals of smooth kernels, equations and boundary values, where no low rank of K is
 * near it and neighbours say nearly all about a row (Schaefer, Katzfuss and Owhadi 2021; Chen, Owhadi and Schaefer 2023). */
#ifndef GRAM_SOLVE_NEIGHBOURS_NEIGHBOUR_PRECONDITIONER_H
#define GRAM_SOLVE_NEIGHBOURS_NEIGHBOUR_PRECONDITIONER_H

#include <gram/matrix.h>
#include <gram/random.h>

#include "base/context.h"

typedef struct gram_neighbours gram_neighbours;

/* With at most `count` neighbours of a group of at most 32 rows, 1 to 256. O(n log n + n count^2) time in few columns, n (count + 32) numbers. GRAM_ERROR_NUMERICAL: a
 * group and its neighbours have a matrix that is not positive definite. The same bits for any number of threads. */
gram_status gram_neighbours_create(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                   const double *shift, int64_t count, gram_neighbours **neighbours);
/* Takes NULL. */
void gram_neighbours_destroy(gram_neighbours *neighbours);

/* For gram_cg_options.precondition: v = M^-1 v, user is the gram_neighbours. */
gram_status gram_neighbours_precondition(void *user, gram_context *context, int64_t columns, double *v, int64_t ldv);

double gram_neighbours_log_determinant(const gram_neighbours *neighbours);
/* Column c of v becomes vector number c of the stream, drawn from N(0, M). */
gram_status gram_neighbours_draw(gram_context *context, const gram_neighbours *neighbours, gram_random random,
                                 int64_t columns, double *v, int64_t ldv);

#endif
