/* The level of the test of fit over 1000 seeded samples of 200 rows: at most 74 rejections at level 0.05, which a test that
 * keeps its level exceeds with probability 4e-4; for several kernels, dimensions and targets. Then its power. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/support.h"

enum { RUNS = 1000, N = 200 };

typedef struct scenario {
    const char *what;
    int64_t d;
    const char *kernel; /* NULL: imq by the median */
    double flip;
    double correlation; /* of rows next to each other */
    double shift;       /* of the first column, in deviations */
    int64_t n;
    int least, most;
} scenario;

static const scenario scenarios[] = {
    {"N(0, I), d = 2, imq", 2, NULL, 0.5, 0, 0, N, 26, 74},
    {"N(0, I), d = 8, imq", 8, NULL, 0.5, 0, 0, N, 20, 74},
    {"N(0, I), d = 1, rbf", 1, "rbf(ell=1)", 0.5, 0, 0, N, 26, 74},
    {"shift of 0.25, d = 2, imq", 2, NULL, 0.5, 0, 0.25, N, 780, RUNS},
    {"chain 0.5, n = 500, flip 0.03", 1, NULL, 0.03, 0.5, 0, 500, 0, 74},
};

static void draw(int64_t run, const scenario *s, double *x)
{
    gram_random_normal((gram_random){.seed = 2024, .stream = 1}, (uint64_t)(run * s->n * s->d), s->n * s->d, x);
    for (int64_t i = s->d; i < s->n * s->d; i++)
        x[i] = s->correlation * x[i - s->d] + sqrt(1 - s->correlation * s->correlation) * x[i];
    for (int64_t i = 0; i < s->n; i++) x[i * s->d] += s->shift;
}

static int rejected(int64_t run, const scenario *s, double *x, double *scores)
{
    gram_kernel *kernel;
    gram_stein_test_options options;
    gram_stein_test_result result = {.size = sizeof result};
    gram_context *context = TEST_CONTEXT(.threads = 1, .seed = (uint64_t)run);
    draw(run, s, x);
    for (int64_t i = 0; i < s->n * s->d; i++) scores[i] = -x[i];
    gram_points *points = test_points(context, s->n, s->d, x);
    if (s->kernel)
        kernel = test_kernel(context, s->kernel);
    else
        OK(context, gram_stein_kernel(context, points, GRAM_STEIN_METRIC_MED, 0, &kernel));
    gram_stein_test_options_init(&options, sizeof options);
    options.flip = s->flip;
    OK(context, gram_stein_test(context, kernel, points, scores, s->d, &options, &result));
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_context_destroy(context);
    return result.reject;
}

static void counts(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof scenarios / sizeof *scenarios; k++) {
        const scenario *s = &scenarios[k];
        double *x = test_numbers(s->n * s->d), *scores = test_numbers(s->n * s->d);
        int count = 0;
        for (int64_t run = 0; run < RUNS; run++) count += rejected(run, s, x, scores);
        print_message("%s: %d of %d\n", s->what, count, RUNS);
        assert_in_range(count, s->least, s->most);
        free(x);
        free(scores);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
