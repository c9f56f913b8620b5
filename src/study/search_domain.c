/* Variables, their encoding and Latin hypercubes: see the header. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/random.h>

#include "base/text/number.h"
#include "study/search_domain.h"

enum { MOST_VARIABLES = 1000, MOST_LEVELS = 1000 };
static const double MOST_INTEGER = 9007199254740992.0;                     /* 2^53 */
static const uint64_t DESIGN = 0x64657369676e00U, ORDER = 0x6f7264657200U; /* names of uses of the seed */

/* ---- making ---- */

static gram_status keep_text(gram_context *context, gram_domain *space, const char *text, const char **out)
{
    gram_status status = GRAM_OK;
    const size_t length = strlen(text) + 1;
    char *copy;
    TRY(gram_arena_take(context, &space->arena, "study: names", (int64_t)length, 1, (void **)&copy));
    memcpy(copy, text, length);
    *out = copy;
done:
    return status;
}

static gram_status check_range(gram_context *context, const char *name, const gram_variable *v)
{
    gram_status status = GRAM_OK;
    char low[GRAM_NUMBER_SIZE], high[GRAM_NUMBER_SIZE];
    gram_number_format(v->lower, low);
    gram_number_format(v->upper, high);
    FAIL_IF(!isfinite(v->lower) || !isfinite(v->upper) || !isfinite(v->upper - v->lower), context, GRAM_ERROR_ARGUMENT,
            "%s: variable '%s' is between %s and %s: bounds must be finite", name, v->name, low, high);
    FAIL_IF(v->lower > v->upper, context, GRAM_ERROR_ARGUMENT,
            "%s: variable '%s': lower bound %s is above upper bound %s", name, v->name, low, high);
    FAIL_IF(v->lower == v->upper && v->kind != GRAM_VARIABLE_INTEGER, context, GRAM_ERROR_ARGUMENT,
            "%s: variable '%s': both bounds are %s, nothing can vary", name, v->name, low);
    FAIL_IF(v->kind == GRAM_VARIABLE_LOG && v->lower <= 0, context, GRAM_ERROR_ARGUMENT,
            "%s: variable '%s' has a log scale, but its lower bound %s is not positive", name, v->name, low);
    if (v->kind != GRAM_VARIABLE_INTEGER) goto done;
    FAIL_IF(v->lower != rint(v->lower) || v->upper != rint(v->upper), context, GRAM_ERROR_ARGUMENT,
            "%s: variable '%s' takes whole numbers, but its bounds are %s and %s", name, v->name, low, high);
    FAIL_IF(fabs(v->lower) > MOST_INTEGER || fabs(v->upper) > MOST_INTEGER, context, GRAM_ERROR_ARGUMENT,
            "%s: variable '%s': whole numbers between %s and %s are too large", name, v->name, low, high);
done:
    return status;
}

static gram_status check_levels(gram_context *context, const char *name, const gram_variable *v)
{
    gram_status status = GRAM_OK;
    FAIL_IF(v->level_count < 2 || v->level_count > MOST_LEVELS || !v->levels, context, GRAM_ERROR_ARGUMENT,
            "%s: variable '%s' has %lld levels, need 2 to %d", name, v->name, (long long)v->level_count,
            (int)MOST_LEVELS);
    for (int64_t i = 0; i < v->level_count; i++) {
        FAIL_IF(!v->levels[i] || !*v->levels[i], context, GRAM_ERROR_ARGUMENT,
                "%s: level %lld of variable '%s' is empty", name, (long long)i + 1, v->name);
        for (int64_t j = 0; j < i; j++)
            FAIL_IF(strcmp(v->levels[i], v->levels[j]) == 0, context, GRAM_ERROR_ARGUMENT,
                    "%s: variable '%s' has the level '%s' twice", name, v->name, v->levels[i]);
    }
done:
    return status;
}

