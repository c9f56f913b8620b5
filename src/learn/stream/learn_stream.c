/* Learning from a file in passes, for tables that are larger than memory.
 *
 * The first pass learns the preparation and keeps a sample of the rows. With the sample the learner does what it does with all
 * rows of a table: it decides task, method and kernel, and the method chooses numbers and features (`begin`). The second pass hands every row to the
 * method, block by block (`add`). What a pass holds does not grow with the file. A file that changes meanwhile is refused. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ranks/collective.h"
#include "data/file_stamp.h"
#include "data/preparation.h"
#include "learn/estimate/error_estimate.h"
#include "learn/learn_steps.h"
#include "learn/learner.h"
#include "learn/method_table.h"
#include "learn/stream/learn_stream.h"

enum { SAMPLE_ROWS = 10000, LEAST_SAMPLE = 200, FIRST_ROWS = 256, MOST_ROWS = 65536, LEAST_ROWS = 64 };

/* ---- may it be done? ---- */

int gram_learning_wants_stream(const gram_learning *learning)
{
    const char *text = gram_learning_common(learning, GRAM_COMMON_STREAM);
    return text ? strcmp(text, "yes") == 0 : -1;
}

/* An option that needs the whole table, or NULL. */
static const char *needs_table(const gram_learning *learning)
{
    static const gram_common_option WHOLE[] = {GRAM_COMMON_GROUPS, GRAM_COMMON_KIND, GRAM_COMMON_BAG};
    for (size_t i = 0; i < sizeof WHOLE / sizeof *WHOLE; i++)
        if (gram_learning_common(learning, WHOLE[i])) return gram_common_options[WHOLE[i]].name;
    if (gram_given_text(learning, "row-noise")) return "row-noise";
    return learning->initial ? "initial" : learning->before ? "resume" : NULL;
}

int gram_learning_may_stream(const gram_learning *learning, const char *path)
{
    gram_file_stamp stamp;
    return gram_learning_wants_stream(learning) != 0 && !needs_table(learning) &&
           (!learning->method || (learning->method->streaming && learning->method->streaming->possible(learning))) &&
           strcmp(path, "-") != 0 && gram_file_stamp_take(learning->context, path, &stamp) >= 0;
}

static int has_streaming(const gram_method *method, const void *argument)
{
    (void)argument;
    return method->streaming != NULL;
}

static gram_status check_method(gram_learning *learning)
{
    char names[64], advice[160];
    if (learning->method->streaming) return GRAM_OK;
    (void)snprintf(advice, sizeof advice, "Raise --memory, use fewer rows, or a method that reads in passes: %s.",
                   gram_method_list(has_streaming, NULL, " or", names, sizeof names));
    return gram_learning_fail(learning, GRAM_ERROR_BUDGET, advice,
                              "the table does not fit in memory, and %s needs all of its rows at once",
                              learning->method->title);
}

static gram_status check_use(gram_learning *learning)
{
    const char *option = needs_table(learning);
    if (gram_learning_has_views(learning))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave it out.", "--stream is for one view");
    if (!option) return learning->method ? check_method(learning) : GRAM_OK;
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave one of them out.",
                              "--%s needs the whole table, and --stream reads it in passes", option);
}

/* ---- blocks ---- */

/* Rows of a block: some megabytes of them, less if the budget is small. */
static int64_t block_rows(const gram_context *context, int64_t columns)
{
    const size_t budget = gram_memory_budget(context->memory), large = 8 << 20;
    const int64_t share = (int64_t)(budget > 0 && budget / 64 < large ? budget / 64 : large);
    const int64_t rows = share / (8 * (columns > 0 ? columns : 1));
    return rows < LEAST_ROWS ? LEAST_ROWS : rows > MOST_ROWS ? MOST_ROWS : rows;
}

/* At most an eighth of the budget, with the prepared rows. */
static int64_t sample_rows(const gram_context *context, int64_t columns)
{
    const size_t budget = gram_memory_budget(context->memory);
    const int64_t fits = (int64_t)(budget / 8) / (32 * (columns > 0 ? columns : 1));
    if (budget == 0 || fits > SAMPLE_ROWS) return SAMPLE_ROWS;
    return fits < LEAST_SAMPLE ? LEAST_SAMPLE : fits;
}

