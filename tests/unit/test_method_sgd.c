/* Stochastic gradient descent: step by step the twin in coordinates, in the end the exact minimiser, within its own bound. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 150, D = 3 };

static double x[N * D], y[N], labels[N];

static void make_data(void)
{
    double noise[N];
    test_uniform(3, N * D, -1, 1, x);
    test_uniform(4, N, -0.2, 0.2, noise);
    for (int i = 0; i < N; i++) {
        y[i] = sin(3 * x[i * D]) + x[i * D + 1] * x[i * D + 2] + noise[i];
        labels[i] = y[i] + noise[i] > 0.1;
    }
}

typedef struct option {
    const char *name, *value;
} option;

static gram_model *learn(gram_context *context, int classes, const option *options)
{
    gram_learner *learner = NULL;
    gram_model *model = NULL;
    gram_arrays arrays;
    gram_arrays_init(&arrays, sizeof arrays);
    arrays.n = N;
    arrays.d = arrays.ldx = D;
    arrays.targets = arrays.ldy = 1;
    arrays.x = x;
    arrays.y = classes ? labels : y;
    OK(context, gram_learner_create(context, &learner));
    OK(context, gram_learner_set(context, learner, "method", "sgd"));
    OK(context, gram_learner_set(context, learner, "scale", "no"));
    OK(context, gram_learner_set(context, learner, "task", classes ? "classification" : "regression"));
    for (; options->name; options++) OK(context, gram_learner_set(context, learner, options->name, options->value));
    OK(context, gram_learn_arrays(context, learner, &arrays, &model));
    gram_learner_destroy(learner);
    return model;
}

static void values_of(gram_context *context, const gram_model *model, double *f)
{
    gram_points *points = test_points(context, N, D, x);
    OK(context, gram_function_evaluate(context, gram_model_function(model), points, f, 1));
    gram_points_release(points);
}

/* ---- the twin in coordinates ---- */

static double slope(const char *loss, double target, double f)
{
    const double r = target - f, s = target > 0 ? 1 : -1;
    if (strcmp(loss, "squared") == 0) return -2 * r;
    if (strcmp(loss, "absolute") == 0) return r > 0 ? -1 : 1;
    if (strcmp(loss, "huber") == 0) return fabs(r) <= 0.3 ? -2 * r : r > 0 ? -0.6 : 0.6;
    if (strcmp(loss, "quantile") == 0) return r > 0 ? -0.8 : 0.2;
    if (strcmp(loss, "insensitive") == 0) return fabs(r) <= 0.1 ? 0 : r > 0 ? -1 : 1;
    if (strcmp(loss, "poisson") == 0) return exp(f) - target;
    if (strcmp(loss, "hinge") == 0) return s * f < 1 ? -s : 0;
    return -s / (1 + exp(s * f));
}

/* w in R^d, in the order of the file; the mean of all iterates, or the last. */
static void primal(const char *loss, const double *target, double lambda, const char *rule, double size, int64_t steps,
                   int mean, double *f)
{
    double w[D] = {0}, sum[D] = {0};
    for (int64_t t = 1; t <= steps; t++) {
        const int64_t i = (t - 1) % N;
        const double a = strcmp(rule, "constant") == 0 ? size
                         : strcmp(rule, "root") == 0   ? size / sqrt((double)t)
                                                       : 1 / (2 * lambda * (double)t);
        double value = 0;
        for (int l = 0; l < D; l++) value += w[l] * x[i * D + l];
        const double g = slope(loss, target[i], value);
        for (int l = 0; l < D; l++) {
            w[l] = (1 - 2 * a * lambda) * w[l] - a * g * x[i * D + l];
            sum[l] += w[l] / (double)steps;
        }
    }
    for (int i = 0; i < N; i++) {
        f[i] = 0;
        for (int l = 0; l < D; l++) f[i] += (mean ? sum : w)[l] * x[i * D + l];
    }
}

