/* min(o): the product over coordinates of min(x_l, y_l) - o, for points at or above the origin o: the covariance of
 * Brownian motion started at o (the Brownian sheet in R^d). */
#include "kernel/coordinate_products.h"

enum { O };

static void coords(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, double *out)
{
    v->fill(block->rows * block->columns, 1, out);
    for (int64_t l = 0; l < block->d; l++)
        for (int i = 0; i < block->rows; i++)
            v->multiply_min(block->columns, block->x[l * block->ld + i], shape->par[O], block->y + l * block->ld,
                            out + i * block->columns);
}

static void coords_factor(const gram_vecmath_f64 *v, const gram_shape *shape, int n, double x, const double *y,
                          const gram_coords_factor *out)
{
    (void)v;
    for (int j = 0; j < n; j++) {
        out->f[j] = (x < y[j] ? x : y[j]) - shape->par[O];
        out->by_x[j] = gram_coords_step(x, y[j]);
    }
}

static const char *rough(const double *par)
{
    (void)par;
    return "its slopes jump where coordinates are equal";
}

static double domain_lower(const double *par)
{
    return par[O];
}

static void facts(const double *par, int64_t d, gram_properties *facts)
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
    facts->draws_in_space = GRAM_NO;
    facts->draw_smoothness = 0.5;
    facts->sobolev_order = d == 1 ? 1 : NAN;
}

const gram_kernel_type gram_kernel_min = {
    .name = "min",
    .formula = "product over l of min(x_l, y_l) - o",
    .form = GRAM_FORM_COORDS,
    .spec_count = 1,
    .specs = {{.name = "o", .role = GRAM_ROLE_STRUCTURE, .initial = 0, .lower = -INFINITY, .upper = INFINITY}},
    .facts = facts,
    .pinned = 1,
    .coords = coords,
    .coords_factor = coords_factor,
    .rough = rough,
    .domain_lower = domain_lower,
};
