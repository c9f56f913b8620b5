/* Tuning: the kernel's free numbers and the noise, by minimising a criterion with its gradient.
 *
 * A criterion has several minima (everything is noise; everything is signal), and an evaluation on all rows is expensive: some
 * 2 n^3 operations. So the search climbs through samples of the rows, each within the next (search_samples.c):
 *
 *     1. On the smallest: a coarse grid, and descents from its local minima (search_starts.c).
 *     2. The best end goes through the larger samples. What is carried over is the noise (n lambda of a
 *        ridge): in the Gaussian-process reading it belongs to one observation, however many there are.
 *     3. With one length-scale per column: from the isotropic optimum and from other starts around it, through all
 *        samples again. On a small sample a column that matters little may be given up, and would not come back, because
 *        far out the derivative by its length vanishes; so before each larger sample lengths are pulled back to PULL
 *        ranges of their column.
 *
 * One length-scale per column is kept only if it lowers the criterion by more than extra numbers may do when there is
 * nothing to learn, as in Schwarz's criterion: log(n) extra/n on the log scale of an error, half
 * of it for a log likelihood. On all rows the isotropic
 * kernel is only looked at, and searched further if the comparison is not clear. */
#include <math.h>
#include <string.h>

#include "base/system/time_limit.h"
#include "kernel/kernel.h"
#include "tune/gradient_search.h"

enum { ARD_COLUMNS = 1000 };

static const double PULL = 30, SHORTER = 0.4;

/* ---- the climb ---- */

static int64_t limit_of(const gram_tuning *t, int which)
{
    const gram_tuning_limits *limits = &t->method->limits;
    if (which == t->last) return limits->last;
    return which == 0 ? limits->small : limits->medium;
}

static void pull_back(gram_candidate *c)
{
    const gram_space *space = &c->space;
    for (int64_t i = 0; i < space->count; i++) {
        const int64_t index = space->index[i];
        if (space->is_log[i] && space->is_length[index] && c->point[index] > PULL * space->extent[index])
            c->point[index] = PULL * space->extent[index];
    }
}

/* More rows may show what goes on between the rows before: once more from shorter lengths. */
static gram_status look_closer(gram_tuning *t, gram_candidate *c, int which)
{
    const gram_space *space = &c->space;
    int lengths = 0;
    gram_candidate_copy(c, c->point, c->trial);
    for (int64_t i = 0; i < space->count; i++)
        if (space->is_log[i] && space->is_length[space->index[i]]) {
            c->trial[space->index[i]] *= SHORTER;
            lengths++;
        }
    return lengths ? gram_tuning_search_also(t, c, which, limit_of(t, which)) : GRAM_OK;
}

static gram_status climb(gram_tuning *t, gram_candidate *c, int from, int to)
{
    gram_status status = GRAM_OK;
    const int guides = !c->hold && to < t->last;
    for (int which = from; which <= to; which++) {
        TRY(gram_tuning_open_level(t, which));
        if (c->hold) pull_back(c);
        TRY(gram_candidate_descend(t, c, which, guides ? t->method->limits.guide : limit_of(t, which)));
        if (which == 1 && t->second_look && !guides) TRY(look_closer(t, c, which));
    }
done:
    return status;
}

/* To the last level, with a look at where the kernel's own values lead there. */
static gram_status climb_up(gram_tuning *t, gram_candidate *c, int from)
{
    gram_status status = GRAM_OK;
    TRY(climb(t, c, from, t->last));
    if (!t->from_start || t->last == 0) goto done;
    TRY(gram_space_origin(t->context, &c->space, c->trial));
    c->trial[c->space.parameters] = t->noise_start;
    TRY(gram_tuning_search_also(t, c, t->last, t->method->limits.last));
done:
    return status;
}

/* By how much the objective must be lower to justify this many more numbers. */
static double worth(const gram_tuning *t, int64_t extra)
{
    const gram_sample *sample = &t->levels[t->last].sample;
    const double n = (double)sample->n;
    return t->worth * (double)extra * log(n) / (n * (double)sample->outputs);
}

/* From where another criterion has led. */
static gram_status search_hint(gram_tuning *t, gram_candidate *c)
{
    gram_status status = GRAM_OK;
    const int64_t parameters = c->space.parameters;
    if (!t->hint || gram_kernel_parameter_count(t->hint) != parameters) return status;
    for (int64_t i = 0; i < parameters; i++) {
        gram_parameter parameter;
        TRY(gram_kernel_parameter_get(t->context, t->hint, i, &parameter));
        c->trial[i] = parameter.value;
    }
    c->trial[parameters] = t->hint_noise;
    TRY(gram_tuning_search_also(t, c, 0, limit_of(t, 0)));
done:
    return status;
}

