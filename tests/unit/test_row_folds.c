/* Folds: groups are never split, classes and rows are balanced, time only goes forward, the seed decides; all who cross-validate
 * use them; and where rows of a group resemble each other, errors without groups are far too small and those with groups right. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "samples.h"
#include "support.h"

enum { N = 230, FOLDS = 5, CLASSES = 3 };

static gram_context *context_of(int threads, uint64_t seed)
{
    return TEST_CONTEXT(.threads = threads, .seed = seed);
}

static gram_folds_options defaults(void)
{
    gram_folds_options o;
    gram_folds_options_init(&o, sizeof o);
    return o;
}

/* Labels in shares of about 0.6, 0.3 and 0.1; groups of 1 to 12 rows, numbered without order, scattered over the rows. */
typedef struct rows {
    int64_t label[N], group[N];
    int64_t groups, largest;
} rows;

static void make_rows(rows *r)
{
    double *u = test_random(3, 2 * N, 0, 1);
    int64_t sizes[N] = {0};
    *r = (rows){.groups = 0};
    for (int64_t i = 0; i < N; i++) {
        const int64_t group = (int64_t)(45 * u[i] * u[i]);
        r->label[i] = u[N + i] < 0.6 ? 0 : u[N + i] < 0.9 ? 1 : 2;
        r->group[i] = (group * 7919) % 1000 - 500;
        sizes[group]++;
    }
    for (int64_t g = 0; g < N; g++) {
        r->groups += sizes[g] > 0;
        r->largest = sizes[g] > r->largest ? sizes[g] : r->largest;
    }
    free(u);
}

/* Most minus least rows of a class (-1: of all) in a fold. */
static int64_t spread(const int64_t *fold, const int64_t *label, int64_t class)
{
    int64_t counts[FOLDS] = {0}, least = N, most = 0;
    for (int64_t i = 0; i < N; i++) {
        assert_in_range(fold[i], 0, FOLDS - 1);
        counts[fold[i]] += class < 0 || label[i] == class;
    }
    for (int k = 0; k < FOLDS; k++) {
        least = counts[k] < least ? counts[k] : least;
        most = counts[k] > most ? counts[k] : most;
    }
    return most - least;
}

static int is_split(const int64_t *fold, const int64_t *group)
{
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < i; j++)
            if (group[i] == group[j] && fold[i] != fold[j]) return 1;
    return 0;
}

/* ---- the folds themselves ---- */

static void test_random_folds(void **state)
{
    rows r;
    int64_t fold[N];
    (void)state;
    make_rows(&r);
    gram_context *c = context_of(1, 1);
    OK(c, gram_folds_make(c, N, NULL, fold));
    assert_true(spread(fold, r.label, -1) <= 1);
    gram_folds_options o = defaults();
    o.labels = r.label;
    OK(c, gram_folds_make(c, N, &o, fold));
    for (int64_t class = -1; class < CLASSES; class ++) assert_true(spread(fold, r.label, class) <= 1);
    gram_context_destroy(c);
}

static void test_groups(void **state)
{
    rows r;
    int64_t fold[N];
    (void)state;
    make_rows(&r);
    assert_true(r.groups > 20 && r.largest > 8);
    for (uint64_t seed = 0; seed < 20; seed++) {
        gram_context *c = context_of(1, seed);
        gram_folds_options o = defaults();
        OK(c, gram_folds_make(c, N, &o, fold));
        assert_true(is_split(fold, r.group)); /* else the next says nothing */
        o.groups = r.group;
        OK(c, gram_folds_make(c, N, &o, fold));
        assert_false(is_split(fold, r.group));
        assert_true(spread(fold, r.label, -1) <= 3); /* with small groups to fill up with, much less than the largest */
        o.labels = r.label;
        OK(c, gram_folds_make(c, N, &o, fold));
        assert_false(is_split(fold, r.group));
        for (int64_t class = 0; class < CLASSES; class ++) assert_true(spread(fold, r.label, class) <= 8);
        gram_context_destroy(c);
    }
}

