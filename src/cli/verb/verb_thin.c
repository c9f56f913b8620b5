/* gram thin: a few rows that stand for many. */
#define _DEFAULT_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/report_rows.h"
#include "cli/verb/density_options.h"

static const cli_choice methods[] = {
    CLI_WORD("greedy", GRAM_THIN_GREEDY),
    CLI_WORD("herding", GRAM_THIN_HERDING),
    CLI_WORD("split", GRAM_THIN_SPLIT),
    CLI_WORD("plain", GRAM_THIN_PLAIN),
    CLI_WORDS_END,
};

typedef struct thin_options {
    int64_t m;
    cli_chosen method;
    const char *gram;
    int distinct;
    int optimal_weights;
    const char *plot;
} thin_options;

#define PLACE(field) offsetof(thin_options, field)

static const cli_option own_options[] = {
    {"count", 'm', CLI_INTEGER, PLACE(m), "M", "how many rows to choose", 1, 1 << 30, NULL},
    CLI_ROW_CHOICE("method", PLACE(method), "NAME", methods, "greedy (default), herding, split or plain; see above"),
    CLI_ROW("gram", CLI_TEXT, PLACE(gram), "K.npy",
            "a given matrix: the kernel of each two rows of DATA, n x n; the kernel `given`"),
    CLI_ROW_FLAG("distinct", PLACE(distinct), "no row twice"),
    CLI_ROW_FLAG("optimal-weights", PLACE(optimal_weights),
                 "give the rows the best weights, >= 0 with the sum 1: a column 'weight'"),
    CLI_ROW("plot", CLI_TEXT, PLACE(plot), "FILE",
            "draw the choice in the first two columns: .svg, .png or .pdf (by gnuplot)"),
};

static const cli_usage usage = {
    "thin",
    "DATA -m M",
    "Chooses M rows that stand for all of them, in the order of the choice, and prints them as CSV. With --scores "
    "(the\ngradient of the log density at each row, as MCMC programs can write) or --density they stand for that "
    "density: Stein\nthinning, which also drops the burn-in of a chain. Scores do not see the weights of modes that "
    "lie "
    "apart;\n--density does. With --measure they stand for a law, of which "
    "the rows are "
    "candidates.\nOtherwise they stand for the sample.\n"
    "Methods: greedy makes the discrepancy least with each row; herding is the classical rule, for samples; split is\n"
    "kernel thinning (halving and refining), random by --seed; plain takes evenly spaced rows. A row may be chosen "
    "twice\nunless --distinct. Columns are taken as they are unless --scale (scores are then scaled to match).\n",
    "  gram thin chain.csv -m 100 --scores score1,score2 >thinned.csv\n"
    "  gram thin draws.npy -m 50 --scores gradients.npy --precondition smpcov --json\n"
    "  gram thin big.csv -m 200 --optimal-weights --plot choice.svg\n"
    "  gram thin candidates.csv -m 20 --method herding --measure 'normal(0,1)*normal(0,1)'\n",
    1,
    1,
    cli_scored_help,
    NULL};

typedef struct thin_report {
    thin_options own;
    cli_scored_options choice;
    cli_data data;
    gram_scored_points *scored;
    const gram_scored_report *points; /* what it holds */
    gram_law *law;                    /* of --measure, or NULL */
    int64_t *index;
    double *weights; /* or NULL */
    double discrepancy, equal, plain,
        all; /* with the weights; without; of evenly spaced rows; of all. NaN: not known */
    double apart,
        apart_plain;  /* MMD of the choice, and of evenly spaced rows, to the sample; NaN: there are no scores */
    double effective; /* 1/sum of squared weights; NaN: there are none */
} thin_report;

/* ---- the work ---- */

