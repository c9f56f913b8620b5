/* Cross-validated choice of width and strength: every score against machines that are fitted fold by fold. */
#include <stdio.h>

#include "method/svm/svm.h"
#include "svm_check.h"

enum { FOLDS = 3, WIDTHS = 3, STRENGTHS = 4 };

static gram_svm_tune_options small_grid(void)
{
    gram_svm_tune_options o;
    gram_svm_tune_options_init(&o, sizeof o);
    o.folds = FOLDS;
    o.width_count = WIDTHS;
    o.C_count = STRENGTHS;
    o.width_least = 0.25;
    o.width_most = 1;
    o.C_least = 0.1;
    o.C_most = 100;
    return o;
}

/* The folds are the library's own, asked for by its internal function. */
typedef struct scene {
    svm_sample s;
    gram_context *context;
    gram_points *x;
    gram_kernel *kernel;
    gram_svm_options machine;
    int64_t *fold;
} scene;

static void set(scene *e, gram_svm_kind kind, int64_t classes, int64_t n)
{
    e->context = test_context(2, GRAM_ISA_AUTO);
    e->s = svm_sample_make(31, n, 2, classes, 0.25);
    e->x = test_points(e->context, e->s.n, e->s.d, e->s.x);
    e->kernel = test_kernel(e->context, "rbf(ell=0.8)");
    e->machine = svm_options(kind);
    e->machine.tolerance = 1e-2;
    e->fold = malloc((size_t)e->s.n * sizeof *e->fold);
    gram_svm_data data;
    OK(e->context,
       gram_svm_data_make(e->context, "test", e->kernel, e->x, svm_sample_y(&e->s, kind), &e->machine, &data));
    const gram_folds_rule rule = gram_svm_folds_rule(&data, FOLDS, NULL, NULL, 0);
    OK(e->context, gram_folds_deal(e->context, "test", e->s.n, &rule, e->fold));
    gram_svm_data_free(e->context, &data);
}

static void clear(scene *e)
{
    free(e->fold);
    gram_kernel_release(e->kernel);
    gram_points_release(e->x);
    svm_sample_free(&e->s);
    gram_context_destroy(e->context);
}

/* Each class is spread evenly. */
static void test_folds(void **state)
{
    (void)state;
    scene e;
    set(&e, GRAM_SVM_C, 3, 240);
    int64_t count[3][FOLDS] = {{0}};
    for (int64_t i = 0; i < e.s.n; i++) {
        assert_in_range(e.fold[i], 0, FOLDS - 1);
        count[(int)e.s.labels[i]][e.fold[i]]++;
    }
    for (int c = 0; c < 3; c++)
        for (int f = 1; f < FOLDS; f++) assert_true(llabs(count[c][f] - count[c][0]) <= 1);
    clear(&e);
}

/* Decision values of all rows by FOLDS separate fits, rows of a fold having weight 0. */
static void slow_decisions(const scene *e, double factor, double c, double *out)
{
    char text[64];
    double *w = test_numbers(e->s.n), *f = test_numbers(e->s.n * 3);
    snprintf(text, sizeof text, "rbf(ell=%.17g)", 0.8 * factor);
    for (int fold = 0; fold < FOLDS; fold++) {
        gram_svm_options o = e->machine;
        o.C = c;
        o.tolerance = 1e-6;
        o.weights = w;
        for (int64_t i = 0; i < e->s.n; i++) w[i] = e->fold[i] != fold;
        gram_svm *svm = svm_fit(e->context, text, &e->s, &o);
        const int64_t outputs = gram_svm_get_report(svm)->outputs;
        OK(e->context, gram_svm_predict(e->context, svm, e->x, NULL, f, NULL));
        for (int64_t i = 0; i < e->s.n; i++)
            if (e->fold[i] == fold) memcpy(out + i * outputs, f + i * outputs, (size_t)outputs * sizeof *out);
        gram_svm_destroy(svm);
    }
    free(w);
    free(f);
}

static double slow_score(const scene *e, const double *f, int64_t classes)
{
    double sum = 0, *labels = test_numbers(e->s.n);
    const int regression = e->machine.kind == GRAM_SVM_EPSILON_REGRESSION;
    if (!regression) OK(e->context, gram_svm_decide(e->context, classes, e->s.n, f, NULL, labels, NULL));
    for (int64_t i = 0; i < e->s.n; i++)
        sum += regression ? (f[i] - e->s.targets[i]) * (f[i] - e->s.targets[i]) : labels[i] == e->s.labels[i];
    free(labels);
    return sum / (double)e->s.n;
}

