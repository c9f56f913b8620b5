/* Gradient flow against what it must be: the differential equation itself by Runge and Kutta's method, ridgeless regression in the
 * limit, smoothers column by column, folds by hand; and gradient descent, which follows it as near as its steps are short. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { N = 24, D = 2, M = 2, Q = 7, TIMES = 4 };

static const double times[TIMES] = {0.05, 0.7, 6, 40};

typedef struct scene {
    gram_context *context;
    gram_kernel *kernel;
    double *x, *z, *y, *w, *f, *fz; /* points, new ones, targets, weights, f_0 at both */
    gram_points *points, *new;
} scene;

static scene set(gram_context *context, const char *kernel)
{
    scene s = {.context = context, .kernel = test_kernel(context, kernel)};
    s.x = test_random(1, N * D, -1, 1);
    s.z = test_random(2, Q * D, -1.2, 1.2);
    s.y = test_random(3, N * M, -1, 2);
    s.w = test_random(4, N, 0.3, 2);
    s.f = test_random(5, N * M, -0.5, 0.5);
    s.fz = test_random(6, Q * M, -0.5, 0.5);
    for (int i = 0; i < N; i++) s.y[i * M] = sin(2 * s.x[i * D]) + s.x[i * D + 1];
    s.points = test_points(context, N, D, s.x);
    s.new = test_points(context, Q, D, s.z);
    return s;
}

static void clear(scene *s)
{
    gram_points_release(s->points);
    gram_points_release(s->new);
    gram_kernel_release(s->kernel);
    free(s->x), free(s->z), free(s->y), free(s->w), free(s->f), free(s->fz);
}

static gram_flow_options want(gram_flow_parameters parameters)
{
    gram_flow_options o;
    gram_flow_options_init(&o, sizeof o);
    o.parameters = parameters;
    return o;
}

static gram_flow *make(const scene *s, const gram_flow_options *o)
{
    gram_flow *flow = NULL;
    OK(s->context, gram_flow_create(s->context, s->kernel, s->points, M, s->y, M, o, &flow));
    return flow;
}

/* ---- the differential equation ---- */

/* da/dt = -(2/n) W (K a + f_0 - y), for coefficients K times that. */
static void slope(const scene *s, const double *k, const gram_flow_options *o, const double *f, const double *a,
                  double *out)
{
    double error[N * M];
    for (int i = 0; i < N; i++)
        for (int c = 0; c < M; c++) {
            double sum = f[i * M + c] - s->y[i * M + c];
            for (int j = 0; j < N; j++) sum += k[i * N + j] * a[j * M + c];
            error[i * M + c] = -2.0 / N * (o->weights ? o->weights[i] : 1) * sum;
        }
    for (int i = 0; i < N * M; i++) {
        out[i] = o->parameters == GRAM_FLOW_FUNCTION ? error[i] : 0;
        for (int j = 0; j < N && o->parameters == GRAM_FLOW_COEFFICIENTS; j++)
            out[i] += k[i / M * N + j] * error[j * M + i % M];
    }
}

static void walk(const scene *s, const double *k, const gram_flow_options *o, const double *f, double time, double *a)
{
    enum { STEPS = 6000 };
    double one[N * M], two[N * M], three[N * M], four[N * M], at[N * M];
    const double h = time / STEPS;
    for (int step = 0; step < STEPS; step++) {
        slope(s, k, o, f, a, one);
        for (int i = 0; i < N * M; i++) at[i] = a[i] + h / 2 * one[i];
        slope(s, k, o, f, at, two);
        for (int i = 0; i < N * M; i++) at[i] = a[i] + h / 2 * two[i];
        slope(s, k, o, f, at, three);
        for (int i = 0; i < N * M; i++) at[i] = a[i] + h * three[i];
        slope(s, k, o, f, at, four);
        for (int i = 0; i < N * M; i++) a[i] += h / 6 * (one[i] + 2 * two[i] + 2 * three[i] + four[i]);
    }
}

