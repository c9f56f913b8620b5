/* Criteria of tuning: values against really leaving rows or folds out and fitting again by Gaussian elimination, hat
 * matrices made column by column and the density of the normal distribution; gradients against differences of the sixth
 * order; for kernels of several kinds, weights (some of them 0), with and without intercept, one and several outputs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dense_twin.h"
#include "support.h"

enum { N = 36, D = 3, M = 2, FOLDS = 5, MOST = 24 };

typedef struct problem {
    gram_context *context;
    gram_points *points;
    double *x, *y, *w, *k; /* k: the Gram matrix of the kernel under test */
    int64_t outputs;
    int weighted, intercept;
    double lambda;
} problem;

static const char *const KERNELS[] = {
    "rbf(ell=0.8)",
    "rbf(ell=[0.6,1.1,2])",
    "2*matern(nu=2.5, ell=[0.6,1.1,2]) + 0.2*white() + 0.3*linear(c=0.5)",
    "on(1:2, rbf(ell=0.9))*on(3, periodic(p=2, ell=1.2)) + 0.5*rq(alpha=1.5, ell=0.7)",
    "rbf(S=[1,0.1,0;0.1,1,0;0,0,0.5])",
    "poly(m=2, c=1)"};
enum { KERNEL_COUNT = sizeof KERNELS / sizeof *KERNELS };
static const gram_criterion KINDS[] = {GRAM_CRITERION_LOO, GRAM_CRITERION_GCV, GRAM_CRITERION_CV, GRAM_CRITERION_ML};
static const char *const KIND_NAMES[] = {"loo", "gcv", "cv", "ml"};

static problem make(int64_t outputs, int weighted, int intercept)
{
    problem p = {.outputs = outputs, .weighted = weighted, .intercept = intercept, .lambda = 0.01};
    p.context = test_context(2, GRAM_ISA_AUTO);
    p.x = test_random(5, N * D, -1, 1);
    p.y = test_random(6, N * M, -0.2, 0.2);
    p.w = test_random(7, N, 0.3, 3);
    p.k = test_numbers(N * N);
    p.w[4] = p.w[17] = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < M; j++)
            p.y[i * M + j] += 1.5 + sin(2 * p.x[i * D] + (double)j) + p.x[i * D + 1] * p.x[i * D + 1];
    p.points = test_points(p.context, N, D, p.x);
    return p;
}

static void drop(problem *p)
{
    gram_points_release(p->points);
    gram_context_destroy(p->context);
    free(p->x);
    free(p->y);
    free(p->w);
    free(p->k);
}

static gram_krr_tune_options options_of(const problem *p, gram_criterion kind)
{
    gram_krr_tune_options o;
    gram_krr_tune_options_init(&o, sizeof o);
    o.criterion = kind;
    o.folds = FOLDS;
    o.weights = p->weighted ? p->w : NULL;
    o.intercept = p->intercept;
    return o;
}

static double evaluate(const problem *p, gram_kernel *kernel, gram_criterion kind, double lambda, double *gradient)
{
    const gram_krr_tune_options o = options_of(p, kind);
    double value = NAN;
    OK(p->context,
       gram_krr_criterion(p->context, kernel, p->points, p->outputs, p->y, M, &o, lambda, &value, gradient));
    return value;
}

/* ---- slow and obvious ---- */

static double weight(const problem *p, int64_t i)
{
    return p->weighted ? p->w[i] : 1;
}

static int64_t counted(const problem *p)
{
    int64_t n = 0;
    for (int64_t i = 0; i < N; i++) n += weight(p, i) > 0;
    return n;
}

