/* Random Fourier features: z = sqrt(2 k(0)/D) [cos(w_i.x) ..., sin(w_i.x) ...] with D/2 frequencies of the spectral measure, so that
 * z(x).z(y) is the mean of k(0) cos(w_i.(x - y)) and |z(x)|^2 = k(0). */
#include <cblas.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "features/feature_map.h"
#include "features/fourier_frequencies.h"
#include "kernel/spectral/spectral_measure.h"

enum { STRIP = 32 };

typedef struct fourier_rows {
    const gram_features *map;
    const gram_vecmath_f64 *v;
    const double *turned; /* d x padded: frequencies by columns */
    int64_t padded;
    double factor;
    const double *x;
    int64_t ldx;
    double *out;
    int64_t ldo;
} fourier_rows;

/* Cosines, then sines, of a row's angles. */
static void put_waves(const fourier_rows *rows, const double *angles, double *waves, double *out)
{
    const int64_t count = rows->map->arrays[0].rows;
    rows->v->cos((int)rows->padded, angles, waves);
    for (int64_t f = 0; f < count; f++) out[f] = rows->factor * waves[f];
    rows->v->sin((int)rows->padded, angles, waves);
    for (int64_t f = 0; f < count; f++) out[count + f] = rows->factor * waves[f];
}

/* The angles of STRIP rows by one product. Its shape is always the same, whatever is beyond a short strip, so that the bits of a row do not depend on
 * those beside it. */
static void put_rows(const void *argument, int64_t begin, int64_t end, double *angles)
{
    const fourier_rows *rows = argument;
    const int64_t d = rows->map->d, padded = rows->padded;
    double *waves = angles + STRIP * padded, *strip = waves + padded;
    memset(strip, 0, (size_t)(STRIP * d) * sizeof *strip);
    for (int64_t i = begin; i < end; i += STRIP) {
        const int64_t here = end - i < STRIP ? end - i : STRIP;
        for (int64_t r = 0; r < here; r++)
            memcpy(strip + r * d, rows->x + (i + r) * rows->ldx, (size_t)d * sizeof *strip);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, STRIP, (int)padded, (int)d, 1, strip, (int)d,
                    rows->turned, (int)padded, 0, angles, (int)padded);
        for (int64_t r = 0; r < here; r++) put_waves(rows, angles + r * padded, waves, rows->out + (i + r) * rows->ldo);
    }
}

static gram_status transform(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                             double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    const double *height = map->own;
    const int64_t count = map->arrays[0].rows, d = map->d, padded = (count + GRAM_LANES - 1) / GRAM_LANES * GRAM_LANES;
    double *turned = NULL;
    TRY(gram_take(context, "features", d * padded, sizeof *turned, (void **)&turned));
    for (int64_t l = 0; l < d; l++)
        for (int64_t f = 0; f < padded; f++) turned[l * padded + f] = f < count ? map->arrays[0].data[f * d + l] : 0;
    const fourier_rows rows = {map, &context->vecmath->f64, turned, padded, sqrt(*height / (double)count), x, ldx, out,
                               ldo};
    TRY(gram_feature_rows(context, n, map->report.dimension, (STRIP + 1) * padded + STRIP * d, put_rows, &rows));
done:
    gram_give(context, turned);
    return status;
}

static gram_status open_map(gram_context *context, gram_features *map)
{
    gram_status status = GRAM_OK;
    double *height = NULL;
    FAIL_IF(map->arrays[0].columns != map->d, context, GRAM_ERROR_DATA,
            "features: the frequencies have not one number for each column");
    TRY(gram_arena_take(context, &map->arena, "features", 1, sizeof *height, (void **)&height));
    map->own = height;
    TRY(gram_spectrum_check(context, "features", "nystrom is for any kernel", map->kernel, map->d, height));
    map->report.dimension = 2 * map->arrays[0].rows;
done:
    return status;
}

static gram_status make(gram_context *context, gram_features *map, const gram_points *x,
                        const gram_features_options *options)
{
    gram_status status = GRAM_OK;
    const int64_t count = options->dimension / 2, d = map->d;
    double height;
    (void)x;
    FAIL_IF(options->dimension % 2 != 0, context, GRAM_ERROR_ARGUMENT,
            "features_create: dimension = %" PRId64 " is odd: each frequency has a cosine and a sine",
            options->dimension);
    TRY(gram_spectrum_check(context, "features", "nystrom is for any kernel", map->kernel, d, &height));
    TRY(gram_feature_array_take(context, map, 0, count, d));
    TRY(gram_fourier_frequencies(context, map->kernel, d, options->frequencies, count, map->arrays[0].data));
    TRY(open_map(context, map));
done:
    return status;
}

static void describe(const gram_features *map, gram_string *text)
{
    gram_string_add(text, "%" PRId64 " random Fourier features of %" PRId64 " column%s", map->report.dimension, map->d,
                    map->d == 1 ? "" : "s");
}

const gram_feature_type gram_feature_fourier = {
    .name = "fourier",
    .arrays = {"frequencies"},
    .make = make,
    .open = open_map,
    .measure = gram_feature_measure_pairs,
    .transform = transform,
    .residual = gram_feature_no_residual,
    .describe = describe,
};