static gram_status check_variable(gram_context *context, const char *name, const gram_variable *variables, int64_t at)
{
    gram_status status = GRAM_OK;
    const gram_variable *v = variables + at;
    FAIL_IF(!v->name || !*v->name, context, GRAM_ERROR_ARGUMENT, "%s: variable %lld has no name", name,
            (long long)at + 1);
    for (int64_t i = 0; i < at; i++)
        FAIL_IF(strcmp(variables[i].name, v->name) == 0, context, GRAM_ERROR_ARGUMENT,
                "%s: two variables are named '%s'", name, v->name);
    FAIL_IF((int)v->kind < GRAM_VARIABLE_REAL || v->kind > GRAM_VARIABLE_CATEGORY, context, GRAM_ERROR_ARGUMENT,
            "%s: variable '%s' is of kind %d, which there is not", name, v->name, (int)v->kind);
    if (v->kind == GRAM_VARIABLE_CATEGORY)
        TRY(check_levels(context, name, v));
    else
        TRY(check_range(context, name, v));
done:
    return status;
}

static gram_status keep_variable(gram_context *context, gram_domain *space, const gram_variable *given,
                                 gram_domain_variable *v)
{
    gram_status status = GRAM_OK;
    v->kind = given->kind;
    v->lower = given->lower;
    v->upper = given->upper;
    v->column = space->columns;
    v->columns = 1;
    TRY(keep_text(context, space, given->name, &v->name));
    if (v->kind == GRAM_VARIABLE_CATEGORY) {
        v->lower = 0;
        v->upper = (double)(given->level_count - 1);
        v->level_count = given->level_count;
        v->columns = given->level_count > 2 ? given->level_count : 1;
        TRY(gram_arena_take(context, &space->arena, "study: levels", v->level_count, sizeof *v->levels,
                            (void **)&v->levels));
        for (int64_t i = 0; i < v->level_count; i++) TRY(keep_text(context, space, given->levels[i], v->levels + i));
    }
    space->columns += v->columns;
    space->discrete |= gram_domain_is_discrete(v);
done:
    return status;
}

gram_status gram_domain_make(gram_context *context, const char *name, int64_t count, const gram_variable *variables,
                             gram_domain *space)
{
    gram_status status = GRAM_OK;
    gram_arena_init(&space->arena, context->memory);
    FAIL_IF(count < 1 || count > MOST_VARIABLES, context, GRAM_ERROR_ARGUMENT, "%s: %lld variables, need 1 to %d", name,
            (long long)count, (int)MOST_VARIABLES);
    FAIL_IF(!variables, context, GRAM_ERROR_ARGUMENT, "%s: variables is NULL", name);
    for (int64_t i = 0; i < count; i++) TRY(check_variable(context, name, variables, i));
    TRY(gram_arena_take(context, &space->arena, "study: variables", count, sizeof *space->variables,
                        (void **)&space->variables));
    for (int64_t i = 0; i < count; i++) TRY(keep_variable(context, space, variables + i, space->variables + i));
    space->count = count;
done:
    return status;
}

void gram_domain_free(gram_domain *space)
{
    gram_arena_release(&space->arena);
}

gram_status gram_domain_check(gram_context *context, const char *name, const gram_domain *space, const double *x)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE], low[GRAM_NUMBER_SIZE], high[GRAM_NUMBER_SIZE];
    for (int64_t i = 0; i < space->count; i++) {
        const gram_domain_variable *v = space->variables + i;
        FAIL_IF(!(x[i] >= v->lower && x[i] <= v->upper), context, GRAM_ERROR_DATA,
                "%s: %s = %s is not between %s and %s", name, v->name, gram_number_format(x[i], shown),
                gram_number_format(v->lower, low), gram_number_format(v->upper, high));
        FAIL_IF(gram_domain_is_discrete(v) && x[i] != rint(x[i]), context, GRAM_ERROR_DATA,
                "%s: %s = %s is not a whole number", name, v->name, gram_number_format(x[i], shown));
    }
done:
    return status;
}

/* ---- the cube ---- */

static double share_of(const gram_domain_variable *v, double x)
{
    if (v->lower == v->upper) return 0;
    const double share = v->kind == GRAM_VARIABLE_LOG ? log(x / v->lower) / log(v->upper / v->lower)
                                                      : (x - v->lower) / (v->upper - v->lower);
    return fmin(fmax(share, 0), 1);
}

static double value_of(const gram_domain_variable *v, double share)
{
    double x = v->lower + share * (v->upper - v->lower);
    if (v->kind == GRAM_VARIABLE_LOG) x = v->lower * exp(share * log(v->upper / v->lower));
    return fmin(fmax(x, v->lower), v->upper);
}

