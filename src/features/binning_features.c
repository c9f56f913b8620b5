/* Random binning features (Rahimi and Recht 2007): P grids whose bins two rows share with probability k(x, y)/k(x, x)
 * (kernel/spectral/bin_measure.h). Of each grid a row has one number that is not 0, sqrt(k(0)/P) at the place of its bin, so that z(x).z(y) is
 * k(0) times the share of grids where x and y meet.
 *
 * There is no end of bins: each grid has `width` places, and a bin's place and sign come from a hash of its numbers. Two bins that fall on one place
 * would make k too large; with random signs they make it too large as often as too small, which leaves the mean as it is and adds less than
 * k(0)^2/(P width) to the variance. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "features/feature_map.h"
#include "kernel/spectral/bin_measure.h"

enum { GRIDS, HASHING, GRID_NUMBERS = 4, HASH_NUMBERS = 3 };
enum { LEAST_WIDTH = 1 << 10, MOST_WIDTH = 1 << 16, MOST_GRIDS = 1 << 14 };
static const uint64_t STREAM = 0x68617368U;

typedef struct bins {
    double height;
    int64_t grids, width;
    int bits;       /* width = 2^bits */
    uint64_t seed;  /* of the hash */
    int64_t *start; /* grids + 1: the axes of each */
    int32_t *column;
    double *inverse, *shift; /* 1/pitch */
} bins;

/* The finaliser of SplitMix64. */
static inline uint64_t mix(uint64_t h)
{
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
    return h ^ (h >> 31);
}

static inline uint64_t bin_hash(const bins *b, int64_t grid, const double *x)
{
    uint64_t h = mix(b->seed + (uint64_t)(grid + 1) * 0x9e3779b97f4a7c15ULL);
    for (int64_t a = b->start[grid]; a < b->start[grid + 1]; a++) {
        const double bin = floor(x[b->column[a]] * b->inverse[a] - b->shift[a]) + 0.0; /* no -0 */
        uint64_t bits;
        memcpy(&bits, &bin, sizeof bits);
        h = mix(h ^ bits) + 0x9e3779b97f4a7c15ULL;
    }
    return mix(h);
}

/* ---- rows ---- */

typedef struct sparse_rows {
    const bins *b;
    const double *x;
    int64_t ldx;
    int32_t *column;
    double *value;
} sparse_rows;

static void put_rows(const void *argument, int64_t begin, int64_t end, double *scratch)
{
    const sparse_rows *rows = argument;
    const bins *b = rows->b;
    const double root = sqrt(b->height / (double)b->grids);
    (void)scratch;
    for (int64_t i = begin; i < end; i++)
        for (int64_t g = 0; g < b->grids; g++) {
            const uint64_t h = bin_hash(b, g, rows->x + i * rows->ldx);
            rows->column[i * b->grids + g] = (int32_t)(g * b->width + (int64_t)(h >> (64 - b->bits)));
            rows->value[i * b->grids + g] = h & 1 ? root : -root;
        }
}

static gram_status sparse(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                          int32_t *column, double *value)
{
    const bins *b = map->own;
    const sparse_rows rows = {b, x, ldx, column, value};
    return gram_feature_rows(context, n, 8 * b->start[b->grids], 0, put_rows, &rows);
}

static gram_status transform(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                             double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    const int64_t each = map->report.nonzeros;
    gram_csr csr = {0};
    TRY(gram_features_csr(context, map, n, x, ldx, &csr));
    for (int64_t i = 0; i < n; i++) {
        memset(out + i * ldo, 0, (size_t)map->report.dimension * sizeof *out);
        for (int64_t k = i * each; k < (i + 1) * each; k++) out[i * ldo + csr.column[k]] = csr.value[k];
    }
done:
    gram_csr_free(context, &csr);
    return status;
}

/* ---- making ---- */

static int is_whole(double value, double least, double most)
{
    return value >= least && value <= most && value == floor(value);
}

static gram_status check_arrays(gram_context *context, const gram_features *map)
{
    gram_status status = GRAM_OK;
    const gram_feature_array *axes = &map->arrays[GRIDS], *hashing = &map->arrays[HASHING];
    const double *h = hashing->data;
    double before = 0;
    FAIL_IF(axes->columns != GRID_NUMBERS || hashing->rows * hashing->columns != HASH_NUMBERS, context, GRAM_ERROR_DATA,
            "features: the arrays of the grids have not the right shape");
    FAIL_IF(!is_whole(h[0], 1, MOST_GRIDS) || !is_whole(h[1], 2, MOST_WIDTH) || !is_whole(h[2], 0, 0x1p53) ||
                ((int64_t)h[1] & ((int64_t)h[1] - 1)),
            context, GRAM_ERROR_DATA, "features: the numbers of grids and bins are not valid");
    for (int64_t a = 0; a < axes->rows; a++) {
        const double *row = axes->data + a * GRID_NUMBERS;
        FAIL_IF(!is_whole(row[0], before, h[0] - 1) || !is_whole(row[1], 0, (double)map->d - 1) ||
                    !(row[2] >= DBL_MIN && row[2] <= DBL_MAX) || !(row[3] >= 0 && row[3] <= 1),
                context, GRAM_ERROR_DATA, "features: axis %" PRId64 " of the grids is not valid", a);
        before = row[0];
    }
done:
    return status;
}

