/* Regression with any loss against a general solver (reference/make_loss.py), certificates computed here, kernel ridge
 * regression, order statistics, refits, and bad input. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "support.h"

enum { N = 80, LEVELS = 3 };
static const double LEVEL[LEVELS] = {0.1, 0.5, 0.9};

typedef struct data {
    double x[N], y[N], w[N];
} data;

static void make_data(data *t)
{
    double e[N];
    test_uniform(51, N, 0, 3, t->x);
    test_uniform(52, N, -1, 1, e);
    test_uniform(53, N, 0.3, 2, t->w);
    for (int i = 0; i < N; i++)
        t->y[i] = sin(2 * t->x[i]) + 0.5 * e[i] * e[i] * e[i] * (1 + t->x[i]) + (i % 17 == 3 ? 4 : 0);
}

static gram_loss_options options_of(gram_loss_kind kind, double lambda)
{
    gram_loss_options o;
    gram_loss_options_init(&o, sizeof o);
    o.kind = kind;
    o.lambda = lambda;
    return o;
}

static gram_loss *fit(gram_context *c, const char *kernel, int64_t n, const double *x, const double *y,
                      const gram_loss_options *o)
{
    gram_kernel *k = test_kernel(c, kernel);
    gram_points *p = test_points(c, n, 1, x);
    gram_loss *made = NULL;
    OK(c, gram_loss_fit(c, k, p, y, o, &made));
    gram_points_release(p);
    gram_kernel_release(k);
    return made;
}

static void values(gram_context *c, const gram_loss *f, int64_t n, const double *x, double *out)
{
    gram_points *p = test_points(c, n, 1, x);
    OK(c, gram_function_evaluate(c, gram_loss_function(f), p, out, gram_function_outputs(gram_loss_function(f))));
    gram_points_release(p);
}

/* ---- the table ---- */

static void test_reference(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    FILE *file = test_open_reference("loss.txt");
    int blocks = 0, kind, n, intercept, levels, non_crossing;
    double lambda, delta, epsilon, level[8], x[32], y[32], w[32], least;
    for (; fscanf(file, "%d %d %lf %d %lf %lf %d", &kind, &n, &lambda, &intercept, &delta, &epsilon, &levels) == 7;
         blocks++) {
        test_read_numbers(file, levels, level);
        if (fscanf(file, "%d", &non_crossing) != 1) FAIL_TEST("block %d", blocks);
        test_read_numbers(file, n, x), test_read_numbers(file, n, y), test_read_numbers(file, n, w),
            test_read_numbers(file, 1, &least);
        gram_loss_options o = options_of((gram_loss_kind)kind, lambda);
        o.intercept = intercept, o.delta = delta, o.epsilon = epsilon;
        o.quantile_count = levels, o.quantiles = level;
        o.non_crossing = non_crossing;
        o.weights = w;
        gram_loss *f = fit(c, "rbf(ell=0.4)", n, x, y, &o);
        const gram_loss_report *r = gram_loss_get_report(f);
        if (!(fabs(r->objective - least) < 2e-7 * least))
            FAIL_TEST("block %d: objective %.12g, not %.12g", blocks, r->objective, least);
        assert_true(r->gap <= 1e-8 && r->iterations < 40);
        gram_loss_destroy(f);
    }
    assert_int_equal(blocks, 8);
    fclose(file);
    gram_context_destroy(c);
}

/* ---- a certificate, from the function alone ---- */

/* The largest value of z r - loss(r) over r: what a slope z costs in the dual. NaN out of the slopes that the loss
 * has. */
static double conjugate(const gram_loss_options *o, int64_t q, double z)
{
    const double slack = 1e-9, tau = o->quantile_count ? o->quantiles[q] : 0.5;
    switch (o->kind) {
    case GRAM_LOSS_SQUARED: return z * z / 4;
    case GRAM_LOSS_ABSOLUTE: return fabs(z) <= 1 + slack ? 0 : NAN;
    case GRAM_LOSS_HUBER: return fabs(z) <= 2 * o->delta + slack ? z * z / 4 : NAN;
    case GRAM_LOSS_QUANTILE: return z <= tau + slack && z >= tau - 1 - slack ? 0 : NAN;
    case GRAM_LOSS_INSENSITIVE: return fabs(z) <= 1 + slack ? o->epsilon * fabs(z) : NAN;
    case GRAM_LOSS_CALLBACK: break;
    }
    return NAN;
}

