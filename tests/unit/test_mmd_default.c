/* The default two-sample test against a slow twin in long double that writes its rule down once more: looks, weights, scores, T; the looks
 * see what they are there for; the same bits for any number of threads; whole columns without anything to see; every allocation failing. */
#include <string.h>

#include "base/distribution_tails.h"
#include "oom.h"
#include "samples.h"
#include "test/two_sample/mmd.h"
#include "tile/random_labels.h"

typedef long double real;

/* ---- the slow twin ---- */

typedef struct slow {
    int64_t n, total, d, count;
    uint8_t *bits;
    real *t; /* of each labelling: the sum of (weight/tail)^sharpness */
    real sharpness;
} slow;

static int in(const slow *s, int64_t i, int64_t b)
{
    return gram_label(s->bits, s->count, i, b);
}

static void add_score(slow *s, int64_t b, real weight, real score)
{
    s->t[b] += powl(weight * expl(score), s->sharpness);
}

/* Mean 0, variance 1. */
static void slow_standardise(const slow *s, real *f)
{
    for (int64_t l = 0; l < s->d; l++) {
        real mean = 0, square = 0;
        for (int64_t i = 0; i < s->total; i++) mean += f[i * s->d + l] / (real)s->total;
        for (int64_t i = 0; i < s->total; i++) square += powl(f[i * s->d + l] - mean, 2) / (real)s->total;
        for (int64_t i = 0; i < s->total; i++)
            f[i * s->d + l] = square > 1e-20L ? (f[i * s->d + l] - mean) / sqrtl(square) : 0;
    }
}

static void slow_means(slow *s, const real *f, real weight)
{
    const real n = (real)s->n, m = (real)(s->total - s->n);
    for (int64_t b = 0; b < s->count; b++) {
        real inverse = 0;
        for (int64_t l = 0; l < s->d; l++) {
            real sum = 0;
            for (int64_t i = 0; i < s->total; i++) sum += in(s, i, b) ? f[i * s->d + l] : 0;
            inverse += 1 / erfcl(fabsl(sum) * sqrtl((n + m - 1) / (2 * n * m))) / (real)s->d;
        }
        add_score(s, b, weight, logl(inverse));
    }
}

static void slow_spreads(slow *s, const real *z, real weight)
{
    real *f = calloc((size_t)(s->total * s->d), sizeof *f);
    for (int64_t at = 0; at < s->total * s->d; at++) f[at] = powl(fminl(fabsl(z[at]), 3), 2);
    slow_standardise(s, f);
    slow_means(s, f, weight);
    free(f);
}

/* Hotelling's statistic of two columns by the inverse of the shrunk correlations written out. */
static void slow_directions(slow *s, const real *z, real weight)
{
    const real total = (real)s->total, n = (real)s->n, m = total - n;
    real r = 0, fourth = 0;
    for (int64_t i = 0; i < s->total; i++) {
        r += z[2 * i] * z[2 * i + 1] / total;
        fourth += powl(z[2 * i] * z[2 * i + 1], 2) / total;
    }
    const real shrunk = fmaxl(1e-3L, fminl(1, (fourth - r * r) / total / (r * r))), c = (1 - shrunk) * r;
    const real mean = 2 * (1 - c * r) / (1 - c * c);
    /* the trace of (R^-1 S)^2 */
    const real own = (1 - c * r) / (1 - c * c), cross = (r - c) / (1 - c * c),
               variance = 4 * (own * own + cross * cross);
    for (int64_t b = 0; b < s->count; b++) {
        real u = 0, v = 0;
        for (int64_t i = 0; i < s->total; i++)
            if (in(s, i, b)) u += z[2 * i], v += z[2 * i + 1];
        const real sum = (u * u + v * v - 2 * c * u * v) / (1 - c * c) * (total - 1) / (n * m);
        add_score(s, b, weight,
                  -log(gram_tail_gamma((double)(mean * mean / variance), (double)(sum * mean / variance))));
    }
}

static void slow_ranks(const slow *s, const real *x, real *f)
{
    for (int64_t l = 0; l < s->d; l++)
        for (int64_t i = 0; i < s->total; i++) {
            f[i * s->d + l] = 0;
            for (int64_t j = 0; j < s->total; j++) {
                const real a = x[i * s->d + l], b = x[j * s->d + l];
                f[i * s->d + l] += b < a ? 1 : b == a ? 0.5L : 0;
            }
        }
    slow_standardise(s, f);
}

