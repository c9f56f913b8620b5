/* rbf(ell), rbf(S): exp(-z/2), z = sum_l ((x_l - y_l)/ell_l)^2 or (x - y)' S^-1 (x - y). */
#include <math.h>

#include "kernel/family_facts.h"

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    (void)work;
    v->exp_scaled(n, -0.5 * shape->scale, s, out);
}

static void profile_f32(const gram_vecmath_f32 *v, const gram_shape *shape, int n, const float *s, float *out,
                        float *work)
{
    (void)work;
    v->exp_scaled(n, (float)(-0.5 * shape->scale), s, out);
}

static int deficit(const gram_shape *shape, int n, const double *s, double *out)
{
    for (int i = 0; i < n; i++) out[i] = -expm1(-0.5 * shape->scale * s[i]);
    return 1;
}

static void slope(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                  double *out)
{
    (void)shape, (void)s;
    v->affine(n, -0.5, 0, k, out);
}

static void curvature(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                      const double *slopes, double *out)
{
    (void)shape, (void)s, (void)slopes;
    v->affine(n, 0.25, 0, k, out);
}

/* (-1/2)^q k */
static void derivatives(const gram_vecmath_f64 *v, const gram_shape *shape, int order, int n, const double *s,
                        int64_t ld, double *out)
{
    v->exp_scaled(n, -0.5 * shape->scale, s, out);
    for (int q = 1; q <= order; q++) v->affine(n, -0.5, 0, out + (q - 1) * ld, out + q * ld);
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)par, (void)d;
    gram_facts_smooth_stationary(facts);
    facts->derivatives = GRAM_INFINITE;
}

/* exp(-gamma r^2) and exp(-r^2/width^2) in other tools */
static double length_from_gamma(double gamma)
{
    return sqrt(0.5 / gamma);
}

static double length_from_width(double width)
{
    return width / sqrt(2.0);
}

const gram_kernel_type gram_kernel_rbf = {
    .name = "rbf",
    .formula = "exp(-|x - y|^2 / (2 ell^2))",
    .form = GRAM_FORM_SQDIST,
    .spec_count = 2,
    .specs = {GRAM_LENGTH_SPEC({"gamma", length_from_gamma}, {"width", length_from_width}), GRAM_COVARIANCE_SPEC},
    .facts = facts,
    .profile = profile,
    .profile_f32 = profile_f32,
    .deficit = deficit,
    .slope = slope,
    .curvature = curvature,
    .derivatives = derivatives,
};
