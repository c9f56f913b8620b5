/* Where to start, and the search without gradients.
 *
 * Starts: a coarse grid on the smallest sample, a common factor on all length-scales against the noise. Its local minima
 * are where different explanations of the data begin (short lengths and little noise, long lengths and much of it), so
 * that each of them is worth a descent. A valley of long lengths and very little noise often hides the others; then the
 * best points that are far from all starts so far come next, in noise or in length.
 *
 * Small samples hide more: a wrong minimum is as deep as the right one, and a descent costs next to nothing. They get more
 * starts (EXTRA, falling as the cube of the rows grows), and with one length-scale per column those are not around the
 * isotropic optimum, which may be a poor place: lengths of about one deviation of each column and moderate noise, long
 * lengths with a large amplitude (where an rbf is a polynomial), and then lengths drawn at random. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/random.h>

#include "base/ranks/collective.h"
#include "tune/gradient_search.h"

enum { STEPS = 3, MOST_FACTORS = 13, NOISES = 7, FAR = 2, MAX_VARIABLES = 4 }; /* STEPS for a decade */
enum { RANDOM_STREAM = 0x73746172 /* "star" */ };

/* So many more starts up to so many rows. Of still fewer rows one length-scale per column gets as many as take the same time, up to
 * MOST_EXTRA: where there is next to nothing to find, the likelihood has dozens of minima. */
enum { EXTRA = 8, EXTRA_ROWS = 200, MOST_EXTRA = 32 };

/* They are given up after so many evaluations if they are so far, in log likelihood of all rows, above the best. */
enum { FIRST_STEPS = 12 };
static const double HOPELESS = 10;

/* The range of a grid of the caller's, within the search range: a hundredth to ten extents of a length, 1e-8 to 10 of the
 * mean diagonal for the noise, a factor of 100 for other positive numbers. */
static const double GRID_SHORTEST = 0.01, GRID_LONGEST = 10, GRID_LEAST_NOISE = 1e-8, GRID_MOST_NOISE = 10,
                    GRID_WIDTH = 100;

/* ---- starts ---- */

typedef struct starts {
    int factors, noises; /* 1: there is no length (or amplitude), or the noise is kept */
    int amplitudes;      /* factors are on amplitudes */
    double objective[MOST_FACTORS * NOISES];
    unsigned char taken[MOST_FACTORS * NOISES];
} starts;

/* Decades below 1. */
static int shorter_of(const gram_tuning *t, const gram_candidate *c)
{
    return c->hold ? 1 : t->shorter;
}

static int factors_of(const gram_tuning *t, const gram_candidate *c)
{
    const int factors = 1 + STEPS * (shorter_of(t, c) + (c->hold ? 1 : t->longer));
    return factors < MOST_FACTORS ? factors : MOST_FACTORS;
}

/* Is there a free number of this kind? */
static int has(const gram_space *space, const unsigned char *kind)
{
    for (int64_t i = 0; i < space->count; i++)
        if (kind[space->index[i]]) return 1;
    return 0;
}

/* Lengths times 10^(-shorter .. longer), or where none is free amplitudes times the cube of that; noise 10^(0 .. -6) of its
 * unit */
static void grid_point(const gram_tuning *t, const gram_candidate *c, const starts *s, int which, double *point)
{
    const gram_space *space = &c->space;
    const double decades = (double)(which / s->noises) / STEPS - shorter_of(t, c);
    const double factor = s->factors == 1 ? 1 : pow(10, decades);
    gram_candidate_copy(c, c->point, point);
    for (int64_t i = 0; i < space->count; i++) {
        const int64_t index = space->index[i];
        if (space->is_length[index]) point[index] *= factor;
        if (s->amplitudes && space->is_amplitude[index]) point[index] *= factor * factor * factor;
    }
    if (s->noises > 1) point[space->parameters] = t->noise_unit * pow(10, -(which % s->noises));
}

/* Do ranks take some of the starts each? Of samples so large that one process may not hold them, every evaluation is all ranks' instead. */
static int spreads(const gram_tuning *t)
{
    enum { MOST_ROWS = 5000 };
    return gram_ranks(t->context) > 1 && t->levels[0].sample.n <= MOST_ROWS;
}

