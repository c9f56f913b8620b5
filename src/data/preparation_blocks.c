/* Learning a preparation from blocks of rows, for files that are larger than memory; and a sample of the rows on the way.
 *
 * Each column keeps what its rows said so far: numbers their count, mean and sum of squares about the mean (Welford 1962: m += (x - m)/c,
 * S += (x - m_before)(x - m_after), after the first number was subtracted), text its levels with their frequencies. Rows are added one by one, so that the result does not depend on
 * where blocks end. Sums are long double, whose exponent lets no square overflow on the processors that have one of 80 bits.
 *
 * The sample: row i, counted over all blocks, gets a random number by its own place in a stream of them, and those with the
 * least numbers are kept, in a heap with the greatest on top. Each set of so many rows is as likely as any other, and which it is depends on the seed
 * and the rows only. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "data/preparation.h"

enum { SAMPLE_STREAM = 0x73616d70 };

typedef struct level {
    const char *text;
    int64_t count;
} level;

typedef struct column_state {
    int64_t place;
    int text, date;
    double first; /* number: what is subtracted, so that digits are for what varies */
    long double count, mean, squares;
    double least, greatest;
    level *levels; /* ascending */
    int64_t level_count, level_room;
} column_state;

typedef struct sampled {
    double key;
    int64_t row; /* over all blocks */
    int64_t at;  /* in the table */
} sampled;

struct gram_block_learner {
    gram_memory *memory;
    gram_arena arena;
    gram_preparation_options options;
    gram_roles roles;
    column_state *columns; /* features, targets, weights */
    int64_t column_count;
    int64_t rows, kept; /* of weight above 0; those that are not dropped */
    int64_t most;
    gram_table *sample;
    sampled *heap;
    int64_t heap_count;
    int named;
    const char **names; /* of the columns, in the arena */
};

void gram_block_learner_destroy(gram_block_learner *learner)
{
    if (!learner) return;
    gram_memory *memory = learner->memory;
    gram_table_destroy(learner->sample);
    gram_arena_release(&learner->arena);
    gram_memory_give(memory, learner);
    gram_memory_release(memory);
}

gram_status gram_block_learner_create(gram_context *context, const gram_preparation_options *options, int64_t sample,
                                      gram_block_learner **learner)
{
    gram_status status = GRAM_OK;
    gram_block_learner *made = NULL;
    TRY(gram_take(context, "preparation", 1, sizeof *made, (void **)&made));
    *made = (gram_block_learner){.memory = gram_memory_retain(context->memory), .most = sample};
    gram_arena_init(&made->arena, made->memory);
    TRY(gram_preparation_options_read(context, options, &made->options));
    *learner = made;
    made = NULL;
done:
    gram_block_learner_destroy(made);
    return status;
}

/* ---- the first block ---- */

static gram_status copy_text(gram_context *context, gram_block_learner *l, const char *text, const char **copy)
{
    gram_status status = GRAM_OK;
    const size_t size = strlen(text) + 1;
    char *made = NULL;
    TRY(gram_arena_take(context, &l->arena, "preparation", (int64_t)size, 1, (void **)&made));
    memcpy(made, text, size);
    *copy = made;
done:
    return status;
}

static gram_status start_columns(gram_context *context, gram_block_learner *l, const gram_table *table)
{
    gram_status status = GRAM_OK;
    const gram_roles *roles = &l->roles;
    l->column_count = roles->feature_count + roles->target_count + (roles->weights >= 0);
    TRY(gram_arena_take(context, &l->arena, "preparation", l->column_count, sizeof *l->columns, (void **)&l->columns));
    TRY(gram_arena_take(context, &l->arena, "preparation", table->d, sizeof *l->names, (void **)&l->names));
    for (int64_t i = 0; i < l->column_count; i++) {
        column_state *column = &l->columns[i];
        const int64_t target = i - roles->feature_count;
        column->place = target < 0                     ? roles->features[i]
                        : target < roles->target_count ? roles->targets[target]
                                                       : roles->weights;
        column->text = table->levels[column->place] != NULL;
        column->date = gram_table_column_is_date(table, column->place);
        column->least = INFINITY;
        column->greatest = -INFINITY;
        TRY(copy_text(context, l, table->names[column->place], &l->names[column->place]));
    }
done:
    return status;
}

