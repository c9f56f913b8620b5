/* const(c): the same for every pair, c >= 0. A bare number in an expression is this kernel. */
#include <math.h>

#include "kernel/kernel.h"

static void parameter_slope(const gram_vecmath_f64 *v, const gram_shape *shape, int spec, int n, const double *s,
                            const double *k, double *out)
{
    (void)shape, (void)spec, (void)s, (void)k;
    v->fill(n, 1, out);
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)d;
    facts->positive_definite = GRAM_YES;
    facts->strictly = GRAM_NO;
    facts->stationary = GRAM_YES;
    facts->isotropic = GRAM_YES;
    facts->universal = GRAM_NO;
    facts->characteristic = GRAM_NO;
    facts->continuous = GRAM_YES;
    facts->bounded_below = par[0] > 0 ? GRAM_YES : isnan(par[0]) ? GRAM_UNKNOWN : GRAM_NO;
    facts->rank = par[0] == 0 ? 0 : 1;
    facts->derivatives = GRAM_INFINITE;
    facts->sobolev_order = NAN;
}

const gram_kernel_type gram_kernel_const = {
    .name = "const",
    .formula = "c",
    .form = GRAM_FORM_NONE,
    .spec_count = 1,
    .specs = {{.name = "c",
               .role = GRAM_ROLE_SHAPE,
               .initial = NAN,
               .resolved = 1,
               .lower = 0,
               .upper = INFINITY,
               .transform = GRAM_TRANSFORM_LOG}},
    .facts = facts,
    .parameter_slope = parameter_slope,
};
