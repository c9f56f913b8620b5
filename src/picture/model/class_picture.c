/* Classifiers: regions of two features with the rows in them, else the ROC curve of two classes and how well probabilities hold. */
#include <gram/score.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/number.h"
#include "picture/map_parts.h"
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

/* Of one class: inside is 1, outside 0. */
static gram_status label_inside(gram_context *context, const void *of, const gram_map *map, int64_t n,
                                const double *places, double *labels)
{
    const gram_status status = gram_label_by_predictor(context, of, map, n, places, labels);
    for (int64_t i = 0; i < n && status >= 0; i++) labels[i] = labels[i] > 0;
    return status;
}

static gram_status add_regions(gram_context *context, const gram_scene *scene, const gram_predictor *predictor,
                               const gram_map *map, gram_picture *picture)
{
    gram_status status = GRAM_OK;
    gram_string *script = &picture->script;
    const gram_classes *classes = gram_predictor_columns(predictor)->classes;
    const int64_t count = scene->labels ? classes->count : 1;
    gram_areas areas = {.map = map,
                        .label = classes->count > 0 ? gram_label_by_predictor : label_inside,
                        .of = predictor,
                        .preparation = gram_model_preparation(scene->model)};
    TRY(gram_script_areas(context, picture, &areas));
    for (int64_t c = 0; c < count; c++) add_points(script, scene, c);
    const int64_t support = add_support(script, scene);
    gram_script_label(script, "x", "", gram_scene_features(scene)[0].name);
    gram_script_label(script, "y", "", gram_scene_features(scene)[1].name);
    gram_script_plot_areas(script, &areas, 0);
    for (int64_t c = 0; c < count; c++) plot_class(script, scene, classes, c);
    if (support > 0)
        gram_string_add(script, ", $support with points pt 6 ps 1.1 lc rgb '#404040' title 'support vectors'");
    gram_string_add(script, "\n");
done:
    return status;
}

static gram_status draw_regions(gram_context *context, const gram_scene *scene, const gram_predictor *predictor,
                                gram_picture *picture)
{
    gram_status status = GRAM_OK;
    const gram_classes *classes = gram_predictor_columns(predictor)->classes;
    gram_map *map = NULL;
    TRY(gram_map_of_predictor(context, predictor, scene->n, scene->x, 2, SIDE, &map));
    if (classes->count == 0)
        for (int64_t c = 0; c < SIDE * SIDE; c++) map->values[c] = map->values[c] > 0;
    gram_scene_title(scene, &picture->script);
    TRY(add_regions(context, scene, predictor, map, picture));
done:
    gram_map_destroy(map);
    return status;
}

/* ---- curves ---- */

/* By the trapezoids under the curve. */
static double area_under(int64_t count, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 1; i < count; i++) sum += 0.5 * (x[i] - x[i - 1]) * (y[i] + y[i - 1]);
    return sum;
}

/* The share of the second class found against that of the first taken for it; *area is that under the curve. */
static gram_status add_roc(gram_context *context, const gram_scene *scene, const gram_columns *columns,
                           const double *values, gram_picture *picture, double *area)
{
    gram_status status = GRAM_OK;
    int64_t count = 0;
    double *mistaken = NULL, *found = NULL;
    TRY(gram_picture_take(context, picture, scene->n + 1, sizeof *mistaken, (void **)&mistaken));
    TRY(gram_picture_take(context, picture, scene->n + 1, sizeof *found, (void **)&found));
    TRY(gram_roc_curve(context, scene->n, scene->labels, values + columns->score, columns->ld, mistaken, found,
                       &count));
    gram_script_block(&picture->script, "roc", count, 2, (const double *[]){mistaken, found}, NULL);
    *area = area_under(count, mistaken, found);
done:
    return status;
}

/* Probabilities against how often they came true. Returns 0 if there are none. */
static int add_calibration(gram_string *script, const gram_scene *scene, const gram_columns *columns,
                           const double *values)
{
    double probability[BINS], share[BINS], size[BINS];
    int64_t rows[BINS];
    int filled = 0;
    gram_calibration(scene->n, columns->classes->count, scene->labels, values + columns->probability, columns->ld, BINS,
                     probability, share, rows);
    for (int b = 0; b < BINS; b++) {
        if (rows[b] == 0) continue;
        probability[filled] = probability[b];
        size[filled] = (double)rows[b];
        share[filled++] = share[b];
    }
    gram_script_block(script, "bins", filled, 3, (const double *[]){probability, share, size}, NULL);
    return filled > 0;
}

