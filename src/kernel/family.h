/* What several kernels of the table say in the same words. */
#ifndef GRAM_KERNEL_FAMILY_H
#define GRAM_KERNEL_FAMILY_H

#include <math.h>

#include "kernel.h"

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
void gram_facts_smooth_stationary(gram_facts *facts);

#endif
