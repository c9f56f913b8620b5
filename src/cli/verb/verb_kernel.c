/* gram kernel: what is known of a kernel, and of its Gram matrix on data. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/density_report.h"
#include "cli/report/kernel_report.h"
#include "cli/report/kernel_text.h"
#include "cli/report/report_rows.h"
#include "cli/report/spectrum_report.h"
#include "cli/terminal/data_origin.h"
#include "cli/terminal/options.h"

typedef struct kernel_options {
    const char *gram;
    const char *plot;
    const char *bag, *bag_weights, *graphs;
    int64_t dimension;
    cli_spectrum_options spectrum;
    cli_density_options density;
} kernel_options;

#define PLACE(field) offsetof(kernel_options, field)

static const cli_option own_options[] = {
    CLI_ROW("gram", CLI_TEXT, PLACE(gram), "K.npy", "write the Gram matrix to a file"),
    CLI_ROW_INTEGER("dimension", PLACE(dimension), "D", 1, 1 << 30,
                    "of the points, when there is no DATA (default: the least that fits)"),
    CLI_ROW("bag", CLI_TEXT, PLACE(bag), "COL", "rows that agree in COL are one point, a bag: mean(rbf)"),
    CLI_ROW("bag-weights", CLI_TEXT, PLACE(bag_weights), "COL", "a column with the weights of the rows in their bags"),
    CLI_ROW("graph", CLI_TEXT, PLACE(graphs), "LIST",
            "columns of graphs such as 'a-b b-c; a:C b:O c:C', for wl and paths"),
    CLI_ROW_FLAG("check", PLACE(spectrum.check), "is K symmetric and positive semi-definite? if not: a certificate"),
    CLI_ROW_INTEGER("spectrum", PLACE(spectrum.count), "K", 1, 1 << 30, "the K largest eigenvalues of K"),
    CLI_ROW("lambda", CLI_POSITIVE, PLACE(spectrum.lambda), "L", "the effective dimension tr K (K + n L I)^-1"),
    CLI_ROW_FLAG("density", PLACE(density.asked),
                 "the spectral density of a stationary kernel, by angular frequencies"),
    CLI_ROW("grid", CLI_TEXT, PLACE(density.grid), "A:B:N",
            "N frequencies from A to B for --density (default: chosen)"),
    CLI_ROW_INTEGER("along", PLACE(density.column), "J", 1, 1 << 30, "the column for --density (default 1)"),
    CLI_ROW("plot", CLI_TEXT, PLACE(plot), "FILE", "draw the spectrum or the density: .svg, .png or .pdf (by gnuplot)"),
};

static void add_kernels(gram_string *text);

static const cli_usage usage = {
    "kernel",
    "EXPRESSION [DATA]",
    "Describes a kernel and its parameters. With DATA (.csv, .tsv, .npy or .libsvm, also .gz; - is standard\ninput; of "
    "the kernel `given` it is the matrix), "
    "numbers that the expression leaves free are set by the median heuristic, and the Gram matrix is described\nor "
    "written.\n",
    "  gram kernel '2*rbf(ell=0.3) + white'\n"
    "  gram kernel 'matern(nu=1.5)*on(2, rbf)' points.csv --gram K.npy\n"
    "  gram kernel rbf points.csv --check --spectrum 20 --plot spectrum.svg\n"
    "  gram kernel 'matern(nu=1.5,ell=1)*cosine(p=2)' --density --plot density.svg\n"
    "  gram kernel 'gapped(l=7,k=4,over=dna)' genes.csv --text sequence --features sequence --gram K.npy\n"
    "  gram kernel given K.npy --check\n",
    1,
    2,
    add_kernels,
    NULL};

/* At most this many rows are looked at for the range of the entries off the diagonal. */
enum { MAX_SAMPLE = 512 };

