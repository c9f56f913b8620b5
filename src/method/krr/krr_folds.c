/* Leaving out whole folds, in closed form: the residuals of fold B are P_BB^-1 a_B.
 *
 * P_BB comes from columns of A^-1, solved for fold by fold: 2 n^3 operations in all, and memory for the columns of one
 * fold. */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/cholesky.h>

#include "base/lapack.h"
#include "base/sweep.h"
#include "method/krr/krr.h"
#include "method/krr/krr_solution.h"
#include "solve/small_system.h"

typedef struct folds {
    const gram_problem *problem;
    gram_cholesky *factor;
    const double *h; /* A^-1 T, rows of stride `stride` */
    int64_t stride;
    const double *a;  /* n x m */
    int64_t *members; /* rows, fold after fold */
    int64_t largest;  /* members of the largest fold */
    double *columns;  /* n x largest */
    double *block;    /* largest x largest */
    double *right;    /* m x largest */
    double *out;
    int64_t ldo;
} folds;

/* By fold, then by row. */
static int compare(const void *a, const void *b)
{
    const int64_t *left = a, *right = b;
    if (left[0] != right[0]) return left[0] < right[0] ? -1 : 1;
    return left[1] < right[1] ? -1 : left[1] > right[1];
}

/* P_BB, both triangles: rows B of A^-1 E_B, less H_B (T'H)^-1 H_B'. */
static gram_status fill_block(gram_context *context, folds *f, const int64_t *members, int64_t count)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = f->problem;
    const int64_t n = p->n;
    memset(f->columns, 0, (size_t)(n * count) * sizeof(double));
    for (int64_t j = 0; j < count; j++) f->columns[members[j] * count + j] = 1;
    TRY(gram_cholesky_solve(context, f->factor, count, f->columns, count));
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < count; j++) {
            f->block[i * count + j] = f->columns[members[i] * count + j];
            if (p->q > 0)
                f->block[i * count + j] -= gram_small_form(p->q, p->small, f->h + members[i] * f->stride,
                                                           f->h + members[j] * f->stride, p->small + p->q * p->q);
        }
done:
    return status;
}

static gram_status leave_out(gram_context *context, folds *f, const int64_t *members, int64_t count)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = f->problem;
    const int size = (int)count, outputs = (int)p->m;
    int info = 0;
    FAIL_IF(count == p->n, context, GRAM_ERROR_ARGUMENT, "krr_fold_residuals: one fold holds all %lld rows",
            (long long)p->n);
    TRY(fill_block(context, f, members, count));
    for (int64_t j = 0; j < count; j++)
        for (int64_t o = 0; o < p->m; o++) f->right[o * count + j] = f->a[members[j] * p->m + o];
    const int blas = gram_blas_enter();
    dposv_("U", &size, &outputs, f->block, &size, f->right, &size, &info, 1);
    gram_blas_leave(blas);
    FAIL_IF(info != 0, context, GRAM_ERROR_NUMERICAL,
            "krr_fold_residuals: a fold of %lld rows is singular; a larger lambda helps", (long long)count);
    for (int64_t j = 0; j < count; j++) {
        const int64_t row = p->rows ? p->rows[members[j]] : members[j];
        for (int64_t o = 0; o < p->m; o++) f->out[row * f->ldo + o] = f->right[o * count + j];
    }
done:
    return status;
}

/* Rows of the problem in the order of their folds; `ends` gets where each fold ends. */
static gram_status sort_rows(gram_context *context, const int64_t *fold, folds *f, int64_t *ends, int64_t *count)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = f->problem;
    int64_t *pairs = NULL;
    TRY(gram_take(context, "folds", 2 * p->n, sizeof(int64_t), (void **)&pairs));
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t row = p->rows ? p->rows[i] : i;
        FAIL_IF(fold[row] < 0, context, GRAM_ERROR_ARGUMENT, "krr_fold_residuals: fold[%lld] = %lld is negative",
                (long long)row, (long long)fold[row]);
        pairs[2 * i] = fold[row];
        pairs[2 * i + 1] = i;
    }
    qsort(pairs, (size_t)p->n, 2 * sizeof(int64_t), compare);
    *count = f->largest = 0;
    for (int64_t i = 0, start = 0; i < p->n; i++) {
        f->members[i] = pairs[2 * i + 1];
        if (i + 1 < p->n && pairs[2 * (i + 1)] == pairs[2 * i]) continue;
        if (i + 1 - start > f->largest) f->largest = i + 1 - start;
        ends[(*count)++] = start = i + 1;
    }
