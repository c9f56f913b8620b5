/* Predictions of Gaussian processes from their models: mean, deviation, interval, terms. What variances need is made from the
 * factor that the model keeps, or anew from its points and targets. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sized_struct.h"
#include "method/gp/gp_model.h"

typedef struct gp_posterior {
    double noise;
    double offset;   /* what was subtracted from the target before the fit */
    gram_gp *gp;     /* NULL if only means are asked for */
    int by_function; /* means are those of the model's function, with and without variances beside them */
} gp_posterior;

/* Variances for scores alone: at most this many centres, each variance costing their square. */
enum { MOST_FOR_SCORES = 2000 };

/* ---- restoring ---- */

static gram_solver solver_of(const gram_model *model)
{
    const char *name = gram_kept_text(model, "solver");
    for (int i = GRAM_SOLVER_EXACT; i <= GRAM_SOLVER_VECCHIA && name; i++)
        if (strcmp(gram_solver_name((gram_solver)i), name) == 0) return (gram_solver)i;
    return GRAM_SOLVER_AUTO;
}

/* Numbers and the data, as far as the model has them. */
static void find_numbers(const gram_model *model, gram_gp_parts *parts)
{
    const char *mean = gram_kept_text(model, "mean"), *precision = gram_kept_text(model, "precision");
    parts->solver = solver_of(model);
    parts->precision = precision && strcmp(precision, "mixed") == 0 ? GRAM_PRECISION_MIXED : GRAM_PRECISION_F64;
    parts->mean = GRAM_MEAN_CONSTANT;
    if (mean && strcmp(mean, "zero") == 0) parts->mean = GRAM_MEAN_ZERO;
    if (mean && strcmp(mean, "linear") == 0) parts->mean = GRAM_MEAN_LINEAR;
    parts->flat = mean && strcmp(mean, "flat") == 0;
    parts->noise = gram_kept_number(model, "noise", NAN);
    parts->row_noise = gram_model_array(model, "row_noise", NULL, NULL);
    parts->weights = gram_model_array(model, "weights", NULL, NULL);
}

/* The parts of the posterior; what is missing, or NULL. */
static const char *find_parts(const gram_model *model, gram_gp_parts *parts)
{
    const gram_function *function = gram_model_function(model);
    find_numbers(model, parts);
    parts->centres = gram_function_centres(function);
    parts->coefficients = gram_function_coefficients(function);
    const int64_t m = gram_points_count(parts->centres), d = gram_points_dimension(parts->centres);
    const int64_t q = parts->mean == GRAM_MEAN_ZERO ? 0 : parts->mean == GRAM_MEAN_LINEAR ? 1 + d : 1;
    const int inducing = parts->solver == GRAM_SOLVER_INDUCING;
    parts->n = inducing ? (int64_t)gram_kept_number(model, "n", 0) : m;
    parts->y = gram_kept_array(model, "targets", m, 1);
    parts->beta = gram_kept_array(model, "beta", 1, q);
    parts->factor = inducing ? gram_kept_array(model, "inducing_factor", m, m)
                             : gram_kept_array(model, "factor", m * (m + 1) / 2, 1);
    parts->inner = gram_kept_array(model, "inducing_inner", m, m);
    parts->mean_weights = gram_kept_array(model, "mean_weights", m, q);
    parts->mean_factor = gram_kept_array(model, "mean_factor", q, q);
    parts->neighbours = (int64_t)gram_kept_number(model, "neighbours", 0);
    if (parts->solver == GRAM_SOLVER_AUTO) return "a solver";
    if (!(parts->noise >= 0)) return "a noise";
    if (parts->solver == GRAM_SOLVER_VECCHIA && !(parts->neighbours >= 1 && parts->neighbours <= GRAM_VECCHIA_MOST))
        return "the number of its neighbours";
    if (inducing && (!parts->factor || !parts->inner || (q > 0 && !parts->beta)))
        return "the factors of its inducing points";
    return inducing || parts->y ? NULL : "the targets that it was fitted to";
}

gram_status gram_gp_read_parts(gram_context *context, const gram_model *model, gram_gp_parts *parts)
{
    gram_status status = GRAM_OK;
    if (!context || !parts) return GRAM_ERROR_ARGUMENT;
    gram_gp_parts p = {0};
    TRY(gram_sized_check(context, "gp_read_parts", "parts", "gram_gp_parts", parts, sizeof p));
    FAIL_IF(!model || !gram_model_function(model), context, GRAM_ERROR_ARGUMENT,
            "gp_read_parts: model is NULL or has no function");
    const char *missing = find_parts(model, &p);
    FAIL_IF(missing, context, GRAM_ERROR_DATA, "a Gaussian process without %s", missing);
    gram_sized_write(parts, &p, sizeof p);
done:
    return status;
}

static gram_status damaged(gram_context *context, const gram_predictor *predictor, const char *what)
{
    char words[96];
    (void)snprintf(words, sizeof words, "a Gaussian process without %s", what);
    return gram_predictor_damaged(context, predictor, words);
}

static gram_status open_gp(gram_context *context, gram_predictor *predictor)
{
    gram_gp_parts parts = {.size = sizeof parts};
    gp_posterior *posterior = predictor->own;
    const char *missing = find_parts(predictor->model, &parts);
    if (missing) return damaged(context, predictor, missing);
    return gram_gp_create(context, gram_function_kernel(gram_model_function(predictor->model)), &parts, &posterior->gp);
}

