/* Bayesian quadrature: exact for functions of the span, calibrated over draws, better than Monte Carlo with as many values; the next places
 * against refits with each candidate; samples as measures; products over columns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/learn.h>
#include <gram/text.h>

#include "kernel/kernel.h"
#include "samples.h"
#include "support.h"

enum { D = 2, N = 9 };

static const char MEASURE[] = "normal(0.5,0.2)*uniform(0,1)", KERNEL[] = "1.5*rbf(ell=0.6)";

typedef struct integral {
    double mean, std, weights[64], next[8], next_std[8];
    int64_t chosen;
} integral;

static void copy_array(const gram_model *model, const char *name, int64_t most, double *out, int64_t *count)
{
    int64_t rows = 0, columns = 0;
    const double *found = gram_model_array(model, name, &rows, &columns);
    assert_true(rows * columns <= most);
    for (int64_t i = 0; found && i < rows * columns; i++) out[i] = found[i];
    if (count) *count = found ? rows * columns : 0;
}

/* Settings are pairs of texts, the last NULL. */
static integral integrate(gram_context *context, int64_t n, const double *x, const double *y, const char *measure,
                          const char *const *settings)
{
    gram_arrays arrays;
    gram_learner *learner = NULL;
    gram_model *model = NULL;
    integral out = {0};
    gram_arrays_init(&arrays, sizeof arrays);
    arrays.n = n;
    arrays.d = arrays.ldx = D;
    arrays.targets = arrays.ldy = 1;
    arrays.x = x;
    arrays.y = y;
    OK(context, gram_learner_create(context, &learner));
    OK(context, gram_learner_set(context, learner, "method", "integrate"));
    OK(context, gram_learner_set(context, learner, "kernel", KERNEL));
    OK(context, gram_learner_set(context, learner, "measure", measure));
    for (int i = 0; settings && settings[i]; i += 2)
        OK(context, gram_learner_set(context, learner, settings[i], settings[i + 1]));
    OK(context, gram_learn_arrays(context, learner, &arrays, &model));
    out.mean = gram_model_find(model, "mean").number;
    out.std = gram_model_find(model, "std").number;
    copy_array(model, "weights", 64, out.weights, NULL);
    copy_array(model, "next", 8, out.next, &out.chosen);
    copy_array(model, "next_std", 8, out.next_std, NULL);
    gram_model_destroy(model);
    gram_learner_destroy(learner);
    return out;
}

static double kernel_at(const double *a, const double *b)
{
    return 1.5 * exp(-(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2)) / (2 * 0.36));
}

/* E k(x, X) under MEASURE, by the formulas of a textbook: a normal and a uniform factor. */
static double mean_of_kernel(const double *x)
{
    const double s = 0.2 + 0.36, ell = 0.6, root = sqrt(2) * ell;
    const double normal = ell / sqrt(s) * exp(-pow(x[0] - 0.5, 2) / (2 * s));
    const double uniform = ell * sqrt(acos(-1) / 2) * (erf((1 - x[1]) / root) - erf((0 - x[1]) / root));
    return 1.5 * normal * uniform;
}

/* Functions of the span of k(., x_i): the integral is known, and found. */
static void span(void **state)
{
    double *x = test_random(3, N * D, 0, 1), *a = test_random(4, N, -1, 1), y[N] = {0}, truth = 0;
    for (int i = 0; i < N * N; i++)
        y[i / N] += a[i % N] * kernel_at(x + (ptrdiff_t)(i / N) * D, x + (ptrdiff_t)(i % N) * D);
    for (int i = 0; i < N; i++) truth += a[i] * mean_of_kernel(x + (ptrdiff_t)i * D);
    const integral found = integrate(*state, N, x, y, MEASURE, NULL);
    test_near("integral", NULL, 1, &found.mean, &truth, 1e-7);
    double rule = 0;
    for (int i = 0; i < N; i++) rule += found.weights[i] * y[i];
    test_near("rule", NULL, 1, &rule, &truth, 1e-7);
    free(x);
    free(a);
}

/* Draws of the process at the places and of its integral together: standardised errors have variance 1. */
static void calibrated(void **state)
{
    enum { DRAWS = 300, ALL = N + 1 };
    gram_context *context = *state;
    const double low[D] = {0.5, 0}, high[D] = {0.5, 1}, deviation[D] = {sqrt(0.2), 0};
    double *x = test_random(5, N * D, 0, 1), *normal = sample_normal(6, DRAWS * ALL), squares = 0;
    gram_functional_term terms[ALL];
    gram_kernel *kernel = test_kernel(context, KERNEL);
    gram_points *rows;
    for (int i = 0; i < N; i++)
        terms[i] = (gram_functional_term){.row = i, .coefficient = 1, .at = x + (ptrdiff_t)i * D};
    terms[N] = (gram_functional_term){
        .row = N, .kind = GRAM_FUNCTIONAL_MEAN, .coefficient = 1, .at = low, .first = high, .second = deviation};
    OK(context, gram_points_create_functionals(context, ALL, D, ALL, terms, &rows));
    double *k = test_matrix(context, kernel, rows, NULL), *factor = test_numbers(ALL * ALL);
    int inside = 0;
    assert_true(gram_small_cholesky(ALL, k, factor));
    for (int draw = 0; draw < DRAWS; draw++) {
        double f[ALL] = {0};
        for (int i = 0; i < ALL; i++)
            for (int j = 0; j <= i; j++) f[i] += factor[i * ALL + j] * normal[draw * ALL + j];
        const integral found = integrate(context, N, x, f, MEASURE, NULL);
        const double z = (f[N] - found.mean) / found.std;
        squares += z * z / DRAWS;
        inside += fabs(z) < 1.96;
    }
    print_message("95 %% intervals cover %d of %d, mean square %.2f\n", inside, (int)DRAWS, squares);
    assert_true(abs(inside - 285) <= 15); /* binomial(300, 0.95): four deviations */
    assert_true(fabs(squares - 1) < 4 * sqrt(2.0 / DRAWS));
    gram_points_release(rows);
    gram_kernel_release(kernel);
    free(x);
    free(normal);
    free(k);
    free(factor);
}

