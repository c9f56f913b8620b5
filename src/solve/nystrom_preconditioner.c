/* A low-rank preconditioner: randomly pivoted partial Cholesky, and the formula of Sherman, Morrison and Woodbury.
 *
 * K ~ F F' grows by blocks of columns (Chen, Epperly, Tropp and Webber 2022; in blocks with rejection, Epperly,
 * Tropp and Webber 2024). With d the diagonal of K - F F':
 *
 *     draw BLOCK candidates s, each with probability d_s/sum d
 *     H = (K - F F')(S, S); go through the candidates with a Cholesky factorisation of H, and accept one with
 *         probability h_ss/d_s, h_ss being what is left of its diagonal entry after those accepted before it
 *     the new columns are (K - F F')(:, accepted) L^-T, L being the factor of H(accepted)
 *
 * Rejection makes the accepted ones distributed as if each had been drawn after all before it, while the work on K
 * and F is in matrix products. Pivots by the largest d would go for outliers first; uniform ones crowd where the
 * points do.
 *
 * With E = D^-1/2 F, D = diag(shift), which is what is held:
 *
 *     M^-1 = D^-1/2 (I - E (I + E' E)^-1 E') D^-1/2
 *
 * Cost: rank columns of K, n rank^2 operations in all, 4 n rank for an application. */
#include <gram/nystrom.h>

#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/random.h>
#include <gram/text.h>

#include "base/sweep.h"
#include "points/points.h"

/* LAPACK; row-major lower triangles are its upper ones. */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t uplo_length);

enum {
    BLOCK = 96,            /* candidates at a time */
    CHUNK = 512,           /* rows of F in a task */
    WIDE = 192,            /* columns of E in a task that makes E' E */
    PARTS = 32,            /* sums over rows are made in at most so many parts */
    MOST_POINTS = 1 << 30, /* BLAS counts in 32 bits */
    MOST_RANK = 1 << 15,   /* rank^2 numbers are one BLAS matrix */
    MOST_COLUMNS = 1 << 24,
    FRUITLESS = 3 /* blocks without an accepted candidate before it ends */
};
static const uint64_t STREAM = 0x6e797374726f6dU; /* the name of this use of the seed */

struct gram_nystrom {
    gram_memory *memory;
    int64_t n, rank, room; /* room: columns of the arrays */
    double error;
    double *e;     /* E, n x room */
    double *inner; /* the Cholesky factor of I + E' E, room x room */
    double *root;  /* 1/sqrt(shift) */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- making and ending ---- */

static int64_t numbers(int64_t n, int64_t rank)
{
    return (n + rank) * rank + n;
}

size_t gram_nystrom_bytes(int64_t n, int64_t rank)
{
    if (n < 1 || n > MOST_POINTS || rank < 1 || rank > least(n, MOST_RANK)) return 0;
    return (size_t)numbers(n, rank) * sizeof(double);
}

static gram_status take(gram_context *context, int64_t n, int64_t rank, gram_nystrom **out)
{
    gram_status status = GRAM_OK;
    gram_nystrom *made = NULL;
    TRY(gram_take(context, "nystrom_create", 1, sizeof *made, (void **)&made));
    *made = (gram_nystrom){.memory = gram_memory_retain(context->memory), .n = n, .room = rank};
    TRY(gram_take(context, "nystrom_create", numbers(n, rank), sizeof(double), (void **)&made->e));
    made->inner = made->e + n * rank;
    made->root = made->inner + rank * rank;
    *out = made;
    made = NULL;
done:
    gram_nystrom_destroy(made);
    return status;
}

void gram_nystrom_destroy(gram_nystrom *nystrom)
{
    if (!nystrom) return;
    gram_memory *memory = nystrom->memory;
    gram_memory_give(memory, nystrom->e);
    gram_memory_give(memory, nystrom);
    gram_memory_release(memory);
}

int64_t gram_nystrom_rank(const gram_nystrom *nystrom)
{
    return nystrom->rank;
}

double gram_nystrom_trace_error(const gram_nystrom *nystrom)
{
    return nystrom->error;
}

/* ---- the partial Cholesky factor ---- */

typedef struct growth {
    gram_nystrom *nystrom; /* its e is F meanwhile */
    const gram_kernel *kernel;
    const gram_points *x;
    uint64_t seed, drawn;
    double floor;    /* pivots below it are rounding errors */
    double *left;    /* the diagonal of K - F F' */
    double *running; /* its running sums */
    double *columns; /* n x BLOCK columns of K */
    double *rows;    /* BLOCK x room: rows of F of the candidates */
    double *h;       /* BLOCK x BLOCK */
    int64_t candidate[BLOCK];
    int64_t accepted[BLOCK]; /* numbers of candidates */
    int count;               /* of them */
} growth;

/* Candidates with probability left/sum; the total that is left. */
static double draw(growth *g)
{
    const int64_t n = g->nystrom->n;
    double total = 0, uniform[BLOCK];
    for (int64_t i = 0; i < n; i++) g->running[i] = total += g->left[i];
    gram_random_uniform((gram_random){g->seed, STREAM}, g->drawn, BLOCK, uniform);
    g->drawn += BLOCK;
    for (int c = 0; c < BLOCK; c++) {
        int64_t low = 0, high = n - 1; /* the first whose running sum exceeds the number drawn */
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (g->running[middle] > uniform[c] * total)
                high = middle;
            else
                low = middle + 1;
        }
        g->candidate[c] = low;
    }
    return total;
}