/* Fits `targets` (one number per row) on rows that have used[i], and writes f + b at every row. */
static void fit(const problem *p, const int *used, const double *targets, double *fitted)
{
    const double noise = p->lambda * (double)counted(p);
    int64_t rows[N], n = 0;
    for (int64_t i = 0; i < N; i++)
        if (used[i]) rows[n++] = i;
    const int64_t size = n + (p->intercept ? 1 : 0);
    double *a = test_numbers(size * size), *b = test_numbers(size);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) a[i * size + j] = p->k[rows[i] * N + rows[j]];
        a[i * size + i] += noise / weight(p, rows[i]);
        if (p->intercept) a[i * size + n] = a[n * size + i] = 1;
        b[i] = targets[rows[i]];
    }
    (void)dense_solve(size, a, 1, b);
    for (int64_t i = 0; i < N; i++) {
        fitted[i] = p->intercept ? b[n] : 0;
        for (int64_t j = 0; j < n; j++) fitted[i] += p->k[i * N + rows[j]] * b[j];
    }
    free(a);
    free(b);
}

static void all_used(const problem *p, int *used)
{
    for (int64_t i = 0; i < N; i++) used[i] = weight(p, i) > 0;
}

static void target(const problem *p, int64_t output, double *out)
{
    for (int64_t i = 0; i < N; i++) out[i] = p->y[i * M + output];
}

static double total_weight(const problem *p)
{
    double sum = 0;
    for (int64_t i = 0; i < N; i++) sum += weight(p, i);
    return sum;
}

static double by_leaving_out(const problem *p, const int64_t *fold, int64_t folds)
{
    double sum = 0, y[N], fitted[N];
    int used[N];
    for (int64_t j = 0; j < p->outputs; j++) {
        target(p, j, y);
        for (int64_t f = 0; f < folds; f++) {
            all_used(p, used);
            for (int64_t i = 0; i < N; i++)
                if (fold[i] == f) used[i] = 0;
            fit(p, used, y, fitted);
            for (int64_t i = 0; i < N; i++)
                if (fold[i] == f) sum += weight(p, i) * (y[i] - fitted[i]) * (y[i] - fitted[i]);
        }
    }
    return sum / (total_weight(p) * (double)p->outputs);
}

static double by_one(const problem *p)
{
    int64_t fold[N];
    for (int64_t i = 0; i < N; i++) fold[i] = i;
    return by_leaving_out(p, fold, N);
}

/* The folds that the library draws: row number i of a seeded order among those that count is in fold i mod FOLDS. */
static double by_folds(const problem *p)
{
    int64_t order[N], rows[N], fold[N], n = 0;
    for (int64_t i = 0; i < N; i++) {
        fold[i] = -1;
        if (weight(p, i) > 0) rows[n++] = i;
    }
    gram_random_permutation((gram_random){gram_context_seed(p->context), 0x666f6c64}, 0, n, order);
    for (int64_t i = 0; i < n; i++) fold[rows[order[i]]] = i % FOLDS;
    return by_leaving_out(p, fold, FOLDS);
}

static double by_hat_matrix(const problem *p)
{
    double squares = 0, trace = 0, y[N], fitted[N];
    const double n = (double)counted(p);
    int used[N];
    all_used(p, used);
    for (int64_t j = 0; j < p->outputs; j++) {
        target(p, j, y);
        fit(p, used, y, fitted);
        for (int64_t i = 0; i < N; i++) squares += weight(p, i) * (y[i] - fitted[i]) * (y[i] - fitted[i]);
    }
    for (int64_t i = 0; i < N; i++) {
        if (!used[i]) continue;
        memset(y, 0, sizeof y);
        y[i] = 1;
        fit(p, used, y, fitted);
        trace += fitted[i];
    }
    const double left = 1 - trace / n;
    return squares / (total_weight(p) * (double)p->outputs) / (left * left);
}

/* A^-1 (y - b 1), and log |A| */
static double solve_rows(const problem *p, const double *y, double b, int64_t *count, double *residual, double *out)
{
    int64_t rows[N], n = 0;
    for (int64_t i = 0; i < N; i++)
        if (weight(p, i) > 0) rows[n++] = i;
    double *a = test_numbers(n * n);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) a[i * n + j] = p->k[rows[i] * N + rows[j]];
        a[i * n + i] += p->lambda * (double)n / weight(p, rows[i]);
        out[i] = residual[i] = y[rows[i]] - b;
    }
    const double log_determinant = dense_solve(n, a, 1, out);
    free(a);
    *count = n;
    return log_determinant;
}

