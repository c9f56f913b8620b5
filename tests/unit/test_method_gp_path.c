/* Path-wise draws: the prior's covariance is the kernel for every kernel that has frequencies, a draw is one function, both
 * solvers make the same, and draws of the posterior go through the data when there is no noise. Moments of posterior draws
 * are in test_method_gp_cg_stat.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/spectral/spectral_measure.h"
#include "oom.h"
#include "samples.h"
#include "support.h"

enum { D = 3 };

/* Over draws, E f(x) f(y) = k(x, y). */
static void compare_prior(const char *text)
{
    enum { POINTS = 5, DRAWS = 3000 };
    gram_context *c = sample_context(11, 2);
    gram_kernel *kernel = test_kernel(c, text);
    double x[POINTS * D], k[POINTS * POINTS], *out = test_numbers(POINTS * DRAWS);
    test_uniform(21, POINTS * D, 0, 1.5, x);
    gram_points *points = test_points(c, POINTS, D, x);
    gram_gp_path_options o;
    gram_gp_path *path = NULL;
    gram_gp_path_options_init(&o, sizeof o);
    o.draws = DRAWS;
    o.frequencies = 16;
    OK(c, gram_gp_path_create(c, kernel, D, NULL, NULL, &o, &path));
    OK(c, gram_gp_path_evaluate(c, path, points, NULL, 0, out, DRAWS));
    OK(c, gram_matrix(c, kernel, points, NULL, k, POINTS));
    sample_has_moments(text, POINTS, DRAWS, out, NULL, k);
    gram_gp_path_destroy(path);
    gram_points_release(points);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
    free(out);
}

