/* Inducing points against a slow and obvious twin on whole matrices, the exact likelihood (never below the bound, equal when
 * all points are inducing, equal for kernels of finite rank), and differences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "method/gp/inducing/gp_inducing.h"
#include "oom.h"
#include "samples.h"
#include "support.h"

enum { N = 60, D = 2, M = 9, NEW = 11, WIDE = 8, MOST = 24 };

typedef struct data {
    double x[N * D], y[N], row_noise[N], weights[N], basis[N], z[M * D], new[NEW * D], new_basis[NEW];
} data;

static void make_data(uint64_t seed, data *t)
{
    test_uniform(seed, N * D, 0.1, 2, t->x);
    test_uniform(seed + 1, M * D, 0, 2.1, t->z);
    test_uniform(seed + 2, NEW * D, 0, 2.5, t->new);
    test_uniform(seed + 3, N, -0.2, 0.2, t->y);
    test_uniform(seed + 4, N, 0, 0.1, t->row_noise);
    test_uniform(seed + 5, N, 0.5, 3, t->weights);
    for (int i = 0; i < N; i++) {
        t->y[i] += 2 + sin(3 * t->x[i * D]) + t->x[i * D + 1];
        t->basis[i] = exp(t->x[i * D]);
    }
    for (int i = 0; i < NEW; i++) t->new_basis[i] = exp(t->new[i * D]);
}

typedef struct setting {
    const char *kernel;
    gram_mean mean;
    int flat, rows, columns;
    double noise;
} setting;

static const setting SETTINGS[] = {
    {"1.3*rbf(ell=0.7)", GRAM_MEAN_ZERO, 0, 0, 0, 0.05},
    {"1.3*rbf(ell=[0.7,1.4])", GRAM_MEAN_CONSTANT, 0, 0, 0, 0.1},
    {"0.4*matern(nu=1.5, ell=0.9) + 0.2*linear(c=0.3)", GRAM_MEAN_CONSTANT, 1, 1, 0, 0.05},
    {"0.9*matern(nu=2.5, ell=[0.8,2])", GRAM_MEAN_LINEAR, 1, 0, 1, 0.02},
    {"1.1*rbf(ell=0.5)*periodic(p=1.7, ell=1.2)", GRAM_MEAN_LINEAR, 0, 1, 1, 0.03},
};
enum { SETTINGS_COUNT = sizeof SETTINGS / sizeof *SETTINGS };

static gram_gp_options options_of(const setting *s, const data *t)
{
    gram_gp_options o;
    gram_gp_options_init(&o, sizeof o);
    o.mean = s->mean;
    o.flat = s->flat;
    o.noise = s->noise;
    o.row_noise = s->rows ? t->row_noise : NULL;
    o.weights = s->rows ? t->weights : NULL;
    o.columns = s->columns;
    o.basis = s->columns ? t->basis : NULL;
    o.ld = 1;
    return o;
}

/* a becomes its inverse; returns log |det a|. */
static double invert(int n, double *a)
{
    double *b = test_numbers(n * n), log_det = 0;
    for (int i = 0; i < n; i++) b[i * n + i] = 1;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
        for (int j = 0; j < n; j++) {
            double s = a[k * n + j];
            a[k * n + j] = a[best * n + j], a[best * n + j] = s;
            s = b[k * n + j];
            b[k * n + j] = b[best * n + j], b[best * n + j] = s;
        }
        const double pivot = a[k * n + k];
        log_det += log(fabs(pivot));
        for (int j = 0; j < n; j++) a[k * n + j] /= pivot, b[k * n + j] /= pivot;
        for (int i = 0; i < n; i++) {
            const double factor = i == k ? 0 : a[i * n + k];
            for (int j = 0; j < n; j++) a[i * n + j] -= factor * a[k * n + j], b[i * n + j] -= factor * b[k * n + j];
        }
    }
    memcpy(a, b, (size_t)(n * n) * sizeof *a);
    free(b);
    return log_det;
}

/* out = a b, n x k times k x m */
static void multiply(int n, int k, int m, const double *a, const double *b, double *out)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            out[i * m + j] = 0;
            for (int l = 0; l < k; l++) out[i * m + j] += a[i * k + l] * b[l * m + j];
        }
}

static void mean_row(const setting *s, const double *x, const double *basis, double *row)
{
    int j = 0;
    if (s->mean != GRAM_MEAN_ZERO) row[j++] = 1;
    for (int l = 0; l < D && s->mean == GRAM_MEAN_LINEAR; l++) row[j++] = x[l];
    if (s->columns) row[j] = *basis;
}

