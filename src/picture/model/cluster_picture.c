/* Clusters as regions of a plane: that of two features, where the model says what each place is; else that of two principal components
 * of its kernel, where it is what the nearest row is. */
#include <gram/pca.h>

#include "picture/model/model_scene.h"

enum { SIDE = 160 };

/* The map in `own`, the preparation that its axes are of (NULL: components), and the components, which the points are drawn by. */
typedef struct plane {
    const gram_preparation *preparation;
    gram_pca *pca;
    gram_map *map;
} plane;

static gram_status map_features(gram_context *context, const gram_scene *scene, plane *own)
{
    gram_status status = GRAM_OK;
    gram_predictor *predictor = NULL;
    own->preparation = gram_model_preparation(scene->model);
    TRY(gram_scene_predictor(context, scene, 0, 0, &predictor));
    TRY(gram_map_of_predictor(context, predictor, scene->n, scene->x, 2, SIDE, &own->map));
done:
    gram_predictor_destroy(predictor);
    return status;
}

static gram_status map_components(gram_context *context, gram_scene *scene, plane *own)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = gram_function_kernel(gram_model_function(scene->model));
    const int64_t d = scene->data->d;
    gram_points *x = NULL;
    TRY(gram_points_create_f64(context, scene->n, d, scene->x, d, &x));
    TRY(gram_pca_fit(context, kernel, x, NULL, &own->pca));
    scene->points.x = gram_pca_coordinates(own->pca);
    TRY(gram_map_of_nearest(context, scene->n, scene->points.x, 2, scene->values, SIDE, &own->map));
done:
    gram_points_release(x);
    return status;
}

static gram_status add_borders(gram_context *context, gram_picture *picture, const plane *own)
{
    gram_status status = GRAM_OK;
    gram_string *script = &picture->script;
    double *segments = NULL;
    TRY(gram_picture_take(context, picture, (int64_t)SIDE * SIDE * 8, sizeof *segments, (void **)&segments));
    const int64_t count = gram_map_borders(own->map, segments);
    gram_string_add(script, "$borders << END_OF_BORDERS\n");
    for (int64_t s = 0; s < 4 * count; s++) {
        const double value =
            own->preparation ? gram_preparation_unit(own->preparation, s % 2, segments[s]) : segments[s];
        gram_script_number(script, value, s % 4 == 1 ? "\n" : s % 4 == 3 ? "\n\n" : " ");
    }
    gram_string_add(script, "END_OF_BORDERS\n");
done:
    return status;
}

static void label_axes(gram_string *script, const gram_scene *scene, const plane *own)
{
    static const char *const axes[] = {"x", "y"}, *const components[] = {"pc1", "pc2"};
    for (int axis = 0; axis < 2; axis++)
        gram_script_label(script, axes[axis], "",
                          own->preparation ? gram_scene_features(scene)[axis].name : components[axis]);
}

gram_status gram_draw_clusters(gram_context *context, gram_scene *scene, gram_picture *picture)
{
    gram_status status = GRAM_OK;
    gram_string *script = &picture->script;
    gram_coloured_points *points = &scene->points;
    const int features = gram_scene_dimension(scene->model) == 2;
    plane own = {0};
    points->x = scene->x;
    points->columns = points->ld = 2;
    gram_scene_title(scene, script);
    TRY(features ? map_features(context, scene, &own) : map_components(context, scene, &own));
    gram_script_map(script, own.map, own.preparation, 1);
    TRY(add_borders(context, picture, &own));
    gram_script_groups(script, points, own.preparation);
    label_axes(script, scene, &own);
    gram_script_palette(script);
    gram_script_frame(script, own.map, own.preparation);
    gram_script_plot_groups(
        script, points, "plot $frame with image notitle, $borders with lines lw 1.5 lc rgb '#404040' notitle, ", "1:2");
done:
    gram_map_destroy(own.map);
    gram_pca_destroy(own.pca);
    return status;
}
