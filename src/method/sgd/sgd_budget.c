/* Terms within a budget, and what a solution is worth.
 *
 * Terms of least |c_i| sqrt(k(x_i, x_i)) go. Projected, they leave their projection on the span of the others behind: coefficients alpha
 * with K_PP alpha = K_PR c_R, the nearest function with the terms P; one Cholesky factor of the budget's size. Dropped, they are gone. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "base/lapack.h"
#include "base/sweep.h"
#include "method/sgd/sgd.h"
#include "points/points.h"

static const double JITTER = 1e-12; /* of the mean diagonal */

typedef struct weighted_row {
    double weight;
    int64_t row;
} weighted_row;

/* Descending by weight, then by the row's number: heap sort, in place. */
static int is_after(const weighted_row *a, const weighted_row *b)
{
    return a->weight < b->weight || (a->weight == b->weight && a->row > b->row);
}

static void sink(weighted_row *heap, int64_t count, int64_t at)
{
    for (;;) {
        int64_t top = at;
        for (int64_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            if (is_after(&heap[child], &heap[top])) top = child;
        if (top == at) return;
        const weighted_row moved = heap[at];
        heap[at] = heap[top];
        heap[top] = moved;
        at = top;
    }
}

/* The least sinks to the end again and again: what is left is descending. */
static void sort_rows(weighted_row *rows, int64_t count)
{
    for (int64_t i = count / 2 - 1; i >= 0; i--) sink(rows, count, i);
    for (int64_t i = count - 1; i > 0; i--) {
        const weighted_row least = rows[0];
        rows[0] = rows[i];
        rows[i] = least;
        sink(rows, i, 0);
    }
}

static gram_status order_terms(gram_context *context, const gram_sgd_problem *p, int64_t count, int64_t *active,
                               const double *c, double *lost)
{
    gram_status status = GRAM_OK;
    double *data = NULL, *diagonal = NULL, all = 0, gone = 0;
    weighted_row *rows = NULL;
    gram_points *points = NULL;
    TRY(gram_sgd_gather(context, p, count, active, &data, &points));
    TRY(gram_take(context, "terms", count, sizeof *diagonal, (void **)&diagonal));
    TRY(gram_take(context, "terms", count, sizeof *rows, (void **)&rows));
    TRY(gram_matrix_diagonal(context, p->kernel, points, diagonal));
    for (int64_t i = 0; i < count; i++) {
        double square = 0;
        for (int64_t k = 0; k < p->m; k++) square += c[active[i] * p->m + k] * c[active[i] * p->m + k];
        rows[i] = (weighted_row){sqrt(square * diagonal[i]), active[i]};
    }
    sort_rows(rows, count);
    for (int64_t i = 0; i < count; i++) {
        active[i] = rows[i].row;
        all += rows[i].weight;
        if (i >= p->budget) gone += rows[i].weight;
    }
    *lost = all > 0 ? gone / all : 0;
done:
    gram_points_release(points);
    gram_give(context, data);
    gram_give(context, diagonal);
    gram_give(context, rows);
    return status;
}

/* K_PP alpha = right sides, in place: count x columns. */
static gram_status solve_kept(gram_context *context, const gram_sgd_problem *p, const gram_points *kept,
                              int64_t columns, double *right)
{
    gram_status status = GRAM_OK;
    const int64_t n = p->budget;
    const int size = (int)n;
    double *matrix = NULL, mean = 0, jitter = JITTER;
    int info = 1;
    TRY(gram_take(context, "terms", n * n, sizeof *matrix, (void **)&matrix));
    while (info != 0) {
        TRY(gram_matrix(context, p->kernel, kept, NULL, matrix, n));
        mean = 0;
        for (int64_t i = 0; i < n; i++) mean += matrix[i * n + i] / (double)n;
        for (int64_t i = 0; i < n; i++) matrix[i * n + i] += jitter * mean;
        FAIL_IF(jitter > 1e-4, context, GRAM_ERROR_NUMERICAL, "sgd: the Gram matrix of %d terms has no factor", size);
        const int blas = gram_blas_enter();
        dpotrf_("U", &size, matrix, &size, &info, 1);
        for (int transposed = 0; transposed < 2 && info == 0; transposed++)
            cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit,
                        size, (int)columns, 1, matrix, size, right, (int)columns);
        gram_blas_leave(blas);
        jitter *= 10;
    }
done:
    gram_give(context, matrix);
    return status;
}

