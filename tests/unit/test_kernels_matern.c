/* matern(nu) for any nu: tests/reference/matern.txt through the kernel's own functions at every instruction level, and what
 * needs no table of numbers: the closed forms, the limit of large nu, differences, order, bounds. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "kernel/spectral/bessel_k.h"
#include "support.h"

enum { LANES = GRAM_LANES, LEVELS = 3, MOST_BLOCK = 4096, MAX_LINE = 256 };

static const double VALUE_ERROR = 1e-12, SLOPE_ERROR = 1e-10;

static const gram_kernel_type *matern(void)
{
    return gram_kernel_type_find("matern", 6);
}

static const gram_vecmath *level(int l)
{
    static const gram_isa levels[LEVELS] = {GRAM_ISA_PLAIN, GRAM_ISA_AVX2, GRAM_ISA_AVX512};
    return gram_vecmath_choose(levels[l]);
}

/* A leaf with its tables. */
typedef struct leaf {
    double par[GRAM_MAX_SPECS];
    gram_shape shape;
    void *data;
} leaf;

static void leaf_make(double nu, double ell, leaf *l)
{
    const size_t bytes = (matern()->data_bytes + 63) / 64 * 64;
    *l = (leaf){.par = {nu, NAN}};
    l->data = aligned_alloc(64, bytes);
    assert_non_null(l->data);
    memset(l->data, 0xff, bytes);
    matern()->prepare(l->par, 1, l->data);
    l->shape = (gram_shape){.par = l->par, .scale = 1 / (ell * ell), .data = l->data};
}

static _Alignas(64) double S[MOST_BLOCK], K[MOST_BLOCK], D[MOST_BLOCK], WORK[MOST_BLOCK];
static _Alignas(64) float SF[MOST_BLOCK], KF[MOST_BLOCK], WORKF[MOST_BLOCK];

/* K and D (slopes) of S[0 .. n); what is left of the last lanes is made of z = 1. K is made in place. */
static void evaluate(const gram_vecmath *math, const leaf *l, int n)
{
    const int padded = (n + LANES - 1) / LANES * LANES;
    assert_true(padded <= MOST_BLOCK);
    for (int i = n; i < padded; i++) S[i] = 1;
    memcpy(K, S, sizeof K);
    matern()->profile(&math->f64, &l->shape, padded, K, K, WORK);
    matern()->slope(&math->f64, &l->shape, padded, S, K, D);
}

static double one_k(const leaf *l, double s)
{
    S[0] = s;
    evaluate(level(0), l, 1);
    return K[0];
}

/* ---- the table ---- */

typedef struct row {
    double nu, z;
    long double k, slope;
} row;

enum { MAX_ROWS = 8192 };
static row ROWS[MAX_ROWS];

static int read_rows(void)
{
    char line[MAX_LINE];
    int count = 0;
    FILE *file = test_open_reference("matern.txt");
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#') continue;
        char *at = line;
        assert_true(count < MAX_ROWS);
        row *r = &ROWS[count++];
        r->nu = strtod(at, &at);
        r->z = strtod(at, &at);
        r->k = strtold(at, &at);
        r->slope = strtold(at, &at);
        assert_true(r->nu > 0 && r->z > 0 && r->k > 0 && r->k < 1 && r->slope < 0);
    }
    (void)fclose(file);
    return count;
}

static void expect(double *most, const row *r, const char *what, double value, long double right, double allowed)
{
    const double error = (double)(fabsl(value - right) / fabsl(right));
    if (!(error <= allowed))
        FAIL_TEST("matern(%.17g) at r/ell = %.6g: %s is %.17g, should be %.20Lg: off by %.3g", r->nu, sqrt(r->z), what,
                  value, right, error);
    if (error > *most) *most = error;
}

static void expect_f32(const row *r, float value)
{
    const double right = (double)r->k;
    if (!(fabs((double)value - right) <= 1e-7 * right + 1e-38))
        FAIL_TEST("matern(%.17g) at r/ell = %.6g in f32: %.9g, should be %.9g", r->nu, sqrt(r->z), (double)value,
                  right);
}

