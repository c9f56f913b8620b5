/* MMD: estimators against slow obvious sums and against the closed form between Gaussians, p-values against a permutation test in
 * plain f64, the same bits for any number of threads, bad arguments, and every allocation failing. */
#include <string.h>

#include "base/distribution_tails.h"
#include "oom.h"
#include "samples.h"
#include "test/two_sample/mmd.h"
#include "tile/random_labels.h"

/* ---- slow and obvious ---- */

typedef struct pooled {
    int64_t n, m, d;
    double *x, *y, *k; /* k: (n + m)^2 */
    gram_points *px, *py;
} pooled;

static pooled make_pooled(gram_context *context, const char *text, uint64_t seed, int64_t n, int64_t m, int64_t d,
                          double shift)
{
    pooled p = {
        n,    m,   d, sample_normal(seed, n * d), sample_normal(seed + 1, m * d), test_numbers((n + m) * (n + m)),
        NULL, NULL};
    for (int64_t i = 0; i < m * d; i++) p.y[i] = p.y[i] * 1.1 + shift;
    double *all = test_numbers((n + m) * d);
    memcpy(all, p.x, (size_t)(n * d) * sizeof *all);
    memcpy(all + n * d, p.y, (size_t)(m * d) * sizeof *all);
    gram_points *points = test_points(context, n + m, d, all);
    gram_kernel *kernel = test_kernel(context, text);
    OK(context, gram_matrix(context, kernel, points, NULL, p.k, n + m));
    gram_kernel_release(kernel);
    gram_points_release(points);
    free(all);
    p.px = test_points(context, n, d, p.x);
    p.py = test_points(context, m, d, p.y);
    return p;
}

static void free_pooled(pooled *p)
{
    gram_points_release(p->px);
    gram_points_release(p->py);
    free(p->x);
    free(p->y);
    free(p->k);
}

/* U or V of the labels: in[i] says that point i is of the first sample. */
static double slow_mmd(const pooled *p, const int *in, int biased)
{
    const int64_t total = p->n + p->m;
    const double n = (double)p->n, m = (double)p->m, less = biased ? 0 : 1;
    long double xx = 0, yy = 0, xy = 0;
    for (int64_t i = 0; i < total; i++)
        for (int64_t j = 0; j < total; j++) {
            if (i == j && !biased) continue;
            const double k = p->k[i * total + j];
            if (in[i] && in[j]) xx += k;
            if (!in[i] && !in[j]) yy += k;
            if (in[i] && !in[j]) xy += k;
        }
    return (double)(xx / (n * (n - less)) + yy / (m * (m - less)) - 2 * xy / (n * m));
}

static void estimators(void **state)
{
    static const char *const texts[] = {"rbf(ell=1.3)", "linear(c=1)", "poly(m=3, c=1)", "laplace(ell=2) + 0.5*white()",
                                        "matern(nu=1.5, ell=[1,2,3])"};
    static const int64_t sizes[][2] = {{2, 2}, {5, 3}, {30, 30}, {100, 97}, {200, 40}};
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const int64_t n = sizes[s][0], m = sizes[s][1];
            pooled p = make_pooled(context, texts[t], 10 + s, n, m, 3, 0.3);
            gram_kernel *kernel = test_kernel(context, texts[t]);
            int *in = calloc((size_t)(n + m), sizeof *in);
            double scale = 0, got;
            for (int64_t i = 0; i < n; i++) in[i] = 1;
            for (int64_t i = 0; i < (n + m) * (n + m); i++) scale = fmax(scale, fabs(p.k[i]));
            for (int biased = 0; biased < 2; biased++) {
                const double want = slow_mmd(&p, in, biased);
                OK(context, gram_mmd_squared(context, kernel, p.px, p.py, biased ? GRAM_MMD_BIASED : GRAM_MMD_UNBIASED,
                                             0, &got, NULL));
                if (!(fabs(got - want) <= 1e-12 * scale)) FAIL_TEST("%s: %.17g, want %.17g", texts[t], got, want);
            }
            free(in);
            gram_kernel_release(kernel);
            free_pooled(&p);
        }
    gram_context_destroy(context);
}

