/* Sparse rows in the layout of scipy's CSR: row i has the numbers value[k] in the columns column[k], start[i] <= k < start[i + 1]. */
#ifndef GRAM_BASE_SPARSE_CSR_H
#define GRAM_BASE_SPARSE_CSR_H

#include "base/context.h"

typedef struct gram_csr {
    int64_t rows, columns;
    int64_t *start;  /* rows + 1 */
    int32_t *column; /* in increasing order within a row */
    double *value;
} gram_csr;

/* Room for rows of `each` numbers; `start` is filled. Free it after a failure, too; takes a zeroed one. */
gram_status gram_csr_take(gram_context *context, int64_t rows, int64_t columns, int64_t each, gram_csr *csr);
void gram_csr_free(gram_context *context, gram_csr *csr);
double gram_csr_bytes(double rows, double each);

static inline double gram_csr_dot(const gram_csr *a, int64_t row, const double *v)
{
    double sum = 0;
    for (int64_t k = a->start[row]; k < a->start[row + 1]; k++) sum += a->value[k] * v[a->column[k]];
    return sum;
}

static inline void gram_csr_axpy(const gram_csr *a, int64_t row, double factor, double *v)
{
    for (int64_t k = a->start[row]; k < a->start[row + 1]; k++) v[a->column[k]] += factor * a->value[k];
}

/* out = A v, a sweep over rows. */
gram_status gram_csr_times(gram_context *context, const gram_csr *a, const double *v, double *out);

/* out = A'u for rows that all have the same count of numbers, number k of a row in the k-th of as many equal ranges of columns: a task has some of
 * these ranges, so that sums have one order for any number of threads. */
gram_status gram_csr_transposed_times(gram_context *context, const gram_csr *a, const double *u, double *out);

#endif
