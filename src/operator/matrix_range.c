#include <math.h>

#include "points/functionals.h"
#include "points/points.h"
#include <gram/matrix.h>

static void widen(double value, double range[2])
{
    if (!(value >= range[0])) range[0] = value;
    if (!(value <= range[1])) range[1] = value;
}

static gram_status diagonal_range(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                  gram_matrix_ranges *out)
{
    gram_status status = GRAM_OK;
    double *values = NULL;
    TRY(gram_take(context, "matrix_range: diagonal", x->n, sizeof *values, (void **)&values));
    TRY(gram_matrix_diagonal(context, kernel, x, values));
    for (int64_t i = 0; i < x->n; i++) widen(values[i], out->diagonal);
done:
    gram_give(context, values);
    return status;
}

/* Evenly spaced rows are points with a longer ld: nothing is copied. */
static gram_status rest_range(gram_context *context, const gram_kernel *kernel, const gram_points *x, int64_t most,
                              gram_matrix_ranges *out)
{
    gram_status status = GRAM_OK;
    gram_points *part = NULL;
    double *K = NULL;
    const int64_t step = (x->n + most - 1) / most, m = (x->n + step - 1) / step;
    TRY(x->f64 ? gram_points_create_f64(context, m, x->d, x->f64, step * x->ld, &part)
               : gram_points_create_f32(context, m, x->d, x->f32, step * x->ld, &part));
    TRY(gram_points_set_objects(context, x->objects, &part));
    TRY(gram_take(context, "matrix_range: sample", m * m, sizeof *K, (void **)&K));
    TRY(gram_matrix(context, kernel, part, NULL, K, m));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < i; j++) widen(K[i * m + j], out->rest);
    out->rows = m;
done:
    gram_give(context, K);
    gram_points_release(part);
    return status;
}

gram_status gram_matrix_range(gram_context *context, const gram_kernel *kernel, const gram_points *x, int64_t most,
                              gram_matrix_ranges *out)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(gram_points_must_be_plain(context, "matrix_range", x));
    FAIL_IF(!kernel || !x || !out, context, GRAM_ERROR_ARGUMENT, "matrix_range: %s is NULL",
            !kernel ? "kernel"
            : !x    ? "x"
                    : "out");
    FAIL_IF(most < 1 || most > 1 << 20, context, GRAM_ERROR_ARGUMENT, "matrix_range: most = %lld is not from 1 to 2^20",
            (long long)most);
    *out = (gram_matrix_ranges){{NAN, NAN}, {NAN, NAN}, 0};
    TRY(diagonal_range(context, kernel, x, out));
    TRY(rest_range(context, kernel, x, most, out));
done:
    return status;
}

gram_status gram_matrix_check(gram_context *context, const gram_kernel *kernel, const gram_points *x)
{
    gram_status status = GRAM_OK;
    gram_kernel *resolved = NULL;
    double *diagonal = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!kernel || !x, context, GRAM_ERROR_ARGUMENT, "matrix_check: %s is NULL", kernel ? "x" : "kernel");
    TRY(gram_kernel_resolve(context, kernel, x, &resolved));
    TRY(gram_take(context, "matrix_check: diagonal", x->n, sizeof *diagonal, (void **)&diagonal));
    TRY(gram_matrix_diagonal(context, resolved, x, diagonal));
done:
    gram_give(context, diagonal);
    gram_kernel_release(resolved);
    return status;
}
