/* Any function of parameters that the caller computes with its gradient: values and gradient descent; tangent_kernel.c has its kernel. Rows are
 * parted in at most PARTS tasks, each of which sums the gradient over its own; the sums are added in order. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "points/functionals.h"
#include "solve/network/network.h"
#include <gram/text.h>

enum { PARTS = 16 };

gram_status gram_parametric_check(gram_context *context, const char *name, const gram_parametric *f,
                                  const double *theta)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!f, context, GRAM_ERROR_ARGUMENT, "%s: f is NULL", name);
    FAIL_IF(!f->function, context, GRAM_ERROR_ARGUMENT, "%s: f.function is NULL", name);
    FAIL_IF(f->inputs < 1 || f->parameters < 1, context, GRAM_ERROR_ARGUMENT,
            "%s: f.%s = %" PRId64 " is not at least 1", name, f->inputs < 1 ? "inputs" : "parameters",
            f->inputs < 1 ? f->inputs : f->parameters);
    FAIL_IF(!theta, context, GRAM_ERROR_ARGUMENT, "%s: theta is NULL", name);
    for (int64_t p = 0; p < f->parameters; p++)
        FAIL_IF(!isfinite(theta[p]), context, GRAM_ERROR_DATA, "%s: theta[%" PRId64 "] is not finite", name, p);
done:
    return status;
}

typedef struct parametric_job {
    const gram_parametric *f;
    const gram_points *x;
    const double *y, *theta;
    double *values;   /* or NULL: then */
    double *gradient; /* PARTS x P: sums over rows of 2 (f - y) grad f, */
    double *losses;   /* and PARTS sums of (f - y)^2 */
    int64_t parts;
} parametric_job;

/* Scratch: a point, and a gradient. */
static gram_status rows_task(void *argument, const gram_worker *worker)
{
    const parametric_job *job = argument;
    const gram_parametric *f = job->f;
    const int64_t n = job->x->n, from = worker->task * n / job->parts, to = (worker->task + 1) * n / job->parts;
    double *point = worker->scratch, *one = job->values ? NULL : point + f->inputs;
    double *sum = job->values ? NULL : job->gradient + worker->task * f->parameters, loss = 0;
    if (sum) memset(sum, 0, (size_t)f->parameters * sizeof *sum);
    for (int64_t i = from; i < to && !gram_worker_stopped(worker); i++) {
        for (int64_t l = 0; l < f->inputs; l++) point[l] = gram_points_at(job->x, i, l);
        const double value = f->function(f->user, f->inputs, point, job->theta, one);
        if (job->values) job->values[i] = value;
        const double error = job->values ? 0 : value - job->y[i];
        for (int64_t p = 0; sum && p < f->parameters; p++) sum[p] += 2 * error * one[p];
        loss += error * error;
    }
    if (sum) job->losses[worker->task] = loss;
    return GRAM_OK;
}

static gram_status run_rows(gram_context *context, parametric_job *job)
{
    job->parts = job->x->n < PARTS ? job->x->n : PARTS;
    return gram_sweep_run(context,
                          &(gram_sweep){.what = "a function of parameters",
                                        .tasks = job->parts,
                                        .scratch_bytes = (size_t)(job->f->inputs + job->f->parameters) * sizeof(double),
                                        .run = rows_task,
                                        .argument = job});
}

static gram_status check_columns(gram_context *context, const char *name, const gram_parametric *f,
                                 const gram_points *x)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!x, context, GRAM_ERROR_ARGUMENT, "%s: x is NULL", name);
    TRY(gram_points_must_be_plain(context, name, x));
    FAIL_IF(x->d != f->inputs, context, GRAM_ERROR_DIMENSION, "%s: x has %" PRId64 " columns, f has %" PRId64 " inputs",
            name, x->d, f->inputs);
done:
    return status;
}

gram_status gram_parametric_evaluate(gram_context *context, const gram_parametric *f, const double *theta,
                                     const gram_points *x, double *values)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(gram_parametric_check(context, "parametric_evaluate", f, theta));
    TRY(check_columns(context, "parametric_evaluate", f, x));
    FAIL_IF(!values, context, GRAM_ERROR_ARGUMENT, "parametric_evaluate: values is NULL");
    TRY(run_rows(context, &(parametric_job){.f = f, .x = x, .theta = theta, .values = values}));
    for (int64_t i = 0; i < x->n; i++)
        FAIL_IF(!isfinite(values[i]), context, GRAM_ERROR_DATA, "parametric_evaluate: f(x[%" PRId64 "]) is not finite",
                i);
