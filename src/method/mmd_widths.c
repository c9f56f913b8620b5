/* Which width? Several at once with the level kept, or the most promising one by a look at half of the data.
 *
 * Aggregated: M_kb is the statistic at width k under labelling b, the observed one b = 0 among them. p_kb is the share of labellings
 * with M_k at least M_kb, T_b = min_k p_kb, and the p-value is the share of labellings with T_b <= T_0. T is one function of the
 * labels whatever b is, so under the hypothesis T_0 is as likely to have any place among the T_b as any other: the level is exact,
 * as for one width (after Schrab, Kim, Albert, Laurent, Guedj and Gretton, "MMD aggregated two-sample test", JMLR 24, 2023, who
 * estimate the common correction with a second set of permutations).
 *
 * Chosen: the power of the test at width k grows with U/sigma, sigma the standard deviation of U when P != Q; the width with the
 * largest ratio on one half of the data is used on the other (Sutherland et al., "Generative models and model criticism via
 * optimized maximum mean discrepancy", ICLR 2017). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../tile/product.h"
#include "labels.h"
#include "mmd.h"

static double factor_of(const gram_mmd_options *options, int64_t k)
{
    if (options->widths == 1) return exp2(options->width_from);
    const double step = (options->width_to - options->width_from) / (double)(options->widths - 1);
    return exp2(options->width_from + step * (double)k);
}

static int is_length(const gram_parameter *parameter)
{
    const char *dot = strrchr(parameter->name, '.');
    return dot && strncmp(dot, ".ell", 4) == 0 && !parameter->fixed;
}

/* The kernel with its length-scales times a factor. */
static gram_status widen(gram_context *context, const gram_kernel *kernel, double factor, gram_kernel **out)
{
    gram_status status = GRAM_OK;
    const int64_t count = gram_kernel_parameter_count(kernel);
    double *values = NULL;
    int lengths = 0;
    TRY(gram_take(context, "mmd_test: parameters", count, sizeof *values, (void **)&values));
    for (int64_t i = 0; i < count; i++) {
        gram_parameter parameter;
        TRY(gram_kernel_parameter_get(context, kernel, i, &parameter));
        lengths += is_length(&parameter);
        values[i] = is_length(&parameter) ? parameter.value * factor : parameter.value;
        if (is_length(&parameter)) values[i] = fmin(fmax(values[i], parameter.lower), parameter.upper);
    }
    FAIL_IF(lengths == 0, context, GRAM_ERROR_ARGUMENT,
            "mmd_test: the kernel has no length-scale that could take several widths");
    TRY(gram_kernel_with_values(context, kernel, values, out));
done:
    gram_give(context, values, count, sizeof *values);
    return status;
}

/* ---- aggregated ---- */

typedef struct aggregated {
    int64_t count; /* labellings */
    uint8_t *bits; /* made once: they do not depend on the width */
    int64_t *sums;
    double *values, *sorted;
    int64_t *rank; /* T_b (B + 1), so far */
    double best_z; /* of the width that is best so far, for ties */
    int64_t best;
} aggregated;

