/* Derivatives of products over coordinates, k = prod_l f_l(x_l, y_l).
 *
 * dk/dx_l is f_l' times all other factors. These are collected in two passes, from the left and from the right, because a
 * division of k by f_l fails where f_l is 0. Second derivatives are slopes of the same product with f_l' in it. */
#include "kernel/coordinate_products.h"

#include <string.h>

void gram_coords_multiply_others(const gram_vecmath_f64 *v, int64_t d, int n, const double *f, double *out)
{
    _Alignas(64) double product[GRAM_BLOCK_COLUMNS];
    v->fill(n, 1, product);
    for (int64_t l = 0; l < d; l++) {
        v->multiply(n, product, out + l * n);
        v->multiply(n, f + l * n, product);
    }
    v->fill(n, 1, product);
    for (int64_t l = d - 1; l >= 0; l--) {
        v->multiply(n, product, out + l * n);
        v->multiply(n, f + l * n, product);
    }
}

void gram_coords_factors(const gram_vecmath_f64 *v, const gram_kernel_type *type, const gram_shape *shape,
                         const gram_coords_block *block, int i, const gram_coords_factor *all)
{
    for (int64_t l = 0; l < block->d; l++) {
        const int64_t at = l * block->columns;
        const gram_coords_factor one = {all->f + at, all->by_x + at, all->by_y ? all->by_y + at : NULL,
                                        all->by_both ? all->by_both + at : NULL};
        type->coords_factor(v, shape, block->columns, gram_coords_x(block, l, i), gram_coords_y(block, l), &one);
    }
}

void gram_coords_slopes(const gram_vecmath_f64 *v, const gram_kernel_type *type, const gram_shape *shape,
                        const gram_coords_block *block, int i, double *work, double *out)
{
    const int n = block->columns;
    if (type->coords_slope) {
        type->coords_slope(v, shape, block, i, out);
        return;
    }
    gram_coords_factors(v, type, shape, block, i, &(gram_coords_factor){.f = work, .by_x = out});
    gram_coords_multiply_others(v, block->d, n, work, out);
}

/* With f_l' = df_l/dx instead of f_l, and d2f_l/dx dy instead of df_l/dy, it is a derivative by y like any other. */
void gram_coords_mixed(const gram_vecmath_f64 *v, int64_t d, int n, const gram_coords_factor *all, int64_t l,
                       double *out)
{
    _Alignas(64) double kept[GRAM_BLOCK_COLUMNS];
    const size_t row = (size_t)n * sizeof(double);
    memcpy(kept, all->f + l * n, row);
    memcpy(all->f + l * n, all->by_x + l * n, row);
    memcpy(out, all->by_y, (size_t)d * row);
    memcpy(out + l * n, all->by_both + l * n, row);
    gram_coords_multiply_others(v, d, n, all->f, out);
    memcpy(all->f + l * n, kept, row);
}
