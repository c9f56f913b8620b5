/* What the files of the MMD share.
 *
 * With C the pooled sample's K, centred so that the sums over j != i of each row vanish (pair_sums.h), and
 *
 *     q = sum over i > j, both in the first sample, of C_ij,
 *
 * the sums over the second sample's pairs and over the mixed pairs follow: 2q and -2q. Hence
 *
 *     U = 2 q (1/(n(n-1)) + 1/(m(m-1)) + 2/(nm)),
 *     V = 2 q (1/n + 1/m)^2 + sum_x C_ii/n^2 + sum_y C_ii/m^2,
 *
 * and a permuted statistic needs a sum over one subset of the points only. Under random labels q has mean 0 and variance
 * S (p_2 - 2 p_3 + p_4), S = sum over i > j of C_ij^2, p_k = n(n-1)...(n-k+1)/(N(N-1)...(N-k+1)): products of C over pairs that
 * share a point sum up to -2S, over disjoint pairs to S, because the rows vanish. */
#ifndef GRAM_TEST_TWO_SAMPLE_MMD_H
#define GRAM_TEST_TWO_SAMPLE_MMD_H

#include <gram/mmd.h>

#include "points/pooled_points.h"
#include "tile/pair_sums.h"

/* The statistic as a function of q and of the sum of C_ii over the first sample. */
typedef struct gram_mmd_scale {
    double slope;    /* of q */
    double diagonal; /* of sum_x C_ii */
    double shift;
} gram_mmd_scale;

gram_mmd_scale gram_mmd_scaling(const gram_pairs *pairs, int64_t n, int64_t m, int biased);

/* Values that differ by less than this are equal: rounding in the sum for q, and then some. */
double gram_mmd_tie(const gram_pairs *pairs, int64_t n, const gram_mmd_scale *scale);

/* A test at work. */
typedef struct gram_mmd_task {
    gram_pool pool;
    gram_kernel *kernel; /* resolved */
    int given;           /* the caller chose it */
    const gram_mmd_options *options;
    gram_mmd_result *result;
} gram_mmd_task;

/* The statistic of the labels as they are, in f64. */
gram_status gram_mmd_observed(gram_context *context, const gram_pairs *pairs, int64_t n, const gram_mmd_scale *scale,
                              double *statistic);

/* Standard deviation of q under random labels; 0 if C is 0 but for rounding. */
double gram_mmd_deviation(const gram_pairs *pairs, int64_t n);
/* The same for one of several looks; 0 if its entries off the diagonal are so small that it sees every point alone. */
double gram_mmd_look_deviation(const gram_pairs *pairs, int64_t n, int64_t look_count);

/* What is known of the values of blocks: their mean, and the sums of the second and third powers of the differences from it. */
typedef struct gram_block_moments {
    int64_t count;
    double mean, squares, cubes;
} gram_block_moments;

/* Adds the values of the n/block whole blocks of pairs (x_i, y_i), row i of both (mmd_blocks.c). */
gram_status gram_mmd_add_blocks(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                const gram_points *y, int64_t block, gram_block_moments *moments);

/* The standard error of the mean, NaN below two blocks; and the p-value of the hypothesis that it is 0. */
double gram_block_error(const gram_block_moments *moments);
double gram_block_p_value(const gram_block_moments *moments);

/* A look at both samples: a kernel, and the points of the pool as it sees them. */
typedef struct gram_mmd_look {
    gram_kernel *kernel;
    const gram_points *points;
} gram_mmd_look;

/* What came of it. */
typedef struct gram_mmd_seen {
    double statistic, z, p_value; /* of the observed labels, in f64; the p-value of this look alone */
    int blind;                    /* it could not tell the points' distances from rounding */
} gram_mmd_seen;

/* The permutation test of all looks at once: p_value, permutations and redone of the result, and what each look saw. */
gram_status gram_mmd_permute(gram_context *context, const gram_mmd_task *task, int64_t look_count,
                             const gram_mmd_look *looks, gram_mmd_seen *seen);
/* The same for large samples, whose rows change labels in groups; and whether they are large (mmd_groups.c). */
gram_status gram_mmd_permute_groups(gram_context *context, const gram_mmd_task *task, int64_t look_count,
                                    const gram_mmd_look *looks, gram_mmd_seen *seen);
int gram_mmd_groups_fit(const gram_mmd_task *task);

/* The methods; each fills statistic, p_value and what else it knows. */
gram_status gram_mmd_test_permutation(gram_context *context, gram_mmd_task *task);
gram_status gram_mmd_test_aggregated(gram_context *context, gram_mmd_task *task);
gram_status gram_mmd_test_moments(gram_context *context, gram_mmd_task *task);
gram_status gram_mmd_test_wild(gram_context *context, gram_mmd_task *task);

/* The k-th factor of the options. */
double gram_mmd_width(const gram_mmd_options *options, int64_t k);

/* The factor on the length-scales that promises the largest power on these samples, into result->widths and the kernel. */
gram_status gram_mmd_choose_width(gram_context *context, const gram_mmd_task *task, gram_kernel **chosen);

#endif
