/* The matrix-free product.
 *
 * V and the result are kept padded to whole panels. With few columns each strip of K is multiplied while it is in the
 * first level cache; with more, the strips of a tile are collected and BLAS multiplies the tile. If most panels of V are 0 but for
 * one or two of many columns, as indicators of sorted groups are, strips are multiplied with these alone.
 *
 * Between two sets a task owns one row panel (and, when there are few rows, one part of the columns, whose results are
 * added in order at the end). A set with itself needs each pair once: groups of panels meet in a tournament, a game adds
 * K_ab V_b to a's rows and K_ab' V_a to b's.
 *
 * Over several processes the games of a round are dealt out, so that each pair is made once by one of them, and the results are added up; between two
 * sets the row panels are parted and what each has made is gathered. V is on all of them. */
#include "tile/product.h"

#include <cblas.h>
#include <string.h>

#include "base/ranks/collective.h"
#include "base/tournament.h"

enum {
    FEW_COLUMNS = 4,   /* from here on BLAS */
    FEW_ACTIVE = 2,    /* columns of a panel of V that are not 0, on average: up to here strips */
    GROUPS = 128,      /* teams of the tournament, at most */
    ENOUGH_TASKS = 32, /* fewer row panels than this: the columns are parted too */
};

typedef struct product {
    const gram_engine *engine;
    int64_t columns; /* of V */
    int64_t stored;  /* with `active` one more, of zeros: it stands for no column */
    int by_strips;   /* few columns: V and out are stored column by column, else row by row */
    int64_t *
        active; /* unless NULL: panel p of V is 0 but for the columns active[first[p]], ..., active[first[p + 1] - 1] */
    int64_t *first;
    int64_t row_count; /* padded */
    int64_t column_count;
    double *v_f64;
    float *v_f32;
    double *out; /* `parts` results, one after the other */
    int64_t parts;
    int64_t group; /* panels of a team */
    size_t engine_scratch;
    int64_t ranks, rank;      /* that share the work */
    int64_t from_row, to_row; /* between two sets: row panels of this rank */
} product;

/* Where V has the numbers of a panel. */
static int64_t v_place(const product *p, int64_t column, int64_t point)
{
    return p->by_strips ? column * p->column_count + point : point * p->columns + column;
}

static int64_t out_place(const product *p, int64_t column, int64_t point)
{
    return p->by_strips ? column * p->row_count + point : point * p->columns + column;
}

/* Columns of panel i and of panel j that a strip is multiplied with, one of each at a time. */
static int64_t pair_count(const product *p, int64_t i, int64_t j)
{
    if (!p->active) return p->columns;
    const int64_t a = p->first[i + 1] - p->first[i], b = p->first[j + 1] - p->first[j];
    return a > b ? a : b;
}

static int64_t pair_column(const product *p, int64_t panel, int64_t number)
{
    if (!p->active) return number;
    return p->first[panel] + number < p->first[panel + 1] ? p->active[p->first[panel] + number] : p->columns;
}

/* ---- one strip, few columns ---- */

static void strip_times_v(const product *p, void *scratch, int64_t i, int row, int64_t j, double *out)
{
    const gram_engine *engine = p->engine;
    const int64_t first = i * GRAM_PANEL + row;
    if (engine->single) {
        const float *k = gram_engine_strip_f32(engine, scratch, i, row, j);
        for (int64_t c = 0; c < p->columns; c++)
            engine->strips->f32.multiply(k, p->v_f32 + v_place(p, c, j * GRAM_PANEL), out + out_place(p, c, first));
    } else {
        const double *k = gram_engine_strip_f64(engine, scratch, i, row, j);
        for (int64_t c = 0; c < p->columns; c++)
            engine->strips->f64.multiply(k, p->v_f64 + v_place(p, c, j * GRAM_PANEL), out + out_place(p, c, first));
    }
}