static void test_order(void **state)
{
    int64_t fold[N];
    (void)state;
    gram_context *c = context_of(1, 1);
    gram_folds_options o = defaults();
    o.ordered = 1;
    for (int64_t n = FOLDS + 1; n <= N; n += 7) {
        int64_t counts[FOLDS + 1] = {0};
        OK(c, gram_folds_make(c, n, &o, fold));
        for (int64_t i = 0; i < n; i++) {
            if (i > 0) assert_true(fold[i] == fold[i - 1] || fold[i] == fold[i - 1] + 1);
            counts[fold[i] + 1]++;
        }
        assert_int_equal(fold[0], -1);
        assert_int_equal(fold[n - 1], FOLDS - 1);
        for (int k = 0; k <= FOLDS; k++) assert_in_range(counts[k], n / (FOLDS + 1), n / (FOLDS + 1) + 1);
    }
    gram_context_destroy(c);
}

static void test_seeds(void **state)
{
    rows r;
    int64_t first[N], second[N], other[N];
    (void)state;
    make_rows(&r);
    for (int grouped = 0; grouped < 2; grouped++) {
        gram_context *a = context_of(1, 7), *b = context_of(3, 7), *c = context_of(1, 8);
        gram_folds_options o = defaults();
        o.labels = r.label;
        if (grouped) o.groups = r.group;
        OK(a, gram_folds_make(a, N, &o, first));
        OK(b, gram_folds_make(b, N, &o, second));
        OK(c, gram_folds_make(c, N, &o, other));
        assert_memory_equal(first, second, sizeof first);
        assert_memory_not_equal(first, other, sizeof first);
        gram_context_destroy(a);
        gram_context_destroy(b);
        gram_context_destroy(c);
    }
}

static void expect(gram_context *c, int64_t n, const gram_folds_options *o, gram_status status, const char *words)
{
    int64_t fold[N];
    assert_int_equal(gram_folds_make(c, n, o, fold), status);
    if (!strstr(gram_context_message(c), words)) FAIL_TEST("'%s' in: %s", words, gram_context_message(c));
}

static void test_refusals(void **state)
{
    rows r;
    (void)state;
    make_rows(&r);
    gram_context *c = context_of(1, 1);
    gram_folds_options o = defaults();
    o.folds = 1;
    expect(c, N, &o, GRAM_ERROR_ARGUMENT, "folds = 1");
    o.folds = 5;
    expect(c, 4, &o, GRAM_ERROR_DATA, "4 rows are too few");
    o.ordered = 1;
    expect(c, 5, &o, GRAM_ERROR_DATA, "5 rows are too few");
    o.groups = r.group;
    expect(c, N, &o, GRAM_ERROR_ARGUMENT, "ordered = 1");
    o.ordered = 0;
    o.folds = r.groups + 1;
    expect(c, N, &o, GRAM_ERROR_DATA, "groups");
    o.folds = 5;
    o.labels = r.group;
    expect(c, N, &o, GRAM_ERROR_DATA, "labels[");
    gram_context_destroy(c);
}

static gram_status play(gram_context *c)
{
    rows r;
    int64_t fold[N];
    gram_folds_options o = defaults();
    make_rows(&r);
    o.labels = r.label;
    gram_status status = gram_folds_make(c, N, &o, fold);
    o.groups = r.group;
    return status < 0 ? status : gram_folds_make(c, N, &o, fold);
}

static void test_memory(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 5);
    (void)oom_each(play, 1);
}

/* ---- the ridge's criterion ---- */

enum { D = 2, M = 2 };

typedef struct regression {
    double *x, *y, *w;
    gram_points *points;
    gram_kernel *kernel;
} regression;

static regression make_regression(gram_context *c)
{
    regression r = {.x = test_random(11, N * D, -1, 1), .y = test_random(12, N * M, -0.2, 0.2)};
    r.w = test_random(13, N, 0.3, 3);
    r.w[3] = r.w[60] = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < M; j++)
            r.y[i * M + j] += 2 + sin(3 * r.x[i * D] + (double)j) + 0.004 * (double)i * r.x[i * D + 1];
    r.points = test_points(c, N, D, r.x);
    r.kernel = test_kernel(c, "2*rbf(ell=[0.7,1.3]) + 0.1*white()");
    return r;
}

static void drop_regression(regression *r)
{
    gram_points_release(r->points);
    gram_kernel_release(r->kernel);
    free(r->x);
    free(r->y);
    free(r->w);
}

