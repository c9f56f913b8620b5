/* Transition and noise of single kernels, in closed form.
 *
 * matern, nu = p + 1/2. With time in units of 1/rate, rate = sqrt(2 nu)/ell, the process solves (d/dt + 1)^(p+1) f = white
 * noise (Hartikainen and Sarkka 2010). The state is f and its first p derivatives in these units; its matrix F is the
 * companion matrix of (s + 1)^(p+1), and N = F + 1 is nilpotent, so that with a = rate * gap
 *
 *     Phi = e^-a sum_(k<=p) N^k a^k/k!,      Q = driving int_0^a phi(u) phi(u)' du,   phi = last column of Phi.
 *
 * Q falls like a^(2p+1) in its first entry, where P - Phi P Phi' would leave nothing but rounding. As phi is e^-a times a
 * polynomial, Q is made of the moments
 *
 *     I_k = int_0^a u^k e^-2u du = e^-2a a^(k+1) sum_j (2a)^j/((k+1)...(k+1+j)),    I_(k-1) = (2 I_k + a^k e^-2a)/k:
 *
 * one series for the highest and a recursion for the others, all terms positive. From a = p + 1 on nothing cancels in
 * P - Phi P Phi', and that is used. The derivatives need no more: dPhi/da = F Phi, dQ/da = driving phi phi'.
 *
 * min and sobolev. Brownian motion integrated a - 1 times, with its derivatives as the state (Wahba 1978):
 *
 *     Phi_ij = g^(j-i)/(j-i)!,   Q_ij = g^(2a-1-i-j)/((2a-1-i-j) (a-1-i)! (a-1-j)!),   P(t) = Q(t - origin);
 *
 * `null` starts it from standard normal numbers in place of 0: P = Phi Phi' + Q.
 *
 * cosine: a rotation, without noise. x y: one number that stays. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "solve/markov/markov_model.h"

static const double TWO_PI = 0x1.921fb54442d18p2;
static const double FORGOTTEN = 740; /* e^-a = 0 */

enum { MOMENTS = 2 * GRAM_MARKOV_LEAF };

static double factorial(int n)
{
    double product = 1;
    for (int i = 2; i <= n; i++) product *= i;
    return product;
}

/* c = a b, all s x s */
static void multiply(int s, const double *a, const double *b, double *c)
{
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) {
            double sum = 0;
            for (int k = 0; k < s; k++) sum += a[i * s + k] * b[k * s + j];
            c[i * s + j] = sum;
        }
}

/* out = phi p phi', symmetric to the last bit */
static void carry(int s, const double *phi, const double *p, double *out)
{
    double left[GRAM_MARKOV_LEAF * GRAM_MARKOV_LEAF];
    multiply(s, phi, p, left);
    for (int i = 0; i < s; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k < s; k++) sum += left[i * s + k] * phi[j * s + k];
            out[i * s + j] = out[j * s + i] = sum;
        }
}

/* ---- matern ---- */

/* N^k/k! */
static void matern_powers(gram_markov_leaf *leaf)
{
    const int s = leaf->states;
    double n[GRAM_MARKOV_LEAF * GRAM_MARKOV_LEAF] = {0};
    memset(leaf->powers, 0, sizeof leaf->powers);
    for (int i = 0; i < s; i++) {
        leaf->powers[0][i * s + i] = 1;
        if (i + 1 < s) n[i * s + i + 1] = 1;
        leaf->binomials[i] = factorial(s) / (factorial(i) * factorial(s - i));
        n[(s - 1) * s + i] -= leaf->binomials[i];
    }
    for (int i = 0; i < s; i++) n[i * s + i] += 1;
    for (int k = 1; k < s; k++) {
        multiply(s, n, leaf->powers[k - 1], leaf->powers[k]);
        for (int i = 0; i < s * s; i++) leaf->powers[k][i] /= k;
    }
}

/* Q_ij as a combination of moments; P is Q at infinity, where I_k = k!/2^(k+1). */
static void matern_moments(gram_markov_leaf *leaf)
{
    const int s = leaf->states, p = s - 1;
    leaf->driving = factorial(p) * factorial(p) * ldexp(1, 2 * p + 1) / factorial(2 * p);
    memset(leaf->moments, 0, sizeof leaf->moments);
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) {
            double *row = leaf->moments[i * s + j], sum = 0;
            for (int k = 0; k < s; k++)
                for (int l = 0; l < s; l++)
                    row[k + l] += leaf->driving * leaf->powers[k][i * s + p] * leaf->powers[l][j * s + p];
            for (int k = 0; k <= 2 * p; k++) sum += row[k] * factorial(k) / ldexp(1, k + 1);
            leaf->stationary[i * s + j] = (i + j) % 2 ? 0 : sum; /* a process and its derivative: independent */
        }
}

void gram_markov_matern_prepare(gram_markov_leaf *leaf)
{
    matern_powers(leaf);
    matern_moments(leaf);
}

/* I_0 .. I_top at a < top, decay = e^-2a */
static void incomplete_moments(int top, double a, double decay, double *moments)
{
    double term = 1.0 / (top + 1), sum = term, power = a;
    for (int j = top + 2; term > 0.25 * DBL_EPSILON * sum; j++) {
        term *= 2 * a / j;
        sum += term;
    }
    double powers[MOMENTS] = {power};
    for (int k = 1; k <= top; k++) powers[k] = power *= a; /* a^(k+1) */
    moments[top] = decay * powers[top] * sum;
    for (int k = top; k > 0; k--) moments[k - 1] = (2 * moments[k] + decay * powers[k - 1]) / k;
}

