/* The log marginal likelihood and the leave-one-out density, and their gradients.
 *
 * Every derivative is a contraction sum_ij W_ij dA_ij, and one pass over the pairs of points gives the derivative by all
 * parameters of the kernel at once: no array for each of them.
 *
 *     ML   W = (a a' - A^-1)/2, with a flat prior on the mean's parameters (a a' - P)/2, made where the inverse is
 *     LOO  sum_i (log P_ii - a_i^2/P_ii - log 2 pi)/2. With dP = -P dA P and da = -P dA a:
 *          W = -P diag(g) P + (b a' + a b')/2,  g_i = (1 + a_i^2/P_ii)/(2 P_ii),  b = P (a_i/P_ii)_i
 *
 * The last one is a product, -B B' with B = P diag(g)^(1/2): n^3 operations for one triangle of it. */
#include <cblas.h>
#include <math.h>

#include <gram/gp_tune.h>
#include <gram/matrix.h>

#include "base/sweep.h"
#include "method/gp/gp_system.h"
#include "solve/cholesky/cholesky.h"

enum { ROWS_PER_TASK = 32, TILE = 256 };

static const double LEFT = 1e-14; /* of P_ii, relative to (A^-1)_ii: less is rounding */

typedef struct weighting {
    const gram_gp_system *system; /* its factor is the inverse */
    const double *g;              /* n x q: H (L_small)^-T, so that P = A^-1 - g g'; NULL unless flat */
} weighting;

/* out[j] += W_ij for columns first .. first + count - 1, none of them above i. */
static void weigh_left(const weighting *job, int64_t i, int64_t first, int64_t count, double *out)
{
    const gram_gp_system *s = job->system;
    const int64_t end = first + count, q = job->g ? s->q : 0;
    for (int64_t from = first, some, stride; from < end; from += some) {
        const double *row = gram_cholesky_inverse_row(s->factor, i, from, &some, &stride);
        if (some > end - from) some = end - from;
        for (int64_t j = 0; j < some; j++) out[from - first + j] += 0.5 * (s->a[i] * s->a[from + j] - row[j * stride]);
    }
    for (int64_t k = 0; k < q; k++)
        for (int64_t j = 0; j < count; j++) out[j] += 0.5 * job->g[i * q + k] * job->g[(first + j) * q + k];
}

/* The same for any block: what lies above the diagonal is taken from below it. */
static void weigh(const void *argument, int64_t row, int64_t rows, int64_t column, int64_t columns, double *out,
                  int64_t ldo)
{
    for (int64_t i = row; i < row + rows; i++) {
        double *at = out + (i - row) * ldo;
        const int64_t below = i + 1 - column, left = below < 0 ? 0 : below < columns ? below : columns;
        if (left > 0) weigh_left(argument, i, column, left, at);
        for (int64_t j = left; j < columns; j++) weigh_left(argument, column + j, i, 1, at + j);
    }
}

/* Rows of H, each through the small factor. */
static gram_status spread(gram_context *context, const gram_gp_system *s, double **g)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "gp_likelihood: mean", s->n * s->q, sizeof(double), (void **)g));
    for (int64_t i = 0; i < s->n; i++) {
        for (int64_t k = 0; k < s->q; k++) (*g)[i * s->q + k] = s->h[i * s->q + k];
        gram_gp_small_solve(s, *g + i * s->q);
    }
done:
    return status;
}

/* ---- the marginal likelihood ---- */

static gram_status differentiate(gram_context *context, gram_kernel *kernel, const gram_points *x, gram_gp_system *s,
                                 double *gradient)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->n, parameters = gram_kernel_parameter_count(kernel);
    double *g = NULL, *inverse = NULL;
    if (s->options.flat && s->q > 0) TRY(spread(context, s, &g));
    TRY(gram_take(context, "gp_likelihood: inverse", n, sizeof *inverse, (void **)&inverse));
    TRY(gram_cholesky_invert(context, s->factor));
    TRY(gram_cholesky_inverse_diagonal(context, s->factor, inverse));
    const weighting job = {s, g};
    const gram_weights weights = {.fill = weigh, .argument = &job};
    TRY(gram_matrix_parameter_gradient(context, kernel, x, NULL, &weights, gradient));
    gradient[parameters] = 0;
    for (int64_t i = 0; i < n; i++) {
        double w = 0.5 * (s->a[i] * s->a[i] - inverse[i]);
        for (int64_t k = 0; g && k < s->q; k++) w += 0.5 * g[i * s->q + k] * g[i * s->q + k];
        gradient[parameters] += gram_gp_noise_share(&s->options, i) * w;
    }
