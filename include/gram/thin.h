/* Thinning: a few points that stand for many.
 *
 * Three targets. With scores the points are to stand for the density whose scores they are, by its Stein kernel k_P (see
 * <gram/stein.h>): Stein thinning of MCMC output, which also corrects for a chain that has not converged. Without scores
 * they are to stand for the sample itself: what is made small is the MMD, |mean of k(x_i, .) over the sample - mean over
 * the choice|; or for a law that is known (<gram/law.h>), with the points as candidates. In all, `discrepancy` is the square root of the
 * V-statistic.
 *
 * Nothing of size n^2 is held. Same bits for any number of threads. Common failures: GRAM_ERROR_ARGUMENT (m out of
 * range), those of <gram/stein.h> and <gram/matrix.h>. */
#ifndef GRAM_THIN_H
#define GRAM_THIN_H

#include <gram/law.h>
#include <gram/stein.h>

GRAM_BEGIN

typedef enum gram_thin_method {
    /* Each choice makes the discrepancy of all choices so far as small as it can (Riabiz et al. 2022; without scores:
     * greedy MMD). O(n m d); without scores O(n^2 d) once before. Points may be chosen more than once. */
    GRAM_THIN_GREEDY = 0,
    /* Kernel herding (Chen, Welling and Smola 2010): argmax_x mean k(x, .) - sum k(x, chosen)/(t + 1). Without scores only. */
    GRAM_THIN_HERDING = 1,
    /* Kernel thinning (Dwivedi and Mackey 2021): halve the last m 2^g points g times by a self-balancing walk on pairs,
     * then replace each point by the one that is best for the choice. Random (the context's seed). O(n^2 d). */
    GRAM_THIN_SPLIT = 2,
    GRAM_THIN_PLAIN = 3 /* evenly spaced rows, the last one among them: what people do without gram */
} gram_thin_method;

typedef struct gram_thin_options {
    size_t size;             /* sizeof of this struct, set by gram_thin_options_init */
    gram_thin_method method; /* GREEDY */
    int distinct;            /* no point twice: GREEDY and HERDING then choose among the others; SPLIT always does */
    const gram_law *law;     /* without scores: stand for this law, not for the sample (NULL, default); not for SPLIT */
    /* GREEDY with scores: what is known of the density itself, both or neither (NULL, default). log p at each point, up to a constant
     * (gram_density_log), and sum_l max(d^2 log p/dx_l^2, 0) there (gram_density_second). Scores do not see the weights of modes that lie
     * apart, and like points between modes; with these, points where log p is convex count as worse (Benard, Staber and Da Veiga 2023), and
     * the choice is held to the sample by an MMD, outliers in log p left out. `discrepancy` stays that of the scores. */
    const double *log_density, *laplacian;
} gram_thin_options;

GRAM_API void gram_thin_options_init(gram_thin_options *options, size_t size);

/* Chooses m of the n points, 1 <= m <= n, in the order of the choice: index[0 .. m) counts from 0. Of equally good points
 * the first is taken. `scores` (n x d, lds) or NULL. discrepancy[t], unless NULL, is that of the first t + 1 choices (for
 * PLAIN and SPLIT only discrepancy[m - 1] is set, the others are NaN). O(n) memory beside the packed points. options may be
 * NULL. */
GRAM_API gram_status gram_thin(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                               const double *scores, int64_t lds, const gram_thin_options *options, int64_t m,
                               int64_t *index, double *discrepancy);

/* The weights w >= 0, sum w = 1, that make the discrepancy of the weighted choice smallest, by exact steps on pairs of
 * weights, until its square is within 1e-4 of the least one (relative; bounded by the optimality conditions);
 * GRAM_NOT_CONVERGED after 1000 m + 100,000 steps. The discrepancy with them goes to *discrepancy unless NULL. A point that was chosen twice has its weight in the first
 * place. O(m^2) memory; without scores O(n m d) for the means. */
GRAM_API gram_status gram_thin_weights(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                       const double *scores, int64_t lds, int64_t m, const int64_t *index,
                                       double *weights, double *discrepancy);

/* The same with what is known of the density (see gram_thin_options). */
GRAM_API gram_status gram_thin_density_weights(gram_context *context, const gram_kernel *kernel,
                                               const gram_points *points, const double *scores, int64_t lds,
                                               const double *log_density, const double *laplacian, int64_t m,
                                               const int64_t *index, double *weights, double *discrepancy);

/* How far a choice is from the sample: the MMD between them by a narrow rbf (0.2 sqrt(d) deviations of each column), and that of m evenly
 * spaced rows. A choice by scores that is further away than those has left modes of the sample out, or the sample has not converged to the
 * density: scores alone cannot tell. m at most 16,384; at most 4,096 rows stand for the sample. O(n min(n, 4096) d + m^2 d). */
GRAM_API gram_status gram_thin_from_sample(gram_context *context, const gram_points *points, int64_t m,
                                           const int64_t *index, const double *weights, double *choice, double *plain);

/* The discrepancy of a choice, weighted (weights as given, their sum should be 1) or not (NULL: 1/m each). O(n m d), without
 * scores O(n^2 d). */
GRAM_API gram_status gram_thin_discrepancy(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                           const double *scores, int64_t lds, int64_t m, const int64_t *index,
                                           const double *weights, double *discrepancy);

/* What the discrepancy of a choice of m points is measured by: that of m evenly spaced rows (GRAM_THIN_PLAIN), and that of all rows,
 * which is 0 without scores; NaN with more than 20,000 rows, where it would take longer than the thinning itself. */
GRAM_API gram_status gram_thin_reference(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                         const double *scores, int64_t lds, int64_t m, double *plain, double *all);

/* gram_thin_weights and gram_thin_reference towards a law; `all` is the MMD of all points to it. */
GRAM_API gram_status gram_thin_law_weights(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                           const gram_law *law, int64_t m, const int64_t *index, double *weights,
                                           double *discrepancy);
GRAM_API gram_status gram_thin_law_reference(gram_context *context, const gram_kernel *kernel,
                                             const gram_points *points, const gram_law *law, int64_t m, double *plain,
                                             double *all);

GRAM_END

#endif
