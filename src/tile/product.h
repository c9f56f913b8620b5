/* K V without K, on an engine that is already made. */
#ifndef GRAM_TILE_PRODUCT_H
#define GRAM_TILE_PRODUCT_H

#include "tile/engine.h"

/* out = K V for the engine's K. Takes memory for one padded copy of V and of out. */
gram_status gram_engine_product(gram_context *context, const gram_engine *engine, int64_t columns, const double *v,
                                int64_t ldv, double *out, int64_t ldo);

#endif