static void check_certificate(gram_context *c, const data *t, const gram_loss_options *o, const char *kernel)
{
    gram_loss *f = fit(c, kernel, N, t->x, t->y, o);
    const gram_function *g = gram_loss_function(f);
    const gram_loss_report *r = gram_loss_get_report(f);
    const int64_t m = gram_function_outputs(g);
    const double *a = gram_function_coefficients(g), *b = gram_function_constant(g), scale = 2 * N * o->lambda;
    double at[N * LEVELS], primal = 0, dual = 0, loss = 0, total = 0, norm = 0;
    values(c, f, N, t->x, at);
    for (int64_t q = 0; q < m; q++) {
        double quadratic = 0, sum = 0;
        for (int i = 0; i < N; i++) {
            const double slope = scale * a[i * m + q], w = t->w[i];
            quadratic += a[i * m + q] * (at[i * m + q] - b[q]);
            sum += slope;
            loss += w * gram_loss_value(o, q, t->y[i] - at[i * m + q]);
            dual += t->y[i] * slope - w * conjugate(o, q, slope / w);
        }
        if (!(fabs(sum) < 1e-8 * N)) FAIL_TEST("%s: the slopes add up to %g", gram_loss_name(o->kind), sum);
        primal += scale / 2 * quadratic;
        dual -= scale / 2 * quadratic;
        norm += quadratic;
    }
    for (int i = 0; i < N; i++) total += t->w[i];
    primal = (primal + loss) / N, dual /= N;
    if (!(primal - dual < 1e-7 * primal && primal - dual > -1e-9 * primal))
        FAIL_TEST("%s, lambda %g: objective %.12g, lower bound %.12g", gram_loss_name(o->kind), o->lambda, primal,
                  dual);
    assert_true(fabs(r->objective - primal) < 1e-9 * primal && fabs(r->dual - dual) < 1e-8 * primal);
    assert_true(r->gap < 1e-8);
    assert_true(fabs(r->loss - loss / total) < 1e-9 * primal);
    assert_true(fabs(r->norm - sqrt(norm)) < 1e-6 * sqrt(norm));
    gram_loss_destroy(f);
}

static void test_certificates(void **state)
{
    (void)state;
    static const double lambdas[] = {1, 1e-2, 1e-4, 1e-6};
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    make_data(&t);
    for (int kind = 0; kind < 5; kind++)
        for (int i = 0; i < 4; i++) {
            gram_loss_options o = options_of((gram_loss_kind)kind, lambdas[i]);
            o.weights = t.w;
            o.delta = 0.2;
            o.quantile_count = LEVELS, o.quantiles = LEVEL;
            check_certificate(c, &t, &o, "rbf(ell=0.5)");
            o.epsilon = 0;
            check_certificate(c, &t, &o, "2*matern(nu=1.5, ell=0.4)");
        }
    gram_context_destroy(c);
}

/* Squared loss, and Huber with a large delta, are kernel ridge regression. */
static void test_ridge(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    make_data(&t);
    gram_kernel *k = test_kernel(c, "rbf(ell=0.5)");
    gram_points *p = test_points(c, N, 1, t.x);
    gram_krr_options ko;
    gram_krr_options_init(&ko, sizeof ko);
    ko.weights = t.w;
    gram_krr *krr = NULL;
    OK(c, gram_krr_fit(c, k, p, 1, t.y, 1, &ko, &krr));
    for (int huber = 0; huber < 2; huber++) {
        gram_loss_options o = options_of(huber ? GRAM_LOSS_HUBER : GRAM_LOSS_SQUARED, ko.lambda);
        double out[N];
        o.weights = t.w;
        o.delta = 100;
        o.tolerance = 1e-13;
        gram_loss *f = fit(c, "rbf(ell=0.5)", N, t.x, t.y, &o);
        values(c, f, N, t.x, out);
        assert_true(test_distance(N, 1, out, 1, gram_krr_fitted(krr), 1) < 1e-5);
        gram_loss_destroy(f);
    }
    gram_krr_destroy(krr);
    gram_kernel_release(k);
    gram_points_release(p);
    gram_context_destroy(c);
}

