/* wendland(k, ell): Wendland's functions of compact support (1995), k = 0, 1, 2. With r = sqrt(z), z = sum_l ((x_l -
 * y_l)/ell_l)^2, and l = floor(d/2) + k + 1, where d is the number of columns that the kernel sees:
 *
 *   k = 0: (1 - r)^l
 *   k = 1: (1 - r)^(l+1) (1 + (l+1) r)
 *   k = 2: (1 - r)^(l+2) (1 + (l+2) r + (l+1)(l+3)/3 r^2)
 *
 * for r < 1, and 0 beyond. These are the polynomials of least degree that are 2 k times continuously differentiable and
 * positive definite on R^d; the same formula with a smaller l is not positive definite there.
 *
 * Each is an integral of the one before it at the same l, hence by z = r^2 at r > 0, writing w_k for them,
 *
 *   w_2' = -(l+3)(l+4)/6 w_1,    w_1' = -(l+1)(l+2)/2 w_0,    w_0' = -l/(2 r) (1 - r)^(l-1), a kink at 0.
 *
 * A ratio of neighbours has no power in it, so that derivatives come from k by a division. The same integrals say that
 * 1 - k is the chance of one or more successes in l independent trials of probability r each (k = 0), of two or more in
 * l + 2 (k = 1), a mixture of two such chances (k = 2): sums of positive terms, which lose no digits for small r.
 *
 * Facts. The Fourier transform in R^d of w_k is that of (1 - r)^l in R^D, D = d + 2 k, l = floor(D/2) + 1, which is not
 * negative (Askey 1973) and has isolated zeros at most: strictly positive definite, characteristic, universal. For D > 1
 * it lies between two multiples of (1 + |w|)^-(D+1): the Sobolev space of order (D + 1)/2 (Wendland 2005, theorem 10.35,
 * for D > 2; for D = 2, (1 - r)^2 is a mixture of (t - r)^1.5 over t < 1, and its kink at 0 outweighs that at 1). For
 * D = 1 it is sinc^2, which has zeros. */
#include <math.h>

#include "kernel/family_facts.h"

enum { K, TERMS = 3 };

/* Squaring loses half a last place with each factor; from here on a logarithm loses less. */
static const double MOST_SQUARED = 16;

/* l */
static double exponent(const double *par, int64_t d)
{
    return (double)(d / 2) + par[K] + 1;
}

/* The polynomial beside the power. */
static void polynomial(double l, int k, double c[TERMS])
{
    c[0] = 1;
    c[1] = k == 1 ? l + 1 : l + 2;
    c[2] = (l + 1) * (l + 3) / 3;
}

static double radius(const gram_shape *shape, double s)
{
    const double r = sqrt(shape->scale * s);
    return r > 1 ? 1 : r;
}

/* out = (1 - r)^m. What 1 - r lost when it was rounded comes back as a factor: it would be worth m roundings. */
static void raise(const gram_vecmath_f64 *v, double m, int n, const double *r, double *out)
{
    v->affine(n, -1, 1, r, out);
    if (m <= MOST_SQUARED)
        v->power(n, (int)m, out, out);
    else
        v->pow(n, m, out, out);
    for (int i = 0; i < n; i++) {
        const double rest = 1 - r[i], lost = (1 - rest) - r[i];
        out[i] *= rest > 0 ? 1 + m * lost / rest : 0;
    }
}

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    const int k = (int)shape->par[K];
    const double l = exponent(shape->par, shape->d);
    double c[TERMS];
    v->sqrt_scaled(n, shape->scale, 1, s, work);
    raise(v, l + k, n, work, out);
    polynomial(l, k, c);
    if (k > 0) v->multiply_poly(n, k, c, work, out);
}

static void profile_f32(const gram_vecmath_f32 *v, const gram_shape *shape, int n, const float *s, float *out,
                        float *work)
{
    const int k = (int)shape->par[K];
    const double l = exponent(shape->par, shape->d);
    double c[TERMS];
    polynomial(l, k, c);
    const float narrow[TERMS] = {(float)c[0], (float)c[1], (float)c[2]};
    v->sqrt_scaled(n, (float)shape->scale, 1, s, work);
    v->pow_affine(n, 1, -1, l + k, work, out);
    if (k > 0) v->multiply_poly(n, k, narrow, work, out);
}

/* The chance of `least` or more successes in `trials` of probability r: whichever of the two sums is the smaller one. */
static double tail(double trials, int least, double r)
{
    double term = exp(trials * log1p(-r)), below = 0, sum = 0;
    if (!(r < 1)) return 1;
    for (int j = 0; j < least; j++) {
        below += term;
        term *= (trials - j) / (j + 1) * (r / (1 - r));
    }
    if (below < 0.5) return 1 - below;
    for (int j = least; j <= trials && term > 0x1p-60 * sum; j++) {
        sum += term;
        term *= (trials - j) / (j + 1) * (r / (1 - r));
    }
    return sum;
}