static gram_status project(gram_context *context, const gram_sgd_problem *p, int64_t count, const int64_t *active,
                           double *c, double *sum)
{
    gram_status status = GRAM_OK;
    const int64_t m = p->m, kept = p->budget, gone = count - kept;
    double *kept_data = NULL, *gone_data = NULL, *both = NULL, *right = NULL;
    gram_points *stay = NULL, *go = NULL;
    TRY(gram_sgd_gather(context, p, kept, active, &kept_data, &stay));
    TRY(gram_sgd_gather(context, p, gone, active + kept, &gone_data, &go));
    TRY(gram_take(context, "terms", gone * 2 * m, sizeof *both, (void **)&both));
    TRY(gram_take(context, "terms", kept * 2 * m, sizeof *right, (void **)&right));
    for (int64_t i = 0; i < gone; i++) {
        memcpy(both + i * 2 * m, c + active[kept + i] * m, (size_t)m * sizeof *both);
        memcpy(both + i * 2 * m + m, sum + active[kept + i] * m, (size_t)m * sizeof *both);
    }
    TRY(gram_matrix_product(context, p->kernel, stay, go, 2 * m, both, 2 * m, right, 2 * m));
    TRY(solve_kept(context, p, stay, 2 * m, right));
    for (int64_t i = 0; i < kept; i++)
        for (int64_t k = 0; k < m; k++) {
            c[active[i] * m + k] += right[i * 2 * m + k];
            sum[active[i] * m + k] += right[i * 2 * m + m + k];
        }
done:
    gram_points_release(stay);
    gram_points_release(go);
    gram_give(context, kept_data);
    gram_give(context, gone_data);
    gram_give(context, both);
    gram_give(context, right);
    return status;
}

gram_status gram_sgd_reduce(gram_context *context, const gram_sgd_problem *p, int64_t count, int64_t *active, double *c,
                            double *sum, double *lost)
{
    gram_status status = GRAM_OK;
    TRY(order_terms(context, p, count, active, c, lost));
    if (p->project) TRY(project(context, p, count, active, c, sum));
    for (int64_t i = p->budget; i < count; i++)
        for (int64_t k = 0; k < p->m; k++) c[active[i] * p->m + k] = sum[active[i] * p->m + k] = 0;
done:
    return status;
}

/* ---- what it is worth ---- */

/* K a over the rows that have a term. */
static gram_status kernel_values(gram_context *context, const gram_sgd_problem *p, const double *a, double *values)
{
    gram_status status = GRAM_OK;
    const int64_t m = p->m;
    int64_t *rows = NULL, count = 0;
    double *data = NULL, *c = NULL;
    gram_points *terms = NULL;
    TRY(gram_take(context, "terms", p->n, sizeof *rows, (void **)&rows));
    for (int64_t i = 0; i < p->n; i++) {
        int has_term = 0;
        for (int64_t k = 0; k < m; k++) has_term |= a[i * m + k] != 0;
        if (has_term) rows[count++] = i;
    }
    memset(values, 0, (size_t)(p->n * m) * sizeof *values);
    if (count == 0) goto done;
    TRY(gram_sgd_gather(context, p, count, rows, &data, &terms));
    TRY(gram_take(context, "terms", count * m, sizeof *c, (void **)&c));
    for (int64_t i = 0; i < count; i++) memcpy(c + i * m, a + rows[i] * m, (size_t)m * sizeof *c);
    TRY(gram_matrix_product(context, p->kernel, p->x, terms, m, c, m, values, m));
done:
    gram_points_release(terms);
    gram_give(context, rows);
    gram_give(context, data);
    gram_give(context, c);
    return status;
}

