#include "cli/verb/prepared_samples.h"

#include "cli/terminal/data_origin.h"

#define PLACE(field) offsetof(cli_rows_options, field)

static const cli_option sample_options[] = {
    CLI_ROW_CHOICE("format", PLACE(format), "FORMAT", cli_formats, CLI_FORMAT_HELP),
    CLI_ROW("features", CLI_TEXT, PLACE(features), "LIST", "the columns to use, e.g. x1,x3:x5,7"),
    CLI_ROW("ignore", CLI_TEXT, PLACE(ignore), "LIST", "the columns to leave out"),
    CLI_ROW_CHOICE("missing", PLACE(missing), "HOW", cli_missings, "drop rows with missing values, or use the mean"),
    CLI_ROW_FLAG("no-scale", PLACE(no_scale), "do not standardise the columns"),
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
    read.text = GRAM_TEXT_CATEGORIES;
    read.keep_missing = 1; /* what to do with them is the preparation's matter */
    sample->file = cli_data_name(path);
    const gram_status status = gram_table_read(session->context, path, &read, &sample->table);
    if (status < 0) return cli_data_unread(session, status, NULL);
    sample->n = gram_table_rows(sample->table);
    return CLI_DONE;
}

/* A failure that is about what columns hold. */
static int unprepared(cli_session *session, gram_status status)
{
    const char *advice = gram_context_advice(session->context);
    return cli_data_unread(
        session, status,
        advice[0] ? advice : "--ignore LIST leaves columns out; --missing drop or mean helps with missing values.");
}

static gram_preparation_options how_to_prepare(const cli_rows_options *options, const char *list)
{
    gram_preparation_options how;
    gram_preparation_options_init(&how, sizeof how);
    how.target = "";
    how.features = list;
    how.scale = !options->no_scale;
    how.missing = (gram_missing)options->missing.value;
    return how;
}

/* The table is given back. */
static int apply(cli_session *session, cli_rows *sample)
{
    const gram_status status =
        gram_preparation_apply(session->context, sample->columns, sample->table, 1, &sample->prepared);
    if (status < 0) return unprepared(session, status);
    gram_table_destroy(sample->table);
    sample->table = NULL;
    sample->n = sample->prepared->n;
    sample->d = sample->prepared->d;
    sample->x = sample->prepared->x;
    return CLI_DONE;
}

int cli_rows_prepare(cli_session *session, const cli_rows_options *options, const char *list, cli_rows *sample)
{
    const gram_preparation_options how = how_to_prepare(options, list);
    const gram_status status = gram_preparation_learn(session->context, sample->table, &how, &sample->columns);
    return status < 0 ? unprepared(session, status) : apply(session, sample);
}

int cli_rows_prepare_both(cli_session *session, const cli_rows_options *options, cli_rows *a, cli_rows *b)
{
    const gram_preparation_options how = how_to_prepare(options, NULL);
    const gram_status status = gram_preparation_learn_both(session->context, a->table, b->table, &how, &a->columns);
    if (status < 0) return unprepared(session, status);
    b->columns = gram_preparation_retain(a->columns);
    const int code = apply(session, a);
    return code == CLI_DONE ? apply(session, b) : code;
}

int cli_rows_points(cli_session *session, const cli_rows *sample, int64_t first, int64_t count, gram_points **points)
{
    const gram_status status =
        gram_points_create_f64(session->context, sample->n, count, sample->x + first, sample->d, points);
    return status < 0 ? cli_session_fail(session, status, 1, NULL) : CLI_DONE;
}

int cli_rows_blame(cli_session *session, const cli_rows *sample, int64_t first, const gram_points *points,
                   const gram_kernel *kernel)
{
    const cli_origin origin = {.file = sample->file,
                               .rows = sample->prepared->rows,
                               .preparation = sample->columns,
                               .first_column = first,
                               .help =
                                   cli_rows_scaled(sample)
                                       ? "Standardised columns have negative values; --no-scale takes them as they are."
                                       : NULL};
    const gram_status status = gram_matrix_check(session->context, kernel, points);
    if (status >= 0 || !gram_context_place(session->context, NULL, NULL)) return CLI_DONE;
    return cli_data_fail(session, status, &origin);
}

const char *cli_rows_name(const cli_rows *sample, int64_t column, char name[CLI_COLUMN_NAME_SIZE])
{
    (void)gram_preparation_column_name(sample->columns, column, name, CLI_COLUMN_NAME_SIZE);
    return name;
}

const gram_column *cli_rows_feature(const cli_rows *sample, int64_t column)
{
    const int64_t feature = gram_preparation_feature_of(sample->columns, column);
    return &gram_preparation_describe(sample->columns)->features[feature];
}

int cli_rows_scaled(const cli_rows *sample)
{
    return gram_preparation_describe(sample->columns)->scaled;
}

int64_t cli_rows_dropped(const cli_rows *sample)
{
    return sample->prepared->table_rows - sample->n;
}

void cli_rows_free(cli_rows *sample)
{
    gram_points_release(sample->points);
    gram_prepared_destroy(sample->prepared);
    gram_preparation_release(sample->columns);
    gram_table_destroy(sample->table);
}
