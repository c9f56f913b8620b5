/* Block vector math for one level: included by vecmath_avx2.c and vecmath_plain.c, each compiled for its processors.
 *
 * The includer defines LEVEL_TABLE, LEVEL_NAME and LEVEL_ISA and the vector functions libm_log, libm_sin, libm_cos and
 * libm_pow. Everything is computed lane by lane with the same operations in each lane, hence no result depends on its
 * place.
 *
 * Both exponentials split the argument into a whole number k of doublings and a rest f, |f| <= 1/2 doubling, where a
 * polynomial suffices. k comes from adding 1.5 * 2^52, which leaves k in the low bits of the sum t; shifted into the
 * exponent's place and added to the polynomial's bits it multiplies by 2^k. */
#include "simd.h"

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

/* The smallest x with e^x >= 2^-1022 and the largest with e^x finite. */
static const double EXP_LEAST = -0x1.6232bdd7abcd2p+9;
static const double EXP_MOST = 0x1.62e42fefa39efp+9;

GRAM_INLINE vector_f64 scale_by_power_f64(vector_f64 p, vector_f64 t)
{
    return (vector_f64)((vector_i64)p + ((vector_i64)t << 52));
}

GRAM_INLINE vector_f32 scale_by_power_f32(vector_f32 p, vector_f32 t)
{
    return (vector_f32)((vector_i32)p + ((vector_i32)t << 23));
}

/* 2^y. At most 1024, where the result is inf; below -1022 it is 0; max(0, y) is NaN for NaN and 0 where y is small. */
GRAM_INLINE vector_f64 exp2_f64(vector_f64 y)
{
    const double *c = HALF_EXP2_F64;
    y = at_most_f64(spread_f64(1024), y);
    const vector_f64 t = y + ROUND_F64;
    const vector_f64 f = y - (t - ROUND_F64);
    const vector_f64 g = f * f;
    const vector_f64 odd = (((c[8] * g + c[6]) * g + c[4]) * g + c[2]) * g + c[0];
    const vector_f64 even = (((c[7] * g + c[5]) * g + c[3]) * g + c[1]) * g + 1;
    const vector_f64 p = odd * f + even;
    return select_f64(y >= -1022, scale_by_power_f64(p * p, t), at_least_f64(spread_f64(0), y));
}

GRAM_INLINE vector_f32 exp2_f32(vector_f32 y)
{
    const float *c = EXP2_F32;
    y = at_most_f32(spread_f32(128), y);
    const vector_f32 t = y + ROUND_F32;
    const vector_f32 f = y - (t - ROUND_F32);
    const vector_f32 p = ((((c[4] * f + c[3]) * f + c[2]) * f + c[1]) * f + c[0]) * f + 1;
    return select_f32(y >= -126, scale_by_power_f32(p, t), at_least_f32(spread_f32(0), y));
}

static void exp_scaled_f64(int n, double c, const double *x, double *out)
{
    const double rate = c * LOG2_E;
    for (int i = 0; i < n; i += LANES_F64) store_f64(out + i, exp2_f64(rate * load_f64(x + i)));
}

static void exp_scaled_f32(int n, float c, const float *x, float *out)
{
    const float rate = c * (float)LOG2_E;
    for (int i = 0; i < n; i += LANES_F32) store_f32(out + i, exp2_f32(rate * load_f32(x + i)));
}

/* e^x = 2^k e^r, r = x - k ln 2 */
GRAM_INLINE vector_f64 exp_vector(vector_f64 x)
{
    const double *c = EXP_F64;
    const vector_f64 t = x * LOG2_E + ROUND_F64;
    const vector_f64 k = t - ROUND_F64;
    const vector_f64 r = (x - k * LN2_HIGH) - k * LN2_LOW;
    const vector_f64 s = r * r;
    const vector_f64 odd = ((((c[10] * s + c[8]) * s + c[6]) * s + c[4]) * s + c[2]) * s + c[0];
    const vector_f64 even = (((c[9] * s + c[7]) * s + c[5]) * s + c[3]) * s + c[1];
    const vector_f64 p = (even * s + odd * r) + 1;
    const vector_f64 tail = select_f64(x > EXP_MOST, spread_f64((double)INFINITY), at_least_f64(spread_f64(0), x));
    return select_f64((x >= EXP_LEAST) & (x <= EXP_MOST), scale_by_power_f64(p, t), tail);
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

enum { VECTORS = GRAM_LANES / LANES_F64 };

static double sum_block(int n, const double *x)
{
    vector_f64 total[VECTORS] = {{0}};
    double partial[GRAM_LANES];
    for (int i = 0; i < n; i += GRAM_LANES)
        for (int v = 0; v < VECTORS; v++) total[v] += load_f64(x + i + v * LANES_F64);
    for (int i = 0; i < GRAM_LANES; i++) partial[i] = total[i / LANES_F64][i % LANES_F64];
    return sum_lanes(partial);
}

static double dot_block(int n, const double *x, const double *y)
{
    vector_f64 total[VECTORS] = {{0}};
    double partial[GRAM_LANES];
    for (int i = 0; i < n; i += GRAM_LANES)
        for (int v = 0; v < VECTORS; v++)
            total[v] += load_f64(x + i + v * LANES_F64) * load_f64(y + i + v * LANES_F64);
    for (int i = 0; i < GRAM_LANES; i++) partial[i] = total[i / LANES_F64][i % LANES_F64];
    return sum_lanes(partial);
}

static void multiply_min_block(int n, double x, double origin, const double *y, double *out)
{
    const vector_f64 bound = spread_f64(x);
    for (int i = 0; i < n; i += LANES_F64)
        store_f64(out + i, load_f64(out + i) * (at_most_f64(bound, load_f64(y + i)) - origin));
}

/* exp(-a) is 0 from here on */
static const double EXP_SQRT_CAP_f64 = 760;
static const float EXP_SQRT_CAP_f32 = 110;

#define REAL double
#define VECTOR vector_f64
#define LANES LANES_F64
#define NAME(name) name##_f64
#include "vecmath_block.h"
#undef REAL
#undef VECTOR
#undef LANES
#undef NAME

#define REAL float
#define VECTOR vector_f32
#define LANES LANES_F32
#define NAME(name) name##_f32
#include "vecmath_block.h"
#undef REAL
#undef VECTOR
#undef LANES
#undef NAME

static void widen_block(int n, const float *x, double *out)
{
    for (int i = 0; i < n; i++) out[i] = x[i];
}

static void narrow_block(int n, const double *x, float *out)
{
    for (int i = 0; i < n; i++) out[i] = (float)x[i];
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
            .pow = pow_block,
            .exp_scaled = exp_scaled_f64,
            .poly_exp_sqrt = poly_exp_sqrt_f64,
            .sqrt_scaled = sqrt_scaled_f64,
            .multiply_min = multiply_min_block,
            .multiply_poly = multiply_poly_f64,
            .power = power_f64,
            .affine = affine_f64,
            .add = add_f64,
            .add_scaled = add_scaled_f64,
            .multiply = multiply_f64,
            .fill = fill_f64,
            .sum = sum_block,
            .dot = dot_block,
        },
    .f32 =
        {
            .exp_scaled = exp_scaled_f32,
            .poly_exp_sqrt = poly_exp_sqrt_f32,
            .sqrt_scaled = sqrt_scaled_f32,
            .multiply_poly = multiply_poly_f32,
            .power = power_f32,
            .affine = affine_f32,
            .add = add_f32,
            .add_scaled = add_scaled_f32,
            .multiply = multiply_f32,
            .fill = fill_f32,
            .widen = widen_block,
            .narrow = narrow_block,
        },
};
