/* Rows of features and a target, brought to the coordinates in which ridge regression is easy for every alpha.
 *
 * [X y], weighted and about the means, is Q R with R of d + 1 columns. Blocks of rows are put below the R so far and factored
 * together (Householder, LAPACK's dgeqrf), which squares no condition number and never holds more than a block. Then the
 * singular value decomposition of R without its last row and column: R_x = U S V', U'y from the last column, and the corner is
 * what is left of y. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/lapack.h"
#include "base/sweep.h"
#include "method/bayes/bayes.h"
#include "points/points.h"

enum { BLOCK = 2048 };

/* A block by columns, of `rows` rows at most, the first d + 1 of which are R. */
typedef struct block {
    int64_t width; /* d + 1 */
    int64_t rows;  /* room */
    int64_t used;
    double *numbers, *tau, *work;
    int64_t work_size;
} block;

static gram_status block_fail(gram_context *context, const char *what, int info)
{
    return gram_fail(context, GRAM_ERROR_NUMERICAL, "bayes_fit: LAPACK's %s failed with %d", what, info);
}

static gram_status take_block(gram_context *context, int64_t d, int64_t n, block *b)
{
    gram_status status = GRAM_OK;
    const int64_t most = n < BLOCK ? n : BLOCK;
    b->width = d + 1;
    b->rows = b->width + (most > b->width ? most : b->width);
    b->work_size = 64 * b->width;
    FAIL_IF(b->rows > INT_MAX / 2 || b->work_size > INT_MAX, context, GRAM_ERROR_OVERFLOW,
            "bayes_fit: d = %lld is more than LAPACK can address", (long long)d);
    TRY(gram_take(context, "bayes_fit", b->rows * b->width, sizeof(double), (void **)&b->numbers));
    TRY(gram_take(context, "bayes_fit", b->width, sizeof(double), (void **)&b->tau));
    TRY(gram_take(context, "bayes_fit", b->work_size, sizeof(double), (void **)&b->work));
    memset(b->numbers, 0, (size_t)(b->rows * b->width) * sizeof(double));
    b->used = b->width;
done:
    return status;
}

static void give_block(gram_context *context, block *b)
{
    gram_give(context, b->numbers);
    gram_give(context, b->tau);
    gram_give(context, b->work);
}

/* The rows so far become R, and there is room again. */
static gram_status reduce(gram_context *context, block *b)
{
    const int rows = (int)b->used, columns = (int)b->width, stride = (int)b->rows, size = (int)b->work_size;
    int info = 0;
    const int blas = gram_blas_enter();
    dgeqrf_(&rows, &columns, b->numbers, &stride, b->tau, b->work, &size, &info);
    gram_blas_leave(blas);
    if (info != 0) return block_fail(context, "dgeqrf", info);
    for (int64_t j = 0; j < b->width; j++)
        for (int64_t i = j + 1; i < b->rows; i++) b->numbers[j * b->rows + i] = 0;
    b->used = b->width;
    return GRAM_OK;
}

/* ---- rows ---- */

static double weight_of(const double *weights, int64_t i)
{
    return weights ? weights[i] : 1;
}

static void find_means(const gram_points *x, const double *y, const double *weights, gram_bayes_data *data)
{
    const int64_t d = data->d;
    double squares = 0;
    for (int64_t i = 0; i < x->n; i++) {
        const double v = weight_of(weights, i);
        if (v == 0) continue;
        data->n++;
        data->weight += v;
        data->log_weights += log(v);
    }
    for (int64_t i = 0; i < x->n && data->intercept; i++) {
        const double share = weight_of(weights, i) / data->weight;
        for (int64_t l = 0; l < d; l++) data->centre[l] += share * gram_points_at(x, i, l);
        data->target += share * y[i];
    }
    for (int64_t i = 0; i < x->n; i++) squares += weight_of(weights, i) * (y[i] - data->target) * (y[i] - data->target);
    data->squares = squares;
}

/* Rounding of the mean would make a constant feature vary by its last digit, and its weight anything. */
static void find_varying(const gram_points *x, const double *weights, gram_bayes_data *data)
{
    const double rounding = 1e-15;
    for (int64_t l = 0; l < data->d; l++) {
        double raw = 0, about = 0;
        for (int64_t i = 0; i < x->n; i++) {
            const double value = gram_points_at(x, i, l), v = weight_of(weights, i);
            raw += v * value * value;
            about += v * (value - data->centre[l]) * (value - data->centre[l]);
        }
        data->varies[l] = isinf(raw) || about > rounding * rounding * raw;
    }
}

