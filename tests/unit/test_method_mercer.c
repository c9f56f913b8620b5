/* Mercer expansions against what they must be: the eigenvalue equation and orthonormality by quadrature, expansions in closed form,
 * which sum up to the kernel and which samples approach, uncentred principal components, all roads side by side, and input that
 * cannot be taken. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "samples.h"
#include "support.h"

static gram_mercer_options want(int64_t components, const double *weights, gram_pca_solver solver)
{
    gram_mercer_options options;
    gram_mercer_options_init(&options, sizeof options);
    options.components = components;
    options.weights = weights;
    options.solver = solver;
    return options;
}

static gram_mercer *fit(gram_context *context, const char *kernel, int64_t n, int64_t d, const double *x,
                        gram_mercer_options options)
{
    gram_mercer *mercer = NULL;
    gram_kernel *k = test_kernel(context, kernel);
    gram_points *points = test_points(context, n, d, x);
    OK(context, gram_mercer_fit(context, k, points, &options, &mercer));
    gram_points_release(points);
    gram_kernel_release(k);
    return mercer;
}

/* The eigenfunctions at points. */
static double *evaluate(gram_context *context, const gram_mercer *mercer, int64_t n, int64_t d, const double *x)
{
    const int64_t k = gram_mercer_get_report(mercer)->components;
    double *out = test_numbers(n * k);
    gram_points *points = test_points(context, n, d, x);
    OK(context, gram_function_evaluate(context, gram_mercer_function(mercer), points, out, k));
    gram_points_release(points);
    return out;
}

/* Gauss's rule for the weight N(0, 1): eigenvalues of the Jacobi matrix of the Hermite polynomials, and squares of the first
 * entries of its vectors (Golub and Welsch). */
static void hermite_rule(gram_context *context, int64_t n, double *x, double *w)
{
    double *jacobi = test_numbers(n * n), *vectors = test_numbers(n * n);
    for (int64_t i = 1; i < n; i++) jacobi[i * n + i - 1] = jacobi[(i - 1) * n + i] = sqrt((double)i);
    OK(context, gram_eigen_symmetric(context, n, jacobi, n, 0, n, x, vectors, n));
    for (int64_t i = 0; i < n; i++) w[i] = vectors[i * n] * vectors[i * n];
    free(jacobi), free(vectors);
}

static void known(gram_context *context, const char *kernel, const char *measure, int64_t count, double *values,
                  int64_t n, const double *x, double *out)
{
    gram_measure p;
    gram_kernel *k = test_kernel(context, kernel);
    OK(context, gram_measure_parse(context, measure, &p));
    OK(context, gram_mercer_analytic(context, k, &p, count, values, n, x, out));
    gram_kernel_release(k);
}

/* ---- closed forms ---- */

/* sum_j mu_j phi_j(x) phi_j(y) = k(x, y), and the mean of phi_i phi_j over a fine rule for the measure is [i = j]. */
static void check_known(gram_context *context, const char *kernel, const char *measure, int64_t count, int64_t n,
                        const double *x, const double *w, double sum_error, double inner_error)
{
    enum { PLACES = 5 };
    const double places[PLACES] = {x[n / 4], x[n / 3], x[n / 2], x[2 * n / 3], x[3 * n / 4]};
    double *mu = test_numbers(count), *at = test_numbers(PLACES * count), *phi = test_numbers(n * count);
    gram_kernel *k = test_kernel(context, kernel);
    gram_points *points = test_points(context, PLACES, 1, places);
    double *matrix = test_matrix(context, k, points, NULL);
    known(context, kernel, measure, count, mu, PLACES, places, at);
    known(context, kernel, measure, count, NULL, n, x, phi);
    for (int64_t a = 0; a < PLACES * PLACES; a++) {
        double sum = 0;
        for (int64_t j = 0; j < count; j++) sum += mu[j] * at[a / PLACES * count + j] * at[a % PLACES * count + j];
        if (fabs(sum - matrix[a]) > sum_error * (1 + fabs(matrix[a])))
            FAIL_TEST("%s: the expansion is %.17g, not %.17g", kernel, sum, matrix[a]);
    }
    for (int64_t i = 0; i < 6; i++)
        for (int64_t j = 0; j <= i; j++) {
            double inner = 0;
            for (int64_t l = 0; l < n; l++) inner += w[l] * phi[l * count + i] * phi[l * count + j];
            if (fabs(inner - (i == j)) > inner_error)
                FAIL_TEST("%s: <phi_%d, phi_%d> = %.17g", kernel, (int)i, (int)j, inner);
        }
    gram_points_release(points);
    gram_kernel_release(k);
    free(mu), free(at), free(phi), free(matrix);
}

