/* One length-scale per column where a grid searches: found where some columns say nothing, and left where all say as much. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"
#include "support.h"

enum { N = 240, D = 8, MATTER = 2 };

typedef struct world {
    gram_context *context;
    gram_kernel *kernel;
    gram_points *x;
    double *numbers, *labels, *targets;
} world;

/* Inside of a ring or not by the first `matter` columns; the target is a wave over them. */
static world world_make(int64_t matter)
{
    world w = {.context = test_context(2, GRAM_ISA_AUTO),
               .numbers = sample_normal(41, N * D),
               .labels = test_numbers(N),
               .targets = sample_normal(42, N)};
    w.x = test_points(w.context, N, D, w.numbers);
    w.kernel = test_kernel(w.context, "rbf");
    for (int64_t i = 0; i < N; i++) {
        double square = 0, sum = 0;
        for (int64_t k = 0; k < matter; k++) {
            square += w.numbers[i * D + k] * w.numbers[i * D + k];
            sum += w.numbers[i * D + k];
        }
        w.labels[i] = square > 0.7 * (double)matter;
        w.targets[i] = sin(1.5 * sum) + 0.1 * w.targets[i];
    }
    return w;
}

static void world_free(world *w)
{
    gram_points_release(w->x);
    gram_kernel_release(w->kernel);
    free(w->numbers);
    free(w->labels);
    free(w->targets);
    gram_context_destroy(w->context);
}

/* The length-scales of the columns that matter are the shortest by far. */
static void check_lengths(const world *w, const gram_kernel *tuned)
{
    double least = INFINITY, most = 0;
    int64_t column = 0;
    for (int64_t k = 0; k < gram_kernel_parameter_count(tuned); k++) {
        gram_parameter p;
        OK(w->context, gram_kernel_parameter_get(w->context, tuned, k, &p));
        if (strncmp(p.name, "const", 5) == 0) continue;
        if (column++ < MATTER)
            most = fmax(most, p.value);
        else
            least = fmin(least, p.value);
    }
    assert_int_equal(column, D);
    if (!(least > 3 * most)) FAIL_TEST("lengths %g of columns that matter, %g of others", most, least);
}

static gram_svm_tune_report tune_svm(const world *w, gram_svm_kind kind, int ard, gram_kernel **tuned, double *held_out)
{
    gram_svm_options machine;
    gram_svm_tune_options o;
    gram_svm_tune_report report = {.size = sizeof report};
    double c;
    gram_svm_options_init(&machine, sizeof machine);
    machine.kind = kind;
    gram_svm_tune_options_init(&o, sizeof o);
    o.ard = ard;
    OK(w->context, gram_svm_tune(w->context, w->kernel, w->x, kind == GRAM_SVM_C ? w->labels : w->targets, &machine, &o,
                                 tuned, &c, NULL, held_out, &report));
    return report;
}

static void test_svm(void **state)
{
    (void)state;
    world w = world_make(MATTER);
    gram_kernel *one, *several;
    double *decisions = test_numbers(N);
    const gram_svm_tune_report a = tune_svm(&w, GRAM_SVM_C, 0, &one, NULL);
    const gram_svm_tune_report b = tune_svm(&w, GRAM_SVM_C, -1, &several, decisions);
    assert_int_equal(a.ard_kept, 0);
    assert_int_equal(b.ard_kept, 1);
    assert_int_equal(gram_kernel_parameter_count(one), 1);
    check_lengths(&w, several);
    if (!(b.score > a.score + 0.05)) FAIL_TEST("accuracy %g, with several lengths %g", a.score, b.score);
    double right = 0; /* the decision values are those of what was kept */
    for (int64_t i = 0; i < N; i++) right += (decisions[i] > 0 ? 0 : 1) == w.labels[i];
    assert_true(fabs(right / N - b.score) < 1e-12);
    gram_kernel_release(one);
    gram_kernel_release(several);
    const gram_svm_tune_report c = tune_svm(&w, GRAM_SVM_EPSILON_REGRESSION, 1, &several, NULL);
    assert_int_equal(c.ard_kept, 1);
    check_lengths(&w, several);
    gram_kernel_release(several);
    free(decisions);
    world_free(&w);
}

static void test_logistic(void **state)
{
    (void)state;
    world w = world_make(MATTER);
    gram_logistic_tune_options o;
    gram_grid_report a = {.size = sizeof a}, b = {.size = sizeof b};
    gram_kernel *one, *several;
    double lambda;
    gram_logistic_tune_options_init(&o, sizeof o);
    OK(w.context, gram_logistic_tune(w.context, w.kernel, w.x, 2, w.labels, &o, &one, &lambda, &a, NULL, NULL, 0));
    o.ard = 1;
    OK(w.context, gram_logistic_tune(w.context, w.kernel, w.x, 2, w.labels, &o, &several, &lambda, &b, NULL, NULL, 0));
    assert_int_equal(a.ard_kept, 0);
    assert_int_equal(b.ard_kept, 1);
    assert_int_equal(gram_kernel_parameter_count(one), 1);
    check_lengths(&w, several);
    if (!(b.value < 0.8 * a.value)) FAIL_TEST("log loss %g, with several lengths %g", a.value, b.value);
    gram_kernel_release(one);
    gram_kernel_release(several);
    world_free(&w);
}

