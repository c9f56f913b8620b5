/* Between the files of nngp and ntk: a row of pairs on its way through the layers. See neural.c for the formulas. */
#ifndef GRAM_KERNEL_NEURAL_NEURAL_LAYERS_H
#define GRAM_KERNEL_NEURAL_NEURAL_LAYERS_H

#include "kernel/kernel.h"

enum { GRAM_NEURAL_DEPTH, GRAM_NEURAL_ACT, GRAM_NEURAL_SW, GRAM_NEURAL_SB, GRAM_NEURAL_FAN, GRAM_NEURAL_SPECS };
enum { GRAM_NEURAL_RELU, GRAM_NEURAL_ERF };

#define GRAM_NEURAL_PI 3.14159265358979323846

typedef struct gram_neural {
    int depth, act, tangent; /* tangent: ntk */
    double w2, b2;           /* sw^2, sb^2 */
    double input;            /* sw^2/fan */
} gram_neural;

gram_neural gram_neural_of(const gram_shape *shape, int tangent);

/* What a layer makes of single points, x or y: S = (part of the layer below) + sb^2. */
typedef struct gram_neural_point {
    double square, before; /* S, and that of the layer below */
    double part, root;     /* the roots of the part and of S */
    double inverse;        /* 1/root, 0 for 0 */
} gram_neural_point;

/* The same of a block's points y. */
typedef struct gram_neural_columns {
    _Alignas(64) double square[GRAM_BLOCK_COLUMNS];
    double before[GRAM_BLOCK_COLUMNS], part[GRAM_BLOCK_COLUMNS];
    double root[GRAM_BLOCK_COLUMNS], inverse[GRAM_BLOCK_COLUMNS];
    double norm_inverse[GRAM_BLOCK_COLUMNS]; /* 1/|y|, 0 for y = 0 */
    int n;
} gram_neural_columns;

/* At layer 0, and at the next one. */
void gram_neural_columns_begin(const gram_neural *net, const gram_vecmath_f64 *v, const gram_coords_block *block,
                               gram_neural_columns *y);
void gram_neural_columns_next(const gram_neural *net, const gram_vecmath_f64 *v, gram_neural_columns *y);

/* One point x against all y. */
typedef struct gram_neural_row {
    _Alignas(64) double xy[GRAM_BLOCK_COLUMNS]; /* S(x,y) */
    double t[GRAM_BLOCK_COLUMNS];               /* T(x,y) */
    double minus[GRAM_BLOCK_COLUMNS];           /* relu: 1 - cos t */
    double rest[GRAM_BLOCK_COLUMNS];            /* relu: 1 + cos t; erf: det S */
    gram_neural_point x;
} gram_neural_row;

/* Row i of the block at layer 0; then the step to the layer where the columns are already. */
void gram_neural_begin(const gram_neural *net, const gram_vecmath_f64 *v, const gram_coords_block *block,
                       const gram_neural_columns *y, int i, gram_neural_row *s);
void gram_neural_layer(const gram_neural *net, const gram_vecmath_f64 *v, const gram_neural_columns *y,
                       gram_neural_row *s);

/* Angles from 1 - cos t and 1 + cos t, as exact near 0 as near pi. */
typedef struct gram_neural_angle {
    double cosine, sine;
    double slope; /* E' = (pi - t)/(2 pi) */
} gram_neural_angle;
gram_neural_angle gram_neural_angle_of(double minus, double plus);

/* E of a point with itself under erf, and how it changes with S. */
double gram_neural_erf_square(double s);
double gram_neural_erf_square_rate(double s);

/* The derivatives of row i, first and second (neural_jet.c); of relu's nngp and of erf. */
void gram_neural_jet(const gram_neural *net, const gram_vecmath_f64 *v, const gram_coords_block *block, int i,
                     gram_plane_jet *out);

#endif
