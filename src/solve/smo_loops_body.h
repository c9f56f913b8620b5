/* The loops of smo_loops.h, compiled once for each level: the includer defines LEVEL_TABLE. */
#include <math.h>
#include <string.h>

#include "../base/simd.h"
#include "smo_loops.h"

enum { PARTS = GRAM_SMO_LANES / LANES_F64 };

/* The best of each lane, and the first index at which it was seen. */
typedef struct lanes {
    vector_f64 best[PARTS];
    vector_i64 at[PARTS];
} lanes;

GRAM_INLINE vector_i64 counting(int64_t first)
{
    vector_i64 index;
    for (int l = 0; l < LANES_F64; l++) index[l] = first + l;
    return index;
}

/* The largest, at the lowest index where it stands. */
static int64_t settle(const lanes *all, double *best)
{
    int64_t at = -1;
    *best = -INFINITY;
    for (int part = 0; part < PARTS; part++)
        for (int l = 0; l < LANES_F64; l++) {
            const double value = all->best[part][l];
            if (value == -INFINITY) continue;
            if (value > *best || (value == *best && all->at[part][l] < at)) {
                *best = value;
                at = all->at[part][l];
            }
        }
    return at;
}

static gram_smo_extremes move(int64_t count, double step, const double *first, const double *second, const double *rise,
                              const double *fall, double *v)
{
    const vector_f64 t = spread_f64(step), minus = spread_f64(-INFINITY), plus = spread_f64(INFINITY);
    const vector_i64 stride = counting(0) * 0 + GRAM_SMO_LANES;
    lanes high;
    vector_f64 low[PARTS];
    vector_i64 index[PARTS];
    for (int p = 0; p < PARTS; p++) {
        high.best[p] = minus;
        high.at[p] = index[p] = counting(p * LANES_F64);
        low[p] = plus;
    }
    for (int64_t k = 0; k < count; k += GRAM_SMO_LANES)
        for (int p = 0; p < PARTS; p++) {
            const int64_t at = k + p * LANES_F64;
            const vector_f64 moved = load_f64(v + at) - t * (load_f64(first + at) - load_f64(second + at));
            store_f64(v + at, moved);
            const vector_f64 up = moved + load_f64(rise + at);
            const vector_i64 better = up > high.best[p];
            high.best[p] = select_f64(better, up, high.best[p]);
            high.at[p] = (index[p] & better) | (high.at[p] & ~better);
            low[p] = min_f64(moved + load_f64(fall + at), low[p]);
            index[p] += stride;
        }
    gram_smo_extremes out = {.lowest = INFINITY};
    out.at = settle(&high, &out.highest);
    for (int p = 0; p < PARTS; p++)
        for (int l = 0; l < LANES_F64; l++) out.lowest = low[p][l] < out.lowest ? low[p][l] : out.lowest;
    return out;
}

/* The gain b^2/a is compared as b^2 a' > b'^2 a: a product is several times faster than a quotient. */
static int64_t partner(int64_t count, double top, double own, double smallest, const double *row,
                       const double *diagonal, const double *v, const double *fall, double *gain)
{
    const vector_f64 least = spread_f64(smallest), zero = {0};
    const vector_i64 stride = counting(0) * 0 + GRAM_SMO_LANES;
    vector_f64 over[PARTS], under[PARTS];
    lanes high;
    vector_i64 index[PARTS];
    for (int p = 0; p < PARTS; p++) {
        over[p] = zero;
        under[p] = spread_f64(1);
        high.at[p] = index[p] = counting(p * LANES_F64);
    }
    for (int64_t k = 0; k < count; k += GRAM_SMO_LANES)
        for (int p = 0; p < PARTS; p++) {
            const int64_t at = k + p * LANES_F64;
            const vector_f64 b = max_f64(top - (load_f64(v + at) + load_f64(fall + at)), zero), square = b * b;
            const vector_f64 a = max_f64(own + load_f64(diagonal + at) - 2 * load_f64(row + at), least);
            const vector_i64 better = square * under[p] > over[p] * a;
            over[p] = select_f64(better, square, over[p]);
            under[p] = select_f64(better, a, under[p]);
            high.at[p] = (index[p] & better) | (high.at[p] & ~better);
            index[p] += stride;
        }
    for (int p = 0; p < PARTS; p++)
        high.best[p] = select_f64(over[p] > zero, over[p] / under[p], spread_f64(-INFINITY));
    return settle(&high, gain);
}

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

const gram_smo_loops LEVEL_TABLE = {move, partner, range, add_rows};
