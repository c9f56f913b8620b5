/* matern(nu, ell): k = 2^(1-nu)/Gamma(nu) a^nu K_nu(a), a = sqrt(2 nu z), z = sum_l ((x_l - y_l)/ell_l)^2.
 *
 * nu = p + 1/2, p = 0, 1, 2: a polynomial of degree p in a times exp(-a).
 *
 *   nu = 1/2: e^-a            dk/dz = -e^-a/(2 a)   (a kink at 0)
 *   nu = 3/2: (1 + a) e^-a    dk/dz = -3/2 e^-a
 *   nu = 5/2: (1 + a + a^2/3) e^-a    dk/dz = -5/6 (1 + a) e^-a
 *
 * Any other nu: from (a^nu K_nu)' = -a^nu K_(nu-1) and da/dz = nu/a,
 *
 *   dk/dz = -nu 2^(1-nu)/Gamma(nu) a^(nu-1) K_(nu-1)(a),   at 0: -nu/(2 (nu - 1)) for nu > 1, else infinite: a kink.
 *
 * Then d2k/dz2 = nu^2 2^(1-nu)/Gamma(nu) a^(nu-2) K_(nu-2)(a), for nu > 2 at 0: nu^2/(4 (nu - 1) (nu - 2)), else infinite.
 * By the recurrence of K it is (nu k + 2 (nu - 1) dk/dz)/(2 z). For nu = 3/2: 9/4 e^-a/a, for nu = 5/2: 25/12 e^-a.
 *
 * A Bessel function costs some 200 ns, so `prepare` tabulates log2 k and log2 -dk/dz, once for each leaf, and the profile
 * is 2 to the power of a piecewise polynomial (exp2_pieces), about as much work as an exponential.
 *
 * The table. Neither function has a zero for |arg a| <= pi/2 (K_nu has none there), so both logarithms are analytic in the
 * plane of z cut along the negative axis, and on pieces of an octave's quarter, [1, 1.25] 2^e at worst, the Chebyshev
 * series converges like 17.9^-n whatever e is, even where z^nu or sqrt(z) is singular at 0. They grow no faster than
 * sqrt(z) or z while log2 k goes down to -1075, so at degree 11 what is left out is below 2 |binomial(1/2, 12)|
 * 17.9^-12 1075 = 1e-14. The logarithm is why one degree serves every nu: k e^a, the other thing to tabulate, grows like
 * z^(nu/2 - 1/4). What rounding does to log2 k is a relative error of k of 3 |log2 k| 2^-53 or so: 2e-13 at k = 1e-168,
 * where nu = 30 is at r/ell = 50.
 *
 * The last piece is where k has become 0 (below 2^-1022); the first is 48 octaves lower, which is below r/ell = 2e-4 for
 * nu >= 0.05. Nearer pairs that are not equal go through the Bessel function, one by one. */
#include <float.h>
#include <math.h>

#include "kernel/family_facts.h"
#include "kernel/spectral/bessel_k.h"

enum { NU, DEGREES = 3, NODES = GRAM_PIECES_TERMS, PIECES = GRAM_PIECES_OCTAVE * GRAM_PIECES_OCTAVES };

static const double MOST_NU = 1000;
static const double MOST_HALF = 12; /* below it half-integers have derivatives in closed form */

static const double POLYNOMIAL[DEGREES][3] = {{1}, {1, 1}, {1, 1, 1.0 / 3}};
static const float POLYNOMIAL_F32[DEGREES][3] = {{1}, {1, 1}, {1, 1, 1.0F / 3}};
/* dk/dz / e^-a for nu = 3/2 and 5/2 */
static const double SLOPE[DEGREES][2] = {{0}, {-1.5}, {-5.0 / 6, -5.0 / 6}};

/* p of a closed form, -1 if there is none */
static int degree(const double *par)
{
    const int closed = par[NU] == 0.5 || par[NU] == 1.5 || par[NU] == 2.5;
    return closed ? (int)(par[NU] - 0.5) : -1;
}

/* ---- any nu: the table ---- */

typedef struct tables {
    gram_pieces k, slope;           /* log2 k, log2 -dk/dz */
    gram_bessel_order order, below; /* nu, nu - 1 */
} tables;

/* log2 of k and of -dk/dz, z > 0 */
static void logarithms(const gram_bessel_order *order, double z, double *k, double *slope)
{
    gram_bessel_k_log2(order, 2 * order->nu * z, k, slope);
    *slope += log2(order->nu);
}

