/* Random features by what they must be on average: bins, frequencies of each kind and units of a network, over seeds; the bounds that
 * go with them; ridge regression on sparse features against its dense twin. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense_twin.h"
#include "features/feature_map.h"
#include "features/sparse_ridge.h"
#include "kernel/spectral/spectral_measure.h"
#include "oom.h"
#include "support.h"

enum { N = 16, D = 3, PAIRS = N * (N - 1) / 2 };

static gram_context *seeded(uint64_t seed)
{
    gram_context *context = NULL;
    gram_context_options how;
    gram_context_options_init(&how, sizeof how);
    how.seed = seed;
    assert_int_equal(gram_context_create(&how, &context), GRAM_OK);
    return context;
}

/* z(x_i).z(x_j) for j < i, one after the other. */
static void inner_products(gram_context *context, const char *text, int64_t n, int64_t d, const double *x,
                           const gram_features_options *options, double *out)
{
    gram_kernel *kernel = test_kernel(context, text);
    gram_features *map = NULL;
    OK(context, gram_features_create(context, kernel, d, NULL, options, &map));
    const int64_t m = gram_features_get_report(map)->dimension, each = gram_features_get_report(map)->nonzeros;
    int32_t *column = calloc((size_t)(n * each + 1), sizeof *column);
    double *z = test_numbers(n * (each > 0 ? each : m)), *at = out;
    if (each > 0)
        OK(context, gram_features_sparse(context, map, n, x, d, column, z));
    else
        OK(context, gram_features_transform(context, map, n, x, d, z, m));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++, at++) {
            *at = 0;
            for (int64_t k = 0; k < each; k++)
                if (column[i * each + k] == column[j * each + k]) *at += z[i * each + k] * z[j * each + k];
            for (int64_t k = 0; each == 0 && k < m; k++) *at += z[i * m + k] * z[j * m + k];
        }
    free(column), free(z);
    gram_features_destroy(map);
    gram_kernel_release(kernel);
}

static void exact_products(gram_context *context, const char *text, int64_t n, int64_t d, double *x, double *out)
{
    gram_kernel *kernel = test_kernel(context, text);
    gram_points *points = test_points(context, n, d, x);
    double *k = test_matrix(context, kernel, points, NULL);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) *out++ = k[i * n + j];
    free(k);
    gram_points_release(points);
    gram_kernel_release(kernel);
}

static gram_features_options want(gram_features_kind kind, int64_t dimension)
{
    gram_features_options options;
    gram_features_options_init(&options, sizeof options);
    options.kind = kind;
    options.dimension = dimension;
    return options;
}

/* The mean over seeds of z.z is k for every pair, within five deviations of a mean of so many numbers of at most that variance; returns the mean square
 * error of one draw. */
static double check_mean(const char *text, int64_t d, double *x, const gram_features_options *options, int64_t seeds,
                         double deviation)
{
    double k[PAIRS], z[PAIRS], mean[PAIRS] = {0}, square = 0;
    gram_context *context = seeded(0);
    exact_products(context, text, N, d, x, k);
    gram_context_destroy(context);
    for (int64_t seed = 0; seed < seeds; seed++) {
        context = seeded((uint64_t)seed);
        inner_products(context, text, N, d, x, options, z);
        for (int p = 0; p < PAIRS; p++) {
            mean[p] += z[p] / (double)seeds;
            square += (z[p] - k[p]) * (z[p] - k[p]) / (double)(seeds * PAIRS);
        }
        gram_context_destroy(context);
    }
    for (int p = 0; p < PAIRS; p++)
        if (fabs(mean[p] - k[p]) > 5 * deviation / sqrt((double)seeds))
            FAIL_TEST("%s: pair %d: the mean is %g, k is %g", text, p, mean[p], k[p]);
    return square;
}

/* ---- bins ---- */

