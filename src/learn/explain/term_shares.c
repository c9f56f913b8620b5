/* The terms of a sum kernel as parts of the predictions. */
#include <math.h>
#include <string.h>

#include <gram/function.h>

#include "learn/explain/explanation.h"

static void moments(int64_t n, const double *a, const double *b, double *covariance)
{
    double means[2] = {0, 0};
    *covariance = 0;
    for (int64_t i = 0; i < n; i++) means[0] += a[i] / (double)n, means[1] += b[i] / (double)n;
    for (int64_t i = 0; i < n; i++) *covariance += (a[i] - means[0]) * (b[i] - means[1]) / (double)n;
}

static gram_status name_term(gram_explaining *e, int64_t t)
{
    gram_status status = GRAM_OK;
    const gram_kernel *term = gram_kernel_term(gram_function_kernel(gram_model_function(e->model)), t);
    const size_t length = gram_kernel_print(term, NULL, 0);
    char *text = NULL;
    TRY(gram_explain_take(e, (int64_t)length + 1, 1, &text));
    (void)gram_kernel_print(term, text, length + 1);
    e->made->terms[t].kernel = text;
done:
    return status;
}

static gram_status evaluate_terms(gram_explaining *e, const gram_points *points, int64_t count, double *values)
{
    gram_status status = GRAM_OK;
    gram_function *term = NULL;
    for (int64_t t = 0; t < count; t++) {
        TRY(gram_function_term(e->context, gram_model_function(e->model), t, &term));
        TRY(gram_function_evaluate(e->context, term, points, values + t * e->n, 1));
        gram_function_release(term);
        term = NULL;
        for (int64_t i = 0; i < e->n; i++) values[count * e->n + i] += values[t * e->n + i];
    }
done:
    gram_function_release(term);
    return status;
}

gram_status gram_explain_terms(gram_explaining *e)
{
    gram_status status = GRAM_OK;
    gram_arena arena;
    gram_points *points = NULL;
    double *values = NULL, whole = 0;
    const gram_function *function = gram_model_function(e->model);
    const int64_t count = gram_kernel_term_count(gram_function_kernel(function));
    gram_arena_init(&arena, e->made->memory);
    if (!e->is_function || count < 2 || gram_function_outputs(function) != 1) return status;
    TRY(gram_explain_take(e, count, sizeof *e->made->terms, &e->made->terms));
    TRY(gram_arena_take(e->context, &arena, "explain", (count + 1) * e->n, sizeof *values, (void **)&values));
    TRY(gram_points_create_f64(e->context, e->n, e->d, e->x, e->d, &points));
    TRY(evaluate_terms(e, points, count, values));
    moments(e->n, values + count * e->n, values + count * e->n, &whole);
    for (int64_t t = 0; t < count; t++) {
        double variance, with;
        TRY(name_term(e, t));
        moments(e->n, values + t * e->n, values + t * e->n, &variance);
        moments(e->n, values + t * e->n, values + count * e->n, &with);
        e->made->terms[t].std = sqrt(variance);
        e->made->terms[t].share = whole > 0 ? with / whole : NAN;
    }
    e->made->term_count = count;
done:
    gram_points_release(points);
    gram_arena_release(&arena);
    return status;
}
