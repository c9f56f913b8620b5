/* The state of a solve in a file, from inside. All ranks call these alike; the first has the file. */
#ifndef GRAM_SOLVE_CHECKPOINT_SOLVE_CHECKPOINT_H
#define GRAM_SOLVE_CHECKPOINT_SOLVE_CHECKPOINT_H

#include <gram/checkpoint.h>

#include "base/context.h"

enum { GRAM_CHECKPOINT_KEYS = 4 };

/* What tells a solve from others: sizes, which must be equal, and numbers of its data, which may differ by rounding (ranks sum in other orders). */
typedef struct gram_checkpoint_key {
    int64_t n, columns;
    double numbers[GRAM_CHECKPOINT_KEYS];
} gram_checkpoint_key;

/* Is there a file to keep it in? */
int gram_checkpoint_wanted(const gram_context *context);

/* 1 in *found if the file has this solve: then its `count` numbers are in `state`, and `steps` of them were done. Counts the solve. */
gram_status gram_checkpoint_find(gram_context *context, const gram_checkpoint_key *key, int64_t count, double *state,
                                 int *found);
void gram_checkpoint_went_on(gram_context *context, int64_t steps);

/* Is it time? The first rank's clock says so. */
gram_status gram_checkpoint_due(gram_context *context, int *due);
gram_status gram_checkpoint_keep(gram_context *context, const gram_checkpoint_key *key, int64_t count,
                                 const double *state);

#endif
