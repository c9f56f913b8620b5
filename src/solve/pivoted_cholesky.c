/* Pivoted partial Cholesky factorisation, and the formula of Sherman, Morrison and Woodbury.
 *
 * With d the diagonal of K - F F', a textbook version takes the row of the largest d, adds one column to F and begins again:
 * matrix-vector products that wait for memory. Here BLOCK rows of the largest d are looked at together:
 *
 *     H = (K - F F')(S, S) for the candidates S
 *     pivot within H (always its largest diagonal entry) while that is at least SHARE of the largest d
 *     the new columns of F are (K - F F')(:, accepted) L^-T, L the factor of H(accepted)
 *
 * so that each pivot is within SHARE of the greedy choice and the work on K and F is in matrix products. Rows of equal d,
 * which are all of them at first if the kernel is stationary, are met in an order that jumps through the data.
 *
 * The largest d are those of outliers first. Drawn pivots are where the mass of d is (Chen, Epperly, Tropp and Webber 2022): S
 * are rows drawn with probability d_s/sum d, and one is accepted, in their order, with probability h_ss/d_s, h_ss being what
 * those before it left (rejection: Epperly, Tropp and Webber 2024). Measured, normal points in 8 columns, rbf, n = 40,000,
 * 500 pivots: 4.1 % of tr K is left by the largest, 2.3 % by drawn ones.
 *
 * M = F F' + D, E = D^-1/2 F:  M^-1 = D^-1/2 (I - E (I + E'E)^-1 E') D^-1/2,  log |M| = log |D| + log |I + E'E|, and
 * D^1/2 (E g + h) ~ N(0, M) for standard normal g and h. */
#include "solve/pivoted_cholesky.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sweep.h"
#include "points/points.h"

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t uplo_length);

enum {
    BLOCK = 64,  /* candidates at a time */
    CHUNK = 512, /* rows of F in a task */
    WIDE = 192,  /* columns of E in a task that makes E'E */
    PARTS = 32,  /* sums over rows are made in at most so many parts */
    MOST_ROOM = 1 << 15
};
static const double SHARE = 0.5;
static const uint64_t STREAM = 0x7069766f7465U; /* the name of this use of the seed */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- the factor ---- */

typedef struct growth {
    gram_pivoted *p;
    const gram_kernel *kernel;
    const gram_points *x;
    gram_pivot rule;
    uint64_t seed, drawn;
    double *running;                           /* n: running sums of what is left */
    double floor;                              /* variances below it are rounding errors */
    double *columns;                           /* n x BLOCK: columns of K */
    double *rows;                              /* BLOCK x room: rows of F of the candidates, then of the accepted */
    double *h;                                 /* BLOCK x BLOCK */
    void *coordinates;                         /* BLOCK x d, of the points' type */
    int64_t candidate[BLOCK], accepted[BLOCK]; /* rows */
    int candidates, count;
} growth;

/* A number without a common divisor with n near its golden section. */
static int64_t jump_of(int64_t n)
{
    int64_t jump = (int64_t)(0.6180339887498949 * (double)n);
    for (jump = jump < 1 ? 1 : jump;; jump++) {
        int64_t a = n, b = jump;
        while (b) {
            const int64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1) return jump;
    }
}

/* Puts a row into the sorted list of the best. */
static void consider(growth *g, int64_t i)
{
    const double *left = g->p->left;
    int at = g->candidates;
    if (at == BLOCK && !(left[i] > left[g->candidate[BLOCK - 1]])) return;
    if (at == BLOCK)
        at--;
    else
        g->candidates++;
    for (; at > 0 && left[i] > left[g->candidate[at - 1]]; at--) g->candidate[at] = g->candidate[at - 1];
    g->candidate[at] = i;
}

static int is_candidate(const growth *g, int64_t i)
{
    for (int c = 0; c < g->candidates; c++)
        if (g->candidate[c] == i) return 1;
    return 0;
}

