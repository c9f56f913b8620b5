/* Other losses over the O(n) solver of the squared one.
 *
 * Absolute, Huber, quantile and insensitive loss are maxima over a slope, loss(r) = max_z z r - c|z| - (rho/2) z^2 for z between two
 * bounds, so the problem is a saddle point in f and the slopes, with 2 alpha (f^(m))'s Euler equation = w z. A primal-dual interior-point
 * method puts a barrier at the bounds; its Newton step, the slopes eliminated, is a smoothing spline with weights w/D and moved values:
 *
 *     sum_i (w_i/D_i) (y_i - e_i + D_i z_i - f(x_i))^2 + 2 alpha int (f^(m))^2,   D = rho + su/(up - z) + sl/(z - low),
 *
 * solved by the chain, whose accuracy does not suffer from weights that range over twenty orders of magnitude, as they do at the end. Because f
 * and z stay on the line between two solutions, f is always the best for its z, and
 *
 *     gap = sum_i w_i (loss(r_i) - (z_i r_i - c|z_i| - rho z_i^2/2)) >= 0
 *
 * bounds how far the objective is from its minimum: a certificate. Insensitive loss has two slopes a row, z = z_1 - z_2. 15 to 40 steps.
 *
 * Logistic loss has Newton's steps directly, weights p (1 - p), halved until the objective falls. */
#include "method/spline/spline_loss.h"

#include <math.h>
#include <string.h>

#include "tune/row_folds.h"

enum { MOST_STEPS = 200, SLOPES = 2 };

static const double GAP = 1e-9, NEAR_GAP = 1e-6, BACK = 0.99;

/* ---- losses ---- */

typedef struct slope {
    double low, high, sign, offset, rho;
} slope;

/* The slopes of a loss; returns how many a row has. */
static int slopes_of(const gram_spline_options *o, slope *s)
{
    switch (o->loss) {
    case GRAM_SPLINE_LOSS_HUBER: s[0] = (slope){-2 * o->delta, 2 * o->delta, 1, 0, 0.5}; return 1;
    case GRAM_SPLINE_LOSS_QUANTILE: s[0] = (slope){o->quantile - 1, o->quantile, 1, 0, 0}; return 1;
    case GRAM_SPLINE_LOSS_INSENSITIVE:
        s[0] = (slope){0, 1, 1, o->epsilon, 0};
        s[1] = (slope){0, 1, -1, o->epsilon, 0};
        return 2;
    default: s[0] = (slope){-1, 1, 1, 0, 0}; return 1;
    }
}

double gram_spline_loss_value(const gram_spline_options *options, double y, double f)
{
    const double r = y - f, a = fabs(r);
    switch (options->loss) {
    case GRAM_SPLINE_LOSS_ABSOLUTE: return a;
    case GRAM_SPLINE_LOSS_HUBER: return a <= options->delta ? r * r : options->delta * (2 * a - options->delta);
    case GRAM_SPLINE_LOSS_QUANTILE: return r > 0 ? options->quantile * r : (options->quantile - 1) * r;
    case GRAM_SPLINE_LOSS_INSENSITIVE: return a > options->epsilon ? a - options->epsilon : 0;
    case GRAM_SPLINE_LOSS_LOGISTIC: {
        const double s = y > 0.5 ? -f : f; /* log(1 + exp(s)) */
        return s > 0 ? s + log1p(exp(-s)) : log1p(exp(s));
    }
    default: return r * r;
    }
}

/* ---- what both methods work on ---- */

typedef struct work {
    gram_context *context;
    gram_chain *chain;
    const gram_spline_rows *rows;
    const double *y, *weights;
    const gram_spline_options *o;
    double alpha;
    int64_t n, places;
    int m;
    double *weight, *value; /* of the places: a squared problem */
    double *state, *kick;   /* the iterate */
    double *z, *low, *high; /* n x slopes: slopes and multipliers */
    double *z_next;
    double *memory;
} work;

static gram_status take(work *w)
{
    const gram_chain *c = w->chain;
    const int64_t n = w->n, p = w->places, size = c->n * c->m;
    const gram_status status =
        gram_take(w->context, "spline: a loss", 2 * p + 2 * size + 4 * n * SLOPES, sizeof(double), (void **)&w->memory);
    if (status < 0) return status;
    w->weight = w->memory;
    w->value = w->weight + p;
    w->state = w->value + p;
    w->kick = w->state + size;
    w->z = w->kick + size;
    w->low = w->z + n * SLOPES;
    w->high = w->low + n * SLOPES;
    w->z_next = w->high + n * SLOPES;
    return status;
}

