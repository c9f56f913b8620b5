/* The Hilbert-Schmidt independence criterion: are the columns of x independent of those of y, row by row?
 *
 *     HSIC = trace(K H L H)/n^2,   H = I - 1 1'/n,   K and L the Gram matrices of x and y
 *
 * (the V-statistic; Gretton et al., "A kernel statistical test of independence", NIPS 2007). With characteristic kernels its limit is 0
 * only for independent variables. For more than two variables it is dHSIC (Pfister, Buehlmann, Schoelkopf and Peters, JRSS B 80, 2018),
 *
 *     mean_ij prod_v K^v_ij + prod_v mean_ij K^v_ij - 2 mean_i prod_v mean_j K^v_ij,
 *
 * which is HSIC for two. Computed in f64, the same bits for any number of threads.
 *
 * Common failures: GRAM_ERROR_ARGUMENT, GRAM_ERROR_DIMENSION (different numbers of rows, too few of them, a kernel that does not fit),
 * GRAM_ERROR_NUMERICAL (entries too large to be summed), what <gram/matrix.h> lists, GRAM_ERROR_BUDGET, GRAM_ERROR_MEMORY,
 * GRAM_ERROR_CANCELLED. */
#ifndef GRAM_HSIC_H
#define GRAM_HSIC_H

#include <gram/matrix.h>

GRAM_BEGIN

enum { GRAM_HSIC_MAX_VARIABLES = 16 };

typedef enum gram_hsic_method {
    GRAM_HSIC_AUTO = 0,    /* AGGREGATED for two variables without kernels, else PERMUTATION */
    GRAM_HSIC_PERMUTATION, /* the rows of all variables but the first are shuffled: exact level */
    /* Two variables: a gamma distribution with the mean and variance that shuffling gives the statistic; both are known exactly
     * (Kazi-Aoual, Hitier, Sabatier and Lebreton, Comput. Stat. Data Anal. 20, 1995). */
    GRAM_HSIC_GAMMA,
    /* Two variables: PERMUTATION over many kernels of each at once, the largest of their statistics, each by its tail under shuffles,
     * against the same of every shuffle: exact level. A kernel that is given is taken at 7 widths from 1/16 to 4 times its own; without
     * one, rbf and laplace1 at 1/16, 1/4, 1 and 4 times the median heuristic's. Above 1,024 rows by factors of limited rank. */
    GRAM_HSIC_AGGREGATED
} gram_hsic_method;

typedef struct gram_hsic_options {
    size_t size; /* sizeof of this struct, set by gram_hsic_options_init */
    gram_hsic_method method;
    double level;         /* reject if p <= level; default 0.05 */
    int64_t permutations; /* default 999 */
} gram_hsic_options;

GRAM_API void gram_hsic_options_init(gram_hsic_options *options, size_t size);

typedef struct gram_hsic_result {
    size_t size; /* sizeof of this struct, set by gram_hsic_result_init */
    gram_hsic_method used;
    double statistic;
    double p_value; /* in (0, 1], never NaN */
    int reject;
    int64_t n;
    double null_mean, null_deviation; /* of the statistic under shuffling; NaN for more than two variables */
    int64_t rank[2]; /* columns of the factors that were shuffled; 0: the matrices were, all of their entries */
    int variables;
    gram_kernel *
        kernels[GRAM_HSIC_MAX_VARIABLES]; /* without open numbers; AGGREGATED: those that saw most. Released by clear */
    int64_t looks;                        /* AGGREGATED: pairs of kernels that were compared; else 0 */
} gram_hsic_result;

/* Before the first call, and again before another one unless the result was cleared. clear takes NULL and results of failed calls. */
GRAM_API void gram_hsic_result_init(gram_hsic_result *result, size_t size);
GRAM_API void gram_hsic_result_clear(gram_hsic_result *result);

