/* A matrix between two sets of coordinates, in coordinates whose own matrices are I: L^-1 C R^-T is to C what a correlation is to a
 * covariance, and L^-1 A L^-T turns the eigenproblem A v = mu B v, B = L L', into an ordinary one. */
#include "solve/cholesky/cholesky.h"

gram_status gram_cholesky_whiten(gram_context *context, const gram_cholesky *left, const gram_cholesky *right,
                                 double *c, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t rows = gram_cholesky_size(left), columns = gram_cholesky_size(right);
    TRY(gram_cholesky_substitute_f64(context, left, 0, columns, c, columns));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) out[j * rows + i] = c[i * columns + j];
    TRY(gram_cholesky_substitute_f64(context, right, 0, rows, out, rows));
done:
    return status;
}
