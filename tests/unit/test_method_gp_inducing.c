/* Inducing points against a slow and obvious twin on whole matrices, the exact likelihood (never below the bound, equal when
 * all points are inducing, equal for kernels of finite rank), and differences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense_twin.h"
#include "gp_cases.h"
#include "method/gp/inducing/gp_inducing.h"
#include "oom.h"
#include "samples.h"
#include "support.h"

enum { N = 60, D = 2, M = 9, NEW = 11, MOST = 24 };

/* With positions of inducing points */
typedef struct data {
    gp_data rows;
    double z[M * D];
} data;

static void make_data(uint64_t seed, data *t)
{
    gp_make_data(seed, N, D, &t->rows);
    double *z = test_spread(seed + 5, M, D); /* near ones would ask for short differences */
    for (int i = 0; i < M * D; i++) t->z[i] = 1.5 * (z[i] - 0.1);
    free(z);
}

/* The bound on whole matrices, and mean and covariance at the new points: the exact posterior with Q for K in the training
 * block and between training and new points, plus what the new point's own variance misses. */
static double slow_bound(gram_context *c, const gp_setting *s, const data *t, double jitter, double *mean,
                         double *covariance)
{
    const gp_data *rows = &t->rows;
    double *r = test_numbers(M * N), *a = test_numbers(N * N), *cross = test_numbers(N * NEW), trace = 0;
    double diagonal[N], columns[N * GP_WIDE], new_columns[NEW * GP_WIDE];
    gram_kernel *kernel = test_kernel(c, s->kernel);
    gram_points *x = test_points(c, N, D, rows->x), *z = test_points(c, M, D, t->z),
                *n = test_points(c, NEW, D, rows->z);
    double *kzx = test_matrix(c, kernel, z, x), *kzz = test_matrix(c, kernel, z, NULL);
    double *kzn = test_matrix(c, kernel, z, n), *own = test_matrix(c, kernel, n, NULL);
    OK(c, gram_matrix_diagonal(c, kernel, x, diagonal));
    for (int i = 0; i < M; i++) kzz[i * M + i] *= 1 + jitter;
    memcpy(r, kzx, (size_t)(M * N) * sizeof *r);
    (void)dense_solve(M, kzz, N, r); /* Kzz^-1 Kzx */
    dense_multiply_transposed(N, M, N, r, kzx, a);
    dense_multiply_transposed(N, M, NEW, r, kzn, cross);
    for (int i = 0; i < N; i++) {
        const double noise = gp_noise_of_row(s, rows, i);
        trace += (diagonal[i] - a[i * N + i]) / noise;
        a[i * N + i] += noise;
    }
    gp_mean_columns(s, N, D, rows->x, rows->basis, columns);
    gp_mean_columns(s, NEW, D, rows->z, rows->new_basis, new_columns);
    const dense_gp twin = {N, gp_columns_of(s, D), NEW, a, columns, rows->y, cross, own, new_columns, s->flat};
    const double likelihood = dense_gp_posterior(&twin, mean, covariance);
    gram_points_release(x);
    gram_points_release(z);
    gram_points_release(n);
    gram_kernel_release(kernel);
    free(r), free(a), free(cross), free(kzx), free(kzz), free(kzn), free(own);
    return likelihood - 0.5 * trace;
}

