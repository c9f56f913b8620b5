/* Ridge regression on features against its dense twin, kernel ridge regression with the matrix Phi Phi' by elimination: values,
 * leave-one-out errors by refits, determinants, effective dimensions, paths, variances; and what is certified of the whole kernel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense_twin.h"
#include "features/feature_ridge.h"
#include "oom.h"
#include "support.h"

enum { N = 70, D = 2, M = 2, P = 15 };

typedef struct world {
    gram_context *context;
    double *x, *y, *w, *z; /* z: features */
    gram_points *points;
    gram_kernel *kernel;
    gram_features *map;
    gram_problem problem;
    int64_t q;
    double *k; /* Phi Phi' */
} world;

static const struct setting {
    const char *name, *kernel;
    gram_features_kind kind;
    int weighted, intercept, linear;
} SETTINGS[] = {
    {"landmarks", "rbf(ell=0.7)", GRAM_FEATURES_NYSTROM, 0, 1, 0},
    {"landmarks with weights", "matern(nu=1.5,ell=1)", GRAM_FEATURES_NYSTROM, 1, 1, 0},
    {"landmarks and a free column", "matern(nu=1.5,ell=1)", GRAM_FEATURES_NYSTROM, 1, 1, 1},
    {"landmarks, nothing free", "matern(nu=0.5,ell=1)", GRAM_FEATURES_NYSTROM, 0, 0, 0},
    {"frequencies", "rbf(ell=0.7)", GRAM_FEATURES_FOURIER, 0, 1, 0},
    {"frequencies with weights", "laplace1(ell=2)", GRAM_FEATURES_FOURIER, 1, 1, 1},
};
enum { SETTING_COUNT = sizeof SETTINGS / sizeof *SETTINGS };

static void world_make(gram_context *context, const struct setting *s, double lambda, world *v)
{
    static const int64_t FREE[] = {1};
    gram_features_options options;
    *v = (world){.context = context};
    v->x = test_random(1, N * D, -1, 1);
    v->y = test_random(2, N * M, -1, 1);
    v->w = s->weighted ? test_random(3, N, 0.2, 2) : NULL;
    for (int64_t i = 0; i < N; i++)
        for (int64_t o = 0; o < M; o++)
            v->y[i * M + o] = 0.1 * v->y[i * M + o] + sin(3 * v->x[i * D]) + (double)o + v->x[i * D + 1];
    v->points = test_points(context, N, D, v->x);
    v->kernel = test_kernel(context, s->kernel);
    gram_features_options_init(&options, sizeof options);
    options.kind = s->kind;
    options.dimension = s->kind == GRAM_FEATURES_FOURIER ? P + 1 : P;
    OK(context, gram_features_make(context, v->kernel, D, v->points, &options, &v->map));
    const int64_t p = v->map->report.dimension;
    v->z = test_numbers(N * p);
    v->k = test_numbers(N * N);
    OK(context, gram_features_transform(context, v->map, N, v->x, D, v->z, p));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            for (int64_t l = 0; l < p; l++) v->k[i * N + j] += v->z[i * p + l] * v->z[j * p + l];
    OK(context, gram_problem_make(context, "test", v->kernel, v->points, M, v->y, M, v->w, &v->problem));
    OK(context, gram_problem_set_lambda(context, "test", lambda, &v->problem));
    OK(context, gram_problem_set_unpenalised(context, "test", s->intercept, s->linear, FREE, &v->problem));
}

static void world_free(world *v)
{
    gram_problem_free(v->context, &v->problem);
    gram_features_destroy(v->map);
    gram_kernel_release(v->kernel);
    gram_points_release(v->points);
    free(v->x), free(v->y), free(v->w), free(v->z), free(v->k);
}