static void compare_with_equation(const scene *s, const gram_flow_options *o, const char *what)
{
    gram_flow *flow = make(s, o);
    double *k = test_matrix(s->context, s->kernel, s->points, NULL);
    double *cross = test_matrix(s->context, s->kernel, s->new, s->points);
    double f[N * M] = {0}, fz[Q * M] = {0}, total = 0, at[TIMES * N * M], elsewhere[TIMES * Q * M];
    for (int i = 0; i < N; i++) total += o->weights ? o->weights[i] : 1;
    for (int i = 0; i < N * M; i++) f[i] = o->initial ? o->initial[i] : 0;
    for (int i = 0; i < Q * M; i++) fz[i] = o->initial ? s->fz[i] : 0;
    for (int c = 0; c < M && o->intercept; c++) {
        double mean = 0;
        for (int i = 0; i < N; i++) mean += (o->weights ? o->weights[i] : 1) * s->y[i * M + c] / total;
        for (int i = 0; i < N; i++) f[i * M + c] = mean;
        for (int i = 0; i < Q; i++) fz[i * M + c] = mean;
    }
    OK(s->context, gram_flow_values(s->context, flow, TIMES, times, at));
    OK(s->context, gram_flow_predict(s->context, flow, TIMES, times, s->new, o->initial ? s->fz : NULL, elsewhere));
    for (int t = 0; t < TIMES; t++) {
        double a[N * M] = {0}, here[N * M], there[Q * M];
        walk(s, k, o, f, times[t], a);
        for (int i = 0; i < N * M; i++) {
            here[i] = f[i];
            for (int j = 0; j < N; j++) here[i] += k[i / M * N + j] * a[j * M + i % M];
        }
        for (int i = 0; i < Q * M; i++) {
            there[i] = fz[i];
            for (int j = 0; j < N; j++) there[i] += cross[i / M * N + j] * a[j * M + i % M];
        }
        test_near(what, "at the points", N * M, at + t * N * M, here, 1e-9);
        test_near(what, "elsewhere", Q * M, elsewhere + t * Q * M, there, 1e-9);
    }
    free(k), free(cross);
    gram_flow_destroy(flow);
}

static void follows_the_equation(void **state)
{
    scene s = set(*state, "1.5*matern(nu=1.5, ell=0.8)");
    gram_flow_options o = want(GRAM_FLOW_FUNCTION);
    compare_with_equation(&s, &o, "function");
    o.weights = s.w;
    compare_with_equation(&s, &o, "weights");
    o.intercept = 1;
    compare_with_equation(&s, &o, "weights and the mean");
    o.intercept = 0;
    o.initial = s.f;
    o.ldi = M;
    compare_with_equation(&s, &o, "weights and an initial function");
    o = want(GRAM_FLOW_COEFFICIENTS);
    o.initial = s.f;
    o.ldi = M;
    compare_with_equation(&s, &o, "coefficients");
    clear(&s);
}

/* ---- the ends ---- */

