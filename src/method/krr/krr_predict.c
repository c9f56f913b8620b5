/* Predictions of ridge regression: means from the function and, of a fit on landmarks that kept its factors, deviations in the
 * Gaussian-process reading, with the kernel k as prior covariance and n lambda as noise:
 *
 *     var f(x) = k(x, x) - |u|^2 + n lambda |R^-1 u|^2,     u = L^-1 k_z(x),
 *
 * the first two terms what the landmarks do not see, the third what the rows leave open of what they see. */
#include "method/krr/krr.h"

#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "features/feature_ridge.h"

typedef struct deviations {
    int64_t p;
    const double *landmark_factor, *inner_factor; /* L, R */
    double noise;
} deviations;

static int asks_for_deviations(const gram_predictor *predictor)
{
    return predictor->wish.std || predictor->wish.interval > 0;
}

static gram_status open_deviations(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    const gram_model *model = predictor->model;
    const int64_t p = gram_points_count(gram_function_centres(gram_model_function(model)));
    const char *solver = gram_kept_text(model, "solver");
    deviations *own = NULL;
    if (!solver || strcmp(solver, "nystrom") != 0)
        return gram_predictor_function(context, predictor); /* which refuses */
    if (!gram_kept_array(model, "landmark_factor", p, p) || !gram_kept_array(model, "inner_factor", p, p))
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT,
                                   "Fit with --solver nystrom:M --keep-factor, or with --method gp.",
                                   "--%s needs the factors of landmarks, which this model of krr does not have",
                                   predictor->wish.std ? "std" : "interval");
    if (predictor->wish.prob || predictor->wish.terms)
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, "Leave one of them out.",
                                   "--%s does not go with --std and --interval here",
                                   predictor->wish.prob ? "prob" : "terms");
    if (gram_function_outputs(gram_model_function(model)) != 1)
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, "Fit a model for each target.",
                                   "--std and --interval are for one target");
    TRY(gram_arena_take(context, &predictor->arena, "predictor", 1, sizeof *own, (void **)&own));
    *own = (deviations){p, gram_kept_array(model, "landmark_factor", p, p),
                        gram_kept_array(model, "inner_factor", p, p), gram_kept_number(model, "noise", NAN)};
    predictor->own = own;
    for (int64_t i = 0; i < p; i++)
        if (!(own->landmark_factor[i * (p + 1)] > 0) || !(own->inner_factor[i * (p + 1)] > 0) || !(own->noise >= 0))
            return gram_predictor_damaged(context, predictor, "damaged: the factors of its landmarks are none");
    TRY(gram_predictor_means(context, predictor));
    TRY(gram_predictor_intervals(context, predictor));
    gram_predictor_spread(predictor);
done:
    return status;
}

gram_status gram_krr_open(gram_context *context, gram_predictor *predictor)
{
    return asks_for_deviations(predictor) ? open_deviations(context, predictor)
                                          : gram_predictor_function(context, predictor);
}

static gram_status find_variances(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                                  double *variance)
{
    gram_status status = GRAM_OK;
    const deviations *own = predictor->own;
    const gram_function *function = gram_model_function(predictor->model);
    const int64_t n = places->n, p = own->p;
    double *u = NULL;
    TRY(gram_take(context, "predict", n * p, sizeof *u, (void **)&u));
    TRY(gram_matrix_diagonal(context, gram_function_kernel(function), places->points, variance));
    TRY(gram_matrix(context, gram_function_kernel(function), places->points, gram_function_centres(function), u, p));
    for (int inner = 0; inner < 2; inner++) {
        const double factor = inner ? own->noise : -1;
        TRY(gram_triangle_rows(context, p, inner ? own->inner_factor : own->landmark_factor, n, u, p));
        for (int64_t i = 0; i < n; i++) {
            double sum = 0;
            for (int64_t j = 0; j < p; j++) sum += u[i * p + j] * u[i * p + j];
            variance[i] += factor * sum;
            if (!inner) variance[i] = fmax(variance[i], 0);
        }
    }
done:
    gram_give(context, u);
    return status;
}

gram_status gram_krr_evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                              double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const gram_function *function = gram_model_function(predictor->model);
    double *variance = NULL;
    TRY(gram_function_evaluate(context, function, places->points, values, ldv));
    if (predictor->wish.terms) TRY(gram_predictor_function_terms(context, predictor, places, values, ldv));
    if (!predictor->own) goto done;
    TRY(gram_take(context, "predict", places->n, sizeof *variance, (void **)&variance));
    TRY(find_variances(context, predictor, places, variance));
    for (int64_t i = 0; i < places->n; i++)
        gram_predictor_put_normal(predictor, values[i * ldv], variance[i], ((const deviations *)predictor->own)->noise,
                                  values + i * ldv);
done:
    gram_give(context, variance);
    return status;
}
