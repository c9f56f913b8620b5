/* A textbook version takes the row p of the largest d, the diagonal of K - F F', adds the column (K - F F')_p/sqrt(d_p) to F and
 * begins again (Harbrecht, Peters and Schneider, Appl. Numer. Math. 62, 2012): matrix-vector products that wait for memory.
 * Here a rule (solve/pivot_rule.h) looks at a block of rows together:
 *
 *     propose candidates S by d
 *     H = (K - F F')(S, S); accept some of them by a Cholesky factorisation of H
 *     the new columns of F are (K - F F')(:, accepted) L^-T, L the factor of H(accepted)
 *
 * so that the work on K and F is in matrix products, and only accepted columns of K are computed. Column by column (a block of
 * 1) no pivot is worse than the best one: where each column of F is used many times, and n rank^2 is little beside that, fewer
 * of them are worth the slower way. */
#include "solve/pivoted_cholesky.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/ranks/collective.h"
#include "base/sweep.h"
#include "points/points.h"
#include "tile/fill.h"

enum { CHUNK = 512 }; /* rows of F in a task */

typedef struct growth {
    gram_pivoted *p;
    const gram_kernel *kernel;
    const gram_points *x;
    const gram_pivot_rule *rule;
    double tolerance, floor;
    gram_pivot_search search;
    double *columns;   /* n x block: columns of K, of the accepted */
    double *rows;      /* rows of F as far as they are made, of the candidates, then of the accepted */
    void *coordinates; /* block x d, of the points' type */
    int spread, parted;
    int64_t first, end; /* rows that this rank makes */
} growth;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- choosing ---- */

/* K(S, S) to h. */
static gram_status candidates_matrix(gram_context *context, growth *g)
{
    gram_status status = GRAM_OK;
    gram_points *points = NULL;
    const gram_pivot_search *s = &g->search;
    const int64_t d = g->x->d;
    double *f64 = g->coordinates;
    float *f32 = g->coordinates;
    if (g->x->functionals || g->x->objects) {
        TRY(gram_points_gather(context, g->x, s->candidates, s->candidate, &points));
        TRY(gram_matrix(context, g->kernel, points, NULL, s->h, s->block));
        goto done;
    }
    for (int c = 0; c < s->candidates; c++)
        for (int64_t l = 0; l < d; l++) {
            const int64_t from = s->candidate[c] * g->x->ld + l;
            if (g->x->f64)
                f64[c * d + l] = g->x->f64[from];
            else
                f32[c * d + l] = g->x->f32[from];
        }
    if (g->x->f64)
        TRY(gram_points_create_f64(context, s->candidates, d, f64, d, &points));
    else
        TRY(gram_points_create_f32(context, s->candidates, d, f32, d, &points));
    TRY(gram_matrix(context, g->kernel, points, NULL, s->h, s->block));
done:
    gram_points_release(points);
    return status;
}

/* Rows of F, `rank` numbers each. Those that other ranks keep come by a sum in which all but one add 0. */
static gram_status gather_rows(gram_context *context, growth *g, int count)
{
    const gram_pivoted *p = g->p;
    const size_t bytes = (size_t)p->rank * sizeof *g->rows;
    for (int c = 0; c < count && p->rank > 0; c++) {
        const int64_t row = g->search.candidate[c];
        if (row >= p->first && row < p->end)
            memcpy(g->rows + c * p->rank, p->f + (row - p->first) * p->room, bytes);
        else
            memset(g->rows + c * p->rank, 0, bytes);
    }
    return g->parted ? gram_ranks_sum(context, "low-rank factor", count * p->rank, g->rows) : GRAM_OK;
}

static gram_status choose_task(void *argument, const gram_worker *worker)
{
    growth *g = argument;
    gram_pivot_search *s = &g->search;
    const int rank = (int)g->p->rank;
    (void)worker;
    if (rank > 0 && s->block > 1)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, s->candidates, s->candidates, rank, -1, g->rows, rank,
                    g->rows, rank, 1, s->h, s->block);
    g->rule->accept(s);
    return GRAM_OK;
}

