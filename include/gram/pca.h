/* Kernel principal components: the directions of feature space in which the points vary most (Schoelkopf, Smola and Mueller,
 * Neural Computation 10, 1998).
 *
 * With K~ = H K H, H = I - 11'/n (or K~ = K, uncentred), and its eigenvalues l_1 >= l_2 >= ... with unit vectors v_s, coordinate
 * number s of a point x is
 *
 *     f_s(x) = (1/sqrt(l_s)) sum_i v_is k~(x_i, x),     f_s(x_i) = sqrt(l_s) v_is,
 *
 * a function of the kernel's space with the centring in its constant. l_s/n is the variance along direction s, and the mean
 * squared distance of the points to their projections on the first k directions is the sum of the other l_s/n. Each f_s has the
 * sign that makes its value of largest size over the points positive.
 *
 * How it is computed:
 *
 *     dense        all of K~ in memory, O(n^3): few points, or many components
 *     krylov       the first components from products with K, in memory (packed: half of n^2 numbers) or made anew each time, with
 *                  the residual |K~ v - l v| checked: O(n^2 (d + k)) for each of some ten products
 *     nystrom      K ~ F F' from `rank` columns of K (pivoted Cholesky), O(n rank^2): eigenvalues are too small by at most
 *                  tr(K - F F') together, which is reported
 *     covariance   linear kernel: the d x d matrix X'X has the same eigenvalues, O(n d^2)
 *
 * The choice is by n, d, the number of components and the budget; `solver` in the report says which it was.
 *
 * Common failures: GRAM_ERROR_ARGUMENT, also for more components than K~ has eigenvalues above rounding (n times the rounding
 * unit times the largest, and 8 times the unit times tr K; the message has their number), GRAM_ERROR_DATA if there is none at all (all points are alike), what
 * <gram/matrix.h> lists, GRAM_ERROR_BUDGET, GRAM_ERROR_MEMORY, GRAM_ERROR_CANCELLED. */
#ifndef GRAM_PCA_H
#define GRAM_PCA_H

#include <gram/model.h>

GRAM_BEGIN

typedef enum gram_pca_solver {
    GRAM_PCA_AUTO = 0,
    GRAM_PCA_DENSE = 1,
    GRAM_PCA_KRYLOV = 2,
    GRAM_PCA_NYSTROM = 3,
    GRAM_PCA_COVARIANCE = 4
} gram_pca_solver;

/* "auto", "dense", "krylov", "nystrom", "covariance". Static. */
GRAM_API const char *gram_pca_solver_name(gram_pca_solver solver);

typedef struct gram_pca_options {
    size_t size;
    int64_t components; /* 1 to n; default 2; 0: as many as stand out from chance, at least 1 */
    int centre;         /* default 1 */
    gram_pca_solver solver;
    int64_t rank;     /* of nystrom: columns of K, at most 32768; 0: by n, components and budget */
    double tolerance; /* of krylov: |K~ v - l v| <= tolerance l; default 1e-8 */
    /* Of components = 0, parallel analysis by permutation: component s stands out if all before it do and its eigenvalue is above what it
     * is in all but a share `level` of tables whose columns were shuffled, each by itself: p = (1 + #{shuffled >= observed})/(1 +
     * permutations) <= level. On 500 rows, drawn, if there are more. */
    int64_t most_components; /* looked at, at most; default 20 */
    int64_t permutations;    /* default 99; at least 1/level - 1 */
    double level;            /* default 0.05 */
    const int64_t
        *column_groups; /* d numbers >= 0: columns of one number are shuffled together; NULL: each by itself */
} gram_pca_options;

GRAM_API void gram_pca_options_init(gram_pca_options *options, size_t size);

typedef struct gram_pca_report {
    size_t size;
    int64_t n, components;
    int centre;
    gram_pca_solver solver;
    double
        trace; /* of K~: all its eigenvalues together; of nystrom: at most this, so that shares are at least theirs */
    double residual;    /* the largest |K~ v - l v| over the largest l; NaN where it is at rounding by itself */
    double trace_error; /* of nystrom: tr(K - F F')/tr K; else 0 */
    int64_t rank;       /* of nystrom; else n, or d of covariance */
    int64_t products;   /* of krylov: columns multiplied by K~ */
    /* of a number of components that was chosen: */
    int64_t permutations;            /* 0: it was given */
    int64_t significant;             /* components that stand out from chance; may be 0, where one is kept */
    int64_t analysed_rows, analysed; /* rows and components that were looked at */
} gram_pca_report;

