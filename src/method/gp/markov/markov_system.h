/* A regression on the line: sorted data, the mean's coefficients, and the likelihood's parts. */
#ifndef GRAM_METHOD_GP_MARKOV_MARKOV_SYSTEM_H
#define GRAM_METHOD_GP_MARKOV_MARKOV_SYSTEM_H

#include <gram/gp.h>

#include "solve/markov/markov_filter.h"
#include "solve/markov/markov_order.h"

typedef struct gram_markov_system {
    gram_gp_options options; /* basis and row_noise are the caller's: valid during the call only */
    gram_markov_model model;
    int64_t n;
    int q;          /* columns of the mean */
    int64_t *order; /* the caller's row of each sorted one */
    double *t;      /* sorted */
    double *noise;  /* its noise, with that of the kernel's white terms */
    double *
        data; /* n x (1 + q): y less a first guess of the mean, and the mean's columns; see gram_markov_system_settle */
    double centre, scale; /* the linear mean's column is (t - centre)/scale */
    double *beta;         /* coefficients of the mean's columns */
    double *delta;        /* q: scratch */
    double *small;        /* Cholesky factor of T'A^-1 T; the row of a column that depends on others is that of 1 */
    double *kept;         /* q: 0 for such a column */
    double *matrix;       /* (1 + q) x (1 + q): makes [y - T beta, T (small)^-T] of data */
    int64_t rank;
    double quadratic, log_determinant, log_small;
} gram_markov_system;

/* Checks, sorts and compiles. Zeroes first; free also after a failure. */
gram_status gram_markov_system_make(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                                    const double *y, const gram_gp_options *options, gram_markov_system *system);
void gram_markov_system_free(gram_memory *memory, gram_markov_system *system);

/* After the way forward over `data`: coefficients and the parts of the likelihood. */
void gram_markov_system_settle(gram_markov_system *system, const gram_markov_pass *pass);

double gram_markov_log_likelihood(const gram_markov_system *system);

/* The mean's columns at t; basis: the caller's there. */
void gram_markov_mean_row(const gram_markov_system *system, double t, const double *basis, double *row);
/* v = small^-1 v, 0 where a column was left out */
void gram_markov_small_solve(const gram_markov_system *system, double *v);

#endif
