/* Some of the rows that a fit could have, where all of them would take too long. */
#ifndef GRAM_LEARN_ESTIMATE_TRAINING_SAMPLE_H
#define GRAM_LEARN_ESTIMATE_TRAINING_SAMPLE_H

#include "learn/estimate/left_out.h"

/* Leaves about out->most_rows of *count rows: those of each class by their share, at least two of each if it has them; in order as they were.
 * The context's seed and `which` decide. Nothing happens if there are no more. */
gram_status gram_training_sample(const gram_left_out *out, uint64_t which, int64_t *count, int64_t *rows);

#endif
