/* Regression on the line by filtering against the same by matrices (gp.h), against differences, and against laws that draws
 * must follow. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gp_cases.h"
#include "method/gp/markov/gp_markov.h"
#include "support.h"

enum { N = 60, NEW = 25, MOST = 24 };

static const char *const KERNELS[] = {
    "1.3*matern(nu=0.5, ell=0.7)",
    "laplace(ell=0.4)",
    "0.5*laplace1(ell=0.6)",
    "2*powexp(p=1, ell=0.3)",
    "1.3*matern(nu=1.5, ell=0.7)",
    "0.8*matern(nu=2.5, ell=0.9)",
    "matern(nu=3.5, ell=0.8)",
    "matern(nu=4.5, ell=0.8)",
    "0.7*min(o=-1)",
    "sobolev(a=1)",
    "2*sobolev(a=2)",
    "1.5*sobolev(a=2, null=1)",
    "sobolev(a=3, null=1)",
    "2.5",
    "0.4*linear(c=0.3)",
    "linear()",
    "poly(m=2, c=0.5)",
    "1.2*cosine(p=1.7)",
    "0.3*white() + matern(nu=1.5, ell=0.5)",
    "white()",
    "0.6*matern(nu=1.5, ell=0.4) + 0.2*matern(nu=0.5, ell=2) + 0.1*linear(c=1) + 0.05*white()",
    "0.9*cosine(p=0.8)*matern(nu=2.5, ell=1.1)",
    "matern(nu=1.5, ell=0.9)^2*1.4",
    "(0.5 + matern(nu=0.5, ell=0.6))^2",
    "0.8*matern(nu=1.5, ell=0.7)*matern(nu=0.5, ell=1.5)",
    "on(1, 1.1*matern(nu=2.5, ell=0.5)) + 0.3*cosine(p=2)*cosine(p=0.7)",
    "min()*matern(nu=1.5, ell=0.8)",
    "sobolev(a=2)*cosine(p=1.3) + 0.5*white()*min()",
    "linear(c=0.2)*laplace(ell=0.7)",
};
enum { KERNEL_COUNT = sizeof KERNELS / sizeof *KERNELS };

static void make_data(uint64_t seed, gp_data *t)
{
    gp_make_data(seed, N, 1, t);
    test_uniform(seed, N, 0.05, 3, t->x);
    test_uniform(seed + 1, NEW, 0.01, 4, t->z); /* between, and beyond on both sides */
    t->x[7] = t->x[3];                          /* repeated */
    t->x[11] = t->x[3];
    t->x[20] = t->x[21] + 1e-9; /* nearly */
    t->z[4] = t->x[9];          /* at a datum */
    t->z[5] = t->x[3];
    t->z[6] = t->z[7];
    for (int i = 0; i < N; i++) t->basis[i] = exp(t->x[i]);
    for (int i = 0; i < NEW; i++) t->new_basis[i] = exp(t->z[i]);
}

static const gp_setting SETTINGS[] = {
    {NULL, GRAM_MEAN_ZERO, 0, 0, 0, 0.05},     {NULL, GRAM_MEAN_CONSTANT, 0, 1, 0, 1e-3},
    {NULL, GRAM_MEAN_CONSTANT, 1, 0, 0, 1e-2}, {NULL, GRAM_MEAN_LINEAR, 0, 0, 1, 0.1},
    {NULL, GRAM_MEAN_LINEAR, 1, 1, 1, 1e-2},   {NULL, GRAM_MEAN_ZERO, 0, 0, 0, 1e-6},
};
enum { SETTING_COUNT = sizeof SETTINGS / sizeof *SETTINGS };

/* The largest k(x, x): the noise of a setting is relative to it. */
static double amplitude(gram_context *c, gram_kernel *kernel, const gram_points *x)
{
    double diagonal[N], most = 0;
    OK(c, gram_matrix_diagonal(c, kernel, x, diagonal));
    for (int i = 0; i < N; i++) most = fmax(most, diagonal[i]);
    return most;
}

static gram_gp_options options_of(const gp_setting *s, const gp_data *t, double scale)
{
    gram_gp_options o = gp_options_of(s, t);
    o.noise *= scale;
    return o;
}

/* Neither noise nor a process: functions of a few numbers. */
static int finite_rank(const char *kernel)
{
    static const char *const processes[] = {"matern", "laplace", "powexp", "min", "sobolev", "white"};
    for (int i = 0; i < 6; i++)
        if (strstr(kernel, processes[i])) return 0;
    return 1;
}

