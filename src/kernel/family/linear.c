/* linear(c): x.y + c, c >= 0: straight lines, through the origin when c = 0, which is what c is when left out.
 *
 * c is searched for as it is and not by its logarithm, which 0 does not have. */
#include <math.h>

#include "kernel/family_facts.h"

enum { C };

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    (void)work;
    v->affine(n, 1, shape->par[C], s, out);
}

static void profile_f32(const gram_vecmath_f32 *v, const gram_shape *shape, int n, const float *s, float *out,
                        float *work)
{
    (void)work;
    v->affine(n, 1, (float)shape->par[C], s, out);
}

static void slope(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                  double *out)
{
    (void)shape, (void)s, (void)k;
    v->fill(n, 1, out);
}

static void curvature(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                      const double *slopes, double *out)
{
    (void)shape, (void)s, (void)k, (void)slopes;
    v->fill(n, 0, out);
}

static void derivatives(const gram_vecmath_f64 *v, const gram_shape *shape, int order, int n, const double *s,
                        int64_t ld, double *out)
{
    v->affine(n, shape->scale, shape->par[C], s, out);
    for (int q = 1; q <= order; q++) v->fill(n, q == 1, out + q * ld);
}

static void parameter_slope(const gram_vecmath_f64 *v, const gram_shape *shape, int spec, int n, const double *s,
                            const double *k, double *out)
{
    (void)shape, (void)spec, (void)s, (void)k;
    v->fill(n, 1, out);
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    gram_facts_polynomial(facts, par[C] > 0 ? d + 1 : d, par[C] > 0);
}

/* x.z + c for all z gives x */
static gram_answer injective(const double *par, int64_t d)
{
    (void)par, (void)d;
    return GRAM_YES;
}

const gram_kernel_type gram_kernel_linear = {
    .name = "linear",
    .formula = "x.y + c",
    .form = GRAM_FORM_DOT,
    .spec_count = 1,
    .specs = {{.name = "c",
               .role = GRAM_ROLE_SHAPE,
               .initial = 0,
               .lower = 0,
               .upper = INFINITY,
               .transform = GRAM_TRANSFORM_NONE,
               .aliases = {{"coef0", NULL}}}},
    .facts = facts,
    .injective = injective,
    .profile = profile,
    .profile_f32 = profile_f32,
    .slope = slope,
    .curvature = curvature,
    .derivatives = derivatives,
    .parameter_slope = parameter_slope,
};
