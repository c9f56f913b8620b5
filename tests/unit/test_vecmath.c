/* Vector math at every level that this processor has, against long double. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/random.h>

#include "base/vecmath/vecmath.h"
#include "support.h"

enum { BLOCK = 1536, ROUNDS = 60, LEVELS = 3 };

static _Alignas(64) double X[BLOCK], Y[BLOCK], OUT[BLOCK];
static _Alignas(64) float XF[BLOCK], OUTF[BLOCK];

static const gram_vecmath *level(int i)
{
    static const gram_isa levels[LEVELS] = {GRAM_ISA_PLAIN, GRAM_ISA_AVX2, GRAM_ISA_AVX512};
    return gram_vecmath_choose(levels[i]);
}

/* Error of `value` in units in the last place of the exact result. */
static double ulps(double value, long double exact)
{
    if (isnan(value) || isinf(value)) return INFINITY;
    int exponent;
    (void)frexpl(exact, &exponent);
    if (exponent < DBL_MIN_EXP) exponent = DBL_MIN_EXP;
    return (double)fabsl(ldexpl((long double)value - exact, DBL_MANT_DIG - exponent));
}

static void fill_uniform(uint64_t stream, double low, double high)
{
    gram_random_uniform((gram_random){7, stream}, 0, BLOCK, X);
    for (int i = 0; i < BLOCK; i++) X[i] = low + (high - low) * X[i];
}

typedef void (*block_fn)(int n, const double *x, double *out);
typedef long double (*exact_fn)(long double x);

/* The largest error over [low, high]; every second round looks at a thousandth of the range around its start. */
static double worst(block_fn function, exact_fn exact, double low, double high, double absolute_below)
{
    double most = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const double end = round % 2 ? low + (high - low) / 1000 : high;
        fill_uniform((uint64_t)round, low, end);
        function(BLOCK, X, OUT);
        for (int i = 0; i < BLOCK; i++) {
            const long double right = exact((long double)X[i]);
            const double error = fabsl(right) < absolute_below
                                     ? (double)(fabsl((long double)OUT[i] - right) / (absolute_below * DBL_EPSILON))
                                     : ulps(OUT[i], right);
            if (!(error <= most)) most = error;
        }
    }
    return most;
}

static void check_bound(const gram_vecmath *math, const char *name, double error, double bound)
{
    print_message("%-6s %-18s %.3f ulp (bound %g)\n", math->name, name, error, bound);
    assert_true(error <= bound);
}

static void test_error_bounds(void **state)
{
    (void)state;
    for (int l = 0; l < LEVELS; l++) {
        const gram_vecmath *math = level(l);
        if (!math) continue;
        const gram_vecmath_f64 *f = &math->f64;
        check_bound(math, "exp", worst(f->exp, expl, -708, 709.7, 0), 1);
        check_bound(math, "exp near 0", worst(f->exp, expl, -1, 1, 0), 1);
        check_bound(math, "log", worst(f->log, logl, 1e-300, 1e300, 0), 2);
        check_bound(math, "log near 1", worst(f->log, logl, 0.5, 2, 0), 2);
        check_bound(math, "log small", worst(f->log, logl, 1e-300, 1e-280, 0), 2);
        check_bound(math, "sin", worst(f->sin, sinl, -10, 10, 0x1p-40), 4);
        check_bound(math, "sin to 1e5", worst(f->sin, sinl, -1e5, 1e5, 0x1p-40), 4);
        check_bound(math, "sin beyond", worst(f->sin, sinl, 1e5, 1e15, 0x1p-40), 4);
        check_bound(math, "cos", worst(f->cos, cosl, -10, 10, 0x1p-40), 4);
        check_bound(math, "cos to 1e5", worst(f->cos, cosl, -1e5, 1e5, 0x1p-40), 4);
        check_bound(math, "cos beyond", worst(f->cos, cosl, 1e5, 1e15, 0x1p-40), 4);
        check_bound(math, "atan", worst(f->atan, atanl, -3, 3, 0x1p-1000), 4);
        check_bound(math, "erf", worst(f->erf, erfl, -7, 7, 0x1p-1000), 4);
        check_bound(math, "atan of large numbers", worst(f->atan, atanl, -1e9, 1e9, 0x1p-1000), 4);
    }
}

/* A layer of relu without bias: kappa, 1 - kappa and (pi - a)/(2 pi) from 1 - cos a and 1 + cos a, for angles from 1e-12 to pi - 1e-12.
 * 1 - kappa may be off as if the angle were by some 2^-53 of its size or its cosine's. */
