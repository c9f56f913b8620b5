/* Features by their keys: a hash table that grows, for those of one text and for the columns that the keys of many texts become. */
#ifndef GRAM_KERNEL_TEXT_FEATURE_SINK_H
#define GRAM_KERNEL_TEXT_FEATURE_SINK_H

#include "kernel/text/text_features.h"

typedef struct gram_feature {
    uint64_t key;
    double value;
} gram_feature;

/* Keys of 0 are empty places, and no feature has that key. */
struct gram_feature_sink {
    gram_memory *memory;
    gram_feature *table;
    int64_t size, used; /* a power of two */
    gram_status status;
    size_t lacking; /* bytes that could not be had */
    double *room;
    gram_feature *list; /* of those that were put, in place of the table */
    int64_t listed;
};

/* Takes the features out of the table, which ends: those whose value is not 0, in a block of their own that may be NULL. Also of a sink that failed. */
gram_status gram_feature_sink_empty(gram_feature_sink *sink, gram_feature **features, int64_t *count);

/* What has the key, or NULL. */
static inline gram_feature *gram_feature_find(const gram_feature_sink *sink, uint64_t key)
{
    const uint64_t mask = (uint64_t)sink->size - 1;
    if (sink->size == 0) return NULL;
    for (uint64_t at = key & mask; sink->table[at].key; at = (at + 1) & mask)
        if (sink->table[at].key == key) return &sink->table[at];
    return NULL;
}

#endif