/* The bound on whole matrices, and mean and variance at the new points: the exact posterior with Q for K in the training
 * block and between training and new points, plus what the new point's own variance misses. */
static double slow_bound(gram_context *c, const setting *s, const data *t, double jitter, double *mean,
                         double *variance)
{
    const int q = (s->mean != GRAM_MEAN_ZERO) + (s->mean == GRAM_MEAN_LINEAR ? D : 0) + s->columns;
    double *kxz = test_numbers(N * M), *kzz = test_numbers(M * M), *kz = test_numbers(NEW * M),
           *a = test_numbers(N * N);
    double *r = test_numbers(N * M), *rn = test_numbers(NEW * M), *kxn = test_numbers(N * NEW), diagonal[N], own[NEW];
    double tt[N * WIDE] = {0}, h[N * WIDE] = {0}, small[WIDE * WIDE] = {0}, beta[WIDE] = {0}, left[N];
    gram_kernel *kernel = test_kernel(c, s->kernel);
    gram_points *x = test_points(c, N, D, t->x), *z = test_points(c, M, D, t->z), *n = test_points(c, NEW, D, t->new);
    const gram_gp_options o = options_of(s, t);
    OK(c, gram_matrix(c, kernel, x, z, kxz, M));
    OK(c, gram_matrix(c, kernel, z, NULL, kzz, M));
    OK(c, gram_matrix(c, kernel, n, z, kz, M));
    OK(c, gram_matrix_diagonal(c, kernel, x, diagonal));
    OK(c, gram_matrix_diagonal(c, kernel, n, own));
    for (int i = 0; i < M; i++) kzz[i * M + i] *= 1 + jitter;
    (void)invert(M, kzz);
    multiply(N, M, M, kxz, kzz, r);
    multiply(NEW, M, M, kz, kzz, rn);
    double trace = 0;
    for (int i = 0; i < N; i++) {
        const double noise = o.noise / (s->rows ? t->weights[i] : 1) + (s->rows ? t->row_noise[i] : 0);
        for (int j = 0; j < N; j++)
            for (int l = 0; l < M; l++) a[i * N + j] += r[i * M + l] * kxz[j * M + l];
        for (int j = 0; j < NEW; j++)
            for (int l = 0; l < M; l++) kxn[i * NEW + j] += kxz[i * M + l] * rn[j * M + l];
        trace += (diagonal[i] - a[i * N + i]) / noise;
        a[i * N + i] += noise;
        mean_row(s, t->x + i * D, t->basis + i, tt + i * q);
    }
    const double log_a = invert(N, a);
    multiply(N, N, q, a, tt, h);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < q; j++)
            for (int l = 0; l < q; l++) small[j * q + l] += tt[i * q + j] * h[i * q + l];
    const double log_small = q ? invert(q, small) : 0;
    for (int j = 0; j < q; j++)
        for (int l = 0; l < q; l++)
            for (int i = 0; i < N; i++) beta[j] += small[j * q + l] * h[i * q + l] * t->y[i];
    double quadratic = 0;
    for (int i = 0; i < N; i++) {
        left[i] = t->y[i];
        for (int j = 0; j < q; j++) left[i] -= tt[i * q + j] * beta[j];
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) quadratic += left[i] * a[i * N + j] * left[j];
    for (int p = 0; p < NEW; p++) {
        double row[WIDE] = {0}, rest[WIDE];
        mean_row(s, t->new + p *D, t->new_basis + p, row);
        mean[p] = 0, variance[p] = own[p];
        for (int j = 0; j < q; j++) mean[p] += row[j] * beta[j], rest[j] = row[j];
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                mean[p] += kxn[i * NEW + p] * a[i * N + j] * left[j];
                variance[p] -= kxn[i * NEW + p] * a[i * N + j] * kxn[j * NEW + p];
            }
        for (int i = 0; i < N; i++)
            for (int j = 0; j < q; j++) rest[j] -= h[i * q + j] * kxn[i * NEW + p];
        for (int j = 0; j < q && s->flat; j++)
            for (int l = 0; l < q; l++) variance[p] += rest[j] * small[j * q + l] * rest[l];
    }
    gram_points_destroy(x);
    gram_points_destroy(z);
    gram_points_destroy(n);
    gram_kernel_release(kernel);
    free(kxz), free(kzz), free(kz), free(a), free(r), free(rn), free(kxn);
    return -0.5 *
           (quadratic + log_a + trace + (s->flat ? log_small : 0) + (N - (s->flat ? q : 0)) * 1.8378770664093453);
}

