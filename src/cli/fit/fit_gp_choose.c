/* The numbers of a Gaussian process that nobody gave: by the marginal likelihood, or defaults. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit/fit_gp.h"
#include "cli/report/kernel_text.h"

/* Shares of the variance of the target. */
static const double NOISE_START = 0.1, NOISE_DEFAULT = 1e-2;

static int is_amplitude(const gram_parameter *parameter)
{
    return strncmp(parameter->name, "const", 5) == 0;
}

gram_status cli_fit_set_amplitudes(cli_session *session, const gram_kernel *kernel, double variance, int64_t *count,
                                   gram_kernel **out)
{
    gram_status status = GRAM_OK;
    gram_parameter parameter;
    const int64_t parameters = gram_kernel_parameter_count(kernel);
    double *values = calloc((size_t)parameters + 1, sizeof *values);
    if (!values) return GRAM_ERROR_MEMORY;
    *count = 0;
    for (int64_t i = 0; i < parameters && status >= 0; i++) {
        status = gram_kernel_parameter_get(session->context, kernel, i, &parameter);
        *count += is_amplitude(&parameter);
        values[i] = is_amplitude(&parameter) && !parameter.set ? variance : parameter.value;
    }
    if (status >= 0) status = gram_kernel_with_values(session->context, kernel, values, out);
    free(values);
    return status;
}

/* A kernel without any amplitude means that of a standardised target: the variance goes in front, and stays. */
static gram_status add_amplitude(cli_session *session, const gram_kernel *kernel, double variance, gram_kernel **out)
{
    char number[GRAM_NUMBER_SIZE], *text = cli_kernel_text(kernel);
    cli_text whole = {0};
    if (!text) return GRAM_ERROR_MEMORY;
    cli_text_add(&whole, "const(c=%s!)*(%s)", gram_number_format(variance, number), text);
    const gram_status status = whole.failed ? GRAM_ERROR_MEMORY : gram_kernel_parse(session->context, whole.data, out);
    cli_text_free(&whole);
    free(text);
    return status;
}

static gram_status tune(cli_session *session, fit_state *fit, gram_kernel *start)
{
    enum { MATRICES = 2 };
    gp_state *state = fit->result;
    gram_gp_tune_options options;
    gram_gp_tune_options_init(&options, sizeof options);
    options.objective = fit->tune == FIT_TUNE_LOO ? GRAM_GP_OBJECTIVE_LOO : GRAM_GP_OBJECTIVE_ML;
    options.noise_fixed = state->noise_given;
    options.ard = cli_fit_wants_ard(fit->own);
    options.rows = cli_fit_tuning_rows(session, MATRICES);
    state->tuned.size = sizeof state->tuned;
    return (state->plan.solver == GRAM_SOLVER_MARKOV ? gram_markov_tune : gram_gp_tune)(
        session->context, start, fit->points, state->y, &state->options, &options, &fit->kernel, &state->options.noise,
        &state->tuned);
}

gram_status cli_fit_gp_choose(cli_session *session, fit_state *fit)
{
    gp_state *state = fit->result;
    const double variance = state->deviation * state->deviation;
    gram_kernel *start = NULL, *scaled = NULL;
    int64_t amplitudes;
    if (!state->noise_given)
        state->options.noise = variance * (fit->tune == FIT_TUNE_NONE ? NOISE_DEFAULT : NOISE_START);
    state->noise_is_default = fit->tune == FIT_TUNE_NONE && !state->noise_given;
    gram_status status = cli_fit_set_amplitudes(session, fit->given, variance, &amplitudes, &start);
    if (status >= 0 && amplitudes == 0 && fit->tune != FIT_TUNE_NONE && !fit->own->no_scale) {
        status = add_amplitude(session, start, variance, &scaled);
        gram_kernel_release(start);
        start = scaled;
    }
    if (status >= 0)
        status = fit->tune == FIT_TUNE_NONE ? gram_kernel_resolve(session->context, start, fit->points, &fit->kernel)
                                            : tune(session, fit, start);
    gram_kernel_release(start);
    return status;
}
