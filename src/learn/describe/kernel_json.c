/* What is known of a kernel, and of its matrix on data, as JSON. */
#include <math.h>

#include <gram/describe.h>
#include <gram/words.h>

#include "base/context.h"

/* true, false, or null for what is not known */
static void put_answer(gram_json *json, const char *key, gram_answer value)
{
    if (value == GRAM_UNKNOWN)
        gram_json_null(json, key);
    else
        gram_json_truth(json, key, value == GRAM_YES);
}

static void put_order(gram_json *json, const char *key, double value)
{
    if (value == GRAM_INFINITE)
        gram_json_string(json, key, "infinite");
    else
        gram_json_number(json, key, value);
}

static void put_properties(gram_json *json, const gram_properties *facts)
{
    gram_json_open(json, "properties", '{');
    put_answer(json, "positive_definite", facts->positive_definite);
    put_answer(json, "strictly", facts->strictly);
    put_answer(json, "stationary", facts->stationary);
    put_answer(json, "isotropic", facts->isotropic);
    put_answer(json, "universal", facts->universal);
    put_answer(json, "characteristic", facts->characteristic);
    put_answer(json, "continuous", facts->continuous);
    put_order(json, "rank", (double)facts->rank);
    put_order(json, "derivatives", facts->derivatives);
    put_answer(json, "constant_diagonal", facts->constant_diagonal);
    put_answer(json, "draws_in_space", facts->draws_in_space);
    put_order(json, "draw_smoothness", isinf(facts->draw_smoothness) ? GRAM_INFINITE : facts->draw_smoothness);
    put_order(json, "sobolev_order", facts->sobolev_order);
    gram_json_close(json, '{');
}

static gram_status put_parameter(gram_context *context, gram_json *json, const gram_kernel *kernel,
                                 const gram_kernel *given, int64_t index)
{
    gram_status status = GRAM_OK;
    gram_parameter parameter, before = {.set = 1};
    TRY(gram_kernel_parameter_get(context, kernel, index, &parameter));
    if (index < gram_kernel_parameter_count(given)) TRY(gram_kernel_parameter_get(context, given, index, &before));
    gram_json_open(json, NULL, '{');
    gram_json_string(json, "name", parameter.name);
    gram_json_number(json, "value", parameter.value);
    gram_json_truth(json, "free", !before.set);
    gram_json_number(json, "lower", parameter.lower);
    gram_json_number(json, "upper", parameter.upper);
    gram_json_string(json, "scale", parameter.transform == GRAM_TRANSFORM_LOG ? "log" : "linear");
    gram_json_truth(json, "fixed", parameter.fixed);
    gram_json_close(json, '{');
done:
    return status;
}

gram_status gram_kernel_json(gram_context *context, const gram_kernel *kernel, const gram_kernel *given, int64_t d,
                             gram_json *json)
{
    gram_status status = GRAM_OK;
    gram_properties facts;
    if (!context || !kernel || !json) return GRAM_ERROR_ARGUMENT;
    TRY(gram_kernel_properties(context, kernel, d, &facts));
    put_properties(json, &facts);
    gram_json_open(json, "parameters", '[');
    for (int64_t i = 0; i < gram_kernel_parameter_count(kernel); i++)
        TRY(put_parameter(context, json, kernel, given ? given : kernel, i));
    gram_json_close(json, '[');
done:
    return status;
}

gram_status gram_kernel_words_json(gram_context *context, const gram_kernel *kernel, int64_t d, gram_json *json)
{
    gram_status status = GRAM_OK;
    gram_string words = {0};
    if (!context || !kernel || !json) return GRAM_ERROR_ARGUMENT;
    gram_json_open(json, "equivalents", '{');
    for (int tool = 0; tool < GRAM_TOOL_COUNT; tool++) {
        TRY(gram_kernel_append_words(context, kernel, d, (gram_tool)tool, &words));
        if (words.length > 0) gram_json_string(json, gram_tool_name((gram_tool)tool), words.data);
        json->text->failed |= words.failed;
        gram_string_free(&words);
    }
    gram_json_close(json, '{');
done:
    gram_string_free(&words);
    return status;
}

/* ---- the matrix ---- */

static void put_certificate(gram_json *json, const gram_spectrum_report *s)
{
    if (s->psd) {
        gram_json_null(json, "certificate");
        return;
    }
    gram_json_open(json, "certificate", '{');
    gram_json_number(json, "quadratic_form", s->form);
    gram_json_open(json, "entries", '[');
    for (int i = 0; i < s->entry_count; i++) {
        gram_json_open(json, NULL, '{');
        gram_json_integer(json, "row", s->entry_row[i] + 1);
        gram_json_number(json, "weight", s->entry[i]);
        gram_json_close(json, '{');
    }
    gram_json_close(json, '[');
    gram_json_close(json, '{');
}

static void put_check(gram_json *json, const gram_spectrum_report *s)
{
    gram_json_truth(json, "symmetric", s->symmetric);
    put_certificate(json, s);
    gram_json_open(json, "cauchy_schwarz", '{');
    gram_json_truth(json, "holds", s->cauchy_schwarz);
    gram_json_number(json, "largest_ratio", s->ratio);
    gram_json_open(json, "rows", '[');
    for (int i = 0; i < 2 && s->ratio_rows[i] >= 0; i++) gram_json_integer(json, NULL, s->ratio_rows[i] + 1);
    gram_json_close(json, '[');
    gram_json_close(json, '{');
    gram_json_open(json, "kernel_metric", '{');
    gram_json_number(json, "min", s->metric[0]);
    gram_json_number(json, "median", s->metric[1]);
    gram_json_number(json, "max", s->metric[2]);
    gram_json_integer(json, "rows", s->metric_rows);
    gram_json_close(json, '{');
}

static void put_values(gram_json *json, const gram_spectrum_report *s, int64_t count)
{
    gram_json_numbers(json, "spectrum", count, s->values, 1);
    gram_json_open(json, "spectrum_shares", '[');
    for (int64_t i = 0; i < count; i++) gram_json_number(json, NULL, s->trace > 0 ? s->values[i] / s->trace : NAN);
    gram_json_close(json, '[');
}

void gram_spectrum_json(const gram_spectrum *spectrum, int64_t count, gram_json *json)
{
    const gram_spectrum_report *s = gram_spectrum_get_report(spectrum);
    gram_json_integer(json, "rows_checked", s->n);
    gram_json_truth(json, "psd", s->psd);
    gram_json_number(json, "min_eigenvalue", s->values[s->n - 1]);
    gram_json_number(json, "max_eigenvalue", s->values[0]);
    gram_json_number(json, "tolerance", s->tolerance);
    if (s->checked) put_check(json, s);
    if (count > 0) put_values(json, s, count < s->n ? count : s->n);
    if (s->lambda > 0) {
        gram_json_number(json, "lambda", s->lambda);
        gram_json_number(json, "effective_dimension", s->effective_dimension);
    }
}
