/* K_nu from two neighbouring orders mu, mu + 1 with |mu| <= 1/2, and from there upwards.
 *
 * 1. x <= 2: Temme's series (N. M. Temme, On the numerical evaluation of the modified Bessel function of the third kind,
 *    J. Comp. Phys. 19, 1975). K_mu = pi/2 (I_(-mu) - I_mu)/sin(pi mu) is 0/0 at mu = 0; Temme takes the difference term
 *    by term, so that what cancels is in one factor of the first term,
 *
 *      f_0 = pi mu/sin(pi mu) (cosh(s) Gamma1 + sinh(s)/s log(2/x) Gamma2),   s = mu log(2/x),
 *      Gamma1 = (1/Gamma(1-mu) - 1/Gamma(1+mu))/(2 mu),   Gamma2 = (1/Gamma(1-mu) + 1/Gamma(1+mu))/2.
 *
 *    These are the odd and the even part of the Taylor series of 1/Gamma(1 + mu), summed as such: nothing is lost at
 *    small mu. Then K_mu = sum_j c_j f_j, K_(mu+1) = 2/x sum_j c_j (p_j - j f_j), c_j = (x^2/4)^j/j!, where
 *
 *      f_j = (j f_(j-1) + p_(j-1) + q_(j-1))/(j^2 - mu^2),   p_j = p_(j-1)/(j - mu),   q_j = q_(j-1)/(j + mu),
 *      p_0 = (x/2)^-mu Gamma(1+mu)/2,   q_0 = (x/2)^mu Gamma(1-mu)/2.
 *
 * 2. x > 2: the continued fraction of K_(mu+1)/K_mu (CF2 of Thompson and Barnett; Temme, the same paper). It belongs to
 *    U_n = U(1/2 + mu + n, 1 + 2 mu, 2 x), Tricomi's function, the minimal solution of
 *
 *      U_(n-1) = 2 (n + x) U_n - ((n + 1/2)^2 - mu^2) U_(n+1),
 *
 *    so that r_n = U_n/U_(n-1) comes from large n downwards. K_mu = sqrt(pi) (2 x)^mu e^-x U_0, and U_0 is known from
 *
 *      sum_n (1/2+mu)_n (1/2-mu)_n/n! U_n = (2 x)^-(1/2+mu):
 *
 *    write U by its integral over t and expand (1 + t)^(1/2-mu) in t/(1 + t). No term is negative. Terms fall like
 *    exp(-2 sqrt(2 x n)), hence n begins at TERMS/x. Last, K_(mu+1) = K_mu (x + 1/2 + mu - (1/4 - mu^2) r_1)/x.
 *
 * 3. Upwards, K_(j+1) = K_(j-1) + 2 j/x K_j, which is stable: K grows with the order. For M and E of the header this is
 *
 *      M_(j+1) = M_j + y/(2 j) E_j,   E_(j+1) = M_j/(2 j),
 *
 *    sums of positive numbers that stay in range for small x; for large x everything carries e^x, and is scaled down
 *    when it becomes large (orders above 100 or so).
 *
 * Below order 1/2, mu = -nu gives K_nu and K_(1-nu), which is what M and E want. */
#include "kernel/spectral/bessel_k.h"

#include <math.h>

enum { GAMMA_TERMS = 11, TERMS = 190, MOST_SERIES = 40 };

static const double PI = 0x1.921fb54442d18p1;

/* 1/Gamma(1 + mu) = sum_j EVEN[j] mu^2j - mu sum_j ODD[j] mu^2j; the next terms are below 1e-20 at mu = 1/2 */
static const double EVEN[GAMMA_TERMS + 1] = {
    0x1.0000000000000p+0,   -0x1.4fcf4026afa2ep-1, 0x1.5512320b43fbep-3,   -0x1.3b4af28483e21p-7,
    -0x1.317112ce3a2a8p-10, 0x1.0c8a78cd9f9d2p-13, -0x1.4fad41fc34fbbp-20, -0x1.b9986666c225dp-23,
    0x1.57bc3fc384334p-28,  0x1.cae7675c18607p-34, -0x1.0423bac8ca3fbp-38, -0x1.72cb88ea5ae6ep-46,
};
static const double ODD[GAMMA_TERMS + 1] = {
    -0x1.2788cfc6fb619p-1, 0x1.5815e8fa27048p-5,   0x1.59af103c34092p-5,   -0x1.d919c527f60b2p-8,
    0x1.c364fe6f1563dp-13, 0x1.51ce8af47eabep-16,  -0x1.302509dbc0de3p-20, -0x1.a44b7ba22d629p-28,
    0x1.44b4cedca388fp-30, -0x1.11d065bfaf067p-37, -0x1.1f20151323cd0p-41, 0x1.815f72a05f16fp-48,
};

