/* cosine(p): the product over coordinates of cos(2 pi t_l/p), t = x - y. Of rank 2^d, since
 * cos(a - b) = cos a cos b + sin a sin b. */
#include "kernel/coordinate_products.h"

enum { P };

static const double TWO_PI = 0x1.921fb54442d18p2;

/* out = 2 pi (x - y)/p without whole turns */
static void angles(const gram_vecmath_f64 *v, double p, int n, double x, const double *y, double *out)
{
    gram_coords_turns(n, x, p, y, out);
    v->affine(n, TWO_PI, 0, out, out);
}

static void coords_factor(const gram_vecmath_f64 *v, const gram_shape *shape, int n, double x, const double *y,
                          const gram_coords_factor *out)
{
    const double rate = TWO_PI / shape->par[P];
    angles(v, shape->par[P], n, x, y, out->f);
    v->sin(n, out->f, out->by_x);
    v->cos(n, out->f, out->f);
    v->affine(n, -rate, 0, out->by_x, out->by_x);
    if (!out->by_y) return;
    v->affine(n, -1, 0, out->by_x, out->by_y);
    v->affine(n, rate * rate, 0, out->f, out->by_both);
}

static void coords(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, double *out)
{
    _Alignas(64) double row[GRAM_BLOCK_COLUMNS];
    v->fill(block->rows * block->columns, 1, out);
    for (int i = 0; i < block->rows; i++)
        for (int64_t l = 0; l < block->d; l++) {
            angles(v, shape->par[P], block->columns, gram_coords_x(block, l, i), gram_coords_y(block, l), row);
            v->cos(block->columns, row, row);
            v->multiply(block->columns, row, out + i * block->columns);
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
            coords_factor(v, shape, block->columns, x, y, &(gram_coords_factor){.f = row, .by_x = slope});
            for (int j = 0; j < block->columns; j++) slope[j] *= (y[j] - x) / p;
            gram_coords_product_rule(v, block->columns, row, slope, product, out + i * block->columns);
        }
    }
}

/* (2 pi/p)^q cos(2 pi t/p + q pi/2), q = by_x + by_y, with a sign for each derivative by y */
static void coords_derivative(const gram_vecmath_f64 *v, const gram_shape *shape, int by_x, int by_y, int n, double x,
                              const double *y, double *out)
{
    const int q = by_x + by_y;
    double front = (by_y % 2 ? -1 : 1) * ((q + 1) / 2 % 2 ? -1 : 1);
    for (int j = 0; j < q; j++) front *= TWO_PI / shape->par[P];
    angles(v, shape->par[P], n, x, y, out);
    (q % 2 ? v->sin : v->cos)(n, out, out);
    v->affine(n, front, 0, out, out);
}

static void facts(const double *par, int64_t d, gram_properties *facts)
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
    facts->draws_in_space = GRAM_YES; /* 2^d, however large, is finite */
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
    .coords_factor = coords_factor,
    .coords_derivative = coords_derivative,
    .coords_parameter_slope = coords_parameter_slope,
};
