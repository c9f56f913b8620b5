/* Rows of a spline: checked, sorted, and those of one x pooled. The sum of squares of such rows about a common value is that of their
 * weighted mean and a part that no function changes. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "method/spline/spline.h"
#include "solve/markov/markov_order.h"

static double weight_of(const double *weights, int64_t i)
{
    return weights ? weights[i] : 1;
}

gram_status gram_spline_rows_check(gram_context *context, const char *function, const gram_points *x, const double *y,
                                   const double *weights)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    for (int64_t i = 0; i < x->n; i++) {
        FAIL_IF(!isfinite(y[i]), context, GRAM_ERROR_DATA, "%s: y[%" PRId64 "] = %s is not finite", function, i,
                gram_number_format(y[i], shown));
        FAIL_IF(weights && !(weights[i] >= 0 && isfinite(weights[i])), context, GRAM_ERROR_DATA,
                "%s: weights[%" PRId64 "] = %s is not a finite number >= 0", function, i,
                gram_number_format(weights[i], shown));
    }
done:
    return status;
}

/* Coordinates, and those of a circle moved into its first period. */
static gram_status sort(gram_context *context, const gram_points *x, double period, int64_t *order, double *sorted)
{
    gram_status status = GRAM_OK;
    gram_points *moved = NULL;
    double *phase = NULL;
    if (!(period > 0)) return gram_markov_sort(context, x, order, sorted);
    TRY(gram_take(context, "spline: phases", x->n, sizeof *phase, (void **)&phase));
    for (int64_t i = 0; i < x->n; i++) {
        const double t = gram_points_at(x, i, 0), rest = t - period * floor(t / period);
        phase[i] = rest < period ? rest : 0;
    }
    TRY(gram_points_create_f64(context, x->n, 1, phase, 1, &moved));
    TRY(gram_markov_sort(context, moved, order, sorted));
done:
    gram_points_release(moved);
    gram_give(context, phase);
    return status;
}

/* rows->t has the sorted coordinates, of which the distinct ones stay. */
static void pool(const double *y, const double *weights, const int64_t *order, int64_t given, gram_spline_rows *rows)
{
    double mean = 0;
    int64_t p = -1;
    for (int64_t k = 0; k < given; k++) {
        const int64_t i = order[k];
        const double w = weight_of(weights, i);
        rows->place[i] = -1;
        if (w == 0) continue;
        if (p < 0 || rows->t[k] != rows->t[p]) {
            rows->t[++p] = rows->t[k];
            rows->weight[p] = rows->mean[p] = 0;
        }
        const double step = y[i] - rows->mean[p];
        rows->weight[p] += w;
        rows->mean[p] += step * w / rows->weight[p];
        rows->within += w * step * (y[i] - rows->mean[p]);
        rows->place[i] = p;
        rows->n++;
        rows->log_weight += log(w);
        rows->total += w;
        const double far = y[i] - mean;
        mean += far * w / rows->total;
        rows->variation += w * far * (y[i] - mean);
    }
    rows->places = p + 1;
}

static void reverse(int64_t from, int64_t to, double *values)
{
    for (int64_t i = from, j = to - 1; i < j; i++, j--) {
        const double kept = values[i];
        values[i] = values[j];
        values[j] = kept;
    }
}

/* A circle starts with its widest gap, which its first link is divided by. */
static void turn(gram_spline_rows *rows)
{
    const int64_t n = rows->places;
    double *const columns[] = {rows->t, rows->weight, rows->mean}, widest = -1;
    int64_t first = 0;
    for (int64_t i = 0; i < n; i++) {
        const double gap = i + 1 < n ? rows->t[i + 1] - rows->t[i] : rows->t[0] + rows->period - rows->t[i];
        if (gap > widest) widest = gap, first = i;
    }
    for (int c = 0; c < 3; c++) {
        reverse(0, first, columns[c]);
        reverse(first, n, columns[c]);
        reverse(0, n, columns[c]);
    }
    for (int64_t i = n - first; i < n; i++) rows->t[i] += rows->period;
    for (int64_t i = 0; i < rows->given; i++)
        if (rows->place[i] >= 0) rows->place[i] = (rows->place[i] + n - first) % n;
}

gram_status gram_spline_rows_make(gram_context *context, const char *function, const gram_points *x, const double *y,
                                  const double *weights, int m, double period, gram_spline_rows *rows)
{
    gram_status status = GRAM_OK;
    const int64_t n = x->n, least = period > 0 ? 2 : m;
    int64_t *order = NULL;
    *rows = (gram_spline_rows){.given = n, .period = period};
    TRY(gram_spline_rows_check(context, function, x, y, weights));
    TRY(gram_take(context, "spline: rows", n, sizeof *order, (void **)&order));
    TRY(gram_take(context, "spline: rows", n, sizeof *rows->place, (void **)&rows->place));
    TRY(gram_take(context, "spline: places", n, sizeof *rows->t, (void **)&rows->t));
    TRY(gram_take(context, "spline: places", n, sizeof *rows->weight, (void **)&rows->weight));
    TRY(gram_take(context, "spline: places", n, sizeof *rows->mean, (void **)&rows->mean));
    TRY(sort(context, x, period, order, rows->t));
    pool(y, weights, order, n, rows);
    FAIL_IF(rows->places < least, context, GRAM_ERROR_DATA,
            "%s: x has %" PRId64 " distinct value%s, and a spline of order %d%s needs %" PRId64, function, rows->places,
            rows->places == 1 ? "" : "s", m, period > 0 ? " on a circle" : "", least);
    if (period > 0) turn(rows);
done:
    gram_give(context, order);
    return status;
}

void gram_spline_rows_free(gram_context *context, gram_spline_rows *rows)
{
    gram_give(context, rows->place);
    gram_give(context, rows->t);
    gram_give(context, rows->weight);
    gram_give(context, rows->mean);
    *rows = (gram_spline_rows){0};
}
