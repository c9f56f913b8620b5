/* Mercer expansions as a method of the learner: eigenfunctions with respect to the rows, at new ones, and the verb `gram mercer`. */
#include <inttypes.h>
#include <math.h>

#include "method/component_rows.h"
#include "method/mercer/mercer.h"

enum { USUAL = 5, MOST_COMPONENTS = 1 << 20 };

typedef struct mercer_settings {
    int64_t k; /* 0: USUAL, or all there are */
    gram_chosen solver;
    double tolerance;
    const char *measure;
} mercer_settings;

typedef struct mercer_state {
    gram_mercer_options options;
    gram_mercer *mercer;
    double *known; /* the eigenvalues under the measure; NULL: none is given */
} mercer_state;

#define PLACE(field) offsetof(mercer_settings, field)

static const gram_option OPTIONS[] = {
    {.name = "k",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(k),
     .argument = "K",
     .help = "how many eigenfunctions (default 5, or all there are)",
     .least = 1,
     .most = MOST_COMPONENTS,
     .elsewhere = "scikit-learn n_components"},
    {.name = "measure",
     .kind = GRAM_OPTION_TEXT,
     .offset = PLACE(measure),
     .argument = "P",
     .help = "uniform(A,B) or normal(MEAN,VARIANCE): show the eigenvalues under P beside, where they are known"},
    GRAM_COMPONENT_SOLVER_OPTION(mercer_settings, NULL),
    GRAM_TOLERANCE_OPTION(mercer_settings),
};

/* ---- the fit ---- */

static gram_status check(gram_learning *learning)
{
    const mercer_settings *own = learning->settings;
    gram_measure measure;
    const gram_status status = own->measure ? gram_measure_parse(learning->context, own->measure, &measure) : GRAM_OK;
    if (status == GRAM_OK) return status;
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "It may be uniform(A,B), A < B, or normal(MEAN,VARIANCE).",
                              "--measure cannot be '%s'", own->measure);
}

/* How many there can be, by n and the rank of the kernel. */
static gram_status decide_count(gram_learning *learning, int64_t *count)
{
    gram_status status = GRAM_OK;
    const mercer_settings *own = learning->settings;
    gram_properties facts;
    TRY(gram_kernel_properties(learning->context, learning->written, learning->data->d, &facts));
    const int finite = facts.rank != GRAM_INFINITE && facts.rank < learning->n;
    const int64_t most = finite ? facts.rank : learning->n;
    if (own->k > most && most > 0)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Ask for fewer.",
                                  finite ? "-k %" PRId64 " is more than the %" PRId64 ", the rank of the kernel"
                                         : "-k %" PRId64 " is more than the %" PRId64 " rows",
                                  own->k, most);
    *count = own->k > 0 ? own->k : most < 1 ? 1 : most < USUAL ? most : USUAL;
done:
    return status;
}

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const mercer_settings *own = learning->settings;
    mercer_state *state = NULL;
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    gram_mercer_options_init(&state->options, sizeof state->options);
    TRY(decide_count(learning, &state->options.components));
    state->options.weights = learning->data->weights;
    state->options.solver = (gram_pca_solver)own->solver.value;
    state->options.rank = own->solver.number;
    if (!isnan(own->tolerance)) state->options.tolerance = own->tolerance;
    const gram_component_options asked = gram_mercer_components(&state->options);
    TRY(gram_component_rows_plan(learning, &asked, "the eigenfunctions of"));
done:
    return status;
}

/* The eigenvalues under the measure, for the kernel that was resolved. */
static gram_status find_known(gram_learning *learning, mercer_state *state)
{
    gram_status status = GRAM_OK;
    const mercer_settings *own = learning->settings;
    gram_measure measure;
    if (!own->measure) return GRAM_OK;
    TRY(gram_measure_parse(learning->context, own->measure, &measure));
    TRY(gram_learning_take(learning, state->options.components, sizeof(double), &state->known));
    status = gram_mercer_analytic(learning->context, learning->kernel, &measure, state->options.components,
                                  state->known, 0, NULL, NULL);
    if (status == GRAM_ERROR_UNSUPPORTED)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT,
                                  "Known are min(o) under uniform(o,B), rbf under normal(M,V) and periodic over whole "
                                  "periods; leave --measure out.",
                                  "no expansion of this kernel under %s is known", own->measure);
done:
    return status;
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    mercer_state *state = learning->own;
    TRY(gram_learning_resolve(learning));
    TRY(find_known(learning, state));
    do status = gram_mercer_fit(learning->context, learning->kernel, learning->points, &state->options, &state->mercer);
    while (gram_component_rows_fewer(learning, status, &state->options.components));
    const gram_mercer_report *report = state->mercer ? gram_mercer_get_report(state->mercer) : NULL;
    return gram_component_rows_end(learning, status, "Use another kernel, or look at the weights.",
                                   report ? report->products : 0, report ? report->residual : NAN);
done:
    return status;
}

static void forget(gram_learning *learning)
{
    mercer_state *state = learning->own;
    if (state) gram_mercer_destroy(state->mercer);
}

/* ---- the model ---- */

