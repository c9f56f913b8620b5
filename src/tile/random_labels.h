/* Random labels for permutation tests, as subsets of the points (pair_sums.h). */
#ifndef GRAM_TILE_RANDOM_LABELS_H
#define GRAM_TILE_RANDOM_LABELS_H

#include "tile/pair_sums.h"

/* Subset 0 is {0 .. n-1}, subset p > 0 one of all subsets of n points, each equally
 * likely, by the context's seed and p. `bits` has
 * gram_subset_bytes(pairs, count) bytes. O(count N), parallel. */
gram_status gram_labels_make(gram_context *context, const gram_pairs *pairs, int64_t n, int64_t count, uint8_t *bits);

static inline int gram_label(const uint8_t *bits, int64_t count, int64_t point, int64_t subset)
{
    const int64_t record = (point / GRAM_PANEL * count + subset) * GRAM_SUBSET_BYTES;
    return bits[record + point % GRAM_PANEL / 8] >> (point % 8) & 1;
}

#endif
