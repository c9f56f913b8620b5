/* Sketch-and-project against a dense solve, and the certificate of inexact solves: values of the fit are not farther from those of the exact
 * solution than it says, by every solver that may stop early. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "solve/sketch/sketch_project.h"
#include "support.h"

enum { N = 400, D = 3, M = 3, NEW = 60 };

static const char *const KERNELS[] = {"rbf(ell=0.8)", "1.5*matern(nu=0.5, ell=0.6)",
                                      "matern(nu=2.5, ell=[0.5,1,2]) + 0.1*linear"};

static void sides(double *x, double *y, double *shift)
{
    test_uniform(1, N * D, -1, 1, x);
    test_uniform(2, N * M, -0.3, 0.3, y);
    test_uniform(3, N, 0.02, 0.08, shift);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < M; c++) y[i * M + c] += sin((c + 2) * x[i * D]) + x[i * D + c];
}

/* (K + shift) X = Y by a factor. */
static void solve_exactly(gram_context *c, gram_kernel *kernel, gram_points *x, const double *shift, double *out)
{
    gram_cholesky *factor = NULL;
    OK(c, gram_cholesky_create(c, kernel, x, shift, GRAM_STORAGE_F64, NULL, &factor));
    OK(c, gram_cholesky_solve(c, factor, M, out, M));
    gram_cholesky_destroy(factor);
}

static void against_factor(void **state)
{
    gram_context *c = *state;
    static double x[N * D], y[N * M], shift[N], wanted[N * M], found[N * M];
    sides(x, y, shift);
    gram_points *points = test_points(c, N, D, x);
    for (int k = 0; k < 3; k++) {
        const gram_sketch_options options = {.tolerance = 1e-7, .block = 60, .rank = 20};
        gram_sketch_report report;
        gram_kernel *kernel = test_kernel(c, KERNELS[k]);
        memcpy(wanted, y, sizeof y);
        memset(found, 0, sizeof found);
        solve_exactly(c, kernel, points, shift, wanted);
        OK(c, gram_sketch_solve(c, kernel, points, shift, M, y, found, &options, &report));
        print_message("%s: %d passes, residual %.2g\n", KERNELS[k], (int)report.passes, report.residual);
        assert_true(report.residual <= 1e-7);
        test_near("solution", KERNELS[k], N * M, found, wanted, 1e-4);
        gram_kernel_release(kernel);
    }
    gram_points_release(points);
}

static void fill(gram_context *c, double *out)
{
    static double x[N * D], y[N * M], shift[N];
    const gram_sketch_options options = {.tolerance = 1e-3};
    gram_sketch_report report;
    sides(x, y, shift);
    gram_points *points = test_points(c, N, D, x);
    gram_kernel *kernel = test_kernel(c, KERNELS[1]);
    memset(out, 0, N * M * sizeof *out);
    OK(c, gram_sketch_solve(c, kernel, points, shift, M, y, out, &options, &report));
    gram_kernel_release(kernel);
    gram_points_release(points);
}

static void same_bits(void **state)
{
    (void)state;
    test_any_threads(N * M, fill);
}

static void stops(void **state)
{
    gram_context *c = *state;
    static double x[N * D], y[N * M], shift[N], found[N * M];
    gram_sketch_options options = {.tolerance = 1e-12, .passes = 2};
    gram_sketch_report report;
    sides(x, y, shift);
    gram_points *points = test_points(c, N, D, x);
    gram_kernel *kernel = test_kernel(c, KERNELS[1]);
    assert_int_equal(gram_sketch_solve(c, kernel, points, shift, M, y, found, &options, &report), GRAM_NOT_CONVERGED);
    assert_true(report.passes == 2 && report.residual > 1e-12 && report.residual < 1);
    shift[7] = 0;
    REFUSED(c, gram_sketch_solve(c, kernel, points, shift, M, y, found, &options, &report), GRAM_ERROR_ARGUMENT,
            "shift[7]");
    gram_kernel_release(kernel);
    gram_points_release(points);
}

/* ---- the certificate ---- */

/* The exact function for the same constant, at z. */
static void exact_values(gram_context *c, gram_kernel *kernel, gram_points *x, const double *y, double constant,
                         double lambda, gram_points *z, double *out)
{
    static double centred[N];
    gram_krr_options options;
    gram_krr *krr = NULL;
    gram_krr_options_init(&options, sizeof options);
    options.intercept = 0;
    options.lambda = lambda;
    options.solver = GRAM_SOLVER_EXACT;
    for (int i = 0; i < N; i++) centred[i] = y[i] - constant;
    OK(c, gram_krr_fit(c, kernel, x, 1, centred, 1, &options, &krr));
    OK(c, gram_function_evaluate(c, gram_krr_function(krr), z, out, 1));
    for (int i = 0; i < NEW; i++) out[i] += constant;
    gram_krr_destroy(krr);
}

