/* Random labels for permutation tests, as subsets of the points (pair_sums.h). */
#ifndef GRAM_TILE_RANDOM_LABELS_H
#define GRAM_TILE_RANDOM_LABELS_H

#include "tile/pair_sums.h"

/* How many labellings a test of so many permutations compares, the observed one included: `permutations` + 1, or all ways to choose
 * n of `points` if these are no more. */
int64_t gram_labels_count(int64_t points, int64_t n, int64_t permutations);

/* Subset 0 is {0 .. n-1}. If `count` is the number of all subsets of n points, these are all of them; else subset p > 0 is one of
 * them, each equally likely, by the context's seed and p. `bits` has gram_subset_bytes(points, count) bytes; `which` tells
 * several sets of labels apart. O(count points), parallel unless all are listed. */
gram_status gram_labels_make(gram_context *context, uint32_t which, int64_t points, int64_t n, int64_t count,
                             uint8_t *bits);

static inline int gram_label(const uint8_t *bits, int64_t count, int64_t point, int64_t subset)
{
    const int64_t record = (point / GRAM_PANEL * count + subset) * GRAM_SUBSET_BYTES;
    return bits[record + point % GRAM_PANEL / 8] >> (point % 8) & 1;
}

#endif
