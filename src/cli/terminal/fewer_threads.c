/* Under a limit of address space (ulimit -v) OpenBLAS must not start threads of its own.
 *
 * gram has threads and calls BLAS from them, one at a time each; OpenBLAS starts its own nevertheless as soon as it is
 * loaded, with 128 MiB of address space for each, and tries without end where there is no room. It asks the environment for
 * their number before main begins. So the command looks at the limit earlier still, in .preinit_array, which comes before
 * what the libraries do when they are loaded, and starts itself anew with one thread for OpenBLAS; GRAM_THREADS keeps the
 * number that OMP_NUM_THREADS stood for, 0 for one thread for each processor. Without a limit nothing happens. The C library is not ready then: only system
 * calls, no memory. */
#define _GNU_SOURCE
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/terminal/cli.h"

/* BLAS's buffer, and what loading takes beside it. */
enum { MOST_VARIABLES = 4096, BLAS_BUFFER = 128 << 20, SPARE = 4 << 20 };

static int is_variable(const char *text, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && text[length] == '=';
}

static const char *value_of(char **environment, const char *name)
{
    for (char **v = environment; *v; v++)
        if (is_variable(*v, name)) return *v + strlen(name) + 1;
    return NULL;
}

static int is_one(const char *value)
{
    return value && strcmp(value, "1") == 0;
}

/* The environment again, with one thread for OpenBLAS in both of its flavours. */
static int make_environment(char **environment, char **fresh)
{
    static char blas[] = "OPENBLAS_NUM_THREADS=1", openmp[] = "OMP_NUM_THREADS=1";
    static char threads[64] = "GRAM_THREADS=0";
    const char *count = value_of(environment, "OMP_NUM_THREADS");
    int used = 0;
    if (count && strlen(count) < 32) (void)strcpy(threads + strlen("GRAM_THREADS="), count);
    for (char **v = environment; *v; v++) {
        if (used == MOST_VARIABLES) return 0;
        if (!is_variable(*v, "OPENBLAS_NUM_THREADS") && !is_variable(*v, "OMP_NUM_THREADS")) fresh[used++] = *v;
    }
    fresh[used++] = blas;
    fresh[used++] = openmp;
    if (!value_of(environment, "GRAM_THREADS")) fresh[used++] = threads;
    fresh[used] = NULL;
    return 1;
}

/* By its own path, so that the process keeps its name. */
static void start_anew(char **arguments, char **environment)
{
    static char *fresh[MOST_VARIABLES + 4], path[PATH_MAX];
    if (!make_environment(environment, fresh)) return;
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length > 0) (void)execve(path, arguments, fresh);
    (void)execve("/proc/self/exe", arguments, fresh);
}

static int can_map(size_t bytes)
{
    void *room = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room != MAP_FAILED && munmap(room, bytes) == 0;
}

/* OpenBLAS built on OpenMP maps the buffer of its one thread when it is loaded, and another when it is first called. */
static void leave_without_room(void)
{
    static const char TEXT[] =
        "gram: the limit of address space (ulimit -v) leaves no room for BLAS, which takes 128 MiB\n"
        "Raise the limit, or remove it.\n";
    if (strcmp(gram_blas_name(), "OpenBLAS (openmp)") != 0 || can_map(BLAS_BUFFER + SPARE)) return;
    if (write(STDERR_FILENO, TEXT, sizeof TEXT - 1) > 0) {}
    _exit(CLI_OVER_LIMIT);
}

static void look_at_limit(int count, char **arguments, char **environment)
{
    struct rlimit limit;
    (void)count;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    if (!is_one(value_of(environment, "OPENBLAS_NUM_THREADS")) || !is_one(value_of(environment, "OMP_NUM_THREADS")))
        start_anew(arguments, environment);
    leave_without_room();
}

__attribute__((section(".preinit_array"), used)) static void (*const before_libraries)(int, char **,
                                                                                       char **) = look_at_limit;
