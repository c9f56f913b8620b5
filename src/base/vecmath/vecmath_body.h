/* Block vector math for one level: included by vecmath_avx512.c, vecmath_avx2.c and vecmath_plain.c, each compiled for its processors.
 *
 * The includer defines LEVEL_TABLE, LEVEL_NAME and LEVEL_ISA and the vector functions libm_log, libm_sin, libm_cos,
 * libm_atan, libm_erf and libm_pow. Everything is computed lane by lane with the same operations in each lane, hence no result depends on its
 * place.
 *
 * Both exponentials split the argument into a whole number k of doublings and a rest f, |f| <= 1/2 doubling, where a
 * polynomial suffices. k comes from adding 1.5 * 2^52, which leaves k in the low bits of the sum t; shifted into the
 * exponent's place and added to the polynomial's bits it multiplies by 2^k. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/vecmath/simd.h"

/* 1.5 * 2^(digits of the type): the sum's last place is 1, so that the sum is rounded to a whole number. */
static const double ROUND_F64 = 0x1.8p52;
static const float ROUND_F32 = 0x1.8p23f;
static const double LOG2_E = 0x1.71547652b82fep0;

/* Minimax polynomial of 2^(f/2), |f| <= 1/2, constant term 1: relative error 0.23 * 2^-53. It is squared afterwards:
 * degree 9 and one multiplication cost less than the degree 11 that 2^f itself needs. */
static const double HALF_EXP2_F64[9] = {
    0x1.62e42fefa39efp-2,  0x1.ebfbdff82c482p-5,  0x1.c6b08d704a8b2p-8,  0x1.3b2ab6fc489a2p-11, 0x1.5d87fe750e3f8p-15,
    0x1.43090b3b30febp-19, 0x1.ffcc1fab79c8dp-24, 0x1.6309ecdd79a1ep-28, 0x1.b4d333c730eb3p-33,
};

/* Minimax polynomial of 2^f, |f| <= 1/2, constant term 1: relative error 1.8 * 2^-24. */
static const float EXP2_F32[5] = {
    0x1.62e42ap-1f, 0x1.ebf9bcp-3f, 0x1.c6b752p-5f, 0x1.3cea88p-7f, 0x1.5bba14p-10f,
};

/* Minimax polynomial of e^r, |r| <= ln(2)/2, constant term 1: relative error 0.09 * 2^-53. */
static const double EXP_F64[11] = {
    0x1.0000000000000p+0,  0x1.0000000000005p-1,  0x1.5555555555557p-3,  0x1.555555555209ap-5,
    0x1.11111111100d8p-7,  0x1.6c16c17f498b2p-10, 0x1.a01a01abe9ce8p-13, 0x1.a019a657c2c54p-16,
    0x1.71de022bd5558p-19, 0x1.28a2d41c1698ep-22, 0x1.af4df5750ec30p-26,
};

/* ln 2 in two parts; the first has 11 zeros at its end, so that its product with any k is exact. */
static const double LN2_HIGH = 0x1.62e42fefa3800p-1;
static const double LN2_LOW = 0x1.ef35793c76730p-45;

/* The largest x with a finite e^x. */
static const double EXP_MOST = 0x1.62e42fefa39efp+9;

/* bits(p) + (k << 52), 0 where k < least. */
GRAM_INLINE vector_f64 scale_by_power_f64(vector_f64 p, vector_f64 t, double least)
{
    const vector_u64 scaled = (vector_u64)p + ((vector_u64)t << 52);
    return (vector_f64)(scaled & (vector_u64)(t >= ROUND_F64 + least));
}

GRAM_INLINE vector_f32 scale_by_power_f32(vector_f32 p, vector_f32 t, float least)
{
    const vector_u32 scaled = (vector_u32)p + ((vector_u32)t << 23);
    return (vector_f32)(scaled & (vector_u32)(t >= ROUND_F32 + least));
}

/* 2^y in three steps: split y, run the polynomial, join. The polynomial is run for the vectors of GRAM_LANES numbers
 * together, because one alone waits for its own last step.
 *
 * split: y = k + f, t = k + 1.5 * 2^52. y is at most 1024, where the result is inf. NaN stays in f, while its t is that
 * of 4096, whose shifted k is 0 and leaves the NaN as it is. Minimum and comparison are chosen because they take no
 * time from the multipliers, which a blend does (on AMD's Zen 3). */
