/* Kernel PCA against what it must be: the spectra of K and of X'X, explicit features of a polynomial kernel, projections and
 * what they leave over, all roads side by side, two circles, and input that it cannot take. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/pca.h>

#include "support.h"

static gram_pca *fit(gram_context *context, const char *kernel, int64_t n, int64_t d, const double *x,
                     gram_pca_options options)
{
    gram_pca *pca = NULL;
    gram_kernel *k = test_kernel(context, kernel);
    gram_points *points = test_points(context, n, d, x);
    OK(context, gram_pca_fit(context, k, points, &options, &pca));
    gram_points_release(points);
    gram_kernel_release(k);
    return pca;
}

static gram_pca_options want(int64_t components, int centre, gram_pca_solver solver)
{
    gram_pca_options options;
    gram_pca_options_init(&options, sizeof options);
    options.components = components;
    options.centre = centre;
    options.solver = solver;
    return options;
}

/* The coordinates that the function gives points. */
static double *project(gram_context *context, const gram_pca *pca, int64_t n, int64_t d, const double *x)
{
    const int64_t k = gram_pca_get_report(pca)->components;
    double *out = test_numbers(n * k);
    gram_points *points = test_points(context, n, d, x);
    OK(context, gram_function_evaluate(context, gram_pca_function(pca), points, out, k));
    gram_points_release(points);
    return out;
}

static void same(const char *what, const gram_pca *a, const gram_pca *b, double tolerance)
{
    const gram_pca_report *report = gram_pca_get_report(a);
    test_near(what, "eigenvalues", report->components, gram_pca_eigenvalues(a), gram_pca_eigenvalues(b), tolerance);
    test_near(what, "coordinates", report->n * report->components, gram_pca_coordinates(a), gram_pca_coordinates(b),
              100 * tolerance);
    test_near(what, "trace", 1, &report->trace, &gram_pca_get_report(b)->trace, tolerance);
}

/* ---- identities ---- */

/* X X' and X'X have the same eigenvalues, centred or not, with and without a constant in the kernel. */
static void both_spectra(void **state)
{
    enum { N = 60, D = 5 };
    gram_context *context = *state;
    double *x = test_random(4, N * D, -1, 3), *z = test_random(5, N * D, -1, 3);
    const char *const kernels[] = {"linear", "linear(c=2)"};
    for (int l = 0; l < N; l++) x[l * D + 1] *= 3; /* no direction like another */
    for (int c = 0; c < 2; c++)
        for (int centre = 0; centre < 2; centre++) {
            gram_pca *by_k = fit(context, kernels[c], N, D, x, want(D, centre, GRAM_PCA_DENSE));
            gram_pca *by_c = fit(context, kernels[c], N, D, x, want(D, centre, GRAM_PCA_AUTO));
            double *a = project(context, by_k, N, D, z), *b = project(context, by_c, N, D, z);
            assert_int_equal(gram_pca_get_report(by_c)->solver, GRAM_PCA_COVARIANCE);
            same(kernels[c], by_c, by_k, 1e-12);
            test_near("new points", kernels[c], N * D, a, b, 1e-10);
            gram_pca_destroy(by_k);
            gram_pca_destroy(by_c);
            free(a), free(b);
        }
    free(x), free(z);
}

enum { FEATURES = 6 };

/* The features of (x.y + 1)^2 in the plane. */
static double *explicit_features(int64_t n, const double *x)
{
    double *f = test_numbers(n * FEATURES);
    for (int64_t i = 0; i < n; i++) {
        const double a = x[2 * i], b = x[2 * i + 1], r = sqrt(2);
        const double row[FEATURES] = {a * a, b * b, r * a * b, r * a, r * b, 1};
        memcpy(f + i * FEATURES, row, sizeof row);
    }
    return f;
}

