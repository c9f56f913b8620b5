/* What a description holds beside its rows. */
#ifndef GRAM_LEARN_DESCRIBE_DESCRIPTION_PARTS_H
#define GRAM_LEARN_DESCRIBE_DESCRIPTION_PARTS_H

#include <gram/describe.h>
#include <gram/score.h>

#include "base/arena.h"

/* The weights that the model keeps, in the features' own units, with names; from the arena. *count is 0 if it has none. */
gram_status gram_weights_find(gram_context *context, gram_arena *arena, const gram_model *model, gram_weight **weights,
                              int64_t *count);

/* Those that the score was made for. */
const gram_columns *gram_score_columns(const gram_score *score);

#endif
