/* The picture of a Gaussian process over one feature: panels one below the other with the same horizontal axis. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/fit_picture.h"
#include "cli/plot/gnuplot.h"
#include "cli/plot/picture_parts.h"

enum { GRID = 800, FIRST_HEIGHT = 420, TERM_HEIGHT = 190 };

int cli_picture_is_posterior(const gram_model *model)
{
    return cli_picture_dimension(model) == 1 && gram_model_has_intervals(model);
}

/* ---- values ---- */

/* GRID rows: x, then what the predictor says. */
static gram_status evaluate(cli_session *session, const gram_predictor *predictor, const cli_posterior_picture *picture,
                            double *x, double *values)
{
    double scaled[GRID];
    cli_picture_grid(GRID, picture->from, picture->to, x);
    gram_preparation_scale(gram_model_preparation(picture->model), GRID, x, 1, scaled);
    return gram_predictor_evaluate(session->context, predictor, GRID, scaled, NULL, values,
                                   gram_predictor_columns(predictor)->ld);
}

/* ---- the script ---- */

static void add_first(gram_string *script, const cli_posterior_picture *picture, int64_t data)
{
    const gram_preparation_description *known = gram_preparation_describe(gram_model_preparation(picture->model));
    cli_picture_label(script, "y", "", known->target_count > 0 ? known->targets[0].name : "");
    gram_string_add(script, "plot $panel0 using 1:2:3 with filledcurves fc rgb '" CLI_BAND_COLOUR
                            "' title '95 %% of new observations', ");
    if (data > 0)
        gram_string_add(script, "$data with points pt 7 ps %g lc rgb '" CLI_POINT_COLOUR "' title 'data', ",
                        cli_picture_point_size(data) * (data > 1000 ? 1 : 1.4));
    gram_string_add(script, "$panel0 using 1:4 with lines lw 1.5 lc rgb '" CLI_CURVE_COLOUR "' title 'mean'\n");
}

/* 1, 2 or 5 times a power of ten: three or so of them make up the range. */
static double tic_step(double range)
{
    const double ten = pow(10, floor(log10(range / 3)));
    const double rest = range / 3 / ten;
    return ten * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}

static void add_term(gram_string *script, const gram_kernel *kernel, int64_t t, double range)
{
    if (range > 0 && isfinite(range)) gram_string_add(script, "set ytics %.6g\n", tic_step(range));
    gram_string_add(script, "set title ");
    cli_plot_heading(script, gram_kernel_term(kernel, t), "");
    gram_string_add(script,
                    "\nunset ylabel\nunset key\nplot $panel%" PRId64
                    " using 1:2:3 with filledcurves fc rgb '#d5e3f2', $panel%" PRId64
                    " using 1:4 with lines lw 1.5 lc rgb '#0060ad'\n",
                    t + 1, t + 1);
}

/* The first panel is higher than those of the terms. */
static void add_place(gram_string *script, int64_t panel, int64_t terms)
{
    const double height = FIRST_HEIGHT + TERM_HEIGHT * (double)terms;
    const double top = panel == 0 ? 1 : 1 - (FIRST_HEIGHT + TERM_HEIGHT * (double)(panel - 1)) / height;
    const double share = (panel == 0 ? FIRST_HEIGHT : TERM_HEIGHT) / height;
    gram_string_add(script, "set origin 0,%.6f\nset size 1,%.6f\n", top - share, share);
}

/* The mean of term t, with its deviation after it. */
static const double *term_values(const gram_columns *columns, const double *values, int64_t t)
{
    return values + columns->term + 2 * t;
}

/* From the lowest to the highest of a band. */
static double band_range(const gram_columns *columns, const double *term)
{
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < GRID; i++) {
        const double *at = term + i * columns->ld;
        least = fmin(least, at[0] - columns->half_width * at[1]);
        most = fmax(most, at[0] + columns->half_width * at[1]);
    }
    return most - least;
}

/* Block `$panel0` and those of the terms: x, lower, upper, mean; gathered in `work`. */
static void add_bands(gram_string *script, const gram_columns *columns, const double *x, const double *values,
                      double *work, int64_t terms)
{
    double *lower = work, *upper = work + GRID, *middle = work + (ptrdiff_t)2 * GRID;
    for (int64_t panel = 0; panel <= terms; panel++) {
        const double *term = panel > 0 ? term_values(columns, values, panel - 1) : NULL;
        char name[32];
        for (int i = 0; i < GRID; i++) {
            const double *row = values + i * columns->ld, *at = term ? term + i * columns->ld : row;
            middle[i] = at[0];
            lower[i] = term ? at[0] - columns->half_width * at[1] : row[columns->lower];
            upper[i] = term ? at[0] + columns->half_width * at[1] : row[columns->upper];
        }
        (void)snprintf(name, sizeof name, "panel%" PRId64, panel);
        cli_picture_block(script, name, GRID, 4, (const double *[]){x, lower, upper, middle}, NULL);
    }
}

static void add_script(gram_string *script, const gram_columns *columns, const cli_posterior_picture *picture,
                       const double *x, const double *values, double *work)
{
    const gram_kernel *kernel = gram_function_kernel(gram_model_function(picture->model));
    const int64_t terms = picture->terms ? gram_kernel_term_count(kernel) : 0;
    cli_picture_look(script);
    add_bands(script, columns, x, values, work, terms);
    const int64_t data = cli_picture_observations(script, picture->model, picture->from, picture->to);
    gram_string_add(script, "set lmargin 10\n");
    cli_picture_range(script, "x", picture->from, picture->to);
    gram_string_add(script, "set multiplot\n");
    add_place(script, 0, terms);
    cli_picture_label(script, "x", "",
                      gram_preparation_describe(gram_model_preparation(picture->model))->features[0].name);
    add_first(script, picture, data);
    gram_string_add(script, "unset xlabel\n");
    for (int64_t t = 0; t < terms; t++) {
        add_place(script, t + 1, terms);
        add_term(script, kernel, t, band_range(columns, term_values(columns, values, t)));
    }
    gram_string_add(script, "unset multiplot\n");
}

int cli_picture_draw_posterior(cli_session *session, const char *path, const cli_posterior_picture *picture)
{
    const gram_kernel *kernel = gram_function_kernel(gram_model_function(picture->model));
    const int64_t terms = picture->terms ? gram_kernel_term_count(kernel) : 0;
    gram_predictor *predictor = NULL;
    gram_string script = {0};
    double *numbers = NULL;
    int code = cli_picture_predictor(session, picture->model, picture->file, 1, picture->terms, &predictor);
    const gram_columns *columns = predictor ? gram_predictor_columns(predictor) : NULL;
    if (columns) numbers = calloc((size_t)GRID * (size_t)(columns->ld + 4), sizeof *numbers);
    if (columns && !numbers) code = cli_no_memory();
    if (code == CLI_DONE) {
        double *x = numbers, *work = numbers + GRID, *values = work + (ptrdiff_t)3 * GRID;
        const gram_status status = evaluate(session, predictor, picture, x, values);
        if (status < 0) code = cli_session_fail(session, status, 0, NULL);
        if (code == CLI_DONE) add_script(&script, columns, picture, x, values, work);
    }
    if (code == CLI_DONE) code = cli_plot(session, path, 900, FIRST_HEIGHT + TERM_HEIGHT * (int)terms, &script);
    gram_string_free(&script);
    free(numbers);
    gram_predictor_destroy(predictor);
    return code;
}
