/* The next point: from the queue, from the start, or where the acquisition is largest. */
#include <math.h>
#include <string.h>

#include "base/sized_struct.h"
#include "study/study_core.h"

static const double APART = 1e-3; /* of points that are out at the same time, for each column of the cube */

typedef struct asking {
    gram_study *study;
    double *u; /* the point in the cube */
    int64_t row;
    int64_t again; /* the trial whose point it is, -1: none */
    gram_origin origin;
    gram_proposal proposal;
} asking;

static gram_status take_queued(const gram_study *study, int64_t *trial)
{
    for (*trial = 0; *trial < study->count; ++*trial)
        if (study->records[*trial].state == GRAM_TRIAL_QUEUED) return GRAM_OK;
    *trial = -1;
    return GRAM_OK;
}

/* ---- candidates ---- */

/* taken[i]: row i was proposed or evaluated. Rows with the same numbers are one. */
static gram_status mark_taken(gram_context *context, const gram_study *study, unsigned char *taken)
{
    gram_status status = GRAM_OK;
    const int64_t count = study->options.candidate_count, columns = study->space.columns;
    int64_t left = 0;
    memset(taken, 0, (size_t)count);
    for (int64_t t = 0; t < study->count; t++) {
        if (study->records[t].row < 0) continue;
        const double *own = study->candidate_cube + study->records[t].row * columns;
        for (int64_t i = 0; i < count; i++)
            taken[i] |= memcmp(own, study->candidate_cube + i * columns, (size_t)columns * sizeof *own) == 0;
    }
    for (int64_t i = 0; i < count; i++) left += !taken[i];
    FAIL_IF(left == 0, context, GRAM_ERROR_ARGUMENT, "study_ask: all %lld candidates were proposed", (long long)count);
done:
    return status;
}

/* The candidate nearest to u that is not taken. */
static int64_t nearest_row(const gram_study *study, const double *u, const unsigned char *taken)
{
    const int64_t columns = study->space.columns;
    double least = INFINITY;
    int64_t best = -1;
    for (int64_t i = 0; i < study->options.candidate_count; i++) {
        double sum = 0;
        for (int64_t l = 0; l < columns; l++) {
            const double step = u[l] - study->candidate_cube[i * columns + l];
            sum += step * step;
        }
        if (taken[i] || !(sum < least)) continue;
        least = sum;
        best = i;
    }
    return best;
}

/* ---- the start ---- */

/* Point number `used` of the start, or, with no value to learn from yet, one at random. */
static gram_status ask_start(gram_context *context, asking *job, int64_t used)
{
    gram_status status = GRAM_OK;
    const gram_study *study = job->study;
    const gram_domain *space = &study->space;
    unsigned char *taken = NULL;
    job->origin = GRAM_ORIGIN_START;
    if (used < study->options.start)
        memcpy(job->u, study->design + used * space->columns, (size_t)space->columns * sizeof *job->u);
    else
        TRY(gram_domain_design(context, space, study->options.seed, (uint64_t)study->count + 1, 1, 1, job->u));
    if (study->options.candidate_count == 0) goto done;
    TRY(gram_take(context, "study_ask: candidates", study->options.candidate_count, 1, (void **)&taken));
    TRY(mark_taken(context, study, taken));
    job->row = nearest_row(study, job->u, taken);
done:
    gram_give(context, taken);
    return status;
}

/* ---- the model ---- */

static gram_status ask_box(gram_context *context, asking *job, const gram_acquisition *acquisition)
{
    gram_status status = GRAM_OK;
    gram_study *study = job->study;
    const gram_domain *space = &study->space;
    const int64_t columns = space->columns, best = gram_study_best(study);
    double *box = NULL, value;
    TRY(gram_take(context, "study_ask", 3 * columns, sizeof *box, (void **)&box));
    gram_search search = {.space = space,
                          .acquisition = acquisition,
                          .lower = box,
                          .upper = box + columns,
                          .seed = study->options.seed,
                          .which = (uint64_t)study->count};
    for (int64_t l = 0; l < 2 * columns; l++) box[l] = l >= columns;
    if (best >= 0) {
        search.centre = box + 2 * columns;
        gram_domain_encode(space, gram_study_point(study, best), box + 2 * columns);
        (void)gram_study_region(study, search.centre, box, box + columns);
    }
    TRY(gram_search_box(context, &search, job->u, &value));
done:
    gram_give(context, box);
    return status;
}

static gram_status ask_rows(gram_context *context, asking *job, const gram_acquisition *acquisition)
{
    gram_status status = GRAM_OK;
    const gram_study *study = job->study;
    const int64_t count = study->options.candidate_count, columns = study->space.columns;
    const gram_search search = {.space = &study->space, .acquisition = acquisition};
    unsigned char *taken = NULL;
    double value;
    TRY(gram_take(context, "study_ask: candidates", count, 1, (void **)&taken));
    TRY(mark_taken(context, study, taken));
    TRY(gram_search_rows(context, &search, count, study->candidate_cube, taken, &job->row, &value));
    memcpy(job->u, study->candidate_cube + job->row * columns, (size_t)columns * sizeof *job->u);
done:
    gram_give(context, taken);
    return status;
}

