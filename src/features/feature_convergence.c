/* Errors of the first parts of a map, as it grows.
 *
 * A random map is a mean over independent parts: frequencies, each a cosine and a sine, grids, or units of a network. The mean over the first p of P
 * parts is P/p times the sum of their products, and is itself a map of p parts. Landmarks in the order in which they were chosen, and monomials in the
 * order of their degrees, add up without a factor. So one pass over the parts has the errors of all sizes. */
#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "features/feature_map.h"

enum { MOST_ROWS = 256 };

/* Inner products of m rows, part by part. */
typedef struct growth {
    int64_t m, parts, each; /* each: features of a part */
    int64_t fixed;          /* columns before the parts, which are in all of them */
    int random;
    int64_t ld;
    double *x, *z; /* rows; z: dense features, NULL for sparse maps */
    gram_csr csr;
    double *sum, *k;
} growth;

static void add_column(growth *g, int64_t column)
{
    double z[MOST_ROWS];
    for (int64_t i = 0; i < g->m; i++) z[i] = g->z[i * g->ld + column];
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < i; j++) g->sum[i * g->m + j] += z[i] * z[j];
}

static void add_grid(growth *g, int64_t grid)
{
    const int32_t *place = g->csr.column + grid;
    const double *value = g->csr.value + grid;
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < i; j++)
            if (place[i * g->parts] == place[j * g->parts])
                g->sum[i * g->m + j] += value[i * g->parts] * value[j * g->parts];
}

static void add_part(growth *g, int64_t part)
{
    if (!g->z) {
        add_grid(g, part);
        return;
    }
    for (int64_t e = 0; e < g->each; e++) add_column(g, g->fixed + e * g->parts + part);
}

/* Errors of the first p parts; columns before the parts have no factor. */
static gram_features_step measure(const growth *g, int64_t p)
{
    const double factor = g->random ? (double)g->parts / (double)p : 1;
    double squares = 0, largest = 0;
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < i; j++) {
            double inner = factor * g->sum[i * g->m + j];
            for (int64_t c = 0; c < g->fixed; c++) inner += g->z[i * g->ld + c] * g->z[j * g->ld + c];
            const double error = fabs(g->k[i * g->m + j] - inner);
            squares += error * error;
            largest = fmax(largest, error);
        }
    const double pairs = 0.5 * (double)g->m * (double)(g->m - 1);
    return (gram_features_step){g->fixed + p * g->each, pairs > 0 ? sqrt(squares / pairs) : 0, largest};
}

static void find_parts(const gram_features *map, growth *g)
{
    const int64_t dimension = map->report.dimension;
    *g = (growth){.each = 1, .parts = dimension, .ld = dimension};
    g->random = map->type != &gram_feature_explicit && map->type != &gram_feature_nystrom;
    if (map->type == &gram_feature_fourier) {
        g->each = 2;
        g->parts = dimension / 2;
    } else if (map->type->sparse) {
        g->parts = map->report.nonzeros;
    } else if (map->type == &gram_feature_neural) {
        g->parts = map->arrays[0].rows;
        g->fixed = dimension - g->parts;
    }
}

static gram_status make_rows(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                             growth *g)
{
    gram_status status = GRAM_OK;
    const int64_t d = map->d, m = n < MOST_ROWS ? n : MOST_ROWS;
    gram_points *few = NULL;
    g->m = m;
    TRY(gram_take(context, "features", m * d, sizeof *g->x, (void **)&g->x));
    TRY(gram_take(context, "features", m * m, sizeof *g->k, (void **)&g->k));
    TRY(gram_take(context, "features", m * m, sizeof *g->sum, (void **)&g->sum));
    memset(g->sum, 0, (size_t)(m * m) * sizeof *g->sum);
    for (int64_t i = 0; i < m; i++) memcpy(g->x + i * d, x + i * n / m * ldx, (size_t)d * sizeof *x);
    TRY(gram_points_create_f64(context, m, d, g->x, d, &few));
    TRY(gram_matrix(context, map->kernel, few, NULL, g->k, m));
    if (map->type->sparse)
        TRY(gram_features_csr(context, map, m, g->x, d, &g->csr));
    else
        TRY(gram_take(context, "features", m * g->ld, sizeof *g->z, (void **)&g->z));
    if (g->z) TRY(map->type->transform(context, map, m, g->x, d, g->z, g->ld));
done:
    gram_points_release(few);
    return status;
}

gram_status gram_features_convergence(gram_context *context, const gram_features *features, int64_t n, const double *x,
                                      int64_t ldx, int64_t *count, gram_features_step *steps)
{
    gram_status status = GRAM_OK;
    growth g = {0};
    FAIL_IF(!features || !x || !count || !steps, context, GRAM_ERROR_ARGUMENT, "features_convergence: %s is NULL",
            !features ? "features"
            : !x      ? "x"
            : !count  ? "count"
                      : "steps");
    FAIL_IF(n < 2 || ldx < features->d, context, GRAM_ERROR_ARGUMENT,
            "features_convergence: there are fewer than two rows, or ldx is below d");
    *count = 0;
    find_parts(features, &g);
    TRY(make_rows(context, features, n, x, ldx, &g));
    for (int64_t p = 1, next = 1; p <= g.parts; p++) {
        add_part(&g, p - 1);
        if (p < next && p < g.parts) continue;
        steps[(*count)++] = measure(&g, p);
        next = 2 * p;
    }
done:
    gram_csr_free(context, &g.csr);
    gram_give(context, g.z);
    gram_give(context, g.sum);
    gram_give(context, g.k);
    gram_give(context, g.x);
    return status;
}
