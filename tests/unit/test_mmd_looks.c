/* The aggregated two-sample test: p-values against a slow twin in long double (also in many columns, where narrow widths see hardly
 * anything), against all labellings of tiny samples, the same whichever sample comes first, the road of groups for large samples
 * against sums over its own groups, and every allocation failing. */
#include <string.h>

#include "oom.h"
#include "samples.h"
#include "test/two_sample/mmd.h"
#include "tile/random_labels.h"

enum { WIDTHS = 7 };

/* ---- the slow twin ---- */

/* z of a labelling in long double: q over its deviation, from the centred matrix as mmd.h defines it. */
typedef struct slow {
    int64_t n, total, count;
    const uint8_t *bits;
    long double *c; /* total x total, centred */
} slow;

/* Returns the size of the numbers that were added up. */
static long double slow_centre(slow *s)
{
    const int64_t total = s->total;
    long double *rows = calloc((size_t)total, sizeof *rows), all = 0, most = 0;
    for (int64_t i = 0; i < total; i++) {
        for (int64_t j = 0; j < total; j++) rows[i] += i == j ? 0 : s->c[i * total + j];
        all += rows[i];
        most = fmaxl(most, fabsl(rows[i]) / (long double)(total - 2));
    }
    const long double offset = all / ((long double)(total - 1) * (long double)(total - 2));
    for (int64_t i = 0; i < total; i++)
        for (int64_t j = 0; j < total; j++)
            s->c[i * total + j] += offset - (rows[i] + rows[j]) / (long double)(total - 2);
    free(rows);
    return 1 + 2 * most + offset;
}

static long double slow_z(const slow *s, int64_t b)
{
    long double q = 0, squares = 0, p[5] = {1};
    for (int64_t i = 0; i < s->total; i++)
        for (int64_t j = 0; j < i; j++) {
            const long double c = s->c[i * s->total + j];
            squares += c * c;
            if (gram_label(s->bits, s->count, i, b) && gram_label(s->bits, s->count, j, b)) q += c;
        }
    for (int k = 0; k < 4; k++) p[k + 1] = p[k] * (long double)(s->n - k) / (long double)(s->total - k);
    return q / sqrtl(squares * (p[2] - 2 * p[3] + p[4]));
}

/* The p-value of rbf at the widths 2^least, ..., 2^(least + 6) times ell; x has fewer rows than y. */
static double slow_p(gram_context *context, int64_t n, const double *x, int64_t m, const double *y, int64_t d,
                     double ell, int least, int64_t permutations)
{
    const int64_t total = n + m, count = gram_labels_count(total, n, permutations);
    uint8_t *bits = calloc((size_t)gram_subset_bytes(total, count), 1);
    long double *most = calloc((size_t)count, sizeof *most);
    slow s = {n, total, count, bits, calloc((size_t)(total * total), sizeof(long double))};
    int64_t reached = 0;
    int seeing = 0;
    OK(context, gram_labels_make(context, 0, total, n, count, bits));
    for (int k = 0; k < WIDTHS; k++) {
        const double width = ldexp(ell, least + k);
        long double off = 0;
        for (int64_t i = 0; i < total; i++)
            for (int64_t j = 0; j < total; j++) {
                const double *a = i < n ? x + i * d : y + (i - n) * d, *b = j < n ? x + j * d : y + (j - n) * d;
                double r2 = 0;
                for (int64_t l = 0; l < d; l++) r2 += (a[l] - b[l]) * (a[l] - b[l]);
                s.c[i * total + j] = expl(-(long double)r2 / (2 * (long double)width * width));
            }
        const long double blind = 0x1p-20L * slow_centre(&s);
        for (int64_t i = 0; i < total; i++)
            for (int64_t j = 0; j < i; j++) off += s.c[i * total + j] * s.c[i * total + j];
        if (off <= (long double)(total * (total - 1) / 2) * blind * blind) continue; /* it sees each point alone */
        for (int64_t b = 0; b < count; b++) {
            const long double z = slow_z(&s, b);
            if (!seeing || z > most[b]) most[b] = z;
        }
        seeing = 1;
    }
    for (int64_t b = 0; b < count; b++) reached += most[b] >= most[0] - 1e-10L;
    free(s.c);
    free(most);
    free(bits);
    return (double)reached / (double)count;
}