static void same_as_matrices(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    for (int k = 0; k < KERNEL_COUNT; k++)
        for (int e = 0; e < SETTING_COUNT; e++) {
            gp_data t;
            const gp_setting *s = &SETTINGS[e];
            gram_gp *gp = NULL;
            gram_markov *fit = NULL;
            double a[NEW], b[NEW], va[NEW], vb[NEW], one, two, ga[MOST], gb[MOST];
            make_data(1000 + 10 * (uint64_t)k + (uint64_t)e, &t);
            gram_kernel *kernel = test_kernel(c, KERNELS[k]);
            gram_points *x = test_points(c, N, 1, t.x), *z = test_points(c, NEW, 1, t.z);
            const gram_gp_options o = options_of(s, &t, amplitude(c, kernel, x));
            const double *basis = s->columns ? t.new_basis : NULL;
            assert_true(gram_markov_supports(c, kernel, NULL));
            if (s->noise < 1e-5 && finite_rank(KERNELS[k]))
                goto next; /* data far outside the model: matrices lose digits */
            OK(c, gram_gp_likelihood(c, kernel, x, t.y, &o, &one, ga));
            OK(c, gram_markov_likelihood(c, kernel, x, t.y, &o, &two, gb));
            test_near("likelihood", KERNELS[k], 1, &two, &one, 1e-8);
            if (s->noise > 1e-5) /* else the matrices' gradient cancels: that case is checked by differences below */
                test_near("gradient", KERNELS[k], gram_kernel_parameter_count(kernel) + 1, gb, ga, 1e-8);
            OK(c, gram_gp_fit(c, kernel, x, t.y, &o, &gp));
            OK(c, gram_markov_fit(c, kernel, x, t.y, &o, &fit));
            OK(c, gram_gp_predict(c, gp, z, basis, 1, a, va));
            OK(c, gram_markov_predict(c, fit, z, basis, 1, b, vb));
            test_near("mean", KERNELS[k], NEW, b, a, 1e-8);
            test_near("variance", KERNELS[k], NEW, vb, va, 1e-8);
            for (int i = 0; i < NEW; i++) assert_true(vb[i] >= 0);
            test_near("loo mean", KERNELS[k], N, gram_markov_loo_mean(fit), gram_gp_loo_mean(gp), 1e-8);
            test_near("loo variance", KERNELS[k], N, gram_markov_loo_variance(fit), gram_gp_loo_variance(gp), 1e-8);
            test_near("loo density", KERNELS[k], 1, &gram_markov_get_report(fit)->loo_log_density,
                      &gram_gp_get_report(gp)->loo_log_density, 1e-8);
            test_near("train rmse", KERNELS[k], 1, &gram_markov_get_report(fit)->train_rmse,
                      &gram_gp_get_report(gp)->train_rmse, 1e-8);
            test_near("report", KERNELS[k], 1, &gram_markov_get_report(fit)->log_marginal_likelihood, &two, 1e-12);
        next:
            gram_markov_destroy(fit);
            gram_gp_destroy(gp);
            gram_points_release(x);
            gram_points_release(z);
            gram_kernel_release(kernel);
        }
    gram_context_destroy(c);
}

/* Central differences of sixth order, at 1e-6 of the amplitude, too. */
static void gradients(void **state)
{
    (void)state;
    static const double weights[] = {45, -9, 1};
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    for (int k = 0; k < KERNEL_COUNT; k++)
        for (int e = 3; e < SETTING_COUNT; e++) {
            gp_data t;
            double values[MOST], gradient[MOST], value;
            make_data(2000 + (uint64_t)k, &t);
            gram_kernel *kernel = test_kernel(c, KERNELS[k]);
            gram_points *x = test_points(c, N, 1, t.x);
            const int64_t count = test_parameter_values(c, kernel, values);
            const gram_gp_options o = options_of(&SETTINGS[e], &t, amplitude(c, kernel, x));
            OK(c, gram_markov_likelihood(c, kernel, x, t.y, &o, &value, gradient));
            for (int64_t p = 0; p <= count; p++) {
                double difference = 0, size = 0, step = 1e-3 * (p < count ? values[p] : o.noise);
                for (int side = -3; side <= 3; side++) {
                    gram_gp_options there = o;
                    if (side == 0 || step == 0) continue;
                    if (p == count) there.noise += side * step;
                    gram_kernel *moved = test_moved(c, kernel, p, side * step);
                    OK(c, gram_markov_likelihood(c, moved, x, t.y, &there, &value, NULL));
                    difference += (side > 0 ? 1 : -1) * weights[abs(side) - 1] * value / (60 * step);
                    size = fmax(size, fabs(value) / step * 1e-14); /* what rounding of the values may do */
                    gram_kernel_release(moved);
                }
                if (step != 0 && !(fabs(difference - gradient[p]) <= 1e-7 * fabs(difference) + 10 * size + 1e-9))
                    FAIL_TEST("gradient %d of %s: %.17g instead of %.17g", (int)p, KERNELS[k], gradient[p], difference);
            }
            gram_points_release(x);
            gram_kernel_release(kernel);
        }
    gram_context_destroy(c);
}