static gram_status read_rows(gram_context *context, const gram_points *x, const double *y, const double *weights,
                             const gram_bayes_data *data, block *b)
{
    gram_status status = GRAM_OK;
    for (int64_t i = 0; i < x->n; i++) {
        const double root = sqrt(weight_of(weights, i));
        if (root == 0) continue;
        double *row = b->numbers + b->used++;
        for (int64_t l = 0; l < data->d; l++)
            row[l * b->rows] = root * data->varies[l] * (gram_points_at(x, i, l) - data->centre[l]);
        row[data->d * b->rows] = root * (y[i] - data->target);
        if (b->used < b->rows) continue;
        TRY(reduce(context, b));
        FAIL_IF(context->cancel && context->cancel(context->cancel_user), context, GRAM_ERROR_CANCELLED,
                "bayes_fit: cancelled");
    }
    TRY(reduce(context, b));
done:
    return status;
}

/* R_x = U S V'. */
static gram_status decompose(gram_context *context, const block *b, gram_bayes_data *data)
{
    gram_status status = GRAM_OK;
    const int64_t d = data->d;
    const int order = (int)d;
    int info = 0, size = -1, *integers = NULL;
    double *r = NULL, *u = NULL, *work = NULL, best = 0;
    TRY(gram_take(context, "bayes_fit", d * d, sizeof(double), (void **)&r));
    TRY(gram_take(context, "bayes_fit", d * d, sizeof(double), (void **)&u));
    TRY(gram_take(context, "bayes_fit", 8 * d, sizeof(int), (void **)&integers));
    for (int64_t j = 0; j < d; j++) memcpy(r + j * d, b->numbers + j * b->rows, (size_t)d * sizeof *r);
    /* by columns V' is what V is by rows */
    const int asked = gram_blas_enter();
    dgesdd_("A", &order, &order, r, &order, data->values, u, &order, data->vectors, &order, &best, &size, integers,
            &info, 1);
    gram_blas_leave(asked);
    FAIL_IF(!(best < INT_MAX), context, GRAM_ERROR_OVERFLOW, "bayes_fit: d = %lld is more than LAPACK can address",
            (long long)d);
    size = (int)best;
    TRY(gram_take(context, "bayes_fit", size, sizeof(double), (void **)&work));
    const int blas = gram_blas_enter();
    dgesdd_("A", &order, &order, r, &order, data->values, u, &order, data->vectors, &order, work, &size, integers,
            &info, 1);
    gram_blas_leave(blas);
    if (info != 0) {
        status = block_fail(context, "dgesdd", info);
        goto done;
    }
    for (int64_t j = 0; j < d; j++) {
        data->z[j] = 0;
        for (int64_t i = 0; i < d; i++) data->z[j] += u[j * d + i] * b->numbers[d * b->rows + i];
    }
    const double corner = b->numbers[d * b->rows + d];
    data->rest = corner * corner;
done:
    gram_give(context, r);
    gram_give(context, u);
    gram_give(context, integers);
    gram_give(context, work);
    return status;
}

gram_status gram_bayes_data_make(gram_context *context, const gram_points *x, const double *y, const double *weights,
                                 int intercept, gram_bayes_data *data)
{
    gram_status status = GRAM_OK;
    const int64_t d = x->d;
    block b = {0};
    memset(data, 0, sizeof *data);
    data->d = d;
    data->intercept = intercept;
    TRY(gram_take(context, "bayes_fit", d, sizeof(double), (void **)&data->centre));
    TRY(gram_take(context, "bayes_fit", d, sizeof(double), (void **)&data->varies));
    TRY(gram_take(context, "bayes_fit", d, sizeof(double), (void **)&data->values));
    TRY(gram_take(context, "bayes_fit", d, sizeof(double), (void **)&data->z));
    TRY(gram_take(context, "bayes_fit", d * d, sizeof(double), (void **)&data->vectors));
    memset(data->centre, 0, (size_t)d * sizeof *data->centre);
    find_means(x, y, weights, data);
    find_varying(x, weights, data);
    TRY(take_block(context, d, x->n, &b));
    TRY(read_rows(context, x, y, weights, data, &b));
    TRY(decompose(context, &b, data));
done:
    give_block(context, &b);
    return status;
}

void gram_bayes_data_free(gram_context *context, gram_bayes_data *data)
{
    gram_give(context, data->centre);
    gram_give(context, data->varies);
    gram_give(context, data->values);
    gram_give(context, data->vectors);
    gram_give(context, data->z);
}

void gram_bayes_at(const gram_bayes_posterior *p, const double *x, double *mean, double *leverage, double *work)
{
    const int64_t d = p->d;
    double sum = p->constant, square = p->lift;
    for (int64_t l = 0; l < d; l++) sum += p->weights[l] * x[l];
    *mean = sum;
    if (!leverage) return;
    memset(work, 0, (size_t)d * sizeof *work);
    for (int64_t l = 0; l < d; l++) {
        const double from = x[l] - p->centre[l], *row = p->factor + l * d;
        for (int64_t j = 0; j < d; j++) work[j] += from * row[j];
    }
    for (int64_t j = 0; j < d; j++) square += work[j] * work[j];
    *leverage = square;
}