typedef struct gram_pca gram_pca;

/* Finds the components; the kernel must be complete. Options may be NULL. GRAM_NOT_CONVERGED comes with the best that was found.
 * The caller destroys the result (takes NULL). The same bits for any number of threads. */
GRAM_API gram_status gram_pca_fit(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                  const gram_pca_options *options, gram_pca **pca);
GRAM_API void gram_pca_destroy(gram_pca *pca);

/* All belong to the result. The function has one output for each component: coordinates of any points. */
GRAM_API gram_function *gram_pca_function(const gram_pca *pca);
GRAM_API const gram_pca_report *gram_pca_get_report(const gram_pca *pca);
/* components numbers l_s, and n x components coordinates of the points, row-major without gaps. */
GRAM_API const double *gram_pca_eigenvalues(const gram_pca *pca);
GRAM_API const double *gram_pca_coordinates(const gram_pca *pca);

/* Of a number of components that was chosen: what the variances l_s/n of the `analysed` ones must be above to stand out; else NULL. */
GRAM_API const double *gram_pca_chance(const gram_pca *pca);

/* The mean of the points in feature space as weights of the function's centres, one for each: (1/n) sum_i phi(x_i) =
 * sum_j mean_j phi(z_j), up to what the road misses. NULL if nothing was centred. */
GRAM_API const double *gram_pca_mean(const gram_pca *pca);

/* ---- back from coordinates ---- */

/* How a point is found whose feature is near a projection, the mean plus coordinates along the directions:
 *
 *     linear        of the kernel linear: the projection is a point, found exactly
 *     fixed point   of rbf: the point of nearest feature, by an iteration that never goes away from it; that near the start
 *     ridge         of any kernel: kernel ridge regression from coordinates to points, learnt from at most 1,000 centres, with the
 *                   width and ridge of least leave-one-out error
 *
 * auto: the first of them that the kernel allows; linear whenever the kernel is. */
typedef enum gram_preimage_method {
    GRAM_PREIMAGE_AUTO = 0,
    GRAM_PREIMAGE_FIXED_POINT = 1,
    GRAM_PREIMAGE_RIDGE = 2,
    GRAM_PREIMAGE_LINEAR = 3
} gram_preimage_method;

/* "auto", "fixed-point", "ridge", "linear". Static. */
GRAM_API const char *gram_preimage_method_name(gram_preimage_method method);

typedef struct gram_preimage gram_preimage;

/* For the coordinates of a function as gram_pca_function gives it, with the mean of gram_pca_mean (NULL: not centred), which is
 * copied. O(m^2 d) for m centres, with the ridge O(r^3) more for r <= 1,000 of them. GRAM_ERROR_ARGUMENT for a method that is not
 * for the kernel. The caller destroys it (takes NULL). */
GRAM_API gram_status gram_preimage_create(gram_context *context, gram_function *function, const double *mean,
                                          gram_preimage_method method, gram_preimage **preimage);
GRAM_API void gram_preimage_destroy(gram_preimage *preimage);
GRAM_API gram_preimage_method gram_preimage_get_method(const gram_preimage *preimage); /* never auto */

/* x[i * ldx + l]: the point that row i of the coordinates (ldc apart) stands for. `near`: n points at which the search of a fixed point may
 * begin, the points to be denoised; NULL: at centres. GRAM_NOT_CONVERGED if a fixed point still moved after 500 steps: it is the best
 * that was seen. The same bits for any number of threads. */
GRAM_API gram_status gram_preimage_find(gram_context *context, const gram_preimage *preimage, int64_t n,
                                        const double *coordinates, int64_t ldc, const gram_points *near, double *x,
                                        int64_t ldx);

/* The result as a model that `gram predict` and `gram info` know; the preparation may be NULL. The caller destroys it. */
GRAM_API gram_status gram_pca_model(gram_context *context, const gram_pca *pca, gram_preparation *preparation,
                                    gram_model **model);

GRAM_END

#endif
