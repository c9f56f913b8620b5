/* The model of a study: kept up to date, and opened for a proposal.
 *
 * While there are few evaluations the parameters are learnt again with each; later each time their number has grown by a twentieth, and
 * in between rows are appended to the factor. A failed evaluation counts with the worst value known. Points that are out get the
 * value that the model expects while a proposal is made: then it is not made twice, and nothing else changes much. */
#include <math.h>
#include <string.h>

#include "study/study_core.h"

enum { LEARN_ALWAYS = 100, LEARN_SHARE = 20, FEW = 10, LEARNT = 3 /* rows that say anything of noise */, EXPLORE = 4 };
static const double NOISY = 1e-4; /* noise over amplitude from which on it matters */

int gram_study_has_values(const gram_study *study)
{
    for (int64_t i = 0; i < study->count; i++)
        if (study->records[i].state == GRAM_TRIAL_DONE) return 1;
    return 0;
}

/* Does the model reckon with noise? Of a function that it cannot follow, too. */
static int reckons_with_noise(const gram_study *study)
{
    const gram_surrogate *s = &study->objective;
    if (!s->kernel || study->options.noise == 0) return 0;
    if (s->n < LEARNT && isnan(study->options.noise)) return 0;
    return study->options.noise > 0 || study->repeat == GRAM_REPEAT_DIFFERENT || s->noise > NOISY * s->amplitude;
}

int gram_study_is_noisy(const gram_study *study)
{
    return reckons_with_noise(study) && (study->repeat != GRAM_REPEAT_EQUAL || study->options.noise > 0);
}

int gram_study_noise_is_known(const gram_study *study)
{
    return study->repeat == GRAM_REPEAT_DIFFERENT || study->options.noise > 0;
}

int gram_study_needs_repeat(const gram_study *study, double expected)
{
    const gram_surrogate *s = &study->objective;
    const gram_study_options *o = &study->options;
    int64_t done = 0;
    if (!isnan(o->noise) || o->candidate_count > 0 || study->repeat != GRAM_REPEAT_NONE) return 0;
    for (int64_t i = 0; i < study->count; i++) done += study->records[i].state == GRAM_TRIAL_DONE;
    if (done < FEW) return 0;
    return s->kernel && expected < s->scale * sqrt(s->noise);
}

static gram_repeat compare_trials(const gram_study *study, int64_t i, int64_t j)
{
    const gram_record *a = study->records + i, *b = study->records + j;
    const size_t bytes = (size_t)study->space.count * sizeof(double);
    if (a->state == GRAM_TRIAL_FAILED || b->state == GRAM_TRIAL_FAILED ||
        memcmp(gram_study_point(study, i), gram_study_point(study, j), bytes) != 0)
        return GRAM_REPEAT_NONE;
    if (a->state != GRAM_TRIAL_DONE || b->state != GRAM_TRIAL_DONE) return GRAM_REPEAT_RUNNING;
    return a->value == b->value ? GRAM_REPEAT_EQUAL : GRAM_REPEAT_DIFFERENT;
}

/* The largest over all pairs: one that differs decides. */
static gram_repeat find_repeat(const gram_study *study)
{
    gram_repeat found = GRAM_REPEAT_NONE;
    for (int64_t i = 0; i < study->count && found != GRAM_REPEAT_DIFFERENT; i++)
        for (int64_t j = 0; j < i; j++) {
            const gram_repeat pair = compare_trials(study, i, j);
            if (pair > found) found = pair;
        }
    return found;
}

/* Noise that is known to be there: what counts is where the mean will be least in the end, but a model that is sure of what is not so would stay where it is for good,
 * so that one evaluation in EXPLORE asks by draws of f. While noise is a guess all do. Without noise, or with constraints, the best point evaluated is what is
 * recommended, and no mean. */
gram_acquisition_kind gram_study_kind(const gram_study *study)
{
    const gram_acquisition_kind asked = study->options.acquisition;
    const int by_mean = reckons_with_noise(study) && study->options.constraints == 0;
    if (asked != GRAM_ACQUISITION_AUTO && asked != GRAM_ACQUISITION_MEAN) return asked;
    if (!by_mean) return GRAM_ACQUISITION_IMPROVEMENT;
    if (asked == GRAM_ACQUISITION_MEAN) return asked;
    return gram_study_noise_is_known(study) && study->count % EXPLORE ? GRAM_ACQUISITION_MEAN : GRAM_ACQUISITION_NOISY;
}

