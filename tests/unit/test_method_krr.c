/* Kernel ridge regression against slow and obvious twins: Gaussian elimination on the whole system, refits that really
 * leave rows out, ridge regression in feature space. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense_twin.h"
#include "support.h"

enum { N = 60, D = 3, M = 2, NEW = 17 };

typedef struct setting {
    const char *name, *kernel;
    double lambda;
    int intercept, weighted;
} setting;

static const setting SETTINGS[] = {
    {"plain", "rbf(ell=0.8)", 0.01, 0, 0},
    {"intercept", "rbf(ell=0.8)", 0.01, 1, 0},
    {"weights", "rbf(ell=0.8)", 0.01, 0, 1},
    {"both", "matern(nu=1.5, ell=1.1)", 0.003, 1, 1},
    {"sum", "0.5*rbf(ell=[0.7,1.2,2]) + linear(c=0.3)", 0.02, 1, 1},
};

typedef struct data {
    double x[N * D], y[N * M], w[N], z[NEW * D];
} data;

static void make_data(uint64_t seed, int weighted, data *t)
{
    test_uniform(seed, N * D, -1, 1, t->x);
    test_uniform(seed + 1, NEW * D, -1, 1, t->z);
    test_uniform(seed + 2, N * M, -0.2, 0.2, t->y);
    test_uniform(seed + 3, N, 0.3, 3, t->w);
    for (int i = 0; i < N; i++) {
        const double *x = t->x + i * D;
        t->y[i * M] += sin(3 * x[0]) + x[1] * x[1];
        t->y[i * M + 1] += 5 + cos(2 * x[2]) * x[0];
        if (!weighted) t->w[i] = 1;
    }
}

/* The fit on the rows with keep[i], n lambda = ridge; values at all rows (and nothing else) go to out (N x M). Coefficients
 * and constants too unless NULL. */
static void slow_fit(gram_context *c, const setting *s, const data *t, double ridge, const int *keep, double *out,
                     double *coefficients, double *constants)
{
    int rows[N], n = 0;
    for (int i = 0; i < N; i++)
        if (!keep || keep[i]) rows[n++] = i;
    double *k = test_numbers(N * N), *a = test_numbers((n + 1) * (n + 1)), *b = test_numbers((n + 1) * M);
    gram_kernel *kernel = test_kernel(c, s->kernel);
    gram_points *x = test_points(c, N, D, t->x);
    const int size = n + (s->intercept != 0);
    OK(c, gram_matrix(c, kernel, x, NULL, k, N));
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) a[i * size + j] = k[rows[i] * N + rows[j]] + (i == j ? ridge / t->w[rows[i]] : 0);
        if (s->intercept) a[i * size + n] = a[n * size + i] = 1;
        memcpy(b + i * M, t->y + rows[i] * M, M * sizeof *b);
    }
    (void)dense_solve(size, a, M, b);
    for (int i = 0; i < N; i++)
        for (int o = 0; o < M; o++) {
            out[i * M + o] = s->intercept ? b[n * M + o] : 0;
            for (int j = 0; j < n; j++) out[i * M + o] += k[i * N + rows[j]] * b[j * M + o];
        }
    if (coefficients) memcpy(coefficients, b, (size_t)(n * M) * sizeof *b);
    if (constants && s->intercept) memcpy(constants, b + n * M, M * sizeof *b);
    free(k), free(a), free(b);
    gram_points_release(x);
    gram_kernel_release(kernel);
}

static gram_krr_options options_of(const setting *s, const data *t)
{
    gram_krr_options o;
    gram_krr_options_init(&o, sizeof o);
    o.lambda = s->lambda;
    o.intercept = s->intercept;
    o.weights = s->weighted ? t->w : NULL;
    return o;
}

static gram_krr *fit(gram_context *c, const char *kernel_text, int n, int d, int m, const double *x, const double *y,
                     const gram_krr_options *o)
{
    gram_krr *krr = NULL;
    gram_kernel *kernel = test_kernel(c, kernel_text);
    gram_points *points = test_points(c, n, d, x);
    OK(c, gram_krr_fit(c, kernel, points, m, y, m, o, &krr));
    gram_points_release(points);
    gram_kernel_release(kernel);
    return krr;
}

