/* Which rows of a table can be used: values that are missing, and values that are not numbers. */
#include <float.h>
#include <inttypes.h>
#include <math.h>

#include <gram/text.h>

#include "data/preparation.h"

gram_status gram_table_bad_value(gram_context *context, const gram_table *table, int64_t row, int64_t column)
{
    char where[GRAM_WHERE_SIZE];
    const double x = gram_table_at(table, row, column);
    return gram_fail(context, GRAM_ERROR_DATA, "%s column '%s': %s", gram_table_where(table, row, where),
                     table->names[column],
                     isnan(x) ? "missing value"
                     : x < 0  ? "not a finite number: '-inf'"
                              : "not a finite number: 'inf'");
}

static int is_finite(double x)
{
    return fabs(x) <= DBL_MAX;
}

/* The first of these columns whose value in this row is not finite, -1 if all are. */
static int64_t first_bad(const gram_table *table, int64_t row, int64_t count, const int64_t *columns)
{
    for (int64_t j = 0; j < count; j++)
        if (!is_finite(gram_table_at(table, row, columns[j]))) return columns[j];
    return -1;
}

/* Can the row be used? A failure is reported; `must` says that a missing value is one. */
static gram_status look_at(gram_context *context, const gram_table *table, int64_t i, int64_t count,
                           const int64_t *columns, int must, int *missing)
{
    const int64_t bad = first_bad(table, i, count, columns);
    *missing = bad >= 0;
    if (bad < 0) return GRAM_OK;
    if (must) return gram_table_bad_value(context, table, i, bad);
    for (int64_t j = 0; j < count; j++)
        if (isinf(gram_table_at(table, i, columns[j]))) return gram_table_bad_value(context, table, i, columns[j]);
    return GRAM_OK;
}

static gram_status check_weight(gram_context *context, const gram_table *table, int64_t row, int64_t column)
{
    char where[GRAM_WHERE_SIZE];
    char number[GRAM_NUMBER_SIZE];
    const double weight = gram_table_at(table, row, column);
    if (!(weight < 0)) return GRAM_OK;
    return gram_fail(context, GRAM_ERROR_DATA, "%s column '%s': a weight below 0: %s",
                     gram_table_where(table, row, where), table->names[column], gram_number_format(weight, number));
}

static gram_status judge_row(gram_context *context, const gram_table *table, const gram_roles *roles,
                             gram_missing missing, int training, int64_t i, int *use)
{
    gram_status status = GRAM_OK;
    const int must = missing == GRAM_MISSING_ERROR;
    int in_features, in_targets, in_weights = 0, in_bag = 0;
    TRY(look_at(context, table, i, roles->feature_count, roles->features, must, &in_features));
    TRY(look_at(context, table, i, roles->target_count, roles->targets, must && training, &in_targets));
    if (roles->weights >= 0) {
        TRY(look_at(context, table, i, 1, &roles->weights, must && training, &in_weights));
        TRY(check_weight(context, table, i, roles->weights));
    }
    if (roles->bag_weights >= 0) {
        TRY(look_at(context, table, i, 1, &roles->bag_weights, missing != GRAM_MISSING_DROP, &in_bag));
        TRY(check_weight(context, table, i, roles->bag_weights));
    }
    *use = !in_bag && !(in_features && missing == GRAM_MISSING_DROP) && !(training && (in_targets || in_weights));
done:
    return status;
}

gram_status gram_rows_choose(gram_context *context, const gram_table *table, const gram_roles *roles,
                             gram_missing missing, int training, gram_row_choice *choice)
{
    gram_status status = GRAM_OK;
    *choice = (gram_row_choice){0, NULL};
    for (int64_t i = 0; i < table->n; i++) {
        int use;
        TRY(judge_row(context, table, roles, missing, training, i, &use));
        if (!use && !choice->rows) {
            TRY(gram_take(context, "preparation: rows", table->n, sizeof *choice->rows, (void **)&choice->rows));
            for (int64_t k = 0; k < i; k++) choice->rows[k] = k;
        }
        if (use && choice->rows) choice->rows[choice->count] = i;
        choice->count += use;
    }
done:
    if (status < 0) {
        gram_give(context, choice->rows);
        *choice = (gram_row_choice){0, NULL};
    }
    return status;
}

gram_status gram_rows_none(gram_context *context, const gram_table *table)
{
    return gram_fail(context, GRAM_ERROR_DATA, "%s: no row is left: every row has a missing value", table->file);
}

/* From the last on: a row never lies behind its place. */
void gram_prepared_spread(const gram_prepared *prepared, int64_t columns, double *values)
{
    int64_t i = prepared->n - 1;
    for (int64_t row = prepared->table_rows - 1; prepared->rows && row >= 0; row--) {
        const int kept = i >= 0 && prepared->rows[i] == row;
        for (int64_t j = 0; j < columns; j++) values[row * columns + j] = kept ? values[i * columns + j] : NAN;
        i -= kept;
    }
}
