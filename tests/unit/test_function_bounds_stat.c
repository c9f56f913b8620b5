/* The risk bounds over many data sets of known distributions: as often as they promise, for all balls at once, and in
 * expectation; and not by so much that a wrong factor would go unseen. */
#include <math.h>
#include <stdlib.h>

#include <gram/gram.h>

#include "support.h"

enum { SETS = 2000, BALLS = 8 };

static const double DELTA = 0.05;

/* 1 or -1 */
static void draw_signs(uint64_t seed, int64_t n, double *out)
{
    test_uniform(seed, n, -1, 1, out);
    for (int64_t i = 0; i < n; i++) out[i] = out[i] < 0 ? -1 : 1;
}

static double share_of(int ball)
{
    return DELTA / ((ball + 1.0) * (ball + 2.0));
}

/* x and y are signs, f(x) = w x, |w| <= B: the squared risk is 1 + w^2, and what it is above that on the sample at most 2 B |mean of
 * x y|, exactly. Any ball may be looked at after the data were seen. */
static void squared_over_all_balls(void **state)
{
    (void)state;
    enum { N = 100 };
    double x[N], y[N];
    int broken = 0, broken_by_half = 0;
    for (uint64_t set = 0; set < SETS; set++) {
        double mean = 0;
        int above = 0, above_half = 0;
        draw_signs(2 * set, N, x);
        draw_signs(2 * set + 1, N, y);
        for (int i = 0; i < N; i++) mean += x[i] * y[i] / N;
        for (int j = 0; j < BALLS; j++) {
            const double ball = ldexp(2, -j), excess = 2 * ball * fabs(mean);
            const double bound = gram_bound_squared_risk(ball, 1, 1, share_of(j), N);
            above |= excess > bound;
            above_half |= excess > 0.45 * bound;
        }
        broken += above;
        broken_by_half += above_half;
    }
    print_message("squared: %d of %d, %d with 45 %% of the bound\n", broken, SETS, broken_by_half);
    assert_true(broken <= DELTA * SETS);
    assert_true(broken_by_half > 0);
}

/* As many features as rows, of one coordinate each, and labels of nothing: the function w_i = y_i t, t = B/sqrt(n), has the ramp
 * loss 1 - t on the sample and 1 on a new row, whose feature was not seen. */
static void ramp_of_memory(void **state)
{
    (void)state;
    enum { N = 100 };
    for (int j = 0; j < BALLS; j++) {
        const double ball = ldexp(8, -j), on_sample = 1 - ball / sqrt(N), on_new = 1;
        const double bound = gram_bound_classification_risk(ball, 1, share_of(j), N);
        assert_true(on_new <= on_sample + bound);
        if (j == 0) assert_true(on_new > on_sample + 0.4 * bound); /* the factor 2 R B/sqrt(n) is needed */
    }
}

/* Shares of errors: the label of a sign is wrong with probability 1/2, and a machine of one feature reads it off the sample. */
static void shares_of_errors(void **state)
{
    (void)state;
    enum { N = 40 };
    double z[N];
    int broken = 0, broken_without = 0;
    for (uint64_t set = 0; set < SETS; set++) {
        double mean = 0;
        draw_signs(set + 1000000, N, z); /* y x */
        for (int i = 0; i < N; i++) mean += z[i] / N;
        const double ramp = 0.5 - 0.5 * fabs(mean); /* 1 - the share that agrees, with w = 1 or -1 */
        broken += 0.5 > ramp + gram_bound_classification_risk(1, 1, share_of(0), N);
        broken_without += 0.5 > ramp + 0.2 * gram_bound_classification_risk(1, 1, share_of(0), N);
    }
    print_message("errors: %d of %d, %d with 20 %% of the bound\n", broken, SETS, broken_without);
    assert_true(broken <= DELTA * SETS);
    assert_true(broken_without > 0);
}

/* ---- fits ---- */

typedef struct law {
    double (*truth)(double x);
    double noise; /* uniform in [-noise, noise] */
} law;

static double wave(double x)
{
    return 0.5 * sin(5 * x);
}

static double fact(const gram_model *model, const char *name)
{
    const gram_fact f = gram_model_find(model, name);
    return !f.name ? NAN : f.kind == GRAM_FACT_INTEGER ? (double)f.integer : f.number;
}

static gram_model *learn(gram_context *context, int64_t n, const double *x, const double *y, const char *method,
                         const char *kernel, const char *strength, const char *value)
{
    gram_learner *learner = NULL;
    gram_model *model = NULL;
    gram_arrays arrays;
    gram_arrays_init(&arrays, sizeof arrays);
    arrays.n = n;
    arrays.d = arrays.ldx = arrays.targets = arrays.ldy = 1;
    arrays.x = x;
    arrays.y = y;
    OK(context, gram_learner_create(context, &learner));
    OK(context, gram_learner_set(context, learner, "method", method));
    OK(context, gram_learner_set(context, learner, "kernel", kernel));
    OK(context, gram_learner_set(context, learner, strength, value));
    OK(context, gram_learner_set(context, learner, "scale", "no"));
    if (method[0] != 's') OK(context, gram_learner_set(context, learner, "intercept", "no"));
    OK(context, gram_learn_arrays(context, learner, &arrays, &model));
    gram_learner_destroy(learner);
    return model;
}

/* f of the model in the middle of GRID equal parts of [0, 1] */
enum { GRID = 400 };

static void values_on_grid(gram_context *context, const gram_model *model, double *x, double *f)
{
    for (int i = 0; i < GRID; i++) x[i] = (i + 0.5) / GRID;
    gram_points *points = test_points(context, GRID, 1, x);
    OK(context, gram_function_evaluate(context, gram_model_function(model), points, f, 1));
    gram_points_release(points);
}

