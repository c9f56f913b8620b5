/* Vectors of f64 and f32, as wide as the file that includes this is compiled for: 64 bytes with AVX-512, 32 with
 * AVX2, else 16.
 *
 * Written with the vector extension that gcc and clang share, because a loop over plain arrays is not vectorised where
 * the output may be the input, and because the order of operations is then the one that is written. Only what the
 * extension cannot say (square root, minimum) is an intrinsic where the instruction exists. */
#ifndef GRAM_BASE_VECMATH_SIMD_H
#define GRAM_BASE_VECMATH_SIMD_H

#include <stdint.h>

#include "base/compiler.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#define X86(name) _mm512_##name
typedef __m512d native_f64;
typedef __m512 native_f32;
enum { VECTOR_BYTES = 64 };
#elif defined(__AVX2__)
#include <immintrin.h>
#define X86(name) _mm256_##name
typedef __m256d native_f64;
typedef __m256 native_f32;
enum { VECTOR_BYTES = 32 };
#elif defined(__SSE2__)
#include <emmintrin.h>
#define X86(name) _mm_##name
typedef __m128d native_f64;
typedef __m128 native_f32;
enum { VECTOR_BYTES = 16 };
#else
#include <math.h>
enum { VECTOR_BYTES = 16 };
#endif

typedef double vector_f64 __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef float vector_f32 __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef int64_t vector_i64 __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef uint64_t vector_u64 __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef uint32_t vector_u32 __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef int32_t vector_i32 __attribute__((vector_size(VECTOR_BYTES), may_alias));

enum {
    LANES_F64 = VECTOR_BYTES / (int)sizeof(double),
    LANES_F32 = VECTOR_BYTES / (int)sizeof(float),
};

GRAM_INLINE vector_f64 load_f64(const double *x)
{
    return *(const vector_f64 *)x;
}

GRAM_INLINE void store_f64(double *x, vector_f64 value)
{
    *(vector_f64 *)x = value;
}

GRAM_INLINE vector_f64 spread_f64(double x)
{
    return x - (vector_f64){0};
}

GRAM_INLINE vector_f32 load_f32(const float *x)
{
    return *(const vector_f32 *)x;
}

GRAM_INLINE void store_f32(float *x, vector_f32 value)
{
    *(vector_f32 *)x = value;
}

GRAM_INLINE vector_f32 spread_f32(float x)
{
    return x - (vector_f32){0};
}

/* mask ? a : b, the mask's lanes being all ones or all zeros */
GRAM_INLINE vector_f64 select_f64(vector_i64 mask, vector_f64 a, vector_f64 b)
{
    return (vector_f64)(((vector_i64)a & mask) | ((vector_i64)b & ~mask));
}

GRAM_INLINE vector_f32 select_f32(vector_i32 mask, vector_f32 a, vector_f32 b)
{
    return (vector_f32)(((vector_i32)a & mask) | ((vector_i32)b & ~mask));
}

#if defined(__AVX512F__)

/* columns[j][i] = rows[i][j], j < 4: rows 0 to 3 are turned in the lower halves beside rows 4 to 7 in the upper ones */
GRAM_INLINE void transpose_quads(const __m256d rows[8], vector_f64 columns[4])
{
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    __m512d both[4];
    for (int i = 0; i < 4; i++) both[i] = _mm512_insertf64x4(_mm512_castpd256_pd512(rows[i]), rows[i + 4], 1);
    const __m512d low01 = _mm512_unpacklo_pd(both[0], both[1]), high01 = _mm512_unpackhi_pd(both[0], both[1]);
    const __m512d low23 = _mm512_unpacklo_pd(both[2], both[3]), high23 = _mm512_unpackhi_pd(both[2], both[3]);
    columns[0] = (vector_f64)_mm512_permutex2var_pd(low01, first, low23);
    columns[1] = (vector_f64)_mm512_permutex2var_pd(high01, first, high23);
    columns[2] = (vector_f64)_mm512_permutex2var_pd(low01, second, low23);
    columns[3] = (vector_f64)_mm512_permutex2var_pd(high01, second, high23);
}

