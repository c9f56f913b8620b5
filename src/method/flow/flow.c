/* Gradient flow from one eigendecomposition (flow.h of include/gram has the formulas).
 *
 * Values at the points need the spectrum alone. Values elsewhere need coefficients, and those of small eigenvalues carry the
 * rounding errors of the decomposition, eps l_1/l_j of themselves. They are refined as solutions of linear systems are: what the
 * function misses of f_t at the points, by a product with K itself, goes through the same gains once more. Each round takes the
 * error down by that factor; a few rounds leave the values right to rounding. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/flow.h>

#include "base/sized_struct.h"
#include "method/flow/flow.h"

enum { MOST_ROUNDS = 4 };

static const double LEAST_LEFT = 1e-12; /* of 1 - A_ii: below it is rounding */
static const double REFINED = 1e-14;    /* of what is to be learnt: then nothing is gained by another round */

struct gram_flow {
    gram_memory *memory;
    gram_function *basis; /* its kernel and centres are those of the flow */
    gram_flow_report report;
    gram_flow_spectrum spectrum;
    double *rates;              /* n */
    double *errors;             /* n x m: v_j'S E_0 */
    double *y, *initial, *root; /* n x m, n x m, n or NULL */
    double *constant;           /* m */
    double size;                /* |S E_0| */
    double total;               /* of the weights */
    int64_t given, *rows;       /* of the caller; rows NULL: all in order */
    int own_initial;            /* f_0 is neither 0 nor the mean */
};

/* ---- making ---- */

static gram_status find_spectrum(gram_context *context, const gram_flow_problem *f, gram_flow *flow)
{
    gram_status status = GRAM_OK;
    const int64_t n = f->p.n;
    double *k = NULL;
    int64_t most = 0;
    FAIL_IF(f->root && f->options.parameters == GRAM_FLOW_COEFFICIENTS, context, GRAM_ERROR_UNSUPPORTED,
            "flow_create: weights are not for the flow of coefficients, but by descent");
    TRY(gram_take(context, "flow: the matrix", n * n, sizeof *k, (void **)&k));
    TRY(gram_matrix(context, f->p.kernel, f->p.x, NULL, k, n));
    TRY(gram_flow_most(context, f->p.kernel, f->p.d, &most));
    TRY(gram_flow_decompose(context, "flow_create", n, k, f->root, most, f->options.parameters, &flow->spectrum));
done:
    gram_give(context, k);
    return status;
}

/* rates and V'S E_0 */
static gram_status find_errors(gram_context *context, const gram_flow_problem *f, gram_flow *flow)
{
    gram_status status = GRAM_OK;
    const int64_t n = f->p.n, m = f->p.m;
    double *error = NULL;
    TRY(gram_take(context, "flow: errors", n * m, sizeof(double), (void **)&flow->errors));
    TRY(gram_take(context, "flow: rates", n, sizeof(double), (void **)&flow->rates));
    TRY(gram_take(context, "flow: errors", n * m, sizeof *error, (void **)&error));
    for (int64_t i = 0; i < n * m; i++) {
        error[i] = gram_flow_root(f->root, i / m) * (f->initial[i] - f->p.y[i]);
        flow->size += error[i] * error[i];
    }
    flow->size = sqrt(flow->size);
    TRY(gram_flow_project(context, &flow->spectrum, m, error, flow->errors));
    for (int64_t j = 0; j < n; j++) flow->rates[j] = gram_flow_rate(&flow->spectrum, j);
done:
    gram_give(context, error);
    return status;
}

/* A function of no coefficients holds kernel and centres, which are copied. */
static gram_status make_basis(gram_context *context, const gram_flow_problem *f, gram_flow *flow)
{
    gram_status status = GRAM_OK;
    double *zero = NULL;
    TRY(gram_take(context, "flow: centres", f->p.n, sizeof *zero, (void **)&zero));
    memset(zero, 0, (size_t)f->p.n * sizeof *zero);
    TRY(gram_function_create(context, f->p.kernel, f->p.x, 1, zero, 1, NULL, &flow->basis));
done:
    gram_give(context, zero);
    return status;
}

static double largest_rate(const gram_flow *flow)
{
    double largest = 0;
    for (int64_t j = 0; j < flow->report.n; j++) largest = fmax(largest, flow->rates[j]);
    return largest;
}

