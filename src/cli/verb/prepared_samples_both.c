/* Two samples prepared together.
 *
 * What each table says of its columns is learnt alone, with all checks of the values; then both are put together: the
 * levels of text are those of both, means and deviations are over the rows of both that are kept, missing values do not
 * count. Text against numbers: the numbers are read as text, in their shortest digits. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verb/prepared_samples.h"

enum { MOST_LEVELS = 50 };

/* A level of a text column, and how many rows have it. */
typedef struct level {
    char *text;
    int64_t count;
} level;

/* One column of both samples. */
typedef struct pooled {
    const gram_column *columns[2];
    level levels[MOST_LEVELS];
    const char *texts[MOST_LEVELS];
    int64_t level_count;
} pooled;

typedef struct pool {
    const cli_rows *samples[2];
    const gram_preparation_description *known[2];
    char *kept[2]; /* 0 for a row that is dropped */
    gram_preparation_description description;
    gram_column *features;
    pooled *columns;
    int64_t d;
} pool;

/* ---- which columns ---- */

static const gram_column *find_name(const gram_preparation_description *known, const char *name)
{
    for (int64_t l = 0; l < known->feature_count; l++)
        if (strcmp(known->features[l].name, name) == 0) return &known->features[l];
    return NULL;
}

static int match_columns(pool *p)
{
    const char *help = "Both samples need the same columns; --features and --ignore choose them.";
    const char *a = p->samples[0]->file, *b = p->samples[1]->file;
    const int64_t d = p->d, other = p->known[1]->feature_count;
    if (d != other) return cli_fail(CLI_BAD_DATA, help, "%s has %" PRId64 " columns, %s has %" PRId64, a, d, b, other);
    p->columns = calloc((size_t)d, sizeof *p->columns);
    p->features = calloc((size_t)d, sizeof *p->features);
    if (!p->columns || !p->features) return cli_no_memory();
    for (int64_t l = 0; l < d; l++) {
        const gram_column *first = &p->known[0]->features[l], *second = find_name(p->known[1], first->name);
        if (!second) return cli_fail(CLI_BAD_DATA, help, "%s has no column '%s', which %s has", b, first->name, a);
        p->columns[l].columns[0] = first;
        p->columns[l].columns[1] = second;
    }
    return CLI_DONE;
}

static double value_of(const pool *p, int s, int64_t row, int64_t place)
{
    const gram_table *table = p->samples[s]->table;
    return gram_table_numbers(table)[row * gram_table_stride(table) + place];
}

/* With --missing drop, a row with a missing value counts nowhere. */
static int find_kept(pool *p, int s, int drop)
{
    const int64_t n = p->samples[s]->n;
    p->kept[s] = malloc((size_t)n);
    if (!p->kept[s]) return cli_no_memory();
    memset(p->kept[s], 1, (size_t)n);
    for (int64_t i = 0; i < n && drop; i++)
        for (int64_t l = 0; l < p->known[s]->feature_count; l++)
            if (isnan(value_of(p, s, i, p->known[s]->features[l].place))) p->kept[s][i] = 0;
    return CLI_DONE;
}

/* ---- numbers ---- */

/* Mean and deviation over both samples, two passes: nothing cancels, and nothing overflows. */
static int pool_numbers(const pool *p, const pooled *column, int scaled, gram_column *out)
{
    double mean = 0, squares = 0, least = INFINITY, most = -INFINITY, count = 0;
    for (int s = 0; s < 2; s++)
        for (int64_t i = 0; i < p->samples[s]->n; i++) {
            const double value = value_of(p, s, i, column->columns[s]->place);
            if (!p->kept[s][i] || isnan(value)) continue;
            count++;
            mean += value / count - mean / count;
            least = fmin(least, value);
            most = fmax(most, value);
        }
    out->fill = least == most ? least : mean;
    if (!scaled) return CLI_DONE;
    out->mean = out->fill;
    const double scale = fmax(most - out->mean, out->mean - least);
    if (!(scale > 0)) return CLI_DONE;
    if (isinf(scale))
        return cli_fail(CLI_BAD_DATA, "--no-scale takes columns as they are, --ignore LIST leaves them out.",
                        "%s and %s: column '%s': its numbers are too large to be scaled", p->samples[0]->file,
                        p->samples[1]->file, out->name);
    for (int s = 0; s < 2; s++)
        for (int64_t i = 0; i < p->samples[s]->n; i++) {
            const double t = (value_of(p, s, i, column->columns[s]->place) - out->mean) / scale;
            if (p->kept[s][i] && !isnan(t)) squares += t * t;
        }
    const double deviation = scale * sqrt(squares / count);
    if (deviation > 0) out->deviation = deviation;
    return CLI_DONE;
}

/* ---- text ---- */