/* t = 0 is f_0, bit for bit; t = infinity is ridgeless regression of y - f_0. */
static void ends(void **state)
{
    static const char *const kernels[] = {"rbf(ell=0.35)", "matern(nu=2.5, ell=1)", "ntk(depth=3, sw=1.4, sb=0.3)"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        for (int parameters = 0; parameters < 2; parameters++) {
            scene s = set(*state, kernels[i]);
            gram_flow_options o = want((gram_flow_parameters)parameters);
            o.initial = s.f;
            o.ldi = M;
            gram_flow *flow = make(&s, &o);
            double ends_of[2 * Q * M], at[2 * N * M], left[N * M], limit[Q * M], both[] = {0, INFINITY};
            OK(s.context, gram_flow_predict(s.context, flow, 2, both, s.new, s.fz, ends_of));
            OK(s.context, gram_flow_values(s.context, flow, 2, both, at));
            assert_memory_equal(at, s.f, sizeof left);
            assert_memory_equal(ends_of, s.fz, sizeof limit);
            for (int j = 0; j < N * M; j++) left[j] = s.y[j] - s.f[j];
            gram_krr_options ridge;
            gram_krr_options_init(&ridge, sizeof ridge);
            ridge.lambda = 0;
            ridge.intercept = 0;
            gram_krr *krr = NULL;
            OK(s.context, gram_krr_fit(s.context, s.kernel, s.points, M, left, M, &ridge, &krr));
            OK(s.context, gram_function_evaluate(s.context, gram_krr_function(krr), s.new, limit, M));
            for (int j = 0; j < Q * M; j++) limit[j] += s.fz[j];
            test_near(kernels[i], "the limit", Q * M, ends_of + Q * M, limit, 1e-8);
            test_near(kernels[i], "the limit at the points", N * M, at + N * M, s.y, 1e-8);
            gram_krr_destroy(krr);
            gram_flow_destroy(flow);
            clear(&s);
        }
}

/* A kernel of rank 3 (d = 2): what it cannot reach stays, and coefficients do not grow without bound. */
static void low_rank(void **state)
{
    scene s = set(*state, "linear(c=1)");
    for (int parameters = 0; parameters < 2; parameters++) {
        gram_flow_options o = want((gram_flow_parameters)parameters);
        gram_flow *flow = make(&s, &o);
        gram_function *f = NULL;
        double residual = 1, line[N * M], at[N * M], late[] = {1e12}, huge[N * M];
        assert_int_equal(gram_flow_get_report(flow)->rank, D + 1);
        OK(s.context, gram_flow_function(s.context, flow, INFINITY, &f, &residual));
        assert_true(residual < 1e-13);
        OK(s.context, gram_function_evaluate(s.context, f, s.points, line, M));
        OK(s.context, gram_flow_values(s.context, flow, 1, late, at));
        OK(s.context, gram_flow_predict(s.context, flow, 1, late, s.points, NULL, huge));
        test_near("linear", "late and for ever", N * M, at, line, 1e-8);
        test_near("linear", "late, as a function", N * M, huge, line, 1e-6);
        for (int c = 0; c < M; c++) { /* least squares: residuals are orthogonal to 1 and the columns */
            double sums[D + 1] = {0};
            for (int i = 0; i < N; i++) {
                const double r = s.y[i * M + c] - line[i * M + c];
                sums[D] += r;
                for (int l = 0; l < D; l++) sums[l] += r * s.x[i * D + l];
            }
            for (int l = 0; l <= D; l++) assert_true(fabs(sums[l]) < 1e-10);
        }
        gram_function_release(f);
        gram_flow_destroy(flow);
    }
    clear(&s);
}

/* ---- gradient descent ---- */

static double descend(const scene *s, const gram_flow_options *o, double time, const double *wanted,
                      gram_flow_descent *report)
{
    double a[N * M], b[M], worst = 0, *k = test_matrix(s->context, s->kernel, s->points, NULL);
    report->size = sizeof *report;
    OK(s->context, gram_flow_descend(s->context, s->kernel, s->points, M, s->y, M, o, 1, &time, a, b, report));
    for (int i = 0; i < N * M; i++) {
        double f = b[i % M];
        for (int j = 0; j < N; j++) f += k[i / M * N + j] * a[j * M + i % M];
        worst = fmax(worst, fabs(f - wanted[i]));
    }
    free(k);
    return worst;
}

/* Half the step, half the error; weights and both parameterisations. */
static void descent_follows(void **state)
{
    scene s = set(*state, "rbf(ell=0.6)");
    for (int way = 0; way < 3; way++) {
        gram_flow_options o = want(way == 2 ? GRAM_FLOW_COEFFICIENTS : GRAM_FLOW_FUNCTION), exact;
        o.intercept = 1;
        o.weights = way == 1 ? s.w : NULL;
        exact = o;
        gram_flow *flow = make(&s, &exact);
        const double limit = N / gram_flow_get_report(flow)->largest, time = 12 * limit;
        double wanted[N * M], errors[3];
        gram_flow_descent report;
        OK(s.context, gram_flow_values(s.context, flow, 1, &time, wanted));
        for (int h = 0; h < 3; h++) {
            o.step = limit / (16 << h);
            errors[h] = descend(&s, &o, time, wanted, &report);
            assert_int_equal(report.steps, 12 * (16 << h));
        }
        for (int h = 1; h < 3; h++) {
            const double ratio = errors[h - 1] / errors[h];
            if (!(ratio > 1.85 && ratio < 2.15)) FAIL_TEST("way %d: half the step, 1/%g of the error", way, ratio);
        }
        o.step = 0;
        const double error = descend(&s, &o, time, wanted, &report);
        double size = 0;
        for (int i = 0; i < N * M; i++) size += gram_flow_errors(flow)[i] * gram_flow_errors(flow)[i];
        if (!(error < report.error * sqrt(size))) FAIL_TEST("way %d: error %g, not below %g", way, error, report.error);
        o.step = 1.02 * limit;
        double a[N * M], b[M];
        REFUSED(s.context, gram_flow_descend(s.context, s.kernel, s.points, M, s.y, M, &o, 1, &time, a, b, NULL),
                GRAM_ERROR_ARGUMENT, "would diverge");
        gram_flow_destroy(flow);
    }
    clear(&s);
}

/* Several times on one way are those of several ways, if their steps are alike. */
static void descent_passes_by(void **state)
{
    scene s = set(*state, "rbf(ell=0.6)");
    gram_flow_options o = want(GRAM_FLOW_FUNCTION);
    const double both[] = {2, 4};
    double a[2 * N * M], alone[N * M], b[M];
    o.step = 0.5;
    s.w[3] = 0;
    o.weights = s.w;
    OK(s.context, gram_flow_descend(s.context, s.kernel, s.points, M, s.y, M, &o, 2, both, a, b, NULL));
    OK(s.context, gram_flow_descend(s.context, s.kernel, s.points, M, s.y, M, &o, 1, both + 1, alone, b, NULL));
    test_near("descent", "on the way", N * M, a + N * M, alone, 1e-14);
    assert_true(a[3 * M] == 0 && alone[3 * M + 1] == 0);
    clear(&s);
}

/* ---- what is known without new data ---- */

/* The smoother itself: targets that are unit vectors, one output each. */
static double *smoother(const scene *s, const gram_flow_options *o, double time)
{
    double *unit = test_numbers(N * N), *a = test_numbers(N * N);
    gram_flow *flow = NULL;
    for (int i = 0; i < N; i++) unit[i * N + i] = 1;
    OK(s->context, gram_flow_create(s->context, s->kernel, s->points, N, unit, N, o, &flow));
    OK(s->context, gram_flow_values(s->context, flow, 1, &time, a));
    gram_flow_destroy(flow);
    free(unit);
    return a;
}

static void curves(void **state)
{
    scene s = set(*state, "matern(nu=1.5, ell=0.5)");
    for (int way = 0; way < 3; way++) {
        gram_flow_options o = want(way == 2 ? GRAM_FLOW_COEFFICIENTS : GRAM_FLOW_FUNCTION);
        o.weights = way == 1 ? s.w : NULL;
        o.intercept = way > 0;
        gram_flow *flow = make(&s, &o);
        for (int t = 0; t < TIMES; t++) {
            double *a = smoother(&s, &o, times[t]), trace = 0, total = 0, train = 0, out = 0, norms[M], residual;
            gram_flow_point point = {.time = times[t]};
            gram_function *f = NULL;
            OK(s.context, gram_flow_curve(s.context, flow, 1, &point));
            for (int i = 0; i < N; i++) {
                const double w = o.weights ? s.w[i] : 1;
                trace += a[i * N + i];
                total += w * M;
                for (int c = 0; c < M; c++) {
                    double r = s.y[i * M + c];
                    for (int j = 0; j < N; j++) r -= a[i * N + j] * s.y[j * M + c];
                    train += w * r * r;
                    r /= 1 - a[i * N + i];
                    out += w * r * r;
                }
            }
            OK(s.context, gram_flow_function(s.context, flow, times[t], &f, &residual));
            OK(s.context, gram_function_norm(s.context, f, norms));
            const double wanted[] = {sqrt(train / total), trace, train / total / pow(1 - trace / N, 2),
                                     sqrt(out / total), hypot(norms[0], norms[1])};
            const double got[] = {point.train_rmse, point.effective_dimension, point.gcv, point.approximate_loo_rmse,
                                  point.norm};
            test_near("curve", "of a time", 5, got, wanted, 1e-9);
            assert_true(residual < 1e-12);
            gram_function_release(f);
            free(a);
        }
        gram_flow_destroy(flow);
    }
    clear(&s);
}

/* A flow of the other rows, which have a share of (n - 1)/n of the loss, predicts row i: the shortcut is near it, not equal. */
static void nearly_left_out(void **state)
{
    scene s = set(*state, "rbf(ell=0.7)");
    const double time = 6;
    double truth = 0;
    for (int i = 0; i < N; i++) {
        double x[(N - 1) * D], y[N - 1], f, shorter = time * (N - 1) / N;
        for (int j = 0, k = 0; j < N; j++) {
            if (j == i) continue;
            memcpy(x + k * D, s.x + j * D, D * sizeof *x);
            y[k++] = s.y[j * M];
        }
        gram_points *others = test_points(s.context, N - 1, D, x), *own = test_points(s.context, 1, D, s.x + i * D);
        gram_flow *flow = NULL;
        OK(s.context, gram_flow_create(s.context, s.kernel, others, 1, y, 1, NULL, &flow));
        OK(s.context, gram_flow_predict(s.context, flow, 1, &shorter, own, NULL, &f));
        truth += (s.y[i * M] - f) * (s.y[i * M] - f) / N;
        gram_flow_destroy(flow);
        gram_points_release(others);
        gram_points_release(own);
    }
    gram_flow *flow = NULL;
    gram_flow_point point = {.time = time};
    OK(s.context, gram_flow_create(s.context, s.kernel, s.points, 1, s.y, M, NULL, &flow));
    OK(s.context, gram_flow_curve(s.context, flow, 1, &point));
    const double ratio = point.approximate_loo_rmse / sqrt(truth);
    if (!(ratio > 0.85 && ratio < 1.15)) FAIL_TEST("approximate leave-one-out is %g of the true one", ratio);
    if (!(point.train_rmse < 0.7 * sqrt(truth))) FAIL_TEST("the training error is no worse: nothing was tested");
    gram_flow_destroy(flow);
    clear(&s);
}

/* ---- when to stop ---- */

enum { GRID = 12, FOLDS = 3 };

/* Mean squared error of held rows, by flows of their own; `only`: that fold, or -1. */
static void folds_by_hand(const scene *s, const gram_flow_options *o, const double *grid, const int64_t *fold, int only,
                          double *out)
{
    double total = 0;
    memset(out, 0, GRID * sizeof *out);
    for (int f = 0; f < FOLDS; f++) {
        double w[N], values[GRID * N * M];
        if (only >= 0 && f != only) continue;
        gram_flow_options left = *o;
        for (int i = 0; i < N; i++) w[i] = fold[i] == f ? 0 : o->weights ? o->weights[i] : 1;
        left.weights = w;
        gram_flow *flow = make(s, &left);
        OK(s->context, gram_flow_predict(s->context, flow, GRID, grid, s->points, NULL, values));
        for (int i = 0; i < N; i++) {
            const double weight = o->weights ? o->weights[i] : 1;
            if (fold[i] != f) continue;
            total += weight;
            for (int t = 0; t < GRID; t++)
                for (int c = 0; c < M; c++) {
                    const double miss = s->y[i * M + c] - values[(t * N + i) * M + c];
                    out[t] += weight * miss * miss / M;
                }
        }
        gram_flow_destroy(flow);
    }
    for (int t = 0; t < GRID; t++) out[t] /= total;
}

static void stops_at_the_best(void **state)
{
    static const gram_flow_criterion all[] = {GRAM_FLOW_APPROXIMATE_LOO, GRAM_FLOW_GCV, GRAM_FLOW_CV,
                                              GRAM_FLOW_HOLDOUT};
    scene s = set(*state, "rbf(ell=0.7)");
    double grid[GRID];
    int64_t fold[N];
    gram_folds_options folds;
    gram_folds_options_init(&folds, sizeof folds);
    folds.folds = FOLDS;
    OK(s.context, gram_folds_make(s.context, N, &folds, fold));
    for (int t = 0; t < GRID; t++) grid[t] = 0.1 * pow(3, t);
    for (int weighted = 0; weighted < 2; weighted++)
        for (int c = 0; c < 4; c++) {
            gram_flow_options o = want(GRAM_FLOW_FUNCTION);
            o.intercept = 1;
            o.weights = weighted ? s.w : NULL;
            double by_hand[GRID], time = 0;
            gram_flow *flow = make(&s, &o);
            for (int t = 0; t < GRID; t++) {
                gram_flow_point point = {.time = grid[t]};
                OK(s.context, gram_flow_curve(s.context, flow, 1, &point));
                by_hand[t] = c == 1 ? point.gcv : pow(point.approximate_loo_rmse, 2);
            }
            if (c > 1) folds_by_hand(&s, &o, grid, fold, c == 3 ? FOLDS - 1 : -1, by_hand);
            int best = 0;
            for (int t = 1; t < GRID; t++)
                if (by_hand[t] < by_hand[best]) best = t;
            gram_flow_tune_options tune;
            gram_flow_tune_options_init(&tune, sizeof tune);
            tune.criterion = all[c];
            tune.folds = FOLDS;
            tune.time_count = GRID;
            tune.times = grid;
            gram_kernel *tuned = NULL, *held = test_kernel(s.context, "rbf(ell=0.7!)");
            gram_grid_report report = {.size = sizeof report};
            OK(s.context, gram_flow_tune(s.context, held, s.points, M, s.y, M, &o, &tune, &tuned, &time, &report));
            test_near("criterion", "at the choice", 1, &report.value, &by_hand[best], 1e-9);
            assert_true(time == grid[best]);
            assert_int_equal(report.points, GRID);
            gram_kernel_release(tuned);
            gram_kernel_release(held);
            gram_flow_destroy(flow);
        }
    clear(&s);
}

/* Noise: of the default times one is chosen that is better than both ends on new points, and a width that is good, too. */
static void default_grid(void **state)
{
    enum { ROWS = 200 };
    gram_context *context = *state;
    double *x = test_random(8, ROWS, 0, 6), *y = test_random(9, ROWS, -0.8, 0.8);
    for (int i = 0; i < ROWS; i++) y[i] += sin(2 * x[i]);
    gram_points *points = test_points(context, ROWS, 1, x);
    gram_kernel *kernels[] = {test_kernel(context, "matern(nu=1.5, ell=0.5!)"), test_kernel(context, "rbf")};
    for (int way = 0; way < 4; way++)
        for (int c = 0; c < 4; c++) {
            const int parameters = way / 2, width = way % 2;
            gram_flow_options o = want((gram_flow_parameters)parameters);
            gram_flow_tune_options tune;
            gram_flow_tune_options_init(&tune, sizeof tune);
            tune.criterion = (gram_flow_criterion)c;
            gram_kernel *tuned = NULL;
            double time = 0, late[] = {0, INFINITY}, at[3 * 50], z[50], error[3] = {0};
            gram_flow *flow = NULL;
            OK(context, gram_flow_tune(context, kernels[width], points, 1, y, 1, &o, &tune, &tuned, &time, NULL));
            OK(context, gram_flow_create(context, tuned, points, 1, y, 1, &o, &flow));
            for (int i = 0; i < 50; i++) z[i] = 0.06 + 0.118 * i;
            gram_points *new = test_points(context, 50, 1, z);
            OK(context, gram_flow_predict(context, flow, 1, &time, new, NULL, at));
            OK(context, gram_flow_predict(context, flow, 2, late, new, NULL, at + 50));
            for (int t = 0; t < 3; t++)
                for (int i = 0; i < 50; i++) error[t] += pow(at[t * 50 + i] - sin(2 * z[i]), 2) / 50;
            if (!(error[0] < 0.05 && error[0] < 0.1 * error[1] && (width || error[0] < 0.3 * error[2])))
                FAIL_TEST("criterion %d, way %d: t = %g, errors %g, %g at 0, %g at the end", c, way, time, error[0],
                          error[1], error[2]);
            gram_points_release(new);
            gram_flow_destroy(flow);
            gram_kernel_release(tuned);
        }
    gram_kernel_release(kernels[0]);
    gram_kernel_release(kernels[1]);
    gram_points_release(points);
    free(x), free(y);
}

/* ---- rows, threads, refusals ---- */

static void rows_of_no_weight(void **state)
{
    scene s = set(*state, "rbf(ell=0.5)");
    gram_flow_options o = want(GRAM_FLOW_FUNCTION), none = o;
    double at[N * M], fewer[(N - 1) * M];
    for (int i = 0; i < N; i++) s.w[i] = i != N - 1;
    o.weights = s.w;
    gram_flow *flow = make(&s, &o), *others = NULL;
    gram_points *first = test_points(s.context, N - 1, D, s.x);
    OK(s.context, gram_flow_create(s.context, s.kernel, first, M, s.y, M, &none, &others));
    OK(s.context, gram_flow_values(s.context, flow, 1, times + 2, at));
    OK(s.context, gram_flow_values(s.context, others, 1, times + 2, fewer));
    test_near("weight 0", "as if left out", (N - 1) * M, at, fewer, 1e-14);
    assert_true(isnan(at[(N - 1) * M]) && isnan(at[N * M - 1]));
    gram_points_release(first);
    gram_flow_destroy(flow);
    gram_flow_destroy(others);
    clear(&s);
}

static void fill(gram_context *context, double *out)
{
    enum { ROWS = 300 };
    double *x = test_random(21, ROWS * 2, 0, 1), *y = test_random(22, ROWS, 0, 1), b;
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.2)"), *tuned = NULL;
    gram_points *points = test_points(context, ROWS, 2, x);
    gram_flow *flow = NULL;
    OK(context, gram_flow_create(context, kernel, points, 1, y, 1, NULL, &flow));
    OK(context, gram_flow_predict(context, flow, 2, times, points, NULL, out));
    OK(context, gram_flow_descend(context, kernel, points, 1, y, 1, NULL, 1, times, out + 2 * ROWS, &b, NULL));
    OK(context, gram_flow_tune(context, kernel, points, 1, y, 1, NULL, NULL, &tuned, out + 3 * ROWS, NULL));
    gram_kernel_release(tuned);
    gram_flow_destroy(flow);
    gram_points_release(points);
    gram_kernel_release(kernel);
    free(x), free(y);
}