/* -log N(y; b 1, t A) */
static double density(const problem *p, const double *y, double b, double t)
{
    double residual[N], solved[N], form = 0;
    int64_t n;
    const double log_determinant = solve_rows(p, y, b, &n, residual, solved);
    for (int64_t i = 0; i < n; i++) form += residual[i] * solved[i];
    return 0.5 * ((double)n * log(2 * acos(-1) * t) + log_determinant + form / t);
}

/* The least of it over b and t, checked to be the least. */
static double by_density(const problem *p)
{
    double sum = 0, y[N], ones[N], residual[N], solved[N], solved_ones[N];
    int64_t n;
    for (int64_t i = 0; i < N; i++) ones[i] = 1;
    for (int64_t j = 0; j < p->outputs; j++) {
        double b = 0, top = 0, bottom = 0, form = 0;
        target(p, j, y);
        (void)solve_rows(p, y, 0, &n, residual, solved);
        (void)solve_rows(p, ones, 0, &n, residual, solved_ones);
        for (int64_t i = 0; i < n; i++) {
            top += solved[i];
            bottom += solved_ones[i];
        }
        if (p->intercept) b = top / bottom;
        (void)solve_rows(p, y, b, &n, residual, solved);
        for (int64_t i = 0; i < n; i++) form += residual[i] * solved[i];
        const double t = form / (double)n, best = density(p, y, b, t);
        assert_true(density(p, y, b, 1.01 * t) > best && density(p, y, b, 0.99 * t) > best);
        if (p->intercept) assert_true(density(p, y, b + 0.01, t) > best && density(p, y, b - 0.01, t) > best);
        sum += best;
    }
    return sum;
}

/* ---- values ---- */

static void compare(const problem *p, gram_kernel *kernel, const char *text)
{
    double (*const slow[])(const problem *) = {by_one, by_hat_matrix, by_folds, by_density};
    double gradient[MOST];
    OK(p->context, gram_matrix(p->context, kernel, p->points, NULL, p->k, N));
    for (int i = 0; i < 4; i++) {
        const double value = evaluate(p, kernel, KINDS[i], p->lambda, NULL), expected = slow[i](p);
        if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
            FAIL_TEST("%s of %s: %.15g instead of %.15g", KIND_NAMES[i], text, value, expected);
        const double with = evaluate(p, kernel, KINDS[i], p->lambda, gradient);
        if (memcmp(&with, &value, sizeof with)) FAIL_TEST("%s of %s: another value with gradient", KIND_NAMES[i], text);
    }
}

static void for_all(void (*check)(const problem *, gram_kernel *, const char *))
{
    for (int setting = 0; setting < 8; setting++) {
        problem p = make(setting & 1 ? 2 : 1, setting >> 1 & 1, setting >> 2 & 1);
        for (int i = 0; i < KERNEL_COUNT; i++) {
            gram_kernel *kernel = test_kernel(p.context, KERNELS[i]);
            check(&p, kernel, KERNELS[i]);
            gram_kernel_release(kernel);
        }
        drop(&p);
    }
}

static void values(void **state)
{
    (void)state;
    for_all(compare);
}

/* ---- gradients ---- */

/* The criterion with parameter `index` (the last: lambda) moved by `step`. */
static double moved(const problem *p, const gram_kernel *kernel, gram_criterion kind, int64_t index, double step)
{
    const int64_t count = gram_kernel_parameter_count(kernel);
    double values[MOST], lambda = p->lambda;
    gram_kernel *other = NULL;
    for (int64_t i = 0; i < count; i++) {
        gram_parameter parameter;
        OK(p->context, gram_kernel_parameter_get(p->context, kernel, i, &parameter));
        values[i] = parameter.value + (i == index ? step : 0);
    }
    if (index == count) lambda += step;
    OK(p->context, gram_kernel_with_values(p->context, kernel, values, &other));
    const double value = evaluate(p, other, kind, lambda, NULL);
    gram_kernel_release(other);
    return value;
}

