/* Eigenvalues of a kernel by their number and, over one feature, the first functions that belong to them. */
#include <inttypes.h>

#include "picture/model/model_scene.h"

enum { PLACES = 400, CURVES = 5 };

/* Positive values of an array of the model by their number; returns how many the array has. */
static int64_t add_values(gram_string *script, const gram_model *model, const char *array)
{
    int64_t rows = 0, columns = 0;
    const double *values = gram_model_array(model, array, &rows, &columns);
    if (!values) return 0;
    gram_string_add(script, "$%s << END_OF_VALUES\n", array);
    for (int64_t i = 0; i < rows * columns; i++) {
        if (!(values[i] > 0)) continue;
        gram_string_add(script, "%" PRId64 " ", i + 1);
        gram_script_number(script, values[i], "\n");
    }
    gram_string_add(script, "END_OF_VALUES\n");
    return rows * columns;
}

static void add_spectrum(gram_string *script, const gram_model *model)
{
    static const struct {
        const char *array, *look;
    } lists[] = {{"eigenvalues", "linespoints pt 7 ps 0.7 lc rgb '#0060ad' title 'eigenvalues of the rows'"},
                 {"analytic", "points pt 6 ps 1.4 lc rgb '#c04000' title 'under the measure'"}};
    int64_t most = 0;
    for (int l = 0; l < 2; l++) {
        const int64_t count = add_values(script, model, lists[l].array);
        if (count > 0) most = count;
    }
    gram_string_add(script,
                    "set xlabel 'number'\nset ylabel 'eigenvalue'\nset logscale y\nset format y '%%h'\nset grid\n"
                    "set key bottom left Left reverse\nset xrange [0:%" PRId64 "]\nplot ",
                    most + 1);
    for (int l = 0; l < 2; l++)
        if (gram_model_array(model, lists[l].array, NULL, NULL))
            gram_string_add(script, "%s$%s with %s", l > 0 ? ", " : "", lists[l].array, lists[l].look);
    gram_string_add(script, "\nunset logscale y\nset xrange [*:*]\n");
}

/* A block of the feature in its own units and the first `curves` columns. */
static void add_block(gram_string *script, const gram_scene *scene, const double *x, const double *values,
                      const gram_columns *columns, int64_t curves)
{
    gram_string_add(script, "$curves << END_OF_VALUES\n");
    for (int i = 0; i < PLACES; i++) {
        gram_script_number(script, gram_preparation_unit(gram_model_preparation(scene->model), 0, x[i]), "");
        for (int64_t j = 0; j < curves; j++) {
            gram_string_add(script, " ");
            gram_script_number(script, values[i * columns->ld + j], "");
        }
        gram_string_add(script, "\n");
    }
    gram_string_add(script, "END_OF_VALUES\n");
}

static void plot_curves(gram_string *script, const gram_scene *scene, const gram_columns *columns, int64_t curves)
{
    gram_script_label(script, "x", "", gram_scene_features(scene)->name);
    gram_string_add(script, "set ylabel 'eigenfunctions'\nset key outside top center horizontal\nplot ");
    for (int64_t j = 0; j < curves; j++)
        gram_string_add(script, "%s$curves using 1:%" PRId64 " with lines lw 2 title '%s'", j > 0 ? ", " : "", j + 2,
                        columns->names[j]);
    gram_string_add(script, "\n");
}

/* The first columns that the model predicts, over the range of its only feature. */
static gram_status add_curves(gram_context *context, const gram_scene *scene, gram_picture *picture)
{
    gram_status status = GRAM_OK;
    double least = scene->x[0], most = scene->x[0], x[PLACES], *values = NULL;
    gram_predictor *predictor = NULL;
    TRY(gram_predictor_create(context, scene->model, NULL, &predictor));
    const gram_columns *columns = gram_predictor_columns(predictor);
    const int64_t curves = columns->count < CURVES ? columns->count : CURVES;
    TRY(gram_picture_take(context, picture, PLACES * columns->ld, sizeof *values, (void **)&values));
    gram_picture_extend(scene->n, scene->x, 1, &least, &most);
    for (int i = 0; i < PLACES; i++) x[i] = least + (most - least) * i / (PLACES - 1);
    TRY(gram_predictor_evaluate(context, predictor, PLACES, x, NULL, values, columns->ld));
    add_block(&picture->script, scene, x, values, columns, curves);
    plot_curves(&picture->script, scene, columns, curves);
done:
    gram_predictor_destroy(predictor);
    return status;
}

gram_status gram_draw_eigenvalues(gram_context *context, gram_scene *scene, gram_picture *picture)
{
    gram_status status = GRAM_OK;
    gram_string *script = &picture->script;
    const int both = scene->data->d == 1;
    gram_script_heading_of(script, both ? "set multiplot layout 1,2 title" : "set title", gram_scene_kernel(scene),
                           scene->file);
    add_spectrum(script, scene->model);
    if (both) {
        TRY(add_curves(context, scene, picture));
        gram_string_add(script, "unset multiplot\n");
    }
    picture->width = both ? 1100 : 800;
    picture->height = 480;
done:
    return status;
}
