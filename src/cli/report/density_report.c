#include "cli/report/density_report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/report_rows.h"

enum { POINTS = 201, MOST_POINTS = 1 << 20, SHOWN = 21, SHOWN_ATOMS = 10 };

/* The frequencies: as asked, or from 0 to where there is little left. */
static int make_grid(const cli_density_options *options, double reach, cli_density *found)
{
    gram_grid grid = {1, {{0, reach, POINTS}}};
    if (options->grid &&
        (gram_grid_parse(options->grid, &grid) < 0 || grid.axis_count != 1 || gram_grid_count(&grid) > MOST_POINTS))
        return cli_fail(CLI_WRONG_USE, "Write A:B:N, N frequencies from A to B.", "kernel: --grid cannot be '%s'",
                        options->grid);
    found->count = (int64_t)gram_grid_count(&grid);
    found->w = malloc((size_t)found->count * sizeof *found->w);
    found->values = malloc((size_t)found->count * sizeof *found->values);
    if (!found->w || !found->values) return cli_no_memory();
    gram_grid_fill(&grid, found->w);
    return CLI_DONE;
}

int cli_density_find(cli_session *session, const cli_density_options *options, gram_kernel *kernel, int64_t d,
                     cli_density *found)
{
    if (!options->asked) return CLI_DONE;
    found->column = options->column > 0 ? options->column : 1;
    if (found->column > d)
        return cli_fail(CLI_WRONG_USE, "Columns count from 1.", "kernel: --along %" PRId64 " of %" PRId64 " columns",
                        found->column, d);
    double *direction = calloc((size_t)d, sizeof *direction);
    if (!direction) return cli_no_memory();
    direction[found->column - 1] = 1;
    gram_status status = gram_spectral_density_create(session->context, kernel, d, direction, &found->density);
    free(direction);
    if (status < 0)
        return cli_session_fail(session, status, 0,
                                status == GRAM_ERROR_UNSET ? "Give all numbers of the kernel, or DATA."
                                                           : "--density is for stationary kernels.");
    found->report = gram_spectral_density_get_report(found->density);
    const int code = make_grid(options, found->report->reach, found);
    if (code != CLI_DONE) return code;
    status = gram_spectral_density_values(session->context, found->density, found->count, found->w, found->values);
    return status < 0 ? cli_session_fail(session, status, 0, "Give lower frequencies with --grid A:B:N.") : CLI_DONE;
}

void cli_density_free(cli_density *found)
{
    gram_spectral_density_destroy(found->density);
    free(found->w);
    free(found->values);
}

void cli_density_json(gram_json *json, const cli_density *found)
{
    if (!found->report) return;
    gram_json_open(json, "density", '{');
    gram_json_integer(json, "column", found->column);
    gram_json_number(json, "height", found->report->height);
    gram_json_numbers(json, "frequencies", found->count, found->w, 1);
    gram_json_numbers(json, "values", found->count, found->values, 1);
    gram_json_open(json, "atoms", '[');
    for (int64_t i = 0; i < found->report->atoms; i++) {
        gram_json_open(json, NULL, '{');
        gram_json_number(json, "frequency", found->report->atom[i].frequency);
        gram_json_number(json, "mass", found->report->atom[i].mass);
        gram_json_close(json, '{');
    }
    gram_json_close(json, '[');
    gram_json_truth(json, "numeric", found->report->numeric);
    gram_json_close(json, '{');
}

static void print_atoms(gram_string *text, const gram_spectral_report *report)
{
    char a[CLI_SHORT_SIZE], b[CLI_SHORT_SIZE];
    if (report->atoms == 0) return;
    gram_string_add(text, "%-12s  %s\n", "atom at", "mass");
    for (int64_t i = 0; i < report->atoms && i < SHOWN_ATOMS; i++)
        gram_string_add(text, "%-12s  %s\n", cli_short_number(report->atom[i].frequency, a),
                        cli_short_number(report->atom[i].mass, b));
    if (report->atoms > SHOWN_ATOMS) gram_string_add(text, "... (%" PRId64 ")\n", report->atoms);
}

void cli_density_print(cli_session *session, gram_string *text, const cli_density *found)
{
    char a[CLI_SHORT_SIZE], b[CLI_SHORT_SIZE];
    if (!found->report) return;
    cli_add_heading(session, text, "Spectral density");
    cli_add_label(text, "along column");
    gram_string_add(text, "%" PRId64 ": k(t) = int S(w) cos(w t) dw%s\n", found->column,
                    found->report->atoms > 0 ? " + sum_a m_a cos(w_a t)" : "");
    print_atoms(text, found->report);
    if (found->report->atom_mass >= found->report->height) return;
    gram_string_add(text, "%-12s  %s\n", "frequency w", "S(w)");
    const int64_t step = found->count <= SHOWN ? 1 : (found->count - 1 + SHOWN - 2) / (SHOWN - 1);
    for (int64_t i = 0; i < found->count; i += step)
        gram_string_add(text, "%-12s  %s\n", cli_short_number(found->w[i], a), cli_short_number(found->values[i], b));
}

int cli_density_plot(cli_session *session, const char *path, const gram_kernel *kernel, const cli_density *found)
{
    gram_picture *picture = NULL;
    const gram_status status = gram_picture_of_density(session->context, kernel, found->density, found->count, found->w,
                                                       found->values, &picture);
    return cli_plot(session, path, status, picture);
}