/* *out = HSIC of n >= 2 rows. O(n^2 (d_x + d_y)) time, no memory of size n^2. */
GRAM_API gram_status gram_hsic(gram_context *context, const gram_kernel *kernel_x, const gram_points *x,
                               const gram_kernel *kernel_y, const gram_points *y, double *out);

/* Tests that `variables` (2 to GRAM_HSIC_MAX_VARIABLES) sets of n >= 4 points, row by row, are independent (for more than two:
 * mutually). kernels[v] NULL, or kernels itself NULL, means rbf; open numbers are set by the median heuristic, each on its own
 * variable. A variable whose entries k(x_i, x_j) are all equal, such as a constant column, is independent of everything: 0, p = 1.
 *
 * PERMUTATION with two variables factors both matrices by pivoted Cholesky, K = A A' to 1e-13 of the trace, and shuffles the rows of a
 * factor: O(n r s) for ranks r and s and each permutation, memory O(n (r + s)). If the ranks are too high for that to pay (rough
 * kernels, many columns), or for more variables, whole matrices are shuffled: O(n^2) each, memory 8 n^2 bytes for each variable. GAMMA
 * is O(n^2 d) with no such memory. */
GRAM_API gram_status gram_hsic_test(gram_context *context, int variables, gram_kernel *const *kernels,
                                    const gram_points *const *points, const gram_hsic_options *options,
                                    gram_hsic_result *result);

/* ---- given other columns ---- */

typedef struct gram_hsic_given_result {
    size_t size;      /* sizeof of this struct, set by gram_hsic_given_result_init */
    double statistic; /* T of hsic_given_test */
    double p_value;   /* in (0, 1], never NaN */
    int reject;
    int64_t n;
    double null_mean, null_deviation; /* of the statistic under sign flips */
    /* Of x and of y: the share of its features' variance that the given columns leave unexplained in rows that are left out. */
    double unexplained[2];
    double lambda
        [2]; /* the ridges of the regressions, 0.03 of what is best for predictions: bias is worse than variance here */
    gram_kernel *kernels[3];    /* of x, y, and the given columns, without open numbers; released by clear */
    gram_kernel *regression[2]; /* of the given columns, tuned for x and for y */
} gram_hsic_given_result;

GRAM_API void gram_hsic_given_result_init(gram_hsic_given_result *result, size_t size);
GRAM_API void gram_hsic_given_result_clear(gram_hsic_given_result *result);

/* Tests that x is independent of y given z: points are x, y, z, row by row, n >= 10. What kernel ridge regressions on z, tuned by
 * leave-one-out, leave of the features of x and y (r_i and s_i) is compared:
 *
 *     T = 1/n^2 sum_ij <r_i, r_j> <s_i, s_j> k_z(z_i, z_j),
 *
 * less what fitting itself puts there, with its values when the signs of rows are flipped at random. The level is approximate: it holds
 * where the product of both regressions' errors is small. kernels (or one of them) NULL means rbf; open numbers are set by the median heuristic, those of the
 * regressions are tuned. GRAM_ERROR_DATA: z determines x or y. O(n^3) time and 5 n^2 numbers; from 4,096 rows
 * on in parts of so many, linear in n. */
GRAM_API gram_status gram_hsic_given_test(gram_context *context, gram_kernel *const *kernels,
                                          const gram_points *const *points, const gram_hsic_options *options,
                                          gram_hsic_given_result *result);

/* Which columns depend: score[i * d_y + j] = (HSIC - its mean)/its deviation if the rows of y were shuffled, of column i of x and
 * column j of y alone, by rbf at the median heuristic's width; -infinity where a column is constant. n >= 4. O(n^2 d_x d_y). */
GRAM_API gram_status gram_hsic_columns(gram_context *context, const gram_points *x, const gram_points *y,
                                       double *score);
/* The pair of the highest of these scores; the first pair, and nothing is computed, if there are more than 100 of them. */
GRAM_API gram_status gram_hsic_strongest(gram_context *context, const gram_points *x, const gram_points *y, int64_t *i,
                                         int64_t *j);

GRAM_END

#endif