/* For polynomials through values at the nodes u_i = cos(pi (i + 1/2)/NODES). */
typedef struct chebyshev {
    double nodes[NODES];
    double weights[NODES][NODES]; /* (2 - [j = 0])/NODES T_j(u_i) */
    double powers[NODES][NODES];  /* T_j = sum_i powers[j][i] u^i */
} chebyshev;

static void chebyshev_set(chebyshev *c)
{
    const double pi = 0x1.921fb54442d18p1;
    for (int i = 0; i < NODES; i++) c->nodes[i] = cos(pi * (i + 0.5) / NODES);
    for (int j = 0; j < NODES; j++)
        for (int i = 0; i < NODES; i++) {
            c->weights[j][i] = (j ? 2.0 : 1.0) / NODES * cos(pi * j * (i + 0.5) / NODES);
            /* T_(j+1) = 2 u T_j - T_(j-1), T_1 = u */
            const double raised = j && i ? c->powers[j - 1][i - 1] : 0, before = j > 1 ? c->powers[j - 2][i] : 0;
            c->powers[j][i] = j ? (j > 1 ? 2 : 1) * raised - before : i == 0;
        }
}

/* The polynomial through the values: its Chebyshev coefficients, then powers of u. Differences from one value are used:
 * they are small, and so is their rounding. */
static void interpolate(const chebyshev *c, const double *values, double *coefficients)
{
    for (int i = 0; i < NODES; i++) coefficients[i] = 0;
    for (int j = 0; j < NODES; j++) {
        double b = 0;
        for (int i = 0; i < NODES; i++) b += c->weights[j][i] * (values[i] - values[NODES / 2]);
        for (int i = 0; i < NODES; i++) coefficients[i] += b * c->powers[j][i];
    }
    coefficients[0] += values[NODES / 2];
}

/* The power of two where the table ends: k is 0 from there on. */
static int last_exponent(const gram_bessel_order *order)
{
    double k, slope;
    for (int exponent = 8; exponent < DBL_MAX_EXP - 1; exponent++) {
        logarithms(order, ldexp(1, exponent), &k, &slope);
        if (k < DBL_MIN_EXP - 4) return exponent;
    }
    return DBL_MAX_EXP - 1;
}

static void prepare(const double *par, int64_t d, void *data)
{
    tables *t = data;
    (void)d;
    if (degree(par) >= 0) return;
    const double nu = par[NU];
    double k[NODES], slope[NODES];
    chebyshev c;
    chebyshev_set(&c);
    gram_bessel_order_set(nu, &t->order);
    const int end = last_exponent(&t->order), begin = end - GRAM_PIECES_OCTAVES;
    for (int piece = 0; piece < PIECES; piece++) {
        const double unit = ldexp(1, begin + piece / GRAM_PIECES_OCTAVE);
        for (int i = 0; i < NODES; i++) {
            const double place = piece % GRAM_PIECES_OCTAVE + 0.5 + 0.5 * c.nodes[i];
            logarithms(&t->order, unit * (1 + place / GRAM_PIECES_OCTAVE), &k[i], &slope[i]);
        }
        interpolate(&c, k, t->k.coefficients[piece]);
        interpolate(&c, slope, t->slope.coefficients[piece]);
    }
    t->k.low = t->slope.low = ldexp(1, begin);
    t->k.high = t->slope.high = nextafter(ldexp(1, end), 0);
    t->k.at_zero = t->k.most = 1;
    t->slope.at_zero = nu > 1 ? nu / (2 * (nu - 1)) : 0;
    t->slope.most = DBL_MAX;
    if (nu > 1) gram_bessel_order_set(nu - 1, &t->below);
}

/* What a table leaves for pairs below its first piece, s > 0 */
static double near_k(const tables *t, double z)
{
    double k, slope;
    if (!(z > 0)) return t->k.at_zero;
    logarithms(&t->order, z, &k, &slope);
    return fmin(exp2(k), 1);
}

static double near_slope(const tables *t, double z)
{
    double k, slope;
    if (!(z > 0)) return t->slope.at_zero;
    logarithms(&t->order, z, &k, &slope);
    return fmin(exp2(slope), DBL_MAX);
}

/* The recurrence subtracts: where more than three bits go, the Bessel function takes its place. */
static double curvature_at(const tables *t, double z, double k, double slope)
{
    const double nu = t->order.nu, sum = nu * k + 2 * (nu - 1) * slope;
    double above, below;
    if (!(z > 0)) return nu > 2 ? nu * nu / (4 * (nu - 1) * (nu - 2)) : 0;
    if (sum > 0.125 * nu * k || !(k > 0)) return sum / (2 * z);
    gram_bessel_k_log2(&t->below, 2 * nu * z, &above, &below);
    return nu * nu / (2 * (nu - 1)) * exp2(below);
}

