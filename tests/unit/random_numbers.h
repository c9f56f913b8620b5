/* A random number generator that is not the library's. It needs no cmocka: the fuzz targets have it too. */
#ifndef GRAM_TESTS_RANDOM_NUMBERS_H
#define GRAM_TESTS_RANDOM_NUMBERS_H

#include <stdint.h>

/* 64 random bits (splitmix64) */
uint64_t test_bits(uint64_t *state);

/* count numbers, uniform on (lower, upper). */
void test_uniform(uint64_t seed, int64_t count, double lower, double upper, double *out);

/* Zeroed memory, never NULL; freed with free. */
double *test_numbers(int64_t count);
/* count uniform numbers in new memory */
double *test_random(uint64_t seed, int64_t count, double lower, double upper);

#endif
