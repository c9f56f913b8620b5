/* Rows that certificates are made of, drawn in proportion to what they may add.
 *
 * |a_i (E a)_i| <= |a_i| sqrt(E_ii) sqrt(a'E a): most comes from rows that the landmarks see badly, which are few, and a uniform sample would miss them.
 * E_ii for all landmarks takes n M^2 operations; what the first 100 of them leave of k(x, x), which is more, tells as well where to look. Rows are drawn with
 * replacement, nine of ten in proportion to |a_i| sqrt of that, one of ten uniformly, and each counts by 1/probability: the mean is right whatever the
 * weights are. */
#include <cblas.h>
#include <math.h>

#include <gram/matrix.h>
#include <gram/random.h>

#include "base/lapack.h"
#include "base/sweep.h"
#include "features/feature_ridge.h"
#include "method/krr/krr_solution.h"
#include "points/points.h"

enum { FEW = 100, SLICE = 4096 };

static const uint64_t STREAM = 0x6365727469667921U;
static const double UNIFORM = 0.1;

/* What `few` leave of k(x, x) at rows first .. first + rows - 1; `room`: rows x count. */
static gram_status left_of(gram_context *context, const gram_problem *p, gram_points *few, const double *factor,
                           int64_t first, int64_t rows, double *room, double *left)
{
    gram_status status = GRAM_OK;
    const int64_t count = gram_points_count(few);
    gram_points *some = NULL;
    TRY(gram_points_part(context, p->x, first, rows, &some));
    TRY(gram_matrix(context, p->kernel, some, few, room, count));
    TRY(gram_triangle_rows(context, count, factor, rows, room, count));
    TRY(gram_matrix_diagonal(context, p->kernel, some, left));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < count; j++) left[i] -= room[i * count + j] * room[i * count + j];
done:
    gram_points_release(some);
    return status;
}

/* left[i] = k(x_i, x_i) less what the first landmarks see of it, about. */
static gram_status find_left(gram_context *context, const gram_problem *p, const gram_points *centres, double *left)
{
    gram_status status = GRAM_OK;
    const int64_t all = gram_points_count(centres), count = all < FEW ? all : FEW;
    const int size = (int)count;
    gram_points *few = NULL;
    double *factor = NULL, *room = NULL, most = 0;
    int info = 0;
    TRY(gram_points_part(context, centres, 0, count, &few));
    TRY(gram_take(context, "certificate", count * count, sizeof *factor, (void **)&factor));
    TRY(gram_take(context, "certificate", SLICE * count, sizeof *room, (void **)&room));
    TRY(gram_matrix(context, p->kernel, few, NULL, factor, count));
    for (int64_t j = 0; j < count; j++) most = fmax(most, factor[j * count + j]);
    for (int64_t j = 0; j < count; j++) factor[j * count + j] += 1e-8 * most;
    const int blas = gram_blas_enter();
    dpotrf_("U", &size, factor, &size, &info, 1); /* the row-major lower triangle */
    gram_blas_leave(blas);
    for (int64_t first = 0; first < p->n; first += SLICE) {
        const int64_t rows = p->n - first < SLICE ? p->n - first : SLICE;
        if (info == 0) TRY(left_of(context, p, few, factor, first, rows, room, left + first));
        for (int64_t i = 0; i < rows; i++)
            if (info != 0) left[first + i] = 1; /* uniform weights then */
    }
done:
    gram_points_release(few);
    gram_give(context, factor);
    gram_give(context, room);
    return status;
}

/* From weights to sums of probabilities. */
static void add_up(const gram_problem *p, const double *a, double *weight)
{
    double sum = 0, before = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double most = 0;
        for (int64_t o = 0; o < p->m; o++) most = fmax(most, fabs(a[i * p->m + o]));
        weight[i] = most * sqrt(fmax(weight[i], 0));
        sum += weight[i];
    }
    for (int64_t i = 0; i < p->n; i++) {
        const double share = sum > 0 ? UNIFORM / (double)p->n + (1 - UNIFORM) * weight[i] / sum : 1 / (double)p->n;
        weight[i] = before += share;
    }
}

gram_status gram_certificate_rows(gram_context *context, const gram_problem *p, const gram_points *centres,
                                  const double *a, int64_t rows, int64_t *which, double *probability)
{
    gram_status status = GRAM_OK;
    const int64_t n = p->n;
    double *sums = NULL;
    TRY(gram_take(context, "certificate", n, sizeof *sums, (void **)&sums));
    TRY(find_left(context, p, centres, sums));
    add_up(p, a, sums);
    gram_random_uniform((gram_random){context->seed, STREAM}, 0, rows, probability);
    for (int64_t k = 0; k < rows; k++) {
        const double at = probability[k] * sums[n - 1];
        int64_t low = 0, high = n - 1;
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (sums[middle] >= at)
                high = middle;
            else
                low = middle + 1;
        }
        which[k] = low;
        probability[k] = (sums[low] - (low > 0 ? sums[low - 1] : 0)) / sums[n - 1];
    }
done:
    gram_give(context, sums);
    return status;
}
