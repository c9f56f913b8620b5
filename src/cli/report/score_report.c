#include "cli/report/score_report.h"

#include <inttypes.h>
#include <math.h>

#include "cli/report/model_report.h"
#include "cli/report/report_rows.h"

enum { MOST_SHOWN = 12 };

static void add_score(gram_string *text, const char *name, double value)
{
    char number[CLI_SHORT_SIZE];
    gram_string_add(text, "%s %s", name, cli_short_number(value, number));
}

static void print_confusion(gram_string *text, const gram_classes *classes, const int64_t *confusion)
{
    gram_string_add(text, "confusion           rows are true classes, columns predicted ones\n");
    for (int64_t t = 0; t < classes->count; t++) {
        gram_string_add(text, "  %.17s", classes->names[t]);
        gram_string_pad(text, CLI_VALUE_COLUMN);
        for (int64_t p = 0; p < classes->count; p++)
            gram_string_add(text, "%*" PRId64, p > 0 ? 8 : 0, confusion[t * classes->count + p]);
        gram_string_add(text, "\n");
    }
}

static void print_classes(gram_string *text, const gram_classes *classes, const gram_score_report *score)
{
    cli_add_label(text, "scores");
    add_score(text, "accuracy", score->accuracy);
    if (score->probable > 0) add_score(text, ", log loss", score->log_loss);
    if (classes->count == 2) add_score(text, ", AUC", score->auc);
    if (score->other > 0)
        gram_string_add(text, "; %" PRId64 " rows of classes that the model does not know", score->other);
    gram_string_add(text, "\n");
    if (classes->count <= MOST_SHOWN) print_confusion(text, classes, score->confusion);
}

static void print_levels(gram_string *text, const double *levels, const gram_score_report *score)
{
    for (int64_t i = 0; i < score->level_count; i++) {
        cli_add_label(text, i == 0 ? "quantiles" : "");
        gram_string_add(text, "%g: %.4g of the observations are below, pinball loss %.5g\n", levels[i],
                        score->level_below[i], score->level_loss[i]);
    }
}

static void print_means(gram_string *text, const gram_score_report *score)
{
    cli_add_label(text, "scores");
    add_score(text, "rmse", score->rmse);
    add_score(text, ", mae", score->mae);
    add_score(text, ", R2", score->r2);
    if (score->densities > 0) add_score(text, ", nlpd", score->nlpd);
    if (!isnan(score->coverage)) add_score(text, ", coverage", score->coverage);
    gram_string_add(text, "\n");
}

void cli_score_print(gram_string *text, const gram_columns *columns, const gram_score_report *score)
{
    if (!score->scored) return;
    if (columns->classes->count > 0)
        print_classes(text, columns->classes, score);
    else if (score->level_count > 0)
        print_levels(text, columns->levels, score);
    else
        print_means(text, score);
}
