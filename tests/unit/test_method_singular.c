/* Gaussian processes and kernel ridge regression with next to no noise, where K is singular to working precision: repeated rows,
 * smooth kernels, kernels of few features. References have 100 digits (make_singular.py). What a report says of its accuracy is
 * what it has, and a result that rounding has spoilt is told. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { MOST = 200, PLACES = 5, FEW = 4, SMOOTH = 0, APART = 1, ROUGH = 2 };

static const double PLACE[PLACES] = {0.3, 2.7, 5.1, 7.9, 9.6};
static const char *const KERNEL[] = {"rbf(ell=%g)", "matern(nu=1.5, ell=%g)", "linear(c=%g)", "poly(m=2, c=%g)"};

/* As in make_singular.py, operation by operation. */
static void make_rows(int n, int kind, double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        x[i] = i % 7 == 6 ? x[i - 1] : 10 * fmod(0.6180339887498949 * i, 1.0);
        y[i] = 3 * x[i] / (4 + x[i] * x[i]) + x[i] / 8;
        if (kind == APART && i % 7 == 5 && i + 1 < n) y[i] += 0.25;
        if (kind == APART && i % 7 == 6) y[i] -= 0.25;
        if (kind == ROUGH) y[i] += (i * 37) % 64 / 256.0 - 0.125;
    }
}

typedef struct reference {
    int kernel, n, kind, mean, count;
    double parameter, noise, likelihood;
    double at[FEW + PLACES], value[FEW + PLACES], variance[FEW + PLACES];
    double x[MOST], y[MOST];
} reference;

static int read_reference(FILE *file, reference *r)
{
    if (fscanf(file, "%d %lf %d %d %d %lf %lf", &r->kernel, &r->parameter, &r->n, &r->kind, &r->mean, &r->noise,
               &r->likelihood) != 7)
        return 0;
    make_rows(r->n, r->kind, r->x, r->y);
    const int rows[FEW] = {0, 6, 7, r->n - 1};
    r->count = FEW + PLACES;
    for (int i = 0; i < r->count; i++) {
        r->at[i] = i < FEW ? r->x[rows[i]] : PLACE[i - FEW];
        assert_int_equal(fscanf(file, "%lf %lf", &r->value[i], &r->variance[i]), 2);
    }
    return 1;
}

/* The largest error at rows, and elsewhere. */
static void errors(const reference *r, const double *mean, double *rows, double *between)
{
    *rows = *between = 0;
    for (int i = 0; i < FEW + PLACES; i++) {
        double *own = i < FEW ? rows : between;
        *own = fmax(*own, fabs(mean[i] - r->value[i]));
    }
}

/* Without noise, or nearly so, targets of no smooth function have no answer between the rows of a smooth kernel. */
static void check_mean(const char *what, const reference *r, const double *mean, double residual)
{
    double rows, between;
    errors(r, mean, &rows, &between);
    const double allowed = 20 * residual + 1e-12;
    const double further = r->kernel == 0 ? 1e4 * residual + 1e-11 + 2e-15 / fmax(r->noise, 1e-11) : allowed;
    if (rows > allowed || between > further)
        FAIL_TEST("%s, kernel %d n %d kind %d mean %d noise %g: errors %g and %g beside a residual of %g", what,
                  r->kernel, r->n, r->kind, r->mean, r->noise, rows, between, residual);
}

static void check_process(const reference *r, const double *variance, const gram_gp_report *report)
{
    for (int i = 0; i < r->count; i++) {
        const double off = fabs(sqrt(variance[i]) - sqrt(fmax(r->variance[i], 0)));
        if (!(variance[i] >= 0) || off > (r->noise < 1e-15 ? 5e-5 : 1e-5))
            FAIL_TEST("kernel %d n %d kind %d noise %g: deviation %d off by %g", r->kernel, r->n, r->kind, r->noise, i,
                      off);
    }
    const double value = report->log_marginal_likelihood;
    if (r->noise >= 1e-13) assert_true(value == value);
    if (r->noise == 0) assert_true(isnan(value));
    const double rounding = fmax(1e-7, 5 * 2.2e-16 / fmax(r->noise, 1e-300));
    if (!isnan(value) && fabs(value - r->likelihood) > 0.3 + rounding * fabs(r->likelihood))
        FAIL_TEST("kernel %d n %d kind %d noise %g: likelihood %.12g, not %.12g", r->kernel, r->n, r->kind, r->noise,
                  value, r->likelihood);
}

