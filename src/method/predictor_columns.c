/* The columns of predictions: what rows of the method table share in naming and filling them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/text.h>

#include "method/method.h"

gram_status gram_predictor_damaged(gram_context *context, const gram_predictor *predictor, const char *what)
{
    (void)gram_fail(context, GRAM_ERROR_DATA, "%s: %s", predictor->wish.name, what);
    return gram_advise(context, GRAM_ERROR_DATA, "Fit it again.");
}

/* The list grows by doubling; what it leaves behind stays in the arena. */
gram_status gram_predictor_column(gram_context *context, gram_predictor *predictor, const char *name, const char *more)
{
    gram_status status = GRAM_OK;
    gram_columns *columns = &predictor->columns;
    const int64_t count = columns->count;
    const size_t length = strlen(name) + strlen(more) + 1;
    const char **names = NULL;
    char *text = NULL;
    TRY(gram_arena_take(context, &predictor->arena, "predictor", (int64_t)length, 1, (void **)&text));
    (void)snprintf(text, length, "%s%s", name, more);
    if ((count & (count - 1)) == 0) { /* a power of two: full */
        TRY(gram_arena_take(context, &predictor->arena, "predictor", 2 * count + 1, sizeof *names, (void **)&names));
        for (int64_t i = 0; i < count; i++) names[i] = columns->names[i];
        columns->names = names;
    }
    ((const char **)columns->names)[count] = text;
    columns->count++;
done:
    return status;
}

gram_status gram_predictor_means(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    const gram_preparation *preparation = gram_model_preparation(predictor->model);
    const gram_preparation_description *known = preparation ? gram_preparation_describe(preparation) : NULL;
    const int64_t outputs = gram_function_outputs(gram_model_function(predictor->model));
    predictor->columns.outputs = outputs;
    if (outputs == 1) return gram_predictor_column(context, predictor, "mean", "");
    for (int64_t o = 0; o < outputs; o++)
        TRY(gram_predictor_column(context, predictor, "mean_",
                                  known && o < known->target_count ? known->targets[o].name : ""));
done:
    return status;
}

gram_status gram_predictor_coordinates(gram_context *context, gram_predictor *predictor, const char *name,
                                       int64_t count)
{
    gram_status status = GRAM_OK;
    char number[32];
    TRY(gram_predictor_refuse(context, predictor, 1, "It has coordinates only.", "a transformation"));
    for (int64_t j = 0; j < count; j++) {
        (void)snprintf(number, sizeof number, "%" PRId64, j + 1);
        TRY(gram_predictor_column(context, predictor, name, number));
    }
done:
    return status;
}

gram_status gram_predictor_views(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    const gram_function *functions[] = {gram_model_function(predictor->model),
                                        gram_model_second_function(predictor->model)};
    if (!functions[1]) return gram_predictor_damaged(context, predictor, "damaged: its second view is missing");
    for (int view = 0; view < 2; view++)
        if (predictor->view == view || predictor->view == GRAM_VIEW_BOTH)
            TRY(gram_predictor_coordinates(context, predictor, predictor->method->views[view],
                                           gram_function_outputs(functions[view])));
done:
    return status;
}

static const char *asked_for(const gram_predict_options *wish, int prob)
{
    return wish->std            ? "std"
           : wish->interval > 0 ? "interval"
           : wish->latent       ? "latent"
           : wish->terms        ? "terms"
           : prob && wish->prob ? "prob"
                                : NULL;
}

gram_status gram_predictor_refuse(gram_context *context, const gram_predictor *predictor, int prob, const char *advice,
                                  const char *whom)
{
    char words[192], method[64];
    const char *asked = asked_for(&predictor->wish, prob);
    if (!asked) return GRAM_OK;
    if (!whom) {
        (void)snprintf(words, sizeof words,
                       "It predicts means only; `gram fit --method %s` makes a model that knows more.",
                       predictor->wiser);
        (void)snprintf(method, sizeof method, "a model of the method %s", gram_model_method(predictor->model));
    }
    if (!whom)
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, words, "--%s is not for %s", asked, method);
    return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, advice, "--%s is not for %s", asked, whom);
}

gram_status gram_predictor_classes(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    gram_classes *classes = &predictor->classes;
    TRY(gram_predictor_refuse(context, predictor, 0, "It predicts classes; --prob gives their probabilities.",
                              "a classifier"));
    TRY(gram_classes_of_model(context, &predictor->arena, predictor->model, predictor->wish.name, classes));
    TRY(gram_predictor_column(context, predictor, "label", ""));
    for (int64_t c = 0; c < classes->count && predictor->wish.prob; c++)
        TRY(gram_predictor_column(context, predictor, "p_", classes->names[c]));
    predictor->columns.probability = 1;
    predictor->columns.score = classes->count + 1;
    predictor->columns.ld = classes->count + 2;
done:
    return status;
}

gram_status gram_predictor_levels(gram_context *context, gram_predictor *predictor, int64_t count, const double *levels)
{
    gram_status status = GRAM_OK;
    char number[GRAM_NUMBER_SIZE];
    for (int64_t i = 0; i < count; i++)
        TRY(gram_predictor_column(context, predictor, "quantile_", gram_number_format(levels[i], number)));
    predictor->columns.level_count = count;
    predictor->columns.levels = levels;
done:
    return status;
}

gram_status gram_predictor_intervals(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    gram_columns *columns = &predictor->columns;
    if (predictor->wish.std) {
        columns->std = columns->count;
        TRY(gram_predictor_column(context, predictor, "std", ""));
    }
    if (predictor->wish.interval > 0) {
        columns->lower = columns->count;
        columns->upper = columns->count + 1;
        TRY(gram_predictor_column(context, predictor, "lower", ""));
        TRY(gram_predictor_column(context, predictor, "upper", ""));
    }
done:
    return status;
}

static void put(int64_t column, double value, double *row)
{
    if (column >= 0) row[column] = value;
}

void gram_predictor_put_normal(const gram_predictor *predictor, double mean, double variance, double noise, double *row)
{
    const gram_columns *columns = &predictor->columns;
    const double spread = sqrt(variance + noise), std = predictor->wish.latent ? sqrt(variance) : spread;
    put(0, mean, row);
    put(columns->spread, spread, row);
    put(columns->std, std, row);
    put(columns->lower, mean - columns->half_width * std, row);
    put(columns->upper, mean + columns->half_width * std, row);
}

void gram_predictor_spread(gram_predictor *predictor)
{
    gram_columns *columns = &predictor->columns;
    const int shown = columns->std >= 0 && !predictor->wish.latent;
    columns->spread = shown ? columns->std : columns->count;
    columns->ld = columns->count + !shown;
}

void gram_predictor_put_probabilities(const gram_predictor *predictor, int64_t n, const double *p, double *values,
                                      int64_t ldv)
{
    const int64_t classes = predictor->classes.count;
    for (int64_t i = 0; i < n; i++) {
        const double *of_row = p + i * classes;
        double *row = values + i * ldv;
        int64_t best = 0;
        for (int64_t c = 1; c < classes; c++)
            if (of_row[c] > of_row[best]) best = c;
        row[0] = (double)best;
        for (int64_t c = 0; c < classes; c++) row[1 + c] = of_row[c];
        row[1 + classes] = of_row[classes - 1];
    }
}
