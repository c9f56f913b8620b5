#include "tile/objects/given_panels.h"

#include <string.h>

#include "points/given_things.h"

/* One of the two sides: which things, in which order. */
typedef struct side {
    const gram_points *points;
    gram_objects *store;
    int64_t count, l;
    const int64_t *index;
} side;

static int64_t thing_of(const side *s, int64_t i)
{
    return gram_points_place(s->points, s->index ? s->index[i] : i, s->l);
}

/* The columns that the things of `of` have in the matrix of `in`: how many were found before one that has none. */
static int64_t find_columns(const side *in, const side *of, int64_t *column)
{
    for (int64_t j = 0; j < of->count; j++) {
        column[j] = gram_given_column(in->store, of->store, thing_of(of, j));
        if (column[j] < 0) return j;
    }
    return of->count;
}

static void find_rows(const side *in, int64_t *row)
{
    for (int64_t i = 0; i < in->count; i++) row[i] = in->store->start[thing_of(in, i)];
}

/* Beyond the last thing stands the last once more. */
static gram_status take_places(gram_context *context, int64_t count, int64_t **places)
{
    const int64_t padded = (count + GRAM_PANEL - 1) / GRAM_PANEL * GRAM_PANEL;
    const gram_status status = gram_take(context, "given matrix", padded, sizeof **places, (void **)places);
    if (status >= 0) memset(*places, 0, (size_t)padded * sizeof **places);
    return status;
}

static void pad(int64_t count, int64_t *places)
{
    for (int64_t i = count; i % GRAM_PANEL != 0; i++) places[i] = places[count - 1];
}

/* Of new things of which only the kernel with themselves is known. */
static gram_status note_things(gram_context *context, const side *s, int64_t **things)
{
    gram_status status = GRAM_OK;
    TRY(take_places(context, s->count, things));
    for (int64_t i = 0; i < s->count; i++) (*things)[i] = s->store->index[thing_of(s, i)];
    pad(s->count, *things);
done:
    return status;
}

static int are_new(const side *s)
{
    for (int64_t i = 0; i < s->count; i++)
        if (s->store->index[thing_of(s, i)] >= s->store->d) return 1;
    return 0;
}

gram_status gram_given_panels_create(gram_context *context, const gram_points *x, const gram_points *y, int64_t count,
                                     const int64_t *index, int64_t l, gram_given_panels **panels)
{
    gram_status status = GRAM_OK;
    gram_given_panels *made = NULL;
    const side rows = {.points = x, .store = x->objects[l], .count = x->n, .l = l};
    const side columns = {y, y->objects[l], index ? count : y->n, l, index};
    TRY(gram_take(context, "given matrix", 1, sizeof *made, (void **)&made));
    *made = (gram_given_panels){.memory = gram_memory_retain(context->memory)};
    TRY(take_places(context, rows.count, &made->row));
    TRY(take_places(context, columns.count, &made->column));
    const int64_t found = find_columns(&rows, &columns, made->column);
    const side *in = found == columns.count ? &rows : &columns;
    if (in == &columns && find_columns(&columns, &rows, made->row) < rows.count)
        TRY(gram_given_unknown(context, rows.store, thing_of(&rows, 0), columns.store, thing_of(&columns, found)));
    find_rows(in, in == &rows ? made->row : made->column);
    pad(rows.count, made->row);
    pad(columns.count, made->column);
    if (in->store->alone && are_new(&rows) && are_new(&columns)) {
        TRY(note_things(context, &rows, &made->row_thing));
        TRY(note_things(context, &columns, &made->column_thing));
    }
    made->store = gram_objects_retain(in->store);
    made->matrix = in->store->value;
    *panels = made;
    made = NULL;
done:
    gram_given_panels_destroy(made);
    return status;
}

void gram_given_panels_destroy(gram_given_panels *panels)
{
    if (!panels) return;
    gram_memory *memory = panels->memory;
    gram_objects_release(panels->store);
    gram_memory_give(memory, panels->row);
    gram_memory_give(memory, panels->row_thing);
    gram_memory_give(memory, panels->column_thing);
    gram_memory_give(memory, panels->column);
    gram_memory_give(memory, panels);
    gram_memory_release(memory);
}

void gram_given_strip(const gram_given_panels *panels, int64_t row_panel, int row, int64_t column_panel, double *out)
{
    const int64_t *rows = panels->row + row_panel * GRAM_PANEL + row;
    const int64_t *columns = panels->column + column_panel * GRAM_PANEL;
    for (int i = 0; i < GRAM_STRIP; i++)
        for (int j = 0; j < GRAM_PANEL; j++) out[i * GRAM_PANEL + j] = panels->matrix[rows[i] + columns[j]];
    if (!panels->row_thing) return;
    const int64_t *row_things = panels->row_thing + row_panel * GRAM_PANEL + row;
    const int64_t *column_things = panels->column_thing + column_panel * GRAM_PANEL;
    for (int i = 0; i < GRAM_STRIP; i++)
        for (int j = 0; j < GRAM_PANEL; j++)
            if (row_things[i] != column_things[j]) out[i * GRAM_PANEL + j] = NAN;
}
