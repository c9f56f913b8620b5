/* Logarithms of features with heavy tails, as a part of the preparation. */
#ifndef GRAM_LEARN_TRANSFORM_FEATURE_TRANSFORM_H
#define GRAM_LEARN_TRANSFORM_FEATURE_TRANSFORM_H

#include "method/method.h"

/* For learning that is ready. Decides by the option `transform`, changes preparation and rows if logarithms are taken, and leaves words
 * for the model in learning->transform_words. */
gram_status gram_transform_choose(gram_learning *learning);
/* Keeps the words in the model; and the row of its report. */
gram_status gram_transform_keep(gram_learning *learning);
void gram_transform_report(gram_report *report);

#endif
