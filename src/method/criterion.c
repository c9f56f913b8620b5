/* How good a kernel and a ridge are, in closed form and with exact gradients.
 *
 * A = K + s diag(1/w) with the noise s = n lambda, and P = A^-1, or with an intercept, which is free,
 *
 *     P = A^-1 - c c'/(1'c),   c = A^-1 1,   so that a = P y are the coefficients of the fit.
 *
 * Sums run over outputs o, too, and W is the sum of the weights w.
 *
 *     LOO  sum w_i r_io^2/(m W),  r_io = a_io/P_ii: the residual of a fit without row i, to the same noise s
 *     CV   the same with r_B = P_BB^-1 a_B for each fold B
 *     GCV  (n^2/(m W)) sum a_io^2/w_i/T^2,  T = sum P_ii/w_i: the mean squared residual over (1 - df/n)^2 (Craven and
 *          Wahba 1979, on the whitened rows sqrt(w_i) y_i); with w = 1 this is n |a|^2/(tr P)^2
 *     ML   sum_o n/2 (1 + log(2 pi y_o'a_o/n)) + m/2 log|A|: minus the log likelihood of y_o ~ N(b 1, t_o A), where b
 *          and the amplitude t_o take their best values (plain profile likelihood: n, not n - 1)
 *
 * For the derivatives use dP = -P dA P and da = -P dA a. Each criterion then changes by sum_ij W_ij dA_ij for a matrix
 *
 *     LOO  P diag(v) P - sum_o a_o (P u_o)',  u_io = 2 w_i a_io/P_ii^2, v_i = sum_o 2 w_i a_io^2/P_ii^3, over m W
 *     GCV  the same with u_io = 2 a_io/(w_i T^2), v_i = 2 (sum a^2/w)/(w_i T^3), times n^2/(m W)
 *     CV   2 sum_Bo (P_:B g_B)(P_:B e_B)' - 2 sum_o (P g_o) a_o',  e = r, g_B = P_BB^-1 (w e)_B, over m W
 *     ML   m/2 A^-1 - sum_o n/(2 y_o'a_o) a_o a_o'
 *
 * and all parameters of the kernel get their derivative from one contraction of W with dK
 * (gram_matrix_parameter_gradient), the noise from the diagonal of W. The form of LOO is that of Sundararajan and Keerthi
 * (Neural Computation 13, 2001) with the product of P and dA, n^3 for each parameter, done once for all.
 *
 * Cost: n^3/3 operations for the factor, 2 n^3/3 for the inverse, n^3 for P diag(v) P (LOO and GCV: one triangle, by
 * tiles), O(n^2 (d + parameters)) for the rest. Memory: 2 n^2 numbers for LOO and GCV with gradient, n^2 for CV and ML,
 * none for values of LOO and GCV; and a factor, n^2/2, on top. */
#include "criterion.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/cholesky.h>
#include <gram/matrix.h>
#include <gram/random.h>
#include <gram/text.h>

#include "../base/sweep.h"

enum { ROWS_PER_TASK = 64, SMALL_TILE = 128, LARGE_TILE = 256, LARGE = 1024, RANDOM_STREAM = 0x666f6c64 /* "fold" */ };

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t uplo_length);
void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda, double *b,
             const int *ldb, int *info, size_t uplo_length);

struct gram_criterion_work {
    const gram_sample *sample;
    gram_criterion_rule rule;
    int64_t n, m, rank;
    double *numbers; /* all of the following vectors */
    int64_t number_count;
    double *shift;                             /* n */
    double *rhs;                               /* n x (m + 1): A^-1 [y, 1] */
    double *a;                                 /* n x m */
    double *c;                                 /* n; 0 without intercept */
    double c_sum;                              /* 1'c; 1 without intercept */
    double *diagonal;                          /* n: of P */
    double *u, *v;                             /* n x m, n */
    double *left, *right;                      /* n x rank: the thin part of W */
    double *e, *g;                             /* CV: n x m, residuals and P_BB^-1 of them */
    double *spread;                            /* CV: n x rank, e or g of each fold in a column of its own */
    double *p, *w;                             /* n x n: P (or A^-1), and W */
    int64_t *fold_rows, *fold_start, *fold_of; /* CV: rows fold by fold; where each begins; the fold of a row */
    int64_t largest_fold;
};