static void bins_are_unbiased(void **state)
{
    enum { SEEDS = 300, P = 40 };
    static const struct {
        const char *kernel;
        double height;
    } cases[] = {{"laplace1(ell=1)", 1},
                 {"laplace1(ell=[0.5,1,2])", 1},
                 {"2*on(1,powexp(p=0.5,ell=1))*on(2,matern(nu=0.25,ell=0.7))", 2},
                 {"on(1,laplace(ell=1))^2 + 0.5*on([3,2],on(1,laplace(ell=2)))", 1.5},
                 {"normalize(3*laplace1(ell=1))", 1}};
    double *x = test_random(3, N * D, -1, 1);
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        gram_features_options options = want(GRAM_FEATURES_BINNING, P);
        const double each = cases[c].height / sqrt(P); /* a product of two is in {-height, 0, height}/P */
        (void)check_mean(cases[c].kernel, D, x, &options, SEEDS, each / 2);
        options.width = 2; /* nearly every two bins share a place: signs keep the mean */
        (void)check_mean(cases[c].kernel, D, x, &options, SEEDS, each);
    }
    free(x);
}

/* The share of pairs whose error exceeds e is at most 2 exp(-2 P e^2); errors fall like P^(-1/2). */
static void bins_keep_their_bound(void **state)
{
    enum { SEEDS = 100 };
    double *x = test_random(4, N * D, -1, 1), k[PAIRS], z[PAIRS], square[2] = {0};
    (void)state;
    for (int size = 0; size < 2; size++) {
        const int64_t grids = size ? 400 : 25;
        const double e = sqrt(log(40) / (2 * (double)grids)); /* a bound of 0.05 */
        double beyond = 0;
        const gram_features_options options = want(GRAM_FEATURES_BINNING, grids);
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            gram_context *context = seeded(seed);
            exact_products(context, "laplace1(ell=1)", N, D, x, k);
            inner_products(context, "laplace1(ell=1)", N, D, x, &options, z);
            for (int p = 0; p < PAIRS; p++) {
                beyond += fabs(z[p] - k[p]) > e;
                square[size] += (z[p] - k[p]) * (z[p] - k[p]);
            }
            gram_context_destroy(context);
        }
        if (beyond / (SEEDS * PAIRS) > 0.05) FAIL_TEST("%g of the pairs exceed the bound", beyond / (SEEDS * PAIRS));
    }
    const double ratio = sqrt(square[0] / square[1]);
    if (fabs(ratio - 4) > 0.5) FAIL_TEST("16 times the grids should quarter the error, not divide it by %g", ratio);
    free(x);
}

/* Sparse and dense rows are the same numbers, columns increase, and the bits are the same for any number of threads. */
static void fill(gram_context *context, double *out)
{
    enum { P = 8, WIDTH = 4 };
    double *x = test_random(5, N * D, -1, 1), dense[N * P * WIDTH];
    int32_t column[N * P];
    double value[N * P];
    gram_features_options options = want(GRAM_FEATURES_BINNING, P);
    gram_kernel *kernel = test_kernel(context, "laplace1(ell=0.3)");
    gram_features *map = NULL;
    options.width = WIDTH;
    OK(context, gram_features_create(context, kernel, D, NULL, &options, &map));
    OK(context, gram_features_transform(context, map, N, x, D, dense, P * WIDTH));
    OK(context, gram_features_sparse(context, map, N, x, D, column, value));
    memcpy(out, dense, sizeof dense);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < P; k++) {
            const int32_t at = column[i * P + k];
            assert_true(at >= k * WIDTH && at < (k + 1) * WIDTH);
            assert_true(dense[i * P * WIDTH + at] == value[i * P + k]);
            dense[i * P * WIDTH + at] = 0;
        }
    for (int i = 0; i < N * P * WIDTH; i++) assert_true(dense[i] == 0);
    gram_features_destroy(map);
    gram_kernel_release(kernel);
    free(x);
}

static void sparse_is_dense(void **state)
{
    (void)state;
    test_any_threads(N * 8 * 4, fill);
}

/* ---- frequencies ---- */