static gram_status choose(cli_session *session, thin_report *r, double *path)
{
    const gram_scored_report *s = r->points;
    const int64_t m = r->own.m;
    gram_thin_options options;
    gram_thin_options_init(&options, sizeof options);
    options.method = (gram_thin_method)r->own.method.value;
    options.distinct = r->own.distinct;
    options.law = r->law;
    if (options.method == GRAM_THIN_GREEDY) {
        options.log_density = s->log_density;
        options.laplacian = s->laplacian;
    }
    gram_status status =
        r->law ? gram_thin_law_reference(session->context, s->kernel, s->points, r->law, m, &r->plain, &r->all)
               : gram_thin_reference(session->context, s->kernel, s->points, s->scores, s->d, m, &r->plain, &r->all);
    if (status >= 0)
        status = gram_thin(session->context, s->kernel, s->points, s->scores, s->d, &options, m, r->index, path);
    if (status >= 0) r->discrepancy = r->equal = path[m - 1];
    if (status >= 0 && r->weights && r->law)
        status = gram_thin_law_weights(session->context, s->kernel, s->points, r->law, m, r->index, r->weights,
                                       &r->discrepancy);
    else if (status >= 0 && r->weights && options.log_density)
        status = gram_thin_density_weights(session->context, s->kernel, s->points, s->scores, s->d, s->log_density,
                                           s->laplacian, m, r->index, r->weights, &r->discrepancy);
    else if (status >= 0 && r->weights)
        status = gram_thin_weights(session->context, s->kernel, s->points, s->scores, s->d, m, r->index, r->weights,
                                   &r->discrepancy);
    return status;
}

/* What tells whether the choice is a good one. */
static gram_status look_back(cli_session *session, thin_report *r)
{
    enum { MOST = 16384 };
    double squares = 0;
    r->apart = r->apart_plain = r->effective = NAN;
    for (int64_t a = 0; r->weights && a < r->own.m; a++) squares += r->weights[a] * r->weights[a];
    if (r->weights) r->effective = 1 / squares;
    if (!r->points->scores || r->own.m > MOST) return GRAM_OK;
    return gram_thin_from_sample(session->context, r->points->points, r->own.m, r->index, r->weights, &r->apart,
                                 &r->apart_plain);
}

static int choose_rows(cli_session *session, thin_report *r)
{
    const int64_t m = r->own.m;
    if (m > r->points->n)
        return cli_fail(CLI_WRONG_USE, "Choose fewer rows.",
                        "thin: -m %" PRId64 " is more than the %" PRId64 " rows of %s", m, r->points->n,
                        r->points->file);
    double *path = calloc((size_t)m, sizeof *path);
    r->index = calloc((size_t)m, sizeof *r->index);
    r->weights = r->own.optimal_weights ? calloc((size_t)m, sizeof *r->weights) : NULL;
    if (!path || !r->index || (r->own.optimal_weights && !r->weights)) {
        free(path);
        return cli_no_memory();
    }
    gram_status status = choose(session, r, path);
    free(path);
    if (status >= 0) {
        const gram_status back = look_back(session, r);
        if (back < 0) status = back;
    }
    if (status == GRAM_ERROR_UNSUPPORTED)
        return cli_session_fail(session, status, 0, "Use a smooth kernel such as imq, rbf or matern(nu=2.5).");
    return status < 0 ? cli_scored_fail(session, status, r->scored) : CLI_DONE;
}

static int draw(cli_session *session, const thin_report *r)
{
    gram_picture *picture = NULL;
    const gram_status status = gram_picture_of_choice(session->context, r->scored, r->own.m, r->index, &picture);
    return cli_plot(session, r->own.plot, status, picture);
}

/* ---- the result ---- */

enum { WARNINGS = 3, FEW = 10 }; /* rows that are too few to be compared with the sample */