done:
    gram_give(context, inverse);
    gram_give(context, g);
    return status;
}

/* ---- leave-one-out ---- */

typedef struct leaving {
    const gram_gp_system *system;
    const double *g;      /* n x q: P = A^-1 - g g' */
    double *numbers;      /* all of the following vectors */
    double *p;            /* P_ii */
    double *u;            /* a_i/P_ii */
    double *root;         /* g_i^(1/2) */
    double *left, *right; /* n x 2: [b, a] and [a, b]/2 */
    double *matrix;       /* n x n: A^-1, then B */
    double *w;            /* n x n: W */
} leaving;

enum { VECTORS = 7 };

static gram_status take_vectors(gram_context *context, gram_gp_system *s, leaving *job, double **g)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->n;
    job->system = s;
    TRY(spread(context, s, g));
    TRY(gram_take(context, "gp: leave-one-out", VECTORS * n, sizeof(double), (void **)&job->numbers));
    job->g = *g;
    job->p = job->numbers;
    job->u = job->p + n;
    job->root = job->u + n;
    job->left = job->root + n;
    job->right = job->left + 2 * n;
done:
    return status;
}

/* P_ii, and from it the density. */
static gram_status leave(gram_context *context, const leaving *job, const gram_cholesky *inverse, double *value)
{
    gram_status status = GRAM_OK;
    const gram_gp_system *s = job->system;
    const double log_2pi = 1.8378770664093454836;
    *value = 0;
    TRY(gram_cholesky_inverse_diagonal(context, inverse, job->p));
    for (int64_t i = 0; i < s->n; i++) {
        const double whole = job->p[i], a = s->a[i];
        double p = whole;
        for (int64_t k = 0; k < s->q; k++) p -= job->g[i * s->q + k] * job->g[i * s->q + k];
        FAIL_IF(!(p > LEFT * whole), context, GRAM_ERROR_NUMERICAL,
                "gp: without row %lld nothing determines the mean there, or the variance was lost to rounding",
                (long long)i);
        job->p[i] = p;
        job->u[i] = a / p;
        job->root[i] = sqrt(0.5 * (1 + a * a / p) / p);
        *value += 0.5 * (log(p) - a * a / p - log_2pi);
    }
done:
    return status;
}

/* Rows of A^-1 become those of P, from which b, and those of B. */
static gram_status leave_task(void *argument, const gram_worker *worker)
{
    const leaving *job = argument;
    const gram_gp_system *s = job->system;
    const int64_t n = s->n, q = s->q, from = worker->task * ROWS_PER_TASK;
    for (int64_t i = from; i < n && i < from + ROWS_PER_TASK; i++) {
        double *row = job->matrix + i * n, b = 0;
        for (int64_t k = 0; k < q; k++)
            for (int64_t j = 0; j < n; j++) row[j] -= job->g[i * q + k] * job->g[j * q + k];
        for (int64_t j = 0; j < n; j++) b += row[j] * job->u[j];
        for (int64_t j = 0; j < n; j++) row[j] *= job->root[j];
        job->left[2 * i] = b;
        job->left[2 * i + 1] = s->a[i];
        job->right[2 * i] = 0.5 * s->a[i];
        job->right[2 * i + 1] = 0.5 * b;
    }
    return GRAM_OK;
}