/* Weights 1, 2, 1 along one axis, what lies outside left out. */
static void smooth(const double *from, int count, int stride, double *to)
{
    for (int i = 0; i < count; i++) {
        double sum = 2 * from[i * stride], total = 2;
        if (i > 0) sum += from[(i - 1) * stride], total++;
        if (i < count - 1) sum += from[(i + 1) * stride], total++;
        to[i * stride] = sum / total;
    }
}

/* Accuracies: smoothed along both axes, the least C whose best cell is within a quarter of a standard error. Errors: the least. */
static int slow_choice(const double *scores, gram_svm_kind kind, int64_t n)
{
    double along[WIDTHS * STRENGTHS], both[WIDTHS * STRENGTHS];
    int best = 0;
    if (kind != GRAM_SVM_C) {
        for (int i = 0; i < WIDTHS * STRENGTHS; i++)
            if (scores[i] < scores[best]) best = i;
        return best;
    }
    for (int w = 0; w < WIDTHS; w++) smooth(scores + w * STRENGTHS, STRENGTHS, 1, along + w * STRENGTHS);
    for (int k = 0; k < STRENGTHS; k++) smooth(along + k, WIDTHS, STRENGTHS, both + k);
    for (int i = 0; i < WIDTHS * STRENGTHS; i++)
        if (both[i] > both[best]) best = i;
    const double enough = both[best] - 0.25 * sqrt(scores[best] * (1 - scores[best]) / (double)n);
    for (int k = 0; k < STRENGTHS; k++) {
        int top = k;
        for (int w = 0; w < WIDTHS; w++)
            if (both[w * STRENGTHS + k] >= both[top]) top = w * STRENGTHS + k;
        if (both[top] >= enough) return top;
    }
    return -1;
}

static void check_scores(gram_svm_kind kind, int64_t classes, int64_t n)
{
    scene e;
    set(&e, kind, classes, n);
    const int64_t outputs = classes * (classes - 1) / 2;
    double scores[WIDTHS * STRENGTHS], c = 0;
    double *f = test_numbers(e.s.n * outputs), *kept = test_numbers(e.s.n * outputs);
    const gram_svm_tune_options o = small_grid();
    gram_svm_tune_report report = {.size = sizeof report};
    gram_kernel *tuned = NULL;
    OK(e.context, gram_svm_tune(e.context, e.kernel, e.x, svm_sample_y(&e.s, kind), &e.machine, &o, &tuned, &c, scores,
                                kept, &report));
    for (int w = 0; w < WIDTHS; w++)
        for (int k = 0; k < STRENGTHS; k++) {
            const double strength = 0.1 * pow(10, k), factor = 0.25 * pow(2, w), score = scores[w * STRENGTHS + k];
            slow_decisions(&e, factor, strength, f);
            const double slow = slow_score(&e, f, classes);
            /* fits of different tolerance: a few rows near the border may change sides */
            if (fabs(slow - score) > (kind == GRAM_SVM_C ? 0.02 : 0.01 * slow))
                FAIL_TEST("factor %g, C %g: score %g, by hand %g", factor, strength, score, slow);
            if (fabs(strength - c) > 1e-9 * c || fabs(factor - report.width) > 1e-9) continue;
            if (test_distance(e.s.n, outputs, f, outputs, kept, outputs) > 0.15)
                FAIL_TEST("decision values differ by %g", test_distance(e.s.n, outputs, f, outputs, kept, outputs));
        }
    const int best = slow_choice(scores, kind, e.s.n);
    assert_true(report.score == scores[best]);
    assert_true(fabs(c - 0.1 * pow(10, best % STRENGTHS)) < 1e-9 * c);
    assert_true(fabs(report.width - 0.25 * pow(2, (double)(best / STRENGTHS))) < 1e-9);
    assert_true(report.C == c && report.rows == e.s.n && report.standard_error > 0);
    gram_parameter p;
    OK(e.context, gram_kernel_parameter_get(e.context, tuned, 0, &p));
    assert_true(fabs(p.value - 0.8 * report.width) < 1e-12);
    free(f);
    free(kept);
    gram_kernel_release(tuned);
    clear(&e);
}

static void test_scores(void **state)
{
    (void)state;
    check_scores(GRAM_SVM_C, 2, 240);
    check_scores(GRAM_SVM_C, 3, 240);
    check_scores(GRAM_SVM_EPSILON_REGRESSION, 2, 240);
}

