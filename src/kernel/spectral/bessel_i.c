/* Backward recurrence (Miller): I_(j-1) = I_(j+1) + (2 j/s) I_j from an order so high that I_j is 0 there, which is stable; the sum
 * I_0 + 2 I_1 + 2 I_2 + ... = exp(s) gives the scale. exp(-s) I_j(s) is about exp(-j^2/(2 s))/sqrt(2 pi s) for large s, 1e-17 of the
 * first at j = 9 sqrt(s). */
#include "kernel/spectral/bessel_i.h"

#include <math.h>

void gram_bessel_i_scaled(int64_t count, double s, double *out)
{
    const double large = 0x1p+800;
    const int64_t reach = (int64_t)(10 * sqrt(s)), start = (count > reach ? count : reach) + 60;
    double above = 0, here = 0x1p-1000, sum = 0;
    for (int64_t j = 0; j < count; j++) out[j] = 0;
    if (s < 1e-300) {
        if (count > 0) out[0] = 1;
        return;
    }
    for (int64_t j = start; j >= 0; j--) {
        if (j < count) out[j] = here;
        sum += j > 0 ? 2 * here : here;
        if (j == 0) break;
        const double below = above + 2 * (double)j / s * here;
        above = here;
        here = below;
        if (here < large) continue;
        above /= large, here /= large, sum /= large;
        for (int64_t i = j; i < count; i++) out[i] /= large;
    }
    for (int64_t j = 0; j < count; j++) out[j] /= sum;
}