enum { GROUP_F64 = GRAM_LANES / LANES_F64, GROUP_F32 = GRAM_LANES / LANES_F32 };

GRAM_INLINE void split_f64(vector_f64 y, vector_f64 *t, vector_f64 *f)
{
    y = min_f64(spread_f64(1024), y);
    *t = min_f64(y, spread_f64(4096)) + ROUND_F64;
    *f = y - (*t - ROUND_F64);
}

/* k has 9 bits after the shift, hence 512 instead of 4096. */
GRAM_INLINE void split_f32(vector_f32 y, vector_f32 *t, vector_f32 *f)
{
    y = min_f32(spread_f32(128), y);
    *t = min_f32(y, spread_f32(512)) + ROUND_F32;
    *f = y - (*t - ROUND_F32);
}

GRAM_INLINE void polynomial_f64(const vector_f64 f[GROUP_F64], vector_f64 q[GROUP_F64])
{
    for (int v = 0; v < GROUP_F64; v++) q[v] = spread_f64(HALF_EXP2_F64[8]);
    for (int k = 7; k >= 0; k--)
        for (int v = 0; v < GROUP_F64; v++) q[v] = q[v] * f[v] + HALF_EXP2_F64[k];
}

GRAM_INLINE void polynomial_f32(const vector_f32 f[GROUP_F32], vector_f32 q[GROUP_F32])
{
    for (int v = 0; v < GROUP_F32; v++) q[v] = spread_f32(EXP2_F32[4]);
    for (int k = 3; k >= 0; k--)
        for (int v = 0; v < GROUP_F32; v++) q[v] = q[v] * f[v] + EXP2_F32[k];
}

/* (1 + q f)^2 = 1 + q f (q f + 2) */
GRAM_INLINE vector_f64 join_f64(vector_f64 t, vector_f64 f, vector_f64 q)
{
    q *= f;
    return scale_by_power_f64(q * (q + 2) + 1, t, -1021);
}

GRAM_INLINE vector_f32 join_f32(vector_f32 t, vector_f32 f, vector_f32 q)
{
    return scale_by_power_f32(q * f + 1, t, -125);
}

/* e^x = 2^k e^r, r = x - k ln 2, e^r = 1 + (r + (rest + r^2 (...))), where `rest` is what r lost in its rounding. NaN
 * as above: nothing else that is not past EXP_MOST comes near 4096 doublings. */
GRAM_INLINE vector_f64 exp_vector(vector_f64 x)
{
    const double *c = EXP_F64;
    const vector_f64 t = min_f64(x, spread_f64(4096 / LOG2_E)) * LOG2_E + ROUND_F64;
    const vector_f64 k = t - ROUND_F64;
    const vector_f64 high = x - k * LN2_HIGH;
    const vector_f64 r = high - k * LN2_LOW;
    const vector_f64 rest = (high - r) - k * LN2_LOW;
    const vector_f64 s = r * r;
    const vector_f64 even = (((c[9] * s + c[7]) * s + c[5]) * s + c[3]) * s + c[1];
    const vector_f64 odd = (((c[10] * s + c[8]) * s + c[6]) * s + c[4]) * s + c[2];
    const vector_f64 p = (((odd * r + even) * s + rest) + r) + 1;
    const vector_f64 in_range = scale_by_power_f64(p, t, -1021);
    return select_f64(x > EXP_MOST, spread_f64((double)INFINITY), in_range);
}

static void exp_block(int n, const double *x, double *out)
{
    for (int i = 0; i < n; i += LANES_F64) store_f64(out + i, exp_vector(load_f64(x + i)));
}

static void log_block(int n, const double *x, double *out)
{
    for (int i = 0; i < n; i += LANES_F64) store_f64(out + i, libm_log(load_f64(x + i)));
}

static void sin_block(int n, const double *x, double *out)
{
    for (int i = 0; i < n; i += LANES_F64) store_f64(out + i, libm_sin(load_f64(x + i)));
}

