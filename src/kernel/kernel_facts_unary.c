/* Facts through nodes with one operand a. Rules are as in kernel_facts.c; the reasons:
 *
 * exp        is a sum of products of a with positive weights, of which one is a itself: what a sum keeps is kept. If the
 *            feature map of a is injective, so that exp(a) = exp(<u, v>) for different vectors u, v, it is strictly
 *            positive definite (exp(-|u - v|^2/2) is, in any Hilbert space), and universal if a is continuous too
 *            (Steinwart and Christmann, "Support Vector Machines", 2008, 4.57). The logarithm is one to one: a function of
 *            x - y before is one after, and the other way round, and so for continuity.
 * normalize  with k(x,x) > 0 everywhere divides by a positive function of x and of y: keeps rank, strictly, and with
 *            continuity universal. Divides a stationary kernel by a constant: keeps all.
 * scale      f is not known and may be 0: keeps "no" to strictly, and an upper bound on the rank.
 * draws      of GP(0, k) are in H if and only if H has a finite dimension (Lukic and Beder, "Stochastic processes with sample
 *            paths in reproducing kernel Hilbert spaces", Trans. AMS 353, 2001).
 * centre     moves all features by the same vector: their differences, hence characteristic and injective, are kept; the
 *            mean of all functions over the sample is 0, hence neither strictly nor universal.
 * warp       if A is one to one, what holds for all points holds for those A x; if it is not, points fall together. If A
 *            reaches all points, what fails for some points fails for some A x. A (nonconstant, continuous) function of
 *            |A(x - y)| is one of |x - y| only if A'A is a multiple of I, otherwise it would repeat itself on a sequence
 *            of distances that goes to 0. */
#include "kernel/kernel_facts.h"

#include <math.h>

static void answer_no(gram_properties *facts)
{
    facts->strictly = facts->universal = facts->characteristic = GRAM_NO;
}

void gram_known_settle(gram_known *part)
{
    gram_properties *facts = &part->facts;
    const int finite = facts->rank != GRAM_INFINITE;
    if (finite || facts->bounded_below == GRAM_NO) facts->strictly = facts->universal = GRAM_NO;
    if (finite) facts->characteristic = GRAM_NO;
    if (finite) facts->draws_in_space = GRAM_YES;
    if (part->injective == GRAM_NO) answer_no(facts);
    if (facts->strictly == GRAM_YES || facts->universal == GRAM_YES || facts->characteristic == GRAM_YES) {
        part->injective = GRAM_YES;
        facts->draws_in_space = GRAM_NO; /* H has no end of dimensions */
    }
}

static void flat(gram_known *part, gram_known_kind kind)
{
    part->facts = (gram_properties){
        .positive_definite = GRAM_YES,
        .strictly = GRAM_NO,
        .stationary = GRAM_YES,
        .isotropic = GRAM_YES,
        .universal = GRAM_NO,
        .characteristic = GRAM_NO,
        .continuous = GRAM_YES,
        .bounded_below = kind == GRAM_KNOWN_ZERO ? GRAM_NO : GRAM_YES,
        .rank = kind == GRAM_KNOWN_ZERO ? 0 : 1,
        .derivatives = GRAM_INFINITE,
        .sobolev_order = NAN,
        .constant_diagonal = GRAM_YES,
        .draws_in_space = GRAM_YES,
        .draw_smoothness = INFINITY,
    };
    part->kind = kind;
    part->injective = GRAM_NO;
    part->origin = NAN;
    part->opaque = part->observes = part->pinned = 0;
}

void gram_known_zero(gram_known *part)
{
    flat(part, GRAM_KNOWN_ZERO);
}

void gram_known_constant(gram_known *part)
{
    flat(part, GRAM_KNOWN_CONSTANT);
}

/* Yes if it is so, no if features fall together. */
static gram_answer yes_if(const gram_known *part, int so)
{
    return so ? GRAM_YES : part->injective == GRAM_NO ? GRAM_NO : GRAM_UNKNOWN;
}

