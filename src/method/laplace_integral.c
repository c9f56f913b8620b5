/* Means of the logistic function and of the softmax over a Gaussian.
 *
 * Logistic, deviation s <= 1: the trapezoidal rule in z = (f - mean)/s with step 1/2, whose error for a function analytic in a strip of half-width
 * pi/s is below exp(-2 pi^2/(s/2)) < 1e-16. Larger s: the logistic function is a step plus e(x) = 1/(1 + exp(x)), mirrored,
 *
 *     mean = Phi(m/s) + int_0^inf e(x) (N(-x; m, s^2) - N(x; m, s^2)) dx,
 *
 * where e decays like exp(-x) and the density is as wide as s: Gauss and Legendre's rule on panels of width 1 up to 40.
 *
 * Softmax: a Kronecker lattice with the generalised golden ratio (Roberts), mapped by the inverse of Phi; each point with both signs. */
#include <math.h>

#include "laplace.h"

enum { PANELS = 40, NODES = 5 };

/* Positive nodes of the rule with 10 nodes on [-1, 1], and their weights. */
static const double NODE[NODES] = {0.14887433898163121, 0.43339539412924719, 0.67940956829902441, 0.86506336668898451,
                                   0.97390652851717172};
static const double WEIGHT[NODES] = {0.29552422471475287, 0.26926671930999636, 0.21908636251598204,
                                     0.14945134915058059, 0.06667134430868814};

static double logistic(double x)
{
    return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

static double by_trapezoids(double mean, double s)
{
    double sum = 0;
    for (int i = -20; i <= 20; i++) sum += logistic(mean + s * i / 2.0) * exp(-i * i / 8.0);
    return sum / 2 * 0.39894228040143267794;
}

static double beside_step(double x, double mean, double s)
{
    const double left = (x + mean) / s, right = (x - mean) / s;
    return (exp(-left * left / 2) - exp(-right * right / 2)) * logistic(-x);
}

static double by_panels(double mean, double s)
{
    double sum = 0;
    for (int panel = PANELS - 1; panel >= 0; panel--)
        for (int i = 0; i < NODES; i++) {
            const double centre = panel + 0.5;
            sum += WEIGHT[i] / 2 *
                   (beside_step(centre - NODE[i] / 2, mean, s) + beside_step(centre + NODE[i] / 2, mean, s));
        }
    return erfc(-mean / s * 0.70710678118654752440) / 2 + sum / s * 0.39894228040143267794;
}

double gram_logistic_normal(double mean, double variance)
{
    const double s = sqrt(variance);
    const double p = s <= 1 ? by_trapezoids(mean, s) : by_panels(mean, s);
    return fmin(fmax(p, 0), 1);
}

/* ---- softmax ---- */

/* The inverse of Phi on (0, 1/2], by Newton steps on log Phi from below, where they cannot overshoot. */
static double lower_quantile(double u)
{
    double z = -sqrt(-2 * log(u)) - 0.5;
    for (int i = 0; i < 50; i++) {
        const double phi = erfc(-z * 0.70710678118654752440) / 2;
        const double step = phi * log(u / phi) / (0.39894228040143267794 * exp(-z * z / 2));
        z += step;
        if (fabs(step) < 1e-14 * (1 + fabs(z))) break;
    }
    return z;
}

void gram_normal_lattice(int64_t count, int64_t d, double *out)
{
    double root = 1.5; /* x^(d + 1) = x + 1 */
    for (int i = 0; i < 60; i++) root = pow(1 + root, 1 / (double)(d + 1));
    for (int64_t l = 0; l < d; l++) {
        const double step = pow(root, -(double)(l + 1));
        for (int64_t i = 0; i < count; i++) {
            const double u = fmod(0.5 + (double)(i + 1) * step, 1);
            out[i * d + l] = u <= 0.5 ? lower_quantile(fmax(u, 1e-300)) : -lower_quantile(1 - u);
        }
    }
}

/* L L' = covariance, row-major, lower; a pivot that rounding made nonpositive is 0. */
static void factor(int64_t m, const double *covariance, double *l)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = covariance[i * m + j];
            for (int64_t k = 0; k < j; k++) sum -= l[i * m + k] * l[j * m + k];
            if (i == j)
                l[i * m + i] = sum > 0 ? sqrt(sum) : 0;
            else
                l[i * m + j] = l[j * m + j] > 0 ? sum / l[j * m + j] : 0;
        }
}

void gram_softmax_normal(int64_t classes, const double *mean, const double *covariance, int64_t count,
                         const double *normal, double *work, double *out)
{
    const int64_t m = classes;
    double *l = work, *f = work + m * m, *moved = f + m;
    factor(m, covariance, l);
    for (int64_t c = 0; c < m; c++) out[c] = 0;
    for (int64_t i = 0; i < count; i++) {
        for (int64_t c = 0; c < m; c++) {
            moved[c] = 0;
            for (int64_t k = 0; k <= c; k++) moved[c] += l[c * m + k] * normal[i * m + k];
        }
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int64_t c = 0; c < m; c++) f[c] = mean[c] + sign * moved[c];
            (void)gram_softmax_row(m, f, f);
            for (int64_t c = 0; c < m; c++) out[c] += f[c] / (2 * (double)count);
        }
    }
}