static void cos_block(int n, const double *x, double *out)
{
    for (int i = 0; i < n; i += LANES_F64) store_f64(out + i, libm_cos(load_f64(x + i)));
}

static void erf_block(int n, const double *x, double *out)
{
    for (int i = 0; i < n; i += LANES_F64) store_f64(out + i, libm_erf(load_f64(x + i)));
}

static void atan_block(int n, const double *x, double *out)
{
    for (int i = 0; i < n; i += LANES_F64) store_f64(out + i, libm_atan(load_f64(x + i)));
}

/* Minimax polynomial of (asin(r)/r - 1)/z, r = sqrt(z), 0 <= z <= 1/2: relative error of asin 0.02 * 2^-53. */
static const double ARC_SINE[20] = {
    0x1.5555555555555p-3,  0x1.33333333333fdp-4,  0x1.6db6db6d9cb53p-5,  0x1.f1c71c873bf4dp-6,  0x1.6e8b9e43c5fcdp-6,
    0x1.1c4f61c1a1fbcp-6,  0x1.c97e2237838c0p-7,  0x1.7c37863926735p-7,  0x1.2c890a7ac0c2fp-7,  0x1.b87af49afb0d2p-7,
    -0x1.a31fd9b91383ep-6, 0x1.5e3b41eb20c95p-3,  -0x1.4269da49b829fp-1, 0x1.e575253fe841bp+0,  -0x1.130ba9a40100fp+2,
    0x1.d6f3a0fced329p+2,  -0x1.25133ad0795a5p+3, 0x1.f8822c21e65b2p+2,  -0x1.0cec1879d5417p+2, 0x1.10cf7ab879039p+0,
};

/* The angle to 0 or pi, whichever is nearer: 2 asin sqrt(z), 2 z the smaller of 1 - cos and 1 + cos */
GRAM_INLINE void near_angles(const vector_f64 z[GROUP_F64], vector_f64 angle[GROUP_F64])
{
    vector_f64 q[GROUP_F64];
    for (int v = 0; v < GROUP_F64; v++) q[v] = spread_f64(ARC_SINE[19]);
    for (int k = 18; k >= 0; k--)
        for (int v = 0; v < GROUP_F64; v++) q[v] = q[v] * z[v] + ARC_SINE[k];
    for (int v = 0; v < GROUP_F64; v++) {
        const vector_f64 r = sqrt_f64(z[v]);
        angle[v] = 2 * (r * (z[v] * q[v]) + r);
    }
}

/* What a bias makes of the angle with 1 - cos = less, cos = kappa and 1 + cos = more; returns xy. With
 * sqrt(A B) - b2 - g = b2 (sqrt a - sqrt b)^2/(sqrt(A B) + b2 + g) nothing cancels: neural.c. */
GRAM_INLINE vector_f64 arc_bias(const gram_arc_layer *l, int i, vector_f64 less, vector_f64 kappa, vector_f64 more,
                                double *minus, double *plus, double *xy)
{
    const vector_f64 part = load_f64(l->y_part + i), g = l->part * part,
                     inverse = l->inverse * load_f64(l->y_inverse + i);
    vector_f64 excess = spread_f64(0);
    if (l->b2 > 0) {
        const vector_f64 difference = l->part - part;
        excess = l->b2 * (difference * difference) / (l->root * load_f64(l->y_root + i) + (l->b2 + g));
    }
    const vector_f64 product = g * kappa + l->b2;
    store_f64(xy + i, product);
    store_f64(minus + i, max_f64((g * less + excess) * inverse, spread_f64(0)));
    store_f64(plus + i, (g * more + (excess + 2 * l->b2)) * inverse);
    return product;
}

