#include "cli/report/gram_spectrum.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/report_rows.h"

enum { MAX_ROWS = 4000, MAX_METRIC_ROWS = 512, LEAST_ROWS = 16, SAMPLE_STREAM = 0x726f7773 };

/* ---- rows ---- */

static int compare_rows(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* How many rows: K and what is beside it may take half of what the budget has left. */
static int64_t rows_that_fit(const cli_session *session, int64_t n)
{
    const size_t used = gram_context_memory_used(session->context);
    const double left = session->budget > used ? (double)(session->budget - used) : 0;
    const int64_t fit = (int64_t)sqrt(left / 16);
    const int64_t most = fit > MAX_ROWS ? MAX_ROWS : fit < LEAST_ROWS ? LEAST_ROWS : fit;
    return n < most ? n : most;
}

static gram_status no_memory(void)
{
    return GRAM_ERROR_MEMORY;
}

static gram_status choose_rows(cli_session *session, int64_t total, cli_spectrum *s)
{
    const gram_random random = {gram_context_seed(session->context), SAMPLE_STREAM};
    s->n = rows_that_fit(session, total);
    s->rows = calloc((size_t)total, sizeof *s->rows);
    s->values = calloc((size_t)s->n, sizeof *s->values);
    if (!s->rows || !s->values) return no_memory();
    if (s->n < total)
        gram_random_permutation(random, 0, total, s->rows);
    else
        for (int64_t i = 0; i < total; i++) s->rows[i] = i;
    qsort(s->rows, (size_t)s->n, sizeof *s->rows, compare_rows);
    return GRAM_OK;
}

/* What is worked on: the chosen rows, side by side, and room for K. */
typedef struct workplace {
    gram_context *context;
    const gram_kernel *kernel;
    int64_t n;
    double *numbers;
    gram_points *points;
    double *K;
    double *vector, *product;
} workplace;

static gram_status open_workplace(const gram_table *table, const cli_spectrum *s, workplace *w)
{
    const int64_t d = gram_table_columns(table), stride = gram_table_stride(table);
    w->n = s->n;
    w->numbers = malloc((size_t)(s->n * d) * sizeof *w->numbers);
    w->K = malloc((size_t)(s->n * s->n) * sizeof *w->K);
    w->vector = malloc((size_t)s->n * sizeof *w->vector);
    w->product = malloc((size_t)s->n * sizeof *w->product);
    if (!w->numbers || !w->K || !w->vector || !w->product) return no_memory();
    for (int64_t i = 0; i < s->n; i++)
        memcpy(w->numbers + i * d, gram_table_numbers(table) + s->rows[i] * stride, (size_t)d * sizeof(double));
    return gram_points_create_f64(w->context, s->n, d, w->numbers, d, &w->points);
}

static void close_workplace(workplace *w)
{
    gram_points_destroy(w->points);
    free(w->numbers);
    free(w->K);
    free(w->vector);
    free(w->product);
}

static gram_status make_matrix(workplace *w)
{
    return gram_matrix(w->context, w->kernel, w->points, NULL, w->K, w->n);
}

/* ---- facts about K ---- */

static void check_entries(const workplace *w, cli_spectrum *s)
{
    s->symmetric = 1;
    s->ratio = NAN;
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t j = 0; j < i; j++) {
            const double k = w->K[i * w->n + j], scale = w->K[i * w->n + i] * w->K[j * w->n + j];
            s->symmetric &= k == w->K[j * w->n + i];
            const double ratio = k == 0 ? 0 : scale > 0 ? fabs(k) / sqrt(scale) : INFINITY;
            if (ratio <= s->ratio) continue;
            s->ratio = ratio;
            s->ratio_rows[0] = s->rows[j] + 1;
            s->ratio_rows[1] = s->rows[i] + 1;
        }
    s->cauchy_schwarz = !(s->ratio > 1 + 8 * DBL_EPSILON);
}

static double effective_dimension(const cli_spectrum *s, double lambda)
{
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const double value = s->values[i] < 0 && s->values[i] >= -s->tolerance ? 0 : s->values[i];
        sum += value / (value + (double)s->n * lambda);
    }
    return sum;
}

static gram_status find_values(workplace *w, const cli_spectrum_options *options, cli_spectrum *s)
{
    const gram_status status = gram_eigen_symmetric(w->context, w->n, w->K, w->n, 0, w->n, s->values, NULL, 0);
    if (status < 0) return status;
    const double largest = fmax(fabs(s->values[0]), fabs(s->values[s->n - 1]));
    s->tolerance = (double)s->n * DBL_EPSILON * largest;
    s->psd = s->values[s->n - 1] >= -s->tolerance;
    s->effective_dimension = options->lambda > 0 ? effective_dimension(s, options->lambda) : NAN;
    return GRAM_OK;
}