static void against_matrices(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    for (int k = 0; k < SETTINGS_COUNT; k++) {
        data t;
        make_data(10 + (uint64_t)k, &t);
        const setting *s = &SETTINGS[k];
        gram_kernel *kernel = test_kernel(c, s->kernel);
        gram_points *x = test_points(c, N, D, t.x), *z = test_points(c, M, D, t.z), *n = test_points(c, NEW, D, t.new);
        gram_gp_options gp = options_of(s, &t);
        gram_gp_inducing_options o;
        gram_gp_inducing *fit = NULL;
        double mean[NEW], variance[NEW], mean2[NEW], variance2[NEW], exact;
        gram_gp_inducing_options_init(&o, sizeof o);
        gp.inducing = &o;
        o.positions = z;
        o.jitter = 1e-8;
        const double bound = slow_bound(c, s, &t, o.jitter, mean, variance);
        OK(c, gram_gp_likelihood(c, kernel, x, t.y, &gp, &exact, NULL));
        OK(c, gram_gp_inducing_fit(c, kernel, x, t.y, &gp, &fit));
        const gram_gp_inducing_report *r = gram_gp_inducing_get_report(fit);
        if (fabs(r->value.bound - bound) > 1e-6 * fabs(bound))
            FAIL_TEST("%s: bound %.12g, slowly %.12g", s->kernel, r->value.bound, bound);
        assert_true(r->value.bound < exact && r->value.trace > 0 && r->value.log_likelihood > r->value.bound);
        assert_true(r->m == M && r->n == N && r->d == D && r->value.jitter == 1e-8 && r->evaluations == 0);
        OK(c, gram_gp_inducing_predict(c, fit, n, s->columns ? t.new_basis : NULL, 1, mean2, variance2));
        for (int i = 0; i < NEW; i++) {
            if (fabs(mean[i] - mean2[i]) > 1e-7) FAIL_TEST("%s: mean %g, slowly %g", s->kernel, mean2[i], mean[i]);
            if (fabs(variance[i] - variance2[i]) > 1e-7)
                FAIL_TEST("%s: variance %g, slowly %g", s->kernel, variance2[i], variance[i]);
        }
        gram_gp_inducing_destroy(fit);
        gram_points_destroy(x);
        gram_points_destroy(z);
        gram_points_destroy(n);
        gram_kernel_release(kernel);
    }
    gram_context_destroy(c);
}

/* All points inducing: the likelihood itself, and the exact posterior. */
static void all_points(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    for (int k = 0; k < SETTINGS_COUNT; k++)
        for (int way = 0; way < 2; way++) {
            data t;
            make_data(30 + (uint64_t)k, &t);
            const setting *s = &SETTINGS[k];
            gram_kernel *kernel = test_kernel(c, s->kernel);
            gram_points *x = test_points(c, N, D, t.x), *n = test_points(c, NEW, D, t.new);
            gram_gp_options gp = options_of(s, &t);
            gram_gp_inducing_options o;
            gram_gp_inducing *fit = NULL;
            gram_gp *full = NULL;
            double mean[NEW], variance[NEW], mean2[NEW], variance2[NEW];
            gram_gp_inducing_options_init(&o, sizeof o);
            gp.inducing = &o;
            o.positions = way ? NULL : x;
            o.count = N + 100; /* more than there are: all */
            OK(c, gram_gp_fit(c, kernel, x, t.y, &gp, &full));
            OK(c, gram_gp_inducing_fit(c, kernel, x, t.y, &gp, &fit));
            const double exact = gram_gp_get_report(full)->log_marginal_likelihood;
            const gram_gp_inducing_report *r = gram_gp_inducing_get_report(fit);
            assert_true(r->value.bound <= exact + 1e-6 * fabs(exact) && r->value.bound >= exact - 1e-5);
            assert_true(r->value.trace_share < 1e-8 && r->m <= N);
            OK(c, gram_gp_predict(c, full, n, s->columns ? t.new_basis : NULL, 1, mean, variance));
            OK(c, gram_gp_inducing_predict(c, fit, n, s->columns ? t.new_basis : NULL, 1, mean2, variance2));
            for (int i = 0; i < NEW; i++)
                assert_true(fabs(mean[i] - mean2[i]) < 1e-5 && fabs(variance[i] - variance2[i]) < 1e-6);
            gram_gp_inducing_destroy(fit);
            gram_gp_destroy(full);
            gram_points_destroy(x);
            gram_points_destroy(n);
            gram_kernel_release(kernel);
        }
    gram_context_destroy(c);
}

