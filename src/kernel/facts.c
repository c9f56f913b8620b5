/* What is known of a kernel, composed from what is known of its parts.
 *
 * Each part of the tree carries its facts on the columns that it sees (S below); only at the end are they turned into
 * facts on R^d. Write k = 0 for a part that vanishes, k = c for one that is a positive constant. An open amplitude
 * counts as positive.
 *
 * Strictly, universal, characteristic ("P"):
 *   sum      terms 0 are dropped. A term with P that sees all of S makes it yes; if no term sees all of S, no (the
 *            corners of a cube, signed by parity, are invisible to each term); otherwise unknown.
 *   product  a factor 0 makes 0, factors c are dropped. Yes if the factors with P together see all of S and the others
 *            are continuous with k(x,x) > 0 everywhere; for characteristic all factors must be stationary and continuous
 *            instead. (Strictly: K is a principal part of a Kronecker product, times a factor of positive diagonal.
 *            Universal: products of functions dense in C are dense in C of the product. Characteristic: the support of
 *            a convolution of spectral measures is the sum of their supports. White noise is stationary but has no
 *            spectral measure: hence "continuous".)
 *   power    as the product of its copies.
 *   always   finite rank: no to all; k(x,x) = 0 somewhere: neither strictly nor universal; a column of R^d that no
 *            part sees: no to all.
 * Continuous: a sum is iff all terms are; a product of continuous ones is, and one discontinuous factor among continuous
 * ones with k(x,x) > 0 makes it discontinuous.
 * Stationary, isotropic: all yes gives yes. A single no among yes gives no in a sum, and in a product if the others are
 * continuous with k(x,x) > 0, so that they can be divided out near the diagonal, where a leaf's no is meant. A power of
 * such a kernel says what the kernel says: its root can be taken there.
 * Rank: adds and multiplies, an upper bound. Derivatives: the smallest. Sobolev order: the smallest, if all of them have
 * one on the same columns (and are stationary in a product). */
#include <math.h>
#include <string.h>

#include "kernel.h"

enum { WORD = 64, PROPERTIES = 3, SETS_PER_LEVEL = 1 + PROPERTIES };

typedef enum kind { ORDINARY, ZERO, CONSTANT } kind;

typedef struct known {
    gram_facts facts;
    kind kind;
    uint64_t *seen; /* the set of columns S */
    int64_t seen_count;
} known;

typedef struct composing {
    gram_context *context;
    int64_t d;
    int64_t words;  /* of a set */
    uint64_t *sets; /* SETS_PER_LEVEL for each level of the tree */
} composing;

/* ---- sets of columns ---- */

static uint64_t *take_set(const composing *c, int level, int which)
{
    uint64_t *set = c->sets + ((int64_t)level * SETS_PER_LEVEL + which) * c->words;
    memset(set, 0, (size_t)c->words * sizeof *set);
    return set;
}

static void unite(const composing *c, uint64_t *set, const uint64_t *other)
{
    for (int64_t i = 0; i < c->words; i++) set[i] |= other[i];
}

static int64_t count_set(const composing *c, const uint64_t *set)
{
    int64_t count = 0;
    for (int64_t i = 0; i < c->words; i++)
        for (uint64_t rest = set[i]; rest; rest &= rest - 1) count++;
    return count;
}

/* ---- leaves ---- */

/* Is the metric of the leaf a multiple of the Euclidean one? */
static int round_metric(const gram_kernel *leaf)
{
    const gram_argument *length = gram_kernel_argument(leaf, GRAM_ROLE_LENGTH);
    const gram_argument *s = gram_kernel_argument(leaf, GRAM_ROLE_COVARIANCE);
    for (int64_t i = 1; length && i < length->count; i++)
        if (length->values[i] != length->values[0]) return 0;
    for (int64_t i = 0; s && i < s->count; i++)
        if (s->values[i] != (i / s->rows == i % s->rows ? s->values[0] : 0)) return 0;
    return 1;
}

static void mark_columns(const composing *c, const gram_view *view, uint64_t *set)
{
    for (int64_t l = 0; l < view->d; l++) {
        const int64_t column = view->columns ? view->columns[l] : l;
        set[column / WORD] |= (uint64_t)1 << (column % WORD);
    }
    (void)c;
}