/* From where an earlier search ended, and if that saw more rows also from where the present one with one length-scale for all did: c is
 * there. */
static gram_status follow_several(gram_tuning *t, gram_candidate *c)
{
    gram_status status = GRAM_OK;
    double *here = NULL;
    TRY(gram_take(t->context, "tuning: starts", c->space.parameters + 1, sizeof *here, (void **)&here));
    gram_candidate_copy(c, c->point, here);
    const int leads = gram_tuning_begin_there(t, GRAM_TRAIL_SEVERAL, c);
    TRY(gram_candidate_descend(t, c, 0, limit_of(t, 0)));
    gram_candidate_copy(c, here, c->trial);
    if (leads && t->trails.from->coarse) TRY(gram_tuning_search_also(t, c, 0, limit_of(t, 0)));
done:
    gram_give(t->context, here);
    return status;
}

/* Climbs with one length-scale per column and compares on all rows; *kept says which one won. `one` ends there, too. */
static gram_status try_ard(gram_tuning *t, gram_candidate *one, gram_candidate *several, int *kept)
{
    gram_status status = GRAM_OK;
    const double needed = worth(t, several->space.count - one->space.count);
    TRY(gram_tuning_follows(t) ? follow_several(t, several) : gram_tuning_search_starts(t, several, 1, limit_of(t, 0)));
    TRY(search_hint(t, several));
    if (t->last == 0) TRY(gram_candidate_look(t, several, 0));
    TRY(climb(t, several, 1, t->last));
    if (t->last > 0) TRY(gram_candidate_look(t, one, t->last));
    if (t->last > 0 && several->objective > one->objective - needed - t->method->clear)
        TRY(climb(t, one, t->method->limits.guide > 0 ? t->last : 1, t->last));
    *kept = several->objective < one->objective - needed;
done:
    return status;
}

/* Of three levels of descents, most of the time is the last one's. */
static void expect(gram_tuning *t, int ard)
{
    t->expected = 0;
    for (int i = 0; i <= t->last; i++) {
        const double each = pow((double)t->levels[i].sample.n, t->method->cost);
        t->expected += each * (double)limit_of(t, i) * (ard ? 1.5 : 0.7);
    }
}

/* Is it wanted, and has the kernel a length for several columns? */
static gram_status wants_ard(const gram_tuning *t, const gram_kernel *kernel, int *wanted)
{
    gram_status status = GRAM_OK;
    gram_kernel *ard = NULL;
    *wanted = 0;
    if (t->ard == 0 || (t->ard < 0 && t->given.x->d > ARD_COLUMNS)) goto done;
    TRY(gram_kernel_with_ard(t->context, kernel, t->given.x->d, &ard));
    *wanted = gram_kernel_parameter_count(ard) > gram_kernel_parameter_count(kernel);
done:
    gram_kernel_release(ard);
    return status;
}

/* ---- the whole ---- */

static gram_status take_outcome(gram_tuning *t, const gram_candidate *c, gram_tuned *out)
{
    gram_kernel_release(out->kernel);
    out->kernel = NULL;
    out->noise = c->point[c->space.parameters];
    out->value = c->value;
    out->at_bound = gram_space_at_bound(&c->space, c->point);
    return gram_space_kernel(t->context, &c->space, c->point, &out->kernel);
}

/* The same at the end of all. */
static gram_status conclude(gram_tuning *t, gram_candidate *c, gram_tuned *out)
{
    const gram_status status = take_outcome(t, c, out);
    return status < 0 || !t->method->finish ? status : t->method->finish(t, c);
}

/* After the isotropic search: one length-scale per column, if that makes a difference. */
static gram_status tune_ard(gram_tuning *t, gram_candidate *one, gram_tuned *out)
{
    gram_status status = GRAM_OK;
    gram_kernel *ard = NULL;
    gram_candidate several = {.numbers = NULL};
    int kept = 0;
    TRY(gram_kernel_with_ard(t->context, out->kernel, t->given.x->d, &ard));
    t->noise_start = out->noise;
    TRY(gram_candidate_make(t, ard, 1, &several));
    TRY(try_ard(t, one, &several, &kept));
    TRY(gram_tuning_leave(t, GRAM_TRAIL_ONE, one));
    TRY(gram_tuning_leave(t, GRAM_TRAIL_SEVERAL, &several));
    TRY(conclude(t, kept ? &several : one, out));
    out->ard_kept = kept;
    out->value_isotropic = one->value;
done:
    gram_candidate_free(t, &several);
    gram_kernel_release(ard);
    return status;
}

