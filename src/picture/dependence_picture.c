/* Columns that depend on each other: the rows as points, by the two that do most, in the file's own units. */
#include <gram/hsic.h>

#include <inttypes.h>
#include <stdio.h>

#include "base/text/number.h"
#include "picture/picture.h"
#include "picture/script_parts.h"

enum { MOST_POINTS = 3000, NAME_SIZE = 256 };

static void add_title(gram_string *script, int64_t groups, gram_kernel *const *kernels, double p_value)
{
    gram_string words = {0};
    char title[160], number[GRAM_NUMBER_SIZE];
    for (int64_t g = 0; g < groups; g++) {
        if (g > 0) gram_string_add(&words, ", ");
        gram_kernel_append(kernels[g], &words);
    }
    (void)snprintf(title, sizeof title, "independence: p = %s, %.100s", gram_number_short(p_value, 6, number),
                   words.data ? words.data : "");
    gram_string_free(&words);
    gram_string_add(script, "set title ");
    gram_script_quote(script, title);
    gram_string_add(script, " font ',10'\nset border 3 lc '#555555'\nset tics nomirror\nset grid lc '#dddddd'\n");
}

static void add_rows(gram_string *script, const gram_sample_report *rows, const int64_t columns[2])
{
    const gram_prepared *data = rows->data;
    const int64_t step = (data->n + MOST_POINTS - 1) / MOST_POINTS;
    gram_string_add(script, "$rows << END_OF_BLOCK\n");
    for (int64_t i = 0; i < data->n; i += step)
        for (int c = 0; c < 2; c++)
            gram_script_number(script,
                               gram_preparation_unit(rows->preparation, columns[c], data->x[i * data->d + columns[c]]),
                               c == 0 ? " " : "\n");
    gram_string_add(script, "END_OF_BLOCK\n");
}

gram_status gram_picture_of_dependence(gram_context *context, const gram_sample *sample, gram_kernel *const *kernels,
                                       double p_value, gram_picture **picture)
{
    gram_status status = GRAM_OK;
    int64_t columns[2];
    char name[NAME_SIZE];
    *picture = NULL;
    FAIL_IF(!sample || !kernels, context, GRAM_ERROR_ARGUMENT, "picture_of_dependence: sample or kernels is NULL");
    const gram_sample_report *rows = gram_sample_get_report(sample);
    const gram_sample_group *groups = rows->groups;
    FAIL_IF(rows->group_count < 2, context, GRAM_ERROR_ARGUMENT,
            "picture_of_dependence: the sample has %" PRId64 " group of columns, need two", rows->group_count);
    TRY(gram_hsic_strongest(context, groups[0].points, groups[1].points, &columns[0], &columns[1]));
    TRY(gram_picture_begin(context, 800, 500, picture));
    gram_string *script = &(*picture)->script;
    for (int c = 0; c < 2; c++) columns[c] += groups[c].first;
    add_rows(script, rows, columns);
    add_title(script, rows->group_count, kernels, p_value);
    for (int c = 0; c < 2; c++) {
        (void)gram_preparation_column_name(rows->preparation, columns[c], name, sizeof name);
        gram_script_label(script, c == 0 ? "x" : "y", "", name);
    }
    gram_string_add(script, "set offsets graph 0.03, graph 0.03, graph 0.03, graph 0.03\n"
                            "plot $rows using 1:2 with points pt 7 ps 0.45 lc '#1f6fb4' notitle\n");
done:
    return gram_picture_end(context, status, picture);
}