GRAM_INLINE void arc_vector(const gram_arc_layer *l, int i, vector_f64 near, double *minus, double *plus, double *xy,
                            double *t)
{
    const double pi = 0x1.921fb54442d18p1, share = 1 / pi;
    const vector_f64 m = load_f64(minus + i), p = load_f64(plus + i), far = pi - near;
    const vector_i64 obtuse = m > p;
    const vector_f64 angle = select_f64(obtuse, far, near), rest = select_f64(obtuse, near, far);
    const vector_f64 sine = sqrt_f64(m * p), cosine = select_f64(obtuse, p - 1, 1 - m);
    const vector_f64 kappa = (rest * cosine + sine) * share, less = m - (sine - angle * cosine) * share;
    const vector_f64 product = arc_bias(l, i, less, kappa, 1 + kappa, minus, plus, xy);
    store_f64(t + i, load_f64(t + i) * rest * (0.5 * share * l->w2) + product);
}

static void arc_begin_block(int n, const gram_arc_layer *layer, double *minus, double *plus, double *xy, double *t)
{
    for (int i = 0; i < n; i += LANES_F64) {
        const vector_f64 m = load_f64(minus + i), p = load_f64(plus + i);
        store_f64(t + i, arc_bias(layer, i, m, select_f64(m > p, p - 1, 1 - m), p, minus, plus, xy));
    }
}

static double arc_cosines_block(int n, double x, const double *y, const double *dots, double *minus, double *plus)
{
    vector_f64 most = spread_f64(0);
    double largest = 0;
    for (int i = 0; i < n; i += LANES_F64) {
        const vector_f64 cosine = load_f64(dots + i) * (x * load_f64(y + i));
        store_f64(minus + i, 1 - cosine);
        store_f64(plus + i, 1 + cosine);
        most = max_f64(max_f64(cosine, -cosine), most);
    }
    for (int v = 0; v < LANES_F64; v++) largest = most[v] > largest ? most[v] : largest;
    return largest;
}

static void arc_layer_block(int n, const gram_arc_layer *layer, double *minus, double *plus, double *xy, double *t)
{
    for (int i = 0; i < n; i += GRAM_LANES) {
        vector_f64 z[GROUP_F64], near[GROUP_F64];
        for (int v = 0; v < GROUP_F64; v++) {
            const int at = i + v * LANES_F64;
            z[v] = 0.5 * min_f64(load_f64(minus + at), load_f64(plus + at));
        }
        near_angles(z, near);
        for (int v = 0; v < GROUP_F64; v++) arc_vector(layer, i + v * LANES_F64, near[v], minus, plus, xy, t);
    }
}

static void pow_block(int n, double y, const double *x, double *out)
{
    for (int i = 0; i < n; i += LANES_F64) store_f64(out + i, libm_pow(load_f64(x + i), spread_f64(y)));
}

/* GRAM_LANES partial sums, then pairs of them: the same order at every level. */
GRAM_INLINE double sum_lanes(double partial[GRAM_LANES])
{
    for (int width = GRAM_LANES / 2; width > 0; width /= 2)
        for (int i = 0; i < width; i++) partial[i] += partial[i + width];
    return partial[0];
}

static double sum_block(int n, const double *x)
{
    vector_f64 total[GROUP_F64] = {{0}};
    double partial[GRAM_LANES];
    for (int i = 0; i < n; i += GRAM_LANES)
        for (int v = 0; v < GROUP_F64; v++) total[v] += load_f64(x + i + v * LANES_F64);
    for (int i = 0; i < GRAM_LANES; i++) partial[i] = total[i / LANES_F64][i % LANES_F64];
    return sum_lanes(partial);
}

static double dot_block(int n, const double *x, const double *y)
{
    vector_f64 total[GROUP_F64] = {{0}};
    double partial[GRAM_LANES];
    for (int i = 0; i < n; i += GRAM_LANES)
        for (int v = 0; v < GROUP_F64; v++)
            total[v] += load_f64(x + i + v * LANES_F64) * load_f64(y + i + v * LANES_F64);
    for (int i = 0; i < GRAM_LANES; i++) partial[i] = total[i / LANES_F64][i % LANES_F64];
    return sum_lanes(partial);
}

static void multiply_min_block(int n, double x, double origin, const double *y, double *out)
{
    const vector_f64 bound = spread_f64(x);
    for (int i = 0; i < n; i += LANES_F64)
        store_f64(out + i, load_f64(out + i) * (min_f64(bound, load_f64(y + i)) - origin));
}