/* Rows with probability left/sum, each once: a second one would be rejected. */
static void draw_candidates(growth *g)
{
    const int64_t n = g->p->n;
    double total = 0, uniform[BLOCK];
    for (int64_t i = 0; i < n; i++) g->running[i] = total += g->p->left[i] > g->floor ? g->p->left[i] : 0;
    gram_random_uniform((gram_random){g->seed, STREAM}, g->drawn, BLOCK, uniform);
    g->candidates = 0;
    for (int c = 0; c < BLOCK && total > 0; c++) {
        int64_t low = 0, high = n - 1; /* the first whose running sum exceeds the number drawn */
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (g->running[middle] > uniform[c] * total)
                high = middle;
            else
                low = middle + 1;
        }
        if (!is_candidate(g, low)) g->candidate[g->candidates++] = low;
    }
}

static void find_candidates(growth *g)
{
    if (g->rule == GRAM_PIVOT_DRAWN) {
        draw_candidates(g);
        return;
    }
    const int64_t n = g->p->n, jump = jump_of(n);
    g->candidates = 0;
    for (int64_t k = 0, i = 0; k < n; k++, i = (i + jump) % n)
        if (g->p->left[i] > g->floor) consider(g, i);
}

/* K(S, S) to h. */
static gram_status candidates_matrix(gram_context *context, growth *g)
{
    gram_status status = GRAM_OK;
    gram_points *points = NULL;
    const int64_t d = g->x->d;
    double *f64 = g->coordinates;
    float *f32 = g->coordinates;
    for (int c = 0; c < g->candidates; c++)
        for (int64_t l = 0; l < d; l++) {
            const int64_t from = g->candidate[c] * g->x->stride + l;
            if (g->x->f64)
                f64[c * d + l] = g->x->f64[from];
            else
                f32[c * d + l] = g->x->f32[from];
        }
    if (g->x->f64)
        TRY(gram_points_create_f64(context, g->candidates, d, f64, d, &points));
    else
        TRY(gram_points_create_f32(context, g->candidates, d, f32, d, &points));
    TRY(gram_matrix(context, g->kernel, points, NULL, g->h, BLOCK));
done:
    gram_points_destroy(points);
    return status;
}

static void swap_candidates(growth *g, int a, int b)
{
    const int64_t room = g->p->room, row = g->candidate[a];
    if (a == b) return;
    g->candidate[a] = g->candidate[b];
    g->candidate[b] = row;
    cblas_dswap((int)g->p->rank, g->rows + a * room, 1, g->rows + b * room, 1);
    cblas_dswap(g->candidates, g->h + a * BLOCK, 1, g->h + b * BLOCK, 1);
    cblas_dswap(g->candidates, g->h + a, BLOCK, g->h + b, BLOCK);
}

/* Candidate `at` becomes number `count` of the accepted: its column of the factor, and what it leaves of h. */
static void take_candidate(growth *g, int at)
{
    const int k = g->count++;
    double *h = g->h;
    swap_candidates(g, k, at);
    const double root = sqrt(h[k * BLOCK + k]);
    h[k * BLOCK + k] = root;
    for (int c = k + 1; c < g->candidates; c++) h[c * BLOCK + k] /= root;
    for (int c = k + 1; c < g->candidates; c++)
        for (int o = k + 1; o < g->candidates; o++) h[c * BLOCK + o] -= h[c * BLOCK + k] * h[o * BLOCK + k];
}

/* Pivots within h, in place: its first `count` rows and columns become the factor. */
static void take_largest(growth *g, int most)
{
    const double enough = fmax(SHARE * g->p->left[g->candidate[0]], g->floor);
    while (g->count < most) {
        int best = g->count;
        for (int c = best + 1; c < g->candidates; c++)
            if (g->h[c * BLOCK + c] > g->h[best * BLOCK + best]) best = c;
        if (!(g->h[best * BLOCK + best] >= enough)) return;
        take_candidate(g, best);
    }
}

/* The same by rejection; those that were rejected lie between the accepted and those to come. */
static void take_drawn(growth *g, int most)
{
    double uniform[BLOCK];
    gram_random_uniform((gram_random){g->seed, STREAM + 1}, g->drawn, BLOCK, uniform);
    g->drawn += BLOCK;
    for (int c = 0; c < g->candidates && g->count < most; c++) {
        const double own = g->h[c * BLOCK + c];
        if (own > g->floor && uniform[c] * g->p->left[g->candidate[c]] <= own) take_candidate(g, c);
    }
}

