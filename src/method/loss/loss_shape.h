/* Constraints of a fit, from rows that are bounds and from options such as `increasing`. */
#ifndef GRAM_METHOD_LOSS_LOSS_SHAPE_H
#define GRAM_METHOD_LOSS_LOSS_SHAPE_H

#include <gram/loss.h>

#include "method/method.h"

typedef struct gram_shape_settings {
    const char *increasing, *decreasing, *convex, *concave; /* lists of features, or NULL */
    int64_t rows;                                           /* where they are asked for; 0: chosen */
} gram_shape_settings;

/* Data and constraints together, and the data alone. Arrays are in the arena of the fit. */
typedef struct gram_shaped {
    gram_points *points; /* the caller releases both */
    gram_points *data;
    const double *y, *weights; /* of all rows; weights may be NULL */
    const gram_row_sense *senses;
    const double *data_y, *data_weights;
    const int64_t *data_groups; /* or NULL */
} gram_shaped;

/* Is anything of that asked for by options? */
int gram_shape_is_given(const gram_learning *learning);

/* How many rows there will be at most, constraints included: for plans. */
int64_t gram_shape_most_rows(const gram_learning *learning, const gram_shape_settings *settings);

/* Without any constraint the rows are those of the fit, and senses is NULL. */
gram_status gram_shape_make(gram_learning *learning, const gram_shape_settings *settings, gram_shaped *shaped);
void gram_shape_free(gram_shaped *shaped);

/* What was asked for, as texts. */
void gram_shape_keep(gram_keeper *keeper, const gram_shape_settings *settings);

#endif
