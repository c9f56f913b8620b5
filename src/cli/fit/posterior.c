#include "cli/fit/posterior.h"

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

/* An array of that shape, or NULL. */
static const double *array_of(const gram_model *model, const char *name, int64_t rows, int64_t columns)
{
    int64_t r = 0, c = 0;
    const double *data = gram_model_array(model, name, &r, &c);
    return data && r == rows && c == columns ? data : NULL;
}

static gram_solver solver_of(const char *name)
{
    for (int i = GRAM_SOLVER_EXACT; i <= GRAM_SOLVER_INDUCING; i++)
        if (strcmp(gram_solver_name((gram_solver)i), name) == 0) return (gram_solver)i;
    return GRAM_SOLVER_AUTO;
}

/* What the model keeps of the posterior. */
static void find_parts(const gram_model *model, gram_gp_parts *parts)
{
    const gram_function *function = gram_model_function(model);
    const char *precision = cli_model_text(model, "precision");
    gram_gp_options options;
    find_options(model, &options);
    *parts = (gram_gp_parts){.size = sizeof *parts, .mean = options.mean, .flat = options.flat, .noise = options.noise};
    parts->solver = solver_of(cli_model_text(model, "solver"));
    parts->precision = precision && strcmp(precision, "mixed") == 0 ? GRAM_PRECISION_MIXED : GRAM_PRECISION_F64;
    parts->centres = gram_function_centres(function);
    parts->coefficients = gram_function_coefficients(function);
    const int64_t m = gram_points_count(parts->centres), d = gram_points_dimension(parts->centres);
    const int64_t q = options.mean == GRAM_MEAN_ZERO ? 0 : options.mean == GRAM_MEAN_LINEAR ? 1 + d : 1;
    const int inducing = parts->solver == GRAM_SOLVER_INDUCING;
    parts->n = inducing ? (int64_t)cli_model_number(model, "n", 0) : m;
    parts->row_noise = options.row_noise;
    parts->weights = options.weights;
    parts->y = array_of(model, "targets", m, 1);
    parts->beta = array_of(model, "beta", 1, q);
    parts->factor = inducing ? array_of(model, "inducing_factor", m, m) : array_of(model, "factor", m * (m + 1) / 2, 1);
    parts->inner = array_of(model, "inducing_inner", m, m);
    parts->mean_weights = array_of(model, "mean_weights", m, q);
    parts->mean_factor = array_of(model, "mean_factor", q, q);
}

/* Where the factor was not kept, the points are conditioned on again. */
static int open_gp(cli_session *session, const char *file, cli_posterior *posterior)
{
    gram_gp_parts parts;
    find_parts(posterior->model, &parts);
    if (!(parts.noise >= 0)) return refuse(file, "a noise");
    if (parts.solver == GRAM_SOLVER_INDUCING) {
        const int beta = parts.mean == GRAM_MEAN_ZERO || parts.beta;
        if (!parts.factor || !parts.inner || !beta) return refuse(file, "the factors of its inducing points");
    } else if (!parts.y) {
        return refuse(file, "the targets that it was fitted to");
    }
    gram_kernel *kernel = gram_function_kernel(gram_model_function(posterior->model));
    const gram_status status = gram_gp_create(session->context, kernel, &parts, &posterior->gp);
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
    return whole ? open_gp(session, file, posterior) : CLI_DONE;
}

void cli_posterior_close(cli_posterior *posterior)
{
    gram_gp_destroy(posterior->gp);
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
    if (!posterior->gp) return predict_mean(session, posterior, places, mean);
    const gram_status status =
        gram_gp_predict(session->context, posterior->gp, places->points, NULL, 0, mean, variance);
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
