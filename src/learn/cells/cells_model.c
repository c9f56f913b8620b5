/* Predictions from cells: the parts', blended by the weights that cells have at a row.
 *
 * Means and quantiles are averaged, and probabilities; without probabilities the decisions of two classes, or of more classes votes. */
#include <math.h>
#include <string.h>

#include "learn/cells/cells.h"
#include "learn/estimate/kept_models.h"
#include "method/method_report.h"

typedef struct cell_part {
    gram_model *model; /* NULL: a cell of one class */
    gram_predictor *predictor;
    double only;
} cell_part;

typedef struct opened {
    gram_memory *memory;
    gram_cell_tree tree;
    cell_part *parts;
} opened;

static void close_cells(gram_predictor *predictor)
{
    opened *own = predictor->own;
    if (!own) return;
    for (int64_t i = 0; i < own->tree.cells && own->parts; i++) {
        gram_predictor_destroy(own->parts[i].predictor);
        gram_model_destroy(own->parts[i].model);
    }
}

static gram_status read_tree(gram_context *context, gram_predictor *predictor, opened *own)
{
    int64_t rows = 0, columns = 0;
    const gram_model *model = predictor->model;
    const double *numbers = gram_model_array(model, "cell_tree", &rows, &columns);
    const double cells = gram_kept_number(model, "cells", 0);
    own->tree = (gram_cell_tree){.nodes = rows, .numbers = (double *)numbers};
    if (cells >= 1 && cells <= GRAM_MOST_CELLS) own->tree.cells = (int64_t)cells;
    const int64_t d = gram_points_dimension(gram_function_centres(gram_model_function(model)));
    if (own->tree.cells > 0 && (!numbers || columns == GRAM_CELL_NUMBERS) && gram_cell_tree_is_valid(&own->tree, d))
        return GRAM_OK;
    own->tree.cells = 0;
    return gram_predictor_damaged(context, predictor, "damaged: its cells are not a partition");
}

static gram_status read_part(gram_context *context, gram_predictor *predictor, int64_t cell, const double *only,
                             cell_part *part)
{
    gram_status status = GRAM_OK;
    char name[GRAM_CELL_NAME];
    gram_predict_options wish = predictor->wish;
    part->only = only ? only[cell] : -1;
    if (part->only >= 0 && part->only < (double)predictor->classes.count) return GRAM_OK;
    TRY(gram_kept_model(context, predictor->model, gram_cell_name(cell, name), predictor->wish.name, &part->model));
    if (!part->model) return gram_predictor_damaged(context, predictor, "damaged: a cell has no model");
    if (strcmp(gram_model_method(part->model), gram_method_cells.name) == 0)
        return gram_predictor_damaged(context, predictor, "damaged: cells in a cell");
    TRY(gram_predictor_create(context, part->model, &wish, &part->predictor));
    const gram_columns *columns = gram_predictor_columns(part->predictor);
    for (int64_t k = 0; k < columns->classes->count; k++)
        if (!columns->classes->values ||
            !(columns->classes->values[k] >= 0 && columns->classes->values[k] < (double)predictor->classes.count))
            return gram_predictor_damaged(context, predictor, "damaged: a cell has other classes");
    if (gram_points_dimension(gram_function_centres(gram_model_function(part->model))) !=
        gram_points_dimension(gram_function_centres(gram_model_function(predictor->model))))
        return gram_predictor_damaged(context, predictor, "damaged: a cell has other columns");
done:
    return status;
}

/* The columns of regression are those of the first part. */
static gram_status name_columns(gram_context *context, gram_predictor *predictor, const opened *own)
{
    gram_status status = GRAM_OK;
    const gram_columns *first = gram_predictor_columns(own->parts[0].predictor);
    for (int64_t i = 0; i < own->tree.cells; i++)
        if (gram_predictor_columns(own->parts[i].predictor)->count != first->count)
            return gram_predictor_damaged(context, predictor, "damaged: its cells predict different columns");
    for (int64_t i = 0; i < first->count; i++) TRY(gram_predictor_column(context, predictor, first->names[i], ""));
    predictor->columns.outputs = first->outputs;
    predictor->columns.level_count = first->level_count;
    predictor->columns.levels = first->levels;
    predictor->columns.ld = first->count;
done:
    return status;
}

static gram_status open_cells(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    opened *own = NULL;
    const int classes = strcmp(gram_model_task(predictor->model), gram_task_name(GRAM_TASK_CLASSIFICATION)) == 0;
    if (!classes) TRY(gram_predictor_refuse(context, predictor, 1, NULL, NULL));
    if (classes) TRY(gram_predictor_classes(context, predictor));
    TRY(gram_arena_take(context, &predictor->arena, "cells", 1, sizeof *own, (void **)&own));
    predictor->own = own;
    TRY(read_tree(context, predictor, own));
    TRY(gram_arena_take(context, &predictor->arena, "cells", own->tree.cells, sizeof *own->parts,
                        (void **)&own->parts));
    const double *only = gram_kept_array(predictor->model, "cell_class", 1, own->tree.cells);
    for (int64_t i = 0; i < own->tree.cells; i++)
        TRY(read_part(context, predictor, i, classes ? only : NULL, &own->parts[i]));
    if (!classes) TRY(name_columns(context, predictor, own));
done:
    return status;
}

/* ---- blending ---- */

typedef struct blend {
    const gram_predictor *predictor;
    const double *x;
    int64_t d;
    int scored;
    double *values; /* of all rows */
    int64_t ldv;
    double *votes; /* n x classes; a part without probabilities adds its weight to its label's */
} blend;

