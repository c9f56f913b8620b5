/* Many small problems at once, each by one thread with its whole matrix in f64.
 *
 * The matrix of a pair of classes is four blocks. Those of one class with itself are made once and serve all of its pairs;
 * the one between them belongs to the pair alone. So no kernel value is made twice, and nothing is copied together. For
 * regression both variables of a row share one matrix. */
#include <math.h>
#include <string.h>

#include "base/sweep.h"
#include "method/svm/svm.h"
#include "tile/fill.h"

enum {
    SLICE = 20000, /* steps between looks at the clock */
    FEW_ROWS = 128 /* whose matrices are filled in the time that starting a thread takes */
};

typedef struct small {
    gram_svm_data *data;
    gram_context *context; /* only a task that is alone runs in the context's own thread for sure */
    const gram_smo_loops *loops;
    int64_t *place;  /* classes + 1: where a class begins among the packed points, whole panels */
    double *numbers; /* the packed points; what fills up repeats a row of the class */
    gram_points *points;
    gram_engine *engine;
    double **own;      /* classes: the block of a class with itself */
    int64_t widest[2]; /* packed points of the two largest classes */
    size_t problem_bytes, cross_bytes, array_bytes;
} small;

static int64_t panels_of(int64_t count)
{
    return (count + GRAM_PANEL - 1) / GRAM_PANEL;
}

static int64_t width_of(const small *s, int64_t class)
{
    return s->place[class + 1] - s->place[class];
}

int gram_svm_is_small(const gram_svm_data *data)
{
    double bytes = 0;
    if (data->indexed) return 0;
    for (int64_t o = 0; o < data->outputs; o++)
        if (gram_svm_problem_size(data, o) > GRAM_SVM_SMALL) return 0;
    for (int64_t c = 0; c < data->classes; c++) {
        const double width = (double)(GRAM_PANEL * panels_of(data->first[c + 1] - data->first[c]));
        bytes += width * width * (double)sizeof(double);
    }
    return bytes <= (double)data->cache_bytes;
}

/* ---- points and blocks ---- */

static gram_status pack_points(gram_context *context, small *s)
{
    gram_status status = GRAM_OK;
    const gram_svm_data *data = s->data;
    const int64_t d = data->x->d;
    for (int64_t c = 0; c < data->classes; c++) {
        const int64_t width = GRAM_PANEL * panels_of(data->first[c + 1] - data->first[c]);
        s->place[c + 1] = s->place[c] + width;
        if (width > s->widest[0]) {
            s->widest[1] = s->widest[0];
            s->widest[0] = width;
        } else if (width > s->widest[1])
            s->widest[1] = width;
    }
    const int64_t all = s->place[data->classes];
    TRY(gram_take(context, "points", all * d, sizeof(double), (void **)&s->numbers));
    for (int64_t c = 0; c < data->classes; c++)
        for (int64_t i = s->place[c]; i < s->place[c + 1]; i++) {
            const int64_t at = data->first[c] + i - s->place[c],
                          row = data->member[at < data->first[c + 1] ? at : data->first[c]];
            for (int64_t l = 0; l < d; l++) s->numbers[i * d + l] = gram_points_cell(data->x, row, l);
        }
    TRY(gram_points_create_like(context, data->x, all, s->numbers, 0, &s->points));
    const gram_engine_request request = {.kernel = data->kernel, .x = s->points};
    TRY(gram_engine_create(context, &request, &s->engine));
done:
    return status;
}

/* A panel of rows of a class's own block, up to the diagonal, mirrored. Tasks are numbered class after class. */
static gram_status fill_own(void *argument, const gram_worker *worker)
{
    const small *s = argument;
    int64_t class = 0;
    while (worker->task * GRAM_PANEL >= s->place[class + 1]) class ++;
    const int64_t first = s->place[class] / GRAM_PANEL, row = worker->task - first, width = width_of(s, class);
    gram_engine_begin(s->engine, worker->scratch, worker);
    for (int64_t column = 0; column <= row; column++) {
        double *out = s->own[class] + row * GRAM_PANEL * width + column * GRAM_PANEL;
        double *mirror = s->own[class] + column * GRAM_PANEL * width + row * GRAM_PANEL;
        gram_fill_tile(s->engine, worker->scratch, first + row, first + column, out, width,
                       column < row ? mirror : NULL, width);
    }
    return GRAM_OK;
}

static gram_status make_own(gram_context *context, small *s)
{
    gram_status status = GRAM_OK;
    for (int64_t c = 0; c < s->data->classes; c++)
        TRY(gram_take(context, "kernel matrix of a class", width_of(s, c) * width_of(s, c), sizeof(double),
                      (void **)&s->own[c]));
    const gram_sweep sweep = {.what = "support vectors",
                              .tasks = s->place[s->data->classes] / GRAM_PANEL,
                              .scratch_bytes = gram_engine_scratch(s->engine),
                              .most_threads = s->data->n <= FEW_ROWS,
                              .run = fill_own,
                              .argument = s};
    TRY(gram_sweep_run(context, &sweep));
done:
    return status;
}