done:
    gram_give(context, pairs);
    return status;
}

static gram_status all_folds(gram_context *context, folds *f, const int64_t *ends, int64_t count)
{
    gram_status status = GRAM_OK;
    const int64_t n = f->problem->n, m = f->problem->m;
    TRY(gram_take(context, "columns of the inverse", n * f->largest, sizeof(double), (void **)&f->columns));
    TRY(gram_take(context, "a fold", f->largest * f->largest, sizeof(double), (void **)&f->block));
    TRY(gram_take(context, "a fold", f->largest * m, sizeof(double), (void **)&f->right));
    for (int64_t k = 0, start = 0; k < count; start = ends[k++])
        TRY(leave_out(context, f, f->members + start, ends[k] - start));
done:
    gram_give(context, f->columns);
    gram_give(context, f->block);
    gram_give(context, f->right);
    return status;
}

static gram_status fold_residuals(gram_context *context, const gram_problem *p, const int64_t *fold, double *out,
                                  int64_t ldo)
{
    gram_status status = GRAM_OK;
    const int64_t n = p->n, m = p->m, columns = m + p->q;
    double *u = NULL, *a = NULL, *b = NULL;
    int64_t *ends = NULL, count = 0;
    folds f = {.problem = p, .stride = columns, .out = out, .ldo = ldo};
    TRY(gram_take(context, "solutions", n * columns, sizeof(double), (void **)&u));
    TRY(gram_take(context, "coefficients", n * m, sizeof(double), (void **)&a));
    TRY(gram_take(context, "constants", (p->q > 0 ? p->q : 1) * m, sizeof(double), (void **)&b));
    TRY(gram_take(context, "folds", n, sizeof(int64_t), (void **)&ends));
    TRY(gram_take(context, "folds", n, sizeof(int64_t), (void **)&f.members));
    TRY(sort_rows(context, fold, &f, ends, &count));
    TRY(gram_cholesky_create(context, p->kernel, p->x, p->ridge, GRAM_STORAGE_F64, NULL, &f.factor));
    gram_solution_right_side(p, u);
    TRY(gram_cholesky_solve(context, f.factor, columns, u, columns));
    gram_solution_combine(p, u, a, b);
    f.h = u + m;
    f.a = a;
    TRY(all_folds(context, &f, ends, count));
done:
    gram_cholesky_destroy(f.factor);
    gram_give(context, u);
    gram_give(context, a);
    gram_give(context, b);
    gram_give(context, ends);
    gram_give(context, f.members);
    return status;
}

gram_status gram_krr_fold_residuals(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t outputs,
                                    const double *y, int64_t ldy, const gram_krr_options *options, const int64_t *fold,
                                    double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    gram_krr_options known;
    gram_problem problem = {0};
    if (!context || !fold || !out) return GRAM_ERROR_ARGUMENT;
    TRY(gram_krr_options_read(context, "krr_fold_residuals", options, &known));
    TRY(gram_problem_make(context, "krr_fold_residuals", kernel, x, outputs, y, ldy, known.weights, &problem));
    FAIL_IF(ldo < outputs, context, GRAM_ERROR_ARGUMENT, "krr_fold_residuals: ldo = %lld is less than outputs = %lld",
            (long long)ldo, (long long)outputs);
    TRY(gram_problem_set_lambda(context, "krr_fold_residuals", known.lambda, &problem));
    for (int64_t i = 0; i < problem.given; i++)
        for (int64_t o = 0; o < outputs; o++) out[i * ldo + o] = NAN;
    TRY(gram_problem_set_unpenalised(context, "krr_fold_residuals", known.intercept, known.unpenalised_count,
                                     known.unpenalised, &problem));
    TRY(fold_residuals(context, &problem, fold, out, ldo));
done:
    gram_problem_free(context, &problem);
    return status;
}