/* The paired statistic of pairs first .. first + count - 1. */
static double slow_paired(const pooled *p, int64_t first, int64_t count)
{
    const int64_t total = p->n + p->m;
    long double sum = 0;
    for (int64_t i = first; i < first + count; i++)
        for (int64_t j = first; j < first + count; j++)
            if (i != j)
                sum += (long double)p->k[i * total + j] + p->k[(p->n + i) * total + p->n + j] -
                       p->k[i * total + p->n + j] - p->k[j * total + p->n + i];
    return (double)(sum / ((double)count * (double)(count - 1)));
}

static void paired_and_blocks(void **state)
{
    static const int64_t sizes[] = {2, 3, 17, 95, 96, 201, 400}, blocks[] = {2, 3, 7, 16, 50, 97};
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    const char *text = "rbf(ell=1.5)";
    gram_kernel *kernel = test_kernel(context, text);
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int64_t n = sizes[s];
        pooled p = make_pooled(context, text, 50 + s, n, n, 2, 0.2);
        double got, error;
        OK(context, gram_mmd_squared(context, kernel, p.px, p.py, GRAM_MMD_PAIRED, 0, &got, &error));
        assert_true(isnan(error));
        assert_true(fabs(got - slow_paired(&p, 0, n)) <= 1e-13);
        for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
            const int64_t block = blocks[b], count = n / block;
            double mean = 0, squares = 0;
            if (block > n) continue;
            for (int64_t i = 0; i < count; i++) mean += slow_paired(&p, i * block, block) / (double)count;
            for (int64_t i = 0; i < count; i++) squares += pow(slow_paired(&p, i * block, block) - mean, 2);
            OK(context, gram_mmd_squared(context, kernel, p.px, p.py, GRAM_MMD_BLOCK, block, &got, &error));
            assert_true(fabs(got - mean) <= 1e-13);
            if (count > 1) assert_true(fabs(error - sqrt(squares / (double)(count - 1) / (double)count)) <= 1e-13);
            if (block != 2) continue;
            OK(context, gram_mmd_squared(context, kernel, p.px, p.py, GRAM_MMD_LINEAR, 0, &got, NULL));
            assert_true(fabs(got - mean) <= 1e-13);
        }
        free_pooled(&p);
    }
    gram_kernel_release(kernel);
    gram_context_destroy(context);
}

/* The p-value from each block by itself: skewness by two passes, Hall's cubic as it is written in papers. */
static double slow_block_p(gram_context *context, const gram_kernel *kernel, int64_t n, int64_t d, int64_t block,
                           const double *x, const double *y)
{
    const int64_t count = n / block;
    double *values = test_numbers(count), mean = 0, squares = 0, cubes = 0;
    for (int64_t i = 0; i < count; i++) {
        gram_points *a = test_points(context, block, d, x + i * block * d);
        gram_points *b = test_points(context, block, d, y + i * block * d);
        OK(context, gram_mmd_squared(context, kernel, a, b, GRAM_MMD_PAIRED, 0, &values[i], NULL));
        mean += values[i] / (double)count;
        gram_points_release(a);
        gram_points_release(b);
    }
    for (int64_t i = 0; i < count; i++) squares += pow(values[i] - mean, 2);
    for (int64_t i = 0; i < count; i++) cubes += pow(values[i] - mean, 3);
    const double c = (double)count, s = sqrt(squares / (c - 1)), g = c * cubes / ((c - 1) * (c - 2) * s * s * s);
    const double u = mean / s;
    free(values);
    return gram_tail_student(c - 1, sqrt(c) * (u + g * u * u / 3 + g * g * u * u * u / 27 + g / (6 * c)));
}

