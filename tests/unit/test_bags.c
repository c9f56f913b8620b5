/* Bags: mean(k) and after(a, b) against sums over all pairs of rows, written out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "points/pooled_points.h"
#include "support.h"

enum { N = 130, M = 40, D = 2, MOST = 3000 };

typedef struct bags {
    int64_t n, start[N + 1];
    double rows[MOST * D], weights[MOST];
    int weighted;
    gram_points *points;
} bags;

static double uniform(uint64_t *seed)
{
    return (double)(test_bits(seed) >> 11) * 0x1p-53;
}

/* Bags of 1 to 9 rows, and one of 150, about places of their own; every tenth is a copy of the one before it. */
static void make_rows(uint64_t seed, int64_t n, bags *b)
{
    b->n = n;
    b->start[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = b->start[i], before = i % 10 == 9 ? first - b->start[i - 1] : 0;
        const int64_t count = before ? before : i == 3 ? 150 : 1 + (int64_t)(test_bits(&seed) % 9);
        const double place = 2 * uniform(&seed);
        b->start[i + 1] = first + count;
        for (int64_t k = 0; k < count * D; k++)
            b->rows[first * D + k] = before ? b->rows[(first - before) * D + k] : place + uniform(&seed);
    }
}

static void make_bags(gram_context *context, uint64_t seed, int64_t n, bags *b)
{
    make_rows(seed, n, b);
    OK(context, gram_points_create_bags(context, n, D, b->start, b->rows, &b->points));
}

/* Weights from 0 to 1, with some rows of each size that do not count at all; copies of a bag have its weights. */
static void make_weighted(gram_context *context, uint64_t seed, int64_t n, bags *b)
{
    make_rows(seed, n, b);
    b->weighted = 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = b->start[i]; k < b->start[i + 1]; k++) {
            const double drawn = uniform(&seed);
            b->weights[k] = i % 10 == 9                      ? b->weights[k - (b->start[i] - b->start[i - 1])]
                            : drawn < 0.2 && k > b->start[i] ? 0
                                                             : 3 * drawn + 0.01;
        }
    OK(context, gram_points_create_weighted_bags(context, n, D, b->start, b->rows, b->weights, &b->points));
}

/* ---- twins ---- */

static double square(const double *x, const double *y)
{
    double sum = 0;
    for (int l = 0; l < D; l++) sum += (x[l] - y[l]) * (x[l] - y[l]);
    return sum;
}

typedef double (*row_kernel)(const double *x, const double *y);

static double rbf7(const double *x, const double *y)
{
    return exp(-square(x, y) / (2 * 0.7 * 0.7));
}

static double laplace_and_linear(const double *x, const double *y)
{
    return exp(-sqrt(square(x, y)) / 0.5) + 2 * (x[1] * y[1] + 0.5);
}

static double mean_twin(row_kernel k, const bags *a, int64_t i, const bags *b, int64_t j)
{
    long double sum = 0, all = 0;
    for (int64_t p = a->start[i]; p < a->start[i + 1]; p++)
        for (int64_t q = b->start[j]; q < b->start[j + 1]; q++) {
            const long double weight = (a->weighted ? a->weights[p] : 1.0L) * (b->weighted ? b->weights[q] : 1.0L);
            sum += weight * (long double)k(a->rows + p * D, b->rows + q * D);
            all += weight;
        }
    return (double)(sum / all);
}

static double square_twin(row_kernel k, const bags *a, int64_t i, const bags *b, int64_t j)
{
    return fmax(0, mean_twin(k, a, i, a, i) + mean_twin(k, b, j, b, j) - 2 * mean_twin(k, a, i, b, j));
}

/* What is made of mean and squared distance. */
typedef struct bag_case {
    const char *kernel;
    row_kernel rows;
    double (*of)(double mean, double square, double norms);
    double tolerance;
} bag_case;

static double as_mean(double mean, double square, double norms)
{
    (void)square, (void)norms;
    return mean;
}

static double as_gaussian(double mean, double square, double norms)
{
    (void)mean, (void)norms;
    return exp(-square / (2 * 0.3 * 0.3));
}

static double as_sum(double mean, double square, double norms)
{
    (void)norms;
    return 2 * mean + 1 / (1 + square / (2 * 1.5 * 0.16)) / sqrt(1 + square / (2 * 1.5 * 0.16));
}

static double as_normal(double mean, double square, double norms)
{
    (void)square;
    return mean / norms;
}

