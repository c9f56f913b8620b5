/* Cross-validation over widths and strengths, fused.
 *
 * For each width the kernel matrix of all rows is made once, in f32. A task is one width, one fold and one output: it solves for
 * the strengths from the least on, each from the solution before. The solver keeps f = K b at all points that it is given, the
 * held-out rows among them, so decision values cost nothing extra.
 *
 * Making the matrix of a width from the points (some 0.05 s at n = 5,000, d = 20) is little beside the fits on it (more than a
 * second), so the distances are not kept between widths. */
#include <math.h>
#include <string.h>

#include <gram/random.h>
#include <gram/text.h>

#include "../base/sweep.h"
#include "../tile/fill.h"
#include "svm.h"

enum { SAMPLE_STREAM = 0x53564e, WIDTH = 256 };

/* Ten times the usual tolerance: scores do not change by a part of their standard error, and it takes half of the time. */
static const double LOOSE = 1e-2;

typedef struct tuning {
    const gram_svm_data *data; /* of the rows that are tuned on */
    const gram_svm_tune_options *o;
    const gram_smo_loops *loops;
    int64_t widths, strengths, folds, n, outputs;
    int64_t *fold;
    double *factors, *c;        /* the grid */
    int64_t batch, batch_first; /* widths that are held at a time, and the first of them */
    float **k;                  /* batch matrices n x n */
    double *decisions;          /* batch x strengths x n x outputs */
    double *scores, *errors;    /* widths x strengths, with standard errors */
    int64_t *steps, *fits;      /* of each task of a batch */
    int64_t most;               /* steps of a fit */
    size_t problem_bytes, smo_bytes, f_bytes, compact_bytes;
    gram_engine *engine; /* of the matrix that is made now */
    float *making;
} tuning;

void gram_svm_tune_options_init(gram_svm_tune_options *options, size_t size)
{
    const gram_svm_tune_options defaults = {.folds = 5,
                                            .widths = 10,
                                            .strengths = 10,
                                            .width_least = 0.125,
                                            .width_most = 4,
                                            .c_least = 0.0625,
                                            .c_most = 2048,
                                            .rows = 5000};
    if (!options) return;
    memset(options, 0, size);
    memcpy(options, &defaults, size < sizeof defaults ? size : sizeof defaults);
    options->size = size;
}

static gram_status check_options(gram_context *context, const gram_svm_tune_options *o)
{
    gram_status status = GRAM_OK;
    FAIL_IF(o->folds < 2, context, GRAM_ERROR_ARGUMENT, "svm_tune: folds = %lld is below 2", (long long)o->folds);
    FAIL_IF(o->widths < 1 || o->widths > 1000 || o->strengths < 1 || o->strengths > 1000, context, GRAM_ERROR_ARGUMENT,
            "svm_tune: a grid of %lld x %lld: both sizes are 1 to 1000", (long long)o->widths, (long long)o->strengths);
    FAIL_IF(!(o->width_least > 0 && o->width_least <= o->width_most && isfinite(o->width_most)), context,
            GRAM_ERROR_ARGUMENT, "svm_tune: width_least is above 0 and width_most not below it");
    FAIL_IF(!(o->c_least > 0 && o->c_least <= o->c_most && o->c_most <= 1e100), context, GRAM_ERROR_ARGUMENT,
            "svm_tune: c_least is above 0 and c_most not below it, at most 1e100");
    FAIL_IF(o->rows < 2 * o->folds, context, GRAM_ERROR_ARGUMENT, "svm_tune: rows = %lld is below 2 for each fold",
            (long long)o->rows);
    FAIL_IF(o->iterations < 0, context, GRAM_ERROR_ARGUMENT, "svm_tune: iterations = %lld is negative",
            (long long)o->iterations);
done:
    return status;
}

/* count numbers from least to most, evenly on the log scale. */
static void fill_grid(int64_t count, double least, double most, double *grid)
{
    for (int64_t i = 0; i < count; i++)
        grid[i] = i == 0 ? least : i == count - 1 ? most : least * pow(most / least, (double)i / (double)(count - 1));
}

/* ---- kernels of different widths ---- */

static int is_length(const gram_parameter *parameter)
{
    const char *dot = strchr(parameter->name, '.');
    return dot && strncmp(dot, ".ell", 4) == 0 && !parameter->fixed;
}

