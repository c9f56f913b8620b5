/* Rows of weight 0 do not count, and f32 points are taken as f64: a Gram matrix of f32 entries is not positive definite to
 * better than 1e-7 of its diagonal, far from what a fit is solved to. */
#include "points/weighted_problem.h"

#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "points/functionals.h"
#include "points/row_sample.h"

/* Points of the rows that stay: the caller's array itself if all do and it is f64. */
static gram_status gather_points(gram_context *context, const gram_points *x, gram_problem *p)
{
    gram_status status = GRAM_OK;
    if (p->rows || !x->f64 || x->functionals)
        TRY(gram_points_gather(context, x, p->n, p->rows, &p->x));
    else
        TRY(gram_points_part(context, x, 0, p->n, &p->x));
    if (!x->functionals) goto done;
    TRY(gram_take(context, "the constant's column", p->n, sizeof *p->one, (void **)&p->one));
    for (int64_t i = 0; i < p->n; i++) p->one[i] = gram_points_of_one(p->x, i);
done:
    return status;
}

/* Which rows have a weight above 0; NULL if all do. */
static gram_status gather_rows(gram_context *context, const char *name, const gram_given *given, gram_problem *p)
{
    gram_status status = GRAM_OK;
    TRY(gram_given_rows(context, given, &p->rows, &p->n));
    FAIL_IF(p->n == 0, context, GRAM_ERROR_DATA, "%s: all weights are 0", name);
    if (p->n < p->given) goto done;
    gram_give(context, p->rows);
    p->rows = NULL;
done:
    return status;
}

gram_status gram_problem_make(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                              int64_t outputs, const double *y, int64_t ldy, const double *weights,
                              gram_problem *problem)
{
    gram_status status = GRAM_OK;
    gram_problem *p = problem;
    const gram_given given = {x, outputs, y, ldy, weights};
    memset(p, 0, sizeof *p);
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "%s: kernel is NULL", name);
    TRY(gram_given_check(context, name, &given));
    *p = (gram_problem){.kernel = kernel, .given = x->n, .d = x->d, .m = outputs};
    TRY(gather_rows(context, name, &given, p));
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
    gram_points_release(p->x);
    gram_give(context, p->y);
    gram_give(context, p->ridge);
    gram_give(context, p->weights);
    gram_give(context, p->rows);
    gram_give(context, p->one);
    gram_give(context, p->linear);
    gram_give(context, p->t);
    gram_give(context, p->small);
    memset(p, 0, sizeof *p);
}

gram_status gram_unpenalised_check(gram_context *context, const char *name, int64_t d, int64_t count,
                                   const int64_t *columns)
{
    gram_status status = GRAM_OK;
    FAIL_IF(count < 0 || (count > 0 && !columns), context, GRAM_ERROR_ARGUMENT,
            "%s: %lld unpenalised columns without their numbers", name, (long long)count);
    for (int64_t j = 0; j < count; j++) {
        FAIL_IF(columns[j] < 0 || columns[j] >= d, context, GRAM_ERROR_ARGUMENT,
                "%s: unpenalised[%lld] = %lld is not among the %lld columns", name, (long long)j, (long long)columns[j],
                (long long)d);
        for (int64_t k = 0; k < j; k++)
            FAIL_IF(columns[k] == columns[j], context, GRAM_ERROR_ARGUMENT, "%s: unpenalised has column %lld twice",
                    name, (long long)columns[j]);
    }
done:
    return status;
}

gram_status gram_problem_set_unpenalised(gram_context *context, const char *name, int intercept, int64_t count,
                                         const int64_t *columns, gram_problem *problem)
{
    gram_status status = GRAM_OK;
    gram_problem *p = problem;
    TRY(gram_unpenalised_check(context, name, p->d, count, columns));
    p->intercept = intercept != 0;
    p->linear_count = count;
    p->q = p->intercept + count;
    TRY(gram_take(context, "unpenalised columns", count, sizeof *p->linear, (void **)&p->linear));
    TRY(gram_take(context, "unpenalised columns", p->n * p->q, sizeof *p->t, (void **)&p->t));
    TRY(gram_take(context, "unpenalised columns", p->q * (p->q + 2), sizeof *p->small, (void **)&p->small));
    for (int64_t j = 0; j < count; j++) p->linear[j] = columns[j];
    for (int64_t i = 0; i < p->n; i++) {
        if (p->intercept) p->t[i * p->q] = gram_problem_one(p, i);
        for (int64_t j = 0; j < count; j++)
            p->t[i * p->q + p->intercept + j] = gram_points_of_column(p->x, i, columns[j]);
    }
done:
    return status;
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
