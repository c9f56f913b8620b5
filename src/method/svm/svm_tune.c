/* Cross-validation over widths and strengths, fused: what the grid engine (grid_search.c) calls for some widths.
 *
 * The kernel matrices of all rows are made once, in f32, all widths in one sweep, which makes the distances once. A task is one
 * width, one fold and one output: it solves for the strengths from the least on, each from the solution before. The solver keeps
 * f = K b at all points that it is given, the held-out rows among them, so decision values cost nothing extra. */
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "base/sized_struct.h"
#include "method/svm/svm_chain.h"
#include "points/functionals.h"
#include "points/row_sample.h"
#include "tile/width_family.h"

enum { SAMPLE_STREAM = 0x53564e };

/* Ten times the usual tolerance: scores do not change by a part of their standard error, and it takes half of the time. */
static const double LOOSE = 1e-2;

/* Rows from which on a fifth of them tell hopeless cells; with fewer the search is over soon. */
enum { ROWS_TO_SCREEN = 2000 };

/* What making a matrix takes of the work on its width. */
static const double MATRICES = 0.05;

/* Accuracies are counts: of cells within a quarter of a standard error of the best the least C is taken. Mean squared errors are
 * smooth enough as they are. Several length-scales must be better by two standard errors. */
static const gram_grid_rule BY_ACCURACY = {.maximise = 1, .smooth = 1, .as_good = 0.25, .errors = 2};
static const gram_grid_rule BY_ERROR = {.errors = 2};

typedef struct tuning {
    const gram_svm_data *data; /* of the rows that are tuned on */
    gram_smo_loops const *loops;
    int64_t most;    /* steps of a fit */
    double *factors; /* of the widths */
    double *c;       /* strengths, rising */
    int64_t widths, strengths;
} tuning;

