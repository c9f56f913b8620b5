/* Transition and noise of single steps against quadrature in long double, from tiny to huge gaps. */
#include <math.h>
#include <string.h>

#include "solve/markov/markov_model.h"
#include "support.h"

enum { S = GRAM_MARKOV_LEAF, PIECES = 40 };

/* Nodes and weights of Gauss and Legendre with ten points on [-1, 1]: the positive half. */
static const long double NODES[] = {0.148874338981631210884826001129720L, 0.433395394129247190799265943165784L,
                                    0.679409568299024406234327365114874L, 0.865063366688984510732096688423493L,
                                    0.973906528517171720077964012084452L};
static const long double WEIGHTS[] = {0.295524224714752870173815619188769L, 0.269266719309996355091226921569469L,
                                      0.219086362515982043995534934228163L, 0.149451349150580593145863397657697L,
                                      0.066671344308688137593568809893332L};

/* e^-u times the polynomials of Phi's last column: integrals of the impulse response and its derivatives. */
static void response(int s, long double u, long double *out)
{
    /* f = u^(s-1) e^-u/(s-1)!; its j-th derivative by Leibniz's rule */
    for (int j = 0; j < s; j++) {
        long double sum = 0;
        for (int i = 0; i <= j; i++) {
            long double binomial = 1, power = 1;
            for (int k = 0; k < i; k++) binomial = binomial * (j - k) / (k + 1);
            for (int k = 1; k <= s - 1 - i; k++) power = power * u / k;
            sum += ((j - i) % 2 ? -1 : 1) * binomial * power;
        }
        out[j] = expl(-u) * sum;
    }
}

static void integrate(int s, long double driving, long double a, long double *q)
{
    long double phi[S];
    for (int i = 0; i < s * s; i++) q[i] = 0;
    const long double end = a < 60 ? a : 60;
    for (int piece = 0; piece < PIECES; piece++)
        for (int k = 0; k < 10; k++) {
            const long double node = k < 5 ? NODES[k] : -NODES[k - 5], half = end / PIECES / 2;
            response(s, half * (2 * piece + 1 + node), phi);
            for (int i = 0; i < s; i++)
                for (int j = 0; j < s; j++) q[i * s + j] += driving * half * WEIGHTS[k % 5] * phi[i] * phi[j];
        }
}

/* Each entry relative to the roots of its two diagonal entries: what the filter needs. */
static void noise_of_matern(void **state)
{
    (void)state;
    for (int s = 1; s <= 5; s++) {
        gram_markov_leaf leaf = {.kind = GRAM_MARKOV_MATERN, .states = s, .value = 1, .rate = 1};
        gram_markov_matern_prepare(&leaf);
        for (int exponent = -40; exponent <= 14; exponent++) {
            const double a = ldexp(1.3, exponent);
            gram_markov_move move;
            long double q[S * S], phi[S];
            gram_markov_leaf_move(&leaf, 0, a, 1, &move);
            integrate(s, leaf.driving, a, q);
            response(s, a, phi);
            for (int i = 0; i < s; i++) {
                if (!(fabsl(move.phi[i * s + s - 1] - phi[i]) <= 2e-14L * fabsl(phi[i]) + 1e-16L * (a > 1)))
                    FAIL_TEST("Phi of %d at %g: [%d] %.17g", s, a, i, move.phi[i * s + s - 1]);
                for (int j = 0; j < s; j++) {
                    const long double size = sqrtl(q[i * s + i] * q[j * s + j]), off = move.q[i * s + j] - q[i * s + j];
                    if (!(fabsl(off) <= 1e-12L * size))
                        FAIL_TEST("Q of %d at %g: [%d][%d] is off by %Lg", s, a, i, j, off / size);
                }
            }
        }
    }
}

/* Two steps are one: Phi = Phi_2 Phi_1, Q = Phi_2 Q_1 Phi_2' + Q_2; and P stays: Q = P - Phi P Phi'. */
static void steps_compose(void **state)
{
    (void)state;
    gram_markov_leaf leaves[] = {{.kind = GRAM_MARKOV_MATERN, .states = 3, .value = 0.7, .rate = 2},
                                 {.kind = GRAM_MARKOV_COSINE, .states = 2, .value = 0.9},
                                 {.kind = GRAM_MARKOV_SPLINE, .states = 4, .origin = -1, .null = 1},
                                 {.kind = GRAM_MARKOV_SPLINE, .states = 2, .origin = -1}};
    gram_markov_matern_prepare(&leaves[0]);
    for (int l = 0; l < 4; l++) {
        const gram_markov_leaf *leaf = &leaves[l];
        const int s = leaf->states;
        gram_markov_move one, two, both;
        gram_markov_leaf_move(leaf, 0.3, 0.4, 0, &one);
        gram_markov_leaf_move(leaf, 0.7, 0.25, 0, &two);
        gram_markov_leaf_move(leaf, 0.3, 0.65, 0, &both);
        for (int i = 0; i < s; i++)
            for (int j = 0; j < s; j++) {
                double phi = 0, q = two.q[i * s + j];
                for (int k = 0; k < s; k++) {
                    phi += two.phi[i * s + k] * one.phi[k * s + j];
                    for (int m = 0; m < s; m++) q += two.phi[i * s + k] * one.q[k * s + m] * two.phi[j * s + m];
                }
                assert_true(fabs(phi - both.phi[i * s + j]) < 1e-14);
                assert_true(fabs(q - both.q[i * s + j]) < 1e-14);
                assert_true(fabs(both.after[i * s + j] - both.kept[i * s + j] - both.q[i * s + j]) < 1e-13);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(noise_of_matern), cmocka_unit_test(steps_compose)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
