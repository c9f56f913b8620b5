/* Every allocation of a regression on the line failing in turn, and budgets that are too small. */
#include "method/gp/markov/gp_markov.h"
#include "oom.h"

enum { N = 600, M = 9 };

static double x[N], y[N], basis[N], z[M], out[3 * M], gradient[8];

static gram_status play(gram_context *c)
{
    gram_status status;
    gram_kernel *kernel = NULL;
    gram_points *points = NULL, *others = NULL;
    gram_markov *fit = NULL;
    gram_gp_options o;
    double value;
    gram_gp_options_init(&o, sizeof o);
    o.mean = GRAM_MEAN_LINEAR;
    o.flat = 1;
    o.columns = 1;
    o.basis = basis;
    o.ld = 1;
    STEP(gram_kernel_parse(c, "0.5*matern(nu=1.5, ell=1)*(cosine(p=2) + 0.1) + 0.1*white()", &kernel));
    STEP(gram_points_create_f64(c, N, 1, x, 1, &points));
    STEP(gram_points_create_f64(c, M, 1, z, 1, &others));
    STEP(gram_markov_likelihood(c, kernel, points, y, &o, &value, gradient));
    STEP(gram_markov_fit(c, kernel, points, y, &o, &fit));
    STEP(gram_markov_predict(c, fit, others, basis, 1, out, out + M));
    STEP(gram_markov_draw(c, fit, others, basis, 1, 3, out, 3));
    STEP(gram_markov_draw_prior(c, kernel, others, 2, out, 3));
done:
    gram_markov_destroy(fit);
    gram_points_release(points);
    gram_points_release(others);
    gram_kernel_release(kernel);
    return status;
}

static void failures(void **state)
{
    (void)state;
    test_uniform(1, N, 0, 5, x);
    test_uniform(2, N, -1, 1, y);
    test_uniform(3, N, -1, 1, basis);
    test_uniform(4, M, 0, 6, z);
    const long long alone = oom_each(play, 0);
    assert_true(alone > 30);
    (void)oom_each(play, 1);
    (void)oom_budget(play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(failures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
