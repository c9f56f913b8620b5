#define _GNU_SOURCE
#include "measure.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

void fail(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static double read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double clock_seconds(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double processor_seconds(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* A line of /proc/self/status, "VmHWM:   1234 kB", in bytes. */
static int64_t status_bytes(const char *name)
{
    FILE *file = fopen("/proc/self/status", "r");
    if (!file) fail("/proc/self/status cannot be read");
    char line[256];
    int64_t kilobytes = -1;
    while (kilobytes < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0) kilobytes = strtoll(line + strlen(name) + 1, NULL, 10);
    fclose(file);
    if (kilobytes < 0) fail("/proc/self/status has no such line");
    return 1024 * kilobytes;
}

int64_t memory_resident(void)
{
    return status_bytes("VmRSS");
}

int64_t memory_peak(void)
{
    return status_bytes("VmHWM");
}

void *fresh_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("out of memory");
    (void)madvise(memory, bytes, MADV_HUGEPAGE); /* a wish: without it the run is only slower */
    return memory;
}

void fresh_memory_free(void *memory, size_t bytes)
{
    munmap(memory, bytes);
}

/* Output number `index` of the SplitMix64 generator that starts at seed * 2^32 (Steele, Lea and Flood 2014). */
static double uniform(uint64_t seed, uint64_t index)
{
    uint64_t z = (seed << 32) + (index + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

static const double square_root_of_12 = 3.4641016151377544;

double *random_numbers(uint64_t seed, int64_t count)
{
    double *out = malloc((size_t)count * sizeof *out);
    if (!out) fail("out of memory");
    for (int64_t i = 0; i < count; i++) out[i] = (uniform(seed, (uint64_t)i) - 0.5) * square_root_of_12;
    return out;
}

float *random_numbers_f32(uint64_t seed, int64_t count)
{
    float *out = malloc((size_t)count * sizeof *out);
    if (!out) fail("out of memory");
    for (int64_t i = 0; i < count; i++) out[i] = (float)((uniform(seed, (uint64_t)i) - 0.5) * square_root_of_12);
    return out;
}

void print_check(const double *out, int64_t count, int64_t stride)
{
    double sum = 0, absolute = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += out[i * stride];
        absolute += fabs(out[i * stride]);
    }
    printf("\"check\": [%.17g, %.17g, %.17g, %.17g]", out[0], out[count / 2 * stride], sum / (double)count,
           absolute / (double)count);
}

int64_t parse_count(const char *text)
{
    char *end;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end || value < 0) fail("a count is not a whole number");
    return value;
}

int thread_count(void)
{
    const char *text = getenv("BENCH_THREADS");
    return text ? (int)parse_count(text) : 0;
}
