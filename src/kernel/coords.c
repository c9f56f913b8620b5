/* Derivatives of products over coordinates, k = prod_l f_l(x_l, y_l).
 *
 * dk/dx_l is f_l' times all other factors. These are collected in two passes, from the left and from the right, because a
 * division of k by f_l fails where f_l is 0. */
#include "coords.h"

/* out_l *= the product of all factors but f_l */
static void multiply_others(const gram_vecmath_f64 *v, int64_t d, int n, const double *f, double *out)
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

void gram_coords_slopes(const gram_vecmath_f64 *v, const gram_kernel_type *type, const gram_shape *shape,
                        const gram_coords_block *block, int i, double *work, double *out)
{
    const int n = block->columns;
    if (type->coords_slope) {
        type->coords_slope(v, shape, block, i, out);
        return;
    }
    for (int64_t l = 0; l < block->d; l++)
        type->coords_factor(v, shape, n, gram_coords_x(block, l, i), gram_coords_y(block, l),
                            &(gram_coords_factor){.f = work + l * n, .by_x = out + l * n});
    multiply_others(v, block->d, n, work, out);
}
