/* Explicit features as a map: the degree at which series are cut off, the centre, and the error (explicit_nodes.h). */
#include <inttypes.h>
#include <math.h>

#include "features/explicit_nodes.h"
#include "features/feature_map.h"
#include "points/points.h"

typedef struct explicit_own {
    gram_feature_node *root;
    int endless;
} explicit_own;

typedef struct rows_of {
    const gram_features *map;
    const gram_feature_node *root;
    const gram_points *points; /* or x */
    const double *x;
    int64_t ldx;
    double *out;
    int64_t ldo;
    double *all; /* k(x, x), or NULL */
} rows_of;

static void put_rows(const void *argument, int64_t begin, int64_t end, double *scratch)
{
    const rows_of *rows = argument;
    for (int64_t i = begin; i < end; i++)
        gram_explicit_put(rows->root, rows->x + i * rows->ldx, rows->map->arrays[0].data, rows->out + i * rows->ldo,
                          scratch);
}

static void find_rows(const void *argument, int64_t begin, int64_t end, double *scratch)
{
    const rows_of *rows = argument;
    const int64_t d = rows->map->d;
    for (int64_t i = begin; i < end; i++) {
        const double *x = rows->points ? scratch : rows->x + i * rows->ldx;
        for (int64_t l = 0; l < d && rows->points; l++) scratch[l] = gram_points_at(rows->points, i, l);
        const gram_explicit_parts found = gram_explicit_diagonal(rows->root, x, rows->map->arrays[0].data, scratch + d);
        rows->out[i] = found.left;
        if (rows->all) rows->all[i] = found.kept + found.left;
    }
}

static gram_status transform(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                             double *out, int64_t ldo)
{
    const explicit_own *own = map->own;
    const rows_of rows = {map, own->root, NULL, x, ldx, out, ldo, NULL};
    return gram_feature_rows(context, n, map->report.dimension, own->root->scratch, put_rows, &rows);
}

static gram_status residual(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                            double *out)
{
    const explicit_own *own = map->own;
    const rows_of rows = {map, own->root, NULL, x, ldx, out, 1, NULL};
    return gram_feature_rows(context, n, 16 * map->d, own->root->scratch + map->d, find_rows, &rows);
}

static gram_status compile_map(gram_context *context, const gram_features *map, gram_arena *arena, int64_t degree,
                               explicit_own *own)
{
    return gram_explicit_compile(context, arena, map->kernel, map->d, degree, &own->root, &own->endless);
}

/* The largest e(x), over the largest k(x, x) too. */
static gram_status find_error(gram_context *context, const gram_features *map, const gram_feature_node *root,
                              const gram_points *x, double *left, double *share)
{
    gram_status status = GRAM_OK;
    const int64_t n = gram_points_count(x);
    double *e = NULL, most = 0;
    TRY(gram_take(context, "features", 2 * n, sizeof *e, (void **)&e));
    const rows_of rows = {map, root, x, NULL, 0, e, 1, e + n};
    TRY(gram_feature_rows(context, n, 16 * map->d, root->scratch + map->d, find_rows, &rows));
    *left = 0;
    for (int64_t i = 0; i < n; i++) {
        FAIL_IF(!isfinite(e[n + i]), context, GRAM_ERROR_NUMERICAL,
                "features: k(x, x) of point %" PRId64 " is not finite", i);
        *left = fmax(*left, e[i]);
        most = fmax(most, e[n + i]);
    }
    *share = most > 0 ? *left / most : 0;
done:
    gram_give(context, e);
    return status;
}

/* Is the tolerance met at this degree? Too many features are a failure unless it is the first try that finds a bound. */
static gram_status try_degree(gram_context *context, gram_features *map, const gram_points *x,
                              const gram_features_options *options, int64_t degree, int *met)
{
    gram_status status = GRAM_OK;
    gram_arena arena;
    explicit_own own;
    double left, share;
    gram_arena_init(&arena, context->memory);
    TRY(compile_map(context, map, &arena, degree, &own));
    TRY(find_error(context, map, own.root, x, &left, &share));
    *met = !own.endless || share <= options->tolerance;
    FAIL_IF(!*met && own.root->dimension > (double)options->most, context, GRAM_ERROR_ARGUMENT,
            "features: %.4g features of degree %" PRId64 " would have the error %.2g, and more than %" PRId64
            " are not made",
            own.root->dimension, degree, share, options->most);
done:
    gram_arena_release(&arena);
    return status;
}