static void compare(const char *who, const double *found, const double *exact, double bound)
{
    double far = 0;
    for (int i = 0; i < NEW; i++) far = fmax(far, fabs(found[i] - exact[i]));
    print_message("%s: off by %.2g, at most %.2g\n", who, far, bound);
    assert_true(far <= bound && bound < 1e4 * far);
}

static void bound_holds(void **state)
{
    gram_context *c = *state;
    static double x[N * D], all[N * M], y[N], shift[N], z[NEW * D];
    double found[NEW], exact[NEW];
    sides(x, all, shift);
    test_uniform(5, NEW * D, -1, 1, z);
    for (int i = 0; i < N; i++) y[i] = 5 + all[i * M];
    gram_points *points = test_points(c, N, D, x), *at = test_points(c, NEW, D, z);
    for (int k = 0; k < 2; k++) /* whose k(x, x) is one number */
        for (int way = 0; way < 3; way++) {
            gram_kernel *kernel = test_kernel(c, KERNELS[k]);
            gram_krr_options options;
            gram_krr *krr = NULL;
            gram_krr_options_init(&options, sizeof options);
            options.lambda = 1e-4;
            options.solver = way == 1 ? GRAM_SOLVER_CG : GRAM_SOLVER_SKETCH;
            options.tolerance = way == 1 ? 1e-5 : 1e-2;
            options.landmarks = way == 1 ? 5 : 0;
            options.intercept = way != 2;
            OK(c, gram_krr_fit(c, kernel, points, 1, y, 1, &options, &krr));
            OK(c, gram_function_evaluate(c, gram_krr_function(krr), at, found, 1));
            exact_values(c, kernel, points, y, gram_function_constant(gram_krr_function(krr))[0], 1e-4, at, exact);
            compare(gram_solver_name(options.solver), found, exact, gram_krr_get_report(krr)->error_bound);
            gram_krr_destroy(krr);
            gram_kernel_release(kernel);
        }
    gram_points_release(points);
    gram_points_release(at);
}

static void bound_of_processes(void **state)
{
    gram_context *c = *state;
    static double x[N * D], all[N * M], y[N], shift[N], z[NEW * D];
    double found[NEW], exact[NEW];
    sides(x, all, shift);
    test_uniform(5, NEW * D, -1, 1, z);
    for (int i = 0; i < N; i++) y[i] = 5 + all[i * M];
    gram_points *points = test_points(c, N, D, x), *at = test_points(c, NEW, D, z);
    gram_kernel *kernel = test_kernel(c, KERNELS[1]);
    for (int neighbours = 0; neighbours < 2; neighbours++) {
        gram_gp_options options;
        gram_gp_cg_options cg;
        gram_gp *gp = NULL;
        gram_gp_options_init(&options, sizeof options);
        gram_gp_cg_options_init(&cg, sizeof cg);
        cg.probes = 0;
        cg.tolerance = 1e-2;
        cg.rank = neighbours ? 0 : 5;
        cg.neighbours = neighbours ? 5 : 0;
        options.cg = &cg;
        options.solver = GRAM_SOLVER_CG;
        options.noise = N * 1e-4;
        OK(c, gram_gp_fit(c, kernel, points, y, &options, &gp));
        OK(c, gram_gp_predict(c, gp, at, NULL, 0, found, NULL));
        exact_values(c, kernel, points, y, gram_function_constant(gram_gp_function(gp))[0], 1e-4, at, exact);
        compare(neighbours ? "gp, neighbours" : "gp, a low rank", found, exact, gram_gp_get_report(gp)->error_bound);
        gram_gp_destroy(gp);
    }
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_points_release(at);
}

static gram_status play(gram_context *c)
{
    gram_status status = GRAM_OK;
    static const double x[] = {0, 1, 2, 3, 4, 5, 6, 7}, y[] = {1, 2, 0, 1, 2, 0.5, 1, 0};
    gram_kernel *kernel = NULL;
    gram_points *points = NULL;
    gram_krr *krr = NULL;
    gram_krr_options options;
    gram_krr_options_init(&options, sizeof options);
    options.solver = GRAM_SOLVER_SKETCH;
    options.lambda = 0.1;
    STEP(gram_kernel_parse(c, "rbf(ell=1)", &kernel));
    STEP(gram_points_create_f64(c, 8, 1, x, 1, &points));
    STEP(gram_krr_fit(c, kernel, points, 1, y, 1, &options, &krr));
done:
    gram_krr_destroy(krr);
    gram_points_release(points);
    gram_kernel_release(kernel);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_factor), cmocka_unit_test(same_bits),          cmocka_unit_test(stops),
        cmocka_unit_test(bound_holds),    cmocka_unit_test(bound_of_processes), cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