/* Is no answer a right one? Only for targets that a strictly positive definite kernel can follow, but not in these digits. */
static int may_fail(const reference *r)
{
    return r->kernel == 0 && r->kind == ROUGH && r->noise < 1e-11;
}

static void against_reference(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    FILE *file = test_open_reference("singular.txt");
    reference *r = malloc(sizeof *r);
    int lines = 0, failed = 0;
    for (; read_reference(file, r); lines++) {
        char text[64];
        double mean[FEW + PLACES], variance[FEW + PLACES];
        gram_gp_options o;
        gram_gp *gp = NULL;
        (void)snprintf(text, sizeof text, KERNEL[r->kernel], r->parameter);
        gram_kernel *kernel = test_kernel(c, text);
        gram_points *x = test_points(c, r->n, 1, r->x), *z = test_points(c, r->count, 1, r->at);
        gram_gp_options_init(&o, sizeof o);
        o.mean = r->mean ? GRAM_MEAN_CONSTANT : GRAM_MEAN_ZERO;
        o.flat = r->mean == 2;
        o.noise = r->noise;
        o.solver = GRAM_SOLVER_EXACT;
        const gram_status status = gram_gp_fit(c, kernel, x, r->y, &o, &gp);
        const gram_gp_report *report = gram_gp_get_report(gp);
        assert_true(status == (report->converged ? GRAM_OK : GRAM_NOT_CONVERGED));
        assert_true(report->converged == (report->residual <= 1e-4));
        if (!report->converged && !may_fail(r))
            FAIL_TEST("kernel %d n %d kind %d mean %d noise %g: a residual of %g", r->kernel, r->n, r->kind, r->mean,
                      r->noise, report->residual);
        failed += !report->converged;
        OK(c, gram_gp_predict(c, gp, z, NULL, 0, mean, variance));
        if (report->converged) check_mean("gp", r, mean, report->residual);
        if (report->converged) check_process(r, variance, report);
        gram_gp_destroy(gp);
        gram_points_release(x);
        gram_points_release(z);
        gram_kernel_release(kernel);
    }
    assert_int_equal(lines, 88);
    assert_in_range(failed, 5, 12);
    free(r);
    (void)fclose(file);
    gram_context_destroy(c);
}

static void ridge_regression(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    FILE *file = test_open_reference("singular.txt");
    reference *r = malloc(sizeof *r);
    int failed = 0;
    while (read_reference(file, r)) {
        char text[64];
        double mean[2 * (FEW + PLACES)], *twice = test_numbers(2 * MOST);
        gram_krr_options o;
        gram_krr *krr = NULL;
        (void)snprintf(text, sizeof text, KERNEL[r->kernel], r->parameter);
        gram_kernel *kernel = test_kernel(c, text);
        gram_points *x = test_points(c, r->n, 1, r->x), *z = test_points(c, r->count, 1, r->at);
        for (int i = 0; i < r->n; i++) { /* two outputs: the second is twice the first */
            twice[2 * i] = r->y[i];
            twice[2 * i + 1] = 2 * r->y[i];
        }
        gram_krr_options_init(&o, sizeof o);
        o.lambda = r->noise / r->n;
        o.intercept = r->mean != 0;
        const gram_status status = gram_krr_fit(c, kernel, x, 2, twice, 2, &o, &krr);
        const gram_krr_report *report = gram_krr_get_report(krr);
        const int edge = r->n == 12 && r->noise == 0; /* twelve rows within two lengths of the kernel */
        if (status != GRAM_OK && !may_fail(r) && !(edge && report->residual < 2e-4))
            FAIL_TEST("kernel %d n %d kind %d noise %g: a residual of %g", r->kernel, r->n, r->kind, r->noise,
                      report->residual);
        failed += status != GRAM_OK;
        OK(c, gram_function_evaluate(c, gram_krr_function(krr), z, mean, 2));
        for (int i = 0; i < r->count && status == GRAM_OK; i++) {
            assert_true(fabs(mean[2 * i + 1] - 2 * mean[2 * i]) <= 1e-3);
            mean[i] = mean[2 * i];
        }
        /* without a ridge, that of a kernel of few features is what least squares leave of the targets */
        const double residual = o.lambda == 0 && r->kernel > 1 ? 1e-10 : report->residual;
        if (status == GRAM_OK) check_mean("krr", r, mean, residual);
        gram_krr_destroy(krr);
        gram_points_release(x);
        gram_points_release(z);
        gram_kernel_release(kernel);
        free(twice);
    }
    assert_in_range(failed, 5, 12);
    free(r);
    (void)fclose(file);
    gram_context_destroy(c);
}