static void add_numbers(const blend *b, int64_t count, const int64_t *rows, const double *weights,
                        const double *of_part, int64_t ld)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < b->predictor->columns.count; k++)
            b->values[rows[i] * b->ldv + k] += weights[i] * of_part[i * ld + k];
}

/* A row of a part's probabilities, or of its label; `score` of two classes is above 0 for the second. */
static void add_class(const blend *b, int64_t row, double weight, const gram_columns *part, const double *of_part)
{
    const int64_t classes = b->predictor->classes.count, first = part->probability;
    double *votes = b->votes + row * classes, *score = b->values + row * b->ldv + 1 + classes;
    const double label = part->classes->values[(int64_t)of_part[0]], sign = label > 0 ? 1 : -1;
    const int has_score = part->score >= 0 && part->classes->count == 2 && classes == 2;
    *score += weight * (has_score ? of_part[part->score] : sign);
    for (int64_t k = 0; k < part->classes->count; k++)
        b->values[row * b->ldv + 1 + (int64_t)part->classes->values[k]] += weight * of_part[first + k];
    votes[(int64_t)label] += weight;
}

static void add_only(const blend *b, int64_t row, double weight, int64_t label)
{
    const int64_t classes = b->predictor->classes.count;
    b->values[row * b->ldv + 1 + label] += weight;
    b->values[row * b->ldv + 1 + classes] += weight * (label > 0 ? 1 : -1);
    b->votes[row * classes + label] += weight;
}

static gram_status blend_cell(gram_context *context, void *argument, int64_t cell, int64_t count, const int64_t *rows,
                              const double *weights)
{
    gram_status status = GRAM_OK;
    const blend *b = argument;
    const cell_part *part = &((const opened *)b->predictor->own)->parts[cell];
    double *x = NULL, *values = NULL;
    if (!part->predictor) {
        for (int64_t i = 0; i < count; i++) add_only(b, rows[i], weights[i], (int64_t)part->only);
        return status;
    }
    const gram_columns *columns = gram_predictor_columns(part->predictor);
    TRY(gram_take(context, "cells", count * b->d, sizeof *x, (void **)&x));
    TRY(gram_take(context, "cells", count * columns->ld, sizeof *values, (void **)&values));
    for (int64_t i = 0; i < count; i++) memcpy(x + i * b->d, b->x + rows[i] * b->d, (size_t)b->d * sizeof *x);
    TRY(gram_predictor_evaluate_rows(context, part->predictor, count, x, NULL, b->scored, values, columns->ld));
    if (b->predictor->classes.count == 0)
        add_numbers(b, count, rows, weights, values, columns->ld);
    else
        for (int64_t i = 0; i < count; i++) add_class(b, rows[i], weights[i], columns, values + i * columns->ld);
done:
    gram_give(context, x);
    gram_give(context, values);
    return status;
}

/* Labels by probabilities; without them by the decision of two classes, or by votes. */
static void put_labels(const blend *b, int64_t n)
{
    const int64_t classes = b->predictor->classes.count;
    for (int64_t i = 0; i < n; i++) {
        double *row = b->values + i * b->ldv;
        const int has_probabilities = !isnan(row[1]);
        const double *by = has_probabilities ? row + 1 : b->votes + i * classes;
        int64_t best = 0;
        for (int64_t c = 1; c < classes; c++)
            if (by[c] > by[best]) best = c;
        row[0] = (double)best;
        if (!has_probabilities && classes == 2) row[0] = row[1 + classes] > 0;
        if (has_probabilities) row[1 + classes] = row[classes];
    }
}

static gram_status evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                            double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const opened *own = predictor->own;
    const int64_t n = places->n, classes = predictor->classes.count;
    blend b = {
        .predictor = predictor, .x = places->x, .d = places->d, .scored = places->scored, .values = values, .ldv = ldv};
    if (classes > 0) TRY(gram_take(context, "cells", n * classes, sizeof *b.votes, (void **)&b.votes));
    for (int64_t i = 0; i < n * classes; i++) b.votes[i] = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < predictor->columns.ld; k++) values[i * ldv + k] = 0;
    TRY(gram_cell_tree_visit(context, &own->tree, n, places->d, places->x, blend_cell, &b));
    if (classes > 0) put_labels(&b, n);
done:
    gram_give(context, b.votes);
    return status;
}

static void report_cells(gram_report *report)
{
    gram_report_row(report, "cells");
    gram_report_value(report, GRAM_WHOLE, gram_report_number(report, "cells"));
    gram_report_add(report, " of %s", gram_report_text(report, "of") ? gram_report_text(report, "of") : "");
    gram_report_part(report, "with", "cell_least", GRAM_WHOLE);
    gram_report_add(report, " to ");
    gram_report_value(report, GRAM_WHOLE, gram_report_number(report, "cell_most"));
    gram_report_add(report, " rows, tuned: %s",
                    gram_report_text(report, "cell_tuning") ? gram_report_text(report, "cell_tuning") : "");
    gram_report_accuracy(report);
    gram_report_errors(report, 0);
}

const gram_method gram_method_cells = {
    .name = "cells",
    .title = "cells with a model each",
    .tasks = 1u << GRAM_TASK_REGRESSION | 1u << GRAM_TASK_CLASSIFICATION,
    .open = open_cells,
    .evaluate = evaluate,
    .close = close_cells,
    .report = report_cells,
};