/* Takes the problem's arrays for its own. */
static void take_problem(gram_flow_problem *f, gram_flow *flow)
{
    flow->report = (gram_flow_report){.size = sizeof flow->report,
                                      .n = f->p.n,
                                      .d = f->p.d,
                                      .outputs = f->p.m,
                                      .rank = flow->spectrum.rank,
                                      .largest = 0,
                                      .tolerance = flow->spectrum.tolerance,
                                      .parameters = f->options.parameters,
                                      .intercept = f->options.intercept != 0};
    flow->report.largest = largest_rate(flow);
    flow->total = f->p.total;
    flow->given = f->p.given;
    flow->own_initial = f->options.initial != NULL;
    flow->y = f->p.y;
    flow->rows = f->p.rows;
    flow->initial = f->initial;
    flow->constant = f->constant;
    flow->root = f->root;
    f->p.y = f->initial = f->constant = f->root = NULL;
    f->p.rows = NULL;
}

gram_status gram_flow_create(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t outputs,
                             const double *y, int64_t ldy, const gram_flow_options *options, gram_flow **flow)
{
    gram_status status = GRAM_OK;
    gram_flow_problem f = {.root = NULL};
    gram_flow *made = NULL;
    if (!context || !flow) return GRAM_ERROR_ARGUMENT;
    *flow = NULL;
    TRY(gram_flow_problem_make(context, "flow_create", kernel, x, outputs, y, ldy, options, &f));
    TRY(gram_take(context, "flow_create", 1, sizeof *made, (void **)&made));
    *made = (gram_flow){.memory = gram_memory_retain(context->memory)};
    TRY(make_basis(context, &f, made));
    TRY(find_spectrum(context, &f, made));
    TRY(find_errors(context, &f, made));
    take_problem(&f, made);
    *flow = made;
    made = NULL;
done:
    gram_flow_destroy(made);
    gram_flow_problem_free(context, &f);
    return status;
}

void gram_flow_destroy(gram_flow *flow)
{
    if (!flow) return;
    gram_memory *memory = flow->memory;
    void *const blocks[] = {flow->rates, flow->errors, flow->y, flow->initial, flow->root, flow->constant, flow->rows};
    gram_function_release(flow->basis);
    gram_flow_spectrum_free(memory, &flow->spectrum);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gram_memory_give(memory, blocks[i]);
    gram_memory_give(memory, flow);
    gram_memory_release(memory);
}

const gram_flow_report *gram_flow_get_report(const gram_flow *flow)
{
    return &flow->report;
}

const double *gram_flow_eigenvalues(const gram_flow *flow)
{
    return flow->rates;
}

const double *gram_flow_errors(const gram_flow *flow)
{
    return flow->errors;
}

/* ---- values at the points ---- */

/* What has been learnt, f_t - f_0 at the points, n x (count m): column t m + c is of time t and output c. */
static gram_status find_learnt(gram_context *context, const gram_flow *flow, int64_t count, const double *times,
                               double *out)
{
    gram_status status = GRAM_OK;
    const int64_t n = flow->report.n, m = flow->report.outputs, columns = count * m;
    double *b = NULL;
    TRY(gram_take(context, "flow: directions", n * columns, sizeof *b, (void **)&b));
    for (int64_t j = 0; j < n; j++)
        for (int64_t t = 0; t < count; t++) {
            const double learnt = gram_flow_learnt(&flow->spectrum, times[t], j);
            for (int64_t c = 0; c < m; c++) b[j * columns + t * m + c] = -learnt * flow->errors[j * m + c];
        }
    TRY(gram_flow_combine(context, &flow->spectrum, columns, b, out));
    for (int64_t i = 0; i < n * columns && flow->root; i++) out[i] /= flow->root[i / columns];
done:
    gram_give(context, b);
    return status;
}

gram_status gram_flow_values(gram_context *context, const gram_flow *flow, int64_t count, const double *times,
                             double *out)
{
    gram_status status = GRAM_OK;
    double *learnt = NULL;
    FAIL_IF(!flow || !out, context, GRAM_ERROR_ARGUMENT, "flow_values: %s is NULL", flow ? "out" : "flow");
    TRY(gram_flow_check_times(context, "flow_values", count, times, 0));
    const int64_t n = flow->report.n, m = flow->report.outputs;
    TRY(gram_take(context, "flow_values", n * count * m, sizeof *learnt, (void **)&learnt));
    TRY(find_learnt(context, flow, count, times, learnt));
    for (int64_t i = 0; i < count * flow->given * m && flow->rows; i++) out[i] = NAN;
    for (int64_t t = 0; t < count; t++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t c = 0; c < m; c++)
                out[(t * flow->given + (flow->rows ? flow->rows[i] : i)) * m + c] =
                    flow->initial[i * m + c] + learnt[(i * count + t) * m + c];
done:
    gram_give(context, learnt);
    return status;
}

