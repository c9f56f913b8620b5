/* The function that tuning minimises, and the way down.
 *
 * It is the logarithm of LOO, GCV and CV errors and minus the log likelihood per row and output: slopes are then of order
 * one, whatever the units of y, and steps that gain less than a thousandth each are within what another sample of rows
 * would change. What one sample taught of the Hessian is carried to the next (minimise.h).
 *
 * Where the data have little to say, priors decide, which weigh as much as one row (n log E is the deviance of the
 * residuals) and cost a part of a hundredth where the data speak. Many length-scales can fit the accidents of few rows:
 * their logarithms are held together with a standard deviation SPREAD. Very long lengths with very little noise make
 * polynomials that fit as well as shorter lengths with some noise, but go astray between the points: the logarithm of the
 * noise is held near that of USUAL_NOISE, with NOISE_SPREAD. The criterion that is reported has no priors in it. */
#include <math.h>
#include <string.h>

#include "../solve/minimise.h"
#include "tuning.h"

/* Above so many rows a step is dear: then a search ends earlier, also when a step promises less than PROMISE. */
enum { MANY_ROWS = 1200 };

static const double TOLERANCE = 2e-4, COARSE_TOLERANCE = 1e-3, PROMISE = 2e-4;
static const double FIRST_STEP = 0.5, LONGEST_STEP = 2, SPREAD = 2, NOISE_SPREAD = 4;
static const double USUAL_NOISE = 1e-2; /* of the mean diagonal of K */

/* ---- candidates ---- */

static int64_t numbers_of(const gram_candidate *c)
{
    return 4 * (c->space.parameters + 1) + c->space.count * c->space.count;
}

gram_status gram_candidate_make(gram_tuning *t, const gram_kernel *kernel, int hold, gram_candidate *c)
{
    gram_status status = GRAM_OK;
    const gram_sample *sample = &t->levels[t->last].sample;
    *c = (gram_candidate){.objective = INFINITY, .value = NAN, .hold = hold};
    TRY(gram_space_create(t->context, kernel, sample->points, t->noise, &c->space));
    const int64_t numbers = c->space.parameters + 1;
    TRY(gram_take(t->context, "krr_tune: parameters", numbers_of(c), sizeof(double), (void **)&c->numbers));
    c->point = c->numbers;
    c->trial = c->point + numbers;
    c->gradient = c->trial + numbers;
    c->variables = c->gradient + numbers;
    c->inverse = c->variables + numbers;
    TRY(gram_space_origin(t->context, &c->space, c->point));
    c->point[numbers - 1] = t->noise_start;
done:
    if (status < 0) gram_candidate_free(t, c);
    return status;
}

void gram_candidate_free(gram_tuning *t, gram_candidate *c)
{
    gram_give(t->context, c->numbers, numbers_of(c), sizeof(double));
    gram_space_free(t->context, &c->space);
    c->numbers = NULL;
}

void gram_candidate_copy(const gram_candidate *c, const double *from, double *to)
{
    memcpy(to, from, (size_t)(c->space.parameters + 1) * sizeof *to);
}

/* ---- one evaluation ---- */

/* Parameters where the matrix is not positive definite to working precision, or the points are outside the domain, are
 * not worth a failure: the search turns round. */
static int is_impossible(gram_status status)
{
    return status == GRAM_ERROR_NUMERICAL || status == GRAM_ERROR_DOMAIN;
}

/* Values cost about half as much as gradients, which cost some n^3 operations. */
static void tell(gram_tuning *t, int which, int with_gradient)
{
    const double n = (double)t->levels[which].sample.n;
    t->done += n * n * n * (with_gradient ? 1 : 0.5);
    if (t->progress) t->progress(t->context->progress_user, "tuning", fmin(t->done / t->expected, 0.99));
    if (which == t->last && with_gradient) t->evaluations++;
}

/* The criterion at c->trial; its gradient by the point goes to c->gradient. */
static gram_status criterion_at(gram_tuning *t, gram_candidate *c, int which, int with_gradient, double *value)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    gram_context *context = t->context;
    const int64_t noise = c->space.parameters;
    double *slopes = with_gradient ? c->gradient : NULL;
    FAIL_IF(context->cancel && context->cancel(context->cancel_user), context, GRAM_ERROR_CANCELLED,
            "krr_tune: cancelled");
    TRY(gram_space_kernel(context, &c->space, c->trial, &kernel));
    status = gram_criterion_evaluate(context, t->levels[which].work, kernel, c->trial[noise], value, slopes,
                                     slopes ? slopes + noise : NULL);
    if (is_impossible(status)) {
        *value = INFINITY;
        status = GRAM_OK;
    }
    tell(t, which, with_gradient);
done:
    gram_kernel_release(kernel);
    return status;
}

