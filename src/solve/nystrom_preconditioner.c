/* A low-rank preconditioner: a partial Cholesky factor with drawn pivots (solve/pivoted_cholesky.h), and the formula of Sherman,
 * Morrison and Woodbury. With D = diag(shift) and E = D^-1/2 F, which is what is held,
 *
 *     M = F F' + D        M^-1 = D^-1/2 (I - E (I + E'E)^-1 E') D^-1/2        log |M| = log |D| + log |I + E'E|
 *
 * and D^1/2 (E g + h) ~ N(0, M) for standard normal g and h. Cost: rank columns of K, n rank^2 operations in all, 4 n rank
 * for an application. */
#include "solve/nystrom_preconditioner.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/lapack.h"
#include "base/ranks/collective.h"
#include "base/sweep.h"
#include "points/points.h"
#include "solve/pivoted_cholesky.h"

enum {
    CHUNK = 512,           /* rows of E in a task */
    WIDE = 192,            /* columns of E in a task that makes E'E */
    PARTS = 32,            /* parts at most in which sums over rows are made */
    MOST_POINTS = 1 << 30, /* BLAS counts in 32 bits */
    MOST_COLUMNS = 1 << 24
};

struct gram_nystrom {
    gram_memory *memory;
    gram_pivoted factor; /* its f became E */
    double *inner;       /* room x room, lower: the Cholesky factor of I + E'E */
    double *root;        /* n: sqrt(shift) */
    double log_determinant;
    int parted; /* each rank has some rows of E */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

size_t gram_nystrom_bytes(int64_t n, int64_t rank)
{
    if (n < 1 || n > MOST_POINTS || rank < 1 || rank > least(n, GRAM_PIVOTED_MOST)) return 0;
    return gram_pivoted_bytes(n, rank) + (size_t)(rank * rank + n) * sizeof(double);
}

void gram_nystrom_destroy(gram_nystrom *s)
{
    if (!s) return;
    gram_memory *memory = s->memory;
    gram_memory_give(memory, s->inner);
    gram_memory_give(memory, s->root);
    gram_pivoted_free(memory, &s->factor);
    gram_memory_give(memory, s);
    gram_memory_release(memory);
}

int64_t gram_nystrom_rank(const gram_nystrom *s)
{
    return s->factor.rank;
}

double gram_nystrom_trace_error(const gram_nystrom *s)
{
    return s->factor.trace > 0 ? s->factor.missed / s->factor.trace : 0;
}

double gram_nystrom_log_determinant(const gram_nystrom *s)
{
    return s->log_determinant;
}

/* Rows of E that are here. */
static int64_t rows_of(const gram_nystrom *s)
{
    return s->factor.end - s->factor.first;
}

/* ---- E, and the factor of I + E'E ---- */

static gram_status scale_task(void *argument, const gram_worker *worker)
{
    const gram_nystrom *s = argument;
    const int64_t first = worker->task * CHUNK, end = least(first + CHUNK, rows_of(s));
    for (int64_t i = first; i < end; i++)
        for (int64_t k = 0; k < s->factor.rank; k++)
            s->factor.f[i * s->factor.room + k] /= s->root[s->factor.first + i];
    return GRAM_OK;
}

/* Block number `task` of the lower triangle of E'E, of the rows that are here, counted row by row. */
static gram_status square_task(void *argument, const gram_worker *worker)
{
    const gram_nystrom *s = argument;
    int64_t i = 0, j = worker->task;
    while (j > i) j -= ++i;
    const int room = (int)s->factor.room;
    const int rows = (int)least(WIDE, s->factor.rank - i * WIDE), columns = (int)least(WIDE, s->factor.rank - j * WIDE);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, columns, (int)rows_of(s), 1, s->factor.f + i * WIDE,
                room, s->factor.f + j * WIDE, room, 0, s->inner + i * WIDE * room + j * WIDE, room);
    return GRAM_OK;
}

static gram_status inner_task(void *argument, const gram_worker *worker)
{
    gram_nystrom *s = argument;
    const int rank = (int)s->factor.rank, room = (int)s->factor.room;
    int info = 0;
    (void)worker;
    for (int64_t k = 0; k < rank; k++) s->inner[k * room + k] += 1;
    dpotrf_("U", &rank, s->inner, &room, &info, 1);
    for (int64_t k = 0; k < rank && info == 0; k++) s->log_determinant += 2 * log(s->inner[k * room + k]);
    return info == 0 ? GRAM_OK : GRAM_ERROR_NUMERICAL;
}

