/* From a model to predictions: the row of its method opens it, and is then asked for values, as often as the caller likes. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sized_struct.h"
#include "learn/estimate/left_out_interval.h"
#include "learn/learn_steps.h"
#include "learn/method_table.h"
#include "points/points.h"

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

static int reconstructs(const gram_method *method, const void *argument)
{
    (void)argument;
    return method->reconstructs;
}

static gram_status check_reconstruction(gram_context *context, const gram_predictor *predictor)
{
    char names[64], advice[96];
    if (!predictor->wish.reconstruct || predictor->method->reconstructs) return GRAM_OK;
    (void)snprintf(advice, sizeof advice, "Models of %s can.",
                   gram_method_list(reconstructs, NULL, " and", names, sizeof names));
    return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, advice,
                               "--reconstruct is not for a model of the method %s",
                               gram_model_method(predictor->model));
}

/* ---- views ---- */

static const gram_function *function_of(const gram_predictor *predictor, int view)
{
    return view == GRAM_VIEW_SECOND ? gram_model_second_function(predictor->model)
                                    : gram_model_function(predictor->model);
}

static int64_t columns_of(const gram_predictor *predictor, int view)
{
    return gram_points_dimension(gram_function_centres(function_of(predictor, view)));
}

/* Columns of one name in both views leave no preparation: rows that are prepared already need none. */
static gram_status join(gram_context *context, gram_predictor *predictor)
{
    gram_preparation *first = gram_model_preparation(predictor->model),
                     *second = gram_model_second_preparation(predictor->model);
    if (!first || !second) return GRAM_OK;
    const gram_status status = gram_preparation_join(context, first, second, &predictor->preparation);
    return status == GRAM_ERROR_ARGUMENT ? GRAM_OK : status;
}

gram_status gram_predictor_check_views(gram_context *context, const gram_predictor *predictor)
{
    char advice[96];
    if (predictor->preparation || predictor->view != GRAM_VIEW_BOTH || !gram_model_preparation(predictor->model))
        return GRAM_OK;
    (void)snprintf(advice, sizeof advice, "Give --view %s or --view %s.", predictor->method->views[0],
                   predictor->method->views[1]);
    return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, advice,
                               "%s has two views with columns of one name, which one table cannot have",
                               predictor->wish.name);
}

/* Which view the rows are of, and what prepares them. */
static gram_status choose_view(gram_context *context, gram_predictor *predictor)
{
    const char *const *names = predictor->method->views, *asked = predictor->wish.view;
    char advice[96];
    if (!names[0] || !gram_model_second_function(predictor->model)) {
        predictor->preparation = gram_preparation_retain(gram_model_preparation(predictor->model));
        return !asked ? GRAM_OK
                      : gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, "Leave it out.",
                                            "--view is not for a model of one view");
    }
    predictor->view = !asked ? GRAM_VIEW_BOTH : strcmp(asked, names[0]) == 0 ? GRAM_VIEW_FIRST : GRAM_VIEW_SECOND;
    (void)snprintf(advice, sizeof advice, "It may be %s or %s.", names[0], names[1]);
    if (predictor->view == GRAM_VIEW_SECOND && strcmp(asked, names[1]) != 0)
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, advice, "--view cannot be '%s'", asked);
    if (predictor->view == GRAM_VIEW_BOTH) return join(context, predictor);
    predictor->preparation =
        gram_preparation_retain(predictor->view == GRAM_VIEW_FIRST ? gram_model_preparation(predictor->model)
                                                                   : gram_model_second_preparation(predictor->model));
    return GRAM_OK;
}

gram_preparation *gram_predictor_preparation(const gram_predictor *predictor)
{
    return predictor->preparation;
}

/* ---- the object ---- */

