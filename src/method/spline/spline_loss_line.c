/* Other losses on a line or a circle: the smoother is the chain, whose accuracy does not suffer from weights of all sizes; lambda is chosen by
 * left-out folds. */
#include <math.h>
#include <string.h>

#include "method/spline/spline_loss.h"
#include "tune/row_folds.h"

/* ---- the smoother ---- */

typedef struct line {
    gram_chain *chain;
    double alpha;
    double *state, *kick; /* the iterate; the solution is the chain's */
} line;

static gram_status line_solve(gram_context *context, void *own, const double *weight, const double *value, double *f)
{
    const line *l = own;
    const gram_chain *c = l->chain;
    const gram_status status = gram_chain_solve(context, l->chain, 2 * l->alpha, weight, value, GRAM_CHAIN_MEAN);
    for (int64_t p = 0; p < c->n && status >= 0; p++) f[p] = c->state[p * c->m + c->m - 1];
    return status;
}

static void line_start(void *own, double value)
{
    const line *l = own;
    const gram_chain *c = l->chain;
    memset(l->state, 0, (size_t)(c->n * c->m) * sizeof *l->state);
    memset(l->kick, 0, (size_t)(c->n * c->m) * sizeof *l->kick);
    for (int64_t p = 0; p < c->n; p++) l->state[p * c->m + c->m - 1] = value;
}

static void line_move(void *own, double share)
{
    const line *l = own;
    const gram_chain *c = l->chain;
    for (int64_t i = 0; i < c->n * c->m; i++) l->state[i] += share * (c->state[i] - l->state[i]);
    for (int64_t i = 0; i < c->gaps * c->m; i++) l->kick[i] += share * (c->kick[i] - l->kick[i]);
}

static double line_bending(const void *own, double share)
{
    const line *l = own;
    const gram_chain *c = l->chain;
    double sum = 0;
    for (int64_t i = 0; i < c->gaps * c->m; i++) {
        const double kick = share > 0 ? l->kick[i] + share * (c->kick[i] - l->kick[i]) : l->kick[i];
        sum += kick * kick;
    }
    return l->alpha / pow(c->unit, 2 * c->m - 1) * sum;
}

gram_status gram_spline_loss_solve(gram_context *context, gram_chain *chain, const gram_spline_rows *rows,
                                   const double *y, const gram_spline_options *options, double alpha,
                                   double *coefficients, gram_spline_report *report)
{
    gram_status status = GRAM_OK;
    const int64_t size = chain->n * chain->m;
    double *memory = NULL, *pulls = NULL;
    TRY(gram_take(context, "spline: a loss", 2 * size + rows->given, sizeof *memory, (void **)&memory));
    line l = {.chain = chain, .alpha = alpha, .state = memory, .kick = memory + size};
    pulls = memory + 2 * size;
    const gram_smoother smoother = {&l, line_solve, line_start, line_move, line_bending};
    const gram_loss_rows all = {.n = rows->given,
                                .used = rows->n,
                                .places = rows->places,
                                .place = rows->place,
                                .y = y,
                                .weights = options->weights,
                                .total = rows->total};
    TRY(gram_spline_loss_minimise(context, &smoother, &all, options, pulls, report));
    memcpy(chain->state, l.state, (size_t)size * sizeof *l.state);
    memcpy(chain->kick, l.kick, (size_t)(chain->gaps * chain->m) * sizeof *l.kick);
    chain->bending = line_bending(&l, 0);
    if (!coefficients) goto done;
    memset(coefficients, 0, (size_t)rows->places * sizeof *coefficients);
    for (int64_t i = 0; i < rows->given; i++)
        if (rows->place[i] >= 0) coefficients[rows->place[i]] += pulls[i] / (2 * alpha);
done:
    gram_give(context, memory);
    return status;
}

/* ---- the choice of lambda ---- */

typedef struct folds {
    const gram_points *x;
    const double *y;
    gram_spline_options o;
    double *used, *train; /* weights of the rows that are tuned on, and of those of a fold */
    int64_t *fold;
    double *pieces;
    double total; /* weight of the rows that are left out once */
} folds;

/* Sum of losses of a fold's rows under the fit of the others. */
static gram_status try_fold(gram_context *context, folds *s, int64_t held, double alpha, double *sum)
{
    gram_status status = GRAM_OK;
    gram_spline_rows rows = {0};
    gram_chain chain = {0};
    gram_spline_report report;
    const int m = (int)s->o.order;
    for (int64_t i = 0; i < s->x->n; i++)
        s->train[i] = gram_fold_trains(s->fold[i], held, s->o.ordered) ? s->used[i] : 0;
    s->o.weights = s->train;
    TRY(gram_spline_rows_make(context, "spline_fit: a fold", s->x, s->y, s->train, m, s->o.period, &rows));
    TRY(gram_chain_make(context, m, rows.places, rows.t, s->o.period, GRAM_CHAIN_MEAN, &chain));
    TRY(gram_spline_loss_solve(context, &chain, &rows, s->y, &s->o, alpha, NULL, &report));
    gram_chain_pieces(&chain, s->pieces);
    const gram_spline_curve curve = {.m = m, .n = rows.places, .t = rows.t, .pieces = s->pieces, .period = s->o.period};
    for (int64_t i = 0; i < s->x->n; i++) {
        double along;
        if (s->fold[i] != held || s->used[i] == 0) continue;
        const int64_t gap = gram_curve_find(&curve, gram_points_at(s->x, i, 0), &along);
        *sum += s->used[i] * gram_spline_loss_value(&s->o, s->y[i], gram_curve_at(&curve, gap, along, 0));
    }
done:
    gram_chain_free(&chain);
    gram_spline_rows_free(context, &rows);
    return status;
}