/* ---- fits ---- */

static void solves_the_system(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    for (size_t k = 0; k < sizeof SETTINGS / sizeof *SETTINGS; k++) {
        const setting *s = &SETTINGS[k];
        data t;
        double out[N * M], a[N * M], b[M] = {0};
        make_data(100 + k, s->weighted, &t);
        gram_krr_options o = options_of(s, &t);
        gram_krr *krr = fit(c, s->kernel, N, D, M, t.x, t.y, &o);
        slow_fit(c, s, &t, N * s->lambda, NULL, out, a, b);
        test_near(s->name, NULL, N * M, gram_krr_fitted(krr), out, 1e-11);
        test_near("coefficients", NULL, N * M, gram_function_coefficients(gram_krr_function(krr)), a, 1e-9);
        if (s->intercept) test_near("constants", NULL, M, gram_function_constant(gram_krr_function(krr)), b, 1e-10);
        const gram_krr_report *r = gram_krr_get_report(krr);
        assert_true(r->backward_error < 1e-14 && r->jitter == 0 && r->precision == GRAM_PRECISION_F64);
        assert_true(r->condition > 1 && r->n == N && r->d == D && r->outputs == M);
        gram_krr_destroy(krr);
    }
    gram_context_destroy(c);
}

static void leaves_one_out(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    for (size_t k = 0; k < sizeof SETTINGS / sizeof *SETTINGS; k++) {
        const setting *s = &SETTINGS[k];
        data t;
        double out[N * M], expected[N * M], sum = 0, total = 0;
        int keep[N];
        make_data(200 + k, s->weighted, &t);
        gram_krr_options o = options_of(s, &t);
        gram_krr *krr = fit(c, s->kernel, N, D, M, t.x, t.y, &o);
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) keep[j] = j != i;
            slow_fit(c, s, &t, N * s->lambda, keep, out, NULL, NULL);
            for (int q = 0; q < M; q++) {
                expected[i * M + q] = t.y[i * M + q] - out[i * M + q];
                sum += t.w[i] * expected[i * M + q] * expected[i * M + q];
            }
            total += t.w[i];
        }
        test_near("leave-one-out", NULL, N * M, gram_krr_loo_residuals(krr), expected, 1e-9);
        const double rmse = sqrt(sum / (M * total));
        test_near("loo_rmse", NULL, 1, &gram_krr_get_report(krr)->loo_rmse, &rmse, 1e-10);
        gram_krr_destroy(krr);
    }
    gram_context_destroy(c);
}

static void leaves_folds_out(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    for (size_t k = 0; k < sizeof SETTINGS / sizeof *SETTINGS; k++) {
        const setting *s = &SETTINGS[k];
        data t;
        double out[N * M], expected[N * M], found[N * (M + 1)];
        int64_t fold[N];
        int keep[N];
        make_data(300 + k, s->weighted, &t);
        for (int i = 0; i < N; i++) fold[i] = (i * 7 + i / 5) % 6 == 0 ? 40 : (i * 7) % 4;
        for (int64_t b = 0; b <= 40; b++) {
            for (int j = 0; j < N; j++) keep[j] = fold[j] != b;
            slow_fit(c, s, &t, N * s->lambda, keep, out, NULL, NULL);
            for (int i = 0; i < N; i++)
                for (int q = 0; q < M && fold[i] == b; q++) expected[i * M + q] = t.y[i * M + q] - out[i * M + q];
        }
        gram_krr_options o = options_of(s, &t);
        gram_kernel *kernel = test_kernel(c, s->kernel);
        gram_points *x = test_points(c, N, D, t.x);
        OK(c, gram_krr_fold_residuals(c, kernel, x, M, t.y, M, &o, fold, found, M + 1));
        for (int i = 0; i < N; i++) test_near("folds", NULL, M, found + i * (M + 1), expected + i * M, 1e-9);
        gram_points_release(x);
        gram_kernel_release(kernel);
    }
    gram_context_destroy(c);
}

