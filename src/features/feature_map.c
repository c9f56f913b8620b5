/* The table of feature maps, and what all of them share. */
#include "features/feature_map.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "base/sized_struct.h"
#include "base/sweep.h"
#include "kernel/kernel.h"
#include "points/functionals.h"
#include "points/points.h"

static const gram_feature_type *const TYPES[] = {&gram_feature_explicit, &gram_feature_fourier, &gram_feature_nystrom,
                                                 &gram_feature_binning, &gram_feature_neural};
enum { TYPE_COUNT = sizeof TYPES / sizeof *TYPES, USUAL_DIMENSION = 1000, MEASURED_ROWS = 256 };

const char *gram_features_kind_name(gram_features_kind kind)
{
    return (int)kind >= 0 && (int)kind < TYPE_COUNT ? TYPES[kind]->name : NULL;
}

const gram_feature_type *gram_feature_type_find(const char *name)
{
    for (int i = 0; i < TYPE_COUNT; i++)
        if (strcmp(TYPES[i]->name, name) == 0) return TYPES[i];
    return NULL;
}

void gram_features_options_init(gram_features_options *options, size_t size)
{
    const gram_features_options defaults = {.size = sizeof defaults, .degree = -1, .tolerance = 1e-6, .most = 1000000};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

gram_status gram_feature_array_take(gram_context *context, gram_features *map, int which, int64_t rows, int64_t columns)
{
    gram_feature_array *array = &map->arrays[which];
    array->rows = rows;
    array->columns = columns;
    return gram_arena_take(context, &map->arena, "features", rows * columns, sizeof(double), (void **)&array->data);
}

/* ---- rows ---- */

typedef struct rows_work {
    gram_feature_rows_fn run;
    const void *argument;
    int64_t n, block;
} rows_work;

static gram_status run_block(void *argument, const gram_worker *worker)
{
    const rows_work *work = argument;
    const int64_t begin = worker->task * work->block, end = begin + work->block;
    work->run(work->argument, begin, end < work->n ? end : work->n, worker->scratch);
    return GRAM_OK;
}

gram_status gram_feature_rows(gram_context *context, int64_t n, int64_t work_per_row, int64_t scratch,
                              gram_feature_rows_fn run, const void *argument)
{
    const int64_t fitting = (1 << 16) / (work_per_row > 0 ? work_per_row : 1);
    rows_work work = {run, argument, n, fitting < 1 ? 1 : fitting > 1024 ? 1024 : fitting};
    const gram_sweep sweep = {.what = "features",
                              .tasks = (n + work.block - 1) / work.block,
                              .scratch_bytes = (size_t)(scratch > 0 ? scratch : 1) * sizeof(double),
                              .run = run_block,
                              .argument = &work};
    return gram_sweep_run(context, &sweep);
}

/* ---- errors ---- */

gram_status gram_feature_no_residual(gram_context *context, const gram_features *map, int64_t n, const double *x,
                                     int64_t ldx, double *out)
{
    (void)context, (void)map, (void)x, (void)ldx;
    for (int64_t i = 0; i < n; i++) out[i] = 0;
    return GRAM_OK;
}

gram_status gram_features_csr(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                              gram_csr *csr)
{
    gram_status status = GRAM_OK;
    TRY(gram_csr_take(context, n, map->report.dimension, map->report.nonzeros, csr));
    TRY(map->type->sparse(context, map, n, x, ldx, csr->column, csr->value));
done:
    return status;
}

/* inner[i * m + j] = z(x_i).z(x_j) for j < i */
static gram_status inner_products(gram_context *context, const gram_features *map, int64_t m, const double *x,
                                  double *inner)
{
    gram_status status = GRAM_OK;
    const int64_t columns = map->report.dimension, each = map->report.nonzeros;
    gram_csr csr = {0};
    double *z = NULL;
    if (map->type->sparse)
        TRY(gram_features_csr(context, map, m, x, map->d, &csr));
    else
        TRY(gram_take(context, "features", m * columns, sizeof *z, (void **)&z));
    if (z) TRY(map->type->transform(context, map, m, x, map->d, z, columns));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < i; j++) {
            double sum = 0;
            for (int64_t c = 0; z && c < columns; c++) sum += z[i * columns + c] * z[j * columns + c];
            for (int64_t k = 0; !z && k < each; k++)
                if (csr.column[i * each + k] == csr.column[j * each + k])
                    sum += csr.value[i * each + k] * csr.value[j * each + k];
            inner[i * m + j] = sum;
        }
done:
    gram_csr_free(context, &csr);
    gram_give(context, z);
    return status;
}

