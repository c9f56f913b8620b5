#include "kernel/spectral/frequency_forms.h"

#include <math.h>

#include "base/distribution_tails.h"
#include "kernel/spectral/bessel_k.h"

static const double PI = 3.14159265358979323846;

double gram_frequency_normal(double p, double w)
{
    (void)p;
    return exp(-0.5 * w * w) / sqrt(2 * PI);
}

double gram_frequency_student(double p, double w)
{
    return exp(gram_log_gamma(p + 0.5) - gram_log_gamma(p) - (p + 0.5) * log1p(w * w / (2 * p))) / sqrt(2 * p * PI);
}

double gram_frequency_cauchy(double p, double w)
{
    (void)p;
    return 1 / (PI * (1 + w * w));
}

double gram_frequency_uniform(double p, double w)
{
    (void)p;
    return w <= 1 ? 0.5 : 0;
}

/* (w/2)^q K_q(w)/(sqrt(pi) Gamma(p)), q = p - 1/2. With M_q(w) = 2^(1-q)/Gamma(q) w^q K_q(w) that is Gamma(q) M_q(w)/(2 sqrt(pi) Gamma(p)) for
 * q > 0, (w/2)^(2q) times the same of -q for q < 0, and K_0 = E_1 in between: poles at 0 for q <= 0. */
double gram_frequency_bessel(double p, double w)
{
    const double q = p - 0.5, size = fabs(q);
    double log2_m = 0, log2_e = 0;
    gram_bessel_order order;
    if (w == 0) return q > 0 ? exp(gram_log_gamma(q) - gram_log_gamma(p)) / (2 * sqrt(PI)) : INFINITY;
    if (w > 700 + 50 * p) return 0; /* M falls like exp(-w) */
    gram_bessel_order_set(size < 1e-9 ? 1 : size, &order);
    gram_bessel_k_log2(&order, w * w, &log2_m, &log2_e);
    if (size < 1e-9) return exp2(log2_e) / (sqrt(PI) * tgamma(p));
    const double common = exp(gram_log_gamma(size) - gram_log_gamma(p) + log2_m * log(2)) / (2 * sqrt(PI));
    return q > 0 ? common : common * pow(0.5 * w, 2 * q);
}

/* log g at the angle a = (pi/2) s, rest = 1 - s: g = w^(p/(p-1)) (cos a/sin(p a))^(p/(p-1)) cos((p - 1) a)/cos a, which rises from 0 to
 * infinity for p < 1 and falls for p > 1. */
static double stable_log(double p, double w, double s, double rest)
{
    const double a = 0.5 * PI * s, cosine = sin(0.5 * PI * rest);
    return p / (p - 1) * log(w * cosine / sin(p * a)) + log(cos((p - 1) * a) / cosine);
}

/* f(w) = p/(pi |p - 1| w) int g exp(-g) da over (0, pi/2) (Zolotarev 1986, Nolan 1997), by the double exponential rule on both sides of the
 * place where g = 1 and the integrand is largest. */
static double stable_integral(double p, double w)
{
    enum { HALVINGS = 80, STEPS = 1600 };
    const double h = 8.0 / STEPS;
    double low = 0, high = 1, sum = 0;
    for (int i = 0; i < HALVINGS; i++) {
        const double s = 0.5 * (low + high);
        *((stable_log(p, w, s, 1 - s) > 0) == (p < 1) ? &high : &low) = s;
    }
    const double halves[2] = {0.5 * high, 0.5 * (1 - low)};
    for (int side = 0; side < 2; side++)
        for (int i = -STEPS / 2; i <= STEPS / 2; i++) {
            const double t = h * i, u = 0.5 * PI * sinh(t), slope = 0.5 * PI * cosh(t) / (cosh(u) * cosh(u));
            const double end = halves[side] * 2 / (1 + exp(2 * u)); /* the distance from 0, or from 1 */
            if (!(end > 0 && end < 1)) continue;
            const double log_g = side == 0 ? stable_log(p, w, end, 1 - end) : stable_log(p, w, 1 - end, end);
            if (log_g > -745 && log_g < 7) sum += h * slope * halves[side] * exp(log_g - exp(log_g));
        }
    return 0.5 * p / (fabs(p - 1) * w) * sum;
}

double gram_frequency_stable(double p, double w)
{
    if (w == 0) return tgamma(1 + 1 / p) / PI;
    if (p == 2) return exp(-0.25 * w * w) / (2 * sqrt(PI));
    if (p == 1) return gram_frequency_cauchy(0, w);
    if (fabs(p - 1) < 1e-4) { /* the formula has 1/(p - 1) in its exponents: a straight line to its neighbour */
        const double at = p > 1 ? 1 + 1e-4 : 1 - 1e-4, edge = stable_integral(at, w),
                     centre = gram_frequency_cauchy(0, w);
        return centre + (edge - centre) * (p - 1) / (at - 1);
    }
    return stable_integral(p, w);
}
