/* periodic(p, ell): exp(-2 sum_l sin^2(pi t_l/p)/ell^2), t = x - y: in each coordinate the Gaussian kernel of the points
 * (cos, sin)(2 pi x/p) on the unit circle, whose squared distance is 4 sin^2(pi t/p). */
#include "kernel/coordinate_products.h"

enum { P, ELL };

static const double PI = 0x1.921fb54442d18p1;

static double rate(const double *par)
{
    return fmin(2 / (par[ELL] * par[ELL]), GRAM_COORDS_MOST);
}

/* sum_l sin^2(pi t_l/p) of row i */
static void sines(const gram_vecmath_f64 *v, double p, const gram_coords_block *block, int i, double *out)
{
    _Alignas(64) double row[GRAM_BLOCK_COLUMNS];
    const int n = block->columns;
    v->fill(n, 0, out);
    for (int64_t l = 0; l < block->d; l++) {
        gram_coords_turns(n, gram_coords_x(block, l, i), p, gram_coords_y(block, l), row);
        v->affine(n, PI, 0, row, row);
        v->sin(n, row, row);
        v->multiply(n, row, row);
        v->add(n, row, out);
    }
}

static void coords(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, double *out)
{
    for (int i = 0; i < block->rows; i++) sines(v, shape->par[P], block, i, out + i * block->columns);
    v->exp_scaled(block->rows * block->columns, -rate(shape->par), out, out);
}

/* out = sin(2 pi t_l/p) of row i: the derivative of sin^2(pi t_l/p) by t_l, over pi/p */
static void double_sine(const gram_vecmath_f64 *v, double p, const gram_coords_block *block, int64_t l, int i,
                        double *out)
{
    gram_coords_turns(block->columns, gram_coords_x(block, l, i), p, gram_coords_y(block, l), out);
    v->affine(block->columns, 2 * PI, 0, out, out);
    v->sin(block->columns, out, out);
}

/* f = exp(-r s), s = sin^2(pi t/p), r = 2/ell^2, with w = sin(2 pi t/p):
 *
 *   df/dx = -r (pi/p) w f = -df/dy      d2f/dx dy = r (pi/p)^2 (2 (1 - 2 s) - r w^2) f */
static void coords_factor(const gram_vecmath_f64 *v, const gram_shape *shape, int n, double x, const double *y,
                          const gram_coords_factor *out)
{
    _Alignas(64) double square[GRAM_BLOCK_COLUMNS];
    const double r = rate(shape->par), frequency = PI / shape->par[P];
    gram_coords_turns(n, x, shape->par[P], y, square);
    v->affine(n, 2 * PI, 0, square, out->by_x);
    v->sin(n, out->by_x, out->by_x);
    v->affine(n, PI, 0, square, square);
    v->sin(n, square, square);
    v->multiply(n, square, square);
    v->exp_scaled(n, -r, square, out->f);
    for (int j = 0; j < n && out->by_both; j++) {
        const double wave = out->by_x[j], turn = 2 * (1 - 2 * square[j]) - r * wave * wave;
        out->by_both[j] = out->f[j] > 0 ? r * frequency * frequency * turn * out->f[j] : 0;
    }
    for (int j = 0; j < n; j++) out->by_x[j] *= -r * frequency * out->f[j];
    if (out->by_y) v->affine(n, -1, 0, out->by_x, out->by_y);
}

/* f = exp(h (c - 1)) with c = cos, w = sin of 2 pi t/p and h = 1/ell^2: its derivatives by the angle are f times polynomials,
 *
 *   -h w,   h^2 w^2 - h c,   -h^3 w^3 + 3 h^2 w c + h w,   h^4 w^4 - 6 h^3 w^2 c + 3 h^2 c^2 - 4 h^2 w^2 + h c */
static double angle_derivative(int q, double h, double w, double c)
{
    const double u = h * w, e = h * c;
    switch (q) {
    case 0: return 1;
    case 1: return -u;
    case 2: return u * u - e;
    case 3: return u * (3 * e + 1 - u * u);
    default: return u * u * (u * u - 6 * e - 4) + e * (3 * e + 1);
    }
}