static void test_arc_layer(void **state)
{
    static _Alignas(64) double ones[BLOCK], plus[BLOCK], t[BLOCK];
    const long double pi = 3.14159265358979323846264338327950288L;
    (void)state;
    for (int i = 0; i < BLOCK; i++) ones[i] = 1;
    for (int l = 0; l < LEVELS; l++) {
        const gram_vecmath *math = level(l);
        double off[3] = {0};
        if (!math) continue;
        for (int i = 0; i < BLOCK; i++) {
            const long double near = i % 2 ? pi / 2 * (i + 1) / BLOCK : powl(10, -12 + 12.0L * i / BLOCK),
                              half = near / 2;
            const long double less = 2 * sinl(half) * sinl(half), more = 2 * cosl(half) * cosl(half);
            X[i] = (double)(i % 4 < 2 ? less : more);
            plus[i] = (double)(i % 4 < 2 ? more : less);
            Y[i] = X[i];
            t[i] = 1;
        }
        const gram_arc_layer layer = {
            .w2 = 1, .part = 1, .root = 1, .inverse = 1, .y_part = ones, .y_root = ones, .y_inverse = ones};
        math->f64.arc_layer(BLOCK, &layer, X, plus, OUT, t);
        for (int i = 0; i < BLOCK; i++) {
            if (i % 4 >= 2) continue;
            const long double near = 2 * asinl(sqrtl((long double)Y[i] / 2));
            const long double sine = sinl(near), cosine = cosl(near), kappa = (sine + (pi - near) * cosine) / pi;
            const long double less = (long double)Y[i] - (sine - near * cosine) / pi;
            off[0] = fmax(off[0], fabs((double)(OUT[i] - kappa)) * 0x1p53);
            off[1] = fmax(off[1], fabs((double)(X[i] - less) / (double)(near + less)) * 0x1p53);
            off[2] = fmax(off[2], fabs((double)(t[i] - kappa - (pi - near) / (2 * pi))) * 0x1p53);
        }
        check_bound(math, "arc kappa", off[0], 4);
        check_bound(math, "arc 1 - kappa", off[1], 4);
        check_bound(math, "arc t", off[2], 6);
        for (int i = 2; i < BLOCK; i += i % 4 == 3 ? 3 : 1) { /* obtuse angles: kappa is small */
            const long double half = (i % 2 ? pi / 2 * (i + 1) / BLOCK : powl(10, -12 + 12.0L * i / BLOCK)) / 2;
            const long double rest = 2 * half, kappa = (sinl(rest) - rest * cosl(rest)) / pi;
            off[0] = fmax(off[0], fabs((double)(OUT[i] - kappa)) * 0x1p53);
            off[2] = fmax(off[2], fabs((double)(t[i] - OUT[i] - rest / (2 * pi))) * 0x1p53);
        }
        check_bound(math, "arc, obtuse", fmax(off[0], off[2]), 6);
    }
}

static void test_pow(void **state)
{
    (void)state;
    const double exponents[] = {0.5, 1, 1.5, 2, 3.25, -0.75, -2, 17.3, 0.001};
    for (int l = 0; l < LEVELS; l++) {
        const gram_vecmath *math = level(l);
        if (!math) continue;
        double most = 0;
        for (int round = 0; round < 100; round++) {
            const double y = exponents[round % 9];
            fill_uniform((uint64_t)round, 0, round % 2 ? 1e9 : 3);
            math->f64.pow(BLOCK, y, X, OUT);
            for (int i = 0; i < BLOCK; i++) most = fmax(most, ulps(OUT[i], powl((long double)X[i], (long double)y)));
        }
        check_bound(math, "pow", most, 2);
        const double special[] = {0, 1, INFINITY, NAN};
        for (int i = 0; i < BLOCK; i++) X[i] = special[i % 4];
        for (int e = 0; e < 9; e++) {
            math->f64.pow(BLOCK, exponents[e], X, OUT);
            for (int i = 0; i < BLOCK; i++) {
                const double right = pow(X[i], exponents[e]);
                assert_true(isnan(right) ? isnan(OUT[i]) : OUT[i] == right);
            }
        }
    }
}

static double ulps_f32(float value, long double exact)
{
    if (isnan(value) || isinf(value)) return INFINITY;
    int exponent;
    (void)frexpl(exact, &exponent);
    if (exponent < FLT_MIN_EXP) exponent = FLT_MIN_EXP;
    return (double)fabsl(ldexpl((long double)value - exact, FLT_MANT_DIG - exponent));
}

