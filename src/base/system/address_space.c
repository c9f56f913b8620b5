#define _POSIX_C_SOURCE 200809L
#include "base/system/address_space.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static const size_t NO_LIMIT = (size_t)-1;

/* The first number of /proc/self/statm is the size of the address space in pages. */
static size_t mapped(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return 0;
    if (fscanf(file, "%llu", &pages) != 1) pages = 0;
    (void)fclose(file);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

size_t gram_address_space_left(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return NO_LIMIT;
    const size_t taken = mapped();
    return taken < limit.rlim_cur ? (size_t)limit.rlim_cur - taken : 0;
}

size_t gram_address_space_for_data(int threads)
{
    const size_t left = gram_address_space_left();
    if (left == NO_LIMIT) return left;
    const size_t taken = GRAM_BLAS_BUFFER + (size_t)(threads - 1) * GRAM_THREAD_SPACE;
    return left > taken ? left - taken : 0;
}

int gram_address_space_threads(int wanted)
{
    const size_t left = gram_address_space_left();
    if (left == NO_LIMIT) return wanted;
    const size_t half = left / 2, own = GRAM_BLAS_BUFFER; /* the calling thread's */
    const size_t room = half > own ? (half - own) / GRAM_THREAD_SPACE : 0;
    return (size_t)wanted < room ? wanted : (int)room;
}
