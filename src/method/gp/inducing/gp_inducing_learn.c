/* Learning the kernel's numbers, the noise and the positions of inducing points by raising the bound.
 *
 * The search moves numbers and noise on their own scales (parameter_space.h) and positions in units of their columns' ranges, within
 * one range of the data on either side. Its value is -bound; a point where K_zz or B has no factor has no value and makes the
 * step shorter. */
#include <math.h>

#include "method/gp/inducing/gp_inducing.h"
#include "points/points.h"
#include "solve/minimise.h"
#include "tune/parameter_space.h"

static const double FIRST_STEP = 0.1, LONGEST_STEP = 2, NOISE_FACTOR = 1e4;

typedef struct learning {
    gram_context *context;
    gram_inducing *s;
    const gram_gp_inducing_options *options;
    gram_kernel *start;  /* the kernel that the search began with, borrowed */
    gram_kernel *kernel; /* that of the model: ours */
    gram_space space;
    int64_t variables, moving; /* of all, and coordinates among them */
    double *numbers;
    double *x, *lower, *upper; /* variables */
    double *unit;              /* d: ranges of the columns */
    double *point;             /* parameters + 1 */
    double *slopes;            /* parameters + 1 */
    double *positions;         /* m x d: derivatives */
} learning;

static int64_t learning_numbers(const learning *l)
{
    return 3 * l->variables + l->s->base.d + 2 * (l->space.parameters + 1) + l->s->m * l->s->base.d;
}

/* The model's kernel, noise and positions from the variables. */
static gram_status set_model(learning *l, const double *x)
{
    gram_status status = GRAM_OK;
    gram_inducing *s = l->s;
    const int64_t d = s->base.d;
    gram_kernel *kernel = NULL;
    gram_space_to_point(&l->space, x, l->point);
    TRY(gram_space_kernel(l->context, &l->space, l->point, &kernel));
    gram_kernel_release(l->kernel);
    l->kernel = s->kernel = kernel;
    s->base.options.noise = l->point[l->space.parameters];
    for (int64_t i = 0; i < l->moving; i++) s->positions[i] = x[l->space.count + i] * l->unit[i % d];
done:
    return status;
}

static gram_status objective(void *argument, const double *x, double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    learning *l = argument;
    const gram_space *space = &l->space;
    TRY(set_model(l, x));
    status = gram_inducing_evaluate(l->context, l->options->jitter, l->s);
    if (status == GRAM_ERROR_NUMERICAL) {
        *value = INFINITY;
        return GRAM_OK;
    }
    TRY(status);
    TRY(gram_inducing_differentiate(l->context, l->s, l->slopes, l->moving ? l->positions : NULL));
    *value = isfinite(l->s->value.bound) ? -l->s->value.bound : INFINITY;
    for (int64_t i = 0; i < space->count; i++)
        gradient[i] = -l->slopes[space->index[i]] * (space->is_log[i] ? l->point[space->index[i]] : 1);
    for (int64_t i = 0; i < l->moving; i++) gradient[space->count + i] = -l->positions[i] * l->unit[i % l->s->base.d];
done:
    return status;
}

/* Ranges of the columns, and from them the bounds of the positions. A column without a range keeps its positions. */
static void bound_positions(learning *l)
{
    const gram_points *x = l->s->x;
    const int64_t d = x->d, first = l->space.count;
    for (int64_t c = 0; c < d; c++) {
        double least = INFINITY, most = -INFINITY;
        for (int64_t i = 0; i < x->n; i++) {
            least = fmin(least, gram_points_at(x, i, c));
            most = fmax(most, gram_points_at(x, i, c));
        }
        const double range = most > least ? most - least : 0;
        l->unit[c] = range > 0 ? range : 1;
        for (int64_t i = c; i < l->moving; i += d) {
            const double at = l->s->positions[i] / l->unit[c];
            l->x[first + i] = at;
            l->lower[first + i] = range > 0 ? fmin(least / range - 1, at) : at;
            l->upper[first + i] = range > 0 ? fmax(most / range + 1, at) : at;
        }
    }
}

/* Parameters that are not to be learnt leave the space. */
static void keep_variables(learning *l)
{
    gram_space *space = &l->space;
    int64_t kept = 0;
    for (int64_t i = 0; i < space->count; i++) {
        if (space->index[i] < space->parameters && !l->options->learn_parameters) continue;
        space->index[kept] = space->index[i];
        space->is_log[kept] = space->is_log[i];
        space->lower[kept] = space->lower[i];
        space->upper[kept++] = space->upper[i];
    }
    space->count = kept;
}

static gram_status take_learning(learning *l)
{
    gram_status status = GRAM_OK;
    gram_inducing *s = l->s;
    const double noise = s->base.options.noise;
    const int64_t d = s->base.d;
    TRY(gram_space_create(
        l->context, l->start, s->x,
        (gram_noise_range){noise / NOISE_FACTOR, noise * NOISE_FACTOR, !l->options->learn_noise || noise == 0},
        &l->space));
    keep_variables(l);
    l->moving = l->options->learn_positions ? s->m * d : 0;
    l->variables = l->space.count + l->moving;
    TRY(gram_take(l->context, "gp_fit: search", learning_numbers(l), sizeof(double), (void **)&l->numbers));
    l->x = l->numbers;
    l->lower = l->x + l->variables;
    l->upper = l->lower + l->variables;
    l->unit = l->upper + l->variables;
    l->point = l->unit + d;
    l->slopes = l->point + l->space.parameters + 1;
    l->positions = l->slopes + l->space.parameters + 1;
    for (int64_t i = 0; i < l->space.count; i++) {
        l->lower[i] = l->space.lower[i];
        l->upper[i] = l->space.upper[i];
    }
    TRY(gram_space_origin(l->context, &l->space, l->point));
    l->point[l->space.parameters] = noise;
    gram_space_to_variables(&l->space, l->point, l->x);
    bound_positions(l);
done:
    return status;
}

gram_status gram_inducing_learn(gram_context *context, const gram_gp_inducing_options *options, gram_gp_inducing *gp)
{
    gram_status status = GRAM_OK;
    learning l = {.context = context, .s = &gp->model, .options = options, .start = gp->kernel};
    gram_minimise_report found;
    TRY(take_learning(&l));
    const gram_minimise_problem problem = {.n = l.variables,
                                           .lower = l.lower,
                                           .upper = l.upper,
                                           .evaluations = options->evaluations,
                                           .tolerance = options->tolerance,
                                           .first_step = FIRST_STEP,
                                           .longest_step = LONGEST_STEP,
                                           .evaluate = objective,
                                           .argument = &l};
    if (l.variables == 0) goto done;
    TRY(gram_minimise_limited(context, &problem, l.x, &found));
    FAIL_IF(!isfinite(found.value), context, GRAM_ERROR_NUMERICAL,
            "gp_fit: the bound has no value at the numbers that the search starts from");
    gp->report.evaluations = found.evaluations;
    gp->report.converged = found.converged;
    TRY(set_model(&l, l.x));
    gram_kernel_release(gp->kernel);
    gp->kernel = gram_kernel_retain(l.kernel);
done:
    gp->model.kernel = gp->kernel;
    gram_kernel_release(l.kernel);
    gram_give(context, l.numbers);
    gram_space_free(context, &l.space);
    return status;
}
