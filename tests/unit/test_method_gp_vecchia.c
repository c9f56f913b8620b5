/* Gaussian processes from neighbours: with all of them the exact likelihood, gradient, leave-one-out and predictions; with some of them
 * conditionals that a slow twin makes one by one; gradients against differences; lengths that tuning finds; the same bits for any number
 * of threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense_twin.h"
#include "gp_cases.h"
#include "kernel/kernel.h"
#include "method/gp/vecchia/gp_vecchia.h"
#include "oom.h"
#include "points/points.h"
#include "support.h"

enum { D = 3, SLOPES = 16 };

static gram_gp_options with_neighbours(gram_gp_options o, gram_gp_vecchia_options *own, int64_t count)
{
    gram_gp_vecchia_options_init(own, sizeof *own);
    own->neighbours = count;
    o.solver = GRAM_SOLVER_VECCHIA;
    o.vecchia = own;
    return o;
}

/* ---- all neighbours: the exact process ---- */

static void compare_posteriors(gram_context *c, gram_kernel *kernel, const gp_data *t, const gram_gp_options *ways)
{
    double mean[2][GP_NEW], variance[2][GP_NEW];
    gram_gp *gp[2] = {NULL};
    gram_points *x = test_points(c, t->n, D, t->x), *z = test_points(c, GP_NEW, D, t->z);
    for (int k = 0; k < 2; k++) {
        OK(c, gram_gp_fit(c, kernel, x, t->y, &ways[k], &gp[k]));
        OK(c, gram_gp_predict(c, gp[k], z, ways[k].columns ? t->new_basis : NULL, 1, mean[k], variance[k]));
    }
    test_near("mean", NULL, GP_NEW, mean[1], mean[0], 1e-8);
    test_near("variance", NULL, GP_NEW, variance[1], variance[0], 1e-8);
    test_near("left out", NULL, t->n, gram_gp_loo_mean(gp[1]), gram_gp_loo_mean(gp[0]), 1e-8);
    test_near("its variance", NULL, t->n, gram_gp_loo_variance(gp[1]), gram_gp_loo_variance(gp[0]), 1e-8);
    test_near("coefficients", NULL, t->n, gram_function_coefficients(gram_gp_function(gp[1])),
              gram_function_coefficients(gram_gp_function(gp[0])), 1e-7);
    const gram_gp_report *a = gram_gp_get_report(gp[1]), *b = gram_gp_get_report(gp[0]);
    const double found[] = {a->log_marginal_likelihood, a->loo_rmse,   a->loo_r2,
                            a->loo_log_density,         a->train_rmse, a->train_r2};
    const double wanted[] = {b->log_marginal_likelihood, b->loo_rmse,   b->loo_r2,
                             b->loo_log_density,         b->train_rmse, b->train_r2};
    test_near("report", NULL, 6, found, wanted, 1e-8);
    assert_true(a->loo_coverage == b->loo_coverage && a->rank == t->n);
    for (int k = 0; k < 2; k++) gram_gp_destroy(gp[k]);
    gram_points_release(x);
    gram_points_release(z);
}

static void all_neighbours(void **state)
{
    gram_context *c = *state;
    gp_data *t = &(gp_data){.n = 0};
    gp_make_data(3, 230, D, t);
    gram_points *x = test_points(c, t->n, D, t->x);
    for (int k = 0; k < GP_SETTINGS_COUNT; k++) {
        gram_gp_vecchia_options own;
        gram_gp_options ways[2] = {gp_options_of(&GP_SETTINGS[k], t)};
        gram_kernel *kernel = test_kernel(c, GP_SETTINGS[k].kernel);
        const int64_t count = gram_kernel_parameter_count(kernel) + 1;
        double value[2], slopes[2][SLOPES];
        ways[0].solver = GRAM_SOLVER_EXACT;
        ways[1] = with_neighbours(ways[0], &own, t->n - 1);
        for (int w = 0; w < 2; w++) OK(c, gram_gp_likelihood(c, kernel, x, t->y, &ways[w], &value[w], slopes[w]));
        test_near("log likelihood", GP_SETTINGS[k].kernel, 1, &value[1], &value[0], 1e-10);
        test_near("gradient", GP_SETTINGS[k].kernel, count, slopes[1], slopes[0], 1e-7);
        own.neighbours = t->n;
        compare_posteriors(c, kernel, t, ways);
        gram_kernel_release(kernel);
    }
    gram_points_release(x);
}