/* ---- coefficients ---- */

/* out = S V gain V'S r, for each time; r is in the coordinates of the points. */
static gram_status apply_gains(gram_context *context, const gram_flow *flow, int64_t count, const double *times,
                               double *r, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t n = flow->report.n, m = flow->report.outputs, columns = count * m;
    double *b = NULL;
    TRY(gram_take(context, "flow: directions", n * columns, sizeof *b, (void **)&b));
    for (int64_t i = 0; i < n * columns && flow->root; i++) r[i] *= flow->root[i / columns];
    TRY(gram_flow_project(context, &flow->spectrum, columns, r, b));
    for (int64_t j = 0; j < n; j++)
        for (int64_t t = 0; t < count; t++) {
            const double gain = gram_flow_gain(&flow->spectrum, times[t], j);
            for (int64_t c = 0; c < m; c++) b[j * columns + t * m + c] *= gain;
        }
    TRY(gram_flow_combine(context, &flow->spectrum, columns, b, out));
    for (int64_t i = 0; i < n * columns && flow->root; i++) out[i] *= flow->root[i / columns];
done:
    gram_give(context, b);
    return status;
}

/* missed = learnt - K a; returns the size of its worst column. */
static gram_status find_missed(gram_context *context, const gram_flow *flow, int64_t columns, const double *a,
                               const double *learnt, double *missed, double *worst)
{
    gram_status status = GRAM_OK;
    const int64_t n = flow->report.n;
    TRY(gram_matrix_product(context, gram_function_kernel(flow->basis), gram_function_centres(flow->basis), NULL,
                            columns, a, columns, missed, columns));
    *worst = 0;
    for (int64_t c = 0; c < columns; c++) {
        double sum = 0;
        for (int64_t i = c; i < n * columns; i += columns) {
            const double root = gram_flow_root(flow->root, i / columns);
            missed[i] = learnt[i] - missed[i];
            sum += root * missed[i] * root * missed[i];
        }
        *worst = fmax(*worst, sqrt(sum));
    }
done:
    return status;
}

/* a (n x count m) of f_t - f_0, refined; *residual is what they miss over |S E_0|. */
static gram_status find_coefficients(gram_context *context, const gram_flow *flow, int64_t count, const double *times,
                                     double *a, double *residual)
{
    gram_status status = GRAM_OK;
    const int64_t n = flow->report.n, columns = count * flow->report.outputs;
    double *learnt = NULL, *missed = NULL, *more = NULL, before = INFINITY, worst = 0;
    TRY(gram_take(context, "flow: values", n * columns, sizeof *learnt, (void **)&learnt));
    TRY(gram_take(context, "flow: residuals", n * columns, sizeof *missed, (void **)&missed));
    TRY(gram_take(context, "flow: coefficients", n * columns, sizeof *more, (void **)&more));
    TRY(find_learnt(context, flow, count, times, learnt));
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < columns; c++)
            missed[i * columns + c] = flow->y[i * flow->report.outputs + c % flow->report.outputs] -
                                      flow->initial[i * flow->report.outputs + c % flow->report.outputs];
    TRY(apply_gains(context, flow, count, times, missed, a));
    for (int round = 0;; round++) {
        TRY(find_missed(context, flow, columns, a, learnt, missed, &worst));
        if (worst <= REFINED * flow->size || !(worst < 0.5 * before) || round == MOST_ROUNDS) break;
        before = worst;
        TRY(apply_gains(context, flow, count, times, missed, more));
        for (int64_t i = 0; i < n * columns; i++) a[i] += more[i];
    }
    *residual = flow->size > 0 ? worst / flow->size : 0;
done:
    gram_give(context, learnt);
    gram_give(context, missed);
    gram_give(context, more);
    return status;
}