static void strip_times_both(const product *p, void *scratch, int64_t i, int row, int64_t j, double *out)
{
    const gram_engine *engine = p->engine;
    const int64_t first = i * GRAM_PANEL + row, other = j * GRAM_PANEL, pairs = pair_count(p, i, j);
    const float *f32 = engine->single ? gram_engine_strip_f32(engine, scratch, i, row, j) : NULL;
    const double *f64 = engine->single ? NULL : gram_engine_strip_f64(engine, scratch, i, row, j);
    for (int64_t t = 0; t < pairs; t++) {
        const int64_t a = pair_column(p, i, t), b = pair_column(p, j, t);
        double *to_rows = out + out_place(p, b, first), *to_columns = out + out_place(p, a, other);
        if (f32)
            engine->strips->f32.multiply_both(f32, p->v_f32 + v_place(p, b, other), p->v_f32 + v_place(p, a, first),
                                              to_rows, to_columns);
        else
            engine->strips->f64.multiply_both(f64, p->v_f64 + v_place(p, b, other), p->v_f64 + v_place(p, a, first),
                                              to_rows, to_columns);
    }
}

/* ---- one tile, many columns ---- */

/* Behind the engine's scratch: the tile, and in f32 one panel of the result. */
static void *tile_scratch(const product *p, void *scratch)
{
    return (char *)scratch + p->engine_scratch;
}

static void collect_tile(const product *p, void *scratch, int64_t i, int64_t j)
{
    void *tile = tile_scratch(p, scratch);
    for (int row = 0; row < GRAM_PANEL; row += GRAM_STRIP) {
        if (p->engine->single)
            memcpy((float *)tile + row * GRAM_PANEL, gram_engine_strip_f32(p->engine, scratch, i, row, j),
                   GRAM_STRIP_SIZE * sizeof(float));
        else
            memcpy((double *)tile + row * GRAM_PANEL, gram_engine_strip_f64(p->engine, scratch, i, row, j),
                   GRAM_STRIP_SIZE * sizeof(double));
    }
}

/* out panel `to` += T V or T' V with V's panel `from` */
static void tile_times_v(const product *p, void *scratch, enum CBLAS_TRANSPOSE transpose, int64_t from, int64_t to,
                         double *out)
{
    const int columns = (int)p->columns;
    void *tile = tile_scratch(p, scratch);
    double *target = out + to * GRAM_PANEL * p->columns;
    if (!p->engine->single) {
        cblas_dgemm(CblasRowMajor, transpose, CblasNoTrans, GRAM_PANEL, columns, GRAM_PANEL, 1, tile, GRAM_PANEL,
                    p->v_f64 + from * GRAM_PANEL * p->columns, columns, 1, target, columns);
        return;
    }
    float *result = (float *)tile + GRAM_TILE_SIZE;
    cblas_sgemm(CblasRowMajor, transpose, CblasNoTrans, GRAM_PANEL, columns, GRAM_PANEL, 1, tile, GRAM_PANEL,
                p->v_f32 + from * GRAM_PANEL * p->columns, columns, 0, result, columns);
    for (int64_t at = 0; at < GRAM_PANEL * p->columns; at++) target[at] += (double)result[at];
}

/* ---- tasks ---- */

static void rows_times_v(const product *p, void *scratch, int64_t i, int64_t j, double *out)
{
    if (p->by_strips) {
        for (int row = 0; row < GRAM_PANEL; row += GRAM_STRIP) strip_times_v(p, scratch, i, row, j, out);
        return;
    }
    collect_tile(p, scratch, i, j);
    tile_times_v(p, scratch, CblasNoTrans, j, i, out);
}

static void both_times_v(const product *p, void *scratch, int64_t i, int64_t j)
{
    if (i == j) {
        rows_times_v(p, scratch, i, j, p->out);
    } else if (p->by_strips) {
        for (int row = 0; row < GRAM_PANEL; row += GRAM_STRIP) strip_times_both(p, scratch, i, row, j, p->out);
    } else {
        collect_tile(p, scratch, i, j);
        tile_times_v(p, scratch, CblasNoTrans, j, i, p->out);
        tile_times_v(p, scratch, CblasTrans, i, j, p->out);
    }
}

