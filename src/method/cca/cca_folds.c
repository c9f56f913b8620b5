/* kappa by left-out rows. Features of all rows are made once, and do not know which row belongs to which; the canonical variables of the
 * rows that are learnt from lie in the span of these, so that a fold costs products of a few columns and no new Gram matrix. */
#include <math.h>
#include <string.h>

#include "method/cca/cca.h"
#include "tune/row_folds.h"

enum { FOLDS = 5, LEAST_ROWS = 10 };

/* Sums of f g, f^2 and g^2 over left-out rows. */
typedef struct held_sums {
    double both, first, second;
} held_sums;

typedef struct folds_work {
    gram_tall views[2]; /* all rows */
    gram_tall train[2]; /* those of a fold, less their means */
    double *means[2];
    double *weights[2];
    int64_t folds, *fold;
    held_sums sums[GRAM_CCA_GRID];
} folds_work;

static gram_status begin(gram_cca_work *work, folds_work *f)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    const int64_t n = work->views[0].rows.n;
    int64_t most = 0;
    gram_folds_rule rule = {.classes = 1, .groups = work->options.groups, .ordered = work->options.ordered};
    for (int v = 0; v < 2; v++) {
        f->views[v] = gram_cca_first(&work->views[v], GRAM_FOLD_FEATURES);
        f->train[v] = (gram_tall){0, f->views[v].columns, f->views[v].columns, NULL};
        const int64_t columns = f->views[v].columns;
        TRY(gram_take(context, "cca: rows of a fold", n * columns, sizeof(double), (void **)&f->train[v].data));
        TRY(gram_take(context, "cca: means", columns, sizeof(double), (void **)&f->means[v]));
        TRY(gram_take(context, "cca: weights", columns, sizeof(double), (void **)&f->weights[v]));
    }
    TRY(gram_take(context, "cca: folds", n, sizeof *f->fold, (void **)&f->fold));
    TRY(gram_folds_most(context, n, &rule, &most));
    rule.folds = f->folds = most < FOLDS ? most : FOLDS;
    TRY(gram_folds_deal(context, "cca", n, &rule, f->fold));
done:
    return status;
}

static void end(gram_context *context, folds_work *f)
{
    for (int v = 0; v < 2; v++) {
        gram_give(context, f->train[v].data);
        gram_give(context, f->means[v]);
        gram_give(context, f->weights[v]);
    }
    gram_give(context, f->fold);
}

/* The rows that fold `held` is predicted from, centred. */
static void gather(folds_work *f, int v, int64_t held, int ordered)
{
    const gram_tall all = f->views[v];
    gram_tall *train = &f->train[v];
    train->n = 0;
    memset(f->means[v], 0, (size_t)all.columns * sizeof(double));
    for (int64_t i = 0; i < all.n; i++) {
        if (!gram_fold_trains(f->fold[i], held, ordered)) continue;
        memcpy(train->data + train->n++ * train->ld, all.data + i * all.ld, (size_t)all.columns * sizeof(double));
    }
    for (int64_t i = 0; i < train->n; i++)
        for (int64_t j = 0; j < all.columns; j++) f->means[v][j] += train->data[i * train->ld + j] / (double)train->n;
    for (int64_t i = 0; i < train->n; i++)
        for (int64_t j = 0; j < all.columns; j++) train->data[i * train->ld + j] -= f->means[v][j];
}

static double variable(const folds_work *f, int v, int64_t row)
{
    const double *features = f->views[v].data + row * f->views[v].ld;
    double sum = 0;
    for (int64_t j = 0; j < f->views[v].columns; j++) sum += (features[j] - f->means[v][j]) * f->weights[v][j];
    return sum;
}

static gram_status leave_out(gram_cca_work *work, folds_work *f, int64_t held)
{
    gram_status status = GRAM_OK;
    gram_cca_problem problem = {0};
    for (int v = 0; v < 2; v++) gather(f, v, held, work->options.ordered);
    TRY(gram_cca_problem_make(work->context, f->train[0], f->train[1], &problem));
    for (int g = 0; g < GRAM_CCA_GRID; g++) {
        double rho = 0;
        int64_t found = 0;
        TRY(gram_cca_problem_solve(work->context, &problem, work->grid[g], 1, &rho, f->weights, &found));
        for (int64_t i = 0; i < f->views[0].n; i++) {
            if (f->fold[i] != held) continue;
            const double x = variable(f, 0, i), y = variable(f, 1, i);
            f->sums[g].both += x * y;
            f->sums[g].first += x * x;
            f->sums[g].second += y * y;
        }
    }
done:
    gram_cca_problem_free(work->context, &problem);
    return status;
}

gram_status gram_cca_choose_kappa(gram_cca_work *work)
{
    gram_status status = GRAM_OK;
    gram_cca_report *report = &work->cca->report;
    folds_work f = {0};
    FAIL_IF(report->n < LEAST_ROWS, work->context, GRAM_ERROR_ARGUMENT,
            "cca: %lld rows are too few to choose kappa by, which takes %d", (long long)report->n, LEAST_ROWS);
    TRY(begin(work, &f));
    for (int64_t held = 0; held < f.folds; held++) TRY(leave_out(work, &f, held));
    report->kappa = work->grid[0];
    for (int g = 0; g < GRAM_CCA_GRID; g++) {
        const held_sums s = f.sums[g];
        const double correlation = s.first > 0 && s.second > 0 ? s.both / sqrt(s.first * s.second) : 0;
        if (g > 0 && correlation <= report->held_out) continue;
        report->held_out = correlation;
        report->kappa = work->grid[g];
    }
    report->chosen = 1;
done:
    end(work->context, &f);
    return status;
}
