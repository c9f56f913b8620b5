/* Known laws: their embeddings against quadrature by hand and against draws, the distance from a sample, the level of the test by it,
 * thinning and herding towards them, what is refused, and every allocation failing once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/embedding.h>
#include <gram/law.h>
#include <gram/thin.h>

#include "oom.h"
#include "samples.h"
#include "support.h"

enum { D = 2, N = 40 };

static const char MIXED[] = "normal(0.3,0.25)*uniform(-1,2)";

static gram_law *law_of(gram_context *context, const char *text, int64_t d)
{
    gram_law *law = NULL;
    OK(context, gram_law_parse(context, text, d, &law));
    return law;
}

/* ---- embeddings ---- */

/* Rules of many midpoints for MIXED: places and weights of one column. */
enum { NODES = 240 };

static void make_rule(int normal, double *at, double *weight)
{
    double sum = 0;
    for (int i = 0; i < NODES; i++) {
        const double t = (i + 0.5) / NODES;
        at[i] = normal ? 0.3 + 0.5 * 8 * (2 * t - 1) : -1 + 3 * t;
        weight[i] = normal ? exp(-pow(8 * (2 * t - 1), 2) / 2) : 1;
        sum += weight[i];
    }
    for (int i = 0; i < NODES; i++) weight[i] /= sum;
}

/* A product kernel of the two columns: integrals are products as well. */
static double one_column(const char *name, double r)
{
    r = fabs(r);
    return strcmp(name, "rbf") == 0 ? exp(-r * r / (2 * 0.49)) : (1 + sqrt(3) * r / 0.7) * exp(-sqrt(3) * r / 0.7);
}

static void against_quadrature(void **state)
{
    static const struct {
        const char *name, *text;
        double tolerance;
    } KERNELS[] = {{"rbf", "on(1, rbf(ell=0.7))*on(2, rbf(ell=0.7))", 1e-4},
                   {"matern", "on(1, matern(nu=1.5, ell=0.7))*on(2, matern(nu=1.5, ell=0.7))", 1e-4}};
    gram_context *context = *state;
    gram_law *law = law_of(context, MIXED, D);
    double at[D][NODES], w[D][NODES], *x = test_spread(4, N, D), mu[N];
    gram_points *points = test_points(context, N, D, x);
    for (int l = 0; l < D; l++) make_rule(l == 0, at[l], w[l]);
    for (int k = 0; k < 2; k++) {
        gram_kernel *kernel = test_kernel(context, KERNELS[k].text);
        double wanted[N], inner, square = 1;
        for (int i = 0; i < N; i++) {
            wanted[i] = 1;
            for (int l = 0; l < D; l++) {
                double sum = 0;
                for (int q = 0; q < NODES; q++) sum += w[l][q] * one_column(KERNELS[k].name, x[i * D + l] - at[l][q]);
                wanted[i] *= sum;
            }
        }
        for (int l = 0; l < D; l++) {
            double sum = 0;
            for (int q = 0; q < NODES * NODES; q++)
                sum += w[l][q / NODES] * w[l][q % NODES] *
                       one_column(KERNELS[k].name, at[l][q / NODES] - at[l][q % NODES]);
            square *= sum;
        }
        OK(context, gram_law_embed(context, kernel, law, points, mu));
        OK(context, gram_law_inner(context, kernel, law, law, &inner));
        test_near("embedding", KERNELS[k].text, N, mu, wanted, KERNELS[k].tolerance);
        test_near("inner product", KERNELS[k].text, 1, &inner, &square, KERNELS[k].tolerance);
        gram_kernel_release(kernel);
    }
    gram_points_release(points);
    gram_law_release(law);
    free(x);
}