void gram_svm_tune_options_init(gram_svm_tune_options *options, size_t size)
{
    const gram_svm_tune_options defaults = {.folds = 5,
                                            .width_count = 10,
                                            .C_count = 10,
                                            .width_least = 0.125,
                                            .width_most = 4,
                                            .C_least = 0.0625,
                                            .C_most = 2048,
                                            .rows = 5000};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

static gram_status check_options(gram_context *context, const gram_svm_tune_options *o)
{
    gram_status status = GRAM_OK;
    FAIL_IF(o->folds < 2, context, GRAM_ERROR_ARGUMENT, "svm_tune: folds = %lld is below 2", (long long)o->folds);
    FAIL_IF(o->width_count < 1 || o->width_count > 1000 || o->C_count < 1 || o->C_count > 1000, context,
            GRAM_ERROR_ARGUMENT, "svm_tune: a grid of %lld x %lld: both sizes are 1 to 1000", (long long)o->width_count,
            (long long)o->C_count);
    FAIL_IF(!(o->width_least > 0 && o->width_least <= o->width_most && isfinite(o->width_most)), context,
            GRAM_ERROR_ARGUMENT, "svm_tune: width_least is above 0 and width_most not below it");
    FAIL_IF(!(o->C_least > 0 && o->C_least <= o->C_most && o->C_most <= 1e100), context, GRAM_ERROR_ARGUMENT,
            "svm_tune: C_least is above 0 and C_most not below it, at most 1e100");
    FAIL_IF(o->rows < 2 * o->folds, context, GRAM_ERROR_ARGUMENT, "svm_tune: rows = %lld is below 2 for each fold",
            (long long)o->rows);
    FAIL_IF(o->iterations < 0, context, GRAM_ERROR_ARGUMENT, "svm_tune: iterations = %lld is negative",
            (long long)o->iterations);
    TRY(gram_folds_check_options(context, "svm_tune", o->groups, o->ordered));
done:
    return status;
}

/* count numbers from least to most, evenly on the log scale. */
static void fill_grid(int64_t count, double least, double most, double *grid)
{
    for (int64_t i = 0; i < count; i++)
        grid[i] = i == 0 ? least : i == count - 1 ? most : least * pow(most / least, (double)i / (double)(count - 1));
}

/* ---- scores ---- */

/* 1 for a right label, or the squared error. */
static gram_status score(gram_context *context, const void *argument, const double *decisions, double *scores)
{
    gram_status status = GRAM_OK;
    const gram_svm_data *data = ((const tuning *)argument)->data;
    const int classification = gram_svm_is_classification(data->options.kind);
    if (classification) TRY(gram_svm_decide(context, data->classes, data->n, decisions, NULL, scores, NULL));
    for (int64_t i = 0; i < data->n; i++) {
        const double miss = data->y[i] - decisions[i * data->outputs];
        scores[i] = classification ? scores[i] == data->y[i] : miss * miss;
    }
done:
    return status;
}

/* ---- some widths ---- */

/* The part of the work that is done after this many widths of a batch. */
static double share_of(const gram_grid_batch *b, double widths)
{
    return ((double)b->first + widths) / (double)b->widths;
}

static gram_status make_matrices(gram_context *context, const tuning *t, const gram_grid_batch *b, float **k)
{
    gram_status status = GRAM_OK;
    const gram_family family = {.count = (int)b->count,
                                .kernels = b->kernels,
                                .x = t->data->x,
                                .f32 = k,
                                .share_before = share_of(b, 0),
                                .share_after = share_of(b, MATRICES * (double)b->count)};
    for (int64_t w = 0; w < b->count; w++)
        TRY(gram_take(context, "kernel matrix", b->n * b->n, sizeof(float), (void **)&k[w]));
    TRY(gram_family_fill(context, &family));
done:
    return status;
}

static gram_status run_chains(gram_context *context, gram_svm_chains *chains, gram_grid_batch *b)
{
    gram_status status = GRAM_OK;
    const int64_t tasks = b->count * b->folds * b->outputs;
    const gram_sweep sweep = {.what = "tuning",
                              .tasks = tasks,
                              .scratch_bytes = chains->bytes,
                              .run = gram_svm_chain_run,
                              .argument = chains,
                              .share_before = share_of(b, MATRICES * (double)b->count),
                              .share_after = share_of(b, (double)b->count)};
    TRY(gram_sweep_run(context, &sweep));
    for (int64_t i = 0; i < tasks; i++) {
        b->work.steps += chains->work[i].steps;
        b->work.fits += chains->work[i].fits;
        b->work.unfinished += chains->work[i].unfinished;
    }
done:
    return status;
}

static gram_status run(gram_context *context, void *argument, gram_grid_batch *b)
{
    gram_status status = GRAM_OK;
    const tuning *t = argument;
    const int64_t tasks = b->count * b->folds * b->outputs;
    gram_svm_chains chains = {.data = t->data,
                              .loops = t->loops,
                              .n = b->n,
                              .outputs = b->outputs,
                              .folds = b->folds,
                              .fold = b->fold,
                              .ordered = b->ordered,
                              .strengths = b->strengths,
                              .c = b->strength,
                              .decisions = b->out,
                              .most = t->most};
    gram_svm_chains_measure(&chains);
    TRY(gram_take(context, "tuning", tasks, sizeof *chains.work, (void **)&chains.work));
    TRY(gram_take(context, "tuning", b->count, sizeof *chains.k, (void **)&chains.k));
    memset(chains.k, 0, (size_t)b->count * sizeof *chains.k);
    TRY(make_matrices(context, t, b, chains.k));
    TRY(run_chains(context, &chains, b));
done:
    for (int64_t w = 0; chains.k && w < b->count; w++) gram_give(context, chains.k[w]);
    gram_give(context, chains.k);
    gram_give(context, chains.work);
    return status;
}

/* ---- rows that are tuned on ---- */

typedef struct subset {
    int64_t *rows; /* x->n of them, the first ones used; NULL: all */
    gram_sample sample;
} subset;

enum { CLASS_ROWS = 10 };

/* Of a random order: each class keeps its share of `most` rows, and at least CLASS_ROWS, or all that it has. The rows that stay come first;
 * returns how many. Labels are 0, 1, ... */
static gram_status keep_classes(gram_context *context, int64_t n, const double *y, int64_t classes, int64_t most,
                                int64_t *rows, int64_t *kept)
{
    gram_status status = GRAM_OK;
    int64_t *counts = NULL, *left = NULL, at = 0, out = 0;
    TRY(gram_take(context, "rows", 2 * classes + n, sizeof *counts, (void **)&counts));
    left = counts + classes;
    memset(counts, 0, (size_t)classes * sizeof *counts);
    for (int64_t i = 0; i < n; i++) counts[(int64_t)y[i]]++;
    for (int64_t c = 0; c < classes; c++) {
        const int64_t share = (int64_t)((double)counts[c] * (double)most / (double)n);
        const int64_t least = counts[c] < CLASS_ROWS ? counts[c] : CLASS_ROWS;
        left[c] = share > least ? share : least;
    }
    int64_t *others = left + classes;
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = rows[i], c = (int64_t)y[row];
        if (left[c] > 0) {
            left[c]--;
            rows[at++] = row;
        } else {
            others[out++] = row;
        }
    }
    memcpy(rows + at, others, (size_t)out * sizeof *rows);
    *kept = at < most ? most : at; /* shares are rounded down */
done:
    gram_give(context, counts);
    return status;
}

