/* Additive models: f(x) = b + f_1(x_1) + ... + f_d(x_d), each f_j a smoothing spline of mean 0 over the rows with a lambda_j of its own.
 *
 * f_j is a sum of B-splines of degree 2m - 1 with their knots at the distinct values of x_j, if there are not many, and none
 * all but equal: then the minimum is that over all functions, as for one column. Otherwise at quantiles of them, 10 n^(2/9) many: the error of a spline with so few knots is
 * below that of the noise (Gu and Kim 2002; Wood 2017). The functions of one column are taken less their means, and the last is left
 * out, so that no constant is in two components. What is left is least squares with d penalties (spline_penalised.c). Normal equations
 * are enough here: with some hundred knots B-splines of a column have a condition of some hundreds. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/order_statistics.h"
#include "method/spline/spline.h"
#include "method/spline/spline_penalised.h"
#include "method/spline/spline_sum.h"

enum { LEAST_KNOTS = 60 };

static const double PI = 3.14159265358979323846;

int64_t gram_sum_knots(int64_t n)
{
    const double many = ceil(10 * pow((double)n, 2.0 / 9));
    return many > LEAST_KNOTS ? (int64_t)many : LEAST_KNOTS;
}

double gram_sum_bytes(int64_t n, int64_t d, int m)
{
    const double p = (double)d * ((double)gram_sum_knots(n) + 2 * m);
    return 8 * (5 * p * p + 4 * (double)n + p * p / (double)d);
}

/* ---- rows and functionals ---- */

void gram_sum_add(const gram_spline_sum *sum, const double *x, int64_t by, int first, int64_t with, int second,
                  int64_t only, double factor, gram_spline_row *row)
{
    const int r = first + second;
    double values[GRAM_BASIS_WIDTH];
    if (sum->plate) {
        gram_plate_add(sum, x, by, first, with, second, factor, row);
        return;
    }
    if (first > 0 && second > 0 && by != with) return; /* of a sum over columns */
    for (int64_t j = 0; j < sum->d; j++) {
        double *phi = row->phi + sum->first[j];
        if ((r > 0 && j != (first > 0 ? by : with)) || (only >= 0 && j != only)) continue;
        const int64_t at = gram_basis_at(&sum->basis[j], x[j], r, values), size = sum->first[j + 1] - sum->first[j];
        for (int64_t i = 0; i < 2 * sum->m && at + i < size; i++) phi[at + i] += factor * values[i];
        for (int64_t i = 0; i < size && r == 0; i++) phi[i] -= factor * sum->mean[sum->first[j] + i];
    }
    if (r == 0 && only < 0) row->constant += factor;
}

double gram_sum_value(const gram_spline_sum *sum, const gram_spline_row *row, double *variance)
{
    const int64_t p = sum->p;
    double value = row->constant * sum->b, square = row->constant * row->constant * sum->lift;
    for (int64_t i = 0; i < p; i++) value += row->phi[i] * sum->c[i];
    for (int64_t i = 0; i < p && variance; i++) {
        double inner = 0;
        if (row->phi[i] == 0) continue;
        for (int64_t k = 0; k < p; k++) inner += sum->v[i * p + k] * row->phi[k];
        square += row->phi[i] * inner;
    }
    if (variance) *variance = square > 0 ? square : 0;
    return value;
}

/* ---- knots ---- */

/* Penalties grow as gap^(1 - 2m), and what they are of a smooth function is a small difference of their entries: gaps that would make
 * them larger than 1e9 times that of the whole range go. */
static void drop_near(gram_basis *basis, double *t)
{
    const double last = t[basis->knots - 1], least = (last - t[0]) * pow(1e-9, 1 / (2.0 * basis->m - 1));
    int64_t count = 1;
    for (int64_t k = 1; k + 1 < basis->knots; k++)
        if (t[k] - t[count - 1] >= least && last - t[k] >= least) t[count++] = t[k];
    t[count++] = last;
    basis->knots = count;
}

