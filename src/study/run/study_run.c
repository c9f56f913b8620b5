/* Running a command at the points of a study.
 *
 * A trial is written to the file before its command starts and again when it ended, so that whenever the process dies the file knows every
 * evaluation that it was told of, and what was running. How a command is run is the caller's: the library starts no processes. */
#include <math.h>
#include <string.h>

#include <gram/study_run.h>

#include "base/sized_struct.h"
#include "base/system/system_call.h"
#include "study/study_core.h"

enum { MOST_OUTPUTS = 101, MOST_PARALLEL = 256 };

typedef struct loop {
    gram_context *context;
    gram_study *study;
    gram_study_run_options options;
    int64_t *trials; /* of the slots, -1: free */
    int64_t running;
    double *x;
    const char *why; /* no further points are asked for */
} loop;

void gram_study_run_options_init(gram_study_run_options *options, size_t size)
{
    const gram_study_run_options defaults = {.parallel = 1, .tolerance = NAN};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

static gram_status save(const loop *l)
{
    return l->options.file ? gram_study_write(l->context, l->study, l->options.file) : GRAM_OK;
}

/* ---- a run begins ---- */

/* The words with values in their places, one after the other with a 0 behind each, and pointers to them. */
static gram_status start(const loop *l, int64_t slot, int64_t row)
{
    gram_status status = GRAM_OK;
    gram_string all = {0};
    char **words = NULL, reason[GRAM_SYSTEM_REASON_SIZE];
    int64_t count = 0;
    for (; l->options.command[count]; count++) {
        gram_study_fill_word(l->study, l->options.command[count], l->x, row, &all);
        gram_string_put(&all, "", 1);
    }
    TRY(gram_take(l->context, "study_run: words", count + 1, sizeof *words, (void **)&words));
    FAIL_IF(all.failed, l->context, GRAM_ERROR_MEMORY, "study_run: the system has no memory left for a command");
    char *at = all.data;
    for (int64_t i = 0; i < count; i++, at += strlen(at) + 1) words[i] = at;
    words[count] = NULL;
    const int error = l->options.start(l->options.argument, slot, words);
    if (error) {
        status = gram_fail(l->context, GRAM_ERROR_ARGUMENT, "cannot run '%.200s': %s", words[0],
                           gram_system_reason(error, reason));
        (void)gram_advise(l->context, status, "The command is run as it is, without a shell.");
    }
done:
    gram_give(l->context, words);
    gram_string_free(&all);
    return status;
}

/* Is the proposal still worth a run? */
static const char *find_end(const loop *l, const gram_proposal *p)
{
    return p->expected_improvement < l->options.tolerance ? "the expected improvement is below the tolerance" : NULL;
}

/* One more point, unless there is nothing more to gain; then it waits in the queue. */
static gram_status ask_one(loop *l, int64_t slot)
{
    gram_status status = GRAM_OK;
    gram_proposal p = {.size = sizeof p};
    status = gram_study_ask(l->context, l->study, l->x, &p);
    if (status == GRAM_ERROR_ARGUMENT) {
        l->why = "all candidates were evaluated";
        return GRAM_OK;
    }
    TRY(status);
    l->why = find_end(l, &p);
    if (l->why) goto done;
    TRY(save(l));
    TRY(start(l, slot, p.row));
    l->trials[slot] = p.trial;
    l->running++;
done:
    return status;
}

static gram_status fill_slots(loop *l)
{
    gram_status status = GRAM_OK;
    for (int64_t i = 0; i < l->options.parallel && !l->why; i++)
        if (l->trials[i] < 0 && gram_study_evaluation_count(l->study) + l->running < l->options.budget)
            TRY(ask_one(l, i));
done:
    return status;
}

/* ---- a run ended ---- */

static gram_status finish_one(loop *l, int64_t slot, const char *line, const char *why)
{
    gram_status status = GRAM_OK;
    double values[MOST_OUTPUTS];
    const int64_t trial = l->trials[slot];
    if (!why && gram_study_parse_values(l->context, l->study, line, values) < 0) why = l->context->message;
    if (why && l->options.failed) l->options.failed(l->options.argument, trial + 1, why);
    l->trials[slot] = -1;
    l->running--;
    TRY(gram_study_tell(l->context, l->study, trial, why ? NAN : values[0], values + 1));
    TRY(save(l));
    if (l->options.told) TRY(l->options.told(l->options.argument, l->study));
done:
    return status;
}

static gram_status turn(loop *l)
{
    gram_status status = GRAM_OK;
    for (;;) {
        const char *line = "", *why = NULL;
        const double done = (double)gram_study_evaluation_count(l->study);
        TRY(gram_pulse(l->context, "evaluating", fmin(done / (double)l->options.budget, 1)));
        TRY(fill_slots(l));
        if (l->running == 0) break;
        const int64_t slot = l->options.wait(l->options.argument, &line, &why);
        if (slot >= 0 && slot < l->options.parallel && l->trials[slot] >= 0) TRY(finish_one(l, slot, line, why));
    }
done:
    return status;
}

/* ---- the call ---- */

static gram_status prepare(loop *l, const gram_study_run_options *options)
{
    gram_status status = GRAM_OK;
    gram_study_run_options *o = &l->options;
    gram_study_run_options_init(o, sizeof *o);
    TRY(gram_sized_read(l->context, "study_run", "options", "gram_study_run_options", options, o, sizeof *o));
    FAIL_IF(!o->command || !o->command[0], l->context, GRAM_ERROR_ARGUMENT, "study_run: there is no command");
    FAIL_IF(!o->start || !o->wait, l->context, GRAM_ERROR_ARGUMENT, "study_run: start or wait is NULL");
    FAIL_IF(o->budget < 1, l->context, GRAM_ERROR_ARGUMENT, "study_run: budget = %lld, need at least 1",
            (long long)o->budget);
    FAIL_IF(o->parallel < 1 || o->parallel > MOST_PARALLEL, l->context, GRAM_ERROR_ARGUMENT,
            "study_run: parallel = %lld, need 1 to %d", (long long)o->parallel, (int)MOST_PARALLEL);
    TRY(gram_study_check_words(l->context, l->study, o->command));
    TRY(gram_take(l->context, "study_run", o->parallel, sizeof *l->trials, (void **)&l->trials));
    TRY(gram_take(l->context, "study_run", l->study->space.count, sizeof *l->x, (void **)&l->x));
    for (int64_t i = 0; i < o->parallel; i++) l->trials[i] = -1;
done:
    return status;
}

/* What was running goes back to the queue and to the file; the message stays that of the failure. */
static gram_status put_back(loop *l, gram_status status)
{
    char message[GRAM_MESSAGE_SIZE], advice[GRAM_MESSAGE_SIZE];
    gram_study_requeue(l->study);
    if (status >= 0) return save(l);
    if (status == GRAM_ERROR_CANCELLED) {
        (void)gram_fail(l->context, status, "interrupted after %lld evaluations", (long long)l->study->told);
        (void)gram_advise(l->context, status,
                          l->options.file ? "The study is kept: go on with --resume."
                                          : "Without --study nothing is kept.");
    }
    memcpy(message, l->context->message, sizeof message);
    memcpy(advice, l->context->advice, sizeof advice);
    (void)save(l);
    return gram_advise(l->context, gram_fail(l->context, status, "%s", message), advice);
}

gram_status gram_study_run(gram_context *context, gram_study *study, const gram_study_run_options *options,
                           const char **why)
{
    gram_status status = GRAM_OK;
    loop l = {.context = context, .study = study};
    if (!context || !study || !options) return GRAM_ERROR_ARGUMENT;
    TRY(prepare(&l, options));
    status = put_back(&l, turn(&l));
    if (why) *why = l.why;
done:
    gram_give(context, l.trials);
    gram_give(context, l.x);
    return status;
}
