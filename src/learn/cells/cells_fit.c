/* Fitting one model for each cell.
 *
 * The method's row is run as it is, on the rows of one cell after the other, with the same settings: every method that predicts means or classes has cells by
 * this one mechanism. Numbers of kernel and strength are tuned in each cell, or once on a sample of all rows and then shared: n lambda, or C, is what is held, since
 * it is what stands against one row. Classes that a cell has no rows of are not its model's; a cell of one class has no model. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/random.h>
#include <gram/text.h>

#include "base/ranks/collective.h"
#include "base/system/system_call.h"
#include "base/system/time_limit.h"
#include "learn/cells/cells.h"
#include "learn/estimate/kept_models.h"
#include "learn/estimate/learning_part.h"
#include "learn/learn_steps.h"
#include "learn/learner.h"

enum { USUAL_SIZE = 2000, LEAST_SIZE = 50, SHARED_FROM = 17, SAMPLE_STREAM = 0x63656c6c };

static const double TIME_OF_CELLS = 0.8; /* the rest is for their errors on the rows */

typedef struct cells {
    gram_learning *learning;
    gram_cell_tree tree;
    int64_t size, done, least, most, ranks;
    int shared;
    gram_preparation *preparation; /* of the parts: classes are numbers */
    gram_found_numbers found;      /* that all share; without a kernel each has its own */
    double *only;                  /* cells: the class of a cell of one class, -1 for others */
    gram_keeper keeper;
    gram_model *model;
    gram_model **parts; /* cells: of this rank, until all have fitted theirs; NULL: alone */
    double seconds;     /* that the last cell took, with so many rows */
    int64_t rows;
} cells;

int gram_learning_wants_cells(const gram_learning *learning)
{
    return gram_learning_common(learning, GRAM_COMMON_CELLS) != NULL;
}

const char *gram_cell_name(int64_t cell, char name[GRAM_CELL_NAME])
{
    (void)snprintf(name, GRAM_CELL_NAME, "part_%" PRId64, cell + 1);
    return name;
}

/* ---- what is shared ---- */

/* One fit on `size` rows of all, drawn without replacement. */
static gram_status tune_shared(cells *c)
{
    gram_status status = GRAM_OK;
    gram_learning part = {0};
    gram_context *context = c->learning->context;
    const int64_t n = c->learning->data->n, wanted = c->size < n ? c->size : n;
    const gram_random random = {gram_context_seed(context), SAMPLE_STREAM};
    int64_t *rows = NULL, count = 0;
    TRY(gram_take(context, "cells", wanted, sizeof *rows, (void **)&rows));
    for (int64_t i = 0; i < n && count < wanted; i++) {
        double u;
        gram_random_uniform(random, (uint64_t)i, 1, &u);
        if (u * (double)(n - i) < (double)(wanted - count)) rows[count++] = i;
    }
    TRY(gram_part_make(c->learning, c->preparation, count, rows, &part));
    TRY(gram_part_fit(&part));
    (void)gram_part_found(&part, &c->found);
    if (c->learning->tuning == GRAM_TUNING_NONE) c->found.option = NULL;
done:
    gram_part_forget(&part);
    gram_give(context, rows);
    return status;
}

/* ---- all of them ---- */

/* The model of all, with the kernel of some part. */
static gram_status make_model(cells *c, const gram_model *part)
{
    gram_status status = GRAM_OK;
    gram_learning *whole = c->learning;
    const gram_function *f = gram_model_function(part);
    const int64_t d = whole->data->d, m = gram_function_outputs(f);
    const int64_t outputs = whole->task == GRAM_TASK_REGRESSION ? m : 1;
    gram_points *point = NULL;
    gram_function *holder = NULL;
    double *zeros = NULL;
    TRY(gram_learning_take(whole, outputs, sizeof *zeros, &zeros));
    TRY(gram_points_create_f64(whole->context, 1, d, whole->data->x, d, &point));
    TRY(gram_function_create(whole->context, gram_function_kernel(f), point, outputs, zeros, outputs, NULL, &holder));
    const gram_method *method = whole->method;
    whole->method = &gram_method_cells;
    c->keeper = gram_keep_begin(whole, holder);
    whole->method = method;
    c->model = whole->model;
    status = c->keeper.status;
done:
    gram_points_release(point);
    gram_function_release(holder);
    return status;
}

