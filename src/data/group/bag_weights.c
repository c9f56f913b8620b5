#include "data/group/bag_weights.h"

#include <math.h>

#include <gram/text.h>

static gram_status no_weight(gram_context *context, const gram_table *table, int64_t bag, int64_t weights, int64_t row,
                             double sum)
{
    char where[GRAM_WHERE_SIZE], number[GRAM_NUMBER_SIZE];
    const double key = gram_table_at(table, row, bag);
    const char *name =
        table->levels[bag] ? gram_table_level(table, bag, (int64_t)key) : gram_number_format(key, number);
    return gram_fail(context, GRAM_ERROR_DATA, "%s column '%s': the weights in bag '%.60s', which begins here, %s",
                     gram_table_where(table, row, where), table->names[weights], name,
                     sum == 0 ? "are all 0" : "are too large to be added");
}

gram_status gram_bag_weights_read(gram_context *context, const gram_table *table, int64_t bag, int64_t weights,
                                  const int64_t *rows, const gram_row_groups *groups, double *out)
{
    for (int64_t g = 0; g < groups->count; g++) {
        const int64_t first = groups->order[groups->start[g]];
        double sum = 0;
        for (int64_t k = groups->start[g]; k < groups->start[g + 1]; k++) {
            const int64_t i = groups->order[k];
            out[k] = gram_table_at(table, rows ? rows[i] : i, weights);
            sum += out[k];
        }
        if (!isfinite(sum) || sum == 0) return no_weight(context, table, bag, weights, rows ? rows[first] : first, sum);
    }
    return GRAM_OK;
}
