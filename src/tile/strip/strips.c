#include "tile/strip/strips_levels.h"

const gram_strips *gram_strips_choose(gram_isa isa)
{
#if defined(__x86_64__)
    if (isa == GRAM_ISA_AVX512) return &gram_strips_avx512;
    if (isa == GRAM_ISA_AVX2) return &gram_strips_avx2;
#endif
    (void)isa;
    return &gram_strips_plain;
}