gram_status gram_flow_function(gram_context *context, const gram_flow *flow, double time, gram_function **function,
                               double *residual)
{
    gram_status status = GRAM_OK;
    double *a = NULL, missed = 0;
    if (!context || !function) return GRAM_ERROR_ARGUMENT;
    *function = NULL;
    FAIL_IF(!flow, context, GRAM_ERROR_ARGUMENT, "flow_function: flow is NULL");
    TRY(gram_flow_check_times(context, "flow_function", 1, &time, 0));
    const int64_t m = flow->report.outputs;
    TRY(gram_take(context, "flow: coefficients", flow->report.n * m, sizeof *a, (void **)&a));
    TRY(find_coefficients(context, flow, 1, &time, a, &missed));
    TRY(gram_function_create(context, gram_function_kernel(flow->basis), gram_function_centres(flow->basis), m, a, m,
                             flow->report.intercept ? flow->constant : NULL, function));
    if (residual) *residual = missed;
done:
    gram_give(context, a);
    return status;
}

/* All times as the outputs of one function. */
static gram_status predict(gram_context *context, const gram_flow *flow, int64_t count, const double *times,
                           const gram_points *z, double *values)
{
    gram_status status = GRAM_OK;
    const int64_t columns = count * flow->report.outputs;
    gram_function *all = NULL;
    double *a = NULL, residual;
    TRY(gram_take(context, "flow: coefficients", flow->report.n * columns, sizeof *a, (void **)&a));
    TRY(find_coefficients(context, flow, count, times, a, &residual));
    TRY(gram_function_create(context, gram_function_kernel(flow->basis), gram_function_centres(flow->basis), columns, a,
                             columns, NULL, &all));
    TRY(gram_function_evaluate(context, all, z, values, columns));
done:
    gram_function_release(all);
    gram_give(context, a);
    return status;
}

gram_status gram_flow_predict(gram_context *context, const gram_flow *flow, int64_t count, const double *times,
                              const gram_points *z, const double *initial, double *out)
{
    gram_status status = GRAM_OK;
    double *values = NULL;
    FAIL_IF(!flow || !z || !out, context, GRAM_ERROR_ARGUMENT, "flow_predict: %s is NULL",
            !flow ? "flow"
            : !z  ? "z"
                  : "out");
    FAIL_IF(flow->own_initial != (initial != NULL), context, GRAM_ERROR_ARGUMENT,
            initial ? "flow_predict: the flow has no `initial` of the caller's"
                    : "flow_predict: the flow has an `initial` of the caller's: give its values at z");
    TRY(gram_flow_check_times(context, "flow_predict", count, times, 0));
    const int64_t n = gram_points_count(z), m = flow->report.outputs;
    TRY(gram_take(context, "flow_predict", n * count * m, sizeof *values, (void **)&values));
    TRY(predict(context, flow, count, times, z, values));
    for (int64_t t = 0; t < count; t++)
        for (int64_t i = 0; i < n * m; i++)
            out[t * n * m + i] =
                (initial ? initial[i] : flow->constant[i % m]) + values[(i / m * count + t) * m + i % m];
done:
    gram_give(context, values);
    return status;
}

/* ---- what is known without new data ---- */

/* With the mean as f_0 the smoother is A + (I - A) P, P = 1 w'/W: its diagonal has (1 - (A 1)_i) w_i/W more. */
static gram_status add_mean(gram_context *context, const gram_flow *flow, const double *learnt, double *diagonal)
{
    gram_status status = GRAM_OK;
    const int64_t n = flow->report.n;
    double *one = NULL, *b = NULL;
    TRY(gram_take(context, "flow: mean", n, sizeof *one, (void **)&one));
    TRY(gram_take(context, "flow: mean", n, sizeof *b, (void **)&b));
    for (int64_t i = 0; i < n; i++) one[i] = gram_flow_root(flow->root, i);
    TRY(gram_flow_project(context, &flow->spectrum, 1, one, b));
    for (int64_t j = 0; j < n; j++) b[j] *= 1 - learnt[j];
    TRY(gram_flow_combine(context, &flow->spectrum, 1, b, one)); /* S (1 - A 1) */
    for (int64_t i = 0; i < n; i++) diagonal[i] += one[i] * gram_flow_root(flow->root, i) / flow->total;
done:
    gram_give(context, one);
    gram_give(context, b);
    return status;
}