static void test_pow_affine(void **state)
{
    (void)state;
    static const struct {
        double base, scale, power, most;
    } CASES[] = {{1, 0.7, -0.3, 1e6}, {1, 1e-3, -4000, 5},      {0, 1, 0.35, 100},       {0, 1e-300, 0.01, 1e9},
                 {4, 1, -9, 40},      {1e-30, 1, -1.5, 1e-9},   {1e150, 1e149, -0.1, 8}, {0.5, 0.1, 17.3, 100},
                 {1, 1e-7, -1e6, 10}, {0.70710678, 1e-8, 1, 1}, {1, 1, -1e-3, 1e30},     {0, 3, 2, 1e-6}};
    for (int l = 0; l < LEVELS; l++) {
        const gram_vecmath *math = level(l);
        if (!math) continue;
        double most = 0;
        for (int round = 0; round < 12 * ROUNDS; round++) {
            const double base = CASES[round % 12].base, scale = CASES[round % 12].scale;
            const double power = CASES[round % 12].power;
            fill_uniform((uint64_t)round, 0, CASES[round % 12].most);
            for (int i = 0; i < BLOCK; i++) XF[i] = (float)X[i];
            math->f32.pow_affine(BLOCK, base, scale, power, XF, OUTF);
            for (int i = 0; i < BLOCK; i++) {
                const long double right = powl((long double)base + (long double)scale * (long double)XF[i], power);
                if (right > 1.001L * (long double)FLT_MIN) most = fmax(most, ulps_f32(OUTF[i], right));
                assert_true(right >= 0.999L * (long double)FLT_MIN || OUTF[i] == 0);
            }
        }
        check_bound(math, "pow_affine f32", most, 1);
        const float x[] = {0, 1, INFINITY, NAN, 1e-45F, FLT_MAX};
        const double powers[] = {0.02, 1, -0.02, -1, -300, 300};
        for (int i = 0; i < BLOCK; i++) XF[i] = x[i % 6];
        for (int p = 0; p < 6; p++) {
            math->f32.pow_affine(BLOCK, 0, 1, powers[p], XF, OUTF);
            for (int i = 0; i < BLOCK; i++) {
                const double right = pow((double)x[i % 6], powers[p]);
                if (isnan(right) || isinf(right) || right == 0 || right == 1)
                    assert_true(isnan(right) ? isnan(OUTF[i]) : OUTF[i] == (float)right);
            }
        }
    }
}

static void test_tanh_affine(void **state)
{
    (void)state;
    for (int l = 0; l < LEVELS; l++) {
        const gram_vecmath *math = level(l);
        if (!math) continue;
        double most = 0;
        for (int round = 0; round < 8 * ROUNDS; round++) {
            const double size = pow(10, 2 - round % 32), b = round % 3 ? 0 : 0.3;
            fill_uniform((uint64_t)round, -size, size);
            for (int i = 0; i < BLOCK; i++) XF[i] = (float)X[i];
            math->f32.tanh_affine(BLOCK, 0.7, b, XF, OUTF);
            for (int i = 0; i < BLOCK; i++) {
                /* the argument in f64, as it is computed: near its zero it has no digits in common with the exact one */
                const double t = fma((double)XF[i], 0.7, b);
                if (fabs(t) > 1e-9 * b) most = fmax(most, ulps_f32(OUTF[i], tanhl((long double)t)));
            }
        }
        check_bound(math, "tanh_affine f32", most, 1);
        const float x[] = {0, -0.0F, 1e-45F, INFINITY, -INFINITY, NAN, 1e30F, -50};
        for (int i = 0; i < 16; i++) XF[i] = x[i % 8];
        math->f32.tanh_affine(16, 1, 0, XF, OUTF);
        for (int i = 0; i < 16; i++) assert_true(isnan(XF[i]) ? isnan(OUTF[i]) : OUTF[i] == (float)tanh((double)XF[i]));
    }
}

static void test_exp_scaled(void **state)
{
    (void)state;
    const double rates[] = {-0.5, -1, -1e-3, -123.456, 0.7};
    for (int l = 0; l < LEVELS; l++) {
        const gram_vecmath *math = level(l);
        if (!math) continue;
        double most = 0, most_f32 = 0;
        for (int round = 0; round < 5 * ROUNDS; round++) {
            const double c = rates[round % 5], size = round % 3 == 0 ? 1 : round % 3 == 1 ? 20 : 700;
            fill_uniform((uint64_t)round, 0, size / fabs(c));
            math->f64.exp_scaled(BLOCK, c, X, OUT);
            for (int i = 0; i < BLOCK; i++) {
                const long double z = (long double)c * X[i], right = expl(z);
                const double error = (double)(fabsl(OUT[i] - right) / right) * 0x1p53;
                most = fmax(most, error / (2 + 2 * (double)fabsl(z)));
            }
            for (int i = 0; i < BLOCK; i++) XF[i] = (float)(X[i] / 8.2);
            math->f32.exp_scaled(BLOCK, (float)c, XF, OUTF);
            for (int i = 0; i < BLOCK; i++) {
                const double z = (double)(float)c * (double)XF[i], right = exp(z);
                const double error = fabs((double)OUTF[i] - right) / right * 0x1p24;
                most_f32 = fmax(most_f32, error / (4 + 2 * fabs(z)));
            }
        }
        print_message("%-6s exp_scaled: %.3f of the bound, f32 %.3f\n", math->name, most, most_f32);
        assert_true(most <= 1);
        assert_true(most_f32 <= 1);
    }
}

/* sum of c_k a^k exp(-a) and the same with absolute values, a = sqrt(c x) */
static long double poly_exp_sqrt(int degree, const double *coefficients, long double a, long double *size)
{
    long double value = 0;
    *size = 0;
    for (int k = 0; k <= degree; k++) {
        const long double term = (long double)coefficients[k] * powl(a, k) * expl(-a);
        value += term;
        *size += fabsl(term);
    }
    return value;
}

