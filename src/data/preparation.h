/* The preparation from inside. */
#ifndef GRAM_DATA_PREPARATION_H
#define GRAM_DATA_PREPARATION_H

#include <stdatomic.h>

#include <gram/preparation.h>

#include "base/arena.h"
#include "data/table.h"

struct gram_preparation {
    gram_memory *memory;
    atomic_int references;
    gram_arena arena; /* holds all that follows */
    gram_preparation_description description;
    int64_t dimension;
    int64_t *first;      /* prepared column at which each feature starts, and their number */
    gram_wanted *wanted; /* all columns, for reading */
    int64_t wanted_count;
};

/* The columns of a table by their roles. */
typedef struct gram_roles {
    int64_t feature_count, target_count;
    int64_t *features, *targets;
    int64_t weights; /* -1: none */
} gram_roles;

/* Which rows of a table can be used. */
typedef struct gram_row_choice {
    int64_t count;
    int64_t *rows; /* NULL: all; taken from the memory of the context that chose them, room for all rows of the table */
} gram_row_choice;

/* Leaves out the rows that miss a value, or fails, as `missing` says. With `training`, targets and weights must have
 * values too. */
gram_status gram_rows_choose(gram_context *context, const gram_table *table, const gram_roles *roles,
                             gram_missing missing, int training, gram_row_choice *choice);

/* Of two tables of as many rows: leaves the rows that both have kept, so that row i of one belongs to row i of the other. */
gram_status gram_prepared_pair(gram_context *context, gram_prepared *a, gram_prepared *b);

/* A value that is neither missing nor finite? */
gram_status gram_table_bad_value(gram_context *context, const gram_table *table, int64_t row, int64_t column);

#endif