static gram_status choose_task(void *argument, const gram_worker *worker)
{
    growth *g = argument;
    const gram_pivoted *p = g->p;
    const int rank = (int)p->rank, room = (int)p->room;
    (void)worker;
    for (int c = 0; c < g->candidates && rank > 0; c++)
        memcpy(g->rows + (int64_t)c * room, p->f + g->candidate[c] * room, (size_t)rank * sizeof *g->rows);
    if (rank > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, g->candidates, g->candidates, rank, -1, g->rows, room,
                    g->rows, room, 1, g->h, BLOCK);
    const int most = (int)least(g->candidates, p->room - p->rank);
    g->count = 0;
    if (g->rule == GRAM_PIVOT_DRAWN)
        take_drawn(g, most);
    else
        take_largest(g, most);
    return GRAM_OK;
}

static gram_status grow_task(void *argument, const gram_worker *worker)
{
    const growth *g = argument;
    gram_pivoted *p = g->p;
    const int64_t first = worker->task * CHUNK, room = p->room;
    const int rows = (int)least(CHUNK, p->n - first), rank = (int)p->rank, count = g->count;
    double *f = p->f + first * room, *fresh = f + rank;
    for (int i = 0; i < rows; i++)
        memcpy(fresh + i * room, g->columns + (first + i) * BLOCK, (size_t)count * sizeof *fresh);
    if (rank > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, count, rank, -1, f, (int)room, g->rows, (int)room, 1,
                    fresh, (int)room);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, count, 1, g->h, BLOCK, fresh,
                (int)room);
    for (int i = 0; i < rows; i++) {
        double sum = 0;
        for (int k = 0; k < count; k++) sum += fresh[i * room + k] * fresh[i * room + k];
        p->left[first + i] = fmax(p->left[first + i] - sum, 0);
    }
    return GRAM_OK;
}

static gram_status grow(gram_context *context, growth *g)
{
    gram_status status = GRAM_OK;
    gram_pivoted *p = g->p;
    const gram_sweep sweep = {.what = "pivoted factor",
                              .tasks = (p->n + CHUNK - 1) / CHUNK,
                              .run = grow_task,
                              .argument = g,
                              .share_before = (double)p->rank / (double)p->room,
                              .share_after = (double)(p->rank + g->count) / (double)p->room};
    memcpy(g->accepted, g->candidate, (size_t)g->count * sizeof *g->accepted);
    TRY(gram_matrix_columns(context, g->kernel, g->x, g->count, g->accepted, g->columns, BLOCK));
    TRY(gram_sweep_run(context, &sweep));
    for (int k = 0; k < g->count; k++) {
        p->left[g->accepted[k]] = 0;
        p->pivot[p->rank + k] = g->accepted[k];
    }
    p->rank += g->count;
done:
    return status;
}

static gram_status grow_all(gram_context *context, growth *g)
{
    gram_status status = GRAM_OK;
    gram_pivoted *p = g->p;
    const gram_sweep choose = {.what = "pivoted factor", .tasks = 1, .run = choose_task, .argument = g};
    TRY(gram_matrix_diagonal(context, g->kernel, g->x, p->left));
    for (int64_t i = 0; i < p->n; i++) {
        FAIL_IF(!(p->left[i] >= 0) || isinf(p->left[i]), context, GRAM_ERROR_NUMERICAL,
                "pivoted factor: the diagonal of K is negative or not finite at row %lld", (long long)i);
        p->trace += p->left[i];
    }
    g->floor = (g->x->f32 ? 1e-6 : 1e-14) * p->trace / (double)p->n;
    while (p->rank < p->room) {
        find_candidates(g);
        if (g->candidates == 0) break;
        TRY(candidates_matrix(context, g));
        TRY(gram_sweep_run(context, &choose));
        if (g->count == 0) break; /* what d promised is rounding errors */
        TRY(grow(context, g));
    }
    for (int64_t i = 0; i < p->n; i++) p->missed += p->left[i];
done:
    return status;
}

