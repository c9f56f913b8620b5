/* Dense matrices in block-cyclic tiles by ScaLAPACK: gram_collective's factor, triangle and invert. */
#ifndef GRAM_CLUSTER_SCALAPACK_DENSE_H
#define GRAM_CLUSTER_SCALAPACK_DENSE_H

#include <gram/collective.h>

/* The grid, row by row. Once. */
void cluster_dense_begin(int rows, int columns);

gram_status cluster_factor(void *user, int single, int64_t n, int64_t block, void *part, int64_t ld, int64_t *bad);
gram_status cluster_triangle(void *user, int single, int inverse, int transposed, int64_t n, int64_t block,
                             const void *part, int64_t ld, int64_t columns, void *b, int64_t ldb);
gram_status cluster_invert(void *user, int64_t n, int64_t block, double *part, int64_t ld);

#endif
