/* Studies at work: a file that one process at a time works on, the search as a loop over runs of a command, and what people read of it.
 * What gram optimize, ask, tell and report do: each is one call here. <gram/study.h> has what they stand on.
 *
 * Messages name no function here, because they are shown as they are; the context's advice says what to do. */
#ifndef GRAM_STUDY_RUN_H
#define GRAM_STUDY_RUN_H

#include <gram/study.h>

GRAM_BEGIN

/* ---- one process at a time ---- */

/* Two processes that read a study, add to it and write it would each lose what the other added. The lock is the file PATH.lock: the system
 * holds it for the process and lets go whenever that ends, so one that is left over after a sudden death locks nothing. Taking it removes
 * what a process that died had half written. */
typedef struct gram_study_lock gram_study_lock;

/* Waits up to `seconds` for another process to finish; then GRAM_ERROR_ARGUMENT. GRAM_ERROR_FILE: nothing can be written there. The caller
 * releases the lock; the release takes NULL. */
GRAM_API gram_status gram_study_lock_take(gram_context *context, const char *path, double seconds,
                                          gram_study_lock **lock);
GRAM_API void gram_study_lock_release(gram_study_lock *lock);

/* ---- beginning, and going on ---- */

/* A study that is new, with points to evaluate first (as gram_study_parse_point reads them); or that of the file, if `resume` and there is one, with
 * what was running in the queue again. options may be NULL; its candidates are those of the variables. file may be NULL. GRAM_ERROR_ARGUMENT: variables, options
 * or points are wrong, or there is a file and no `resume`; GRAM_ERROR_DATA: the file is not a study, or one of another problem. The caller
 * destroys the study. */
GRAM_API gram_status gram_study_begin(gram_context *context, const gram_variables *variables,
                                      const gram_study_options *options, int64_t point_count, const char *const *points,
                                      const char *file, int resume, gram_study **study);

/* ---- runs of a command ---- */

/* A search, and how its commands are run: processes are the caller's, the library starts none. Slots are numbers from 0 to parallel - 1. */
typedef struct gram_study_run_options {
    size_t size;
    const char *const *command; /* words with {NAME} in them, NULL at the end; see gram_study_check_words */
    int64_t budget;             /* evaluations in all, earlier ones among them */
    /* Starts the words (NULL at the end) in a slot that is free. 0, or an errno that says why they cannot be run. */
    int (*start)(void *argument, int64_t slot, char *const *words);
    /* Waits a moment (a tenth of a second or so) for one to end: its slot, or -1. Then *line is its last line of output, or, unless it is
     * NULL, *why says how it failed. Both stay until the next call. */
    int64_t (*wait)(void *argument, const char **line, const char **why);
    void *argument;
    /* An evaluation (from 1) gave no value. May be NULL. */
    void (*failed)(void *argument, int64_t evaluation, const char *why);
    /* After each evaluation. May be NULL; a failure ends the run. */
    gram_status (*told)(void *argument, gram_study *study);
    const char *file; /* the study's, written before and after each run; NULL: none */
    int64_t parallel; /* runs at the same time, 1 (default) to 256 */
    double tolerance; /* ends once the expected improvement of the next point is below it; NaN (default): never */
} gram_study_run_options;

GRAM_API void gram_study_run_options_init(gram_study_run_options *options, size_t size);

/* Asks, runs and tells until the budget is spent or there is nothing more to gain: *why then says so (static), else it is NULL. A trial is in the
 * file before its command starts and again when it has ended: whenever the process dies, the file has every evaluation that it was told of, and
 * what was running. GRAM_ERROR_ARGUMENT: a word is wrong, or the command cannot be run. After any failure, GRAM_ERROR_CANCELLED too, what was running is
 * in the queue again and the file is written; commands that still run are the caller's to stop. */
GRAM_API gram_status gram_study_run(gram_context *context, gram_study *study, const gram_study_run_options *options,
                                    const char **why);

/* ---- by hand ---- */

/* Asks for up to `count` points and adds them to one of the two: a line of "trial 3: x=1 rate=0.1" each to text, or, where that is NULL, an array
 * of objects under the key "points" to json. GRAM_ERROR_ARGUMENT when all candidates were proposed before. */
GRAM_API gram_status gram_study_ask_words(gram_context *context, gram_study *study, int64_t count, gram_string *text,
                                          gram_json *json);

/* A value in words: a number, or "failed", and after it the constraints (NULL at the end). It is of `trial`, from 0 (messages count from 1); -1: the oldest that was asked for; or, unless it is NULL,
 * of `point`, which nobody asked for. GRAM_ERROR_ARGUMENT says what is wrong. */
GRAM_API gram_status gram_study_tell_words(gram_context *context, gram_study *study, int64_t trial, const char *point,
                                           const char *const *words);

/* ---- reports ---- */

/* Rows of a label and a value for people: evaluations, the file and why the search ended (NULL: nothing of it), the best value and what
 * the model says there, the best point and how much each variable matters. `bold` and `plain` stand about headings. Learns the model. */
GRAM_API gram_status gram_study_report(gram_context *context, gram_study *study, const char *file, const char *why,
                                       const char *bold, const char *plain, gram_string *text);

GRAM_END

#endif
