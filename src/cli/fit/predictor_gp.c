/* Predictions of Gaussian processes: mean, deviation, interval, terms. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/fit/posterior.h"

typedef struct gp_state {
    cli_posterior posterior;
    int64_t first_term;
} gp_state;

/* ---- columns ---- */

static int64_t term_count(const cli_predictor *predictor)
{
    const gram_kernel *kernel = gram_function_kernel(gram_model_function(predictor->model));
    return predictor->wish.terms ? gram_kernel_term_count(kernel) : 0;
}

static int add_terms(cli_predictor *predictor)
{
    char name[32];
    int code = CLI_DONE;
    for (int64_t t = 0; t < term_count(predictor) && code == CLI_DONE; t++) {
        (void)snprintf(name, sizeof name, "term_%lld", (long long)t + 1);
        code = cli_predictor_column(predictor, name, "");
        if (code == CLI_DONE) code = cli_predictor_column(predictor, name, "_std");
    }
    return code;
}

static int add_columns(cli_predictor *predictor, gp_state *state)
{
    int code = cli_predictor_means(predictor);
    if (code == CLI_DONE && predictor->wish.std) {
        predictor->std = predictor->count;
        code = cli_predictor_column(predictor, "std", "");
    }
    if (code == CLI_DONE && predictor->wish.interval > 0) {
        predictor->lower = predictor->count;
        predictor->upper = predictor->count + 1;
        code = cli_predictor_column(predictor, "lower", "");
        if (code == CLI_DONE) code = cli_predictor_column(predictor, "upper", "");
    }
    state->first_term = predictor->count;
    return code == CLI_DONE ? add_terms(predictor) : code;
}

static int open_gp(cli_session *session, cli_predictor *predictor)
{
    const cli_wish *wish = &predictor->wish;
    if (wish->prob)
        return cli_fail(CLI_WRONG_USE, "It predicts means, not classes.", "predict: --prob is for classifiers");
    gp_state *state = predictor->own = calloc(1, sizeof *state);
    if (!state) return cli_no_memory();
    int code = add_columns(predictor, state);
    if (code == CLI_DONE)
        code = cli_posterior_open(session, predictor->model, predictor->file,
                                  wish->std || wish->interval > 0 || wish->terms, &state->posterior);
    const gram_gp_report *report = state->posterior.gp ? gram_gp_get_report(state->posterior.gp) : NULL;
    if (code == CLI_DONE && wish->terms &&
        (report->solver != GRAM_SOLVER_EXACT || report->precision != GRAM_PRECISION_F64))
        return cli_fail(CLI_WRONG_USE, "Fit it with --solver exact --precision f64.",
                        "predict: --terms is for exact solvers in f64, this is %s, %s",
                        cli_model_text(predictor->model, "solver"), cli_model_text(predictor->model, "precision"));
    return code;
}

static void close_gp(cli_predictor *predictor)
{
    gp_state *state = predictor->own;
    if (state) cli_posterior_close(&state->posterior);
    free(state);
}

/* ---- values ---- */

static void put(const cli_predictor *predictor, int64_t column, int64_t row, double value, double *values)
{
    if (column >= 0) values[row * predictor->stride + column] = value;
}

static void put_row(const cli_predictor *predictor, const cli_places *places, int64_t row, double mean, double variance,
                    double *values)
{
    const gp_state *state = predictor->own;
    if (!predictor->wish.latent) variance += cli_posterior_noise(&state->posterior, places, row);
    const double std = sqrt(variance);
    put(predictor, 0, row, mean, values);
    put(predictor, predictor->std, row, std, values);
    put(predictor, predictor->lower, row, mean - predictor->quantile * std, values);
    put(predictor, predictor->upper, row, mean + predictor->quantile * std, values);
}

static gram_status put_terms(cli_session *session, const cli_predictor *predictor, const cli_places *places,
                             double *work, double *values)
{
    const gp_state *state = predictor->own;
    const gram_kernel *kernel = gram_function_kernel(gram_model_function(predictor->model));
    double *mean = work, *variance = work + places->n;
    gram_status status = GRAM_OK;
    for (int64_t t = 0; t < term_count(predictor) && status >= 0; t++) {
        const int64_t column = state->first_term + 2 * t;
        status = gram_gp_predict_term(session->context, state->posterior.gp, gram_kernel_term(kernel, t),
                                      places->points, mean, variance);
        for (int64_t i = 0; i < places->n && status >= 0; i++) {
            put(predictor, column, i, mean[i], values);
            put(predictor, column + 1, i, sqrt(variance[i]), values);
        }
    }
    return status;
}

static gram_status evaluate_gp(cli_session *session, const cli_predictor *predictor, const cli_places *places,
                               double *values)
{
    const gp_state *state = predictor->own;
    const int with_variance = predictor->wish.std || predictor->wish.interval > 0;
    double *work = calloc((size_t)(2 * places->n + 1), sizeof *work);
    if (!work) return GRAM_ERROR_MEMORY;
    gram_status status =
        cli_posterior_predict(session, &state->posterior, places, work, with_variance ? work + places->n : NULL);
    for (int64_t i = 0; i < places->n && status >= 0; i++)
        put_row(predictor, places, i, work[i], work[places->n + i], values);
    if (status >= 0) status = put_terms(session, predictor, places, work, values);
    free(work);
    return status;
}

const cli_predictor_kind cli_predictor_gp = {"gp", "regression", 0, open_gp, evaluate_gp, close_gp};
