/* What a report says of the error on new rows: the first thing that a reader should see. */
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "learn/estimate/error_estimate.h"
#include "method/method_report.h"

/* Facts of the estimate begin with this. */
static const char PREFIX[] = "estimate_";

int gram_estimate_is_fact(const char *name)
{
    return strncmp(name, PREFIX, sizeof PREFIX - 1) == 0;
}

/* "rmse 0.31 (standard error 0.012)" */
static int add_error(gram_report *report, const char *words, const char *fact, const char *of_se)
{
    if (isnan(gram_report_number(report, fact))) return 0;
    gram_report_part(report, words, fact, GRAM_FINE);
    if (isnan(gram_report_number(report, of_se))) return 1;
    gram_report_add(report, " (standard error ");
    gram_report_value(report, GRAM_ROUGH, gram_report_number(report, of_se));
    gram_report_add(report, ")");
    return 1;
}

static void add_way(gram_report *report, const char *kind)
{
    char count[GRAM_NUMBER_SIZE];
    const char *numbers = gram_report_text(report, "estimate_numbers"), *by = gram_report_text(report, "estimate_by");
    const double rows = gram_report_number(report, "estimate_rows");
    const int folds = strcmp(kind, "folds") == 0;
    gram_report_row(report, "  estimated");
    gram_report_add(report, "on %s row%s", gram_count_format((int64_t)rows, count), rows == 1 ? "" : "s");
    if (strcmp(kind, "loo") == 0) gram_report_add(report, ", each left out alone");
    if (folds) gram_report_add(report, " left out in %.0f folds", gram_report_number(report, "estimate_folds"));
    if (strcmp(kind, "holdout") == 0) gram_report_add(report, " held out at first");
    if (by) gram_report_add(report, strcmp(by, "order") == 0 ? ", forward in time" : ", by groups");
    if (!numbers || strcmp(numbers, "given") == 0) return;
    gram_report_add(report, strcmp(numbers, "shared") == 0 ? "; numbers as they were tuned on all rows"
                            : folds                        ? "; tuned anew for each"
                                                           : "; tuned without them");
}

/* Training errors that are far below are no measure of anything. */
static void warn(gram_report *report)
{
    const double train = gram_report_number(report, "train_rmse"), rmse = gram_report_number(report, "estimate_rmse");
    const double right = gram_report_number(report, "train_accuracy"),
                 accuracy = gram_report_number(report, "estimate_accuracy"),
                 se = gram_report_number(report, "estimate_accuracy_se");
    const int numbers = train < 0.7 * rmse && !isnan(gram_report_number(report, "estimate_r2")),
              classes = 1 - right < 0.5 * (1 - accuracy) && right - accuracy > 2 * se;
    if (!numbers && !classes) return;
    gram_report_row(report, "  note");
    gram_report_add(report, "the training error is far below this: it is no measure of new rows");
}

void gram_estimate_report(gram_report *report)
{
    const char *kind = gram_report_text(report, "estimate_kind"),
               *missing = gram_report_text(report, "estimate_missing");
    if (!kind && !missing) return;
    gram_report_row(report, "error on new rows");
    if (!kind) {
        gram_report_add(report, "not estimated: %s", missing);
        return;
    }
    (void)add_error(report, "rmse", "estimate_rmse", "estimate_rmse_se");
    (void)add_error(report, "R2", "estimate_r2", "estimate_r2_se");
    (void)add_error(report, "pinball loss", "estimate_loss", "estimate_loss_se");
    (void)add_error(report, "accuracy", "estimate_accuracy", "estimate_accuracy_se");
    (void)add_error(report, "log loss", "estimate_log_loss", "estimate_log_loss_se");
    (void)add_error(report, "nlpd", "estimate_nlpd", "estimate_nlpd_se");
    add_way(report, kind);
    warn(report);
}

void gram_estimate_json(const gram_model *model, gram_json *json)
{
    if (!gram_kept_text(model, "estimate_kind")) return;
    gram_json_open(json, "estimate", '{');
    for (int64_t i = 0; i < gram_model_fact_count(model); i++) {
        gram_fact fact = gram_model_fact(model, i);
        if (!gram_estimate_is_fact(fact.name)) continue;
        fact.name += sizeof PREFIX - 1;
        gram_json_fact(json, &fact);
    }
    gram_json_close(json, '{');
}
