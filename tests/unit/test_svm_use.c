/* Support vector machines in use: bad input, degenerate data, budgets and going on, several classes, probabilities,
 * precomputed kernels and f32 points. */
#include "svm_check.h"

/* ---- bad input ---- */

static void expect(gram_context *context, gram_status wanted, const char *said, gram_kernel *kernel, gram_points *x,
                   const double *y, const gram_svm_options *o)
{
    gram_svm *svm = NULL;
    const gram_status status = gram_svm_fit(context, kernel, x, y, o, &svm);
    if (status != wanted || svm || !strstr(gram_context_message(context), said))
        FAIL_TEST("%s with '%s' instead of %s with '%s'", gram_status_name(status), gram_context_message(context),
                  gram_status_name(wanted), said);
}

static void test_bad_options(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(1, 30, 2, 2, 0.1);
    gram_kernel *k = test_kernel(context, "rbf(ell=1)"), *unset = test_kernel(context, "rbf");
    gram_points *x = test_points(context, s.n, s.d, s.x);
    const double values[] = {0, -1, NAN, INFINITY};
    gram_svm_options o = svm_options(GRAM_SVM_C);
    for (int i = 0; i < 4; i++) {
        o.C = values[i];
        expect(context, GRAM_ERROR_ARGUMENT, "C = ", k, x, s.labels, &o);
    }
    o = svm_options(GRAM_SVM_NU);
    for (int i = 0; i < 4; i++) {
        o.nu = values[i];
        expect(context, GRAM_ERROR_ARGUMENT, "nu = ", k, x, s.labels, &o);
    }
    o = svm_options(GRAM_SVM_EPSILON_REGRESSION);
    for (int i = 1; i < 4; i++) {
        o.epsilon = values[i];
        expect(context, GRAM_ERROR_ARGUMENT, "epsilon = ", k, x, s.targets, &o);
    }
    o = svm_options(GRAM_SVM_C);
    for (int i = 0; i < 4; i++) {
        o.tolerance = values[i];
        expect(context, GRAM_ERROR_ARGUMENT, "tolerance = ", k, x, s.labels, &o);
    }
    o = svm_options((gram_svm_kind)7);
    expect(context, GRAM_ERROR_ARGUMENT, "kind = 7", k, x, s.labels, &o);
    o = svm_options(GRAM_SVM_C);
    o.probability_folds = 1;
    expect(context, GRAM_ERROR_ARGUMENT, "probability_folds = 1", k, x, s.labels, &o);
    o = svm_options(GRAM_SVM_ONE_CLASS);
    o.probability_folds = 5;
    expect(context, GRAM_ERROR_UNSUPPORTED, "classification only", k, x, NULL, &o);
    o = svm_options(GRAM_SVM_C);
    expect(context, GRAM_ERROR_ARGUMENT, "y is NULL", k, x, NULL, &o);
    expect(context, GRAM_ERROR_ARGUMENT, "kernel is NULL", NULL, x, s.labels, &o);
    expect(context, GRAM_ERROR_ARGUMENT, "x is NULL", k, NULL, s.labels, &o);
    expect(context, GRAM_ERROR_UNSET, "", unset, x, s.labels, &o);
    gram_points_release(x);
    gram_kernel_release(k);
    gram_kernel_release(unset);
    svm_sample_free(&s);
    gram_context_destroy(context);
}

