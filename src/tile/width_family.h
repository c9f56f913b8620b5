/* Gram matrices of several kernels on the same points in one sweep. What they need of a pair is made once: of kernels that differ
 * in their length-scale only, the distances. */
#ifndef GRAM_TILE_WIDTH_FAMILY_H
#define GRAM_TILE_WIDTH_FAMILY_H

#include "tile/engine.h"

/* out[k] = kernels[k](X, X), n x n, row-major, both triangles, computed in f64; one of f64 and f32 is given, the other NULL. */
typedef struct gram_family {
    int count; /* at least 1 */
    gram_kernel *const *kernels;
    const gram_points *x;
    double *const *f64;
    float *const *f32;
    double share_before, share_after; /* of a longer work, as in gram_sweep */
} gram_family;

gram_status gram_family_fill(gram_context *context, const gram_family *family);

#endif