static void against_matrices(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    for (int k = 0; k < GP_SETTINGS_COUNT; k++) {
        data t;
        make_data(10 + (uint64_t)k, &t);
        const gp_setting *s = &GP_SETTINGS_2[k];
        gram_kernel *kernel = test_kernel(c, s->kernel);
        gram_points *x = test_points(c, N, D, t.rows.x), *z = test_points(c, M, D, t.z),
                    *n = test_points(c, NEW, D, t.rows.z);
        gram_gp_options gp = gp_options_of(s, &t.rows);
        gram_gp_inducing_options o;
        gram_gp_inducing *fit = NULL;
        double mean[NEW], covariance[NEW * NEW], mean2[NEW], variance2[NEW], exact;
        gram_gp_inducing_options_init(&o, sizeof o);
        gp.inducing = &o;
        o.positions = z;
        o.jitter = 1e-8;
        const double bound = slow_bound(c, s, &t, o.jitter, mean, covariance);
        OK(c, gram_gp_likelihood(c, kernel, x, t.rows.y, &gp, &exact, NULL));
        OK(c, gram_gp_inducing_fit(c, kernel, x, t.rows.y, &gp, &fit));
        const gram_gp_inducing_report *r = gram_gp_inducing_get_report(fit);
        if (fabs(r->value.bound - bound) > 1e-6 * fabs(bound))
            FAIL_TEST("%s: bound %.12g, slowly %.12g", s->kernel, r->value.bound, bound);
        assert_true(r->value.bound < exact && r->value.trace > 0 && r->value.log_likelihood > r->value.bound);
        assert_true(r->m == M && r->n == N && r->d == D && r->value.jitter == 1e-8 && r->evaluations == 0);
        OK(c, gram_gp_inducing_predict(c, fit, n, s->columns ? t.rows.new_basis : NULL, 1, mean2, variance2));
        for (int i = 0; i < NEW; i++) {
            if (fabs(mean[i] - mean2[i]) > 1e-7) FAIL_TEST("%s: mean %g, slowly %g", s->kernel, mean2[i], mean[i]);
            const double variance = covariance[i * NEW + i];
            if (fabs(variance - variance2[i]) > 1e-7)
                FAIL_TEST("%s: variance %g, slowly %g", s->kernel, variance2[i], variance);
        }
        gram_gp_inducing_destroy(fit);
        gram_points_release(x);
        gram_points_release(z);
        gram_points_release(n);
        gram_kernel_release(kernel);
    }
    gram_context_destroy(c);
}

/* All points inducing: the likelihood itself, and the exact posterior. */
static void all_points(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    for (int k = 0; k < GP_SETTINGS_COUNT; k++)
        for (int way = 0; way < 2; way++) {
            data t;
            make_data(30 + (uint64_t)k, &t);
            const gp_setting *s = &GP_SETTINGS_2[k];
            gram_kernel *kernel = test_kernel(c, s->kernel);
            gram_points *x = test_points(c, N, D, t.rows.x), *n = test_points(c, NEW, D, t.rows.z);
            gram_gp_options gp = gp_options_of(s, &t.rows);
            gram_gp_inducing_options o;
            gram_gp_inducing *fit = NULL;
            gram_gp *full = NULL;
            double mean[NEW], variance[NEW], mean2[NEW], variance2[NEW];
            gram_gp_inducing_options_init(&o, sizeof o);
            gp.inducing = &o;
            o.positions = way ? NULL : x;
            o.count = N + 100; /* more than there are: all */
            OK(c, gram_gp_fit(c, kernel, x, t.rows.y, &gp, &full));
            OK(c, gram_gp_inducing_fit(c, kernel, x, t.rows.y, &gp, &fit));
            const double exact = gram_gp_get_report(full)->log_marginal_likelihood;
            const gram_gp_inducing_report *r = gram_gp_inducing_get_report(fit);
            assert_true(r->value.bound <= exact + 1e-6 * fabs(exact) && r->value.bound >= exact - 1e-5);
            assert_true(r->value.trace_share < 1e-8 && r->m <= N);
            OK(c, gram_gp_predict(c, full, n, s->columns ? t.rows.new_basis : NULL, 1, mean, variance));
            OK(c, gram_gp_inducing_predict(c, fit, n, s->columns ? t.rows.new_basis : NULL, 1, mean2, variance2));
            for (int i = 0; i < NEW; i++)
                assert_true(fabs(mean[i] - mean2[i]) < 1e-5 && fabs(variance[i] - variance2[i]) < 1e-6);
            gram_gp_inducing_destroy(fit);
            gram_gp_destroy(full);
            gram_points_release(x);
            gram_points_release(n);
            gram_kernel_release(kernel);
        }
    gram_context_destroy(c);
}

/* ---- the gradient ---- */

