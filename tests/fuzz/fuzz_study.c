/* Study files. Whatever the bytes are, they are refused with a message, or they are a study: then what is written of it reads back to the
 * same trials, its queue and its start can be asked for, and it can be told values. */
#define _GNU_SOURCE
#include "require.h"
#include "temporary_file.h"

#include <math.h>
#include <string.h>

#include <gram/gram.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_VARIABLES = 64, WRITTEN = 32 }; /* one in so many is written: that waits for the disk */

static gram_context *make_context(void)
{
    gram_context *context;
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.memory_budget = 64 << 20;
    options.threads = 1;
    require(gram_context_create(&options, &context) == GRAM_OK);
    return context;
}

static void same_trial(gram_context *context, const gram_study *a, const gram_study *b, int64_t i)
{
    gram_trial s = {.size = sizeof s}, t = {.size = sizeof t};
    require(gram_study_trial(context, a, i, &s) == GRAM_OK && gram_study_trial(context, b, i, &t) == GRAM_OK);
    require(s.state == t.state && s.row == t.row && s.feasible == t.feasible);
    require(s.value == t.value || (isnan(s.value) && isnan(t.value)));
    require(memcmp(s.x, t.x, (size_t)gram_study_variable_count(a) * sizeof *s.x) == 0);
}

static void write_and_read(gram_context *context, const gram_study *study)
{
    char path[] = "/tmp/fuzz_study_XXXXXX";
    gram_study *back = NULL;
    const int descriptor = mkstemp(path);
    require(descriptor >= 0);
    (void)close(descriptor);
    require(gram_study_write(context, study, path) == GRAM_OK);
    require(gram_study_read(context, path, &back) == GRAM_OK);
    require(gram_study_check_same(context, study, back) == GRAM_OK);
    require(gram_study_trial_count(study) == gram_study_trial_count(back));
    require(gram_study_evaluation_count(study) == gram_study_evaluation_count(back));
    for (int64_t i = 0; i < gram_study_trial_count(study); i++) same_trial(context, study, back, i);
    gram_study_destroy(back);
    (void)unlink(path);
}

/* What needs no model: points of the queue and of the start, while nothing has a value. */
static void go_on(gram_context *context, gram_study *study)
{
    double x[MOST_VARIABLES], limits[100] = {0};
    gram_proposal p = {.size = sizeof p};
    gram_trial t = {.size = sizeof t};
    if (gram_study_variable_count(study) > MOST_VARIABLES) return;
    for (int64_t i = 0; i < gram_study_trial_count(study); i++) {
        require(gram_study_trial(context, study, i, &t) == GRAM_OK);
        if (t.state == GRAM_TRIAL_DONE) return;
    }
    gram_study_requeue(study);
    if (gram_study_ask(context, study, x, &p) < 0) return; /* all candidates were proposed, or there is no memory */
    require(gram_study_tell(context, study, p.trial, NAN, NULL) == GRAM_OK);
    require(gram_study_add(context, study, x, 1.5, limits) == GRAM_OK);
    require(gram_study_best(study) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gram_context *context = make_context();
    gram_study *study = NULL;
    const gram_status status = gram_study_read(context, temporary_file(data, size), &study);
    require((status == GRAM_OK) == (study != NULL));
    require(status == GRAM_OK || gram_context_message(context)[0] != '\0');
    require(status == GRAM_OK || status == GRAM_ERROR_DATA || status == GRAM_ERROR_BUDGET ||
            status == GRAM_ERROR_MEMORY || status == GRAM_ERROR_OVERFLOW);
    if (study) {
        if (data[size / 2] % WRITTEN == 0) write_and_read(context, study);
        go_on(context, study);
    }
    gram_study_destroy(study);
    gram_context_destroy(context);
    return 0;
}
