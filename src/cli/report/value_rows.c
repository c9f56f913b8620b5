#include "cli/report/value_rows.h"

#include <math.h>

void cli_add_value_names(gram_string *text, const gram_columns *columns, const cli_kept *kept)
{
    for (int64_t j = 0; kept && j < kept->count; j++) {
        gram_string_add_field(text, gram_table_column_name(kept->table, kept->columns[j]));
        gram_string_add(text, ",");
    }
    for (int64_t j = 0; j < columns->count; j++) {
        gram_string_add_field(text, columns->names[j]);
        gram_string_add(text, j + 1 < columns->count ? "," : "\n");
    }
}

/* Text as it stood there, a missing value as an empty field. */
static void add_kept(gram_string *text, const cli_kept *kept, int64_t row)
{
    char number[GRAM_NUMBER_SIZE];
    const gram_table *table = kept->table;
    for (int64_t j = 0; j < kept->count; j++) {
        const int64_t column = kept->columns[j];
        const double value = gram_table_numbers(table)[row * gram_table_ld(table) + column];
        if (!isnan(value) && gram_table_column_is_text(table, column))
            gram_string_add_field(text, gram_table_level(table, column, (int64_t)value));
        else if (!isnan(value))
            gram_string_add(text, "%s", gram_number_format(value, number));
        gram_string_add(text, ",");
    }
}

/* A row without values: one empty field is quoted, since many readers skip a line with nothing on it. */
static void add_values(gram_string *text, const gram_columns *columns, const double *values)
{
    char number[GRAM_NUMBER_SIZE];
    const int named = values && columns->classes->count > 0;
    if (!values && columns->count == 1) gram_string_add(text, "\"\"");
    if (named) gram_string_add_field(text, columns->classes->names[(int64_t)values[0]]);
    for (int64_t j = named; j < columns->count; j++) {
        const gram_column *feature = values && columns->features ? &columns->features[j] : NULL;
        if (j > 0) gram_string_add(text, ",");
        if (feature && feature->text)
            gram_string_add_field(text, feature->levels[(int64_t)values[j]]);
        else if (values)
            gram_string_add(text, "%s", gram_number_format(values[j], number));
    }
    gram_string_add(text, "\n");
}

void cli_add_value_rows(gram_string *text, const gram_columns *columns, const cli_kept *kept, const gram_prepared *data,
                        const double *values, int64_t ldv)
{
    int64_t i = 0;
    for (int64_t row = 0; row < data->table_rows; row++) {
        const int predicted = i < data->n && (!data->rows || data->rows[i] == row);
        if (kept) add_kept(text, kept, data->first ? data->first[row] : row);
        add_values(text, columns, predicted ? values + i * ldv : NULL);
        i += predicted;
    }
}
