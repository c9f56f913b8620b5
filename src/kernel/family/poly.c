/* poly(m, c): (x.y + c)^m, c >= 0, m a positive integer; homogeneous when c = 0. */
#include <math.h>

#include "kernel/family_facts.h"

enum { M, C, MAX_DEGREE = 64 };

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    (void)work;
    v->affine(n, 1, shape->par[C], s, out);
    v->power(n, (int)shape->par[M], out, out);
}

static void profile_f32(const gram_vecmath_f32 *v, const gram_shape *shape, int n, const float *s, float *out,
                        float *work)
{
    (void)work;
    v->affine(n, 1, (float)shape->par[C], s, out);
    v->power(n, (int)shape->par[M], out, out);
}

/* m (s + c)^(m - 1), by s and by c alike */
static void slope(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                  double *out)
{
    (void)k;
    if (shape->par[M] == 1) {
        v->fill(n, 1, out);
        return;
    }
    v->affine(n, 1, shape->par[C], s, out);
    v->power(n, (int)shape->par[M] - 1, out, out);
    v->affine(n, shape->par[M], 0, out, out);
}

/* m (m - 1) (s + c)^(m - 2) */
static void curvature(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                      const double *slopes, double *out)
{
    const double m = shape->par[M];
    (void)k, (void)slopes;
    if (m <= 2) {
        v->fill(n, m * (m - 1), out);
        return;
    }
    v->affine(n, 1, shape->par[C], s, out);
    v->power(n, (int)m - 2, out, out);
    v->affine(n, m * (m - 1), 0, out, out);
}

/* m (m - 1) ... (m - q + 1) (s + c)^(m - q) */
static void derivatives(const gram_vecmath_f64 *v, const gram_shape *shape, int order, int n, const double *s,
                        int64_t ld, double *out)
{
    const int m = (int)shape->par[M];
    double front = 1;
    for (int q = 0; q <= order; front *= m - q, q++) {
        if (m > q) {
            v->affine(n, 1, shape->par[C], s, out + q * ld);
            v->power(n, m - q, out + q * ld, out + q * ld);
            v->affine(n, front, 0, out + q * ld, out + q * ld);
        } else {
            v->fill(n, m == q ? front : 0, out + q * ld);
        }
    }
}

static void parameter_slope(const gram_vecmath_f64 *v, const gram_shape *shape, int spec, int n, const double *s,
                            const double *k, double *out)
{
    (void)spec;
    slope(v, shape, n, s, k, out);
}

/* the monomials of degree at most m, or of degree m: one variable less */
static void facts(const double *par, int64_t d, gram_properties *facts)
{
    gram_facts_polynomial(facts, gram_monomial_count(par[C] > 0 ? d : d - 1, par[M]), par[C] > 0);
}

/* x.z for all z follows from (x.z)^m for odd m, and from (x.z + c)^m, a polynomial in z, for c > 0; if c = 0 and m is
 * even, x and -x have the same features */
static gram_answer injective(const double *par, int64_t d)
{
    (void)d;
    return par[C] > 0 || fmod(par[M], 2) == 1 ? GRAM_YES : GRAM_NO;
}

const gram_kernel_type gram_kernel_poly = {
    .name = "poly",
    .formula = "(x.y + c)^m",
    .form = GRAM_FORM_DOT,
    .spec_count = 2,
    .specs = {{.name = "m",
               .role = GRAM_ROLE_STRUCTURE,
               .initial = 3,
               .lower = 1,
               .upper = MAX_DEGREE,
               .whole = 1,
               .aliases = {{"degree", NULL}}},
              {.name = "c",
               .role = GRAM_ROLE_SHAPE,
               .initial = 1,
               .lower = 0,
               .upper = INFINITY,
               .transform = GRAM_TRANSFORM_LOG,
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
