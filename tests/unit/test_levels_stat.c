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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(levels), cmocka_unit_test(independence),
                                       cmocka_unit_test(power)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