/* h = (K - F F')(S, S) from the columns of K; the rows of F are kept. */
static void find_candidates_block(growth *g)
{
    const gram_nystrom *nystrom = g->nystrom;
    const int rank = (int)nystrom->rank, room = (int)nystrom->room;
    for (int c = 0; c < BLOCK; c++) {
        memcpy(g->h + c * BLOCK, g->columns + g->candidate[c] * BLOCK, BLOCK * sizeof *g->h);
        memcpy(g->rows + (int64_t)c * room, nystrom->e + g->candidate[c] * room, (size_t)rank * sizeof *g->rows);
    }
    if (rank > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, BLOCK, BLOCK, rank, -1, g->rows, room, g->rows, room, 1,
                    g->h, BLOCK);
}

/* A Cholesky factorisation of h over the accepted candidates, in place: row `at` of the factor becomes row `at` of
 * h. */
static void accept(growth *g)
{
    double uniform[BLOCK], row[BLOCK];
    const int most = (int)least(BLOCK, g->nystrom->room - g->nystrom->rank);
    gram_random_uniform((gram_random){g->seed, STREAM + 1}, g->drawn, BLOCK, uniform);
    g->count = 0;
    for (int c = 0; c < BLOCK && g->count < most; c++) {
        double left = g->h[c * BLOCK + c];
        for (int k = 0; k < g->count; k++) {
            double sum = g->h[c * BLOCK + g->accepted[k]];
            for (int l = 0; l < k; l++) sum -= row[l] * g->h[k * BLOCK + l];
            row[k] = sum / g->h[k * BLOCK + k];
            left -= row[k] * row[k];
        }
        if (!(left > g->floor) || uniform[c] * g->left[g->candidate[c]] > left) continue;
        const int at = g->count++;
        g->accepted[at] = c;
        if (at > 0) memcpy(g->h + at * BLOCK, row, (size_t)at * sizeof *row);
        g->h[at * BLOCK + at] = sqrt(left);
    }
}

static gram_status choose_task(void *argument, const gram_worker *worker)
{
    growth *g = argument;
    (void)worker;
    find_candidates_block(g);
    accept(g);
    return GRAM_OK;
}

