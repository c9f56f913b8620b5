/* Where RLIMIT_AS (ulimit -v) binds, and what threads take of the address space.
 *
 * OpenBLAS maps a buffer of 128 MiB for each thread that is in it at a time, of which little is ever touched. If there is no
 * room for one it tries again without end, so room is looked for before BLAS is called. */
#ifndef GRAM_BASE_ADDRESS_SPACE_H
#define GRAM_BASE_ADDRESS_SPACE_H

#include <stddef.h>

/* OpenBLAS as distributions build it has room for the buffers of 128 threads. */
enum { GRAM_MOST_THREADS = 128 };

enum {
    GRAM_BLAS_BUFFER = 128 << 20,
    GRAM_THREAD_STACK = 4 << 20,
    /* A further thread: BLAS's buffer, its stack, and what malloc reserves for a thread of its own. */
    GRAM_THREAD_SPACE = GRAM_BLAS_BUFFER + GRAM_THREAD_STACK + (64 << 20)
};

/* Bytes that the process may still map; (size_t)-1 if there is no limit or it is not known. */
size_t gram_address_space_left(void);

/* What is left for data beside the calling thread and threads - 1 further ones; (size_t)-1 if there is no limit. */
size_t gram_address_space_for_data(int threads);

/* Of `wanted` threads beside the calling one, how many there is room for while half of what is left stays free. */
int gram_address_space_threads(int wanted);

#endif