/* The q_j below: those of one lane are made in one vector from the rows of its piece, which is faster than gathering c_j for
 * all lanes, and then turned. */
#if defined(__AVX512F__)

GRAM_INLINE void pieces_quads(const gram_pieces *pieces, vector_u64 index, vector_f64 u4, vector_f64 q[4])
{
    __m256d rows[LANES_F64];
    for (int lane = 0; lane < LANES_F64; lane++) {
        const double *c = pieces->coefficients[index[lane]];
        const __m256d u = _mm256_set1_pd(u4[lane]);
        rows[lane] = (_mm256_load_pd(c + 8) * u + _mm256_load_pd(c + 4)) * u + _mm256_load_pd(c);
    }
    transpose_quads(rows, q);
}

#else

GRAM_INLINE void pieces_quads(const gram_pieces *pieces, vector_u64 index, vector_f64 u4, vector_f64 q[4])
{
    enum { TURNS = 4 / LANES_F64 };
    for (int lane = 0; lane < LANES_F64; lane++) {
        const double *c = pieces->coefficients[index[lane]];
        for (int t = 0; t < TURNS; t++, c += LANES_F64)
            q[t * LANES_F64 + lane] = (load_f64(c + 8) * u4[lane] + load_f64(c + 4)) * u4[lane] + load_f64(c);
    }
    for (int t = 0; t < TURNS; t++) transpose_f64(q + (ptrdiff_t)t * LANES_F64);
}

#endif

/* T(z) for low <= z <= high. The first bits of z, exponent and two of the mantissa, number the piece; the others are u.
 * T = q0 + q1 u + q2 u^2 + q3 u^3 with q_j = c_j + c_(j+4) u^4 + c_(j+8) u^8. */
GRAM_INLINE vector_f64 pieces_vector(const gram_pieces *pieces, uint64_t first, vector_f64 z)
{
    enum { INDEX_SHIFT = 50 };
    const vector_u64 bits = (vector_u64)z, index = (bits >> INDEX_SHIFT) - first;
    const vector_u64 rest = (bits & ((1ULL << INDEX_SHIFT) - 1)) | 0x3ff0000000000000ULL; /* in [1, 1.25) */
    const vector_f64 u = (vector_f64)rest * 8 - 9, u2 = u * u, u4 = u2 * u2;
    vector_f64 q[4];
    pieces_quads(pieces, index, u4, q);
    return (q[3] * u + q[2]) * u2 + (q[1] * u + q[0]);
}

/* The values of GRAM_LANES numbers x. Returns whether some have no piece (0, below the first, NaN): their values are not
 * right. */
GRAM_INLINE int pieces_group(const gram_pieces *pieces, uint64_t first, double c, const vector_f64 x[GROUP_F64],
                             vector_f64 out[GROUP_F64])
{
    const vector_f64 low = spread_f64(pieces->low), high = spread_f64(pieces->high), most = spread_f64(pieces->most);
    vector_f64 t[GROUP_F64], f[GROUP_F64], q[GROUP_F64];
    int special = 0;
    for (int v = 0; v < GROUP_F64; v++) {
        const vector_f64 z = c * x[v];
        special |= !all_f64(z >= low);
        split_f64(pieces_vector(pieces, first, min_f64(max_f64(z, low), high)), &t[v], &f[v]);
    }
    polynomial_f64(f, q);
    for (int v = 0; v < GROUP_F64; v++) out[v] = min_f64(join_f64(t[v], f[v], q[v]), most);
    return special;
}

/* What stands for x if it has no piece, else value; counts those below the first. */
static double pieces_special(const gram_pieces *pieces, double c, double x, double value, int *below)
{
    if (x <= 0) return pieces->at_zero;
    if (c * x >= pieces->low) return value;
    *below += x > 0;
    return -x;
}

GRAM_INLINE uint64_t pieces_first(const gram_pieces *pieces)
{
    uint64_t bits;
    memcpy(&bits, &pieces->low, sizeof bits);
    return bits >> 50;
}