static gram_status take_bins(gram_context *context, gram_features *map, bins **out)
{
    gram_status status = GRAM_OK;
    const int64_t axes = map->arrays[GRIDS].rows, grids = (int64_t)map->arrays[HASHING].data[0];
    bins *b = NULL;
    TRY(gram_arena_take(context, &map->arena, "features", 1, sizeof *b, (void **)&b));
    TRY(gram_arena_take(context, &map->arena, "features", grids + 1, sizeof *b->start, (void **)&b->start));
    TRY(gram_arena_take(context, &map->arena, "features", axes, sizeof *b->column, (void **)&b->column));
    TRY(gram_arena_take(context, &map->arena, "features", axes, sizeof *b->inverse, (void **)&b->inverse));
    TRY(gram_arena_take(context, &map->arena, "features", axes, sizeof *b->shift, (void **)&b->shift));
    *out = b;
done:
    return status;
}

static gram_status open_map(gram_context *context, gram_features *map)
{
    gram_status status = GRAM_OK;
    const gram_feature_array *axes = &map->arrays[GRIDS];
    int64_t unused;
    bins *b = NULL;
    TRY(check_arrays(context, map));
    TRY(take_bins(context, map, &b));
    map->own = b;
    b->grids = (int64_t)map->arrays[HASHING].data[0];
    b->width = (int64_t)map->arrays[HASHING].data[1];
    b->seed = (uint64_t)map->arrays[HASHING].data[2];
    for (b->bits = 0; (int64_t)1 << b->bits < b->width; b->bits++) continue;
    memset(b->start, 0, (size_t)(b->grids + 1) * sizeof *b->start);
    for (int64_t a = 0; a < axes->rows; a++) {
        const double *row = axes->data + a * GRID_NUMBERS;
        b->start[(int64_t)row[0] + 1]++;
        b->column[a] = (int32_t)row[1];
        b->inverse[a] = 1 / row[2];
        b->shift[a] = row[3];
    }
    for (int64_t g = 0; g < b->grids; g++) b->start[g + 1] += b->start[g];
    TRY(gram_bins_check(context, "features", map->kernel, map->d, &b->height, &unused));
    map->report.dimension = b->grids * b->width;
    map->report.nonzeros = b->grids;
done:
    return status;
}

static int64_t choose_width(const gram_points *x, int64_t asked)
{
    int64_t width = LEAST_WIDTH;
    if (asked > 0) return asked;
    while (width < MOST_WIDTH && (!x || width < gram_points_count(x))) width *= 2;
    return width;
}

static gram_status draw_grids(gram_context *context, gram_features *map, int64_t grids, int64_t most)
{
    gram_status status = GRAM_OK;
    const uint64_t seed = gram_context_seed(context);
    gram_bin_axis *axes = NULL;
    int64_t total = 0;
    TRY(gram_take(context, "features", most + 1, sizeof *axes, (void **)&axes));
    for (int64_t g = 0; g < grids; g++) total += gram_bins_draw(map->kernel, seed, g, grids, map->d, axes);
    TRY(gram_feature_array_take(context, map, GRIDS, total, GRID_NUMBERS));
    double *row = map->arrays[GRIDS].data;
    for (int64_t g = 0; g < grids; g++) {
        const int64_t count = gram_bins_draw(map->kernel, seed, g, grids, map->d, axes);
        for (int64_t a = 0; a < count; a++, row += GRID_NUMBERS) {
            row[0] = (double)g;
            row[1] = (double)axes[a].column;
            row[2] = fmin(axes[a].pitch, DBL_MAX);
            row[3] = axes[a].shift;
        }
    }
done:
    gram_give(context, axes);
    return status;
}

static gram_status make(gram_context *context, gram_features *map, const gram_points *x,
                        const gram_features_options *options)
{
    gram_status status = GRAM_OK;
    const int64_t grids = options->dimension, width = choose_width(x, options->width);
    double height, seed;
    int64_t axes;
    FAIL_IF(grids > MOST_GRIDS, context, GRAM_ERROR_ARGUMENT,
            "features_create: dimension = %" PRId64 " is too large: there are at most %d grids", grids,
            (int)MOST_GRIDS);
    FAIL_IF(width < 2 || width > MOST_WIDTH || (width & (width - 1)), context, GRAM_ERROR_ARGUMENT,
            "features_create: width = %" PRId64 " is not a power of two from 2 to %d", width, (int)MOST_WIDTH);
    TRY(gram_bins_check(context, "features", map->kernel, map->d, &height, &axes));
    TRY(draw_grids(context, map, grids, axes));
    TRY(gram_feature_array_take(context, map, HASHING, 1, HASH_NUMBERS));
    gram_random_uniform((gram_random){gram_context_seed(context), STREAM}, 0, 1, &seed);
    map->arrays[HASHING].data[0] = (double)grids;
    map->arrays[HASHING].data[1] = (double)width;
    map->arrays[HASHING].data[2] = floor(seed * 0x1p53);
    TRY(open_map(context, map));
done:
    return status;
}

static void describe(const gram_features *map, gram_string *text)
{
    const bins *b = map->own;
    gram_string_add(text, "bins of %" PRId64 " random grid%s over %" PRId64 " column%s, hashed to %" PRId64 " each",
                    b->grids, b->grids == 1 ? "" : "s", map->d, map->d == 1 ? "" : "s", b->width);
}

const gram_feature_type gram_feature_binning = {
    .name = "binning",
    .arrays = {"grids", "hashing"},
    .make = make,
    .open = open_map,
    .measure = gram_feature_measure_pairs,
    .sparse = sparse,
    .transform = transform,
    .residual = gram_feature_no_residual,
    .describe = describe,
};