/* Of `count` rows as many as there is time for, if a fit takes count^3 operations and those of the cells that are left are alike. */
static int64_t rows_in_time(cells *c, int64_t cell, int64_t count)
{
    gram_context *context = c->learning->context;
    const double left = gram_time_of(context, TIME_OF_CELLS) - gram_clock(),
                 each = fmax(left, 0) / (double)(c->tree.cells - cell),
                 wanted = c->rows > 0 ? c->seconds * pow((double)count / (double)c->rows, 3) : 0;
    if (wanted <= each || count <= LEAST_SIZE) return count;
    gram_time_left_out(context, "cells learnt from some of their rows");
    return (int64_t)fmax(LEAST_SIZE, (double)count * cbrt(each / wanted));
}

/* One cell's fit, on `few` of its rows, evenly spaced. */
static gram_status make_part(cells *c, int64_t count, const int64_t *rows, int64_t few, gram_learning *part)
{
    gram_status status = GRAM_OK;
    gram_context *context = c->learning->context;
    int64_t *some = NULL;
    if (few < count) {
        TRY(gram_take(context, "cells", few, sizeof *some, (void **)&some));
        for (int64_t i = 0; i < few; i++) some[i] = rows[i * count / few];
    }
    TRY(gram_part_make(c->learning, c->preparation, few, some ? some : rows, part));
done:
    gram_give(context, some);
    return status;
}

/* Once there is no time for tuning, other cells take what this one found. */
static void share_found(cells *c, const gram_learning *part)
{
    if (c->shared || c->found.kernel || c->learning->tuning == GRAM_TUNING_NONE ||
        !gram_time_is_up(c->learning->context, GRAM_TIME_OF_TUNING))
        return;
    (void)gram_part_found(part, &c->found);
    gram_time_left_out(c->learning->context, "cells that share what one of them was tuned to");
}

static gram_status keep_part(cells *c, int64_t cell, const gram_model *part)
{
    gram_status status = GRAM_OK;
    char name[GRAM_CELL_NAME];
    if (!c->model) TRY(make_model(c, part));
    TRY(gram_keep_model(&c->keeper, gram_cell_name(cell, name), part));
done:
    return status;
}

static gram_status fit_part(cells *c, int64_t cell, gram_learning *part)
{
    gram_status status = GRAM_OK;
    TRY(gram_part_use(&c->found, part));
    TRY(gram_part_fit(part));
    if (c->parts) {
        c->parts[cell] = part->model;
        part->model = NULL;
        goto done;
    }
    TRY(keep_part(c, cell, part->model));
    share_found(c, part);
done:
    return status;
}

static gram_status fit_cell(gram_context *context, void *argument, int64_t cell, int64_t count, const int64_t *rows,
                            const double *weights)
{
    gram_status status = GRAM_OK;
    cells *c = argument;
    gram_learning part = {0};
    (void)weights;
    c->least = c->done == 0 || count < c->least ? count : c->least;
    c->most = count > c->most ? count : c->most;
    c->done++;
    c->only[cell] = -1;
    if (c->parts && cell % c->ranks != gram_rank(context)) return status;
    TRY(gram_pulse(context, "cells", (double)cell / (double)c->tree.cells));
    const double began = gram_clock();
    const int64_t few = rows_in_time(c, cell, count);
    TRY(make_part(c, count, rows, few, &part));
    if (part.task == GRAM_TASK_CLASSIFICATION && part.classes.count == 1) {
        c->only[cell] = part.classes.values[0];
        goto done;
    }
    TRY(fit_part(c, cell, &part));
    c->seconds = gram_clock() - began;
    c->rows = few;
done:
    gram_part_forget(&part);
    return status;
}

