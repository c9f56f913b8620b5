/* Rows that were chosen of all: in the first two columns, or one column against the row's number. */
#include <inttypes.h>

#include "picture/picture.h"
#include "picture/script_parts.h"

enum { MOST_POINTS = 5000 };

static void add_point(gram_string *script, const gram_scored_report *s, int64_t i)
{
    gram_script_number(script, s->x[i * s->d], " ");
    gram_script_number(script, s->d > 1 ? s->x[i * s->d + 1] : (double)(i + 1), "\n");
}

static void add_blocks(gram_string *script, const gram_scored_report *s, int64_t m, const int64_t *index)
{
    const int64_t step = (s->n + MOST_POINTS - 1) / MOST_POINTS;
    gram_string_add(script, "$all << END_OF_POINTS\n");
    for (int64_t i = 0; i < s->n; i += step) add_point(script, s, i);
    gram_string_add(script, "END_OF_POINTS\n$chosen << END_OF_POINTS\n");
    for (int64_t a = 0; a < m; a++) add_point(script, s, index[a]);
    gram_string_add(script, "END_OF_POINTS\n");
}

gram_status gram_picture_of_choice(gram_context *context, const gram_scored_points *scored, int64_t m,
                                   const int64_t *index, gram_picture **picture)
{
    gram_status status = GRAM_OK;
    *picture = NULL;
    FAIL_IF(!scored || !index || m < 1, context, GRAM_ERROR_ARGUMENT,
            "picture_of_choice: scored or index is NULL, or m = %" PRId64 " is below 1", m);
    const gram_scored_report *s = gram_scored_points_get_report(scored);
    for (int64_t a = 0; a < m; a++)
        FAIL_IF(index[a] < 0 || index[a] >= s->n, context, GRAM_ERROR_ARGUMENT,
                "picture_of_choice: index[%" PRId64 "] = %" PRId64 ", and there are %" PRId64 " rows", a, index[a],
                s->n);
    TRY(gram_picture_begin(context, 560, 520, picture));
    gram_string *script = &(*picture)->script;
    gram_script_look(script);
    add_blocks(script, s, m, index);
    gram_script_title(script, s->kernel, s->file);
    gram_script_label(script, "x", "", gram_table_column_name(s->table, s->columns[0]));
    gram_script_label(script, "y", "", s->d > 1 ? gram_table_column_name(s->table, s->columns[1]) : "row");
    gram_string_add(script, "plot $all using 1:2 with points pt 7 ps 0.3 lc rgb '#a0a0a0' title 'all rows', "
                            "$chosen using 1:2 with points pt 7 ps 0.6 lc rgb '#d95319' title 'chosen'\n");
done:
    return gram_picture_end(context, status, picture);
}
