/* Studies at work: locks, the loop over runs, files without memory, values in words. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oom.h"
#include "support.h"

static gram_study *make(gram_context *context)
{
    static const gram_variable plane[] = {{"x", GRAM_VARIABLE_REAL, -5, 10, 0, NULL},
                                          {"n", GRAM_VARIABLE_INTEGER, 0, 15, 0, NULL}};
    gram_study *study;
    OK(context, gram_study_create(context, 2, plane, NULL, &study));
    return study;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* ---- the lock ---- */

static void one_at_a_time(void **state)
{
    gram_context *context = *state;
    gram_study_lock *first = NULL, *second = NULL;
    OK(context, gram_study_lock_take(context, "locked.json", 0, &first));
    assert_int_equal(access("locked.json.lock", F_OK), 0);
    REFUSED(context, gram_study_lock_take(context, "locked.json", 0.1, &second), GRAM_ERROR_ARGUMENT,
            "locked.json: another process works on this study");
    assert_null(second);
    gram_study_lock_release(first);
    assert_int_not_equal(access("locked.json.lock", F_OK), 0);
    OK(context, gram_study_lock_take(context, "locked.json", 0, &second));
    gram_study_lock_release(second);
    gram_study_lock_release(NULL);
    REFUSED(context, gram_study_lock_take(context, "no/such/folder.json", 0, &first), GRAM_ERROR_FILE,
            "cannot be written");
}

/* A process that died left its lock and a file that it had half written; a living one's files stay. */
static void the_dead_are_swept(void **state)
{
    gram_context *context = *state;
    gram_study_lock *lock = NULL;
    write_text("dead.json.lock", "999999\n");
    write_text(".dead.json.999999-0", "half");
    write_text(".dead.json.999999-1", "half");
    write_text(".dead.json.999998-0", "another's");
    OK(context, gram_study_lock_take(context, "dead.json", 0, &lock));
    assert_int_not_equal(access(".dead.json.999999-0", F_OK), 0);
    assert_int_not_equal(access(".dead.json.999999-1", F_OK), 0);
    assert_int_equal(access(".dead.json.999998-0", F_OK), 0);
    gram_study_lock_release(lock);
    assert_int_equal(unlink(".dead.json.999998-0"), 0);
}

/* ---- the loop ---- */

enum { MOST = 4 };

/* Runs that end in the order in which they were started, each with the line "value" of its words; some do not. */
typedef struct bench {
    gram_context *context;
    int64_t slots[MOST], running, most, started, told;
    char lines[MOST][64];
    int64_t fails_at, refuses_at, cancels_at; /* 0: never */
    char failure[128];
} bench;

static int start(void *argument, int64_t slot, char *const *words)
{
    bench *b = argument;
    assert_true(slot >= 0 && slot < MOST && b->running < MOST);
    for (int64_t i = 0; i < b->running; i++) assert_int_not_equal(b->slots[i], slot);
    b->started++;
    if (b->started == b->refuses_at) return ENOENT;
    assert_string_equal(words[0], "f");
    (void)snprintf(b->lines[slot], sizeof b->lines[slot], "%s",
                   b->started == b->fails_at ? "no number" : words[1] + strlen("--x="));
    b->slots[b->running++] = slot;
    if (b->running > b->most) b->most = b->running;
    return 0;
}

static int64_t wait_for_one(void *argument, const char **line, const char **why)
{
    bench *b = argument;
    const int64_t slot = b->slots[0];
    assert_true(b->running > 0);
    memmove(b->slots, b->slots + 1, sizeof b->slots - sizeof *b->slots);
    b->running--;
    *line = b->lines[slot];
    (void)why;
    return slot;
}

static void failed(void *argument, int64_t evaluation, const char *why)
{
    bench *b = argument;
    (void)snprintf(b->failure, sizeof b->failure, "%d: %s", (int)evaluation, why);
}

static gram_status told(void *argument, gram_study *study)
{
    bench *b = argument;
    b->told++;
    assert_int_equal(gram_study_evaluation_count(study), b->told);
    return b->told == b->cancels_at ? GRAM_ERROR_CANCELLED : GRAM_OK;
}

static const char *const COMMAND[] = {"f", "--x={x}", "{n}", NULL};

static gram_study_run_options search(bench *b, int64_t budget, int64_t parallel)
{
    gram_study_run_options options;
    gram_study_run_options_init(&options, sizeof options);
    options.command = COMMAND;
    options.budget = budget;
    options.parallel = parallel;
    options.start = start;
    options.wait = wait_for_one;
    options.failed = failed;
    options.told = told;
    options.argument = b;
    return options;
}

static void a_budget_is_spent(void **state)
{
    gram_context *context = *state;
    gram_study *study = make(context), *back;
    bench b = {.context = context, .fails_at = 2};
    gram_study_run_options options = search(&b, 7, 3);
    gram_trial trial = {.size = sizeof trial};
    const char *why = "";
    options.file = "run.json";
    OK(context, gram_study_run(context, study, &options, &why));
    assert_null(why);
    assert_int_equal(b.started, 7);
    assert_int_equal(b.most, 3);
    assert_string_equal(b.failure, "2: its last line is not a number: 'no number'");
    OK(context, gram_study_read(context, "run.json", &back));
    assert_int_equal(gram_study_evaluation_count(back), 7);
    for (int i = 0; i < 7; i++) { /* the value is the first variable, to the last digit */
        OK(context, gram_study_trial(context, back, i, &trial));
        assert_true(i == 1 ? trial.state == GRAM_TRIAL_FAILED : trial.value == trial.x[0]);
    }
    gram_study_destroy(back);
    gram_study_destroy(study);
}

