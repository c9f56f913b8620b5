/* The innermost loops for x86-64 processors with AVX2 and FMA: see strips_body.h. */
#include "tile/strip/strips_levels.h"

#if defined(__x86_64__)

#if !defined(__AVX2__) || !defined(__FMA__)
#error "compile this file with -mavx2 -mfma -ffp-contract=fast"
#endif

#define LEVEL_TABLE gram_strips_avx2
#include "tile/strip/strips_body.h"

#endif
