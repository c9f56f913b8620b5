#define _POSIX_C_SOURCE 200809L
#include "cli/verb/scored_points.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/report/kernel_text.h"
#include "cli/report/report_rows.h"

static const cli_choice preconditions[] = {
    CLI_WORD("med", GRAM_STEIN_METRIC_MED),
    CLI_WORD("sclmed", GRAM_STEIN_METRIC_SCLMED),
    CLI_WORD("smpcov", GRAM_STEIN_METRIC_SMPCOV),
    CLI_WORD("id", GRAM_STEIN_METRIC_ID),
    CLI_WORDS_END,
};

/* "Not given" differs from med by its number. */
enum { NOT_GIVEN = -7 };

#define PLACE(field) offsetof(cli_scored_options, field)

static const cli_option scored_options[] = {
    CLI_ROW("scores", CLI_TEXT, PLACE(scores), "S",
            "scores, grad log p at each row: a file beside DATA, or columns of it"),
    CLI_ROW("density", CLI_TEXT, PLACE(density), "NAME",
            "the density itself, e.g. 'gaussian(mean=[0,0], sd=1)'; see above"),
    CLI_ROW("density-data", CLI_TEXT, PLACE(density_data), "FILE",
            "observations of the density logistic: columns, and labels 0 or 1 last"),
    {"kernel", 'k', CLI_TEXT, PLACE(kernel), "E", "base kernel (default: imq by --precondition)", 0, 0, NULL},
    CLI_ROW_CHOICE("precondition", PLACE(precondition), "P", preconditions,
                   "metric of imq: med (default), sclmed, smpcov or id"),
};

cli_group cli_scored_group(cli_scored_options *options)
{
    options->precondition.value = NOT_GIVEN;
    return (cli_group){"Density and kernel", scored_options, sizeof scored_options / sizeof *scored_options, options};
}

void cli_scored_help(gram_string *text)
{
    gram_string_add(text,
                    "\nDensities:\n"
                    "  gaussian(mean=0, cov=[1,0;0,1])       or sd=1; mean and sd: one number or a list\n"
                    "  student(df=5, mean=0, cov=...)        multivariate t\n"
                    "  mixture(means=[0,0;3,3], weights=[1,2], sd=1)\n"
                    "                                        of Gaussians; sd: one number or one each; or cov\n"
                    "  banana(b=0.03, sd=10)                 x1 ~ N(0, sd^2), x2 + b (x1^2 - sd^2) ~ N(0, 1)\n"
                    "  logistic(sd=10)                       posterior of the coefficients of a logistic regression\n"
                    "                                        without intercept on --density-data, prior N(0, sd^2)\n"
                    "Preconditioners of the base kernel (1 + (x-y)' G^-1 (x-y))^-1/2:\n"
                    "  med: G = (median distance)^2; sclmed: that divided by log m; smpcov: the covariance; id: 1\n");
}

int cli_scored_check(const char *verb, const cli_scored_options *options, int needed)
{
    char help[96];
    (void)snprintf(help, sizeof help, "`gram %s --help` has examples.", verb);
    if (options->scores && options->density)
        return cli_fail(CLI_WRONG_USE, help, "%s: --scores and --density are two ways to say the same thing", verb);
    if (needed && !options->scores && !options->density)
        return cli_fail(CLI_WRONG_USE, help, "%s: needs the density: --scores S or --density NAME", verb);
    if (options->kernel && options->precondition.value != NOT_GIVEN)
        return cli_fail(CLI_WRONG_USE, help, "%s: --precondition is for the default kernel, not for --kernel", verb);
    if (options->density_data && !options->density)
        return cli_fail(CLI_WRONG_USE, help, "%s: --density-data is for --density logistic", verb);
    return CLI_DONE;
}

int cli_scored_fail(cli_session *session, gram_status status, const cli_scored *scored)
{
    cli_origin origin = {.file = scored->file, .table = scored->table};
    if (status == GRAM_ERROR_NUMERICAL)
        origin.help = "Numbers of very different size need another kernel or other units; `gram thin` has --scale.";
    return cli_data_fail(session, status, &origin);
}

/* ---- the table ---- */

static int is_file(const char *path)
{
    return strcmp(path, "-") == 0 || access(path, R_OK) == 0;
}