/* The distinct values of a column, or as many of them as may be, evenly by their order. */
static gram_status choose_knots(gram_context *context, const gram_points *x, const double *weights, int64_t column,
                                int64_t most, gram_spline_sum *sum, gram_basis *basis)
{
    gram_status status = GRAM_OK;
    double *sorted = NULL, *t = NULL;
    int64_t n = 0, distinct = 0;
    TRY(gram_take(context, "spline: knots", x->n, sizeof *sorted, (void **)&sorted));
    for (int64_t i = 0; i < x->n; i++)
        if (!weights || weights[i] > 0) sorted[n++] = gram_points_at(x, i, column);
    gram_sort_numbers(n, sorted);
    for (int64_t i = 0; i < n; i++)
        if (distinct == 0 || sorted[i] > sorted[distinct - 1]) sorted[distinct++] = sorted[i];
    const int64_t least = sum->m > 2 ? sum->m : 2;
    FAIL_IF(distinct < least, context, GRAM_ERROR_DATA,
            "spline_fit: column %" PRId64 " of x has %" PRId64
            " distinct value%s, and a spline of order %d needs %" PRId64,
            column, distinct, distinct == 1 ? "" : "s", sum->m, least);
    basis->m = sum->m;
    basis->knots = distinct < most ? distinct : most;
    TRY(gram_arena_take(context, &sum->arena, "spline: knots", basis->knots, sizeof *t, (void **)&t));
    for (int64_t k = 0; k < basis->knots; k++)
        t[k] = sorted[(int64_t)((double)k * (double)(distinct - 1) / (double)(basis->knots - 1) + 0.5)];
    drop_near(basis, t);
    basis->t = t;
done:
    gram_give(context, sorted);
    return status;
}

static gram_status take_sum(gram_context *context, const gram_points *x, const gram_spline_options *o, int64_t rows,
                            gram_spline_sum *sum)
{
    gram_status status = GRAM_OK;
    const int64_t d = x->d;
    sum->d = d;
    sum->m = (int)o->order;
    TRY(gram_arena_take(context, &sum->arena, "spline", d, sizeof *sum->basis, (void **)&sum->basis));
    TRY(gram_arena_take(context, &sum->arena, "spline", d + 1, sizeof *sum->first, (void **)&sum->first));
    TRY(gram_arena_take(context, &sum->arena, "spline", 2 * d, sizeof *sum->lambda, (void **)&sum->lambda));
    sum->df = sum->lambda + d;
    sum->first[0] = 0;
    for (int64_t j = 0; j < d; j++) {
        TRY(choose_knots(context, x, o->weights, j, gram_sum_knots(rows), sum, &sum->basis[j]));
        sum->first[j + 1] = sum->first[j] + gram_basis_size(&sum->basis[j]) - 1;
    }
    sum->p = sum->first[d];
    TRY(gram_arena_take(context, &sum->arena, "spline", 2 * sum->p, sizeof *sum->c, (void **)&sum->c));
    sum->mean = sum->c + sum->p;
done:
    return status;
}

/* ---- sums over the rows ---- */

/* The functions that are not 0 at a row: 2m of each column, places in phi and values. Returns how many. */
static int64_t sparse_row(const gram_spline_sum *sum, const gram_points *x, int64_t i, int64_t *at, double *values)
{
    int64_t count = 0;
    double width[GRAM_BASIS_WIDTH];
    for (int64_t j = 0; j < sum->d; j++) {
        const int64_t first = gram_basis_at(&sum->basis[j], gram_points_at(x, i, j), 0, width);
        const int64_t size = sum->first[j + 1] - sum->first[j];
        for (int64_t k = 0; k < 2 * sum->m && first + k < size; k++) {
            at[count] = sum->first[j] + first + k;
            values[count++] = width[k];
        }
    }
    return count;
}

typedef struct sums {
    double *gram, *right; /* of phi less its mean and y less its mean */
    double *penalties;    /* one after the other, without the last function */
    const double **penalty;
    double *rank, *low, *high;
    int64_t *at; /* of a row */
    double *values;
    double square, total, rows;
} sums;