static int too_many(const pool *p, const pooled *column)
{
    return cli_fail(CLI_BAD_DATA, "--ignore LIST leaves columns out.",
                    "%s and %s: column '%s': text with more than %d levels, which cannot be categories; leave it out "
                    "(--ignore)",
                    p->samples[0]->file, p->samples[1]->file, column->columns[0]->name, (int)MOST_LEVELS);
}

/* One more row of a level; levels are in the order of strcmp. */
static int add_level(const pool *p, pooled *column, const char *text)
{
    int64_t at = 0;
    while (at < column->level_count && strcmp(column->levels[at].text, text) < 0) at++;
    if (at == column->level_count || strcmp(column->levels[at].text, text) != 0) {
        if (column->level_count == MOST_LEVELS) return too_many(p, column);
        char *copy = malloc(strlen(text) + 1);
        if (!copy) return cli_no_memory();
        memcpy(copy, text, strlen(text) + 1);
        memmove(&column->levels[at + 1], &column->levels[at],
                (size_t)(column->level_count - at) * sizeof *column->levels);
        column->levels[at] = (level){copy, 0};
        column->level_count++;
    }
    column->levels[at].count++;
    return CLI_DONE;
}

static int add_levels(const pool *p, pooled *column, int s)
{
    const gram_table *table = p->samples[s]->table;
    const int64_t place = column->columns[s]->place, n = p->samples[s]->n;
    char digits[GRAM_NUMBER_SIZE];
    int code = CLI_DONE;
    for (int64_t i = 0; i < n && code == CLI_DONE; i++) {
        const double value = value_of(p, s, i, place);
        if (!p->kept[s][i] || isnan(value)) continue;
        code = add_level(p, column,
                         column->columns[s]->text ? gram_table_level(table, place, (int64_t)value)
                                                  : gram_number_format(value, digits));
    }
    return code;
}

static int pool_text(const pool *p, pooled *column, gram_column *out)
{
    int code = CLI_DONE;
    for (int s = 0; s < 2 && code == CLI_DONE; s++) code = add_levels(p, column, s);
    if (code != CLI_DONE) return code;
    int64_t often = 0;
    for (int64_t k = 0; k < column->level_count; k++) {
        column->texts[k] = column->levels[k].text;
        if (column->levels[k].count > column->levels[often].count) often = k;
    }
    out->text = 1;
    out->fill = (double)often;
    out->level_count = column->level_count;
    out->levels = column->texts;
    return CLI_DONE;
}

/* ---- together ---- */

static int pool_columns(pool *p, const cli_rows_options *options)
{
    int code = match_columns(p);
    for (int s = 0; s < 2 && code == CLI_DONE; s++) code = find_kept(p, s, options->missing.value == GRAM_MISSING_DROP);
    for (int64_t l = 0; l < p->d && code == CLI_DONE; l++) {
        pooled *column = &p->columns[l];
        p->features[l] =
            (gram_column){.name = column->columns[0]->name, .place = column->columns[0]->place, .deviation = 1};
        if (column->columns[0]->text || column->columns[1]->text)
            code = pool_text(p, column, &p->features[l]);
        else
            code = pool_numbers(p, column, !options->no_scale, &p->features[l]);
    }
    p->description = *p->known[0];
    p->description.features = p->features;
    return code;
}

static void free_pool(pool *p)
{
    for (int64_t l = 0; p->columns && l < p->d; l++)
        for (int64_t k = 0; k < p->columns[l].level_count; k++) free(p->columns[l].levels[k].text);
    free(p->columns);
    free(p->features);
    free(p->kept[0]);
    free(p->kept[1]);
}

/* From here on both have one preparation. */
static int share(cli_session *session, const pool *p, cli_rows *a, cli_rows *b)
{
    gram_preparation *both = NULL;
    const gram_status status = gram_preparation_create(session->context, &p->description, &both);
    if (status < 0) return cli_session_fail(session, status, 1, NULL);
    gram_preparation_release(a->columns);
    gram_preparation_release(b->columns);
    a->columns = both;
    b->columns = gram_preparation_retain(both);
    const int code = cli_rows_apply(session, a);
    return code == CLI_DONE ? cli_rows_apply(session, b) : code;
}

int cli_rows_prepare_both(cli_session *session, const cli_rows_options *options, cli_rows *a, cli_rows *b)
{
    int code = cli_rows_learn(session, options, NULL, a);
    if (code == CLI_DONE) code = cli_rows_learn(session, options, NULL, b);
    if (code != CLI_DONE) return code;
    pool p = {.samples = {a, b},
              .known = {gram_preparation_describe(a->columns), gram_preparation_describe(b->columns)}};
    p.d = p.known[0]->feature_count;
    code = pool_columns(&p, options);
    if (code == CLI_DONE) code = share(session, &p, a, b);
    free_pool(&p);
    return code;
}
