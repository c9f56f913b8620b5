/* The limited-memory quasi-Newton method with bounds of Byrd, Lu, Nocedal and Zhu ("A limited memory algorithm for bound
 * constrained optimization", SIAM J. Sci. Comput. 16, 1995), in its authors' own program, version 3.0 (Morales and
 * Nocedal, ACM Trans. Math. Softw. 38, 2011).
 *
 * From the last PAIRS steps and changes of the gradient it keeps a model of the Hessian. Each iteration finds where the
 * model's path of steepest descent, bent at the bounds, has its first minimum (this decides which variables stay at a
 * bound), minimises the model over the others, and searches along the line to that point. A variable costs a few dozen
 * operations, so that all of the time goes into the function.
 *
 * The program works by reverse communication: it returns whenever it wants a value, and all of its state is in our
 * arrays, hence several searches may run in several threads. It prints when asked to; iprint < 0 keeps it silent. It
 * has no header: the declaration is ours.
 *
 * Where the function has no value (a matrix that is not positive definite to working precision, say) the line search is
 * shown a wall: from the last good point the function seems to rise as steeply as it fell, so that interpolation makes
 * the step several times shorter. */
#include "lbfgsb.h"

#include <math.h>
#include <string.h>

enum { PAIRS = 10, TEXT = 60, MAX_VARIABLES = 1 << 20, MAX_WALLS = 20 };

void setulb_(const int *n, const int *m, double *x, const double *l, const double *u, const int *nbd, double *f,
             double *g, const double *factr, const double *pgtol, double *wa, int *iwa, char *task, const int *iprint,
             char *csave, int *lsave, int *isave, double *dsave, size_t task_length, size_t csave_length);

/* One search: the caller's problem, the program's arrays, the best point and the last one that had a value. */
typedef struct search {
    const gram_lbfgsb *problem;
    double *numbers, *x, *gradient, *best, *last, *last_gradient, *work;
    int *integers, *kind, *iwork;
    int64_t number_count, integer_count;
    double value, last_value, best_value, dsave[29];
    char task[TEXT], csave[TEXT];
    int lsave[4], isave[44];
    int64_t evaluations;
    int walls; /* points without a value, one after the other */
} search;

static int64_t work_numbers(int64_t n)
{
    return 2 * PAIRS * n + 5 * n + 11 * PAIRS * PAIRS + 8 * PAIRS;
}

static gram_status take_arrays(gram_context *context, search *s)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->problem->n, numbers = 5 * n + work_numbers(n), integers = 4 * n;
    TRY(gram_take(context, "lbfgsb", numbers, sizeof(double), (void **)&s->numbers));
    s->number_count = numbers;
    TRY(gram_take(context, "lbfgsb", integers, sizeof(int), (void **)&s->integers));
    s->integer_count = integers;
    s->x = s->numbers;
    s->gradient = s->x + n;
    s->best = s->gradient + n;
    s->last = s->best + n;
    s->last_gradient = s->last + n;
    s->work = s->last_gradient + n;
    s->kind = s->integers;
    s->iwork = s->kind + n;
    memset(s->numbers, 0, (size_t)numbers * sizeof(double));
done:
    return status;
}

static void set_task(search *s, const char *text)
{
    memset(s->task, ' ', TEXT);
    memcpy(s->task, text, strlen(text));
}

static int task_is(const search *s, const char *text)
{
    return !memcmp(s->task, text, strlen(text));
}

static void copy(int64_t n, const double *from, double *to)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

static void remember(search *s)
{
    const int64_t n = s->problem->n;
    s->walls = 0;
    s->last_value = s->value;
    copy(n, s->x, s->last);
    copy(n, s->gradient, s->last_gradient);
    if (s->value >= s->best_value) return;
    s->best_value = s->value;
    copy(n, s->x, s->best);
}

/* f = f0 + 3 |g0'(x - x0)| with the gradient -3 g0, at x0 the last point that had a value */
static void show_wall(search *s)
{
    const int64_t n = s->problem->n;
    double slope = 0;
    for (int64_t i = 0; i < n; i++) slope += s->last_gradient[i] * (s->x[i] - s->last[i]);
    s->value = s->last_value + 3 * fabs(slope);
    for (int64_t i = 0; i < n; i++) s->gradient[i] = -3 * s->last_gradient[i];
    s->walls++;
}

static int all_finite(int64_t n, const double *x)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

/* Value and gradient where the program asks for them; *stop when there is no use in going on. */
static gram_status evaluate(gram_context *context, search *s, int *stop)
{
    gram_status status = GRAM_OK;
    const gram_lbfgsb *problem = s->problem;
    FAIL_IF(context->cancel && context->cancel(context->cancel_user), context, GRAM_ERROR_CANCELLED,
            "lbfgsb: cancelled");
    TRY(problem->evaluate(problem->argument, s->x, &s->value, s->gradient));
    s->evaluations++;
    if (isfinite(s->value) && all_finite(problem->n, s->gradient))
        remember(s);
    else if (isfinite(s->best_value))
        show_wall(s);
    else
        *stop = 1; /* no value where the search starts */
    if (s->evaluations >= problem->evaluations || s->walls >= MAX_WALLS) *stop = 1;
done:
    return status;
}

static void start(search *s, const double *x)
{
    const gram_lbfgsb *problem = s->problem;
    s->best_value = INFINITY;
    for (int64_t i = 0; i < problem->n; i++) {
        s->x[i] = fmin(fmax(x[i], problem->lower[i]), problem->upper[i]);
        s->kind[i] = 2; /* bounded from both sides */
    }
    copy(problem->n, s->x, s->best);
    set_task(s, "START");
}

static gram_status run(gram_context *context, search *s)
{
    gram_status status = GRAM_OK;
    const gram_lbfgsb *problem = s->problem;
    const int n = (int)problem->n, pairs = PAIRS, silent = -1;
    const double factor = problem->tolerance / 0x1p-52;
    int stop = 0;
    while (!stop) {
        setulb_(&n, &pairs, s->x, problem->lower, problem->upper, s->kind, &s->value, s->gradient, &factor,
                &problem->gradient_tolerance, s->work, s->iwork, s->task, &silent, s->csave, s->lsave, s->isave,
                s->dsave, TEXT, TEXT);
        if (task_is(s, "FG"))
            TRY(evaluate(context, s, &stop));
        else if (!task_is(s, "NEW_X"))
            stop = 1;
    }
done:
    return status;
}

gram_status gram_lbfgsb_minimise(gram_context *context, const gram_lbfgsb *problem, double *x,
                                 gram_lbfgsb_report *report)
{
    gram_status status = GRAM_OK;
    search s = {.problem = problem};
    FAIL_IF(problem->n < 1 || problem->n > MAX_VARIABLES, context, GRAM_ERROR_ARGUMENT,
            "lbfgsb: %lld variables, need 1 to %d", (long long)problem->n, MAX_VARIABLES);
    TRY(take_arrays(context, &s));
    start(&s, x);
    TRY(run(context, &s));
    copy(problem->n, s.best, x);
    *report = (gram_lbfgsb_report){s.best_value, s.evaluations, task_is(&s, "CONVERGENCE")};
done:
    gram_give(context, s.numbers, s.number_count, sizeof(double));
    gram_give(context, s.integers, s.integer_count, sizeof(int));
    return status;
}
