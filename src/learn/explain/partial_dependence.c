/* Partial dependence. For places g of a feature and rows i, c_i(g) is the prediction of row i with the feature set to g; the curve is the mean over i.
 *
 * Band: with a posterior deviation s_i(g) of f, that of the mean is at most the mean of the s_i (whatever their correlation), so +- 2 of that is a band on the
 * safe side. Without one, the deviation over rows of c_i(g) - mean_g c_i: how much the shape differs between rows, which is 0 if the
 * feature does not interact with others. */
#include <math.h>
#include <string.h>

#include "base/order_statistics.h"
#include "base/system/system_call.h"
#include "learn/explain/explanation.h"

enum { MOST_PLACES = 20, MOST_ROWS = 200, MOST_BAND_ROWS = 50, MOST_CURVES = 1000 };

/* What the predictions of one feature's places are made of. */
typedef struct curves {
    gram_predictor *predictor; /* with deviations, if there are */
    int64_t rows, count;       /* that are used; curves */
    double *x, *values, *own;  /* own: rows x places of one curve */
} curves;

/* Which column curve c is, of predictions: -1 - k for the indicator of class k. */
static int64_t column_of(const gram_columns *columns, int64_t c, const double *values)
{
    const int64_t classes = columns->classes->count, class = classes == 2 ? 1 : c;
    int64_t best = 0;
    if (classes > 0)
        return columns->probability >= 0 && !isnan(values[columns->probability]) ? columns->probability + class
                                                                                 : -1 - class;
    for (int64_t k = 1; k < columns->level_count; k++)
        if (fabs(columns->levels[k] - 0.5) < fabs(columns->levels[best] - 0.5)) best = k;
    return best;
}

static double value_of(const double *values, int64_t column)
{
    return column >= 0 ? values[column] : values[0] == (double)(-1 - column);
}

/* ---- places ---- */

static int64_t first_column(const gram_explaining *e, int64_t feature)
{
    int64_t l = 0;
    while (gram_preparation_feature_of(e->made->preparation, l) != feature) l++;
    return l;
}

/* The different values if they are few, else evenly between their 2 % and 98 % quantiles; prepared. Returns how many. */
static gram_status find_places(gram_explaining *e, int64_t column, double *places, int64_t *count)
{
    gram_status status = GRAM_OK;
    double *sorted = NULL;
    int64_t different = 0;
    TRY(gram_take(e->context, "explain", e->n, sizeof *sorted, (void **)&sorted));
    for (int64_t i = 0; i < e->n; i++) sorted[i] = e->x[i * e->d + column];
    gram_sort_numbers(e->n, sorted);
    for (int64_t i = 0; i < e->n; i++) {
        if (i > 0 && sorted[i] == sorted[i - 1]) continue;
        if (different < MOST_PLACES) places[different] = sorted[i];
        different++;
    }
    const double low = sorted[(int64_t)(0.02 * (double)(e->n - 1))],
                 high = sorted[(int64_t)ceil(0.98 * (double)(e->n - 1))];
    for (int64_t g = 0; g < MOST_PLACES && different > MOST_PLACES; g++)
        places[g] = low + (high - low) * (double)g / (MOST_PLACES - 1);
    *count = different < MOST_PLACES ? different : MOST_PLACES;
done:
    gram_give(e->context, sorted);
    return status;
}

static gram_status begin_dependence(gram_explaining *e, const curves *c, int64_t feature, gram_dependence *made,
                                    double *places)
{
    gram_status status = GRAM_OK;
    const gram_column *column = &gram_preparation_describe(e->made->preparation)->features[feature];
    double *numbers[4];
    *made =
        (gram_dependence){.feature = feature, .name = column->name, .curves = c->count, .places = column->level_count};
    if (column->text)
        made->levels = column->levels;
    else
        TRY(find_places(e, first_column(e, feature), places, &made->places));
    for (int k = 0; k < 4; k++)
        TRY(gram_explain_take(e, made->places * (k > 0 ? c->count : 1), sizeof(double), &numbers[k]));
    for (int64_t g = 0; g < made->places; g++)
        numbers[0][g] =
            column->text ? (double)g : gram_preparation_unit(e->made->preparation, first_column(e, feature), places[g]);
    made->at = numbers[0], made->value = numbers[1], made->lower = numbers[2], made->upper = numbers[3];
done:
    return status;
}

/* Rows that are spread over those that are looked at, with the feature set to place g. */
static void set_place(const gram_explaining *e, const curves *c, const gram_dependence *made, double place, int64_t g)
{
    int64_t level = 0;
    for (int64_t i = 0; i < c->rows; i++)
        memcpy(c->x + i * e->d, e->x + i * e->n / c->rows * e->d, (size_t)e->d * sizeof *c->x);
    for (int64_t l = 0; l < e->d; l++) {
        if (gram_preparation_feature_of(e->made->preparation, l) != made->feature) continue;
        const double value = made->levels ? (double)(level++ == g) : place;
        for (int64_t i = 0; i < c->rows; i++) c->x[i * e->d + l] = value;
    }
}

/* ---- curves ---- */

static gram_status predict_places(gram_explaining *e, curves *c, const gram_dependence *made, const double *places)
{
    gram_status status = GRAM_OK;
    const int64_t ld = gram_predictor_columns(c->predictor)->ld;
    for (int64_t g = 0; g < made->places; g++) {
        set_place(e, c, made, made->levels ? 0 : places[g], g);
        TRY(gram_predictor_evaluate_rows(e->context, c->predictor, c->rows, c->x, NULL, 0, c->values + g * c->rows * ld,
                                         ld));
    }
done:
    return status;
}

