/* Permutation importance (Breiman 2001; Fisher, Rudin, Dominici 2019) on rows that the fit has not seen: the values of one feature are
 * shuffled among the left-out rows of a fit, all its levels together if it is text, and the rise of the loss is what the fit owes to it.
 * Lengths of a kernel say no such thing: a column of noise may have a shorter one than a column that matters along a straight line.
 * Features that tell the same share what they are worth between them. */
#include "learn/estimate/feature_importance.h"

#include <math.h>
#include <string.h>

#include <gram/random.h>

enum { MOST_FEATURES = 100, MOST_ROWS = 500, SHUFFLE_STREAM = 0x73687566 };

int64_t gram_importance_features(const gram_left_out *out)
{
    const gram_preparation *preparation = out->whole->preparation;
    if (out->whole->data->first) return 0; /* columns of the rows of bags */
    return preparation ? gram_preparation_describe(preparation)->feature_count : 0;
}

gram_status gram_importance_begin(gram_left_out *out)
{
    gram_status status = GRAM_OK;
    const int64_t features = gram_importance_features(out);
    if (out->rises || features < 2 || features > MOST_FEATURES) return status;
    TRY(gram_arena_take(out->whole->context, &out->arena, "importance", out->n * features, sizeof *out->rises,
                        (void **)&out->rises));
    for (int64_t i = 0; i < out->n * features; i++) out->rises[i] = NAN;
done:
    return status;
}

/* x with the columns of one feature taken from other rows. */
static void shuffle(const gram_left_out *out, int64_t feature, int64_t count, const int64_t *order, const double *x,
                    double *shuffled)
{
    const int64_t d = out->whole->data->d;
    memcpy(shuffled, x, (size_t)(count * d) * sizeof *x);
    for (int64_t j = 0; j < d; j++) {
        if (gram_preparation_feature_of(out->whole->preparation, j) != feature) continue;
        for (int64_t i = 0; i < count; i++) shuffled[i * d + j] = x[order[i] * d + j];
    }
}

gram_status gram_importance_add(gram_left_out *out, const gram_predictor *predictor, int64_t count, const int64_t *rows,
                                const double *x)
{
    gram_status status = GRAM_OK;
    gram_context *context = out->whole->context;
    const int64_t features = gram_importance_features(out), used = count < MOST_ROWS ? count : MOST_ROWS,
                  d = out->whole->data->d;
    const gram_columns *columns = gram_predictor_columns(predictor);
    double *shuffled = NULL, *values = NULL, *row = NULL;
    int64_t *order = NULL;
    if (features < 2 || features > MOST_FEATURES || used < 2) return status;
    TRY(gram_importance_begin(out));
    TRY(gram_take(context, "importance", used * d, sizeof *shuffled, (void **)&shuffled));
    TRY(gram_take(context, "importance", used * columns->ld, sizeof *values, (void **)&values));
    TRY(gram_take(context, "importance", out->ld, sizeof *row, (void **)&row));
    TRY(gram_take(context, "importance", used, sizeof *order, (void **)&order));
    for (int64_t f = 0; f < features; f++) {
        gram_random_permutation((gram_random){gram_context_seed(context), SHUFFLE_STREAM}, (uint64_t)f, used, order);
        shuffle(out, f, used, order, x, shuffled);
        TRY(gram_predictor_evaluate_stored(context, predictor, out->whole->data->objects, used, shuffled, NULL, 1,
                                           values, columns->ld));
        for (int64_t i = 0; i < used; i++) {
            gram_left_out_put(out, columns, values + i * columns->ld, row);
            out->rises[rows[i] * features + f] = gram_left_out_loss(out, rows[i], row) -
                                                 gram_left_out_loss(out, rows[i], out->values + rows[i] * out->ld);
        }
    }
done:
    gram_give(context, shuffled);
    gram_give(context, values);
    gram_give(context, row);
    gram_give(context, order);
    return status;
}

gram_status gram_importance_keep(gram_keeper *keeper, const gram_left_out *out)
{
    gram_status status = GRAM_OK;
    const int64_t features = gram_importance_features(out);
    double *numbers = NULL, *losses = NULL;
    if (!out->rises) return status;
    TRY(gram_take(keeper->context, "importance", 2 * features, sizeof *numbers, (void **)&numbers));
    TRY(gram_take(keeper->context, "importance", out->n, sizeof *losses, (void **)&losses));
    for (int64_t f = 0; f < features; f++) {
        for (int64_t i = 0; i < out->n; i++) losses[i] = out->rises[i * features + f];
        TRY(gram_left_out_mean(out, losses, &numbers[f], &numbers[features + f]));
        if (isnan(numbers[f]) || isnan(numbers[features + f])) goto done;
    }
    gram_keep_array(keeper, "importance", 2, features, numbers);
    status = keeper->status;
done:
    gram_give(keeper->context, numbers);
    gram_give(keeper->context, losses);
    return status;
}
