/* Smoothing splines of one variable: the fit, what it predicts, and the same from what a model keeps. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/functional.h>
#include <gram/text.h>

#include "base/sized_struct.h"
#include "method/spline/spline.h"
#include "method/spline/spline_loss.h"

void gram_spline_options_init(gram_spline_options *options, size_t size)
{
    const gram_spline_options defaults = {.size = sizeof defaults,
                                          .order = 2,
                                          .lambda = NAN,
                                          .criterion = GRAM_CRITERION_GCV,
                                          .bands = 1,
                                          .quantile = 0.5,
                                          .delta = 1,
                                          .epsilon = 0.1,
                                          .folds = 5};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

const char *gram_spline_loss_name(gram_spline_loss loss)
{
    static const char *const NAMES[] = {"squared", "absolute", "huber", "quantile", "insensitive", "logistic"};
    return (int)loss >= 0 && (size_t)loss < sizeof NAMES / sizeof *NAMES ? NAMES[loss] : "none";
}

/* ---- the curve ---- */

int64_t gram_curve_find(const gram_spline_curve *curve, double x, double *along)
{
    int64_t low = -1, high = curve->n; /* t[low] <= x < t[high] */
    if (curve->period > 0) x -= curve->period * floor((x - curve->t[0]) / curve->period);
    if (curve->period > 0 && x < curve->t[0]) x = curve->t[0];
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (curve->t[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    *along = x - curve->t[low < 0 ? 0 : low];
    return low;
}

double gram_curve_at(const gram_spline_curve *curve, int64_t gap, double along, int r)
{
    const int m = curve->m, outside = gap < 0 || (gap == curve->n - 1 && !(curve->period > 0));
    const int64_t width = 2 * m * (curve->outputs > 0 ? curve->outputs : 1);
    const double *piece = curve->pieces + (gap < 0 ? 0 : gap) * width;
    double sum = 0;
    for (int k = (outside ? m : 2 * m) - 1; k >= r; k--) sum = sum * along / (k - r + 1) + piece[k];
    return sum;
}

/* ---- the object ---- */

gram_status gram_spline_make(gram_context *context, gram_spline **spline)
{
    const gram_status status = gram_take(context, "spline", 1, sizeof **spline, (void **)spline);
    if (status >= 0) **spline = (gram_spline){.memory = gram_memory_retain(context->memory)};
    return status;
}

static gram_status take_curve(gram_context *context, int m, int64_t n, int64_t outputs, gram_spline *s)
{
    gram_status status = GRAM_OK;
    if (!s->t) TRY(gram_take(context, "spline: knots", n, sizeof *s->t, (void **)&s->t));
    if (!s->weight) TRY(gram_take(context, "spline: weights", n, sizeof *s->weight, (void **)&s->weight));
    TRY(gram_take(context, "spline: pieces", n * 2 * m * outputs, sizeof *s->pieces, (void **)&s->pieces));
    s->curve = (gram_spline_curve){.m = m, .n = n, .t = s->t, .pieces = s->pieces, .outputs = outputs};
done:
    return status;
}

/* Places and weights of the rows become those of the curve: of many rows, memory that is touched for the first time is what costs. */
static gram_status make_rows(gram_context *context, const gram_points *x, const double *y, const gram_spline_options *o,
                             gram_spline_rows *rows, gram_spline *s)
{
    gram_status status = GRAM_OK;
    TRY(gram_spline_rows_make(context, "spline_fit", x, y, o->weights, (int)o->order, o->period, rows));
    s->t = rows->t;
    s->weight = rows->weight;
    TRY(take_curve(context, (int)o->order, rows->places, 1, s));
    TRY(gram_take(context, "spline: coefficients", rows->places, sizeof(double), (void **)&s->coefficients));
done:
    return status;
}

static void drop_rows(gram_context *context, gram_spline_rows *rows, const gram_spline *s)
{
    if (s->t) rows->t = rows->weight = NULL;
    gram_spline_rows_free(context, rows);
}

static gram_status take_rows(gram_context *context, int64_t rows, gram_spline *s)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "spline: fitted values", rows, sizeof *s->fitted, (void **)&s->fitted));
    TRY(gram_take(context, "spline: residuals", rows, sizeof *s->left, (void **)&s->left));
