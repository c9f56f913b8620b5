/* Rows by their coordinates, in the plane and in space. */
#include <stdio.h>

#include "picture/model/model_scene.h"

static void add_scatter(gram_string *script, const gram_scene *scene, int dimensions)
{
    static const char *const axes[] = {"x", "y", "z"};
    char name[32];
    gram_scene_title(scene, script);
    gram_script_groups(script, &scene->points, NULL);
    for (int c = 0; c < dimensions; c++) {
        (void)snprintf(name, sizeof name, "pc%d", c + 1);
        gram_script_label(script, axes[c], "", name);
    }
    gram_script_colour_bar(script, &scene->points);
}

gram_status gram_draw_scatter(gram_context *context, gram_scene *scene, gram_picture *picture)
{
    (void)context;
    add_scatter(&picture->script, scene, 2);
    gram_script_plot_groups(&picture->script, &scene->points, "plot ", "1:2");
    return GRAM_OK;
}

gram_status gram_draw_space(gram_context *context, gram_scene *scene, gram_picture *picture)
{
    (void)context;
    add_scatter(&picture->script, scene, 3);
    gram_string_add(&picture->script, "set view 65,35\nset xyplane 0\nset border 127\nset ticslevel 0\n");
    gram_script_plot_groups(&picture->script, &scene->points, "splot ", "1:2:3");
    return GRAM_OK;
}