static void test_bad_data(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(1, 30, 2, 2, 0.1);
    gram_kernel *k = test_kernel(context, "rbf(ell=1)");
    gram_points *x = test_points(context, s.n, s.d, s.x);
    gram_svm_options o = svm_options(GRAM_SVM_C);
    double *y = test_numbers(s.n), *w = test_random(3, s.n, 1, 2);
    expect(context, GRAM_ERROR_DATA, "one class", k, x, y, &o); /* all 0 */
    memcpy(y, s.labels, (size_t)s.n * sizeof *y);
    y[17] = 0.5;
    expect(context, GRAM_ERROR_DATA, "y[17] = 0.5", k, x, y, &o);
    y[17] = NAN;
    expect(context, GRAM_ERROR_DATA, "y[17]", k, x, y, &o);
    y[17] = -1;
    expect(context, GRAM_ERROR_DATA, "y[17] = -1", k, x, y, &o);
    y[17] = 3;
    expect(context, GRAM_ERROR_DATA, "class 2 has no row", k, x, y, &o);
    y[17] = INFINITY;
    o.kind = GRAM_SVM_EPSILON_REGRESSION;
    expect(context, GRAM_ERROR_DATA, "y[17] = inf is not finite", k, x, y, &o);
    o = svm_options(GRAM_SVM_C);
    o.weights = w;
    w[4] = -1;
    expect(context, GRAM_ERROR_DATA, "weights[4] = -1 is negative", k, x, s.labels, &o);
    for (int64_t i = 0; i < s.n; i++) w[i] = s.labels[i];
    expect(context, GRAM_ERROR_DATA, "class 0 has no row of weight above 0", k, x, s.labels, &o);
    o = svm_options(GRAM_SVM_NU);
    memset(y, 0, (size_t)s.n * sizeof *y);
    y[0] = y[1] = y[2] = 1;
    o.nu = 0.21; /* 2 * 3/30 is the most */
    expect(context, GRAM_ERROR_ARGUMENT, "nu = 0.21 is infeasible: classes 0 and 1 allow at most 0.2", k, x, y, &o);
    gram_points *none = NULL;
    s.x[7] = NAN;
    assert_int_equal(gram_points_create_f64(context, s.n, s.d, s.x, s.d, &none), GRAM_ERROR_DATA);
    free(y);
    free(w);
    gram_points_release(x);
    gram_kernel_release(k);
    svm_sample_free(&s);
    gram_context_destroy(context);
}

/* ---- degenerate data: finite and feasible, whatever the kind ---- */

static void check_finite(gram_context *context, const svm_sample *s, const char *kernel, const gram_svm_options *o)
{
    gram_svm *svm = svm_fit(context, kernel, s, o);
    const gram_svm_report *r = gram_svm_get_report(svm);
    gram_points *x = test_points(context, s->n, s->d, s->x);
    double *f = test_numbers(s->n * r->outputs), *labels = test_numbers(s->n);
    OK(context, gram_svm_predict(context, svm, x, labels, f, NULL));
    int good = isfinite(r->objective) && isfinite(r->gap) && isfinite(r->violation);
    for (int64_t i = 0; i < s->n * r->outputs; i++) good &= isfinite(f[i]) && isfinite(gram_svm_duals(svm)[i]);
    for (int64_t i = 0; i < s->n; i++) good &= isfinite(labels[i]);
    if (!good) FAIL_TEST("%s, kind %d: not finite", kernel, (int)o->kind);
    if (!r->converged) FAIL_TEST("%s, kind %d: violation %g", kernel, (int)o->kind, r->violation);
    free(f);
    free(labels);
    gram_points_release(x);
    gram_svm_destroy(svm);
}

static void test_degenerate(void **state)
{
    (void)state;
    static const char *const kernels[] = {"rbf(ell=0.5)",        "const(2)",        "linear(c=0)", "sigmoid(a=2, c=-1)",
                                          "1e60*poly(m=2, c=1)", "1e-60*rbf(ell=1)"};
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    for (int data = 0; data < 4; data++)
        for (int k = 0; k < 6; k++)
            for (int kind = 0; kind < 5; kind++)
                for (int large = 0; large < 2; large++) {
                    svm_sample s = svm_sample_make(11, data == 3 ? 2 : 60, 2, 2, 0.3);
                    if (data == 0) memset(s.x, 0, (size_t)(s.n * s.d) * sizeof *s.x); /* all rows equal */
                    for (int64_t i = 0; data == 1 && i < s.n; i++) s.x[2 * i] = s.x[2 * i + 1] = (double)(i % 3);
                    for (int64_t i = 0; data == 3 && i < 2; i++) s.labels[i] = (double)i; /* two rows */
                    for (int64_t i = 0; data == 1 && i < s.n; i++) s.targets[i] = 7;      /* a constant target */
                    gram_svm_options o = svm_options((gram_svm_kind)kind);
                    o.cache_bytes = large ? 20000 : 0;
                    o.iterations = 200000;
                    if (k == 4) o.tolerance = 1e55; /* in units of the function, which are those of the kernel */
                    check_finite(context, &s, kernels[k], &o);
                    svm_sample_free(&s);
                }
    gram_context_destroy(context);
}