static void explicit_features_of_poly(void **state)
{
    enum { N = 50, M = 20, K = 4 };
    gram_context *context = *state;
    double *x = test_random(6, N * 2, -1, 1.5), *z = test_random(7, M * 2, -2, 2);
    double *fx = explicit_features(N, x), *fz = explicit_features(M, z);
    const gram_pca_solver roads[] = {GRAM_PCA_DENSE, GRAM_PCA_KRYLOV, GRAM_PCA_NYSTROM};
    for (int centre = 0; centre < 2; centre++)
        for (int r = 0; r < 3; r++) {
            gram_pca *kernel = fit(context, "poly(m=2, c=1)", N, 2, x, want(K, centre, roads[r]));
            gram_pca *plain = fit(context, "linear", N, FEATURES, fx, want(K, centre, GRAM_PCA_COVARIANCE));
            double *a = project(context, kernel, M, 2, z), *b = project(context, plain, M, FEATURES, fz);
            same("explicit features", kernel, plain, 1e-10);
            test_near("projections of new points", "poly", M * K, a, b, 1e-9);
            gram_pca_destroy(kernel);
            gram_pca_destroy(plain);
            free(a), free(b);
        }
    free(x), free(z), free(fx), free(fz);
}

/* All eigenvalues of K, centred or not, in descending order. */
static double *all_values(gram_context *context, const char *kernel, int64_t n, int64_t d, const double *x, int centre)
{
    gram_kernel *k = test_kernel(context, kernel);
    gram_points *points = test_points(context, n, d, x);
    double *matrix = test_matrix(context, k, points, NULL), *values = test_numbers(n), *means = test_numbers(n),
           all = 0;
    for (int64_t i = 0; i < n * n; i++) {
        means[i / n] += matrix[i] / (double)n;
        all += matrix[i] / (double)(n * n);
    }
    for (int64_t i = 0; i < n * n && centre; i++) matrix[i] += all - means[i / n] - means[i % n];
    OK(context, gram_eigen_symmetric(context, n, matrix, n, 0, n, values, NULL, 0));
    gram_points_release(points);
    gram_kernel_release(k);
    free(matrix), free(means);
    return values;
}

/* (1/n) sum |phi - P phi|^2 is the sum of the other l/n; variances are l/n; coordinates are not correlated; predictions at the
 * rows are their coordinates. */
static void what_is_left_over(void **state)
{
    enum { N = 70, D = 3, K = 6 };
    gram_context *context = *state;
    const char kernel[] = "rbf(ell=1.2)";
    double *x = test_random(8, N * D, -2, 2);
    for (int centre = 0; centre < 2; centre++) {
        gram_pca *pca = fit(context, kernel, N, D, x, want(K, centre, GRAM_PCA_DENSE));
        double *values = all_values(context, kernel, N, D, x, centre), *again = project(context, pca, N, D, x);
        const double *f = gram_pca_coordinates(pca);
        double rest = 0, left = gram_pca_get_report(pca)->trace / N;
        for (int64_t s = K; s < N; s++) rest += values[s] / N;
        for (int64_t i = 0; i < N * K; i++) left -= f[i] * f[i] / N;
        assert_true(fabs(rest - left) < 1e-12);
        test_near("eigenvalues", kernel, K, gram_pca_eigenvalues(pca), values, 1e-12);
        test_near("the rows again", kernel, N * K, again, f, 1e-11);
        for (int64_t s = 0; s < K; s++)
            for (int64_t t = 0; t <= s; t++) {
                double sum = 0, mean = 0;
                for (int64_t i = 0; i < N; i++) {
                    sum += f[i * K + s] * f[i * K + t];
                    mean += f[i * K + s] / N;
                }
                assert_true(fabs(sum - (s == t ? values[s] : 0)) < 1e-11);
                if (centre) assert_true(fabs(mean) < 1e-13);
            }
        gram_pca_destroy(pca);
        free(values), free(again);
    }
    free(x);
}

/* ---- roads ---- */

