/* Coverage of 95 % intervals at the true parameters over 1000 simulated data sets, for each way to solve: outside of 926 to
 * 971 with probability 1e-3. */
#include "unit/coverage.h"

static void coverage(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof coverage_ways / sizeof *coverage_ways; k++) {
        const int count = coverage_count(&coverage_ways[k], 1000);
        print_message("%s: %d of 1000\n", coverage_ways[k].name, count);
        assert_in_range(count, 926, 971);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(coverage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
