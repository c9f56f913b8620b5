/* Clusters: options, K, the two ways to find them, the number of clusters by silhouettes, and what is made of new points. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sized_struct.h"
#include "function/function.h"
#include "method/cluster/cluster.h"
#include "points/functionals.h"

static const gram_cluster_options DEFAULTS = {
    .size = sizeof DEFAULTS, .clusters = 2, .most_clusters = 10, .starts = 10, .iterations = 300};

void gram_cluster_options_init(gram_cluster_options *options, size_t size)
{
    gram_sized_init(options, size, &DEFAULTS, sizeof DEFAULTS);
}

/* ---- K ---- */

/* k-means of few columns makes an entry of K about as fast as it is read from memory, and fresh memory costs more than either.
 * Measured, processor time with K held and without, 10 clusters of 10 starts: n = 20,000, d = 10: 13.2 and 7.9 s; n = 4,000, d = 10:
 * 0.62 and 0.48 s; n = 8,000, d = 100: 1.9 and 5.2 s. The eigenvectors of spectral need more products. */
gram_cluster_matrix gram_cluster_choose_matrix(const gram_context *context, gram_cluster_method method, int64_t n,
                                               int64_t d)
{
    enum { FEW_COLUMNS = 32 };
    const size_t budget = gram_memory_budget(context->memory);
    if (method == GRAM_CLUSTER_KMEANS && d <= FEW_COLUMNS) return GRAM_CLUSTER_MATRIX_CHEAP;
    return budget == 0 || 4.2 * (double)n * (double)n < (double)budget / 2 ? GRAM_CLUSTER_MATRIX_HELD
                                                                           : GRAM_CLUSTER_MATRIX_LARGE;
}

static gram_status make_operator(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                 gram_cluster_method method, gram_operator **op)
{
    gram_points *points = (gram_points *)x; /* counted, never changed */
    const int64_t n = gram_points_count(x), d = gram_points_dimension(x);
    return gram_cluster_choose_matrix(context, method, n, d) == GRAM_CLUSTER_MATRIX_HELD
               ? gram_operator_create_packed(context, kernel, points, op)
               : gram_operator_create_free(context, kernel, points, op);
}

/* ---- k-means ---- */

/* Outputs 2 <phi(x), m_c> - |m_c|^2. */
static gram_status make_function(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t k,
                                 const double *weights, double *squares, gram_cluster *cluster)
{
    gram_status status = GRAM_OK;
    const int64_t n = gram_points_count(x);
    double *a = NULL;
    TRY(gram_take(context, "cluster: coefficients", n * k, sizeof *a, (void **)&a));
    memset(a, 0, (size_t)(n * k) * sizeof *a);
    for (int64_t i = 0; i < n; i++) {
        const int64_t c = cluster->labels[i];
        a[i * k + c] = 2 * (weights ? weights[i] : 1) / cluster->sizes[c];
    }
    for (int64_t c = 0; c < k; c++) squares[c] = -squares[c];
    TRY(gram_function_create(context, kernel, x, k, a, k, squares, &cluster->function));
done:
    gram_give(context, a);
    return status;
}

gram_status gram_cluster_by_means(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                  const gram_operator *k, const gram_cluster_options *options, gram_cluster *cluster)
{
    gram_status status = GRAM_OK;
    double *squares = NULL;
    gram_kmeans run = {.a = k,
                       .clusters = options->clusters,
                       .starts = options->starts,
                       .iterations = options->iterations,
                       .weights = options->weights,
                       .first = options->first,
                       .labels = cluster->labels,
                       .sizes = cluster->sizes};
    TRY(gram_take(context, "cluster", options->clusters, sizeof *squares, (void **)&squares));
    run.squares = squares;
    const gram_status found = gram_kmeans_run(context, &run);
    TRY(found);
    cluster->report.objective = run.objective;
    cluster->report.iterations = run.used;
    cluster->report.best_start = run.best_start;
    cluster->report.converged = run.converged;
    TRY(make_function(context, kernel, x, options->clusters, options->weights, squares, cluster));
    status = found;
done:
    gram_give(context, squares);
    return status;
}

/* ---- one fit ---- */

