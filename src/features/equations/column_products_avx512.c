/* For x86-64 processors with AVX-512: see product_block.h. */
#include "features/equations/column_products.h"

#if defined(__x86_64__)

#include <string.h>

#include "base/vecmath/simd.h"

enum { DEEP = GRAM_COLUMN_PRODUCTS_DEEP, TALL = 8 };

#define FLOAT double
#define VECTOR vector_f64
#define LANES LANES_F64
#define NAME(x) x##_f64
#include "features/equations/product_block.h"
#undef FLOAT
#undef VECTOR
#undef LANES
#undef NAME

#define FLOAT float
#define VECTOR vector_f32
#define LANES LANES_F32
#define NAME(x) x##_f32
#include "features/equations/product_block.h"

#endif
