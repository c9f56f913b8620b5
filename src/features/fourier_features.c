/* Random Fourier features: z = sqrt(2 k(0)/D) [cos(w_i.x) ..., sin(w_i.x) ...] with D/2 frequencies of the spectral measure, so that
 * z(x).z(y) is the mean of k(0) cos(w_i.(x - y)) and |z(x)|^2 = k(0). */
#include <cblas.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "features/feature_map.h"
#include "features/fourier_frequencies.h"
#include "kernel/spectral/spectral_measure.h"

enum { STRIP = GRAM_FEATURE_STRIP };

static const double QUARTERS = 0.63661977236758134308; /* 2/pi: of a turn, in one radian */

/* ---- rows ---- */

static gram_status open_strips(gram_context *context, const gram_features *map, int single, gram_feature_strips *s)
{
    gram_status status = GRAM_OK;
    const int64_t count = map->arrays[0].rows, d = map->d, padded = (count + GRAM_LANES - 1) / GRAM_LANES * GRAM_LANES;
    *s = (gram_feature_strips){.map = map, .vecmath = context->vecmath, .single = single, .padded = padded};
    s->height = sqrt(*(const double *)map->own / (double)count);
    s->scratch = (STRIP + 1) * padded + STRIP * d;
    TRY(gram_take(context, "features", d * padded, sizeof *s->turned, (void **)&s->turned));
    for (int64_t l = 0; l < d; l++)
        for (int64_t f = 0; f < padded; f++)
            s->turned[l * padded + f] = f < count ? map->arrays[0].data[f * d + l] * (single ? QUARTERS : 1) : 0;
done:
    return status;
}

/* Cosines, then sines, of a row's angles; `out` need not be aligned as vectors are. */
static void put_waves(const gram_feature_strips *s, const double *angles, double *waves, double *out)
{
    const gram_vecmath_f64 *v = &s->vecmath->f64;
    const int64_t count = s->map->arrays[0].rows;
    v->cos((int)s->padded, angles, waves);
    v->affine((int)s->padded, s->height, 0, waves, waves);
    memcpy(out, waves, (size_t)count * sizeof *out);
    v->sin((int)s->padded, angles, waves);
    v->affine((int)s->padded, s->height, 0, waves, waves);
    memcpy(out + count, waves, (size_t)count * sizeof *out);
}

/* The same in f32, of quarters of turns: `waves` has room for twice `padded` of them. */
static void put_waves_f32(const gram_feature_strips *s, const double *quarters, float *waves, float *out)
{
    const int64_t count = s->map->arrays[0].rows;
    s->vecmath->f32.waves((int)s->padded, quarters, (float)s->height, waves, waves + s->padded);
    memcpy(out, waves, (size_t)count * sizeof *out);
    memcpy(out + count, waves + s->padded, (size_t)count * sizeof *out);
}

/* The angles of STRIP rows by one product. Its shape is always the same, whatever is beyond a short strip, so that the bits of a row do not depend on
 * those beside it. */
static void put_strip(const gram_feature_strips *s, int64_t rows, const double *x, int64_t ldx, void *out, int64_t ldo,
                      double *angles)
{
    const int64_t d = s->map->d, padded = s->padded;
    double *waves = angles + STRIP * padded, *strip = waves + padded;
    for (int64_t r = 0; r < rows; r++) memcpy(strip + r * d, x + r * ldx, (size_t)d * sizeof *strip);
    memset(strip + rows * d, 0, (size_t)((STRIP - rows) * d) * sizeof *strip);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, STRIP, (int)padded, (int)d, 1, strip, (int)d, s->turned,
                (int)padded, 0, angles, (int)padded);
    for (int64_t r = 0; r < rows; r++)
        if (s->single)
            put_waves_f32(s, angles + r * padded, (float *)waves, (float *)out + r * ldo);
        else
            put_waves(s, angles + r * padded, waves, (double *)out + r * ldo);
}

typedef struct fourier_rows {
    gram_feature_strips strips;
    const double *x;
    int64_t ldx;
    double *out;
    int64_t ldo;
} fourier_rows;

static void put_rows(const void *argument, int64_t begin, int64_t end, double *scratch)
{
    const fourier_rows *rows = argument;
    for (int64_t i = begin; i < end; i += STRIP)
        put_strip(&rows->strips, end - i < STRIP ? end - i : STRIP, rows->x + i * rows->ldx, rows->ldx,
                  rows->out + i * rows->ldo, rows->ldo, scratch);
}

static gram_status transform(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                             double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    fourier_rows rows = {.x = x, .ldx = ldx, .out = out, .ldo = ldo};
    TRY(open_strips(context, map, 0, &rows.strips));
    TRY(gram_feature_rows(context, n, map->report.dimension, rows.strips.scratch, put_rows, &rows));
done:
    gram_give(context, rows.strips.turned);
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
    .open_strips = open_strips,
    .put_strip = put_strip,
    .residual = gram_feature_no_residual,
    .describe = describe,
};
