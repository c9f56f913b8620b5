/* The kernels of coordinates against what they are by other means: closed forms, integrals, embeddings, sets. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lapack.h"
#include "support.h"

static const double PI = 3.14159265358979323846;

enum { N = 40 };

/* K(X, X) of n points */
static double *matrix(gram_context *context, const char *text, int64_t n, int64_t d, const double *data)
{
    double *k = test_numbers(n * n);
    gram_points *x = test_points(context, n, d, data);
    gram_kernel *kernel = test_kernel(context, text);
    OK(context, gram_matrix(context, kernel, x, NULL, k, n));
    gram_kernel_release(kernel);
    gram_points_release(x);
    return k;
}

static void compare(const char *text, int64_t count, const double *got, const double *want, double tolerance)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(got[i] - want[i]) <= tolerance * fabs(want[i])))
            FAIL_TEST("%s: number %lld is %.17g, should be %.17g", text, (long long)i, got[i], want[i]);
}

/* want(x, y) of all pairs of points against the kernel */
typedef double (*pair_fn)(int64_t d, const double *x, const double *y);

static void check_pairs(const char *text, int64_t d, const double *data, pair_fn want, double tolerance)
{
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *k = matrix(context, text, N, d, data), *all = test_numbers(N * N);
    for (int64_t i = 0; i < N * N; i++) all[i] = want(d, data + i / N * d, data + i % N * d);
    compare(text, N * N, k, all, tolerance);
    free(all);
    free(k);
    gram_context_destroy(context);
}

/* ---- sobolev ---- */

static double minimum(int64_t d, const double *x, const double *y)
{
    double product = 1;
    for (int64_t l = 0; l < d; l++) product *= fmin(x[l], y[l]);
    return product;
}

static double one_plus_minimum(int64_t d, const double *x, const double *y)
{
    double product = 1;
    for (int64_t l = 0; l < d; l++) product *= 1 + fmin(x[l], y[l]);
    return product;
}

static double cubic_spline(int64_t d, const double *x, const double *y)
{
    double product = 1;
    for (int64_t l = 0; l < d; l++) {
        const double s = fmin(x[l], y[l]), t = fmax(x[l], y[l]);
        product *= s * s * (3 * t - s) / 6;
    }
    return product;
}

static double cubic_spline_and_lines(int64_t d, const double *x, const double *y)
{
    double product = 1;
    for (int64_t l = 0; l < d; l++) product *= 1 + x[l] * y[l] + cubic_spline(1, x + l, y + l);
    return product;
}

static void sobolev_closed_forms(void **state)
{
    (void)state;
    double *data = test_random(1, N * 3, 0, 1.5);
    data[7] = 0;
    check_pairs("sobolev(a=1)", 1, data, minimum, 0);
    check_pairs("sobolev(a=1)", 3, data, minimum, 4e-16);
    check_pairs("sobolev(a=1, null=1)", 3, data, one_plus_minimum, 2e-15);
    check_pairs("sobolev", 1, data, cubic_spline, 2e-15);
    check_pairs("sobolev(a=2)", 3, data, cubic_spline, 4e-15);
    check_pairs("sobolev(a=2, null=1)", 3, data, cubic_spline_and_lines, 4e-15);
    free(data);
}

/* Nodes and weights of Gauss and Legendre on [-1, 1], by Newton's method on the recursion of the polynomials. */
enum { NODES = 12 };

static void gauss_legendre(double node[NODES], double weight[NODES])
{
    for (int i = 0; i < NODES; i++) {
        double z = cos(PI * (i + 0.75) / (NODES + 0.5)), slope = 1;
        for (int step = 0; step < 50; step++) {
            double p0 = 1, p1 = z;
            for (int k = 2; k <= NODES; k++) {
                const double p2 = ((2 * k - 1) * z * p1 - (k - 1) * p0) / k;
                p0 = p1;
                p1 = p2;
            }
            slope = NODES * (z * p1 - p0) / (z * z - 1);
            z -= p1 / slope;
        }
        node[i] = z;
        weight[i] = 2 / ((1 - z * z) * slope * slope);
    }
}

static int order; /* of the kernel that sobolev_integral is for */

