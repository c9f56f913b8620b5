/* The condition number of A in the 1-norm, estimated from its Cholesky factor.
 *
 * Norms of A^-1 and of A = L L' come from the estimator of Hager (1984) and Higham (1988), LAPACK's dlacn2: it
 * climbs |B x|_1 over the corners of the unit ball with two products by B in each of at most five steps. The result
 * is a lower bound, seldom below a third of the norm. A itself was overwritten by its factor, so its norm is
 * estimated the same way: O(n^2) altogether. */
#include "base/lapack.h"
#include "base/sweep.h"
#include "solve/cholesky/cholesky.h"

typedef struct estimation {
    const gram_cholesky *factor;
    double *x, *v, *product;
    int *signs;
} estimation;

static gram_status multiply_f64(gram_context *context, const estimation *e)
{
    gram_status status = GRAM_OK;
    TRY(gram_cholesky_multiply_f64(context, e->factor, 1, e->x, e->product));
    TRY(gram_cholesky_multiply_f64(context, e->factor, 0, e->product, e->x));
done:
    return status;
}

/* The same with an f32 factor, instead of the f64 arrays. */
static gram_status multiply_f32(gram_context *context, const estimation *e)
{
    gram_status status = GRAM_OK;
    const int64_t n = e->factor->tiles.n;
    float *narrow = NULL, *product = NULL;
    TRY(gram_take(context, "cholesky_condition", n, sizeof *narrow, (void **)&narrow));
    TRY(gram_take(context, "cholesky_condition", n, sizeof *product, (void **)&product));
    for (int64_t i = 0; i < n; i++) narrow[i] = (float)e->x[i];
    TRY(gram_cholesky_multiply_f32(context, e->factor, 1, narrow, product));
    TRY(gram_cholesky_multiply_f32(context, e->factor, 0, product, narrow));
    for (int64_t i = 0; i < n; i++) e->x[i] = (double)narrow[i];
done:
    gram_give(context, product);
    gram_give(context, narrow);
    return status;
}

static gram_status multiply(gram_context *context, const estimation *e)
{
    gram_status status = GRAM_OK;
    if (!gram_cholesky_is_spread(e->factor))
        return e->factor->storage == GRAM_STORAGE_F32 ? multiply_f32(context, e) : multiply_f64(context, e);
    TRY(gram_spread_triangle(context, e->factor, 0, 1, 1, e->x, 1));
    TRY(gram_spread_triangle(context, e->factor, 0, 0, 1, e->x, 1));
done:
    return status;
}

/* |A|_1, or |A^-1|_1 */
static gram_status estimate_norm(gram_context *context, const estimation *e, int inverse, double *norm)
{
    gram_status status = GRAM_OK;
    const int n = (int)e->factor->tiles.n;
    int kase = 0, saved[3] = {0, 0, 0};
    for (;;) {
        const int blas = gram_blas_enter();
        dlacn2_(&n, e->v, e->x, e->signs, norm, &kase, saved);
        gram_blas_leave(blas);
        if (kase == 0) break;
        if (inverse)
            TRY(gram_cholesky_solve(context, e->factor, 1, e->x, 1));
        else
            TRY(multiply(context, e));
    }
done:
    return status;
}

gram_status gram_cholesky_condition(gram_context *context, const gram_cholesky *factor, double *estimate)
{
    gram_status status = GRAM_OK;
    estimation e = {.factor = factor};
    double norm = 0, inverse_norm = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!factor || !estimate, context, GRAM_ERROR_ARGUMENT, "cholesky_condition: %s is NULL",
            factor ? "estimate" : "factor");
    FAIL_IF(factor->inverted, context, GRAM_ERROR_ARGUMENT, "cholesky_condition: the factor was inverted");
    const int64_t n = factor->tiles.n;
    TRY(gram_take(context, "cholesky_condition", 3 * n, sizeof *e.x, (void **)&e.x));
    TRY(gram_take(context, "cholesky_condition", n, sizeof *e.signs, (void **)&e.signs));
    e.v = e.x + n;
    e.product = e.v + n;
    TRY(estimate_norm(context, &e, 0, &norm));
    TRY(estimate_norm(context, &e, 1, &inverse_norm));
    *estimate = norm * inverse_norm;
done:
    gram_give(context, e.x);
    gram_give(context, e.signs);
    return status;
}
