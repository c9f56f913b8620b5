/* A = Q T Q' with T tridiagonal.
 *
 * LAPACK's blocked algorithm (Dongarra, Hammarling and Sorensen, 1989) with the loop over panels here instead of in
 * dsytrd, so that work can be watched and stopped: dlatrd reduces PANEL columns, a rank-2 update applies them to the rest.
 * Half of the 4/3 n^3 operations are products of the matrix with a vector, bound by memory.
 *
 * A row-major lower triangle is the upper one of LAPACK's columns: hence "U" everywhere. BLAS is single-threaded, so that
 * the bits do not depend on the number of threads. */
#include "solve/tridiagonal.h"

#include <cblas.h>

#include "base/lapack.h"
#include "base/sweep.h"

enum {
    PANEL = 32,        /* columns reduced at a time */
    VECTOR_BLOCK = 64, /* numbers of work for each row in dormtr and dorgtr */
    LEAST_BLOCKED = 64 /* smaller matrices are reduced column by column */
};

typedef struct reduction {
    gram_tridiagonal *t;
    double *w; /* n x PANEL */
} reduction;

static int panel_count(int n)
{
    return n < LEAST_BLOCKED ? 0 : (n - LEAST_BLOCKED) / PANEL + 1;
}

/* Reduces the last columns of the leading n - round * PANEL ones and applies that to those before them. */
static gram_status reduce_panel(void *argument, const gram_worker *worker)
{
    const reduction *r = argument;
    const gram_tridiagonal *t = r->t;
    const int size = t->n - (int)worker->round * PANEL, rest = size - PANEL, panel = PANEL;
    double *columns = t->a + (int64_t)rest * t->lda;
    dlatrd_("U", &size, &panel, t->a, &t->lda, t->e, t->tau, r->w, &t->n, 1);
    cblas_dsyr2k(CblasColMajor, CblasUpper, CblasNoTrans, rest, PANEL, -1, columns, t->lda, r->w, t->n, 1, t->a,
                 t->lda);
    for (int j = rest; j < size; j++) { /* dlatrd left 1 in the place of the off-diagonal */
        t->a[(int64_t)j * t->lda + j - 1] = t->e[j - 1];
        t->d[j] = t->a[(int64_t)j * t->lda + j];
    }
    return GRAM_OK;
}

gram_status gram_tridiagonal_reduce(gram_context *context, const char *what, gram_tridiagonal *t)
{
    gram_status status = GRAM_OK;
    const int panels = panel_count(t->n), rest = t->n - panels * PANEL;
    const int64_t numbers = (int64_t)t->n * PANEL;
    reduction r = {t, NULL};
    int info = 0;
    const gram_sweep sweep = {
        .what = what, .tasks = 1, .rounds = panels, .run = reduce_panel, .argument = &r, .share_after = 0.99};
    TRY(gram_take(context, "tridiagonal form", numbers, sizeof(double), (void **)&r.w));
    if (panels > 0) TRY(gram_sweep_run(context, &sweep));
    const int blas = gram_blas_enter();
    dsytd2_("U", &rest, t->a, &t->lda, t->d, t->e, t->tau, &info, 1);
    gram_blas_leave(blas);
    FAIL_IF(info != 0, context, GRAM_ERROR_INTERNAL, "tridiagonal form: dsytd2 gave %d", info);
done:
    gram_give(context, r.w);
    return status;
}

gram_status gram_tridiagonal_multiply(gram_context *context, const gram_tridiagonal *t, int transposed, int64_t count,
                                      double *v, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const int n = t->n, columns = (int)count, ldc = (int)ldv, lwork = VECTOR_BLOCK * (n > columns ? n : columns);
    int info = 0;
    double *work = NULL;
    TRY(gram_take(context, "tridiagonal form: work", lwork, sizeof(double), (void **)&work));
    const int blas = gram_blas_enter();
    dormtr_("L", "U", transposed ? "T" : "N", &n, &columns, t->a, &t->lda, t->tau, v, &ldc, work, &lwork, &info, 1, 1,
            1);
    gram_blas_leave(blas);
    FAIL_IF(info != 0, context, GRAM_ERROR_INTERNAL, "tridiagonal form: dormtr gave %d", info);
done:
    gram_give(context, work);
    return status;
}

gram_status gram_tridiagonal_form(gram_context *context, gram_tridiagonal *t)
{
    gram_status status = GRAM_OK;
    const int n = t->n, lwork = VECTOR_BLOCK * n;
    int info = 0;
    double *work = NULL;
    TRY(gram_take(context, "tridiagonal form: work", lwork, sizeof(double), (void **)&work));
    const int blas = gram_blas_enter();
    dorgtr_("U", &n, t->a, &t->lda, t->tau, work, &lwork, &info, 1);
    gram_blas_leave(blas);
    FAIL_IF(info != 0, context, GRAM_ERROR_INTERNAL, "tridiagonal form: dorgtr gave %d", info);
done:
    gram_give(context, work);
    return status;
}