static gram_status make_inner(gram_context *context, const double *shift, gram_nystrom *s)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->factor.n, blocks = (s->factor.rank + WIDE - 1) / WIDE;
    gram_sweep sweep = {.what = "preconditioner",
                        .tasks = (rows_of(s) + CHUNK - 1) / CHUNK,
                        .run = scale_task,
                        .argument = s,
                        .share_after = 0.05};
    for (int64_t i = 0; i < n; i++) {
        s->root[i] = sqrt(shift[i]);
        s->log_determinant += log(shift[i]);
    }
    if (blocks == 0) goto done;
    if (sweep.tasks > 0) TRY(gram_sweep_run(context, &sweep));
    if (s->parted) memset(s->inner, 0, (size_t)(s->factor.rank * s->factor.room) * sizeof *s->inner);
    sweep = (gram_sweep){.what = "preconditioner",
                         .tasks = blocks * (blocks + 1) / 2,
                         .run = square_task,
                         .argument = s,
                         .share_before = 0.05,
                         .share_after = 0.9};
    TRY(gram_sweep_run(context, &sweep));
    if (s->parted) TRY(gram_ranks_sum(context, "preconditioner", s->factor.rank * s->factor.room, s->inner));
    sweep = (gram_sweep){
        .what = "preconditioner", .tasks = 1, .run = inner_task, .argument = s, .share_before = 0.9, .share_after = 1};
    status = gram_sweep_run(context, &sweep);
    FAIL_IF(status == GRAM_ERROR_NUMERICAL, context, status,
            "nystrom_create: I + E'E is not positive definite to working precision: the shift (ridge or noise) is too "
            "small");
done:
    return status;
}

static gram_status check(gram_context *context, const gram_kernel *kernel, const gram_points *x, const double *shift,
                         int64_t rank)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    FAIL_IF(!kernel || !x || !shift, context, GRAM_ERROR_ARGUMENT, "nystrom_create: %s is NULL",
            !kernel ? "kernel"
            : !x    ? "x"
                    : "shift");
    FAIL_IF(x->n > MOST_POINTS, context, GRAM_ERROR_OVERFLOW, "nystrom_create: n = %lld is too large", (long long)x->n);
    const int64_t most = least(x->n, GRAM_PIVOTED_MOST);
    FAIL_IF(rank < 1 || rank > most, context, GRAM_ERROR_ARGUMENT, "nystrom_create: rank = %lld, need 1 to %lld",
            (long long)rank, (long long)most);
    for (int64_t i = 0; i < x->n; i++)
        FAIL_IF(!(shift[i] > 0) || isinf(shift[i]), context, GRAM_ERROR_ARGUMENT,
                "nystrom_create: shift[%lld] is %s, need a positive number", (long long)i,
                gram_number_format(shift[i], shown));
done:
    return status;
}

gram_status gram_nystrom_create(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                const double *shift, int64_t rank, gram_nystrom **nystrom)
{
    gram_status status = GRAM_OK;
    gram_nystrom *made = NULL;
    const gram_pivoted_options options = {.rule = &gram_pivot_drawn, .room = rank, .parted = 1};
    if (!context || !nystrom) return GRAM_ERROR_ARGUMENT;
    *nystrom = NULL;
    TRY(check(context, kernel, x, shift, rank));
    TRY(gram_take(context, "nystrom_create", 1, sizeof *made, (void **)&made));
    *made = (gram_nystrom){.memory = gram_memory_retain(context->memory)};
    TRY(gram_take(context, "nystrom_create", x->n, sizeof(double), (void **)&made->root));
    TRY(gram_pivoted_make(context, kernel, x, &options, &made->factor));
    made->parted = gram_ranks_share(context, x->n);
    TRY(gram_take(context, "nystrom_create", rank * rank, sizeof(double), (void **)&made->inner));
    TRY(make_inner(context, shift, made));
    *nystrom = made;
    made = NULL;
done:
    gram_nystrom_destroy(made);
    return status;
}

/* ---- solves ---- */

typedef struct application {
    const gram_nystrom *s;
    int64_t columns, ldv, rows; /* rows: of a part */
    double *v;                  /* D^-1/2 v meanwhile */
    double *sums;               /* rank x columns for each part; the first becomes (I + E'E)^-1 E'v */
} application;

