/* gamma, and how often matching is right, by left-out rows. As in kernel CCA the features of all rows are made once. */
#include <math.h>
#include <string.h>

#include "base/sweep.h"
#include "method/couple/couple.h"
#include "tune/row_folds.h"

enum { FOLDS = 5, LEAST_ROWS = 10, GRID = 7 };

typedef struct folds_work {
    gram_tall views[2]; /* all rows */
    gram_tall train[2]; /* those of a fold */
    int64_t folds, *fold;
    int64_t *row, *place;   /* of the rows learnt from: gram_affinity_rows */
    double *weights;        /* of both views */
    double *coordinates[2]; /* n x k */
    double *values;         /* k */
    unsigned char *right;   /* n */
    int count;              /* gammas */
    double gamma[GRID];
    int64_t matched[GRID];
} folds_work;

static gram_status deal(gram_couple_work *work, folds_work *f)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    const int64_t n = work->couple->report.n;
    double *labels = NULL;
    int64_t most = 0;
    gram_folds_rule rule = {.classes = 1, .groups = work->options.groups, .ordered = work->options.ordered};
    if (work->options.labels) {
        TRY(gram_take(context, "couple: labels", n, sizeof *labels, (void **)&labels));
        for (int64_t i = 0; i < n; i++) labels[i] = (double)work->options.labels[i];
        rule.labels = labels;
        rule.classes = work->affinity.classes;
    }
    TRY(gram_folds_most(context, n, &rule, &most));
    rule.folds = f->folds = most < FOLDS ? most : FOLDS;
    TRY(gram_folds_deal(context, "couple", n, &rule, f->fold));
done:
    gram_give(context, labels);
    return status;
}

static gram_status begin(gram_couple_work *work, folds_work *f)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    const int64_t n = work->couple->report.n, k = work->couple->report.components;
    int64_t size = 0;
    for (int v = 0; v < 2; v++) {
        f->views[v] = work->views[v].rows;
        if (f->views[v].columns > GRAM_FOLD_FEATURES) f->views[v].columns = GRAM_FOLD_FEATURES;
        const int64_t columns = f->views[v].columns;
        size += columns;
        f->train[v] = (gram_tall){0, columns, columns, NULL};
        TRY(gram_take(context, "couple: rows of a fold", n * columns, sizeof(double), (void **)&f->train[v].data));
        TRY(gram_take(context, "couple: coordinates", n * k, sizeof(double), (void **)&f->coordinates[v]));
    }
    TRY(gram_take(context, "couple: weights", size * k, sizeof(double), (void **)&f->weights));
    TRY(gram_take(context, "couple: values", k, sizeof(double), (void **)&f->values));
    TRY(gram_take(context, "couple: folds", n, sizeof *f->fold, (void **)&f->fold));
    TRY(gram_take(context, "couple: rows", n, sizeof *f->row, (void **)&f->row));
    TRY(gram_take(context, "couple: rows", n, sizeof *f->place, (void **)&f->place));
    TRY(gram_take(context, "couple: matches", n, 1, (void **)&f->right));
    TRY(deal(work, f));
done:
    return status;
}

static void end(gram_context *context, folds_work *f)
{
    for (int v = 0; v < 2; v++) {
        gram_give(context, f->train[v].data);
        gram_give(context, f->coordinates[v]);
    }
    gram_give(context, f->weights);
    gram_give(context, f->values);
    gram_give(context, f->fold);
    gram_give(context, f->row);
    gram_give(context, f->place);
    gram_give(context, f->right);
}

/* 10 t, t, ... with t = tr B/2n, the mean over rows of both views of D_ii k(x_i, x_i). */
static gram_status set_grid(gram_couple_work *work, folds_work *f)
{
    gram_status status = GRAM_OK;
    const int64_t n = work->couple->report.n;
    double *degree = NULL, size = 0;
    f->count = isnan(work->options.gamma) ? GRID : 1;
    f->gamma[0] = work->options.gamma;
    if (f->count == 1) return GRAM_OK;
    TRY(gram_take(work->context, "couple: row sums", n, sizeof *degree, (void **)&degree));
    TRY(gram_affinity_degrees(work->context, &work->affinity, &(gram_affinity_rows){n, NULL, NULL}, degree));
    for (int v = 0; v < 2; v++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < work->views[v].rows.columns; j++) {
                const double feature = work->views[v].rows.data[i * work->views[v].rows.ld + j];
                size += degree[i] * feature * feature / (2 * (double)n);
            }
    for (int g = 0; g < GRID; g++) f->gamma[g] = size * pow(10, 1 - g);
done:
    gram_give(work->context, degree);
    return status;
}

/* ---- matching ---- */

static double squared_distance(const double *a, const double *b, int64_t k)
{
    double sum = 0;
    for (int64_t s = 0; s < k; s++) sum += (a[s] - b[s]) * (a[s] - b[s]);
    return sum;
}