/* ---- the first pass ---- */

typedef struct first_pass {
    gram_learning *learning;
    gram_preparation_options options;
    gram_reader *reader;
    gram_block_learner *learner;
    int64_t restarts; /* that the block learner has seen */
    int64_t most;     /* rows of a block */
} first_pass;

static gram_status add_block(first_pass *pass, const gram_table *table)
{
    gram_status status = GRAM_OK;
    gram_learning *learning = pass->learning;
    gram_context *context = learning->context;
    if (!pass->learner || pass->restarts != gram_reader_restarts(pass->reader)) {
        gram_block_learner_destroy(pass->learner);
        pass->learner = NULL;
        pass->restarts = gram_reader_restarts(pass->reader);
        pass->most = block_rows(context, gram_table_columns(table));
        learning->file_rows = 0;
        TRY(gram_block_learner_create(context, &pass->options, sample_rows(context, gram_table_columns(table)),
                                      &pass->learner));
    }
    TRY(gram_block_learner_add(context, pass->learner, table));
    learning->file_rows += gram_table_rows(table);
done:
    return status;
}

static gram_status learn_preparation(gram_learning *learning, const char *path, gram_format format)
{
    gram_status status = GRAM_OK;
    gram_context *context = learning->context;
    gram_table_options reading;
    const gram_table *table = NULL;
    gram_table *sample = NULL;
    first_pass pass = {.learning = learning, .most = FIRST_ROWS};
    gram_learning_preparation_options(learning, NULL, NULL, 0, &pass.options);
    gram_table_options_init(&reading, sizeof reading);
    reading.format = format;
    reading.text = GRAM_TEXT_CATEGORIES;
    reading.keep_missing = 1;
    reading.missing_texts = gram_learning_common(learning, GRAM_COMMON_NA);
    reading.categories = gram_learning_common(learning, GRAM_COMMON_CATEGORIES);
    TRY(gram_reader_open(context, path, &reading, &pass.reader));
    do {
        TRY(gram_reader_next(context, pass.reader, pass.most, &table));
        if (table) TRY(add_block(&pass, table));
    } while (table);
    TRY(gram_block_learner_finish(context, pass.learner, &learning->preparation, &learning->n, &sample));
    TRY(gram_preparation_apply(context, learning->preparation, sample, 1, &learning->data));
    learning->sample_rows = learning->data->n;
done:
    gram_table_destroy(sample);
    gram_block_learner_destroy(pass.learner);
    gram_reader_close(pass.reader);
    return status;
}

/* ---- the second pass ---- */

/* A block is looked at as the data would be. */
static gram_status add_rows(gram_learning *learning, const gram_table *table, int64_t *rows)
{
    gram_status status = GRAM_OK;
    gram_prepared *sample = learning->data, *block = NULL;
    TRY(gram_preparation_apply_block(learning->context, learning->preparation, table, &block));
    if (block->n > 0) {
        learning->data = block;
        status = gram_learning_check_numbers(learning);
        if (status >= 0) status = learning->method->streaming->add(learning, block);
        if (status < 0) status = gram_learning_advise(learning, status); /* while the row is known */
        for (int64_t i = 0; i < block->n; i++) *rows += !block->weights || block->weights[i] > 0;
    }
    learning->data = sample;
done:
    gram_prepared_destroy(block);
    return status;
}

/* Every rank goes through the file, and parses and adds every so many-th of its blocks. */
static gram_status join_rows(gram_learning *learning, int64_t *rows)
{
    gram_status status = GRAM_OK;
    double all = (double)*rows;
    TRY(gram_ranks_sum(learning->context, "rows", 1, &all));
    TRY(learning->method->streaming->join(learning));
    *rows = (int64_t)all;
done:
    return status;
}