/* "set title 'WORDS VALUE, ROWS'" */
static void set_title(gram_string *script, const gram_scene *scene, const char *words, double value)
{
    char number[GRAM_NUMBER_SIZE];
    gram_string title = {0};
    gram_string_add(&title, "%s", words);
    if (!isnan(value)) gram_string_add(&title, " %s", gram_number_short(value, 3, number));
    gram_string_add(&title, ", %s", scene->predicted ? scene->predicted : "rows of the fit");
    gram_string_add(script, "set title ");
    gram_script_quote(script, title.data ? title.data : "");
    gram_string_add(script, "\n");
    script->failed |= title.failed;
    gram_string_free(&title);
}

static void plot_roc(gram_string *script, const gram_scene *scene, const gram_classes *classes, double area)
{
    gram_string first = {0}, second = {0};
    gram_string_add(&first, "false positive rate (%s taken for %s)", classes->names[0], classes->names[1]);
    gram_string_add(&second, "true positive rate (%s found)", classes->names[1]);
    set_title(script, scene, "ROC curve: AUC", area);
    gram_script_label(script, "x", first.data ? first.data : "", "");
    gram_script_label(script, "y", second.data ? second.data : "", "");
    gram_string_add(script, "plot $roc with lines lw 2 lc rgb '#0060ad', x with lines dt 2 lc rgb '#808080'\n");
    script->failed |= first.failed || second.failed;
    gram_string_free(&first);
    gram_string_free(&second);
}

/* Beside each point the number of probabilities that it is the mean of. */
static void plot_calibration(gram_string *script, const gram_scene *scene)
{
    set_title(script, scene, "Calibration, with counts", NAN);
    gram_string_add(script,
                    "set xlabel 'predicted probability'\nset ylabel 'observed frequency'\n"
                    "plot x with lines dt 2 lc rgb '#808080', $bins with linespoints pt 7 lw 2 lc rgb '#d95319', "
                    "$bins using 1:2:(sprintf('%%d', int($3))) with labels offset 0,-1 font ',9' tc rgb '#505050'\n");
}

static void plot_curves(gram_string *script, const gram_scene *scene, const gram_classes *classes, double area,
                        int probable)
{
    const int two = classes->count == 2;
    gram_string_add(script,
                    "set multiplot layout 1,%d\nset xrange [0:1]\nset yrange [0:1]\nset size square\nunset key\n",
                    two + probable);
    if (two) plot_roc(script, scene, classes, area);
    if (probable) plot_calibration(script, scene);
    gram_string_add(script, "unset multiplot\n");
}

/* Only rows that were left out of some fit, where it left any out: of the others there is nothing to say. */
static gram_status keep_left_out(gram_context *context, gram_scene *scene, gram_picture *picture,
                                 const gram_columns *columns, double *values, double **labels)
{
    gram_status status = GRAM_OK;
    int64_t kept = 0;
    TRY(gram_picture_take(context, picture, scene->n, sizeof **labels, (void **)labels));
    for (int64_t i = 0; i < scene->n; i++) {
        const double *row = scene->left_out + i * columns->ld;
        if (isnan(row[0])) continue;
        memcpy(values + kept * columns->ld, row, (size_t)columns->ld * sizeof *row);
        (*labels)[kept++] = scene->labels[i];
    }
    scene->n = kept;
    scene->labels = *labels;
    scene->predicted = "left-out rows";
done:
    return status;
}

static gram_status draw_curves(gram_context *context, gram_scene *scene, const gram_predictor *predictor,
                               gram_picture *picture)
{
    gram_status status = GRAM_OK;
    const gram_columns *columns = gram_predictor_columns(predictor);
    const int two = columns->classes->count == 2;
    double *values = NULL, *labels = NULL, area = NAN;
    TRY(gram_picture_take(context, picture, scene->n * columns->ld, sizeof *values, (void **)&values));
    if (scene->left_out && scene->left_out_ld == columns->ld)
        TRY(keep_left_out(context, scene, picture, columns, values, &labels));
    else
        TRY(gram_predictor_evaluate(context, predictor, scene->n, scene->x, NULL, values, columns->ld));
    gram_script_look(&picture->script);
    if (two) TRY(add_roc(context, scene, columns, values, picture, &area));
    const int probable = add_calibration(&picture->script, scene, columns, values);
    if (two || probable)
        plot_curves(&picture->script, scene, columns->classes, area, probable);
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
