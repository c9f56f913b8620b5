/* Nystrom features: z(x) = L^-1 k(P, x) for landmarks P, L L' = K(P, P): z(x).z(y) = k(x, P) K(P, P)^-1 k(P, y). The landmarks are the
 * pivots of a partial Cholesky factor, and L are its rows. */
#include <cblas.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "base/sweep.h"
#include "features/feature_map.h"
#include "points/points.h"
#include "solve/pivoted_cholesky.h"

static const double PIVOT_TOLERANCE = 1e-12; /* of the trace: further pivots would make L as good as singular */

enum { LANDMARKS, FACTOR };

typedef struct solve_rows {
    const gram_features *map;
    double *out;
    int64_t ldo;
} solve_rows;

/* Z = B L^-T, by blocks of rows. */
static void run_rows(const void *argument, int64_t begin, int64_t end, double *scratch)
{
    const solve_rows *rows = argument;
    const int64_t m = rows->map->report.dimension;
    (void)scratch;
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)(end - begin), (int)m, 1,
                rows->map->arrays[FACTOR].data, (int)m, rows->out + begin * rows->ldo, (int)rows->ldo);
}

static gram_status transform(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                             double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    const solve_rows rows = {map, out, ldo};
    gram_points *points = NULL;
    TRY(gram_points_create_f64(context, n, map->d, x, ldx, &points));
    TRY(gram_matrix(context, map->kernel, points, map->own, out, ldo));
    TRY(gram_feature_rows(context, n, 64, 0, run_rows, &rows));
done:
    gram_points_release(points);
    return status;
}

static gram_status residual(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                            double *out)
{
    gram_status status = GRAM_OK;
    const int64_t m = map->report.dimension;
    gram_points *points = NULL;
    double *z = NULL;
    TRY(gram_points_create_f64(context, n, map->d, x, ldx, &points));
    TRY(gram_take(context, "features", n * m, sizeof *z, (void **)&z));
    TRY(gram_matrix_diagonal(context, map->kernel, points, out));
    TRY(transform(context, map, n, x, ldx, z, m));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < m; j++) out[i] -= z[i * m + j] * z[i * m + j];
        out[i] = fmax(out[i], 0);
    }
done:
    gram_give(context, z);
    gram_points_release(points);
    return status;
}

static gram_status open_map(gram_context *context, gram_features *map)
{
    gram_status status = GRAM_OK;
    const gram_feature_array *landmarks = &map->arrays[LANDMARKS], *factor = &map->arrays[FACTOR];
    FAIL_IF(landmarks->columns != map->d || factor->rows != landmarks->rows || factor->columns != landmarks->rows,
            context, GRAM_ERROR_DATA, "features: the landmarks and their factor do not belong together");
    for (int64_t i = 0; i < factor->rows; i++)
        FAIL_IF(!(factor->data[i * factor->rows + i] > 0), context, GRAM_ERROR_DATA,
                "features: the factor of the landmarks has no positive diagonal");
    TRY(gram_points_create_f64(context, landmarks->rows, map->d, landmarks->data, map->d, (gram_points **)&map->own));
    map->report.dimension = landmarks->rows;
done:
    return status;
}

static void close_map(gram_features *map)
{
    gram_points_release(map->own);
}

static gram_status make(gram_context *context, gram_features *map, const gram_points *x,
                        const gram_features_options *options)
{
    gram_status status = GRAM_OK;
    const int64_t n = x ? gram_points_count(x) : 0, d = map->d;
    gram_pivoted p = {0};
    FAIL_IF(!x, context, GRAM_ERROR_ARGUMENT, "features_create: the landmarks of nystrom are points, and x is NULL");
    const int64_t fits = n < GRAM_PIVOTED_MOST ? n : GRAM_PIVOTED_MOST;
    const gram_pivoted_options how = {.rule = &gram_pivot_largest,
                                      .room = options->dimension < fits ? options->dimension : fits,
                                      .tolerance = PIVOT_TOLERANCE};
    TRY(gram_pivoted_make(context, map->kernel, x, &how, &p));
    FAIL_IF(p.rank == 0, context, GRAM_ERROR_DATA, "features: the matrix of the kernel is 0 to rounding");
    TRY(gram_feature_array_take(context, map, LANDMARKS, p.rank, d));
    TRY(gram_feature_array_take(context, map, FACTOR, p.rank, p.rank));
    for (int64_t i = 0; i < p.rank; i++) {
        for (int64_t l = 0; l < d; l++) map->arrays[LANDMARKS].data[i * d + l] = gram_points_at(x, p.pivot[i], l);
        for (int64_t j = 0; j <= i; j++) map->arrays[FACTOR].data[i * p.rank + j] = p.f[p.pivot[i] * p.room + j];
    }
    map->report.error = 0;
    for (int64_t i = 0; i < n; i++) map->report.error = fmax(map->report.error, p.left[i]);
    TRY(open_map(context, map));
done:
    gram_pivoted_free(context->memory, &p);
    return status;
}

static void describe(const gram_features *map, gram_string *text)
{
    gram_string_add(text, "Nystrom features of %" PRId64 " landmarks in %" PRId64 " column%s", map->report.dimension,
                    map->d, map->d == 1 ? "" : "s");
}

const gram_feature_type gram_feature_nystrom = {
    .name = "nystrom",
    .arrays = {"landmarks", "landmark_factor"},
    .make = make,
    .open = open_map,
    .close = close_map,
    .transform = transform,
    .residual = residual,
    .describe = describe,
};
