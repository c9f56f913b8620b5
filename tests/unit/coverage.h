/* How often a 95 % interval of a Gaussian process with the true parameters holds a new observation: one new point for each
 * simulated data set, so that the count is binomial; for each way to solve. */
#ifndef TESTS_UNIT_COVERAGE_H
#define TESTS_UNIT_COVERAGE_H

#include <math.h>
#include <stdlib.h>

#include "support.h"

typedef struct coverage_way {
    const char *name;
    gram_solver solver;
} coverage_way;

static const coverage_way coverage_ways[] = {{"exact", GRAM_SOLVER_EXACT},
                                             {"markov", GRAM_SOLVER_MARKOV},
                                             {"cg", GRAM_SOLVER_CG},
                                             {"inducing", GRAM_SOLVER_INDUCING},
                                             {"vecchia", GRAM_SOLVER_VECCHIA}};

/* With as many inducing points as make the bound tight. */
static gram_status coverage_predict(gram_context *context, gram_solver solver, gram_kernel *kernel,
                                    const gram_points *x, const double *y, gram_gp_options options,
                                    const gram_points *at, double *mean, double *variance)
{
    gram_gp *gp = NULL;
    gram_gp_cg_options cg;
    gram_gp_inducing_options inducing;
    gram_gp_cg_options_init(&cg, sizeof cg);
    gram_gp_inducing_options_init(&inducing, sizeof inducing);
    cg.probes = 0;
    inducing.count = 40;
    options.cg = &cg;
    options.inducing = &inducing;
    options.solver = solver;
    gram_status status = gram_gp_fit(context, kernel, x, y, &options, &gp);
    if (status >= 0) status = gram_gp_predict(context, gp, at, NULL, 0, mean, variance);
    gram_gp_destroy(gp);
    return status;
}

/* The process and the noise at 50 points; the last of them is the new one. */
static int coverage_of_one(const coverage_way *way, uint64_t seed)
{
    enum { N = 49 };
    const double noise = 0.1;
    double x[N + 1], f[N + 1], e[N + 1], y[N], mean, variance;
    gram_gp_options options;
    gram_context *context = TEST_CONTEXT(.threads = 1, .seed = seed);
    gram_kernel *kernel = test_kernel(context, "2*matern(nu=1.5, ell=0.7)");
    test_uniform(seed, N + 1, 0, 4, x);
    gram_points *all = test_points(context, N + 1, 1, x), *data = test_points(context, N, 1, x);
    gram_points *at = test_points(context, 1, 1, x + N);
    OK(context, gram_gp_draw_prior(context, kernel, all, GRAM_SOLVER_EXACT, 1, f, 1, NULL));
    gram_random_normal((gram_random){.seed = seed, .stream = 77}, 0, N + 1, e);
    for (int i = 0; i < N; i++) y[i] = 5 + f[i] + sqrt(noise) * e[i];
    gram_gp_options_init(&options, sizeof options);
    options.noise = noise;
    options.flat = 1; /* the constant is not known either */
    OK(context, coverage_predict(context, way->solver, kernel, data, y, options, at, &mean, &variance));
    const double miss = 5 + f[N] + sqrt(noise) * e[N] - mean;
    gram_points_release(all);
    gram_points_release(data);
    gram_points_release(at);
    gram_kernel_release(kernel);
    gram_context_destroy(context);
    return fabs(miss) <= 1.959963984540054 * sqrt(variance + noise);
}

static int coverage_count(const coverage_way *way, int sets)
{
    int count = 0;
    for (int i = 0; i < sets; i++) count += coverage_of_one(way, (uint64_t)(1000 + i));
    return count;
}

#endif
