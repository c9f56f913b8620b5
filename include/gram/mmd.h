/* Maximum mean discrepancy: how far apart two distributions are, and whether two samples come from one.
 *
 *     MMD(P, Q) = |mu_P - mu_Q|,   MMD^2 = E k(X, X') + E k(Y, Y') - 2 E k(X, Y)
 *
 * mu_P = E k(X, .) being the mean embedding (<gram/embedding.h>). For a characteristic kernel (rbf, matern, ...) it is 0 only if
 * P = Q. Estimators and tests: Gretton et al., "A kernel two-sample test", JMLR 13, 2012. Everything is computed in f64 (labellings of
 * large samples by entries in f32, which keeps the level) and gives the same bits for any number of threads.
 *
 * Common failures: GRAM_ERROR_ARGUMENT, GRAM_ERROR_DIMENSION (x and y of different width, or a kernel that does not fit),
 * GRAM_ERROR_UNSET (estimators; tests set what is open by the median heuristic on both samples together), GRAM_ERROR_NUMERICAL
 * (entries so large that their sums are not finite), what <gram/matrix.h> lists, GRAM_ERROR_BUDGET, GRAM_ERROR_MEMORY,
 * GRAM_ERROR_CANCELLED. Nothing of size n^2 is ever held: memory is O((n + m)(d + permutations/8)) and a scratch per thread. */
#ifndef GRAM_MMD_H
#define GRAM_MMD_H

#include <gram/function.h>

GRAM_BEGIN

/* ---- estimators of MMD^2 from n points x and m points y ---- */

typedef enum gram_mmd_estimator {
    GRAM_MMD_UNBIASED = 0, /* U-statistic: means over i != j; may be negative; n, m >= 2 */
    GRAM_MMD_BIASED = 1,   /* V-statistic: means over all pairs, |mu_x - mu_y|^2 >= 0; n, m >= 1 */
    GRAM_MMD_PAIRED =
        2, /* U-statistic of the pairs z_i = (x_i, y_i): the cross term leaves out i = j too; n = m >= 2 */
    GRAM_MMD_LINEAR = 3, /* mean of the paired statistic over z_1 z_2, z_3 z_4, ...: O(n) time; n = m >= 2 */
    GRAM_MMD_BLOCK =
        4 /* the same over blocks of `block` pairs; what is left over at the end is not used; n = m >= block */
} gram_mmd_estimator;

/* *out = the estimate. `block` is for GRAM_MMD_BLOCK: 2 to n, 0 for floor(sqrt(n)). `standard_error` (or NULL) gets that of the
 * mean over blocks, for LINEAR and BLOCK with two blocks or more; otherwise NaN. O((n + m)^2 d); LINEAR O(n d), BLOCK O(n block
 * d). */
GRAM_API gram_status gram_mmd_squared(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                      const gram_points *y, gram_mmd_estimator estimator, int64_t block, double *out,
                                      double *standard_error);

/* The linear-time and block estimators on two streams: pairs (x_i, y_i) come in any portions, and only a block's points and three
 * numbers are kept. A stream keeps its kernel, which must have no open number. */
typedef struct gram_mmd_stream gram_mmd_stream;

/* d columns, blocks of 2 or more pairs. The caller destroys it (takes NULL). */
GRAM_API gram_status gram_mmd_stream_create(gram_context *context, gram_kernel *kernel, int64_t d, int64_t block,
                                            gram_mmd_stream **stream);
GRAM_API void gram_mmd_stream_destroy(gram_mmd_stream *stream);

/* Adds pairs: x and y have the same number of rows. O(n (block + 1) d). */
GRAM_API gram_status gram_mmd_stream_add(gram_context *context, gram_mmd_stream *stream, const gram_points *x,
                                         const gram_points *y);

/* The mean over the blocks so far, its standard error (NaN below two blocks), and the p-value for the test of P = Q: Student's t of
 * mean/error with the skewness of the blocks taken out (1 while there is no error or it is 0 and the mean not positive). Any may
 * be NULL. Returns the number of whole blocks. */
