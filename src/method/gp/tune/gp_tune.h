/* Tuning of Gaussian processes from inside: what gp_tune.c, gp_tune_start.c and gp_tune_diagnosis.c share. */
#ifndef GRAM_METHOD_GP_TUNE_GP_TUNE_H
#define GRAM_METHOD_GP_TUNE_GP_TUNE_H

#include <gram/gp_tune.h>

#include "tune/gradient_search.h"

/* Value and gradient as gram_gp_likelihood has them. *memo, NULL at first, is kept between evaluations on the same rows. */
typedef gram_status (*gram_gp_evaluate_fn)(gram_context *context, gram_gp_objective objective, gram_kernel *kernel,
                                           const gram_points *x, const double *y, const gram_gp_options *options,
                                           void **memo, double *value, double *gradient);

/* A way to evaluate the objective. */
typedef struct gram_gp_engine {
    const char *name;                /* of the public function, for messages */
    int64_t small_rows, medium_rows; /* sizes of the samples below the last */
    double cost;                     /* an evaluation on n rows is n^cost operations */
    gram_gp_evaluate_fn evaluate;
    void (*forget)(void *memo); /* its end; takes NULL; may be NULL */
    int64_t most_rows;          /* that are tuned on, whatever is asked for; 0: as asked for */
    int likelihood_only;        /* the leave-one-out density has no gradient */
    int on_the_line;            /* points of one column: lengths may be as short as points are close */
} gram_gp_engine;

/* The problem within: y/scale, noises/scale^2 and, unless scale is 1, the kernel times 1/scale^2. */
typedef struct gram_gp_tuning {
    gram_gp_options options; /* of all rows; basis, row_noise and weights are those of the caller, or own */
    gram_gp_tune_options tune;
    const gram_gp_engine *engine;
    const gram_kernel *kernel; /* before open numbers were set: priors name its parameters */
    double scale;              /* a power of 2: 1 unless squares of y come near the ends of the numbers */
    double unit;               /* variance of y (mean square if the mean is zero), above 0 */
    int64_t n;
    double *y, *row_noise; /* own, if scale is not 1 */
    gram_kernel *scaled;   /* likewise */
    int on_the_line;       /* lengths may be as short as points are close */
    double weak_noise;     /* below this noise, in the caller's units, the weak prior presses; 0: there is none */
    int noise_held;        /* by it: the likelihood alone would take less */
    int no_priors;         /* left out for the moment */
    char *diagnosis;       /* GRAM_GP_DIAGNOSIS characters */
    double value;          /* at the result, without priors */
} gram_gp_tuning;

static inline gram_gp_tuning *gram_gp_tuning_of(const gram_tuning *t)
{
    return t->self;
}

/* ---- gp_tune_start.c ---- */

/* For each parameter of the kernel the unit it is measured in if it is an amplitude, else NaN: the variance of y over the
 * mean diagonal of what it multiplies. *count is how many there are. */
gram_status gram_gp_amplitude_units(gram_tuning *t, const gram_kernel *kernel, double *units, int64_t *count);

/* The method's `prepare` and `bounds`. */
gram_status gram_gp_tuning_prepare(gram_tuning *t, const gram_kernel *kernel, gram_kernel **resolved);
gram_status gram_gp_tuning_bounds(gram_tuning *t, gram_space *space);

/* ---- gp_tune_diagnosis.c: the method's `finish` ---- */

gram_status gram_gp_tuning_finish(gram_tuning *t, gram_candidate *c);

/* ---- gp_tune_options.c ---- */

/* Defaults for NULL; fails, with `function` in front, for impossible values. */
gram_status gram_gp_tune_options_read(gram_context *context, const char *function, const gram_gp_tune_options *options,
                                      const gram_kernel *kernel, gram_gp_tune_options *read);

/* Where the weak prior of the noise begins, for a noise that is measured in this unit; 0 if it is not wanted, or something else
 * holds the noise: a prior of the caller's, known noises of the rows, white noise in the kernel. */
double gram_gp_weak_noise(const gram_gp_tuning *g, double unit);

/* Log density of the priors at a kernel and a noise, in the caller's units; its gradient by the parameters and by the noise
 * is added to `gradient` unless that is NULL. */
gram_status gram_gp_log_prior(gram_context *context, const gram_gp_tuning *g, const gram_kernel *kernel, double noise,
                              double *value, double *gradient);

#endif