/* ---- some neighbours ---- */

/* log p(y_i | y_N) and N by trying all rows before i, one dense solve for each; mean zero. */
static double twin(const gram_points *x, const double *k, const double *y, double noise, const double *rates,
                   const int64_t *order, int64_t count)
{
    const int64_t n = x->n;
    double sum = 0;
    for (int64_t p = 0; p < n; p++) {
        const int64_t own = order[p];
        int64_t near[32], found = 0;
        for (; found < count && found < p; found++) { /* the nearest that is not yet among them */
            double least = INFINITY;
            for (int64_t q = 0; q < p; q++) {
                double far = 0;
                int taken = 0;
                for (int64_t l = 0; l < x->d; l++)
                    far += pow(rates[l] * (gram_points_at(x, order[q], l) - gram_points_at(x, own, l)), 2);
                for (int64_t j = 0; j < found; j++) taken |= near[j] == order[q];
                if (!taken && far < least) least = far, near[found] = order[q];
            }
        }
        double a[32 * 32], l[32 * 32], b[32], variance = k[own * n + own] + noise, mean = 0;
        for (int64_t i = 0; i < found; i++)
            for (int64_t j = 0; j < found; j++) a[i * found + j] = k[near[i] * n + near[j]] + (i == j ? noise : 0);
        assert_true(found == 0 || gram_small_cholesky(found, a, l));
        for (int64_t i = 0; i < found; i++) { /* L^-1 k and L^-1 y go by together */
            double z = k[near[i] * n + own];
            b[i] = y[near[i]];
            for (int64_t j = 0; j < i; j++) b[i] -= l[i * found + j] * b[j], z -= l[i * found + j] * a[j];
            b[i] /= l[i * found + i];
            a[i] = z / l[i * found + i]; /* its first row is done with */
            variance -= a[i] * a[i];
            mean += a[i] * b[i];
        }
        sum -= 0.5 * (log(2 * 3.14159265358979323846 * variance) + (y[own] - mean) * (y[own] - mean) / variance);
    }
    return sum;
}

static void against_twin(void **state)
{
    gram_context *c = *state;
    static const char *const kernels[] = {"1.3*matern(nu=0.5, ell=0.9)", "0.9*rbf(ell=[0.4,2,1])",
                                          "on(1, rbf(ell=0.5))*on(2,3, matern(nu=1.5, ell=[1,3])) + 0.1*linear"};
    gp_data *t = &(gp_data){.n = 0};
    gp_make_data(5, 400, D, t);
    gram_points *x = test_points(c, t->n, D, t->x);
    for (int i = 0; i < 3; i++) {
        gram_gp_vecchia_options own;
        gram_gp_options o;
        gram_gp_options_init(&o, sizeof o);
        o.mean = GRAM_MEAN_ZERO;
        o.noise = 0.02;
        o = with_neighbours(o, &own, 9);
        gram_kernel *kernel = test_kernel(c, kernels[i]);
        gram_vecchia_rows *rows = NULL;
        double *k = test_matrix(c, kernel, x, NULL), found;
        OK(c, gram_vecchia_likelihood(c, kernel, x, t->y, &o, &rows, &found, NULL));
        const double wanted = twin(x, k, t->y, o.noise, rows->rates, rows->order, 9);
        test_near("log likelihood", kernels[i], 1, &found, &wanted, 1e-10);
        gram_vecchia_rows_destroy(rows);
        gram_kernel_release(kernel);
        free(k);
    }
    gram_points_release(x);
}

/* The value with the kernel's parameter (or last the noise) moved, neighbours held. */
static double moved_value(gram_context *c, const gram_kernel *kernel, const gram_points *x, const double *y,
                          gram_gp_options o, const gram_vecchia_rows *rows, int64_t parameter, double step)
{
    gram_kernel *moved = test_moved(c, kernel, parameter, step);
    gram_vecchia_system s;
    double value = NAN;
    if (parameter == gram_kernel_parameter_count(kernel)) o.noise += step;
    OK(c, gram_vecchia_system_make(c, "test", moved, x, y, &o, &s));
    OK(c, gram_vecchia_evaluate(c, &s, rows, &value, NULL));
    gram_vecchia_system_free(c->memory, &s);
    gram_kernel_release(moved);
    return value;
}

