/* Embeddings of samples: functions with the weights as coefficients. */
#include <gram/embedding.h>

#include <math.h>

#include "points/functionals.h"
#include "points/points.h"

static gram_status take_weights(gram_context *context, const char *who, int64_t n, const double *weights, double **out)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "embedding: weights", n, sizeof **out, (void **)out));
    for (int64_t i = 0; i < n; i++) {
        (*out)[i] = weights ? weights[i] : 1 / (double)n;
        FAIL_IF(!isfinite((*out)[i]), context, GRAM_ERROR_DATA, "%s: weights[%lld] is not finite", who, (long long)i);
    }
done:
    return status;
}

gram_status gram_embedding_create(gram_context *context, gram_kernel *kernel, const gram_points *points,
                                  const double *weights, gram_function **embedding)
{
    gram_status status = GRAM_OK;
    double *w = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(gram_points_must_be_plain(context, "embedding_create", points));
    FAIL_IF(!embedding, context, GRAM_ERROR_ARGUMENT, "embedding_create: embedding is NULL");
    *embedding = NULL;
    FAIL_IF(!points, context, GRAM_ERROR_ARGUMENT, "embedding_create: points is NULL");
    TRY(take_weights(context, "embedding_create", points->n, weights, &w));
    TRY(gram_function_create(context, kernel, points, 1, w, 1, NULL, embedding));
done:
    gram_give(context, w);
    return status;
}

gram_status gram_embedding_expectation(gram_context *context, const gram_function *f, const gram_points *points,
                                       const double *weights, double *out)
{
    gram_status status = GRAM_OK;
    double *w = NULL, *values = NULL;
    int64_t n = 0, outputs = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!f || !points || !out, context, GRAM_ERROR_ARGUMENT, "embedding_expectation: %s is NULL",
            !f        ? "f"
            : !points ? "points"
                      : "out");
    n = points->n;
    outputs = gram_function_outputs(f);
    TRY(take_weights(context, "embedding_expectation", n, weights, &w));
    TRY(gram_take(context, "embedding_expectation: values", n * outputs, sizeof *values, (void **)&values));
    TRY(gram_function_evaluate(context, f, points, values, outputs));
    for (int64_t o = 0; o < outputs; o++) {
        out[o] = 0;
        for (int64_t i = 0; i < n; i++) out[o] += w[i] * values[i * outputs + o];
    }
done:
    gram_give(context, w);
    gram_give(context, values);
    return status;
}
