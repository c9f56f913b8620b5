/* Conjugate gradients: solutions against a direct solve, true residuals, the same bits, and honest failure. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/cg.h>

#include "support.h"

enum { D = 3 };

/* K + shift I matrix-free, and its f32 factor. */
typedef struct world {
    gram_context *context;
    int64_t n;
    double *data, *shift, *b;
    gram_points *x;
    gram_kernel *kernel;
    gram_operator *free, *op;
    gram_cholesky *factor;
} world;

static void world_make(int64_t n, int threads, const char *kernel, double shift, world *w)
{
    *w = (world){.context = test_context(threads, GRAM_ISA_AUTO), .n = n};
    w->data = test_random((uint64_t)n, n * D, 0, 2);
    w->b = test_random(3, n * 4, -1, 1);
    w->shift = test_numbers(n);
    for (int64_t i = 0; i < n; i++) w->shift[i] = shift * (1 + 0.5 * (double)(i % 3));
    w->x = test_points(w->context, n, D, w->data);
    w->kernel = test_kernel(w->context, kernel);
    OK(w->context, gram_operator_create_free(w->context, w->kernel, w->x, &w->free));
    OK(w->context, gram_operator_create_shifted_by(w->context, w->free, w->shift, &w->op));
}

static void world_free(world *w)
{
    gram_cholesky_destroy(w->factor);
    gram_operator_release(w->op);
    gram_operator_release(w->free);
    gram_kernel_release(w->kernel);
    gram_points_release(w->x);
    free(w->shift);
    free(w->b);
    free(w->data);
    gram_context_destroy(w->context);
}

static gram_cg_options mixed(world *w)
{
    gram_cg_options options;
    gram_cg_options_init(&options, sizeof options);
    double jitter = 0;
    if (!w->factor)
        OK(w->context,
           gram_cholesky_create(w->context, w->kernel, w->x, w->shift, GRAM_STORAGE_F32, &jitter, &w->factor));
    options.precondition = gram_cholesky_precondition;
    options.user = w->factor;
    options.stall = 4;
    return options;
}

static double norm(int64_t n, const double *v, int64_t ld)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += v[i * ld] * v[i * ld];
    return sqrt(sum);
}

/* |b - A x| of a column, by the whole matrix in long double. */
static double true_residual(const world *w, const double *b, int64_t ldb, const double *x, int64_t ldx)
{
    const int64_t n = w->n;
    double *a = test_numbers(n * n), *r = test_numbers(n);
    OK(w->context, gram_operator_matrix(w->context, w->op, a, n));
    for (int64_t i = 0; i < n; i++) {
        long double sum = b[i * ldb];
        for (int64_t j = 0; j < n; j++) sum -= (long double)a[i * n + j] * x[j * ldx];
        r[i] = (double)sum;
    }
    const double size = norm(n, r, 1);
    free(a), free(r);
    return size;
}

/* The reported errors are those of the result, and the result is that of an f64 factor. */
static void check_solution(const world *w, int64_t columns, const double *b, int64_t ldb, const double *x, int64_t ldx,
                           const gram_cg_report *report)
{
    const int64_t n = w->n;
    gram_cholesky *exact = NULL;
    double *y = test_numbers(n), trace = 0;
    OK(w->context, gram_cholesky_create(w->context, w->kernel, w->x, w->shift, GRAM_STORAGE_F64, NULL, &exact));
    OK(w->context, gram_operator_trace(w->context, w->op, &trace));
    for (int64_t c = 0; c < columns; c++) {
        const double size = norm(n, x + c, ldx), r = true_residual(w, b + c, ldb, x + c, ldx);
        assert_true(r <= 1.1e-14 * (trace * size + norm(n, b + c, ldb))); /* the norm is at most the trace */
        assert_true(r <= (report->residual + 1e-14) * norm(n, b + c, ldb) + 1e-15 * trace * size);
        for (int64_t i = 0; i < n; i++) y[i] = b[i * ldb + c];
        OK(w->context, gram_cholesky_solve(w->context, exact, 1, y, 1));
        for (int64_t i = 0; i < n; i++) y[i] -= x[i * ldx + c];
        if (!(norm(n, y, 1) <= 1e-10 * size))
            FAIL_TEST("column %lld: off by %g of %g", (long long)c, norm(n, y, 1), size);
    }
    gram_cholesky_destroy(exact);
    free(y);
}

