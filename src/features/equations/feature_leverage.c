/* Leverages of rows: w_i (|R^-1 phi~_i|^2 + t_i'(T'W T)^-1 t_i), phi~ = L^-1 (k_P - ...) of landmarks, by one triangular solve with U = L R
 * for each row.
 *
 * Where rows are many, most leverages are small (they add up to at most p), and what is wanted of them is 1 - h: rough estimates will do.
 * With k columns B of independent normal numbers, |R^-1 phi|^2 is the mean of k squares of B'R^-1 phi, to sqrt(2/k) of itself (Johnson and
 * Lindenstrauss 1984; for leverages Drineas et al. 2012): n p k operations. Rows whose estimate is above HIGH are then made exactly. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "base/ranks/collective.h"
#include "base/sweep.h"
#include "features/feature_ridge.h"
#include "points/points.h"
#include "solve/small_system.h"

enum { BLOCK = 256, PROJECTIONS = 64, ROWS_FOR_EACH = 20 };

static const double HIGH = 0.05; /* estimates above it are not good enough */
static const double MUCH = 1e10; /* operations: below, all are exact */
static const uint64_t STREAM = 0x6c65766572616765U;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

gram_status gram_ridge_shared(gram_context *context, const gram_feature_ridge *r, double **shared)
{
    gram_status status = GRAM_OK;
    const int64_t p = r->p, m = r->m;
    const double *l = gram_feature_factor(r->map);
    TRY(gram_take(context, "features", (r->q > 0 ? r->q : 1) * p, sizeof **shared, (void **)shared));
    for (int64_t j = 0; j < r->q; j++) memcpy(*shared + j * p, r->shared + j * (p + m), (size_t)p * sizeof **shared);
    if (!l || r->q == 0) goto done;
    const int blas = gram_blas_enter();
    cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)r->q, (int)p, 1, l, (int)p,
                *shared, (int)p);
    gram_blas_leave(blas);
done:
    return status;
}

void gram_ridge_take_off(const gram_feature_ridge *r, const double *shared, const double *t, int64_t rows, double *x,
                         int64_t ld)
{
    if (r->q > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)r->p, (int)r->q, -1, t, (int)r->q,
                    shared, (int)r->p, 1, x, (int)ld);
}

/* The work behind `small` is not for several threads. */
double gram_ridge_constants(const gram_feature_ridge *r, int64_t i, double *work)
{
    const double *t = r->problem->t + i * r->q;
    return r->q > 0 ? gram_small_form(r->q, r->small, t, t, work) : 0;
}

typedef struct leverages {
    const gram_feature_ridge *r;
    const double *shared, *u; /* u: L R, or R */
    const double *directions; /* p x PROJECTIONS: U^-T B/sqrt(PROJECTIONS); NULL: exactly */
    const int64_t *which;     /* the rows of the points; NULL: all */
    int64_t n;                /* how many there are */
    int64_t first, rows, ld;
    double *features, *out; /* out: one for each of these rows */
} leverages;

/* |R^-1 phi~|^2 of rows [from, from + rows) of a chunk, into `out`; `room`: rows x PROJECTIONS. */
static void square_rows(const leverages *s, int64_t rows, double *x, double *room, double *out)
{
    const int p = (int)s->r->p, ld = (int)s->ld;
    if (s->directions)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, PROJECTIONS, p, 1, x, ld, s->directions,
                    PROJECTIONS, 0, room, PROJECTIONS);
    else
        cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)rows, p, 1, s->u, p, x, ld);
    const double *turned = s->directions ? room : x;
    const int width = s->directions ? PROJECTIONS : p, stride = s->directions ? PROJECTIONS : ld;
    for (int64_t k = 0; k < rows; k++) out[k] = cblas_ddot(width, turned + k * stride, 1, turned + k * stride, 1);
}

static gram_status leverage_task(void *argument, const gram_worker *worker)
{
    const leverages *s = argument;
    const gram_feature_ridge *r = s->r;
    const int64_t from = worker->task * BLOCK, rows = least(BLOCK, s->rows - from), at = s->first + from;
    double *x = s->features + from * s->ld, *squares = worker->scratch, *work = squares + BLOCK,
           *t = work + 2 * r->q + 1, *room = t + BLOCK * r->q;
    for (int64_t k = 0; k < rows && r->q > 0; k++)
        memcpy(t + k * r->q, r->problem->t + (s->which ? s->which[at + k] : at + k) * r->q, (size_t)r->q * sizeof *t);
    gram_ridge_take_off(r, s->shared, t, rows, x, s->ld);
    square_rows(s, rows, x, room, squares);
    for (int64_t k = 0; k < rows; k++) {
        const int64_t i = s->which ? s->which[at + k] : at + k;
        s->out[at + k] = gram_problem_weight(r->problem, i) * (squares[k] + gram_ridge_constants(r, i, work));
    }
    return GRAM_OK;
}