/* Tile (i, j), j <= i, of W = left right' - B B', and its mirror image; tiles are counted row by row */
static gram_status multiply_task(void *argument, const gram_worker *worker)
{
    const leaving *job = argument;
    const int64_t n = job->system->n;
    int64_t i = 0;
    while ((i + 1) * (i + 2) / 2 <= worker->task) i++;
    const int64_t r = i * TILE, c = (worker->task - i * (i + 1) / 2) * TILE;
    const int rows = (int)(n - r < TILE ? n - r : TILE), columns = (int)(n - c < TILE ? n - c : TILE), ld = (int)n;
    double *out = job->w + r * n + c;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, columns, ld, -1, job->matrix + r * n, ld,
                job->matrix + c * n, ld, 0, out, ld);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, columns, 2, 1, job->left + 2 * r, 2, job->right + 2 * c,
                2, 1, out, ld);
    for (int64_t j = 0; j < columns && r != c; j++)
        for (int64_t k = 0; k < rows; k++) job->w[(c + j) * n + r + k] = out[k * n + j];
    return GRAM_OK;
}

/* The inverse in the factor's place is gone afterwards. */
static gram_status differentiate_leaving(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                         gram_gp_system *s, leaving *job, double *gradient)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->n, parameters = gram_kernel_parameter_count(kernel), tiles = (n + TILE - 1) / TILE;
    const gram_sweep rows = {
        .what = "leave-one-out", .tasks = (n + ROWS_PER_TASK - 1) / ROWS_PER_TASK, .run = leave_task, .argument = job};
    const gram_sweep pairs = {
        .what = "leave-one-out", .tasks = tiles * (tiles + 1) / 2, .run = multiply_task, .argument = job};
    TRY(gram_take(context, "gp: inverse", n * n, sizeof(double), (void **)&job->matrix));
    TRY(gram_cholesky_inverse_matrix(context, s->factor, job->matrix, n));
    gram_cholesky_destroy(s->factor);
    s->factor = NULL;
    TRY(gram_sweep_run(context, &rows));
    TRY(gram_take(context, "gp: derivative by the matrix", n * n, sizeof(double), (void **)&job->w));
    TRY(gram_sweep_run(context, &pairs));
    const gram_weights weights = {.dense = job->w, .ld = n};
    TRY(gram_matrix_parameter_gradient(context, kernel, x, NULL, &weights, gradient));
    gradient[parameters] = 0;
    for (int64_t i = 0; i < n; i++) gradient[parameters] += gram_gp_noise_share(&s->options, i) * job->w[i * n + i];
done:
    return status;
}

static gram_status leave_one_out(gram_context *context, gram_kernel *kernel, const gram_points *x, gram_gp_system *s,
                                 double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    leaving job = {.matrix = NULL};
    double *g = NULL;
    TRY(take_vectors(context, s, &job, &g));
    TRY(gram_cholesky_invert(context, s->factor));
    TRY(leave(context, &job, s->factor, value));
    if (gradient) TRY(differentiate_leaving(context, kernel, x, s, &job, gradient));
done:
    gram_give(context, job.w);
    gram_give(context, job.matrix);
    gram_give(context, job.numbers);
    gram_give(context, g);
    return status;
}

/* ---- both ---- */

gram_status gram_gp_evaluate(gram_context *context, const char *name, gram_gp_objective objective, gram_kernel *kernel,
                             const gram_points *x, const double *y, const gram_gp_options *options, double *value,
                             double *gradient)
{
    gram_status status = GRAM_OK;
    gram_gp_system system = {0};
    TRY(gram_gp_system_make(context, name, kernel, x, y, options, 0, &system));
    if (objective == GRAM_GP_OBJECTIVE_LOO) {
        TRY(leave_one_out(context, kernel, x, &system, value, gradient));
    } else {
        *value = gram_gp_log_likelihood(&system);
        if (gradient) TRY(differentiate(context, kernel, x, &system, gradient));
    }
done:
    gram_gp_system_free(context, &system);
    return status;
}

gram_status gram_gp_objective_value(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                    const gram_gp_options *options, gram_gp_objective objective, double *value,
                                    double *gradient)
{
    gram_status status = GRAM_OK;
    if (!context || !value) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(objective != GRAM_GP_OBJECTIVE_ML && objective != GRAM_GP_OBJECTIVE_LOO, context, GRAM_ERROR_ARGUMENT,
            "gp_objective_value: objective = %d is not a valid objective", (int)objective);
    TRY(gram_gp_evaluate(context, "gp_objective_value", objective, kernel, x, y, options, value, gradient));
done:
    return status;
}
