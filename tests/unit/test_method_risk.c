/* What models keep of their risk: norm, ramp loss and bounds against the fit made by hand, and when nothing may be said. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/gram.h>

#include "support.h"

enum { N = 400, D = 2 };

typedef struct risk_data {
    double x[N * D], y[N], labels[N];
} risk_data;

static void make_data(risk_data *data)
{
    double noise[N];
    test_uniform(5, N * D, -1, 1, data->x);
    test_uniform(6, N, -0.1, 0.1, noise);
    for (int i = 0; i < N; i++) {
        data->y[i] = 0.4 * sin(2 * data->x[D * i]) + noise[i];
        data->labels[i] = data->x[D * i] + 0.3 * data->x[D * i + 1] + noise[i] > 0;
    }
}

/* Options as "name=value", NULL at the end. */
static gram_model *learn(gram_context *context, const risk_data *data, int classes, const char *const *options)
{
    gram_learner *learner = NULL;
    gram_model *model = NULL;
    gram_arrays arrays;
    char name[32];
    gram_arrays_init(&arrays, sizeof arrays);
    arrays.n = N;
    arrays.d = arrays.ldx = D;
    arrays.targets = arrays.ldy = 1;
    arrays.x = data->x;
    arrays.y = classes ? data->labels : data->y;
    OK(context, gram_learner_create(context, &learner));
    for (; *options; options++) {
        const char *equals = strchr(*options, '=');
        memcpy(name, *options, (size_t)(equals - *options));
        name[equals - *options] = '\0';
        OK(context, gram_learner_set(context, learner, name, equals + 1));
    }
    OK(context, gram_learn_arrays(context, learner, &arrays, &model));
    gram_learner_destroy(learner);
    return model;
}

static double fact(const gram_model *model, const char *name)
{
    const gram_fact f = gram_model_find(model, name);
    return !f.name ? NAN : f.kind == GRAM_FACT_INTEGER ? (double)f.integer : f.number;
}

static void near_fact(const gram_model *model, const char *name, double wanted)
{
    const double value = fact(model, name);
    if (!(fabs(value - wanted) <= 1e-9 * fabs(wanted))) FAIL_TEST("%s is %.17g instead of %.17g", name, value, wanted);
}

static double norm_of(gram_context *context, const gram_model *model)
{
    double norm;
    OK(context, gram_function_norm(context, gram_model_function(model), &norm));
    return norm;
}

/* (1/n) sum min(1, max(0, 1 - y f)), f above 0 for the class `up` */
static double ramp_of(gram_context *context, const gram_model *model, const risk_data *data, int up)
{
    double f[N], sum = 0;
    gram_points *points = test_points(context, N, D, data->x);
    OK(context, gram_function_evaluate(context, gram_model_function(model), points, f, 1));
    gram_points_release(points);
    for (int i = 0; i < N; i++) sum += fmin(1, fmax(0, 1 - (data->labels[i] == up ? f[i] : -f[i])));
    return sum / N;
}

/* Squared loss, balls from Y/sqrt(lambda) down; k(x, x) = 2. */
static void of_krr(void **state)
{
    (void)state;
    static const char *const OPTIONS[] = {"method=krr", "kernel=2*rbf(ell=1)", "lambda=0.5", "intercept=no", "scale=no",
                                          NULL};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    risk_data data;
    double most = 0, ball;
    make_data(&data);
    gram_model *model = learn(context, &data, 0, OPTIONS);
    const double norm = norm_of(context, model), mse = pow(fact(model, "train_rmse"), 2);
    for (int i = 0; i < N; i++) most = fmax(most, fabs(data.y[i]));
    const double bound = mse + gram_bound_squared_risk_best(norm, most / sqrt(0.5), sqrt(2), most, 0.05, N, &ball);
    assert_true(bound < most * most); /* else nothing is said */
    near_fact(model, "norm", norm);
    near_fact(model, "risk_bound", bound);
    near_fact(model, "risk_ball", ball);
    near_fact(model, "risk_radius", sqrt(2));
    near_fact(model, "risk_radius_sure", 1);
    near_fact(model, "rademacher", norm * sqrt(2.0 * N) / N);
    /* n lambda = 200 is not 100 R^2 yet */
    assert_true(isnan(fact(model, "stability_bound")));
    gram_model_destroy(model);
    gram_context_destroy(context);
}

/* lambda = (R Y/B) sqrt(100/(3 n)): 100 R^2 Y^2/(n lambda) = R B Y sqrt(300/n) */
static void of_krr_by_stability(void **state)
{
    (void)state;
    static const char *const OPTIONS[] = {"method=krr", "kernel=linear(c=0.1)", "lambda=2", "intercept=no", "scale=no",
                                          NULL};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    risk_data data;
    double most = 0, square = 0;
    make_data(&data);
    gram_model *model = learn(context, &data, 0, OPTIONS);
    for (int i = 0; i < N; i++) {
        const double *x = data.x + D * i;
        most = fmax(most, fabs(data.y[i]));
        square = fmax(square, x[0] * x[0] + x[1] * x[1] + 0.1);
    }
    const double ball = sqrt(square) * most / 2 * sqrt(100.0 / (3 * N));
    near_fact(model, "risk_radius_sure", 0); /* other rows may lie further out */
    near_fact(model, "stability_bound", 100 * square * most * most / (N * 2.0));
    near_fact(model, "stability_bound", gram_bound_stability(ball, sqrt(square), most, N));
    near_fact(model, "stability_ball", ball);
    gram_model_destroy(model);
    gram_context_destroy(context);
}