static const bag_case CASES[] = {
    {"mean(rbf(ell=0.7))", rbf7, as_mean, 1e-13},
    {"mean(laplace(ell=0.5) + 2*on(2, linear(c=0.5)))", laplace_and_linear, as_mean, 1e-13},
    {"after(mean(rbf(ell=0.7)), rbf(ell=0.3))", rbf7, as_gaussian, 1e-12},
    {"2*mean(rbf(ell=0.7)) + after(mean(rbf(ell=0.7)), rq(alpha=1.5, ell=0.4))", rbf7, as_sum, 1e-12},
    {"normalize(mean(rbf(ell=0.7)))", rbf7, as_normal, 1e-13},
};
enum { CASE_COUNT = sizeof CASES / sizeof *CASES };

static void fill_twin(const bag_case *c, const bags *x, const bags *y, double *out)
{
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t j = 0; j < y->n; j++) {
            const double norms = sqrt(mean_twin(c->rows, x, i, x, i) * mean_twin(c->rows, y, j, y, j));
            out[i * y->n + j] = c->of(mean_twin(c->rows, x, i, y, j), square_twin(c->rows, x, i, y, j), norms);
        }
}

/* Of x with itself and with y; both or one of them may have weights. */
static void compare_with_twin(gram_context *context, const bags *x, const bags *y)
{
    double *wanted = test_numbers(N * N);
    for (int c = 0; c < CASE_COUNT; c++) {
        gram_kernel *kernel = test_kernel(context, CASES[c].kernel);
        double *k = test_matrix(context, kernel, x->points, NULL),
               *cross = test_matrix(context, kernel, x->points, y->points);
        fill_twin(&CASES[c], x, x, wanted);
        test_near("K(X, X)", CASES[c].kernel, N * N, k, wanted, CASES[c].tolerance);
        for (int64_t i = 0; i < N * N; i++) assert_true(k[i] == k[i % N * N + i / N]);
        fill_twin(&CASES[c], x, y, wanted);
        test_near("K(X, Y)", CASES[c].kernel, N * M, cross, wanted, CASES[c].tolerance);
        free(k), free(cross);
        gram_kernel_release(kernel);
    }
    free(wanted);
}

static void kernels_are_sums_over_pairs(void **state)
{
    static bags x, y;
    make_bags(*state, 1, N, &x);
    make_bags(*state, 2, M, &y);
    compare_with_twin(*state, &x, &y);
    gram_points_release(x.points), gram_points_release(y.points);
}

static void weighted_kernels_are_weighted_sums(void **state)
{
    static bags x, y, alike;
    make_weighted(*state, 1, N, &x);
    make_weighted(*state, 2, M, &y);
    make_bags(*state, 2, M, &alike);
    compare_with_twin(*state, &x, &y);
    compare_with_twin(*state, &x, &alike);
    gram_points_release(x.points), gram_points_release(y.points), gram_points_release(alike.points);
}

static const char *const BOTH_WAYS[] = {"after(mean(rbf(ell=0.7)), rbf(ell=0.3))", "mean(rbf(ell=0.7), fourier=40)"};

/* A weight of 2 is a row that is there twice, by pairs and by features. */
static void whole_weights_are_repeated_rows(void **state)
{
    gram_context *context = *state;
    static bags x, twice;
    uint64_t seed = 77;
    make_rows(1, N, &x);
    for (int64_t i = 0, to = 0; i < N; i++) {
        for (int64_t k = x.start[i]; k < x.start[i + 1]; k++) {
            x.weights[k] = 1 + (double)(test_bits(&seed) % 3);
            for (int copy = 0; copy < (int)x.weights[k]; copy++, to++)
                memcpy(twice.rows + to * D, x.rows + k * D, D * sizeof(double));
        }
        twice.start[i + 1] = to;
    }
    OK(context, gram_points_create_weighted_bags(context, N, D, x.start, x.rows, x.weights, &x.points));
    OK(context, gram_points_create_bags(context, N, D, twice.start, twice.rows, &twice.points));
    for (int t = 0; t < 2; t++) {
        gram_kernel *kernel = test_kernel(context, BOTH_WAYS[t]);
        double *k = test_matrix(context, kernel, x.points, NULL),
               *wanted = test_matrix(context, kernel, twice.points, NULL);
        test_near("repeated rows", BOTH_WAYS[t], N * N, k, wanted, 1e-12);
        free(k), free(wanted);
        gram_kernel_release(kernel);
    }
    gram_points_release(x.points), gram_points_release(twice.points);
}

