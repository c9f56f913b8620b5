/* Choosing rows, and the two small factors. */
#include "solve/cholesky/reduced_matrix.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "base/lapack.h"
#include "base/sweep.h"
#include "kernel/kernel.h"
#include "points/points.h"
#include "solve/cholesky/cholesky.h"
#include "solve/pivoted_cholesky.h"

static const double BARRED = 1e150;  /* x/BARRED is nothing, and its square a number */
static const double NOTHING = 1e-20; /* of the least noise: that of rows without any, among rows with some */
static const double FLOOR =
    1e-15; /* of the mean diagonal: pivots below are rounding errors; more of it if it must be */
static const double ROUNDING = 64 * DBL_EPSILON;
static const double MOST_FLOOR = 1e-9, MOST_JITTER = 1e-8;

/* ---- the chosen rows ---- */

static int same_row(const gram_points *x, int64_t i, int64_t j)
{
    for (int64_t l = 0; l < x->d; l++)
        if (gram_points_cell(x, i, l) != gram_points_cell(x, j, l)) return 0;
    return 1;
}

/* The first row with the coordinates of each; their number. Rows are compared with distinct ones only. */
static int64_t find_first(const gram_points *x, int64_t *first, int64_t *distinct)
{
    int64_t count = 0;
    for (int64_t i = 0; i < x->n; i++) {
        int64_t j = 0;
        while (j < count && !same_row(x, i, distinct[j])) j++;
        if (j == count) distinct[count++] = i;
        first[i] = j;
    }
    return count;
}

/* Two rows are two observations to white, whatever their coordinates. */
static int has_white(const gram_kernel *kernel)
{
    if (kernel->node == GRAM_NODE_LEAF) return kernel->type->form == GRAM_FORM_SAME;
    for (int i = 0; i < kernel->child_count; i++)
        if (has_white(kernel->children[i])) return 1;
    return 0;
}

gram_status gram_reduced_repeated(gram_context *context, const gram_kernel *kernel, const gram_points *x, int *repeated)
{
    gram_status status = GRAM_OK;
    int64_t *first = NULL;
    *repeated = 0;
    if (has_white(kernel)) return GRAM_OK;
    TRY(gram_take(context, "repeated rows", 2 * x->n, sizeof *first, (void **)&first));
    *repeated = find_first(x, first, first + x->n) < x->n;
done:
    gram_give(context, first);
    return status;
}

static gram_status choose_distinct(gram_context *context, const gram_points *x, gram_reduced *r)
{
    gram_status status = GRAM_OK;
    int64_t *first = NULL;
    TRY(gram_take(context, "repeated rows", x->n, sizeof *first, (void **)&first));
    TRY(gram_take(context, "repeated rows", x->n, sizeof *r->row, (void **)&r->row));
    r->rank = find_first(x, first, r->row);
    TRY(gram_take(context, "repeated rows", x->n * r->rank, sizeof *r->c, (void **)&r->c));
    memset(r->c, 0, (size_t)(x->n * r->rank) * sizeof *r->c);
    for (int64_t i = 0; i < x->n; i++) r->c[i * r->rank + first[i]] = 1;
done:
    gram_give(context, first);
    return status;
}

/* Pivots come in the order in which they were taken: out[k] is the place of the k-th smallest. */
static void order_pivots(const gram_pivoted *p, int64_t *out)
{
    for (int64_t k = 0; k < p->rank; k++) {
        int64_t at = k;
        for (; at > 0 && p->pivot[out[at - 1]] > p->pivot[k]; at--) out[at] = out[at - 1];
        out[at] = k;
    }
}

/* C = F F_c^-1, F_c the triangle of the pivots' rows. */
static gram_status take_pivots(gram_context *context, const gram_pivoted *p, gram_reduced *r)
{
    gram_status status = GRAM_OK;
    const int64_t n = p->n, rank = p->rank, room = p->room;
    double *triangle = NULL;
    int64_t *order = NULL;
    r->rank = rank;
    TRY(gram_take(context, "pivots", rank, sizeof *r->row, (void **)&r->row));
    TRY(gram_take(context, "pivots", n * rank, sizeof *r->c, (void **)&r->c));
    TRY(gram_take(context, "pivots", rank, sizeof *order, (void **)&order));
    TRY(gram_take(context, "pivots", rank * rank, sizeof *triangle, (void **)&triangle));
    for (int64_t k = 0; k < rank; k++)
        memcpy(triangle + k * rank, p->f + p->pivot[k] * room, (size_t)rank * sizeof *triangle);
    const int blas = gram_blas_enter();
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, (int)rank, 1, triangle,
                (int)rank, p->f, (int)room);
    gram_blas_leave(blas);
    order_pivots(p, order);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < rank; k++) r->c[i * rank + k] = p->f[i * room + order[k]];
    for (int64_t k = 0; k < rank; k++) {
        r->row[k] = p->pivot[order[k]];
        for (int64_t j = 0; j < rank; j++) r->c[r->row[k] * rank + j] = j == k;
    }