/* The kernel, which has values for everything, with its free length-scales times the factor. *lengths counts them. */
static gram_status stretch(gram_context *context, const gram_kernel *kernel, double factor, int64_t *lengths,
                           gram_kernel **out)
{
    gram_status status = GRAM_OK;
    const int64_t count = gram_kernel_parameter_count(kernel);
    double *values = NULL;
    gram_parameter parameter;
    *lengths = 0;
    TRY(gram_take(context, "parameters", count, sizeof *values, (void **)&values));
    for (int64_t i = 0; i < count; i++) {
        TRY(gram_kernel_parameter_get(context, kernel, i, &parameter));
        values[i] = parameter.value;
        if (!is_length(&parameter)) continue;
        values[i] = fmin(parameter.upper, fmax(parameter.lower, factor * parameter.value));
        ++*lengths;
    }
    TRY(gram_kernel_with_values(context, kernel, values, out));
done:
    gram_give(context, values, count, sizeof *values);
    return status;
}

/* ---- a width's matrix ---- */

static gram_status fill_panel(void *argument, const gram_worker *worker)
{
    const tuning *t = argument;
    const int64_t first = worker->task * GRAM_PANEL;
    gram_engine_begin(t->engine, worker->scratch);
    for (int64_t column = 0; column < gram_engine_column_panels(t->engine); column++)
        gram_fill_tile_f32(t->engine, worker->scratch, worker->task, column,
                           t->making + first * t->n + column * GRAM_PANEL, t->n);
    return GRAM_OK;
}

static gram_status make_matrix(gram_context *context, tuning *t, gram_kernel *kernel, float *out)
{
    gram_status status = GRAM_OK;
    const gram_engine_request request = {.kernel = kernel, .x = t->data->x, .always_double = 1};
    TRY(gram_engine_create(context, &request, &t->engine));
    t->making = out;
    const gram_sweep sweep = {.what = "tuning",
                              .tasks = gram_engine_row_panels(t->engine),
                              .scratch_bytes = gram_engine_scratch(t->engine),
                              .run = fill_panel,
                              .argument = t};
    TRY(gram_sweep_run(context, &sweep));
done:
    gram_engine_destroy(t->engine);
    t->engine = NULL;
    return status;
}

/* ---- a task: one width, one fold, one output, all strengths ---- */

typedef struct chain {
    const tuning *t;
    int64_t width, fold, output; /* width within the batch */
    gram_svm_problem problem;
    const float *k; /* rows of K: of the tuned rows, or compact */
    int64_t ld;
    int64_t *row_of; /* points of the problem as rows: training rows, then held-out ones */
    int64_t train, held;
} chain;

static gram_status dense_rows(void *self, gram_context *context, int64_t count, const int64_t *points,
                              const float **out)
{
    const chain *job = self;
    (void)context;
    for (int64_t r = 0; r < count; r++) out[r] = job->k + points[r] * job->ld;
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
    job->k = out;
    job->ld = points;
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
        if (job->t->fold[gram_svm_problem_row(p, i)] != job->fold) job->row_of[kept++] = gram_svm_problem_row(p, i);
    int64_t next = 0;
    for (int64_t i = 0; i < all; i++) {
        if (i % rows == 0) next = 0;
        if (job->t->fold[gram_svm_problem_row(p, i % rows)] == job->fold) continue;
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

static double *decisions_at(const tuning *t, int64_t width, int64_t strength)
{
    return t->decisions + (width * t->strengths + strength) * t->n * t->outputs;
}

/* f + b at the held-out rows. */
static void write_decisions(const chain *job, int64_t strength)
{
    const tuning *t = job->t;
    double level[2], scale = 1, constant;
    gram_smo_levels(&job->problem.smo, level);
    gram_svm_read_levels(t->data->options.kind, level, &constant, &scale);
    double *out = decisions_at(t, job->width, strength);
    for (int64_t i = 0; i < job->held; i++) {
        const int64_t row = job->row_of[job->train + i];
        const double f = job->problem.smo.f[t->outputs == 1 ? row : job->train + i];
        out[row * t->outputs + job->output] = f * scale + constant;
    }
}

static void copy_decisions(const chain *job, int64_t from, int64_t to)
{
    const tuning *t = job->t;
    const double *in = decisions_at(t, job->width, from) + job->output;
    double *out = decisions_at(t, job->width, to) + job->output;
    for (int64_t i = 0; i < job->held; i++) {
        const int64_t row = job->row_of[job->train + i];
        out[row * t->outputs] = in[row * t->outputs];
    }
}

static void start_chain(chain *job, char *place)
{
    const tuning *t = job->t;
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
        job->k = t->k[job->width];
        job->ld = t->n;
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
        const float *row = job->k + p->point[i] * job->ld;
        if (weight != 0) t->loops->add_rows(1, &weight, &row, 0, s->n, s->f);
    }
    s->source = (gram_smo_source){job, 1, dense_rows};
    gram_smo_prepare(s, t->loops, WIDTH, place);
}

static gram_status run_chain(void *argument, const gram_worker *worker)
{
    const tuning *t = argument;
    chain job = {.t = t};
    int64_t task = worker->task, steps = 0, fits = 0;
    job.output = task % t->outputs;
    job.fold = task / t->outputs % t->folds;
    job.width = task / t->outputs / t->folds;
    start_chain(&job, worker->scratch);
    gram_smo *s = &job.problem.smo;
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
        (void)gram_smo_solve(s);
        steps += s->steps;
        fits++;
        write_decisions(&job, k);
    }
    t->steps[worker->task] = steps;
    t->fits[worker->task] = fits;
    return GRAM_OK;
}