GRAM_API int64_t gram_mmd_stream_result(const gram_mmd_stream *stream, double *mean, double *standard_error,
                                        double *p_value);

/* The witness mu_x - mu_y = mean_i k(x_i, .) - mean_j k(y_j, .): large where x has more mass. Its norm is the V-statistic's root.
 * The caller releases the function. O((n + m) d). */
GRAM_API gram_status gram_mmd_witness(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                      const gram_points *y, gram_function **witness);

/* Where samples differ, column by column: score[l] = MMD^2 of column l alone over its standard deviation if labels were random, the
 * largest of rbf at 1/4, 1/2, 1 and 2 times the median heuristic's width. Above about 5 is hardly chance (for one column; values
 * under the hypothesis are skewed), 0 for a constant column. order (or NULL) gets the columns, the highest score first. At most 2,000 rows of each sample are looked at (seeded). O(d min(n + m,
 * 4000)^2). */
GRAM_API gram_status gram_mmd_columns(gram_context *context, const gram_points *x, const gram_points *y, double *score,
                                      int64_t *order);

/* ---- the two-sample test ---- */

typedef enum gram_mmd_method {
    GRAM_MMD_TEST_AUTO = 0, /* AGGREGATED without a kernel, PERMUTATION with one */
    /* p = (1 + #{permuted >= observed})/(1 + permutations): exact level for any n, m. If there are no more ways to label the points, all
     * of them are compared. */
    GRAM_MMD_TEST_PERMUTATION,
    /* PERMUTATION over many looks at once, one number of all of them against the same of every permuted labelling: exact level (after
     * Schrab et al., "MMD aggregated two-sample test", JMLR 24, 2023). With a kernel a look is that kernel at one of `width_count`
     * length-scales, and the number the largest of the statistics, each over its standard deviation under random labels. Without one
     * there are looks at the means of columns, of their ranks and of their squares, at all directions (Hotelling's T^2), and rbf on the
     * ranks of each column at several widths, taken from the distances of neighbours; the number is a weighted mean of their tails. */
    GRAM_MMD_TEST_AGGREGATED,
    GRAM_MMD_TEST_SPLIT, /* the width of largest power is chosen on half of each sample, PERMUTATION on the other half */
    GRAM_MMD_TEST_GAMMA, /* V-statistic against a gamma distribution with the mean and variance that random labels give it */
    GRAM_MMD_TEST_NORMAL, /* U-statistic over its standard deviation under random labels against N(0, 1): rough, GAMMA is closer */
    GRAM_MMD_TEST_LINEAR, /* linear-time estimator over its standard error: n = m, i.i.d., O(n) */
    GRAM_MMD_TEST_BLOCK,  /* block estimator, likewise */
    GRAM_MMD_TEST_WILD    /* wild bootstrap of the V-statistic, for samples that depend on time */
} gram_mmd_method;

enum { GRAM_MMD_MAX_WIDTHS = 32, GRAM_MMD_MAX_LOOKS = 96 };

/* What AGGREGATED looks at: the kernel that was given; without one, rbf and the others. */
typedef enum gram_mmd_family {
    GRAM_MMD_FAMILY_KERNEL = 0,
    GRAM_MMD_FAMILY_LAPLACE1,   /* no longer looked at */
    GRAM_MMD_FAMILY_RANKS,      /* rbf on the ranks of each column: heavy tails do not matter */
    GRAM_MMD_FAMILY_MEANS,      /* means of columns, one of many as well */
    GRAM_MMD_FAMILY_DIRECTIONS, /* means of all columns together, with their correlations */
    GRAM_MMD_FAMILY_RANK_MEANS, /* means of the ranks of columns */
    GRAM_MMD_FAMILY_SPREADS     /* means of the squares of columns */
} gram_mmd_family;

