/* The parallel sweep: the only place where libgram uses threads.
 *
 * Tasks and their sizes must not depend on the number of threads, and each task owns its output; then the result has
 * the same bits for any number of threads. BLAS is single-threaded inside a sweep. */
#ifndef GRAM_BASE_SWEEP_H
#define GRAM_BASE_SWEEP_H

#include "context.h"

typedef struct gram_worker {
    int64_t round; /* 0 .. rounds-1 */
    int64_t task;  /* 0 .. tasks-1 */
    void *scratch; /* scratch_bytes of this thread's own, 64-byte aligned, left as the last task left it */
} gram_worker;

typedef gram_status (*gram_task_fn)(void *argument, const gram_worker *worker);

typedef struct gram_sweep {
    const char *what; /* for the progress line and the messages, e.g. "gram matrix" */
    int64_t tasks;
    int64_t rounds;       /* all tasks of a round end before the next begins; 0 means 1 */
    size_t scratch_bytes; /* for each thread */
    gram_task_fn run;
    void *argument;
    double share_before; /* this sweep's part of a longer work: progress runs from here ... */
    double share_after;  /* ... to here; both 0 means 0 to 1 */
} gram_sweep;

/* Runs all tasks. Returns the failure of the lowest-numbered task that failed, GRAM_ERROR_CANCELLED if the caller's
 * cancel callback asked for it. Callbacks are called in the calling thread only, between its tasks. */
gram_status gram_sweep_run(gram_context *context, const gram_sweep *sweep);

/* Keep BLAS single-threaded between these two, counted over the whole process. */
void gram_blas_enter(void);
void gram_blas_leave(void);

#endif