/* The number of classes, if labels are 0, 1, ...; else 0. */
static int64_t count_labels(int64_t n, const double *y)
{
    int64_t classes = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!(y[i] >= 0 && y[i] < (double)n) || y[i] != (double)(int64_t)y[i]) return 0;
        if ((int64_t)y[i] >= classes) classes = (int64_t)y[i] + 1;
    }
    return classes;
}

/* At most this many (a few more if classes are rare), in a random order unless they are ordered in time. */
static gram_status choose_rows(gram_context *context, const gram_points *x, const double *y, const double *weights,
                               const gram_svm_tune_options *o, int by_class, subset *s)
{
    gram_status status = GRAM_OK;
    const gram_given given = {x, 1, y, 1, weights};
    if (x->n <= o->rows) return GRAM_OK;
    TRY(gram_take(context, "rows", x->n, sizeof *s->rows, (void **)&s->rows));
    gram_random_permutation((gram_random){context->seed, SAMPLE_STREAM}, 0, x->n, s->rows);
    const int64_t classes = by_class && !o->groups ? count_labels(x->n, y) : 0;
    int64_t kept = o->rows;
    if (classes > 1) TRY(keep_classes(context, x->n, y, classes, o->rows, s->rows, &kept));
    if (o->ordered) TRY(gram_rows_sort(context, x->n, kept, s->rows));
    TRY(gram_sample_make(context, &given, kept, s->rows, &s->sample));
done:
    return status;
}

/* ---- the whole ---- */

/* Factors and strengths. */
static gram_status open(gram_context *context, const gram_svm_tune_options *o, tuning *t)
{
    gram_status status = GRAM_OK;
    const gram_svm_data *data = t->data;
    const gram_svm_kind kind = data->options.kind;
    int lengths = 0;
    TRY(gram_grid_has_lengths(context, data->kernel, data->x, &lengths));
    t->loops = gram_smo_loops_choose(context->vecmath->isa);
    t->most = o->iterations ? o->iterations : 100 * data->n;
    t->widths = lengths ? o->width_count : 1;
    t->strengths = kind == GRAM_SVM_C || kind == GRAM_SVM_EPSILON_REGRESSION ? o->C_count : 1;
    for (int64_t c = 0; c < data->classes; c++)
        FAIL_IF(data->first[c + 1] - data->first[c] < 2, context, GRAM_ERROR_DATA,
                "svm_tune: class %lld has one row among those that are tuned on", (long long)c);
    TRY(gram_take(context, "tuning", t->widths, sizeof(double), (void **)&t->factors));
    TRY(gram_take(context, "tuning", t->strengths, sizeof(double), (void **)&t->c));
    fill_grid(t->widths, o->width_least, o->width_most, t->factors);
    fill_grid(t->strengths, o->C_least, o->C_most, t->c);
    if (t->widths == 1) t->factors[0] = 1;
    if (t->strengths == 1) t->c[0] = data->options.C;
done:
    return status;
}

static gram_grid_search search_of(tuning *t, const gram_svm_tune_options *o, const int64_t *rows)
{
    const gram_svm_data *data = t->data;
    const int classification = gram_svm_is_classification(data->options.kind);
    return (gram_grid_search){.name = "svm_tune",
                              .kernel = data->kernel,
                              .x = data->x,
                              .y = data->y,
                              .weights = data->options.weights,
                              .classes = classification ? data->classes : 0,
                              .outputs = data->outputs,
                              .rows = gram_svm_folds_rule(data, o->folds, o->groups, rows, o->ordered),
                              .width_count = t->widths,
                              .widths = t->factors,
                              .strength_count = t->strengths,
                              .strengths = t->c,
                              .ard = o->ard,
                              .screen = classification && data->n >= ROWS_TO_SCREEN,
                              .room = data->cache_bytes,
                              .width_bytes = 4 * (size_t)data->n * (size_t)data->n,
                              .rule = classification ? BY_ACCURACY : BY_ERROR,
                              .argument = t,
                              .run = run,
                              .score = score,
                              .score_columns = 1};
}

/* Decision values by the caller's rows. */
static void tell_decisions(const gram_svm_data *data, const double *decisions, const int64_t *rows, int64_t given,
                           double *out)
{
    const size_t row_bytes = (size_t)data->outputs * sizeof(double);
    for (int64_t i = 0; i < given * data->outputs; i++) out[i] = NAN;
    for (int64_t i = 0; i < data->n; i++)
        memcpy(out + (rows ? rows[i] : i) * data->outputs, decisions + i * data->outputs, row_bytes);
}