static double weight_of(const work *w, int64_t i)
{
    return w->weights ? w->weights[i] : 1;
}

static double f_of(const work *w, const double *state, int64_t i)
{
    return state[w->rows->place[i] * w->m + w->m - 1];
}

/* Adds a row of a squared problem: a mean of the values that were added. */
static void add(work *w, int64_t i, double weight, double value)
{
    const int64_t p = w->rows->place[i];
    w->weight[p] += weight;
    w->value[p] += weight * value;
}

static void clear(work *w)
{
    memset(w->weight, 0, (size_t)(2 * w->places) * sizeof *w->weight);
}

static gram_status solve(work *w)
{
    for (int64_t p = 0; p < w->places; p++) w->value[p] /= w->weight[p];
    return gram_chain_solve(w->context, w->chain, 2 * w->alpha, w->weight, w->value, GRAM_CHAIN_MEAN);
}

/* The iterate moves towards the chain's solution. */
static void move(work *w, double share)
{
    const gram_chain *c = w->chain;
    for (int64_t i = 0; i < c->n * c->m; i++) w->state[i] += share * (c->state[i] - w->state[i]);
    for (int64_t i = 0; i < c->gaps * c->m; i++) w->kick[i] += share * (c->kick[i] - w->kick[i]);
}

static double bending(const work *w)
{
    double sum = 0;
    for (int64_t i = 0; i < w->chain->gaps * w->m; i++) sum += w->kick[i] * w->kick[i];
    return w->alpha / pow(w->chain->unit, 2 * w->m - 1) * sum;
}

static double mean_target(const work *w)
{
    double sum = 0;
    for (int64_t i = 0; i < w->n; i++)
        if (w->rows->place[i] >= 0) sum += weight_of(w, i) * w->y[i];
    return sum / w->rows->total;
}

/* A constant, which no penalty sees. */
static void start_at(work *w, double value)
{
    memset(w->state, 0, (size_t)(w->chain->n * w->m) * sizeof *w->state);
    memset(w->kick, 0, (size_t)(w->chain->n * w->m) * sizeof *w->kick);
    for (int64_t p = 0; p < w->places; p++) w->state[p * w->m + w->m - 1] = value;
}

/* ---- interior points ---- */

typedef struct interior {
    work *w;
    slope s[SLOPES];
    int count;
    double barrier;
} interior;

/* The squared problem of a Newton step. */
static void make_step(interior *q)
{
    work *w = q->w;
    clear(w);
    for (int64_t i = 0; i < w->n; i++) {
        double gain = 0, moved = 0;
        if (w->rows->place[i] < 0) continue;
        for (int k = 0; k < q->count; k++) {
            const slope *s = &q->s[k];
            const double z = w->z[i * SLOPES + k], to_low = z - s->low, to_high = s->high - z;
            const double d = s->rho + w->high[i * SLOPES + k] / to_high + w->low[i * SLOPES + k] / to_low;
            const double e = s->offset + s->rho * z + q->barrier * (1 / to_high - 1 / to_low);
            gain += 1 / d;
            moved += s->sign * (z - e / d);
        }
        add(w, i, weight_of(w, i) * gain, w->y[i] + moved / gain);
    }
}

/* Slopes that go with the chain's solution, and how far all may go there. */
static double find_slopes(interior *q)
{
    work *w = q->w;
    double share = 1;
    for (int64_t i = 0; i < w->n; i++) {
        if (w->rows->place[i] < 0) continue;
        const double r = w->y[i] - f_of(w, w->chain->state, i);
        for (int k = 0; k < q->count; k++) {
            const slope *s = &q->s[k];
            const int64_t at = i * SLOPES + k;
            const double z = w->z[at], to_low = z - s->low, to_high = s->high - z;
            const double d = s->rho + w->high[at] / to_high + w->low[at] / to_low;
            const double e = s->offset + s->rho * z + q->barrier * (1 / to_high - 1 / to_low);
            const double step = (s->sign * r - e) / d;
            const double low = (q->barrier - w->low[at] * step) / to_low - w->low[at];
            const double high = (q->barrier + w->high[at] * step) / to_high - w->high[at];
            w->z_next[at] = step;
            if (step < 0 && -share * step > BACK * to_low) share = -BACK * to_low / step;
            if (step > 0 && share * step > BACK * to_high) share = BACK * to_high / step;
            if (low < 0 && -share * low > BACK * w->low[at]) share = -BACK * w->low[at] / low;
            if (high < 0 && -share * high > BACK * w->high[at]) share = -BACK * w->high[at] / high;
        }
    }
    return share;
}