/* The points of the grid dealt out to the ranks. */
static gram_status spread_grid(gram_tuning *t, gram_candidate *c, starts *s)
{
    gram_status status = GRAM_OK;
    const int64_t before = t->evaluations;
    const int count = s->factors * s->noises, ranks = gram_ranks(t->context), rank = gram_rank(t->context);
    gram_ranks_part_ways(t->context);
    for (int i = rank; i < count && status >= 0; i += ranks) {
        double value;
        grid_point(t, c, s, i, c->trial);
        status = gram_candidate_try(t, c, 0, &value, &s->objective[i]);
    }
    gram_ranks_join(t->context);
    TRY(gram_ranks_agree(t->context, status));
    TRY(gram_ranks_gather_dealt(t->context, "tuning", count, 1, s->objective));
    double evaluations = (double)(t->evaluations - before);
    TRY(gram_ranks_sum(t->context, "tuning", 1, &evaluations));
    t->evaluations = before + (int64_t)evaluations;
    gram_ranks_note(t->context, "starts", 0);
done:
    return status;
}

static gram_status fill_starts(gram_tuning *t, gram_candidate *c, starts *s)
{
    gram_status status = GRAM_OK;
    const int lengths = has(&c->space, c->space.is_length);
    *s = (starts){.factors = 1, .noises = t->noise.fixed ? 1 : t->noise_starts ? t->noise_starts : NOISES};
    s->amplitudes = !lengths && has(&c->space, c->space.is_amplitude);
    if (lengths || s->amplitudes) s->factors = factors_of(t, c);
    if (spreads(t)) return spread_grid(t, c, s);
    for (int i = 0; i < s->factors * s->noises; i++) {
        double value;
        grid_point(t, c, s, i, c->trial);
        TRY(gram_candidate_try(t, c, 0, &value, &s->objective[i]));
    }
done:
    return status;
}

/* Is no neighbour on the grid lower? */
static int is_minimum(const starts *s, int which)
{
    const int i = which / s->noises, j = which % s->noises;
    for (int a = i - 1; a <= i + 1; a++)
        for (int b = j - 1; b <= j + 1; b++)
            if (a >= 0 && a < s->factors && b >= 0 && b < s->noises &&
                s->objective[a * s->noises + b] < s->objective[which])
                return 0;
    return isfinite(s->objective[which]);
}

/* Is the noise of this point far from that of every start so far, or unless `noise_only` its length? */
static int is_far(const starts *s, int which, int noise_only)
{
    for (int i = 0; i < s->factors * s->noises; i++)
        if (s->taken[i] && abs(i % s->noises - which % s->noises) < FAR &&
            (noise_only || abs(i / s->noises - which / s->noises) < FAR))
            return 0;
    return 1;
}

/* The lowest local minimum that was not taken before, else the lowest point of another noise, else the lowest of another
 * length; -1 if there is none. */
static int take_start(starts *s)
{
    enum { MINIMA, OTHER_NOISE, OTHER_LENGTH, KINDS };
    int best = -1;
    for (int kind = MINIMA; kind < KINDS && best < 0; kind++)
        for (int i = 0; i < s->factors * s->noises; i++) {
            const int usable = kind == MINIMA ? !s->taken[i] && is_minimum(s, i)
                                              : isfinite(s->objective[i]) && is_far(s, i, kind == OTHER_NOISE);
            if (usable && (best < 0 || s->objective[i] < s->objective[best])) best = i;
        }
    if (best >= 0) s->taken[best] = 1;
    return best;
}

/* The lowest end of descents so far, with what was learnt of the Hessian there. */
typedef struct lowest_end {
    double *point, *inverse;
    double objective;
    int inverse_known;
} lowest_end;

static void copy_inverse(const gram_candidate *c, const double *from, double *to)
{
    memcpy(to, from, (size_t)(c->space.count * c->space.count) * sizeof *to);
}

static void keep_end(const gram_candidate *c, lowest_end *best)
{
    best->objective = c->objective;
    best->inverse_known = c->inverse_known;
    gram_candidate_copy(c, c->point, best->point);
    copy_inverse(c, c->inverse, best->inverse);
}

static void go_to_end(gram_candidate *c, const lowest_end *best)
{
    gram_candidate_copy(c, best->point, c->point);
    c->objective = best->objective;
    c->inverse_known = best->inverse_known;
    if (best->inverse_known) copy_inverse(c, best->inverse, c->inverse);
}

/* Descends from c->point. */
static gram_status try_start(gram_tuning *t, gram_candidate *c, int64_t limit, lowest_end *best)
{
    gram_status status = GRAM_OK;
    c->inverse_known = 0;
    TRY(gram_candidate_descend(t, c, 0, limit));
    if (c->objective < best->objective) keep_end(c, best);
done:
    return status;
}