done:
    return status;
}

void gram_spline_destroy(gram_spline *spline)
{
    if (!spline) return;
    gram_memory *memory = spline->memory;
    double *const arrays[] = {spline->t,      spline->pieces, spline->weight, spline->coefficients,
                              spline->fitted, spline->left};
    gram_chain_free(&spline->chain);
    gram_sum_free(&spline->sum);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (arrays[i]) gram_memory_give(memory, arrays[i]);
    gram_memory_give(memory, spline);
    gram_memory_release(memory);
}

const gram_spline_report *gram_spline_get_report(const gram_spline *spline)
{
    return &spline->report;
}

const double *gram_spline_lambdas(const gram_spline *spline)
{
    return spline->sum.lambda;
}

const double *gram_spline_freedoms(const gram_spline *spline)
{
    return spline->sum.df;
}

const double *gram_spline_fitted(const gram_spline *spline)
{
    return spline->fitted;
}

const double *gram_spline_loo_residuals(const gram_spline *spline)
{
    return spline->left;
}

/* ---- the fit ---- */

static gram_status read_options(gram_context *context, const gram_points *x, const double *y,
                                const gram_spline_options *options, gram_spline_options *o)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    gram_spline_options_init(o, sizeof *o);
    TRY(gram_sized_read(context, "spline_fit", "options", "gram_spline_options", options, o, sizeof *o));
    FAIL_IF(!x || !y, context, GRAM_ERROR_ARGUMENT, "spline_fit: %s is NULL", x ? "y" : "x");
    FAIL_IF(gram_points_are_functionals(x), context, GRAM_ERROR_UNSUPPORTED,
            "spline_fit: x are functionals, and splines are fitted to values");
    FAIL_IF(x->d < 1, context, GRAM_ERROR_DIMENSION, "spline_fit: x has no columns");
    FAIL_IF(x->d > 1 && o->period > 0, context, GRAM_ERROR_UNSUPPORTED,
            "spline_fit: period = %s is for one column, and x has %" PRId64, gram_number_format(o->period, shown),
            x->d);
    FAIL_IF(o->order < 1 || o->order > GRAM_SPLINE_ORDERS, context, GRAM_ERROR_ARGUMENT,
            "spline_fit: order = %" PRId64 " is not 1 to %d", o->order, GRAM_SPLINE_ORDERS);
    FAIL_IF(!isnan(o->lambda) && !(o->lambda > 0 && isfinite(o->lambda)), context, GRAM_ERROR_ARGUMENT,
            "spline_fit: lambda = %s is not a finite number above 0", gram_number_format(o->lambda, shown));
    FAIL_IF(!(o->period >= 0 && isfinite(o->period)), context, GRAM_ERROR_ARGUMENT,
            "spline_fit: period = %s is not a finite number >= 0", gram_number_format(o->period, shown));
    FAIL_IF(o->loss == GRAM_SPLINE_LOSS_SQUARED && o->criterion != GRAM_CRITERION_GCV &&
                o->criterion != GRAM_CRITERION_LOO && o->criterion != GRAM_CRITERION_ML,
            context, GRAM_ERROR_ARGUMENT, "spline_fit: criterion = %d is not GCV, LOO or ML", (int)o->criterion);
done:
    return status;
}

