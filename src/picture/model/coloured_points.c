#include "picture/model/coloured_points.h"

#include <gram/text.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "picture/script_parts.h"

static int is_whole(double value)
{
    return value == floor(value) && fabs(value) < 1e9;
}

/* Where the value is among the first `count`, which are in order; they grow by it if it is new. -1: there are too many. */
static int64_t place_of(double *known, int64_t *count, double value)
{
    int64_t at = 0;
    while (at < *count && known[at] < value) at++;
    if (at < *count && known[at] == value) return at;
    if (*count == GRAM_MOST_GROUPS) return -1;
    memmove(known + at + 1, known + at, (size_t)(*count - at) * sizeof *known);
    known[at] = value;
    ++*count;
    return at;
}

/* What the group of this value is called: a level of text, or the number itself. */
static void name_group(const gram_colour_source *source, double value, char *name, size_t size)
{
    char number[GRAM_NUMBER_SIZE];
    const int text = source->table && gram_table_column_is_text(source->table, source->column);
    const gram_column *label = source->table ? NULL : source->label;
    const char *words = text                   ? gram_table_level(source->table, source->column, (int64_t)value)
                        : label && label->text ? label->levels[(int64_t)value]
                                               : gram_number_format(value, number);
    (void)snprintf(name, size, "%s%s", source->table || label ? "" : "cluster ", words);
}

/* Whole numbers with few different values are groups, and so are texts. */
static void find_groups(const gram_colour_source *source, gram_coloured_points *p)
{
    double known[GRAM_MOST_GROUPS];
    int64_t count = 0;
    int groups = 1;
    for (int64_t i = 0; i < p->n && groups; i++)
        groups = isnan(p->number[i]) || (is_whole(p->number[i]) && place_of(known, &count, p->number[i]) >= 0);
    p->groups = groups && count > 0 ? count : 0;
    for (int64_t i = 0; i < p->n && p->groups; i++)
        p->number[i] = isnan(p->number[i]) ? -1 : (double)place_of(known, &count, p->number[i]);
    for (int64_t g = 0; g < p->groups; g++) name_group(source, known[g], p->names[g], sizeof p->names[g]);
}

static double number_of(const gram_colour_source *source, int64_t i)
{
    const gram_prepared *data = source->data;
    const int64_t row = data->rows ? data->rows[i] : i;
    if (source->table) return gram_table_numbers(source->table)[row * gram_table_ld(source->table) + source->column];
    return source->clusters ? source->clusters[i * source->ld] : data->y[i * data->targets];
}

gram_status gram_points_colour(gram_context *context, const gram_colour_source *source, gram_picture *picture,
                               gram_coloured_points *p)
{
    gram_status status = GRAM_OK;
    TRY(gram_picture_take(context, picture, p->n, sizeof *p->number, (void **)&p->number));
    p->groups = 1;
    p->step = (p->n + GRAM_PICTURE_POINTS - 1) / GRAM_PICTURE_POINTS;
    if (!source->table && !source->clusters && !source->label) return status;
    for (int64_t i = 0; i < p->n; i++) p->number[i] = number_of(source, i);
    if (source->table) p->title = gram_table_column_name(source->table, source->column);
    find_groups(source, p);
done:
    return status;
}

/* ---- in a script ---- */

int64_t gram_group_blocks(const gram_coloured_points *points)
{
    return points->groups > 0 ? points->groups : 1;
}

void gram_script_groups(gram_string *script, const gram_coloured_points *p, const gram_preparation *preparation)
{
    for (int64_t g = 0; g < gram_group_blocks(p); g++) {
        gram_string_add(script, "$group%" PRId64 " << END_OF_GROUP\n", g);
        for (int64_t i = 0; i < p->n; i += p->step) {
            if (p->groups > 0 ? p->number[i] != (double)g : isnan(p->number[i])) continue;
            for (int64_t c = 0; c < p->columns; c++) {
                const double value = p->x[i * p->ld + c];
                gram_script_number(script, preparation ? gram_preparation_unit(preparation, c, value) : value, " ");
            }
            gram_script_number(script, p->number[i], "\n");
        }
        gram_string_add(script, "END_OF_GROUP\n");
    }
}

void gram_script_group_look(gram_string *script, int type, int64_t count, int64_t group)
{
    gram_string_add(script, " with points pt %d", type - 2 * (int)(group / GRAM_PICTURE_COLOURS % 2));
    gram_script_point_size(script, count, 1.2);
    gram_string_add(script, " lc rgb '%s' ", gram_script_colour(group));
}

/* The groups of one colour that no column names need no key. */
static void add_group_title(gram_string *script, const gram_coloured_points *p, int64_t group)
{
    if (p->names[0][0])
        gram_string_add(script, "title "), gram_script_quote(script, p->names[group]);
    else
        gram_string_add(script, "notitle");
}

void gram_script_plot_groups(gram_string *script, const gram_coloured_points *p, const char *what, const char *columns)
{
    const int64_t shown = p->n / p->step;
    gram_string_add(script, "%s", what);
    for (int64_t g = 0; g < gram_group_blocks(p); g++) {
        gram_string_add(script, "%s$group%" PRId64 " using %s", g > 0 ? ", " : "", g, columns);
        if (p->groups == 0) {
            gram_string_add(script, ":%" PRId64 " with points pt 7", p->columns + 1);
            gram_script_point_size(script, shown, 1.2);
            gram_string_add(script, " lc palette notitle");
        } else {
            gram_script_group_look(script, 7, shown, g);
            add_group_title(script, p, g);
        }
    }
    gram_string_add(script, "\n");
}

void gram_script_colour_bar(gram_string *script, const gram_coloured_points *p)
{
    if (p->groups > 0) return;
    gram_string_add(script, "set palette defined (0 '#0060ad', 1 '#f0e6c8', 2 '#d95319')\n");
    gram_script_label(script, "cb", "", p->title);
}
