/* Gaussian processes by an f32 factor and refinement against the exact f64 ones: posterior, likelihood, gradient; the factor's own
 * solves and draws; matrices that f32 cannot do, threads, failing allocations, half of the memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gp_cases.h"
#include "method/gp/cg/gp_cg.h"
#include "oom.h"
#include "samples.h"
#include "solve/cholesky/cholesky_wide.h"
#include "support.h"

enum { D = 3, NEW = GP_NEW };

/* The options of an f32 factor with its refinement. */
static gram_gp_options refined(const gram_gp_options *gp, gram_gp_cg_options *cg)
{
    gram_gp_options o = *gp;
    gram_gp_cg_options_init(cg, sizeof *cg);
    o.precision = GRAM_PRECISION_MIXED;
    o.cg = cg;
    return o;
}

/* ---- the factor in f64 arithmetic ---- */

/* M from draws of unit vectors is not at hand; but L L' = A to f32, and M^-1 of a draw's own M x is x to f64. */
static void wide_factor(void **state)
{
    (void)state;
    enum { N = 1100, COLUMNS = 200, LD = 203 }; /* three rows of tiles, two blocks of columns */
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    double *x = test_numbers(N), *v = test_numbers(N * LD), *g = test_numbers(N), *norms = test_numbers(COLUMNS);
    gram_kernel *kernel = test_kernel(c, "rbf(ell=0.3)");
    gram_cholesky *factor = NULL;
    test_uniform(3, N, 0, 10, x);
    double *shift = test_numbers(N);
    for (int i = 0; i < N; i++) shift[i] = 1e-3;
    gram_points *points = test_points(c, N, 1, x);
    OK(c, gram_cholesky_create(c, kernel, points, shift, GRAM_STORAGE_F32, NULL, &factor));
    const gram_random random = {11, 5};
    OK(c, gram_cholesky_wide_draw(c, factor, random, COLUMNS, v, LD));
    double *z = test_numbers(N * LD);
    memcpy(z, v, N * LD * sizeof *z);
    OK(c, gram_cholesky_wide_solve(factor, c, COLUMNS, v, LD));
    /* z = L g: z'M^-1 z = |g|^2, to f64 and not to f32 times the condition */
    for (int k = 0; k < COLUMNS; k++) {
        double product = 0, square = 0;
        gram_random_normal(random, (uint64_t)k * N, N, g);
        for (int i = 0; i < N; i++) product += z[i * LD + k] * v[i * LD + k], square += g[i] * g[i];
        if (!(fabs(product - square) < 1e-10 * square)) FAIL_TEST("column %d: %.15g, not %.15g", k, product, square);
    }
    /* and M is A to f32: (A v)_k = z_k */
    for (int k = 0; k < COLUMNS; k += 37)
        for (int i = 0; i < N; i += 101) {
            double sum = 1e-3 * v[i * LD + k], size = 0;
            for (int j = 0; j < N; j++) {
                const double r = (x[i] - x[j]) / 0.3;
                sum += exp(-r * r / 2) * v[j * LD + k];
                size += fabs(exp(-r * r / 2) * v[j * LD + k]);
            }
            assert_true(fabs(sum - z[i * LD + k]) < 1e-5 * size);
        }
    gram_cholesky_destroy(factor);
    gram_points_release(points);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
    free(x), free(v), free(g), free(norms), free(z), free(shift);
}

/* ---- posterior ---- */

