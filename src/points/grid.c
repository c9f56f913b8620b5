#include <gram/grid.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/text.h>

/* A number with ':' after it; returns what follows, or NULL. */
static const char *read_end(const char *text, double *value)
{
    const size_t length = gram_number_parse(text, strlen(text), value);
    return length > 0 && text[length] == ':' && isfinite(*value) ? text + length + 1 : NULL;
}

/* Reads one axis; returns what follows it, or NULL. */
static const char *read_axis(const char *text, gram_axis *axis)
{
    const int64_t most = (int64_t)1 << 31;
    char *end;
    text = read_end(text, &axis->from);
    if (text) text = read_end(text, &axis->to);
    if (!text) return NULL;
    errno = 0;
    axis->count = strtoll(text, &end, 10);
    if (end == text || errno || axis->count < 2 || axis->count > most) return NULL;
    return axis->from < axis->to ? end : NULL;
}

gram_status gram_grid_parse(const char *text, gram_grid *grid)
{
    *grid = (gram_grid){0};
    do {
        if (grid->axis_count == GRAM_GRID_MOST_AXES) return GRAM_ERROR_SYNTAX;
        text = read_axis(text + (grid->axis_count > 0), &grid->axes[grid->axis_count]);
        if (!text) return GRAM_ERROR_SYNTAX;
        grid->axis_count++;
    } while (*text == ',');
    return *text == '\0' ? GRAM_OK : GRAM_ERROR_SYNTAX;
}

double gram_grid_count(const gram_grid *grid)
{
    double count = 1;
    for (int a = 0; a < grid->axis_count; a++) count *= (double)grid->axes[a].count;
    return count;
}

static double axis_value(const gram_axis *axis, int64_t i)
{
    if (i == axis->count - 1) return axis->to;
    return axis->from + (axis->to - axis->from) * (double)i / (double)(axis->count - 1);
}

void gram_grid_fill(const gram_grid *grid, double *out)
{
    const int64_t n = (int64_t)gram_grid_count(grid);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i;
        for (int a = grid->axis_count - 1; a >= 0; a--) {
            out[i * grid->axis_count + a] = axis_value(&grid->axes[a], rest % grid->axes[a].count);
            rest /= grid->axes[a].count;
        }
    }
}