gram_status gram_feature_measure_pairs(gram_context *context, gram_features *map, const gram_points *points)
{
    gram_status status = GRAM_OK;
    const int64_t n = gram_points_count(points), m = n < MEASURED_ROWS ? n : MEASURED_ROWS, d = map->d;
    double *x = NULL, *inner = NULL, *k = NULL, sum = 0;
    gram_points *few = NULL;
    TRY(gram_take(context, "features", m * d, sizeof *x, (void **)&x));
    TRY(gram_take(context, "features", m * m, sizeof *inner, (void **)&inner));
    TRY(gram_take(context, "features", m * m, sizeof *k, (void **)&k));
    for (int64_t i = 0; i < m; i++)
        for (int64_t l = 0; l < d; l++) x[i * d + l] = gram_points_at(points, i * n / m, l);
    TRY(gram_points_create_f64(context, m, d, x, d, &few));
    TRY(inner_products(context, map, m, x, inner));
    TRY(gram_matrix(context, map->kernel, few, NULL, k, m));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < i; j++) sum += (k[i * m + j] - inner[i * m + j]) * (k[i * m + j] - inner[i * m + j]);
    map->report.error = m > 1 ? sqrt(2 * sum / ((double)m * (double)(m - 1))) : 0;
done:
    gram_points_release(few);
    gram_give(context, k);
    gram_give(context, inner);
    gram_give(context, x);
    return status;
}

/* ---- making ---- */

static gram_status check(gram_context *context, const gram_kernel *kernel, int64_t d, const gram_points *x,
                         const gram_features_options *o)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "features_create: kernel is NULL");
    FAIL_IF(d < 1 || (x && gram_points_dimension(x) != d), context, GRAM_ERROR_ARGUMENT,
            "features_create: d = %" PRId64 " is not the number of columns", d);
    FAIL_IF((int)o->kind < 0 || (int)o->kind >= TYPE_COUNT, context, GRAM_ERROR_ARGUMENT,
            "features_create: kind = %d is not known", (int)o->kind);
    FAIL_IF(o->dimension < 0 || o->dimension > 1 << 30, context, GRAM_ERROR_ARGUMENT,
            "features_create: dimension = %" PRId64 " is not from 1 to 2^30", o->dimension);
    FAIL_IF(o->degree < -1 || o->degree > GRAM_FEATURES_MOST_DEGREE, context, GRAM_ERROR_ARGUMENT,
            "features_create: degree = %" PRId64 " is not from 0 to %d", o->degree, (int)GRAM_FEATURES_MOST_DEGREE);
    FAIL_IF(!(o->tolerance > 0 && o->tolerance < 1), context, GRAM_ERROR_ARGUMENT,
            "features_create: tolerance = %g is not in (0, 1)", o->tolerance);
    FAIL_IF(!gram_landmark_rule_name(o->landmark_rule), context, GRAM_ERROR_ARGUMENT,
            "features_create: landmark_rule = %d is not known", (int)o->landmark_rule);
    FAIL_IF(!gram_frequencies_name(o->frequencies), context, GRAM_ERROR_ARGUMENT,
            "features_create: frequencies = %d is not known", (int)o->frequencies);
    FAIL_IF(o->most < 1, context, GRAM_ERROR_ARGUMENT, "features_create: most = %" PRId64 " is not above 0", o->most);
    TRY(gram_kernel_check_set(context, kernel));
    TRY(gram_kernel_check_dimension(context, kernel, d));
done:
    return status;
}

static gram_status begin(gram_context *context, gram_features_kind kind, gram_kernel *kernel, int64_t d,
                         gram_features **map)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "features", 1, sizeof **map, (void **)map));
    **map = (gram_features){.memory = gram_memory_retain(context->memory),
                            .kernel = gram_kernel_retain(kernel),
                            .type = TYPES[kind],
                            .d = d};
    gram_arena_init(&(*map)->arena, (*map)->memory);
    (*map)->report = (gram_features_report){
        .size = sizeof(gram_features_report), .kind = kind, .d = d, .degree = -1, .error = NAN, .trace_error = NAN};
done:
    return status;
}

gram_status gram_features_make(gram_context *context, gram_kernel *kernel, int64_t d, const gram_points *x,
                               const gram_features_options *options, gram_features **features)
{
    gram_status status = GRAM_OK;
    gram_features_options own = *options;
    gram_features *map = NULL;
    TRY(gram_points_must_be_plain(context, "features_create", x));
    TRY(gram_points_must_be_numbers(context, "features_create", x));
    TRY(check(context, kernel, d, x, &own));
    if (own.dimension == 0) own.dimension = USUAL_DIMENSION;
    TRY(begin(context, own.kind, kernel, d, &map));
    TRY(map->type->make(context, map, x, &own));
    *features = map;
    map = NULL;
done:
    gram_features_destroy(map);
    return status;
}

