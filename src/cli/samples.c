#include "samples.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"

static const cli_option sample_options[] = {
    {"format", 0, CLI_CHOICE, offsetof(cli_rows_options, format), "FORMAT", CLI_FORMAT_HELP, 0, 0, cli_formats},
    {"features", 0, CLI_TEXT, offsetof(cli_rows_options, features), "LIST", "the columns to use, e.g. x1,x3:x5,7", 0, 0,
     NULL},
    {"ignore", 0, CLI_TEXT, offsetof(cli_rows_options, ignore), "LIST", "the columns to leave out", 0, 0, NULL},
    {"no-scale", 0, CLI_FLAG, offsetof(cli_rows_options, no_scale), NULL, "do not standardise the columns", 0, 0, NULL},
};

cli_group cli_rows_group(cli_rows_options *options)
{
    return (cli_group){"Data", sample_options, sizeof sample_options / sizeof *sample_options, options};
}

int cli_rows_read(cli_session *session, const char *path, const cli_rows_options *options, cli_rows *sample)
{
    gram_table_options read;
    gram_table_options_init(&read, sizeof read);
    read.format = (gram_format)options->format.value;
    read.features = options->features;
    read.ignore = options->ignore;
    sample->file = cli_data_name(path);
    const gram_status status = gram_table_read(session->context, path, &read, &sample->table);
    if (status < 0) return cli_data_unread(session, status, NULL);
    sample->n = gram_table_rows(sample->table);
    return CLI_DONE;
}

int cli_rows_take(cli_rows *sample, int64_t count, const int64_t *columns)
{
    const int64_t stride = gram_table_stride(sample->table);
    const double *numbers = gram_table_numbers(sample->table);
    sample->d = columns ? count : gram_table_columns(sample->table);
    sample->x = calloc((size_t)(sample->n * sample->d), sizeof *sample->x);
    if (!sample->x) return cli_no_memory();
    for (int64_t i = 0; i < sample->n; i++)
        for (int64_t l = 0; l < sample->d; l++)
            sample->x[i * sample->d + l] = numbers[i * stride + (columns ? columns[l] : l)];
    return CLI_DONE;
}

static int64_t find_name(const gram_table *table, const char *name)
{
    for (int64_t l = 0; l < gram_table_columns(table); l++)
        if (strcmp(gram_table_column_name(table, l), name) == 0) return l;
    return -1;
}

int cli_rows_match(const cli_rows *a, cli_rows *b)
{
    const int64_t d = gram_table_columns(a->table), other = gram_table_columns(b->table);
    const char *help = "Both samples need the same columns; --features and --ignore choose them.";
    if (d != other)
        return cli_fail(CLI_BAD_DATA, help, "%s has %" PRId64 " columns, %s has %" PRId64, a->file, d, b->file, other);
    int64_t *columns = calloc((size_t)d, sizeof *columns);
    int code = columns ? CLI_DONE : cli_no_memory();
    for (int64_t l = 0; l < d && code == CLI_DONE; l++) {
        const char *name = gram_table_column_name(a->table, l);
        columns[l] = find_name(b->table, name);
        if (columns[l] < 0)
            code = cli_fail(CLI_BAD_DATA, help, "%s has no column '%s', which %s has", b->file, name, a->file);
    }
    if (code == CLI_DONE) code = cli_rows_take(b, d, columns);
    free(columns);
    return code;
}

/* Mean and deviation of column l over both samples, two passes: nothing cancels. */
static void moments(const cli_rows *a, const cli_rows *b, int64_t l, double *mean, double *deviation)
{
    const cli_rows *samples[] = {a, b};
    double sum = 0, squares = 0, least = INFINITY, most = -INFINITY, count = 0;
    for (int s = 0; s < 2 && samples[s]; s++)
        for (int64_t i = 0; i < samples[s]->n; i++) {
            const double value = samples[s]->x[i * samples[s]->d + l];
            count++;
            sum += (value - sum) / count; /* the mean so far: no overflow */
            least = fmin(least, value);
            most = fmax(most, value);
        }
    *mean = least == most ? least : sum;
    const double scale = fmax(most - *mean, *mean - least);
    *deviation = 1;
    if (!(scale > 0)) return;
    for (int s = 0; s < 2 && samples[s]; s++)
        for (int64_t i = 0; i < samples[s]->n; i++) {
            const double t = (samples[s]->x[i * samples[s]->d + l] - *mean) / scale;
            squares += t * t;
        }
    *deviation = scale * sqrt(squares / count);
}

static void apply(cli_rows *sample, const cli_scaling *scaling)
{
    for (int64_t at = 0; at < sample->n * sample->d; at++)
        sample->x[at] = (sample->x[at] - scaling->mean[at % sample->d]) / scaling->deviation[at % sample->d];
}

static int make_points(cli_session *session, cli_rows *sample)
{
    const gram_status status =
        gram_points_create_f64(session->context, sample->n, sample->d, sample->x, sample->d, &sample->points);
    if (status >= 0) return CLI_DONE;
    const cli_origin origin = {.file = sample->file, .table = sample->table};
    return cli_data_fail(session, status, &origin);
}

int cli_rows_scale(cli_session *session, cli_rows *a, cli_rows *b, int no_scale, cli_scaling *scaling)
{
    scaling->scaled = !no_scale;
    scaling->mean = calloc((size_t)a->d, sizeof *scaling->mean);
    scaling->deviation = calloc((size_t)a->d, sizeof *scaling->deviation);
    if (!scaling->mean || !scaling->deviation) return cli_no_memory();
    for (int64_t l = 0; l < a->d; l++) {
        scaling->deviation[l] = 1;
        if (!no_scale) moments(a, b, l, &scaling->mean[l], &scaling->deviation[l]);
    }
    apply(a, scaling);
    if (b) apply(b, scaling);
    const int code = make_points(session, a);
    return code == CLI_DONE && b ? make_points(session, b) : code;
}

void cli_rows_free(cli_rows *sample)
{
    gram_points_destroy(sample->points);
    gram_table_destroy(sample->table);
    free(sample->x);
}

void cli_scaling_free(cli_scaling *scaling)
{
    free(scaling->mean);
    free(scaling->deviation);
}
