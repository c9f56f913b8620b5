/* Other losses over a solver of the squared one, be it of a line, a circle or a sum of several.
 *
 * Absolute, Huber, quantile and insensitive loss are maxima over a slope, loss(r) = max_z z r - c|z| - (rho/2) z^2 for z between two
 * bounds, so the problem is a saddle point in f and the slopes, with 2 alpha (f^(m))'s Euler equation = w z. A primal-dual interior-point
 * method puts a barrier at the bounds; its Newton step, the slopes eliminated, is a smoothing spline with weights w/D and moved values:
 *
 *     sum_i (w_i/D_i) (y_i - e_i + D_i z_i - f(x_i))^2 + 2 alpha int (f^(m))^2,   D = rho + su/(up - z) + sl/(z - low),
 *
 * which the smoother solves. At the end the weights range over twenty orders of magnitude. Because f and z stay on the line between two solutions, f is always the best for its z, and
 *
 *     gap = sum_i w_i (loss(r_i) - (z_i r_i - c|z_i| - rho z_i^2/2)) >= 0
 *
 * bounds how far the objective is from its minimum: a certificate. Insensitive loss has two slopes a row, z = z_1 - z_2. 15 to 40 steps.
 *
 * Logistic loss has Newton's steps directly, weights p (1 - p), halved until the objective falls. */
#include "method/spline/spline_loss.h"

#include <math.h>
#include <string.h>

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
    const gram_smoother *smoother;
    const gram_loss_rows *rows;
    const gram_spline_options *o;
    double *weight, *value; /* of the places: a squared problem */
    double *f, *next;       /* of the places: the iterate, and the solution of the squared problem */
    double *z, *low, *high; /* n x slopes: slopes and multipliers */
    double *z_next;
    double *memory;
} work;

static gram_status take(work *w)
{
    const int64_t n = w->rows->n, p = w->rows->places;
    const gram_status status =
        gram_take(w->context, "spline: a loss", 4 * p + 4 * n * SLOPES, sizeof(double), (void **)&w->memory);
    if (status < 0) return status;
    w->weight = w->memory;
    w->value = w->weight + p;
    w->f = w->value + p;
    w->next = w->f + p;
    w->z = w->next + p;
    w->low = w->z + n * SLOPES;
    w->high = w->low + n * SLOPES;
    w->z_next = w->high + n * SLOPES;
    memset(w->z, 0, (size_t)(n * SLOPES) * sizeof *w->z);
    return status;
}

static double weight_of(const work *w, int64_t i)
{
    return w->rows->weights ? w->rows->weights[i] : 1;
}

static int is_used(const work *w, int64_t i)
{
    return w->rows->place[i] >= 0;
}

static double f_of(const work *w, const double *f, int64_t i)
{
    return f[w->rows->place[i]];
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
    memset(w->weight, 0, (size_t)(2 * w->rows->places) * sizeof *w->weight);
}

static gram_status solve(work *w)
{
    for (int64_t p = 0; p < w->rows->places; p++)
        if (w->weight[p] > 0) w->value[p] /= w->weight[p];
    return w->smoother->solve(w->context, w->smoother->own, w->weight, w->value, w->next);
}

/* The iterate moves towards the solution. */
static void move(work *w, double share)
{
    for (int64_t p = 0; p < w->rows->places; p++) w->f[p] += share * (w->next[p] - w->f[p]);
    w->smoother->move(w->smoother->own, share);
}

static double bending(const work *w, double share)
{
    return w->smoother->bending(w->smoother->own, share);
}

static double mean_target(const work *w)
{
    double sum = 0;
    for (int64_t i = 0; i < w->rows->n; i++)
        if (is_used(w, i)) sum += weight_of(w, i) * w->rows->y[i];
    return sum / w->rows->total;
}

