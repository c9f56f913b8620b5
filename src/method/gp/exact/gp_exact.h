/* A conditioned Gaussian process from inside: what gp_exact.c makes and gp_exact_predict.c and gp_draw.c use. */
#ifndef GRAM_METHOD_GP_EXACT_GP_EXACT_H
#define GRAM_METHOD_GP_EXACT_GP_EXACT_H

#include "method/gp/gp_system.h"

struct gram_gp {
    gram_memory *memory;
    gram_function *function;
    gram_kernel *kernel;
    gram_gp_system system; /* y is not kept */
    gram_gp_report report;
    double *loo_mean, *loo_variance;
};

/* Are these points for that fit? `name` is for messages. */
gram_status gram_gp_check_points(gram_context *context, const char *name, const gram_gp *gp, const gram_points *points,
                                 const double *basis, int64_t ldb);

#endif
