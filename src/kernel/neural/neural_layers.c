/* nngp and ntk: one row of pairs through the layers, without cancellation where points are nearly parallel. neural.c has the formulas. */
#include "kernel/neural/neural_layers.h"

#include <math.h>
#include <string.h>

#include "kernel/coordinate_products.h"

gram_neural gram_neural_of(const gram_shape *shape, int tangent)
{
    const double *par = shape->par;
    return (gram_neural){.depth = (int)par[GRAM_NEURAL_DEPTH],
                         .act = (int)par[GRAM_NEURAL_ACT],
                         .tangent = tangent,
                         .w2 = par[GRAM_NEURAL_SW] * par[GRAM_NEURAL_SW],
                         .b2 = par[GRAM_NEURAL_SB] * par[GRAM_NEURAL_SB],
                         .input = par[GRAM_NEURAL_SW] * par[GRAM_NEURAL_SW] / par[GRAM_NEURAL_FAN]};
}

/* ---- single points ---- */

/* Added to what is 0 only where a point is, so that it can be divided without a branch. */
static const double TINY = 1e-300;

static gram_neural_point point_of(double b2, double part)
{
    const double square = b2 + part, root = sqrt(square);
    return (gram_neural_point){.square = square, .part = sqrt(part), .root = root, .inverse = root / (square + TINY)};
}

/* The same of all columns, from the parts that are there */
static void finish_columns(double b2, const gram_vecmath_f64 *v, gram_neural_columns *y)
{
    memcpy(y->before, y->square, sizeof y->before);
    v->affine(y->n, 1, b2, y->part, y->square);
    v->sqrt_scaled(y->n, 1, INFINITY, y->part, y->part);
    v->sqrt_scaled(y->n, 1, INFINITY, y->square, y->root);
    for (int j = 0; j < y->n; j++) y->inverse[j] = y->root[j] / (y->square[j] + TINY);
}

void gram_neural_columns_begin(const gram_neural *net, const gram_vecmath_f64 *v, const gram_coords_block *block,
                               gram_neural_columns *y)
{
    y->n = block->columns;
    for (int j = 0; j < y->n; j++) {
        const double norm = block->y_norms[j];
        y->norm_inverse[j] = norm > 0 ? 1 / sqrt(norm) : 0;
        y->part[j] = net->input * norm;
        y->square[j] = 0;
    }
    finish_columns(net->b2, v, y);
}

/* What E of a point with itself is 2/pi times the arc tangent of. */
static inline double erf_square_tangent(double s)
{
    return 2 * s / sqrt(1 + 4 * s);
}

/* The parts of the next layer: relu halves S, erf has its arc tangent */
static void next_parts(const gram_neural *net, const gram_vecmath_f64 *v, int n, const double *square, double *part)
{
    v->affine(n, 0.5 * net->w2, 0, square, part);
    if (net->act == GRAM_NEURAL_RELU) return;
    for (int j = 0; j < n; j++) part[j] = erf_square_tangent(square[j]);
    v->atan(n, part, part);
    v->affine(n, net->w2 * (2 / GRAM_NEURAL_PI), 0, part, part);
}

void gram_neural_columns_next(const gram_neural *net, const gram_vecmath_f64 *v, gram_neural_columns *y)
{
    next_parts(net, v, y->n, y->square, y->part);
    finish_columns(net->b2, v, y);
}

/* By the same functions as the columns, so that k(x,y) = k(y,x) */
static gram_neural_point next_point(const gram_neural *net, const gram_vecmath_f64 *v, const gram_neural_point *x)
{
    _Alignas(64) double square[GRAM_LANES], part[GRAM_LANES];
    v->fill(GRAM_LANES, x->square, square);
    next_parts(net, v, GRAM_LANES, square, part);
    gram_neural_point next = point_of(net->b2, part[0]);
    next.before = x->square;
    return next;
}

/* ---- the angle of two points ---- */

/* cosines beyond this one are made again */
static const double NEARLY_PARALLEL = 0.9995;

/* 1 - |cos t| from x/|x| - y/|y|, or their sum: exactly 0 for equal points */
static double careful_deficit(const gram_coords_block *block, int i, int j, double x_inverse, double y_inverse,
                              double cosine)
{
    const double sign = cosine > 0 ? -1 : 1;
    double sum = 0;
    for (int64_t l = 0; l < block->d; l++) {
        const double part = gram_coords_x(block, l, i) * x_inverse + sign * (gram_coords_y(block, l)[j] * y_inverse);
        sum += part * part;
    }
    return 0.5 * sum;
}

