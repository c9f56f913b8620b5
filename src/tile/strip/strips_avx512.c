/* The innermost loops for x86-64 processors with AVX-512 (F, DQ, BW, VL): see strips_body.h. */
#include "tile/strip/strips_levels.h"

#if defined(__x86_64__)

#if !defined(__AVX512F__) || !defined(__AVX512DQ__) || !defined(__FMA__)
#error "compile this file with -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -ffp-contract=fast"
#endif

#define LEVEL_TABLE gram_strips_avx512
#include "tile/strip/strips_body.h"

#endif
