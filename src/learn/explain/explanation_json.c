/* An explanation as JSON. */
#include <math.h>

#include "learn/explain/explanation.h"

static void put_features(const gram_explanation *e, gram_json *json)
{
    gram_json_open(json, "importance", '[');
    for (int64_t k = 0; k < e->feature_count; k++) {
        const gram_explained_feature *f = &e->features[k];
        gram_json_open(json, NULL, '{');
        gram_json_string(json, "feature", f->name);
        gram_json_number(json, "value", f->value);
        gram_json_number(json, "se", f->se);
        gram_json_number(json, "share", f->share);
        gram_json_number(json, "share_se", f->share_se);
        gram_json_close(json, '{');
    }
    gram_json_close(json, '[');
}

static void put_dependence(const gram_dependence *d, gram_json *json)
{
    gram_json_open(json, NULL, '{');
    gram_json_string(json, "feature", d->name);
    if (d->levels)
        gram_json_strings(json, "levels", d->places, d->levels);
    else
        gram_json_numbers(json, "at", d->places, d->at, 1);
    gram_json_string(json, "band", d->posterior ? "posterior" : "spread");
    gram_json_open(json, "curves", '[');
    for (int64_t c = 0; c < d->curves; c++) {
        gram_json_open(json, NULL, '{');
        gram_json_string(json, "of", d->names[c]);
        gram_json_numbers(json, "value", d->places, d->value + c, d->curves);
        gram_json_numbers(json, "lower", d->places, d->lower + c, d->curves);
        gram_json_numbers(json, "upper", d->places, d->upper + c, d->curves);
        gram_json_close(json, '{');
    }
    gram_json_close(json, '[');
    gram_json_close(json, '{');
}

static void put_terms(const gram_explanation *e, gram_json *json)
{
    if (e->term_count == 0) return;
    gram_json_open(json, "terms", '[');
    for (int64_t t = 0; t < e->term_count; t++) {
        gram_json_open(json, NULL, '{');
        gram_json_string(json, "kernel", e->terms[t].kernel);
        gram_json_number(json, "std", e->terms[t].std);
        gram_json_number(json, "share", e->terms[t].share);
        gram_json_close(json, '{');
    }
    gram_json_close(json, '[');
}

/* Features of a centre in their own units; of text the level. */
static void put_centre(const gram_explanation *e, const double *x, gram_json *json)
{
    const gram_preparation_description *known = gram_preparation_describe(e->preparation);
    int64_t column = 0;
    gram_json_open(json, "features", '{');
    for (int64_t f = 0; f < known->feature_count; f++) {
        const gram_column *feature = &known->features[f];
        int64_t level = 0;
        if (!feature->text) {
            gram_json_number(json, feature->name, gram_preparation_unit(e->preparation, column, x[column]));
            column++;
            continue;
        }
        while (level < feature->level_count && x[column + level] == 0) level++;
        gram_json_string(json, feature->name, level < feature->level_count ? feature->levels[level] : NULL);
        column += feature->level_count;
    }
    gram_json_close(json, '{');
}

static void put_weights(const gram_explanation *e, gram_json *json)
{
    if (e->row < 0) return;
    gram_json_integer(json, "row", e->row + 1);
    if (e->weight_count == 0) return;
    gram_json_number(json, "function", e->function);
    gram_json_number(json, "constant", e->constant);
    gram_json_string(json, "centres", e->centres);
    gram_json_open(json, "weights", '[');
    for (int64_t k = 0; k < e->weight_count; k++) {
        const gram_row_weight *w = &e->weights[k];
        gram_json_open(json, NULL, '{');
        gram_json_integer(json, "centre", w->centre + 1);
        if (w->row >= 0)
            gram_json_integer(json, "row", w->row + 1);
        else
            gram_json_null(json, "row");
        gram_json_number(json, "part", w->part);
        gram_json_number(json, "kernel", w->kernel);
        gram_json_number(json, "coefficient", w->coefficient);
        put_centre(e, w->x, json);
        gram_json_close(json, '{');
    }
    gram_json_close(json, '[');
}

void gram_explanation_json(const gram_explanation *e, gram_json *json)
{
    gram_json_integer(json, "rows", e->rows);
    gram_json_number(json, "loss", e->loss);
    put_features(e, json);
    if (e->no_shares) gram_json_string(json, "no_shares", e->no_shares);
    gram_json_open(json, "dependence", '[');
    for (int64_t k = 0; k < e->dependence_count; k++) put_dependence(&e->dependences[k], json);
    gram_json_close(json, '[');
    put_terms(e, json);
    put_weights(e, json);
}