static gram_status choose(gram_context *context, growth *g)
{
    gram_status status = GRAM_OK;
    gram_pivot_search *s = &g->search;
    const gram_sweep sweep = {.what = "low-rank factor", .tasks = 1, .run = choose_task, .argument = g};
    s->most = (int)least(s->candidates, g->p->room - g->p->rank);
    s->count = 0;
    if (s->block == 1)
        s->h[0] = s->left[s->candidate[0]]; /* what is left of one row is known */
    else {
        TRY(candidates_matrix(context, g));
        TRY(gather_rows(context, g, s->candidates));
    }
    TRY(gram_sweep_run(context, &sweep));
    TRY(gather_rows(context, g, s->count));
done:
    return status;
}

/* ---- growing ---- */

/* A block of new columns for some rows. */
static void grow_block(const growth *g, int64_t first, int rows, double *fresh)
{
    const gram_pivot_search *s = &g->search;
    const int rank = (int)g->p->rank, room = (int)g->p->room, block = s->block;
    for (int i = 0; i < rows; i++)
        memcpy(fresh + (int64_t)i * room, g->columns + (first + i) * block, (size_t)s->count * sizeof *fresh);
    if (rank > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, s->count, rank, -1, fresh - rank, room, g->rows,
                    rank, 1, fresh, room);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, s->count, 1, s->h, block, fresh,
                room);
}

/* One new column: a product with a vector, which waits for less memory than one with a matrix of one column. */
static void grow_column(const growth *g, int64_t first, int rows, double *fresh)
{
    const int rank = (int)g->p->rank, room = (int)g->p->room;
    double *column = g->columns + first;
    if (rank > 0)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, rank, -1, fresh - rank, room, g->rows, 1, 1, column, 1);
    for (int64_t i = 0; i < rows; i++) fresh[i * room] = column[i] / g->search.h[0];
}

static gram_status grow_task(void *argument, const gram_worker *worker)
{
    const growth *g = argument;
    const gram_pivoted *p = g->p;
    const int64_t first = g->first + worker->task * CHUNK;
    const int rows = (int)least(CHUNK, g->end - first);
    double *fresh = p->f + (first - p->first) * p->room + p->rank;
    if (g->search.block == 1)
        grow_column(g, first, rows, fresh);
    else
        grow_block(g, first, rows, fresh);
    for (int64_t i = 0; i < rows; i++) {
        double sum = 0;
        for (int k = 0; k < g->search.count; k++) sum += fresh[i * p->room + k] * fresh[i * p->room + k];
        p->left[first + i] = fmax(p->left[first + i] - sum, 0);
    }
    return GRAM_OK;
}

/* Each rank has made what is left of its rows, and their new columns: now all have all of both, or of the first if F is parted. */
static gram_status join_rows(gram_context *context, growth *g)
{
    gram_status status = GRAM_OK;
    const gram_pivoted *p = g->p;
    const int64_t width = g->search.count;
    const size_t bytes = (size_t)width * sizeof(double);
    double *all = NULL;
    gram_ranks_note(context, "low-rank factor", 2 * (double)(g->end - g->first) * (double)p->rank * (double)width);
    TRY(gram_ranks_gather(context, "low-rank factor", p->n, 1, p->left));
    if (g->parted) goto done;
    TRY(gram_take(context, "low-rank factor", p->n * width, sizeof *all, (void **)&all));
    for (int64_t i = g->first; i < g->end; i++) memcpy(all + i * width, p->f + i * p->room + p->rank, bytes);
    TRY(gram_ranks_gather(context, "low-rank factor", p->n, width, all));
    for (int64_t i = 0; i < p->n; i++) memcpy(p->f + i * p->room + p->rank, all + i * width, bytes);
done:
    gram_give(context, all);
    return status;
}

static gram_status grow(gram_context *context, growth *g)
{
    gram_status status = GRAM_OK;
    gram_pivoted *p = g->p;
    const gram_pivot_search *s = &g->search;
    const gram_sweep sweep = {.what = "low-rank factor",
                              .tasks = (g->end - g->first + CHUNK - 1) / CHUNK,
                              .run = grow_task,
                              .argument = g,
                              .share_before = (double)p->rank / (double)p->room,
                              .share_after = (double)(p->rank + s->count) / (double)p->room};
    TRY(gram_matrix_columns_part(context, g->kernel, g->x, s->count, s->candidate, g->first, g->end, g->columns,
                                 s->block));
    if (sweep.tasks > 0) TRY(gram_sweep_run(context, &sweep));
    if (g->spread) TRY(join_rows(context, g));
    for (int k = 0; k < s->count; k++) {
        p->left[s->candidate[k]] = 0;
        p->pivot[p->rank + k] = s->candidate[k];
    }
    p->rank += s->count;
done:
    return status;
}

