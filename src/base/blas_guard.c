/* Keeps BLAS single-threaded inside sweeps, whatever BLAS the process has.
 *
 * OpenBLAS built on OpenMP is serial by itself inside a parallel region, and setting its thread count would change
 * OpenMP's for the whole program, so it is left alone. OpenBLAS built on pthreads is set to 1 thread by the first sweep
 * that starts and set back by the last one that ends; the counter is the one variable that libgram keeps for the whole
 * process, because the setting is one for the whole process too. The symbols are weak: any other BLAS is taken to be
 * serial. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/sweep.h"

GRAM_WEAK int openblas_get_parallel(void);
GRAM_WEAK int openblas_get_num_threads(void);
GRAM_WEAK void openblas_set_num_threads(int threads);
GRAM_WEAK char *openblas_get_config(void);

enum { OPENBLAS_PTHREAD = 1, OPENBLAS_OPENMP = 2 };

static pthread_mutex_t guard_lock = PTHREAD_MUTEX_INITIALIZER;
static int guard_depth;
static int guard_saved_threads;

static int needs_guard(void)
{
    return openblas_get_parallel && openblas_get_num_threads && openblas_set_num_threads &&
           openblas_get_parallel() == OPENBLAS_PTHREAD;
}

void gram_blas_enter(void)
{
    if (!needs_guard()) return;
    pthread_mutex_lock(&guard_lock);
    if (guard_depth++ == 0) {
        guard_saved_threads = openblas_get_num_threads();
        if (guard_saved_threads != 1) openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&guard_lock);
}

void gram_blas_leave(void)
{
    if (!needs_guard()) return;
    pthread_mutex_lock(&guard_lock);
    if (--guard_depth == 0 && guard_saved_threads != 1) openblas_set_num_threads(guard_saved_threads);
    pthread_mutex_unlock(&guard_lock);
}

const char *gram_blas_name(void)
{
    if (!openblas_get_config || !openblas_get_parallel) return "unknown BLAS";
    const int parallel = openblas_get_parallel();
    if (parallel == OPENBLAS_PTHREAD) return "OpenBLAS (pthread)";
    if (parallel == OPENBLAS_OPENMP) return "OpenBLAS (openmp)";
    return "OpenBLAS (serial)";
}