static void coords_derivative(const gram_vecmath_f64 *v, const gram_shape *shape, int by_x, int by_y, int n, double x,
                              const double *y, double *out)
{
    _Alignas(64) double wave[GRAM_BLOCK_COLUMNS], square[GRAM_BLOCK_COLUMNS];
    const double r = rate(shape->par), frequency = 2 * PI / shape->par[P];
    const int q = by_x + by_y;
    double front = by_y % 2 ? -1 : 1;
    for (int j = 0; j < q; j++) front *= frequency;
    gram_coords_turns(n, x, shape->par[P], y, square);
    v->affine(n, 2 * PI, 0, square, wave);
    v->sin(n, wave, wave);
    v->affine(n, PI, 0, square, square);
    v->sin(n, square, square);
    v->multiply(n, square, square);
    v->exp_scaled(n, -r, square, out);
    for (int j = 0; j < n; j++)
        out[j] = out[j] > 0 ? front * angle_derivative(q, 0.5 * r, wave[j], 1 - 2 * square[j]) * out[j] : 0;
}

/* (2/ell^2) (pi/p) sum_l sin(2 pi t_l/p) t_l/p k */
static void period_slope(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block,
                         double *out)
{
    _Alignas(64) double row[GRAM_BLOCK_COLUMNS], sum[GRAM_BLOCK_COLUMNS];
    const double p = shape->par[P];
    coords(v, shape, block, out);
    v->affine(block->rows * block->columns, rate(shape->par), 0, out, out);
    for (int i = 0; i < block->rows; i++) {
        v->fill(block->columns, 0, sum);
        for (int64_t l = 0; l < block->d; l++) {
            const double x = gram_coords_x(block, l, i), *y = gram_coords_y(block, l);
            double_sine(v, p, block, l, i, row);
            for (int j = 0; j < block->columns; j++) sum[j] += row[j] * ((x - y[j]) / p);
        }
        v->affine(block->columns, PI / p, 0, sum, sum);
        v->multiply(block->columns, sum, out + i * block->columns);
    }
}

/* (2/ell^2) (2/ell) sum_l sin^2(pi t_l/p) k */
static void length_slope(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block,
                         double *out)
{
    _Alignas(64) double row[GRAM_BLOCK_COLUMNS];
    coords(v, shape, block, out);
    v->affine(block->rows * block->columns, rate(shape->par), 0, out, out);
    for (int i = 0; i < block->rows; i++) {
        sines(v, shape->par[P], block, i, row);
        v->affine(block->columns, 2 / shape->par[ELL], 0, row, row);
        v->multiply(block->columns, row, out + i * block->columns);
    }
}

static void coords_parameter_slope(const gram_vecmath_f64 *v, const gram_shape *shape, int spec,
                                   const gram_coords_block *block, double *out)
{
    (spec == P ? period_slope : length_slope)(v, shape, block, out);
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)par;
    facts->positive_definite = GRAM_YES;
    facts->strictly = GRAM_NO; /* points a period apart are one */
    facts->stationary = GRAM_YES;
    facts->isotropic = d == 1 ? GRAM_YES : GRAM_NO;
    facts->universal = GRAM_NO;
    facts->characteristic = GRAM_NO;
    facts->continuous = GRAM_YES;
    facts->bounded_below = GRAM_YES;
    facts->rank = GRAM_INFINITE;
    facts->derivatives = GRAM_INFINITE;
    facts->draws_in_space = GRAM_NO;
    facts->sobolev_order = NAN;
}

const gram_kernel_type gram_kernel_periodic = {
    .name = "periodic",
    .formula = "exp(-2 sum_l sin^2(pi (x_l - y_l)/p) / ell^2)",
    .form = GRAM_FORM_COORDS,
    .spec_count = 2,
    .specs = {GRAM_POSITIVE_SPEC("p", {"period", NULL}, {"periodicity", NULL}),
              GRAM_POSITIVE_SPEC("ell", {"length_scale", NULL})},
    .facts = facts,
    .coords = coords,
    .coords_factor = coords_factor,
    .coords_derivative = coords_derivative,
    .coords_parameter_slope = coords_parameter_slope,
};