static void gradient(void **state)
{
    gram_context *c = *state;
    gp_data *t = &(gp_data){.n = 0};
    gp_make_data(7, 500, D, t);
    gram_points *x = test_points(c, t->n, D, t->x);
    for (int k = 0; k <= GP_SETTINGS_COUNT; k++) {
        const int extra = k == GP_SETTINGS_COUNT; /* numbers of the points beside those of pairs */
        const char *text = extra ? "0.8*normalize(poly(m=3, c=0.4) + rbf(ell=0.6))" : GP_SETTINGS[k].kernel;
        gram_gp_vecchia_options own;
        const gram_gp_options o = with_neighbours(gp_options_of(&GP_SETTINGS[extra ? 2 : k], t), &own, 11);
        gram_kernel *kernel = test_kernel(c, text);
        const int64_t count = gram_kernel_parameter_count(kernel) + 1;
        gram_vecchia_rows *rows = NULL;
        double value, slopes[SLOPES], wanted[SLOPES];
        OK(c, gram_vecchia_likelihood(c, kernel, x, t->y, &o, &rows, &value, slopes));
        for (int64_t p = 0; p < count; p++) {
            const double step = 1e-5;
            wanted[p] = (moved_value(c, kernel, x, t->y, o, rows, p, step) -
                         moved_value(c, kernel, x, t->y, o, rows, p, -step)) /
                        (2 * step);
        }
        test_near("gradient", text, count, slopes, wanted, 2e-6);
        gram_vecchia_rows_destroy(rows);
        gram_kernel_release(kernel);
    }
    gram_points_release(x);
}

/* Of y = 0 exact likelihood less this one is the divergence of Kullback and Leibler, (log |U U'|^-1 - log |A|)/2: not negative, and less for more
 * neighbours. A variance given some rows is not below that given all. */
static void converges(void **state)
{
    gram_context *c = *state;
    gp_data *t = &(gp_data){.n = 0};
    gp_make_data(9, 700, 2, t);
    memset(t->y, 0, sizeof t->y);
    gram_points *x = test_points(c, t->n, 2, t->x), *z = test_points(c, GP_NEW, 2, t->z);
    gram_kernel *kernel = test_kernel(c, "matern(nu=1.5, ell=0.5)");
    double exact[2 * GP_NEW], out[2 * GP_NEW], value = 0, last = INFINITY, last_far = INFINITY;
    gram_gp_vecchia_options own;
    gram_gp_options o;
    gram_gp_options_init(&o, sizeof o);
    o.mean = GRAM_MEAN_ZERO;
    o.solver = GRAM_SOLVER_EXACT;
    for (int m = 0; m <= 80; m = m == 0 ? 5 : 4 * m) {
        gram_gp *gp = NULL;
        double far = 0;
        if (m > 0) o = with_neighbours(o, &own, m);
        OK(c, gram_gp_fit(c, kernel, x, t->y, &o, &gp));
        OK(c, gram_gp_predict(c, gp, z, NULL, 0, m > 0 ? out : exact, (m > 0 ? out : exact) + GP_NEW));
        const double error = value - gram_gp_get_report(gp)->log_marginal_likelihood;
        gram_gp_destroy(gp);
        if (m == 0) {
            value = -error;
            continue;
        }
        for (int i = GP_NEW; i < 2 * GP_NEW; i++) {
            assert_true(out[i] > exact[i] - 1e-12);
            far = fmax(far, out[i] - exact[i]);
        }
        print_message("%d neighbours: divergence %.3g, variances larger by at most %.3g\n", m, error, far);
        assert_true(error >= 0 && error < last / 4 && far < last_far / 2);
        last = error;
        last_far = far;
    }
    gram_kernel_release(kernel);
    gram_points_release(x);
    gram_points_release(z);
}

/* ---- tuning ---- */