static void of_logistic(void **state)
{
    (void)state;
    static const char *const OPTIONS[] = {"method=logistic", "kernel=rbf(ell=2)", "lambda=0.02",
                                          "intercept=no",    "scale=no",          NULL};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    risk_data data;
    double ball;
    make_data(&data);
    gram_model *model = learn(context, &data, 1, OPTIONS);
    const double norm = norm_of(context, model), ramp = ramp_of(context, model, &data, 1);
    const double excess = gram_bound_classification_risk_best(norm, sqrt(log(2) / 0.02), 1, 0.05, N, &ball);
    assert_true(ramp + excess < 1);
    near_fact(model, "norm", norm);
    near_fact(model, "ramp_loss", ramp);
    near_fact(model, "risk_bound", ramp + excess);
    near_fact(model, "risk_ball", ball);
    near_fact(model, "stability_bound", gram_bound_stability_hinge(sqrt(2.0 / N) / 0.02, 1, N)); /* 4/(n lambda) */
    near_fact(model, "stability_bound", 0.5);
    near_fact(model, "stability_ball", sqrt(2.0 / N) / 0.02);
    gram_model_destroy(model);
    gram_context_destroy(context);
}

/* The constant counts as a function of the kernel k/R^2 + 1; k(x, x) = 4. */
static void of_machine(void **state)
{
    (void)state;
    static const char *const OPTIONS[] = {"method=svm", "kernel=4*rbf(ell=2)", "C=0.002", "scale=no", NULL};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    risk_data data;
    double ball;
    make_data(&data);
    gram_model *model = learn(context, &data, 1, OPTIONS);
    const double norm = norm_of(context, model), ramp = ramp_of(context, model, &data, 0);
    const double b = gram_function_constant(gram_model_function(model))[0];
    const double excess =
        gram_bound_classification_risk_best(sqrt(4 * norm * norm + b * b), INFINITY, sqrt(2), 0.05, N, &ball);
    assert_true(ramp + excess < 1);
    near_fact(model, "norm", norm);
    near_fact(model, "ramp_loss", ramp);
    near_fact(model, "risk_bound", ramp + excess);
    near_fact(model, "risk_ball", ball);
    near_fact(model, "risk_radius", 2);
    assert_true(isnan(fact(model, "stability_bound"))); /* a constant is not stable */
    gram_model_destroy(model);
    gram_context_destroy(context);
}

/* Does the method have the option? */
static int has_option(const char *method, const char *option)
{
    gram_method_facts facts = {.size = sizeof facts};
    gram_option_facts known = {.size = sizeof known};
    for (int64_t m = 0; m < gram_method_count(); m++) {
        assert_int_equal(gram_method_describe(m, &facts), GRAM_OK);
        for (int64_t o = 0; strcmp(facts.name, method) == 0 && o < facts.options; o++)
            if (gram_method_option(m, o, &known) == GRAM_OK && strcmp(known.name, option) == 0) return 1;
    }
    return 0;
}

/* lambda = 1/(2 n C): balls from sqrt(2 n C) down, and 4 R^2/(n lambda) = 8 C R^2 by stability. */
static void of_machine_without_constant(void **state)
{
    (void)state;
    static const char *const OPTIONS[] = {"method=svm", "kernel=4*rbf(ell=2)", "C=0.005", "intercept=no", "scale=no",
                                          NULL};
    if (!has_option("svm", "intercept")) skip();
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    risk_data data;
    double ball;
    make_data(&data);
    gram_model *model = learn(context, &data, 1, OPTIONS);
    const double norm = norm_of(context, model), ramp = ramp_of(context, model, &data, 0);
    const double excess = gram_bound_classification_risk_best(norm, sqrt(2 * N * 0.005), 2, 0.05, N, &ball);
    assert_true(ramp + excess < 1);
    near_fact(model, "risk_bound", ramp + excess);
    near_fact(model, "risk_ball", ball);
    near_fact(model, "stability_bound", 8 * 0.005 * 4);
    near_fact(model, "stability_ball", 2 * sqrt(2.0 / N) * 2 * N * 0.005);
    gram_model_destroy(model);
    gram_context_destroy(context);
}