typedef gram_criterion_work work_t;

/* ---- the workspace ---- */

int64_t gram_criterion_least_rows(const gram_criterion_rule *rule)
{
    return rule->intercept || rule->kind == GRAM_CRITERION_CV ? 2 : 1;
}

static int64_t thin_rank(const gram_criterion_rule *rule, int64_t m)
{
    switch (rule->kind) {
    case GRAM_CRITERION_CV: return m * (rule->folds + 1);
    case GRAM_CRITERION_ML: return m;
    default: return 2 * m;
    }
}

static gram_status take_vectors(gram_context *context, work_t *k)
{
    gram_status status = GRAM_OK;
    const int64_t n = k->n, m = k->m, cv = k->rule.kind == GRAM_CRITERION_CV;
    const int64_t thin = k->rule.gradients ? k->rank : 0;
    const int64_t count = n * (4 + 3 * m + 1) + 2 * n * thin + cv * (2 * n * m + n * thin);
    TRY(gram_take(context, "tuning", count, sizeof(double), (void **)&k->numbers));
    k->number_count = count;
    k->shift = k->numbers;
    k->c = k->shift + n;
    k->diagonal = k->c + n;
    k->v = k->diagonal + n;
    k->rhs = k->v + n;
    k->a = k->rhs + n * (m + 1);
    k->u = k->a + n * m;
    k->left = k->u + n * m;
    k->right = k->left + n * thin;
    k->e = k->right + n * thin;
    k->g = k->e + n * m;
    k->spread = k->g + n * m;
done:
    return status;
}

static gram_status take_matrices(gram_context *context, work_t *k)
{
    gram_status status = GRAM_OK;
    const gram_criterion kind = k->rule.kind;
    const int two = kind == GRAM_CRITERION_LOO || kind == GRAM_CRITERION_GCV;
    if (k->rule.gradients || kind == GRAM_CRITERION_CV)
        TRY(gram_take(context, "tuning: inverse", k->n * k->n, sizeof(double), (void **)&k->p));
    if (k->rule.gradients && two)
        TRY(gram_take(context, "tuning: derivative by the matrix", k->n * k->n, sizeof(double), (void **)&k->w));
done:
    return status;
}

/* Row number i of a random order belongs to fold i mod folds. */
static gram_status draw_folds(gram_context *context, work_t *k)
{
    gram_status status = GRAM_OK;
    const int64_t n = k->n, folds = k->rule.folds;
    int64_t *order = NULL, filled = 0;
    TRY(gram_take(context, "tuning: folds", n, sizeof *order, (void **)&order));
    TRY(gram_take(context, "tuning: folds", 2 * n + folds + 1, sizeof *order, (void **)&k->fold_rows));
    k->fold_of = k->fold_rows + n;
    k->fold_start = k->fold_of + n;
    gram_random_permutation((gram_random){context->seed, RANDOM_STREAM}, 0, n, order);
    for (int64_t i = 0; i < n; i++) k->fold_of[order[i]] = i % folds;
    for (int64_t fold = 0; fold < folds; fold++) {
        k->fold_start[fold] = filled;
        for (int64_t i = 0; i < n; i++)
            if (k->fold_of[i] == fold) k->fold_rows[filled++] = i;
    }
    k->fold_start[folds] = n;
    k->largest_fold = (n + folds - 1) / folds;
done:
    gram_give(context, order, n, sizeof *order);
    return status;
}