/* With an unpenalised constant a share of about tau of the rows lies below the curve: at most tau n below it and (1 -
 * tau) n above. */
static void test_quantiles(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    make_data(&t);
    gram_loss_options o = options_of(GRAM_LOSS_QUANTILE, 1e-3);
    o.quantile_count = LEVELS, o.quantiles = LEVEL;
    gram_loss *f = fit(c, "rbf(ell=0.5)", N, t.x, t.y, &o);
    double out[N * LEVELS];
    values(c, f, N, t.x, out);
    for (int q = 0; q < LEVELS; q++) {
        int below = 0, above = 0;
        for (int i = 0; i < N; i++) {
            below += t.y[i] < out[i * LEVELS + q] - 1e-4;
            above += t.y[i] > out[i * LEVELS + q] + 1e-4;
        }
        assert_true(below <= LEVEL[q] * N && above <= (1 - LEVEL[q]) * N);
    }
    gram_loss_destroy(f);
    gram_context_destroy(c);
}

/* Curves of a flexible kernel cross on these rows; as constraints they do not, at a higher loss; where they do not
 * cross anyway, the constraints change nothing. */
/* Hardly a penalty and every row twice, so that the function goes through all points: outer quantiles as well. */
static void test_interpolating(void **state)
{
    (void)state;
    static const double levels[] = {0.1, 0.5, 0.9};
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double x[N], y[N], u[N];
    for (uint64_t seed = 50; seed < 60; seed++)
        for (double lambda = 1e-5; lambda > 5e-9; lambda /= 10) {
            gram_loss_options o = options_of(GRAM_LOSS_QUANTILE, lambda);
            o.quantiles = levels;
            o.quantile_count = 3;
            test_uniform(seed, N, 0, 3, x);
            test_uniform(seed + 100, N, 0, 1, u);
            memcpy(x + N / 2, x, N / 2 * sizeof *x);
            for (int i = 0; i < N; i++) y[i] = sin(2 * x[i]) + u[i % (N / 2)];
            gram_loss *f = fit(c, "rbf(ell=0.1)", N, x, y, &o);
            assert_true(gram_loss_get_report(f)->gap <= o.tolerance);
            gram_loss_destroy(f);
        }
    gram_context_destroy(c);
}

static void test_non_crossing(void **state)
{
    enum { FEW = 40 };
    (void)state;
    static const double near[LEVELS] = {0.4, 0.5, 0.6};
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    make_data(&t);
    gram_loss_options o = options_of(GRAM_LOSS_QUANTILE, 1e-4);
    o.quantile_count = LEVELS, o.quantiles = near;
    gram_loss *alone = fit(c, "rbf(ell=0.4)", FEW, t.x, t.y, &o);
    o.non_crossing = 1;
    gram_loss *together = fit(c, "rbf(ell=0.4)", FEW, t.x, t.y, &o);
    assert_true(gram_loss_get_report(alone)->crossing > 1e-3);
    assert_true(gram_loss_get_report(together)->crossing < 1e-7);
    assert_true(gram_loss_get_report(together)->objective > gram_loss_get_report(alone)->objective * (1 + 1e-6));
    double out[FEW * LEVELS];
    values(c, together, FEW, t.x, out);
    for (int i = 0; i < FEW; i++)
        assert_true(out[i * LEVELS] < out[i * LEVELS + 1] + 1e-7 && out[i * LEVELS + 1] < out[i * LEVELS + 2] + 1e-7);
    gram_loss_destroy(alone);
    gram_loss_destroy(together);
    o.quantiles = LEVEL;
    o.lambda = 0.1;
    together = fit(c, "rbf(ell=0.4)", FEW, t.x, t.y, &o);
    o.non_crossing = 0;
    alone = fit(c, "rbf(ell=0.4)", FEW, t.x, t.y, &o);
    assert_true(gram_loss_get_report(alone)->crossing == 0);
    assert_true(fabs(gram_loss_get_report(alone)->objective - gram_loss_get_report(together)->objective) < 1e-7);
    gram_loss_destroy(alone);
    gram_loss_destroy(together);
    gram_context_destroy(c);
}