/* ---- a problem ---- */

typedef struct solving {
    const small *s;
    gram_svm_problem problem;
    gram_smo_block_f64 block;
    int64_t rows[2]; /* of the segments, without what fills up */
} solving;

/* K between two classes and its transpose. */
static void fill_cross(const solving *job, void *scratch, int64_t a, int64_t b, double *ab, double *ba)
{
    const small *s = job->s;
    const int64_t rows = width_of(s, a), columns = width_of(s, b);
    gram_engine_begin(s->engine, scratch, NULL);
    for (int64_t i = 0; i < rows; i += GRAM_PANEL)
        for (int64_t j = 0; j < columns; j += GRAM_PANEL)
            gram_fill_tile(s->engine, scratch, (s->place[a] + i) / GRAM_PANEL, (s->place[b] + j) / GRAM_PANEL,
                           ab + i * columns + j, columns, ba + j * rows + i, rows);
}

static void set_matrix(gram_smo_block_f64 *block, int s, int t, const double *k, int64_t ld)
{
    block->k[s][t] = k;
    block->ld[s][t] = ld;
}

static void set_blocks(solving *job, void *scratch, double *cross)
{
    const small *s = job->s;
    gram_smo_block_f64 *block = &job->block;
    const int64_t a = job->problem.class[0], b = job->problem.class[1];
    const int64_t wa = width_of(s, a), wb = width_of(s, b);
    double *ab = cross, *ba = cross + wa * wb;
    set_matrix(block, 0, 0, s->own[a], wa);
    block->count[0] = wa;
    job->rows[0] = job->problem.count[0];
    if (a == b) {
        for (int t = 1; t < 4; t++) set_matrix(block, t / 2, t % 2, s->own[a], wa);
        block->count[1] = gram_svm_is_regression(s->data->options.kind) ? wa : 0;
        job->rows[1] = gram_svm_is_regression(s->data->options.kind) ? job->rows[0] : 0;
        return;
    }
    fill_cross(job, scratch, a, b, ab, ba);
    set_matrix(block, 0, 1, ab, wb);
    set_matrix(block, 1, 0, ba, wa);
    set_matrix(block, 1, 1, s->own[b], wb);
    block->count[1] = wb;
    job->rows[1] = job->problem.count[1];
}

/* Variable i of segment g in the arrays of the block, and in those of the problem. */
static void fill_segment(solving *job, int g)
{
    gram_smo_block_f64 *block = &job->block;
    const gram_svm_problem *p = &job->problem;
    const int64_t to = g ? block->count[0] : 0, from = g ? job->rows[0] : 0;
    for (int64_t i = 0; i < block->count[g]; i++) {
        const int inside = i < job->rows[g];
        block->v[to + i] = inside ? p->c[from + i] : 0;
        block->b[to + i] = inside ? p->smo.b[from + i] : 0;
        block->lower[to + i] = inside ? p->lower[from + i] : 0;
        block->upper[to + i] = inside ? p->upper[from + i] : 0;
        block->diagonal[to + i] = inside ? block->k[g][g][i * block->ld[g][g] + i] : 1;
        if (inside && fabs(block->diagonal[to + i]) > block->least) block->least = fabs(block->diagonal[to + i]);
    }
}

/* v -= K b for the b that the problem starts with. */
static void subtract_start(gram_smo_block_f64 *block)
{
    for (int g = 0; g < 2; g++)
        for (int64_t i = 0; i < block->count[g]; i++) {
            const double weight = block->b[(g ? block->count[0] : 0) + i];
            for (int h = 0; weight != 0 && h < 2; h++) {
                const double *row = block->k[g][h] + i * block->ld[g][h];
                double *v = block->v + (h ? block->count[0] : 0);
                for (int64_t j = 0; j < block->count[h]; j++) v[j] -= weight * row[j];
            }
        }
}

static void take_result(solving *job)
{
    const gram_smo_block_f64 *block = &job->block;
    gram_svm_problem *p = &job->problem;
    for (int g = 0; g < 2; g++) {
        const int64_t at = g ? block->count[0] : 0, to = g ? job->rows[0] : 0;
        for (int64_t i = 0; i < job->rows[g]; i++) {
            p->smo.b[to + i] = block->b[at + i];
            p->smo.f[p->point[to + i]] = p->c[to + i] - block->v[at + i];
        }
    }
}

/* The size of what v is the difference of: c and f = c - v. */
static double size_of_terms(const solving *job)
{
    const gram_smo_block_f64 *block = &job->block;
    double size = 0;
    for (int g = 0; g < 2; g++)
        for (int64_t i = 0; i < job->rows[g]; i++) {
            const double c = job->problem.c[(g ? job->rows[0] : 0) + i], v = block->v[(g ? block->count[0] : 0) + i];
            size = fmax(size, fabs(c) + fabs(c - v));
        }
    return size;
}

