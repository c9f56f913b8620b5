/* Rows of two features, and along what they vary most: arrows for a linear kernel, else lines on which the first coordinate is constant. */
#include <math.h>
#include <string.h>

#include "picture/model/model_scene.h"

enum { SIDE = 80, MOST_DIRECTIONS = 2 };

/* From one end, the mean less two deviations along u, to the other. */
static void add_arrow(gram_string *script, const gram_preparation *preparation, const double mean[2], const double u[2],
                      double variance)
{
    double ends[2];
    for (int axis = 0; axis < 2; axis++) {
        ends[axis] = gram_preparation_unit(preparation, axis, mean[axis] - 2 * sqrt(variance) * u[axis]);
        gram_script_number(script, ends[axis], " ");
    }
    for (int axis = 0; axis < 2; axis++) {
        const double end = gram_preparation_unit(preparation, axis, mean[axis] + 2 * sqrt(variance) * u[axis]);
        gram_script_number(script, end - ends[axis], axis == 0 ? " " : "\n");
    }
}

static gram_status add_arrows(gram_context *context, gram_string *script, const gram_scene *scene)
{
    gram_status status = GRAM_OK;
    const gram_function *f = gram_model_function(scene->model);
    int64_t rows, count = 0;
    const double *variances = gram_model_array(scene->model, "variances", &rows, &count);
    double mean[2] = {0}, u[2];
    gram_points *at = NULL;
    for (int64_t i = 0; i < 2 * scene->n; i++) mean[i % 2] += scene->x[i] / (double)scene->n;
    TRY(gram_points_create_f64(context, 1, 2, mean, 2, &at));
    gram_string_add(script, "$arrows << END_OF_ARROWS\n");
    for (int64_t s = 0; s < count && s < MOST_DIRECTIONS; s++) {
        TRY(gram_function_gradient(context, f, s, at, u, 2));
        add_arrow(script, gram_model_preparation(scene->model), mean, u, variances[s]);
    }
    gram_string_add(script, "END_OF_ARROWS\n");
done:
    gram_points_release(at);
    return status;
}

/* The lines are a plot of their own, into a table; across them the data vary most. */
static gram_status add_contours(gram_context *context, gram_string *script, const gram_scene *scene)
{
    gram_status status = GRAM_OK;
    const gram_preparation *preparation = gram_model_preparation(scene->model);
    gram_predictor *predictor = NULL;
    gram_map *map = NULL;
    TRY(gram_scene_predictor(context, scene, 0, 0, &predictor));
    TRY(gram_map_of_predictor(context, predictor, scene->n, scene->x, 2, SIDE, &map));
    gram_string_add(script, "$surface << END_OF_SURFACE\n");
    for (int64_t i = 0; i < map->side; i++) {
        for (int64_t j = 0; j < map->side; j++) {
            gram_script_cell(script, map, preparation, i, j);
            gram_script_number(script, map->values[i * map->side + j], "\n");
        }
        gram_string_add(script, "\n");
    }
    gram_string_add(script,
                    "END_OF_SURFACE\nset contour base\nset cntrparam levels 12\nunset surface\nset table $lines\n"
                    "splot $surface\nunset table\nunset contour\nset surface\n");
    gram_script_frame(script, map, preparation);
done:
    gram_map_destroy(map);
    gram_predictor_destroy(predictor);
    return status;
}

static int is_linear(const gram_kernel *kernel)
{
    char text[sizeof "linear"];
    (void)gram_kernel_print(kernel, text, sizeof text);
    return strcmp(text, "linear") == 0;
}

gram_status gram_draw_directions(gram_context *context, gram_scene *scene, gram_picture *picture)
{
    gram_status status = GRAM_OK;
    gram_string *script = &picture->script;
    gram_coloured_points *points = &scene->points;
    const int linear = is_linear(gram_scene_kernel(scene));
    points->x = scene->x;
    points->columns = points->ld = 2;
    gram_scene_title(scene, script);
    gram_script_groups(script, points, gram_model_preparation(scene->model));
    for (int axis = 0; axis < 2; axis++)
        gram_script_label(script, axis ? "y" : "x", "", gram_scene_features(scene)[axis].name);
    gram_script_colour_bar(script, points);
    TRY(linear ? add_arrows(context, script, scene) : add_contours(context, script, scene));
    gram_script_plot_groups(
        script, points,
        linear ? "plot $arrows with vectors heads size screen 0.015,20 lw 2.5 lc rgb '" GRAM_CURVE_COLOUR
                 "' title 'two deviations', "
               : "plot $lines using 1:2 with lines lw 1.2 lc rgb '#a06040' title 'pc1 is constant', ",
        "1:2");
done:
    return status;
}