/* Equal rows: the constant that the loss asks for. Constant targets: that constant. */
static void test_degenerate(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double x[7] = {1, 1, 1, 1, 1, 1, 1}, out[7];
    const double y[7] = {3, 1, 9, 2, 40, 5, 4}, same[7] = {5, 5, 5, 5, 5, 5, 5};
    gram_loss_options o = options_of(GRAM_LOSS_ABSOLUTE, 1e-3);
    gram_loss *f = fit(c, "rbf(ell=1)", 7, x, y, &o);
    values(c, f, 7, x, out);
    assert_true(fabs(out[0] - 4) < 1e-6);
    gram_loss_destroy(f);
    for (int i = 0; i < 7; i++) x[i] = i;
    for (int kind = 0; kind < 5; kind++) {
        o = options_of((gram_loss_kind)kind, 1e-3);
        f = fit(c, "rbf(ell=1)", 7, x, same, &o);
        values(c, f, 7, x, out);
        for (int i = 0; i < 7; i++) assert_true(fabs(out[i] - 5) < (kind == 4 ? 0.1 + 1e-6 : 1e-5));
        gram_loss_destroy(f);
    }
    gram_context_destroy(c);
}

static void values_of_many(gram_context *c, double *out)
{
    enum { MANY = 720 };
    double *x = test_random(5, MANY, 0, 6), *e = test_random(6, MANY, -1, 1), y[MANY];
    for (int i = 0; i < MANY; i++) y[i] = sin(x[i]) + e[i];
    const gram_loss_options o = options_of(GRAM_LOSS_INSENSITIVE, 1e-4);
    gram_loss *f = fit(c, "rbf(ell=0.5)", MANY, x, y, &o);
    values(c, f, MANY, x, out);
    assert_true(gram_loss_get_report(f)->n_support < MANY && gram_loss_get_report(f)->n_support > MANY / 2);
    gram_loss_destroy(f);
    free(x), free(e);
}

static void test_threads(void **state)
{
    (void)state;
    test_any_threads(720, values_of_many);
}

/* ---- tuning ---- */

static void test_tune(void **state)
{
    enum { FEW = 30 };
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    make_data(&t);
    gram_kernel *kernel = test_kernel(c, "rbf"), *tuned = NULL;
    gram_points *p = test_points(c, FEW, 1, t.x);
    gram_loss_tune_options o;
    gram_grid_report r = {.size = sizeof r};
    double lambda, held[FEW * LEVELS], sum = 0, total = 0;
    gram_loss_tune_options_init(&o, sizeof o);
    gram_loss_options lo = options_of(GRAM_LOSS_QUANTILE, 1);
    lo.quantile_count = LEVELS, lo.quantiles = LEVEL;
    lo.weights = t.w;
    o.loss = &lo;
    o.folds = FEW;
    o.width_count = 2, o.widths = (const double[]){1, 0.4};
    o.lambda_count = 2, o.lambdas = (const double[]){1e-3, 1e-2};
    OK(c, gram_loss_tune(c, kernel, p, t.y, &o, &tuned, &lambda, &r, NULL, held, LEVELS));
    for (int i = 0; i < FEW; i++) { /* each row from a refit without it */
        double w[FEW], out[LEVELS];
        gram_loss_options fo = lo;
        gram_loss *f = NULL;
        memcpy(w, t.w, sizeof w);
        w[i] = 0;
        fo.weights = w;
        fo.lambda = lambda * FEW / (FEW - 1);
        OK(c, gram_loss_fit(c, tuned, p, t.y, &fo, &f));
        values(c, f, 1, t.x + i, out);
        if (!(test_distance(1, LEVELS, out, LEVELS, held + i * LEVELS, LEVELS) < 0.05))
            FAIL_TEST("row %d: held out %g, refitted %g", i, held[i * LEVELS], out[0]);
        for (int q = 0; q < LEVELS; q++) sum += t.w[i] * gram_loss_value(&lo, q, t.y[i] - held[i * LEVELS + q]);
        total += t.w[i];
        gram_loss_destroy(f);
    }
    assert_true(fabs(r.value - sum / total) < 1e-12);
    gram_kernel_release(tuned);
    for (int kind = 0; kind < 5;
         kind++) { /* the default grid: better than the best constant, which has seen the rows */
        gram_loss_tune_options_init(&o, sizeof o);
        gram_loss_options flat = options_of((gram_loss_kind)kind, 1);
        o.loss = &flat;
        gram_points *all = test_points(c, N, 1, t.x);
        OK(c, gram_loss_tune(c, kernel, all, t.y, &o, &tuned, &lambda, &r, NULL, NULL, 0));
        flat.lambda = 1e6;
        gram_loss *f = NULL;
        OK(c, gram_loss_fit(c, tuned, all, t.y, &flat, &f));
        if (!(r.value < 0.8 * gram_loss_get_report(f)->loss))
            FAIL_TEST("%s: %g, constant %g", gram_loss_name(flat.kind), r.value, gram_loss_get_report(f)->loss);
        gram_loss_destroy(f);
        gram_kernel_release(tuned);
        gram_points_release(all);
    }
    gram_kernel_release(kernel);
    gram_points_release(p);
    gram_context_destroy(c);
}