/* Few points, far and near ones, far from 0. */
static void compare(gram_context *c, const char *text, int n, const double *x, const double *y, gram_mean mean)
{
    gram_gp_options o;
    gram_gp_options_init(&o, sizeof o);
    o.mean = mean;
    o.noise = 1e-3;
    gram_kernel *kernel = test_kernel(c, text);
    double z[3], a[3], b[3], va[3], vb[3], one, two, ga[MOST], gb[MOST];
    z[0] = x[0], z[1] = 0.5 * (x[0] + x[n - 1]), z[2] = x[n - 1] + 1;
    gram_points *points = test_points(c, n, 1, x), *other = test_points(c, 3, 1, z);
    gram_gp *gp = NULL;
    gram_markov *fit = NULL;
    OK(c, gram_gp_likelihood(c, kernel, points, y, &o, &one, ga));
    OK(c, gram_markov_likelihood(c, kernel, points, y, &o, &two, gb));
    test_near("likelihood", text, 1, &two, &one, 1e-10);
    test_near("gradient", text, gram_kernel_parameter_count(kernel) + 1, gb, ga, 1e-8);
    OK(c, gram_gp_fit(c, kernel, points, y, &o, &gp));
    OK(c, gram_markov_fit(c, kernel, points, y, &o, &fit));
    OK(c, gram_gp_predict(c, gp, other, NULL, 0, a, va));
    OK(c, gram_markov_predict(c, fit, other, NULL, 0, b, vb));
    test_near("mean", text, 3, b, a, 1e-9);
    test_near("variance", text, 3, vb, va, 1e-9);
    if (n > 1 || mean == GRAM_MEAN_ZERO)
        test_near("loo mean", text, n, gram_markov_loo_mean(fit), gram_gp_loo_mean(gp), 1e-8);
    else
        assert_true(isnan(gram_markov_loo_mean(fit)[0]) && isnan(gram_gp_loo_mean(gp)[0]));
    gram_markov_destroy(fit);
    gram_gp_destroy(gp);
    gram_points_release(points);
    gram_points_release(other);
    gram_kernel_release(kernel);
}

static void few_far_and_near(void **state)
{
    (void)state;
    static const char *const kernels[] = {"laplace(ell=0.5)", "1.3*matern(nu=1.5, ell=0.5)", "matern(nu=2.5, ell=0.5)",
                                          "matern(nu=2.5, ell=0.5)*cosine(p=3) + 0.2*white()"};
    const double y[] = {1, 0.5, -0.3, 0.2, 0.4, 0.1};
    const double far[] = {0, 1e-12, 1, 1e5, 1e12, 1e12 + 0.5},
                 near_ones[] = {3, 3 + 1e-13, 3 + 2e-13, 3 + 1e-10, 3 + 1e-7, 3.5};
    double offset[6], same[6];
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    for (int i = 0; i < 6; i++) offset[i] = 0x1p30 + 0.25 * i * i, same[i] = 2;
    for (int k = 0; k < 4; k++) {
        for (int n = 1; n <= 2; n++)
            for (int mean = 0; mean < 2; mean++) compare(c, kernels[k], n, near_ones, y, (gram_mean)mean);
        if (k < 3) compare(c, kernels[k], 6, far, y, GRAM_MEAN_CONSTANT);
        compare(c, kernels[k], 6, near_ones, y, GRAM_MEAN_CONSTANT);
        compare(c, kernels[k], 6, offset, y, GRAM_MEAN_CONSTANT);
        compare(c, kernels[k], 6, same, y, GRAM_MEAN_CONSTANT);
    }
    gram_context_destroy(c);
}