/* Equal weights, whatever they are, are none. */
static void equal_weights_are_none(void **state)
{
    gram_context *context = *state;
    static bags x, plain;
    make_rows(1, N, &x);
    make_bags(context, 1, N, &plain);
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = x.start[i]; k < x.start[i + 1]; k++) x.weights[k] = 1e-3 * (double)(i + 1);
    OK(context, gram_points_create_weighted_bags(context, N, D, x.start, x.rows, x.weights, &x.points));
    for (int t = 0; t < 2; t++) {
        gram_kernel *kernel = test_kernel(context, BOTH_WAYS[t]);
        double *k = test_matrix(context, kernel, x.points, NULL),
               *wanted = test_matrix(context, kernel, plain.points, NULL);
        test_near("equal weights", BOTH_WAYS[t], N * N, k, wanted, 1e-12);
        free(k), free(wanted);
        gram_kernel_release(kernel);
    }
    gram_points_release(x.points), gram_points_release(plain.points);
}

/* Of a set, of a copy of it and of a part of it, the same bits; copies of a bag are at distance 0. */
static void an_entry_depends_on_its_two_bags(void **state)
{
    gram_context *context = *state;
    static bags x, copy, part;
    gram_kernel *kernel = test_kernel(context, "after(mean(rbf(ell=0.7)), laplace(ell=0.3))");
    make_bags(context, 1, N, &x);
    make_bags(context, 1, N, &copy);
    make_rows(1, N, &part);
    part.n = M;
    OK(context, gram_points_create_bags(context, M, D, part.start, part.rows, &part.points));
    double *k = test_matrix(context, kernel, x.points, NULL),
           *other = test_matrix(context, kernel, x.points, copy.points);
    double *some = test_matrix(context, kernel, part.points, x.points);
    for (int64_t i = 0; i < N; i++) {
        assert_true(k[i * N + i] == 1 && other[i * N + i] == 1);
        if (i % 10 == 9) assert_true(k[i * N + i - 1] == 1);
    }
    test_near("of a copy", NULL, N * N, other, k, 1e-12); /* above the diagonal sums run the other way */
    for (int64_t i = 0; i < M; i++) assert_true(test_same_bits(1, N, some + i * N, N, other + i * N, N));
    free(k), free(other), free(some);
    gram_kernel_release(kernel);
    gram_points_release(x.points), gram_points_release(copy.points), gram_points_release(part.points);
}

static void fill_for_threads(gram_context *context, double *out)
{
    static const char *const texts[] = {"after(mean(rbf(ell=0.7)), rbf(ell=0.3))",
                                        "after(mean(rbf(ell=0.7), fourier=40), rbf(ell=0.3))"};
    static bags x;
    make_weighted(context, 1, N, &x);
    for (int t = 0; t < 2; t++) {
        gram_kernel *kernel = test_kernel(context, texts[t]);
        OK(context, gram_matrix(context, kernel, x.points, NULL, out + t * N * N, N));
        gram_kernel_release(kernel);
    }
    gram_points_release(x.points);
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    test_any_threads(2 * N * N, fill_for_threads);
}

/* What a model keeps of its bags, and two samples as one: weights go with the rows, and are 1 where one sample has none. */
static void copies_keep_the_weights(void **state)
{
    gram_context *context = *state;
    static bags x, alike;
    gram_pool pool = {0};
    gram_objects *turned = NULL;
    int64_t which[N];
    make_weighted(context, 1, N, &x);
    make_bags(context, 2, M, &alike);
    for (int64_t i = 0; i < N; i++) which[i] = N - 1 - i;
    OK(context, gram_objects_gather(context, x.points->objects[0], N, which, &turned));
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < turned->start[i + 1] - turned->start[i]; k++)
            assert_true(turned->weight[turned->start[i] + k] == x.weights[x.start[which[i]] + k]);
    OK(context, gram_pool_create(context, "test", x.points, alike.points, &pool));
    gram_kernel *kernel = test_kernel(context, "mean(rbf(ell=0.7))");
    double *k = test_matrix(context, kernel, pool.points, x.points),
           *own = test_matrix(context, kernel, x.points, x.points),
           *other = test_matrix(context, kernel, alike.points, x.points);
    test_near("the first sample", NULL, N * N, k, own, 1e-13);
    test_near("the second sample", NULL, M * N, k + N * N, other, 1e-13);
    free(k), free(own), free(other);
    gram_kernel_release(kernel);
    gram_objects_release(turned);
    gram_pool_destroy(context, &pool);
    gram_points_release(x.points), gram_points_release(alike.points);
}

