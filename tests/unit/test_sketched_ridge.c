/* Ridge regression on Fourier features by sketched iterations against normal equations in f64 of all rows: coefficients, values, residuals; leverages that
 * are estimated against exact ones; one pass over rows against its sums written out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "features/sketched/feature_pass.h"
#include "features/sketched/sketched_ridge.h"
#include "oom.h"
#include "support.h"

enum { N = 2605, D = 3, P = 60, M = 2 }; /* rows that are no whole number of strips */

typedef struct world {
    double *x, *y, *w;
    gram_points *points;
    gram_kernel *kernel;
    gram_features *map;
    gram_problem problem;
} world;

static gram_status world_make(gram_context *context, int64_t n, int64_t p, int64_t m, int weighted, int intercept,
                              double lambda, world *v)
{
    gram_status status = GRAM_OK;
    gram_features_options options;
    v->x = test_random(1, n * D, -1, 3);
    v->y = test_random(2, n * m, -1, 1);
    v->w = weighted ? test_random(3, n, 0.2, 2) : NULL;
    for (int64_t i = 0; i < n; i++)
        for (int64_t o = 0; o < m; o++)
            v->y[i * m + o] = 0.3 * v->y[i * m + o] + sin(2 * v->x[i * D]) + 5 * (double)o + v->x[i * D + 1];
    gram_features_options_init(&options, sizeof options);
    options.kind = GRAM_FEATURES_FOURIER;
    options.dimension = p;
    STEP(gram_points_create_f64(context, n, D, v->x, D, &v->points));
    STEP(gram_kernel_parse(context, "rbf(ell=1)", &v->kernel));
    STEP(gram_features_make(context, v->kernel, D, NULL, &options, &v->map));
    STEP(gram_problem_make(context, "test", v->kernel, v->points, m, v->y, m, v->w, &v->problem));
    STEP(gram_problem_set_lambda(context, "test", lambda, &v->problem));
    STEP(gram_problem_set_unpenalised(context, "test", intercept, 0, NULL, &v->problem));
done:
    return status;
}

static void world_free(gram_context *context, world *v)
{
    gram_problem_free(context, &v->problem);
    gram_features_destroy(v->map);
    gram_kernel_release(v->kernel);
    gram_points_release(v->points);
    free(v->x), free(v->y), free(v->w);
}

static void compare(gram_context *context, int weighted, int intercept, double lambda)
{
    world v = {0};
    gram_feature_ridge r = {0}, twin = {0};
    double *c = test_numbers(P * M), *right = test_numbers(P * M), *f = test_numbers(N * M), *z = test_numbers(N * P),
           b[M] = {0}, right_b[M] = {0};
    OK(context, world_make(context, N, P, M, weighted, intercept, lambda, &v));
    gram_sketched_ridge job = {
        .map = v.map, .problem = &v.problem, .strength = lambda * N, .tolerance = 1e-9, .seed = 5};
    assert_true(gram_sketched_ridge_fits(N, P) && !gram_sketched_ridge_fits(20 * P, P));
    OK(context, gram_sketched_ridge_solve(context, "test", &job, c, b, f, &r));
    assert_true(job.error <= 1e-9 && job.passes > 4 && job.rows == 12 * P);
    OK(context, gram_feature_ridge_make(context, v.map, &v.problem, 0, &twin));
    OK(context, gram_feature_ridge_solve(context, "test", &twin, lambda * N, right, right_b));
    assert_true(fabs(r.effective_dimension / twin.effective_dimension - 1) < 0.02);
    double miss = 0, size = 0;
    OK(context, gram_features_transform(context, v.map, N, v.x, D, z, P));
    for (int64_t i = 0; i < N; i++)
        for (int64_t o = 0; o < M; o++) {
            double value = intercept ? right_b[o] : 0;
            for (int64_t j = 0; j < P; j++) value += z[i * P + j] * right[j * M + o];
            miss += pow(value - f[i * M + o], 2);
            size += pow(value - 5 * (double)o, 2);
        }
    if (!(sqrt(miss / size) < 2e-9))
        FAIL_TEST("weights %d, constant %d, lambda %g: values off by %g", weighted, intercept, lambda,
                  sqrt(miss / size));
    test_near("constants", NULL, intercept ? M : 0, b, right_b, 1e-6);
    gram_feature_ridge_free(context, &r), gram_feature_ridge_free(context, &twin);
    world_free(context, &v);
    free(c), free(right), free(f), free(z);
}

static void against_normal_equations(void **state)
{
    for (int k = 0; k < 4; k++) compare(*state, k & 1, k >> 1, 1e-3);
    compare(*state, 1, 1, 1e-7);
    compare(*state, 0, 1, 1);
}

/* Sums over the rows, by hand. */
static void one_row(void *argument, int64_t i, double *u, double *sums)
{
    const double *y = argument;
    sums[0] += u[0];
    u[0] = y[i] - u[0], u[1] += 1;
}