/* What the user should know, at most WARNINGS sentences; returns how many. */
static int warnings_of(const thin_report *r, const char *sentences[WARNINGS])
{
    int count = 0;
    if (r->points->doubt) sentences[count++] = r->points->doubt;
    if (r->own.m >= FEW && r->apart > r->apart_plain)
        sentences[count++] =
            "the choice is further from the sample than evenly spaced rows are: either the sample has not "
            "converged to the density, or the density has modes whose weights scores do not see "
            "(--density does, or leave the scores out)";
    if (4 * r->effective < (double)r->own.m)
        sentences[count++] =
            "few of the rows have nearly all of the weight: the choice does not stand for the density; "
            "use more rows, or leave --optimal-weights out";
    return count;
}

static const char *target_of(const thin_report *r)
{
    return r->choice.measure ? r->choice.measure : r->points->source;
}

static void write_json(cli_session *session, const void *report_, gram_json *json)
{
    const thin_report *r = report_;
    gram_json_string(json, "method", methods[r->own.method.value].name);
    gram_json_kernel(json, "kernel", r->points->kernel);
    gram_json_string(json, "target", target_of(r));
    gram_json_integer(json, "n", r->points->n);
    gram_json_integer(json, "d", r->points->d);
    gram_json_integer(json, "m", r->own.m);
    gram_json_open(json, "indices", '[');
    for (int64_t a = 0; a < r->own.m; a++) gram_json_integer(json, NULL, r->index[a] + 1);
    gram_json_close(json, '[');
    if (r->weights) gram_json_numbers(json, "weights", r->own.m, r->weights, 1);
    gram_json_number(json, "discrepancy", r->discrepancy);
    gram_json_number(json, "discrepancy_equal_weights", r->equal);
    gram_json_number(json, "discrepancy_plain", r->plain);
    gram_json_number(json, "discrepancy_all", r->all);
    if (!isnan(r->effective)) gram_json_number(json, "effective_size", r->effective);
    if (!isnan(r->apart)) gram_json_number(json, "from_sample", r->apart);
    if (!isnan(r->apart)) gram_json_number(json, "from_sample_plain", r->apart_plain);
    const char *sentences[WARNINGS];
    const int warnings = warnings_of(r, sentences);
    gram_json_open(json, "warnings", '[');
    for (int i = 0; i < warnings; i++) gram_json_string(json, NULL, sentences[i]);
    gram_json_close(json, '[');
    cli_json_end(session, json, r->own.plot);
}

/* A cell as it was read: a number or a text. */
static void add_cell(gram_string *text, const gram_table *table, int64_t row, int64_t column)
{
    const double cell = gram_table_numbers(table)[row * gram_table_ld(table) + column];
    if (gram_table_column_is_text(table, column) && !isnan(cell))
        gram_string_add_field(text, gram_table_level(table, column, (int64_t)cell));
    else if (!isnan(cell))
        cli_add_values(text, 1, &cell, "");
}

/* Columns that can be written as they were read. */
static int is_written(const gram_table *table, int64_t column)
{
    const gram_column_kind kind = gram_table_column_kind(table, column, NULL);
    return kind == GRAM_COLUMN_PLAIN || kind == GRAM_COLUMN_TEXTS;
}

/* The rows as they were read, score columns too; of sparse rows and of a given matrix the number. */
static void write_rows(cli_session *session, const void *report_, gram_string *text)
{
    const thin_report *r = report_;
    (void)session;
    const gram_table *table = r->points->table;
    const int64_t columns = gram_table_columns(table);
    for (int64_t c = 0; c < columns; c++) {
        if (c > 0) gram_string_add(text, ",");
        gram_string_add_field(text, is_written(table, c) ? gram_table_column_name(table, c) : "row");
    }
    gram_string_add(text, r->weights ? ",weight\n" : "\n");
    for (int64_t a = 0; a < r->own.m; a++) {
        for (int64_t c = 0; c < columns; c++) {
            if (c > 0) gram_string_add(text, ",");
            if (is_written(table, c))
                add_cell(text, table, r->index[a], c);
            else
                gram_string_add(text, "%" PRId64, r->index[a] + 1);
        }
        gram_string_add(text, r->weights ? "," : "\n");
        if (r->weights) cli_add_values(text, 1, &r->weights[a], "\n");
    }
}

