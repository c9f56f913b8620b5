#define _POSIX_C_SOURCE 200809L
#include "base/sweep.h"

#include <omp.h>
#include <sched.h>
#include <time.h>

/* Callbacks are made at most this often, so that tiny tasks do not pay for them. */
static const double CALLBACK_SECONDS = 0.05;

typedef struct sweep_state {
    gram_context *context;
    const gram_sweep *sweep;
    int64_t rounds;
    char *scratch;
    size_t scratch_stride;
    atomic_llong next;
    atomic_llong finished;
    atomic_int stop;
    int64_t failed_task; /* guarded by the critical section below */
    gram_status status;
    double last_callback;
} sweep_state;

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void record_failure(sweep_state *state, int64_t task, gram_status status)
{
#pragma omp critical(gram_sweep_failure)
    {
        if (state->failed_task < 0 || task < state->failed_task) {
            state->failed_task = task;
            state->status = status;
        }
    }
    atomic_store(&state->stop, 1);
}

static void call_back(sweep_state *state)
{
    const gram_context *context = state->context;
    if (!context->progress && !context->cancel) return;
    const double time = seconds();
    if (time - state->last_callback < CALLBACK_SECONDS) return;
    state->last_callback = time;
    const gram_sweep *sweep = state->sweep;
    const double done = (double)atomic_load(&state->finished) / ((double)sweep->tasks * (double)state->rounds);
    const double after = sweep->share_after > 0 ? sweep->share_after : 1;
    const double share = sweep->share_before + done * (after - sweep->share_before);
    if (context->progress) context->progress(context->progress_user, sweep->what, share);
    if (context->cancel && context->cancel(context->cancel_user))
        record_failure(state, INT64_MAX, GRAM_ERROR_CANCELLED);
}

static void work_round(sweep_state *state, int thread, gram_worker *worker)
{
    const gram_sweep *sweep = state->sweep;
    while (!atomic_load_explicit(&state->stop, memory_order_relaxed)) {
        worker->task = atomic_fetch_add(&state->next, 1);
        if (worker->task >= sweep->tasks) break;
        const gram_status status = sweep->run(sweep->argument, worker);
        if (status < 0) record_failure(state, worker->round * sweep->tasks + worker->task, status);
        atomic_fetch_add(&state->finished, 1);
        if (thread == 0) call_back(state);
    }
}

static void work(sweep_state *state, int thread)
{
    gram_worker worker = {.scratch = state->scratch ? state->scratch + (size_t)thread * state->scratch_stride : NULL};
    omp_set_num_threads(1); /* for this region only: OpenBLAS on OpenMP would use more threads in a team of one */
    for (worker.round = 0; worker.round < state->rounds; worker.round++) {
        work_round(state, thread, &worker);
#pragma omp barrier
        if (thread == 0) atomic_store(&state->next, 0);
#pragma omp barrier
    }
}

gram_status gram_sweep_run(gram_context *context, const gram_sweep *sweep)
{
    gram_status status = GRAM_OK;
    sweep_state state = {.context = context,
                         .sweep = sweep,
                         .rounds = sweep->rounds > 0 ? sweep->rounds : 1,
                         .failed_task = -1,
                         .last_callback = seconds()};
    atomic_init(&state.next, 0);
    atomic_init(&state.finished, 0);
    atomic_init(&state.stop, 0);
    int threads = context->threads;
    if (threads > sweep->tasks) threads = (int)sweep->tasks;
    if (threads < 1) threads = 1;
    state.scratch_stride = (sweep->scratch_bytes + GRAM_ALIGNMENT - 1) / GRAM_ALIGNMENT * GRAM_ALIGNMENT;
    TRY(gram_take(context, sweep->what, threads, state.scratch_stride, (void **)&state.scratch));

    gram_blas_enter();
#pragma omp parallel num_threads(threads)
    work(&state, omp_get_thread_num());
    gram_blas_leave();

    status = state.status;
    if (status == GRAM_ERROR_CANCELLED) (void)gram_fail(context, status, "%s: cancelled", sweep->what);
done:
    gram_give(context, state.scratch);
    return status;
}

/* ---- flags ---- */

gram_status gram_flags_create(gram_context *context, const char *what, int64_t count, gram_flags *flags)
{
    gram_status status = GRAM_OK;
    *flags = (gram_flags){.count = count};
    TRY(gram_take(context, what, count, sizeof *flags->set, (void **)&flags->set));
    gram_flags_clear(flags);
done:
    return status;
}

void gram_flags_destroy(gram_context *context, gram_flags *flags)
{
    gram_give(context, flags->set);
    flags->set = NULL;
}

void gram_flags_clear(gram_flags *flags)
{
    for (int64_t i = 0; i < flags->count; i++) atomic_init(&flags->set[i], 0);
    atomic_init(&flags->broken, 0);
}

void gram_flag_set(gram_flags *flags, int64_t number)
{
    atomic_store_explicit(&flags->set[number], 1, memory_order_release);
}

int gram_flag_wait(gram_flags *flags, int64_t number)
{
    while (!atomic_load_explicit(&flags->set[number], memory_order_acquire)) {
        if (atomic_load_explicit(&flags->broken, memory_order_relaxed)) return 0;
        (void)sched_yield();
    }
    return 1;
}

void gram_flags_break(gram_flags *flags)
{
    atomic_store(&flags->broken, 1);
}
