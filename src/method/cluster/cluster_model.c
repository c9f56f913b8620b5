/* Clustering as methods of the learner, kmeans and spectral: labels of the rows and of new ones, and the verb `gram cluster`. */
#include <inttypes.h>
#include <math.h>

#include "method/cluster/cluster.h"
#include "method/method.h"

enum { MOST_CLUSTERS = 1 << 20, MOST_STARTS = 10000 };

typedef struct cluster_settings {
    int64_t k; /* 0: by silhouettes */
    int64_t starts, iterations;
} cluster_settings;

typedef struct cluster_state {
    gram_cluster_options options;
    gram_cluster *cluster;
} cluster_state;

#define PLACE(field) offsetof(cluster_settings, field)

static const gram_option OPTIONS[] = {
    {.name = "k",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(k),
     .argument = "K",
     .help = "how many clusters (default 2); auto: the number from 2 to 10 with the largest silhouette",
     .otherwise = "2",
     .least = 1,
     .most = MOST_CLUSTERS,
     .flags = GRAM_OPTION_AUTO,
     .elsewhere = "scikit-learn n_clusters"},
    {.name = "starts",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(starts),
     .argument = "N",
     .help = "the best of N starts is taken (default 10)",
     .otherwise = "10",
     .least = 1,
     .most = MOST_STARTS,
     .elsewhere = "scikit-learn n_init"},
    {.name = "iterations",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(iterations),
     .argument = "N",
     .help = "at most N iterations of each start (default 300)",
     .otherwise = "300",
     .least = 1,
     .elsewhere = "scikit-learn max_iter"},
};

/* ---- the fit ---- */

static const struct {
    const char *what, *why;
} MATRIX[] = {
    [GRAM_CLUSTER_MATRIX_HELD] = {"K in memory", "it fits"},
    [GRAM_CLUSTER_MATRIX_CHEAP] = {"without K in memory", "of few columns it is made as fast as it would be read"},
    [GRAM_CLUSTER_MATRIX_LARGE] = {"without K in memory", "it does not fit"},
};

static gram_status plan_method(gram_learning *learning, gram_cluster_method method)
{
    gram_status status = GRAM_OK;
    const cluster_settings *own = learning->settings;
    const int64_t n = learning->data->n, k = own->k > 0 ? own->k : 10;
    const gram_cluster_matrix matrix = gram_cluster_choose_matrix(learning->context, method, n, learning->data->d);
    cluster_state *state = NULL;
    if (own->k > learning->n)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Ask for fewer.",
                                  "-k %" PRId64 " is more than the %" PRId64 " rows", own->k, learning->n);
    if (own->k == 0 && n < 3)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Give the number of clusters with -k.",
                                  "-k auto needs at least 3 rows");
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    gram_cluster_options_init(&state->options, sizeof state->options);
    state->options.method = method;
    state->options.clusters = own->k;
    state->options.starts = own->starts;
    state->options.iterations = own->iterations;
    state->options.weights = learning->data->weights;
    const double pairs = (double)n * (double)n, columns = (double)k * fmin((double)own->starts, 6);
    const double held = matrix == GRAM_CLUSTER_MATRIX_HELD ? 4.2 * pairs : 0;
    const double bytes = held + gram_kmeans_bytes(n, k, own->starts) + 24 * (double)n * (double)k;
    TRY(gram_learning_room(learning, bytes, "Use fewer rows, fewer --starts, or more --memory.", "the clusters of"));
    gram_learning_plan(learning, MATRIX[matrix].what, (size_t)bytes, 3e-9 * pairs + 3e-10 * pairs * columns,
                       MATRIX[matrix].why);
done:
    return status;
}

static gram_status plan_means(gram_learning *learning)
{
    return plan_method(learning, GRAM_CLUSTER_KMEANS);
}

