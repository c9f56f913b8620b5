/* One evaluation of what tuning minimises, and the way down.
 *
 * The objective is of order one for each row, whatever the units of y, so that steps mean the same everywhere; a method adds
 * its priors to it. What one sample taught of the Hessian is carried to the next (minimise.h). */
#include <math.h>
#include <string.h>

#include "base/lapack.h"
#include "base/sweep.h"
#include "base/system/time_limit.h"
#include "solve/minimise.h"
#include "tune/gradient_search.h"

static const double FIRST_STEP = 0.5, LONGEST_STEP = 2;
static const double DIFFERENCE = 1e-4; /* of a variable, for the Hessian */
static const double FLAT = 0.1;        /* curvature, of the objective of all rows, that is as good as none */

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
    if (t->method->bounds) TRY(t->method->bounds(t, &c->space));
    const int64_t numbers = c->space.parameters + 1;
    TRY(gram_take(t->context, "tuning: parameters", numbers_of(c), sizeof(double), (void **)&c->numbers));
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
    gram_give(t->context, c->numbers);
    gram_space_free(t->context, &c->space);
    c->numbers = NULL;
}

void gram_candidate_copy(const gram_candidate *c, const double *from, double *to)
{
    memcpy(to, from, (size_t)(c->space.parameters + 1) * sizeof *to);
}

/* ---- one evaluation ---- */

/* Parameters where the matrix is not positive definite to working precision, or the points are outside the domain, are
 * not worth a failure: the search turns round. So are those that there is no time for: nothing is better than what was found. */
static int is_impossible(const gram_tuning *t, gram_status status)
{
    return status == GRAM_ERROR_NUMERICAL || status == GRAM_ERROR_DOMAIN ||
           (status == GRAM_ERROR_BUDGET && gram_time_is_up(t->context, GRAM_TIME_OF_TUNING));
}

/* Values cost about half as much as gradients, which cost some n^cost operations. */
static void tell(gram_tuning *t, int which, int with_gradient)
{
    t->done += pow((double)t->levels[which].sample.n, t->method->cost) * (with_gradient ? 1 : 0.5);
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
    FAIL_IF(context->cancel && context->cancel(context->cancel_user), context, GRAM_ERROR_CANCELLED, "%s: cancelled",
            t->method->name);
    if (gram_time_is_up(context, GRAM_TIME_OF_TUNING)) {
        gram_time_left_out(context, "tuning ended early");
        *value = INFINITY;
        return GRAM_OK;
    }
    TRY(gram_space_kernel(context, &c->space, c->trial, &kernel));
    status = t->method->evaluate(t, which, kernel, c->trial[noise], value, with_gradient ? c->gradient : NULL);
    if (is_impossible(t, status)) {
        *value = INFINITY;
        status = GRAM_OK;
    }
    tell(t, which, with_gradient);
done:
    gram_kernel_release(kernel);
    return status;
}

gram_status gram_candidate_try(gram_tuning *t, gram_candidate *c, int which, double *value, double *objective)
{
    double slope;
    const gram_status status = criterion_at(t, c, which, 0, value);
    if (status < 0) return status;
    *objective = isfinite(*value) ? t->method->objective(t, which, *value, &slope) : INFINITY;
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
    double lowest, value; /* the best objective with priors, and the criterion there */
} descent;