/* Kernel ridge regression: the true risk, by the known law, is below its bound; and so it is on average below the least risk of a
 * ball and what stability allows. */
static void of_krr_fits(void **state)
{
    (void)state;
    enum { N = 300, FITS = 60 };
    const law l = {wave, 0.3};
    double x[N], noise[N], y[N], grid[GRID], f[GRID];
    int broken = 0;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (uint64_t set = 0; set < FITS; set++) {
        double risk = 0;
        test_uniform(3 * set + 11, N, 0, 1, x);
        test_uniform(3 * set + 12, N, -l.noise, l.noise, noise);
        for (int i = 0; i < N; i++) y[i] = l.truth(x[i]) + noise[i];
        y[0] = 0.8; /* the largest |y| that there is */
        gram_model *model = learn(context, N, x, y, "krr", "rbf(ell=0.3)", "lambda", "0.3");
        values_on_grid(context, model, grid, f);
        for (int i = 0; i < GRID; i++) risk += (pow(f[i] - l.truth(grid[i]), 2) + l.noise * l.noise / 3) / GRID;
        const double bound = fact(model, "risk_bound");
        if (isnan(bound)) FAIL_TEST("no bound in set %d", (int)set);
        broken += risk > bound;
        gram_model_destroy(model);
    }
    assert_int_equal(broken, 0);
    gram_context_destroy(context);
}

/* Labels whose probability is known: P(y = second) = 1 for x > 0.5, with a share of 0.1 turned round. */
static void of_classifiers(void **state)
{
    (void)state;
    enum { N = 500, FITS = 30 };
    static const char *const WAYS[][3] = {{"logistic", "lambda", "0.01"}, {"svm", "C", "0.005"}};
    double x[N], turn[N], y[N], grid[GRID], f[GRID];
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int way = 0; way < 2; way++) {
        int broken = 0;
        double least = INFINITY;
        for (uint64_t set = 0; set < FITS; set++) {
            double risk = 0;
            test_uniform(2 * set + 501, N, 0, 1, x);
            test_uniform(2 * set + 502, N, 0, 1, turn);
            for (int i = 0; i < N; i++) y[i] = (x[i] > 0.5) != (turn[i] < 0.1);
            gram_model *model = learn(context, N, x, y, WAYS[way][0], "rbf(ell=0.4)", WAYS[way][1], WAYS[way][2]);
            values_on_grid(context, model, grid, f);
            for (int i = 0; i < GRID; i++)
                risk += ((way ? -f[i] : f[i]) > 0) == (grid[i] > 0.5) ? 0.1 / GRID : 0.9 / GRID;
            const double bound = fact(model, "risk_bound");
            if (isnan(bound)) FAIL_TEST("%s: no bound in set %d", WAYS[way][0], (int)set);
            broken += risk > bound;
            least = fmin(least, bound);
            gram_model_destroy(model);
        }
        print_message("%s: the least bound is %.3f\n", WAYS[way][0], least);
        assert_int_equal(broken, 0);
    }
    gram_context_destroy(context);
}

/* Stability, in expectation: x and y signs that agree with probability 0.8, f(x) = w x, R = Y = 1. The least risk of |w| <= B is
 * 1 - 1.2 w + w^2 at w = min(B, 0.6), and KRR has w = mean(x y)/(1 + lambda). */
static void stability_of_krr(void **state)
{
    (void)state;
    enum { N = 200 };
    const double balls[] = {0.05, 0.1, 0.3};
    for (int k = 0; k < 3; k++) {
        const double ball = balls[k], lambda = sqrt(100.0 / (3 * N)) / ball;
        const double w0 = fmin(ball, 0.6), least = 1 - 1.2 * w0 + w0 * w0;
        double z[N], risk = 0;
        assert_true(N * lambda >= 4);
        for (uint64_t set = 0; set < SETS; set++) {
            double mean = 0;
            test_uniform(set + 77, N, 0, 1, z);
            for (int i = 0; i < N; i++) mean += (z[i] < 0.8 ? 1.0 : -1.0) / N;
            const double w = mean / (1 + lambda);
            risk += (1 - 1.2 * w + w * w) / SETS;
        }
        assert_true(risk <= least + gram_bound_stability(ball, 1, 1, N));
        if (k == 2) assert_true(risk > least); /* something is needed */
    }
}

/* The machine of one feature: hinge of w on the sample is convex and linear between -1 and 1, so w is at an end or a kink. */
static void stability_of_machine(void **state)
{
    (void)state;
    enum { N = 200 };
    const double balls[] = {0.2, 1, 3};
    for (int k = 0; k < 3; k++) {
        const double ball = balls[k], lambda = sqrt(2.0 / N) / ball;
        const double w0 = fmin(ball, 1), least = 1 - 0.6 * w0; /* E hinge = 1 - 0.6 w up to w = 1, more after */
        double z[N], errors = 0;
        for (uint64_t set = 0; set < SETS; set++) {
            double mean = 0;
            test_uniform(set + 99, N, 0, 1, z);
            for (int i = 0; i < N; i++) mean += (z[i] < 0.8 ? 1.0 : -1.0) / N;
            /* minimise 1 - mean w + lambda w^2 for |w| <= 1 */
            const double w = fmax(-1, fmin(1, mean / (2 * lambda)));
            errors += (w > 0 ? 0.2 : 0.8) / SETS;
        }
        assert_true(errors <= least + gram_bound_stability_hinge(ball, 1, N));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(squared_over_all_balls), cmocka_unit_test(ramp_of_memory),
                                       cmocka_unit_test(shares_of_errors),       cmocka_unit_test(of_krr_fits),
                                       cmocka_unit_test(of_classifiers),         cmocka_unit_test(stability_of_krr),
                                       cmocka_unit_test(stability_of_machine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