static void path_is_separate_fits(void **state)
{
    (void)state;
    enum { COUNT = 5 };
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    for (size_t k = 0; k < sizeof SETTINGS / sizeof *SETTINGS; k++) {
        const setting *s = &SETTINGS[k];
        data t;
        make_data(400 + k, s->weighted, &t);
        gram_krr_path_point path[COUNT];
        static double a[COUNT * N * M], b[COUNT * M];
        for (int i = 0; i < COUNT; i++) path[i].lambda = pow(10, -5 + i);
        gram_krr_options o = options_of(s, &t);
        gram_kernel *kernel = test_kernel(c, s->kernel);
        gram_points *x = test_points(c, N, D, t.x);
        OK(c, gram_krr_path(c, kernel, x, M, t.y, M, &o, COUNT, path, a, b));
        for (int i = 0; i < COUNT; i++) {
            o.lambda = path[i].lambda;
            gram_krr *krr = fit(c, s->kernel, N, D, M, t.x, t.y, &o);
            const gram_krr_report *r = gram_krr_get_report(krr);
            test_near("coefficients", NULL, N * M, a + i * N * M, gram_function_coefficients(gram_krr_function(krr)),
                      1e-8);
            if (s->intercept)
                test_near("constants", NULL, M, b + i * M, gram_function_constant(gram_krr_function(krr)), 1e-9);
            test_near("gcv", NULL, 1, &path[i].gcv, &r->gcv, 1e-9);
            test_near("loo", NULL, 1, &path[i].loo_rmse, &r->loo_rmse, 1e-9);
            test_near("train", NULL, 1, &path[i].train_rmse, &r->train_rmse, 1e-9);
            test_near("dimension", NULL, 1, &path[i].effective_dimension, &r->effective_dimension, 1e-9);
            test_near("likelihood", NULL, 1, &path[i].log_marginal_likelihood, &r->log_marginal_likelihood, 1e-9);
            gram_krr_destroy(krr);
        }
        gram_points_release(x);
        gram_kernel_release(kernel);
    }
    gram_context_destroy(c);
}

/* n |(I - H) y|^2/n^2 / (tr (I - H)/n)^2 with the smoother H made column by column. */
static void gcv_is_that_of_the_smoother(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    const setting *s = &SETTINGS[1];
    data t, unit;
    double out[N * M], trace = 0, sum = 0;
    make_data(500, 0, &t);
    gram_krr_options o = options_of(s, &t);
    gram_krr *krr = fit(c, s->kernel, N, D, M, t.x, t.y, &o);
    unit = t;
    for (int i = 0; i < N; i++) {
        memset(unit.y, 0, sizeof unit.y);
        unit.y[i * M] = 1;
        slow_fit(c, s, &unit, N * s->lambda, NULL, out, NULL, NULL);
        trace += 1 - out[i * M];
    }
    for (int i = 0; i < N * M; i++) sum += pow(t.y[i] - gram_krr_fitted(krr)[i], 2);
    const double gcv = sum / (N * M) / pow(trace / N, 2);
    test_near("gcv", NULL, 1, &gram_krr_get_report(krr)->gcv, &gcv, 1e-9);
    gram_krr_destroy(krr);
    gram_context_destroy(c);
}

/* ---- identities ---- */

/* Ridge regression on the features themselves: (X'X + n lambda I) v = X'y. */
static void push_through(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    double g[D * D] = {0}, v[D * M] = {0}, expected[N * M];
    make_data(600, 0, &t);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < D; j++) {
            for (int l = 0; l < D; l++) g[j * D + l] += t.x[i * D + j] * t.x[i * D + l];
            for (int q = 0; q < M; q++) v[j * M + q] += t.x[i * D + j] * t.y[i * M + q];
        }
    for (int j = 0; j < D; j++) g[j * D + j] += N * 0.05;
    (void)dense_solve(D, g, M, v);
    for (int i = 0; i < N; i++)
        for (int q = 0; q < M; q++) {
            expected[i * M + q] = 0;
            for (int l = 0; l < D; l++) expected[i * M + q] += t.x[i * D + l] * v[l * M + q];
        }
    gram_krr_options o;
    gram_krr_options_init(&o, sizeof o);
    o.lambda = 0.05;
    o.intercept = 0;
    gram_krr *krr = fit(c, "linear(c=0)", N, D, M, t.x, t.y, &o);
    test_near("linear", NULL, N * M, gram_krr_fitted(krr), expected, 1e-11);
    double norm = 0;
    for (int l = 0; l < D * M; l++) norm += v[l] * v[l];
    norm = sqrt(norm);
    test_near("norm", NULL, 1, &gram_krr_get_report(krr)->norm, &norm, 1e-10);
    gram_krr_destroy(krr);
    gram_context_destroy(c);
}

