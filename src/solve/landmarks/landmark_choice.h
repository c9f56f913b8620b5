/* Choosing landmarks, and the factor of their matrix. */
#ifndef GRAM_SOLVE_LANDMARKS_LANDMARK_CHOICE_H
#define GRAM_SOLVE_LANDMARKS_LANDMARK_CHOICE_H

#include <gram/kernel.h>
#include <gram/landmarks.h>

#include "base/context.h"

typedef struct gram_landmark_request {
    gram_landmark_rule rule;
    int64_t most;             /* landmarks at most; 1 to the number of points, whatever is given */
    double ridge;             /* of leverage, over the rows: lambda; 0: 1e-3 of the mean diagonal */
    const gram_points *given; /* of GRAM_LANDMARKS_GIVEN: all of them */
} gram_landmark_request;

typedef struct gram_landmark_set {
    int64_t count;  /* fewer than asked for where the others would add rounding errors only */
    double *points; /* count x d */
    double *factor; /* count x count, row-major: L L' = K(P, P), 0 above the diagonal */
} gram_landmark_set;

/* O(rows count^2), rows as <gram/landmarks.h> says. GRAM_ERROR_DATA: K is 0 to rounding. Free it after a failure, too. The same bits for
 * any number of threads. */
gram_status gram_landmark_set_make(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                   const gram_landmark_request *request, gram_landmark_set *set);
/* Takes zeroed ones. */
void gram_landmark_set_free(gram_context *context, gram_landmark_set *set);

/* Bytes that this takes at most while it is made, the set with it. */
double gram_landmark_set_bytes(int64_t n, int64_t d, int64_t most);

#endif
