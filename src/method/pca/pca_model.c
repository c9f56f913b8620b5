/* Kernel PCA as a method of the learner: coordinates of the rows and of new ones, rows made of coordinates, and the verb `gram
 * pca`. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "method/component_rows.h"
#include "method/pca/pca.h"

enum { MOST_COMPONENTS = 1 << 20 };

typedef struct pca_settings {
    int64_t k; /* 0: by parallel analysis */
    int centre;
    gram_chosen solver, preimage;
    double tolerance;
} pca_settings;

typedef struct pca_state {
    gram_pca_options options;
    gram_pca *pca;
} pca_state;

/* A predictor's, if rows are made of coordinates. */
typedef struct pca_way_back {
    gram_preimage *preimage;
    double *mean; /* of the model's centres */
} pca_way_back;

static const gram_choice PREIMAGES[] = {{"auto", GRAM_PREIMAGE_AUTO, NULL, 0, 0},
                                        {"fixed-point", GRAM_PREIMAGE_FIXED_POINT, NULL, 0, 0},
                                        {"ridge", GRAM_PREIMAGE_RIDGE, NULL, 0, 0},
                                        {NULL, 0, NULL, 0, 0}};
static const gram_kept_words WORDS[] = {{"preimage", "auto fixed-point ridge"}, {NULL, NULL}};

#define PLACE(field) offsetof(pca_settings, field)

static const gram_option OPTIONS[] = {
    {.name = "k",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(k),
     .argument = "K",
     .help = "how many components (default 2, or as many as there are); auto: those of the first 20 that stand out "
             "from shuffled columns",
     .otherwise = "2",
     .least = 1,
     .most = MOST_COMPONENTS,
     .flags = GRAM_OPTION_AUTO,
     .elsewhere = "scikit-learn n_components"},
    {.name = "centre",
     .kind = GRAM_OPTION_SWITCH,
     .offset = PLACE(centre),
     .help_no = "components of K itself, about the origin of feature space",
     .otherwise = "yes"},
    GRAM_COMPONENT_SOLVER_OPTION(pca_settings, "scikit-learn eigen_solver"),
    {.name = "preimage",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(preimage),
     .argument = "HOW",
     .help = "how --reconstruct finds rows: auto (default), fixed-point (rbf), ridge (any kernel)",
     .otherwise = "auto",
     .choices = PREIMAGES,
     .elsewhere = "scikit-learn fit_inverse_transform"},
    GRAM_TOLERANCE_OPTION(pca_settings),
};

/* ---- the fit ---- */

/* For -k auto: levels of one text are shuffled together. */
static gram_status group_columns(gram_learning *learning, gram_pca_options *options)
{
    gram_status status = GRAM_OK;
    const int64_t d = learning->data->d;
    int64_t *groups = NULL;
    int several = 0;
    TRY(gram_learning_take(learning, d, sizeof *groups, &groups));
    for (int64_t l = 0; l < d; l++) {
        groups[l] = learning->preparation ? gram_preparation_feature_of(learning->preparation, l) : l;
        several |= groups[l] != groups[0];
    }
    options->column_groups = groups;
    if (!several || learning->n < 3)
        status = gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Give the number of components with -k.",
                                    "-k auto shuffles columns: it needs at least two features, and 3 rows");
done:
    return status;
}

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const pca_settings *own = learning->settings;
    const int64_t n = learning->n;
    pca_state *state = NULL;
    if (own->k > n && gram_given_text(learning, "k"))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Ask for fewer.",
                                  "-k %" PRId64 " is more than the %" PRId64 " rows", own->k, n);
    if (own->preimage.value == GRAM_PREIMAGE_FIXED_POINT && !gram_preimage_has_fixed_point(learning->written))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Use --preimage ridge, which is for any kernel.",
                                  "--preimage fixed-point is for the kernel rbf alone");
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    gram_pca_options_init(&state->options, sizeof state->options);
    state->options.components = own->k > n ? n : own->k;
    state->options.centre = own->centre;
    state->options.solver = (gram_pca_solver)own->solver.value;
    state->options.rank = own->solver.number;
    if (!isnan(own->tolerance)) state->options.tolerance = own->tolerance;
    if (own->k == 0) TRY(group_columns(learning, &state->options));
    gram_component_options asked = gram_pca_components(&state->options);
    if (own->k == 0) asked.count = state->options.most_components < n ? state->options.most_components : n;
    TRY(gram_component_rows_plan(learning, &asked, "the components of"));
