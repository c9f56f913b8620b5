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
    int64_t components; /* 1 to n; default 2 */
    int centre;         /* default 1 */
    gram_pca_solver solver;
    int64_t rank;     /* of nystrom: columns of K, at most 32768; 0: by n, components and budget */
    double tolerance; /* of krylov: |K~ v - l v| <= tolerance l; default 1e-8 */
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

/* The result as a model that `gram predict` and `gram info` know; the preparation may be NULL. The caller destroys it. */
GRAM_API gram_status gram_pca_model(gram_context *context, const gram_pca *pca, gram_preparation *preparation,
                                    gram_model **model);

GRAM_END

#endif
