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

/* Is the first coordinate nearly the same for all rows? Then the next two show more. */
static int starts_even(const gram_coloured_points *points)
{
    const int64_t k = points->columns / 2;
    double sum = 0, square = 0;
    for (int64_t i = 0; i < 2 * points->n; i++) {
        const double value = points->x[i / 2 * points->ld + i % 2 * k];
        sum += value / (double)(2 * points->n);
        square += value * value / (double)(2 * points->n);
    }
    return k > 2 && square - sum * sum < 0.05 * square;
}

/* The rows of view v, dots of the first and circles of the second, in the colour of their group, which the first names. */
static void plot_view(gram_string *script, const gram_coloured_points *points, int64_t group, int64_t first, int v)
{
    const int64_t column = first + v * (points->columns / 2);
    const int named = points->names[0][0] != '\0';
    gram_string_add(script, ", $group%" PRId64 " using %" PRId64 ":%" PRId64, group, column, column + 1);
    gram_script_group_look(script, v == 0 ? 7 : 6, 2 * points->n / points->step, group);
    if (v == 1 || !named)
        gram_string_add(script, "notitle");
    else
        gram_string_add(script, "title "), gram_script_quote(script, points->names[group]);
}

gram_status gram_draw_views(gram_context *context, gram_scene *scene, gram_picture *picture)
{
    const gram_coloured_points *points = &scene->points;
    gram_string *script = &picture->script;
    const int64_t first = 1 + starts_even(points);
    char name[32];
    (void)context;
    gram_scene_title(scene, script);
    gram_script_groups(script, points, NULL);
    for (int axis = 0; axis < 2; axis++) {
        (void)snprintf(name, sizeof name, "coordinate %" PRId64, first + axis);
        gram_script_label(script, axis ? "y" : "x", "", name);
    }
    gram_string_add(script, "plot NaN with points pt 7 lc rgb '#808080' title 'view a', NaN with points pt 6 lc rgb "
                            "'#808080' title 'view b'");
    for (int64_t g = 0; g < gram_group_blocks(points); g++)
        for (int v = 0; v < 2; v++) plot_view(script, points, g, first, v);
    gram_string_add(script, "\n");
    return GRAM_OK;
}
