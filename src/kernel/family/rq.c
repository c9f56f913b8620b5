/* rq(alpha, ell): (1 + u)^-alpha, u = z/(2 alpha), z = sum_l ((x_l - y_l)/ell_l)^2: a mixture of rbf of all
 * length-scales, and rbf itself as alpha grows.
 *
 *   dk/dz = -k/(2 (1 + u))      dk/dalpha = -k g(u), g(u) = log(1 + u) - u/(1 + u) */
#include <math.h>

#include "kernel/family_facts.h"

enum { ALPHA };

/* u = rate s; z/(2 alpha) is finite for the smallest numbers too, since 0 times it must stay 0 */
static double rate(const gram_shape *shape)
{
    return fmin(shape->scale / shape->par[ALPHA] / 2, 1e300);
}

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    const gram_inverse_power form = {.base = 1, .scale = rate(shape), .power = shape->par[ALPHA]};
    gram_profile_inverse_power(v, &form, n, s, out, work);
}

static void profile_f32(const gram_vecmath_f32 *v, const gram_shape *shape, int n, const float *s, float *out,
                        float *work)
{
    const gram_inverse_power form = {.base = 1, .scale = rate(shape), .power = shape->par[ALPHA]};
    (void)work;
    gram_profile_inverse_power_f32(v, &form, n, s, out);
}

static int deficit(const gram_shape *shape, int n, const double *s, double *out)
{
    const double c = rate(shape);
    for (int i = 0; i < n; i++) out[i] = -expm1(-shape->par[ALPHA] * log1p(c * s[i]));
    return 1;
}

static void slope(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                  double *out)
{
    (void)v;
    const double c = rate(shape);
    for (int i = 0; i < n; i++) out[i] = -0.5 * k[i] / (1 + c * s[i]);
}

/* (alpha + 1)/(4 alpha) k/(1 + u)^2 */
static void curvature(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                      const double *slopes, double *out)
{
    (void)v, (void)slopes;
    const double c = rate(shape), front = fmin(0.25 + 0.25 / shape->par[ALPHA], 1e300);
    for (int i = 0; i < n; i++) out[i] = front * (k[i] / (1 + c * s[i]) / (1 + c * s[i]));
}

/* (-1)^q (alpha + 1) ... (alpha + q - 1)/(2^q alpha^(q - 1)) k/(1 + u)^q */
static void derivatives(const gram_vecmath_f64 *v, const gram_shape *shape, int order, int n, const double *s,
                        int64_t ld, double *out)
{
    _Alignas(64) double work[GRAM_BLOCK_COLUMNS];
    const double c = rate(shape), alpha = shape->par[ALPHA];
    profile(v, shape, n, s, out, work);
    for (int q = 1; q <= order; q++) {
        const double front = q == 1 ? -0.5 : -fmin(0.5 + 0.5 * (q - 1) / alpha, 1e60);
        for (int i = 0; i < n; i++) out[q * ld + i] = front * (out[(q - 1) * ld + i] / (1 + c * s[i]));
    }
}

/* g(u); for small u, where both terms are nearly u, by its series u^2/2 - 2/3 u^3 + 3/4 u^4 - ... */
static double decay(double u)
{
    double sum = 0;
    if (u > 0.03) return log1p(u) - u / (1 + u);
    for (int j = 10; j >= 2; j--) sum = (1 - 1.0 / j) - u * sum;
    return u * u * sum;
}

static void parameter_slope(const gram_vecmath_f64 *v, const gram_shape *shape, int spec, int n, const double *s,
                            const double *k, double *out)
{
    (void)v, (void)spec;
    const double c = rate(shape);
    for (int i = 0; i < n; i++) out[i] = k[i] > 0 ? -k[i] * decay(c * s[i]) : 0;
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)par, (void)d;
    gram_facts_smooth_stationary(facts);
    facts->derivatives = GRAM_INFINITE;
}

const gram_kernel_type gram_kernel_rq = {
    .name = "rq",
    .formula = "(1 + |x - y|^2 / (2 alpha ell^2))^-alpha",
    .form = GRAM_FORM_SQDIST,
    .spec_count = 2,
    .specs = {{.name = "alpha",
               .role = GRAM_ROLE_SHAPE,
               .initial = NAN,
               .lower = 0,
               .lower_open = 1,
               .upper = INFINITY,
               .resolved = 1,
               .transform = GRAM_TRANSFORM_LOG},
              GRAM_LENGTH_SPEC({NULL, NULL})},
    .facts = facts,
    .profile = profile,
    .profile_f32 = profile_f32,
    .deficit = deficit,
    .slope = slope,
    .curvature = curvature,
    .derivatives = derivatives,
    .parameter_slope = parameter_slope,
};
