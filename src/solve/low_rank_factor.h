/* Low-rank factors of a Gram matrix. */
#ifndef GRAM_SOLVE_LOW_RANK_FACTOR_H
#define GRAM_SOLVE_LOW_RANK_FACTOR_H

#include <gram/matrix.h>

#include "base/context.h"

typedef struct gram_factor {
    int64_t n, rank, room; /* rank 0: none was found within `room` columns */
    double *a;             /* n x room, row-major; columns beyond the rank mean nothing */
} gram_factor;

/* K = A A' up to a remainder of trace `tolerance` trace(K), by Cholesky with the largest remaining diagonal as pivot, if `room`
 * columns are enough; otherwise rank 0. O(n room (d + room)). */
gram_status gram_factor_create(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                               int64_t room, double tolerance, gram_factor *factor);
/* Takes zeroed ones. */
void gram_factor_destroy(gram_context *context, gram_factor *factor);

/* Each column less its mean: A A' becomes H A A' H. */
void gram_factor_centre(gram_factor *factor);

#endif
