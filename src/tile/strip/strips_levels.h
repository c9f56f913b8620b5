/* The tables, one for each file that includes strips_body.h. */
#ifndef GRAM_TILE_STRIP_STRIPS_LEVELS_H
#define GRAM_TILE_STRIP_STRIPS_LEVELS_H

#include "tile/strip/strips.h"

extern const gram_strips gram_strips_plain;
#if defined(__x86_64__)
extern const gram_strips gram_strips_avx2;
extern const gram_strips gram_strips_avx512;
#endif

#endif