static void test_loss(void **state)
{
    (void)state;
    world w = world_make(MATTER);
    gram_loss_options loss;
    gram_loss_tune_options o;
    gram_grid_report report = {.size = sizeof report};
    gram_grid_point grid[55];
    gram_kernel *several;
    double lambda, best = INFINITY;
    gram_loss_tune_options_init(&o, sizeof o);
    gram_loss_options_init(&loss, sizeof loss);
    loss.kind = GRAM_LOSS_ABSOLUTE;
    o.loss = &loss;
    o.ard = 1;
    OK(w.context, gram_loss_tune(w.context, w.kernel, w.x, w.targets, &o, &several, &lambda, &report, grid, NULL, 0));
    assert_int_equal(report.ard_kept, 1);
    check_lengths(&w, several);
    for (int i = 0; i < 55; i++) best = fmin(best, grid[i].value); /* the grid is that of what was kept */
    assert_true(best == report.value);
    gram_kernel_release(several);
    world_free(&w);
}

static gram_laplace_tune_report tune_laplace(const world *w, int ard, gram_kernel **tuned)
{
    gram_kernel *kernel = test_kernel(w->context, "const*rbf");
    gram_laplace_options laplace;
    gram_laplace_tune_options o;
    gram_laplace_tune_report report = {.size = sizeof report};
    gram_laplace_tune_options_init(&o, sizeof o);
    gram_laplace_options_init(&laplace, sizeof laplace);
    laplace.likelihood = GRAM_LIKELIHOOD_LOGISTIC;
    o.laplace = &laplace;
    o.ard = ard;
    OK(w->context, gram_laplace_tune(w->context, kernel, w->x, w->labels, &o, tuned, NULL, &report));
    gram_kernel_release(kernel);
    return report;
}

static void test_laplace(void **state)
{
    (void)state;
    world w = world_make(MATTER), even = world_make(D);
    gram_kernel *one, *several;
    const gram_laplace_tune_report a = tune_laplace(&w, 0, &one), b = tune_laplace(&w, -1, &several);
    assert_int_equal(a.ard_kept, 0);
    assert_int_equal(b.ard_kept, 1);
    check_lengths(&w, several);
    if (!(b.log_evidence > a.log_evidence + 10))
        FAIL_TEST("evidence %g, with several lengths %g", a.log_evidence, b.log_evidence);
    gram_kernel_release(one);
    gram_kernel_release(several);
    assert_int_equal(tune_laplace(&even, 1, &one).ard_kept, 0);
    gram_kernel_release(one);
    world_free(&even);
    world_free(&w);
}

/* Where all columns say as much, one length-scale stays. */
static void test_not_kept(void **state)
{
    (void)state;
    world w = world_make(D);
    gram_kernel *tuned;
    assert_int_equal(tune_svm(&w, GRAM_SVM_C, 1, &tuned, NULL).ard_kept, 0);
    assert_int_equal(gram_kernel_parameter_count(tuned), 1);
    gram_kernel_release(tuned);
    world_free(&w);
}

/* ---- telling ---- */

/* b is text with three columns, of which the shortest length-scale counts; c has deviation 2. */
static void test_told(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    const char *levels[] = {"p", "q", "r"};
    const gram_column features[] = {
        {.name = "a", .place = 0, .deviation = 1},
        {.name = "b", .place = 1, .text = 1, .deviation = 1, .level_count = 3, .levels = levels},
        {.name = "c", .place = 2, .deviation = 2}};
    const gram_preparation_description known = {.feature_count = 3, .features = features, .scaled = 1, .named = 1};
    gram_preparation *preparation;
    gram_relevance rows[3];
    int64_t count;
    OK(context, gram_preparation_create(context, &known, &preparation));
    gram_kernel *kernel = test_kernel(context, "3*rbf(ell=[4,8,2,8,0.5]) + 2");
    OK(context, gram_kernel_relevance(context, kernel, preparation, rows, &count));
    assert_int_equal(count, 3);
    assert_true(rows[0].feature == 2 && rows[0].value == 2 && rows[0].length == 1);
    assert_true(rows[1].feature == 1 && rows[1].value == 0.5 && isnan(rows[1].length));
    assert_true(rows[2].feature == 0 && rows[2].value == 0.25 && rows[2].length == 4);
    gram_kernel_release(kernel);
    const char *const silent[] = {"rbf(ell=1)", "rbf(ell=[1,2,3,4,5]) + rbf(ell=1)", "on(1:3, rbf(ell=[1,2,3]))",
                                  "linear"};
    for (int i = 0; i < 4; i++) {
        kernel = test_kernel(context, silent[i]);
        OK(context, gram_kernel_relevance(context, kernel, preparation, rows, &count));
        assert_int_equal(count, 0);
        gram_kernel_release(kernel);
    }
    gram_preparation_release(preparation);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_svm),      cmocka_unit_test(test_logistic),
                                       cmocka_unit_test(test_loss),     cmocka_unit_test(test_laplace),
                                       cmocka_unit_test(test_not_kept), cmocka_unit_test(test_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
