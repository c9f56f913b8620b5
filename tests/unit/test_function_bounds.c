/* The risk bounds: numbers worked out by hand, limits, and whether they hold. */
#include <math.h>

#include "support.h"

static void near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-14 * fabs(wanted))) FAIL_TEST("%.17g instead of %.17g", value, wanted);
}

static void by_hand(void **state)
{
    (void)state;
    near(gram_bound_rademacher(3, 16, 8), 1.5);
    /* B = 2, R = 3, Y = 1, n = 100, delta = e^-2: (36 + 12)/10 + 49 sqrt(2/200) */
    near(gram_bound_squared_risk(2, 3, 1, exp(-2), 100), 4.8 + 4.9);
    /* 2*3*2/10 + sqrt(2/200) */
    near(gram_bound_classification_risk(2, 3, exp(-2), 100), 1.2 + 0.1);
    near(gram_bound_stability(2, 3, 5, 3), 300);
    near(gram_bound_stability_hinge(2, 3, 8), 6);
    /* lambda B^2 + 2 R^2/(lambda n), the bound by stability, at lambda = (R/B) sqrt(2/n) */
    const double lambda = 1.5 * sqrt(2.0 / 50);
    near(gram_bound_stability_hinge(2, 3, 50), 4 * lambda + 18 / (50 * lambda));
}

/* The least i >= 1 with norm <= 2^i */
static void fitted(void **state)
{
    (void)state;
    const struct {
        double norm;
        int i;
    } cases[] = {{0, 1},     {1e-300, 1}, {2, 1},    {2.0000000000000004, 2}, {4, 2}, {4.0001, 3},
                 {1023, 10}, {1024, 10},  {1025, 11}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const int i = cases[c].i;
        const double ball = ldexp(1, i), delta = 0.05 / (i * (i + 1.0));
        near(gram_bound_squared_risk_fitted(cases[c].norm, 1.5, 2, 0.05, 50),
             gram_bound_squared_risk(ball, 1.5, 2, delta, 50));
        near(gram_bound_classification_risk_fitted(cases[c].norm, 1.5, 0.05, 50),
             gram_bound_classification_risk(ball, 1.5, delta, 50));
    }
}

/* The least over all balls of a family, each with its own share of delta, one after the other. */
static void best(void **state)
{
    (void)state;
    const double norms[] = {0, 1e-9, 0.01, 0.3, 0.5, 0.6, 1, 5, 40}, mosts[] = {0.5, 1, 7, 300};
    for (size_t a = 0; a < sizeof norms / sizeof *norms; a++)
        for (size_t m = 0; m < sizeof mosts / sizeof *mosts; m++) {
            double squared = INFINITY, share = INFINITY, total = 0, at = NAN, ball, other;
            for (int j = 1; j <= 1000; j++) {
                const double b = mosts[m] * pow(2, 1 - j), delta = 0.05 / (j * (j + 1.0));
                total += delta;
                if (b < norms[a]) continue;
                if (gram_bound_squared_risk(b, 1.5, 2, delta, 50) < squared) at = b;
                squared = fmin(squared, gram_bound_squared_risk(b, 1.5, 2, delta, 50));
                share = fmin(share, gram_bound_classification_risk(b, 1.5, delta, 50));
            }
            assert_true(total <= 0.05);
            const double value = gram_bound_squared_risk_best(norms[a], mosts[m], 1.5, 2, 0.05, 50, &ball);
            const double rate = gram_bound_classification_risk_best(norms[a], mosts[m], 1.5, 0.05, 50, &other);
            if (norms[a] > mosts[m]) {
                assert_true(isnan(value) && isnan(rate) && isnan(ball) && isnan(other));
                continue;
            }
            near(value, squared);
            near(rate, share);
            near(ball, at);
            assert_true(other >= norms[a] && other <= mosts[m]);
        }
    /* half of delta for the ball that was known beforehand, if it is the best */
    near(gram_bound_squared_risk_best(1, 1, 1, 1, 0.05, 400, NULL), gram_bound_squared_risk(1, 1, 1, 0.025, 400));
    /* without such a ball: as fitted */
    double ball;
    near(gram_bound_squared_risk_best(3, INFINITY, 1, 1, 0.05, 400, &ball),
         gram_bound_squared_risk_fitted(3, 1, 1, 0.05, 400));
    near(ball, 4);
    near(gram_bound_classification_risk_best(3, INFINITY, 1, 0.05, 400, &ball),
         gram_bound_classification_risk_fitted(3, 1, 0.05, 400));
}