static void steps_are_those_of_coordinates(void **state)
{
    gram_context *context = *state;
    static const char *const LOSSES[] = {"squared",     "absolute", "huber", "quantile",
                                         "insensitive", "poisson",  "hinge", "logistic"};
    static const struct {
        const char *lambda, *rule, *average, *passes;
        double l, p;
    } WAYS[] = {{"0", "constant", "none", "1", 0, 1}, /* the plain form */
                {"0.01", "constant", "all", "2.5", 0.01, 2.5},
                {"0.05", "root", "all", "3", 0.05, 3},
                {"0.1", "inverse", "none", "2", 0.1, 2}};
    double positive[N], f[N], wanted[N];
    make_data();
    for (int i = 0; i < N; i++) positive[i] = floor(fabs(4 * y[i]));
    for (int k = 0; k < 8; k++)
        for (int w = 0; w < 4; w++) {
            const int classes = k >= 6, poisson = strcmp(LOSSES[k], "poisson") == 0;
            double kept[N];
            if (poisson && w == 3) continue; /* steps of 1/(2 lambda) make exp overflow */
            memcpy(kept, y, sizeof y);
            if (poisson) memcpy(y, positive, sizeof y);
            const option options[] = {{"kernel", "linear"},
                                      {"loss", LOSSES[k]},
                                      {"lambda", WAYS[w].lambda},
                                      {"step", WAYS[w].rule},
                                      {"average", WAYS[w].average},
                                      {"passes", WAYS[w].passes},
                                      {"order", "file"},
                                      {"intercept", "no"},
                                      {"delta", "0.3"},
                                      {"level", "0.8"},
                                      {w == 3 ? NULL : "step-size", "0.05"},
                                      {NULL, NULL}};
            gram_model *model = learn(context, classes, options);
            values_of(context, model, f);
            primal(LOSSES[k], classes ? labels : y, WAYS[w].l, WAYS[w].rule, 0.05, (int64_t)(WAYS[w].p * N),
                   strcmp(WAYS[w].average, "all") == 0, wanted);
            test_near(LOSSES[k], WAYS[w].rule, N, f, wanted, 1e-10);
            memcpy(y, kept, sizeof y);
            gram_model_destroy(model);
        }
}

/* Features of as many landmarks as rows: the same function, step by step. */
static void features_take_the_same_steps(void **state)
{
    gram_context *context = *state;
    double f[N], g[N];
    make_data();
    option options[] = {{"kernel", "rbf(ell=0.5)"}, {"loss", "absolute"}, {"lambda", "0.01"}, {"passes", "3"},
                        {"solver", "kernel"},       {NULL, NULL}};
    gram_model *one = learn(context, 0, options);
    options[4].value = "nystrom:150";
    gram_model *other = learn(context, 0, options);
    values_of(context, one, f);
    values_of(context, other, g);
    test_near("value", "features", N, g, f, 1e-6);
    gram_model_destroy(one);
    gram_model_destroy(other);
}

/* ---- the minimiser ---- */

static double number(const gram_model *model, const char *name)
{
    const gram_fact fact = gram_model_find(model, name);
    assert_non_null(fact.name);
    return fact.kind == GRAM_FACT_INTEGER ? (double)fact.integer : fact.number;
}

/* The least objective by the interior-point method, which has a certificate of its own. */
static double least(gram_context *context, gram_loss_kind kind, double lambda)
{
    const double tau = 0.8;
    gram_loss_options options;
    gram_loss *fit = NULL;
    gram_loss_options_init(&options, sizeof options);
    options.kind = kind;
    options.lambda = lambda;
    options.intercept = 0;
    options.delta = 0.3;
    options.quantiles = &tau;
    options.quantile_count = kind == GRAM_LOSS_QUANTILE;
    gram_points *points = test_points(context, N, D, x);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.5)");
    OK(context, gram_loss_fit(context, kernel, points, y, &options, &fit));
    const double value = gram_loss_get_report(fit)->objective;
    gram_loss_destroy(fit);
    gram_points_release(points);
    gram_kernel_release(kernel);
    return value;
}