static void any_threads(void **state)
{
    (void)state;
    test_any_threads(901, fill);
}

static void refusals(void **state)
{
    scene s = set(*state, "rbf(ell=0.5)");
    gram_context *c = s.context;
    gram_flow_options o = want(GRAM_FLOW_FUNCTION);
    gram_flow *flow = make(&s, &o), *none = NULL;
    gram_kernel *indefinite = test_kernel(c, "sigmoid(a=3, c=-2)");
    const double bad[] = {1, -1, NAN};
    double out[3 * N * M], b[M], infinite = INFINITY;
    REFUSED(c, gram_flow_values(c, flow, 2, bad, out), GRAM_ERROR_ARGUMENT, "times[1] = -1");
    REFUSED(c, gram_flow_values(c, flow, 1, bad + 2, out), GRAM_ERROR_ARGUMENT, "times[0]");
    REFUSED(c, gram_flow_values(c, flow, 0, bad, out), GRAM_ERROR_ARGUMENT, "count = 0");
    REFUSED(c, gram_flow_predict(c, flow, 1, bad, s.new, s.fz, out), GRAM_ERROR_ARGUMENT, "no `initial`");
    REFUSED(c, gram_flow_create(c, indefinite, s.points, M, s.y, M, &o, &none), GRAM_ERROR_NUMERICAL,
            "negative eigenvalue");
    REFUSED(c, gram_flow_descend(c, s.kernel, s.points, M, s.y, M, &o, 1, &infinite, out, b, NULL), GRAM_ERROR_ARGUMENT,
            "infinite");
    o.most_steps = 150;
    REFUSED(c, gram_flow_descend(c, s.kernel, s.points, M, s.y, M, &o, 1, times, out, b, NULL), GRAM_ERROR_ARGUMENT,
            "more than 150");
    o = want((gram_flow_parameters)7);
    REFUSED(c, gram_flow_create(c, s.kernel, s.points, M, s.y, M, &o, &none), GRAM_ERROR_ARGUMENT, "parameters = 7");
    o = want(GRAM_FLOW_COEFFICIENTS);
    o.weights = s.w;
    REFUSED(c, gram_flow_create(c, s.kernel, s.points, M, s.y, M, &o, &none), GRAM_ERROR_UNSUPPORTED, "weights");
    o = want(GRAM_FLOW_FUNCTION);
    o.initial = s.f;
    o.ldi = M;
    s.f[5] = INFINITY;
    REFUSED(c, gram_flow_create(c, s.kernel, s.points, M, s.y, M, &o, &none), GRAM_ERROR_DATA, "initial[2][1]");
    o.intercept = 1;
    REFUSED(c, gram_flow_create(c, s.kernel, s.points, M, s.y, M, &o, &none), GRAM_ERROR_ARGUMENT, "either");
    assert_null(none);
    gram_kernel_release(indefinite);
    gram_flow_destroy(flow);
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_equation),
        cmocka_unit_test(ends),
        cmocka_unit_test(low_rank),
        cmocka_unit_test(descent_follows),
        cmocka_unit_test(descent_passes_by),
        cmocka_unit_test(curves),
        cmocka_unit_test(nearly_left_out),
        cmocka_unit_test(stops_at_the_best),
        cmocka_unit_test(default_grid),
        cmocka_unit_test(rows_of_no_weight),
        cmocka_unit_test(any_threads),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
