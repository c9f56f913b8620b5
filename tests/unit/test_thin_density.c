/* Thinning towards a known density: every choice against a slow twin, mixtures beside evenly spaced rows by the MMD to the truth in closed
 * form, and whether scores belong to their points. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"

enum { D = 2 };

/* A mixture in the plane: its text for gram_density_parse, and its parts. */
typedef struct mixture {
    const char *text;
    int count;
    double mean[4][D], weight[4], sd[4];
} mixture;

static const mixture MIXTURES[] = {
    {"mixture(means=[-4,0;4,0], weights=[1,3])", 2, {{-4, 0}, {4, 0}}, {0.25, 0.75}, {1, 1}},
    {"mixture(means=[-5,-5;5,-5;-5,5;5,5], weights=[1,2,3,4])",
     4,
     {{-5, -5}, {5, -5}, {-5, 5}, {5, 5}},
     {0.1, 0.2, 0.3, 0.4},
     {1, 1, 1, 1}},
    {"mixture(means=[0,0;6,0], sd=[1,0.4])", 2, {{0, 0}, {6, 0}}, {0.5, 0.5}, {1, 0.4}}};

static double *draw(const mixture *p, uint64_t seed, int n)
{
    double *x = sample_normal(seed, n * D), *u = test_random(seed + 5555, n, 0, 1);
    for (int i = 0; i < n; i++) {
        int c = 0;
        for (double sum = p->weight[0]; c + 1 < p->count && u[i] > sum;) sum += p->weight[++c];
        for (int l = 0; l < D; l++) x[i * D + l] = p->mean[c][l] + p->sd[c] * x[i * D + l];
    }
    free(u);
    return x;
}

/* exp(-|x - y|^2/2) between N(x, vI) and N(y, wI), in the mean */
static double between(const double *x, double v, const double *y, double w)
{
    double square = 0;
    const double wide = 1 + v + w;
    for (int l = 0; l < D; l++) square += (x[l] - y[l]) * (x[l] - y[l]);
    return exp(-square / (2 * wide)) * pow(wide, -D / 2.0);
}

/* The squared MMD of a choice to the mixture, by rbf(ell=1). */
static double to_truth(const mixture *p, const double *x, int m, const int64_t *index, const double *weights)
{
    double sum = 0;
    for (int a = 0; a < m; a++) {
        const double wa = weights ? weights[a] : 1.0 / m, *xa = x + index[a] * D;
        for (int b = 0; b < m; b++) sum += wa * (weights ? weights[b] : 1.0 / m) * between(xa, 0, x + index[b] * D, 0);
        for (int c = 0; c < p->count; c++)
            sum -= 2 * wa * p->weight[c] * between(xa, 0, p->mean[c], p->sd[c] * p->sd[c]);
    }
    for (int c = 0; c < p->count; c++)
        for (int e = 0; e < p->count; e++)
            sum +=
                p->weight[c] * p->weight[e] * between(p->mean[c], p->sd[c] * p->sd[c], p->mean[e], p->sd[e] * p->sd[e]);
    return sum;
}

/* Everything that is known of the density at n points. */
typedef struct known {
    gram_points *points;
    gram_kernel *kernel;
    double *scores, *log_density, *laplacian;
} known;

static known know(gram_context *context, const char *text, int n, const double *x)
{
    known k = {test_points(context, n, D, x), NULL, test_numbers(n * D), test_numbers(n), test_numbers(n)};
    double *second = test_numbers(n * D);
    gram_density *density;
    OK(context, gram_density_parse(context, text, D, &density));
    OK(context, gram_density_score(context, density, k.points, k.scores, D));
    OK(context, gram_density_log(context, density, k.points, k.log_density));
    OK(context, gram_density_second(context, density, k.points, second, D));
    for (int i = 0; i < n; i++) k.laplacian[i] = fmax(second[2 * i], 0) + fmax(second[2 * i + 1], 0);
    OK(context, gram_stein_kernel(context, k.points, GRAM_STEIN_METRIC_MED, n, &k.kernel));
    gram_density_destroy(density);
    free(second);
    return k;
}

static void forget(known *k)
{
    gram_points_release(k->points);
    gram_kernel_release(k->kernel);
    free(k->scores);
    free(k->log_density);
    free(k->laplacian);
}

