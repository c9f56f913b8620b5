/* The search for the largest acquisition.
 *
 *   1. A few hundred points: a Latin hypercube of the box, and points about the best one known, at several distances and with few or
 *      all columns moved. All are evaluated at once.
 *   2. From the best of them, not all from one hill, an ascent by the exact gradient in the columns that vary continuously.
 *   3. Discrete variables: neighbours of the point, where one of them has another value (a category any other level, a whole number
 *      1, 2, 4, ... steps away). The best is moved to and 2 repeated, while that is better. */
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "solve/minimise.h"
#include "study/proposal_search.h"

enum { SPREAD = 512, NEAR = 256, STARTS = 6, EVALUATIONS = 60, ROUNDS = 8, SCALES = 4 };
static const double APART = 0.02; /* squared distance of two starts, for each column of the cube */
static const uint64_t NEARBY = 0x6e65617200U << 8, SHARE = 0x73686100U << 8;

typedef struct ascent {
    gram_context *context;
    const gram_search *search;
} ascent;

static gram_status evaluate(void *argument, const double *u, double *value, double *gradient)
{
    ascent *job = argument;
    const gram_acquisition *a = job->search->acquisition;
    const gram_status status = gram_acquisition_slope(job->context, a, u, value, gradient);
    *value = -*value;
    for (int64_t l = 0; l < a->objective->d; l++) gradient[l] = -gradient[l];
    return status;
}

/* Columns of discrete variables stay where u has them. */
static void set_bounds(const gram_search *search, const double *u, double *lower, double *upper)
{
    const gram_domain *space = search->space;
    memcpy(lower, search->lower, (size_t)space->columns * sizeof *lower);
    memcpy(upper, search->upper, (size_t)space->columns * sizeof *upper);
    for (int64_t i = 0; i < space->count; i++) {
        const gram_domain_variable *v = space->variables + i;
        for (int64_t l = v->column; l < v->column + v->columns && gram_domain_is_discrete(v); l++)
            lower[l] = upper[l] = u[l];
    }
}

static gram_status climb(gram_context *context, const gram_search *search, double *work, double *u, double *value)
{
    gram_status status = GRAM_OK;
    const int64_t d = search->space->columns;
    ascent job = {context, search};
    gram_minimise_report report;
    double *lower = work, *upper = lower + d;
    set_bounds(search, u, lower, upper);
    const gram_minimise_problem problem = {.n = d,
                                           .lower = lower,
                                           .upper = upper,
                                           .evaluations = EVALUATIONS,
                                           .tolerance = 1e-6,
                                           .promise = 1e-7,
                                           .first_step = 0.02,
                                           .longest_step = 0.3,
                                           .evaluate = evaluate,
                                           .argument = &job};
    TRY(gram_minimise_limited(context, &problem, u, &report));
    *value = -report.value;
done:
    return status;
}

/* ---- points to start from ---- */

static void into_box(const gram_search *search, double *u)
{
    for (int64_t l = 0; l < search->space->columns; l++) u[l] = fmin(fmax(u[l], search->lower[l]), search->upper[l]);
    gram_domain_snap(search->space, u);
}

/* One point about the best: every column moves with a probability, by a normal step of one of SCALES sizes. */
static void move_near(const gram_search *search, int64_t number, double *work, double *u)
{
    const int64_t d = search->space->columns;
    const double size = 0.3 * pow(0.2, (double)(number % SCALES));
    const double share = number % 2 ? 1 : fmax(fmin(1, 3.0 / (double)d), 0.1);
    const uint64_t stream = search->which * NEAR + (uint64_t)number;
    gram_random_normal((gram_random){search->seed, NEARBY + stream}, 0, d, work);
    gram_random_uniform((gram_random){search->seed, SHARE + stream}, 0, d, work + d);
    memcpy(u, search->centre, (size_t)d * sizeof *u);
    for (int64_t l = 0; l < d; l++)
        if (work[d + l] < share) u[l] += size * work[l] * (search->upper[l] - search->lower[l]);
    into_box(search, u);
}

/* SPREAD + NEAR points; returns how many there are. */
static gram_status make_starts(gram_context *context, const gram_search *search, double *work, double *points,
                               int64_t *count)
{
    gram_status status = GRAM_OK;
    const int64_t d = search->space->columns;
    TRY(gram_domain_design(context, search->space, search->seed, search->which + 1, SPREAD, 1, points));
    for (int64_t i = 0; i < SPREAD; i++) {
        double *u = points + i * d;
        for (int64_t l = 0; l < d; l++) u[l] = search->lower[l] + u[l] * (search->upper[l] - search->lower[l]);
        gram_domain_snap(search->space, u);
    }
    *count = SPREAD;
    if (!search->centre) goto done;
    for (int64_t i = 0; i < NEAR; i++) move_near(search, i, work, points + (SPREAD + i) * d);
    *count = SPREAD + NEAR;
done:
    return status;
}

static int is_apart(int64_t d, const double *u, int64_t count, const double *chosen)
{
    for (int64_t i = 0; i < count; i++) {
        double sum = 0;
        for (int64_t l = 0; l < d; l++) sum += (u[l] - chosen[i * d + l]) * (u[l] - chosen[i * d + l]);
        if (sum < APART * APART * (double)d) return 0;
    }
    return 1;
}

