/* What a flow starts from: the rows that count, and f_0 at them. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sized_struct.h"
#include "method/flow/flow.h"
#include "points/functionals.h"

enum { MOST_STEPS = 100000 };

void gram_flow_options_init(gram_flow_options *options, size_t size)
{
    const gram_flow_options defaults = {.size = sizeof defaults, .most_steps = MOST_STEPS};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

const char *gram_flow_parameters_name(gram_flow_parameters parameters)
{
    return parameters == GRAM_FLOW_FUNCTION       ? "function"
           : parameters == GRAM_FLOW_COEFFICIENTS ? "coefficients"
                                                  : "unknown";
}

static gram_status check_options(gram_context *context, const char *name, int64_t outputs, const gram_flow_options *o)
{
    gram_status status = GRAM_OK;
    char text[GRAM_NUMBER_SIZE];
    FAIL_IF((int)o->parameters < 0 || o->parameters > GRAM_FLOW_COEFFICIENTS, context, GRAM_ERROR_ARGUMENT,
            "%s: parameters = %d is not known", name, (int)o->parameters);
    FAIL_IF(o->initial && o->intercept, context, GRAM_ERROR_ARGUMENT,
            "%s: f_0 is either the mean (intercept) or `initial`", name);
    FAIL_IF(o->initial && o->ldi < outputs, context, GRAM_ERROR_ARGUMENT,
            "%s: ldi = %" PRId64 " is less than the %" PRId64 " outputs", name, o->ldi, outputs);
    FAIL_IF(!(o->step >= 0 && isfinite(o->step)), context, GRAM_ERROR_ARGUMENT,
            "%s: step = %s, need a finite number, 0 or more", name, gram_number_format(o->step, text));
    FAIL_IF(o->most_steps < 1, context, GRAM_ERROR_ARGUMENT, "%s: most_steps = %" PRId64 " is less than 1", name,
            o->most_steps);
done:
    return status;
}

/* f_0 at the rows that count. */
static gram_status fill_initial(gram_context *context, const char *name, gram_flow_problem *f)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = &f->p;
    const gram_flow_options *o = &f->options;
    for (int64_t c = 0; c < p->m; c++) {
        f->constant[c] = 0;
        for (int64_t i = 0; i < p->n && o->intercept; i++)
            f->constant[c] += gram_problem_weight(p, i) * p->y[i * p->m + c] / p->total;
    }
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t c = 0; c < p->m; c++) {
            const int64_t row = p->rows ? p->rows[i] : i;
            const double value = o->initial ? o->initial[row * o->ldi + c] : f->constant[c];
            FAIL_IF(!isfinite(value), context, GRAM_ERROR_DATA, "%s: initial[%" PRId64 "][%" PRId64 "] is not finite",
                    name, row, c);
            f->initial[i * p->m + c] = value;
        }
done:
    return status;
}

gram_status gram_flow_problem_make(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                                   int64_t outputs, const double *y, int64_t ldy, const gram_flow_options *options,
                                   gram_flow_problem *problem)
{
    gram_status status = GRAM_OK;
    gram_flow_problem *f = problem;
    *f = (gram_flow_problem){.root = NULL};
    gram_flow_options_init(&f->options, sizeof f->options);
    TRY(gram_sized_read(context, name, "options", "gram_flow_options", options, &f->options, sizeof f->options));
    TRY(check_options(context, name, outputs, &f->options));
    TRY(gram_points_must_be_plain(context, name, x));
    TRY(gram_problem_make(context, name, kernel, x, outputs, y, ldy, f->options.weights, &f->p));
    TRY(gram_take(context, "flow: initial function", f->p.n * f->p.m, sizeof(double), (void **)&f->initial));
    TRY(gram_take(context, "flow: constant", f->p.m, sizeof(double), (void **)&f->constant));
    TRY(fill_initial(context, name, f));
    if (f->p.weights) TRY(gram_take(context, "flow: weights", f->p.n, sizeof(double), (void **)&f->root));
    for (int64_t i = 0; i < f->p.n && f->root; i++) f->root[i] = sqrt(f->p.weights[i]);
done:
    return status;
}

void gram_flow_problem_free(gram_context *context, gram_flow_problem *problem)
{
    gram_problem_free(context, &problem->p);
    gram_give(context, problem->initial);
    gram_give(context, problem->constant);
    gram_give(context, problem->root);
    *problem = (gram_flow_problem){.root = NULL};
}

gram_status gram_flow_check_times(gram_context *context, const char *name, int64_t count, const double *times,
                                  int finite)
{
    gram_status status = GRAM_OK;
    char text[GRAM_NUMBER_SIZE];
    FAIL_IF(count < 1 || !times, context, GRAM_ERROR_ARGUMENT, "%s: count = %" PRId64 " times%s", name, count,
            times ? "" : ", which are NULL");
    for (int64_t i = 0; i < count; i++) {
        FAIL_IF(!(times[i] >= 0), context, GRAM_ERROR_ARGUMENT, "%s: times[%" PRId64 "] = %s, need a number >= 0", name,
                i, gram_number_format(times[i], text));
        FAIL_IF(finite && isinf(times[i]), context, GRAM_ERROR_ARGUMENT,
                "%s: times[%" PRId64 "] is infinite, which gradient descent never reaches", name, i);
        FAIL_IF(finite && i > 0 && times[i] < times[i - 1], context, GRAM_ERROR_ARGUMENT,
                "%s: times[%" PRId64 "] = %s is before the one before it", name, i, gram_number_format(times[i], text));
    }
done:
    return status;
}
