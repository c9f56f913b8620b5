/* What is known of a kernel, composed from what is known of its parts.
 *
 * Each part of the tree carries its facts on the columns that it sees (S below); only at the end are they turned into
 * facts on R^d. Write k = 0 for a part that vanishes, k = c for one that is a positive constant. An open amplitude
 * counts as positive.
 *
 * Strictly, universal, characteristic ("P"):
 *   sum      terms 0 are dropped. A term with P that sees all of S makes it yes; if no term sees all of S, no (the
 *            corners of a cube, signed by parity, are invisible to each term); otherwise unknown.
 *            A pinned term (min, sobolev without null), which but for one point of the line where its k(x,x) = 0 is strictly
 *            positive definite and universal, and another with k(x,x) > 0 make strictly and, if all are continuous,
 *            universal yes: a multiple of one function of the other term has the value at that point, and what is left
 *            vanishes there. So 1 + min is what sobolev(a=1, null=1) is.
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
 * One operand (the reasons are in kernel_facts_unary.c):
 *   exp        strictly: if the feature map of a is injective (strictly or characteristic imply it). Universal: if a is, or
 *              if its feature map is injective and it is continuous. Characteristic: if a is. Stationary, isotropic and
 *              continuous as a.
 *   normalize  with k(x,x) > 0 strictly, and if a is continuous universal, as a; of a stationary kernel everything.
 *   scale      strictly no if a says no; else unknown.
 *   centre     neither strictly nor universal; characteristic as a.
 *   mean       the mean over pairs of rows of two bags: positive definite as a; after(a, b): also strictly if the features of a tell points apart.
 *   warp       A one to one on the columns that it uses keeps yes; if it is not: no. A onto keeps no.
 * Rank: adds and multiplies, an upper bound. Derivatives: the smallest. Sobolev order: the smallest, if all of them have
 * one on the same columns (and are stationary in a product); smooth terms of finite rank do not change that of a pinned one.
 * k(x,x) > 0: a sum of terms that are all 0 at one point is 0 there, too.
 * Draws: a sum of independent ones is as rough as the roughest, and so is a product where no factor vanishes identically. They
 * are in H iff its dimension is finite: that of a sum is if all are, that of a product if all are; if one is not, and the
 * others have k(x,x) > 0 or it is strictly positive definite and the others are continuous and not 0, the product's is not
 * either (Schur's product theorem, on points where no diagonal vanishes). */
#include <math.h>
#include <string.h>

#include "kernel/kernel_facts.h"

enum { WORD = 64, PROPERTIES = 3, SETS_PER_LEVEL = 1 + PROPERTIES };