/* The bound with parameter p (the noise last, then coordinates) moved by `step`. */
static double moved_bound(gram_context *c, const gp_setting *s, const data *t, int p, double step)
{
    gram_kernel *kernel = test_kernel(c, s->kernel), *moved = test_moved(c, kernel, p, step);
    const int count = (int)gram_kernel_parameter_count(kernel);
    double z[M * D];
    gram_gp_options gp = gp_options_of(s, &t->rows);
    gram_gp_inducing_options o;
    gram_gp_inducing_value value;
    memcpy(z, t->z, sizeof z);
    if (p == count) gp.noise += step;
    if (p > count) z[p - count - 1] += step;
    gram_gp_inducing_options_init(&o, sizeof o);
    gp.inducing = &o;
    o.jitter = 1e-6;
    gram_points *x = test_points(c, N, D, t->rows.x), *positions = test_points(c, M, D, z);
    OK(c, gram_gp_inducing_bound(c, moved, x, t->rows.y, positions, &gp, &value, NULL, NULL, 0));
    gram_points_release(x);
    gram_points_release(positions);
    gram_kernel_release(moved);
    gram_kernel_release(kernel);
    return value.bound;
}

static void gradient(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    for (int k = 0; k < GP_SETTINGS_COUNT; k++) {
        data t;
        make_data(50 + (uint64_t)k, &t);
        const gp_setting *s = &GP_SETTINGS_2[k];
        gram_kernel *kernel = test_kernel(c, s->kernel);
        const int count = (int)gram_kernel_parameter_count(kernel);
        gram_points *x = test_points(c, N, D, t.rows.x), *z = test_points(c, M, D, t.z);
        gram_gp_options gp = gp_options_of(s, &t.rows);
        gram_gp_inducing_options o;
        gram_gp_inducing_value value;
        double slopes[MOST + M * (D + 1)] = {0}, places[M * (D + 1)];
        gram_gp_inducing_options_init(&o, sizeof o);
        gp.inducing = &o;
        o.jitter = 1e-6;
        OK(c, gram_gp_inducing_bound(c, kernel, x, t.rows.y, z, &gp, &value, slopes, places, D + 1));
        for (int i = 0; i < M * D; i++) slopes[count + 1 + i] = places[i / D * (D + 1) + i % D];
        for (int p = 0; p < count + 1 + M * D; p++) {
            const double h = p == count ? 1e-4 : 1e-3;
            const double d1 = moved_bound(c, s, &t, p, h) - moved_bound(c, s, &t, p, -h);
            const double d2 = moved_bound(c, s, &t, p, 2 * h) - moved_bound(c, s, &t, p, -2 * h);
            const double slope = (8 * d1 - d2) / (12 * h);
            if (fabs(slope - slopes[p]) > 2e-5 * (1 + fabs(slope)))
                FAIL_TEST("%s: derivative %d of %d is %.9g, by differences %.9g", s->kernel, p, count, slopes[p],
                          slope);
        }
        gram_points_release(x);
        gram_points_release(z);
        gram_kernel_release(kernel);
    }
    gram_context_destroy(c);
}

/* More rows than a block, a kernel of rank 3: the bound and its gradient are the likelihood's. */
static void several_blocks(void **state)
{
    (void)state;
    enum { ROWS = 2300, POINTS = 6 };
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    double *x = test_random(3, ROWS * D, -1, 1), *y = sample_normal(9, ROWS), value, slopes[8], slopes2[8];
    gram_kernel *kernel = test_kernel(c, "1.7*linear(c=0.4)");
    gram_points *points = test_points(c, ROWS, D, x), *z = test_points(c, POINTS, D, x);
    gram_gp_options gp;
    gram_gp_inducing_options o;
    gram_gp_inducing_value bound;
    gram_gp_options_init(&gp, sizeof gp);
    gp.noise = 0.7;
    gram_gp_inducing_options_init(&o, sizeof o);
    gp.inducing = &o;
    for (int i = 0; i < ROWS; i++) y[i] += x[i * D] - 2 * x[i * D + 1];
    OK(c, gram_gp_likelihood(c, kernel, points, y, &gp, &value, slopes));
    OK(c, gram_gp_inducing_bound(c, kernel, points, y, z, &gp, &bound, slopes2, NULL, 0));
    assert_true(fabs(value - bound.bound) < 1e-6);
    for (int p = 0; p < 3; p++)
        if (fabs(slopes[p] - slopes2[p]) > 1e-5 * (1 + fabs(slopes[p])))
            FAIL_TEST("derivative %d: %g, exact %g", p, slopes2[p], slopes[p]);
    gram_points_release(points);
    gram_points_release(z);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
    free(x);
    free(y);
}

/* ---- choosing and learning ---- */