/* The integrand is a polynomial of degree 2 a - 2 up to min(x, y), and 0 beyond: exact but for rounding. */
static double sobolev_integral(int64_t d, const double *x, const double *y)
{
    double node[NODES], weight[NODES], sum = 0;
    gauss_legendre(node, weight);
    assert_int_equal(d, 1);
    const double half = fmin(*x, *y) / 2, factorial = tgamma(order);
    for (int i = 0; i < NODES; i++) {
        const double z = half * (1 + node[i]);
        sum += weight[i] * half * pow(*x - z, order - 1) * pow(*y - z, order - 1);
    }
    return sum / (factorial * factorial);
}

static void sobolev_quadrature(void **state)
{
    (void)state;
    double *data = test_random(2, N, 0, 2);
    for (order = 1; order <= 8; order++) {
        char text[32];
        (void)snprintf(text, sizeof text, "sobolev(a=%d)", order);
        check_pairs(text, 1, data, sobolev_integral, 1e-12);
    }
    free(data);
}

/* ---- periodic, cosine, sinc ---- */

/* The rbf kernel of the points (cos, sin)(2 pi x/p): squared distance 4 sin^2(pi t/p), and ell is the same. */
static void periodic_is_rbf_on_the_circle(void **state)
{
    (void)state;
    enum { D = 3 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    const double p = 0.7;
    double *data = test_random(3, N * D, -3, 3), *circle = test_numbers(N * D * 2);
    for (int64_t i = 0; i < N * D; i++) {
        circle[2 * i] = cos(2 * PI * data[i] / p);
        circle[2 * i + 1] = sin(2 * PI * data[i] / p);
    }
    double *k = matrix(context, "periodic(p=0.7, ell=0.9)", N, D, data);
    double *want = matrix(context, "rbf(ell=0.9)", N, 2 * D, circle);
    compare("periodic(p=0.7, ell=0.9)", N * N, k, want, 1e-12);
    free(want);
    free(k);
    free(circle);
    free(data);
    gram_context_destroy(context);
}

/* Whole periods apart k is 1, exactly, however far; a quarter on cosine is 0 and a half on -1. */
static void periods(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    static const double DATA[5] = {0, 0.25, 0.5, 7.5, 0x1p40 + 0.5};
    double *k = matrix(context, "periodic(p=0.5, ell=0.1)", 5, 1, DATA);
    for (int i = 0; i < 25; i++) {
        const int apart = (i / 5 == 1) != (i % 5 == 1);
        assert_true(apart ? k[i] < 1e-80 : k[i] == 1);
    }
    free(k);
    k = matrix(context, "cosine(p=1)", 5, 1, DATA);
    assert_true(k[0] == 1 && fabs(k[1]) <= 1e-16 && k[2] == -1 && k[3] == -1 && k[4] == -1 && k[2 * 5 + 4] == 1);
    free(k);
    /* far ends: finite, and the diagonal right */
    static const char *const EXTREMES[] = {"periodic(p=1e-300, ell=1e-200)", "periodic(p=1e300, ell=1e-200)",
                                           "cosine(p=1e-300)", "sinc(B=1e-300)", "chi2(g=1e308)"};
    static const double FAR[4] = {0, 1e300, 1, 1e-300};
    for (size_t e = 0; e < sizeof EXTREMES / sizeof *EXTREMES; e++) {
        k = matrix(context, EXTREMES[e], 4, 1, FAR);
        for (int i = 0; i < 16; i++) assert_true(isfinite(k[i]));
        for (int i = 0; i < 4; i++) assert_true(k[5 * i] == (strncmp(EXTREMES[e], "sinc", 4) == 0 ? 2e-300 : 1));
        free(k);
    }
    gram_context_destroy(context);
}

static double *eigenvalues(int64_t n, double *k)
{
    const int size = (int)n, work_size = 34 * size;
    int info = 0;
    double *values = test_numbers(n), *work = test_numbers(work_size);
    dsyev_("N", "U", &size, k, &size, values, work, &work_size, &info, 1, 1);
    assert_int_equal(info, 0);
    free(work);
    return values;
}

/* Of N points in general position: 2^d eigenvalues of the order of 1, no more, and the facts say so. */
static void cosine_rank(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int64_t d = 1; d <= 4; d++) {
        gram_properties facts;
        gram_kernel *kernel = test_kernel(context, "cosine(p=1.3)");
        OK(context, gram_kernel_properties(context, kernel, d, &facts));
        gram_kernel_release(kernel);
        double *data = test_random(4, N * d, -2, 2), *k = matrix(context, "cosine(p=1.3)", N, d, data);
        double *values = eigenvalues(N, k);
        int rank = 0;
        for (int i = 0; i < N; i++) {
            assert_true(values[i] > -1e-13);
            assert_true(values[i] < 1e-13 || values[i] > 1e-3);
            rank += values[i] > 1e-3;
        }
        assert_int_equal(rank, 1 << d);
        assert_int_equal(facts.rank, 1 << d);
        free(values);
        free(k);
        free(data);
    }
    gram_context_destroy(context);
}