gram_status gram_pivoted_make(gram_context *context, const gram_kernel *kernel, const gram_points *x, gram_pivot rule,
                              int64_t room, gram_pivoted *p)
{
    gram_status status = GRAM_OK;
    growth g = {.p = p, .kernel = kernel, .x = x, .rule = rule, .seed = context->seed};
    const int64_t n = x->n, size = BLOCK * (n + room + BLOCK + x->d) + n;
    *p = (gram_pivoted){.n = n, .room = room};
    FAIL_IF(room < 1 || room > least(n, MOST_ROOM) || n > INT32_MAX, context, GRAM_ERROR_ARGUMENT,
            "pivoted factor: rank = %lld of %lld rows, need 1 to %lld", (long long)room, (long long)n,
            (long long)least(n, MOST_ROOM));
    TRY(gram_take(context, "pivoted factor", n * room, sizeof(double), (void **)&p->f));
    TRY(gram_take(context, "pivoted factor", n, sizeof(double), (void **)&p->left));
    TRY(gram_take(context, "pivoted factor", room, sizeof(int64_t), (void **)&p->pivot));
    TRY(gram_take(context, "pivoted factor", size, sizeof(double), (void **)&g.columns));
    g.rows = g.columns + BLOCK * n;
    g.h = g.rows + BLOCK * room;
    g.running = g.h + BLOCK * BLOCK;
    g.coordinates = g.running + n;
    TRY(grow_all(context, &g));
done:
    gram_give(context, g.columns);
    return status;
}

void gram_pivoted_free(gram_memory *memory, gram_pivoted *p)
{
    gram_memory_give(memory, p->f);
    gram_memory_give(memory, p->left);
    gram_memory_give(memory, p->pivot);
    p->f = p->left = NULL;
    p->pivot = NULL;
}

/* ---- M ---- */

struct gram_low_rank {
    gram_memory *memory;
    gram_pivoted factor; /* its f became E */
    double *inner;       /* room x room, lower: the factor of I + E'E */
    double *root;        /* n: sqrt(shift) */
    double log_determinant;
};

size_t gram_low_rank_bytes(int64_t n, int64_t rank)
{
    return (size_t)(n * rank + rank * rank + 3 * n + BLOCK * (n + rank + BLOCK)) * sizeof(double);
}

void gram_low_rank_destroy(gram_low_rank *s)
{
    if (!s) return;
    gram_memory *memory = s->memory;
    gram_memory_give(memory, s->inner);
    gram_memory_give(memory, s->root);
    gram_pivoted_free(memory, &s->factor);
    gram_memory_give(memory, s);
    gram_memory_release(memory);
}

int64_t gram_low_rank_rank(const gram_low_rank *s)
{
    return s->factor.rank;
}

double gram_low_rank_trace_error(const gram_low_rank *s)
{
    return s->factor.trace > 0 ? s->factor.missed / s->factor.trace : 0;
}

double gram_low_rank_log_determinant(const gram_low_rank *s)
{
    return s->log_determinant;
}

/* Block number `task` of the lower triangle of I + E'E, counted row by row. */
static gram_status square_task(void *argument, const gram_worker *worker)
{
    const gram_low_rank *s = argument;
    int64_t i = 0, j = worker->task;
    while (j > i) j -= ++i;
    const int room = (int)s->factor.room;
    const int rows = (int)least(WIDE, s->factor.rank - i * WIDE), columns = (int)least(WIDE, s->factor.rank - j * WIDE);
    double *out = s->inner + i * WIDE * room + j * WIDE;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, columns, (int)s->factor.n, 1, s->factor.f + i * WIDE,
                room, s->factor.f + j * WIDE, room, 0, out, room);
    for (int r = 0; i == j && r < rows; r++) out[r * room + r] += 1;
    return GRAM_OK;
}