/* The system [A T; T' 0] [a; b] = [y; 0] without row `out` (-1: all rows); values of all rows to f. */
static void dense_fit(const world *v, int64_t out, double *f)
{
    const int64_t q = v->problem.q, size = N + q;
    double *a = test_numbers(size * size), *u = test_numbers(size * M);
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < N; j++) a[i * size + j] = i == out || j == out ? 0 : v->k[i * N + j];
        a[i * size + i] += i == out ? 1 : v->problem.ridge[i];
        for (int64_t j = 0; j < q && i != out; j++)
            a[i * size + N + j] = a[(N + j) * size + i] = v->problem.t[i * q + j];
        for (int64_t o = 0; o < M && i != out; o++) u[i * M + o] = v->y[i * M + o];
    }
    (void)dense_solve(size, a, M, u);
    for (int64_t i = 0; i < N; i++)
        for (int64_t o = 0; o < M; o++) {
            f[i * M + o] = 0;
            for (int64_t j = 0; j < N; j++) f[i * M + o] += v->k[i * N + j] * (j == out ? 0 : u[j * M + o]);
            for (int64_t j = 0; j < q; j++) f[i * M + o] += v->problem.t[i * q + j] * u[(N + j) * M + o];
        }
    free(a), free(u);
}

static void compare(gram_context *context, const struct setting *s, double lambda)
{
    world v;
    gram_feature_ridge r;
    world_make(context, s, lambda, &v);
    const int64_t p = v.map->report.dimension, q = v.problem.q;
    const double strength = lambda * N;
    double *c = test_numbers(p * M), *b = test_numbers((q + 1) * M), *f = test_numbers(N * M),
           *twin = test_numbers(N * M), *lever = test_numbers(N), *left = test_numbers(N * M), squares = 0, loo = 0,
           dimension = 0;
    OK(context, gram_feature_ridge_make(context, v.map, &v.problem, strength, &r));
    OK(context, gram_feature_ridge_solve(context, "test", &r, strength, c, b));
    OK(context, gram_feature_ridge_leverage(context, &r, 1, lever, NULL));
    dense_fit(&v, -1, twin);
    for (int64_t i = 0; i < N; i++)
        for (int64_t o = 0; o < M; o++) {
            for (int64_t l = 0; l < p; l++) f[i * M + o] += v.z[i * p + l] * c[l * M + o];
            f[i * M + o] += gram_problem_unpenalised(&v.problem, i, b, o);
            squares += gram_problem_weight(&v.problem, i) * pow(v.y[i * M + o] - f[i * M + o], 2);
        }
    test_near("values", s->name, N * M, f, twin, 1e-9);
    for (int64_t i = 0; i < N; i++) {
        dense_fit(&v, i, twin);
        for (int64_t o = 0; o < M; o++) {
            const double miss = v.y[i * M + o] - twin[i * M + o],
                         found = (v.y[i * M + o] - f[i * M + o]) / (1 - lever[i]);
            test_near("left out", s->name, 1, &found, &miss, 1e-7);
            loo += gram_problem_weight(&v.problem, i) * miss * miss;
        }
    }
    double *a = test_numbers(N * N), determinant;
    for (int64_t i = 0; i < N * N; i++) a[i] = v.k[i];
    for (int64_t i = 0; i < N; i++) a[i * N + i] += v.problem.ridge[i];
    determinant = dense_invert(N, a);
    test_near("log determinant", s->name, 1, &r.log_determinant, &determinant, 1e-9);
    for (int64_t i = 0; i < N * N; i++) dimension += v.k[i] * a[i];
    test_near("effective dimension", s->name, 1, &r.effective_dimension, &dimension, 1e-9);
    gram_ridge_point path[] = {{.strength = 10 * strength}, {.strength = strength}};
    OK(context, gram_feature_ridge_path(context, &r, 1, 2, path));
    test_near("squares of the path", s->name, 1, &path[1].squares, &squares, 1e-8);
    test_near("left out on the path", s->name, 1, &path[1].loo, &loo, 1e-7);
    test_near("determinant on the path", s->name, 1, &path[1].log_determinant, &determinant, 1e-9);
    assert_true(path[0].squares > path[1].squares);
    gram_feature_ridge_free(context, &r);
    world_free(&v);
    free(c), free(b), free(f), free(twin), free(lever), free(left), free(a);
}

