/* Kernels of inner products and of Euclidean distances against each other and against closed forms: linear, monomial,
 * expdot, sigmoid, intpow; laplace, powexp, rq, imq. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/lapack.h"
#include "support.h"

enum { N = 20, D = 3 };

static double *matrix_on(gram_context *context, const char *text, int64_t n, int64_t d, const double *data)
{
    double *k = test_numbers(n * n);
    gram_kernel *kernel = test_kernel(context, text);
    gram_points *x = test_points(context, n, d, data);
    OK(context, gram_matrix(context, kernel, x, NULL, k, n));
    gram_points_release(x);
    gram_kernel_release(kernel);
    return k;
}

/* Eigenvalues of the symmetric k in ascending order, vectors in its rows. */
static void eigen(int n, double *k, double *values)
{
    double work[256];
    const int size = 256;
    int info = 0;
    assert_true(3 * n <= size);
    dsyev_("V", "U", &n, k, &n, values, work, &size, &info, 1, 1);
    assert_int_equal(info, 0);
}

/* ---- the same kernel in other words ---- */

static void same_kernels(void **state)
{
    (void)state;
    static const struct {
        const char *one, *other;
        double tolerance; /* relative */
    } CASES[] = {
        {"laplace(ell=0.7)", "matern(nu=0.5, ell=0.7)", 0},
        {"laplace(ell=[0.7,2,0.4])", "matern(nu=0.5, ell=[0.7,2,0.4])", 0},
        {"powexp(p=1, ell=0.7)", "laplace(ell=0.7)", 0},
        {"powexp(p=2, ell=2)", "rbf(ell=1.4142135623730951)", 1e-14},
        {"powexp(p=1.9999999999999998, ell=2)", "rbf(ell=1.4142135623730951)", 1e-14},
        {"powexp(p=0.9999999999999999, ell=0.7)", "laplace(ell=0.7)", 1e-14},
        {"linear()", "poly(m=1, c=0)", 0},
        {"linear(c=0.3)", "poly(m=1, c=0.3)", 0},
        {"monomial(m=1)", "linear(c=1)", 0},
        {"monomial(m=4)", "1 + linear() + linear()^2 + linear()^3 + linear()^4", 1e-14},
        {"expdot(s=0.9)*expdot(s=0.9)", "expdot(s=0.6363961030678927)", 1e-13},
        {"imq(c=0.8, beta=0.5)", "1.25*rq(alpha=0.5, ell=0.8)", 1e-14},
        {"imq(c=0.5, beta=2)", "16*rq(alpha=2, ell=0.25)", 1e-14},
        {"imq(c=0.5, beta=32)", "18446744073709551616*rq(alpha=32, ell=0.0625)", 1e-14},
        {"imq(c=2, beta=0.25)^4", "imq(c=2, beta=1)", 1e-14},
        {"rq(alpha=7.5, ell=0.8)*rq(alpha=7.5, ell=0.8)", "rq(alpha=15, ell=0.5656854249492381)", 1e-13},
        {"rq(alpha=1e18, ell=0.8)", "rbf(ell=0.8)", 1e-14},
        {"sigmoid(a=0, c=0.3)", "0.29131261245159090", 1e-15},
    };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *data = test_random(1, N * D, -1, 1);
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        double *one = matrix_on(context, CASES[c].one, N, D, data);
        double *other = matrix_on(context, CASES[c].other, N, D, data);
        for (int i = 0; i < N * N; i++)
            /* polynomials in x.y are allowed to be off by a share of 1, which they start from */
            if (!(fabs(one[i] - other[i]) <=
                  CASES[c].tolerance * fmax(fabs(other[i]), strstr(CASES[c].one, "mono") != NULL)))
                FAIL_TEST("%s is %.17g, %s is %.17g", CASES[c].one, one[i], CASES[c].other, other[i]);
        free(other);
        free(one);
    }
    free(data);
    gram_context_destroy(context);
}

