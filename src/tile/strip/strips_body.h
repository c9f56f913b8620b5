/* The loops of strips.h for one level of instructions: included by strips_avx512.c, strips_avx2.c and strips_plain.c, which are compiled
 * for their level and define LEVEL_TABLE, the name of the table. */
#include "base/vecmath/simd.h"
#include "tile/strip/strips.h"

#include <stddef.h>
#include <string.h>

enum { TERM_SQUARE, TERM_WEIGHTED_SQUARE, TERM_ABSOLUTE, TERM_PRODUCT };

/* ROWS rows by two vectors of columns keep two FMA units of four cycles busy; three vectors pay from WIDE coordinates
 * on. Measured at d = 100, f64, one core: inner products 4.7 ns a pair in chunks of 32 coordinates, 5.3 without; dgemm
 * of the whole 5.0, dgemm tile by tile 5.9. */
enum { ROWS = 4, CHUNK = 32, WIDE = 12 };

#define REAL double
#define VECTOR vector_f64
#define INTEGERS vector_i64
#define LANES LANES_F64
#define NAME(name) name##_f64
#include "tile/strip/strips_block.h"
#undef REAL
#undef VECTOR
#undef INTEGERS
#undef LANES
#undef NAME

#define REAL float
#define VECTOR vector_f32
#define INTEGERS vector_i32
#define LANES LANES_F32
#define NAME(name) name##_f32
#include "tile/strip/strips_block.h"
#undef REAL
#undef VECTOR
#undef INTEGERS
#undef LANES
#undef NAME

GRAM_INLINE vector_f64 moment_term(gram_moment moment, double x, vector_f64 y)
{
    const vector_f64 t = x - y;
    const vector_f64 one = spread_f64(1), zero = {0};
    switch (moment) {
    case GRAM_MOMENT_SQUARE: return t * t;
    case GRAM_MOMENT_ABSOLUTE: return -min_f64(-t, t);
    case GRAM_MOMENT_DIFFERENCE: return t;
    case GRAM_MOMENT_SIGN: return select_f64(t > zero, one, zero) - select_f64(t < zero, one, zero);
    default: return y;
    }
}

GRAM_INLINE void sum_moments(gram_moment moment, int64_t d, const double *x, const double *y, const double *m,
                             double *out)
{
    for (int i = 0; i < GRAM_STRIP; i += ROWS)
        for (int64_t l = 0; l < d; l++) {
            vector_f64 acc[ROWS] = {{0}};
            for (int j = 0; j < GRAM_PANEL; j += LANES_F64) {
                const vector_f64 yj = load_f64(y + l * GRAM_PANEL + j);
                for (int r = 0; r < ROWS; r++)
                    acc[r] +=
                        load_f64(m + (i + r) * GRAM_PANEL + j) * moment_term(moment, x[l * GRAM_PANEL + i + r], yj);
            }
            for (int r = 0; r < ROWS; r++) out[(i + r) * d + l] += lane_sum_f64(acc[r]);
        }
}

static void row_moments(gram_moment moment, int64_t d, const double *x, const double *y, const double *m, double *out)
{
    switch (moment) {
    case GRAM_MOMENT_SQUARE: sum_moments(GRAM_MOMENT_SQUARE, d, x, y, m, out); break;
    case GRAM_MOMENT_ABSOLUTE: sum_moments(GRAM_MOMENT_ABSOLUTE, d, x, y, m, out); break;
    case GRAM_MOMENT_DIFFERENCE: sum_moments(GRAM_MOMENT_DIFFERENCE, d, x, y, m, out); break;
    case GRAM_MOMENT_SIGN: sum_moments(GRAM_MOMENT_SIGN, d, x, y, m, out); break;
    case GRAM_MOMENT_SECOND: sum_moments(GRAM_MOMENT_SECOND, d, x, y, m, out); break;
    }
}

/* Three sums of four vectors of columns fill the registers. */
static void row_with_vectors(int64_t d, const double *x, const double *s, const double *GRAM_RESTRICT y,
                             const double *GRAM_RESTRICT t, double *GRAM_RESTRICT square, double *GRAM_RESTRICT along,
                             double *GRAM_RESTRICT dot)
{
    enum { VECTORS = 4 };
    for (int j = 0; j < GRAM_PANEL; j += VECTORS * LANES_F64) {
        vector_f64 sums[3][VECTORS] = {{{0}}};
        for (int64_t l = 0; l < d; l++) {
            const double xl = x[l * GRAM_PANEL], sl = s[l * GRAM_PANEL];
            for (int v = 0; v < VECTORS; v++) {
                const int64_t at = l * GRAM_PANEL + j + v * LANES_F64;
                const vector_f64 r = xl - load_f64(y + at), tl = load_f64(t + at);
                sums[0][v] += r * r;
                sums[1][v] += (sl - tl) * r;
                sums[2][v] += sl * tl;
            }
        }
        for (int v = 0; v < VECTORS; v++) {
            store_f64(square + j + v * LANES_F64, sums[0][v]);
            store_f64(along + j + v * LANES_F64, sums[1][v]);
            store_f64(dot + j + v * LANES_F64, sums[2][v]);
        }
    }
}

/* One division and one root for a pair, where profile, slope and curvature one after another take three and one. */
static void stein_imq(double c2, double a, double trace, double factor, const double *square, const double *along,
                      const double *dot, const double *g, double *out)
{
    for (int j = 0; j < GRAM_PANEL; j += LANES_F64) {
        const vector_f64 inverse = 1 / (c2 + a * load_f64(square + j));
        const vector_f64 slopes = trace + load_f64(along + j) - (3 * a) * load_f64(g + j) * inverse;
        store_f64(out + j, factor * sqrt_f64(inverse) * (load_f64(dot + j) + a * slopes * inverse));
    }
}

#include "tile/strip/sparse_block.h"
#include "tile/strip/subset_block.h"

const gram_strips LEVEL_TABLE = {
    .f64 = {sqdist_f64, l1_f64, dot_f64, sqdist_from_dot_f64, multiply_f64, multiply_both_f64, row_moments,
            row_with_vectors, stein_imq},
    .f32 = {sqdist_f32, l1_f32, dot_f32, sqdist_from_dot_f32, multiply_f32, multiply_both_f32},
    .subset = {subset_quantise, subset_tabulate, subset_add},
    .sparse = {sparse_dot, sparse_l1},
};
