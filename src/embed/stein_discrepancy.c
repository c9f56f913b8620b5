/* The kernel Stein discrepancy.
 *
 *   V = (1/n^2) sum_ij k_P(x_i, x_j)      U = (1/(n(n-1))) sum_{i != j} k_P(x_i, x_j)
 */
#include <math.h>

#include <gram/text.h>

#include "embed/stein.h"

static gram_status check_weights(gram_context *context, int64_t n, const double *weights, double *total)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    *total = 0;
    for (int64_t i = 0; i < n; i++) {
        FAIL_IF(!isfinite(weights[i]), context, GRAM_ERROR_DATA, "stein_discrepancy: weights[%lld] is %s", (long long)i,
                gram_number_format(weights[i], shown));
        *total += weights[i];
    }
    FAIL_IF(!(*total > 0), context, GRAM_ERROR_DATA,
            "stein_discrepancy: the sum of the weights is %s, need more than 0", gram_number_format(*total, shown));
done:
    return status;
}

gram_discrepancy gram_stein_statistics(double all, double own, double squares, int64_t n)
{
    const double v = all > 0 ? all : 0; /* below 0 by rounding only */
    return (gram_discrepancy){
        .v_statistic = v, .u_statistic = n > 1 ? (all - own) / (1 - squares) : NAN, .discrepancy = sqrt(v)};
}

gram_status gram_stein_discrepancy(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                   const double *scores, int64_t lds, const double *weights, gram_discrepancy *out)
{
    gram_status status = GRAM_OK;
    gram_stein *stein = NULL;
    double *w = NULL, total = 0, squares = 0, all, own;
    int64_t n = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!out, context, GRAM_ERROR_ARGUMENT, "stein_discrepancy: out is NULL");
    TRY(gram_stein_create(context, "stein_discrepancy", kernel, points, scores, lds, &stein));
    n = stein->n;
    if (weights)
        TRY(check_weights(context, n, weights, &total));
    else
        total = (double)n;
    TRY(gram_take(context, "stein_discrepancy", n, sizeof(double), (void **)&w));
    for (int64_t i = 0; i < n; i++) {
        w[i] = (weights ? weights[i] : 1) / total;
        squares += w[i] * w[i];
    }
    TRY(gram_rows_quadratic(context, &stein->rows, 1, w, 1, &all, &own));
    *out = gram_stein_statistics(all, own, squares, n);
done:
    gram_give(context, w);
    gram_stein_destroy(stein);
    return status;
}