static void against_the_twin(void **state)
{
    for (int s = 0; s < SETTING_COUNT; s++)
        for (int k = 0; k < 2; k++) compare(*state, &SETTINGS[s], k ? 1e-2 : 1e-5);
}

/* Products of kernel columns, repaired, and products of features have the same solution. */
static void raw_products(void **state)
{
    gram_context *context = *state;
    world v;
    double c[2][P * M], b[2][M];
    world_make(context, &SETTINGS[0], 1e-4, &v);
    for (int raw = 0; raw < 2; raw++) {
        gram_feature_ridge r;
        OK(context, gram_feature_ridge_make(context, v.map, &v.problem, raw ? 1e-4 * N : 0, &r));
        assert_int_equal(r.raw, raw);
        OK(context, gram_feature_ridge_solve(context, "test", &r, 1e-4 * N, c[raw], b[raw]));
        assert_true(r.residual < 1e-10);
        gram_feature_ridge_free(context, &r);
    }
    test_near("c", NULL, P * M, c[1], c[0], 1e-8);
    test_near("b", NULL, M, b[1], b[0], 1e-8);
    world_free(&v);
}

/* Many rows for few landmarks, `offset` away from 0: f32 does not see them apart where that is large, and the estimates are as good nevertheless. */
static void estimate_far_away(gram_context *context, double offset)
{
    enum { ROWS = 63000, LANDMARKS = 400 };
    double *x = test_random(11, ROWS * D, -1, 1), *y = test_random(12, ROWS, -1, 1), *h[2], mean = 0, b[1];
    double *c = test_numbers(LANDMARKS);
    gram_features_options options;
    gram_features *map = NULL;
    gram_feature_ridge r;
    gram_problem problem = {0};
    int64_t estimated[2];
    for (int64_t k = 0; k < ROWS * D; k++) x[k] += offset;
    gram_points *points = test_points(context, ROWS, D, x);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.2)");
    gram_features_options_init(&options, sizeof options);
    options.kind = GRAM_FEATURES_NYSTROM;
    options.dimension = LANDMARKS;
    OK(context, gram_features_make(context, kernel, D, points, &options, &map));
    OK(context, gram_problem_make(context, "test", kernel, points, 1, y, 1, NULL, &problem));
    OK(context, gram_problem_set_lambda(context, "test", 1e-6, &problem));
    OK(context, gram_problem_set_unpenalised(context, "test", 1, 0, NULL, &problem));
    OK(context, gram_feature_ridge_make(context, map, &problem, 0, &r));
    OK(context, gram_feature_ridge_solve(context, "test", &r, 1e-6 * ROWS, c, b));
    for (int exact = 0; exact < 2; exact++) {
        h[exact] = test_numbers(ROWS);
        OK(context, gram_feature_ridge_leverage(context, &r, exact, h[exact], &estimated[exact]));
    }
    assert_true(estimated[0] > ROWS / 2 && estimated[1] == 0);
    for (int64_t i = 0; i < ROWS; i++) {
        mean += fabs(h[0][i] - h[1][i]) / h[1][i] / ROWS;
        assert_true(fabs(h[0][i] - h[1][i]) < 0.05);
    }
    assert_true(mean > 0.05 && mean < 0.2); /* sqrt(2/64) times the mean of |normal|, 0.14 */
    gram_feature_ridge_free(context, &r);
    gram_problem_free(context, &problem);
    gram_features_destroy(map);
    gram_points_release(points);
    gram_kernel_release(kernel);
    free(x), free(y), free(h[0]), free(h[1]), free(c);
}

static void estimated_leverages(void **state)
{
    estimate_far_away(*state, 0);
    estimate_far_away(*state, 30000);
}