static gram_status leverage_chunk(gram_context *context, void *argument, int64_t first, int64_t rows, double *features,
                                  int64_t ld)
{
    leverages *s = argument;
    const int64_t room = s->directions ? BLOCK * PROJECTIONS : 0;
    s->first = first, s->rows = rows, s->ld = ld, s->features = features;
    const gram_sweep sweep = {.what = "leave-one-out",
                              .tasks = (rows + BLOCK - 1) / BLOCK,
                              .scratch_bytes = (size_t)(BLOCK + (BLOCK + 2) * s->r->q + 1 + room) * sizeof(double),
                              .run = leverage_task,
                              .argument = s,
                              .share_before = (double)first / (double)s->n,
                              .share_after = (double)(first + rows) / (double)s->n};
    return gram_sweep_run(context, &sweep);
}

/* Those of the points, to `out`: each rank has some of them, where there are several. */
static gram_status run(gram_context *context, leverages *s, const gram_points *x, double *out)
{
    gram_status status = GRAM_OK;
    const gram_features *map = s->r->map;
    s->n = x->n;
    s->out = out;
    memset(out, 0, (size_t)x->n * sizeof *out);
    TRY(gram_feature_chunks(context, map, x, gram_feature_factor(map) != NULL, s->r->p, leverage_chunk, s));
    if (gram_ranks_share(context, x->n)) TRY(gram_ranks_sum(context, "leave-one-out", x->n, out));
done:
    return status;
}

/* U^-T B/sqrt(PROJECTIONS) */
static void draw_directions(int64_t p, const double *u, double *directions)
{
    gram_random_normal((gram_random){1, STREAM}, 0, p * PROJECTIONS, directions);
    const int blas = gram_blas_enter();
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (int)p, PROJECTIONS,
                1 / sqrt(PROJECTIONS), u, (int)p, directions, PROJECTIONS);
    gram_blas_leave(blas);
}

/* Estimates, then rows above HIGH once more. */
static gram_status estimate(gram_context *context, leverages *s, double *leverage, int64_t *estimated)
{
    gram_status status = GRAM_OK;
    const int64_t p = s->r->p, n = s->r->problem->n;
    double *directions = NULL, *exact = NULL;
    int64_t *which = NULL, count = 0;
    gram_points *some = NULL;
    TRY(gram_take(context, "leave-one-out", p * PROJECTIONS, sizeof *directions, (void **)&directions));
    TRY(gram_take(context, "leave-one-out", n, sizeof *which, (void **)&which));
    draw_directions(p, s->u, directions);
    s->directions = directions;
    TRY(run(context, s, s->r->problem->x, leverage));
    s->directions = NULL;
    for (int64_t i = 0; i < n; i++)
        if (!(leverage[i] <= HIGH)) which[count++] = i;
    *estimated = n - count;
    if (count == 0) goto done;
    TRY(gram_take(context, "leave-one-out", count, sizeof *exact, (void **)&exact));
    TRY(gram_points_gather(context, s->r->problem->x, count, which, &some));
    s->which = which;
    TRY(run(context, s, some, exact));
    for (int64_t k = 0; k < count; k++) leverage[which[k]] = exact[k];
done:
    gram_points_release(some);
    gram_give(context, exact);
    gram_give(context, which);
    gram_give(context, directions);
    return status;
}

gram_status gram_feature_ridge_leverage(gram_context *context, const gram_feature_ridge *r, int exact, double *leverage,
                                        int64_t *estimated)
{
    gram_status status = GRAM_OK;
    const double *l = gram_feature_factor(r->map), work = (double)r->problem->n * (double)r->p * (double)r->p;
    const int64_t p = r->p;
    int64_t count = 0;
    double *shared = NULL, *u = NULL;
    TRY(gram_ridge_shared(context, r, &shared));
    TRY(gram_take(context, "features", p * p, sizeof *u, (void **)&u));
    memcpy(u, r->factor, (size_t)(p * p) * sizeof *u);
    const int blas = gram_blas_enter();
    if (l)
        cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)p, (int)p, 1, l, (int)p, u,
                    (int)p);
    gram_blas_leave(blas);
    leverages s = {.r = r, .shared = shared, .u = u};
    if (exact || work < MUCH || r->problem->n < ROWS_FOR_EACH * p)
        TRY(run(context, &s, r->problem->x, leverage));
    else
        TRY(estimate(context, &s, leverage, &count));
    if (estimated) *estimated = count;
done:
    gram_give(context, u);
    gram_give(context, shared);
    return status;
}