static gram_status plan_spectrum(gram_learning *learning)
{
    return plan_method(learning, GRAM_CLUSTER_SPECTRAL);
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    cluster_state *state = learning->own;
    TRY(gram_learning_resolve(learning));
    status = gram_cluster_fit(learning->context, learning->kernel, learning->points, &state->options, &state->cluster);
    if (status == GRAM_ERROR_DATA && !gram_context_advice(learning->context)[0])
        return gram_advise(learning->context, status, "Ask for fewer clusters with -k, or use another kernel.");
done:
    return status;
}

static void forget(gram_learning *learning)
{
    cluster_state *state = learning->own;
    if (state) gram_cluster_destroy(state->cluster);
}

static gram_status values(gram_learning *learning, double *out, int64_t ldv)
{
    const cluster_state *state = learning->own;
    for (int64_t i = 0; i < learning->data->n; i++) out[i * ldv] = (double)(gram_cluster_labels(state->cluster)[i] + 1);
    return GRAM_OK;
}

/* ---- the model ---- */

static void keep_cluster(gram_keeper *keeper, const gram_cluster *cluster)
{
    const gram_cluster_report *report = gram_cluster_get_report(cluster);
    gram_keep_integer(keeper, "k", report->clusters);
    gram_keep_number(keeper, "objective", report->objective);
    gram_keep_number(keeper, "score", report->silhouette);
    gram_keep_integer(keeper, "score_rows", report->silhouette_rows);
    gram_keep_integer(keeper, "starts", report->starts);
    gram_keep_integer(keeper, "iterations", report->iterations);
    gram_keep_integer(keeper, "converged", report->converged);
    if (report->method == GRAM_CLUSTER_SPECTRAL) gram_keep_number(keeper, "residual", report->residual);
    gram_keep_array(keeper, "sizes", 1, report->clusters, gram_cluster_sizes(cluster));
    if (gram_cluster_centres(cluster))
        gram_keep_array(keeper, "cluster_centres", report->clusters, report->clusters, gram_cluster_centres(cluster));
}

static gram_status keep(gram_learning *learning)
{
    const cluster_state *state = learning->own;
    gram_keeper keeper = gram_keep_begin(learning, gram_cluster_function(state->cluster));
    keep_cluster(&keeper, state->cluster);
    gram_keep_tuning(&keeper, learning, NULL);
    return keeper.status;
}

static const double *centres_of(const gram_predictor *predictor, int64_t *rows, int64_t *columns)
{
    *rows = *columns = 0;
    return gram_model_array(predictor->model, "cluster_centres", rows, columns);
}

static gram_status open_label(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    int64_t rows, columns;
    const int64_t k = gram_function_outputs(gram_model_function(predictor->model));
    const double *centres = centres_of(predictor, &rows, &columns);
    if (centres && (rows != k || columns != k))
        return gram_predictor_damaged(context, predictor, "centres of another number of clusters");
    TRY(gram_predictor_refuse(context, predictor, 0, "It has labels only.", "clusters"));
    TRY(gram_predictor_column(context, predictor, "label", ""));
done:
    return status;
}

static gram_status open_spectral(gram_context *context, gram_predictor *predictor)
{
    int64_t rows, columns;
    if (!centres_of(predictor, &rows, &columns))
        return gram_predictor_damaged(context, predictor, "spectral clusters without their centres");
    return open_label(context, predictor);
}

static gram_status evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                            double *out, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const gram_function *function = gram_model_function(predictor->model);
    const int64_t k = gram_function_outputs(function);
    int64_t rows, columns;
    const double *centres = centres_of(predictor, &rows, &columns);
    double *outputs = NULL;
    TRY(gram_take(context, "predict", places->n * k, sizeof *outputs, (void **)&outputs));
    TRY(gram_function_evaluate(context, function, places->points, outputs, k));
    for (int64_t i = 0; i < places->n; i++)
        out[i * ldv] = (double)(gram_cluster_decide(k, centres, outputs + i * k) + 1);
done:
    gram_give(context, outputs);
    return status;
}