static void roads_agree(void **state)
{
    enum { N = 900, D = 2, K = 5 };
    gram_context *context = *state;
    double *x = test_random(9, N * D, 0, 4), *z = test_random(10, 40 * D, 0, 4);
    for (int centre = 0; centre < 2; centre++) {
        gram_pca *dense = fit(context, "rbf(ell=1)", N, D, x, want(K, centre, GRAM_PCA_DENSE));
        gram_pca *krylov = fit(context, "rbf(ell=1)", N, D, x, want(K, centre, GRAM_PCA_AUTO));
        gram_pca *pivots = fit(context, "rbf(ell=1)", N, D, x, want(K, centre, GRAM_PCA_NYSTROM));
        gram_context *small = TEST_CONTEXT(.threads = 1, .memory_budget = 4 << 20); /* K does not fit */
        gram_pca *without = fit(small, "rbf(ell=1)", N, D, x, want(K, centre, GRAM_PCA_KRYLOV));
        double *a = project(context, dense, 40, D, z), *b = project(context, pivots, 40, D, z);
        const gram_pca_report *report = gram_pca_get_report(krylov);
        assert_int_equal(report->solver, GRAM_PCA_KRYLOV);
        assert_true(report->products > 0 && report->residual < 1e-8);
        same("krylov", krylov, dense, 1e-10);
        same("krylov without K", without, dense, 1e-10);
        same("pivots", pivots, dense, 1e-7);
        test_near("new points by pivots", NULL, 40 * K, b, a, 1e-6);
        report = gram_pca_get_report(pivots);
        assert_true(report->rank < N && report->trace_error > 0 && report->trace_error < 1.01e-10);
        gram_pca_destroy(dense), gram_pca_destroy(krylov), gram_pca_destroy(pivots), gram_pca_destroy(without);
        gram_context_destroy(small);
        free(a), free(b);
    }
    free(x), free(z);
}

/* Few pivots: eigenvalues are too small, by no more together than the trace that is missing. */
static void errors_are_bounded(void **state)
{
    enum { N = 300, D = 2, K = 8 };
    gram_context *context = *state;
    double *x = test_random(11, N * D, 0, 4);
    gram_pca_options few = want(K, 1, GRAM_PCA_NYSTROM);
    few.rank = 20;
    gram_pca *dense = fit(context, "rbf(ell=1)", N, D, x, want(K, 1, GRAM_PCA_DENSE));
    gram_pca *pivots = fit(context, "rbf(ell=1)", N, D, x, few);
    const gram_pca_report *report = gram_pca_get_report(pivots);
    double gap = 0;
    for (int64_t s = 0; s < K; s++) {
        const double less = gram_pca_eigenvalues(dense)[s] - gram_pca_eigenvalues(pivots)[s];
        assert_true(less > -1e-10);
        gap += less;
    }
    assert_int_equal(report->rank, 20);
    assert_true(gap > 1e-6 && gap <= report->trace_error * N);
    assert_true(report->trace >= gram_pca_get_report(dense)->trace - 1e-9);
    gram_pca_destroy(dense), gram_pca_destroy(pivots);
    free(x);
}

static void fill(gram_context *context, double *out)
{
    enum { N = 500, K = 3 };
    double *x = test_random(12, 2 * N, 0, 4);
    const gram_pca_solver roads[] = {GRAM_PCA_DENSE, GRAM_PCA_KRYLOV, GRAM_PCA_NYSTROM};
    for (int r = 0; r < 3; r++) {
        gram_pca *pca = fit(context, "rbf(ell=0.5)", N, 2, x, want(K, 1, roads[r]));
        memcpy(out + r * N * K, gram_pca_coordinates(pca), sizeof(double[N * K]));
        gram_pca_destroy(pca);
    }
    free(x);
}

static void any_threads(void **state)
{
    (void)state;
    test_any_threads(3 * 500 * 3, fill);
}

/* ---- two circles ---- */

/* The share of rows on the right side of the best threshold. */
static double separation(int64_t n, int64_t k, const double *f)
{
    double best = 0;
    for (int64_t t = 0; t < n; t++) {
        int64_t right = 0;
        for (int64_t i = 0; i < n; i++) right += (f[i * k] > f[t * k]) == (i < n / 2);
        best = fmax(best, fmax((double)right, (double)(n - right)) / (double)n);
    }
    return best;
}

static void two_circles(void **state)
{
    enum { N = 400 };
    gram_context *context = *state;
    double *x = test_numbers(2 * N), *angle = test_random(13, N, 0, 6.283185307179586), noise[N];
    gram_random_normal((gram_random){1, 2}, 0, N, noise);
    for (int64_t i = 0; i < N; i++) {
        const double radius = (i < N / 2 ? 1 : 4) + 0.1 * noise[i];
        x[2 * i] = radius * cos(angle[i]);
        x[2 * i + 1] = radius * sin(angle[i]);
    }
    for (int centre = 0; centre < 2; centre++) {
        gram_pca *pca = fit(context, "rbf(width=2)", N, 2, x, want(2, centre, GRAM_PCA_AUTO));
        assert_true(separation(N, 2, gram_pca_coordinates(pca)) > 0.99);
        gram_pca_destroy(pca);
    }
    free(x), free(angle);
}