static void pass(void **state)
{
    gram_context *context = *state;
    world v = {0};
    double *coefficients = test_random(4, P * 2, -1, 1), *z = test_numbers(N * P), out[P * 2], right[P * 2] = {0}, sum,
           right_sum = 0;
    OK(context, world_make(context, N, P, 1, 0, 0, 1e-3, &v));
    OK(context, gram_features_transform(context, v.map, N, v.x, D, z, P));
    for (int64_t i = 0; i < N; i++) {
        double u[2] = {0};
        for (int64_t j = 0; j < P; j++)
            for (int k = 0; k < 2; k++) u[k] += z[i * P + j] * coefficients[j * 2 + k];
        right_sum += u[0];
        u[0] = v.y[i] - u[0], u[1] += 1;
        for (int64_t j = 0; j < P; j++)
            for (int k = 0; k < 2; k++) right[j * 2 + k] += z[i * P + j] * u[k];
    }
    for (int single = 0; single < 2; single++) {
        const gram_feature_pass job = {.map = v.map,
                                       .x = v.points,
                                       .single = single,
                                       .columns = 2,
                                       .v = coefficients,
                                       .row = one_row,
                                       .argument = v.y,
                                       .sum_count = 1,
                                       .out = out,
                                       .sums = &sum,
                                       .what = "test"};
        OK(context, gram_feature_pass_run(context, &job));
        for (int j = 0; j < P * 2; j++) /* sums of N products of about 1/sqrt(P) */
            assert_true(fabs(out[j] - right[j]) < (single ? 1e-4 : 1e-11));
        assert_true(fabs(sum - right_sum) < (single ? 1e-3 : 1e-9));
    }
    world_free(context, &v);
    free(coefficients), free(z);
}

/* Estimates of leverages are right on average and each to a part of itself, and large ones are exact. */
static void leverages(void **state)
{
    enum { ROWS = 16500, FEATURES = 800, HEAVY = 40 };
    gram_context *context = *state;
    world v = {0};
    gram_feature_ridge r = {0};
    int64_t estimated = 0;
    double *c = test_numbers(FEATURES), b[1], *exact = test_numbers(ROWS), *rough = test_numbers(ROWS), sum[2] = {0},
           worst = 0;
    OK(context, world_make(context, ROWS, FEATURES, 1, 1, 1, 1e-4, &v));
    for (int i = 0; i < HEAVY; i++) v.problem.weights[i * 7] = 500;
    OK(context, gram_feature_ridge_make(context, v.map, &v.problem, 0, &r));
    OK(context, gram_feature_ridge_solve(context, "test", &r, 1e-4 * ROWS, c, b));
    OK(context, gram_feature_ridge_leverage(context, &r, 1, exact, &estimated));
    assert_int_equal(estimated, 0);
    OK(context, gram_feature_ridge_leverage(context, &r, 0, rough, &estimated));
    assert_true(estimated > ROWS / 2 && estimated <= ROWS - HEAVY);
    for (int i = 0; i < ROWS; i++) {
        sum[0] += exact[i], sum[1] += rough[i];
        worst = fmax(worst, fabs(rough[i] - exact[i]));
        if (exact[i] > 0.2) assert_true(fabs(rough[i] - exact[i]) < 1e-10);
    }
    assert_true(exact[0] > 0.2);
    assert_true(worst < 0.04); /* 4 deviations of 0.18 of 0.05 */
    assert_true(fabs(sum[1] / sum[0] - 1) < 0.02);
    gram_feature_ridge_free(context, &r);
    world_free(context, &v);
    free(c), free(exact), free(rough);
}

static void solve(gram_context *context, double *out)
{
    world v = {0};
    gram_feature_ridge r = {0};
    double *f = test_numbers(N);
    OK(context, world_make(context, N, P, 1, 1, 1, 1e-3, &v));
    gram_sketched_ridge job = {.map = v.map, .problem = &v.problem, .strength = 1e-3 * N, .tolerance = 1e-4, .seed = 5};
    OK(context, gram_sketched_ridge_solve(context, "test", &job, out, out + P, f, &r));
    gram_feature_ridge_free(context, &r);
    world_free(context, &v);
    free(f);
}

static void any_threads(void **state)
{
    (void)state;
    test_any_threads(P + 1, solve);
}

static gram_status play(gram_context *context)
{
    enum { ROWS = 200, FEATURES = 8 };
    gram_status status = GRAM_OK;
    world v = {0};
    gram_feature_ridge r = {0};
    double c[FEATURES], b[1], f[ROWS], lever[ROWS];
    STEP(world_make(context, ROWS, FEATURES, 1, 1, 1, 1e-2, &v));
    gram_sketched_ridge job = {
        .map = v.map, .problem = &v.problem, .strength = 1e-2 * ROWS, .tolerance = 1e-6, .seed = 5};
    STEP(gram_sketched_ridge_solve(context, "test", &job, c, b, f, &r));
    STEP(gram_feature_ridge_leverage(context, &r, 0, lever, NULL));
done:
    gram_feature_ridge_free(context, &r);
    world_free(context, &v);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_normal_equations),
        cmocka_unit_test(pass),
        cmocka_unit_test(leverages),
        cmocka_unit_test(any_threads),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
