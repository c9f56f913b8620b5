/* Leverages of rows: w_i (|R^-1 phi~_i|^2 + t_i'(T'W T)^-1 t_i), phi~ = L^-1 (k_P - ...) of landmarks, by one triangular solve with U = L R
 * for each row.
 *
 * Where rows are many, most leverages are small (they add up to at most p), and what is wanted of them is 1 - h: rough estimates will do.
 * With k columns B of independent normal numbers, |R^-1 phi|^2 is the mean of k squares of B'R^-1 phi, to sqrt(2/k) of itself (Johnson and
 * Lindenstrauss 1984; for leverages Drineas et al. 2012): n p k operations. Rows whose estimate is above HIGH are then made exactly.
 *
 * For landmarks that is a product of K(X, P) with k columns, which f32 makes in half the time; how well depends on the kernel, the data and U, so that
 * some rows are made in both first, and f64 is taken where they are not near enough. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/matrix.h>
#include <gram/random.h>

#include "base/ranks/collective.h"
#include "base/sweep.h"
#include "features/feature_ridge.h"
#include "points/points.h"
#include "solve/small_system.h"

enum { BLOCK = 256, PROJECTIONS = 64, ROWS_FOR_EACH = 20, SLICE = 1 << 14, TRIED = 256 };

static const double HIGH = 0.05;  /* estimates above it are not good enough */
static const double NEAR = 0.002; /* leverages in f32 and f64: nearer than estimates are to what they estimate */
static const double MUCH = 1e10;  /* operations: below, all are exact */
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

/* ---- by products with K ---- */

typedef struct projection {
    const gram_feature_ridge *r;
    const double *directions;
    gram_points *landmarks; /* in the precision of the product */
    double *beside;         /* q x PROJECTIONS: what T takes off */
    double *room;           /* SLICE x PROJECTIONS */
    float *narrow;          /* SLICE x d; NULL: in f64 */
} projection;

static gram_status give_points(gram_context *context, const gram_points *x, int64_t first, int64_t rows, float *narrow,
                               gram_points **points)
{
    if (!narrow) return gram_points_part(context, x, first, rows, points);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t l = 0; l < x->d; l++) narrow[i * x->d + l] = (float)x->f64[(first + i) * x->ld + l];
    return gram_points_create_f32(context, rows, x->d, narrow, x->d, points);
}

/* Leverages of rows `first` on of the points; which: their numbers in the problem, NULL: the same. */
static gram_status project_slice(gram_context *context, const projection *j, const gram_points *x, int64_t first,
                                 int64_t rows, const int64_t *which, double *leverage)
{
    gram_status status = GRAM_OK;
    const gram_feature_ridge *r = j->r;
    gram_points *some = NULL;
    double *work = NULL;
    TRY(gram_take(context, "leave-one-out", 2 * r->q + 1, sizeof *work, (void **)&work));
    TRY(give_points(context, x, first, rows, j->narrow, &some));
    TRY(gram_matrix_product(context, r->map->kernel, some, j->landmarks, PROJECTIONS, j->directions, PROJECTIONS,
                            j->room, PROJECTIONS));
    for (int64_t k = 0; k < rows; k++) {
        const int64_t i = which ? which[first + k] : first + k;
        const double *t = r->problem->t + i * r->q, *row = j->room + k * PROJECTIONS;
        double squares = 0;
        for (int c = 0; c < PROJECTIONS; c++) {
            double value = row[c];
            for (int64_t o = 0; o < r->q; o++) value -= t[o] * j->beside[o * PROJECTIONS + c];
            squares += value * value;
        }
        leverage[first + k] = gram_problem_weight(r->problem, i) * (squares + gram_ridge_constants(r, i, work));
    }
done:
    gram_points_release(some);
    gram_give(context, work);
    return status;
}

static gram_status project(gram_context *context, const leverages *s, int single, const gram_points *x,
                           const int64_t *which, double *leverage)
{
    gram_status status = GRAM_OK;
    const gram_points *own = s->r->map->own;
    const int64_t p = s->r->p, q = s->r->q, d = own->d;
    projection j = {.r = s->r, .directions = s->directions};
    float *narrow = NULL;
    TRY(gram_take(context, "leave-one-out", (SLICE + q) * PROJECTIONS, sizeof *j.room, (void **)&j.room));
    j.beside = j.room + SLICE * PROJECTIONS;
    if (single) {
        TRY(gram_take(context, "leave-one-out", (SLICE + p) * d, sizeof *narrow, (void **)&narrow));
        j.narrow = narrow;
    }
    TRY(give_points(context, own, 0, p, single ? narrow + SLICE * d : NULL, &j.landmarks));
    const int blas = gram_blas_enter();
    if (q > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)q, PROJECTIONS, (int)p, 1, s->shared, (int)p,
                    s->directions, PROJECTIONS, 0, j.beside, PROJECTIONS);
    gram_blas_leave(blas);
    for (int64_t first = 0; first < x->n; first += SLICE)
        TRY(project_slice(context, &j, x, first, least(SLICE, x->n - first), which, leverage));
done:
    gram_points_release(j.landmarks);
    gram_give(context, narrow);
    gram_give(context, j.room);
    return status;
}

/* Does f32 say the same of rows here and there? */
static gram_status try_f32(gram_context *context, const leverages *s, int *well)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->r->problem->n, tried = least(TRIED, n);
    int64_t *which = NULL;
    double *values = NULL;
    gram_points *some = NULL;
    TRY(gram_take(context, "leave-one-out", tried, sizeof *which, (void **)&which));
    TRY(gram_take(context, "leave-one-out", 2 * tried, sizeof *values, (void **)&values));
    for (int64_t k = 0; k < tried; k++) which[k] = k * n / tried;
    TRY(gram_points_gather(context, s->r->problem->x, tried, which, &some));
    for (int single = 0; single < 2; single++) TRY(project(context, s, single, some, which, values + single * tried));
    *well = 1;
    for (int64_t k = 0; k < tried; k++)
        if (!(fabs(values[k] - values[tried + k]) <= NEAR)) *well = 0;
done:
    gram_points_release(some);
    gram_give(context, values);
    gram_give(context, which);
    return status;
}

/* ---- all ---- */

/* By U^-T B in s->directions. */
static gram_status estimate_all(gram_context *context, leverages *s, double *leverage)
{
    gram_status status = GRAM_OK;
    int single = 0;
    if (!gram_feature_factor(s->r->map)) return run(context, s, s->r->problem->x, leverage);
    TRY(try_f32(context, s, &single));
    TRY(project(context, s, single, s->r->problem->x, NULL, leverage));
done:
    return status;
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
    TRY(estimate_all(context, s, leverage));
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
