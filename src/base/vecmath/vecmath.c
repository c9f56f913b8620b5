#include "base/vecmath/vecmath.h"

#include "base/vecmath/vecmath_levels.h"

static const gram_vecmath *avx2_table(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &gram_vecmath_avx2;
#endif
    return NULL;
}

const gram_vecmath *gram_vecmath_choose(gram_isa isa)
{
    const gram_vecmath *avx2 = avx2_table();
    switch (isa) {
    case GRAM_ISA_AUTO: return avx2 ? avx2 : &gram_vecmath_plain;
    case GRAM_ISA_PLAIN: return &gram_vecmath_plain;
    case GRAM_ISA_AVX2: return avx2;
    }
    return NULL;
}
