/* Derivative-based shares (Sobol and Kucherenko 2009): with A_i = sum_l Var(x_l) (df/dx_l)^2 at row i and a_i the part of it that is of one feature,
 *
 *     share = mean a/mean A,   se = deviation of (a - share A)/(sqrt(n) mean A).
 *
 * For a linear function of independent columns it is the share of its variance. Of the levels of a text it is the derivative by each 0/1 column. */
#include <math.h>
#include <string.h>

#include <gram/function.h>

#include "learn/explain/explanation.h"

static void find_variances(const gram_explaining *e, double *variance)
{
    for (int64_t l = 0; l < e->d; l++) {
        double mean = 0, squares = 0;
        for (int64_t i = 0; i < e->n; i++) mean += e->x[i * e->d + l] / (double)e->n;
        for (int64_t i = 0; i < e->n; i++) squares += (e->x[i * e->d + l] - mean) * (e->x[i * e->d + l] - mean);
        variance[l] = squares / (double)e->n;
    }
}

/* parts[i * features + f] += Var(x_l) (df/dx_l)^2 for all outputs of the function. */
static gram_status add_outputs(gram_explaining *e, const gram_points *points, const double *variance, double *gradient,
                               double *parts)
{
    gram_status status = GRAM_OK;
    const gram_function *function = gram_model_function(e->model);
    const int64_t features = e->made->feature_count;
    for (int64_t o = 0; o < gram_function_outputs(function); o++) {
        TRY(gram_function_gradient(e->context, function, o, points, gradient, e->d));
        for (int64_t i = 0; i < e->n; i++)
            for (int64_t l = 0; l < e->d; l++) {
                const double slope = gradient[i * e->d + l];
                parts[i * features + gram_preparation_feature_of(e->made->preparation, l)] +=
                    variance[l] * slope * slope;
            }
    }
done:
    return status;
}

static void find_shares(gram_explaining *e, const double *parts)
{
    const int64_t features = e->made->feature_count;
    double whole = 0;
    for (int64_t i = 0; i < e->n * features; i++) whole += parts[i] / (double)e->n;
    for (int64_t f = 0; f < features; f++) {
        double mean = 0, squares = 0;
        for (int64_t i = 0; i < e->n; i++) mean += parts[i * features + f] / (double)e->n;
        const double share = whole > 0 ? mean / whole : NAN;
        for (int64_t i = 0; i < e->n; i++) {
            double all = 0;
            for (int64_t g = 0; g < features; g++) all += parts[i * features + g];
            const double off = parts[i * features + f] - share * all;
            squares += off * off;
        }
        e->made->features[f].share = share;
        e->made->features[f].share_se =
            whole > 0 && e->n > 1 ? sqrt(squares / (double)(e->n - 1) / (double)e->n) / whole : NAN;
    }
}

/* A function that is 0 holds the kernel only: the model predicts by other means. */
static int is_nothing(const gram_function *function)
{
    const int64_t count = gram_points_count(gram_function_centres(function)) * gram_function_outputs(function);
    for (int64_t i = 0; i < count; i++)
        if (gram_function_coefficients(function)[i] != 0) return 0;
    return gram_function_slopes(function) == NULL;
}

gram_status gram_explain_derivatives(gram_explaining *e)
{
    gram_status status = GRAM_OK;
    gram_arena arena;
    gram_points *points = NULL;
    double *variance = NULL, *gradient = NULL, *parts = NULL;
    gram_arena_init(&arena, e->made->memory);
    for (int64_t f = 0; f < e->made->feature_count; f++)
        e->made->features[f].share = e->made->features[f].share_se = NAN;
    const int classes = gram_predictor_columns(e->predictor)->classes->count > 0;
    e->made->no_shares = "predictions are not the values of one function";
    if (classes ? is_nothing(gram_model_function(e->model)) : !e->is_function) return status;
    TRY(gram_arena_take(e->context, &arena, "explain", e->d, sizeof *variance, (void **)&variance));
    TRY(gram_arena_take(e->context, &arena, "explain", e->n * e->d, sizeof *gradient, (void **)&gradient));
    TRY(gram_arena_take(e->context, &arena, "explain", e->n * e->made->feature_count, sizeof *parts, (void **)&parts));
    TRY(gram_points_create_f64(e->context, e->n, e->d, e->x, e->d, &points));
    find_variances(e, variance);
    status = add_outputs(e, points, variance, gradient, parts);
    if (status == GRAM_ERROR_UNSUPPORTED) {
        e->made->no_shares = "the kernel has no derivative";
        status = GRAM_OK;
        goto done;
    }
    if (status < 0) goto done;
    e->made->no_shares = NULL;
    find_shares(e, parts);
done:
    gram_points_release(points);
    gram_arena_release(&arena);
    return status;
}
