/* Systems of a few equations, S b = v with S = T'A^-1 T for the columns T that no penalty acts on.
 *
 * S = L D L' in the place of S: the pivots are on the diagonal, the lower triangle has L. A column of T that depends on those
 * before it leaves a pivot of rounding errors; it gets the coefficient 0, which changes nothing of T b. */
#ifndef GRAM_SOLVE_SMALL_SYSTEM_H
#define GRAM_SOLVE_SMALL_SYSTEM_H

#include <math.h>
#include <stdint.h>

/* Of q x q numbers the lower triangle is read. Returns how many pivots count. */
static inline int64_t gram_small_factor(int64_t q, double *s)
{
    static const double DEPENDENT = 1e-12; /* of a pivot, relative to the diagonal */
    int64_t rank = q;
    for (int64_t j = 0; j < q; j++) {
        double pivot = s[j * q + j];
        for (int64_t k = 0; k < j; k++) pivot -= s[j * q + k] * s[j * q + k] * s[k * q + k];
        const int counts = j == 0 ? pivot != 0 : pivot > DEPENDENT * s[j * q + j];
        rank -= !counts;
        for (int64_t k = 0; k < j && !counts; k++) s[j * q + k] = 0;
        for (int64_t i = j + 1; i < q; i++) {
            for (int64_t k = 0; k < j; k++) s[i * q + j] -= s[i * q + k] * s[k * q + k] * s[j * q + k];
            s[i * q + j] = counts ? s[i * q + j] / pivot : 0;
        }
        s[j * q + j] = counts ? pivot : 0;
    }
    return rank;
}

static inline double gram_small_over(double value, double pivot)
{
    return pivot != 0 ? value / pivot : 0;
}

/* v = S^-1 v for q numbers of a stride. */
static inline void gram_small_solve(int64_t q, const double *s, double *v, int64_t stride)
{
    for (int64_t i = 0; i < q; i++)
        for (int64_t k = 0; k < i; k++) v[i * stride] -= s[i * q + k] * v[k * stride];
    for (int64_t i = q - 1; i >= 0; i--) {
        v[i * stride] = gram_small_over(v[i * stride], s[i * q + i]);
        for (int64_t k = i + 1; k < q; k++) v[i * stride] -= s[k * q + i] * v[k * stride];
    }
}

/* v'S^-1 w; `work` has 2 q numbers. */
static inline double gram_small_form(int64_t q, const double *s, const double *v, const double *w, double *work)
{
    double sum = 0;
    for (int64_t i = 0; i < q; i++) {
        work[i] = v[i];
        work[q + i] = w[i];
        for (int64_t k = 0; k < i; k++) {
            work[i] -= s[i * q + k] * work[k];
            work[q + i] -= s[i * q + k] * work[q + k];
        }
        sum += gram_small_over(work[i] * work[q + i], s[i * q + i]);
    }
    return sum;
}

#endif
