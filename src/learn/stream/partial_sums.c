/* Sums over parts of the rows, and models from sums: a fit that is spread over processes or machines.
 *
 * A model of sums holds the preparation, the features and what the rows added up to. Sums of other rows are made `like` one of them, and so have
 * the same preparation and features; then they add up to those of all rows together, to rounding, however the rows were parted. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "learn/learn_steps.h"
#include "learn/learner.h"
#include "learn/method_table.h"
#include "learn/stream/learn_stream.h"

static gram_status no_sums(gram_learning *learning, const char *name)
{
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "`gram accumulate` makes them.",
                              "%s is not a file of sums but a model", name);
}

/* The method that the sums are for takes over, with the settings that were given. */
static gram_status begin_from(gram_context *context, gram_learner *learner, const char *source, const gram_model *first,
                              const char *name, int with_sums)
{
    gram_status status = GRAM_OK;
    gram_learning *learning = &learner->learning;
    TRY(gram_learning_begin(context, learner, source));
    const gram_method *row = gram_method_of_model(first);
    if (!row || !row->sums_of) return no_sums(learning, name);
    learning->method = row->sums_of;
    learning->task = GRAM_TASK_REGRESSION;
    learning->streamed = 1;
    TRY(gram_learning_read_settings(learning));
    learning->preparation = gram_preparation_retain(gram_model_preparation(first));
    TRY(learning->method->streaming->restore(learning, first, name, with_sums));
done:
    return status;
}

static gram_status accumulate_like(gram_context *context, gram_learner *learner, const char *path, gram_format format,
                                   const gram_model *like)
{
    gram_status status = GRAM_OK;
    gram_learning *learning = &learner->learning;
    int64_t rows = 0;
    TRY(begin_from(context, learner, gram_data_name(path), like, "like", 0));
    TRY(gram_learning_add_file(learning, path, format, &rows));
    learning->file_rows = learning->first_row;
    TRY(learning->method->streaming->keep_sums(learning));
done:
    return status < 0 ? gram_learning_unread(learning, status) : status;
}

gram_status gram_accumulate_file(gram_context *context, gram_learner *learner, const char *path, gram_format format,
                                 const gram_model *like, int plan, gram_model **sums)
{
    gram_status status = GRAM_OK;
    if (!context || !learner || !path || !sums) return GRAM_ERROR_ARGUMENT;
    *sums = NULL;
    if (like) {
        status = accumulate_like(context, learner, path, format, like);
    } else {
        status = gram_learning_begin(context, learner, gram_data_name(path));
        if (status >= 0)
            status = gram_learning_stream(&learner->learning, path, format, plan ? GRAM_STREAM_PLAN : GRAM_STREAM_SUMS);
    }
    return gram_learner_finish(learner, status, sums);
}

gram_status gram_merge_sums(gram_context *context, gram_learner *learner, int64_t count, const gram_model *const *sums,
                            const char *const *names, int partial, gram_model **model)
{
    gram_status status = GRAM_OK;
    if (!context || !learner || count < 1 || !sums || !model) return GRAM_ERROR_ARGUMENT;
    *model = NULL;
    gram_learning *learning = &learner->learning;
    char place[32] = "sums[0]";
    TRY(begin_from(context, learner, "the sums", sums[0], names ? names[0] : place, 1));
    const gram_streaming *way = learning->method->streaming;
    for (int64_t i = 1; i < count; i++) {
        const gram_method *row = gram_method_of_model(sums[i]);
        (void)snprintf(place, sizeof place, "sums[%" PRId64 "]", i);
        if (!row || row->sums_of != learning->method) TRY(no_sums(learning, names ? names[i] : place));
        TRY(way->restore(learning, sums[i], names ? names[i] : place, 1));
    }
    if (!partial) TRY(way->finish(learning));
    TRY(partial ? way->keep_sums(learning) : learning->method->keep(learning));
done:
    if (status < 0) status = gram_learning_advise(learning, status);
    return gram_learner_finish(learner, status, model);
}
