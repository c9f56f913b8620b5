/* Partial Cholesky factors with pivots: K ~ F F' from a few columns of K.
 *
 * K - F F' stays positive semi-definite, so that its trace, which is known, bounds every entry. The pivots are rows that stand for
 * the others: inducing points, landmarks. */
#ifndef GRAM_SOLVE_PIVOTED_CHOLESKY_H
#define GRAM_SOLVE_PIVOTED_CHOLESKY_H

#include <gram/matrix.h>

#include "base/context.h"
#include "solve/pivot_rule.h"

enum { GRAM_PIVOTED_BLOCK = 64, GRAM_PIVOTED_MOST = 1 << 15 };

typedef struct gram_pivoted_options {
    const gram_pivot_rule *rule;
    int64_t room;     /* pivots at most: 1 to n, and to GRAM_PIVOTED_MOST */
    int block;        /* rows proposed together, 1 (column by column) to GRAM_PIVOT_MOST; 0 means GRAM_PIVOTED_BLOCK */
    double tolerance; /* ends when tr(K - F F') <= tolerance tr K; 0: only when K is made to rounding */
    double floor;     /* no pivots below that much of the mean diagonal; 0: 1e-14, for f32 points 1e-6 */
    int parted;       /* with several ranks each keeps the rows of f that are its part of n, where the work is spread */
} gram_pivoted_options;

typedef struct gram_pivoted {
    int64_t n, rank, room; /* room: columns of f */
    double *f;             /* rows first to end - 1, each of room numbers; those beyond the rank mean nothing */
    int64_t first, end;    /* 0 and n unless it is parted */
    double *left;          /* n: the diagonal of K - F F' */
    int64_t *pivot;        /* rank rows, in the order in which they were taken */
    double trace, missed;  /* of K, of K - F F' */
} gram_pivoted;

/* O(n rank (rank + d)) time and n block numbers besides the result. GRAM_ERROR_NUMERICAL: a diagonal entry of K is negative
 * or not finite. The same bits for any number of threads. Free it after a failure, too. */
gram_status gram_pivoted_make(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                              const gram_pivoted_options *options, gram_pivoted *pivoted);
/* Takes zeroed ones. */
void gram_pivoted_free(gram_memory *memory, gram_pivoted *pivoted);

/* Bytes that one of full rank takes at most while it is made in blocks of the usual size, points aside. */
size_t gram_pivoted_bytes(int64_t n, int64_t room);

#endif
