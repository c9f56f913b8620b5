/* Likelihood, posterior and leave-one-out of a Gaussian process on the line, from the filter of markov_filter.c.
 *
 * Once beta is known, the columns that count are u_0 = y - T beta and u_k, the columns of T small^-T, for which
 * u_k'A^-1 u_l = 1 if k = l and else 0. Then
 *
 *     A^-1 - P = sum_(k>0) A^-1 u_k u_k'A^-1,                so that P_ii comes from the weights of all columns;
 *     gradient: W = (A^-1 u_0 u_0'A^-1 - A^-1)/2, with a flat prior with the sum over all columns in place of the first;
 *     at a new point, with s_k the smoothed column u_k and tau = small^-1 t, the variance gains sum_k (tau_k - s_k)^2.
 *
 * New points are places of the same sequence without an observation. */
#include <math.h>
#include <string.h>

#include "method/gp/gp_system.h"
#include "method/gp/markov/gp_markov.h"
#include "points/points.h"

int gram_markov_supports(gram_context *context, const gram_kernel *kernel, const char **why)
{
    gram_markov_model model;
    if (why) *why = "";
    if (!context) return 0;
    gram_status status = GRAM_OK;
    if (kernel) {
        status = gram_markov_model_make(context, "kernel", kernel, 1, &model);
        gram_markov_model_free(&model);
    } else {
        status = gram_fail(context, GRAM_ERROR_ARGUMENT, "markov_supports: kernel is NULL");
    }
    if (status < 0 && why) *why = gram_context_message(context);
    return status >= 0;
}

/* ---- the likelihood ---- */

static gram_markov_events events_of(const gram_markov_system *s)
{
    return (gram_markov_events){.count = s->n,
                                .columns = s->q + 1,
                                .t = s->t,
                                .noise = s->noise,
                                .data = s->data,
                                .order = s->order,
                                .weights = s->options.weights};
}

gram_status gram_markov_likelihood(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                   const gram_gp_options *options, double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    gram_markov_system s = {0};
    gram_markov_pass pass = {0};
    double *matrix = NULL;
    if (!context || !value) return GRAM_ERROR_ARGUMENT;
    TRY(gram_markov_system_make(context, "gp_likelihood", kernel, x, y, options, &s));
    const gram_markov_events events = events_of(&s);
    TRY(gram_markov_pass_make(context, "gp_likelihood", &s.model, gradient != NULL, &events, &pass));
    TRY(gram_markov_forward(context, &pass));
    gram_markov_system_settle(&s, &pass);
    *value = gram_markov_log_likelihood(&s);
    if (!gradient) goto done;
    const int c = s.q + 1, used = s.options.flat ? c : 1;
    TRY(gram_take(context, "gp_likelihood: columns", c * used, sizeof(double), (void **)&matrix));
    for (int i = 0; i < c; i++)
        for (int j = 0; j < used; j++) matrix[i * used + j] = s.matrix[i * c + j];
    TRY(gram_markov_recombine(context, &pass, used, matrix));
    TRY(gram_markov_backward(context, &pass, &(gram_markov_results){.gradient = gradient}));
done:
    gram_give(context, matrix);
    gram_markov_pass_free(context, &pass);
    gram_markov_system_free(context->memory, &s);
    return status;
}

/* ---- conditioning ---- */

/* From the rows of A^-1 [u_0, u_1, ...] and the diagonal of A^-1 to what the report says; sorted rows go home. */
static void leave_one_out(gram_markov *fit, const double *y, const double *weights, const double *precision)
{
    const gram_markov_system *s = &fit->system;
    gram_markov_report *r = &fit->report;
    const int c = s->q + 1;
    const double n = (double)s->n;
    double sum = 0, density = 0, inside = 0, train = 0, mean = 0, variation = 0;
    for (int64_t i = 0; i < s->n; i++) mean += y[i] / n;
    for (int64_t i = 0; i < s->n; i++) {
        const int64_t row = s->order[i];
        const double *a = weights + i * c, given = s->noise[i] - gram_markov_white(&s->model, s->t[i]);
        double p = precision[i];
        for (int k = 1; k < c; k++) p -= a[k] * a[k];
        const int known = p > 1e-14 * precision[i]; /* one row and a constant: nothing is left to predict from */
        const double miss = known ? a[0] / p : NAN;
        fit->loo_mean[row] = y[row] - miss;
        fit->loo_variance[row] = known ? 1 / p : NAN;
        fit->fitted[row] = y[row] - given * a[0];
        train += given * a[0] * given * a[0];
        sum += miss * miss;
        density += -0.5 * (log(2 * 3.14159265358979323846 / p) + miss * miss * p);
        inside += miss * miss * p <= 1.959963984540054 * 1.959963984540054;
        variation += (y[row] - mean) * (y[row] - mean);
    }
    r->train_rmse = sqrt(train / n);
    r->train_r2 = variation > 0 ? 1 - train / variation : NAN;
    r->loo_rmse = sqrt(sum / n);
    r->loo_r2 = variation > 0 ? 1 - sum / variation : NAN;
    r->loo_log_density = density / n;
    r->loo_coverage = inside / n;
}