static void test_poly_exp_sqrt(void **state)
{
    (void)state;
    const double coefficients[] = {1, -0.5, 1.0 / 3, 2};
    const float coefficients_f32[] = {1, -0.5F, 1.0F / 3, 2};
    for (int l = 0; l < LEVELS; l++) {
        const gram_vecmath *math = level(l);
        if (!math) continue;
        long double most = 0, most_f32 = 0, size;
        for (int round = 0; round < ROUNDS; round++) {
            const int degree = round % 4;
            fill_uniform((uint64_t)round, 0, round % 3 ? 5 : 2000);
            math->f64.poly_exp_sqrt(BLOCK, 3, degree, coefficients, X, OUT);
            for (int i = 0; i < BLOCK; i++) XF[i] = (float)X[i];
            math->f32.poly_exp_sqrt(BLOCK, 3, degree, coefficients_f32, XF, OUTF);
            for (int i = 0; i < BLOCK; i++) {
                const long double a = sqrtl(3 * (long double)X[i]), a_f32 = sqrtl(3 * (long double)XF[i]);
                const long double right = poly_exp_sqrt(degree, coefficients, a, &size);
                most = fmaxl(most, fabsl(OUT[i] - right) / size * 0x1p53L / (4 + 4 * a));
                const long double right_f32 = poly_exp_sqrt(degree, coefficients, a_f32, &size);
                most_f32 = fmaxl(most_f32, fabsl((long double)OUTF[i] - right_f32) / size * 0x1p24L / (4 + 4 * a_f32));
            }
        }
        print_message("%-6s poly_exp_sqrt: %.3f of the bound, f32 %.3f\n", math->name, (double)most, (double)most_f32);
        assert_true(most <= 1);
        assert_true(most_f32 <= 1);
        const double x[] = {0, 1e300, INFINITY, NAN};
        for (int i = 0; i < 16; i++) X[i] = x[i % 4], XF[i] = (float)x[i % 4];
        math->f64.poly_exp_sqrt(16, 3, 2, coefficients, X, OUT);
        math->f32.poly_exp_sqrt(16, 3, 2, coefficients_f32, XF, OUTF);
        for (int i = 0; i < 16; i++) {
            assert_true(i % 4 == 3 ? isnan(OUT[i]) : OUT[i] == (i % 4 == 0));
            assert_true(i % 4 == 3 ? isnan(OUTF[i]) : OUTF[i] == (float)(i % 4 == 0));
        }
    }
}

/* Pieces with given random polynomials. sum_j |c_j| is about 30 at most. */
static _Alignas(64) gram_pieces PIECES;

static void make_pieces(double low)
{
    enum { COUNT = GRAM_PIECES_OCTAVE * GRAM_PIECES_OCTAVES };
    for (int i = 0; i < COUNT; i++) {
        double *c = PIECES.coefficients[i];
        gram_random_uniform((gram_random){11, (uint64_t)i}, 0, GRAM_PIECES_TERMS, c);
        for (int j = 0; j < GRAM_PIECES_TERMS; j++) c[j] = (2 * c[j] - 1) * pow(0.6, j) * (j ? 1 : 20);
    }
    PIECES.low = low;
    PIECES.high = nextafter(ldexp(low, GRAM_PIECES_OCTAVES), 0);
    PIECES.at_zero = 0.25;
    PIECES.most = 1e4;
}

/* The value at z, and sum_j |c_j|. */
static long double pieces_at(double z, long double *size)
{
    int exponent, first;
    z = fmin(z, PIECES.high);
    const double mantissa = 2 * frexp(z, &exponent), place = (mantissa - 1) * GRAM_PIECES_OCTAVE;
    (void)frexp(PIECES.low, &first);
    const double *c = PIECES.coefficients[(exponent - first) * GRAM_PIECES_OCTAVE + (int)place];
    const long double u = 2 * (place - floor(place)) - 1;
    long double value = 0;
    *size = 0;
    for (int j = GRAM_PIECES_TERMS - 1; j >= 0; j--) value = value * u + c[j], *size += fabsl(c[j]);
    return fminl(exp2l(value), PIECES.most);
}

static void test_pieces(void **state)
{
    (void)state;
    const double lows[] = {0x1p-30, 0x1p-1000, 0x1p900};
    for (int l = 0; l < LEVELS; l++) {
        const gram_vecmath *math = level(l);
        if (!math) continue;
        long double most = 0, most_f32 = 0, size;
        for (int round = 0; round < 3 * ROUNDS; round++) {
            make_pieces(lows[round % 3]);
            const double c = ldexp(1.25, ilogb(PIECES.low) + 30); /* z = c x, x between 2^-30 and 2^19 */
            fill_uniform((uint64_t)round, -29.9, 19);
            for (int i = 0; i < BLOCK; i++) XF[i] = (float)exp2(X[i]), X[i] = exp2(X[i]);
            assert_int_equal(math->f64.exp2_pieces(BLOCK, &PIECES, c, X, OUT), 0);
            assert_int_equal(math->f32.exp2_pieces(BLOCK, &PIECES, c, XF, OUTF), 0);
            for (int i = 0; i < BLOCK; i++) {
                const long double right = pieces_at(c * X[i], &size);
                most = fmaxl(most, fabsl(OUT[i] / right - 1) * 0x1p53L / (3 + 4 * size));
                const long double right_f32 = pieces_at(c * (double)XF[i], &size);
                most_f32 = fmaxl(most_f32, fabsl((long double)OUTF[i] / right_f32 - 1) * 0x1p24L);
            }
        }
        print_message("%-6s exp2_pieces: %.3f of the bound, f32 %.3f ulp\n", math->name, (double)most,
                      (double)most_f32);
        assert_true(most <= 1);
        assert_true(most_f32 <= 1.01L);
    }
}

