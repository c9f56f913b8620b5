/* The density of a sample on the line: a mean of Gaussians of Silverman's width. */
#include <math.h>

#include <gram/density.h>

/* 0.9 deviations n^(-1/5); of a constant sample as if it deviated by 0.1. */
static double silverman_width(int64_t n, const double *x)
{
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) mean += x[i] / (double)n;
    for (int64_t i = 0; i < n; i++) squares += (x[i] - mean) * (x[i] - mean);
    const double deviation = sqrt(squares / (double)n);
    return 0.9 * (deviation > 0 ? deviation : 0.1) * pow((double)n, -0.2);
}

void gram_density_estimate(int64_t n, const double *x, int64_t m, const double *at, double *out)
{
    const double width = silverman_width(n, x), root = 2.5066282746310002; /* of 2 pi */
    for (int64_t j = 0; j < m; j++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) {
            const double t = (at[j] - x[i]) / width;
            sum += exp(-t * t / 2);
        }
        out[j] = sum / ((double)n * width * root);
    }
}
