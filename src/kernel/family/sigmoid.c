/* sigmoid(a, c): tanh(a x.y + c). Not positive definite: for a > 0 take y far out in the direction of x, then
 * k(x,y) and k(y,y) tend to 1 while k(x,x) = tanh(a |x|^2 + c) < 1, so that k(x,x) k(y,y) < k(x,y)^2; for a < 0
 * k(x,x) < 0 far out. It is here for what LIBSVM and others do with it. */
#include <math.h>

#include "kernel/kernel.h"

enum { A, C };

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    (void)work;
    v->affine(n, shape->par[A] * shape->scale, shape->par[C], s, out);
    for (int i = 0; i < n; i++) out[i] = tanh(out[i]);
}

static void profile_f32(const gram_vecmath_f32 *v, const gram_shape *shape, int n, const float *s, float *out,
                        float *work)
{
    (void)work;
    v->tanh_affine(n, shape->par[A] * shape->scale, shape->par[C], s, out);
}

/* 1 - tanh(t)^2 = 4 e/(1 + e)^2, e = exp(-2 |t|) */
static void slope_of_tanh(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out)
{
    v->affine(n, shape->par[A] * shape->scale, shape->par[C], s, out);
    for (int i = 0; i < n; i++) out[i] = -2 * fabs(out[i]);
    v->exp(n, out, out);
    for (int i = 0; i < n; i++) out[i] = 4 * out[i] / ((1 + out[i]) * (1 + out[i]));
}

static void slope(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                  double *out)
{
    (void)k;
    slope_of_tanh(v, shape, n, s, out);
    v->affine(n, shape->par[A], 0, out, out);
}

/* tanh'' = -2 tanh tanh' */
static void curvature(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                      const double *slopes, double *out)
{
    (void)s;
    v->affine(n, -2 * shape->par[A], 0, k, out);
    v->multiply(n, slopes, out);
}

static void parameter_slope(const gram_vecmath_f64 *v, const gram_shape *shape, int spec, int n, const double *s,
                            const double *k, double *out)
{
    (void)k;
    slope_of_tanh(v, shape, n, s, out);
    for (int i = 0; spec == A && i < n; i++) out[i] = out[i] > 0 ? shape->scale * s[i] * out[i] : 0;
}

/* tanh(c) */
static void constant_facts(double c, gram_properties *facts)
{
    facts->positive_definite = c >= 0 ? GRAM_YES : GRAM_NO;
    facts->strictly = GRAM_NO;
    facts->stationary = GRAM_YES;
    facts->isotropic = GRAM_YES;
    facts->universal = GRAM_NO;
    facts->characteristic = GRAM_NO;
    facts->continuous = GRAM_YES;
    facts->bounded_below = c > 0 ? GRAM_YES : c < 0 ? GRAM_UNKNOWN : GRAM_NO;
    facts->rank = c != 0;
    facts->derivatives = GRAM_INFINITE;
}

/* Without positive definiteness there is no H of which to say anything. A diagonal that is negative everywhere is left
 * unknown: what is composed from a no takes it for a zero somewhere. */
static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)d;
    if (par[A] == 0) {
        constant_facts(par[C], facts);
        return;
    }
    facts->positive_definite = GRAM_NO;
    facts->strictly = GRAM_NO;
    facts->stationary = GRAM_NO;
    facts->isotropic = GRAM_NO;
    facts->continuous = GRAM_YES;
    facts->bounded_below = par[A] > 0 && par[C] > 0 ? GRAM_YES : par[A] < 0 && par[C] < 0 ? GRAM_UNKNOWN : GRAM_NO;
}

const gram_kernel_type gram_kernel_sigmoid = {
    .name = "sigmoid",
    .formula = "tanh(a x.y + c)",
    .form = GRAM_FORM_DOT,
    .spec_count = 2,
    .specs = {{.name = "a",
               .role = GRAM_ROLE_SHAPE,
               .initial = NAN,
               .lower = -INFINITY,
               .upper = INFINITY,
               .resolved = 1,
               .transform = GRAM_TRANSFORM_NONE,
               .aliases = {{"gamma", NULL}}},
              {.name = "c",
               .role = GRAM_ROLE_SHAPE,
               .initial = 0,
               .lower = -INFINITY,
               .upper = INFINITY,
               .transform = GRAM_TRANSFORM_NONE,
               .aliases = {{"coef0", NULL}}}},
    .facts = facts,
    .profile = profile,
    .profile_f32 = profile_f32,
    .slope = slope,
    .curvature = curvature,
    .parameter_slope = parameter_slope,
};