#else

/* rows[i][j] becomes rows[j][i] */
GRAM_INLINE void transpose_f64(vector_f64 rows[LANES_F64])
{
#if defined(__AVX2__)
    const __m256d low01 = _mm256_unpacklo_pd((__m256d)rows[0], (__m256d)rows[1]);
    const __m256d high01 = _mm256_unpackhi_pd((__m256d)rows[0], (__m256d)rows[1]);
    const __m256d low23 = _mm256_unpacklo_pd((__m256d)rows[2], (__m256d)rows[3]);
    const __m256d high23 = _mm256_unpackhi_pd((__m256d)rows[2], (__m256d)rows[3]);
    rows[0] = (vector_f64)_mm256_permute2f128_pd(low01, low23, 0x20);
    rows[1] = (vector_f64)_mm256_permute2f128_pd(high01, high23, 0x20);
    rows[2] = (vector_f64)_mm256_permute2f128_pd(low01, low23, 0x31);
    rows[3] = (vector_f64)_mm256_permute2f128_pd(high01, high23, 0x31);
#else
    const vector_f64 first = rows[0], second = rows[1];
    rows[0] = (vector_f64){first[0], second[0]};
    rows[1] = (vector_f64){first[1], second[1]};
#endif
}

#endif

#if defined(X86)

/* a < b ? a : b, that is b if one of them is NaN */
GRAM_INLINE vector_f64 min_f64(vector_f64 a, vector_f64 b)
{
    return (vector_f64)X86(min_pd)((native_f64)a, (native_f64)b);
}

GRAM_INLINE vector_f32 min_f32(vector_f32 a, vector_f32 b)
{
    return (vector_f32)X86(min_ps)((native_f32)a, (native_f32)b);
}

/* a > b ? a : b, that is b if one of them is NaN */
GRAM_INLINE vector_f64 max_f64(vector_f64 a, vector_f64 b)
{
    return (vector_f64)X86(max_pd)((native_f64)a, (native_f64)b);
}

GRAM_INLINE vector_f32 max_f32(vector_f32 a, vector_f32 b)
{
    return (vector_f32)X86(max_ps)((native_f32)a, (native_f32)b);
}

/* Is every lane of the mask set? */
GRAM_INLINE int all_f64(vector_i64 mask)
{
#if defined(__AVX512F__)
    return _mm512_movepi64_mask((__m512i)mask) == (1 << LANES_F64) - 1;
#else
    return X86(movemask_pd)((native_f64)mask) == (1 << LANES_F64) - 1;
#endif
}

GRAM_INLINE vector_f64 sqrt_f64(vector_f64 x)
{
    return (vector_f64)X86(sqrt_pd)((native_f64)x);
}

GRAM_INLINE vector_f32 sqrt_f32(vector_f32 x)
{
    return (vector_f32)X86(sqrt_ps)((native_f32)x);
}

#else

GRAM_INLINE vector_f64 min_f64(vector_f64 a, vector_f64 b)
{
    return select_f64(a < b, a, b);
}

GRAM_INLINE vector_f32 min_f32(vector_f32 a, vector_f32 b)
{
    return select_f32(a < b, a, b);
}

GRAM_INLINE vector_f64 max_f64(vector_f64 a, vector_f64 b)
{
    return select_f64(a > b, a, b);
}

GRAM_INLINE vector_f32 max_f32(vector_f32 a, vector_f32 b)
{
    return select_f32(a > b, a, b);
}

GRAM_INLINE int all_f64(vector_i64 mask)
{
    return (mask[0] & mask[1]) != 0;
}

GRAM_INLINE vector_f64 sqrt_f64(vector_f64 x)
{
    for (int i = 0; i < LANES_F64; i++) x[i] = sqrt(x[i]);
    return x;
}

GRAM_INLINE vector_f32 sqrt_f32(vector_f32 x)
{
    for (int i = 0; i < LANES_F32; i++) x[i] = sqrtf(x[i]);
    return x;
}

#endif

#endif
