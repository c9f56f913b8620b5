/* Activations over arrays, and what they do to derivatives. Absolute errors are a few units of 1e-16, which is what sums over units
 * need; tanh is made of exp. Both go by blocks, the last one filled up. */
#include <math.h>
#include <string.h>

#include "solve/network/network.h"

enum { BLOCK = 256 };

static const char *const NAMES[] = {"relu", "erf", "tanh"};

const char *gram_activation_name(gram_activation activation)
{
    return activation >= GRAM_ACTIVATION_RELU && activation <= GRAM_ACTIVATION_TANH ? NAMES[activation] : NULL;
}

static void relu(int64_t n, double *z)
{
    for (int64_t i = 0; i < n; i++) z[i] = z[i] > 0 ? z[i] : 0;
}

/* tanh |z| = (1 - t)/(1 + t), t = exp(-2 |z|) */
static void tanh_block(const gram_vecmath_f64 *v, int64_t n, double *z)
{
    _Alignas(64) double t[BLOCK];
    for (int64_t i = 0; i < BLOCK; i++) t[i] = i < n ? -2 * fabs(z[i]) : 0;
    v->exp(BLOCK, t, t);
    for (int64_t i = 0; i < n; i++) z[i] = copysign((1 - t[i]) / (1 + t[i]), z[i]);
}

/* erf' z = 2/sqrt(pi) exp(-z^2) */
static void erf_block(const gram_vecmath_f64 *v, int64_t n, double *z, double *slope)
{
    _Alignas(64) double t[BLOCK], s[BLOCK];
    for (int64_t i = 0; i < BLOCK; i++) {
        s[i] = i < n ? z[i] : 0;
        t[i] = -s[i] * s[i];
    }
    v->exp(BLOCK, t, t);
    v->erf(BLOCK, s, s);
    for (int64_t i = 0; i < n; i++) {
        slope[i] = 1.12837916709551257390 * t[i];
        z[i] = s[i];
    }
}

void gram_activate(gram_activation activation, const gram_vecmath_f64 *v, int64_t n, double *z, double *slope)
{
    if (activation == GRAM_ACTIVATION_RELU) {
        relu(n, z);
        return;
    }
    for (int64_t at = 0; at < n; at += BLOCK) {
        const int64_t count = n - at < BLOCK ? n - at : BLOCK;
        if (activation == GRAM_ACTIVATION_TANH)
            tanh_block(v, count, z + at);
        else
            erf_block(v, count, z + at, slope + at);
    }
}

void gram_activate_back(gram_activation activation, int64_t n, const double *a, const double *slope, double *d)
{
    if (activation == GRAM_ACTIVATION_RELU)
        for (int64_t i = 0; i < n; i++) d[i] = a[i] > 0 ? d[i] : 0;
    else if (activation == GRAM_ACTIVATION_TANH)
        for (int64_t i = 0; i < n; i++) d[i] *= 1 - a[i] * a[i];
    else
        for (int64_t i = 0; i < n; i++) d[i] *= slope[i];
}
