/* Bayesian linear regression: a Gaussian process with a linear kernel is a distribution of weights. */
#include "method/method.h"

int64_t gram_model_weights(const gram_model *model, gram_weight *weights)
{
    int64_t rows = 0, d = 0;
    const gram_preparation *preparation = model ? gram_model_preparation(model) : NULL;
    if (!preparation || !gram_model_array(model, "weight_mean", &rows, &d)) return 0;
    const double *mean = gram_kept_array(model, "weight_mean", 1, d), *std = gram_kept_array(model, "weight_std", 1, d);
    if (!mean || !std || gram_preparation_dimension(preparation) != d) return 0;
    for (int64_t j = 0; weights && j < d; j++) {
        /* prepared columns are (value - mean)/deviation */
        const gram_column *feature =
            &gram_preparation_describe(preparation)->features[gram_preparation_feature_of(preparation, j)];
        const double unit = feature->text ? 1 : feature->deviation;
        weights[j] = (gram_weight){mean[j] / unit, std[j] / unit};
    }
    return d;
}
