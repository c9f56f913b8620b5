/* Stein kernels and their discrepancy against slow obvious twins: differences of k, closed forms, loops. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/random.h>

#include "base/distribution_tails.h"
#include "support.h"

enum { N = 7, D = 3 };

/* ---- k_P by differences of sixth order ---- */

static const double FIRST[3] = {0.75, -0.15, 1.0 / 60};

/* K between all shifted copies of x and of y: shift number c of point i is row i * copies + c. Copy 0 is the point; then
 * for each coordinate and each of 1, 2, 3 steps up and down. */
enum { COPIES = 1 + D * 6 };

static void shifted_copies(const double *x, double h, double *out)
{
    for (int c = 0; c < COPIES; c++) memcpy(out + c * D, x, D * sizeof *x);
    for (int l = 0; l < D; l++)
        for (int s = 0; s < 3; s++) {
            out[(1 + l * 6 + 2 * s) * D + l] += (s + 1) * h;
            out[(1 + l * 6 + 2 * s + 1) * D + l] -= (s + 1) * h;
        }
}

static double stein_by_differences(gram_context *context, const gram_kernel *kernel, const double *x, const double *sx,
                                   const double *y, const double *sy)
{
    const double h = 2e-3;
    double xs[COPIES * D], ys[COPIES * D], K[COPIES * COPIES], sum = 0;
    shifted_copies(x, h, xs);
    shifted_copies(y, h, ys);
    gram_points *px = test_points(context, COPIES, D, xs), *py = test_points(context, COPIES, D, ys);
    OK(context, gram_matrix(context, kernel, px, py, K, COPIES));
    for (int l = 0; l < D; l++) {
        double by_x = 0, by_y = 0, both = 0;
        for (int s = 0; s < 3; s++) {
            const int up = 1 + l * 6 + 2 * s, down = up + 1;
            by_x += FIRST[s] * (K[up * COPIES] - K[down * COPIES]) / h;
            by_y += FIRST[s] * (K[up] - K[down]) / h;
            for (int t = 0; t < 3; t++) {
                const int u = 1 + l * 6 + 2 * t, d = u + 1;
                both += FIRST[s] * FIRST[t] *
                        (K[up * COPIES + u] - K[up * COPIES + d] - K[down * COPIES + u] + K[down * COPIES + d]) / h / h;
            }
        }
        sum += both + sx[l] * by_y + sy[l] * by_x + sx[l] * sy[l] * K[0];
    }
    gram_points_release(px);
    gram_points_release(py);
    return sum;
}

static void every_smooth_kernel(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *x = test_random(1, N * D, 0.2, 1.4), *s = test_random(2, N * D, -2, 2), K[N * N];
    gram_points *points = test_points(context, N, D, x);
    test_expressions list;
    int tested = 0;
    test_expressions_make_smooth(D, &list);
    for (int e = 0; e < list.count; e++) {
        gram_kernel *kernel = test_kernel(context, list.text[e]);
        gram_operator *op = NULL;
        const gram_status status = gram_operator_create_stein(context, kernel, points, s, D, &op);
        if (status != GRAM_ERROR_UNSUPPORTED) {
            OK(context, status);
            OK(context, gram_operator_matrix(context, op, K, N));
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++) {
                    if (i == j) continue;
                    const double want =
                        stein_by_differences(context, kernel, x + i * D, s + i * D, x + j * D, s + j * D);
                    if (!(fabs(K[i * N + j] - want) <= 2e-6 * (1 + fabs(want))))
                        FAIL_TEST("%s: (%d,%d) %.12g, by differences %.12g", list.text[e], i, j, K[i * N + j], want);
                }
            tested++;
        }
        gram_operator_release(op);
        gram_kernel_release(kernel);
    }
    print_message("%d of %d kernels have a Stein kernel\n", tested, list.count);
    assert_true(tested >= 40);
    test_expressions_free(&list);
    gram_points_release(points);
    gram_context_destroy(context);
    free(x);
    free(s);
}

/* ---- the two ways ---- */

