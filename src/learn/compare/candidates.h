/* What is compared: what the rows of the methods name, and rules that need no method. */
#ifndef GRAM_LEARN_COMPARE_CANDIDATES_H
#define GRAM_LEARN_COMPARE_CANDIDATES_H

#include "learn/learner.h"
#include "learn/estimate/left_out.h"

typedef struct gram_candidate {
    const char *word;      /* what `methods` calls it; several rows may have one */
    const char *method;    /* of the learner; of rules what reports call it */
    const char *kernel;    /* of the learner; NULL: none is given */
    const char *title;     /* for people, without the kernel; NULL: the method's name */
    int cost;              /* as gram_comparable has it */
    int baseline;          /* one of the word "baselines" */
    int ard;               /* one length-scale per feature is tried too */
    gram_left_out_rule rule; /* in the place of a fit; NULL: the method fits */
} gram_candidate;

enum { GRAM_MOST_CANDIDATES = 64, GRAM_CANDIDATE_TEXT = 128 };

/* Those of a task that `methods` names (NULL: all), the cheap ones first, and with `kernel` (NULL: none) one more for each method of kernels. Returns how many
 * there are; `who` and `dashes` are the learner's, for a word that is none. */
gram_status gram_candidates_list(gram_context *context, const gram_learner *learner, gram_task task,
                                 const char *methods, const char *kernel, gram_candidate *list, int64_t *count);

#endif
