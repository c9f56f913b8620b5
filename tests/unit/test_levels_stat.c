/* Levels and power, the short version: tests/long/test_levels.c has more runs and the same cases. */
#include "levels.h"

enum { RUNS = 200 };

/* Binomial(200, 0.05) is above 21 or below 2 with a probability of 0.0006 and 0.0004. */
static void levels(void **state)
{
    (void)state;
    for (int i = 0; i < LEVEL_CASE_COUNT; i++) {
        const level_case *c = &LEVEL_CASES[i];
        const int rejected = count_rejections(c, RUNS, 0, 1);
        print_message("%-50s %d of %d\n", c->name, rejected, RUNS);
        if (rejected > 21 || (c->exact && rejected < 2)) FAIL_TEST("%s: %d of %d rejected", c->name, rejected, RUNS);
    }
}

static void independence(void **state)
{
    (void)state;
    const int exact = count_dependent(GRAM_HSIC_PERMUTATION, RUNS, 40, 0);
    const int approximate = count_dependent(GRAM_HSIC_GAMMA, RUNS, 200, 0);
    const int power = count_dependent(GRAM_HSIC_PERMUTATION, RUNS, 60, 0.8);
    print_message("independence: permutation %d, gamma %d, power %d of %d\n", exact, approximate, power, RUNS);
    assert_true(exact >= 2 && exact <= 21 && approximate <= 21 && power >= 150);
}

static void power(void **state)
{
    static const double changes[][2] = {{0.35, 1}, {0, 1.4}};
    enum { FEWER = 100 };
    (void)state;
    for (int i = 0; i < 2; i++) {
        level_case c = {"", GRAM_MMD_TEST_PERMUTATION, 0, NORMAL, 100, 100, 2, 0};
        const int one = count_rejections(&c, FEWER, changes[i][0], changes[i][1]);
        c.method = GRAM_MMD_TEST_AGGREGATED;
        const int all = count_rejections(&c, FEWER, changes[i][0], changes[i][1]);
        print_message("power: shift %g, scale %g: median %d, aggregated %d of %d\n", changes[i][0], changes[i][1], one,
                      all, FEWER);
        assert_true(one >= 40 && all >= one * 0.85); /* the ratio itself is measured over 500 seeds */
    }
    const int one = count_blobs(GRAM_MMD_TEST_PERMUTATION, 30, 350),
              all = count_blobs(GRAM_MMD_TEST_AGGREGATED, 30, 350);
    const int split = count_blobs(GRAM_MMD_TEST_SPLIT, 30, 350);
    print_message("power: blobs: median %d, aggregated %d, split %d of 30\n", one, all, split);
    assert_true(all >= 20 && one <= 10);
}

static gram_context *seeded_context(uint64_t seed)
{
    gram_context_options options;
    gram_context *context = NULL;
    gram_context_options_init(&options, sizeof options);
    options.seed = seed;
    options.threads = 2;
    assert_int_equal(gram_context_create(&options, &context), GRAM_OK);
    return context;
}

/* Under the hypothesis p <= 0.1 in 10 % of the cases, within 4 standard errors; a shift of 0.15 deviations is seen. */
static void level_and_power_of_groups(void **state)
{
    enum { N = 2100, TIMES = 60 };
    int below = 0, seen = 0;
    (void)state;
    for (uint64_t seed = 0; seed < TIMES; seed++) {
        gram_context *context = seeded_context(seed);
        double *x = sample_normal(1000 + seed, N), *y = sample_normal(5000 + seed, N);
        gram_mmd_options options;
        gram_mmd_options_init(&options, sizeof options);
        options.method = GRAM_MMD_TEST_AGGREGATED;
        options.permutations = 99;
        options.width_count = 2;
        options.width_least = 0.5;
        options.width_most = 2;
        below += sample_test(context, "rbf(ell=1)", &options, N, x, N, y, 1) <= 0.1;
        for (int i = 0; i < N; i++) y[i] += 0.15;
        if (seed < 10) seen += sample_test(context, "rbf(ell=1)", &options, N, x, N, y, 1) <= 0.05;
        free(x);
        free(y);
        gram_context_destroy(context);
    }
    print_message("groups: %d of %d below 0.1, a shift seen in %d of 10\n", below, TIMES, seen);
    assert_true(below <= 6 + 4 * sqrt(6 * 0.9));
    assert_true(seen >= 9);
}

/* One of 50 columns is shifted: narrow widths see each point alone there, and must not drown the others in rounding. */
static void power_in_many_columns(void **state)
{
    enum { N = 50, D = 50, TIMES = 60 };
    int one = 0, all = 0;
    (void)state;
    for (uint64_t seed = 0; seed < TIMES; seed++) {
        gram_context *context = seeded_context(seed);
        double *x = sample_normal(20000 + seed, N * D), *y = sample_normal(30000 + seed, N * D);
        gram_mmd_options options;
        gram_mmd_options_init(&options, sizeof options);
        options.permutations = 199;
        for (int i = 0; i < N; i++) y[(ptrdiff_t)i * D] += 1.3;
        all += sample_test(context, NULL, &options, N, x, N, y, D) <= 0.05;
        options.method = GRAM_MMD_TEST_PERMUTATION;
        one += sample_test(context, NULL, &options, N, x, N, y, D) <= 0.05;
        free(x);
        free(y);
        gram_context_destroy(context);
    }
    print_message("power: one of 50 columns: median %d, aggregated %d of %d\n", one, all, TIMES);
    assert_true(one >= 35 && all >= one * 0.85);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(levels), cmocka_unit_test(independence),
                                       cmocka_unit_test(power), cmocka_unit_test(level_and_power_of_groups),
                                       cmocka_unit_test(power_in_many_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
