/* Support vector machines against their optimality conditions, with every kind, several kernels, weights and classes; what
 * their parameters promise; and the small and the large solver against each other. */
#include "svm_check.h"

static const char *const KERNELS[] = {"rbf(ell=0.5)", "matern(nu=1.5, ell=1)", "linear(c=0)", "poly(m=3, c=1)",
                                      "rbf(ell=0.7) + 0.1*white()"};
enum { KERNEL_COUNT = sizeof KERNELS / sizeof *KERNELS };

/* Conditions, objective and gap of one fit, all recomputed. */
static void check_fit(const svm_sample *s, const char *kernel, const gram_svm_options *o, gram_context *context)
{
    double *k = svm_matrix(context, kernel, s), objective = 0;
    gram_svm *svm = svm_fit(context, kernel, s, o);
    const gram_svm_report *r = gram_svm_get_report(svm);
    assert_true(r->converged);
    for (int64_t p = 0; p < r->outputs; p++) {
        const gram_svm_pair *pair = gram_svm_pairs(svm) + p;
        const double violation = svm_violation(s, k, o, svm, p), value = svm_objective(s, k, o, svm, p);
        if (violation > o->tolerance) FAIL_TEST("%s, kind %d: violation %g", kernel, (int)o->kind, violation);
        if (fabs(value - pair->objective) > 1e-9 * (1 + fabs(value)))
            FAIL_TEST("%s: objective %.12g, reported %.12g", kernel, value, pair->objective);
        objective += value;
        if (o->kind == GRAM_SVM_ONE_CLASS) continue;
        const double gap = svm_primal(s, k, o, svm, p) + value;
        if (fabs(gap - pair->gap) > 1e-8 * (1 + fabs(value)) || gap < -1e-9)
            FAIL_TEST("%s: gap %g, reported %g", kernel, gap, pair->gap);
    }
    assert_true(fabs(objective - r->objective) <= 1e-9 * (1 + fabs(objective)));
    gram_svm_destroy(svm);
    free(k);
}

static void test_conditions(void **state)
{
    (void)state;
    static const gram_svm_kind kinds[] = {GRAM_SVM_C, GRAM_SVM_EPSILON_REGRESSION, GRAM_SVM_ONE_CLASS};
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(1, 180, 3, 3, 0.2);
    for (int kind = 0; kind < 3; kind++)
        for (int k = 0; k < KERNEL_COUNT; k++)
            for (int large = 0; large < 2; large++) {
                gram_svm_options o = svm_options(kinds[kind]);
                o.tolerance = k == 2 ? 1e-3 : 1e-6;
                o.C = 3;
                o.cache_bytes = large ? 40000 : 0;
                check_fit(&s, KERNELS[k], &o, context);
            }
    svm_sample_free(&s);
    gram_context_destroy(context);
}

static void test_weights(void **state)
{
    (void)state;
    const double class_weights[] = {1, 0.3, 4};
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(2, 150, 2, 3, 0.2);
    double *w = test_random(5, s.n, 0.2, 2);
    for (int64_t i = 0; i < s.n; i += 7) w[i] = 0;
    for (int large = 0; large < 2; large++)
        for (int kind = 0; kind < 2; kind++) {
            gram_svm_options o = svm_options(kind ? GRAM_SVM_EPSILON_REGRESSION : GRAM_SVM_C);
            o.tolerance = 1e-6;
            o.weights = w;
            o.class_weights = kind ? NULL : class_weights;
            o.cache_bytes = large ? 40000 : 0;
            check_fit(&s, "rbf(ell=0.4)", &o, context);
        }
    free(w);
    svm_sample_free(&s);
    gram_context_destroy(context);
}

/* Without an intercept the conditions are the same with a constant of 0, and no sum is kept: by the small solver, by the large one,
 * and where variables are left out on the way. */
static void test_no_intercept(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(4, 180, 3, 3, 0.2), many = svm_sample_make(5, 2100, 2, 2, 0.05);
    for (int kind = 0; kind < 2; kind++) {
        gram_svm_options o = svm_options(kind ? GRAM_SVM_EPSILON_REGRESSION : GRAM_SVM_C);
        o.intercept = 0;
        o.C = 3;
        for (int k = 0; k < KERNEL_COUNT; k += 2)
            for (int large = 0; large < 2; large++) {
                o.tolerance = k == 2 ? 1e-3 : 1e-6;
                o.cache_bytes = large ? 40000 : 0;
                check_fit(&s, KERNELS[k], &o, context);
            }
    }
    gram_svm_options o = svm_options(GRAM_SVM_C);
    o.intercept = 0;
    check_fit(&many, "rbf(ell=0.3)", &o, context);
    svm_sample_free(&s);
    svm_sample_free(&many);
    gram_context_destroy(context);
}