static void streams(void **state)
{
    const int64_t n = 1001, d = 2, portions[] = {1, 7, 300, 693};
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    (void)state;
    for (int64_t block = 2; block <= 20; block += 9) {
        double *x = sample_normal(5, n * d), *y = sample_normal(6, n * d), want, want_error, mean, error, p;
        gram_points *px = test_points(context, n, d, x), *py = test_points(context, n, d, y);
        gram_mmd_stream *stream = NULL;
        OK(context, gram_mmd_squared(context, kernel, px, py, GRAM_MMD_BLOCK, block, &want, &want_error));
        OK(context, gram_mmd_stream_create(context, kernel, d, block, &stream));
        assert_int_equal(gram_mmd_stream_result(stream, &mean, &error, &p), 0);
        assert_true(isnan(mean) && isnan(error) && p == 1);
        for (int64_t i = 0, first = 0; i < 4; first += portions[i], i++) {
            gram_points *a = test_points(context, portions[i], d, x + first * d);
            gram_points *b = test_points(context, portions[i], d, y + first * d);
            OK(context, gram_mmd_stream_add(context, stream, a, b));
            gram_points_release(a);
            gram_points_release(b);
        }
        assert_int_equal(gram_mmd_stream_result(stream, &mean, &error, &p), n / block);
        assert_true(fabs(mean - want) <= 1e-14 && fabs(error - want_error) <= 1e-14);
        assert_true(fabs(p - slow_block_p(context, kernel, n, d, block, x, y)) <= 1e-12);
        gram_mmd_stream_destroy(stream);
        gram_points_release(px);
        gram_points_release(py);
        free(x);
        free(y);
    }
    gram_kernel_release(kernel);
    gram_context_destroy(context);
}

/* ---- permutations ---- */

/* Is row i of x and y of the first sample under labelling b? */
static int slow_label(const pooled *p, const uint8_t *bits, int64_t count, int swapped, int64_t i, int64_t b)
{
    if (!swapped) return gram_label(bits, count, i, b);
    return !gram_label(bits, count, i < p->n ? p->m + i : i - p->n, b);
}

/* The p-value as plain f64 code finds it, with the library's labels. */
static double slow_p(gram_context *context, const pooled *p, int biased, int64_t permutations)
{
    const int64_t total = p->n + p->m, count = gram_labels_count(total, p->n, permutations);
    int *in = calloc((size_t)total, sizeof *in);
    double observed = 0;
    int64_t reached = 1;
    /* labels are of the smaller sample's rows, then the other's; of equal sizes the smaller first number decides */
    const int swapped = p->n != p->m ? p->n > p->m : p->x[0] > p->y[0];
    uint8_t *bits = calloc((size_t)gram_subset_bytes(total, count), 1);
    OK(context, gram_labels_make(context, 0, total, swapped ? p->m : p->n, count, bits));
    for (int64_t b = 0; b < count; b++) {
        int64_t inside = 0;
        for (int64_t i = 0; i < total; i++) inside += in[i] = slow_label(p, bits, count, swapped, i, b);
        assert_int_equal(inside, p->n);
        const double value = slow_mmd(p, in, biased);
        if (b == 0) observed = value;
        if (b > 0) reached += value >= observed - 1e-12 * fmax(1, fabs(observed));
    }
    free(bits);
    free(in);
    return (double)reached / (double)count;
}

/* The p-value of the fast path is the one of f64, digit for digit: sizes below and above a panel, ties (a set and its complement when n =
 * m, whole numbers), kernels of any sign. */
static void p_values(void **state)
{
    static const struct {
        const char *text;
        int64_t n, m, d;
        double shift;
    } cases[] = {{"rbf(ell=1)", 4, 4, 1, 0},       {"rbf(ell=1)", 3, 6, 2, 1},
                 {"rbf(ell=2)", 60, 60, 3, 0.1},   {"rbf(ell=0.3)", 130, 80, 2, 0},
                 {"linear(c=0)", 50, 70, 3, 0.1},  {"poly(m=3, c=1)", 40, 20, 2, 0},
                 {"laplace(ell=1)", 97, 95, 1, 0}, {"sigmoid(a=0.5, c=-1)", 40, 40, 2, 0.2}};
    (void)state;
    for (size_t s = 0; s < sizeof cases / sizeof *cases; s++)
        for (int biased = 0; biased < 2; biased++) {
            gram_context *context = test_context(2, GRAM_ISA_AUTO);
            pooled p = make_pooled(context, cases[s].text, 100 + s, cases[s].n, cases[s].m, cases[s].d, cases[s].shift);
            gram_mmd_options options;
            gram_mmd_options_init(&options, sizeof options);
            options.method = GRAM_MMD_TEST_PERMUTATION;
            options.biased = biased;
            options.permutations = 199;
            const double want = slow_p(context, &p, biased, 199);
            const double got = sample_test(context, cases[s].text, &options, p.n, p.x, p.m, p.y, p.d);
            if (got != want) FAIL_TEST("%s, biased %d: p = %g, f64 has %g", cases[s].text, biased, got, want);
            free_pooled(&p);
            gram_context_destroy(context);
        }
}

