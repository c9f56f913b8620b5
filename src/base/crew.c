#define _GNU_SOURCE
#include "base/crew.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/sweep.h"
#include "base/system/address_space.h"

/* Looks at a number this often before sleeping on it, some 5 us: two sweeps that follow each other find their threads
 * awake, and a busy machine loses no time to threads that wait. */
enum { LOOKS = 200 };

/* The numbers that are read without the lock are atomic; all are written under it. */
struct gram_crew {
    pthread_mutex_t lock;
    pthread_cond_t called; /* a job begins, or the crew is dismissed */
    pthread_cond_t left;   /* the last member has left the job */
    gram_crew_job job;
    void *argument;
    int members;       /* of the job, the caller among them */
    int open;          /* how many may still begin */
    atomic_int inside; /* how many began and have not ended */
    atomic_uint calls; /* jobs so far, and one for the dismissal */
    atomic_int busy;   /* a job is under way */
    int dismissed;
    pid_t process; /* a fork leaves the threads behind */
    int room;      /* for this many threads */
    int count;     /* of the threads below */
    pthread_t threads[];
};

/* ---- a thread's life ---- */

/* Returns with the lock. */
static void wait_for_call(gram_crew *crew, unsigned last)
{
    for (int i = 0; i < LOOKS && atomic_load(&crew->calls) == last; i++) GRAM_PAUSE();
    pthread_mutex_lock(&crew->lock);
    while (!crew->dismissed && (crew->open == 0 || atomic_load(&crew->calls) == last))
        pthread_cond_wait(&crew->called, &crew->lock);
}

/* Begins a job at most once: a thread that found nothing left to do waits for the next one. */
static void *live(void *argument)
{
    gram_crew *crew = argument;
    unsigned last = 0;
    gram_blas_serial_thread();
    for (;;) {
        wait_for_call(crew, last);
        if (crew->dismissed) break;
        last = atomic_load(&crew->calls);
        const int member = crew->members - crew->open--;
        atomic_fetch_add(&crew->inside, 1);
        pthread_mutex_unlock(&crew->lock);
        crew->job(crew->argument, member);
        pthread_mutex_lock(&crew->lock);
        if (atomic_fetch_sub(&crew->inside, 1) == 1) pthread_cond_signal(&crew->left);
        pthread_mutex_unlock(&crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* ---- the crew ---- */

static void prepare(gram_crew *crew, int room)
{
    *crew = (gram_crew){.lock = PTHREAD_MUTEX_INITIALIZER,
                        .called = PTHREAD_COND_INITIALIZER,
                        .left = PTHREAD_COND_INITIALIZER,
                        .process = getpid(),
                        .room = room};
}

gram_status gram_crew_create(gram_memory *memory, int members, gram_crew **crew)
{
    const int room = members < GRAM_MOST_THREADS ? members - 1 : GRAM_MOST_THREADS - 1;
    const size_t bytes = sizeof **crew + (size_t)room * sizeof *(*crew)->threads;
    const gram_status status = gram_memory_take(memory, bytes, (void **)crew);
    if (status == GRAM_OK) prepare(*crew, room);
    return status;
}

/* Signals are for the program's own threads. */
static int start_thread(gram_crew *crew, const pthread_attr_t *attributes)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&crew->threads[crew->count], attributes, live, crew);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    crew->count += !failed;
    return !failed;
}

/* As many threads as the job asks for and the address space has room for; what could not be started now is not asked for
 * again. */
static void start_threads(gram_crew *crew, int wanted)
{
    pthread_attr_t attributes;
    if (wanted > crew->room) wanted = crew->room;
    if (crew->count >= wanted) return;
    const int fresh = gram_address_space_threads(wanted - crew->count);
    if (crew->count + fresh < wanted) crew->room = wanted = crew->count + fresh;
    if (pthread_attr_init(&attributes) != 0) return;
    (void)pthread_attr_setstacksize(&attributes, GRAM_THREAD_STACK);
    while (crew->count < wanted && start_thread(crew, &attributes)) {}
    if (crew->count < wanted) crew->room = crew->count;
    (void)pthread_attr_destroy(&attributes);
}

static void begin(gram_crew *crew, int members, gram_crew_job job, void *argument)
{
    pthread_mutex_lock(&crew->lock);
    crew->job = job;
    crew->argument = argument;
    crew->members = members;
    crew->open = members - 1;
    atomic_fetch_add(&crew->calls, 1);
    pthread_mutex_unlock(&crew->lock);
    for (int i = 1; i < members; i++) pthread_cond_signal(&crew->called);
}

static void end(gram_crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->open = 0; /* who has not begun stays out */
    pthread_mutex_unlock(&crew->lock);
    for (int i = 0; i < LOOKS && atomic_load(&crew->inside) > 0; i++) GRAM_PAUSE();
    pthread_mutex_lock(&crew->lock);
    while (atomic_load(&crew->inside) > 0) pthread_cond_wait(&crew->left, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}

/* How many members a job will have. A child of fork has no threads but the one that forked: its crew begins anew. */
static int muster(gram_crew *crew, int members)
{
    if (crew->process != getpid()) prepare(crew, crew->room);
    if (atomic_load(&crew->busy)) return 1;
    start_threads(crew, members - 1);
    return members <= crew->count ? members : crew->count + 1;
}

void gram_crew_run(gram_crew *crew, int members, gram_crew_job job, void *argument)
{
    if (members > 1) members = crew ? muster(crew, members) : 1;
    if (members < 2) {
        job(argument, 0);
        return;
    }
    atomic_store(&crew->busy, 1);
    begin(crew, members, job, argument);
    job(argument, 0);
    end(crew);
    atomic_store(&crew->busy, 0);
}

void gram_crew_destroy(gram_memory *memory, gram_crew *crew)
{
    if (!crew) return;
    if (crew->process == getpid()) {
        pthread_mutex_lock(&crew->lock);
        crew->dismissed = 1;
        atomic_fetch_add(&crew->calls, 1);
        pthread_mutex_unlock(&crew->lock);
        pthread_cond_broadcast(&crew->called);
        for (int i = 0; i < crew->count; i++) (void)pthread_join(crew->threads[i], NULL);
        (void)pthread_cond_destroy(&crew->called);
        (void)pthread_cond_destroy(&crew->left);
        (void)pthread_mutex_destroy(&crew->lock);
    }
    gram_memory_give(memory, crew);
}
