#include "kernel/text/feature_sink.h"

#include <string.h>

static gram_status take(gram_feature_sink *sink, int64_t count, size_t each, void **out)
{
    const gram_status status = gram_memory_take(sink->memory, (size_t)count * each, out);
    if (status < 0) sink->lacking = (size_t)count * each;
    return status;
}

double *gram_feature_room(gram_feature_sink *sink, int64_t count)
{
    sink->status = take(sink, count + 1, sizeof *sink->room, (void **)&sink->room);
    return sink->status < 0 ? NULL : sink->room;
}

int gram_feature_expect(gram_feature_sink *sink, int64_t most)
{
    sink->status = take(sink, most + 1, sizeof *sink->list, (void **)&sink->list);
    return sink->status >= 0;
}

void gram_feature_put(gram_feature_sink *sink, uint64_t key, double value)
{
    sink->list[sink->listed++] = (gram_feature){key + (key == 0), value};
}

static gram_feature *place_of(gram_feature *table, int64_t size, uint64_t key)
{
    uint64_t at = key & ((uint64_t)size - 1);
    while (table[at].key && table[at].key != key) at = (at + 1) & ((uint64_t)size - 1);
    return &table[at];
}

static gram_status grow(gram_feature_sink *sink)
{
    const int64_t size = sink->size ? 4 * sink->size : 256;
    gram_feature *table = NULL;
    const gram_status status = take(sink, size, sizeof *table, (void **)&table);
    if (status < 0) return status;
    memset(table, 0, (size_t)size * sizeof *table);
    for (int64_t i = 0; i < sink->size; i++)
        if (sink->table[i].key) *place_of(table, size, sink->table[i].key) = sink->table[i];
    gram_memory_give(sink->memory, sink->table);
    sink->table = table;
    sink->size = size;
    return status;
}

void gram_feature_add(gram_feature_sink *sink, uint64_t key, double value)
{
    if (sink->status < 0) return;
    if (2 * sink->used >= sink->size && (sink->status = grow(sink)) < 0) return;
    key += key == 0;
    gram_feature *at = place_of(sink->table, sink->size, key);
    sink->used += at->key == 0;
    at->key = key;
    at->value += value;
}

gram_status gram_feature_sink_empty(gram_feature_sink *sink, gram_feature **features, int64_t *count)
{
    gram_status status = sink->status;
    *features = NULL;
    *count = 0;
    if (sink->list) { /* cut to what is there, since it is kept */
        *count = sink->listed;
        if (status >= 0 && sink->listed > 0)
            sink->status = status = take(sink, sink->listed, sizeof **features, (void **)features);
        if (*features) memcpy(*features, sink->list, (size_t)sink->listed * sizeof **features);
        if (!*features) *count = 0;
        gram_memory_give(sink->memory, sink->list);
        gram_memory_give(sink->memory, sink->room);
        sink->list = NULL;
        sink->room = NULL;
        return status;
    }
    if (status >= 0 && sink->used > 0)
        sink->status = status = take(sink, sink->used, sizeof **features, (void **)features);
    for (int64_t k = 0; *features && k < sink->size; k++)
        if (sink->table[k].key && sink->table[k].value != 0) (*features)[(*count)++] = sink->table[k];
    gram_memory_give(sink->memory, sink->table);
    gram_memory_give(sink->memory, sink->room);
    sink->table = NULL;
    sink->room = NULL;
    sink->size = sink->used = 0;
    return status;
}