/* expdot divided by its diagonal is rbf; sigmoid is tanh of linear. */
static void same_by_hand(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *data = test_random(2, N * D, -1, 1);
    double *dot = matrix_on(context, "linear()", N, D, data), *k = matrix_on(context, "expdot(s=0.6)", N, D, data);
    double *rbf = matrix_on(context, "rbf(ell=0.6)", N, D, data);
    double *tanh_of = matrix_on(context, "sigmoid(a=-2, c=0.4)", N, D, data);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const double normal = k[i * N + j] / sqrt(k[i * N + i] * k[j * N + j]);
            assert_true(fabs(normal - rbf[i * N + j]) <= 1e-14 * rbf[i * N + j]);
            const double t = 0.4 - 2 * dot[i * N + j], big = exp(t), small = exp(-t);
            assert_true(fabs(tanh_of[i * N + j] - (big - small) / (big + small)) <= 1e-15);
        }
    free(tanh_of);
    free(rbf);
    free(k);
    free(dot);
    free(data);
    gram_context_destroy(context);
}

static double factorial(int n)
{
    return n > 1 ? n * factorial(n - 1) : 1;
}

/* (x.y)^i = sum over a + b = i of i!/(a! b!) x1^a x2^b y1^a y2^b: monomial(m) is linear on these features, and there are as
 * many as the rank says. */
static void monomial_features(void **state)
{
    (void)state;
    enum { M = 5, FEATURES = (M + 1) * (M + 2) / 2 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *data = test_random(3, N * 2, -1.2, 1.2), *features = test_numbers(N * FEATURES);
    for (int i = 0; i < N; i++) {
        double *at = features + (ptrdiff_t)i * FEATURES;
        for (int degree = 0; degree <= M; degree++)
            for (int a = 0; a <= degree; a++)
                *at++ = sqrt(factorial(degree) / (factorial(a) * factorial(degree - a))) * pow(data[i * 2], a) *
                        pow(data[i * 2 + 1], degree - a);
    }
    double *k = matrix_on(context, "monomial(m=5)", N, 2, data);
    double *want = matrix_on(context, "linear()", N, FEATURES, features);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            assert_true(fabs(k[i * N + j] - want[i * N + j]) <= 1e-14 * sqrt(want[i * N + i] * want[j * N + j]));
    gram_kernel *kernel = test_kernel(context, "monomial(m=5)");
    gram_properties facts;
    OK(context, gram_kernel_properties(context, kernel, 2, &facts));
    assert_int_equal(facts.rank, FEATURES);
    gram_kernel_release(kernel);
    free(want);
    free(k);
    free(features);
    free(data);
    gram_context_destroy(context);
}

/* ---- rq for large alpha ---- */

/* alpha (rq - rbf) tends to z^2/8 rbf: at alpha = 1e7 all digits but seven of rq are used up, so that one more rounding of
 * 1 + u would show. */
static void rq_tends_to_rbf(void **state)
{
    (void)state;
    static const double DATA[] = {0, 0.3, 0.8, 1.5, 2.5, 4};
    enum { POINTS = sizeof DATA / sizeof *DATA };
    static const struct {
        const char *text;
        double alpha, tolerance;
    } CASES[] = {{"rq(alpha=1e4, ell=1)", 1e4, 1e-2},
                 {"rq(alpha=1e5, ell=1)", 1e5, 1e-3},
                 {"rq(alpha=1e6, ell=1)", 1e6, 1e-4},
                 {"rq(alpha=1e7, ell=1)", 1e7, 1e-5}};
    static const gram_isa LEVELS[] = {GRAM_ISA_PLAIN, GRAM_ISA_AUTO};
    for (int level = 0; level < 2; level++) {
        gram_context *context = test_context(1, LEVELS[level]);
        for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
            double *k = matrix_on(context, CASES[c].text, POINTS, 1, DATA);
            for (int j = 1; j < POINTS; j++) {
                const double z = DATA[j] * DATA[j], rbf = exp(-z / 2), want = z * z / 8 * rbf;
                const double got = CASES[c].alpha * (k[j] - rbf);
                if (!(fabs(got - want) <=
                      CASES[c].tolerance * want * (1 + z * z) + 3e-16 * CASES[c].alpha * (1 + z) * rbf))
                    FAIL_TEST("%s at z = %g: alpha (rq - rbf) = %.10g, limit %.10g", CASES[c].text, z, got, want);
            }
            free(k);
        }
        gram_context_destroy(context);
    }
}

