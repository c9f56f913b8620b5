/* min(o): the product over coordinates of min(x_l, y_l) - o, for points at or above the origin o: the covariance of
 * Brownian motion started at o (the Brownian sheet in R^d). */
#include <math.h>

#include "kernel.h"

enum { O };

static void coords(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, double *out)
{
    v->fill(block->rows * block->columns, 1, out);
    for (int64_t l = 0; l < block->d; l++)
        for (int i = 0; i < block->rows; i++)
            v->multiply_min(block->columns, block->x[l * block->ld + i], shape->par[O], block->y + l * block->ld,
                            out + i * block->columns);
}

/* d/dx min(x, y): 1 below y, 0 above, 1/2 at y */
static double step(double x, double y)
{
    return x < y ? 1 : x > y ? 0 : 0.5;
}

static void coords_slope(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, int64_t l,
                         double *out)
{
    for (int i = 0; i < block->rows; i++) {
        double *row = out + i * block->columns;
        for (int j = 0; j < block->columns; j++)
            row[j] = step(block->x[l * block->ld + i], block->y[l * block->ld + j]);
        for (int64_t other = 0; other < block->d; other++)
            if (other != l)
                v->multiply_min(block->columns, block->x[other * block->ld + i], shape->par[O],
                                block->y + other * block->ld, row);
    }
}

static double domain_lower(const double *par)
{
    return par[O];
}

static void facts(const double *par, int64_t d, gram_facts *facts)
{
    (void)par;
    facts->positive_definite = GRAM_YES;
    facts->strictly = GRAM_NO; /* k(o, o) = 0 */
    facts->stationary = GRAM_NO;
    facts->isotropic = GRAM_NO;
    facts->universal = GRAM_NO;
    facts->characteristic = d == 1 ? GRAM_YES : GRAM_NO;
    facts->continuous = GRAM_YES;
    facts->bounded_below = GRAM_NO;
    facts->rank = GRAM_INFINITE;
    facts->derivatives = 0;
    facts->sobolev_order = d == 1 ? 1 : NAN;
}

const gram_kernel_type gram_kernel_min = {
    .name = "min",
    .formula = "product over l of min(x_l, y_l) - o",
    .form = GRAM_FORM_COORDS,
    .spec_count = 1,
    .specs = {{.name = "o", .role = GRAM_ROLE_STRUCTURE, .initial = 0, .lower = -INFINITY, .upper = INFINITY}},
    .facts = facts,
    .coords = coords,
    .coords_slope = coords_slope,
    .domain_lower = domain_lower,
};