/* ---- bad input ---- */

static void test_bad_input(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    make_data(&t);
    gram_kernel *k = test_kernel(c, "rbf(ell=1)"), *tuned = NULL;
    gram_points *p = test_points(c, N, 1, t.x);
    gram_loss *f = NULL;
    gram_loss_options o = options_of((gram_loss_kind)7, 1);
    gram_loss_tune_options to;
    double lambda;
    REFUSED(c, gram_loss_fit(c, k, p, t.y, &o, &f), GRAM_ERROR_ARGUMENT, "kind = 7");
    o = options_of(GRAM_LOSS_ABSOLUTE, -1);
    REFUSED(c, gram_loss_fit(c, k, p, t.y, &o, &f), GRAM_ERROR_ARGUMENT, "lambda = -1");
    o = options_of(GRAM_LOSS_HUBER, 1);
    o.delta = 0;
    REFUSED(c, gram_loss_fit(c, k, p, t.y, &o, &f), GRAM_ERROR_ARGUMENT, "delta = 0");
    o = options_of(GRAM_LOSS_INSENSITIVE, 1);
    o.epsilon = INFINITY;
    REFUSED(c, gram_loss_fit(c, k, p, t.y, &o, &f), GRAM_ERROR_ARGUMENT, "epsilon = inf");
    o = options_of(GRAM_LOSS_QUANTILE, 1);
    o.quantile_count = 2, o.quantiles = (const double[]){0.5, 0.4};
    REFUSED(c, gram_loss_fit(c, k, p, t.y, &o, &f), GRAM_ERROR_ARGUMENT, "quantiles[1] = 0.4");
    o.quantiles = (const double[]){0.5, 1};
    REFUSED(c, gram_loss_fit(c, k, p, t.y, &o, &f), GRAM_ERROR_ARGUMENT, "quantiles[1] = 1");
    t.y[5] = NAN;
    REFUSED(c, gram_loss_fit(c, k, p, t.y, NULL, &f), GRAM_ERROR_DATA, "y[5]");
    t.y[5] = 0;
    REFUSED(c, gram_loss_fit(c, k, p, NULL, NULL, &f), GRAM_ERROR_ARGUMENT, "y is NULL");
    REFUSED(c, gram_loss_fit(c, NULL, p, t.y, NULL, &f), GRAM_ERROR_ARGUMENT, "kernel is NULL");
    gram_loss_tune_options_init(&to, sizeof to);
    to.folds = N + 1;
    REFUSED(c, gram_loss_tune(c, k, p, t.y, &to, &tuned, &lambda, NULL, NULL, NULL, 0), GRAM_ERROR_ARGUMENT,
            "folds = 81");
    assert_null(f);
    o = options_of(GRAM_LOSS_ABSOLUTE, 1e-3);
    o.iterations = 1;
    assert_int_equal(gram_loss_fit(c, k, p, t.y, &o, &f), GRAM_NOT_CONVERGED);
    assert_true(gram_loss_get_report(f)->gap > 1e-8 &&
                gram_loss_get_report(f)->objective >= gram_loss_get_report(f)->dual);
    gram_loss_destroy(f);
    gram_kernel_release(k);
    gram_points_release(p);
    gram_context_destroy(c);
}