done:
    gram_give(context, order);
    gram_give(context, triangle);
    return status;
}

/* Rows of the points in f64: K is always made in double precision, as that of a Cholesky factor is. */
static gram_status gather(gram_context *context, const gram_points *x, int64_t count, const int64_t *row,
                          double **numbers, gram_points **points)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "reduced rows", count * x->d, sizeof **numbers, (void **)numbers));
    for (int64_t k = 0; k < count; k++)
        for (int64_t l = 0; l < x->d; l++) (*numbers)[k * x->d + l] = gram_points_cell(x, row ? row[k] : k, l);
    TRY(gram_points_create_like(context, x, count, *numbers, 0, points));
done:
    return status;
}

static gram_status choose_pivots(gram_context *context, const gram_kernel *kernel, const gram_points *x, double floor,
                                 gram_reduced *r)
{
    gram_status status = GRAM_OK;
    gram_pivoted p = {0};
    gram_points *wide = NULL;
    double *numbers = NULL;
    const gram_pivoted_options options = {.rule = &gram_pivot_largest,
                                          .room = x->n < GRAM_PIVOTED_MOST ? x->n : GRAM_PIVOTED_MOST,
                                          .block = 1,
                                          .floor = floor};
    if (x->f32) TRY(gather(context, x, x->n, NULL, &numbers, &wide));
    TRY(gram_pivoted_make(context, kernel, wide ? wide : x, &options, &p));
    FAIL_IF(p.rank < 1, context, GRAM_ERROR_NUMERICAL, "the kernel is 0 at all rows");
    TRY(take_pivots(context, &p, r));
done:
    gram_pivoted_free(context->memory, &p);
    gram_points_release(wide);
    gram_give(context, numbers);
    return status;
}

/* ---- the small factors ---- */

static int factor_lower(int64_t rank, double *a)
{
    const int size = (int)rank;
    int info = 0;
    const int blas = gram_blas_enter();
    dpotrf_("U", &size, a, &size, &info, 1); /* the row-major lower triangle */
    gram_blas_leave(blas);
    return info == 0;
}

static void set_shares(const double *shift, const double *weights, gram_reduced *r)
{
    double least = INFINITY;
    for (int64_t i = 0; i < r->n; i++)
        if (shift[i] > 0 && shift[i] < least) least = shift[i];
    r->limit = isinf(least);
    for (int64_t i = 0; i < r->n; i++) {
        const double own = weights ? 1 / weights[i] : 1;
        r->share[i] = r->limit ? own : shift[i] > 0 ? shift[i] : NOTHING * least * own;
    }
}

/* G = C'D^-1 C to `inner` and its factor; the lower triangle of G^-1 to `inverse`, unless it is NULL. */
static gram_status factor_inner(gram_context *context, gram_reduced *r, double *inverse)
{
    gram_status status = GRAM_OK;
    const int64_t n = r->n, rank = r->rank;
    const int size = (int)rank;
    double *scaled = NULL;
    int info = 0;
    TRY(gram_take(context, "reduced rows", rank * rank, sizeof *r->inner, (void **)&r->inner));
    TRY(gram_take(context, "reduced rows", n * rank, sizeof *scaled, (void **)&scaled));
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < rank; k++) scaled[i * rank + k] = r->c[i * rank + k] / sqrt(r->share[i]);
    const int blas = gram_blas_enter();
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, size, (int)n, 1, scaled, size, 0, r->inner, size);
    dpotrf_("U", &size, r->inner, &size, &info, 1);
    if (info == 0 && inverse) {
        memcpy(inverse, r->inner, (size_t)(rank * rank) * sizeof *inverse);
        dtrtri_("U", "N", &size, inverse, &size, &info, 1, 1);
        dlauum_("U", &size, inverse, &size, &info, 1);
    }
    gram_blas_leave(blas);
    FAIL_IF(info != 0, context, GRAM_ERROR_NUMERICAL, "the noise of rows differs too much for working precision");
done:
    gram_give(context, scaled);
    return status;
}

static gram_status chosen_matrix(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                 gram_reduced *r, double *out)
{
    gram_status status = GRAM_OK;
    gram_points *points = NULL;
    double *numbers = NULL;
    TRY(gather(context, x, r->rank, r->row, &numbers, &points));
    TRY(gram_matrix(context, kernel, points, NULL, out, r->rank));
done:
    gram_points_release(points);
    gram_give(context, numbers);
    return status;
}

