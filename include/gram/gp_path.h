/* Draws of a Gaussian process as functions: path-wise conditioning (Matheron's rule; Wilson et al. 2020).
 *
 * A draw from the prior is a sum of cosines and sines with random frequencies,
 *
 *     f(x) = sqrt(k(0)/F) sum_f a_f cos(w_f.x) + b_f sin(w_f.x),   a_f, b_f ~ N(0, 1), w_f from the spectral measure of k,
 *
 * and becomes one from the posterior by an update, a function of the kernel's Hilbert space:
 *
 *     f(x) + T(x) beta + sum_i c_i k(x_i, x),   c = A^-1 (y - T beta - f(X) - e),   e ~ N(0, noise).
 *
 * The draw is then the same function at every call, O(F d + n d) a point, where gram_gp_draw needs all points at once and
 * m^3 for m of them. Each draw has frequencies of its own: over draws, mean and covariance are exactly those of the
 * posterior; a single draw has the k that F frequencies make, to about 1/sqrt(F). With a flat mean beta is drawn, too.
 *
 * Kernels: rbf, laplace, laplace1, matern, rq, imq, periodic, cosine, sinc and constants, in sums, products, powers, on, warp
 * and normalize. Others, white among them, are GRAM_ERROR_UNSUPPORTED: gram_gp_draw has no such limits.
 *
 * Common failures: those of <gram/gp.h>. The same bits for any number of threads; the context's seed decides the draws. */
#ifndef GRAM_GP_PATH_H
#define GRAM_GP_PATH_H

#include <gram/gp.h>

GRAM_BEGIN

typedef struct gram_gp_path_options {
    size_t size;
    const gram_gp_options *gp; /* mean, noise and cg, borrowed; NULL: the defaults. Its solver is not used */
    int64_t draws;             /* default 1 */
    int64_t frequencies;       /* of each draw, made a multiple of 16; default 1024 */
    /* GRAM_SOLVER_EXACT, GRAM_SOLVER_CG (which needs noise in every row), or AUTO (default): exact up to 8,000 rows if the factor
     * takes at most half of the budget that is left */
    gram_solver solver;
} gram_gp_path_options;

GRAM_API void gram_gp_path_options_init(gram_gp_path_options *options, size_t size);

typedef struct gram_gp_path gram_gp_path;

/* Draws from the posterior given n points x and y, or from the prior if both are NULL; then d is the points' dimension, and
 * of gp nothing is used (the mean is 0). Copies the points. Time of one factor, or of conjugate gradients with `draws`
 * right-hand sides; keeps draws (n + frequencies (d + 2)) numbers. GRAM_NOT_CONVERGED: the residual is above the tolerance.
 * The caller destroys it. */
GRAM_API gram_status gram_gp_path_create(gram_context *context, gram_kernel *kernel, int64_t d, const gram_points *x,
                                         const double *y, const gram_gp_path_options *options, gram_gp_path **path);
/* Takes NULL. */
GRAM_API void gram_gp_path_destroy(gram_gp_path *path);

GRAM_API int64_t gram_gp_path_count(const gram_gp_path *path);
/* The solver that was taken, and its relative residual (NaN for the exact one and for the prior). */
GRAM_API gram_solver gram_gp_path_solver(const gram_gp_path *path, double *residual);

/* out[i * ldo + j] = draw j at point i, with the mean and without noise. `basis` as in gram_gp_predict. */
GRAM_API gram_status gram_gp_path_evaluate(gram_context *context, const gram_gp_path *path, const gram_points *points,
                                           const double *basis, int64_t ldb, double *out, int64_t ldo);

/* out[i * ldo + l]: derivative of draw number `draw`, from 0, by coordinate l at point i; columns that the caller gave to the mean do
 * not count. O(F d + n d) a point. */
GRAM_API gram_status gram_gp_path_gradient(gram_context *context, const gram_gp_path *path, int64_t draw,
                                           const gram_points *points, double *out, int64_t ldo);

GRAM_END

#endif