static void rq_is_one_at_zero(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {"rq(alpha=0.1, ell=1)",  "rq(alpha=0.5, ell=1)",  "rq(alpha=1, ell=1)",
                                        "rq(alpha=3, ell=1e-3)", "rq(alpha=77.7, ell=1)", "rq(alpha=1e20, ell=1)"};
    static const double DATA[] = {0.1, 0.1, 0.1};
    static const gram_isa LEVELS[] = {GRAM_ISA_PLAIN, GRAM_ISA_AUTO};
    for (int level = 0; level < 2; level++) {
        gram_context *context = test_context(1, LEVELS[level]);
        for (size_t c = 0; c < sizeof TEXTS / sizeof *TEXTS; c++) {
            double *k = matrix_on(context, TEXTS[c], 3, 1, DATA);
            for (int i = 0; i < 9; i++)
                if (k[i] != 1) FAIL_TEST("%s at 0 is %.17g", TEXTS[c], k[i]);
            free(k);
        }
        gram_context_destroy(context);
    }
}

/* dk/dalpha = -k (log(1 + u) - u/(1 + u)), also where both terms are nearly the same */
static void rq_slope_by_alpha(void **state)
{
    (void)state;
    static const double DATA[] = {0, 1}, W[] = {0, 1, 0, 0}, ALPHAS[] = {0.2, 5, 16.6, 16.7, 400, 1e5, 1e8};
    const gram_weights w = {.dense = W, .ld = 2};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_points *x = test_points(context, 2, 1, DATA);
    gram_kernel *start = test_kernel(context, "rq(alpha=1, ell=1)");
    for (size_t c = 0; c < sizeof ALPHAS / sizeof *ALPHAS; c++) {
        const double values[2] = {ALPHAS[c], 1};
        double gradient[2];
        gram_kernel *kernel = NULL;
        OK(context, gram_kernel_with_values(context, start, values, &kernel));
        OK(context, gram_matrix_parameter_gradient(context, kernel, x, NULL, &w, gradient));
        const long double u = 0.5L / ALPHAS[c], k = expl(-ALPHAS[c] * log1pl(u));
        /* u^2/2 - 2/3 u^3 in f80: both sides keep their digits */
        const long double g = u > 1e-4L ? log1pl(u) - u / (1 + u) : u * u * (0.5L - u * (2 / 3.0L - u * 0.75L));
        if (!(fabsl(gradient[0] + k * g) <= 1e-10L * k * g))
            FAIL_TEST("alpha = %g: slope %.15g, should be %.15Lg", ALPHAS[c], gradient[0], -k * g);
        gram_kernel_release(kernel);
    }
    gram_kernel_release(start);
    gram_points_release(x);
    gram_context_destroy(context);
}

/* ---- far points ---- */

/* Squares that overflow: 0, the limit, and never NaN. */
static void far_points(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "laplace(ell=1)",           "powexp(p=0.3, ell=1)", "powexp(p=1.7, ell=1)", "powexp(p=2, ell=1)",
        "rq(alpha=0.5, ell=1)",     "rq(alpha=1, ell=1)",   "rq(alpha=3.3, ell=1)", "rq(alpha=50, ell=1)",
        "imq(c=1, beta=0.5)",       "imq(c=1, beta=1)",     "imq(c=1, beta=0.3)",   "imq(c=1, beta=50)",
        "rq(alpha=1e-3, ell=1e99)", "rq(alpha=1e9, ell=1)",
    };
    static const double DATA[] = {0, 1e200, -1e200};
    static const gram_isa LEVELS[] = {GRAM_ISA_PLAIN, GRAM_ISA_AUTO};
    for (int level = 0; level < 2; level++) {
        gram_context *context = test_context(1, LEVELS[level]);
        for (size_t c = 0; c < sizeof TEXTS / sizeof *TEXTS; c++) {
            double *k = matrix_on(context, TEXTS[c], 3, 1, DATA);
            for (int i = 0; i < 9; i++)
                if (k[i] != (i % 4 == 0)) FAIL_TEST("%s: k[%d] = %g", TEXTS[c], i, k[i]);
            free(k);
        }
        gram_context_destroy(context);
    }
}

