/* Regression on landmarks (Nystrom; Williams and Seeger 2001, as least squares: subset of regressors).
 *
 * f = sum_j c_j k(z_j, .) over p landmarks: ridge regression on the features phi(x) = L^-1 k_z(x), L L' = K_zz, whose penalty is |c|^2
 * (features/feature_ridge.h). It is kernel ridge regression with the kernel phi(x).phi(y), so that leave-one-out errors, the effective
 * dimension and the likelihood are those of that kernel, in closed form. What the landmarks miss is tr(K - Phi Phi'). */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/lapack.h"
#include "base/sweep.h"
#include "base/system/time_limit.h"
#include "features/feature_ridge.h"
#include "method/krr/krr_solution.h"
#include "points/points.h"

/* What passes take beside the one that made the products: leave-one-out errors of a path of lambda, and exact leverages; with estimates less. */
static const double PATH = 5, LEVERAGES = 4, SPARE = 0.7;

gram_status gram_landmark_map(gram_context *context, const gram_problem *problem, int64_t count,
                              const gram_krr_options *o, gram_features **map)
{
    gram_features_options options;
    gram_features_options_init(&options, sizeof options);
    options.kind = GRAM_FEATURES_NYSTROM;
    options.dimension = count;
    options.landmark_rule = o->landmark_rule;
    options.landmarks = o->landmark_points;
    return gram_features_make(context, problem->kernel, problem->d, problem->x, &options, map);
}

/* P_ii = (1 - leverage)/ridge_i. */
static gram_status leave_one_out(gram_context *context, const gram_problem *problem, const gram_feature_ridge *ridge,
                                 int exact, gram_solution *s)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "leave-one-out", problem->n, sizeof(double), (void **)&s->projected));
    TRY(gram_feature_ridge_leverage(context, ridge, exact, s->projected, NULL));
    for (int64_t i = 0; i < problem->n; i++) s->projected[i] = (1 - s->projected[i]) / problem->ridge[i];
done:
    return status;
}

/* What variances need: L, and R of G with what T explains in it again, as a process whose mean is taken as known has it. */
static gram_status keep_factors(gram_context *context, const gram_feature_ridge *r, gram_solution *s)
{
    gram_status status = GRAM_OK;
    const int64_t p = r->p;
    const int size = (int)p;
    double *inner;
    int info = 0;
    TRY(gram_take(context, "factor of landmarks", 2 * p * p, sizeof(double), (void **)&s->factors));
    memcpy(s->factors, gram_feature_factor(r->map), (size_t)(p * p) * sizeof(double));
    inner = s->factors + p * p;
    for (int64_t i = 0; i < p; i++)
        for (int64_t k = 0; k < p; k++) {
            inner[i * p + k] = r->products[i * r->width + k] + (i == k ? r->ridge : 0);
            for (int64_t j = 0; j < r->q; j++)
                inner[i * p + k] += r->products[(p + j) * r->width + i] * r->shared[j * (p + r->m) + k];
        }
    const int blas = gram_blas_enter();
    dpotrf_("U", &size, inner, &size, &info, 1);
    gram_blas_leave(blas);
    FAIL_IF(info != 0, context, GRAM_ERROR_NUMERICAL, "krr_fit: no factor for variances; a larger lambda helps");
    for (int64_t i = 0; i < p; i++) memset(inner + i * p + i + 1, 0, (size_t)(p - i - 1) * sizeof *inner);
done:
    return status;
}

/* ---- the ridge ---- */

/* Will something be over in time that takes `times` those seconds? If not, that is remembered. */
static int has_time_for(gram_context *context, const char *words, double times, double seconds)
{
    if (times * seconds <= SPARE * gram_context_time_left(context)) return 1;
    gram_time_left_out(context, words);
    return 0;
}