/* Numbers without a piece, beside others whose values do not change for it; in place. */
static void test_pieces_edges(void **state)
{
    (void)state;
    const double x[] = {0, -0.0, -1, 5e-324, 1e-300, 0x1.fffffffffffffp-31, 0x1p-30, NAN, INFINITY, DBL_MAX, 0x1p18, 3};
    const float x_f32[] = {0, -0.0F, -1, 1e-45F, 1e-30F, 0x1.fffffep-31F, 0x1p-30F, NAN, INFINITY, FLT_MAX, 0x1p18F, 3};
    enum { EDGES = sizeof x / sizeof *x, BELOW = 3, AT_LOW = 6 };
    long double size;
    make_pieces(0x1p-30);
    for (int l = 0; l < LEVELS; l++) {
        const gram_vecmath *math = level(l);
        if (!math) continue;
        fill_uniform(1, 0.1, 4);
        for (int i = 0; i < 64; i++) XF[i] = (float)X[i];
        math->f64.exp2_pieces(64, &PIECES, 1, X, Y);
        for (int turn = 0; turn < 32; turn++) {
            memcpy(OUT, X, sizeof OUT);
            memcpy(OUTF, XF, sizeof OUTF);
            for (int i = 0; i < EDGES; i++) OUT[turn + i] = x[i], OUTF[turn + i] = x_f32[i];
            assert_int_equal(math->f64.exp2_pieces(64, &PIECES, 1, OUT, OUT), BELOW);
            assert_int_equal(math->f32.exp2_pieces(64, &PIECES, 1, OUTF, OUTF), BELOW);
            for (int i = 0; i < EDGES; i++) {
                const double out = OUT[turn + i], out_f32 = (double)OUTF[turn + i];
                if (i < BELOW)
                    assert_true(out == PIECES.at_zero && out_f32 == PIECES.at_zero);
                else if (i < AT_LOW)
                    assert_true(out == -x[i] && out_f32 == -(double)x_f32[i]);
                else if (isnan(x[i]))
                    assert_true(isnan(out) && isnan(out_f32));
                else
                    assert_true(fabsl(out / pieces_at(x[i], &size) - 1) < 1e-13L && fabs(out_f32 / out - 1) < 1e-6);
            }
            for (int i = 0; i < 64; i++)
                if (i < turn || i >= turn + EDGES) assert_memory_equal(&OUT[i], &Y[i], sizeof *Y);
        }
    }
}

static float from_bits_f32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

typedef struct edge {
    double x, exp;
} edge;

static void test_exp_edges(void **state)
{
    (void)state;
    const edge edges[] = {{0, 1},
                          {-0.0, 1},
                          {5e-324, 1},
                          {-5e-324, 1},
                          {DBL_MIN, 1},
                          {709.9, INFINITY},
                          {710, INFINITY},
                          {1500, INFINITY},
                          {2840, INFINITY},
                          {1e10, INFINITY},
                          {1e300, INFINITY},
                          {DBL_MAX, INFINITY},
                          {INFINITY, INFINITY},
                          {-708.5, 0},
                          {-745, 0},
                          {-1420, 0},
                          {-2840, 0},
                          {-1e16, 0},
                          {-1e300, 0},
                          {-DBL_MAX, 0},
                          {-INFINITY, 0},
                          {NAN, NAN},
                          {test_from_bits(0x7ff80000000007a2), NAN},
                          {test_from_bits(0xfff8000000000fff), NAN},
                          {test_from_bits(0x7fffffffffffffff), NAN}};
    enum { EDGES = sizeof edges / sizeof *edges };
    for (int l = 0; l < LEVELS; l++) {
        const gram_vecmath *math = level(l);
        if (!math) continue;
        for (int i = 0; i < 32; i++) X[i] = edges[i < EDGES ? i : 0].x;
        for (int scaled = 0; scaled < 2; scaled++) {
            if (scaled)
                math->f64.exp_scaled(32, 1, X, OUT);
            else
                math->f64.exp(32, X, OUT);
            for (int i = 0; i < EDGES; i++) {
                if (isnan(edges[i].exp) ? !isnan(OUT[i]) : !(OUT[i] == edges[i].exp))
                    fail_msg("%s scaled %d: exp(%g) = %g", math->name, scaled, X[i], OUT[i]);
                assert_true(isnan(OUT[i]) || !signbit(OUT[i]));
            }
        }
    }
}