/* Mean loss of left-out rows; infinite where a fold has no fit. */
static gram_status try_alpha(gram_context *context, void *own, double log_alpha, double *value)
{
    folds *s = own;
    *value = 0;
    for (int64_t k = s->o.ordered; k < s->o.folds; k++) {
        const gram_status status = try_fold(context, s, k, exp(log_alpha), value);
        if (status == GRAM_ERROR_NUMERICAL) *value = INFINITY;
        if (status == GRAM_ERROR_NUMERICAL) return GRAM_OK;
        if (status < 0) return status;
    }
    *value /= s->total;
    return GRAM_OK;
}

/* From the smoothest on in steps that change the degrees of freedom by 10^(1/4). */
static gram_status search(gram_context *context, folds *s, const gram_spline_rows *rows, double *alpha,
                          gram_spline_report *report)
{
    const double m2 = 2.0 * (double)s->o.order,
                 unit = s->o.period > 0 ? s->o.period : rows->t[rows->places - 1] - rows->t[0];
    const double high = log(1e4 * rows->total) + (m2 - 1) * log(unit) - m2 * log(acos(-1));
    const gram_loss_search steps = {.high = high,
                                    .low = high - log(1e4) - m2 * log((double)rows->places),
                                    .step = m2 / 4 * log(10),
                                    .evaluate = try_alpha,
                                    .own = s};
    double best = 0;
    const gram_status status = gram_spline_loss_search(context, &steps, &best, report);
    *alpha = exp(best);
    return status;
}

void gram_spline_loss_tuned(int64_t n, const double *weights, double *used)
{
    enum { MOST = 5000 };
    const int64_t every = (n + MOST - 1) / MOST;
    for (int64_t i = 0; i < n; i++) used[i] = i % every == 0 ? (weights ? weights[i] : 1) : 0;
}

gram_status gram_spline_loss_deal(gram_context *context, int64_t n, const double *y, const gram_spline_options *o,
                                  const double *used, int64_t *fold)
{
    const int logistic = o->loss == GRAM_SPLINE_LOSS_LOGISTIC;
    const gram_folds_rule rule = {.folds = o->folds,
                                  .labels = logistic ? y : NULL,
                                  .classes = logistic ? 2 : 1,
                                  .weights = used,
                                  .groups = o->groups,
                                  .ordered = o->ordered};
    return gram_folds_deal(context, "spline_fit", n, &rule, fold);
}

gram_status gram_spline_loss_choose(gram_context *context, const gram_points *x, const double *y,
                                    const gram_spline_options *options, double *alpha, gram_spline_report *report)
{
    gram_status status = GRAM_OK;
    const int64_t n = x->n;
    folds s = {.x = x, .y = y, .o = *options};
    gram_spline_rows rows = {0}, all = {0};
    TRY(gram_take(context, "spline: folds", 2 * n, sizeof *s.used, (void **)&s.used));
    TRY(gram_take(context, "spline: folds", n, sizeof *s.fold, (void **)&s.fold));
    TRY(gram_take(context, "spline: folds", n * 2 * options->order, sizeof *s.pieces, (void **)&s.pieces));
    s.train = s.used + n;
    gram_spline_loss_tuned(n, options->weights, s.used);
    TRY(gram_spline_loss_deal(context, n, y, options, s.used, s.fold));
    for (int64_t i = 0; i < n; i++)
        if (s.fold[i] >= options->ordered) s.total += s.used[i];
    TRY(gram_spline_rows_make(context, "spline_fit", x, y, s.used, (int)options->order, options->period, &rows));
    TRY(gram_spline_rows_make(context, "spline_fit", x, y, options->weights, (int)options->order, options->period,
                              &all));
    TRY(search(context, &s, &rows, alpha, report));
    report->tuned_rows = rows.n;
    /* the best n lambda grows as n^(1/(2m + 1)) */
    *alpha *= pow((double)all.n / (double)rows.n, 1 / (2.0 * (double)options->order + 1));
done:
    gram_spline_rows_free(context, &rows);
    gram_spline_rows_free(context, &all);
    gram_give(context, s.used);
    gram_give(context, s.fold);
    gram_give(context, s.pieces);
    return status;
}