done:
    return status;
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    pca_state *state = learning->own;
    TRY(gram_learning_resolve(learning));
    do status = gram_pca_fit(learning->context, learning->kernel, learning->points, &state->options, &state->pca);
    while (gram_component_rows_fewer(learning, status, &state->options.components));
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
    if (report->permutations > 0) {
        gram_keep_integer(keeper, "significant", report->significant);
        gram_keep_integer(keeper, "permutations", report->permutations);
        gram_keep_integer(keeper, "analysed_rows", report->analysed_rows);
        gram_keep_array(keeper, "chance", 1, report->analysed, gram_pca_chance(pca));
    }
    if (!isnan(report->residual)) gram_keep_number(keeper, "residual", report->residual);
    if (report->solver == GRAM_PCA_NYSTROM) gram_keep_number(keeper, "trace_error", report->trace_error);
    if (report->products > 0) gram_keep_integer(keeper, "products", report->products);
    if (keeper->status >= 0) keeper->status = keep_values(keeper, pca);
    const gram_function *f = gram_pca_function(pca);
    const int even = report->solver == GRAM_PCA_DENSE || report->solver == GRAM_PCA_KRYLOV;
    if (gram_pca_mean(pca) && !even)
        gram_keep_array(keeper, "mean_weights", 1, gram_points_count(gram_function_centres(f)), gram_pca_mean(pca));
}

static gram_status keep(gram_learning *learning)
{
    const pca_state *state = learning->own;
    const pca_settings *own = learning->settings;
    gram_keeper keeper = gram_keep_begin(learning, gram_pca_function(state->pca));
    keep_report(&keeper, state->pca);
    gram_keep_text(&keeper, "preimage", gram_preimage_method_name((gram_preimage_method)own->preimage.value));
    gram_keep_tuning(&keeper, learning, NULL);
    return keeper.status;
}

/* ---- predictions ---- */

/* The mean over the centres: as it is kept, or even where the centres are all rows. */
static gram_status find_mean(gram_context *context, const gram_predictor *predictor, pca_way_back *back)
{
    gram_status status = GRAM_OK;
    const int64_t m = gram_points_count(gram_function_centres(gram_model_function(predictor->model)));
    const double *kept = gram_kept_array(predictor->model, "mean_weights", 1, m);
    if (gram_kept_number(predictor->model, "centred", 1) == 0) return GRAM_OK;
    if (!kept && gram_kept_number(predictor->model, "n", 0) != (double)m)
        return gram_predictor_damaged(context, predictor, "damaged: the weights of its mean are missing");
    TRY(gram_arena_take(context, (gram_arena *)&predictor->arena, "predictor", m, sizeof *back->mean,
                        (void **)&back->mean));
    for (int64_t i = 0; i < m; i++) back->mean[i] = kept ? kept[i] : 1 / (double)m;
done:
    return status;
}

/* Columns are the features, in their own units. */
static gram_status name_features(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    const int64_t d = gram_points_dimension(gram_function_centres(gram_model_function(predictor->model)));
    const gram_preparation_description *known =
        predictor->preparation ? gram_preparation_describe(predictor->preparation) : NULL;
    char number[32];
    predictor->columns.features = known ? known->features : NULL;
    for (int64_t f = 0; f < (known ? known->feature_count : d); f++) {
        (void)snprintf(number, sizeof number, "%" PRId64, f + 1);
        TRY(gram_predictor_column(context, predictor, known ? known->features[f].name : "x", known ? "" : number));
    }
done:
    return status;
}

static gram_status open_back(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    pca_way_back *back = NULL;
    const char *kept = gram_kept_text(predictor->model, "preimage");
    gram_preimage_method method = GRAM_PREIMAGE_AUTO;
    for (const gram_choice *c = PREIMAGES; kept && c->name; c++)
        if (strcmp(c->name, kept) == 0) method = (gram_preimage_method)c->value;
    TRY(gram_arena_take(context, &predictor->arena, "predictor", 1, sizeof *back, (void **)&back));
    *back = (pca_way_back){0};
    predictor->own = back;
    TRY(find_mean(context, predictor, back));
    TRY(name_features(context, predictor));
    TRY(gram_preimage_create(context, gram_model_function(predictor->model), back->mean, method, &back->preimage));
done:
    return status;
}