typedef struct composing {
    gram_context *context;
    int64_t d;
    int64_t words;  /* of a set */
    uint64_t *sets; /* SETS_PER_LEVEL for each level of the tree */
    int64_t set_words;
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

static void mark_columns(const gram_view *view, uint64_t *set)
{
    for (int64_t l = 0; l < view->d; l++) {
        const int64_t column = view->columns ? view->columns[l] : l;
        set[column / WORD] |= (uint64_t)1 << (column % WORD);
    }
}

static int in_set(const uint64_t *set, int64_t column)
{
    return (int)(set[column / WORD] >> (column % WORD) & 1);
}

/* The columns of a warp's matrix that are not all 0 in the rows that its operand sees. */
static void mark_used(const gram_kernel *warp, const uint64_t *rows, const gram_view *view, uint64_t *set)
{
    for (int64_t i = 0; i < warp->matrix_rows; i++)
        for (int64_t l = 0; l < warp->matrix_columns && in_set(rows, i); l++) {
            const int64_t column = view->columns ? view->columns[l] : l;
            if (warp->matrix[i * warp->matrix_columns + l] != 0) set[column / WORD] |= (uint64_t)1 << (column % WORD);
        }
}

/* What follows from the rest for any leaf. */
static void leaf_defaults(gram_properties *facts)
{
    if (facts->constant_diagonal == GRAM_UNKNOWN) facts->constant_diagonal = facts->stationary;
    if (isnan(facts->draw_smoothness) && facts->derivatives == GRAM_INFINITE) facts->draw_smoothness = INFINITY;
    if (facts->rank != GRAM_INFINITE) facts->draws_in_space = GRAM_YES;
}

static void leaf_facts(const composing *c, const gram_kernel *leaf, const gram_view *view, int level, gram_known *out)
{
    const gram_view everything = {.d = c->d};
    double par[GRAM_MAX_SPECS];
    gram_kernel_par(leaf, par);
    for (int i = 0; i < leaf->type->spec_count; i++)
        if (leaf->type->specs[i].role == GRAM_ROLE_SHAPE && isnan(par[i])) par[i] = leaf->type->specs[i].resolved;
    out->seen = take_set(c, level, 0);
    leaf->type->facts(par, view->d, &out->facts);
    leaf_defaults(&out->facts);
    if (leaf->type->form != GRAM_FORM_NONE && out->facts.bounded_below == GRAM_NO) {
        out->origin = leaf->type->domain_lower ? leaf->type->domain_lower(par) : 0;
        out->pinned = leaf->type->pinned && view->d == 1;
    }
    out->injective = leaf->type->injective ? leaf->type->injective(par, view->d) : GRAM_UNKNOWN;
    out->opaque = leaf->external != NULL;
    out->observes = leaf->type->form == GRAM_FORM_SAME || leaf->type->form == GRAM_FORM_INDEX;
    if (leaf->type->form == GRAM_FORM_NONE) {
        out->kind = par[0] > 0 ? GRAM_KNOWN_CONSTANT : GRAM_KNOWN_ZERO;
    } else {
        /* an observation is the same or not, whatever columns are looked at */
        mark_columns(out->observes ? &everything : view, out->seen);
        if (!round_metric(leaf)) out->facts.isotropic = GRAM_NO;
        gram_known_settle(out);
    }
    out->seen_count = count_set(c, out->seen);
}

/* ---- sums and products: operands are added one at a time ---- */

typedef struct fold {
    gram_node node;
    int operands;                    /* that count: not 0 in a sum, not constant in a product */
    int constants;                   /* factors left out */
    int zero;                        /* a factor is 0 */
    gram_known first;                /* the only one, if there is only one; its set is in `seen` */
    uint64_t *seen;                  /* S so far */
    int64_t widest;                  /* most columns that an operand sees */
    int64_t narrowest;               /* fewest; in a sum not counting smooth terms of finite rank */
    uint64_t *cover[PROPERTIES];     /* product: columns seen by factors with P */
    int64_t widest_with[PROPERTIES]; /* sum: most columns that a term with P sees, or -1 */
    int others_fit[PROPERTIES];      /* product: factors without P are continuous with k(x,x) > 0 */
    int pd[3], stationary[3], isotropic[3], continuous[3], bounded[3]; /* how many say no, yes, unknown */
    int opaque, observes;
    int diagonal[3], inside[3]; /* of constant_diagonal and draws_in_space */
    int vanishing;              /* product: a factor that may be 0 everywhere */
    int strictly;               /* product: some factor is */
    int pinned, fitting,
        outside;       /* operands that are pinned; product: or divisible; not > 0 on the diagonal but not inside */
    double origin;     /* of the operands so far: NaN if there is none that they share (product: that one has) */
    int smooth_finite; /* sum: terms of finite rank with all derivatives */
    double smoothness;
    int64_t widest_injective; /* sum: most columns that a term with an injective feature map sees */
    int plain_others[2];      /* factors that are not stationary (isotropic) apart: all others can be divided out */
    int64_t rank;
    int derivatives;
    double sobolev;
} fold;

static gram_answer property(const gram_properties *facts, int which)
{
    return which == 0 ? facts->strictly : which == 1 ? facts->universal : facts->characteristic;
}

static int divisible(const gram_properties *facts)
{
    return facts->continuous == GRAM_YES && facts->bounded_below == GRAM_YES;
}

static void start_fold(const composing *c, gram_node node, int level, fold *f)
{
    *f = (fold){.node = node, .narrowest = c->d, .derivatives = GRAM_INFINITE, .sobolev = INFINITY};
    f->smoothness = INFINITY;
    f->origin = NAN;
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

/* fmin would drop a NaN */
static double smaller(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
}

static int is_smooth_finite(const fold *f, const gram_properties *facts)
{
    return f->node == GRAM_NODE_SUM && facts->rank != GRAM_INFINITE && facts->derivatives == GRAM_INFINITE;
}

static void add_numbers(fold *f, const gram_properties *facts)
{
    f->smoothness = smaller(f->smoothness, facts->draw_smoothness);
    f->rank = combine_ranks(f->node, f->rank, facts->rank);
    if (facts->derivatives != GRAM_INFINITE && (f->derivatives == GRAM_INFINITE || facts->derivatives < f->derivatives))
        f->derivatives = facts->derivatives;
    if (is_smooth_finite(f, facts)) {
        f->smooth_finite++;
        return;
    }
    const int has_order = !isnan(facts->sobolev_order) && (f->node == GRAM_NODE_SUM || facts->stationary == GRAM_YES);
    f->sobolev = smaller(f->sobolev, has_order ? facts->sobolev_order : NAN);
}

/* Where it vanishes, and what it does to draws. */
static void add_zeros(fold *f, const gram_known *operand)
{
    const gram_properties *facts = &operand->facts;
    const double origin = operand->origin;
    const int positive = facts->bounded_below == GRAM_YES;
    if (f->operands == 1)
        f->origin = origin;
    else if (f->node == GRAM_NODE_SUM)
        f->origin = f->origin == origin ? origin : NAN;
    else if (!isnan(origin))
        f->origin = isnan(f->origin) || f->origin == origin ? origin : NAN;
    f->pinned += operand->pinned;
    f->fitting += operand->pinned || divisible(facts);
    f->strictly |= facts->strictly == GRAM_YES;
    f->vanishing |= !positive && (operand->opaque || facts->continuous != GRAM_YES);
    f->outside += !positive && facts->draws_in_space != GRAM_NO;
    f->diagonal[facts->constant_diagonal]++;
    f->inside[facts->draws_in_space]++;
}

static void add_operand(const composing *c, fold *f, const gram_known *operand)
{
    const gram_properties *facts = &operand->facts;
    if (f->node == GRAM_NODE_SUM && operand->kind == GRAM_KNOWN_ZERO) return;
    f->zero |= operand->kind == GRAM_KNOWN_ZERO;
    if (f->node != GRAM_NODE_SUM && operand->kind == GRAM_KNOWN_CONSTANT) {
        f->constants++;
        return;
    }
    if (f->operands++ == 0) f->first = *operand;
    unite(c, f->seen, operand->seen);
    if (operand->seen_count > f->widest) f->widest = operand->seen_count;
    if (operand->seen_count < f->narrowest && !is_smooth_finite(f, facts)) f->narrowest = operand->seen_count;
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
    f->opaque |= operand->opaque;
    f->observes |= operand->observes;
    if (operand->injective == GRAM_YES && operand->seen_count > f->widest_injective)
        f->widest_injective = operand->seen_count;
    if (facts->stationary == GRAM_YES) f->plain_others[0] &= divisible(facts);
    if (facts->isotropic == GRAM_YES) f->plain_others[1] &= divisible(facts);
    add_numbers(f, facts);
    add_zeros(f, operand);
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
        return f->bounded[GRAM_YES] > 0 ? GRAM_YES : isnan(f->origin) ? GRAM_UNKNOWN : GRAM_NO;
    if (f->node == GRAM_NODE_SUM) return all_yes(f, f->bounded); /* a diagonal may be negative */
    return f->bounded[GRAM_NO] > 0 ? GRAM_NO : all_yes(f, f->bounded);
}

static gram_answer close_property(const composing *c, const fold *f, int which, int64_t seen_count)
{
    if (all_yes(f, f->pd) != GRAM_YES) return GRAM_UNKNOWN;
    if (f->node == GRAM_NODE_SUM) {
        if (f->widest_with[which] == seen_count) return GRAM_YES;
        const int whole = which == 0 || (which == 1 && f->continuous[GRAM_YES] == f->operands);
        if (f->pinned > 0 && seen_count == 1 && f->bounded[GRAM_YES] > 0 && whole) return GRAM_YES;
        return f->widest < seen_count ? GRAM_NO : GRAM_UNKNOWN;
    }
    const int covered = count_set(c, f->cover[which]) == seen_count;
    const int spectral = f->stationary[GRAM_YES] == f->operands && f->continuous[GRAM_YES] == f->operands &&
                         f->bounded[GRAM_YES] == f->operands; /* none is 0 */
    return covered && (which == 2 ? spectral : f->others_fit[which]) ? GRAM_YES : GRAM_UNKNOWN;
}

static gram_answer close_draws(const fold *f)
{
    if (f->inside[GRAM_YES] == f->operands) return GRAM_YES;
    if (f->inside[GRAM_NO] == 0) return GRAM_UNKNOWN;
    if (f->node == GRAM_NODE_SUM || f->node == GRAM_NODE_POWER) return GRAM_NO;
    const int one_is_not_positive = f->operands - f->bounded[GRAM_YES] == 1;
    if (f->bounded[GRAM_YES] == f->operands || (one_is_not_positive && f->outside == 0)) return GRAM_NO;
    return f->strictly && !f->vanishing ? GRAM_NO : GRAM_UNKNOWN;
}

/* What is said only of positive definite kernels. */
static void close_process(const fold *f, int64_t seen_count, gram_known *out)
{
    gram_properties *facts = &out->facts;
    const int definite = facts->positive_definite == GRAM_YES, line = seen_count == 1 && definite;
    const int sum = f->node == GRAM_NODE_SUM;
    facts->constant_diagonal = all_yes(f, f->diagonal);
    if (sum && f->diagonal[GRAM_NO] == 1 && f->diagonal[GRAM_UNKNOWN] == 0) facts->constant_diagonal = GRAM_NO;
    facts->draws_in_space = definite ? close_draws(f) : GRAM_UNKNOWN;
    facts->draw_smoothness = definite && (sum || !f->vanishing) ? f->smoothness : NAN;
    out->origin = f->origin;
    out->pinned = line && f->pinned > 0 && !isnan(f->origin) && f->continuous[GRAM_YES] == f->operands &&
                  (sum || f->fitting == f->operands);
}

static void close_fold(const composing *c, const fold *f, gram_known *out)
{
    const int64_t seen_count = count_set(c, f->seen);
    if (f->zero || (f->operands == 0 && f->constants == 0)) {
        *out = (gram_known){.seen = f->seen};
        gram_known_zero(out);
        memset(f->seen, 0, (size_t)c->words * sizeof *f->seen);
        return;
    }
    if (f->operands == 1) {
        *out = f->first;
        out->seen = f->seen;
        return;
    }
    *out = (gram_known){.kind = seen_count == 0 ? GRAM_KNOWN_CONSTANT : GRAM_KNOWN_ORDINARY,
                        .injective = GRAM_UNKNOWN,
                        .origin = NAN,
                        .opaque = f->opaque,
                        .observes = f->observes,
                        .seen = f->seen,
                        .seen_count = seen_count};
    gram_properties *facts = &out->facts;
    facts->positive_definite = all_yes(f, f->pd);
    facts->stationary = close_shape(f, f->stationary, 0);
    facts->isotropic = facts->stationary == GRAM_NO ? GRAM_NO : close_shape(f, f->isotropic, 1);
    facts->continuous = close_continuous(f);
    facts->bounded_below = close_bounded(f);
    facts->strictly = close_property(c, f, 0, seen_count);
    facts->universal = close_property(c, f, 1, seen_count);
    facts->characteristic = close_property(c, f, 2, seen_count);
    facts->rank = out->kind == GRAM_KNOWN_CONSTANT ? 1 : f->rank;
    facts->derivatives = f->derivatives;
    const int has_order = f->narrowest == seen_count && (f->smooth_finite == 0 || f->pinned > 0);
    facts->sobolev_order = has_order && f->smooth_finite < f->operands ? f->sobolev : NAN;
    close_process(f, seen_count, out);
    if (f->node == GRAM_NODE_SUM && facts->positive_definite == GRAM_YES && f->widest_injective == seen_count)
        out->injective = GRAM_YES;
    gram_known_settle(out);
}

/* ---- the tree ---- */

static gram_status compose(const composing *c, const gram_kernel *kernel, const gram_view *view, int level,
                           gram_known *out);

/* Seen from R^d a kernel of fewer columns is not isotropic; a constant is. */
static void see_from_outside(const composing *c, gram_known *part)
{
    if (part->seen_count == c->d || part->kind != GRAM_KNOWN_ORDINARY) return;
    if (!part->opaque)
        part->facts.isotropic = GRAM_NO;
    else if (part->facts.isotropic == GRAM_YES)
        part->facts.isotropic = GRAM_UNKNOWN;
}

static gram_status compose_operands(const composing *c, const gram_kernel *kernel, const gram_view *view, int level,
                                    gram_known *out)
{
    gram_status status = GRAM_OK;
    fold f;
    gram_known operand;
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
                              gram_known *out)
{
    gram_status status = GRAM_OK;
    gram_view inner = {.d = 0};
    TRY(gram_view_enter(c->context, kernel, view, &inner));
    TRY(compose(c, kernel->children[0], &inner, level, out));
done:
    gram_view_leave(c->context, &inner);
    return status;
}

/* f of a scaled kernel sees all columns that there are here. */
static void scale_facts(const composing *c, const gram_view *view, gram_known *out)
{
    const int64_t before = out->seen_count;
    if (out->kind != GRAM_KNOWN_ZERO) mark_columns(view, out->seen);
    out->seen_count = count_set(c, out->seen);
    gram_known_scale(out, before < out->seen_count);
}

static gram_status start_composing(gram_context *context, int64_t d, int depth, composing *c)
{
    gram_status status = GRAM_OK;
    *c = (composing){.context = context, .d = d, .words = d / WORD + 1};
    FAIL_IF(!gram_size_multiply(c->words, (int64_t)depth * SETS_PER_LEVEL, &c->set_words), context, GRAM_ERROR_OVERFLOW,
            "kernel_facts: d = %lld is more than can be addressed", (long long)d);
    TRY(gram_take(context, "kernel_facts: sets of columns", c->set_words, sizeof *c->sets, (void **)&c->sets));
done:
    return status;
}

static void stop_composing(const composing *c)
{
    gram_give(c->context, c->sets);
}

/* The operand lives in a space of its own, with as many columns as A has rows. */
static gram_status compose_warp(const composing *c, const gram_kernel *kernel, const gram_view *view, int level,
                                gram_known *out)
{
    gram_status status = GRAM_OK;
    composing inside = {.context = c->context};
    gram_warp_nature nature;
    const gram_view rows = {.d = kernel->matrix_rows}, everything = {.d = c->d};
    uint64_t *seen = take_set(c, level, 0);
    TRY(start_composing(c->context, kernel->matrix_rows, kernel->children[0]->depth, &inside));
    TRY(compose(&inside, kernel->children[0], &rows, 0, out));
    if (out->kind == GRAM_KNOWN_ORDINARY) {
        TRY(gram_warp_look(c->context, kernel, out->seen, &nature));
        nature.everything = nature.columns == c->d;
        gram_known_warp(out, &nature);
        if (out->observes || (out->kind == GRAM_KNOWN_ORDINARY && nature.columns == 0))
            mark_columns(out->observes ? &everything : view, seen);
        else if (out->kind == GRAM_KNOWN_ORDINARY)
            mark_used(kernel, out->seen, view, seen);
    }
    out->seen = seen;
    out->seen_count = count_set(c, seen);
done:
    stop_composing(&inside);
    return status;
}

/* The operand sees rows of numbers, at least as many columns as it names. */
static gram_status compose_mean(const composing *c, const gram_kernel *kernel, const gram_view *view, int level,
                                gram_known *out)
{
    gram_status status = GRAM_OK;
    composing inside = {.context = c->context};
    gram_view rows = {.d = 1};
    TRY(gram_kernel_least_dimension(c->context, kernel->children[0], &rows.d));
    TRY(start_composing(c->context, rows.d, kernel->children[0]->depth, &inside));
    TRY(compose(&inside, kernel->children[0], &rows, 0, out));
    gram_known_mean(out, kernel->exponent);
    out->seen = take_set(c, level, 0);
    mark_columns(view, out->seen);
    out->seen_count = count_set(c, out->seen);
done:
    stop_composing(&inside);
    return status;
}

static gram_status compose(const composing *c, const gram_kernel *kernel, const gram_view *view, int level,
                           gram_known *out)
{
    gram_status status = GRAM_OK;
    const gram_properties unknown = {.positive_definite = GRAM_UNKNOWN,
                                     .strictly = GRAM_UNKNOWN,
                                     .stationary = GRAM_UNKNOWN,
                                     .isotropic = GRAM_UNKNOWN,
                                     .universal = GRAM_UNKNOWN,
                                     .characteristic = GRAM_UNKNOWN,
                                     .continuous = GRAM_UNKNOWN,
                                     .bounded_below = GRAM_UNKNOWN,
                                     .rank = GRAM_INFINITE,
                                     .sobolev_order = NAN,
                                     .constant_diagonal = GRAM_UNKNOWN,
                                     .draws_in_space = GRAM_UNKNOWN,
                                     .draw_smoothness = NAN};
    *out = (gram_known){.facts = unknown, .injective = GRAM_UNKNOWN, .origin = NAN};
    switch (kernel->node) {
    case GRAM_NODE_LEAF: leaf_facts(c, kernel, view, level, out); break;
    case GRAM_NODE_ON: TRY(compose_on(c, kernel, view, level, out)); break;
    case GRAM_NODE_WARP: TRY(compose_warp(c, kernel, view, level, out)); break;
    case GRAM_NODE_SUM:
    case GRAM_NODE_PRODUCT:
    case GRAM_NODE_POWER: TRY(compose_operands(c, kernel, view, level, out)); break;
    case GRAM_NODE_EXP:
    case GRAM_NODE_NORMALIZE:
    case GRAM_NODE_SCALE:
    case GRAM_NODE_CENTRE:
    case GRAM_NODE_AFTER: TRY(compose(c, kernel->children[0], view, level, out)); break;
    case GRAM_NODE_MEAN: TRY(compose_mean(c, kernel, view, level, out)); break;
    }
    if (kernel->node == GRAM_NODE_AFTER) gram_known_after(out, kernel->children[1]);
    if (kernel->node == GRAM_NODE_EXP) gram_known_exp(out);
    if (kernel->node == GRAM_NODE_NORMALIZE) gram_known_normalize(out);
    if (kernel->node == GRAM_NODE_CENTRE) gram_known_centre(out);
    if (kernel->node == GRAM_NODE_SCALE) scale_facts(c, view, out);
    see_from_outside(c, out);
done:
    return status;
}

gram_status gram_kernel_properties(gram_context *context, const gram_kernel *kernel, int64_t d, gram_properties *facts)
{
    gram_status status = GRAM_OK;
    gram_known whole;
    const gram_view all = {.d = d};
    composing c = {.context = context};
    if (!context || !facts) return GRAM_ERROR_ARGUMENT;
    memset(facts, 0, sizeof *facts);
    TRY(gram_kernel_check_dimension(context, kernel, d));
    TRY(start_composing(context, d, kernel->depth, &c));
    TRY(compose(&c, kernel, &all, 0, &whole));
    *facts = whole.facts;
    if (facts->positive_definite != GRAM_YES) {
        facts->draws_in_space = GRAM_UNKNOWN; /* there is no process */
        facts->draw_smoothness = NAN;
    }
    if (whole.seen_count < d) {
        facts->strictly = facts->universal = facts->characteristic = GRAM_NO;
        facts->sobolev_order = NAN;
    }
done:
    stop_composing(&c);
    return status;
}