/* ---- scores ---- */

/* Weighted mean and its standard error of what each row scores. */
static void score(const tuning *t, const double *decisions, const double *labels, double *mean, double *error)
{
    const gram_svm_data *data = t->data;
    double total = 0, sum = 0, square = 0, weights = 0;
    for (int64_t i = 0; i < t->n; i++) {
        const double w = data->options.weights ? data->options.weights[i] : 1, miss = data->y[i] - decisions[i];
        const double value = labels ? labels[i] == data->y[i] : miss * miss;
        total += w;
        weights += w * w;
        sum += w * value;
        square += w * value * value;
    }
    *mean = sum / total;
    *error = sqrt(fmax(0, square / total - *mean * *mean) * weights / (total * total));
}

static gram_status score_batch(gram_context *context, tuning *t, int64_t widths)
{
    gram_status status = GRAM_OK;
    double *labels = NULL;
    const int classification = gram_svm_is_classification(t->data->options.kind);
    TRY(gram_take(context, "labels", t->n, sizeof *labels, (void **)&labels));
    for (int64_t w = 0; w < widths; w++)
        for (int64_t k = 0; k < t->strengths; k++) {
            const double *decisions = decisions_at(t, w, k);
            const int64_t at = (t->batch_first + w) * t->strengths + k;
            if (classification) TRY(gram_svm_decide(context, t->data->classes, t->n, decisions, NULL, labels, NULL));
            score(t, decisions, classification ? labels : NULL, &t->scores[at], &t->errors[at]);
        }
done:
    gram_give(context, labels, t->n, sizeof *labels);
    return status;
}

/* Is a better than b? Of equals the smaller C, then the wider kernel. */
static int is_better(const tuning *t, int64_t a, int64_t b)
{
    if (b < 0) return 1;
    const double x = t->scores[a], y = t->scores[b];
    if (x != y) return gram_svm_is_classification(t->data->options.kind) ? x > y : x < y;
    const int64_t ca = a % t->strengths, cb = b % t->strengths;
    return ca != cb ? ca < cb : a / t->strengths > b / t->strengths;
}

static int64_t best_of(const tuning *t, int64_t from, int64_t to, int64_t best)
{
    for (int64_t i = from; i < to; i++)
        if (is_better(t, i, best)) best = i;
    return best;
}

/* ---- the grid ---- */

