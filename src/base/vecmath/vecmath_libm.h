/* libm's functions lane by lane, for processors and C libraries without vector ones. */
#ifndef GRAM_BASE_VECMATH_VECMATH_LIBM_H
#define GRAM_BASE_VECMATH_VECMATH_LIBM_H

#include <math.h>

#include "base/vecmath/simd.h"

GRAM_INLINE vector_f64 libm_log(vector_f64 x)
{
    for (int i = 0; i < LANES_F64; i++) x[i] = log(x[i]);
    return x;
}

GRAM_INLINE vector_f64 libm_sin(vector_f64 x)
{
    for (int i = 0; i < LANES_F64; i++) x[i] = sin(x[i]);
    return x;
}

GRAM_INLINE vector_f64 libm_cos(vector_f64 x)
{
    for (int i = 0; i < LANES_F64; i++) x[i] = cos(x[i]);
    return x;
}

GRAM_INLINE vector_f64 libm_atan(vector_f64 x)
{
    for (int i = 0; i < LANES_F64; i++) x[i] = atan(x[i]);
    return x;
}

GRAM_INLINE vector_f64 libm_erf(vector_f64 x)
{
    for (int i = 0; i < LANES_F64; i++) x[i] = erf(x[i]);
    return x;
}

GRAM_INLINE vector_f64 libm_pow(vector_f64 x, vector_f64 y)
{
    for (int i = 0; i < LANES_F64; i++) x[i] = pow(x[i], y[i]);
    return x;
}

#endif
