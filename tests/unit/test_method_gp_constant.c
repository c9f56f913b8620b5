/* The posterior of a constant mean: by each way to solve against elimination, and against the closed form of a Gaussian mean. */
#include <math.h>

#include <gram/gp.h>

#include "dense_twin.h"
#include "support.h"

enum { N = 24 };

typedef struct way {
    const char *name;
    gram_solver solver;
    gram_precision precision;
    double near;
} way;

/* inducing points are all points */
static const way WAYS[] = {{"exact", GRAM_SOLVER_EXACT, GRAM_PRECISION_F64, 1e-12},
                           {"mixed", GRAM_SOLVER_EXACT, GRAM_PRECISION_MIXED, 1e-7},
                           {"cg", GRAM_SOLVER_CG, GRAM_PRECISION_F64, 1e-7},
                           {"markov", GRAM_SOLVER_MARKOV, GRAM_PRECISION_F64, 1e-10},
                           {"inducing", GRAM_SOLVER_INDUCING, GRAM_PRECISION_F64, 1e-6}};

static void make_data(double *x, double *y)
{
    test_uniform(3, N, 0, 4, x);
    for (int i = 0; i < N; i++) y[i] = 5 + sin(3 * x[i]);
}

/* 1'A^-1 1 and 1'A^-1 y */
static void by_elimination(gram_context *context, gram_kernel *kernel, const gram_points *points, const double *y,
                           double noise, double *ones, double *mean)
{
    double a[N * N], right[2 * N];
    OK(context, gram_matrix(context, kernel, points, NULL, a, N));
    for (int i = 0; i < N; i++) {
        a[i * N + i] += noise;
        right[2 * i] = 1;
        right[2 * i + 1] = y[i];
    }
    (void)dense_solve(N, a, 2, right);
    *ones = *mean = 0;
    for (int i = 0; i < N; i++) {
        *ones += right[2 * i];
        *mean += right[2 * i + 1];
    }
}

static void by_each_solver(void **state)
{
    (void)state;
    double x[N], y[N], ones, mean;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    make_data(x, y);
    gram_points *points = test_points(context, N, 1, x);
    gram_kernel *kernel = test_kernel(context, "2*matern(nu=1.5, ell=0.7)");
    by_elimination(context, kernel, points, y, 0.05, &ones, &mean);
    for (size_t k = 0; k < sizeof WAYS / sizeof *WAYS; k++)
        for (int flat = 0; flat < 2; flat++) {
            gram_gp_options options;
            gram_gp_inducing_options inducing;
            gram_gp *gp = NULL;
            gram_gp_options_init(&options, sizeof options);
            gram_gp_inducing_options_init(&inducing, sizeof inducing);
            inducing.positions = points;
            options.noise = 0.05;
            options.flat = flat;
            options.solver = WAYS[k].solver;
            options.precision = WAYS[k].precision;
            options.inducing = &inducing;
            OK(context, gram_gp_fit(context, kernel, points, y, &options, &gp));
            const double constant = gram_function_constant(gram_gp_function(gp))[0];
            const double deviation = gram_gp_get_report(gp)->constant_deviation;
            if (!(fabs(constant * ones / mean - 1) < WAYS[k].near) ||
                !(fabs(deviation * sqrt(ones) - 1) < WAYS[k].near))
                FAIL_TEST("%s: %.15g, deviation %.15g instead of %.15g, %.15g", WAYS[k].name, constant, deviation,
                          mean / ones, 1 / sqrt(ones));
            gram_gp_destroy(gp);
        }
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_context_destroy(context);
}

/* Precision n/s^2 + 1/s0^2: of the constant with a flat prior, and of the process const(s0^2). */
static void of_a_gaussian_mean(void **state)
{
    (void)state;
    const double noise = 0.3, prior = 4, at = 1;
    double x[N], y[N], sum = 0, mean, variance;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_gp_options options;
    gram_gp *gp = NULL;
    make_data(x, y);
    for (int i = 0; i < N; i++) sum += y[i];
    gram_points *points = test_points(context, N, 1, x), *new_point = test_points(context, 1, 1, &at);
    gram_kernel *nothing = test_kernel(context, "0"), *constant = test_kernel(context, "4");
    gram_gp_options_init(&options, sizeof options);
    options.noise = noise;
    OK(context, gram_gp_fit(context, nothing, points, y, &options, &gp));
    assert_true(fabs(gram_function_constant(gram_gp_function(gp))[0] - sum / N) < 1e-12);
    assert_true(fabs(gram_gp_get_report(gp)->constant_deviation - sqrt(noise / N)) < 1e-14);
    gram_gp_destroy(gp);
    options.mean = GRAM_MEAN_ZERO;
    OK(context, gram_gp_fit(context, constant, points, y, &options, &gp));
    OK(context, gram_gp_predict(context, gp, new_point, NULL, 0, &mean, &variance));
    const double precision = N / noise + 1 / prior;
    assert_true(fabs(mean - sum / noise / precision) < 1e-11);
    assert_true(fabs(variance - 1 / precision) < 1e-12);
    assert_true(isnan(gram_gp_get_report(gp)->constant_deviation)); /* it has none */
    gram_gp_destroy(gp);
    gram_kernel_release(nothing);
    gram_kernel_release(constant);
    gram_points_release(points);
    gram_points_release(new_point);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_each_solver), cmocka_unit_test(of_a_gaussian_mean)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
