/* Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a block
 * cipher run on a counter. The key is the seed and the counter is (block, stream), 64 bits each; every block gives
 * 128 bits, that is two numbers, so that number i is half i % 2 of block i / 2.
 *
 * Normal numbers have the blocks from 2^63 on, hence uniform and normal numbers of one stream do not share bits. A
 * permutation takes its own key and stream from block `which` of its stream. */
#include <gram/random.h>

#include <Random123/philox.h>
#include <math.h>

static const uint64_t NORMAL_BLOCKS = (uint64_t)1 << 63;
static const double TWO_PI = 6.283185307179586;

typedef struct pair64 {
    uint64_t half[2];
} pair64;

static pair64 random_block(gram_random random, uint64_t block)
{
    const philox4x32_key_t key = {{(uint32_t)random.seed, (uint32_t)(random.seed >> 32)}};
    const philox4x32_ctr_t counter = {
        {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)random.stream, (uint32_t)(random.stream >> 32)}};
    const philox4x32_ctr_t word = philox4x32(counter, key);
    return (pair64){{word.v[0] | (uint64_t)word.v[1] << 32, word.v[2] | (uint64_t)word.v[3] << 32}};
}

/* The middle of one of 2^52 equal parts of (0, 1): exact, never 0 or 1. */
static double open_interval(uint64_t bits)
{
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

/* sqrt(-2 ln u) (cos 2 pi v, sin 2 pi v) for independent uniform u and v (Box and Muller 1958) */
static void normal_pair(gram_random random, uint64_t block, double pair[2])
{
    const pair64 bits = random_block(random, block | NORMAL_BLOCKS);
    const double radius = sqrt(-2 * log(open_interval(bits.half[0])));
    const double angle = TWO_PI * open_interval(bits.half[1]);
    pair[0] = radius * cos(angle);
    pair[1] = radius * sin(angle);
}

static void uniform_pair(gram_random random, uint64_t block, double pair[2])
{
    const pair64 bits = random_block(random, block);
    pair[0] = open_interval(bits.half[0]);
    pair[1] = open_interval(bits.half[1]);
}

/* Numbers first .. first + count - 1 of the sequence that `make` gives in pairs. */
static void fill(void (*make)(gram_random, uint64_t, double *), gram_random random, uint64_t first, int64_t count,
                 double *out)
{
    double pair[2];
    int64_t i = 0;
    if (count > 0 && first % 2 == 1) {
        make(random, first / 2, pair);
        out[i++] = pair[1];
    }
    for (; i + 1 < count; i += 2) make(random, (first + (uint64_t)i) / 2, out + i);
    if (i >= count) return;
    make(random, (first + (uint64_t)i) / 2, pair);
    out[i] = pair[0];
}

void gram_random_uniform(gram_random random, uint64_t first, int64_t count, double *out)
{
    fill(uniform_pair, random, first, count, out);
}

void gram_random_normal(gram_random random, uint64_t first, int64_t count, double *out)
{
    fill(normal_pair, random, first, count, out);
}

/* A number below `bound`, each equally likely: the lowest 2^64 mod bound values are drawn again. */
static uint64_t random_below(gram_random random, uint64_t *next, uint64_t bound)
{
    const uint64_t least = (0 - bound) % bound;
    for (;;) {
        const uint64_t i = (*next)++;
        const uint64_t bits = random_block(random, i / 2).half[i % 2];
        if (bits >= least) return bits % bound;
    }
}

/* Fisher and Yates, inside out: element i takes a random place among the first i + 1. */
void gram_random_permutation(gram_random random, uint64_t which, int64_t n, int64_t *out)
{
    const pair64 own = random_block(random, which);
    const gram_random draws = {own.half[0], own.half[1]};
    uint64_t next = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t place = random_below(draws, &next, (uint64_t)i + 1);
        if (place < (uint64_t)i) out[i] = out[place];
        out[place] = i;
    }
}

/* Row i takes a random place out of i + 1. */
int64_t gram_random_reservoir(gram_random random, int64_t row, int64_t room)
{
    double u;
    if (row < room) return row;
    gram_random_uniform(random, (uint64_t)row, 1, &u);
    const int64_t place = (int64_t)(u * (double)(row + 1));
    return place < room ? place : -1;
}
