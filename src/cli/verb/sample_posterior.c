#include "cli/verb/sample_posterior.h"

#include <math.h>
#include <string.h>

double cli_model_number(const gram_model *model, const char *name, double otherwise)
{
    const gram_fact fact = gram_model_find(model, name);
    if (!fact.name || fact.kind == GRAM_FACT_TEXT) return otherwise;
    return fact.kind == GRAM_FACT_INTEGER ? (double)fact.integer : fact.number;
}

const char *cli_model_text(const gram_model *model, const char *name)
{
    const gram_fact fact = gram_model_find(model, name);
    return fact.name && fact.kind == GRAM_FACT_TEXT ? fact.text : NULL;
}

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
static gram_status condition(cli_session *session, const char *solver, const double *y, const gram_gp_options *options,
                             cli_posterior *posterior)
{
    const gram_function *function = gram_model_function(posterior->model);
    const gram_points *x = gram_function_centres(function);
    gram_kernel *kernel = gram_function_kernel(function);
    gram_gp_cg_options cg;
    const char *precision = cli_model_text(posterior->model, "precision");
    const int mixed = precision && strcmp(precision, "mixed") == 0;
    if (strcmp(solver, "markov") == 0)
        return gram_markov_fit(session->context, kernel, x, y, options, &posterior->markov);
    if (strcmp(solver, "exact") == 0 && !mixed)
        return gram_gp_fit(session->context, kernel, x, y, options, &posterior->exact);
    gram_gp_cg_options_init(&cg, sizeof cg);
    cg.gp = options;
    cg.probes = 0;
    if (mixed) cg.preconditioner = GRAM_GP_CG_FACTOR_F32;
    return gram_gp_cg_fit(session->context, kernel, x, y, &cg, &posterior->cg);
}

static int open_dense(cli_session *session, const char *file, const char *solver, cli_posterior *posterior)
{
    const gram_model *model = posterior->model;
    gram_gp_options options;
    int64_t rows = 0, columns = 0;
    const double *y = gram_model_array(model, "targets", &rows, &columns);
    find_options(model, &options);
    if (!y || rows != gram_points_count(gram_function_centres(gram_model_function(model))) || columns != 1)
        return refuse(file, "the targets that it was fitted to");
    if (!(options.noise >= 0)) return refuse(file, "a noise");
    const gram_status status = condition(session, solver, y, &options, posterior);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

/* An array of that shape, or NULL. */
static const double *array_of(const gram_model *model, const char *name, int64_t rows, int64_t columns)
{
    int64_t r = 0, c = 0;
    const double *data = gram_model_array(model, name, &r, &c);
    return data && r == rows && c == columns ? data : NULL;
}

static int open_inducing(cli_session *session, const char *file, cli_posterior *posterior)
{
    const gram_model *model = posterior->model;
    const gram_function *function = gram_model_function(model);
    gram_gp_options options;
    gram_gp_inducing_parts parts = {.size = sizeof parts};
    find_options(model, &options);
    parts.m = gram_points_count(gram_function_centres(function));
    parts.d = gram_points_dimension(gram_function_centres(function));
    parts.n = (int64_t)cli_model_number(model, "n", 0);
    parts.mean = options.mean;
    parts.flat = options.flat;
    parts.noise = options.noise;
    parts.positions = gram_function_centres_f64(function);
    parts.coefficients = gram_function_coefficients(function);
    const int64_t q = options.mean == GRAM_MEAN_ZERO ? 0 : options.mean == GRAM_MEAN_LINEAR ? 1 + parts.d : 1;
    parts.beta = q > 0 ? array_of(model, "beta", 1, q) : NULL;
    parts.factor = array_of(model, "inducing_factor", parts.m, parts.m);
    parts.inner = array_of(model, "inducing_inner", parts.m, parts.m);
    parts.mean_weights = q > 0 ? array_of(model, "mean_weights", parts.m, q) : NULL;
    parts.mean_factor = q > 0 ? array_of(model, "mean_factor", q, q) : NULL;
    if (!parts.positions || !parts.factor || !parts.inner || (q > 0 && !parts.beta) || !(parts.noise >= 0))
        return refuse(file, "the factors of its inducing points");
    const gram_status status =
        gram_gp_inducing_create(session->context, gram_function_kernel(function), &parts, &posterior->inducing);
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
    if (!solver) return refuse(file, "a solver");
    if (strcmp(solver, "markov") == 0) whole = 1;
    if (!whole) return CLI_DONE;
    return strcmp(solver, "inducing") == 0 ? open_inducing(session, file, posterior)
                                           : open_dense(session, file, solver, posterior);
}

void cli_posterior_close(cli_posterior *posterior)
{
    gram_gp_destroy(posterior->exact);
    gram_markov_destroy(posterior->markov);
    gram_gp_cg_destroy(posterior->cg);
    gram_gp_inducing_destroy(posterior->inducing);
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
    const gram_points *points = places->points;
    gram_status status;
    if (posterior->exact)
        status = gram_gp_predict(context, posterior->exact, points, NULL, 0, mean, variance);
    else if (posterior->markov)
        status = gram_markov_predict(context, posterior->markov, points, NULL, 0, mean, variance);
    else if (posterior->cg)
        status = gram_gp_cg_predict(context, posterior->cg, points, NULL, 0, mean, variance);
    else if (posterior->inducing)
        status = gram_gp_inducing_predict(context, posterior->inducing, points, NULL, 0, mean, variance);
    else
        return predict_mean(session, posterior, places, mean);
    for (int64_t i = 0; i < places->n && status >= 0; i++) mean[i] += posterior->offset;
    return status;
}

void cli_posterior_options(const cli_posterior *posterior, gram_gp_options *options)
{
    find_options(posterior->model, options);
}

double cli_posterior_noise(const cli_posterior *posterior, const cli_places *places, int64_t row)
{
    const double weight = places->weights ? places->weights[row] : NAN;
    if (isnan(weight)) return posterior->noise;
    if (gram_model_array(posterior->model, "row_noise", NULL, NULL)) return posterior->noise + weight;
    return weight > 0 ? posterior->noise / weight : posterior->noise;
}