/* Rows of one nu at one length-scale, a power of two: z = s/ell^2 exactly. */
static void check_rows(const gram_vecmath *math, const row *rows, int n, double ell, double *most, double *most_slope)
{
    leaf l;
    leaf_make(rows->nu, ell, &l);
    for (int i = 0; i < n; i++) S[i] = rows[i].z * ell * ell;
    evaluate(math, &l, n);
    for (int i = 0; i < n; i++) {
        expect(most, &rows[i], "k", K[i], rows[i].k, VALUE_ERROR);
        expect(most_slope, &rows[i], "dk/dz", D[i], rows[i].slope, SLOPE_ERROR);
    }
    free(l.data);
}

/* In f32 the argument is rounded: k is compared at numbers z that f32 has, which f64 has just been checked for. */
static void check_f32(const gram_vecmath *math, const row *rows, int n)
{
    leaf l;
    leaf_make(rows->nu, 1, &l);
    const int padded = (n + LANES - 1) / LANES * LANES;
    for (int i = 0; i < padded; i++) SF[i] = i < n ? (float)rows[i].z : 1, S[i] = (double)SF[i];
    matern()->profile_f32(&math->f32, &l.shape, padded, SF, KF, WORKF);
    evaluate(math, &l, padded);
    const int closed = rows->nu == 0.5 || rows->nu == 1.5 || rows->nu == 2.5;
    for (int i = 0; i < n && !closed; i++) expect_f32(&(row){rows->nu, S[i], (long double)K[i], -1}, KF[i]);
    free(l.data);
}

static void test_reference(void **state)
{
    (void)state;
    const int count = read_rows();
    assert_true(count > 2000);
    for (int v = 0; v < LEVELS; v++) {
        const gram_vecmath *math = level(v);
        if (!math) continue;
        double most = 0, most_slope = 0;
        int orders = 0;
        for (int i = 0, n; i < count; i += n, orders++) {
            for (n = 1; i + n < count && ROWS[i + n].nu == ROWS[i].nu;) n++;
            check_rows(math, ROWS + i, n, 1, &most, &most_slope);
            check_rows(math, ROWS + i, n, 0x1p-20, &most, &most_slope);
            check_f32(math, ROWS + i, n);
        }
        print_message("%s: %d orders, worst relative error %.2g, of slopes %.2g\n", math->name, orders, most,
                      most_slope);
        assert_true(orders > 40);
    }
}

/* The Bessel function itself keeps what its header says. */
static void test_bessel(void **state)
{
    (void)state;
    const int count = read_rows();
    double most = 0;
    for (int i = 0; i < count; i++) {
        gram_bessel_order order;
        double m, e;
        gram_bessel_order_set(ROWS[i].nu, &order);
        gram_bessel_k_log2(&order, 2 * ROWS[i].nu * ROWS[i].z, &m, &e);
        const long double right_m = log2l(ROWS[i].k), right_e = log2l(-ROWS[i].slope / ROWS[i].nu);
        /* y = 2 nu z is rounded too: d log2 M/d log2 y = -y E/(2 M), and that of E is at most that plus 1 */
        const long double moved = 1 + ROWS[i].z * fabsl(ROWS[i].slope) / ROWS[i].k;
        const double error_m = (double)(fabsl(m - right_m) / (16 + ROWS[i].nu + 2 * fabsl(right_m) + moved) * 0x1p52L);
        const double error_e = (double)(fabsl(e - right_e) / (16 + ROWS[i].nu + 2 * fabsl(right_e) + moved) * 0x1p52L);
        if (!(error_m <= 1) || !(error_e <= 1))
            FAIL_TEST("K of order %.17g at z = %.17g: log2 off by %.3g and %.3g of what is allowed", ROWS[i].nu,
                      ROWS[i].z, error_m, error_e);
        most = fmax(most, fmax(error_m, error_e));
    }
    print_message("bessel_k: worst error %.2f of the bound\n", most);
}

/* ---- without a table of numbers ---- */