static gram_status cross_task(void *argument, const gram_worker *worker)
{
    const product *p = argument;
    const int64_t i = p->from_row + worker->task / p->parts, part = worker->task % p->parts;
    const int64_t panels = gram_engine_column_panels(p->engine);
    double *out = p->out + part * p->row_count * p->columns;
    gram_engine_begin(p->engine, worker->scratch, worker);
    for (int64_t j = part * panels / p->parts; j < (part + 1) * panels / p->parts; j++)
        rows_times_v(p, worker->scratch, i, j, out);
    return GRAM_OK;
}

static gram_status symmetric_task(void *argument, const gram_worker *worker)
{
    const product *p = argument;
    const int64_t panels = gram_engine_row_panels(p->engine), teams = (panels + p->group - 1) / p->group;
    const int64_t game = worker->task * p->ranks + (p->rank + worker->round) % p->ranks;
    int64_t a, b;
    if (game >= gram_tournament_games(teams) || !gram_tournament_game(teams, worker->round, game, &a, &b))
        return GRAM_OK;
    gram_engine_begin(p->engine, worker->scratch, worker);
    for (int64_t i = a * p->group; i < (a + 1) * p->group && i < panels; i++)
        for (int64_t j = b * p->group; j < (b + 1) * p->group && j <= i; j++) both_times_v(p, worker->scratch, i, j);
    return GRAM_OK;
}

/* ---- the whole ---- */

static void pack_v(const product *p, const double *v, int64_t ldv)
{
    for (int64_t i = 0; i < p->engine->m; i++)
        for (int64_t c = 0; c < p->columns; c++) {
            if (p->engine->single)
                p->v_f32[v_place(p, c, i)] = (float)v[i * ldv + c];
            else
                p->v_f64[v_place(p, c, i)] = v[i * ldv + c];
        }
}

static gram_status run(gram_context *context, product *p)
{
    const gram_engine *engine = p->engine;
    const int64_t panels = gram_engine_row_panels(engine), teams = (panels + p->group - 1) / p->group;
    const size_t real = engine->single ? sizeof(float) : sizeof(double);
    p->engine_scratch = gram_engine_scratch(engine);
    const size_t tile = p->by_strips ? 0 : (GRAM_TILE_SIZE + GRAM_PANEL * (size_t)p->columns) * real;
    gram_sweep sweep = {.what = "kernel product", .scratch_bytes = p->engine_scratch + tile, .argument = p};
    if (engine->symmetric) {
        sweep.run = symmetric_task;
        sweep.tasks = (gram_tournament_games(teams) + p->ranks - 1) / p->ranks;
        sweep.rounds = gram_tournament_rounds(teams);
    } else {
        sweep.run = cross_task;
        sweep.tasks = (p->to_row - p->from_row) * p->parts;
    }
    return sweep.tasks > 0 ? gram_sweep_run(context, &sweep) : GRAM_OK;
}

/* ---- over several processes ---- */

/* Operations of this rank: an entry takes three for each column of the points and some twenty for its profile, and two for each column of V that it is
 * multiplied with, on both sides of the diagonal. */
static double operations(const product *p)
{
    enum { PROFILE = 20 };
    const gram_engine *engine = p->engine;
    const double n = (double)engine->n, columns = (double)p->columns;
    if (engine->symmetric) return n * (n + 1) / 2 / (double)p->ranks * (3 * (double)engine->d + PROFILE + 4 * columns);
    return (double)((p->to_row - p->from_row) * GRAM_PANEL) * (double)engine->m *
           (3 * (double)engine->d + PROFILE + 2 * columns);
}

static void choose_ranks(const gram_context *context, product *p)
{
    const gram_engine *engine = p->engine;
    const int64_t panels = gram_engine_row_panels(engine);
    const int shared = gram_ranks_share(context, engine->n < engine->m ? engine->m : engine->n);
    p->ranks = shared ? gram_ranks(context) : 1;
    p->rank = shared ? gram_rank(context) : 0;
    p->from_row = 0;
    p->to_row = panels;
    if (shared && !engine->symmetric) gram_ranks_part(context, panels, (int)p->rank, &p->from_row, &p->to_row);
}

