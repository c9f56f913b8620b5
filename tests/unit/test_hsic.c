/* HSIC: against the definition, its two ways to shuffle against each other, its moments over all permutations, dHSIC against its
 * definition, odd data, bad arguments, threads, memory. */
#include <string.h>

#include "oom.h"
#include "samples.h"
#include "test/independence/hsic.h"

/* trace(K H L H)/n^2 for L in another order, by the definition. */
static double slow_hsic(int64_t n, const double *k, const double *l, const int64_t *order)
{
    long double sum = 0;
    double *row_k = test_numbers(n), *row_l = test_numbers(n), all_k = 0, all_l = 0;
    const double nn = (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            row_k[i] += k[i * n + j] / nn;
            row_l[i] += l[i * n + j] / nn;
            all_k += k[i * n + j] / nn / nn;
            all_l += l[i * n + j] / nn / nn;
        }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const int64_t a = order ? order[i] : i, b = order ? order[j] : j;
            sum += (long double)(k[i * n + j] - row_k[i] - row_k[j] + all_k) *
                   (l[a * n + b] - row_l[a] - row_l[b] + all_l);
        }
    free(row_k);
    free(row_l);
    return (double)(sum / nn / nn);
}

typedef struct two {
    int64_t n;
    double *x, *y, *k, *l;
    gram_points *points[2];
    gram_kernel *kernels[2];
} two;

static two make_two(gram_context *context, const char *a, const char *b, int64_t n, double dependence)
{
    two t = {n, sample_normal(1, 2 * n), sample_normal(2, n), test_numbers(n * n), test_numbers(n * n), {NULL}, {NULL}};
    for (int64_t i = 0; i < n; i++) t.y[i] += dependence * t.x[2 * i] * t.x[2 * i];
    t.points[0] = test_points(context, n, 2, t.x);
    t.points[1] = test_points(context, n, 1, t.y);
    t.kernels[0] = test_kernel(context, a);
    t.kernels[1] = test_kernel(context, b);
    OK(context, gram_matrix(context, t.kernels[0], t.points[0], NULL, t.k, n));
    OK(context, gram_matrix(context, t.kernels[1], t.points[1], NULL, t.l, n));
    return t;
}

static void free_two(two *t)
{
    for (int v = 0; v < 2; v++) gram_points_release(t->points[v]), gram_kernel_release(t->kernels[v]);
    free(t->x);
    free(t->y);
    free(t->k);
    free(t->l);
}