/* ---- how many components ---- */

/* Rows with `hidden` directions of about the same strength: columns are noisy copies of so many. */
static double *with_factors(uint64_t seed, int64_t n, int64_t d, int64_t hidden, double noise)
{
    double *z = test_random(seed, n * (hidden + 1), -1.7, 1.7), *x = test_random(seed + 1, n * d, -noise, noise);
    for (int64_t i = 0; i < n * d && hidden > 0; i++) x[i] += z[i / d * hidden + i % d % hidden];
    free(z);
    return x;
}

/* The rule by its definition: eigenvalues of the correlation of columns shuffled by other means. */
static int64_t count_by_definition(gram_context *context, int64_t n, int64_t d, const double *x)
{
    enum { TABLES = 199, D = 8 };
    double values[(TABLES + 1) * D], *mixed = test_numbers(n * d), c[D * D];
    uint64_t state = 77;
    for (int64_t t = 0; t <= TABLES; t++) {
        memcpy(mixed, x, (size_t)(n * d) * sizeof *x);
        for (int64_t l = 0; l < d && t > 0; l++)
            for (int64_t i = n - 1; i > 0; i--) { /* Fisher and Yates */
                const int64_t j = (int64_t)(test_bits(&state) % (uint64_t)(i + 1));
                const double kept = mixed[i * d + l];
                mixed[i * d + l] = mixed[j * d + l];
                mixed[j * d + l] = kept;
            }
        memset(c, 0, sizeof c);
        double mean[D] = {0};
        for (int64_t i = 0; i < n * d; i++) mean[i % d] += mixed[i] / (double)n;
        for (int64_t i = 0; i < n; i++)
            for (int64_t e = 0; e < d * d; e++)
                c[e] += (mixed[i * d + e / d] - mean[e / d]) * (mixed[i * d + e % d] - mean[e % d]);
        OK(context, gram_eigen_symmetric(context, d, c, d, 0, d, values + t * d, NULL, 0));
    }
    free(mixed);
    for (int64_t s = 0; s < d; s++) {
        int64_t above = 0;
        for (int64_t t = 1; t <= TABLES; t++) above += values[t * d + s] >= values[s];
        if ((double)(1 + above) / (1 + TABLES) > 0.05) return s;
    }
    return d;
}

static void components_are_counted(void **state)
{
    enum { N = 200, D = 8 };
    gram_context *context = *state;
    for (int hidden = 0; hidden < 4; hidden++) {
        double *x = with_factors(20, N, D, hidden, 0.3);
        gram_pca *pca = fit(context, "linear", N, D, x, want(0, 1, GRAM_PCA_AUTO));
        const gram_pca_report *report = gram_pca_get_report(pca);
        assert_int_equal(report->significant, count_by_definition(context, N, D, x));
        assert_int_equal(report->significant, hidden);
        assert_int_equal(report->components, hidden > 0 ? hidden : 1);
        assert_int_equal(report->permutations, 99);
        assert_int_equal(report->analysed_rows, N);
        assert_int_equal(report->analysed, D);
        const double *chance = gram_pca_chance(pca), *l = gram_pca_eigenvalues(pca);
        for (int64_t s = 0; s < hidden; s++) assert_true(l[s] / N > chance[s]);
        gram_pca_destroy(pca);
        free(x);
    }
}

/* Of rows without structure few have a component that stands out: the first does in a share 0.05 of them. 40 tables: 7 or more have
 * a probability of 0.3 %. */
static void chance_is_kept(void **state)
{
    enum { N = 60, D = 4, TABLES = 40 };
    gram_context *context = *state;
    int64_t found = 0;
    for (uint64_t t = 0; t < TABLES; t++) {
        double *x = test_random(100 + t, N * D, 0, 1);
        gram_pca *pca = fit(context, "rbf(ell=0.7)", N, D, x, want(0, 1, GRAM_PCA_AUTO));
        found += gram_pca_get_report(pca)->significant > 0;
        gram_pca_destroy(pca);
        free(x);
    }
    if (found > 6) FAIL_TEST("%lld of %d tables without structure have a component", (long long)found, TABLES);
}

