/* What the engine sees of other processes. All of it does nothing, or what one process would do, for a context that is alone.
 *
 * Sums are made in the order of the ranks, by whoever has a part of the numbers: the same bits on every rank, and for a number of ranks in every run,
 * whoever comes first. Bytes are counted here, by the formulas of docs/cluster.md. */
#ifndef GRAM_BASE_RANKS_COLLECTIVE_H
#define GRAM_BASE_RANKS_COLLECTIVE_H

#include <gram/collective.h>

#include "base/context.h"

/* How many share the work: 1 for a context that is alone, or was put so for the time of a part. */
static inline int gram_ranks(const gram_context *context)
{
    return context->together.aside > 0 || context->together.ranks < 2 ? 1 : context->together.ranks;
}

/* The number of this process among all, also while it works by itself. */
static inline int gram_rank(const gram_context *context)
{
    return context->together.ranks < 2 ? 0 : context->together.rank;
}

/* Is work on so many rows spread? */
int gram_ranks_share(const gram_context *context, int64_t rows);
/* Can dense matrices be? */
int gram_ranks_have_dense(const gram_context *context);
/* The grid of ranks. */
void gram_ranks_grid(const gram_context *context, int64_t *rows, int64_t *columns);
/* Does this rank have block (i, j) of a matrix? */
int gram_ranks_own(const gram_context *context, int64_t i, int64_t j);
/* Part r of `count` things, for each rank: from first to end - 1. */
void gram_ranks_part(const gram_context *context, int64_t count, int rank, int64_t *first, int64_t *end);

/* values = the sum over the ranks. 16 count (ranks - 1)/ranks bytes from each. */
gram_status gram_ranks_sum(gram_context *context, const char *what, int64_t count, double *values);
/* Of `count` things of `width` numbers each, those of gram_ranks_part are right on each rank; then all are on all. */
gram_status gram_ranks_gather(gram_context *context, const char *what, int64_t count, int64_t width, double *values);
/* The same where thing i is right on rank i % ranks. */
gram_status gram_ranks_gather_dealt(gram_context *context, const char *what, int64_t count, int64_t width,
                                    double *values);
gram_status gram_ranks_broadcast(gram_context *context, int from, void *bytes, size_t count);

/* The least of the ranks' numbers, on every rank. */
gram_status gram_ranks_least(gram_context *context, double *value);

/* Between these two this rank works by itself on something of its own. They nest. */
void gram_ranks_part_ways(gram_context *context);
void gram_ranks_join(gram_context *context);

/* A hash that goes on from another (0: from nothing), and GRAM_ERROR_DATA on every rank if theirs differ: "rank 2 of 4 has another WHAT than rank 0". */
uint64_t gram_ranks_hash(uint64_t hash, const void *bytes, size_t count);
gram_status gram_ranks_compare(gram_context *context, const char *what, uint64_t hash);

/* After something that each rank did by itself: if one failed, all fail with the status and message of the first that did. */
gram_status gram_ranks_agree(gram_context *context, gram_status status);

/* For the report. `road` is a few words that stay. */
void gram_ranks_note(gram_context *context, const char *road, double operations);

#endif
