/* How much memory and how many threads this process may take, and how much memory it took, by the files of Linux. */
#define _GNU_SOURCE
#include "base/memory.h"

#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/system/address_space.h"

static const size_t NOT_KNOWN = (size_t)-1;
static const size_t MIB = 1 << 20;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* "Key:   123 kB" in a file of such lines, in bytes. */
static size_t read_key(const char *path, const char *key)
{
    char line[256];
    unsigned long long value;
    size_t found = NOT_KNOWN;
    FILE *file = fopen(path, "re");
    if (!file) return NOT_KNOWN;
    while (found == NOT_KNOWN && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), ": %llu", &value) == 1)
            found = (size_t)value * 1024;
    (void)fclose(file);
    return found;
}

/* The number in a file of one number; not known for "max" and for no file. */
static size_t read_number(const char *folder, const char *name)
{
    char path[PATH_MAX], line[64], *end;
    (void)snprintf(path, sizeof path, "%.*s/%s", PATH_MAX - 64, folder, name);
    FILE *file = fopen(path, "re");
    if (!file) return NOT_KNOWN;
    const int good = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    if (!good || line[0] < '0' || line[0] > '9') return NOT_KNOWN;
    const unsigned long long value = strtoull(line, &end, 10);
    return value < NOT_KNOWN ? (size_t)value : NOT_KNOWN;
}

/* A version of control groups: how the line of /proc/self/cgroup that names this process's group is known, where the
 * groups' folders are, and the files in them. Version 1 has a line for each controller, "4:memory:/path". */
typedef struct group_kind {
    const char *controller, *mount, *limit, *usage;
} group_kind;

static const group_kind GROUP_KINDS[] = {
    {"", "/sys/fs/cgroup", "memory.max", "memory.current"},
    {"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"},
};

static size_t left_in_group(const group_kind *kind, const char *folder)
{
    const size_t most = read_number(folder, kind->limit), now = read_number(folder, kind->usage);
    if (most == NOT_KNOWN || now == NOT_KNOWN) return NOT_KNOWN;
    return now < most ? most - now : 0;
}

/* Whether a comma-separated list has the name. */
static int is_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (;;) {
        const size_t word = strcspn(list, ",");
        if (word == length && strncmp(list, name, length) == 0) return 1;
        if (list[word] == '\0') return 0;
        list += word + 1;
    }
}

/* The group's path in a line "number:controllers:path", NULL if it is of another kind. */
static const char *path_in_line(const group_kind *kind, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    if (!controllers) return NULL;
    char *path = strchr(++controllers, ':');
    if (!path || path[1] != '/') return NULL;
    *path = '\0';
    return is_listed(controllers, kind->controller) ? path + 1 : NULL;
}

static int find_group(const group_kind *kind, const char *root, char *group, size_t size)
{
    char path[PATH_MAX], line[PATH_MAX];
    int found = 0;
    (void)snprintf(path, sizeof path, "%.*s/proc/self/cgroup", PATH_MAX - 64, root);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    while (!found && fgets(line, sizeof line, file)) {
        const char *name = path_in_line(kind, line);
        if (name) found = snprintf(group, size, "%s%s%s", root, kind->mount, name) < (int)size;
    }
    (void)fclose(file);
    return found;
}

/* In this process's group and every parent of it. Inside a container the path may be the host's: what is not there limits
 * nothing, and the mount itself is the container's group. */
static size_t left_in_groups(const group_kind *kind, const char *root)
{
    char group[PATH_MAX];
    size_t least = NOT_KNOWN;
    if (!find_group(kind, root, group, sizeof group)) return NOT_KNOWN;
    const size_t top = strlen(root) + strlen(kind->mount);
    for (;;) {
        least = smaller(least, left_in_group(kind, group));
        char *slash = strrchr(group + top, '/');
        if (!slash) return least;
        *slash = '\0';
    }
}

size_t gram_system_memory_free(const char *root)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%.*s/proc/meminfo", PATH_MAX - 64, root);
    size_t left = read_key(path, "MemAvailable");
    for (size_t i = 0; i < sizeof GROUP_KINDS / sizeof *GROUP_KINDS; i++)
        left = smaller(left, left_in_groups(&GROUP_KINDS[i], root));
    return left;
}

/* What BLAS and the runtime touch. */
static size_t runtime_memory(int threads)
{
    return 64 * MIB + 40 * MIB * (size_t)threads;
}

size_t gram_system_memory_budget(int threads)
{
    if (threads < 1) threads = 1;
    size_t left = gram_system_memory_free("");
    if (left != NOT_KNOWN) left = left > runtime_memory(threads) ? left - runtime_memory(threads) : 0;
    left = smaller(left, gram_address_space_for_data(threads));
    if (left == NOT_KNOWN) return 0;
    const size_t budget = left / 10 * 8;
    return budget > MIB ? budget : MIB;
}

int gram_system_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}

int gram_system_threads(int wanted)
{
    int threads = wanted > 0 ? wanted : gram_system_processors();
    if (threads > GRAM_MOST_THREADS) threads = GRAM_MOST_THREADS;
    const size_t half = gram_system_memory_free("") / 2, space = gram_address_space_left();
    if (space < GRAM_BLAS_BUFFER) return 0;
    while (threads > 1 && runtime_memory(threads) > half) threads--;
    return 1 + gram_address_space_threads(threads - 1);
}

size_t gram_system_memory_peak(void)
{
    struct rusage usage;
    const size_t peak = read_key("/proc/self/status", "VmHWM");
    if (peak != NOT_KNOWN) return peak;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (size_t)usage.ru_maxrss * 1024 : 0;
}