/* What other losses ask for. */
static gram_status check_loss(gram_context *context, const gram_points *x, const double *y,
                              const gram_spline_options *o)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    FAIL_IF(strcmp(gram_spline_loss_name(o->loss), "none") == 0, context, GRAM_ERROR_ARGUMENT,
            "spline_fit: loss = %d is not a loss", (int)o->loss);
    if (o->loss == GRAM_SPLINE_LOSS_SQUARED) goto done;
    FAIL_IF(o->shape == GRAM_SPLINE_THIN_PLATE, context, GRAM_ERROR_UNSUPPORTED,
            "spline_fit: loss %s is for one column and for additive models, not for thin plates",
            gram_spline_loss_name(o->loss));
    FAIL_IF(!(o->quantile > 0 && o->quantile < 1), context, GRAM_ERROR_ARGUMENT,
            "spline_fit: quantile = %s is not between 0 and 1", gram_number_format(o->quantile, shown));
    FAIL_IF(!(o->delta > 0 && isfinite(o->delta)), context, GRAM_ERROR_ARGUMENT,
            "spline_fit: delta = %s is not a finite number above 0", gram_number_format(o->delta, shown));
    FAIL_IF(!(o->epsilon >= 0 && isfinite(o->epsilon)), context, GRAM_ERROR_ARGUMENT,
            "spline_fit: epsilon = %s is not a finite number >= 0", gram_number_format(o->epsilon, shown));
    FAIL_IF(o->folds < 2, context, GRAM_ERROR_ARGUMENT, "spline_fit: folds = %" PRId64 " is below 2", o->folds);
    for (int64_t i = 0; i < x->n && o->loss == GRAM_SPLINE_LOSS_LOGISTIC; i++)
        FAIL_IF(y[i] != 0 && y[i] != 1, context, GRAM_ERROR_DATA, "spline_fit: y[%" PRId64 "] = %s is not 0 or 1", i,
                gram_number_format(y[i], shown));
done:
    return status;
}

static void fill_report(const gram_spline_options *o, const gram_spline_rows *rows, const gram_spline_score *score,
                        const gram_chain *chain, gram_spline_report *r)
{
    const double n = (double)rows->n, freedom = n - score->df;
    const int known = rows->places > (chain->periodic ? 1 : chain->m); /* more than a polynomial through all */
    r->n = rows->n;
    r->knots = rows->places;
    r->tuned_rows = rows->n;
    r->lambda = score->alpha / n;
    r->period = o->period;
    r->effective_dimension = score->df;
    r->sigma = freedom > 1e-9 * n ? sqrt(score->rss / freedom) : NAN;
    if (o->criterion == GRAM_CRITERION_ML && isnan(o->lambda) && rows->n > (chain->periodic ? 1 : chain->m))
        r->sigma = sqrt((score->rss + chain->bending) / (n - (chain->periodic ? 1 : chain->m)));
    r->train_rmse = sqrt(score->rss / rows->total);
    r->train_r2 = rows->variation > 0 ? 1 - score->rss / rows->variation : NAN;
    r->loo_rmse = known ? sqrt(score->loo) : NAN;
    r->loo_r2 = known && rows->variation > 0 ? 1 - score->loo * rows->total / rows->variation : NAN;
    r->gcv = known ? score->gcv : NAN;
    r->roughness = chain->bending / score->alpha;
    r->log_marginal_likelihood = isfinite(score->likelihood) ? score->likelihood : NAN;
}

/* What the rows have of the solution. */
static void fill_rows(gram_spline *s, const gram_chain *chain, const gram_spline_rows *rows, const double *y,
                      const double *weights, double alpha)
{
    const int m = chain->m;
    gram_chain_pieces(chain, s->pieces);
    s->curve.period = rows->period;
    for (int64_t p = 0; p < rows->places; p++)
        s->coefficients[p] = rows->weight[p] * (rows->mean[p] - chain->state[p * m + m - 1]) / alpha;
    for (int64_t i = 0; i < rows->given; i++) {
        const int64_t p = rows->place[i];
        s->fitted[i] = s->left[i] = NAN;
        if (p < 0) continue;
        const double part = 1 - (weights ? weights[i] : 1) * chain->spread[p];
        s->fitted[i] = chain->state[p * m + m - 1];
        s->left[i] = isnan(s->report.loo_rmse) ? NAN : (y[i] - s->fitted[i]) / fmax(part, 1e-12);
    }
}

