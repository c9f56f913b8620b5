/* A low rank of K by pivots, and the matrix M = F F' + diag(shift) that is made of it.
 *
 * <gram/nystrom.h> only solves with M. Here the pivots are returned (rows that make good inducing points), log |M| is known,
 * and M is the covariance of vectors that can be drawn. */
#ifndef GRAM_SOLVE_PIVOTED_CHOLESKY_H
#define GRAM_SOLVE_PIVOTED_CHOLESKY_H

#include <gram/matrix.h>
#include <gram/random.h>

#include "base/context.h"

/* K ~ F F'; K - F F' is positive semi-definite, `left` is its diagonal. */
typedef struct gram_pivoted {
    int64_t n, rank, room; /* room: columns of f */
    double *f;             /* n x room; those beyond the rank mean nothing */
    double *left;          /* n */
    int64_t *pivot;        /* rank rows, in the order in which they were taken */
    double trace, missed;  /* of K, of K - F F' */
} gram_pivoted;

typedef enum gram_pivot {
    GRAM_PIVOT_LARGEST, /* each has at least half of the largest variance that was left when it was taken */
    GRAM_PIVOT_DRAWN    /* each is drawn, by the context's seed, with the probability of its variance that was left */
} gram_pivot;

/* At most `room` (1 to n) pivots, fewer when they make K to rounding already. O(n rank (rank + d)) time. Free it after a
 * failure, too. */
gram_status gram_pivoted_make(gram_context *context, const gram_kernel *kernel, const gram_points *x, gram_pivot rule,
                              int64_t room, gram_pivoted *pivoted);
void gram_pivoted_free(gram_memory *memory, gram_pivoted *pivoted);

/* M = F F' + diag(shift), held as E = D^-1/2 F and the Cholesky factor of I + E'E. */
typedef struct gram_low_rank gram_low_rank;

/* Pivots are drawn. shift: n numbers > 0. The caller destroys it. */
gram_status gram_low_rank_create(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                 const double *shift, int64_t rank, gram_low_rank **low_rank);
/* Takes NULL. */
void gram_low_rank_destroy(gram_low_rank *low_rank);

/* Bytes that one of full rank takes at most while it is made. */
size_t gram_low_rank_bytes(int64_t n, int64_t rank);

int64_t gram_low_rank_rank(const gram_low_rank *low_rank);
double gram_low_rank_trace_error(const gram_low_rank *low_rank); /* tr(K - F F')/tr(K) */
double gram_low_rank_log_determinant(const gram_low_rank *low_rank);

/* v = M^-1 v in place: n x columns, row-major; user is the gram_low_rank. O(n rank columns). */
gram_status gram_low_rank_solve(void *user, gram_context *context, int64_t columns, double *v, int64_t ldv);

/* Column c of v becomes vector number c of the stream, drawn from N(0, M). */
gram_status gram_low_rank_draw(gram_context *context, const gram_low_rank *low_rank, gram_random random,
                               int64_t columns, double *v, int64_t ldv);

#endif
