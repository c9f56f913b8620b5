/* The logarithms of h and Phi.
 *
 * For t = -z > 2 Laplace's continued fraction of the upper tail is used,
 *
 *     Phi(-t)/phi(t) = 1/(t + C),   C = 1/(t + 2/(t + 3/(t + ...))),
 *
 * in which nothing cancels: h(-t)/phi(t) = 1 - t/(t + C) = C/(t + C), where the plain difference loses all digits at t = 1e8.
 * The derivatives are 1/C and t + C. 64 levels leave less than a rounding error from t = 2 on.
 *
 * S. Ament et al., Unexpected improvements to expected improvement, NeurIPS 2023, say why the logarithm matters. */
#include <math.h>

#include "study/improvement.h"

enum { LEVELS = 64 };
static const double TAIL = -2, LOG_ROOT_2_PI = 0.918938533204672741780, ROOT_2_PI = 2.50662827463100050242;
static const double ROOT_HALF = 0.707106781186547524401;

/* C of the comment above. */
static double continued(double t)
{
    double c = t;
    for (int level = LEVELS; level >= 2; level--) c = t + level / c;
    return 1 / c;
}

static double log_density(double z)
{
    return -0.5 * z * z - LOG_ROOT_2_PI;
}

static double distribution(double z)
{
    return 0.5 * erfc(-z * ROOT_HALF);
}

double gram_log_improvement(double z, double *slope)
{
    if (z < TAIL) {
        const double c = continued(-z);
        if (slope) *slope = 1 / c;
        return log_density(z) + log(c) - log(c - z);
    }
    const double h = exp(-0.5 * z * z) / ROOT_2_PI + z * distribution(z);
    if (slope) *slope = distribution(z) / h;
    return log(h);
}

double gram_log_normal(double z, double *slope)
{
    if (z < TAIL) {
        const double ratio = continued(-z) - z;
        if (slope) *slope = ratio;
        return log_density(z) - log(ratio);
    }
    const double share = distribution(z);
    if (slope) *slope = exp(-0.5 * z * z) / ROOT_2_PI / share;
    return z > 1 ? log1p(-distribution(-z)) : log(share);
}
