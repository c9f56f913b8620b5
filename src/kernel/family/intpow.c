/* intpow(): 2^(x.y) for points whose coordinates are 0, 1, 2, ...: exact. Pairs whose entry would be infinite,
 * x.y >= 1024, are refused; the normalised kernel has no such bound. */
#include <math.h>

#include "kernel/kernel.h"

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    (void)v, (void)work;
    for (int i = 0; i < n; i++) out[i] = exp2(shape->scale * s[i]);
}

/* of 2^(x.y) between the whole numbers: log(2) k */
static void slope(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                  double *out)
{
    (void)shape, (void)s;
    v->affine(n, log(2.0), 0, k, out);
}

static void curvature(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                      const double *slopes, double *out)
{
    (void)shape, (void)s, (void)slopes;
    v->affine(n, log(2.0) * log(2.0), 0, k, out);
}

static const char *domain_refuse(const double *par, double coordinate)
{
    (void)par;
    return coordinate >= 0 && coordinate == floor(coordinate) ? NULL : "is not one of 0, 1, 2, ...";
}

/* exp(<u, v>) of different vectors u = sqrt(log 2) x is strictly positive definite. A compact set of such points is finite, so
 * that the functions on it are all there. */
static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)par, (void)d;
    facts->positive_definite = GRAM_YES;
    facts->strictly = GRAM_YES;
    facts->universal = GRAM_YES;
    facts->stationary = GRAM_NO;
    facts->isotropic = GRAM_NO;
    facts->continuous = GRAM_YES;
    facts->bounded_below = GRAM_YES;
}

static double form_upper(const double *par)
{
    (void)par;
    return 1024;
}

/* ---- divided by its diagonal: 2^(-|x - y|^2/2) ---- */

static void normalized_profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                               double *work)
{
    (void)work;
    v->exp_scaled(n, -0.5 * log(2.0) * shape->scale, s, out);
}

static void normalized_profile_f32(const gram_vecmath_f32 *v, const gram_shape *shape, int n, const float *s,
                                   float *out, float *work)
{
    (void)work;
    v->exp_scaled(n, (float)(-0.5 * log(2.0) * shape->scale), s, out);
}

static void normalized_slope(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s,
                             const double *k, double *out)
{
    (void)shape, (void)s;
    v->affine(n, -0.5 * log(2.0), 0, k, out);
}

static void normalized_curvature(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s,
                                 const double *k, const double *slopes, double *out)
{
    (void)shape, (void)s, (void)slopes;
    v->affine(n, 0.25 * log(2.0) * log(2.0), 0, k, out);
}

static const gram_kernel_type NORMALIZED = {
    .name = "intpow",
    .form = GRAM_FORM_SQDIST,
    .profile = normalized_profile,
    .profile_f32 = normalized_profile_f32,
    .slope = normalized_slope,
    .curvature = normalized_curvature,
    .domain_refuse = domain_refuse,
};

const gram_kernel_type gram_kernel_intpow = {
    .name = "intpow",
    .formula = "2^(x.y), x and y of whole numbers >= 0",
    .form = GRAM_FORM_DOT,
    .facts = facts,
    .profile = profile,
    .slope = slope,
    .curvature = curvature,
    .domain_refuse = domain_refuse,
    .form_upper = form_upper,
    .normalized = &NORMALIZED,
};