/* Numbers at the ends of their ranges, at distance 0 and 1. */
static void extreme_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double zero, one; /* k at x = y = 0 and between 0 and 1, both inner products 0 */
    } CASES[] = {
        {"expdot(s=1e200)", 1, 1},
        {"rq(alpha=1e-300, ell=1e-150)", 1, 1},
        {"rq(alpha=1e300, ell=1)", 1, 0.60653065971263342},
        {"rq(alpha=1, ell=1e-200)", 1, 0},
        {"imq(c=1e-140, beta=0.5)", 1e140, 1},
        {"imq(c=1e140, beta=0.5)", 1e-140, 1e-140},
        {"powexp(p=1e-300, ell=1)", 1, 0.36787944117144233},
        {"sigmoid(a=1e300, c=-1e300)", -1, -1},
    };
    static const double DATA[] = {0, 1};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        double *k = matrix_on(context, CASES[c].text, 2, 1, DATA);
        /* imq: 1e-140 squared is not 1e-280 but what the nearest double gives; rq: 1e-300 is as good as 0 */
        if (!(fabs(k[0] - CASES[c].zero) <= 1e-14 * fabs(CASES[c].zero)) ||
            !(fabs(k[1] - CASES[c].one) <= 1e-14 * fabs(CASES[c].one) + 1e-290))
            FAIL_TEST("%s: %.17g and %.17g", CASES[c].text, k[0], k[1]);
        free(k);
    }
    gram_context_destroy(context);
}

/* ---- what is not positive definite ---- */

/* A vector with v'Kv < 0 is found for sigmoid with any numbers, on two points. */
static void sigmoid_counter_examples(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {"sigmoid(a=1, c=0)", "sigmoid(a=0.1, c=1)", "sigmoid(a=2, c=-1)",
                                        "sigmoid(a=-1, c=0)", "sigmoid(a=-1, c=2)"};
    static const double DATA[] = {0.5, 20};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (size_t c = 0; c < sizeof TEXTS / sizeof *TEXTS; c++) {
        gram_kernel *kernel = test_kernel(context, TEXTS[c]);
        gram_properties facts;
        OK(context, gram_kernel_properties(context, kernel, 1, &facts));
        assert_int_equal(facts.positive_definite, GRAM_NO);
        gram_kernel_release(kernel);
        double *k = matrix_on(context, TEXTS[c], 2, 1, DATA), v[4], values[2];
        memcpy(v, k, sizeof v);
        eigen(2, v, values);
        const double form = v[0] * v[0] * k[0] + 2 * v[0] * v[1] * k[1] + v[1] * v[1] * k[3];
        if (!(form < -1e-3)) FAIL_TEST("%s: v'Kv = %g", TEXTS[c], form);
        free(k);
    }
    gram_context_destroy(context);
}

