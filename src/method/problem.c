#include "problem.h"

#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "../points/points.h"

static gram_status check_targets(gram_context *context, const char *name, int64_t n, int64_t m, const double *y,
                                 int64_t ldy, const double *weights)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    for (int64_t i = 0; i < n; i++) {
        const double w = weights ? weights[i] : 1;
        FAIL_IF(!isfinite(w) || w < 0, context, GRAM_ERROR_DATA,
                "%s: weights[%lld] is %s; weights are finite and not negative", name, (long long)i,
                gram_number_format(w, shown));
        for (int64_t o = 0; o < m && w > 0; o++)
            FAIL_IF(!isfinite(y[i * ldy + o]), context, GRAM_ERROR_DATA, "%s: y[%lld][%lld] is %s", name, (long long)i,
                    (long long)o, gram_number_format(y[i * ldy + o], shown));
    }
done:
    return status;
}

static gram_status check(gram_context *context, const char *name, const gram_kernel *kernel, const gram_points *x,
                         int64_t outputs, const double *y, int64_t ldy, const double *weights)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "%s: kernel is NULL", name);
    FAIL_IF(!x, context, GRAM_ERROR_ARGUMENT, "%s: x is NULL", name);
    FAIL_IF(!y, context, GRAM_ERROR_ARGUMENT, "%s: y is NULL", name);
    FAIL_IF(outputs < 1 || outputs > 1 << 20, context, GRAM_ERROR_ARGUMENT, "%s: outputs = %lld, need 1 to 2^20", name,
            (long long)outputs);
    FAIL_IF(ldy < outputs, context, GRAM_ERROR_ARGUMENT, "%s: ldy = %lld is less than outputs = %lld", name,
            (long long)ldy, (long long)outputs);
    TRY(check_targets(context, name, x->n, outputs, y, ldy, weights));
done:
    return status;
}

/* Points of the rows that stay: the caller's array itself if all do. */
static gram_status gather_points(gram_context *context, const gram_points *x, gram_problem *p)
{
    gram_status status = GRAM_OK;
    const size_t size = x->f64 ? sizeof(double) : sizeof(float);
    const char *from = x->f64 ? (const char *)x->f64 : (const char *)x->f32;
    int64_t stride = x->stride;
    if (p->rows) {
        TRY(gram_take(context, "points of positive weight", p->n * p->d, size, &p->copy));
        p->copy_bytes = (size_t)(p->n * p->d) * size;
        for (int64_t i = 0; i < p->n; i++)
            memcpy((char *)p->copy + (size_t)(i * p->d) * size, from + (size_t)(p->rows[i] * stride) * size,
                   (size_t)p->d * size);
        from = p->copy;
        stride = p->d;
    }
    if (x->f64)
        TRY(gram_points_create_f64(context, p->n, p->d, (const double *)from, stride, &p->x));
    else
        TRY(gram_points_create_f32(context, p->n, p->d, (const float *)from, stride, &p->x));
done:
    return status;
}

/* Which rows have a weight above 0. */
static gram_status gather_rows(gram_context *context, const char *name, const double *weights, gram_problem *p)
{
    gram_status status = GRAM_OK;
    p->n = 0;
    for (int64_t i = 0; i < p->given; i++) p->n += !weights || weights[i] > 0;
    FAIL_IF(p->n == 0, context, GRAM_ERROR_DATA, "%s: all weights are 0", name);
    if (p->n == p->given) return GRAM_OK;
    TRY(gram_take(context, "rows of positive weight", p->n, sizeof(int64_t), (void **)&p->rows));
    for (int64_t i = 0, k = 0; i < p->given; i++)
        if (weights[i] > 0) p->rows[k++] = i;
done:
    return status;
}

gram_status gram_problem_make(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                              int64_t outputs, const double *y, int64_t ldy, const double *weights,
                              gram_problem *problem)
{
    gram_status status = GRAM_OK;
    gram_problem *p = problem;
    memset(p, 0, sizeof *p);
    TRY(check(context, name, kernel, x, outputs, y, ldy, weights));
    *p = (gram_problem){.kernel = kernel, .given = x->n, .d = x->d, .m = outputs};
    TRY(gather_rows(context, name, weights, p));
    TRY(gather_points(context, x, p));
    TRY(gram_take(context, "targets", p->n * p->m, sizeof(double), (void **)&p->y));
    TRY(gram_take(context, "ridge", p->n, sizeof(double), (void **)&p->ridge));
    if (weights) TRY(gram_take(context, "weights", p->n, sizeof(double), (void **)&p->weights));
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t row = p->rows ? p->rows[i] : i;
        memcpy(p->y + i * p->m, y + row * ldy, (size_t)p->m * sizeof(double));
        if (weights) p->weights[i] = weights[row];
        p->total += gram_problem_weight(p, i);
        p->ridge[i] = 0;
    }
done:
    return status;
}

void gram_problem_free(gram_context *context, gram_problem *p)
{
    gram_points_destroy(p->x);
    gram_give(context, p->y, p->n * p->m, sizeof(double));
    gram_give(context, p->ridge, p->n, sizeof(double));
    gram_give(context, p->weights, p->n, sizeof(double));
    gram_give(context, p->rows, p->n, sizeof(int64_t));
    gram_give(context, p->copy, (int64_t)p->copy_bytes, 1);
    memset(p, 0, sizeof *p);
}

gram_status gram_problem_set_lambda(gram_context *context, const char *name, double lambda, gram_problem *problem)
{
    char shown[GRAM_NUMBER_SIZE];
    if (!(lambda >= 0) || !isfinite(lambda))
        return gram_fail(context, GRAM_ERROR_ARGUMENT, "%s: lambda = %s, need a number >= 0", name,
                         gram_number_format(lambda, shown));
    for (int64_t i = 0; i < problem->n; i++)
        problem->ridge[i] = (double)problem->n * lambda / gram_problem_weight(problem, i);
    return GRAM_OK;
}

double gram_problem_variation(const gram_problem *p)
{
    double sum = 0;
    for (int64_t o = 0; o < p->m; o++) {
        double mean = 0;
        for (int64_t i = 0; i < p->n; i++) mean += gram_problem_weight(p, i) * p->y[i * p->m + o];
        mean /= p->total;
        for (int64_t i = 0; i < p->n; i++) {
            const double from_mean = p->y[i * p->m + o] - mean;
            sum += gram_problem_weight(p, i) * from_mean * from_mean;
        }
    }
    return sum;
}
