/* expdot(s): exp(x.y/s^2): all monomials at once, with weights that fall like 1/j!; divided by its diagonal it is rbf(s).
 *
 * It grows without bound: pairs whose entry would be infinite are refused. */
#include <float.h>
#include <math.h>

#include "kernel/family_facts.h"

enum { S };

/* 1/s^2, finite for the smallest s too, since 0 times it must stay 0 */
static double rate(const gram_shape *shape)
{
    return fmin(shape->scale / (shape->par[S] * shape->par[S]), 1e300);
}

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    (void)work;
    v->exp_scaled(n, rate(shape), s, out);
}

static void profile_f32(const gram_vecmath_f32 *v, const gram_shape *shape, int n, const float *s, float *out,
                        float *work)
{
    (void)work;
    v->exp_scaled(n, (float)fmin(rate(shape), 1e36), s, out);
}

static void slope(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                  double *out)
{
    (void)s;
    v->affine(n, rate(shape), 0, k, out);
}

static void curvature(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                      const double *slopes, double *out)
{
    (void)s, (void)slopes;
    v->affine(n, rate(shape) * rate(shape), 0, k, out);
}

/* -2 x.y/s^3 k */
static void parameter_slope(const gram_vecmath_f64 *v, const gram_shape *shape, int spec, int n, const double *s,
                            const double *k, double *out)
{
    (void)v, (void)spec;
    const double c = rate(shape), factor = -2 / shape->par[S];
    for (int i = 0; i < n; i++) out[i] = k[i] > 0 ? factor * (c * s[i]) * k[i] : 0;
}

/* s^(-2 q) k */
static void derivatives(const gram_vecmath_f64 *v, const gram_shape *shape, int order, int n, const double *s,
                        int64_t ld, double *out)
{
    v->exp_scaled(n, rate(shape), s, out);
    for (int q = 1; q <= order; q++) v->affine(n, rate(shape), 0, out + (q - 1) * ld, out + q * ld);
}

/* Characteristic where the mean embedding exists: on bounded sets, and of distributions with E exp(|X|^2/(2 s^2)) finite.
 * There it is a Laplace transform, which is finite everywhere and hence tells distributions apart. */
static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)par, (void)d;
    facts->positive_definite = GRAM_YES;
    facts->strictly = GRAM_YES;
    facts->stationary = GRAM_NO;
    facts->isotropic = GRAM_NO;
    facts->universal = GRAM_YES;
    facts->characteristic = GRAM_YES;
    facts->continuous = GRAM_YES;
    facts->bounded_below = GRAM_YES;
    facts->rank = GRAM_INFINITE;
    facts->derivatives = GRAM_INFINITE;
    facts->sobolev_order = NAN;
}

/* exp(gamma x.y) */
static double scale_from_gamma(double gamma)
{
    return sqrt(1 / gamma);
}

/* exp(x.y/s^2) is finite below this x.y; 0 is, whatever s */
static double form_upper(const double *par)
{
    return fmax(709.78 * par[S] * par[S], DBL_MIN);
}

/* ---- divided by its diagonal: exp(-|x - y|^2/(2 s^2)) ---- */

static void normalized_profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                               double *work)
{
    (void)work;
    v->exp_scaled(n, -0.5 * rate(shape), s, out);
}

static void normalized_profile_f32(const gram_vecmath_f32 *v, const gram_shape *shape, int n, const float *s,
                                   float *out, float *work)
{
    (void)work;
    v->exp_scaled(n, (float)fmax(-0.5 * rate(shape), -1e36), s, out);
}

static void normalized_slope(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s,
                             const double *k, double *out)
{
    (void)s;
    v->affine(n, -0.5 * rate(shape), 0, k, out);
}

static void normalized_curvature(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s,
                                 const double *k, const double *slopes, double *out)
{
    (void)s, (void)slopes;
    v->affine(n, 0.25 * rate(shape) * rate(shape), 0, k, out);
}

/* |x - y|^2/s^3 k */
static void normalized_parameter_slope(const gram_vecmath_f64 *v, const gram_shape *shape, int spec, int n,
                                       const double *s, const double *k, double *out)
{
    (void)spec;
    v->affine(n, rate(shape) / shape->par[S], 0, s, out);
    v->multiply(n, k, out);
}

/* (-1/(2 s^2))^q k */
static void normalized_derivatives(const gram_vecmath_f64 *v, const gram_shape *shape, int order, int n,
                                   const double *s, int64_t ld, double *out)
{
    v->exp_scaled(n, -0.5 * rate(shape), s, out);
    for (int q = 1; q <= order; q++) v->affine(n, -0.5 * rate(shape), 0, out + (q - 1) * ld, out + q * ld);
}

static const gram_kernel_type NORMALIZED = {
    .name = "expdot",
    .form = GRAM_FORM_SQDIST,
    .spec_count = 1,
    .specs = {{.name = "s", .role = GRAM_ROLE_SHAPE}},
    .profile = normalized_profile,
    .profile_f32 = normalized_profile_f32,
    .slope = normalized_slope,
    .curvature = normalized_curvature,
    .derivatives = normalized_derivatives,
    .parameter_slope = normalized_parameter_slope,
};

const gram_kernel_type gram_kernel_expdot = {
    .name = "expdot",
    .formula = "exp(x.y / s^2)",
    .form = GRAM_FORM_DOT,
    .spec_count = 1,
    .specs = {{.name = "s",
               .role = GRAM_ROLE_SHAPE,
               .initial = NAN,
               .lower = 0,
               .lower_open = 1,
               .upper = INFINITY,
               .resolved = 1,
               .transform = GRAM_TRANSFORM_LOG,
               .aliases = {{"gamma", scale_from_gamma}}}},
    .facts = facts,
    .profile = profile,
    .profile_f32 = profile_f32,
    .slope = slope,
    .curvature = curvature,
    .derivatives = derivatives,
    .parameter_slope = parameter_slope,
    .form_upper = form_upper,
    .normalized = &NORMALIZED,
};
