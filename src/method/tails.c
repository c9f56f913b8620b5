/* The tail of the gamma distribution is the regularised incomplete gamma function Q(a, x) = 1 - P(a, x).
 *
 * Below x = a + 1 the series P(a, x) = x^a e^-x / Gamma(a + 1) sum_k x^k/((a + 1) ... (a + k)) converges fast; above it the
 * continued fraction Q(a, x) = x^a e^-x / Gamma(a) 1/(x + 1 - a - 1 (1 - a)/(x + 3 - a - ...)), summed from the front by the
 * modified Lentz algorithm (DLMF 8.11.4, 8.9.2; Lentz, Applied Optics 15, 1976). */
#include "tails.h"

#include <float.h>
#include <math.h>

enum { MOST_TERMS = 100000 };

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
    const double front = exp(shape * log(x) - x - lgamma(shape));
    const double tail = x < shape + 1 ? 1 - front / shape * series(shape, x) : front * fraction(shape, x);
    return fmin(fmax(tail, 0), 1);
}
