#include "picture/model/curve_picture.h"

#include <math.h>
#include <stdio.h>

#include "base/text/number.h"

enum { GRID = 600 };

typedef struct curve {
    double x[GRID], f[GRID];
    int banded; /* the model knows intervals, or several quantiles */
    double lower[GRID], upper[GRID];
    char band[96];    /* what the band is, */
    const char *line; /* and the curve */
} curve;

static void name_band(const gram_columns *columns, char *name, size_t size)
{
    char first[GRAM_NUMBER_SIZE], last[GRAM_NUMBER_SIZE];
    const int64_t levels = columns->level_count;
    if (levels > 1)
        (void)snprintf(name, size, "quantiles %s to %s", gram_number_short(columns->levels[0], 6, first),
                       gram_number_short(columns->levels[levels - 1], 6, last));
    else
        (void)snprintf(name, size, "95 %% of new observations");
}

/* Of several quantiles the first and the last make the band, the middle one the curve. */
static void keep_values(const gram_columns *columns, const double *values, curve *c)
{
    const int64_t levels = columns->level_count;
    const int64_t lower = levels > 1 ? 0 : columns->lower, upper = levels > 1 ? levels - 1 : columns->upper;
    c->banded = lower >= 0;
    name_band(columns, c->band, sizeof c->band);
    c->line = !c->banded ? "fit" : levels > 1 ? "middle" : "mean";
    for (int i = 0; i < GRID; i++) {
        const double *row = values + i * columns->ld;
        c->f[i] = row[levels / 2];
        c->lower[i] = c->banded ? row[lower] : NAN;
        c->upper[i] = c->banded ? row[upper] : NAN;
    }
}

/* The first output at evenly spaced values of the feature, in its own units. */
static gram_status evaluate_curve(gram_context *context, const gram_scene *scene, const gram_predictor *predictor,
                                  double from, double to, curve *c)
{
    gram_status status = GRAM_OK;
    const gram_columns *columns = gram_predictor_columns(predictor);
    double scaled[GRID], *values = NULL;
    TRY(gram_take(context, "picture", GRID * columns->ld, sizeof *values, (void **)&values));
    gram_picture_grid(GRID, from, to, c->x);
    gram_preparation_scale(gram_model_preparation(scene->model), GRID, c->x, 1, scaled);
    TRY(gram_predictor_evaluate(context, predictor, GRID, scaled, NULL, values, columns->ld));
    keep_values(columns, values, c);
done:
    gram_give(context, values);
    return status;
}

/* A bit beyond the data on both sides, if the kernel is defined there. */
static gram_status find_curve(gram_context *context, const gram_scene *scene, curve *c)
{
    gram_status status = GRAM_OK;
    double least = NAN, most = NAN;
    gram_predictor *predictor = NULL;
    gram_picture_extend(scene->sample.count, scene->sample.x, 1, &least, &most);
    const double beyond = most > least ? 0.05 * (most - least) : 1;
    TRY(gram_scene_predictor(context, scene, gram_scene_is_posterior(scene->model), 0, &predictor));
    status = evaluate_curve(context, scene, predictor, least - beyond, most + beyond, c);
    if (status == GRAM_ERROR_DOMAIN) status = evaluate_curve(context, scene, predictor, least, most, c);
done:
    gram_predictor_destroy(predictor);
    return status;
}

static void add_curve(gram_string *script, const gram_scene *scene, const curve *c)
{
    const gram_row_sample *sample = &scene->sample;
    gram_script_block(script, "data", sample->count, 2, (const double *[]){sample->x, sample->y}, NULL);
    gram_script_block(script, "curve", GRID, 2, (const double *[]){c->x, c->f}, NULL);
    if (c->banded) gram_script_block(script, "band", GRID, 3, (const double *[]){c->x, c->lower, c->upper}, NULL);
    gram_script_label(script, "x", "", gram_scene_features(scene)->name);
    gram_script_label(script, "y", "", gram_scene_target(scene));
    gram_script_range(script, "x", c->x[0], c->x[GRID - 1]);
    gram_string_add(script, "plot ");
    if (c->banded)
        gram_string_add(script, "$band with filledcurves fc rgb '" GRAM_BAND_COLOUR "' title '%s', ", c->band);
    gram_string_add(script, "$data with points pt 7");
    gram_script_point_size(script, sample->count, 1.4);
    gram_string_add(script,
                    " lc rgb '" GRAM_POINT_COLOUR "' title 'data', "
                    "$curve with lines lw 2.5 lc rgb '" GRAM_CURVE_COLOUR "' title '%s'\n",
                    c->line);
}

gram_status gram_draw_curve(gram_context *context, const gram_scene *scene, gram_picture *picture)
{
    gram_status status = GRAM_OK;
    curve *c = NULL;
    TRY(gram_picture_take(context, picture, 1, sizeof *c, (void **)&c));
    TRY(find_curve(context, scene, c));
    gram_script_title(&picture->script, gram_scene_kernel(scene), scene->file);
    add_curve(&picture->script, scene, c);
done:
    return status;
}