/* Just beside 1/2, 3/2, 5/2 the general way; k moves by less than |dk/dnu| 2^-52 nu, far below what is allowed. */
static void test_closed_forms(void **state)
{
    (void)state;
    for (int v = 0; v < LEVELS; v++) {
        const gram_vecmath *math = level(v);
        if (!math) continue;
        for (int p = 0; p < 3; p++) {
            static double right[MOST_BLOCK], right_slope[MOST_BLOCK];
            leaf closed, beside[2];
            leaf_make(p + 0.5, 1.3, &closed);
            leaf_make(nextafter(p + 0.5, 0), 1.3, &beside[0]);
            leaf_make(nextafter(p + 0.5, 9), 1.3, &beside[1]);
            const int n = 2000;
            for (int i = 0; i < n; i++) S[i] = pow(50 * 1.3 * pow(10, -9.0 * i / n), 2);
            evaluate(math, &closed, n);
            memcpy(right, K, sizeof K);
            memcpy(right_slope, D, sizeof D);
            for (int side = 0; side < 2; side++) {
                evaluate(math, &beside[side], n);
                for (int i = 0; i < n; i++) {
                    assert_true(fabs(K[i] - right[i]) <= VALUE_ERROR * right[i]);
                    assert_true(fabs(D[i] - right_slope[i]) <= -SLOPE_ERROR * right_slope[i]);
                }
            }
            free(closed.data), free(beside[0].data), free(beside[1].data);
        }
    }
}

/* log k = -z/2 + (z^2/8 - z/2)/nu + O(1/nu^2): the first correction to rbf is there, and what is left falls like 1/nu^2. */
static void test_limit(void **state)
{
    (void)state;
    const double orders[] = {10, 31.3, 100, 316, 1000};
    double left = INFINITY;
    for (int o = 0; o < 5; o++) {
        leaf l;
        double worst = 0;
        leaf_make(orders[o], 1, &l);
        for (int i = 1; i <= 60; i++) {
            const double z = 0.1 * i, k = one_k(&l, z);
            assert_true(fabs(k - exp(-z / 2)) < 0.25 / orders[o]);
            worst = fmax(worst, fabs(log(k) + z / 2 - (z * z / 8 - z / 2) / orders[o]));
        }
        assert_true(worst < left / 6);
        left = worst;
        free(l.data);
    }
    assert_true(left < 1e-5);
}

/* The slope is that of the values: differences of fourth order. */
static void test_differences(void **state)
{
    (void)state;
    const double orders[] = {0.05, 0.3, 0.7, 1, 1.0017, 1.8, 2, 3.3, 8, 30};
    for (int o = 0; o < 10; o++) {
        leaf l;
        leaf_make(orders[o], 1, &l);
        for (double z = 1e-3; z < 100; z *= 1.37) {
            const double h = 1e-3 * z / (1 + z), exact[] = {z - 2 * h, z - h, z + h, z + 2 * h, z};
            memcpy(S, exact, sizeof exact);
            evaluate(level(0), &l, 5);
            const double difference = (K[0] - 8 * K[1] + 8 * K[2] - K[3]) / (12 * h);
            if (!(fabs(difference - D[4]) <= 1e-9 * fabs(D[4]) + 2e-15 * K[4] / h))
                FAIL_TEST("matern(%g) at z = %g: slope %.15g, difference %.15g", orders[o], z, D[4], difference);
        }
        free(l.data);
    }
}

/* Over all sizes of z, 1 at 0 and 0 at the end: never NaN, never above 1, never up by more than rounding, with a slope that
 * is finite and not positive. */
static void test_order_and_bounds(void **state)
{
    (void)state;
    const double orders[] = {1e-300, 1e-9, 0.001, 0.05, 0.3, 0.5 + 1e-12, 0.9, 1, 1.2, 2, 3.5, 11, 30, 99.5, 1000};
    for (int o = 0; o < 15; o++)
        for (int v = 0; v < LEVELS; v++) {
            const gram_vecmath *math = level(v);
            if (!math) continue;
            leaf l;
            leaf_make(orders[o], 1, &l);
            S[0] = 0, S[1] = 5e-324;
            for (int i = 2; i < MOST_BLOCK - 1; i++) S[i] = exp2(-1070 + 2090.0 * i / MOST_BLOCK);
            S[MOST_BLOCK - 1] = INFINITY;
            evaluate(math, &l, MOST_BLOCK);
            assert_true(K[0] == 1);
            assert_true(D[0] == (orders[o] > 1 ? -orders[o] / (2 * (orders[o] - 1)) : 0));
            assert_true(K[MOST_BLOCK - 1] == 0 || orders[o] < 1e-100);
            for (int i = 1; i < MOST_BLOCK; i++) {
                if (!(K[i] >= 0 && K[i] <= 1 && D[i] <= 0 && D[i] >= -DBL_MAX))
                    FAIL_TEST("matern(%g) at z = %g: %.17g, slope %.17g", orders[o], S[i], K[i], D[i]);
                if (!(K[i] <= K[i - 1] * (1 + 2 * VALUE_ERROR)))
                    FAIL_TEST("matern(%g) at z = %g: %.17g, up from %.17g", orders[o], S[i], K[i], K[i - 1]);
            }
            free(l.data);
        }
}