/* Why p > 2 is refused: exp(-r^2.5) on a grid has a negative eigenvalue. */
static void powexp_above_two(void **state)
{
    (void)state;
    enum { GRID = 15 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_kernel *kernel = NULL;
    assert_int_equal(gram_kernel_parse(context, "powexp(p=2.5, ell=1)", &kernel), GRAM_ERROR_ARGUMENT);
    assert_null(kernel);
    assert_non_null(strstr(gram_context_message(context), "powexp(p=2.5): p must be at most 2"));
    assert_non_null(strstr(gram_context_message(context), "not positive definite"));
    for (int above = 0; above < 2; above++) {
        double k[GRID * GRID], values[GRID];
        for (int i = 0; i < GRID; i++)
            for (int j = 0; j < GRID; j++) k[i * GRID + j] = exp(-pow(0.5 * abs(i - j), above ? 2.5 : 2));
        eigen(GRID, k, values);
        assert_true(above ? values[0] < -1e-3 : values[0] > -1e-14);
    }
    gram_context_destroy(context);
}

/* ---- numbers: bounds, names, defaults ---- */

static void refused(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "powexp(p=2.0000001)", "powexp(p=0)",      "powexp(p=-1)",     "monomial(m=0)",    "monomial(2.5)",
        "monomial(65)",        "linear(c=-1)",     "expdot(s=0)",      "expdot(-1)",       "rq(alpha=0)",
        "rq(alpha=-1)",        "rq(1, ell=0)",     "imq(c=0)",         "imq(c=-1)",        "imq(c=1e141)",
        "imq(1, beta=0)",      "imq(1, beta=-1)",  "laplace(ell=0)",   "laplace(gamma=1)", "intpow(m=2)",
        "intpow(1)",           "sigmoid(a=[1,2])", "sigmoid(1, 2, 3)",
    };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (size_t c = 0; c < sizeof TEXTS / sizeof *TEXTS; c++) {
        gram_kernel *kernel = NULL;
        const gram_status status = gram_kernel_parse(context, TEXTS[c], &kernel);
        if (kernel || (status != GRAM_ERROR_ARGUMENT && status != GRAM_ERROR_SYNTAX)) FAIL_TEST("%s passed", TEXTS[c]);
    }
    gram_context_destroy(context);
}

static void printed(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"linear", "linear(c=0)"},
        {"linear(coef0=2)", "linear(c=2)"},
        {"monomial", "monomial(m=3)"},
        {"monomial(degree=4)", "monomial(m=4)"},
        {"expdot", "expdot"},
        {"expdot(gamma=4)", "expdot(s=0.5)"},
        {"laplace", "laplace"},
        {"powexp", "powexp(p=1)"},
        {"powexp(0.5, 2)", "powexp(p=0.5, ell=2)"},
        {"rq", "rq"},
        {"rq(2, 3)", "rq(alpha=2, ell=3)"},
        {"imq", "imq(beta=0.5)"},
        {"imq(2, 0.25)", "imq(c=2, beta=0.25)"},
        {"sigmoid(gamma=2, coef0=-1)", "sigmoid(a=2, c=-1)"},
        {"intpow", "intpow()"},
    };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        char text[64];
        gram_kernel *kernel = test_kernel(context, CASES[c][0]);
        (void)gram_kernel_print(kernel, text, sizeof text);
        assert_string_equal(text, CASES[c][1]);
        gram_kernel_release(kernel);
    }
    gram_context_destroy(context);
}

static void resolved(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"expdot", "expdot(s=1)"},        {"rq", "rq(alpha=1, ell=2)"},  {"imq", "imq(c=1, beta=0.5)"},
        {"sigmoid", "sigmoid(a=1, c=0)"}, {"laplace", "laplace(ell=2)"}, {"powexp(p=1.5)", "powexp(p=1.5, ell=2)"},
    };
    static const double DATA[] = {0, 2};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_points *x = test_points(context, 2, 1, DATA);
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        char text[64];
        gram_kernel *kernel = test_kernel(context, CASES[c][0]), *done = NULL;
        OK(context, gram_kernel_resolve(context, kernel, x, &done));
        (void)gram_kernel_print(done, text, sizeof text);
        assert_string_equal(text, CASES[c][1]);
        gram_kernel_release(done);
        gram_kernel_release(kernel);
    }
    gram_points_release(x);
    gram_context_destroy(context);
}

/* ---- intpow ---- */

/* Exact powers of two up to the largest, then inf; log(2) k as the slope by x.y. */
static void intpow_values(void **state)
{
    (void)state;
    static const double DATA[][2] = {{0, 0}, {1, 0}, {3, 2}, {31, 7}, {0, 30}, {1, 31}};
    static const double W[4] = {0, 1, 0, 0};
    enum { POINTS = 6 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *k = matrix_on(context, "intpow()", POINTS, 2, DATA[0]), gradient[4];
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < POINTS; j++) {
            const double dot = DATA[i][0] * DATA[j][0] + DATA[i][1] * DATA[j][1];
            if (k[i * POINTS + j] != ldexp(1, (int)dot)) FAIL_TEST("2^%g = %g", dot, k[i * POINTS + j]);
        }
    const gram_weights w = {.dense = W, .ld = 2};
    gram_points *x = test_points(context, 2, 2, DATA[1]);
    gram_kernel *kernel = test_kernel(context, "intpow()");
    OK(context, gram_matrix_input_gradient(context, kernel, x, NULL, &w, gradient, 2));
    assert_true(fabs(gradient[0] - 3 * 8 * log(2)) <= 1e-14 && fabs(gradient[1] - 2 * 8 * log(2)) <= 1e-14);
    gram_kernel_release(kernel);
    gram_points_release(x);
    free(k);
    gram_context_destroy(context);
}