static void closed_forms(void **state)
{
    enum { N = 400, H = 60 };
    gram_context *context = *state;
    double x[N], w[N], z[H], v[H];
    for (int i = 0; i < N; i++) x[i] = 1 + 3 * (i + 0.5) / N, w[i] = 1.0 / N;
    check_known(context, "2*min(o=1)", "uniform(1,4)", 20000, N, x, w, 1e-4, 1e-10);
    check_known(context, "periodic(p=1.5,ell=0.7)", "uniform( 1, 4 )", 61, N, x, w, 1e-13, 1e-12);
    check_known(context, "periodic(p=3,ell=0.05)", "uniform(1,4)", 401, N, x, w, 1e-12, 1e-12);
    hermite_rule(context, H, z, v);
    for (int i = 0; i < H; i++) z[i] = 3 + 0.5 * z[i];
    check_known(context, "rbf(ell=0.8)*3", "normal(3,0.25)", 200, H, z, v, 1e-12, 1e-10);
}

/* ---- with respect to points ---- */

/* (1/n) sum_i k(x, x_i) phi(x_i) = mu phi(x) anywhere, the phi are orthonormal, and the kernel is the sum of all. */
static void defining_equations(void **state)
{
    enum { N = 30, M = 7, D = 2 };
    gram_context *context = *state;
    double *x = test_random(1, N * D, 0, 1), *z = test_random(2, M * D, 0, 1), *w = test_random(3, N, 0.1, 2);
    gram_points *points = test_points(context, N, D, x), *new_ones = test_points(context, M, D, z);
    gram_kernel *kernel = test_kernel(context, "laplace(ell=0.5)");
    double *matrix = test_matrix(context, kernel, new_ones, points);
    for (int weighted = 0; weighted < 2; weighted++) {
        gram_mercer *mercer = fit(context, "laplace(ell=0.5)", N, D, x, want(N, weighted ? w : NULL, GRAM_PCA_AUTO));
        const double *mu = gram_mercer_eigenvalues(mercer);
        double *at = evaluate(context, mercer, N, D, x), *phi = evaluate(context, mercer, M, D, z), sum = 0;
        for (int i = 0; i < N; i++) sum += (weighted ? w[i] : 1.0 / N);
        assert_true(fabs(gram_mercer_get_report(mercer)->total - sum) < 1e-12);
        assert_true(fabs(gram_mercer_get_report(mercer)->trace - sum) < 1e-12); /* k(x, x) = 1 */
        for (int j = 0; j < N; j++) sum -= mu[j];
        assert_true(fabs(sum) < 1e-12);
        for (int j = 0; j < N; j++)
            for (int a = 0; a < M; a++) {
                double image = 0;
                for (int i = 0; i < N; i++) image += (weighted ? w[i] : 1.0 / N) * matrix[a * N + i] * at[i * N + j];
                test_near("the equation", NULL, 1, &image, &(double){mu[j] * phi[a * N + j]}, 1e-11);
            }
        for (int j = 0; j < N; j++)
            for (int l = 0; l <= j; l++) {
                double inner = 0;
                for (int i = 0; i < N; i++) inner += (weighted ? w[i] : 1.0 / N) * at[i * N + j] * at[i * N + l];
                test_near("inner products", NULL, 1, &inner, &(double){j == l}, 1e-9);
            }
        gram_mercer_destroy(mercer);
        free(at), free(phi);
    }
    gram_kernel_release(kernel);
    gram_points_release(points), gram_points_release(new_ones);
    free(x), free(z), free(w), free(matrix);
}

