/* Keeps BLAS single-threaded in libgram, whatever BLAS the process has.
 *
 * OpenBLAS built on pthreads is set to 1 thread by the first sweep that starts and set back by the last one that ends; the
 * counter is for the whole process, because the setting is one for the whole process too. OpenBLAS built on OpenMP asks
 * OpenMP, which keeps the number for each thread: there the calling thread's is set to 1 and set back. OpenMP's functions
 * are looked up by name, because libgram itself does not need OpenMP. The other symbols are weak: any other BLAS is taken
 * to be serial. */
#define _GNU_SOURCE
#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <gram/text.h>

#include "base/compiler.h"
#include "base/sweep.h"
#include "base/system/address_space.h"

GRAM_WEAK int openblas_get_parallel(void);
GRAM_WEAK int openblas_get_num_threads(void);
GRAM_WEAK void openblas_set_num_threads(int threads);

enum { PTHREADS = 1, OPENMP = 2 };

static pthread_once_t guard_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t guard_lock = PTHREAD_MUTEX_INITIALIZER;
static int guard_depth;
static int guard_saved_threads;
static int (*guard_omp_get)(void);
static void (*guard_omp_set)(int threads);
static atomic_int guard_has_buffer;

static int flavour(void)
{
    if (!openblas_get_parallel || !openblas_get_num_threads || !openblas_set_num_threads) return 0;
    return openblas_get_parallel();
}

/* ---- fork: the lock is free in the child, and whoever was in a sweep is not there any more ---- */

static void before_fork(void)
{
    pthread_mutex_lock(&guard_lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&guard_lock);
}

static void after_fork_in_child(void)
{
    guard_depth = 0;
    pthread_mutex_unlock(&guard_lock);
}

/* A pointer to a function out of one to an object, which C does not convert. */
static void look_up(const char *name, void *function)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &found, sizeof found);
}

static void set_up(void)
{
    if (flavour() == PTHREADS) (void)pthread_atfork(before_fork, after_fork, after_fork_in_child);
    if (flavour() != OPENMP) return;
    look_up("omp_get_max_threads", &guard_omp_get);
    look_up("omp_set_num_threads", &guard_omp_set);
}

/* ---- one thread ---- */

static int enter_openmp(void)
{
    if (!guard_omp_get || !guard_omp_set) return 1;
    const int before = guard_omp_get();
    if (before != 1) guard_omp_set(1);
    return before;
}

int gram_blas_enter(void)
{
    (void)pthread_once(&guard_once, set_up);
    if (flavour() == OPENMP) return enter_openmp();
    if (flavour() != PTHREADS) return 1;
    pthread_mutex_lock(&guard_lock);
    if (guard_depth++ == 0) {
        guard_saved_threads = openblas_get_num_threads();
        if (guard_saved_threads != 1) openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&guard_lock);
    return 1;
}

void gram_blas_leave(int before)
{
    if (before != 1) guard_omp_set(before);
    if (flavour() != PTHREADS) return;
    pthread_mutex_lock(&guard_lock);
    if (guard_depth > 0 && --guard_depth == 0 && guard_saved_threads != 1)
        openblas_set_num_threads(guard_saved_threads);
    pthread_mutex_unlock(&guard_lock);
}

void gram_blas_serial_thread(void)
{
    (void)pthread_once(&guard_once, set_up);
    if (flavour() == OPENMP) (void)enter_openmp();
}

/* ---- room for a buffer ---- */

/* OpenBLAS keeps a buffer that it mapped. A product of two small matrices takes none, the square of one does. */
static void map_buffer(void)
{
    const double one = 1;
    double square = 0;
    const int before = gram_blas_enter();
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, 1, 1, 1, &one, 1, 0, &square, 1);
    gram_blas_leave(before);
}

gram_status gram_blas_has_room(gram_context *context, const char *what)
{
    gram_status status = GRAM_OK;
    char left[GRAM_BYTES_SIZE];
    if (context->blas_has_room || atomic_load(&guard_has_buffer)) return GRAM_OK;
    const size_t bytes = flavour() ? gram_address_space_left() : (size_t)-1;
    if (bytes < GRAM_BLAS_BUFFER) {
        (void)gram_fail(context, GRAM_ERROR_MEMORY,
                        "%s: %s of address space are left (ulimit -v), and BLAS takes 128 MiB for a thread", what,
                        gram_bytes_format(bytes, left));
        TRY(gram_advise(context, GRAM_ERROR_MEMORY, "Raise the limit of address space (ulimit -v), or remove it."));
    }
    if (bytes != (size_t)-1) {
        map_buffer();
        atomic_store(&guard_has_buffer, 1);
    }
    context->blas_has_room = 1;
done:
    return status;
}

const char *gram_blas_name(void)
{
    if (!openblas_get_parallel) return "unknown BLAS";
    const int parallel = openblas_get_parallel();
    if (parallel == PTHREADS) return "OpenBLAS (pthread)";
    if (parallel == OPENMP) return "OpenBLAS (openmp)";
    return "OpenBLAS (serial)";
}