static void matern_noise(const gram_markov_leaf *leaf, double a, double e, const double *kept, double *q)
{
    const int s = leaf->states, top = 2 * (s - 1);
    double moments[MOMENTS];
    if (s == 1) {
        q[0] = -expm1(-2 * a);
        return;
    }
    if (a > s) {
        for (int i = 0; i < s * s; i++) q[i] = leaf->stationary[i] - kept[i];
        return;
    }
    incomplete_moments(top, a, e * e, moments);
    for (int i = 0; i < s; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 2 * s - 2 - i - j; k <= top; k++) sum += leaf->moments[i * s + j][k] * moments[k];
            q[i * s + j] = q[j * s + i] = sum;
        }
}

/* By the length-scale, of which a is inversely proportional. */
static void matern_slopes(const gram_markov_leaf *leaf, double a, gram_markov_move *m)
{
    const int s = leaf->states;
    const double chain = -a / leaf->value;
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) {
            double slope = i + 1 < s ? m->phi[(i + 1) * s + j] : 0;
            for (int k = 0; k < s && i + 1 == s; k++) slope -= leaf->binomials[k] * m->phi[k * s + j];
            m->phi_slope[i * s + j] = chain * slope;
            m->q_slope[i * s + j] = chain * leaf->driving * m->phi[i * s + s - 1] * m->phi[j * s + s - 1];
        }
}

static void matern_move(const gram_markov_leaf *leaf, double gap, int slopes, gram_markov_move *m)
{
    const int s = leaf->states;
    const size_t bytes = (size_t)(s * s) * sizeof(double);
    const double a = leaf->rate * gap;
    memcpy(m->after, leaf->stationary, bytes);
    if (!(a < FORGOTTEN)) {
        memcpy(m->q, leaf->stationary, bytes);
        memset(m->phi, 0, bytes);
        memset(m->kept, 0, bytes);
        memset(m->phi_slope, 0, bytes);
        memset(m->q_slope, 0, bytes);
        return;
    }
    const double e = exp(-a);
    for (int i = 0; i < s * s; i++) {
        double sum = leaf->powers[s - 1][i];
        for (int k = s - 2; k >= 0; k--) sum = sum * a + leaf->powers[k][i];
        m->phi[i] = e * sum;
    }
    carry(s, m->phi, leaf->stationary, m->kept);
    matern_noise(leaf, a, e, m->kept, m->q);
    if (slopes) matern_slopes(leaf, a, m);
}

/* ---- the others ---- */

static void cosine_move(const gram_markov_leaf *leaf, double gap, gram_markov_move *m)
{
    /* whole turns are taken off before pi comes in: what is left of a long way is as exact as gap/period is */
    const double turns = gap / leaf->value, angle = TWO_PI * (turns < 0x1p52 ? turns - rint(turns) : 0);
    const double c = cos(angle), d = sin(angle), chain = -TWO_PI * turns / leaf->value;
    const double phi[] = {c, -d, d, c}, slope[] = {-d * chain, -c * chain, c * chain, -d * chain}, one[] = {1, 0, 0, 1};
    memcpy(m->phi, phi, sizeof phi);
    memcpy(m->phi_slope, slope, sizeof slope);
    memcpy(m->kept, one, sizeof one);
    memcpy(m->after, one, sizeof one);
    memset(m->q, 0, sizeof one);
    memset(m->q_slope, 0, sizeof one);
}

static void spline_noise(int s, double gap, double *phi, double *q)
{
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) {
            const int power = 2 * s - 1 - i - j;
            phi[i * s + j] = j < i ? 0 : pow(gap, j - i) / factorial(j - i);
            q[i * s + j] = pow(gap, power) / (power * factorial(s - 1 - i) * factorial(s - 1 - j));
        }
}

static void spline_variance(const gram_markov_leaf *leaf, double t, double *p)
{
    const int s = leaf->states;
    double phi[GRAM_MARKOV_LEAF * GRAM_MARKOV_LEAF];
    spline_noise(s, t - leaf->origin, phi, p);
    for (int i = 0; i < s && leaf->null; i++)
        for (int j = 0; j < s; j++)
            for (int k = 0; k < s; k++) p[i * s + j] += phi[i * s + k] * phi[j * s + k];
}

static void spline_move(const gram_markov_leaf *leaf, double from, double gap, gram_markov_move *m)
{
    double before[GRAM_MARKOV_LEAF * GRAM_MARKOV_LEAF];
    spline_noise(leaf->states, gap, m->phi, m->q);
    spline_variance(leaf, from, before);
    spline_variance(leaf, from + gap, m->after);
    carry(leaf->states, m->phi, before, m->kept);
}

void gram_markov_leaf_variance(const gram_markov_leaf *leaf, double t, double *p)
{
    const double one[] = {1, 0, 0, 1};
    if (leaf->kind == GRAM_MARKOV_SPLINE)
        spline_variance(leaf, t, p);
    else
        memcpy(p, leaf->kind == GRAM_MARKOV_MATERN ? leaf->stationary : one,
               (size_t)(leaf->states * leaf->states) * sizeof *p);
}

void gram_markov_leaf_move(const gram_markov_leaf *leaf, double from, double gap, int slopes, gram_markov_move *m)
{
    switch (leaf->kind) {
    case GRAM_MARKOV_MATERN: matern_move(leaf, gap, slopes, m); break;
    case GRAM_MARKOV_COSINE: cosine_move(leaf, gap, m); break;
    case GRAM_MARKOV_SPLINE: spline_move(leaf, from, gap, m); break;
    default: *m->phi = *m->kept = *m->after = 1, *m->q = *m->phi_slope = *m->q_slope = 0; break;
    }
}
