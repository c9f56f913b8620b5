/* Points to draw a Gaussian process at (<gram/sampler.h>): of a grid, or of a file, prepared as a model takes them. */
#ifndef GRAM_DRAW_POINTS_H
#define GRAM_DRAW_POINTS_H

#include <gram/grid.h>
#include <gram/model.h>

GRAM_BEGIN

typedef struct gram_draw_points gram_draw_points;

/* The points of a grid in the text of <gram/grid.h>, at most 10,000,000 of them. With a model (or NULL, borrowed until the points are
 * destroyed) it has an axis for each feature, in the feature's own units. GRAM_ERROR_ARGUMENT for a text that is not a grid, one that does
 * not fit the model's features, or features of text. The caller destroys it (takes NULL). */
GRAM_API gram_status gram_draw_points_of_grid(gram_context *context, const char *grid, const gram_model *model,
                                              gram_draw_points **points);

/* The rows of a file ("-": standard input), at least one: its columns as they are, or with a model those that it needs. */
GRAM_API gram_status gram_draw_points_read(gram_context *context, const char *path, const gram_model *model,
                                           gram_draw_points **points);
GRAM_API void gram_draw_points_destroy(gram_draw_points *points);

/* What there is; belongs to the points. */
typedef struct gram_draw_points_report {
    size_t size; /* of libgram's own struct */
    int64_t n, d;
    const gram_points *points; /* prepared, as the kernel takes them */
    const gram_grid *grid;     /* NULL: of a file */
    /* the points as they are shown: n rows of numbers in their own units, and the names of the columns. Rows of a file for a model, whose
     * features may be text, are shown by their number, from 1: a column "row" */
    int64_t shown_columns;
    const double *shown;
    const char *const *names;
} gram_draw_points_report;

GRAM_API const gram_draw_points_report *gram_draw_points_get_report(const gram_draw_points *points);

GRAM_END

#endif
