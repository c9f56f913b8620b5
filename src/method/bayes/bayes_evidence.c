/* The evidence p(y | alpha), a multivariate t, and the alpha that makes it largest.
 *
 * With singular values S and z = U'y of the centred data, the quadratic form y'y - m'X'y is rest + sum_j z_j^2 alpha/(S_j^2 + alpha), a
 * sum of positive terms, and |alpha (X'X + alpha I)^-1| the product of alpha/(S_j^2 + alpha): an evaluation takes O(d). On the line log
 * alpha there may be several maxima, so a grid comes before the golden section. */
#include <math.h>

#include "base/distribution_tails.h"
#include "method/bayes/bayes.h"

enum { GRID = 121 };

/* Of the search, in squares of the largest singular value: below the first, the prior is all but flat; above the last, weights are 0. */
static const double LEAST = 1e-14, MOST = 1e10;

static double log_constant(const gram_bayes_options *o)
{
    return o->shape > 0 && o->scale > 0 ? o->shape * log(o->scale) - gram_log_gamma(o->shape) : 0;
}

gram_bayes_noise gram_bayes_find_noise(const gram_bayes_data *data, const gram_bayes_options *o, double alpha)
{
    const double rows = (double)(data->n - (data->intercept ? 1 : 0));
    double square = data->rest, log_shrink = 0;
    for (int64_t j = 0; j < data->d && alpha > 0; j++) {
        const double s = data->values[j], shrink = alpha / (s * s + alpha);
        square += data->z[j] * data->z[j] * shrink;
        log_shrink += log(shrink);
    }
    gram_bayes_noise noise = {.log_evidence = NAN};
    noise.shape = o->shape + 0.5 * (alpha > 0 ? rows : rows - (double)data->d);
    noise.scale = o->scale + 0.5 * square;
    if (!(alpha > 0) || !(noise.scale > 0)) return noise;
    noise.log_evidence = 0.5 * (data->log_weights - rows * log(6.283185307179586477) + log_shrink) + log_constant(o) +
                         gram_log_gamma(noise.shape) - noise.shape * log(noise.scale);
    if (data->intercept) noise.log_evidence -= 0.5 * log(data->weight);
    return noise;
}

static double evidence_at(const gram_bayes_data *data, const gram_bayes_options *o, double log_alpha)
{
    return gram_bayes_find_noise(data, o, exp(log_alpha)).log_evidence;
}

/* The largest value between two places, of a function with one maximum there. */
static double golden_section(const gram_bayes_data *data, const gram_bayes_options *o, double low, double high)
{
    const double share = 0.61803398874989484820;
    double a = high - share * (high - low), b = low + share * (high - low);
    double at_a = evidence_at(data, o, a), at_b = evidence_at(data, o, b);
    while (high - low > 1e-9) {
        if (at_a >= at_b) {
            high = b;
            b = a;
            at_b = at_a;
            a = high - share * (high - low);
            at_a = evidence_at(data, o, a);
        } else {
            low = a;
            a = b;
            at_a = at_b;
            b = low + share * (high - low);
            at_b = evidence_at(data, o, b);
        }
    }
    return 0.5 * (low + high);
}

double gram_bayes_find_alpha(const gram_bayes_data *data, const gram_bayes_options *o, int *at_bound)
{
    const double largest = data->values[0] * data->values[0];
    *at_bound = 0;
    /* a target or features that do not vary: no alpha is better than another */
    if (!(largest > 0) || !(o->scale + data->squares > 0)) return largest > 0 ? largest : 1;
    const double low = log(LEAST * largest), step = log(MOST / LEAST) / (GRID - 1);
    double best = -INFINITY;
    int place = GRID - 1;
    for (int i = 0; i < GRID; i++) {
        const double value = evidence_at(data, o, low + i * step);
        if (!(value > best)) continue;
        best = value;
        place = i;
    }
    *at_bound = place == 0 || place == GRID - 1;
    if (*at_bound) return exp(low + place * step);
    return exp(golden_section(data, o, low + (place - 1) * step, low + (place + 1) * step));
}
