/* The learner from inside. */
#ifndef GRAM_LEARN_LEARNER_H
#define GRAM_LEARN_LEARNER_H

#include "method/method.h"

enum { GRAM_MOST_GIVEN = 128 };

struct gram_learner {
    gram_memory *memory;
    char *who, *dashes;
    int64_t count;
    gram_setting given[GRAM_MOST_GIVEN]; /* texts are the learner's */
    gram_plan_fn tell;
    void *tell_user;
    int to_file;              /* the model is written, so its columns must fit */
    const gram_model *before; /* borrowed */
    char *before_name;
    gram_kernel *kernel; /* that was given as it is; NULL: by its text */
    int has_learnt;
    gram_learning learning; /* of the last call */
    gram_lesson lesson;
    double *
        left_out; /* of classes: what fits without a row said of it, as its predictor does; NaN where no fit left it out; NULL: not known */
    int64_t left_out_ld;
};

/* The options that every method has. */
typedef enum gram_common_option {
    GRAM_COMMON_METHOD,
    GRAM_COMMON_TASK,
    GRAM_COMMON_KERNEL,
    GRAM_COMMON_TARGET,
    GRAM_COMMON_FEATURES,
    GRAM_COMMON_IGNORE,
    GRAM_COMMON_WEIGHTS,
    GRAM_COMMON_MISSING,
    GRAM_COMMON_NA,
    GRAM_COMMON_CATEGORIES,
    GRAM_COMMON_TEXT,
    GRAM_COMMON_GRAM,
    GRAM_COMMON_BAG,
    GRAM_COMMON_BAG_WEIGHTS,
    GRAM_COMMON_GRAPH,
    GRAM_COMMON_SCALE,
    GRAM_COMMON_GROUPS,
    GRAM_COMMON_ORDERED,
    GRAM_COMMON_KIND,
    GRAM_COMMON_COEFFICIENT,
    GRAM_COMMON_OPERATOR,
    GRAM_COMMON_STREAM,
    GRAM_COMMON_CELLS,
    GRAM_COMMON_CELL_TUNING,
    GRAM_COMMON_ESTIMATE,
    GRAM_COMMON_TRANSFORM,
    GRAM_COMMON_COUNT
} gram_common_option;

extern const gram_option gram_common_options[GRAM_COMMON_COUNT];
/* The words of `estimate` (estimate/error_estimate.c). */
extern const gram_choice gram_estimate_choices[];
/* The words of `transform` (transform/feature_transform.c). */
extern const gram_choice gram_transform_choices[];

/* What was given for one of them, NULL if nothing was. */
const char *gram_learning_common(const gram_learning *learning, gram_common_option option);

/* Decides the task and the method, finds classes and weights. For learning whose data are prepared. */
gram_status gram_learning_decide_task(gram_learning *learning);

/* The settings of the method from what is given: refuses what it does not take. */
gram_status gram_learning_read_settings(gram_learning *learning);

/* Options that the method takes for other tasks only. */
gram_status gram_learning_check_task(gram_learning *learning);

/* One number for each class, NULL if none are given. */
gram_status gram_learning_weigh_classes(gram_learning *learning);

/* Gives back what the last call took. */
void gram_learner_forget(gram_learner *learner);

#endif