/* ---- the slots ---- */

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    (void)work;
    const int p = degree(shape->par);
    if (p >= 0) {
        v->poly_exp_sqrt(n, 2 * shape->par[NU] * shape->scale, p, POLYNOMIAL[p], s, out);
        return;
    }
    const tables *t = shape->data;
    int below = v->exp2_pieces(n, &t->k, shape->scale, s, out);
    for (int i = 0; below > 0; i++)
        if (out[i] < 0) out[i] = near_k(t, shape->scale * -out[i]), below--;
}

static void profile_f32(const gram_vecmath_f32 *v, const gram_shape *shape, int n, const float *s, float *out,
                        float *work)
{
    (void)work;
    const int p = degree(shape->par);
    if (p >= 0) {
        v->poly_exp_sqrt(n, (float)(2 * shape->par[NU] * shape->scale), p, POLYNOMIAL_F32[p], s, out);
        return;
    }
    const tables *t = shape->data;
    int below = v->exp2_pieces(n, &t->k, shape->scale, s, out);
    for (int i = 0; below > 0; i++)
        if (out[i] < 0) out[i] = (float)near_k(t, shape->scale * -(double)out[i]), below--;
}

/* 1 - p(a) e^-a = e^-a sum_j (1/j! - p_j) a^j: the coefficients are not negative, those of a^0 vanish. */
static double deficit_series(const double *polynomial, int p, double a)
{
    double sum = 0, power = 1, factorial = 1;
    for (int j = 1; j <= 20; j++) {
        power *= a;
        factorial *= j;
        sum += (1 / factorial - (j <= p ? polynomial[j] : 0)) * power;
    }
    return exp(-a) * sum;
}

static int deficit(const gram_shape *shape, int n, const double *s, double *out)
{
    const int p = degree(shape->par);
    if (p < 0) return 0;
    const double *polynomial = POLYNOMIAL[p];
    for (int i = 0; i < n; i++) {
        const double a = sqrt(2 * shape->par[NU] * shape->scale * s[i]);
        const double value = p == 0 ? 1 : p == 1 ? 1 + a : 1 + a + polynomial[2] * a * a;
        out[i] = p == 0 ? -expm1(-a) : a < 1 ? deficit_series(polynomial, p, a) : 1 - value * exp(-a);
    }
    return 1;
}

static void slope(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                  double *out)
{
    const int p = degree(shape->par);
    if (p > 0) {
        v->poly_exp_sqrt(n, 2 * shape->par[NU] * shape->scale, p - 1, SLOPE[p], s, out);
        return;
    }
    if (p == 0) {
        for (int i = 0; i < n; i++) {
            const double a = sqrt(shape->scale * s[i]);
            out[i] = a > 0 ? -0.5 * k[i] / a : 0;
        }
        return;
    }
    const tables *t = shape->data;
    int below = v->exp2_pieces(n, &t->slope, shape->scale, s, out);
    for (int i = 0; below > 0; i++)
        if (out[i] < 0) out[i] = near_slope(t, shape->scale * -out[i]), below--;
    v->affine(n, -1, 0, out, out);
}

/* for nu > 1 */
static void curvature(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                      const double *slopes, double *out)
{
    const int p = degree(shape->par);
    (void)v;
    for (int i = 0; i < n; i++) {
        const double z = shape->scale * s[i], a = sqrt(2 * shape->par[NU] * z);
        out[i] = p < 0    ? curvature_at(shape->data, z, k[i], slopes[i])
                 : p == 2 ? -2.5 * slopes[i] / (1 + a)
                 : a > 0  ? -1.5 * slopes[i] / a
                          : 0;
    }
}

/* ---- derivatives of any order ----
 *
 *   d^q k/dz^q = (-nu)^q 2^(1-nu)/Gamma(nu) a^(nu-q) K_(nu-q)(a),
 *
 * with K_-m = K_m where nu < q; at 0 for q < nu: (-nu/2)^q/((nu - 1) ... (nu - q)), else infinite. */

/* 2^(1-nu)/Gamma(nu) a^m K_m(a), m = nu - q, a^2 = y > 0. In terms of M_m of bessel_k.h for m > 0: 2^-q M_m/((nu - 1) ... (nu - q)). */
static double power_bessel(double nu, int q, double y)
{
    gram_bessel_order order;
    const double m = nu - q;
    double whole, below, front = 1;
    gram_bessel_order_set(m == 0 ? 1 : fabs(m), &order);
    gram_bessel_k_log2(&order, y, &whole, &below);
    for (int j = 1; j <= q && m > 0; j++) front /= 2 * (nu - j);
    if (m > 0) return front * exp2(whole);
    front = exp2(1 - nu) / tgamma(nu); /* nu <= q is small */
    if (m == 0) return front * exp2(below);
    return front * tgamma(-m) * exp2(whole - m - 1 + m * log2(y));
}

