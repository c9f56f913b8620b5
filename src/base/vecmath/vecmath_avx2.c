/* Block vector math for x86-64 processors with AVX2 and FMA: see vecmath_body.h. The functions that are not gram's own
 * are those of glibc's libmvec (part of -lm), which falls back to libm for the lanes that it cannot do. */
#include "base/vecmath/vecmath_levels.h"

#if defined(__x86_64__)

#if !defined(__AVX2__) || !defined(__FMA__)
#error "compile this file with -mavx2 -mfma -ffp-contract=fast"
#endif

#include <math.h>

#include "base/vecmath/simd.h"

/* libmvec has atan and erf from glibc 2.35 on */
#if defined(__GLIBC__) && __GLIBC__ * 1000 + __GLIBC_MINOR__ >= 2035

__m256d _ZGVdN4v_log(__m256d x);
__m256d _ZGVdN4v_sin(__m256d x);
__m256d _ZGVdN4v_cos(__m256d x);
__m256d _ZGVdN4v_atan(__m256d x);
__m256d _ZGVdN4v_erf(__m256d x);
__m256d _ZGVdN4vv_pow(__m256d x, __m256d y);

GRAM_INLINE vector_f64 libm_log(vector_f64 x)
{
    return (vector_f64)_ZGVdN4v_log((__m256d)x);
}

GRAM_INLINE vector_f64 libm_sin(vector_f64 x)
{
    return (vector_f64)_ZGVdN4v_sin((__m256d)x);
}

GRAM_INLINE vector_f64 libm_cos(vector_f64 x)
{
    return (vector_f64)_ZGVdN4v_cos((__m256d)x);
}

GRAM_INLINE vector_f64 libm_atan(vector_f64 x)
{
    return (vector_f64)_ZGVdN4v_atan((__m256d)x);
}

GRAM_INLINE vector_f64 libm_erf(vector_f64 x)
{
    return (vector_f64)_ZGVdN4v_erf((__m256d)x);
}

GRAM_INLINE vector_f64 libm_pow(vector_f64 x, vector_f64 y)
{
    return (vector_f64)_ZGVdN4vv_pow((__m256d)x, (__m256d)y);
}

#else
#include "base/vecmath/vecmath_libm.h"
#endif

#define LEVEL_TABLE gram_vecmath_avx2
#define LEVEL_NAME "avx2"
#define LEVEL_ISA GRAM_ISA_AVX2
#include "base/vecmath/vecmath_body.h"

#endif
