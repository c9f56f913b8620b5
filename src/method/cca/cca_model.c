/* Kernel CCA as a method of the learner: canonical variables of the rows and of new ones, and the verb `gram cca`. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "method/cca/cca.h"
#include "method/method.h"

enum { MOST_COMPONENTS = 1 << 15, MOST_PERMUTATIONS = 1000000 };

typedef struct cca_settings {
    const char *x, *y, *kernel_x, *kernel_y;
    int64_t k, permutations, rank;
    double kappa;
} cca_settings;

typedef struct cca_state {
    gram_cca_options options;
    gram_cca *cca;
} cca_state;

#define PLACE(field) offsetof(cca_settings, field)
#define TEXT(word, field, argued, what)                                                                                \
    {                                                                                                                  \
        .name = word, .kind = GRAM_OPTION_TEXT, .offset = PLACE(field), .argument = argued, .help = what               \
    }

static const gram_option OPTIONS[] = {
    TEXT("x", x, "LIST", "the columns of the first view, e.g. x1,x3:x5,7"),
    TEXT("y", y, "LIST", "the columns of the second view"),
    TEXT("kernel-x", kernel_x, "E", "the kernel of the first view"),
    TEXT("kernel-y", kernel_y, "E", "the kernel of the second view"),
    {.name = "kappa",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(kappa),
     .argument = "K",
     .help = "the ridge: K |f|^2 beside the variance of f (default: by the correlation of left-out rows)",
     .flags = GRAM_OPTION_AUTO},
    {.name = "k",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(k),
     .argument = "K",
     .help = "how many pairs of variables (default 2, or 1 if there are no 2)",
     .least = 1,
     .most = MOST_COMPONENTS,
     .elsewhere = "scikit-learn n_components"},
    {.name = "permutations",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(permutations),
     .argument = "N",
     .help = "shuffles for the p-value (default 199; 0: none)",
     .otherwise = "199",
     .most = MOST_PERMUTATIONS},
    {.name = "rank",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(rank),
     .argument = "M",
     .help = "at most M columns of each K (default 1000, or as many as fit in the memory)",
     .least = 1,
     .most = GRAM_PIVOTED_MOST},
};

/* ---- the fit ---- */

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const cca_settings *own = learning->settings;
    const int64_t n = learning->n, most = gram_kernel_features_most(learning->context, n, own->rank);
    cca_state *state = NULL;
    char words[64];
    if (own->k >= n)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Ask for fewer.",
                                  "-k %" PRId64 " is more than %" PRId64 " rows can have", own->k, n);
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    gram_cca_options_init(&state->options, sizeof state->options);
    state->options.components = own->k;
    state->options.kappa = own->kappa;
    state->options.permutations = own->permutations;
    state->options.rank = own->rank;
    state->options.groups = learning->groups;
    state->options.ordered = learning->ordered;
    const double bytes = gram_kernel_features_bytes(n, most), r = (double)most;
    TRY(gram_learning_room(learning, bytes, "Use a smaller --rank, fewer rows, or more --memory.",
                           "the correlations of"));
    (void)snprintf(words, sizeof words, "at most %" PRId64 " columns of each K", most);
    gram_learning_plan(learning, words, (size_t)bytes, 4e-10 * (double)n * r * r, most == n ? "all rows" : "low rank");
done:
    return status;
}

static gram_status explain(gram_learning *learning, gram_status status)
{
    if (gram_context_advice(learning->context)[0]) return status;
    if (status == GRAM_ERROR_ARGUMENT)
        return gram_advise(learning->context, status, "Ask for fewer with -k, or give a --kappa above 0.");
    if (status == GRAM_ERROR_DATA)
        return gram_advise(learning->context, status, "Use another kernel, or columns in which the rows differ.");
    if (status == GRAM_ERROR_DIMENSION)
        return gram_advise(learning->context, GRAM_ERROR_DATA, "Correlations take at least 3 rows.");
    return status;
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    cca_state *state = learning->own;
    TRY(gram_learning_resolve(learning));
    status = gram_cca_fit(learning->context, learning->kernel, learning->points, learning->second.kernel,
                          learning->second.points, &state->options, &state->cca);
    status = explain(learning, status);
done:
    return status;
}

static void forget(gram_learning *learning)
{
    cca_state *state = learning->own;
    if (state) gram_cca_destroy(state->cca);
}

/* ---- the model ---- */