/* ---- more starts for small samples ---- */

/* Descends from c->point, but not to the end where the first steps leave it hopelessly above the best. */
static gram_status try_extra(gram_tuning *t, gram_candidate *c, int64_t limit, lowest_end *best)
{
    gram_status status = GRAM_OK;
    const double hopeless = HOPELESS / (double)t->levels[0].sample.n;
    c->inverse_known = 0;
    TRY(gram_candidate_descend(t, c, 0, FIRST_STEPS));
    if (c->objective > best->objective + hopeless) goto done;
    TRY(gram_candidate_descend(t, c, 0, limit));
    if (c->objective < best->objective) keep_end(c, best);
done:
    return status;
}

/* A fixed amount of work, `most` of them at most, one from twice EXTRA_ROWS on, and none where there are samples to climb: what a
 * few hundred rows of many say wrongly, the others put right. */
static int64_t extra_starts(const gram_tuning *t, int most)
{
    const double share = EXTRA_ROWS / (double)t->levels[0].sample.n;
    if (!t->more_starts || t->last > 0) return 0;
    return (int64_t)fmin(most, fmax(1, EXTRA * share * share * share));
}

/* Lengths in ranges of their columns (a fifth is about a deviation), amplitudes as multiples of where they would start, noise
 * in its unit. */
typedef struct plain_start {
    double length, amplitude, noise;
} plain_start;

static const plain_start PLAIN[] = {{0.2, 1, 1e-1}, {0.2, 1, 1e-3}, {0.6, 1, 1e-1}, {5, 1e4, 1e-3}, {20, 1e6, 1e-4}};
enum { PLAIN_COUNT = sizeof PLAIN / sizeof *PLAIN };

/* The numbers of the kernel before anything was searched, with as many lengths as the candidate has. */
static gram_status start_values(gram_tuning *t, const gram_candidate *c, double *point)
{
    gram_status status = GRAM_OK;
    gram_kernel *ard = NULL;
    gram_parameter parameter;
    TRY(gram_kernel_with_ard(t->context, t->start, t->given.x->d, &ard));
    for (int64_t i = 0; i < c->space.parameters; i++) {
        TRY(gram_kernel_parameter_get(t->context, ard, i, &parameter));
        point[i] = parameter.value;
    }
done:
    gram_kernel_release(ard);
    return status;
}

/* Number k of them, to c->point: the first are plain, the others random: lengths from 1/50 to 5 ranges, noise from 1 to
 * 1e-4. */
static gram_status extra_start(gram_tuning *t, gram_candidate *c, int64_t k)
{
    gram_status status = GRAM_OK;
    const gram_space *space = &c->space;
    const gram_random random = {t->context->seed, RANDOM_STREAM};
    const plain_start plain = PLAIN[k % PLAIN_COUNT];
    TRY(start_values(t, c, c->point));
    for (int64_t i = 0; i < space->count; i++) {
        const int64_t index = space->index[i];
        double u;
        gram_random_uniform(random, (uint64_t)(k * space->count + i), 1, &u);
        if (index == space->parameters)
            c->point[index] = t->noise_unit * (k < PLAIN_COUNT ? plain.noise : pow(10, -4 * u));
        else if (space->is_length[index] && !isnan(space->extent[index]))
            c->point[index] = space->extent[index] * (k < PLAIN_COUNT ? plain.length : 0.02 * pow(250, u));
        else if (space->is_amplitude[index] && k < PLAIN_COUNT)
            c->point[index] *= plain.amplitude;
    }
done:
    return status;
}

/* ---- descents by several processes ---- */

/* What a rank tells of the end of a descent: objective, whether the Hessian is known, evaluations, the point and the inverse. */
enum { END_OBJECTIVE, END_KNOWN, END_EVALUATIONS, END_POINT };

static int64_t end_size(const gram_candidate *c)
{
    return END_POINT + c->space.parameters + 1 + c->space.count * c->space.count;
}

static void write_end(const gram_candidate *c, int64_t evaluations, double *end)
{
    end[END_OBJECTIVE] = c->objective;
    end[END_KNOWN] = c->inverse_known;
    end[END_EVALUATIONS] = (double)evaluations;
    gram_candidate_copy(c, c->point, end + END_POINT);
    copy_inverse(c, c->inverse, end + END_POINT + c->space.parameters + 1);
}

