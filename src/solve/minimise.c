/* BFGS with projection on bounds.
 *
 * H approximates the inverse Hessian. A variable at a bound that would be crossed is held; the others move
 * along -H g, restricted to them, and are projected on the bounds (Bertsekas, "Projected Newton methods for optimization
 * problems with simple constraints", SIAM J. Control Optim. 20, 1982: with held variables left out of H, the projected
 * path goes down). The step is shortened by quadratic interpolation until the value falls by a part of what the slope
 * promises (Armijo); then H takes up the pair of step s and change of gradient y,
 *
 *     H <- (I - r s y') H (I - r y s') + r s s',   r = 1/(s'y),
 *
 * if s'y > 0. n^2 memory and operations for each evaluation: for up to some hundreds of variables and functions that cost
 * much more than that.
 *
 * Why not the program L-BFGS-B (liblbfgsb): tuning climbs through samples of the data, and what one sample taught of the
 * Hessian is most of what the next needs to know. That program keeps it to itself and begins each sample along the
 * gradient. Measured on tuning 11 variables, 400, 1,000 and then 2,000 rows: to within 1/500 of the end 8 evaluations on
 * all rows with it, 3 here. Also, a point without a value (a matrix that is not positive definite) is just a shorter step
 * here, and there is no Fortran run-time library to bring. */
#include "solve/minimise.h"

#include <math.h>
#include <string.h>

enum { PATIENCE = 3, MAX_HALVINGS = 12 };

static const double ARMIJO = 1e-4, SHORTEST = 0.1, LONGEST = 0.5; /* of a step that failed */

typedef struct search {
    const gram_minimise_problem *problem;
    gram_context *context;
    double *numbers, *x, *gradient, *trial, *trial_gradient, *direction, *product;
    double *inverse;
    int *known;
    unsigned char *held; /* in `numbers`, too */
    double value, trial_value;
    double before[PATIENCE]; /* values of the last iterations */
    int64_t evaluations, iterations;
} search;

static double dot(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static double clamp(const gram_minimise_problem *p, int64_t i, double x)
{
    return fmin(fmax(x, p->lower[i]), p->upper[i]);
}

static gram_status evaluate(search *s)
{
    gram_status status = GRAM_OK;
    const gram_minimise_problem *p = s->problem;
    gram_context *context = s->context;
    FAIL_IF(context->cancel && context->cancel(context->cancel_user), context, GRAM_ERROR_CANCELLED,
            "minimise: cancelled");
    TRY(p->evaluate(p->argument, s->trial, &s->trial_value, s->trial_gradient));
    s->evaluations++;
    for (int64_t i = 0; i < p->n; i++)
        if (!isfinite(s->trial_gradient[i])) s->trial_value = INFINITY;
    if (!isfinite(s->trial_value)) s->trial_value = INFINITY;
done:
    return status;
}

/* ---- the direction ---- */

static void hold(search *s)
{
    const gram_minimise_problem *p = s->problem;
    for (int64_t i = 0; i < p->n; i++)
        s->held[i] = (s->x[i] <= p->lower[i] && s->gradient[i] > 0) || (s->x[i] >= p->upper[i] && s->gradient[i] < 0);
}

static void set_identity(search *s, double scale)
{
    const int64_t n = s->problem->n;
    memset(s->inverse, 0, (size_t)(n * n) * sizeof(double));
    for (int64_t i = 0; i < n; i++) s->inverse[i * n + i] = scale;
}

/* direction = -H g among the variables that are not held; returns its slope g'd */
static double find_direction(search *s)
{
    const int64_t n = s->problem->n;
    double slope = 0;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n && !s->held[i]; j++)
            if (!s->held[j]) sum += s->inverse[i * n + j] * s->gradient[j];
        s->direction[i] = -sum;
        slope += s->gradient[i] * s->direction[i];
    }
    return slope;
}

/* No variable goes further than the longest step; without a Hessian the one that goes furthest goes the first step. */
static void set_length(search *s)
{
    const gram_minimise_problem *p = s->problem;
    double longest = 0;
    for (int64_t i = 0; i < p->n; i++) longest = fmax(longest, fabs(s->direction[i]));
    const double wanted = *s->known ? fmin(longest, p->longest_step) : p->first_step;
    for (int64_t i = 0; i < p->n; i++) s->direction[i] *= wanted / longest;
}

/* ---- the step ---- */