static real squared_distance(const slow *s, const real *f, int64_t i, int64_t j)
{
    real sum = 0;
    for (int64_t l = 0; l < s->d; l++) sum += powl(f[i * s->d + l] - f[j * s->d + l], 2);
    return sum;
}

/* exp(-squared distance/squared): the U-statistic straight from its three means; its mean is 0, and its variance that over all labellings
 * by the formula for centred matrices. */
static void slow_kernel(slow *s, const real *f, real squared, real weight)
{
    const int64_t total = s->total;
    const real n = (real)s->n, m = (real)total - n, all = (real)total;
    real *c = calloc((size_t)(total * total), sizeof *c), *row = calloc((size_t)total, sizeof *row);
    real sum = 0, squares = 0, diagonal = 0, p[5] = {1};
    for (int64_t i = 0; i < total; i++)
        for (int64_t j = 0; j < total; j++) {
            c[i * total + j] = expl(-squared_distance(s, f, i, j) / squared);
            if (i != j) row[i] += c[i * total + j];
        }
    for (int64_t i = 0; i < total; i++) sum += row[i];
    for (int64_t i = 0; i < total; i++)
        for (int64_t j = 0; j < total; j++) {
            c[i * total + j] += sum / ((all - 1) * (all - 2)) - (row[i] + row[j]) / (all - 2);
            if (i > j) squares += powl(c[i * total + j], 2);
            if (i == j) diagonal += c[i * total + j] / all;
        }
    for (int k = 0; k < 4; k++) p[k + 1] = p[k] * (n - (real)k) / (all - (real)k);
    const real deviation = sqrtl(squares * (p[2] - 2 * p[3] + p[4]));
    const double start = (double)(diagonal / (2 * (1 / n + 1 / m) * deviation));
    for (int64_t b = 0; b < s->count; b++) {
        real q = 0;
        for (int64_t i = 0; i < total; i++)
            for (int64_t j = 0; j < i; j++) q += in(s, i, b) && in(s, j, b) ? c[i * total + j] : 0;
        add_score(s, b, weight, gram_tail_gamma_score(start + (double)(q / deviation), start, 1));
    }
    free(c);
    free(row);
}

static int by_size(const void *a, const void *b)
{
    const real x = *(const real *)a, y = *(const real *)b;
    return (x > y) - (x < y);
}

/* Neighbours 1 or cbrt(N), N^(2/5) or N^(2/3), (N - 1)/2, and geometric means between them in several columns. */
static void slow_widths(slow *s, const real *ranks)
{
    const real alone[] = {0.3L, 0, 1.6L, 0, 0.4L}, several[] = {2.4L, 0.7L, 6.5L, 0.7L, 1.4L};
    const double rows = (double)s->total;
    double k[5] = {s->d == 1 ? cbrt(rows) : 1, 0, pow(rows, s->d == 1 ? 2. / 3 : 2. / 5), 0, (rows - 1) / 2};
    real *all = calloc((size_t)(s->total * s->total), sizeof *all);
    int64_t count = 0;
    k[1] = sqrt(k[0] * k[2]);
    k[3] = sqrt(k[2] * k[4]);
    for (int64_t i = 0; i < s->total; i++)
        for (int64_t j = 0; j < i; j++)
            if (squared_distance(s, ranks, i, j) > 1e-9L) all[count++] = squared_distance(s, ranks, i, j);
    qsort(all, (size_t)count, sizeof *all, by_size);
    for (int a = 0; a < 5; a++) {
        const real weight = s->d == 1 ? alone[a] : several[a];
        if (weight > 0) slow_kernel(s, ranks, all[(int64_t)(k[a] / (rows - 1) * (double)count)], weight);
    }
    free(all);
}

/* The median heuristic's width is the library's. */
static real plain_width(gram_context *context, const slow *s, const double *pool)
{
    gram_points *points = test_points(context, s->total, s->d, pool);
    gram_kernel *open = test_kernel(context, "rbf"), *kernel = NULL;
    const double origin[2] = {0}, end[2] = {1};
    double k;
    OK(context, gram_kernel_resolve(context, open, points, &kernel));
    gram_points *one = test_points(context, 1, s->d, origin), *two = test_points(context, 1, s->d, end);
    OK(context, gram_matrix(context, kernel, one, two, &k, 1));
    gram_points_release(points);
    gram_points_release(one);
    gram_points_release(two);
    gram_kernel_release(open);
    gram_kernel_release(kernel);
    return -1 / logl(k); /* of rows at distance 1 */
}

