/* Inducing points from inside: one evaluation of the bound, the choice of positions, the search. */
#ifndef GRAM_METHOD_GP_INDUCING_GP_INDUCING_H
#define GRAM_METHOD_GP_INDUCING_GP_INDUCING_H

#include <gram/gp.h>

#include "method/gp/gp_mean.h"
#include "solve/minimise.h"

/* Options of that size, the defaults where it ends; NULL: the defaults. */
gram_status gram_gp_inducing_options_read(gram_context *context, const char *name,
                                          const gram_gp_inducing_options *options, gram_gp_inducing_options *out);

typedef struct gram_gp_inducing_value {
    double bound;
    double log_likelihood; /* its first term */
    double trace;          /* tr(K - Q): what the inducing points do not explain */
    double trace_share;    /* of tr(K) */
    double jitter;         /* relative */
} gram_gp_inducing_value;

/* The bound at inducing points z, and unless NULL its gradient by every parameter of the kernel (as the values are), last by
 * the noise, and by the positions: position_gradient[i * ld + l]. Of options->inducing the jitter is used. */
gram_status gram_gp_inducing_bound(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                   const gram_points *z, const gram_gp_options *options, gram_gp_inducing_value *value,
                                   double *gradient, double *position_gradient, int64_t ld);

typedef struct gram_gp_inducing gram_gp_inducing;

typedef struct gram_gp_inducing_report {
    size_t size;
    int64_t n, d, m;
    double noise;
    gram_gp_inducing_value value; /* a model made from parts: as they say */
    int64_t evaluations;          /* of the search; 0 without one */
    int converged;
} gram_gp_inducing_report;

/* Chooses inducing points, learns what the options ask for (every number of the kernel must have a value to start from) and
 * conditions on the data. GRAM_NOT_CONVERGED: the evaluations ran out, the best that was found stands. Keeps nothing of the
 * size of the data. The caller destroys it. */
gram_status gram_gp_inducing_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                 const gram_gp_options *options, gram_gp_inducing **gp);
/* Takes NULL. */
void gram_gp_inducing_destroy(gram_gp_inducing *gp);

const gram_gp_inducing_report *gram_gp_inducing_get_report(const gram_gp_inducing *gp);
/* The kernel, with what was learnt; it belongs to the gp. */
gram_kernel *gram_gp_inducing_kernel(const gram_gp_inducing *gp);

/* As gram_gp_predict, O(m^2) a point. The variance is max(k(x,x) - |L^-1 k_z|^2, 0) + |L_B^-1 L^-1 k_z|^2, never negative. */
gram_status gram_gp_inducing_predict(gram_context *context, const gram_gp_inducing *gp, const gram_points *points,
                                     const double *basis, int64_t ldb, double *mean, double *variance);

/* The arrays that a prediction needs: those of gram_gp_parts, but for the centres, which are `positions`. They belong to the gp. */
void gram_gp_inducing_describe(const gram_gp_inducing *gp, gram_gp_parts *parts);

/* The same model from parts, all copied. */
gram_status gram_gp_inducing_create(gram_context *context, gram_kernel *kernel, const gram_gp_parts *parts,
                                    gram_gp_inducing **gp);

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
    double added; /* to the diagonal of K_zz, the most */
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
