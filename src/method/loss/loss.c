/* Regression with any convex loss: the fit and its report. */
#include "method/loss/loss.h"

#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "function/function.h"
#include "method/norm_ball.h"

struct gram_loss {
    gram_memory *memory;
    gram_function *function;
    gram_loss_report report;
};

static const double COUNTS = 1e-6; /* of the largest coefficient */
static const double BALL = 1e-5;   /* of the norm, which is as exact as the gap lets it */

static double crossing_of(const gram_loss_solution *s)
{
    double most = 0;
    for (int64_t i = 0; i < s->k->n; i++)
        for (int64_t o = 0; o + 1 < s->outputs && gram_loss_is_fitted(s, i); o++)
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

/* Constraints, and those with a force. */
static void count_constraints(const gram_loss_solution *s, gram_loss_report *r)
{
    double most = 0;
    for (int64_t i = 0; i < s->k->n * s->outputs; i++) most = fmax(most, fabs(s->a[i]));
    for (int64_t i = 0; i < s->k->n; i++) {
        if (gram_loss_is_fitted(s, i)) continue;
        r->constraints++;
        for (int64_t o = 0; o < s->outputs; o++) r->active += fabs(s->a[i * s->outputs + o]) > COUNTS * most;
    }
    r->violation = s->violation;
}

static void report(const gram_problem *p, const gram_loss_solution *s, gram_loss_report *r)
{
    const double n = (double)s->fitted;
    const double loss = gram_loss_sum(s);
    double total = 0;
    for (int64_t i = 0; i < p->n; i++) total += gram_loss_is_fitted(s, i) ? gram_problem_weight(p, i) : 0;
    *r = (gram_loss_report){.size = sizeof *r,
                            .n = s->fitted,
                            .d = p->d,
                            .outputs = s->outputs,
                            .lambda = s->c / (2 * n),
                            .objective = s->objective / n,
                            .dual = s->dual / n,
                            .gap = s->gap,
                            .loss = loss / total,
                            .norm = sqrt(fmax(0, 2 * (s->objective - loss) / s->c)),
                            .n_support = support_of(s),
                            .crossing = crossing_of(s),
                            .iterations = s->iterations,
                            .jitter = s->jitter};
    count_constraints(s, r);
}

/* ---- constraints ---- */

static gram_status check_senses(gram_context *context, const gram_loss_options *o, int64_t n)
{
    gram_status status = GRAM_OK;
    int64_t constraints = 0;
    for (int64_t i = 0; i < n; i++) {
        FAIL_IF((int)o->senses[i] < GRAM_ROW_FITTED || o->senses[i] > GRAM_ROW_EQUAL, context, GRAM_ERROR_ARGUMENT,
                "loss_fit: senses[%lld] = %d is not a valid sense", (long long)i, (int)o->senses[i]);
        constraints += o->senses[i] != GRAM_ROW_FITTED;
    }
    FAIL_IF(constraints == n, context, GRAM_ERROR_DATA, "loss_fit: all %lld rows are constraints, none is to be fitted",
            (long long)n);
    FAIL_IF(constraints > 0 && o->kind == GRAM_LOSS_INSENSITIVE && o->epsilon > 0, context, GRAM_ERROR_UNSUPPORTED,
            "loss_fit: constraints are not for the insensitive loss; use absolute or huber");
    FAIL_IF(constraints > 0 && o->kind == GRAM_LOSS_CALLBACK, context, GRAM_ERROR_UNSUPPORTED,
            "loss_fit: constraints are not for a callback; use huber");
    FAIL_IF(constraints > 0 && o->non_crossing && gram_loss_outputs(o) > 1, context, GRAM_ERROR_UNSUPPORTED,
            "loss_fit: constraints are not for quantiles that do not cross");
done:
    return status;
}

/* Those of the problem's rows. */
static gram_status gather_senses(gram_context *context, const gram_problem *p, const gram_loss_options *o,
                                 gram_row_sense **senses)
{
    gram_status status = GRAM_OK;
    if (!o->senses) return GRAM_OK;
    TRY(check_senses(context, o, p->given));
    TRY(gram_take(context, "senses", p->n, sizeof **senses, (void **)senses));
    for (int64_t i = 0; i < p->n; i++) (*senses)[i] = o->senses[p->rows ? p->rows[i] : i];
done:
    return status;
}

static gram_status check_feasible(gram_context *context, const gram_problem *p, const gram_loss_solution *s)
{
    static const char *const WORDS[] = {"", "at least", "at most", "equal to"};
    gram_status status = GRAM_OK;
    char target[GRAM_NUMBER_SIZE];
    const int64_t i = s->worst;
    FAIL_IF(s->infeasible, context, GRAM_ERROR_DATA,
            "loss_fit: the constraints contradict each other: row %lld, %s %s, is missed by %.3g",
            (long long)(p->rows ? p->rows[i] : i), WORDS[s->senses[i]], gram_number_format(p->y[i], target),
            s->violation);
done:
    return status;
}

/* ---- the fit ---- */

/* n lambda is what a fit is made with; the norm of what comes out. */
static gram_status solve_at(gram_context *context, gram_loss_solution *s, double lambda, double *norm)
{
    gram_status status = GRAM_OK;
    s->c = 2 * (double)s->fitted * lambda;
    TRY(gram_loss_solve(context, s));
    *norm = sqrt(fmax(0, 2 * (s->objective - gram_loss_sum(s)) / s->c));
done:
    return status;
}

static gram_status norm_at(gram_context *context, void *self, double lambda, double *norm)
{
    return solve_at(context, self, lambda, norm);
}

static gram_status solve_all(gram_context *context, const gram_problem *p, gram_loss_solution *s)
{
    gram_status status = GRAM_OK;
    const gram_loss_options *o = s->options;
    double lambda = o->lambda, norm = 0, trace = 0;
    for (int64_t i = 0; i < p->n; i++) trace += s->k->k[i * p->n + i];
    if (o->norm > 0)
        TRY(gram_norm_ball(context, "loss_fit", o->norm, trace / (double)p->n, BALL, norm_at, s, &lambda, &norm));
    else
        TRY(solve_at(context, s, o->lambda, &norm));
    TRY(check_feasible(context, p, s));
done:
    return status;
}

static gram_status solve(gram_context *context, const gram_problem *p, const gram_loss_options *o, gram_loss *made,
                         int *converged)
{
    gram_status status = GRAM_OK;
    gram_loss_matrix k = {0};
    gram_row_sense *senses = NULL;
    gram_loss_solution s = {.options = o,
                            .y = p->y,
                            .weights = p->weights,
                            .outputs = gram_loss_outputs(o),
                            .intercept = p->intercept,
                            .q = p->q,
                            .unpenalised = p->t};
    TRY(gather_senses(context, p, o, &senses));
    s.senses = senses;
    for (int64_t i = 0; i < p->n; i++) s.fitted += gram_loss_is_fitted(&s, i);
    TRY(gram_loss_matrix_make(context, p->kernel, p->x, &k));
    s.k = &k;
    TRY(gram_loss_solution_take(context, &s));
    TRY(solve_all(context, p, &s));
    TRY(gram_function_of_problem(context, p, p->x, s.outputs, s.a, s.b, &made->function));
    report(p, &s, &made->report);
    *converged = s.converged;
done:
    gram_give(context, senses);
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
