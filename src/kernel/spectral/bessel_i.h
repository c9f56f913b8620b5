/* The modified Bessel functions I_j of whole orders, scaled: the Fourier coefficients of the periodic kernel. */
#ifndef GRAM_KERNEL_SPECTRAL_BESSEL_I_H
#define GRAM_KERNEL_SPECTRAL_BESSEL_I_H

#include <stdint.h>

/* out[j] = exp(-s) I_j(s), j = 0 .. count - 1, for s >= 0: they fall with j, and out[0] + 2 out[1] + 2 out[2] + ... = 1.
 * Relative errors of some units of rounding; what is below 1e-300 may be 0. O(count + sqrt(s)). */
void gram_bessel_i_scaled(int64_t count, double s, double *out);

#endif
