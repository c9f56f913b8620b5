/* Beginning a study from variables and points in words, or going on with one that a file keeps; values told in words. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <gram/study_run.h>

#include "base/sized_struct.h"
#include "base/text/number.h"
#include "study/study_core.h"

enum { MOST_VALUES = 101 };

/* The message so far with words before it and advice after it. Returns the status. */
static gram_status blame(gram_context *context, gram_status status, const char *before, const char *advice)
{
    char message[GRAM_MESSAGE_SIZE];
    memcpy(message, context->message, sizeof message);
    return gram_advise(context, gram_fail(context, status, "%.100s: %.390s", before, message), advice);
}

/* ---- beginning ---- */

static gram_status suggest_points(gram_context *context, gram_study *study, int64_t count, const char *const *points)
{
    gram_status status = GRAM_OK;
    double *x = NULL;
    TRY(gram_take(context, "study_begin", study->space.count, sizeof *x, (void **)&x));
    for (int64_t i = 0; i < count; i++) {
        status = gram_study_parse_point(context, study, points[i], x);
        if (status >= 0) status = gram_study_suggest(context, study, x);
        if (status == GRAM_ERROR_DATA)
            status =
                blame(context, GRAM_ERROR_ARGUMENT, "point", "Write NAME=VALUE,NAME=VALUE with every variable once.");
        TRY(status);
    }
done:
    gram_give(context, x);
    return status;
}

static gram_status make_new(gram_context *context, const gram_variables *variables, const gram_study_options *given,
                            gram_study **study)
{
    gram_status status = GRAM_OK;
    gram_study_options options;
    int64_t count = 0;
    const gram_variable *list = gram_variables_list(variables, &count);
    gram_study_options_init(&options, sizeof options);
    TRY(gram_sized_read(context, "study_begin", "options", "gram_study_options", given, &options, sizeof options));
    options.candidates = gram_variables_candidates(variables, &options.candidate_count);
    TRY(gram_study_create(context, count, list, &options, study));
done:
    return status;
}

/* The study of the file in the place of the new one, if it is of the same problem. */
static gram_status go_on(gram_context *context, const char *file, gram_study **study)
{
    gram_status status = GRAM_OK;
    gram_study *kept = NULL;
    TRY(gram_study_read(context, file, &kept));
    status = gram_study_check_same(context, kept, *study);
    if (status < 0) TRY(blame(context, status, file, "Use the variables it has, or another file."));
    gram_study_requeue(kept);
    gram_study_destroy(*study);
    *study = kept;
    kept = NULL;
done:
    gram_study_destroy(kept);
    return status;
}

gram_status gram_study_begin(gram_context *context, const gram_variables *variables, const gram_study_options *options,
                             int64_t point_count, const char *const *points, const char *file, int resume,
                             gram_study **study)
{
    gram_status status = GRAM_OK;
    gram_study *made = NULL;
    if (!context || !study) return GRAM_ERROR_ARGUMENT;
    *study = NULL;
    FAIL_IF(!variables, context, GRAM_ERROR_ARGUMENT, "study_begin: variables is NULL");
    TRY(make_new(context, variables, options, &made));
    TRY(suggest_points(context, made, point_count, points));
    const int exists = file && access(file, F_OK) == 0;
    if (exists && !resume) {
        status = gram_fail(context, GRAM_ERROR_ARGUMENT, "%s exists already", file);
        TRY(gram_advise(context, status, "Go on with it by --resume, or name another file."));
    }
    if (exists) TRY(go_on(context, file, &made));
    *study = made;
    made = NULL;
done:
    gram_study_destroy(made);
    return status;
}

/* ---- telling ---- */

static gram_status read_words(gram_context *context, const gram_study *study, const char *const *words, double *values)
{
    gram_status status = GRAM_OK;
    const int64_t wanted = 1 + study->options.constraints;
    int64_t count = 0;
    for (; words[count]; count++) {
        const char *word = words[count] + strspn(words[count], " ");
        const size_t length = strlen(word);
        double value = NAN;
        const int failed = count == 0 && strcmp(word, "failed") == 0;
        FAIL_IF(!failed && (length == 0 || gram_number_read(word, length, &value) != length), context,
                GRAM_ERROR_ARGUMENT, "'%.200s' is not a number", word);
        FAIL_IF(!failed && !isfinite(value), context, GRAM_ERROR_ARGUMENT, "'%.200s' is not finite", word);
        if (count < MOST_VALUES) values[count] = value;
    }
    FAIL_IF(count < 1 || (count != wanted && !isnan(values[0])), context, GRAM_ERROR_ARGUMENT,
            "%lld numbers for a value and %lld constraints", (long long)count, (long long)wanted - 1);
done:
    return status < 0 ? gram_advise(context, status, "Give a number or the word failed, and then each constraint.")
                      : status;
}

static gram_status tell_point(gram_context *context, gram_study *study, const char *point, const double *values)
{
    gram_status status = GRAM_OK;
    double *x = NULL;
    TRY(gram_take(context, "study_tell_words", study->space.count, sizeof *x, (void **)&x));
    TRY(gram_study_parse_point(context, study, point, x));
    TRY(gram_study_add(context, study, x, values[0], values + 1));
done:
    gram_give(context, x);
    return status;
}

static gram_status find_oldest(gram_context *context, const gram_study *study, int64_t *trial)
{
    for (*trial = 0; *trial < study->count; ++*trial)
        if (study->records[*trial].state == GRAM_TRIAL_RUNNING) return GRAM_OK;
    return gram_advise(context, gram_fail(context, GRAM_ERROR_ARGUMENT, "no point was asked for and not told yet"),
                       "Ask first, or give the point with --point.");
}

gram_status gram_study_tell_words(gram_context *context, gram_study *study, int64_t trial, const char *point,
                                  const char *const *words)
{
    gram_status status = GRAM_OK;
    double values[MOST_VALUES] = {0};
    if (!context || !study || !words) return GRAM_ERROR_ARGUMENT;
    TRY(read_words(context, study, words, values));
    if (point) {
        status = tell_point(context, study, point, values);
        if (status == GRAM_ERROR_DATA)
            status =
                blame(context, GRAM_ERROR_ARGUMENT, "point", "Write NAME=VALUE,NAME=VALUE with every variable once.");
        goto done;
    }
    if (trial < 0) TRY(find_oldest(context, study, &trial));
    const int exists = trial < study->count;
    if (!exists || study->records[trial].state >= GRAM_TRIAL_DONE) {
        status = gram_fail(context, GRAM_ERROR_ARGUMENT,
                           exists ? "trial %lld was told already" : "there is no trial %lld", (long long)trial + 1);
        TRY(gram_advise(context, status, "gram optimize ask FILE prints the number of a trial."));
    }
    TRY(gram_study_tell(context, study, trial, values[0], values + 1));
done:
    return status;
}