/* Columns of one group go together: two groups of two equal columns have what two columns have. */
static void groups_are_shuffled_together(void **state)
{
    enum { N = 80 };
    static const int64_t groups[] = {0, 0, 1, 1};
    gram_context *context = *state;
    double *x = test_random(40, 4 * N, 0, 1);
    gram_pca_options together = want(0, 1, GRAM_PCA_AUTO);
    together.column_groups = groups;
    for (int64_t i = 0; i < N; i++) x[4 * i + 1] = x[4 * i], x[4 * i + 3] = x[4 * i + 2];
    gram_pca *apart = fit(context, "linear", N, 4, x, want(0, 1, GRAM_PCA_AUTO));
    gram_pca *pairs = fit(context, "linear", N, 4, x, together);
    assert_int_equal(gram_pca_get_report(apart)->significant, 2); /* the pairs are structure if columns go alone */
    assert_int_equal(gram_pca_get_report(pairs)->significant, 0); /* and are not if they go together */
    gram_pca_destroy(apart), gram_pca_destroy(pairs);
    free(x);
}

/* ---- what it cannot take ---- */

static void bad_input(void **state)
{
    enum { N = 12 };
    gram_context *context = *state;
    double *x = test_random(14, 2 * N, 0, 1);
    gram_points *points = test_points(context, N, 2, x), *one = test_points(context, 1, 2, x);
    gram_kernel *linear = test_kernel(context, "linear"), *constant = test_kernel(context, "const(2)"),
                *rbf = test_kernel(context, "rbf(ell=1)"), *free_one = test_kernel(context, "rbf");
    gram_pca *pca = NULL;
    gram_pca_options o = want(3, 1, GRAM_PCA_AUTO);
    REFUSED(context, gram_pca_fit(context, linear, points, &o, &pca), GRAM_ERROR_ARGUMENT,
            "3 components are more than the 2 that are above rounding");
    o.solver = GRAM_PCA_DENSE;
    REFUSED(context, gram_pca_fit(context, linear, points, &o, &pca), GRAM_ERROR_ARGUMENT, "the 2 that are above");
    o.solver = GRAM_PCA_COVARIANCE;
    REFUSED(context, gram_pca_fit(context, rbf, points, &o, &pca), GRAM_ERROR_ARGUMENT, "covariance");
    for (int s = GRAM_PCA_AUTO; s <= GRAM_PCA_NYSTROM; s++) {
        o = want(1, 1, (gram_pca_solver)s);
        REFUSED(context, gram_pca_fit(context, constant, points, &o, &pca), GRAM_ERROR_DATA, "all rows are alike");
        REFUSED(context, gram_pca_fit(context, rbf, one, &o, &pca), GRAM_ERROR_DATA, "all rows are alike");
    }
    o = want(N + 1, 1, GRAM_PCA_AUTO);
    REFUSED(context, gram_pca_fit(context, rbf, points, &o, &pca), GRAM_ERROR_ARGUMENT, "components = 13");
    o = want(2, 1, GRAM_PCA_NYSTROM);
    o.rank = 1;
    REFUSED(context, gram_pca_fit(context, rbf, points, &o, &pca), GRAM_ERROR_ARGUMENT, "rank = 1");
    o = want(2, 1, GRAM_PCA_AUTO);
    o.tolerance = 0;
    REFUSED(context, gram_pca_fit(context, rbf, points, &o, &pca), GRAM_ERROR_ARGUMENT, "tolerance = 0");
    REFUSED(context, gram_pca_fit(context, free_one, points, NULL, &pca), GRAM_ERROR_UNSET, "ell");
    gram_points *column = test_points(context, N, 1, x);
    o = want(0, 1, GRAM_PCA_AUTO);
    REFUSED(context, gram_pca_fit(context, rbf, column, &o, &pca), GRAM_ERROR_ARGUMENT, "one column");
    REFUSED(context, gram_pca_fit(context, constant, points, &o, &pca), GRAM_ERROR_DATA, "all rows are alike");
    o.permutations = 9;
    REFUSED(context, gram_pca_fit(context, rbf, points, &o, &pca), GRAM_ERROR_ARGUMENT, "permutations = 9");
    gram_points_release(column);
    REFUSED(context, gram_pca_fit(context, NULL, points, NULL, &pca), GRAM_ERROR_ARGUMENT, "kernel is NULL");
    assert_null(pca);
    o = want(1, 0, GRAM_PCA_AUTO); /* not centred, a constant has one component */
    OK(context, gram_pca_fit(context, constant, points, &o, &pca));
    assert_true(fabs(gram_pca_eigenvalues(pca)[0] - 2 * N) < 1e-12);
    gram_pca_destroy(pca);
    gram_points_release(points), gram_points_release(one);
    gram_kernel_release(linear), gram_kernel_release(constant), gram_kernel_release(rbf), gram_kernel_release(free_one);
    free(x);
}

