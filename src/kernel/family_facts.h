/* What several kernels of the table say in the same words. */
#ifndef GRAM_KERNEL_FAMILY_FACTS_H
#define GRAM_KERNEL_FAMILY_FACTS_H

#include <math.h>

#include "kernel/kernel.h"

/* The length-scale of a stationary kernel; arguments: aliases. */
#define GRAM_LENGTH_SPEC(...)                                                                                          \
    {                                                                                                                  \
        .name = "ell", .role = GRAM_ROLE_LENGTH, .initial = NAN, .lower = 0, .lower_open = 1, .upper = INFINITY,       \
        .resolved = 1, .transform = GRAM_TRANSFORM_LOG, .aliases = {                                                   \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

#define GRAM_COVARIANCE_SPEC                                                                                           \
    {                                                                                                                  \
        .name = "S", .role = GRAM_ROLE_COVARIANCE, .initial = NAN, .lower = -INFINITY, .upper = INFINITY               \
    }

/* Stationary, strictly positive definite, universal and characteristic, infinite rank, k(x,x) = 1. Isotropy, which
 * depends on the length-scales, is set by whoever knows them. */
void gram_facts_smooth_stationary(gram_properties *facts);

/* A polynomial in x.y with coefficients >= 0: finite rank, every derivative. */
void gram_facts_polynomial(gram_properties *facts, int64_t rank, int positive_diagonal);

/* How many monomials of d variables there are of degree at most m: binomial(d + m, m); GRAM_INFINITE past 9e15. */
int64_t gram_monomial_count(int64_t d, double m);

/* (base + rest + scale s)^-power for a block, base > 0, |rest| at most half the last place of base. A sum rounded to
 * `base` alone would be worth power * 2^-53 of the result; so, for large powers, what the sum lost comes back as a
 * factor. At most 8 roundings besides those of scale * s, exactly base^-power at s = 0, 0 at s = inf. `out` may be s. */
typedef struct gram_inverse_power {
    double base, rest, scale, power;
} gram_inverse_power;

void gram_profile_inverse_power(const gram_vecmath_f64 *v, const gram_inverse_power *form, int n, const double *s,
                                double *out, double *work);

/* The same in f32; the sum is f64's, or for powers 1 and 1/2, which lose nothing by it, f32's. At most 3 roundings. */
void gram_profile_inverse_power_f32(const gram_vecmath_f32 *v, const gram_inverse_power *form, int n, const float *s,
                                    float *out);

#endif