/* ---- leave-one-out, by leaving out ---- */

enum { ROWS = 16 };

typedef struct few {
    double x[ROWS], y[ROWS], weights[ROWS];
} few;

static void make_few(few *t)
{
    make_rows(ROWS, APART, t->x, t->y);
    for (int i = 0; i < ROWS; i++) t->weights[i] = 0.5 + i % 3;
}

static gram_gp_options few_options(const few *t, gram_mean mean, int flat, double noise)
{
    gram_gp_options o;
    gram_gp_options_init(&o, sizeof o);
    o.mean = mean;
    o.flat = flat;
    o.noise = noise;
    o.weights = t->weights;
    o.solver = GRAM_SOLVER_EXACT;
    return o;
}

/* What the others say of row i. */
static void leave_out(gram_context *c, gram_kernel *kernel, const few *t, const gram_gp_options *options, int i,
                      double *mean, double *variance)
{
    few others;
    gram_gp_options o = *options;
    gram_gp *gp = NULL;
    for (int j = 0, k = 0; j < ROWS; j++) {
        if (j == i) continue;
        others.x[k] = t->x[j];
        others.y[k] = t->y[j];
        others.weights[k++] = t->weights[j];
    }
    o.weights = others.weights;
    gram_points *x = test_points(c, ROWS - 1, 1, others.x), *z = test_points(c, 1, 1, t->x + i);
    OK(c, gram_gp_fit(c, kernel, x, others.y, &o, &gp));
    OK(c, gram_gp_predict(c, gp, z, NULL, 0, mean, variance));
    *variance += o.noise / t->weights[i];
    gram_gp_destroy(gp);
    gram_points_release(x);
    gram_points_release(z);
}