/* Norms of machines from their values, against all pairs of support vectors; of several functions the root of the sum. */
static void norms_of_machines(void **state)
{
    (void)state;
    static const char *const OPTIONS[][5] = {{"method=svm", "kernel=2*rbf(ell=0.7)", "C=3", NULL},
                                             {"method=svm", "kernel=rbf(ell=0.7) + 0.3*white", "C=3", NULL},
                                             {"method=svm", "svm=nu", "kernel=rbf(ell=0.7)", "nu=0.2", NULL},
                                             {"method=svm", "kernel=rbf(ell=0.7)", "task=regression", "C=2", NULL}};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    risk_data data;
    make_data(&data);
    for (int i = 0; i < N; i++) data.labels[i] = data.x[D * i] < -0.4 ? 0 : data.x[D * i + 1] < 0 ? 1 : 2;
    for (size_t k = 0; k < sizeof OPTIONS / sizeof *OPTIONS; k++) {
        double norms[3] = {0};
        gram_model *model = learn(context, &data, k < 3, OPTIONS[k]);
        assert_int_equal(gram_function_outputs(gram_model_function(model)), k < 3 ? 3 : 1);
        OK(context, gram_function_norm(context, gram_model_function(model), norms));
        near_fact(model, "norm", sqrt(norms[0] * norms[0] + norms[1] * norms[1] + norms[2] * norms[2]));
        gram_model_destroy(model);
    }
    gram_context_destroy(context);
}

/* What is said of a fit: norm, bound, ramp loss. */
typedef struct sayings {
    int classes;
    const char *options[8];
    int norm, bound, ramp;
} sayings;

static void when(void **state)
{
    (void)state;
    static const sayings CASES[] = {
        {0, {"kernel=rbf(ell=1)", "lambda=0.5", "intercept=no", "scale=no"}, 1, 1, 0},
        /* the constant, columns that are standardised, numbers that were chosen */
        {0, {"kernel=rbf(ell=1)", "lambda=0.5", "scale=no"}, 1, 0, 0},
        {0, {"kernel=rbf(ell=1)", "lambda=0.5", "intercept=no"}, 1, 0, 0},
        {0, {"kernel=rbf", "lambda=0.5", "intercept=no", "scale=no"}, 1, 0, 0},
        {0, {"kernel=rbf", "tune=none", "lambda=0.5", "intercept=no", "scale=no"}, 1, 0, 0},
        {0, {"kernel=rbf(ell=1)", "tune=loo", "lambda=0.5", "intercept=no", "scale=no"}, 1, 0, 0},
        /* a kernel that is held is fixed, whatever chose lambda */
        {1, {"method=logistic", "kernel=rbf(ell=1!)", "tune=cv:3", "lambda=0.05", "scale=no"}, 1, 1, 1},
        {1, {"method=logistic", "kernel=rbf(ell=1)", "tune=cv:3", "lambda=0.05", "scale=no"}, 1, 0, 1},
        {1, {"method=logistic", "kernel=rbf(ell=1)", "lambda=0.05", "scale=no"}, 1, 1, 1},
        {1, {"method=logistic", "kernel=rbf(ell=1)", "lambda=0.05"}, 1, 0, 1},
        {1, {"method=logistic", "kernel=rbf(ell=1)", "lambda=0.05", "scale=no", "class-weight=balanced"}, 1, 0, 1},
        /* it says nothing: more than all rows */
        {1, {"method=logistic", "kernel=rbf(ell=1)", "lambda=1e-6", "scale=no"}, 1, 0, 1},
        {1, {"method=svm", "kernel=rbf(ell=1)", "C=0.005", "scale=no"}, 1, 1, 1},
        {1, {"method=svm", "kernel=rbf(ell=1)", "C=100", "scale=no"}, 1, 0, 1},
        {1, {"method=svm", "kernel=rbf(ell=1)", "C=0.005"}, 1, 0, 1},
        {1, {"method=svm", "kernel=sigmoid(a=0.1, c=0)", "C=0.005", "scale=no"}, 1, 0, 1},
        {0, {"method=svm", "kernel=rbf(ell=1)", "C=1", "scale=no"}, 1, 0, 0},
    };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    risk_data data;
    make_data(&data);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const sayings *c = &CASES[i];
        gram_model *model = learn(context, &data, c->classes, c->options);
        const int norm = !isnan(fact(model, "norm")), bound = !isnan(fact(model, "risk_bound"));
        const int ramp = !isnan(fact(model, "ramp_loss"));
        if (norm != c->norm || bound != c->bound || ramp != c->ramp)
            FAIL_TEST("case %d, %s: norm %g, bound %g, ramp loss %g", (int)i, c->options[0], fact(model, "norm"),
                      fact(model, "risk_bound"), fact(model, "ramp_loss"));
        gram_model_destroy(model);
    }
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_krr),
                                       cmocka_unit_test(of_krr_by_stability),
                                       cmocka_unit_test(of_logistic),
                                       cmocka_unit_test(of_machine),
                                       cmocka_unit_test(of_machine_without_constant),
                                       cmocka_unit_test(norms_of_machines),
                                       cmocka_unit_test(when)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