static int exp2_pieces_f64(int n, const gram_pieces *pieces, double c, const double *x, double *out)
{
    const uint64_t first = pieces_first(pieces);
    int below = 0;
    for (int i = 0; i < n; i += GRAM_LANES) {
        vector_f64 in[GROUP_F64], k[GROUP_F64];
        for (int v = 0; v < GROUP_F64; v++) in[v] = load_f64(x + i + v * LANES_F64);
        if (pieces_group(pieces, first, c, in, k)) {
            for (int l = 0; l < GRAM_LANES; l++)
                out[i + l] = pieces_special(pieces, c, x[i + l], k[l / LANES_F64][l % LANES_F64], &below);
            continue;
        }
        for (int v = 0; v < GROUP_F64; v++) store_f64(out + i + v * LANES_F64, k[v]);
    }
    return below;
}

static int exp2_pieces_f32(int n, const gram_pieces *pieces, double c, const float *x, float *out)
{
    const uint64_t first = pieces_first(pieces);
    int below = 0;
    for (int i = 0; i < n; i += GRAM_LANES) {
        _Alignas(VECTOR_BYTES) double wide[GRAM_LANES];
        vector_f64 in[GROUP_F64], k[GROUP_F64];
        for (int l = 0; l < GRAM_LANES; l++) wide[l] = (double)x[i + l];
        for (int v = 0; v < GROUP_F64; v++) in[v] = load_f64(wide + (ptrdiff_t)v * LANES_F64);
        const int some = pieces_group(pieces, first, c, in, k);
        for (int v = 0; v < GROUP_F64; v++) store_f64(wide + (ptrdiff_t)v * LANES_F64, k[v]);
        for (int l = 0; l < GRAM_LANES && some; l++)
            wide[l] = pieces_special(pieces, c, (double)x[i + l], wide[l], &below);
        for (int l = 0; l < GRAM_LANES; l++) out[i + l] = (float)wide[l];
    }
    return below;
}

/* Minimax polynomial of log2((1 + s)/(1 - s))/s in s^2, |s| <= (sqrt(2) - 1)/(sqrt(2) + 1): relative error 2^-37.8. */
static const double LOG2_RATIO[5] = {
    0x1.71547652bede5p+1, 0x1.ec709d12e14cfp-1, 0x1.27777fda6d56ep-1, 0x1.a58d8fbde437dp-2, 0x1.5ce7cdc18db2dp-2,
};

/* log2 x for DBL_MIN <= x <= DBL_MAX to a relative 2^-37: x = 2^k m, sqrt(1/2) <= m < sqrt(2), and
 * log2 m = log2((1 + s)/(1 - s)), s = (m - 1)/(m + 1). 1023 + k are the first bits of x over sqrt(1/2); as the last bits of
 * 2^52 + 1023 + k they become a number. */
GRAM_INLINE vector_f64 log2_vector(vector_f64 x)
{
    const uint64_t one = 0x3ff0000000000000ULL, half_root = 0x3fe6a09e667f3bcdULL, digits = 0x4330000000000000ULL;
    const double *c = LOG2_RATIO;
    const vector_u64 bits = (vector_u64)x, exponent = (bits + (one - half_root)) >> 52;
    const vector_f64 k = (vector_f64)(exponent | digits) - (0x1p52 + 1023);
    const vector_f64 m = (vector_f64)(bits - (exponent << 52) + one);
    const vector_f64 s = (m - 1) / (m + 1), w = s * s;
    return ((((c[4] * w + c[3]) * w + c[2]) * w + c[1]) * w + c[0]) * s + k;
}

/* 0 where y is below the smallest normal number of f32: subnormal ones are slow */
GRAM_INLINE vector_f64 drop_below_f32(vector_f64 y)
{
    return (vector_f64)((vector_i64)y & (y >= 0x1p-126));
}

/* GRAM_LANES powers. Returns whether some bases are 0, infinite, NaN or too small: their powers are not right. */
GRAM_INLINE int pow_group(double power, const vector_f64 x[GROUP_F64], vector_f64 out[GROUP_F64])
{
    vector_f64 t[GROUP_F64], f[GROUP_F64], q[GROUP_F64];
    int special = 0;
    for (int v = 0; v < GROUP_F64; v++) {
        special |= !all_f64((x[v] >= 0x1p-1022) & (x[v] <= 0x1.fffffffffffffp1023));
        split_f64(power * log2_vector(x[v]), &t[v], &f[v]);
    }
    polynomial_f64(f, q);
    for (int v = 0; v < GROUP_F64; v++) out[v] = drop_below_f32(join_f64(t[v], f[v], q[v]));
    return special;
}

