/* Gradient descent with products of K alone: a <- a - (2 s/n) W (K a + f_0 - y), for coefficients theta <- theta - (2 s/n) K W (...).
 *
 * k steps of s leave (1 - x)^k of a direction's error where the flow leaves exp(-k x), x = 2 s l/n. For short steps the difference is
 * at most about (k x)^2 exp(-k x)/(2k) <= 0.271/k; the report has the largest over all l <= l_1, by looking.
 * A step of n/l_1 is x = 2, from where on steps grow. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/flow.h>
#include <gram/operator.h>
#include <gram/text.h>

#include "base/sized_struct.h"
#include "base/sweep.h"
#include "method/flow/flow.h"
#include "solve/eigen/leading_eigen.h"

enum { LEAST_STEPS = 200 };

static const double SHARE = 0.25;   /* of the step at which descent diverges, by default */
static const double SAFETY = 1.001; /* on the largest eigenvalue, whose residual is below 1e-4 of it */
static const double PRECISION = 1e-4;

typedef struct descent {
    const gram_flow_problem *f;
    gram_operator *k;
    double *a, *error, *slope; /* n x m: coefficients, K a + f_0 - y, and the gradient's */
    double largest;
    gram_progress_fn progress; /* told by steps, not by products */
    gram_flow_descent report;
} descent;

/* l_1 from above: of S K S, its square for coefficients times the largest weight (|S K K S| <= |S K|^2 <= max w |K|^2). */
static gram_status find_largest(gram_context *context, descent *d)
{
    gram_status status = GRAM_OK;
    const gram_flow_problem *f = d->f;
    const int coefficients = f->options.parameters == GRAM_FLOW_COEFFICIENTS;
    gram_operator *scaled = NULL;
    double value = 0, heaviest = 1, *vector = NULL;
    if (f->root && !coefficients) TRY(gram_operator_create_scaled(context, d->k, f->root, &scaled));
    TRY(gram_take(context, "flow_descend", f->p.n, sizeof *vector, (void **)&vector));
    gram_leading run = {
        .a = scaled ? scaled : d->k, .count = 1, .tolerance = PRECISION, .values = &value, .vectors = vector};
    TRY(gram_leading_run(context, &run));
    value = (value + run.residual * fabs(value)) * SAFETY;
    for (int64_t i = 0; i < f->p.n && f->root; i++)
        heaviest = i == 0 ? f->p.weights[0] : fmax(heaviest, f->p.weights[i]);
    d->largest = coefficients ? heaviest * value * value : fmax(0, value);
    status = GRAM_OK;
done:
    gram_give(context, vector);
    gram_operator_release(scaled);
    return status;
}

/* error = K a + f_0 - y */
static gram_status find_error(gram_context *context, descent *d)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = &d->f->p;
    TRY(gram_operator_apply(context, d->k, p->m, d->a, p->m, d->error, p->m));
    for (int64_t i = 0; i < p->n * p->m; i++) d->error[i] += d->f->initial[i] - p->y[i];
done:
    return status;
}

static gram_status make_step(gram_context *context, descent *d, double step)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = &d->f->p;
    const double factor = 2 * step / (double)p->n, *slope = d->error;
    TRY(find_error(context, d));
    for (int64_t i = 0; i < p->n * p->m && p->weights; i++) d->error[i] *= p->weights[i / p->m];
    if (d->f->options.parameters == GRAM_FLOW_COEFFICIENTS) {
        TRY(gram_operator_apply(context, d->k, p->m, d->error, p->m, d->slope, p->m));
        slope = d->slope;
    }
    for (int64_t i = 0; i < p->n * p->m; i++) d->a[i] -= factor * slope[i];
done:
    return status;
}

/* Steps from one time to the next. */
static gram_status count_steps(gram_context *context, const descent *d, int64_t count, const double *times,
                               int64_t *steps)
{
    gram_status status = GRAM_OK;
    char given[GRAM_NUMBER_SIZE], most[GRAM_NUMBER_SIZE];
    const gram_flow_options *o = &d->f->options;
    const double limit = (double)d->f->p.n / d->largest, step = o->step > 0 ? o->step : SHARE * limit;
    double all = 0;
    FAIL_IF(!(step < limit), context, GRAM_ERROR_ARGUMENT,
            "flow_descend: step = %s is not below n/l_1 = %s: gradient descent would diverge",
            gram_number_format(step, given), gram_number_format(limit, most));
    for (int64_t t = 0; t < count; t++) {
        const double way = t > 0 ? times[t] - times[t - 1] : times[0];
        double needed = way > 0 ? fmax(1, ceil(way / step * (1 - 1e-12))) : 0;
        if (way > 0 && o->step == 0) needed = fmax(needed, LEAST_STEPS);
        all += needed;
        FAIL_IF(all > (double)o->most_steps, context, GRAM_ERROR_ARGUMENT,
                "flow_descend: the time %s takes %.3g steps of at most %s, more than %" PRId64,
                gram_number_format(times[t], given), all, gram_number_format(step, most), o->most_steps);
        steps[t] = (int64_t)needed;
    }
done:
    return status;
}

