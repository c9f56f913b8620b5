#include <gram/draw_points.h>

#include <inttypes.h>
#include <string.h>

#include <gram/preparation.h>
#include <gram/text.h>

#include "base/arena.h"
#include "base/context.h"

enum { MOST_POINTS = 10000000 };

struct gram_draw_points {
    gram_memory *memory;
    gram_arena arena;
    gram_grid grid;
    double *shown;
    double *x; /* n x d, prepared */
    const char **names;
    gram_table *table; /* that the points were read from, or NULL */
    gram_points *points;
    gram_draw_points_report report;
};

void gram_draw_points_destroy(gram_draw_points *points)
{
    if (!points) return;
    gram_memory *memory = points->memory;
    gram_points_release(points->points);
    gram_table_destroy(points->table);
    gram_arena_release(&points->arena);
    gram_memory_give(memory, points);
    gram_memory_release(memory);
}

const gram_draw_points_report *gram_draw_points_get_report(const gram_draw_points *points)
{
    return &points->report;
}

static gram_status create(gram_context *context, gram_draw_points **points)
{
    gram_status status = GRAM_OK;
    gram_draw_points *made = NULL;
    TRY(gram_take(context, "draw_points", 1, sizeof *made, (void **)&made));
    *made = (gram_draw_points){.memory = gram_memory_retain(context->memory), .report.size = sizeof made->report};
    gram_arena_init(&made->arena, made->memory);
done:
    *points = made;
    return status;
}

/* Room for n rows of d numbers, of which `shown` are shown. */
static gram_status make_room(gram_context *context, gram_draw_points *made, int64_t n, int64_t d, int64_t shown)
{
    gram_status status = GRAM_OK;
    const char *what = "draw_points";
    made->report.n = n;
    made->report.d = d;
    made->report.shown_columns = shown;
    TRY(gram_arena_take(context, &made->arena, what, n, (size_t)shown * sizeof *made->shown, (void **)&made->shown));
    TRY(gram_arena_take(context, &made->arena, what, n, (size_t)d * sizeof *made->x, (void **)&made->x));
    TRY(gram_arena_take(context, &made->arena, what, shown, sizeof *made->names, (void **)&made->names));
done:
    return status;
}

static gram_status finish(gram_context *context, gram_draw_points *made)
{
    gram_draw_points_report *report = &made->report;
    report->shown = made->shown;
    report->names = made->names;
    const gram_status status = gram_points_create_f64(context, report->n, report->d, made->x, report->d, &made->points);
    report->points = made->points;
    return status;
}

/* ---- grids ---- */

static gram_status read_grid(gram_context *context, const char *text, gram_grid *grid)
{
    int bad = gram_grid_parse(text, grid) < 0;
    for (int a = 0; a < grid->axis_count; a++) bad |= grid->axes[a].count > MOST_POINTS;
    if (!bad) return GRAM_OK;
    (void)gram_fail(context, GRAM_ERROR_ARGUMENT, "the grid '%.60s' is not a:b:n with a < b and n >= 2", text);
    return gram_advise(context, GRAM_ERROR_ARGUMENT, "Write it as in 0:10:200, or 0:1:50,0:1:50 in two dimensions.");
}

static gram_status check_features(gram_context *context, const gram_grid *grid, const gram_model *model)
{
    const gram_preparation_description *known = gram_preparation_describe(gram_model_preparation(model));
    const int64_t count = known->feature_count;
    if (count != grid->axis_count) {
        (void)gram_fail(context, GRAM_ERROR_ARGUMENT,
                        "a grid of %d dimension%s, and the model has %" PRId64 " feature%s", grid->axis_count,
                        grid->axis_count == 1 ? "" : "s", count, count == 1 ? "" : "s");
        return gram_advise(context, GRAM_ERROR_ARGUMENT, "Give one a:b:n for each feature, or the points in a file.");
    }
    for (int64_t f = 0; f < count; f++)
        if (known->features[f].text) {
            (void)gram_fail(context, GRAM_ERROR_ARGUMENT, "feature '%s' is text, which a grid cannot run over",
                            known->features[f].name);
            return gram_advise(context, GRAM_ERROR_ARGUMENT, "Give the points in a file.");
        }
    return GRAM_OK;
}

