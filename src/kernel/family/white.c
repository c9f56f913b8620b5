/* white(): 1 when both arguments are the same observation, else 0. Two points of equal coordinates are different
 * observations; the same row of the same points is the same one. */
#include <math.h>

#include "kernel/kernel.h"

static const char *rough(const double *par)
{
    (void)par;
    return "it is not continuous";
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)par, (void)d;
    facts->positive_definite = GRAM_YES;
    facts->strictly = GRAM_YES;
    facts->stationary = GRAM_YES;
    facts->isotropic = GRAM_YES;
    facts->universal = GRAM_NO;
    facts->characteristic = GRAM_NO;
    facts->continuous = GRAM_NO;
    facts->bounded_below = GRAM_YES;
    facts->rank = GRAM_INFINITE;
    facts->derivatives = 0;
    facts->draw_smoothness = 0;
    facts->sobolev_order = NAN;
}

const gram_kernel_type gram_kernel_white = {
    .name = "white",
    .formula = "1 if x and y are the same observation, else 0",
    .form = GRAM_FORM_SAME,
    .facts = facts,
    .rough = rough,
};