static gram_thin_options options_of(const known *k)
{
    gram_thin_options options;
    gram_thin_options_init(&options, sizeof options);
    options.log_density = k->log_density;
    options.laplacian = k->laplacian;
    return options;
}

/* Mixtures: with the density no worse than every k-th row, by far; by scores alone worse, and gram_thin_from_sample says so where it is clear. */
static void mixtures(void **state)
{
    (void)state;
    enum { N = 1000, M = 50, SEEDS = 3 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    for (size_t c = 0; c < sizeof MIXTURES / sizeof *MIXTURES; c++) {
        double plain = 0, held = 0, scores_only = 0, weighted = 0;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            double *x = draw(&MIXTURES[c], 100 + seed, N), w[M], size = 0, apart, even, worse;
            known k = know(context, MIXTURES[c].text, N, x);
            const gram_thin_options options = options_of(&k);
            int64_t index[M];
            for (int t = 0; t < M; t++) index[t] = (t + 1) * (N / M) - 1;
            const double spaced = to_truth(&MIXTURES[c], x, M, index, NULL);
            plain += spaced / SEEDS;
            OK(context, gram_thin(context, k.kernel, k.points, k.scores, D, &options, M, index, NULL));
            held += to_truth(&MIXTURES[c], x, M, index, NULL) / SEEDS;
            OK(context, gram_thin_from_sample(context, k.points, M, index, NULL, &apart, &even));
            assert_true(apart < even);
            OK(context, gram_thin_density_weights(context, k.kernel, k.points, k.scores, D, k.log_density, k.laplacian,
                                                  M, index, w, NULL));
            weighted += to_truth(&MIXTURES[c], x, M, index, w) / SEEDS;
            for (int t = 0; t < M; t++) size += w[t] * w[t];
            assert_true(1 / size > M / 4.0);
            OK(context, gram_thin(context, k.kernel, k.points, k.scores, D, NULL, M, index, NULL));
            worse = to_truth(&MIXTURES[c], x, M, index, NULL);
            scores_only += worse / SEEDS;
            OK(context, gram_thin_from_sample(context, k.points, M, index, NULL, &apart, &even));
            if (worse > 2 * spaced) assert_true(apart > even);
            forget(&k);
            free(x);
        }
        if (!(held < 0.6 * plain && weighted < 0.6 * plain && scores_only > plain))
            FAIL_TEST("%s: MMD^2 of evenly spaced rows %g, with the density %g, weighted %g, by scores alone %g",
                      MIXTURES[c].text, plain, held, weighted, scores_only);
    }
    gram_context_destroy(context);
}

/* ---- the twin ---- */

enum { N = 200, M = 25 };

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *values, double share)
{
    double sorted[N];
    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, N, sizeof *sorted, by_size);
    return sorted[(int)(share * (N - 1))];
}

/* The rbf of the sample's part and its means over the rows that are not outliers. */
static void sample_part(const known *k, const double *x, double *A, double *means)
{
    const double low = quantile(k->log_density, 0.25), high = quantile(k->log_density, 0.75);
    double mean[D] = {0}, variance[D] = {0};
    int kept = 0;
    for (int i = 0; i < N; i++) kept += k->log_density[i] >= low - 3 * (high - low);
    for (int i = 0; i < N; i++)
        for (int l = 0; l < D && k->log_density[i] >= low - 3 * (high - low); l++) mean[l] += x[i * D + l] / kept;
    for (int i = 0; i < N; i++)
        for (int l = 0; l < D && k->log_density[i] >= low - 3 * (high - low); l++)
            variance[l] += pow(x[i * D + l] - mean[l], 2) / kept;
    assert_true(kept < N);
    for (int i = 0; i < N; i++) {
        means[i] = 0;
        for (int j = 0; j < N; j++) {
            double square = 0;
            for (int l = 0; l < D; l++) square += pow(x[i * D + l] - x[j * D + l], 2) / (0.04 * D * variance[l]);
            A[i * N + j] = exp(-square / 2);
            if (k->log_density[j] >= low - 3 * (high - low)) means[i] += A[i * N + j] / kept;
        }
    }
}