/* Everything that is printed. */
typedef struct kernel_report {
    kernel_options own;
    cli_data data;
    const char *file;             /* of the data, or NULL */
    gram_kernel *kernel;          /* as given, */
    gram_kernel *resolved_kernel; /* and without free numbers; NULL without data */
    gram_table *table;
    gram_preparation
        *preparation; /* of columns that hold no numbers, and the rows as it makes them; NULL: all hold numbers */
    gram_prepared *rows;
    gram_points *points;
    gram_description *description; /* of the kernel */
    int64_t n, d;
    gram_matrix_ranges ranges;
    gram_spectrum *spectrum; /* NULL: it was not asked for */
    const gram_spectrum_report *spectrum_report;
    cli_density density;
} kernel_report;

static gram_kernel *final_kernel(const kernel_report *report)
{
    return report->resolved_kernel ? report->resolved_kernel : report->kernel;
}

/* ---- finding out ---- */

/* The dimension of --dimension, or the least one that the kernel takes. */
static int find_dimension(cli_session *session, int64_t asked, kernel_report *report)
{
    gram_status status;
    report->d = asked;
    if (asked)
        status = gram_kernel_check_dimension(session->context, report->kernel, asked);
    else
        status = gram_kernel_least_dimension(session->context, report->kernel, &report->d);
    if (status >= 0) return CLI_DONE;
    if (status != GRAM_ERROR_DIMENSION) return cli_session_fail(session, status, 0, NULL);
    return cli_fail(CLI_WRONG_USE,
                    asked ? "Leave --dimension out to see the least that fits."
                          : "The parts of the kernel need different numbers of columns.",
                    "%s", gram_context_message(session->context));
}

/* A failure of a single number names its row and column. */
static int data_fail(cli_session *session, gram_status status, const kernel_report *report)
{
    int64_t row, column;
    if (gram_context_place(session->context, &row, &column) && column >= 0)
        gram_context_name_place(session->context, report->file, row, gram_table_column_name(report->table, column));
    return cli_session_fail(session, status, 1, NULL);
}

/* Columns that hold texts, graphs or the rows of bags. */
static int read_things(cli_session *session, const char *path, kernel_report *report)
{
    gram_context *context = session->context;
    const cli_data *data = &report->data;
    gram_table_options options;
    gram_preparation_options preparing;
    gram_table_options_init(&options, sizeof options);
    gram_preparation_options_init(&preparing, sizeof preparing);
    options.format = (gram_format)data->format.value;
    options.text = GRAM_TEXT_CATEGORIES;
    options.keep_missing = 1;
    options.texts = data->texts;
    options.graphs = report->own.graphs;
    options.bag = preparing.bag = report->own.bag;
    preparing.bag_weights = report->own.bag_weights;
    preparing.target = "";
    preparing.features = data->features;
    preparing.ignore = data->ignore;
    preparing.scale = data->scale;
    report->file = gram_data_name(path);
    gram_status status = gram_table_read(context, path, &options, &report->table);
    if (status >= 0) status = gram_preparation_learn(context, report->table, &preparing, &report->preparation);
    if (status >= 0) status = gram_preparation_apply(context, report->preparation, report->table, 0, &report->rows);
    if (status < 0) return cli_data_unread(session, status, NULL);
    report->n = report->rows->n;
    report->d = report->rows->d;
    status = gram_points_of_prepared(context, report->rows, &report->points);
    return status < 0 ? data_fail(session, status, report) : CLI_DONE;
}

static int read_data(cli_session *session, const char *path, kernel_report *report)
{
    if (report->own.bag || report->own.bag_weights || report->own.graphs) return read_things(session, path, report);
    gram_context *context = session->context;
    const cli_data *data = &report->data;
    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    options.format = (gram_format)data->format.value;
    options.features = data->features;
    options.ignore = data->ignore;
    options.texts = data->texts;
    options.sparse = !data->scale;
    if (gram_kernel_takes_given(report->kernel)) options.gram = path;
    report->file = gram_data_name(path);
    gram_status status = gram_table_read(context, options.gram ? NULL : path, &options, &report->table);
    if (status >= 0 && data->scale) status = gram_table_standardise(context, report->table, NULL, NULL);
    if (status < 0) return cli_data_unread(session, status, NULL);
    report->n = gram_table_rows(report->table);
    report->d = gram_table_columns(report->table);
    status = gram_points_of_table(context, report->table, report->d, NULL, &report->points);
    return status < 0 ? data_fail(session, status, report) : CLI_DONE;
}