static void whole_numbers_tie(void **state)
{
    const int64_t n = 70, m = 60;
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        gram_context *context = test_context(2, GRAM_ISA_AUTO);
        pooled p = make_pooled(context, "rbf(ell=1)", 200 + seed, n, m, 1, 0.2);
        for (int64_t i = 0; i < n; i++) p.x[i] = p.x[i] > 0.3;
        for (int64_t i = 0; i < m; i++) p.y[i] = p.y[i] > 0.3;
        for (int64_t i = 0; i < n + m; i++)
            for (int64_t j = 0; j < n + m; j++) {
                const double a = i < n ? p.x[i] : p.y[i - n], b = j < n ? p.x[j] : p.y[j - n];
                p.k[i * (n + m) + j] = exp(-(a - b) * (a - b) / 2);
            }
        gram_mmd_options options;
        gram_mmd_options_init(&options, sizeof options);
        options.method = GRAM_MMD_TEST_PERMUTATION;
        options.permutations = 199;
        const double want = slow_p(context, &p, 0, 199);
        assert_true(sample_test(context, "rbf(ell=1)", &options, n, p.x, m, p.y, 1) == want);
        free_pooled(&p);
        gram_context_destroy(context);
    }
}

static void every_method(gram_context *context, double *out)
{
    const int64_t n = 211, m = 150, d = 3;
    double *x = sample_normal(1, n * d), *y = sample_normal(2, m * d);
    gram_points *px = test_points(context, n, d, x), *py = test_points(context, m, d, y);
    for (int method = GRAM_MMD_TEST_PERMUTATION; method <= GRAM_MMD_TEST_WILD; method++) {
        gram_mmd_options options;
        gram_mmd_result result;
        gram_mmd_options_init(&options, sizeof options);
        gram_mmd_result_init(&result, sizeof result);
        options.method = (gram_mmd_method)method;
        options.permutations = 99;
        OK(context, gram_mmd_test(context, NULL, px, py, &options, &result));
        *out++ = result.p_value;
        *out++ = result.statistic;
        gram_mmd_result_clear(&result);
    }
    gram_points_release(px);
    gram_points_release(py);
    free(x);
    free(y);
}

static void same_for_any_threads(void **state)
{
    (void)state;
    test_any_threads(2 * (GRAM_MMD_TEST_WILD - GRAM_MMD_TEST_PERMUTATION + 1), every_method);
}

/* Mean and variance under random labels: all 462 labellings of 5 and 6 points. */
static void moments(void **state)
{
    const int64_t n = 5, m = 6, total = 11;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    pooled p = make_pooled(context, "rbf(ell=1)", 9, n, m, 2, 0.4);
    gram_pool pool;
    gram_pairs pairs;
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    double mean = 0, squares = 0, count = 0;
    (void)state;
    OK(context, gram_pool_create(context, "test", p.px, p.py, &pool));
    OK(context, gram_pairs_create(context, kernel, pool.points, GRAM_CENTRE_PAIRS, &pairs));
    const double deviation = gram_mmd_deviation(&pairs, n);
    for (int set = 0; set < 1 << total; set++) {
        int in[11], inside = 0;
        for (int i = 0; i < total; i++) inside += in[i] = set >> i & 1;
        if (inside != n) continue;
        const double value = slow_mmd(&p, in, 0);
        count++;
        mean += value;
        squares += value * value;
    }
    const gram_mmd_scale scale = gram_mmd_scaling(&pairs, n, m, 0);
    assert_true(count == 462);
    assert_true(fabs(mean / count) <= 1e-15);
    assert_true(fabs(sqrt(squares / count) - scale.slope * deviation) <= 1e-14);
    gram_pairs_destroy(context, &pairs);
    gram_pool_destroy(context, &pool);
    gram_kernel_release(kernel);
    free_pooled(&p);
    gram_context_destroy(context);
}

