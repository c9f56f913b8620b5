/* sobolev(a, null): the product over coordinates of
 *
 *   G(x, y) = int_0^inf (x - z)_+^(a-1) (y - z)_+^(a-1) dz/((a-1)!)^2,    x, y >= 0,
 *
 * which is the space of functions on [0, 1] with f(0) = ... = f^(a-1)(0) = 0 and the norm of f^(a); a = 1 gives min(),
 * a = 2 the cubic splines s^2 (3t - s)/6. null = 1 adds the polynomials of degree below a, sum_j x^j y^j/(j!)^2.
 *
 * With s = min(x, y), h = |x - y| and w = s - z every integral here is one of
 *
 *   int_0^s w^p (w + h)^q dw = s^(p+1) sum_i binom(q, i) h^(q-i) s^i/(p + i + 1),
 *
 * a sum of positive terms, so nothing is cancelled: p = q = a - 1 for G; for dG/dx, where (x - z)^(a-1)/(a-1)! becomes
 * (x - z)^(a-2)/(a-2)!, p = a - 2, q = a - 1 if x is the smaller one and the other way round if it is the larger;
 * p = q = a - 2 for d2G/dx dy, which is the G of a - 1. */
#include "kernel/coordinate_products.h"

enum { A, NULL_SPACE, MOST = 8 };

/* The coefficients of one such integral in h^(q-i) s^i, over s^(p+1). */
typedef struct integral {
    int p, q;
    double coefficients[MOST];
} integral;

typedef struct tables {
    integral value, below, above; /* G; dG/dx for x below y, above y */
    integral both;                /* d2G/dx dy */
    double null[MOST];            /* 1/(j!)^2, or 0 */
    double null_slope[MOST];      /* j/(j!)^2: of x^(j-1) y^j */
    double null_both[MOST];       /* j^2/(j!)^2: of (x y)^(j-1) */
} tables;

static double factorial(int n)
{
    double product = 1;
    for (int i = 2; i <= n; i++) product *= i;
    return product;
}

static integral make_integral(int p, int q, double divisor)
{
    integral made = {.p = p, .q = q};
    for (int i = 0; i <= q; i++) {
        const double binomial = factorial(q) / (factorial(i) * factorial(q - i));
        made.coefficients[i] = binomial / ((p + i + 1) * divisor);
    }
    return made;
}

static void prepare(const double *par, int64_t d, void *data)
{
    const int a = (int)par[A];
    tables *t = data;
    const double f = factorial(a - 1);
    (void)d;
    *t = (tables){.value = make_integral(a - 1, a - 1, f * f)};
    if (a > 1) {
        t->below = make_integral(a - 2, a - 1, f * factorial(a - 2));
        t->above = make_integral(a - 1, a - 2, f * factorial(a - 2));
        t->both = make_integral(a - 2, a - 2, factorial(a - 2) * factorial(a - 2));
    }
    for (int j = 0; j < a && par[NULL_SPACE] == 1; j++) {
        t->null[j] = 1 / (factorial(j) * factorial(j));
        t->null_slope[j] = j * t->null[j];
        t->null_both[j] = j * t->null_slope[j];
    }
}

/* The integral at s and h: Horner's rule in h, with s^i kept beside it. */
static inline double evaluate(const integral *g, double s, double h)
{
    double sum = g->coefficients[0], power = 1;
    for (int i = 1; i <= g->q; i++) {
        power *= s;
        sum = sum * h + g->coefficients[i] * power;
    }
    for (int i = 0; i <= g->p; i++) sum *= s;
    return sum;
}

/* The same for a row: s and h of all columns at a time, which is what vectorises. out = integral */
static void evaluate_row(int n, const integral *g, double x, const double *y, double *out)
{
    _Alignas(64) double s[GRAM_BLOCK_COLUMNS], h[GRAM_BLOCK_COLUMNS], power[GRAM_BLOCK_COLUMNS];
    for (int j = 0; j < n; j++) {
        s[j] = x < y[j] ? x : y[j];
        h[j] = fabs(x - y[j]);
        power[j] = 1;
        out[j] = g->coefficients[0];
    }
    for (int i = 1; i <= g->q; i++)
        for (int j = 0; j < n; j++) {
            power[j] *= s[j];
            out[j] = out[j] * h[j] + g->coefficients[i] * power[j];
        }
    for (int i = 0; i <= g->p; i++)
        for (int j = 0; j < n; j++) out[j] *= s[j];
}

/* out = the factor of x and n numbers y */
static void factor(const gram_shape *shape, int n, double x, const double *y, double *out)
{
    const tables *t = shape->data;
    const int a = (int)shape->par[A];
    evaluate_row(n, &t->value, x, y, out);
    if (shape->par[NULL_SPACE] == 0) return;
    for (int j = 0; j < n; j++) {
        double sum = t->null[a - 1];
        for (int q = a - 2; q >= 0; q--) sum = sum * (x * y[j]) + t->null[q];
        out[j] += sum;
    }
}