static int resolve(cli_session *session, kernel_report *report)
{
    gram_status status = gram_kernel_check_dimension(session->context, report->kernel, report->d);
    if (status >= 0)
        status = gram_kernel_resolve(session->context, report->kernel, report->points, &report->resolved_kernel);
    return status < 0 ? data_fail(session, status, report) : CLI_DONE;
}

static int write_gram(cli_session *session, const kernel_report *report)
{
    gram_npy *file = NULL;
    gram_status status = gram_npy_create(session->context, report->own.gram, report->n, report->n, &file);
    if (status >= 0)
        status = gram_matrix(session->context, report->resolved_kernel, report->points, NULL, gram_npy_numbers(file),
                             report->n);
    if (status >= 0) status = gram_npy_finish(session->context, file);
    gram_npy_destroy(file);
    if (status == GRAM_ERROR_DOMAIN) return data_fail(session, status, report);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

static int find_ranges(cli_session *session, kernel_report *report)
{
    const gram_status status =
        gram_matrix_range(session->context, report->resolved_kernel, report->points, MAX_SAMPLE, &report->ranges);
    return status < 0 ? data_fail(session, status, report) : CLI_DONE;
}

static int find_facts(cli_session *session, kernel_report *report)
{
    const gram_status status =
        gram_kernel_describe(session->context, final_kernel(report), report->d, &report->description);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

static int find_spectrum(cli_session *session, kernel_report *report)
{
    if (!cli_spectrum_is_asked(&report->own.spectrum)) return CLI_DONE;
    gram_spectrum_options options;
    gram_spectrum_options_init(&options, sizeof options);
    options.check = report->own.spectrum.check;
    options.lambda = report->own.spectrum.lambda;
    const gram_status status =
        gram_spectrum_create(session->context, report->resolved_kernel, report->points, &options, &report->spectrum);
    const char *help =
        status == GRAM_ERROR_NUMERICAL ? "Standardise the columns (--scale), or change the kernel." : NULL;
    if (status < 0) return cli_session_fail(session, status, 1, help);
    report->spectrum_report = gram_spectrum_get_report(report->spectrum);
    if (!report->own.plot || report->own.density.asked) return CLI_DONE;
    return cli_spectrum_plot(session, report->own.plot, report->resolved_kernel, report->file, &report->own.spectrum,
                             report->spectrum);
}

static int find_density(cli_session *session, kernel_report *report)
{
    const int code = cli_density_find(session, &report->own.density, final_kernel(report), report->d, &report->density);
    if (code != CLI_DONE || !report->own.density.asked || !report->own.plot) return code;
    return cli_density_plot(session, report->own.plot, final_kernel(report), &report->density);
}

/* ---- as JSON ---- */

static void json_range(gram_json *json, const char *key, const double range[2])
{
    gram_json_open(json, key, '{');
    gram_json_number(json, "min", range[0]);
    gram_json_number(json, "max", range[1]);
    gram_json_close(json, '{');
}

static void json_data(gram_json *json, const kernel_report *report)
{
    gram_json_string(json, "data", report->file);
    gram_json_open(json, "columns", '[');
    for (int64_t i = 0; i < report->d; i++) gram_json_string(json, NULL, gram_table_column_name(report->table, i));
    gram_json_close(json, '[');
    json_range(json, "diagonal", report->ranges.diagonal);
    json_range(json, "off_diagonal", report->ranges.rest);
    gram_json_integer(json, "off_diagonal_rows", report->ranges.rows);
    gram_json_number(json, "gram_bytes", 8 * (double)report->n * (double)report->n);
}

static void write_json(cli_session *session, const void *report_, gram_json *json)
{
    const kernel_report *report = report_;
    gram_json_kernel(json, "kernel", final_kernel(report));
    gram_json_kernel(json, "given", report->kernel);
    if (report->table)
        gram_json_integer(json, "n", report->n);
    else
        gram_json_null(json, "n");
    gram_json_integer(json, "d", report->d);
    if (gram_kernel_json(session->context, final_kernel(report), report->kernel, report->d, json) < 0)
        json->text->failed = 1;
    cli_words_json(session, json, final_kernel(report), report->d);
    if (report->table) json_data(json, report);
    if (report->spectrum) gram_spectrum_json(report->spectrum, report->own.spectrum.count, json);
    cli_density_json(json, &report->density);
    gram_json_string(json, "gram", report->own.gram);
    cli_json_end(session, json, report->own.plot);
}

/* ---- for people ---- */

static void add_range(gram_string *text, const char *label, const double range[2], const char *where)
{
    char least[CLI_SHORT_SIZE], most[CLI_SHORT_SIZE];
    cli_add_label(text, label);
    if (isnan(range[0]))
        gram_string_add(text, "-\n");
    else if (range[0] == range[1])
        gram_string_add(text, "%s%s\n", cli_short_number(range[0], least), where);
    else
        gram_string_add(text, "%s to %s%s\n", cli_short_number(range[0], least), cli_short_number(range[1], most),
                        where);
}

static void add_gram(cli_session *session, gram_string *text, const kernel_report *report)
{
    char rows[CLI_SHORT_SIZE], size[GRAM_BYTES_SIZE], where[64] = "";
    const double bytes = 8 * (double)report->n * (double)report->n;
    cli_add_heading(session, text, "Gram matrix");
    gram_count_format(report->n, rows);
    cli_add_label(text, "size");
    gram_string_add(text, "%s x %s, %s\n", rows, rows,
                    gram_bytes_format(bytes < 1e18 ? (size_t)bytes : (size_t)1000000000000000000, size));
    add_range(text, "diagonal", report->ranges.diagonal, "");
    if (report->ranges.rows < report->n)
        (void)snprintf(where, sizeof where, "  (seen on %" PRId64 " rows)", report->ranges.rows);
    add_range(text, "off the diagonal", report->ranges.rest, where);
    if (report->own.gram) cli_add_row(text, "written to", report->own.gram);
}

static void write_table(cli_session *session, const void *report_, gram_string *text)
{
    const kernel_report *report = report_;
    char rows[CLI_SHORT_SIZE], columns[CLI_SHORT_SIZE];
    cli_add_kernel(text, "kernel", final_kernel(report));
    if (!gram_kernel_equal(final_kernel(report), report->kernel)) cli_add_kernel(text, "given as", report->kernel);
    if (report->table) {
        cli_add_label(text, "data");
        gram_string_add(text, "%s, %s row%s, %s column%s\n", report->file, gram_count_format(report->n, rows),
                        cli_plural(report->n), gram_count_format(report->d, columns), cli_plural(report->d));
    }
    cli_kernel_print(session, text, final_kernel(report), report->description, report->d);
    cli_parameters_print(session, text, final_kernel(report), report->kernel);
    (void)cli_words_print(session, text, final_kernel(report), report->d);
    if (report->table) add_gram(session, text, report);
    cli_spectrum_print(session, text, &report->own.spectrum, report->spectrum_report, report->n);
    cli_density_print(session, text, &report->density);
    if (!report->own.plot) return;
    gram_string_add(text, "\n");
    cli_add_row(text, "plot", report->own.plot);
}

/* The kernels of the table, for --help. */
static void add_kernels(gram_string *text)
{
    char signature[128];
    gram_string_add(text, "\nKernels (a parameter without a value is free):\n");
    for (int i = 0; gram_kernel_name(i); i++) {
        (void)gram_kernel_signature(i, signature, sizeof signature);
        gram_string_add(text, "  %s", signature);
        gram_string_pad(text, 24);
        gram_string_add(text, "%s\n", gram_kernel_formula(i));
    }
    gram_string_add(text,
                    "Combine them: A + B, A*B, 2*A, A^3, on(COLUMNS, A), exp(A), normalize(A), warp([1,0;1,1], "
                    "A), scale(2, A), centre(A),\nof bags mean(A), and after(A, B): B of the distance that A makes.\n");
}

/* ---- the verb ---- */

/* An option that makes no sense without data, or NULL. */
static const char *needs_data(const kernel_options *own, const cli_data *data)
{
    const struct {
        int given;
        const char *name;
    } options[] = {
        {own->gram != NULL, "gram"},
        {own->spectrum.check, "check"},
        {own->spectrum.count > 0, "spectrum"},
        {own->spectrum.lambda > 0, "lambda"},
        {own->plot && !own->density.asked, "plot"},
        {data->features != NULL, "features"},
        {data->texts != NULL, "text"},
        {data->ignore != NULL, "ignore"},
        {data->scale, "scale"},
        {data->format.value != 0, "format"},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].given) return options[i].name;
    return NULL;
}

static int check_use(cli_session *session, const kernel_report *report, int with_data)
{
    const kernel_options *own = &report->own;
    const char *help = "Usage: gram kernel EXPRESSION [DATA] [OPTIONS]";
    const char *needs = needs_data(own, &report->data);
    if (with_data && own->dimension)
        return cli_fail(CLI_WRONG_USE, help, "kernel: --dimension is for a kernel without DATA");
    if (!with_data && needs) return cli_fail(CLI_WRONG_USE, help, "kernel: --%s needs DATA", needs);
    if (own->gram && strcmp(own->gram, "-") == 0)
        return cli_fail(CLI_WRONG_USE, "Give a file's name.", "kernel: --gram cannot write to standard output");
    if (own->plot && (own->spectrum.count == 0) == !own->density.asked)
        return cli_fail(CLI_WRONG_USE,
                        "Give one of them: the number of eigenvalues to draw, as in --spectrum 20, or --density.",
                        "kernel: --plot needs --spectrum K or --density");
    if ((own->density.grid || own->density.column) && !own->density.asked)
        return cli_fail(CLI_WRONG_USE, help, "kernel: --%s needs --density", own->density.grid ? "grid" : "along");
    return own->plot ? cli_plot_check(session, own->plot) : CLI_DONE;
}

static int work(cli_session *session, char **operands, void *report_)
{
    kernel_report *report = report_;
    int code = check_use(session, report, operands[1] != NULL);
    if (code == CLI_DONE) code = cli_kernel_read(session, operands[0], &report->kernel);
    if (code == CLI_DONE && !operands[1]) code = find_dimension(session, report->own.dimension, report);
    if (code == CLI_DONE && operands[1]) {
        code = read_data(session, operands[1], report);
        if (code == CLI_DONE) code = resolve(session, report);
        if (code == CLI_DONE && report->own.gram) code = write_gram(session, report);
        if (code == CLI_DONE) code = find_ranges(session, report);
        if (code == CLI_DONE) code = find_spectrum(session, report);
    }
    if (code == CLI_DONE) code = find_facts(session, report);
    if (code == CLI_DONE) code = find_density(session, report);
    return code == CLI_DONE ? cli_report_print(session, report, write_json, write_table) : code;
}

static void release(void *report_)
{
    kernel_report *report = report_;
    gram_description_destroy(report->description);
    gram_spectrum_destroy(report->spectrum);
    cli_density_free(&report->density);
    gram_points_release(report->points);
    gram_prepared_destroy(report->rows);
    gram_preparation_release(report->preparation);
    gram_table_destroy(report->table);
    gram_kernel_release(report->resolved_kernel);
    gram_kernel_release(report->kernel);
}

int cli_kernel(int count, char **arguments)
{
    cli_common common = {0};
    kernel_report report = {0};
    const cli_group groups[] = {
        {"Options", own_options, sizeof own_options / sizeof *own_options, &report.own},
        cli_data_group(&report.data),
        cli_common_group(&common),
    };
    const cli_job job = {&usage, groups, 3, work, release, &report};
    return cli_run(&job, count, arguments);
}