/* a^m K_m(a)/sqrt(pi/2) for m = +-(j + 1/2): e^-a times a reverse Bessel polynomial, 1, 1 + a, ..., t_(j+1) = (2j + 1) t_j +
 * a^2 t_(j-1), and for negative m over a^(2j + 1). */
static double half_integer_bessel(double m, double a)
{
    const int steps = (int)(fabs(m) - 0.5);
    double before = 1 / a, t = 1; /* t_(-1) = 1/a, t_0 = 1 */
    for (int j = 0; j < steps; j++) {
        const double next = (2 * j + 1) * t + a * a * before;
        before = t;
        t = next;
    }
    for (int j = 0; m < 0 && j < 2 * steps + 1; j++) t /= a;
    return t * exp(-a);
}

/* 2^(1-nu)/Gamma(nu) sqrt(pi/2) for nu = p + 1/2: 1/(1 3 5 ... (2p - 1)) */
static double half_integer_front(double nu)
{
    double front = 1;
    for (double odd = 2 * nu - 2; odd > 1; odd -= 2) front /= odd;
    return front;
}

static double derivative_at(double nu, int q, double z)
{
    double front = 1;
    if (!(z > 1e-150)) {
        for (int j = 1; j <= q; j++) front *= j < nu ? -0.5 * nu / (nu - j) : 0;
        return front;
    }
    for (int j = 1; j <= q; j++) front *= -nu;
    if (nu < MOST_HALF && nu - floor(nu) == 0.5)
        return front * half_integer_front(nu) * half_integer_bessel(nu - q, sqrt(2 * nu * z));
    return front * power_bessel(nu, q, 2 * nu * z);
}

/* e^-a/a and (1 + a) e^-a/a^3 are what the curvature of nu = 5/2 has for derivatives, times -5/2 and 25/4 */
static double derivative_closed(int p, int q, double a, double curvature)
{
    if (!(a > 1e-75)) return 0;
    const double first = -0.5 * (2 * p + 1) / a;
    return p == 2 && q == 3 ? curvature * first : p == 2 && q == 4 ? curvature * 6.25 * (1 + a) / (a * a * a) : 0;
}

static void derivatives(const gram_vecmath_f64 *v, const gram_shape *shape, int order, int n, const double *s,
                        int64_t ld, double *out)
{
    _Alignas(64) double work[GRAM_BLOCK_COLUMNS];
    const double nu = shape->par[NU];
    const int p = degree(shape->par);
    profile(v, shape, n, s, out, work);
    if (order > 0) slope(v, shape, n, s, out, out + ld);
    if (order > 1) curvature(v, shape, n, s, out, out + ld, out + 2 * ld);
    for (int q = 3; q <= order; q++)
        for (int i = 0; i < n; i++) {
            const double z = shape->scale * s[i];
            out[q * ld + i] =
                p < 0 ? derivative_at(nu, q, z) : derivative_closed(p, q, sqrt(2 * nu * z), out[2 * ld + i]);
        }
}

static const char *rough(const double *par)
{
    return !(par[NU] > 1) ? "it needs nu > 1" : NULL;
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    gram_facts_smooth_stationary(facts);
    facts->derivatives = (int)ceil(par[NU]) - 1; /* orders below nu */
    facts->draw_smoothness = par[NU];
    facts->sobolev_order = par[NU] + 0.5 * (double)d;
}

static const char *refuse(const double *par)
{
    return par[NU] <= MOST_NU ? NULL : "nu must be at most 1000; the limit of large nu is rbf";
}

const gram_kernel_type gram_kernel_matern = {
    .name = "matern",
    .formula = "2^(1-nu)/Gamma(nu) a^nu K_nu(a), a = sqrt(2 nu) |x - y|/ell",
    .form = GRAM_FORM_SQDIST,
    .spec_count = 2,
    .specs =
        {{.name = "nu", .role = GRAM_ROLE_STRUCTURE, .initial = 2.5, .lower = 0, .lower_open = 1, .upper = INFINITY},
         GRAM_LENGTH_SPEC({NULL, NULL})},
    .refuse = refuse,
    .data_bytes = sizeof(tables),
    .prepare = prepare,
    .facts = facts,
    .profile = profile,
    .profile_f32 = profile_f32,
    .deficit = deficit,
    .slope = slope,
    .curvature = curvature,
    .derivatives = derivatives,
    .rough = rough,
};
