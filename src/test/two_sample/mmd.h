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

/* The mean of the V-statistic under random labels over its deviation, which that of q tells. */
double gram_mmd_mean_over_deviation(const gram_pairs *pairs, int64_t n, double deviation);

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
    double weight; /* where looks are weighted */
} gram_mmd_look;

/* What came of it. */
typedef struct gram_mmd_seen {
    double statistic, score, p_value; /* of the observed labels, in f64; the p-value of this look alone */
    int blind;                        /* it could not tell the points' distances from rounding */
} gram_mmd_seen;

/* T of each labelling, within bounds (mmd_tally.c). */
typedef struct gram_mmd_tally {
    int64_t count;
    double sharpness; /* 0: the largest z */
    double *low, *high;
} gram_mmd_tally;

gram_status gram_mmd_tally_create(gram_context *context, int64_t count, double sharpness, gram_mmd_tally *tally);
/* Takes zeroed ones. */
void gram_mmd_tally_destroy(gram_context *context, gram_mmd_tally *tally);
/* One more look at labelling b: what gram_mmd_score makes of the bounds of its z. */
void gram_mmd_tally_add(gram_mmd_tally *tally, int64_t b, double low, double high);
/* z, or the weighted score; `mean` is that of the V-statistic under random labels over its deviation. */
double gram_mmd_score(const gram_mmd_tally *tally, double weight, double mean, double z);
/* Labellings whose T is not surely below that of labelling 0, itself included. */
int64_t gram_mmd_reached(const gram_mmd_tally *tally);

/* Looks at means (mmd_features.c). */
typedef struct gram_mmd_feature {
    gram_mmd_family family;
    double weight;
} gram_mmd_feature;

typedef struct gram_mmd_features {
    int64_t total, d;
    const double *data, *ranks; /* total x d */
    int count;
    gram_mmd_feature looks[4]; /* DIRECTIONS comes after MEANS */
    int64_t labellings;
    double *values; /* total x d: features of the look at hand */
    double *scores; /* count x labellings */
    double *factor, mean, variance;
} gram_mmd_features;

/* Whether the columns are few enough for DIRECTIONS. */
int gram_mmd_has_directions(int64_t total, int64_t d);
/* Room for scores; then for each look in turn its values, and scores from t, d x count, which is changed. */
gram_status gram_mmd_features_begin(gram_context *context, gram_mmd_features *f, int64_t labellings);
gram_status gram_mmd_features_look(gram_context *context, gram_mmd_features *f, int look);
void gram_mmd_features_score(const gram_mmd_features *f, int look, int64_t count, double *t, double *scores);
/* All of that for labellings of rows. */
gram_status gram_mmd_features_permute(gram_context *context, gram_mmd_features *f, int64_t n, int64_t count,
                                      const uint8_t *bits);
/* Adds the scores of the labellings which[0], which[1], ... to the tally (NULL: all of them), and says what each look saw unless seen is
 * NULL. */
void gram_mmd_features_tell(const gram_mmd_features *f, const int64_t *which, gram_mmd_tally *tally,
                            gram_mmd_seen *seen);
/* Takes zeroed ones. */
void gram_mmd_features_destroy(gram_context *context, gram_mmd_features *f);

/* All looks of a test. What they see is told in this order: kernels, then features. */
typedef struct gram_mmd_looks {
    int64_t count;
    const gram_mmd_look *kernels;
    gram_mmd_features *features; /* NULL: none */
    double sharpness;            /* 0: the largest z of the kernels, which have no weights */
} gram_mmd_looks;

/* The permutation test of all looks at once: p_value, permutations and redone of the result, and what each look saw. */
gram_status gram_mmd_permute(gram_context *context, const gram_mmd_task *task, const gram_mmd_looks *looks,
                             gram_mmd_seen *seen);
/* The same for large samples, whose rows change labels in groups; and whether they are large (mmd_groups.c). */
gram_status gram_mmd_permute_groups(gram_context *context, const gram_mmd_task *task, const gram_mmd_looks *looks,
                                    gram_mmd_seen *seen);
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
