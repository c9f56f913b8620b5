/* Weights of classes: balanced, or NAME=W,NAME=W; and those of rows, which they multiply. */
#include <math.h>
#include <string.h>

#include "learn/learner.h"
#include <gram/text.h>

static void balance(const gram_learning *learning, double *weights)
{
    const int64_t n = learning->data->n, classes = learning->classes.count;
    for (int64_t c = 0; c < classes; c++) weights[c] = 0;
    for (int64_t i = 0; i < n; i++) weights[(int64_t)learning->labels[i]]++;
    for (int64_t c = 0; c < classes; c++) weights[c] = (double)n / ((double)classes * weights[c]);
}

static gram_status bad_weight(gram_learning *learning, const char *text)
{
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT,
                              "For example --class-weight yes=5,no=1; classes that are not named have 1.",
                              "--class-weight '%s' is neither 'balanced' nor NAME=W,NAME=W with W above 0", text);
}

/* "NAME=W" of the given length. The last '=' is the one that counts: names may have others. */
static gram_status read_one(gram_learning *learning, const char *all, const char *text, size_t length, double *weights)
{
    const gram_classes *classes = &learning->classes;
    const char *equals = NULL;
    double value;
    for (size_t i = 0; i < length; i++)
        if (text[i] == '=') equals = text + i;
    if (!equals) return bad_weight(learning, all);
    const size_t rest = (size_t)(text + length - equals) - 1, name = (size_t)(equals - text);
    if (rest == 0 || gram_number_parse(equals + 1, rest, &value) != rest || !(value > 0) || !isfinite(value))
        return bad_weight(learning, all);
    for (int64_t c = 0; c < classes->count; c++)
        if (strlen(classes->names[c]) == name && memcmp(classes->names[c], text, name) == 0) {
            weights[c] = value;
            return GRAM_OK;
        }
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT,
                              "`gram info` lists the classes of a model, the report of `fit` too.",
                              "--class-weight: no class '%.*s' in %s", (int)name, text, learning->source);
}

static gram_status read_weights(gram_learning *learning, const char *text, double *weights)
{
    gram_status status = GRAM_OK;
    const char *at = text;
    for (int64_t c = 0; c < learning->classes.count; c++) weights[c] = 1;
    if (strcmp(text, "balanced") == 0) {
        balance(learning, weights);
        return GRAM_OK;
    }
    for (;;) {
        const size_t length = strcspn(at, ",");
        TRY(read_one(learning, text, at, length, weights));
        if (at[length] == '\0') break;
        at += length + 1;
    }
done:
    return status;
}

/* Those of the model that goes on. */
static gram_status kept_weights(gram_learning *learning, double *weights, int *found)
{
    const int64_t count = learning->classes.count;
    int64_t rows = 0, columns = 0;
    const double *kept = gram_model_array(learning->before, "class_weights", &rows, &columns);
    int good = kept && rows == 1 && columns == count;
    for (int64_t c = 0; c < count && good; c++) good = kept[c] > 0 && isfinite(kept[c]);
    *found = kept != NULL;
    if (good) memcpy(weights, kept, (size_t)count * sizeof *weights);
    if (!kept || good) return GRAM_OK;
    (void)gram_fail(learning->context, GRAM_ERROR_DATA,
                    "%s: damaged: its class_weights are not one number above 0 for each class", learning->before_name);
    return gram_advise(learning->context, GRAM_ERROR_DATA, "Fit it again.");
}

gram_status gram_learning_weigh_classes(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = learning->data;
    const char *text = gram_given_text(learning, "class-weight");
    double *of_class = NULL, *weights = NULL;
    int found = text != NULL;
    TRY(gram_learning_take(learning, learning->classes.count + 1, sizeof *of_class, &of_class));
    if (learning->before) TRY(kept_weights(learning, of_class, &found));
    if (text && !learning->before) TRY(read_weights(learning, text, of_class));
    if (found) learning->class_weights = of_class;
    if (!found && !data->weights) return GRAM_OK;
    TRY(gram_learning_take(learning, data->n + 1, sizeof *weights, &weights));
    for (int64_t i = 0; i < data->n; i++)
        weights[i] = (data->weights ? data->weights[i] : 1) * (found ? of_class[(int64_t)learning->labels[i]] : 1);
    learning->weights = weights;
done:
    return status;
}
