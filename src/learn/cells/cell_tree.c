#include "learn/cells/cell_tree.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/order_statistics.h"

static const double SHARE = 0.05; /* of a node's rows that are in its ramp */

enum { COLUMN, PLANE, WIDTH, FIRST, SECOND };

void gram_cell_tree_free(gram_context *context, gram_cell_tree *tree)
{
    gram_give(context, tree->numbers);
    *tree = (gram_cell_tree){0};
}

/* ---- growing ---- */

typedef struct growth {
    gram_context *context;
    int64_t d, size;
    const double *x;
    double *values; /* scratch: n */
    gram_cell_tree *tree;
} growth;

static int64_t widest_column(const growth *g, int64_t count, const int64_t *rows)
{
    int64_t best = -1;
    double most = 0;
    for (int64_t l = 0; l < g->d; l++) {
        double mean = 0, square = 0;
        for (int64_t i = 0; i < count; i++) mean += g->x[rows[i] * g->d + l] / (double)count;
        for (int64_t i = 0; i < count; i++) {
            const double from = g->x[rows[i] * g->d + l] - mean;
            square += from * from;
        }
        if (square > most * (1 + 1e-12)) most = square, best = l;
    }
    return best;
}

/* Between the median and the next other value, so that equal values stay together; -1: there is no other value. */
static int find_plane(const growth *g, int64_t count, const int64_t *rows, int64_t column, double *plane, double *width)
{
    double *v = g->values;
    for (int64_t i = 0; i < count; i++) v[i] = g->x[rows[i] * g->d + column];
    gram_sort_numbers(count, v);
    int64_t above = count / 2, below = count / 2;
    while (above < count && v[above] == v[count / 2]) above++;
    while (below >= 0 && v[below] == v[count / 2]) below--;
    if (above == count && below < 0) return -1;
    const int upper = above < count && (below < 0 || above - count / 2 <= count / 2 - below);
    *plane = upper ? v[above - 1] + (v[above] - v[above - 1]) / 2 : v[below] + (v[below + 1] - v[below]) / 2;
    for (int64_t i = 0; i < count; i++) v[i] = fabs(v[i] - *plane);
    gram_sort_numbers(count, v);
    *width = v[(int64_t)(SHARE * (double)count)];
    if (v[count / 4] <= *width) *width = 0; /* of few values: a step */
    return 0;
}

static gram_status add_node(growth *g, int64_t *node)
{
    gram_status status = GRAM_OK;
    gram_cell_tree *tree = g->tree;
    double *numbers = NULL;
    if (tree->nodes == tree->room) {
        tree->room = 2 * tree->room + 16;
        TRY(gram_take(g->context, "cells", tree->room * GRAM_CELL_NUMBERS, sizeof *numbers, (void **)&numbers));
        if (tree->nodes > 0)
            memcpy(numbers, tree->numbers, (size_t)(tree->nodes * GRAM_CELL_NUMBERS) * sizeof *numbers);
        gram_give(g->context, tree->numbers);
        tree->numbers = numbers;
    }
    *node = tree->nodes++;
done:
    return status;
}

/* Sets *name: the node, or -1 - cell. */
static gram_status grow(growth *g, int64_t count, const int64_t *rows, double *name)
{
    gram_status status = GRAM_OK;
    gram_cell_tree *tree = g->tree;
    int64_t *sides = NULL, counts[2] = {0, 0}, node;
    double plane, width, child;
    const int64_t column = count > g->size ? widest_column(g, count, rows) : -1;
    if (column < 0 || find_plane(g, count, rows, column, &plane, &width) < 0) {
        *name = -1 - (double)tree->cells++;
        return status;
    }
    TRY(gram_take(g->context, "cells", 2 * count, sizeof *sides, (void **)&sides));
    for (int64_t i = 0; i < count; i++) {
        const double from = g->x[rows[i] * g->d + column] - plane;
        if (from < width || (width == 0 && from <= 0)) sides[counts[0]++] = rows[i];
        if (from > -width) sides[count + counts[1]++] = rows[i];
    }
    if (counts[0] == 0 || counts[1] == 0 || counts[0] == count || counts[1] == count) {
        *name = -1 - (double)tree->cells++;
        goto done;
    }
    TRY(add_node(g, &node));
    const double head[] = {(double)column, plane, width};
    memcpy(tree->numbers + node * GRAM_CELL_NUMBERS, head, sizeof head);
    for (int side = 0; side < 2; side++) {
        TRY(grow(g, counts[side], sides + side * count, &child));
        tree->numbers[node * GRAM_CELL_NUMBERS + FIRST + side] = child;
    }
    *name = (double)node;
done:
    gram_give(g->context, sides);
    return status;
}

