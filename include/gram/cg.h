/* Conjugate gradients on a symmetric positive definite operator, with a preconditioner, for several right-hand sides.
 *
 * Each right-hand side has its own scalars; products are made for all of them at once. */
#ifndef GRAM_CG_H
#define GRAM_CG_H

#include <gram/cholesky.h>

GRAM_BEGIN

/* v = M^-1 v in place: n x columns, row-major. */
typedef gram_status (*gram_precondition_fn)(void *user, gram_context *context, int64_t columns, double *v, int64_t ldv);

typedef struct gram_cg_options {
    size_t size;
    double tolerance;   /* of the backward error |b - A x|/(|A| |x| + |b|); default 1e-14 */
    int64_t iterations; /* at most; default 1000 */
    int64_t stall;      /* give up after this many iterations without halving the worst residual; default 0: never */
    gram_precondition_fn precondition; /* NULL: none */
    void *user;
} gram_cg_options;

GRAM_API void gram_cg_options_init(gram_cg_options *options, size_t size);

typedef struct gram_cg_report {
    size_t size;
    int64_t iterations;
    double backward_error; /* the worst of the right-hand sides, from true residuals; for |A| a lower bound is taken */
    double residual;       /* |b - A x|/|b|, the worst */
} gram_cg_report;

/* Solves A X = B; x holds the start (0 is usual) and the result. GRAM_NOT_CONVERGED leaves the best iterate, also
 * when A or M turned out not to be positive definite. B and x must be finite (GRAM_ERROR_DATA). A product and a
 * preconditioning for each iteration, two products more for |A| and for the true residual, and memory for 5 n
 * columns numbers. The same bits for any number of threads if A and M have them. report may be NULL. */
GRAM_API gram_status gram_cg_solve(gram_context *context, const gram_operator *a, int64_t columns, const double *b,
                                   int64_t ldb, double *x, int64_t ldx, const gram_cg_options *options,
                                   gram_cg_report *report);

/* The preconditioner that an f32 factor is: user is the gram_cholesky. */
GRAM_API gram_status gram_cholesky_precondition(void *user, gram_context *context, int64_t columns, double *v,
                                                int64_t ldv);

GRAM_END

#endif
