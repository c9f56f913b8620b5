/* Clusters against ordinary k-means, optimality, circles, repeated rows, silhouettes by their definition, and bad input. */
#include <math.h>
#include <string.h>

#include <gram/cluster.h>

#include "samples.h"

static gram_cluster *fit(gram_context *context, const char *text, int64_t n, int64_t d, const double *data,
                         const gram_cluster_options *options)
{
    gram_cluster *cluster = NULL;
    gram_kernel *kernel = test_kernel(context, text);
    gram_points *x = test_points(context, n, d, data);
    OK(context, gram_cluster_fit(context, kernel, x, options, &cluster));
    gram_points_release(x);
    gram_kernel_release(kernel);
    return cluster;
}

static gram_cluster_options options_of(int64_t k)
{
    gram_cluster_options options;
    gram_cluster_options_init(&options, sizeof options);
    options.clusters = k;
    return options;
}

/* ---- ordinary k-means ---- */

static double square(int64_t d, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t l = 0; l < d; l++) sum += (a[l] - b[l]) * (a[l] - b[l]);
    return sum;
}

/* Lloyd's iterations on coordinates, from some rows as means; returns the objective. */
static double lloyd(int64_t n, int64_t d, int64_t k, const double *x, const int64_t *first, int64_t *labels)
{
    double *means = test_numbers(k * d), objective = 0;
    for (int64_t c = 0; c < k; c++) memcpy(means + c * d, x + first[c] * d, (size_t)d * sizeof *x);
    for (int changed = 1; changed;) {
        changed = 0;
        objective = 0;
        for (int64_t i = 0; i < n; i++) {
            int64_t best = 0;
            for (int64_t c = 1; c < k; c++)
                if (square(d, x + i * d, means + c * d) < square(d, x + i * d, means + best * d)) best = c;
            changed |= labels[i] != best;
            labels[i] = best;
            objective += square(d, x + i * d, means + best * d);
        }
        for (int64_t c = 0; c < k; c++) {
            double count = 0;
            for (int64_t i = 0; i < n; i++) count += labels[i] == c;
            for (int64_t l = 0; l < d; l++) {
                means[c * d + l] = 0;
                for (int64_t i = 0; i < n; i++) means[c * d + l] += (labels[i] == c) * x[i * d + l] / count;
            }
        }
    }
    free(means);
    return objective;
}

/* The same parts, whatever their numbers. */
static void same_parts(int64_t n, const int64_t *a, const int64_t *b)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            if ((a[i] == a[j]) != (b[i] == b[j])) FAIL_TEST("rows %lld and %lld", (long long)i, (long long)j);
}

static void linear_is_ordinary(void **state)
{
    enum { N = 120, D = 3, K = 4 };
    static const int64_t FIRST[][K] = {{0, 1, 2, 3}, {10, 40, 77, 119}, {5, 6, 50, 51}};
    double *x = sample_normal(3, N * D);
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    for (int t = 0; t < 3; t++) {
        int64_t labels[N];
        gram_cluster_options options = options_of(K);
        options.first = FIRST[t];
        for (int i = 0; i < N; i++) labels[i] = -1;
        const double want = lloyd(N, D, K, x, FIRST[t], labels);
        gram_cluster *cluster = fit(context, "linear", N, D, x, &options);
        const gram_cluster_report *report = gram_cluster_get_report(cluster);
        same_parts(N, gram_cluster_labels(cluster), labels);
        if (!(fabs(report->objective - want) <= 1e-12 * want)) FAIL_TEST("%.15g, not %.15g", report->objective, want);
        assert_true(report->converged && report->starts == 1);
        gram_cluster_destroy(cluster);
    }
    free(x);
    gram_context_destroy(context);
}

/* ---- optimality, new points, many starts ---- */