/* sqrt(mu_j) phi_j are the coordinates of kernel PCA, not centred; all roads, new points too. */
static void are_components(void **state)
{
    enum { N = 80, D = 2, K = 4 };
    gram_context *context = *state;
    double *x = test_random(7, N * D, -1, 1), *z = test_random(8, N * D, -1, 1), *by_pca = test_numbers(N * K);
    const char *const kernels[] = {"rbf(ell=1)", "rbf(ell=1)", "rbf(ell=1)", "linear(c=2)"};
    const gram_pca_solver roads[] = {GRAM_PCA_DENSE, GRAM_PCA_KRYLOV, GRAM_PCA_NYSTROM, GRAM_PCA_COVARIANCE};
    for (int r = 0; r < 4; r++) {
        const int k = r == 3 ? D + 1 : K;
        gram_kernel *kernel = test_kernel(context, kernels[r]);
        gram_points *points = test_points(context, N, D, x), *new_ones = test_points(context, N, D, z);
        gram_pca_options options;
        gram_pca *pca = NULL;
        gram_pca_options_init(&options, sizeof options);
        options.components = k, options.centre = 0, options.solver = GRAM_PCA_DENSE;
        OK(context, gram_pca_fit(context, kernel, points, &options, &pca));
        OK(context, gram_function_evaluate(context, gram_pca_function(pca), new_ones, by_pca, k));
        gram_mercer *mercer = fit(context, kernels[r], N, D, x, want(k, NULL, roads[r]));
        double *phi = evaluate(context, mercer, N, D, z);
        for (int j = 0; j < k; j++) {
            const double mu = gram_mercer_eigenvalues(mercer)[j], l = gram_pca_eigenvalues(pca)[j] / N;
            test_near("eigenvalues", kernels[r], 1, &mu, &l, 1e-8);
            for (int i = 0; i < N; i++) phi[i * k + j] *= sqrt(mu);
        }
        test_near("components", kernels[r], (int64_t)N * k, phi, by_pca, 1e-6);
        assert_int_equal(gram_mercer_get_report(mercer)->solver, roads[r]);
        if (r == 3) assert_int_equal(gram_mercer_get_report(mercer)->rank, D + 1);
        gram_mercer_destroy(mercer);
        gram_pca_destroy(pca);
        gram_points_release(points), gram_points_release(new_ones);
        gram_kernel_release(kernel);
        free(phi);
    }
    free(x), free(z), free(by_pca);
}

/* A rule of few nodes has the expansion of the rbf under a normal to many digits, by every road; nodes of weight 0 are none. */
static void quadrature_rule(void **state)
{
    enum { H = 40, K = 5, M = 9 };
    gram_context *context = *state;
    double x[H + 2], w[H + 2], mu[K], places[M], phi[M * K];
    hermite_rule(context, H, x, w);
    x[H] = 0.3, x[H + 1] = 100, w[H] = w[H + 1] = 0;
    for (int i = 0; i < M; i++) places[i] = -2 + 0.5 * i;
    known(context, "rbf(ell=1.2)", "normal(0,1)", K, mu, M, places, phi);
    for (int road = GRAM_PCA_AUTO; road <= GRAM_PCA_NYSTROM; road++)
        for (int more = 0; more <= 2; more += 2) {
            gram_mercer *mercer = fit(context, "rbf(ell=1.2)", H + more, 1, x, want(K, w, (gram_pca_solver)road));
            double *at = evaluate(context, mercer, M, 1, places);
            test_near("eigenvalues", NULL, K, gram_mercer_eigenvalues(mercer), mu,
                      road == GRAM_PCA_NYSTROM ? 1e-8 : 1e-12);
            assert_int_equal(gram_mercer_get_report(mercer)->n, H);
            for (int j = 0; j < K; j++) {
                const double sign = at[j] * phi[j] < 0 ? -1 : 1;
                for (int i = 0; i < M; i++) at[i * K + j] *= sign;
            }
            test_near("eigenfunctions", NULL, M * K, at, phi, road == GRAM_PCA_NYSTROM ? 1e-5 : 1e-7);
            gram_mercer_destroy(mercer);
            free(at);
        }
}

/* The largest relative error of the first K eigenvalues. */
static double error_of(gram_context *context, const char *kernel, const char *measure, int64_t n, const double *x)
{
    enum { K = 4 };
    double mu[K], worst = 0;
    gram_mercer *mercer = fit(context, kernel, n, 1, x, want(K, NULL, GRAM_PCA_AUTO));
    known(context, kernel, measure, K, mu, 0, NULL, NULL);
    for (int j = 0; j < K; j++) worst = fmax(worst, fabs(gram_mercer_eigenvalues(mercer)[j] / mu[j] - 1));
    gram_mercer_destroy(mercer);
    return worst;
}

