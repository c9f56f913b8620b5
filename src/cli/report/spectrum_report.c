#include "cli/report/spectrum_report.h"

#include <inttypes.h>
#include <math.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/report_rows.h"

int cli_spectrum_is_asked(const cli_spectrum_options *options)
{
    return options->check || options->count > 0 || options->lambda > 0;
}

static int64_t shown(const cli_spectrum_options *options, const gram_spectrum_report *s)
{
    return options->count < s->n ? options->count : s->n;
}

/* The part of the trace; NaN if that is not positive. */
static double share(const gram_spectrum_report *s, double value)
{
    return s->trace > 0 ? value / s->trace : NAN;
}

/* ---- for people ---- */

static void print_certificate(gram_string *text, const gram_spectrum_report *s)
{
    char number[CLI_SHORT_SIZE];
    cli_add_label(text, "  certificate");
    gram_string_add(text, "v'Kv = %s for a unit vector v, largest at", cli_short_number(s->form, number));
    for (int i = 0; i < s->entry_count; i++)
        gram_string_add(text, "%s row %" PRId64 " (%s)", i > 0 ? "," : "", s->entry_row[i] + 1,
                        cli_short_number(s->entry[i], number));
    gram_string_add(text, "\n");
}

static void print_check(gram_string *text, const gram_spectrum_report *s)
{
    char a[CLI_SHORT_SIZE], b[CLI_SHORT_SIZE], c[CLI_SHORT_SIZE];
    cli_add_label(text, "symmetric");
    gram_string_add(text, s->symmetric ? "yes, bit for bit\n" : "no\n");
    cli_add_label(text, "Cauchy-Schwarz");
    if (isnan(s->ratio))
        gram_string_add(text, "yes\n");
    else
        gram_string_add(text, "%s, |k(x,y)| / sqrt(k(x,x) k(y,y)) is at most %s, at rows %" PRId64 " and %" PRId64 "\n",
                        s->cauchy_schwarz ? "yes" : "no", cli_short_number(s->ratio, a), s->ratio_rows[0] + 1,
                        s->ratio_rows[1] + 1);
    cli_add_label(text, "kernel metric");
    if (isnan(s->metric[0]))
        gram_string_add(text, "-\n");
    else
        gram_string_add(text, "%s to %s, median %s, over pairs of %" PRId64 " rows\n",
                        cli_short_number(s->metric[0], a), cli_short_number(s->metric[2], b),
                        cli_short_number(s->metric[1], c), s->metric_rows);
}

static void print_values(gram_string *text, const gram_spectrum_report *s, int64_t count)
{
    char a[CLI_SHORT_SIZE], b[CLI_SHORT_SIZE], c[CLI_SHORT_SIZE];
    double sum = 0;
    gram_string_add(text, "%-7s  %-12s  %-10s  %s\n", "number", "eigenvalue", "share", "up to here");
    for (int64_t i = 0; i < count; i++) {
        sum += s->values[i];
        gram_string_add(text, "%-7" PRId64 "  %-12s  %-10s  %s\n", i + 1, cli_short_number(s->values[i], a),
                        cli_short_number(share(s, s->values[i]), b), cli_short_number(share(s, sum), c));
    }
}

void cli_spectrum_print(cli_session *session, gram_string *text, const cli_spectrum_options *options,
                        const gram_spectrum_report *spectrum, int64_t total)
{
    char a[CLI_SHORT_SIZE], b[CLI_SHORT_SIZE];
    if (!cli_spectrum_is_asked(options)) return;
    cli_add_heading(session, text, "Check");
    cli_add_label(text, "rows");
    if (spectrum->n < total)
        gram_string_add(text, "%s of %s, a sample (--seed)\n", gram_count_format(spectrum->n, a),
                        gram_count_format(total, b));
    else
        gram_string_add(text, "all %s\n", gram_count_format(total, a));
    cli_add_label(text, "positive semidef.");
    gram_string_add(text, "%s, the smallest eigenvalue is %s (rounding: %s)\n", spectrum->psd ? "yes" : "no",
                    cli_short_number(spectrum->values[spectrum->n - 1], a), cli_short_number(spectrum->tolerance, b));
    if (options->check && !spectrum->psd) print_certificate(text, spectrum);
    if (options->check) print_check(text, spectrum);
    if (options->lambda > 0) {
        cli_add_label(text, "effective dim.");
        gram_string_add(text, "%s at lambda = %s\n", cli_short_number(spectrum->effective_dimension, a),
                        cli_short_number(options->lambda, b));
    }
    if (options->count == 0) return;
    cli_add_heading(session, text, "Spectrum");
    print_values(text, spectrum, shown(options, spectrum));
}

/* ---- the plot ---- */

int cli_spectrum_plot(cli_session *session, const char *path, const gram_kernel *kernel, const char *file,
                      const cli_spectrum_options *options, const gram_spectrum *spectrum)
{
    gram_picture *picture = NULL;
    const gram_status status =
        gram_picture_of_spectrum(session->context, kernel, file, spectrum, options->count, &picture);
    if (status == GRAM_ERROR_NUMERICAL)
        return cli_fail(CLI_NUMERICAL, "Look at --spectrum without --plot.",
                        "%s: no eigenvalue is positive, and the scale is logarithmic", path);
    return cli_plot(session, path, status, picture);
}