static void compare_posterior(gram_context *c, const gp_setting *s, const gp_data *t)
{
    gram_kernel *kernel = test_kernel(c, s->kernel);
    gram_points *x = test_points(c, t->n, D, t->x), *z = test_points(c, NEW, D, t->z);
    const gram_gp_options gp = gp_options_of(s, t);
    gram_gp_cg_options cg_options;
    const gram_gp_options o = refined(&gp, &cg_options);
    gram_gp *exact = NULL;
    gram_gp_cg *cg = NULL;
    double mean[NEW], variance[NEW], mean2[NEW], variance2[NEW];
    OK(c, gram_gp_fit(c, kernel, x, t->y, &gp, &exact));
    OK(c, gram_gp_cg_fit(c, kernel, x, t->y, &o, &cg));
    OK(c, gram_gp_predict(c, exact, z, s->columns ? t->new_basis : NULL, 1, mean, variance));
    OK(c, gram_gp_cg_predict(c, cg, z, s->columns ? t->new_basis : NULL, 1, mean2, variance2));
    const gram_gp_cg_report *r = gram_gp_cg_get_report(cg);
    assert_true(r->value.residual <= 1e-8 && r->tolerance == 1e-8);
    if (r->value.iterations > 5) FAIL_TEST("%s: %d iterations", s->kernel, (int)r->value.iterations);
    assert_int_equal(r->value.rank, t->n);
    assert_true(r->value.trace_error == 0);
    for (int i = 0; i < NEW; i++) {
        if (!(fabs(mean[i] - mean2[i]) < 1e-6)) FAIL_TEST("%s: mean %g, exact %g", s->kernel, mean2[i], mean[i]);
        if (!(fabs(variance[i] - variance2[i]) < 1e-6 * variance[i]))
            FAIL_TEST("%s: variance %g, exact %g", s->kernel, variance2[i], variance[i]);
        assert_true(variance2[i] >= variance[i] - 1e-11);
    }
    const double likelihood = gram_gp_get_report(exact)->log_marginal_likelihood;
    assert_true(fabs(r->value.log_marginal_likelihood - likelihood) < 1e-5 * t->n);
    assert_true(fabs(r->train_rmse - gram_gp_get_report(exact)->train_rmse) < 1e-6);
    const double *a = gram_gp_column_coefficients(exact), *b = gram_gp_cg_column_coefficients(cg);
    assert_true((a == NULL) == (b == NULL) && (!a || fabs(*a - *b) < 1e-5 * (1 + fabs(*a))));
    gram_gp_destroy(exact);
    gram_gp_cg_destroy(cg);
    gram_points_release(x);
    gram_points_release(z);
    gram_kernel_release(kernel);
}

static void posterior(void **state)
{
    (void)state;
    static const int sizes[] = {1, 5, 63, 64, 200, 513};
    gp_data *t = &(gp_data){.n = 0};
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    for (int k = 0; k < GP_SETTINGS_COUNT; k++)
        for (int i = 0; i < 6; i++) {
            if (sizes[i] == 513 && k != 3) continue;
            if (k >= 1 && sizes[i] == 1) continue;
            if (k >= 3 && sizes[i] == 5) continue; /* as many parameters of the mean as rows */
            gp_make_data(10 + (uint64_t)i, sizes[i], D, t);
            compare_posterior(c, &GP_SETTINGS[k], t);
        }
    gram_context_destroy(c);
}

/* ---- likelihood ---- */

/* Within its own error of the exact one, which is some 1e-6 for each row; the gradient to 5e-5, where without a factor its trace
 * would be some percent off. */
