/* Fits to some of the rows: the method's row is run as it is on a part of what a learner has, with the same options. Cells, folds and
 * held-out rows are made of this, for every method. */
#ifndef GRAM_LEARN_ESTIMATE_LEARNING_PART_H
#define GRAM_LEARN_ESTIMATE_LEARNING_PART_H

#include "method/method.h"

/* How parts are prepared: as the whole, but with classes that are numbers, 0, 1, ... in the whole. NULL for other tasks. The caller
 * releases it. */
gram_status gram_part_preparation(const gram_learning *whole, gram_preparation **preparation);

/* The rows of a part as the learner would have them; classes are those that the rows have, and their values are the numbers that they
 * have in the whole. gram_part_forget in any case. */
gram_status gram_part_make(const gram_learning *whole, gram_preparation *preparation, int64_t count,
                           const int64_t *rows, gram_learning *part);
/* Plans, fits and keeps: part->model. */
gram_status gram_part_fit(gram_learning *part);
void gram_part_forget(gram_learning *part);

/* The numbers that a fit has found, for fits to other rows: the kernel with all of them, and the strength, as what stands against one
 * row. */
typedef struct gram_found_numbers {
    gram_kernel *kernel;       /* retained; NULL: none are given */
    double strength;           /* the option's number, times n where it is over rows */
    const gram_option *option; /* that takes it; NULL: it was given, or there is none */
} gram_found_numbers;

/* From a fit with a model. Returns whether they are all of its free numbers: not if the method has a strength that does not say what
 * it is against one row. */
int gram_part_found(const gram_learning *from, gram_found_numbers *found);
/* A part that is to use them: nothing is tuned then. */
gram_status gram_part_use(const gram_found_numbers *found, gram_learning *part);

#endif
