#include "tune/length_scales.h"

#include <string.h>

#include "points/points.h"

/* Of the leave-one-out error with one length-scale: a smaller gain is not worth a second grid. */
static const double WORTH = 0.75;

/* Proportions need not be exact. */
enum { ROWS = 600, RESTARTS = 1, EVALUATIONS = 30 };

/* Rows for each column, unless asked for: the proportions have seen all rows, so with fewer the folds that judge them favour them. */
enum { ENOUGH = 30 };

/* A column for each class, 1 where the row is of it; of two classes one column says all. */
static void fill_columns(int64_t n, int64_t columns, const double *labels, double *out)
{
    memset(out, 0, (size_t)(n * columns) * sizeof *out);
    for (int64_t i = 0; i < n; i++)
        if ((int64_t)labels[i] < columns) out[i * columns + (int64_t)labels[i]] = 1;
}

/* Rows that hang together are left out together here, too. */
static gram_status set_folds(gram_context *context, int64_t n, const gram_folds_rule *rows,
                             gram_krr_tune_options *options, int64_t **groups)
{
    gram_status status = GRAM_OK;
    if (!rows || (!rows->groups && !rows->ordered)) return GRAM_OK;
    options->criterion = GRAM_CRITERION_CV;
    options->folds = rows->folds;
    options->ordered = rows->ordered;
    if (!rows->groups) return GRAM_OK;
    TRY(gram_take(context, "groups", n, sizeof **groups, (void **)groups));
    for (int64_t i = 0; i < n; i++) (*groups)[i] = rows->groups[rows->rows ? rows->rows[i] : i];
    options->groups = *groups;
done:
    return status;
}

gram_status gram_relevance(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t classes,
                           const double *y, const double *weights, const gram_folds_rule *rows, int ard,
                           gram_kernel **shaped)
{
    gram_status status = GRAM_OK;
    const int64_t columns = classes > 2 ? classes : 1;
    gram_krr_tune_options options;
    gram_krr_tune_report report = {.size = sizeof report};
    gram_kernel *tuned = NULL;
    double *indicators = NULL, lambda;
    int64_t *groups = NULL;
    *shaped = NULL;
    if (ard == 0 || (ard < 0 && (x->n < ROWS ? x->n : ROWS) < ENOUGH * x->d)) return GRAM_OK;
    gram_krr_tune_options_init(&options, sizeof options);
    options.ard = ard;
    options.weights = weights;
    options.rows = ROWS;
    options.restarts = RESTARTS;
    options.evaluations = EVALUATIONS;
    TRY(set_folds(context, x->n, rows, &options, &groups));
    if (classes > 0) {
        TRY(gram_take(context, "classes", x->n * columns, sizeof(double), (void **)&indicators));
        fill_columns(x->n, columns, y, indicators);
    }
    status = gram_krr_tune(context, kernel, x, columns, indicators ? indicators : y, columns, &options, &tuned, &lambda,
                           &report);
    if (status == GRAM_ERROR_NUMERICAL) status = GRAM_OK; /* nothing to learn from it */
    if (status >= 0 && tuned && report.ard_kept && report.value < WORTH * report.value_isotropic)
        *shaped = gram_kernel_retain(tuned);
done:
    gram_kernel_release(tuned);
    gram_give(context, indicators);
    gram_give(context, groups);
    return status < 0 ? status : GRAM_OK;
}