gram_status gram_criterion_create(gram_context *context, const gram_sample *sample, const gram_criterion_rule *rule,
                                  gram_criterion_work **work)
{
    gram_status status = GRAM_OK;
    work_t *k = NULL;
    *work = NULL;
    TRY(gram_take(context, "tuning", 1, sizeof *k, (void **)&k));
    *k = (work_t){.sample = sample, .rule = *rule, .n = sample->n, .m = sample->outputs};
    FAIL_IF(k->n > INT32_MAX || k->m > INT32_MAX / 4, context, GRAM_ERROR_OVERFLOW,
            "tuning: %lld rows with %lld outputs are more than BLAS can count", (long long)k->n, (long long)k->m);
    if (k->rule.folds > k->n) k->rule.folds = k->n;
    k->rank = thin_rank(&k->rule, k->m);
    TRY(take_vectors(context, k));
    TRY(take_matrices(context, k));
    if (rule->kind == GRAM_CRITERION_CV) TRY(draw_folds(context, k));
    *work = k;
    k = NULL;
done:
    gram_criterion_destroy(context, k);
    return status;
}

void gram_criterion_destroy(gram_context *context, gram_criterion_work *k)
{
    if (!k) return;
    gram_give(context, k->fold_rows, 2 * k->n + k->rule.folds + 1, sizeof *k->fold_rows);
    gram_give(context, k->w, k->n * k->n, sizeof(double));
    gram_give(context, k->p, k->n * k->n, sizeof(double));
    gram_give(context, k->numbers, k->number_count, sizeof(double));
    gram_give(context, k, 1, sizeof *k);
}

/* ---- coefficients ---- */

/* a = A^-1 y - c (1'A^-1 y)/(1'c), from A^-1 [y, 1] */
static void split_solution(work_t *k)
{
    const int64_t n = k->n, m = k->m, ld = m + 1;
    k->c_sum = 0;
    for (int64_t i = 0; i < n; i++) {
        k->c[i] = k->rule.intercept ? k->rhs[i * ld + m] : 0;
        k->c_sum += k->c[i];
    }
    if (!k->rule.intercept) k->c_sum = 1;
    for (int64_t j = 0; j < m; j++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += k->rhs[i * ld + j];
        for (int64_t i = 0; i < n; i++) k->a[i * m + j] = k->rhs[i * ld + j] - k->c[i] * (sum / k->c_sum);
    }
}

static gram_status solve(gram_context *context, work_t *k, const gram_cholesky *factor)
{
    const int64_t n = k->n, m = k->m, ld = m + 1;
    for (int64_t i = 0; i < n; i++) {
        memcpy(k->rhs + i * ld, k->sample->y + i * m, (size_t)m * sizeof(double));
        k->rhs[i * ld + m] = 1;
    }
    const gram_status status = gram_cholesky_solve(context, factor, ld, k->rhs, ld);
    if (status < 0) return status;
    split_solution(k);
    return status;
}

/* The diagonal of P. What is not above 0 was lost to rounding. */
static gram_status find_diagonal(gram_context *context, work_t *k, const gram_cholesky *inverse)
{
    gram_status status = GRAM_OK;
    TRY(gram_cholesky_inverse_diagonal(context, inverse, k->diagonal));
    for (int64_t i = 0; i < k->n; i++) {
        k->diagonal[i] -= k->c[i] * (k->c[i] / k->c_sum);
        FAIL_IF(!(k->diagonal[i] > 0), context, GRAM_ERROR_NUMERICAL,
                "tuning: the leave-one-out variance of row %lld was lost to rounding", (long long)i);
    }
done:
    return status;
}

/* ---- sweeps over rows and tiles of P ---- */

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static gram_status sweep_rows(gram_context *context, work_t *k, gram_task_fn run)
{
    const gram_sweep sweep = {
        .what = "tuning", .tasks = (k->n + ROWS_PER_TASK - 1) / ROWS_PER_TASK, .run = run, .argument = k};
    return gram_sweep_run(context, &sweep);
}

/* P_ij = (A^-1)_ij - c_i c_j/(1'c) */
static void subtract_intercept(work_t *k, int64_t from, int64_t to)
{
    if (!k->rule.intercept) return;
    for (int64_t i = from; i < to; i++) {
        const double factor = k->c[i] / k->c_sum;
        double *row = k->p + i * k->n;
        for (int64_t j = 0; j < k->n; j++) row[j] -= factor * k->c[j];
    }
}