static void out_of_range(void **state)
{
    (void)state;
    assert_true(isnan(gram_bound_rademacher(-1, 1, 1)));
    assert_true(isnan(gram_bound_rademacher(1, NAN, 1)));
    assert_true(isnan(gram_bound_rademacher(1, 1, 0)));
    assert_true(isnan(gram_bound_squared_risk(1, 1, 1, 0, 10)));
    assert_true(isnan(gram_bound_squared_risk(1, 1, 1, 1, 10)));
    assert_true(isnan(gram_bound_squared_risk(1, 1, -1, 0.1, 10)));
    assert_true(isnan(gram_bound_squared_risk(1, 1, 1, 0.1, -3)));
    assert_true(isnan(gram_bound_squared_risk_fitted(INFINITY, 1, 1, 0.1, 10)));
    assert_true(isnan(gram_bound_squared_risk_fitted(1, 1, 1, 1.5, 10)));
    assert_true(isnan(gram_bound_squared_risk_fitted(NAN, 1, 1, 0.1, 10)));
    assert_true(isnan(gram_bound_classification_risk(1, -1, 0.1, 10)));
    assert_true(isnan(gram_bound_classification_risk_fitted(1, 1, 2, 10)));
    assert_true(isnan(gram_bound_stability(1, 1, 1, 0)));
    assert_true(isnan(gram_bound_stability_hinge(1, 1, 0)));
    assert_true(isnan(gram_bound_stability_hinge(NAN, 1, 1)));
    assert_true(isnan(gram_bound_squared_risk_best(1, NAN, 1, 1, 0.1, 10, NULL)));
    assert_true(isnan(gram_bound_squared_risk_best(1, 2, 1, NAN, 0.1, 10, NULL)));
    assert_true(isnan(gram_bound_squared_risk_best(1, 2, 1, 1, 0, 10, NULL)));
    assert_true(isnan(gram_bound_classification_risk_best(-1, 2, 1, 0.1, 10, NULL)));
    assert_true(isnan(gram_bound_classification_risk_best(1, 2, 1, 0.1, 0, NULL)));
}

/* The complexity of a ball, E sup_{|f| <= B} (1/n) sum_i s_i f(x_i) = (B/n) E sqrt(s'Ks), is at most the bound, and at
 * least 1/sqrt(2) of it (Khintchine): by all 2^n sign vectors. */
static void rademacher_holds(void **state)
{
    (void)state;
    enum { N = 10, D = 2 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double data[N * D], k[N * N], trace = 0, mean = 0;
    test_uniform(9, N * D, 0, 1, data);
    gram_points *x = test_points(context, N, D, data);
    gram_kernel *kernel = test_kernel(context, "2*rbf(ell=0.4)");
    OK(context, gram_matrix(context, kernel, x, NULL, k, N));
    for (int i = 0; i < N; i++) trace += k[i * N + i];
    for (int signs = 0; signs < 1 << N; signs++) {
        double form = 0;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) form += (signs >> i & 1) == (signs >> j & 1) ? k[i * N + j] : -k[i * N + j];
        mean += sqrt(form) / (1 << N);
    }
    const double complexity = 3 * mean / N, bound = gram_bound_rademacher(3, trace, N);
    assert_true(complexity <= bound && complexity >= bound / sqrt(2));
    gram_kernel_release(kernel);
    gram_points_release(x);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(fitted), cmocka_unit_test(best),
                                       cmocka_unit_test(out_of_range), cmocka_unit_test(rademacher_holds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