void gram_cluster_destroy(gram_cluster *cluster)
{
    if (!cluster) return;
    gram_memory *memory = cluster->memory;
    gram_function_release(cluster->function);
    gram_memory_give(memory, cluster->centres);
    gram_memory_give(memory, cluster->sizes);
    gram_memory_give(memory, cluster->labels);
    gram_memory_give(memory, cluster);
    gram_memory_release(memory);
}

static gram_status make_cluster(gram_context *context, int64_t n, const gram_cluster_options *o, gram_cluster **out)
{
    gram_status status = GRAM_OK;
    const int spectral = o->method == GRAM_CLUSTER_SPECTRAL;
    gram_cluster *made = NULL;
    TRY(gram_take(context, "cluster_fit", 1, sizeof *made, (void **)&made));
    *made = (gram_cluster){.memory = gram_memory_retain(context->memory)};
    *out = made;
    made->report = (gram_cluster_report){.size = sizeof made->report,
                                         .n = n,
                                         .clusters = o->clusters,
                                         .method = o->method,
                                         .silhouette = NAN,
                                         .starts = o->first ? 1 : o->starts};
    TRY(gram_take(context, "cluster_fit: labels", n, sizeof *made->labels, (void **)&made->labels));
    TRY(gram_take(context, "cluster_fit: sizes", o->clusters, sizeof *made->sizes, (void **)&made->sizes));
    if (spectral)
        TRY(gram_take(context, "cluster_fit: centres", o->clusters * o->clusters, sizeof *made->centres,
                      (void **)&made->centres));
done:
    return status;
}

/* A given number of clusters. */
static gram_status fit_number(gram_context *context, gram_kernel *kernel, const gram_points *x, gram_operator *k,
                              const gram_cluster_options *o, gram_cluster **out)
{
    gram_status status = GRAM_OK, found = GRAM_OK;
    TRY(make_cluster(context, gram_points_count(x), o, out));
    if (o->method == GRAM_CLUSTER_SPECTRAL)
        TRY(found = gram_cluster_by_spectrum(context, kernel, x, k, o, *out));
    else
        TRY(found = gram_cluster_by_means(context, kernel, x, k, o, *out));
    gram_cluster_report *report = &(*out)->report;
    if (o->clusters > 1)
        TRY(gram_cluster_silhouette(context, kernel, x, o->clusters, (*out)->labels, &report->silhouette,
                                    &report->silhouette_rows));
    status = found;
done:
    if (status < 0) {
        gram_cluster_destroy(*out);
        *out = NULL;
    }
    return status;
}

/* The number of clusters with the largest silhouette; the least of equal ones. */
static gram_status fit_best(gram_context *context, gram_kernel *kernel, const gram_points *x, gram_operator *k,
                            const gram_cluster_options *o, gram_cluster **out)
{
    gram_status status = GRAM_OK, best = GRAM_OK;
    const int64_t n = gram_points_count(x), most = o->most_clusters < n - 1 ? o->most_clusters : n - 1;
    gram_cluster_options some = *o;
    for (some.clusters = 2; some.clusters <= most; some.clusters++) {
        gram_cluster *next = NULL;
        status = fit_number(context, kernel, x, k, &some, &next);
        if (status == GRAM_ERROR_DATA && *out) break; /* no more points that differ */
        if (status < 0) goto done;
        const int better = !*out || next->report.silhouette > (*out)->report.silhouette;
        gram_cluster_destroy(better ? *out : next);
        if (better) *out = next, best = status;
    }
    status = best;
done:
    return status;
}

static gram_status check_weights(gram_context *context, int64_t n, const double *weights)
{
    gram_status status = GRAM_OK;
    double sum = 0;
    char shown[GRAM_NUMBER_SIZE];
    for (int64_t i = 0; weights && i < n; i++) {
        FAIL_IF(!(weights[i] >= 0 && isfinite(weights[i])), context, GRAM_ERROR_ARGUMENT,
                "cluster_fit: weights[%" PRId64 "] is %s", i, gram_number_format(weights[i], shown));
        sum += weights[i];
    }
    FAIL_IF(weights && !(sum > 0), context, GRAM_ERROR_ARGUMENT, "cluster_fit: all weights are 0");
done:
    return status;
}