/* One column is "x", several are "x1", "x2", ... */
static const char *const grid_names[GRAM_GRID_MOST_AXES + 1] = {"x", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8"};

static gram_status fill_grid(gram_context *context, gram_draw_points *made, const gram_model *model)
{
    gram_status status = GRAM_OK;
    const gram_grid *grid = &made->grid;
    const int64_t d = grid->axis_count;
    const double count = gram_grid_count(grid);
    FAIL_IF(count > MOST_POINTS, context, GRAM_ERROR_ARGUMENT, "a grid of %.3g points is more than the limit of %d",
            count, MOST_POINTS);
    TRY(make_room(context, made, (int64_t)count, d, d));
    for (int64_t a = 0; a < d; a++)
        made->names[a] = model ? gram_preparation_describe(gram_model_preparation(model))->features[a].name
                               : grid_names[d > 1 ? a + 1 : 0];
    gram_grid_fill(grid, made->shown);
    if (model)
        gram_preparation_scale(gram_model_preparation(model), made->report.n, made->shown, d, made->x);
    else
        memcpy(made->x, made->shown, (size_t)(made->report.n * d) * sizeof *made->x);
    made->report.grid = grid;
    TRY(finish(context, made));
done:
    return status;
}

gram_status gram_draw_points_of_grid(gram_context *context, const char *grid, const gram_model *model,
                                     gram_draw_points **points)
{
    gram_status status = GRAM_OK;
    gram_draw_points *made = NULL;
    if (!context || !grid || !points) return GRAM_ERROR_ARGUMENT;
    *points = NULL;
    FAIL_IF(model && !gram_model_preparation(model), context, GRAM_ERROR_DATA,
            "this model has no description of the columns that it takes");
    TRY(create(context, &made));
    TRY(read_grid(context, grid, &made->grid));
    if (model) TRY(check_features(context, &made->grid, model));
    TRY(fill_grid(context, made, model));
    *points = made;
    made = NULL;
done:
    gram_draw_points_destroy(made);
    return status;
}

/* ---- points of a file ---- */

/* With a model, the rows are shown by their number: features may be text. */
static gram_status take_prepared(gram_context *context, gram_draw_points *made, const gram_prepared *data)
{
    gram_status status = GRAM_OK;
    TRY(make_room(context, made, data->n, data->d, 1));
    made->names[0] = "row";
    for (int64_t i = 0; i < data->n; i++) made->shown[i] = (double)((data->rows ? data->rows[i] : i) + 1);
    if (data->n > 0) memcpy(made->x, data->x, (size_t)(data->n * data->d) * sizeof *made->x);
done:
    return status;
}

static gram_status take_columns(gram_context *context, gram_draw_points *made)
{
    gram_status status = GRAM_OK;
    const gram_table *table = made->table;
    const double *numbers = gram_table_numbers(table);
    const int64_t n = gram_table_rows(table), d = gram_table_columns(table), ld = gram_table_ld(table);
    TRY(make_room(context, made, n, d, d));
    for (int64_t j = 0; j < d; j++) made->names[j] = gram_table_column_name(table, j);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) made->shown[i * d + j] = made->x[i * d + j] = numbers[i * ld + j];
done:
    return status;
}

gram_status gram_draw_points_read(gram_context *context, const char *path, const gram_model *model,
                                  gram_draw_points **points)
{
    gram_status status = GRAM_OK;
    gram_table_options options;
    gram_prepared *data = NULL;
    gram_draw_points *made = NULL;
    if (!context || !path || !points) return GRAM_ERROR_ARGUMENT;
    *points = NULL;
    const gram_preparation *preparation = model ? gram_model_preparation(model) : NULL;
    FAIL_IF(model && !preparation, context, GRAM_ERROR_DATA,
            "this model has no description of the columns that it takes");
    gram_table_options_init(&options, sizeof options);
    if (model) TRY(gram_preparation_reading(preparation, &options));
    TRY(create(context, &made));
    TRY(gram_table_read(context, path, &options, &made->table));
    if (model) TRY(gram_preparation_apply(context, preparation, made->table, 0, &data));
    TRY(model ? take_prepared(context, made, data) : take_columns(context, made));
    if (made->report.n == 0) {
        (void)gram_fail(context, GRAM_ERROR_DATA, "%s: no rows to draw at", gram_data_name(path));
        status = gram_advise(context, GRAM_ERROR_DATA, "Give at least one row.");
        goto done;
    }
    TRY(finish(context, made));
    *points = made;
    made = NULL;
done:
    gram_prepared_destroy(data);
    gram_draw_points_destroy(made);
    return status;
}
