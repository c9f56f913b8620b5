/* A regression: data and curve for one feature; else observations against predictions, residuals and relevances; of an additive model first each
 * component over its feature, with its band. Of models that followed
 * a gradient also what was learnt when. */
#include <gram/describe.h>

#include <inttypes.h>
#include <math.h>

#include "picture/model/curve_picture.h"
#include "picture/model/term_panels.h"

enum { MOST_BARS = 12, MOST_ACROSS = 4 };

/* ---- panels of several features ---- */

static void add_agreement(gram_string *script, const gram_scene *scene)
{
    const gram_row_sample *sample = &scene->sample;
    double least = NAN, most = NAN;
    gram_picture_extend(sample->count, sample->y, 1, &least, &most);
    gram_picture_extend(sample->count, sample->f, 1, &least, &most);
    const double beyond = most > least ? 0.04 * (most - least) : 1;
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

/* The features that the kernel looks at, the most relevant first; *count is 0 if it does not tell. */
static gram_status find_relevances(gram_context *context, const gram_scene *scene, gram_picture *picture,
                                   gram_relevance **bars, int64_t *count)
{
    gram_status status = GRAM_OK;
    const gram_preparation *preparation = gram_model_preparation(scene->model);
    const int64_t features = gram_preparation_describe(preparation)->feature_count;
    TRY(gram_picture_take(context, picture, features, sizeof **bars, (void **)bars));
    TRY(gram_kernel_relevance(context, gram_scene_kernel(scene), preparation, *bars, count));
    if (*count > MOST_BARS) *count = MOST_BARS;
done:
    return status;
}

static void add_bars(gram_string *script, const gram_relevance *bars, int64_t count)
{
    gram_string_add(script, "set ytics (");
    for (int64_t i = 0; i < count; i++) gram_script_tic(script, bars[i].name, i);
    gram_string_add(script, ") scale 0\n$bars << END_OF_BARS\n");
    for (int64_t i = 0; i < count; i++) {
        gram_script_number(script, bars[i].value, " ");
        gram_string_add(script, "%" PRId64 "\n", i);
    }
    gram_string_add(script, "END_OF_BARS\nset grid xtics noytics\nset xrange [0:*]\nset yrange [");
    gram_script_short(script, (double)count - 0.4, ":-0.6]\n");
    gram_string_add(script, "unset ylabel\nset xlabel 'relevance, 1/ell'\nset style fill solid 0.75 noborder\n"
                            "plot $bars using (0.5*$1):2:(0.5*$1):(0.35) with boxxyerror lc rgb '#0060ad'\n");
}

/* ---- drawing; `left` is NULL for models that followed no gradient ---- */

static gram_status draw_panels(gram_context *context, const gram_scene *scene, const gram_learning_curve *left,
                               gram_picture *picture)
{
    gram_status status = GRAM_OK;
    gram_string *script = &picture->script;
    gram_relevance *bars = NULL;
    gram_term_panels terms;
    int64_t count = 0;
    TRY(gram_term_panels_find(context, scene, picture, &terms));
    TRY(find_relevances(context, scene, picture, &bars, &count));
    const int panels = (int)terms.count + 2 + (count > 0) + (left != NULL);
    const int down = terms.count > 0 ? (panels + MOST_ACROSS - 1) / MOST_ACROSS : 1;
    const int across = (panels + down - 1) / down;
    gram_string_add(script, "set multiplot layout %d,%d\n", down, across);
    for (int64_t i = 0; i < terms.count; i++) gram_term_panels_add(script, scene, &terms, i);
    if (terms.count > 0) gram_string_add(script, "unset title\n");
    add_agreement(script, scene);
    gram_string_add(script, "unset title\n");
    add_residuals(script, scene);
    if (left) gram_add_learning_panel(script, left);
    if (count > 0) add_bars(script, bars, count);
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