/* A weight of 2 is a row that is there twice; a weight of 0 is a row that is not there. */
static void weights_count_rows(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    enum { FEW = 20 };
    double twice_x[(FEW + 5) * D], twice_y[FEW + 5], once_y[FEW + 3], x[(FEW + 3) * D], w[FEW + 3], one[NEW], two[NEW];
    make_data(700, 0, &t);
    for (int i = 0; i < FEW + 3; i++) {
        memcpy(x + i * D, t.x + i * D, D * sizeof *x);
        once_y[i] = i < FEW ? t.y[i * M] : NAN;
        w[i] = i < 5 ? 2 : i < FEW;
    }
    memcpy(twice_x, x, FEW * D * sizeof *x);
    memcpy(twice_x + FEW * D, x, 5 * D * sizeof *x);
    memcpy(twice_y, once_y, FEW * sizeof *once_y);
    memcpy(twice_y + FEW, once_y, 5 * sizeof *once_y);
    for (int intercept = 0; intercept < 2; intercept++) {
        gram_krr_options o;
        gram_krr_options_init(&o, sizeof o);
        o.intercept = intercept;
        o.lambda = 0.02 / (FEW + 5);
        gram_krr *a = fit(c, "rbf(ell=1)", FEW + 5, D, 1, twice_x, twice_y, &o);
        o.weights = w;
        o.lambda = 0.02 / FEW;
        gram_krr *b = fit(c, "rbf(ell=1)", FEW + 3, D, 1, x, once_y, &o);
        gram_points *z = test_points(c, NEW, D, t.z);
        OK(c, gram_function_evaluate(c, gram_krr_function(a), z, one, 1));
        OK(c, gram_function_evaluate(c, gram_krr_function(b), z, two, 1));
        test_near("weights", NULL, NEW, two, one, 1e-8);
        assert_true(isnan(gram_krr_fitted(b)[FEW]) && gram_krr_get_report(b)->n == FEW);
        gram_points_release(z);
        gram_krr_destroy(a);
        gram_krr_destroy(b);
    }
    gram_context_destroy(c);
}

/* lambda = 0 is what small ridges tend to: an interpolant, and with repeated points the mean of their targets. */
static void ridgeless_limit(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    static const char *const kernels[] = {"matern(nu=0.5, ell=1)", "matern(nu=0.5, ell=1)", "poly(m=2,c=1)",
                                          "linear(c=0)"};
    static const double near_zero[] = {1e-12, 1e-10, 1e-9, 1e-9}; /* rounding costs more the smaller it is */
    for (int k = 0; k < 4; k++)
        for (int intercept = 0; intercept < 2; intercept++) {
            data t;
            double near_limit[NEW * M], limit[NEW * M];
            make_data(800, 1, &t);
            if (k == 1) memcpy(t.x + 10 * D, t.x, 10 * D * sizeof(double)); /* ten points twice */
            gram_krr_options o;
            gram_krr_options_init(&o, sizeof o);
            o.intercept = intercept;
            o.weights = t.w;
            o.lambda = near_zero[k];
            gram_krr *a = fit(c, kernels[k], N, D, M, t.x, t.y, &o);
            o.lambda = 0;
            gram_krr *b = fit(c, kernels[k], N, D, M, t.x, t.y, &o);
            gram_points *z = test_points(c, NEW, D, t.z);
            OK(c, gram_function_evaluate(c, gram_krr_function(a), z, near_limit, M));
            OK(c, gram_function_evaluate(c, gram_krr_function(b), z, limit, M));
            test_near(kernels[k], NULL, NEW * M, limit, near_limit, 2e-6);
            if (k == 0) test_near("interpolant", NULL, N * M, gram_krr_fitted(b), t.y, 1e-10);
            const int64_t rank[4] = {N, N - 10, 10, 3};
            assert_int_equal(gram_krr_get_report(b)->rank, rank[k]);
            gram_points_release(z);
            gram_krr_destroy(a);
            gram_krr_destroy(b);
        }
    gram_context_destroy(c);
}