static gram_status fit_curve(gram_context *context, const gram_points *x, const double *y, const gram_spline_options *o,
                             gram_spline *made)
{
    gram_status status = GRAM_OK;
    gram_spline_rows rows = {0};
    gram_spline_score score;
    gram_chain chain = {0};
    const int m = (int)o->order;
    TRY(make_rows(context, x, y, o, &rows, made));
    TRY(gram_chain_make(context, m, rows.places, rows.t, o->period,
                        o->bands ? GRAM_CHAIN_EVERYWHERE : GRAM_CHAIN_SPREAD, &chain));
    double alpha = o->lambda * (double)rows.n;
    if (isnan(o->lambda))
        TRY(gram_spline_choose(context, &chain, &rows, y, o->weights, o->criterion, &alpha, &made->report));
    TRY(gram_spline_try(context, &chain, &rows, y, o->weights, alpha, -1, &score));
    fill_report(o, &rows, &score, &chain, &made->report);
    fill_rows(made, &chain, &rows, y, o->weights, alpha);
    if (o->bands) {
        made->chain = chain;
        made->bands = 1;
        chain = (gram_chain){0};
    }
done:
    gram_chain_free(&chain);
    drop_rows(context, &rows, made);
    return status;
}

static gram_status fit_loss(gram_context *context, const gram_points *x, const double *y, const gram_spline_options *o,
                            gram_spline *made)
{
    gram_status status = GRAM_OK;
    gram_spline_rows rows = {0};
    gram_chain chain = {0};
    gram_spline_report *r = &made->report;
    const int m = (int)o->order;
    TRY(make_rows(context, x, y, o, &rows, made));
    double alpha = o->lambda * (double)rows.n;
    if (isnan(o->lambda)) TRY(gram_spline_loss_choose(context, x, y, o, &alpha, r));
    TRY(gram_chain_make(context, m, rows.places, rows.t, o->period, GRAM_CHAIN_MEAN, &chain));
    TRY(gram_spline_loss_solve(context, &chain, &rows, y, o, alpha, made->coefficients, r));
    gram_chain_pieces(&chain, made->pieces);
    made->curve.period = o->period;
    r->n = rows.n;
    r->knots = rows.places;
    r->lambda = alpha / (double)rows.n;
    r->period = o->period;
    r->roughness = chain.bending / alpha;
    r->sigma = r->effective_dimension = r->train_rmse = r->train_r2 = r->loo_rmse = r->loo_r2 = r->gcv = NAN;
    for (int64_t i = 0; i < rows.given; i++) {
        made->left[i] = NAN;
        made->fitted[i] = rows.place[i] < 0 ? NAN : chain.state[rows.place[i] * m + m - 1];
    }
done:
    gram_chain_free(&chain);
    drop_rows(context, &rows, made);
    return status;
}

static gram_status fit_sum(gram_context *context, const gram_points *x, const double *y, const gram_spline_options *o,
                           gram_spline *made)
{
    gram_status status = GRAM_OK;
    TRY(gram_spline_rows_check(context, "spline_fit", x, y, o->weights));
    const int squared = o->loss == GRAM_SPLINE_LOSS_SQUARED, plate = o->shape == GRAM_SPLINE_THIN_PLATE;
    TRY((plate     ? gram_plate_fit
         : squared ? gram_sum_fit
                   : gram_sum_fit_loss)(context, x, y, o, made->fitted, made->left, &made->report, &made->sum));
    made->bands = squared && o->bands;
done:
    return status;
}