static gram_status descend(gram_context *context, descent *d, int64_t count, const double *times, const int64_t *steps,
                           double *coefficients)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = &d->f->p;
    int64_t all = 0, done_steps = 0;
    for (int64_t t = 0; t < count; t++) all += steps[t];
    memset(coefficients, 0, (size_t)(count * p->given * p->m) * sizeof *coefficients);
    for (int64_t t = 0; t < count; t++) {
        const double way = t > 0 ? times[t] - times[t - 1] : times[0];
        for (int64_t s = 0; s < steps[t]; s++) {
            TRY(make_step(context, d, way / (double)steps[t]));
            const double share = (double)++done_steps / (double)all;
            if (d->progress) d->progress(context->progress_user, "gradient descent", share);
        }
        if (steps[t] > 0) d->report.step = fmax(d->report.step, way / (double)steps[t]);
        for (int64_t i = 0; i < p->n; i++)
            memcpy(coefficients + (t * p->given + (p->rows ? p->rows[i] : i)) * p->m, d->a + i * p->m,
                   (size_t)p->m * sizeof *d->a);
    }
    d->report.steps = all;
done:
    return status;
}

/* The largest difference between what descent and the flow leave of an error at the last time: a function of l, on a fine grid. */
static double follow_error(const descent *d, int64_t count, const double *times, const int64_t *steps)
{
    enum { RATES = 2000 };
    const double n = (double)d->f->p.n, last = times[count - 1];
    double worst = 0, l = d->largest;
    for (int i = 0; i < RATES; i++, l *= 0.985) {
        double left = 1;
        for (int64_t t = 0; t < count; t++) {
            const double way = t > 0 ? times[t] - times[t - 1] : times[0];
            if (steps[t] > 0) left *= pow(1 - 2 * (way / (double)steps[t]) * l / n, (double)steps[t]);
        }
        worst = fmax(worst, fabs(left - exp(-2 * last * l / n)));
    }
    return worst;
}

/* With a positive semi-definite kernel and steps below the limit no direction's error grows. The errors at the last time, and |f - f_0|^2 = a'K a, K a = error - f_0 + y. */
static gram_status finish(gram_context *context, descent *d)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = &d->f->p;
    double sum = 0, norm = 0, before = 0;
    TRY(find_error(context, d));
    for (int64_t i = 0; i < p->n * p->m; i++) {
        const double start = d->f->initial[i] - p->y[i];
        before += gram_problem_weight(p, i / p->m) * start * start;
        sum += gram_problem_weight(p, i / p->m) * d->error[i] * d->error[i];
        norm += d->a[i] * (d->error[i] - d->f->initial[i] + p->y[i]);
    }
    d->report.train_rmse = sqrt(sum / (p->total * (double)p->m));
    d->report.norm = norm > 0 ? sqrt(norm) : 0;
    d->report.largest = d->largest;
    FAIL_IF(!(sum <= before * (1 + 1e-9)), context, GRAM_ERROR_NUMERICAL,
            "flow_descend: the error has grown from %g to %g: the kernel is not positive semi-definite on these points",
            sqrt(before / (p->total * (double)p->m)), d->report.train_rmse);
done:
    return status;
}

static gram_status run(gram_context *context, descent *d, int64_t count, const double *times, double *coefficients)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = &d->f->p;
    const int64_t numbers = p->n * p->m;
    int64_t *steps = NULL;
    d->progress = context->progress;
    context->progress = NULL;
    TRY(gram_take(context, "flow_descend", count, sizeof *steps, (void **)&steps));
    TRY(gram_take(context, "flow_descend", numbers, sizeof(double), (void **)&d->a));
    TRY(gram_take(context, "flow_descend", numbers, sizeof(double), (void **)&d->error));
    TRY(gram_take(context, "flow_descend", numbers, sizeof(double), (void **)&d->slope));
    memset(d->a, 0, (size_t)numbers * sizeof *d->a);
    TRY(gram_operator_create_free(context, p->kernel, p->x, &d->k));
    TRY(find_largest(context, d));
    TRY(count_steps(context, d, count, times, steps));
    TRY(descend(context, d, count, times, steps, coefficients));
    TRY(finish(context, d));
    d->report.error = follow_error(d, count, times, steps);
done:
    context->progress = d->progress;
    gram_give(context, steps);
    return status;
}

gram_status gram_flow_descend(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t outputs,
                              const double *y, int64_t ldy, const gram_flow_options *options, int64_t count,
                              const double *times, double *coefficients, double *constants, gram_flow_descent *report)
{
    gram_status status = GRAM_OK;
    gram_flow_problem f = {.root = NULL};
    descent d = {.f = &f, .report = {.size = sizeof d.report}};
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(gram_sized_check(context, "flow_descend", "report", "gram_flow_descent", report, sizeof *report));
    FAIL_IF(!coefficients || !constants, context, GRAM_ERROR_ARGUMENT, "flow_descend: %s is NULL",
            coefficients ? "constants" : "coefficients");
    TRY(gram_flow_check_times(context, "flow_descend", count, times, 1));
    TRY(gram_flow_problem_make(context, "flow_descend", kernel, x, outputs, y, ldy, options, &f));
    TRY(run(context, &d, count, times, coefficients));
    memcpy(constants, f.constant, (size_t)f.p.m * sizeof *constants);
    gram_sized_write(report, &d.report, sizeof d.report);
done:
    gram_operator_release(d.k);
    gram_give(context, d.a);
    gram_give(context, d.error);
    gram_give(context, d.slope);
    gram_flow_problem_free(context, &f);
    return status;
}
