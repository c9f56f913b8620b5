/* A partition of the space into cells: a k-d tree whose planes are soft.
 *
 * A node parts its rows at the median of the column that varies most. About the plane there is a ramp, half as wide on either side as SHARE of the node's
 * rows need: across it the weight goes from one side to the other by u^2 (3 - 2u). The weight of a cell at x is the product along its path, so that weights
 * of all cells add up to 1 everywhere, and what is blended by them is continuous. A row belongs to every cell where it has weight. */
#ifndef GRAM_LEARN_CELLS_CELL_TREE_H
#define GRAM_LEARN_CELLS_CELL_TREE_H

#include "base/context.h"

enum { GRAM_CELL_NUMBERS = 5 }; /* column, plane, half width, first and second side: a node, or -1 - cell */

typedef struct gram_cell_tree {
    int64_t nodes, cells, room;
    double *numbers; /* nodes x GRAM_CELL_NUMBERS; none for one cell */
} gram_cell_tree;

/* What is called for each cell with its rows, and their weights (all 1 while the tree is grown). */
typedef gram_status (*gram_cell_fn)(gram_context *context, void *argument, int64_t cell, int64_t count,
                                    const int64_t *rows, const double *weights);

/* Cells of at most `size` rows, where columns vary. Takes from the context; free it after a failure, too. O(n d log(n/size)). */
gram_status gram_cell_tree_grow(gram_context *context, int64_t n, int64_t d, const double *x, int64_t size,
                                gram_cell_tree *tree);
void gram_cell_tree_free(gram_context *context, gram_cell_tree *tree);

/* Do the numbers of a model make a tree of that many cells on d columns? */
int gram_cell_tree_is_valid(const gram_cell_tree *tree, int64_t d);

/* Each cell that has rows, in order, with those where it has weight. */
gram_status gram_cell_tree_visit(gram_context *context, const gram_cell_tree *tree, int64_t n, int64_t d,
                                 const double *x, gram_cell_fn visit, void *argument);

#endif