/* Each kind is unbiased; orthogonal ones have smaller errors than plain ones for rbf from D = 2 d on, evenly spread ones in few columns. */
static void kinds_of_frequencies(void **state)
{
    enum { SEEDS = 150, WIDE = 8 };
    static const char *const kernels[] = {"rbf(ell=2)", "matern(nu=1.5,ell=2)",
                                          "0.5*rbf(ell=[2,2,3,3,2,2,1,4]) + 0.5*on(1:3,rbf(ell=1))*laplace1(ell=9)"};
    double *x = test_random(6, N * WIDE, -1, 1);
    (void)state;
    for (int64_t columns = 2 * WIDE; columns <= 8 * WIDE; columns *= 2) {
        double square[3];
        for (int kind = 0; gram_frequencies_name((gram_frequencies)kind); kind++) {
            gram_features_options options = want(GRAM_FEATURES_FOURIER, columns);
            options.frequencies = (gram_frequencies)kind;
            square[kind] = check_mean(kernels[0], WIDE, x, &options, SEEDS, sqrt(2 / (double)columns));
        }
        if (!(square[1] < 0.8 * square[0]))
            FAIL_TEST("D = %d: orthogonal %g, plain %g", (int)columns, square[1], square[0]);
    }
    for (int kernel = 1; kernel < 3; kernel++)
        for (int kind = 1; kind < 3; kind++) {
            gram_features_options options = want(GRAM_FEATURES_FOURIER, 50);
            options.frequencies = (gram_frequencies)kind;
            (void)check_mean(kernels[kernel], WIDE, x, &options, SEEDS, sqrt(2 / 50.0));
        }
    double few[2];
    for (int kind = 0; kind < 2; kind++) {
        gram_features_options options = want(GRAM_FEATURES_FOURIER, 200);
        options.frequencies = kind ? GRAM_FREQUENCIES_QMC : GRAM_FREQUENCIES_PLAIN;
        few[kind] = check_mean("rbf(ell=0.7)", 2, x, &options, SEEDS, sqrt(2 / 200.0));
    }
    if (!(few[1] < 0.2 * few[0])) FAIL_TEST("qmc %g, plain %g", few[1], few[0]);
    free(x);
}

/* E|w|^2 against frequencies that were drawn. */
static void mean_squares(void **state)
{
    enum { DRAWS = 40000 };
    static const char *const kernels[] = {
        "rbf(ell=[1,2,0.5])",  "matern(nu=4,ell=2)",  "rq(alpha=2,ell=0.7)",
        "imq(c=0.5,beta=2)",   "powexp(p=2,ell=1.5)", "periodic(p=3,ell=0.8)",
        "cosine(p=2)",         "sinc(B=2)",           "3*on(2,rbf(ell=0.3)) + rbf(ell=2)*cosine(p=5)",
        "on(1:2,rbf(ell=1))^3"};
    gram_context *context = *state;
    for (size_t c = 0; c < sizeof kernels / sizeof *kernels; c++) {
        gram_kernel *kernel = test_kernel(context, kernels[c]);
        double w[D], work[64], mean = 0, square = 0;
        assert_true(gram_spectrum_work(kernel) < 64);
        for (int64_t i = 0; i < DRAWS; i++) {
            gram_spectrum_draw(kernel, 1, 9, i, DRAWS, D, NULL, NULL, work, w);
            const double size = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
            mean += size / DRAWS;
            square += size * size / DRAWS;
        }
        const double wanted = gram_spectrum_square(kernel, D), error = sqrt(fmax(square - mean * mean, 0) / DRAWS);
        if (!(fabs(mean - wanted) <= 5 * error + 1e-9 * wanted))
            FAIL_TEST("%s: E|w|^2 is %g, drawn %g +- %g", kernels[c], wanted, mean, error);
        gram_kernel_release(kernel);
    }
}