/* A method without intervals has those of rows that were left out, if the model knows them. */
static gram_status open_method(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    const gram_method *method = predictor->method;
    const double p = predictor->wish.interval;
    const int left_out = p > 0 && !method->intervals && !predictor->wish.std && !predictor->wish.latent &&
                         gram_interval_is_known(predictor->model);
    if (left_out) predictor->wish.interval = 0;
    TRY(method->open ? method->open(context, predictor) : gram_predictor_function(context, predictor));
    predictor->wish.interval = p;
    if (predictor->columns.ld == 0) predictor->columns.ld = predictor->columns.count;
    if (left_out) TRY(gram_interval_open(context, predictor, p));
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
    made->columns.spread = -1;
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
    TRY(gram_method_check_words(context, made->method, model, wish.name));
    made->kinds = (gram_kinds){.column = wish.kind ? wish.kind : gram_kept_text(model, "kind"),
                               .coefficient = gram_kept_text(model, "coefficient"),
                               .operators = gram_kept_text(model, "operator"),
                               .unknowns = gram_kept_text(model, "unknown")};
    TRY(choose_view(context, made));
    TRY(check_reconstruction(context, made));
    TRY(open_method(context, made));
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
    gram_interval_close(predictor);
    gram_preparation_release(predictor->preparation);
    gram_arena_release(&predictor->arena);
    gram_memory_give(memory, predictor);
    gram_memory_release(memory);
}

const gram_columns *gram_predictor_columns(const gram_predictor *predictor)
{
    return &predictor->columns;
}

/* What is shown is finite: otherwise the row is named, by gram_context_place too. */
static gram_status check_finite(gram_context *context, const gram_predictor *predictor, int64_t n, const double *values,
                                int64_t ldv)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < predictor->columns.count; c++) {
            if (isfinite(values[i * ldv + c])) continue;
            (void)gram_fail_place(context, GRAM_ERROR_NUMERICAL, i, -1,
                                  "row %" PRId64 ": the prediction is not a finite number", i + 1);
            return gram_advise(
                context, GRAM_ERROR_NUMERICAL,
                "Its features, or numbers of the model, are too large: leave the row out, or fit again.");
        }
    return GRAM_OK;
}

static int64_t dimension_of(const gram_predictor *predictor)
{
    if (predictor->view != GRAM_VIEW_BOTH) return columns_of(predictor, predictor->view);
    return columns_of(predictor, GRAM_VIEW_FIRST) + columns_of(predictor, GRAM_VIEW_SECOND);
}

/* The functions of the views, side by side. */
static gram_status evaluate_functions(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                                      double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const gram_function *first = function_of(predictor, predictor->view);
    TRY(gram_function_evaluate(context, first, places->points, values, ldv));
    if (places->second)
        TRY(gram_function_evaluate(context, function_of(predictor, GRAM_VIEW_SECOND), places->second,
                                   values + gram_function_outputs(first), ldv));
    if (predictor->wish.terms) TRY(gram_predictor_function_terms(context, predictor, places, values, ldv));
done:
    return status;
}

static gram_status evaluate_method(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                                   double *values, int64_t ldv)
{
    return predictor->method->evaluate ? predictor->method->evaluate(context, predictor, places, values, ldv)
                                       : evaluate_functions(context, predictor, places, values, ldv);
}

static gram_status evaluate_places(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                                   double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    double *inner = NULL;
    if (!predictor->interval) return evaluate_method(context, predictor, places, values, ldv);
    const gram_predictor without = gram_interval_inner(predictor);
    const int64_t ld = without.columns.ld;
    TRY(gram_take(context, "predict", places->n * ld, sizeof *inner, (void **)&inner));
    TRY(evaluate_method(context, &without, places, inner, ld));
    for (int64_t i = 0; i < places->n; i++)
        memcpy(values + i * ldv, inner + i * ld, (size_t)without.columns.count * sizeof *values);
    TRY(gram_interval_fill(context, predictor, places, values, ldv));
done:
    gram_give(context, inner);
    return status;
}

gram_status gram_predictor_evaluate(gram_context *context, const gram_predictor *predictor, int64_t n, const double *x,
                                    const double *weights, double *values, int64_t ldv)
{
    return gram_predictor_evaluate_rows(context, predictor, n, x, weights, 1, values, ldv);
}

gram_status gram_predictor_evaluate_points(gram_context *context, const gram_predictor *predictor,
                                           const gram_points *points, const double *weights, int scored, double *values,
                                           int64_t ldv)
{
    gram_status status = GRAM_OK;
    const gram_places places = {points, points->n, points->d, points->f64, weights, NULL, scored};
    TRY(evaluate_places(context, predictor, &places, values, ldv));
    TRY(check_finite(context, predictor, points->n, values, ldv));
done:
    return status;
}

