/* Cross-validation over widths and strengths, fused.
 *
 * The kernel matrices of all rows are made once, in f32, all widths in one sweep, which makes the distances once (as many widths
 * at a time as there is room for). A task is one width, one fold and one output: it solves for
 * the strengths from the least on, each from the solution before. The solver keeps f = K b at all points that it is given, the
 * held-out rows among them, so decision values cost nothing extra. */
#include <math.h>
#include <string.h>

#include <gram/random.h>
#include <gram/text.h>

#include "base/sized_struct.h"
#include "base/sweep.h"
#include "method/svm/svm_chain.h"
#include "tile/width_family.h"
#include "tune/length_scales.h"

enum { SAMPLE_STREAM = 0x53564e };

/* Ten times the usual tolerance: scores do not change by a part of their standard error, and it takes half of the time. */
static const double LOOSE = 1e-2;

/* What making a matrix takes of the work on its width. */
static const double MATRICES = 0.05;

/* Standard errors: the better of two searches is better by chance otherwise. */
static const double CLEARLY = 2;

/* Standard errors within which scores are as good as each other. */
static const double AS_GOOD = 0.25;

typedef struct tuning {
    const gram_svm_data *data; /* of the rows that are tuned on */
    int64_t widths, strengths, n, outputs;
    double *factors;            /* of the widths */
    int64_t batch, batch_first; /* widths that are held at a time, and the first of them */
    gram_svm_chains chains;     /* of a batch */
    double *scores, *errors;    /* widths x strengths, with standard errors */
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
    gram_sized_init(options, size, &defaults, sizeof defaults);
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
    gram_give(context, values);
    return status;
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
            const double *decisions = gram_svm_decisions_at(&t->chains, w, k);
            const int64_t at = (t->batch_first + w) * t->strengths + k;
            if (classification) TRY(gram_svm_decide(context, t->data->classes, t->n, decisions, NULL, labels, NULL));
            score(t, decisions, classification ? labels : NULL, &t->scores[at], &t->errors[at]);
        }
done:
    gram_give(context, labels);
    return status;
}

/* A cell's score among its neighbours': shares of right labels are counts of few rows, and the largest of a hundred such is a
 * lucky one more often than the best. Mean squared errors are smooth enough as they are. */
static double smoothed(const tuning *t, int64_t cell)
{
    static const double weights[] = {1, 2, 1};
    const int64_t width = cell / t->strengths, strength = cell % t->strengths;
    double sum = 0, total = 0;
    if (!gram_svm_is_classification(t->data->options.kind)) return t->scores[cell];
    for (int64_t w = width - 1; w <= width + 1; w++)
        for (int64_t k = strength - 1; k <= strength + 1; k++) {
            if (w < 0 || w >= t->widths || k < 0 || k >= t->strengths) continue;
            const double weight = weights[w - width + 1] * weights[k - strength + 1];
            sum += weight * t->scores[w * t->strengths + k];
            total += weight;
        }
    return sum / total;
}

/* Is a better than b? Of equals the smaller C, then the wider kernel. */
static int is_better(const tuning *t, int64_t a, int64_t b)
{
    const double x = smoothed(t, a), y = smoothed(t, b);
    if (x != y) return gram_svm_is_classification(t->data->options.kind) ? x > y : x < y;
    const int64_t ca = a % t->strengths, cb = b % t->strengths;
    return ca != cb ? ca < cb : a / t->strengths > b / t->strengths;
}

/* The best but for the smallest C that is as good, as far as the scores can tell. */
static int64_t best_cell(const tuning *t)
{
    int64_t best = 0, simple;
    for (int64_t i = 1; i < t->widths * t->strengths; i++)
        if (is_better(t, i, best)) best = i;
    if (!gram_svm_is_classification(t->data->options.kind)) return best;
    const double enough = smoothed(t, best) - AS_GOOD * t->errors[best];
    simple = best;
    for (int64_t i = 0; i < t->widths * t->strengths; i++) {
        const int64_t c = i % t->strengths, least = simple % t->strengths;
        if (smoothed(t, i) < enough) continue;
        if (c < least || (c == least && is_better(t, i, simple))) simple = i;
    }
    return simple;
}

/* ---- the grid ---- */

/* The part of the work that is done after this many widths of the batch. */
static double share_of(const tuning *t, double widths)
{
    return ((double)t->batch_first + widths) / (double)t->widths;
}

