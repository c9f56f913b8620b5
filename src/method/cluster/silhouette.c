/* How well clusters are apart: the mean silhouette (Rousseeuw 1987), by distances in feature space.
 *
 * For row i, a is the mean distance to the other rows of its cluster, b the least mean distance to those of another; the
 * silhouette is (b - a)/max(a, b), 0 for a cluster of one row. Above ROWS rows it is that of ROWS of them, drawn. */
#include <math.h>

#include <gram/random.h>

#include "method/cluster/cluster.h"
#include "points/points.h"

enum { ROWS = 2000, STREAM = 0x73696c68 /* "silh" */ };

/* Rows to look at, in order: all of them or ROWS drawn. The caller gives them back. */
static gram_status choose_rows(gram_context *context, int64_t n, int64_t **rows, int64_t *count)
{
    gram_status status = GRAM_OK;
    int64_t *order = NULL;
    *count = n < ROWS ? n : ROWS;
    TRY(gram_take(context, "cluster: rows", *count, sizeof **rows, (void **)rows));
    TRY(gram_take(context, "cluster: rows", n, sizeof *order, (void **)&order));
    gram_random_permutation((gram_random){context->seed, STREAM}, 0, n, order);
    for (int64_t i = 0; i < *count; i++) (*rows)[i] = n <= ROWS ? i : order[i];
done:
    gram_give(context, order);
    return status;
}

/* sums: `clusters` zeros, for scratch */
static double silhouette(int64_t count, int64_t clusters, const int64_t *labels, const int64_t *members, int64_t i,
                         const double *distance, double *sums)
{
    double other = INFINITY;
    const int64_t own = labels[i];
    for (int64_t c = 0; c < clusters; c++) sums[c] = 0;
    for (int64_t j = 0; j < count; j++) sums[labels[j]] += distance[j];
    if (members[own] < 2) return 0;
    for (int64_t c = 0; c < clusters; c++)
        if (c != own && members[c] > 0) other = fmin(other, sums[c] / (double)members[c]);
    const double inner = sums[own] / (double)(members[own] - 1), most = fmax(inner, other);
    return isfinite(other) && most > 0 ? (other - inner) / most : 0;
}

static gram_status mean_silhouette(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                   int64_t clusters, const int64_t *labels, double *mean)
{
    enum { BLOCK = 192 }; /* rows at once: work for several threads */
    gram_status status = GRAM_OK;
    const int64_t n = gram_points_count(x), d = gram_points_dimension(x);
    double *distance = NULL, *sums = NULL, *some = NULL;
    int64_t *members = NULL;
    gram_points *block = NULL;
    TRY(gram_take(context, "cluster: distances", n * BLOCK, sizeof *distance, (void **)&distance));
    TRY(gram_take(context, "cluster", clusters, sizeof *sums, (void **)&sums));
    TRY(gram_take(context, "cluster", clusters, sizeof *members, (void **)&members));
    TRY(gram_take(context, "cluster", BLOCK * d, sizeof *some, (void **)&some));
    for (int64_t c = 0; c < clusters; c++) members[c] = 0;
    for (int64_t i = 0; i < n; i++) members[labels[i]]++;
    *mean = 0;
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t count = n - first < BLOCK ? n - first : BLOCK;
        for (int64_t i = 0; i < count * d; i++) some[i] = gram_points_cell(x, first + i / d, i % d);
        TRY(gram_points_create_like(context, x, count, some, 0, &block));
        TRY(gram_matrix_distance(context, kernel, block, x, distance, n));
        gram_points_release(block);
        block = NULL;
        for (int64_t i = 0; i < count; i++)
            *mean += silhouette(n, clusters, labels, members, first + i, distance + i * n, sums) / (double)n;
    }
done:
    gram_points_release(block);
    gram_give(context, some);
    gram_give(context, members);
    gram_give(context, sums);
    gram_give(context, distance);
    return status;
}

gram_status gram_cluster_silhouette(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                    int64_t clusters, const int64_t *labels, double *mean, int64_t *rows)
{
    gram_status status = GRAM_OK;
    const int64_t n = gram_points_count(x), d = gram_points_dimension(x);
    int64_t *chosen = NULL, *some_labels = NULL;
    double *data = NULL;
    gram_points *some = NULL;
    TRY(choose_rows(context, n, &chosen, rows));
    TRY(gram_take(context, "cluster: labels", *rows, sizeof *some_labels, (void **)&some_labels));
    TRY(gram_take(context, "cluster: points", *rows * d, sizeof *data, (void **)&data));
    for (int64_t i = 0; i < *rows * d; i++) data[i] = gram_points_cell(x, chosen[i / d], i % d);
    for (int64_t i = 0; i < *rows; i++) some_labels[i] = labels[chosen[i]];
    TRY(gram_points_create_like(context, x, *rows, data, 0, &some));
    TRY(mean_silhouette(context, kernel, some, clusters, some_labels, mean));
done:
    gram_points_release(some);
    gram_give(context, data);
    gram_give(context, some_labels);
    gram_give(context, chosen);
    return status;
}
