/* A study: making one, its trials, telling. */
#include <math.h>
#include <string.h>

#include "base/sized_struct.h"
#include "base/text/number.h"
#include "study/study_core.h"

enum { FIRST_ROOM = 32, MOST_CONSTRAINTS = 100, MOST_START = 100000, DESIGN_TRIES = 20, SMALL_DESIGN = 200 };
static const int64_t MOST_CANDIDATES = 10000000;

const char *gram_acquisition_name(gram_acquisition_kind kind)
{
    static const char *const names[] = {"auto", "ei", "noisy-ei", "pi", "bound", "variance", "thompson", "mean-ei"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

void gram_study_options_init(gram_study_options *options, size_t size)
{
    const gram_study_options defaults = {.noise = NAN, .kappa = 2, .trust_region = -1};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

/* ---- making ---- */

static gram_status check_options(gram_context *context, const gram_study_options *o)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    FAIL_IF((int)o->acquisition < 0 || !gram_acquisition_name(o->acquisition), context, GRAM_ERROR_ARGUMENT,
            "study_create: acquisition = %d is none", (int)o->acquisition);
    FAIL_IF(!isnan(o->noise) && !(o->noise >= 0 && isfinite(o->noise)), context, GRAM_ERROR_ARGUMENT,
            "study_create: noise = %s, need a variance >= 0", gram_number_format(o->noise, shown));
    FAIL_IF(!(o->kappa >= 0 && isfinite(o->kappa)), context, GRAM_ERROR_ARGUMENT, "study_create: kappa = %s, need >= 0",
            gram_number_format(o->kappa, shown));
    FAIL_IF(o->start < 0 || o->start > MOST_START, context, GRAM_ERROR_ARGUMENT,
            "study_create: start = %lld, need 0 to %d", (long long)o->start, (int)MOST_START);
    FAIL_IF(o->constraints < 0 || o->constraints > MOST_CONSTRAINTS, context, GRAM_ERROR_ARGUMENT,
            "study_create: %lld constraints, need 0 to %d", (long long)o->constraints, (int)MOST_CONSTRAINTS);
    FAIL_IF(o->acquisition == GRAM_ACQUISITION_NOISY && o->constraints > 0, context, GRAM_ERROR_UNSUPPORTED,
            "study_create: noisy improvement takes no constraints, use ei");
    FAIL_IF(o->candidate_count < 0 || o->candidate_count > MOST_CANDIDATES ||
                (o->candidate_count > 0 && !o->candidates),
            context, GRAM_ERROR_ARGUMENT, "study_create: %lld candidates are missing or too many",
            (long long)o->candidate_count);
done:
    return status;
}

static gram_status keep_candidates(gram_context *context, gram_study *study)
{
    gram_status status = GRAM_OK;
    const gram_domain *space = &study->space;
    const int64_t count = study->options.candidate_count;
    if (count == 0) return GRAM_OK;
    TRY(gram_take(context, "study_create: candidates", count * space->count, sizeof(double),
                  (void **)&study->candidates));
    TRY(gram_take(context, "study_create: candidates", count * space->columns, sizeof(double),
                  (void **)&study->candidate_cube));
    memcpy(study->candidates, study->options.candidates, (size_t)(count * space->count) * sizeof(double));
    study->options.candidates = study->candidates;
    for (int64_t i = 0; i < count; i++) {
        TRY(gram_domain_check(context, "study_create: candidates", space, study->candidates + i * space->count));
        gram_domain_encode(space, study->candidates + i * space->count, study->candidate_cube + i * space->columns);
    }
done:
    return status;
}

/* How many points of a Latin hypercube come first, unless that was said. */
static int64_t usual_start(const gram_study *study)
{
    const int64_t wanted = 2 * study->space.count;
    return wanted < 4 ? 4 : wanted > 20 ? 20 : wanted;
}

static gram_status make_models(gram_context *context, gram_study *study)
{
    gram_status status = GRAM_OK;
    const int64_t columns = study->space.columns, count = study->options.constraints;
    TRY(gram_surrogate_make(context, columns, study->options.noise, &study->objective));
    if (count == 0) goto done;
    TRY(gram_take(context, "study_create", count, sizeof *study->limits, (void **)&study->limits));
    memset(study->limits, 0, (size_t)count * sizeof *study->limits);
    for (int64_t j = 0; j < count; j++)
        TRY(gram_surrogate_make(context, columns, study->options.noise == 0 ? 0 : NAN, study->limits + j));
done:
    return status;
}

static gram_status fill(gram_context *context, gram_study *study, int64_t variable_count,
                        const gram_variable *variables, const gram_study_options *options)
{
    gram_status status = GRAM_OK;
    TRY(gram_sized_read(context, "study_create", "options", "gram_study_options", options, &study->options,
                        sizeof study->options));
    TRY(check_options(context, &study->options));
    TRY(gram_domain_make(context, "study_create", variable_count, variables, &study->space));
    TRY(keep_candidates(context, study));
    if (study->options.start == 0) study->options.start = usual_start(study);
    TRY(gram_take(context, "study_create: start", study->options.start * study->space.columns, sizeof(double),
                  (void **)&study->design));
    const int tries = study->options.start <= SMALL_DESIGN ? DESIGN_TRIES : 1; /* each is O(start^2) */
    TRY(gram_domain_design(context, &study->space, study->options.seed, 0, study->options.start, tries, study->design));
    TRY(make_models(context, study));
done:
    return status;
}

gram_status gram_study_create(gram_context *context, int64_t variable_count, const gram_variable *variables,
                              const gram_study_options *options, gram_study **study)
{
    gram_status status = GRAM_OK;
    gram_study *made = NULL;
    if (!context || !study) return GRAM_ERROR_ARGUMENT;
    *study = NULL;
    TRY(gram_take(context, "study_create", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    gram_study_options_init(&made->options, sizeof made->options);
    gram_arena_init(&made->space.arena, made->memory);
    TRY(fill(context, made, variable_count, variables, options));
    *study = made;
    made = NULL;
done:
    gram_study_destroy(made);
    return status;
}

void gram_study_destroy(gram_study *study)
{
    if (!study) return;
    gram_memory *memory = study->memory;
    gram_surrogate_free(&study->objective);
    for (int64_t j = 0; study->limits && j < study->options.constraints; j++) gram_surrogate_free(study->limits + j);
    void *const blocks[] = {study->limits, study->candidates,  study->candidate_cube, study->records,
                            study->x,      study->constraints, study->design,         study->order};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gram_memory_give(memory, blocks[i]);
    gram_domain_free(&study->space);
    gram_memory_give(memory, study);
    gram_memory_release(memory);
}

int64_t gram_study_variable_count(const gram_study *study)
{
    return study->space.count;
}

gram_variable gram_study_variable(const gram_study *study, int64_t index)
{
    if (index < 0 || index >= study->space.count) return (gram_variable){0};
    const gram_domain_variable *v = study->space.variables + index;
    return (gram_variable){.name = v->name,
                           .kind = v->kind,
                           .lower = v->lower,
                           .upper = v->upper,
                           .level_count = v->level_count,
                           .levels = (const char *const *)v->levels};
}

gram_status gram_study_get_options(gram_context *context, const gram_study *study, gram_study_options *options)
{
    gram_status status = GRAM_OK;
    if (!context || !study || !options) return GRAM_ERROR_ARGUMENT;
    TRY(gram_sized_check(context, "study_get_options", "options", "gram_study_options", options, sizeof *options));
    gram_sized_write(options, &study->options, sizeof study->options);
done:
    return status;
}

/* ---- trials ---- */

static gram_status grow(gram_context *context, void **array, int64_t count, int64_t room, size_t size)
{
    gram_status status = GRAM_OK;
    void *larger = NULL;
    TRY(gram_take(context, "study: trials", room, size, &larger));
    if (count) memcpy(larger, *array, (size_t)count * size);
    gram_give(context, *array);
    *array = larger;
done:
    return status;
}

static gram_status reserve(gram_context *context, gram_study *study)
{
    gram_status status = GRAM_OK;
    const int64_t room = study->room ? 2 * study->room : FIRST_ROOM;
    const size_t number = sizeof(double), outputs = (size_t)study->options.constraints;
    if (study->count < study->room) return GRAM_OK;
    TRY(grow(context, (void **)&study->records, study->count, room, sizeof *study->records));
    TRY(grow(context, (void **)&study->x, study->count, room, (size_t)study->space.count * number));
    TRY(grow(context, (void **)&study->order, study->count, room, sizeof *study->order));
    if (outputs) TRY(grow(context, (void **)&study->constraints, study->count, room, outputs * number));
    study->room = room;
done:
    return status;
}

gram_status gram_study_push(gram_context *context, gram_study *study, const double *x, gram_record record,
                            int64_t *trial)
{
    gram_status status = GRAM_OK;
    TRY(reserve(context, study));
    const int64_t own = study->count++;
    study->records[own] = record;
    memcpy(study->x + own * study->space.count, x, (size_t)study->space.count * sizeof *x);
    for (int64_t j = 0; j < study->options.constraints; j++)
        study->constraints[own * study->options.constraints + j] = NAN;
    if (trial) *trial = own;
done:
    return status;
}

int gram_study_is_feasible(const gram_study *study, int64_t trial)
{
    const int64_t count = study->options.constraints;
    if (study->records[trial].state != GRAM_TRIAL_DONE) return 0;
    for (int64_t j = 0; j < count; j++)
        if (!(study->constraints[trial * count + j] <= 0)) return 0;
    return 1;
}

gram_status gram_study_settle(gram_context *context, const char *name, gram_study *study, int64_t trial, double value,
                              const double *constraints)
{
    gram_status status = GRAM_OK;
    const int64_t count = study->options.constraints;
    char shown[GRAM_NUMBER_SIZE];
    const int failed = !isfinite(value);
    FAIL_IF(!failed && count > 0 && !constraints, context, GRAM_ERROR_ARGUMENT,
            "%s: constraints is NULL, the study has %lld", name, (long long)count);
    for (int64_t j = 0; j < count && !failed; j++)
        FAIL_IF(!isfinite(constraints[j]), context, GRAM_ERROR_DATA, "%s: constraint %lld is %s", name,
                (long long)j + 1, gram_number_format(constraints[j], shown));
    for (int64_t j = 0; j < count && !failed; j++) study->constraints[trial * count + j] = constraints[j];
    study->records[trial].state = failed ? GRAM_TRIAL_FAILED : GRAM_TRIAL_DONE;
    study->records[trial].value = failed ? NAN : value;
    study->order[study->told++] = trial;
done:
    return status;
}

gram_status gram_study_tell(gram_context *context, gram_study *study, int64_t trial, double value,
                            const double *constraints)
{
    gram_status status = GRAM_OK;
    if (!context || !study) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(trial < 0 || trial >= study->count, context, GRAM_ERROR_ARGUMENT, "study_tell: there is no trial %lld",
            (long long)trial);
    FAIL_IF(study->records[trial].state >= GRAM_TRIAL_DONE, context, GRAM_ERROR_ARGUMENT,
            "study_tell: trial %lld was told already", (long long)trial);
    TRY(gram_study_settle(context, "study_tell", study, trial, value, constraints));
done:
    return status;
}

/* The candidate with these values, or GRAM_ERROR_DATA; -1 in a study that has none. */
static gram_status find_row(gram_context *context, const char *name, const gram_study *study, const double *x,
                            int64_t *row)
{
    gram_status status = GRAM_OK;
    const int64_t count = study->space.count;
    *row = -1;
    if (study->options.candidate_count == 0) return GRAM_OK;
    for (int64_t i = 0; i < study->options.candidate_count && *row < 0; i++)
        if (memcmp(study->candidates + i * count, x, (size_t)count * sizeof *x) == 0) *row = i;
    FAIL_IF(*row < 0, context, GRAM_ERROR_DATA, "%s: the point is none of the candidates", name);
done:
    return status;
}

gram_status gram_study_add(gram_context *context, gram_study *study, const double *x, double value,
                           const double *constraints)
{
    gram_status status = GRAM_OK;
    int64_t row, trial;
    if (!context || !study || !x) return GRAM_ERROR_ARGUMENT;
    TRY(gram_domain_check(context, "study_add", &study->space, x));
    TRY(find_row(context, "study_add", study, x, &row));
    TRY(gram_study_push(context, study, x, (gram_record){GRAM_TRIAL_RUNNING, GRAM_ORIGIN_GIVEN, row, NAN}, &trial));
    status = gram_study_settle(context, "study_add", study, trial, value, constraints);
    if (status < 0) study->count--;
done:
    return status;
}

gram_status gram_study_suggest(gram_context *context, gram_study *study, const double *x)
{
    gram_status status = GRAM_OK;
    int64_t row;
    if (!context || !study || !x) return GRAM_ERROR_ARGUMENT;
    TRY(gram_domain_check(context, "study_suggest", &study->space, x));
    TRY(find_row(context, "study_suggest", study, x, &row));
    TRY(gram_study_push(context, study, x, (gram_record){GRAM_TRIAL_QUEUED, GRAM_ORIGIN_GIVEN, row, NAN}, NULL));
done:
    return status;
}

void gram_study_requeue(gram_study *study)
{
    for (int64_t i = 0; study && i < study->count; i++)
        if (study->records[i].state == GRAM_TRIAL_RUNNING) study->records[i].state = GRAM_TRIAL_QUEUED;
}

int64_t gram_study_trial_count(const gram_study *study)
{
    return study->count;
}

int64_t gram_study_evaluation_count(const gram_study *study)
{
    return study->told;
}

gram_status gram_study_trial(gram_context *context, const gram_study *study, int64_t index, gram_trial *trial)
{
    gram_status status = GRAM_OK;
    if (!context || !study) return GRAM_ERROR_ARGUMENT;
    TRY(gram_sized_check(context, "study_trial", "trial", "gram_trial", trial, sizeof *trial));
    FAIL_IF(index < 0 || index >= study->count, context, GRAM_ERROR_ARGUMENT, "study_trial: there is no trial %lld",
            (long long)index);
    const gram_record *r = study->records + index;
    const int64_t outputs = study->options.constraints;
    const gram_trial made = {.state = r->state,
                             .row = r->row,
                             .x = gram_study_point(study, index),
                             .value = r->value,
                             .constraints = outputs ? study->constraints + index * outputs : NULL,
                             .feasible = gram_study_is_feasible(study, index)};
    gram_sized_write(trial, &made, sizeof made);
done:
    return status;
}