/* 2 sin(B t)/t is int_-B^B cos(w t) dw; next to t = 0 it is 2 B (1 - (B t)^2/6). */
static double band(int64_t d, const double *x, const double *y)
{
    double node[NODES], weight[NODES], product = 1;
    gauss_legendre(node, weight);
    for (int64_t l = 0; l < d; l++) {
        double sum = 0;
        for (int i = 0; i < NODES; i++) sum += 1.5 * weight[i] * cos(1.5 * node[i] * (x[l] - y[l]));
        product *= sum;
    }
    return product;
}

static void sinc_band(void **state)
{
    (void)state;
    double *data = test_random(5, N * 2, 0, 1);
    check_pairs("sinc(B=1.5)", 2, data, band, 1e-13);
    free(data);
    static const double NEAR[5] = {0, 1e-320, 1e-160, 1e-9, 1e-8};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *k = matrix(context, "sinc(B=3)", 5, 1, NEAR);
    for (int i = 0; i < 25; i++) {
        const double a = 3 * (NEAR[i / 5] - NEAR[i % 5]);
        assert_true(fabs(k[i] - 6 * (1 - a * a / 6)) <= 1e-15);
        if (i % 6 == 0) assert_true(k[i] == 6);
    }
    free(k);
    gram_context_destroy(context);
}

/* The slope of sinc on both sides of a = 1, where a series takes over, and at 0: against 2 (B t cos - sin)/t^2 */
static void sinc_slope(void **state)
{
    (void)state;
    static const double T[] = {0, 1e-7, -1e-3, 0.3, -0.999, 0.9999999, 1.0000001, 1.2, -7, 60};
    enum { COUNT = sizeof T / sizeof *T };
    static const double ORIGIN = 0, ONE = 1;
    const gram_weights w = {.dense = &ONE, .ld = 1};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(context, "sinc(B=1)");
    gram_points *y = test_points(context, 1, 1, &ORIGIN);
    for (int i = 0; i < COUNT; i++) {
        double got;
        gram_points *x = test_points(context, 1, 1, &T[i]);
        OK(context, gram_matrix_input_gradient(context, kernel, x, y, &w, &got, 1));
        const long double t = T[i], want = fabsl(t) < 1e-2L ? 2 * t * (-1 / 3.0L + t * t / 30)
                                                            : 2 * (t * cosl(t) - sinl(t)) / (t * t);
        if (!(fabsl(got - want) <= 1e-14L * fabsl(want)))
            FAIL_TEST("slope of sinc at t = %g is %.17g, should be %.17Lg", T[i], got, want);
        gram_points_release(x);
    }
    gram_points_release(y);
    gram_kernel_release(kernel);
    gram_context_destroy(context);
}

/* ---- histograms and sets ---- */

static double chi2(int64_t d, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t l = 0; l < d; l++)
        if (x[l] + y[l] > 0) sum += (x[l] - y[l]) * (x[l] - y[l]) / (x[l] + y[l]);
    return exp(-0.4 * sum);
}

static double intersection(int64_t d, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t l = 0; l < d; l++) sum += fmin(x[l], y[l]);
    return sum;
}

static void histograms(void **state)
{
    (void)state;
    enum { D = 6 };
    double *data = test_random(6, N * D, -2, 5); /* counts 0 ... 5, many of them 0 */
    for (int64_t i = 0; i < N * D; i++) data[i] = data[i] > 0 ? ceil(data[i]) : 0;
    for (int64_t l = 0; l < D; l++) data[l] = data[3 * D + l] = 0;
    check_pairs("chi2(g=0.4)", D, data, chi2, 1e-14);
    check_pairs("chi2(gamma=0.4)", D, data, chi2, 1e-14);
    check_pairs("intersection()", D, data, intersection, 0);
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *k = matrix(context, "chi2(g=0.4)", N, D, data);
    assert_true(k[0] == 1 && k[3] == 1); /* 0/0 in every coordinate */
    free(k);
    /* of histograms with the same sum: what is common is the sum less half of what is not */
    static const double PAIR[2][4] = {{0.1, 0.2, 0.3, 0.4}, {0.4, 0.3, 0.2, 0.1}};
    k = matrix(context, "intersection", 2, 4, PAIR[0]);
    assert_true(fabs(k[0] - 1) <= 1e-15 && fabs(k[1] - 0.6) <= 1e-15);
    free(k);
    free(data);
    gram_context_destroy(context);
}