/* A sum of the kernel and a constant has no fast way; the constant adds c s(x).s(y). */
static void both_ways_agree(void **state)
{
    (void)state;
    static const char *const texts[] = {"imq(c=0.8)",
                                        "3*rbf(ell=0.7)",
                                        "matern(nu=2.5, ell=1.1)",
                                        "matern(nu=1.5, ell=2)",
                                        "rq(alpha=0.7, ell=1)",
                                        "rbf(ell=[0.5,1,2])",
                                        "on(2:3, imq(c=1, beta=0.3))",
                                        "rbf(S=[1,0.2,0;0.2,2,0.1;0,0.1,0.5])",
                                        "matern(nu=3.5, ell=[1,2,3])*2*0.5",
                                        "warp([1,0.5,0;0,2,-1], imq(c=1))"};
    enum { COUNT = 130 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *x = test_random(3, COUNT * D, -1, 1), *s = test_random(4, COUNT * D, -2, 2);
    double *a = test_numbers(COUNT * COUNT), *b = test_numbers(COUNT * COUNT);
    memcpy(x + 5 * D, x, D * sizeof *x); /* a point twice, as chains have them */
    gram_points *points = test_points(context, COUNT, D, x);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        char sum[128];
        (void)snprintf(sum, sizeof sum, "%s + 2", texts[t]);
        gram_kernel *fast = test_kernel(context, texts[t]), *slow = test_kernel(context, sum);
        gram_operator *f, *g;
        OK(context, gram_operator_create_stein(context, fast, points, s, D, &f));
        OK(context, gram_operator_create_stein(context, slow, points, s, D, &g));
        OK(context, gram_operator_matrix(context, f, a, COUNT));
        OK(context, gram_operator_matrix(context, g, b, COUNT));
        for (int i = 0; i < COUNT; i++)
            for (int j = 0; j < COUNT; j++) {
                double dot = 0;
                for (int l = 0; l < D; l++) dot += s[i * D + l] * s[j * D + l];
                const double want = b[i * COUNT + j] - 2 * dot;
                if (!(fabs(a[i * COUNT + j] - want) <= 1e-12 * (10 + fabs(want))))
                    FAIL_TEST("%s: (%d,%d) %.17g and %.17g", texts[t], i, j, a[i * COUNT + j], want);
                assert_true(a[i * COUNT + j] == a[j * COUNT + i]);
            }
        gram_operator_release(f);
        gram_operator_release(g);
        gram_kernel_release(fast);
        gram_kernel_release(slow);
    }
    gram_points_release(points);
    gram_context_destroy(context);
    free(x);
    free(s);
    free(a);
    free(b);
}

