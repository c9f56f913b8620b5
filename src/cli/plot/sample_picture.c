/* Pictures of draws: curves with their 95 % band over one dimension, maps over two. */
#include <inttypes.h>
#include <math.h>

#include "cli/plot/gnuplot.h"
#include "cli/verb/verb_sample.h"

enum { MOST_CURVES = 12, MOST_MAPS = 4, MOST_POINTS = 2000, MOST_DATA = 3000 };

static const char *const COLOURS[] = {"#0060ad", "#d95319", "#3a923a", "#8e44ad", "#c0392b", "#16a085"};

static void add_label(cli_text *script, const char *axis, const char *name)
{
    cli_text_add(script, "set %slabel ", axis);
    cli_plot_quote(script, name);
    cli_text_add(script, "\n");
}

static void add_number(cli_text *script, double value, const char *after)
{
    char number[GRAM_NUMBER_SIZE];
    cli_text_add(script, "%s%s", gram_number_format(value, number), after);
}

/* ---- one dimension ---- */

/* x, the band, and the draws: one row for each point, or for some of very many. */
static void add_curves(cli_text *script, const sample_picture *picture, int64_t curves)
{
    const sample_points *at = picture->points;
    const int64_t step = at->n / MOST_POINTS + 1;
    cli_text_add(script, "$curves << END_OF_CURVES\n");
    for (int64_t i = 0; i < at->n; i += step) {
        add_number(script, at->shown[i], " ");
        add_number(script, picture->mean[i] - 1.96 * picture->std[i], " ");
        add_number(script, picture->mean[i] + 1.96 * picture->std[i], " ");
        add_number(script, picture->mean[i], "");
        for (int64_t j = 0; j < curves; j++) {
            cli_text_add(script, " ");
            add_number(script, picture->values[i * picture->draws + j], "");
        }
        cli_text_add(script, "\n");
    }
    cli_text_add(script, "END_OF_CURVES\n");
}

/* The observations of the model within the picture. */
static int64_t add_data(cli_text *script, const sample_picture *picture)
{
    int64_t n = 0, columns = 0, count = 0;
    const sample_axis *axis = &picture->points->axes[0];
    const double *y = picture->model ? gram_model_array(picture->model, "targets", &n, &columns) : NULL;
    const double *x = y ? gram_function_centres_f64(gram_model_function(picture->model)) : NULL;
    if (!x) return 0;
    const gram_column *feature = gram_preparation_describe(gram_model_preparation(picture->model))->features;
    const int64_t step = n / MOST_DATA + 1;
    cli_text_add(script, "$data << END_OF_DATA\n");
    for (int64_t i = 0; i < n; i += step) {
        const double value = x[i] * feature->deviation + feature->mean;
        if (value < axis->from || value > axis->to) continue;
        add_number(script, value, " ");
        add_number(script, y[i] + picture->offset, "\n");
        count++;
    }
    cli_text_add(script, "END_OF_DATA\n");
    return count;
}

static void add_heading(cli_text *script, const char *command, const sample_picture *picture)
{
    cli_text_add(script, "%s title ", command);
    cli_plot_heading(script, picture->title, picture->model ? ", posterior" : ", prior");
    cli_text_add(script, "\n");
}

static void add_lines(cli_text *script, const sample_picture *picture)
{
    const int64_t curves = picture->draws < MOST_CURVES ? picture->draws : MOST_CURVES;
    add_heading(script, "set", picture);
    add_curves(script, picture, curves);
    const int64_t data = add_data(script, picture);
    add_label(script, "x", picture->points->names[0]);
    cli_text_add(script, "set xrange [");
    add_number(script, picture->points->axes[0].from, ":");
    add_number(script, picture->points->axes[0].to, "]\n");
    cli_text_add(script, "plot $curves using 1:2:3 with filledcurves fc rgb '#e4e9f2' title '95 %% band of f', "
                         "$curves using 1:4 with lines lw 1.5 dt 2 lc rgb '#606060' title 'mean'");
    for (int64_t j = 0; j < curves; j++)
        cli_text_add(script, ", $curves using 1:%" PRId64 " with lines lw 1.3 lc rgb '%s' %s", j + 5,
                     COLOURS[(size_t)j % (sizeof COLOURS / sizeof *COLOURS)], j == 0 ? "title 'draws'" : "notitle");
    if (data > 0) cli_text_add(script, ", $data with points pt 7 ps 0.5 lc rgb 'black' title 'data'");
    cli_text_add(script, "\n");
}

/* ---- two dimensions ---- */

/* The second axis runs fastest: a line of the picture for each value of the first. */
static void add_map(cli_text *script, const sample_picture *picture, int64_t j)
{
    const sample_points *at = picture->points;
    cli_text_add(script, "$map%" PRId64 " << END_OF_MAP\n", j);
    for (int64_t i = 0; i < at->n; i++) {
        add_number(script, at->shown[2 * i], " ");
        add_number(script, at->shown[2 * i + 1], " ");
        add_number(script, picture->values[i * picture->draws + j], "\n");
    }
    cli_text_add(script, "END_OF_MAP\n");
}

/* One scale of colours for all maps. */
static void add_colours(cli_text *script, const sample_picture *picture, int64_t maps)
{
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < picture->points->n; i++)
        for (int64_t j = 0; j < maps; j++) {
            least = fmin(least, picture->values[i * picture->draws + j]);
            most = fmax(most, picture->values[i * picture->draws + j]);
        }
    if (!(least < most)) return;
    cli_text_add(script, "set cbrange [");
    add_number(script, least, ":");
    add_number(script, most, "]\n");
}

static void add_maps(cli_text *script, const sample_picture *picture, int64_t maps)
{
    for (int64_t j = 0; j < maps; j++) add_map(script, picture, j);
    add_label(script, "x", picture->points->names[0]);
    add_label(script, "y", picture->points->names[1]);
    cli_text_add(script, "set xrange [");
    add_number(script, picture->points->axes[0].from, ":");
    add_number(script, picture->points->axes[0].to, "]\nset yrange [");
    add_number(script, picture->points->axes[1].from, ":");
    add_number(script, picture->points->axes[1].to, "]\n");
    cli_text_add(script,
                 "set palette defined (0 '#053061', 1 '#4393c3', 2 '#f7f7f7', 3 '#d6604d', 4 '#67001f')\nunset key\n");
    add_colours(script, picture, maps);
    cli_text_add(script, "set multiplot layout 1,%" PRId64, maps);
    add_heading(script, "", picture);
    for (int64_t j = 0; j < maps; j++) cli_text_add(script, "plot $map%" PRId64 " with image\n", j);
    cli_text_add(script, "unset multiplot\n");
}

int cli_sample_plot(cli_session *session, const char *path, const sample_picture *picture)
{
    cli_text script = {0};
    const int axes = picture->points->axis_count;
    const int64_t maps = picture->draws < MOST_MAPS ? picture->draws : MOST_MAPS;
    if (axes > 2)
        return cli_fail(CLI_WRONG_USE, "Leave it out.", "sample: --plot is for grids of one or two dimensions");
    cli_text_add(&script, "set border 3 lc rgb '#808080'\nset tics nomirror out scale 0.6 textcolor rgb 'black'\n"
                          "set key above Left reverse samplen 2\n");
    if (axes == 1)
        add_lines(&script, picture);
    else
        add_maps(&script, picture, maps);
    const int code = cli_plot(session, path, axes == 1 ? 800 : 80 + 420 * (int)maps, axes == 1 ? 500 : 420, &script);
    cli_text_free(&script);
    return code;
}
