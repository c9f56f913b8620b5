#include "solve/factored_matrix.h"

#include <math.h>
#include <string.h>

gram_status gram_loss_matrix_take(gram_context *context, int64_t n, gram_loss_matrix *matrix)
{
    gram_status status = GRAM_OK;
    int64_t numbers;
    memset(matrix, 0, sizeof *matrix);
    FAIL_IF(!gram_size_multiply(n, n, &numbers), context, GRAM_ERROR_OVERFLOW,
            "gram matrix: %lld x %lld numbers are more than can be addressed", (long long)n, (long long)n);
    matrix->n = n;
    TRY(gram_take(context, "gram matrix", numbers, sizeof(double), (void **)&matrix->k));
    TRY(gram_take(context, "row numbers", n, sizeof(double), (void **)&matrix->stand));
done:
    return status;
}

gram_status gram_loss_matrix_ready(gram_context *context, gram_loss_matrix *matrix)
{
    gram_status status = GRAM_OK;
    const int64_t n = matrix->n;
    for (int64_t i = 0; i < n; i++) {
        matrix->stand[i] = (double)i;
        matrix->largest = fmax(matrix->largest, matrix->k[i * (n + 1)]);
        matrix->mean += matrix->k[i * (n + 1)] / (double)n;
    }
    TRY(gram_points_create_f64(context, n, 1, matrix->stand, 1, &matrix->points));
    TRY(gram_kernel_precomputed(context, "rows", n, matrix->k, n, &matrix->by_number));
    TRY(gram_operator_create_dense(context, n, matrix->k, n, &matrix->op));
done:
    return status;
}

void gram_loss_matrix_free(gram_context *context, gram_loss_matrix *matrix)
{
    gram_operator_release(matrix->op);
    gram_kernel_release(matrix->by_number);
    gram_points_release(matrix->points);
    gram_give(context, matrix->stand);
    gram_give(context, matrix->k);
    memset(matrix, 0, sizeof *matrix);
}

gram_status gram_loss_matrix_make(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                  gram_loss_matrix *matrix)
{
    gram_status status = GRAM_OK;
    TRY(gram_loss_matrix_take(context, gram_points_count(x), matrix));
    TRY(gram_matrix(context, kernel, x, NULL, matrix->k, matrix->n));
    TRY(gram_loss_matrix_ready(context, matrix));
done:
    return status;
}

gram_status gram_loss_matrix_part(gram_context *context, const gram_loss_matrix *whole, int64_t count,
                                  const int64_t *rows, gram_loss_matrix *matrix)
{
    gram_status status = GRAM_OK;
    TRY(gram_loss_matrix_take(context, count, matrix));
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < count; j++) matrix->k[i * count + j] = whole->k[rows[i] * whole->n + rows[j]];
    TRY(gram_loss_matrix_ready(context, matrix));
done:
    return status;
}

gram_status gram_loss_matrix_factor(gram_context *context, const gram_loss_matrix *matrix, const double *shift,
                                    double *jitter, gram_cholesky **factor)
{
    double added = 0;
    const gram_status status =
        gram_cholesky_create(context, matrix->by_number, matrix->points, shift, GRAM_STORAGE_F64, &added, factor);
    *jitter = fmax(*jitter, added);
    return status;
}

gram_status gram_matrix_factor_shifted(gram_context *context, int64_t n, const double *k, double shift,
                                       gram_cholesky **factor)
{
    gram_status status = GRAM_OK;
    gram_loss_matrix matrix = {0};
    double *shifts = NULL, jitter = 0;
    TRY(gram_loss_matrix_take(context, n, &matrix));
    memcpy(matrix.k, k, (size_t)(n * n) * sizeof *k);
    TRY(gram_loss_matrix_ready(context, &matrix));
    TRY(gram_take(context, "shift", n, sizeof *shifts, (void **)&shifts));
    for (int64_t i = 0; i < n; i++) shifts[i] = shift;
    TRY(gram_loss_matrix_factor(context, &matrix, shifts, &jitter, factor));
done:
    gram_give(context, shifts);
    gram_loss_matrix_free(context, &matrix);
    return status;
}

gram_status gram_loss_matrix_apply(gram_context *context, const gram_loss_matrix *matrix, int64_t columns,
                                   const double *v, double *out)
{
    return gram_operator_apply(context, matrix->op, columns, v, columns, out, columns);
}

int gram_loss_threads_fit(gram_context *context, int64_t n)
{
    enum { FEW = 700 };
    const int threads = context->threads;
    if (n < FEW) context->threads = 1;
    return threads;
}

void gram_loss_threads_restore(gram_context *context, int threads)
{
    context->threads = threads;
}
