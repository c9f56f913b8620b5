/* Monotone and convex fits: slopes, or second derivatives, of one sign at some places.
 *
 * Constraints at finitely many places are what a computer can ask for. With one feature they are spread evenly over its range,
 * closer than f can bend where the kernel is wider than their distance; with several they are at rows of the data, evenly chosen. */
#include "method/loss/loss_shape.h"

#include <math.h>
#include <string.h>

#include "points/functionals.h"

enum { ON_A_LINE = 60, AT_ROWS = 150 }; /* places, if nobody says how many */

static const char *const NAMES[] = {"increasing", "decreasing", "convex", "concave"};
enum { SHAPES = sizeof NAMES / sizeof *NAMES };

static const char *list_of(const gram_shape_settings *own, int shape)
{
    const char *const lists[SHAPES] = {own->increasing, own->decreasing, own->convex, own->concave};
    return lists[shape];
}

int gram_shape_is_given(const gram_learning *learning)
{
    for (int i = 0; i < SHAPES; i++)
        if (gram_given_text(learning, NAMES[i])) return 1;
    return 0;
}

void gram_shape_keep(gram_keeper *keeper, const gram_shape_settings *own)
{
    for (int i = 0; i < SHAPES; i++)
        if (list_of(own, i)) gram_keep_text(keeper, NAMES[i], list_of(own, i));
}

int64_t gram_shape_most_rows(const gram_learning *learning, const gram_shape_settings *own)
{
    int64_t count = learning->senses ? learning->data->n : learning->n;
    for (int i = 0; i < SHAPES; i++) {
        if (!list_of(own, i)) continue;
        int64_t names = 1;
        for (const char *at = list_of(own, i); *at; at++) names += *at == ',';
        if (strcmp(list_of(own, i), "all") == 0 && learning->data) names = learning->data->d;
        count += names * (own->rows > 0 ? own->rows : AT_ROWS);
    }
    return count;
}

/* ---- places ---- */

/* Where constraints are asked for: count x d. */
typedef struct places {
    int64_t count;
    double *x;
} places;

static void range_of(const gram_prepared *data, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int64_t i = 0; i < data->n; i++) {
        *low = fmin(*low, data->x[i]);
        *high = fmax(*high, data->x[i]);
    }
}

static gram_status choose_places(gram_learning *learning, int64_t asked, places *out)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = learning->data;
    const int64_t d = data->d;
    double low, high;
    out->count = asked > 0 ? asked : d == 1 ? ON_A_LINE : data->n < AT_ROWS ? data->n : AT_ROWS;
    if (d > 1 && out->count > data->n) out->count = data->n;
    TRY(gram_learning_take(learning, out->count * d, sizeof *out->x, &out->x));
    range_of(data, &low, &high);
    for (int64_t i = 0; i < out->count; i++) {
        if (d == 1)
            out->x[i] = out->count > 1 ? low + (high - low) * (double)i / (double)(out->count - 1) : (low + high) / 2;
        else
            memcpy(out->x + i * d, data->x + i * data->n / out->count * d, (size_t)d * sizeof *out->x);
    }
done:
    return status;
}

/* ---- rows ---- */

static gram_status check_numbers(gram_learning *learning, int shape, int64_t count, const int64_t *columns)
{
    const gram_preparation *preparation = learning->preparation;
    const gram_column *features = gram_preparation_describe(preparation)->features;
    for (int64_t j = 0; j < count; j++) {
        const gram_column *feature = &features[gram_preparation_feature_of(preparation, columns[j])];
        if (feature->text)
            return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Name features that are numbers.",
                                      "--%s: '%.80s' is text, which has no order", NAMES[shape], feature->name);
    }
    return GRAM_OK;
}

/* Terms of one shape for all its columns and places, from number `at` on; counts only while terms is NULL. */
static gram_status add_shape(gram_learning *learning, const gram_shape_settings *own, int shape, const places *where,
                             gram_functional_term *terms, gram_row_sense *senses, int64_t *at)
{
    gram_status status = GRAM_OK;
    const int64_t d = learning->data->d;
    int64_t count, *columns;
    double *along;
    if (!list_of(own, shape)) return GRAM_OK;
    TRY(gram_learning_features(learning, NAMES[shape], list_of(own, shape), &count, &columns));
    TRY(check_numbers(learning, shape, count, columns));
    for (int64_t j = 0; j < count; j++) {
        TRY(gram_learning_take(learning, d, sizeof *along, &along));
        along[columns[j]] = 1;
        for (int64_t i = 0; i < where->count; i++, (*at)++) {
            if (!terms) continue;
            terms[*at] = (gram_functional_term){.row = *at,
                                                .kind = shape < 2 ? GRAM_FUNCTIONAL_SLOPE : GRAM_FUNCTIONAL_CURVATURE,
                                                .coefficient = 1,
                                                .at = where->x + i * d,
                                                .first = along,
                                                .second = along};
            senses[*at] = shape % 2 ? GRAM_ROW_AT_MOST : GRAM_ROW_AT_LEAST;
        }
    }
done:
    return status;
}