/* The residuals that a fit keeps are those of its own values. */
static void kept_residuals(void **state)
{
    gram_context *context = *state;
    world v;
    double c[P * M], b[M];
    gram_feature_ridge r;
    world_make(context, &SETTINGS[0], 1e-4, &v);
    OK(context, gram_feature_ridge_make(context, v.map, &v.problem, 1e-4 * N, &r));
    OK(context, gram_feature_ridge_solve(context, "test", &r, 1e-4 * N, c, b));
    assert_non_null(r.left);
    for (int64_t i = 0; i < N; i++)
        for (int64_t o = 0; o < M; o++) {
            double left = v.y[i * M + o] - b[o];
            for (int64_t k = 0; k < P; k++) left -= v.z[i * P + k] * c[k * M + o];
            assert_true(fabs(left - r.left[i * M + o]) < 1e-9);
        }
    gram_feature_ridge_free(context, &r);
    world_free(&v);
}

static gram_krr *fit(gram_context *context, const char *text, gram_points *points, const double *y,
                     const gram_krr_options *options)
{
    gram_kernel *kernel = test_kernel(context, text);
    gram_krr *krr = NULL;
    OK(context, gram_krr_fit(context, kernel, points, 1, y, 1, options, &krr));
    gram_kernel_release(kernel);
    return krr;
}

/* lambda |f - f*|^2 <= gap, and the values of f and f* differ by no more than the certificates. */
static void certificate(void **state)
{
    static const char *const kernels[] = {"rbf(ell=1)", "matern(nu=1.5,ell=0.8)", "2*laplace(ell=1)", "linear(c=1)"};
    gram_context *context = *state;
    double *x = test_random(5, N * D, -1, 1), *y = test_random(6, N, -1, 1), *w = test_random(7, N, 0.5, 2);
    gram_points *points = test_points(context, N, D, x);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (int m = 3; m < N; m += 22)
            for (int variant = 0; variant < 4; variant++) {
                gram_krr_options o;
                double difference = 0;
                gram_krr_options_init(&o, sizeof o);
                o.lambda = variant & 1 ? 1e-3 : 1e-1;
                o.weights = variant & 2 ? w : NULL;
                gram_krr *exact = fit(context, kernels[k], points, y, &o);
                o.solver = GRAM_SOLVER_NYSTROM;
                o.landmarks = m;
                gram_krr *few = fit(context, kernels[k], points, y, &o);
                const gram_krr_report *r = gram_krr_get_report(few);
                OK(context,
                   gram_function_distance(context, gram_krr_function(few), gram_krr_function(exact), &difference));
                assert_true(r->gap_exact && r->gap >= 0);
                if (o.lambda * difference * difference > r->gap * (1 + 1e-9) + 1e-12)
                    FAIL_TEST("%s, %d landmarks: lambda |f - f*|^2 = %g, gap %g", kernels[k], m,
                              o.lambda * difference * difference, r->gap);
                const double slack = gram_function_constant(gram_krr_function(few))[0] -
                                     gram_function_constant(gram_krr_function(exact))[0];
                for (int i = 0; i < N; i++)
                    assert_true(fabs(gram_krr_fitted(few)[i] - gram_krr_fitted(exact)[i] - slack) <=
                                r->certificate + 1e-9);
                double squares = 0, total = 0;
                for (int i = 0; i < N; i++) {
                    squares += (o.weights ? w[i] : 1) * pow(gram_krr_fitted(few)[i] - gram_krr_fitted(exact)[i], 2);
                    total += o.weights ? w[i] : 1;
                }
                if (squares / total > pow(r->certificate_rms, 2) * (1 + 1e-9) + 1e-12)
                    FAIL_TEST("%s, %d landmarks: values differ by %g, certificate %g", kernels[k], m,
                              sqrt(squares / total), r->certificate_rms);
                const double sum = squares / N + o.lambda * difference * difference; /* all that the objective lacks */
                assert_true(sum <= r->gap * (1 + 1e-9) + 1e-12);
                if (m > 60 && r->rank == m) assert_true(r->gap < 0.1);
                gram_krr_destroy(few), gram_krr_destroy(exact);
            }
    gram_points_release(points);
    free(x), free(y), free(w);
}

