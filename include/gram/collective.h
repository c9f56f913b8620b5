/* More than one process: ranks that work on one fit together.
 *
 * libgram depends on no message passing. It sees a table of collective operations, which a context carries; without one it is alone. Every rank
 * makes the same calls with the same data, and gets the same results: what is spread over them are the parts that take long, between which the
 * ranks tell each other what they found. `make cluster` builds a command whose table is MPI's (docs/cluster.md); a program may bring its own, for
 * MPI or for anything else that moves numbers.
 *
 * What every rank must have alike: the version of gram, instructions (gram_context_isa), BLAS, seed, memory budget, options and data. Limits of time
 * (gram_context_set_time) are not for several ranks, whose clocks differ. */
#ifndef GRAM_COLLECTIVE_H
#define GRAM_COLLECTIVE_H

#include <gram/context.h>

GRAM_BEGIN

/* All ranks call each of these at the same place of their work, from the thread that uses the context. A status other than GRAM_OK ends the work of
 * this rank; the others would wait, so whoever runs the ranks must end them too. Counts are of numbers unless they are said to be of bytes. */
typedef struct gram_collective {
    size_t size; /* sizeof of this struct, set by gram_collective_init */
    int rank;    /* of this process, 0 to ranks - 1 */
    int ranks;
    void *user;
    /* bytes of rank `from` to all */
    gram_status (*broadcast)(void *user, int from, void *bytes, size_t count);
    /* all = mine of rank 0, then of rank 1, ...: counts[r] numbers of each */
    gram_status (*gather)(void *user, const double *mine, const int64_t *counts, double *all);
    /* to each rank r its out_counts[r] numbers of `out`, which lie one after the other; from each in_counts[r] to `in` likewise */
    gram_status (*exchange)(void *user, const double *out, const int64_t *out_counts, double *in,
                            const int64_t *in_counts);
    int64_t least_rows; /* with fewer rows each rank does all of the work; 0: 1,000 */

    /* Optional, all or none: a dense matrix in block-cyclic tiles, as ScaLAPACK has them. The grid of ranks has `grid_rows` rows and as many columns
     * as it takes, numbered row by row; blocks are `block` x `block`; the part of a rank is column-major with `ld` numbers to a column, at least
     * one. `single`: float, else double. The lower triangle counts. */
    int grid_rows; /* 0: the largest divisor of `ranks` that is at most its root */
    /* L L' = A in place; *bad gets the number of the first pivot (from 0) that is not positive, or -1. */
    gram_status (*factor)(void *user, int single, int64_t n, int64_t block, void *part, int64_t ld, int64_t *bad);
    /* b = L^-1 b, L^-T b, L b or L' b; b is n x columns in blocks as A is, its columns in blocks of `block` too. */
    gram_status (*triangle)(void *user, int single, int inverse, int transposed, int64_t n, int64_t block,
                            const void *part, int64_t ld, int64_t columns, void *b, int64_t ldb);
    /* A^-1 in place of L, doubles; the lower triangle. */
    gram_status (*invert)(void *user, int64_t n, int64_t block, double *part, int64_t ld);
} gram_collective;

/* The table of a process that is alone: one rank. `size` is sizeof *table as the caller knows it. */
GRAM_API void gram_collective_init(gram_collective *table, size_t size);

/* The context's work is done by these ranks from now on; the table is copied, `user` stays the caller's. NULL: alone again.
 * GRAM_ERROR_ARGUMENT for a table that is not complete, and with a limit of time. */
GRAM_API gram_status gram_context_set_collective(gram_context *context, const gram_collective *table);

/* What this rank did since the table was set. */
typedef struct gram_collective_report {
    size_t size; /* set by the caller */
    int rank, ranks;
    int64_t
        bytes_sent; /* by this rank to others, through the table; what the operations on dense matrices send is not among them */
    int64_t calls; /* of the table */
    double
        operations; /* floating point operations of this rank in what was spread: docs/cluster.md says how they are counted */
    const char *spread; /* what was spread, "kernel products, factor"; "": nothing. Valid as long as the context. */
} gram_collective_report;

GRAM_API gram_status gram_context_collective_report(gram_context *context, gram_collective_report *report);

/* For whoever brings the ranks together: GRAM_ERROR_DATA with a message that names `what` and the first rank whose bytes are not those of rank 0.
 * On every rank alike. */
GRAM_API gram_status gram_context_same_everywhere(gram_context *context, const char *what, const void *bytes,
                                                  size_t count);

GRAM_END

#endif
