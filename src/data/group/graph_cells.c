/* Columns of graphs are checked where their lines are known. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/table.h"
#include "points/graph_text.h"

/* The first row that has the level. */
static int64_t first_row(const gram_table *table, int64_t column, int64_t level)
{
    int64_t row = 0;
    while (row + 1 < table->n && gram_table_at(table, row, column) != (double)level) row++;
    return row;
}

gram_status gram_table_check_graphs(gram_context *context, const gram_table *table)
{
    char message[GRAM_MESSAGE_SIZE], where[GRAM_WHERE_SIZE];
    for (int64_t c = 0; c < table->d; c++) {
        const int64_t count = table->marks[c] & GRAM_COLUMN_HAS_GRAPHS ? gram_levels_count(table->levels[c]) : 0;
        for (int64_t k = 0; k < count; k++) {
            const gram_levels *levels = table->levels[c];
            const gram_status status =
                gram_graph_check(context, gram_levels_text(levels, k), (int64_t)gram_levels_length(levels, k));
            if (status != GRAM_ERROR_DATA && status < 0) return status;
            if (status >= 0) continue;
            (void)snprintf(message, sizeof message, "%s", gram_context_message(context));
            (void)gram_fail(context, status, "%s column '%s': %s",
                            gram_table_where(table, first_row(table, c, k), where), table->names[c], message);
            return gram_advise(context, status,
                               "A graph is a list of edges and labels of nodes: 'a-b b-c; a:C b:O c:C'.");
        }
    }
    return GRAM_OK;
}
