/* Draws of a Gaussian process at a grid: curves with their 95 % band over one dimension, maps over two. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "picture/picture.h"
#include "picture/script_parts.h"

enum { MOST_CURVES = 12, MOST_MAPS = 4, MOST_POINTS = 2000 };

typedef struct drawing {
    const gram_draw_points_report *points; /* of a grid */
    const gram_kernel *kernel;
    const gram_model *model; /* NULL: a prior */
    int64_t draws;
    const double *values, *mean, *std;
} drawing;

static void add_heading(gram_string *script, const char *command, const drawing *d)
{
    gram_string_add(script, "%s title ", command);
    gram_script_heading(script, d->kernel, d->model ? ", posterior" : ", prior");
    gram_string_add(script, "\n");
}

/* ---- one dimension ---- */

/* x, the band, and the draws: one row for each point, or for some of very many. */
static void add_curves(gram_string *script, const drawing *d, int64_t curves)
{
    const int64_t step = d->points->n / MOST_POINTS + 1;
    gram_string_add(script, "$curves << END_OF_CURVES\n");
    for (int64_t i = 0; i < d->points->n; i += step) {
        gram_script_number(script, d->points->shown[i], " ");
        gram_script_number(script, d->mean[i] - 1.96 * d->std[i], " ");
        gram_script_number(script, d->mean[i] + 1.96 * d->std[i], " ");
        gram_script_number(script, d->mean[i], "");
        for (int64_t j = 0; j < curves; j++) {
            gram_string_add(script, " ");
            gram_script_number(script, d->values[i * d->draws + j], "");
        }
        gram_string_add(script, "\n");
    }
    gram_string_add(script, "END_OF_CURVES\n");
}

static void plot_curves(gram_string *script, int64_t curves, int64_t data)
{
    static const char *const colours[] = {"#0060ad", "#d95319", "#3a923a", "#8e44ad", "#c0392b", "#16a085"};
    gram_string_add(script, "plot $curves using 1:2:3 with filledcurves fc rgb '#e4e9f2' title '95 %% band of f', "
                            "$curves using 1:4 with lines lw 1.5 dt 2 lc rgb '#606060' title 'mean'");
    for (int64_t j = 0; j < curves; j++)
        gram_string_add(script, ", $curves using 1:%" PRId64 " with lines lw 1.3 lc rgb '%s' %s", j + 5,
                        colours[(size_t)j % (sizeof colours / sizeof *colours)], j == 0 ? "title 'draws'" : "notitle");
    if (data > 0) gram_string_add(script, ", $data with points pt 7 ps 0.5 lc rgb 'black' title 'data'");
    gram_string_add(script, "\n");
}

static void add_lines(gram_string *script, const drawing *d)
{
    const int64_t curves = d->draws < MOST_CURVES ? d->draws : MOST_CURVES;
    const gram_axis *axis = &d->points->grid->axes[0];
    add_heading(script, "set", d);
    add_curves(script, d, curves);
    const int64_t data = gram_script_observations(script, d->model, axis->from, axis->to);
    gram_script_label(script, "x", "", d->points->names[0]);
    gram_script_range(script, "x", axis->from, axis->to);
    plot_curves(script, curves, data);
}

/* ---- two dimensions ---- */

/* The second axis runs fastest: a line of the picture for each value of the first. */
static void add_map(gram_string *script, const drawing *d, int64_t j)
{
    const double *shown = d->points->shown;
    char name[32];
    (void)snprintf(name, sizeof name, "map%" PRId64, j);
    gram_script_block(script, name, d->points->n, 3, (const double *[]){shown, shown + 1, d->values + j},
                      (const int64_t[]){2, 2, d->draws});
}

/* One scale of colours for all maps. */
static void add_colours(gram_string *script, const drawing *d, int64_t maps)
{
    double least = NAN, most = NAN;
    gram_string_add(
        script, "set palette defined (0 '#053061', 1 '#4393c3', 2 '#f7f7f7', 3 '#d6604d', 4 '#67001f')\nunset key\n");
    for (int64_t j = 0; j < maps; j++) gram_picture_extend(d->points->n, d->values + j, d->draws, &least, &most);
    if (least < most) gram_script_range(script, "cb", least, most);
}

static void add_maps(gram_string *script, const drawing *d, int64_t maps)
{
    static const char *const axes[] = {"x", "y"};
    const gram_grid *grid = d->points->grid;
    for (int64_t j = 0; j < maps; j++) add_map(script, d, j);
    for (int axis = 0; axis < 2; axis++) gram_script_label(script, axes[axis], "", d->points->names[axis]);
    for (int axis = 0; axis < 2; axis++)
        gram_script_range(script, axes[axis], grid->axes[axis].from, grid->axes[axis].to);
    add_colours(script, d, maps);
    gram_string_add(script, "set multiplot layout 1,%" PRId64, maps);
    add_heading(script, "", d);
    for (int64_t j = 0; j < maps; j++) gram_string_add(script, "plot $map%" PRId64 " with image\n", j);
    gram_string_add(script, "unset multiplot\n");
}

gram_status gram_picture_of_draws(gram_context *context, const gram_draw_points *points, const gram_kernel *kernel,
                                  const gram_model *model, int64_t draws, const double *values, const double *mean,
                                  const double *std, gram_picture **picture)
{
    gram_status status = GRAM_OK;
    *picture = NULL;
    FAIL_IF(!points || !kernel || !values || !mean || !std || draws < 1, context, GRAM_ERROR_ARGUMENT,
            "picture_of_draws: points, kernel, values, mean or std is NULL, or draws = %" PRId64 " is below 1", draws);
    const drawing d = {gram_draw_points_get_report(points), kernel, model, draws, values, mean, std};
    const int axes = d.points->grid ? d.points->grid->axis_count : 0;
    const int64_t maps = draws < MOST_MAPS ? draws : MOST_MAPS;
    FAIL_IF(axes < 1 || axes > 2, context, GRAM_ERROR_ARGUMENT,
            "picture_of_draws: the points are %s, and a picture is for grids of one or two dimensions",
            axes == 0 ? "those of a file" : "a grid of more dimensions");
    TRY(gram_picture_begin(context, axes == 1 ? 800 : 80 + 420 * (int)maps, axes == 1 ? 500 : 420, picture));
    gram_string *script = &(*picture)->script;
    gram_string_add(script, "set border 3 lc rgb '#808080'\nset tics nomirror out scale 0.6 textcolor rgb 'black'\n"
                            "set key above Left reverse samplen 2\n");
    if (axes == 1)
        add_lines(script, &d);
    else
        add_maps(script, &d, maps);
done:
    return gram_picture_end(context, status, picture);
}
