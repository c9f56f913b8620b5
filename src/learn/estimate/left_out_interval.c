/* Intervals from rows that were left out (Barber, Candes, Ramdas, Tibshirani 2021, "Predictive inference with the jackknife+").
 *
 * With m rows left out, r_i the error of row i by the fit f_(i) that did not see it, and a = 1 - p,
 *
 *     CV+        lower: number floor(a (m + 1)) of f_(i)(x) - |r_i| in ascending order,
 *                upper: number ceil((1 - a)(m + 1)) of f_(i)(x) + |r_i|;
 *     jackknife  f(x) -+ number ceil((1 - a)(m + 1)) of |r_i|.
 *
 * CV+ covers a new row with a probability of at least 1 - 2a - O(1/m), whatever the method and the distribution, and in practice about 1 - a; it
 * needs the fits of the folds, which are kept with models of few rows, where they differ. With many rows they are all near f, and the
 * jackknife is the same thing; it has no such bound. Widths are the same everywhere but for what the folds disagree about: where the
 * noise depends on x, the coverage is right on the average over rows, not at each of them. */
#include "learn/estimate/left_out_interval.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/order_statistics.h"
#include "learn/estimate/kept_models.h"
#include "points/points.h"

static const char ARRAY[] = "left_out"; /* two rows: |r_i|, ascending without folds, and the fold */
enum { NAME = 32, MOST_FOLDS = 64 };

typedef struct interval {
    gram_columns inner;   /* the method's own */
    int64_t m, low, high; /* rows; places in ascending order */
    const double *errors, *folds;
    int64_t count; /* of the folds' fits; 0: the jackknife */
    gram_model *models[MOST_FOLDS];
    gram_predictor *fits[MOST_FOLDS];
} interval;

static const char *fold_name(int64_t fold, char name[NAME])
{
    (void)snprintf(name, NAME, "fold_%" PRId64, fold + 1);
    return name;
}

/* ---- keeping ---- */

gram_status gram_interval_keep(gram_keeper *keeper, const gram_left_out *out, const int64_t *fold)
{
    gram_status status = GRAM_OK;
    const gram_learning *whole = out->whole;
    char name[NAME];
    double *numbers = NULL;
    int64_t m = 0;
    if (whole->task != GRAM_TASK_REGRESSION || whole->data->targets != 1 || out->columns.level_count > 0 ||
        whole->method->intervals || out->kept_count > MOST_FOLDS)
        return status;
    TRY(gram_take(keeper->context, "intervals", 2 * out->rows, sizeof *numbers, (void **)&numbers));
    for (int64_t i = 0; i < out->n && m < out->rows; i++) {
        const double f = out->values[i * out->ld];
        if (isnan(f)) continue;
        numbers[m] = fabs(whole->data->y[i] - f);
        numbers[out->rows + m++] = fold ? (double)fold[i] : 0;
    }
    if (out->kept_count == 0) gram_sort_numbers(m, numbers);
    gram_keep_array(keeper, ARRAY, 2, out->rows, numbers);
    for (int64_t k = 0; k < out->kept_count; k++) TRY(gram_keep_model(keeper, fold_name(k, name), out->kept[k]));
    gram_keep_integer(keeper, "estimate_models", out->kept_count);
    status = keeper->status;
done:
    gram_give(keeper->context, numbers);
    return status;
}

/* ---- opening ---- */

int gram_interval_is_known(const gram_model *model)
{
    int64_t rows = 0, columns = 0;
    return gram_model_array(model, ARRAY, &rows, &columns) && rows == 2 && columns > 0;
}

void gram_interval_close(gram_predictor *predictor)
{
    interval *own = predictor->interval;
    if (!own) return;
    for (int64_t k = 0; k < own->count; k++) {
        gram_predictor_destroy(own->fits[k]);
        gram_model_destroy(own->models[k]);
    }
}

