/* Features of a kernel from a partial Cholesky factor. The room for columns grows with what is needed: smooth kernels of few columns
 * have some dozens of features however many rows there are. */
#include "method/kernel_features.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/sweep.h"
#include "points/points.h"

/* Of the trace: with further pivots the inverse of L would cost more digits than they bring. */
static const double MISSED = 1e-10;
enum { FIRST_ROOM = 128, GROWTH = 3, MOST = 1000 };

int64_t gram_kernel_features_most(const gram_context *context, int64_t n, int64_t wanted)
{
    const double budget = (double)gram_memory_budget(context->memory), column = 8 * (double)n;
    int64_t most = wanted > 0 ? wanted : MOST;
    if (most > GRAM_PIVOTED_MOST) most = GRAM_PIVOTED_MOST;
    if (wanted == 0 && budget > 0 && budget / 5 < column * (double)most) most = (int64_t)(budget / 5 / column);
    if (most > n) most = n;
    return most > 0 ? most : 1;
}

double gram_kernel_features_bytes(int64_t n, int64_t most)
{
    const double copied = (double)(most < GRAM_FOLD_FEATURES ? most : GRAM_FOLD_FEATURES);
    return 2 * (double)gram_pivoted_bytes(n, most) + 16 * (double)n * copied + 8 * 12 * (double)most * (double)most;
}

static gram_status make_factor(gram_context *context, int64_t most, gram_kernel_features *features)
{
    gram_status status = GRAM_OK;
    gram_pivoted *factor = &features->factor;
    for (int64_t room = FIRST_ROOM;; room *= GROWTH) {
        const int64_t columns = room < most ? room : most;
        const gram_pivoted_options options = {.rule = &gram_pivot_largest, .room = columns, .tolerance = MISSED};
        TRY(gram_pivoted_make(context, features->kernel, features->x, &options, factor));
        if (columns == most || factor->rank < columns || factor->missed <= MISSED * factor->trace) break;
        gram_pivoted_free(context->memory, factor);
        *factor = (gram_pivoted){0};
    }
    features->rows = (gram_tall){factor->n, factor->rank, factor->room, factor->f};
    features->error = factor->trace > 0 ? fmax(factor->missed, 0) / factor->trace : 0;
done:
    return status;
}

static void centre_columns(gram_kernel_features *features)
{
    const gram_tall f = features->rows;
    for (int64_t i = 0; i < f.n; i++)
        for (int64_t j = 0; j < f.columns; j++) features->means[j] += f.data[i * f.ld + j] / (double)f.n;
    for (int64_t i = 0; i < f.n; i++)
        for (int64_t j = 0; j < f.columns; j++) f.data[i * f.ld + j] -= features->means[j];
}

/* Sets the trace; returns that of the centred features. */
static double measure(gram_kernel_features *features)
{
    const gram_tall f = features->rows;
    double means = 0;
    for (int64_t j = 0; j < f.columns; j++) {
        double sum = 0;
        for (int64_t i = 0; i < f.n; i++) {
            sum += f.data[i * f.ld + j];
            features->trace += f.data[i * f.ld + j] * f.data[i * f.ld + j];
        }
        means += sum * sum / (double)f.n;
    }
    return features->trace - means;
}

gram_status gram_kernel_features_make(gram_context *context, const char *view, gram_kernel *kernel,
                                      const gram_points *x, int64_t most, int centre, gram_kernel_features *features)
{
    gram_status status = GRAM_OK;
    *features = (gram_kernel_features){.kernel = kernel, .x = x};
    TRY(make_factor(context, most, features));
    const gram_pivoted *p = &features->factor;
    const int64_t rank = p->rank;
    TRY(gram_take(context, "features: pivots", rank * rank, sizeof(double), (void **)&features->pivots));
    TRY(gram_take(context, "features: means", rank, sizeof(double), (void **)&features->means));
    for (int64_t i = 0; i < rank; i++)
        for (int64_t j = 0; j < rank; j++)
            features->pivots[i * rank + j] = j <= i ? p->f[p->pivot[i] * p->room + j] : 0;
    for (int64_t j = 0; j < rank; j++) features->means[j] = 0;
    if (centre) centre_columns(features);
    const double varies = measure(features);
    FAIL_IF(!(varies > 64 * DBL_EPSILON * p->trace), context, GRAM_ERROR_DATA,
            "%s does not vary: all its rows are alike to the kernel", view);
done:
    return status;
}

void gram_kernel_features_free(gram_context *context, gram_kernel_features *features)
{
    gram_pivoted_free(context->memory, &features->factor);
    gram_give(context, features->pivots);
    gram_give(context, features->means);
    *features = (gram_kernel_features){0};
}

/* The pivots' coordinates, and L^-T w. */
static void fill(const gram_kernel_features *features, int64_t count, const double *weights, double *centres, double *a)
{
    const int64_t rank = features->rows.columns, d = gram_points_dimension(features->x);
    for (int64_t i = 0; i < rank; i++)
        for (int64_t l = 0; l < d; l++)
            centres[i * d + l] = gram_points_cell(features->x, features->factor.pivot[i], l);
    memcpy(a, weights, (size_t)(rank * count) * sizeof *a);
    const int blas = gram_blas_enter();
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (int)rank, (int)count, 1,
                features->pivots, (int)rank, a, (int)count);
    gram_blas_leave(blas);
}

gram_status gram_kernel_features_function(gram_context *context, const gram_kernel_features *features, int64_t count,
                                          const double *weights, gram_function **function)
{
    gram_status status = GRAM_OK;
    const int64_t rank = features->rows.columns, d = gram_points_dimension(features->x);
    gram_points *points = NULL;
    double *centres = NULL, *a = NULL, *constant = NULL;
    TRY(gram_take(context, "features: centres", rank * d, sizeof *centres, (void **)&centres));
    TRY(gram_take(context, "features: coefficients", rank * count, sizeof *a, (void **)&a));
    TRY(gram_take(context, "features: constant", count, sizeof *constant, (void **)&constant));
    fill(features, count, weights, centres, a);
    for (int64_t s = 0; s < count; s++) {
        constant[s] = 0;
        for (int64_t j = 0; j < rank; j++) constant[s] -= features->means[j] * weights[j * count + s];
    }
    TRY(gram_points_create_like(context, features->x, rank, centres, 0, &points));
    TRY(gram_function_create(context, features->kernel, points, count, a, count, constant, function));
done:
    gram_points_release(points);
    gram_give(context, centres);
    gram_give(context, a);
    gram_give(context, constant);
    return status;
}

gram_status gram_kernel_features_fix_signs(gram_context *context, const gram_kernel_features views[2], int64_t count,
                                           double *const weights[2])
{
    gram_status status = GRAM_OK;
    const int64_t n = views[0].rows.n;
    gram_tall sum = {n, count, count, NULL};
    TRY(gram_take(context, "features: outputs", n * count, sizeof(double), (void **)&sum.data));
    memset(sum.data, 0, (size_t)(n * count) * sizeof(double));
    for (int v = 0; v < 2; v++) TRY(gram_tall_add(context, views[v].rows, 1, weights[v], count, sum));
    for (int64_t s = 0; s < count; s++) {
        double largest = 0;
        for (int64_t i = 0; i < n; i++)
            if (fabs(sum.data[i * count + s]) > fabs(largest)) largest = sum.data[i * count + s];
        for (int v = 0; v < 2 && largest < 0; v++)
            for (int64_t j = 0; j < views[v].rows.columns; j++) weights[v][j * count + s] *= -1;
    }
done:
    gram_give(context, sum.data);
    return status;
}
