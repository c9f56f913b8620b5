/* Mercer expansions: eigenvalues and eigenfunctions of a kernel with respect to a measure,
 *
 *     int k(x, y) phi_j(y) dP(y) = mu_j phi_j(x),     int phi_j phi_k dP = [j = k],     k(x, y) = sum_j mu_j phi_j(x) phi_j(y).
 *
 * P is a sample, weight 1/n on each of its points, or a quadrature rule: nodes x_i with weights w_i, used as they are. With the
 * eigenvalues mu_j and unit vectors v_j of W^(1/2) K W^(1/2), W = diag(w) (of K/n for a sample),
 *
 *     phi_j(x) = (1/mu_j) sum_i sqrt(w_i) v_ij k(x_i, x),     phi_j(x_i) = v_ij/sqrt(w_i).
 *
 * sqrt(mu_j) phi_j are the principal components of <gram/pca.h>, not centred. The roads to them are the same. Each phi_j has the
 * sign that makes its value of largest size over the points positive.
 *
 * Common failures: as in <gram/pca.h>. */
#ifndef GRAM_MERCER_H
#define GRAM_MERCER_H

#include <gram/pca.h>

GRAM_BEGIN

typedef struct gram_mercer_options {
    size_t size;
    int64_t components;     /* 1 to the points of weight above 0; default 5 */
    const double *weights;  /* of a quadrature rule: one for each point, finite and >= 0; NULL: 1/n each, a sample */
    gram_pca_solver solver; /* default auto */
    int64_t rank;           /* as in gram_pca_options */
    double tolerance;
} gram_mercer_options;

GRAM_API void gram_mercer_options_init(gram_mercer_options *options, size_t size);

typedef struct gram_mercer_report {
    size_t size;
    int64_t n; /* points of weight above 0 */
    int64_t components;
    gram_pca_solver solver;
    double total;    /* of the weights: 1 for a sample */
    double trace;    /* int k(x, x) dP: all eigenvalues together; of nystrom at most */
    double residual; /* as in gram_pca_report, like the rest */
    double trace_error;
    int64_t rank; /* eigenvalues there are at most: n, the rank of the kernel, or of nystrom's factor */
    int64_t products;
} gram_mercer_report;

typedef struct gram_mercer gram_mercer;

/* Finds the first eigenvalues and eigenfunctions; the kernel must be complete. Options may be NULL. GRAM_NOT_CONVERGED comes with
 * the best that was found. The caller destroys the result (takes NULL). The same bits for any number of threads. Costs are those
 * of gram_pca_fit. */
GRAM_API gram_status gram_mercer_fit(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                     const gram_mercer_options *options, gram_mercer **mercer);
GRAM_API void gram_mercer_destroy(gram_mercer *mercer);

/* All belong to the result. The function has one output for each eigenfunction. */
GRAM_API gram_function *gram_mercer_function(const gram_mercer *mercer);
GRAM_API const gram_mercer_report *gram_mercer_get_report(const gram_mercer *mercer);
/* components numbers mu_j. */
GRAM_API const double *gram_mercer_eigenvalues(const gram_mercer *mercer);

/* The result as a model that `gram predict` and `gram info` know; the preparation may be NULL. The caller destroys it. */
GRAM_API gram_status gram_mercer_model(gram_context *context, const gram_mercer *mercer, gram_preparation *preparation,
                                       gram_model **model);

/* ---- expansions that are known ---- */

typedef enum gram_measure_kind { GRAM_MEASURE_UNIFORM = 0, GRAM_MEASURE_NORMAL = 1 } gram_measure_kind;

/* A probability measure on the line: uniform on (a, b), or normal of mean a and variance b. */
typedef struct gram_measure {
    gram_measure_kind kind;
    double a, b;
} gram_measure;

/* Reads "uniform(0,1)" or "normal(0,1)"; GRAM_ERROR_SYNTAX or GRAM_ERROR_ARGUMENT with what is wrong. */
GRAM_API gram_status gram_measure_parse(gram_context *context, const char *text, gram_measure *measure);

/* The first `count` eigenvalues and eigenfunctions of a kernel on the line in closed form, j = 1, 2, ...:
 *
 *     min(o), uniform(o, o + L)        L/((j - 1/2) pi)^2, sqrt(2) sin((j - 1/2) pi (x - o)/L)
 *     rbf(ell), normal(m, v)           a = 1/(4 v), b = 1/(2 ell^2), c = sqrt(a^2 + 2 a b), A = a + b + c: sqrt(2 a/A) (b/A)^(j-1),
 *                                      exp(-(c - a) (x - m)^2) times Hermite polynomials of sqrt(2 c) (x - m)
 *     periodic(p, ell), uniform over whole periods     exp(-s) I_i(s), s = 1/ell^2, i = 0, 1, 1, 2, 2, ...: 1, sqrt(2) cos and
 *                                      sqrt(2) sin(2 pi i x/p)
 *
 * and these times constants. `values` (or NULL) gets count numbers, `out` (n x count, or NULL) the functions at n numbers x, with
 * the sign of the formulas. GRAM_ERROR_UNSUPPORTED, with what is known, for any other kernel or measure. O(n count). */
GRAM_API gram_status gram_mercer_analytic(gram_context *context, const gram_kernel *kernel, const gram_measure *measure,
                                          int64_t count, double *values, int64_t n, const double *x, double *out);

GRAM_END

#endif