static void intpow_domain(void **state)
{
    (void)state;
    static const double BAD[] = {0.5, -1, 1e-300, 2.0000000000000004, -0.25};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(context, "intpow()"), *part = test_kernel(context, "on(1, intpow())");
    for (size_t c = 0; c < sizeof BAD / sizeof *BAD; c++) {
        const double data[4] = {1, 2, 3, BAD[c]};
        double k[4];
        gram_points *x = test_points(context, 2, 2, data);
        REFUSED(context, gram_matrix(context, kernel, x, NULL, k, 2), GRAM_ERROR_DOMAIN, "intpow: x[1][1] = ");
        assert_non_null(strstr(gram_context_message(context), " is not one of 0, 1, 2, ..."));
        OK(context, gram_matrix(context, part, x, NULL, k, 2));
        assert_true(k[0] == 2 && k[1] == 8 && k[3] == 512);
        gram_points_release(x);
    }
    gram_kernel_release(part);
    gram_kernel_release(kernel);
    gram_context_destroy(context);
}

/* Entries that would be infinite are refused by name; the normalised kernels have no such bound. */
static void overflow(void **state)
{
    (void)state;
    static const double DATA[] = {3, 31, 32, 40};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_kernel *power = test_kernel(context, "intpow()"), *narrow = test_kernel(context, "expdot(s=1)");
    gram_kernel *normal = test_kernel(context, "normalize(intpow())");
    gram_points *small = test_points(context, 2, 1, DATA), *large = test_points(context, 4, 1, DATA);
    gram_points *one = test_points(context, 1, 1, DATA);
    double k[16];
    OK(context, gram_matrix(context, power, small, NULL, k, 2));
    assert_true(k[0] == 512 && k[3] == ldexp(1, 961));
    assert_int_equal(gram_matrix(context, power, large, NULL, k, 4), GRAM_ERROR_DOMAIN);
    assert_string_equal(gram_context_message(context), "intpow: x.y = 1240 of points 1 and 3 gives an infinite entry: "
                                                       "it must be below 1024");
    OK(context, gram_matrix(context, power, one, large, k, 4)); /* 3 * 40 is no harm */
    assert_int_equal(gram_matrix(context, narrow, large, NULL, k, 4), GRAM_ERROR_DOMAIN);
    OK(context, gram_matrix(context, normal, large, NULL, k, 4));
    for (int i = 0; i < 16; i++) {
        const double t = DATA[i / 4] - DATA[i % 4];
        assert_true(fabs(k[i] - exp2(-t * t / 2)) <= 1e-13 * exp2(-t * t / 2));
    }
    gram_points_release(one);
    gram_points_release(small);
    gram_points_release(large);
    gram_kernel_release(normal);
    gram_kernel_release(narrow);
    gram_kernel_release(power);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_kernels),      cmocka_unit_test(same_by_hand),
        cmocka_unit_test(monomial_features), cmocka_unit_test(rq_tends_to_rbf),
        cmocka_unit_test(rq_is_one_at_zero), cmocka_unit_test(rq_slope_by_alpha),
        cmocka_unit_test(far_points),        cmocka_unit_test(extreme_numbers),
        cmocka_unit_test(powexp_above_two),  cmocka_unit_test(sigmoid_counter_examples),
        cmocka_unit_test(refused),           cmocka_unit_test(printed),
        cmocka_unit_test(resolved),          cmocka_unit_test(intpow_values),
        cmocka_unit_test(intpow_domain),     cmocka_unit_test(overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
