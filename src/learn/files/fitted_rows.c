/* What a model says of the rows that it was learnt from, one view or two. */
#include <string.h>

#include "learn/learn_steps.h"
#include "learn/learner.h"

/* The stores of two views side by side, borrowed; NULL if both have numbers only. */
static gram_status joint_stores(gram_context *context, const gram_prepared *a, const gram_prepared *b,
                                struct gram_objects ***stores)
{
    gram_status status = GRAM_OK;
    if (!a->objects && !b->objects) return status;
    TRY(gram_take(context, "learner_fitted", a->d + b->d, sizeof **stores, (void **)stores));
    for (int64_t l = 0; l < a->d + b->d; l++)
        (*stores)[l] = l < a->d ? (a->objects ? a->objects[l] : NULL) : b->objects ? b->objects[l - a->d] : NULL;
done:
    return status;
}

/* The first columns of the model's predictions at the rows; count 0: all. */
static gram_status predict_rows(gram_context *context, const gram_learning *learning, const gram_model *model,
                                int64_t count, double *f, int64_t ldf)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = learning->data;
    gram_predictor *predictor = NULL;
    double *values = NULL, *joint = NULL;
    struct gram_objects **stores = NULL;
    if (learning->second.data) {
        TRY(gram_learning_joint_rows(context, learning, &joint));
        TRY(joint_stores(context, data, learning->second.data, &stores));
    }
    TRY(gram_predictor_create(context, model, NULL, &predictor));
    const int64_t ld = gram_predictor_columns(predictor)->ld;
    if (count == 0) count = gram_predictor_columns(predictor)->count;
    TRY(gram_take(context, "learner_fitted", data->n, (size_t)ld * sizeof *values, (void **)&values));
    if (learning->functionals)
        TRY(gram_predictor_evaluate_points(context, predictor, learning->points, data->weights, 1, values, ld));
    else
        TRY(gram_predictor_evaluate_stored(context, predictor, stores ? stores : data->objects, data->n,
                                           joint ? joint : data->x, data->weights, 1, values, ld));
    for (int64_t i = 0; i < data->n; i++) memcpy(f + i * ldf, values + i * ld, (size_t)count * sizeof *f);
done:
    gram_give(context, joint);
    gram_give(context, stores);
    gram_give(context, values);
    gram_predictor_destroy(predictor);
    return status;
}

gram_status gram_learner_fitted(gram_context *context, gram_learner *learner, const gram_model *model, double *f,
                                const char **what)
{
    gram_status status = GRAM_OK;
    gram_learning *learning = &learner->learning;
    FAIL_IF(!learner->has_learnt, context, GRAM_ERROR_ARGUMENT, "learner_fitted: it has not learnt");
    FAIL_IF(!learning->data, context, GRAM_ERROR_ARGUMENT, "learner_fitted: it has learnt from sums, not from rows");
    *what = "fitted value";
    if (!learning->method->fitted || !learning->own) /* of cells each part had its own */
        return predict_rows(context, learning, model, 1, f, 1);
    learning->context = context;
    status = learning->method->fitted(learning, f, what);
    learning->context = NULL;
done:
    return status;
}

gram_status gram_learner_values(gram_context *context, gram_learner *learner, const gram_model *model, double *values,
                                int64_t ldv)
{
    gram_status status = GRAM_OK;
    gram_learning *learning = &learner->learning;
    FAIL_IF(!learner->has_learnt, context, GRAM_ERROR_ARGUMENT, "learner_values: it has not learnt");
    FAIL_IF(!learning->data, context, GRAM_ERROR_ARGUMENT, "learner_values: it has learnt from sums, not from rows");
    if (!learning->method->values || !learning->own) return predict_rows(context, learning, model, 0, values, ldv);
    learning->context = context;
    status = learning->method->values(learning, values, ldv);
    learning->context = NULL;
done:
    return status;
}
