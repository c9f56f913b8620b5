/* The derivative of sum_ij W_ij u_i u_j k by the kernel's parameters, for functionals and for bags: by differences.
 *
 * In closed form it would take the derivative by each parameter of each derivative of each profile. Instead whole sums are
 * made for five settings of a parameter, steps h = 1e-3 of itself apart:
 *
 *     s' = (8 (s(t + h) - s(t - h)) - (s(t + 2h) - s(t - 2h)))/(12 h) + O(h^4),
 *
 * which leaves some 1e-11 of a sum of the size of its terms, far below what a search between bounds needs. O(4 p) matrices. */
#include <math.h>
#include <string.h>

#include "tile/gradient/gradient.h"

static const double STEP = 1e-3;

typedef struct summing {
    gram_gradient g;
    double *sums; /* one for each panel of rows */
} summing;

/* A task is a panel of rows. The weights lie after the engine's scratch. */
static gram_status sum_panel(void *argument, const gram_worker *worker)
{
    const summing *job = argument;
    const gram_engine *engine = job->g.engine;
    double *weights = (double *)(void *)((char *)worker->scratch + job->g.engine_scratch), sum = 0;
    gram_engine_begin(engine, worker->scratch, worker);
    const int64_t last = engine->symmetric ? worker->task + 1 : gram_engine_column_panels(engine);
    for (int64_t c = 0; c < last; c++)
        for (int row = 0; row < GRAM_PANEL; row += GRAM_STRIP) {
            if (worker->task * GRAM_PANEL + row >= engine->n) break;
            const double *k = gram_engine_strip_f64(engine, worker->scratch, worker->task, row, c);
            gram_gradient_weights(&job->g, worker->scratch, engine->symmetric && c < worker->task, weights);
            for (int e = 0; e < GRAM_STRIP_SIZE; e++) sum += weights[e] * k[e];
        }
    job->sums[worker->task] = sum;
    return GRAM_OK;
}

/* sum_ij W_ij u_i u_j k for the kernel with these values */
static gram_status weighted_sum(gram_context *context, const gram_engine_request *request, const gram_weights *weights,
                                const double *values, double *out)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    gram_engine *engine = NULL;
    summing job = {.g = {.weights = weights}};
    gram_engine_request moved = *request;
    TRY(gram_kernel_with_values(context, request->kernel, values, &kernel));
    moved.kernel = kernel;
    TRY(gram_engine_create(context, &moved, &engine));
    job.g.engine = engine;
    job.g.engine_scratch = gram_engine_scratch(engine);
    const int64_t tasks = gram_engine_row_panels(engine);
    TRY(gram_take(context, "matrix_parameter_gradient", tasks, sizeof(double), (void **)&job.sums));
    const gram_sweep sweep = {.what = "kernel gradient",
                              .tasks = tasks,
                              .scratch_bytes = job.g.engine_scratch + GRAM_STRIP_SIZE * sizeof(double),
                              .run = sum_panel,
                              .argument = &job};
    TRY(gram_sweep_run(context, &sweep));
    *out = 0;
    for (int64_t task = 0; task < tasks; task++) *out += job.sums[task];
done:
    gram_give(context, job.sums);
    gram_engine_destroy(engine);
    gram_kernel_release(kernel);
    return status;
}

/* With one sum at 0 and two beyond: where there are no values below. */
static gram_status one_sided(gram_context *context, const gram_engine_request *request, const gram_weights *weights,
                             double *values, int64_t p, double *out)
{
    gram_status status = GRAM_OK;
    double s[3];
    for (int i = 0; i < 3; i++) {
        values[p] = i * STEP;
        TRY(weighted_sum(context, request, weights, values, &s[i]));
    }
    *out = (4 * s[1] - 3 * s[0] - s[2]) / (2 * STEP);
done:
    return status;
}

static gram_status central(gram_context *context, const gram_engine_request *request, const gram_weights *weights,
                           double *values, int64_t p, double *out)
{
    static const double MOVES[4] = {1, -1, 2, -2}, COUNTS[4] = {8, -8, -1, 1};
    gram_status status = GRAM_OK;
    const double value = values[p], h = STEP * fabs(value);
    double sum;
    *out = 0;
    for (int i = 0; i < 4; i++) {
        values[p] = value + MOVES[i] * h;
        TRY(weighted_sum(context, request, weights, values, &sum));
        *out += COUNTS[i] * sum / (12 * h);
    }
done:
    return status;
}

int gram_gradient_by_differences(const gram_kernel *kernel)
{
    return gram_kernel_has_node(kernel, GRAM_NODE_MEAN) || gram_kernel_has_node(kernel, GRAM_NODE_AFTER);
}

/* Of bags, whose sums take long: s' = (s(t + h) - s(t - h))/(2 h) + O(h^2), h = 1e-4 of t, right to some 1e-8. */
static gram_status two_sided(gram_context *context, const gram_engine_request *request, const gram_weights *weights,
                             double *values, int64_t p, double *out)
{
    gram_status status = GRAM_OK;
    const double value = values[p], h = 0.1 * STEP * fabs(value);
    double above, below;
    values[p] = value + h;
    TRY(weighted_sum(context, request, weights, values, &above));
    values[p] = value - h;
    TRY(weighted_sum(context, request, weights, values, &below));
    *out = (above - below) / (2 * h);
done:
    return status;
}

gram_status gram_gradient_functionals(gram_context *context, const gram_engine_request *request,
                                      const gram_weights *weights, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t count = gram_kernel_parameter_count(request->kernel);
    double *values = NULL;
    gram_parameter parameter;
    TRY(gram_take(context, "matrix_parameter_gradient", count, sizeof(double), (void **)&values));
    for (int64_t p = 0; p < count; p++) {
        TRY(gram_kernel_parameter_get(context, request->kernel, p, &parameter));
        values[p] = parameter.value;
    }
    for (int64_t p = 0; p < count; p++) {
        const double value = values[p];
        const int bags = gram_kernel_has_node(request->kernel, GRAM_NODE_MEAN);
        TRY((value == 0 ? one_sided : bags ? two_sided : central)(context, request, weights, values, p, &out[p]));
        values[p] = value;
    }
done:
    gram_give(context, values);
    return status;
}