/* All rows equal: the majority wins everywhere, and the tube is centred on the median. */
static void test_equal_rows(void **state)
{
    (void)state;
    enum { N = 30 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(12, N, 2, 2, 0.3);
    double labels[N];
    memset(s.x, 0, N * 2 * sizeof(double));
    for (int i = 0; i < N; i++) s.labels[i] = i < 20;
    for (int i = 0; i < N; i++) s.targets[i] = i;
    gram_svm_options o = svm_options(GRAM_SVM_C);
    gram_svm *svm = svm_fit(context, "rbf(ell=1)", &s, &o);
    gram_points *x = test_points(context, N, 2, s.x);
    OK(context, gram_svm_predict(context, svm, x, labels, NULL, NULL));
    for (int i = 0; i < N; i++) assert_true(labels[i] == 1);
    gram_svm_destroy(svm);
    o = svm_options(GRAM_SVM_EPSILON_REGRESSION);
    svm = svm_fit(context, "rbf(ell=1)", &s, &o);
    OK(context, gram_svm_predict(context, svm, x, labels, NULL, NULL));
    assert_true(labels[0] > 14 - 0.2 && labels[0] < 15 + 0.2);
    gram_points_release(x);
    gram_svm_destroy(svm);
    svm_sample_free(&s);
    gram_context_destroy(context);
}

/* ---- budgets and going on ---- */

static void test_resume(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(13, 400, 2, 3, 0.2);
    gram_kernel *k = test_kernel(context, "rbf(ell=0.3)");
    gram_points *x = test_points(context, s.n, s.d, s.x);
    for (int kind = 0; kind < 5; kind++)
        for (int large = 0; large < 2; large++) {
            gram_svm *whole, *part = NULL, *next = NULL;
            gram_svm_options o = svm_options((gram_svm_kind)kind);
            o.tolerance = 1e-6;
            o.C = 10;
            o.cache_bytes = large ? 100000 : 0;
            whole = svm_fit(context, "rbf(ell=0.3)", &s, &o);
            o.iterations = 40;
            int fits = 0;
            for (gram_status status = GRAM_NOT_CONVERGED; status == GRAM_NOT_CONVERGED; fits++) {
                status = gram_svm_fit(context, k, x, svm_sample_y(&s, o.kind), &o, &next);
                assert_true(status >= 0 && next);
                assert_true((status == GRAM_OK) == (gram_svm_get_report(next)->converged != 0));
                if (part)
                    assert_true(gram_svm_get_report(next)->objective <= gram_svm_get_report(part)->objective + 1e-9 ||
                                o.kind == GRAM_SVM_NU); /* its objective is scaled by the margin */
                gram_svm_destroy(part);
                part = next;
                o.start = gram_svm_duals(part);
                o.iterations *= 2;
                assert_true(fits < 40);
            }
            assert_true(fits > 1);
            const double a = gram_svm_get_report(whole)->objective, b = gram_svm_get_report(part)->objective;
            if (fabs(a - b) > 1e-6 * fabs(a)) FAIL_TEST("kind %d: %.10g and, in parts, %.10g", kind, a, b);
            gram_svm_destroy(whole);
            gram_svm_destroy(part);
        }
    gram_points_release(x);
    gram_kernel_release(k);
    svm_sample_free(&s);
    gram_context_destroy(context);
}

/* However soon it was stopped, the next call begins where it ended: its first step only lowers the objective. */
static void test_resume_early(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(17, 60, 2, 2, 0.2);
    gram_kernel *k = test_kernel(context, "rbf(ell=0.3)");
    gram_points *x = test_points(context, s.n, s.d, s.x);
    for (int kind = 0; kind < 5; kind++)
        for (int64_t steps = 1; steps < 60 && kind != GRAM_SVM_NU; steps++) {
            gram_svm *part, *next;
            gram_svm_options o = svm_options((gram_svm_kind)kind);
            o.tolerance = 1e-6;
            o.iterations = steps;
            assert_true(gram_svm_fit(context, k, x, svm_sample_y(&s, o.kind), &o, &part) >= 0);
            o.start = gram_svm_duals(part);
            o.iterations = 1;
            assert_true(gram_svm_fit(context, k, x, svm_sample_y(&s, o.kind), &o, &next) >= 0);
            const double a = gram_svm_get_report(part)->objective, b = gram_svm_get_report(next)->objective;
            if (b > a + 1e-9 * fabs(a))
                FAIL_TEST("kind %d: %.10g after %lld steps, then %.10g", kind, a, (long long)steps, b);
            gram_svm_destroy(part);
            gram_svm_destroy(next);
        }
    gram_points_release(x);
    gram_kernel_release(k);
    svm_sample_free(&s);
    gram_context_destroy(context);
}

/* A start from a smaller C, scaled, ends at the same optimum with fewer steps. A clock that has run out stops at once. */
static void test_warm_start(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(14, 500, 2, 2, 0.2);
    gram_svm_options o = svm_options(GRAM_SVM_C);
    o.tolerance = 1e-5;
    gram_svm *first = svm_fit(context, "rbf(ell=0.3)", &s, &o);
    o.C = 1.2;
    gram_svm *cold = svm_fit(context, "rbf(ell=0.3)", &s, &o);
    double *start = test_numbers(s.n);
    for (int64_t i = 0; i < s.n; i++) start[i] = 1.2 * gram_svm_duals(first)[i];
    o.start = start;
    gram_svm *warm = svm_fit(context, "rbf(ell=0.3)", &s, &o);
    const gram_svm_report *a = gram_svm_get_report(cold), *b = gram_svm_get_report(warm);
    assert_true(fabs(a->objective - b->objective) < 1e-6 * fabs(a->objective));
    if (b->iterations > 0.9 * (double)a->iterations)
        FAIL_TEST("%lld steps from a warm start, %lld from 0", (long long)b->iterations, (long long)a->iterations);
    o.start = gram_svm_duals(cold);
    gram_svm *same = svm_fit(context, "rbf(ell=0.3)", &s, &o);
    assert_true(gram_svm_get_report(same)->iterations == 0);
    gram_svm_destroy(first);
    gram_svm_destroy(cold);
    gram_svm_destroy(warm);
    gram_svm_destroy(same);
    free(start);
    svm_sample_free(&s);

    s = svm_sample_make(14, 3000, 2, 2, 0.2);
    o = svm_options(GRAM_SVM_C);
    o.seconds = 1e-9;
    o.C = 1000;
    gram_svm *none = svm_fit(context, "rbf(ell=0.3)", &s, &o);
    assert_false(gram_svm_get_report(none)->converged);
    assert_true(gram_svm_get_report(none)->violation > o.tolerance);
    gram_svm_destroy(none);
    svm_sample_free(&s);
    gram_context_destroy(context);
}

/* With a goal for the gap it stops earlier, and the gap is what was asked for. */
static void test_gap(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(15, 2200, 2, 2, 0.2);
    gram_svm_options o = svm_options(GRAM_SVM_C);
    o.tolerance = 1e-6;
    gram_svm *tight = svm_fit(context, "rbf(ell=0.3)", &s, &o);
    o.gap = 1e-2;
    gram_svm *loose = svm_fit(context, "rbf(ell=0.3)", &s, &o);
    const gram_svm_report *a = gram_svm_get_report(tight), *b = gram_svm_get_report(loose);
    assert_true(b->converged && b->gap <= 1e-2 * fabs(b->objective) && b->violation > o.tolerance);
    assert_true(b->iterations < a->iterations);
    assert_true(b->objective >= a->objective && b->objective - a->objective <= b->gap);
    gram_svm_destroy(tight);
    gram_svm_destroy(loose);
    svm_sample_free(&s);
    gram_context_destroy(context);
}

/* ---- several classes, probabilities ---- */

/* Votes by the book. */
static double slow_label(int64_t classes, const double *f)
{
    int votes[8] = {0};
    int64_t o = 0, best = 0;
    for (int64_t a = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++) votes[f[o++] > 0 ? a : b]++;
    for (int64_t c = 0; c < classes; c++)
        if (votes[c] > votes[best]) best = c;
    return (double)best;
}

/* The objective of pairwise coupling at p. */
static double coupling(int64_t classes, const double *f, const double *sigmoids, const double *p)
{
    double sum = 0;
    int64_t o = 0;
    for (int64_t a = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++, o++) {
            const double r = 1 / (1 + exp(sigmoids[2 * o] * f[o] + sigmoids[2 * o + 1]));
            const double miss = (1 - r) * p[a] - r * p[b];
            sum += miss * miss;
        }
    return sum;
}

/* Class weights so unequal that every decision is for one class, of which there are fewer rows: the label by the probability is that
 * class all the same. */
static void test_probabilities_keep_labels(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(17, 60, 2, 2, 3);
    static const double weights[] = {1000, 1e-4};
    gram_svm_options o = svm_options(GRAM_SVM_C);
    for (int64_t i = 0; i < s.n; i++) s.labels[i] = i % 3 > 0;
    o.class_weights = weights;
    o.C = 0.0625;
    o.probability_folds = 5;
    gram_svm *svm = svm_fit(context, "rbf(ell=5)", &s, &o);
    gram_points *x = test_points(context, s.n, s.d, s.x);
    double *f = test_numbers(s.n), *p = test_numbers(2 * s.n), *labels = test_numbers(s.n);
    OK(context, gram_svm_predict(context, svm, x, labels, f, p));
    assert_true(gram_svm_sigmoids(svm)[0] < 0);
    for (int64_t i = 0; i < s.n; i++) assert_true(f[i] > 0 && labels[i] == 0 && p[2 * i] > 0.5);
    free(f);
    free(p);
    free(labels);
    gram_points_release(x);
    gram_svm_destroy(svm);
    svm_sample_free(&s);
    gram_context_destroy(context);
}

static void test_probabilities(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    for (int64_t classes = 2; classes <= 4; classes++) {
        svm_sample s = svm_sample_make(16, 400, 2, classes, 0.3);
        gram_svm_options o = svm_options(GRAM_SVM_C);
        o.probability_folds = 5;
        gram_svm *svm = svm_fit(context, "rbf(ell=0.5)", &s, &o), *again = svm_fit(context, "rbf(ell=0.5)", &s, &o);
        const int64_t outputs = gram_svm_get_report(svm)->outputs;
        const double *sigmoids = gram_svm_sigmoids(svm);
        assert_true(test_same_bits(outputs, 2, sigmoids, 2, gram_svm_sigmoids(again), 2));
        gram_points *x = test_points(context, s.n, s.d, s.x);
        double *f = test_numbers(s.n * outputs), *p = test_numbers(s.n * classes), *labels = test_numbers(s.n);
        double loss = 0;
        OK(context, gram_svm_predict(context, svm, x, labels, f, p));
        for (int64_t i = 0; i < s.n; i++) {
            double sum = 0, *row = p + i * classes;
            int64_t best = 0;
            for (int64_t c = 0; c < classes; c++) {
                assert_true(row[c] > 0 && row[c] < 1);
                sum += row[c];
                if (row[c] > row[best]) best = c;
            }
            assert_true(fabs(sum - 1) < 1e-12);
            assert_true(labels[i] == (double)best);
            loss -= log(row[(int)s.labels[i]]);
            const double value = coupling(classes, f + i * outputs, sigmoids, row);
            for (int64_t a = 0; classes > 2 && a < classes; a++) { /* no small exchange of probability is better */
                const int64_t b = (a + 1) % classes;
                const double step = 1e-4;
                row[a] += step;
                row[b] -= step;
                assert_true(coupling(classes, f + i * outputs, sigmoids, row) >= value - 1e-12);
                row[a] -= 2 * step;
                row[b] += 2 * step;
                assert_true(coupling(classes, f + i * outputs, sigmoids, row) >= value - 1e-12);
                row[a] += step;
                row[b] -= step;
            }
        }
        /* better than knowing nothing but the number of classes, by far */
        if (loss / (double)s.n > 0.85 * log((double)classes)) FAIL_TEST("log loss %g", loss / (double)s.n);
        free(f);
        free(p);
        free(labels);
        gram_points_release(x);
        gram_svm_destroy(svm);
        gram_svm_destroy(again);
        svm_sample_free(&s);
    }
    gram_context_destroy(context);
}

/* On decision values drawn from a sigmoid, that sigmoid is found; the fit has no gradient left. Even odds stay at f = 0. */
static void test_sigmoid(void **state)
{
    (void)state;
    enum { N = 4000 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(17, N, 2, 2, 0);
    double *f = test_random(18, N, -3, 3), *u = test_random(19, N, 0, 1), slope = 0;
    int64_t count = 0;
    for (int i = 0; i < N; i++) s.labels[i] = u[i] < 1 / (1 + exp(-2 * f[i])) ? 0 : 1;
    for (int i = 0; i < N; i++) count += s.labels[i] == 0;
    gram_svm_options o = svm_options(GRAM_SVM_C);
    o.held_out = f;
    o.iterations = 1;
    gram_svm *svm = svm_fit(context, "rbf(ell=0.5)", &s, &o);
    const double *ab = gram_svm_sigmoids(svm);
    if (fabs(ab[0] + 2) > 0.25 || ab[1] != 0) FAIL_TEST("A = %g, B = %g", ab[0], ab[1]);
    for (int i = 0; i < N; i++) {
        const double first = (double)count, second = (double)(N - count);
        const double target = s.labels[i] == 0 ? (first + 1) / (first + 2) : 1 / (second + 2);
        slope += f[i] * (target - 1 / (1 + exp(ab[0] * f[i])));
    }
    assert_true(fabs(slope) < 1e-4);
    gram_svm_destroy(svm);
    free(f);
    free(u);
    svm_sample_free(&s);
    gram_context_destroy(context);
}

static void test_labels(void **state)
{
    (void)state;
    enum { M = 300, CLASSES = 5, OUTPUTS = 10 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *f = test_random(20, M * OUTPUTS, -1, 1), labels[M], p[M * CLASSES];
    OK(context, gram_svm_decide(context, CLASSES, M, f, NULL, labels, NULL));
    for (int i = 0; i < M; i++) assert_true(labels[i] == slow_label(CLASSES, f + i * OUTPUTS));
    assert_int_equal(gram_svm_decide(context, CLASSES, M, f, NULL, NULL, p), GRAM_ERROR_UNSUPPORTED);
    assert_int_equal(gram_svm_decide(context, 1, M, f, NULL, labels, NULL), GRAM_ERROR_ARGUMENT);
    free(f);
    svm_sample s = svm_sample_make(21, 400, 2, CLASSES, 0.02);
    gram_svm_options o = svm_options(GRAM_SVM_C);
    o.C = 10;
    gram_svm *svm = svm_fit(context, "rbf(ell=0.5)", &s, &o);
    gram_points *x = test_points(context, M, s.d, s.x);
    int right = 0;
    assert_int_equal(gram_svm_predict(context, svm, x, labels, NULL, p), GRAM_ERROR_UNSUPPORTED);
    OK(context, gram_svm_predict(context, svm, x, labels, NULL, NULL));
    for (int i = 0; i < M; i++) right += labels[i] == s.labels[i];
    if (right < 0.93 * M) FAIL_TEST("%d of %d are right", right, M);
    gram_points_release(x);
    gram_svm_destroy(svm);
    svm_sample_free(&s);
    gram_context_destroy(context);
}

/* ---- other kernels and points ---- */

static void test_precomputed(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(22, 150, 2, 3, 0.2);
    double *matrix = svm_matrix(context, "rbf(ell=0.5)", &s), *f = test_numbers(3 * s.n), *g = test_numbers(3 * s.n);
    gram_kernel *k = NULL;
    gram_points *x = test_points(context, s.n, s.d, s.x);
    gram_svm_options o = svm_options(GRAM_SVM_C);
    gram_svm *given = NULL, *usual = svm_fit(context, "rbf(ell=0.5)", &s, &o);
    OK(context, gram_kernel_precomputed(context, "K", s.n, matrix, s.n, &k));
    OK(context, gram_svm_fit(context, k, x, s.labels, &o, &given));
    assert_true(fabs(gram_svm_get_report(given)->objective - gram_svm_get_report(usual)->objective) <
                1e-4 * fabs(gram_svm_get_report(usual)->objective));
    gram_points *centres = gram_function_centres(gram_svm_function(given));
    OK(context, gram_svm_predict(context, given, centres, NULL, f, NULL));
    OK(context, gram_svm_predict(context, usual, x, NULL, g, NULL));
    assert_true(test_distance(s.n, 3, f, 3, g, 3) < 0.01);
    free(matrix);
    free(f);
    free(g);
    gram_svm_destroy(given);
    gram_svm_destroy(usual);
    gram_points_release(x);
    gram_kernel_release(k);
    svm_sample_free(&s);
    gram_context_destroy(context);
}

static void test_single(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(23, 2400, 2, 2, 0.2);
    float *narrow = malloc((size_t)(s.n * s.d) * sizeof *narrow);
    for (int64_t i = 0; i < s.n * s.d; i++) s.x[i] = (double)(narrow[i] = (float)s.x[i]);
    gram_kernel *k = test_kernel(context, "rbf(ell=0.3)");
    gram_points *x = NULL;
    gram_svm_options o = svm_options(GRAM_SVM_C);
    o.tolerance = 1e-5;
    gram_svm *wide = svm_fit(context, "rbf(ell=0.3)", &s, &o), *single = NULL;
    OK(context, gram_points_create_f32(context, s.n, s.d, narrow, s.d, &x));
    OK(context, gram_svm_fit(context, k, x, s.labels, &o, &single));
    const double a = gram_svm_get_report(wide)->objective, b = gram_svm_get_report(single)->objective;
    if (fabs(a - b) > 1e-7 * fabs(a)) FAIL_TEST("%.12g in f64, %.12g in f32", a, b);
    assert_non_null(gram_function_centres_f32(gram_svm_function(single)));
    free(narrow);
    gram_svm_destroy(wide);
    gram_svm_destroy(single);
    gram_points_release(x);
    gram_kernel_release(k);
    svm_sample_free(&s);
    gram_context_destroy(context);
}

/* Two clusters so far apart that f32 cannot tell the rows of one from each other, and a few rows between them, which are those
 * that a look at every 25th row sees: rows in f32 are worth nothing, and it must be noticed. */
static void test_far_clusters(void **state)
{
    (void)state;
    enum { N = 2400, EVERY = 25 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    svm_sample s = svm_sample_make(25, N, 2, 2, 0.1);
    for (int i = 0; i < N; i++)
        if (i % EVERY) s.x[2 * i] += i % 2 ? 3e6 : -3e6;
    gram_svm_options o = svm_options(GRAM_SVM_C);
    o.C = 5;
    double *k = svm_matrix(context, "rbf(ell=0.3)", &s);
    gram_svm *svm = svm_fit(context, "rbf(ell=0.3)", &s, &o);
    assert_true(gram_svm_get_report(svm)->converged);
    assert_true(svm_violation(&s, k, &o, svm, 0) <= o.tolerance);
    free(k);
    gram_svm_destroy(svm);
    svm_sample_free(&s);
    gram_context_destroy(context);
}

static void test_cancel(void **state)
{
    (void)state;
    gram_svm *svm = NULL;
    gram_context *context = TEST_CONTEXT(.cancel = test_stop, .threads = 1);
    for (int large = 0; large < 2; large++) {
        svm_sample s = svm_sample_make(24, large ? 8000 : 1500, 10, 2, 0.5);
        gram_kernel *k = test_kernel(context, "rbf(ell=4)");
        gram_points *x = test_points(context, s.n, s.d, s.x);
        gram_svm_options o = svm_options(GRAM_SVM_C);
        o.C = 1e6;
        assert_int_equal(gram_svm_fit(context, k, x, s.labels, &o, &svm), GRAM_ERROR_CANCELLED);
        assert_null(svm);
        gram_points_release(x);
        gram_kernel_release(k);
        svm_sample_free(&s);
    }
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_options),   cmocka_unit_test(test_bad_data),
        cmocka_unit_test(test_degenerate),    cmocka_unit_test(test_equal_rows),
        cmocka_unit_test(test_resume),        cmocka_unit_test(test_resume_early),
        cmocka_unit_test(test_warm_start),    cmocka_unit_test(test_gap),
        cmocka_unit_test(test_probabilities), cmocka_unit_test(test_probabilities_keep_labels),
        cmocka_unit_test(test_sigmoid),       cmocka_unit_test(test_labels),
        cmocka_unit_test(test_precomputed),   cmocka_unit_test(test_single),
        cmocka_unit_test(test_far_clusters),  cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
