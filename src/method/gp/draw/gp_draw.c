/* Joint draws of a Gaussian process at given points: mean + L z with the factor of the covariance. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/matrix.h>
#include <gram/random.h>

#include "base/lapack.h"
#include "base/sweep.h"
#include "method/gp/exact/gp_exact.h"
#include "method/gp/markov/gp_markov.h"
#include "points/points.h"

static const double LEAST_JITTER = 1e-15, MOST_JITTER = 1e-4; /* of the mean variance */
static const double ROUNDING = 1e-12; /* of the prior variance: what differences of covariances are lost in, at most */

/* The lower factor of a covariance (m x m, in place) with the least jitter, of powers of ten, that it needs. It is what is left of
 * variances up to `prior`: where the data leave almost nothing, a jitter of its rounding errors is no fault. */
static gram_status factor_covariance(gram_context *context, int64_t m, double prior, double *c, double *copy,
                                     double *jitter)
{
    gram_status status = GRAM_OK;
    const int size = (int)m;
    double mean = 0;
    int info = 1;
    for (int64_t i = 0; i < m; i++) mean += c[i * m + i] / (double)m;
    const double most = fmax(MOST_JITTER * mean, ROUNDING * prior);
    for (*jitter = 0; info != 0; *jitter = *jitter == 0 ? LEAST_JITTER * mean : 10 * *jitter) {
        FAIL_IF(*jitter > most, context, GRAM_ERROR_NUMERICAL,
                "gp_draw: the covariance of %lld points is not positive definite with a jitter of %g", (long long)m,
                *jitter);
        memcpy(copy, c, (size_t)(m * m) * sizeof *c);
        for (int64_t i = 0; i < m; i++) copy[i * m + i] += *jitter;
        const int blas = gram_blas_enter();
        dpotrf_("U", &size, copy, &size, &info, 1); /* the row-major lower triangle */
        gram_blas_leave(blas);
        if (mean == 0) info = 0; /* nothing is left to draw */
        if (info == 0) break;
    }
done:
    return status;
}

/* out = mean + L z for `count` standard normal z. */
static gram_status draw(gram_context *context, const double *mean, int64_t m, double prior, double *covariance,
                        int64_t count, double *out, int64_t ldo, double *jitter)
{
    gram_status status = GRAM_OK;
    const gram_random random = {context->seed, 0x64726177 /* "draw" */};
    double *factor = NULL, *z = NULL, used = 0;
    TRY(gram_take(context, "gp_draw: factor", m * m, sizeof(double), (void **)&factor));
    TRY(gram_take(context, "gp_draw: normal numbers", m, sizeof(double), (void **)&z));
    TRY(factor_covariance(context, m, prior, covariance, factor, &used));
    for (int64_t j = 0; j < count; j++) {
        gram_random_normal(random, (uint64_t)(j * m), m, z);
        const int blas = gram_blas_enter();
        cblas_dtrmv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)m, factor, (int)m, z, 1);
        gram_blas_leave(blas);
        for (int64_t i = 0; i < m; i++) out[i * ldo + j] = (mean ? mean[i] : 0) + z[i];
    }
    if (jitter) *jitter = used;
done:
    gram_give(context, factor);
    gram_give(context, z);
    return status;
}

gram_status gram_gp_exact_draw(gram_context *context, const gram_gp_exact *gp, const gram_points *points,
                               const double *basis, int64_t ldb, int64_t count, double *out, int64_t ldo,
                               double *jitter)
{
    gram_status status = GRAM_OK;
    double *covariance = NULL, *mean = NULL, prior = 0;
    TRY(gram_gp_system_check_points(context, "gp_draw", &gp->system, points, basis, ldb));
    const int64_t m = points->n;
    FAIL_IF(count < 1 || ldo < count, context, GRAM_ERROR_ARGUMENT, "gp_draw: count = %lld with ldo = %lld",
            (long long)count, (long long)ldo);
    TRY(gram_take(context, "gp_draw: covariance", m * m, sizeof(double), (void **)&covariance));
    TRY(gram_take(context, "gp_draw: mean", m, sizeof(double), (void **)&mean));
    TRY(gram_matrix_diagonal(context, gp->kernel, points, mean));
    for (int64_t i = 0; i < m; i++) prior = fmax(prior, mean[i]);
    TRY(gram_gp_exact_predict(context, gp, points, basis, ldb, mean, NULL));
    TRY(gram_gp_exact_covariance(context, gp, points, basis, ldb, covariance, m));
    TRY(draw(context, mean, m, prior, covariance, count, out, ldo, jitter));
done:
    if (points) {
        gram_give(context, covariance);
        gram_give(context, mean);
    }
    return status;
}

static gram_status draw_prior_jointly(gram_context *context, gram_kernel *kernel, const gram_points *points,
                                      int64_t count, double *out, int64_t ldo, double *jitter)
{
    gram_status status = GRAM_OK;
    double *covariance = NULL;
    const int64_t m = points->n;
    TRY(gram_take(context, "gp_draw_prior: covariance", m * m, sizeof(double), (void **)&covariance));
    TRY(gram_matrix(context, kernel, points, NULL, covariance, m));
    TRY(draw(context, NULL, m, 0, covariance, count, out, ldo, jitter));
done:
    gram_give(context, covariance);
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