/* A fit that was stopped early says so, and its bounds hold all the same. */
static void test_early(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    make_data(&t);
    for (int i = 0; i < N; i++) t.y[i] += 30; /* far from 0: a constant that matters */
    gram_loss_options o = options_of(GRAM_LOSS_QUANTILE, 1e-3);
    o.quantile_count = 1, o.quantiles = LEVEL;
    gram_loss *best = fit(c, "rbf(ell=0.5)", N, t.x, t.y, &o), *f = NULL;
    const double least = gram_loss_get_report(best)->objective;
    gram_kernel *k = test_kernel(c, "rbf(ell=0.5)");
    gram_points *p = test_points(c, N, 1, t.x);
    for (o.iterations = 1; o.iterations < 6; o.iterations++) {
        assert_int_equal(gram_loss_fit(c, k, p, t.y, &o, &f), GRAM_NOT_CONVERGED);
        const gram_loss_report *r = gram_loss_get_report(f);
        assert_true(r->iterations == o.iterations && r->objective >= least * (1 - 1e-8) &&
                    r->dual <= least * (1 + 1e-8));
        assert_true(fabs(r->gap - (r->objective - r->dual) / r->objective) < 1e-12);
        gram_loss_destroy(f);
    }
    gram_loss_destroy(best);
    gram_kernel_release(k);
    gram_points_release(p);
    gram_context_destroy(c);
}

/* ---- memory ---- */

static gram_status play(gram_context *c)
{
    data t;
    make_data(&t);
    gram_kernel *k = NULL, *tuned = NULL;
    gram_points *p = NULL;
    double lambda;
    gram_loss_tune_options to;
    gram_loss_tune_options_init(&to, sizeof to);
    to.folds = 2, to.rows = 10;
    to.width_count = to.lambda_count = 1;
    to.widths = to.lambdas = (const double[]){0.5};
    gram_status status = gram_kernel_parse(c, "rbf(ell=0.5)", &k);
    if (status >= 0) status = gram_points_create_f64(c, 12, 1, t.x, 1, &p);
    for (int kind = 0; kind < 5 && status >= 0; kind += kind == 0 ? 3 : 1) {
        gram_loss *f = NULL;
        gram_loss_options o = options_of((gram_loss_kind)kind, 1e-2);
        o.quantile_count = LEVELS, o.quantiles = LEVEL;
        o.non_crossing = 1;
        o.weights = t.w;
        o.tolerance = 1e-3;
        status = gram_loss_fit(c, k, p, t.y, &o, &f);
        gram_loss_destroy(f);
    }
    if (status >= 0) status = gram_loss_tune(c, k, p, t.y, &to, &tuned, &lambda, NULL, NULL, NULL, 0);
    gram_kernel_release(tuned);
    gram_kernel_release(k);
    gram_points_release(p);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    assert_true(oom_each(play, 1) > 50);
    assert_true(oom_budget(play) > 5000);
}

/* ---- a loss of the caller's ---- */

static void squared_callback(void *user, double y, double f, double out[3])
{
    ++*(int *)user;
    out[0] = (y - f) * (y - f);
    out[1] = 2 * (f - y);
    out[2] = 2;
}

/* log cosh, smooth and of degree 1 far out; and Poisson's, which is no function of y - f. */
static void cosh_callback(void *user, double y, double f, double out[3])
{
    const double r = fabs(f - y), t = tanh(f - y);
    (void)user;
    out[0] = r + log1p(exp(-2 * r)) - log(2.0);
    out[1] = t;
    out[2] = 1 - t * t;
}