static void tails(void **state)
{
    /* P(Gamma(a) > x) from mpmath: gammainc(a, x, inf, regularized=True) */
    static const double known[][3] = {{0.5, 2, 0.045500263896358414}, {1, 3, 0.049787068367863943},
                                      {2.5, 1, 0.84914503608460964},  {10, 20, 0.0049954123083075872},
                                      {100, 90, 0.84177901081356983}, {0.1, 1e-3, 0.47323143160755489}};
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        const double got = gram_tail_gamma(known[i][0], known[i][1]);
        if (!(fabs(got - known[i][2]) <= 1e-12 * known[i][2]))
            FAIL_TEST("Q(%g, %g) = %.17g", known[i][0], known[i][1], got);
    }
    assert_true(gram_tail_gamma(1, 0) == 1 && gram_tail_gamma(2, -1) == 1);
    for (double x = 0.01; x < 50; x *= 1.5) /* shape 1 is the exponential distribution */
        assert_true(fabs(gram_tail_gamma(1, x) - exp(-x)) <= 1e-13 * exp(-x));
    for (double x = 0.01; x < 30; x *= 1.5) /* chi-squared of one degree is a squared normal */
        assert_true(fabs(gram_tail_gamma(0.5, x) - erfc(sqrt(x))) <= 1e-12 * erfc(sqrt(x)));
    assert_true(fabs(gram_tail_normal(1.6448536269514722) - 0.05) <= 1e-15);
}

static void student_tails(void **state)
{
    /* P(T >= t) from mpmath: betainc(f/2, 1/2, 0, f/(f + t^2), regularized=True)/2 */
    static const double known[][3] = {{1, 1, 0.25},
                                      {1, 50, 0.0063653491009727967},
                                      {2, 0.1, 0.46473271920707009},
                                      {3, -2.5, 0.95614667649596723},
                                      {13, 1.7709333959867988, 0.05000000000000639},
                                      {13, 30, 1.0860836450033207e-13},
                                      {31, 0, 0.5},
                                      {99, 1.5, 0.068398408857986653},
                                      {250, 4, 4.1735100729350625e-5},
                                      {500, 0.01, 0.49601263799651646},
                                      {100000, 1.6448, 0.050007102654074637},
                                      {1000000, 6, 9.8692490617721733e-10}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const double got = gram_tail_student(known[i][0], known[i][1]);
        const double allowed = known[i][0] < 1e6 ? 1e-12 : 1e-11; /* as distribution_tails.h says */
        if (!(fabs(got - known[i][2]) <= allowed * known[i][2]))
            FAIL_TEST("P(t(%g) >= %g) = %.17g", known[i][0], known[i][1], got);
    }
    for (double t = -20; t < 20; t += 0.37) /* one degree is Cauchy's */
        assert_true(fabs(gram_tail_student(1, t) - (0.5 - atan(t) / 3.14159265358979324)) <= 1e-14);
    assert_true(gram_tail_student(5, INFINITY) == 0 && gram_tail_student(5, -INFINITY) == 1);
}

/* ---- against Gaussians ---- */

static void closed_form(void **state)
{
    enum { N = 3000, D = 2 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    const double mean_p[] = {0, 0}, mean_q[] = {0.5, 0}, wide[] = {1.44, 0, 0, 1.44};
    const gram_gaussian p = {D, mean_p, NULL}, q = {D, mean_q, wide};
    static const char *const texts[] = {"rbf(ell=1)", "poly(m=2, c=1)"};
    (void)state;
    for (int t = 0; t < 2; t++) {
        gram_kernel *kernel = test_kernel(context, texts[t]);
        double want, sum = 0, squares = 0;
        enum { SEEDS = 40 };
        OK(context, gram_gaussian_mmd_squared(context, kernel, &p, &q, &want));
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            double *x = sample_normal(900 + seed, N / 10 * D), *y = sample_normal(1900 + seed, N / 10 * D), got;
            for (int i = 0; i < N / 10 * D; i++) y[i] = 1.2 * y[i] + (i % D == 0 ? 0.5 : 0);
            gram_points *px = test_points(context, N / 10, D, x), *py = test_points(context, N / 10, D, y);
            OK(context, gram_mmd_squared(context, kernel, px, py, GRAM_MMD_UNBIASED, 0, &got, NULL));
            sum += got;
            squares += got * got;
            gram_points_release(px);
            gram_points_release(py);
            free(x);
            free(y);
        }
        const double mean = sum / SEEDS, error = sqrt((squares / SEEDS - mean * mean) / SEEDS);
        if (!(fabs(mean - want) <= 3.5 * error))
            FAIL_TEST("%s: mean %g, want %g, error %g", texts[t], mean, want, error);
        gram_kernel_release(kernel);
    }
    gram_context_destroy(context);
}