/* For some rows: P; thin factors [a, P u] and [-P u, -a]/2; then P diag(v)^(1/2) in place of P. */
static gram_status prepare_rows(void *argument, const gram_worker *worker)
{
    work_t *k = argument;
    const int64_t n = k->n, m = k->m, from = worker->task * ROWS_PER_TASK, to = at_most(from + ROWS_PER_TASK, n);
    subtract_intercept(k, from, to);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)(to - from), (int)m, (int)n, 1, k->p + from * n, (int)n,
                k->u, (int)m, 0, k->left + from * 2 * m + m, (int)(2 * m));
    for (int64_t i = from; i < to; i++) {
        double *left = k->left + i * 2 * m, *right = k->right + i * 2 * m, *row = k->p + i * n;
        for (int64_t j = 0; j < m; j++) {
            left[j] = k->a[i * m + j];
            right[j] = -0.5 * left[m + j];
            right[m + j] = -0.5 * left[j];
        }
        for (int64_t j = 0; j < n; j++) row[j] *= k->v[j];
    }
    return GRAM_OK;
}

static int64_t tile_of(int64_t n)
{
    return n < LARGE ? SMALL_TILE : LARGE_TILE;
}

/* Tile (row, column), row >= column, of W = B B' + left right', B = P diag(v)^(1/2), and its mirror image */
static void make_tile(const work_t *k, int64_t row, int64_t column)
{
    const int64_t n = k->n, tile = tile_of(n), i0 = row * tile, j0 = column * tile;
    const int rows = (int)at_most(tile, n - i0), columns = (int)at_most(tile, n - j0), ld = (int)n;
    double *out = k->w + i0 * n + j0;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, columns, ld, 1, k->p + i0 * n, ld, k->p + j0 * n, ld, 0,
                out, ld);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, columns, (int)k->rank, 1, k->left + i0 * k->rank,
                (int)k->rank, k->right + j0 * k->rank, (int)k->rank, 1, out, ld);
    if (row == column) return;
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++) k->w[(j0 + j) * n + i0 + i] = out[i * n + j];
}

/* Tiles are counted row by row of the lower triangle. */
static gram_status make_tiles(void *argument, const gram_worker *worker)
{
    int64_t row = 0;
    while ((row + 1) * (row + 2) / 2 <= worker->task) row++;
    make_tile(argument, row, worker->task - row * (row + 1) / 2);
    return GRAM_OK;
}

/* ---- gradients from W = dE/dA ---- */

static double thin_entry(const work_t *k, int64_t i)
{
    return cblas_ddot((int)k->rank, k->left + i * k->rank, 1, k->right + i * k->rank, 1);
}

/* W_ii of the thin part, and of B B' unless dense */
static double noise_slope(const work_t *k, const double *dense, int with_p)
{
    const int64_t n = k->n;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double entry = dense ? dense[i * n + i] : thin_entry(k, i);
        if (!dense && with_p) entry += cblas_ddot((int)n, k->p + i * n, 1, k->p + i * n, 1);
        sum += entry / k->sample->weights[i];
    }
    return sum;
}

static gram_status contract(gram_context *context, const work_t *k, const gram_kernel *kernel, const double *dense,
                            double *gradient)
{
    gram_weights weights = {.dense = dense, .ld = k->n};
    if (!gradient || gram_kernel_parameter_count(kernel) == 0) return GRAM_OK;
    if (!dense) weights = (gram_weights){.rank = k->rank, .a = k->left, .lda = k->rank, .b = k->right, .ldb = k->rank};
    return gram_matrix_parameter_gradient(context, kernel, k->sample->points, NULL, &weights, gradient);
}

/* ---- leave-one-out and generalised cross-validation: u and v ---- */

