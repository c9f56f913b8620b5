/* Inducing points from inside: one evaluation of the bound, the choice of positions, the search. */
#ifndef GRAM_METHOD_GP_INDUCING_GP_INDUCING_H
#define GRAM_METHOD_GP_INDUCING_GP_INDUCING_H

#include <gram/gp_inducing.h>

#include "method/gp/gp_mean.h"
#include "solve/minimise.h"

/* What one evaluation makes: the posterior of the low-rank model. Row i has phi_i = D_i^-1/2 L^-1 k_z(x_i), the rows of Phi;
 * B = I + Phi'Phi. */
typedef struct gram_inducing {
    gram_gp_system base; /* n, d, q, options; small and beta below; nothing of n numbers */
    gram_kernel *kernel; /* borrowed, as are x and y */
    const gram_points *x;
    gram_points *z;
    int64_t m;
    double *numbers; /* all arrays below */
    int64_t size;
    double *positions;    /* m x d */
    double *factor;       /* m x m, lower: L of K_zz */
    double *inner;        /* m x m, lower: L_B of B */
    double *solved;       /* m x (q + 1): B^-1 Phi'D^-1/2 [T, y] */
    double *weights;      /* m x (q + 1): L^-T of that, K_zz^-1 K_zx A^-1 [T, y] */
    double *target;       /* m: solved of y - T beta */
    double *coefficients; /* m: weights of y - T beta */
    double *mean_weights; /* m x q: the first q columns of weights */
    gram_gp_inducing_value value;
} gram_inducing;

struct gram_gp_inducing {
    gram_memory *memory;
    gram_kernel *kernel;
    gram_inducing model; /* x and y are not kept */
    gram_gp_inducing_report report;
};

/* Room for m inducing points of a system that has begun; gram_inducing_free is due after a failure, too. */
gram_status gram_inducing_take(gram_context *context, int64_t m, gram_inducing *model);
void gram_inducing_free(gram_memory *memory, gram_inducing *model);

/* The bound and everything else, of a model whose kernel, data, noise and positions are set. A K_zz that is not positive
 * definite to rounding is GRAM_ERROR_NUMERICAL. */
gram_status gram_inducing_evaluate(gram_context *context, double jitter, gram_inducing *model);

/* Derivatives of the bound by the kernel's parameters and the noise, and (unless NULL) by the positions, m x d. */
gram_status gram_inducing_differentiate(gram_context *context, const gram_inducing *model, double *gradient,
                                        double *position_gradient);

/* Positions for `count` inducing points to out (count x d); *made of them are there. */
gram_status gram_inducing_choose(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                 gram_inducing_choice choice, int64_t count, double *out, int64_t *made);

/* Learns what the options say from a model whose positions are set; leaves kernel, noise and positions at the best that was
 * found, the model not evaluated there, and says so in the report. */
gram_status gram_inducing_learn(gram_context *context, const gram_gp_inducing_options *options, gram_gp_inducing *gp);

#endif