gram_status gram_spline_fit(gram_context *context, const gram_points *x, const double *y,
                            const gram_spline_options *options, gram_spline **spline)
{
    gram_status status = GRAM_OK;
    gram_spline_options o;
    gram_spline *made = NULL;
    if (!context || !spline) return GRAM_ERROR_ARGUMENT;
    *spline = NULL;
    TRY(read_options(context, x, y, options, &o));
    TRY(gram_spline_make(context, &made));
    TRY(take_rows(context, x->n, made));
    made->report = (gram_spline_report){.size = sizeof made->report,
                                        .d = x->d,
                                        .order = o.order,
                                        .lambda = NAN,
                                        .roughness = NAN,
                                        .log_marginal_likelihood = NAN,
                                        .train_loss = NAN,
                                        .objective = NAN,
                                        .gap = NAN,
                                        .criterion = NAN};
    FAIL_IF(o.shape != GRAM_SPLINE_ADDITIVE && o.shape != GRAM_SPLINE_THIN_PLATE, context, GRAM_ERROR_ARGUMENT,
            "spline_fit: shape = %d is not a shape", (int)o.shape);
    FAIL_IF(o.shape == GRAM_SPLINE_THIN_PLATE && x->d == 1, context, GRAM_ERROR_UNSUPPORTED,
            "spline_fit: a thin plate is for 2 or 3 columns, and x has one");
    TRY(check_loss(context, x, y, &o));
    if (x->d > 1)
        TRY(fit_sum(context, x, y, &o, made));
    else
        TRY((o.loss == GRAM_SPLINE_LOSS_SQUARED ? fit_curve : fit_loss)(context, x, y, &o, made));
    *spline = made;
    made = NULL;
done:
    gram_spline_destroy(made);
    return status;
}

gram_status gram_spline_restore(gram_context *context, const gram_spline_curve *curve, const double *weight,
                                const gram_spline_report *report, gram_spline **spline)
{
    gram_status status = GRAM_OK;
    gram_spline *made = NULL;
    double *values = NULL;
    const int64_t n = curve->n, m = curve->m;
    *spline = NULL;
    TRY(gram_spline_make(context, &made));
    TRY(take_curve(context, curve->m, n, curve->outputs, made));
    made->report = *report;
    made->curve.period = curve->period;
    memcpy(made->t, curve->t, (size_t)n * sizeof *made->t);
    memcpy(made->pieces, curve->pieces, (size_t)(2 * m * n * curve->outputs) * sizeof *made->pieces);
    made->report.d = 1;
    if (weight) {
        TRY(gram_take(context, "spline: values", n, sizeof *values, (void **)&values));
        for (int64_t i = 0; i < n; i++) values[i] = curve->pieces[2 * m * i];
        TRY(gram_chain_make(context, curve->m, n, curve->t, curve->period, GRAM_CHAIN_EVERYWHERE, &made->chain));
        TRY(gram_chain_solve(context, &made->chain, report->lambda * (double)report->n, weight, values,
                             GRAM_CHAIN_EVERYWHERE));
        made->bands = 1;
    }
    *spline = made;
    made = NULL;
done:
    gram_give(context, values);
    gram_spline_destroy(made);
    return status;
}

/* ---- predictions ---- */

static double apply_curve(const gram_spline *spline, const gram_spline_term *term, double *variance)
{
    const int r = term->first + term->second;
    const double scale = term->factor * spline->report.sigma;
    double along;
    const int64_t gap = gram_curve_find(&spline->curve, term->x[0], &along);
    if (variance) *variance = scale * scale * gram_chain_variance(&spline->chain, gap, along, r);
    return term->factor * gram_curve_at(&spline->curve, gap, along, r);
}