/* E, with u = -dE/da and -v = dE/d(diag P), as the formulas on top have them */
static double leave_one_out(work_t *k)
{
    const int64_t m = k->m;
    const double scale = 1 / (k->sample->total * (double)m);
    double value = 0;
    for (int64_t i = 0; i < k->n; i++) {
        const double p = k->diagonal[i], weight = scale * k->sample->weights[i];
        double squares = 0;
        for (int64_t j = 0; j < m; j++) {
            const double residual = k->a[i * m + j] / p;
            squares += residual * residual;
            k->u[i * m + j] = 2 * weight * residual / p;
        }
        value += weight * squares;
        k->v[i] = 2 * weight * squares / p;
    }
    return value;
}

static double generalised(work_t *k)
{
    const int64_t n = k->n, m = k->m;
    const double *weights = k->sample->weights, scale = (double)n * (double)n / (k->sample->total * (double)m);
    double squares = 0, trace = 0;
    for (int64_t i = 0; i < n; i++) {
        trace += k->diagonal[i] / weights[i];
        for (int64_t j = 0; j < m; j++) squares += k->a[i * m + j] * (k->a[i * m + j] / weights[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        const double factor = 2 * scale / (weights[i] * trace * trace);
        for (int64_t j = 0; j < m; j++) k->u[i * m + j] = factor * k->a[i * m + j];
        k->v[i] = factor * (squares / trace);
    }
    return scale * squares / (trace * trace);
}

static gram_status differentiate_diagonal(gram_context *context, work_t *k, const gram_cholesky *inverse,
                                          const gram_kernel *kernel, double *gradient, double *noise_gradient)
{
    gram_status status = GRAM_OK;
    const int64_t n = k->n, tiles = (n + tile_of(n) - 1) / tile_of(n);
    const gram_sweep sweep = {.what = "tuning", .tasks = tiles * (tiles + 1) / 2, .run = make_tiles, .argument = k};
    const int wanted = gradient && gram_kernel_parameter_count(kernel) > 0;
    for (int64_t i = 0; i < n; i++) k->v[i] = sqrt(k->v[i]);
    TRY(gram_cholesky_inverse_matrix(context, inverse, k->p, n));
    TRY(sweep_rows(context, k, prepare_rows));
    if (wanted) TRY(gram_sweep_run(context, &sweep));
    *noise_gradient = noise_slope(k, wanted ? k->w : NULL, 1);
    if (wanted) TRY(contract(context, k, kernel, k->w, gradient));
done:
    return status;
}

/* ---- folds ---- */

static gram_status correct_rows(void *argument, const gram_worker *worker)
{
    work_t *k = argument;
    const int64_t from = worker->task * ROWS_PER_TASK;
    subtract_intercept(k, from, at_most(from + ROWS_PER_TASK, k->n));
    return GRAM_OK;
}

/* b = P_BB^-1 b for rows B of one fold: `block` holds the factor; b is one output after the other */
static gram_status solve_fold(const work_t *k, int64_t fold, double *block, double *b)
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
    const work_t *k = argument;
    double *block = worker->scratch;
    return solve_fold(k, worker->task, block, block + k->largest_fold * k->largest_fold);
}

/* Column fold * m + j gets the entries of output j in that fold. */
static void spread(work_t *k, const double *from)
{
    const int64_t columns = k->rule.folds * k->m;
    memset(k->spread, 0, (size_t)(k->n * columns) * sizeof(double));
    for (int64_t i = 0; i < k->n; i++)
        memcpy(k->spread + i * columns + k->fold_of[i] * k->m, from + i * k->m, (size_t)k->m * sizeof(double));
}

/* Rows of `out` (n x rank) get P times what was spread. */
static void multiply_spread(const work_t *k, const gram_worker *worker, double *out)
{
    const int64_t n = k->n, columns = k->rule.folds * k->m, from = worker->task * ROWS_PER_TASK;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)at_most(ROWS_PER_TASK, n - from), (int)columns, (int)n,
                1, k->p + from * n, (int)n, k->spread, (int)columns, 0, out + from * k->rank, (int)k->rank);
}

static gram_status multiply_e(void *argument, const gram_worker *worker)
{
    const work_t *k = argument;
    multiply_spread(k, worker, k->right);
    return GRAM_OK;
}

static gram_status multiply_g(void *argument, const gram_worker *worker)
{
    const work_t *k = argument;
    multiply_spread(k, worker, k->left);
    return GRAM_OK;
}

