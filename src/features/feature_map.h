/* Feature maps from inside: what each type of map declares. A new one is one file with one gram_feature_type and one row in
 * feature_map.c. */
#ifndef GRAM_FEATURES_FEATURE_MAP_H
#define GRAM_FEATURES_FEATURE_MAP_H

#include <gram/features.h>

#include "base/arena.h"
#include "base/context.h"
#include "base/sparse/csr.h"

/* Numbers that make a map, beside kernel and degree: what a model keeps. */
typedef struct gram_feature_array {
    int64_t rows, columns;
    double *data; /* in the arena */
} gram_feature_array;

enum { GRAM_FEATURE_ARRAYS = 2, GRAM_FEATURES_MOST_DEGREE = 10000 };

enum { GRAM_FEATURE_STRIP = 32 };

/* Features of a few rows at a time, made inside a task: what such a task needs to know. */
typedef struct gram_feature_strips {
    const gram_features *map;
    const gram_vecmath *vecmath;
    int single;              /* f32, to some 2^-22 of sqrt k(x, x) in each; else f64 */
    int64_t padded, scratch; /* scratch: numbers that put_strip wants */
    double height, *turned;  /* turned: the caller's to give back */
} gram_feature_strips;

typedef struct gram_feature_type {
    const char *name;
    const char *arrays[GRAM_FEATURE_ARRAYS]; /* their names, NULL: there is none */
    /* Decides: sets degree and the arrays; options are checked, x may be NULL. */
    gram_status (*make)(gram_context *context, gram_features *map, const gram_points *x,
                        const gram_features_options *options);
    /* From degree and arrays, of `make` or of a model: checks them, sets `dimension` and `own`. GRAM_ERROR_DATA: they do not belong
     * together. */
    gram_status (*open)(gram_context *context, gram_features *map);
    /* The errors of the report, at the points. NULL: `make` knows them. */
    gram_status (*measure)(gram_context *context, gram_features *map, const gram_points *x);
    void (*close)(gram_features *map); /* what is not in the arena; NULL: nothing */
    gram_status (*transform)(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                             double *out, int64_t ldo);
    gram_status (*residual)(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                            double *out);
    /* Of maps that can make strips: rows of at most GRAM_FEATURE_STRIP rows, to `out` (double or float, by `single`), ldo apart; else NULL. */
    gram_status (*open_strips)(gram_context *context, const gram_features *map, int single,
                               gram_feature_strips *strips);
    void (*put_strip)(const gram_feature_strips *strips, int64_t rows, const double *x, int64_t ldx, void *out,
                      int64_t ldo, double *scratch);
    /* Of maps whose rows are sparse: report.nonzeros columns and values for each; else NULL. */
    gram_status (*sparse)(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                          int32_t *column, double *value);
    /* Where z = L^-1 raw(x) with the lower triangular L in array number `factor`: raw; else NULL. */
    gram_status (*raw)(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                       double *out, int64_t ldo);
    int factor;
    void (*describe)(const gram_features *map, gram_string *text);
} gram_feature_type;

struct gram_features {
    gram_memory *memory;
    gram_arena arena;
    gram_kernel *kernel;
    const gram_feature_type *type;
    int64_t d;
    gram_features_report report;
    gram_feature_array arrays[GRAM_FEATURE_ARRAYS];
    void *own;
};

extern const gram_feature_type gram_feature_explicit, gram_feature_fourier, gram_feature_nystrom, gram_feature_binning,
    gram_feature_neural;

/* gram_features_create without looking for errors at the points: their options are complete. */
gram_status gram_features_make(gram_context *context, gram_kernel *kernel, int64_t d, const gram_points *x,
                               const gram_features_options *options, gram_features **features);

/* Room for one of the arrays. */
gram_status gram_feature_array_take(gram_context *context, gram_features *map, int which, int64_t rows,
                                    int64_t columns);

/* The row of that name, or NULL. */
const gram_feature_type *gram_feature_type_find(const char *name);

/* The map of a type from its kernel, degree and arrays (copied), as a model keeps them; `error` is what was found when it was made. */
gram_status gram_features_restore(gram_context *context, const gram_feature_type *type, gram_kernel *kernel, int64_t d,
                                  int64_t degree, double error, const gram_feature_array arrays[GRAM_FEATURE_ARRAYS],
                                  gram_features **map);

/* L of maps with `raw`, dimension x dimension, row-major; NULL for others. */
static inline const double *gram_feature_factor(const gram_features *map)
{
    return map->type->raw ? map->arrays[map->type->factor].data : NULL;
}

/* The features of sparse maps as CSR, the caller's to free. */
gram_status gram_features_csr(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                              gram_csr *csr);

/* For random maps: `measure` by the root mean square of k - z.z over the pairs of at most 256 rows, evenly spaced ones; `residual` of maps with
 * |z(x)|^2 = k(x, x). */
gram_status gram_feature_measure_pairs(gram_context *context, gram_features *map, const gram_points *x);
gram_status gram_feature_no_residual(gram_context *context, const gram_features *map, int64_t n, const double *x,
                                     int64_t ldx, double *out);

/* Blocks of rows by a sweep: `run` makes rows [begin, end) with scratch of its own. */
typedef void (*gram_feature_rows_fn)(const void *argument, int64_t begin, int64_t end, double *scratch);
gram_status gram_feature_rows(gram_context *context, int64_t n, int64_t work_per_row, int64_t scratch,
                              gram_feature_rows_fn run, const void *argument);

#endif
