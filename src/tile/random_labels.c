#include "tile/random_labels.h"

#include <string.h>

#include <gram/random.h>

enum { RANDOM_STREAM = 0x7065726d /* "perm" */ };

typedef struct labels {
    int64_t points, n, count;
    int64_t draws; /* the smaller of n and points - n: what is drawn is that side of the split */
    uint64_t seed, stream;
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
    gram_random_uniform((gram_random){l->seed, l->stream + ((uint64_t)subset << 32)}, 0, l->draws, uniform);
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

/* ---- all of them ---- */

int64_t gram_labels_count(int64_t points, int64_t n, int64_t permutations)
{
    const int64_t draws = n < points - n ? n : points - n;
    double ways = 1; /* exact as long as it matters */
    for (int64_t i = 1; i <= draws && ways <= (double)permutations + 1; i++)
        ways = ways * (double)(points - draws + i) / (double)i;
    return ways <= (double)permutations + 1 ? (int64_t)(ways + 0.5) : permutations + 1;
}

/* In lexicographic order, {0 .. n-1} first: the last member that can move does, and those behind it follow. */
static gram_status list_all(gram_context *context, const labels *l)
{
    gram_status status = GRAM_OK;
    int64_t *chosen = NULL;
    TRY(gram_take(context, "labels", l->n, sizeof *chosen, (void **)&chosen));
    for (int64_t i = 0; i < l->n; i++) chosen[i] = i;
    for (int64_t subset = 0; subset < l->count; subset++) {
        for (int64_t i = 0; i < l->n; i++) flip(l, subset, chosen[i]);
        int64_t last = l->n - 1;
        while (last > 0 && chosen[last] == l->points - l->n + last) last--;
        chosen[last]++;
        for (int64_t i = last + 1; i < l->n; i++) chosen[i] = chosen[i - 1] + 1;
    }
done:
    gram_give(context, chosen);
    return status;
}

gram_status gram_labels_make(gram_context *context, uint32_t which, int64_t points, int64_t n, int64_t count,
                             uint8_t *bits)
{
    labels l = {.points = points, .n = n, .count = count, .bits = bits};
    l.seed = gram_context_seed(context);
    l.stream = RANDOM_STREAM + which;
    l.draws = n < points - n ? n : points - n;
    memset(bits, 0, (size_t)gram_subset_bytes(points, count));
    if (gram_labels_count(l.points, n, count) == count) return list_all(context, &l);
    const gram_sweep sweep = {.what = "random labels",
                              .tasks = count,
                              .scratch_bytes = (size_t)points * (sizeof(double) + sizeof(int64_t)),
                              .run = task,
                              .argument = &l};
    return gram_sweep_run(context, &sweep);
}