/* ---- ways of solving ---- */

static void mixed_is_exact(void **state)
{
    (void)state;
    enum { LARGE = 1500, WIDE = 4 };
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    double *x = test_random(1, LARGE * WIDE, -1, 1), *y = test_random(2, LARGE * M, -0.1, 0.1);
    for (int i = 0; i < LARGE; i++) y[i * M] += sin(4 * x[i * WIDE]) + x[i * WIDE + 1], y[i * M + 1] += 3;
    gram_krr_options o;
    gram_krr_options_init(&o, sizeof o);
    o.lambda = 1e-4;
    o.precision = GRAM_PRECISION_F64;
    gram_krr *a = fit(c, "rbf(ell=0.7)", LARGE, WIDE, M, x, y, &o);
    o.precision = GRAM_PRECISION_MIXED;
    gram_krr *b = fit(c, "rbf(ell=0.7)", LARGE, WIDE, M, x, y, &o);
    const gram_krr_report *r = gram_krr_get_report(b);
    assert_int_equal(r->precision, GRAM_PRECISION_MIXED);
    assert_true(r->backward_error < 1e-14 && r->iterations > 0 && r->iterations < 20 && isnan(r->loo_rmse));
    test_near("mixed", NULL, LARGE * M, gram_krr_fitted(b), gram_krr_fitted(a), 1e-10);
    gram_krr_destroy(b);
    o.lambda = 3e-12; /* no f32 factor helps here: the f64 one is taken, and the report says so */
    b = fit(c, "rbf(ell=3)", LARGE, WIDE, M, x, y, &o);
    r = gram_krr_get_report(b);
    assert_int_equal(r->precision, GRAM_PRECISION_F64);
    assert_true(r->backward_error < 1e-13);
    gram_krr_destroy(b);
    o.lambda = 1e-2;
    o.precision = GRAM_PRECISION_F32;
    b = fit(c, "rbf(ell=0.7)", LARGE, WIDE, M, x, y, &o);
    r = gram_krr_get_report(b);
    assert_true(r->precision == GRAM_PRECISION_F32 && r->residual > 1e-9 && r->residual < 1e-4);
    gram_krr_destroy(b);
    gram_krr_destroy(a);
    free(x), free(y);
    gram_context_destroy(c);
}

static void iterations_reach_the_fit(void **state)
{
    (void)state;
    enum { LARGE = 1500, WIDE = 4 };
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    double *x = test_random(21, LARGE * WIDE, -1, 1), *y = test_random(22, LARGE, -0.1, 0.1),
           *w = test_random(23, LARGE, 0.5, 2);
    for (int i = 0; i < LARGE; i++) y[i] += sin(4 * x[i * WIDE]) + x[i * WIDE + 1];
    gram_krr_options o;
    gram_krr_options_init(&o, sizeof o);
    o.lambda = 1e-4;
    o.weights = w;
    gram_krr *a = fit(c, "rbf(ell=0.7)", LARGE, WIDE, 1, x, y, &o);
    o.solver = GRAM_SOLVER_CG;
    o.landmarks = 200;
    o.tolerance = 1e-13;
    gram_krr *b = fit(c, "rbf(ell=0.7)", LARGE, WIDE, 1, x, y, &o);
    const gram_krr_report *r = gram_krr_get_report(b);
    assert_true(r->solver == GRAM_SOLVER_CG && r->backward_error < 1e-13 && r->iterations > 1 && r->rank == 200);
    assert_true(r->trace_error > 0 && r->trace_error < 1);
    test_near("cg", NULL, LARGE, gram_krr_fitted(b), gram_krr_fitted(a), 1e-8);
    gram_krr_destroy(b);
    gram_krr_destroy(a);
    free(x), free(y), free(w);
    gram_context_destroy(c);
}

