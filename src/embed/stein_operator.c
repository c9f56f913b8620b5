/* The Stein kernel's matrix as an operator, and the choice of its base kernel from a sample.
 *
 * A product makes each entry anew; the task of a strip of rows owns its part of the result. */
#include <math.h>
#include <string.h>

#include "embed/stein.h"
#include "operator/operator.h"
#include "points/functionals.h"
#include "points/points.h"

typedef struct stein_operator {
    gram_operator base;
    gram_stein *stein;
} stein_operator;

typedef struct product {
    const gram_rows *rows;
    int64_t columns;
    const double *v;
    int64_t ldv;
    double *out;
    int64_t ldo;
} product;

static gram_status product_task(void *argument, const gram_worker *worker)
{
    const product *p = argument;
    const gram_rows *rows = p->rows;
    const int64_t first = worker->task * GRAM_STRIP;
    const int64_t last = first + GRAM_STRIP < rows->n ? first + GRAM_STRIP : rows->n;
    rows->begin(rows->self, worker->scratch);
    for (int64_t i = first; i < last; i++) memset(p->out + i * p->ldo, 0, (size_t)p->columns * sizeof(double));
    for (int64_t panel = 0; panel < gram_rows_panels(rows); panel++)
        for (int64_t i = first; i < last; i++) {
            const double *row = rows->row(rows->self, worker->scratch, i, panel);
            const double *v = p->v + panel * GRAM_PANEL * p->ldv;
            for (int j = 0; j < gram_rows_width(rows, panel); j++)
                for (int64_t c = 0; c < p->columns; c++) p->out[i * p->ldo + c] += row[j] * v[j * p->ldv + c];
        }
    return GRAM_OK;
}

static gram_status apply(gram_context *context, const gram_operator *op, int64_t columns, const double *v, int64_t ldv,
                         double *out, int64_t ldo)
{
    const gram_rows *rows = &((const stein_operator *)op)->stein->rows;
    product p = {rows, columns, v, ldv, out, ldo};
    const gram_sweep sweep = {.what = "Stein product",
                              .tasks = (rows->n + GRAM_STRIP - 1) / GRAM_STRIP,
                              .scratch_bytes = rows->scratch_bytes,
                              .run = product_task,
                              .argument = &p};
    return gram_sweep_run(context, &sweep);
}

static gram_status diagonal(gram_context *context, const gram_operator *op, double *out)
{
    return gram_rows_diagonal(context, &((const stein_operator *)op)->stein->rows, out);
}

typedef struct choice {
    const gram_rows *rows;
    int64_t count;
    const int64_t *index;
    double *out;
    int64_t ld;
} choice;

/* One panel of the result's rows; entry (i, index) is taken from row `index` at i, so that a row is made once for it. */
static gram_status columns_task(void *argument, const gram_worker *worker)
{
    const choice *c = argument;
    const gram_rows *rows = c->rows;
    rows->begin(rows->self, worker->scratch);
    for (int64_t a = 0; a < c->count; a++) {
        const double *row = rows->row(rows->self, worker->scratch, c->index[a], worker->task);
        for (int j = 0; j < gram_rows_width(rows, worker->task); j++)
            c->out[(worker->task * GRAM_PANEL + j) * c->ld + a] = row[j];
    }
    return GRAM_OK;
}

static gram_status columns(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                           double *out, int64_t ld)
{
    const gram_rows *rows = &((const stein_operator *)op)->stein->rows;
    choice c = {rows, count, index, out, ld};
    const gram_sweep sweep = {.what = "Stein matrix",
                              .tasks = gram_rows_panels(rows),
                              .scratch_bytes = rows->scratch_bytes,
                              .run = columns_task,
                              .argument = &c};
    return gram_sweep_run(context, &sweep);
}

static void destroy(gram_operator *op)
{
    gram_stein_destroy(((stein_operator *)op)->stein);
}

static const gram_operator_type STEIN = {"stein", apply, destroy, diagonal, columns, NULL};

gram_status gram_operator_create_stein(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                       const double *scores, int64_t lds, gram_operator **op)
{
    gram_status status = GRAM_OK;
    gram_stein *stein = NULL;
    stein_operator *made = NULL;
    if (!context || !op) return GRAM_ERROR_ARGUMENT;
    *op = NULL;
    TRY(gram_stein_create(context, "operator_create_stein", kernel, points, scores, lds, &stein));
    TRY(gram_operator_make(context, &STEIN, sizeof *made, stein->n, (gram_operator **)&made));
    made->stein = stein;
    stein = NULL;
    *op = &made->base;
done:
    gram_stein_destroy(stein);
    return status;
}

/* ---- the base kernel ---- */

