/* Predictions of Gaussian processes from their models: mean, deviation, interval, terms. What variances need is made anew from
 * the points and targets that the model keeps. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "method/gp/gp_model.h"

typedef struct gp_posterior {
    double noise;
    double offset;        /* what was subtracted from the target before the fit */
    const double *slopes; /* of a linear mean, or NULL */
    gram_gp *exact;       /* one of these, unless only means are asked for */
    gram_markov *markov;
    gram_gp_cg *cg;
    gram_gp_inducing *inducing;
} gp_posterior;

/* ---- restoring ---- */

/* The options of the fit, from what the model keeps. */
static void find_options(const gram_model *model, gram_gp_options *options)
{
    const char *mean = gram_kept_text(model, "mean");
    gram_gp_options_init(options, sizeof *options);
    options->mean = GRAM_MEAN_CONSTANT;
    if (mean && strcmp(mean, "zero") == 0) options->mean = GRAM_MEAN_ZERO;
    if (mean && strcmp(mean, "linear") == 0) options->mean = GRAM_MEAN_LINEAR;
    options->flat = mean && strcmp(mean, "flat") == 0;
    options->noise = gram_kept_number(model, "noise", NAN);
    options->row_noise = gram_model_array(model, "row_noise", NULL, NULL);
    options->weights = gram_model_array(model, "weights", NULL, NULL);
}

static gram_status damaged(gram_context *context, const gram_predictor *predictor, const char *what)
{
    char words[96];
    (void)snprintf(words, sizeof words, "a Gaussian process without %s", what);
    return gram_predictor_damaged(context, predictor, words);
}

static gram_status condition(gram_context *context, const gram_model *model, const double *y,
                             const gram_gp_options *options, gp_posterior *posterior)
{
    const gram_function *function = gram_model_function(model);
    const gram_points *x = gram_function_centres(function);
    gram_kernel *kernel = gram_function_kernel(function);
    const char *solver = gram_kept_text(model, "solver"), *precision = gram_kept_text(model, "precision");
    const int mixed = precision && strcmp(precision, "mixed") == 0;
    gram_gp_cg_options cg;
    if (strcmp(solver, "markov") == 0) return gram_markov_fit(context, kernel, x, y, options, &posterior->markov);
    if (strcmp(solver, "exact") == 0 && !mixed) return gram_gp_fit(context, kernel, x, y, options, &posterior->exact);
    gram_gp_cg_options_init(&cg, sizeof cg);
    cg.gp = options;
    cg.probes = 0;
    if (mixed) cg.preconditioner = GRAM_GP_CG_FACTOR_F32;
    return gram_gp_cg_fit(context, kernel, x, y, &cg, &posterior->cg);
}

static gram_status open_dense(gram_context *context, gram_predictor *predictor)
{
    const gram_model *model = predictor->model;
    const int64_t n = gram_points_count(gram_function_centres(gram_model_function(model)));
    const double *y = gram_kept_array(model, "targets", n, 1);
    gram_gp_options options;
    find_options(model, &options);
    if (!y) return damaged(context, predictor, "the targets that it was fitted to");
    if (!(options.noise >= 0)) return damaged(context, predictor, "a noise");
    return condition(context, model, y, &options, predictor->own);
}