/* Every row is nearest to the mean of its own cluster, and the best of 10 starts is no worse than the first of them alone. */
static void labels_are_nearest(void **state)
{
    enum { N = 90, D = 2, K = 5 };
    double *x = sample_normal(8, N * D), *k = test_numbers(N * N), f[N * K];
    int64_t again[N];
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.8)");
    gram_points *points = test_points(context, N, D, x);
    gram_cluster_options options = options_of(K), one = options_of(K);
    one.starts = 1;
    gram_cluster *cluster = fit(context, "rbf(ell=0.8)", N, D, x, &options), *single;
    single = fit(context, "rbf(ell=0.8)", N, D, x, &one);
    const int64_t *labels = gram_cluster_labels(cluster);
    OK(context, gram_matrix(context, kernel, points, NULL, k, N));
    double objective = 0, size[K] = {0};
    for (int i = 0; i < N; i++) size[labels[i]]++;
    for (int i = 0; i < N; i++) {
        double distance[K] = {0};
        for (int c = 0; c < K; c++) {
            double inner = 0, own = 0;
            for (int j = 0; j < N; j++) inner += (labels[j] == c) * k[i * N + j] / size[c];
            for (int j = 0; j < N * N; j++)
                own += (labels[j / N] == c && labels[j % N] == c) * k[j] / size[c] / size[c];
            distance[c] = k[i * N + i] - 2 * inner + own;
        }
        for (int c = 0; c < K; c++) assert_true(distance[labels[i]] <= distance[c] + 1e-12);
        objective += distance[labels[i]];
    }
    for (int c = 0; c < K; c++)
        assert_true(gram_cluster_sizes(cluster)[c] == size[c] && (c == 0 || size[c] <= size[c - 1]));
    const double found = gram_cluster_get_report(cluster)->objective;
    assert_true(fabs(found - objective) <= 1e-12 * objective);
    assert_true(found <= gram_cluster_get_report(single)->objective);
    OK(context, gram_function_evaluate(context, gram_cluster_function(cluster), points, f, K));
    OK(context, gram_cluster_assign(context, cluster, points, again));
    for (int i = 0; i < N; i++) assert_int_equal(again[i], labels[i]);
    gram_cluster_destroy(single);
    gram_cluster_destroy(cluster);
    gram_points_release(points);
    gram_kernel_release(kernel);
    free(k);
    free(x);
    gram_context_destroy(context);
}

/* Weights are repetitions. */
static void weights_repeat(void **state)
{
    enum { N = 40, K = 3 };
    static const int64_t FIRST[K] = {0, 1, 2};
    double *x = sample_normal(5, N), weights[N], repeated[3 * N];
    int64_t labels[3 * N], count = 0, where[3 * N];
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int i = 0; i < N; i++) weights[i] = 1 + i % 3;
    for (int i = 0; i < N; i++) repeated[count] = x[i], where[count++] = i; /* so that the first rows are the same */
    for (int i = 0; i < N; i++)
        for (int r = 1; r < 1 + i % 3; r++) repeated[count] = x[i], where[count++] = i;
    gram_cluster_options options = options_of(K), plain = options_of(K);
    options.first = plain.first = FIRST;
    options.weights = weights;
    gram_cluster *a = fit(context, "rbf(ell=0.7)", N, 1, x, &options);
    gram_cluster *b = fit(context, "rbf(ell=0.7)", count, 1, repeated, &plain);
    for (int64_t i = 0; i < count; i++) labels[i] = gram_cluster_labels(a)[where[i]];
    same_parts(count, labels, gram_cluster_labels(b));
    assert_true(fabs(gram_cluster_get_report(a)->objective - gram_cluster_get_report(b)->objective) <= 1e-12 * N);
    for (int c = 0; c < K; c++) assert_true(gram_cluster_sizes(a)[c] == gram_cluster_sizes(b)[c]);
    gram_cluster_destroy(a);
    gram_cluster_destroy(b);
    free(x);
    gram_context_destroy(context);
}

/* A start that leaves a cluster without rows: two first means at one point. The cluster takes the row that is farthest from its
 * mean; k clusters come out, none of them empty, and every row is nearest to its own mean. */
static void no_cluster_stays_empty(void **state)
{
    enum { N = 12, K = 3 };
    static const int64_t FIRST[K] = {0, 1, 6};
    const double x[N] = {0, 0, 0.1, 0.2, 0.3, 0.4, 5, 5.1, 5.2, 5.3, 5.4, 9};
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_cluster_options options = options_of(K);
    options.first = FIRST;
    gram_cluster *cluster = fit(context, "linear", N, 1, x, &options);
    double mean[K] = {0}, size[K] = {0};
    const int64_t *labels = gram_cluster_labels(cluster);
    for (int i = 0; i < N; i++) mean[labels[i]] += x[i], size[labels[i]]++;
    for (int c = 0; c < K; c++) assert_true(size[c] > 0 && gram_cluster_sizes(cluster)[c] == size[c]);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < K; c++)
            assert_true(fabs(x[i] - mean[labels[i]] / size[labels[i]]) <= fabs(x[i] - mean[c] / size[c]) + 1e-12);
    assert_int_equal(labels[11], 2); /* the one far off is alone */
    gram_cluster_destroy(cluster);
    gram_context_destroy(context);
}

