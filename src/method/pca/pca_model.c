/* Kernel PCA as a method of the learner: coordinates of the rows and of new ones, and the verb `gram pca`. */
#include <inttypes.h>
#include <math.h>

#include "method/component_rows.h"
#include "method/pca/pca.h"

enum { MOST_COMPONENTS = 1 << 20 };

typedef struct pca_settings {
    int64_t k;
    int centre;
    gram_chosen solver;
    double tolerance;
} pca_settings;

typedef struct pca_state {
    gram_pca_options options;
    gram_pca *pca;
} pca_state;

#define PLACE(field) offsetof(pca_settings, field)

static const gram_option OPTIONS[] = {
    {.name = "k",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(k),
     .argument = "K",
     .help = "how many components (default 2)",
     .otherwise = "2",
     .least = 1,
     .most = MOST_COMPONENTS,
     .elsewhere = "scikit-learn n_components"},
    {.name = "centre",
     .kind = GRAM_OPTION_SWITCH,
     .offset = PLACE(centre),
     .help_no = "components of K itself, about the origin of feature space",
     .otherwise = "yes"},
    GRAM_COMPONENT_SOLVER_OPTION(pca_settings, "scikit-learn eigen_solver"),
    GRAM_TOLERANCE_OPTION(pca_settings),
};

/* ---- the fit ---- */

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const pca_settings *own = learning->settings;
    const int64_t n = learning->n;
    pca_state *state = NULL;
    if (own->k > n)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Ask for fewer.",
                                  "-k %" PRId64 " is more than the %" PRId64 " rows", own->k, n);
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    gram_pca_options_init(&state->options, sizeof state->options);
    state->options.components = own->k;
    state->options.centre = own->centre;
    state->options.solver = (gram_pca_solver)own->solver.value;
    state->options.rank = own->solver.number;
    if (!isnan(own->tolerance)) state->options.tolerance = own->tolerance;
    const gram_component_options asked = gram_pca_components(&state->options);
    TRY(gram_component_rows_plan(learning, &asked, "the components of"));
done:
    return status;
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    pca_state *state = learning->own;
    TRY(gram_learning_resolve(learning));
    status = gram_pca_fit(learning->context, learning->kernel, learning->points, &state->options, &state->pca);
    const gram_pca_report *report = state->pca ? gram_pca_get_report(state->pca) : NULL;
    return gram_component_rows_end(learning, status, "Use another kernel, or columns in which the rows differ.",
                                   report ? report->products : 0, report ? report->residual : NAN);
done:
    return status;
}

static void forget(gram_learning *learning)
{
    pca_state *state = learning->own;
    if (state) gram_pca_destroy(state->pca);
}

static gram_status values(gram_learning *learning, double *out, int64_t ldv)
{
    const pca_state *state = learning->own;
    const int64_t k = gram_pca_get_report(state->pca)->components, n = learning->data->n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t s = 0; s < k; s++) out[i * ldv + s] = gram_pca_coordinates(state->pca)[i * k + s];
    return GRAM_OK;
}

/* ---- the model ---- */

/* Variances l/n, and their shares of all. */
static gram_status keep_values(gram_keeper *keeper, const gram_pca *pca)
{
    gram_status status = keeper->status;
    const gram_pca_report *report = gram_pca_get_report(pca);
    const int64_t k = report->components;
    const double *l = gram_pca_eigenvalues(pca);
    double *numbers = NULL, sum = 0;
    if (status < 0) return status;
    TRY(gram_take(keeper->context, "model", 2 * k, sizeof *numbers, (void **)&numbers));
    for (int64_t s = 0; s < k; s++) {
        numbers[s] = l[s] / (double)report->n;
        numbers[k + s] = l[s] / report->trace;
        sum += l[s] / report->trace;
    }
    gram_keep_number(keeper, "explained_total", sum);
    gram_keep_array(keeper, "eigenvalues", 1, k, l);
    gram_keep_array(keeper, "variances", 1, k, numbers);
    gram_keep_array(keeper, "explained", 1, k, numbers + k);
    status = keeper->status;
done:
    gram_give(keeper->context, numbers);
    return status;
}

