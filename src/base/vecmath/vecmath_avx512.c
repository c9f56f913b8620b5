/* Block vector math for x86-64 processors with AVX-512 (F, DQ, BW, VL): see vecmath_body.h. The functions that are not gram's own
 * are those of glibc's libmvec (part of -lm), which falls back to libm for the lanes that it cannot do. */
#include "base/vecmath/vecmath_levels.h"

#if defined(__x86_64__)

#if !defined(__AVX512F__) || !defined(__AVX512DQ__) || !defined(__FMA__)
#error "compile this file with -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -ffp-contract=fast"
#endif

#include <math.h>

#include "base/vecmath/simd.h"

/* libmvec has atan and erf from glibc 2.35 on */
#if defined(__GLIBC__) && __GLIBC__ * 1000 + __GLIBC_MINOR__ >= 2035

__m512d _ZGVeN8v_log(__m512d x);
__m512d _ZGVeN8v_sin(__m512d x);
__m512d _ZGVeN8v_cos(__m512d x);
__m512d _ZGVeN8v_atan(__m512d x);
__m512d _ZGVeN8v_erf(__m512d x);
__m512d _ZGVeN8vv_pow(__m512d x, __m512d y);

GRAM_INLINE vector_f64 libm_log(vector_f64 x)
{
    return (vector_f64)_ZGVeN8v_log((__m512d)x);
}

GRAM_INLINE vector_f64 libm_sin(vector_f64 x)
{
    return (vector_f64)_ZGVeN8v_sin((__m512d)x);
}

GRAM_INLINE vector_f64 libm_cos(vector_f64 x)
{
    return (vector_f64)_ZGVeN8v_cos((__m512d)x);
}

GRAM_INLINE vector_f64 libm_atan(vector_f64 x)
{
    return (vector_f64)_ZGVeN8v_atan((__m512d)x);
}

GRAM_INLINE vector_f64 libm_erf(vector_f64 x)
{
    return (vector_f64)_ZGVeN8v_erf((__m512d)x);
}

GRAM_INLINE vector_f64 libm_pow(vector_f64 x, vector_f64 y)
{
    return (vector_f64)_ZGVeN8vv_pow((__m512d)x, (__m512d)y);
}

#else
#include "base/vecmath/vecmath_libm.h"
#endif

#define LEVEL_TABLE gram_vecmath_avx512
#define LEVEL_NAME "avx512"
#define LEVEL_ISA GRAM_ISA_AVX512
#include "base/vecmath/vecmath_body.h"

#endif
