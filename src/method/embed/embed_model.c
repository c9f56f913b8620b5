/* Mean embeddings: `gram embed`.
 *
 * A distribution P is the function mu_P = E k(X, .) of the kernel's space: E f(X) = <f, mu_P> for every f of it. Of a product of
 * uniform and normal laws it is one representer, that of the functional f -> E f(X) (<gram/law.h>); of the rows of DATA it is the sum of
 * k(x_i, .) by their weights. The model is that function, so its values anywhere are `gram predict`; here are its norm and, for a law,
 * the MMD from the rows to it. */
#include <math.h>
#include <string.h>

#include <gram/embedding.h>
#include <gram/law.h>

#include "method/further_rows.h"
#include "method/method.h"

typedef struct embed_settings {
    const char *measure;
} embed_settings;

typedef struct embed_state {
    gram_law *law; /* NULL: the rows themselves */
    gram_function *function;
    double norm;
    gram_law_distance distance; /* from the rows to the law */
} embed_state;

static const gram_option OPTIONS[] = {
    {.name = "measure",
     .kind = GRAM_OPTION_TEXT,
     .offset = offsetof(embed_settings, measure),
     .argument = "M",
     .help = "a product of uniform(a,b) and normal(m,v), v the variance, a factor for each feature; or sample(FILE) "
             "(default: the rows of DATA)"},
};

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const embed_settings *own = learning->settings;
    const double n = (double)learning->n, d = (double)learning->data->d;
    embed_state *state = NULL;
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    if (own->measure && learning->data->weights)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave one out.",
                                  "--weights are of the rows' own embedding, and --measure is another");
    if (own->measure) TRY(gram_learning_read_law(learning, "measure", own->measure, &state->law));
    gram_learning_plan(learning, "direct, f64", (size_t)(8 * n * (d + 4)), 1e-9 * n * n * d, "sums over pairs");
done:
    return status;
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    gram_context *context = learning->context;
    const gram_prepared *data = learning->data;
    embed_state *state = learning->own;
    double *weights = NULL, sum = 0;
    TRY(gram_learning_resolve(learning));
    if (state->law) {
        TRY(gram_law_embedding(context, learning->kernel, state->law, &state->function));
        TRY(gram_law_mmd(context, learning->kernel, learning->points, state->law, &state->distance));
        state->norm = state->distance.norm;
        goto done;
    }
    if (data->weights) {
        TRY(gram_learning_take(learning, data->n, sizeof *weights, &weights));
        for (int64_t i = 0; i < data->n; i++) sum += data->weights[i];
        for (int64_t i = 0; i < data->n; i++) weights[i] = data->weights[i] / sum;
    }
    TRY(gram_embedding_create(context, learning->kernel, learning->points, weights, &state->function));
    TRY(gram_function_norm(context, state->function, &state->norm));
done:
    return status;
}

static void forget(gram_learning *learning)
{
    embed_state *state = learning->own;
    if (!state) return;
    gram_function_release(state->function);
    gram_law_release(state->law);
}

static gram_status keep(gram_learning *learning)
{
    const embed_settings *own = learning->settings;
    const embed_state *state = learning->own;
    gram_keeper keeper = gram_keep_begin(learning, state->function);
    gram_keep_text(&keeper, "measure", own->measure ? own->measure : "the rows");
    gram_keep_number(&keeper, "norm", state->norm);
    if (state->law) {
        gram_keep_number(&keeper, "mmd", state->distance.mmd);
        gram_keep_number(&keeper, "mmd_squared_v", state->distance.v_statistic);
        gram_keep_number(&keeper, "mmd_squared_u", state->distance.u_statistic);
    }
    gram_keep_tuning(&keeper, learning, NULL);
    return keeper.status;
}

static gram_status open_embedding(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    TRY(gram_predictor_refuse(context, predictor, 1, "It has values only.", "an embedding"));
    TRY(gram_predictor_column(context, predictor, "embedding", ""));
done:
    return status;
}

static void report_embedding(gram_report *report)
{
    const char *measure = gram_report_text(report, "measure");
    gram_report_row(report, "measure");
    gram_report_add(report, "%s", measure ? measure : "");
    gram_report_row(report, "embedding");
    gram_report_part(report, "norm", "norm", GRAM_FINE);
    gram_report_row(report, "rows to it");
    gram_report_part(report, "MMD", "mmd", GRAM_FINE);
    gram_report_part(report, "squared, without bias", "mmd_squared_u", GRAM_FINE);
    gram_report_tuning(report);
}

static const gram_verb VERB = {
    .name = "embed",
    .summary = "mean embeddings of laws and samples, and how far the rows are",
    .operands = "DATA",
    .about =
        "The mean embedding of a measure, mu(x) = E k(x, X), at the rows of DATA, its norm, and the MMD from the "
        "rows to the\n"
        "measure. Without --measure it is the embedding of the rows themselves, by their --weights. All columns are "
        "features,\n"
        "taken as they are unless --scale; numbers of the kernel that are left out are set by the median heuristic. "
        "-o writes the\n"
        "values at the rows of DATA, or at those of --at; with --model the function is kept, and `gram predict` has "
        "it anywhere.\n"
        "`gram test fit --measure` tests whether the rows are a sample of it.\n",
    .examples = "  gram embed draws.csv --kernel 'rbf(ell=1)' --measure 'normal(0,1)*uniform(0,1)' -o values.csv\n"
                "  gram embed sample.csv --kernel 'rbf(ell=1)' --at grid.csv -o values.csv --model mu.gram\n",
    .out = "write the values of the embedding at the rows to FILE",
    .at = "evaluate at the rows of FILE instead of those of DATA",
};

const gram_method gram_method_embed = {
    .name = "embed",
    .title = "mean embedding",
    .formula = "mu(x) = int k(x, y) dP(y), of a known law P or of the rows;  MMD^2 = |mu_rows - mu|^2",
    .tasks = 1u << GRAM_TASK_TRANSFORM,
    .kernel = "rbf",
    .unscaled = 1,
    .verb = &VERB,
    .python = {[GRAM_TASK_TRANSFORM] = "MeanEmbedding"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(embed_settings),
    .plan = plan,
    .fit = fit,
    .keep = keep,
    .forget = forget,
    .open = open_embedding,
    .report = report_embedding,
};
