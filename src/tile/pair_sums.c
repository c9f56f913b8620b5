/* Sums over the pairs of a sample: one sweep over the tiles below the diagonal, a task for each panel of rows.
 *
 * A task writes its sums to a row of its own, and the rows are added in order: the same bits for any number of threads. The
 * longest rows come first, so that the threads end together. Over several processes the panels are dealt out, and rows that others
 * made are added as they are: the same bits for any number of them, too. */
#include "tile/pair_sums.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/ranks/collective.h"
#include "tile/product.h"

/* ---- centring ---- */

/* Sums over whole rows become a, c and the diagonal. */
static void centre(gram_pairs *pairs, gram_centring centring)
{
    const int64_t n = pairs->n;
    const int all = centring == GRAM_CENTRE_ALL;
    const double rows = all ? (double)n : (double)(n - 2), others = all ? (double)n : (double)(n - 1);
    double total = 0, most = 0, largest = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!all) pairs->row[i] -= pairs->diagonal[i];
        total += pairs->row[i];
        pairs->row[i] /= rows;
        most = fmax(most, fabs(pairs->row[i]));
        largest = fmax(largest, fabs(pairs->diagonal[i]));
    }
    pairs->offset = total / rows / others;
    pairs->limit = largest + 2 * most + fabs(pairs->offset);
    for (int64_t i = 0; i < n; i++) pairs->diagonal[i] += pairs->offset - 2 * pairs->row[i];
}

void gram_pairs_destroy(gram_context *context, gram_pairs *pairs)
{
    gram_give(context, pairs->row);
    gram_give(context, pairs->diagonal);
    gram_engine_destroy(pairs->engine);
    memset(pairs, 0, sizeof *pairs);
}

/* ---- one strip ---- */

/* C in place of K; 0 on and above the diagonal and beyond n. */
static void centre_strip(const gram_pairs *pairs, int64_t i, int row, int64_t j, double *k)
{
    const double *a = pairs->row + i * GRAM_PANEL + row, *b = pairs->row + j * GRAM_PANEL;
    for (int r = 0; r < GRAM_STRIP; r++) {
        const int64_t left = i * GRAM_PANEL + row + r < pairs->n ? i * GRAM_PANEL + row + r - j * GRAM_PANEL : 0;
        const int columns = left < GRAM_PANEL ? (int)left : GRAM_PANEL;
        double *out = k + (ptrdiff_t)r * GRAM_PANEL;
        const double shift = pairs->offset - a[r];
        for (int c = 0; c < columns; c++) out[c] += shift - b[c];
        for (int c = columns; c < GRAM_PANEL; c++) out[c] = 0;
    }
}

static double *centred_strip(const gram_pairs *pairs, void *scratch, int64_t i, int row, int64_t j)
{
    double *k = gram_engine_strip_f64(pairs->engine, scratch, i, row, j);
    centre_strip(pairs, i, row, j, k);
    return k;
}

/* ---- sweeps whose tasks are panels of rows, the longest first ---- */

typedef struct rows_sweep {
    const gram_pairs *pairs, *other;
    int64_t count; /* sums of a task */
    int64_t panels;
    size_t engine_scratch, other_scratch;
    double *sums;   /* panels x count */
    int64_t *whole; /* the same in whole numbers */
    const uint8_t *bits;
    const double *w;
    double scale;
    double *out; /* of gram_pairs_matrix */
    int64_t ld;
    double *most;        /* of tasks: the largest |C_ij|, NULL if nobody asks */
    int64_t ranks, rank; /* that share the panels */
} rows_sweep;

static int64_t task_panel(const rows_sweep *s, const gram_worker *worker)
{
    return s->panels - 1 - (worker->task * s->ranks + s->rank);
}

/* Of this rank. */
static int64_t tasks_of(const rows_sweep *s)
{
    return (s->panels - s->rank + s->ranks - 1) / s->ranks;
}

static rows_sweep make_sweep(const gram_pairs *pairs, int64_t count)
{
    const rows_sweep s = {.pairs = pairs,
                          .count = count,
                          .panels = pairs->padded / GRAM_PANEL,
                          .ranks = 1,
                          .engine_scratch = gram_engine_scratch(pairs->engine)};
    return s;
}