static gram_status inner_task(void *argument, const gram_worker *worker)
{
    gram_low_rank *s = argument;
    const int rank = (int)s->factor.rank, room = (int)s->factor.room;
    int info = 0;
    (void)worker;
    dpotrf_("U", &rank, s->inner, &room, &info, 1);
    for (int64_t k = 0; k < rank && info == 0; k++) s->log_determinant += 2 * log(s->inner[k * room + k]);
    return info == 0 ? GRAM_OK : GRAM_ERROR_NUMERICAL;
}

static gram_status make_inner(gram_context *context, const double *shift, gram_low_rank *s)
{
    gram_status status = GRAM_OK;
    const gram_pivoted *p = &s->factor;
    for (int64_t i = 0; i < p->n; i++) {
        s->root[i] = sqrt(shift[i]);
        s->log_determinant += log(shift[i]);
        for (int64_t k = 0; k < p->rank; k++) p->f[i * p->room + k] /= s->root[i];
    }
    const int64_t blocks = (p->rank + WIDE - 1) / WIDE;
    gram_sweep sweep = {
        .what = "preconditioner", .tasks = blocks * (blocks + 1) / 2, .run = square_task, .argument = s};
    if (blocks == 0) goto done;
    TRY(gram_sweep_run(context, &sweep));
    sweep.tasks = 1;
    sweep.run = inner_task;
    status = gram_sweep_run(context, &sweep);
    FAIL_IF(status == GRAM_ERROR_NUMERICAL, context, status,
            "preconditioner: I + E'E is not positive definite to working precision: the noise is too small");
done:
    return status;
}

gram_status gram_low_rank_create(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                 const double *shift, int64_t rank, gram_low_rank **low_rank)
{
    gram_status status = GRAM_OK;
    gram_low_rank *made = NULL;
    char shown[GRAM_NUMBER_SIZE];
    *low_rank = NULL;
    for (int64_t i = 0; i < x->n; i++)
        FAIL_IF(!(shift[i] > 0) || isinf(shift[i]), context, GRAM_ERROR_ARGUMENT,
                "preconditioner: the noise of row %lld is %s, need a positive number", (long long)i,
                gram_number_format(shift[i], shown));
    TRY(gram_take(context, "preconditioner", 1, sizeof *made, (void **)&made));
    *made = (gram_low_rank){.memory = gram_memory_retain(context->memory)};
    TRY(gram_pivoted_make(context, kernel, x, GRAM_PIVOT_DRAWN, rank, &made->factor));
    TRY(gram_take(context, "preconditioner", x->n, sizeof(double), (void **)&made->root));
    TRY(gram_take(context, "preconditioner", rank * rank, sizeof(double), (void **)&made->inner));
    TRY(make_inner(context, shift, made));
    *low_rank = made;
    made = NULL;
done:
    gram_low_rank_destroy(made);
    return status;
}

/* ---- solves and draws ---- */

typedef struct application {
    const gram_low_rank *s;
    int64_t columns, ldv, rows; /* rows: of a part */
    double *v;                  /* D^-1/2 v meanwhile */
    double *sums;               /* rank x columns for each part; the first becomes (I + E'E)^-1 E'v */
} application;

static int64_t rows_of_part(const application *job, int64_t part)
{
    return least(job->rows, job->s->factor.n - part * job->rows);
}

static gram_status gather_task(void *argument, const gram_worker *worker)
{
    const application *job = argument;
    const gram_low_rank *s = job->s;
    const int64_t first = worker->task * job->rows, rows = rows_of_part(job, worker->task), rank = s->factor.rank;
    double *v = job->v + first * job->ldv;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < job->columns; c++) v[i * job->ldv + c] /= s->root[first + i];
    if (rank > 0)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)rank, (int)job->columns, (int)rows, 1,
                    s->factor.f + first * s->factor.room, (int)s->factor.room, v, (int)job->ldv, 0,
                    job->sums + worker->task * rank * job->columns, (int)job->columns);
    return GRAM_OK;
}

