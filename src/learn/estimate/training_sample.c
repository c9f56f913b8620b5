/* A class with share s of the rows keeps s most_rows of them, rounded up, so that rare classes stay. The rows are met in a random order, each
 * of them is kept while its class has room, and what is kept goes back to its old order, which may be that of time. */
#include "learn/estimate/training_sample.h"

#include <gram/random.h>

enum { SAMPLE_STREAM = 0x73616d70 /* "samp" */, LEAST_OF_CLASS = 2 };

static int64_t class_of(const gram_left_out *out, int64_t row)
{
    return out->classes.count > 0 ? (int64_t)out->whole->labels[row] : 0;
}

static void find_room(const gram_left_out *out, int64_t count, const int64_t *rows, int64_t classes, int64_t *room)
{
    for (int64_t i = 0; i < count; i++) room[class_of(out, rows[i])]++;
    for (int64_t c = 0; c < classes; c++) {
        const int64_t all = room[c];
        room[c] = (int64_t)((double)all * (double)out->most_rows / (double)count + 0.999);
        if (room[c] < LEAST_OF_CLASS) room[c] = LEAST_OF_CLASS;
        if (room[c] > all) room[c] = all;
    }
}

gram_status gram_training_sample(const gram_left_out *out, uint64_t which, int64_t *count, int64_t *rows)
{
    gram_status status = GRAM_OK;
    gram_context *context = out->whole->context;
    gram_arena arena;
    const int64_t classes = out->classes.count > 0 ? out->classes.count : 1;
    int64_t *order = NULL, *room = NULL, *stays = NULL, kept = 0;
    gram_arena_init(&arena, out->whole->arena.memory);
    if (*count <= out->most_rows) return status;
    TRY(gram_arena_take(context, &arena, "training sample", *count, sizeof *order, (void **)&order));
    TRY(gram_arena_take(context, &arena, "training sample", *count, sizeof *stays, (void **)&stays));
    TRY(gram_arena_take(context, &arena, "training sample", classes, sizeof *room, (void **)&room));
    gram_random_permutation((gram_random){gram_context_seed(context), SAMPLE_STREAM}, which, *count, order);
    find_room(out, *count, rows, classes, room);
    for (int64_t i = 0; i < *count; i++) {
        const int64_t c = class_of(out, rows[order[i]]);
        if (room[c] > 0) room[c]--, stays[order[i]] = 1;
    }
    for (int64_t i = 0; i < *count; i++)
        if (stays[i]) rows[kept++] = rows[i];
    *count = kept;
done:
    gram_arena_release(&arena);
    return status;
}
