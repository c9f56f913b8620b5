/* A learner that is ready, and its left-out rows: what a cross-validation and each row of a comparison are made of. */
#ifndef GRAM_LEARN_COMPARE_LEFT_OUT_RUN_H
#define GRAM_LEARN_COMPARE_LEFT_OUT_RUN_H

#include <gram/compare.h>

#include "learn/estimate/error_estimate.h"
#include "learn/learner.h"

/* Which rows judge. */
typedef struct gram_division {
    int64_t folds;       /* that rows are dealt to */
    int64_t first, last; /* of them, those that are left out */
    int64_t fit_rows;    /* of a fit, at most; 0: all */
    int64_t *fold;       /* of each prepared row */
} gram_division;

/* In the arena. The learning is ready. GRAM_ERROR_DATA if the rows cannot be divided. */
gram_status gram_division_make(const gram_learning *ready, gram_arena *arena, const gram_division *wanted,
                               gram_division *made);

/* A learner with the options of another; those of `without` (names, the last NULL; or NULL) are left out. The caller destroys it. */
gram_status gram_learner_copy(gram_context *context, const gram_learner *learner, const char *const *without,
                              gram_learner **copy);

/* From a table to a learner that is ready and has not fitted: data, task, classes, kernel. Refuses what cannot be left out. It keeps what it
 * has until it is destroyed. */
gram_status gram_learner_ready(gram_context *context, gram_learner *learner, const gram_table *table, const char *name);
/* After the work, in any case: the context is the caller's. Advises about a failure. */
gram_status gram_learner_rest(gram_learner *learner, gram_status status);

/* Texts of a learner that is ready: the method's name, and its kernel as given, NULL if it has none. In the arena. */
gram_status gram_learner_kernel_text(const gram_learning *ready, gram_arena *arena, const char **kernel);

/* All folds of the division that are to be left out. GRAM_ERROR_BUDGET if something was left out for lack of time. */
gram_status gram_left_out_run(gram_left_out *out, const gram_division *division);

/* What is known of the data and of the division. */
void gram_cv_report_begin(const gram_learning *ready, const gram_left_out *out, const gram_division *division,
                          gram_cv_report *report);

#endif
