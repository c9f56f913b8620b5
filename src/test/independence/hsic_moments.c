/* Moments of the statistic under shuffles.
 *
 * Under shuffles of y's rows trace(C P D P'), C = H K H and D = H L H, has mean T_C T_D/(n - 1) and a variance that traces tell:
 * with T = tr C, Q = tr C^2, S = sum_i C_ii^2,
 *
 *     2 ((n-1) Q - T^2) ((n-1) Q' - T'^2)/((n-1)^2 (n+1) (n-2))
 *       + (n (n+1) S - (n-1)(T^2 + 2 Q)) (n (n+1) S' - (n-1)(T'^2 + 2 Q'))/((n+1) n (n-1) (n-2) (n-3)).
 */
#include "test/independence/hsic.h"

gram_hsic_traces gram_hsic_traces_of(const gram_pairs *pairs)
{
    gram_hsic_traces out = {0};
    const double n = (double)pairs->n, rounding = 0x1p-45 * pairs->limit;
    for (int64_t i = 0; i < pairs->n; i++) {
        out.t += pairs->diagonal[i];
        out.s += pairs->diagonal[i] * pairs->diagonal[i];
    }
    out.q = 2 * pairs->squares + out.s;
    out.none = !(out.q > n * n * rounding * rounding);
    return out;
}

double gram_hsic_shuffle_variance(double n, const gram_hsic_traces *c, const gram_hsic_traces *d)
{
    const double first =
        2 * ((n - 1) * c->q - c->t * c->t) * ((n - 1) * d->q - d->t * d->t) / ((n - 1) * (n - 1) * (n + 1) * (n - 2));
    const double second = (n * (n + 1) * c->s - (n - 1) * (c->t * c->t + 2 * c->q)) *
                          (n * (n + 1) * d->s - (n - 1) * (d->t * d->t + 2 * d->q)) /
                          ((n + 1) * n * (n - 1) * (n - 2) * (n - 3));
    return first + second;
}
