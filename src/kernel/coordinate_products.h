/* What kernels of coordinates do to one row of a block: x_l of one point against y_l of many. */
#ifndef GRAM_KERNEL_COORDINATE_PRODUCTS_H
#define GRAM_KERNEL_COORDINATE_PRODUCTS_H

#include <math.h>

#include "kernel/kernel.h"

/* Rates and phases stop here, so that 0 times one of them is 0 and not NaN. */
#define GRAM_COORDS_MOST 1e300

/* A positive number of the kernel, 1 unless given; arguments: name, aliases. */
#define GRAM_POSITIVE_SPEC(called, ...)                                                                                \
    {                                                                                                                  \
        .name = (called), .role = GRAM_ROLE_SHAPE, .initial = NAN, .lower = 0, .lower_open = 1, .upper = INFINITY,     \
        .resolved = 1, .transform = GRAM_TRANSFORM_LOG, .aliases = {                                                   \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

/* A coordinate l of a block: x_l of row i, and the y_l. */
static inline double gram_coords_x(const gram_coords_block *block, int64_t l, int i)
{
    return block->x[l * block->ld + i];
}

static inline const double *gram_coords_y(const gram_coords_block *block, int64_t l)
{
    return block->y + l * block->ld;
}

/* d/dx min(x, y): 1 below y, 0 above, 1/2 at y */
static inline double gram_coords_step(double x, double y)
{
    return x < y ? 1 : x > y ? 0 : 0.5;
}

/* turns_j = (x - y_j)/period without its whole part, in [-1/2, 1/2]; odd in x - y bit for bit. Taken off before
 * multiplying by pi: what is left of a long way is as exact as (x - y)/period is. From 2^52 periods on all are whole. */
static inline void gram_coords_turns(int n, double x, double period, const double *y, double *turns)
{
    const double round = 0x1.8p52, whole = 0x1p52;
    for (int j = 0; j < n; j++) {
        double u = (x - y[j]) / period;
        u = u > whole ? whole : u;
        u = u < -whole ? -whole : u;
        turns[j] = u - ((u + round) - round);
    }
}

/* out[l * columns + j] = dk(x_i, y_j)/dx_l for all coordinates l: O(d) a pair, for products over coordinates too. `work` is
 * scratch of d * columns numbers. */
void gram_coords_slopes(const gram_vecmath_f64 *v, const gram_kernel_type *type, const gram_shape *shape,
                        const gram_coords_block *block, int i, double *work, double *out);

/* The factors of all coordinates of row i and their derivatives: arrays of d * columns numbers. */
void gram_coords_factors(const gram_vecmath_f64 *v, const gram_kernel_type *type, const gram_shape *shape,
                         const gram_coords_block *block, int i, const gram_coords_factor *all);

/* out_l *= the product of all factors but number l; d rows of n numbers each */
void gram_coords_multiply_others(const gram_vecmath_f64 *v, int64_t d, int n, const double *f, double *out);

/* out[m * n + j] = d2k/dx_l dy_m for all m. all->f is changed meanwhile. */
void gram_coords_mixed(const gram_vecmath_f64 *v, int64_t d, int n, const gram_coords_factor *all, int64_t l,
                       double *out);

/* The derivative of a product, one factor at a time: slope = slope f + product f', then product = product f. */
static inline void gram_coords_product_rule(const gram_vecmath_f64 *v, int n, const double *factor,
                                            double *factor_slope, double *product, double *slope)
{
    v->multiply(n, factor, slope);
    v->multiply(n, product, factor_slope);
    v->add(n, factor_slope, slope);
    v->multiply(n, factor, product);
}

#endif
