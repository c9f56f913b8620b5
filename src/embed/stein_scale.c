/* Standardising points together with their scores. */
#include <math.h>

#include "embed/stein.h"

/* Mean and deviation of a column, by two passes that cannot overflow; a constant column is only centred. */
void gram_stein_measure(int64_t n, const double *x, int64_t ldx, double *mean, double *deviation)
{
    double sum = 0, squares = 0, least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        const double value = x[i * ldx];
        sum += value / (double)n;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    *mean = least == most ? least : sum;
    *deviation = 1;
    const double scale = fmax(most - *mean, *mean - least);
    if (!(scale > 0)) return;
    for (int64_t i = 0; i < n; i++) squares += pow((x[i * ldx] - *mean) / scale, 2);
    *deviation = scale * sqrt(squares / (double)n);
}

void gram_stein_standardise(int64_t n, int64_t d, double *x, int64_t ldx, double *scores, int64_t lds)
{
    for (int64_t l = 0; l < d; l++) {
        double mean, deviation;
        gram_stein_measure(n, x + l, ldx, &mean, &deviation);
        for (int64_t i = 0; i < n; i++) {
            x[i * ldx + l] = (x[i * ldx + l] - mean) / deviation;
            if (scores) scores[i * lds + l] *= deviation;
        }
    }
}
