/* The matrix M near A = K + diag(shift) that conjugate gradients of a Gaussian process compare A with. */
#ifndef GRAM_METHOD_GP_CG_GP_CG_PRECONDITIONER_H
#define GRAM_METHOD_GP_CG_GP_CG_PRECONDITIONER_H

#include <gram/cg.h>
#include <gram/gp.h>
#include <gram/random.h>

#include "base/context.h"

/* What each kind of M can do; `data` is its own. */
typedef struct gram_gp_preconditioner_kind {
    gram_precondition_fn solve; /* v = M^-1 v */
    double (*log_determinant)(const void *data);
    /* Column c of v becomes vector number c of the stream, drawn from N(0, M). */
    gram_status (*draw)(gram_context *context, const void *data, gram_random random, int64_t columns, double *v,
                        int64_t ldv);
    void (*destroy)(void *data);
    int whole; /* M is A to rounding: few iterations or none will do, and tr(M^-1 dA) is worth n solves with M */
} gram_gp_preconditioner_kind;

typedef struct gram_gp_preconditioner {
    const gram_gp_preconditioner_kind *kind; /* NULL: not made */
    void *data;
    int64_t rank, most; /* most: iterations that make sense with it */
    double trace_error;
} gram_gp_preconditioner;

/* A factor in f32 if `mixed`, else a low rank; by options->rank and most; `name` for messages. */
gram_status gram_gp_preconditioner_make(gram_context *context, const char *name, const gram_kernel *kernel,
                                        const gram_points *x, const double *shift, int mixed,
                                        const gram_gp_cg_options *options, gram_gp_preconditioner *m);
/* Takes one that was not made, if zeroed. */
void gram_gp_preconditioner_free(gram_gp_preconditioner *m);

/* What a run that ended with `status` after these iterations means. When M is A to rounding and the iterations that the options
 * allow were not used up, not converging is the matrix's fault: GRAM_ERROR_NUMERICAL with a message. */
gram_status gram_gp_preconditioner_judge(gram_context *context, const char *name, const gram_gp_preconditioner *m,
                                         const gram_gp_cg_options *options, gram_status status, int64_t iterations);

#endif