/* Smooth kernels go by factors, rough ones by matrices; both as the definition says, for every shuffle, and so is the p-value. */
static void definition(void **state)
{
    static const char *const kernels[][2] = {{"rbf(ell=9)", "rbf(ell=1)"},
                                             {"laplace(ell=1)", "rbf(ell=1)"},
                                             {"poly(m=2, c=1)", "linear(c=1)"},
                                             {"rbf(ell=1)", "matern(nu=0.5, ell=0.3)"}};
    static const int64_t sizes[] = {4, 30, 200};
    enum { COUNT = 40 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    (void)state;
    for (size_t c = 0; c < sizeof kernels / sizeof *kernels; c++)
        for (size_t s = 0; s < 3; s++) {
            two t = make_two(context, kernels[c][0], kernels[c][1], sizes[s], 0.3);
            const int64_t n = t.n;
            const gram_shuffles shuffles = {gram_context_seed(context), n, 0};
            int64_t *order = calloc((size_t)n, sizeof *order), rank[2], reached = 1;
            double values[COUNT], got, observed = 0;
            OK(context, gram_hsic(context, t.kernels[0], t.points[0], t.kernels[1], t.points[1], &got));
            OK(context,
               gram_hsic_shuffled(context, t.kernels[0], t.points[0], t.kernels[1], t.points[1], COUNT, values, rank));
            for (int b = 0; b < COUNT; b++) {
                gram_shuffle(&shuffles, 1, b, order);
                const double want = slow_hsic(n, t.k, t.l, order);
                if (b == 0) observed = want;
                reached += b > 0 && want >= observed - 1e-12;
                if (!(fabs(values[b] / (double)(n * n) - want) <= 2e-12 * (1 + fabs(want))))
                    FAIL_TEST("%s, n = %d: %.17g, want %.17g", kernels[c][0], (int)n, values[b] / (double)(n * n),
                              want);
            }
            assert_true(fabs(got - observed) <= 1e-13 * (1 + observed));
            if (n == 200) assert_int_equal(rank[0] > 0, c == 0 || c == 2);
            gram_hsic_options options;
            gram_hsic_result result;
            gram_hsic_options_init(&options, sizeof options);
            gram_hsic_result_init(&result, sizeof result);
            options.permutations = COUNT - 1;
            OK(context, gram_hsic_test(context, 2, t.kernels, (const gram_points *const *)t.points, &options, &result));
            assert_true(result.p_value == (double)reached / COUNT);
            gram_hsic_result_clear(&result);
            free(order);
            free_two(&t);
        }
    gram_context_destroy(context);
}

static void next_permutation(int n, int64_t *order)
{
    int i = n - 2, j = n - 1;
    while (i >= 0 && order[i] > order[i + 1]) i--;
    if (i < 0) return;
    while (order[j] < order[i]) j--;
    const int64_t held = order[i];
    order[i] = order[j];
    order[j] = held;
    for (int a = i + 1, b = n - 1; a < b; a++, b--) {
        const int64_t other = order[a];
        order[a] = order[b];
        order[b] = other;
    }
}

/* Mean and variance over all 720 permutations of 6 rows. */
static void moments(void **state)
{
    enum { N = 6, ALL = 720 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    two t = make_two(context, "rbf(ell=1)", "rbf(ell=2)", N, 0.5);
    gram_hsic_options options;
    gram_hsic_result result;
    int64_t order[N] = {0, 1, 2, 3, 4, 5};
    double sum = 0, squares = 0;
    (void)state;
    gram_hsic_options_init(&options, sizeof options);
    gram_hsic_result_init(&result, sizeof result);
    options.method = GRAM_HSIC_GAMMA;
    OK(context, gram_hsic_test(context, 2, t.kernels, (const gram_points *const *)t.points, &options, &result));
    for (int p = 0; p < ALL; p++, next_permutation(N, order)) {
        const double value = slow_hsic(N, t.k, t.l, order);
        sum += value;
        squares += value * value;
    }
    assert_true(fabs(sum / ALL - result.null_mean) <= 1e-14);
    assert_true(fabs(sqrt(squares / ALL - sum / ALL * sum / ALL) - result.null_deviation) <= 1e-13);
    gram_hsic_result_clear(&result);
    free_two(&t);
    gram_context_destroy(context);
}

static void several(void **state)
{
    enum { N = 40, V = 3 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *x = sample_normal(4, N * V), *k = test_numbers(V * N * N), mean[V] = {0}, row[V][N] = {{0}};
    gram_points *points[V];
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)"), *kernels[V] = {kernel, kernel, kernel};
    (void)state;
    for (int i = 0; i < N; i++) x[i * V + 2] = x[i * V] * x[i * V + 1]; /* pairwise uncorrelated, not independent */
    for (int v = 0; v < V; v++) {
        OK(context, gram_points_create_f64(context, N, 1, x + v, V, &points[v]));
        OK(context, gram_matrix(context, kernel, points[v], NULL, k + v * N * N, N));
        for (int i = 0; i < N * N; i++) row[v][i / N] += k[v * N * N + i] / N, mean[v] += k[v * N * N + i] / N / N;
    }
    double first = 0, last = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) first += k[i * N + j] * k[N * N + i * N + j] * k[2 * N * N + i * N + j] / N / N;
        last += row[0][i] * row[1][i] * row[2][i] / N;
    }
    gram_hsic_result result;
    gram_hsic_result_init(&result, sizeof result);
    OK(context, gram_hsic_test(context, V, kernels, (const gram_points *const *)points, NULL, &result));
    assert_true(fabs(result.statistic - (first + mean[0] * mean[1] * mean[2] - 2 * last)) <= 1e-14);
    assert_true(result.reject && result.p_value < 0.02);
    gram_hsic_result_clear(&result);
    for (int v = 0; v < V; v++) gram_points_release(points[v]);
    gram_kernel_release(kernel);
    free(x);
    free(k);
    gram_context_destroy(context);
}

static void odd_and_bad(void **state)
{
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *x = sample_normal(1, 40), same[20], out;
    for (int i = 0; i < 20; i++) same[i] = 3.7;
    gram_points *a = test_points(context, 20, 2, x), *b = test_points(context, 20, 1, same),
                *c = test_points(context, 3, 1, x);
    gram_points *d = test_points(context, 19, 1, x);
    const gram_points *pair[] = {a, b, a}, *uneven[] = {a, d}, *few[] = {c, c}, *hole[] = {a, NULL};
    gram_hsic_options options;
    gram_hsic_result r;
    (void)state;
    gram_hsic_options_init(&options, sizeof options);
    gram_hsic_result_init(&r, sizeof r);
    for (int method = GRAM_HSIC_AUTO; method <= GRAM_HSIC_GAMMA; method++) {
        options.method = (gram_hsic_method)method;
        OK(context, gram_hsic_test(context, 2, NULL, pair, &options, &r));
        assert_true(r.p_value == 1 && r.statistic == 0 && !r.reject);
        gram_hsic_result_clear(&r);
    }
    assert_int_equal(gram_hsic_test(context, 3, NULL, pair, &options, &r), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_hsic_test(context, 2, NULL, uneven, NULL, &r), GRAM_ERROR_DIMENSION);
    assert_int_equal(gram_hsic_test(context, 2, NULL, few, NULL, &r), GRAM_ERROR_DIMENSION);
    assert_int_equal(gram_hsic_test(context, 2, NULL, hole, NULL, &r), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_hsic_test(context, 1, NULL, pair, NULL, &r), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_hsic_test(context, 2, NULL, pair, NULL, NULL), GRAM_ERROR_ARGUMENT);
    options.level = 0;
    assert_int_equal(gram_hsic_test(context, 2, NULL, pair, &options, &r), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_hsic(context, NULL, a, NULL, a, &out), GRAM_ERROR_ARGUMENT);
    gram_hsic_result_clear(&r);
    gram_points_release(a);
    gram_points_release(b);
    gram_points_release(c);
    gram_points_release(d);
    free(x);
    gram_context_destroy(context);
}

