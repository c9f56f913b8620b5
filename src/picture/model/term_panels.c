#include "picture/model/term_panels.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernel/kernel.h"

enum { GRID = 200, MOST_PANELS = 10 };
enum { NO_COLUMN = -1, MANY_COLUMNS = -2 };

/* ---- which ---- */

static int64_t either(int64_t a, int64_t b)
{
    if (a == NO_COLUMN || a == b) return b;
    return b == NO_COLUMN ? a : MANY_COLUMNS;
}

/* The one column of d that a part of the kernel sees. */
static int64_t column_of(const gram_kernel *kernel, int64_t d)
{
    int64_t found = NO_COLUMN;
    if (kernel->node == GRAM_NODE_LEAF)
        return kernel->type->form == GRAM_FORM_NONE ? NO_COLUMN : d == 1 ? 0 : MANY_COLUMNS;
    if (kernel->node == GRAM_NODE_WARP) return MANY_COLUMNS;
    if (kernel->node == GRAM_NODE_ON) {
        const int64_t inside = column_of(kernel->children[0], kernel->column_count);
        return inside >= 0 ? kernel->columns[inside] : inside;
    }
    for (int i = 0; i < kernel->child_count; i++) found = either(found, column_of(kernel->children[i], d));
    return found;
}

static gram_status choose_terms(gram_context *context, const gram_scene *scene, gram_picture *picture,
                                gram_term_panels *panels)
{
    gram_status status = GRAM_OK;
    const gram_kernel *kernel = gram_scene_kernel(scene);
    const int64_t d = gram_scene_dimension(scene->model), all = gram_kernel_term_count(kernel);
    int64_t *terms = NULL, *features;
    if (d < 2 || all < 2 || !scene->least) goto done;
    TRY(gram_picture_take(context, picture, 2 * MOST_PANELS, sizeof *terms, (void **)&terms));
    features = terms + MOST_PANELS;
    for (int64_t t = 0; t < all && panels->count < MOST_PANELS; t++) {
        const int64_t column = column_of(gram_kernel_term(kernel, t), d);
        if (column < 0 || !(scene->least[column] < scene->most[column])) continue;
        terms[panels->count] = t;
        features[panels->count++] = column;
    }
    if (panels->count < 2) panels->count = 0;
    panels->terms = terms;
    panels->features = features;
done:
    return status;
}

/* ---- values ---- */

/* Each term sees its own column only, so all columns go from their least to their greatest together. */
static gram_status evaluate(gram_context *context, const gram_scene *scene, gram_picture *picture,
                            gram_term_panels *panels)
{
    gram_status status = GRAM_OK;
    const gram_preparation *preparation = gram_model_preparation(scene->model);
    const int64_t d = gram_preparation_dimension(preparation), ld = panels->columns->ld;
    double *prepared = NULL;
    TRY(gram_picture_take(context, picture, GRID * (2 * d + ld), sizeof *prepared, (void **)&prepared));
    panels->x = prepared + GRID * d;
    panels->values = panels->x + GRID * d;
    for (int i = 0; i < GRID; i++)
        for (int64_t l = 0; l < d; l++) {
            const double share = (double)i / (GRID - 1);
            prepared[i * d + l] = (1 - share) * scene->least[l] + share * scene->most[l];
            panels->x[i * d + l] = gram_preparation_unit(preparation, l, prepared[i * d + l]);
        }
    TRY(gram_predictor_evaluate(context, panels->predictor, GRID, prepared, NULL, panels->values, ld));
done:
    return status;
}

gram_status gram_term_panels_find(gram_context *context, const gram_scene *scene, gram_picture *picture,
                                  gram_term_panels *panels)
{
    gram_status status = GRAM_OK;
    *panels = (gram_term_panels){.count = 0};
    TRY(choose_terms(context, scene, picture, panels));
    if (panels->count == 0) goto done;
    status = gram_scene_predictor(context, scene, 0, 1, &panels->predictor);
    if (status == GRAM_ERROR_ARGUMENT || status == GRAM_ERROR_UNSUPPORTED) { /* a method that does not tell its terms */
        panels->count = 0;
        return GRAM_OK;
    }
    TRY(status);
    panels->columns = gram_predictor_columns(panels->predictor);
    const char *second = panels->columns->names[panels->columns->term + 1];
    panels->banded = strstr(second, "_std") != NULL;
    panels->stride = panels->banded ? 2 : 1;
    TRY(evaluate(context, scene, picture, panels));
done:
    return status;
}

void gram_term_panels_end(gram_term_panels *panels)
{
    gram_predictor_destroy(panels->predictor);
}

/* ---- the script ---- */

/* Block `$termI`: x, lower, upper, middle. */
static void add_block(gram_string *script, const gram_term_panels *panels, int64_t i, int64_t d)
{
    double x[GRID], lower[GRID], upper[GRID], middle[GRID];
    char name[32];
    for (int k = 0; k < GRID; k++) {
        const double *at =
            panels->values + k * panels->columns->ld + panels->columns->term + panels->stride * panels->terms[i];
        const double half = panels->banded ? panels->columns->half_width * at[1] : 0;
        x[k] = panels->x[k * d + panels->features[i]];
        middle[k] = at[0];
        lower[k] = at[0] - half;
        upper[k] = at[0] + half;
    }
    (void)snprintf(name, sizeof name, "term%" PRId64, i);
    gram_script_block(script, name, GRID, 4, (const double *[]){x, lower, upper, middle}, NULL);
    gram_script_range(script, "x", x[0], x[GRID - 1]);
    gram_script_few_tics(script, "x", x[0], x[GRID - 1]);
}

void gram_term_panels_add(gram_string *script, const gram_scene *scene, const gram_term_panels *panels, int64_t i)
{
    const int64_t feature = panels->features[i];
    add_block(script, panels, i, gram_preparation_dimension(gram_model_preparation(scene->model)));
    gram_script_label(script, "x", "", gram_scene_features(scene)[feature].name);
    gram_script_label(script, "y", "component of", gram_scene_features(scene)[feature].name);
    gram_string_add(script, "set autoscale y\nset title ");
    gram_script_heading(script, gram_kernel_term(gram_scene_kernel(scene), panels->terms[i]), "");
    gram_string_add(script, "\nunset key\nplot ");
    if (panels->banded)
        gram_string_add(script, "$term%" PRId64 " using 1:2:3 with filledcurves fc rgb '" GRAM_BAND_COLOUR "', ", i);
    gram_string_add(script, "$term%" PRId64 " using 1:4 with lines lw 2 lc rgb '" GRAM_CURVE_COLOUR "'\n", i);
}