static void leaf_facts(const composing *c, const gram_kernel *leaf, const gram_view *view, int level, known *out)
{
    const gram_view everything = {.d = c->d};
    double par[GRAM_MAX_SPECS];
    gram_kernel_par(leaf, par);
    for (int i = 0; i < leaf->type->spec_count; i++)
        if (leaf->type->specs[i].role == GRAM_ROLE_SHAPE && isnan(par[i])) par[i] = leaf->type->specs[i].resolved;
    out->seen = take_set(c, level, 0);
    leaf->type->facts(par, view->d, &out->facts);
    if (leaf->type->form == GRAM_FORM_NONE) {
        out->kind = par[0] > 0 ? CONSTANT : ZERO;
    } else {
        /* an observation is the same or not, whatever columns are looked at */
        mark_columns(c, leaf->type->form == GRAM_FORM_SAME ? &everything : view, out->seen);
        if (!round_metric(leaf)) out->facts.isotropic = GRAM_NO;
    }
    out->seen_count = count_set(c, out->seen);
}

static const gram_facts ZERO_FACTS = {
    .positive_definite = GRAM_YES,
    .strictly = GRAM_NO,
    .stationary = GRAM_YES,
    .isotropic = GRAM_YES,
    .universal = GRAM_NO,
    .characteristic = GRAM_NO,
    .continuous = GRAM_YES,
    .bounded_below = GRAM_NO,
    .rank = 0,
    .derivatives = GRAM_INFINITE,
    .sobolev_order = NAN,
};

/* ---- sums and products: operands are added one at a time ---- */

typedef struct fold {
    gram_node node;
    int operands;                    /* that count: not 0 in a sum, not constant in a product */
    int constants;                   /* factors left out */
    int zero;                        /* a factor is 0 */
    known first;                     /* the only one, if there is only one; its set is in `seen` */
    uint64_t *seen;                  /* S so far */
    int64_t widest;                  /* most columns that an operand sees */
    int64_t narrowest;               /* fewest */
    uint64_t *cover[PROPERTIES];     /* product: columns seen by factors with P */
    int64_t widest_with[PROPERTIES]; /* sum: most columns that a term with P sees, or -1 */
    int others_fit[PROPERTIES];      /* product: factors without P are continuous with k(x,x) > 0 */
    int pd[3], stationary[3], isotropic[3], continuous[3], bounded[3]; /* how many say no, yes, unknown */
    int plain_others[2]; /* factors that are not stationary (isotropic) apart: all others can be divided out */
    int64_t rank;
    int derivatives;
    double sobolev;
} fold;

static gram_answer property(const gram_facts *facts, int which)
{
    return which == 0 ? facts->strictly : which == 1 ? facts->universal : facts->characteristic;
}

static int divisible(const gram_facts *facts)
{
    return facts->continuous == GRAM_YES && facts->bounded_below == GRAM_YES;
}

static void start_fold(const composing *c, gram_node node, int level, fold *f)
{
    *f = (fold){.node = node, .narrowest = c->d, .derivatives = GRAM_INFINITE, .sobolev = INFINITY};
    f->rank = node == GRAM_NODE_SUM ? 0 : 1;
    f->seen = take_set(c, level, 0);
    f->plain_others[0] = f->plain_others[1] = 1;
    for (int p = 0; p < PROPERTIES; p++) {
        f->cover[p] = take_set(c, level, 1 + p);
        f->widest_with[p] = -1;
        f->others_fit[p] = 1;
    }
}

static int64_t combine_ranks(gram_node node, int64_t a, int64_t b)
{
    int64_t product;
    if (a == GRAM_INFINITE || b == GRAM_INFINITE) return GRAM_INFINITE;
    if (node == GRAM_NODE_SUM) return a > INT64_MAX - b ? GRAM_INFINITE : a + b;
    return gram_size_multiply(a, b, &product) ? product : GRAM_INFINITE;
}

static void add_numbers(fold *f, const gram_facts *facts)
{
    f->rank = combine_ranks(f->node, f->rank, facts->rank);
    if (facts->derivatives != GRAM_INFINITE && (f->derivatives == GRAM_INFINITE || facts->derivatives < f->derivatives))
        f->derivatives = facts->derivatives;
    const int has_order = !isnan(facts->sobolev_order) && (f->node == GRAM_NODE_SUM || facts->stationary == GRAM_YES);
    /* fmin would drop a NaN */
    if (!has_order || isnan(f->sobolev))
        f->sobolev = NAN;
    else if (facts->sobolev_order < f->sobolev)
        f->sobolev = facts->sobolev_order;
}