/* Along the projected path; *found says whether the value fell enough. */
static gram_status search_line(search *s, int *found)
{
    gram_status status = GRAM_OK;
    const gram_minimise_problem *p = s->problem;
    double step = 1;
    *found = 0;
    for (int k = 0; k < MAX_HALVINGS && s->evaluations < p->evaluations; k++) {
        double promised = 0;
        for (int64_t i = 0; i < p->n; i++) {
            s->trial[i] = clamp(p, i, s->x[i] + step * s->direction[i]);
            promised += s->gradient[i] * (s->trial[i] - s->x[i]);
        }
        if (!(promised < 0)) break;
        TRY(evaluate(s));
        *found = s->trial_value <= s->value + ARMIJO * promised;
        if (*found) break;
        /* the minimum of the parabola through value, slope and trial value */
        const double part = -0.5 * promised / (s->trial_value - s->value - promised);
        step *= isfinite(s->trial_value) ? fmin(fmax(part, SHORTEST), LONGEST) : SHORTEST;
    }
done:
    return status;
}

/* H <- H + ((s'y + y'Hy) r^2) s s' - r (H y s' + s y'H), r = 1/(s'y); the first pair also tells the scale of H */
static void update(search *s)
{
    const int64_t n = s->problem->n;
    double *step = s->direction, *change = s->trial_gradient, *product = s->product;
    for (int64_t i = 0; i < n; i++) {
        step[i] = s->trial[i] - s->x[i];
        change[i] -= s->gradient[i];
    }
    const double curvature = dot(n, step, change), size = dot(n, change, change);
    if (curvature > 1e-10 * sqrt(size * dot(n, step, step))) {
        if (!*s->known) set_identity(s, curvature / size);
        *s->known = 1;
        for (int64_t i = 0; i < n; i++) product[i] = dot(n, s->inverse + i * n, change);
        const double r = 1 / curvature, middle = r * (1 + r * dot(n, change, product));
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                s->inverse[i * n + j] += middle * step[i] * step[j] - r * (product[i] * step[j] + step[i] * product[j]);
    }
    for (int64_t i = 0; i < n; i++) change[i] += s->gradient[i];
}

static void accept(search *s)
{
    const size_t bytes = (size_t)s->problem->n * sizeof(double);
    s->before[s->iterations % PATIENCE] = s->value;
    s->iterations++;
    s->value = s->trial_value;
    memcpy(s->x, s->trial, bytes);
    memcpy(s->gradient, s->trial_gradient, bytes);
}

/* Did the last PATIENCE steps together gain less than they should? */
static int has_converged(const search *s)
{
    if (s->iterations < PATIENCE) return 0;
    return s->before[s->iterations % PATIENCE] - s->value < PATIENCE * s->problem->tolerance;
}

static gram_status iterate(search *s, int *converged)
{
    gram_status status = GRAM_OK;
    int found = 1;
    *converged = 0;
    while (!*converged && s->evaluations < s->problem->evaluations) {
        hold(s);
        double slope = find_direction(s);
        if (!(slope < 0)) { /* H has lost its definiteness to rounding, or there is nothing to gain */
            set_identity(s, 1);
            *s->known = 0;
            slope = find_direction(s);
        }
        /* half of the slope is what a step of the model gains */
        const double least = 0.01 * s->problem->tolerance;
        *converged = -0.5 * slope < (s->iterations > 0 && *s->known ? fmax(s->problem->promise, least) : least);
        if (*converged) break;
        set_length(s);
        TRY(search_line(s, &found));
        if (!found && *s->known) { /* once more from the gradient alone */
            set_identity(s, 1);
            *s->known = 0;
            continue;
        }
        if (!found) break;
        update(s);
        accept(s);
        *converged = has_converged(s);
    }
done:
    return status;
}

gram_status gram_minimise(gram_context *context, const gram_minimise_problem *p, double *x, double *inverse, int *known,
                          gram_minimise_report *report)
{
    gram_status status = GRAM_OK;
    const int64_t n = p->n, count = 7 * n;
    search s = {.problem = p, .context = context, .inverse = inverse, .known = known};
    int converged = 0;
    TRY(gram_take(context, "minimise", count, sizeof(double), (void **)&s.numbers));
    s.x = s.numbers;
    s.gradient = s.x + n;
    s.trial = s.gradient + n;
    s.trial_gradient = s.trial + n;
    s.direction = s.trial_gradient + n;
    s.product = s.direction + n;
    s.held = (unsigned char *)(s.product + n);
    for (int64_t i = 0; i < n; i++) s.trial[i] = clamp(p, i, x[i]);
    if (!*known) set_identity(&s, 1);
    TRY(evaluate(&s));
    accept(&s);
    s.iterations = 0;
    if (isfinite(s.value)) TRY(iterate(&s, &converged));
    memcpy(x, s.x, (size_t)n * sizeof(double));
    *report = (gram_minimise_report){s.value, s.evaluations, converged};
done:
    gram_give(context, s.numbers);
    return status;
}