/* ---- the gradient ---- */

/* The bound with parameter p (the noise last, then coordinates) moved by `step`. */
static double moved_bound(gram_context *c, const setting *s, const data *t, int p, double step)
{
    gram_kernel *kernel = test_kernel(c, s->kernel), *moved = NULL;
    const int count = (int)gram_kernel_parameter_count(kernel);
    double values[MOST], z[M * D];
    gram_gp_options gp = options_of(s, t);
    gram_gp_inducing_options o;
    gram_gp_inducing_value value;
    memcpy(z, t->z, sizeof z);
    for (int i = 0; i < count; i++) {
        gram_parameter parameter;
        OK(c, gram_kernel_parameter_get(c, kernel, i, &parameter));
        values[i] = parameter.value + (i == p ? step : 0);
    }
    if (p == count) gp.noise += step;
    if (p > count) z[p - count - 1] += step;
    gram_gp_inducing_options_init(&o, sizeof o);
    gp.inducing = &o;
    o.jitter = 1e-6;
    gram_points *x = test_points(c, N, D, t->x), *positions = test_points(c, M, D, z);
    OK(c, gram_kernel_with_values(c, kernel, values, &moved));
    OK(c, gram_gp_inducing_bound(c, moved, x, t->y, positions, &gp, &value, NULL, NULL, 0));
    gram_points_destroy(x);
    gram_points_destroy(positions);
    gram_kernel_release(moved);
    gram_kernel_release(kernel);
    return value.bound;
}

static void gradient(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    for (int k = 0; k < SETTINGS_COUNT; k++) {
        data t;
        make_data(50 + (uint64_t)k, &t);
        const setting *s = &SETTINGS[k];
        gram_kernel *kernel = test_kernel(c, s->kernel);
        const int count = (int)gram_kernel_parameter_count(kernel);
        gram_points *x = test_points(c, N, D, t.x), *z = test_points(c, M, D, t.z);
        gram_gp_options gp = options_of(s, &t);
        gram_gp_inducing_options o;
        gram_gp_inducing_value value;
        double slopes[MOST + M * (D + 1)] = {0}, places[M * (D + 1)];
        gram_gp_inducing_options_init(&o, sizeof o);
        gp.inducing = &o;
        o.jitter = 1e-6;
        OK(c, gram_gp_inducing_bound(c, kernel, x, t.y, z, &gp, &value, slopes, places, D + 1));
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
        gram_points_destroy(x);
        gram_points_destroy(z);
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
    gram_points_destroy(points);
    gram_points_destroy(z);
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
    gram_points_destroy(points);
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
    gram_points_destroy(points);
    gram_points_destroy(z);
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
    for (int i = 0; i < N * D; i++) single[i] = (float)t.x[i], t.x[i] = (double)single[i];
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(c, "rbf(ell=0.8)");
    gram_points *x = test_points(c, N, D, t.x), *z = test_points(c, NEW, D, t.new), *f32 = NULL;
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
        OK(c, gram_gp_inducing_fit(c, kernel, k ? f32 : x, t.y, &gp, &fit));
        OK(c, gram_gp_inducing_predict(c, fit, z, NULL, 0, out[k], out[k] + NEW));
        gram_gp_inducing_destroy(fit);
    }
    for (int i = 0; i < 2 * NEW; i++) assert_true(fabs(out[0][i] - out[1][i]) < 1e-5);
    gram_points_destroy(x);
    gram_points_destroy(f32);
    gram_points_destroy(z);
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
    for (int k = 0; k < SETTINGS_COUNT; k++) {
        data t;
        make_data(70 + (uint64_t)k, &t);
        const setting *s = &SETTINGS[k];
        gram_kernel *kernel = test_kernel(c, s->kernel);
        gram_points *x = test_points(c, N, D, t.x), *n = test_points(c, NEW, D, t.new);
        gram_gp_options gp = options_of(s, &t);
        gram_gp_inducing_options o;
        gram_gp *fit = NULL, *copy = NULL;
        gram_gp_parts parts = {.size = sizeof parts};
        double out[4][NEW];
        gram_gp_inducing_options_init(&o, sizeof o);
        gp.inducing = &o;
        gp.solver = GRAM_SOLVER_INDUCING;
        o.count = 12;
        OK(c, gram_gp_fit(c, kernel, x, t.y, &gp, &fit));
        gram_gp_describe(fit, &parts);
        OK(c, gram_gp_create(c, kernel, &parts, &copy));
        OK(c, gram_gp_predict(c, fit, n, s->columns ? t.new_basis : NULL, 1, out[0], out[1]));
        gram_gp_destroy(fit); /* nothing of it is borrowed */
        OK(c, gram_gp_predict(c, copy, n, s->columns ? t.new_basis : NULL, 1, out[2], out[3]));
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
        gram_points_destroy(x);
        gram_points_destroy(n);
        gram_kernel_release(kernel);
    }
    gram_context_destroy(c);
}

