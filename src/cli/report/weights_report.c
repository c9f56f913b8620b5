/* f(x) = A^(1/2) (w.x + w_0 c^(1/2)) with standard normal w has the kernel A linear(c). The process of the term A linear(0)
 * alone at the unit vector e_j is the weight of column j, so that its posterior is that of a term. */
#include "cli/report/weights_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report_rows.h"

enum { NAME_WIDTH = 20, MOST = 40 };

/* The amplitude A if the kernel is A*linear(c), else NaN. */
static double amplitude_of(cli_session *session, const gram_kernel *kernel)
{
    double amplitude = 1, c = NAN;
    char text[128], a[GRAM_NUMBER_SIZE], b[GRAM_NUMBER_SIZE];
    gram_parameter parameter;
    gram_kernel *same = NULL;
    for (int64_t i = 0; i < gram_kernel_parameter_count(kernel); i++) {
        if (gram_kernel_parameter_get(session->context, kernel, i, &parameter) < 0) return NAN;
        if (strcmp(parameter.name, "const") == 0) amplitude = parameter.value;
        if (strcmp(parameter.name, "linear.c") == 0) c = parameter.value;
    }
    if (isnan(c)) return NAN;
    gram_number_format(amplitude, a);
    gram_number_format(c, b);
    (void)snprintf(text, sizeof text, amplitude == 1 ? "%.0slinear(c=%s)" : "%s*linear(c=%s)", a, b);
    const int equal = gram_kernel_parse(session->context, text, &same) >= 0 && gram_kernel_equal(same, kernel);
    gram_kernel_release(same);
    return equal ? amplitude : NAN;
}

static gram_status find_weights(cli_session *session, const gram_gp *gp, double amplitude, int64_t d, double *unit,
                                double *mean, double *variance)
{
    gram_points *points = NULL;
    gram_kernel *term = NULL;
    char text[64], number[GRAM_NUMBER_SIZE];
    for (int64_t j = 0; j < d; j++) unit[j * d + j] = 1;
    (void)snprintf(text, sizeof text, "%s*linear(c=0)", gram_number_format(amplitude, number));
    gram_status status = gram_kernel_parse(session->context, text, &term);
    if (status >= 0) status = gram_points_create_f64(session->context, d, d, unit, d, &points);
    if (status >= 0) status = gram_gp_predict_term(session->context, gp, term, points, mean, variance);
    for (int64_t j = 0; j < d && status >= 0; j++) variance[j] = sqrt(variance[j]);
    gram_points_destroy(points);
    gram_kernel_release(term);
    return status;
}

gram_status cli_weights_learn(cli_session *session, const gram_gp *gp, const gram_kernel *kernel, gram_model *model)
{
    const int64_t d = gram_points_dimension(gram_function_centres(gram_gp_function(gp)));
    const double amplitude = amplitude_of(session, kernel);
    if (!(amplitude > 0)) return GRAM_OK;
    double *numbers = calloc((size_t)(d * d + 2 * d), sizeof *numbers);
    if (!numbers) return GRAM_ERROR_MEMORY;
    double *mean = numbers + d * d, *deviation = mean + d;
    gram_status status = find_weights(session, gp, amplitude, d, numbers, mean, deviation);
    if (status >= 0) status = gram_model_set_array(session->context, model, "weight_mean", 1, d, mean, d);
    if (status >= 0) status = gram_model_set_array(session->context, model, "weight_std", 1, d, deviation, d);
    free(numbers);
    return status;
}

/* ---- telling ---- */

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

void cli_weights_json(cli_json *json, const gram_model *model)
{
    const int64_t count = count_weights(model);
    if (count == 0) return;
    cli_json_open(json, "weights", '[');
    for (int64_t j = 0; j < count; j++) {
        const weight w = find_weight(model, j);
        cli_json_open(json, NULL, '{');
        cli_json_string(json, "feature", w.name);
        cli_json_number(json, "mean", w.mean);
        cli_json_number(json, "std", w.std);
        cli_json_close(json, '{');
    }
    cli_json_close(json, '[');
}

void cli_weights_print(cli_session *session, cli_text *text, const gram_model *model)
{
    const int64_t count = count_weights(model);
    char mean[CLI_SHORT_SIZE], std[CLI_SHORT_SIZE];
    if (count == 0) return;
    cli_add_heading(session, text, "Weights, in the features' own units");
    cli_text_add(text, "%-19s %-12s  %s\n", "name", "mean", "deviation");
    for (int64_t j = 0; j < count && j < MOST; j++) {
        const weight w = find_weight(model, j);
        cli_text_add(text, "%s", w.name);
        cli_text_pad(text, NAME_WIDTH);
        cli_text_add(text, "%-12s  %s\n", cli_short_number(w.mean, mean), cli_short_number(w.std, std));
    }
    if (count > MOST) cli_text_add(text, "and %" PRId64 " more\n", count - MOST);
}
