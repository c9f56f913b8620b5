/* Stein kernels and the kernel Stein discrepancy: how far a sample is from a density that is known up to its constant.
 *
 * With s(x) = grad log p(x), the score of the density at x, and a base kernel k,
 *
 *   k_P(x, y) = sum_l d2k/dx_l dy_l + s(x).grad_y k + s(y).grad_x k + s(x).s(y) k
 *
 * has mean 0 under p in each argument. Scores come as an array beside the points: n rows of d numbers, lds apart. Any
 * kernel that has d2k/dx dy will do (see gram_matrix_derivatives); one squared distance (imq, rbf, matern, rq, with one
 * length-scale, one per column, a covariance or a warp, times constants) is several times faster than the others. imq
 * with 0 < beta < 1 is what the theory asks for: with it a small discrepancy means convergence, where thin-tailed kernels
 * (rbf, matern) can miss mass that goes to infinity (Gorham and Mackey 2017).
 *
 * Everything is computed in f64, block by block: O(n d) memory, O(n^2 d) time, the same bits for any number of threads.
 * Common failures: GRAM_ERROR_ARGUMENT, GRAM_ERROR_DATA (a score that is not finite), GRAM_ERROR_UNSUPPORTED (a kernel
 * without second derivatives), what <gram/matrix.h> lists. */
#ifndef GRAM_STEIN_H
#define GRAM_STEIN_H

#include <gram/operator.h>

GRAM_BEGIN

/* The matrix k_P(x_i, x_j) as an operator: product, diagonal, columns, matrix and trace are those of <gram/operator.h>.
 * Points and scores are copied (packed). The caller releases it. */
GRAM_API gram_status gram_operator_create_stein(gram_context *context, const gram_kernel *kernel,
                                                const gram_points *points, const double *scores, int64_t lds,
                                                gram_operator **op);

/* score[l] = d log p/dx_l at x; may be called from several threads at once. */
typedef void (*gram_score_fn)(void *user, int64_t d, const double *x, double *score);

/* k_P as a kernel like others, for points whose scores are not known beforehand: stein(base, score). It prints as
 * <callback NAME>; name, user and release as in gram_kernel_callback. Some 100 ns a pair, several times what the operator
 * takes. A base without second derivatives is GRAM_ERROR_UNSUPPORTED; where a block cannot be computed for want of memory
 * its entries are NaN. */
GRAM_API gram_status gram_kernel_stein(gram_context *context, const char *name, gram_kernel *base, gram_score_fn score,
                                       void *user, void (*release)(void *user), gram_kernel **kernel);

/* How the metric of a base kernel imq is chosen from a sample: (1 + (x - y)' G^-1 (x - y))^-1/2 up to a constant. The command calls it
 * --precondition, as the literature does. */
typedef enum gram_stein_metric {
    GRAM_STEIN_METRIC_ID = 0,     /* G = I */
    GRAM_STEIN_METRIC_MED = 1,    /* G = ell^2 I, ell the median of the distances (as gram_kernel_resolve takes it) */
    GRAM_STEIN_METRIC_SCLMED = 2, /* G = ell^2/log(m) I, m the number of points that are to be chosen, at least 2 */
    GRAM_STEIN_METRIC_SMPCOV = 3  /* G = the sample's covariance (divisor n - 1) */
} gram_stein_metric;

/* The base kernel: imq(c, 0.5), for SMPCOV a warp of it. GRAM_ERROR_NUMERICAL if the covariance is singular. The caller
 * releases it. O(min(n, 2000)^2 d), for SMPCOV O(n d^2). */
GRAM_API gram_status gram_stein_kernel(gram_context *context, const gram_points *points, gram_stein_metric metric,
                                       int64_t m, gram_kernel **kernel);

/* Standardises n points of d numbers in place: means are subtracted, then divided by the population deviations (1 for a constant
 * column). Scores of x/a are a times those of x; scores may be NULL. Arrays are the caller's. O(n d). */
GRAM_API void gram_stein_standardise(int64_t n, int64_t d, double *x, int64_t ldx, double *scores, int64_t lds);

typedef struct gram_discrepancy {
    double v_statistic; /* sum_ij w_i w_j k_P(x_i, x_j), w = 1/n: biased, never below 0 */
    double u_statistic; /* the same without i = j, divided by 1 - sum w_i^2: unbiased, NaN for one point */
    double discrepancy; /* the square root of the V-statistic */
} gram_discrepancy;