static int64_t rows_of_part(const application *job, int64_t part)
{
    return least(job->rows, rows_of(job->s) - part * job->rows);
}

/* v = D^-1/2 v, and the part's share of E'v. */
static gram_status gather_task(void *argument, const gram_worker *worker)
{
    const application *job = argument;
    const gram_nystrom *s = job->s;
    const int64_t first = worker->task * job->rows, rows = rows_of_part(job, worker->task);
    const int rank = (int)s->factor.rank, columns = (int)job->columns, room = (int)s->factor.room;
    const double *e = s->factor.f + first * room, *root = s->root + s->factor.first + first;
    double *v = job->v + (s->factor.first + first) * job->ldv,
           *sum = job->sums + worker->task * s->factor.rank * job->columns;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < columns; c++) v[i * job->ldv + c] /= root[i];
    if (rank > 0 && columns == 1)
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)rows, rank, 1, e, room, v, (int)job->ldv, 0, sum, 1);
    else if (rank > 0)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rank, columns, (int)rows, 1, e, room, v, (int)job->ldv, 0,
                    sum, columns);
    return GRAM_OK;
}

/* The parts in order, to the first. */
static void add_parts(const application *job)
{
    const int64_t size = job->s->factor.rank * job->columns;
    for (int64_t part = 1; part * job->rows < rows_of(job->s); part++)
        for (int64_t i = 0; i < size; i++) job->sums[i] += job->sums[part * size + i];
}

static gram_status inner_solve_task(void *argument, const gram_worker *worker)
{
    const application *job = argument;
    const gram_nystrom *s = job->s;
    (void)worker;
    for (int transposed = 0; transposed < 2; transposed++)
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit,
                    (int)s->factor.rank, (int)job->columns, 1, s->inner, (int)s->factor.room, job->sums,
                    (int)job->columns);
    return GRAM_OK;
}

/* v -= E sums, and the last D^-1/2. */
static gram_status scatter_task(void *argument, const gram_worker *worker)
{
    const application *job = argument;
    const gram_nystrom *s = job->s;
    const int64_t first = worker->task * job->rows, rows = rows_of_part(job, worker->task);
    const int rank = (int)s->factor.rank, columns = (int)job->columns, room = (int)s->factor.room;
    const double *e = s->factor.f + first * room, *root = s->root + s->factor.first + first;
    double *v = job->v + (s->factor.first + first) * job->ldv;
    if (rank > 0 && columns == 1)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)rows, rank, -1, e, room, job->sums, 1, 1, v, (int)job->ldv);
    else if (rank > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, columns, rank, -1, e, room, job->sums,
                    columns, 1, v, (int)job->ldv);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < columns; c++) v[i * job->ldv + c] /= root[i];
    return GRAM_OK;
}

/* The rows that this rank has made go to all. */
static gram_status join_rows(gram_context *context, const gram_nystrom *s, int64_t columns, double *v, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const size_t row = (size_t)columns * sizeof *v;
    const int64_t n = s->factor.n;
    double *whole = NULL;
    if (!s->parted) return GRAM_OK;
    if (ldv == columns) return gram_ranks_gather(context, "preconditioner", n, columns, v);
    TRY(gram_take(context, "preconditioner", n * columns, sizeof *whole, (void **)&whole));
    for (int64_t i = s->factor.first; i < s->factor.end; i++) memcpy(whole + i * columns, v + i * ldv, row);
    TRY(gram_ranks_gather(context, "preconditioner", n, columns, whole));
    for (int64_t i = 0; i < n; i++) memcpy(v + i * ldv, whole + i * columns, row);
done:
    gram_give(context, whole);
    return status;
}

static gram_status apply(gram_context *context, application *job)
{
    gram_status status = GRAM_OK;
    const gram_nystrom *s = job->s;
    const int64_t parts = (rows_of(s) + job->rows - 1) / job->rows, rank = s->factor.rank;
    gram_sweep sweep = {.what = "preconditioning", .tasks = parts, .run = gather_task, .argument = job};
    if (parts > 0) TRY(gram_sweep_run(context, &sweep));
    if (parts == 0) memset(job->sums, 0, (size_t)(rank * job->columns) * sizeof *job->sums);
    add_parts(job);
    if (s->parted) TRY(gram_ranks_sum(context, "preconditioner", rank * job->columns, job->sums));
    sweep.tasks = 1;
    sweep.run = inner_solve_task;
    if (rank > 0) TRY(gram_sweep_run(context, &sweep));
    sweep.tasks = parts;
    sweep.run = scatter_task;
    if (parts > 0) TRY(gram_sweep_run(context, &sweep));
    TRY(join_rows(context, s, job->columns, job->v, job->ldv));
done:
    return status;
}