gram_status gram_predictor_evaluate_stored(gram_context *context, const gram_predictor *predictor,
                                           struct gram_objects *const *objects, int64_t n, const double *x,
                                           const double *weights, int scored, double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const int both = predictor->view == GRAM_VIEW_BOTH;
    const int64_t d = dimension_of(predictor), own = both ? columns_of(predictor, GRAM_VIEW_FIRST) : d;
    gram_points *points = NULL, *second = NULL;
    if (n == 0) return GRAM_OK;
    FAIL_IF(ldv < predictor->columns.ld, context, GRAM_ERROR_ARGUMENT,
            "predictor_evaluate: ldv = %" PRId64 " is less than %" PRId64 " columns", ldv, predictor->columns.ld);
    TRY(gram_points_create_f64(context, n, own, x, d, &points));
    TRY(gram_points_set_objects(context, objects, &points));
    if (both) TRY(gram_points_create_f64(context, n, d - own, x + own, d, &second));
    if (both) TRY(gram_points_set_objects(context, objects ? objects + own : NULL, &second));
    const gram_places places = {points, n, d, x, weights, second, scored};
    TRY(evaluate_places(context, predictor, &places, values, ldv));
    TRY(check_finite(context, predictor, n, values, ldv));
done:
    gram_points_release(points);
    gram_points_release(second);
    return status;
}

gram_status gram_predictor_evaluate_rows(gram_context *context, const gram_predictor *predictor, int64_t n,
                                         const double *x, const double *weights, int scored, double *values,
                                         int64_t ldv)
{
    return gram_predictor_evaluate_stored(context, predictor, NULL, n, x, weights, scored, values, ldv);
}

gram_status gram_predictor_evaluate_prepared(gram_context *context, const gram_predictor *predictor,
                                             const gram_prepared *prepared, const double *weights, double *values,
                                             int64_t ldv)
{
    return gram_predictor_evaluate_stored(context, predictor, prepared->objects, prepared->n, prepared->x, weights, 1,
                                          values, ldv);
}

int gram_model_has_intervals(const gram_model *model)
{
    const gram_method *method = gram_method_of_model(model);
    return method && method->intervals;
}

int gram_model_is_process(const gram_model *model)
{
    const gram_method *method = gram_method_of_model(model);
    return method && method->process;
}

/* ---- all in one ---- */

/* Features as they are become prepared ones. */
static gram_status prepare(gram_context *context, const gram_preparation *preparation, int64_t n, const double *x,
                           int64_t ldx, int64_t d, double *prepared)
{
    gram_status status = GRAM_OK;
    const gram_preparation_description *known = preparation ? gram_preparation_describe(preparation) : NULL;
    for (int64_t f = 0; known && f < known->feature_count; f++)
        FAIL_IF(known->features[f].text, context, GRAM_ERROR_UNSUPPORTED,
                "predict: feature '%s' is text: prepare a table with gram_preparation_apply", known->features[f].name);
    if (preparation)
        gram_preparation_scale(preparation, n, x, ldx, prepared);
    else
        for (int64_t i = 0; i < n; i++) memcpy(prepared + i * d, x + i * ldx, (size_t)d * sizeof *x);
done:
    return status;
}

gram_status gram_predict(gram_context *context, const gram_model *model, const gram_predict_options *options, int64_t n,
                         const double *x, int64_t ldx, double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    gram_predictor *predictor = NULL;
    double *prepared = NULL, *all = NULL;
    int64_t ld = 0, d = 0;
    TRY(gram_predictor_create(context, model, options, &predictor));
    TRY(gram_predictor_check_views(context, predictor));
    ld = predictor->columns.ld;
    d = dimension_of(predictor);
    FAIL_IF(n < 0 || ldx < d || ldv < predictor->columns.count, context, GRAM_ERROR_ARGUMENT,
            "predict: n = %" PRId64 ", ldx = %" PRId64 " of %" PRId64 " features, ldv = %" PRId64 " of %" PRId64
            " columns",
            n, ldx, d, ldv, predictor->columns.count);
    TRY(gram_take(context, "predict: features", n * d, sizeof *prepared, (void **)&prepared));
    TRY(gram_take(context, "predict: values", n * ld, sizeof *all, (void **)&all));
    TRY(prepare(context, predictor->preparation, n, x, ldx, d, prepared));
    TRY(gram_predictor_evaluate(context, predictor, n, prepared, NULL, all, ld));
    for (int64_t i = 0; i < n; i++)
        memcpy(values + i * ldv, all + i * ld, (size_t)predictor->columns.count * sizeof *values);
done:
    gram_give(context, all);
    gram_give(context, prepared);
    gram_predictor_destroy(predictor);
    return status;
}