/* The largest entries of the vector, by insertion. */
static void keep_largest(const workplace *w, cli_spectrum *s)
{
    for (int64_t i = 0; i < w->n; i++) {
        int place = CLI_CERTIFICATE_ENTRIES;
        while (place > 0 && fabs(w->vector[i]) > fabs(s->entry[place - 1])) place--;
        if (place == CLI_CERTIFICATE_ENTRIES) continue;
        for (int p = CLI_CERTIFICATE_ENTRIES - 1; p > place; p--) {
            s->entry[p] = s->entry[p - 1];
            s->entry_row[p] = s->entry_row[p - 1];
        }
        s->entry[place] = w->vector[i];
        s->entry_row[place] = s->rows[i] + 1;
    }
}

/* v'Kv is computed from K itself, not taken from the eigenvalue. */
static gram_status find_certificate(workplace *w, cli_spectrum *s)
{
    double value;
    gram_status status = make_matrix(w);
    if (status >= 0) status = gram_eigen_symmetric(w->context, w->n, w->K, w->n, w->n - 1, 1, &value, w->vector, w->n);
    if (status >= 0)
        status = gram_matrix_product(w->context, w->kernel, w->points, NULL, 1, w->vector, 1, w->product, 1);
    if (status < 0) return status;
    s->form = 0;
    for (int64_t i = 0; i < w->n; i++) s->form += w->vector[i] * w->product[i];
    keep_largest(w, s);
    return GRAM_OK;
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* d_k over the pairs of evenly spaced rows. K's room is used for it. */
static gram_status find_metric(workplace *w, cli_spectrum *s)
{
    const int64_t d = gram_points_dimension(w->points), step = (w->n + MAX_METRIC_ROWS - 1) / MAX_METRIC_ROWS;
    const int64_t m = (w->n + step - 1) / step;
    gram_points *points = NULL;
    int64_t count = 0;
    gram_status status = gram_points_create_f64(w->context, m, d, w->numbers, step * d, &points);
    if (status >= 0) status = gram_matrix_distance(w->context, w->kernel, points, NULL, w->K, m);
    gram_points_destroy(points);
    if (status < 0) return status;
    s->metric_rows = m;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < i; j++)
            w->K[count++] = w->K[i * m + j]; /* count <= i m + j: read before it is written */
    if (count == 0) return GRAM_OK;
    qsort(w->K, (size_t)count, sizeof *w->K, compare_numbers);
    s->metric[0] = w->K[0];
    s->metric[1] = 0.5 * (w->K[(count - 1) / 2] + w->K[count / 2]);
    s->metric[2] = w->K[count - 1];
    return GRAM_OK;
}

int cli_spectrum_is_asked(const cli_spectrum_options *options)
{
    return options->check || options->count > 0 || options->lambda > 0;
}

gram_status cli_spectrum_find(cli_session *session, const gram_kernel *kernel, const gram_table *table,
                              const cli_spectrum_options *options, cli_spectrum *spectrum)
{
    workplace w = {.context = session->context, .kernel = kernel};
    *spectrum = (cli_spectrum){.form = NAN, .ratio = NAN, .metric = {NAN, NAN, NAN}};
    gram_status status = choose_rows(session, gram_table_rows(table), spectrum);
    if (status >= 0) status = open_workplace(table, spectrum, &w);
    if (status >= 0) status = make_matrix(&w);
    if (status >= 0 && options->check) check_entries(&w, spectrum);
    if (status >= 0) status = find_values(&w, options, spectrum);
    if (status >= 0 && options->check && !spectrum->psd) status = find_certificate(&w, spectrum);
    if (status >= 0 && options->check) status = find_metric(&w, spectrum);
    close_workplace(&w);
    return status;
}

void cli_spectrum_free(cli_spectrum *spectrum)
{
    free(spectrum->rows);
    free(spectrum->values);
    *spectrum = (cli_spectrum){0};
}

/* ---- as JSON ---- */

static int64_t shown(const cli_spectrum_options *options, const cli_spectrum *s)
{
    return options->count < s->n ? options->count : s->n;
}