static gram_status keep(gram_learning *learning)
{
    const cca_state *state = learning->own;
    const gram_cca_report *report = gram_cca_get_report(state->cca);
    gram_keeper keeper = gram_keep_begin(learning, gram_cca_function(state->cca, 0));
    gram_keep_second(&keeper, learning, gram_cca_function(state->cca, 1));
    gram_keep_integer(&keeper, "k", report->components);
    gram_keep_number(&keeper, "kappa", report->kappa);
    gram_keep_text(&keeper, "kappa_by", report->chosen ? "left-out rows" : "given");
    if (report->chosen) gram_keep_number(&keeper, "held_out_correlation", report->held_out);
    if (!isnan(report->p_value)) gram_keep_number(&keeper, "p_value", report->p_value);
    gram_keep_integer(&keeper, "permutations", report->permutations);
    gram_keep_integer(&keeper, "rank_x", report->rank[0]);
    gram_keep_integer(&keeper, "rank_y", report->rank[1]);
    gram_keep_number(&keeper, "trace_error_x", report->trace_error[0]);
    gram_keep_number(&keeper, "trace_error_y", report->trace_error[1]);
    gram_keep_array(&keeper, "correlations", 1, report->components, gram_cca_correlations(state->cca));
    gram_keep_tuning(&keeper, learning, NULL);
    return keeper.status;
}

static void report_view(gram_report *report, const char *label, const char *rank, const char *error)
{
    gram_report_row(report, label);
    gram_report_part(report, "columns of K", rank, GRAM_WHOLE);
    gram_report_part(report, "tr(K - K~)/tr K", error, GRAM_ROUGH);
}

static void report_cca(gram_report *report)
{
    const char *by = gram_report_text(report, "kappa_by");
    gram_report_tuning(report);
    gram_report_list(report, "correlations", "correlations", GRAM_FINE);
    gram_report_row(report, "  kappa");
    gram_report_part(report, "", "kappa", GRAM_FINE);
    if (by) gram_report_add(report, ", %s%s", by[0] == 'l' ? "by " : "", by);
    gram_report_part(report, "whose correlation is", "held_out_correlation", GRAM_FINE);
    gram_report_row(report, "  independent?");
    gram_report_part(report, "p =", "p_value", GRAM_FINE);
    if (!isnan(gram_report_number(report, "p_value")))
        gram_report_part(report, "permutations", "permutations", GRAM_WHOLE);
    report_view(report, "view x", "rank_x", "trace_error_x");
    report_view(report, "view y", "rank_y", "trace_error_y");
}

static const gram_verb VERB = {
    .name = "cca",
    .summary = "kernel canonical correlations: what two sets of columns share",
    .operands = "DATA [DATA]",
    .about = "Finds functions of the columns --x and functions of the columns --y that are correlated as strongly as "
             "possible, pair\n"
             "after pair, and tests whether the two sets are independent. With two files the views are their columns, "
             "row by "
             "row. Numbers\n"
             "are standardised; free numbers of the kernels are set by the median heuristic. -o writes the variables "
             "of both "
             "views, one\n"
             "row for each row of DATA; with --model they are kept, and `gram predict` gives new rows theirs, of one "
             "view with "
             "--view.\n",
    .examples = "  gram cca data.csv --x 1:3 --y 4:6 -o variables.csv\n"
                "  gram cca data.csv --x a,b --y c --kernel-x rbf --kernel-y linear --kappa 0.01 --json\n"
                "  gram cca data.csv --x 1:3 --y 4:6 --kernel linear --kappa 0\n"
                "  gram cca data.csv --x 1:3 --y 4:6 --model cca.gram && gram predict cca.gram new.csv --view x\n",
    .out = "write the canonical variables of the rows to FILE",
    .tables = 2,
    .pictures = "pairs",
};

const gram_method gram_method_cca = {
    .name = "cca",
    .title = "kernel canonical correlations",
    .formula = "singular values of (Kx~ + n kappa I)^(-1/2) Kx~^(1/2) Ky~^(1/2) (Ky~ + n kappa I)^(-1/2),  K~ = H K H",
    .tasks = 1u << GRAM_TASK_TRANSFORM,
    .refuses = "weights",
    .kernel = "rbf",
    .views = {"x", "y"},
    .verb = &VERB,
    .python = {[GRAM_TASK_TRANSFORM] = "KernelCCA"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(cca_settings),
    .plan = plan,
    .fit = fit,
    .keep = keep,
    .forget = forget,
    .open = gram_predictor_views,
    .report = report_cca,
};
