/* Clusters of points in the kernel's feature space.
 *
 *     kmeans     minimises sum_i w_i |phi(x_i) - m_c(i)|^2 over the labels c, m_c being the weighted mean of cluster c: Lloyd's
 *                iterations on K alone, d^2 = k(x_i, x_i) - 2 (K z_c)_i + z_c' K z_c (Dhillon, Guan and Kulis 2004), from
 *                greedy k-means++ starts (Arthur and Vassilvitskii 2007). With the linear kernel this is ordinary k-means.
 *     spectral   the first eigenvectors of D^(-1/2) K D^(-1/2), D the row sums of K, with rows scaled to length 1, then k-means of the
 *                rows (Ng, Jordan and Weiss 2001): clusters are what K connects, of any shape. Needs K with positive row sums.
 *
 * New points: kmeans gives x to the cluster whose mean is nearest, the one with the largest 2 <phi(x), m_c> - |m_c|^2; spectral
 * extends the eigenvectors to x by Nystroem's formula and takes the nearest centre. Points of the sample keep their labels but where
 * distances are equal to rounding.
 *
 * The first iteration takes O(n^2 (d + k starts)), later ones the share of it that rows that changed their cluster are of all; starts
 * go through K together. K is held in memory (half of n^2 numbers) if that fits in half of the budget, but by kmeans only above 32
 * columns: below it is made as fast as it would be read. Clusters are numbered by size, the largest first.
 *
 * Common failures: GRAM_ERROR_ARGUMENT; GRAM_ERROR_DATA if there are fewer different points than clusters, or if a row sum of
 * spectral is not positive; what <gram/matrix.h> lists; GRAM_ERROR_BUDGET, GRAM_ERROR_MEMORY, GRAM_ERROR_CANCELLED. */
#ifndef GRAM_CLUSTER_H
#define GRAM_CLUSTER_H

#include <gram/model.h>

GRAM_BEGIN

typedef enum gram_cluster_method { GRAM_CLUSTER_KMEANS = 0, GRAM_CLUSTER_SPECTRAL = 1 } gram_cluster_method;

typedef struct gram_cluster_options {
    size_t size;
    gram_cluster_method method;
    int64_t clusters; /* 2 to n, or 1; default 2; 0: the number from 2 to most_clusters with the largest silhouette */
    int64_t most_clusters; /* default 10, and at most n - 1 */
    int64_t starts;        /* the best of so many is taken; default 10 */
    int64_t iterations;    /* of a start at most; default 300 */
    const double *weights; /* n, at least 0, not all 0; NULL: all 1 */
    const int64_t *first;  /* of kmeans: `clusters` rows that are the first means, one start; NULL: k-means++ */
} gram_cluster_options;

GRAM_API void gram_cluster_options_init(gram_cluster_options *options, size_t size);

typedef struct gram_cluster_report {
    size_t size;
    int64_t n, clusters;
    gram_cluster_method method;
    double objective;        /* sum of weighted squared distances to the means (of spectral: of the scaled rows) */
    double silhouette;       /* the mean of (b - a)/max(a, b) by distances in feature space; NaN for one cluster */
    int64_t silhouette_rows; /* drawn to estimate it: all, or 2000 */
    int64_t starts, best_start;
    int64_t iterations; /* of the best start */
    int converged;      /* its labels did not change any more */
    double residual;    /* spectral: of the eigenvectors, relative; else 0 */
} gram_cluster_report;

typedef struct gram_cluster gram_cluster;

/* Finds the clusters; the kernel must be complete. Options may be NULL. GRAM_NOT_CONVERGED comes with what the last iteration left.
 * The caller destroys the result (takes NULL). The same for any number of threads; starts are drawn by the context's seed. */
GRAM_API gram_status gram_cluster_fit(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                      const gram_cluster_options *options, gram_cluster **cluster);
GRAM_API void gram_cluster_destroy(gram_cluster *cluster);

/* All belong to the result. */
GRAM_API const gram_cluster_report *gram_cluster_get_report(const gram_cluster *cluster);
GRAM_API const int64_t *gram_cluster_labels(const gram_cluster *cluster); /* n, from 0 */
GRAM_API const double *gram_cluster_sizes(const gram_cluster *cluster);   /* of each cluster: the sum of its weights */
/* kmeans: one output for each cluster, the largest is the label. spectral: the extended eigenvectors, and below the centres of their
 * scaled rows, clusters x clusters. */
GRAM_API gram_function *gram_cluster_function(const gram_cluster *cluster);
GRAM_API const double *gram_cluster_centres(const gram_cluster *cluster); /* NULL for kmeans */

/* labels[i] = the cluster of point i. O(n m d), m the points that it was made of. */
GRAM_API gram_status gram_cluster_assign(gram_context *context, const gram_cluster *cluster, const gram_points *x,
                                         int64_t *labels);

/* The result as a model that `gram predict` and `gram info` know; the preparation may be NULL. The caller destroys it. */
GRAM_API gram_status gram_cluster_model(gram_context *context, const gram_cluster *cluster,
                                        gram_preparation *preparation, gram_model **model);

GRAM_END

#endif
