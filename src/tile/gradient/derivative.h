/* Between the two files of the second derivatives: one row of pairs (derivative_row.c), all of them (derivative.c). */
#ifndef GRAM_TILE_GRADIENT_DERIVATIVE_H
#define GRAM_TILE_GRADIENT_DERIVATIVE_H

#include "kernel/coordinate_products.h"
#include "tile/engine.h"

/* k(x_i, y_j) of one x_i and a panel of y_j, and its derivatives by the stored columns: rows of GRAM_PANEL numbers, one
 * after the other in memory. */
typedef struct gram_jet {
    double *value;
    double *x, *y;  /* d rows each: dk/dx_l, dk/dy_l */
    double *second; /* d2k/dx_l dy_m in row l * d + m, or one row, their sum over l = m */
} gram_jet;

/* What the derivatives of a node need and no pair changes. */
typedef struct gram_jet_plan {
    /* leaf: du/dx, mapping.d x source_count, u being the packed coordinates; NULL: they are the columns themselves */
    const double *jacobian;
    const double *products; /* with a jacobian J: J J' (coordinates) or d2z/dx dy' = c J' W J (squared distance, x.y) */
    double trace;           /* of d2z/dx dy' */
    /* normalize, centre: row i is the gradient of the log of the factor of point i, or of its term; d numbers each */
    const double *row, *column;
} gram_jet_plan;

typedef struct gram_deriving {
    const gram_engine *engine;
    const gram_derivatives *out;
    int64_t d;
    int64_t second_rows;   /* d * d or 1 */
    int64_t widest_coords; /* columns of a form of coordinates */
    size_t engine_scratch; /* a thread's own memory lies after it */
    gram_arena arena;      /* of the plans */
    gram_jet_plan *plans;  /* one for each node */
} gram_deriving;

/* A thread's memory, and which row it is at. */
typedef struct gram_jet_work {
    gram_strip *strip;
    double *forms;                        /* one strip for each form */
    double *values, *slopes, *curvatures; /* one strip for each node; leaves with a form use them */
    double *jets;                         /* engine->slot_count of them */
    gram_coords_factor factors;           /* widest_coords rows each */
    double *rows;                         /* as many */
    int row;                              /* of the strip */
} gram_jet_work;

/* Checks that the engine's kernel has second derivatives and makes the plans; engine, out and an empty arena are set, and
 * the caller releases the arena. x and y are the engine's points. */
gram_status gram_deriving_plan(gram_context *context, gram_deriving *job, const gram_points *x, const gram_points *y);

/* Lays a thread's memory out after the engine's scratch at `base` and returns the size of both. */
size_t gram_jet_layout(const gram_deriving *job, char *base, gram_jet_work *work);

/* Forms and profiles of the strip where work->strip is. */
void gram_jet_strip(const gram_deriving *job, gram_jet_work *work);

/* The kernel and its derivatives for one row of that strip. */
gram_jet gram_jet_row(const gram_deriving *job, gram_jet_work *work, int row);

#endif
