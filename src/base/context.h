/* The context from inside, and how libgram's functions fail.
 *
 * Every function has one way out:
 *
 *     gram_status status = GRAM_OK;
 *     TRY(gram_take(context, "krr_fit: the factor", n, sizeof(double), (void **)&factor));
 *     FAIL_IF(lambda < 0, context, GRAM_ERROR_ARGUMENT, "krr_fit: lambda = %g is negative", lambda);
 *     ...
 * done:
 *     gram_give(context, factor);
 *     return status; */
#ifndef GRAM_BASE_CONTEXT_H
#define GRAM_BASE_CONTEXT_H

#include <gram/context.h>

#include "base/compiler.h"
#include "base/crew.h"
#include "base/memory.h"
#include "base/vecmath/vecmath.h"

enum { GRAM_MESSAGE_SIZE = 512, GRAM_LEFT_OUT_SIZE = 128 };

/* The time that is given to the work (base/system/time_limit.h). */
typedef struct gram_limit {
    double seconds, begun; /* 0 seconds: there is no limit */
    double share;          /* of it, when sweeps stop: that of the present part of the work */
    char left_out[GRAM_LEFT_OUT_SIZE];
} gram_limit;

/* The processes that work together (base/ranks/collective.h). */
typedef struct gram_together {
    int ranks, rank; /* ranks below 2: alone */
    int aside;       /* above 0: this rank works by itself for now */
    struct gram_collective *table;
    int64_t bytes_sent, calls;
    double operations;
    char spread[GRAM_LEFT_OUT_SIZE];
} gram_together;

/* Where long solves keep their state (solve/checkpoint/solve_checkpoint.h). */
typedef struct gram_kept_solve {
    char *path; /* NULL: nowhere */
    double every, last;
    int64_t solves, written, resumed;
} gram_kept_solve;

struct gram_context {
    gram_memory *memory;
    int threads;
    gram_crew *crew;   /* NULL for one thread */
    int blas_has_room; /* was looked at */
    uint64_t seed;
    gram_progress_fn progress;
    void *progress_user;
    gram_cancel_fn cancel;
    void *cancel_user;
    const gram_vecmath *vecmath;
    gram_limit limit;
    gram_together together;
    gram_kept_solve checkpoint;
    double operations, entries; /* a second on one thread, measured (solve/speed/machine_speed.c); 0: not known */
    char message[GRAM_MESSAGE_SIZE];
    char advice[GRAM_MESSAGE_SIZE];    /* what to do about it; every new message clears it */
    int64_t failed_row, failed_column; /* of the last failure, if it was of a coordinate, else -1 */
};

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        status = (call);                                                                                               \
        if (status < 0) goto done;                                                                                     \
    } while (0)

#define FAIL(context, code, ...)                                                                                       \
    do {                                                                                                               \
        status = gram_fail(context, code, __VA_ARGS__);                                                                \
        goto done;                                                                                                     \
    } while (0)

#define FAIL_IF(condition, context, code, ...)                                                                         \
    do {                                                                                                               \
        if (condition) FAIL(context, code, __VA_ARGS__);                                                               \
    } while (0)

/* Keeps the message (no allocation) and returns the status. %g in a format follows the locale: numbers that a user
 * gave are better put through gram_number_format. */
gram_status gram_fail(gram_context *context, gram_status status, const char *format, ...) GRAM_PRINTF(3, 4);

/* The same for a failure of one coordinate, which gram_context_place then returns. */
gram_status gram_fail_place(gram_context *context, gram_status status, int64_t row, int64_t column, const char *format,
                            ...) GRAM_PRINTF(5, 6);

/* After gram_fail: what to do about it. Returns the status. */
gram_status gram_advise(gram_context *context, gram_status status, const char *advice);

/* count * size bytes from the context's memory; a failure names `what` and both sizes. */
gram_status gram_take(gram_context *context, const char *what, int64_t count, size_t size, void **out);
/* The same from another memory, such as an object's. */
gram_status gram_take_from(gram_context *context, gram_memory *memory, const char *what, int64_t count, size_t size,
                           void **out);
/* Gives a block of the context's memory back; block may be NULL. */
void gram_give(gram_context *context, void *block);

#endif
