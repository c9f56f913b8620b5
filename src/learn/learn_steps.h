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

/* A file as a table that can be prepared, `sparse`: sparse rows may stay so; and a table as prepared data (learn.c). */
gram_status gram_learning_read_table(gram_learning *learning, const char *path, gram_format format, int sparse,
                                     gram_table **table);
gram_status gram_learning_prepare(gram_learning *learning, const gram_table *table);
/* What was found in the data of learning that is ready (learn_task.c). */
void gram_lesson_of(const gram_learning *ready, gram_lesson *lesson);

/* From prepared data to what the method begins with: points, task, classes, the row, the kernel (learn.c). */
gram_status gram_learning_ready(gram_learning *learning);
/* After a failure of the work, or of reading: says what to do about it, unless that was said already (learn.c). */
gram_status gram_learning_advise(gram_learning *learning, gram_status failed);
gram_status gram_learning_unread(gram_learning *learning, gram_status status);
/* Hands out the model, or gives back everything (learn.c). */
gram_status gram_learner_finish(gram_learner *learner, gram_status status, gram_model **model);

/* Learning from a file in passes (stream/learn_stream.c). As far as what: the features alone, their sums, all of it. */
typedef enum gram_stream_goal { GRAM_STREAM_PLAN, GRAM_STREAM_SUMS, GRAM_STREAM_ALL } gram_stream_goal;
/* Was it asked for? -1: nothing was said. May it be done instead of reading the whole file? */
int gram_learning_wants_stream(const gram_learning *learning);
int gram_learning_may_stream(const gram_learning *learning, const char *path);
gram_status gram_learning_stream(gram_learning *learning, const char *path, gram_format format, gram_stream_goal goal);

/* Reads the model that the option `initial` names, if the method has it (learn_initial.c). */
gram_status gram_learning_read_initial(gram_learning *learning);

/* Is it known already, or do the data decide? (learn_task.c) */
int gram_learning_has_method(const gram_learning *learning);
/* Finds the row for task and options, and reads its settings (learn_task.c). */
gram_status gram_learning_choose_method(gram_learning *learning);

/* Puts columns (with commas between) on the list of those to ignore. */
gram_status gram_learning_ignore(gram_learning *learning, const char *columns);

/* The columns of kinds: ignored as features, and after the preparation the rows become functionals (learn_kinds.c). */
gram_status gram_learning_read_kinds(gram_learning *learning, const gram_table *table);
gram_status gram_learning_set_kinds(gram_learning *learning, const gram_table *table);

/* The column of groups: read from the table before it is prepared, and set for the prepared rows (learn_groups.c). */
gram_status gram_learning_read_groups(gram_learning *learning, const gram_table *table);
gram_status gram_learning_set_groups(gram_learning *learning);

/* Features, targets and weights, and the numbers of the kernel as it was written: of a size that a fit takes
 * (number_range.c). */
gram_status gram_learning_check_numbers(gram_learning *learning);
gram_status gram_learning_check_kernel_numbers(gram_learning *learning);

/* How columns are prepared, as the options say; `second`: those of the second of two views (learn.c). */
void gram_learning_preparation_options(gram_learning *learning, const char *features, const char *label, int second,
                                       gram_preparation_options *options);
/* A preparation as the options say (learn.c); `features` and `label`, a target, take the place of what they say unless NULL. */
gram_status gram_learning_preparation(gram_learning *learning, const gram_table *table, const char *features,
                                      const char *label, gram_preparation **preparation);
/* text NULL: the kernel that was given as it is, or the method's own. */
gram_status gram_learning_parse_kernel(gram_learning *learning, const char *text, gram_kernel **kernel);

/* Paired views (learn_views.c): has the method two of them? Their preparations and rows, from one table (second NULL) or two;
 * their kernels; what is the second's goes. */
int gram_learning_has_views(const gram_learning *learning);
gram_status gram_learning_prepare_views(gram_learning *learning, const gram_table *first, const gram_table *second);
gram_status gram_learning_view_kernels(gram_learning *learning);
void gram_learning_forget_second(gram_learning *learning);
/* For predictions from both: one preparation of the columns of both, and the prepared rows of both side by side, which the
 * caller gives back. */
gram_status gram_preparation_join(gram_context *context, const gram_preparation *first, const gram_preparation *second,
                                  gram_preparation **joint);
gram_status gram_learning_joint_rows(gram_context *context, const gram_learning *learning, double **x);

/* Arrays as a table with the columns x1, x2, ... (for `letter` "x"), y or y1, y2, ..., weights; and the list of its targets; the
 * arrays of the second view, as those of a first (arrays.c). `lend`: the table has x itself, which must not be text. */
gram_status gram_arrays_to_table(gram_context *context, const gram_arrays *arrays, const char *letter, int lend,
                                 gram_table **table);
int gram_arrays_has_text(const gram_arrays *arrays);
gram_arrays gram_arrays_second(const gram_arrays *arrays);
enum { GRAM_ARRAYS_TARGET_SIZE = 32 };
const char *gram_arrays_target(const gram_arrays *arrays, char text[GRAM_ARRAYS_TARGET_SIZE]);

/* Fails for a predictor of both views if no table can have the columns of both (predictor.c). */
gram_status gram_predictor_check_views(gram_context *context, const gram_predictor *predictor);

#endif
