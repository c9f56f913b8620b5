/* What a model of a given matrix needs of a new one. */
#ifndef GRAM_LEARN_FILES_GIVEN_ROWS_H
#define GRAM_LEARN_FILES_GIVEN_ROWS_H

#include <gram/model.h>

#include "base/arena.h"
#include "data/table.h"

/* The rows of the training data that the model's function is made of, from 0 and ascending, in the arena; *known: rows of the training data. count 0: the model knows no given
 * matrix. */
gram_status gram_given_needed(gram_context *context, gram_arena *arena, const gram_model *model, int64_t *known,
                              int64_t *count, const int64_t **rows);

/* The columns of a matrix that has those rows' only are named. */
gram_status gram_given_match(gram_context *context, const gram_model *model, gram_table *table);

#endif
