/* Facts of mean(a) and after(a, b). The points of mean are bags, and a bag is the measure of its rows:
 *
 * mean   is the inner product of mean embeddings, so positive definite if a is, and its features are different for different measures if a is
 *        characteristic. It is linear in the measures: not universal.
 * after  is b at the distances of the features of a. b is a mixture of Gaussians exp(-t |u - v|^2), all of which are positive definite in every Hilbert space, and
 *        strictly so (Schoenberg, "Metric spaces and completely monotone functions", Annals of Mathematics 39, 1938). Universal for a Gaussian b if the features are
 *        different for different points and a is continuous (Christmann and Steinwart, "Universal kernels on non-standard input spaces", NIPS 2010). */
#include <math.h>
#include <string.h>

#include "kernel/kernel_facts.h"

static void forget_shape(gram_known *part)
{
    gram_properties *facts = &part->facts;
    facts->stationary = facts->isotropic = GRAM_UNKNOWN;
    facts->draws_in_space = GRAM_UNKNOWN;
    facts->draw_smoothness = facts->sobolev_order = NAN;
    facts->derivatives = 0;
    part->kind = GRAM_KNOWN_ORDINARY;
    part->origin = NAN;
    part->pinned = 0;
    part->opaque = 1;
}

void gram_known_mean(gram_known *part, int frequencies)
{
    gram_properties *facts = &part->facts;
    const gram_answer told_apart = frequencies > 0 ? GRAM_NO : facts->characteristic;
    forget_shape(part);
    if (facts->positive_definite != GRAM_YES) facts->positive_definite = GRAM_UNKNOWN;
    facts->strictly = facts->universal = facts->characteristic = GRAM_UNKNOWN;
    facts->bounded_below = facts->bounded_below == GRAM_YES ? GRAM_UNKNOWN : facts->bounded_below;
    facts->constant_diagonal = GRAM_UNKNOWN;
    part->observes = 0;
    part->injective = told_apart;
    if (frequencies > 0) facts->rank = 2 * (int64_t)frequencies;
    gram_known_settle(part);
}

void gram_known_after(gram_known *part, const gram_kernel *outer)
{
    gram_properties *facts = &part->facts;
    const int definite = facts->positive_definite == GRAM_YES;
    const int injective = definite && part->injective == GRAM_YES;
    const int gaussian = strcmp(outer->type->name, "rbf") == 0;
    forget_shape(part);
    facts->positive_definite = definite ? GRAM_YES : GRAM_UNKNOWN;
    facts->strictly = injective ? GRAM_YES : part->injective == GRAM_NO ? GRAM_NO : GRAM_UNKNOWN;
    facts->universal = injective && gaussian && facts->continuous == GRAM_YES ? GRAM_YES : GRAM_UNKNOWN;
    facts->characteristic = facts->universal;
    facts->bounded_below = facts->constant_diagonal = GRAM_YES;
    facts->rank = GRAM_INFINITE;
    if (facts->continuous != GRAM_YES) facts->continuous = GRAM_UNKNOWN;
    gram_known_settle(part);
}