/* One column out of three is all that matters, ten times faster than it seems: found, with neighbours in that metric. */
static void finds_lengths(void **state)
{
    enum { N = 3000 };
    gram_context *c = *state;
    double *x = test_random(21, N * D, 0, 1), *y = test_random(22, N, -0.2, 0.2), noise, ell[D];
    gram_points *points = test_points(c, N, D, x);
    gram_kernel *kernel = test_kernel(c, "const*matern(nu=2.5)"), *tuned = NULL;
    gram_gp_tune_report report = {.size = sizeof report};
    gram_gp_vecchia_options own;
    gram_gp_options o;
    gram_parameter parameter;
    int seen = 0;
    for (int i = 0; i < N; i++) y[i] += sin(20 * x[i * D]) + 0.5 * x[i * D + 1];
    gram_gp_options_init(&o, sizeof o);
    o = with_neighbours(o, &own, 15);
    OK(c, gram_gp_tune(c, kernel, points, y, &o, NULL, &tuned, &noise, &report));
    for (int64_t i = 0; i < gram_kernel_parameter_count(tuned); i++) {
        OK(c, gram_kernel_parameter_get(c, tuned, i, &parameter));
        if (strstr(parameter.name, "ell[")) ell[seen++] = parameter.value;
    }
    assert_int_equal(seen, D);
    print_message("lengths %.3g, %.3g, %.3g; noise %.4g; %d evaluations\n", ell[0], ell[1], ell[2], noise,
                  (int)report.evaluations);
    assert_true(report.rows == N && ell[1] > 8 * ell[0] && ell[2] > 20 * ell[0]);
    assert_true(fabs(noise - 0.2 * 0.2 / 3) < 0.1 * 0.2 * 0.2 / 3); /* that of a uniform number */
    gram_kernel_release(tuned);
    gram_kernel_release(kernel);
    gram_points_release(points);
    free(x);
    free(y);
}

/* ---- what every solver must do ---- */

static void fill(gram_context *c, double *out)
{
    gp_data *t = &(gp_data){.n = 0};
    gram_gp_vecchia_options own;
    gp_make_data(11, 600, D, t);
    const gram_gp_options o = with_neighbours(gp_options_of(&GP_SETTINGS[3], t), &own, 8);
    gram_points *x = test_points(c, t->n, D, t->x), *z = test_points(c, GP_NEW, D, t->z);
    gram_kernel *kernel = test_kernel(c, GP_SETTINGS[3].kernel);
    gram_gp *gp = NULL;
    OK(c, gram_gp_likelihood(c, kernel, x, t->y, &o, out, out + 1));
    OK(c, gram_gp_fit(c, kernel, x, t->y, &o, &gp));
    OK(c, gram_gp_predict(c, gp, z, t->new_basis, 1, out + SLOPES, out + SLOPES + GP_NEW));
    gram_gp_destroy(gp);
    gram_kernel_release(kernel);
    gram_points_release(x);
    gram_points_release(z);
}

static void same_bits(void **state)
{
    (void)state;
    test_any_threads(SLOPES + 2 * GP_NEW, fill);
}

/* Rows that are there twice: fine with noise, named without; predictions on a row have no more variance than rounding. */
static void little_noise(void **state)
{
    gram_context *c = *state;
    const double x[] = {0, 1, 2, 3, 4, 2, 6, 7}, y[] = {1, 2, 0, 1, 2, 0.5, 1, 0};
    double mean[8], variance[8];
    gram_points *points = test_points(c, 8, 1, x), *distinct = test_points(c, 5, 1, x);
    gram_kernel *kernel = test_kernel(c, "matern(nu=0.5, ell=2)");
    gram_gp_options o;
    gram_gp *gp = NULL;
    gram_gp_options_init(&o, sizeof o);
    o.solver = GRAM_SOLVER_VECCHIA;
    OK(c, gram_gp_fit(c, kernel, points, y, &o, &gp));
    gram_gp_destroy(gp);
    o.noise = 0;
    REFUSED(c, gram_gp_fit(c, kernel, points, y, &o, &gp), GRAM_ERROR_NUMERICAL, "raise the noise");
    OK(c, gram_gp_fit(c, kernel, distinct, y, &o, &gp));
    OK(c, gram_gp_predict(c, gp, distinct, NULL, 0, mean, variance));
    test_near("interpolates", NULL, 5, mean, y, 1e-12);
    for (int i = 0; i < 5; i++) assert_true(variance[i] >= 0 && variance[i] < 1e-12);
    gram_gp_destroy(gp);
    gram_points_release(points);
    gram_points_release(distinct);
    gram_kernel_release(kernel);
}

