/* The fits of cross-validation, each from the one before, in part on a core of the variables that still move: decision values
 * of the rows left out against machines fitted from nothing to a finer tolerance. */
#include "method/svm/svm_chain.h"
#include "svm_check.h"

enum { FOLDS = 3, STRENGTHS = 3 };

static const double C[STRENGTHS] = {1, 10, 40};
static const char *const KERNEL = "rbf(ell=0.2)";

/* The folds' machines from nothing, rows of a fold having weight 0. */
static void slow_decisions(gram_context *context, const svm_sample *s, const gram_svm_options *machine,
                           const int64_t *fold, int64_t outputs, double *out)
{
    gram_points *x = test_points(context, s->n, s->d, s->x);
    double *w = test_numbers(s->n), *f = test_numbers(s->n * outputs);
    for (int left = 0; left < FOLDS; left++) {
        gram_svm_options o = *machine;
        o.tolerance = 1e-6;
        o.weights = w;
        for (int64_t i = 0; i < s->n; i++) w[i] = fold[i] != left;
        gram_svm *svm = svm_fit(context, KERNEL, s, &o);
        OK(context, gram_svm_predict(context, svm, x, NULL, f, NULL));
        for (int64_t i = 0; i < s->n; i++)
            if (fold[i] == left) memcpy(out + i * outputs, f + i * outputs, (size_t)outputs * sizeof *out);
        gram_svm_destroy(svm);
    }
    gram_points_release(x);
    free(w);
    free(f);
}

static float *matrix_f32(gram_context *context, const svm_sample *s)
{
    double *exact = svm_matrix(context, KERNEL, s);
    float *k = malloc((size_t)(s->n * s->n) * sizeof *k);
    assert_non_null(k);
    for (int64_t i = 0; i < s->n * s->n; i++) k[i] = (float)exact[i];
    free(exact);
    return k;
}

static void run_chains(gram_context *context, gram_svm_chains *chains)
{
    const gram_sweep sweep = {.what = "chains",
                              .tasks = chains->folds * chains->outputs,
                              .scratch_bytes = chains->bytes,
                              .run = gram_svm_chain_run,
                              .argument = chains};
    OK(context, gram_sweep_run(context, &sweep));
}

static void compare(gram_context *context, const svm_sample *s, const gram_svm_options *machine,
                    const gram_svm_chains *chains, double most)
{
    double *slow = test_numbers(s->n * chains->outputs);
    for (int64_t k = 0; k < chains->strengths; k++) {
        gram_svm_options o = *machine;
        o.C = C[k];
        slow_decisions(context, s, &o, chains->fold, chains->outputs, slow);
        const double *fast = gram_svm_decisions_at(chains, 0, k);
        for (int64_t i = 0; i < s->n * chains->outputs; i++)
            if (!(fabs(fast[i] - slow[i]) <= most))
                FAIL_TEST("C = %g, row %lld: %g, alone %g", C[k], (long long)(i / chains->outputs), fast[i], slow[i]);
    }
    free(slow);
}

static void check_level(gram_isa isa, gram_svm_kind kind, int64_t classes, int64_t n, int intercept)
{
    gram_context *context = test_context(2, isa);
    svm_sample s = svm_sample_make(57, n, 2, classes, 0.1);
    gram_svm_options machine = svm_options(kind);
    gram_kernel *kernel = test_kernel(context, KERNEL);
    gram_points *x = test_points(context, n, 2, s.x);
    gram_svm_data data;
    machine.tolerance = 1e-5;
    machine.intercept = intercept;
    OK(context, gram_svm_data_make(context, "test", kernel, x, svm_sample_y(&s, kind), &machine, &data));
    float *k = matrix_f32(context, &s);
    double c[STRENGTHS];
    int64_t *fold = malloc((size_t)n * sizeof *fold);
    assert_non_null(fold);
    memcpy(c, C, sizeof c);
    gram_svm_chains chains = {.data = &data,
                              .loops = gram_smo_loops_choose(isa),
                              .n = n,
                              .outputs = data.outputs,
                              .folds = FOLDS,
                              .strengths = kind == GRAM_SVM_NU ? 1 : STRENGTHS,
                              .fold = fold,
                              .c = c,
                              .k = &k,
                              .decisions = test_numbers(STRENGTHS * n * data.outputs),
                              .work = malloc((size_t)(FOLDS * data.outputs) * sizeof *chains.work),
                              .most = 10000 * n};
    const gram_folds_rule rule = gram_svm_folds_rule(&data, FOLDS, NULL, NULL, 0);
    OK(context, gram_folds_deal(context, "test", n, &rule, fold));
    gram_svm_chains_measure(&chains);
    chains.patience = 0; /* small samples end before it does */
    run_chains(context, &chains);
    compare(context, &s, &machine, &chains, 2e-3);
    int64_t cores = 0;
    for (int64_t i = 0; i < FOLDS * data.outputs; i++) cores += chains.work[i].cores;
    print_message("%lld cores\n", (long long)cores);
    assert_true(cores >= 2); /* else nothing of them is tested */
    free(fold);
    free(chains.decisions);
    free(chains.work);
    free(k);
    gram_svm_data_free(context, &data);
    gram_points_release(x);
    gram_kernel_release(kernel);
    svm_sample_free(&s);
    gram_context_destroy(context);
}

static void check(gram_svm_kind kind, int64_t classes, int64_t n, int intercept)
{
    check_level(GRAM_ISA_PLAIN, kind, classes, n, intercept);
    if (test_has_isa(GRAM_ISA_AVX2)) check_level(GRAM_ISA_AVX2, kind, classes, n, intercept);
}

static void test_two_classes(void **state)
{
    (void)state;
    check(GRAM_SVM_C, 2, 700, 1);
}

static void test_pairs(void **state)
{
    (void)state;
    check(GRAM_SVM_C, 3, 1000, 1);
}

/* Two equality constraints, which a core has to keep. */
static void test_nu(void **state)
{
    (void)state;
    check(GRAM_SVM_NU, 2, 700, 1);
}

/* No constraint at all. */
static void test_no_intercept(void **state)
{
    (void)state;
    check(GRAM_SVM_C, 2, 700, 0);
}

static void test_regression(void **state)
{
    (void)state;
    check(GRAM_SVM_EPSILON_REGRESSION, 2, 400, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_classes), cmocka_unit_test(test_pairs),
                                       cmocka_unit_test(test_no_intercept), cmocka_unit_test(test_nu),
                                       cmocka_unit_test(test_regression)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