static double fit_bound(gram_context *c, const char *text, int n, const double *x, const double *y,
                        const gram_gp_options *gp, gram_gp_inducing **out)
{
    gram_kernel *kernel = test_kernel(c, text);
    gram_points *points = test_points(c, n, D, x);
    gram_gp_inducing *fit = NULL;
    assert_true(gram_gp_inducing_fit(c, kernel, points, y, gp, &fit) >= 0);
    const double bound = gram_gp_inducing_get_report(fit)->value.bound;
    if (out)
        *out = fit;
    else
        gram_gp_inducing_destroy(fit);
    gram_points_release(points);
    gram_kernel_release(kernel);
    return bound;
}

static void learns(void **state)
{
    (void)state;
    enum { ROWS = 300 };
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    double *x = test_random(5, ROWS * D, 0, 3), *e = sample_normal(6, ROWS), y[ROWS], slopes[MOST], places[20 * D];
    gram_gp_options gp;
    gram_gp_inducing_options o;
    gram_gp_inducing *fit = NULL;
    for (int i = 0; i < ROWS; i++) y[i] = 4 + sin(2 * x[i * D]) * cos(x[i * D + 1]) + 0.2 * e[i];
    gram_gp_options_init(&gp, sizeof gp);
    gp.noise = 0.3;
    gram_gp_inducing_options_init(&o, sizeof o);
    gp.inducing = &o;
    o.count = 20;
    const char *text = "0.5*rbf(ell=[2,2])";
    const double fixed = fit_bound(c, text, ROWS, x, y, &gp, NULL);
    for (int choice = GRAM_INDUCING_GREEDY; choice <= GRAM_INDUCING_KMEANS; choice++) {
        o.choice = (gram_inducing_choice)choice;
        assert_true(fabs(fixed - fit_bound(c, text, ROWS, x, y, &gp, NULL)) < 5);
    }
    o.choice = GRAM_INDUCING_DRAWN;
    o.learn_parameters = o.learn_noise = 1;
    o.tolerance = 1e-6;
    o.evaluations = 400;
    const double learnt = fit_bound(c, text, ROWS, x, y, &gp, NULL);
    o.learn_positions = 1;
    const double placed = fit_bound(c, text, ROWS, x, y, &gp, &fit);
    assert_true(learnt > fixed + 20 && placed > learnt);
    const gram_gp_inducing_report *r = gram_gp_inducing_get_report(fit);
    assert_true(r->converged && r->evaluations > 3 && fabs(r->noise - 0.04) < 0.012 && r->m == 20);
    /* no slope is left where it ended, and no numbers above the bound of the exact process at the same kernel */
    gram_gp_inducing_value value;
    gram_points *points = test_points(c, ROWS, D, x), *z = test_points(c, 20, D, fit->model.positions);
    double exact;
    gp.noise = r->noise;
    OK(c, gram_gp_inducing_bound(c, gram_gp_inducing_kernel(fit), points, y, z, &gp, &value, slopes, places, D));
    OK(c, gram_gp_likelihood(c, gram_gp_inducing_kernel(fit), points, y, &gp, &exact, NULL));
    assert_true(value.bound == placed && placed <= exact && exact - placed < 2);
    for (int p = 0; p < 3; p++) assert_true(fabs(slopes[p]) < 0.5); /* amplitude and lengths are of order 1 */
    assert_true(fabs(slopes[3] * r->noise) < 0.5);
    for (int i = 0; i < 20 * D; i++) assert_true(fabs(places[i]) < 0.5);
    gram_gp_inducing_destroy(fit);
    gram_points_release(points);
    gram_points_release(z);
    free(x);
    free(e);
    gram_context_destroy(c);
}