static gram_status fit_cells(cells *c)
{
    const gram_prepared *data = c->learning->data;
    return gram_cell_tree_visit(c->learning->context, &c->tree, data->n, data->d, data->x, fit_cell, c);
}

/* ---- by several processes ---- */

static gram_status take_parts(cells *c)
{
    gram_status status = GRAM_OK;
    c->ranks = gram_ranks(c->learning->context);
    if (c->ranks == 1) return status;
    TRY(gram_take(c->learning->context, "cells", c->tree.cells, sizeof(gram_model *), (void **)&c->parts));
    for (int64_t i = 0; i < c->tree.cells; i++) c->parts[i] = NULL;
done:
    return status;
}

/* Each rank fits some of the cells by itself; then all keep all of them, one after the other. */
static gram_status spread_cells(cells *c)
{
    gram_status status = GRAM_OK;
    gram_context *context = c->learning->context;
    gram_ranks_part_ways(context);
    status = fit_cells(c);
    gram_ranks_join(context);
    TRY(gram_ranks_agree(context, status));
    TRY(gram_ranks_gather_dealt(context, "cells", c->tree.cells, 1, c->only));
    for (int64_t cell = 0; cell < c->tree.cells; cell++) {
        TRY(gram_model_share(context, (int)(cell % c->ranks), &c->parts[cell]));
        if (c->parts[cell]) TRY(keep_part(c, cell, c->parts[cell]));
        gram_model_destroy(c->parts[cell]);
        c->parts[cell] = NULL;
    }
    gram_ranks_note(context, "cells", 0);
done:
    return status;
}

/* ---- the use ---- */

static gram_status check_use(const cells *c)
{
    gram_learning *learning = c->learning;
    const gram_method *method = learning->method;
    if (method->intervals || method->views[0] || learning->functionals || learning->data->objects || learning->senses ||
        learning->groups || learning->ordered || !method->kernel || learning->task > GRAM_TASK_CLASSIFICATION ||
        learning->before)
        return gram_learning_fail(
            learning, GRAM_ERROR_ARGUMENT,
            "They are for krr with any loss, svm, logistic and sgd, without --kind, --groups, --ordered and --resume.",
            "cells are not for %s as it is asked for", method->title);
    return GRAM_OK;
}

static gram_status read_size(cells *c)
{
    const char *text = gram_learning_common(c->learning, GRAM_COMMON_CELLS);
    const char *tuning = gram_learning_common(c->learning, GRAM_COMMON_CELL_TUNING);
    c->size = strcmp(text, "auto") == 0 ? USUAL_SIZE : strtoll(text, NULL, 10);
    c->shared = tuning ? strcmp(tuning, "shared") == 0 : -1;
    if (c->size >= LEAST_SIZE) return GRAM_OK;
    return gram_learning_fail(c->learning, GRAM_ERROR_ARGUMENT,
                              "Cells of some thousand rows are usual: --solver cells:2000.",
                              "cells of %" PRId64 " rows are too small, need %d or more", c->size, LEAST_SIZE);
}

static gram_status announce(const cells *c)
{
    char reason[GRAM_MESSAGE_SIZE];
    const double size = (double)c->size, count = (double)c->tree.cells;
    (void)snprintf(reason, sizeof reason, "%" PRId64 " cells of at most %" PRId64 " rows, tuned %s", c->tree.cells,
                   c->size,
                   c->learning->tuning == GRAM_TUNING_NONE ? "not at all"
                   : c->shared                             ? "once, on a sample"
                                                           : "each");
    gram_learning_plan(c->learning, "cells", (size_t)(8 * size * size * 4), count * size * size * size * 2e-11, reason);
    return c->tree.cells <= GRAM_MOST_CELLS
               ? GRAM_OK
               : gram_learning_fail(c->learning, GRAM_ERROR_ARGUMENT, "Use larger cells: --solver cells:SIZE.",
                                    "%" PRId64 " cells are more than %d", c->tree.cells, GRAM_MOST_CELLS);
}