/* f(x_i) + b: of the kernel K a, of features Z a. */
static gram_status find_values(gram_context *context, const gram_sgd_problem *p, const gram_sgd_result *result,
                               double *values)
{
    enum { CHUNK = 2048 };
    gram_status status = GRAM_OK;
    const int64_t m = p->m, size = p->map ? gram_features_get_report(p->map)->dimension : 0;
    double *z = NULL;
    if (!p->map) {
        TRY(kernel_values(context, p, result->a, values));
    } else {
        TRY(gram_take(context, "features", CHUNK * size, sizeof *z, (void **)&z));
        for (int64_t first = 0; first < p->n; first += CHUNK) {
            const int64_t rows = p->n - first < CHUNK ? p->n - first : CHUNK;
            TRY(gram_features_transform(context, p->map, rows, p->x->f64 + first * p->x->ld, p->x->ld, z, size));
            const int blas = gram_blas_enter();
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)m, (int)size, 1, z, (int)size,
                        result->a, (int)m, 0, values + first * m, (int)m);
            gram_blas_leave(blas);
        }
    }
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t k = 0; k < m; k++) values[i * m + k] += result->b[k];
done:
    gram_give(context, z);
    return status;
}

/* |f|^2 = a'(f(X)) of the kernel, |a|^2 of features; the gradient (1/n) sum w l' k(x_i, .) + 2 lambda f by its coefficients r, r'K r. */
static gram_status find_norms(gram_context *context, const gram_sgd_problem *p, const gram_sgd_result *result,
                              const double *values, double rows, int bound, gram_sgd_state *state)
{
    gram_status status = GRAM_OK;
    const int64_t m = p->m;
    double *r = NULL, *kr = NULL, slopes[1024], square = 0, norm = 0;
    state->gap = NAN;
    for (int64_t i = 0; i < p->n && !p->map; i++)
        for (int64_t k = 0; k < m; k++) norm += result->a[i * m + k] * (values[i * m + k] - result->b[k]);
    for (int64_t i = 0; p->map && i < gram_features_get_report(p->map)->dimension * m; i++)
        norm += result->a[i] * result->a[i];
    state->norm = sqrt(fmax(norm, 0));
    if (!bound || p->map || !(p->lambda > 0) || m > 1024) return status;
    TRY(gram_take(context, "gradient", p->n * m, sizeof *r, (void **)&r));
    TRY(gram_take(context, "gradient", p->n * m, sizeof *kr, (void **)&kr));
    for (int64_t i = 0; i < p->n; i++) {
        const double weight = p->weights ? p->weights[i] : 1;
        (void)gram_sgd_loss_at(p, p->y[i], values + i * m, slopes);
        for (int64_t k = 0; k < m; k++) r[i * m + k] = weight * slopes[k] / rows + 2 * p->lambda * result->a[i * m + k];
    }
    TRY(gram_matrix_product(context, p->kernel, p->x, NULL, m, r, m, kr, m));
    for (int64_t i = 0; i < p->n * m; i++) square += r[i] * kr[i];
    state->gap = fmax(square, 0) / (4 * p->lambda);
done:
    gram_give(context, r);
    gram_give(context, kr);
    return status;
}

gram_status gram_sgd_measure(gram_context *context, const gram_sgd_problem *p, const gram_sgd_result *result, int bound,
                             double *values, gram_sgd_state *state)
{
    gram_status status = GRAM_OK;
    double slopes[1024], rows = 0;
    TRY(find_values(context, p, result, values));
    state->loss = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const double weight = p->weights ? p->weights[i] : 1;
        rows += weight > 0;
        state->loss += weight * gram_sgd_loss_at(p, p->y[i], values + i * p->m, slopes);
    }
    state->loss /= rows;
    TRY(find_norms(context, p, result, values, rows, bound, state));
    state->objective = state->loss + p->lambda * state->norm * state->norm;
done:
    return status;
}
