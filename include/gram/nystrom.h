/* A preconditioner for K(X, X) + diag(shift) from a low rank: M = F F' + diag(shift), F n x rank.
 *
 * F is a partial Cholesky factor of K whose pivots are drawn at random, each with the probability of what is left of
 * its diagonal entry; K - F F' is positive semi-definite and its trace is known. It helps conjugate gradients where the
 * eigenvalues of K above the shift are fewer than the rank. The same bits for any number of threads; the pivots
 * depend on the context's seed.
 *
 * Common failures: what <gram/matrix.h> lists. */
#ifndef GRAM_NYSTROM_H
#define GRAM_NYSTROM_H

#include <gram/matrix.h>

GRAM_BEGIN

typedef struct gram_nystrom gram_nystrom;

/* shift: n numbers > 0 (GRAM_ERROR_ARGUMENT names the first that is not). 1 <= rank <= n, at most 32,768; fewer
 * are used when they make K to rounding already. O(n rank (rank + d)) time. The caller destroys it. */
GRAM_API gram_status gram_nystrom_create(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                         const double *shift, int64_t rank, gram_nystrom **nystrom);
/* Takes NULL. */
GRAM_API void gram_nystrom_destroy(gram_nystrom *nystrom);

/* Bytes that one of full rank takes at most while it is made, points aside; 0 for sizes out of range. */
GRAM_API size_t gram_nystrom_bytes(int64_t n, int64_t rank);

/* The rank used, and tr(K - F F')/tr(K). */
GRAM_API int64_t gram_nystrom_rank(const gram_nystrom *nystrom);
GRAM_API double gram_nystrom_trace_error(const gram_nystrom *nystrom);

/* v = M^-1 v in place: n x columns, row-major. O(n rank columns). */
GRAM_API gram_status gram_nystrom_solve(gram_context *context, const gram_nystrom *nystrom, int64_t columns, double *v,
                                        int64_t ldv);

/* The same for gram_cg_options.precondition (<gram/cg.h>): user is the gram_nystrom. */
GRAM_API gram_status gram_nystrom_precondition(void *user, gram_context *context, int64_t columns, double *v,
                                               int64_t ldv);

GRAM_END

#endif