static gram_mmd_options options_of(int64_t permutations)
{
    gram_mmd_options options;
    gram_mmd_options_init(&options, sizeof options);
    options.method = GRAM_MMD_TEST_AGGREGATED;
    options.permutations = permutations;
    return options;
}

/* Many columns: at narrow widths all entries off the diagonal are tiny, and differ by many powers of ten. */
static void p_values_as_in_long_double(void **state)
{
    static const int64_t cases[][3] = {{20, 25, 1}, {20, 25, 10}, {25, 30, 50}, {30, 40, 20}, {97, 100, 5}};
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    (void)state;
    for (size_t s = 0; s < sizeof cases / sizeof *cases; s++) {
        const int64_t n = cases[s][0], m = cases[s][1], d = cases[s][2];
        double *x = sample_normal(10 + s, n * d), *y = sample_normal(100 + s, m * d);
        for (int64_t i = 0; i < m; i++) y[i * d] += 0.6;
        const gram_mmd_options options = options_of(s < 4 ? 99 : 19);
        const double ell = sqrt(2 * (double)d);
        char text[40];
        (void)snprintf(text, sizeof text, "rbf(ell=%.17g)", ell);
        const double got = sample_test(context, text, &options, n, x, m, y, d);
        const double want = slow_p(context, n, x, m, y, d, ell, -4, options.permutations);
        if (got != want) FAIL_TEST("d = %d: p = %g, long double has %g", (int)d, got, want);
        free(x);
        free(y);
    }
    gram_context_destroy(context);
}

/* ---- tiny samples ---- */

/* All ways to label are listed, so p is the exact one; and the same with the samples exchanged. */
static void all_labellings_of_tiny_samples(void **state)
{
    static const double near[] = {0, 1, 2.5}, far[] = {10, 11.2, 13};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    (void)state;
    for (int method = GRAM_MMD_TEST_PERMUTATION; method <= GRAM_MMD_TEST_AGGREGATED; method++) {
        gram_mmd_options options = options_of(999);
        options.method = (gram_mmd_method)method;
        assert_true(sample_test(context, NULL, &options, 3, near, 3, far, 1) == 0.1);
        assert_true(sample_test(context, NULL, &options, 3, far, 3, near, 1) == 0.1);
    }
    for (int64_t n = 3; n <= 8; n++)
        for (int64_t m = n; m <= 8; m += 1 + (n > 3)) {
            double *x = sample_normal((uint64_t)(n * 10 + m), n), *y = sample_normal((uint64_t)(n * 20 + m), m);
            for (int64_t i = 0; i < m; i++) y[i] = 2 * y[i] + 1;
            const gram_mmd_options options = options_of(20000);
            const int swapped = n == m && x[0] > y[0];
            const double got = sample_test(context, "rbf(ell=1)", &options, n, x, m, y, 1);
            const double want =
                slow_p(context, swapped ? m : n, swapped ? y : x, swapped ? n : m, swapped ? x : y, 1, 1, -4, 20000);
            assert_true(gram_labels_count(n + m, n, 20000) <= 12870);
            if (got != want) FAIL_TEST("%d and %d rows: p = %g, want %g", (int)n, (int)m, got, want);
            if (sample_test(context, "rbf(ell=1)", &options, m, y, n, x, 1) != got) FAIL_TEST("not the same exchanged");
            free(x);
            free(y);
        }
    gram_context_destroy(context);
}

static void either_sample_first(void **state)
{
    static const int64_t sizes[][2] = {{40, 40}, {30, 70}, {2100, 2200}};
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    (void)state;
    for (int method = GRAM_MMD_TEST_PERMUTATION; method <= GRAM_MMD_TEST_WILD; method++)
        for (int s = 0; s < (method == GRAM_MMD_TEST_AGGREGATED ? 3 : 2); s++) {
            const int64_t n = sizes[s][0], m = sizes[s][1];
            double *x = sample_normal(3, n * 2), *y = sample_normal(4, m * 2);
            gram_mmd_options options = options_of(99);
            options.method = (gram_mmd_method)method;
            options.width_count = 3;
            const double p = sample_test(context, NULL, &options, n, x, m, y, 2);
            if (sample_test(context, NULL, &options, m, y, n, x, 2) != p)
                FAIL_TEST("method %d, %d and %d rows: another p-value with the samples exchanged", method, (int)n,
                          (int)m);
            free(x);
            free(y);
        }
    gram_context_destroy(context);
}

/* ---- large samples ---- */