static double difference(const problem *p, const gram_kernel *kernel, gram_criterion kind, int64_t index, double h)
{
    static const double factors[] = {45, -9, 1};
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += factors[i] * (moved(p, kernel, kind, index, (i + 1) * h) - moved(p, kernel, kind, index, -(i + 1) * h));
    return sum / (60 * h);
}

static double step_of(const problem *p, const gram_kernel *kernel, int64_t index)
{
    gram_parameter parameter;
    if (index == gram_kernel_parameter_count(kernel)) return 0.01 * p->lambda;
    OK(p->context, gram_kernel_parameter_get(p->context, kernel, index, &parameter));
    return 0.004 * fmax(fabs(parameter.value), 0.1);
}

static void compare_gradient(const problem *p, gram_kernel *kernel, const char *text)
{
    const int64_t count = gram_kernel_parameter_count(kernel);
    double gradient[MOST];
    assert_true(count < MOST);
    for (int i = 0; i < 4; i++) {
        const double value = evaluate(p, kernel, KINDS[i], p->lambda, gradient);
        for (int64_t j = 0; j <= count; j++) {
            const double h = step_of(p, kernel, j), slope = difference(p, kernel, KINDS[i], j, h);
            /* what differences can see: rounding of the values over h */
            const double allowed = 1e-8 * fabs(slope) + 1e-11 * fabs(value) / h;
            if (!(fabs(gradient[j] - slope) <= allowed))
                FAIL_TEST("%s of %s by parameter %lld: %.12g instead of %.12g", KIND_NAMES[i], text, (long long)j,
                          gradient[j], slope);
        }
    }
}

static void gradients(void **state)
{
    (void)state;
    for_all(compare_gradient);
}

/* ---- larger than a tile ---- */

enum { LARGE_N = 300 };

/* LOO and GCV make W by tiles of 128: the derivative along the gradient, and the same bits with 1, 2 and 3 threads. */
static void tiles(void **state)
{
    (void)state;
    double *x = test_random(8, LARGE_N * D, -1, 1), *y = test_random(9, LARGE_N, -0.3, 0.3);
    for (int64_t i = 0; i < LARGE_N; i++) y[i] += sin(3 * x[i * D]);
    for (int kind = 0; kind < 4; kind++) {
        double first[MOST], first_value = 0;
        for (int threads = 1; threads <= 3; threads++) {
            gram_context *context = test_context(threads, GRAM_ISA_AUTO);
            problem p = {.context = context, .y = y, .outputs = 1, .intercept = 1, .lambda = 1e-3};
            double gradient[MOST];
            gram_kernel *kernel = test_kernel(context, "rbf(ell=[0.6,1.1,2]) + 0.1*white()");
            p.points = test_points(context, LARGE_N, D, x);
            gram_krr_tune_options o = options_of(&p, KINDS[kind]);
            double value = NAN;
            OK(context, gram_krr_criterion(context, kernel, p.points, 1, y, 1, &o, 1e-3, &value, gradient));
            if (threads == 1) {
                memcpy(first, gradient, sizeof first);
                first_value = value;
            }
            assert_memory_equal(&value, &first_value, sizeof value);
            assert_memory_equal(gradient, first, 6 * sizeof *first);
            gram_kernel_release(kernel);
            gram_points_release(p.points);
            gram_context_destroy(context);
        }
    }
    free(x);
    free(y);
}

static double large_value(gram_context *context, const gram_points *points, const double *y, gram_criterion kind,
                          const double *values, double *gradient)
{
    gram_kernel *open = test_kernel(context, "rbf(ell=[1,1,1])"), *kernel = NULL;
    gram_krr_tune_options o;
    double value = NAN;
    gram_krr_tune_options_init(&o, sizeof o);
    o.criterion = kind;
    OK(context, gram_kernel_with_values(context, open, values, &kernel));
    OK(context, gram_krr_criterion(context, kernel, points, 1, y, 1, &o, values[D], &value, gradient));
    gram_kernel_release(open);
    gram_kernel_release(kernel);
    return value;
}

