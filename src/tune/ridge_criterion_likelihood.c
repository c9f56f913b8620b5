/* Minus the log likelihood, with the best constant and amplitude (ridge_criterion.c). */
#include <cblas.h>
#include <math.h>

#include "tune/ridge_criterion_work.h"

/* Thin factors -n/(2 y_o'a_o) a_o and a_o. A target that the constant explains has y'a = 0, and no more to say. */
static double likelihood(gram_criterion_work *k, double log_determinant)
{
    static const double TWO_PI = 6.283185307179586;
    const int64_t m = k->m;
    const double n = (double)k->n;
    double value = 0.5 * (double)m * log_determinant;
    for (int64_t j = 0; j < m; j++) {
        double form = 0;
        for (int64_t i = 0; i < k->n; i++) form += k->sample->y[i * m + j] * k->a[i * m + j];
        const int flat = !(form / n > 0x1p-1022);
        value += 0.5 * n * (1 + log(TWO_PI * (flat ? 0x1p-1022 : form / n)));
        for (int64_t i = 0; i < k->n && k->rule.gradients; i++) {
            k->left[i * m + j] = flat ? 0 : -0.5 * n / form * k->a[i * m + j];
            k->right[i * m + j] = k->a[i * m + j];
        }
    }
    return value;
}

/* W = m/2 A^-1 + left right' in place of A^-1 */
static gram_status likelihood_rows(void *argument, const gram_worker *worker)
{
    const gram_criterion_work *k = argument;
    const int64_t n = k->n, from = gram_criterion_first(worker), rows = gram_criterion_end(k, worker) - from;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)n, (int)k->m, 1, k->left + from * k->m,
                (int)k->m, k->right, (int)k->m, 0.5 * (double)k->m, k->p + from * n, (int)n);
    return GRAM_OK;
}

static gram_status differentiate(gram_context *context, gram_criterion_work *k, gram_cholesky *factor,
                                 const gram_kernel *kernel, const gram_criterion_slopes *slopes)
{
    gram_status status = GRAM_OK;
    TRY(gram_cholesky_invert(context, factor));
    TRY(gram_cholesky_inverse_matrix(context, factor, k->p, k->n));
    TRY(gram_criterion_sweep(context, k, likelihood_rows));
    *slopes->noise = gram_criterion_noise_slope(k, k->p, 0);
    TRY(gram_criterion_contract(context, k, kernel, k->p, slopes->gradient));
done:
    return status;
}

gram_status gram_criterion_by_likelihood(gram_context *context, gram_criterion_work *k, gram_cholesky *factor,
                                         const gram_kernel *kernel, const gram_criterion_slopes *slopes, double *value)
{
    *value = likelihood(k, gram_cholesky_log_determinant(factor));
    return slopes->noise ? differentiate(context, k, factor, kernel, slopes) : GRAM_OK;
}
