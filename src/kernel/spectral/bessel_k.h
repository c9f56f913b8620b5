/* The modified Bessel function K_nu, as Matern kernels need it: normalised, by its logarithm. */
#ifndef GRAM_KERNEL_SPECTRAL_BESSEL_K_H
#define GRAM_KERNEL_SPECTRAL_BESSEL_K_H

/* What depends on the order only; filled by gram_bessel_order_set. */
typedef struct gram_bessel_order {
    double nu;
    double mu;                      /* the order where the recurrence starts, |mu| <= 1/2 */
    int steps;                      /* of the recurrence; -1 for nu < 1/2, where mu = -nu */
    double gamma_plus, gamma_minus; /* Gamma(1 + mu), Gamma(1 - mu) */
    double gamma1, gamma2;          /* (1/Gamma(1 - mu) -+ 1/Gamma(1 + mu))/2, the first over mu */
    double reflection;              /* pi mu/sin(pi mu) */
} gram_bessel_order;

/* nu > 0 */
void gram_bessel_order_set(double nu, gram_bessel_order *order);

/* For y > 0 and x = sqrt(y), x at most 1e5, the logarithms to base 2 of
 *
 *   M_nu(x) = 2^(1-nu)/Gamma(nu) x^nu K_nu(x)              1 at x = 0, decreasing
 *   E_nu(x) = 2^(1-nu)/Gamma(nu) x^(nu-1) K_(nu-1)(x)      -M_nu'(x)/x
 *
 * with an error of at most 2^-52 (16 + nu + 2 |log2|), that is 1e-14 relative in M and E at moderate orders and x. About
 * 0.2 us, more where x is near 2, and 2 ns for each step of the recurrence, of which there are about nu. */
void gram_bessel_k_log2(const gram_bessel_order *order, double y, double *log2_m, double *log2_e);

#endif