static void shuffled(gram_context *context, double *out)
{
    static const char *const kernels[] = {"rbf(ell=1)", "laplace(ell=1)"};
    for (int c = 0; c < 2; c++, out += 20) {
        int64_t rank[2];
        two t = make_two(context, kernels[c], kernels[c], 150, 0.2);
        OK(context, gram_hsic_shuffled(context, t.kernels[0], t.points[0], t.kernels[1], t.points[1], 20, out, rank));
        free_two(&t);
    }
}

static void same_for_any_threads(void **state)
{
    (void)state;
    test_any_threads(40, shuffled);
}

static double oom_x[60];

static gram_status play(gram_context *context)
{
    static const char *const texts[] = {"rbf", "laplace"};
    gram_points *points[3] = {NULL, NULL, NULL};
    gram_status status = GRAM_OK;
    for (int v = 0; v < 3 && status >= 0; v++)
        status = gram_points_create_f64(context, 20, 1, oom_x + 20 * v, 1, &points[v]);
    for (int c = 0; c < 6 && status >= 0; c++) {
        gram_kernel *kernel = NULL;
        gram_hsic_options options;
        gram_hsic_result result;
        gram_hsic_options_init(&options, sizeof options);
        gram_hsic_result_init(&result, sizeof result);
        options.permutations = 5;
        options.method = c / 2 == 1 ? GRAM_HSIC_GAMMA : GRAM_HSIC_PERMUTATION;
        status = gram_kernel_parse(context, texts[c % 2], &kernel);
        gram_kernel *kernels[3] = {kernel, kernel, NULL};
        if (status >= 0)
            status = gram_hsic_test(context, c / 2 == 2 ? 3 : 2, kernels, (const gram_points *const *)points, &options,
                                    &result);
        gram_hsic_result_clear(&result);
        gram_kernel_release(kernel);
    }
    for (int v = 0; v < 3; v++) gram_points_release(points[v]);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    test_uniform(1, 60, -1, 1, oom_x);
    for (int for_good = 0; for_good < 2; for_good++) assert_true(oom_each(play, for_good) > 20);
    (void)oom_budget(play);
}

/* y1 is x2 squared, y2 is constant, all else is noise: that pair stands out, and is what the test of it alone says. */
static void columns(void **state)
{
    (void)state;
    enum { N = 60 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *x = test_random(5, 2 * N, -1, 1), y[2 * N], score[4];
    for (int i = 0; i < N; i++) {
        y[2 * i] = x[2 * i + 1] * x[2 * i + 1];
        y[2 * i + 1] = 3;
    }
    gram_points *a = test_points(context, N, 2, x), *b = test_points(context, N, 2, y), *pair[2] = {NULL, NULL};
    OK(context, gram_hsic_columns(context, a, b, score));
    assert_true(score[2] > 5 && fabs(score[0]) < 4 && isinf(score[1]) && isinf(score[3]));
    gram_hsic_options options;
    gram_hsic_result result;
    gram_hsic_options_init(&options, sizeof options);
    gram_hsic_result_init(&result, sizeof result);
    options.method = GRAM_HSIC_GAMMA;
    OK(context, gram_points_create_f64(context, N, 1, x + 1, 2, &pair[0]));
    OK(context, gram_points_create_f64(context, N, 1, y, 2, &pair[1]));
    OK(context, gram_hsic_test(context, 2, NULL, (const gram_points *const *)pair, &options, &result));
    assert_true(score[2] == (result.statistic - result.null_mean) / result.null_deviation);
    gram_hsic_result_clear(&result);
    for (int i = 0; i < 2; i++) gram_points_release(pair[i]);
    gram_points_release(a);
    gram_points_release(b);
    free(x);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(definition),
                                       cmocka_unit_test(moments),
                                       cmocka_unit_test(several),
                                       cmocka_unit_test(odd_and_bad),
                                       cmocka_unit_test(same_for_any_threads),
                                       cmocka_unit_test(columns),
                                       cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