/* The formula, by hand; errors of so many features stay below the bound with room to spare; what has no bound says so. */
static void wanted_errors(void **state)
{
    gram_context *context = *state;
    double x[] = {0, 0, 1, 2, 0.5, 0.3, 0.9, 1.7}, k[6], z[6];
    gram_points *points = test_points(context, 4, 2, x);
    gram_kernel *rbf = test_kernel(context, "rbf(ell=0.5)"), *rough = test_kernel(context, "laplace(ell=1)"),
                *linear = test_kernel(context, "linear");
    int64_t dimension = 0;
    OK(context, gram_features_dimension(context, rbf, points, 0.5, 0.05, &dimension));
    const double by_hand = 8 * 4 / 0.25 * log(256 * 8.0 * 5 / (0.25 * 0.05));
    assert_int_equal(dimension, 2 * (int64_t)ceil(by_hand / 2));
    const gram_features_options options = want(GRAM_FEATURES_FOURIER, dimension);
    exact_products(context, "rbf(ell=0.5)", 4, 2, x, k);
    inner_products(context, "rbf(ell=0.5)", 4, 2, x, &options, z);
    for (int p = 0; p < 6; p++) assert_true(fabs(k[p] - z[p]) < 0.5);
    REFUSED(context, gram_features_dimension(context, rough, points, 0.5, 0.05, &dimension), GRAM_ERROR_UNSUPPORTED,
            "no uniform bound");
    REFUSED(context, gram_features_dimension(context, linear, points, 0.5, 0.05, &dimension), GRAM_ERROR_UNSUPPORTED,
            "linear");
    REFUSED(context, gram_features_dimension(context, rbf, points, 0, 0.05, &dimension), GRAM_ERROR_ARGUMENT,
            "error = 0");
    REFUSED(context, gram_features_dimension(context, rbf, points, 1e-5, 0.05, &dimension), GRAM_ERROR_ARGUMENT,
            "would take");
    gram_kernel_release(rbf), gram_kernel_release(rough), gram_kernel_release(linear);
    gram_points_release(points);
}

/* ---- units of a network ---- */

static void units(void **state)
{
    enum { SEEDS = 100 };
    static const char *const kernels[] = {"nngp(depth=1,act=relu,sw=1.5,sb=0.4,fan=3)",
                                          "nngp(depth=1,act=erf,sw=1,sb=0)"};
    double *x = test_random(7, N * D, -1, 1);
    (void)state;
    for (int c = 0; c < 2; c++) {
        double square[2];
        for (int size = 0; size < 2; size++) {
            const gram_features_options options = want(GRAM_FEATURES_NEURAL, size ? 3200 : 200);
            square[size] = check_mean(kernels[c], D, x, &options, SEEDS, 3 / sqrt(size ? 3200 : 200));
        }
        const double ratio = sqrt(square[0] / square[1]);
        if (fabs(ratio - 4) > 0.6) FAIL_TEST("16 times the units should quarter the error, not divide it by %g", ratio);
    }
    free(x);
}

/* ---- ridge regression on sparse rows ---- */

/* [Z Z' + strength/w, 1; 1', 0] [a; b] = [y; 0], f = Z Z'a + b. */
static void against_dense(void **state)
{
    enum { P = 6, WIDTH = 8, COLUMNS = P * WIDTH, SIZE = N + 1 };
    gram_context *context = *state;
    double *x = test_random(8, N * D, -1, 1), *y = test_random(9, N, -1, 1), *w = test_random(10, N, 0.2, 2);
    gram_features_options options = want(GRAM_FEATURES_BINNING, P);
    gram_kernel *kernel = test_kernel(context, "laplace1(ell=1)");
    gram_features *map = NULL;
    gram_csr z = {0};
    options.width = WIDTH;
    OK(context, gram_features_create(context, kernel, D, NULL, &options, &map));
    OK(context, gram_features_csr(context, map, N, x, D, &z));
    for (int kind = 0; kind < 4; kind++) {
        const double *weights = kind & 1 ? w : NULL;
        gram_sparse_ridge ridge = {&z, weights, kind & 2 ? 1 : 0, 0.3, 1e-13, 500, 0, 0};
        double a[SIZE * SIZE] = {0}, right[SIZE] = {0}, k[N * N], c[COLUMNS], b, f[N], wanted[N];
        for (int i = 0; i < N; i++) {
            right[i] = y[i];
            a[i * SIZE + N] = a[N * SIZE + i] = ridge.intercept;
            for (int j = 0; j < N; j++) {
                k[i * N + j] = 0;
                for (int p = 0; p < P; p++)
                    if (z.column[i * P + p] == z.column[j * P + p])
                        k[i * N + j] += z.value[i * P + p] * z.value[j * P + p];
                a[i * SIZE + j] = k[i * N + j] + (i == j ? 0.3 / (weights ? w[i] : 1) : 0);
            }
        }
        if (!ridge.intercept) a[N * SIZE + N] = 1;
        (void)dense_solve(SIZE, a, 1, right);
        OK(context, gram_sparse_ridge_solve(context, &ridge, y, 1, c, &b));
        assert_true(ridge.residual <= 1e-13);
        OK(context, gram_csr_times(context, &z, c, f));
        for (int i = 0; i < N; i++) {
            f[i] += b;
            wanted[i] = right[N];
            for (int j = 0; j < N; j++) wanted[i] += k[i * N + j] * right[j];
        }
        test_near("values", NULL, N, f, wanted, 1e-10);
        test_near("constant", NULL, 1, &b, &right[N], 1e-10);
    }
    gram_csr_free(context, &z);
    gram_features_destroy(map);
    gram_kernel_release(kernel);
    free(x), free(y), free(w);
}