/* The last m columns: -P g, which is minus the sum over the folds, and a; then the factor 2/(m W). */
static void finish_thin_folds(work_t *k)
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

static gram_status evaluate_folds(gram_context *context, work_t *k, const gram_cholesky *inverse, double *value)
{
    gram_status status = GRAM_OK;
    const gram_sweep sweep = {.what = "tuning",
                              .tasks = k->rule.folds,
                              .scratch_bytes = (size_t)(k->largest_fold * (k->largest_fold + k->m)) * sizeof(double),
                              .run = solve_folds,
                              .argument = k};
    TRY(gram_cholesky_inverse_matrix(context, inverse, k->p, k->n));
    TRY(sweep_rows(context, k, correct_rows));
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

static gram_status differentiate_folds(gram_context *context, work_t *k, const gram_kernel *kernel, double *gradient,
                                       double *noise_gradient)
{
    gram_status status = GRAM_OK;
    spread(k, k->e);
    TRY(sweep_rows(context, k, multiply_e));
    spread(k, k->g);
    TRY(sweep_rows(context, k, multiply_g));
    finish_thin_folds(k);
    *noise_gradient = noise_slope(k, NULL, 0);
    TRY(contract(context, k, kernel, NULL, gradient));
done:
    return status;
}

/* ---- likelihood ---- */

/* Thin factors -n/(2 y_o'a_o) a_o and a_o. A target that the constant explains has y'a = 0, and no more to say. */
static double likelihood(work_t *k, double log_determinant)
{
    static const double TWO_PI = 6.283185307179586;
    const int64_t m = k->m;
    const double n = (double)k->n;
    double value = 0.5 * (double)m * log_determinant;
    for (int64_t j = 0; j < m; j++) {
        double form = 0;
        for (int64_t i = 0; i < k->n; i++) form += k->sample->y[i * m + j] * k->a[i * m + j];
        const int flat = !(form / n > 0x1p-1022);
        value += 0.5 * n * (1 + log(TWO_PI * (flat ? 0x1p-1022 : form / n)));
        for (int64_t i = 0; i < k->n && k->rule.gradients; i++) {
            k->left[i * m + j] = flat ? 0 : -0.5 * n / form * k->a[i * m + j];
            k->right[i * m + j] = k->a[i * m + j];
        }
    }
    return value;
}

/* W = m/2 A^-1 + left right' in place of A^-1 */
static gram_status likelihood_rows(void *argument, const gram_worker *worker)
{
    const work_t *k = argument;
    const int64_t n = k->n, from = worker->task * ROWS_PER_TASK, rows = at_most(ROWS_PER_TASK, n - from);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)n, (int)k->m, 1, k->left + from * k->m,
                (int)k->m, k->right, (int)k->m, 0.5 * (double)k->m, k->p + from * n, (int)n);
    return GRAM_OK;
}

static gram_status differentiate_likelihood(gram_context *context, work_t *k, gram_cholesky *factor,
                                            const gram_kernel *kernel, double *gradient, double *noise_gradient)
{
    gram_status status = GRAM_OK;
    TRY(gram_cholesky_invert(context, factor));
    TRY(gram_cholesky_inverse_matrix(context, factor, k->p, k->n));
    TRY(sweep_rows(context, k, likelihood_rows));
    *noise_gradient = noise_slope(k, k->p, 0);
    TRY(contract(context, k, kernel, k->p, gradient));
done:
    return status;
}

/* ---- the whole ---- */

static gram_status evaluate_likelihood(gram_context *context, work_t *k, gram_cholesky *factor,
                                       const gram_kernel *kernel, double *value, double *gradient,
                                       double *noise_gradient)
{
    *value = likelihood(k, gram_cholesky_log_determinant(factor));
    if (!noise_gradient) return GRAM_OK;
    return differentiate_likelihood(context, k, factor, kernel, gradient, noise_gradient);
}