static gram_status run(gram_context *context, rows_sweep *s, const char *what, gram_task_fn task, size_t more)
{
    const gram_sweep sweep = {.what = what,
                              .tasks = tasks_of(s),
                              .scratch_bytes = s->engine_scratch + s->other_scratch + more,
                              .run = task,
                              .argument = s};
    return sweep.tasks > 0 ? gram_sweep_run(context, &sweep) : GRAM_OK;
}

/* ---- over several processes ---- */

static void share(const gram_context *context, rows_sweep *s)
{
    if (!gram_ranks_share(context, s->pairs->n)) return;
    s->ranks = gram_ranks(context);
    s->rank = gram_rank(context);
}

/* Sums of tasks, each made by one rank and 0 on the others. */
static gram_status join(gram_context *context, const rows_sweep *s, int64_t count, double *sums)
{
    const double n = (double)s->pairs->n;
    if (s->ranks == 1) return GRAM_OK;
    gram_ranks_note(context, "sums over pairs", n * n / 2 * (3 * (double)s->pairs->engine->d + 24) / (double)s->ranks);
    return gram_ranks_sum(context, "pairs", s->panels * count, sums);
}

/* The same for whole numbers, which are below 2^53. */
static gram_status join_whole(gram_context *context, const rows_sweep *s)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = s->panels * s->count;
    double *sums = NULL;
    if (s->ranks == 1) return GRAM_OK;
    TRY(gram_take(context, "pairs: sums of tasks", numbers, sizeof *sums, (void **)&sums));
    for (int64_t i = 0; i < numbers; i++) sums[i] = (double)s->whole[i];
    TRY(join(context, s, s->count, sums));
    for (int64_t i = 0; i < numbers; i++) s->whole[i] = (int64_t)sums[i];
done:
    gram_give(context, sums);
    return status;
}

/* ---- subsets ---- */

int64_t gram_subset_bytes(int64_t points, int64_t count)
{
    return (points + GRAM_PANEL - 1) / GRAM_PANEL * count * GRAM_SUBSET_BYTES;
}

static gram_status subsets_task(void *argument, const gram_worker *worker)
{
    const rows_sweep *s = argument;
    const gram_strips_subset *subset = &s->pairs->engine->strips->subset;
    const int64_t i = task_panel(s, worker);
    void *rest = (char *)worker->scratch + s->engine_scratch;
    int32_t *tables = rest;
    int32_t *numbers = tables + GRAM_SUBSET_TABLE;
    gram_engine_begin(s->pairs->engine, worker->scratch, worker);
    for (int64_t j = 0; j <= i; j++)
        for (int row = 0; row < GRAM_PANEL && i * GRAM_PANEL + row < s->pairs->n; row += GRAM_STRIP) {
            const double *k = centred_strip(s->pairs, worker->scratch, i, row, j);
            subset->quantise(k, s->scale, numbers);
            subset->tabulate(numbers, tables);
            subset->add(tables, s->count, s->bits + i * s->count * GRAM_SUBSET_BYTES + row / 8,
                        s->bits + j * s->count * GRAM_SUBSET_BYTES, s->whole + i * s->count);
        }
    return GRAM_OK;
}

gram_status gram_pairs_subsets(gram_context *context, const gram_pairs *pairs, int64_t count, const uint8_t *bits,
                               int64_t *sums, double *unit)
{
    enum { SCRATCH = (GRAM_SUBSET_TABLE + GRAM_STRIP_SIZE) * (int)sizeof(int32_t) };
    gram_status status = GRAM_OK;
    rows_sweep s = make_sweep(pairs, count);
    s.bits = bits;
    s.scale = pairs->largest > 0 ? GRAM_SUBSET_LARGEST / pairs->largest : 0;
    TRY(gram_take(context, "pairs: sums of tasks", s.panels * count, sizeof(int64_t), (void **)&s.whole));
    memset(s.whole, 0, (size_t)(s.panels * count) * sizeof(int64_t));
    share(context, &s);
    TRY(run(context, &s, "permutations", subsets_task, SCRATCH));
    TRY(join_whole(context, &s));
    memset(sums, 0, (size_t)count * sizeof(int64_t));
    *unit = pairs->largest / GRAM_SUBSET_LARGEST;
    for (int64_t i = 0; i < s.panels; i++)
        for (int64_t p = 0; p < count; p++) sums[p] += s.whole[i * count + p];
done:
    gram_give(context, s.whole);
    return status;
}

