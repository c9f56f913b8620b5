/* The parallel sweep, with one thread and with several. */
#define _GNU_SOURCE
#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sweep.h"
#include "support.h"

enum { TASKS = 1000, MOST_THREADS = 4 };

static gram_context *make_context(int threads)
{
    return TEST_CONTEXT(.threads = threads);
}

static void sleep_ms(long milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static gram_status count_task(void *argument, const gram_worker *worker)
{
    atomic_int *counts = argument;
    atomic_fetch_add(&counts[worker->task], 1);
    return GRAM_OK;
}

static void test_every_task_once(void **state)
{
    (void)state;
    static atomic_int counts[TASKS + 1];
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        gram_context *context = make_context(threads);
        for (int tasks = 0; tasks <= TASKS; tasks = 3 * tasks + 1) {
            memset(counts, 0, sizeof counts);
            const gram_sweep sweep = {.what = "counting", .tasks = tasks, .run = count_task, .argument = counts};
            assert_int_equal(gram_sweep_run(context, &sweep), GRAM_OK);
            for (int i = 0; i <= TASKS; i++) assert_int_equal(counts[i], i < tasks);
        }
        gram_context_destroy(context);
    }
}

/* Task `which` fails late and the one after it at once: with several threads the later one is recorded first. */
static gram_status failing_task(void *argument, const gram_worker *worker)
{
    const int which = *(const int *)argument;
    if (worker->task == which) {
        sleep_ms(30);
        return GRAM_ERROR_DATA;
    }
    if (worker->task == which + 1) return GRAM_ERROR_NUMERICAL;
    return worker->task == 0 ? GRAM_NOT_CONVERGED : GRAM_OK;
}

static void test_lowest_failure_wins(void **state)
{
    (void)state;
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        gram_context *context = make_context(threads);
        for (int which = 0; which < 9; which += 2) {
            int argument = which;
            const gram_sweep sweep = {.what = "failing", .tasks = 10, .run = failing_task, .argument = &argument};
            assert_int_equal(gram_sweep_run(context, &sweep), GRAM_ERROR_DATA);
        }
        gram_context_destroy(context);
    }
}

/* Each thread counts in its own scratch; the sums over the distinct scratches are all the tasks. */
typedef struct scratch_count {
    int64_t magic, tasks;
    char rest[112];
} scratch_count;

typedef struct scratch_test {
    pthread_mutex_t lock;
    scratch_count *seen[MOST_THREADS];
    pthread_t owner[MOST_THREADS];
    int threads;
    int faults;
    int64_t total;
} scratch_test;

static gram_status scratch_task(void *argument, const gram_worker *worker)
{
    scratch_test *test = argument;
    scratch_count *scratch = worker->scratch;
    pthread_mutex_lock(&test->lock);
    int i = 0;
    while (i < test->threads && test->seen[i] != scratch) i++;
    if (i == test->threads) {
        test->seen[i] = scratch;
        test->owner[i] = pthread_self();
        test->threads++;
        scratch->magic = 12345;
        scratch->tasks = 0;
    }
    test->faults += !pthread_equal(test->owner[i], pthread_self()) || scratch->magic != 12345;
    test->faults += (uintptr_t)scratch % 64 != 0;
    scratch->tasks++;
    memset(scratch->rest, (int)worker->task, sizeof scratch->rest);
    test->total++;
    pthread_mutex_unlock(&test->lock);
    sleep_ms(worker->task % 16 == 0);
    return GRAM_OK;
}

static void test_scratch(void **state)
{
    (void)state;
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        gram_context *context = make_context(threads);
        const size_t before = gram_context_memory_used(context);
        scratch_test test = {.lock = PTHREAD_MUTEX_INITIALIZER};
        const gram_sweep sweep = {.what = "scratch",
                                  .tasks = 200,
                                  .scratch_bytes = sizeof(scratch_count),
                                  .run = scratch_task,
                                  .argument = &test};
        assert_int_equal(gram_sweep_run(context, &sweep), GRAM_OK);
        assert_int_equal(test.faults, 0);
        assert_int_equal(test.total, 200);
        assert_in_range(test.threads, 1, threads);
        assert_true(gram_context_memory_used(context) == before);
        assert_true(gram_context_memory_peak(context) >= before + (size_t)threads * sizeof(scratch_count));
        gram_context_destroy(context);
    }
}

typedef struct callback_log {
    pthread_t caller;
    int calls, faults, cancel_after;
    double last, least, most;
} callback_log;

static void note_progress(void *user, const char *what, double share)
{
    callback_log *log = user;
    log->calls++;
    log->faults += !pthread_equal(log->caller, pthread_self()) || strcmp(what, "slow") != 0;
    log->faults += share < log->last || share < log->least || share > log->most;
    log->last = share;
}

