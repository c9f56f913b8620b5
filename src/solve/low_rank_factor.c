/* Pivoted Cholesky: column by column, A_k = (K_p - sum_(l<k) A_l A_pl)/sqrt(r_p) for the pivot p with the largest remaining diagonal r.
 * The remainder K - A A' stays positive semi-definite, so its trace bounds every entry (Harbrecht, Peters and Schneider, Appl. Numer.
 * Math. 62, 2012). Smooth kernels have fast falling eigenvalues, and a few dozen columns take them to rounding. */
#include "solve/low_rank_factor.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/sweep.h"
#include "points/points.h"

/* Column k of A from column `pivot` of K, which is in `column`; the remaining diagonal is brought up to date. */
static void add_column(gram_factor *f, int64_t k, int64_t pivot, double *column, double *rest)
{
    const double root = sqrt(rest[pivot]);
    if (k > 0)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)f->n, (int)k, -1, f->a, (int)f->room, f->a + pivot * f->room, 1,
                    1, column, 1);
    for (int64_t i = 0; i < f->n; i++) {
        const double value = column[i] / root;
        f->a[i * f->room + k] = value;
        rest[i] = fmax(rest[i] - value * value, 0);
    }
    rest[pivot] = 0;
}

static int64_t largest(int64_t n, const double *rest, double *sum)
{
    int64_t at = 0;
    *sum = 0;
    for (int64_t i = 0; i < n; i++) {
        *sum += rest[i];
        if (rest[i] > rest[at]) at = i;
    }
    return at;
}

gram_status gram_factor_create(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                               int64_t room, double tolerance, gram_factor *factor)
{
    gram_status status = GRAM_OK;
    double *column = NULL, *rest = NULL, trace, left;
    const int64_t n = points->n;
    memset(factor, 0, sizeof *factor);
    factor->n = n;
    factor->room = room < n ? room : n;
    TRY(gram_take(context, "factor", n * factor->room, sizeof(double), (void **)&factor->a));
    TRY(gram_take(context, "factor: a column", n, sizeof(double), (void **)&column));
    TRY(gram_take(context, "factor: the diagonal", n, sizeof(double), (void **)&rest));
    TRY(gram_matrix_diagonal(context, kernel, points, rest));
    int64_t pivot = largest(n, rest, &trace), rank = 0;
    for (left = trace; rank < factor->room && left > tolerance * trace && rest[pivot] > 0; rank++) {
        TRY(gram_matrix_columns(context, kernel, points, 1, &pivot, column, 1));
        gram_blas_enter();
        add_column(factor, rank, pivot, column, rest);
        gram_blas_leave();
        pivot = largest(n, rest, &left);
    }
    factor->rank = left <= tolerance * trace ? rank : 0;
done:
    gram_give(context, column);
    gram_give(context, rest);
    return status;
}

void gram_factor_destroy(gram_context *context, gram_factor *factor)
{
    gram_give(context, factor->a);
    memset(factor, 0, sizeof *factor);
}

void gram_factor_centre(gram_factor *factor)
{
    for (int64_t k = 0; k < factor->rank; k++) {
        double mean = 0;
        for (int64_t i = 0; i < factor->n; i++) mean += factor->a[i * factor->room + k];
        mean /= (double)factor->n;
        for (int64_t i = 0; i < factor->n; i++) factor->a[i * factor->room + k] -= mean;
    }
}