static void test_exp_edges_f32(void **state)
{
    (void)state;
    const float x[] = {0,
                       -0.0F,
                       1e-45F,
                       -1e-45F,
                       88.8F,
                       100,
                       200,
                       1e10F,
                       FLT_MAX,
                       INFINITY,
                       -87.4F,
                       -88,
                       -120,
                       -355,
                       -1e10F,
                       -FLT_MAX,
                       -INFINITY,
                       NAN,
                       from_bits_f32(0x7fc007a2),
                       from_bits_f32(0xffc001ff),
                       from_bits_f32(0x7fffffff)};
    enum { EDGES = sizeof x / sizeof *x };
    for (int l = 0; l < LEVELS; l++) {
        const gram_vecmath *math = level(l);
        if (!math) continue;
        for (int i = 0; i < 32; i++) XF[i] = x[i < EDGES ? i : 0];
        math->f32.exp_scaled(32, 1, XF, OUTF);
        for (int i = 0; i < EDGES; i++) {
            const float right = i < 4 ? 1 : i < 10 ? INFINITY : i < 17 ? 0 : NAN;
            if (isnan(right) ? !isnan(OUTF[i]) : !(OUTF[i] == right))
                fail_msg("%s: exp(%g) = %g", math->name, (double)XF[i], (double)OUTF[i]);
        }
    }
}

/* Across the ends of the range, one representable step at a time: right, or 0 below 2^-1021, or inf past the end. */
static void test_exp_ends(void **state)
{
    (void)state;
    for (int l = 0; l < LEVELS; l++) {
        const gram_vecmath *math = level(l);
        if (!math) continue;
        for (int end = 0; end < 2; end++) {
            double x = end ? 0x1.62e42fefa39efp+9 : -0x1.6232bdd7abcd2p+9 + 1;
            for (int i = 0; i < BLOCK / 2; i++) x = nextafter(x, -INFINITY);
            for (int i = 0; i < BLOCK; i++, x = end ? nextafter(x, INFINITY) : x - 2.0 / BLOCK) X[i] = x;
            math->f64.exp(BLOCK, X, OUT);
            math->f64.exp_scaled(BLOCK, 1, X, Y);
            for (int i = 0; i < BLOCK; i++) {
                const long double right = expl((long double)X[i]);
                const int may_vanish = right < 0x1p-1021L, must_vanish = right < 0x1p-1022L;
                const int overflows = right > (long double)DBL_MAX;
                assert_true(overflows     ? isinf(OUT[i])
                            : OUT[i] == 0 ? may_vanish
                                          : !must_vanish && ulps(OUT[i], right) <= 1);
                assert_true(Y[i] == 0 ? may_vanish
                                      : !must_vanish && (isinf(Y[i]) ? right > 0.9999L * DBL_MAX
                                                                     : fabsl(Y[i] / right - 1) < 2e-13L));
            }
        }
    }
}

static void test_other_edges(void **state)
{
    (void)state;
    const double x[] = {0,        -0.0, 5e-324, DBL_MIN,   1,    2,        1e-310, DBL_MAX,
                        INFINITY, NAN,  -1,     -INFINITY, 1e22, 0x1p1000, 3e5,    1e6};
    for (int l = 0; l < LEVELS; l++) {
        const gram_vecmath *math = level(l);
        if (!math) continue;
        const block_fn functions[] = {math->f64.log, math->f64.sin, math->f64.cos, math->f64.atan};
        double (*const right[])(double) = {log, sin, cos, atan};
        memcpy(X, x, sizeof x);
        for (int f = 0; f < 4; f++) {
            functions[f](16, X, OUT);
            for (int i = 0; i < 16; i++) {
                const double exact = right[f](x[i]);
                if (isnan(exact) || isinf(exact))
                    assert_true(isnan(exact) ? isnan(OUT[i]) : OUT[i] == exact);
                else if (ulps(OUT[i], (long double)exact) > 4)
                    fail_msg("%s function %d of %g: %.17g, not %.17g", math->name, f, x[i], OUT[i], exact);
            }
        }
    }
}

