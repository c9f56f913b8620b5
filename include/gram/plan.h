/* Planning a fit before it is begun: what fits in the memory budget, what it will take, and which way is chosen. */
#ifndef GRAM_PLAN_H
#define GRAM_PLAN_H

#include <gram/kernel.h>

GRAM_BEGIN

typedef enum gram_solver {
    GRAM_SOLVER_AUTO = 0,
    GRAM_SOLVER_EXACT = 1,   /* Cholesky */
    GRAM_SOLVER_CG = 2,      /* conjugate gradients with a low-rank preconditioner, matrix-free */
    GRAM_SOLVER_NYSTROM = 3, /* low rank: landmarks; ridge regression only */
    GRAM_SOLVER_MARKOV = 4, /* the Kalman filter on the line, and the next: Gaussian processes only, see gram_gp_plan */
    GRAM_SOLVER_INDUCING = 5, /* inducing points */
    GRAM_SOLVER_VECCHIA = 6,  /* each row given its nearest predecessors */
    GRAM_SOLVER_SKETCH =
        7 /* accelerated sketch-and-project, matrix-free, a block of rows at a time; ridge regression only */
} gram_solver;

typedef enum gram_precision {
    GRAM_PRECISION_AUTO = 0,
    GRAM_PRECISION_F64 = 1,
    GRAM_PRECISION_MIXED = 2, /* an f32 factor refined to the accuracy of f64 */
    GRAM_PRECISION_F32 = 3    /* an f32 factor, unrefined */
} gram_precision;

/* "auto", "exact", ...; "auto", "f64", ... Static. */
GRAM_API const char *gram_solver_name(gram_solver solver);
GRAM_API const char *gram_precision_name(gram_precision precision);

typedef struct gram_krr_plan_request {
    size_t size;
    int64_t n, d, outputs;
    const gram_kernel *kernel; /* NULL: a cheap one */
    gram_solver solver;
    gram_precision precision;
    int64_t landmarks; /* of Nystrom; 0: up to 3,000 */
    int leave_one_out; /* 1: needed, 0: not, -1: up to 5,000 points */
    int ridgeless;     /* lambda = 0 */
    int ranks; /* processes that share a factor and products with K; 0: those of the context, if n is worth it */
} gram_krr_plan_request;

GRAM_API void gram_krr_plan_request_init(gram_krr_plan_request *request, size_t size);

enum { GRAM_REASON_SIZE = 256 };

typedef struct gram_plan {
    gram_solver solver;
    gram_precision precision;
    int64_t landmarks;
    int leave_one_out;
    size_t bytes;                  /* that the fit will take at most */
    double seconds;                /* a rough estimate */
    char reason[GRAM_REASON_SIZE]; /* why, in a sentence */
} gram_plan;

/* Chooses; GRAM_ERROR_BUDGET, with what would fit, if what was asked for does not. */
GRAM_API gram_status gram_krr_plan(gram_context *context, const gram_krr_plan_request *request, gram_plan *plan);

/* Makes estimates of time those of this machine: its speed is read from the file, or measured (some hundredths of a second) and kept there. path may be
 * NULL, and a file that cannot be read or written is no failure. Choices change only where a time was set (gram_context_set_time). */
GRAM_API gram_status gram_context_use_speed(gram_context *context, const char *path);

GRAM_END

#endif
