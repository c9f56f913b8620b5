/* Two tables prepared together.
 *
 * What each table says of its columns is learnt alone, with all checks of the values; then both are put together: the
 * levels of text are those of both, means and deviations are over the rows of both that are kept, missing values do not
 * count. Text against numbers: the numbers are read as text, in their shortest digits. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sized_struct.h"
#include "data/preparation.h"

/* A level of a text column, and how many rows have it. */
typedef struct level {
    const char *text;
    int64_t count;
} level;

typedef struct pool {
    gram_context *context;
    gram_arena arena; /* all that is made on the way */
    const gram_table *tables[2];
    gram_preparation *alone[2];
    const gram_preparation_description *known[2];
    char *kept[2]; /* 0 for a row that is dropped */
    const gram_preparation_options *options;
    gram_column *features;
    int64_t d;
} pool;

/* One column: its place in both tables, and the levels that were found. */
typedef struct pooled {
    const gram_column *columns[2];
    level *levels; /* in the order of strcmp; room for most_levels */
    int64_t level_count;
} pooled;

/* ---- which columns ---- */

/* Tables with the same columns mostly have them in the same order: the search begins at the column's own place. */
static const gram_column *find_name(const gram_preparation_description *known, int64_t start, const char *name)
{
    for (int64_t l = start; l < known->feature_count; l++)
        if (strcmp(known->features[l].name, name) == 0) return &known->features[l];
    for (int64_t l = 0; l < start && l < known->feature_count; l++)
        if (strcmp(known->features[l].name, name) == 0) return &known->features[l];
    return NULL;
}

static gram_status advise_columns(gram_context *context, gram_status status)
{
    return gram_advise(context, status, "Both samples need the same columns; --features and --ignore choose them.");
}

static gram_status match_column(const pool *p, int64_t l, pooled *column)
{
    const gram_column *first = &p->known[0]->features[l], *second = find_name(p->known[1], l, first->name);
    column->columns[0] = first;
    column->columns[1] = second;
    if (second) return GRAM_OK;
    return advise_columns(p->context, gram_fail(p->context, GRAM_ERROR_DATA, "%s has no column '%s', which %s has",
                                                p->tables[1]->file, first->name, p->tables[0]->file));
}

static gram_status match_counts(const pool *p)
{
    const int64_t other = p->known[1]->feature_count;
    if (p->d == other) return GRAM_OK;
    return advise_columns(p->context,
                          gram_fail(p->context, GRAM_ERROR_DATA, "%s has %" PRId64 " columns, %s has %" PRId64,
                                    p->tables[0]->file, p->d, p->tables[1]->file, other));
}

static double value_of(const pool *p, int s, int64_t row, int64_t place)
{
    return gram_table_at(p->tables[s], row, place);
}

/* With GRAM_MISSING_DROP, a row with a missing value counts nowhere. */
static gram_status find_kept(pool *p, int s)
{
    gram_status status = GRAM_OK;
    const int64_t n = p->tables[s]->n;
    TRY(gram_arena_take(p->context, &p->arena, "preparation", n, 1, (void **)&p->kept[s]));
    memset(p->kept[s], 1, (size_t)n);
    const gram_column *weights = p->known[s]->bag_weights;
    for (int64_t i = 0; i < n && p->options->missing == GRAM_MISSING_DROP; i++) {
        for (int64_t l = 0; l < p->known[s]->feature_count; l++)
            if (isnan(value_of(p, s, i, p->known[s]->features[l].place))) p->kept[s][i] = 0;
        if (weights && isnan(value_of(p, s, i, weights->place))) p->kept[s][i] = 0;
    }
done:
    return status;
}

/* ---- numbers ---- */