/* M, with the least jitter of powers of two that it needs, at most `most` of the mean diagonal. */
static gram_status factor_chosen(gram_context *context, const double *k, const double *inverse, double most,
                                 gram_reduced *r)
{
    gram_status status = GRAM_OK;
    const int64_t rank = r->rank;
    double mean = 0;
    for (int64_t i = 0; i < rank; i++) mean += k[i * rank + i] / (double)rank;
    for (r->jitter = 0;; r->jitter = r->jitter == 0 ? DBL_EPSILON * mean : 2 * r->jitter) {
        FAIL_IF(r->jitter > most * mean, context, GRAM_ERROR_NUMERICAL,
                "not positive definite to working precision, also over %lld of the rows", (long long)rank);
        for (int64_t i = 0; i < rank; i++)
            for (int64_t j = 0; j <= i; j++)
                r->factor[i * rank + j] = k[i * rank + j] + (r->limit ? 0 : inverse[i * rank + j]);
        for (int64_t i = 0; i < rank; i++) r->factor[i * (rank + 1)] += r->jitter;
        if (factor_lower(rank, r->factor)) break;
    }
done:
    return status;
}

static gram_status factor(gram_context *context, const gram_kernel *kernel, const gram_points *x, double most_jitter,
                          gram_reduced *r)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = r->rank * r->rank;
    double *work = NULL;
    FAIL_IF(r->rank > INT32_MAX || r->n > INT32_MAX, context, GRAM_ERROR_OVERFLOW, "%lld rows are too many to reduce",
            (long long)r->n);
    TRY(gram_take(context, "reduced rows", numbers, sizeof(double), (void **)&r->factor));
    TRY(gram_take(context, "reduced rows", 2 * numbers, sizeof(double), (void **)&work));
    TRY(factor_inner(context, r, work));
    TRY(chosen_matrix(context, kernel, x, r, work + numbers));
    TRY(factor_chosen(context, work + numbers, work, most_jitter, r));
done:
    gram_give(context, work);
    return status;
}

/* ---- the whole ---- */

static gram_status make_once(gram_context *context, gram_reduction way, double floor, const gram_kernel *kernel,
                             const gram_points *x, const double *shift, const double *weights, gram_reduced *r)
{
    gram_status status = GRAM_OK;
    *r = (gram_reduced){.n = x->n};
    TRY(gram_take(context, "reduced rows", r->n, sizeof(double), (void **)&r->share));
    set_shares(shift, weights, r);
    TRY(way == GRAM_REDUCE_DISTINCT ? choose_distinct(context, x, r) : choose_pivots(context, kernel, x, floor, r));
    TRY(factor(context, kernel, x, way == GRAM_REDUCE_DISTINCT ? MOST_JITTER : 0, r));
done:
    return status;
}

gram_status gram_reduced_make(gram_context *context, gram_reduction way, const gram_kernel *kernel,
                              const gram_points *x, const double *shift, const double *weights, gram_reduced *r)
{
    gram_status status = make_once(context, way, FLOOR, kernel, x, shift, weights, r);
    /* pivots in another order than theirs may need to be a little larger */
    for (double floor = 4 * FLOOR; status == GRAM_ERROR_NUMERICAL && way == GRAM_REDUCE_PIVOTED && floor < MOST_FLOOR;
         floor *= 4) {
        gram_reduced_free(context->memory, r);
        status = make_once(context, way, floor, kernel, x, shift, weights, r);
    }
    return status;
}

gram_status gram_reduced_choose(gram_context *context, const gram_points *x, const double *shift, const double *weights,
                                gram_reduced *r)
{
    gram_status status = GRAM_OK;
    *r = (gram_reduced){.n = x->n};
    TRY(gram_take(context, "reduced rows", r->n, sizeof(double), (void **)&r->share));
    set_shares(shift, weights, r);
    TRY(choose_distinct(context, x, r));
    TRY(factor_inner(context, r, NULL));
done:
    return status;
}

void gram_reduced_free(gram_memory *memory, gram_reduced *r)
{
    gram_memory_give(memory, r->row);
    gram_memory_give(memory, r->c);
    gram_memory_give(memory, r->share);
    gram_memory_give(memory, r->inner);
    gram_memory_give(memory, r->factor);
    *r = (gram_reduced){0};
}

double gram_target_size(int64_t n, const double *y, int64_t stride, int centred)
{
    double mean = 0, all = 0, about = 0;
    for (int64_t i = 0; i < n; i++) mean += y[i * stride] / (double)n;
    for (int64_t i = 0; i < n; i++) {
        const double value = y[i * stride], away = value - (centred ? mean : 0);
        all += value * value;
        about += away * away;
    }
    return fmax(sqrt(about), 1e-10 * sqrt(all));
}

