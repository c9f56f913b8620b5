/* Learning the parameters of a Gaussian process: every free number of the kernel and the noise.
 *
 * The log marginal likelihood, or the leave-one-out log predictive density, is maximised with its exact gradient by a
 * quasi-Newton method on the log scale, between bounds that the data suggest and from several starts. Large sets are tuned
 * on a seeded subset of their rows. Deterministic: the same seed, the same result, with any number of threads.
 *
 * Bounds: a length-scale between 1/1,000 and 1e5 times the extent of its columns; the noise between 1e-10 and 10, and
 * amplitudes (a constant factor of a summand of the kernel) between 1e-6 and 1e6 times the variance of y; other positive
 * numbers within a factor of 1,000 of where they start. Starts that are further out widen them.
 *
 * Failures: what <gram/gp.h> lists; GRAM_ERROR_ARGUMENT names an option out of its range. */
#ifndef GRAM_GP_TUNE_H
#define GRAM_GP_TUNE_H

#include <gram/gp.h>

GRAM_BEGIN

typedef enum gram_gp_objective {
    GRAM_GP_OBJECTIVE_ML = 0, /* log marginal likelihood */
    GRAM_GP_OBJECTIVE_LOO = 1 /* sum over rows of log p(y_i | the others), the parameters held */
} gram_gp_objective;

/* "ml", "loo". Static. */
GRAM_API const char *gram_gp_objective_name(gram_gp_objective objective);

enum { GRAM_GP_PRIOR_NOISE = -1 };

/* A log-normal prior: the logarithm of the parameter is N(mean, deviation^2). Its log density as a function of that
 * logarithm is added to the objective. */
typedef struct gram_gp_prior {
    int64_t
        parameter; /* its number in the kernel that is given, or GRAM_GP_PRIOR_NOISE; one length that becomes one per
                          column has the prior on each of them */
    double mean, deviation;
} gram_gp_prior;

typedef struct gram_gp_tune_options {
    size_t size;
    gram_gp_objective objective;
    int noise_fixed; /* keep the noise of gram_gp_options; default 0 */
    /* one length-scale per column: 1 try it, 0 do not, -1 (default) try it up to 30 columns; kept only if the objective is
     * better than with one for all by more than the extra numbers explain (log(n)/2 for each) */
    int ard;
    int64_t
        rows; /* tune on at most this many rows; default 3,000. gram_markov_tune takes all, solver vecchia 100,000 */
    /* descents from different starts on a small sample of the rows, at most; default 3. Up to 200 rows in all there are 12
     * more with one length-scale and 8 more with one per column, up to 600 as many as take the same time */
    int64_t restarts;
    int64_t evaluations; /* of the objective with gradient on all tuning rows, at most; default 3,000 */
    int64_t prior_count;
    const gram_gp_prior *priors;
    /* 1 (default): a weak prior holds the noise off 0, as heavy as half the logarithm of one row's variance: the log density
     * -log(1 + a/noise)/2 is added, a being 1 % of the variance of y. On few rows the likelihood alone often says nothing
     * against a noise of 0. 0: none. It is not used where many rows outweigh it (above 600, of gram_markov_tune 4,500), the
     * noise is fixed or has a prior above, nor beside row_noise or white() in the kernel */
    int noise_prior;
} gram_gp_tune_options;

GRAM_API void gram_gp_tune_options_init(gram_gp_tune_options *options, size_t size);

enum { GRAM_GP_DIAGNOSIS = 1024 };

/* What tuning did. The caller sets size. */
typedef struct gram_gp_tune_report {
    size_t size;
    int64_t rows;        /* tuned on */
    int64_t evaluations; /* of the objective with gradient on all of them */
    double value; /* of the objective on them at the result, without priors; NaN if they are too few to have one */
    double value_isotropic; /* with one length-scale for all, priors included; NaN if ARD was not tried */
    int ard_kept;
    int at_bound; /* a parameter ended at a bound of its search range */
    /* For people, empty if there is nothing to say: which parameter is at a bound, that the noise vanished, of which
     * parameters the data say nothing (twice or half the value changes the objective by less than 0.1). */
    char diagnosis[GRAM_GP_DIAGNOSIS];
    int noise_held; /* the weak prior holds the noise: half of it would be as likely */
} gram_gp_tune_report;

/* Chooses every parameter of the kernel that is not fixed, and the noise (row_noise and weights are known). Unset ones start
 * from the data, set ones from their value; options->noise is a start, too. *tuned is a new kernel (the caller releases it),
 * *noise is in the units of y squared. A target that a constant explains, and fewer than two rows more than the mean has
 * columns, leave nothing to choose by: the start is returned. report may be NULL. GRAM_NOT_CONVERGED, with the best result
 * so far, when `evaluations` ran out.
 *
 * With options->solver GRAM_SOLVER_VECCHIA (or a plan that says so) by the likelihood of its conditionals, O(r m^3) for each of some tens
 * of evaluations; neighbours are found again when the proportions of the lengths change. GRAM_GP_OBJECTIVE_LOO is then
 * GRAM_ERROR_UNSUPPORTED. Otherwise O(r^3) for r rows that are tuned on, some 20 to 60 times r^3 operations (LOO: twice that); memory for r^2/2 numbers
 * (LOO: 2 r^2). Progress is reported as "tuning". */
GRAM_API gram_status gram_gp_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                  const gram_gp_options *options, const gram_gp_tune_options *tune, gram_kernel **tuned,
                                  double *noise, gram_gp_tune_report *report);

/* The objective at the kernel's values and options->noise on all rows, and its gradient by every parameter of the kernel (as
 * the values are) and last by the noise; gradient may be NULL. ML: gram_gp_likelihood. LOO has no value where a row is all
 * that determines a coefficient of the mean: GRAM_ERROR_NUMERICAL. Its gradient takes 2 n^3 operations and 2 n^2 numbers. */
GRAM_API gram_status gram_gp_objective_value(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                             const double *y, const gram_gp_options *options,
                                             gram_gp_objective objective, double *value, double *gradient);

/* The same as gram_gp_tune for kernels that gram_markov_supports names and points on the line, in O(n) operations and memory, by the
 * marginal likelihood of all rows; GRAM_ERROR_UNSUPPORTED for GRAM_GP_OBJECTIVE_LOO. `rows` is not used. */
GRAM_API gram_status gram_markov_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                      const gram_gp_options *options, const gram_gp_tune_options *tune,
                                      gram_kernel **tuned, double *noise, gram_gp_tune_report *report);

GRAM_END

#endif