/* Mean and deviation over both samples, two passes: nothing cancels, and nothing overflows. */
static gram_status pool_numbers(const pool *p, const pooled *column, gram_column *out)
{
    double mean = 0, squares = 0, least = INFINITY, most = -INFINITY, count = 0;
    for (int s = 0; s < 2; s++)
        for (int64_t i = 0; i < p->tables[s]->n; i++) {
            const double value = value_of(p, s, i, column->columns[s]->place);
            if (!p->kept[s][i] || isnan(value)) continue;
            count++;
            mean += value / count - mean / count;
            least = fmin(least, value);
            most = fmax(most, value);
        }
    out->fill = least == most ? least : mean;
    if (!p->options->scale) return GRAM_OK;
    out->mean = out->fill;
    const double scale = fmax(most - out->mean, out->mean - least);
    if (!(scale > 0)) return GRAM_OK;
    if (isinf(scale))
        return gram_advise(p->context,
                           gram_fail(p->context, GRAM_ERROR_DATA,
                                     "%s and %s: column '%s': its numbers are too large to be scaled",
                                     p->tables[0]->file, p->tables[1]->file, out->name),
                           "--no-scale takes columns as they are, --ignore LIST leaves them out.");
    for (int s = 0; s < 2; s++)
        for (int64_t i = 0; i < p->tables[s]->n; i++) {
            const double t = (value_of(p, s, i, column->columns[s]->place) - out->mean) / scale;
            if (p->kept[s][i] && !isnan(t)) squares += t * t;
        }
    const double deviation = scale * sqrt(squares / count);
    if (deviation > 0) out->deviation = deviation;
    return GRAM_OK;
}

/* ---- text ---- */

static gram_status too_many(const pool *p, const pooled *column)
{
    const gram_status status =
        gram_fail(p->context, GRAM_ERROR_DATA,
                  "%s and %s: column '%s': text with more than %" PRId64 " levels, which cannot be categories; leave "
                  "it out (--ignore)",
                  p->tables[0]->file, p->tables[1]->file, column->columns[0]->name, p->options->most_levels);
    return gram_advise(p->context, status, "--ignore LIST leaves columns out.");
}

/* One more row of a level. */
static gram_status add_level(pool *p, pooled *column, const char *text)
{
    gram_status status = GRAM_OK;
    int64_t at = 0;
    while (at < column->level_count && strcmp(column->levels[at].text, text) < 0) at++;
    if (at == column->level_count || strcmp(column->levels[at].text, text) != 0) {
        const size_t size = strlen(text) + 1;
        char *copy = NULL;
        if (column->level_count == p->options->most_levels) return too_many(p, column);
        TRY(gram_arena_take(p->context, &p->arena, "preparation", (int64_t)size, 1, (void **)&copy));
        memcpy(copy, text, size);
        memmove(&column->levels[at + 1], &column->levels[at],
                (size_t)(column->level_count - at) * sizeof *column->levels);
        column->levels[at] = (level){copy, 0};
        column->level_count++;
    }
    column->levels[at].count++;
done:
    return status;
}

static gram_status add_levels(pool *p, pooled *column, int s)
{
    const gram_table *table = p->tables[s];
    const int64_t place = column->columns[s]->place;
    char digits[GRAM_NUMBER_SIZE];
    gram_status status = GRAM_OK;
    for (int64_t i = 0; i < table->n; i++) {
        const double value = value_of(p, s, i, place);
        if (!p->kept[s][i] || isnan(value)) continue;
        TRY(add_level(p, column,
                      column->columns[s]->text ? gram_table_level(table, place, (int64_t)value)
                                               : gram_number_format(value, digits)));
    }
done:
    return status;
}

static gram_status pool_text(pool *p, pooled *column, gram_column *out)
{
    gram_status status = GRAM_OK;
    int64_t often = 0;
    const char **texts = NULL;
    TRY(gram_arena_take(p->context, &p->arena, "preparation", p->options->most_levels, sizeof *column->levels,
                        (void **)&column->levels));
    for (int s = 0; s < 2; s++) TRY(add_levels(p, column, s));
    TRY(gram_arena_take(p->context, &p->arena, "preparation", column->level_count, sizeof *texts, (void **)&texts));
    for (int64_t k = 0; k < column->level_count; k++) {
        texts[k] = column->levels[k].text;
        if (column->levels[k].count > column->levels[often].count) often = k;
    }
    out->text = 1;
    out->fill = (double)often;
    out->level_count = column->level_count;
    out->levels = texts;
done:
    return status;
}

/* ---- things ---- */

/* Rows of a table that count. */
static gram_status choose_kept(pool *p, int s, gram_row_choice *choice)
{
    gram_status status = GRAM_OK;
    TRY(gram_arena_take(p->context, &p->arena, "preparation", p->tables[s]->n, sizeof *choice->rows,
                        (void **)&choice->rows));
    for (int64_t i = 0; i < p->tables[s]->n; i++)
        if (p->kept[s][i]) choice->rows[choice->count++] = i;
done:
    return status;
}