/* The objective for a value of the criterion, and its derivative by it */
static double to_objective(const gram_tuning *t, int which, double value, double *slope)
{
    const gram_level *level = &t->levels[which];
    const double count = (double)(level->sample.n * level->sample.outputs);
    const int likelihood = t->rule.kind == GRAM_CRITERION_ML;
    *slope = likelihood ? 1 / count : 1 / (value + level->floor);
    return likelihood ? value / count : log(value + level->floor);
}

static int is_length(const gram_space *space, int64_t variable)
{
    return space->is_log[variable] && space->is_length[space->index[variable]];
}

/* sum ((v - mean)/SPREAD)^2 over the logarithms v of the length-scales; gradients are added */
static double hold_lengths(const gram_space *space, double scale, const double *variables, double *gradient)
{
    double mean = 0, count = 0, sum = 0;
    for (int64_t i = 0; i < space->count; i++)
        if (is_length(space, i)) {
            mean += variables[i];
            count++;
        }
    mean /= fmax(count, 1);
    for (int64_t i = 0; i < space->count; i++)
        if (is_length(space, i)) {
            const double away = (variables[i] - mean) / SPREAD;
            sum += away * away;
            gradient[i] += scale * 2 * away / SPREAD;
        }
    return scale * sum;
}

/* ((log noise - log(USUAL_NOISE unit))/NOISE_SPREAD)^2; the noise is the last variable */
static double hold_noise(const gram_tuning *t, const gram_space *space, double scale, const double *variables,
                         double *gradient)
{
    const int64_t last = space->count - 1;
    if (t->noise.fixed) return 0;
    const double away = (variables[last] - log(USUAL_NOISE * t->noise_unit)) / NOISE_SPREAD;
    gradient[last] += scale * 2 * away / NOISE_SPREAD;
    return scale * away * away;
}

gram_status gram_candidate_try(gram_tuning *t, gram_candidate *c, int which, double *value, double *objective)
{
    double slope;
    const gram_status status = criterion_at(t, c, which, 0, value);
    if (status < 0) return status;
    *objective = isfinite(*value) ? to_objective(t, which, *value, &slope) : INFINITY;
    return status;
}

gram_status gram_candidate_look(gram_tuning *t, gram_candidate *c, int which)
{
    gram_candidate_copy(c, c->point, c->trial);
    return gram_candidate_try(t, c, which, &c->value, &c->objective);
}

/* ---- the way down ---- */

typedef struct descent {
    gram_tuning *tuning;
    gram_candidate *candidate;
    int level;
    double lowest, value; /* the best objective with what holds lengths together, and the criterion there */
} descent;

static gram_status evaluate(void *argument, const double *variables, double *objective, double *gradient)
{
    gram_status status = GRAM_OK;
    descent *down = argument;
    gram_candidate *c = down->candidate;
    const gram_space *space = &c->space;
    double slope = 0, value;
    gram_space_to_point(space, variables, c->trial);
    TRY(criterion_at(down->tuning, c, down->level, 1, &value));
    *objective = INFINITY;
    if (!isfinite(value)) goto done;
    *objective = to_objective(down->tuning, down->level, value, &slope);
    for (int64_t i = 0; i < space->count; i++) {
        const int64_t index = space->index[i];
        gradient[i] = slope * c->gradient[index] * (space->is_log[i] ? c->trial[index] : 1);
    }
    const double scale = 1 / (double)down->tuning->levels[down->level].sample.n;
    if (c->hold) *objective += hold_lengths(space, scale, variables, gradient);
    *objective += hold_noise(down->tuning, space, scale, variables, gradient);
    if (*objective >= down->lowest) goto done;
    down->lowest = *objective;
    down->value = value;
done:
    return status;
}

gram_status gram_candidate_descend(gram_tuning *t, gram_candidate *c, int which, int64_t limit)
{
    gram_status status = GRAM_OK;
    descent down = {t, c, which, INFINITY, INFINITY};
    gram_minimise_report report;
    const int64_t left = t->options.evaluations - t->evaluations;
    const int coarse = t->levels[which].sample.n > MANY_ROWS;
    if (which == t->last && limit > left) limit = left;
    if (c->space.count == 0 || limit < 1) return gram_candidate_look(t, c, which);
    const gram_minimise_problem problem = {.n = c->space.count,
                                           .lower = c->space.lower,
                                           .upper = c->space.upper,
                                           .evaluations = limit,
                                           .tolerance = coarse ? COARSE_TOLERANCE : TOLERANCE,
                                           .promise = coarse ? PROMISE : 0,
                                           .first_step = FIRST_STEP,
                                           .longest_step = LONGEST_STEP,
                                           .evaluate = evaluate,
                                           .argument = &down};
    double slope;
    gram_candidate_copy(c, c->point, c->trial);
    gram_space_to_variables(&c->space, c->point, c->variables);
    TRY(gram_minimise(t->context, &problem, c->variables, c->inverse, &c->inverse_known, &report));
    gram_space_to_point(&c->space, c->variables, c->point);
    c->value = down.value;
    c->objective = isfinite(down.value) ? to_objective(t, which, down.value, &slope) : INFINITY;
done:
    return status;
}