static void keep_report(gram_keeper *keeper, const gram_pca *pca)
{
    const gram_pca_report *report = gram_pca_get_report(pca);
    gram_keep_integer(keeper, "k", report->components);
    gram_keep_integer(keeper, "centred", report->centre);
    gram_keep_text(keeper, "solver", gram_pca_solver_name(report->solver));
    gram_keep_integer(keeper, "rank", report->rank);
    gram_keep_number(keeper, "trace", report->trace);
    if (!isnan(report->residual)) gram_keep_number(keeper, "residual", report->residual);
    if (report->solver == GRAM_PCA_NYSTROM) gram_keep_number(keeper, "trace_error", report->trace_error);
    if (report->products > 0) gram_keep_integer(keeper, "products", report->products);
    if (keeper->status >= 0) keeper->status = keep_values(keeper, pca);
}

static gram_status keep(gram_learning *learning)
{
    const pca_state *state = learning->own;
    gram_keeper keeper = gram_keep_begin(learning, gram_pca_function(state->pca));
    keep_report(&keeper, state->pca);
    gram_keep_tuning(&keeper, learning, NULL);
    return keeper.status;
}

static gram_status open_pca(gram_context *context, gram_predictor *predictor)
{
    return gram_predictor_coordinates(context, predictor, "pc",
                                      gram_function_outputs(gram_model_function(predictor->model)));
}

static void report_pca(gram_report *report)
{
    gram_report_tuning(report);
    gram_report_row(report, "components");
    gram_report_part(report, "", "k", GRAM_WHOLE);
    gram_report_add(report, gram_report_number(report, "centred") == 0 ? " of K, not centred" : " of the centred K");
    gram_report_part(report, "explaining", "explained_total", GRAM_FINE);
    gram_report_list(report, "  eigenvalues", "eigenvalues", GRAM_FINE);
    gram_report_list(report, "  variances", "variances", GRAM_FINE);
    gram_report_list(report, "  explained", "explained", GRAM_FINE);
    gram_report_row(report, "solver");
    gram_report_add(report, "%s", gram_report_text(report, "solver") ? gram_report_text(report, "solver") : "");
    if (gram_report_number(report, "rank") < gram_report_number(report, "n"))
        gram_report_part(report, "rank", "rank", GRAM_WHOLE);
    gram_report_part(report, "columns multiplied", "products", GRAM_WHOLE);
    gram_report_part(report, "residual", "residual", GRAM_ROUGH);
    gram_report_part(report, "tr(K - K~)/tr K", "trace_error", GRAM_ROUGH);
}

static const gram_verb VERB = {
    .name = "pca",
    .summary = "kernel principal components: coordinates of rows",
    .operands = "DATA",
    .about = "Finds the directions of the kernel's feature space in which the rows of a table vary most, and the "
             "coordinates of\n"
             "the rows along them. All columns are features, unless --features or --ignore choose; text columns become "
             "categories\n"
             "and numbers are standardised. Free numbers of the kernel are set by the median heuristic. -o writes the "
             "coordinates,\n"
             "one row for each row of DATA; with --model the components are kept, and `gram predict` gives new rows "
             "theirs.\n",
    .examples = "  gram pca data.csv -k 3 -o coordinates.csv\n"
                "  gram pca data.csv --kernel 'rbf(width=2)' --no-scale --model pca.gram\n"
                "  gram predict pca.gram new.csv > new_coordinates.csv\n"
                "  gram pca data.csv --kernel linear --json\n",
    .out = "write the coordinates of the rows to FILE",
};

const gram_method gram_method_pca = {
    .name = "pca",
    .title = "kernel principal components",
    .tasks = 1u << GRAM_TASK_TRANSFORM,
    .first_for = 1u << GRAM_TASK_TRANSFORM,
    .refuses = "weights",
    .kernel = "rbf",
    .verb = &VERB,
    .python = {[GRAM_TASK_TRANSFORM] = "KernelPCA"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(pca_settings),
    .plan = plan,
    .fit = fit,
    .keep = keep,
    .values = values,
    .forget = forget,
    .open = open_pca,
    .report = report_pca,
};

gram_status gram_pca_model(gram_context *context, const gram_pca *pca, gram_preparation *preparation,
                           gram_model **model)
{
    gram_keeper keeper = gram_keep_fit(context, &gram_method_pca, GRAM_TASK_TRANSFORM, preparation,
                                       gram_pca_function(pca), gram_pca_get_report(pca)->n);
    keep_report(&keeper, pca);
    return gram_keep_end(&keeper, model);
}