/* What is learnt of each direction, and the diagonal of the smoother A. */
static gram_status find_smoother(gram_context *context, const gram_flow *flow, double time, double *learnt,
                                 double *diagonal)
{
    gram_status status = GRAM_OK;
    for (int64_t j = 0; j < flow->report.n; j++) learnt[j] = gram_flow_learnt(&flow->spectrum, time, j);
    gram_flow_smoother(&flow->spectrum, learnt, diagonal);
    if (flow->report.intercept) TRY(add_mean(context, flow, learnt, diagonal));
done:
    return status;
}

/* When fewer directions than this share of n are left to learn, GCV is the square of a few coefficients over their number: chance. */
static const double LEAST_FREE = 0.1;

gram_status gram_flow_correct(gram_context *context, const gram_flow *flow, double time, int even, double *values)
{
    gram_status status = GRAM_OK;
    const int64_t n = flow->report.n, m = flow->report.outputs;
    double *learnt = NULL, *diagonal = NULL, mean = 0;
    TRY(gram_take(context, "flow: smoother", n, sizeof *learnt, (void **)&learnt));
    TRY(gram_take(context, "flow: smoother", n, sizeof *diagonal, (void **)&diagonal));
    TRY(find_smoother(context, flow, time, learnt, diagonal));
    for (int64_t i = 0; i < n; i++) mean += diagonal[i] / (double)n;
    for (int64_t i = 0; i < n * m; i++) {
        const double left = 1 - (even ? mean : diagonal[i / m]);
        values[i] = left > (even ? LEAST_FREE : LEAST_LEFT) ? flow->y[i] - (flow->y[i] - values[i]) / left : NAN;
    }
done:
    gram_give(context, learnt);
    gram_give(context, diagonal);
    return status;
}

static void find_point(const gram_flow *flow, const double *learnt, const double *left, const double *diagonal,
                       gram_flow_point *point)
{
    const int64_t n = flow->report.n, m = flow->report.outputs;
    const double numbers = flow->total * (double)m;
    double sum = 0, out = 0, norm = 0;
    point->effective_dimension = 0;
    for (int64_t i = 0; i < n; i++) point->effective_dimension += diagonal[i];
    for (int64_t i = 0; i < n * m; i++) { /* left is S (y - f_t) */
        const double one = 1 - diagonal[i / m];
        sum += left[i] * left[i];
        out += one > LEAST_LEFT ? left[i] / one * (left[i] / one) : NAN;
    }
    for (int64_t j = 0; j < n; j++) {
        const double gain = gram_flow_gain(&flow->spectrum, point->time, j);
        for (int64_t c = 0; c < m; c++) norm += learnt[j] * gain * flow->errors[j * m + c] * flow->errors[j * m + c];
    }
    const double free = 1 - point->effective_dimension / (double)n;
    point->train_rmse = sqrt(sum / numbers);
    point->gcv = free > LEAST_LEFT ? sum / numbers / (free * free) : NAN;
    point->approximate_loo_rmse = sqrt(out / numbers);
    point->norm = norm > 0 ? sqrt(norm) : 0;
}

gram_status gram_flow_curve(gram_context *context, const gram_flow *flow, int64_t count, gram_flow_point *points)
{
    gram_status status = GRAM_OK;
    double *learnt = NULL, *diagonal = NULL, *left = NULL, *b = NULL;
    FAIL_IF(!flow || !points, context, GRAM_ERROR_ARGUMENT, "flow_curve: %s is NULL", flow ? "points" : "flow");
    const int64_t n = flow->report.n, m = flow->report.outputs;
    TRY(gram_take(context, "flow_curve", n, sizeof *learnt, (void **)&learnt));
    TRY(gram_take(context, "flow_curve", n, sizeof *diagonal, (void **)&diagonal));
    TRY(gram_take(context, "flow_curve", n * m, sizeof *left, (void **)&left));
    TRY(gram_take(context, "flow_curve", n * m, sizeof *b, (void **)&b));
    for (int64_t t = 0; t < count; t++) {
        TRY(gram_flow_check_times(context, "flow_curve", 1, &points[t].time, 0));
        TRY(find_smoother(context, flow, points[t].time, learnt, diagonal));
        for (int64_t j = 0; j < n * m; j++) b[j] = (learnt[j / m] - 1) * flow->errors[j];
        TRY(gram_flow_combine(context, &flow->spectrum, m, b, left));
        find_point(flow, learnt, left, diagonal, &points[t]);
    }
done:
    gram_give(context, learnt);
    gram_give(context, diagonal);
    gram_give(context, left);
    gram_give(context, b);
    return status;
}
