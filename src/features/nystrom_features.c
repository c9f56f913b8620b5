/* Nystrom features: z(x) = L^-1 k(P, x) for landmarks P, L L' = K(P, P): z(x).z(y) = k(x, P) K(P, P)^-1 k(P, y). K - Z Z' is positive
 * semi-definite: what is left on its diagonal bounds every entry, and its trace is the error that rules for landmarks keep small. */
#include <cblas.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "base/sweep.h"
#include "features/feature_map.h"
#include "points/functionals.h"
#include "points/points.h"
#include "solve/landmarks/landmark_choice.h"

enum { LANDMARKS, FACTOR, CHUNK = 4096 };

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

static gram_status raw(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                       double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    gram_points *points = NULL;
    TRY(gram_points_create_f64(context, n, map->d, x, ldx, &points));
    TRY(gram_matrix(context, map->kernel, points, map->own, out, ldo));
done:
    gram_points_release(points);
    return status;
}

static gram_status transform(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                             double *out, int64_t ldo)
{
    const solve_rows rows = {map, out, ldo};
    const gram_status status = raw(context, map, n, x, ldx, out, ldo);
    return status < 0 ? status : gram_feature_rows(context, n, 256, 0, run_rows, &rows);
}

/* Rows of one chunk; z has room for its features. */
static gram_status residual_chunk(gram_context *context, const gram_features *map, int64_t n, const double *x,
                                  int64_t ldx, double *z, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t m = map->report.dimension;
    gram_points *points = NULL;
    TRY(gram_points_create_f64(context, n, map->d, x, ldx, &points));
    TRY(gram_matrix_diagonal(context, map->kernel, points, out));
    TRY(transform(context, map, n, x, ldx, z, m));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < m; j++) out[i] -= z[i * m + j] * z[i * m + j];
        out[i] = fmax(out[i], 0);
    }
done:
    gram_points_release(points);
    return status;
}

static gram_status residual(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                            double *out)
{
    gram_status status = GRAM_OK;
    double *z = NULL;
    TRY(gram_take(context, "features", (n < CHUNK ? n : CHUNK) * map->report.dimension, sizeof *z, (void **)&z));
    for (int64_t first = 0; first < n; first += CHUNK) {
        const int64_t rows = n - first < CHUNK ? n - first : CHUNK;
        TRY(residual_chunk(context, map, rows, x + first * ldx, ldx, z, out + first));
    }
done:
    gram_give(context, z);
    return status;
}

/* The largest e(x), and their sum over the trace of K. */
static gram_status measure(gram_context *context, gram_features *map, const gram_points *x)
{
    gram_status status = GRAM_OK;
    const int64_t n = gram_points_count(x);
    gram_points *wide = NULL;
    double *left = NULL, most = 0, sum = 0, trace = 0;
    TRY(gram_take(context, "features", 2 * n, sizeof *left, (void **)&left));
    if (!x->f64) TRY(gram_points_gather(context, x, n, NULL, &wide));
    const gram_points *points = wide ? wide : x;
    TRY(residual(context, map, n, points->f64, points->ld, left));
    TRY(gram_matrix_diagonal(context, map->kernel, points, left + n));
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, left[i]);
        sum += left[i];
        trace += left[n + i];
    }
    map->report.error = most;
    map->report.trace_error = trace > 0 ? sum / trace : 0;
done:
    gram_points_release(wide);
    gram_give(context, left);
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

static gram_status check_given(gram_context *context, const gram_features *map, const gram_features_options *options)
{
    gram_status status = GRAM_OK;
    if (options->landmark_rule != GRAM_LANDMARKS_GIVEN) return GRAM_OK;
    FAIL_IF(!options->landmarks, context, GRAM_ERROR_ARGUMENT, "features_create: landmarks is NULL");
    FAIL_IF(gram_points_dimension(options->landmarks) != map->d, context, GRAM_ERROR_DIMENSION,
            "features_create: the landmarks have %" PRId64 " columns, the map has %" PRId64,
            gram_points_dimension(options->landmarks), map->d);
done:
    return status;
}

static gram_status make(gram_context *context, gram_features *map, const gram_points *x,
                        const gram_features_options *options)
{
    gram_status status = GRAM_OK;
    const gram_landmark_request request = {
        .rule = options->landmark_rule, .most = options->dimension, .given = options->landmarks};
    gram_landmark_set set = {0};
    const gram_points *among = options->landmark_rule == GRAM_LANDMARKS_GIVEN ? options->landmarks : x;
    TRY(check_given(context, map, options));
    FAIL_IF(!among, context, GRAM_ERROR_ARGUMENT,
            "features_create: the landmarks of nystrom are points, and x is NULL");
    TRY(gram_points_must_be_plain(context, "features_create", among));
    TRY(gram_landmark_set_make(context, map->kernel, among, &request, &set));
    TRY(gram_feature_array_take(context, map, LANDMARKS, set.count, map->d));
    TRY(gram_feature_array_take(context, map, FACTOR, set.count, set.count));
    memcpy(map->arrays[LANDMARKS].data, set.points, (size_t)(set.count * map->d) * sizeof(double));
    memcpy(map->arrays[FACTOR].data, set.factor, (size_t)(set.count * set.count) * sizeof(double));
    TRY(open_map(context, map));
done:
    gram_landmark_set_free(context, &set);
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
    .measure = measure,
    .close = close_map,
    .transform = transform,
    .residual = residual,
    .raw = raw,
    .factor = FACTOR,
    .describe = describe,
};
