/* powexp(p, ell): exp(-w), w = z^(p/2), z = sum_l ((x_l - y_l)/ell_l)^2, 0 < p <= 2: from laplace (p = 1) to
 * exp(-r^2/ell^2), which is rbf(ell/sqrt 2) (p = 2).
 *
 *   dk/dz = -p/2 z^(p/2 - 1) e^-w, a kink at 0 for p < 2
 *
 * For p > 2 it is not positive definite in any dimension (Schoenberg 1938). For p < 2 it is the characteristic function
 * of a stable law: its spectral density is positive and falls like |w|^-(d+p) (Blumenthal and Getoor 1960), so that H is
 * the Sobolev space of order (d + p)/2. */
#include <math.h>

#include "kernel/family_facts.h"

enum { P };

static const char *refuse(const double *par)
{
    return par[P] > 2 ? "p must be at most 2: above it the kernel is not positive definite" : NULL;
}

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    static const double ONE[] = {1};
    (void)work;
    if (shape->par[P] == 2) {
        v->exp_scaled(n, -shape->scale, s, out);
    } else if (shape->par[P] == 1) {
        v->poly_exp_sqrt(n, shape->scale, 0, ONE, s, out);
    } else {
        v->affine(n, shape->scale, 0, s, out);
        v->pow(n, 0.5 * shape->par[P], out, out);
        v->exp_scaled(n, -1, out, out);
    }
}

static void profile_f32(const gram_vecmath_f32 *v, const gram_shape *shape, int n, const float *s, float *out,
                        float *work)
{
    static const float ONE[] = {1};
    (void)work;
    if (shape->par[P] == 2) {
        v->exp_scaled(n, (float)-shape->scale, s, out);
    } else if (shape->par[P] == 1) {
        v->poly_exp_sqrt(n, (float)shape->scale, 0, ONE, s, out);
    } else {
        v->pow_affine(n, 0, shape->scale, 0.5 * shape->par[P], s, out);
        v->exp_scaled(n, -1, out, out);
    }
}

static int deficit(const gram_shape *shape, int n, const double *s, double *out)
{
    for (int i = 0; i < n; i++) out[i] = -expm1(-pow(shape->scale * s[i], 0.5 * shape->par[P]));
    return 1;
}

static void slope(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                  double *out)
{
    const double half = 0.5 * shape->par[P];
    if (half == 1) {
        v->affine(n, -1, 0, k, out);
        return;
    }
    v->affine(n, shape->scale, 0, s, out);
    v->pow(n, half, out, out);
    for (int i = 0; i < n; i++) {
        const double z = shape->scale * s[i];
        out[i] = z > 0 && k[i] > 0 ? -half * out[i] / z * k[i] : 0;
    }
}

/* for p = 2 */
static void curvature(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                      const double *slopes, double *out)
{
    (void)shape, (void)s, (void)slopes;
    v->affine(n, 1, 0, k, out);
}

/* for p = 2 only, which alone has derivatives: (-1)^q k */
static void derivatives(const gram_vecmath_f64 *v, const gram_shape *shape, int order, int n, const double *s,
                        int64_t ld, double *out)
{
    v->exp_scaled(n, -shape->scale, s, out);
    for (int q = 1; q <= order; q++) v->affine(n, -1, 0, out + (q - 1) * ld, out + q * ld);
}

static const char *rough(const double *par)
{
    return par[P] < 2 ? "it needs p = 2" : NULL;
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    gram_facts_smooth_stationary(facts);
    facts->derivatives = par[P] < 2 ? 0 : GRAM_INFINITE;
    if (par[P] < 2) facts->draw_smoothness = 0.5 * par[P];
    facts->sobolev_order = par[P] < 2 ? 0.5 * ((double)d + par[P]) : NAN;
}

const gram_kernel_type gram_kernel_powexp = {
    .name = "powexp",
    .formula = "exp(-(|x - y|/ell)^p)",
    .form = GRAM_FORM_SQDIST,
    .spec_count = 2,
    .specs = {{.name = "p", .role = GRAM_ROLE_STRUCTURE, .initial = 1, .lower = 0, .lower_open = 1, .upper = INFINITY},
              GRAM_LENGTH_SPEC({NULL, NULL})},
    .refuse = refuse,
    .facts = facts,
    .profile = profile,
    .profile_f32 = profile_f32,
    .deficit = deficit,
    .slope = slope,
    .curvature = curvature,
    .derivatives = derivatives,
    .rough = rough,
};
