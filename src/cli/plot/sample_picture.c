#include "cli/plot/sample_picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cli/plot/gnuplot.h"
#include "cli/plot/picture_parts.h"

enum { MOST_CURVES = 12, MOST_MAPS = 4, MOST_POINTS = 2000 };

static const char *const COLOURS[] = {"#0060ad", "#d95319", "#3a923a", "#8e44ad", "#c0392b", "#16a085"};

/* ---- one dimension ---- */

/* x, the band, and the draws: one row for each point, or for some of very many. */
static void add_curves(gram_string *script, const sample_picture *picture, int64_t curves)
{
    const gram_draw_points_report *at = picture->points;
    const int64_t step = at->n / MOST_POINTS + 1;
    gram_string_add(script, "$curves << END_OF_CURVES\n");
    for (int64_t i = 0; i < at->n; i += step) {
        cli_picture_number(script, at->shown[i], " ");
        cli_picture_number(script, picture->mean[i] - 1.96 * picture->std[i], " ");
        cli_picture_number(script, picture->mean[i] + 1.96 * picture->std[i], " ");
        cli_picture_number(script, picture->mean[i], "");
        for (int64_t j = 0; j < curves; j++) {
            gram_string_add(script, " ");
            cli_picture_number(script, picture->values[i * picture->draws + j], "");
        }
        gram_string_add(script, "\n");
    }
    gram_string_add(script, "END_OF_CURVES\n");
}

static void add_heading(gram_string *script, const char *command, const sample_picture *picture)
{
    gram_string_add(script, "%s title ", command);
    cli_plot_heading(script, picture->kernel, picture->model ? ", posterior" : ", prior");
    gram_string_add(script, "\n");
}

static void add_lines(gram_string *script, const sample_picture *picture)
{
    const int64_t curves = picture->draws < MOST_CURVES ? picture->draws : MOST_CURVES;
    add_heading(script, "set", picture);
    add_curves(script, picture, curves);
    const gram_axis *axis = &picture->points->grid->axes[0];
    const int64_t data = cli_picture_observations(script, picture->model, axis->from, axis->to);
    cli_picture_label(script, "x", "", picture->points->names[0]);
    cli_picture_range(script, "x", axis->from, axis->to);
    gram_string_add(script, "plot $curves using 1:2:3 with filledcurves fc rgb '#e4e9f2' title '95 %% band of f', "
                            "$curves using 1:4 with lines lw 1.5 dt 2 lc rgb '#606060' title 'mean'");
    for (int64_t j = 0; j < curves; j++)
        gram_string_add(script, ", $curves using 1:%" PRId64 " with lines lw 1.3 lc rgb '%s' %s", j + 5,
                        COLOURS[(size_t)j % (sizeof COLOURS / sizeof *COLOURS)], j == 0 ? "title 'draws'" : "notitle");
    if (data > 0) gram_string_add(script, ", $data with points pt 7 ps 0.5 lc rgb 'black' title 'data'");
    gram_string_add(script, "\n");
}

/* ---- two dimensions ---- */

/* The second axis runs fastest: a line of the picture for each value of the first. */
static void add_map(gram_string *script, const sample_picture *picture, int64_t j)
{
    const double *shown = picture->points->shown;
    char name[32];
    (void)snprintf(name, sizeof name, "map%" PRId64, j);
    cli_picture_block(script, name, picture->points->n, 3, (const double *[]){shown, shown + 1, picture->values + j},
                      (const int64_t[]){2, 2, picture->draws});
}

/* One scale of colours for all maps. */
static void add_colours(gram_string *script, const sample_picture *picture, int64_t maps)
{
    double least = NAN, most = NAN;
    for (int64_t j = 0; j < maps; j++)
        cli_picture_extend(picture->points->n, picture->values + j, picture->draws, &least, &most);
    if (!(least < most)) return;
    cli_picture_range(script, "cb", least, most);
}

static void add_maps(gram_string *script, const sample_picture *picture, int64_t maps)
{
    for (int64_t j = 0; j < maps; j++) add_map(script, picture, j);
    cli_picture_label(script, "x", "", picture->points->names[0]);
    cli_picture_label(script, "y", "", picture->points->names[1]);
    cli_picture_range(script, "x", picture->points->grid->axes[0].from, picture->points->grid->axes[0].to);
    cli_picture_range(script, "y", picture->points->grid->axes[1].from, picture->points->grid->axes[1].to);
    gram_string_add(
        script, "set palette defined (0 '#053061', 1 '#4393c3', 2 '#f7f7f7', 3 '#d6604d', 4 '#67001f')\nunset key\n");
    add_colours(script, picture, maps);
    gram_string_add(script, "set multiplot layout 1,%" PRId64, maps);
    add_heading(script, "", picture);
    for (int64_t j = 0; j < maps; j++) gram_string_add(script, "plot $map%" PRId64 " with image\n", j);
    gram_string_add(script, "unset multiplot\n");
}

int cli_sample_plot(cli_session *session, const char *path, const sample_picture *picture)
{
    gram_string script = {0};
    const int axes = picture->points->grid->axis_count;
    const int64_t maps = picture->draws < MOST_MAPS ? picture->draws : MOST_MAPS;
    if (axes > 2)
        return cli_fail(CLI_WRONG_USE, "Leave it out.", "sample: --plot is for grids of one or two dimensions");
    gram_string_add(&script, "set border 3 lc rgb '#808080'\nset tics nomirror out scale 0.6 textcolor rgb 'black'\n"
                             "set key above Left reverse samplen 2\n");
    if (axes == 1)
        add_lines(&script, picture);
    else
        add_maps(&script, picture, maps);
    const int code = cli_plot(session, path, axes == 1 ? 800 : 80 + 420 * (int)maps, axes == 1 ? 500 : 420, &script);
    gram_string_free(&script);
    return code;
}
