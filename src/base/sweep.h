/* The parallel sweep: the only place where libgram uses threads.
 *
 * Tasks and their sizes must not depend on the number of threads, and each task owns its output; then the result has
 * the same bits for any number of threads. BLAS is single-threaded inside a sweep. */
#ifndef GRAM_BASE_SWEEP_H
#define GRAM_BASE_SWEEP_H

#include <stdatomic.h>

#include "base/context.h"

typedef struct gram_worker {
    int64_t round; /* 0 .. rounds-1 */
    int64_t task;  /* 0 .. tasks-1 */
    void *scratch; /* scratch_bytes of this thread's own, 64-byte aligned, left as the last task left it */
    int member;    /* 0 in the calling thread */
    struct gram_sweep_state *state;
} gram_worker;

typedef gram_status (*gram_task_fn)(void *argument, const gram_worker *worker);

typedef struct gram_sweep {
    const char *what; /* for the progress line and the messages, e.g. "gram matrix" */
    int64_t tasks;
    int64_t rounds;       /* all tasks of a round end before the next begins; 0 means 1 */
    size_t scratch_bytes; /* for each thread */
    int most_threads;     /* 1 for work that is over before a thread would wake; 0 means the context's */
    gram_task_fn run;
    void *argument;
    double share_before; /* this sweep's part of a longer work: progress runs from here ... */
    double share_after;  /* ... to here; both 0 means 0 to 1 */
} gram_sweep;

/* Runs all tasks. Returns the failure of the lowest-numbered task that failed, GRAM_ERROR_CANCELLED if the caller's
 * cancel callback asked for it. Callbacks are called in the calling thread only, between its tasks. */
gram_status gram_sweep_run(gram_context *context, const gram_sweep *sweep);

/* For tasks that take long: whether the sweep stops, for a failure or because the caller cancelled it. Then a task returns
 * GRAM_OK, whatever it has done. In the calling thread this makes the callbacks, at most as often as between tasks. */
int gram_worker_stopped(const gram_worker *worker);

/* Flags by which tasks of one sweep wait for each other where rounds would leave threads idle.
 *
 * A task may wait only for flags that tasks with lower numbers set. These were taken earlier, so the lowest of the
 * tasks that still run never waits in vain, and a sweep of one thread never waits at all. */
typedef struct gram_flags {
    int64_t count;
    atomic_uchar *set;
    atomic_int broken;
} gram_flags;

gram_status gram_flags_create(gram_context *context, const char *what, int64_t count, gram_flags *flags);
/* Takes flags that were never created, if zeroed. */
void gram_flags_destroy(gram_context *context, gram_flags *flags);
void gram_flags_clear(gram_flags *flags);
void gram_flag_set(gram_flags *flags, int64_t number);
/* 0 if the task that would have set the flag failed: then give up too. */
int gram_flag_wait(gram_flags *flags, int64_t number);
/* A task that fails must say so, or others would wait for ever. */
void gram_flags_break(gram_flags *flags);

/* Keep BLAS single-threaded between these two; the second takes what the first returned. Every call of BLAS and LAPACK
 * is made in a task or between them: more threads would change bits, and a child of fork could wait for them for ever. */
int gram_blas_enter(void);
void gram_blas_leave(int before);

/* For the life of the calling thread, which does nothing but tasks. */
void gram_blas_serial_thread(void);

/* GRAM_ERROR_MEMORY where RLIMIT_AS leaves no room for the buffer that BLAS needs: it would try to map it for ever. Looked
 * at once for a context. */
gram_status gram_blas_has_room(gram_context *context, const char *what);

#endif