/* The search is by logarithms: other units of the target lead to the same model by the same steps. */
static void units(void **state)
{
    (void)state;
    enum { ROWS = 150 };
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double *x = test_random(15, ROWS * D, 0, 3), *e = sample_normal(16, ROWS), y[ROWS], bound[2], noise[2];
    int64_t steps[2];
    for (int k = 0; k < 2; k++) {
        const double unit = k ? 1000 : 1;
        gram_gp_options gp;
        gram_gp_inducing_options o;
        gram_gp_inducing *fit = NULL;
        for (int i = 0; i < ROWS; i++) y[i] = unit * (4 + sin(2 * x[i * D]) + 0.2 * e[i]);
        gram_gp_options_init(&gp, sizeof gp);
        gp.noise = 0.3 * unit * unit;
        gram_gp_inducing_options_init(&o, sizeof o);
        gp.inducing = &o;
        o.count = 15;
        o.learn_parameters = o.learn_noise = 1;
        bound[k] = fit_bound(c, k ? "500000*rbf(ell=[2,2])" : "0.5*rbf(ell=[2,2])", ROWS, x, y, &gp, &fit);
        noise[k] = gram_gp_inducing_get_report(fit)->noise;
        steps[k] = gram_gp_inducing_get_report(fit)->evaluations;
        gram_gp_inducing_destroy(fit);
    }
    assert_true(fabs(bound[0] - bound[1] - ROWS * log(1000)) < 1e-3);
    assert_true(fabs(noise[1] / noise[0] - 1e6) < 1e3 && steps[0] == steps[1] && steps[0] < 60);
    free(x);
    free(e);
    gram_context_destroy(c);
}