static void one_row(void **state)
{
    gram_context *c = *state;
    const double x[] = {1, 2}, y[] = {3, 4};
    for (int n = 1; n <= 2; n++) {
        double mean, variance, value, exact;
        gram_points *points = test_points(c, n, 1, x);
        gram_kernel *kernel = test_kernel(c, "rbf(ell=1)");
        gram_gp_options o;
        gram_gp *gp = NULL;
        gram_gp_options_init(&o, sizeof o);
        o.mean = GRAM_MEAN_ZERO;
        o.solver = GRAM_SOLVER_VECCHIA;
        OK(c, gram_gp_fit(c, kernel, points, y, &o, &gp));
        OK(c, gram_gp_predict(c, gp, points, NULL, 0, &mean, &variance));
        OK(c, gram_gp_likelihood(c, kernel, points, y, &o, &value, NULL));
        o.solver = GRAM_SOLVER_EXACT;
        OK(c, gram_gp_likelihood(c, kernel, points, y, &o, &exact, NULL));
        test_near("log likelihood", NULL, 1, &value, &exact, 1e-13);
        gram_gp_destroy(gp);
        gram_points_release(points);
        gram_kernel_release(kernel);
        if (n == 1) break; /* predictions of two need two numbers */
    }
}

static void refused(void **state)
{
    gram_context *c = *state;
    const double x[] = {1, 2, 3}, y[] = {3, 4, 5};
    gram_points *points = test_points(c, 3, 1, x);
    gram_kernel *kernel = test_kernel(c, "rbf(ell=1)"), *open = test_kernel(c, "rbf"), *tuned = NULL;
    gram_gp_vecchia_options own;
    gram_gp_tune_options tune;
    gram_gp_options o;
    gram_gp *gp = NULL;
    double noise;
    gram_gp_options_init(&o, sizeof o);
    o = with_neighbours(o, &own, -1);
    REFUSED(c, gram_gp_fit(c, kernel, points, y, &o, &gp), GRAM_ERROR_ARGUMENT, "neighbours = -1");
    own.neighbours = GRAM_VECCHIA_MOST + 1;
    REFUSED(c, gram_gp_fit(c, kernel, points, y, &o, &gp), GRAM_ERROR_ARGUMENT, "neighbours = 1001");
    own.neighbours = 2;
    gram_gp_tune_options_init(&tune, sizeof tune);
    tune.objective = GRAM_GP_OBJECTIVE_LOO;
    REFUSED(c, gram_gp_tune(c, open, points, y, &o, &tune, &tuned, &noise, NULL), GRAM_ERROR_UNSUPPORTED,
            "leave-one-out");
    gram_kernel_release(kernel);
    gram_kernel_release(open);
    gram_points_release(points);
}

static gram_status play(gram_context *c)
{
    gram_status status = GRAM_OK;
    static const double x[] = {0, 1, 2, 3, 4, 5, 6, 7}, y[] = {1, 2, 0, 1, 2, 0.5, 1, 0};
    double mean[8], variance[8], value, slopes[4];
    gram_kernel *kernel = NULL;
    gram_points *points = NULL;
    gram_gp *gp = NULL, *copy = NULL;
    gram_gp_parts parts = {.size = sizeof parts};
    gram_gp_options o;
    gram_gp_options_init(&o, sizeof o);
    gram_gp_vecchia_options own;
    o = with_neighbours(o, &own, 2);
    STEP(gram_kernel_parse(c, "rbf(ell=1)", &kernel));
    STEP(gram_points_create_f64(c, 8, 1, x, 1, &points));
    STEP(gram_gp_likelihood(c, kernel, points, y, &o, &value, slopes));
    STEP(gram_gp_fit(c, kernel, points, y, &o, &gp));
    STEP(gram_gp_describe(gp, &parts));
    parts.y = y;
    STEP(gram_gp_create(c, kernel, &parts, &copy));
    STEP(gram_gp_predict(c, copy, points, NULL, 0, mean, variance));
done:
    gram_gp_destroy(gp);
    gram_gp_destroy(copy);
    gram_points_release(points);
    gram_kernel_release(kernel);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_neighbours), cmocka_unit_test(against_twin),  cmocka_unit_test(gradient),
        cmocka_unit_test(converges),      cmocka_unit_test(finds_lengths), cmocka_unit_test(same_bits),
        cmocka_unit_test(little_noise),   cmocka_unit_test(one_row),       cmocka_unit_test(refused),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
