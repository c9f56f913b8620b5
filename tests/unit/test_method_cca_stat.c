/* The level of kernel CCA's permutation test: p-values of independent views are uniform, with kappa given and with kappa chosen from the
 * same rows. */
#include <math.h>
#include <stdlib.h>

#include <gram/cca.h>

#include "support.h"

static double *normal(uint64_t seed, int64_t count)
{
    double *out = test_numbers(count);
    gram_random_normal((gram_random){seed, 1}, 0, count, out);
    return out;
}

static gram_cca *fit(gram_context *context, int64_t n, const double *x, const double *y, double kappa, int64_t shuffles)
{
    gram_cca *cca = NULL;
    gram_kernel *kx = test_kernel(context, "rbf(ell=1)"), *ky = test_kernel(context, "rbf(ell=0.3)");
    gram_points *px = test_points(context, n, 1, x), *py = test_points(context, n, 1, y);
    gram_cca_options options;
    gram_cca_options_init(&options, sizeof options);
    options.components = 1;
    options.kappa = kappa;
    options.permutations = shuffles;
    OK(context, gram_cca_fit(context, kx, px, ky, py, &options, &cca));
    gram_points_release(px), gram_points_release(py);
    gram_kernel_release(kx), gram_kernel_release(ky);
    return cca;
}

/* p-values of independent views, in one of 20 classes: chi-squared with 19 degrees of freedom, below its 99.9 % point. */
static void uniform_p(int64_t n, int64_t sets, double kappa)
{
    enum { CELLS = 20, SHUFFLES = 99 };
    double count[CELLS] = {0}, chi = 0;
    for (int64_t set = 0; set < sets; set++) {
        double *x = normal((uint64_t)(100 + set), n), *y = test_random((uint64_t)(7000 + set), n, 0, 1);
        gram_context *own = TEST_CONTEXT(.threads = 1, .seed = (uint64_t)set);
        gram_cca *cca = fit(own, n, x, y, kappa, SHUFFLES);
        const double p = gram_cca_get_report(cca)->p_value; /* 0.01, 0.02, ... 1 */
        count[(int)(p * (SHUFFLES + 1) - 0.5) / ((SHUFFLES + 1) / CELLS)] += 1;
        gram_cca_destroy(cca);
        gram_context_destroy(own);
        free(x), free(y);
    }
    for (int c = 0; c < CELLS; c++) chi += pow(count[c] - (double)sets / CELLS, 2) / ((double)sets / CELLS);
    if (!(chi < 43.82)) FAIL_TEST("kappa %g: p-values are not uniform: chi-squared %g", kappa, chi);
}

static void level_kappa_given(void **state)
{
    (void)state;
    uniform_p(24, 600, 0.02);
}

static void level_kappa_chosen(void **state)
{
    (void)state;
    uniform_p(16, 200, NAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(level_kappa_given), cmocka_unit_test(level_kappa_chosen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
