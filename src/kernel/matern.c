/* matern(nu, ell) at nu = p + 1/2, p = 0, 1, 2: a polynomial of degree p in a times exp(-a), a = sqrt(2 nu z),
 * z = sum_l ((x_l - y_l)/ell_l)^2.
 *
 *   nu = 1/2: e^-a            dk/dz = -e^-a/(2 a)   (a kink at 0)
 *   nu = 3/2: (1 + a) e^-a    dk/dz = -3/2 e^-a
 *   nu = 5/2: (1 + a + a^2/3) e^-a    dk/dz = -5/6 (1 + a) e^-a */
#include <math.h>

#include "family.h"

enum { NU, DEGREES = 3 };

static const double POLYNOMIAL[DEGREES][3] = {{1}, {1, 1}, {1, 1, 1.0 / 3}};
static const float POLYNOMIAL_F32[DEGREES][3] = {{1}, {1, 1}, {1, 1, 1.0F / 3}};
/* dk/dz / e^-a for nu = 3/2 and 5/2 */
static const double SLOPE[DEGREES][2] = {{0}, {-1.5}, {-5.0 / 6, -5.0 / 6}};

static int degree(const double *par)
{
    return (int)(par[NU] - 0.5);
}

static const char *refuse(const double *par)
{
    const int known = par[NU] == 0.5 || par[NU] == 1.5 || par[NU] == 2.5;
    return known ? NULL : "nu must be 0.5, 1.5 or 2.5";
}

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    (void)work;
    v->poly_exp_sqrt(n, 2 * shape->par[NU] * shape->scale, degree(shape->par), POLYNOMIAL[degree(shape->par)], s, out);
}

static void profile_f32(const gram_vecmath_f32 *v, const gram_shape *shape, int n, const float *s, float *out,
                        float *work)
{
    (void)work;
    v->poly_exp_sqrt(n, (float)(2 * shape->par[NU] * shape->scale), degree(shape->par),
                     POLYNOMIAL_F32[degree(shape->par)], s, out);
}

/* 1 - p(a) e^-a = e^-a sum_j (1/j! - p_j) a^j: the coefficients are not negative, those of a^0 vanish. */
static double deficit_series(const double *polynomial, int p, double a)
{
    double sum = 0, power = 1, factorial = 1;
    for (int j = 1; j <= 20; j++) {
        power *= a;
        factorial *= j;
        sum += (1 / factorial - (j <= p ? polynomial[j] : 0)) * power;
    }
    return exp(-a) * sum;
}

static void deficit(const gram_shape *shape, int n, const double *s, double *out)
{
    const int p = degree(shape->par);
    const double *polynomial = POLYNOMIAL[p];
    for (int i = 0; i < n; i++) {
        const double a = sqrt(2 * shape->par[NU] * shape->scale * s[i]);
        const double value = p == 0 ? 1 : p == 1 ? 1 + a : 1 + a + polynomial[2] * a * a;
        out[i] = p == 0 ? -expm1(-a) : a < 1 ? deficit_series(polynomial, p, a) : 1 - value * exp(-a);
    }
}

static void slope(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                  double *out)
{
    if (degree(shape->par) > 0) {
        v->poly_exp_sqrt(n, 2 * shape->par[NU] * shape->scale, degree(shape->par) - 1, SLOPE[degree(shape->par)], s,
                         out);
        return;
    }
    for (int i = 0; i < n; i++) {
        const double a = sqrt(shape->scale * s[i]);
        out[i] = a > 0 ? -0.5 * k[i] / a : 0;
    }
}

static void facts(const double *par, int64_t d, gram_facts *facts)
{
    gram_facts_smooth_stationary(facts);
    facts->derivatives = (int)ceil(par[NU]) - 1; /* orders below nu */
    facts->sobolev_order = par[NU] + 0.5 * (double)d;
}

const gram_kernel_type gram_kernel_matern = {
    .name = "matern",
    .formula = "2^(1-nu)/Gamma(nu) a^nu K_nu(a), a = sqrt(2 nu) |x - y|/ell",
    .form = GRAM_FORM_SQDIST,
    .spec_count = 2,
    .specs =
        {{.name = "nu", .role = GRAM_ROLE_STRUCTURE, .initial = 2.5, .lower = 0, .lower_open = 1, .upper = INFINITY},
         GRAM_LENGTH_SPEC({NULL, NULL})},
    .refuse = refuse,
    .facts = facts,
    .profile = profile,
    .profile_f32 = profile_f32,
    .deficit = deficit,
    .slope = slope,
};
