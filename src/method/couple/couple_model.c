/* Coupled kernel embedding as a method of the learner: coordinates of rows of either view, and the verb `gram couple`. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "method/couple/couple.h"
#include "method/method.h"

enum { MOST_COMPONENTS = 1 << 15, MOST_NEIGHBOURS = 10000 };

typedef struct couple_settings {
    const char *a, *b, *kernel_a, *kernel_b, *label;
    int64_t k, neighbours, rank;
    double gamma;
} couple_settings;

typedef struct couple_state {
    gram_couple_options options;
    gram_couple *couple;
} couple_state;

#define PLACE(field) offsetof(couple_settings, field)
#define TEXT(word, field, argued, what)                                                                                \
    {                                                                                                                  \
        .name = word, .kind = GRAM_OPTION_TEXT, .offset = PLACE(field), .argument = argued, .help = what               \
    }

static const gram_option OPTIONS[] = {
    {.name = "label",
     .kind = GRAM_OPTION_TEXT,
     .offset = PLACE(label),
     .argument = "COL",
     .help = "the column of classes: rows of one class belong together"},
    {.name = "neighbours",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(neighbours),
     .argument = "N",
     .help = "without --label: each row belongs to the N nearest of the second view (default 5; 0: to itself)",
     .otherwise = "5",
     .most = MOST_NEIGHBOURS},
    TEXT("a", a, "LIST", "of one file: the columns of the first view"),
    TEXT("b", b, "LIST", "of one file: the columns of the second view"),
    TEXT("kernel-a", kernel_a, "E", "the kernel of the first view"),
    TEXT("kernel-b", kernel_b, "E", "the kernel of the second view"),
    {.name = "gamma",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(gamma),
     .argument = "G",
     .help = "the ridge G (|f|^2 + |g|^2) (default: by how often left-out rows are matched rightly)",
     .flags = GRAM_OPTION_AUTO},
    {.name = "k",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(k),
     .argument = "K",
     .help = "how many coordinates (default 2)",
     .otherwise = "2",
     .least = 1,
     .most = MOST_COMPONENTS,
     .elsewhere = "scikit-learn n_components"},
    {.name = "rank",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(rank),
     .argument = "M",
     .help = "at most M columns of each K (default 1000, or as many as fit in the memory)",
     .least = 1,
     .most = GRAM_PIVOTED_MOST},
};

/* ---- the fit ---- */

static gram_status check(gram_learning *learning)
{
    if (!gram_given_text(learning, "label") || !gram_given_text(learning, "neighbours")) return GRAM_OK;
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Rows belong together by classes or by nearness.",
                              "give one of --label and --neighbours");
}

/* Labels as the numbers of their classes. */
static gram_status find_labels(gram_learning *learning, const int64_t **labels)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = learning->data;
    int64_t *numbers = NULL;
    *labels = NULL;
    if (data->targets == 0) return GRAM_OK;
    TRY(gram_classes_of_target(learning->context, &learning->arena,
                               gram_preparation_describe(learning->preparation)->targets, data->n, data->y,
                               &learning->classes));
    TRY(gram_learning_take(learning, data->n, sizeof *numbers, &numbers));
    for (int64_t i = 0; i < data->n; i++) numbers[i] = gram_classes_find(&learning->classes, data->y[i]);
    *labels = numbers;
done:
    return status;
}

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const couple_settings *own = learning->settings;
    const int64_t n = learning->n, most = gram_kernel_features_most(learning->context, n, own->rank);
    couple_state *state = NULL;
    char words[64];
    if (own->k > 2 * n)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Ask for fewer.",
                                  "-k %" PRId64 " is more than %" PRId64 " pairs of rows can have", own->k, n);
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    gram_couple_options_init(&state->options, sizeof state->options);
    state->options.components = own->k;
    state->options.gamma = own->gamma;
    state->options.neighbours = own->neighbours;
    state->options.rank = own->rank;
    state->options.groups = learning->groups;
    state->options.ordered = learning->ordered;
    const double r = (double)most, bytes = 1.5 * gram_kernel_features_bytes(n, most) + 8 * 16 * r * r;
    TRY(gram_learning_room(learning, bytes, "Use a smaller --rank, fewer rows, or more --memory.", "the embedding of"));
    (void)snprintf(words, sizeof words, "at most %" PRId64 " columns of each K", most);
    gram_learning_plan(learning, words, (size_t)bytes, 6e-10 * ((double)n + 8 * r) * r * r,
                       most == n ? "all rows" : "low rank");
done:
    return status;
}

static gram_status explain(gram_learning *learning, gram_status status)
{
    const gram_couple_options *o = &((const couple_state *)learning->own)->options;
    if (gram_context_advice(learning->context)[0]) return status;
    if (status == GRAM_ERROR_ARGUMENT && o->gamma == 0 && o->neighbours == 0 && !o->labels)
        return gram_advise(learning->context, status, "Give a --gamma above 0, or --label or --neighbours.");
    if (status == GRAM_ERROR_ARGUMENT)
        return gram_advise(learning->context, status, "Ask for fewer with -k, or give a --gamma above 0.");
    if (status == GRAM_ERROR_DATA)
        return gram_advise(learning->context, status, "Use another kernel, or columns in which the rows differ.");
    if (status == GRAM_ERROR_DIMENSION)
        return gram_advise(learning->context, GRAM_ERROR_DATA, "An embedding takes at least 3 pairs of rows.");
    return status;
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    couple_state *state = learning->own;
    TRY(gram_learning_resolve(learning));
    TRY(find_labels(learning, &state->options.labels));
    status = gram_couple_fit(learning->context, learning->kernel, learning->points, learning->second.kernel,
                             learning->second.points, &state->options, &state->couple);
    status = explain(learning, status);
done:
    return status;
}