/* Rows of weight 0 have no say: the clusters of the others are those without them. */
static void weightless_rows(void **state)
{
    enum { N = 60, K = 3 };
    static const int64_t FIRST[K] = {0, 1, 2};
    double *x = sample_normal(21, 2 * N), weights[N];
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int i = 0; i < N; i++) weights[i] = i < N / 2;
    for (int i = N; i < 2 * N; i++) x[i] += 100;
    gram_cluster_options all = options_of(K), some = options_of(K);
    all.first = some.first = FIRST;
    all.weights = weights;
    gram_cluster *a = fit(context, "rbf(ell=1)", N, 2, x, &all), *b = fit(context, "rbf(ell=1)", N / 2, 2, x, &some);
    same_parts(N / 2, gram_cluster_labels(a), gram_cluster_labels(b));
    assert_true(fabs(gram_cluster_get_report(a)->objective - gram_cluster_get_report(b)->objective) < 1e-12 * N);
    gram_cluster_destroy(a);
    gram_cluster_destroy(b);
    free(x);
    gram_context_destroy(context);
}

/* Where K does not fit in the budget it is made anew in every iteration, with the same result: labels, objective, starts. With so
 * many columns k-means holds it where it fits. */
static void without_the_matrix(void **state)
{
    enum { N = 900, D = 40, K = 4, SMALL = 3 << 20 };
    double *x = sample_normal(22, N * D);
    (void)state;
    for (int i = 0; i < N * D; i++) x[i] *= i % D < 2 ? 1 : 0.1;
    for (int i = 0; i < N; i++) x[D * i] += 6 * (i % 2), x[D * i + 1] += 6 * (i / 2 % 2);
    gram_context *large = test_context(2, GRAM_ISA_AUTO), *small = TEST_CONTEXT(.threads = 2, .memory_budget = SMALL);
    for (int method = 0; method < 2; method++) {
        gram_cluster_options options = options_of(K);
        options.method = (gram_cluster_method)method;
        options.starts = 3;
        gram_cluster *held = fit(large, "rbf(ell=2)", N, D, x, &options);
        gram_cluster *made = fit(small, "rbf(ell=2)", N, D, x, &options);
        const gram_cluster_report *a = gram_cluster_get_report(held), *b = gram_cluster_get_report(made);
        assert_true(gram_context_memory_peak(small) <= SMALL && gram_context_memory_peak(large) > SMALL);
        for (int i = 0; i < N; i++) assert_int_equal(gram_cluster_labels(held)[i], gram_cluster_labels(made)[i]);
        assert_true(fabs(a->objective - b->objective) <= 1e-9 * a->objective && a->best_start == b->best_start);
        for (int i = K; i < N; i++) /* and it is right: one cluster for each corner, but for rows on the way */
            if (fabs(x[D * i] - 3) > 1 && fabs(x[D * i + 1] - 3) > 1 && i % 4 == 0 && fabs(x[0] - 3) > 1 &&
                fabs(x[1] - 3) > 1)
                assert_int_equal((x[D * i] > 3) == (x[0] > 3) && (x[D * i + 1] > 3) == (x[1] > 3),
                                 gram_cluster_labels(held)[i] == gram_cluster_labels(held)[0]);
        gram_cluster_destroy(held);
        gram_cluster_destroy(made);
    }
    free(x);
    gram_context_destroy(large);
    gram_context_destroy(small);
}

/* The best of many starts is the least of their objectives, each run alone by its place. */
static void the_best_start_wins(void **state)
{
    enum { N = 80, K = 6, STARTS = 8 };
    double *x = sample_normal(23, 2 * N), least = INFINITY;
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_cluster_options options = options_of(K);
    for (int s = 1; s <= STARTS; s++) {
        options.starts = s;
        gram_cluster *cluster = fit(context, "rbf(ell=0.6)", N, 2, x, &options);
        const gram_cluster_report *report = gram_cluster_get_report(cluster);
        assert_true(report->objective <= least + 1e-12); /* one more start never harms */
        assert_true(report->best_start < s && report->starts == s);
        if (report->best_start == s - 1) assert_true(s == 1 || report->objective < least);
        least = fmin(least, report->objective);
        gram_cluster_destroy(cluster);
    }
    free(x);
    gram_context_destroy(context);
}

/* ---- spectral ---- */

static void circles(void **state)
{
    enum { N = 200 };
    double *noise = sample_normal(4, 2 * N), x[2 * N];
    int64_t again[N];
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    for (int i = 0; i < N; i++) {
        const double r = i < 120 ? 4 : 1, a = 2.399963229728653 * i;
        x[2 * i] = r * cos(a) + 0.1 * noise[2 * i];
        x[2 * i + 1] = r * sin(a) + 0.1 * noise[2 * i + 1];
    }
    gram_cluster_options options = options_of(2);
    options.method = GRAM_CLUSTER_SPECTRAL;
    gram_cluster *cluster = fit(context, "rbf(ell=0.5)", N, 2, x, &options);
    gram_points *points = test_points(context, N, 2, x);
    for (int i = 0; i < N; i++) assert_int_equal(gram_cluster_labels(cluster)[i], i >= 120);
    OK(context, gram_cluster_assign(context, cluster, points, again));
    for (int i = 0; i < N; i++) assert_int_equal(again[i], i >= 120);
    gram_points_release(points);
    gram_cluster_destroy(cluster);
    free(noise);
    gram_context_destroy(context);
}

