#include "method/svm/svm_chain.h"

#include <math.h>
#include <string.h>

enum {
    WIDTH = 256,    /* of working sets */
    SMALLEST = 192, /* active variables that are worth a matrix of their own */
    MOST_CORES = 20,
    PATIENCE = 20 /* rounds: many fits end before copying a core would pay */
};

/* Of the variables: rows that are a quarter shorter repay the copying. */
static const double CORE = 0.75;

/* Without a part of the violation as a margin, many left out would have to come back. */
static const double MARGIN = 0.25;

/* A matrix in memory. */
typedef struct dense {
    const float *k;
    int64_t ld;
} dense;

/* The variables that may still move, with a matrix of their own: short rows, close together. */
typedef struct core {
    float *k;
    int64_t *members, *points; /* variables, and their points */
    double *c, *lower, *upper, *b, *f, *moved;
    const float **rows;
    void *scratch;
} core;

typedef struct chain {
    const gram_svm_chains *t;
    int64_t width, fold, output; /* width among those that are held */
    gram_svm_problem problem;
    dense matrix; /* of the tuned rows, or compact */
    core core;
    int64_t *row_of; /* points of the problem as rows: training rows, then held-out ones */
    int64_t train, held;
    gram_svm_chain_work work;
} chain;

static gram_status dense_rows(void *self, gram_context *context, int64_t count, const int64_t *points,
                              const float **out)
{
    const dense *matrix = self;
    (void)context;
    for (int64_t r = 0; r < count; r++) out[r] = matrix->k + points[r] * matrix->ld;
    return GRAM_OK;
}

/* With several outputs a problem sees a small part of the rows: that part is copied together, so that passes over its rows are
 * short. */
static void copy_compact(chain *job, const float *whole, float *out)
{
    const int64_t points = job->train + job->held;
    for (int64_t i = 0; i < job->train; i++) {
        const float *from = whole + job->row_of[i] * job->t->n;
        for (int64_t j = 0; j < points; j++) out[i * points + j] = from[job->row_of[j]];
    }
    job->matrix = (dense){out, points};
}

static int is_training(const chain *job, int64_t row)
{
    return gram_fold_trains(job->t->fold[row], job->fold, job->t->ordered);
}

/* Only rows of other folds keep their variables; the order, and so the group, is kept. Returns how many rows there are. */
static int64_t drop_fold(chain *job)
{
    gram_svm_problem *p = &job->problem;
    gram_smo *s = &p->smo;
    const int64_t all = s->count, group = s->group, rows = p->rows;
    int64_t kept = 0, count = 0;
    s->group = 0;
    for (int64_t i = 0; i < rows; i++)
        if (is_training(job, gram_svm_problem_row(p, i))) job->row_of[kept++] = gram_svm_problem_row(p, i);
    int64_t next = 0;
    for (int64_t i = 0; i < all; i++) {
        if (i % rows == 0) next = 0;
        if (!is_training(job, gram_svm_problem_row(p, i % rows))) continue;
        p->c[count] = p->c[i];
        p->lower[count] = p->lower[i];
        p->upper[count] = p->upper[i];
        p->point[count] = next++;
        count++;
        if (i < group) s->group = count;
    }
    s->count = count;
    return kept;
}

/* The bounds for another C, and b moved along: scaled where most of it is at its bounds, else left. f follows. */
static void change_strength(chain *job, double from, double to)
{
    gram_svm_problem *p = &job->problem;
    gram_smo *s = &p->smo;
    int64_t bounded = 0, inside = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const int at = s->b[i] == p->lower[i] || s->b[i] == p->upper[i];
        if (s->b[i] != 0) bounded += at, inside += !at;
    }
    const double ratio = to / from, factor = bounded > inside ? ratio : 1;
    for (int64_t i = 0; i < s->count; i++) {
        const int top = s->b[i] != 0 && s->b[i] == p->upper[i], bottom = s->b[i] != 0 && s->b[i] == p->lower[i];
        p->lower[i] *= ratio;
        p->upper[i] *= ratio;
        s->b[i] *= factor;
        if (factor == ratio && top) s->b[i] = p->upper[i];
        if (factor == ratio && bottom) s->b[i] = p->lower[i];
        s->b[i] = fmin(p->upper[i], fmax(p->lower[i], s->b[i]));
    }
    for (int64_t i = 0; i < s->n; i++) s->f[i] *= factor;
}

static int nothing_is_bounded(const gram_smo *s)
{
    for (int64_t i = 0; i < s->count; i++)
        if (s->b[i] != 0 && (s->b[i] == s->lower[i] || s->b[i] == s->upper[i])) return 0;
    return 1;
}