/* What the ranks made becomes the whole, on each of them: out without gaps, a row panel after the other. */
static gram_status join(gram_context *context, const product *p, double *out)
{
    gram_status status = GRAM_OK;
    if (p->engine->symmetric)
        TRY(gram_ranks_sum(context, "kernel product", p->engine->n * p->columns, out));
    else
        TRY(gram_ranks_gather(context, "kernel product", gram_engine_row_panels(p->engine), GRAM_PANEL * p->columns,
                              out));
    gram_ranks_note(context, "kernel products", operations(p));
done:
    return status;
}

static void unpack_out(const product *p, double *out, int64_t ldo)
{
    for (int64_t i = 0; i < p->engine->n; i++)
        for (int64_t c = 0; c < p->columns; c++) {
            double sum = 0;
            for (int64_t part = 0; part < p->parts; part++)
                sum += p->out[part * p->row_count * p->columns + out_place(p, c, i)];
            out[i * ldo + c] = sum;
        }
}

static gram_status unpack_joined(gram_context *context, const product *p, double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    const size_t row = (size_t)p->columns * sizeof *out;
    double *whole = NULL;
    TRY(gram_take(context, "matrix_product: K V", p->row_count * p->columns, sizeof *whole, (void **)&whole));
    unpack_out(p, whole, p->columns);
    TRY(join(context, p, whole));
    for (int64_t i = 0; i < p->engine->n; i++) memcpy(out + i * ldo, whole + i * p->columns, row);
done:
    gram_give(context, whole);
    return status;
}

/* Lists the columns of each panel of V that are not 0, if they are few of many. */
static gram_status find_active(gram_context *context, product *p, const double *v, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const int64_t n = p->engine->m, panels = gram_engine_column_panels(p->engine), most = FEW_ACTIVE * panels;
    int64_t count = 0;
    TRY(gram_take(context, "matrix_product: columns", most + panels + 1, sizeof *p->first, (void **)&p->first));
    p->active = p->first + panels + 1;
    for (int64_t panel = 0; panel < panels; panel++) {
        p->first[panel] = count;
        for (int64_t c = 0; c < p->columns; c++) {
            int64_t i = panel * GRAM_PANEL;
            const int64_t end = i + GRAM_PANEL < n ? i + GRAM_PANEL : n;
            while (i < end && v[i * ldv + c] == 0) i++;
            if (i == end) continue;
            if (count < most) p->active[count] = c;
            count++;
        }
    }
    p->first[panels] = count;
    if (count > most) p->active = NULL;
done:
    return status;
}

static void choose_parts(product *p)
{
    const int64_t rows = gram_engine_row_panels(p->engine), columns = gram_engine_column_panels(p->engine);
    p->parts = 1;
    p->group = (rows + GROUPS * p->ranks - 1) / (GROUPS * p->ranks);
    if (p->engine->symmetric || rows >= ENOUGH_TASKS) return;
    p->parts = (ENOUGH_TASKS + rows - 1) / rows;
    if (p->parts > columns) p->parts = columns;
}

gram_status gram_engine_product(gram_context *context, const gram_engine *engine, int64_t columns, const double *v,
                                int64_t ldv, double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    product p = {.engine = engine, .columns = columns};
    p.row_count = gram_engine_row_panels(engine) * GRAM_PANEL;
    p.column_count = gram_engine_column_panels(engine) * GRAM_PANEL;
    choose_ranks(context, &p);
    choose_parts(&p);
    const size_t real = engine->single ? sizeof(float) : sizeof(double);
    void **packed = engine->single ? (void **)&p.v_f32 : (void **)&p.v_f64;
    if (engine->symmetric && columns >= FEW_COLUMNS) TRY(find_active(context, &p, v, ldv));
    p.by_strips = columns < FEW_COLUMNS || p.active;
    p.stored = columns + (p.active != NULL);
    TRY(gram_take(context, "matrix_product: V", p.column_count * p.stored, real, packed));
    TRY(gram_take(context, "matrix_product: K V", p.parts * p.row_count * p.stored, sizeof(double), (void **)&p.out));
    memset(*packed, 0, (size_t)(p.column_count * p.stored) * real);
    memset(p.out, 0, (size_t)(p.parts * p.row_count * p.stored) * sizeof(double));
    pack_v(&p, v, ldv);
    TRY(run(context, &p));
    if (p.ranks > 1)
        TRY(unpack_joined(context, &p, out, ldo));
    else
        unpack_out(&p, out, ldo);
done:
    gram_give(context, *packed);
    gram_give(context, p.out);
    gram_give(context, p.first);
    return status;
}