static double slow_p(gram_context *context, int64_t n, int64_t m, int64_t d, const double *pool, int64_t permutations)
{
    slow s = {n, n + m, d, gram_labels_count(n + m, n, permutations), NULL, NULL, d == 1 ? 2 : 3};
    int64_t reached = 0;
    s.bits = calloc((size_t)gram_subset_bytes(s.total, s.count), 1);
    s.t = calloc((size_t)s.count, sizeof *s.t);
    real *x = calloc((size_t)(s.total * d), sizeof *x), *z = calloc((size_t)(s.total * d), sizeof *z);
    real *ranks = calloc((size_t)(s.total * d), sizeof *ranks);
    OK(context, gram_labels_make(context, 0, s.total, n, s.count, s.bits));
    for (int64_t at = 0; at < s.total * d; at++) x[at] = z[at] = pool[at];
    slow_standardise(&s, z);
    slow_ranks(&s, x, ranks);
    slow_kernel(&s, x, plain_width(context, &s, pool), d == 1 ? 0.1L : 0.5L);
    slow_widths(&s, ranks);
    slow_means(&s, z, d == 1 ? 4 : 2.8L);
    if (d == 2) slow_directions(&s, z, 4);
    slow_means(&s, ranks, d == 1 ? 0.3L : 2.4L);
    slow_spreads(&s, z, d == 1 ? 0.3L : 1.8L);
    for (int64_t b = 0; b < s.count; b++) reached += s.t[b] >= s.t[0] * (1 - 1e-8L);
    free(s.bits);
    free(s.t);
    free(x);
    free(z);
    free(ranks);
    return (double)reached / (double)s.count;
}

static gram_mmd_options options_of(int64_t permutations)
{
    gram_mmd_options options;
    gram_mmd_options_init(&options, sizeof options);
    options.permutations = permutations;
    return options;
}

/* Shifted, spread, and on a grid, where ties abound; all labellings of small ones, and some of larger ones. */
static void p_values_of_the_twin(void **state)
{
    static const int64_t cases[][4] = {{4, 4, 1, 0},   {4, 5, 2, 0},   {5, 5, 1, 1},   {6, 6, 2, 1},
                                       {20, 25, 1, 0}, {20, 25, 2, 0}, {25, 30, 2, 1}, {30, 33, 1, 2}};
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const int64_t n = cases[c][0], m = cases[c][1], d = cases[c][2];
        const gram_mmd_options options = options_of(n < 10 ? 2000 : 99);
        double *pool = sample_normal(40 + c, (n + m) * d);
        for (int64_t at = 0; at < (n + m) * d; at++) {
            if (at >= n * d && cases[c][3] != 2) pool[at] = 1.2 * pool[at] + (at % d == 0 ? 0.5 : 0);
            if (cases[c][3] == 1) pool[at] = floor(2 * pool[at]);
        }
        for (int64_t l = 0; l < d; l++)
            pool[l] = -9 + (double)l; /* the smallest of all: the first sample comes first */
        const double got = sample_test(context, NULL, &options, n, pool, m, pool + n * d, d);
        const double want = slow_p(context, n, m, d, pool, options.permutations);
        if (got != want) FAIL_TEST("%d and %d rows, d = %d: p = %g, want %g", (int)n, (int)m, (int)d, got, want);
        if (sample_test(context, NULL, &options, m, pool + n * d, n, pool, d) != got) FAIL_TEST("not exchanged");
        free(pool);
    }
    gram_context_destroy(context);
}

/* ---- what looks are for ---- */

typedef struct difference {
    gram_mmd_family family;
    int64_t d;
    double shift, spread, heavy, correlation;
} difference;