/* In the order of the starts, as one process would have met them. */
static void take_end(gram_tuning *t, const gram_candidate *c, const double *end, lowest_end *best)
{
    t->evaluations += (int64_t)end[END_EVALUATIONS];
    if (!(end[END_OBJECTIVE] < best->objective)) return;
    best->objective = end[END_OBJECTIVE];
    best->inverse_known = end[END_KNOWN] != 0;
    gram_candidate_copy(c, end + END_POINT, best->point);
    copy_inverse(c, end + END_POINT + c->space.parameters + 1, best->inverse);
}

/* Descends from `count` points, dealt out to the ranks. */
static gram_status spread_descents(gram_tuning *t, gram_candidate *c, int64_t count, const double *points,
                                   int64_t limit, lowest_end *best)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = c->space.parameters + 1, size = end_size(c), ranks = gram_ranks(t->context),
                  before = t->evaluations;
    double *ends = NULL;
    TRY(gram_take(t->context, "tuning: starts", count * size, sizeof *ends, (void **)&ends));
    gram_ranks_part_ways(t->context);
    for (int64_t k = gram_rank(t->context); k < count && status >= 0; k += ranks) {
        const int64_t so_far = t->evaluations;
        gram_candidate_copy(c, points + k * numbers, c->point);
        c->inverse_known = 0;
        status = gram_candidate_descend(t, c, 0, limit);
        write_end(c, t->evaluations - so_far, ends + k * size);
    }
    gram_ranks_join(t->context);
    TRY(gram_ranks_agree(t->context, status));
    TRY(gram_ranks_gather_dealt(t->context, "tuning", count, size, ends));
    t->evaluations = before;
    for (int64_t k = 0; k < count; k++) take_end(t, c, ends + k * size, best);
    gram_ranks_note(t->context, "starts", 0);
done:
    gram_give(t->context, ends);
    return status;
}

/* The first `few` of try_starts; *first: from which the others go on. */
static gram_status spread_starts(gram_tuning *t, gram_candidate *c, starts *s, int64_t few, int from_point,
                                 int64_t limit, lowest_end *best, const double *origin)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = c->space.parameters + 1;
    double *points = NULL;
    int64_t count = 0;
    TRY(gram_take(t->context, "tuning: starts", few + 1, (size_t)numbers * sizeof *points, (void **)&points));
    if (from_point) gram_candidate_copy(c, origin, points + numbers * count++);
    for (int64_t k = from_point ? 1 : 0; k < few; k++) {
        const int start = take_start(s);
        if (start < 0) break;
        gram_candidate_copy(c, origin, c->point);
        grid_point(t, c, s, start, points + numbers * count++);
    }
    TRY(spread_descents(t, c, count, points, limit, best));
done:
    gram_give(t->context, points);
    return status;
}

/* ---- all of them ---- */

static gram_status try_starts(gram_tuning *t, gram_candidate *c, int from_point, int64_t limit, lowest_end *best,
                              double *origin)
{
    gram_status status = GRAM_OK;
    starts s;
    const int64_t extra = extra_starts(t, c->hold ? MOST_EXTRA : EXTRA);
    const int64_t few = c->hold && t->ard_restarts ? t->ard_restarts : t->restarts;
    const int64_t restarts = few + (c->hold ? 0 : extra);
    gram_candidate_copy(c, c->point, origin);
    gram_candidate_copy(c, c->point, best->point);
    TRY(fill_starts(t, c, &s));
    if (spreads(t)) TRY(spread_starts(t, c, &s, few, from_point, limit, best, origin));
    if (from_point && !spreads(t)) TRY(try_start(t, c, limit, best));
    for (int64_t k = spreads(t) ? few : from_point ? 1 : 0; k < restarts; k++) {
        const int start = take_start(&s);
        if (start < 0) break;
        gram_candidate_copy(c, origin, c->point);
        grid_point(t, c, &s, start, c->trial);
        gram_candidate_copy(c, c->trial, c->point);
        TRY(k < few ? try_start(t, c, limit, best) : try_extra(t, c, limit, best));
    }
    for (int64_t k = 0; k < (c->hold ? extra : extra / 2) && 3 * t->evaluations < 2 * t->evaluations_limit; k++) {
        const int whole =
            extra >= EXTRA && k < PLAIN_COUNT; /* with little noise the way down from long lengths is long */
        TRY(extra_start(t, c, k));
        TRY(whole ? try_start(t, c, limit, best) : try_extra(t, c, limit, best));
    }
done:
    return status;
}

