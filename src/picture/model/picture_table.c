#include "picture/model/picture_table.h"

#include <string.h>

#define ROW(word, function, ...)                                                                                       \
    {                                                                                                                  \
        .name = word, .draw = function, __VA_ARGS__                                                                    \
    }

/* A new picture of models is a function and a row. Methods name those that they have in their verb. */
static const gram_picture_row ROWS[] = {
    ROW("fit", gram_draw_fit, .parts = GRAM_SCENE_SAMPLE),
    ROW("classes", gram_draw_classes, .parts = 0),
    ROW("posterior", gram_draw_posterior, .features = 1, .needs = "one feature that is a number"),
    ROW("scatter", gram_draw_scatter, .parts = GRAM_SCENE_POINTS, .columns = 2, .needs = "two components: -k 2"),
    ROW("space", gram_draw_space, .parts = GRAM_SCENE_POINTS, .columns = 3, .needs = "three components: -k 3"),
    ROW("boxes", gram_draw_boxes, .parts = GRAM_SCENE_POINTS, .groups = 1,
        .needs = "groups: a column of texts or of at most 24 whole numbers"),
    ROW("directions", gram_draw_directions, .parts = GRAM_SCENE_POINTS, .features = 2,
        .needs = "two features that are numbers"),
    ROW("spectrum", gram_draw_components, .array = "variances", .needs = "variances"),
    ROW("map", gram_draw_clusters, .parts = GRAM_SCENE_POINTS | GRAM_SCENE_CLUSTERS),
    ROW("pairs", gram_draw_pairs, .parts = GRAM_SCENE_POINTS, .columns = 2, .needs = "a coordinate of each view"),
    ROW("views", gram_draw_views, .parts = GRAM_SCENE_POINTS, .columns = 4,
        .needs = "two coordinates of each view: -k 2"),
    ROW("eigenvalues", gram_draw_eigenvalues, .array = "eigenvalues", .needs = "eigenvalues"),
    ROW("descent", gram_draw_descent, .array = "ntk_losses", .needs = "losses along training"),
    ROW("solution", gram_draw_solution, .parts = 0),
    ROW("convergence", gram_draw_convergence, .parts = 0),
};

const gram_picture_row *gram_picture_find(const char *name)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (strcmp(ROWS[i].name, name) == 0) return &ROWS[i];
    return NULL;
}

/* Is something missing? */
static int lacks(const gram_picture_row *row, const gram_scene *scene)
{
    return scene->ld < row->columns || (row->groups && scene->points.groups == 0) ||
           (row->features > 0 && gram_scene_dimension(scene->model) != row->features) ||
           (row->array && !gram_model_array(scene->model, row->array, NULL, NULL));
}

static gram_status colour_points(gram_context *context, const gram_picture_row *row, gram_scene *scene,
                                 const gram_picture_options *options, gram_picture *picture)
{
    const gram_prepared *data = scene->data;
    const gram_colour_source source = {
        .data = data,
        .table = options->table,
        .column = options->column,
        .clusters = row->parts & GRAM_SCENE_CLUSTERS ? scene->values : NULL,
        .ld = scene->ld,
        .label = data->targets > 0 ? gram_preparation_describe(gram_model_preparation(scene->model))->targets : NULL,
    };
    scene->points = (gram_coloured_points){.n = scene->n, .x = scene->values, .columns = scene->ld, .ld = scene->ld};
    return gram_points_colour(context, &source, picture, &scene->points);
}

gram_status gram_scene_draw(gram_context *context, const gram_picture_row *row, gram_scene *scene,
                            const gram_picture_options *options, gram_picture **picture)
{
    gram_status status = GRAM_OK;
    TRY(gram_picture_begin(context, 720, 640, picture));
    if (row->parts & GRAM_SCENE_POINTS) TRY(colour_points(context, row, scene, options, *picture));
    if (lacks(row, scene))
        status = gram_picture_refuse(context, GRAM_ERROR_ARGUMENT, scene->dashes,
                                     "Choose another with --show, or leave --plot out.", "--plot: %s needs %s",
                                     row->name, row->needs);
    else
        status = row->draw(context, scene, *picture);
done:
    return gram_picture_end(context, status, picture);
}
