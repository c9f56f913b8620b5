#include "solve/smo/smo_block.h"

#include <math.h>

/* An entry: its segment, its place there, and its place in the arrays; -1 in all for the partner of a variable that moves alone. */
typedef struct entry {
    int segment;
    int64_t row;
    int64_t at;
} entry;

static const entry NOBODY = {-1, -1, -1};

double gram_smo_least_curvature(double largest_diagonal)
{
    return largest_diagonal > 0 ? 1e-12 * largest_diagonal : 1e-12;
}

#define REAL double
#define NAME(name) name##_f64
#include "solve/smo/smo_block_body.h"
#undef REAL
#undef NAME

#define REAL float
#define NAME(name) name##_f32
#include "solve/smo/smo_block_body.h"