/* The closed form of Gaussians (<gram/embedding.h>), which has other code. */
static void against_gaussians(void **state)
{
    gram_context *context = *state;
    const double mean[D] = {0.5, -1}, covariance[D * D] = {0.25, 0, 0, 4};
    const gram_gaussian gaussian = {D, mean, covariance};
    gram_law *law = law_of(context, "normal(0.5,0.25)*normal(-1,4)", D);
    gram_kernel *kernel = test_kernel(context, "2*rbf(ell=[0.7,1.3])");
    double *x = test_spread(5, N, D), a[N], b[N], one, other;
    gram_points *points = test_points(context, N, D, x);
    OK(context, gram_law_embed(context, kernel, law, points, a));
    OK(context, gram_gaussian_embed(context, kernel, &gaussian, points, b));
    OK(context, gram_law_inner(context, kernel, law, law, &one));
    OK(context, gram_gaussian_inner(context, kernel, &gaussian, &gaussian, &other));
    test_near("embedding", NULL, N, a, b, 1e-13);
    test_near("inner product", NULL, 1, &one, &other, 1e-13);
    gram_points_release(points);
    gram_kernel_release(kernel);
    gram_law_release(law);
    free(x);
}

/* The law of a sample is the mean over it, and the function has the values of the embedding. */
static void of_samples(void **state)
{
    gram_context *context = *state;
    gram_kernel *kernel = test_kernel(context, "matern(nu=2.5, ell=0.8)");
    double *x = test_spread(6, N, D), weights[N], sum = 0, mu[N], wanted[N] = {0}, values[N];
    gram_points *points = test_points(context, N, D, x);
    double *k = test_matrix(context, kernel, points, NULL);
    gram_law *law = NULL;
    gram_function *f = NULL;
    gram_law_distance distance;
    for (int i = 0; i < N; i++) sum += weights[i] = 1 + i % 3;
    OK(context, gram_law_of_points(context, points, weights, &law));
    OK(context, gram_law_embed(context, kernel, law, points, mu));
    OK(context, gram_law_embedding(context, kernel, law, &f));
    OK(context, gram_function_evaluate(context, f, points, values, 1));
    for (int i = 0; i < N * N; i++) wanted[i / N] += weights[i % N] / sum * k[i];
    test_near("embedding", NULL, N, mu, wanted, 1e-12);
    test_near("function", NULL, N, values, wanted, 1e-12);
    gram_law_release(law);
    OK(context, gram_law_of_points(context, points, NULL, &law));
    OK(context, gram_law_mmd(context, kernel, points, law, &distance));
    assert_true(distance.mmd < 1e-7); /* from a sample to its own law */
    gram_law_release(law);
    gram_function_release(f);
    gram_points_release(points);
    gram_kernel_release(kernel);
    free(x);
    free(k);
}

/* Draws have the law's moments, and their mean feature is near the embedding. */
static void draws(void **state)
{
    enum { DRAWS = 20000 };
    gram_context *context = *state;
    gram_law *law = law_of(context, MIXED, D);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.7)");
    double *x = test_numbers(DRAWS * D), mean[D] = {0}, square[D] = {0}, at[D] = {0.2, 0.4}, mu, sum = 0;
    gram_points *place = test_points(context, 1, D, at);
    OK(context, gram_law_draw(context, law, 3, DRAWS, x));
    for (int i = 0; i < DRAWS * D; i++) mean[i % D] += x[i] / DRAWS;
    for (int i = 0; i < DRAWS * D; i++) square[i % D] += pow(x[i] - mean[i % D], 2) / DRAWS;
    assert_true(fabs(mean[0] - 0.3) < 4 * 0.5 / sqrt(DRAWS) && fabs(mean[1] - 0.5) < 4 * sqrt(0.75 / DRAWS));
    assert_true(fabs(square[0] / 0.25 - 1) < 0.05 && fabs(square[1] / 0.75 - 1) < 0.05);
    for (int i = 0; i < DRAWS; i++) {
        assert_true(x[D * i + 1] > -1 && x[D * i + 1] < 2);
        sum += exp(-(pow(x[D * i] - at[0], 2) + pow(x[D * i + 1] - at[1], 2)) / (2 * 0.49)) / DRAWS;
    }
    OK(context, gram_law_embed(context, kernel, law, place, &mu));
    assert_true(fabs(sum - mu) < 4 * 0.5 / sqrt(DRAWS));
    gram_points_release(place);
    gram_kernel_release(kernel);
    gram_law_release(law);
    free(x);
}

/* ---- the test ---- */

static gram_law_test_result test_of(gram_context *context, const gram_law *law, int n, const double *x, double *null)
{
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.7)");
    gram_points *points = test_points(context, n, D, x);
    gram_law_test_options options;
    gram_law_test_result result = {.size = sizeof result};
    gram_law_test_options_init(&options, sizeof options);
    options.draws = 39;
    options.null = null;
    OK(context, gram_law_test(context, kernel, points, law, &options, &result));
    gram_points_release(points);
    gram_kernel_release(kernel);
    return result;
}