/* With every point a landmark nothing is lost; with few, the trace error says how much. */
static void landmarks_approach_the_fit(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    for (size_t k = 0; k < sizeof SETTINGS / sizeof *SETTINGS; k++) {
        const setting *s = &SETTINGS[k];
        data t;
        make_data(900 + k, s->weighted, &t);
        gram_krr_options o = options_of(s, &t);
        gram_krr *exact = fit(c, s->kernel, N, D, M, t.x, t.y, &o);
        o.solver = GRAM_SOLVER_NYSTROM;
        o.landmarks = N;
        gram_krr *all = fit(c, s->kernel, N, D, M, t.x, t.y, &o);
        test_near(s->name, NULL, N * M, gram_krr_fitted(all), gram_krr_fitted(exact), 1e-7);
        const double norm = gram_krr_get_report(exact)->norm;
        test_near("norm", NULL, 1, &gram_krr_get_report(all)->norm, &norm, 1e-6);
        assert_true(gram_krr_get_report(all)->trace_error < 1e-12);
        o.landmarks = 12;
        gram_krr *few = fit(c, s->kernel, N, D, M, t.x, t.y, &o);
        const gram_krr_report *r = gram_krr_get_report(few);
        assert_true(r->trace_error > 1e-4 && r->trace_error < 1 && r->rank == 12);
        assert_true(r->train_rmse < 3 * gram_krr_get_report(exact)->train_rmse + 0.2);
        assert_int_equal(gram_points_count(gram_function_centres(gram_krr_function(few))), 12);
        gram_krr_destroy(few);
        gram_krr_destroy(all);
        gram_krr_destroy(exact);
    }
    gram_context_destroy(c);
}

enum { LARGE = 1100 };

static void three_solvers(gram_context *c, double *out)
{
    static const gram_solver solvers[] = {GRAM_SOLVER_EXACT, GRAM_SOLVER_EXACT, GRAM_SOLVER_NYSTROM};
    static const gram_precision precisions[] = {GRAM_PRECISION_F64, GRAM_PRECISION_MIXED, GRAM_PRECISION_AUTO};
    double *x = test_random(11, LARGE * D, -1, 1), *y = test_random(12, LARGE, -1, 1);
    for (int k = 0; k < 3; k++) {
        gram_krr_options o;
        gram_krr_options_init(&o, sizeof o);
        o.solver = solvers[k];
        o.precision = precisions[k];
        o.landmarks = k == 2 ? 300 : 0;
        gram_krr *krr = fit(c, "rbf(ell=0.7)", LARGE, D, 1, x, y, &o);
        memcpy(out + k * LARGE, gram_krr_fitted(krr), LARGE * sizeof *out);
        gram_krr_destroy(krr);
    }
    free(x), free(y);
}

static void same_bits_for_any_threads(void **state)
{
    (void)state;
    test_any_threads(3 * LARGE, three_solvers);
}

/* ---- edges ---- */

static void smallest_sets(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    const double x[2] = {0, 1}, y[2] = {3, 5};
    gram_krr_options o;
    gram_krr_options_init(&o, sizeof o);
    for (int n = 1; n <= 2; n++)
        for (int intercept = 0; intercept < 2; intercept++)
            for (int ridge = 0; ridge < 2; ridge++) {
                o.intercept = intercept;
                o.lambda = 0.1 * ridge;
                gram_krr *krr = fit(c, "rbf(ell=1)", n, 1, 1, x, y, &o);
                if (n == 1 && intercept) assert_true(fabs(gram_krr_fitted(krr)[0] - 3) < 1e-12);
                if (n == 1 && intercept && gram_krr_loo_residuals(krr))
                    assert_true(isnan(gram_krr_loo_residuals(krr)[0]));
                if (n == 1 && !intercept) assert_true(fabs(gram_krr_fitted(krr)[0] - 3 / (1 + o.lambda)) < 1e-12);
                if (!ridge) test_near("interpolant", NULL, n, gram_krr_fitted(krr), y, 1e-12);
                gram_krr_destroy(krr);
            }
    gram_context_destroy(c);
}