static void add_operand(const composing *c, fold *f, const known *operand)
{
    const gram_facts *facts = &operand->facts;
    if (f->node == GRAM_NODE_SUM && operand->kind == ZERO) return;
    f->zero |= operand->kind == ZERO;
    if (f->node != GRAM_NODE_SUM && operand->kind == CONSTANT) {
        f->constants++;
        return;
    }
    if (f->operands++ == 0) f->first = *operand;
    unite(c, f->seen, operand->seen);
    if (operand->seen_count > f->widest) f->widest = operand->seen_count;
    if (operand->seen_count < f->narrowest) f->narrowest = operand->seen_count;
    for (int p = 0; p < PROPERTIES; p++) {
        const int yes = property(facts, p) == GRAM_YES;
        if (yes) unite(c, f->cover[p], operand->seen);
        if (yes && operand->seen_count > f->widest_with[p]) f->widest_with[p] = operand->seen_count;
        f->others_fit[p] &= yes || divisible(facts);
    }
    f->pd[facts->positive_definite]++;
    f->stationary[facts->stationary]++;
    f->isotropic[facts->isotropic]++;
    f->continuous[facts->continuous]++;
    f->bounded[facts->bounded_below]++;
    if (facts->stationary == GRAM_YES) f->plain_others[0] &= divisible(facts);
    if (facts->isotropic == GRAM_YES) f->plain_others[1] &= divisible(facts);
    add_numbers(f, facts);
}

static gram_answer all_yes(const fold *f, const int counts[3])
{
    return counts[GRAM_YES] == f->operands ? GRAM_YES : GRAM_UNKNOWN;
}

/* Stationary or isotropic, `which` 0 or 1. */
static gram_answer close_shape(const fold *f, const int counts[3], int which)
{
    if (counts[GRAM_YES] == f->operands) return GRAM_YES;
    const int single_no = counts[GRAM_NO] == 1 && counts[GRAM_UNKNOWN] == 0;
    if (f->node == GRAM_NODE_POWER) return counts[GRAM_NO] > 0 && divisible(&f->first.facts) ? GRAM_NO : GRAM_UNKNOWN;
    return single_no && (f->node == GRAM_NODE_SUM || f->plain_others[which]) ? GRAM_NO : GRAM_UNKNOWN;
}

static gram_answer close_continuous(const fold *f)
{
    if (f->continuous[GRAM_YES] == f->operands) return GRAM_YES;
    if (f->continuous[GRAM_NO] == 0) return GRAM_UNKNOWN;
    if (f->node == GRAM_NODE_SUM) return all_yes(f, f->pd) == GRAM_YES ? GRAM_NO : GRAM_UNKNOWN;
    const int others_positive = f->bounded[GRAM_YES] == f->operands;
    return f->continuous[GRAM_NO] == 1 && f->continuous[GRAM_UNKNOWN] == 0 && others_positive ? GRAM_NO : GRAM_UNKNOWN;
}

static gram_answer close_bounded(const fold *f)
{
    if (f->node == GRAM_NODE_SUM && all_yes(f, f->pd) == GRAM_YES)
        return f->bounded[GRAM_YES] > 0 ? GRAM_YES : GRAM_UNKNOWN;
    if (f->node == GRAM_NODE_SUM) return all_yes(f, f->bounded); /* a diagonal may be negative */
    return f->bounded[GRAM_NO] > 0 ? GRAM_NO : all_yes(f, f->bounded);
}

static gram_answer close_property(const composing *c, const fold *f, int which, int64_t seen_count)
{
    if (all_yes(f, f->pd) != GRAM_YES) return GRAM_UNKNOWN;
    if (f->node == GRAM_NODE_SUM) {
        if (f->widest_with[which] == seen_count) return GRAM_YES;
        return f->widest < seen_count ? GRAM_NO : GRAM_UNKNOWN;
    }
    const int covered = count_set(c, f->cover[which]) == seen_count;
    const int spectral = f->stationary[GRAM_YES] == f->operands && f->continuous[GRAM_YES] == f->operands;
    return covered && (which == 2 ? spectral : f->others_fit[which]) ? GRAM_YES : GRAM_UNKNOWN;
}

/* What finite rank and a zero on the diagonal rule out. */
static void rule_out(gram_facts *facts)
{
    const int finite = facts->rank != GRAM_INFINITE;
    if (finite || facts->bounded_below == GRAM_NO) facts->strictly = facts->universal = GRAM_NO;
    if (finite) facts->characteristic = GRAM_NO;
}

