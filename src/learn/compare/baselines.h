/* What any method should beat: predictions of left-out rows by rules that need no kernel (gram_left_out_rule). */
#ifndef GRAM_LEARN_COMPARE_BASELINES_H
#define GRAM_LEARN_COMPARE_BASELINES_H

#include "learn/estimate/left_out.h"

/* The mean of the targets; the most frequent class, with the shares of the classes as probabilities. */
gram_status gram_baseline_mean(gram_left_out *out, int64_t train_count, const int64_t *train, int64_t held_count,
                               const int64_t *held);
/* The mean of the nearest neighbours by the prepared features, or their most frequent class; how many is decided by leave-one-out. */
gram_status gram_baseline_nearest(gram_left_out *out, int64_t train_count, const int64_t *train, int64_t held_count,
                                  const int64_t *held);

#endif
