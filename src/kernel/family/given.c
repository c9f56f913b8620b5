/* given(): an entry of a given matrix (points/given_things.h). Its rows are what a column holds; whether the matrix is that of a kernel is for whoever gives it to
 * know, and for gram_given_psd to doubt. */
#include <math.h>

#include "kernel/family_facts.h"

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    (void)shape, (void)work;
    v->affine(n, 1, 0, s, out);
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)par, (void)d;
    facts->stationary = GRAM_NO;
    facts->isotropic = GRAM_NO;
    facts->derivatives = 0;
    facts->sobolev_order = NAN;
}

const gram_kernel_type gram_kernel_given = {
    .name = "given",
    .formula = "the entry of x and y in a given matrix",
    .form = GRAM_FORM_DOT,
    .things = 1u << GRAM_OBJECT_GIVEN,
    .facts = facts,
    .profile = profile,
};