/* Gaps from 1,000 of 1,600 rows: above those of all rows in at least 0.95 of runs (0.99 is meant), and not by much. */
static void sampled_certificate(void **state)
{
    enum { ROWS = 1600, RUNS = 60 };
    int below = 0;
    double ratio = 0;
    (void)state;
    for (int run = 0; run < RUNS; run++) {
        gram_context *context = TEST_CONTEXT(.seed = (uint64_t)run);
        double *x = test_random(100 + (uint64_t)run, ROWS * D, -1, 1),
               *y = test_random(300 + (uint64_t)run, ROWS, -1, 1);
        for (int i = 0; i < 30 * D; i++) x[i] *= 4; /* rows far from the others, which landmarks see badly */
        for (int i = 0; i < ROWS; i++) y[i] = 0.5 * y[i] + sin(6 * x[i * D]) * cos(5 * x[i * D + 1]);
        gram_points *points = test_points(context, ROWS, D, x);
        double gaps[2];
        for (int whole = 0; whole < 2; whole++) {
            gram_krr_options o;
            gram_krr_options_init(&o, sizeof o);
            o.lambda = 1e-4;
            o.solver = GRAM_SOLVER_NYSTROM;
            o.landmarks = 20;
            o.certify = whole ? 1 : -1;
            gram_krr *krr = fit(context, "matern(nu=1.5,ell=1)", points, y, &o);
            gaps[whole] = gram_krr_get_report(krr)->gap;
            assert_int_equal(gram_krr_get_report(krr)->gap_rows, whole ? ROWS : 1000);
            assert_int_equal(gram_krr_get_report(krr)->gap_exact, whole);
            gram_krr_destroy(krr);
        }
        below += gaps[0] < gaps[1];
        ratio += gaps[0] / gaps[1] / RUNS;
        gram_points_release(points);
        gram_context_destroy(context);
        free(x), free(y);
    }
    assert_true(below <= 3);
    assert_true(ratio < 1.5);
}

/* The variances of a Gaussian process with the low-rank kernel and what it leaves of the diagonal. */
static void variances(void **state)
{
    gram_context *context = *state;
    double *x = test_random(8, N * D, -1, 1), *y = test_random(9, N, -1, 1), at[] = {0.3, -0.4}, k;
    gram_points *points = test_points(context, N, D, x), *one = test_points(context, 1, D, at);
    gram_kernel *kernel = test_kernel(context, "matern(nu=1.5,ell=1)");
    gram_krr_options o;
    gram_krr_options_init(&o, sizeof o);
    o.lambda = 1e-3;
    o.intercept = 0;
    o.solver = GRAM_SOLVER_NYSTROM;
    o.landmarks = P;
    gram_krr *krr = fit(context, "matern(nu=1.5,ell=1)", points, y, &o);
    const gram_points *centres = gram_function_centres(gram_krr_function(krr));
    const double *l = gram_krr_landmark_factor(krr), *r = gram_krr_inner_factor(krr);
    double *cross = test_matrix(context, kernel, points, (gram_points *)centres),
           *own = test_matrix(context, kernel, one, (gram_points *)centres),
           *zz = test_matrix(context, kernel, (gram_points *)centres, NULL);
    /* dense: K~ = K_nz K_zz^-1 K_zn and the process with it, plus k - k~ at x */
    double *a = test_numbers(N * N), *b = test_numbers(N), *turned = test_numbers(P * N), u[P], wanted, found;
    (void)dense_invert(P, zz);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int s = 0; s < P; s++)
                for (int t = 0; t < P; t++) a[i * N + j] += cross[i * P + s] * zz[s * P + t] * cross[j * P + t];
    for (int i = 0; i < N; i++) {
        a[i * N + i] += 1e-3 * N;
        for (int s = 0; s < P; s++)
            for (int t = 0; t < P; t++) b[i] += cross[i * P + s] * zz[s * P + t] * own[t];
    }
    (void)dense_invert(N, a);
    OK(context, gram_matrix_diagonal(context, kernel, one, &k));
    wanted = k;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) wanted -= b[i] * a[i * N + j] * b[j];
    found = k;
    for (int s = 0; s < P; s++) {
        u[s] = own[s];
        for (int t = 0; t < s; t++) u[s] -= l[s * P + t] * u[t];
        u[s] /= l[s * P + s];
        found -= u[s] * u[s];
    }
    for (int s = 0; s < P; s++) {
        for (int t = 0; t < s; t++) u[s] -= r[s * P + t] * u[t];
        u[s] /= r[s * P + s];
        found += 1e-3 * N * u[s] * u[s];
    }
    test_near("variance", NULL, 1, &found, &wanted, 1e-9);
    gram_krr_destroy(krr);
    gram_kernel_release(kernel);
    gram_points_release(points), gram_points_release(one);
    free(x), free(y), free(cross), free(own), free(zz), free(a), free(b), free(turned);
}

