/* The variances of principal components, and what chance would give. */
#include <inttypes.h>

#include "picture/model/model_scene.h"

gram_status gram_draw_components(gram_context *context, gram_scene *scene, gram_picture *picture)
{
    gram_string *script = &picture->script;
    int64_t rows, count = 0, chance_count = 0;
    const double *variances = gram_model_array(scene->model, "variances", &rows, &count);
    const double *chance = gram_model_array(scene->model, "chance", &rows, &chance_count);
    (void)context;
    gram_scene_title(scene, script);
    gram_script_block(script, "spectrum", count, 1, (const double *[]){variances}, NULL);
    if (chance) gram_script_block(script, "chance", chance_count, 1, (const double *[]){chance}, NULL);
    gram_string_add(script,
                    "set xlabel 'component'\nset ylabel 'variance (eigenvalue/n)'\nset yrange [0:*]\nset xtics 1\n"
                    "set xrange [0.3:%" PRId64 ".7]\nset style fill solid 0.6 noborder\nset boxwidth 0.6\n"
                    "plot $spectrum using ($0+1):1 with boxes lc rgb '%s' title 'components'",
                    chance_count > count ? chance_count : count, gram_script_colour(0));
    if (chance)
        gram_string_add(script,
                        ", $chance using ($0+1):1 with linespoints pt 7 ps 0.5 lw 1.5 lc rgb '" GRAM_CURVE_COLOUR
                        "' title '95 %% of shuffled tables are below'");
    gram_string_add(script, "\n");
    return GRAM_OK;
}
