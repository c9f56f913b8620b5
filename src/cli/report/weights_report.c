#include "cli/report/weights_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report_rows.h"

enum { NAME_WIDTH = 20, MOST = 40 };

/* One weight in the units of its feature: prepared columns are (value - mean)/deviation. */
typedef struct weight {
    char name[96];
    double mean, std;
} weight;

static int64_t count_weights(const gram_model *model)
{
    int64_t rows, d, again;
    if (!gram_model_preparation(model) || !gram_model_array(model, "weight_mean", &rows, &d)) return 0;
    if (!gram_model_array(model, "weight_std", &rows, &again) || again != d) return 0;
    return gram_preparation_dimension(gram_model_preparation(model)) == d ? d : 0;
}

static weight find_weight(const gram_model *model, int64_t column)
{
    weight w;
    const gram_preparation *preparation = gram_model_preparation(model);
    const gram_column *feature =
        &gram_preparation_describe(preparation)->features[gram_preparation_feature_of(preparation, column)];
    const double unit = feature->text ? 1 : feature->deviation;
    (void)gram_preparation_column_name(preparation, column, w.name, sizeof w.name);
    w.mean = gram_model_array(model, "weight_mean", NULL, NULL)[column] / unit;
    w.std = gram_model_array(model, "weight_std", NULL, NULL)[column] / unit;
    return w;
}

void cli_weights_json(gram_json *json, const gram_model *model)
{
    const int64_t count = count_weights(model);
    if (count == 0) return;
    gram_json_open(json, "weights", '[');
    for (int64_t j = 0; j < count; j++) {
        const weight w = find_weight(model, j);
        gram_json_open(json, NULL, '{');
        gram_json_string(json, "feature", w.name);
        gram_json_number(json, "mean", w.mean);
        gram_json_number(json, "std", w.std);
        gram_json_close(json, '{');
    }
    gram_json_close(json, '[');
}

void cli_weights_print(cli_session *session, gram_string *text, const gram_model *model)
{
    const int64_t count = count_weights(model);
    char mean[CLI_SHORT_SIZE], std[CLI_SHORT_SIZE];
    if (count == 0) return;
    cli_add_heading(session, text, "Weights, in the features' own units");
    gram_string_add(text, "%-19s %-12s  %s\n", "name", "mean", "deviation");
    for (int64_t j = 0; j < count && j < MOST; j++) {
        const weight w = find_weight(model, j);
        gram_string_add(text, "%s", w.name);
        gram_string_pad(text, NAME_WIDTH);
        gram_string_add(text, "%-12s  %s\n", cli_short_number(w.mean, mean), cli_short_number(w.std, std));
    }
    if (count > MOST) gram_string_add(text, "and %" PRId64 " more\n", count - MOST);
}