/* Moves slopes and multipliers; returns the sum of what complementarity misses. */
static double move_slopes(interior *q, double share)
{
    work *w = q->w;
    double sum = 0;
    for (int64_t i = 0; i < w->n; i++) {
        if (w->rows->place[i] < 0) continue;
        for (int k = 0; k < q->count; k++) {
            const slope *s = &q->s[k];
            const int64_t at = i * SLOPES + k;
            const double step = w->z_next[at], to_low = w->z[at] - s->low, to_high = s->high - w->z[at];
            w->low[at] += share * ((q->barrier - w->low[at] * step) / to_low - w->low[at]);
            w->high[at] += share * ((q->barrier + w->high[at] * step) / to_high - w->high[at]);
            w->z[at] += share * step;
            sum += w->low[at] * (w->z[at] - s->low) + w->high[at] * (s->high - w->z[at]);
        }
    }
    return sum;
}

static void start_interior(interior *q)
{
    work *w = q->w;
    double spread = 0;
    start_at(w, mean_target(w));
    for (int64_t i = 0; i < w->n; i++)
        if (w->rows->place[i] >= 0) spread += fabs(w->y[i] - f_of(w, w->state, i)) / (double)w->rows->n;
    if (!(spread > 0)) spread = 1e-8 * fmax(1, fabs(mean_target(w)));
    /* 0 is inside of every pair of bounds but those of insensitive loss, whose slopes cancel */
    for (int64_t at = 0; at < w->n * SLOPES; at++) {
        w->z[at] = q->count == 2 ? 0.5 : 0;
        w->low[at] = w->high[at] = spread;
    }
    q->barrier = spread * (q->s[0].high - q->s[0].low) / 4;
}

/* Loss, objective and gap of the iterate. */
static void measure(interior *q, gram_spline_report *report)
{
    work *w = q->w;
    double loss = 0, gap = 0;
    for (int64_t i = 0; i < w->n; i++) {
        if (w->rows->place[i] < 0) continue;
        const double f = f_of(w, w->state, i), r = w->y[i] - f, value = gram_spline_loss_value(w->o, w->y[i], f);
        double dual = 0;
        for (int k = 0; k < q->count; k++) {
            const double z = w->z[i * SLOPES + k];
            dual += q->s[k].sign * z * r - q->s[k].offset * z - 0.5 * q->s[k].rho * z * z;
        }
        loss += weight_of(w, i) * value;
        gap += weight_of(w, i) * (value - dual);
    }
    const double objective = loss + bending(w);
    report->train_loss = loss / w->rows->total;
    report->objective = objective / (double)w->rows->n;
    report->gap = objective > 0 ? fabs(gap) / objective : 0;
}

static gram_status run_interior(work *w, gram_spline_report *report)
{
    gram_status status = GRAM_OK;
    interior q = {.w = w};
    double scale = 0;
    q.count = slopes_of(w->o, q.s);
    start_interior(&q);
    for (int64_t i = 0; i < w->n; i++)
        if (w->rows->place[i] >= 0) scale += fabs(w->y[i]) / (double)w->rows->n;
    for (report->iterations = 0; report->iterations < MOST_STEPS; report->iterations++) {
        make_step(&q);
        TRY(solve(w));
        const double share = find_slopes(&q), left = move_slopes(&q, share);
        move(w, share);
        measure(&q, report);
        if (share > 0.5 && (report->gap <= GAP || report->objective <= 1e-13 * scale)) break;
        q.barrier = (share > 0.8 ? 0.1 : 0.5) * left / (2.0 * (double)(w->rows->n * q.count));
    }
    FAIL_IF(!(report->gap <= NEAR_GAP) && !(report->objective <= 1e-12 * scale), w->context, GRAM_ERROR_NUMERICAL,
            "spline_fit: after %d steps the relative gap is %.2g", MOST_STEPS, report->gap);
done:
    return status;
}

/* ---- Newton's method for logistic loss ---- */

static double log_loss(const work *w)
{
    double sum = 0;
    for (int64_t i = 0; i < w->n; i++)
        if (w->rows->place[i] >= 0)
            sum += weight_of(w, i) * gram_spline_loss_value(w->o, w->y[i], f_of(w, w->state, i));
    return sum;
}

