/* Draws in the way that suits: each way has the bits of the function that it stands for; moments against those of the posterior;
 * and models that cannot be drawn from. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { N = 40, M = 30, DRAWS = 4 };

static double x[N], y[N], at[M];

static gram_model *learn(gram_context *context, const char *kernel, const char *solver)
{
    gram_learner *learner;
    gram_model *model;
    gram_arrays arrays;
    gram_arrays_init(&arrays, sizeof arrays);
    arrays.n = N;
    arrays.d = arrays.targets = arrays.ldx = arrays.ldy = 1;
    arrays.x = x;
    arrays.y = y;
    OK(context, gram_learner_create(context, &learner));
    OK(context, gram_learner_set(context, learner, "method", "gp"));
    OK(context, gram_learner_set(context, learner, "kernel", kernel));
    OK(context, gram_learner_set(context, learner, "noise", "0.01"));
    OK(context, gram_learner_set(context, learner, "scale", "no"));
    OK(context, gram_learner_set(context, learner, "solver", solver));
    OK(context, gram_learn_arrays(context, learner, &arrays, &model));
    gram_learner_destroy(learner);
    return model;
}

static void fill(void)
{
    test_uniform(1, N, 0, 10, x);
    for (int i = 0; i < N; i++) y[i] = 3 + sin(x[i]);
    for (int i = 0; i < M; i++) at[i] = 0.1 + 0.3 * i;
}

static void draw(gram_context *context, gram_sampler *sampler, const gram_points *points, int observed, double *values,
                 const char *method)
{
    gram_draw_report report = {.size = sizeof report};
    OK(context, gram_sampler_draw(context, sampler, points, DRAWS, observed, values, DRAWS, &report));
    assert_string_equal(report.method, method);
}

static void priors(void **state)
{
    gram_context *context = *state;
    static const char *const kernels[] = {"2*rbf(ell=1)", "matern(nu=1.5, ell=1)"};
    static const gram_solver solvers[] = {GRAM_SOLVER_EXACT, GRAM_SOLVER_MARKOV};
    gram_points *points = test_points(context, M, 1, at);
    double values[M * DRAWS], wanted[M * DRAWS], mean[M], std[M];
    for (int k = 0; k < 2; k++) {
        gram_kernel *kernel = test_kernel(context, kernels[k]);
        gram_sampler *sampler = NULL;
        OK(context, gram_sampler_of_kernel(context, kernel, &sampler));
        draw(context, sampler, points, 0, values, k ? "markov" : "exact");
        OK(context, gram_gp_draw_prior(context, kernel, points, solvers[k], DRAWS, wanted, DRAWS, NULL));
        assert_memory_equal(values, wanted, sizeof values);
        OK(context, gram_sampler_moments(context, sampler, points, mean, std));
        for (int i = 0; i < M; i++) assert_true(mean[i] == 0 && fabs(std[i] - sqrt(k ? 1 : 2)) < 1e-15);
        gram_sampler_destroy(sampler);
        gram_kernel_release(kernel);
    }
    gram_points_release(points);
}

/* More points than a covariance is factored for. */
static void many_points(void **state)
{
    enum { MANY = 5001 };
    gram_context *context = *state;
    double *where = test_random(2, 2 * MANY, 0, 1), *values = test_numbers(MANY * DRAWS);
    double *wanted = test_numbers(MANY * DRAWS);
    gram_points *points = test_points(context, MANY, 2, where);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.3)");
    gram_sampler *sampler = NULL;
    gram_gp_path *path = NULL;
    gram_gp_path_options options;
    OK(context, gram_sampler_of_kernel(context, kernel, &sampler));
    draw(context, sampler, points, 0, values, "path");
    gram_gp_path_options_init(&options, sizeof options);
    options.draws = DRAWS;
    OK(context, gram_gp_path_create(context, kernel, 2, NULL, NULL, &options, &path));
    OK(context, gram_gp_path_evaluate(context, path, points, NULL, 0, wanted, DRAWS));
    assert_memory_equal(values, wanted, MANY * DRAWS * sizeof *values);
    gram_gp_path_destroy(path);
    gram_sampler_destroy(sampler);
    gram_kernel_release(kernel);
    gram_points_release(points);
    free(where);
    free(values);
    free(wanted);
}