/* The margins of nu and of one class are set by their constants: there is nothing to leave out. */
static void test_intercept_is_needed(void **state)
{
    (void)state;
    static const gram_svm_kind kinds[] = {GRAM_SVM_NU, GRAM_SVM_ONE_CLASS, GRAM_SVM_NU_REGRESSION};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(4, 30, 2, 2, 0.2);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    gram_points *x = test_points(context, s.n, s.d, s.x);
    for (int k = 0; k < 3; k++) {
        gram_svm *svm = NULL;
        gram_svm_options o = svm_options(kinds[k]);
        o.intercept = 0;
        REFUSED(context, gram_svm_fit(context, kernel, x, svm_sample_y(&s, kinds[k]), &o, &svm), GRAM_ERROR_UNSUPPORTED,
                "intercept = 0");
        assert_null(svm);
    }
    gram_points_release(x);
    gram_kernel_release(kernel);
    svm_sample_free(&s);
    gram_context_destroy(context);
}

/* A whole weight is as many equal rows. */
static void test_weight_is_repetition(void **state)
{
    (void)state;
    enum { N = 60 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(3, N, 2, 2, 0.2), twice = svm_sample_make(3, 2 * N, 2, 2, 0.2);
    double w[N];
    for (int i = 0; i < N; i++) {
        w[i] = i % 2 ? 2 : 1;
        memcpy(twice.x + 2 * i, s.x + 2 * i, 2 * sizeof(double));
        twice.labels[i] = s.labels[i];
        memcpy(twice.x + 2 * (N + i), s.x + 2 * i, 2 * sizeof(double));
        twice.labels[N + i] = s.labels[i];
    }
    double w2[2 * N];
    for (int i = 0; i < 2 * N; i++) w2[i] = i < N || w[i - N] == 2 ? 1 : 0;
    for (int kind = 0; kind < 2; kind++) {
        gram_svm_options o = svm_options(kind ? GRAM_SVM_NU : GRAM_SVM_C);
        o.tolerance = 1e-8;
        o.weights = w;
        gram_svm *a = svm_fit(context, "rbf(ell=0.5)", &s, &o);
        o.weights = w2;
        gram_svm *b = svm_fit(context, "rbf(ell=0.5)", &twice, &o);
        const double first = gram_svm_get_report(a)->objective, second = gram_svm_get_report(b)->objective;
        if (fabs(first - second) > 1e-6 * fabs(first)) FAIL_TEST("kind %d: objectives %g and %g", kind, first, second);
        assert_true(fabs(gram_svm_pairs(a)->constant - gram_svm_pairs(b)->constant) < 1e-5);
        gram_svm_destroy(a);
        gram_svm_destroy(b);
    }
    svm_sample_free(&s);
    svm_sample_free(&twice);
    gram_context_destroy(context);
}

/* ---- what nu promises ---- */

static double *decisions_of(gram_context *context, const svm_sample *s, const gram_svm *svm)
{
    double *f = test_numbers(s->n * gram_svm_get_report(svm)->outputs);
    gram_points *x = test_points(context, s->n, s->d, s->x);
    OK(context, gram_svm_predict(context, svm, x, NULL, f, NULL));
    gram_points_release(x);
    return f;
}

/* nu is above the share of rows beyond the margin, and below that of support vectors; the margins are at +-1, the tube's edges at
 * the reported epsilon. */
static void check_nu(gram_context *context, const svm_sample *s, gram_svm_kind kind, double nu, size_t cache)
{
    gram_svm_options o = svm_options(kind);
    o.nu = nu;
    o.C = 2;
    o.tolerance = 1e-7;
    o.cache_bytes = cache;
    gram_svm *svm = svm_fit(context, "rbf(ell=0.5)", s, &o);
    const gram_svm_report *r = gram_svm_get_report(svm);
    const double *duals = gram_svm_duals(svm), n = (double)s->n;
    /* the tolerance is that of the problem before coefficients are scaled to margins of +-1 */
    const double scale = gram_function_coefficients(gram_svm_function(svm))[0] / duals[gram_svm_support(svm)[0]];
    const double slack = 2 * o.tolerance * scale;
    double *f = decisions_of(context, s, svm);
    int64_t errors = 0, support = 0;
    assert_true(r->converged);
    for (int64_t i = 0; i < s->n; i++) {
        const int side = s->labels[i] == 0 ? 1 : -1;
        const double excess = kind == GRAM_SVM_NU          ? 1 - side * f[i]
                              : kind == GRAM_SVM_ONE_CLASS ? -f[i]
                                                           : fabs(s->targets[i] - f[i]) - r->epsilon;
        const double most = kind == GRAM_SVM_NU_REGRESSION ? o.C : 1;
        errors += excess > slack;
        support += duals[i] != 0;
        if (duals[i] == 0 && excess > slack)
            FAIL_TEST("row %lld is beyond its margin without a coefficient", (long long)i);
        if (fabs(duals[i]) > 1e-9 && fabs(duals[i]) < most - 1e-9 && fabs(excess) > slack)
            FAIL_TEST("kind %d, nu %g, cache %zu: row %lld, dual %g, is free and off its margin by %g", kind, nu, cache,
                      (long long)i, duals[i], excess);
    }
    if ((double)errors > nu * n + 1e-6)
        FAIL_TEST("kind %d: %lld margin errors, nu n = %g", kind, (long long)errors, nu * n);
    if ((double)support < nu * n - 1e-6)
        FAIL_TEST("kind %d: %lld support vectors, nu n = %g", kind, (long long)support, nu * n);
    free(f);
    gram_svm_destroy(svm);
}

static void test_nu(void **state)
{
    (void)state;
    static const gram_svm_kind kinds[] = {GRAM_SVM_NU, GRAM_SVM_ONE_CLASS, GRAM_SVM_NU_REGRESSION};
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(4, 200, 2, 2, 0.15);
    for (int kind = 0; kind < 3; kind++)
        for (int k = 0; k < 3; k++) {
            const double nu[] = {0.1, 0.35, 0.6};
            check_nu(context, &s, kinds[kind], nu[k], 0);
            check_nu(context, &s, kinds[kind], nu[k], 40000);
        }
    svm_sample_free(&s);
    gram_context_destroy(context);
}

/* nu classification is C classification with C = scale, and nu regression epsilon regression with the epsilon found. */
static void test_nu_equals_c(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(6, 160, 2, 2, 0.2);
    gram_svm_options o = svm_options(GRAM_SVM_NU);
    o.tolerance = 1e-8;
    gram_svm *nu = svm_fit(context, "rbf(ell=0.5)", &s, &o);
    const double *a = gram_function_coefficients(gram_svm_function(nu));
    double largest = 0;
    for (int64_t i = 0; i < gram_svm_get_report(nu)->n_support; i++) largest = fmax(largest, fabs(a[i]));
    o.kind = GRAM_SVM_C;
    o.C = largest; /* rows at their bound of 1 have the largest coefficient */
    gram_svm *c = svm_fit(context, "rbf(ell=0.5)", &s, &o);
    double *f = decisions_of(context, &s, nu), *g = decisions_of(context, &s, c);
    if (test_distance(s.n, 1, f, 1, g, 1) > 1e-5)
        FAIL_TEST("decisions differ by %g", test_distance(s.n, 1, f, 1, g, 1));
    gram_svm_destroy(nu);
    gram_svm_destroy(c);
    free(f);
    free(g);

    o = svm_options(GRAM_SVM_NU_REGRESSION);
    o.tolerance = 1e-8;
    nu = svm_fit(context, "rbf(ell=0.5)", &s, &o);
    o.kind = GRAM_SVM_EPSILON_REGRESSION;
    o.epsilon = gram_svm_get_report(nu)->epsilon;
    assert_true(o.epsilon > 0);
    c = svm_fit(context, "rbf(ell=0.5)", &s, &o);
    f = decisions_of(context, &s, nu);
    g = decisions_of(context, &s, c);
    if (test_distance(s.n, 1, f, 1, g, 1) > 1e-5) FAIL_TEST("values differ by %g", test_distance(s.n, 1, f, 1, g, 1));
    gram_svm_destroy(nu);
    gram_svm_destroy(c);
    free(f);
    free(g);
    svm_sample_free(&s);
    gram_context_destroy(context);
}

/* ---- the large solver: levels, caches, threads ---- */

/* Large enough that variables are left out, in every kind, with a cache that holds a part of the rows. */
static void test_large(void **state)
{
    (void)state;
    static const gram_svm_kind kinds[] = {GRAM_SVM_C, GRAM_SVM_EPSILON_REGRESSION, GRAM_SVM_ONE_CLASS};
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(7, 2600, 2, 2, 0.1);
    for (int kind = 0; kind < 3; kind++) {
        gram_svm_options o = svm_options(kinds[kind]);
        o.tolerance = 1e-5;
        o.nu = 0.1;
        o.cache_bytes = 1 << 22;
        check_fit(&s, "rbf(ell=0.3)", &o, context);
    }
    svm_sample_free(&s);
    gram_context_destroy(context);
}

/* A tolerance that rounding does not allow ends all the same, and says so; small problems and large ones. */
static void test_below_rounding(void **state)
{
    (void)state;
    static const int64_t sizes[] = {300, 2600};
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.3)");
    for (int i = 0; i < 2; i++) {
        svm_sample s = svm_sample_make(7, sizes[i], 2, 2, 0.1);
        gram_points *x = test_points(context, s.n, s.d, s.x);
        gram_svm_options o = svm_options(GRAM_SVM_C);
        gram_svm *svm = NULL;
        o.tolerance = 1e-20;
        assert_int_equal(gram_svm_fit(context, kernel, x, s.labels, &o, &svm), GRAM_NOT_CONVERGED);
        assert_true(gram_svm_get_report(svm)->violation < 1e-12);
        gram_svm_destroy(svm);
        gram_points_release(x);
        svm_sample_free(&s);
    }
    gram_kernel_release(kernel);
    gram_context_destroy(context);
}