/* Rows of E that other ranks have cannot be reached by one that works by itself. */
static gram_status check_together(gram_context *context, const gram_nystrom *s)
{
    gram_status status = GRAM_OK;
    FAIL_IF(s->parted && gram_ranks(context) == 1, context, GRAM_ERROR_ARGUMENT,
            "nystrom_solve: made by several ranks, and used by one of them");
done:
    return status;
}

gram_status gram_nystrom_solve(gram_context *context, const gram_nystrom *nystrom, int64_t columns, double *v,
                               int64_t ldv)
{
    gram_status status = GRAM_OK;
    application job = {.s = nystrom, .columns = columns, .ldv = ldv, .v = v};
    int64_t size = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!nystrom || !v, context, GRAM_ERROR_ARGUMENT, "nystrom_solve: %s is NULL", nystrom ? "v" : "nystrom");
    FAIL_IF(columns < 1 || columns > MOST_COLUMNS || ldv < columns || ldv > INT32_MAX, context, GRAM_ERROR_ARGUMENT,
            "nystrom_solve: ldv = %lld does not fit columns = %lld", (long long)ldv, (long long)columns);
    TRY(check_together(context, nystrom));
    const int64_t n = rows_of(nystrom), share = (n + PARTS - 1) / PARTS;
    job.rows = share < CHUNK ? CHUNK : share;
    size = (n > 0 ? (n + job.rows - 1) / job.rows : 1) * nystrom->factor.rank * columns;
    TRY(gram_take(context, "nystrom_solve", size, sizeof(double), (void **)&job.sums));
    TRY(apply(context, &job));
done:
    gram_give(context, job.sums);
    return status;
}

gram_status gram_nystrom_precondition(void *user, gram_context *context, int64_t columns, double *v, int64_t ldv)
{
    return gram_nystrom_solve(context, user, columns, v, ldv);
}

/* ---- draws ---- */

typedef struct drawing {
    const gram_nystrom *s;
    int64_t columns, ldv;
    double *v;       /* standard normal numbers, then the draws */
    const double *g; /* rank x columns */
} drawing;

static gram_status draw_task(void *argument, const gram_worker *worker)
{
    const drawing *job = argument;
    const gram_nystrom *s = job->s;
    const int64_t first = worker->task * CHUNK, rows = least(CHUNK, rows_of(s) - first), rank = s->factor.rank;
    const double *root = s->root + s->factor.first + first;
    double *v = job->v + (s->factor.first + first) * job->ldv;
    if (rank > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)job->columns, (int)rank, 1,
                    s->factor.f + first * s->factor.room, (int)s->factor.room, job->g, (int)job->columns, 1, v,
                    (int)job->ldv);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < job->columns; c++) v[i * job->ldv + c] *= root[i];
    return GRAM_OK;
}

gram_status gram_nystrom_draw(gram_context *context, const gram_nystrom *s, gram_random random, int64_t columns,
                              double *v, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->factor.n, rank = s->factor.rank, each = n + s->factor.room;
    double *g = NULL, *normal = NULL;
    TRY(check_together(context, s));
    TRY(gram_take(context, "draws", rank * columns, sizeof(double), (void **)&g));
    TRY(gram_take(context, "draws", n + rank, sizeof(double), (void **)&normal));
    for (int64_t c = 0; c < columns; c++) {
        gram_random_normal(random, (uint64_t)(c * each), n + rank, normal);
        for (int64_t i = 0; i < n; i++) v[i * ldv + c] = normal[i];
        for (int64_t k = 0; k < rank; k++) g[k * columns + c] = normal[n + k];
    }
    drawing job = {s, columns, ldv, v, g};
    const gram_sweep sweep = {
        .what = "draws", .tasks = (rows_of(s) + CHUNK - 1) / CHUNK, .run = draw_task, .argument = &job};
    if (sweep.tasks > 0) TRY(gram_sweep_run(context, &sweep));
    TRY(join_rows(context, s, columns, v, ldv));
done:
    gram_give(context, g);
    gram_give(context, normal);
    return status;
}