/* ---- random features ---- */

/* E of the squared error is at most 1/D for features of height 1. */
static void features_come_near_the_mean(void **state)
{
    gram_context *context = *state;
    static bags x;
    make_bags(context, 1, N, &x);
    gram_kernel *exact = test_kernel(context, "mean(rbf(ell=0.7))");
    double *wanted = test_matrix(context, exact, x.points, NULL), first = 0;
    for (int features = 16; features <= 4096; features *= 16) {
        char text[64];
        (void)snprintf(text, sizeof text, "mean(rbf(ell=0.7), fourier=%d)", features);
        gram_kernel *kernel = test_kernel(context, text);
        test_prints(kernel, text);
        double *k = test_matrix(context, kernel, x.points, NULL), sum = 0;
        for (int64_t i = 0; i < N * N; i++) sum += pow(k[i] - wanted[i], 2) / (N * N);
        if (features == 16) first = sum;
        if (sum > 1.0 / features || (features == 4096 && sum > first / 20))
            FAIL_TEST("%s: mean squared error %g", text, sum);
        free(k);
        gram_kernel_release(kernel);
    }
    free(wanted);
    gram_kernel_release(exact);
    gram_points_release(x.points);
}

/* The outer kernel of features sees |phi_a - phi_b|, which their inner products tell, too. */
static void after_features_sees_their_distance(void **state)
{
    gram_context *context = *state;
    static bags x, y;
    make_bags(context, 1, N, &x);
    make_bags(context, 2, M, &y);
    for (int few = 0; few < 2; few++) { /* distances of many columns come from products */
        gram_kernel *mean = test_kernel(context, few ? "mean(matern(nu=1.5, ell=0.7), fourier=20)"
                                                     : "mean(matern(nu=1.5, ell=0.7), fourier=300)");
        gram_kernel *after =
            test_kernel(context, few ? "after(mean(matern(nu=1.5, ell=0.7), fourier=20), rbf(ell=0.4))"
                                     : "after(mean(matern(nu=1.5, ell=0.7), fourier=300), rbf(ell=0.4))");
        double *own = test_matrix(context, mean, x.points, NULL), *other = test_matrix(context, mean, y.points, NULL);
        double *dots = test_matrix(context, mean, x.points, y.points),
               *k = test_matrix(context, after, x.points, y.points);
        for (int64_t i = 0; i < N * M; i++) {
            const int64_t a = i / M, b = i % M;
            dots[i] = exp(-(own[a * N + a] + other[b * M + b] - 2 * dots[i]) / (2 * 0.4 * 0.4));
        }
        test_near("after features", NULL, N * M, k, dots, 1e-12);
        free(own), free(other), free(dots), free(k);
        gram_kernel_release(mean), gram_kernel_release(after);
    }
    gram_points_release(x.points), gram_points_release(y.points);
}

/* ---- after, of numbers ---- */

static void after_of_an_inner_product_is_the_kernel(void **state)
{
    gram_context *context = *state;
    static const char *const names[] = {
        "rbf(ell=0.8)",         "laplace(ell=0.8)", "matern(nu=1.5, ell=0.8)", "matern(nu=1.7, ell=0.8)",
        "rq(alpha=2, ell=0.8)", "imq(c=0.8)",       "powexp(p=1.3, ell=0.8)"};
    double *data = test_spread(5, N, 3);
    float narrow[N * 3];
    for (int i = 0; i < N * 3; i++) narrow[i] = (float)data[i];
    gram_points *points = test_points(context, N, 3, data), *single = NULL;
    OK(context, gram_points_create_f32(context, N, 3, narrow, 3, &single));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[96];
        (void)snprintf(text, sizeof text, "after(linear(c=0.3), %s)", names[i]);
        gram_kernel *after = test_kernel(context, text), *plain = test_kernel(context, names[i]);
        double *k = test_matrix(context, after, points, NULL), *wanted = test_matrix(context, plain, points, NULL);
        double *rough = test_matrix(context, after, single, NULL);
        test_near("after", text, N * N, k, wanted, 1e-8); /* the root of what subtraction leaves at near points */
        test_near("of f32", text, N * N, rough, wanted, 1e-5);
        for (int64_t j = 0; j < N; j++)
            assert_true(k[j * N + j] == wanted[j * N + j] && rough[j * N + j] == wanted[j * N + j]);
        free(k), free(wanted), free(rough);
        gram_kernel_release(after), gram_kernel_release(plain);
    }
    gram_points_release(points), gram_points_release(single);
    free(data);
}

