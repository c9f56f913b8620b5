/* Levels over 1000 seeded runs at 0.05: exact tests reject 29 to 74 times (a binomial count is outside with a probability of 0.001),
 * approximate ones, and those made conservative by ties, at most 74 times. Power over 500 seeds: the aggregated test has at least 0.9 of the power
 * of the test with the median heuristic where that one is good, and more where it is not. The figures are in docs/validation.md. */
#include "unit/levels.h"

enum { RUNS = 1000, SEEDS = 500, LEAST = 29, MOST = 74 };

static void levels(void **state)
{
    int wrong = 0;
    (void)state;
    for (int i = 0; i < LEVEL_CASE_COUNT; i++) {
        const level_case *c = &LEVEL_CASES[i];
        const int rejected = count_rejections(c, RUNS, 0, 1);
        const int bad = rejected > MOST || (c->exact && rejected < LEAST);
        print_message("%-50s %4d of %d%s\n", c->name, rejected, RUNS, bad ? "  WRONG" : "");
        wrong += bad;
    }
    assert_int_equal(wrong, 0);
}

static void independence(void **state)
{
    (void)state;
    const int exact = count_dependent(GRAM_HSIC_PERMUTATION, RUNS, 40, 0);
    const int approximate = count_dependent(GRAM_HSIC_GAMMA, RUNS, 200, 0);
    print_message("independence: permutation %d, gamma %d of %d\n", exact, approximate, RUNS);
    assert_true(exact >= LEAST && exact <= MOST && approximate <= MOST);
}

static void power(void **state)
{
    static const double changes[][2] = {{0.35, 1}, {0, 1.4}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        level_case c = {"", GRAM_MMD_TEST_PERMUTATION, 0, NORMAL, 100, 100, 2, 0};
        const int one = count_rejections(&c, SEEDS, changes[i][0], changes[i][1]);
        c.method = GRAM_MMD_TEST_AGGREGATED;
        const int all = count_rejections(&c, SEEDS, changes[i][0], changes[i][1]);
        print_message("power: shift %g, scale %g: median %d, aggregated %d of %d\n", changes[i][0], changes[i][1], one,
                      all, SEEDS);
        assert_true(all >= 0.9 * one);
    }
    const int one = count_blobs(GRAM_MMD_TEST_PERMUTATION, SEEDS, 350);
    const int all = count_blobs(GRAM_MMD_TEST_AGGREGATED, SEEDS, 350);
    const int split = count_blobs(GRAM_MMD_TEST_SPLIT, SEEDS, 350);
    print_message("power: blobs: median %d, aggregated %d, split %d of %d\n", one, all, split, SEEDS);
    assert_true(all >= one + SEEDS / 4);
}

/* n = m = 50,000 within 1 GiB. */
static void large(void **state)
{
    const int64_t n = 50000, d = 10;
    gram_context *context = sample_context(0, 2);
    double *x = sample_normal(1, n * d), *y = sample_normal(2, n * d);
    gram_mmd_options options;
    (void)state;
    gram_mmd_options_init(&options, sizeof options);
    options.method = GRAM_MMD_TEST_PERMUTATION;
    options.permutations = 99;
    const double p = sample_test(context, NULL, &options, n, x, n, y, d);
    print_message("n = m = 50000: p = %g, %.0f MiB\n", p, (double)gram_context_memory_peak(context) / 1048576);
    assert_true(gram_context_memory_peak(context) < (size_t)1 << 30);
    free(x);
    free(y);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(levels), cmocka_unit_test(independence),
                                       cmocka_unit_test(power), cmocka_unit_test(large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
