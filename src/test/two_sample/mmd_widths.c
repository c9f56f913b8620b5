/* Kernels of several widths, and the most promising one by a look at half of the data.
 *
 * The power of the test at width k grows with U/sigma, sigma the standard deviation of U when P != Q; the width with the largest ratio on
 * one half of the data is used on the other (Sutherland et al., "Generative models and model criticism via optimized maximum
 * mean discrepancy", ICLR 2017). */
#include <math.h>
#include <string.h>

#include "kernel/kernel_widen.h"
#include "test/two_sample/mmd.h"
#include "tile/product.h"

double gram_mmd_width(const gram_mmd_options *options, int64_t k)
{
    if (options->width_count == 1) return options->width_least;
    const double least = log2(options->width_least), most = log2(options->width_most);
    const double step = (most - least) / (double)(options->width_count - 1);
    return exp2(least + step * (double)k);
}

/* ---- chosen ---- */

/* Mean and variance of h over first .. first + count - 1. */
static void spread(const double *h, int64_t first, int64_t count, double *mean, double *variance)
{
    *mean = *variance = 0;
    for (int64_t i = first; i < first + count; i++) *mean += h[i] / (double)count;
    for (int64_t i = first; i < first + count; i++) *variance += (h[i] - *mean) * (h[i] - *mean) / (double)count;
}

/* U/sigma. h_i is the mean of k(z_i, .) over its own sample (without i) less that over the other: U is the sum of its two means, and
 * its variance to first order 4 (Var_x h/n + Var_y h/m). */
static gram_status power(gram_context *context, const gram_mmd_task *task, const gram_kernel *kernel, double *ratio)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = NULL;
    const int64_t n = task->pool.n, m = task->pool.m, total = n + m;
    const gram_engine_request request = {.kernel = kernel, .x = task->pool.points, .always_double = 1};
    double *v = NULL, *sums = NULL, *h = NULL, mean_x, mean_y, variance_x, variance_y, largest = 0;
    TRY(gram_engine_create(context, &request, &engine));
    TRY(gram_take(context, "mmd_test: labels", 2 * total, sizeof *v, (void **)&v));
    TRY(gram_take(context, "mmd_test: sums", 2 * total, sizeof *sums, (void **)&sums));
    TRY(gram_take(context, "mmd_test: diagonal", total, sizeof *h, (void **)&h));
    for (int64_t i = 0; i < total; i++) v[2 * i] = i < n, v[2 * i + 1] = i >= n;
    TRY(gram_engine_diagonal(context, engine, h));
    TRY(gram_engine_product(context, engine, 2, v, 2, sums, 2));
    for (int64_t i = 0; i < total; i++) {
        const double own = sums[2 * i + (i >= n)] - h[i], other = sums[2 * i + (i < n)];
        largest = fmax(largest, fabs(h[i]));
        h[i] = i < n ? own / (double)(n - 1) - other / (double)m : own / (double)(m - 1) - other / (double)n;
    }
    spread(h, 0, n, &mean_x, &variance_x);
    spread(h, n, m, &mean_y, &variance_y);
    const double variance = 4 * (variance_x / (double)n + variance_y / (double)m) + 1e-8 * largest * largest;
    *ratio = variance > 0 ? (mean_x + mean_y) / sqrt(variance) : 0;
done:
    gram_give(context, v);
    gram_give(context, sums);
    gram_give(context, h);
    gram_engine_destroy(engine);
    return status;
}

gram_status gram_mmd_choose_width(gram_context *context, const gram_mmd_task *task, gram_kernel **chosen)
{
    gram_status status = GRAM_OK;
    gram_mmd_result *result = task->result;
    gram_kernel *kernel = NULL;
    int64_t best = 0;
    result->width_count = task->options->width_count;
    for (int64_t k = 0; k < result->width_count; k++) {
        result->widths[k] = gram_mmd_width(task->options, k);
        TRY(gram_kernel_widen(context, task->kernel, result->widths[k], &kernel));
        TRY(power(context, task, kernel, &result->width_p[k]));
        gram_kernel_release(kernel);
        kernel = NULL;
        if (result->width_p[k] > result->width_p[best]) best = k;
    }
    TRY(gram_kernel_widen(context, task->kernel, result->widths[best], chosen));
done:
    gram_kernel_release(kernel);
    return status;
}