/* ---- numbers of the kernel ---- */

static void check_derivatives(gram_context *context, const bags *x)
{
    static double weights[N * N];
    uint64_t seed = 9;
    gram_kernel *kernel = test_kernel(context, "1.3*after(mean(rbf(ell=0.7)), rq(alpha=1.5, ell=0.4))");
    for (int64_t i = 0; i < N * N; i++) weights[i] = uniform(&seed) - 0.5;
    const gram_weights w = {.dense = weights, .ld = N};
    double got[4], values[4];
    assert_int_equal(test_parameter_values(context, kernel, values), 4);
    OK(context, gram_matrix_parameter_gradient(context, kernel, x->points, NULL, &w, got));
    for (int p = 0; p < 4; p++) {
        double wanted = 0;
        for (int side = -1; side <= 1; side += 2) {
            gram_kernel *moved = test_moved(context, kernel, p, side * 1e-5);
            double *k = test_matrix(context, moved, x->points, NULL);
            for (int64_t i = 0; i < N * N; i++) wanted += side * weights[i] * k[i] / 2e-5;
            free(k);
            gram_kernel_release(moved);
        }
        test_near("derivative", NULL, 1, &got[p], &wanted, 1e-6);
    }
    gram_kernel_release(kernel);
}

static void derivatives_are_those_of_the_sum(void **state)
{
    static bags x, weighted;
    make_bags(*state, 1, N, &x);
    make_weighted(*state, 1, N, &weighted);
    check_derivatives(*state, &x);
    check_derivatives(*state, &weighted);
    gram_points_release(x.points), gram_points_release(weighted.points);
}

static double median_of(int64_t count, double *numbers)
{
    test_sort(count, numbers);
    return count % 2 ? numbers[count / 2] : 0.5 * (numbers[count / 2 - 1] + numbers[count / 2]);
}

/* The length inside is the median over rows, the one outside the median of what the kernel inside makes of the bags. */
static void open_numbers_are_medians(void **state)
{
    gram_context *context = *state;
    static bags x;
    make_bags(context, 1, M, &x);
    const int64_t rows = x.start[M];
    double *pairs = test_numbers(rows * rows), got[2];
    int64_t count = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < i; j++)
            if (square(x.rows + i * D, x.rows + j * D) > 0)
                pairs[count++] = sqrt(square(x.rows + i * D, x.rows + j * D));
    const double inner = median_of(count, pairs);
    gram_kernel *open = test_kernel(context, "after(mean(rbf), rbf)"), *kernel = NULL, *mean = NULL;
    OK(context, gram_kernel_resolve(context, open, x.points, &kernel));
    assert_int_equal(test_parameter_values(context, kernel, got), 2);
    test_near("ell inside", NULL, 1, &got[0], &inner, 1e-12);
    char text[64];
    (void)snprintf(text, sizeof text, "mean(rbf(ell=%.17g))", inner);
    mean = test_kernel(context, text);
    double *k = test_matrix(context, mean, x.points, NULL);
    count = 0;
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < i; j++) {
            const double distance = k[i * M + i] + k[j * M + j] - 2 * k[i * M + j];
            if (distance > 1e-15) pairs[count++] = sqrt(distance);
        }
    const double outer = median_of(count, pairs);
    test_near("ell outside", NULL, 1, &got[1], &outer, 1e-9);
    free(pairs), free(k);
    gram_kernel_release(open), gram_kernel_release(kernel), gram_kernel_release(mean);
    gram_points_release(x.points);
}

/* ---- what does not fit ---- */

