/* The innermost loops for any processor: see strips_body.h. */
#include "tile/strip/strips_levels.h"

#define LEVEL_TABLE gram_strips_plain
#include "tile/strip/strips_body.h"