/* ---- what is wrong ---- */

static void refusals(void **state)
{
    static const struct {
        const char *kernel, *words;
        gram_features_kind kind;
        int64_t dimension, width;
    } cases[] = {{"rbf(ell=1)", "no bins can be drawn of rbf", GRAM_FEATURES_BINNING, 10, 0},
                 {"matern(nu=1.5,ell=1)", "of matern", GRAM_FEATURES_BINNING, 10, 0},
                 {"on(1,powexp(p=1.5,ell=1))", "of powexp", GRAM_FEATURES_BINNING, 10, 0},
                 {"laplace(ell=1)", "several columns", GRAM_FEATURES_BINNING, 10, 0},
                 {"warp([1,0,0],laplace1(ell=1))", "warp", GRAM_FEATURES_BINNING, 10, 0},
                 {"laplace1(ell=1)", "width = 12", GRAM_FEATURES_BINNING, 10, 12},
                 {"laplace1(ell=1)", "at most 16384 grids", GRAM_FEATURES_BINNING, 16385, 0},
                 {"rbf(ell=1)", "nngp(depth=1)", GRAM_FEATURES_NEURAL, 10, 0},
                 {"nngp(depth=2)", "nngp(depth=1)", GRAM_FEATURES_NEURAL, 10, 0}};
    gram_context *context = *state;
    gram_features *map = NULL;
    double x[D] = {0}, value[4];
    int32_t column[4];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        gram_features_options options = want(cases[c].kind, cases[c].dimension);
        gram_kernel *kernel = test_kernel(context, cases[c].kernel);
        options.width = cases[c].width;
        const gram_status status = gram_features_create(context, kernel, D, NULL, &options, &map);
        assert_true(status == GRAM_ERROR_UNSUPPORTED || status == GRAM_ERROR_ARGUMENT);
        if (!strstr(gram_context_message(context), cases[c].words))
            FAIL_TEST("%s: %s", cases[c].kernel, gram_context_message(context));
        gram_kernel_release(kernel);
    }
    gram_kernel *linear = test_kernel(context, "linear");
    gram_features_options options = want(GRAM_FEATURES_FOURIER, 10);
    options.frequencies = (gram_frequencies)7;
    REFUSED(context, gram_features_create(context, linear, D, NULL, &options, &map), GRAM_ERROR_ARGUMENT,
            "frequencies = 7");
    OK(context, gram_features_create(context, linear, D, NULL, NULL, &map));
    REFUSED(context, gram_features_sparse(context, map, 1, x, D, column, value), GRAM_ERROR_UNSUPPORTED, "dense");
    gram_features_destroy(map);
    gram_kernel_release(linear);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_are_unbiased),
        cmocka_unit_test(bins_keep_their_bound),
        cmocka_unit_test(sparse_is_dense),
        cmocka_unit_test(kinds_of_frequencies),
        cmocka_unit_test(mean_squares),
        cmocka_unit_test(wanted_errors),
        cmocka_unit_test(units),
        cmocka_unit_test(against_dense),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
