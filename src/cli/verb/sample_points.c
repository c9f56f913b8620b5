#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/data_origin.h"
#include "cli/verb/verb_sample.h"

enum { MOST_POINTS = 10000000 };

/* ---- grids ---- */

int cli_sample_grid(const char *text, gram_grid *grid)
{
    int bad = gram_grid_parse(text, grid) < 0;
    for (int a = 0; a < grid->axis_count; a++) bad |= grid->axes[a].count > MOST_POINTS;
    if (!bad) return CLI_DONE;
    return cli_fail(CLI_WRONG_USE, "For example --grid 0:10:200, or --grid 0:1:50,0:1:50 in two dimensions.",
                    "sample: --grid '%s' is not a:b:n with a < b and n >= 2", text);
}

/* ---- what the model makes of them ---- */

static int check_features(const gram_model *model, const sample_points *points)
{
    const gram_preparation_description *known = gram_preparation_describe(gram_model_preparation(model));
    if (known->feature_count != points->grid.axis_count)
        return cli_fail(CLI_WRONG_USE, "Give one a:b:n for each feature, or points of a file by --at FILE.",
                        "sample: a grid of %d dimension%s, and the model has %" PRId64 " feature%s",
                        points->grid.axis_count, points->grid.axis_count == 1 ? "" : "s", known->feature_count,
                        known->feature_count == 1 ? "" : "s");
    for (int64_t f = 0; f < known->feature_count; f++)
        if (known->features[f].text)
            return cli_fail(CLI_WRONG_USE, "Give points of a file by --at FILE.",
                            "sample: feature '%s' is text, which a grid cannot run over", known->features[f].name);
    return CLI_DONE;
}

static int make_room(sample_points *points)
{
    points->shown = calloc((size_t)(points->n * points->shown_columns), sizeof *points->shown);
    points->x = calloc((size_t)(points->n * points->d), sizeof *points->x);
    points->names = calloc((size_t)points->shown_columns, sizeof *points->names);
    return points->shown && points->x && points->names ? CLI_DONE : cli_no_memory();
}

static int make_points(cli_session *session, sample_points *points)
{
    const gram_status status =
        gram_points_create_f64(session->context, points->n, points->d, points->x, points->d, &points->points);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

/* One column is "x", several are "x1", "x2", ... */
static const char *const grid_names[GRAM_GRID_MOST_AXES + 1] = {"x", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8"};

int cli_sample_points_make(cli_session *session, const gram_model *model, sample_points *points)
{
    const double count = gram_grid_count(&points->grid);
    int code = model ? check_features(model, points) : CLI_DONE;
    if (code != CLI_DONE) return code;
    if (count > MOST_POINTS)
        return cli_fail(CLI_WRONG_USE, "Use a coarser one.",
                        "sample: a grid of %.3g points is more than the limit of %d", count, MOST_POINTS);
    points->n = (int64_t)count;
    points->d = points->shown_columns = points->grid.axis_count;
    code = make_room(points);
    if (code != CLI_DONE) return code;
    for (int64_t a = 0; a < points->d; a++)
        points->names[a] = model ? gram_preparation_describe(gram_model_preparation(model))->features[a].name
                                 : grid_names[points->d > 1 ? a + 1 : 0];
    gram_grid_fill(&points->grid, points->shown);
    if (model)
        gram_preparation_scale(gram_model_preparation(model), points->n, points->shown, points->d, points->x);
    else
        memcpy(points->x, points->shown, (size_t)(points->n * points->d) * sizeof *points->x);
    return make_points(session, points);
}

/* ---- points of a file ---- */

/* With a model, the rows are shown by their number: features may be text. */
static int take_prepared(sample_points *points, const gram_prepared *data)
{
    points->n = data->n;
    points->d = data->d;
    points->shown_columns = 1;
    const int code = make_room(points);
    if (code == CLI_DONE) points->names[0] = "row";
    for (int64_t i = 0; i < data->n && code == CLI_DONE; i++)
        points->shown[i] = (double)((data->rows ? data->rows[i] : i) + 1);
    if (code == CLI_DONE && data->n > 0) memcpy(points->x, data->x, (size_t)(data->n * data->d) * sizeof *points->x);
    return code;
}

static int take_columns(sample_points *points)
{
    const gram_table *table = points->table;
    points->n = gram_table_rows(table);
    points->d = points->shown_columns = gram_table_columns(table);
    const double *numbers = gram_table_numbers(table);
    const int64_t ld = gram_table_ld(table);
    const int code = make_room(points);
    for (int64_t j = 0; j < points->d && code == CLI_DONE; j++) {
        points->names[j] = gram_table_column_name(table, j);
        for (int64_t i = 0; i < points->n && code == CLI_DONE; i++)
            points->shown[i * points->d + j] = points->x[i * points->d + j] = numbers[i * ld + j];
    }
    return code;
}

int cli_sample_points_read(cli_session *session, const char *path, const gram_model *model, sample_points *points)
{
    gram_table_options options;
    gram_prepared *data = NULL;
    gram_table_options_init(&options, sizeof options);
    if (model) gram_preparation_reading(gram_model_preparation(model), &options);
    gram_status status = gram_table_read(session->context, path, &options, &points->table);
    if (status >= 0 && model)
        status = gram_preparation_apply(session->context, gram_model_preparation(model), points->table, 0, &data);
    int code = status < 0 ? cli_data_unread(session, status, NULL)
               : model    ? take_prepared(points, data)
                          : take_columns(points);
    if (code == CLI_DONE && points->n == 0)
        code = cli_fail(CLI_BAD_DATA, "Give at least one row.", "%s: no rows to draw at", cli_data_name(path));
    gram_prepared_destroy(data);
    return code == CLI_DONE ? make_points(session, points) : code;
}

void cli_sample_points_free(sample_points *points)
{
    free(points->names);
    free(points->shown);
    free(points->x);
    gram_points_release(points->points);
    gram_table_destroy(points->table);
    *points = (sample_points){0};
}
