/* Support vector machines with each of their allocations failing in turn: a clean status, nothing held. */
#include "oom.h"
#include "svm_check.h"

enum { N = 30 };

static gram_status fit(gram_context *c, const svm_sample *s, gram_kernel *k, gram_points *x, const gram_svm_options *o)
{
    gram_svm *svm = NULL;
    double labels[N], p[3 * N];
    gram_status status = gram_svm_fit(c, k, x, svm_sample_y(s, o->kind), o, &svm);
    if (status >= 0) status = gram_svm_predict(c, svm, x, labels, NULL, gram_svm_sigmoids(svm) ? p : NULL);
    gram_svm_destroy(svm);
    return status;
}

static gram_status play_with(gram_context *c, size_t cache, int64_t folds)
{
    svm_sample s = svm_sample_make(1, N, 2, 3, 0.2);
    gram_kernel *k = NULL;
    gram_points *x = NULL;
    gram_status status = gram_kernel_parse(c, "rbf(ell=0.5)", &k);
    if (status >= 0) status = gram_points_create_f64(c, N, 2, s.x, 2, &x);
    for (int kind = 0; kind < 5 && status >= 0; kind++) {
        gram_svm_options o = svm_options((gram_svm_kind)kind);
        o.cache_bytes = cache;
        o.probability_folds = kind == 0 ? folds : 0;
        status = fit(c, &s, k, x, &o);
    }
    gram_points_release(x);
    gram_kernel_release(k);
    svm_sample_free(&s);
    return status;
}

static gram_status play_small(gram_context *c)
{
    return play_with(c, 0, 3);
}

static gram_status play_large(gram_context *c)
{
    return play_with(c, 5000, 0);
}

static gram_status play_tune(gram_context *c)
{
    svm_sample s = svm_sample_make(1, N, 2, 3, 0.2);
    gram_kernel *k = NULL, *tuned = NULL;
    gram_points *x = NULL;
    gram_svm_tune_options o;
    gram_svm_tune_options_init(&o, sizeof o);
    o.width_count = o.C_count = 2;
    o.folds = 3;
    gram_status status = gram_kernel_parse(c, "rbf", &k);
    double strength;
    if (status >= 0) status = gram_points_create_f64(c, N, 2, s.x, 2, &x);
    for (o.rows = 20; o.rows <= N && status >= 0; o.rows += 10) {
        status = gram_svm_tune(c, k, x, s.labels, NULL, &o, &tuned, &strength, NULL, NULL, NULL);
        gram_kernel_release(tuned);
        tuned = NULL;
    }
    gram_points_release(x);
    gram_kernel_release(k);
    svm_sample_free(&s);
    return status;
}

static void test_each(void **state)
{
    (void)state;
    static const oom_play plays[] = {play_small, play_large, play_tune};
    for (int k = 0; k < 3; k++)
        for (int for_good = 0; for_good < 2; for_good++)
            if (oom_each(plays[k], for_good) < 50) FAIL_TEST("play %d needs hardly any memory", k);
}

static void test_budget(void **state)
{
    (void)state;
    (void)oom_budget(play_large);
    (void)oom_budget(play_tune);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each), cmocka_unit_test(test_budget)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
