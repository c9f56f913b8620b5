/* Weights of rows within their bags. */
#ifndef GRAM_DATA_GROUP_BAG_WEIGHTS_H
#define GRAM_DATA_GROUP_BAG_WEIGHTS_H

#include "data/group/row_groups.h"
#include "data/table.h"

/* The numbers of column `weights` in the order of the groups, which are of the rows of the table that `rows` lists (NULL: of all), each at least 0 and finite. A bag, named by
 * column `bag`, whose weights are all 0 or too large to be added is GRAM_ERROR_DATA. */
gram_status gram_bag_weights_read(gram_context *context, const gram_table *table, int64_t bag, int64_t weights,
                                  const int64_t *rows, const gram_row_groups *groups, double *out);

#endif
