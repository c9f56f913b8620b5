/* Block vector math for any processor: see vecmath_body.h. The functions that are not gram's own are libm's. */
#include "base/vecmath/vecmath_levels.h"
#include "base/vecmath/vecmath_libm.h"

#define LEVEL_TABLE gram_vecmath_plain
#define LEVEL_NAME "plain"
#define LEVEL_ISA GRAM_ISA_PLAIN
#include "base/vecmath/vecmath_body.h"
