/* The tilted law of one observation: p(y | f) N(f; mean, variance), its integral and moments.
 *
 * Where log p is concave the law has one peak, found by Newton steps between bounds, and falls from there at least as
 * fast as the Gaussian. The trapezoidal rule runs outwards from the peak until nothing is added. For functions that
 * are analytic in a strip of half-width b its error is about exp(-2 pi b/step): b is pi for the logistic function
 * and pi/2 for exp(-exp(f)), which bounds the step by 1.5 and by 3/4 (`detail`), and a Gaussian needs a step of at most
 * its deviation. A Gaussian so wide that this would take thousands of steps (variance above 10^5) hides the detail: a
 * step of 1/256 of its deviation is enough for four digits. */
#include <math.h>

#include "solve/likelihood/likelihood.h"

enum { MOST_STEPS = 60, WIDEST = 256 };
static const double NEAR = 1e-3;     /* of the law's width: where to sum around need not be exact */
static const double PER_WIDTH = 0.7; /* steps of this many widths at the peak */
static const double NOTHING = 1e-9;

/* Newton steps meet a rate of exp(f) best from the side of the observation. */
static double first_guess(const gram_likelihood_rule *rule, double y, double mean)
{
    if (rule->kind != GRAM_LIKELIHOOD_POISSON) return mean;
    return y > 0 ? log(y) : fmin(mean, 0);
}

/* The peak; `one` has log p and its derivatives there. Newton steps can go round in circles between two places, so one that
 * is not half as long as the last gives way to halving the bounds, once there are two. */
static double find_peak(const gram_likelihood_rule *rule, double y, double mean, double variance, double one[4])
{
    const gram_likelihood_type *type = gram_likelihood_find(rule->kind);
    double f = first_guess(rule, y, mean), low = -INFINITY, high = INFINITY, last = INFINITY;
    type->evaluate(rule, y, f, one);
    for (int i = 0; i < MOST_STEPS; i++) {
        const double slope = one[1] - (f - mean) / variance, bend = one[2] + 1 / variance, step = slope / bend;
        if (fabs(step) * sqrt(bend) < NEAR) break;
        *(slope > 0 ? &low : &high) = f;
        const int newton = f + step > low && f + step < high && (fabs(step) < last / 2 || isinf(high - low));
        last = newton ? fabs(step) : (high - low) / 2;
        f = newton ? f + step : (low + high) / 2;
        type->evaluate(rule, y, f, one);
    }
    return f;
}

gram_tilted gram_likelihood_tilt(const gram_likelihood_rule *rule, double y, double mean, double variance)
{
    const gram_likelihood_type *type = gram_likelihood_find(rule->kind);
    double one[4], sum[4] = {1, 0, 0, 0};
    const double peak = find_peak(rule, y, mean, variance, one), off = peak - mean;
    const double detail = fmax(type->detail, sqrt(variance) / WIDEST);
    const double step = fmin(PER_WIDTH / sqrt(one[2] + 1 / variance), detail);
    for (int side = -1; side <= 1; side += 2)
        for (int64_t k = 1;; k++) {
            const double d = side * step * (double)k;
            const double weight = type->ratio(y, peak, d, -d * (2 * off + d) / (2 * variance));
            if (!(weight > NOTHING)) break;
            sum[0] += weight;
            sum[1] += weight * d;
            sum[2] += weight * d * d;
            sum[3] += weight * d * d * d;
        }
    const double m = sum[1] / sum[0], second = sum[2] / sum[0], third = sum[3] / sum[0];
    return (gram_tilted){.log_integral = one[0] - off * off / (2 * variance) +
                                         log(sum[0] * step / sqrt(2 * 3.14159265358979323846 * variance)),
                         .mean = peak + m,
                         .variance = fmax(0, second - m * m),
                         .third = third - 3 * m * second + 2 * m * m * m};
}
