/* The context: everything that a call needs besides its arguments.
 *
 * A context carries the number of threads, the memory budget, the seed, the progress and cancel callbacks and the text
 * of the last failure. One thread uses one context at a time; two contexts may work in two threads. Objects made with a
 * context may be used with another one and may outlive it. */
#ifndef GRAM_CONTEXT_H
#define GRAM_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include <gram/export.h>
#include <gram/status.h>

GRAM_BEGIN

typedef struct gram_context gram_context;

/* Memory comes from here. `allocate` returns 64-byte aligned memory or NULL; `release` gets the same size back. Both may
 * be called from several threads at once. */
typedef struct gram_allocator {
    void *(*allocate)(void *user, size_t bytes);
    void (*release)(void *user, void *memory, size_t bytes);
    void *user;
} gram_allocator;

/* Called in the calling thread at most 20 times a second during long work: what is being done and which share is done. */
typedef void (*gram_progress_fn)(void *user, const char *what, double share);

/* Called likewise; non-zero stops the work, which then returns GRAM_ERROR_CANCELLED. */
typedef int (*gram_cancel_fn)(void *user);

/* Which instructions to use. AUTO takes the best that the processor has; the others are for tests and comparisons. */
typedef enum gram_isa { GRAM_ISA_AUTO = 0, GRAM_ISA_PLAIN = 1, GRAM_ISA_AVX2 = 2, GRAM_ISA_AVX512 = 3 } gram_isa;

typedef struct gram_context_options {
    size_t size;              /* sizeof of this struct, set by gram_context_options_init */
    int threads;              /* 0: one for each processor that the process may use */
    size_t memory_budget;     /* bytes that all live objects and scratch may take together; 0: what RLIMIT_AS allows */
    uint64_t seed;            /* of all random numbers; default 0 */
    gram_allocator allocator; /* all NULL: gram's own (aligned, huge pages for large arrays) */
    gram_progress_fn progress;
    void *progress_user;
    gram_cancel_fn cancel;
    void *cancel_user;
    gram_isa isa;
} gram_context_options;

/* Fills in the defaults. `size` is sizeof *options as the caller knows it. */
GRAM_API void gram_context_options_init(gram_context_options *options, size_t size);

/* Makes a context; options may be NULL for the defaults. The caller destroys it. GRAM_ERROR_ARGUMENT for a bad option,
 * GRAM_ERROR_UNSUPPORTED for instructions that this processor lacks. On failure *context is NULL and there is no
 * message. */
GRAM_API gram_status gram_context_create(const gram_context_options *options, gram_context **context);

/* Takes NULL. Objects made with the context stay valid. */
GRAM_API void gram_context_destroy(gram_context *context);

/* The text of the last failure, "" if there was none: function, argument and value. Valid until the next call with this
 * context. */
GRAM_API const char *gram_context_message(const gram_context *context);

/* A line that says what to do about it, "" if there is none: for people, beside the message. Valid likewise. */
GRAM_API const char *gram_context_advice(const gram_context *context);

/* If the last failure was of one number of a point set (a coordinate that is not finite or outside the kernel's
 * domain): 1, and its row and column, counted from 0; of a whole row (a prediction that is not finite): 1, and the column is -1.
 * Otherwise 0, and both are -1. */
GRAM_API int gram_context_place(const gram_context *context, int64_t *row, int64_t *column);

/* Gives such a failure the name that a user knows it by: "FILE: row N, column 'NAME': " in the place of "x[i][j] = ",
 * "FILE: row N: " for a whole row. `row` counts from 0. Nothing happens to other messages. */
GRAM_API void gram_context_name_place(gram_context *context, const char *file, int64_t row, const char *column);

/* Gives the work from now on so many seconds; 0: as long as it takes. Searches for parameters end with the best so far when half of them have gone,
 * iterations when nine tenths have; plans choose by what is left. Work that is not done in time fails with GRAM_ERROR_BUDGET. What a fit leaves out
 * depends on how fast the machine is: with a limit results are not the same everywhere. */
GRAM_API gram_status gram_context_set_time(gram_context *context, double seconds);
/* Seconds; infinite without a limit, negative when it has passed. */
GRAM_API double gram_context_time_left(const gram_context *context);
/* What was left out for lack of time since it was set, in a few words; "": nothing. Valid as long as the context. */
GRAM_API const char *gram_context_left_out(const gram_context *context);

GRAM_API int gram_context_threads(const gram_context *context);
GRAM_API uint64_t gram_context_seed(const gram_context *context);

/* Bytes held now by objects made with this context, and the most that was held at any time. */
GRAM_API size_t gram_context_memory_used(const gram_context *context);
GRAM_API size_t gram_context_memory_peak(const gram_context *context);

/* A budget for a process that has the machine to itself: 80 % of what is free. Free is the least of MemAvailable and what
 * the process's cgroup and every parent of it leave (version 2: memory.max - memory.current; version 1:
 * memory.limit_in_bytes - memory.usage_in_bytes), less 64 MiB and 40 MiB for each thread (BLAS and the runtime); and of what
 * RLIMIT_AS leaves of the address space, less 128 MiB for BLAS in the calling thread and 196 MiB for each further thread
 * (BLAS's buffer, stack, malloc's reserve). At least 1 MiB; 0 if nothing is known. The command's default for
 * .memory_budget. */
GRAM_API size_t gram_system_memory_budget(int threads);

/* Of `wanted` threads, or of one for each processor that the process may use if that is 0, how many a process that has the
 * machine to itself should take: at most 128, and so many that what they take by the figures above is at most half of what
 * is free. 0 if RLIMIT_AS leaves no room for BLAS at all. Results do not depend on the number of threads. */
GRAM_API int gram_system_threads(int wanted);

/* The most that this process held, in bytes (VmHWM). */
GRAM_API size_t gram_system_memory_peak(void);

/* The instructions in use: "avx512", "avx2" or "plain"; and the BLAS of this process, e.g. "OpenBLAS (pthread)". Static. */
GRAM_API const char *gram_context_isa(const gram_context *context);
GRAM_API const char *gram_blas_name(void);

/* The version of this library, e.g. "1.0.0". */
GRAM_API const char *gram_version(void);

GRAM_END

#endif