static gram_status check(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                         const gram_cluster_options *o)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!kernel || !x, context, GRAM_ERROR_ARGUMENT, "cluster_fit: %s is NULL", !kernel ? "kernel" : "x");
    const int64_t n = gram_points_count(x);
    FAIL_IF(o->clusters < 0 || o->clusters > n, context, GRAM_ERROR_ARGUMENT,
            "cluster_fit: clusters = %" PRId64 " is not from 1 to the %" PRId64 " points", o->clusters, n);
    FAIL_IF(o->clusters == 0 && (o->most_clusters < 2 || n < 3), context, GRAM_ERROR_ARGUMENT,
            "cluster_fit: a number of clusters cannot be chosen with most_clusters = %" PRId64 " and %" PRId64
            " points",
            o->most_clusters, n);
    FAIL_IF(o->starts < 1 || o->iterations < 1, context, GRAM_ERROR_ARGUMENT,
            "cluster_fit: starts = %" PRId64 " and iterations = %" PRId64 " must be at least 1", o->starts,
            o->iterations);
    FAIL_IF((int)o->method < 0 || o->method > GRAM_CLUSTER_SPECTRAL, context, GRAM_ERROR_ARGUMENT,
            "cluster_fit: method = %d is not known", (int)o->method);
    for (int64_t c = 0; o->first && c < o->clusters; c++)
        FAIL_IF(o->first[c] < 0 || o->first[c] >= n, context, GRAM_ERROR_ARGUMENT,
                "cluster_fit: first[%" PRId64 "] = %" PRId64 " is not a row", c, o->first[c]);
    TRY(check_weights(context, n, o->weights));
    TRY(gram_function_check_kernel(context, kernel, gram_points_dimension(x)));
done:
    return status;
}

gram_status gram_cluster_fit(gram_context *context, gram_kernel *kernel, const gram_points *x,
                             const gram_cluster_options *options, gram_cluster **cluster)
{
    gram_status status = GRAM_OK;
    gram_cluster_options o = DEFAULTS;
    gram_operator *k = NULL;
    if (!context || !cluster) return GRAM_ERROR_ARGUMENT;
    *cluster = NULL;
    TRY(gram_sized_read(context, "cluster_fit", "options", "gram_cluster_options", options, &o, sizeof o));
    TRY(check(context, kernel, x, &o));
    TRY(gram_points_must_be_plain(context, "cluster_fit", x));
    TRY(make_operator(context, kernel, x, o.method, &k));
    status = (o.clusters > 0 ? fit_number : fit_best)(context, kernel, x, k, &o, cluster);
done:
    gram_operator_release(k);
    if (status < 0 && cluster) {
        gram_cluster_destroy(*cluster);
        *cluster = NULL;
    }
    return status;
}

/* ---- what it is ---- */

const gram_cluster_report *gram_cluster_get_report(const gram_cluster *cluster)
{
    return cluster ? &cluster->report : NULL;
}

const int64_t *gram_cluster_labels(const gram_cluster *cluster)
{
    return cluster ? cluster->labels : NULL;
}

const double *gram_cluster_sizes(const gram_cluster *cluster)
{
    return cluster ? cluster->sizes : NULL;
}

gram_function *gram_cluster_function(const gram_cluster *cluster)
{
    return cluster ? cluster->function : NULL;
}

const double *gram_cluster_centres(const gram_cluster *cluster)
{
    return cluster ? cluster->centres : NULL;
}

gram_status gram_cluster_assign(gram_context *context, const gram_cluster *cluster, const gram_points *x,
                                int64_t *labels)
{
    gram_status status = GRAM_OK;
    double *outputs = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!cluster || !x || !labels, context, GRAM_ERROR_ARGUMENT, "cluster_assign: %s is NULL",
            !cluster ? "cluster"
            : !x     ? "x"
                     : "labels");
    TRY(gram_points_must_be_plain(context, "cluster_assign", x));
    const int64_t n = gram_points_count(x), k = cluster->report.clusters;
    TRY(gram_take(context, "cluster_assign", n * k, sizeof *outputs, (void **)&outputs));
    TRY(gram_function_evaluate(context, cluster->function, x, outputs, k));
    for (int64_t i = 0; i < n; i++) labels[i] = gram_cluster_decide(k, cluster->centres, outputs + i * k);
done:
    gram_give(context, outputs);
    return status;
}
