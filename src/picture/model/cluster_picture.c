/* Clusters as regions of a plane: that of two features, where the model says what each place is; else that of two principal components
 * of its kernel, where it is what the nearest row is. */
#include <gram/pca.h>

#include <inttypes.h>
#include <math.h>

#include "learn/plane_map.h"
#include "picture/map_parts.h"
#include "picture/model/model_scene.h"

enum { SIDE = 160 };

/* The map in `own`, the preparation that its axes are of (NULL: components), and the components, which the points are drawn by. */
typedef struct plane {
    const gram_preparation *preparation;
    gram_pca *pca;
    gram_predictor *predictor;
    gram_map *map;
} plane;

static gram_status map_features(gram_context *context, const gram_scene *scene, plane *own)
{
    gram_status status = GRAM_OK;
    own->preparation = gram_model_preparation(scene->model);
    TRY(gram_scene_predictor(context, scene, 0, 0, &own->predictor));
    TRY(gram_map_of_predictor(context, own->predictor, scene->n, scene->x, 2, SIDE, &own->map));
done:
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

/* In the plane of components: that of the nearest row. */
static gram_status label_by_rows(gram_context *context, const void *of, const gram_map *map, int64_t n,
                                 const double *places, double *labels)
{
    const gram_scene *scene = of;
    (void)context;
    for (int64_t k = 0; k < n; k++)
        labels[k] = scene->values[gram_map_nearest(map, scene->n, scene->points.x, 2, places + 2 * k) * scene->ld];
    return GRAM_OK;
}

/* Where the name of a cluster is written: at the row nearest to the middle of its rows, which may themselves be around it. */
static int64_t find_heart(const gram_scene *scene, const gram_map *map, double cluster)
{
    const gram_coloured_points *p = &scene->points;
    double sums[2] = {0}, least = INFINITY;
    int64_t count = 0, heart = -1;
    for (int64_t i = 0; i < p->n; i++) {
        if (scene->values[i * scene->ld] != cluster) continue;
        count++;
        for (int axis = 0; axis < 2; axis++) sums[axis] += p->x[2 * i + axis];
    }
    for (int64_t i = 0; i < p->n; i++) {
        if (scene->values[i * scene->ld] != cluster) continue;
        double square = 0;
        for (int axis = 0; axis < 2; axis++) {
            const double off = (p->x[2 * i + axis] - sums[axis] / (double)count) / (map->high[axis] - map->low[axis]);
            square += off * off;
        }
        if (square < least) least = square, heart = i;
    }
    return heart;
}

/* If colours say something else, words say which cluster is which. */
static void name_clusters(gram_string *script, const gram_scene *scene, const plane *own)
{
    gram_string_add(script, "set style textbox opaque noborder\n");
    for (int64_t c = 1; c <= GRAM_MOST_GROUPS; c++) {
        const int64_t heart = find_heart(scene, own->map, (double)c);
        if (heart < 0) continue;
        gram_string_add(script, "set label 'cluster %" PRId64 "' at ", c);
        for (int axis = 0; axis < 2; axis++) {
            const double x = scene->points.x[2 * heart + axis];
            gram_script_number(script, own->preparation ? gram_preparation_unit(own->preparation, axis, x) : x,
                               axis == 0 ? ", " : " center front boxed font ',10'\n");
        }
    }
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
    gram_areas areas = {.map = own.map,
                        .label = features ? gram_label_by_predictor : label_by_rows,
                        .of = features ? (const void *)own.predictor : scene,
                        .preparation = own.preparation,
                        .first = 1,
                        .neutral = points->title != NULL};
    TRY(gram_script_areas(context, picture, &areas));
    gram_script_groups(script, points, own.preparation);
    label_axes(script, scene, &own);
    gram_script_colour_bar(script, points);
    if (areas.neutral) name_clusters(script, scene, &own);
    gram_script_plot_areas(script, &areas, 1);
    gram_script_plot_groups(script, points, ", ", "1:2");
done:
    gram_map_destroy(own.map);
    gram_predictor_destroy(own.predictor);
    gram_pca_destroy(own.pca);
    return status;
}