/* 20 draws of the measure: the rule's error, and that of their mean. */
static void beside_monte_carlo(void **state)
{
    enum { ROWS = 20, SETS = 40 };
    /* f = x1^2 exp(x2): E = (0.2 + 0.25) (e - 1) */
    const double truth = 0.45 * (exp(1) - 1);
    double *normal = sample_normal(8, SETS * ROWS), *uniform = test_random(9, SETS * ROWS, 0, 1), own = 0, crude = 0;
    for (int set = 0; set < SETS; set++) {
        double x[ROWS * D], y[ROWS], mean = 0;
        for (int i = 0; i < ROWS; i++) {
            x[i * D] = 0.5 + sqrt(0.2) * normal[set * ROWS + i];
            x[i * D + 1] = uniform[set * ROWS + i];
            y[i] = x[i * D] * x[i * D] * exp(x[i * D + 1]);
            mean += y[i] / ROWS;
        }
        own += pow(integrate(*state, ROWS, x, y, MEASURE, NULL).mean - truth, 2) / SETS;
        crude += pow(mean - truth, 2) / SETS;
    }
    print_message("root mean square error with %d values: %.2g, Monte Carlo %.2g\n", (int)ROWS, sqrt(own), sqrt(crude));
    assert_true(sqrt(own) < sqrt(crude) / 3);
    free(normal);
    free(uniform);
}

static void write_candidates(const char *path, int count, const double *x)
{
    gram_string text = {0};
    char a[GRAM_NUMBER_SIZE], b[GRAM_NUMBER_SIZE];
    gram_string_add(&text, "x1,x2\n");
    for (int i = 0; i < count; i++)
        gram_string_add(&text, "%s,%s\n", gram_number_format(x[i * D], a), gram_number_format(x[i * D + 1], b));
    test_write_file(path, text.data, text.length);
    gram_string_free(&text);
}

/* Each choice against refits with every candidate in turn. */
static void next_places(void **state)
{
    enum { CANDIDATES = 25, NEXT = 4 };
    const char *const settings[] = {"candidates", "candidates.csv", "next", "4", "noise", "0.001", NULL};
    double *c = test_random(11, CANDIDATES * D, -0.3, 1.3), *start = test_random(12, N * D, 0, 1);
    double x[(N + NEXT) * D], y[N + NEXT] = {0};
    write_candidates("candidates.csv", CANDIDATES, c);
    memcpy(x, start, N * D * sizeof *x);
    const integral found = integrate(*state, N, x, y, MEASURE, settings);
    assert_int_equal(found.chosen, NEXT);
    for (int t = 0; t < NEXT; t++) {
        double best = INFINITY;
        int where = -1;
        for (int i = 0; i < CANDIDATES; i++) {
            memcpy(x + (ptrdiff_t)(N + t) * D, c + (ptrdiff_t)i * D, D * sizeof *x);
            const double std = integrate(*state, N + t + 1, x, y, MEASURE, settings + 4).std;
            if (std < best) best = std, where = i;
        }
        assert_int_equal((int)found.next[t], where + 1);
        test_near("deviation", NULL, 1, &found.next_std[t], &best, 1e-7);
        memcpy(x + (ptrdiff_t)(N + t) * D, c + (ptrdiff_t)where * D, D * sizeof *x);
    }
    free(c);
    free(start);
}

/* The rows of a file as the measure: weights by dense algebra, and the mean is near that over the rows. */
static void samples_as_measures(void **state)
{
    enum { ROWS = 30 };
    double *c = test_random(13, ROWS * D, 0, 1), *x = test_random(14, N * D, 0, 1), y[N], z[N] = {0}, mean = 0;
    write_candidates("sample.csv", ROWS, c);
    for (int i = 0; i < N; i++) y[i] = x[i * D] + sin(x[i * D + 1]);
    for (int i = 0; i < N * ROWS; i++)
        z[i / ROWS] += kernel_at(x + (ptrdiff_t)(i / ROWS) * D, c + (ptrdiff_t)(i % ROWS) * D) / ROWS;
    for (int i = 0; i < ROWS; i++) mean += (c[i * D] + sin(c[i * D + 1])) / ROWS;
    const integral found = integrate(*state, N, x, y, "sample(sample.csv)", NULL);
    for (int i = 0; i < N; i++) { /* K w = z */
        double sum = 0;
        for (int j = 0; j < N; j++) sum += kernel_at(x + (ptrdiff_t)i * D, x + (ptrdiff_t)j * D) * found.weights[j];
        test_near("K w", NULL, 1, &sum, &z[i], 1e-7);
    }
    assert_true(fabs(found.mean - mean) < 4 * found.std + 0.02);
    free(c);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(span),        cmocka_unit_test(calibrated),          cmocka_unit_test(beside_monte_carlo),
        cmocka_unit_test(next_places), cmocka_unit_test(samples_as_measures),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
