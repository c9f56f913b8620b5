/* monomial(m): 1 + x.y + (x.y)^2 + ... + (x.y)^m: every monomial up to degree m, each degree with the same weight.
 *
 * By Horner's rule, which is good enough for either sign of x.y: partial sums are of the size of the result, but near
 * x.y = -1 for odd m, where the result is 0 and its slope (m + 1)/2. */
#include "kernel/family_facts.h"

enum { M, MAX_DEGREE = 64 };

#define EIGHT_ONES 1, 1, 1, 1, 1, 1, 1, 1
#define ONES EIGHT_ONES, EIGHT_ONES, EIGHT_ONES, EIGHT_ONES, EIGHT_ONES, EIGHT_ONES, EIGHT_ONES, EIGHT_ONES, 1

static const double ONES_F64[MAX_DEGREE + 1] = {ONES};
static const float ONES_F32[MAX_DEGREE + 1] = {ONES};

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    v->fill(n, 1, work);
    v->multiply_poly(n, (int)shape->par[M], ONES_F64, s, work);
    v->affine(n, 1, 0, work, out);
}

static void profile_f32(const gram_vecmath_f32 *v, const gram_shape *shape, int n, const float *s, float *out,
                        float *work)
{
    v->fill(n, 1, work);
    v->multiply_poly(n, (int)shape->par[M], ONES_F32, s, work);
    v->affine(n, 1, 0, work, out);
}

/* 1 + 2 s + ... + m s^(m - 1) */
static void slope(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                  double *out)
{
    (void)k;
    double coefficients[MAX_DEGREE];
    for (int i = 0; i < MAX_DEGREE; i++) coefficients[i] = i + 1;
    v->fill(n, 1, out);
    v->multiply_poly(n, (int)shape->par[M] - 1, coefficients, s, out);
}

/* 2 + 6 s + ... + m (m - 1) s^(m - 2) */
static void curvature(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                      const double *slopes, double *out)
{
    (void)k, (void)slopes;
    double coefficients[MAX_DEGREE];
    for (int i = 0; i < MAX_DEGREE; i++) coefficients[i] = (i + 1) * (i + 2);
    v->fill(n, shape->par[M] > 1, out);
    if (shape->par[M] > 1) v->multiply_poly(n, (int)shape->par[M] - 2, coefficients, s, out);
}

/* sum_j j (j - 1) ... (j - q + 1) s^(j - q) */
static void derivatives(const gram_vecmath_f64 *v, const gram_shape *shape, int order, int n, const double *s,
                        int64_t ld, double *out)
{
    const int m = (int)shape->par[M];
    double coefficients[MAX_DEGREE + 1];
    for (int i = 0; i <= MAX_DEGREE; i++) coefficients[i] = 1;
    for (int q = 0; q <= order; q++) {
        v->fill(n, m >= q, out + q * ld);
        if (m >= q) v->multiply_poly(n, m - q, coefficients, s, out + q * ld);
        for (int i = 0; i < MAX_DEGREE; i++) coefficients[i] = coefficients[i + 1] * (i + 1);
    }
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    gram_facts_polynomial(facts, gram_monomial_count(d, par[M]), 1);
}

/* the term of degree 1 gives x */
static gram_answer injective(const double *par, int64_t d)
{
    (void)par, (void)d;
    return GRAM_YES;
}

const gram_kernel_type gram_kernel_monomial = {
    .name = "monomial",
    .formula = "1 + x.y + (x.y)^2 + ... + (x.y)^m",
    .form = GRAM_FORM_DOT,
    .spec_count = 1,
    .specs = {{.name = "m",
               .role = GRAM_ROLE_STRUCTURE,
               .initial = 3,
               .lower = 1,
               .upper = MAX_DEGREE,
               .whole = 1,
               .aliases = {{"degree", NULL}}}},
    .facts = facts,
    .injective = injective,
    .profile = profile,
    .profile_f32 = profile_f32,
    .slope = slope,
    .curvature = curvature,
    .derivatives = derivatives,
};
