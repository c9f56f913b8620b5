/* Thinning against slow obvious twins on the whole matrix, optimality of weights, and a chain of the test's own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { N = 300, D = 2, M = 40 };

/* The whole matrix: k, or the Stein kernel if there are scores. */
static double *whole_matrix(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                            const double *scores)
{
    double *K = test_numbers(N * N);
    gram_operator *op;
    if (scores) {
        OK(context, gram_operator_create_stein(context, kernel, points, scores, D, &op));
        OK(context, gram_operator_matrix(context, op, K, N));
        gram_operator_release(op);
    } else {
        OK(context, gram_matrix(context, kernel, points, NULL, K, N));
    }
    return K;
}

static double mean_of_row(const double *K, int i)
{
    double sum = 0;
    for (int j = 0; j < N; j++) sum += K[i * N + j];
    return sum / N;
}

/* The squared discrepancy of weights w on a choice, from its definition. */
static double square_of(const double *K, int stein, int m, const int64_t *index, const double *w)
{
    double sum = 0;
    for (int a = 0; a < m; a++) {
        const double wa = w ? w[a] : 1.0 / m;
        for (int b = 0; b < m; b++) sum += wa * (w ? w[b] : 1.0 / m) * K[index[a] * N + index[b]];
        if (!stein) sum -= 2 * wa * mean_of_row(K, (int)index[a]);
    }
    for (int i = 0; !stein && i < N; i++) sum += mean_of_row(K, i) / N;
    return sum;
}

/* The next choice of the twin; *tie if another candidate is as good within 1e-10. */
static int64_t next_choice(const double *K, int stein, int herding, const char *taken, int t, const int64_t *index,
                           int *tie)
{
    double best = INFINITY, second = INFINITY;
    int64_t found = -1;
    for (int i = 0; i < N; i++) {
        double value = herding ? 0 : 0.5 * K[i * N + i];
        for (int a = 0; a < t; a++) value += K[i * N + index[a]];
        if (!stein) value -= (t + 1) * mean_of_row(K, i);
        if (taken && taken[i]) continue;
        if (value < best) {
            second = best;
            best = value;
            found = i;
        } else if (value < second) {
            second = value;
        }
    }
    *tie = second - best <= 1e-10 * fmax(1, fabs(best));
    return found;
}

static void same_choices(gram_context *context, const char *text, const gram_points *points, const double *scores,
                         gram_thin_method method, int distinct)
{
    gram_kernel *kernel = test_kernel(context, text);
    double *K = whole_matrix(context, kernel, points, scores), discrepancy[M];
    int64_t index[M];
    char taken[N] = {0};
    int t = 0, tie = 0;
    gram_thin_options options;
    gram_thin_options_init(&options, sizeof options);
    options.method = method;
    options.distinct = distinct;
    OK(context, gram_thin(context, kernel, points, scores, D, &options, M, index, discrepancy));
    for (; t < M && !tie; t++) {
        const int64_t want =
            next_choice(K, scores != NULL, method == GRAM_THIN_HERDING, distinct ? taken : NULL, t, index, &tie);
        if (!tie && want != index[t])
            FAIL_TEST("%s, method %d: choice %d is %lld, should be %lld", text, (int)method, t, (long long)index[t],
                      (long long)want);
        const double square = square_of(K, scores != NULL, t + 1, index, NULL);
        assert_true(fabs(discrepancy[t] * discrepancy[t] - square) <= 1e-11 * K[0]);
        taken[index[t]] = 1;
    }
    assert_true(t >= 10);
    free(K);
    gram_kernel_release(kernel);
}

static void choices_are_the_twins(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *x = test_random(1, N * D, -2, 2), *s = test_numbers(N * D);
    for (int i = 0; i < N * D; i++) s[i] = -x[i] + 0.3;
    gram_points *points = test_points(context, N, D, x);
    for (int distinct = 0; distinct < 2; distinct++) {
        same_choices(context, "imq(c=1)", points, s, GRAM_THIN_GREEDY, distinct);
        same_choices(context, "rbf(ell=1) + imq(c=2)", points, s, GRAM_THIN_GREEDY, distinct);
        same_choices(context, "rbf(ell=0.5)", points, NULL, GRAM_THIN_GREEDY, distinct);
        same_choices(context, "matern(nu=0.5, ell=2)", points, NULL, GRAM_THIN_HERDING, distinct);
    }
    gram_points_release(points);
    gram_context_destroy(context);
    free(x);
    free(s);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    gram_context *one = test_context(1, GRAM_ISA_AUTO), *two = test_context(2, GRAM_ISA_AUTO);
    double *x = test_random(2, N * D, -2, 2);
    gram_points *points = test_points(one, N, D, x);
    gram_kernel *kernel = test_kernel(one, "rbf(ell=0.5)");
    for (int method = GRAM_THIN_GREEDY; method <= GRAM_THIN_PLAIN; method++) {
        int64_t a[M], b[M];
        double da[M], db[M];
        gram_thin_options options;
        gram_thin_options_init(&options, sizeof options);
        options.method = (gram_thin_method)method;
        OK(one, gram_thin(one, kernel, points, NULL, 0, &options, M, a, da));
        OK(two, gram_thin(two, kernel, points, NULL, 0, &options, M, b, db));
        assert_memory_equal(a, b, sizeof a);
        assert_true(da[M - 1] == db[M - 1]);
    }
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_context_destroy(one);
    gram_context_destroy(two);
    free(x);
}