/* f + b at the held-out rows. */
static void write_decisions(const chain *job, int64_t strength)
{
    const gram_svm_chains *t = job->t;
    double level[2], scale = 1, constant;
    gram_smo_levels(&job->problem.smo, level);
    gram_svm_read_levels(t->data->options.kind, level, &constant, &scale);
    double *out = gram_svm_decisions_at(t, job->width, strength);
    for (int64_t i = 0; i < job->held; i++) {
        const int64_t row = job->row_of[job->train + i];
        const double f = job->problem.smo.f[t->outputs == 1 ? row : job->train + i];
        out[row * t->outputs + job->output] = f * scale + constant;
    }
}

static void copy_decisions(const chain *job, int64_t from, int64_t to)
{
    const gram_svm_chains *t = job->t;
    const double *in = gram_svm_decisions_at(t, job->width, from) + job->output;
    double *out = gram_svm_decisions_at(t, job->width, to) + job->output;
    for (int64_t i = 0; i < job->held; i++) {
        const int64_t row = job->row_of[job->train + i];
        out[row * t->outputs] = in[row * t->outputs];
    }
}

/* ---- the core ---- */

static size_t whole(size_t bytes)
{
    return (bytes + GRAM_ALIGNMENT - 1) / GRAM_ALIGNMENT * GRAM_ALIGNMENT;
}

/* The next array of the memory at `start`; NULL has none, and `used` only grows. */
static void *carve(char *start, size_t *used, int64_t count, size_t size)
{
    char *place = start ? start + *used : NULL;
    *used += whole((size_t)count * size);
    return place;
}

/* Bytes for this many variables; they are divided unless `core` is NULL. */
static size_t divide_core(int64_t count, char *start, core *out)
{
    size_t used = 0;
    core made = {0};
    made.k = carve(start, &used, count * count, sizeof(float));
    made.members = carve(start, &used, count, sizeof(int64_t));
    made.points = carve(start, &used, count, sizeof(int64_t));
    double **numbers[] = {&made.c, &made.lower, &made.upper, &made.b, &made.f, &made.moved};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = carve(start, &used, count, sizeof(double));
    made.rows = carve(start, &used, count, sizeof *made.rows);
    made.scratch = carve(start, &used, 0, 1);
    if (out) *out = made;
    return used + gram_smo_scratch(count, WIDTH);
}

static int64_t enough_of(const gram_svm_chains *t, int64_t count)
{
    const int64_t part = (int64_t)(CORE * (double)count);
    return part < SMALLEST ? 0 : part < t->core ? part : t->core;
}

/* The problem of the active variables alone. */
static void copy_core(const chain *job, const gram_smo *s, gram_smo *sub)
{
    const core *own = &job->core;
    const int64_t count = sub->count;
    sub->group = 0;
    for (int64_t i = 0; i < count; i++) own->points[i] = s->point[own->members[i]];
    for (int64_t i = 0; i < count; i++) {
        const int64_t variable = own->members[i], point = own->points[i];
        const float *row = job->matrix.k + point * job->matrix.ld;
        for (int64_t j = 0; j < count; j++) own->k[i * count + j] = row[own->points[j]];
        own->c[i] = s->c[variable];
        own->lower[i] = s->lower[variable];
        own->upper[i] = s->upper[variable];
        own->b[i] = s->b[variable];
        own->f[i] = s->f[point];
        if (variable < s->group) sub->group = i + 1;
    }
}

/* b and f of the whole problem. */
static void take_core(const chain *job, gram_smo *s, const gram_smo *sub)
{
    const core *own = &job->core;
    int64_t moved = 0;
    for (int64_t i = 0; i < sub->count; i++) {
        const int64_t variable = own->members[i];
        const double change = own->b[i] - s->b[variable];
        s->b[variable] = own->b[i];
        if (change == 0) continue;
        own->moved[moved] = change;
        own->rows[moved++] = job->matrix.k + s->point[variable] * job->matrix.ld;
    }
    job->t->loops->add_rows(moved, own->moved, own->rows, 0, s->n, s->f);
    s->steps += sub->steps;
}

static void solve_core(const chain *job, gram_smo *s)
{
    const core *own = &job->core;
    dense matrix = {own->k, gram_smo_active(s, MARGIN, own->members)};
    gram_smo sub = {.n = matrix.ld,
                    .count = matrix.ld,
                    .alone = s->alone,
                    .c = own->c,
                    .lower = own->lower,
                    .upper = own->upper,
                    .b = own->b,
                    .f = own->f,
                    .source = {&matrix, 1, dense_rows},
                    .tolerance = s->tolerance,
                    .most = s->most - s->steps,
                    .enough = enough_of(job->t, matrix.ld),
                    .margin = MARGIN,
                    .worker = s->worker};
    copy_core(job, s, &sub);
    gram_smo_prepare(&sub, job->t->loops, WIDTH, own->scratch);
    (void)gram_smo_solve(&sub);
    take_core(job, s, &sub);
}

