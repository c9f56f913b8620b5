/* How much memory the command may use, and how much it used. */
#ifndef GRAM_CLI_TERMINAL_FREE_MEMORY_H
#define GRAM_CLI_TERMINAL_FREE_MEMORY_H

#include <stddef.h>

/* The default budget for this number of threads: 80 % of what is free. Free is the least of MemAvailable, memory.max -
 * memory.current of this process's cgroup (version 2) and of every parent of it, and RLIMIT_AS, less 64 MiB and 40 MiB
 * for each thread (BLAS and the runtime). At least 1 MiB. */
size_t cli_memory_budget(int threads);

/* The same, less nothing and not 80 %, with the files below `root` ("" is the system's) and without RLIMIT_AS;
 * (size_t)-1 if nothing is known. For the tests. */
size_t cli_memory_free(const char *root);

/* The most that this process held (VmHWM), in bytes. */
size_t cli_memory_peak(void);

#endif