/* Densely where the table begins and k is 1 but for a few roundings. */
static void test_near_one(void **state)
{
    (void)state;
    const double orders[] = {0.9, 1.3, 2, 4.1, 9.7, 30};
    for (int o = 0; o < 6; o++) {
        leaf l;
        leaf_make(orders[o], 1, &l);
        for (int i = 0; i < MOST_BLOCK; i++) S[i] = exp2(-40 + 20.0 * i / MOST_BLOCK);
        evaluate(level(0), &l, MOST_BLOCK);
        for (int i = 0; i < MOST_BLOCK; i++) assert_true(K[i] <= 1 && K[i] > 1 - 1e-3);
        free(l.data);
    }
}

/* Fine steps across the ends of pieces, where values below the table's beginning come from elsewhere. */
static void test_seams(void **state)
{
    (void)state;
    const double orders[] = {0.05, 0.7, 1.2, 30};
    for (int o = 0; o < 4; o++) {
        leaf l;
        leaf_make(orders[o], 1, &l);
        for (int e = -60; e < 12; e++)
            for (int quarter = 0; quarter < 4; quarter++) {
                const double z = ldexp(1 + 0.25 * quarter, e);
                S[0] = nextafter(z, 0), S[1] = z;
                evaluate(level(0), &l, 2);
                if (!(fabs(K[1] - K[0]) <= 3e-13 * K[0] && fabs(D[1] - D[0]) <= -3e-13 * D[0]))
                    FAIL_TEST("matern(%g) at z = %g: k jumps by %.3g, the slope by %.3g", orders[o], z, K[1] / K[0] - 1,
                              D[1] / D[0] - 1);
            }
        free(l.data);
    }
}

static double matrix_entry(gram_context *context, const char *text, gram_points *x)
{
    double out[4];
    gram_kernel *kernel = test_kernel(context, text);
    OK(context, gram_matrix(context, kernel, x, NULL, out, 2));
    assert_true(out[0] == 1 && out[3] == 1 && out[1] == out[2]);
    gram_kernel_release(kernel);
    return out[1];
}

/* Through the library: K_0.7(1.3) = 0.32140201540442124214. */
static void test_expression(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    const double nu = 0.7, a = 1.3, data[2] = {0, a / sqrt(2 * nu)};
    gram_points *x = test_points(context, 2, 1, data);
    const double right = pow(2, 1 - nu) / tgamma(nu) * pow(a, nu) * 0.32140201540442124214;
    assert_true(fabs(matrix_entry(context, "matern(nu=0.7, ell=1)", x) - right) < 1e-14);
    assert_true(fabs(matrix_entry(context, "matern(nu=0.7, ell=1e-170)", x)) == 0);

    gram_kernel *kernel = test_kernel(context, "matern(nu=1.75)");
    gram_properties facts;
    OK(context, gram_kernel_properties(context, kernel, 3, &facts));
    assert_int_equal(facts.derivatives, 1);
    assert_true(facts.sobolev_order == 1.75 + 1.5);
    gram_kernel_release(kernel);
    kernel = NULL;
    REFUSED(context, gram_kernel_parse(context, "matern(1000.5)", &kernel), GRAM_ERROR_ARGUMENT,
            "nu must be at most 1000");
    assert_null(kernel);
    gram_points_release(x);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference), cmocka_unit_test(test_bessel),      cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_limit),     cmocka_unit_test(test_differences), cmocka_unit_test(test_order_and_bounds),
        cmocka_unit_test(test_near_one),  cmocka_unit_test(test_seams),       cmocka_unit_test(test_expression),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
