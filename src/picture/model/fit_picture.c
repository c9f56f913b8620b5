/* A regression: data and curve for one feature; else observations against predictions, residuals and relevances; of an additive model first each
 * component over its feature, with its band; of two features a map. Of models that followed
 * a gradient also what was learnt when. */
#include <gram/describe.h>

#include <inttypes.h>
#include <math.h>

#include "base/text/number.h"
#include "picture/map_parts.h"
#include "picture/model/curve_picture.h"
#include "picture/model/term_panels.h"

enum { MOST_BARS = 12, MOST_ACROSS = 4 };

/* ---- panels of several features ---- */

/* "set title 'rmse 0.21, R2 0.97'", of the rows that are drawn. */
static void add_scores(gram_string *script, const gram_row_sample *sample)
{
    char rmse[GRAM_NUMBER_SIZE], r2[GRAM_NUMBER_SIZE];
    double mean = 0, squares = 0, spread = 0;
    const double n = (double)sample->count;
    for (int64_t i = 0; i < sample->count; i++) mean += sample->y[i] / n;
    for (int64_t i = 0; i < sample->count; i++) {
        squares += (sample->y[i] - sample->f[i]) * (sample->y[i] - sample->f[i]);
        spread += (sample->y[i] - mean) * (sample->y[i] - mean);
    }
    if (!(n > 0) || !(spread > 0)) return;
    gram_string_add(script, "set title 'rmse %s, R2 %s'\n", gram_number_short(sqrt(squares / n), 4, rmse),
                    gram_number_short(1 - squares / spread, 4, r2));
}

static void add_agreement(gram_string *script, const gram_scene *scene)
{
    const gram_row_sample *sample = &scene->sample;
    double least = NAN, most = NAN;
    gram_picture_extend(sample->count, sample->y, 1, &least, &most);
    gram_picture_extend(sample->count, sample->f, 1, &least, &most);
    const double beyond = most > least ? 0.04 * (most - least) : 1;
    add_scores(script, sample);
    gram_script_block(script, "pairs", sample->count, 2, (const double *[]){sample->f, sample->y}, NULL);
    gram_script_label(script, "x", scene->predicted, "");
    gram_script_label(script, "y", "observed", gram_scene_target(scene));
    gram_script_range(script, "x", least - beyond, most + beyond);
    gram_script_range(script, "y", least - beyond, most + beyond);
    gram_string_add(script, "unset key\nplot $pairs with points pt 7");
    gram_script_point_size(script, sample->count, 1);
    gram_string_add(script, " lc rgb '" GRAM_POINT_COLOUR "', "
                            "x with lines lw 1.5 dt 2 lc rgb '" GRAM_CURVE_COLOUR "'\n");
}

static void add_residuals(gram_string *script, const gram_scene *scene)
{
    gram_script_label(script, "y", "observed - predicted", "");
    gram_string_add(script, "set autoscale y\nplot $pairs using 1:($2-$1) with points pt 7");
    gram_script_point_size(script, scene->sample.count, 1);
    gram_string_add(script, " lc rgb '" GRAM_POINT_COLOUR "', "
                            "0 with lines lw 1.5 dt 2 lc rgb '" GRAM_CURVE_COLOUR "'\n");
}

/* What matters, the most first: how much worse left-out rows are predicted when a feature is permuted, with its standard error, where the fit
 * found that; else how much the kernel looks at it. */
typedef struct feature_bars {
    int64_t count; /* 0: neither is known */
    int measured;
    gram_importance bars[MOST_BARS];
} feature_bars;

static gram_status find_bars(gram_context *context, const gram_scene *scene, gram_picture *picture, feature_bars *found)
{
    gram_status status = GRAM_OK;
    const gram_preparation *preparation = gram_model_preparation(scene->model);
    const int64_t features = gram_preparation_describe(preparation)->feature_count;
    gram_description *known = NULL;
    gram_relevance *seen = NULL;
    int64_t count = 0;
    *found = (feature_bars){.count = 0};
    TRY(gram_model_describe(context, scene->model, scene->name, &known));
    const gram_importance *rows = gram_description_importance(known, &count);
    found->measured = count > 0;
    if (!found->measured) {
        TRY(gram_picture_take(context, picture, features, sizeof *seen, (void **)&seen));
        TRY(gram_kernel_relevance(context, gram_scene_kernel(scene), preparation, seen, &count));
    }
    found->count = count < MOST_BARS ? count : MOST_BARS;
    for (int64_t i = 0; i < found->count; i++)
        found->bars[i] = found->measured ? rows[i] : (gram_importance){.value = seen[i].value, .name = seen[i].name};
done:
    gram_description_destroy(known);
    return status;
}

static void add_bars(gram_string *script, const feature_bars *found)
{
    gram_string_add(script, "unset title\nset ytics (");
    for (int64_t i = 0; i < found->count; i++) gram_script_tic(script, found->bars[i].name, i);
    gram_string_add(script, ") scale 0\n$bars << END_OF_BARS\n");
    for (int64_t i = 0; i < found->count; i++) {
        gram_script_number(script, found->bars[i].value, " ");
        gram_string_add(script, "%" PRId64 " ", i);
        gram_script_number(script, found->measured ? found->bars[i].se : 0, "\n");
    }
    double most = 0;
    for (int64_t i = 0; i < found->count; i++) most = fmax(most, found->bars[i].value);
    gram_string_add(script, "END_OF_BARS\nset grid xtics noytics\nset xrange [%s:*]\nset yrange [",
                    found->measured ? "*<0" : "0");
    gram_script_short(script, (double)found->count - 0.4, ":-0.6]\n");
    gram_script_few_tics(script, "x", 0, 1.2 * most);
    gram_string_add(script,
                    "unset ylabel\nset xlabel '%s'\nset style fill solid 0.75 noborder\n"
                    "plot $bars using (0.5*$1):2:(0.5*abs($1)):(0.35) with boxxyerror lc rgb '#0060ad'%s\n"
                    "set xtics autofreq\n",
                    found->measured ? "importance: rise of the error when permuted" : "relevance, 1/ell",
                    found->measured ? ", $bars using 1:2:3 with xerrorbars pt 0 lw 1.5 lc rgb '#404040'" : "");
}