/* The objective that far on the way to the chain's solution. */
static double objective_at(const work *w, double share)
{
    const gram_chain *c = w->chain;
    double sum = 0, square = 0;
    for (int64_t i = 0; i < w->n; i++) {
        if (w->rows->place[i] < 0) continue;
        const double f = f_of(w, w->state, i), there = f_of(w, c->state, i);
        sum += weight_of(w, i) * gram_spline_loss_value(w->o, w->y[i], f + share * (there - f));
    }
    for (int64_t i = 0; i < c->gaps * c->m; i++) {
        const double kick = w->kick[i] + share * (c->kick[i] - w->kick[i]);
        square += kick * kick;
    }
    return sum + w->alpha / pow(c->unit, 2 * c->m - 1) * square;
}

static double probability(double f)
{
    return f > 0 ? 1 / (1 + exp(-f)) : exp(f) / (1 + exp(f));
}

static gram_status run_newton(work *w, gram_spline_report *report)
{
    gram_status status = GRAM_OK;
    const double mean = fmin(fmax(mean_target(w), 1e-6), 1 - 1e-6);
    double objective, change = INFINITY, most = 0;
    start_at(w, log(mean / (1 - mean)));
    objective = log_loss(w);
    for (report->iterations = 0; report->iterations < MOST_STEPS && change > 1e-11; report->iterations++) {
        clear(w);
        for (int64_t i = 0; i < w->n; i++) {
            if (w->rows->place[i] < 0) continue;
            const double f = f_of(w, w->state, i), p = probability(f), v = fmax(p * (1 - p), 1e-12);
            add(w, i, weight_of(w, i) * v, f + (w->y[i] - p) / v);
        }
        TRY(solve(w));
        double share = 1, next = objective_at(w, share);
        while (!(next <= objective) && share > 1e-9) next = objective_at(w, share /= 2);
        move(w, share);
        change = (objective - next) / fmax(objective, 1e-300);
        objective = next;
    }
    for (int64_t p = 0; p < w->places; p++) most = fmax(most, fabs(w->state[p * w->m + w->m - 1]));
    FAIL_IF(most > 35, w->context, GRAM_ERROR_NUMERICAL,
            "spline_fit: a polynomial of degree %d separates the classes, and there is no minimum", w->m - 1);
    FAIL_IF(!(change <= 1e-7), w->context, GRAM_ERROR_NUMERICAL, "spline_fit: no convergence in %d steps", MOST_STEPS);
    report->objective = objective / (double)w->rows->n;
    report->train_loss = log_loss(w) / w->rows->total;
    report->gap = fabs(change);
done:
    return status;
}

/* ---- both ---- */

/* The slope of the loss of each place over 2 alpha. */
static void find_coefficients(const work *w, double *coefficients)
{
    slope s[SLOPES];
    const int logistic = w->o->loss == GRAM_SPLINE_LOSS_LOGISTIC, count = logistic ? 0 : slopes_of(w->o, s);
    memset(coefficients, 0, (size_t)w->places * sizeof *coefficients);
    for (int64_t i = 0; i < w->n; i++) {
        const int64_t p = w->rows->place[i];
        if (p < 0) continue;
        double z = logistic ? w->y[i] - probability(f_of(w, w->state, i)) : 0;
        for (int k = 0; k < count; k++) z += s[k].sign * w->z[i * SLOPES + k];
        coefficients[p] += weight_of(w, i) * z / (2 * w->alpha);
    }
}

gram_status gram_spline_loss_solve(gram_context *context, gram_chain *chain, const gram_spline_rows *rows,
                                   const double *y, const gram_spline_options *options, double alpha,
                                   double *coefficients, gram_spline_report *report)
{
    gram_status status = GRAM_OK;
    work w = {.context = context,
              .chain = chain,
              .rows = rows,
              .y = y,
              .weights = options->weights,
              .o = options,
              .alpha = alpha,
              .n = rows->given,
              .places = rows->places,
              .m = chain->m};
    TRY(take(&w));
    TRY(options->loss == GRAM_SPLINE_LOSS_LOGISTIC ? run_newton(&w, report) : run_interior(&w, report));
    memcpy(chain->state, w.state, (size_t)(chain->n * chain->m) * sizeof *w.state);
    memcpy(chain->kick, w.kick, (size_t)(chain->gaps * chain->m) * sizeof *w.kick);
    chain->bending = bending(&w);
    if (coefficients) find_coefficients(&w, coefficients);
done:
    gram_give(context, w.memory);
    return status;
}

/* ---- the choice of lambda ---- */

enum { MOST_TUNED = 5000, GRID_STEPS = 40 };

