/* What the filter is given and what is made of its innovations.
 *
 * With D = [y, T] the filter's sum of v v'/S is D'A^-1 D: all of generalised least squares. A first guess of beta by ordinary
 * least squares is taken off before, and the linear column is centred and scaled: a large constant in y or in x would cancel
 * in y'A^-1 y - (T'A^-1 y)'(T'A^-1 T)^-1 (T'A^-1 y) otherwise. */
#include "method/gp/markov/markov_system.h"

#include <math.h>
#include <string.h>

#include "base/sized_struct.h"
#include "method/gp/gp_system.h"
#include "points/points.h"

static const double DEPENDENT = 1e-12; /* of a pivot, relative to the column's own size: as in gp_system.c */

enum { MOST_COLUMNS = 1000 };

/* ---- the small matrices of the mean ---- */

/* The lower factor of a symmetric q x q matrix, in place; returns the log-determinant of the columns that are kept. */
static double small_factor(int q, double *c, double *kept)
{
    double log_determinant = 0;
    for (int j = 0; j < q; j++) {
        double pivot = c[j * q + j];
        const double size = pivot;
        for (int k = 0; k < j; k++) pivot -= c[j * q + k] * c[j * q + k];
        const int keep = pivot > DEPENDENT * size;
        kept[j] = keep;
        if (keep) log_determinant += log(pivot);
        c[j * q + j] = keep ? sqrt(pivot) : 1;
        for (int k = 0; k < j && !keep; k++) c[j * q + k] = 0;
        for (int i = j + 1; i < q; i++) {
            double sum = c[i * q + j];
            for (int k = 0; k < j; k++) sum -= c[i * q + k] * c[j * q + k];
            c[i * q + j] = keep ? sum / c[j * q + j] : 0;
        }
    }
    return log_determinant;
}

void gram_markov_small_solve(const gram_markov_system *s, double *v)
{
    for (int i = 0; i < s->q; i++) {
        for (int k = 0; k < i; k++) v[i] -= s->small[i * s->q + k] * v[k];
        v[i] *= s->kept[i] / s->small[i * s->q + i];
    }
}

static void small_solve_back(const gram_markov_system *s, double *v)
{
    for (int i = s->q - 1; i >= 0; i--) {
        for (int k = i + 1; k < s->q; k++) v[i] -= s->small[k * s->q + i] * v[k];
        v[i] *= s->kept[i] / s->small[i * s->q + i];
    }
}

/* ---- the mean ---- */

void gram_markov_mean_row(const gram_markov_system *s, double t, const double *basis, double *row)
{
    int j = 0;
    if (s->options.mean != GRAM_MEAN_ZERO) row[j++] = 1;
    if (s->options.mean == GRAM_MEAN_LINEAR) row[j++] = (t - s->centre) / s->scale;
    for (int64_t l = 0; l < s->options.columns; l++) row[j++] = basis[l];
}

static void set_scale(gram_markov_system *s)
{
    const double first = s->t[0], last = s->t[s->n - 1];
    s->centre = 0.5 * first + 0.5 * last;
    s->scale = last > first ? last - s->centre : 1;
}

/* Takes T beta off y, beta by ordinary least squares. */
static void guess_mean(gram_markov_system *s)
{
    const int q = s->q, c = q + 1;
    memset(s->small, 0, (size_t)(q * q) * sizeof(double));
    memset(s->beta, 0, (size_t)q * sizeof(double));
    for (int64_t i = 0; i < s->n; i++) {
        const double *row = s->data + i * c;
        for (int j = 0; j < q; j++) {
            s->beta[j] += row[j + 1] * row[0];
            for (int k = 0; k <= j; k++) s->small[j * q + k] += row[j + 1] * row[k + 1];
        }
    }
    (void)small_factor(q, s->small, s->kept);
    gram_markov_small_solve(s, s->beta);
    small_solve_back(s, s->beta);
    for (int64_t i = 0; i < s->n; i++)
        for (int j = 0; j < q; j++) s->data[i * c] -= s->data[i * c + j + 1] * s->beta[j];
}

/* [1, 0; -delta, small^-T]; its first column is there already. */
static void set_matrix(gram_markov_system *s)
{
    const int q = s->q, c = q + 1;
    s->matrix[0] = 1;
    for (int k = 1; k <= q; k++) s->matrix[k] = 0;
    for (int k = 0; k < q; k++) {
        double *column = s->delta;
        memset(column, 0, (size_t)q * sizeof(double));
        column[k] = s->kept[k];
        small_solve_back(s, column);
        for (int j = 0; j < q; j++) s->matrix[(j + 1) * c + k + 1] = column[j];
    }
}