/* The filter there and back: settles the system, changes its columns. */
static gram_status condition(gram_context *context, gram_markov *fit, const double *y)
{
    gram_status status = GRAM_OK;
    gram_markov_system *s = &fit->system;
    gram_markov_pass pass = {0};
    double *weights = NULL, *precision = NULL;
    const int64_t c = s->q + 1;
    const gram_markov_events events = events_of(s);
    TRY(gram_take(context, "gp_fit: weights", s->n * c, sizeof(double), (void **)&weights));
    TRY(gram_take(context, "gp_fit: weights", s->n, sizeof(double), (void **)&precision));
    TRY(gram_markov_pass_make(context, "gp_fit", &s->model, 0, &events, &pass));
    TRY(gram_markov_forward(context, &pass));
    gram_markov_system_settle(s, &pass);
    TRY(gram_markov_recombine(context, &pass, (int)c, s->matrix));
    TRY(gram_markov_backward(context, &pass, &(gram_markov_results){.weights = weights, .precision = precision}));
    leave_one_out(fit, y, weights, precision);
done:
    gram_markov_pass_free(context, &pass);
    gram_give(context, weights);
    gram_give(context, precision);
    return status;
}

/* beta belongs to the centred and scaled column. */
static void set_coefficients(gram_markov *fit)
{
    const gram_markov_system *s = &fit->system;
    for (int j = 0; j < s->q; j++) fit->coefficients[j] = s->beta[j];
    if (s->options.mean != GRAM_MEAN_LINEAR) return;
    fit->coefficients[1] = s->beta[1] / s->scale;
    fit->coefficients[0] = s->beta[0] - s->centre * fit->coefficients[1];
}

static gram_status make(gram_context *context, gram_markov **fit)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "gp_fit", 1, sizeof **fit, (void **)fit));
    memset(*fit, 0, sizeof **fit);
    (*fit)->memory = gram_memory_retain(context->memory);
done:
    return status;
}

gram_status gram_markov_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                            const gram_gp_options *options, gram_markov **fit)
{
    gram_status status = GRAM_OK;
    gram_markov *made = NULL;
    if (!context || !fit) return GRAM_ERROR_ARGUMENT;
    *fit = NULL;
    TRY(make(context, &made));
    gram_markov_system *s = &made->system;
    TRY(gram_markov_system_make(context, "gp_fit", kernel, x, y, options, s));
    TRY(gram_take(context, "gp_fit: mean", s->q, sizeof(double), (void **)&made->coefficients));
    TRY(gram_take(context, "gp_fit: fitted values", s->n, sizeof(double), (void **)&made->fitted));
    TRY(gram_take(context, "gp_fit: leave-one-out", s->n, sizeof(double), (void **)&made->loo_mean));
    TRY(gram_take(context, "gp_fit: leave-one-out", s->n, sizeof(double), (void **)&made->loo_variance));
    TRY(condition(context, made, y));
    set_coefficients(made);
    made->report.size = sizeof made->report;
    made->report.n = s->n;
    made->report.states = s->model.states;
    made->report.noise = s->options.noise;
    made->report.log_marginal_likelihood = gram_markov_log_likelihood(s);
    gram_gp_options_forget(&s->options);
    *fit = made;
    made = NULL;
done:
    gram_markov_destroy(made);
    return status;
}

void gram_markov_destroy(gram_markov *fit)
{
    if (!fit) return;
    gram_memory *memory = fit->memory;
    gram_memory_give(memory, fit->coefficients);
    gram_memory_give(memory, fit->fitted);
    gram_memory_give(memory, fit->loo_mean);
    gram_memory_give(memory, fit->loo_variance);
    gram_markov_system_free(memory, &fit->system);
    gram_memory_give(memory, fit);
    gram_memory_release(memory);
}

const gram_markov_report *gram_markov_get_report(const gram_markov *fit)
{
    return &fit->report;
}

const double *gram_markov_mean_coefficients(const gram_markov *fit)
{
    return fit->coefficients;
}

const double *gram_markov_fitted(const gram_markov *fit)
{
    return fit->fitted;
}

const double *gram_markov_loo_mean(const gram_markov *fit)
{
    return fit->loo_mean;
}

const double *gram_markov_loo_variance(const gram_markov *fit)
{
    return fit->loo_variance;
}

/* ---- data and new points in one sequence ---- */

gram_status gram_markov_check_new(gram_context *context, const char *name, const gram_markov *fit,
                                  const gram_points *points, const double *basis, int64_t ldb)
{
    gram_status status = GRAM_OK;
    const int64_t columns = fit->system.options.columns;
    FAIL_IF(!points, context, GRAM_ERROR_ARGUMENT, "%s: points is NULL", name);
    TRY(gram_markov_check_points(context, name, "points", &fit->system.model, points));
    FAIL_IF(columns > 0 && (!basis || ldb < columns), context, GRAM_ERROR_ARGUMENT,
            "%s: the fit had %lld columns of the mean; basis must have them", name, (long long)columns);
done:
    return status;
}

