/* Options of tuning: defaults and limits, in one place. */
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sized_struct.h"
#include "tune/ridge_criterion.h"
#include "tune/row_folds.h"

enum { MAX_GRID = 1000 };

void gram_krr_tune_options_init(gram_krr_tune_options *options, size_t size)
{
    const gram_krr_tune_options defaults = {
        .folds = 5, .lambda = NAN, .intercept = 1, .ard = -1, .rows = 3000, .restarts = 3, .evaluations = 300};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

/* An integer option that must lie between two others. */
static gram_status check_between(gram_context *context, const char *function, const char *name, int64_t value,
                                 int64_t least, int64_t most)
{
    if (value >= least && value <= most) return GRAM_OK;
    return gram_fail(context, GRAM_ERROR_ARGUMENT, "%s: options: %s = %lld, need %lld to %lld", function, name,
                     (long long)value, (long long)least, (long long)most);
}

gram_status gram_krr_tune_options_read(gram_context *context, const char *function,
                                       const gram_krr_tune_options *options, gram_krr_tune_options *read)
{
    gram_status status = GRAM_OK;
    char text[GRAM_NUMBER_SIZE];
    gram_krr_tune_options_init(read, sizeof *read);
    TRY(gram_sized_read(context, function, "options", "gram_krr_tune_options", options, read, sizeof *read));
    TRY(check_between(context, function, "criterion", (int64_t)read->criterion, GRAM_CRITERION_LOO, GRAM_CRITERION_ML));
    TRY(check_between(context, function, "folds", read->folds, 2, INT32_MAX));
    TRY(check_between(context, function, "ard", read->ard, -1, 1));
    TRY(check_between(context, function, "rows", read->rows, 1, INT32_MAX));
    TRY(check_between(context, function, "restarts", read->restarts, 1, 1000));
    TRY(check_between(context, function, "evaluations", read->evaluations, 1, INT64_MAX));
    TRY(check_between(context, function, "grid", read->grid, 0, MAX_GRID));
    FAIL_IF((read->groups || read->ordered) && read->criterion != GRAM_CRITERION_CV, context, GRAM_ERROR_ARGUMENT,
            "%s: options: groups and ordered are of cross-validation by folds; use GRAM_CRITERION_CV", function);
    TRY(gram_folds_check_options(context, function, read->groups, read->ordered));
    FAIL_IF(read->lambda_fixed && !(read->lambda >= 0 && isfinite(read->lambda)), context, GRAM_ERROR_ARGUMENT,
            "%s: options: lambda = %s is to be held fixed, need a finite number >= 0", function,
            gram_number_format(read->lambda, text));
    FAIL_IF(!read->lambda_fixed && !isnan(read->lambda) && !(read->lambda > 0 && isfinite(read->lambda)), context,
            GRAM_ERROR_ARGUMENT, "%s: options: lambda = %s, need a finite number above 0, or NaN", function,
            gram_number_format(read->lambda, text));
done:
    return status;
}

gram_criterion_rule gram_criterion_rule_of(const gram_krr_tune_options *o)
{
    return (gram_criterion_rule){.kind = o->criterion,
                                 .intercept = o->intercept,
                                 .unpenalised_count = o->unpenalised_count,
                                 .unpenalised = o->unpenalised,
                                 .folds = o->folds,
                                 .gradients = o->grid == 0,
                                 .groups = o->groups,
                                 .ordered = o->ordered != 0};
}