/* (c^2 + r^2)^-1/2 */
static gram_status make_imq(gram_context *context, double c, gram_kernel **kernel)
{
    const gram_kernel_type *type = gram_kernel_type_find("imq", 3);
    double values[2] = {c, 0.5};
    const gram_argument arguments[GRAM_MAX_SPECS] = {{.count = 1, .set = 1, .values = &values[0]},
                                                     {.count = 1, .set = 1, .values = &values[1]}};
    return gram_kernel_leaf(context, type, arguments, kernel);
}

/* The median distance is what an rbf would take for its ell. */
static gram_status median_distance(gram_context *context, const gram_points *points, double *median)
{
    gram_status status = GRAM_OK;
    gram_kernel *open = NULL, *resolved = NULL;
    gram_parameter parameter;
    TRY(gram_kernel_parse(context, "rbf", &open));
    TRY(gram_kernel_resolve(context, open, points, &resolved));
    TRY(gram_kernel_parameter_get(context, resolved, 0, &parameter));
    *median = parameter.value;
done:
    gram_kernel_release(open);
    gram_kernel_release(resolved);
    return status;
}

/* The covariance of the points, divisor n - 1, in s; mean is scratch of d numbers. */
static void covariance(const gram_points *points, double *mean, double *s)
{
    const int64_t n = points->n, d = points->d;
    memset(s, 0, (size_t)(d * d) * sizeof *s);
    memset(mean, 0, (size_t)d * sizeof *mean);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < d; l++) mean[l] += gram_points_at(points, i, l) / (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t a = 0; a < d; a++)
            for (int64_t b = 0; b <= a; b++)
                s[a * d + b] += (gram_points_at(points, i, a) - mean[a]) * (gram_points_at(points, i, b) - mean[b]);
    for (int64_t a = 0; a < d; a++)
        for (int64_t b = 0; b <= a; b++) s[b * d + a] = s[a * d + b] /= (double)(n - 1);
}

/* inverse = L^-1, lower triangular */
static void invert_lower(int64_t d, const double *l, double *inverse)
{
    memset(inverse, 0, (size_t)(d * d) * sizeof *inverse);
    for (int64_t j = 0; j < d; j++)
        for (int64_t i = j; i < d; i++) {
            double sum = i == j ? 1 : 0;
            for (int64_t b = j; b < i; b++) sum -= l[i * d + b] * inverse[b * d + j];
            inverse[i * d + j] = sum / l[i * d + i];
        }
}

static gram_status make_whitened(gram_context *context, const gram_points *points, gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    const int64_t d = points->d, room = 3 * d * d + d;
    gram_kernel *inner = NULL;
    double *s = NULL;
    FAIL_IF(points->n < 2, context, GRAM_ERROR_ARGUMENT, "stein_kernel: one point has no covariance");
    TRY(gram_take(context, "stein_kernel: covariance", room, sizeof(double), (void **)&s));
    double *l = s + d * d, *inverse = l + d * d;
    covariance(points, inverse + d * d, s);
    FAIL_IF(!gram_small_cholesky(d, s, l), context, GRAM_ERROR_NUMERICAL,
            "stein_kernel: the covariance of the %lld points is singular", (long long)points->n);
    invert_lower(d, l, inverse);
    TRY(make_imq(context, 1, &inner));
    TRY(gram_kernel_warp(context, d, d, inverse, inner, kernel));
done:
    gram_kernel_release(inner);
    gram_give(context, s);
    return status;
}

gram_status gram_stein_kernel(gram_context *context, const gram_points *points, gram_stein_metric metric, int64_t m,
                              gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    double c = 1;
    if (!context || !kernel) return GRAM_ERROR_ARGUMENT;
    *kernel = NULL;
    FAIL_IF(!points, context, GRAM_ERROR_ARGUMENT, "stein_kernel: points is NULL");
    TRY(gram_points_must_be_plain(context, "stein_kernel", points));
    FAIL_IF((int)metric < GRAM_STEIN_METRIC_ID || metric > GRAM_STEIN_METRIC_SMPCOV, context, GRAM_ERROR_ARGUMENT,
            "stein_kernel: metric = %d is not a valid metric", (int)metric);
    if (metric == GRAM_STEIN_METRIC_SMPCOV) {
        TRY(make_whitened(context, points, kernel));
        goto done;
    }
    if (metric != GRAM_STEIN_METRIC_ID) TRY(median_distance(context, points, &c));
    if (metric == GRAM_STEIN_METRIC_SCLMED) c /= sqrt(log((double)(m > 2 ? m : 2)));
    TRY(make_imq(context, c, kernel));
done:
    return status;
}