static int ask_cancel(void *user)
{
    callback_log *log = user;
    return log->cancel_after >= 0 && log->calls > log->cancel_after;
}

static gram_status slow_task(void *argument, const gram_worker *worker)
{
    atomic_fetch_add((atomic_int *)argument, 1);
    sleep_ms(4);
    return worker->task < 0 ? GRAM_ERROR_INTERNAL : GRAM_OK;
}

static gram_status run_slow(int threads, callback_log *log, int *ran, char message[64])
{
    gram_context *context = TEST_CONTEXT(.threads = threads, .progress = note_progress, .cancel = ask_cancel,
                                         .progress_user = log, .cancel_user = log);
    atomic_int count = 0;
    const gram_sweep sweep = {.what = "slow",
                              .tasks = 60 * threads,
                              .run = slow_task,
                              .argument = &count,
                              .share_before = log->least,
                              .share_after = log->most};
    const gram_status status = gram_sweep_run(context, &sweep);
    *ran = count;
    strncpy(message, gram_context_message(context), 63);
    gram_context_destroy(context);
    return status;
}

static void test_progress(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        callback_log log = {.caller = pthread_self(), .cancel_after = -1, .least = 0.25, .most = 0.75};
        char message[64] = "";
        int ran;
        assert_int_equal(run_slow(threads, &log, &ran, message), GRAM_OK);
        assert_int_equal(ran, 60 * threads);
        assert_int_equal(log.faults, 0);
        assert_in_range(log.calls, 2, 40);
        assert_true(log.last > 0.4);
        assert_string_equal(message, "");
    }
}

static void test_cancel(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        callback_log log = {.caller = pthread_self(), .cancel_after = 0, .most = 1};
        char message[64] = "";
        int ran;
        assert_int_equal(run_slow(threads, &log, &ran, message), GRAM_ERROR_CANCELLED);
        assert_in_range(ran, 1, 60 * threads - 1);
        assert_int_equal(log.calls, 1);
        assert_string_equal(message, "slow: cancelled");
    }
}

/* Two threads of the caller's, each with a context of its own, sweep at the same time; each task sweeps again. */
static gram_status inner_task(void *argument, const gram_worker *worker)
{
    atomic_fetch_add((atomic_llong *)argument, worker->task);
    return GRAM_OK;
}

static gram_status outer_task(void *argument, const gram_worker *worker)
{
    (void)worker;
    gram_context *context = make_context(1);
    const gram_sweep sweep = {.what = "inner", .tasks = 11, .run = inner_task, .argument = argument};
    const gram_status status = gram_sweep_run(context, &sweep);
    gram_context_destroy(context);
    return status;
}

static void *caller(void *argument)
{
    atomic_llong *sum = argument;
    for (int i = 0; i < 20; i++) {
        gram_context *context = make_context(2);
        const gram_sweep sweep = {.what = "outer", .tasks = 7, .run = outer_task, .argument = sum};
        if (gram_sweep_run(context, &sweep) != GRAM_OK) atomic_fetch_add(sum, 1000000);
        gram_context_destroy(context);
    }
    return NULL;
}

static void test_two_contexts(void **state)
{
    (void)state;
    atomic_llong sums[2] = {0, 0};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&threads[i], NULL, caller, &sums[i]), 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) assert_int_equal(sums[i], 20 * 7 * 55);
}

static void test_no_room_for_scratch(void **state)
{
    (void)state;
    gram_context *context = TEST_CONTEXT(.threads = 2, .memory_budget = 64 << 10);
    atomic_int counts[4] = {0};
    const gram_sweep sweep = {
        .what = "big scratch", .tasks = 4, .scratch_bytes = 64 << 10, .run = count_task, .argument = counts};
    REFUSED(context, gram_sweep_run(context, &sweep), GRAM_ERROR_BUDGET, "big scratch: needs 128 KiB");
    for (int i = 0; i < 4; i++) assert_int_equal(counts[i], 0);
    gram_context_destroy(context);
}

/* Each task waits for the two before it, as far as they exist, and adds up their numbers: Fibonacci's, modulo 2^64. */
typedef struct chain {
    gram_flags flags;
    uint64_t value[TASKS];
    int64_t failing; /* this task fails; -1: none */
} chain;

static gram_status chain_task(void *argument, const gram_worker *worker)
{
    chain *test = argument;
    const int64_t task = worker->task;
    for (int64_t before = task < 2 ? 0 : task - 2; before < task; before++)
        if (!gram_flag_wait(&test->flags, before)) return GRAM_OK;
    if (task == test->failing) {
        gram_flags_break(&test->flags);
        return GRAM_ERROR_DATA;
    }
    test->value[task] = task < 2 ? 1 : test->value[task - 1] + test->value[task - 2];
    gram_flag_set(&test->flags, task);
    return GRAM_OK;
}