/* Split: distinct, better than plain and random choice, measured rightly; works for every m. */
static void splitting(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *x = test_random(3, N * D, -2, 2);
    gram_points *points = test_points(context, N, D, x);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.5)");
    double *K = whole_matrix(context, kernel, points, NULL);
    gram_thin_options split, plain;
    gram_thin_options_init(&split, sizeof split);
    split.method = GRAM_THIN_SPLIT;
    plain = split;
    plain.method = GRAM_THIN_PLAIN;
    for (int m = 1; m <= N; m = m < 8 ? m + 1 : m * 2) {
        int64_t index[N], evenly[N];
        double found[N], usual[N];
        char taken[N] = {0};
        OK(context, gram_thin(context, kernel, points, NULL, 0, &split, m, index, found));
        OK(context, gram_thin(context, kernel, points, NULL, 0, &plain, m, evenly, usual));
        for (int a = 0; a < m; a++) {
            assert_true(index[a] >= 0 && index[a] < N && !taken[index[a]]);
            taken[index[a]] = 1;
        }
        assert_true(evenly[m - 1] == N - 1);
        assert_true(fabs(found[m - 1] * found[m - 1] - square_of(K, 0, m, index, NULL)) <= 1e-12);
        assert_true(fabs(usual[m - 1] * usual[m - 1] - square_of(K, 0, m, evenly, NULL)) <= 1e-12);
        assert_true(found[m - 1] <= usual[m - 1] + 1e-12);
    }
    free(K);
    free(x);
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_context_destroy(context);
}

/* Weights: on the simplex, better than equal ones, and the optimality conditions hold. */
static void weights_are_optimal(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *x = test_random(4, N * D, -2, 2), *s = test_numbers(N * D);
    for (int i = 0; i < N * D; i++) s[i] = -x[i];
    gram_points *points = test_points(context, N, D, x);
    gram_kernel *kernel = test_kernel(context, "imq(c=1)");
    for (int stein = 0; stein < 2; stein++) {
        const double *scores = stein ? s : NULL;
        double *K = whole_matrix(context, kernel, points, scores), w[M], discrepancy, equal, sum = 0, g[M],
               least = INFINITY;
        int64_t index[M];
        for (int a = 0; a < M; a++) index[a] = (a * 7) % N;
        index[5] = index[2];
        OK(context, gram_thin_weights(context, kernel, points, scores, D, M, index, w, &discrepancy));
        OK(context, gram_thin_discrepancy(context, kernel, points, scores, D, M, index, NULL, &equal));
        assert_true(fabs(discrepancy * discrepancy - square_of(K, stein, M, index, w)) <= 1e-12 * K[0]);
        assert_true(fabs(equal * equal - square_of(K, stein, M, index, NULL)) <= 1e-12 * K[0]);
        assert_true(discrepancy < equal && w[5] == 0);
        for (int a = 0; a < M; a++) {
            assert_true(w[a] >= 0);
            sum += w[a];
            g[a] = stein ? 0 : -mean_of_row(K, (int)index[a]);
            for (int b = 0; b < M; b++) g[a] += K[index[a] * N + index[b]] * w[b];
            least = fmin(least, g[a]);
        }
        assert_true(fabs(sum - 1) <= 1e-13);
        for (int a = 0; a < M; a++)
            if (w[a] > 0) assert_true(g[a] - least <= 1.01e-4 * discrepancy * discrepancy);
        double again;
        OK(context, gram_thin_discrepancy(context, kernel, points, scores, D, M, index, w, &again));
        assert_true(fabs(again - discrepancy) <= 1e-9);
        free(K);
    }
    free(x);
    free(s);
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_context_destroy(context);
}

/* A random-walk Metropolis chain on a mixture of two Gaussians, started far away. */
static void make_chain(double *x, double *s)
{
    double *u = test_random(5, N * (D + 1) * 4, 0, 1), at[2] = {-6, 6};
    for (int i = 0; i < N; i++) {
        double score[2][2], density[2];
        double to[2] = {at[0] + 3 * (u[i * 3] - 0.5), at[1] + 3 * (u[i * 3 + 1] - 0.5)};
        for (int side = 0; side < 2; side++) {
            const double *p = side ? to : at, a = exp(-(p[0] * p[0] + p[1] * p[1]) / 2);
            const double b = exp(-((p[0] - 3) * (p[0] - 3) + (p[1] - 3) * (p[1] - 3)) / 2);
            density[side] = a + b;
            for (int l = 0; l < D; l++) score[side][l] = -(a * p[l] + b * (p[l] - 3)) / (a + b);
        }
        const int moves = u[i * 3 + 2] < density[1] / density[0];
        if (moves) memcpy(at, to, sizeof at);
        memcpy(x + i * D, at, sizeof at);
        memcpy(s + i * D, score[moves], sizeof at);
    }
    free(u);
}