static void poisson_callback(void *user, double y, double f, double out[3])
{
    (void)user;
    out[0] = exp(f) - y * f;
    out[1] = exp(f) - y;
    out[2] = exp(f);
}

static void broken_callback(void *user, double y, double f, double out[3])
{
    (void)user, (void)y, (void)f;
    out[0] = out[1] = out[2] = NAN;
}

/* As a callback the squared loss is ridge regression; others satisfy c a = -dloss/df and 1'a = 0. */
static void callbacks(void **state)
{
    enum { ROWS = 40 };
    gram_context *context = TEST_CONTEXT(.threads = 2);
    (void)state;
    static const gram_loss_fn CALLBACKS[] = {squared_callback, cosh_callback, poisson_callback};
    double *x = test_random(21, ROWS, 0, 4), *noise = test_random(22, ROWS, -1, 1), y[ROWS], weights[ROWS];
    gram_points *points = test_points(context, ROWS, 1, x);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.8)");
    gram_loss_options options;
    gram_loss *fit;
    int calls = 0;
    for (int i = 0; i < ROWS; i++) y[i] = floor(2 + 2 * sin(x[i]) + noise[i]), weights[i] = 1 + i % 3;
    gram_loss_options_init(&options, sizeof options);
    options.kind = GRAM_LOSS_CALLBACK;
    options.lambda = 0.01;
    options.weights = weights;
    REFUSED(context, gram_loss_fit(context, kernel, points, y, &options, &fit), GRAM_ERROR_ARGUMENT,
            "callback is NULL");
    options.user = &calls;
    options.tolerance = 1e-10;
    for (int k = 0; k < 3; k++) {
        double f[ROWS], wanted[ROWS], sum = 0, out[3];
        options.callback = CALLBACKS[k];
        OK(context, gram_loss_fit(context, kernel, points, y, &options, &fit));
        const gram_function *function = gram_loss_function(fit);
        OK(context, gram_function_evaluate(context, function, points, f, 1));
        for (int i = 0; i < ROWS; i++) {
            CALLBACKS[k](&calls, y[i], f[i], out);
            wanted[i] = -weights[i] * out[1] / (2 * ROWS * options.lambda);
            sum += gram_function_coefficients(function)[i];
        }
        test_near("coefficients", NULL, ROWS, gram_function_coefficients(function), wanted, 1e-7);
        assert_true(fabs(sum) < 1e-7);
        if (k == 0) {
            gram_krr *krr;
            gram_krr_options squares;
            gram_krr_options_init(&squares, sizeof squares);
            squares.lambda = options.lambda;
            squares.weights = weights;
            OK(context, gram_krr_fit(context, kernel, points, 1, y, 1, &squares, &krr));
            test_near("ridge regression", NULL, ROWS, f, gram_krr_fitted(krr), 1e-9);
            gram_krr_destroy(krr);
        }
        gram_loss_destroy(fit);
    }
    assert_true(calls > ROWS);
    options.callback = broken_callback;
    REFUSED(context, gram_loss_fit(context, kernel, points, y, &options, &fit), GRAM_ERROR_NUMERICAL, "finite");
    /* tuned by the callback itself */
    gram_loss_tune_options tune;
    gram_kernel *tuned;
    double lambda;
    options.callback = cosh_callback;
    gram_loss_tune_options_init(&tune, sizeof tune);
    tune.loss = &options;
    OK(context, gram_loss_tune(context, kernel, points, y, &tune, &tuned, &lambda, NULL, NULL, NULL, 0));
    assert_true(lambda > 0);
    gram_kernel_release(tuned);
    gram_kernel_release(kernel);
    gram_points_release(points);
    free(x);
    free(noise);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callbacks),         cmocka_unit_test(test_reference),  cmocka_unit_test(test_certificates),
        cmocka_unit_test(test_ridge),        cmocka_unit_test(test_quantiles),  cmocka_unit_test(test_interpolating),
        cmocka_unit_test(test_non_crossing), cmocka_unit_test(test_degenerate), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_tune),         cmocka_unit_test(test_bad_input),  cmocka_unit_test(test_memory),
        cmocka_unit_test(test_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