/* Samples of the law itself: p-values are uniform on 1/40 ... 1. One that is moved is seen. The statistic is unbiased. */
static void level_and_power(void **state)
{
    enum { SETS = 300, ROWS = 25 };
    double x[ROWS * D], null[39], sum = 0, mean = 0, squares = 0;
    int rejected = 0, seen = 0;
    (void)state;
    for (int set = 0; set < SETS; set++) { /* each with draws of its own: those of one seed are the same */
        gram_context *context = TEST_CONTEXT(.threads = 1, .seed = (uint64_t)set + 1);
        gram_law *law = law_of(context, MIXED, D);
        OK(context, gram_law_draw(context, law, (uint64_t)(1000 + set), ROWS, x));
        const gram_law_test_result r = test_of(context, law, ROWS, x, null);
        sum += r.p_value / SETS;
        mean += r.statistic.u_statistic / SETS;
        squares += pow(r.statistic.u_statistic, 2) / SETS;
        rejected += r.reject;
        assert_true(null[0] <= null[38] && r.reject == (r.statistic.u_statistic > r.threshold));
        assert_true(fabs(pow(r.statistic.mmd, 2) - r.statistic.v_statistic) < 1e-12);
        for (int i = 0; i < ROWS; i++) x[i * D] += 0.6;
        if (set < 20) seen += test_of(context, law, ROWS, x, NULL).reject;
        gram_law_release(law);
        gram_context_destroy(context);
    }
    print_message("rejected %d of %d at level 0.05, mean p-value %.3f; moved: %d of 20\n", rejected, (int)SETS, sum,
                  seen);
    assert_true(abs(rejected - 15) <= 15); /* binomial(300, 0.05): four deviations */
    assert_true(fabs(sum - 0.5125) < 4 * 0.289 / sqrt(SETS));
    assert_true(fabs(mean) < 4 * sqrt(squares / SETS));
    assert_true(seen >= 17);
}

/* ---- thinning ---- */

static double mmd_of(gram_context *context, const gram_kernel *kernel, const double *x, int m, const int64_t *index,
                     const gram_law *law)
{
    double chosen[N * D];
    gram_law_distance distance;
    for (int i = 0; i < m * D; i++) chosen[i] = x[index[i / D] * D + i % D];
    gram_points *points = test_points(context, m, D, chosen);
    OK(context, gram_law_mmd(context, kernel, points, law, &distance));
    gram_points_release(points);
    return distance.mmd;
}

static void thinning(void **state)
{
    enum { CANDIDATES = 300, M = 12 };
    gram_context *context = *state;
    gram_law *law = law_of(context, MIXED, D);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.5)");
    double *x = test_numbers(CANDIDATES * D), found[M], weights[M], plain, all, weighted;
    gram_points *points;
    int64_t index[M], everything[1];
    gram_thin_options options;
    OK(context, gram_law_draw(context, law, 7, CANDIDATES, x));
    points = test_points(context, CANDIDATES, D, x);
    gram_thin_options_init(&options, sizeof options);
    options.law = law;
    OK(context, gram_thin_law_reference(context, kernel, points, law, M, &plain, &all));
    for (int method = GRAM_THIN_GREEDY; method <= GRAM_THIN_HERDING; method++) {
        options.method = (gram_thin_method)method;
        OK(context, gram_thin(context, kernel, points, NULL, 0, &options, M, index, found));
        for (int t = 0; t < M; t += 5) { /* by the sample's own formula */
            const double mmd = mmd_of(context, kernel, x, t + 1, index, law);
            test_near("discrepancy", NULL, 1, &found[t], &mmd, 1e-6);
        }
        assert_true(found[M - 1] < plain / 2);
    }
    /* greedy: no other candidate would have done better as the last */
    options.method = GRAM_THIN_GREEDY;
    OK(context, gram_thin(context, kernel, points, NULL, 0, &options, M, index, found));
    for (int c = 0; c < CANDIDATES; c += 7) {
        int64_t other[M];
        memcpy(other, index, sizeof other);
        other[M - 1] = c;
        assert_true(mmd_of(context, kernel, x, M, other, law) > found[M - 1] - 1e-9);
    }
    OK(context, gram_thin_law_weights(context, kernel, points, law, M, index, weights, &weighted));
    assert_true(weighted <= found[M - 1]);
    assert_true(all > 0 && all < plain);
    options.method = GRAM_THIN_SPLIT;
    REFUSED(context, gram_thin(context, kernel, points, NULL, 0, &options, 1, everything, NULL), GRAM_ERROR_ARGUMENT,
            "towards a law use greedy");
    options.method = GRAM_THIN_GREEDY;
    REFUSED(context, gram_thin(context, kernel, points, x, D, &options, 1, everything, NULL), GRAM_ERROR_ARGUMENT,
            "two targets");
    gram_points_release(points);
    gram_kernel_release(kernel);
    gram_law_release(law);
    free(x);
}