typedef struct matching {
    const folds_work *f;
    const int64_t *labels;
    int64_t n, k, held;
    int ordered;
} matching;

/* Is a left-out row of view a matched rightly? By the class of the nearest row of view b that was learnt from, or, without
 * labels, by its own partner being as near as any left-out row of view b. */
static gram_status match_task(void *argument, const gram_worker *worker)
{
    const matching *m = argument;
    const folds_work *f = m->f;
    const int64_t i = worker->task;
    const double *probe = f->coordinates[0] + i * m->k;
    double nearest = INFINITY;
    int64_t best = -1;
    f->right[i] = 0;
    if (f->fold[i] != m->held) return GRAM_OK;
    for (int64_t j = 0; j < m->n; j++) {
        const int in = m->labels ? gram_fold_trains(f->fold[j], m->held, m->ordered) : f->fold[j] == m->held;
        const double distance = in ? squared_distance(probe, f->coordinates[1] + j * m->k, m->k) : INFINITY;
        if (distance < nearest || (distance == nearest && j == i)) best = j;
        nearest = fmin(distance, nearest);
    }
    f->right[i] = best >= 0 && (m->labels ? m->labels[best] == m->labels[i] : best == i);
    return GRAM_OK;
}

static gram_status count_matches(gram_couple_work *work, folds_work *f, int64_t k, int64_t held, int64_t *matched)
{
    gram_status status = GRAM_OK;
    const int64_t n = work->couple->report.n;
    const double *weights[2] = {f->weights, f->weights + f->views[0].columns * k};
    matching m = {f, work->options.labels, n, k, held, work->options.ordered};
    const gram_sweep sweep = {.what = "matching", .tasks = n, .run = match_task, .argument = &m};
    for (int v = 0; v < 2; v++) {
        memset(f->coordinates[v], 0, (size_t)(n * k) * sizeof(double));
        TRY(gram_tall_add(work->context, f->views[v], 1, weights[v], k, (gram_tall){n, k, k, f->coordinates[v]}));
    }
    TRY(gram_sweep_run(work->context, &sweep));
    for (int64_t i = 0; i < n; i++) *matched += f->right[i];
done:
    return status;
}

/* ---- folds ---- */

static void gather(folds_work *f, int64_t n, int64_t held, int ordered)
{
    f->train[0].n = f->train[1].n = 0;
    for (int64_t i = 0; i < n; i++) {
        f->place[i] = -1;
        if (!gram_fold_trains(f->fold[i], held, ordered)) continue;
        const int64_t at = f->train[0].n++;
        f->train[1].n++;
        f->row[at] = i;
        f->place[i] = at;
        for (int v = 0; v < 2; v++)
            memcpy(f->train[v].data + at * f->train[v].ld, f->views[v].data + i * f->views[v].ld,
                   (size_t)f->views[v].columns * sizeof(double));
    }
}

/* A gamma for which a fold has too few solutions matches nothing there. */
static gram_status leave_out(gram_couple_work *work, folds_work *f, int64_t held)
{
    gram_status status = GRAM_OK;
    gram_couple_problem problem = {0};
    const int64_t k = work->couple->report.components;
    gather(f, work->couple->report.n, held, work->options.ordered);
    const gram_affinity_rows rows = {f->train[0].n, f->row, f->place};
    TRY(gram_couple_problem_make(work->context, &work->affinity, &rows, f->train[0], f->train[1], &problem));
    for (int g = 0; g < f->count; g++) {
        int64_t found = 0;
        TRY(gram_couple_problem_solve(work->context, &problem, f->gamma[g], k, f->values, f->weights, &found));
        if (found == k) TRY(count_matches(work, f, k, held, &f->matched[g]));
    }
done:
    gram_couple_problem_free(work->context, &problem);
    return status;
}

gram_status gram_couple_validate(gram_couple_work *work)
{
    gram_status status = GRAM_OK;
    gram_couple_report *report = &work->couple->report;
    folds_work f = {0};
    int64_t left_out = 0;
    int best = 0;
    if (report->n < LEAST_ROWS && !isnan(work->options.gamma)) return GRAM_OK;
    FAIL_IF(report->n < LEAST_ROWS, work->context, GRAM_ERROR_ARGUMENT,
            "couple: %lld rows are too few to choose gamma by, which takes %d", (long long)report->n, LEAST_ROWS);
    TRY(set_grid(work, &f));
    TRY(begin(work, &f));
    for (int64_t held = 0; held < f.folds; held++) TRY(leave_out(work, &f, held));
    for (int64_t i = 0; i < report->n; i++) left_out += f.fold[i] >= 0;
    for (int g = 1; g < f.count; g++)
        if (f.matched[g] > f.matched[best]) best = g;
    report->gamma = f.gamma[best];
    report->chosen = f.count > 1;
    report->accuracy = (double)f.matched[best] / (double)left_out;
done:
    end(work->context, &f);
    return status;
}