static gram_status check_arguments(gram_context *context, const gram_engine *engine, int64_t columns, const double *v,
                                   int64_t ldv, const double *out, int64_t ldo)
{
    enum { MOST_COLUMNS = 1 << 24 }; /* BLAS counts in 32 bits */
    gram_status status = GRAM_OK;
    int64_t numbers;
    FAIL_IF(columns < 1 || columns > MOST_COLUMNS, context, GRAM_ERROR_ARGUMENT,
            "matrix_product: columns = %lld, need 1 to %d", (long long)columns, (int)MOST_COLUMNS);
    FAIL_IF(!v, context, GRAM_ERROR_ARGUMENT, "matrix_product: v is NULL");
    FAIL_IF(!out, context, GRAM_ERROR_ARGUMENT, "matrix_product: out is NULL");
    FAIL_IF(ldv < columns, context, GRAM_ERROR_ARGUMENT, "matrix_product: ldv = %lld is less than columns = %lld",
            (long long)ldv, (long long)columns);
    FAIL_IF(ldo < columns, context, GRAM_ERROR_ARGUMENT, "matrix_product: ldo = %lld is less than columns = %lld",
            (long long)ldo, (long long)columns);
    FAIL_IF(!gram_size_multiply(engine->n + GRAM_PANEL, columns * ENOUGH_TASKS, &numbers), context, GRAM_ERROR_OVERFLOW,
            "matrix_product: %lld columns are more than can be addressed", (long long)columns);
done:
    return status;
}

static gram_status multiply(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                            const gram_points *y, int64_t columns, const double *v, int64_t ldv, double *out,
                            int64_t ldo)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = NULL;
    const gram_engine_request request = {.kernel = kernel, .x = x, .y = y};
    TRY(gram_engine_create(context, &request, &engine));
    TRY(check_arguments(context, engine, columns, v, ldv, out, ldo));
    TRY(gram_engine_product(context, engine, columns, v, ldv, out, ldo));
done:
    gram_engine_destroy(engine);
    return status;
}

/* Many rows against few would be held twice, so they go by in pieces. Packing y again for each piece costs little where a piece has as
 * many rows. */
static int64_t piece_of(const gram_points *x, const gram_points *y)
{
    if (!x || !y || x == y || x->functionals) return INT64_MAX;
    return gram_packed_rows(x->d) > y->n ? gram_packed_rows(x->d) : y->n;
}

gram_status gram_matrix_product(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                const gram_points *y, int64_t columns, const double *v, int64_t ldv, double *out,
                                int64_t ldo)
{
    gram_status status = GRAM_OK;
    const int64_t piece = piece_of(x, y);
    if (!context) return GRAM_ERROR_ARGUMENT;
    if (!x || x->n <= piece || !out) return multiply(context, kernel, x, y, columns, v, ldv, out, ldo);
    for (int64_t first = 0; first < x->n && status >= 0; first += piece) {
        const int64_t count = x->n - first < piece ? x->n - first : piece;
        gram_points *part = NULL;
        status = gram_points_part(context, x, first, count, &part);
        if (status >= 0) status = multiply(context, kernel, part, y, columns, v, ldv, out + first * ldo, ldo);
        gram_points_release(part);
    }
    return status;
}
