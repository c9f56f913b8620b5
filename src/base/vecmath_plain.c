/* Block vector math for any processor: see vecmath_body.h. The functions that are not gram's own are libm's. */
#include <math.h>

#include "simd.h"
#include "vecmath_levels.h"

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

GRAM_INLINE vector_f64 libm_pow(vector_f64 x, vector_f64 y)
{
    for (int i = 0; i < LANES_F64; i++) x[i] = pow(x[i], y[i]);
    return x;
}

#define LEVEL_TABLE gram_vecmath_plain
#define LEVEL_NAME "plain"
#define LEVEL_ISA GRAM_ISA_PLAIN
#include "vecmath_body.h"