done:
    return status;
}

/* ---- descent ---- */

/* theta <- theta - (rate/n) (the sum over the parts); returns the loss. */
static double step(const parametric_job *job, double rate, double *theta)
{
    const int64_t count = job->f->parameters;
    const double share = rate / (double)job->x->n;
    double loss = 0;
    for (int64_t k = 0; k < job->parts; k++) {
        loss += job->losses[k] / (double)job->x->n;
        for (int64_t p = 0; p < count; p++) theta[p] -= share * job->gradient[k * count + p];
    }
    return loss;
}

static gram_status check_descend(gram_context *context, const gram_parametric *f, const gram_points *x, const double *y,
                                 double rate, int64_t steps, const double *theta)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    TRY(gram_parametric_check(context, "parametric_descend", f, theta));
    TRY(check_columns(context, "parametric_descend", f, x));
    FAIL_IF(!y, context, GRAM_ERROR_ARGUMENT, "parametric_descend: y is NULL");
    for (int64_t i = 0; i < x->n; i++)
        FAIL_IF(!isfinite(y[i]), context, GRAM_ERROR_DATA, "parametric_descend: y[%" PRId64 "] is not finite", i);
    FAIL_IF(!(rate > 0 && isfinite(rate)), context, GRAM_ERROR_ARGUMENT,
            "parametric_descend: rate = %s is not the length of a step", gram_number_format(rate, shown));
    FAIL_IF(steps < 0, context, GRAM_ERROR_ARGUMENT, "parametric_descend: steps = %" PRId64, steps);
done:
    return status;
}

static int all_finite(int64_t count, const double *numbers)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(numbers[i])) return 0;
    return 1;
}

/* On a copy, so that theta stays what it was if anything fails. */
static gram_status descend(gram_context *context, parametric_job *job, double rate, int64_t steps, double *theta,
                           double *losses)
{
    gram_status status = GRAM_OK;
    double limit = INFINITY, nothing = 0;
    char shown[2][GRAM_NUMBER_SIZE];
    for (int64_t i = 0; i < job->x->n; i++) nothing += job->y[i] * job->y[i] / (double)job->x->n;
    for (int64_t s = 0; s < steps; s++) {
        TRY(run_rows(context, job));
        const double loss = step(job, rate, theta);
        if (losses) losses[s] = loss;
        if (s == 0) limit = fmax(GRAM_DIVERGED * fmax(loss, nothing), DBL_MIN);
        if (loss <= limit && all_finite(job->f->parameters, theta)) continue;
        (void)gram_fail(context, GRAM_ERROR_NUMERICAL,
                        "parametric_descend: descent diverges: at step %" PRId64 " of length %s the loss is %s", s + 1,
                        gram_number_format(rate, shown[0]), gram_number_format(loss, shown[1]));
        return gram_advise(context, GRAM_ERROR_NUMERICAL, "Take shorter steps.");
    }
done:
    return status;
}

gram_status gram_parametric_descend(gram_context *context, const gram_parametric *f, const gram_points *x,
                                    const double *y, double rate, int64_t steps, double *theta, double *losses)
{
    gram_status status = GRAM_OK;
    double *numbers = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(check_descend(context, f, x, y, rate, steps, theta));
    const int64_t count = f->parameters;
    TRY(gram_take(context, "parametric_descend", count, (PARTS + 1) * sizeof *numbers, (void **)&numbers));
    double sums[PARTS], *moved = numbers + PARTS * count;
    memcpy(moved, theta, (size_t)count * sizeof *theta);
    parametric_job job = {.f = f, .x = x, .y = y, .theta = moved, .gradient = numbers, .losses = sums};
    TRY(descend(context, &job, rate, steps, moved, losses));
    memcpy(theta, moved, (size_t)count * sizeof *theta);
done:
    gram_give(context, numbers);
    return status;
}
