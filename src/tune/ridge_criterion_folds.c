/* Cross-validation by blocks of P: what a fit without the rows of fold B leaves there is P_BB^-1 a_B (ridge_criterion.c). */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/lapack.h"
#include "tune/ridge_criterion_work.h"
#include "tune/row_folds.h"

static gram_folds_rule folds_of(const gram_criterion_rule *rule)
{
    return (gram_folds_rule){
        .folds = rule->folds, .groups = rule->groups, .rows = rule->rows, .ordered = rule->ordered};
}

gram_status gram_criterion_check_groups(gram_context *context, const char *function, const gram_criterion_rule *rule,
                                        int64_t count)
{
    gram_status status = GRAM_OK;
    int64_t groups;
    const gram_folds_rule rows = folds_of(rule);
    if (rule->kind != GRAM_CRITERION_CV || !rule->groups) return GRAM_OK;
    TRY(gram_folds_most(context, count, &rows, &groups));
    FAIL_IF(groups < rule->folds, context, GRAM_ERROR_DATA, "%s: folds = %lld, but there are only %lld groups",
            function, (long long)rule->folds, (long long)groups);
done:
    return status;
}

/* As many folds as asked for, or as a small sample allows; one that has but a single group left is divided at random. */
static gram_status deal(gram_context *context, gram_criterion_work *k)
{
    gram_status status = GRAM_OK;
    gram_folds_rule rows = folds_of(&k->rule);
    int64_t most;
    TRY(gram_folds_most(context, k->n, &rows, &most));
    if (rows.groups && most < 2) {
        rows.groups = NULL;
        most = k->n;
    }
    if (rows.folds > most) k->rule.folds = rows.folds = most;
    TRY(gram_folds_deal(context, "tuning", k->n, &rows, k->fold_of));
done:
    return status;
}

gram_status gram_criterion_draw_folds(gram_context *context, gram_criterion_work *k)
{
    gram_status status = GRAM_OK;
    const int64_t n = k->n;
    int64_t filled = 0;
    const int64_t numbers = 2 * n + (k->rule.folds < n ? k->rule.folds : n) + 1;
    TRY(gram_take(context, "tuning: folds", numbers, sizeof *k->fold_rows, (void **)&k->fold_rows));
    k->fold_of = k->fold_rows + n;
    k->fold_start = k->fold_of + n;
    TRY(deal(context, k));
    for (int64_t i = 0; i < n; i++)
        if (k->fold_of[i] < 0) k->fold_rows[filled++] = i;
    for (int64_t fold = 0; fold < k->rule.folds; fold++) {
        k->fold_start[fold] = filled;
        for (int64_t i = 0; i < n; i++)
            if (k->fold_of[i] == fold) k->fold_rows[filled++] = i;
        if (filled - k->fold_start[fold] > k->largest_fold) k->largest_fold = filled - k->fold_start[fold];
    }
    k->fold_start[k->rule.folds] = n;
done:
    return status;
}

static gram_status correct_rows(void *argument, const gram_worker *worker)
{
    gram_criterion_work *k = argument;
    gram_criterion_subtract_unpenalised(k, gram_criterion_first(worker), gram_criterion_end(k, worker));
    return GRAM_OK;
}

/* b = P_BB^-1 b for rows B of one fold: `block` holds the factor; b is one output after the other */
static gram_status solve_fold(const gram_criterion_work *k, int64_t fold, double *block, double *b)
{
    const int64_t *rows = k->fold_rows + k->fold_start[fold], m = k->m;
    const int count = (int)(k->fold_start[fold + 1] - k->fold_start[fold]), outputs = (int)m;
    int info = 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j <= i; j++) block[i * count + j] = k->p[rows[i] * k->n + rows[j]];
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < m; j++) b[j * count + i] = k->a[rows[i] * m + j];
    dpotrf_("U", &count, block, &count, &info, 1);
    if (info != 0) return GRAM_ERROR_NUMERICAL;
    dpotrs_("U", &count, &outputs, block, &count, b, &count, &info, 1);
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < m; j++) {
            k->e[rows[i] * m + j] = b[j * count + i];
            b[j * count + i] *= k->sample->weights[rows[i]];
        }
    dpotrs_("U", &count, &outputs, block, &count, b, &count, &info, 1);
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < m; j++) k->g[rows[i] * m + j] = b[j * count + i];
    return GRAM_OK;
}

