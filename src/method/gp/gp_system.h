/* The linear algebra that likelihood and posterior of a Gaussian process share: A a = y - T beta. */
#ifndef GRAM_METHOD_GP_GP_SYSTEM_H
#define GRAM_METHOD_GP_GP_SYSTEM_H

#include <gram/cholesky.h>
#include <gram/gp_tune.h>

#include "base/context.h"

typedef struct gram_gp_system {
    int64_t n, d, q; /* q columns of the mean */
    gram_gp_options options;
    const double *y;
    double *t;     /* n x q: the columns of the mean */
    double *shift; /* n: what is added to the diagonal of K */
    gram_cholesky *factor;
    double jitter;
    double *h;    /* n x q: A^-1 T */
    double *a;    /* n: A^-1 (y - T beta) */
    double *beta; /* q */
    double
        *small; /* q x q, lower: Cholesky factor of T'A^-1 T; columns that depend on others have an infinite diagonal */
    int64_t rank;                      /* columns that do not */
    double quadratic;                  /* y'P y */
    double log_determinant, log_small; /* of A and of T'A^-1 T */
} gram_gp_system;

/* Options of that size, the defaults where it ends; NULL: the defaults. */
gram_status gram_gp_options_read(gram_context *context, const char *name, const gram_gp_options *options,
                                 gram_gp_options *out);
/* Forgets what belongs to the caller. */
void gram_gp_options_forget(gram_gp_options *options);

/* Checks the arguments of a regression (`name` for messages). */
gram_status gram_gp_check(gram_context *context, const char *name, const gram_kernel *kernel, const gram_points *x,
                          const double *y, const gram_gp_options *options);

/* The variance of observation i, and its derivative by the noise. */
static inline double gram_gp_noise_share(const gram_gp_options *options, int64_t i)
{
    return options->weights ? 1 / options->weights[i] : 1;
}

static inline double gram_gp_row_noise(const gram_gp_options *options, int64_t i)
{
    return options->noise * gram_gp_noise_share(options, i) + (options->row_noise ? options->row_noise[i] : 0);
}

/* Checks the arguments (`name` for messages), factors and solves. gram_gp_system_free is due after a failure, too. `lenient`: A that
 * is not positive definite to working precision gets the least jitter that makes it so; without, and where a pivot is not larger
 * than its rounding errors, that is GRAM_ERROR_NUMERICAL, since determinant and derivatives would be made of those. */
gram_status gram_gp_system_make(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                                const double *y, const gram_gp_options *options, int lenient, gram_gp_system *system);
void gram_gp_system_free(gram_context *context, gram_gp_system *system);

/* The columns of the mean for one row: what it makes of 1 and of the coordinates (of a point 1 and x), and the caller's columns. */
void gram_gp_mean_row(const gram_gp_system *system, double one, const double *x, const double *basis, double *row);

/* v = (L_small)^-1 v */
void gram_gp_small_solve(const gram_gp_system *system, double *v);

double gram_gp_log_likelihood(const gram_gp_system *system);

/* (gp_likelihood.c) The objective at the kernel's values and its gradient, as gram_gp_objective_value has it. */
gram_status gram_gp_evaluate(gram_context *context, const char *name, gram_gp_objective objective, gram_kernel *kernel,
                             const gram_points *x, const double *y, const gram_gp_options *options, double *value,
                             double *gradient);

#endif
