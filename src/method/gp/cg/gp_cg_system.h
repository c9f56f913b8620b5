/* The solves that likelihood, posterior and paths share when there is no factor. */
#ifndef GRAM_METHOD_GP_CG_GP_CG_SYSTEM_H
#define GRAM_METHOD_GP_CG_GP_CG_SYSTEM_H

#include "method/gp/cg/gp_cg.h"
#include "method/gp/cg/gp_cg_preconditioner.h"
#include "method/gp/gp_mean.h"
#include "solve/lanczos.h"

typedef struct gram_gp_cg_system {
    gram_gp_system base; /* its factor stays NULL; t, h, a, beta, small, shift are made */
    const char *name;    /* of the function, for messages */
    gram_gp_cg_options options;
    double tolerance;
    gram_points *x; /* the caller's array */
    gram_operator *op;
    gram_gp_preconditioner m;
    int64_t probes;
    double *weighted;  /* n x probes: n/(z'M^-1 z) M^-1 z */
    double *solved;    /* n x probes: A^-1 z; where M is A to rounding A^-1 z - M^-1 z */
    int not_converged; /* and then: */
    gram_gp_cg_value value;
    double misfit;    /* |y - T beta - K a|^2 */
    double left_over; /* r'D^-1 r of the residual r = y - T beta - A a */
} gram_gp_cg_system;

/* Checks the arguments and makes operator and preconditioner, nothing solved; `tolerance` is the options' of this use. Free
 * it after a failure, too. */
gram_status gram_gp_cg_system_make(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                                   const double *y, const gram_gp_options *options, gram_gp_cg_system *system);
/* Solves for y, the mean and the probes: all of base and of value; `weighted` and `solved` if they are kept. */
gram_status gram_gp_cg_system_solve(gram_context *context, gram_gp_cg_system *system, int keep_probes);
void gram_gp_cg_system_free(gram_memory *memory, gram_gp_cg_system *system);

struct gram_gp_cg {
    gram_memory *memory;
    gram_kernel *kernel;
    gram_function *function;
    gram_gp_cg_system system; /* its operator is over the function's centres; y is not kept */
    gram_gp_cg_report report;
};

#endif