static gram_status solve(solving *job)
{
    gram_smo *smo = &job->problem.smo;
    gram_smo_block_f64 *block = &job->block;
    double last = 0, tolerance = smo->tolerance;
    for (;;) {
        const int64_t left = smo->most - smo->steps, most = left < SLICE ? left : SLICE;
        const int64_t steps = gram_smo_block_solve_f64(job->s->loops, block, tolerance, most);
        smo->steps += steps;
        tolerance = fmax(tolerance, gram_smo_rounding(size_of_terms(job)));
        if (steps < SLICE || smo->steps >= smo->most) return GRAM_OK;
        if (smo->deadline > 0 && gram_smo_clock() > smo->deadline) return GRAM_OK;
        const gram_status status =
            job->s->data->outputs == 1 ? gram_smo_call_back(job->s->context, 0.5, &last) : GRAM_OK;
        if (status < 0) return status;
    }
}

static double *carve(char **place, size_t bytes)
{
    double *start = (double *)(void *)*place;
    *place += bytes;
    return start;
}

static gram_status solve_one(void *argument, const gram_worker *worker)
{
    const small *s = argument;
    solving job = {.s = s};
    char *place = worker->scratch;
    void *engine_scratch =
        carve(&place, (gram_engine_scratch(s->engine) + GRAM_ALIGNMENT - 1) / GRAM_ALIGNMENT * GRAM_ALIGNMENT);
    void *problem_memory = carve(&place, s->problem_bytes);
    double *cross = carve(&place, s->cross_bytes);
    double *zero = NULL;
    double **arrays[] = {&job.block.diagonal, &job.block.v,    &job.block.b,    &job.block.lower,
                         &job.block.upper,    &job.block.rise, &job.block.fall, &zero};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) *arrays[i] = carve(&place, s->array_bytes);
    gram_svm_problem_make(s->data, worker->task, problem_memory, &job.problem);
    set_blocks(&job, engine_scratch, cross);
    job.block.unit = 1;
    job.block.joined = job.problem.smo.group == job.problem.smo.count;
    job.block.alone = job.problem.smo.alone;
    job.block.zero = memset(zero, 0, s->array_bytes);
    for (int g = 0; g < 2; g++) fill_segment(&job, g);
    job.block.least = gram_smo_least_curvature(job.block.least);
    subtract_start(&job.block);
    const gram_status status = solve(&job);
    take_result(&job);
    gram_svm_problem_finish(&job.problem);
    return status;
}

static void measure(small *s)
{
    const gram_svm_data *data = s->data;
    int64_t most = 0;
    for (int64_t o = 0; o < data->outputs; o++) {
        const int64_t rows = gram_svm_problem_size(data, o);
        most = rows > most ? rows : most;
    }
    const int pairs = gram_svm_is_classification(data->options.kind);
    s->problem_bytes = gram_svm_problem_bytes(data, most);
    s->cross_bytes = pairs ? 2 * (size_t)(s->widest[0] * s->widest[1]) * sizeof(double) : 0;
    s->array_bytes = (size_t)(pairs ? s->widest[0] + s->widest[1] : 2 * s->widest[0]) * sizeof(double);
}

static void free_all(gram_context *context, small *s)
{
    const int64_t classes = s->data->classes;
    for (int64_t c = 0; s->own && c < classes; c++) gram_give(context, s->own[c]);
    gram_engine_destroy(s->engine);
    gram_points_release(s->points);
    gram_give(context, s->numbers);
    gram_give(context, s->own);
    gram_give(context, s->place);
}

gram_status gram_svm_solve_small(gram_context *context, gram_svm_data *data)
{
    gram_status status = GRAM_OK;
    small s = {.data = data, .context = context, .loops = gram_smo_loops_choose(context->vecmath->isa)};
    TRY(gram_take(context, "classes", data->classes + 1, sizeof *s.place, (void **)&s.place));
    memset(s.place, 0, (size_t)(data->classes + 1) * sizeof *s.place);
    TRY(gram_take(context, "classes", data->classes, sizeof *s.own, (void **)&s.own));
    memset(s.own, 0, (size_t)data->classes * sizeof *s.own);
    TRY(pack_points(context, &s));
    TRY(make_own(context, &s));
    measure(&s);
    const gram_sweep sweep = {.what = "support vectors",
                              .tasks = data->outputs,
                              .scratch_bytes = gram_engine_scratch(s.engine) + GRAM_ALIGNMENT + s.problem_bytes +
                                               s.cross_bytes + 8 * s.array_bytes,
                              .run = solve_one,
                              .argument = &s};
    TRY(gram_sweep_run(context, &sweep));
done:
    free_all(context, &s);
    return status;
}