/* A constant, which no penalty sees. */
static void start_at(work *w, double value)
{
    for (int64_t p = 0; p < w->rows->places; p++) w->f[p] = value;
    w->smoother->start(w->smoother->own, value);
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
    for (int64_t i = 0; i < w->rows->n; i++) {
        double gain = 0, moved = 0;
        if (!is_used(w, i)) continue;
        for (int k = 0; k < q->count; k++) {
            const slope *s = &q->s[k];
            const double z = w->z[i * SLOPES + k], to_low = z - s->low, to_high = s->high - z;
            const double d = s->rho + w->high[i * SLOPES + k] / to_high + w->low[i * SLOPES + k] / to_low;
            const double e = s->offset + s->rho * z + q->barrier * (1 / to_high - 1 / to_low);
            gain += 1 / d;
            moved += s->sign * (z - e / d);
        }
        add(w, i, weight_of(w, i) * gain, w->rows->y[i] + moved / gain);
    }
}

/* Slopes that go with the chain's solution, and how far all may go there. */
static double find_slopes(interior *q)
{
    work *w = q->w;
    double share = 1;
    for (int64_t i = 0; i < w->rows->n; i++) {
        if (!is_used(w, i)) continue;
        const double r = w->rows->y[i] - f_of(w, w->next, i);
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
    for (int64_t i = 0; i < w->rows->n; i++) {
        if (!is_used(w, i)) continue;
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
    for (int64_t i = 0; i < w->rows->n; i++)
        if (is_used(w, i)) spread += fabs(w->rows->y[i] - f_of(w, w->f, i)) / (double)w->rows->used;
    if (!(spread > 0)) spread = 1e-8 * fmax(1, fabs(mean_target(w)));
    /* 0 is inside of every pair of bounds but those of insensitive loss, whose slopes cancel */
    for (int64_t at = 0; at < w->rows->n * SLOPES; at++) {
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
    for (int64_t i = 0; i < w->rows->n; i++) {
        if (!is_used(w, i)) continue;
        const double f = f_of(w, w->f, i), r = w->rows->y[i] - f,
                     value = gram_spline_loss_value(w->o, w->rows->y[i], f);
        double dual = 0;
        for (int k = 0; k < q->count; k++) {
            const double z = w->z[i * SLOPES + k];
            dual += q->s[k].sign * z * r - q->s[k].offset * z - 0.5 * q->s[k].rho * z * z;
        }
        loss += weight_of(w, i) * value;
        gap += weight_of(w, i) * (value - dual);
    }
    const double objective = loss + bending(w, 0);
    report->train_loss = loss / w->rows->total;
    report->objective = objective / (double)w->rows->used;
    report->gap = objective > 0 ? fabs(gap) / objective : 0;
}

static gram_status run_interior(work *w, gram_spline_report *report)
{
    gram_status status = GRAM_OK;
    interior q = {.w = w};
    double scale = 0;
    q.count = slopes_of(w->o, q.s);
    start_interior(&q);
    for (int64_t i = 0; i < w->rows->n; i++)
        if (is_used(w, i)) scale += fabs(w->rows->y[i]) / (double)w->rows->used;
    for (report->iterations = 0; report->iterations < MOST_STEPS; report->iterations++) {
        make_step(&q);
        TRY(solve(w));
        const double share = find_slopes(&q), left = move_slopes(&q, share);
        move(w, share);
        measure(&q, report);
        if (share > 0.5 && (report->gap <= GAP || report->objective <= 1e-13 * scale)) break;
        q.barrier = (share > 0.8 ? 0.1 : 0.5) * left / (2.0 * (double)(w->rows->used * q.count));
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
    for (int64_t i = 0; i < w->rows->n; i++)
        if (is_used(w, i)) sum += weight_of(w, i) * gram_spline_loss_value(w->o, w->rows->y[i], f_of(w, w->f, i));
    return sum;
}

/* The objective that far on the way to the solution of the squared problem. */
static double objective_at(const work *w, double share)
{
    double sum = bending(w, share);
    for (int64_t i = 0; i < w->rows->n; i++) {
        if (!is_used(w, i)) continue;
        const double f = f_of(w, w->f, i), there = f_of(w, w->next, i);
        sum += weight_of(w, i) * gram_spline_loss_value(w->o, w->rows->y[i], f + share * (there - f));
    }
    return sum;
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
        for (int64_t i = 0; i < w->rows->n; i++) {
            if (!is_used(w, i)) continue;
            const double f = f_of(w, w->f, i), p = probability(f), v = fmax(p * (1 - p), 1e-12);
            add(w, i, weight_of(w, i) * v, f + (w->rows->y[i] - p) / v);
        }
        TRY(solve(w));
        double share = 1, next = objective_at(w, share);
        while (!(next <= objective) && share > 1e-9) next = objective_at(w, share /= 2);
        move(w, share);
        change = (objective - next) / fmax(objective, 1e-300);
        objective = next;
    }
    for (int64_t i = 0; i < w->rows->n; i++)
        if (is_used(w, i)) most = fmax(most, fabs(f_of(w, w->f, i)));
    FAIL_IF(most > 35, w->context, GRAM_ERROR_NUMERICAL,
            "spline_fit: a polynomial of degree %d separates the classes, and there is no minimum",
            (int)w->o->order - 1);
    FAIL_IF(!(change <= 1e-7), w->context, GRAM_ERROR_NUMERICAL, "spline_fit: no convergence in %d steps", MOST_STEPS);
    report->objective = objective / (double)w->rows->used;
    report->train_loss = log_loss(w) / w->rows->total;
    report->gap = fabs(change);
done:
    return status;
}

/* ---- both ---- */

/* What each row pulls with: its weight times the slope of its loss. */
static void find_pulls(const work *w, double *pulls)
{
    slope s[SLOPES];
    const int logistic = w->o->loss == GRAM_SPLINE_LOSS_LOGISTIC, count = logistic ? 0 : slopes_of(w->o, s);
    for (int64_t i = 0; i < w->rows->n; i++) {
        pulls[i] = 0;
        if (!is_used(w, i)) continue;
        if (logistic) pulls[i] = w->rows->y[i] - probability(f_of(w, w->f, i));
        for (int k = 0; k < count; k++) pulls[i] += s[k].sign * w->z[i * SLOPES + k];
        pulls[i] *= weight_of(w, i);
    }
}

gram_status gram_spline_loss_minimise(gram_context *context, const gram_smoother *smoother, const gram_loss_rows *rows,
                                      const gram_spline_options *options, double *pulls, gram_spline_report *report)
{
    gram_status status = GRAM_OK;
    work w = {.context = context, .smoother = smoother, .rows = rows, .o = options};
    TRY(take(&w));
    TRY(options->loss == GRAM_SPLINE_LOSS_LOGISTIC ? run_newton(&w, report) : run_interior(&w, report));
    if (pulls) find_pulls(&w, pulls);
done:
    gram_give(context, w.memory);
    return status;
}

/* ---- the search for lambda ---- */

gram_status gram_spline_loss_search(gram_context *context, const gram_loss_search *search, double *log_alpha,
                                    gram_spline_report *report)
{
    enum { MOST = 40, PATIENCE = 4 };
    gram_status status = GRAM_OK;
    double best = search->high, least = INFINITY, value;
    int worse = 0;
    report->evaluations = 0;
    for (int k = 0; k < MOST && worse < PATIENCE && search->high - k * search->step > search->low;
         k++, report->evaluations++) {
        TRY(search->evaluate(context, search->own, search->high - k * search->step, &value));
        worse = value < least ? 0 : worse + isfinite(least);
        if (value < least) least = value, best = search->high - k * search->step;
    }
    FAIL_IF(!isfinite(least), context, GRAM_ERROR_NUMERICAL,
            "spline_fit: no lambda has a fit in all folds; give lambda, or fewer folds");
    const double middle = best;
    for (int side = -1; side <= 1; side += 2, report->evaluations++) {
        TRY(search->evaluate(context, search->own, middle + 0.5 * side * search->step, &value));
        if (value < least) least = value, best = middle + 0.5 * side * search->step;
    }
    report->at_bound = best >= search->high;
    report->criterion = least;
    *log_alpha = best;
done:
    return status;
}