/* What a person at a terminal wants to know beside the rows; on standard error, so that it does not get among them. */
static void tell(const thin_report *r)
{
    char found[CLI_SHORT_SIZE], plain[CLI_SHORT_SIZE], kernel[256];
    (void)gram_kernel_print(r->points->kernel, kernel, sizeof kernel);
    (void)fprintf(stderr, "%" PRId64 " of %" PRId64 " rows for %s by %s: discrepancy %s (evenly spaced rows: %s)\n",
                  r->own.m, r->points->n, target_of(r), kernel, cli_short_number(r->discrepancy, found),
                  cli_short_number(r->plain, plain));
}

static int finish(cli_session *session, const thin_report *r)
{
    const int code = cli_report_print(session, r, write_json, write_rows);
    const char *sentences[WARNINGS];
    const int warnings = warnings_of(r, sentences);
    for (int i = 0; code == CLI_DONE && i < warnings && !session->common->json && !session->common->quiet; i++)
        (void)fprintf(stderr, "gram: thin: warning: %s\n", sentences[i]);
    if (code == CLI_DONE && !session->common->json && !session->common->quiet && isatty(STDERR_FILENO)) tell(r);
    return code;
}

static int check_use(cli_session *session, const thin_options *own, const cli_scored_options *scored)
{
    if (own->m == 0)
        return cli_fail(CLI_WRONG_USE, "Usage: gram thin DATA -m M [OPTIONS]", "thin: how many rows? -m M is missing");
    if (own->method.value == GRAM_THIN_HERDING && (scored->scores || scored->density))
        return cli_fail(CLI_WRONG_USE, "Use greedy, or leave the scores out.",
                        "thin: --method herding is for samples without scores");
    if (!scored->scores && !scored->density && scored->precondition.value >= 0)
        return cli_fail(CLI_WRONG_USE, "Without scores, give the kernel with --kernel.",
                        "thin: --precondition is for Stein thinning");
    if (own->method.value == GRAM_THIN_SPLIT && scored->measure)
        return cli_fail(CLI_WRONG_USE, "Use greedy or herding.",
                        "thin: --method split halves a sample, and --measure is another target");
    const int code = cli_scored_check("thin", scored, 0);
    return code == CLI_DONE && own->plot ? cli_plot_check(session, own->plot) : code;
}

static int work(cli_session *session, char **operands, void *report)
{
    thin_report *r = report;
    int code = check_use(session, &r->own, &r->choice);
    r->choice.gram = r->own.gram;
    if (code == CLI_DONE)
        code = cli_scored_read(session, "thin", operands[0], &r->data, &r->choice, r->own.m, &r->scored);
    if (code == CLI_DONE) r->points = gram_scored_points_get_report(r->scored);
    if (code == CLI_DONE) code = cli_scored_law(session, "thin", &r->choice, &r->data, r->scored, &r->law);
    if (code == CLI_DONE) code = choose_rows(session, r);
    if (code == CLI_DONE && r->own.plot && (r->own.gram || r->data.texts))
        return cli_fail(CLI_WRONG_USE, "Leave --plot out.", "thin: --plot draws columns of numbers");
    if (code == CLI_DONE && r->own.plot) code = draw(session, r);
    return code == CLI_DONE ? finish(session, r) : code;
}

static void release(void *report)
{
    thin_report *r = report;
    free(r->index);
    free(r->weights);
    gram_law_release(r->law);
    gram_scored_points_destroy(r->scored);
}

int cli_thin(int count, char **arguments)
{
    cli_common common = {0};
    thin_report report = {0};
    const cli_group groups[] = {
        {"Options", own_options, sizeof own_options / sizeof *own_options, &report.own},
        cli_scored_group(&report.choice),
        cli_data_group(&report.data),
        cli_common_group(&common),
    };
    const cli_job job = {&usage, groups, 4, work, release, &report};
    return cli_run(&job, count, arguments);
}