static void keep_report(gram_keeper *keeper, const gram_mercer *mercer)
{
    const gram_mercer_report *report = gram_mercer_get_report(mercer);
    double sum = 0;
    for (int64_t j = 0; j < report->components; j++) sum += gram_mercer_eigenvalues(mercer)[j];
    gram_keep_integer(keeper, "k", report->components);
    gram_keep_text(keeper, "solver", gram_pca_solver_name(report->solver));
    gram_keep_integer(keeper, "rank", report->rank);
    gram_keep_number(keeper, "total_weight", report->total);
    gram_keep_number(keeper, "trace", report->trace);
    if (report->trace > 0) gram_keep_number(keeper, "explained_total", sum / report->trace);
    if (!isnan(report->residual)) gram_keep_number(keeper, "residual", report->residual);
    if (report->solver == GRAM_PCA_NYSTROM) gram_keep_number(keeper, "trace_error", report->trace_error);
    if (report->products > 0) gram_keep_integer(keeper, "products", report->products);
    gram_keep_array(keeper, "eigenvalues", 1, report->components, gram_mercer_eigenvalues(mercer));
}

static gram_status keep(gram_learning *learning)
{
    const mercer_state *state = learning->own;
    const mercer_settings *own = learning->settings;
    gram_keeper keeper = gram_keep_begin(learning, gram_mercer_function(state->mercer));
    keep_report(&keeper, state->mercer);
    if (state->known) {
        gram_keep_text(&keeper, "measure", own->measure);
        gram_keep_array(&keeper, "analytic", 1, state->options.components, state->known);
    }
    gram_keep_tuning(&keeper, learning, NULL);
    return keeper.status;
}

static gram_status open_mercer(gram_context *context, gram_predictor *predictor)
{
    return gram_predictor_coordinates(context, predictor, "phi",
                                      gram_function_outputs(gram_model_function(predictor->model)));
}

static void report_mercer(gram_report *report)
{
    gram_report_tuning(report);
    gram_report_row(report, "eigenfunctions");
    gram_report_part(report, "", "k", GRAM_WHOLE);
    gram_report_part(report, "of at most", "rank", GRAM_WHOLE);
    gram_report_part(report, "their share of the trace", "explained_total", GRAM_FINE);
    gram_report_list(report, "  eigenvalues", "eigenvalues", GRAM_FINE);
    if (gram_report_text(report, "measure")) gram_report_list(report, "  under P", "analytic", GRAM_FINE);
    gram_report_row(report, "measure P");
    gram_report_add(report, "%s", gram_report_text(report, "measure") ? gram_report_text(report, "measure") : "");
    gram_report_row(report, "solver");
    gram_report_add(report, "%s", gram_report_text(report, "solver") ? gram_report_text(report, "solver") : "");
    gram_report_part(report, "weight of all rows", "total_weight", GRAM_FINE);
    gram_report_part(report, "columns multiplied", "products", GRAM_WHOLE);
    gram_report_part(report, "residual", "residual", GRAM_ROUGH);
    gram_report_part(report, "tr(K - K~)/tr K", "trace_error", GRAM_ROUGH);
}

static const gram_verb VERB = {
    .name = "mercer",
    .summary = "eigenvalues and eigenfunctions of a kernel with respect to data",
    .operands = "KERNEL DATA",
    .about =
        "Finds the eigenvalues mu_j and eigenfunctions phi_j of a kernel with respect to a sample: the mean over the "
        "rows y of\n"
        "k(x, y) phi_j(y) is mu_j phi_j(x), and the phi_j are orthonormal. With --weights the rows are the nodes of a "
        "quadrature\n"
        "rule, and the weights are used as they are. All columns are features, taken as they are unless --scale; free "
        "numbers of\n"
        "the kernel are set by the median heuristic. -o writes the eigenfunctions at the rows of DATA, or at those of "
        "--at; with\n"
        "--model they are kept, and `gram predict` has them at new rows.\n",
    .examples = "  gram mercer 'min' nodes.csv --weights w -k 4 --at grid.csv -o functions.csv\n"
                "  gram mercer 'rbf(ell=1)' sample.csv -k 6 --measure 'normal(0,1)'\n"
                "  gram mercer rbf data.csv --scale -k 3 --model mercer.gram --json\n",
    .out = "write the eigenfunctions at the rows to FILE",
    .at = "evaluate at the rows of FILE instead of those of DATA",
    .pictures = "eigenvalues",
    .plot = "draw the eigenvalues and, over one feature, the first eigenfunctions: .svg, .png or .pdf",
    .kernel_operand = 1,
};

const gram_method gram_method_mercer = {
    .name = "mercer",
    .title = "Mercer expansion",
    .formula = "K = sum_j l_j a_j a_j';  eigenvalues m_j = l_j/n,  eigenfunctions phi_j(x) = (sqrt(n)/l_j) sum_i a_ji "
               "k(x, x_i);\n"
               "k(x, z) = sum_j m_j phi_j(x) phi_j(z)",
    .tasks = 1u << GRAM_TASK_TRANSFORM,
    .kernel = "rbf",
    .unscaled = 1,
    .quadrature = 1,
    .verb = &VERB,
    .python = {[GRAM_TASK_TRANSFORM] = "MercerExpansion"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(mercer_settings),
    .check = check,
    .plan = plan,
    .fit = fit,
    .keep = keep,
    .forget = forget,
    .open = open_mercer,
    .report = report_mercer,
};

gram_status gram_mercer_model(gram_context *context, const gram_mercer *mercer, gram_preparation *preparation,
                              gram_model **model)
{
    gram_keeper keeper = gram_keep_fit(context, &gram_method_mercer, GRAM_TASK_TRANSFORM, preparation,
                                       gram_mercer_function(mercer), gram_mercer_get_report(mercer)->n);
    keep_report(&keeper, mercer);
    return gram_keep_end(&keeper, model);
}