static void leaving_out(void **state)
{
    (void)state;
    static const double NOISES[] = {0, 1e-16, 1e-13, 1e-11};
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(c, "matern(nu=1.5, ell=1)");
    few t;
    make_few(&t);
    gram_points *x = test_points(c, ROWS, 1, t.x);
    for (int k = 0; k < 4 * 3; k++) {
        gram_gp_options o =
            few_options(&t, k / 4 == 0 ? GRAM_MEAN_ZERO : GRAM_MEAN_CONSTANT, k / 4 == 2, NOISES[k % 4]);
        gram_gp *gp = NULL;
        OK(c, gram_gp_fit(c, kernel, x, t.y, &o, &gp));
        assert_int_equal(gram_gp_get_report(gp)->rank, ROWS - 2);
        for (int i = 0; i < ROWS; i++) {
            double mean, variance;
            leave_out(c, kernel, &t, &o, i, &mean, &variance);
            if (fabs(gram_gp_loo_mean(gp)[i] - mean) > 1e-7)
                FAIL_TEST("%d: row %d left out: %.12g, not %.12g", k, i, gram_gp_loo_mean(gp)[i], mean);
            if (k / 4 != 1 && fabs(gram_gp_loo_variance(gp)[i] - variance) > 1e-9)
                FAIL_TEST("%d: row %d left out: variance %g, not %g", k, i, gram_gp_loo_variance(gp)[i], variance);
        }
        gram_gp_destroy(gp);
    }
    gram_points_release(x);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

/* ---- what depends on the factor ---- */

/* From parts with the factor, and from the data again: the same bits. Draws at rows are the mean there; paths pass there. */
static void parts_and_draws(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(c, "matern(nu=1.5, ell=1)");
    few t;
    make_few(&t);
    gram_points *x = test_points(c, ROWS, 1, t.x), *z = test_points(c, PLACES, 1, PLACE);
    gram_gp_options o = few_options(&t, GRAM_MEAN_CONSTANT, 1, 0);
    gram_gp *gp = NULL, *again[2] = {NULL, NULL};
    gram_gp_parts parts = {.size = sizeof parts};
    double factor[ROWS * (ROWS + 1) / 2], mean[3][PLACES], variance[3][PLACES], drawn[2 * ROWS], at_rows[ROWS];
    OK(c, gram_gp_fit(c, kernel, x, t.y, &o, &gp));
    OK(c, gram_gp_describe(gp, &parts));
    parts.y = t.y;
    parts.weights = t.weights;
    OK(c, gram_gp_create(c, kernel, &parts, &again[0]));
    OK(c, gram_gp_factor(c, gp, factor));
    parts.factor = factor;
    OK(c, gram_gp_create(c, kernel, &parts, &again[1]));
    for (int k = 0; k < 3; k++) OK(c, gram_gp_predict(c, k == 0 ? gp : again[k - 1], z, NULL, 0, mean[k], variance[k]));
    assert_memory_equal(mean[0], mean[1], sizeof mean[0]);
    assert_memory_equal(mean[0], mean[2], sizeof mean[0]);
    assert_memory_equal(variance[0], variance[1], sizeof mean[0]);
    assert_memory_equal(variance[0], variance[2], sizeof mean[0]);
    OK(c, gram_gp_predict(c, gp, x, NULL, 0, at_rows, NULL));
    OK(c, gram_gp_draw(c, gp, x, NULL, 0, 2, drawn, 2, NULL));
    for (int i = 0; i < 2 * ROWS; i++) assert_true(fabs(drawn[i] - at_rows[i / 2]) < 1e-5);
    gram_gp_path_options path_options;
    gram_gp_path *path = NULL;
    gram_gp_path_options_init(&path_options, sizeof path_options);
    path_options.draws = 2;
    path_options.gp = &o;
    path_options.solver = GRAM_SOLVER_EXACT;
    OK(c, gram_gp_path_create(c, kernel, 1, x, t.y, &path_options, &path));
    OK(c, gram_gp_path_evaluate(c, path, x, NULL, 0, drawn, 2));
    for (int i = 0; i < 2 * ROWS; i++)
        if (fabs(drawn[i] - at_rows[i / 2]) > 1e-9)
            FAIL_TEST("a path at row %d: %.12g, not %.12g", i / 2, drawn[i], at_rows[i / 2]);
    gram_gp_path_destroy(path);
    gram_gp_destroy(gp);
    gram_gp_destroy(again[0]);
    gram_gp_destroy(again[1]);
    gram_points_release(x);
    gram_points_release(z);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

/* A likelihood that would be made of rounding errors is refused, and a search goes round it. */
static void likelihoods(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(c, "rbf(ell=2)"), *start = test_kernel(c, "const*rbf"), *tuned = NULL;
    double x[40], y[40], value = 0, gradient[2], noise = 0;
    make_rows(40, SMOOTH, x, y);
    gram_points *points = test_points(c, 40, 1, x), *distinct = NULL;
    gram_gp_options o;
    gram_gp_options_init(&o, sizeof o);
    for (int k = 0; k < 3; k++) {
        o.noise = k == 0 ? 0 : k == 1 ? 1e-16 : 1e-15;
        REFUSED(c, gram_gp_likelihood(c, kernel, points, y, &o, &value, gradient), GRAM_ERROR_NUMERICAL,
                k == 0 ? "not positive definite" : "");
    }
    o.noise = 1e-13;
    OK(c, gram_gp_likelihood(c, kernel, points, y, &o, &value, gradient));
    /* without noise, on rows that are all different: the length ends where K has still digits */
    for (int i = 0; i < 12; i++) {
        x[i] = i * 0.75;
        y[i] = 3 * x[i] / (4 + x[i] * x[i]) + x[i] / 8;
    }
    distinct = test_points(c, 12, 1, x);
    gram_gp_tune_options t;
    gram_gp_tune_options_init(&t, sizeof t);
    t.noise_fixed = 1;
    o.noise = 0;
    OK(c, gram_gp_tune(c, start, distinct, y, &o, &t, &tuned, &noise, NULL));
    assert_true(noise == 0);
    OK(c, gram_gp_likelihood(c, tuned, distinct, y, &o, &value, NULL));
    if (!(value > 10)) FAIL_TEST("a likelihood of %g", value);
    gram_kernel_release(kernel);
    gram_kernel_release(start);
    gram_kernel_release(tuned);
    gram_points_release(points);
    gram_points_release(distinct);
    gram_context_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_reference), cmocka_unit_test(ridge_regression), cmocka_unit_test(leaving_out),
        cmocka_unit_test(parts_and_draws),   cmocka_unit_test(likelihoods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
