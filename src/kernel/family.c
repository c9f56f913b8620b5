#include "family.h"

void gram_facts_smooth_stationary(gram_facts *facts)
{
    facts->positive_definite = GRAM_YES;
    facts->strictly = GRAM_YES;
    facts->stationary = GRAM_YES;
    facts->isotropic = GRAM_YES;
    facts->universal = GRAM_YES;
    facts->characteristic = GRAM_YES;
    facts->continuous = GRAM_YES;
    facts->bounded_below = GRAM_YES;
    facts->rank = GRAM_INFINITE;
    facts->sobolev_order = NAN;
}
