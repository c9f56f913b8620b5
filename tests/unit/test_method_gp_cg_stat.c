/* Large Gaussian processes as statistics: coverage of intervals at the true parameters by conjugate gradients and by inducing
 * points; mean and covariance of path-wise draws from the posterior. */
#include <math.h>
#include <stdlib.h>

#include "samples.h"
#include "support.h"

enum { SETS = 200, N = 120 };
static const double NORMAL = 1.959963984540054;

typedef struct truth {
    gram_context *context;
    gram_kernel *kernel;
    gram_points *x, *last; /* N points, and one more */
    double places[2 * (N + 1)], y[N + 1];
    gram_gp_options gp;
} truth;

/* A draw from the model itself. */
static void begin(int set, const char *text, truth *t)
{
    test_uniform(700 + (uint64_t)set, 2 * (N + 1), 0, 3, t->places);
    double *e = sample_normal(900 + (uint64_t)set, N + 1);
    t->context = sample_context(100 + (uint64_t)set, 1);
    t->kernel = test_kernel(t->context, text);
    gram_points *all = test_points(t->context, N + 1, 2, t->places);
    OK(t->context, gram_gp_draw_prior(t->context, t->kernel, all, GRAM_SOLVER_EXACT, 1, t->y, 1, NULL));
    for (int i = 0; i <= N; i++) t->y[i] += 5 + 0.2 * e[i];
    gram_gp_options_init(&t->gp, sizeof t->gp);
    t->gp.flat = 1;
    t->gp.noise = 0.04;
    t->x = test_points(t->context, N, 2, t->places);
    t->last = test_points(t->context, 1, 2, t->places + 2 * N);
    gram_points_release(all);
    free(e);
}

static void end(truth *t)
{
    gram_points_release(t->x);
    gram_points_release(t->last);
    gram_kernel_release(t->kernel);
    gram_context_destroy(t->context);
}

static int holds(const truth *t, double mean, double variance)
{
    return fabs(t->y[N] - mean) <= NORMAL * sqrt(variance + t->gp.noise);
}

static int cg_holds(const truth *t)
{
    gram_gp_options gp_options = t->gp;
    gram_gp_cg_options o;
    gram_gp *gp = NULL;
    double mean, variance;
    gram_gp_cg_options_init(&o, sizeof o);
    gp_options.solver = GRAM_SOLVER_CG;
    gp_options.cg = &o;
    o.rank = 20;
    o.probes = 0;
    OK(t->context, gram_gp_fit(t->context, t->kernel, t->x, t->y, &gp_options, &gp));
    OK(t->context, gram_gp_predict(t->context, gp, t->last, NULL, 0, &mean, &variance));
    gram_gp_destroy(gp);
    return holds(t, mean, variance);
}

static int inducing_holds(const truth *t, int64_t count)
{
    gram_gp_options gp_options = t->gp;
    gram_gp_inducing_options o;
    gram_gp *gp = NULL;
    double mean, variance;
    gram_gp_inducing_options_init(&o, sizeof o);
    gp_options.solver = GRAM_SOLVER_INDUCING;
    gp_options.inducing = &o;
    o.count = count;
    OK(t->context, gram_gp_fit(t->context, t->kernel, t->x, t->y, &gp_options, &gp));
    assert_true(gram_gp_get_report(gp)->trace_error < 0.02); /* the bound is tight */
    OK(t->context, gram_gp_predict(t->context, gp, t->last, NULL, 0, &mean, &variance));
    gram_gp_destroy(gp);
    return holds(t, mean, variance);
}

static void coverage(void **state)
{
    (void)state;
    static const char *const kernels[] = {"1.5*matern(nu=1.5, ell=[0.8,1.5])", "rbf(ell=0.9)"};
    for (int k = 0; k < 2; k++) {
        int by_cg = 0, by_inducing = 0;
        for (int set = 0; set < SETS; set++) {
            truth t;
            begin(set, kernels[k], &t);
            by_cg += cg_holds(&t);
            by_inducing += inducing_holds(&t, k ? 50 : 100);
            end(&t);
        }
        if (by_cg < 179 || by_cg > 198 || by_inducing < 179 || by_inducing > 198)
            FAIL_TEST("%s: %d and %d of 200 intervals of 95 %% hold the observation", kernels[k], by_cg, by_inducing);
    }
}

/* Mean and covariance of draws at a few points against those of the exact posterior, mean estimated and flat. */
static void draws(void **state)
{
    (void)state;
    enum { M = 5, DRAWS = 10000, ROWS = 30 };
    for (int way = 0; way < 3; way++) {
        truth t;
        begin(1, "1.5*matern(nu=1.5, ell=[0.8,1.5]) + 0.3*rbf(ell=2)", &t);
        gram_points *x = test_points(t.context, ROWS, 2, t.places);
        double places[2 * M] = {7, 6}; /* far away, where the mean's parameters matter; one of the data, three others */
        for (int i = 2; i < 2 * M; i++) places[i] = t.places[2 * (ROWS - 2) + i];
        gram_points *z = test_points(t.context, M, 2, places);
        gram_gp *gp = NULL;
        gram_gp_path_options o;
        gram_gp_path *path = NULL;
        double mean[M], covariance[M * M], *out = test_numbers(M * DRAWS);
        t.gp.flat = way > 0;
        t.gp.mean = way == 2 ? GRAM_MEAN_LINEAR : GRAM_MEAN_CONSTANT;
        OK(t.context, gram_gp_fit(t.context, t.kernel, x, t.y, &t.gp, &gp));
        OK(t.context, gram_gp_predict(t.context, gp, z, NULL, 0, mean, NULL));
        OK(t.context, gram_gp_covariance(t.context, gp, z, NULL, 0, covariance, M));
        gram_gp_path_options_init(&o, sizeof o);
        o.gp = &t.gp;
        o.draws = DRAWS;
        o.frequencies = 64;
        OK(t.context, gram_gp_path_create(t.context, t.kernel, 2, x, t.y, &o, &path));
        OK(t.context, gram_gp_path_evaluate(t.context, path, z, NULL, 0, out, DRAWS));
        sample_has_moments("draws", M, DRAWS, out, mean, covariance);
        free(out);
        gram_gp_path_destroy(path);
        gram_gp_destroy(gp);
        gram_points_release(x);
        gram_points_release(z);
        end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coverage),
        cmocka_unit_test(draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