static void looks_see_what_they_are_for(void **state)
{
    enum { N = 120 };
    static const difference cases[] = {{GRAM_MMD_FAMILY_MEANS, 20, 0.9, 1, 0, 0},
                                       {GRAM_MMD_FAMILY_SPREADS, 1, 0, 1.7, 0, 0},
                                       {GRAM_MMD_FAMILY_RANKS, 2, 0.9, 1, 1, 0},
                                       {GRAM_MMD_FAMILY_RANKS, 2, 0, 1, 0, 0.9}};
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const difference *s = &cases[c];
        double *x = sample_normal(7, N * s->d), *y = sample_normal(8, N * s->d), *u = sample_normal(9, 2 * N * s->d);
        const gram_mmd_options options = options_of(199);
        gram_mmd_result result;
        for (int64_t i = 0; i < N * s->d; i++) {
            if (s->heavy > 0) x[i] /= u[i], y[i] /= u[N * s->d + i];
            if (i % 2 && s->correlation > 0)
                y[i] = s->correlation * y[i - 1] + sqrt(1 - s->correlation * s->correlation) * y[i];
            y[i] = s->spread * y[i] + (i % s->d == 0 || s->heavy > 0 ? s->shift : 0);
        }
        gram_points *px = test_points(context, N, s->d, x), *py = test_points(context, N, s->d, y);
        gram_mmd_result_init(&result, sizeof result);
        OK(context, gram_mmd_test(context, NULL, px, py, &options, &result));
        if (result.p_value > 0.01) FAIL_TEST("case %d: p = %g", (int)c, result.p_value);
        assert_int_equal(result.family[result.best], s->family);
        for (int64_t k = 0; k < result.width_count; k++)
            assert_true(result.width_p[k] > 0 && result.width_p[k] <= 1 &&
                        (result.widths[k] > 0) == (result.family[k] <= GRAM_MMD_FAMILY_RANKS));
        gram_mmd_result_clear(&result);
        gram_points_release(px);
        gram_points_release(py);
        free(x);
        free(y);
        free(u);
    }
    gram_context_destroy(context);
}

/* A constant column beside a copy of another one: correlations of 1 and none. */
static void odd_columns(void **state)
{
    enum { N = 30, D = 4 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *x = sample_normal(1, N * D), *y = sample_normal(2, N * D);
    const gram_mmd_options options = options_of(199);
    (void)state;
    for (int i = 0; i < N; i++) {
        x[i * D + 1] = x[i * D], y[i * D + 1] = y[i * D];
        x[i * D + 2] = y[i * D + 2] = 5;
    }
    assert_true(sample_test(context, NULL, &options, N, x, N, y, D) > 0.01);
    for (int i = 0; i < N; i++) y[i * D + 3] += 2;
    assert_true(sample_test(context, NULL, &options, N, x, N, y, D) <= 0.005);
    free(x);
    free(y);
    gram_context_destroy(context);
}

static void same_bits_for_any_threads(void **state)
{
    static const int64_t sizes[][3] = {{90, 130, 3}, {2100, 2200, 2}};
    (void)state;
    for (int s = 0; s < 2; s++) {
        const int64_t n = sizes[s][0], m = sizes[s][1], d = sizes[s][2];
        double *x = sample_normal(3, n * d), *y = sample_normal(4, m * d);
        gram_mmd_result results[2];
        const gram_mmd_options options = options_of(99);
        for (int r = 0; r < 2; r++) {
            gram_context *context = test_context(r ? 3 : 1, GRAM_ISA_AUTO);
            gram_points *px = test_points(context, n, d, x), *py = test_points(context, m, d, y);
            gram_mmd_result_init(&results[r], sizeof results[r]);
            OK(context, gram_mmd_test(context, NULL, px, py, &options, &results[r]));
            gram_mmd_result_clear(&results[r]);
            gram_points_release(px);
            gram_points_release(py);
            gram_context_destroy(context);
        }
        assert_true(results[0].p_value == results[1].p_value && results[0].statistic == results[1].statistic);
        assert_memory_equal(results[0].width_p, results[1].width_p, sizeof results[0].width_p);
        free(x);
        free(y);
    }
}

/* ---- every allocation failing ---- */

static gram_status play(gram_context *context)
{
    static const double x[] = {0, 1, 2, 3, 5, 4, 7, 7, 1, 0, 2, 2}, y[] = {5, 6, 4, 4, 8, 7, 9, 9, 1, 8, 3, 6};
    gram_points *px = NULL, *py = NULL;
    const gram_mmd_options options = options_of(9);
    gram_mmd_result result;
    gram_mmd_result_init(&result, sizeof result);
    gram_status status = gram_points_create_f64(context, 6, 2, x, 2, &px);
    if (status >= 0) status = gram_points_create_f64(context, 6, 2, y, 2, &py);
    if (status >= 0) status = gram_mmd_test(context, NULL, px, py, &options, &result);
    gram_mmd_result_clear(&result);
    gram_points_release(px);
    gram_points_release(py);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    for (int for_good = 0; for_good < 2; for_good++) assert_true(oom_each(play, for_good) > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(p_values_of_the_twin),
                                       cmocka_unit_test(looks_see_what_they_are_for), cmocka_unit_test(odd_columns),
                                       cmocka_unit_test(same_bits_for_any_threads), cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