static gram_status take_sums(gram_context *context, const gram_spline_sum *sum, gram_arena *arena, sums *s)
{
    gram_status status = GRAM_OK;
    const int64_t p = sum->p, d = sum->d, width = 2 * sum->m * d;
    int64_t all = 0;
    for (int64_t j = 0; j < d; j++) all += gram_basis_size(&sum->basis[j]) * gram_basis_size(&sum->basis[j]);
    TRY(gram_arena_take(context, arena, "spline: equations", p * p, sizeof(double), (void **)&s->gram));
    TRY(gram_arena_take(context, arena, "spline: equations", p, sizeof(double), (void **)&s->right));
    TRY(gram_arena_take(context, arena, "spline: penalties", all, sizeof(double), (void **)&s->penalties));
    TRY(gram_arena_take(context, arena, "spline: penalties", d, sizeof *s->penalty, (void **)&s->penalty));
    TRY(gram_arena_take(context, arena, "spline: penalties", 3 * d, sizeof(double), (void **)&s->rank));
    TRY(gram_arena_take(context, arena, "spline: a row", width, sizeof *s->at, (void **)&s->at));
    TRY(gram_arena_take(context, arena, "spline: a row", width, sizeof(double), (void **)&s->values));
    s->low = s->rank + d;
    s->high = s->low + d;
    memset(s->gram, 0, (size_t)(p * p) * sizeof(double));
    memset(s->right, 0, (size_t)p * sizeof(double));
done:
    return status;
}

static void add_rows(gram_spline_sum *sum, const gram_points *x, const double *y, const double *weights, sums *s)
{
    const int64_t p = sum->p;
    memset(sum->mean, 0, (size_t)p * sizeof(double));
    for (int64_t i = 0; i < x->n; i++) { /* means first: sums of what is left lose less */
        const double w = weights ? weights[i] : 1;
        if (w == 0) continue;
        s->total += w;
        s->rows++;
        sum->b += (y[i] - sum->b) * w / s->total;
    }
    for (int64_t i = 0; i < x->n; i++) {
        const double w = weights ? weights[i] : 1, r = y[i] - sum->b;
        if (w == 0) continue;
        const int64_t count = sparse_row(sum, x, i, s->at, s->values);
        s->square += w * r * r;
        for (int64_t a = 0; a < count; a++) {
            sum->mean[s->at[a]] += w * s->values[a] / s->total;
            s->right[s->at[a]] += w * r * s->values[a];
            for (int64_t b = 0; b < count; b++) s->gram[s->at[a] * p + s->at[b]] += w * s->values[a] * s->values[b];
        }
    }
    for (int64_t a = 0; a < p; a++)
        for (int64_t b = 0; b < p; b++) s->gram[a * p + b] -= s->total * sum->mean[a] * sum->mean[b];
}

/* Penalties, and where lambda is looked for: as for one column. */
static void add_penalties(const gram_spline_sum *sum, sums *s, double *log_alpha)
{
    double *next = s->penalties;
    for (int64_t j = 0; j < sum->d; j++) {
        const gram_basis *b = &sum->basis[j];
        const int64_t size = gram_basis_size(b);
        const double m2 = 2.0 * sum->m, per = log(s->total) + (m2 - 1) * log(b->t[b->knots - 1] - b->t[0]);
        gram_basis_penalty(b, next);
        for (int64_t i = 0; i < size - 1; i++)
            memmove(next + i * (size - 1), next + i * size, (size_t)(size - 1) * sizeof *next);
        s->penalty[j] = next;
        next += size * size;
        s->rank[j] = (double)(size - sum->m);
        s->low[j] = log(1e-3) + per - m2 * log(PI * (double)b->knots);
        s->high[j] = log(1e7) + per - m2 * log(PI);
        log_alpha[j] = per - m2 * log(4 * PI);
    }
}

/* ---- columns that make each other ---- */

/* Polynomials cost nothing, so they must be told apart by the rows: Gram and Schmidt over those of all columns, on [-1, 1] and less their
 * means, by a Cholesky factor. Fails for the first column whose polynomials are sums of those before. */
