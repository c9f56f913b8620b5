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
    int64_t dimension;   /* of the points */
    int64_t width;       /* prepared columns of a row; of bags, those of their rows */
    int64_t *first;      /* prepared column at which each feature starts, and their number */
    gram_wanted *wanted; /* all columns, for reading */
    int64_t wanted_count;
    int has_things; /* columns that hold no numbers */
};

/* The columns of a table by their roles. */
typedef struct gram_roles {
    int64_t feature_count, target_count;
    int64_t *features, *targets;
    int64_t weights;     /* -1: none */
    int64_t bag;         /* -1: none */
    int64_t bag_weights; /* -1: none */
} gram_roles;

/* Which rows of a table can be used. */
typedef struct gram_row_choice {
    int64_t count;
    int64_t *rows; /* NULL: all; taken from the memory of the context that chose them, room for all rows of the table */
} gram_row_choice;

/* Leaves out the rows that miss a value, or fails, as `missing` says. With `training`, targets and weights must have
 * values too. None may be left; gram_rows_none is that failure. */
gram_status gram_rows_choose(gram_context *context, const gram_table *table, const gram_roles *roles,
                             gram_missing missing, int training, gram_row_choice *choice);

gram_status gram_rows_none(gram_context *context, const gram_table *table);

/* The roles that the options give to the columns, in the arena; and text that cannot serve them. */
gram_status gram_roles_find(gram_context *context, gram_arena *arena, const gram_table *table,
                            const gram_preparation_options *options, gram_roles *roles);
/* The caller's options over the defaults, checked. */
gram_status gram_preparation_options_read(gram_context *context, const gram_preparation_options *given,
                                          gram_preparation_options *options);

/* What two prepared columns differ by, or NULL; and do two preparations, which may be NULL, prepare the same columns alike? */
const char *gram_column_difference(const gram_column *a, const gram_column *b);
int gram_preparation_equal(const gram_preparation *a, const gram_preparation *b);

/* A number of a feature as it is prepared, and back. */
double gram_column_prepare(const gram_column *column, double value);
double gram_column_unprepare(const gram_column *column, double value);

/* ---- from blocks of rows (preparation_blocks.c) ---- */

/* Learns a preparation from the blocks of a reader, and keeps a sample of the rows: memory does not grow with their number. Numbers are
 * those of gram_preparation_learn to rounding, and do not depend on how the rows are cut into blocks. */
typedef struct gram_block_learner gram_block_learner;

/* `sample`: rows to keep at most, each set of so many being as likely as any other, by the seed. The caller destroys it (takes NULL). */
gram_status gram_block_learner_create(gram_context *context, const gram_preparation_options *options, int64_t sample,
                                      gram_block_learner **learner);
void gram_block_learner_destroy(gram_block_learner *learner);
/* The next rows. The columns are those of the first block. */
gram_status gram_block_learner_add(gram_context *context, gram_block_learner *learner, const gram_table *table);
/* After the last: what was learnt; rows of weight above 0 that are not dropped; the sample as a table, in the order of the file. The caller has all of
 * it. */
gram_status gram_block_learner_finish(gram_context *context, gram_block_learner *learner,
                                      gram_preparation **preparation, int64_t *rows, gram_table **sample);

/* gram_preparation_apply for a block of a training file: that it has no row left, or weights of 0 only, is no failure. */
gram_status gram_preparation_apply_block(gram_context *context, const gram_preparation *preparation,
                                         const gram_table *table, gram_prepared **prepared);

/* Of two tables of as many rows: leaves the rows that both have kept, so that row i of one belongs to row i of the other. */
gram_status gram_prepared_pair(gram_context *context, gram_prepared *a, gram_prepared *b);

/* ---- columns that hold no numbers (thing_columns.c) ---- */

/* How a column of sparse rows, of one table or of two that are prepared together, is scaled: the deviations of its `width` columns over the rows chosen, 1 for constant ones, in
 * the arena. */
typedef struct gram_sparse_part {
    const gram_table *table;
    int64_t column;
    const gram_row_choice *choice;
} gram_sparse_part;
gram_status gram_sparse_deviations(gram_context *context, gram_arena *arena, int64_t width, int count,
                                   const gram_sparse_part *parts, const double **deviations);

/* The store of a column of the table as the preparation's column has it: scaled rows, or texts. The caller releases it. */
gram_status gram_thing_store(gram_context *context, const gram_table *table, int64_t place, const gram_column *column,
                             gram_objects **store);

/* A value that is neither missing nor finite? */
gram_status gram_table_bad_value(gram_context *context, const gram_table *table, int64_t row, int64_t column);

#endif