static gram_status open_folds(gram_context *context, gram_predictor *predictor, interval *own, int64_t count)
{
    gram_status status = GRAM_OK;
    char name[NAME];
    for (int64_t k = 0; k < count; k++) {
        own->count = k + 1;
        TRY(gram_kept_model(context, predictor->model, fold_name(k, name), predictor->wish.name, &own->models[k]));
        if (!own->models[k] || gram_interval_is_known(own->models[k]))
            return gram_predictor_damaged(context, predictor, "damaged: a fold has no model");
        TRY(gram_predictor_create(context, own->models[k], NULL, &own->fits[k]));
        if (gram_predictor_columns(own->fits[k])->outputs != 1 ||
            gram_points_dimension(gram_function_centres(gram_model_function(own->models[k]))) !=
                gram_points_dimension(gram_function_centres(gram_model_function(predictor->model))))
            return gram_predictor_damaged(context, predictor, "damaged: a fold has other columns");
    }
    for (int64_t i = 0; i < own->m; i++)
        if (!(own->folds[i] >= 0 && own->folds[i] < (double)count) || !(own->errors[i] >= 0))
            return gram_predictor_damaged(context, predictor, "damaged: a left-out row is of no fold");
done:
    return status;
}

gram_status gram_interval_open(gram_context *context, gram_predictor *predictor, double p)
{
    gram_status status = GRAM_OK;
    interval *own = NULL;
    int64_t rows = 0;
    TRY(gram_arena_take(context, &predictor->arena, "predictor", 1, sizeof *own, (void **)&own));
    predictor->interval = own;
    own->errors = gram_model_array(predictor->model, ARRAY, &rows, &own->m);
    own->folds = own->errors + own->m;
    own->high = (int64_t)ceil(p * (double)(own->m + 1) - 1e-9);
    own->low = own->m + 1 - own->high;
    if (own->high > own->m)
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, "Ask for less, or fit a Gaussian process.",
                                   "--interval %g needs more left-out rows than %" PRId64, p, own->m);
    const double count = gram_kept_number(predictor->model, "estimate_models", 0);
    if (count > MOST_FOLDS) return gram_predictor_damaged(context, predictor, "damaged: it has too many folds");
    if (count > 0) TRY(open_folds(context, predictor, own, (int64_t)count));
    own->inner = predictor->columns;
    TRY(gram_predictor_column(context, predictor, "lower", ""));
    TRY(gram_predictor_column(context, predictor, "upper", ""));
    predictor->columns.lower = own->inner.count;
    predictor->columns.upper = own->inner.count + 1;
    predictor->columns.spread = -1;
    predictor->columns.ld = predictor->columns.count;
done:
    return status;
}

gram_predictor gram_interval_inner(const gram_predictor *predictor)
{
    gram_predictor inner = *predictor;
    inner.columns = ((const interval *)predictor->interval)->inner;
    inner.interval = NULL;
    return inner;
}

/* ---- values ---- */

/* f of each fold, n x count. */
static gram_status evaluate_folds(gram_context *context, const interval *own, const gram_places *places, double *f)
{
    gram_status status = GRAM_OK;
    double *values = NULL;
    for (int64_t k = 0; k < own->count; k++) {
        const int64_t ld = gram_predictor_columns(own->fits[k])->ld;
        gram_give(context, values);
        values = NULL;
        TRY(gram_take(context, "intervals", places->n * ld, sizeof *values, (void **)&values));
        TRY(gram_predictor_evaluate_stored(context, own->fits[k], places->points->objects, places->n, places->x,
                                           places->weights, 0, values, ld));
        for (int64_t i = 0; i < places->n; i++) f[i * own->count + k] = values[i * ld];
    }
done:
    gram_give(context, values);
    return status;
}

gram_status gram_interval_fill(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                               double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const interval *own = predictor->interval;
    const int64_t m = own->m;
    double *f = NULL, *ends = NULL;
    TRY(gram_take(context, "intervals", places->n * own->count + 1, sizeof *f, (void **)&f));
    TRY(gram_take(context, "intervals", m, sizeof *ends, (void **)&ends));
    TRY(evaluate_folds(context, own, places, f));
    for (int64_t i = 0; i < places->n; i++) {
        double *lower = &values[i * ldv + predictor->columns.lower], *upper = lower + 1;
        for (int end = 0; end < 2 && own->count > 0; end++) {
            for (int64_t r = 0; r < m; r++)
                ends[r] = f[i * own->count + (int64_t)own->folds[r]] + (end ? own->errors[r] : -own->errors[r]);
            gram_sort_numbers(m, ends);
            *(end ? upper : lower) = ends[(end ? own->high : own->low) - 1];
        }
        if (own->count > 0) continue;
        *lower = values[i * ldv] - own->errors[own->high - 1];
        *upper = values[i * ldv] + own->errors[own->high - 1];
    }
done:
    gram_give(context, f);
    gram_give(context, ends);
    return status;
}