/* By groups: the residuals of fits without the folds of gram_folds_make. */
static void test_criterion_by_groups(void **state)
{
    rows g;
    int64_t fold[N];
    double value, sum = 0, *residuals = test_numbers(N * M);
    gram_krr_options krr;
    (void)state;
    make_rows(&g);
    gram_context *c = context_of(2, 5);
    regression r = make_regression(c);
    gram_krr_tune_options o;
    gram_krr_tune_options_init(&o, sizeof o);
    o.criterion = GRAM_CRITERION_CV;
    o.groups = g.group;
    gram_folds_options folds = defaults();
    folds.groups = g.group;
    OK(c, gram_folds_make(c, N, &folds, fold));
    gram_krr_options_init(&krr, sizeof krr);
    krr.lambda = 1e-3;
    OK(c, gram_krr_fold_residuals(c, r.kernel, r.points, M, r.y, M, &krr, fold, residuals, M));
    for (int64_t i = 0; i < N * M; i++) sum += residuals[i] * residuals[i] / (N * M);
    OK(c, gram_krr_criterion(c, r.kernel, r.points, M, r.y, M, &o, 1e-3, &value, NULL));
    assert_true(fabs(value - sum) < 1e-10 * sum);
    o.criterion = GRAM_CRITERION_LOO;
    assert_int_equal(gram_krr_criterion(c, r.kernel, r.points, M, r.y, M, &o, 1e-3, &value, NULL), GRAM_ERROR_ARGUMENT);
    drop_regression(&r);
    gram_context_destroy(c);
    free(residuals);
}

/* In order, slowly: a fit to the rows before each block, with the same n lambda; rows of weight 0 are no rows. */
static double forward(gram_context *c, const regression *r, const gram_krr_tune_options *o, double lambda)
{
    int64_t fold[N], n = 0, at[N];
    double sum = 0, total = 0, *x = test_numbers(N * D), *y = test_numbers(N * M), *w = test_numbers(N);
    gram_folds_options folds = defaults();
    for (int64_t i = 0; i < N; i++)
        if (!o->weights || r->w[i] > 0) at[n++] = i;
    for (int64_t i = 0; i < n; i++) {
        memcpy(x + i * D, r->x + at[i] * D, D * sizeof *x);
        memcpy(y + i * M, r->y + at[i] * M, M * sizeof *y);
        w[i] = o->weights ? r->w[at[i]] : 1;
    }
    folds.ordered = 1;
    OK(c, gram_folds_make(c, n, &folds, fold));
    for (int64_t k = 0, first = 0, end; k < FOLDS; k++) {
        while (fold[first] < k) first++;
        for (end = first; end < n && fold[end] == k;) end++;
        gram_points *train = test_points(c, first, D, x), *held = test_points(c, end - first, D, x + first * D);
        double *out = test_numbers((end - first) * M);
        gram_krr_options krr;
        gram_krr *fit = NULL;
        gram_krr_options_init(&krr, sizeof krr);
        krr.lambda = lambda * (double)n / (double)first;
        krr.weights = w;
        krr.intercept = o->intercept;
        OK(c, gram_krr_fit(c, r->kernel, train, M, y, M, &krr, &fit));
        OK(c, gram_function_evaluate(c, gram_krr_function(fit), held, out, M));
        for (int64_t i = first; i < end; i++) {
            total += w[i];
            for (int64_t j = 0; j < M; j++) sum += w[i] * pow(y[i * M + j] - out[(i - first) * M + j], 2);
        }
        gram_krr_destroy(fit);
        gram_points_release(train);
        gram_points_release(held);
        free(out);
    }
    free(x);
    free(y);
    free(w);
    return sum / (total * M);
}

static gram_kernel *moved(gram_context *c, const gram_kernel *kernel, int64_t which, double factor)
{
    double values[8];
    gram_kernel *out = NULL;
    for (int64_t i = 0; i < gram_kernel_parameter_count(kernel); i++) {
        gram_parameter p;
        OK(c, gram_kernel_parameter_get(c, kernel, i, &p));
        values[i] = p.value * (i == which ? factor : 1);
    }
    OK(c, gram_kernel_with_values(c, kernel, values, &out));
    return out;
}