/* The eigenvalues of samples approach those of the measure: like 1/n^2 for the midpoints of n intervals and `min`, and like
 * 1/sqrt(n) for random samples: the mean over seeds falls at least by 2 from n to 16 n (4 is expected). */
static void samples_approach(void **state)
{
    enum { SEEDS = 8 };
    gram_context *context = *state;
    double before = 0, small = 0, large = 0;
    for (int64_t n = 25; n <= 400; n *= 4) {
        double *x = test_numbers(n);
        for (int64_t i = 0; i < n; i++) x[i] = ((double)i + 0.5) / (double)n;
        const double error = error_of(context, "min", "uniform(0,1)", n, x);
        assert_true(n == 25 ? error < 0.02 : error < before / 14);
        before = error;
        free(x);
    }
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double *x = sample_normal(seed, 1600), *u = test_random(seed + 50, 1600, 0, 1);
        small +=
            error_of(context, "rbf(ell=1)", "normal(0,1)", 100, x) + error_of(context, "min", "uniform(0,1)", 100, u);
        large +=
            error_of(context, "rbf(ell=1)", "normal(0,1)", 1600, x) + error_of(context, "min", "uniform(0,1)", 1600, u);
        free(x), free(u);
    }
    if (!(large < small / 2) || !(large / SEEDS < 0.3))
        FAIL_TEST("mean errors %g, then %g", small / SEEDS, large / SEEDS);
}

static void fill(gram_context *context, double *out)
{
    enum { N = 150, K = 3 };
    double *x = test_random(21, 2 * N, 0, 1), *w = test_random(22, N, 0, 1);
    for (int road = 0; road < 3; road++) {
        const gram_pca_solver solver = (gram_pca_solver)(GRAM_PCA_DENSE + road);
        gram_mercer *mercer = fit(context, "matern(nu=1.5,ell=0.4)", N, 2, x, want(K, w, solver));
        double *at = evaluate(context, mercer, N, 2, x);
        memcpy(out + road * (N + 1) * K, gram_mercer_eigenvalues(mercer), K * sizeof *out);
        memcpy(out + road * (N + 1) * K + K, at, N * K * sizeof *out);
        gram_mercer_destroy(mercer);
        free(at);
    }
    free(x), free(w);
}

static void any_threads(void **state)
{
    (void)state;
    test_any_threads(3 * 151 * 3, fill);
}

/* ---- refusals ---- */