static double jaccard(int64_t d, const double *x, const double *y)
{
    int both = 0, either = 0;
    for (int64_t l = 0; l < d; l++) {
        both += x[l] == 1 && y[l] == 1;
        either += x[l] == 1 || y[l] == 1;
    }
    return either ? (double)both / either : 1;
}

static void sets(void **state)
{
    (void)state;
    enum { D = 9 };
    double *data = test_random(7, N * D, -1, 1);
    for (int64_t i = 0; i < N * D; i++) data[i] = data[i] > 0;
    for (int64_t l = 0; l < D; l++) data[5 * D + l] = data[8 * D + l] = 0;
    check_pairs("tanimoto()", D, data, jaccard, 0);
    free(data);
}

/* k(c x, c y) = k(x, y), to the last bit for a power of two that leaves the squares in range, and nearly where it does
 * not; between x and -x it is -1/3; a point has 1 with itself, 0 with 0. */
static void tanimoto_scale(void **state)
{
    (void)state;
    enum { D = 4 };
    static const double SCALE[] = {0x1p-60, 0x1p60, 1e-160, 1e-200, 1e200, 0x1p-1000, 0x1p1000};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *data = test_random(8, N * D, -1, 1), *scaled = test_numbers(N * D);
    for (int64_t l = 0; l < D; l++) {
        data[D + l] = -data[l];
        data[2 * D + l] = 0;
    }
    double *k = matrix(context, "tanimoto()", N, D, data);
    for (int i = 0; i < N; i++) assert_true(k[i * N + i] == 1 && (i == 2 || k[2 * N + i] == 0));
    assert_true(fabs(k[1] + 1.0 / 3) <= 1e-16);
    for (size_t s = 0; s < sizeof SCALE / sizeof *SCALE; s++) {
        for (int64_t i = 0; i < N * D; i++) scaled[i] = SCALE[s] * data[i];
        double *other = matrix(context, "tanimoto()", N, D, scaled);
        if (s < 2)
            compare("tanimoto()", N * N, other, k, 0);
        else
            assert_true(test_distance(N, N, other, N, k, N) <= 1e-15);
        free(other);
    }
    free(k);
    free(scaled);
    free(data);
    gram_context_destroy(context);
}

/* ---- positive semi-definiteness, on points that the contract test does not have ---- */

/* Layouts: signed and scattered, each twice, a grid with 0 in it, on a line through 0. */
static double *layout(int which, int64_t d, int64_t n)
{
    double *data = test_random((uint64_t)(20 + which), n * d, -2, 2);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < d; l++) {
            if (which == 1 && i % 2) data[i * d + l] = data[(i - 1) * d + l];
            if (which == 2)
                data[i * d + l] = l == 0 ? (double)(i % 7) / 4 : l == 1 ? (double)(i / 7) / 4 : 0.25 * (double)(i % 3);
            if (which == 3) data[i * d + l] = 0.05 * (double)i * (1 + (double)(l % 2));
        }
    return data;
}

static void semidefinite(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int negative; /* takes negative coordinates */
    } CASES[] = {
        {"periodic(p=0.5, ell=0.3)", 1},
        {"periodic(p=1.7, ell=1)", 1},
        {"cosine(p=0.5)", 1},
        {"cosine(p=2.2)", 1},
        {"sinc(B=0.5)", 1},
        {"sinc(B=9)", 1},
        {"tanimoto()", 1},
        {"sobolev(a=1)", 0},
        {"sobolev(a=4)", 0},
        {"sobolev(a=3, null=1)", 0},
        {"chi2(g=0.1)", 0},
        {"chi2(g=5)", 0},
        {"intersection()", 0},
    };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++)
        for (int which = 0; which < 4; which++)
            for (int64_t d = 1; d <= 3; d++) {
                double *data = layout(which, d, N), largest = 0;
                for (int64_t i = 0; i < N * d && !CASES[c].negative; i++) data[i] = fabs(data[i]);
                double *k = matrix(context, CASES[c].text, N, d, data);
                for (int64_t i = 0; i < N; i++) largest = fmax(largest, k[i * N + i]);
                double *values = eigenvalues(N, k);
                if (!(values[0] >= -1e-14 * N * largest))
                    FAIL_TEST("%s, layout %d, d = %lld: smallest eigenvalue %g, largest of the diagonal %g",
                              CASES[c].text, which, (long long)d, values[0], largest);
                free(values);
                free(k);
                free(data);
            }
    gram_context_destroy(context);
}