/* Rotating the input by any number of places rotates the output, bit for bit; so does working in place. */
static void test_position(void **state)
{
    (void)state;
    static _Alignas(64) double turned[64], result[64];
    static _Alignas(64) float turned_f32[64], result_f32[64];
    for (int l = 0; l < LEVELS; l++) {
        const gram_vecmath *math = level(l);
        if (!math) continue;
        const block_fn functions[] = {math->f64.exp, math->f64.log, math->f64.sin, math->f64.cos, math->f64.atan};
        fill_uniform(3, -9, 9);
        X[5] = NAN, X[17] = 1e10, X[30] = -INFINITY, X[41] = INFINITY, X[50] = 0, X[51] = 1e300;
        for (int f = 0; f < 10; f++) {
            for (int turn = 0; turn < 17; turn++) {
                for (int i = 0; i < 64; i++) turned[i] = X[(i + turn) % 64], turned_f32[i] = (float)turned[i];
                memcpy(result, turned, sizeof result);
                memcpy(result_f32, turned_f32, sizeof result_f32);
                if (f < 5)
                    functions[f](64, result, result);
                else if (f == 5)
                    math->f64.pow(64, 1.7, result, result);
                else if (f == 6)
                    math->f64.exp_scaled(64, -0.7, result, result);
                else if (f == 7)
                    math->f32.exp_scaled(64, -0.7F, result_f32, result_f32);
                else if (f == 8)
                    math->f32.pow_affine(64, 9, 1, -0.7, result_f32, result_f32);
                else
                    math->f32.tanh_affine(64, 0.3, 0.1, result_f32, result_f32);
                if (turn == 0) memcpy(OUT, result, sizeof result), memcpy(OUTF, result_f32, sizeof result_f32);
                for (int i = 0; i < 64; i++) {
                    assert_memory_equal(&result[i], &OUT[(i + turn) % 64], sizeof(double));
                    assert_memory_equal(&result_f32[i], &OUTF[(i + turn) % 64], sizeof(float));
                }
            }
        }
    }
}

static void test_simple_f64(void **state)
{
    (void)state;
    const double coefficients[] = {1, -0.5, 0.25, 3};
    const double step = DBL_EPSILON;
    for (int l = 0; l < LEVELS; l++) {
        const gram_vecmath *math = level(l);
        if (!math) continue;
        const gram_vecmath_f64 *f = &math->f64;
        fill_uniform(1, 0, 4);
        f->sqrt_scaled(BLOCK, 3, 2.5, X, OUT);
        for (int i = 0; i < BLOCK; i++) assert_true(OUT[i] == fmin(sqrt(3 * X[i]), 2.5));
        f->fill(BLOCK, 2, OUT);
        f->multiply_poly(BLOCK, 3, coefficients, X, OUT);
        for (int i = 0; i < BLOCK; i++) {
            const double x = X[i], right = 2 * (1 - 0.5 * x + 0.25 * x * x + 3 * x * x * x);
            assert_true(fabs(OUT[i] - right) <= 8 * step * (fabs(right) + 2 * x + 2));
        }
        for (int m = 1; m < 40; m++) {
            f->power(BLOCK, m, X, OUT);
            for (int i = 0; i < BLOCK; i++) assert_true(ulps(OUT[i], powl((long double)X[i], m)) <= 2 * m);
        }
        f->affine(BLOCK, 3, -1, X, OUT);
        for (int i = 0; i < BLOCK; i++) assert_true(fabs(OUT[i] - (3 * X[i] - 1)) <= 12 * step);
        f->fill(BLOCK, 0.5, OUT);
        for (int i = 0; i < BLOCK; i++) assert_true(OUT[i] == 0.5);
        f->add(BLOCK, X, OUT);
        for (int i = 0; i < BLOCK; i++) assert_true(OUT[i] == 0.5 + X[i]);
        f->combine(BLOCK, -1, X, 1, OUT);
        for (int i = 0; i < BLOCK; i++) assert_true(OUT[i] == (0.5 + X[i]) - X[i]);
        f->fill(BLOCK, 4, Y);
        f->combine(BLOCK, 2, X, 0.5, Y);
        for (int i = 0; i < BLOCK; i++) assert_true(fabs(Y[i] - (2 * X[i] + 2)) <= 12 * step);
        f->fill(BLOCK, 2, Y);
        f->multiply_min(BLOCK, 1.5, 0.25, X, Y);
        for (int i = 0; i < BLOCK; i++) assert_true(Y[i] == 2 * (fmin(1.5, X[i]) - 0.25));
        f->multiply(BLOCK, X, OUT);
        for (int i = 0; i < BLOCK; i++) assert_true(OUT[i] == ((0.5 + X[i]) - X[i]) * X[i]);
    }
}

static void test_sums(void **state)
{
    (void)state;
    double first = 0;
    for (int l = 0; l < LEVELS; l++) {
        const gram_vecmath *math = level(l);
        if (!math) continue;
        fill_uniform(1, -1, 4);
        memcpy(Y, X, sizeof Y);
        Y[1000] = 1e5;
        long double sum = 0, dot = 0;
        for (int i = 0; i < BLOCK; i++) sum += X[i], dot += (long double)X[i] * Y[i];
        const double got = math->f64.sum(BLOCK, X);
        assert_true(fabsl(got - sum) < 1e-11L);
        assert_true(fabsl(math->f64.dot(BLOCK, X, Y) - dot) < 1e-9L);
        assert_true(math->f64.sum(16, X) != got);
        if (l == 0) first = got;
        assert_true(got == first);
        assert_true(math->f64.sum(0, X) == 0);
    }
}

