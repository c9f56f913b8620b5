/* Kernel canonical correlations: what two views of the same rows have in common (Lai and Fyfe, Int. J. Neural Syst. 10, 2000; Bach and
 * Jordan, JMLR 3, 2002; the regularised form and its limit are those of Fukumizu, Bach and Gretton, JMLR 8, 2007).
 *
 * With centred Gram matrices Kx~, Ky~ of n pairs and kappa >= 0 the correlations are the singular values, rho_1 >= rho_2 >= ..., of
 *
 *     (Kx~ + n kappa I)^(-1/2) Kx~^(1/2) Ky~^(1/2) (Ky~ + n kappa I)^(-1/2).
 *
 * They belong to functions f_s of x and g_s of y, the canonical variables, with mean 0 over the rows,
 *
 *     mean f_s g_t = rho_s if s = t, else 0;     mean f_s f_t + kappa <f_s, f_t> = 1 if s = t, else 0, and so for g.
 *
 * Without kappa (linear kernels) that is classical CCA; rich kernels without kappa have correlations of 1 whatever the data. Each pair
 * has the sign that makes its largest |f_s + g_s| over the rows a positive f_s + g_s. Nothing but rounding, and the random numbers of
 * the test, changes when the views change places.
 *
 * It is computed in features, K ~ F F' by pivoted Cholesky: to 1e-10 of tr K, or with `rank` columns, whichever comes first; the error
 * is reported. O(n rank^2).
 *
 * Without a kappa it is chosen by left-out rows: of 15 values, from t down to 1e-7 t in half powers of 10, t the geometric mean of
 * tr Kx~/n and tr Ky~/n, the one with the largest held-out correlation; of equal ones the largest. Each of 5 folds is left out in turn;
 * the first canonical variables of the other rows are evaluated there, and the held-out correlation is sum f g/sqrt(sum f^2 sum g^2) over
 * all rows, means being those of the rows that were learnt from.
 *
 * The p-value is of the hypothesis that the views are independent: rows of y are shuffled, and rho_1 is compared with those of the
 * shuffled rows; its level is exact. If kappa was chosen, that choice saw which row belongs to which; so rho_1 is compared at all 15 values
 * at once: by the largest, over these, of rho_1 less its mean over all shuffles, divided by its standard deviation. Views with more
 * than 128 features are compared by their first 128.
 *
 * Common failures: GRAM_ERROR_ARGUMENT, also for more components than there are correlations above rounding (the message has their
 * number), GRAM_ERROR_DIMENSION (different numbers of rows), GRAM_ERROR_DATA if a view does not vary, what <gram/matrix.h> lists,
 * GRAM_ERROR_BUDGET, GRAM_ERROR_MEMORY, GRAM_ERROR_CANCELLED. */
#ifndef GRAM_CCA_H
#define GRAM_CCA_H

#include <gram/model.h>

GRAM_BEGIN

typedef struct gram_cca_options {
    size_t size;
    int64_t components;   /* 0 (default): 2, or 1 if there are no 2 */
    double kappa;         /* at least 0; NaN (default): by left-out rows, of which there must be 10 in all */
    int64_t permutations; /* 0: no p-value; default 199 */
    int64_t
        rank; /* features of a view at most, to 32768; 0 (default): 1,000, or as many as a fifth of the budget holds */
    const int64_t
        *groups; /* n numbers: folds keep rows of one number together; NULL (default): none. Borrowed for the call */
    int ordered; /* rows are in order of time, and folds go forward in it; default 0 */
} gram_cca_options;

GRAM_API void gram_cca_options_init(gram_cca_options *options, size_t size);

typedef struct gram_cca_report {
    size_t size;
    int64_t n, components;
    double kappa;
    int chosen;      /* by left-out rows */
    double held_out; /* the held-out correlation of the choice; NaN if there was none to make */
    double p_value;  /* NaN: none was asked for */
    int64_t permutations;
    int64_t rank[2];       /* features of the views */
    double trace_error[2]; /* tr(K - F F')/tr K */
} gram_cca_report;

typedef struct gram_cca gram_cca;

/* Finds the correlations of n >= 3 pairs of rows; the kernels must be complete. Options may be NULL. The caller destroys the result
 * (takes NULL). The same bits for any number of threads. */
GRAM_API gram_status gram_cca_fit(gram_context *context, gram_kernel *kernel_x, const gram_points *x,
                                  gram_kernel *kernel_y, const gram_points *y, const gram_cca_options *options,
                                  gram_cca **cca);
GRAM_API void gram_cca_destroy(gram_cca *cca);

/* All belong to the result. The functions have one output for each component: view 0 is x, view 1 y. */
GRAM_API gram_function *gram_cca_function(const gram_cca *cca, int view);
GRAM_API const gram_cca_report *gram_cca_get_report(const gram_cca *cca);
/* rho_1, rho_2, ... */
GRAM_API const double *gram_cca_correlations(const gram_cca *cca);

GRAM_END

#endif