/* The part of the trace; NaN if that is not positive. */
static double share(const cli_spectrum *s, double value)
{
    double trace = 0;
    for (int64_t i = 0; i < s->n; i++) trace += s->values[i];
    return trace > 0 ? value / trace : NAN;
}

static void json_certificate(cli_json *json, const cli_spectrum *s)
{
    if (s->psd) {
        cli_json_null(json, "certificate");
        return;
    }
    cli_json_open(json, "certificate", '{');
    cli_json_number(json, "quadratic_form", s->form);
    cli_json_open(json, "entries", '[');
    for (int i = 0; i < CLI_CERTIFICATE_ENTRIES && s->entry_row[i] > 0; i++) {
        cli_json_open(json, NULL, '{');
        cli_json_integer(json, "row", s->entry_row[i]);
        cli_json_number(json, "weight", s->entry[i]);
        cli_json_close(json, '{');
    }
    cli_json_close(json, '[');
    cli_json_close(json, '{');
}

static void json_check(cli_json *json, const cli_spectrum *s)
{
    cli_json_truth(json, "symmetric", s->symmetric);
    json_certificate(json, s);
    cli_json_open(json, "cauchy_schwarz", '{');
    cli_json_truth(json, "holds", s->cauchy_schwarz);
    cli_json_number(json, "largest_ratio", s->ratio);
    cli_json_open(json, "rows", '[');
    for (int i = 0; i < 2 && s->ratio_rows[i] > 0; i++) cli_json_integer(json, NULL, s->ratio_rows[i]);
    cli_json_close(json, '[');
    cli_json_close(json, '{');
    cli_json_open(json, "kernel_metric", '{');
    cli_json_number(json, "min", s->metric[0]);
    cli_json_number(json, "median", s->metric[1]);
    cli_json_number(json, "max", s->metric[2]);
    cli_json_integer(json, "rows", s->metric_rows);
    cli_json_close(json, '{');
}

void cli_spectrum_json(cli_json *json, const cli_spectrum_options *options, const cli_spectrum *spectrum)
{
    if (!cli_spectrum_is_asked(options)) return;
    cli_json_integer(json, "rows_checked", spectrum->n);
    cli_json_truth(json, "psd", spectrum->psd);
    cli_json_number(json, "min_eigenvalue", spectrum->values[spectrum->n - 1]);
    cli_json_number(json, "max_eigenvalue", spectrum->values[0]);
    cli_json_number(json, "tolerance", spectrum->tolerance);
    if (options->check) json_check(json, spectrum);
    if (options->count > 0) {
        cli_json_open(json, "spectrum", '[');
        for (int64_t i = 0; i < shown(options, spectrum); i++) cli_json_number(json, NULL, spectrum->values[i]);
        cli_json_close(json, '[');
        cli_json_open(json, "spectrum_shares", '[');
        for (int64_t i = 0; i < shown(options, spectrum); i++)
            cli_json_number(json, NULL, share(spectrum, spectrum->values[i]));
        cli_json_close(json, '[');
    }
    if (options->lambda > 0) {
        cli_json_number(json, "lambda", options->lambda);
        cli_json_number(json, "effective_dimension", spectrum->effective_dimension);
    }
}

/* ---- for people ---- */

static void print_certificate(cli_text *text, const cli_spectrum *s)
{
    char number[CLI_SHORT_SIZE];
    cli_add_label(text, "  certificate");
    cli_text_add(text, "v'Kv = %s for a unit vector v, largest at", cli_short_number(s->form, number));
    for (int i = 0; i < CLI_CERTIFICATE_ENTRIES && s->entry_row[i] > 0; i++)
        cli_text_add(text, "%s row %" PRId64 " (%s)", i > 0 ? "," : "", s->entry_row[i],
                     cli_short_number(s->entry[i], number));
    cli_text_add(text, "\n");
}

static void print_check(cli_text *text, const cli_spectrum *s)
{
    char a[CLI_SHORT_SIZE], b[CLI_SHORT_SIZE], c[CLI_SHORT_SIZE];
    cli_add_label(text, "symmetric");
    cli_text_add(text, s->symmetric ? "yes, bit for bit\n" : "no\n");
    cli_add_label(text, "Cauchy-Schwarz");
    if (isnan(s->ratio))
        cli_text_add(text, "yes\n");
    else
        cli_text_add(text, "%s, |k(x,y)| / sqrt(k(x,x) k(y,y)) is at most %s, at rows %" PRId64 " and %" PRId64 "\n",
                     s->cauchy_schwarz ? "yes" : "no", cli_short_number(s->ratio, a), s->ratio_rows[0],
                     s->ratio_rows[1]);
    cli_add_label(text, "kernel metric");
    if (isnan(s->metric[0]))
        cli_text_add(text, "-\n");
    else
        cli_text_add(text, "%s to %s, median %s, over pairs of %" PRId64 " rows\n", cli_short_number(s->metric[0], a),
                     cli_short_number(s->metric[2], b), cli_short_number(s->metric[1], c), s->metric_rows);
}