static int read_table(cli_session *session, const char *path, const cli_data *data, const char *score_columns,
                      cli_scored *s)
{
    gram_table_options options;
    gram_string both = {0}; /* features and score columns have to be read */
    gram_table_options_init(&options, sizeof options);
    options.format = (gram_format)data->format.value;
    options.ignore = data->ignore;
    options.features = data->features;
    if (data->features && score_columns) {
        gram_string_add(&both, "%s,%s", data->features, score_columns);
        if (both.failed) return cli_no_memory();
        options.features = both.data;
    }
    s->file = cli_data_name(path);
    const gram_status status = gram_table_read(session->context, path, &options, &s->table);
    gram_string_free(&both);
    return status < 0 ? cli_data_unread(session, status, NULL) : CLI_DONE;
}

static void copy_columns(const gram_table *table, int64_t count, const int64_t *columns, double *out)
{
    const int64_t n = gram_table_rows(table), ld = gram_table_ld(table);
    const double *numbers = gram_table_numbers(table);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < count; l++) out[i * count + l] = numbers[i * ld + columns[l]];
}

/* Room for the scores. */
static int take_scores(cli_scored *s)
{
    s->scores = malloc((size_t)(s->n * s->d) * sizeof *s->scores);
    return s->scores ? CLI_DONE : cli_no_memory();
}

/* The columns of the points: those that hold no scores (--features was applied while reading, with the scores last). */
static int find_columns(cli_session *session, const char *verb, const char *score_columns, cli_scored *s)
{
    const int64_t all = gram_table_columns(s->table);
    int64_t *scores = calloc((size_t)all, sizeof *scores), count = 0;
    s->columns = calloc((size_t)all, sizeof *s->columns);
    if (!scores || !s->columns) {
        free(scores);
        return cli_no_memory();
    }
    gram_status status = GRAM_OK;
    if (score_columns) status = gram_table_find_columns(session->context, s->table, score_columns, scores, &count);
    for (int64_t c = 0; c < all && status >= 0; c++) {
        int taken = 0;
        for (int64_t k = 0; k < count; k++) taken |= scores[k] == c;
        if (!taken) s->columns[s->d++] = c;
    }
    int code =
        status < 0 ? cli_data_unread(session, status, "--scores is neither a file nor columns of DATA.") : CLI_DONE;
    if (code == CLI_DONE && score_columns && count != s->d)
        code =
            cli_fail(CLI_BAD_DATA, "There is one score for each column of the points; --features says which these are.",
                     "%s: %s: %" PRId64 " score columns for %" PRId64 " columns", verb, s->file, count, s->d);
    if (code == CLI_DONE && score_columns) code = take_scores(s);
    if (code == CLI_DONE && score_columns) copy_columns(s->table, s->d, scores, s->scores);
    free(scores);
    return code;
}

/* ---- scores from elsewhere ---- */

static int read_score_file(cli_session *session, const char *verb, const char *path, cli_scored *s)
{
    gram_table *table = NULL;
    const gram_status status = gram_table_read(session->context, path, NULL, &table);
    if (status < 0) return cli_data_unread(session, status, NULL);
    const int64_t rows = gram_table_rows(table), columns = gram_table_columns(table);
    int code = CLI_DONE;
    if (rows != s->n || columns != s->d)
        code =
            cli_fail(CLI_BAD_DATA, "The file has one row for each row of DATA and one column for each of its columns.",
                     "%s: %s: %" PRId64 " row%s of %" PRId64 " score%s for %" PRId64 " row%s of %" PRId64 " column%s",
                     verb, cli_data_name(path), rows, cli_plural(rows), columns, cli_plural(columns), s->n,
                     cli_plural(s->n), s->d, cli_plural(s->d));
    if (code == CLI_DONE) code = take_scores(s);
    for (int64_t i = 0; code == CLI_DONE && i < s->n; i++)
        memcpy(s->scores + i * s->d, gram_table_numbers(table) + i * gram_table_ld(table),
               (size_t)s->d * sizeof *s->scores);
    gram_table_destroy(table);
    return code;
}

static int make_scores(cli_session *session, const char *verb, const cli_scored_options *options, cli_scored *s)
{
    gram_table *data = NULL;
    gram_density *density = NULL;
    gram_status status = GRAM_OK;
    if (options->density_data) status = gram_table_read(session->context, options->density_data, NULL, &data);
    if (status < 0) return cli_data_unread(session, status, NULL);
    const char *help = "`gram help thin` lists densities; --density-data FILE has the observations of logistic.";
    status = gram_density_parse_data(session->context, options->density, s->d, data, &density);
    gram_table_destroy(data);
    if (status == GRAM_ERROR_DIMENSION || status == GRAM_ERROR_DATA) return cli_session_fail(session, status, 1, help);
    if (status < 0) return cli_fail(CLI_WRONG_USE, help, "%s: %s", verb, gram_context_message(session->context));
    int code = take_scores(s);
    if (code == CLI_DONE) {
        status = gram_density_score(session->context, density, s->points, s->scores, s->d);
        if (status < 0) code = cli_scored_fail(session, status, s);
    }
    gram_density_destroy(density);
    return code;
}