/* minus and rest = 1 - cos and 1 + cos of row i with all columns; a right angle with a point that is 0 */
static void row_angles(const gram_vecmath_f64 *v, const gram_coords_block *block, const gram_neural_columns *y, int i,
                       gram_neural_row *s)
{
    const double x_norm = block->x_norms[i], x_inverse = x_norm > 0 ? 1 / sqrt(x_norm) : 0;
    const double *dots = block->dots + i * block->columns;
    const double largest = v->arc_cosines(y->n, x_inverse, y->norm_inverse, dots, s->minus, s->rest);
    for (int j = 0; j < y->n && largest > NEARLY_PARALLEL; j++) {
        const double cosine = dots[j] * (x_inverse * y->norm_inverse[j]);
        if (fabs(cosine) <= NEARLY_PARALLEL) continue;
        const double near = careful_deficit(block, i, j, x_inverse, y->norm_inverse[j], cosine);
        s->minus[j] = cosine > 0 ? near : 2 - near;
        s->rest[j] = cosine > 0 ? 2 - near : near;
    }
}

/* ---- one row through the layers ---- */

static gram_arc_layer arc_layer_of(const gram_neural *net, const gram_neural_columns *y, const gram_neural_point *x)
{
    return (gram_arc_layer){.b2 = net->b2,
                            .w2 = net->w2,
                            .part = x->part,
                            .root = x->root,
                            .inverse = x->inverse,
                            .y_part = y->part,
                            .y_root = y->root,
                            .y_inverse = y->inverse};
}

/* From the angles of the points themselves to those with the bias, or to det S */
void gram_neural_begin(const gram_neural *net, const gram_vecmath_f64 *v, const gram_coords_block *block,
                       const gram_neural_columns *y, int i, gram_neural_row *s)
{
    const double b2 = net->b2;
    s->x = point_of(b2, net->input * block->x_norms[i]);
    row_angles(v, block, y, i, s);
    if (net->act == GRAM_NEURAL_RELU) {
        const gram_arc_layer layer = arc_layer_of(net, y, &s->x);
        v->arc_begin(y->n, &layer, s->minus, s->rest, s->xy, s->t);
        return;
    }
    for (int j = 0; j < y->n; j++) {
        const double minus = s->minus[j], plus = s->rest[j], g = s->x.part * y->part[j];
        const double difference = s->x.part - y->part[j];
        s->xy[j] = s->t[j] = b2 + g * (minus < plus ? 1 - minus : plus - 1);
        s->rest[j] = b2 * (difference * difference + 2 * g * minus) + g * g * (minus * plus);
    }
}

static void erf_layer(const gram_neural *net, const gram_vecmath_f64 *v, const gram_neural_columns *y,
                      gram_neural_row *s)
{
    _Alignas(64) double work[GRAM_BLOCK_COLUMNS], slope[GRAM_BLOCK_COLUMNS];
    for (int j = 0; j < y->n; j++) {
        const double r = sqrt(1 + 2 * (s->x.before + y->before[j]) + 4 * s->rest[j]);
        work[j] = 2 * s->xy[j] / r;
        slope[j] = 4 / (GRAM_NEURAL_PI * r);
    }
    v->atan(y->n, work, work);
    for (int j = 0; j < y->n; j++) {
        s->xy[j] = net->b2 + net->w2 * (2 / GRAM_NEURAL_PI) * work[j];
        s->t[j] = s->xy[j] + net->w2 * s->t[j] * slope[j];
        s->rest[j] = fmax(0, s->x.square * y->square[j] - s->xy[j] * s->xy[j]);
    }
}

static void relu_layer(const gram_neural *net, const gram_vecmath_f64 *v, const gram_neural_columns *y,
                       gram_neural_row *s)
{
    const gram_arc_layer layer = arc_layer_of(net, y, &s->x);
    v->arc_layer(y->n, &layer, s->minus, s->rest, s->xy, s->t);
}

void gram_neural_layer(const gram_neural *net, const gram_vecmath_f64 *v, const gram_neural_columns *y,
                       gram_neural_row *s)
{
    s->x = next_point(net, v, &s->x);
    (net->act == GRAM_NEURAL_RELU ? relu_layer : erf_layer)(net, v, y, s);
}

/* ---- for derivatives ---- */

gram_neural_angle gram_neural_angle_of(double minus, double plus)
{
    const double near = 2 * asin(sqrt(0.5 * fmin(minus, plus))),
                 supplement = minus > plus ? near : GRAM_NEURAL_PI - near;
    return (gram_neural_angle){.cosine = minus > plus ? plus - 1 : 1 - minus,
                               .sine = sqrt(minus * plus),
                               .slope = supplement * (0.5 / GRAM_NEURAL_PI)};
}

double gram_neural_erf_square(double s)
{
    return 2 / GRAM_NEURAL_PI * atan(erf_square_tangent(s));
}

double gram_neural_erf_square_rate(double s)
{
    return 4 / (GRAM_NEURAL_PI * (1 + 2 * s) * sqrt(1 + 4 * s));
}