static void it_ends_early(void **state)
{
    gram_context *context = *state;
    gram_study *study = make(context);
    bench b = {.context = context};
    gram_study_run_options options = search(&b, 50, 1);
    const char *why = NULL;
    options.tolerance = 1e9;
    OK(context, gram_study_run(context, study, &options, &why));
    assert_string_equal(why, "the expected improvement is below the tolerance");
    assert_true(b.started < 10);
    gram_study_destroy(study);
}

/* Whatever ends it: what was running is in the queue of the file. */
static void what_ran_is_queued(void **state)
{
    gram_context *context = *state;
    gram_study *study = make(context), *back;
    bench b = {.context = context, .cancels_at = 3};
    gram_study_run_options options = search(&b, 9, 2);
    gram_trial trial = {.size = sizeof trial};
    options.file = "cut.json";
    REFUSED(context, gram_study_run(context, study, &options, NULL), GRAM_ERROR_CANCELLED,
            "interrupted after 3 evaluations");
    OK(context, gram_study_read(context, "cut.json", &back));
    assert_int_equal(gram_study_evaluation_count(back), 3);
    assert_int_equal(gram_study_trial_count(back), 4);
    OK(context, gram_study_trial(context, back, 3, &trial));
    assert_int_equal(trial.state, GRAM_TRIAL_QUEUED);
    gram_study_destroy(back);
    b = (bench){.context = context, .refuses_at = 1, .told = 3};
    options.argument = &b;
    REFUSED(context, gram_study_run(context, study, &options, NULL), GRAM_ERROR_ARGUMENT, "cannot run 'f': ");
    options.budget = 0;
    REFUSED(context, gram_study_run(context, study, &options, NULL), GRAM_ERROR_ARGUMENT, "budget = 0");
    gram_study_destroy(study);
}

/* ---- words ---- */

static void values_in_words(void **state)
{
    gram_context *context = *state;
    gram_study *study = make(context);
    gram_string text = {0};
    gram_trial trial = {.size = sizeof trial};
    REFUSED(context, gram_study_tell_words(context, study, -1, NULL, (const char *const[]){"1", NULL}),
            GRAM_ERROR_ARGUMENT, "no point was asked for");
    OK(context, gram_study_ask_words(context, study, 2, &text, NULL));
    assert_non_null(strstr(text.data, "trial 2: x="));
    gram_string_free(&text);
    REFUSED(context, gram_study_tell_words(context, study, -1, NULL, (const char *const[]){"1x", NULL}),
            GRAM_ERROR_ARGUMENT, "'1x' is not a number");
    REFUSED(context, gram_study_tell_words(context, study, -1, NULL, (const char *const[]){"1e999", NULL}),
            GRAM_ERROR_ARGUMENT, "'1e999' is not finite");
    REFUSED(context, gram_study_tell_words(context, study, -1, NULL, (const char *const[]){"1", "2", NULL}),
            GRAM_ERROR_ARGUMENT, "2 numbers for a value and 0 constraints");
    REFUSED(context, gram_study_tell_words(context, study, 7, NULL, (const char *const[]){"1", NULL}),
            GRAM_ERROR_ARGUMENT, "there is no trial 8");
    OK(context, gram_study_tell_words(context, study, 1, NULL, (const char *const[]){" -2.5", NULL}));
    OK(context, gram_study_tell_words(context, study, -1, NULL, (const char *const[]){"failed", NULL}));
    OK(context, gram_study_tell_words(context, study, -1, "n=3,x=1", (const char *const[]){"4", NULL}));
    OK(context, gram_study_trial(context, study, 1, &trial));
    assert_true(trial.value == -2.5);
    assert_int_equal(gram_study_evaluation_count(study), 3);
    OK(context, gram_study_report(context, study, "s.json", NULL, "<", ">", &text));
    assert_non_null(
        strstr(text.data, "evaluations         3, 1 failed\nstudy               s.json\nbest value          -2.5\n"));
    assert_non_null(strstr(text.data, "\n<Best point>\nx "));
    gram_string_free(&text);
    gram_study_destroy(study);
}

/* ---- without memory ---- */

static gram_status through_a_file(gram_context *context)
{
    gram_status status = GRAM_OK;
    const char *const texts[] = {"x=0:1", "w=oak,ash,elm"}, *const point = "x=0.5,w=ash";
    gram_variables *variables = NULL;
    gram_study *study = NULL, *back = NULL;
    gram_study_lock *lock = NULL;
    STEP(gram_study_lock_take(context, "oom.json", 0, &lock));
    STEP(gram_variables_parse(context, 2, texts, &variables));
    STEP(gram_study_begin(context, variables, NULL, 1, &point, "oom.json", 1, &study));
    STEP(gram_study_tell_words(context, study, -1, "x=0.25,w=elm", (const char *const[]){"3", NULL}));
    STEP(gram_study_write(context, study, "oom.json"));
    STEP(gram_study_read(context, "oom.json", &back));
done:
    (void)unlink("oom.json");
    gram_study_destroy(back);
    gram_study_destroy(study);
    gram_variables_destroy(variables);
    gram_study_lock_release(lock);
    return status;
}

static void files_without_memory(void **state)
{
    (void)state;
    assert_true(oom_some(through_a_file, 60, 7) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_at_a_time),       cmocka_unit_test(the_dead_are_swept),
                                       cmocka_unit_test(a_budget_is_spent),   cmocka_unit_test(it_ends_early),
                                       cmocka_unit_test(what_ran_is_queued),  cmocka_unit_test(values_in_words),
                                       cmocka_unit_test(files_without_memory)};
    return cmocka_run_group_tests(tests, test_open, test_close);
}