static void test_simple_f32(void **state)
{
    (void)state;
    const float coefficients[] = {1, -0.5F, 0.25F, 3};
    const double step = (double)FLT_EPSILON;
    for (int l = 0; l < LEVELS; l++) {
        const gram_vecmath *math = level(l);
        if (!math) continue;
        const gram_vecmath_f32 *f = &math->f32;
        fill_uniform(1, 0, 4);
        f->narrow(BLOCK, X, XF);
        for (int i = 0; i < BLOCK; i++) assert_true(XF[i] == (float)X[i]);
        f->widen(BLOCK, XF, X);
        for (int i = 0; i < BLOCK; i++) assert_true(XF[i] == (float)X[i] && X[i] == (double)XF[i]);
        f->sqrt_scaled(BLOCK, 3, 2.5F, XF, OUTF);
        for (int i = 0; i < BLOCK; i++) assert_true(fabs((double)OUTF[i] - fmin(sqrt(3 * X[i]), 2.5)) < 2 * step);
        f->fill(BLOCK, 2, OUTF);
        f->multiply_poly(BLOCK, 3, coefficients, XF, OUTF);
        for (int i = 0; i < BLOCK; i++) {
            const double x = X[i], right = 2 * (1 - 0.5 * x + 0.25 * x * x + 3 * x * x * x);
            assert_true(fabs((double)OUTF[i] - right) <= 8 * step * (fabs(right) + 2 * x + 2));
        }
        for (int m = 1; m < 12; m++) {
            f->power(BLOCK, m, XF, OUTF);
            for (int i = 0; i < BLOCK; i++) {
                const double right = pow(X[i], m);
                assert_true(fabs((double)OUTF[i] - right) <= m * step * right + (double)FLT_MIN);
            }
        }
        f->affine(BLOCK, 3, -1, XF, OUTF);
        for (int i = 0; i < BLOCK; i++) assert_true(fabs((double)OUTF[i] - (3 * X[i] - 1)) <= 12 * step);
        f->fill(BLOCK, 0.5F, OUTF);
        f->add(BLOCK, XF, OUTF);
        f->combine(BLOCK, 2, XF, 1, OUTF);
        f->multiply(BLOCK, XF, OUTF);
        for (int i = 0; i < BLOCK; i++)
            assert_true(fabs((double)OUTF[i] - (0.5 + 3 * X[i]) * X[i]) <= 4 * step * (0.5 + 3 * X[i]) * X[i]);
    }
}

/* Cosines and sines of quarters of turns, small and large ones, and the whole ones exactly. */
static void test_waves(void **state)
{
    (void)state;
    static const float cosines[] = {1, 0, -1, 0}, sines[] = {0, 1, 0, -1};
    const long double quarter = acosl(0);
    for (int l = 0; l < LEVELS; l++) {
        const gram_vecmath *math = level(l);
        if (!math) continue;
        for (int wide = 0; wide < 3; wide++) {
            const double size = wide == 0 ? 1 : wide == 1 ? 40 : 1e9;
            fill_uniform(7 + (unsigned)wide, -size, size);
            math->f32.waves(BLOCK, X, 3, XF, OUTF);
            for (int i = 0; i < BLOCK; i++) {
                const long double rest = fmodl((long double)X[i], 4) * quarter;
                assert_true(fabsl((long double)XF[i] - 3 * cosl(rest)) < 3 * 0x1p-22L);
                assert_true(fabsl((long double)OUTF[i] - 3 * sinl(rest)) < 3 * 0x1p-22L);
            }
        }
        for (int i = 0; i < BLOCK; i++) X[i] = i - 40;
        math->f32.waves(BLOCK, X, 1, XF, OUTF);
        for (int i = 0; i < BLOCK; i++) {
            assert_true(XF[i] == cosines[i % 4]);
            assert_true(OUTF[i] == sines[i % 4]);
        }
    }
}

static void test_choice(void **state)
{
    (void)state;
    const gram_vecmath *best = gram_vecmath_choose(GRAM_ISA_AUTO), *widest = NULL;
    for (int l = 0; l < LEVELS; l++)
        if (level(l)) widest = level(l);
    assert_non_null(best);
    assert_ptr_equal(best, widest);
    assert_string_equal(gram_vecmath_choose(GRAM_ISA_PLAIN)->name, "plain");
    assert_true(best->isa != GRAM_ISA_AUTO);
    assert_null(gram_vecmath_choose((gram_isa)99));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_bounds), cmocka_unit_test(test_arc_layer),     cmocka_unit_test(test_pow),
        cmocka_unit_test(test_exp_scaled),   cmocka_unit_test(test_pow_affine),    cmocka_unit_test(test_tanh_affine),
        cmocka_unit_test(test_exp_edges),    cmocka_unit_test(test_poly_exp_sqrt), cmocka_unit_test(test_exp_edges_f32),
        cmocka_unit_test(test_exp_ends),     cmocka_unit_test(test_other_edges),   cmocka_unit_test(test_position),
        cmocka_unit_test(test_simple_f64),   cmocka_unit_test(test_sums),          cmocka_unit_test(test_simple_f32),
        cmocka_unit_test(test_waves),        cmocka_unit_test(test_choice),        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_pieces_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
