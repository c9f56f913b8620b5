/* sinc(B): the product over coordinates of 2 sin(B t_l)/t_l, t = x - y, which is 2 B at t = 0: the functions of
 * frequencies up to B (Paley-Wiener space), with |f|^2 = int f^2/(2 pi) in one dimension.
 *
 * With a = B |t| a factor is 2 B sin(a)/a: small a need no care, because sin(a) has a small relative error. Its
 * derivative by t is sign(t) 2 B^2 g(a), g(a) = (a cos a - sin a)/a^2, which has to be a series for small a. */
#include "kernel/coordinate_products.h"

enum { B, TERMS = 9 };

/* g(a)/a = sum_(q >= 1) (-1)^q 2 q/(2 q + 1)! a^(2 q - 2): the rest after TERMS is below 2^-56 for a <= 1 */
static const double SERIES[TERMS] = {
    -1.0 / 3,
    1.0 / 30,
    -1.0 / 840,
    1.0 / 45360,
    -1.0 / 3991680,
    1.0 / 518918400,
    -1.0 / 93405312000,
    1.0 / 22230464256000,
    -1.0 / 6758061133824000,
};

/* a_j = B |x - y_j| */
static void phases(int n, double b, double x, const double *y, double *a)
{
    for (int j = 0; j < n; j++) {
        const double phase = b * fabs(x - y[j]);
        a[j] = phase < GRAM_COORDS_MOST ? phase : GRAM_COORDS_MOST;
    }
}

/* out = 2 B sin(a)/a; out may be a or the sines */
static void factor(int n, double b, const double *a, const double *sine, double *out)
{
    for (int j = 0; j < n; j++) {
        const int apart = a[j] > 0;
        out[j] = 2 * b * ((apart ? sine[j] : 1) / (apart ? a[j] : 1));
    }
}

static double slope_at(double a, double sine, double cosine)
{
    if (a > 1) return (cosine - sine / a) / a;
    double sum = SERIES[TERMS - 1];
    for (int q = TERMS - 2; q >= 0; q--) sum = sum * a * a + SERIES[q];
    return a * sum;
}

/* (sin(a)/a)'' = -sin(a)/a - 2 g(a)/a, of which near 0 a third of the first term is left. d2f/dx dy is 2 B^3 times its
 * negative; at a = 0 that is 2 B^3/3. */
static double both_at(double a, double sine, double cosine)
{
    return a > 0 ? (sine + 2 * slope_at(a, sine, cosine)) / a : 1.0 / 3;
}

static void coords_factor(const gram_vecmath_f64 *v, const gram_shape *shape, int n, double x, const double *y,
                          const gram_coords_factor *out)
{
    _Alignas(64) double sine[GRAM_BLOCK_COLUMNS], cosine[GRAM_BLOCK_COLUMNS];
    const double b = shape->par[B];
    double *a = out->f;
    phases(n, b, x, y, a);
    v->sin(n, a, sine);
    v->cos(n, a, cosine);
    for (int j = 0; j < n; j++) {
        const double magnitude = 2 * b * (b * slope_at(a[j], sine[j], cosine[j]));
        out->by_x[j] = x < y[j] ? -magnitude : magnitude;
    }
    for (int j = 0; j < n && out->by_y; j++) {
        out->by_y[j] = -out->by_x[j];
        out->by_both[j] = 2 * b * (b * (b * both_at(a[j], sine[j], cosine[j])));
    }
    factor(n, b, a, sine, out->f);
}

/* The derivative of order q of S(a) = sin(a)/a. From a S = sin: S^(q) = (sin^(q) - q S^(q-1))/a; for small a the series
 * sum_j (-1)^j (2j)!/((2j + 1)! (2j - q)!) a^(2j - q), whose terms stay below 10 up to a = 4. */