/* All variables until few are active, those alone, and again: what was left out is looked at in between. */
static void solve(chain *job)
{
    gram_smo *s = &job->problem.smo;
    for (int pass = 0;; pass++) {
        s->enough = pass < MOST_CORES ? enough_of(job->t, s->count) : 0;
        (void)gram_smo_solve(s);
        if (!s->shrunk || s->out_of_budget) return;
        solve_core(job, s);
        job->work.cores++;
    }
}

/* ---- the chain ---- */

static void start_chain(chain *job, char *place)
{
    const gram_svm_chains *t = job->t;
    gram_svm_problem *p = &job->problem;
    gram_smo *s = &p->smo;
    gram_svm_problem_make(t->data, job->output, place, p);
    place += t->problem_bytes;
    job->row_of = (int64_t *)(void *)place;
    place += t->f_bytes;
    s->f = (double *)(void *)place;
    place += t->f_bytes;
    job->train = drop_fold(job);
    for (int64_t i = 0; i < t->n; i++)
        if (t->fold[i] == job->fold) job->row_of[job->train + job->held++] = i;
    if (t->outputs == 1) { /* all rows are points */
        s->n = t->n;
        for (int64_t i = 0; i < s->count; i++) p->point[i] = job->row_of[p->point[i]];
        job->matrix = (dense){t->k[job->width], t->n};
    } else {
        s->n = job->train + job->held;
        copy_compact(job, t->k[job->width], (float *)(void *)place);
        place += t->compact_bytes;
    }
    memset(s->b, 0, (size_t)s->count * sizeof *s->b);
    gram_svm_problem_settle(p);
    memset(s->f, 0, (size_t)s->n * sizeof *s->f);
    for (int64_t i = 0; i < s->count; i++) {
        const double weight = s->b[i];
        const float *row = job->matrix.k + p->point[i] * job->matrix.ld;
        if (weight != 0) t->loops->add_rows(1, &weight, &row, 0, s->n, s->f);
    }
    s->source = (gram_smo_source){&job->matrix, 1, dense_rows};
    s->margin = MARGIN;
    s->patience = t->patience;
    gram_smo_prepare(s, t->loops, WIDTH, place);
    place += t->smo_bytes;
    (void)divide_core(t->core, place, &job->core);
}

gram_status gram_svm_chain_run(void *argument, const gram_worker *worker)
{
    const gram_svm_chains *t = argument;
    chain job = {.t = t};
    const int64_t task = worker->task;
    job.output = task % t->outputs;
    job.fold = task / t->outputs % t->folds;
    job.width = task / t->outputs / t->folds;
    start_chain(&job, worker->scratch);
    gram_smo *s = &job.problem.smo;
    s->worker = worker;
    double c = t->data->options.C;
    for (int64_t k = 0; k < t->strengths; k++) {
        if (k > 0 && nothing_is_bounded(s)) {
            copy_decisions(&job, k - 1, k);
            continue;
        }
        if (t->strengths > 1) change_strength(&job, c, t->c[k]);
        c = t->c[k];
        s->steps = s->rounds = 0;
        s->most = t->most;
        solve(&job);
        if (gram_worker_stopped(worker)) return GRAM_OK;
        job.work.steps += s->steps;
        job.work.fits++;
        job.work.unfinished += s->violation > s->tolerance;
        write_decisions(&job, k);
    }
    t->work[task] = job.work;
    return GRAM_OK;
}

static int64_t largest_fold(const gram_svm_chains *t)
{
    int64_t largest = 0;
    for (int64_t k = 0; k < t->folds; k++) {
        int64_t held = 0;
        for (int64_t i = 0; i < t->n; i++) held += t->fold[i] == k;
        if (held > largest) largest = held;
    }
    return largest;
}

void gram_svm_chains_measure(gram_svm_chains *t)
{
    const gram_svm_data *data = t->data;
    int64_t rows = 0;
    t->patience = PATIENCE;
    for (int64_t o = 0; o < t->outputs; o++)
        if (gram_svm_problem_size(data, o) > rows) rows = gram_svm_problem_size(data, o);
    const int64_t variables = gram_svm_is_regression(data->options.kind) ? 2 * rows : rows;
    const int64_t held = largest_fold(t);
    t->problem_bytes = gram_svm_problem_bytes(data, rows);
    t->f_bytes = whole((size_t)t->n * sizeof(double));
    t->smo_bytes = gram_smo_scratch(variables, WIDTH);
    t->compact_bytes = t->outputs > 1 ? whole((size_t)(rows * (rows + held)) * sizeof(float)) : 0;
    t->core = (int64_t)(CORE * (double)rows);
    t->core_bytes = divide_core(t->core, NULL, NULL);
    t->bytes = t->problem_bytes + 2 * t->f_bytes + t->compact_bytes + t->smo_bytes + t->core_bytes;
}