static void witness(void **state)
{
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    pooled p = make_pooled(context, "rbf(ell=1)", 3, 30, 20, 2, 0.5);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    gram_function *f = NULL;
    double norm, squared, ex, ey;
    (void)state;
    OK(context, gram_mmd_witness(context, kernel, p.px, p.py, &f));
    OK(context, gram_function_norm(context, f, &norm));
    OK(context, gram_mmd_squared(context, kernel, p.px, p.py, GRAM_MMD_BIASED, 0, &squared, NULL));
    assert_true(fabs(norm * norm - squared) <= 1e-14);
    OK(context, gram_embedding_expectation(context, f, p.px, NULL, &ex));
    OK(context, gram_embedding_expectation(context, f, p.py, NULL, &ey));
    assert_true(fabs(ex - ey - squared) <= 1e-14); /* <f, mu_x - mu_y> = |f|^2 */
    gram_function_release(f);
    gram_kernel_release(kernel);
    free_pooled(&p);
    gram_context_destroy(context);
}

/* ---- odd data and bad arguments ---- */

static void equal_rows(void **state)
{
    double x[12] = {0}, y[10] = {0};
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    (void)state;
    for (int i = 0; i < 12; i++) x[i] = 0.1 + i % 2;
    for (int i = 0; i < 10; i++) y[i] = 0.1 + i % 2;
    for (int method = GRAM_MMD_TEST_AUTO; method <= GRAM_MMD_TEST_WILD; method++) {
        gram_mmd_options options;
        gram_mmd_options_init(&options, sizeof options);
        options.method = (gram_mmd_method)method;
        options.permutations = 19;
        assert_true(sample_test(context, NULL, &options, 6, x, 5, y, 2) == 1);
    }
    gram_context_destroy(context);
}