/* ---- the number of clusters, silhouettes ---- */

static void silhouettes(void **state)
{
    enum { N = 60 };
    double *noise = sample_normal(6, 2 * N), x[2 * N], mean = 0;
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int i = 0; i < N; i++) {
        x[2 * i] = 8 * (i % 3) + noise[2 * i];
        x[2 * i + 1] = 8 * (i % 3 == 1) + noise[2 * i + 1];
    }
    gram_cluster_options options = options_of(0);
    gram_cluster *cluster = fit(context, "linear", N, 2, x, &options);
    const gram_cluster_report *report = gram_cluster_get_report(cluster);
    const int64_t *labels = gram_cluster_labels(cluster);
    assert_int_equal(report->clusters, 3);
    assert_int_equal(report->silhouette_rows, N);
    for (int i = 0; i < N; i++) {
        double sum[3] = {0}, count[3] = {0}, other = INFINITY;
        for (int j = 0; j < N; j++) {
            sum[labels[j]] += sqrt(square(2, x + 2 * i, x + 2 * j));
            count[labels[j]] += j != i;
        }
        for (int c = 0; c < 3; c++)
            if (c != labels[i]) other = fmin(other, sum[c] / count[c]);
        const double own = sum[labels[i]] / count[labels[i]];
        mean += (other - own) / fmax(own, other) / N;
    }
    if (!(fabs(report->silhouette - mean) <= 1e-7)) FAIL_TEST("%.12g, not %.12g", report->silhouette, mean);
    gram_cluster_destroy(cluster);
    free(noise);
    gram_context_destroy(context);
}

/* ---- bad input ---- */

static void refuse(gram_context *context, const char *text, int64_t n, const double *data,
                   const gram_cluster_options *options, gram_status wanted, const char *words)
{
    gram_cluster *cluster = NULL;
    gram_kernel *kernel = test_kernel(context, text);
    gram_points *x = test_points(context, n, 1, data);
    REFUSED(context, gram_cluster_fit(context, kernel, x, options, &cluster), wanted, words);
    assert_null(cluster);
    gram_points_release(x);
    gram_kernel_release(kernel);
}

static void bad_input(void **state)
{
    const double x[] = {1, 1, 1, 2}, y[] = {-1, 0.4, 2, 3}, minus[] = {1, -1, 1, 1}, nothing[] = {0, 0, 0, 0};
    const int64_t first[] = {0, 4};
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_cluster_options options = options_of(5);
    refuse(context, "rbf(ell=1)", 4, y, &options, GRAM_ERROR_ARGUMENT, "clusters = 5 is not from 1 to the 4 points");
    options = options_of(3);
    refuse(context, "rbf(ell=1)", 4, x, &options, GRAM_ERROR_DATA, "fewer points than the 3 clusters differ");
    options = options_of(2);
    options.first = first;
    refuse(context, "rbf(ell=1)", 4, y, &options, GRAM_ERROR_ARGUMENT, "first[1] = 4 is not a row");
    options = options_of(2);
    options.weights = minus;
    refuse(context, "rbf(ell=1)", 4, y, &options, GRAM_ERROR_ARGUMENT, "weights[1] is -1");
    options.weights = nothing;
    refuse(context, "rbf(ell=1)", 4, y, &options, GRAM_ERROR_ARGUMENT, "all weights are 0");
    options = options_of(2);
    options.method = GRAM_CLUSTER_SPECTRAL;
    refuse(context, "linear", 4, y, &options, GRAM_ERROR_DATA, "needs a sum above 0");
    options = options_of(2);
    refuse(context, "const(2)", 4, y, &options, GRAM_ERROR_DATA, "fewer points than the 2 clusters differ");
    options.method = GRAM_CLUSTER_SPECTRAL;
    refuse(context, "const(2)", 4, y, &options, GRAM_ERROR_DATA, "");
    options = options_of(1);
    gram_cluster *one = fit(context, "rbf(ell=1)", 4, 1, y, &options);
    assert_true(isnan(gram_cluster_get_report(one)->silhouette) && gram_cluster_labels(one)[3] == 0);
    gram_cluster_destroy(one);
    gram_cluster_destroy(NULL);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(linear_is_ordinary),
                                       cmocka_unit_test(labels_are_nearest),
                                       cmocka_unit_test(weights_repeat),
                                       cmocka_unit_test(circles),
                                       cmocka_unit_test(no_cluster_stays_empty),
                                       cmocka_unit_test(weightless_rows),
                                       cmocka_unit_test(without_the_matrix),
                                       cmocka_unit_test(the_best_start_wins),
                                       cmocka_unit_test(silhouettes),
                                       cmocka_unit_test(bad_input)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