static void pow_affine_block(int n, double base, double scale, double power, const float *x, float *out)
{
    for (int i = 0; i < n; i += GRAM_LANES) {
        _Alignas(VECTOR_BYTES) double wide[GRAM_LANES];
        vector_f64 in[GROUP_F64], k[GROUP_F64];
        for (int l = 0; l < GRAM_LANES; l++) wide[l] = (double)x[i + l];
        for (int v = 0; v < GROUP_F64; v++) in[v] = load_f64(wide + (ptrdiff_t)v * LANES_F64) * scale + base;
        const int some = pow_group(power, in, k);
        for (int v = 0; v < GROUP_F64; v++) store_f64(wide + (ptrdiff_t)v * LANES_F64, k[v]);
        for (int l = 0; l < GRAM_LANES && some; l++) {
            const double sum = in[l / LANES_F64][l % LANES_F64];
            if (!(sum >= 0x1p-1022 && sum <= 0x1.fffffffffffffp1023)) wide[l] = pow(sum, power);
        }
        for (int l = 0; l < GRAM_LANES; l++) out[i + l] = (float)wide[l];
    }
}

/* tanh t = (1 - e)/(1 + e), e = exp(-2 |t|). 1 - e has an error of 2^-52, hence at t = 2^-26 one of 2^-27 of itself; below
 * that tanh t is t. */
GRAM_INLINE vector_f64 tanh_join(vector_f64 x, vector_f64 e)
{
    const vector_i64 sign = (vector_i64)spread_f64(-0.0);
    const vector_f64 size = (1 - e) / (1 + e), size_x = (vector_f64)((vector_i64)x & ~sign);
    const vector_f64 tangent = (vector_f64)((vector_i64)size | ((vector_i64)x & sign));
    return select_f64(size_x >= 0x1p-26, tangent, x);
}

static void tanh_affine_block(int n, double a, double b, const float *x, float *out)
{
    for (int i = 0; i < n; i += GRAM_LANES) {
        _Alignas(VECTOR_BYTES) double wide[GRAM_LANES];
        vector_f64 in[GROUP_F64], t[GROUP_F64], f[GROUP_F64], q[GROUP_F64];
        for (int l = 0; l < GRAM_LANES; l++) wide[l] = (double)x[i + l];
        for (int v = 0; v < GROUP_F64; v++) {
            in[v] = load_f64(wide + (ptrdiff_t)v * LANES_F64) * a + b;
            split_f64(-2 * LOG2_E * max_f64(in[v], -in[v]), &t[v], &f[v]);
        }
        polynomial_f64(f, q);
        for (int v = 0; v < GROUP_F64; v++)
            store_f64(wide + (ptrdiff_t)v * LANES_F64, tanh_join(in[v], join_f64(t[v], f[v], q[v])));
        for (int l = 0; l < GRAM_LANES; l++) out[i + l] = (float)wide[l];
    }
}

/* exp(-a) is 0 from here on */
static const double EXP_SQRT_CAP_f64 = 760;
static const float EXP_SQRT_CAP_f32 = 110;

#define REAL double
#define VECTOR vector_f64
#define LANES LANES_F64
#define GROUP GROUP_F64
#define NAME(name) name##_f64
#include "base/vecmath/vecmath_block.h"
#undef REAL
#undef VECTOR
#undef LANES
#undef GROUP
#undef NAME

#define REAL float
#define VECTOR vector_f32
#define LANES LANES_F32
#define GROUP GROUP_F32
#define NAME(name) name##_f32
#include "base/vecmath/vecmath_block.h"
#undef REAL
#undef VECTOR
#undef LANES
#undef GROUP
#undef NAME

static void widen_block(int n, const float *x, double *out)
{
    for (int i = 0; i < n; i++) out[i] = x[i];
}