/* New columns of F for CHUNK rows, and what they leave of the diagonal. */
static gram_status grow_task(void *argument, const gram_worker *worker)
{
    const growth *g = argument;
    gram_nystrom *nystrom = g->nystrom;
    const int64_t first = worker->task * CHUNK, room = nystrom->room;
    const int rows = (int)least(CHUNK, nystrom->n - first), rank = (int)nystrom->rank, count = g->count;
    double *f = nystrom->e + first * room, *fresh = f + rank;
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < count; k++) fresh[i * room + k] = g->columns[(first + i) * BLOCK + g->accepted[k]];
    if (rank > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, count, rank, -1, f, (int)room, g->rows, (int)room, 1,
                    fresh, (int)room);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, count, 1, g->h, BLOCK, fresh,
                (int)room);
    for (int i = 0; i < rows; i++) {
        double sum = 0;
        for (int k = 0; k < count; k++) sum += fresh[i * room + k] * fresh[i * room + k];
        g->left[first + i] = fmax(g->left[first + i] - sum, 0);
    }
    return GRAM_OK;
}

static gram_status grow(gram_context *context, growth *g)
{
    gram_status status = GRAM_OK;
    const int64_t room = g->nystrom->room;
    for (int k = 0; k < g->count; k++) /* the accepted ones' rows move to the front */
        memmove(g->rows + k * room, g->rows + g->accepted[k] * room, (size_t)g->nystrom->rank * sizeof *g->rows);
    const gram_sweep sweep = {.what = "preconditioner",
                              .tasks = (g->nystrom->n + CHUNK - 1) / CHUNK,
                              .run = grow_task,
                              .argument = g,
                              .share_before = 0.9 * (double)g->nystrom->rank / (double)room,
                              .share_after = 0.9 * (double)(g->nystrom->rank + g->count) / (double)room};
    TRY(gram_sweep_run(context, &sweep));
    for (int k = 0; k < g->count; k++) g->left[g->candidate[g->accepted[k]]] = 0;
    g->nystrom->rank += g->count;
done:
    return status;
}

/* Blocks until the rank is reached, or what is left is rounding errors. */
static gram_status grow_all(gram_context *context, growth *g)
{
    gram_status status = GRAM_OK;
    gram_nystrom *nystrom = g->nystrom;
    const gram_sweep choose = {.what = "preconditioner", .tasks = 1, .run = choose_task, .argument = g};
    const double rounding = g->x->f32 ? 1e-6 : 1e-14;
    double trace = 0, total = 0;
    int fruitless = 0;
    TRY(gram_matrix_diagonal(context, g->kernel, g->x, g->left));
    for (int64_t i = 0; i < nystrom->n; i++) {
        FAIL_IF(!(g->left[i] >= 0) || isinf(g->left[i]), context, GRAM_ERROR_NUMERICAL,
                "nystrom_create: the diagonal of K is negative or not finite at row %lld", (long long)i);
        trace += g->left[i];
    }
    g->floor = rounding * trace / (double)nystrom->n;
    while (nystrom->rank < nystrom->room && fruitless < FRUITLESS) {
        total = draw(g);
        if (!(total > rounding * trace)) break;
        TRY(gram_matrix_columns(context, g->kernel, g->x, BLOCK, g->candidate, g->columns, BLOCK));
        TRY(gram_sweep_run(context, &choose));
        fruitless = g->count ? 0 : fruitless + 1;
        if (g->count) TRY(grow(context, g));
    }
    total = 0;
    for (int64_t i = 0; i < nystrom->n; i++) total += g->left[i];
    nystrom->error = trace > 0 ? total / trace : 0;
done:
    return status;
}

static gram_status factor_kernel(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                 gram_nystrom *nystrom)
{
    gram_status status = GRAM_OK;
    growth g = {.nystrom = nystrom, .kernel = kernel, .x = x, .seed = context->seed};
    const int64_t n = nystrom->n, size = (BLOCK + 2) * n + BLOCK * (nystrom->room + BLOCK);
    TRY(gram_take(context, "nystrom_create", size, sizeof(double), (void **)&g.columns));
    g.h = g.columns + BLOCK * n;
    g.rows = g.h + BLOCK * BLOCK;
    g.left = g.rows + BLOCK * nystrom->room;
    g.running = g.left + n;
    TRY(grow_all(context, &g));
done:
    gram_give(context, g.columns);
    return status;
}

/* ---- E, and the factor of I + E' E ---- */