static void keep_facts(cells *c)
{
    gram_learning *learning = c->learning;
    gram_keeper *keeper = &c->keeper;
    gram_keep_text(keeper, "of", learning->method->name);
    gram_keep_integer(keeper, "cells", c->tree.cells);
    gram_keep_integer(keeper, "cell_size", c->size);
    gram_keep_integer(keeper, "cell_least", c->least);
    gram_keep_integer(keeper, "cell_most", c->most);
    gram_keep_text(keeper, "cell_tuning",
                   learning->tuning == GRAM_TUNING_NONE ? "none"
                   : c->shared                          ? "shared"
                                                        : "each");
    if (c->found.option) gram_keep_number(keeper, "cell_strength", c->found.strength);
    if (c->tree.nodes > 0) gram_keep_array(keeper, "cell_tree", c->tree.nodes, GRAM_CELL_NUMBERS, c->tree.numbers);
    if (learning->task != GRAM_TASK_CLASSIFICATION) return;
    gram_keep_array(keeper, "cell_class", 1, c->tree.cells, c->only);
    gram_keep_classes(keeper, &learning->classes);
}

/* The error of the blended predictions on the rows themselves. */
static gram_status keep_errors(cells *c)
{
    gram_status status = GRAM_OK;
    gram_learning *learning = c->learning;
    const gram_prepared *data = learning->data;
    gram_predictor *predictor = NULL;
    double *values = NULL, right = 0, squares = 0, total = 0;
    TRY(gram_predictor_create(learning->context, learning->model, NULL, &predictor));
    const int64_t ld = gram_predictor_columns(predictor)->ld;
    TRY(gram_take(learning->context, "cells", data->n * ld, sizeof *values, (void **)&values));
    TRY(gram_predictor_evaluate(learning->context, predictor, data->n, data->x, data->weights, values, ld));
    for (int64_t i = 0; i < data->n; i++) {
        const double weight = data->weights ? data->weights[i] : 1;
        total += weight;
        if (learning->labels) right += values[i * ld] == learning->labels[i];
        for (int64_t o = 0; o < data->targets && !learning->labels; o++) {
            const double error = values[i * ld + o] - data->y[i * data->targets + o];
            squares += weight * error * error / (double)data->targets;
        }
    }
    if (learning->labels)
        gram_keep_number(&c->keeper, "train_accuracy", right / (double)data->n);
    else if (gram_predictor_columns(predictor)->level_count == 0)
        gram_keep_number(&c->keeper, "train_rmse", sqrt(squares / total));
    status = c->keeper.status;
done:
    gram_predictor_destroy(predictor);
    gram_give(learning->context, values);
    return status;
}

gram_status gram_learning_fit_cells(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    gram_context *context = learning->context;
    cells c = {.learning = learning};
    TRY(check_use(&c));
    TRY(read_size(&c));
    TRY(gram_part_preparation(learning, &c.preparation));
    TRY(gram_cell_tree_grow(context, learning->data->n, learning->data->d, learning->data->x, c.size, &c.tree));
    if (c.shared < 0) c.shared = c.tree.cells >= SHARED_FROM;
    TRY(announce(&c));
    TRY(gram_take(context, "cells", c.tree.cells, sizeof *c.only, (void **)&c.only));
    if (c.shared) TRY(tune_shared(&c));
    TRY(take_parts(&c));
    TRY(c.parts ? spread_cells(&c) : fit_cells(&c));
    FAIL_IF(!c.model, context, GRAM_ERROR_DATA, "%s: every cell has rows of one class only", learning->source);
    keep_facts(&c);
    TRY(c.keeper.status);
    TRY(keep_errors(&c));
done:
    for (int64_t i = 0; c.parts && i < c.tree.cells; i++) gram_model_destroy(c.parts[i]);
    gram_give(context, c.parts);
    gram_cell_tree_free(context, &c.tree);
    gram_kernel_release(c.found.kernel);
    gram_preparation_release(c.preparation);
    gram_give(context, c.only);
    return status;
}