static int descending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* How many of the sorted values are at least this one. */
static int64_t place(const aggregated *a, double value)
{
    int64_t low = 0, high = a->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (a->sorted[middle] >= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The observed value in standard deviations of the permuted ones. */
static double score(const aggregated *a)
{
    double mean = 0, squares = 0;
    for (int64_t b = 0; b < a->count; b++) mean += a->values[b] / (double)a->count;
    for (int64_t b = 0; b < a->count; b++) squares += (a->values[b] - mean) * (a->values[b] - mean);
    return squares > 0 ? (a->values[0] - mean) / sqrt(squares / (double)a->count) : 0;
}

static void take_width(aggregated *a, int64_t k, gram_mmd_result *result)
{
    const double z = score(a);
    memcpy(a->sorted, a->values, (size_t)a->count * sizeof *a->sorted);
    qsort(a->sorted, (size_t)a->count, sizeof *a->sorted, descending);
    for (int64_t b = 0; b < a->count; b++) {
        const int64_t rank = place(a, a->values[b]);
        if (k == 0 || rank < a->rank[b]) a->rank[b] = rank;
        if (b == 0) result->width_p[k] = (double)rank / (double)a->count;
    }
    const double p = result->width_p[k], best = result->width_p[a->best];
    if (k > 0 && (p > best || (p == best && z <= a->best_z))) return;
    a->best = k;
    a->best_z = z;
}

/* All values at one width. The diagonal's part of the V-statistic is left out when it is the same for all labels. */
static gram_status evaluate(gram_context *context, const gram_mmd_task *task, const gram_kernel *kernel, aggregated *a)
{
    gram_status status = GRAM_OK;
    gram_pairs pairs = {0};
    double unit;
    int cut;
    TRY(gram_pairs_create(context, kernel, task->pool.points, GRAM_CENTRE_PAIRS, &pairs));
    if (!a->bits) {
        TRY(gram_take(context, "mmd_test: permutations", gram_subset_bytes(&pairs, a->count), 1, (void **)&a->bits));
        TRY(gram_labels_make(context, &pairs, task->pool.n, a->count, a->bits));
    }
    TRY(gram_pairs_subsets(context, &pairs, a->count, a->bits, a->sums, &unit, &cut));
    const gram_mmd_scale scale = gram_mmd_scaling(&pairs, task->pool.n, task->pool.m, task->options->biased);
    for (int64_t b = 0; b < a->count; b++) {
        double diagonal = 0;
        for (int64_t i = 0; scale.diagonal != 0 && i < pairs.n; i++)
            if (gram_label(a->bits, a->count, i, b)) diagonal += pairs.diagonal[i];
        a->values[b] = scale.slope * unit * (double)a->sums[b] + scale.diagonal * diagonal;
    }
done:
    gram_pairs_destroy(context, &pairs);
    return status;
}

/* The statistic that is reported: at the best width, in f64. */
static gram_status report_best(gram_context *context, gram_mmd_task *task, double factor)
{
    gram_status status = GRAM_OK;
    gram_pairs pairs = {0};
    gram_kernel *kernel = NULL;
    TRY(widen(context, task->kernel, factor, &kernel));
    TRY(gram_pairs_create(context, kernel, task->pool.points, GRAM_CENTRE_PAIRS, &pairs));
    const gram_mmd_scale scale = gram_mmd_scaling(&pairs, task->pool.n, task->pool.m, task->options->biased);
    TRY(gram_mmd_observed(context, &pairs, task->pool.n, &scale, &task->result->statistic));
    gram_kernel_release(task->result->kernel);
    task->result->kernel = gram_kernel_retain(kernel);
done:
    gram_kernel_release(kernel);
    gram_pairs_destroy(context, &pairs);
    return status;
}

static gram_status take_arrays(gram_context *context, aggregated *a)
{
    gram_status status = GRAM_OK;
    const char *what = "mmd_test: permutations";
    TRY(gram_take(context, what, a->count, sizeof *a->sums, (void **)&a->sums));
    TRY(gram_take(context, what, a->count, sizeof *a->values, (void **)&a->values));
    TRY(gram_take(context, what, a->count, sizeof *a->sorted, (void **)&a->sorted));
    TRY(gram_take(context, what, a->count, sizeof *a->rank, (void **)&a->rank));
done:
    return status;
}

gram_status gram_mmd_test_aggregated(gram_context *context, gram_mmd_task *task)
{
    gram_status status = GRAM_OK;
    const gram_mmd_options *options = task->options;
    gram_mmd_result *result = task->result;
    gram_kernel *kernel = NULL;
    aggregated a = {.count = options->permutations + 1};
    const int64_t panels = (task->pool.n + task->pool.m + GRAM_PANEL - 1) / GRAM_PANEL;
    int64_t reached = 0;
    TRY(take_arrays(context, &a));
    result->width_count = options->widths;
    for (int64_t k = 0; k < options->widths; k++) {
        result->width[k] = factor_of(options, k);
        TRY(widen(context, task->kernel, result->width[k], &kernel));
        TRY(evaluate(context, task, kernel, &a));
        gram_kernel_release(kernel);
        kernel = NULL;
        take_width(&a, k, result);
    }
    for (int64_t b = 0; b < a.count; b++) reached += a.rank[b] <= a.rank[0];
    result->p_value = (double)reached / (double)a.count;
    TRY(report_best(context, task, result->width[a.best]));
done:
    gram_kernel_release(kernel);
    gram_give(context, a.bits, panels * a.count * GRAM_SUBSET_BYTES, 1);
    gram_give(context, a.sums, a.count, sizeof *a.sums);
    gram_give(context, a.values, a.count, sizeof *a.values);
    gram_give(context, a.sorted, a.count, sizeof *a.sorted);
    gram_give(context, a.rank, a.count, sizeof *a.rank);
    return status;
}

/* ---- chosen ---- */

/* Mean and variance of h over first .. first + count - 1. */
static void spread(const double *h, int64_t first, int64_t count, double *mean, double *variance)
{
    *mean = *variance = 0;
    for (int64_t i = first; i < first + count; i++) *mean += h[i] / (double)count;
    for (int64_t i = first; i < first + count; i++)
        *variance += (h[i] - *mean) * (h[i] - *mean) / (double)count;
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
    gram_give(context, v, 2 * total, sizeof *v);
    gram_give(context, sums, 2 * total, sizeof *sums);
    gram_give(context, h, total, sizeof *h);
    gram_engine_destroy(engine);
    return status;
}

gram_status gram_mmd_choose_width(gram_context *context, const gram_mmd_task *task, gram_kernel **chosen)
{
    gram_status status = GRAM_OK;
    gram_mmd_result *result = task->result;
    gram_kernel *kernel = NULL;
    int64_t best = 0;
    result->width_count = task->options->widths;
    for (int64_t k = 0; k < result->width_count; k++) {
        result->width[k] = factor_of(task->options, k);
        TRY(widen(context, task->kernel, result->width[k], &kernel));
        TRY(power(context, task, kernel, &result->width_p[k]));
        gram_kernel_release(kernel);
        kernel = NULL;
        if (result->width_p[k] > result->width_p[best]) best = k;
    }
    TRY(widen(context, task->kernel, result->width[best], chosen));
done:
    gram_kernel_release(kernel);
    return status;
}
