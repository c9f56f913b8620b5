#include "tile/random_labels.h"

#include <string.h>

#include <gram/random.h>

enum { RANDOM_STREAM = 0x7065726d /* "perm" */ };

typedef struct labels {
    int64_t points, n, count;
    int64_t draws; /* the smaller of n and points - n: what is drawn is that side of the split */
    uint64_t seed;
    uint8_t *bits;
} labels;

static void flip(const labels *l, int64_t subset, int64_t point)
{
    uint8_t *record = gram_subset_record(l->bits, l->count, point / GRAM_PANEL, subset);
    record[point % GRAM_PANEL / 8] ^= (uint8_t)(1U << point % 8);
}

/* The first steps of Fisher and Yates: draw i takes one of the places i .. points - 1. A place comes from 53 random bits, so that no
 * one is likelier than another by more than points/2^53. */
static void draw(const labels *l, int64_t subset, double *uniform, int64_t *order)
{
    gram_random_uniform((gram_random){l->seed, RANDOM_STREAM + ((uint64_t)subset << 32)}, 0, l->draws, uniform);
    for (int64_t i = 0; i < l->points; i++) order[i] = i;
    for (int64_t i = 0; i < l->draws; i++) {
        const int64_t place = i + (int64_t)(uniform[i] * (double)(l->points - i));
        const int64_t taken = order[place];
        order[place] = order[i];
        flip(l, subset, taken);
    }
}

/* One subset: its records belong to no other task. */
static gram_status task(void *argument, const gram_worker *worker)
{
    const labels *l = argument;
    const int64_t subset = worker->task;
    double *uniform = worker->scratch;
    void *rest = uniform + l->points;
    for (int64_t i = 0; i < l->n && subset == 0; i++) flip(l, 0, i);
    if (subset == 0) return GRAM_OK;
    for (int64_t i = 0; i < l->points && l->draws < l->n; i++) flip(l, subset, i);
    draw(l, subset, uniform, rest);
    return GRAM_OK;
}

gram_status gram_labels_make(gram_context *context, const gram_pairs *pairs, int64_t n, int64_t count, uint8_t *bits)
{
    labels l = {.points = pairs->n, .n = n, .count = count, .seed = gram_context_seed(context), .bits = bits};
    l.draws = n < pairs->n - n ? n : pairs->n - n;
    memset(bits, 0, (size_t)gram_subset_bytes(pairs, count));
    const gram_sweep sweep = {.what = "random labels",
                              .tasks = count,
                              .scratch_bytes = (size_t)pairs->n * (sizeof(double) + sizeof(int64_t)),
                              .run = task,
                              .argument = &l};
    return gram_sweep_run(context, &sweep);
}
