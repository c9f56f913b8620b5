/* dHSIC under shuffles: all variables but the first get permutations of their own. The matrices are held; a task is one shuffle. */
#include <math.h>
#include <string.h>

#include "points/points.h"
#include "test/independence/hsic.h"

typedef struct dhsic {
    gram_shuffles shuffles;
    int variables;
    double *k[GRAM_HSIC_MAX_VARIABLES];    /* n x n */
    double *mean[GRAM_HSIC_MAX_VARIABLES]; /* of each row */
    double product_of_means;
    double *values;
} dhsic;

/* sum_j prod_v K^v_ij over a row i in the shuffled order; `row` is scratch. */
static double row_sum(const dhsic *h, int64_t i, int64_t *const *order, double *row)
{
    const int64_t n = h->shuffles.n;
    double sum = 0;
    memcpy(row, h->k[0] + i * n, (size_t)n * sizeof *row);
    for (int v = 1; v < h->variables; v++) {
        const double *k = h->k[v] + order[v][i] * n;
        for (int64_t j = 0; j < n; j++) row[j] *= k[order[v][j]];
    }
    for (int64_t j = 0; j < n; j++) sum += row[j];
    return sum;
}

static gram_status task(void *argument, const gram_worker *worker)
{
    const dhsic *h = argument;
    const int64_t n = h->shuffles.n, draw = h->shuffles.first + worker->task;
    int64_t *orders = worker->scratch, *order[GRAM_HSIC_MAX_VARIABLES];
    double first = 0, last = 0;
    void *rest = orders + h->variables * n;
    double *row = rest;
    for (int v = 0; v < h->variables; v++) {
        order[v] = orders + v * n;
        gram_shuffle(&h->shuffles, v, draw, order[v]);
    }
    for (int64_t i = 0; i < n; i++) {
        double product = 1;
        for (int v = 0; v < h->variables; v++) product *= h->mean[v][order[v][i]];
        first += row_sum(h, i, order, row);
        last += product;
    }
    h->values[draw] = first + (double)n * (double)n * h->product_of_means - 2 * (double)n * last;
    return GRAM_OK;
}

static gram_status make_variable(gram_context *context, const gram_kernel *kernel, const gram_points *points, dhsic *h,
                                 int v)
{
    gram_status status = GRAM_OK;
    const int64_t n = h->shuffles.n;
    int64_t numbers;
    double total = 0;
    FAIL_IF(!gram_size_multiply(n, n, &numbers), context, GRAM_ERROR_OVERFLOW,
            "hsic_test: a matrix of %lld rows is more than can be addressed", (long long)n);
    TRY(gram_take(context, "hsic_test: a matrix", numbers, sizeof(double), (void **)&h->k[v]));
    TRY(gram_take(context, "hsic_test: means", n, sizeof(double), (void **)&h->mean[v]));
    TRY(gram_matrix(context, kernel, points, NULL, h->k[v], n));
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += h->k[v][i * n + j];
        h->mean[v][i] = sum / (double)n;
        total += sum / (double)n;
    }
    h->product_of_means *= total / (double)n;
done:
    return status;
}

gram_status gram_dhsic_shuffled(gram_context *context, int variables, gram_kernel *const *kernels,
                                const gram_points *const *points, int64_t count, double *values, double *scale)
{
    gram_status status = GRAM_OK;
    const int64_t n = points[0]->n;
    dhsic h = {.shuffles = {gram_context_seed(context), n, 0},
               .variables = variables,
               .product_of_means = 1,
               .values = values};
    for (int v = 0; v < variables; v++) TRY(make_variable(context, kernels[v], points[v], &h, v));
    const gram_sweep sweep = {
        .scratch_bytes = (size_t)(n * (1 + variables)) * sizeof(double), .run = task, .argument = &h};
    TRY(gram_shuffles_run(context, &h.shuffles, count, &sweep, values));
    *scale = (double)n * (double)n * fabs(h.product_of_means);
done:
    for (int v = 0; v < variables; v++) {
        gram_give(context, h.k[v]);
        gram_give(context, h.mean[v]);
    }
    return status;
}