static void minimisers_are_reached(void **state)
{
    gram_context *context = *state;
    static const struct {
        const char *loss, *step;
        gram_loss_kind kind;
        double near; /* of the objective */
    } CASES[] = {{"squared", "constant", GRAM_LOSS_SQUARED, 0.02},
                 {"huber", "constant", GRAM_LOSS_HUBER, 0.02},
                 {"absolute", "inverse", GRAM_LOSS_ABSOLUTE, 0.02},
                 {"quantile", "inverse", GRAM_LOSS_QUANTILE, 0.02},
                 {"insensitive", "root", GRAM_LOSS_INSENSITIVE, 0.05}};
    make_data();
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        const option options[] = {{"kernel", "rbf(ell=0.5)"}, {"loss", CASES[k].loss}, {"lambda", "0.01"},
                                  {"passes", "150"},          {"step", CASES[k].step}, {"intercept", "no"},
                                  {"delta", "0.3"},           {"level", "0.8"},        {NULL, NULL}};
        gram_model *model = learn(context, 0, options);
        const double exact = least(context, CASES[k].kind, 0.01), found = number(model, "objective"),
                     bound = number(model, "gap_bound");
        if (!(found >= exact * (1 - 1e-6) && found <= exact * (1 + CASES[k].near)))
            FAIL_TEST("%s: objective %.10g, the least is %.10g", CASES[k].loss, found, exact);
        if (!(found - exact <= bound)) FAIL_TEST("%s: %g above, bound %g", CASES[k].loss, found - exact, bound);
        gram_model_destroy(model);
    }
}

/* ---- the budget ---- */

static void budgets_are_kept(void **state)
{
    gram_context *context = *state;
    double objectives[3], f[N], g[N];
    make_data();
    option options[] = {{"kernel", "rbf(ell=0.7)"}, {"loss", "squared"},        {"lambda", "0.001"}, {"passes", "40"},
                        {"budget", "30"},           {"budget-rule", "project"}, {NULL, NULL}};
    for (int k = 0; k < 3; k++) {
        options[4].value = k == 2 ? "150" : "30";
        options[5].value = k == 1 ? "remove" : "project";
        gram_model *model = learn(context, 0, options);
        assert_true(number(model, "n_support") <= (k == 2 ? 150 : 30));
        assert_true(gram_points_count(gram_function_centres(gram_model_function(model))) <= (k == 2 ? 150 : 30));
        objectives[k] = number(model, "objective");
        if (k == 2) values_of(context, model, f);
        gram_model_destroy(model);
    }
    /* projecting loses less than removing, and both are no better than all terms */
    assert_true(objectives[2] < objectives[0] && objectives[0] < objectives[1]);
    assert_true(objectives[0] < 1.5 * objectives[2]);
    options[4].name = NULL; /* without a budget, as with one that does not bind */
    gram_model *model = learn(context, 0, options);
    values_of(context, model, g);
    assert_true(test_same_bits(N, 1, f, 1, g, 1));
    gram_model_destroy(model);
}

static void fill(gram_context *context, double *out)
{
    const option options[] = {{"kernel", "rbf(ell=0.5)"}, {"passes", "4"}, {"budget", "40"}, {NULL, NULL}};
    gram_model *model = learn(context, 1, options);
    values_of(context, model, out);
    gram_model_destroy(model);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    make_data();
    test_any_threads(N, fill);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(steps_are_those_of_coordinates, test_open, test_close),
        cmocka_unit_test_setup_teardown(features_take_the_same_steps, test_open, test_close),
        cmocka_unit_test_setup_teardown(minimisers_are_reached, test_open, test_close),
        cmocka_unit_test_setup_teardown(budgets_are_kept, test_open, test_close),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