int64_t gram_domain_values(const gram_domain_variable *v)
{
    return (int64_t)(v->upper - v->lower) + 1;
}

int64_t gram_domain_index(const gram_domain_variable *v, const double *u)
{
    const double *own = u + v->column;
    int64_t best = 0;
    if (v->columns == 1) return (int64_t)rint(own[0] * (v->upper - v->lower));
    for (int64_t i = 1; i < v->columns; i++)
        if (own[i] > own[best]) best = i;
    return best;
}

void gram_domain_set_index(const gram_domain_variable *v, int64_t index, double *u)
{
    double *own = u + v->column;
    if (v->columns == 1) {
        own[0] = share_of(v, v->lower + (double)index);
        return;
    }
    for (int64_t i = 0; i < v->columns; i++) own[i] = i == index;
}

void gram_domain_encode(const gram_domain *space, const double *x, double *u)
{
    for (int64_t i = 0; i < space->count; i++) {
        const gram_domain_variable *v = space->variables + i;
        if (gram_domain_is_discrete(v))
            gram_domain_set_index(v, (int64_t)(x[i] - v->lower), u);
        else
            u[v->column] = share_of(v, x[i]);
    }
}

void gram_domain_decode(const gram_domain *space, const double *u, double *x)
{
    for (int64_t i = 0; i < space->count; i++) {
        const gram_domain_variable *v = space->variables + i;
        x[i] = gram_domain_is_discrete(v) ? v->lower + (double)gram_domain_index(v, u) : value_of(v, u[v->column]);
    }
}

void gram_domain_snap(const gram_domain *space, double *u)
{
    for (int64_t i = 0; i < space->count; i++) {
        const gram_domain_variable *v = space->variables + i;
        if (gram_domain_is_discrete(v)) gram_domain_set_index(v, gram_domain_index(v, u), u);
    }
}

/* ---- Latin hypercubes ---- */

/* One variable of one design: strata in a random order, a uniform place in each. */
static void fill_variable(const gram_domain *space, int64_t at, uint64_t seed, uint64_t stream, int64_t count,
                          int64_t *order, double *out)
{
    const gram_domain_variable *v = space->variables + at;
    gram_random_permutation((gram_random){seed, ORDER + stream}, 0, count, order);
    for (int64_t i = 0; i < count; i++) {
        double place;
        gram_random_uniform((gram_random){seed, DESIGN + stream}, (uint64_t)i, 1, &place);
        const double share = ((double)order[i] + place) / (double)count;
        if (gram_domain_is_discrete(v)) {
            const double values = v->upper - v->lower + 1;
            gram_domain_set_index(v, (int64_t)fmin(share * values, values - 1), out + i * space->columns);
        } else
            out[i * space->columns + v->column] = share;
    }
}

static double nearest_pair(int64_t count, int64_t columns, const double *u)
{
    double least = DBL_MAX;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < i; j++) {
            double sum = 0;
            for (int64_t l = 0; l < columns; l++) {
                const double step = u[i * columns + l] - u[j * columns + l];
                sum += step * step;
            }
            least = fmin(least, sum);
        }
    return least;
}

gram_status gram_domain_design(gram_context *context, const gram_domain *space, uint64_t seed, uint64_t which,
                               int64_t count, int tries, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t size = count * space->columns;
    double *made = NULL, best = -1;
    int64_t *order = NULL;
    TRY(gram_take(context, "study: design", size, sizeof *made, (void **)&made));
    TRY(gram_take(context, "study: design", count, sizeof *order, (void **)&order));
    for (int k = 0; k < tries; k++) {
        for (int64_t l = 0; l < space->count; l++) {
            const uint64_t stream = (which * 4096 + (uint64_t)k) * 4096 + (uint64_t)l;
            fill_variable(space, l, seed, stream, count, order, made);
        }
        const double apart = tries > 1 ? nearest_pair(count, space->columns, made) : 0;
        if (apart > best) memcpy(out, made, (size_t)size * sizeof *out);
        best = fmax(best, apart);
    }
done:
    gram_give(context, made);
    gram_give(context, order);
    return status;
}
