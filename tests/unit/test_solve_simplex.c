/* Quadratic programs over the simplex: a closed form, and the conditions of optimality. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/simplex_program.h"
#include "support.h"

enum { MOST = 60 };

typedef struct world {
    double K[MOST * MOST], mu[MOST], w[MOST], gradient[MOST];
    char active[MOST];
    gram_simplex_program program;
} world;

/* K = B B'/rank + 1e-3 I, equal weights; the constant makes the least value over all of space 0 or more. */
static void prepare(world *t, int64_t m, int64_t rank, uint64_t seed)
{
    double B[MOST * MOST];
    memset(t, 0, sizeof *t);
    test_uniform(seed, m * rank, -0.5, 0.5, B);
    test_uniform(seed + 100, m, -0.05, 0.05, t->mu);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < m; j++) {
            for (int64_t k = 0; k < rank; k++) t->K[i * m + j] += B[i * rank + k] * B[j * rank + k] / (double)rank;
            t->K[i * m + j] += i == j ? 1e-3 : 0;
        }
        t->w[i] = 1 / (double)m;
        t->active[i] = 1;
    }
    t->program = (gram_simplex_program){.m = m,
                                        .K = t->K,
                                        .mu = t->mu,
                                        .constant = 1,
                                        .tolerance = 1e-12,
                                        .active = t->active,
                                        .w = t->w,
                                        .gradient = t->gradient};
}

static double slope_at(const world *t, int64_t i)
{
    double sum = -t->mu[i];
    for (int64_t j = 0; j < t->program.m; j++) sum += t->K[i * t->program.m + j] * t->w[j];
    return sum;
}

/* w in the simplex; the slope is least, and the same, wherever w > 0. */
static void assert_optimal(const world *t)
{
    const int64_t m = t->program.m;
    double total = 0, lowest = INFINITY;
    for (int64_t i = 0; i < m; i++) {
        assert_true(t->w[i] >= 0);
        total += t->w[i];
        if (t->active[i]) lowest = fmin(lowest, slope_at(t, i));
    }
    assert_true(fabs(total - 1) <= 1e-12);
    for (int64_t i = 0; i < m; i++)
        if (t->active[i] && t->w[i] > 0) assert_true(slope_at(t, i) - lowest <= 1e-11);
}

static void optimality(void **state)
{
    static const int64_t SIZES[][2] = {{1, 1}, {2, 2}, {7, 3}, {30, 30}, {MOST, 8}, {MOST, MOST}};
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++)
        for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++) {
            world t;
            prepare(&t, SIZES[s][0], SIZES[s][1], seed);
            assert_int_equal(gram_simplex_minimise(&t.program), GRAM_OK);
            assert_optimal(&t);
            double value = t.program.constant;
            for (int64_t i = 0; i < t.program.m; i++) value += t.w[i] * (slope_at(&t, i) - t.mu[i]);
            assert_true(fabs(gram_simplex_value(&t.program) - value) <= 1e-14);
        }
}

/* K diagonal and mu = 0: w_i is proportional to 1/K_ii. */
static void closed_form(void **state)
{
    enum { M = 5 };
    world t;
    double total = 0;
    (void)state;
    prepare(&t, M, 1, 0);
    for (int64_t i = 0; i < M; i++) {
        for (int64_t j = 0; j < M; j++) t.K[i * M + j] = i == j ? (double)(i + 1) : 0;
        t.mu[i] = 0;
        total += 1 / (double)(i + 1);
    }
    t.program.constant = 0;
    assert_int_equal(gram_simplex_minimise(&t.program), GRAM_OK);
    for (int64_t i = 0; i < M; i++) assert_true(fabs(t.w[i] - 1 / ((double)(i + 1) * total)) <= 1e-9);
    assert_true(fabs(gram_simplex_value(&t.program) - 1 / total) <= 1e-12);
}

/* Entries that are not active keep their weight of 0; a start in a corner leaves it. */
static void parts_of_it(void **state)
{
    enum { M = 20 };
    world t;
    (void)state;
    prepare(&t, M, M, 3);
    for (int64_t i = 0; i < M; i++) t.active[i] = i % 3 != 0;
    for (int64_t i = 0; i < M; i++) t.w[i] = i == 1;
    assert_int_equal(gram_simplex_minimise(&t.program), GRAM_OK);
    assert_optimal(&t);
    for (int64_t i = 0; i < M; i += 3) assert_true(t.w[i] == 0);
    assert_true(t.w[1] < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(optimality), cmocka_unit_test(closed_form),
                                       cmocka_unit_test(parts_of_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