double gram_study_noise(const gram_study *study)
{
    const gram_surrogate *s = &study->objective;
    return s->kernel ? s->noise * s->scale * s->scale : NAN;
}

static double worst_cost(const gram_study *study)
{
    double worst = -INFINITY;
    for (int64_t i = 0; i < study->count; i++)
        if (study->records[i].state == GRAM_TRIAL_DONE) worst = fmax(worst, gram_study_cost(study, i));
    return worst;
}

/* ---- learning ---- */

/* Rows of the objective: all evaluations; of a constraint those that are done. Returns how many. */
static int64_t fill_rows(const gram_study *study, int64_t constraint, double *x, double *y)
{
    const int64_t columns = study->space.columns, outputs = study->options.constraints;
    const double worst = worst_cost(study);
    int64_t n = 0;
    for (int64_t k = 0; k < study->told; k++) {
        const int64_t trial = study->order[k];
        const int done = study->records[trial].state == GRAM_TRIAL_DONE;
        if (constraint >= 0 && !done) continue;
        gram_domain_encode(&study->space, gram_study_point(study, trial), x + n * columns);
        y[n++] = constraint >= 0 ? study->constraints[trial * outputs + constraint]
                 : done          ? gram_study_cost(study, trial)
                                 : worst;
    }
    return n;
}

static gram_status learn_all(gram_context *context, gram_study *study, int learn)
{
    gram_status status = GRAM_OK;
    double *x = NULL;
    TRY(gram_take(context, "study: rows", study->told * (study->space.columns + 1), sizeof *x, (void **)&x));
    double *y = x + study->told * study->space.columns;
    for (int64_t k = 0; k < study->told; k++)
        study->objective.jumps |= study->records[study->order[k]].state == GRAM_TRIAL_FAILED;
    for (int64_t j = -1; j < study->options.constraints; j++) {
        gram_surrogate *s = j < 0 ? &study->objective : study->limits + j;
        const int64_t n = fill_rows(study, j, x, y);
        TRY(gram_surrogate_fit(context, s, n, x, y, learn));
    }
    study->modelled = study->told;
    if (learn) study->learnt = study->told;
done:
    gram_give(context, x);
    return status;
}

/* The evaluation number k as a new row of every model. */
static gram_status append_one(gram_context *context, gram_study *study, int64_t k, double *u)
{
    gram_status status = GRAM_OK;
    const int64_t trial = study->order[k], outputs = study->options.constraints;
    const int done = study->records[trial].state == GRAM_TRIAL_DONE;
    gram_domain_encode(&study->space, gram_study_point(study, trial), u);
    TRY(gram_surrogate_append(context, &study->objective, u, done ? gram_study_cost(study, trial) : worst_cost(study)));
    for (int64_t j = 0; j < outputs && done; j++)
        TRY(gram_surrogate_append(context, study->limits + j, u, study->constraints[trial * outputs + j]));
    study->modelled = k + 1;
done:
    return status;
}

static gram_status append_new(gram_context *context, gram_study *study)
{
    gram_status status = GRAM_OK;
    double *u = NULL;
    TRY(gram_take(context, "study: a row", study->space.columns, sizeof *u, (void **)&u));
    for (int64_t k = study->modelled; k < study->told && status >= 0; k++) status = append_one(context, study, k, u);
    if (status == GRAM_ERROR_NUMERICAL) status = learn_all(context, study, 0); /* with a jitter */
done:
    gram_give(context, u);
    return status;
}

gram_status gram_study_learn(gram_context *context, gram_study *study)
{
    gram_status status = GRAM_OK;
    if (!context || !study) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!gram_study_has_values(study), context, GRAM_ERROR_ARGUMENT,
            "study_learn: no evaluation has a value yet (%lld failed)", (long long)study->told);
    study->repeat = find_repeat(study);
    if (study->modelled == study->told) goto done;
    if (study->learnt == 0 || study->told <= LEARN_ALWAYS || study->told >= study->learnt + study->learnt / LEARN_SHARE)
        TRY(learn_all(context, study, 1));
    else
        TRY(append_new(context, study));
done:
    return status;
}

/* ---- the best point ---- */

