/* Steps of learning that have a file of their own. */
#ifndef GRAM_LEARN_LEARN_STEPS_H
#define GRAM_LEARN_LEARN_STEPS_H

#include "method/method.h"

/* The task that the options say or imply, GRAM_TASK_AUTO if they do not (learn_task.c). */
gram_task gram_learning_known_task(const gram_learning *learning);
/* Before the data are read: what the options alone decide (learn.c). */
gram_status gram_learning_begin(gram_context *context, gram_learner *learner, const char *name);
/* Reads the kernel, and decides how its free numbers are chosen; d is known (learn.c). */
gram_status gram_learning_choose_kernel(gram_learning *learning);

/* Is it known already, or do the data decide? (learn_task.c) */
int gram_learning_has_method(const gram_learning *learning);
/* Finds the row for task and options, and reads its settings (learn_task.c). */
gram_status gram_learning_choose_method(gram_learning *learning);

/* The column of groups: read from the table before it is prepared, and set for the prepared rows (learn_groups.c). */
gram_status gram_learning_read_groups(gram_learning *learning, const gram_table *table);
gram_status gram_learning_set_groups(gram_learning *learning);

/* Features, targets and weights, and the numbers of the kernel as it was written: of a size that a fit takes
 * (number_range.c). */
gram_status gram_learning_check_numbers(gram_learning *learning);
gram_status gram_learning_check_kernel_numbers(gram_learning *learning);

/* Arrays as a table with the columns x1, x2, ..., y or y1, y2, ..., weights; and the list of its targets (arrays.c). */
gram_status gram_arrays_to_table(gram_context *context, const gram_arrays *arrays, gram_table **table);
enum { GRAM_ARRAYS_TARGET_SIZE = 32 };
const char *gram_arrays_target(const gram_arrays *arrays, char text[GRAM_ARRAYS_TARGET_SIZE]);

#endif