/* ---- the map of two features ---- */

enum { SIDE = 80 };

/* What the model says over the plane of its two features, and the rows in the colours of what was observed. */
static gram_status add_map(gram_context *context, const gram_scene *scene, gram_string *script)
{
    gram_status status = GRAM_OK;
    const gram_preparation *preparation = gram_model_preparation(scene->model);
    gram_predictor *predictor = NULL;
    gram_map *map = NULL;
    TRY(gram_scene_predictor(context, scene, 0, 0, &predictor));
    TRY(gram_map_of_predictor(context, predictor, scene->n, scene->x, 2, SIDE, &map));
    gram_string_add(script, "$plane << END_OF_MAP\n");
    for (int64_t j = 0; j < SIDE; j++)
        for (int64_t i = 0; i < SIDE; i++) {
            gram_script_place(script, map, preparation, (double)i, (double)j);
            gram_string_add(script, " ");
            gram_script_number(script, map->values[i * SIDE + j], "\n");
        }
    gram_string_add(script, "END_OF_MAP\n$rows << END_OF_MAP\n");
    const int64_t step = (scene->n + GRAM_PICTURE_POINTS - 1) / GRAM_PICTURE_POINTS;
    for (int64_t i = 0; i < scene->n; i += step) {
        for (int l = 0; l < 2; l++)
            gram_script_number(script, gram_preparation_unit(preparation, l, scene->x[2 * i + l]), " ");
        gram_script_number(script, scene->data->y[i * scene->data->targets], "\n");
    }
    gram_string_add(script, "END_OF_MAP\n");
    gram_script_frame(script, map, preparation);
    gram_script_label(script, "x", "", gram_scene_features(scene)[0].name);
    gram_script_label(script, "y", "", gram_scene_features(scene)[1].name);
    gram_script_label(script, "cb", "", gram_scene_target(scene));
    gram_string_add(script, "unset key\nset palette defined (0 '#0b3c5d', 0.5 '#f2efe6', 1 '#b5351c')\n"
                            "plot $plane with image, $rows using 1:2 with points pt 7 ps 0.8 lc rgb '#303030', "
                            "$rows using 1:2:3 with points pt 7 ps 0.6 lc palette\n"
                            "unset cblabel\nset autoscale\n");
done:
    gram_map_destroy(map);
    gram_predictor_destroy(predictor);
    return status;
}

/* ---- drawing; `left` is NULL for models that followed no gradient ---- */

static gram_status draw_panels(gram_context *context, const gram_scene *scene, const gram_learning_curve *left,
                               gram_picture *picture)
{
    gram_status status = GRAM_OK;
    gram_string *script = &picture->script;
    feature_bars bars;
    gram_term_panels terms;
    TRY(gram_term_panels_find(context, scene, picture, &terms));
    TRY(find_bars(context, scene, picture, &bars));
    const int mapped = gram_scene_dimension(scene->model) == 2 && scene->x && scene->data && scene->data->d == 2;
    const int panels = (int)terms.count + 2 + (bars.count > 0) + (left != NULL) + mapped;
    const int down = terms.count > 0 ? (panels + MOST_ACROSS - 1) / MOST_ACROSS : 1;
    const int across = (panels + down - 1) / down;
    gram_string_add(script, "set multiplot layout %d,%d\n", down, across);
    for (int64_t i = 0; i < terms.count; i++) gram_term_panels_add(script, scene, &terms, i);
    if (terms.count > 0) gram_string_add(script, "unset title\nset xtics autofreq\n");
    if (mapped) TRY(add_map(context, scene, script));
    add_agreement(script, scene);
    gram_string_add(script, "unset title\n");
    add_residuals(script, scene);
    if (left) gram_add_learning_panel(script, left);
    if (bars.count > 0) add_bars(script, &bars);
    gram_string_add(script, "unset multiplot\n");
    picture->width = 450 * across;
    picture->height = 420 * down;
done:
    gram_term_panels_end(&terms);
    return status;
}

static gram_status draw_line(gram_context *context, const gram_scene *scene, const gram_learning_curve *left,
                             gram_picture *picture)
{
    gram_status status = GRAM_OK;
    gram_string *script = &picture->script;
    if (left) gram_string_add(script, "set multiplot layout 1,2\n");
    TRY(gram_draw_curve(context, scene, picture));
    if (left) {
        gram_string_add(script, "unset title\n");
        gram_add_learning_panel(script, left);
        gram_string_add(script, "unset multiplot\n");
    }
    picture->width = left ? 1300 : 800;
    picture->height = 500;
done:
    return status;
}

gram_status gram_draw_fit(gram_context *context, gram_scene *scene, gram_picture *picture)
{
    gram_learning_curve curve;
    const gram_learning_curve *left = gram_model_learning_curve(scene->model, &curve) ? &curve : NULL;
    gram_script_look(&picture->script);
    return gram_scene_dimension(scene->model) == 1 ? draw_line(context, scene, left, picture)
                                                   : draw_panels(context, scene, left, picture);
}