gram_status gram_spline_apply(gram_context *context, const gram_spline *spline, int64_t count,
                              const gram_spline_term *terms, int64_t only, double *phi, double *mean, double *variance)
{
    gram_status status = GRAM_OK;
    const gram_spline_sum *sum = &spline->sum;
    const int several = sum->d > 0, m = several ? sum->m : spline->curve.m;
    gram_spline_row row = {.phi = phi};
    FAIL_IF(variance && !spline->bands, context, GRAM_ERROR_UNSUPPORTED,
            "spline_predict: a fit without bands has no variances");
    FAIL_IF(variance && !several && count > 1, context, GRAM_ERROR_UNSUPPORTED,
            "spline_predict: a sum of %" PRId64 " terms has no variance here", count);
    if (several) memset(phi, 0, (size_t)sum->p * sizeof *phi);
    *mean = 0;
    for (int64_t k = 0; k < count; k++) {
        const int r = terms[k].first + terms[k].second;
        FAIL_IF(r < 0 || r >= 2 * m, context, GRAM_ERROR_UNSUPPORTED,
                "spline_predict: derivative = %d is not 0 to %d, as splines of order %d have", r, 2 * m - 1, m);
        FAIL_IF(variance && r >= m, context, GRAM_ERROR_UNSUPPORTED,
                "spline_predict: the variance of derivative %d is infinite for order %d: the order must be above it", r,
                m);
        FAIL_IF(sum->plate && (r > 2 || (r > 0 && variance)), context, GRAM_ERROR_UNSUPPORTED,
                "spline_predict: a thin plate has %s", r > 2 ? "no such derivatives" : "variances of values only");
        if (several)
            gram_sum_add(sum, terms[k].x, terms[k].by, terms[k].first, terms[k].with, terms[k].second, only,
                         terms[k].factor, &row);
        else
            *mean += apply_curve(spline, &terms[k], variance);
    }
    if (several) *mean = gram_sum_value(sum, &row, variance);
    if (several && variance) *variance *= spline->report.sigma * spline->report.sigma;
done:
    return status;
}

static gram_status predict(gram_context *context, const gram_spline *spline, const gram_points *x, int64_t column,
                           int64_t derivative, int64_t only, double *mean, double *variance)
{
    gram_status status = GRAM_OK;
    const int64_t d = x->d, p = spline->sum.p;
    double *work = NULL;
    FAIL_IF(d != spline->report.d, context, GRAM_ERROR_DIMENSION,
            "spline_predict: x has %" PRId64 " columns, and the fit %" PRId64, d, spline->report.d);
    FAIL_IF(gram_points_are_functionals(x), context, GRAM_ERROR_UNSUPPORTED,
            "spline_predict: x are functionals; ask for their derivatives by order");
    FAIL_IF(derivative < 0 || derivative > 2 * GRAM_SPLINE_ORDERS, context, GRAM_ERROR_UNSUPPORTED,
            "spline_predict: derivative = %" PRId64 " is not one that splines have", derivative);
    FAIL_IF(derivative > 0 && (column < 0 || column >= d), context, GRAM_ERROR_ARGUMENT,
            "spline_predict: column = %" PRId64 " is not 0 to %" PRId64, column, d - 1);
    TRY(gram_take(context, "predict", p + d, sizeof *work, (void **)&work));
    for (int64_t i = 0; i < x->n; i++) {
        const gram_spline_term term = {.x = work + p, .by = column, .first = (int)derivative, .factor = 1};
        for (int64_t l = 0; l < d; l++) work[p + l] = gram_points_at(x, i, l);
        TRY(gram_spline_apply(context, spline, 1, &term, only, work, &mean[i], variance ? &variance[i] : NULL));
    }
done:
    gram_give(context, work);
    return status;
}

gram_status gram_spline_predict(gram_context *context, const gram_spline *spline, const gram_points *x, int64_t column,
                                int64_t derivative, double *mean, double *variance)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!spline || !x || !mean, context, GRAM_ERROR_ARGUMENT, "spline_predict: %s is NULL",
            !spline ? "spline"
            : !x    ? "x"
                    : "mean");
    TRY(predict(context, spline, x, column, derivative, -1, mean, variance));
done:
    return status;
}

gram_status gram_spline_predict_component(gram_context *context, const gram_spline *spline, int64_t component,
                                          const gram_points *x, double *mean, double *variance)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!spline || !x || !mean, context, GRAM_ERROR_ARGUMENT, "spline_predict_component: %s is NULL",
            !spline ? "spline"
            : !x    ? "x"
                    : "mean");
    FAIL_IF(spline->sum.plate, context, GRAM_ERROR_UNSUPPORTED,
            "spline_predict_component: a thin plate has no components");
    FAIL_IF(component < 0 || component >= spline->sum.d, context, GRAM_ERROR_ARGUMENT,
            "spline_predict_component: component = %" PRId64 ", and there are %" PRId64, component, spline->sum.d);
    TRY(predict(context, spline, x, 0, 0, component, mean, variance));
done:
    return status;
}