static void choices_are_the_twins(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *x = draw(&MIXTURES[0], 7, N), *K = test_numbers(N * N), *A = test_numbers(N * N), means[N], squares[N];
    for (int i = 0; i < 6; i++) x[i * D] += 30 - 4 * i; /* outliers, and some between the modes */
    for (int i = 6; i < 12; i++) x[i * D] = 0.2 * (i - 9);
    known k = know(context, MIXTURES[0].text, N, x);
    const gram_thin_options options = options_of(&k);
    int64_t index[M];
    double discrepancy[M];
    gram_operator *op;
    OK(context, gram_operator_create_stein(context, k.kernel, k.points, k.scores, D, &op));
    OK(context, gram_operator_matrix(context, op, K, N));
    OK(context, gram_thin(context, k.kernel, k.points, k.scores, D, &options, M, index, discrepancy));
    sample_part(&k, x, A, means);
    gram_parameter c;
    OK(context, gram_kernel_parameter_get(context, k.kernel, 0, &c));
    const double size = 1 / c.value; /* imq at 0 */
    for (int i = 0; i < N; i++) squares[i] = pow(k.scores[2 * i], 2) + pow(k.scores[2 * i + 1], 2);
    const double weight = 10 * quantile(squares, 0.5) / D * size;
    for (int t = 0; t < M; t++) {
        double least = INFINITY, chosen = 0, pairs = 0;
        for (int i = 0; i < N; i++) {
            double value = 0.5 * (K[i * N + i] + k.laplacian[i] * size) - weight * (t + 1) * means[i];
            for (int a = 0; a < t; a++) value += K[i * N + index[a]] + weight * A[i * N + index[a]];
            least = fmin(least, value);
            if (i == index[t]) chosen = value;
        }
        if (!(chosen <= least + 1e-9 * (1 + fabs(least)))) FAIL_TEST("choice %d: %.12g, least %.12g", t, chosen, least);
        for (int a = 0; a <= t; a++)
            for (int b = 0; b <= t; b++) pairs += K[index[a] * N + index[b]];
        assert_true(fabs(discrepancy[t] * (t + 1) - sqrt(pairs)) <= 1e-9 * (1 + sqrt(pairs)));
    }
    gram_operator_release(op);
    forget(&k);
    free(x);
    free(K);
    free(A);
    gram_context_destroy(context);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    gram_context *one = test_context(1, GRAM_ISA_AUTO), *three = test_context(3, GRAM_ISA_AUTO);
    double *x = draw(&MIXTURES[1], 9, 3000), w[2][M], apart[2], even[2];
    known k = know(one, MIXTURES[1].text, 3000, x);
    const gram_thin_options options = options_of(&k);
    int64_t a[2][M];
    for (int i = 0; i < 2; i++) {
        gram_context *context = i ? three : one;
        OK(context, gram_thin(context, k.kernel, k.points, k.scores, D, &options, M, a[i], NULL));
        OK(context, gram_thin_density_weights(context, k.kernel, k.points, k.scores, D, k.log_density, k.laplacian, M,
                                              a[i], w[i], NULL));
        OK(context, gram_thin_from_sample(context, k.points, M, a[i], w[i], &apart[i], &even[i]));
    }
    assert_memory_equal(a[0], a[1], sizeof a[0]);
    assert_memory_equal(w[0], w[1], sizeof w[0]);
    assert_true(apart[0] == apart[1] && even[0] == even[1]);
    forget(&k);
    free(x);
    gram_context_destroy(one);
    gram_context_destroy(three);
}

static void refusals(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *x = draw(&MIXTURES[0], 7, N), number;
    known k = know(context, MIXTURES[0].text, N, x);
    gram_thin_options options = options_of(&k);
    int64_t index[2] = {0, 1};
    REFUSED(context, gram_thin(context, k.kernel, k.points, NULL, 0, &options, 2, index, NULL), GRAM_ERROR_ARGUMENT,
            "go with scores");
    k.log_density[5] = NAN;
    REFUSED(context, gram_thin(context, k.kernel, k.points, k.scores, D, &options, 2, index, NULL), GRAM_ERROR_ARGUMENT,
            "log_density[5]");
    k.log_density[5] = 0;
    k.laplacian[3] = -1;
    REFUSED(context, gram_thin(context, k.kernel, k.points, k.scores, D, &options, 2, index, NULL), GRAM_ERROR_ARGUMENT,
            "laplacian[3] = -1");
    options.laplacian = NULL;
    REFUSED(context, gram_thin(context, k.kernel, k.points, k.scores, D, &options, 2, index, NULL), GRAM_ERROR_ARGUMENT,
            "given together");
    REFUSED(context, gram_thin_from_sample(context, k.points, 2, NULL, NULL, &number, &number), GRAM_ERROR_ARGUMENT,
            "index is NULL");
    forget(&k);
    free(x);
    gram_context_destroy(context);
}

