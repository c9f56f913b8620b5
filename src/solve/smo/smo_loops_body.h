/* The loops of smo_loops.h, compiled once for each level: the includer defines LEVEL_TABLE. */
#include <math.h>
#include <string.h>

#include "base/vecmath/simd.h"
#include "solve/smo/smo_loops.h"

enum { PARTS = 2 };

#define REAL double
#define VECTOR vector_f64
#define INDEX vector_i64
#define LANES LANES_F64
#define NAME(name) name##_f64
#include "solve/smo/smo_steps_body.h"
#undef REAL
#undef VECTOR
#undef INDEX
#undef LANES
#undef NAME

#define REAL float
#define VECTOR vector_f32
#define INDEX vector_i32
#define LANES LANES_F32
#define NAME(name) name##_f32
#include "solve/smo/smo_steps_body.h"

/* From anywhere. */
GRAM_INLINE vector_f64 fetch(const double *x)
{
    vector_f64 out;
    memcpy(&out, x, sizeof out);
    return out;
}

static void range(int64_t count, const double *v, const double *b, const double *lower, const double *upper,
                  double *highest, double *lowest)
{
    const vector_f64 minus = spread_f64(-INFINITY), plus = spread_f64(INFINITY);
    vector_f64 high = minus, low = plus;
    double up = -INFINITY, down = INFINITY;
    int64_t i = 0;
    for (; i + LANES_F64 <= count; i += LANES_F64) {
        const vector_f64 value = fetch(v + i), at = fetch(b + i);
        high = max_f64(select_f64(at < fetch(upper + i), value, minus), high);
        low = min_f64(select_f64(at > fetch(lower + i), value, plus), low);
    }
    for (int l = 0; l < LANES_F64; l++) {
        up = high[l] > up ? high[l] : up;
        down = low[l] < down ? low[l] : down;
    }
    for (; i < count; i++) {
        if (b[i] < upper[i] && v[i] > up) up = v[i];
        if (b[i] > lower[i] && v[i] < down) down = v[i];
    }
    *highest = up;
    *lowest = down;
}

/* Four rows at a time, so that `out` is read and written once for four. */
static void add_four(const double *weights, const float *const *row, int64_t first, int64_t count, double *out)
{
    const double w0 = weights[0], w1 = weights[1], w2 = weights[2], w3 = weights[3];
    const float *GRAM_RESTRICT r0 = row[0] + first, *GRAM_RESTRICT r1 = row[1] + first;
    const float *GRAM_RESTRICT r2 = row[2] + first, *GRAM_RESTRICT r3 = row[3] + first;
    double *GRAM_RESTRICT sum = out;
    for (int64_t k = 0; k < count; k++)
        sum[k] += (w0 * (double)r0[k] + w1 * (double)r1[k]) + (w2 * (double)r2[k] + w3 * (double)r3[k]);
}

static void add_rows(int64_t rows, const double *weights, const float *const *row, int64_t first, int64_t count,
                     double *out)
{
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) add_four(weights + r, row + r, first, count, out);
    for (; r < rows; r++) {
        const double weight = weights[r];
        const float *GRAM_RESTRICT one = row[r] + first;
        double *GRAM_RESTRICT sum = out;
        for (int64_t k = 0; k < count; k++) sum[k] += weight * (double)one[k];
    }
}

const gram_smo_loops LEVEL_TABLE = {move_f64, partner_f64, move_f32, partner_f32, range, add_rows};