static double sinc_derivative(int q, double a)
{
    enum { MOST_TERMS = 24 };
    const double waves[4] = {sin(a), cos(a), -sin(a), -cos(a)};
    double value = waves[0] / a;
    if (fabs(a) > 4) {
        for (int j = 1; j <= q; j++) value = (waves[j % 4] - j * value) / a;
        return value;
    }
    value = 0;
    for (int j = MOST_TERMS; 2 * j >= q; j--) { /* from the smallest: term j over term j - 1 of a^(2j - q)/(2j - q)! */
        double term = (j % 2 ? -1.0 : 1.0) / (2 * j + 1);
        for (int i = 1; i <= 2 * j - q; i++) term *= a / i;
        value += term;
    }
    return value;
}

/* 2 B B^q S^(q)(B t), with a sign for each derivative by y */
static void coords_derivative(const gram_vecmath_f64 *v, const gram_shape *shape, int by_x, int by_y, int n, double x,
                              const double *y, double *out)
{
    const double b = shape->par[B];
    const int q = by_x + by_y;
    double front = 2 * b * (by_y % 2 ? -1 : 1);
    (void)v;
    for (int j = 0; j < q; j++) front *= b;
    for (int j = 0; j < n; j++)
        out[j] = front * sinc_derivative(q, fmin(fmax(b * (x - y[j]), -GRAM_COORDS_MOST), GRAM_COORDS_MOST));
}

static void coords(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, double *out)
{
    _Alignas(64) double a[GRAM_BLOCK_COLUMNS], row[GRAM_BLOCK_COLUMNS];
    const int n = block->columns;
    v->fill(block->rows * n, 1, out);
    for (int i = 0; i < block->rows; i++)
        for (int64_t l = 0; l < block->d; l++) {
            phases(n, shape->par[B], gram_coords_x(block, l, i), gram_coords_y(block, l), a);
            v->sin(n, a, row);
            factor(n, shape->par[B], a, row, row);
            v->multiply(n, row, out + i * n);
        }
}

/* A factor's derivative by B is 2 cos(a). */
static void coords_parameter_slope(const gram_vecmath_f64 *v, const gram_shape *shape, int spec,
                                   const gram_coords_block *block, double *out)
{
    _Alignas(64) double row[GRAM_BLOCK_COLUMNS], slope[GRAM_BLOCK_COLUMNS], product[GRAM_BLOCK_COLUMNS];
    const double b = shape->par[spec];
    const int n = block->columns;
    v->fill(block->rows * n, 0, out);
    for (int i = 0; i < block->rows; i++) {
        v->fill(n, 1, product);
        for (int64_t l = 0; l < block->d; l++) {
            phases(n, b, gram_coords_x(block, l, i), gram_coords_y(block, l), slope);
            v->sin(n, slope, row);
            factor(n, b, slope, row, row);
            v->cos(n, slope, slope);
            v->affine(n, 2, 0, slope, slope);
            gram_coords_product_rule(v, n, row, slope, product, out + i * n);
        }
    }
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)par;
    facts->positive_definite = GRAM_YES;
    facts->strictly = GRAM_YES;
    facts->stationary = GRAM_YES;
    facts->isotropic = d == 1 ? GRAM_YES : GRAM_NO;
    facts->universal = GRAM_YES;
    facts->characteristic = GRAM_NO; /* blind to frequencies above B */
    facts->continuous = GRAM_YES;
    facts->bounded_below = GRAM_YES;
    facts->rank = GRAM_INFINITE;
    facts->derivatives = GRAM_INFINITE;
    facts->sobolev_order = NAN;
}

const gram_kernel_type gram_kernel_sinc = {
    .name = "sinc",
    .formula = "product over l of 2 sin(B (x_l - y_l))/(x_l - y_l)",
    .form = GRAM_FORM_COORDS,
    .spec_count = 1,
    .specs = {GRAM_POSITIVE_SPEC("B", {NULL, NULL})},
    .facts = facts,
    .coords = coords,
    .coords_factor = coords_factor,
    .coords_derivative = coords_derivative,
    .coords_parameter_slope = coords_parameter_slope,
};
