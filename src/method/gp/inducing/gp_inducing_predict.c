/* Mean and variance from the state that inducing points leave: positions, coefficients and two triangular factors.
 *
 *     mean      t'beta + k_z'c
 *     variance  k(x,x) - |L^-1 k_z|^2 + |L_B^-1 L^-1 k_z|^2, and with a flat mean + |L_small^-1 (t - (R T)'k_z)|^2
 *
 * The first difference is what the inducing points cannot know of f(x), not negative but for rounding; the rest are squares. */
#include <cblas.h>
#include <math.h>

#include "base/sweep.h"
#include "method/gp/inducing/gp_inducing.h"
#include "points/points.h"

enum { CHUNK = 2048, ROWS = 64 };

typedef struct prediction {
    const gram_inducing *s;
    int64_t rows;
    double *k;        /* rows x m: k_z, then L^-1 and L_B^-1 L^-1 of it */
    double *columns;  /* rows x q: the mean's columns, then t - (R T)'k_z */
    double *diagonal; /* rows */
    double *mean, *variance;
} prediction;

static void predict_mean(const prediction *p, int64_t i)
{
    const gram_inducing *s = p->s;
    p->mean[i] = cblas_ddot((int)s->m, p->k + i * s->m, 1, s->coefficients, 1);
    for (int64_t j = 0; j < s->base.q; j++) p->mean[i] += p->columns[i * s->base.q + j] * s->base.beta[j];
}

/* What the mean's parameters add to the variance. */
static double flat_variance(const prediction *p, int64_t i)
{
    const gram_inducing *s = p->s;
    const int64_t q = s->base.q;
    double *row = p->columns + i * q, sum = 0;
    for (int64_t j = 0; j < q; j++) row[j] -= cblas_ddot((int)s->m, p->k + i * s->m, 1, s->mean_weights + j, (int)q);
    gram_gp_small_solve(&s->base, row);
    for (int64_t j = 0; j < q; j++) sum += row[j] * row[j];
    return sum;
}

static gram_status predict_task(void *argument, const gram_worker *worker)
{
    const prediction *p = argument;
    const gram_inducing *s = p->s;
    const int64_t first = worker->task * ROWS;
    const int rows = (int)(p->rows - first < ROWS ? p->rows - first : ROWS), m = (int)s->m;
    double *k = p->k + first * m;
    for (int64_t i = first; i < first + rows; i++) predict_mean(p, i);
    if (!p->variance) return GRAM_OK;
    for (int64_t i = first; i < first + rows; i++)
        p->variance[i] = s->base.options.flat && s->base.q > 0 ? flat_variance(p, i) : 0;
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, m, 1, s->factor, m, k, m);
    for (int64_t i = 0; i < rows; i++)
        p->variance[first + i] += fmax(p->diagonal[first + i] - cblas_ddot(m, k + i * m, 1, k + i * m, 1), 0);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, m, 1, s->inner, m, k, m);
    for (int64_t i = 0; i < rows; i++) p->variance[first + i] += cblas_ddot(m, k + i * m, 1, k + i * m, 1);
    return GRAM_OK;
}

static gram_status predict_chunk(gram_context *context, const gram_points *points, int64_t first, prediction *p)
{
    gram_status status = GRAM_OK;
    gram_points *part = NULL;
    const gram_sweep sweep = {
        .what = "prediction", .tasks = (p->rows + ROWS - 1) / ROWS, .run = predict_task, .argument = p};
    TRY(gram_gp_points_part(context, points, first, p->rows, &part));
    TRY(gram_matrix(context, p->s->kernel, part, p->s->z, p->k, p->s->m));
    if (p->variance) TRY(gram_matrix_diagonal(context, p->s->kernel, part, p->diagonal));
    TRY(gram_sweep_run(context, &sweep));
done:
    gram_points_release(part);
    return status;
}

gram_status gram_gp_inducing_predict(gram_context *context, const gram_gp_inducing *gp, const gram_points *points,
                                     const double *basis, int64_t ldb, double *mean, double *variance)
{
    gram_status status = GRAM_OK;
    double *numbers = NULL;
    int64_t size = 0;
    if (!context || !gp || !mean) return GRAM_ERROR_ARGUMENT;
    const gram_inducing *s = &gp->model;
    TRY(gram_gp_system_check_points(context, "gp_predict", &s->base, points, basis, ldb));
    const int64_t room = points->n < CHUNK ? points->n : CHUNK;
    size = room * (s->m + s->base.q + 1) + s->base.d;
    TRY(gram_take(context, "gp_predict", size, sizeof(double), (void **)&numbers));
    prediction p = {.s = s, .k = numbers, .columns = numbers + room * s->m};
    p.diagonal = p.columns + room * s->base.q;
    for (int64_t first = 0; first < points->n; first += room) {
        p.rows = points->n - first < room ? points->n - first : room;
        p.mean = mean + first;
        p.variance = variance ? variance + first : NULL;
        gram_gp_system_rows(&s->base, points, first, p.rows, basis, ldb, p.diagonal + room, p.columns);
        TRY(predict_chunk(context, points, first, &p));
    }
done:
    gram_give(context, numbers);
    return status;
}