/* The same bits with other threads and with one matrix at a time; a subset of the rows leaves NaN elsewhere. */
static void test_same(void **state)
{
    (void)state;
    scene e;
    set(&e, GRAM_SVM_C, 3, 240);
    double first[WIDTHS * STRENGTHS], other[WIDTHS * STRENGTHS], c[2];
    gram_svm_tune_options o = small_grid();
    gram_kernel *tuned = NULL;
    gram_context *alone = test_context(1, GRAM_ISA_AUTO);
    OK(alone, gram_svm_tune(alone, e.kernel, e.x, e.s.labels, &e.machine, &o, &tuned, &c[0], first, NULL, NULL));
    gram_kernel_release(tuned);
    e.machine.cache_bytes = 1;
    OK(e.context,
       gram_svm_tune(e.context, e.kernel, e.x, e.s.labels, &e.machine, &o, &tuned, &c[1], other, NULL, NULL));
    gram_kernel_release(tuned);
    assert_true(c[0] == c[1] && test_same_bits(WIDTHS, STRENGTHS, first, STRENGTHS, other, STRENGTHS));
    o.rows = 100;
    double *kept = test_numbers(3 * e.s.n);
    OK(alone, gram_svm_tune(alone, e.kernel, e.x, e.s.labels, &e.machine, &o, &tuned, &c[0], NULL, kept, NULL));
    int64_t seen = 0;
    for (int64_t i = 0; i < e.s.n; i++) seen += isfinite(kept[3 * i]);
    assert_int_equal(seen, 100);
    e.machine.held_out = kept; /* probabilities from what tuning left */
    gram_svm *svm = NULL;
    OK(alone, gram_svm_fit(alone, tuned, e.x, e.s.labels, &e.machine, &svm));
    for (int i = 0; i < 3; i++) assert_true(gram_svm_sigmoids(svm)[2 * i] < 0);
    gram_svm_destroy(svm);
    gram_kernel_release(tuned);
    free(kept);
    gram_context_destroy(alone);
    clear(&e);
}

/* Fits that their steps are not enough for are counted. */
static void test_unfinished(void **state)
{
    (void)state;
    scene e;
    set(&e, GRAM_SVM_C, 2, 240);
    gram_svm_tune_options o = small_grid();
    for (int few = 0; few < 2; few++) {
        gram_svm_tune_report report = {.size = sizeof report};
        gram_kernel *tuned = NULL;
        double c;
        o.iterations = few ? 20 : 0;
        OK(e.context,
           gram_svm_tune(e.context, e.kernel, e.x, e.s.labels, &e.machine, &o, &tuned, &c, NULL, NULL, &report));
        assert_true(few ? report.unfinished > 0 && report.unfinished <= report.fits : report.unfinished == 0);
        gram_kernel_release(tuned);
    }
    clear(&e);
}

static void test_bad(void **state)
{
    (void)state;
    scene e;
    set(&e, GRAM_SVM_C, 2, 240);
    gram_kernel *tuned = NULL;
    double c;
    gram_svm_tune_options o = small_grid();
    e.machine.kind = GRAM_SVM_ONE_CLASS;
    assert_int_equal(gram_svm_tune(e.context, e.kernel, e.x, NULL, &e.machine, &o, &tuned, &c, NULL, NULL, NULL),
                     GRAM_ERROR_UNSUPPORTED);
    e.machine.kind = GRAM_SVM_C;
    o.folds = 1;
    assert_int_equal(gram_svm_tune(e.context, e.kernel, e.x, e.s.labels, &e.machine, &o, &tuned, &c, NULL, NULL, NULL),
                     GRAM_ERROR_ARGUMENT);
    o = small_grid();
    o.C_least = 0;
    assert_int_equal(gram_svm_tune(e.context, e.kernel, e.x, e.s.labels, &e.machine, &o, &tuned, &c, NULL, NULL, NULL),
                     GRAM_ERROR_ARGUMENT);
    o = small_grid();
    o.width_most = INFINITY;
    assert_int_equal(gram_svm_tune(e.context, e.kernel, e.x, e.s.labels, &e.machine, &o, &tuned, &c, NULL, NULL, NULL),
                     GRAM_ERROR_ARGUMENT);
    assert_null(tuned);
    clear(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_folds), cmocka_unit_test(test_scores),
                                       cmocka_unit_test(test_same), cmocka_unit_test(test_unfinished),
                                       cmocka_unit_test(test_bad)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