/* Without noise the posterior goes through the data, however near the points are. */
static void interpolates(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double x[200], y[200], mean[200], variance[200];
    gram_gp_options o;
    gram_gp_options_init(&o, sizeof o);
    o.noise = 0;
    for (int i = 0; i < 200; i++) x[i] = 1e-3 * i, y[i] = sin(20 * x[i]);
    gram_kernel *kernel = test_kernel(c, "matern(nu=2.5, ell=1)");
    gram_points *points = test_points(c, 200, 1, x);
    gram_markov *fit = NULL;
    OK(c, gram_markov_fit(c, kernel, points, y, &o, &fit));
    OK(c, gram_markov_predict(c, fit, points, NULL, 0, mean, variance));
    test_near("interpolant", "matern", 200, mean, y, 1e-9);
    for (int i = 0; i < 200; i++) assert_true(variance[i] >= 0 && variance[i] < 1e-14);
    gram_markov_destroy(fit);
    gram_points_release(points);
    x[17] = x[16];
    points = test_points(c, 200, 1, x);
    double value;
    REFUSED(c, gram_markov_likelihood(c, kernel, points, y, &o, &value, NULL), GRAM_ERROR_NUMERICAL, "noise above 0");
    gram_points_release(points);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *kernel, *part;
    } cases[] = {{"rbf(ell=1)", "rbf"},
                 {"matern(nu=0.7, ell=1)", "nu=0.7"},
                 {"laplace(ell=1) + 2*periodic(p=1, ell=1)", "periodic"},
                 {"exp(linear())", "exp"},
                 {"powexp(p=1.5, ell=1)", "powexp"},
                 {"matern(nu=2.5, ell=1)^4", "32"},
                 {"matern(nu=4.5, ell=1)*(matern(nu=4.5, ell=1) + matern(nu=2.5, ell=1))", "32"}};
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    const double x[] = {1, 2, 3}, y[] = {0, 1, 0}, low[] = {1, -1, 2};
    double value;
    gram_points *points = test_points(c, 3, 1, x), *below = test_points(c, 3, 1, low), *plane = test_points(c, 1, 2, x);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *why = NULL;
        gram_kernel *kernel = test_kernel(c, cases[i].kernel);
        assert_false(gram_markov_supports(c, kernel, &why));
        if (!strstr(why, cases[i].part)) FAIL_TEST("%s: %s", cases[i].kernel, why);
        assert_int_equal(gram_markov_likelihood(c, kernel, points, y, NULL, &value, NULL), GRAM_ERROR_UNSUPPORTED);
        gram_kernel_release(kernel);
    }
    gram_kernel *open = test_kernel(c, "matern(nu=1.5)"), *minimum = test_kernel(c, "min()");
    assert_true(gram_markov_supports(c, open, NULL));
    assert_false(gram_markov_supports(c, NULL, NULL));
    assert_int_equal(gram_markov_likelihood(c, open, points, y, NULL, &value, NULL), GRAM_ERROR_UNSET);
    assert_int_equal(gram_markov_likelihood(c, minimum, below, y, NULL, &value, NULL), GRAM_ERROR_DOMAIN);
    assert_int_equal(gram_markov_likelihood(c, minimum, plane, y, NULL, &value, NULL), GRAM_ERROR_DIMENSION);
    assert_int_equal(gram_markov_likelihood(c, NULL, points, y, NULL, &value, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_markov_likelihood(c, minimum, NULL, y, NULL, &value, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_markov_likelihood(c, minimum, points, NULL, NULL, &value, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_markov_likelihood(c, minimum, points, y, NULL, NULL, NULL), GRAM_ERROR_ARGUMENT);
    const double bad[] = {0, NAN, 1};
    assert_int_equal(gram_markov_likelihood(c, minimum, points, bad, NULL, &value, NULL), GRAM_ERROR_DATA);
    gram_markov *fit = NULL;
    OK(c, gram_markov_fit(c, minimum, points, y, NULL, &fit));
    assert_int_equal(gram_markov_predict(c, fit, below, NULL, 0, &value, NULL), GRAM_ERROR_DOMAIN);
    assert_int_equal(gram_markov_predict(c, fit, NULL, NULL, 0, &value, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_markov_draw(c, fit, points, NULL, 0, 0, &value, 1), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_markov_draw_prior(c, minimum, points, 2, &value, 1), GRAM_ERROR_ARGUMENT);
    gram_markov_destroy(fit);
    gram_markov_destroy(NULL);
    gram_kernel_release(open);
    gram_kernel_release(minimum);
    gram_points_release(points);
    gram_points_release(below);
    gram_points_release(plane);
    gram_context_destroy(c);
}

/* Any number of threads, several blocks of the filter, rows in any order: the same. */
enum { LONG_LINE = 1500 };

static void everything(gram_context *c, double *out)
{
    double *x = test_random(5, LONG_LINE, 0, 30), *y = test_random(6, LONG_LINE, -1, 1), *mean = out + 6;
    gram_kernel *kernel = test_kernel(c, "matern(nu=1.5, ell=0.7) + 0.3*cosine(p=2)*laplace(ell=3)");
    gram_points *points = test_points(c, LONG_LINE, 1, x);
    gram_markov *fit = NULL;
    OK(c, gram_markov_likelihood(c, kernel, points, y, NULL, out, out + 1));
    OK(c, gram_markov_fit(c, kernel, points, y, NULL, &fit));
    OK(c, gram_markov_predict(c, fit, points, NULL, 0, mean, NULL));
    OK(c, gram_markov_draw(c, fit, points, NULL, 0, 2, mean + LONG_LINE, 2));
    test_near("fitted", "sum", LONG_LINE, mean, gram_markov_fitted(fit), 1e-11);
    gram_markov_destroy(fit);
    gram_points_release(points);
    gram_kernel_release(kernel);
    free(x), free(y);
}

static void same_bits(void **state)
{
    (void)state;
    test_any_threads(6 + 3 * LONG_LINE, everything);
}

/* Small noise, where matrices in double precision lose digits: a table made with 60 digits (reference/make_markov.py). */
static void small_noise(void **state)
{
    (void)state;
    enum { ROWS = 64 };
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    FILE *file = test_open_reference("markov.txt");
    char text[256];
    int blocks = 0;
    assert_non_null(file);
    for (; fgets(text, sizeof text, file); blocks++) {
        int n, count;
        double x[ROWS], y[ROWS], expected[MOST], found[MOST], z;
        gram_gp_options o;
        gram_markov *fit = NULL;
        gram_gp_options_init(&o, sizeof o);
        o.mean = GRAM_MEAN_ZERO;
        text[strcspn(text, "\n")] = 0;
        assert_int_equal(fscanf(file, "%lf %d", &o.noise, &n), 2);
        test_read_numbers(file, n, x);
        test_read_numbers(file, n, y);
        assert_int_equal(fscanf(file, "%d", &count), 1);
        test_read_numbers(file, count + 1, expected);
        assert_int_equal(fscanf(file, "%lf %lf %lf ", &z, &expected[count + 1], &expected[count + 2]), 3);
        gram_kernel *kernel = test_kernel(c, text);
        gram_points *points = test_points(c, n, 1, x), *other = test_points(c, 1, 1, &z);
        OK(c, gram_markov_likelihood(c, kernel, points, y, &o, found, found + 1));
        OK(c, gram_markov_fit(c, kernel, points, y, &o, &fit));
        OK(c, gram_markov_predict(c, fit, other, NULL, 0, &found[count + 1], &found[count + 2]));
        for (int i = 0; i <= count + 2; i++)
            if (!(fabs(found[i] - expected[i]) <= 1e-8 * fabs(expected[i])))
                FAIL_TEST("%s, noise %g: [%d] is %.17g instead of %.17g", text, o.noise, i, found[i], expected[i]);
        gram_markov_destroy(fit);
        gram_points_release(points);
        gram_points_release(other);
        gram_kernel_release(kernel);
    }
    assert_int_equal(blocks, 9);
    (void)fclose(file);
    gram_context_destroy(c);
}

static void cancelled(void **state)
{
    (void)state;
    enum { MANY = 60000 };
    int left = 3;
    double *x = test_random(5, MANY, 0, 30), *y = test_random(6, MANY, -1, 1), value, gradient[3];
    gram_context *c = TEST_CONTEXT(.cancel = test_stop, .cancel_user = &left);
    gram_kernel *kernel = test_kernel(c, "2*laplace(ell=1)");
    gram_points *points = test_points(c, MANY, 1, x);
    assert_int_equal(gram_markov_likelihood(c, kernel, points, y, NULL, &value, gradient), GRAM_ERROR_CANCELLED);
    assert_int_equal(left, 0);
    gram_points_release(points);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
    free(x), free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_matrices), cmocka_unit_test(gradients),   cmocka_unit_test(few_far_and_near),
        cmocka_unit_test(interpolates),     cmocka_unit_test(refusals),    cmocka_unit_test(same_bits),
        cmocka_unit_test(cancelled),        cmocka_unit_test(small_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