static gram_status evaluate_residuals(gram_context *context, work_t *k, gram_cholesky *factor,
                                      const gram_kernel *kernel, double *value, double *gradient,
                                      double *noise_gradient)
{
    gram_status status = GRAM_OK;
    TRY(gram_cholesky_invert(context, factor));
    if (k->rule.kind == GRAM_CRITERION_CV) {
        TRY(evaluate_folds(context, k, factor, value));
        if (noise_gradient) TRY(differentiate_folds(context, k, kernel, gradient, noise_gradient));
        goto done;
    }
    TRY(find_diagonal(context, k, factor));
    *value = k->rule.kind == GRAM_CRITERION_LOO ? leave_one_out(k) : generalised(k);
    if (noise_gradient) TRY(differentiate_diagonal(context, k, factor, kernel, gradient, noise_gradient));
done:
    return status;
}

gram_status gram_criterion_evaluate(gram_context *context, gram_criterion_work *k, const gram_kernel *kernel,
                                    double noise, double *value, double *gradient, double *noise_gradient)
{
    gram_status status = GRAM_OK;
    gram_cholesky *factor = NULL;
    for (int64_t i = 0; i < k->n; i++) k->shift[i] = noise / k->sample->weights[i];
    TRY(gram_cholesky_create(context, kernel, k->sample->points, k->shift, GRAM_STORAGE_F64, NULL, &factor));
    TRY(solve(context, k, factor));
    if (k->rule.kind == GRAM_CRITERION_ML)
        TRY(evaluate_likelihood(context, k, factor, kernel, value, gradient, noise_gradient));
    else
        TRY(evaluate_residuals(context, k, factor, kernel, value, gradient, noise_gradient));
    FAIL_IF(!isfinite(*value), context, GRAM_ERROR_NUMERICAL, "tuning: the criterion is not a finite number");
done:
    gram_cholesky_destroy(factor);
    return status;
}

/* ---- the public function ---- */

static gram_status check_call(gram_context *context, const gram_kernel *kernel, const gram_given *given, double lambda,
                              const double *value)
{
    gram_status status = GRAM_OK;
    char text[GRAM_NUMBER_SIZE];
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "krr_criterion: kernel is NULL");
    FAIL_IF(!value, context, GRAM_ERROR_ARGUMENT, "krr_criterion: value is NULL");
    FAIL_IF(!(lambda >= 0 && isfinite(lambda)), context, GRAM_ERROR_ARGUMENT,
            "krr_criterion: lambda = %s, need a finite number >= 0", gram_number_format(lambda, text));
    TRY(gram_given_check(context, "krr_criterion", given));
done:
    return status;
}

gram_status gram_krr_criterion(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t outputs,
                               const double *y, int64_t ldy, const gram_tune_options *options, double lambda,
                               double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    gram_tune_options read;
    gram_sample sample = {.n = 0};
    gram_criterion_work *work = NULL;
    int64_t *rows = NULL, count = 0;
    double slope = 0;
    TRY(gram_tune_options_read(context, "krr_criterion", options, &read));
    const gram_given given = {x, outputs, y, ldy, read.weights};
    const gram_criterion_rule rule = {read.criterion, read.intercept, read.folds, gradient != NULL};
    TRY(check_call(context, kernel, &given, lambda, value));
    TRY(gram_given_rows(context, &given, &rows, &count));
    FAIL_IF(count < gram_criterion_least_rows(&rule), context, GRAM_ERROR_ARGUMENT,
            "krr_criterion: %lld rows of weight above 0, need at least %lld", (long long)count,
            (long long)gram_criterion_least_rows(&rule));
    TRY(gram_sample_make(context, &given, count, rows, &sample));
    TRY(gram_criterion_create(context, &sample, &rule, &work));
    TRY(gram_criterion_evaluate(context, work, kernel, lambda * (double)count, value, gradient,
                                gradient ? &slope : NULL));
    if (gradient) gradient[gram_kernel_parameter_count(kernel)] = slope * (double)count;
done:
    gram_criterion_destroy(context, work);
    gram_sample_free(context, &sample);
    if (x) gram_give(context, rows, x->n, sizeof *rows);
    return status;
}
