/* The loops of the SMO solver for any processor: see smo_loops_body.h. */
#define LEVEL_TABLE gram_smo_loops_plain
#include "solve/smo/smo_loops_body.h"

const gram_smo_loops *gram_smo_loops_choose(gram_isa isa)
{
#if defined(__x86_64__)
    if (isa != GRAM_ISA_PLAIN) return &gram_smo_loops_avx2; /* AVX-512 has no loops of its own */
#else
    (void)isa;
#endif
    return &gram_smo_loops_plain;
}
