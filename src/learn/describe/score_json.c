/* Scores of predictions as JSON. */
#include <math.h>

#include <gram/describe.h>
#include <gram/score.h>

#include "base/context.h"
#include "learn/describe/description_parts.h"

static void put_confusion(gram_json *json, int64_t classes, const int64_t *confusion)
{
    gram_json_open(json, "confusion", '[');
    for (int64_t t = 0; t < classes; t++) {
        gram_json_open(json, NULL, '[');
        for (int64_t p = 0; p < classes; p++) gram_json_integer(json, NULL, confusion[t * classes + p]);
        gram_json_close(json, '[');
    }
    gram_json_close(json, '[');
}

static void put_classes(gram_json *json, const gram_classes *classes, const gram_score_report *score)
{
    gram_json_integer(json, "scored", score->rows);
    gram_json_number(json, "accuracy", score->accuracy);
    if (score->probable > 0) gram_json_number(json, "log_loss", score->log_loss);
    if (classes->count == 2) gram_json_number(json, "auc", score->auc);
    if (score->other > 0) gram_json_integer(json, "unknown_classes", score->other);
    gram_classes_json(classes, json);
    put_confusion(json, classes->count, score->confusion);
}

static void put_levels(gram_json *json, const double *levels, const gram_score_report *score)
{
    gram_json_open(json, "quantiles", '[');
    for (int64_t i = 0; i < score->level_count; i++) {
        gram_json_open(json, NULL, '{');
        gram_json_number(json, "level", levels[i]);
        gram_json_number(json, "loss", score->level_loss[i]);
        gram_json_number(json, "below", score->level_below[i]);
        gram_json_close(json, '{');
    }
    gram_json_close(json, '[');
}

static void put_means(gram_json *json, const gram_score_report *score)
{
    gram_json_integer(json, "scored", score->rows);
    gram_json_number(json, "rmse", score->rmse);
    gram_json_number(json, "mae", score->mae);
    gram_json_number(json, "r2", score->r2);
    if (score->densities > 0) gram_json_number(json, "nlpd", score->nlpd);
    if (!isnan(score->coverage)) gram_json_number(json, "coverage", score->coverage);
}

gram_status gram_score_json(gram_context *context, const gram_score *score, gram_json *json)
{
    gram_status status = GRAM_OK;
    gram_score_report report = {.size = sizeof report};
    if (!context || !score || !json) return GRAM_ERROR_ARGUMENT;
    TRY(gram_score_sum_up(context, score, &report));
    const gram_columns *columns = gram_score_columns(score);
    if (!report.scored) goto done;
    if (columns->classes->count > 0)
        put_classes(json, columns->classes, &report);
    else if (report.level_count > 0)
        put_levels(json, columns->levels, &report);
    else
        put_means(json, &report);
done:
    return status;
}
