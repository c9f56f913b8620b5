/* Bounds on the risk of functions in a ball of the Hilbert space: Rademacher complexity (Bartlett and Mendelson, "Rademacher
 * and Gaussian complexities", JMLR 3, 2002), by covering all norms with balls of radius 2^i where the radius was not fixed
 * beforehand, and stability (Bousquet and Elisseeff, "Stability and generalization", JMLR 2, 2002). The formulas are in
 * function.h.
 *
 * Where a radius was fixed beforehand, balls of half of it, a quarter and so on belong to the family, too: B = 2^i >= 2 depends
 * on the units of the target and is often far more than the function needs. Each ball has its share of delta, whichever is
 * looked at in the end. */
#include <gram/function.h>

#include <math.h>

/* sqrt(log(1/delta)/(2 n)) */
static double deviation(double delta, int64_t n)
{
    return sqrt(-log(delta) / (2 * (double)n));
}

static int is_size(double value)
{
    return value >= 0; /* false for NaN */
}

static int is_share(double delta)
{
    return delta > 0 && delta < 1;
}

/* The least integer i >= 1 with norm <= 2^i. */
static int ball_of(double norm)
{
    int exponent;
    const double mantissa = frexp(norm, &exponent);
    if (mantissa == 0.5) exponent--;
    return exponent < 1 ? 1 : exponent;
}

/* The share of delta that ball i gets: 1/(i (i + 1)) over all i is 1. */
static double share_of(double delta, int i)
{
    return delta / ((double)i * (i + 1));
}

double gram_bound_rademacher(double norm, double trace, int64_t n)
{
    if (!is_size(norm) || !is_size(trace) || n < 1) return NAN;
    return norm * sqrt(trace) / (double)n;
}

double gram_bound_squared_risk(double bound, double radius, double target, double delta, int64_t n)
{
    if (!is_size(bound) || !is_size(radius) || !is_size(target) || !is_share(delta) || n < 1) return NAN;
    const double reach = bound * radius, most = reach + target;
    return (reach * reach + 2 * reach * target) / sqrt((double)n) + most * most * deviation(delta, n);
}

double gram_bound_squared_risk_fitted(double norm, double radius, double target, double delta, int64_t n)
{
    if (!is_size(norm) || isinf(norm) || !is_share(delta)) return NAN;
    const int i = ball_of(norm);
    return gram_bound_squared_risk(ldexp(1, i), radius, target, share_of(delta, i), n);
}

double gram_bound_classification_risk(double bound, double radius, double delta, int64_t n)
{
    if (!is_size(bound) || !is_size(radius) || !is_share(delta) || n < 1) return NAN;
    return 2 * radius * bound / sqrt((double)n) + deviation(delta, n);
}

double gram_bound_classification_risk_fitted(double norm, double radius, double delta, int64_t n)
{
    if (!is_size(norm) || isinf(norm) || !is_share(delta)) return NAN;
    const int i = ball_of(norm);
    return gram_bound_classification_risk(ldexp(1, i), radius, share_of(delta, i), n);
}

/* ---- the best of a family ---- */

enum { MOST_HALVINGS = 60 };

/* One ball's bound; target NaN: of classification. */
static double one_ball(double ball, double radius, double target, double delta, int64_t n)
{
    return isnan(target) ? gram_bound_classification_risk(ball, radius, delta, n)
                         : gram_bound_squared_risk(ball, radius, target, delta, n);
}

static double best_ball(double norm, double most, double radius, double target, double delta, int64_t n, double *ball)
{
    double best = NAN;
    for (int j = 0; j <= MOST_HALVINGS && norm <= ldexp(most, -j); j++) {
        const double value = one_ball(ldexp(most, -j), radius, target, share_of(delta, j + 1), n);
        if (best <= value) continue;
        best = value;
        if (ball) *ball = ldexp(most, -j);
    }
    return best;
}

static double best_bound(double norm, double most, double radius, double target, double delta, int64_t n, double *ball)
{
    if (ball) *ball = NAN;
    if (!is_size(norm) || isinf(norm) || !is_size(most) || !is_share(delta)) return NAN;
    if (!isinf(most)) return best_ball(norm, most, radius, target, delta, n, ball);
    const int i = ball_of(norm);
    if (ball) *ball = ldexp(1, i);
    return one_ball(ldexp(1, i), radius, target, share_of(delta, i), n);
}

double gram_bound_squared_risk_best(double norm, double most, double radius, double target, double delta, int64_t n,
                                    double *ball)
{
    if (isnan(target)) {
        if (ball) *ball = NAN;
        return NAN;
    }
    return best_bound(norm, most, radius, target, delta, n, ball);
}

double gram_bound_classification_risk_best(double norm, double most, double radius, double delta, int64_t n,
                                           double *ball)
{
    return best_bound(norm, most, radius, NAN, delta, n, ball);
}

/* ---- in expectation ---- */

double gram_bound_stability(double bound, double radius, double target, int64_t n)
{
    if (!is_size(bound) || !is_size(radius) || !is_size(target) || n < 1) return NAN;
    return radius * bound * target * sqrt(300 / (double)n);
}

double gram_bound_stability_hinge(double bound, double radius, int64_t n)
{
    if (!is_size(bound) || !is_size(radius) || n < 1) return NAN;
    return 2 * radius * bound * sqrt(2 / (double)n);
}
