/* Bayesian linear regression: a Gaussian process with a linear kernel is a distribution of weights. */
#include "learn/describe/description_parts.h"
#include "method/method.h"

/* The name of a prepared column. */
static gram_status name_column(gram_context *context, gram_arena *arena, const gram_preparation *preparation,
                               int64_t column, const char **name)
{
    gram_status status = GRAM_OK;
    char *text = NULL;
    const size_t length = gram_preparation_column_name(preparation, column, NULL, 0);
    TRY(gram_arena_take(context, arena, "describe", (int64_t)length + 1, 1, (void **)&text));
    (void)gram_preparation_column_name(preparation, column, text, length + 1);
    *name = text;
done:
    return status;
}

gram_status gram_weights_find(gram_context *context, gram_arena *arena, const gram_model *model, gram_weight **weights,
                              int64_t *count)
{
    gram_status status = GRAM_OK;
    int64_t rows = 0, d = 0;
    const gram_preparation *preparation = gram_model_preparation(model);
    *count = 0;
    if (!preparation || !gram_model_array(model, "weight_mean", &rows, &d)) return status;
    const double *mean = gram_kept_array(model, "weight_mean", 1, d), *std = gram_kept_array(model, "weight_std", 1, d);
    if (!mean || !std || gram_preparation_dimension(preparation) != d) return status;
    TRY(gram_arena_take(context, arena, "describe", d, sizeof **weights, (void **)weights));
    for (int64_t j = 0; j < d; j++) {
        /* prepared columns are (value - mean)/deviation */
        const gram_column *feature =
            &gram_preparation_describe(preparation)->features[gram_preparation_feature_of(preparation, j)];
        const double unit = feature->text ? 1 : feature->deviation;
        (*weights)[j] = (gram_weight){.mean = mean[j] / unit, .std = std[j] / unit};
        TRY(name_column(context, arena, preparation, j, &(*weights)[j].name));
    }
    *count = d;
done:
    return status;
}
