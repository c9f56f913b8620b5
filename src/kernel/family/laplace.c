/* laplace(ell): exp(-a), a = sqrt(z), z = sum_l ((x_l - y_l)/ell_l)^2: matern(nu=0.5) under its own name. The norm is the
 * Euclidean one; laplace1 has the sum of absolute values. */
#include <math.h>

#include "kernel/family_facts.h"

static const double ONE_F64[] = {1};
static const float ONE_F32[] = {1};

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    (void)work;
    v->poly_exp_sqrt(n, shape->scale, 0, ONE_F64, s, out);
}

static void profile_f32(const gram_vecmath_f32 *v, const gram_shape *shape, int n, const float *s, float *out,
                        float *work)
{
    (void)work;
    v->poly_exp_sqrt(n, (float)shape->scale, 0, ONE_F32, s, out);
}

static int deficit(const gram_shape *shape, int n, const double *s, double *out)
{
    for (int i = 0; i < n; i++) out[i] = -expm1(-sqrt(shape->scale * s[i]));
    return 1;
}

/* -e^-a/(2 a); a kink at 0 */
static void slope(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                  double *out)
{
    (void)v;
    for (int i = 0; i < n; i++) {
        const double a = sqrt(shape->scale * s[i]);
        out[i] = a > 0 ? -0.5 * k[i] / a : 0;
    }
}

static const char *rough(const double *par)
{
    (void)par;
    return "its slope jumps where points meet";
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)par;
    gram_facts_smooth_stationary(facts);
    facts->derivatives = 0;
    facts->draw_smoothness = 0.5;
    facts->sobolev_order = 0.5 + 0.5 * (double)d;
}

const gram_kernel_type gram_kernel_laplace = {
    .name = "laplace",
    .formula = "exp(-|x - y| / ell)",
    .form = GRAM_FORM_SQDIST,
    .spec_count = 1,
    .specs = {GRAM_LENGTH_SPEC({NULL, NULL})},
    .facts = facts,
    .profile = profile,
    .profile_f32 = profile_f32,
    .deficit = deficit,
    .slope = slope,
    .rough = rough,
};
