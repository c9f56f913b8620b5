/* The centres that weigh most at one row: f(x) = constant + sum_i a_i k(x_i, x), largest |a_i k(x_i, x)| first. Of several outputs it is that of the
 * class that is predicted, if there is one for each class, else the first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/function.h>
#include <gram/matrix.h>

#include "learn/explain/explanation.h"

static int larger(const void *a, const void *b)
{
    const gram_row_weight *x = a, *y = b;
    if (fabs(x->part) != fabs(y->part)) return fabs(x->part) < fabs(y->part) ? 1 : -1;
    return (x->centre > y->centre) - (x->centre < y->centre);
}

static int64_t output_of(gram_explaining *e, const double *at, gram_status *status)
{
    const gram_columns *columns = gram_predictor_columns(e->predictor);
    double *values = NULL;
    int64_t output = 0;
    if (columns->classes->count < 3 || gram_function_outputs(gram_model_function(e->model)) != columns->classes->count)
        return 0;
    *status = gram_take(e->context, "explain", e->ld, sizeof *values, (void **)&values);
    if (*status >= 0) *status = gram_explain_predict(e, 1, at, values);
    if (*status >= 0) output = (int64_t)values[0];
    gram_give(e->context, values);
    return output;
}

/* The row of the table with these features, bit for bit; -1: none. */
static int64_t find_row(const gram_explaining *e, const double *x)
{
    for (int64_t i = 0; i < e->data->n; i++)
        if (memcmp(e->data->x + i * e->d, x, (size_t)e->d * sizeof *x) == 0)
            return e->data->rows ? e->data->rows[i] : i;
    return -1;
}

/* What the centres are: as many as rows were learnt from, some of them, or others. */
static const char *centres_of(const gram_model *model, int64_t count)
{
    const double n = gram_kept_number(model, "n", NAN);
    if (!isnan(gram_kept_number(model, "n_support", NAN))) return "support vectors";
    return (double)count >= n ? "training rows" : "landmarks";
}

static gram_status keep_largest(gram_explaining *e, int64_t count, gram_row_weight *all)
{
    gram_status status = GRAM_OK;
    const double *centres = gram_function_centres_f64(gram_model_function(e->model));
    const int64_t kept = count < e->wish.most_weights ? count : e->wish.most_weights;
    qsort(all, (size_t)count, sizeof *all, larger);
    TRY(gram_explain_take(e, kept, sizeof *e->made->weights, &e->made->weights));
    for (int64_t k = 0; k < kept; k++) {
        double *x = NULL;
        TRY(gram_explain_take(e, e->d, sizeof *x, &x));
        memcpy(x, centres + all[k].centre * e->d, (size_t)e->d * sizeof *x);
        e->made->weights[k] = all[k];
        e->made->weights[k].x = x;
        e->made->weights[k].row = find_row(e, x);
    }
    e->made->weight_count = kept;
done:
    return status;
}

static gram_status find_weights(gram_explaining *e, const double *at)
{
    gram_status status = GRAM_OK;
    const gram_function *function = gram_model_function(e->model);
    const gram_points *centres = gram_function_centres(function);
    const int64_t count = gram_points_count(centres), outputs = gram_function_outputs(function),
                  output = output_of(e, at, &status);
    gram_points *point = NULL;
    gram_row_weight *all = NULL;
    double *k = NULL, *f = NULL, sum = 0;
    if (status < 0) goto done;
    TRY(gram_take(e->context, "explain", count, sizeof *k, (void **)&k));
    TRY(gram_take(e->context, "explain", outputs, sizeof *f, (void **)&f));
    TRY(gram_take(e->context, "explain", count, sizeof *all, (void **)&all));
    TRY(gram_points_create_f64(e->context, 1, e->d, at, e->d, &point));
    TRY(gram_matrix(e->context, gram_function_kernel(function), point, centres, k, count));
    TRY(gram_function_evaluate(e->context, function, point, f, outputs));
    for (int64_t i = 0; i < count; i++) {
        const double a = gram_function_coefficients(function)[i * outputs + output];
        all[i] = (gram_row_weight){.centre = i, .row = -1, .part = a * k[i], .kernel = k[i], .coefficient = a};
        sum += a * k[i];
    }
    e->made->function = f[output];
    e->made->constant = f[output] - sum;
    e->made->centres = centres_of(e->model, count);
    TRY(keep_largest(e, count, all));
done:
    gram_points_release(point);
    gram_give(e->context, k);
    gram_give(e->context, f);
    gram_give(e->context, all);
    return status;
}

gram_status gram_explain_weights(gram_explaining *e)
{
    const int classes = gram_predictor_columns(e->predictor)->classes->count > 0;
    int64_t row = -1;
    if (e->wish.row < 0) return GRAM_OK;
    for (int64_t i = 0; i < e->data->n && row < 0; i++)
        if ((e->data->rows ? e->data->rows[i] : i) == e->wish.row) row = i;
    if (row < 0)
        return gram_fail_spoken(e->context, GRAM_ERROR_ARGUMENT, (gram_speech){e->wish.who, e->wish.dashes},
                                "Rows count from 1.", "--row %lld: there is no such row, or it was left out",
                                (long long)e->wish.row + 1);
    e->made->row = e->wish.row;
    if ((!classes && !e->is_function) || !gram_function_centres_f64(gram_model_function(e->model))) return GRAM_OK;
    return find_weights(e, e->data->x + row * e->d);
}