/* d value/d log(parameter), by differences of the fourth order. */
static double slope_of(gram_context *c, const regression *r, const gram_krr_tune_options *o, double lambda,
                       int64_t which)
{
    static const double STEPS[] = {-2, -1, 1, 2}, WEIGHTS[] = {1, -8, 8, -1};
    const double h = 1e-3;
    const int64_t count = gram_kernel_parameter_count(r->kernel);
    double slope = 0;
    for (int k = 0; k < 4; k++) {
        double value, factor = exp(h * STEPS[k]);
        gram_kernel *kernel = moved(c, r->kernel, which, factor);
        OK(c, gram_krr_criterion(c, kernel, r->points, M, r->y, M, o, which == count ? lambda * factor : lambda, &value,
                                 NULL));
        slope += WEIGHTS[k] * value / (12 * h);
        gram_kernel_release(kernel);
    }
    return slope;
}

static void check_in_order(gram_context *c, const regression *r, int intercept, const double *weights)
{
    const double lambda = 2e-3;
    const int64_t count = gram_kernel_parameter_count(r->kernel);
    double value, gradient[8];
    gram_krr_tune_options o;
    gram_krr_tune_options_init(&o, sizeof o);
    o.criterion = GRAM_CRITERION_CV;
    o.ordered = 1;
    o.intercept = intercept;
    o.weights = weights;
    OK(c, gram_krr_criterion(c, r->kernel, r->points, M, r->y, M, &o, lambda, &value, gradient));
    const double expected = forward(c, r, &o, lambda);
    if (!(fabs(value - expected) < 1e-9 * expected)) FAIL_TEST("%.17g, fitted again %.17g", value, expected);
    for (int64_t p = 0; p <= count; p++) {
        gram_parameter parameter = {.value = lambda};
        if (p < count) OK(c, gram_kernel_parameter_get(c, r->kernel, p, &parameter));
        const double slope = slope_of(c, r, &o, lambda, p);
        if (!(fabs(gradient[p] * parameter.value - slope) < 1e-8 * value + 1e-7 * fabs(slope)))
            FAIL_TEST("derivative %lld: %g, by differences %g", (long long)p, gradient[p] * parameter.value, slope);
    }
}

static void test_criterion_in_order(void **state)
{
    (void)state;
    gram_context *c = context_of(2, 5);
    regression r = make_regression(c);
    for (int intercept = 0; intercept < 2; intercept++)
        for (int weighted = 0; weighted < 2; weighted++) check_in_order(c, &r, intercept, weighted ? r.w : NULL);
    drop_regression(&r);
    gram_context_destroy(c);
}

/* ---- the future is not seen ---- */

/* Held-out predictions of one cell; the method is 0 logistic, 1 loss, 2 svm. */
static void predict_in_order(int method, const double *x, const int64_t *label, double *out)
{
    const double width = 1, lambda = 1e-2;
    double *y = test_numbers(N), chosen;
    gram_context *c = context_of(2, 5);
    gram_points *points = test_points(c, N, D, x);
    gram_kernel *kernel = test_kernel(c, "rbf(ell=0.5)"), *tuned = NULL;
    for (int64_t i = 0; i < N; i++) y[i] = (double)label[i];
    if (method == 0) {
        gram_logistic_tune_options o;
        gram_logistic_tune_options_init(&o, sizeof o);
        o.width_count = o.lambda_count = 1;
        o.widths = &width;
        o.lambdas = &lambda;
        o.ordered = 1;
        OK(c, gram_logistic_tune(c, kernel, points, 2, y, &o, &tuned, &chosen, NULL, NULL, out, 2));
    } else if (method == 1) {
        gram_loss_tune_options o;
        gram_loss_tune_options_init(&o, sizeof o);
        o.width_count = o.lambda_count = 1;
        o.widths = &width;
        o.lambdas = &lambda;
        o.ordered = 1;
        OK(c, gram_loss_tune(c, kernel, points, y, &o, &tuned, &chosen, NULL, NULL, out, 2));
    } else {
        gram_svm_tune_options o;
        double *decisions = test_numbers(N);
        gram_svm_tune_options_init(&o, sizeof o);
        o.width_count = o.C_count = 1;
        o.ordered = 1;
        OK(c, gram_svm_tune(c, kernel, points, y, NULL, &o, &tuned, &chosen, NULL, decisions, NULL));
        for (int64_t i = 0; i < N; i++) out[2 * i] = decisions[i];
        free(decisions);
    }
    gram_kernel_release(tuned);
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_context_destroy(c);
    free(y);
}

