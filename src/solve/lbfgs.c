/* L-BFGS with projection on bounds, for many variables, such as the coordinates of inducing points.
 *
 * As in solve/minimise.c a variable at a bound that would leave by it is held and the path is projected; the inverse Hessian
 * is that of the last PAIRS pairs of step s and change of gradient y (Nocedal 1980), begun with (s'y)/(y'y) I, and sees the
 * variables that are not held. O(PAIRS n) memory and operations where a matrix would take n^2. */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "solve/minimise.h"

enum { PAIRS = 10, PATIENCE = 3, MAX_SHORTER = 12 };
static const double ARMIJO = 1e-4, SHORTEST = 0.1, LONGEST = 0.5; /* of a step that failed */

typedef struct search {
    gram_context *context;
    const gram_minimise_problem *problem;
    double *numbers, *x, *gradient, *trial, *trial_gradient, *direction;
    double *steps, *changes; /* PAIRS x n, a ring */
    double products[PAIRS];  /* s'y */
    int64_t pairs;           /* that were made */
    double value, trial_value;
    int64_t evaluations;
} search;

static double dot(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static int is_held(const search *s, int64_t i)
{
    const gram_minimise_problem *p = s->problem;
    return (s->x[i] <= p->lower[i] && s->gradient[i] >= 0) || (s->x[i] >= p->upper[i] && s->gradient[i] <= 0);
}

static gram_status evaluate(search *s)
{
    gram_status status = GRAM_OK;
    gram_context *context = s->context;
    FAIL_IF(context->cancel && context->cancel(context->cancel_user), context, GRAM_ERROR_CANCELLED,
            "minimise: cancelled");
    TRY(s->problem->evaluate(s->problem->argument, s->trial, &s->trial_value, s->trial_gradient));
    s->evaluations++;
done:
    return status;
}

/* direction = -H g over the variables that are not held. */
static void find_direction(search *s)
{
    const int64_t n = s->problem->n, have = s->pairs < PAIRS ? s->pairs : PAIRS;
    double *v = s->direction, share[PAIRS] = {0};
    for (int64_t i = 0; i < n; i++) v[i] = is_held(s, i) ? 0 : -s->gradient[i];
    for (int64_t k = 0; k < have; k++) {
        const int64_t at = (s->pairs - 1 - k) % PAIRS;
        share[at] = dot(n, s->steps + at * n, v) / s->products[at];
        for (int64_t i = 0; i < n; i++) v[i] -= share[at] * s->changes[at * n + i];
    }
    if (have > 0) {
        const int64_t last = (s->pairs - 1) % PAIRS;
        const double *y = s->changes + last * n, size = s->products[last] / dot(n, y, y);
        for (int64_t i = 0; i < n; i++) v[i] *= size;
    }
    for (int64_t k = have - 1; k >= 0; k--) {
        const int64_t at = (s->pairs - 1 - k) % PAIRS;
        const double back = dot(n, s->changes + at * n, v) / s->products[at];
        for (int64_t i = 0; i < n; i++) v[i] += (share[at] - back) * s->steps[at * n + i];
    }
    for (int64_t i = 0; i < n; i++)
        if (is_held(s, i)) v[i] = 0;
}

/* The length to begin with: 1, or what keeps the largest change within the problem's limits. */
static double first_length(const search *s)
{
    double largest = 0;
    for (int64_t i = 0; i < s->problem->n; i++) largest = fmax(largest, fabs(s->direction[i]));
    if (largest == 0) return 0;
    if (s->pairs == 0) return s->problem->first_step / largest;
    return fmin(1, s->problem->longest_step / largest);
}

static void remember(search *s)
{
    const int64_t n = s->problem->n, at = s->pairs % PAIRS;
    double *step = s->steps + at * n, *change = s->changes + at * n;
    for (int64_t i = 0; i < n; i++) {
        step[i] = s->trial[i] - s->x[i];
        change[i] = s->trial_gradient[i] - s->gradient[i];
    }
    const double product = dot(n, step, change);
    if (!(product > 1e-12 * sqrt(dot(n, step, step) * dot(n, change, change)))) return;
    s->products[at] = product;
    s->pairs++;
}

/* Moves to a lower point along the projected path; *moved is 0 if there was none. */
static gram_status descend(search *s, int *moved)
{
    gram_status status = GRAM_OK;
    const gram_minimise_problem *p = s->problem;
    double length = first_length(s);
    *moved = 0;
    for (int tries = 0; tries < MAX_SHORTER && length > 0 && s->evaluations < p->evaluations; tries++) {
        double promised = 0;
        for (int64_t i = 0; i < p->n; i++) {
            s->trial[i] = fmin(fmax(s->x[i] + length * s->direction[i], p->lower[i]), p->upper[i]);
            promised += s->gradient[i] * (s->trial[i] - s->x[i]);
        }
        if (!(promised < 0)) goto done;
        TRY(evaluate(s));
        if (isfinite(s->trial_value) && s->trial_value <= s->value + ARMIJO * promised) {
            *moved = 1;
            goto done;
        }
        const double best = isfinite(s->trial_value) ? -0.5 * promised / (s->trial_value - s->value - promised) : 0.25;
        length *= fmin(fmax(best, SHORTEST), LONGEST);
    }
done:
    return status;
}

static gram_status iterate(search *s, gram_minimise_report *report)
{
    gram_status status = GRAM_OK;
    const gram_minimise_problem *p = s->problem;
    const size_t bytes = (size_t)p->n * sizeof(double);
    int calm = 0, moved = 1;
    while (s->evaluations < p->evaluations && calm < PATIENCE && moved) {
        find_direction(s);
        TRY(descend(s, &moved));
        if (!moved && s->pairs > 0 && s->evaluations < p->evaluations) { /* the pairs misled: begin with the gradient */
            s->pairs = 0;
            moved = 1;
            continue;
        }
        if (!moved) break;
        calm = s->value - s->trial_value < p->tolerance ? calm + 1 : 0;
        remember(s);
        memcpy(s->x, s->trial, bytes);
        memcpy(s->gradient, s->trial_gradient, bytes);
        s->value = s->trial_value;
    }
    report->converged = calm >= PATIENCE || (!moved && s->evaluations < p->evaluations);
done:
    return status;
}

gram_status gram_minimise_limited(gram_context *context, const gram_minimise_problem *problem, double *x,
                                  gram_minimise_report *report)
{
    gram_status status = GRAM_OK;
    search s = {.context = context, .problem = problem};
    const int64_t n = problem->n, size = (4 + 2 * PAIRS) * n;
    TRY(gram_take(context, "gp_inducing: search", size, sizeof(double), (void **)&s.numbers));
    s.x = x;
    s.gradient = s.numbers;
    s.trial = s.gradient + n;
    s.trial_gradient = s.trial + n;
    s.direction = s.trial_gradient + n;
    s.steps = s.direction + n;
    s.changes = s.steps + PAIRS * n;
    *report = (gram_minimise_report){.value = INFINITY};
    for (int64_t i = 0; i < n; i++) s.trial[i] = x[i] = fmin(fmax(x[i], problem->lower[i]), problem->upper[i]);
    TRY(evaluate(&s));
    s.value = s.trial_value;
    memcpy(s.gradient, s.trial_gradient, (size_t)n * sizeof(double));
    if (isfinite(s.value)) TRY(iterate(&s, report));
    report->value = s.value;
    report->evaluations = s.evaluations;
done:
    gram_give(context, s.numbers);
    return status;
}