static gram_status evaluate(void *argument, const double *variables, double *objective, double *gradient)
{
    gram_status status = GRAM_OK;
    descent *down = argument;
    gram_tuning *t = down->tuning;
    gram_candidate *c = down->candidate;
    const gram_space *space = &c->space;
    double slope = 0, value;
    gram_space_to_point(space, variables, c->trial);
    TRY(criterion_at(t, c, down->level, 1, &value));
    *objective = INFINITY;
    if (!isfinite(value)) goto done;
    *objective = t->method->objective(t, down->level, value, &slope);
    for (int64_t i = 0; i < space->count; i++) {
        const int64_t index = space->index[i];
        gradient[i] = slope * c->gradient[index] * (space->is_log[i] ? c->trial[index] : 1);
    }
    if (t->method->prior) *objective += t->method->prior(t, c, down->level, variables, gradient);
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
    const int64_t left = t->evaluations_limit - t->evaluations;
    const double tolerance = t->method->tolerance(t, which) * gram_tuning_coarseness(t);
    const double promise = t->method->promise ? t->method->promise(t, which) : 0;
    if (which == t->last && limit > left) limit = left;
    if (t->method->begin) t->method->begin(t, which);
    if (c->space.count == 0 || limit < 1) return gram_candidate_look(t, c, which);
    const gram_minimise_problem problem = {.n = c->space.count,
                                           .lower = c->space.lower,
                                           .upper = c->space.upper,
                                           .evaluations = limit,
                                           .tolerance = tolerance,
                                           .promise = gram_tuning_follows(t) && c->inverse_known ? tolerance : promise,
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
    c->objective = isfinite(down.value) ? t->method->objective(t, which, down.value, &slope) : INFINITY;
done:
    return status;
}

/* ---- the Hessian ---- */

/* Rows of differences of gradients, made symmetric. *known is 0 where the objective has no value. */
static gram_status fill_hessian(descent *down, double *x, double *middle, double *hessian, int *known)
{
    gram_status status = GRAM_OK;
    const gram_space *space = &down->candidate->space;
    const int64_t n = space->count;
    double value;
    TRY(evaluate(down, x, &value, middle));
    *known = isfinite(value);
    for (int64_t i = 0; i < n && *known; i++) {
        const double at = x[i], step = at + DIFFERENCE > space->upper[i] ? -DIFFERENCE : DIFFERENCE;
        double *row = hessian + i * n;
        x[i] = at + step;
        TRY(evaluate(down, x, &value, row));
        x[i] = at;
        *known = isfinite(value);
        for (int64_t j = 0; j < n; j++) row[j] = (row[j] - middle[j]) / step;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            hessian[i * n + j] = hessian[j * n + i] = 0.5 * (hessian[i * n + j] + hessian[j * n + i]);
done:
    return status;
}

/* inverse = |H|^-1, eigenvalues at least `least`: saddles are left downhill; `hessian` becomes its eigenvectors */
static int invert_absolute(int64_t count, double *hessian, double least, double *work, double *inverse)
{
    const int n = (int)count, room = 4 * n;
    int info = 0;
    double *values = work + room;
    const int blas = gram_blas_enter();
    dsyev_("V", "U", &n, hessian, &n, values, work, &room, &info, 1, 1);
    gram_blas_leave(blas);
    if (info != 0) return 0;
    memset(inverse, 0, (size_t)(count * count) * sizeof *inverse);
    for (int64_t k = 0; k < count; k++) {
        const double *v = hessian + k * count, scale = 1 / fmax(fabs(values[k]), least);
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < count; j++) inverse[i * count + j] += scale * v[i] * v[j];
    }
    return 1;
}

gram_status gram_candidate_refine(gram_tuning *t, gram_candidate *c, int which, int64_t limit)
{
    gram_status status = GRAM_OK;
    const int64_t n = c->space.count, total = n * n + 7 * n;
    descent down = {t, c, which, INFINITY, INFINITY};
    double *numbers = NULL;
    int known = 0;
    if (which == t->last && t->evaluations_limit - t->evaluations < n + 2) return GRAM_OK;
    TRY(gram_take(t->context, "tuning: Hessian", total, sizeof(double), (void **)&numbers));
    double *hessian = numbers, *middle = hessian + n * n, *x = middle + n, *work = x + n;
    gram_candidate_copy(c, c->point, c->trial);
    gram_space_to_variables(&c->space, c->point, x);
    TRY(fill_hessian(&down, x, middle, hessian, &known));
    if (!known) goto done;
    c->inverse_known = invert_absolute(n, hessian, FLAT / (double)t->levels[which].sample.n, work, c->inverse);
    TRY(gram_candidate_descend(t, c, which, limit));
done:
    gram_give(t->context, numbers);
    return status;
}