/* Is u next to a point that is out? `work` has a number for each column. */
static int is_near_running(const gram_study *study, const double *u, double *work)
{
    const int64_t columns = study->space.columns;
    for (int64_t i = 0; i < study->count; i++) {
        double sum = 0;
        if (study->records[i].state != GRAM_TRIAL_RUNNING) continue;
        gram_domain_encode(&study->space, gram_study_point(study, i), work);
        for (int64_t l = 0; l < columns; l++) sum += (u[l] - work[l]) * (u[l] - work[l]);
        if (sum < APART * APART * (double)columns) return 1;
    }
    return 0;
}

/* A batch about one hollow that is nearly known would be one point many times: then the least known point is worth more. */
static gram_status ask_apart(gram_context *context, asking *job, const gram_acquisition *acquisition)
{
    gram_status status = GRAM_OK;
    gram_acquisition widest = *acquisition;
    double *work = NULL;
    widest.kind = GRAM_ACQUISITION_VARIANCE;
    TRY(gram_take(context, "study_ask", job->study->space.columns, sizeof *work, (void **)&work));
    if (is_near_running(job->study, job->u, work)) TRY(ask_box(context, job, &widest));
done:
    gram_give(context, work);
    return status;
}

static gram_status ask_model(gram_context *context, asking *job)
{
    gram_status status = GRAM_OK;
    gram_study *study = job->study;
    gram_acquisition acquisition = {0};
    job->origin = GRAM_ORIGIN_MODEL;
    TRY(gram_study_open(context, study, &acquisition));
    if (study->options.candidate_count)
        TRY(ask_rows(context, job, &acquisition));
    else {
        TRY(ask_box(context, job, &acquisition));
        TRY(ask_apart(context, job, &acquisition));
    }
done:
    gram_study_close(context, study, &acquisition);
    return status;
}

/* What the model says of the point; nothing before there is one. */
static gram_status describe(gram_context *context, asking *job)
{
    gram_status status = GRAM_OK;
    gram_study *study = job->study;
    gram_proposal *p = &job->proposal;
    double best;
    p->mean = p->deviation = p->expected_improvement = NAN;
    p->row = job->row;
    p->by_model = job->origin == GRAM_ORIGIN_MODEL;
    if (!p->by_model) goto done;
    TRY(gram_study_incumbent(context, study, &best));
    TRY(gram_acquisition_expected(context, &study->objective, isfinite(best) ? best : 0, job->u, &p->mean,
                                  &p->deviation, &p->expected_improvement));
    if (study->options.maximize) p->mean = -p->mean;
    if (!isfinite(best)) p->expected_improvement = NAN;
done:
    return status;
}

static gram_status ask_new(gram_context *context, asking *job, double *x)
{
    gram_status status = GRAM_OK;
    gram_study *study = job->study;
    const gram_domain *space = &study->space;
    int64_t used = 0;
    for (int64_t i = 0; i < study->count; i++) used += study->records[i].origin != GRAM_ORIGIN_MODEL;
    if (used < study->options.start || !gram_study_has_values(study))
        TRY(ask_start(context, job, used));
    else
        TRY(ask_model(context, job));
    TRY(describe(context, job));
    if (job->origin == GRAM_ORIGIN_MODEL && gram_study_needs_repeat(study, job->proposal.expected_improvement)) {
        job->again = gram_study_best(study);
        gram_domain_encode(space, gram_study_point(study, job->again), job->u);
        TRY(describe(context, job));
    }
    if (job->again >= 0)
        memcpy(x, gram_study_point(study, job->again), (size_t)space->count * sizeof *x);
    else if (job->row >= 0)
        memcpy(x, study->candidates + job->row * space->count, (size_t)space->count * sizeof *x);
    else
        gram_domain_decode(space, job->u, x);
    TRY(gram_study_push(context, study, x, (gram_record){GRAM_TRIAL_RUNNING, job->origin, job->row, NAN},
                        &job->proposal.trial));
done:
    return status;
}

gram_status gram_study_ask(gram_context *context, gram_study *study, double *x, gram_proposal *proposal)
{
    gram_status status = GRAM_OK;
    asking job = {.study = study, .row = -1, .again = -1};
    int64_t queued;
    if (!context || !study || !x) return GRAM_ERROR_ARGUMENT;
    if (proposal) TRY(gram_sized_check(context, "study_ask", "proposal", "gram_proposal", proposal, sizeof *proposal));
    TRY(take_queued(study, &queued));
    if (queued >= 0) {
        memcpy(x, gram_study_point(study, queued), (size_t)study->space.count * sizeof *x);
        study->records[queued].state = GRAM_TRIAL_RUNNING;
        job.proposal = (gram_proposal){.trial = queued,
                                       .row = study->records[queued].row,
                                       .mean = NAN,
                                       .deviation = NAN,
                                       .expected_improvement = NAN};
    } else {
        TRY(gram_take(context, "study_ask", study->space.columns, sizeof *job.u, (void **)&job.u));
        TRY(ask_new(context, &job, x));
    }
    if (proposal) gram_sized_write(proposal, &job.proposal, sizeof job.proposal);
done:
    gram_give(context, job.u);
    return status;
}