static void report_cluster(gram_report *report)
{
    gram_report_tuning(report);
    gram_report_row(report, "clusters");
    gram_report_part(report, "", "k", GRAM_WHOLE);
    gram_report_list(report, "  sizes", "sizes", GRAM_FINE);
    gram_report_row(report, "  silhouette");
    gram_report_part(report, "", "score", GRAM_FINE);
    gram_report_part(report, "rows", "score_rows", GRAM_WHOLE);
    gram_report_row(report, "solver");
    gram_report_part(report, "starts", "starts", GRAM_WHOLE);
    gram_report_part(report, "iterations", "iterations", GRAM_WHOLE);
    gram_report_part(report, "sum of squared distances", "objective", GRAM_FINE);
    gram_report_part(report, "residual", "residual", GRAM_ROUGH);
    if (gram_report_number(report, "converged") == 0) gram_report_add(report, ", not converged");
}

static const gram_verb VERB = {
    .name = "cluster",
    .summary = "clusters of rows: kernel k-means, spectral clustering",
    .operands = "DATA",
    .about =
        "Divides the rows of a table into clusters in the kernel's feature space. All columns are features, unless "
        "--features or\n"
        "--ignore choose; text columns become categories and numbers are standardised. Free numbers of the kernel "
        "are set by the\n"
        "median heuristic. -o writes a label, 1 to K, for each row of DATA, 1 being the largest cluster; with "
        "--model the clusters\n"
        "are kept, and `gram predict` gives new rows their labels.\n",
    .examples = "  gram cluster data.csv -k 3 -o labels.csv\n"
                "  gram cluster data.csv -k auto --json\n"
                "  gram cluster rings.csv -k 2 --method spectral --kernel 'rbf(ell=0.3)' --model rings.gram\n"
                "  gram predict rings.gram new.csv\n",
    .out = "write the labels of the rows to FILE",
    .pictures = "map",
};

const gram_method gram_method_kmeans = {
    .name = "kmeans",
    .title = "kernel k-means",
    .formula = "min sum_i |phi(x_i) - m_c(i)|^2 over labels c, m_c the mean of phi over cluster c:\n"
               "k(x, x) - (2/n_c) sum_(j in c) k(x, x_j) + (1/n_c^2) sum_(j, l in c) k(x_j, x_l)",
    .tasks = 1u << GRAM_TASK_CLUSTER,
    .first_for = 1u << GRAM_TASK_CLUSTER,
    .kernel = "rbf",
    .verb = &VERB,
    .python = {[GRAM_TASK_CLUSTER] = "KernelKMeans"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(cluster_settings),
    .plan = plan_means,
    .fit = fit,
    .keep = keep,
    .values = values,
    .forget = forget,
    .open = open_label,
    .evaluate = evaluate,
    .report = report_cluster,
};

const gram_method gram_method_spectral = {
    .name = "spectral",
    .title = "spectral clustering",
    .formula = "k-means of the rows, scaled to length 1, of the leading eigenvectors of D^(-1/2) K D^(-1/2),  D_ii = "
               "sum_j k(x_i, x_j)",
    .tasks = 1u << GRAM_TASK_CLUSTER,
    .kernel = "rbf",
    .verb = &VERB,
    .python = {[GRAM_TASK_CLUSTER] = "SpectralClustering"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(cluster_settings),
    .plan = plan_spectrum,
    .fit = fit,
    .keep = keep,
    .values = values,
    .forget = forget,
    .open = open_spectral,
    .evaluate = evaluate,
    .report = report_cluster,
};

gram_status gram_cluster_model(gram_context *context, const gram_cluster *cluster, gram_preparation *preparation,
                               gram_model **model)
{
    const gram_cluster_report *report = gram_cluster_get_report(cluster);
    const gram_method *method = report->method == GRAM_CLUSTER_SPECTRAL ? &gram_method_spectral : &gram_method_kmeans;
    gram_keeper keeper =
        gram_keep_fit(context, method, GRAM_TASK_CLUSTER, preparation, gram_cluster_function(cluster), report->n);
    keep_cluster(&keeper, cluster);
    return gram_keep_end(&keeper, model);
}