static gram_status solve_folds(void *argument, const gram_worker *worker)
{
    const gram_criterion_work *k = argument;
    double *block = worker->scratch;
    return solve_fold(k, worker->task, block, block + k->largest_fold * k->largest_fold);
}

/* Column fold * m + j gets the entries of output j in that fold. */
static void spread(gram_criterion_work *k, const double *from)
{
    const int64_t columns = k->rule.folds * k->m;
    memset(k->spread, 0, (size_t)(k->n * columns) * sizeof(double));
    for (int64_t i = 0; i < k->n; i++)
        memcpy(k->spread + i * columns + k->fold_of[i] * k->m, from + i * k->m, (size_t)k->m * sizeof(double));
}

/* Rows of `out` (n x rank) get P times what was spread. */
static void multiply_spread(const gram_criterion_work *k, const gram_worker *worker, double *out)
{
    const int64_t n = k->n, columns = k->rule.folds * k->m, from = gram_criterion_first(worker);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)(gram_criterion_end(k, worker) - from), (int)columns,
                (int)n, 1, k->p + from * n, (int)n, k->spread, (int)columns, 0, out + from * k->rank, (int)k->rank);
}

static gram_status multiply_e(void *argument, const gram_worker *worker)
{
    const gram_criterion_work *k = argument;
    multiply_spread(k, worker, k->right);
    return GRAM_OK;
}

static gram_status multiply_g(void *argument, const gram_worker *worker)
{
    const gram_criterion_work *k = argument;
    multiply_spread(k, worker, k->left);
    return GRAM_OK;
}

/* The last m columns: -P g, which is minus the sum over the folds, and a; then the factor 2/(m W). */
static void finish_thin_folds(gram_criterion_work *k)
{
    const int64_t m = k->m, columns = k->rule.folds * m;
    const double scale = 2 / (k->sample->total * (double)m);
    for (int64_t i = 0; i < k->n; i++) {
        double *left = k->left + i * k->rank;
        memset(left + columns, 0, (size_t)m * sizeof(double));
        for (int64_t j = 0; j < columns; j++) {
            left[j] *= scale;
            left[columns + j % m] -= left[j];
        }
        memcpy(k->right + i * k->rank + columns, k->a + i * m, (size_t)m * sizeof(double));
    }
}

static gram_status evaluate_folds(gram_context *context, gram_criterion_work *k, const gram_cholesky *inverse,
                                  double *value)
{
    gram_status status = GRAM_OK;
    const gram_sweep sweep = {.what = "tuning",
                              .tasks = k->rule.folds,
                              .scratch_bytes = (size_t)(k->largest_fold * (k->largest_fold + k->m)) * sizeof(double),
                              .run = solve_folds,
                              .argument = k};
    TRY(gram_cholesky_inverse_matrix(context, inverse, k->p, k->n));
    TRY(gram_criterion_sweep(context, k, correct_rows));
    status = gram_sweep_run(context, &sweep);
    FAIL_IF(status == GRAM_ERROR_NUMERICAL, context, status, "tuning: the variance of a fold was lost to rounding");
    if (status < 0) goto done;
    *value = 0;
    for (int64_t i = 0; i < k->n; i++)
        for (int64_t j = 0; j < k->m; j++) {
            const double residual = k->e[i * k->m + j];
            *value += k->sample->weights[i] * residual * residual;
        }
    *value /= k->sample->total * (double)k->m;
done:
    return status;
}

static gram_status differentiate(gram_context *context, gram_criterion_work *k, const gram_kernel *kernel,
                                 const gram_criterion_slopes *slopes)
{
    gram_status status = GRAM_OK;
    spread(k, k->e);
    TRY(gram_criterion_sweep(context, k, multiply_e));
    spread(k, k->g);
    TRY(gram_criterion_sweep(context, k, multiply_g));
    finish_thin_folds(k);
    *slopes->noise = gram_criterion_noise_slope(k, NULL, 0);
    TRY(gram_criterion_contract(context, k, kernel, NULL, slopes->gradient));
done:
    return status;
}

gram_status gram_criterion_by_folds(gram_context *context, gram_criterion_work *k, gram_cholesky *factor,
                                    const gram_kernel *kernel, const gram_criterion_slopes *slopes, double *value)
{
    gram_status status = GRAM_OK;
    TRY(gram_cholesky_invert(context, factor));
    TRY(evaluate_folds(context, k, factor, value));
    if (slopes->noise) TRY(differentiate(context, k, kernel, slopes));
done:
    return status;
}