/* How far rows' own curves are from the mean curve in shape. */
static double spread_at(const curves *c, const gram_dependence *made, int64_t g)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < c->rows; i++) {
        const double *own = c->own + i * made->places;
        double mean = 0;
        for (int64_t h = 0; h < made->places; h++) mean += own[h] / (double)made->places;
        sum += own[g] - mean;
        squares += (own[g] - mean) * (own[g] - mean);
    }
    const double variance = (squares - sum * sum / (double)c->rows) / (double)c->rows;
    return variance > 0 ? sqrt(variance) : 0;
}

static void draw_curve(const curves *c, gram_dependence *made, int64_t curve)
{
    const gram_columns *columns = gram_predictor_columns(c->predictor);
    const int64_t column = column_of(columns, curve, c->values);
    const int classes = columns->classes->count > 0;
    double *value = (double *)made->value, *lower = (double *)made->lower, *upper = (double *)made->upper;
    for (int64_t g = 0; g < made->places; g++)
        for (int64_t i = 0; i < c->rows; i++)
            c->own[i * made->places + g] = value_of(c->values + (g * c->rows + i) * columns->ld, column);
    for (int64_t g = 0; g < made->places; g++) {
        double mean = 0, deviation = 0;
        for (int64_t i = 0; i < c->rows; i++) {
            mean += c->own[i * made->places + g] / (double)c->rows;
            if (columns->std >= 0)
                deviation += 2 * c->values[(g * c->rows + i) * columns->ld + columns->std] / (double)c->rows;
        }
        if (columns->std < 0) deviation = spread_at(c, made, g);
        value[g * made->curves + curve] = mean;
        lower[g * made->curves + curve] = classes ? fmax(mean - deviation, 0) : mean - deviation;
        upper[g * made->curves + curve] = classes ? fmin(mean + deviation, 1) : mean + deviation;
    }
    made->posterior = columns->std >= 0;
}

static gram_status one_feature(gram_explaining *e, curves *c, int64_t feature, gram_dependence *made)
{
    gram_status status = GRAM_OK;
    gram_arena arena;
    double places[MOST_PLACES];
    const int64_t ld = gram_predictor_columns(c->predictor)->ld;
    gram_arena_init(&arena, e->made->memory);
    TRY(begin_dependence(e, c, feature, made, places));
    TRY(gram_arena_take(e->context, &arena, "explain", made->places * c->rows * ld, sizeof *c->values,
                        (void **)&c->values));
    TRY(gram_arena_take(e->context, &arena, "explain", made->places * c->rows, sizeof *c->own, (void **)&c->own));
    TRY(gram_arena_take(e->context, &arena, "explain", c->rows * e->d, sizeof *c->x, (void **)&c->x));
    TRY(predict_places(e, c, made, places));
    for (int64_t k = 0; k < c->count; k++) draw_curve(c, made, k);
done:
    gram_arena_release(&arena);
    return status;
}

/* Names of curves: classes, or the target. */
static gram_status name_curves(gram_explaining *e, const curves *c, const char *const **names)
{
    gram_status status = GRAM_OK;
    const gram_classes *classes = gram_predictor_columns(e->predictor)->classes;
    const gram_preparation_description *known = gram_preparation_describe(e->made->preparation);
    const char **made = NULL;
    TRY(gram_explain_take(e, c->count, sizeof *made, &made));
    for (int64_t k = 0; k < c->count; k++) {
        const char *name = classes->count > 0        ? classes->names[classes->count == 2 ? 1 : k]
                           : known->target_count > 0 ? known->targets[0].name
                                                     : "prediction";
        char *copy = NULL;
        TRY(gram_explain_take(e, (int64_t)strlen(name) + 1, 1, &copy));
        memcpy(copy, name, strlen(name));
        made[k] = copy;
    }
    *names = made;
done:
    return status;
}

static gram_status open_curves(gram_explaining *e, curves *c)
{
    gram_status status = GRAM_OK;
    gram_predict_options wish;
    const gram_classes *classes = gram_predictor_columns(e->predictor)->classes;
    const int bands =
        classes->count == 0 && gram_model_has_intervals(e->model) && gram_predictor_columns(e->predictor)->outputs == 1;
    gram_predict_options_init(&wish, sizeof wish);
    wish.std = wish.latent = bands;
    TRY(gram_predictor_create(e->context, e->model, &wish, &c->predictor));
    c->count = classes->count > 2 ? classes->count : 1;
    c->rows = bands ? MOST_BAND_ROWS : MOST_ROWS;
    if (c->rows > e->n) c->rows = e->n;
done:
    return status;
}

gram_status gram_explain_dependences(gram_explaining *e)
{
    gram_status status = GRAM_OK;
    curves c = {0};
    const char *const *names = NULL;
    if (e->made->dependence_count == 0) return status;
    TRY(open_curves(e, &c));
    TRY(name_curves(e, &c, &names));
    for (int64_t k = 0; k < e->made->dependence_count; k++) {
        const int64_t feature = e->made->dependences[k].feature; /* that was chosen */
        TRY(gram_pulse(e->context, "dependence", (double)k / (double)e->made->dependence_count));
        TRY(one_feature(e, &c, feature, &e->made->dependences[k]));
        e->made->dependences[k].names = names;
    }
done:
    gram_predictor_destroy(c.predictor);
    return status;
}
