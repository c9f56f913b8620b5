/* A symmetric matrix in memory that solvers multiply by and factor with many different diagonals.
 *
 * Newton steps, interior points and cross-validation see one Gram matrix hundreds of times: it is made once, and each
 * factor is filled from it by the tiled Cholesky, which takes it for a kernel of row numbers. */
#ifndef GRAM_SOLVE_FACTORED_MATRIX_H
#define GRAM_SOLVE_FACTORED_MATRIX_H

#include <gram/cholesky.h>

#include "base/context.h"

typedef struct gram_loss_matrix {
    int64_t n;
    double *k;              /* n x n, row-major, both triangles */
    double *stand;          /* n numbers, the coordinates of `points` */
    gram_points *points;    /* stand for the rows */
    gram_kernel *by_number; /* k as a kernel of the rows' numbers */
    gram_operator *op;      /* k as an operator */
    double largest;         /* of the diagonal, at least 0 */
    double mean;            /* of the diagonal */
} gram_loss_matrix;

/* Takes k for the caller to fill; then `ready` makes the rest. On failure too, free is due. */
gram_status gram_loss_matrix_take(gram_context *context, int64_t n, gram_loss_matrix *matrix);
gram_status gram_loss_matrix_ready(gram_context *context, gram_loss_matrix *matrix);
void gram_loss_matrix_free(gram_context *context, gram_loss_matrix *matrix);

/* K(X, X), and the rows and columns `rows` of another matrix. */
gram_status gram_loss_matrix_make(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                  gram_loss_matrix *matrix);
gram_status gram_loss_matrix_part(gram_context *context, const gram_loss_matrix *whole, int64_t count,
                                  const int64_t *rows, gram_loss_matrix *matrix);

/* The factor of k + diag(shift), with the least jitter that it needs; *jitter gets the largest of itself and that. */
gram_status gram_loss_matrix_factor(gram_context *context, const gram_loss_matrix *matrix, const double *shift,
                                    double *jitter, gram_cholesky **factor);

/* The factor of a copy of k + shift I, k n x n without gaps. */
gram_status gram_matrix_factor_shifted(gram_context *context, int64_t n, const double *k, double shift,
                                       gram_cholesky **factor);

/* Work on few rows is hundreds of short sweeps, in which threads wait longer than they work: below 700 rows there is
 * one. Results do not depend on the number of threads. Returns what `restore` takes. */
int gram_loss_threads_fit(gram_context *context, int64_t n);
void gram_loss_threads_restore(gram_context *context, int threads);

/* out = k v, `columns` columns without gaps. */
gram_status gram_loss_matrix_apply(gram_context *context, const gram_loss_matrix *matrix, int64_t columns,
                                   const double *v, double *out);

#endif