/* imq at x = y: d 2 beta c^(-2 beta - 2) + |s|^2 c^(-2 beta); and the kernel is positive semi-definite. */
static void diagonal_and_eigenvalues(void **state)
{
    (void)state;
    enum { COUNT = 60 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *x = test_random(5, COUNT * D, -2, 2), *s = test_numbers(COUNT * D), *K = test_numbers(COUNT * COUNT);
    double diagonal[COUNT], values[COUNT];
    for (int i = 0; i < COUNT * D; i++) s[i] = -x[i];
    gram_points *points = test_points(context, COUNT, D, x);
    gram_kernel *kernel = test_kernel(context, "imq(c=0.8, beta=0.3)");
    gram_operator *op;
    OK(context, gram_operator_create_stein(context, kernel, points, s, D, &op));
    OK(context, gram_operator_diagonal(context, op, diagonal));
    OK(context, gram_operator_matrix(context, op, K, COUNT));
    for (int i = 0; i < COUNT; i++) {
        double square = 0;
        for (int l = 0; l < D; l++) square += s[i * D + l] * s[i * D + l];
        const double want = 0.6 * D * pow(0.8, -2.6) + square * pow(0.8, -0.6);
        assert_true(fabs(diagonal[i] - want) <= 1e-13 * want);
        assert_true(diagonal[i] == K[i * COUNT + i]);
    }
    OK(context, gram_eigen_symmetric(context, COUNT, K, COUNT, 0, COUNT, values, NULL, 0));
    double least = INFINITY, most = 0;
    for (int i = 0; i < COUNT; i++) {
        least = fmin(least, values[i]);
        most = fmax(most, values[i]);
    }
    assert_true(least >= -1e-13 * most);
    gram_operator_release(op);
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_context_destroy(context);
    free(x);
    free(s);
    free(K);
}

/* ---- statistics ---- */

static void statistics_by_loops(void **state)
{
    (void)state;
    enum { COUNT = 205 };
    gram_context *one = test_context(1, GRAM_ISA_AUTO), *two = test_context(2, GRAM_ISA_AUTO);
    double *x = test_random(6, COUNT * D, -2, 2), *s = test_random(7, COUNT * D, -1, 1);
    double *K = test_numbers(COUNT * COUNT), *w = test_random(8, COUNT, 0.1, 2);
    double v = 0, u = 0, weighted = 0, total = 0, squares = 0;
    gram_points *points = test_points(one, COUNT, D, x);
    gram_kernel *kernel = test_kernel(one, "imq(c=1)");
    gram_operator *op;
    gram_discrepancy a, b;
    OK(one, gram_operator_create_stein(one, kernel, points, s, D, &op));
    OK(one, gram_operator_matrix(one, op, K, COUNT));
    for (int i = 0; i < COUNT; i++) {
        total += w[i];
        squares += w[i] * w[i];
        for (int j = 0; j < COUNT; j++) {
            v += K[i * COUNT + j];
            if (i != j) u += K[i * COUNT + j];
            weighted += w[i] * w[j] * K[i * COUNT + j];
        }
    }
    double *product = test_numbers(COUNT);
    OK(one, gram_operator_apply(one, op, 1, w, 1, product, 1));
    for (int i = 0; i < COUNT; i++) {
        double want = 0;
        for (int j = 0; j < COUNT; j++) want += K[i * COUNT + j] * w[j];
        assert_true(fabs(product[i] - want) <= 1e-11);
    }
    free(product);
    OK(one, gram_stein_discrepancy(one, kernel, points, s, D, NULL, &a));
    OK(two, gram_stein_discrepancy(two, kernel, points, s, D, NULL, &b));
    assert_true(memcmp(&a, &b, sizeof a) == 0);
    assert_true(fabs(a.v_statistic - v / COUNT / COUNT) <= 1e-13 * v / COUNT);
    assert_true(fabs(a.u_statistic - u / COUNT / (COUNT - 1)) <= 1e-13 * v / COUNT);
    assert_true(a.discrepancy == sqrt(a.v_statistic));
    OK(one, gram_stein_discrepancy(one, kernel, points, s, D, w, &a));
    assert_true(fabs(a.v_statistic - weighted / total / total) <= 1e-13 * v / COUNT);
    for (int i = 0; i < COUNT; i++) weighted -= w[i] * w[i] * K[i * COUNT + i];
    assert_true(fabs(a.u_statistic - weighted / (total * total - squares)) <= 1e-12 * v / COUNT);
    gram_operator_release(op);
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_context_destroy(one);
    gram_context_destroy(two);
    free(x);
    free(s);
    free(K);
    free(w);
}

/* The whole test again, by loops, with the signs drawn as the header says. */
static void test_is_reproducible(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    gram_context *one = test_context(1, GRAM_ISA_AUTO), *two = test_context(2, GRAM_ISA_AUTO);
    double *x = test_random(9, COUNT * D, -2, 2), *s = test_numbers(COUNT * D);
    for (int i = 0; i < COUNT * D; i++) s[i] = -x[i];
    gram_points *points = test_points(one, COUNT, D, x);
    gram_kernel *kernel = test_kernel(one, "imq(c=1)");
    gram_stein_test_options options;
    gram_stein_test_result a = {.size = sizeof a}, b = {.size = sizeof b};
    gram_stein_test_options_init(&options, sizeof options);
    options.draws = 700; /* more than one block of draws */
    OK(one, gram_stein_test(one, kernel, points, s, D, &options, &a));
    OK(two, gram_stein_test(two, kernel, points, s, D, &options, &b));
    assert_true(a.p_value == b.p_value && a.threshold == b.threshold && a.reject == b.reject);
    assert_true(a.p_value >= 1.0 / 701 && a.p_value <= 1);
    assert_true(a.reject == (a.statistic.u_statistic >= a.threshold - 1e-15));
    options.flip = 0.1;
    OK(one, gram_stein_test(one, kernel, points, s, D, &options, &b));
    assert_true(b.statistic.v_statistic == a.statistic.v_statistic);
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_context_destroy(one);
    gram_context_destroy(two);
    free(x);
    free(s);
}

/* Several kernels: the p-value of the largest score, from what each says by itself. */
static void many_kernels(void **state)
{
    (void)state;
    enum { COUNT = 40, DRAWS = 99, LOOKS = 3 };
    static const char *const texts[LOOKS] = {"imq(c=1)", "rbf(ell=0.7)", "rbf(ell=3)"};
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *x = test_random(21, COUNT * D, -1.6, 2), *s = test_numbers(COUNT * D), scores[DRAWS + 1] = {0};
    for (int i = 0; i < COUNT * D; i++) s[i] = -x[i];
    gram_points *points = test_points(context, COUNT, D, x);
    gram_kernel *kernels[LOOKS];
    gram_stein_test_options options;
    gram_stein_test_result all = {.size = sizeof all}, one = {.size = sizeof one};
    gram_stein_test_options_init(&options, sizeof options);
    options.draws = DRAWS;
    int best = -1, reached = 1;
    for (int k = 0; k < LOOKS; k++) {
        double matrix[COUNT * COUNT], sums[DRAWS + 1], u[COUNT], mean = 0, variance = 0;
        gram_operator *op;
        kernels[k] = test_kernel(context, texts[k]);
        OK(context, gram_operator_create_stein(context, kernels[k], points, s, D, &op));
        OK(context, gram_operator_matrix(context, op, matrix, COUNT));
        gram_operator_release(op);
        for (int b = 0; b <= DRAWS;
             b++) { /* signs of the stream "stein", changed with probability 1/2 from row to row */
            double e[COUNT], sign = 1;
            sums[b] = 0;
            gram_random_uniform((gram_random){gram_context_seed(context), 0x737465696e},
                                b == 0 ? 0 : (uint64_t)(b - 1) * COUNT, COUNT, u);
            for (int i = 0; i < COUNT; i++) e[i] = b == 0 ? 1 : (sign = u[i] < 0.5 ? -sign : sign);
            for (int i = 0; i < COUNT * COUNT; i++) sums[b] += e[i / COUNT] * e[i % COUNT] * matrix[i];
        }
        for (int b = 1; b <= DRAWS; b++) mean += sums[b] / DRAWS;
        for (int b = 1; b <= DRAWS; b++) variance += (sums[b] - mean) * (sums[b] - mean) / DRAWS;
        for (int b = 0; b <= DRAWS; b++) {
            const double rate = mean / variance;
            const double score = sums[b] > mean ? -log(gram_tail_gamma(mean * rate, sums[b] * rate)) : 0;
            if (b == 0 && score > scores[0]) best = k;
            scores[b] = fmax(scores[b], score);
        }
    }
    for (int b = 1; b <= DRAWS; b++) reached += scores[b] >= scores[0];
    OK(context, gram_stein_test_many(context, LOOKS, kernels, points, s, D, &options, &all));
    if (!(fabs(all.p_value - reached / (DRAWS + 1.0)) < 1e-12))
        FAIL_TEST("p = %g, want %g", all.p_value, reached / (DRAWS + 1.0));
    assert_int_equal(all.best, best);
    assert_true(all.p_value > 0.01 && all.p_value < 1); /* a case that says something */
    OK(context, gram_stein_test(context, kernels[best], points, s, D, &options, &one));
    assert_true(one.statistic.u_statistic == all.statistic.u_statistic && one.threshold == all.threshold);
    assert_int_equal(gram_stein_test_many(context, 0, kernels, points, s, D, &options, &all), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_stein_test_many(context, 17, kernels, points, s, D, &options, &all), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_stein_test_many(context, 1, NULL, points, s, D, &options, &all), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_stein_test_kernels(context, points, NULL), GRAM_ERROR_ARGUMENT);
    for (int k = 0; k < LOOKS; k++) gram_kernel_release(kernels[k]);
    gram_points_release(points);
    gram_context_destroy(context);
    free(x);
    free(s);
}

/* The autocorrelation time of AR(0.8) is 9 rows, of independent rows 1; constant columns have none. */
static void finds_flip(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *u = test_random(5, COUNT, -1, 1), *x = test_numbers(2 * COUNT), *s = test_numbers(2 * COUNT);
    gram_kernel *imq = test_kernel(context, "imq(c=1)");
    gram_stein_test_options options;
    gram_stein_test_result r = {.size = sizeof r};
    gram_stein_test_options_init(&options, sizeof options);
    options.draws = 1;
    options.flip = 0;
    for (int chain = 0; chain < 2; chain++) {
        for (int i = 0; i < COUNT; i++) {
            x[2 * i] = u[i] + (chain && i > 0 ? 0.8 * x[2 * i - 2] : 0);
            x[2 * i + 1] = 3;
        }
        for (int i = 0; i < 2 * COUNT; i++) s[i] = -x[i];
        gram_points *points = test_points(context, COUNT, 2, x);
        OK(context, gram_stein_test(context, imq, points, s, 2, &options, &r));
        print_message("autocorrelation time %g\n", r.autocorrelation_time);
        assert_true(chain ? r.autocorrelation_time > 6.5 && r.autocorrelation_time < 12 : r.autocorrelation_time < 1.4);
        assert_true(r.flip == fmin(0.5, 1 / (4 * r.autocorrelation_time)));
        gram_points_release(points);
    }
    gram_kernel_release(imq);
    gram_context_destroy(context);
    free(u);
    free(x);
    free(s);
}

/* ---- base kernels ---- */

static void preconditioners(void **state)
{
    (void)state;
    enum { COUNT = 50 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *x = test_random(10, COUNT * 2, -1, 1);
    for (int i = 0; i < COUNT; i++) x[2 * i] = 5 * x[2 * i] + x[2 * i + 1];
    gram_points *points = test_points(context, COUNT, 2, x);
    gram_kernel *rbf = test_kernel(context, "rbf"), *resolved, *kernel;
    gram_parameter ell, c;
    OK(context, gram_kernel_resolve(context, rbf, points, &resolved));
    OK(context, gram_kernel_parameter_get(context, resolved, 0, &ell));
    const double want[3] = {1, ell.value, ell.value / sqrt(log(20))};
    for (int p = GRAM_STEIN_METRIC_ID; p <= GRAM_STEIN_METRIC_SCLMED; p++) {
        OK(context, gram_stein_kernel(context, points, (gram_stein_metric)p, 20, &kernel));
        OK(context, gram_kernel_parameter_get(context, kernel, 0, &c));
        assert_true(fabs(c.value - want[p]) <= 1e-15 * want[p]);
        gram_kernel_release(kernel);
    }
    /* smpcov: the kernel does not change when the points are mapped linearly */
    double *y = test_numbers(COUNT * 2), *a = test_numbers(COUNT * COUNT), *b = test_numbers(COUNT * COUNT);
    for (int i = 0; i < COUNT; i++) {
        y[2 * i] = 3 * x[2 * i] - x[2 * i + 1];
        y[2 * i + 1] = 0.1 * x[2 * i] + 2 * x[2 * i + 1];
    }
    gram_points *mapped = test_points(context, COUNT, 2, y);
    OK(context, gram_stein_kernel(context, points, GRAM_STEIN_METRIC_SMPCOV, 20, &kernel));
    OK(context, gram_matrix(context, kernel, points, NULL, a, COUNT));
    gram_kernel_release(kernel);
    OK(context, gram_stein_kernel(context, mapped, GRAM_STEIN_METRIC_SMPCOV, 20, &kernel));
    OK(context, gram_matrix(context, kernel, mapped, NULL, b, COUNT));
    assert_true(test_distance(COUNT, COUNT, a, COUNT, b, COUNT) <= 1e-12);
    gram_kernel_release(kernel);
    for (int i = 0; i < COUNT; i++) y[2 * i] = y[2 * i + 1];
    gram_points_release(mapped);
    mapped = test_points(context, COUNT, 2, y);
    REFUSED(context, gram_stein_kernel(context, mapped, GRAM_STEIN_METRIC_SMPCOV, 20, &kernel), GRAM_ERROR_NUMERICAL,
            "singular");
    gram_points_release(mapped);
    gram_points_release(points);
    gram_kernel_release(rbf);
    gram_kernel_release(resolved);
    gram_context_destroy(context);
    free(x);
    free(y);
    free(a);
    free(b);
}

/* ---- what is refused ---- */

static void refusals(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double x[N * D], s[N * D];
    test_uniform(11, N * D, 0, 1, x);
    test_uniform(12, N * D, 0, 1, s);
    gram_points *points = test_points(context, N, D, x), *single = test_points(context, 1, D, x);
    gram_kernel *imq = test_kernel(context, "imq(c=1)"), *rough = test_kernel(context, "laplace(ell=1)");
    gram_operator *op;
    gram_discrepancy out;
    gram_stein_test_options options;
    gram_stein_test_result result = {.size = sizeof result};
    const double weights[N] = {1, 1, -3};
    assert_int_equal(gram_operator_create_stein(context, imq, points, NULL, D, &op), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_operator_create_stein(context, NULL, points, s, D, &op), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_operator_create_stein(context, imq, NULL, s, D, &op), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_operator_create_stein(context, imq, points, s, D - 1, &op), GRAM_ERROR_ARGUMENT);
    REFUSED(context, gram_operator_create_stein(context, rough, points, s, D, &op), GRAM_ERROR_UNSUPPORTED, "laplace");
    s[2 * D + 1] = NAN;
    REFUSED(context, gram_stein_discrepancy(context, imq, points, s, D, NULL, &out), GRAM_ERROR_DATA,
            "scores[2][1] is nan");
    s[2 * D + 1] = 0;
    REFUSED(context, gram_stein_discrepancy(context, imq, points, s, D, weights, &out), GRAM_ERROR_DATA,
            "sum of the weights is -1");
    OK(context, gram_stein_discrepancy(context, imq, single, s, D, NULL, &out));
    assert_true(isnan(out.u_statistic) && out.v_statistic > 0);
    assert_int_equal(gram_stein_test(context, imq, single, s, D, NULL, &result), GRAM_ERROR_ARGUMENT);
    gram_stein_test_options_init(&options, sizeof options);
    options.level = 1;
    assert_int_equal(gram_stein_test(context, imq, points, s, D, &options, &result), GRAM_ERROR_ARGUMENT);
    options.level = 0.05;
    options.flip = -0.1;
    assert_int_equal(gram_stein_test(context, imq, points, s, D, &options, &result), GRAM_ERROR_ARGUMENT);
    options.flip = 0.5;
    options.draws = 0;
    assert_int_equal(gram_stein_test(context, imq, points, s, D, &options, &result), GRAM_ERROR_ARGUMENT);
    gram_kernel_release(imq);
    gram_kernel_release(rough);
    gram_points_release(points);
    gram_points_release(single);
    gram_context_destroy(context);
}

/* The score of a standard normal; user counts how often the kernel was let go. */
static void normal_score(void *user, int64_t d, const double *x, double *score)
{
    (void)user;
    for (int64_t l = 0; l < d; l++) score[l] = -x[l];
}

static void count_release(void *user)
{
    ++*(int *)user;
}

/* The kernel of a score function gives the operator's matrix, and composes like others. */
static void kernel_like_others(void **state)
{
    (void)state;
    enum { MANY = 130 };
    static const char *const bases[] = {"imq(c=1.3, beta=0.5)", "rbf(ell=[0.8,1.2,2])", "rbf(ell=1) + poly(m=2, c=1)"};
    static double by_operator[MANY * MANY], by_kernel[MANY * MANY], scores[MANY * D];
    double *x = test_random(77, MANY * D, -1.5, 1.5);
    for (int i = 0; i < MANY * D; i++) scores[i] = -x[i];
    for (int k = 0; k < 3; k++) {
        int released = 0;
        gram_context *context = test_context(2, GRAM_ISA_AUTO);
        gram_kernel *base = test_kernel(context, bases[k]), *stein = NULL, *twice = NULL;
        gram_points *points = test_points(context, MANY, D, x);
        gram_operator *op = NULL;
        OK(context, gram_operator_create_stein(context, base, points, scores, D, &op));
        OK(context, gram_operator_matrix(context, op, by_operator, MANY));
        OK(context, gram_kernel_stein(context, "normal", base, normal_score, &released, count_release, &stein));
        OK(context, gram_matrix(context, stein, points, NULL, by_kernel, MANY));
        assert_true(test_distance(MANY, MANY, by_kernel, MANY, by_operator, MANY) < 1e-11);
        OK(context, gram_kernel_sum(context, stein, stein, &twice));
        OK(context, gram_matrix(context, twice, points, NULL, by_kernel, MANY));
        for (int i = 0; i < MANY * MANY; i++) by_operator[i] *= 2;
        assert_true(test_distance(MANY, MANY, by_kernel, MANY, by_operator, MANY) < 1e-11);
        gram_kernel_release(twice);
        gram_kernel_release(stein);
        assert_int_equal(released, 1);
        gram_operator_release(op);
        gram_points_release(points);
        gram_kernel_release(base);
        gram_context_destroy(context);
    }
    free(x);
}

static void kernel_of_rough_base(void **state)
{
    (void)state;
    int released = 0;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_kernel *base = test_kernel(context, "laplace(ell=1)"), *stein = NULL;
    assert_int_equal(gram_kernel_stein(context, "rough", base, normal_score, &released, count_release, &stein),
                     GRAM_ERROR_UNSUPPORTED);
    assert_int_equal(gram_kernel_stein(context, "none", base, NULL, &released, count_release, &stein),
                     GRAM_ERROR_ARGUMENT);
    assert_true(released == 2 && !stein);
    gram_kernel_release(base);
    gram_context_destroy(context);
}

/* Columns 1, 3 (mean 2, deviation 1), 0, 4 (2, 2) and 7, 7; one number of each row is not part of the points. */
static void standardised(void **state)
{
    (void)state;
    double x[] = {1, 0, 7, -9, 3, 4, 7, -9}, scores[] = {1, 1, 1, 1, 1, 1};
    const double wanted[] = {-1, -1, 0, -9, 1, 1, 0, -9}, scaled[] = {1, 2, 1, 1, 2, 1};
    gram_stein_standardise(2, 3, x, 4, scores, 3);
    assert_memory_equal(x, wanted, sizeof x);
    assert_memory_equal(scores, scaled, sizeof scores);
    double huge[] = {1.5e308, -1.5e308};
    gram_stein_standardise(2, 1, huge, 1, NULL, 0);
    assert_true(huge[0] == 1 && huge[1] == -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_smooth_kernel),
        cmocka_unit_test(both_ways_agree),
        cmocka_unit_test(diagonal_and_eigenvalues),
        cmocka_unit_test(statistics_by_loops),
        cmocka_unit_test(test_is_reproducible),
        cmocka_unit_test(many_kernels),
        cmocka_unit_test(finds_flip),
        cmocka_unit_test(preconditioners),
        cmocka_unit_test(refusals),
        cmocka_unit_test(standardised),
        cmocka_unit_test(kernel_like_others),
        cmocka_unit_test(kernel_of_rough_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
