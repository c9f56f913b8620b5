/* Trained networks: losses and drift along training and, of one feature, functions with bands of two deviations. */
#include "picture/model/model_scene.h"

/* Step 0 is drawn at 1: the axis is logarithmic. */
static void add_losses(gram_string *script, const gram_model *model)
{
    int64_t count = 0, rows = 0;
    const double *columns[] = {
        gram_model_array(model, "seen_steps", &rows, &count), gram_model_array(model, "losses", NULL, NULL),
        gram_model_array(model, "ntk_losses", NULL, NULL), gram_model_array(model, "drifts", NULL, NULL)};
    gram_script_block(script, "seen", count, 4, columns, NULL);
    gram_string_add(script,
                    "set logscale xy\nset format '%%h'\nset xlabel 'step + 1'\nset ylabel 'loss'\nset key bottom left\n"
                    "plot $seen using ($1+1):2 with lines lw 2 lc '" GRAM_CURVE_COLOUR "' title 'network', "
                    "$seen using ($1+1):3 with lines lw 2 dt 2 lc '#1f6fb4' title 'its tangent kernel predicts'\n"
                    "unset logscale y\nset yrange [0:*]\nset ylabel 'drift of the tangent kernel'\n"
                    "plot $seen using ($1+1):4 with lines lw 2 lc '#555555' notitle\n"
                    "unset logscale x\nset yrange [*:*]\n");
}

static void add_rows(gram_string *script, const gram_scene *scene)
{
    const gram_prepared *data = scene->data;
    gram_string_add(script, "$rows << EOD\n");
    for (int64_t i = 0; i < data->n; i++) {
        gram_script_number(script, gram_preparation_unit(gram_model_preparation(scene->model), 0, data->x[i]), " ");
        gram_script_number(script, data->y[i], "\n");
    }
    gram_string_add(script, "EOD\n");
}

static void add_functions(gram_string *script, const gram_scene *scene)
{
    int64_t rows = 0, ld = 0;
    const double *f = gram_model_array(scene->model, "functions", &rows, &ld);
    if (!f || ld != 6) return;
    const double *columns[] = {f, f + 1, f + 2, f + 3, f + 4, f + 5};
    gram_script_block(script, "functions", rows, 6, columns, (const int64_t[]){ld, ld, ld, ld, ld, ld});
    add_rows(script, scene);
    gram_string_add(script, "set key top left\n");
    gram_script_label(script, "x", "", gram_scene_features(scene)->name);
    gram_script_label(script, "y", "", gram_scene_target(scene));
    gram_string_add(script,
                    "plot $functions using 1:($5-2*$6):($5+2*$6) with filledcurves lc '#d6e4f0' title 'infinite width, "
                    "2 deviations', "
                    "$functions using 1:($2-2*$3):($2+2*$3) with filledcurves lc '#80" /* half transparent */
                    "f6d5c4' notitle, "
                    "$functions using 1:5 with lines lw 1 lc '#1f6fb4' title 'infinite width', "
                    "$functions using 1:4 with lines lw 2 dt 2 lc '#1f6fb4' title 'its tangent kernel predicts', "
                    "$functions using 1:2 with lines lw 2 lc '" GRAM_CURVE_COLOUR "' title 'network', "
                    "$rows using 1:2 with points pt 7 ps 0.5 lc '#333333' notitle\n");
}

gram_status gram_draw_descent(gram_context *context, gram_scene *scene, gram_picture *picture)
{
    gram_string *script = &picture->script;
    const int functions = gram_model_array(scene->model, "functions", NULL, NULL) != NULL;
    (void)context;
    gram_script_look(script);
    gram_string_add(script, "set multiplot layout 1,%d\n", functions ? 3 : 2);
    add_losses(script, scene->model);
    add_functions(script, scene);
    gram_string_add(script, "unset multiplot\n");
    picture->width = functions ? 1350 : 900;
    picture->height = 420;
    return GRAM_OK;
}
