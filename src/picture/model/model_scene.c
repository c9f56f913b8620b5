#include "picture/model/model_scene.h"

#include <math.h>

enum { SAMPLE_STREAM = 0x706C6F74 };

/* ---- the sample ---- */

gram_row_sample gram_row_sample_begin(const gram_context *context, double *block)
{
    return (gram_row_sample){.random = {context->seed, SAMPLE_STREAM},
                             .x = block,
                             .y = block + GRAM_PICTURE_POINTS,
                             .f = block + (ptrdiff_t)2 * GRAM_PICTURE_POINTS};
}

void gram_row_sample_add(gram_row_sample *sample, double x, double y, double f)
{
    if (!isfinite(x) || !isfinite(y) || !isfinite(f)) return;
    const int64_t place = gram_random_reservoir(sample->random, sample->seen++, GRAM_PICTURE_POINTS);
    if (place < 0) return;
    if (place == sample->count) sample->count++;
    sample->x[place] = x;
    sample->y[place] = y;
    sample->f[place] = f;
}

/* ---- the model ---- */

void gram_scene_extend(int64_t n, int64_t d, const double *x, double *least, double *most)
{
    for (int64_t l = 0; l < d; l++) gram_picture_extend(n, x + l, d, &least[l], &most[l]);
}

const gram_kernel *gram_scene_kernel(const gram_scene *scene)
{
    return gram_function_kernel(gram_model_function(scene->model));
}

void gram_scene_title(const gram_scene *scene, gram_string *script)
{
    const gram_function *second = gram_model_second_function(scene->model);
    gram_script_look(script);
    if (second)
        gram_script_title_of_two(script, gram_scene_kernel(scene), gram_function_kernel(second), scene->file);
    else
        gram_script_title(script, gram_scene_kernel(scene), scene->file);
}

const gram_column *gram_scene_features(const gram_scene *scene)
{
    return gram_preparation_describe(gram_model_preparation(scene->model))->features;
}

const char *gram_scene_target(const gram_scene *scene)
{
    const gram_preparation_description *known = gram_preparation_describe(gram_model_preparation(scene->model));
    return known->target_count > 0 ? known->targets[0].name : "";
}

int64_t gram_scene_dimension(const gram_model *model)
{
    const gram_preparation *preparation = gram_model_preparation(model);
    const gram_preparation_description *known = preparation ? gram_preparation_describe(preparation) : NULL;
    for (int64_t f = 0; known && f < known->feature_count; f++)
        if (known->features[f].text) return 0;
    return known ? known->feature_count : 0;
}

int gram_scene_is_posterior(const gram_model *model)
{
    return gram_scene_dimension(model) == 1 && gram_model_has_intervals(model);
}

gram_status gram_scene_predictor(gram_context *context, const gram_scene *scene, int interval, int terms,
                                 gram_predictor **predictor)
{
    gram_predict_options wish;
    gram_predict_options_init(&wish, sizeof wish);
    wish.name = scene->name;
    wish.dashes = scene->dashes;
    wish.interval = interval ? 0.95 : 0;
    wish.terms = terms;
    return gram_predictor_create(context, scene->model, &wish, predictor);
}