/* The kernel matrices of a batch of widths. */
static gram_status make_matrices(gram_context *context, tuning *t, const gram_kernel *kernel, int64_t widths)
{
    gram_status status = GRAM_OK;
    gram_kernel **kernels = NULL;
    int64_t lengths = 0;
    TRY(gram_take(context, "tuning", widths, sizeof *kernels, (void **)&kernels));
    memset(kernels, 0, (size_t)widths * sizeof *kernels);
    for (int64_t w = 0; w < widths; w++)
        TRY(stretch(context, kernel, t->factors[t->batch_first + w], &lengths, &kernels[w]));
    const gram_family family = {.count = (int)widths,
                                .kernels = kernels,
                                .x = t->data->x,
                                .f32 = t->chains.k,
                                .share_before = share_of(t, 0),
                                .share_after = share_of(t, MATRICES * (double)widths)};
    TRY(gram_family_fill(context, &family));
done:
    for (int64_t w = 0; kernels && w < widths; w++) gram_kernel_release(kernels[w]);
    gram_give(context, kernels);
    return status;
}

static gram_status run_batch(gram_context *context, tuning *t, const gram_kernel *kernel, int64_t widths)
{
    gram_status status = GRAM_OK;
    TRY(make_matrices(context, t, kernel, widths));
    const gram_sweep sweep = {.what = "tuning",
                              .tasks = widths * t->chains.folds * t->outputs,
                              .scratch_bytes = t->chains.bytes,
                              .run = gram_svm_chain_run,
                              .argument = &t->chains,
                              .share_before = share_of(t, MATRICES * (double)widths),
                              .share_after = share_of(t, (double)widths)};
    TRY(gram_sweep_run(context, &sweep));
    TRY(score_batch(context, t, widths));
done:
    return status;
}

static void measure(tuning *t)
{
    const double matrix = 4.0 * (double)t->n * (double)t->n + 8.0 * (double)(t->strengths * t->n * t->outputs);
    const int64_t fit = (int64_t)((double)t->data->cache_bytes / matrix);
    t->batch = fit < 1 ? 1 : fit < t->widths ? fit : t->widths;
    gram_svm_chains_measure(&t->chains);
}

static gram_status take_all(gram_context *context, tuning *t)
{
    gram_status status = GRAM_OK;
    const int64_t grid = t->widths * t->strengths, tasks = t->batch * t->chains.folds * t->outputs;
    TRY(gram_take(context, "tuning", t->n, sizeof *t->chains.fold, (void **)&t->chains.fold));
    TRY(gram_take(context, "tuning", t->widths, sizeof(double), (void **)&t->factors));
    TRY(gram_take(context, "tuning", t->strengths, sizeof(double), (void **)&t->chains.c));
    TRY(gram_take(context, "tuning", grid, sizeof(double), (void **)&t->scores));
    TRY(gram_take(context, "tuning", grid, sizeof(double), (void **)&t->errors));
    TRY(gram_take(context, "tuning", tasks, sizeof *t->chains.work, (void **)&t->chains.work));
    TRY(gram_take(context, "tuning", t->batch, sizeof *t->chains.k, (void **)&t->chains.k));
    memset(t->chains.k, 0, (size_t)t->batch * sizeof *t->chains.k);
    TRY(gram_take(context, "decision values", t->batch * t->strengths * t->n, (size_t)t->outputs * sizeof(double),
                  (void **)&t->chains.decisions));
    for (int64_t w = 0; w < t->batch; w++)
        TRY(gram_take(context, "kernel matrix", t->n * t->n, sizeof(float), (void **)&t->chains.k[w]));
done:
    return status;
}

static void free_all(gram_context *context, tuning *t)
{
    for (int64_t w = 0; t->chains.k && w < t->batch; w++) gram_give(context, t->chains.k[w]);
    gram_give(context, t->chains.decisions);
    gram_give(context, t->chains.k);
    gram_give(context, t->chains.work);
    gram_give(context, t->errors);
    gram_give(context, t->scores);
    gram_give(context, t->chains.c);
    gram_give(context, t->factors);
    gram_give(context, t->chains.fold);
}

