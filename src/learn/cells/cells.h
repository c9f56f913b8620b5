/* Cells: the space is parted, and each part has a model of its own; predictions are blended at the borders. */
#ifndef GRAM_LEARN_CELLS_CELLS_H
#define GRAM_LEARN_CELLS_CELLS_H

#include "learn/cells/cell_tree.h"
#include "method/method.h"

/* Are cells asked for? */
int gram_learning_wants_cells(const gram_learning *learning);

/* Plans, fits and keeps: learning->model is one of cells. For learning that is ready. */
gram_status gram_learning_fit_cells(gram_learning *learning);

enum { GRAM_MOST_CELLS = 1000 };

/* The name of the array that holds a part. */
enum { GRAM_CELL_NAME = 32 };
const char *gram_cell_name(int64_t cell, char name[GRAM_CELL_NAME]);

extern const gram_method gram_method_cells;

#endif