/* ---- do scores belong to their points? ---- */

static gram_scores_doubt doubt_of(gram_context *context, int n, int d, const double *x, const double *s, int64_t *row)
{
    gram_scores_doubt doubt;
    gram_points *points = test_points(context, n, d, x);
    OK(context, gram_stein_scores_check(context, points, s, d, &doubt, row));
    gram_points_release(points);
    return doubt;
}

/* Right scores of many kinds of samples pass, fitting or not; those of other rows, of another sample, or of -log p do not. */
static void scores_that_belong(void **state)
{
    (void)state;
    enum { ROWS = 200 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    int64_t row;
    for (uint64_t seed = 0; seed < 20; seed++) {
        double *x = draw(&MIXTURES[seed % 3], 300 + seed, ROWS), *other = draw(&MIXTURES[seed % 3], 400 + seed, ROWS);
        double *s = test_numbers(ROWS * D), *wide = sample_normal(seed, ROWS * 20);
        known k = know(context, MIXTURES[seed % 3].text, ROWS, x),
              o = know(context, MIXTURES[seed % 3].text, ROWS, other);
        assert_int_equal(doubt_of(context, ROWS, D, x, k.scores, &row), GRAM_SCORES_FIT);
        assert_int_equal(doubt_of(context, ROWS, D, x, o.scores, &row), GRAM_SCORES_UNRELATED);
        for (int i = 0; i < ROWS; i++) memcpy(s + i * D, k.scores + (i + 1) % ROWS * D, D * sizeof *s);
        assert_int_equal(doubt_of(context, ROWS, D, x, s, &row), GRAM_SCORES_UNRELATED);
        for (int i = 0; i < ROWS * D; i++) s[i] = -k.scores[i];
        /* where modes lie far apart their distance hides where the scores point to */
        if (seed % 3 != 1) assert_int_equal(doubt_of(context, ROWS, D, x, s, &row), GRAM_SCORES_OUTWARD);
        memset(s, 0, ROWS * D * sizeof *s); /* a uniform law */
        assert_int_equal(doubt_of(context, ROWS, D, x, s, &row), GRAM_SCORES_FIT);
        for (int i = 0; i < ROWS * D; i++) s[i] = 3 - 5 * x[i]; /* no fit, but scores of these points */
        assert_int_equal(doubt_of(context, ROWS, D, x, s, &row), GRAM_SCORES_FIT);
        double *score = test_numbers(ROWS * 20);
        for (int i = 0; i < ROWS * 20; i++) score[i] = -wide[i];
        assert_int_equal(doubt_of(context, ROWS, 20, wide, score, &row), GRAM_SCORES_FIT);
        free(score);
        forget(&k);
        forget(&o);
        free(x);
        free(other);
        free(s);
        free(wide);
    }
    gram_context_destroy(context);
}

/* A chain that stayed at a point, with its scores shifted by a row. */
static void one_point_one_score(void **state)
{
    (void)state;
    static const double x[] = {0.5, 0.7, 0.7, 0.2, 0.1}, right[] = {-0.5, -0.7, -0.7000001, -0.2, -0.1},
                        shifted[] = {-0.7, -0.7, -0.2, -0.1, -0.5};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    int64_t row;
    assert_int_equal(doubt_of(context, 5, 1, x, right, &row), GRAM_SCORES_FIT);
    assert_int_equal(row, -1);
    assert_int_equal(doubt_of(context, 5, 1, x, shifted, &row), GRAM_SCORES_TORN);
    assert_int_equal(row, 2);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixtures), cmocka_unit_test(choices_are_the_twins), cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(refusals), cmocka_unit_test(scores_that_belong),    cmocka_unit_test(one_point_one_score),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