/* The report of a fit on landmarks has leave-one-out errors and a likelihood, and with all rows as landmarks those of the exact fit. */
static void all_rows(void **state)
{
    gram_context *context = *state;
    double *x = test_random(10, N * D, -1, 1), *y = test_random(11, N, -1, 1);
    gram_points *points = test_points(context, N, D, x);
    gram_krr_options o;
    gram_krr_options_init(&o, sizeof o);
    gram_krr *exact = fit(context, "laplace(ell=1)", points, y, &o);
    o.solver = GRAM_SOLVER_NYSTROM;
    for (int rule = 0; rule < GRAM_LANDMARKS_GIVEN; rule++) {
        o.landmarks = N;
        o.landmark_rule = (gram_landmark_rule)rule;
        gram_krr *all = fit(context, "laplace(ell=1)", points, y, &o);
        const gram_krr_report *a = gram_krr_get_report(all), *e = gram_krr_get_report(exact);
        const char *name = gram_landmark_rule_name(o.landmark_rule);
        test_near("values", name, N, gram_krr_fitted(all), gram_krr_fitted(exact), 1e-9);
        test_near("left out", name, N, gram_krr_loo_residuals(all), gram_krr_loo_residuals(exact), 1e-9);
        test_near("likelihood", name, 1, &a->log_marginal_likelihood, &e->log_marginal_likelihood, 1e-9);
        test_near("gcv", name, 1, &a->gcv, &e->gcv, 1e-9);
        assert_true(a->trace_error < 1e-13 && a->gap < 1e-9 && a->rank == N);
        gram_krr_destroy(all);
    }
    gram_krr_destroy(exact);
    gram_points_release(points);
    free(x), free(y);
}

static gram_status play(gram_context *context)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    gram_points *points = NULL;
    gram_krr *krr = NULL;
    gram_krr_options o;
    double x[24], y[12];
    test_uniform(1, 24, 0, 1, x);
    test_uniform(2, 12, 0, 1, y);
    STEP(gram_points_create_f64(context, 12, 2, x, 2, &points));
    STEP(gram_kernel_parse(context, "rbf(ell=1)", &kernel));
    for (int rule = 0; rule < GRAM_LANDMARKS_GIVEN; rule++) {
        gram_krr_options_init(&o, sizeof o);
        o.solver = GRAM_SOLVER_NYSTROM;
        o.landmarks = 4;
        o.landmark_rule = (gram_landmark_rule)rule;
        STEP(gram_krr_fit(context, kernel, points, 1, y, 1, &o, &krr));
        gram_krr_destroy(krr);
        krr = NULL;
    }
done:
    gram_krr_destroy(krr);
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
        cmocka_unit_test(against_the_twin),    cmocka_unit_test(raw_products),
        cmocka_unit_test(certificate),         cmocka_unit_test(kept_residuals),
        cmocka_unit_test(estimated_leverages), cmocka_unit_test(sampled_certificate),
        cmocka_unit_test(variances),           cmocka_unit_test(all_rows),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