static void test_flags(void **state)
{
    (void)state;
    static chain test;
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        gram_context *context = make_context(threads);
        assert_int_equal(gram_flags_create(context, "flags", TASKS, &test.flags), GRAM_OK);
        const gram_sweep sweep = {.what = "chain", .tasks = TASKS, .run = chain_task, .argument = &test};
        for (int run = 0; run < 3; run++) {
            test.failing = run == 1 ? TASKS / 2 : -1;
            memset(test.value, 0, sizeof test.value);
            gram_flags_clear(&test.flags);
            assert_int_equal(gram_sweep_run(context, &sweep), run == 1 ? GRAM_ERROR_DATA : GRAM_OK);
            const int64_t last = run == 1 ? TASKS / 2 : TASKS;
            uint64_t one = 0, two = 1;
            for (int64_t i = 0; i < last; i++) {
                const uint64_t next = one + two;
                one = two, two = next;
                assert_true(test.value[i] == one);
            }
        }
        gram_flags_destroy(context, &test.flags);
        gram_context_destroy(context);
    }
}

/* BLAS uses one thread in tasks, in a sweep of one thread too, and as many as before after it. */
int openblas_get_parallel(void);
int openblas_get_num_threads(void);
void openblas_set_num_threads(int threads);

static int blas_threads(void)
{
    int (*omp_get)(void);
    void *found = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    if (openblas_get_parallel() == 1) return openblas_get_num_threads();
    assert_non_null(found);
    memcpy(&omp_get, &found, sizeof found);
    return omp_get();
}

static gram_status blas_task(void *argument, const gram_worker *worker)
{
    (void)worker;
    if (blas_threads() != 1) atomic_fetch_add((atomic_int *)argument, 1);
    return GRAM_OK;
}

static void test_serial_inside(void **state)
{
    (void)state;
    if (openblas_get_parallel() == 0) skip();
    openblas_set_num_threads(3);
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        gram_context *context = make_context(threads);
        atomic_int faults = 0;
        const gram_sweep sweep = {.what = "serial", .tasks = 8, .run = blas_task, .argument = &faults};
        assert_int_equal(gram_sweep_run(context, &sweep), GRAM_OK);
        assert_int_equal(faults, 0);
        assert_int_equal(blas_threads(), 3);
        const int outer = gram_blas_enter(), inner = gram_blas_enter();
        assert_int_equal(blas_threads(), 1);
        gram_blas_leave(inner);
        assert_int_equal(blas_threads(), 1);
        gram_blas_leave(outer);
        assert_int_equal(blas_threads(), 3);
        gram_context_destroy(context);
    }
}

/* Rounds: a task finds what all tasks of the round before it left. */
enum { ROUNDS = 30, PLACES = 7 };

typedef struct rounds_test {
    int64_t value[2][PLACES];
    int64_t failing; /* this round's task 3 fails; -1: none */
    atomic_int faults, late;
} rounds_test;

static gram_status round_task(void *argument, const gram_worker *worker)
{
    rounds_test *test = argument;
    if (test->failing >= 0 && worker->round > test->failing) atomic_fetch_add(&test->late, 1);
    if (worker->round == test->failing && worker->task == 3) return GRAM_ERROR_DATA;
    const int64_t *before = test->value[worker->round % 2];
    int64_t sum = 0;
    for (int i = 0; i < PLACES; i++) sum += before[i];
    if (sum != PLACES * worker->round && test->failing < 0) atomic_fetch_add(&test->faults, 1);
    sleep_ms(worker->task == worker->round % PLACES);
    test->value[(worker->round + 1) % 2][worker->task] = worker->round + 1;
    return GRAM_OK;
}

static void test_rounds(void **state)
{
    (void)state;
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        gram_context *context = make_context(threads);
        for (int run = 0; run < 2; run++) {
            rounds_test test = {.failing = run ? 5 : -1};
            const gram_sweep sweep = {
                .what = "rounds", .tasks = PLACES, .rounds = ROUNDS, .run = round_task, .argument = &test};
            assert_int_equal(gram_sweep_run(context, &sweep), run ? GRAM_ERROR_DATA : GRAM_OK);
            assert_int_equal(test.faults, 0);
            assert_int_equal(test.late, 0);
        }
        gram_context_destroy(context);
    }
}

/* A task's sweep over the context of its own sweep runs in its thread. */
static gram_status own_context_task(void *argument, const gram_worker *worker)
{
    void **both = argument;
    const gram_sweep sweep = {.what = "inner", .tasks = 11, .run = inner_task, .argument = both[1]};
    (void)worker;
    return gram_sweep_run(both[0], &sweep);
}

