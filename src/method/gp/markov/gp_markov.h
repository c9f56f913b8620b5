/* A fit on the line from inside: the settled system, and what is kept of the way back. */
#ifndef GRAM_METHOD_GP_MARKOV_GP_MARKOV_H
#define GRAM_METHOD_GP_MARKOV_GP_MARKOV_H

#include <gram/gp.h>

#include "method/gp/markov/markov_system.h"

/* As gram_gp_likelihood, in O(n s^3) for a state of s numbers, with a gradient some three times that, whatever the number of
 * parameters. */
gram_status gram_markov_likelihood(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                   const gram_gp_options *options, double *value, double *gradient);

typedef struct gram_markov gram_markov;

typedef struct gram_markov_report {
    size_t size;
    int64_t n, states;
    double noise;
    double log_marginal_likelihood;
    double train_rmse, train_r2;
    double loo_rmse, loo_r2;
    double loo_log_density; /* mean over rows of log p(y_i | others), the parameters held */
    double loo_coverage;    /* share of rows within their own 95 % leave-one-out interval */
} gram_markov_report;

/* Conditions on n points x and y, which are copied. Keeps O(n) numbers. The caller destroys the result. */
gram_status gram_markov_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                            const gram_gp_options *options, gram_markov **fit);
/* Takes NULL. */
void gram_markov_destroy(gram_markov *fit);

const gram_markov_report *gram_markov_get_report(const gram_markov *fit);
/* Coefficients of the mean: its constant, its slope, those of the given columns, as far as there are such. */
const double *gram_markov_mean_coefficients(const gram_markov *fit);
/* Fitted values, leave-one-out means and variances of y_i; n numbers each, in the caller's order. Belong to the fit. */
const double *gram_markov_fitted(const gram_markov *fit);
const double *gram_markov_loo_mean(const gram_markov *fit);
const double *gram_markov_loo_variance(const gram_markov *fit);

/* Posterior mean and (unless NULL) variance of f + m at m points, as gram_gp_predict; never negative. O((n + m) s^3). */
gram_status gram_markov_predict(gram_context *context, const gram_markov *fit, const gram_points *points,
                                const double *basis, int64_t ldb, double *mean, double *variance);

/* `count` joint draws of f + m from the posterior, drawn by the context's seed: out[i * ldo + j] is draw j at point i. Exact,
 * without jitter. O(count (n + m)) and O(n + m) numbers of memory. */
gram_status gram_markov_draw(gram_context *context, const gram_markov *fit, const gram_points *points,
                             const double *basis, int64_t ldb, int64_t count, double *out, int64_t ldo);

/* The same from the prior GP(0, k). */
gram_status gram_markov_draw_prior(gram_context *context, gram_kernel *kernel, const gram_points *points, int64_t count,
                                   double *out, int64_t ldo);

struct gram_markov {
    gram_memory *memory;
    gram_markov_system system; /* data: [y - T beta, T small^-T] */
    gram_markov_report report;
    double *coefficients; /* the mean's, by the caller's columns */
    double *fitted, *loo_mean, *loo_variance;
};

/* Data and new points in one ascending sequence. */
typedef struct gram_markov_merge {
    int64_t n, m, count; /* count = n + m */
    int64_t *order;      /* m: the caller's row of each new point, ascending */
    double *sorted;      /* m */
    int64_t *place;      /* n + m: where the sorted data, then the sorted new points, are in the sequence */
    double *t, *noise;   /* count; the noise of a new point is -1 */
} gram_markov_merge;

/* fit NULL: new points alone. Zeroes first; free also after a failure. */
gram_status gram_markov_merge_make(gram_context *context, const gram_markov *fit, const gram_points *points,
                                   gram_markov_merge *merge);
void gram_markov_merge_free(gram_context *context, gram_markov_merge *merge);

/* Arguments of a prediction. */
gram_status gram_markov_check_new(gram_context *context, const char *name, const gram_markov *fit,
                                  const gram_points *points, const double *basis, int64_t ldb);

#endif