/* A table with the columns of the file and no rows yet. */
static gram_status start_sample(gram_context *context, gram_block_learner *l, const gram_table *table)
{
    gram_status status = GRAM_OK;
    size_t size = 0, at = 0;
    char *text = NULL;
    for (int64_t j = 0; j < table->d; j++) size += strlen(table->names[j]) + 1;
    TRY(gram_take(context, "sample of rows", (int64_t)size, 1, (void **)&text));
    for (int64_t j = 0; j < table->d; j++) {
        const size_t length = strlen(table->names[j]) + 1;
        memcpy(text + at, table->names[j], length);
        at += length;
    }
    TRY(gram_table_create(context, table->file, &l->sample));
    TRY(gram_table_set_names(context, l->sample, table->d, text, size));
    l->sample->named = table->named;
    for (int64_t j = 0; j < table->d; j++)
        if (table->levels[j]) TRY(gram_table_make_text(context, l->sample, j));
    TRY(gram_arena_take(context, &l->arena, "sample of rows", l->most, sizeof *l->heap, (void **)&l->heap));
done:
    gram_give(context, text);
    return status;
}

/* ---- one column ---- */

static void add_number(column_state *column, double x)
{
    if (column->count == 0) column->first = x;
    const long double shifted = (long double)x - column->first, before = shifted - column->mean;
    column->count++;
    column->mean += before / column->count;
    column->squares += before * (shifted - column->mean);
    column->least = fmin(column->least, x);
    column->greatest = fmax(column->greatest, x);
}

static gram_status too_many(gram_context *context, const gram_block_learner *l, const gram_table *table,
                            const column_state *column)
{
    const int64_t most = column < l->columns + l->roles.feature_count ? l->options.most_levels : GRAM_MOST_LEVELS;
    if (column->level_count <= most) return GRAM_OK;
    return gram_fail(context, GRAM_ERROR_DATA,
                     "%s: column '%s': text with more than %" PRId64
                     " levels, which cannot be categories; leave it out "
                     "(--ignore)",
                     table->file, table->names[column->place], most);
}

/* So many more rows of a level. */
static gram_status add_level(gram_context *context, gram_block_learner *l, column_state *column, const char *text,
                             int64_t count)
{
    gram_status status = GRAM_OK;
    level *grown = NULL;
    int64_t at = 0;
    while (at < column->level_count && strcmp(column->levels[at].text, text) < 0) at++;
    if (at == column->level_count || strcmp(column->levels[at].text, text) != 0) {
        const char *copy = NULL;
        TRY(copy_text(context, l, text, &copy));
        if (column->level_count == column->level_room) {
            column->level_room = 2 * column->level_room + 16;
            TRY(gram_arena_take(context, &l->arena, "preparation", column->level_room, sizeof *grown, (void **)&grown));
            if (column->level_count > 0) memcpy(grown, column->levels, (size_t)column->level_count * sizeof *grown);
            column->levels = grown;
        }
        memmove(&column->levels[at + 1], &column->levels[at],
                (size_t)(column->level_count - at) * sizeof *column->levels);
        column->levels[at] = (level){copy, 0};
        column->level_count++;
    }
    column->levels[at].count += count;
done:
    return status;
}

static int64_t row_of(const gram_row_choice *choice, int64_t i)
{
    return choice->rows ? choice->rows[i] : i;
}

static gram_status add_text(gram_context *context, gram_block_learner *l, const gram_table *table,
                            const gram_row_choice *choice, column_state *column)
{
    gram_status status = GRAM_OK;
    const int64_t count = gram_table_level_count(table, column->place);
    int64_t *seen = NULL;
    FAIL_IF(count < 0, context, GRAM_ERROR_DATA,
            "%s: column '%s': text with more than %d levels, or one of more than %d bytes; leave it out (--ignore)",
            table->file, table->names[column->place], (int)GRAM_MOST_LEVELS, (int)GRAM_LONGEST_LEVEL);
    TRY(gram_take(context, "preparation", count + 1, sizeof *seen, (void **)&seen));
    memset(seen, 0, (size_t)(count + 1) * sizeof *seen);
    for (int64_t i = 0; i < choice->count; i++) {
        const double x = gram_table_at(table, row_of(choice, i), column->place);
        if (!isnan(x)) seen[(int64_t)x]++;
    }
    for (int64_t k = 0; k < count; k++)
        if (seen[k] > 0) TRY(add_level(context, l, column, gram_table_level(table, column->place, k), seen[k]));
    TRY(too_many(context, l, table, column));
done:
    gram_give(context, seen);
    return status;
}