/* The best points that are apart from each other. values is spoilt. */
static int64_t choose_starts(int64_t d, int64_t count, const double *points, double *values, double *chosen)
{
    int64_t found = 0;
    for (;;) {
        int64_t best = -1;
        for (int64_t i = 0; i < count; i++)
            if (values[i] > -INFINITY && (best < 0 || values[i] > values[best])) best = i;
        if (best < 0 || found == STARTS) return found;
        if (is_apart(d, points + best * d, found, chosen))
            memcpy(chosen + found++ * d, points + best * d, (size_t)d * sizeof *chosen);
        values[best] = -INFINITY;
    }
}

/* ---- discrete variables ---- */

/* Values of one variable near the one that u has; returns how many. */
static int64_t near_values(const gram_domain_variable *v, const double *u, int64_t *out, int64_t most)
{
    const int64_t now = gram_domain_index(v, u), values = gram_domain_values(v);
    int64_t count = 0;
    if (v->kind == GRAM_VARIABLE_CATEGORY || values <= 16) {
        for (int64_t i = 0; i < values && count < most; i++)
            if (i != now) out[count++] = i;
        return count;
    }
    for (int64_t step = 1; step < values && count + 1 < most; step *= 2) {
        if (now - step >= 0) out[count++] = now - step;
        if (now + step < values) out[count++] = now + step;
    }
    return count;
}

/* The best neighbour of u that is better than value, which u becomes; *moved tells. */
static gram_status move_discrete(gram_context *context, const gram_search *search, double *u, double *value, int *moved)
{
    enum { MOST = 1024 };
    gram_status status = GRAM_OK;
    const gram_domain *space = search->space;
    const int64_t d = space->columns;
    double *points = NULL, *values = NULL;
    int64_t count = 0, *near = NULL;
    *moved = 0;
    TRY(gram_take(context, "study: neighbours", MOST * (d + 1), sizeof *points, (void **)&points));
    TRY(gram_take(context, "study: neighbours", MOST, sizeof *near, (void **)&near));
    values = points + MOST * d;
    for (int64_t i = 0; i < space->count && count < MOST; i++) {
        const gram_domain_variable *v = space->variables + i;
        if (!gram_domain_is_discrete(v)) continue;
        const int64_t found = near_values(v, u, near, MOST - count);
        for (int64_t k = 0; k < found; k++, count++) {
            memcpy(points + count * d, u, (size_t)d * sizeof *u);
            gram_domain_set_index(v, near[k], points + count * d);
        }
    }
    if (count == 0) goto done;
    TRY(gram_acquisition_values(context, search->acquisition, count, points, values));
    for (int64_t i = 0; i < count; i++)
        if (values[i] > *value + 1e-9) {
            *value = values[i];
            memcpy(u, points + i * d, (size_t)d * sizeof *u);
            *moved = 1;
        }
done:
    gram_give(context, points);
    gram_give(context, near);
    return status;
}

/* From one start to the top of its hill. */
static gram_status refine(gram_context *context, const gram_search *search, double *work, double *u, double *value)
{
    gram_status status = GRAM_OK;
    int moved = 1;
    for (int round = 0; moved && round < ROUNDS; round++) {
        TRY(climb(context, search, work, u, value));
        moved = 0;
        if (search->space->discrete) TRY(move_discrete(context, search, u, value, &moved));
    }
done:
    return status;
}

gram_status gram_search_box(gram_context *context, const gram_search *search, double *u, double *value)
{
    gram_status status = GRAM_OK;
    const int64_t d = search->space->columns, most = SPREAD + NEAR;
    double *points = NULL, *values, *chosen, *work;
    int64_t count;
    TRY(gram_take(context, "study: starts", most * (d + 1) + (STARTS + 2) * d, sizeof *points, (void **)&points));
    values = points + most * d;
    chosen = values + most;
    work = chosen + STARTS * d;
    TRY(make_starts(context, search, work, points, &count));
    TRY(gram_acquisition_values(context, search->acquisition, count, points, values));
    const int64_t starts = choose_starts(d, count, points, values, chosen);
    *value = -INFINITY;
    memcpy(u, starts ? chosen : points, (size_t)d * sizeof *u);
    for (int64_t i = 0; i < starts; i++) {
        double found;
        TRY(refine(context, search, work, chosen + i * d, &found));
        if (found > *value) memcpy(u, chosen + i * d, (size_t)d * sizeof *u);
        *value = fmax(*value, found);
    }
done:
    gram_give(context, points);
    return status;
}

gram_status gram_search_rows(gram_context *context, const gram_search *search, int64_t count, const double *rows,
                             const unsigned char *taken, int64_t *best, double *value)
{
    gram_status status = GRAM_OK;
    double *values = NULL;
    *best = -1;
    TRY(gram_take(context, "study: candidates", count, sizeof *values, (void **)&values));
    TRY(gram_acquisition_values(context, search->acquisition, count, rows, values));
    for (int64_t i = 0; i < count; i++)
        if (!taken[i] && (*best < 0 || values[i] > values[*best])) *best = i;
    if (*best >= 0) *value = values[*best];
done:
    gram_give(context, values);
    return status;
}