/* ---- what is made with it ---- */

/* v = (L L')^-1 v */
static void solve_lower(int64_t rank, const double *lower, int64_t columns, double *v)
{
    const int blas = gram_blas_enter();
    for (int transposed = 0; transposed < 2; transposed++)
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit,
                    (int)rank, (int)columns, 1, lower, (int)rank, v, (int)columns);
    gram_blas_leave(blas);
}

gram_status gram_reduced_split(gram_context *context, const gram_reduced *r, int64_t columns, double *b, double *u)
{
    gram_status status = GRAM_OK;
    const int n = (int)r->n, rank = (int)r->rank, count = (int)columns;
    double *scaled = NULL;
    TRY(gram_take(context, "reduced rows", r->n * columns, sizeof *scaled, (void **)&scaled));
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t j = 0; j < columns; j++) scaled[i * columns + j] = b[i * columns + j] / r->share[i];
    const int blas = gram_blas_enter();
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rank, count, n, 1, r->c, rank, scaled, count, 0, u, count);
    solve_lower(r->rank, r->inner, columns, u);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, count, rank, -1, r->c, rank, u, count, 1, b, count);
    gram_blas_leave(blas);
done:
    gram_give(context, scaled);
    return status;
}

void gram_reduced_solve(const gram_reduced *r, int64_t columns, double *v)
{
    solve_lower(r->rank, r->factor, columns, v);
}

void gram_reduced_add_noise(const gram_reduced *r, double *v, double *out)
{
    if (r->limit) return;
    solve_lower(r->rank, r->inner, 1, v);
    const int blas = gram_blas_enter();
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)r->n, (int)r->rank, 1, r->c, (int)r->rank, v, 1, 1, out, 1);
    gram_blas_leave(blas);
}

double gram_reduced_log_determinant(const gram_reduced *r)
{
    double sum = 0, least = INFINITY, most = 0;
    for (int64_t i = 0; i < r->rank; i++) {
        const double root = r->factor[i * (r->rank + 1)];
        least = fmin(least, root * root);
        most = fmax(most, root * root);
    }
    if (r->limit || r->jitter > 0 || !gram_pivots_hold(r->rank, least, most)) return NAN;
    for (int64_t i = 0; i < r->n; i++) sum += log(r->share[i]);
    for (int64_t i = 0; i < r->rank; i++)
        sum += 2 * log(r->inner[i * (r->rank + 1)]) + 2 * log(r->factor[i * (r->rank + 1)]);
    return sum;
}

gram_status gram_reduced_leave(gram_context *context, const gram_reduced *r, double *e, double *within, double *b)
{
    gram_status status = GRAM_OK;
    const int n = (int)r->n, rank = (int)r->rank;
    double *work = NULL;
    TRY(gram_take(context, "reduced rows", r->n * r->rank, sizeof *work, (void **)&work));
    memcpy(b, r->c, (size_t)(r->n * r->rank) * sizeof *b);
    const int blas = gram_blas_enter();
    for (int transposed = 1; transposed >= 0; transposed--) /* rows of C (L L')^-1 */
        cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit, n,
                    rank, 1, r->inner, rank, b, rank);
    for (int64_t i = 0; i < r->n; i++) {
        const double left = 1 - cblas_ddot(rank, b + i * rank, 1, r->c + i * rank, 1) / r->share[i];
        e[i] = left > ROUNDING ? left : 0;
        cblas_dscal(rank, 1 / r->share[i], b + i * rank, 1);
    }
    memcpy(work, b, (size_t)(r->n * r->rank) * sizeof *work);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, n, rank, 1, r->factor, rank, work,
                rank);
    for (int64_t i = 0; i < r->n; i++) within[i] = cblas_ddot(rank, work + i * rank, 1, work + i * rank, 1);
    gram_blas_leave(blas);
done:
    gram_give(context, work);
    return status;
}

gram_status gram_reduced_embed(gram_context *context, const gram_reduced *r, gram_cholesky **factor)
{
    gram_status status = GRAM_OK;
    const int64_t count = r->n * (r->n + 1) / 2;
    double *packed = NULL;
    TRY(gram_take(context, "the factor", count, sizeof *packed, (void **)&packed));
    memset(packed, 0, (size_t)count * sizeof *packed);
    for (int64_t i = 0, k = 0; i < r->n; i++) {
        double *row = packed + i * (i + 1) / 2;
        if (k == r->rank || r->row[k] != i) {
            row[i] = BARRED;
            continue;
        }
        for (int64_t j = 0; j <= k; j++) row[r->row[j]] = r->factor[k * r->rank + j];
        k++;
    }
    TRY(gram_cholesky_unpack(context, "the factor", r->n, packed, factor));
done:
    gram_give(context, packed);
    return status;
}
