#include "cli/fit/predictor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* z with P(|Z| <= z) = p for a standard normal Z, by bisection: once in a run. */
static double two_sided_quantile(double p)
{
    double low = 0, high = 40;
    while (low < 0.5 * (low + high) && 0.5 * (low + high) < high) {
        const double middle = 0.5 * (low + high);
        if (erf(middle * 0.70710678118654752440) < p)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static const cli_predictor_kind *const KINDS[] = {
    &cli_predictor_function,   &cli_predictor_gp,        &cli_predictor_svm,
    &cli_predictor_svm_values, &cli_predictor_one_class, &cli_predictor_logistic,
    &cli_predictor_laplace,    &cli_predictor_loss,      &cli_predictor_laplace_values};

double cli_model_number(const gram_model *model, const char *name, double otherwise)
{
    const gram_fact fact = gram_model_find(model, name);
    if (!fact.name || fact.kind == GRAM_FACT_TEXT) return otherwise;
    return fact.kind == GRAM_FACT_INTEGER ? (double)fact.integer : fact.number;
}

const char *cli_model_text(const gram_model *model, const char *name)
{
    const gram_fact fact = gram_model_find(model, name);
    return fact.name && fact.kind == GRAM_FACT_TEXT ? fact.text : NULL;
}

/* ---- columns ---- */

int cli_predictor_column(cli_predictor *predictor, const char *name, const char *more)
{
    char **names = realloc(predictor->names, (size_t)(predictor->count + 1) * sizeof *names);
    const size_t length = strlen(name) + strlen(more) + 1;
    if (!names) return cli_no_memory();
    predictor->names = names;
    names[predictor->count] = malloc(length);
    if (!names[predictor->count]) return cli_no_memory();
    (void)snprintf(names[predictor->count++], length, "%s%s", name, more);
    return CLI_DONE;
}

int cli_predictor_means(cli_predictor *predictor)
{
    const gram_preparation *preparation = gram_model_preparation(predictor->model);
    const gram_preparation_description *known = preparation ? gram_preparation_describe(preparation) : NULL;
    int code = CLI_DONE;
    predictor->outputs = gram_function_outputs(gram_model_function(predictor->model));
    if (predictor->outputs == 1) return cli_predictor_column(predictor, "mean", "");
    for (int64_t o = 0; o < predictor->outputs && code == CLI_DONE; o++)
        code = cli_predictor_column(predictor, "mean_", known && o < known->target_count ? known->targets[o].name : "");
    return code;
}

/* ---- models that are a function and nothing more ---- */

static int refuse_wishes(const cli_predictor *predictor)
{
    const cli_wish *wish = &predictor->wish;
    const char *asked = wish->std            ? "std"
                        : wish->interval > 0 ? "interval"
                        : wish->latent       ? "latent"
                        : wish->terms        ? "terms"
                        : wish->prob         ? "prob"
                                             : NULL;
    if (asked)
        return cli_fail(CLI_WRONG_USE, "It predicts means only; `gram fit --method gp` makes a model that knows more.",
                        "predict: --%s is not for a model of the method %s", asked,
                        gram_model_method(predictor->model));
    return CLI_DONE;
}

static int open_function(cli_session *session, cli_predictor *predictor)
{
    (void)session;
    const int code = refuse_wishes(predictor);
    return code == CLI_DONE ? cli_predictor_means(predictor) : code;
}

static gram_status evaluate_function(cli_session *session, const cli_predictor *predictor, const cli_places *places,
                                     double *values)
{
    return gram_function_evaluate(session->context, gram_model_function(predictor->model), places->points, values,
                                  predictor->stride);
}

const cli_predictor_kind cli_predictor_function = {"krr", NULL, 0, open_function, evaluate_function, NULL};
const cli_predictor_kind cli_predictor_svm_values = {"svm", "regression", 0, open_function, evaluate_function, NULL};

/* Quantiles have a column each; one loss has its value as the mean. */
static int open_loss(cli_session *session, cli_predictor *predictor)
{
    int64_t rows = 0, count = 0;
    const double *levels = gram_model_array(predictor->model, "quantiles", &rows, &count);
    const int64_t outputs = gram_function_outputs(gram_model_function(predictor->model));
    char number[GRAM_NUMBER_SIZE];
    if (!levels) return open_function(session, predictor);
    if (rows != 1 || count != outputs)
        return cli_fail(CLI_BAD_DATA, "Fit it again.", "%s: quantiles without their levels", predictor->file);
    int code = refuse_wishes(predictor);
    for (int64_t i = 0; i < count && code == CLI_DONE; i++)
        code = cli_predictor_column(predictor, "quantile_", gram_number_format(levels[i], number));
    predictor->level_count = count;
    predictor->levels = levels;
    return code;
}

const cli_predictor_kind cli_predictor_loss = {"loss", "regression", 0, open_loss, evaluate_function, NULL};

/* ---- any model ---- */

static int is_kind(const cli_predictor_kind *kind, const gram_model *model)
{
    const int has_likelihood = cli_model_text(model, "likelihood") != NULL;
    return strcmp(kind->method, gram_model_method(model)) == 0 &&
           (!kind->task || strcmp(kind->task, gram_model_task(model)) == 0) && kind->has_likelihood == has_likelihood;
}

int cli_predictor_open(cli_session *session, const gram_model *model, const char *file, const cli_wish *wish,
                       cli_predictor *predictor)
{
    const char *method = gram_model_method(model), *task = gram_model_task(model);
    *predictor = (cli_predictor){.model = model, .file = file, .wish = *wish, .std = -1, .lower = -1, .upper = -1};
    predictor->quantile = two_sided_quantile(wish->interval > 0 ? wish->interval : 0.95);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (is_kind(KINDS[i], model)) predictor->kind = KINDS[i];
    if (!predictor->kind)
        return cli_fail(CLI_BAD_DATA, "A newer gram may know it.",
                        "%s: a model of the method '%s' for %s, which is not known", file, method, task);
    const int code = predictor->kind->open(session, predictor);
    if (predictor->stride == 0) predictor->stride = predictor->count;
    return code;
}

void cli_predictor_close(cli_predictor *predictor)
{
    if (predictor->kind && predictor->kind->close) predictor->kind->close(predictor);
    for (int64_t i = 0; i < predictor->count; i++) free(predictor->names[i]);
    free(predictor->names);
    cli_classes_free(&predictor->classes);
    *predictor = (cli_predictor){0};
}

gram_status cli_predictor_evaluate(cli_session *session, const cli_predictor *predictor, const cli_places *places,
                                   double *values)
{
    return predictor->kind->evaluate(session, predictor, places, values);
}

double cli_predictor_std(const cli_predictor *predictor, const double *values)
{
    if (predictor->std >= 0) return values[predictor->std];
    if (predictor->lower < 0) return NAN;
    return (values[predictor->upper] - values[predictor->lower]) / (2 * predictor->quantile);
}