static void bad_input(void **state)
{
    enum { N = 12 };
    gram_context *context = *state;
    double *x = test_random(14, 2 * N, 0, 1), w[N] = {0}, values[3];
    gram_points *points = test_points(context, N, 2, x);
    gram_kernel *linear = test_kernel(context, "linear"), *constant = test_kernel(context, "const(2)"),
                *rbf = test_kernel(context, "rbf(ell=1)"), *zero = test_kernel(context, "const(0)"),
                *min = test_kernel(context, "min");
    gram_mercer *mercer = NULL;
    gram_measure p = {GRAM_MEASURE_UNIFORM, 0.5, 1};
    gram_mercer_options o = want(3, NULL, GRAM_PCA_AUTO);
    REFUSED(context, gram_mercer_fit(context, linear, points, &o, &mercer), GRAM_ERROR_ARGUMENT,
            "the 2 that are above");
    o = want(N + 1, NULL, GRAM_PCA_AUTO);
    REFUSED(context, gram_mercer_fit(context, rbf, points, &o, &mercer), GRAM_ERROR_ARGUMENT, "components = 13");
    o = want(1, w, GRAM_PCA_AUTO);
    REFUSED(context, gram_mercer_fit(context, rbf, points, &o, &mercer), GRAM_ERROR_DATA, "all weights are 0");
    w[3] = -1;
    REFUSED(context, gram_mercer_fit(context, rbf, points, &o, &mercer), GRAM_ERROR_DATA, "weights[3] = -1");
    w[3] = NAN;
    REFUSED(context, gram_mercer_fit(context, rbf, points, &o, &mercer), GRAM_ERROR_DATA, "weights[3] = ");
    w[3] = w[5] = 1;
    o.components = 3;
    REFUSED(context, gram_mercer_fit(context, rbf, points, &o, &mercer), GRAM_ERROR_ARGUMENT, "the 2 points");
    o = want(1, NULL, GRAM_PCA_AUTO);
    REFUSED(context, gram_mercer_fit(context, zero, points, &o, &mercer), GRAM_ERROR_DATA, "0 to rounding");
    REFUSED(context, gram_mercer_fit(context, NULL, points, &o, &mercer), GRAM_ERROR_ARGUMENT, "kernel is NULL");
    OK(context, gram_mercer_fit(context, constant, points, &o, &mercer)); /* a constant has one, itself */
    assert_true(fabs(gram_mercer_eigenvalues(mercer)[0] - 2) < 1e-14);
    assert_int_equal(gram_mercer_get_report(mercer)->rank, 1);
    gram_mercer_destroy(mercer);
    REFUSED(context, gram_mercer_analytic(context, min, &p, 3, values, 0, NULL, NULL), GRAM_ERROR_UNSUPPORTED,
            "known are");
    REFUSED(context, gram_mercer_analytic(context, linear, &p, 3, values, 0, NULL, NULL), GRAM_ERROR_UNSUPPORTED,
            "no expansion");
    REFUSED(context, gram_mercer_analytic(context, min, &p, 0, values, 0, NULL, NULL), GRAM_ERROR_ARGUMENT,
            "count = 0");
    const char *const wrong[] = {"uniform",        "uniform(1,1)", "normal(0,-1)",
                                 "normal(0,1",     "normal(0,1)x", "gamma(1,2)",
                                 "uniform(0,inf)", "uniform(a,1)", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (gram_measure_parse(context, wrong[i], &p) >= 0) FAIL_TEST("'%s' should be refused", wrong[i]);
    gram_points_release(points);
    gram_kernel_release(linear), gram_kernel_release(constant), gram_kernel_release(rbf), gram_kernel_release(zero);
    gram_kernel_release(min);
    free(x);
}

/* Every allocation fails in turn. */
static gram_status play(gram_context *context)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    gram_points *points = NULL;
    gram_mercer *mercer = NULL;
    double x[12], values[4];
    const double w[12] = {1, 1, 0, 2, 1, 1, 1, 1, 1, 1, 0.5, 0.5};
    test_uniform(9, 12, 0, 1, x);
    STEP(gram_kernel_parse(context, "periodic(p=2,ell=1)", &kernel));
    STEP(gram_mercer_analytic(context, kernel, &(gram_measure){GRAM_MEASURE_UNIFORM, 0, 2}, 4, values, 0, NULL, NULL));
    STEP(gram_points_create_f64(context, 12, 1, x, 1, &points));
    for (int road = GRAM_PCA_DENSE; road <= GRAM_PCA_NYSTROM; road++) {
        const gram_mercer_options options = want(2, w, (gram_pca_solver)road);
        STEP(gram_mercer_fit(context, kernel, points, &options, &mercer));
        gram_mercer_destroy(mercer);
        mercer = NULL;
    }
done:
    gram_mercer_destroy(mercer);
    gram_points_release(points);
    gram_kernel_release(kernel);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 30);
}

static void models(void **state)
{
    enum { N = 25, K = 3 };
    gram_context *context = *state;
    double *x = test_random(31, 2 * N, 0, 1), values[N * K];
    gram_mercer *mercer = fit(context, "rbf(ell=0.5)", N, 2, x, want(K, NULL, GRAM_PCA_AUTO));
    double *at = evaluate(context, mercer, N, 2, x);
    gram_model *model = NULL;
    int64_t rows, columns;
    OK(context, gram_mercer_model(context, mercer, NULL, &model));
    OK(context, gram_predict(context, model, NULL, N, x, 2, values, K));
    test_near("predictions", NULL, N * K, values, at, 1e-14);
    assert_non_null(gram_model_array(model, "eigenvalues", &rows, &columns));
    assert_int_equal(rows * columns, K);
    gram_model_destroy(model);
    gram_mercer_destroy(mercer);
    free(x), free(at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms),    cmocka_unit_test(defining_equations), cmocka_unit_test(are_components),
        cmocka_unit_test(quadrature_rule), cmocka_unit_test(samples_approach),   cmocka_unit_test(any_threads),
        cmocka_unit_test(bad_input),       cmocka_unit_test(out_of_memory),      cmocka_unit_test(models),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
