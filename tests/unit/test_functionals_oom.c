/* Functionals with every allocation failing in turn: making them, rules for integrals, K, a fit, its gradient, a model's file. */
#include <math.h>

#include "oom.h"
#include "points/points.h"

enum { N = 5 };

static gram_status play(gram_context *context)
{
    static const double at[N] = {0.1, 0.5, 0.9, 0.2, 0.7}, one = 1, high = 0.8, y[N] = {1, 2, 0, 1, -1};
    static const int64_t rows[2] = {3, 0};
    const gram_functional_term terms[N + 1] = {
        {.row = 0, .kind = GRAM_FUNCTIONAL_VALUE, .coefficient = 1, .at = &at[0]},
        {.row = 0, .kind = GRAM_FUNCTIONAL_VALUE, .coefficient = -1, .at = &at[1]},
        {.row = 1, .kind = GRAM_FUNCTIONAL_SLOPE, .coefficient = 1, .at = &at[2], .first = &one},
        {.row = 2, .kind = GRAM_FUNCTIONAL_LAPLACIAN, .coefficient = 1, .at = &at[2]},
        {.row = 3, .kind = GRAM_FUNCTIONAL_MEAN, .coefficient = 1, .at = &at[3], .first = &high},
        {.row = 4, .kind = GRAM_FUNCTIONAL_VALUE, .coefficient = 1, .at = &at[4]}};
    gram_status status = GRAM_OK;
    gram_points *x = NULL, *some = NULL;
    gram_kernel *kernel = NULL;
    gram_krr *krr = NULL;
    gram_gp *gp = NULL;
    gram_model *model = NULL, *read = NULL;
    gram_gp_options options;
    double value, gradient[3], mean[2], variance[2];
    STEP(gram_points_create_functionals(context, N, 1, N + 1, terms, &x));
    STEP(gram_kernel_parse(context, "rq(alpha=2, ell=0.7)", &kernel)); /* whose integrals are rules */
    STEP(gram_points_gather(context, x, 2, rows, &some));
    gram_gp_options_init(&options, sizeof options);
    options.noise = 0.1;
    STEP(gram_gp_fit(context, kernel, x, y, &options, &gp));
    STEP(gram_gp_predict(context, gp, some, NULL, 0, mean, variance));
    STEP(gram_gp_likelihood(context, kernel, x, y, &options, &value, gradient));
    STEP(gram_krr_fit(context, kernel, x, 1, y, 1, NULL, &krr));
    STEP(gram_krr_model(context, krr, NULL, &model));
    STEP(gram_model_write(context, model, "functionals_oom.gram"));
    STEP(gram_model_read(context, "functionals_oom.gram", &read));
done:
    gram_model_destroy(read);
    gram_model_destroy(model);
    gram_krr_destroy(krr);
    gram_gp_destroy(gp);
    gram_kernel_release(kernel);
    gram_points_release(some);
    gram_points_release(x);
    return status;
}

static void failures(void **state)
{
    (void)state;
    assert_true(oom_some(play, 300, 7) > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(failures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