/* Of the frequencies themselves: height E cos(w.t) = k(t). */
static void compare_spectrum(const char *text)
{
    enum { LAGS = 4, COUNT = 40000 };
    gram_context *c = sample_context(12, 1);
    gram_kernel *kernel = test_kernel(c, text);
    double x[(LAGS + 1) * D] = {0}, k[LAGS + 1], w[D], work[64], height, sum[LAGS] = {0};
    test_uniform(22, LAGS * D, -0.8, 0.8, x + D);
    gram_points *points = test_points(c, LAGS + 1, D, x), *origin = test_points(c, 1, D, x);
    OK(c, gram_spectrum_check(c, "test", "", kernel, D, &height));
    assert_true(gram_spectrum_work(kernel) <= 64);
    OK(c, gram_matrix(c, kernel, origin, points, k, LAGS + 1));
    assert_true(fabs(height - k[0]) < 1e-12 * height);
    for (int i = 0; i < COUNT; i++) {
        gram_spectrum_draw(kernel, 5, 3, i, COUNT, D, NULL, NULL, work, w);
        for (int lag = 0; lag < LAGS; lag++) {
            double phase = 0;
            for (int l = 0; l < D; l++) phase += w[l] * x[(lag + 1) * D + l];
            sum[lag] += cos(phase) / COUNT;
        }
    }
    for (int lag = 0; lag < LAGS; lag++)
        if (fabs(sum[lag] - k[lag + 1] / height) > 4.5 / sqrt(COUNT))
            FAIL_TEST("%s: E cos is %g, the kernel %g", text, sum[lag], k[lag + 1] / height);
    gram_points_release(points);
    gram_points_release(origin);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

static void prior_covariance(void **state)
{
    (void)state;
    static const char *const kernels[] = {
        "rbf(ell=0.7)",
        "powexp(p=1.5, ell=0.7)",
        "powexp(p=0.6, ell=[0.8,1,2])",
        "2*rbf(ell=[0.5,1,3])",
        "rbf(S=[0.5,0.2,0;0.2,0.4,0.1;0,0.1,0.9])",
        "matern(nu=0.5, ell=0.8)",
        "matern(nu=1.3, ell=[0.8,1,2])",
        "matern(nu=2.5, ell=0.6)",
        "laplace(ell=1.2)",
        "laplace1(ell=[1,2,3])",
        "rq(alpha=0.4, ell=0.7)",
        "rq(alpha=3, ell=[0.7,1,1])",
        "imq(c=0.8, beta=0.7)",
        "periodic(p=1.1, ell=0.9)",
        "cosine(p=2.3)",
        "sinc(B=1.7)",
        "0.7 + 0.3*rbf(ell=0.5)",
        "on(2, matern(nu=1.5, ell=0.4)) + 0.5*on([3,1], rbf(ell=[0.5,2]))*periodic(p=2, ell=1)",
        "(rbf(ell=1) + 0.2*matern(nu=1.5, ell=0.3))^2 * on(1:2, laplace(ell=2))",
        "warp([1,0.5,0;0,1,-0.3], rbf(ell=0.8))",
        "normalize(3*rbf(ell=0.5) + imq(c=0.5, beta=1))",
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        compare_prior(kernels[i]);
        compare_spectrum(kernels[i]);
    }
}

static void refusals(void **state)
{
    (void)state;
    static const char *const kernels[] = {"linear(c=1)", "rbf(ell=1) + 0.1*white()", "exp(rbf(ell=1))",
                                          "wendland(ell=1)", "periodic(p=1, ell=0.001)"};
    gram_context *c = sample_context(1, 1);
    gram_gp_path *path = NULL;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        gram_kernel *kernel = test_kernel(c, kernels[i]);
        REFUSED(c, gram_gp_path_create(c, kernel, 1, NULL, NULL, NULL, &path), GRAM_ERROR_UNSUPPORTED, "gram_gp_draw");
        assert_null(path);
        gram_kernel_release(kernel);
    }
    gram_kernel *kernel = test_kernel(c, "rbf(ell=1)"), *open = test_kernel(c, "rbf");
    double x[3] = {0, 1, 2}, out[3];
    gram_points *points = test_points(c, 3, 1, x), *wide = test_points(c, 1, 3, x);
    gram_gp_path_options o;
    gram_gp_path_options_init(&o, sizeof o);
    assert_int_equal(gram_gp_path_create(c, open, 1, NULL, NULL, NULL, &path), GRAM_ERROR_UNSET);
    assert_int_equal(gram_gp_path_create(c, NULL, 1, NULL, NULL, NULL, &path), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_gp_path_create(c, kernel, 1, points, NULL, NULL, &path), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_gp_path_create(c, kernel, 2, points, x, NULL, &path), GRAM_ERROR_DIMENSION);
    o.draws = 0;
    assert_int_equal(gram_gp_path_create(c, kernel, 1, points, x, &o, &path), GRAM_ERROR_ARGUMENT);
    o.draws = 2;
    o.solver = GRAM_SOLVER_MARKOV;
    assert_int_equal(gram_gp_path_create(c, kernel, 1, points, x, &o, &path), GRAM_ERROR_ARGUMENT);
    gram_gp_options gp;
    gram_gp_cg_options cg;
    gram_gp_options_init(&gp, sizeof gp);
    gram_gp_cg_options_init(&cg, sizeof cg);
    cg.tolerance = 2;
    gp.cg = &cg;
    o.gp = &gp;
    o.solver = GRAM_SOLVER_CG;
    assert_int_equal(gram_gp_path_create(c, kernel, 1, points, x, &o, &path), GRAM_ERROR_ARGUMENT);
    cg.tolerance = 1e-8;
    OK(c, gram_gp_path_create(c, kernel, 1, points, x, &o, &path));
    assert_int_equal(gram_gp_path_count(path), 2);
    assert_int_equal(gram_gp_path_evaluate(c, path, points, NULL, 0, out, 1), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_gp_path_evaluate(c, path, wide, NULL, 0, out, 2), GRAM_ERROR_DIMENSION);
    gram_gp_path_destroy(path);
    gram_points_release(points);
    gram_points_release(wide);
    gram_kernel_release(kernel);
    gram_kernel_release(open);
    gram_context_destroy(c);
}

enum { N = 90, DRAWS = 70, NEW = 40 };

typedef struct data {
    double x[N * D], y[N], z[NEW * D], basis[N], new_basis[NEW];
} data;

