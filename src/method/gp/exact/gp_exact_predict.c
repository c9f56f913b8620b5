/* What a conditioned Gaussian process says of new points.
 *
 * At a new point with k = (k(x_i, x))_i, t the mean's columns there, and r = t - H'k:
 *
 *     mean      t'beta + k'a
 *     variance  k(x, x) - |L^-1 k|^2, and with a flat prior on beta + |L_small^-1 r|^2
 *
 * The difference is clipped at 0, where rounding may push it a little below. Points go by in chunks of some hundred columns:
 * L^-1 k is a triangular solve with many right-hand sides. A term k_1 of a sum kernel has the same formulas with k_1 in the
 * place of k and t = 0: a and L know of all the terms. */
#include <cblas.h>

#include "base/sweep.h"
#include "method/gp/exact/gp_exact.h"
#include "points/points.h"

enum { CHUNK = 512 };

/* What one chunk of points needs. */
typedef struct chunk {
    int64_t room;     /* points at most */
    double *k;        /* n x count: K(X, points), then L^-1 of it */
    double *rows;     /* count x q: the mean's columns, then L_small^-1 (t - H'k) */
    double *point;    /* d */
    double *diagonal; /* count */
} chunk;

static gram_status take_chunk(gram_context *context, const gram_gp_exact *gp, int64_t room, chunk *c)
{
    gram_status status = GRAM_OK;
    c->room = room;
    TRY(gram_take(context, "gp: a chunk of points", gp->system.n * room, sizeof(double), (void **)&c->k));
    TRY(gram_take(context, "gp: a chunk of points", gp->system.q * room, sizeof(double), (void **)&c->rows));
    TRY(gram_take(context, "gp: a chunk of points", gp->system.d, sizeof(double), (void **)&c->point));
    TRY(gram_take(context, "gp: a chunk of points", room, sizeof(double), (void **)&c->diagonal));
done:
    return status;
}

static void give_chunk(gram_context *context, chunk *c)
{
    gram_give(context, c->k);
    gram_give(context, c->rows);
    gram_give(context, c->point);
    gram_give(context, c->diagonal);
}

/* k becomes L^-1 K(X, part) and rows, with a flat prior, L_small^-1 (t - H'k). */
static gram_status whiten(gram_context *context, const gram_gp_exact *gp, const gram_kernel *kernel,
                          const gram_points *part, chunk *c)
{
    gram_status status = GRAM_OK;
    const gram_gp_system *s = &gp->system;
    const int64_t count = part->n;
    TRY(gram_matrix(context, kernel, gram_function_centres(gp->function), part, c->k, count));
    if (s->options.flat && s->q > 0) {
        const int blas = gram_blas_enter();
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)count, (int)s->q, (int)s->n, -1, c->k, (int)count,
                    s->h, (int)s->q, 1, c->rows, (int)s->q);
        gram_blas_leave(blas);
        for (int64_t i = 0; i < count; i++) gram_gp_small_solve(s, c->rows + i * s->q);
    }
    TRY(gram_cholesky_half_solve(context, s->factor, count, c->k, count));
done:
    return status;
}

static gram_status chunk_variance(gram_context *context, const gram_gp_exact *gp, const gram_kernel *kernel,
                                  const gram_points *part, chunk *c, double *variance)
{
    gram_status status = GRAM_OK;
    const gram_gp_system *s = &gp->system;
    const int64_t count = part->n;
    TRY(whiten(context, gp, kernel, part, c));
    TRY(gram_matrix_diagonal(context, kernel, part, c->diagonal));
    for (int64_t j = 0; j < count; j++) variance[j] = c->diagonal[j];
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < count; j++) variance[j] -= c->k[i * count + j] * c->k[i * count + j];
    for (int64_t j = 0; j < count; j++) {
        variance[j] = variance[j] > 0 ? variance[j] : 0;
        for (int64_t k = 0; k < s->q && s->options.flat; k++)
            variance[j] += c->rows[j * s->q + k] * c->rows[j * s->q + k];
    }
done:
    return status;
}

/* The mean's part beyond the constant, which the function has. */
static void add_mean(const gram_gp_exact *gp, const double *rows, int64_t count, double *mean)
{
    const gram_gp_system *s = &gp->system;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = s->options.mean != GRAM_MEAN_ZERO; j < s->q; j++) mean[i] += rows[i * s->q + j] * s->beta[j];
}