static int deficit(const gram_shape *shape, int n, const double *s, double *out)
{
    const int k = (int)shape->par[K];
    const double l = exponent(shape->par, shape->d), share = (l + 4) / (3 * (l + 2));
    for (int i = 0; i < n; i++) {
        const double r = radius(shape, s[i]);
        out[i] = k == 0   ? tail(l, 1, r)
                 : k == 1 ? tail(l + 2, 2, r)
                          : share * tail(l + 3, 2, r) + (1 - share) * tail(l + 4, 3, r);
    }
    return 1;
}

static void slope(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                  double *out)
{
    const int order = (int)shape->par[K];
    const double l = exponent(shape->par, shape->d);
    double c[TERMS];
    (void)v;
    polynomial(l, order, c);
    for (int i = 0; i < n; i++) {
        const double r = radius(shape, s[i]), rest = 1 - r;
        const double ratio = order == 0   ? -0.5 * l / r
                             : order == 1 ? -0.5 * (l + 1) * (l + 2) / (1 + c[1] * r)
                                          : -(l + 3) * (l + 4) / 6 * (1 + (l + 1) * r) / (1 + r * (c[1] + r * c[2]));
        out[i] = rest > 0 && (order > 0 || r > 0) ? ratio * k[i] / rest : 0;
    }
}

/* for k >= 1 */
static void curvature(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                      const double *slopes, double *out)
{
    const int order = (int)shape->par[K];
    const double l = exponent(shape->par, shape->d);
    (void)v, (void)k;
    for (int i = 0; i < n; i++) {
        const double r = radius(shape, s[i]), rest = 1 - r;
        const double ratio = order == 1 ? -0.5 * l / r : -0.5 * (l + 1) * (l + 2) / (1 + (l + 1) * r);
        out[i] = rest > 0 && (order > 1 || r > 0) ? ratio * slopes[i] / rest : 0;
    }
}

/* What follows a ratio that is w_0'/w_0 = -l/(2 r (1 - r)) or, at the same l, w_0''/w_0' = -((1 - r) + (l - 1) r)/(2 r^2 (1 - r)) */
static double kink_ratio(double l, int again, double r)
{
    const double rest = 1 - r;
    if (!(rest > 0) || !(r > 1e-75)) return 0;
    return again ? -0.5 * (rest + (l - 1) * r) / (r * r * rest) : -0.5 * l / (r * rest);
}

/* w_2' = -(l+3)(l+4)/6 w_1 and so on: each from the one before it, of which it is a multiple without powers */
static void derivatives(const gram_vecmath_f64 *v, const gram_shape *shape, int order, int n, const double *s,
                        int64_t ld, double *out)
{
    _Alignas(64) double work[GRAM_BLOCK_COLUMNS];
    const int k = (int)shape->par[K];
    const double l = exponent(shape->par, shape->d);
    profile(v, shape, n, s, out, work);
    if (order > 0) slope(v, shape, n, s, out, out + ld);
    if (order > 1) curvature(v, shape, n, s, out, out + ld, out + 2 * ld);
    for (int q = 3; q <= order; q++)
        for (int i = 0; i < n; i++)
            out[q * ld + i] = out[(q - 1) * ld + i] * kink_ratio(l, q - k - 1 > 0, radius(shape, s[i]));
}

static const char *rough(const double *par)
{
    return par[K] < 1 ? "it needs k >= 1" : NULL;
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    gram_facts_smooth_stationary(facts);
    facts->derivatives = (int)par[K];
    facts->draw_smoothness = par[K] + 0.5; /* the first odd power of r is 2 k + 1 */
    facts->sobolev_order = d == 1 && par[K] == 0 ? NAN : 0.5 * ((double)d + 1) + par[K];
}

const gram_kernel_type gram_kernel_wendland = {
    .name = "wendland",
    .formula = "(1 - r)^(l+k) p_k(r) for r = |x - y|/ell < 1, else 0; l = floor(d/2) + k + 1",
    .form = GRAM_FORM_SQDIST,
    .finite_only = 1,
    .spec_count = 2,
    .specs = {{.name = "k", .role = GRAM_ROLE_STRUCTURE, .initial = 1, .lower = 0, .upper = 2, .whole = 1},
              GRAM_LENGTH_SPEC({NULL, NULL})},
    .facts = facts,
    .profile = profile,
    .profile_f32 = profile_f32,
    .deficit = deficit,
    .slope = slope,
    .curvature = curvature,
    .derivatives = derivatives,
    .rough = rough,
};