static gram_status run_batch(gram_context *context, tuning *t, const gram_kernel *kernel, int64_t widths)
{
    gram_status status = GRAM_OK;
    gram_kernel *stretched = NULL;
    int64_t lengths = 0;
    for (int64_t w = 0; w < widths; w++) {
        TRY(stretch(context, kernel, t->factors[t->batch_first + w], &lengths, &stretched));
        TRY(make_matrix(context, t, stretched, t->k[w]));
        gram_kernel_release(stretched);
        stretched = NULL;
    }
    const double all = (double)t->widths, first = (double)t->batch_first;
    const gram_sweep sweep = {.what = "tuning",
                              .tasks = widths * t->folds * t->outputs,
                              .scratch_bytes = t->problem_bytes + 2 * t->f_bytes + t->compact_bytes + t->smo_bytes,
                              .run = run_chain,
                              .argument = t,
                              .share_before = first / all,
                              .share_after = (first + (double)widths) / all};
    TRY(gram_sweep_run(context, &sweep));
    TRY(score_batch(context, t, widths));
done:
    gram_kernel_release(stretched);
    return status;
}

static size_t whole(size_t bytes)
{
    return (bytes + GRAM_ALIGNMENT - 1) / GRAM_ALIGNMENT * GRAM_ALIGNMENT;
}

static void measure(tuning *t)
{
    const gram_svm_data *data = t->data;
    const double matrix = 4.0 * (double)t->n * (double)t->n + 8.0 * (double)(t->strengths * t->n * t->outputs);
    int64_t rows = 0;
    for (int64_t o = 0; o < t->outputs; o++)
        if (gram_svm_problem_size(data, o) > rows) rows = gram_svm_problem_size(data, o);
    const int64_t fit = (int64_t)((double)data->cache_bytes / matrix);
    t->batch = fit < 1 ? 1 : fit < t->widths ? fit : t->widths;
    t->problem_bytes = gram_svm_problem_bytes(data, rows);
    t->f_bytes = whole((size_t)t->n * sizeof(double));
    const int64_t variables = gram_svm_is_regression(data->options.kind) ? 2 * rows : rows;
    t->smo_bytes = gram_smo_scratch(variables, WIDTH);
    const int64_t held = t->n / t->folds + 1;
    t->compact_bytes = t->outputs > 1 ? whole((size_t)(rows * (rows + held)) * sizeof(float)) : 0;
}

static gram_status take_all(gram_context *context, tuning *t)
{
    gram_status status = GRAM_OK;
    const int64_t grid = t->widths * t->strengths, tasks = t->batch * t->folds * t->outputs;
    TRY(gram_take(context, "tuning", t->n, sizeof *t->fold, (void **)&t->fold));
    TRY(gram_take(context, "tuning", t->widths, sizeof(double), (void **)&t->factors));
    TRY(gram_take(context, "tuning", t->strengths, sizeof(double), (void **)&t->c));
    TRY(gram_take(context, "tuning", grid, sizeof(double), (void **)&t->scores));
    TRY(gram_take(context, "tuning", grid, sizeof(double), (void **)&t->errors));
    TRY(gram_take(context, "tuning", tasks, sizeof(int64_t), (void **)&t->steps));
    TRY(gram_take(context, "tuning", tasks, sizeof(int64_t), (void **)&t->fits));
    TRY(gram_take(context, "tuning", t->batch, sizeof *t->k, (void **)&t->k));
    memset(t->k, 0, (size_t)t->batch * sizeof *t->k);
    TRY(gram_take(context, "decision values", t->batch * t->strengths * t->n, (size_t)t->outputs * sizeof(double),
                  (void **)&t->decisions));
    for (int64_t w = 0; w < t->batch; w++)
        TRY(gram_take(context, "kernel matrix", t->n * t->n, sizeof(float), (void **)&t->k[w]));
done:
    return status;
}

static void free_all(gram_context *context, tuning *t)
{
    const int64_t grid = t->widths * t->strengths, tasks = t->batch * t->folds * t->outputs;
    for (int64_t w = 0; t->k && w < t->batch; w++) gram_give(context, t->k[w], t->n * t->n, sizeof(float));
    gram_give(context, t->decisions, t->batch * t->strengths * t->n, (size_t)t->outputs * sizeof(double));
    gram_give(context, t->k, t->batch, sizeof *t->k);
    gram_give(context, t->fits, tasks, sizeof(int64_t));
    gram_give(context, t->steps, tasks, sizeof(int64_t));
    gram_give(context, t->errors, grid, sizeof(double));
    gram_give(context, t->scores, grid, sizeof(double));
    gram_give(context, t->c, t->strengths, sizeof(double));
    gram_give(context, t->factors, t->widths, sizeof(double));
    gram_give(context, t->fold, t->n, sizeof *t->fold);
}

