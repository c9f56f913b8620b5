/* exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln 2 / 2, exp(r) by the polynomial of degree 10 that agrees with it
 * at the Chebyshev nodes of that interval (error 2.2e-16). No special values: what a general exp does beyond this is
 * not part of the limit. Compiled for AVX2 and FMA. */
#include "limit_exp.h"

#include <immintrin.h>

enum { WIDTH = 4, UNROLL = 4 };

/* From the power 10 down to 0. */
static const double coefficient[] = {
    0x1.28a2ca617b969p-22, 0x1.72fafebdaf273p-19, 0x1.a019a6611cad5p-16, 0x1.a01978b8b3d18p-13,
    0x1.6c16c17f46982p-10, 0x1.1111112ddae8bp-7,  0x1.55555555520a4p-5,  0x1.555555554b736p-3,
    0x1.0000000000005p-1,  0x1.000000000001ep+0,  0x1.0000000000000p+0,
};

enum { COEFFICIENTS = sizeof coefficient / sizeof *coefficient };

int limit_exp_available(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

void limit_exp(int count, const double *x, double *out)
{
    const __m256d per_ln2 = _mm256_set1_pd(0x1.71547652b82fep+0);
    const __m256d ln2_high = _mm256_set1_pd(0x1.62e42feep-1);
    const __m256d ln2_low = _mm256_set1_pd(0x1.a39ef35793c76p-33);
    const __m256d rounder = _mm256_set1_pd(0x1.8p52); /* adding it leaves round(.) in the low bits */
    for (int i = 0; i < count; i += WIDTH * UNROLL) {
        __m256d shifted[UNROLL], r[UNROLL], p[UNROLL];
        for (int u = 0; u < UNROLL; u++) {
            const __m256d value = _mm256_loadu_pd(x + i + WIDTH * u);
            shifted[u] = _mm256_fmadd_pd(value, per_ln2, rounder);
            const __m256d n = _mm256_sub_pd(shifted[u], rounder);
            r[u] = _mm256_fnmadd_pd(n, ln2_low, _mm256_fnmadd_pd(n, ln2_high, value));
            p[u] = _mm256_set1_pd(coefficient[0]);
        }
        for (int c = 1; c < COEFFICIENTS; c++)
            for (int u = 0; u < UNROLL; u++) p[u] = _mm256_fmadd_pd(p[u], r[u], _mm256_set1_pd(coefficient[c]));
        for (int u = 0; u < UNROLL; u++) {
            const __m256i power = _mm256_slli_epi64(_mm256_castpd_si256(shifted[u]), 52);
            const __m256i scaled = _mm256_add_epi64(_mm256_castpd_si256(p[u]), power);
            _mm256_storeu_pd(out + i + WIDTH * u, _mm256_castsi256_pd(scaled));
        }
    }
}