static gram_status add_column(gram_context *context, gram_block_learner *l, const gram_table *table,
                              const gram_row_choice *choice, column_state *column)
{
    if (column->text) return add_text(context, l, table, choice, column);
    for (int64_t i = 0; i < choice->count; i++) {
        const double x = gram_table_at(table, row_of(choice, i), column->place);
        if (!isnan(x)) add_number(column, x);
    }
    return GRAM_OK;
}

/* ---- the sample ---- */

static int is_before(const sampled *a, const sampled *b)
{
    return a->key < b->key || (a->key == b->key && a->row < b->row);
}

static void sink(sampled *heap, int64_t count, int64_t at)
{
    for (;;) {
        int64_t top = at;
        for (int64_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            if (is_before(&heap[top], &heap[child])) top = child;
        if (top == at) return;
        const sampled moved = heap[at];
        heap[at] = heap[top];
        heap[top] = moved;
        at = top;
    }
}

static void rise(sampled *heap, int64_t at)
{
    while (at > 0 && is_before(&heap[(at - 1) / 2], &heap[at])) {
        const sampled moved = heap[at];
        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = moved;
        at = (at - 1) / 2;
    }
}

/* Texts by their own table of levels: those of a block are its own. */
static gram_status copy_row(gram_context *context, gram_table *sample, int64_t at, const gram_table *table, int64_t row)
{
    gram_status status = GRAM_OK;
    for (int64_t j = 0; j < table->d; j++) {
        const double x = gram_table_at(table, row, j);
        double *cell = gram_table_own(sample, at, j);
        *cell = x;
        if (!table->levels[j] || isnan(x)) continue;
        const char *text = gram_table_level(table, j, (int64_t)x);
        int64_t slot = -1;
        FAIL_IF(gram_levels_insert(sample->levels[j], text, strlen(text), &slot) < 0, context, GRAM_ERROR_MEMORY,
                "%s: no memory is left for the texts of its columns", table->file);
        *cell = slot < 0 ? NAN : (double)slot;
    }
done:
    return status;
}

static gram_status offer(gram_context *context, gram_block_learner *l, const gram_table *table, int64_t row)
{
    gram_status status = GRAM_OK;
    const gram_random random = {gram_context_seed(context), SAMPLE_STREAM};
    sampled one = {.row = l->rows};
    gram_random_uniform(random, (uint64_t)one.row, 1, &one.key);
    if (l->heap_count < l->most) {
        one.at = l->heap_count;
        if (one.at >= l->sample->row_capacity) {
            const int64_t grown = 2 * one.at + 256;
            TRY(gram_table_reserve(context, l->sample, grown < l->most ? grown : l->most));
        }
        TRY(copy_row(context, l->sample, one.at, table, row));
        l->sample->n = one.at + 1;
        l->heap[l->heap_count++] = one;
        rise(l->heap, l->heap_count - 1);
    } else if (l->most > 0 && is_before(&one, &l->heap[0])) {
        one.at = l->heap[0].at;
        TRY(copy_row(context, l->sample, one.at, table, row));
        l->heap[0] = one;
        sink(l->heap, l->heap_count, 0);
    }
done:
    return status;
}

/* ---- blocks ---- */

gram_status gram_block_learner_add(gram_context *context, gram_block_learner *l, const gram_table *table)
{
    gram_status status = GRAM_OK;
    gram_row_choice choice = {0, NULL};
    if (!l->columns) {
        TRY(gram_roles_find(context, &l->arena, table, &l->options, &l->roles));
        TRY(start_columns(context, l, table));
        TRY(start_sample(context, l, table));
        l->named = table->named;
    }
    TRY(gram_rows_choose(context, table, &l->roles, l->options.missing, 1, &choice));
    for (int64_t j = 0; j < l->column_count; j++) TRY(add_column(context, l, table, &choice, &l->columns[j]));
    l->kept += choice.count;
    for (int64_t i = 0; i < choice.count; i++) {
        const int64_t row = row_of(&choice, i);
        if (l->roles.weights >= 0 && !(gram_table_at(table, row, l->roles.weights) > 0)) continue;
        TRY(offer(context, l, table, row));
        l->rows++;
    }
done:
    gram_give(context, choice.rows);
    return status;
}

/* ---- the end ---- */

static gram_status describe_numbers(gram_context *context, const gram_block_learner *l, const column_state *column,
                                    int feature, gram_column *out)
{
    gram_status status = GRAM_OK;
    const char *file = l->sample->file;
    const double range = column->greatest - column->least;
    FAIL_IF(column->count == 0, context, GRAM_ERROR_DATA, "%s: column '%s': all values are missing", file, out->name);
    FAIL_IF(feature && l->options.scale && !isfinite(range), context, GRAM_ERROR_DATA,
            "%s: column '%s': its numbers are too large to be scaled", file, out->name);
    if (!feature) return status;
    out->fill = range > 0 ? (double)(column->first + column->mean) : column->least;
    if (!l->options.scale) return status;
    const double deviation = (double)sqrtl(column->squares / column->count);
    out->mean = out->fill;
    out->deviation = range > 0 && deviation > 0 ? deviation : 1;
done:
    return status;
}

static gram_status describe(gram_context *context, gram_block_learner *l, const column_state *column, int feature,
                            gram_column *out)
{
    gram_status status = GRAM_OK;
    const char **texts = NULL;
    int64_t often = 0;
    *out = (gram_column){.name = l->names[column->place], .place = column->place, .deviation = 1, .date = column->date};
    if (!column->text) return describe_numbers(context, l, column, feature, out);
    FAIL_IF(column->level_count == 0, context, GRAM_ERROR_DATA, "%s: column '%s': all values are missing",
            l->sample->file, out->name);
    TRY(gram_arena_take(context, &l->arena, "preparation", column->level_count, sizeof *texts, (void **)&texts));
    for (int64_t k = 0; k < column->level_count; k++) {
        texts[k] = column->levels[k].text;
        if (column->levels[k].count > column->levels[often].count) often = k;
    }
    out->text = 1;
    out->fill = (double)often;
    out->levels = texts;
    out->level_count = column->level_count;
done:
    return status;
}

static gram_status make_preparation(gram_context *context, gram_block_learner *l, gram_preparation **preparation)
{
    gram_status status = GRAM_OK;
    const gram_roles *roles = &l->roles;
    gram_column *out = NULL;
    TRY(gram_arena_take(context, &l->arena, "preparation", l->column_count, sizeof *out, (void **)&out));
    for (int64_t i = 0; i < l->column_count; i++)
        TRY(describe(context, l, &l->columns[i], i < roles->feature_count, &out[i]));
    const gram_preparation_description description = {.feature_count = roles->feature_count,
                                                      .features = out,
                                                      .target_count = roles->target_count,
                                                      .targets =
                                                          roles->target_count > 0 ? out + roles->feature_count : NULL,
                                                      .weights = roles->weights >= 0 ? out + l->column_count - 1 : NULL,
                                                      .missing = l->options.missing,
                                                      .scaled = l->options.scale,
                                                      .named = l->named,
                                                      .missing_texts = l->options.missing_texts};
    TRY(gram_preparation_create(context, &description, preparation));
done:
    return status;
}

/* The sample in the order of the file: the heap is sorted by rows, and the rows are put after it. */
static gram_status order_sample(gram_context *context, gram_block_learner *l)
{
    gram_status status = GRAM_OK;
    gram_table *sample = l->sample;
    const int64_t n = l->heap_count, d = sample->d;
    double *numbers = NULL;
    for (int64_t i = 0; i < n; i++) l->heap[i].key = (double)l->heap[i].row;
    for (int64_t i = n / 2 - 1; i >= 0; i--) sink(l->heap, n, i);
    for (int64_t i = n - 1; i > 0; i--) {
        const sampled last = l->heap[i];
        l->heap[i] = l->heap[0];
        l->heap[0] = last;
        sink(l->heap, i, 0);
    }
    TRY(gram_take_from(context, sample->memory, "sample of rows", n * d, sizeof *numbers, (void **)&numbers));
    for (int64_t i = 0; i < n; i++)
        memcpy(numbers + i * d, sample->numbers + l->heap[i].at * d, (size_t)d * sizeof *numbers);
    gram_memory_give(sample->memory, sample->numbers);
    sample->numbers = numbers;
    sample->capacity = n * d;
    sample->row_capacity = n;
    TRY(gram_table_sort_levels(context, sample));
done:
    return status;
}

gram_status gram_block_learner_finish(gram_context *context, gram_block_learner *l, gram_preparation **preparation,
                                      int64_t *rows, gram_table **sample)
{
    gram_status status = GRAM_OK;
    if (l->kept == 0) TRY(gram_rows_none(context, l->sample));
    FAIL_IF(l->rows == 0, context, GRAM_ERROR_DATA, "%s: column '%s': all weights are 0", l->sample->file,
            l->names[l->roles.weights]);
    TRY(order_sample(context, l));
    TRY(make_preparation(context, l, preparation));
    *rows = l->rows;
    *sample = l->sample;
    l->sample = NULL;
done:
    return status;
}