static void what_does_not_fit_is_named(void **state)
{
    gram_context *context = *state;
    static const double rows[] = {1, 2, 3, NAN}, wide[] = {1, 2, 3, 4};
    static const int64_t empty[] = {0, 2, 2}, two[] = {0, 2, 4}, one[] = {0, 1, 2};
    double out[4];
    gram_points *points = NULL, *plain = test_points(context, 2, 2, wide), *pairs = NULL;
    gram_kernel *refused = NULL, *mean = test_kernel(context, "mean(rbf(ell=1))"),
                *rbf = test_kernel(context, "rbf(ell=1)");
    gram_kernel *drawn = test_kernel(context, "mean(linear(c=1), fourier=8)");
    REFUSED(context, gram_points_create_bags(context, 2, 1, empty, rows, &points), GRAM_ERROR_DATA,
            "bag 1 has no rows");
    REFUSED(context, gram_points_create_bags(context, 2, 1, two, rows, &points), GRAM_ERROR_DATA,
            "bag 1: row 1, column 0 is nan");
    static const double below[] = {1, -2, 1, 1}, none[] = {1, 1, 0, 0}, absent[] = {1, 1, NAN, 1};
    static const struct {
        const double *weights;
        const char *message;
    } weighed[] = {{below, "bag 0: the weight of row 1 is -2"},
                   {none, "bag 1: its weights add up to 0"},
                   {absent, "bag 1: the weight of row 0 is nan"}};
    for (int i = 0; i < 3; i++)
        REFUSED(context, gram_points_create_weighted_bags(context, 2, 1, two, wide, weighed[i].weights, &points),
                GRAM_ERROR_DATA, weighed[i].message);
    OK(context, gram_points_create_bags(context, 2, 1, one, wide, &points));
    OK(context, gram_points_create_bags(context, 2, 2, one, wide, &pairs));
    OK(context, gram_matrix(context, mean, points, NULL, out, 2)); /* bags of one row are their rows */
    assert_true(out[0] == 1 && fabs(out[1] - exp(-0.5)) < 1e-15);
    REFUSED(context, gram_matrix(context, mean, plain, NULL, out, 2), GRAM_ERROR_DIMENSION, "takes one, of bags");
    REFUSED(context, gram_matrix(context, mean, points, pairs, out, 2), GRAM_ERROR_DIMENSION,
            "bags of x have 1 columns");
    REFUSED(context, gram_matrix(context, rbf, points, NULL, out, 2), GRAM_ERROR_UNSUPPORTED, "rbf does not take bags");
    REFUSED(context, gram_matrix(context, drawn, points, NULL, out, 2), GRAM_ERROR_UNSUPPORTED, "linear");
    REFUSED(context, gram_kernel_parse(context, "after(linear, wendland(k=1))", &refused), GRAM_ERROR_ARGUMENT,
            "wendland");
    REFUSED(context, gram_kernel_parse(context, "after(linear, 2*rbf)", &refused), GRAM_ERROR_ARGUMENT,
            "must be one of a distance");
    REFUSED(context, gram_kernel_parse(context, "after(linear, rbf(ell=[1,2]))", &refused), GRAM_ERROR_ARGUMENT,
            "one length-scale");
    REFUSED(context, gram_kernel_parse(context, "after(linear)", &refused), GRAM_ERROR_SYNTAX, "',' and a kernel");
    REFUSED(context, gram_kernel_parse(context, "mean(rbf, 3)", &refused), GRAM_ERROR_SYNTAX, "fourier");
    gram_kernel_release(mean), gram_kernel_release(rbf), gram_kernel_release(drawn);
    gram_points_release(points), gram_points_release(plain), gram_points_release(pairs);
}

/* ---- memory ---- */

static gram_status play(gram_context *context)
{
    static const char *const texts[] = {"after(mean(rbf), rbf)", "after(mean(rbf, fourier=8), laplace)"};
    static bags x;
    static double out[20 * 20];
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL, *set = NULL;
    gram_points *points = NULL;
    make_rows(4, 20, &x);
    for (int64_t k = 0; k < x.start[20]; k++) x.weights[k] = (double)(k % 4 + 1);
    STEP(gram_points_create_weighted_bags(context, 20, D, x.start, x.rows, x.weights, &points));
    for (int t = 0; t < 2; t++) {
        gram_kernel_release(kernel), gram_kernel_release(set);
        kernel = set = NULL;
        STEP(gram_kernel_parse(context, texts[t], &kernel));
        STEP(gram_kernel_resolve(context, kernel, points, &set));
        STEP(gram_matrix(context, set, points, NULL, out, 20));
    }
done:
    gram_kernel_release(kernel), gram_kernel_release(set);
    gram_points_release(points);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    oom_all(play, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_sums_over_pairs),
        cmocka_unit_test(weighted_kernels_are_weighted_sums),
        cmocka_unit_test(whole_weights_are_repeated_rows),
        cmocka_unit_test(equal_weights_are_none),
        cmocka_unit_test(copies_keep_the_weights),
        cmocka_unit_test(an_entry_depends_on_its_two_bags),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(features_come_near_the_mean),
        cmocka_unit_test(after_features_sees_their_distance),
        cmocka_unit_test(after_of_an_inner_product_is_the_kernel),
        cmocka_unit_test(derivatives_are_those_of_the_sum),
        cmocka_unit_test(open_numbers_are_medians),
        cmocka_unit_test(what_does_not_fit_is_named),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