static void solutions(void **state)
{
    (void)state;
    static const int64_t SIZES[] = {1, 2, 97, 400};
    for (int s = 0; s < 4; s++)
        for (int with = 0; with < 2; with++)
            for (int64_t columns = 1; columns <= 3; columns += 2) {
                world w;
                world_make(SIZES[s], 2, "rbf(ell=0.5) + matern(nu=1.5, ell=2)", 0.1, &w);
                const int64_t ldb = columns + 1, ldx = columns + 2;
                double *x = test_numbers(w.n * ldx);
                gram_cg_options options = mixed(&w);
                gram_cg_report report = {.size = sizeof report};
                if (!with) options.precondition = NULL;
                if (!with) options.stall = 0;
                const gram_status status = gram_cg_solve(w.context, w.op, columns, w.b, ldb, x, ldx, &options, &report);
                assert_int_equal(status, GRAM_OK);
                assert_true(report.backward_error <= options.tolerance);
                if (with) assert_in_range(report.iterations, 1, 8);
                check_solution(&w, columns, w.b, ldb, x, ldx, &report);
                for (int64_t i = 0; i < w.n; i++)
                    assert_true(x[i * ldx + columns] == 0 && x[i * ldx + columns + 1] == 0);
                free(x);
                world_free(&w);
            }
}

/* A right-hand side of zeros, a start at the solution, and a start near it. */
static void starts(void **state)
{
    (void)state;
    world w;
    world_make(200, 1, "rbf(ell=0.7)", 0.2, &w);
    gram_cg_options options = mixed(&w);
    gram_cg_report report = {.size = sizeof report};
    double *x = test_numbers(400), *b = test_numbers(400), *cold = test_numbers(400);
    for (int i = 0; i < 200; i++) b[2 * i] = w.b[i];
    assert_int_equal(gram_cg_solve(w.context, w.op, 2, b, 2, x, 2, &options, &report), GRAM_OK);
    for (int i = 0; i < 200; i++) assert_true(x[2 * i + 1] == 0 && x[2 * i] != 0);
    memcpy(cold, x, 400 * sizeof *x);
    assert_int_equal(gram_cg_solve(w.context, w.op, 2, b, 2, x, 2, NULL, &report), GRAM_OK);
    assert_int_equal(report.iterations, 0);
    assert_true(test_same_bits(1, 400, cold, 400, x, 400));
    for (int i = 0; i < 400; i++) x[i] *= 1 + 1e-9;
    assert_int_equal(gram_cg_solve(w.context, w.op, 2, b, 2, x, 2, &options, NULL), GRAM_OK);
    assert_true(test_distance(1, 400, cold, 400, x, 400) <= 1e-12);
    free(x), free(b), free(cold);
    world_free(&w);
}

static void threads(void **state)
{
    (void)state;
    double *results[3];
    for (int t = 0; t < 3; t++) {
        world w;
        world_make(500, t + 1, "rbf(ell=0.6)", 0.05, &w);
        gram_cg_options options = mixed(&w);
        results[t] = test_numbers(1500);
        assert_int_equal(gram_cg_solve(w.context, w.op, 3, w.b, 4, results[t], 3, &options, NULL), GRAM_OK);
        world_free(&w);
        assert_true(test_same_bits(1, 1500, results[0], 1500, results[t], 1500));
    }
    for (int t = 0; t < 3; t++) free(results[t]);
}

/* ---- failure ---- */

/* A preconditioner that has nothing to do with the matrix: noticed within a few steps, and x is no worse than 0. */
static gram_status wild(void *user, gram_context *context, int64_t columns, double *v, int64_t ldv)
{
    (void)context;
    const world *w = user;
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t c = 0; c < columns; c++) v[i * ldv + c] *= i % 2 ? 1e6 : 1e-6;
    return GRAM_OK;
}

static void stalls(void **state)
{
    (void)state;
    world w;
    world_make(400, 2, "rbf(ell=1)", 1e-4, &w);
    gram_cg_options options;
    gram_cg_report report = {.size = sizeof report};
    double *x = test_numbers(w.n);
    gram_cg_options_init(&options, sizeof options);
    options.precondition = wild;
    options.user = &w;
    options.stall = 4;
    assert_int_equal(gram_cg_solve(w.context, w.op, 1, w.b, 1, x, 1, &options, &report), GRAM_NOT_CONVERGED);
    assert_in_range(report.iterations, 1, 12);
    assert_true(report.residual <= 1 && report.backward_error > options.tolerance);
    const double r = true_residual(&w, w.b, 1, x, 1), size = norm(w.n, w.b, 1);
    assert_true(fabs(r - report.residual * size) <= 1e-10 * size);
    free(x);
    world_free(&w);
}