static double sum_of(int64_t n, const double *values)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += values[i];
    return sum;
}

static gram_status grow_all(gram_context *context, growth *g)
{
    gram_status status = GRAM_OK;
    gram_pivoted *p = g->p;
    TRY(gram_matrix_diagonal(context, g->kernel, g->x, p->left));
    for (int64_t i = 0; i < p->n; i++)
        FAIL_IF(!(p->left[i] >= 0) || isinf(p->left[i]), context, GRAM_ERROR_NUMERICAL,
                "low-rank factor: the diagonal of K is negative or not finite at row %lld", (long long)i);
    p->missed = p->trace = sum_of(p->n, p->left);
    g->search.floor = (g->floor > 0 ? g->floor : g->x->f32 ? 1e-6 : 1e-14) * p->trace / (double)p->n;
    while (p->rank < p->room && p->missed > g->tolerance * p->trace) {
        g->rule->propose(&g->search);
        if (g->search.candidates == 0) break;
        TRY(choose(context, g));
        if (g->search.count == 0) break; /* what d promised is rounding errors */
        TRY(grow(context, g));
        p->missed = sum_of(p->n, p->left);
    }
done:
    return status;
}

/* ---- making and ending ---- */

/* One piece of memory for the search and the blocks. */
static gram_status take_work(gram_context *context, growth *g)
{
    gram_status status = GRAM_OK;
    gram_pivot_search *s = &g->search;
    const int64_t n = g->p->n, room = g->p->room, d = g->x->d, block = s->block;
    const int64_t numbers = block * (n + room + block + d + 1) + n;
    void *last;
    TRY(gram_take(context, "low-rank factor", numbers, sizeof(double), (void **)&g->columns));
    g->rows = g->columns + block * n;
    s->h = g->rows + block * room;
    s->work = s->h + block * block;
    g->coordinates = s->work + n;
    last = s->work + n + block * d;
    s->candidate = last;
    s->left = g->p->left;
done:
    return status;
}

/* Which rows this rank makes, and which it keeps. Returns how many there is to be room for, alike on all ranks. */
static int64_t part_rows(const gram_context *context, growth *g, int parted)
{
    gram_pivoted *p = g->p;
    g->spread = g->search.block > 1 && gram_ranks_share(context, p->n);
    g->parted = g->spread && parted;
    g->end = p->end = p->n;
    if (g->spread) gram_ranks_part(context, p->n, gram_rank(context), &g->first, &g->end);
    if (!g->parted) return p->n;
    p->first = g->first;
    p->end = g->end;
    return (p->n + gram_ranks(context) - 1) / gram_ranks(context);
}

gram_status gram_pivoted_make(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                              const gram_pivoted_options *options, gram_pivoted *p)
{
    gram_status status = GRAM_OK;
    const int64_t n = x->n, room = options->room;
    growth g = {.p = p,
                .kernel = kernel,
                .x = x,
                .rule = options->rule,
                .tolerance = options->tolerance,
                .floor = options->floor};
    g.search = (gram_pivot_search){
        .n = n, .seed = context->seed, .block = options->block > 0 ? options->block : GRAM_PIVOTED_BLOCK};
    *p = (gram_pivoted){.n = n, .room = room};
    FAIL_IF(room < 1 || room > least(n, GRAM_PIVOTED_MOST) || n > INT32_MAX, context, GRAM_ERROR_ARGUMENT,
            "low-rank factor: rank = %lld of %lld rows, need 1 to %lld", (long long)room, (long long)n,
            (long long)least(n, GRAM_PIVOTED_MOST));
    const int64_t rows = part_rows(context, &g, options->parted);
    TRY(gram_take(context, "low-rank factor", rows * room, sizeof(double), (void **)&p->f));
    TRY(gram_take(context, "low-rank factor", n, sizeof(double), (void **)&p->left));
    TRY(gram_take(context, "low-rank factor", room, sizeof(int64_t), (void **)&p->pivot));
    TRY(take_work(context, &g));
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
    *p = (gram_pivoted){0};
}

size_t gram_pivoted_bytes(int64_t n, int64_t room)
{
    return (size_t)(n * room + 2 * n + GRAM_PIVOTED_BLOCK * (n + room + GRAM_PIVOTED_BLOCK)) * sizeof(double);
}