static void test_threads(void **state)
{
    (void)state;
    svm_sample s = svm_sample_make(8, 2300, 2, 2, 0.1);
    for (int kind = 0; kind < 5; kind++) {
        gram_svm *svm[3];
        gram_svm_options o = svm_options((gram_svm_kind)kind);
        o.nu = 0.1;
        o.cache_bytes = 1 << 22;
        for (int t = 0; t < 3; t++) {
            gram_context *context = test_context(t + 1, GRAM_ISA_AUTO);
            svm[t] = svm_fit(context, "rbf(ell=0.3)", &s, &o);
            gram_context_destroy(context);
        }
        for (int t = 1; t < 3; t++) {
            assert_true(test_same_bits(s.n, 1, gram_svm_duals(svm[0]), 1, gram_svm_duals(svm[t]), 1));
            assert_true(gram_svm_pairs(svm[0])->constant == gram_svm_pairs(svm[t])->constant);
        }
        for (int t = 0; t < 3; t++) gram_svm_destroy(svm[t]);
    }
    svm_sample_free(&s);
}

/* The plain loops and the wide ones solve the same problem. */
static void test_instruction_sets(void **state)
{
    (void)state;
    svm_sample s = svm_sample_make(9, 300, 3, 3, 0.2);
    if (!test_has_isa(GRAM_ISA_AVX2)) skip();
    for (int kind = 0; kind < 5; kind++) {
        double objective[2];
        for (int isa = 0; isa < 2; isa++) {
            gram_context *context = test_context(1, isa ? GRAM_ISA_AVX2 : GRAM_ISA_PLAIN);
            gram_svm_options o = svm_options((gram_svm_kind)kind);
            o.tolerance = 1e-8;
            o.cache_bytes = 1 << 17;
            gram_svm *svm = svm_fit(context, "rbf(ell=0.5)", &s, &o);
            objective[isa] = gram_svm_get_report(svm)->objective;
            gram_svm_destroy(svm);
            gram_context_destroy(context);
        }
        if (fabs(objective[0] - objective[1]) > 1e-7 * fabs(objective[0]))
            FAIL_TEST("kind %d: %.12g and %.12g", kind, objective[0], objective[1]);
    }
    svm_sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions),           cmocka_unit_test(test_weights),
        cmocka_unit_test(test_no_intercept),         cmocka_unit_test(test_intercept_is_needed),
        cmocka_unit_test(test_weight_is_repetition), cmocka_unit_test(test_nu),
        cmocka_unit_test(test_nu_equals_c),          cmocka_unit_test(test_large),
        cmocka_unit_test(test_below_rounding),       cmocka_unit_test(test_threads),
        cmocka_unit_test(test_instruction_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