/* The statistic is that of all rows if these fill the groups. */
static void groups_have_the_statistic(void **state)
{
    enum { N = 2048, M = 4096, D = 2 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *x = sample_normal(5, N * D), *y = sample_normal(6, M * D), want;
    gram_points *px = test_points(context, N, D, x), *py = test_points(context, M, D, y);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    (void)state;
    for (int biased = 0; biased < 2; biased++) {
        gram_mmd_options options = options_of(199);
        gram_mmd_result result;
        gram_mmd_result_init(&result, sizeof result);
        options.width_count = 1;
        options.width_least = 1;
        options.biased = biased;
        OK(context, gram_mmd_test(context, kernel, px, py, &options, &result));
        OK(context,
           gram_mmd_squared(context, kernel, px, py, biased ? GRAM_MMD_BIASED : GRAM_MMD_UNBIASED, 0, &want, NULL));
        assert_true(fabs(result.statistic - want) <= 1e-12);
        assert_true(result.group_rows == 32 && result.chunks == 1 && result.n == N && result.m == M);
        gram_mmd_result_clear(&result);
    }
    gram_kernel_release(kernel);
    gram_points_release(px);
    gram_points_release(py);
    free(x);
    free(y);
    gram_context_destroy(context);
}

/* Columns of Cauchy's beside a clean shift: the look that sees it best is on ranks. */
static void ranks_see_past_heavy_tails(void **state)
{
    enum { N = 120, D = 4 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *x = sample_normal(7, N * D), *y = sample_normal(8, N * D), *u = sample_normal(9, 2 * N * D);
    const gram_mmd_options options = options_of(199);
    gram_mmd_result result;
    (void)state;
    for (int i = 0; i < N * D; i++) {
        x[i] = i % D == 0 ? x[i] : x[i] / u[i] * 30;
        y[i] = i % D == 0 ? y[i] + 0.9 : y[i] / u[N * D + i] * 30;
    }
    gram_points *px = test_points(context, N, D, x), *py = test_points(context, N, D, y);
    gram_mmd_result_init(&result, sizeof result);
    OK(context, gram_mmd_test(context, NULL, px, py, &options, &result));
    assert_true(result.p_value <= 0.01);
    assert_true(result.family[result.best] == GRAM_MMD_FAMILY_RANK_MEANS ||
                result.family[result.best] == GRAM_MMD_FAMILY_RANKS);
    gram_mmd_result_clear(&result);
    gram_points_release(px);
    gram_points_release(py);
    free(x);
    free(y);
    free(u);
    gram_context_destroy(context);
}

/* ---- every allocation failing ---- */

static double oom_x[2048], oom_y[2100];

static gram_status play(gram_context *context, int64_t n, int64_t m)
{
    gram_points *x = NULL, *y = NULL;
    gram_mmd_options options = options_of(9);
    gram_mmd_result result;
    gram_mmd_result_init(&result, sizeof result);
    options.width_count = 1;
    gram_kernel *kernel = NULL;
    gram_status status = gram_points_create_f64(context, n, 1, oom_x, 1, &x);
    if (status >= 0) status = gram_points_create_f64(context, m, 1, oom_y, 1, &y);
    if (status >= 0 && n > 100)
        status = gram_kernel_parse(context, "rbf(ell=1)", &kernel); /* one look takes less time */
    if (status >= 0) status = gram_mmd_test(context, kernel, x, y, &options, &result);
    gram_mmd_result_clear(&result);
    gram_kernel_release(kernel);
    gram_points_release(x);
    gram_points_release(y);
    return status;
}

static gram_status play_rows(gram_context *context)
{
    return play(context, 4, 3);
}

static gram_status play_groups(gram_context *context)
{
    return play(context, 2048, 2100);
}

static void out_of_memory(void **state)
{
    (void)state;
    test_uniform(1, 2048, -1, 1, oom_x);
    test_uniform(2, 2100, -1, 1, oom_y);
    for (int for_good = 0; for_good < 2; for_good++) assert_true(oom_each(play_rows, for_good) > 20);
    assert_true(oom_each(play_groups, 1) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(p_values_as_in_long_double), cmocka_unit_test(all_labellings_of_tiny_samples),
        cmocka_unit_test(either_sample_first),        cmocka_unit_test(groups_have_the_statistic),
        cmocka_unit_test(ranks_see_past_heavy_tails), cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
