/* What the benchmark programs share: the clock, the memory of this process, and data that C and Python make alike. */
#ifndef GRAM_BENCH_MEASURE_H
#define GRAM_BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>

/* Seconds since some fixed moment. */
double clock_seconds(void);

/* Seconds of processor time that all threads of this process took so far. */
double processor_seconds(void);

/* Bytes of memory that this process holds now, and the most that it ever held, by the kernel's account. */
int64_t memory_resident(void);
int64_t memory_peak(void);

/* Fresh memory in huge pages where the system grants them, as NumPy's own large arrays have. Untouched: the first write
 * to a page makes it. Ends the program when there is none. */
void *fresh_memory(size_t bytes);
void fresh_memory_free(void *memory, size_t bytes);

/* `count` numbers, uniform with mean 0 and variance 1, that depend on the seed and their position only (SplitMix64):
 * bench/peers/common.py makes the same bits. The caller frees them. */
double *random_numbers(uint64_t seed, int64_t count);
float *random_numbers_f32(uint64_t seed, int64_t count);

/* Prints "check": four numbers by which two programs see that they computed the same: the first, the middle one, the
 * mean and the mean absolute value of out[0], out[stride], ... */
void print_check(const double *out, int64_t count, int64_t stride);

/* Prints the text to stderr and ends the program with status 1. */
_Noreturn void fail(const char *what);

/* BENCH_THREADS, which bench/run sets; 0, the library's default, without it. */
int thread_count(void);

/* A whole number >= 0; ends the program for anything else. */
int64_t parse_count(const char *text);

#endif