static void same_bits(void **state)
{
    (void)state;
    enum { ROWS = 2080, COUNT = 200 };
    double *x = test_random(5, ROWS * D, 0, 5), *y = test_random(6, ROWS, -1, 1), first[2 * NEW + 2];
    data t;
    make_data(1, &t);
    for (int threads = 1; threads <= 3; threads += 2) {
        gram_context *c = test_context(threads, GRAM_ISA_AUTO);
        gram_gp_options gp;
        gram_gp_inducing_options o;
        gram_gp_inducing *fit = NULL;
        double out[2 * NEW + 2];
        gram_gp_options_init(&gp, sizeof gp);
        gram_gp_inducing_options_init(&o, sizeof o);
        gp.inducing = &o;
        o.count = COUNT;
        o.choice = GRAM_INDUCING_KMEANS;
        o.learn_parameters = o.learn_positions = o.learn_noise = 1;
        o.evaluations = 2;
        out[2 * NEW] = fit_bound(c, "rbf(ell=[0.5,0.7])", ROWS, x, y, &gp, &fit);
        gram_points *n = test_points(c, NEW, D, t.new);
        OK(c, gram_gp_inducing_predict(c, fit, n, NULL, 0, out, out + NEW));
        gram_gp_inducing_destroy(fit);
        gram_points_destroy(n);
        o.choice = GRAM_INDUCING_GREEDY;
        o.learn_parameters = o.learn_positions = o.learn_noise = 0;
        out[2 * NEW + 1] = fit_bound(c, "rbf(ell=[0.5,0.7])", ROWS, x, y, &gp, NULL);
        if (threads == 1)
            memcpy(first, out, sizeof out);
        else
            assert_memory_equal(first, out, sizeof out);
        gram_context_destroy(c);
    }
    free(x);
    free(y);
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
            if (way == 1) memcpy(t.x + i * D, t.x, D * sizeof(double));
            if (way == 2) t.y[i] = 3;
            if (way == 3) t.x[i * D + 1] = 7;
            if (way == 4) memcpy(t.x + i * D, t.x + i / 2 * 2 * D, D * sizeof(double));
        }
        gram_kernel *kernel = test_kernel(c, "rbf(ell=[0.7,0.9])");
        gram_points *x = test_points(c, n, D, t.x), *z = test_points(c, NEW, D, t.new);
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
                OK(c, gram_gp_fit(c, kernel, x, t.y, &gp, &full));
                assert_true(gram_gp_inducing_fit(c, kernel, x, t.y, &gp, &fit) >= 0);
                OK(c, gram_gp_predict(c, full, z, NULL, 0, mean, variance));
                OK(c, gram_gp_inducing_predict(c, fit, z, NULL, 0, mean2, variance2));
                for (int i = 0; i < NEW; i++) {
                    assert_true(isfinite(mean2[i]) && variance2[i] >= 0);
                    if (!learn) assert_true(fabs(mean[i] - mean2[i]) < 1e-5 && fabs(variance[i] - variance2[i]) < 1e-5);
                }
                gram_gp_destroy(full);
                gram_gp_inducing_destroy(fit);
            }
        gram_points_destroy(x);
        gram_points_destroy(z);
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
    assert_int_equal(gram_gp_inducing_fit(c, kernel, points, y, &gp, &fit), GRAM_ERROR_ARGUMENT);
    assert_non_null(strstr(gram_context_message(c), "noise of row 0 is 0"));
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
    gram_points_destroy(points);
    gram_points_destroy(wide);
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
    gram_points_destroy(points);
    gram_kernel_release(kernel);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 60);
    (void)oom_each(play, 1);
    (void)oom_budget(play);
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