static void make_data(data *t)
{
    test_uniform(31, N * D, 0, 2, t->x);
    test_uniform(32, NEW * D, 0, 2.5, t->z);
    test_uniform(33, N, -0.3, 0.3, t->y);
    for (int i = 0; i < N; i++) {
        t->y[i] += 3 + sin(2 * t->x[i * D]);
        t->basis[i] = exp(t->x[i * D]);
    }
    for (int i = 0; i < NEW; i++) t->new_basis[i] = exp(t->z[i * D]);
}

static gram_gp_path *make_path(gram_context *c, const data *t, gram_mean mean, int flat, double noise,
                               gram_solver solver)
{
    gram_kernel *kernel = test_kernel(c, "1.2*matern(nu=2.5, ell=[0.8,1,2])");
    gram_points *x = test_points(c, N, D, t->x);
    gram_gp_options gp;
    gram_gp_path_options o;
    gram_gp_path *path = NULL;
    gram_gp_options_init(&gp, sizeof gp);
    gp.mean = mean;
    gp.flat = flat;
    gp.noise = noise;
    gp.columns = mean == GRAM_MEAN_LINEAR;
    gp.basis = t->basis;
    gp.ld = 1;
    gram_gp_path_options_init(&o, sizeof o);
    o.gp = &gp;
    o.draws = DRAWS;
    o.frequencies = 100;
    o.solver = solver;
    OK(c, gram_gp_path_create(c, kernel, D, x, t->y, &o, &path));
    gram_points_release(x);
    gram_kernel_release(kernel);
    return path;
}

/* The same seed: the same draws by either solver, at all points together or one by one. */
static void one_function(void **state)
{
    (void)state;
    data t;
    make_data(&t);
    for (int way = 0; way < 3; way++) {
        const gram_mean mean = way == 0 ? GRAM_MEAN_ZERO : way == 1 ? GRAM_MEAN_CONSTANT : GRAM_MEAN_LINEAR;
        gram_context *c = sample_context(5, 1);
        gram_gp_path *exact = make_path(c, &t, mean, way > 0, 0.05, GRAM_SOLVER_AUTO);
        gram_gp_path *cg = make_path(c, &t, mean, way > 0, 0.05, GRAM_SOLVER_CG);
        gram_points *z = test_points(c, NEW, D, t.z);
        double *out = test_numbers(NEW * DRAWS), *other = test_numbers(NEW * DRAWS), row[DRAWS], residual, spread = 0;
        assert_int_equal(gram_gp_path_solver(exact, &residual), GRAM_SOLVER_EXACT);
        assert_true(isnan(residual));
        assert_int_equal(gram_gp_path_solver(cg, &residual), GRAM_SOLVER_CG);
        assert_true(residual <= 1e-8);
        OK(c, gram_gp_path_evaluate(c, exact, z, t.new_basis, 1, out, DRAWS));
        OK(c, gram_gp_path_evaluate(c, cg, z, t.new_basis, 1, other, DRAWS));
        assert_true(test_distance(NEW, DRAWS, out, DRAWS, other, DRAWS) < 1e-5);
        OK(c, gram_gp_path_evaluate(c, exact, z, t.new_basis, 1, other, DRAWS));
        assert_true(test_same_bits(NEW, DRAWS, out, DRAWS, other, DRAWS));
        for (int i = 0; i < NEW; i += 7) {
            gram_points *single = test_points(c, 1, D, t.z + i * D);
            OK(c, gram_gp_path_evaluate(c, exact, single, t.new_basis + i, 1, row, DRAWS));
            assert_true(test_distance(1, DRAWS, out + i * DRAWS, DRAWS, row, DRAWS) < 1e-10);
            gram_points_release(single);
        }
        for (int j = 1; j < DRAWS; j++) spread = fmax(spread, fabs(out[j] - out[0]));
        assert_true(spread > 0.05); /* draws differ */
        gram_gp_path_destroy(exact);
        gram_gp_path_destroy(cg);
        gram_points_release(z);
        gram_context_destroy(c);
        free(out);
        free(other);
    }
}