/* One block of the lower triangle, numbered row by row. */
static gram_status square_task(void *argument, const gram_worker *worker)
{
    gram_nystrom *nystrom = argument;
    int64_t i = 0, j = worker->task;
    while (j > i) j -= ++i;
    const int room = (int)nystrom->room, n = (int)nystrom->n;
    const int rows = (int)least(WIDE, nystrom->rank - i * WIDE), columns = (int)least(WIDE, nystrom->rank - j * WIDE);
    double *out = nystrom->inner + i * WIDE * room + j * WIDE;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, columns, n, 1, nystrom->e + i * WIDE, room,
                nystrom->e + j * WIDE, room, 0, out, room);
    for (int r = 0; i == j && r < rows; r++) out[r * room + r] += 1;
    return GRAM_OK;
}

static gram_status factor_inner(void *argument, const gram_worker *worker)
{
    (void)worker;
    gram_nystrom *nystrom = argument;
    const int rank = (int)nystrom->rank, room = (int)nystrom->room;
    int info = 0;
    dpotrf_("U", &rank, nystrom->inner, &room, &info, 1);
    return info == 0 ? GRAM_OK : GRAM_ERROR_NUMERICAL;
}

static gram_status make_inner(gram_context *context, const double *shift, gram_nystrom *nystrom)
{
    gram_status status = GRAM_OK;
    for (int64_t i = 0; i < nystrom->n; i++) {
        nystrom->root[i] = 1 / sqrt(shift[i]);
        for (int64_t k = 0; k < nystrom->rank; k++) nystrom->e[i * nystrom->room + k] *= nystrom->root[i];
    }
    const int64_t blocks = (nystrom->rank + WIDE - 1) / WIDE;
    const gram_sweep square = {.what = "preconditioner",
                               .tasks = blocks * (blocks + 1) / 2,
                               .run = square_task,
                               .argument = nystrom,
                               .share_before = 0.9,
                               .share_after = 0.99};
    const gram_sweep last = {.what = "preconditioner",
                             .tasks = 1,
                             .run = factor_inner,
                             .argument = nystrom,
                             .share_before = 0.99,
                             .share_after = 1};
    if (blocks == 0) return GRAM_OK;
    TRY(gram_sweep_run(context, &square));
    status = gram_sweep_run(context, &last);
    FAIL_IF(status == GRAM_ERROR_NUMERICAL, context, status,
            "nystrom_create: I + E'E is not positive definite to working precision: the shift is too small");
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
    FAIL_IF(rank < 1 || rank > least(x->n, MOST_RANK), context, GRAM_ERROR_ARGUMENT,
            "nystrom_create: rank = %lld, need 1 to %lld", (long long)rank, (long long)least(x->n, MOST_RANK));
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
    if (!context || !nystrom) return GRAM_ERROR_ARGUMENT;
    *nystrom = NULL;
    TRY(check(context, kernel, x, shift, rank));
    TRY(take(context, x->n, rank, &made));
    TRY(factor_kernel(context, kernel, x, made));
    TRY(make_inner(context, shift, made));
    *nystrom = made;
    made = NULL;
done:
    gram_nystrom_destroy(made);
    return status;
}

/* ---- applying it ---- */

typedef struct application {
    const gram_nystrom *nystrom;
    int64_t columns, ldv, rows; /* rows: of a part */
    double *v;                  /* D^-1/2 v meanwhile */
    double *sums;               /* for each part: rank x columns; the first becomes (I + E' E)^-1 E' v */
} application;

/* The part's share of E' v. */
static gram_status gather_task(void *argument, const gram_worker *worker)
{
    const application *job = argument;
    const gram_nystrom *nystrom = job->nystrom;
    const int64_t first = worker->task * job->rows;
    const int rows = (int)least(job->rows, nystrom->n - first), rank = (int)nystrom->rank, columns = (int)job->columns;
    double *v = job->v + first * job->ldv, *sum = job->sums + worker->task * nystrom->rank * job->columns;
    const double *e = nystrom->e + first * nystrom->room;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < columns; c++) v[i * job->ldv + c] *= nystrom->root[first + i];
    if (columns == 1)
        cblas_dgemv(CblasRowMajor, CblasTrans, rows, rank, 1, e, (int)nystrom->room, v, (int)job->ldv, 0, sum, 1);
    else
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rank, columns, rows, 1, e, (int)nystrom->room, v,
                    (int)job->ldv, 0, sum, columns);
    return GRAM_OK;
}