static gram_status inner_solve_task(void *argument, const gram_worker *worker)
{
    const application *job = argument;
    const gram_low_rank *s = job->s;
    const int64_t size = s->factor.rank * job->columns;
    (void)worker;
    for (int64_t part = 1; part * job->rows < s->factor.n; part++)
        for (int64_t i = 0; i < size; i++) job->sums[i] += job->sums[part * size + i];
    for (int transposed = 0; transposed < 2; transposed++)
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit,
                    (int)s->factor.rank, (int)job->columns, 1, s->inner, (int)s->factor.room, job->sums,
                    (int)job->columns);
    return GRAM_OK;
}

static gram_status scatter_task(void *argument, const gram_worker *worker)
{
    const application *job = argument;
    const gram_low_rank *s = job->s;
    const int64_t first = worker->task * job->rows, rows = rows_of_part(job, worker->task), rank = s->factor.rank;
    double *v = job->v + first * job->ldv;
    if (rank > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)job->columns, (int)rank, -1,
                    s->factor.f + first * s->factor.room, (int)s->factor.room, job->sums, (int)job->columns, 1, v,
                    (int)job->ldv);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < job->columns; c++) v[i * job->ldv + c] /= s->root[first + i];
    return GRAM_OK;
}

gram_status gram_low_rank_solve(void *user, gram_context *context, int64_t columns, double *v, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const gram_low_rank *s = user;
    const int64_t n = s->factor.n, share = (n + PARTS - 1) / PARTS;
    application job = {.s = s, .columns = columns, .ldv = ldv, .rows = share < CHUNK ? CHUNK : share, .v = v};
    const int64_t parts = (n + job.rows - 1) / job.rows, size = parts * s->factor.rank * columns;
    gram_sweep sweep = {.what = "preconditioning", .tasks = parts, .run = gather_task, .argument = &job};
    TRY(gram_take(context, "preconditioning", size, sizeof(double), (void **)&job.sums));
    TRY(gram_sweep_run(context, &sweep));
    sweep.tasks = 1;
    sweep.run = inner_solve_task;
    if (s->factor.rank > 0) TRY(gram_sweep_run(context, &sweep));
    sweep.tasks = parts;
    sweep.run = scatter_task;
    TRY(gram_sweep_run(context, &sweep));
done:
    gram_give(context, job.sums);
    return status;
}

typedef struct drawing {
    const gram_low_rank *s;
    int64_t columns, ldv;
    double *v;       /* standard normal numbers, then the draws */
    const double *g; /* rank x columns */
} drawing;

static gram_status draw_task(void *argument, const gram_worker *worker)
{
    const drawing *job = argument;
    const gram_low_rank *s = job->s;
    const int64_t first = worker->task * CHUNK, rows = least(CHUNK, s->factor.n - first), rank = s->factor.rank;
    double *v = job->v + first * job->ldv;
    if (rank > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)job->columns, (int)rank, 1,
                    s->factor.f + first * s->factor.room, (int)s->factor.room, job->g, (int)job->columns, 1, v,
                    (int)job->ldv);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < job->columns; c++) v[i * job->ldv + c] *= s->root[first + i];
    return GRAM_OK;
}

gram_status gram_low_rank_draw(gram_context *context, const gram_low_rank *s, gram_random random, int64_t columns,
                               double *v, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->factor.n, rank = s->factor.rank, each = n + s->factor.room;
    double *g = NULL, *normal = NULL;
    TRY(gram_take(context, "draws", rank * columns, sizeof(double), (void **)&g));
    TRY(gram_take(context, "draws", n + rank, sizeof(double), (void **)&normal));
    for (int64_t c = 0; c < columns; c++) {
        gram_random_normal(random, (uint64_t)(c * each), n + rank, normal);
        for (int64_t i = 0; i < n; i++) v[i * ldv + c] = normal[i];
        for (int64_t k = 0; k < rank; k++) g[k * columns + c] = normal[n + k];
    }
    drawing job = {s, columns, ldv, v, g};
    const gram_sweep sweep = {.what = "draws", .tasks = (n + CHUNK - 1) / CHUNK, .run = draw_task, .argument = &job};
    TRY(gram_sweep_run(context, &sweep));
done:
    gram_give(context, g);
    gram_give(context, normal);
    return status;
}
