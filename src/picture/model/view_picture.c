/* Two views of the same rows, whose coordinates are side by side. */
#include <inttypes.h>
#include <stdio.h>

#include "picture/model/model_scene.h"

/* The first of one view against the first of the other. */
gram_status gram_draw_pairs(gram_context *context, gram_scene *scene, gram_picture *picture)
{
    const gram_coloured_points *points = &scene->points;
    gram_string *script = &picture->script;
    char columns[32];
    (void)context;
    gram_scene_title(scene, script);
    (void)snprintf(columns, sizeof columns, "1:%" PRId64, points->columns / 2 + 1);
    gram_script_groups(script, points, NULL);
    gram_script_label(script, "x", "", "x1");
    gram_script_label(script, "y", "", "y1");
    gram_script_colour_bar(script, points);
    gram_script_plot_groups(script, points, "plot ", columns);
    return GRAM_OK;
}

/* Is the first coordinate nearly the same for all rows? Then the next show more. */
static int starts_even(const gram_coloured_points *points)
{
    const int64_t k = points->columns / 2;
    double sum = 0, square = 0;
    for (int64_t i = 0; i < 2 * points->n; i++) {
        const double value = points->x[i / 2 * points->ld + i % 2 * k];
        sum += value / (double)(2 * points->n);
        square += value * value / (double)(2 * points->n);
    }
    return square - sum * sum < 0.05 * square;
}

/* What the rows are drawn by: two coordinates or, if the first of only two says nothing, the second one for the rows in their order, group
 * by group. */
typedef struct axes {
    int64_t x, y;                     /* columns of the first view, from 1; x = 0: the rows */
    int64_t counts[GRAM_MOST_GROUPS]; /* of rows that are drawn of each group */
} axes;

static axes choose_axes(const gram_coloured_points *points)
{
    axes chosen = {1, 2, {0}};
    if (starts_even(points)) chosen = points->columns / 2 > 2 ? (axes){2, 3, {0}} : (axes){0, 2, {0}};
    for (int64_t i = 0; i < points->n; i += points->step) {
        const int64_t group = points->groups > 0 ? (int64_t)points->number[i] : 0;
        if (group >= 0) chosen.counts[group]++;
    }
    return chosen;
}

static int is_named(const gram_coloured_points *points)
{
    return points->names[0][0] != '\0';
}

static void label_coordinate(gram_string *script, const char *axis, int64_t coordinate)
{
    char name[32];
    (void)snprintf(name, sizeof name, "coordinate %" PRId64, coordinate);
    gram_script_label(script, axis, "", name);
}

static void label_rows(gram_string *script, const gram_coloured_points *points)
{
    const int64_t groups = gram_group_blocks(points);
    gram_script_label(script, "x", "", "the rows in their order");
    gram_string_add(script, is_named(points) ? "set xtics (" : "unset xtics\n");
    for (int64_t g = 0; g < groups && is_named(points); g++) gram_script_tic(script, points->names[g], g);
    gram_string_add(script, "%sset xrange [-0.5:%" PRId64 ".5]\n", is_named(points) ? ")\n" : "", groups - 1);
}

/* The rows of view v, dots of the first and circles of the second, in the colour of their group, which the first names. */
static void plot_view(gram_string *script, const gram_coloured_points *points, int64_t group, const axes *a, int v)
{
    const int64_t shift = v * (points->columns / 2);
    if (a->x > 0)
        gram_string_add(script, ", $group%" PRId64 " using %" PRId64, group, a->x + shift);
    else /* from 0.4 before the place of the group to 0.4 after it */
        gram_string_add(script, ", $group%" PRId64 " using (%" PRId64 "+0.8*(($0+0.5)/%" PRId64 "-0.5))", group, group,
                        a->counts[group]);
    gram_string_add(script, ":%" PRId64, a->y + shift);
    gram_script_group_look(script, v == 0 ? 7 : 6, 2 * points->n / points->step, group);
    if (v == 1 || !is_named(points))
        gram_string_add(script, "notitle");
    else
        gram_string_add(script, "title "), gram_script_quote(script, points->names[group]);
}

gram_status gram_draw_views(gram_context *context, gram_scene *scene, gram_picture *picture)
{
    const gram_coloured_points *points = &scene->points;
    gram_string *script = &picture->script;
    const axes a = choose_axes(points);
    (void)context;
    gram_scene_title(scene, script);
    gram_script_groups(script, points, NULL);
    if (a.x > 0)
        label_coordinate(script, "x", a.x);
    else
        label_rows(script, points);
    label_coordinate(script, "y", a.y);
    gram_string_add(script, "plot NaN with points pt 7 lc rgb '#808080' title 'view a', NaN with points pt 6 lc rgb "
                            "'#808080' title 'view b'");
    for (int64_t g = 0; g < gram_group_blocks(points); g++)
        for (int v = 0; v < 2; v++) plot_view(script, points, g, &a, v);
    gram_string_add(script, "\n");
    return GRAM_OK;
}