gram_status gram_cell_tree_grow(gram_context *context, int64_t n, int64_t d, const double *x, int64_t size,
                                gram_cell_tree *tree)
{
    gram_status status = GRAM_OK;
    growth g = {.context = context, .d = d, .size = size, .x = x, .tree = tree};
    int64_t *rows = NULL;
    double name;
    *tree = (gram_cell_tree){0};
    TRY(gram_take(context, "cells", n, sizeof *g.values, (void **)&g.values));
    TRY(gram_take(context, "cells", n, sizeof *rows, (void **)&rows));
    for (int64_t i = 0; i < n; i++) rows[i] = i;
    TRY(grow(&g, n, rows, &name));
done:
    gram_give(context, g.values);
    gram_give(context, rows);
    return status;
}

/* Sides are nodes that come later, or cells, each once and in order. */
int gram_cell_tree_is_valid(const gram_cell_tree *tree, int64_t d)
{
    int64_t nodes = 1, cells = 0;
    if (tree->nodes == 0) return tree->cells == 1;
    for (int64_t i = 0; i < tree->nodes; i++) {
        const double *node = tree->numbers + i * GRAM_CELL_NUMBERS;
        if (!(node[COLUMN] >= 0 && node[COLUMN] < (double)d) || node[COLUMN] != floor(node[COLUMN]) ||
            !isfinite(node[PLANE]) || !(node[WIDTH] >= 0 && isfinite(node[WIDTH])))
            return 0;
        for (int side = FIRST; side <= SECOND; side++) {
            const double child = node[side];
            if (child != floor(child) || child == 0 || child >= (double)tree->nodes || child < -(double)tree->cells ||
                (child > 0 && child <= (double)i))
                return 0;
            nodes += child > 0;
            cells += child < 0;
        }
    }
    return nodes == tree->nodes && cells == tree->cells;
}

/* ---- visiting ---- */

typedef struct visitor {
    gram_context *context;
    const gram_cell_tree *tree;
    int64_t d;
    const double *x;
    gram_cell_fn visit;
    void *argument;
} visitor;

/* The weight of the second side. */
static double ramp(double from, double width)
{
    if (!(width > 0)) return from > 0;
    const double u = fmin(fmax((from + width) / (2 * width), 0), 1);
    return u * u * (3 - 2 * u);
}

static gram_status descend(const visitor *v, double name, int64_t count, const int64_t *rows, const double *weights)
{
    gram_status status = GRAM_OK;
    int64_t *side_rows = NULL;
    double *side_weights = NULL;
    if (count == 0) return status;
    if (name < 0) return v->visit(v->context, v->argument, (int64_t)(-1 - name), count, rows, weights);
    const double *node = v->tree->numbers + (int64_t)name * GRAM_CELL_NUMBERS;
    TRY(gram_take(v->context, "cells", count, sizeof *side_rows, (void **)&side_rows));
    TRY(gram_take(v->context, "cells", count, sizeof *side_weights, (void **)&side_weights));
    for (int side = 0; side < 2; side++) {
        int64_t kept = 0;
        for (int64_t i = 0; i < count; i++) {
            const double second = ramp(v->x[rows[i] * v->d + (int64_t)node[COLUMN]] - node[PLANE], node[WIDTH]);
            const double weight = weights[i] * (side ? second : 1 - second);
            if (!(weight > 0)) continue;
            side_rows[kept] = rows[i];
            side_weights[kept++] = weight;
        }
        TRY(descend(v, node[FIRST + side], kept, side_rows, side_weights));
    }
done:
    gram_give(v->context, side_rows);
    gram_give(v->context, side_weights);
    return status;
}

gram_status gram_cell_tree_visit(gram_context *context, const gram_cell_tree *tree, int64_t n, int64_t d,
                                 const double *x, gram_cell_fn visit, void *argument)
{
    gram_status status = GRAM_OK;
    const visitor v = {context, tree, d, x, visit, argument};
    int64_t *rows = NULL;
    double *weights = NULL;
    TRY(gram_take(context, "cells", n, sizeof *rows, (void **)&rows));
    TRY(gram_take(context, "cells", n, sizeof *weights, (void **)&weights));
    for (int64_t i = 0; i < n; i++) {
        rows[i] = i;
        weights[i] = 1;
    }
    TRY(descend(&v, tree->nodes > 0 ? 0 : -1, n, rows, weights));
done:
    gram_give(context, rows);
    gram_give(context, weights);
    return status;
}
