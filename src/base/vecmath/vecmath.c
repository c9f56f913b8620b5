#include "base/vecmath/vecmath.h"

#include "base/vecmath/vecmath_levels.h"

static const gram_vecmath *avx2_table(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &gram_vecmath_avx2;
#endif
    return NULL;
}

/* Processors that have AVX-512 but not VBMI2 run it at a much lower clock: AVX2 is as fast on them. */
static const gram_vecmath *avx512_table(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2"))
        return &gram_vecmath_avx512;
#endif
    return NULL;
}

const gram_vecmath *gram_vecmath_choose(gram_isa isa)
{
    const gram_vecmath *avx2 = avx2_table(), *avx512 = avx512_table();
    switch (isa) {
    case GRAM_ISA_AUTO: return avx512 ? avx512 : avx2 ? avx2 : &gram_vecmath_plain;
    case GRAM_ISA_PLAIN: return &gram_vecmath_plain;
    case GRAM_ISA_AVX2: return avx2;
    case GRAM_ISA_AVX512: return avx512;
    }
    return NULL;
}
