/* A model with the rows that it was learnt from: what is made for the picture that is asked for, and by default. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sized_struct.h"
#include "learn/learner.h"
#include "learn/method_table.h"
#include "picture/model/picture_table.h"

void gram_picture_options_init(gram_picture_options *options, size_t size)
{
    const gram_picture_options defaults = {.size = sizeof defaults, .data = "data", .name = "the model", .dashes = ""};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

gram_status gram_picture_read_options(gram_context *context, const char *function, const gram_picture_options *given,
                                      gram_picture_options *options)
{
    gram_picture_options_init(options, sizeof *options);
    const gram_status status =
        gram_sized_read(context, function, "options", "gram_picture_options", given, options, sizeof *options);
    if (!options->data) options->data = "data";
    if (!options->name) options->name = "the model";
    if (!options->dashes) options->dashes = "";
    return status;
}

gram_scene gram_scene_begin(const gram_model *model, const gram_picture_options *options)
{
    return (gram_scene){.model = model,
                        .name = options->name,
                        .file = options->data,
                        .dashes = options->dashes,
                        .terms = options->terms};
}

/* ---- which there are ---- */

int gram_verb_draws(const gram_verb *verb, const char *show)
{
    return verb && verb->pictures && show && gram_words_have(verb->pictures, show);
}

const char *gram_model_pictures(const gram_model *model)
{
    const gram_method *method = gram_method_of_model(model);
    const char *task = gram_model_task(model);
    if (!method || !gram_model_preparation(model)) return "";
    if (method->verb) return method->verb->pictures ? method->verb->pictures : "";
    return strcmp(task, gram_task_name(GRAM_TASK_REGRESSION)) == 0 ? "fit" : "classes";
}

/* The row that is asked for, or the first. */
static gram_status choose(gram_context *context, const gram_model *model, const gram_picture_options *options,
                          const gram_picture_row **row)
{
    char advice[128], first[32];
    const char *pictures = gram_model_pictures(model);
    (void)snprintf(first, sizeof first, "%.*s", (int)strcspn(pictures, " "), pictures);
    const char *show = options->show ? options->show : first;
    *row = gram_words_have(pictures, show) ? gram_picture_find(show) : NULL;
    if (*row) return GRAM_OK;
    (void)snprintf(advice, sizeof advice, "It may be one of: %s.", pictures);
    return gram_picture_refuse(context, GRAM_ERROR_ARGUMENT, options->dashes,
                               pictures[0] ? advice : "Leave --plot out.", "--show cannot be '%s' for a model of %s",
                               show, gram_model_method(model));
}

/* ---- what is made ---- */

/* Coordinates or labels of the rows. */
static gram_status find_values(gram_context *context, gram_learner *learner, gram_scene *scene, double **values)
{
    gram_status status = GRAM_OK;
    gram_predictor *predictor = NULL;
    TRY(gram_scene_predictor(context, scene, 0, 0, &predictor));
    scene->ld = gram_predictor_columns(predictor)->count;
    TRY(gram_take(context, "picture", scene->n * scene->ld, sizeof **values, (void **)values));
    TRY(gram_learner_values(context, learner, scene->model, *values, scene->ld));
    scene->values = *values;
done:
    gram_predictor_destroy(predictor);
    return status;
}

/* Fitted values, of which some are drawn. */
static gram_status find_sample(gram_context *context, gram_learner *learner, gram_scene *scene, double **block)
{
    gram_status status = GRAM_OK;
    const gram_lesson *lesson = gram_learner_lesson(learner);
    const gram_prepared *data = lesson->data;
    double *f = NULL;
    TRY(gram_take(context, "picture", data->n, sizeof *f, (void **)&f));
    TRY(gram_take(context, "picture", 3 * (int64_t)GRAM_PICTURE_POINTS, sizeof **block, (void **)block));
    TRY(gram_learner_fitted(context, learner, scene->model, f, &scene->predicted));
    scene->sample = gram_row_sample_begin(context, *block);
    for (int64_t i = 0; i < data->n; i++)
        gram_row_sample_add(&scene->sample, gram_preparation_unit(lesson->preparation, 0, data->x[i * data->d]),
                            data->y[i * data->targets], f[i]);
done:
    gram_give(context, f);
    return status;
}

static gram_status find_ranges(gram_context *context, gram_scene *scene, double **ranges)
{
    gram_status status = GRAM_OK;
    const int64_t d = scene->data->d;
    TRY(gram_take(context, "picture", 2 * d, sizeof **ranges, (void **)ranges));
    for (int64_t l = 0; l < 2 * d; l++) (*ranges)[l] = NAN;
    gram_scene_extend(scene->n, d, scene->x, *ranges, *ranges + d);
    scene->least = *ranges;
    scene->most = *ranges + d;
done:
    return status;
}

gram_status gram_picture_of_learner(gram_context *context, gram_learner *learner, const gram_model *model,
                                    const gram_picture_options *given, gram_picture **picture)
{
    gram_status status = GRAM_OK;
    gram_picture_options options;
    const gram_picture_row *row = NULL;
    double *made = NULL, *ranges = NULL;
    *picture = NULL;
    FAIL_IF(!learner || !model || !gram_learner_lesson(learner), context, GRAM_ERROR_ARGUMENT, "picture_of_learner: %s",
            learner && model ? "the learner has not learnt" : "learner or model is NULL");
    TRY(gram_picture_read_options(context, "picture_of_learner", given, &options));
    TRY(choose(context, model, &options, &row));
    const gram_lesson *lesson = gram_learner_lesson(learner);
    gram_scene scene = gram_scene_begin(model, &options);
    scene.data = lesson->data;
    scene.n = lesson->data->n;
    scene.x = lesson->data->x;
    scene.labels = lesson->labels;
    scene.left_out = learner->left_out;
    scene.left_out_ld = learner->left_out_ld;
    TRY(find_ranges(context, &scene, &ranges));
    if (row->parts & GRAM_SCENE_SAMPLE) TRY(find_sample(context, learner, &scene, &made));
    if (row->parts & GRAM_SCENE_POINTS) TRY(find_values(context, learner, &scene, &made));
    TRY(gram_scene_draw(context, row, &scene, &options, picture));
done:
    gram_give(context, ranges);
    gram_give(context, made);
    return status;
}