/* ---- quadratic forms ---- */

/* T W by BLAS for a tile T of C, then its sums with W of the rows. */
static gram_status forms_task(void *argument, const gram_worker *worker)
{
    const rows_sweep *s = argument;
    const int64_t i = task_panel(s, worker);
    const int count = (int)s->count;
    void *rest = (char *)worker->scratch + s->engine_scratch;
    double *tile = rest, *product = tile + GRAM_TILE_SIZE;
    const double *rows = s->w + i * GRAM_PANEL * s->count;
    memset(product, 0, (size_t)(GRAM_PANEL * s->count) * sizeof(double));
    gram_engine_begin(s->pairs->engine, worker->scratch, worker);
    for (int64_t j = 0; j <= i; j++) {
        for (int row = 0; row < GRAM_PANEL; row += GRAM_STRIP)
            memcpy(tile + (ptrdiff_t)row * GRAM_PANEL, centred_strip(s->pairs, worker->scratch, i, row, j),
                   GRAM_STRIP_SIZE * sizeof(double));
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, GRAM_PANEL, count, GRAM_PANEL, 1, tile, GRAM_PANEL,
                    s->w + j * GRAM_PANEL * s->count, count, 1, product, count);
    }
    for (int64_t at = 0; at < GRAM_PANEL * s->count; at++)
        s->sums[i * s->count + at % s->count] += rows[at] * product[at];
    return GRAM_OK;
}

gram_status gram_pairs_forms(gram_context *context, const gram_pairs *pairs, int64_t count, const double *w,
                             double *sums)
{
    gram_status status = GRAM_OK;
    rows_sweep s = make_sweep(pairs, count);
    s.w = w;
    TRY(gram_take(context, "pairs: sums of tasks", s.panels * count, sizeof(double), (void **)&s.sums));
    memset(s.sums, 0, (size_t)(s.panels * count) * sizeof(double));
    share(context, &s);
    TRY(run(context, &s, "quadratic forms", forms_task,
            (size_t)(GRAM_TILE_SIZE + GRAM_PANEL * count) * sizeof(double)));
    TRY(join(context, &s, count, s.sums));
    memset(sums, 0, (size_t)count * sizeof(double));
    for (int64_t i = 0; i < s.panels; i++)
        for (int64_t p = 0; p < count; p++) sums[p] += s.sums[i * count + p];
done:
    gram_give(context, s.sums);
    return status;
}

/* ---- sums of products ---- */

static gram_status products_task(void *argument, const gram_worker *worker)
{
    const rows_sweep *s = argument;
    const int64_t i = task_panel(s, worker);
    void *second = (char *)worker->scratch + s->engine_scratch;
    gram_engine_begin(s->pairs->engine, worker->scratch, worker);
    if (s->other != s->pairs) gram_engine_begin(s->other->engine, second, worker);
    double total = 0, most = 0;
    for (int64_t j = 0; j <= i; j++)
        for (int row = 0; row < GRAM_PANEL; row += GRAM_STRIP) {
            const double *c = centred_strip(s->pairs, worker->scratch, i, row, j), *d = c;
            if (s->other != s->pairs) d = centred_strip(s->other, second, i, row, j);
            double part = 0;
            for (int at = 0; at < GRAM_STRIP_SIZE; at++) part += c[at] * d[at];
            total += part;
            for (int at = 0; at < GRAM_STRIP_SIZE && s->most; at++) most = fmax(most, fabs(c[at]));
        }
    s->sums[i] = total;
    if (s->most) s->most[i] = most;
    return GRAM_OK;
}

