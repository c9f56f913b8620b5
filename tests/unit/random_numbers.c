#include "random_numbers.h"

#include <stdlib.h>

uint64_t test_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

void test_uniform(uint64_t seed, int64_t count, double lower, double upper, double *out)
{
    uint64_t state = seed * 0x2545f4914f6cdd1dU + 1;
    for (int64_t i = 0; i < count; i++)
        out[i] = lower + (upper - lower) * (((double)(test_bits(&state) >> 12) + 0.5) * 0x1p-52);
}

double *test_numbers(int64_t count)
{
    double *numbers = calloc((size_t)(count > 0 ? count : 1), sizeof *numbers);
    if (!numbers) abort();
    return numbers;
}

double *test_random(uint64_t seed, int64_t count, double lower, double upper)
{
    double *numbers = test_numbers(count);
    test_uniform(seed, count, lower, upper, numbers);
    return numbers;
}
