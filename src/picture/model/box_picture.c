/* Quartiles, whiskers and what is beyond, one box for each group and a panel for each coordinate. */
#include <inttypes.h>

#include "picture/model/model_scene.h"

enum { MOST_PANELS = 4 };

static void add_panel(gram_string *script, int64_t groups, int column)
{
    gram_string_add(script, "set title 'pc%d'\nplot ", column);
    for (int64_t g = 0; g < groups; g++)
        gram_string_add(script, "%s$group%" PRId64 " using (%" PRId64 "):%d with boxplot ps 0.4 lc rgb '%s'",
                        g > 0 ? ", " : "", g, g, column, gram_script_colour(g));
    gram_string_add(script, "\n");
}

gram_status gram_draw_boxes(gram_context *context, gram_scene *scene, gram_picture *picture)
{
    const gram_coloured_points *points = &scene->points;
    gram_string *script = &picture->script;
    const int panels = points->columns < MOST_PANELS ? (int)points->columns : MOST_PANELS;
    (void)context;
    gram_scene_title(scene, script);
    gram_script_groups(script, points, NULL);
    gram_string_add(script,
                    "set style fill solid 0.35 border\nset style boxplot outliers pointtype 7\nset boxwidth 0.6\n"
                    "unset key\nset multiplot layout 1,%d\nset xtics (",
                    panels);
    for (int64_t g = 0; g < points->groups; g++) gram_script_tic(script, points->names[g], g);
    gram_string_add(script, ") rotate by %d\nset xrange [-0.7:", points->groups > 4 ? -35 : 0);
    gram_script_short(script, (double)points->groups - 0.3, "]\n");
    for (int c = 0; c < panels; c++) add_panel(script, points->groups, c + 1);
    gram_string_add(script, "unset multiplot\n");
    if (panels > 2) picture->width = 260 * panels;
    if (panels > 1) picture->height = 480;
    return GRAM_OK;
}
