/* cosine(p): the product over coordinates of cos(2 pi t_l/p), t = x - y. Of rank 2^d, since
 * cos(a - b) = cos a cos b + sin a sin b. */
#include "coords.h"

enum { P };

static const double TWO_PI = 0x1.921fb54442d18p2;

/* out = cos(2 pi t_l/p) of row i */
static void factor(const gram_vecmath_f64 *v, double p, const gram_coords_block *block, int64_t l, int i, double *out)
{
    gram_coords_turns(block->columns, gram_coords_x(block, l, i), p, gram_coords_y(block, l), out);
    v->affine(block->columns, TWO_PI, 0, out, out);
    v->cos(block->columns, out, out);
}

/* out = -(2 pi/p) sin(2 pi t_l/p) of row i */
static void factor_slope(const gram_vecmath_f64 *v, double p, const gram_coords_block *block, int64_t l, int i,
                         double *out)
{
    gram_coords_turns(block->columns, gram_coords_x(block, l, i), p, gram_coords_y(block, l), out);
    v->affine(block->columns, TWO_PI, 0, out, out);
    v->sin(block->columns, out, out);
    v->affine(block->columns, -TWO_PI / p, 0, out, out);
}

static void coords(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, double *out)
{
    _Alignas(64) double row[GRAM_BLOCK_COLUMNS];
    v->fill(block->rows * block->columns, 1, out);
    for (int i = 0; i < block->rows; i++)
        for (int64_t l = 0; l < block->d; l++) {
            factor(v, shape->par[P], block, l, i, row);
            v->multiply(block->columns, row, out + i * block->columns);
        }
}

static void coords_slope(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, int64_t l,
                         double *out)
{
    _Alignas(64) double row[GRAM_BLOCK_COLUMNS];
    for (int i = 0; i < block->rows; i++) {
        factor_slope(v, shape->par[P], block, l, i, out + i * block->columns);
        for (int64_t other = 0; other < block->d; other++) {
            if (other == l) continue;
            factor(v, shape->par[P], block, other, i, row);
            v->multiply(block->columns, row, out + i * block->columns);
        }
    }
}

/* A factor's derivative by p is that by t_l, times -t_l/p. */
static void coords_parameter_slope(const gram_vecmath_f64 *v, const gram_shape *shape, int spec,
                                   const gram_coords_block *block, double *out)
{
    _Alignas(64) double row[GRAM_BLOCK_COLUMNS], slope[GRAM_BLOCK_COLUMNS], product[GRAM_BLOCK_COLUMNS];
    const double p = shape->par[spec];
    v->fill(block->rows * block->columns, 0, out);
    for (int i = 0; i < block->rows; i++) {
        v->fill(block->columns, 1, product);
        for (int64_t l = 0; l < block->d; l++) {
            const double x = gram_coords_x(block, l, i), *y = gram_coords_y(block, l);
            factor(v, p, block, l, i, row);
            factor_slope(v, p, block, l, i, slope);
            for (int j = 0; j < block->columns; j++) slope[j] *= (y[j] - x) / p;
            gram_coords_product_rule(v, block->columns, row, slope, product, out + i * block->columns);
        }
    }
}

static void facts(const double *par, int64_t d, gram_facts *facts)
{
    (void)par;
    facts->positive_definite = GRAM_YES;
    facts->strictly = GRAM_NO;
    facts->stationary = GRAM_YES;
    facts->isotropic = d == 1 ? GRAM_YES : GRAM_NO;
    facts->universal = GRAM_NO;
    facts->characteristic = GRAM_NO;
    facts->continuous = GRAM_YES;
    facts->bounded_below = GRAM_YES;
    facts->rank = d < 62 ? (int64_t)1 << d : GRAM_INFINITE;
    facts->derivatives = GRAM_INFINITE;
    facts->sobolev_order = NAN;
}

const gram_kernel_type gram_kernel_cosine = {
    .name = "cosine",
    .formula = "product over l of cos(2 pi (x_l - y_l)/p)",
    .form = GRAM_FORM_COORDS,
    .spec_count = 1,
    .specs = {GRAM_POSITIVE_SPEC("p", {"period", NULL})},
    .facts = facts,
    .coords = coords,
    .coords_slope = coords_slope,
    .coords_parameter_slope = coords_parameter_slope,
};