static void forget_zero(gram_known *part)
{
    part->pinned = 0;
    part->origin = NAN;
}

void gram_known_exp(gram_known *part)
{
    const gram_properties a = part->facts;
    gram_properties *facts = &part->facts;
    if (part->kind != GRAM_KNOWN_ORDINARY) {
        gram_known_constant(part);
        return;
    }
    const int definite = a.positive_definite == GRAM_YES, injective = definite && part->injective == GRAM_YES;
    facts->positive_definite = definite ? GRAM_YES : GRAM_UNKNOWN;
    facts->strictly = yes_if(part, injective);
    facts->universal = yes_if(part, (definite && a.universal == GRAM_YES) || (injective && a.continuous == GRAM_YES));
    facts->characteristic = yes_if(part, definite && a.characteristic == GRAM_YES);
    facts->bounded_below = GRAM_YES;
    facts->rank = GRAM_INFINITE;
    facts->sobolev_order = NAN;
    /* a continuous kernel that is not constant has no end of different features */
    facts->draws_in_space = definite && a.continuous == GRAM_YES && !part->opaque ? GRAM_NO : GRAM_UNKNOWN;
    forget_zero(part);
    gram_known_settle(part);
}

void gram_known_normalize(gram_known *part)
{
    const gram_properties a = part->facts;
    gram_properties *facts = &part->facts;
    const int positive = a.bounded_below == GRAM_YES, continuous = positive && a.continuous == GRAM_YES;
    if (part->kind == GRAM_KNOWN_CONSTANT) gram_known_constant(part);
    if (part->kind != GRAM_KNOWN_ORDINARY || (a.stationary == GRAM_YES && positive)) return;
    facts->stationary = facts->isotropic = GRAM_UNKNOWN;
    facts->continuous = continuous ? GRAM_YES : GRAM_UNKNOWN;
    facts->bounded_below = positive ? GRAM_YES : GRAM_UNKNOWN;
    facts->strictly = positive ? a.strictly : GRAM_UNKNOWN;
    facts->universal = continuous ? a.universal : GRAM_UNKNOWN;
    facts->characteristic = GRAM_UNKNOWN;
    if (!positive) facts->derivatives = 0;
    facts->sobolev_order = NAN;
    facts->constant_diagonal = positive ? GRAM_YES : GRAM_UNKNOWN;
    if (!positive) facts->draws_in_space = GRAM_UNKNOWN;
    if (!positive) facts->draw_smoothness = NAN;
    forget_zero(part);
    if (part->injective == GRAM_YES) part->injective = GRAM_UNKNOWN; /* x and 2 x of an inner product */
    part->opaque = 1;                                                /* (x y)^2 becomes 1 */
    gram_known_settle(part);
}

void gram_known_scale(gram_known *part, int more)
{
    const gram_properties a = part->facts;
    if (part->kind == GRAM_KNOWN_ZERO) return;
    part->facts = (gram_properties){
        .positive_definite = a.positive_definite == GRAM_YES ? GRAM_YES : GRAM_UNKNOWN,
        .strictly = more || a.strictly == GRAM_NO ? GRAM_NO : GRAM_UNKNOWN,
        .stationary = GRAM_UNKNOWN,
        .isotropic = GRAM_UNKNOWN,
        .universal = GRAM_UNKNOWN,
        .characteristic = GRAM_UNKNOWN,
        .continuous = GRAM_UNKNOWN,
        .bounded_below = a.bounded_below == GRAM_NO ? GRAM_NO : GRAM_UNKNOWN,
        .rank = a.rank,
        .derivatives = 0,
        .sobolev_order = NAN,
        .constant_diagonal = GRAM_UNKNOWN,
        .draws_in_space = a.draws_in_space == GRAM_YES ? GRAM_YES : GRAM_UNKNOWN,
        .draw_smoothness = NAN,
    };
    part->kind = GRAM_KNOWN_ORDINARY;
    part->injective = GRAM_UNKNOWN;
    part->opaque = 1;
    part->pinned = 0; /* f may be 0 elsewhere, too */
    gram_known_settle(part);
}