/* Every row twice: each eigenvalue is twice as large, and the coordinates are the same. */
static void rows_twice(void **state)
{
    enum { N = 40, K = 4 };
    gram_context *context = *state;
    double *x = test_random(15, 2 * N, 0, 3), *twice = test_numbers(4 * N);
    memcpy(twice, x, sizeof(double[2 * N]));
    memcpy(twice + 2 * N, x, sizeof(double[2 * N]));
    gram_pca *once = fit(context, "rbf(ell=1)", N, 2, x, want(K, 1, GRAM_PCA_AUTO));
    for (int r = GRAM_PCA_DENSE; r <= GRAM_PCA_NYSTROM; r++) {
        gram_pca *both = fit(context, "rbf(ell=1)", 2 * N, 2, twice, want(K, 1, (gram_pca_solver)r));
        for (int64_t s = 0; s < K; s++)
            assert_true(fabs(gram_pca_eigenvalues(both)[s] - 2 * gram_pca_eigenvalues(once)[s]) < 1e-8);
        test_near("twice", NULL, N * K, gram_pca_coordinates(both), gram_pca_coordinates(once), 1e-6);
        gram_pca_destroy(both);
    }
    gram_pca_destroy(once);
    free(x), free(twice);
}

/* A fit in C becomes a model that predicts, and says what it is. */
static void models(void **state)
{
    enum { N = 30, K = 3 };
    gram_context *context = *state;
    double *x = test_random(16, 2 * N, 0, 3), values[N * K];
    gram_pca *pca = fit(context, "rbf(ell=1)", N, 2, x, want(K, 1, GRAM_PCA_AUTO));
    gram_model *model = NULL;
    gram_predictor *predictor = NULL;
    gram_predict_options wish;
    int64_t rows, columns;
    OK(context, gram_pca_model(context, pca, NULL, &model));
    assert_string_equal(gram_model_task(model), "transform");
    OK(context, gram_predict(context, model, NULL, N, x, 2, values, K));
    test_near("predictions", NULL, N * K, values, gram_pca_coordinates(pca), 1e-12);
    assert_non_null(gram_model_array(model, "eigenvalues", &rows, &columns));
    assert_int_equal(rows * columns, K);
    OK(context, gram_predictor_create(context, model, NULL, &predictor));
    assert_string_equal(gram_predictor_columns(predictor)->names[2], "pc3");
    gram_predictor_destroy(predictor);
    gram_predict_options_init(&wish, sizeof wish);
    wish.std = 1;
    REFUSED(context, gram_predictor_create(context, model, &wish, &predictor), GRAM_ERROR_ARGUMENT, "transformation");
    gram_model_destroy(model);
    gram_pca_destroy(pca);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_spectra),
        cmocka_unit_test(explicit_features_of_poly),
        cmocka_unit_test(what_is_left_over),
        cmocka_unit_test(roads_agree),
        cmocka_unit_test(errors_are_bounded),
        cmocka_unit_test(any_threads),
        cmocka_unit_test(two_circles),
        cmocka_unit_test(bad_input),
        cmocka_unit_test(rows_twice),
        cmocka_unit_test(models),
        cmocka_unit_test(components_are_counted),
        cmocka_unit_test(chance_is_kept),
        cmocka_unit_test(groups_are_shuffled_together),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
