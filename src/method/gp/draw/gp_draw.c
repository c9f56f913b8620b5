/* Joint draws of a Gaussian process at given points: mean + L z with the factor of the covariance. */
#include <math.h>
#include <string.h>

#include <gram/matrix.h>
#include <gram/random.h>

#include "method/gp/exact/gp_exact.h"
#include "method/gp/markov/gp_markov.h"
#include "points/points.h"
#include "solve/cholesky/cholesky.h"
#include "solve/factored_matrix.h"

static const double LEAST_JITTER = 1e-15, MOST_JITTER = 1e-4; /* of the mean variance */
static const double ROUNDING = 1e-12; /* of the prior variance: what differences of covariances are lost in, at most */

/* L of a covariance with the least jitter, of powers of ten, that it needs; NULL if nothing is left to draw. It is what is left
 * of variances up to `prior`: where the data leave almost nothing, a jitter of its rounding errors is no fault. */
static gram_status factor_covariance(gram_context *context, const gram_loss_matrix *c, double prior, double *shift,
                                     double *jitter, gram_cholesky **factor)
{
    gram_status status = GRAM_OK;
    const double most = fmax(MOST_JITTER * c->mean, ROUNDING * prior);
    *factor = NULL;
    *jitter = 0;
    while (c->mean != 0) {
        for (int64_t i = 0; i < c->n; i++) shift[i] = *jitter;
        status = gram_cholesky_create(context, c->by_number, c->points, shift, GRAM_STORAGE_F64, NULL, factor);
        if (status != GRAM_ERROR_NUMERICAL) break;
        *jitter = *jitter == 0 ? LEAST_JITTER * fmax(fabs(c->mean), 0.01 * prior) : 10 * *jitter;
        FAIL_IF(!(*jitter <= most), context, GRAM_ERROR_NUMERICAL,
                "gp_draw: the covariance of %lld points is not positive definite with a jitter of %g", (long long)c->n,
                *jitter);
    }
done:
    return status;
}

/* out = mean + L z for `count` standard normal z. */
static gram_status draw(gram_context *context, const double *mean, const gram_loss_matrix *covariance, double prior,
                        int64_t count, double *out, int64_t ldo, double *jitter)
{
    gram_status status = GRAM_OK;
    const gram_random random = {context->seed, 0x64726177 /* "draw" */};
    const int64_t m = covariance->n;
    gram_cholesky *factor = NULL;
    double *numbers = NULL, used = 0;
    TRY(gram_take(context, "gp_draw: normal numbers", 2 * m, sizeof(double), (void **)&numbers));
    TRY(factor_covariance(context, covariance, prior, numbers, &used, &factor));
    double *z = numbers, *f = numbers + m;
    memset(f, 0, (size_t)m * sizeof *f);
    for (int64_t j = 0; j < count; j++) {
        gram_random_normal(random, (uint64_t)(j * m), m, z);
        if (factor) TRY(gram_cholesky_multiply_f64(context, factor, 0, z, f));
        for (int64_t i = 0; i < m; i++) out[i * ldo + j] = (mean ? mean[i] : 0) + f[i];
    }
    if (jitter) *jitter = used;
done:
    gram_cholesky_destroy(factor);
    gram_give(context, numbers);
    return status;
}

gram_status gram_gp_exact_draw(gram_context *context, const gram_gp_exact *gp, const gram_points *points,
                               const double *basis, int64_t ldb, int64_t count, double *out, int64_t ldo,
                               double *jitter)
{
    gram_status status = GRAM_OK;
    gram_loss_matrix covariance = {0};
    double *mean = NULL, prior = 0;
    TRY(gram_gp_system_check_points(context, "gp_draw", &gp->system, points, basis, ldb));
    const int64_t m = points->n;
    FAIL_IF(count < 1 || ldo < count, context, GRAM_ERROR_ARGUMENT, "gp_draw: count = %lld with ldo = %lld",
            (long long)count, (long long)ldo);
    TRY(gram_loss_matrix_take(context, m, &covariance));
    TRY(gram_take(context, "gp_draw: mean", m, sizeof(double), (void **)&mean));
    TRY(gram_matrix_diagonal(context, gp->kernel, points, mean));
    for (int64_t i = 0; i < m; i++) prior = fmax(prior, mean[i]);
    TRY(gram_gp_exact_predict(context, gp, points, basis, ldb, mean, NULL));
    TRY(gram_gp_exact_covariance(context, gp, points, basis, ldb, covariance.k, m));
    TRY(gram_loss_matrix_ready(context, &covariance));
    TRY(draw(context, mean, &covariance, prior, count, out, ldo, jitter));
done:
    gram_loss_matrix_free(context, &covariance);
    gram_give(context, mean);
    return status;
}

static gram_status draw_prior_jointly(gram_context *context, gram_kernel *kernel, const gram_points *points,
                                      int64_t count, double *out, int64_t ldo, double *jitter)
{
    gram_status status = GRAM_OK;
    gram_loss_matrix covariance = {0};
    TRY(gram_loss_matrix_make(context, kernel, points, &covariance));
    TRY(draw(context, NULL, &covariance, 0, count, out, ldo, jitter));
done:
    gram_loss_matrix_free(context, &covariance);
    return status;
}

gram_status gram_gp_draw_prior(gram_context *context, gram_kernel *kernel, const gram_points *points,
                               gram_solver solver, int64_t count, double *out, int64_t ldo, double *jitter)
{
    gram_status status = GRAM_OK;
    if (!context || !kernel || !points || !out) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(count < 1 || ldo < count, context, GRAM_ERROR_ARGUMENT, "gp_draw_prior: count = %lld with ldo = %lld",
            (long long)count, (long long)ldo);
    FAIL_IF(solver != GRAM_SOLVER_AUTO && solver != GRAM_SOLVER_EXACT && solver != GRAM_SOLVER_MARKOV, context,
            GRAM_ERROR_UNSUPPORTED, "gp_draw_prior: solver %s does not draw: use exact or markov",
            gram_solver_name(solver));
    if (solver == GRAM_SOLVER_AUTO)
        solver = points->d == 1 && gram_markov_supports(context, kernel, NULL) ? GRAM_SOLVER_MARKOV : GRAM_SOLVER_EXACT;
    if (solver == GRAM_SOLVER_EXACT) return draw_prior_jointly(context, kernel, points, count, out, ldo, jitter);
    TRY(gram_markov_draw_prior(context, kernel, points, count, out, ldo));
    if (jitter) *jitter = 0;
done:
    return status;
}
