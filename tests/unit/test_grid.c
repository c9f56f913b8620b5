/* Grids from text: the points by hand, and what is not a grid. */
#include "support.h"

static void grids_are_read_and_filled(void **state)
{
    static const double expected[] = {0, -1, 0, 0, 0, 1, 0.5, -1, 0.5, 0, 0.5, 1};
    gram_grid grid;
    double x[12];
    (void)state;
    assert_int_equal(gram_grid_parse("0:.5:2,-1:1:3", &grid), GRAM_OK);
    assert_int_equal(grid.axis_count, 2);
    assert_true(gram_grid_count(&grid) == 6);
    gram_grid_fill(&grid, x);
    for (int i = 0; i < 12; i++) assert_true(x[i] == expected[i]);
}

/* The last value is b itself, however (b - a) i / (n - 1) rounds. */
static void ends_are_exact(void **state)
{
    gram_grid grid;
    double x[7];
    (void)state;
    assert_int_equal(gram_grid_parse("0.1:0.7:7", &grid), GRAM_OK);
    gram_grid_fill(&grid, x);
    assert_true(x[0] == 0.1 && x[6] == 0.7);
}

static void other_texts_are_refused(void **state)
{
    static const char *const texts[] = {"",       "0:1",   "0:1:1",     "1:0:5",           "0:0:5",   "0:1:5,",
                                        "0:1:5;", "a:1:5", "0:1e999:5", "0:1:99999999999", "0:1:5 x", "0 :1:5"};
    gram_grid grid;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(gram_grid_parse(texts[i], &grid), GRAM_ERROR_SYNTAX);
    assert_int_equal(gram_grid_parse("0:1:2,0:1:2,0:1:2,0:1:2,0:1:2,0:1:2,0:1:2,0:1:2", &grid), GRAM_OK);
    assert_int_equal(gram_grid_parse("0:1:2,0:1:2,0:1:2,0:1:2,0:1:2,0:1:2,0:1:2,0:1:2,0:1:2", &grid),
                     GRAM_ERROR_SYNTAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_are_read_and_filled),
        cmocka_unit_test(ends_are_exact),
        cmocka_unit_test(other_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