static void test_nested(void **state)
{
    (void)state;
    gram_context *context = make_context(3);
    atomic_llong sum = 0;
    void *both[] = {context, &sum};
    const gram_sweep sweep = {.what = "outer", .tasks = 7, .run = own_context_task, .argument = both};
    assert_int_equal(gram_sweep_run(context, &sweep), GRAM_OK);
    assert_int_equal(sum, 7 * 55);
    gram_context_destroy(context);
}

/* The thread sanitizer cannot begin threads in the child of a process that has some, and its threads need more than a small
 * stack. */
#ifdef __SANITIZE_THREAD__
enum { UNDER_THREAD_SANITIZER = 1 };
#else
enum { UNDER_THREAD_SANITIZER = 0 };
#endif

/* ---- fork ---- */

typedef struct product_test {
    const double *a;
    double *out;
} product_test;

enum { SIDE = 96 };

/* Large enough for BLAS to take a buffer, and threads if it may. */
static gram_status product_task(void *argument, const gram_worker *worker)
{
    const product_test *test = argument;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, SIDE, SIDE, SIDE, 1, test->a, SIDE, test->a, SIDE, 0,
                test->out + worker->task * SIDE * SIDE, SIDE);
    return GRAM_OK;
}

static int products_are_right(gram_context *context)
{
    static double a[SIDE * SIDE], out[6 * SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) a[i] = (i * 7919) % 13;
    memset(out, 0, sizeof out);
    product_test test = {a, out};
    const gram_sweep sweep = {.what = "products", .tasks = 6, .run = product_task, .argument = &test};
    if (gram_sweep_run(context, &sweep) != GRAM_OK) return 0;
    for (int t = 0; t < 6; t++) {
        double sum = 0;
        for (int l = 0; l < SIDE; l++) sum += a[SIDE + l] * a[2 * SIDE + l];
        if (out[(t * SIDE + 1) * SIDE + 2] != sum) return 0;
    }
    return 1;
}

/* In a child, a context that swept before the fork and a new one; the child is ended if it hangs. */
static void test_fork(void **state)
{
    (void)state;
    if (UNDER_THREAD_SANITIZER) skip();
    gram_context *context = make_context(3);
    for (int round = 0; round < 5; round++) {
        assert_true(products_are_right(context));
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(60);
            gram_context *fresh = make_context(2);
            const int good = products_are_right(context) && products_are_right(fresh) && products_are_right(context);
            gram_context_destroy(fresh);
            gram_context_destroy(context);
            _exit(good ? 0 : 1);
        }
        int ended = 0;
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_int_equal(ended, 0);
    }
    assert_true(products_are_right(context));
    gram_context_destroy(context);
}

/* A child that destroys its parent's context without using it. */
static void test_fork_destroys(void **state)
{
    (void)state;
    gram_context *context = make_context(3);
    assert_true(products_are_right(context));
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        gram_context_destroy(context);
        _exit(0);
    }
    int ended = 0;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    gram_context_destroy(context);
}

/* ---- stacks ---- */

static gram_status deep_task(void *argument, const gram_worker *worker)
{
    volatile char room[512 << 10];
    memset((char *)room, (int)worker->task, sizeof room);
    sleep_ms(1);
    atomic_fetch_add((atomic_int *)argument, room[sizeof room - 1] == (char)worker->task);
    return GRAM_OK;
}

/* The threads' stacks are of their own size, whatever the process's default is (RLIMIT_STACK at its start). */
static void test_stacks(void **state)
{
    (void)state;
    if (UNDER_THREAD_SANITIZER) skip();
    pthread_attr_t attributes;
    size_t stack = 0;
    assert_int_equal(pthread_getattr_default_np(&attributes), 0);
    assert_int_equal(pthread_attr_getstacksize(&attributes, &stack), 0);
    pthread_attr_setstacksize(&attributes, 128 << 10);
    assert_int_equal(pthread_setattr_default_np(&attributes), 0);
    gram_context *context = make_context(4);
    atomic_int right = 0;
    const gram_sweep sweep = {.what = "deep", .tasks = 40, .run = deep_task, .argument = &right};
    assert_int_equal(gram_sweep_run(context, &sweep), GRAM_OK);
    assert_int_equal(right, 40);
    gram_context_destroy(context);
    pthread_attr_setstacksize(&attributes, stack);
    assert_int_equal(pthread_setattr_default_np(&attributes), 0);
    pthread_attr_destroy(&attributes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_task_once),
        cmocka_unit_test(test_lowest_failure_wins),
        cmocka_unit_test(test_scratch),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_two_contexts),
        cmocka_unit_test(test_no_room_for_scratch),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_serial_inside),
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_fork_destroys),
        cmocka_unit_test(test_stacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