/* Adds the parts in order and solves with I + E' E. */
static gram_status solve_inner(void *argument, const gram_worker *worker)
{
    (void)worker;
    const application *job = argument;
    const int rank = (int)job->nystrom->rank, columns = (int)job->columns;
    const int64_t size = job->nystrom->rank * job->columns;
    for (int64_t part = 1; part * job->rows < job->nystrom->n; part++)
        for (int64_t i = 0; i < size; i++) job->sums[i] += job->sums[part * size + i];
    for (int transposed = 0; transposed < 2; transposed++)
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit, rank,
                    columns, 1, job->nystrom->inner, (int)job->nystrom->room, job->sums, columns);
    return GRAM_OK;
}

/* v -= E sums, and the last D^-1/2 */
static gram_status scatter_task(void *argument, const gram_worker *worker)
{
    const application *job = argument;
    const gram_nystrom *nystrom = job->nystrom;
    const int64_t first = worker->task * job->rows;
    const int rows = (int)least(job->rows, nystrom->n - first), rank = (int)nystrom->rank, columns = (int)job->columns;
    double *v = job->v + first * job->ldv;
    const double *e = nystrom->e + first * nystrom->room;
    if (rank > 0 && columns == 1)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, rank, -1, e, (int)nystrom->room, job->sums, 1, 1, v,
                    (int)job->ldv);
    else if (rank > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, rank, -1, e, (int)nystrom->room,
                    job->sums, columns, 1, v, (int)job->ldv);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < columns; c++) v[i * job->ldv + c] *= nystrom->root[first + i];
    return GRAM_OK;
}

static gram_status apply(gram_context *context, application *job)
{
    gram_status status = GRAM_OK;
    const int64_t parts = (job->nystrom->n + job->rows - 1) / job->rows;
    gram_sweep sweep = {.what = "preconditioning", .tasks = parts, .run = gather_task, .argument = job};
    if (job->nystrom->rank > 0) {
        TRY(gram_sweep_run(context, &sweep));
        sweep.tasks = 1;
        sweep.run = solve_inner;
        TRY(gram_sweep_run(context, &sweep));
    }
    sweep.tasks = parts;
    sweep.run = scatter_task;
    TRY(gram_sweep_run(context, &sweep));
done:
    return status;
}

gram_status gram_nystrom_solve(gram_context *context, const gram_nystrom *nystrom, int64_t columns, double *v,
                               int64_t ldv)
{
    gram_status status = GRAM_OK;
    application job = {.nystrom = nystrom, .columns = columns, .ldv = ldv, .v = v};
    int64_t size = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!nystrom || !v, context, GRAM_ERROR_ARGUMENT, "nystrom_solve: %s is NULL", nystrom ? "v" : "nystrom");
    FAIL_IF(columns < 1 || columns > MOST_COLUMNS || ldv < columns || ldv > INT32_MAX, context, GRAM_ERROR_ARGUMENT,
            "nystrom_solve: ldv = %lld does not fit columns = %lld", (long long)ldv, (long long)columns);
    const int64_t share = (nystrom->n + PARTS - 1) / PARTS;
    job.rows = share < CHUNK ? CHUNK : share;
    size = (nystrom->n + job.rows - 1) / job.rows * nystrom->rank * columns;
    TRY(gram_take(context, "nystrom_solve", size, sizeof(double), (void **)&job.sums));
    TRY(apply(context, &job));
done:
    gram_give(context, job.sums);
    return status;
}

gram_status gram_cg_precondition_nystrom(void *user, gram_context *context, int64_t columns, double *v, int64_t ldv)
{
    return gram_nystrom_solve(context, user, columns, v, ldv);
}