/* All batches; `best` decision values go to the caller's rows. Returns the place of the best. */
static gram_status search(gram_context *context, tuning *t, const gram_kernel *kernel, const int64_t *rows,
                          double *out_of_fold, int64_t *best, gram_svm_tune_report *report)
{
    gram_status status = GRAM_OK;
    const size_t row_bytes = (size_t)t->outputs * sizeof(double);
    *best = -1;
    for (t->batch_first = 0; t->batch_first < t->widths; t->batch_first += t->batch) {
        const int64_t left = t->widths - t->batch_first, widths = left < t->batch ? left : t->batch;
        const int64_t from = t->batch_first * t->strengths;
        TRY(run_batch(context, t, kernel, widths));
        for (int64_t i = 0; i < widths * t->folds * t->outputs; i++) {
            report->iterations += t->steps[i];
            report->fits += t->fits[i];
        }
        const int64_t now = best_of(t, from, from + widths * t->strengths, *best);
        if (now == *best) continue;
        *best = now;
        const double *decisions = decisions_at(t, now / t->strengths - t->batch_first, now % t->strengths);
        for (int64_t i = 0; out_of_fold && i < t->n; i++)
            memcpy(out_of_fold + (rows ? rows[i] : i) * t->outputs, decisions + i * t->outputs, row_bytes);
    }
done:
    return status;
}

/* ---- rows that are tuned on ---- */

typedef struct subset {
    int64_t n, d;
    int64_t *rows; /* NULL: all */
    double *x, *y, *weights;
    gram_points *points;
} subset;

static gram_status choose_rows(gram_context *context, const gram_points *x, const double *y, const double *weights,
                               int64_t most, subset *s)
{
    gram_status status = GRAM_OK;
    const gram_random random = {context->seed, SAMPLE_STREAM};
    s->n = x->n < most ? x->n : most;
    s->d = x->d;
    if (s->n == x->n) return GRAM_OK;
    TRY(gram_take(context, "rows", x->n, sizeof *s->rows, (void **)&s->rows));
    gram_random_permutation(random, 0, x->n, s->rows);
    TRY(gram_take(context, "rows", s->n * s->d, sizeof(double), (void **)&s->x));
    TRY(gram_take(context, "rows", s->n, sizeof(double), (void **)&s->y));
    TRY(gram_take(context, "rows", s->n, sizeof(double), (void **)&s->weights));
    for (int64_t i = 0; i < s->n; i++) {
        for (int64_t l = 0; l < s->d; l++) s->x[i * s->d + l] = gram_points_at(x, s->rows[i], l);
        s->y[i] = y[s->rows[i]];
        s->weights[i] = weights ? weights[s->rows[i]] : 1;
    }
    TRY(gram_points_create_f64(context, s->n, s->d, s->x, s->d, &s->points));
done:
    return status;
}

static void free_rows(gram_context *context, const gram_points *x, subset *s)
{
    gram_points_destroy(s->points);
    gram_give(context, s->rows, x->n, sizeof *s->rows);
    gram_give(context, s->x, s->n * s->d, sizeof(double));
    gram_give(context, s->y, s->n, sizeof(double));
    gram_give(context, s->weights, s->n, sizeof(double));
}

/* ---- the whole ---- */

static gram_status set_up(gram_context *context, const gram_svm_data *data, const gram_svm_tune_options *o,
                          const gram_kernel *kernel, tuning *t)
{
    gram_status status = GRAM_OK;
    int64_t lengths = 0;
    gram_kernel *same = NULL;
    const gram_svm_kind kind = data->options.kind;
    *t = (tuning){.data = data,
                  .o = o,
                  .loops = gram_smo_loops_choose(context->vecmath->isa),
                  .n = data->n,
                  .folds = o->folds,
                  .outputs = data->outputs};
    TRY(stretch(context, kernel, 1, &lengths, &same));
    gram_kernel_release(same);
    t->widths = lengths ? o->widths : 1;
    t->strengths = kind == GRAM_SVM_C || kind == GRAM_SVM_EPSILON_REGRESSION ? o->strengths : 1;
    t->most = o->iterations ? o->iterations : 100 * data->n;
    for (int64_t c = 0; c < data->classes; c++)
        FAIL_IF(data->first[c + 1] - data->first[c] < 2, context, GRAM_ERROR_DATA,
                "svm_tune: class %lld has one row among those that are tuned on", (long long)c);
    measure(t);
    TRY(take_all(context, t));
    TRY(gram_svm_make_folds(context, data, t->folds, t->fold));
    if (t->widths > 1)
        fill_grid(t->widths, o->width_least, o->width_most, t->factors);
    else
        t->factors[0] = 1;
    if (t->strengths > 1)
        fill_grid(t->strengths, o->c_least, o->c_most, t->c);
    else
        t->c[0] = data->options.C;
done:
    return status;
}