/* The constraints of the options as points; NULL: there are none. */
static gram_status make_constraints(gram_learning *learning, const gram_shape_settings *own, gram_points **points,
                                    gram_row_sense **senses)
{
    gram_status status = GRAM_OK;
    places where = {0};
    gram_functional_term *terms = NULL;
    int64_t count = 0, at = 0;
    *points = NULL;
    if (!gram_shape_is_given(learning)) return GRAM_OK;
    TRY(choose_places(learning, own->rows, &where));
    for (int i = 0; i < SHAPES; i++) TRY(add_shape(learning, own, i, &where, NULL, NULL, &count));
    TRY(gram_learning_take(learning, count, sizeof *terms, &terms));
    TRY(gram_learning_take(learning, count, sizeof **senses, senses));
    for (int i = 0; i < SHAPES; i++) TRY(add_shape(learning, own, i, &where, terms, *senses, &at));
    TRY(gram_points_create_functionals(learning->context, count, learning->data->d, count, terms, points));
done:
    return status;
}

/* ---- all rows ---- */

/* The rows that are data. */
static gram_status gather_data(gram_learning *learning, gram_shaped *s)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = learning->data;
    int64_t *rows, *groups, count = 0;
    double *y, *weights;
    s->data_y = data->y;
    s->data_weights = data->weights;
    s->data_groups = learning->groups;
    if (!learning->senses) {
        s->data = gram_points_retain(learning->points);
        return GRAM_OK;
    }
    TRY(gram_learning_take(learning, data->n, sizeof *rows, &rows));
    TRY(gram_learning_take(learning, data->n, sizeof *groups, &groups));
    TRY(gram_learning_take(learning, data->n, sizeof *y, &y));
    TRY(gram_learning_take(learning, data->n, sizeof *weights, &weights));
    for (int64_t i = 0; i < data->n; i++) {
        if (learning->senses[i] != GRAM_ROW_FITTED) continue;
        y[count] = data->y[i];
        weights[count] = data->weights ? data->weights[i] : 1;
        if (learning->groups) groups[count] = learning->groups[i];
        rows[count++] = i;
    }
    if (count == 0)
        return gram_learning_fail_data(learning, "Give rows of data too, such as kind value.",
                                       "all rows are constraints, none is to be fitted");
    s->data_y = y;
    if (data->weights) s->data_weights = weights;
    if (learning->groups) s->data_groups = groups;
    TRY(gram_points_gather(learning->context, learning->points, count, rows, &s->data));
done:
    return status;
}

static gram_status join(gram_learning *learning, const gram_points *more, const gram_row_sense *senses, gram_shaped *s)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = learning->data;
    const int64_t n = data->n, all = n + more->n;
    gram_row_sense *joined;
    double *y, *weights;
    TRY(gram_learning_take(learning, all, sizeof *joined, &joined));
    TRY(gram_learning_take(learning, all, sizeof *y, &y));
    TRY(gram_learning_take(learning, all, sizeof *weights, &weights));
    for (int64_t i = 0; i < all; i++) {
        y[i] = i < n ? data->y[i] : 0;
        weights[i] = i < n && data->weights ? data->weights[i] : 1;
        joined[i] = i >= n ? senses[i - n] : learning->senses ? learning->senses[i] : GRAM_ROW_FITTED;
    }
    TRY(gram_functionals_join(learning->context, learning->points, more, &s->points));
    s->y = y;
    s->weights = data->weights ? weights : NULL;
    s->senses = joined;
done:
    return status;
}

gram_status gram_shape_make(gram_learning *learning, const gram_shape_settings *own, gram_shaped *shaped)
{
    gram_status status = GRAM_OK;
    gram_points *more = NULL;
    gram_row_sense *senses = NULL;
    *shaped = (gram_shaped){.y = learning->data->y, .weights = learning->data->weights, .senses = learning->senses};
    TRY(gather_data(learning, shaped));
    TRY(make_constraints(learning, own, &more, &senses));
    if (more)
        TRY(join(learning, more, senses, shaped));
    else
        shaped->points = gram_points_retain(learning->points);
done:
    gram_points_release(more);
    return status;
}

void gram_shape_free(gram_shaped *shaped)
{
    gram_points_release(shaped->points);
    gram_points_release(shaped->data);
}