static void compare_likelihood(const gp_setting *s, const gp_data *t, uint64_t seed)
{
    enum { PARAMETERS = 16 };
    double exact, slope[PARAMETERS], gradient[PARAMETERS], error[PARAMETERS];
    gram_context *c = sample_context(40 + seed, 1);
    gram_kernel *kernel = test_kernel(c, s->kernel);
    gram_points *x = test_points(c, t->n, D, t->x);
    const gram_gp_options gp = gp_options_of(s, t);
    gram_gp_cg_options cg_options;
    const gram_gp_options o = refined(&gp, &cg_options);
    gram_gp_cg_value value;
    const int64_t count = gram_kernel_parameter_count(kernel) + 1;
    OK(c, gram_gp_likelihood(c, kernel, x, t->y, &gp, &exact, slope));
    OK(c, gram_gp_cg_likelihood(c, kernel, x, t->y, &o, &value, NULL, NULL));
    const double miss = fabs(value.log_marginal_likelihood - exact);
    if (!(miss < 1e-5 * t->n && miss < 5 * value.standard_error + value.quadrature_error + 1e-8 * fabs(exact)))
        FAIL_TEST("%s: %.12g, exact %.12g, error %g and %g", s->kernel, value.log_marginal_likelihood, exact,
                  value.standard_error, value.quadrature_error);
    assert_true(value.standard_error < 5e-6 * t->n && value.residual <= 1e-6);
    cg_options.training_tolerance = 1e-10;
    OK(c, gram_gp_cg_likelihood(c, kernel, x, t->y, &o, &value, gradient, error));
    for (int p = 0; p < count; p++)
        if (!(fabs(gradient[p] - slope[p]) < 5e-5 * (1 + fabs(slope[p])) && error[p] < 5e-5 * (1 + fabs(slope[p]))))
            FAIL_TEST("%s: derivative %d is %.10g, exact %.10g, error %g", s->kernel, p, gradient[p], slope[p],
                      error[p]);
    gram_points_release(x);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

static void likelihood(void **state)
{
    (void)state;
    gp_data *t = &(gp_data){.n = 0};
    for (int k = 0; k < GP_SETTINGS_COUNT; k++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            gp_make_data(30 + (uint64_t)k, k % 2 ? 130 : 397, D, t);
            compare_likelihood(&GP_SETTINGS[k], t, seed);
        }
}

/* A matrix on which f32 loses more than half of the digits: the correction by the probes is what makes the value right. */
static void correction_matters(void **state)
{
    (void)state;
    gp_data *t = &(gp_data){.n = 0};
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    gp_make_data(32, 500, D, t);
    gram_kernel *kernel = test_kernel(c, "100*rbf(ell=1.5)");
    gram_points *x = test_points(c, t->n, D, t->x);
    gp_setting s = GP_SETTINGS[0];
    s.noise = 1e-2;
    const gram_gp_options gp = gp_options_of(&s, t);
    gram_gp_cg_options cg_options;
    const gram_gp_options o = refined(&gp, &cg_options);
    cg_options.probes = 1000;
    gram_gp_cg_value value;
    gram_cholesky *factor = NULL, *narrow = NULL;
    double exact, *shift = test_numbers(GP_MOST);
    for (int i = 0; i < t->n; i++) shift[i] = s.noise;
    OK(c, gram_gp_likelihood(c, kernel, x, t->y, &gp, &exact, NULL));
    OK(c, gram_gp_cg_likelihood(c, kernel, x, t->y, &o, &value, NULL, NULL));
    OK(c, gram_cholesky_create(c, kernel, x, shift, GRAM_STORAGE_F64, NULL, &factor));
    OK(c, gram_cholesky_create(c, kernel, x, shift, GRAM_STORAGE_F32, NULL, &narrow));
    const double lost = fabs(gram_cholesky_log_determinant(factor) - gram_cholesky_log_determinant(narrow)) / 2;
    const double miss = fabs(value.log_marginal_likelihood - exact);
    if (!(miss < 5 * value.standard_error + 1e-8 * fabs(exact) && miss < lost / 5))
        FAIL_TEST("%.12g, exact %.12g, error %g, lost %g", value.log_marginal_likelihood, exact, value.standard_error,
                  lost);
    gram_cholesky_destroy(factor);
    gram_cholesky_destroy(narrow);
    gram_points_release(x);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
    free(shift);
}

/* ---- corners ---- */

static void too_ill_conditioned(void **state)
{
    (void)state;
    gp_data *t = &(gp_data){.n = 0};
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    gp_make_data(61, 300, D, t);
    gram_kernel *kernel = test_kernel(c, "rbf(ell=2)");
    gram_points *x = test_points(c, t->n, D, t->x);
    gp_setting s = GP_SETTINGS[0];
    s.noise = 1e-13;
    const gram_gp_options gp = gp_options_of(&s, t);
    gram_gp_cg_options cg_options;
    const gram_gp_options o = refined(&gp, &cg_options);
    gram_gp_cg_value value;
    gram_gp_cg *cg = NULL;
    assert_int_equal(gram_gp_cg_fit(c, kernel, x, t->y, &o, &cg), GRAM_ERROR_NUMERICAL);
    assert_null(cg);
    assert_string_equal(gram_context_message(c), "gp_fit: the matrix is too ill-conditioned for an f32 factor: raise "
                                                 "the noise or use the exact f64 path");
    REFUSED(c, gram_gp_cg_likelihood(c, kernel, x, t->y, &o, &value, NULL, NULL), GRAM_ERROR_NUMERICAL,
            "gp_likelihood: the matrix is too ill-conditioned");
    cg_options.iterations = 3; /* the caller's own limit is not the matrix's fault */
    assert_int_equal(gram_gp_cg_fit(c, kernel, x, t->y, &o, &cg), GRAM_NOT_CONVERGED);
    assert_int_equal(gram_gp_cg_get_report(cg)->value.iterations, 3);
    gram_gp_cg_destroy(cg);
    gram_kernel *negative = test_kernel(c, "sigmoid(a=1, c=-3)");
    REFUSED(c, gram_gp_cg_fit(c, negative, x, t->y, &o, &cg), GRAM_ERROR_NUMERICAL,
            "too ill-conditioned for an f32 factor");
    gram_kernel_release(negative);
    gram_points_release(x);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

static void everything(gram_context *c, double *out)
{
    gp_data *t = &(gp_data){.n = 0};
    gp_make_data(60, 700, D, t);
    gram_kernel *kernel = test_kernel(c, GP_SETTINGS[3].kernel);
    gram_points *x = test_points(c, t->n, D, t->x), *z = test_points(c, NEW, D, t->z);
    const gram_gp_options gp = gp_options_of(&GP_SETTINGS[3], t);
    gram_gp_cg_value value;
    gram_gp_cg *cg = NULL;
    gram_gp_cg_options cg_options;
    const gram_gp_options o = refined(&gp, &cg_options);
    OK(c, gram_gp_cg_likelihood(c, kernel, x, t->y, &o, &value, out + 2 * NEW, out + 2 * NEW + 8));
    out[2 * NEW + 16] = value.log_marginal_likelihood;
    OK(c, gram_gp_cg_fit(c, kernel, x, t->y, &o, &cg));
    OK(c, gram_gp_cg_predict(c, cg, z, t->new_basis, 1, out, out + NEW));
    gram_gp_cg_destroy(cg);
    gram_points_release(x);
    gram_points_release(z);
    gram_kernel_release(kernel);
}

static void same_bits(void **state)
{
    (void)state;
    test_any_threads(2 * NEW + 17, everything);
}

static gram_status play(gram_context *c)
{
    enum { N = 30 };
    double x[N], y[N], mean[N], variance[N], gradient[2], error[2];
    gram_kernel *kernel = NULL;
    gram_points *points = NULL;
    gram_gp_cg *cg = NULL;
    gram_gp_cg_value value;
    gram_gp_options gp;
    gram_gp_options_init(&gp, sizeof gp);
    gp.flat = 1;
    gram_gp_cg_options cg_options;
    const gram_gp_options o = refined(&gp, &cg_options);
    cg_options.probes = 4;
    test_uniform(1, N, 0, 1, x);
    test_uniform(2, N, 0, 1, y);
    gram_status status = gram_kernel_parse(c, "rbf(ell=0.4)", &kernel);
    if (status >= 0) status = gram_points_create_f64(c, N, 1, x, 1, &points);
    if (status >= 0) status = gram_gp_cg_likelihood(c, kernel, points, y, &o, &value, gradient, error);
    if (status >= 0) status = gram_gp_cg_fit(c, kernel, points, y, &o, &cg);
    if (status >= 0) status = gram_gp_cg_predict(c, cg, points, NULL, 0, mean, variance);
    gram_gp_cg_destroy(cg);
    gram_points_release(points);
    gram_kernel_release(kernel);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    oom_all(play, 30);
}

/* 2,000 rows: the f64 factor is 16 MB and does not fit in 14; the f32 one does, with all that is beside it. */
static void half_the_memory(void **state)
{
    (void)state;
    enum { N = 2000 };
    gram_context *c = TEST_CONTEXT(.threads = 1, .memory_budget = (size_t)14000000);
    double *x = test_numbers(N * D), *y = test_numbers(N);
    test_uniform(1, N * D, 0, 2, x);
    test_uniform(2, N, 0, 1, y);
    gram_kernel *kernel = test_kernel(c, "rbf(ell=1)");
    gram_points *points = test_points(c, N, D, x);
    gram_gp_options gp;
    gram_gp_options_init(&gp, sizeof gp);
    gram_gp_cg_options cg_options;
    const gram_gp_options o = refined(&gp, &cg_options);
    gram_gp *exact = NULL;
    gram_gp_cg *cg = NULL;
    gp.solver = GRAM_SOLVER_EXACT;
    assert_int_equal(gram_gp_fit(c, kernel, points, y, &gp, &exact), GRAM_ERROR_BUDGET);
    OK(c, gram_gp_cg_fit(c, kernel, points, y, &o, &cg));
    assert_true(gram_gp_cg_get_report(cg)->value.iterations <= 5);
    gram_gp_cg_destroy(cg);
    gram_points_release(points);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
    free(x);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_factor),        cmocka_unit_test(posterior),           cmocka_unit_test(likelihood),
        cmocka_unit_test(correction_matters), cmocka_unit_test(too_ill_conditioned), cmocka_unit_test(same_bits),
        cmocka_unit_test(out_of_memory),      cmocka_unit_test(half_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