/* ---- refusals ---- */

static void domains(void **state)
{
    (void)state;
    static const double DATA[2][2] = {{1, 2}, {3, -0.5}};
    static const struct {
        const char *text, *message;
    } CASES[] = {
        {"chi2(g=1)", "chi2: x[1][1] = -0.5 is negative"},
        {"intersection()", "intersection: x[1][1] = -0.5 is negative"},
        {"sobolev(a=2)", "sobolev: x[1][1] = -0.5 is below"},
    };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_points *x = test_points(context, 2, 2, DATA[0]);
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        double k[4];
        gram_kernel *kernel = test_kernel(context, CASES[c].text);
        assert_int_equal(gram_matrix(context, kernel, x, NULL, k, 2), GRAM_ERROR_DOMAIN);
        if (!strstr(gram_context_message(context), CASES[c].message))
            FAIL_TEST("%s says \"%s\"", CASES[c].text, gram_context_message(context));
        gram_kernel_release(kernel);
    }
    gram_points_release(x);
    gram_context_destroy(context);
}

static void values_out_of_bounds(void **state)
{
    (void)state;
    static const char *const BAD[] = {
        "periodic(p=0, ell=1)", "periodic(p=1, ell=-1)", "cosine(p=0)",  "sinc(B=0)",
        "sinc(B=-1)",           "sobolev(a=0)",          "sobolev(a=9)", "sobolev(a=1.5)",
        "sobolev(null=2)",      "sobolev(null=0.5)",     "chi2(g=0)",    "chi2(g=-1)",
        "chi2(gamma=-0.25)",
    };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        gram_kernel *kernel = NULL;
        if (gram_kernel_parse(context, BAD[i], &kernel) != GRAM_ERROR_ARGUMENT || kernel)
            FAIL_TEST("%s is taken", BAD[i]);
    }
    gram_context_destroy(context);
}

/* What is left out is open, and becomes 1. */
static void defaults(void **state)
{
    (void)state;
    static const struct {
        const char *text, *resolved;
        int64_t parameters;
    } CASES[] = {
        {"periodic", "periodic(p=1, ell=1)", 2},
        {"cosine", "cosine(p=1)", 1},
        {"sinc", "sinc(B=1)", 1},
        {"chi2", "chi2(g=1)", 1},
        {"sobolev", "sobolev(a=2, null=0)", 0},
    };
    static const double DATA[2] = {0.5, 1.5};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_points *x = test_points(context, 2, 1, DATA);
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        gram_kernel *kernel = test_kernel(context, CASES[c].text), *resolved = NULL;
        gram_kernel *want = test_kernel(context, CASES[c].resolved);
        assert_int_equal(gram_kernel_parameter_count(kernel), CASES[c].parameters);
        for (int64_t q = 0; q < CASES[c].parameters; q++) {
            gram_parameter parameter;
            OK(context, gram_kernel_parameter_get(context, kernel, q, &parameter));
            assert_true(!parameter.set && parameter.transform == GRAM_TRANSFORM_LOG);
        }
        OK(context, gram_kernel_resolve(context, kernel, x, &resolved));
        assert_true(gram_kernel_equal(resolved, want));
        gram_kernel_release(want);
        gram_kernel_release(resolved);
        gram_kernel_release(kernel);
    }
    gram_points_release(x);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sobolev_closed_forms),
        cmocka_unit_test(sobolev_quadrature),
        cmocka_unit_test(periodic_is_rbf_on_the_circle),
        cmocka_unit_test(periods),
        cmocka_unit_test(cosine_rank),
        cmocka_unit_test(sinc_band),
        cmocka_unit_test(sinc_slope),
        cmocka_unit_test(histograms),
        cmocka_unit_test(sets),
        cmocka_unit_test(tanimoto_scale),
        cmocka_unit_test(semidefinite),
        cmocka_unit_test(domains),
        cmocka_unit_test(values_out_of_bounds),
        cmocka_unit_test(defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