/* What is least at the best of the path. */
static double criterion(const gram_problem *problem, gram_lambda_choice choice, const gram_ridge_point *at)
{
    const double n = (double)problem->n, m = (double)problem->m;
    const double rest = n - (double)problem->q - at->effective_dimension;
    if (choice == GRAM_LAMBDA_BY_LOO) return at->loo;
    if (choice == GRAM_LAMBDA_BY_GCV) return at->squares / (rest * rest);
    return n * m * log(at->quadratic) +
           m * at->log_determinant; /* minus twice the likelihood with its best amplitude */
}

/* The best of 17 ridges about the given one, by one eigendecomposition and one pass. */
static gram_status refine(gram_context *context, gram_problem *problem, gram_lambda_choice choice,
                          const gram_feature_ridge *ridge, double *strength, double *lambda)
{
    enum { EACH_SIDE = 8, COUNT = 2 * EACH_SIDE + 1 };
    gram_status status = GRAM_OK;
    gram_ridge_point path[COUNT];
    int best = EACH_SIDE;
    for (int k = 0; k < COUNT; k++)
        path[k] = (gram_ridge_point){.strength = *strength * pow(10, (k - EACH_SIDE) / 4.0)};
    TRY(gram_feature_ridge_path(context, ridge, choice == GRAM_LAMBDA_BY_LOO, COUNT, path));
    for (int k = 0; k < COUNT; k++)
        if (criterion(problem, choice, &path[k]) < criterion(problem, choice, &path[best])) best = k;
    *strength = path[best].strength;
    *lambda = *strength / (double)problem->n;
    TRY(gram_problem_set_lambda(context, "krr_fit", *lambda, problem));
done:
    return status;
}

gram_status gram_solve_landmarks(gram_context *context, gram_problem *problem, const gram_krr_options *options,
                                 gram_solution *s)
{
    gram_status status = GRAM_OK;
    gram_features *map = NULL;
    gram_feature_ridge ridge = {0};
    gram_lambda_choice choice = options->refine;
    double strength = problem->ridge[0] * gram_problem_weight(problem, 0), seconds;
    TRY(gram_landmark_map(context, problem, s->plan.landmarks, options, &map));
    TRY(gram_points_gather(context, map->own, map->report.dimension, NULL, &s->centres));
    const double began = gram_clock();
    TRY(gram_feature_ridge_make(context, map, problem, choice ? strength / 100 : strength, &ridge));
    seconds = gram_clock() - began;
    if (choice == GRAM_LAMBDA_BY_LOO && !has_time_for(context, "lambda by leave-one-out: GCV chose it", PATH, seconds))
        choice = GRAM_LAMBDA_BY_GCV;
    if (choice) TRY(refine(context, problem, choice, &ridge, &strength, &s->lambda));
    TRY(gram_feature_ridge_solve(context, "krr_fit", &ridge, strength, s->a, s->b));
    const int blas = gram_blas_enter();
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (int)ridge.p, (int)problem->m, 1,
                gram_feature_factor(map), (int)ridge.p, s->a, (int)problem->m);
    gram_blas_leave(blas);
    s->noise = ridge.left; /* it changes hands */
    ridge.left = NULL;
    s->rank = ridge.p;
    s->iterations = ridge.passes;
    s->reduced_error = ridge.residual;
    s->trace_missed = ridge.missed;
    s->trace_error = ridge.trace > 0 ? ridge.missed / ridge.trace : 0;
    s->effective_dimension = ridge.effective_dimension;
    s->log_determinant = ridge.log_determinant;
    if (s->plan.leave_one_out &&
        (options->leave_one_out > 0 || has_time_for(context, "leave-one-out errors", LEVERAGES, seconds)))
        TRY(leave_one_out(context, problem, &ridge, options->leave_one_out > 0, s));
    if (options->keep_factor > 0 || (options->keep_factor < 0 && ridge.p <= GRAM_KRR_SMALL_FACTOR))
        TRY(keep_factors(context, &ridge, s));
done:
    gram_feature_ridge_free(context, &ridge);
    gram_features_destroy(map);
    return status;
}