static void report_best(const tuning *t, int64_t best, gram_svm_tune_report *r)
{
    const int64_t w = best / t->strengths, k = best % t->strengths;
    r->size = sizeof *r;
    r->rows = t->n;
    r->C = t->c[k];
    r->factor = t->factors[w];
    r->score = t->scores[best];
    r->standard_error = t->errors[best];
    r->at_edge =
        (t->widths > 1 && (w == 0 || w == t->widths - 1)) || (t->strengths > 1 && (k == 0 || k == t->strengths - 1));
}

gram_status gram_svm_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                          const gram_svm_options *machine, const gram_svm_tune_options *options, gram_kernel **tuned,
                          double *C, double *scores, double *out_of_fold, gram_svm_tune_report *report)
{
    gram_status status = GRAM_OK;
    gram_svm_options known = gram_svm_options_known(machine);
    gram_svm_tune_options o;
    gram_svm_tune_report made = {0};
    gram_svm_data data = {0};
    gram_kernel *resolved = NULL;
    tuning t = {0};
    subset rows = {0};
    int64_t best = -1, lengths = 0;
    if (!context || !tuned) return GRAM_ERROR_ARGUMENT;
    *tuned = NULL;
    gram_svm_tune_options_init(&o, sizeof o);
    if (options) memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    FAIL_IF(!kernel || !x || !C, context, GRAM_ERROR_ARGUMENT, "svm_tune: %s is NULL",
            !kernel ? "kernel"
            : !x    ? "x"
                    : "C");
    FAIL_IF(known.kind == GRAM_SVM_ONE_CLASS, context, GRAM_ERROR_UNSUPPORTED,
            "svm_tune: one class has no error to tune by");
    FAIL_IF(!y, context, GRAM_ERROR_ARGUMENT, "svm_tune: y is NULL");
    FAIL_IF(gram_smo_kernel_is_indexed(kernel), context, GRAM_ERROR_UNSUPPORTED,
            "svm_tune: a kernel of the points' coordinates is needed");
    TRY(check_options(context, &o));
    TRY(choose_rows(context, x, y, known.weights, o.rows, &rows));
    known.start = known.out_of_fold = NULL;
    known.probability_folds = 0;
    known.tolerance = fmax(known.tolerance, LOOSE);
    if (rows.rows) known.weights = rows.weights;
    TRY(gram_kernel_resolve(context, kernel, x, &resolved));
    TRY(gram_svm_data_make(context, "svm_tune", resolved, rows.rows ? rows.points : x, rows.rows ? rows.y : y, &known,
                           &data));
    FAIL_IF(data.n < 2 * o.folds, context, GRAM_ERROR_DATA, "svm_tune: %lld rows are too few for %lld folds",
            (long long)data.n, (long long)o.folds);
    TRY(set_up(context, &data, &o, resolved, &t));
    for (int64_t i = 0; out_of_fold && i < x->n * t.outputs; i++) out_of_fold[i] = NAN;
    TRY(search(context, &t, resolved, rows.rows, out_of_fold, &best, &made));
    TRY(stretch(context, resolved, t.factors[best / t.strengths], &lengths, tuned));
    report_best(&t, best, &made);
    *C = made.C;
    if (scores) memcpy(scores, t.scores, (size_t)(t.widths * t.strengths) * sizeof *scores);
    if (report) *report = made;
done:
    free_all(context, &t);
    gram_svm_data_free(context, &data);
    gram_kernel_release(resolved);
    if (x) free_rows(context, x, &rows);
    return status;
}