gram_status gram_gp_exact_predict(gram_context *context, const gram_gp_exact *gp, const gram_points *points,
                                  const double *basis, int64_t ldb, double *mean, double *variance)
{
    gram_status status = GRAM_OK;
    chunk c = {0};
    gram_points *part = NULL;
    TRY(gram_gp_system_check_points(context, "gp_predict", &gp->system, points, basis, ldb));
    TRY(gram_function_evaluate(context, gp->function, points, mean, 1));
    if (!variance && gp->system.q <= 1 && gp->system.options.columns == 0) goto done;
    TRY(take_chunk(context, gp, points->n < CHUNK ? points->n : CHUNK, &c));
    for (int64_t first = 0; first < points->n; first += CHUNK) {
        const int64_t count = points->n - first < CHUNK ? points->n - first : CHUNK;
        gram_gp_system_rows(&gp->system, points, first, count, basis, ldb, c.point, c.rows);
        add_mean(gp, c.rows, count, mean + first);
        if (!variance) continue;
        TRY(gram_gp_points_part(context, points, first, count, &part));
        TRY(chunk_variance(context, gp, gp->kernel, part, &c, variance + first));
        gram_points_release(part);
        part = NULL;
    }
done:
    gram_points_release(part);
    give_chunk(context, &c);
    return status;
}

/* sum_i a_i k_1(x_i, .) */
static gram_status term_mean(gram_context *context, const gram_gp_exact *gp, gram_kernel *term,
                             const gram_points *points, double *mean)
{
    gram_status status = GRAM_OK;
    gram_function *function = NULL;
    TRY(gram_function_create(context, term, gram_function_centres(gp->function), 1, gp->system.a, 1, NULL, &function));
    TRY(gram_function_evaluate(context, function, points, mean, 1));
done:
    gram_function_release(function);
    return status;
}

gram_status gram_gp_exact_predict_term(gram_context *context, const gram_gp_exact *gp, gram_kernel *term,
                                       const gram_points *points, double *mean, double *variance)
{
    gram_status status = GRAM_OK;
    chunk c = {0};
    gram_points *part = NULL;
    FAIL_IF(!points || points->d != gp->system.d, context, GRAM_ERROR_DIMENSION,
            "gp_predict_term: points of %lld columns, the fit had %lld", points ? (long long)points->d : 0,
            (long long)gp->system.d);
    TRY(term_mean(context, gp, term, points, mean));
    if (!variance) goto done;
    TRY(take_chunk(context, gp, points->n < CHUNK ? points->n : CHUNK, &c));
    for (int64_t first = 0; first < points->n; first += CHUNK) {
        const int64_t count = points->n - first < CHUNK ? points->n - first : CHUNK;
        for (int64_t i = 0; i < count * gp->system.q; i++) c.rows[i] = 0;
        TRY(gram_gp_points_part(context, points, first, count, &part));
        TRY(chunk_variance(context, gp, term, part, &c, variance + first));
        gram_points_release(part);
        part = NULL;
    }
done:
    gram_points_release(part);
    give_chunk(context, &c);
    return status;
}

gram_status gram_gp_exact_covariance(gram_context *context, const gram_gp_exact *gp, const gram_points *points,
                                     const double *basis, int64_t ldb, double *covariance, int64_t ld)
{
    gram_status status = GRAM_OK;
    chunk c = {0};
    TRY(gram_gp_system_check_points(context, "gp_covariance", &gp->system, points, basis, ldb));
    const gram_gp_system *s = &gp->system;
    const int64_t m = points->n;
    FAIL_IF(ld < m, context, GRAM_ERROR_ARGUMENT, "gp_covariance: ld = %lld is less than the %lld points",
            (long long)ld, (long long)m);
    TRY(take_chunk(context, gp, m, &c));
    gram_gp_system_rows(&gp->system, points, 0, m, basis, ldb, c.point, c.rows);
    TRY(whiten(context, gp, gp->kernel, points, &c));
    TRY(gram_matrix(context, gp->kernel, points, NULL, covariance, ld));
    const int blas = gram_blas_enter();
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)m, (int)s->n, -1, c.k, (int)m, 1, covariance, (int)ld);
    if (s->options.flat && s->q > 0)
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)m, (int)s->q, 1, c.rows, (int)s->q, 1, covariance,
                    (int)ld);
    gram_blas_leave(blas);
    for (int64_t i = 0; i < m; i++) {
        if (covariance[i * ld + i] < 0) covariance[i * ld + i] = 0;
        for (int64_t j = 0; j < i; j++) covariance[j * ld + i] = covariance[i * ld + j];
    }
done:
    give_chunk(context, &c);
    return status;
}