static gram_status open_inducing(gram_context *context, gram_predictor *predictor)
{
    const gram_model *model = predictor->model;
    const gram_function *function = gram_model_function(model);
    gp_posterior *posterior = predictor->own;
    gram_gp_options options;
    gram_gp_inducing_parts parts = {.size = sizeof parts};
    find_options(model, &options);
    parts.m = gram_points_count(gram_function_centres(function));
    parts.d = gram_points_dimension(gram_function_centres(function));
    parts.n = (int64_t)gram_kept_number(model, "n", 0);
    parts.mean = options.mean;
    parts.flat = options.flat;
    parts.noise = options.noise;
    parts.positions = gram_function_centres_f64(function);
    parts.coefficients = gram_function_coefficients(function);
    const int64_t q = options.mean == GRAM_MEAN_ZERO ? 0 : options.mean == GRAM_MEAN_LINEAR ? 1 + parts.d : 1;
    parts.beta = q > 0 ? gram_kept_array(model, "beta", 1, q) : NULL;
    parts.factor = gram_kept_array(model, "inducing_factor", parts.m, parts.m);
    parts.inner = gram_kept_array(model, "inducing_inner", parts.m, parts.m);
    parts.mean_weights = q > 0 ? gram_kept_array(model, "mean_weights", parts.m, q) : NULL;
    parts.mean_factor = q > 0 ? gram_kept_array(model, "mean_factor", q, q) : NULL;
    if (!parts.positions || !parts.factor || !parts.inner || (q > 0 && !parts.beta) || !(parts.noise >= 0))
        return damaged(context, predictor, "the factors of its inducing points");
    return gram_gp_inducing_create(context, gram_function_kernel(function), &parts, &posterior->inducing);
}

/* `whole` 0: only means will be asked for. */
static gram_status open_posterior(gram_context *context, gram_predictor *predictor, int whole)
{
    const gram_model *model = predictor->model;
    const int64_t d = gram_points_dimension(gram_function_centres(gram_model_function(model)));
    const char *solver = gram_kept_text(model, "solver");
    gp_posterior *posterior = predictor->own;
    posterior->noise = gram_kept_number(model, "noise", NAN);
    posterior->offset = gram_kept_number(model, "offset", 0);
    posterior->slopes = gram_kept_array(model, "slopes", 1, d);
    if (!posterior->slopes && gram_model_array(model, "slopes", NULL, NULL))
        return damaged(context, predictor, "as many slopes as columns");
    if (!solver) return damaged(context, predictor, "a solver");
    /* sums over a million centres would take long, and the filter gives the mean as well */
    if (!whole && strcmp(solver, "markov") != 0) return GRAM_OK;
    return strcmp(solver, "inducing") == 0 ? open_inducing(context, predictor) : open_dense(context, predictor);
}

void gram_gp_row_close(gram_predictor *predictor)
{
    gp_posterior *posterior = predictor->own;
    if (!posterior) return;
    gram_gp_destroy(posterior->exact);
    gram_markov_destroy(posterior->markov);
    gram_gp_cg_destroy(posterior->cg);
    gram_gp_inducing_destroy(posterior->inducing);
}

/* ---- columns ---- */

static int64_t term_count(const gram_predictor *predictor)
{
    const gram_kernel *kernel = gram_function_kernel(gram_model_function(predictor->model));
    return predictor->wish.terms ? gram_kernel_term_count(kernel) : 0;
}

static gram_status add_columns(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    gram_columns *columns = &predictor->columns;
    char name[32];
    TRY(gram_predictor_means(context, predictor));
    if (predictor->wish.std) {
        columns->std = columns->count;
        TRY(gram_predictor_column(context, predictor, "std", ""));
    }
    if (predictor->wish.interval > 0) {
        columns->lower = columns->count;
        columns->upper = columns->count + 1;
        TRY(gram_predictor_column(context, predictor, "lower", ""));
        TRY(gram_predictor_column(context, predictor, "upper", ""));
    }
    columns->term = columns->count;
    for (int64_t t = 0; t < term_count(predictor); t++) {
        (void)snprintf(name, sizeof name, "term_%lld", (long long)t + 1);
        TRY(gram_predictor_column(context, predictor, name, ""));
        TRY(gram_predictor_column(context, predictor, name, "_std"));
    }
done:
    return status;
}

