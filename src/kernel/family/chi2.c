/* chi2(g): exp(-g sum_l (x_l - y_l)^2/(x_l + y_l)), 0/0 = 0, for non-negative vectors such as histograms.
 *
 * Positive definite, because (x - y)^2/(x + y) = x + y - 4 x y/(x + y) and x y/(x + y) = int_0^inf x e^(-sx) y e^(-sy) ds
 * is a kernel. */
#include "kernel/coordinate_products.h"

enum { G };

static double rate(const double *par)
{
    return fmin(par[G], GRAM_COORDS_MOST);
}

/* (x - y)/(x + y), which is between -1 and 1; 0 for 0/0 */
static inline double ratio(double x, double y)
{
    const double sum = x + y;
    return (x - y) / (sum > 0 ? sum : 1);
}

/* out = sum_l (x_l - y_l)^2/(x_l + y_l) of row i */
static void distances(const gram_coords_block *block, int i, double *out)
{
    for (int j = 0; j < block->columns; j++) out[j] = 0;
    for (int64_t l = 0; l < block->d; l++) {
        const double x = gram_coords_x(block, l, i), *y = gram_coords_y(block, l);
        for (int j = 0; j < block->columns; j++) out[j] += (x - y[j]) * ratio(x, y[j]);
    }
}

static void coords(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, double *out)
{
    for (int i = 0; i < block->rows; i++) distances(block, i, out + i * block->columns);
    v->exp_scaled(block->rows * block->columns, -rate(shape->par), out, out);
}

/* d/dx (x - y)^2/(x + y) = r (2 - r), r = (x - y)/(x + y). At x = y = 0 the mean of both sides of |x|: 0. */
static void coords_slope(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, int i,
                         double *out)
{
    _Alignas(64) double k[GRAM_BLOCK_COLUMNS];
    const int n = block->columns;
    distances(block, i, k);
    v->exp_scaled(n, -rate(shape->par), k, k);
    v->affine(n, -rate(shape->par), 0, k, k);
    for (int64_t l = 0; l < block->d; l++) {
        const double x = gram_coords_x(block, l, i), *y = gram_coords_y(block, l);
        for (int j = 0; j < n; j++) {
            const double r = ratio(x, y[j]);
            out[l * n + j] = k[j] * (r * (2 - r));
        }
    }
}

static void coords_parameter_slope(const gram_vecmath_f64 *v, const gram_shape *shape, int spec,
                                   const gram_coords_block *block, double *out)
{
    _Alignas(64) double k[GRAM_BLOCK_COLUMNS];
    (void)spec;
    for (int i = 0; i < block->rows; i++) {
        double *row = out + i * block->columns;
        distances(block, i, row);
        v->exp_scaled(block->columns, -rate(shape->par), row, k);
        v->affine(block->columns, -1, 0, row, row);
        v->multiply(block->columns, k, row);
    }
}

static const char *rough(const double *par)
{
    (void)par;
    return "there is none where a coordinate of both points is 0";
}

static const char *domain_refuse(const double *par, double coordinate)
{
    (void)par;
    return coordinate < 0 ? "is negative" : NULL;
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)par, (void)d;
    facts->positive_definite = GRAM_YES;
    facts->stationary = GRAM_NO;
    facts->isotropic = GRAM_NO;
    facts->continuous = GRAM_YES;
    facts->bounded_below = GRAM_YES;
    facts->constant_diagonal = GRAM_YES;
    facts->rank = GRAM_INFINITE;
    facts->derivatives = 0; /* 2 - 2 k(x, 0) falls like x at 0 */
    facts->sobolev_order = NAN;
}

const gram_kernel_type gram_kernel_chi2 = {
    .name = "chi2",
    .formula = "exp(-g sum_l (x_l - y_l)^2/(x_l + y_l))",
    .form = GRAM_FORM_COORDS,
    .spec_count = 1,
    .specs = {GRAM_POSITIVE_SPEC("g", {"gamma", NULL})},
    .facts = facts,
    .coords = coords,
    .coords_slope = coords_slope,
    .rough = rough,
    .coords_parameter_slope = coords_parameter_slope,
    .domain_refuse = domain_refuse,
};
