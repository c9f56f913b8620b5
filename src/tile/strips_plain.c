/* The innermost loops for any processor: see strips_body.h. */
#include "strips_levels.h"

#define LEVEL_TABLE gram_strips_plain
#include "strips_body.h"
