/* The pairs of one sample under a kernel, centred: what the tests of src/method sum over.
 *
 *     C_ij = k(x_i, x_j) - a_i - a_j + c
 *
 * Two centrings. GRAM_CENTRE_PAIRS makes the sums over j != i of each row 0 (a_i = r_i/(n - 2), c = T/((n - 1)(n - 2)), r and
 * T being sums over j != i: Szekely and Rizzo's U-centring). GRAM_CENTRE_ALL makes the whole rows 0: C = H K H, H = I - 1 1'/n.
 * Nothing of size n^2 is held: each call passes over the tiles again. */
#ifndef GRAM_TILE_PAIR_SUMS_H
#define GRAM_TILE_PAIR_SUMS_H

#include "tile/engine.h"

typedef enum gram_centring { GRAM_CENTRE_PAIRS, GRAM_CENTRE_ALL } gram_centring;

typedef struct gram_pairs {
    gram_engine *engine;
    int64_t n, padded;
    double *row;      /* a_i, padded to whole panels */
    double *diagonal; /* C_ii, padded */
    double offset;    /* c */
    double limit;     /* the size of the numbers that were added up: rounding is relative to it */
    double squares;   /* sum over i > j of C_ij^2 */
    double largest;   /* |C_ij| over i > j */
} gram_pairs;

/* O(n^2 d). GRAM_ERROR_NUMERICAL if entries are so large that their sums are not finite. */
gram_status gram_pairs_create(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                              gram_centring centring, gram_pairs *pairs);
/* Takes zeroed ones. */
void gram_pairs_destroy(gram_context *context, gram_pairs *pairs);

/* Subsets of the points: bit i % GRAM_PANEL of the record (i / GRAM_PANEL, subset), GRAM_SUBSET_BYTES each, is set if point i
 * belongs to it. */
static inline uint8_t *gram_subset_record(uint8_t *bits, int64_t count, int64_t panel, int64_t subset)
{
    return bits + (panel * count + subset) * GRAM_SUBSET_BYTES;
}
int64_t gram_subset_bytes(int64_t points, int64_t count);

/* sums[p] = sum over i > j, both in subset p, of C_ij in units of *unit: whole numbers. The unit is 2^-23 of the largest
 * |C_ij|, and each term is off by half a unit at most, so the sum by half the number of its pairs. O(n^2 (d + count/8)). */
gram_status gram_pairs_subsets(gram_context *context, const gram_pairs *pairs, int64_t count, const uint8_t *bits,
                               int64_t *sums, double *unit);

/* sums[p] = sum over i > j of w_ip w_jp C_ij in f64; w is padded x count, row-major, 0 in the rows of the padding.
 * O(n^2 (d + count)). */
gram_status gram_pairs_forms(gram_context *context, const gram_pairs *pairs, int64_t count, const double *w,
                             double *sums);

/* sum over i > j of C_ij D_ij for two of the same points' number. */
gram_status gram_pairs_products(gram_context *context, const gram_pairs *c, const gram_pairs *d, double *sum);

/* Row i of C, n numbers. */
gram_status gram_pairs_matrix(gram_context *context, const gram_pairs *pairs, double *out, int64_t ld);

#endif