/* ---- what is refused ---- */

static void refusals(void **state)
{
    static const struct {
        const char *text, *says;
    } CASES[] = {{"", "is not a product"},
                 {"normal(0,1)", "has 1 factor, and there are 2 columns"},
                 {"normal(0,1)*normal(0,1)*normal(0,1)", "more factors than there are columns"},
                 {"uniform(1,0)*uniform(0,1)", "is not a product of uniform(a,b), a < b"},
                 {"normal(0,-1)*uniform(0,1)", "v > 0"},
                 {"normal(0,1)*cauchy(0,1)", "is not a product"},
                 {"normal(0,inf)*uniform(0,1)", "is not a product"}};
    gram_context *context = *state;
    gram_law *law = NULL;
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++)
        REFUSED(context, gram_law_parse(context, CASES[c].text, D, &law), GRAM_ERROR_ARGUMENT, CASES[c].says);
    law = law_of(context, MIXED, D);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    const double x[3] = {0, 1, 2};
    gram_points *line = test_points(context, 3, 1, x);
    gram_law_distance distance;
    REFUSED(context, gram_law_mmd(context, kernel, line, law, &distance), GRAM_ERROR_DIMENSION,
            "points of 1 columns, a law of 2");
    gram_law_release(law);
    REFUSED(context, gram_law_of_points(context, line, (double[]){0, 0, 0}, &law), GRAM_ERROR_DATA, "all 0");
    assert_null(law);
    gram_points_release(line);
    gram_kernel_release(kernel);
}

/* ---- memory ---- */

static gram_status play(gram_context *context)
{
    gram_status status = GRAM_OK;
    gram_law *law = NULL, *sample = NULL;
    gram_kernel *kernel = NULL;
    gram_points *points = NULL;
    gram_function *f = NULL;
    gram_law_test_options options;
    gram_law_test_result result = {.size = sizeof result};
    gram_thin_options thin;
    static const double x[] = {0, 0.5, 1, 0.2, -1, 1.5};
    int64_t index[2];
    double weights[2];
    gram_law_test_options_init(&options, sizeof options);
    options.draws = 3;
    gram_thin_options_init(&thin, sizeof thin);
    STEP(gram_law_parse(context, MIXED, D, &law));
    STEP(gram_kernel_parse(context, "rbf(ell=1)", &kernel));
    STEP(gram_points_create_f64(context, 3, D, x, D, &points));
    STEP(gram_law_of_points(context, points, NULL, &sample));
    STEP(gram_law_embedding(context, kernel, law, &f));
    STEP(gram_law_test(context, kernel, points, law, &options, &result));
    thin.law = law;
    STEP(gram_thin(context, kernel, points, NULL, 0, &thin, 2, index, NULL));
    STEP(gram_thin_law_weights(context, kernel, points, law, 2, index, weights, NULL));
done:
    gram_function_release(f);
    gram_law_release(law);
    gram_law_release(sample);
    gram_points_release(points);
    gram_kernel_release(kernel);
    return status;
}

static void every_allocation(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_quadrature), cmocka_unit_test(against_gaussians),
        cmocka_unit_test(of_samples),         cmocka_unit_test(draws),
        cmocka_unit_test(level_and_power),    cmocka_unit_test(thinning),
        cmocka_unit_test(refusals),           cmocka_unit_test(every_allocation),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
