#include "posterior.h"

#include <math.h>
#include <string.h>

/* Sets the options of the fit from what the model keeps. */
static void find_options(const gram_model *model, gram_gp_options *options)
{
    const char *mean = cli_model_text(model, "mean");
    gram_gp_options_init(options, sizeof *options);
    options->mean = GRAM_MEAN_CONSTANT;
    if (mean && strcmp(mean, "zero") == 0) options->mean = GRAM_MEAN_ZERO;
    if (mean && strcmp(mean, "linear") == 0) options->mean = GRAM_MEAN_LINEAR;
    options->flat = mean && strcmp(mean, "flat") == 0;
    options->noise = cli_model_number(model, "noise", NAN);
    options->row_noise = gram_model_array(model, "row_noise", NULL, NULL);
    options->weights = gram_model_array(model, "weights", NULL, NULL);
}

static int refuse(const char *file, const char *what)
{
    return cli_fail(CLI_BAD_DATA, "Fit it again.", "%s: a Gaussian process without %s", file, what);
}

/* Conditions on the points again: the factor is not kept, it would make files of n^2 numbers. */
static int condition(cli_session *session, const char *file, cli_posterior *posterior)
{
    const gram_model *model = posterior->model;
    const gram_function *function = gram_model_function(model);
    const gram_points *x = gram_function_centres(function);
    const char *solver = cli_model_text(model, "solver");
    gram_kernel *kernel = gram_function_kernel(function);
    gram_gp_options options;
    int64_t rows = 0, columns = 0;
    const double *y = gram_model_array(model, "targets", &rows, &columns);
    find_options(model, &options);
    if (!y || rows != gram_points_count(x) || columns != 1) return refuse(file, "the targets that it was fitted to");
    if (!solver || !(options.noise >= 0)) return refuse(file, "a solver and a noise");
    const gram_status status = strcmp(solver, "markov") == 0
                                   ? gram_markov_fit(session->context, kernel, x, y, &options, &posterior->markov)
                                   : gram_gp_fit(session->context, kernel, x, y, &options, &posterior->exact);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

int cli_posterior_open(cli_session *session, const gram_model *model, const char *file, int whole,
                       cli_posterior *posterior)
{
    const int64_t d = gram_points_dimension(gram_function_centres(gram_model_function(model)));
    const char *solver = cli_model_text(model, "solver");
    int64_t rows = 0, columns = 0;
    *posterior = (cli_posterior){.model = model};
    posterior->noise = cli_model_number(model, "noise", NAN);
    posterior->offset = cli_model_number(model, "offset", 0);
    posterior->slopes = gram_model_array(model, "slopes", &rows, &columns);
    if (posterior->slopes && (rows != 1 || columns != d)) return refuse(file, "as many slopes as columns");
    /* sums over a million centres would take long, and the filter gives the mean as well */
    if (solver && strcmp(solver, "markov") == 0) whole = 1;
    return whole ? condition(session, file, posterior) : CLI_DONE;
}

void cli_posterior_close(cli_posterior *posterior)
{
    gram_gp_destroy(posterior->exact);
    gram_markov_destroy(posterior->markov);
    *posterior = (cli_posterior){0};
}

/* From the model's function, which has the constant and the offset. */
static gram_status predict_mean(cli_session *session, const cli_posterior *posterior, const cli_places *places,
                                double *mean)
{
    const double *slopes = posterior->slopes;
    const gram_status status =
        gram_function_evaluate(session->context, gram_model_function(posterior->model), places->points, mean, 1);
    for (int64_t i = 0; i < places->n && slopes && status >= 0; i++)
        for (int64_t l = 0; l < places->d; l++) mean[i] += slopes[l] * places->x[i * places->d + l];
    return status;
}

gram_status cli_posterior_predict(cli_session *session, const cli_posterior *posterior, const cli_places *places,
                                  double *mean, double *variance)
{
    gram_context *context = session->context;
    if (!posterior->exact && !posterior->markov) return predict_mean(session, posterior, places, mean);
    const gram_status status =
        posterior->markov ? gram_markov_predict(context, posterior->markov, places->points, NULL, 0, mean, variance)
                          : gram_gp_predict(context, posterior->exact, places->points, NULL, 0, mean, variance);
    for (int64_t i = 0; i < places->n && status >= 0; i++) mean[i] += posterior->offset;
    return status;
}

double cli_posterior_noise(const cli_posterior *posterior, const cli_places *places, int64_t row)
{
    const double weight = places->weights ? places->weights[row] : NAN;
    if (isnan(weight)) return posterior->noise;
    if (gram_model_array(posterior->model, "row_noise", NULL, NULL)) return posterior->noise + weight;
    return weight > 0 ? posterior->noise / weight : posterior->noise;
}