/* Rows that are tuned on: all, or every so many in the order of the table. */
static void choose_rows(int64_t n, const double *weights, double *used)
{
    const int64_t every = (n + MOST_TUNED - 1) / MOST_TUNED;
    for (int64_t i = 0; i < n; i++) used[i] = i % every == 0 ? (weights ? weights[i] : 1) : 0;
}

typedef struct folds {
    const gram_points *x;
    const double *y;
    gram_spline_options o;
    double *used, *train; /* weights of the rows that are tuned on, and of those of a fold */
    int64_t *fold;
    double *pieces;
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
static gram_status try_alpha(gram_context *context, folds *s, double alpha, double total, double *value)
{
    *value = 0;
    for (int64_t k = s->o.ordered; k < s->o.folds; k++) {
        const gram_status status = try_fold(context, s, k, alpha, value);
        if (status == GRAM_ERROR_NUMERICAL) *value = INFINITY;
        if (status == GRAM_ERROR_NUMERICAL) return GRAM_OK;
        if (status < 0) return status;
    }
    *value /= total;
    return GRAM_OK;
}

/* From the smoothest on in steps that change the degrees of freedom by 10^(1/4), until it was worse for long; then the middle ones of
 * the steps around the best. */
static gram_status search(gram_context *context, folds *s, const gram_spline_rows *rows, double total, double *alpha,
                          gram_spline_report *report)
{
    gram_status status = GRAM_OK;
    const double m2 = 2.0 * (double)s->o.order,
                 unit = s->o.period > 0 ? s->o.period : rows->t[rows->places - 1] - rows->t[0];
    const double high = log(1e4 * rows->total) + (m2 - 1) * log(unit) - m2 * log(acos(-1)), step = m2 / 4 * log(10);
    const double low = high - log(1e4) - m2 * log((double)rows->places);
    double best = high, least = INFINITY, value;
    int worse = 0;
    report->evaluations = 0;
    for (int k = 0; k < GRID_STEPS && worse < 4 && high - k * step > low; k++, report->evaluations++) {
        TRY(try_alpha(context, s, exp(high - k * step), total, &value));
        worse = value < least ? 0 : worse + isfinite(least);
        if (value < least) least = value, best = high - k * step;
    }
    FAIL_IF(!isfinite(least), context, GRAM_ERROR_NUMERICAL,
            "spline_fit: no lambda has a fit in all folds; give lambda, or fewer folds");
    const double middle = best;
    for (int side = -1; side <= 1; side += 2, report->evaluations++) {
        TRY(try_alpha(context, s, exp(middle + 0.5 * side * step), total, &value));
        if (value < least) least = value, best = middle + 0.5 * side * step;
    }
    report->at_bound = best >= high;
    report->criterion = least;
    *alpha = exp(best);
done:
    return status;
}

gram_status gram_spline_loss_choose(gram_context *context, const gram_points *x, const double *y,
                                    const gram_spline_options *options, double *alpha, gram_spline_report *report)
{
    gram_status status = GRAM_OK;
    const int64_t n = x->n;
    folds s = {.x = x, .y = y, .o = *options};
    gram_spline_rows rows = {0}, all = {0};
    double total = 0;
    TRY(gram_take(context, "spline: folds", 2 * n, sizeof *s.used, (void **)&s.used));
    TRY(gram_take(context, "spline: folds", n, sizeof *s.fold, (void **)&s.fold));
    TRY(gram_take(context, "spline: folds", n * 2 * options->order, sizeof *s.pieces, (void **)&s.pieces));
    s.train = s.used + n;
    choose_rows(n, options->weights, s.used);
    const gram_folds_rule rule = {.folds = options->folds,
                                  .labels = options->loss == GRAM_SPLINE_LOSS_LOGISTIC ? y : NULL,
                                  .classes = options->loss == GRAM_SPLINE_LOSS_LOGISTIC ? 2 : 1,
                                  .weights = s.used,
                                  .groups = options->groups,
                                  .ordered = options->ordered};
    TRY(gram_folds_deal(context, "spline_fit", n, &rule, s.fold));
    for (int64_t i = 0; i < n; i++)
        if (s.fold[i] >= options->ordered) total += s.used[i];
    TRY(gram_spline_rows_make(context, "spline_fit", x, y, s.used, (int)options->order, options->period, &rows));
    TRY(gram_spline_rows_make(context, "spline_fit", x, y, options->weights, (int)options->order, options->period,
                              &all));
    TRY(search(context, &s, &rows, total, alpha, report));
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