typedef struct gram_mmd_options {
    size_t size; /* sizeof of this struct, set by gram_mmd_options_init */
    gram_mmd_method method;
    int biased;           /* report and permute the V-statistic */
    double level;         /* reject if p <= level; default 0.05 */
    int64_t permutations; /* or bootstrap draws; default 999 */
    int64_t block;        /* of BLOCK; 0: floor(sqrt(n)) */
    /* WILD: over how many rows dependence lasts; its weights are w_t = exp(-1/l) w_(t-1) + noise (Chwialkowski, Sejdinovic and
     * Gretton, NIPS 2014). 0: 20, at most a fifth of the smaller sample. */
    double memory;
    /* AGGREGATED, SPLIT: the length-scales of the resolved kernel times `width_count` factors (1 to GRAM_MMD_MAX_WIDTHS), evenly on
     * the log scale; default 7 from 1/16 to 4. One: width_least. */
    int64_t width_count;
    double width_least, width_most;
} gram_mmd_options;

GRAM_API void gram_mmd_options_init(gram_mmd_options *options, size_t size);

typedef struct gram_mmd_result {
    size_t size;          /* sizeof of this struct, set by gram_mmd_result_init */
    gram_mmd_method used; /* never AUTO */
    gram_kernel *kernel;  /* without open numbers; for several widths, the one that counted. Released by clear. */
    double statistic;     /* MMD^2, estimated as the method says */
    double p_value;       /* in (0, 1], never NaN */
    int reject;           /* p_value <= level */
    int64_t n, m;         /* rows that the p-value is from: fewer than given after SPLIT */
    double
        null_mean; /* of the statistic if P = Q: under random labels (GAMMA, NORMAL), 0 (LINEAR, BLOCK), NaN otherwise */
    double null_deviation; /* its standard deviation then; LINEAR, BLOCK: its standard error */
    int64_t redone;        /* permuted values so near to the observed one that they were computed again in f64 */
    int64_t width_count;
    double widths[GRAM_MMD_MAX_LOOKS];  /* AGGREGATED, SPLIT: factors on the length-scales, 0 for means ... */
    double width_p[GRAM_MMD_MAX_LOOKS]; /* ... and each one's own p-value, or SPLIT: the power's criterion */
    int family[GRAM_MMD_MAX_LOOKS];     /* AGGREGATED: a gram_mmd_family for each */
    int64_t best; /* AGGREGATED: the look that saw most; `kernel` and `statistic` are of the one of kernels that did */
    int64_t
        permutations; /* labellings that the observed one was compared with; fewer than asked for if these are all there are */
    int64_t
        group_rows; /* AGGREGATED: rows that changed labels together, 0: each by itself; n and m are whole groups then */
    int64_t chunks; /* of samples too large for all pairs: the statistic is the mean over so many; else 0 */
} gram_mmd_result;

/* Before the first call, and again before another one unless the result was cleared. */
GRAM_API void gram_mmd_result_init(gram_mmd_result *result, size_t size);

/* Tests the hypothesis that both samples come from one distribution. The points are taken as they are: columns of different units
 * should be standardised before, both samples together, as `gram test two-sample` does (gram_preparation_learn_both); else a kernel
 * of one length-scale sees only the widest of them. x and y have 2 rows at least; kernel NULL is rbf. Open numbers
 * are set by the median heuristic on both samples (SPLIT: on the half that chooses). If all k(x_i, x_j) are equal, as for rows that
 * are all the same, the statistic is 0 and p is 1. `options` may be NULL. Time, N = n + m: PERMUTATION O(N^2 (d + permutations/8)),
 * AGGREGATED that times the number of looks, O(N^2 d) a look from 2,048 rows of both samples on (groups of rows change labels together,
 * which keeps the level), O(N d) above 65,536, O(d) above 262,144; WILD O(N^2 (d + permutations)), GAMMA and NORMAL O(N^2 d), BLOCK O(N block d), LINEAR O(N d).
 * AGGREGATED and SPLIT need a kernel with a length-scale: GRAM_ERROR_ARGUMENT. */
GRAM_API gram_status gram_mmd_test(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                   const gram_points *y, const gram_mmd_options *options, gram_mmd_result *result);

/* Gives back what a result holds; takes NULL, and results of failed calls. */
GRAM_API void gram_mmd_result_clear(gram_mmd_result *result);

GRAM_END

#endif
