/* Coupled kernel embedding: two views of different dimension, such as images of low and of high resolution, in one space where what
 * belongs together is near (Ren, Chen and Chen, Coupled kernel embedding for low-resolution face image recognition, IEEE Trans. Image
 * Process. 21, 2012).
 *
 * Rows are pairs (a_i, b_i). Affinities W_ij >= 0 say what belongs together, W_ii = 1 for the pairs: with labels W_ij = 1 for rows of one
 * class; otherwise where b_j is among the `neighbours` nearest of b_i, by the kernel's metric, or b_i of b_j. The embedding, functions f
 * of view a and g of view b with k outputs, minimises
 *
 *     sum_ij W_ij |f(a_i) - g(b_j)|^2 + gamma (|f|^2 + |g|^2)    subject to    sum_i f_s(a_i) f_t(a_i) + g_s(b_i) g_t(b_i) = (s = t).
 *
 * With Z = diag(Ka, Kb), D the row sums of W and G = [D, -W; -W', D], its coefficients U solve Z Z u = mu (Z G Z + gamma Z) u for the
 * largest mu, scaled to U'Z Z U = I. mu_1 >= mu_2 >= ... are the eigenvalues: the share of each in the objective is 1/mu. A solution
 * whose coordinates are the same for all rows is dropped. gamma = 0 leaves one null direction for each set of rows that W connects,
 * the constant among them: with labels there are at most classes - 1 components, and where W connects nothing but the pairs it is
 * refused. There mu is infinite but for rounding. Each pair of coordinates has the sign that makes its largest |f + g| a positive f + g.
 *
 * Computed in features, K ~ F F' by pivoted Cholesky, as kernel CCA is (<gram/cca.h>): O(n rank^2 + rank^3).
 *
 * Without a gamma it is chosen by left-out rows: of 7 values, from 10 t down to 1e-5 t in powers of 10, t = tr(Z G)/2n, the one whose
 * matching is right most often, of equal ones the largest. Each of 5 folds is left out in turn; with labels, its rows of view a
 * get the class of the nearest row of view b among those learnt from; without, a row of view a is right if the nearest row of
 * view b among the left-out ones is its own. Folds see the first 256 features of a view.
 *
 * Common failures: as of <gram/cca.h>. */
#ifndef GRAM_COUPLE_H
#define GRAM_COUPLE_H

#include <gram/model.h>

GRAM_BEGIN

typedef struct gram_couple_options {
    size_t size;
    int64_t components; /* default 2 */
    double gamma;       /* at least 0; NaN (default): by left-out rows, of which there must be 10 in all */
    const int64_t
        *labels; /* n classes 0, 1, ... below n; NULL (default): affinities by neighbours. Borrowed for the call */
    int64_t neighbours; /* default 5; 0: the pairs only */
    int64_t
        rank; /* features of a view at most, to 32768; 0 (default): 1,000, or as many as a fifth of the budget holds */
    const int64_t
        *groups; /* n numbers: folds keep rows of one number together; NULL (default): none. Borrowed for the call */
    int ordered; /* rows are in order of time, and folds go forward in it; default 0 */
} gram_couple_options;

GRAM_API void gram_couple_options_init(gram_couple_options *options, size_t size);

typedef struct gram_couple_report {
    size_t size;
    int64_t n, components;
    double gamma;
    int chosen;            /* by left-out rows */
    double accuracy;       /* of matching left-out rows; NaN with fewer than 10 rows */
    int64_t classes;       /* of labels; 0: none */
    int64_t rank[2];       /* features of the views */
    double trace_error[2]; /* tr(K - F F')/tr K */
} gram_couple_report;

typedef struct gram_couple gram_couple;

/* Finds the embedding of n >= 3 pairs; the kernels must be complete. Options may be NULL. The caller destroys the result (takes NULL).
 * The same bits for any number of threads. */
GRAM_API gram_status gram_couple_fit(gram_context *context, gram_kernel *kernel_a, const gram_points *a,
                                     gram_kernel *kernel_b, const gram_points *b, const gram_couple_options *options,
                                     gram_couple **couple);
GRAM_API void gram_couple_destroy(gram_couple *couple);

/* All belong to the result. The functions have one output for each component: view 0 is a, view 1 b. */
GRAM_API gram_function *gram_couple_function(const gram_couple *couple, int view);
GRAM_API const gram_couple_report *gram_couple_get_report(const gram_couple *couple);
/* mu_1, mu_2, ... */
GRAM_API const double *gram_couple_eigenvalues(const gram_couple *couple);

GRAM_END

#endif
