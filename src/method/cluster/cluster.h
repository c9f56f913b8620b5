/* Between the files of clustering. */
#ifndef GRAM_METHOD_CLUSTER_CLUSTER_H
#define GRAM_METHOD_CLUSTER_CLUSTER_H

#include <gram/cluster.h>
#include <gram/operator.h>

#include "base/context.h"

struct gram_cluster {
    gram_memory *memory;
    gram_function *function;
    gram_cluster_report report;
    int64_t *labels; /* n */
    double *sizes;   /* clusters */
    double *centres; /* spectral: clusters x clusters */
};

/* k-means of the points whose inner products an operator has. */
typedef struct gram_kmeans {
    const gram_operator *a;
    int64_t clusters, starts, iterations;
    const double *weights; /* n, or NULL */
    const int64_t *first;  /* rows of the first means, or NULL */
    /* results: */
    int64_t *labels; /* n, the caller's */
    double *sizes;   /* clusters, the caller's: sums of weights, from the largest down */
    double *squares; /* clusters, the caller's: |m_c|^2 */
    double objective;
    int64_t used, best_start;
    int converged;
} gram_kmeans;

/* GRAM_NOT_CONVERGED leaves what the best start had; GRAM_ERROR_DATA if fewer points than clusters differ. */
gram_status gram_kmeans_run(gram_context *context, gram_kmeans *run);

/* Bytes that it takes beside the operator. */
double gram_kmeans_bytes(int64_t n, int64_t clusters, int64_t starts);

/* K in memory, if it takes at most half of the budget and to make it anew takes longer than to read it. */
typedef enum gram_cluster_matrix {
    GRAM_CLUSTER_MATRIX_HELD,
    GRAM_CLUSTER_MATRIX_CHEAP, /* not held: made as fast as it is read */
    GRAM_CLUSTER_MATRIX_LARGE, /* not held: it does not fit */
} gram_cluster_matrix;
gram_cluster_matrix gram_cluster_choose_matrix(const gram_context *context, gram_cluster_method method, int64_t n,
                                               int64_t d);

/* One fit of `options->clusters` clusters, K given: fills labels, sizes, function, centres and the report but for silhouettes. */
gram_status gram_cluster_by_means(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                  const gram_operator *k, const gram_cluster_options *options, gram_cluster *cluster);
gram_status gram_cluster_by_spectrum(gram_context *context, gram_kernel *kernel, const gram_points *x, gram_operator *k,
                                     const gram_cluster_options *options, gram_cluster *cluster);

/* The label that `clusters` outputs of the function stand for; centres as of the result. */
int64_t gram_cluster_decide(int64_t clusters, const double *centres, const double *outputs);

/* The mean silhouette, by distances in feature space; rows that were looked at in *rows. */
gram_status gram_cluster_silhouette(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                    int64_t clusters, const int64_t *labels, double *mean, int64_t *rows);

#endif