/* No noise: every draw interpolates. */
static void interpolates(void **state)
{
    (void)state;
    data t;
    make_data(&t);
    gram_context *c = sample_context(6, 2);
    gram_gp_path *path = make_path(c, &t, GRAM_MEAN_CONSTANT, 0, 0, GRAM_SOLVER_EXACT);
    gram_points *x = test_points(c, N, D, t.x);
    double *out = test_numbers(N * DRAWS);
    OK(c, gram_gp_path_evaluate(c, path, x, NULL, 0, out, DRAWS));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < DRAWS; j++) assert_true(fabs(out[i * DRAWS + j] - t.y[i]) < 1e-7);
    free(out);
    gram_gp_path_destroy(path);
    gram_points_release(x);
    gram_context_destroy(c);
}

static void both_solvers(gram_context *c, double *out)
{
    data t;
    make_data(&t);
    for (int solver = GRAM_SOLVER_EXACT; solver <= GRAM_SOLVER_CG; solver++, out += NEW * DRAWS) {
        gram_gp_path *path = make_path(c, &t, GRAM_MEAN_LINEAR, 1, 0.02, (gram_solver)solver);
        gram_points *z = test_points(c, NEW, D, t.z);
        OK(c, gram_gp_path_evaluate(c, path, z, t.new_basis, 1, out, DRAWS));
        gram_gp_path_destroy(path);
        gram_points_release(z);
    }
}

static void same_bits(void **state)
{
    (void)state;
    test_any_threads(2 * NEW * DRAWS, both_solvers);
}

/* Far from the origin, with frequencies of heavy tails: phases lose no digits that matter. */
static void far_away(void **state)
{
    (void)state;
    enum { ROWS = 20 };
    double x[ROWS], y[ROWS], shifted[ROWS], a[ROWS], b[ROWS];
    test_uniform(3, ROWS, 0, 2, x);
    for (int i = 0; i < ROWS; i++) {
        x[i] = floor(x[i] * 1024) / 1024; /* so that the shift is exact */
        y[i] = sin(x[i]);
        shifted[i] = x[i] + 1048576;
    }
    gram_context *c = sample_context(9, 1);
    gram_kernel *kernel = test_kernel(c, "laplace(ell=0.5)");
    gram_points *near = test_points(c, ROWS, 1, x), *far = test_points(c, ROWS, 1, shifted);
    gram_gp_path *path = NULL;
    OK(c, gram_gp_path_create(c, kernel, 1, near, y, NULL, &path));
    OK(c, gram_gp_path_evaluate(c, path, near, NULL, 0, a, 1));
    gram_gp_path_destroy(path);
    OK(c, gram_gp_path_create(c, kernel, 1, far, y, NULL, &path));
    OK(c, gram_gp_path_evaluate(c, path, far, NULL, 0, b, 1));
    for (int i = 0; i < ROWS; i++) assert_true(fabs(a[i] - b[i]) < 1e-4);
    gram_gp_path_destroy(path);
    gram_points_release(near);
    gram_points_release(far);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

static gram_status play(gram_context *c)
{
    enum { ROWS = 20 };
    double x[ROWS], y[ROWS], out[2 * ROWS];
    gram_kernel *kernel = NULL;
    gram_points *points = NULL;
    gram_gp_path_options o;
    gram_gp_path_options_init(&o, sizeof o);
    o.draws = 2;
    o.frequencies = 16;
    test_uniform(1, ROWS, 0, 1, x);
    test_uniform(2, ROWS, 0, 1, y);
    gram_status status = gram_kernel_parse(c, "on(1, matern(nu=1.5, ell=0.4))", &kernel);
    if (status >= 0) status = gram_points_create_f64(c, ROWS, 1, x, 1, &points);
    for (int solver = 0; solver < 3 && status >= 0; solver++) {
        gram_gp_path *path = NULL;
        o.solver = (gram_solver)solver;
        status = gram_gp_path_create(c, kernel, 1, solver ? points : NULL, solver ? y : NULL, &o, &path);
        if (status >= 0) status = gram_gp_path_evaluate(c, path, points, NULL, 0, out, 2);
        gram_gp_path_destroy(path);
    }
    gram_points_release(points);
    gram_kernel_release(kernel);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    oom_all(play, 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prior_covariance), cmocka_unit_test(refusals),  cmocka_unit_test(one_function),
        cmocka_unit_test(interpolates),     cmocka_unit_test(same_bits), cmocka_unit_test(far_away),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