void gram_markov_system_settle(gram_markov_system *s, const gram_markov_pass *pass)
{
    const int q = s->q, c = q + 1;
    const double *g = pass->products;
    s->log_determinant = pass->log_determinant;
    s->quadratic = g[0];
    s->rank = 0;
    for (int j = 0; j < q; j++) {
        s->delta[j] = g[(j + 1) * c];
        for (int k = 0; k < q; k++) s->small[j * q + k] = g[(j + 1) * c + k + 1];
    }
    s->log_small = small_factor(q, s->small, s->kept);
    gram_markov_small_solve(s, s->delta);
    for (int j = 0; j < q; j++) {
        s->quadratic -= s->delta[j] * s->delta[j];
        s->rank += s->kept[j] > 0;
    }
    if (s->quadratic < 0) s->quadratic = 0;
    if (s->options.mean == GRAM_MEAN_LINEAR && s->kept[1] > 0) s->log_small += 2 * log(s->scale);
    small_solve_back(s, s->delta);
    for (int j = 0; j < q; j++) {
        s->beta[j] += s->delta[j];
        s->matrix[(j + 1) * c] = -s->delta[j];
    }
    set_matrix(s);
}

double gram_markov_log_likelihood(const gram_markov_system *s)
{
    const double log_2pi = 1.8378770664093454836;
    const double rows = (double)(s->options.flat ? s->n - s->rank : s->n);
    return -0.5 * (s->quadratic + s->log_determinant + (s->options.flat ? s->log_small : 0) + rows * log_2pi);
}

/* ---- the whole ---- */

static gram_status take(gram_context *context, gram_markov_system *s)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->n, q = s->q, c = q + 1;
    TRY(gram_take(context, "markov: order", n, sizeof *s->order, (void **)&s->order));
    TRY(gram_take(context, "markov: points", n, sizeof(double), (void **)&s->t));
    TRY(gram_take(context, "markov: noise", n, sizeof(double), (void **)&s->noise));
    TRY(gram_take(context, "markov: data", n * c, sizeof(double), (void **)&s->data));
    TRY(gram_take(context, "markov: mean", q, sizeof(double), (void **)&s->beta));
    TRY(gram_take(context, "markov: mean", q, sizeof(double), (void **)&s->delta));
    TRY(gram_take(context, "markov: mean", q, sizeof(double), (void **)&s->kept));
    TRY(gram_take(context, "markov: mean", q * q, sizeof(double), (void **)&s->small));
    TRY(gram_take(context, "markov: mean", c * c, sizeof(double), (void **)&s->matrix));
done:
    return status;
}

static void fill(gram_markov_system *s, const double *y)
{
    const gram_gp_options *o = &s->options;
    set_scale(s);
    for (int64_t i = 0; i < s->n; i++) {
        const int64_t row = s->order[i];
        double *data = s->data + i * (s->q + 1);
        data[0] = y[row];
        gram_markov_mean_row(s, s->t[i], o->basis ? o->basis + row * o->ld : NULL, data + 1);
        s->noise[i] = gram_gp_row_noise(o, row) + gram_markov_white(&s->model, s->t[i]);
    }
    if (s->q > 0) guess_mean(s);
}

gram_status gram_markov_system_make(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                                    const double *y, const gram_gp_options *options, gram_markov_system *system)
{
    gram_status status = GRAM_OK;
    gram_markov_system *s = system;
    memset(s, 0, sizeof *s);
    TRY(gram_gp_options_read(context, name, options, &s->options));
    const gram_gp_options *o = &s->options;
    TRY(gram_gp_check(context, name, kernel, x, y, o));
    TRY(gram_markov_model_make(context, name, kernel, 0, &s->model));
    TRY(gram_markov_check_points(context, name, "x", &s->model, x));
    const int64_t q = (o->mean != GRAM_MEAN_ZERO) + (o->mean == GRAM_MEAN_LINEAR) + o->columns;
    FAIL_IF(q > MOST_COLUMNS, context, GRAM_ERROR_ARGUMENT, "%s: a mean of %lld columns, at most %d", name,
            (long long)q, MOST_COLUMNS);
    s->n = x->n;
    s->q = (int)q;
    TRY(take(context, s));
    TRY(gram_markov_sort(context, x, s->order, s->t));
    fill(s, y);
done:
    return status;
}

void gram_markov_system_free(gram_memory *memory, gram_markov_system *s)
{
    gram_memory_give(memory, s->order);
    gram_memory_give(memory, s->t);
    gram_memory_give(memory, s->noise);
    gram_memory_give(memory, s->data);
    gram_memory_give(memory, s->beta);
    gram_memory_give(memory, s->delta);
    gram_memory_give(memory, s->kept);
    gram_memory_give(memory, s->small);
    gram_memory_give(memory, s->matrix);
    gram_markov_model_free(&s->model);
    memset(s, 0, sizeof *s);
}