gram_status gram_tuning_search_starts(gram_tuning *t, gram_candidate *c, int from_point, int64_t limit)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = c->space.parameters + 1, total = 2 * numbers + c->space.count * c->space.count;
    double *kept = NULL;
    TRY(gram_take(t->context, "tuning: starts", total, sizeof(double), (void **)&kept));
    lowest_end best = {.point = kept, .inverse = kept + 2 * numbers, .objective = INFINITY};
    TRY(try_starts(t, c, from_point, limit, &best, kept + numbers));
    go_to_end(c, &best);
    if (t->refine && isfinite(best.objective)) TRY(gram_candidate_refine(t, c, 0, limit));
done:
    gram_give(t->context, kept);
    return status;
}

gram_status gram_tuning_search_also(gram_tuning *t, gram_candidate *c, int which, int64_t limit)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = c->space.parameters + 1, total = numbers + c->space.count * c->space.count;
    const double value = c->value;
    double *kept = NULL;
    TRY(gram_take(t->context, "tuning: starts", total, sizeof(double), (void **)&kept));
    lowest_end best = {.point = kept, .inverse = kept + numbers};
    keep_end(c, &best);
    gram_candidate_copy(c, c->trial, c->point);
    c->inverse_known = 0;
    TRY(gram_candidate_descend(t, c, which, limit));
    if (t->refine && !gram_tuning_follows(t)) TRY(gram_candidate_refine(t, c, which, limit));
    if (c->objective < best.objective) goto done;
    go_to_end(c, &best);
    c->value = value;
done:
    gram_give(t->context, kept);
    return status;
}

/* ---- a grid of the caller's ---- */

/* Value number i of count, evenly between the ends */
static double spaced(double lower, double upper, int64_t i, int64_t count)
{
    return count == 1 ? 0.5 * (lower + upper) : lower + (upper - lower) * (double)i / (double)(count - 1);
}

/* The range of one variable on the search scale. */
static void grid_range(const gram_tuning *t, const gram_candidate *c, int64_t variable, double *lower, double *upper)
{
    const gram_space *space = &c->space;
    const int64_t index = space->index[variable];
    *lower = space->lower[variable];
    *upper = space->upper[variable];
    if (!space->is_log[variable]) return;
    double low = c->point[index] / GRID_WIDTH, high = c->point[index] * GRID_WIDTH;
    if (index == space->parameters) {
        low = GRID_LEAST_NOISE * t->noise_unit;
        high = GRID_MOST_NOISE * t->noise_unit;
    } else if (!isnan(space->extent[index])) {
        low = GRID_SHORTEST * space->extent[index];
        high = GRID_LONGEST * space->extent[index];
    }
    *lower = fmax(*lower, log(low));
    *upper = fmin(*upper, log(high));
}

/* Sets the trial point to number `which` of the grid. */
static void set_grid_point(const gram_tuning *t, gram_candidate *c, int64_t which)
{
    const int64_t values = t->grid;
    gram_space_to_variables(&c->space, c->point, c->variables);
    for (int64_t i = c->space.count - 1; i >= 0; i--) {
        double lower, upper;
        grid_range(t, c, i, &lower, &upper);
        c->variables[i] = spaced(lower, upper, which % values, values);
        which /= values;
    }
    gram_candidate_copy(c, c->point, c->trial);
    gram_space_to_point(&c->space, c->variables, c->trial);
}

gram_status gram_tuning_search_grid(gram_tuning *t, gram_candidate *c)
{
    gram_status status = GRAM_OK;
    int64_t points = 1, best = -1;
    double lowest = INFINITY, value, objective;
    FAIL_IF(c->space.count > MAX_VARIABLES, t->context, GRAM_ERROR_ARGUMENT,
            "%s: a grid over %lld free numbers, need at most %d with lambda; fix some with `!`", t->method->name,
            (long long)c->space.count, MAX_VARIABLES);
    for (int64_t i = 0; i < c->space.count; i++) points *= t->grid;
    t->expected = 0.5 * (double)points * pow((double)t->levels[t->last].sample.n, 3);
    for (int64_t i = 0; i < points; i++) {
        set_grid_point(t, c, i);
        TRY(gram_candidate_try(t, c, t->last, &value, &objective));
        t->evaluations++;
        if (objective >= lowest) continue;
        lowest = objective;
        best = i;
        c->value = value;
    }
    FAIL_IF(best < 0, t->context, GRAM_ERROR_NUMERICAL, "%s: the criterion has no value on the whole grid",
            t->method->name);
    set_grid_point(t, c, best);
    gram_candidate_copy(c, c->trial, c->point);
    c->objective = lowest;
done:
    return status;
}