/* `whole` 0: only means will be asked for. */
static gram_status open_posterior(gram_context *context, gram_predictor *predictor, int whole)
{
    const gram_model *model = predictor->model;
    const gram_solver solver = solver_of(model);
    gp_posterior *posterior = predictor->own;
    posterior->noise = gram_kept_number(model, "noise", NAN);
    posterior->offset = gram_kept_number(model, "offset", 0);
    if (solver == GRAM_SOLVER_AUTO) return damaged(context, predictor, "a solver");
    /* sums over a million centres would take long, and the filter and neighbours give the mean as well */
    posterior->by_function = solver != GRAM_SOLVER_MARKOV && solver != GRAM_SOLVER_VECCHIA;
    whole |= !posterior->by_function;
    if (!whole && predictor->columns.spread < 0) return GRAM_OK;
    const gram_status status = open_gp(context, predictor);
    if (status >= 0 || status == GRAM_ERROR_CANCELLED || whole) return status;
    predictor->columns.spread = -1; /* means do without */
    predictor->columns.ld = predictor->columns.count;
    return GRAM_OK;
}

/* Are variances cheap enough for scores that nobody asked for, in time and in memory? */
static int is_cheap(const gram_context *context, const gram_model *model)
{
    const gram_solver solver = solver_of(model);
    const char *precision = gram_kept_text(model, "precision");
    const int64_t n = gram_points_count(gram_function_centres(gram_model_function(model)));
    const size_t budget = gram_memory_budget(context->memory), used = gram_memory_used(context->memory);
    if (solver == GRAM_SOLVER_MARKOV || solver == GRAM_SOLVER_VECCHIA) return 1;
    if (n > MOST_FOR_SCORES || (budget > 0 && 64 * (size_t)(n * (n + 1024)) > budget - used)) return 0;
    return solver == GRAM_SOLVER_INDUCING ||
           (solver == GRAM_SOLVER_EXACT && precision && strcmp(precision, "f64") == 0);
}

void gram_gp_row_close(gram_predictor *predictor)
{
    gp_posterior *posterior = predictor->own;
    if (posterior) gram_gp_destroy(posterior->gp);
}

/* ---- columns ---- */

static int64_t term_count(const gram_predictor *predictor)
{
    const gram_kernel *kernel = gram_function_kernel(gram_model_function(predictor->model));
    return predictor->wish.terms ? gram_kernel_term_count(kernel) : 0;
}

static int asks_for_variance(const gram_predictor *predictor)
{
    return predictor->wish.std || predictor->wish.interval > 0;
}

static gram_status add_columns(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    gram_columns *columns = &predictor->columns;
    char name[32];
    TRY(gram_predictor_means(context, predictor));
    TRY(gram_predictor_intervals(context, predictor));
    columns->term = columns->count;
    for (int64_t t = 0; t < term_count(predictor); t++) {
        (void)snprintf(name, sizeof name, "term_%lld", (long long)t + 1);
        TRY(gram_predictor_column(context, predictor, name, ""));
        TRY(gram_predictor_column(context, predictor, name, "_std"));
    }
    if (asks_for_variance(predictor) || (predictor->wish.scores && is_cheap(context, predictor->model)))
        gram_predictor_spread(predictor);
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
    const gram_gp_report *report = posterior->gp ? gram_gp_get_report(posterior->gp) : NULL;
    if (wish->terms && !gram_gp_has_factor(report->solver, report->precision))
        return gram_predictor_fail(
            context, predictor, GRAM_ERROR_ARGUMENT, "Fit it with --solver exact --precision f64.",
            "--terms is for exact solvers in f64, this is %s, %s", gram_kept_text(predictor->model, "solver"),
            gram_kept_text(predictor->model, "precision"));
done:
    return status;
}

/* ---- values ---- */

static gram_status predict(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                           double *mean, double *variance)
{
    gram_status status = GRAM_OK;
    const gp_posterior *posterior = predictor->own;
    if (!posterior->by_function || variance)
        TRY(gram_gp_predict(context, posterior->gp, places->points, NULL, 0, mean, variance));
    for (int64_t i = 0; i < places->n; i++) mean[i] += posterior->offset;
    /* from the model's function, which has the constant, slopes and the offset */
    if (posterior->by_function)
        TRY(gram_function_evaluate(context, gram_model_function(predictor->model), places->points, mean, 1));
done:
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

static gram_status put_terms(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                             double *work, double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const gp_posterior *posterior = predictor->own;
    const gram_kernel *kernel = gram_function_kernel(gram_model_function(predictor->model));
    double *mean = work, *variance = work + places->n;
    for (int64_t t = 0; t < term_count(predictor); t++) {
        double *column = values + predictor->columns.term + 2 * t;
        TRY(gram_gp_predict_term(context, posterior->gp, gram_kernel_term(kernel, t), places->points, mean, variance));
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
    const int with_variance = asks_for_variance(predictor) || (predictor->columns.spread >= 0 && places->scored);
    double *work = NULL;
    TRY(gram_take(context, "predict", 2 * places->n, sizeof *work, (void **)&work));
    for (int64_t i = 0; i < places->n; i++) work[i] = 0, work[places->n + i] = NAN; /* no variance, no spread */
    TRY(predict(context, predictor, places, work, with_variance ? work + places->n : NULL));
    for (int64_t i = 0; i < places->n; i++)
        gram_predictor_put_normal(predictor, work[i], work[places->n + i], noise_of(predictor, places, i),
                                  values + i * ldv);
    TRY(put_terms(context, predictor, places, work, values, ldv));
done:
    gram_give(context, work);
    return status;
}
