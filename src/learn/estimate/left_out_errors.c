/* Mean losses of rows that were left out.
 *
 * With weights w and losses l of G independent groups of rows (each row its own, unless groups were given),
 *
 *     m = sum w l/sum w,   se^2 = G/(G - 1) sum_g (sum_{i in g} w_i (l_i - m))^2/(sum w)^2,
 *
 * and that of a root mean square is se/(2 sqrt(m)). Losses of two rows of a fold depend on each other a little through the fit that
 * they share, which is left out of account. */
#include <math.h>
#include <stdlib.h>

#include "learn/describe/description_parts.h"
#include "learn/estimate/error_estimate.h"
#include "learn/estimate/feature_importance.h"
#include "learn/estimate/row_loss.h"

typedef struct row_loss {
    int64_t group;
    double loss, weight;
} row_loss;

static int by_group(const void *a, const void *b)
{
    const int64_t x = ((const row_loss *)a)->group, y = ((const row_loss *)b)->group;
    return (x > y) - (x < y);
}

/* Rows are sorted by their groups. */
static void mean_of(int64_t count, const row_loss *rows, double *mean, double *se)
{
    double total = 0, weight = 0, squares = 0, of_group = 0;
    int64_t groups = 0;
    for (int64_t i = 0; i < count; i++) {
        total += rows[i].weight * rows[i].loss;
        weight += rows[i].weight;
    }
    *mean = weight > 0 ? total / weight : NAN;
    for (int64_t i = 0; i < count; i++) {
        of_group += rows[i].weight * (rows[i].loss - *mean);
        if (i + 1 < count && rows[i + 1].group == rows[i].group) continue;
        squares += of_group * of_group;
        of_group = 0;
        groups++;
    }
    *se = groups > 1 ? sqrt(squares * (double)groups / (double)(groups - 1)) / weight : NAN;
}

/* What a row of the values loses; NaN: it does not count. */
typedef double (*loss_fn)(const gram_left_out *out, int64_t row, const double *values);

double gram_left_out_loss(const gram_left_out *out, int64_t row, const double *values)
{
    const int classes = out->classes.count > 0;
    return gram_row_loss(&out->columns, out->whole->data->y + row * out->whole->data->targets,
                         classes ? (int64_t)out->whole->labels[row] : 0, values);
}

static double absolute_loss(const gram_left_out *out, int64_t row, const double *values)
{
    return fabs(out->whole->data->y[row * out->whole->data->targets] - values[0]);
}

static double density_loss(const gram_left_out *out, int64_t row, const double *values)
{
    const double scale = values[out->columns.spread];
    const double z = (out->whole->data->y[row * out->whole->data->targets] - values[0]) / scale;
    return scale > 0 ? gram_minus_log_density(out->columns.freedom, z) + log(scale) : NAN;
}

static double right_class(const gram_left_out *out, int64_t row, const double *values)
{
    return values[0] == out->whole->labels[row];
}

static double log_loss(const gram_left_out *out, int64_t row, const double *values)
{
    const double p = values[1 + (int64_t)out->whole->labels[row]];
    return isnan(p) ? NAN : -log(fmax(p, 1e-15));
}

gram_status gram_left_out_mean(const gram_left_out *out, const double *losses, double *mean, double *se)
{
    gram_status status = GRAM_OK;
    const gram_learning *whole = out->whole;
    const double *weights = whole->has_row_noise ? NULL : whole->data->weights;
    row_loss *rows = NULL;
    int64_t count = 0;
    TRY(gram_take(whole->context, "left out", out->n, sizeof *rows, (void **)&rows));
    for (int64_t i = 0; i < out->n; i++)
        if (!isnan(losses[i]))
            rows[count++] = (row_loss){whole->groups ? whole->groups[i] : i, losses[i], weights ? weights[i] : 1};
    if (whole->groups) qsort(rows, (size_t)count, sizeof *rows, by_group);
    mean_of(count, rows, mean, se);
done:
    gram_give(whole->context, rows);
    return status;
}

static int64_t collect(const gram_left_out *out, loss_fn loss, row_loss *rows)
{
    const gram_learning *whole = out->whole;
    const double *weights = whole->has_row_noise ? NULL : whole->data->weights;
    int64_t count = 0;
    for (int64_t i = 0; i < out->n; i++) {
        const double *values = out->values + i * out->ld;
        if (isnan(values[0])) continue;
        rows[count] = (row_loss){whole->groups ? whole->groups[i] : i, loss(out, i, values), weights ? weights[i] : 1};
        count += !isnan(rows[count].loss);
    }
    if (whole->groups) qsort(rows, (size_t)count, sizeof *rows, by_group);
    return count;
}

static int64_t judge(const gram_left_out *out, loss_fn loss, row_loss *rows, double *mean, double *se)
{
    const int64_t count = collect(out, loss, rows);
    mean_of(count, rows, mean, se);
    return count;
}

/* 1 - squared errors over squares about the mean of each target, of the rows that were left out. */
static double explained(const gram_left_out *out, double mean_square)
{
    const gram_learning *whole = out->whole;
    const double *weights = whole->has_row_noise ? NULL : whole->data->weights;
    const int64_t targets = whole->data->targets;
    double squares = 0;
    for (int64_t o = 0; o < targets; o++) {
        double sum = 0, weight = 0, about = 0;
        for (int64_t pass = 0; pass < 2; pass++)
            for (int64_t i = 0; i < out->n; i++) {
                const double w = weights ? weights[i] : 1, y = whole->data->y[i * targets + o];
                if (isnan(out->values[i * out->ld])) continue;
                if (pass == 0) weight += w, sum += w * y;
                if (pass == 1) about += w * (y - sum / weight) * (y - sum / weight);
            }
        squares += about / weight / (double)targets;
    }
    return squares > 0 ? 1 - mean_square / squares : NAN;
}

static void judge_numbers(const gram_left_out *out, row_loss *rows, gram_left_out_errors *e)
{
    double square, square_se;
    e->rows = judge(out, gram_left_out_loss, rows, &square, &square_se);
    e->rmse = sqrt(square);
    e->rmse_se = square > 0 ? square_se / (2 * e->rmse) : 0;
    e->r2 = explained(out, square);
    (void)judge(out, absolute_loss, rows, &e->mae, &e->mae_se);
    if (out->columns.spread >= 0 && judge(out, density_loss, rows, &e->nlpd, &e->nlpd_se) < e->rows) e->nlpd = NAN;
}

gram_status gram_left_out_judge(const gram_left_out *out, gram_left_out_errors *errors)
{
    gram_status status = GRAM_OK;
    row_loss *rows = NULL;
    *errors = (gram_left_out_errors){0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (!out->values || out->rows == 0) return status;
    TRY(gram_take(out->whole->context, "left out", out->n, sizeof *rows, (void **)&rows));
    if (out->classes.count > 0) {
        errors->rows = judge(out, right_class, rows, &errors->accuracy, &errors->accuracy_se);
        if (judge(out, log_loss, rows, &errors->log_loss, &errors->log_loss_se) < errors->rows) errors->log_loss = NAN;
    } else if (out->columns.level_count > 0) {
        errors->rows = judge(out, gram_left_out_loss, rows, &errors->loss, &errors->loss_se);
    } else {
        judge_numbers(out, rows, errors);
    }
done:
    gram_give(out->whole->context, rows);
    return status;
}