static void forget(gram_learning *learning)
{
    couple_state *state = learning->own;
    if (state) gram_couple_destroy(state->couple);
}

/* ---- the model ---- */

static gram_status keep(gram_learning *learning)
{
    const couple_settings *own = learning->settings;
    const couple_state *state = learning->own;
    const gram_couple_report *report = gram_couple_get_report(state->couple);
    gram_keeper keeper = gram_keep_begin(learning, gram_couple_function(state->couple, 0));
    gram_keep_second(&keeper, learning, gram_couple_function(state->couple, 1));
    gram_keep_integer(&keeper, "k", report->components);
    gram_keep_number(&keeper, "gamma", report->gamma);
    gram_keep_text(&keeper, "gamma_by", report->chosen ? "left-out rows" : "given");
    if (report->classes > 0)
        gram_keep_integer(&keeper, "class_count", report->classes);
    else
        gram_keep_integer(&keeper, "neighbours", own->neighbours);
    if (!isnan(report->accuracy))
        gram_keep_number(&keeper, report->classes > 0 ? "accuracy" : "pair_accuracy", report->accuracy);
    gram_keep_integer(&keeper, "rank_a", report->rank[0]);
    gram_keep_integer(&keeper, "rank_b", report->rank[1]);
    gram_keep_number(&keeper, "trace_error_a", report->trace_error[0]);
    gram_keep_number(&keeper, "trace_error_b", report->trace_error[1]);
    gram_keep_array(&keeper, "eigenvalues", 1, report->components, gram_couple_eigenvalues(state->couple));
    gram_keep_tuning(&keeper, learning, NULL);
    return keeper.status;
}

static void report_view(gram_report *report, const char *label, const char *rank, const char *error)
{
    gram_report_row(report, label);
    gram_report_part(report, "columns of K", rank, GRAM_WHOLE);
    gram_report_part(report, "tr(K - K~)/tr K", error, GRAM_ROUGH);
}

static void report_couple(gram_report *report)
{
    const char *by = gram_report_text(report, "gamma_by");
    gram_report_tuning(report);
    gram_report_row(report, "affinities");
    gram_report_part(report, "classes", "class_count", GRAM_WHOLE);
    gram_report_part(report, "nearest rows of the second view", "neighbours", GRAM_WHOLE);
    gram_report_list(report, "eigenvalues", "eigenvalues", GRAM_FINE);
    gram_report_row(report, "  gamma");
    gram_report_part(report, "", "gamma", GRAM_FINE);
    if (by) gram_report_add(report, ", %s%s", by[0] == 'l' ? "by " : "", by);
    gram_report_row(report, "matching");
    gram_report_part(report, "class of left-out rows right:", "accuracy", GRAM_FINE);
    gram_report_part(report, "partner of left-out rows found:", "pair_accuracy", GRAM_FINE);
    report_view(report, "view a", "rank_a", "trace_error_a");
    report_view(report, "view b", "rank_b", "trace_error_b");
}

static const gram_verb VERB = {
    .name = "couple",
    .summary = "two views of rows in one space, where what belongs together is near",
    .operands = "A [B]",
    .about =
        "Finds coordinates for two views of the same rows, such as images of low and of high resolution: row i of A "
        "belongs to row\n"
        "i of B, and rows of one class, or neighbours, come to lie near each other, whichever view they are seen in. "
        "`gram predict\n"
        "M.gram NEW --view a` then gives new rows of either view their coordinates; the nearest row of the other view "
        "is "
        "the match.\n"
        "Numbers are standardised; free numbers of the kernels are set by the median heuristic.\n",
    .examples = "  gram couple low.csv high.csv --label digit -k 9 -o digits.gram\n"
                "  gram couple low.csv high.csv --neighbours 10 -k 20 --json\n"
                "  gram couple both.csv --a 1:16 --b 17:80 --kernel-b 'rbf(ell=20)' --gamma 0.1 -k 9 -o m.gram\n"
                "  gram predict digits.gram new_low.csv --view a\n",
    .out = "write the model to FILE, for `gram predict`",
    .tables = 2,
    .pictures = "views",
    .out_is_model = 1,
};

const gram_method gram_method_couple = {
    .name = "couple",
    .title = "coupled kernel embedding",
    .formula = "min sum_ij W_ij |P'phi(x_i) - Q'psi(y_j)|^2 + gamma (|P|^2 + |Q|^2):  Z Z u = m (Z G Z + gamma Z) u,\n"
               "Z = diag(Kx, Ky),  G = [Dx, -W; -W', Dy];  coordinates U'k_x",
    .tasks = 1u << GRAM_TASK_TRANSFORM,
    .refuses = "weights",
    .kernel = "rbf",
    .views = {"a", "b"},
    .label = "label",
    .verb = &VERB,
    .python = {[GRAM_TASK_TRANSFORM] = "CoupledEmbedding"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(couple_settings),
    .check = check,
    .plan = plan,
    .fit = fit,
    .keep = keep,
    .forget = forget,
    .open = gram_predictor_views,
    .report = report_couple,
};