static void along_gradient(void **state)
{
    (void)state;
    static const double factors[] = {45, -9, 1}, direction[] = {0.4, -0.3, 0.5, 1e-4}, at[] = {0.6, 1.1, 2, 1e-3};
    double *x = test_random(8, LARGE_N * D, -1, 1), *y = test_random(9, LARGE_N, -0.3, 0.3);
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    for (int64_t i = 0; i < LARGE_N; i++) y[i] += sin(3 * x[i * D]);
    gram_points *points = test_points(context, LARGE_N, D, x);
    for (int kind = 0; kind < 4; kind++) {
        const double h = 0.01;
        double gradient[D + 1], expected = 0, slope = 0;
        (void)large_value(context, points, y, KINDS[kind], at, gradient);
        for (int i = 0; i <= D; i++) expected += gradient[i] * direction[i];
        for (int i = 0; i < 6; i++) {
            const double step = (i < 3 ? 1 : -1) * (i % 3 + 1) * h, sign = i < 3 ? 1 : -1;
            double values[D + 1];
            for (int l = 0; l <= D; l++) values[l] = at[l] + step * direction[l];
            slope += sign * factors[i % 3] * large_value(context, points, y, KINDS[kind], values, NULL) / (60 * h);
        }
        if (!(fabs(slope - expected) <= 1e-7 * fabs(slope)))
            FAIL_TEST("%s: %.12g instead of %.12g", KIND_NAMES[kind], expected, slope);
    }
    gram_points_release(points);
    gram_context_destroy(context);
    free(x);
    free(y);
}

/* ---- the edges ---- */

static void one_and_two_rows(void **state)
{
    (void)state;
    const double x[] = {0, 1}, y[] = {1, 3};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    gram_points *one = test_points(context, 1, 1, x), *two = test_points(context, 2, 1, x);
    gram_krr_tune_options o;
    double value = 0;
    gram_krr_tune_options_init(&o, sizeof o);
    assert_int_equal(gram_krr_criterion(context, kernel, one, 1, y, 1, &o, 0.1, &value, NULL), GRAM_ERROR_ARGUMENT);
    /* with an intercept each of two rows is predicted by the other's value */
    OK(context, gram_krr_criterion(context, kernel, two, 1, y, 1, &o, 0.1, &value, NULL));
    assert_true(fabs(value - 4) < 1e-12);
    o.intercept = 0;
    /* without, the only row is predicted by 0 */
    OK(context, gram_krr_criterion(context, kernel, one, 1, y, 1, &o, 0.1, &value, NULL));
    assert_true(fabs(value - 1) < 1e-12);
    gram_kernel_release(kernel);
    gram_points_release(one);
    gram_points_release(two);
    gram_context_destroy(context);
}

static void constant_target(void **state)
{
    (void)state;
    problem p = make(1, 0, 1);
    gram_kernel *kernel = test_kernel(p.context, KERNELS[0]);
    double gradient[2];
    for (int64_t i = 0; i < N; i++) p.y[i * M] = 7;
    for (int i = 0; i < 3; i++) {
        assert_true(evaluate(&p, kernel, KINDS[i], 0.1, gradient) < 1e-24);
        assert_true(fabs(gradient[0]) < 1e-20 && fabs(gradient[1]) < 1e-20);
    }
    (void)evaluate(&p, kernel, GRAM_CRITERION_ML, 0.1, gradient);
    gram_kernel_release(kernel);
    drop(&p);
}