/* So ill-conditioned that an f32 factor is useless: either it cannot be made, or the iteration says so. */
static void ill_conditioned(void **state)
{
    (void)state;
    world w;
    world_make(600, 2, "rbf(ell=3)", 1e-11, &w);
    gram_cg_options options = mixed(&w); /* with a jitter far above the shift */
    gram_cg_report report = {.size = sizeof report};
    double *x = test_numbers(w.n);
    assert_int_equal(gram_cg_solve(w.context, w.op, 1, w.b, 1, x, 1, &options, &report), GRAM_NOT_CONVERGED);
    assert_in_range(report.iterations, 1, 40);
    assert_true(report.residual <= 1.0000001);
    free(x);
    world_free(&w);
}

static void limits(void **state)
{
    (void)state;
    world w;
    world_make(300, 1, "rbf(ell=0.5)", 0.01, &w);
    gram_cg_options options;
    gram_cg_report report = {.size = sizeof report};
    double *x = test_numbers(w.n), before = INFINITY;
    gram_cg_options_init(&options, sizeof options);
    for (options.iterations = 0; options.iterations <= 60; options.iterations += 30) {
        memset(x, 0, (size_t)w.n * sizeof *x);
        assert_int_equal(gram_cg_solve(w.context, w.op, 1, w.b, 1, x, 1, &options, &report), GRAM_NOT_CONVERGED);
        assert_int_equal(report.iterations, options.iterations);
        assert_true(report.residual < before);
        before = report.residual;
    }
    free(x);
    world_free(&w);
}

static gram_status refuse(void *user, gram_context *context, int64_t columns, double *v, int64_t ldv)
{
    (void)user, (void)context, (void)columns, (void)v, (void)ldv;
    return GRAM_ERROR_CANCELLED;
}

static void bad_arguments(void **state)
{
    (void)state;
    world w;
    world_make(20, 1, "rbf(ell=0.5)", 0.1, &w);
    gram_context *c = w.context;
    gram_cg_options options, good;
    gram_cg_options_init(&good, sizeof good);
    double x[40] = {0};
    assert_int_equal(gram_cg_solve(c, NULL, 1, w.b, 1, x, 1, NULL, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_cg_solve(c, w.op, 1, NULL, 1, x, 1, NULL, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_cg_solve(c, w.op, 1, w.b, 1, NULL, 1, NULL, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_cg_solve(c, w.op, 0, w.b, 1, x, 1, NULL, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_cg_solve(c, w.op, 2, w.b, 1, x, 2, NULL, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_cg_solve(c, w.op, 2, w.b, 2, x, 1, NULL, NULL), GRAM_ERROR_ARGUMENT);
    options = good, options.size = 3;
    assert_int_equal(gram_cg_solve(c, w.op, 1, w.b, 1, x, 1, &options, NULL), GRAM_ERROR_ARGUMENT);
    options = good, options.tolerance = NAN;
    assert_int_equal(gram_cg_solve(c, w.op, 1, w.b, 1, x, 1, &options, NULL), GRAM_ERROR_ARGUMENT);
    options = good, options.iterations = -1;
    assert_int_equal(gram_cg_solve(c, w.op, 1, w.b, 1, x, 1, &options, NULL), GRAM_ERROR_ARGUMENT);
    options = good, options.precondition = refuse;
    assert_int_equal(gram_cg_solve(c, w.op, 1, w.b, 1, x, 1, &options, NULL), GRAM_ERROR_CANCELLED);
    w.b[5] = NAN;
    REFUSED(c, gram_cg_solve(c, w.op, 1, w.b, 1, x, 1, NULL, NULL), GRAM_ERROR_DATA, "b[5, 0]");
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions),     cmocka_unit_test(starts),          cmocka_unit_test(threads),
        cmocka_unit_test(stalls),        cmocka_unit_test(ill_conditioned), cmocka_unit_test(limits),
        cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