gram_status gram_gp_row_open(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    const gram_predict_options *wish = &predictor->wish;
    gp_posterior *posterior = NULL;
    if (wish->prob)
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, "It predicts means, not classes.",
                                   "--prob is for classifiers");
    TRY(gram_arena_take(context, &predictor->arena, "predictor", 1, sizeof *posterior, (void **)&posterior));
    predictor->own = posterior;
    TRY(add_columns(context, predictor));
    TRY(open_posterior(context, predictor, wish->std || wish->interval > 0 || wish->terms));
    if (wish->terms && !posterior->exact)
        return gram_predictor_fail(
            context, predictor, GRAM_ERROR_ARGUMENT, "Fit it with --solver exact --precision f64.",
            "--terms is for exact solvers in f64, this is %s, %s", gram_kept_text(predictor->model, "solver"),
            gram_kept_text(predictor->model, "precision"));
done:
    return status;
}

/* ---- values ---- */

/* From the model's function, which has the constant and the offset. */
static gram_status predict_mean(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                                double *mean)
{
    const gp_posterior *posterior = predictor->own;
    const double *slopes = posterior->slopes;
    const gram_status status =
        gram_function_evaluate(context, gram_model_function(predictor->model), places->points, mean, 1);
    for (int64_t i = 0; i < places->n && slopes && status >= 0; i++)
        for (int64_t l = 0; l < places->d; l++) mean[i] += slopes[l] * places->x[i * places->d + l];
    return status;
}

static gram_status predict(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                           double *mean, double *variance)
{
    const gp_posterior *posterior = predictor->own;
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
        return predict_mean(context, predictor, places, mean);
    for (int64_t i = 0; i < places->n && status >= 0; i++) mean[i] += posterior->offset;
    return status;
}

/* The variance of the noise of a new observation: by its weight or its known variance, if the model has those. */
static double noise_of(const gram_predictor *predictor, const gram_places *places, int64_t row)
{
    const gp_posterior *posterior = predictor->own;
    const double weight = places->weights ? places->weights[row] : NAN;
    if (isnan(weight)) return posterior->noise;
    if (gram_model_array(predictor->model, "row_noise", NULL, NULL)) return posterior->noise + weight;
    return weight > 0 ? posterior->noise / weight : posterior->noise;
}

static void put(int64_t column, double value, double *row)
{
    if (column >= 0) row[column] = value;
}

static void put_row(const gram_predictor *predictor, const gram_places *places, int64_t i, double mean, double variance,
                    double *row)
{
    const gram_columns *columns = &predictor->columns;
    if (!predictor->wish.latent) variance += noise_of(predictor, places, i);
    const double std = sqrt(variance);
    put(0, mean, row);
    put(columns->std, std, row);
    put(columns->lower, mean - columns->half_width * std, row);
    put(columns->upper, mean + columns->half_width * std, row);
}

static gram_status put_terms(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                             double *work, double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const gp_posterior *posterior = predictor->own;
    const gram_kernel *kernel = gram_function_kernel(gram_model_function(predictor->model));
    double *mean = work, *variance = work + places->n;
    for (int64_t t = 0; t < term_count(predictor); t++) {
        double *column = values + predictor->columns.term + 2 * t;
        TRY(gram_gp_predict_term(context, posterior->exact, gram_kernel_term(kernel, t), places->points, mean,
                                 variance));
        for (int64_t i = 0; i < places->n; i++) {
            column[i * ldv] = mean[i];
            column[i * ldv + 1] = sqrt(variance[i]);
        }
    }
done:
    return status;
}

gram_status gram_gp_row_evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                                 double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const int with_variance = predictor->wish.std || predictor->wish.interval > 0;
    double *work = NULL;
    TRY(gram_take(context, "predict", 2 * places->n, sizeof *work, (void **)&work));
    memset(work, 0, (size_t)(2 * places->n) * sizeof *work);
    TRY(predict(context, predictor, places, work, with_variance ? work + places->n : NULL));
    for (int64_t i = 0; i < places->n; i++)
        put_row(predictor, places, i, work[i], work[places->n + i], values + i * ldv);
    TRY(put_terms(context, predictor, places, work, values, ldv));
done:
    gram_give(context, work);
    return status;
}