/* The next block; *count is 0 at the end. */
static gram_status add_block_of(gram_learning *learning, gram_reader *reader, int64_t most, int64_t *count,
                                int64_t *rows)
{
    gram_status status = GRAM_OK;
    const gram_table *table = NULL;
    *count = 0;
    TRY(gram_reader_next(learning->context, reader, most, &table));
    if (!table) return status;
    *count = gram_table_rows(table);
    TRY(add_rows(learning, table, rows));
done:
    return status;
}

gram_status gram_learning_add_file(gram_learning *learning, const char *path, gram_format format, int64_t *rows)
{
    gram_status status = GRAM_OK;
    gram_context *context = learning->context;
    gram_table_options reading;
    gram_reader *reader = NULL;
    *rows = 0;
    learning->first_row = 0;
    gram_table_options_init(&reading, sizeof reading);
    TRY(gram_preparation_reading(learning->preparation, &reading));
    reading.format = format;
    TRY(gram_reader_open(context, path, &reading, &reader));
    int64_t most = block_rows(context, gram_preparation_dimension(learning->preparation));
    const int64_t ranks = learning->method->streaming->join ? gram_ranks(context) : 1;
    if (ranks > 1 && learning->n > 0 && learning->n / (4 * ranks) < most) most = learning->n / (4 * ranks) + 1;
    int64_t block = gram_rank(context) < ranks ? -gram_rank(context) : 0;
    if (ranks > 1) gram_ranks_part_ways(context);
    for (int64_t count = 1; status >= 0 && count > 0; block++) {
        if (block % ranks == 0)
            status = add_block_of(learning, reader, most, &count, rows);
        else
            status = gram_reader_skip(context, reader, most, &count);
        learning->first_row += count;
    }
    if (ranks > 1) {
        gram_ranks_join(context);
        TRY(gram_ranks_agree(context, status));
        TRY(join_rows(learning, rows));
    }
done:
    gram_reader_close(reader);
    return status;
}

/* ---- both ---- */

static gram_status second_pass(gram_learning *learning, const char *path, gram_format format,
                               const gram_file_stamp *stamp)
{
    gram_status status = GRAM_OK;
    int64_t rows = 0;
    status = gram_learning_add_file(learning, path, format, &rows);
    if (status == GRAM_ERROR_DATA || status >= 0) { /* a change may be what is wrong with the data */
        const gram_status changed = gram_file_stamp_check(learning->context, path, stamp);
        if (changed < 0) return changed;
    }
    if (status < 0) return status;
    learning->first_row = 0;
    FAIL_IF(rows != learning->n, learning->context, GRAM_ERROR_DATA,
            "%s: the file was changed while it was being read: %" PRId64 " rows in one pass, %" PRId64 " in the next",
            learning->source, learning->n, rows);
done:
    return status;
}

gram_status gram_learning_stream(gram_learning *learning, const char *path, gram_format format, gram_stream_goal goal)
{
    gram_status status = GRAM_OK;
    gram_file_stamp stamp;
    TRY(check_use(learning));
    learning->streamed = 1;
    TRY(gram_file_stamp_take(learning->context, path, &stamp));
    TRY(gram_ranks_compare(learning->context, learning->source, gram_ranks_hash(0, &stamp.size, sizeof stamp.size)));
    TRY(learn_preparation(learning, path, format));
    TRY(gram_learning_ready(learning));
    TRY(check_method(learning));
    TRY(learning->method->streaming->begin(learning));
    TRY(gram_file_stamp_check(learning->context, path, &stamp));
    if (goal != GRAM_STREAM_PLAN) TRY(second_pass(learning, path, format, &stamp));
    if (goal == GRAM_STREAM_ALL) TRY(learning->method->streaming->finish(learning));
    TRY(goal == GRAM_STREAM_ALL ? learning->method->keep(learning) : learning->method->streaming->keep_sums(learning));
    if (goal == GRAM_STREAM_ALL) TRY(gram_estimate_miss(learning, "rows were read in passes; GCV is near it"));
done:
    if (status < 0)
        status = learning->data ? gram_learning_advise(learning, status) : gram_learning_unread(learning, status);
    return status;
}
