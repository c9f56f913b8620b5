/* From a model to predictions: the row of its method opens it, and is then asked for values, as often as the caller likes. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sized_struct.h"
#include "learn/method_table.h"

void gram_predict_options_init(gram_predict_options *options, size_t size)
{
    const gram_predict_options defaults = {.size = sizeof defaults};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

/* z with P(|Z| <= z) = p for a standard normal Z, by bisection: once for a predictor. */
static double two_sided_quantile(double p)
{
    double low = 0, high = 40;
    while (low < 0.5 * (low + high) && 0.5 * (low + high) < high) {
        const double middle = 0.5 * (low + high);
        if (erf(middle * 0.70710678118654752440) < p)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static gram_status set_wish(gram_context *context, const gram_predict_options *options, gram_predict_options *wish)
{
    gram_status status = GRAM_OK;
    gram_predict_options_init(wish, sizeof *wish);
    TRY(gram_sized_read(context, "predictor_create", "options", "gram_predict_options", options, wish, sizeof *wish));
    if (!wish->dashes) wish->dashes = "";
    if (!wish->who) wish->who = "predict";
    if (!wish->name) wish->name = "the model";
    FAIL_IF(!(wish->interval >= 0 && wish->interval < 1), context, GRAM_ERROR_ARGUMENT,
            "%s: %sinterval = %g is not a probability below 1", wish->who, wish->dashes, wish->interval);
done:
    return status;
}

static int has_intervals(const gram_method *method, const void *argument)
{
    (void)argument;
    return method->intervals;
}

/* A model that is a function and nothing more. */
static gram_status open_function(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    TRY(gram_predictor_refuse(context, predictor, 1, NULL, NULL));
    TRY(gram_predictor_means(context, predictor));
done:
    return status;
}

gram_status gram_predictor_create(gram_context *context, const gram_model *model, const gram_predict_options *options,
                                  gram_predictor **predictor)
{
    gram_status status = GRAM_OK;
    gram_predictor *made = NULL;
    gram_predict_options wish;
    *predictor = NULL;
    TRY(set_wish(context, options, &wish));
    TRY(gram_take(context, "predictor", 1, sizeof *made, (void **)&made));
    *made = (gram_predictor){.memory = gram_memory_retain(context->memory), .model = model, .wish = wish};
    gram_arena_init(&made->arena, made->memory);
    made->columns = (gram_columns){.probability = -1, .score = -1, .std = -1, .lower = -1, .upper = -1, .term = -1};
    made->columns.classes = &made->classes;
    gram_method_list(has_intervals, NULL, " or", made->wiser, sizeof made->wiser);
    made->columns.half_width = two_sided_quantile(wish.interval > 0 ? wish.interval : 0.95);
    made->method = gram_method_of_model(model);
    if (!made->method) {
        status = gram_fail(context, GRAM_ERROR_DATA, "%s: a model of the method '%s' for %s, which is not known",
                           wish.name, gram_model_method(model), gram_model_task(model));
        (void)gram_advise(context, status, "A newer gram may know it.");
        goto done;
    }
    TRY(made->method->open ? made->method->open(context, made) : open_function(context, made));
    if (made->columns.ld == 0) made->columns.ld = made->columns.count;
    *predictor = made;
    made = NULL;
done:
    gram_predictor_destroy(made);
    return status;
}

void gram_predictor_destroy(gram_predictor *predictor)
{
    if (!predictor) return;
    gram_memory *memory = predictor->memory;
    if (predictor->method && predictor->method->close) predictor->method->close(predictor);
    gram_arena_release(&predictor->arena);
    gram_memory_give(memory, predictor);
    gram_memory_release(memory);
}

const gram_columns *gram_predictor_columns(const gram_predictor *predictor)
{
    return &predictor->columns;
}

gram_status gram_predictor_evaluate(gram_context *context, const gram_predictor *predictor, int64_t n, const double *x,
                                    const double *weights, double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const gram_function *function = gram_model_function(predictor->model);
    const int64_t d = gram_points_dimension(gram_function_centres(function));
    gram_points *points = NULL;
    if (n == 0) return GRAM_OK;
    FAIL_IF(ldv < predictor->columns.ld, context, GRAM_ERROR_ARGUMENT,
            "predictor_evaluate: ldv = %" PRId64 " is less than %" PRId64 " columns", ldv, predictor->columns.ld);
    TRY(gram_points_create_f64(context, n, d, x, d, &points));
    const gram_places places = {points, n, d, x, weights};
    TRY(predictor->method->evaluate ? predictor->method->evaluate(context, predictor, &places, values, ldv)
                                    : gram_function_evaluate(context, function, points, values, ldv));
done:
    gram_points_release(points);
    return status;
}

int gram_model_has_intervals(const gram_model *model)
{
    const gram_method *method = gram_method_of_model(model);
    return method && method->intervals;
}

/* ---- all in one ---- */

/* Features as they are become prepared ones. */
static gram_status prepare(gram_context *context, const gram_model *model, int64_t n, const double *x, int64_t ldx,
                           int64_t d, double *prepared)
{
    gram_status status = GRAM_OK;
    const gram_preparation *preparation = gram_model_preparation(model);
    const gram_preparation_description *known = preparation ? gram_preparation_describe(preparation) : NULL;
    for (int64_t f = 0; known && f < known->feature_count; f++)
        FAIL_IF(known->features[f].text, context, GRAM_ERROR_UNSUPPORTED,
                "predict: feature '%s' is text: prepare a table with gram_preparation_apply", known->features[f].name);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < d; l++) {
            const double mean = known ? known->features[l].mean : 0,
                         deviation = known ? known->features[l].deviation : 1;
            prepared[i * d + l] = (x[i * ldx + l] - mean) / deviation;
        }
done:
    return status;
}

gram_status gram_predict(gram_context *context, const gram_model *model, const gram_predict_options *options, int64_t n,
                         const double *x, int64_t ldx, double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    gram_predictor *predictor = NULL;
    const int64_t d = gram_points_dimension(gram_function_centres(gram_model_function(model)));
    double *prepared = NULL, *all = NULL;
    int64_t ld = 0;
    TRY(gram_predictor_create(context, model, options, &predictor));
    ld = predictor->columns.ld;
    FAIL_IF(n < 0 || ldx < d || ldv < predictor->columns.count, context, GRAM_ERROR_ARGUMENT,
            "predict: n = %" PRId64 ", ldx = %" PRId64 " of %" PRId64 " features, ldv = %" PRId64 " of %" PRId64
            " columns",
            n, ldx, d, ldv, predictor->columns.count);
    TRY(gram_take(context, "predict: features", n * d, sizeof *prepared, (void **)&prepared));
    TRY(gram_take(context, "predict: values", n * ld, sizeof *all, (void **)&all));
    TRY(prepare(context, model, n, x, ldx, d, prepared));
    TRY(gram_predictor_evaluate(context, predictor, n, prepared, NULL, all, ld));
    for (int64_t i = 0; i < n; i++)
        memcpy(values + i * ldv, all + i * ld, (size_t)predictor->columns.count * sizeof *values);
done:
    gram_give(context, all);
    gram_give(context, prepared);
    gram_predictor_destroy(predictor);
    return status;
}