static double series(const double *coefficients, double t)
{
    double sum = coefficients[GAMMA_TERMS];
    for (int j = GAMMA_TERMS - 1; j >= 0; j--) sum = sum * t + coefficients[j];
    return sum;
}

void gram_bessel_order_set(double nu, gram_bessel_order *order)
{
    const double whole = floor(nu + 0.5);
    const double mu = nu < 0.5 ? -nu : nu - whole, angle = PI * mu;
    order->nu = nu;
    order->mu = mu;
    order->steps = (int)whole - 1;
    order->gamma1 = series(ODD, mu * mu);
    order->gamma2 = series(EVEN, mu * mu);
    order->gamma_plus = 1 / (order->gamma2 - mu * order->gamma1);
    order->gamma_minus = 1 / (order->gamma2 + mu * order->gamma1);
    order->reflection = fabs(angle) < 1e-9 ? 1 : angle / sin(angle);
}

/* K_mu, K_(mu+1) for x <= 2 */
static void temme(const gram_bessel_order *order, double x, double k[2])
{
    const double mu = order->mu, quarter = x * x / 4, logarithm = -log(x / 2), s = mu * logarithm;
    const double half_power = 0.5 * exp(s), sinh_ratio = fabs(s) < 1e-9 ? 1 : sinh(s) / s;
    double f = order->reflection * (cosh(s) * order->gamma1 + sinh_ratio * logarithm * order->gamma2);
    double p = half_power * order->gamma_plus, q = 0.25 / half_power * order->gamma_minus;
    double c = 1, sum = f, sum_next = p;
    for (int j = 1; j < MOST_SERIES; j++) {
        f = (j * f + p + q) / (j * j - mu * mu);
        p /= j - mu;
        q /= j + mu;
        c *= quarter / j;
        const double term = c * f, term_next = c * (p - j * f);
        sum += term;
        sum_next += term_next;
        if (fabs(term) < 0x1p-56 * fabs(sum) && fabs(term_next) < 0x1p-56 * fabs(sum_next)) break;
    }
    k[0] = sum;
    k[1] = sum_next * 2 / x;
}

/* K_mu, K_(mu+1), both times e^x, for x > 2 */
static void fraction(const gram_bessel_order *order, double x, double k[2])
{
    const double mu = order->mu, square = mu * mu;
    double ratio = 0, sum = 1; /* r_(n+1); sum over the terms from n on, over term n */
    for (int n = (int)(TERMS / x) + 5; n >= 1; n--) {
        ratio = 1 / (2 * (n + x) - ((n + 0.5) * (n + 0.5) - square) * ratio);
        sum = 1 + ((n - 0.5) * (n - 0.5) - square) / n * ratio * sum;
    }
    k[0] = sqrt(PI / (2 * x)) / sum;
    k[1] = k[0] * (x + 0.5 + mu - (0.25 - square) * ratio) / x;
}

void gram_bessel_k_log2(const gram_bessel_order *order, double y, double *log2_m, double *log2_e)
{
    const double log2_of_e = 0x1.71547652b82fep0, large = 0x1p500;
    const double x = sqrt(y), mu = order->mu;
    double k[2], m, e, shift = 0;
    if (x <= 2) {
        temme(order, x, k);
    } else {
        fraction(order, x, k);
        shift = -x * log2_of_e;
    }
    if (order->steps < 0) {
        const double front = 2 * order->nu / order->gamma_minus * pow(x / 2, order->nu);
        m = front * k[0];
        e = front * k[1] / x;
    } else {
        const double front = pow(x / 2, mu) / order->gamma_plus;
        m = front * x * k[1];
        e = front * k[0];
    }
    for (int i = 1; i <= order->steps; i++) {
        const double half_inverse = 0.5 / (mu + i), next = m + y * half_inverse * e;
        e = m * half_inverse;
        m = next;
        if (m > large) {
            m /= large;
            e /= large;
            shift += 500;
        }
    }
    *log2_m = log2(m) + shift;
    *log2_e = log2(e) + shift;
}
