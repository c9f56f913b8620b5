/* The innermost loops of the engine, chosen once by the processor.
 *
 * Points are packed in panels of GRAM_PANEL, coordinate by coordinate: x_l of point i of a panel is x[l * GRAM_PANEL + i]
 * (see panels.h). A strip is GRAM_STRIP rows of one panel against all columns of another: GRAM_STRIP x GRAM_PANEL
 * numbers, row-major, 12 KiB in f64, so that a form, its profile and what is done with them all happen in the first
 * level cache. Measured on one core at d = 10: forms by differences 0.53 ns a pair, exp 0.72, multiply 0.09. */
#ifndef GRAM_TILE_STRIP_STRIPS_H
#define GRAM_TILE_STRIP_STRIPS_H

#include <gram/context.h>

enum {
    GRAM_PANEL = 96,
    GRAM_STRIP = 16,
    GRAM_STRIP_SIZE = GRAM_STRIP * GRAM_PANEL,
    GRAM_TILE_SIZE = GRAM_PANEL * GRAM_PANEL
};

/* What row_moments sums over a row, f(x, y) of one coordinate. */
typedef enum gram_moment {
    GRAM_MOMENT_SQUARE,     /* (x - y)^2 */
    GRAM_MOMENT_ABSOLUTE,   /* |x - y| */
    GRAM_MOMENT_DIFFERENCE, /* x - y */
    GRAM_MOMENT_SIGN,       /* sign of x - y, 0 for equal ones */
    GRAM_MOMENT_SECOND      /* y */
} gram_moment;

/* `x` points at the first of the strip's rows inside its panel, `y` at the column panel; weights may be NULL for 1. */
typedef struct gram_strips_f64 {
    /* out = sum_l w_l (x_l - y_l)^2, sum_l w_l |x_l - y_l|, sum_l x_l y_l */
    void (*sqdist)(int64_t d, const double *weights, const double *x, const double *y, double *out);
    void (*l1)(int64_t d, const double *weights, const double *x, const double *y, double *out);
    void (*dot)(int64_t d, const double *x, const double *y, double *out);
    /* out = |x|^2 + |y|^2 - 2 dot (dot may be out); returns how many entries are not at least `cut` (|x|^2 + |y|^2),
     * where the subtraction cost digits or an overflow made NaN */
    int (*sqdist_from_dot)(double cut, const double *x_norms, const double *y_norms, const double *dot, double *out);
    /* out[i] += sum_j k_ij v[j], i < GRAM_STRIP */
    void (*multiply)(const double *k, const double *v, double *out);
    /* the same, and out_columns[j] += sum_i k_ij v_rows[i] */
    void (*multiply_both)(const double *k, const double *v, const double *v_rows, double *out, double *out_columns);
    /* out[i * d + l] += sum_j m_ij f(x_il, y_jl) */
    void (*row_moments)(gram_moment moment, int64_t d, const double *x, const double *y, const double *m, double *out);
    /* One x with a vector s against a panel of y with vectors t, r = x - y: square = sum_l r_l^2,
     * along = sum_l (s_l - t_l) r_l, dot = sum_l s_l t_l, GRAM_PANEL numbers each. x and s stand in a panel of their own. */
    void (*row_with_vectors)(int64_t d, const double *x, const double *s, const double *y, const double *t,
                             double *square, double *along, double *dot);
    /* The Stein kernel of (c2 + a z)^-1/2 on a panel, with q = c2 + a square:
     * out = factor q^-1/2 (dot + a (trace + along - 3 a g/q)/q); out may be g */
    void (*stein_imq)(double c2, double a, double trace, double factor, const double *square, const double *along,
                      const double *dot, const double *g, double *out);
} gram_strips_f64;

/* Sums inside a strip are f32, those over strips f64. */
typedef struct gram_strips_f32 {
    void (*sqdist)(int64_t d, const float *weights, const float *x, const float *y, float *out);
    void (*l1)(int64_t d, const float *weights, const float *x, const float *y, float *out);
    void (*dot)(int64_t d, const float *x, const float *y, float *out);
    int (*sqdist_from_dot)(float cut, const float *x_norms, const float *y_norms, const float *dot, float *out);
    void (*multiply)(const float *k, const float *v, double *out);
    void (*multiply_both)(const float *k, const float *v, const float *v_rows, double *out, double *out_columns);
} gram_strips_f32;

/* Sums over many subsets of the pairs of a strip, in whole numbers: exact, so in any order (see subset_block.h). A subset
 * is one bit for each point of a panel, GRAM_SUBSET_BYTES bytes. */
enum {
    GRAM_SUBSET_BYTES = GRAM_PANEL / 8,
    GRAM_SUBSET_COLUMNS = 4, /* that one look at the table takes */
    GRAM_SUBSET_TABLE = GRAM_PANEL / GRAM_SUBSET_COLUMNS * (1 << GRAM_SUBSET_COLUMNS) * GRAM_STRIP,
    GRAM_SUBSET_LARGEST = 1 << 23 /* of the numbers: 2 GRAM_PANEL of them still fit in 32 bits */
};

typedef struct gram_strips_subset {
    /* out[j * GRAM_STRIP + i] = k_ij scale, rounded, cut off at +-GRAM_SUBSET_LARGEST */
    void (*quantise)(const double *k, double scale, int32_t *out);
    /* The sums of all subsets of each four columns; 64-byte aligned. */
    void (*tabulate)(const int32_t *k, int32_t *tables);
    /* sums[p] += sum of k_ij over i in rows_p and j in columns_p; subset p of each is GRAM_SUBSET_BYTES after the one
     * before, rows starts at the byte of the strip's first row */
    void (*add)(const int32_t *tables, int64_t count, const uint8_t *rows, const uint8_t *columns, int64_t *sums);
} gram_strips_subset;

/* How columns of sparse rows are told apart: buckets are columns modulo a power of two (see objects/sparse_panels.h). */
typedef struct gram_sparse_shape {
    int64_t words; /* of 64 buckets */
    int32_t mask;
} gram_sparse_shape;

/* GRAM_PANEL sparse rows by bucket: values begin[s] .. begin[s + 1] - 1 are those of the s-th bucket that has any. */
typedef struct gram_sparse_panel {
    gram_sparse_shape shape;
    const uint64_t *bits;
    const int32_t *rank; /* buckets with values before each word */
    const int32_t *begin, *index;
    const uint8_t *owner;
    const double *value;
} gram_sparse_panel;

/* One sparse row against a panel: out[j] += sum_l f(x_l, y_jl) over the columns that both have, f = x y or |x - y| - |x| - |y|. */
typedef struct gram_strips_sparse {
    void (*dot)(int64_t count, const int32_t *index, const double *value, const gram_sparse_panel *panel, double *out);
    void (*l1)(int64_t count, const int32_t *index, const double *value, const gram_sparse_panel *panel, double *out);
} gram_strips_sparse;

typedef struct gram_strips {
    gram_strips_f64 f64;
    gram_strips_f32 f32;
    gram_strips_subset subset;
    gram_strips_sparse sparse;
} gram_strips;

/* The table for a level that the context has chosen; never NULL. */
const gram_strips *gram_strips_choose(gram_isa isa);

#endif
