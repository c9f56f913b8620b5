/* SMO on variables whose whole matrix is in memory. */
#ifndef GRAM_SOLVE_SMO_SMO_BLOCK_H
#define GRAM_SOLVE_SMO_SMO_BLOCK_H

#include "solve/smo/smo_loops.h"

/* Minimise b'Kb/2 - c'b over lower <= b <= upper; v = c - K b is the state.
 *
 * The variables are two segments, the first of count[0] entries, the second of count[1] right after it in the arrays, and K
 * is four matrices, one for each pair of segments. Counts are multiples of GRAM_SMO_LANES; what fills up has lower = upper =
 * b = 0 and a diagonal above 0. The sum of b is kept over each segment, or over both together if they are `joined`.
 *
 * With `alone` no sum is kept, and a variable may move by itself: as if there were one more, the partner of such a move, without
 * bounds, whose row of K is 0 and whose v is always `level`. */
typedef struct gram_smo_block_f64 {
    int64_t count[2];
    int joined, alone;
    const double *zero;    /* alone: as many zeros as a segment has entries */
    double level;          /* alone: what v is compared with: 0, but in the units of v */
    const double *k[2][2]; /* row i of segment s against segment t: k[s][t] + i * ld[s][t] */
    int64_t ld[2][2];
    double *diagonal, *v, *rise, *fall;
    double *b, *lower, *upper;
    double least; /* a curvature below it (equal points, a kernel that is not positive definite) is replaced by it */
    double unit;  /* what b changes by when v changes by K: 1, unless K or v are in units of their own */
} gram_smo_block_f64;

/* The same with K and v in f32, twice as fast: for working sets, which are solved to a part of their violation only. v is best
 * given as differences from the middle, in units of the violation. */
typedef struct gram_smo_block_f32 {
    int64_t count[2];
    int joined, alone;
    const float *zero;
    float level;
    const float *k[2][2];
    int64_t ld[2][2];
    float *diagonal, *v, *rise, *fall;
    double *b, *lower, *upper;
    double least, unit;
} gram_smo_block_f32;

/* `least` for a diagonal of this size. */
double gram_smo_least_curvature(double largest_diagonal);

/* Moves pairs until no v of an entry that can rise exceeds one that can fall (in its segment, unless joined) by more than the
 * tolerance (alone: also beyond `level`), or `most` steps are done, or a step is lost in rounding. Returns the steps. Second-order choice: the entry with the
 * highest v, and the partner with which a free step would lower the objective most (Fan, Chen and Lin, 2005). O(entries) each. */
int64_t gram_smo_block_solve_f64(const gram_smo_loops *loops, gram_smo_block_f64 *block, double tolerance,
                                 int64_t most);
int64_t gram_smo_block_solve_f32(const gram_smo_loops *loops, gram_smo_block_f32 *block, double tolerance,
                                 int64_t most);

#endif