static void columns(void **state)
{
    enum { N = 200, M = 150, D = 4 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *x = sample_normal(1, N * D), *y = sample_normal(2, M * D), score[D];
    (void)state;
    for (int i = 0; i < M; i++) y[i * D + 1] *= 3;
    for (int i = 0; i < N; i++) x[i * D + 3] = 7;
    for (int i = 0; i < M; i++) y[i * D + 3] = 7;
    gram_points *px = test_points(context, N, D, x), *py = test_points(context, M, D, y);
    OK(context, gram_mmd_columns(context, px, py, score, NULL));
    assert_true(score[1] > 10 && fabs(score[0]) < 5 && fabs(score[2]) < 5 && score[3] == 0);
    gram_points_release(px);
    gram_points_release(py);
    free(x);
    free(y);
    gram_context_destroy(context);
}

/* Of a few rows scores are made without an engine: the largest U over its deviation that the normal approximation reports. */
static void columns_of_few_rows(void **state)
{
    enum { N = 14, M = 11 };
    static const double factors[] = {0.25, 0.5, 1, 2};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *x = sample_normal(5, N), *y = sample_normal(6, M), pool[N + M], score, most = -1e300;
    gram_points *px = test_points(context, N, 1, x), *py = test_points(context, M, 1, y);
    gram_kernel *open = test_kernel(context, "rbf"), *median = NULL;
    gram_parameter ell;
    (void)state;
    for (int i = 0; i < N + M; i++) pool[i] = i < N ? x[i] : y[i - N];
    gram_points *both = test_points(context, N + M, 1, pool);
    OK(context, gram_kernel_resolve(context, open, both, &median));
    OK(context, gram_kernel_parameter_get(context, median, 0, &ell));
    for (int f = 0; f < 4; f++) {
        const double width = ell.value * factors[f];
        gram_kernel *kernel = NULL;
        gram_mmd_options options;
        gram_mmd_result result;
        gram_mmd_options_init(&options, sizeof options);
        gram_mmd_result_init(&result, sizeof result);
        options.method = GRAM_MMD_TEST_NORMAL;
        OK(context, gram_kernel_with_values(context, median, &width, &kernel));
        OK(context, gram_mmd_test(context, kernel, px, py, &options, &result));
        most = fmax(most, result.statistic / result.null_deviation);
        gram_mmd_result_clear(&result);
        gram_kernel_release(kernel);
    }
    OK(context, gram_mmd_columns(context, px, py, &score, NULL));
    if (fabs(score - most) > 1e-10 * fabs(most)) FAIL_TEST("score %.17g, want %.17g", score, most);
    gram_points_release(px);
    gram_points_release(py);
    gram_points_release(both);
    gram_kernel_release(open);
    gram_kernel_release(median);
    free(x);
    free(y);
    gram_context_destroy(context);
}

static void bad_arguments(void **state)
{
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *x = sample_normal(1, 40), out;
    gram_points *two = test_points(context, 20, 2, x), *four = test_points(context, 10, 4, x),
                *one = test_points(context, 1, 2, x);
    gram_points *few = test_points(context, 3, 2, x);
    gram_kernel *rbf = test_kernel(context, "rbf(ell=1)"), *linear = test_kernel(context, "linear(c=0)");
    gram_mmd_options o;
    gram_mmd_result r;
    (void)state;
    gram_mmd_result_init(&r, sizeof r);
#define BAD(want, call) assert_int_equal(call, want)
    BAD(GRAM_ERROR_DIMENSION, gram_mmd_test(context, rbf, two, four, NULL, &r));
    assert_non_null(strstr(gram_context_message(context), "x has 2 columns, y has 4"));
    BAD(GRAM_ERROR_DIMENSION, gram_mmd_test(context, rbf, two, one, NULL, &r));
    BAD(GRAM_ERROR_ARGUMENT, gram_mmd_test(context, rbf, two, NULL, NULL, &r));
    BAD(GRAM_ERROR_ARGUMENT, gram_mmd_test(context, rbf, two, two, NULL, NULL));
    gram_mmd_options_init(&o, sizeof o);
    o.method = GRAM_MMD_TEST_AGGREGATED;
    BAD(GRAM_ERROR_ARGUMENT, gram_mmd_test(context, linear, two, two, &o, &r));
    o.method = GRAM_MMD_TEST_SPLIT;
    BAD(GRAM_ERROR_DIMENSION, gram_mmd_test(context, rbf, few, two, &o, &r));
    o.method = GRAM_MMD_TEST_BLOCK;
    o.block = 20;
    BAD(GRAM_ERROR_ARGUMENT, gram_mmd_test(context, rbf, two, two, &o, &r));
    o.level = 1;
    BAD(GRAM_ERROR_ARGUMENT, gram_mmd_test(context, rbf, two, two, &o, &r));
    gram_mmd_options_init(&o, sizeof o);
    o.permutations = 0;
    BAD(GRAM_ERROR_ARGUMENT, gram_mmd_test(context, rbf, two, two, &o, &r));
    gram_mmd_options_init(&o, sizeof o);
    o.width_count = 33;
    BAD(GRAM_ERROR_ARGUMENT, gram_mmd_test(context, rbf, two, two, &o, &r));
    gram_mmd_options_init(&o, sizeof o);
    o.width_least = 5;
    BAD(GRAM_ERROR_ARGUMENT, gram_mmd_test(context, rbf, two, two, &o, &r));
    o.width_least = 0;
    BAD(GRAM_ERROR_ARGUMENT, gram_mmd_test(context, rbf, two, two, &o, &r));
    BAD(GRAM_ERROR_DIMENSION, gram_mmd_squared(context, rbf, two, few, GRAM_MMD_PAIRED, 0, &out, NULL));
    BAD(GRAM_ERROR_DIMENSION, gram_mmd_squared(context, rbf, two, one, GRAM_MMD_UNBIASED, 0, &out, NULL));
    OK(context, gram_mmd_squared(context, rbf, two, one, GRAM_MMD_BIASED, 0, &out, NULL));
    OK(context, gram_mmd_squared(context, rbf, one, one, GRAM_MMD_BIASED, 0, &out, NULL));
    assert_true(out == 0);
    BAD(GRAM_ERROR_ARGUMENT, gram_mmd_squared(context, rbf, two, two, GRAM_MMD_BLOCK, 21, &out, NULL));
    BAD(GRAM_ERROR_ARGUMENT, gram_mmd_squared(context, rbf, two, two, (gram_mmd_estimator)9, 0, &out, NULL));
#undef BAD
    gram_mmd_result_clear(&r);
    gram_mmd_result_clear(NULL);
    gram_kernel_release(rbf);
    gram_kernel_release(linear);
    gram_points_release(two);
    gram_points_release(four);
    gram_points_release(one);
    gram_points_release(few);
    free(x);
    gram_context_destroy(context);
}

/* ---- memory ---- */

static double oom_x[60], oom_y[50];

static gram_status play_tests(gram_context *context)
{
    gram_points *x = NULL, *y = NULL;
    gram_status status = gram_points_create_f64(context, 30, 2, oom_x, 2, &x);
    if (status >= 0) status = gram_points_create_f64(context, 25, 2, oom_y, 2, &y);
    for (int method = GRAM_MMD_TEST_AUTO; method <= GRAM_MMD_TEST_WILD && status >= 0; method++) {
        gram_mmd_options options;
        gram_mmd_result result;
        gram_mmd_options_init(&options, sizeof options);
        gram_mmd_result_init(&result, sizeof result);
        options.method = (gram_mmd_method)method;
        options.permutations = 9;
        options.width_count = 2;
        status = gram_mmd_test(context, NULL, x, y, &options, &result);
        gram_mmd_result_clear(&result);
    }
    gram_points_release(x);
    gram_points_release(y);
    return status;
}

static gram_status play_estimators(gram_context *context)
{
    gram_points *x = NULL, *y = NULL;
    gram_kernel *kernel = NULL;
    gram_function *f = NULL;
    gram_mmd_stream *stream = NULL;
    double out, score[2];
    gram_status status = gram_points_create_f64(context, 25, 2, oom_x, 2, &x);
    if (status >= 0) status = gram_points_create_f64(context, 25, 2, oom_y, 2, &y);
    if (status >= 0) status = gram_kernel_parse(context, "rbf(ell=1)", &kernel);
    for (int e = GRAM_MMD_UNBIASED; e <= GRAM_MMD_BLOCK && status >= 0; e++)
        status = gram_mmd_squared(context, kernel, x, y, (gram_mmd_estimator)e, 0, &out, NULL);
    if (status >= 0) status = gram_mmd_witness(context, kernel, x, y, &f);
    if (status >= 0) status = gram_mmd_columns(context, x, y, score, NULL);
    if (status >= 0) status = gram_mmd_stream_create(context, kernel, 2, 3, &stream);
    if (status >= 0) status = gram_mmd_stream_add(context, stream, x, y);
    gram_mmd_stream_destroy(stream);
    gram_function_release(f);
    gram_kernel_release(kernel);
    gram_points_release(x);
    gram_points_release(y);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    test_uniform(1, 60, -1, 1, oom_x);
    test_uniform(2, 50, -1, 1, oom_y);
    for (int for_good = 0; for_good < 2; for_good++) {
        assert_true(oom_each(play_tests, for_good) > 20);
        assert_true(oom_each(play_estimators, for_good) > 20);
    }
    (void)oom_budget(play_tests);
    (void)oom_budget(play_estimators);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(estimators),        cmocka_unit_test(paired_and_blocks),
                                       cmocka_unit_test(streams),           cmocka_unit_test(p_values),
                                       cmocka_unit_test(whole_numbers_tie), cmocka_unit_test(same_for_any_threads),
                                       cmocka_unit_test(moments),           cmocka_unit_test(tails),
                                       cmocka_unit_test(student_tails),     cmocka_unit_test(closed_form),
                                       cmocka_unit_test(witness),           cmocka_unit_test(equal_rows),
                                       cmocka_unit_test(columns),           cmocka_unit_test(columns_of_few_rows),
                                       cmocka_unit_test(bad_arguments),     cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
