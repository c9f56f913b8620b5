/* SMO on a working set whose whole matrix is in memory. */
#ifndef GRAM_SOLVE_SMO_BLOCK_H
#define GRAM_SOLVE_SMO_BLOCK_H

#include "smo_loops.h"

/* Minimise b'Kb/2 - c'b over lower <= b <= upper with the sum over each of two groups kept; v = c - K b is the state. Group
 * 0 is the first `group` entries, group 1 the rest; both are filled up to multiples of GRAM_SMO_LANES by entries with lower
 * = upper = b = 0, and rows and columns of zeros. */
typedef struct gram_smo_block {
    int64_t size;  /* all entries */
    int64_t group; /* those of group 0 */
    double *k;     /* size x size */
    double *diagonal, *v, *b, *lower, *upper, *rise, *fall;
    double least; /* curvature */
} gram_smo_block;

/* Pairs of one group are moved until no v of an entry that can rise exceeds one that can fall in its group by more than the
 * tolerance, or after `most` steps. Returns the steps. Second-order choice: the entry with the highest v, and the partner
 * with which the step would lower the objective most (Fan, Chen and Lin, 2005). O(size) each. */
int64_t gram_smo_block_solve(const gram_smo_loops *loops, gram_smo_block *block, double tolerance, int64_t most);

#endif