static void tell_report(const tuning *t, const gram_grid_found *found, gram_svm_tune_report *report)
{
    *report = (gram_svm_tune_report){.rows = t->data->n,
                                     .fits = found->work.fits,
                                     .iterations = found->work.steps,
                                     .C = t->c[found->strength],
                                     .width = t->factors[found->width],
                                     .score = found->score,
                                     .standard_error = found->error,
                                     .at_bound = found->at_bound,
                                     .ard_kept = found->ard_kept,
                                     .unfinished = found->work.unfinished};
}

/* On the rows of `data`, whose numbers among the caller's are `rows`. */
static gram_status search(gram_context *context, const gram_svm_data *data, const gram_svm_tune_options *o,
                          const int64_t *rows, int64_t given, gram_kernel **tuned, double *scores, double *held_out,
                          gram_svm_tune_report *report)
{
    gram_status status = GRAM_OK;
    tuning t = {.data = data};
    double *decisions = NULL;
    TRY(open(context, o, &t));
    gram_grid_search g = search_of(&t, o, rows);
    if (held_out)
        TRY(gram_take(context, "decision values", data->n * data->outputs, sizeof(double), (void **)&decisions));
    g.held_out = decisions;
    g.scores = scores;
    TRY(gram_grid_search_run(context, &g));
    if (held_out) tell_decisions(data, decisions, rows, given, held_out);
    tell_report(&t, &g.found, report);
    *tuned = g.found.kernel;
done:
    gram_give(context, decisions);
    gram_give(context, t.factors);
    gram_give(context, t.c);
    return status;
}

static gram_status check_arguments(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                   const double *y, const double *C, gram_svm_kind kind)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!kernel || !x || !C, context, GRAM_ERROR_ARGUMENT, "svm_tune: %s is NULL",
            !kernel ? "kernel"
            : !x    ? "x"
                    : "C");
    FAIL_IF(kind == GRAM_SVM_ONE_CLASS, context, GRAM_ERROR_UNSUPPORTED, "svm_tune: one class has no error to tune by");
    FAIL_IF(!y, context, GRAM_ERROR_ARGUMENT, "svm_tune: y is NULL");
    FAIL_IF(gram_smo_kernel_is_indexed(kernel), context, GRAM_ERROR_UNSUPPORTED,
            "svm_tune: a kernel of the points' coordinates is needed");
done:
    return status;
}

gram_status gram_svm_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                          const gram_svm_options *options, const gram_svm_tune_options *tune, gram_kernel **tuned,
                          double *C, double *scores, double *held_out, gram_svm_tune_report *report)
{
    gram_status status = GRAM_OK;
    gram_svm_options known;
    gram_svm_tune_options o;
    gram_svm_tune_report found = {0};
    gram_svm_data data = {0};
    gram_kernel *resolved = NULL;
    subset some = {0};
    if (!context || !tuned) return GRAM_ERROR_ARGUMENT;
    *tuned = NULL;
    gram_svm_tune_options_init(&o, sizeof o);
    TRY(gram_points_must_be_plain(context, "svm_tune", x));
    TRY(gram_svm_options_read(context, "svm_tune", "options", options, &known));
    TRY(gram_sized_read(context, "svm_tune", "tune", "gram_svm_tune_options", tune, &o, sizeof o));
    TRY(gram_sized_check(context, "svm_tune", "report", "gram_svm_tune_report", report, sizeof *report));
    TRY(check_arguments(context, kernel, x, y, C, known.kind));
    TRY(check_options(context, &o));
    TRY(choose_rows(context, x, y, known.weights, &o, gram_svm_is_classification(known.kind), &some));
    known.start = known.held_out = NULL;
    known.probability_folds = 0;
    known.tolerance = fmax(known.tolerance, LOOSE);
    if (some.rows) known.weights = some.sample.weights;
    TRY(gram_kernel_resolve(context, kernel, x, &resolved));
    TRY(gram_svm_data_make(context, "svm_tune", resolved, some.rows ? some.sample.points : x,
                           some.rows ? some.sample.y : y, &known, &data));
    FAIL_IF(data.n < 2 * o.folds, context, GRAM_ERROR_DATA, "svm_tune: %lld rows are too few for %lld folds",
            (long long)data.n, (long long)o.folds);
    TRY(search(context, &data, &o, some.rows, x->n, tuned, scores, held_out, &found));
    *C = found.C;
    gram_sized_write(report, &found, sizeof found);
done:
    gram_svm_data_free(context, &data);
    gram_kernel_release(resolved);
    gram_sample_free(context, &some.sample);
    gram_give(context, some.rows);
    return status;
}
