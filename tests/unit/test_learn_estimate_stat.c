/* The error on new rows that a model keeps, over seeded data sets: its logarithm is that of the error on new rows but for its standard error,
 * and the criterion that was tuned by is seen to be too low. Intervals by CV+ and by the jackknife cover as often as they say. */
#include "estimate_sets.h"

static double true_error(gram_context *context, const gram_model *model, int64_t d, uint64_t seed)
{
    enum { NEW = 1000 };
    double *x, *y, *f = test_numbers(NEW), sum = 0;
    make_set(seed + 900000, NEW, d, &x, &y);
    OK(context, gram_predict(context, model, NULL, NEW, x, d, f, 1));
    for (int64_t i = 0; i < NEW; i++) sum += (y[i] - f[i]) * (y[i] - f[i]);
    free(x);
    free(y);
    free(f);
    return sqrt(sum / NEW);
}

/* Mean and standard error over the sets of log(estimate/truth), of the estimate and of the criterion. */
static void test_honest(void **state)
{
    enum { SETS = 16 };
    gram_context *context = *state;
    static const struct {
        int64_t n, d;
        double low; /* what the criterion is below at least, on the mean */
    } CASES[] = {{40, 3, 0.04}};
    const char *const options[] = {"method", "krr", "estimate", "auto", NULL};
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        double ratio[SETS], tuned[SETS], mean, se;
        for (uint64_t s = 0; s < SETS; s++) {
            double *x, *y;
            make_set(1000 * c + s, CASES[c].n, CASES[c].d, &x, &y);
            const gram_arrays arrays = arrays_of(CASES[c].n, CASES[c].d, x, y);
            gram_model *model = learn(context, &arrays, options);
            const double truth = true_error(context, model, CASES[c].d, s);
            ratio[s] = log(fact(model, "estimate_rmse") / truth);
            tuned[s] = log(fact(model, "loo_rmse") / truth);
            assert_string_equal(gram_model_find(model, "estimate_numbers").text, "anew");
            gram_model_destroy(model);
            free(x);
            free(y);
        }
        mean_and_error(SETS, ratio, &mean, &se);
        print_message("n %d d %d: estimate %+.3f +- %.3f", (int)CASES[c].n, (int)CASES[c].d, mean, se);
        assert_true(fabs(mean) < 3 * se);
        mean_and_error(SETS, tuned, &mean, &se);
        print_message(", criterion %+.3f +- %.3f\n", mean, se);
        assert_true(mean < -CASES[c].low);
    }
}

/* ---- intervals ---- */

/* The share of new rows within their interval, over data sets; `few`: CV+, else the jackknife. */
static double coverage(gram_context *context, int64_t n, const char *method, int sets)
{
    enum { NEW = 300, D = 2 };
    const char *const options[] = {"method",
                                   method,
                                   "kernel",
                                   "rbf(ell=0.8)",
                                   strcmp(method, "svm") == 0 ? "C" : "noise",
                                   strcmp(method, "svm") == 0 ? "10" : "0.1",
                                   "estimate",
                                   "auto",
                                   NULL};
    double inside = 0, *values = test_numbers(NEW * 3);
    for (int s = 0; s < sets; s++) {
        double *x, *y, *places, *targets;
        make_set((uint64_t)(7000 + s + n), n, D, &x, &y);
        make_set((uint64_t)(97000 + s + n), NEW, D, &places, &targets);
        const gram_arrays arrays = arrays_of(n, D, x, y);
        gram_model *model = learn(context, &arrays, options);
        gram_predict_options wish;
        gram_predict_options_init(&wish, sizeof wish);
        wish.interval = 0.9;
        OK(context, gram_predict(context, model, &wish, NEW, places, D, values, 3));
        for (int i = 0; i < NEW; i++) inside += values[3 * i + 1] <= targets[i] && targets[i] <= values[3 * i + 2];
        gram_model_destroy(model);
        free(x);
        free(y);
        free(places);
        free(targets);
    }
    free(values);
    return inside / (double)NEW / (double)sets;
}

static void test_coverage(void **state)
{
    gram_context *context = *state;
    static const struct {
        const char *method;
        int64_t n;
    } CASES[] = {{"krr", 40}, {"svm", 40}, {"krr", 400}, {"svm", 400}};
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        const double share = coverage(context, CASES[c].n, CASES[c].method, 40);
        print_message("%s, n %d: %.3f of 0.9\n", CASES[c].method, (int)CASES[c].n, share);
        /* 40 sets of n rows: a deviation of about sqrt(0.09/n/40), 0.008 at n = 40 */
        assert_true(share > 0.875 && share < 0.94);
    }
}

/* ---- importance ---- */

/* y = 3 x1 + noise by a straight line: permuted, x1 costs 2 * 9 var(x1) = 6, and x2 nothing. */
static void test_importance(void **state)
{
    enum { ROWS = 400, D = 2 };
    gram_context *context = *state;
    const char *const options[] = {"kernel", "linear", "noise", "0.001", "estimate", "folds:5", NULL};
    double *x = test_random(11, ROWS * D, -1, 1), *noise = sample_normal(12, ROWS), y[ROWS];
    for (int i = 0; i < ROWS; i++) y[i] = 3 * x[i * D] + 0.1 * noise[i];
    const gram_arrays arrays = arrays_of(ROWS, D, x, y);
    gram_model *model = learn(context, &arrays, options);
    gram_description *description = NULL;
    int64_t count;
    OK(context, gram_model_describe(context, model, NULL, &description));
    const gram_importance *rows = gram_description_importance(description, &count);
    assert_int_equal(count, D);
    assert_string_equal(rows[0].name, "x1");
    print_message("x1 %.3f +- %.3f, x2 %.5f +- %.5f\n", rows[0].value, rows[0].se, rows[1].value, rows[1].se);
    assert_true(fabs(rows[0].value - 6) < 4 * rows[0].se && rows[0].se < 0.6);
    assert_true(fabs(rows[1].value) < 4 * rows[1].se);
    gram_description_destroy(description);
    gram_model_destroy(model);
    free(x);
    free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_honest), cmocka_unit_test(test_coverage),
                                       cmocka_unit_test(test_importance)};
    return cmocka_run_group_tests(tests, test_open, test_close);
}
