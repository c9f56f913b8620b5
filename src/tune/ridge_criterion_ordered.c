/* Cross-validation that goes forward in time: block B of the rows is predicted by a fit to the rows T before it, never to later ones.
 *
 * Leaving out by blocks of P (ridge_criterion_folds.c) would learn from the future, so the fits are made, one for each block:
 * a = P y_T and b with the intercept of T alone, to the same noise, and e_B = y_B - K(B, T) a - b. With
 *
 *     g = 2 w e/(m W_held)    q = P K(T, B) g + C S^-1 T_B'g,    P, C and S = T'C of the rows before as in ridge_criterion.c,
 *
 * the criterion sum w e^2/(m W_held) changes by sum_ij W_ij dA_ij with W = (q on T, -g on B)(a on T, 0 on B)', summed over
 * blocks and outputs: a thin matrix, which all parameters get their derivative from at once.
 *
 * Cost: with K equal blocks and one that only trains, sum_k (k/(K + 1))^3 n^3/3 operations, n^3/3 for 5 folds, and as many
 * n^2 for the rest: less than leaving out by blocks of P. Memory: one factor, n^2/2 numbers. */
#include <gram/functional.h>

#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "points/points.h"
#include "solve/cholesky/cholesky.h"
#include "solve/small_system.h"
#include "tune/ridge_criterion_work.h"

/* One block: rows before `first` train, rows first .. end - 1 are held. */
typedef struct block {
    gram_points *train, *held;
    gram_cholesky *factor;
    int64_t fold, first, end;
    double scale; /* 1/(m W_held) */
} block;

/* Rows of the sample; the array is borrowed. */
static gram_status take_rows(gram_context *context, const gram_criterion_work *k, int64_t from, int64_t to,
                             gram_points **out)
{
    const gram_points *x = k->sample->points;
    return gram_points_part(context, x, from, to - from, out);
}

/* The fit to the rows before: k->a and k->c of these, and in `constant` b of each output, q x m. */
static gram_status fit(gram_context *context, gram_criterion_work *k, const gram_kernel *kernel, block *b,
                       double *constant)
{
    gram_status status = GRAM_OK;
    const int64_t ld = k->m + k->q;
    TRY(gram_cholesky_create(context, kernel, b->train, k->shift, GRAM_STORAGE_F64, NULL, &b->factor));
    TRY(gram_cholesky_check_pivots(context, "tuning", b->factor));
    gram_criterion_right_side(k, b->first);
    TRY(gram_cholesky_solve(context, b->factor, ld, k->rhs, ld));
    gram_criterion_split(k, b->first, constant);
done:
    return status;
}

/* e on B, in the rows of B of k->e. */
static gram_status predict(gram_context *context, gram_criterion_work *k, const gram_kernel *kernel, const block *b,
                           const double *constant)
{
    const int64_t m = k->m;
    double *e = k->e + b->first * m;
    const gram_status status = gram_matrix_product(context, kernel, b->held, b->train, m, k->a, m, e, m);
    for (int64_t i = b->first; i < b->end && status >= 0; i++)
        for (int64_t j = 0; j < m; j++) {
            k->e[i * m + j] = k->sample->y[i * m + j] - k->e[i * m + j];
            for (int64_t l = 0; l < k->q; l++) k->e[i * m + j] -= k->t[i * k->q + l] * constant[l * m + j];
        }
    return status;
}

/* The columns of left and right that belong to this block. */
static gram_status differentiate(gram_context *context, gram_criterion_work *k, const gram_kernel *kernel,
                                 const block *b)
{
    gram_status status = GRAM_OK;
    const int64_t m = k->m, q = k->q, rank = k->rank, column = b->fold * m;
    double *sum = k->diagonal; /* which nothing needs here */
    for (int64_t i = b->first; i < b->end; i++)
        for (int64_t j = 0; j < m; j++) k->g[i * m + j] = 2 * b->scale * k->sample->weights[i] * k->e[i * m + j];
    TRY(gram_matrix_product(context, kernel, b->train, b->held, m, k->g + b->first * m, m, k->u, m));
    TRY(gram_cholesky_solve(context, b->factor, m, k->u, m));
    for (int64_t j = 0; j < m; j++) {
        for (int64_t l = 0; l < q; l++) {
            sum[l] = 0;
            for (int64_t i = b->first; i < b->end; i++) sum[l] += k->t[i * q + l] * k->g[i * m + j];
            for (int64_t i = 0; i < b->first; i++) sum[l] -= k->t[i * q + l] * k->u[i * m + j];
        }
        gram_small_solve(q, k->small, sum, 1);
        for (int64_t i = 0; i < k->n; i++) {
            double *left = k->left + i * rank + column + j, *right = k->right + i * rank + column + j;
            *left = i < b->first ? k->u[i * m + j] : i < b->end ? -k->g[i * m + j] : 0;
            for (int64_t l = 0; l < q && i < b->first; l++) *left += k->c[i * q + l] * sum[l];
            *right = i < b->first ? k->a[i * m + j] : 0;
        }
    }
done:
    return status;
}

static gram_status run_block(gram_context *context, gram_criterion_work *k, const gram_kernel *kernel, int gradient,
                             block *b)
{
    gram_status status = GRAM_OK;
    double *constant = NULL;
    TRY(gram_take(context, "tuning", (k->q > 0 ? k->q : 1) * k->m, sizeof *constant, (void **)&constant));
    TRY(take_rows(context, k, 0, b->first, &b->train));
    TRY(take_rows(context, k, b->first, b->end, &b->held));
    TRY(fit(context, k, kernel, b, constant));
    TRY(predict(context, k, kernel, b, constant));
    if (gradient) TRY(differentiate(context, k, kernel, b));
done:
    gram_cholesky_destroy(b->factor);
    gram_points_release(b->train);
    gram_points_release(b->held);
    gram_give(context, constant);
    return status;
}

/* Where the held rows begin: those of no fold come first. */
static int64_t first_held(const gram_criterion_work *k)
{
    return k->fold_start[0];
}

static double total_held(const gram_criterion_work *k)
{
    double total = 0;
    for (int64_t i = first_held(k); i < k->n; i++) total += k->sample->weights[i];
    return total;
}

gram_status gram_criterion_in_order(gram_context *context, gram_criterion_work *k, const gram_kernel *kernel,
                                    const gram_criterion_slopes *slopes, double *value)
{
    gram_status status = GRAM_OK;
    const double scale = 1 / (total_held(k) * (double)k->m);
    for (int64_t fold = 0; fold < k->rule.folds; fold++) {
        block b = {.fold = fold, .first = k->fold_start[fold], .end = k->fold_start[fold + 1], .scale = scale};
        TRY(run_block(context, k, kernel, slopes->noise != NULL, &b));
    }
    *value = 0;
    for (int64_t i = first_held(k); i < k->n; i++)
        for (int64_t j = 0; j < k->m; j++) *value += k->sample->weights[i] * k->e[i * k->m + j] * k->e[i * k->m + j];
    *value *= scale;
    if (!slopes->noise) goto done;
    *slopes->noise = gram_criterion_noise_slope(k, NULL, 0);
    TRY(gram_criterion_contract(context, k, kernel, NULL, slopes->gradient));
done:
    return status;
}
