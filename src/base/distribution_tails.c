/* The tail of the gamma distribution is the regularised incomplete gamma function Q(a, x) = 1 - P(a, x).
 *
 * Below x = a + 1 the series P(a, x) = x^a e^-x / Gamma(a + 1) sum_k x^k/((a + 1) ... (a + k)) converges fast; above it the
 * continued fraction Q(a, x) = x^a e^-x / Gamma(a) 1/(x + 1 - a - 1 (1 - a)/(x + 3 - a - ...)), summed from the front by the
 * modified Lentz algorithm (DLMF 8.11.4, 8.9.2; Lentz, Applied Optics 15, 1976).
 *
 * That of Student's t is I_x(f/2, 1/2)/2 at x = f/(f + t^2), for t > 0: the regularised incomplete beta function, by its continued
 * fraction (DLMF 8.17.22), with the roles of x and 1 - x exchanged where that converges faster. */
#define _DEFAULT_SOURCE /* lgamma_r */
#include "base/distribution_tails.h"

#include <float.h>
#include <math.h>

enum { MOST_TERMS = 100000 };

double gram_log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

double gram_tail_normal(double x)
{
    return 0.5 * erfc(x * 0.70710678118654752440);
}

static double series(double a, double x)
{
    double term = 1, sum = 1;
    for (int k = 1; k < MOST_TERMS && term > sum * DBL_EPSILON / 4; k++) {
        term *= x / (a + k);
        sum += term;
    }
    return sum;
}

static double fraction(double a, double x)
{
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
    for (int k = 1; k < MOST_TERMS; k++) {
        const double top = -k * (k - a);
        b += 2;
        d = 1 / (top * d + b);
        c = b + top / c;
        h *= c * d;
        if (fabs(c * d - 1) < DBL_EPSILON) break;
    }
    return h;
}

double gram_tail_gamma(double shape, double x)
{
    if (!(x > 0)) return 1;
    const double front = exp(shape * log(x) - x - gram_log_gamma(shape));
    const double tail = x < shape + 1 ? 1 - front / shape * series(shape, x) : front * fraction(shape, x);
    return fmin(fmax(tail, 0), 1);
}

double gram_tail_gamma_score(double value, double mean, double deviation)
{
    const double variance = deviation * deviation;
    if (!(value > mean)) return 0;
    const double tail = gram_tail_gamma(mean * mean / variance, value * mean / variance);
    return tail > 1e-290 ? -log(tail) : 290 * log(10) + (value - mean) / deviation;
}

/* Gamma(a + 1/2)/Gamma(a): the difference of logarithms of large numbers loses digits, so for large a the series in 1/a
 * (DLMF 5.11.13) */
static double gamma_ratio(double a)
{
    if (a < 100) return exp(gram_log_gamma(a + 0.5) - gram_log_gamma(a));
    const double r = 1 / a;
    return sqrt(a) *
           (1 + r * (-1.0 / 8 + r * (1.0 / 128 + r * (5.0 / 1024 + r * (-21.0 / 32768 - r * 399.0 / 262144)))));
}

/* The continued fraction of I_x(a, b), without its factor x^a (1 - x)^b/(a B(a, b)) */
static double beta_fraction(double a, double b, double x)
{
    double c = 1e300, d = 1, h = 1;
    for (int k = 1; k < MOST_TERMS; k++) {
        const double m = floor(0.5 * k);
        const double top = k % 2 ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                                 : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / (1 + top * d);
        c = 1 + top / c;
        h *= c * d;
        if (fabs(c * d - 1) < DBL_EPSILON) break;
    }
    return h;
}

double gram_tail_student(double freedom, double t)
{
    const double a = 0.5 * freedom, rest = t * t / (freedom + t * t), x = freedom / (freedom + t * t);
    /* x^a (1 - x)^(1/2)/B(a, 1/2) */
    const double front = gamma_ratio(a) * 0.56418958354775628695 * exp(-a * log1p(t * t / freedom)) * sqrt(rest);
    if (isinf(t)) return t < 0 ? 1 : 0;
    const double upper = x < (a + 1) / (a + 2.5) ? 0.5 * front / a * beta_fraction(a, 0.5, x)
                                                 : 0.5 - front * beta_fraction(0.5, a, rest);
    return t < 0 ? 1 - upper : upper;
}

/* ---- quantiles ---- */

/* Between two numbers, the smaller of which has the larger tail, until they are neighbours. */
static double bisect(double (*tail_at)(double, double), double parameter, double tail, double low, double high)
{
    while (low < 0.5 * (low + high) && 0.5 * (low + high) < high) {
        const double middle = 0.5 * (low + high);
        if (tail_at(parameter, middle) > tail)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static double student_or_normal(double freedom, double t)
{
    return isinf(freedom) ? gram_tail_normal(t) : gram_tail_student(freedom, t);
}

double gram_quantile_student(double freedom, double tail)
{
    double high = 1;
    if (!(tail > 0 && tail < 1 && freedom > 0)) return NAN;
    if (tail == 0.5) return 0;
    if (tail > 0.5) return -gram_quantile_student(freedom, 1 - tail);
    while (student_or_normal(freedom, high) > tail && high < 1e300) high *= 2;
    return bisect(student_or_normal, freedom, tail, 0, high);
}

double gram_quantile_gamma(double shape, double tail)
{
    double high = shape + 1;
    if (!(tail > 0 && tail < 1 && shape > 0)) return NAN;
    while (gram_tail_gamma(shape, high) > tail && high < 1e300) high *= 2;
    return bisect(gram_tail_gamma, shape, tail, 0, high);
}