/* With several lengths to come the isotropic search ends below the last level, if there is one below, or on the smallest: it
 * is a start, and a rival that is hardly ever near. */
static gram_status search(gram_tuning *t, gram_candidate *c, gram_tuned *out)
{
    gram_status status = GRAM_OK;
    int ard;
    TRY(wants_ard(t, c->space.kernel, &ard));
    expect(t, ard);
    TRY(gram_tuning_open_level(t, 0));
    TRY(gram_tuning_begin_there(t, GRAM_TRAIL_ONE, c) ? gram_candidate_descend(t, c, 0, limit_of(t, 0))
                                                      : gram_tuning_search_starts(t, c, t->from_start, limit_of(t, 0)));
    if (t->last == 0) TRY(gram_candidate_look(t, c, 0));
    if (ard && t->method->limits.guide > 0) TRY(climb(t, c, 1, t->last - 1));
    if (!ard) TRY(climb_up(t, c, 1));
    if (!ard) TRY(gram_tuning_leave(t, GRAM_TRAIL_ONE, c));
    TRY(ard ? take_outcome(t, c, out) : conclude(t, c, out));
    if (ard) TRY(tune_ard(t, c, out));
done:
    return status;
}

/* Nothing to choose by: no error to lower, or too few rows. The start is the result. */
static gram_status keep_start(gram_tuning *t, gram_candidate *c, gram_tuned *out)
{
    gram_status status = GRAM_OK;
    const int possible = t->levels[t->last].sample.n >= t->least_rows;
    if (possible) {
        TRY(gram_tuning_open_level(t, t->last));
        TRY(gram_candidate_look(t, c, t->last));
    }
    TRY(conclude(t, c, out));
done:
    return status;
}

static gram_status choose(gram_tuning *t, gram_candidate *c, gram_tuned *out)
{
    gram_status status = GRAM_OK;
    t->expected = 1;
    if (gram_tuning_is_flat(t, t->last) || c->space.count == 0 || t->levels[t->last].sample.n < t->least_rows)
        return keep_start(t, c, out);
    if (t->grid == 0) return search(t, c, out);
    TRY(gram_tuning_open_level(t, t->last));
    TRY(gram_tuning_search_grid(t, c));
    TRY(conclude(t, c, out));
done:
    return status;
}

static gram_status tune(gram_tuning *t, const gram_kernel *kernel, gram_tuned *out)
{
    gram_status status = GRAM_OK;
    gram_kernel *resolved = NULL;
    gram_candidate c = {.numbers = NULL};
    TRY(gram_tuning_make_levels(t, kernel));
    TRY(t->method->prepare(t, kernel, &resolved));
    t->start = resolved;
    TRY(gram_candidate_make(t, resolved, 0, &c));
    TRY(choose(t, &c, out));
done:
    gram_candidate_free(t, &c);
    gram_kernel_release(resolved);
    return status;
}

/* The caller hears of "tuning" as a whole, not of each matrix in it. */
static gram_status tune_quietly(gram_tuning *t, const gram_kernel *kernel, gram_tuned *out)
{
    t->progress = t->context->progress;
    t->context->progress = NULL;
    const double share = t->context->limit.share;
    t->context->limit.share = GRAM_TIME_OF_TUNING;
    const gram_status status = tune(t, kernel, out);
    t->context->limit.share = share;
    t->context->progress = t->progress;
    return status;
}

gram_status gram_tuning_run(gram_tuning *t, const gram_kernel *kernel, gram_tuned *out)
{
    gram_status status = GRAM_OK;
    *out = (gram_tuned){.value = NAN, .value_isotropic = NAN};
    TRY(gram_given_check(t->context, t->method->name, &t->given));
    TRY(gram_kernel_check_dimension(t->context, kernel, t->given.x->d));
    TRY(gram_given_rows(t->context, &t->given, &t->rows, &t->count));
    FAIL_IF(t->count == 0, t->context, GRAM_ERROR_DATA, "%s: every weight is 0", t->method->name);
    TRY(tune_quietly(t, kernel, out));
    out->rows = t->levels[t->last].sample.n;
done:
    if (status < 0) {
        gram_kernel_release(out->kernel);
        out->kernel = NULL;
    }
    gram_tuning_free_levels(t);
    gram_give(t->context, t->rows);
    return status;
}