/* Other labels in block k change predictions after it, none before. */
static void test_no_future(void **state)
{
    int64_t fold[N], label[N];
    (void)state;
    gram_context *c = context_of(1, 1);
    gram_folds_options o = defaults();
    double *x = test_random(21, N * D, -1, 1), *before = test_numbers(2 * N), *after = test_numbers(2 * N);
    o.ordered = 1;
    OK(c, gram_folds_make(c, N, &o, fold));
    for (int method = 0; method < 3; method++)
        for (int64_t k = 0; k < FOLDS; k++) {
            int changed = 0;
            for (int64_t i = 0; i < N; i++) label[i] = x[i * D] * x[i * D + 1] > 0;
            predict_in_order(method, x, label, before);
            for (int64_t i = 0; i < N; i++)
                if (fold[i] == k) label[i] = 1 - label[i];
            predict_in_order(method, x, label, after);
            for (int64_t i = 0; i < N; i++) {
                const int same = memcmp(&before[2 * i], &after[2 * i], sizeof(double)) == 0;
                assert_int_equal(isnan(before[2 * i]) != 0, fold[i] < 0);
                if (fold[i] <= k && !same) FAIL_TEST("method %d: row %lld sees the future", method, (long long)i);
                changed += !same;
            }
            assert_true(changed > 0 || k == FOLDS - 1);
        }
    free(x);
    free(before);
    free(after);
    gram_context_destroy(c);
}

/* ---- estimates ---- */

/* Groups of 5 rows close together, each with a target of its own that its place says nothing about. */
enum { GROUPS = 40, EACH = 5, TOTAL = GROUPS * EACH, NEW = 2000 };

typedef struct world {
    gram_context *context;
    gram_points *x, *fresh;
    gram_kernel *kernel;
    double *numbers, *y, *fresh_numbers, *fresh_y;
    double labels[TOTAL];
    int64_t group[TOTAL];
} world;

static world make_world(void)
{
    world w = {.context = context_of(2, 3)};
    double *centres = sample_normal(51, GROUPS * 2), *effects = sample_normal(52, GROUPS);
    w.numbers = sample_normal(53, TOTAL * 2);
    w.y = sample_normal(54, TOTAL);
    w.fresh_numbers = sample_normal(55, NEW * 2); /* each of a group of its own */
    w.fresh_y = sample_normal(56, NEW);
    for (int64_t i = 0; i < TOTAL; i++) {
        const int64_t g = i % GROUPS;
        w.group[i] = 1000 - g;
        for (int l = 0; l < 2; l++) w.numbers[2 * i + l] = 2 * centres[2 * g + l] + 0.05 * w.numbers[2 * i + l];
        w.y[i] = effects[g] + 0.1 * w.y[i];
        w.labels[i] = (double)(g % 2);
    }
    for (int64_t i = 0; i < 2 * NEW; i++) w.fresh_numbers[i] *= 2;
    w.x = test_points(w.context, TOTAL, 2, w.numbers);
    w.fresh = test_points(w.context, NEW, 2, w.fresh_numbers);
    w.kernel = test_kernel(w.context, "rbf");
    free(centres);
    free(effects);
    return w;
}

static void drop_world(world *w)
{
    gram_points_release(w->x);
    gram_points_release(w->fresh);
    gram_kernel_release(w->kernel);
    free(w->numbers);
    free(w->y);
    free(w->fresh_numbers);
    free(w->fresh_y);
    gram_context_destroy(w->context);
}

/* The estimate of the mean squared error, and what it is on new groups. */
static double estimate_ridge(const world *w, const int64_t *groups, double *truth)
{
    gram_krr_tune_options o;
    gram_krr_tune_report report = {.size = sizeof report};
    gram_krr_options krr;
    gram_krr *fit = NULL;
    gram_kernel *tuned = NULL;
    double *f = test_numbers(NEW), lambda;
    gram_krr_tune_options_init(&o, sizeof o);
    gram_krr_options_init(&krr, sizeof krr);
    o.criterion = GRAM_CRITERION_CV;
    o.groups = groups;
    OK(w->context, gram_krr_tune(w->context, w->kernel, w->x, 1, w->y, 1, &o, &tuned, &lambda, &report));
    krr.lambda = lambda;
    OK(w->context, gram_krr_fit(w->context, tuned, w->x, 1, w->y, 1, &krr, &fit));
    OK(w->context, gram_function_evaluate(w->context, gram_krr_function(fit), w->fresh, f, 1));
    *truth = 0;
    for (int64_t i = 0; i < NEW; i++) *truth += (f[i] - w->fresh_y[i]) * (f[i] - w->fresh_y[i]) / NEW;
    gram_krr_destroy(fit);
    gram_kernel_release(tuned);
    free(f);
    return report.value;
}