/* A column that holds no numbers must hold the same in both; sparse rows have the columns of both. */
static gram_status pool_things(pool *p, const pooled *column, gram_column *out)
{
    gram_status status = GRAM_OK;
    const gram_column *a = column->columns[0], *b = column->columns[1];
    gram_row_choice choices[2] = {{0}};
    gram_sparse_part parts[2];
    FAIL_IF(a->kind != b->kind, p->context, GRAM_ERROR_DATA, "%s and %s: column '%s' does not hold the same in both",
            p->tables[0]->file, p->tables[1]->file, a->name);
    out->kind = a->kind;
    out->width = a->width > b->width ? a->width : b->width;
    if (a->kind != GRAM_COLUMN_SPARSE || !p->options->scale) goto done;
    for (int s = 0; s < 2; s++) {
        TRY(choose_kept(p, s, &choices[s]));
        parts[s] = (gram_sparse_part){p->tables[s], column->columns[s]->place, &choices[s]};
    }
    TRY(gram_sparse_deviations(p->context, &p->arena, out->width, 2, parts, &out->deviations));
done:
    return status;
}

/* ---- together ---- */

static gram_status pool_columns(pool *p)
{
    gram_status status = GRAM_OK;
    pooled *columns = NULL;
    TRY(match_counts(p));
    TRY(gram_arena_take(p->context, &p->arena, "preparation", p->d, sizeof *columns, (void **)&columns));
    TRY(gram_arena_take(p->context, &p->arena, "preparation", p->d, sizeof *p->features, (void **)&p->features));
    for (int64_t l = 0; l < p->d; l++) TRY(match_column(p, l, &columns[l]));
    for (int s = 0; s < 2; s++) TRY(find_kept(p, s));
    for (int64_t l = 0; l < p->d; l++) {
        const gram_column *first = columns[l].columns[0];
        p->features[l] = (gram_column){.name = first->name, .place = first->place, .deviation = 1, .date = first->date};
        FAIL_IF(first->date != columns[l].columns[1]->date, p->context, GRAM_ERROR_DATA,
                "%s and %s: column '%s' is of dates in one of them only", p->tables[0]->file, p->tables[1]->file,
                first->name);
        if (first->kind != GRAM_COLUMN_PLAIN || columns[l].columns[1]->kind != GRAM_COLUMN_PLAIN)
            TRY(pool_things(p, &columns[l], &p->features[l]));
        else if (first->text || columns[l].columns[1]->text)
            TRY(pool_text(p, &columns[l], &p->features[l]));
        else
            TRY(pool_numbers(p, &columns[l], &p->features[l]));
    }
done:
    return status;
}

static gram_status learn_alone(pool *p)
{
    gram_status status = GRAM_OK;
    for (int s = 0; s < 2; s++) {
        TRY(gram_preparation_learn(p->context, p->tables[s], p->options, &p->alone[s]));
        p->known[s] = gram_preparation_describe(p->alone[s]);
    }
    FAIL_IF(p->known[0]->target_count > 0 || p->known[0]->weights, p->context, GRAM_ERROR_ARGUMENT,
            "preparation_learn_both: two tables have neither targets nor weights");
    p->d = p->known[0]->feature_count;
done:
    return status;
}

gram_status gram_preparation_learn_both(gram_context *context, const gram_table *a, const gram_table *b,
                                        const gram_preparation_options *options, gram_preparation **preparation)
{
    gram_status status = GRAM_OK;
    gram_preparation_options o;
    pool p = {.context = context, .tables = {a, b}, .options = &o};
    if (!context || !a || !b || !preparation) return GRAM_ERROR_ARGUMENT;
    *preparation = NULL;
    gram_arena_init(&p.arena, context->memory);
    gram_preparation_options_init(&o, sizeof o);
    TRY(gram_sized_read(context, "preparation_learn_both", "options", "gram_preparation_options", options, &o,
                        sizeof o));
    if (!o.target) o.target = "";
    if (o.most_levels > GRAM_MOST_LEVELS) o.most_levels = GRAM_MOST_LEVELS;
    TRY(learn_alone(&p));
    TRY(pool_columns(&p));
    gram_preparation_description both = *p.known[0];
    both.features = p.features;
    TRY(gram_preparation_create(context, &both, preparation));
done:
    gram_preparation_release(p.alone[0]);
    gram_preparation_release(p.alone[1]);
    gram_arena_release(&p.arena);
    return status;
}