gram_status gram_features_create(gram_context *context, gram_kernel *kernel, int64_t d, const gram_points *x,
                                 const gram_features_options *options, gram_features **features)
{
    gram_status status = GRAM_OK;
    gram_features_options own;
    gram_features *map = NULL;
    if (!context || !features) return GRAM_ERROR_ARGUMENT;
    *features = NULL;
    gram_features_options_init(&own, sizeof own);
    TRY(gram_sized_read(context, "features_create", "options", "gram_features_options", options, &own, sizeof own));
    TRY(gram_features_make(context, kernel, d, x, &own, &map));
    if (x && map->type->measure) TRY(map->type->measure(context, map, x));
    *features = map;
    map = NULL;
done:
    gram_features_destroy(map);
    return status;
}

gram_status gram_features_restore(gram_context *context, const gram_feature_type *type, gram_kernel *kernel, int64_t d,
                                  int64_t degree, double error, const gram_feature_array arrays[GRAM_FEATURE_ARRAYS],
                                  gram_features **out)
{
    gram_status status = GRAM_OK;
    gram_features *map = NULL;
    int which = 0;
    while (TYPES[which] != type) which++;
    FAIL_IF(degree < -1 || degree > GRAM_FEATURES_MOST_DEGREE, context, GRAM_ERROR_DATA,
            "features: the degree cannot be %" PRId64, degree);
    TRY(gram_kernel_check_set(context, kernel));
    TRY(gram_kernel_check_dimension(context, kernel, d));
    TRY(begin(context, (gram_features_kind)which, kernel, d, &map));
    for (int i = 0; i < GRAM_FEATURE_ARRAYS && map->type->arrays[i]; i++) {
        FAIL_IF(!arrays[i].data, context, GRAM_ERROR_DATA, "features: the array '%s' is missing", map->type->arrays[i]);
        TRY(gram_feature_array_take(context, map, i, arrays[i].rows, arrays[i].columns));
        memcpy(map->arrays[i].data, arrays[i].data, (size_t)(arrays[i].rows * arrays[i].columns) * sizeof(double));
    }
    map->report.degree = degree;
    map->report.error = error;
    TRY(map->type->open(context, map));
    *out = map;
    map = NULL;
done:
    gram_features_destroy(map);
    return status;
}

void gram_features_destroy(gram_features *features)
{
    if (!features) return;
    gram_memory *memory = features->memory;
    if (features->type->close) features->type->close(features);
    gram_kernel_release(features->kernel);
    gram_arena_release(&features->arena);
    gram_memory_give(memory, features);
    gram_memory_release(memory);
}

/* ---- use ---- */

const gram_features_report *gram_features_get_report(const gram_features *features)
{
    return &features->report;
}

gram_kernel *gram_features_kernel(const gram_features *features)
{
    return features->kernel;
}

static gram_status check_rows(gram_context *context, const char *name, const gram_features *map, int64_t n,
                              const double *x, int64_t ldx, const double *out, int64_t ldo, int64_t columns)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!map || !x || !out, context, GRAM_ERROR_ARGUMENT, "%s: %s is NULL", name,
            !map ? "features"
            : !x ? "x"
                 : "out");
    FAIL_IF(n < 1 || ldx < map->d || ldo < columns, context, GRAM_ERROR_ARGUMENT,
            "%s: n = %" PRId64 ", ldx = %" PRId64 " or ldo = %" PRId64 " is too small", name, n, ldx, ldo);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < map->d; l++)
            FAIL_IF(!isfinite(x[i * ldx + l]), context, GRAM_ERROR_DATA,
                    "%s: x[%" PRId64 "][%" PRId64 "] is not finite", name, i, l);
done:
    return status;
}

gram_status gram_features_transform(gram_context *context, const gram_features *features, int64_t n, const double *x,
                                    int64_t ldx, double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(check_rows(context, "features_transform", features, n, x, ldx, out, ldo,
                   features ? features->report.dimension : 0));
    TRY(features->type->transform(context, features, n, x, ldx, out, ldo));
done:
    return status;
}

gram_status gram_features_residual(gram_context *context, const gram_features *features, int64_t n, const double *x,
                                   int64_t ldx, double *out)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(check_rows(context, "features_residual", features, n, x, ldx, out, 1, 1));
    TRY(features->type->residual(context, features, n, x, ldx, out));
done:
    return status;
}

gram_status gram_features_sparse(gram_context *context, const gram_features *features, int64_t n, const double *x,
                                 int64_t ldx, int32_t *columns, double *values)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(check_rows(context, "features_sparse", features, n, x, ldx, values, 1, 1));
    FAIL_IF(!columns, context, GRAM_ERROR_ARGUMENT, "features_sparse: columns is NULL");
    FAIL_IF(!features->type->sparse, context, GRAM_ERROR_UNSUPPORTED,
            "features_sparse: features of the kind '%s' are dense: use features_transform", features->type->name);
    TRY(features->type->sparse(context, features, n, x, ldx, columns, values));
done:
    return status;
}

void gram_features_describe(const gram_features *features, gram_string *text)
{
    features->type->describe(features, text);
}
