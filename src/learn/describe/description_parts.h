/* What a description holds beside its rows. */
#ifndef GRAM_LEARN_DESCRIBE_DESCRIPTION_PARTS_H
#define GRAM_LEARN_DESCRIBE_DESCRIPTION_PARTS_H

#include <gram/describe.h>
#include <gram/score.h>

#include "base/arena.h"
#include "method/method_report.h"

struct gram_description {
    gram_memory *memory;
    gram_arena arena;
    gram_classes classes;
    gram_report report;
    int64_t weight_count;
    gram_weight *weights;
    int64_t relevance_count;
    gram_relevance *relevance;
    int64_t importance_count;
    /* of a model of a given matrix: rows of the training data, and which of them it needs the kernel of new rows with, from 0 */
    int64_t given_rows, needed_count;
    const int64_t *needed;
    gram_importance *importance;
};

/* One without rows; model and file may be NULL. The caller destroys it. */
gram_status gram_description_begin(gram_context *context, const gram_model *model, const char *file,
                                   gram_description **description);
/* After the last row: the first failure of those that were added. */
gram_status gram_description_end(gram_description *description);

/* The weights that the model keeps, in the features' own units, with names; from the arena. *count is 0 if it has none. */
gram_status gram_weights_find(gram_context *context, gram_arena *arena, const gram_model *model, gram_weight **weights,
                              int64_t *count);

/* Minus the log density at z of a distribution with scale 1: normal for a freedom of 0, or Student's t (scores.c). */
double gram_minus_log_density(double freedom, double z);

/* Those that the score was made for. */
const gram_columns *gram_score_columns(const gram_score *score);

#endif