static void refuses(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    make_data(1000, 1, &t);
    gram_kernel *kernel = test_kernel(c, "rbf(ell=1)");
    gram_points *x = test_points(c, N, D, t.x);
    gram_krr *krr = NULL;
    gram_krr_options o;
    gram_krr_options_init(&o, sizeof o);
    o.lambda = -1;
    REFUSED(c, gram_krr_fit(c, kernel, x, M, t.y, M, &o, &krr), GRAM_ERROR_ARGUMENT, "lambda = -1");
    o.lambda = NAN;
    assert_int_equal(gram_krr_fit(c, kernel, x, M, t.y, M, &o, &krr), GRAM_ERROR_ARGUMENT);
    o.lambda = 1e-3;
    o.weights = t.w;
    t.w[17] = -2;
    REFUSED(c, gram_krr_fit(c, kernel, x, M, t.y, M, &o, &krr), GRAM_ERROR_DATA, "weights[17] = -2");
    t.w[17] = 1;
    t.y[5 * M + 1] = INFINITY;
    REFUSED(c, gram_krr_fit(c, kernel, x, M, t.y, M, &o, &krr), GRAM_ERROR_DATA, "y[5][1]");
    t.y[5 * M + 1] = 0;
    o.leave_one_out = 1;
    o.precision = GRAM_PRECISION_MIXED;
    assert_int_equal(gram_krr_fit(c, kernel, x, M, t.y, M, &o, &krr), GRAM_ERROR_ARGUMENT);
    o.precision = GRAM_PRECISION_AUTO;
    o.lambda = 0;
    o.solver = GRAM_SOLVER_NYSTROM;
    assert_int_equal(gram_krr_fit(c, kernel, x, M, t.y, M, &o, &krr), GRAM_ERROR_ARGUMENT);
    int64_t fold[N] = {0};
    double out[N * M];
    o.lambda = 1e-3;
    REFUSED(c, gram_krr_fold_residuals(c, kernel, x, M, t.y, M, &o, fold, out, M), GRAM_ERROR_ARGUMENT, "all 60 rows");
    assert_null(krr);
    gram_points_release(x);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

/* Norm facts of a fit without intercept: |f|^2 = a'y - n lambda |a|^2, and y'a/n bounds it. */
static void norm_facts(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    make_data(1100, 0, &t);
    gram_krr_options o;
    gram_krr_options_init(&o, sizeof o);
    o.intercept = 0;
    o.lambda = 0.01;
    gram_krr *krr = fit(c, "rbf(ell=0.6)", N, D, M, t.x, t.y, &o);
    const gram_krr_report *r = gram_krr_get_report(krr);
    const double *a = gram_function_coefficients(gram_krr_function(krr));
    double square = 0, most = 0;
    for (int i = 0; i < N * M; i++) {
        square += a[i] * t.y[i] - N * o.lambda * a[i] * a[i];
        most = fmax(most, fabs(t.y[i]));
    }
    const double norm = sqrt(square);
    test_near("norm", NULL, 1, &r->norm, &norm, 1e-10);
    assert_true(r->norm <= sqrt((double)M) * most / sqrt(o.lambda));
    assert_true(fabs(r->trace - N) < 1e-12 && r->radius == 1);
    assert_true(gram_bound_rademacher(r->norm, r->trace, N) > 0);
    double norms[M];
    OK(c, gram_function_norm(c, gram_krr_function(krr), norms));
    const double again = sqrt(norms[0] * norms[0] + norms[1] * norms[1]);
    test_near("norm of the function", NULL, 1, &r->norm, &again, 1e-12);
    gram_krr_destroy(krr);
    gram_context_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_the_system),
        cmocka_unit_test(leaves_one_out),
        cmocka_unit_test(leaves_folds_out),
        cmocka_unit_test(path_is_separate_fits),
        cmocka_unit_test(gcv_is_that_of_the_smoother),
        cmocka_unit_test(push_through),
        cmocka_unit_test(weights_count_rows),
        cmocka_unit_test(ridgeless_limit),
        cmocka_unit_test(mixed_is_exact),
        cmocka_unit_test(landmarks_approach_the_fit),
        cmocka_unit_test(iterations_reach_the_fit),
        cmocka_unit_test(same_bits_for_any_threads),
        cmocka_unit_test(smallest_sets),
        cmocka_unit_test(refuses),
        cmocka_unit_test(norm_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