static void single_precision_points(void **state)
{
    (void)state;
    problem p = make(1, 0, 1);
    gram_kernel *kernel = test_kernel(p.context, KERNELS[1]);
    gram_points *narrow = NULL, *wide = NULL;
    float *x32 = malloc(N * D * sizeof *x32);
    double *x64 = test_numbers(N * D), value = 0, expected = 0, gradient[4], expected_gradient[4];
    gram_krr_tune_options o = options_of(&p, GRAM_CRITERION_LOO);
    assert_non_null(x32);
    for (int i = 0; i < N * D; i++) x64[i] = (double)(x32[i] = (float)p.x[i]);
    OK(p.context, gram_points_create_f32(p.context, N, D, x32, D, &narrow));
    wide = test_points(p.context, N, D, x64);
    OK(p.context, gram_krr_criterion(p.context, kernel, narrow, 1, p.y, M, &o, 0.1, &value, gradient));
    OK(p.context, gram_krr_criterion(p.context, kernel, wide, 1, p.y, M, &o, 0.1, &expected, expected_gradient));
    assert_memory_equal(&value, &expected, sizeof value);
    assert_memory_equal(gradient, expected_gradient, sizeof gradient);
    gram_points_release(narrow);
    gram_points_release(wide);
    gram_kernel_release(kernel);
    free(x32);
    free(x64);
    drop(&p);
}

static void refuses(const problem *p, gram_kernel *kernel, const gram_krr_tune_options *o, double lambda,
                    gram_status expected, const char *words)
{
    double value;
    const gram_status status =
        gram_krr_criterion(p->context, kernel, p->points, p->outputs, p->y, M, o, lambda, &value, NULL);
    if (status != expected || !strstr(gram_context_message(p->context), words))
        FAIL_TEST("%s '%s' instead of '%s'", gram_status_name(status), gram_context_message(p->context), words);
}

static void bad_arguments(void **state)
{
    (void)state;
    problem p = make(1, 1, 1);
    gram_kernel *kernel = test_kernel(p.context, KERNELS[0]), *open = test_kernel(p.context, "rbf");
    gram_krr_tune_options o = options_of(&p, GRAM_CRITERION_CV);
    double value;
    assert_int_equal(gram_krr_criterion(NULL, kernel, p.points, 1, p.y, M, &o, 1, &value, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_krr_criterion(p.context, kernel, NULL, 1, p.y, M, &o, 1, &value, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_krr_criterion(p.context, kernel, p.points, 1, NULL, M, &o, 1, &value, NULL),
                     GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_krr_criterion(p.context, kernel, p.points, 3, p.y, M, &o, 1, &value, NULL),
                     GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_krr_criterion(p.context, kernel, p.points, 1, p.y, M, &o, 1, NULL, NULL),
                     GRAM_ERROR_ARGUMENT);
    refuses(&p, NULL, &o, 1, GRAM_ERROR_ARGUMENT, "kernel is NULL");
    refuses(&p, open, &o, 1, GRAM_ERROR_UNSET, "");
    refuses(&p, kernel, &o, -1, GRAM_ERROR_ARGUMENT, "lambda = -1");
    refuses(&p, kernel, &o, NAN, GRAM_ERROR_ARGUMENT, "lambda = ");
    o.folds = 1;
    refuses(&p, kernel, &o, 1, GRAM_ERROR_ARGUMENT, "folds = 1");
    o.folds = FOLDS;
    o.criterion = (gram_criterion)9;
    refuses(&p, kernel, &o, 1, GRAM_ERROR_ARGUMENT, "criterion = 9");
    o.criterion = GRAM_CRITERION_LOO;
    o.size = 3;
    refuses(&p, kernel, &o, 1, GRAM_ERROR_ARGUMENT, "size");
    o.size = sizeof o;
    p.w[3] = -1;
    refuses(&p, kernel, &o, 1, GRAM_ERROR_DATA, "weights[3] = -1");
    memset(p.w, 0, N * sizeof *p.w);
    refuses(&p, kernel, &o, 1, GRAM_ERROR_ARGUMENT, "0 rows of weight above 0");
    o.weights = NULL;
    p.y[5 * M] = NAN;
    refuses(&p, kernel, &o, 1, GRAM_ERROR_DATA, "y[5][0] is");
    gram_kernel_release(kernel);
    gram_kernel_release(open);
    drop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values),
                                       cmocka_unit_test(gradients),
                                       cmocka_unit_test(tiles),
                                       cmocka_unit_test(along_gradient),
                                       cmocka_unit_test(one_and_two_rows),
                                       cmocka_unit_test(constant_target),
                                       cmocka_unit_test(single_precision_points),
                                       cmocka_unit_test(bad_arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