static void test_ridge_estimate(void **state)
{
    (void)state;
    world w = make_world();
    double truth, true_by_groups;
    const double without = estimate_ridge(&w, NULL, &truth);
    const double by_groups = estimate_ridge(&w, w.group, &true_by_groups);
    print_message("error %.3f for %.3f, by groups %.3f for %.3f\n", without, truth, by_groups, true_by_groups);
    assert_true(without < 0.1 * truth);
    assert_true(by_groups > 0.7 * true_by_groups && by_groups < 1.4 * true_by_groups);
    drop_world(&w);
}

static double accuracy_of(const world *w, const int64_t *groups)
{
    gram_svm_tune_options o;
    gram_svm_tune_report report = {.size = sizeof report};
    gram_kernel *tuned = NULL;
    double c;
    gram_svm_tune_options_init(&o, sizeof o);
    o.groups = groups;
    OK(w->context, gram_svm_tune(w->context, w->kernel, w->x, w->labels, NULL, &o, &tuned, &c, NULL, NULL, &report));
    gram_kernel_release(tuned);
    return report.score;
}

static const double LAMBDAS[] = {1e-4, 1e-3, 1e-1};

static double log_loss_of(const world *w, const int64_t *groups)
{
    gram_logistic_tune_options o;
    gram_grid_report report = {.size = sizeof report};
    gram_kernel *tuned = NULL;
    double lambda;
    gram_logistic_tune_options_init(&o, sizeof o);
    o.groups = groups;
    OK(w->context,
       gram_logistic_tune(w->context, w->kernel, w->x, 2, w->labels, &o, &tuned, &lambda, &report, NULL, NULL, 0));
    gram_kernel_release(tuned);
    return report.value;
}

static double absolute_of(const world *w, const int64_t *groups)
{
    gram_loss_tune_options o;
    gram_grid_report report = {.size = sizeof report};
    gram_kernel *tuned = NULL;
    double lambda;
    gram_loss_tune_options_init(&o, sizeof o);
    o.lambda_count = 3;
    o.lambdas = LAMBDAS;
    o.groups = groups;
    OK(w->context, gram_loss_tune(w->context, w->kernel, w->x, w->y, &o, &tuned, &lambda, &report, NULL, NULL, 0));
    gram_kernel_release(tuned);
    return report.value;
}

/* Of new groups nothing can be known: half of the labels, log 2, and the mean distance from the middle. */
static void test_grid_estimates(void **state)
{
    (void)state;
    world w = make_world();
    const double right = accuracy_of(&w, NULL), right_by_groups = accuracy_of(&w, w.group);
    const double loss = log_loss_of(&w, NULL), loss_by_groups = log_loss_of(&w, w.group);
    const double away = absolute_of(&w, NULL), away_by_groups = absolute_of(&w, w.group);
    print_message("accuracy %.3f, %.3f; log loss %.3f, %.3f; loss %.3f, %.3f\n", right, right_by_groups, loss,
                  loss_by_groups, away, away_by_groups);
    assert_true(right > 0.9 && right_by_groups < 0.75);
    assert_true(loss < 0.3 && loss_by_groups > 0.6);
    assert_true(away < 0.5 * away_by_groups);
    drop_world(&w);
}

/* The mean probability of the likelier class at new places. */
static double confidence(const world *w, const int64_t *groups)
{
    gram_svm_options o;
    gram_svm *svm = NULL;
    double *p = test_numbers(2 * NEW), sum = 0;
    gram_kernel *kernel = test_kernel(w->context, "rbf(ell=0.5)");
    gram_svm_options_init(&o, sizeof o);
    o.probability_folds = 5;
    o.C = 10;
    o.groups = groups;
    OK(w->context, gram_svm_fit(w->context, kernel, w->x, w->labels, &o, &svm));
    OK(w->context, gram_svm_predict(w->context, svm, w->fresh, NULL, NULL, p));
    for (int64_t i = 0; i < NEW; i++) sum += fmax(p[2 * i], p[2 * i + 1]) / NEW;
    gram_svm_destroy(svm);
    gram_kernel_release(kernel);
    free(p);
    return sum;
}

