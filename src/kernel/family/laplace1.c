/* laplace1(ell): exp(-z), z = sum_l |x_l - y_l|/ell_l: the product of one-dimensional Laplace kernels. */
#include <math.h>

#include "kernel/family_facts.h"

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    (void)work;
    v->exp_scaled(n, -shape->scale, s, out);
}

static void profile_f32(const gram_vecmath_f32 *v, const gram_shape *shape, int n, const float *s, float *out,
                        float *work)
{
    (void)work;
    v->exp_scaled(n, (float)-shape->scale, s, out);
}

static int deficit(const gram_shape *shape, int n, const double *s, double *out)
{
    for (int i = 0; i < n; i++) out[i] = -expm1(-shape->scale * s[i]);
    return 1;
}

static void slope(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                  double *out)
{
    (void)shape, (void)s;
    v->affine(n, -1, 0, k, out);
}

static const char *rough(const double *par)
{
    (void)par;
    return "its slopes jump where coordinates are equal";
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)par;
    gram_facts_smooth_stationary(facts);
    facts->isotropic = d == 1 ? GRAM_YES : GRAM_NO;
    facts->derivatives = 0;
    facts->draw_smoothness = 0.5;
    facts->sobolev_order = d == 1 ? 1 : NAN; /* in R^d a space of dominating mixed smoothness instead */
}

static double length_from_gamma(double gamma)
{
    return 1 / gamma;
}

const gram_kernel_type gram_kernel_laplace1 = {
    .name = "laplace1",
    .formula = "exp(-sum_l |x_l - y_l| / ell)",
    .form = GRAM_FORM_L1,
    .spec_count = 1,
    .specs = {GRAM_LENGTH_SPEC({"gamma", length_from_gamma})},
    .facts = facts,
    .profile = profile,
    .profile_f32 = profile_f32,
    .deficit = deficit,
    .slope = slope,
    .rough = rough,
};