/* The least degree that meets the tolerance, by doubling and halving. */
static gram_status find_degree(gram_context *context, gram_features *map, const gram_points *x,
                               const gram_features_options *options)
{
    gram_status status = GRAM_OK;
    int64_t low = -1, high = 1;
    int met = 0;
    for (;;) {
        TRY(try_degree(context, map, x, options, high, &met));
        if (met) break;
        FAIL_IF(high >= GRAM_FEATURES_MOST_DEGREE, context, GRAM_ERROR_ARGUMENT,
                "features: series up to degree %d do not meet the tolerance", (int)GRAM_FEATURES_MOST_DEGREE);
        low = high;
        high = 2 * high < GRAM_FEATURES_MOST_DEGREE ? 2 * high : GRAM_FEATURES_MOST_DEGREE;
    }
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        TRY(try_degree(context, map, x, options, middle, &met));
        *(met ? &high : &low) = middle;
    }
    map->report.degree = high;
done:
    return status;
}

/* The middle of each column: the farthest points decide the degree. */
static void find_centre(const gram_points *x, int64_t d, double *centre)
{
    const int64_t n = x ? gram_points_count(x) : 0;
    for (int64_t l = 0; l < d && n > 0; l++) {
        double least = gram_points_at(x, 0, l), most = least;
        for (int64_t i = 1; i < n; i++) {
            least = fmin(least, gram_points_at(x, i, l));
            most = fmax(most, gram_points_at(x, i, l));
        }
        centre[l] = least + 0.5 * (most - least);
    }
}

static gram_status open_map(gram_context *context, gram_features *map)
{
    gram_status status = GRAM_OK;
    explicit_own *own = NULL;
    FAIL_IF(map->arrays[0].rows * map->arrays[0].columns != map->d, context, GRAM_ERROR_DATA,
            "features: the centre has not one number for each column");
    TRY(gram_arena_take(context, &map->arena, "features", 1, sizeof *own, (void **)&own));
    map->own = own;
    TRY(compile_map(context, map, &map->arena, map->report.degree > 0 ? map->report.degree : 0, own));
    FAIL_IF(own->root->dimension > (double)(1 << 30), context, GRAM_ERROR_ARGUMENT,
            "features: %.4g features are more than 2^30", own->root->dimension);
    map->report.dimension = (int64_t)own->root->dimension;
    map->report.exact = !own->endless;
    if (!own->endless) map->report.degree = -1;
done:
    return status;
}

static gram_status make(gram_context *context, gram_features *map, const gram_points *x,
                        const gram_features_options *options)
{
    gram_status status = GRAM_OK;
    gram_arena arena;
    explicit_own first;
    double share;
    gram_arena_init(&arena, context->memory);
    TRY(gram_feature_array_take(context, map, 0, 1, map->d));
    find_centre(x, map->d, map->arrays[0].data);
    TRY(compile_map(context, map, &arena, 0, &first));
    map->report.degree = options->degree;
    FAIL_IF(first.endless && options->degree < 0 && !x, context, GRAM_ERROR_ARGUMENT,
            "features_create: degree must be given where there are no points: the series of the kernel has no end");
    if (first.endless && options->degree < 0) TRY(find_degree(context, map, x, options));
    TRY(open_map(context, map));
    FAIL_IF(map->report.dimension > options->most, context, GRAM_ERROR_ARGUMENT,
            "features: %" PRId64 " features, and more than %" PRId64 " are not made", map->report.dimension,
            options->most);
    map->report.error = map->report.exact ? 0 : NAN;
    if (x) TRY(find_error(context, map, ((explicit_own *)map->own)->root, x, &map->report.error, &share));
done:
    gram_arena_release(&arena);
    return status;
}

static void describe(const gram_features *map, gram_string *text)
{
    if (map->report.exact)
        gram_string_add(text, "%" PRId64 " explicit features of %" PRId64 " column%s", map->report.dimension, map->d,
                        map->d == 1 ? "" : "s");
    else
        gram_string_add(text, "%" PRId64 " explicit features of %" PRId64 " column%s, series up to degree %" PRId64,
                        map->report.dimension, map->d, map->d == 1 ? "" : "s", map->report.degree);
}

const gram_feature_type gram_feature_explicit = {
    .name = "explicit",
    .arrays = {"centre"},
    .make = make,
    .open = open_map,
    .transform = transform,
    .residual = residual,
    .describe = describe,
};
