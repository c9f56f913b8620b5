/* How much memory this process may still take, and how much it took, by the files of Linux. */
#define _POSIX_C_SOURCE 200809L
#include "base/memory.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

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

static size_t left_in_group(const char *folder)
{
    const size_t most = read_number(folder, "memory.max"), now = read_number(folder, "memory.current");
    if (most == NOT_KNOWN || now == NOT_KNOWN) return NOT_KNOWN;
    return now < most ? most - now : 0;
}

/* This process's group of version 2 is the line "0::/path" of /proc/self/cgroup. */
static int find_group(const char *root, char *group, size_t size)
{
    char path[PATH_MAX], line[PATH_MAX];
    int found = 0;
    (void)snprintf(path, sizeof path, "%.*s/proc/self/cgroup", PATH_MAX - 64, root);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    while (!found && fgets(line, sizeof line, file)) {
        if (strncmp(line, "0::/", 4) != 0) continue;
        line[strcspn(line, "\n")] = '\0';
        found = snprintf(group, size, "%s/sys/fs/cgroup%s", root, line + 3) < (int)size;
    }
    (void)fclose(file);
    return found;
}

static size_t left_in_groups(const char *root)
{
    char group[PATH_MAX];
    size_t least = NOT_KNOWN;
    if (!find_group(root, group, sizeof group)) return NOT_KNOWN;
    const size_t top = strlen(root) + strlen("/sys/fs/cgroup");
    for (;;) {
        least = smaller(least, left_in_group(group));
        char *slash = strrchr(group + top, '/');
        if (!slash) return least;
        *slash = '\0';
    }
}

size_t gram_system_memory_free(const char *root)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%.*s/proc/meminfo", PATH_MAX - 64, root);
    return smaller(read_key(path, "MemAvailable"), left_in_groups(root));
}

size_t gram_system_memory_budget(int threads)
{
    struct rlimit limit;
    size_t left = gram_system_memory_free("");
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        left = smaller(left, (size_t)limit.rlim_cur);
    if (left == NOT_KNOWN) return 0;
    const size_t runtime = 64 * MIB + 40 * MIB * (size_t)threads;
    const size_t budget = left > runtime ? (left - runtime) / 10 * 8 : 0;
    return budget > MIB ? budget : MIB;
}

size_t gram_system_memory_peak(void)
{
    struct rusage usage;
    const size_t peak = read_key("/proc/self/status", "VmHWM");
    if (peak != NOT_KNOWN) return peak;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (size_t)usage.ru_maxrss * 1024 : 0;
}