/* sum over i > j of C_ij D_ij; `largest`, unless it is NULL, gets that of |C_ij|. */
static gram_status sum_products(gram_context *context, const gram_pairs *c, const gram_pairs *d, double *sum,
                                double *largest)
{
    gram_status status = GRAM_OK;
    rows_sweep s = make_sweep(c, 1);
    s.other = d;
    if (c != d) s.other_scratch = gram_engine_scratch(d->engine);
    TRY(gram_take(context, "pairs: sums of tasks", s.panels, sizeof(double), (void **)&s.sums));
    if (largest) TRY(gram_take(context, "pairs: largest of tasks", s.panels, sizeof(double), (void **)&s.most));
    memset(s.sums, 0, (size_t)s.panels * sizeof *s.sums);
    if (largest) memset(s.most, 0, (size_t)s.panels * sizeof *s.most);
    share(context, &s);
    TRY(run(context, &s, "pairs", products_task, 0));
    TRY(join(context, &s, 1, s.sums));
    if (largest) TRY(join(context, &s, 1, s.most));
    *sum = 0;
    if (largest) *largest = 0;
    for (int64_t i = 0; i < s.panels; i++) *sum += s.sums[i];
    for (int64_t i = 0; i < s.panels && largest; i++) *largest = fmax(*largest, s.most[i]);
done:
    gram_give(context, s.sums);
    gram_give(context, s.most);
    return status;
}

gram_status gram_pairs_products(gram_context *context, const gram_pairs *c, const gram_pairs *d, double *sum)
{
    return sum_products(context, c, d, sum, NULL);
}

gram_status gram_pairs_create(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                              gram_centring centring, gram_pairs *pairs)
{
    gram_status status = GRAM_OK;
    double *ones = NULL;
    const gram_engine_request request = {.kernel = kernel, .x = points, .always_double = 1};
    memset(pairs, 0, sizeof *pairs);
    TRY(gram_engine_create(context, &request, &pairs->engine));
    pairs->n = pairs->engine->n;
    pairs->padded = gram_engine_row_panels(pairs->engine) * GRAM_PANEL;
    TRY(gram_take(context, "pairs: row sums", pairs->padded, sizeof(double), (void **)&pairs->row));
    TRY(gram_take(context, "pairs: diagonal", pairs->padded, sizeof(double), (void **)&pairs->diagonal));
    TRY(gram_take(context, "pairs: ones", pairs->n, sizeof(double), (void **)&ones));
    memset(pairs->row, 0, (size_t)pairs->padded * sizeof(double));
    memset(pairs->diagonal, 0, (size_t)pairs->padded * sizeof(double));
    for (int64_t i = 0; i < pairs->n; i++) ones[i] = 1;
    TRY(gram_engine_diagonal(context, pairs->engine, pairs->diagonal));
    TRY(gram_engine_product(context, pairs->engine, 1, ones, 1, pairs->row, 1));
    centre(pairs, centring);
    FAIL_IF(!isfinite(pairs->limit * (double)pairs->n * (double)pairs->n), context, GRAM_ERROR_NUMERICAL,
            "the kernel's values on these points are too large to be summed");
    TRY(sum_products(context, pairs, pairs, &pairs->squares, &pairs->largest));
done:
    gram_give(context, ones);
    return status;
}

/* ---- the whole matrix ---- */

/* A strip and its mirror image: no other task writes there. */
static void put_strip(const rows_sweep *s, int64_t first, int64_t column, const double *c)
{
    for (int64_t r = first; r < first + GRAM_STRIP && r < s->pairs->n; r++)
        for (int64_t j = column; j < column + GRAM_PANEL && j < r; j++)
            s->out[r * s->ld + j] = s->out[j * s->ld + r] = c[(r - first) * GRAM_PANEL + j - column];
}

static gram_status matrix_task(void *argument, const gram_worker *worker)
{
    const rows_sweep *s = argument;
    const int64_t i = task_panel(s, worker);
    gram_engine_begin(s->pairs->engine, worker->scratch, worker);
    for (int64_t j = 0; j <= i; j++)
        for (int row = 0; row < GRAM_PANEL; row += GRAM_STRIP)
            put_strip(s, i * GRAM_PANEL + row, j * GRAM_PANEL, centred_strip(s->pairs, worker->scratch, i, row, j));
    return GRAM_OK;
}

gram_status gram_pairs_matrix(gram_context *context, const gram_pairs *pairs, double *out, int64_t ld)
{
    rows_sweep s = make_sweep(pairs, 1);
    s.out = out;
    s.ld = ld;
    for (int64_t i = 0; i < pairs->n; i++) out[i * ld + i] = pairs->diagonal[i];
    return run(context, &s, "centred matrix", matrix_task, 0);
}