static gram_status check_columns(gram_context *context, const gram_spline_sum *sum, const gram_points *x,
                                 const double *weights)
{
    static const double SINGULAR = 1e-10;
    gram_status status = GRAM_OK;
    const int64_t each = sum->m - 1, q = sum->d * each;
    double *a = NULL, *row = NULL, total = 0;
    if (q == 0) return GRAM_OK;
    TRY(gram_take(context, "spline: polynomials", q * q + 2 * q, sizeof *a, (void **)&a));
    row = a + q * q;
    double *mean = row + q;
    memset(a, 0, (size_t)(q * q + 2 * q) * sizeof *a);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < x->n; i++) {
            const double w = weights ? weights[i] : 1;
            if (pass == 0) total += w;
            for (int64_t j = 0; j < sum->d; j++) {
                const gram_basis *b = &sum->basis[j];
                const double half = 0.5 * (b->t[b->knots - 1] - b->t[0]);
                const double z = (gram_points_at(x, i, j) - b->t[0]) / half - 1;
                double power = 1;
                for (int64_t k = 0; k < each; k++) row[j * each + k] = power *= z;
            }
            for (int64_t c = 0; c < q && pass == 0; c++) mean[c] += w * row[c];
            for (int64_t c = 0; c < q && pass == 1; c++)
                for (int64_t e = 0; e <= c; e++)
                    a[c * q + e] += w * (row[c] - mean[c] / total) * (row[e] - mean[e] / total);
        }
    for (int64_t c = 0; c < q; c++) {
        const double whole = a[c * q + c];
        for (int64_t e = 0; e <= c; e++) {
            for (int64_t k = 0; k < e; k++) a[c * q + e] -= a[c * q + k] * a[e * q + k];
            if (e < c) a[c * q + e] /= a[e * q + e];
        }
        FAIL_IF(!(a[c * q + c] > SINGULAR * whole), context, GRAM_ERROR_NUMERICAL,
                "spline_fit: column %" PRId64 " of x is made of those before it: the components cannot be told apart",
                c / each);
        a[c * q + c] = sqrt(a[c * q + c]);
    }
done:
    gram_give(context, a);
    return status;
}

/* ---- the fit ---- */

/* Fitted values and leverages: phi is 2m numbers of each column less the mean, so that phi'V phi is a small sum beside V times the mean. */
static void fill_rows(const gram_spline_sum *sum, const gram_points *x, const double *y, const double *weights, sums *s,
                      const double *v, const double *leaning, double steady, double *fitted, double *left,
                      gram_spline_report *report)
{
    double rss = 0, loo = 0, base = sum->b;
    for (int64_t a = 0; a < sum->p; a++) base -= sum->mean[a] * sum->c[a];
    for (int64_t i = 0; i < x->n; i++) {
        const double w = weights ? weights[i] : 1;
        double f = base, h = sum->lift + steady;
        fitted[i] = left[i] = NAN;
        if (w == 0) continue;
        const int64_t count = sparse_row(sum, x, i, s->at, s->values);
        for (int64_t a = 0; a < count; a++) {
            double inner = -2 * leaning[s->at[a]];
            for (int64_t b = 0; b < count; b++) inner += v[s->at[a] * sum->p + s->at[b]] * s->values[b];
            f += s->values[a] * sum->c[s->at[a]];
            h += s->values[a] * inner;
        }
        fitted[i] = f;
        left[i] = (y[i] - f) / fmax(1 - w * h, 1e-12);
        rss += w * (y[i] - f) * (y[i] - f);
        loo += w * left[i] * left[i];
    }
    const double n = s->rows, freedom = n - report->effective_dimension;
    report->train_rmse = sqrt(rss / s->total);
    report->train_r2 = s->square > 0 ? 1 - rss / s->square : NAN;
    report->loo_rmse = sqrt(loo / s->total);
    report->loo_r2 = s->square > 0 ? 1 - loo / s->square : NAN;
    report->gcv = n * n * rss / (freedom * freedom) / s->total;
    report->sigma = freedom > 1e-9 * n ? sqrt(rss / freedom) : NAN;
}

