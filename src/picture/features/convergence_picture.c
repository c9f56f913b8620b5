/* How features come near their kernel as there are more of them. */
#include <gram/features.h>

#include "picture/model/model_scene.h"

static void add_steps(gram_string *script, int64_t count, const gram_features_step *steps)
{
    gram_string_add(script, "$steps << END_OF_VALUES\n");
    for (int64_t i = 0; i < count; i++) {
        gram_script_number(script, (double)steps[i].features, " ");
        gram_script_number(script, steps[i].rms, " ");
        gram_script_number(script, steps[i].largest, "\n");
    }
    gram_string_add(script, "END_OF_VALUES\n");
}

/* Random maps have errors like D^(-1/2): a line of that slope through the first. */
static void plot_steps(gram_string *script, gram_features_kind kind, const gram_features_step *first)
{
    const int random = kind == GRAM_FEATURES_FOURIER || kind == GRAM_FEATURES_BINNING || kind == GRAM_FEATURES_NEURAL;
    gram_string_add(script,
                    "set logscale xy\nset format '%%h'\nset key bottom left\nset xlabel '%s'\n"
                    "set ylabel 'error k - z.z over pairs of rows'\nplot ",
                    kind == GRAM_FEATURES_BINNING ? "grids" : "features");
    if (random) {
        gram_script_number(script, first->rms, "*sqrt(");
        gram_script_number(script, (double)first->features,
                           "/x) with lines dt 2 lc rgb '" GRAM_QUIET_COLOUR "' title '1/sqrt(x)', ");
    }
    gram_string_add(script, "$steps using 1:($3>0?$3:NaN) with linespoints pt 6 lw 2 lc rgb '#0060ad' title 'largest', "
                            "$steps using 1:($2>0?$2:NaN) with linespoints pt 7 lw 2 lc rgb '" GRAM_CURVE_COLOUR
                            "' title 'root mean square'\n");
}

gram_status gram_draw_convergence(gram_context *context, gram_scene *scene, gram_picture *picture)
{
    gram_status status = GRAM_OK;
    gram_features *map = NULL;
    gram_features_step steps[GRAM_FEATURES_STEPS];
    int64_t count = 0;
    TRY(gram_features_of_model(context, scene->model, &map));
    TRY(gram_features_convergence(context, map, scene->n, scene->x, scene->data->d, &count, steps));
    gram_scene_title(scene, &picture->script);
    add_steps(&picture->script, count, steps);
    plot_steps(&picture->script, gram_features_get_report(map)->kind, &steps[0]);
    picture->width = 720;
    picture->height = 480;
done:
    gram_features_destroy(map);
    return status;
}