static void print_values(cli_text *text, const cli_spectrum *s, int64_t count)
{
    char a[CLI_SHORT_SIZE], b[CLI_SHORT_SIZE], c[CLI_SHORT_SIZE];
    double sum = 0;
    cli_text_add(text, "%-7s  %-12s  %-10s  %s\n", "number", "eigenvalue", "share", "up to here");
    for (int64_t i = 0; i < count; i++) {
        sum += s->values[i];
        cli_text_add(text, "%-7" PRId64 "  %-12s  %-10s  %s\n", i + 1, cli_short_number(s->values[i], a),
                     cli_short_number(share(s, s->values[i]), b), cli_short_number(share(s, sum), c));
    }
}

void cli_spectrum_print(cli_session *session, cli_text *text, const cli_spectrum_options *options,
                        const cli_spectrum *spectrum, int64_t total)
{
    char a[CLI_SHORT_SIZE], b[CLI_SHORT_SIZE];
    if (!cli_spectrum_is_asked(options)) return;
    cli_add_heading(session, text, "Check");
    cli_add_label(text, "rows");
    if (spectrum->n < total)
        cli_text_add(text, "%s of %s, a sample (--seed)\n", cli_count(spectrum->n, a), cli_count(total, b));
    else
        cli_text_add(text, "all %s\n", cli_count(total, a));
    cli_add_label(text, "positive semidef.");
    cli_text_add(text, "%s, the smallest eigenvalue is %s (rounding: %s)\n", spectrum->psd ? "yes" : "no",
                 cli_short_number(spectrum->values[spectrum->n - 1], a), cli_short_number(spectrum->tolerance, b));
    if (options->check && !spectrum->psd) print_certificate(text, spectrum);
    if (options->check) print_check(text, spectrum);
    if (options->lambda > 0) {
        cli_add_label(text, "effective dim.");
        cli_text_add(text, "%s at lambda = %s\n", cli_short_number(spectrum->effective_dimension, a),
                     cli_short_number(options->lambda, b));
    }
    if (options->count == 0) return;
    cli_add_heading(session, text, "Spectrum");
    print_values(text, spectrum, shown(options, spectrum));
}

/* ---- the plot ---- */

int cli_spectrum_plot(cli_session *session, const char *path, const char *kernel, const char *file,
                      const cli_spectrum_options *options, const cli_spectrum *spectrum)
{
    cli_text script = {0};
    char number[GRAM_NUMBER_SIZE];
    const int64_t count = shown(options, spectrum);
    int64_t positive = 0;
    while (positive < count && spectrum->values[positive] > 0) positive++; /* a log scale has no others */
    cli_plot_title(&script, kernel, file);
    cli_text_add(&script,
                 "set xlabel 'number'\nset ylabel 'eigenvalue of K'\nset logscale y\nset format y '%%h'\n"
                 "set grid\nset xrange [0:%" PRId64 "]\nset key Left reverse\n",
                 count + 1);
    cli_text_add(&script, "$values << END_OF_VALUES\n");
    for (int64_t i = 0; i < positive; i++)
        cli_text_add(&script, "%" PRId64 " %s\n", i + 1, gram_number_format(spectrum->values[i], number));
    cli_text_add(&script, "END_OF_VALUES\n");
    cli_text_add(&script, "plot $values with linespoints pt 7 ps 0.5 lc rgb '#0060ad' title 'eigenvalues'");
    if (positive > 0 && spectrum->values[positive - 1] < 1000 * spectrum->tolerance)
        cli_text_add(&script, ", %s with lines dt 2 lc rgb '#808080' title 'rounding'",
                     gram_number_format(spectrum->tolerance, number));
    cli_text_add(&script, "\n");
    const int code = positive > 0 ? cli_plot(session, path, 800, 500, &script)
                                  : cli_fail(CLI_NUMERICAL, "Look at --spectrum without --plot.",
                                             "%s: no eigenvalue is positive, and the scale is logarithmic", path);
    cli_text_free(&script);
    return code;
}