static gram_status finish(gram_context *context, const gram_points *x, const double *y, const gram_spline_options *o,
                          const gram_penalised *q, sums *s, double *fitted, double *left, gram_spline_report *report,
                          gram_spline_sum *sum)
{
    gram_status status = GRAM_OK;
    const int64_t p = sum->p;
    double *leaning = NULL, steady = 0;
    TRY(gram_take(context, "spline: leverages", p, sizeof *leaning, (void **)&leaning));
    memcpy(sum->c, q->c, (size_t)p * sizeof *sum->c);
    for (int64_t a = 0; a < p; a++) {
        leaning[a] = 0;
        for (int64_t b = 0; b < p; b++) leaning[a] += q->inverse[a * p + b] * sum->mean[b];
        steady += leaning[a] * sum->mean[a];
    }
    for (int64_t j = 0; j < sum->d; j++) {
        sum->lambda[j] = exp(q->log_alpha[j]) / s->rows;
        sum->df[j] = q->share[j];
    }
    report->n = report->tuned_rows = (int64_t)s->rows;
    report->knots = 0;
    for (int64_t j = 0; j < sum->d; j++) report->knots += sum->basis[j].knots;
    report->effective_dimension = q->df;
    report->evaluations = q->evaluations;
    fill_rows(sum, x, y, o->weights, s, q->inverse, leaning, steady, fitted, left, report);
    if (o->criterion == GRAM_CRITERION_ML && isnan(o->lambda) && s->rows > q->free)
        report->sigma = sqrt((q->rss + q->bending) / (s->rows - q->free));
    if (!o->bands) goto done;
    TRY(gram_arena_take(context, &sum->arena, "spline: variances", p * p, sizeof *sum->v, (void **)&sum->v));
    memcpy(sum->v, q->inverse, (size_t)(p * p) * sizeof *sum->v);
done:
    gram_give(context, leaning);
    return status;
}

static int64_t count_rows(const gram_points *x, const double *weights)
{
    int64_t rows = 0;
    for (int64_t i = 0; i < x->n; i++) rows += !weights || weights[i] > 0;
    return rows;
}

gram_status gram_sum_fit(gram_context *context, const gram_points *x, const double *y,
                         const gram_spline_options *options, double *fitted, double *left, gram_spline_report *report,
                         gram_spline_sum *sum)
{
    gram_status status = GRAM_OK;
    const int64_t rows = count_rows(x, options->weights);
    gram_arena arena;
    sums s = {0};
    gram_penalised q = {0};
    gram_arena_init(&arena, context->memory);
    gram_arena_init(&sum->arena, context->memory);
    FAIL_IF(options->criterion == GRAM_CRITERION_LOO && isnan(options->lambda), context, GRAM_ERROR_UNSUPPORTED,
            "spline_fit: criterion LOO is for one column; GCV and ML choose the lambdas of several");
    TRY(take_sum(context, x, options, rows, sum));
    TRY(check_columns(context, sum, x, options->weights));
    TRY(take_sums(context, sum, &arena, &s));
    add_rows(sum, x, y, options->weights, &s);
    sum->lift = 1 / s.total;
    q = (gram_penalised){.p = sum->p,
                         .blocks = sum->d,
                         .first = sum->first,
                         .gram = s.gram,
                         .right = s.right,
                         .penalty = s.penalty,
                         .rank = s.rank,
                         .square = s.square,
                         .n = s.rows,
                         .free = 1 + (double)(sum->d * (sum->m - 1)),
                         .outside = 1,
                         .log_low = s.low,
                         .log_high = s.high};
    TRY(gram_penalised_take(context, &q));
    add_penalties(sum, &s, q.log_alpha);
    for (int64_t j = 0; j < sum->d && !isnan(options->lambda); j++) q.log_alpha[j] = log(options->lambda * s.rows);
    if (isnan(options->lambda))
        TRY(gram_penalised_choose(context, &q, options->criterion));
    else
        TRY(gram_penalised_solve(context, &q));
    report->criterion = isnan(options->lambda) ? q.value : NAN;
    TRY(finish(context, x, y, options, &q, &s, fitted, left, report, sum));
done:
    gram_penalised_give(context, &q);
    gram_arena_release(&arena);
    return status;
}

void gram_sum_free(gram_spline_sum *sum)
{
    if (sum->d > 0 || sum->arena.memory) gram_arena_release(&sum->arena);
}
