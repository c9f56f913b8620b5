/* Tables with a column that is known by a given matrix: its numbers are the matrix's rows, its name is "gram". */
#ifndef GRAM_DATA_GIVEN_GIVEN_TABLE_H
#define GRAM_DATA_GIVEN_GIVEN_TABLE_H

#include "data/table.h"

/* Does the table need a matrix, from a file of its own or in LIBSVM's precomputed format? */
int gram_table_wants_given(const gram_table_options *options);

/* The table of `path` (NULL: one of no other columns) with the matrix of options->gram, if that is not NULL, as its first column. */
gram_status gram_given_table_read(gram_context *context, const char *path, const gram_table_options *options,
                                  gram_table **table);

/* Two tables get a column of one matrix, whose rows are those of the first and then those of the second. */
gram_status gram_given_table_pair(gram_context *context, const char *gram, gram_table **first, gram_table **second);

/* LIBSVM's precomputed format as it was read, width columns of the matrix, the serial numbers and the label, becomes a table of the matrix and the label. */
gram_status gram_given_fold(gram_context *context, gram_table *table, int64_t width, const gram_table_options *options);

#endif