static double factor_slope(const tables *t, int a, double x, double y)
{
    double sum = 0;
    for (int q = a - 1; q >= 1; q--) sum = sum * (x * y) + t->null_slope[q];
    sum *= y;
    if (a == 1) return gram_coords_step(x, y) + sum;
    return sum + (x < y ? evaluate(&t->below, x, y - x) : evaluate(&t->above, y, x - y));
}

/* a > 1 */
static double factor_both(const tables *t, int a, double x, double y)
{
    double sum = 0;
    for (int q = a - 1; q >= 1; q--) sum = sum * (x * y) + t->null_both[q];
    return sum + evaluate(&t->both, x < y ? x : y, fabs(x - y));
}

static void coords(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, double *out)
{
    _Alignas(64) double row[GRAM_BLOCK_COLUMNS];
    v->fill(block->rows * block->columns, 1, out);
    for (int i = 0; i < block->rows; i++)
        for (int64_t l = 0; l < block->d; l++) {
            factor(shape, block->columns, gram_coords_x(block, l, i), gram_coords_y(block, l), row);
            v->multiply(block->columns, row, out + i * block->columns);
        }
}

static void coords_factor(const gram_vecmath_f64 *v, const gram_shape *shape, int n, double x, const double *y,
                          const gram_coords_factor *out)
{
    const int a = (int)shape->par[A];
    (void)v;
    factor(shape, n, x, y, out->f);
    for (int j = 0; j < n; j++) out->by_x[j] = factor_slope(shape->data, a, x, y[j]);
    for (int j = 0; j < n && out->by_y; j++) {
        out->by_y[j] = factor_slope(shape->data, a, y[j], x);
        out->by_both[j] = factor_both(shape->data, a, x, y[j]);
    }
}

/* x^p/p! */
static double monomial(double x, int p)
{
    double product = 1;
    for (int i = 1; i <= p; i++) product *= x / i;
    return product;
}

/* Powers a - 1 of x - z and y - z fall by one with each derivative, and j of x and y in the polynomials. */
static void coords_derivative(const gram_vecmath_f64 *v, const gram_shape *shape, int by_x, int by_y, int n, double x,
                              const double *y, double *out)
{
    const int a = (int)shape->par[A], p = a - 1 - by_x, q = a - 1 - by_y;
    const double divisor = factorial(p) * factorial(q);
    const integral below = make_integral(p, q, divisor), above = make_integral(q, p, divisor);
    (void)v;
    for (int i = 0; i < n; i++) {
        double sum = x < y[i] ? evaluate(&below, x, y[i] - x) : evaluate(&above, y[i], x - y[i]);
        for (int j = by_x > by_y ? by_x : by_y; j < a && shape->par[NULL_SPACE] == 1; j++)
            sum += monomial(x, j - by_x) * monomial(y[i], j - by_y);
        out[i] = sum;
    }
}

static const char *rough(const double *par)
{
    return par[A] < 2 ? "it needs a > 1" : NULL;
}

static double domain_lower(const double *par)
{
    (void)par;
    return 0;
}

/* With null = 0 every function is 0 where a coordinate is. With null = 1 characteristic on bounded sets: elsewhere k has
 * no bound, and not every distribution has a mean. */
static void facts(const double *par, int64_t d, gram_properties *facts)
{
    const gram_answer whole = par[NULL_SPACE] == 1 ? GRAM_YES : GRAM_NO;
    facts->positive_definite = GRAM_YES;
    facts->strictly = whole;
    facts->stationary = GRAM_NO;
    facts->isotropic = GRAM_NO;
    facts->universal = whole;
    facts->characteristic = d == 1 ? GRAM_YES : whole;
    facts->continuous = GRAM_YES;
    facts->bounded_below = whole;
    facts->rank = GRAM_INFINITE;
    facts->derivatives = (int)par[A] - 1;
    facts->draws_in_space = GRAM_NO;
    facts->draw_smoothness = par[A] - 0.5; /* Brownian motion, integrated a - 1 times */
    facts->sobolev_order = d == 1 ? par[A] : NAN;
}

const gram_kernel_type gram_kernel_sobolev = {
    .name = "sobolev",
    .formula = "product over l of int_0^inf (x_l - z)_+^(a-1) (y_l - z)_+^(a-1) dz/((a-1)!)^2"
               " + (null=1) sum_(j<a) (x_l y_l)^j/(j!)^2",
    .form = GRAM_FORM_COORDS,
    .spec_count = 2,
    .specs = {{.name = "a", .role = GRAM_ROLE_STRUCTURE, .initial = 2, .lower = 1, .upper = MOST, .whole = 1},
              {.name = "null", .role = GRAM_ROLE_STRUCTURE, .initial = 0, .lower = 0, .upper = 1, .whole = 1}},
    .data_bytes = sizeof(tables),
    .prepare = prepare,
    .facts = facts,
    .pinned = 1,
    .coords = coords,
    .coords_factor = coords_factor,
    .coords_derivative = coords_derivative,
    .rough = rough,
    .domain_lower = domain_lower,
};
