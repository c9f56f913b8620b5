/* intersection(): sum_l min(x_l, y_l) for non-negative vectors: what two histograms have in common. */
#include "kernel/coordinate_products.h"

static void coords(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, double *out)
{
    (void)shape;
    v->fill(block->rows * block->columns, 0, out);
    for (int i = 0; i < block->rows; i++) {
        double *row = out + i * block->columns;
        for (int64_t l = 0; l < block->d; l++) {
            const double x = gram_coords_x(block, l, i), *y = gram_coords_y(block, l);
            for (int j = 0; j < block->columns; j++) row[j] += x < y[j] ? x : y[j];
        }
    }
}

static void coords_slope(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, int i,
                         double *out)
{
    (void)v, (void)shape;
    for (int64_t l = 0; l < block->d; l++)
        for (int j = 0; j < block->columns; j++)
            out[l * block->columns + j] = gram_coords_step(gram_coords_x(block, l, i), gram_coords_y(block, l)[j]);
}

static const char *rough(const double *par)
{
    (void)par;
    return "its slopes jump where coordinates are equal";
}

static const char *domain_refuse(const double *par, double coordinate)
{
    (void)par;
    return coordinate < 0 ? "is negative" : NULL;
}

/* In one dimension it is min(), Brownian motion's. Else it sees the marginals only. */
static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)par;
    facts->positive_definite = GRAM_YES;
    facts->strictly = GRAM_NO; /* k(0, 0) = 0 */
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

const gram_kernel_type gram_kernel_intersection = {
    .name = "intersection",
    .formula = "sum_l min(x_l, y_l)",
    .form = GRAM_FORM_COORDS,
    .on_texts = &gram_kernel_set_intersection,
    .spec_count = 0,
    .facts = facts,
    .pinned = 1,
    .coords = coords,
    .coords_slope = coords_slope,
    .rough = rough,
    .domain_refuse = domain_refuse,
};
