/* Random numbers that depend on a seed, a stream and a position only (Philox 4x32-10): any part of a stream can be made
 * by any thread at any time and is always the same. */
#ifndef GRAM_RANDOM_H
#define GRAM_RANDOM_H

#include <stdint.h>

#include <gram/export.h>

GRAM_BEGIN

typedef struct gram_random {
    uint64_t seed;
    uint64_t stream; /* a name for the purpose or the task: different streams are independent */
} gram_random;

/* out[i] = number `first + i` of the stream, uniform on the open interval (0, 1). O(count). */
GRAM_API void gram_random_uniform(gram_random random, uint64_t first, int64_t count, double *out);

/* The same, standard normal. */
GRAM_API void gram_random_normal(gram_random random, uint64_t first, int64_t count, double *out);

/* out = permutation number `which` of 0 .. n-1, all n! equally likely. O(n), sequential. */
GRAM_API void gram_random_permutation(gram_random random, uint64_t which, int64_t n, int64_t *out);

/* A sample of `room` rows out of those that go by, each with the same probability: the place of row number `row` (from 0) in it,
 * where an earlier one may be; -1: none. */
GRAM_API int64_t gram_random_reservoir(gram_random random, int64_t row, int64_t room);

GRAM_END

#endif
