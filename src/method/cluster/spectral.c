/* Spectral clustering: eigenvectors of D^(-1/2) K D^(-1/2), their rows scaled to length 1, k-means of the rows.
 *
 * K is read as the weights of a graph, D_ii = sum_j K_ij. If the graph fell apart into k parts the first k eigenvectors would span
 * their indicators, and scaled rows of one part would coincide (Ng, Jordan and Weiss 2001). To a new point x the eigenvectors
 * extend as sum_i k(x, x_i) v_is/(l_s sqrt(D_ii)), up to 1/sqrt(D(x)), which the scaling takes out; at x_i itself this is
 * sqrt(D_ii) v_is. */
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "method/cluster/cluster.h"
#include "solve/eigen/leading_eigen.h"

static gram_status check_degrees(gram_context *context, int64_t n, const double *degrees)
{
    for (int64_t i = 0; i < n; i++) {
        char shown[GRAM_NUMBER_SIZE];
        if (degrees[i] > 0 && isfinite(degrees[i])) continue;
        return gram_fail_place(
            context, GRAM_ERROR_DATA, i, -1,
            "cluster: the kernel's entries of point %lld sum up to %s: spectral clustering needs a sum "
            "above 0",
            (long long)i, gram_number_format(degrees[i], shown));
    }
    return GRAM_OK;
}

/* factors = 1/sqrt(row sums) */
static gram_status find_factors(gram_context *context, const gram_operator *k, double *factors)
{
    gram_status status = GRAM_OK;
    const int64_t n = gram_operator_size(k);
    double *ones = NULL;
    TRY(gram_take(context, "cluster: row sums", n, sizeof *ones, (void **)&ones));
    for (int64_t i = 0; i < n; i++) ones[i] = 1;
    TRY(gram_operator_apply(context, k, 1, ones, 1, factors, 1));
    TRY(check_degrees(context, n, factors));
    for (int64_t i = 0; i < n; i++) factors[i] = 1 / sqrt(factors[i]);
done:
    gram_give(context, ones);
    return status;
}

static void scale_row(int64_t k, const double *row, double *out)
{
    double sum = 0;
    for (int64_t s = 0; s < k; s++) sum += row[s] * row[s];
    for (int64_t s = 0; s < k; s++) out[s] = sum > 0 ? row[s] / sqrt(sum) : 0;
}

/* The weighted means of the scaled rows. */
static void find_centres(int64_t n, int64_t k, const double *rows, const double *weights, const gram_cluster *cluster)
{
    memset(cluster->centres, 0, (size_t)(k * k) * sizeof *cluster->centres);
    for (int64_t i = 0; i < n; i++)
        for (int64_t s = 0; s < k; s++)
            cluster->centres[cluster->labels[i] * k + s] += (weights ? weights[i] : 1) * rows[i * k + s];
    for (int64_t c = 0; c < k; c++)
        for (int64_t s = 0; s < k; s++) cluster->centres[c * k + s] /= cluster->sizes[c];
}

int64_t gram_cluster_decide(int64_t clusters, const double *centres, const double *outputs)
{
    int64_t best = 0;
    double most = -INFINITY, length = 0;
    for (int64_t s = 0; s < clusters; s++) length += outputs[s] * outputs[s];
    for (int64_t c = 0; c < clusters; c++) {
        double score = centres ? 0 : outputs[c];
        for (int64_t s = 0; centres && s < clusters; s++) { /* 2 <row, centre> - |centre|^2 */
            const double centre = centres[c * clusters + s], row = length > 0 ? outputs[s] / sqrt(length) : 0;
            score += (2 * row - centre) * centre;
        }
        if (score > most) most = score, best = c;
    }
    return best;
}

/* The first `clusters` eigenvectors, n x clusters; what they take to be extended is left in vectors. */
static gram_status find_vectors(gram_context *context, gram_operator *k, const double *factors, int64_t clusters,
                                double *values, double *vectors, double *residual)
{
    gram_status status = GRAM_OK;
    gram_operator *scaled = NULL;
    TRY(gram_operator_create_scaled(context, k, factors, &scaled));
    gram_leading run = {.a = scaled, .count = clusters, .values = values, .vectors = vectors};
    status = gram_leading_run(context, &run);
    if (status == GRAM_NOT_CONVERGED)
        status = gram_fail(context, GRAM_ERROR_NUMERICAL,
                           "cluster: the eigenvectors did not converge: after %lld products the residual is %.2g",
                           (long long)run.columns, run.residual);
    *residual = run.residual;
    FAIL_IF(status >= 0 && !(values[clusters - 1] > 1e-12), context, GRAM_ERROR_DATA,
            "cluster: the matrix of the kernel has fewer than %lld eigenvalues above rounding", (long long)clusters);
done:
    gram_operator_release(scaled);
    return status;
}

gram_status gram_cluster_by_spectrum(gram_context *context, gram_kernel *kernel, const gram_points *x, gram_operator *k,
                                     const gram_cluster_options *options, gram_cluster *cluster)
{
    gram_status status = GRAM_OK;
    const int64_t n = gram_points_count(x), m = options->clusters;
    double *factors = NULL, *values = NULL, *vectors = NULL, *rows = NULL, *squares = NULL;
    gram_operator *features = NULL;
    gram_kmeans run = {.clusters = m, .starts = options->starts, .iterations = options->iterations};
    TRY(gram_take(context, "cluster", n, sizeof *factors, (void **)&factors));
    TRY(gram_take(context, "cluster", 2 * m, sizeof *values, (void **)&values));
    TRY(gram_take(context, "cluster: eigenvectors", n * m, sizeof *vectors, (void **)&vectors));
    TRY(gram_take(context, "cluster: rows", n * m, sizeof *rows, (void **)&rows));
    squares = values + m;
    TRY(find_factors(context, k, factors));
    TRY(find_vectors(context, k, factors, m, values, vectors, &cluster->report.residual));
    for (int64_t i = 0; i < n; i++) scale_row(m, vectors + i * m, rows + i * m);
    TRY(gram_operator_create_factor(context, n, m, rows, m, &features));
    run.a = features;
    run.weights = options->weights;
    run.labels = cluster->labels;
    run.sizes = cluster->sizes;
    run.squares = squares;
    TRY(gram_kmeans_run(context, &run));
    cluster->report.objective = run.objective;
    cluster->report.iterations = run.used;
    cluster->report.best_start = run.best_start;
    cluster->report.converged = run.converged;
    find_centres(n, m, rows, options->weights, cluster);
    for (int64_t i = 0; i < n; i++)
        for (int64_t s = 0; s < m; s++) vectors[i * m + s] *= factors[i] / values[s];
    const gram_status fitted = status;
    TRY(gram_function_create(context, kernel, x, m, vectors, m, NULL, &cluster->function));
    status = fitted;
done:
    gram_operator_release(features);
    gram_give(context, rows);
    gram_give(context, vectors);
    gram_give(context, values);
    gram_give(context, factors);
    return status;
}
