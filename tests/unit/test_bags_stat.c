/* Regression on distributions that are known by samples only: the error falls with the number of bags and with their size, as the theory of two-stage sampling says (Szabo,
 * Sriperumbudur, Poczos and Gretton, "Learning theory for distribution regression", JMLR 17, 2016). */
#include <math.h>
#include <stdlib.h>

#include "dense_twin.h"
#include "support.h"

enum { TESTS = 60, TEST_SIZE = 80, MOST = 120, RUNS = 4 };

static double uniform(uint64_t *seed)
{
    return ((double)(test_bits(seed) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *seed)
{
    const double radius = sqrt(-2 * log(uniform(seed)));
    return radius * cos(2 * 3.14159265358979 * uniform(seed));
}

typedef struct sample {
    int64_t start[MOST + 1];
    double *rows, y[MOST];
    gram_points *points;
} sample;

/* Pairs of correlated normal numbers; what is to be found is how much the correlation takes from their entropy. */
static void draw(gram_context *context, uint64_t seed, int64_t bags, int64_t size, sample *s)
{
    s->rows = test_numbers(bags * size * 2);
    for (int64_t i = 0; i <= bags; i++) s->start[i] = i * size;
    for (int64_t i = 0; i < bags; i++) {
        const double r = 1.9 * uniform(&seed) - 0.95;
        s->y[i] = 0.5 * log(1 - r * r);
        for (int64_t k = i * size; k < (i + 1) * size; k++) {
            s->rows[2 * k] = normal(&seed);
            s->rows[2 * k + 1] = r * s->rows[2 * k] + sqrt(1 - r * r) * normal(&seed);
        }
    }
    OK(context, gram_points_create_bags(context, bags, 2, s->start, s->rows, &s->points));
}

static void drop(sample *s)
{
    gram_points_release(s->points);
    free(s->rows);
}

/* The mean squared error of ridge regression on new bags, with the best of some ridges. */
static double error_of(gram_context *context, const gram_kernel *kernel, uint64_t seed, int64_t bags, int64_t size)
{
    static sample train, test;
    double best = INFINITY;
    draw(context, 1000 + seed, bags, size, &train);
    draw(context, seed, TESTS, TEST_SIZE, &test);
    double *k = test_matrix(context, kernel, train.points, NULL),
           *cross = test_matrix(context, kernel, test.points, train.points);
    for (double ridge = 1e-3; ridge < 10; ridge *= 10) {
        double a[MOST * MOST], c[MOST], error = 0;
        for (int64_t i = 0; i < bags * bags; i++) a[i] = k[i] + (i % (bags + 1) == 0 ? ridge : 0);
        for (int64_t i = 0; i < bags; i++) c[i] = train.y[i];
        (void)dense_solve(bags, a, 1, c);
        for (int64_t t = 0; t < TESTS; t++) {
            double f = 0;
            for (int64_t i = 0; i < bags; i++) f += cross[t * bags + i] * c[i];
            error += pow(f - test.y[t], 2) / TESTS;
        }
        best = fmin(best, error);
    }
    free(k), free(cross);
    drop(&train);
    drop(&test);
    return best;
}

static double mean_error(gram_context *context, const char *text, int64_t bags, int64_t size)
{
    gram_kernel *kernel = test_kernel(context, text);
    double sum = 0;
    for (uint64_t run = 1; run <= RUNS; run++) sum += error_of(context, kernel, run, bags, size) / RUNS;
    gram_kernel_release(kernel);
    return sum;
}

static void expect_less(const char *what, double few, double many, double share)
{
    if (!(many < share * few)) FAIL_TEST("%s: %g after %g", what, many, few);
}

static void the_error_falls_with_bags_and_with_rows(void **state)
{
    gram_context *context = *state;
    static const char *const texts[] = {"after(mean(rbf(ell=1)), rbf(ell=0.3))",
                                        "after(mean(rbf(ell=1), fourier=200), rbf(ell=0.3))"};
    for (int t = 0; t < 2; t++) {
        const double small = mean_error(context, texts[t], 120, 4), medium = mean_error(context, texts[t], 120, 16),
                     large = mean_error(context, texts[t], 120, 64), few = mean_error(context, texts[t], 15, 64),
                     some = mean_error(context, texts[t], 40, 64);
        expect_less("4 and 16 rows in 120 bags", small, medium, 0.8);
        expect_less("16 and 64 rows in 120 bags", medium, large, 0.8);
        expect_less("15 and 40 bags of 64 rows", few, some, 0.8);
        expect_less("40 and 120 bags of 64 rows", some, large, 0.8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_error_falls_with_bags_and_with_rows)};
    return cmocka_run_group_tests(tests, test_open, test_close);
}