static int64_t best_by_value(const gram_study *study)
{
    int64_t best = -1;
    for (int64_t i = 0; i < study->count; i++)
        if (gram_study_is_feasible(study, i) && (best < 0 || gram_study_cost(study, i) < gram_study_cost(study, best)))
            best = i;
    return best;
}

int64_t gram_study_best(const gram_study *study)
{
    int64_t best = -1;
    double least = INFINITY;
    if (!gram_study_is_noisy(study) || study->modelled == 0) return best_by_value(study);
    for (int64_t k = 0; k < study->modelled; k++) {
        const int64_t trial = study->order[k];
        if (!gram_study_is_feasible(study, trial)) continue;
        const double mean = gram_surrogate_mean_at(&study->objective, k);
        if (mean < least) best = trial;
        least = fmin(least, mean);
    }
    return best;
}

gram_status gram_study_incumbent(gram_context *context, const gram_study *study, double *best)
{
    const gram_surrogate *s = &study->objective;
    const int noisy = reckons_with_noise(study);
    (void)context;
    *best = INFINITY;
    for (int64_t k = 0; k < study->modelled; k++)
        if (gram_study_is_feasible(study, study->order[k]))
            *best = fmin(*best, noisy ? gram_surrogate_mean_at(s, k) : (s->y[k] - s->shift) / s->scale);
    return GRAM_OK;
}

/* ---- for a proposal ---- */

/* One point that is out, with the value that each model expects there. One that depends on the rows adds nothing. */
static gram_status pretend(gram_context *context, gram_surrogate *s, const double *u)
{
    gram_status status = GRAM_OK;
    double mean, variance;
    TRY(gram_surrogate_predict(context, s, 1, u, &mean, &variance));
    status = gram_surrogate_append(context, s, u, gram_surrogate_value(s, mean));
    if (status == GRAM_ERROR_NUMERICAL) status = GRAM_OK;
done:
    return status;
}

/* The points that are out, in the cube; `pending` has room for all trials. */
static int64_t find_pending(const gram_study *study, double *pending)
{
    int64_t count = 0;
    for (int64_t i = 0; i < study->count; i++)
        if (study->records[i].state < GRAM_TRIAL_DONE)
            gram_domain_encode(&study->space, gram_study_point(study, i), pending + count++ * study->space.columns);
    return count;
}

static gram_status pretend_all(gram_context *context, gram_study *study, gram_acquisition_kind kind, int64_t count,
                               const double *pending)
{
    gram_status status = GRAM_OK;
    for (int64_t i = 0; i < count; i++) {
        const double *u = pending + i * study->space.columns;
        if (kind != GRAM_ACQUISITION_NOISY) TRY(pretend(context, &study->objective, u));
        for (int64_t j = 0; j < study->options.constraints; j++) TRY(pretend(context, study->limits + j, u));
    }
done:
    return status;
}

gram_status gram_study_open(gram_context *context, gram_study *study, gram_acquisition *acquisition)
{
    gram_status status = GRAM_OK;
    double *pending = NULL;
    *acquisition = (gram_acquisition){0};
    TRY(gram_study_learn(context, study));
    TRY(gram_take(context, "study: points that are out", study->count * study->space.columns, sizeof *pending,
                  (void **)&pending));
    gram_acquisition_request request = {.kind = gram_study_kind(study),
                                        .objective = &study->objective,
                                        .constraint_count = study->options.constraints,
                                        .constraints = study->limits,
                                        .kappa = study->options.kappa,
                                        .pending = pending,
                                        .seed = study->options.seed,
                                        .which = (uint64_t)study->count};
    TRY(gram_study_incumbent(context, study, &request.best));
    request.feasible = isfinite(request.best);
    request.pending_count = find_pending(study, pending);
    TRY(pretend_all(context, study, request.kind, request.pending_count, pending));
    TRY(gram_acquisition_make(context, &request, acquisition));
done:
    gram_give(context, pending);
    return status;
}

void gram_study_close(gram_context *context, gram_study *study, gram_acquisition *acquisition)
{
    gram_acquisition_free(context, acquisition);
    int64_t done = 0;
    for (int64_t k = 0; k < study->modelled; k++) done += study->records[study->order[k]].state == GRAM_TRIAL_DONE;
    gram_surrogate_truncate(&study->objective, study->modelled);
    for (int64_t j = 0; j < study->options.constraints; j++) gram_surrogate_truncate(study->limits + j, done);
}