static void close_fold(const composing *c, const fold *f, known *out)
{
    const int64_t seen_count = count_set(c, f->seen);
    if (f->zero || (f->operands == 0 && f->constants == 0)) {
        *out = (known){ZERO_FACTS, ZERO, f->seen, 0};
        memset(f->seen, 0, (size_t)c->words * sizeof *f->seen);
        return;
    }
    if (f->operands == 1) {
        *out = f->first;
        out->seen = f->seen;
        return;
    }
    *out = (known){.kind = seen_count == 0 ? CONSTANT : ORDINARY, .seen = f->seen, .seen_count = seen_count};
    gram_facts *facts = &out->facts;
    facts->positive_definite = all_yes(f, f->pd);
    facts->stationary = close_shape(f, f->stationary, 0);
    facts->isotropic = facts->stationary == GRAM_NO ? GRAM_NO : close_shape(f, f->isotropic, 1);
    facts->continuous = close_continuous(f);
    facts->bounded_below = close_bounded(f);
    facts->strictly = close_property(c, f, 0, seen_count);
    facts->universal = close_property(c, f, 1, seen_count);
    facts->characteristic = close_property(c, f, 2, seen_count);
    facts->rank = out->kind == CONSTANT ? 1 : f->rank;
    facts->derivatives = f->derivatives;
    facts->sobolev_order = f->narrowest == seen_count ? f->sobolev : NAN;
    rule_out(facts);
}

/* ---- the tree ---- */

static gram_status compose(const composing *c, const gram_kernel *kernel, const gram_view *view, int level, known *out);

/* Seen from R^d a kernel of fewer columns is not isotropic; a constant is. */
static void see_from_outside(const composing *c, known *part)
{
    if (part->seen_count < c->d && part->kind == ORDINARY) part->facts.isotropic = GRAM_NO;
}

static gram_status compose_operands(const composing *c, const gram_kernel *kernel, const gram_view *view, int level,
                                    known *out)
{
    gram_status status = GRAM_OK;
    fold f;
    known operand;
    const int copies = kernel->node == GRAM_NODE_POWER ? kernel->exponent : 1;
    start_fold(c, kernel->node, level, &f);
    for (int i = 0; i < kernel->child_count; i++) {
        TRY(compose(c, kernel->children[i], view, level + 1, &operand));
        for (int copy = 0; copy < copies; copy++) add_operand(c, &f, &operand);
    }
    close_fold(c, &f, out);
done:
    return status;
}

static gram_status compose_on(const composing *c, const gram_kernel *kernel, const gram_view *view, int level,
                              known *out)
{
    gram_status status = GRAM_OK;
    gram_view inner = {.d = 0};
    TRY(gram_view_enter(c->context, kernel, view, &inner));
    TRY(compose(c, kernel->children[0], &inner, level, out));
done:
    gram_view_leave(c->context, &inner);
    return status;
}

static gram_status compose(const composing *c, const gram_kernel *kernel, const gram_view *view, int level, known *out)
{
    gram_status status = GRAM_OK;
    const gram_facts unknown = {GRAM_UNKNOWN, GRAM_UNKNOWN, GRAM_UNKNOWN, GRAM_UNKNOWN,  GRAM_UNKNOWN,
                                GRAM_UNKNOWN, GRAM_UNKNOWN, GRAM_UNKNOWN, GRAM_INFINITE, 0,
                                NAN};
    *out = (known){.facts = unknown};
    if (kernel->node == GRAM_NODE_LEAF)
        leaf_facts(c, kernel, view, level, out);
    else if (kernel->node == GRAM_NODE_ON)
        TRY(compose_on(c, kernel, view, level, out));
    else
        TRY(compose_operands(c, kernel, view, level, out));
    see_from_outside(c, out);
done:
    return status;
}

gram_status gram_kernel_facts(gram_context *context, const gram_kernel *kernel, int64_t d, gram_facts *facts)
{
    gram_status status = GRAM_OK;
    known whole;
    const gram_view all = {.d = d};
    composing c = {.context = context, .d = d};
    int64_t set_words = 0;
    if (!context || !facts) return GRAM_ERROR_ARGUMENT;
    memset(facts, 0, sizeof *facts);
    TRY(gram_kernel_check_dimension(context, kernel, d));
    c.words = d / WORD + 1;
    FAIL_IF(!gram_size_multiply(c.words, (int64_t)kernel->depth * SETS_PER_LEVEL, &set_words), context,
            GRAM_ERROR_OVERFLOW, "kernel_facts: d = %lld is more than can be addressed", (long long)d);
    TRY(gram_take(context, "kernel_facts: sets of columns", set_words, sizeof *c.sets, (void **)&c.sets));
    TRY(compose(&c, kernel, &all, 0, &whole));
    *facts = whole.facts;
    if (whole.seen_count < d) {
        facts->strictly = facts->universal = facts->characteristic = GRAM_NO;
        facts->sobolev_order = NAN;
    }
done:
    gram_give(context, c.sets, set_words, sizeof *c.sets);
    return status;
}
