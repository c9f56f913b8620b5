/* Regression with any convex loss: the fit and its report. */
#include "method/loss/loss.h"

#include <math.h>
#include <string.h>

#include "function/function.h"

struct gram_loss {
    gram_memory *memory;
    gram_function *function;
    gram_loss_report report;
};

static const double COUNTS = 1e-6; /* of the largest coefficient */

static double crossing_of(const gram_loss_solution *s)
{
    double most = 0;
    for (int64_t i = 0; i < s->k->n; i++)
        for (int64_t o = 0; o + 1 < s->outputs; o++)
            most = fmax(most, s->f[i * s->outputs + o] - s->f[i * s->outputs + o + 1]);
    return most;
}

static int64_t support_of(const gram_loss_solution *s)
{
    const int64_t numbers = s->k->n * s->outputs;
    double most = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < numbers; i++) most = fmax(most, fabs(s->a[i]));
    for (int64_t i = 0; i < s->k->n; i++) {
        int counts = 0;
        for (int64_t o = 0; o < s->outputs; o++) counts |= fabs(s->a[i * s->outputs + o]) > COUNTS * most;
        count += counts;
    }
    return count;
}

static void report(const gram_problem *p, const gram_loss_solution *s, gram_loss_report *r)
{
    const double n = (double)p->n;
    const double loss = gram_loss_sum(s->options, p->n, s->outputs, p->y, p->weights, s->f);
    *r = (gram_loss_report){.size = sizeof *r,
                            .n = p->n,
                            .d = p->d,
                            .outputs = s->outputs,
                            .lambda = s->c / (2 * n),
                            .objective = s->objective / n,
                            .dual = s->dual / n,
                            .gap = s->gap,
                            .loss = loss / p->total,
                            .norm = sqrt(fmax(0, 2 * (s->objective - loss) / s->c)),
                            .n_support = support_of(s),
                            .crossing = crossing_of(s),
                            .iterations = s->iterations,
                            .jitter = s->jitter};
}

static gram_status solve(gram_context *context, const gram_problem *p, const gram_loss_options *o, gram_loss *made,
                         int *converged)
{
    gram_status status = GRAM_OK;
    gram_loss_matrix k = {0};
    gram_loss_solution s = {.options = o,
                            .y = p->y,
                            .weights = p->weights,
                            .outputs = gram_loss_outputs(o),
                            .intercept = p->intercept,
                            .q = p->q,
                            .unpenalised = p->t,
                            .c = 2 * (double)p->n * o->lambda};
    TRY(gram_loss_matrix_make(context, p->kernel, p->x, &k));
    s.k = &k;
    TRY(gram_loss_solution_take(context, &s));
    TRY(gram_loss_solve(context, &s));
    TRY(gram_function_of_problem(context, p, p->x, s.outputs, s.a, s.b, &made->function));
    report(p, &s, &made->report);
    *converged = s.converged;
done:
    gram_loss_solution_give(context, &s);
    gram_loss_matrix_free(context, &k);
    return status;
}

gram_status gram_loss_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                          const gram_loss_options *options, gram_loss **fit)
{
    gram_status status = GRAM_OK;
    gram_loss_options known;
    gram_problem problem = {0};
    gram_loss *made = NULL;
    int converged = 0;
    if (!context || !fit) return GRAM_ERROR_ARGUMENT;
    *fit = NULL;
    TRY(gram_loss_options_read(context, "loss_fit", "options", options, &known));
    TRY(gram_problem_make(context, "loss_fit", kernel, x, 1, y, 1, known.weights, &problem));
    TRY(gram_problem_set_unpenalised(context, "loss_fit", known.intercept, known.unpenalised_count, known.unpenalised,
                                     &problem));
    TRY(gram_take(context, "loss_fit", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    TRY(solve(context, &problem, &known, made, &converged));
    *fit = made;
    made = NULL;
    if (!converged) status = GRAM_NOT_CONVERGED;
done:
    gram_loss_destroy(made);
    gram_problem_free(context, &problem);
    return status;
}

void gram_loss_destroy(gram_loss *fit)
{
    if (!fit) return;
    gram_memory *memory = fit->memory;
    gram_function_release(fit->function);
    gram_memory_give(memory, fit);
    gram_memory_release(memory);
}

gram_function *gram_loss_function(const gram_loss *fit)
{
    return fit->function;
}

const gram_loss_report *gram_loss_get_report(const gram_loss *fit)
{
    return &fit->report;
}