/* The kernel Stein discrepancy of a sample. `weights` (n numbers with a sum above 0, which is divided by) or NULL. */
GRAM_API gram_status gram_stein_discrepancy(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                            const double *scores, int64_t lds, const double *weights,
                                            gram_discrepancy *out);

typedef struct gram_stein_test_options {
    size_t size;   /* sizeof of this struct, set by gram_stein_test_options_init */
    double level;  /* 0.05 */
    int64_t draws; /* of the bootstrap, 999 */
    /* Probability that the multiplier changes its sign from one row to the next: 0.5 (independent signs) for independent
     * draws; smaller for a Markov chain: signs stay alike over some 1/(2 flip) rows, which should be several times the
     * autocorrelation time of the chain and few compared with n. 0: a quarter of one over the time that points and scores show. */
    double flip;
    double *bootstrap; /* takes the U-statistics of the draws, sorted; or NULL */
} gram_stein_test_options;

GRAM_API void gram_stein_test_options_init(gram_stein_test_options *options, size_t size);

typedef struct gram_stein_test_result {
    size_t size; /* the caller sets it */
    gram_discrepancy statistic;
    double p_value;   /* (1 + #{bootstrap >= observed})/(1 + draws): the same for the V- and the U-statistic */
    double threshold; /* the U-statistic from which on the test rejects: a quantile of the bootstrap */
    int reject;       /* p_value <= level */
    int best;    /* gram_stein_test_many: the kernel that saw most, whose statistic and threshold these are; else 0 */
    double flip; /* as given, or as it was found */
    double
        autocorrelation_time; /* in rows, 1 + 2 sum of correlations, the longest of all columns; NaN unless flip was to be found */
} gram_stein_test_result;

/* Does the sample come from the density? The wild bootstrap (Chwialkowski, Strathmann and Gretton 2016): the statistic is
 * compared with (1/n^2) sum_ij e_i e_j k_P(x_i, x_j) for random signs e, drawn by the context's seed. n >= 2 points.
 * O(n^2 (d + draws)) time, O(n (d + min(draws, 256))) memory. options may be NULL. */
GRAM_API gram_status gram_stein_test(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                     const double *scores, int64_t lds, const gram_stein_test_options *options,
                                     gram_stein_test_result *result);

/* The same with `count` base kernels (1 to GRAM_STEIN_MAX_LOOKS) at once: the largest of their statistics, each by its tail under a gamma
 * distribution with the mean and variance of its own draws, is compared with the same of every draw (after Schrab, Guedj and Gretton, "KSD
 * aggregated goodness-of-fit test", NeurIPS 2022). The draws flip the same signs for all. */
enum { GRAM_STEIN_MAX_LOOKS = 16, GRAM_STEIN_LOOKS = 7 };
GRAM_API gram_status gram_stein_test_many(gram_context *context, int count, gram_kernel *const *kernels,
                                          const gram_points *points, const double *scores, int64_t lds,
                                          const gram_stein_test_options *options, gram_stein_test_result *result);

/* Kernels to look by, where none is known to fit: imq at 1/4, 1/2, 1 and 2 times the median distance, rbf at 1/2, 1 and 2 times it. The
 * caller releases them. */
GRAM_API gram_status gram_stein_test_kernels(gram_context *context, const gram_points *points,
                                             gram_kernel *kernels[GRAM_STEIN_LOOKS]);

/* ---- do scores belong to their points? ---- */

typedef enum gram_scores_doubt {
    GRAM_SCORES_FIT = 0,  /* nothing speaks against it */
    GRAM_SCORES_TORN = 1, /* two rows that follow each other are one point, with different scores */
    GRAM_SCORES_UNRELATED =
        2, /* scores of near points are no nearer than those of random ones: of other rows, or of another sample */
    GRAM_SCORES_OUTWARD = 3 /* they point away from the mass: the gradient of -log p */
} gram_scores_doubt;

/* Whether scores (n x d, lds) can be those of some density at these points, whichever it is: not a test of fit. *row is the second of
 * two rows for TORN, else -1. Below 30 points only TORN is found. Random by the context's seed: right scores are called UNRELATED only if
 * they hardly depend on the points. O(n d + min(n, 1000)^2 d). */
GRAM_API gram_status gram_stein_scores_check(gram_context *context, const gram_points *points, const double *scores,
                                             int64_t lds, gram_scores_doubt *doubt, int64_t *row);

GRAM_END

#endif
