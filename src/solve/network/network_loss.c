/* Losses of outputs, and their derivatives. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "solve/network/network.h"

/* log sum_o exp f_o, without overflow */
static double log_sum(int64_t m, const double *f)
{
    double most = f[0], sum = 0;
    for (int64_t o = 1; o < m; o++) most = f[o] > most ? f[o] : most;
    for (int64_t o = 0; o < m; o++) sum += exp(f[o] - most);
    return most + log(sum);
}

double gram_loss_rows(gram_network_loss loss, int64_t rows, int64_t m, const double *y, int64_t ldy,
                      const int64_t *order, double share, const double *f, double *derivative)
{
    double sum = 0;
    for (int64_t i = 0; i < rows; i++) {
        const double *target = y + (order ? order[i] : i) * ldy, *row = f + i * m;
        const double total = loss == GRAM_NETWORK_SOFTMAX ? log_sum(m, row) : 0;
        for (int64_t o = 0; o < m; o++) {
            const double residual = row[o] - target[o];
            const int squared = loss == GRAM_NETWORK_SQUARED;
            sum += squared ? residual * residual : target[o] * (total - row[o]);
            if (derivative) derivative[i * m + o] = share * (squared ? 2 * residual : exp(row[o] - total) - target[o]);
        }
    }
    return sum;
}

gram_status gram_network_loss_of(gram_context *context, const gram_network *network, const gram_points *x,
                                 const double *y, int64_t ldy, gram_network_loss loss, double *value)
{
    gram_status status = GRAM_OK;
    double *f = NULL;
    if (!context || !value) return GRAM_ERROR_ARGUMENT;
    *value = NAN;
    TRY(gram_network_check_points(context, "network_loss_of", network, x, "x"));
    const int64_t m = network->options.outputs;
    FAIL_IF(!y, context, GRAM_ERROR_ARGUMENT, "network_loss_of: y is NULL");
    FAIL_IF(ldy < m, context, GRAM_ERROR_ARGUMENT,
            "network_loss_of: ldy = %" PRId64 " is less than the %" PRId64 " outputs", ldy, m);
    TRY(gram_take(context, "network: values", x->n, (size_t)m * sizeof *f, (void **)&f));
    TRY(gram_network_evaluate(context, network, x, f, m));
    *value = gram_loss_rows(loss, x->n, m, y, ldy, NULL, 0, f, NULL) / (double)x->n;
done:
    gram_give(context, f);
    return status;
}
