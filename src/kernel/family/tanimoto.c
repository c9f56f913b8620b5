/* tanimoto(): x.y/(|x|^2 + |y|^2 - x.y), k(0, 0) = 1; on vectors of 0 and 1 the Jaccard index, the size of the
 * intersection over that of the union.
 *
 * Positive definite on all of R^d: with N = |x|^2 + |y|^2 >= 2 |x.y| it is sum_(q >= 1) (x.y)^q/N^q, and
 * 1/N^q = int_0^inf s^(q-1) e^(-s |x|^2) e^(-s |y|^2) ds/(q-1)! is a kernel; 0 is orthogonal to all else.
 *
 * The kernel does not change with the scale of both points, but squares overflow and vanish: pairs whose N is out of
 * range are computed once more, with their largest coordinate as the unit. */
#include "kernel/coordinate_products.h"

static const double N_LEAST = 1e-280, N_MOST = 1e280;

/* |x|^2 + |y|^2 and x.y in units of unit^2 */
typedef struct sums {
    double squares, dot, unit;
} sums;

static double largest_coordinate(const gram_coords_block *block, int i, int j)
{
    double largest = 0;
    for (int64_t l = 0; l < block->d; l++)
        largest = fmax(largest, fmax(fabs(gram_coords_x(block, l, i)), fabs(gram_coords_y(block, l)[j])));
    return largest;
}

/* unit = 0 if both points are 0 */
static sums careful_sums(const gram_coords_block *block, int i, int j)
{
    sums s = {0, 0, largest_coordinate(block, i, j)};
    double x_square = 0, y_square = 0;
    for (int64_t l = 0; l < block->d && s.unit > 0; l++) {
        const double x = gram_coords_x(block, l, i) / s.unit, y = gram_coords_y(block, l)[j] / s.unit;
        x_square += x * x;
        y_square += y * y;
        s.dot += x * y;
    }
    s.squares = x_square + y_square;
    return s;
}

static void y_squares(const gram_coords_block *block, double *out)
{
    for (int j = 0; j < block->columns; j++) out[j] = 0;
    for (int64_t l = 0; l < block->d; l++) {
        const double *y = gram_coords_y(block, l);
        for (int j = 0; j < block->columns; j++) out[j] += y[j] * y[j];
    }
}

/* squares_j += |x_i|^2, dots_j = x_i.y_j: in the same order, so that both are equal for equal points */
static void row_sums(const gram_coords_block *block, int i, double *squares, double *dots)
{
    double square = 0;
    for (int j = 0; j < block->columns; j++) dots[j] = 0;
    for (int64_t l = 0; l < block->d; l++) {
        const double x = gram_coords_x(block, l, i), *y = gram_coords_y(block, l);
        square += x * x;
        for (int j = 0; j < block->columns; j++) dots[j] += x * y[j];
    }
    for (int j = 0; j < block->columns; j++) squares[j] += square;
}

static int in_range(double squares)
{
    return squares > N_LEAST && squares < N_MOST;
}

static double careful_value(const gram_coords_block *block, int i, int j)
{
    const sums s = careful_sums(block, i, j);
    return s.unit > 0 ? s.dot / (s.squares - s.dot) : 1;
}

static void coords(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, double *out)
{
    _Alignas(64) double norms[GRAM_BLOCK_COLUMNS], squares[GRAM_BLOCK_COLUMNS];
    (void)shape;
    y_squares(block, norms);
    for (int i = 0; i < block->rows; i++) {
        double *row = out + i * block->columns;
        int all = 1;
        v->affine(block->columns, 1, 0, norms, squares);
        row_sums(block, i, squares, row);
        for (int j = 0; j < block->columns; j++) {
            all &= in_range(squares[j]);
            row[j] /= squares[j] - row[j];
        }
        for (int j = 0; j < block->columns && !all; j++)
            if (!in_range(squares[j])) row[j] = careful_value(block, i, j);
    }
}

/* (y_l N - 2 x.y x_l)/(N - x.y)^2; 0 between points that are both 0, where there is none */
static double slope_at(const sums *s, double x, double y)
{
    if (!(s->unit > 0)) return 0;
    const double below = s->squares - s->dot;
    return (y / s->unit * s->squares - 2 * s->dot * (x / s->unit)) / below / below / s->unit;
}

static void coords_slope(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, int i,
                         double *out)
{
    _Alignas(64) double squares[GRAM_BLOCK_COLUMNS], dots[GRAM_BLOCK_COLUMNS];
    const int n = block->columns;
    (void)v, (void)shape;
    y_squares(block, squares);
    row_sums(block, i, squares, dots);
    for (int j = 0; j < n; j++) {
        const sums s = in_range(squares[j]) ? (sums){squares[j], dots[j], 1} : careful_sums(block, i, j);
        for (int64_t l = 0; l < block->d; l++)
            out[l * n + j] = slope_at(&s, gram_coords_x(block, l, i), gram_coords_y(block, l)[j]);
    }
}

static const char *rough(const double *par)
{
    (void)par;
    return "there is none where a point is 0";
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)par, (void)d;
    facts->positive_definite = GRAM_YES;
    facts->stationary = GRAM_NO;
    facts->isotropic = GRAM_NO;
    facts->continuous = GRAM_NO; /* k(x, x) = 1, but k(x, 0) = 0 */
    facts->bounded_below = GRAM_YES;
    facts->constant_diagonal = GRAM_YES;
    facts->rank = GRAM_INFINITE;
    facts->derivatives = 0;
    facts->sobolev_order = NAN;
}

const gram_kernel_type gram_kernel_tanimoto = {
    .name = "tanimoto",
    .formula = "x.y/(|x|^2 + |y|^2 - x.y)",
    .form = GRAM_FORM_COORDS,
    .on_texts = &gram_kernel_set_tanimoto,
    .on_sparse = &gram_kernel_sparse_tanimoto,
    .spec_count = 0,
    .facts = facts,
    .coords = coords,
    .coords_slope = coords_slope,
    .rough = rough,
};