/* All batches, then the choice; its decision values go to the caller's rows. */
static gram_status search(gram_context *context, tuning *t, const gram_kernel *kernel, const int64_t *rows,
                          double *out_of_fold, int64_t *best, gram_svm_tune_report *report)
{
    gram_status status = GRAM_OK;
    const size_t row_bytes = (size_t)t->outputs * sizeof(double);
    int64_t held = 0, widths = 0;
    for (int64_t first = 0; first < t->widths; first += t->batch) {
        const int64_t left = t->widths - first;
        t->batch_first = held = first;
        widths = left < t->batch ? left : t->batch;
        TRY(run_batch(context, t, kernel, widths));
        for (int64_t i = 0; i < widths * t->chains.folds * t->outputs; i++) {
            report->iterations += t->chains.work[i].steps;
            report->fits += t->chains.work[i].fits;
            report->unfinished += t->chains.work[i].unfinished;
        }
    }
    *best = best_cell(t);
    const int64_t width = *best / t->strengths;
    if (out_of_fold && (width < held || width >= held + widths)) { /* its decision values were written over */
        t->batch_first = held = width;
        TRY(run_batch(context, t, kernel, 1));
    }
    const double *decisions = gram_svm_decisions_at(&t->chains, width - held, *best % t->strengths);
    for (int64_t i = 0; out_of_fold && i < t->n; i++)
        memcpy(out_of_fold + (rows ? rows[i] : i) * t->outputs, decisions + i * t->outputs, row_bytes);
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

static void free_rows(gram_context *context, subset *s)
{
    gram_points_destroy(s->points);
    gram_give(context, s->rows);
    gram_give(context, s->x);
    gram_give(context, s->y);
    gram_give(context, s->weights);
}

/* ---- the whole ---- */

static gram_status set_up(gram_context *context, const gram_svm_data *data, const gram_svm_tune_options *o,
                          const gram_kernel *kernel, tuning *t)
{
    gram_status status = GRAM_OK;
    int64_t lengths = 0;
    gram_kernel *same = NULL;
    const gram_svm_kind kind = data->options.kind;
    *t = (tuning){.data = data, .n = data->n, .outputs = data->outputs};
    TRY(stretch(context, kernel, 1, &lengths, &same));
    gram_kernel_release(same);
    t->widths = lengths ? o->widths : 1;
    t->strengths = kind == GRAM_SVM_C || kind == GRAM_SVM_EPSILON_REGRESSION ? o->strengths : 1;
    t->chains = (gram_svm_chains){.data = data,
                                  .loops = gram_smo_loops_choose(context->vecmath->isa),
                                  .n = data->n,
                                  .outputs = data->outputs,
                                  .folds = o->folds,
                                  .strengths = t->strengths,
                                  .most = o->iterations ? o->iterations : 100 * data->n};
    for (int64_t c = 0; c < data->classes; c++)
        FAIL_IF(data->first[c + 1] - data->first[c] < 2, context, GRAM_ERROR_DATA,
                "svm_tune: class %lld has one row among those that are tuned on", (long long)c);
    measure(t);
    TRY(take_all(context, t));
    TRY(gram_svm_make_folds(context, data, t->chains.folds, t->chains.fold));
    if (t->widths > 1)
        fill_grid(t->widths, o->width_least, o->width_most, t->factors);
    else
        t->factors[0] = 1;
    if (t->strengths > 1)
        fill_grid(t->strengths, o->c_least, o->c_most, t->chains.c);
    else
        t->chains.c[0] = data->options.C;
done:
    return status;
}

static void report_best(const tuning *t, int64_t best, gram_svm_tune_report *r)
{
    const int64_t w = best / t->strengths, k = best % t->strengths;
    r->size = sizeof *r;
    r->rows = t->n;
    r->C = t->chains.c[k];
    r->factor = t->factors[w];
    r->score = t->scores[best];
    r->standard_error = t->errors[best];
    r->at_edge =
        (t->widths > 1 && (w == 0 || w == t->widths - 1)) || (t->strengths > 1 && (k == 0 || k == t->strengths - 1));
}

/* What a search of one kernel found. */
typedef struct found {
    gram_kernel *kernel;
    gram_svm_tune_report report;
    double *scores, *out_of_fold; /* the caller's, or of the same size, or NULL */
} found;

/* The grid of one kernel on the rows of `data`, whose numbers among the caller's are `rows`. */
static gram_status search_kernel(gram_context *context, const gram_svm_data *data, const gram_svm_tune_options *o,
                                 const gram_kernel *kernel, const int64_t *rows, int64_t caller_rows, found *out)
{
    gram_status status = GRAM_OK;
    tuning t = {0};
    int64_t best = -1, lengths = 0;
    TRY(set_up(context, data, o, kernel, &t));
    for (int64_t i = 0; out->out_of_fold && i < caller_rows * t.outputs; i++) out->out_of_fold[i] = NAN;
    TRY(search(context, &t, kernel, rows, out->out_of_fold, &best, &out->report));
    TRY(stretch(context, kernel, t.factors[best / t.strengths], &lengths, &out->kernel));
    report_best(&t, best, &out->report);
    if (out->scores) memcpy(out->scores, t.scores, (size_t)(t.widths * t.strengths) * sizeof *out->scores);
done:
    free_all(context, &t);
    return status;
}

static int is_clearly_better(gram_svm_kind kind, const gram_svm_tune_report *a, const gram_svm_tune_report *b)
{
    const double gain = gram_svm_is_classification(kind) ? a->score - b->score : b->score - a->score;
    return gain > CLEARLY * b->standard_error;
}

/* The same grid with one length-scale per column; replaces what was found if it is better. */
static gram_status try_several_lengths(gram_context *context, const gram_svm_data *data, const gram_svm_tune_options *o,
                                       const int64_t *rows, int64_t caller_rows, found *out)
{
    gram_status status = GRAM_OK;
    const int64_t decisions = caller_rows * data->outputs, grid = o->widths * o->strengths;
    const int classification = gram_svm_is_classification(data->options.kind);
    gram_kernel *shaped = NULL;
    found other = {0};
    TRY(gram_relevance(context, data->kernel, data->x, classification ? data->classes : 0, data->y,
                       data->options.weights, o->ard, &shaped));
    if (!shaped) goto done;
    TRY(gram_take(context, "scores", grid, sizeof(double), (void **)&other.scores));
    TRY(gram_take(context, "decision values", decisions, sizeof(double), (void **)&other.out_of_fold));
    TRY(search_kernel(context, data, o, shaped, rows, caller_rows, &other));
    other.report.fits += out->report.fits;
    other.report.iterations += out->report.iterations;
    other.report.unfinished += out->report.unfinished;
    if (is_clearly_better(data->options.kind, &other.report, &out->report)) {
        gram_kernel *kept = out->kernel;
        out->kernel = other.kernel;
        other.kernel = kept;
        out->report = other.report;
        out->report.ard_kept = 1;
        if (out->scores) memcpy(out->scores, other.scores, (size_t)grid * sizeof(double));
        if (out->out_of_fold) memcpy(out->out_of_fold, other.out_of_fold, (size_t)decisions * sizeof(double));
    }
done:
    gram_give(context, other.scores);
    gram_give(context, other.out_of_fold);
    gram_kernel_release(other.kernel);
    gram_kernel_release(shaped);
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
                          const gram_svm_options *machine, const gram_svm_tune_options *options, gram_kernel **tuned,
                          double *C, double *scores, double *out_of_fold, gram_svm_tune_report *report)
{
    gram_status status = GRAM_OK;
    gram_svm_options known;
    gram_svm_tune_options o;
    gram_svm_data data = {0};
    gram_kernel *resolved = NULL;
    subset rows = {0};
    found out = {.scores = scores, .out_of_fold = out_of_fold};
    if (!context || !tuned) return GRAM_ERROR_ARGUMENT;
    *tuned = NULL;
    gram_svm_tune_options_init(&o, sizeof o);
    TRY(gram_svm_options_read(context, "svm_tune", "machine", machine, &known));
    TRY(gram_sized_read(context, "svm_tune", "options", "gram_svm_tune_options", options, &o, sizeof o));
    TRY(gram_sized_check(context, "svm_tune", "report", "gram_svm_tune_report", report, sizeof *report));
    TRY(check_arguments(context, kernel, x, y, C, known.kind));
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
    TRY(search_kernel(context, &data, &o, resolved, rows.rows, x->n, &out));
    if (o.ard) TRY(try_several_lengths(context, &data, &o, rows.rows, x->n, &out));
    *tuned = out.kernel;
    out.kernel = NULL;
    *C = out.report.C;
    gram_sized_write(report, &out.report, sizeof out.report);
done:
    gram_kernel_release(out.kernel);
    gram_svm_data_free(context, &data);
    gram_kernel_release(resolved);
    free_rows(context, &rows);
    return status;
}
