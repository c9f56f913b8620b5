/* The tables, one for each file that includes vecmath_body.h. */
#ifndef GRAM_BASE_VECMATH_VECMATH_LEVELS_H
#define GRAM_BASE_VECMATH_VECMATH_LEVELS_H

#include "base/vecmath/vecmath.h"

extern const gram_vecmath gram_vecmath_plain;
#if defined(__x86_64__)
extern const gram_vecmath gram_vecmath_avx2;
extern const gram_vecmath gram_vecmath_avx512;
#endif

#endif