/* ---- kernel ---- */

static int choose_kernel(cli_session *session, const cli_scored_options *options, int64_t m, cli_scored *s)
{
    gram_status status;
    if (!options->kernel && s->scores) {
        const int given = options->precondition.value != NOT_GIVEN;
        const gram_stein_metric how = given ? (gram_stein_metric)options->precondition.value : GRAM_STEIN_METRIC_MED;
        status = gram_stein_kernel(session->context, s->points, how, m, &s->kernel);
        if (status == GRAM_ERROR_NUMERICAL)
            return cli_session_fail(session, status, 1, "Use --precondition med, or leave a column out.");
        if (status ==
            GRAM_ERROR_ARGUMENT) /* distances beyond what a parameter may be: not the fault of the options given */
            return cli_fail(CLI_NUMERICAL, "Use other units, or give a --kernel.",
                            "%s: no kernel for these distances: %s", s->file, gram_context_message(session->context));
    } else {
        gram_kernel *open = NULL;
        const int code = cli_kernel_read(session, options->kernel ? options->kernel : "rbf", &open);
        if (code != CLI_DONE) return code;
        status = gram_kernel_check_dimension(session->context, open, s->d);
        if (status >= 0) status = gram_kernel_resolve(session->context, open, s->points, &s->kernel);
        gram_kernel_release(open);
    }
    if (status < 0) return cli_scored_fail(session, status, s);
    s->kernel_text = cli_kernel_text(s->kernel);
    return s->kernel_text ? CLI_DONE : cli_no_memory();
}

/* ---- all of it ---- */

static int make_points(cli_session *session, cli_scored *s)
{
    s->numbers = malloc((size_t)(s->n * s->d) * sizeof *s->numbers);
    if (!s->numbers) return cli_no_memory();
    copy_columns(s->table, s->d, s->columns, s->numbers);
    const gram_status status = gram_points_create_f64(session->context, s->n, s->d, s->numbers, s->d, &s->points);
    return status < 0 ? cli_scored_fail(session, status, s) : CLI_DONE;
}

static void name_source(const cli_scored_options *options, int by_columns, cli_scored *s)
{
    if (options->density)
        (void)snprintf(s->source_text, sizeof s->source_text, "density %s", options->density);
    else if (options->scores)
        (void)snprintf(s->source_text, sizeof s->source_text, "%s %s", by_columns ? "scores in columns" : "scores of",
                       options->scores);
    else
        (void)snprintf(s->source_text, sizeof s->source_text, "the sample itself");
    s->source = s->source_text;
}

int cli_scored_read(cli_session *session, const char *verb, const char *path, const cli_data *data,
                    const cli_scored_options *options, int64_t m, cli_scored *s)
{
    const int by_columns = options->scores && !is_file(options->scores);
    const char *score_columns = by_columns ? options->scores : NULL;
    if (options->scores && strcmp(options->scores, "-") == 0 && strcmp(path, "-") == 0)
        return cli_fail(CLI_WRONG_USE, "Give one of them as a file, or the scores as columns of DATA.",
                        "%s: both points and scores from standard input", verb);
    int code = read_table(session, path, data, score_columns, s);
    if (code != CLI_DONE) return code;
    s->n = gram_table_rows(s->table);
    code = find_columns(session, verb, score_columns, s);
    if (code == CLI_DONE && s->d == 0)
        code = cli_fail(CLI_BAD_DATA, "--scores names the columns of scores only.",
                        "%s: %s: no column is left for the points", verb, s->file);
    if (code == CLI_DONE) code = make_points(session, s);
    if (code == CLI_DONE && options->scores && !by_columns) code = read_score_file(session, verb, options->scores, s);
    if (code == CLI_DONE && options->density) code = make_scores(session, verb, options, s);
    if (code == CLI_DONE && data->scale) gram_stein_standardise(s->n, s->d, s->numbers, s->d, s->scores, s->d);
    name_source(options, by_columns, s);
    return code == CLI_DONE ? choose_kernel(session, options, m, s) : code;
}

void cli_scored_free(cli_scored *s)
{
    gram_points_release(s->points);
    gram_table_destroy(s->table);
    gram_kernel_release(s->kernel);
    free(s->columns);
    free(s->numbers);
    free(s->scores);
    free(s->kernel_text);
}
