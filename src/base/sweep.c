#define _POSIX_C_SOURCE 200809L
#include "base/sweep.h"

#include <pthread.h>
#include <sched.h>

#include "base/system/time_limit.h"

/* Callbacks are made at most this often, so that tiny tasks do not pay for them. */
static const double CALLBACK_SECONDS = 0.05;

/* Looks at a number this often before sleeping on it, some 5 us. */
enum { LOOKS = 200 };

typedef struct gram_sweep_state {
    gram_context *context;
    const gram_sweep *sweep;
    int64_t rounds;
    char *scratch;
    size_t scratch_stride;
    atomic_llong next; /* a ticket: round * tasks + task */
    atomic_llong finished;
    atomic_int stop;
    pthread_mutex_t lock; /* of the failure below, and of those who sleep until a round is over */
    pthread_cond_t over;
    int64_t failed_task;
    gram_status status;
    double last_callback;
} sweep_state;

static void record_failure(sweep_state *state, int64_t ticket, gram_status status)
{
    pthread_mutex_lock(&state->lock);
    /* after a cancellation tasks may fail at what they left half done */
    if (state->failed_task < 0 || (ticket < state->failed_task && state->status != GRAM_ERROR_CANCELLED)) {
        state->failed_task = ticket;
        state->status = status;
    }
    atomic_store(&state->stop, 1);
    pthread_cond_broadcast(&state->over);
    pthread_mutex_unlock(&state->lock);
}

static void call_back(sweep_state *state)
{
    const gram_context *context = state->context;
    const int limited = context->limit.seconds > 0;
    if (!context->progress && !context->cancel && !limited) return;
    const double time = gram_clock();
    if (time - state->last_callback < CALLBACK_SECONDS) return;
    state->last_callback = time;
    const gram_sweep *sweep = state->sweep;
    const double done = (double)atomic_load(&state->finished) / ((double)sweep->tasks * (double)state->rounds);
    const double after = sweep->share_after > 0 ? sweep->share_after : 1;
    const double share = sweep->share_before + done * (after - sweep->share_before);
    if (context->progress) context->progress(context->progress_user, sweep->what, share);
    if ((context->cancel && context->cancel(context->cancel_user)) ||
        (limited && gram_time_is_up(context, context->limit.share)))
        record_failure(state, INT64_MAX, GRAM_ERROR_CANCELLED);
}

static void finish(sweep_state *state)
{
    const int64_t finished = atomic_fetch_add(&state->finished, 1) + 1;
    if (state->rounds == 1 || finished % state->sweep->tasks != 0) return;
    pthread_mutex_lock(&state->lock);
    pthread_cond_broadcast(&state->over);
    pthread_mutex_unlock(&state->lock);
}

/* Until `count` tasks are finished; 0 if the sweep stops before. */
static int wait_until(sweep_state *state, int64_t count)
{
    for (int i = 0; i < LOOKS && atomic_load(&state->finished) < count; i++) GRAM_PAUSE();
    if (atomic_load(&state->finished) < count) {
        pthread_mutex_lock(&state->lock);
        while (atomic_load(&state->finished) < count && !atomic_load(&state->stop))
            pthread_cond_wait(&state->over, &state->lock);
        pthread_mutex_unlock(&state->lock);
    }
    return !atomic_load(&state->stop);
}

/* Tickets are taken in order, so whoever waits for a round waits for tasks that are being run. */
static void work(void *argument, int member)
{
    sweep_state *state = argument;
    const gram_sweep *sweep = state->sweep;
    gram_worker worker = {.scratch = state->scratch ? state->scratch + (size_t)member * state->scratch_stride : NULL,
                          .member = member,
                          .state = state};
    while (!atomic_load_explicit(&state->stop, memory_order_relaxed)) {
        const int64_t ticket = atomic_fetch_add(&state->next, 1);
        if (ticket >= sweep->tasks * state->rounds) break;
        worker.round = ticket / sweep->tasks;
        worker.task = ticket % sweep->tasks;
        if (worker.round > 0 && !wait_until(state, worker.round * sweep->tasks)) break;
        const gram_status status = sweep->run(sweep->argument, &worker);
        if (status < 0) record_failure(state, ticket, status);
        finish(state);
        if (member == 0) call_back(state);
    }
}

int gram_worker_stopped(const gram_worker *worker)
{
    if (worker->member == 0) call_back(worker->state);
    return atomic_load_explicit(&worker->state->stop, memory_order_relaxed);
}

gram_status gram_sweep_run(gram_context *context, const gram_sweep *sweep)
{
    gram_status status = GRAM_OK;
    sweep_state state = {.context = context,
                         .sweep = sweep,
                         .rounds = sweep->rounds > 0 ? sweep->rounds : 1,
                         .lock = PTHREAD_MUTEX_INITIALIZER,
                         .over = PTHREAD_COND_INITIALIZER,
                         .failed_task = -1,
                         .last_callback = gram_clock()};
    atomic_init(&state.next, 0);
    atomic_init(&state.finished, 0);
    atomic_init(&state.stop, 0);
    int threads = context->threads;
    if (threads > sweep->tasks) threads = (int)sweep->tasks;
    if (sweep->most_threads > 0 && threads > sweep->most_threads) threads = sweep->most_threads;
    if (threads < 1) threads = 1;
    state.scratch_stride = (sweep->scratch_bytes + GRAM_ALIGNMENT - 1) / GRAM_ALIGNMENT * GRAM_ALIGNMENT;
    TRY(gram_blas_has_room(context, sweep->what));
    TRY(gram_take(context, sweep->what, threads, state.scratch_stride, (void **)&state.scratch));

    const int blas = gram_blas_enter();
    gram_crew_run(context->crew, threads, work, &state);
    gram_blas_leave(blas);

    status = state.status;
    if (status == GRAM_ERROR_CANCELLED && gram_time_is_up(context, context->limit.share)) {
        (void)gram_fail(context, GRAM_ERROR_BUDGET, "%s: not done in the time that was given, %g s", sweep->what,
                        context->limit.seconds);
        status = gram_advise(context, GRAM_ERROR_BUDGET, "Give it more time, or fewer rows.");
    } else if (status == GRAM_ERROR_CANCELLED)
        (void)gram_fail(context, status, "%s: cancelled", sweep->what);
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
