/* A method of two views for the tests: how many rows are near, by the kernel of each view. Coordinate v of a row is
 * (1/n) sum_i k_v(x_i, x), a function of view v; nothing relates the views but that their rows are pairs. It says how few things a
 * method of two views must do beside those of one. */
#include <stdlib.h>

#include "method/method.h"

typedef struct paired_settings {
    const char *x, *y, *kernel_x, *kernel_y, *label;
} paired_settings;

#define TEXT(word, field, what, argued)                                                                                \
    {                                                                                                                  \
        .name = word, .kind = GRAM_OPTION_TEXT, .offset = offsetof(paired_settings, field), .argument = argued,        \
        .help = what                                                                                                   \
    }

static const gram_option OPTIONS[] = {
    TEXT("x", x, "the columns of the first view", "LIST"),
    TEXT("y", y, "the columns of the second view", "LIST"),
    TEXT("kernel-x", kernel_x, "the kernel of the first view", "E"),
    TEXT("kernel-y", kernel_y, "the kernel of the second view", "E"),
    TEXT("label", label, "a column that is no feature", "COL"),
};

typedef struct paired_state {
    gram_function *functions[2];
} paired_state;

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const int64_t n = learning->data->n;
    paired_state *state = NULL;
    double *a = NULL;
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    TRY(gram_learning_resolve(learning));
    TRY(gram_learning_take(learning, n, sizeof *a, &a));
    for (int64_t i = 0; i < n; i++) a[i] = 1 / (double)n;
    TRY(gram_function_create(learning->context, learning->kernel, learning->points, 1, a, 1, NULL,
                             &state->functions[0]));
    TRY(gram_function_create(learning->context, learning->second.kernel, learning->second.points, 1, a, 1, NULL,
                             &state->functions[1]));
done:
    return status;
}

static gram_status keep(gram_learning *learning)
{
    const paired_state *state = learning->own;
    gram_keeper keeper = gram_keep_begin(learning, state->functions[0]);
    gram_keep_second(&keeper, learning, state->functions[1]);
    gram_keep_integer(&keeper, "labels", learning->data->targets);
    return keeper.status;
}

static void forget(gram_learning *learning)
{
    paired_state *state = learning->own;
    for (int v = 0; state && v < 2; v++) gram_function_release(state->functions[v]);
}

static const gram_verb VERB = {.name = "paired",
                               .summary = "how many rows are near, in each of two views",
                               .operands = "DATA [DATA]",
                               .about = "For the tests.\n",
                               .examples = "  gram paired data.csv --x 1:2 --y 3\n",
                               .out = "write the numbers to FILE",
                               .tables = 2};

extern const gram_method gram_method_paired;

const gram_method gram_method_paired = {
    .name = "paired",
    .title = "rows nearby",
    .tasks = 1u << GRAM_TASK_TRANSFORM,
    .kernel = "rbf",
    .views = {"x", "y"},
    .label = "label",
    .verb = &VERB,
    .python = {[GRAM_TASK_TRANSFORM] = "RowsNearby"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(paired_settings),
    .fit = fit,
    .keep = keep,
    .forget = forget,
    .open = gram_predictor_views,
};