static void narrow_block(int n, const double *x, float *out)
{
    for (int i = 0; i < n; i++) out[i] = (float)x[i];
}

/* Polynomials of sin(pi r/2)/r and (cos(pi r/2) - 1)/r^2 in r^2, |r| <= 1/2: errors 2.5e-9 and 2e-10. */
static const float SINE_F32[4] = {0x1.921fb6p+0F, -0x1.4abbbap-1F, 0x1.465ec4p-4F, -0x1.2d9b40p-8F};
static const float COSINE_F32[4] = {-0x1.3bd3ccp+0F, 0x1.03c1eap-2F, -0x1.55cb98p-6F, 0x1.db6492p-11F};

/* Quarters of a turn k + r: what rounding them leaves, in f64, then the rest in f32. */
static void waves_block(int n, const double *x, float height, float *cosines, float *sines)
{
    const double shift = 0x1.8p52;
    for (int i = 0; i < n; i += GRAM_LANES) {
        _Alignas(VECTOR_BYTES) float rest[GRAM_LANES];
        _Alignas(VECTOR_BYTES) int32_t turns[GRAM_LANES];
        for (int l = 0; l < GRAM_LANES; l++) {
            union {
                double number;
                int64_t bits;
            } at = {x[i + l] + shift};
            turns[l] = (int32_t)at.bits;
            rest[l] = (float)(x[i + l] - (at.number - shift));
        }
        for (int v = 0; v < GRAM_LANES; v += LANES_F32) {
            const vector_i32 k = *(const vector_i32 *)(turns + v), odd = -(k & 1);
            const vector_f32 r = load_f32(rest + v), z = r * r;
            const vector_f32 sine =
                (((SINE_F32[3] * z + SINE_F32[2]) * z + SINE_F32[1]) * z + SINE_F32[0]) * r * height;
            const vector_f32 cosine =
                ((((COSINE_F32[3] * z + COSINE_F32[2]) * z + COSINE_F32[1]) * z + COSINE_F32[0]) * z + 1) * height;
            const vector_i32 of_sine = (k & 2) << 30, of_cosine = ((k + 1) & 2) << 30;
            store_f32(sines + i + v, (vector_f32)((vector_i32)select_f32(odd, cosine, sine) ^ of_sine));
            store_f32(cosines + i + v, (vector_f32)((vector_i32)select_f32(odd, sine, cosine) ^ of_cosine));
        }
    }
}

const gram_vecmath LEVEL_TABLE = {
    .name = LEVEL_NAME,
    .isa = LEVEL_ISA,
    .f64 =
        {
            .exp = exp_block,
            .log = log_block,
            .sin = sin_block,
            .cos = cos_block,
            .atan = atan_block,
            .erf = erf_block,
            .arc_layer = arc_layer_block,
            .arc_begin = arc_begin_block,
            .arc_cosines = arc_cosines_block,
            .pow = pow_block,
            .exp_scaled = exp_scaled_f64,
            .poly_exp_sqrt = poly_exp_sqrt_f64,
            .exp2_pieces = exp2_pieces_f64,
            .sqrt_scaled = sqrt_scaled_f64,
            .multiply_min = multiply_min_block,
            .multiply_poly = multiply_poly_f64,
            .power = power_f64,
            .affine = affine_f64,
            .add = add_f64,
            .combine = combine_f64,
            .multiply = multiply_f64,
            .fill = fill_f64,
            .sum = sum_block,
            .dot = dot_block,
        },
    .f32 =
        {
            .exp_scaled = exp_scaled_f32,
            .poly_exp_sqrt = poly_exp_sqrt_f32,
            .exp2_pieces = exp2_pieces_f32,
            .pow_affine = pow_affine_block,
            .tanh_affine = tanh_affine_block,
            .sqrt_scaled = sqrt_scaled_f32,
            .multiply_poly = multiply_poly_f32,
            .power = power_f32,
            .affine = affine_f32,
            .add = add_f32,
            .combine = combine_f32,
            .multiply = multiply_f32,
            .fill = fill_f32,
            .widen = widen_block,
            .narrow = narrow_block,
            .waves = waves_block,
        },
};
