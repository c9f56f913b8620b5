/* Classifiers: regions of two features with the rows in them, else the ROC curve of two classes and how well probabilities hold. */
#include <gram/score.h>

#include <inttypes.h>
#include <stdio.h>

#include "picture/model/model_scene.h"

enum { SIDE = 160, BINS = 10, MOST_SUPPORT = 2000 };

/* ---- regions ---- */

/* A block of the points of each class. */
static void add_points(gram_string *script, const gram_scene *scene, int64_t class)
{
    char name[32];
    (void)snprintf(name, sizeof name, "class%" PRId64, class);
    gram_script_points(script, name, gram_model_preparation(scene->model), scene->n, scene->x, 2, GRAM_PICTURE_POINTS,
                       scene->labels, class);
}

/* Support vectors are circled, unless there are so many that circles would hide the rest. Returns how many. */
static int64_t add_support(gram_string *script, const gram_scene *scene)
{
    const gram_function *f = gram_model_function(scene->model);
    const double *x = gram_function_centres_f64(f);
    const int64_t count = gram_points_count(gram_function_centres(f));
    if (!gram_model_find(scene->model, "n_support").name || !x || count > MOST_SUPPORT) return 0;
    gram_script_points(script, "support", gram_model_preparation(scene->model), count, x, 2, MOST_SUPPORT, NULL, 0);
    return count;
}

static void plot_class(gram_string *script, const gram_scene *scene, const gram_classes *classes, int64_t class)
{
    gram_string_add(script, ", $class%" PRId64 " with points pt 7", class);
    gram_script_point_size(script, scene->n, 1.2);
    gram_string_add(script, " lc rgb '%s' title ", gram_script_colour(class));
    gram_script_quote(script, scene->labels ? classes->names[class] : "data");
}

static void add_regions(gram_string *script, const gram_scene *scene, const gram_classes *classes, const gram_map *map)
{
    const gram_preparation *preparation = gram_model_preparation(scene->model);
    const int64_t count = scene->labels ? classes->count : 1;
    gram_script_map(script, map, preparation, 0);
    for (int64_t c = 0; c < count; c++) add_points(script, scene, c);
    const int64_t support = add_support(script, scene);
    gram_script_label(script, "x", "", gram_scene_features(scene)[0].name);
    gram_script_label(script, "y", "", gram_scene_features(scene)[1].name);
    gram_script_palette(script);
    gram_script_frame(script, map, preparation);
    gram_string_add(script, "plot $frame with image notitle");
    for (int64_t c = 0; c < count; c++) plot_class(script, scene, classes, c);
    if (support > 0)
        gram_string_add(script, ", $support with points pt 6 ps 1.1 lc rgb '#404040' title 'support vectors'");
    gram_string_add(script, "\n");
}

static gram_status draw_regions(gram_context *context, const gram_scene *scene, const gram_predictor *predictor,
                                gram_picture *picture)
{
    gram_status status = GRAM_OK;
    const gram_classes *classes = gram_predictor_columns(predictor)->classes;
    gram_map *map = NULL;
    TRY(gram_map_of_predictor(context, predictor, scene->n, scene->x, 2, SIDE, &map));
    if (classes->count == 0) /* of one class: inside is 1, outside -1 */
        for (int64_t c = 0; c < SIDE * SIDE; c++) map->values[c] = map->values[c] > 0;
    gram_scene_title(scene, &picture->script);
    add_regions(&picture->script, scene, classes, map);
done:
    gram_map_destroy(map);
    return status;
}

/* ---- curves ---- */

/* The share of the second class found against that of the first taken for it. */
static gram_status add_roc(gram_context *context, const gram_scene *scene, const gram_columns *columns,
                           const double *values, gram_picture *picture)
{
    gram_status status = GRAM_OK;
    int64_t count = 0;
    double *mistaken = NULL, *found = NULL;
    TRY(gram_picture_take(context, picture, scene->n + 1, sizeof *mistaken, (void **)&mistaken));
    TRY(gram_picture_take(context, picture, scene->n + 1, sizeof *found, (void **)&found));
    TRY(gram_roc_curve(context, scene->n, scene->labels, values + columns->score, columns->ld, mistaken, found,
                       &count));
    gram_script_block(&picture->script, "roc", count, 2, (const double *[]){mistaken, found}, NULL);
done:
    return status;
}

/* Probabilities against how often they came true. Returns 0 if there are none. */
static int add_calibration(gram_string *script, const gram_scene *scene, const gram_columns *columns,
                           const double *values)
{
    double probability[BINS], share[BINS];
    int64_t rows[BINS];
    int filled = 0;
    gram_calibration(scene->n, columns->classes->count, scene->labels, values + columns->probability, columns->ld, BINS,
                     probability, share, rows);
    for (int b = 0; b < BINS; b++) {
        if (rows[b] == 0) continue;
        probability[filled] = probability[b];
        share[filled++] = share[b];
    }
    gram_script_block(script, "bins", filled, 2, (const double *[]){probability, share}, NULL);
    return filled > 0;
}

static void plot_curves(gram_string *script, int two, int probable)
{
    gram_string_add(script,
                    "set multiplot layout 1,%d\nset xrange [0:1]\nset yrange [0:1]\nset size square\nunset key\n",
                    two + probable);
    if (two)
        gram_string_add(script, "set xlabel 'share of the first class taken for the second'\n"
                                "set ylabel 'share of the second class found'\n"
                                "plot $roc with lines lw 2 lc rgb '#0060ad', x with lines dt 2 lc rgb '#808080'\n");
    if (probable)
        gram_string_add(script,
                        "set xlabel 'probability'\nset ylabel 'observed frequency'\n"
                        "plot $bins with linespoints pt 7 lw 2 lc rgb '#d95319', x with lines dt 2 lc rgb '#808080'\n");
    gram_string_add(script, "unset multiplot\n");
}

static gram_status draw_curves(gram_context *context, const gram_scene *scene, const gram_predictor *predictor,
                               gram_picture *picture)
{
    gram_status status = GRAM_OK;
    const gram_columns *columns = gram_predictor_columns(predictor);
    const int two = columns->classes->count == 2;
    double *values = NULL;
    TRY(gram_picture_take(context, picture, scene->n * columns->ld, sizeof *values, (void **)&values));
    TRY(gram_predictor_evaluate(context, predictor, scene->n, scene->x, NULL, values, columns->ld));
    gram_script_look(&picture->script);
    if (two) TRY(add_roc(context, scene, columns, values, picture));
    const int probable = add_calibration(&picture->script, scene, columns, values);
    if (two || probable)
        plot_curves(&picture->script, two, probable);
    else
        status = gram_picture_refuse(
            context, GRAM_ERROR_ARGUMENT, scene->dashes, "`gram fit --prob` makes a model that has them.",
            "--plot: several classes without probabilities, and not two features: nothing to draw");
    picture->width = 80 + 480 * (two + probable);
    picture->height = 500;
done:
    return status;
}

gram_status gram_draw_classes(gram_context *context, gram_scene *scene, gram_picture *picture)
{
    gram_status status = GRAM_OK;
    gram_predictor *predictor = NULL;
    TRY(gram_scene_predictor(context, scene, 0, 0, &predictor));
    if (gram_scene_dimension(scene->model) == 2)
        TRY(draw_regions(context, scene, predictor, picture));
    else if (scene->labels)
        TRY(draw_curves(context, scene, predictor, picture));
    else
        status = gram_picture_refuse(context, GRAM_ERROR_ARGUMENT, scene->dashes, "Leave it out.",
                                     "--plot of one class is for two features");
done:
    gram_predictor_destroy(predictor);
    return status;
}
