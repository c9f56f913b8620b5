/* imq(c, beta): (c^2 + r^2)^-beta, r = |x - y|: the inverse multiquadric. c is its length-scale and its height at once,
 * k(x,x) = c^(-2 beta): c^(-2 beta) rq(alpha=beta, ell=c/sqrt(2 beta)).
 *
 *   dk/d(r^2) = -beta k/(c^2 + r^2)      dk/dc = -2 beta c k/(c^2 + r^2)
 *
 * c has bounds within which c^2 neither overflows nor loses digits. */
#include <math.h>

#include "kernel/family_facts.h"

enum { C, BETA };

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    const double c = shape->par[C], square = c * c;
    const gram_inverse_power form = {square, fma(c, c, -square), shape->scale, shape->par[BETA]};
    gram_profile_inverse_power(v, &form, n, s, out, work);
}

static void profile_f32(const gram_vecmath_f32 *v, const gram_shape *shape, int n, const float *s, float *out,
                        float *work)
{
    const double square = shape->par[C] * shape->par[C];
    const gram_inverse_power form = {.base = square, .scale = shape->scale, .power = shape->par[BETA]};
    (void)work;
    gram_profile_inverse_power_f32(v, &form, n, s, out);
}

static int deficit(const gram_shape *shape, int n, const double *s, double *out)
{
    const double square = shape->par[C] * shape->par[C], beta = shape->par[BETA], most = pow(square, -beta);
    for (int i = 0; i < n; i++) out[i] = -most * expm1(-beta * log1p(shape->scale * s[i] / square));
    return 1;
}

static void slope(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                  double *out)
{
    (void)v;
    const double square = shape->par[C] * shape->par[C], beta = shape->par[BETA];
    for (int i = 0; i < n; i++) out[i] = -beta * (k[i] / (square + shape->scale * s[i]));
}

static void curvature(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                      const double *slopes, double *out)
{
    (void)v, (void)k;
    const double square = shape->par[C] * shape->par[C], beta = shape->par[BETA];
    for (int i = 0; i < n; i++) out[i] = -(beta + 1) * (slopes[i] / (square + shape->scale * s[i]));
}

/* (-1)^q beta (beta + 1) ... (beta + q - 1) k/(c^2 + r^2)^q */
static void derivatives(const gram_vecmath_f64 *v, const gram_shape *shape, int order, int n, const double *s,
                        int64_t ld, double *out)
{
    _Alignas(64) double work[GRAM_BLOCK_COLUMNS];
    const double square = shape->par[C] * shape->par[C], beta = shape->par[BETA];
    profile(v, shape, n, s, out, work);
    for (int q = 1; q <= order; q++)
        for (int i = 0; i < n; i++)
            out[q * ld + i] = -(beta + q - 1) * (out[(q - 1) * ld + i] / (square + shape->scale * s[i]));
}

static void parameter_slope(const gram_vecmath_f64 *v, const gram_shape *shape, int spec, int n, const double *s,
                            const double *k, double *out)
{
    (void)spec;
    slope(v, shape, n, s, k, out);
    v->affine(n, 2 * shape->par[C], 0, out, out);
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)par, (void)d;
    gram_facts_smooth_stationary(facts);
    facts->derivatives = GRAM_INFINITE;
}

const gram_kernel_type gram_kernel_imq = {
    .name = "imq",
    .formula = "(c^2 + |x - y|^2)^-beta",
    .form = GRAM_FORM_SQDIST,
    .spec_count = 2,
    .specs =
        {{.name = "c",
          .role = GRAM_ROLE_SHAPE,
          .initial = NAN,
          .lower = 1e-140,
          .upper = 1e140,
          .resolved = 1,
          .transform = GRAM_TRANSFORM_LOG},
         {.name = "beta", .role = GRAM_ROLE_STRUCTURE, .initial = 0.5, .lower = 0, .lower_open = 1, .upper = INFINITY}},
    .facts = facts,
    .profile = profile,
    .profile_f32 = profile_f32,
    .deficit = deficit,
    .slope = slope,
    .curvature = curvature,
    .derivatives = derivatives,
    .parameter_slope = parameter_slope,
};