static gram_status open_pca(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    if (!predictor->wish.reconstruct)
        return gram_predictor_coordinates(context, predictor, "pc",
                                          gram_function_outputs(gram_model_function(predictor->model)));
    TRY(gram_predictor_refuse(context, predictor, 1, "It has coordinates only.", "a transformation"));
    TRY(open_back(context, predictor));
done:
    return status;
}

static void close_pca(gram_predictor *predictor)
{
    pca_way_back *back = predictor->own;
    if (back) gram_preimage_destroy(back->preimage);
}

/* A prepared row in the features' own units: of text the number of the level with the largest value. */
static void write_units(const gram_preparation *preparation, int64_t d, const double *x, double *out)
{
    const gram_preparation_description *known = preparation ? gram_preparation_describe(preparation) : NULL;
    if (!known) memcpy(out, x, (size_t)d * sizeof *x);
    for (int64_t f = 0, at = 0; known && f < known->feature_count; f++) {
        const gram_column *feature = &known->features[f];
        int64_t best = 0;
        for (int64_t l = 1; l < feature->level_count; l++)
            if (x[at + l] > x[at + best]) best = l;
        out[f] = feature->text ? (double)best : gram_preparation_unit(preparation, at, x[at]);
        at += feature->text ? feature->level_count : 1;
    }
}

static gram_status evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                            double *out, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const pca_way_back *back = predictor->own;
    const gram_function *f = gram_model_function(predictor->model);
    const int64_t n = places->n, d = places->d, k = gram_function_outputs(f);
    double *coordinates = NULL, *x = NULL;
    if (!back) return gram_function_evaluate(context, f, places->points, out, ldv);
    TRY(gram_take(context, "predict: coordinates", n * k, sizeof *coordinates, (void **)&coordinates));
    TRY(gram_take(context, "predict: rows", n * d, sizeof *x, (void **)&x));
    TRY(gram_function_evaluate(context, f, places->points, coordinates, k));
    TRY(gram_preimage_find(context, back->preimage, n, coordinates, k, places->points, x, d));
    for (int64_t i = 0; i < n; i++) write_units(predictor->preparation, d, x + i * d, out + i * ldv);
done:
    gram_give(context, x);
    gram_give(context, coordinates);
    return status;
}

static void report_pca(gram_report *report)
{
    gram_report_tuning(report);
    gram_report_row(report, "components");
    gram_report_part(report, "", "k", GRAM_WHOLE);
    gram_report_add(report, gram_report_number(report, "centred") == 0 ? " of K, not centred" : " of the centred K");
    gram_report_part(report, "explaining", "explained_total", GRAM_FINE);
    if (!isnan(gram_report_number(report, "significant"))) {
        gram_report_row(report, "  parallel analysis");
        gram_report_add(report, gram_report_number(report, "significant") > 0 ? "these" : "none, one is kept");
        gram_report_add(report, " above those of 95 %% of shuffled tables");
        gram_report_part(report, "tables", "permutations", GRAM_WHOLE);
        gram_report_part(report, "rows", "analysed_rows", GRAM_WHOLE);
    }
    gram_report_list(report, "  chance", "chance", GRAM_FINE);
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
                "  gram pca noisy.csv -k 4 --reconstruct -o denoised.csv\n"
                "  gram pca data.csv --kernel linear --json\n",
    .out = "write the coordinates of the rows to FILE",
    .pictures = "scatter space boxes directions spectrum",
};

const gram_method gram_method_pca = {
    .name = "pca",
    .title = "kernel principal components",
    .formula =
        "K~ = H K H = sum_s l_s a_s a_s',  H = I - 1 1'/n;  coordinate s of x is (1/sqrt(l_s)) sum_i a_si k~(x_i, x)",
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
    .words = WORDS,
    .reconstructs = 1,
    .open = open_pca,
    .evaluate = evaluate,
    .close = close_pca,
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