gram_status gram_markov_merge_make(gram_context *context, const gram_markov *fit, const gram_points *points,
                                   gram_markov_merge *g)
{
    gram_status status = GRAM_OK;
    memset(g, 0, sizeof *g);
    g->n = fit ? fit->system.n : 0;
    g->m = points->n;
    g->count = g->n + g->m;
    TRY(gram_take(context, "markov: new points", g->m, sizeof *g->order, (void **)&g->order));
    TRY(gram_take(context, "markov: new points", g->m, sizeof(double), (void **)&g->sorted));
    TRY(gram_take(context, "markov: all points", g->count, sizeof *g->place, (void **)&g->place));
    TRY(gram_take(context, "markov: all points", g->count, sizeof(double), (void **)&g->t));
    TRY(gram_take(context, "markov: all points", g->count, sizeof(double), (void **)&g->noise));
    TRY(gram_markov_sort(context, points, g->order, g->sorted));
    for (int64_t k = 0, i = 0, j = 0; k < g->count; k++) {
        const int old = j == g->m || (i < g->n && fit->system.t[i] <= g->sorted[j]);
        g->t[k] = old ? fit->system.t[i] : g->sorted[j];
        g->noise[k] = old ? fit->system.noise[i] : -1;
        g->place[old ? i : g->n + j] = k;
        i += old;
        j += !old;
    }
done:
    return status;
}

void gram_markov_merge_free(gram_context *context, gram_markov_merge *g)
{
    gram_give(context, g->order);
    gram_give(context, g->sorted);
    gram_give(context, g->place);
    gram_give(context, g->t);
    gram_give(context, g->noise);
    memset(g, 0, sizeof *g);
}

/* ---- prediction ---- */

/* Smoothed columns at all places become mean and variance at the new ones. */
static void deliver(const gram_markov *fit, const gram_markov_merge *g, int c, const double *smoothed,
                    const double *spread, const double *basis, int64_t ldb, double *row, double *mean, double *variance)
{
    const gram_markov_system *s = &fit->system;
    for (int64_t j = 0; j < g->m; j++) {
        const int64_t at = g->place[g->n + j], home = g->order[j];
        gram_markov_mean_row(s, g->sorted[j], basis ? basis + home * ldb : NULL, row);
        mean[home] = smoothed[at * c];
        for (int k = 0; k < s->q; k++) mean[home] += row[k] * s->beta[k];
        if (!variance) continue;
        variance[home] = spread[at] + gram_markov_white(&s->model, g->sorted[j]);
        if (c == 1) continue;
        gram_markov_small_solve(s, row);
        for (int k = 0; k < s->q; k++) {
            const double off = row[k] - smoothed[at * c + k + 1];
            variance[home] += off * off;
        }
    }
}

gram_status gram_markov_predict(gram_context *context, const gram_markov *fit, const gram_points *points,
                                const double *basis, int64_t ldb, double *mean, double *variance)
{
    gram_status status = GRAM_OK;
    gram_markov_merge g = {0};
    gram_markov_pass pass = {0};
    double *data = NULL, *smoothed = NULL, *spread = NULL, *row = NULL;
    if (!context || !fit || !mean) return GRAM_ERROR_ARGUMENT;
    const gram_markov_system *s = &fit->system;
    const int c = s->options.flat && variance ? s->q + 1 : 1;
    TRY(gram_markov_check_new(context, "gp_predict", fit, points, basis, ldb));
    TRY(gram_markov_merge_make(context, fit, points, &g));
    TRY(gram_take(context, "gp_predict: data", g.count * c, sizeof(double), (void **)&data));
    TRY(gram_take(context, "gp_predict: means", g.count * c, sizeof(double), (void **)&smoothed));
    TRY(gram_take(context, "gp_predict: variances", g.count, sizeof(double), (void **)&spread));
    TRY(gram_take(context, "gp_predict: a row", s->q + 1, sizeof(double), (void **)&row));
    memset(data, 0, (size_t)(g.count * c) * sizeof(double));
    for (int64_t i = 0; i < g.n; i++)
        for (int k = 0; k < c; k++) data[g.place[i] * c + k] = s->data[i * (s->q + 1) + k];
    const gram_markov_events events = {.count = g.count, .columns = c, .t = g.t, .noise = g.noise, .data = data};
    TRY(gram_markov_pass_make(context, "gp_predict", &s->model, 0, &events, &pass));
    TRY(gram_markov_forward(context, &pass));
    TRY(gram_markov_backward(context, &pass,
                             &(gram_markov_results){.mean = smoothed, .variance = variance ? spread : NULL}));
    deliver(fit, &g, c, smoothed, spread, basis, ldb, row, mean, variance);
done:
    gram_markov_pass_free(context, &pass);
    gram_give(context, data);
    gram_give(context, smoothed);
    gram_give(context, spread);
    gram_give(context, row);
    gram_markov_merge_free(context, &g);
    return status;
}