/* Points in f32 against the same numbers in f64: blocks of rows meet f64 positions, so only the choice is in f32. */
static void single_precision(void **state)
{
    (void)state;
    data t;
    make_data(85, &t);
    float single[N * D];
    for (int i = 0; i < N * D; i++) single[i] = (float)t.rows.x[i], t.rows.x[i] = (double)single[i];
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(c, "rbf(ell=0.8)");
    gram_points *x = test_points(c, N, D, t.rows.x), *z = test_points(c, NEW, D, t.rows.z), *f32 = NULL;
    double out[2][2 * NEW];
    OK(c, gram_points_create_f32(c, N, D, single, D, &f32));
    for (int k = 0; k < 2; k++) {
        gram_gp_options gp;
        gram_gp_inducing_options o;
        gram_gp_inducing *fit = NULL;
        gram_gp_options_init(&gp, sizeof gp);
        gram_gp_inducing_options_init(&o, sizeof o);
        gp.inducing = &o;
        o.count = 20;
        OK(c, gram_gp_inducing_fit(c, kernel, k ? f32 : x, t.rows.y, &gp, &fit));
        OK(c, gram_gp_inducing_predict(c, fit, z, NULL, 0, out[k], out[k] + NEW));
        gram_gp_inducing_destroy(fit);
    }
    for (int i = 0; i < 2 * NEW; i++) assert_true(fabs(out[0][i] - out[1][i]) < 1e-5);
    gram_points_release(x);
    gram_points_release(f32);
    gram_points_release(z);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

/* A valley in many variables with bounds: the minimum is where slopes and bounds say. */
static gram_status valley(void *argument, const double *x, double *value, double *slope)
{
    const int n = *(const int *)argument;
    *value = 0;
    for (int i = 0; i < n; i++) slope[i] = 0;
    for (int i = 0; i < n; i++) {
        const double scale = 1 + i % 17, off = x[i] - 0.1 * (i % 31);
        const double bend = i + 1 < n ? x[i + 1] - x[i] : 0;
        *value += 0.5 * scale * off * off + 0.25 * bend * bend * bend * bend;
        slope[i] += scale * off - bend * bend * bend;
        if (i + 1 < n) slope[i + 1] += bend * bend * bend;
    }
    if (x[0] > 5) *value = INFINITY;
    return GRAM_OK;
}

static void many_variables(void **state)
{
    (void)state;
    enum { VARIABLES = 2000 };
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double *x = test_random(8, VARIABLES, -3, 8), *lower = test_numbers(VARIABLES), *upper = test_numbers(VARIABLES);
    double *slope = test_numbers(VARIABLES), value;
    int n = VARIABLES, held = 0;
    for (int i = 0; i < n; i++) lower[i] = i % 5 == 0 ? 1.5 : -4, upper[i] = i % 7 == 0 ? 1 : 9;
    for (int i = 0; i < n; i += 35) upper[i] = 2;
    const gram_minimise_problem p = {.n = n,
                                     .lower = lower,
                                     .upper = upper,
                                     .evaluations = 2000,
                                     .tolerance = 1e-14,
                                     .first_step = 0.1,
                                     .longest_step = 2,
                                     .evaluate = valley,
                                     .argument = &n};
    gram_minimise_report report;
    OK(c, gram_minimise_limited(c, &p, x, &report));
    assert_true(report.converged && report.evaluations < 300);
    (void)valley(&n, x, &value, slope);
    assert_true(value == report.value);
    for (int i = 0; i < n; i++) {
        assert_true(x[i] >= lower[i] && x[i] <= upper[i]);
        held += x[i] == lower[i] || x[i] == upper[i];
        if (x[i] == lower[i])
            assert_true(slope[i] > -1e-5);
        else if (x[i] == upper[i])
            assert_true(slope[i] < 1e-5);
        else
            assert_true(fabs(slope[i]) < 1e-5);
    }
    assert_true(held > 100 && held < 1500);
    free(x), free(lower), free(upper), free(slope);
    gram_context_destroy(c);
}

/* ---- parts, corners ---- */

static void round_trip(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    for (int k = 0; k < GP_SETTINGS_COUNT; k++) {
        data t;
        make_data(70 + (uint64_t)k, &t);
        const gp_setting *s = &GP_SETTINGS_2[k];
        gram_kernel *kernel = test_kernel(c, s->kernel);
        gram_points *x = test_points(c, N, D, t.rows.x), *n = test_points(c, NEW, D, t.rows.z);
        gram_gp_options gp = gp_options_of(s, &t.rows);
        gram_gp_inducing_options o;
        gram_gp *fit = NULL, *copy = NULL;
        gram_gp_parts parts = {.size = sizeof parts};
        double out[4][NEW];
        gram_gp_inducing_options_init(&o, sizeof o);
        gp.inducing = &o;
        gp.solver = GRAM_SOLVER_INDUCING;
        o.count = 12;
        OK(c, gram_gp_fit(c, kernel, x, t.rows.y, &gp, &fit));
        gram_gp_describe(fit, &parts);
        OK(c, gram_gp_create(c, kernel, &parts, &copy));
        OK(c, gram_gp_predict(c, fit, n, s->columns ? t.rows.new_basis : NULL, 1, out[0], out[1]));
        gram_gp_destroy(fit); /* nothing of it is borrowed */
        OK(c, gram_gp_predict(c, copy, n, s->columns ? t.rows.new_basis : NULL, 1, out[2], out[3]));
        assert_memory_equal(out[0], out[2], 2 * sizeof out[0]);
        assert_true(gram_gp_get_report(copy)->rank == 12 && gram_gp_get_report(copy)->n == N);
        gram_gp_describe(copy, &parts);
        double *bad = test_numbers(12 * 12);
        memcpy(bad, parts.inner, 144 * sizeof *bad);
        bad[13] = 0;
        parts.inner = bad;
        fit = NULL;
        assert_int_equal(gram_gp_create(c, kernel, &parts, &fit), GRAM_ERROR_DATA);
        bad[13] = NAN;
        assert_int_equal(gram_gp_create(c, kernel, &parts, &fit), GRAM_ERROR_DATA);
        parts.inner = NULL;
        assert_int_equal(gram_gp_create(c, kernel, &parts, &fit), GRAM_ERROR_ARGUMENT);
        assert_null(fit);
        free(bad);
        gram_gp_destroy(copy);
        gram_points_release(x);
        gram_points_release(n);
        gram_kernel_release(kernel);
    }
    gram_context_destroy(c);
}

static void learnt_and_chosen(gram_context *c, double *out)
{
    enum { ROWS = 2080 };
    double *x = test_random(5, ROWS * D, 0, 5), *y = test_random(6, ROWS, -1, 1), *z = test_random(7, NEW * D, 0, 5);
    gram_gp_options gp;
    gram_gp_inducing_options o;
    gram_gp_inducing *fit = NULL;
    gram_gp_options_init(&gp, sizeof gp);
    gram_gp_inducing_options_init(&o, sizeof o);
    gp.inducing = &o;
    o.count = 200;
    o.choice = GRAM_INDUCING_KMEANS;
    o.learn_parameters = o.learn_positions = o.learn_noise = 1;
    o.evaluations = 2;
    out[2 * NEW] = fit_bound(c, "rbf(ell=[0.5,0.7])", ROWS, x, y, &gp, &fit);
    gram_points *n = test_points(c, NEW, D, z);
    OK(c, gram_gp_inducing_predict(c, fit, n, NULL, 0, out, out + NEW));
    gram_gp_inducing_destroy(fit);
    gram_points_release(n);
    o.choice = GRAM_INDUCING_GREEDY;
    o.learn_parameters = o.learn_positions = o.learn_noise = 0;
    out[2 * NEW + 1] = fit_bound(c, "rbf(ell=[0.5,0.7])", ROWS, x, y, &gp, NULL);
    free(x), free(y), free(z);
}

static void same_bits(void **state)
{
    (void)state;
    test_any_threads(2 * NEW + 2, learnt_and_chosen);
}

/* One row, equal rows, a constant target, a column that depends on the constant. */
static void degenerate(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    for (int way = 0; way < 5; way++) {
        data t;
        make_data(90, &t);
        const int n = way == 0 ? 1 : N;
        for (int i = 0; i < N; i++) {
            if (way == 1) memcpy(t.rows.x + i * D, t.rows.x, D * sizeof(double));
            if (way == 2) t.rows.y[i] = 3;
            if (way == 3) t.rows.x[i * D + 1] = 7;
            if (way == 4) memcpy(t.rows.x + i * D, t.rows.x + i / 2 * 2 * D, D * sizeof(double));
        }
        gram_kernel *kernel = test_kernel(c, "rbf(ell=[0.7,0.9])");
        gram_points *x = test_points(c, n, D, t.rows.x), *z = test_points(c, NEW, D, t.rows.z);
        gram_gp_options gp;
        gram_gp_inducing_options o;
        gram_gp_options_init(&gp, sizeof gp);
        gram_gp_inducing_options_init(&o, sizeof o);
        gp.mean = way == 3 ? GRAM_MEAN_LINEAR : GRAM_MEAN_CONSTANT;
        gp.noise = 0.05;
        gp.inducing = &o;
        for (int learn = 0; learn < 2; learn++)
            for (int choice = 0; choice < 3; choice++) {
                gram_gp *full = NULL;
                gram_gp_inducing *fit = NULL;
                double mean[NEW], variance[NEW], mean2[NEW], variance2[NEW];
                o.count = N;
                o.choice = (gram_inducing_choice)choice;
                o.learn_positions = o.learn_noise = o.learn_parameters = learn;
                o.evaluations = 8;
                OK(c, gram_gp_fit(c, kernel, x, t.rows.y, &gp, &full));
                assert_true(gram_gp_inducing_fit(c, kernel, x, t.rows.y, &gp, &fit) >= 0);
                OK(c, gram_gp_predict(c, full, z, NULL, 0, mean, variance));
                OK(c, gram_gp_inducing_predict(c, fit, z, NULL, 0, mean2, variance2));
                for (int i = 0; i < NEW; i++) {
                    assert_true(isfinite(mean2[i]) && variance2[i] >= 0);
                    if (!learn) assert_true(fabs(mean[i] - mean2[i]) < 1e-5 && fabs(variance[i] - variance2[i]) < 1e-5);
                }
                gram_gp_destroy(full);
                gram_gp_inducing_destroy(fit);
            }
        gram_points_release(x);
        gram_points_release(z);
        gram_kernel_release(kernel);
    }
    gram_context_destroy(c);
}

static void bad_arguments(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double x[4] = {0, 1, 2, 3}, y[4] = {1, 2, 3, 4}, mean[4];
    gram_kernel *kernel = test_kernel(c, "rbf(ell=1)");
    gram_points *points = test_points(c, 4, 1, x), *wide = test_points(c, 2, 2, x);
    gram_gp_options gp;
    gram_gp_inducing_options o;
    gram_gp_inducing *fit = NULL;
    gram_gp_inducing_value value;
    gram_gp_options_init(&gp, sizeof gp);
    gram_gp_inducing_options_init(&o, sizeof o);
    gp.inducing = &o;
    gp.noise = 0;
    REFUSED(c, gram_gp_inducing_fit(c, kernel, points, y, &gp, &fit), GRAM_ERROR_ARGUMENT, "noise of row 0 is 0");
    gp.noise = 0.1;
    o.positions = wide;
    assert_int_equal(gram_gp_inducing_fit(c, kernel, points, y, &gp, &fit), GRAM_ERROR_DIMENSION);
    assert_int_equal(gram_gp_inducing_bound(c, kernel, points, y, wide, &gp, &value, NULL, NULL, 0),
                     GRAM_ERROR_DIMENSION);
    assert_int_equal(gram_gp_inducing_bound(c, kernel, points, y, NULL, &gp, &value, NULL, NULL, 0),
                     GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_gp_inducing_bound(c, kernel, points, y, points, &gp, &value, NULL, mean, 0),
                     GRAM_ERROR_ARGUMENT);
    o.positions = NULL;
    o.count = -1;
    assert_int_equal(gram_gp_inducing_fit(c, kernel, points, y, &gp, &fit), GRAM_ERROR_ARGUMENT);
    o.count = 2;
    o.jitter = -1;
    assert_int_equal(gram_gp_inducing_fit(c, kernel, points, y, &gp, &fit), GRAM_ERROR_ARGUMENT);
    o.jitter = 0;
    o.choice = (gram_inducing_choice)7;
    assert_int_equal(gram_gp_inducing_fit(c, kernel, points, y, &gp, &fit), GRAM_ERROR_ARGUMENT);
    o.choice = GRAM_INDUCING_GREEDY;
    assert_int_equal(gram_gp_inducing_fit(c, NULL, points, y, &gp, &fit), GRAM_ERROR_ARGUMENT);
    OK(c, gram_gp_inducing_fit(c, kernel, points, y, &gp, &fit));
    assert_int_equal(gram_gp_inducing_predict(c, fit, wide, NULL, 0, mean, NULL), GRAM_ERROR_DIMENSION);
    OK(c, gram_gp_inducing_predict(c, fit, points, NULL, 0, mean, NULL));
    gram_gp_inducing_destroy(fit);
    y[2] = NAN;
    assert_int_equal(gram_gp_inducing_fit(c, kernel, points, y, &gp, &fit), GRAM_ERROR_DATA);
    assert_null(fit);
    gram_points_release(points);
    gram_points_release(wide);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

static gram_status play(gram_context *c)
{
    enum { ROWS = 24 };
    double x[ROWS], y[ROWS], mean[ROWS], variance[ROWS], slopes[2], places[ROWS];
    gram_kernel *kernel = NULL;
    gram_points *points = NULL;
    gram_gp *fit = NULL, *copy = NULL;
    gram_gp_inducing_value value;
    gram_gp_parts parts = {.size = sizeof parts};
    gram_gp_inducing_options o;
    gram_gp_options gp;
    gram_gp_options_init(&gp, sizeof gp);
    gram_gp_inducing_options_init(&o, sizeof o);
    gp.flat = 1;
    gp.noise = 0.3;
    gp.inducing = &o;
    gp.solver = GRAM_SOLVER_INDUCING;
    o.count = 5;
    o.learn_parameters = o.learn_noise = o.learn_positions = 1;
    o.evaluations = 2;
    test_uniform(1, ROWS, 0, 1, x);
    test_uniform(2, ROWS, 0, 1, y);
    gram_status status = gram_kernel_parse(c, "rbf(ell=0.4)", &kernel);
    if (status >= 0) status = gram_points_create_f64(c, ROWS, 1, x, 1, &points);
    for (int choice = 0; choice < 3 && status >= 0; choice++) {
        gram_gp_destroy(fit);
        fit = NULL;
        o.choice = (gram_inducing_choice)choice;
        status = gram_gp_fit(c, kernel, points, y, &gp, &fit);
    }
    if (status >= 0) gram_gp_describe(fit, &parts);
    if (status >= 0) status = gram_gp_create(c, kernel, &parts, &copy);
    if (status >= 0) status = gram_gp_predict(c, copy, points, NULL, 0, mean, variance);
    if (status >= 0) status = gram_gp_inducing_bound(c, kernel, points, y, points, &gp, &value, slopes, places, 1);
    gram_gp_destroy(fit);
    gram_gp_destroy(copy);
    gram_points_release(points);
    gram_kernel_release(kernel);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    oom_all(play, 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_matrices), cmocka_unit_test(all_points),     cmocka_unit_test(gradient),
        cmocka_unit_test(several_blocks),   cmocka_unit_test(learns),         cmocka_unit_test(units),
        cmocka_unit_test(single_precision), cmocka_unit_test(many_variables), cmocka_unit_test(round_trip),
        cmocka_unit_test(same_bits),        cmocka_unit_test(degenerate),     cmocka_unit_test(bad_arguments),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
