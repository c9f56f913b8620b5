/* The loops of the SMO solver for x86-64 processors with AVX2 and FMA: see smo_loops_body.h. */
#include "solve/smo/smo_loops.h"

#if defined(__x86_64__)

#if !defined(__AVX2__) || !defined(__FMA__)
#error "compile this file with -mavx2 -mfma -ffp-contract=fast"
#endif

#define LEVEL_TABLE gram_smo_loops_avx2
#include "solve/smo/smo_loops_body.h"

#endif