static void test_probabilities(void **state)
{
    (void)state;
    world w = make_world();
    const double sure = confidence(&w, NULL), by_groups = confidence(&w, w.group);
    print_message("confidence %.3f, by groups %.3f\n", sure, by_groups);
    assert_true(sure > 0.8 && by_groups < 0.65);
    drop_world(&w);
}

/* A random walk: between known days it is easy to guess, ahead of them it is not. */
static void test_walk(void **state)
{
    enum { DAYS = 300 };
    double *steps = sample_normal(61, DAYS), day[DAYS], y[DAYS], value[2];
    (void)state;
    gram_context *c = context_of(2, 3);
    for (int64_t i = 0; i < DAYS; i++) {
        day[i] = (double)i / DAYS;
        y[i] = (i ? y[i - 1] : 0) + steps[i];
    }
    gram_points *x = test_points(c, DAYS, 1, day);
    for (int ordered = 0; ordered < 2; ordered++) {
        gram_krr_tune_options o;
        gram_krr_tune_report report = {.size = sizeof report};
        gram_kernel *kernel = test_kernel(c, "matern(nu=0.5)"), *tuned = NULL;
        double lambda;
        gram_krr_tune_options_init(&o, sizeof o);
        o.criterion = GRAM_CRITERION_CV;
        o.ordered = ordered;
        OK(c, gram_krr_tune(c, kernel, x, 1, y, 1, &o, &tuned, &lambda, &report));
        value[ordered] = report.value;
        gram_kernel_release(tuned);
        gram_kernel_release(kernel);
    }
    print_message("error of days between %.3f, of days to come %.3f\n", value[0], value[1]);
    assert_true(value[0] < 2);
    assert_true(value[1] >
                12); /* blocks of 50 days: 25 steps of variance 1 on the mean, if only the last value counts */
    gram_points_release(x);
    gram_context_destroy(c);
    free(steps);
}

/* A class that only the held fold has cannot be learnt. */
static void test_missing_class(void **state)
{
    int64_t group[TOTAL];
    gram_kernel *tuned = NULL;
    double c;
    (void)state;
    world w = make_world();
    for (int64_t i = 0; i < TOTAL; i++) {
        group[i] = i % GROUPS;
        w.labels[i] = group[i] == 0;
    }
    gram_svm_tune_options o;
    gram_svm_tune_options_init(&o, sizeof o);
    o.groups = group;
    assert_int_equal(gram_svm_tune(w.context, w.kernel, w.x, w.labels, NULL, &o, &tuned, &c, NULL, NULL, NULL),
                     GRAM_ERROR_DATA);
    assert_non_null(strstr(gram_context_message(w.context), "class 1 has no row to learn from"));
    gram_logistic_tune_options l;
    gram_logistic_tune_options_init(&l, sizeof l);
    l.groups = group;
    assert_int_equal(gram_logistic_tune(w.context, w.kernel, w.x, 2, w.labels, &l, &tuned, &c, NULL, NULL, NULL, 0),
                     GRAM_ERROR_DATA);
    gram_svm_options s;
    gram_svm *svm = NULL;
    gram_svm_options_init(&s, sizeof s);
    s.probability_folds = 5;
    s.groups = group;
    gram_kernel *kernel = test_kernel(w.context, "rbf(ell=0.5)");
    assert_int_equal(gram_svm_fit(w.context, kernel, w.x, w.labels, &s, &svm), GRAM_ERROR_DATA);
    gram_kernel_release(kernel);
    drop_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_folds),
                                       cmocka_unit_test(test_groups),
                                       cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_seeds),
                                       cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_memory),
                                       cmocka_unit_test(test_criterion_by_groups),
                                       cmocka_unit_test(test_criterion_in_order),
                                       cmocka_unit_test(test_no_future),
                                       cmocka_unit_test(test_ridge_estimate),
                                       cmocka_unit_test(test_grid_estimates),
                                       cmocka_unit_test(test_probabilities),
                                       cmocka_unit_test(test_walk),
                                       cmocka_unit_test(test_missing_class)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