/* Draws of f + offset, moments as predictions say them, and noise on top that is the model's. */
static void posteriors(void **state)
{
    gram_context *context = *state;
    static const char *const solvers[] = {"exact", "markov", "cg"}, *const methods[] = {"exact", "markov", "path"};
    gram_points *points = test_points(context, M, 1, at);
    double values[M * DRAWS], observed[M * DRAWS], mean[M], std[M], predicted[2 * M];
    gram_predict_options wish;
    gram_predict_options_init(&wish, sizeof wish);
    wish.std = wish.latent = 1;
    for (int s = 0; s < 3; s++) {
        gram_model *model = learn(context, "matern(nu=1.5, ell=1)", solvers[s]);
        gram_sampler *sampler = NULL;
        double squares = 0;
        OK(context, gram_sampler_of_model(context, model, &sampler));
        draw(context, sampler, points, 0, values, methods[s]);
        draw(context, sampler, points, 1, observed, methods[s]);
        OK(context, gram_sampler_moments(context, sampler, points, mean, std));
        OK(context, gram_predict(context, model, &wish, M, at, 1, predicted, 2));
        for (int i = 0; i < M; i++) {
            assert_true(fabs(mean[i] - predicted[2 * i]) < 1e-9 && fabs(std[i] - predicted[2 * i + 1]) < 1e-6);
            for (int j = 0; j < DRAWS; j++) {
                const double noise = observed[i * DRAWS + j] - values[i * DRAWS + j];
                squares += noise * noise / (M * DRAWS);
                if (!(fabs(values[i * DRAWS + j] - mean[i]) < 6 * std[i] + 0.05))
                    FAIL_TEST("%s: %g far from %g", methods[s], values[i * DRAWS + j], mean[i]);
            }
        }
        assert_true(squares > 0.005 && squares < 0.02); /* 0.01, of 120 draws */
        gram_sampler_destroy(sampler);
        gram_model_destroy(model);
    }
    gram_points_release(points);
}

static void refusals(void **state)
{
    gram_context *context = *state;
    gram_model *model = learn(context, "rbf(ell=1)", "inducing:10");
    gram_sampler *sampler = NULL;
    gram_points *points = test_points(context, M, 1, at);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    double values[M];
    REFUSED(context, gram_sampler_of_model(context, model, &sampler), GRAM_ERROR_UNSUPPORTED, "inducing points");
    assert_null(sampler);
    REFUSED(context, gram_sampler_of_model(context, NULL, &sampler), GRAM_ERROR_ARGUMENT, "NULL");
    OK(context, gram_sampler_of_kernel(context, kernel, &sampler));
    REFUSED(context, gram_sampler_draw(context, sampler, points, 0, 0, values, 1, NULL), GRAM_ERROR_ARGUMENT,
            "draws = 0");
    REFUSED(context, gram_sampler_draw(context, sampler, points, 2, 0, values, 1, NULL), GRAM_ERROR_ARGUMENT,
            "ldv = 1");
    REFUSED(context, gram_sampler_draw(context, NULL, points, 1, 0, values, 1, NULL), GRAM_ERROR_ARGUMENT, "sampler");
    REFUSED(context, gram_sampler_moments(context, sampler, points, values, NULL), GRAM_ERROR_ARGUMENT, "std");
    gram_sampler_destroy(sampler);
    gram_sampler_destroy(NULL);
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(priors), cmocka_unit_test(many_points),
                                       cmocka_unit_test(posteriors), cmocka_unit_test(refusals)};
    fill();
    return cmocka_run_group_tests(tests, test_open, test_close);
}
