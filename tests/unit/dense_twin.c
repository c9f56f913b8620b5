#include "dense_twin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* Row k of both arrays, of n and m columns, changes places with the row below it that has the largest number in column k. */
static void pivot(int64_t n, int64_t k, long double *a, int64_t m, long double *b)
{
    int64_t best = k;
    for (int64_t i = k + 1; i < n; i++)
        if (fabsl(a[i * n + k]) > fabsl(a[best * n + k])) best = i;
    for (int64_t j = 0; j < n + m; j++) {
        long double *row = j < n ? a + k * n + j : b + k * m + j - n;
        long double *other = j < n ? a + best * n + j : b + best * m + j - n;
        const long double kept = *row;
        *row = *other;
        *other = kept;
    }
}

static long double eliminate(int64_t n, long double *a, int64_t m, long double *b)
{
    long double log_determinant = 0;
    for (int64_t k = 0; k < n; k++) {
        pivot(n, k, a, m, b);
        log_determinant += logl(fabsl(a[k * n + k]));
        for (int64_t i = 0; i < n; i++) {
            const long double factor = i == k ? 0 : a[i * n + k] / a[k * n + k];
            for (int64_t j = k; j < n && factor != 0; j++) a[i * n + j] -= factor * a[k * n + j];
            for (int64_t j = 0; j < m && factor != 0; j++) b[i * m + j] -= factor * b[k * m + j];
        }
    }
    for (int64_t i = 0; i < n * m; i++) b[i] /= a[i / m * (n + 1)];
    return log_determinant;
}

static long double *widened(int64_t count, const double *numbers)
{
    long double *wide = calloc((size_t)(count > 0 ? count : 1), sizeof *wide);
    assert_non_null(wide);
    for (int64_t i = 0; i < count; i++) wide[i] = numbers[i];
    return wide;
}

double dense_solve(int64_t n, const double *a, int64_t m, double *b)
{
    long double *wide_a = widened(n * n, a), *wide_b = widened(n * m, b);
    const double log_determinant = (double)eliminate(n, wide_a, m, wide_b);
    for (int64_t i = 0; i < n * m; i++) b[i] = (double)wide_b[i];
    free(wide_a);
    free(wide_b);
    return log_determinant;
}

double dense_invert(int64_t n, double *a)
{
    double *unit = test_numbers(n * n);
    for (int64_t i = 0; i < n; i++) unit[i * n + i] = 1;
    const double log_determinant = dense_solve(n, a, n, unit);
    memcpy(a, unit, (size_t)(n * n) * sizeof *a);
    free(unit);
    return log_determinant;
}

static void multiply(int64_t n, int64_t k, int64_t m, const double *a, int64_t down, int64_t right, const double *b,
                     double *out)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            long double sum = 0;
            for (int64_t l = 0; l < k; l++) sum += (long double)a[i * down + l * right] * b[l * m + j];
            out[i * m + j] = (double)sum;
        }
}

void dense_multiply(int64_t n, int64_t k, int64_t m, const double *a, const double *b, double *out)
{
    multiply(n, k, m, a, k, 1, b, out);
}

void dense_multiply_transposed(int64_t n, int64_t k, int64_t m, const double *a, const double *b, double *out)
{
    multiply(n, k, m, a, 1, n, b, out);
}

/* With T the columns, H = A^-1 T, S = T'H, b = S^-1 H'y and w = A^-1 (y - T b): the mean is t'b + k'w, the covariance
 * k(z, z) - k'A^-1 k, and for a flat prior + r'S^-1 r with r = t - H'k. */
double dense_gp_posterior(const dense_gp *p, double *mean, double *covariance)
{
    const int64_t n = p->n, q = p->q, m = p->m;
    double *h = test_numbers(n * q), *s = test_numbers(q * q), *b = test_numbers(q), *left = test_numbers(n);
    double *w = test_numbers(n), *v = test_numbers(n * m), *part = test_numbers(m * m), *r = test_numbers(q * m);
    double *sr = test_numbers(q * m), log_s = 0, quadratic = 0;
    memcpy(h, p->columns, (size_t)(n * q) * sizeof *h);
    memcpy(v, p->cross, (size_t)(n * m) * sizeof *v);
    (void)dense_solve(n, p->a, q, h);
    (void)dense_solve(n, p->a, m, v);
    dense_multiply_transposed(q, n, q, p->columns, h, s);
    dense_multiply_transposed(q, n, 1, h, p->y, b);
    log_s = dense_solve(q, s, 1, b);
    dense_multiply(n, q, 1, p->columns, b, w);
    for (int64_t i = 0; i < n; i++) w[i] = left[i] = p->y[i] - w[i];
    const double log_a = dense_solve(n, p->a, 1, w);
    for (int64_t i = 0; i < n; i++) quadratic += left[i] * w[i];
    dense_multiply_transposed(m, n, 1, p->cross, w, mean);
    dense_multiply_transposed(m, n, m, p->cross, v, part);
    for (int64_t i = 0; i < m * m; i++) covariance[i] = p->own[i] - part[i];
    dense_multiply_transposed(q, n, m, h, p->cross, r);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < q; j++) {
            mean[i] += p->new_columns[i * q + j] * b[j];
            sr[j * m + i] = r[j * m + i] = p->new_columns[i * q + j] - r[j * m + i];
        }
    (void)dense_solve(q, s, m, sr);
    dense_multiply_transposed(m, q, m, r, sr, part);
    for (int64_t i = 0; i < m * m && p->flat; i++) covariance[i] += part[i];
    free(h), free(s), free(b), free(left), free(w), free(v), free(part), free(r), free(sr);
    return -0.5 * (quadratic + log_a + (p->flat ? log_s : 0) + (double)(n - (p->flat ? q : 0)) * log(2 * acos(-1)));
}