void gram_known_centre(gram_known *part)
{
    gram_properties *facts = &part->facts;
    if (part->kind != GRAM_KNOWN_ORDINARY) {
        gram_known_zero(part);
        return;
    }
    facts->strictly = facts->universal = GRAM_NO;
    facts->stationary = facts->isotropic = GRAM_UNKNOWN;
    if (facts->positive_definite != GRAM_YES) facts->positive_definite = GRAM_UNKNOWN;
    if (facts->continuous == GRAM_NO) facts->continuous = GRAM_UNKNOWN;
    facts->bounded_below = GRAM_UNKNOWN;
    facts->sobolev_order = NAN;
    facts->constant_diagonal = GRAM_UNKNOWN;
    forget_zero(part);
    gram_known_settle(part);
}

/* ---- warp ---- */

/* A part that only ever sees the point 0. */
static void collapse(gram_known *part)
{
    const gram_properties a = part->facts;
    const int64_t rank = a.rank == 0 ? 0 : 1;
    gram_known_constant(part);
    if (a.bounded_below == GRAM_YES && a.positive_definite == GRAM_YES) return;
    part->kind = GRAM_KNOWN_ORDINARY; /* k(0, 0) may be 0 */
    part->opaque = 1;
    part->facts.positive_definite = a.positive_definite == GRAM_YES ? GRAM_YES : GRAM_UNKNOWN;
    part->facts.bounded_below = GRAM_UNKNOWN;
    part->facts.rank = rank;
}

static gram_answer through(gram_answer answer, int keeps_yes, int keeps_no)
{
    if (answer == GRAM_YES) return keeps_yes ? GRAM_YES : GRAM_UNKNOWN;
    return answer == GRAM_NO && keeps_no ? GRAM_NO : GRAM_UNKNOWN;
}

/* `before` is what is known of the operand; the node is stationary as `stationary` says. */
static gram_answer warped_isotropic(const gram_known *before, const gram_warp_nature *nature, gram_answer stationary)
{
    const gram_answer answer = before->facts.isotropic;
    if (stationary == GRAM_NO) return GRAM_NO;
    if (!nature->whole) return GRAM_UNKNOWN; /* the operand was judged by rows that it does not see */
    if (nature->similarity) return through(answer, 1, nature->rows == nature->columns);
    const int varies = !before->opaque && !before->observes && before->facts.continuous == GRAM_YES;
    return answer == GRAM_YES && varies ? GRAM_NO : GRAM_UNKNOWN;
}

void gram_known_warp(gram_known *part, const gram_warp_nature *nature)
{
    const gram_known before = *part;
    gram_properties *facts = &part->facts;
    if (part->kind != GRAM_KNOWN_ORDINARY) return;
    if (nature->columns == 0 && !part->observes) {
        collapse(part);
        return;
    }
    const int into = nature->rank == nature->columns, onto = nature->rank == nature->rows;
    const int complete = !part->observes || nature->everything;
    gram_answer *const properties[] = {&facts->strictly, &facts->universal, &facts->characteristic, &part->injective};
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
        *properties[i] = into             ? through(*properties[i], complete, onto && complete)
                         : part->observes ? GRAM_UNKNOWN
                                          : GRAM_NO;
    facts->positive_definite = through(facts->positive_definite, 1, onto);
    facts->stationary = through(facts->stationary, 1, onto);
    facts->isotropic = warped_isotropic(&before, nature, facts->stationary);
    facts->continuous = through(facts->continuous, 1, into && onto);
    facts->bounded_below = through(facts->bounded_below, 1, onto);
    facts->constant_diagonal = through(facts->constant_diagonal, 1, onto);
    facts->draws_in_space = through(facts->draws_in_space, 1, onto);
    if (!into || !onto) facts->sobolev_order = NAN;
    if (!into || !onto || part->origin != 0) part->pinned = 0;
    if (part->origin != 0) part->origin = NAN; /* A 0 = 0; where A x has another value in all rows is not looked at */
    part->opaque |= !onto;
    gram_known_settle(part);
}