static void a_chain_gets_better(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double x[N * D], s[N * D], found[M], usual[M];
    int64_t index[M], evenly[M];
    make_chain(x, s);
    gram_points *points = test_points(context, N, D, x);
    gram_thin_options plain;
    gram_thin_options_init(&plain, sizeof plain);
    plain.method = GRAM_THIN_PLAIN;
    for (int p = GRAM_STEIN_METRIC_ID; p <= GRAM_STEIN_METRIC_SMPCOV; p++) {
        gram_kernel *kernel;
        OK(context, gram_stein_kernel(context, points, (gram_stein_metric)p, M, &kernel));
        OK(context, gram_thin(context, kernel, points, s, D, NULL, M, index, found));
        OK(context, gram_thin(context, kernel, points, s, D, &plain, M, evenly, usual));
        assert_true(found[M - 1] < 0.5 * usual[M - 1]);
        for (int a = 0; a < M; a++) assert_true(index[a] > 5); /* not the way in */
        gram_kernel_release(kernel);
    }
    gram_points_release(points);
    gram_context_destroy(context);
}

static void refusals(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double x[10 * D], s[10 * D], w[10], discrepancy;
    int64_t index[10] = {0, 10};
    test_uniform(6, 10 * D, 0, 1, x);
    test_uniform(7, 10 * D, 0, 1, s);
    gram_points *points = test_points(context, 10, D, x);
    gram_kernel *kernel = test_kernel(context, "imq(c=1)");
    gram_thin_options options;
    gram_thin_options_init(&options, sizeof options);
    REFUSED(context, gram_thin(context, kernel, points, s, D, NULL, 11, index, NULL), GRAM_ERROR_ARGUMENT,
            "m = 11, need 1 to n = 10");
    assert_int_equal(gram_thin(context, kernel, points, s, D, NULL, 0, index, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_thin(context, kernel, NULL, s, D, NULL, 2, index, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_thin(context, NULL, points, NULL, 0, NULL, 2, index, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_thin(context, kernel, points, s, D, NULL, 2, NULL, NULL), GRAM_ERROR_ARGUMENT);
    options.method = GRAM_THIN_HERDING;
    assert_int_equal(gram_thin(context, kernel, points, s, D, &options, 2, index, NULL), GRAM_ERROR_ARGUMENT);
    options.method = (gram_thin_method)9;
    assert_int_equal(gram_thin(context, kernel, points, s, D, &options, 2, index, NULL), GRAM_ERROR_ARGUMENT);
    index[1] = 10;
    REFUSED(context, gram_thin_weights(context, kernel, points, s, D, 2, index, w, NULL), GRAM_ERROR_ARGUMENT,
            "index[1] = 10");
    assert_int_equal(gram_thin_discrepancy(context, kernel, points, s, D, 2, NULL, NULL, &discrepancy),
                     GRAM_ERROR_ARGUMENT);
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_context_destroy(context);
}

/* What a choice is compared with: evenly spaced rows, and all rows. */
static void references(void **state)
{
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *x = test_random(8, N * D, -1, 1), *scores = test_random(9, N * D, -1, 1), plain = 0, all = 0, one = 0;
    gram_points *points = test_points(context, N, D, x);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    gram_discrepancy whole;
    int64_t index[M];
    (void)state;
    for (int t = 0; t < M; t++) index[t] = (int64_t)floor((t + 1) * (double)N / M) - 1;
    for (int stein = 0; stein < 2; stein++) {
        const double *given = stein ? scores : NULL;
        OK(context, gram_thin_reference(context, kernel, points, given, D, M, &plain, &all));
        OK(context, gram_thin_discrepancy(context, kernel, points, given, D, M, index, NULL, &one));
        assert_true(fabs(plain - one) <= 1e-12 * one);
        if (!stein) assert_true(all == 0);
    }
    OK(context, gram_stein_discrepancy(context, kernel, points, scores, D, NULL, &whole));
    assert_true(all == whole.discrepancy);
    REFUSED(context, gram_thin_reference(context, kernel, points, NULL, D, N + 1, &plain, &all), GRAM_ERROR_ARGUMENT,
            "thin_reference");
    gram_kernel_release(kernel);
    gram_points_release(points);
    free(x);
    free(scores);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_are_the_twins),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(splitting),
        cmocka_unit_test(weights_are_optimal),
        cmocka_unit_test(a_chain_gets_better),
        cmocka_unit_test(refusals),
        cmocka_unit_test(references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
