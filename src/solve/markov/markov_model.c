/* From an expression to a state-space model.
 *
 * The expression is multiplied out: a sum of terms, each a coefficient times a product of leaves. `linear` and `poly` open
 * into powers of x y, a power into a product, and terms of the same leaves become one. A coefficient carries its derivative
 * by every parameter along, so that constants need nothing else.
 *
 * A product of kernels is exact: processes with covariances Phi_i P_i, each Markov, give by
 *
 *     (Phi_1 x Phi_2)(P_1 x P_2) = Phi_1 P_1 x Phi_2 P_2                                    (x: Kronecker product)
 *
 * a Gaussian Markov process whose covariance is the product, stationary or not (Solin and Sarkka 2014, for
 * quasi-periodic kernels). */
#include "solve/markov/markov_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NODES = 256 }; /* each takes the memory of one sum while the model is made */

/* A sum of terms while it is being made. */
typedef struct sum {
    int count;
    gram_markov_term *terms; /* room for GRAM_MARKOV_TERMS */
} sum;

typedef struct compiler {
    gram_context *context;
    const char *name; /* of the caller, for messages */
    gram_markov_model *model;
    int parameter; /* the next one's number */
} compiler;

static gram_status expand(compiler *c, const gram_kernel *kernel, sum *out);

/* ---- sums ---- */

static gram_status new_sum(compiler *c, sum *s)
{
    s->count = 0;
    return gram_arena_take(c->context, &c->model->arena, "markov: terms", GRAM_MARKOV_TERMS, sizeof *s->terms,
                           (void **)&s->terms);
}

static int same_factors(const gram_markov_term *a, const gram_markov_term *b)
{
    return a->count == b->count && memcmp(a->factors, b->factors, (size_t)a->count * sizeof *a->factors) == 0;
}

static gram_status add_term(compiler *c, sum *s, const gram_markov_term *term)
{
    gram_status status = GRAM_OK;
    for (int i = 0; i < s->count; i++) {
        gram_markov_term *like = &s->terms[i];
        if (!same_factors(like, term)) continue;
        like->coefficient += term->coefficient;
        for (int p = 0; p < GRAM_MARKOV_PARAMETERS; p++) like->slope[p] += term->slope[p];
        goto done;
    }
    FAIL_IF(s->count == GRAM_MARKOV_TERMS, c->context, GRAM_ERROR_UNSUPPORTED,
            "%s: multiplied out, the kernel has more than %d terms", c->name, GRAM_MARKOV_TERMS);
    s->terms[s->count++] = *term;
done:
    return status;
}

static gram_status add_sum(compiler *c, sum *s, const sum *more)
{
    gram_status status = GRAM_OK;
    for (int i = 0; i < more->count; i++) TRY(add_term(c, s, &more->terms[i]));
done:
    return status;
}

/* Factors of both, in ascending order. */
static gram_status multiply_terms(compiler *c, const gram_markov_term *a, const gram_markov_term *b,
                                  gram_markov_term *out)
{
    gram_status status = GRAM_OK;
    FAIL_IF(a->count + b->count > GRAM_MARKOV_FACTORS, c->context, GRAM_ERROR_UNSUPPORTED,
            "%s: a product of more than %d kernels", c->name, GRAM_MARKOV_FACTORS);
    *out = (gram_markov_term){.coefficient = a->coefficient * b->coefficient, .count = a->count + b->count};
    for (int p = 0; p < GRAM_MARKOV_PARAMETERS; p++)
        out->slope[p] = a->slope[p] * b->coefficient + a->coefficient * b->slope[p];
    for (int i = 0, j = 0; i + j < out->count;) {
        const int first = j == b->count || (i < a->count && a->factors[i] <= b->factors[j]);
        out->factors[i + j] = first ? a->factors[i] : b->factors[j];
        if (first)
            i++;
        else
            j++;
    }
done:
    return status;
}

/* out has room already */
static gram_status multiply_sums(compiler *c, const sum *a, const sum *b, sum *out)
{
    gram_status status = GRAM_OK;
    gram_markov_term term;
    out->count = 0;
    for (int i = 0; i < a->count; i++)
        for (int j = 0; j < b->count; j++) {
            TRY(multiply_terms(c, &a->terms[i], &b->terms[j], &term));
            TRY(add_term(c, out, &term));
        }
done:
    return status;
}

static gram_status raise_sum(compiler *c, const sum *base, int power, sum *out)
{
    gram_status status = GRAM_OK;
    sum before = {0};
    TRY(new_sum(c, out));
    TRY(new_sum(c, &before));
    TRY(add_sum(c, out, base));
    for (int i = 1; i < power; i++) {
        const sum swapped = before;
        before = *out;
        *out = swapped;
        TRY(multiply_sums(c, &before, base, out));
    }
done:
    return status;
}

/* ---- leaves ---- */

static double argument_value(const gram_kernel *leaf, int spec)
{
    return leaf->arguments[spec].count > 0 ? leaf->arguments[spec].values[0] : NAN;
}

/* The number of the next parameter. */
static gram_status next_parameter(compiler *c, int *number)
{
    gram_status status = GRAM_OK;
    FAIL_IF(c->parameter == GRAM_MARKOV_PARAMETERS, c->context, GRAM_ERROR_UNSUPPORTED,
            "%s: the kernel has more than %d parameters", c->name, GRAM_MARKOV_PARAMETERS);
    *number = c->parameter++;
done:
    return status;
}

/* c^power, c a parameter, times the number `scale` */
static gram_status add_constant(compiler *c, sum *s, int parameter, double value, int power, double scale)
{
    gram_markov_term term = {.coefficient = scale * pow(value, power)};
    if (power > 0) term.slope[parameter] = scale * power * pow(value, power - 1);
    return add_term(c, s, &term);
}

/* A sum of one term of one new leaf. */
static gram_status add_leaf(compiler *c, const gram_markov_leaf *leaf, sum *s)
{
    gram_markov_model *m = c->model;
    gram_markov_term term = {.coefficient = 1, .count = 1, .factors = {(short)m->leaf_count}};
    m->leaves[m->leaf_count++] = *leaf; /* there is room for every node of the kernel */
    return add_term(c, s, &term);
}

static gram_status expand_matern(compiler *c, const gram_kernel *kernel, int spec, double nu, sum *out)
{
    gram_status status = GRAM_OK;
    gram_markov_leaf leaf = {.name = kernel->type->name, .kind = GRAM_MARKOV_MATERN, .states = (int)(nu + 0.5)};
    FAIL_IF(kernel->arguments[spec].count != 1, c->context, GRAM_ERROR_UNSUPPORTED,
            "%s: %s with several length-scales; x has one column", c->name, kernel->type->name);
    TRY(next_parameter(c, &leaf.parameter));
    leaf.value = argument_value(kernel, spec);
    leaf.rate = sqrt(2 * nu) / leaf.value;
    gram_markov_matern_prepare(&leaf);
    TRY(add_leaf(c, &leaf, out));
done:
    return status;
}

static gram_status expand_spline(compiler *c, const char *name, int states, double origin, int null, sum *out)
{
    const gram_markov_leaf leaf = {
        .name = name, .kind = GRAM_MARKOV_SPLINE, .states = states, .parameter = -1, .origin = origin, .null = null};
    if (origin > c->model->lower) {
        c->model->lower = origin;
        c->model->lower_name = name;
    }
    return add_leaf(c, &leaf, out);
}

/* (x y + c)^power */
static gram_status expand_line(compiler *c, const gram_kernel *kernel, int spec, int power, sum *out)
{
    gram_status status = GRAM_OK;
    const gram_markov_leaf leaf = {.name = kernel->type->name, .kind = GRAM_MARKOV_LINE, .states = 1, .parameter = -1};
    int parameter = 0;
    sum line = {0}, raised = {0};
    TRY(next_parameter(c, &parameter));
    TRY(new_sum(c, &line));
    TRY(add_leaf(c, &leaf, &line));
    TRY(add_constant(c, &line, parameter, argument_value(kernel, spec), 1, 1));
    TRY(raise_sum(c, &line, power, &raised));
    TRY(add_sum(c, out, &raised));
done:
    return status;
}

static gram_status expand_plain(compiler *c, const char *name, gram_markov_kind kind, int states, double value,
                                sum *out)
{
    gram_status status = GRAM_OK;
    gram_markov_leaf leaf = {.name = name, .kind = kind, .states = states, .parameter = -1, .value = value};
    if (kind == GRAM_MARKOV_COSINE) TRY(next_parameter(c, &leaf.parameter));
    TRY(add_leaf(c, &leaf, out));
done:
    return status;
}

static int is_half_integer(double nu)
{
    return nu == 0.5 || nu == 1.5 || nu == 2.5 || nu == 3.5 || nu == 4.5;
}

static gram_status expand_leaf(compiler *c, const gram_kernel *k, sum *out)
{
    gram_status status = GRAM_OK;
    const char *name = k->type->name;
    int parameter = 0;
    TRY(new_sum(c, out));
    if (strcmp(name, "matern") == 0 && is_half_integer(argument_value(k, 0)))
        TRY(expand_matern(c, k, 1, argument_value(k, 0), out));
    else if (strcmp(name, "powexp") == 0 && argument_value(k, 0) == 1)
        TRY(expand_matern(c, k, 1, 0.5, out));
    else if (strcmp(name, "laplace") == 0 || strcmp(name, "laplace1") == 0)
        TRY(expand_matern(c, k, 0, 0.5, out));
    else if (strcmp(name, "min") == 0)
        TRY(expand_spline(c, name, 1, argument_value(k, 0), 0, out));
    else if (strcmp(name, "sobolev") == 0)
        TRY(expand_spline(c, name, (int)argument_value(k, 0), 0, argument_value(k, 1) == 1, out));
    else if (strcmp(name, "linear") == 0)
        TRY(expand_line(c, k, 0, 1, out));
    else if (strcmp(name, "poly") == 0)
        TRY(expand_line(c, k, 1, (int)argument_value(k, 0), out));
    else if (strcmp(name, "cosine") == 0)
        TRY(expand_plain(c, name, GRAM_MARKOV_COSINE, 2, argument_value(k, 0), out));
    else if (strcmp(name, "white") == 0)
        TRY(expand_plain(c, name, GRAM_MARKOV_WHITE, 1, NAN, out));
    else if (k->type == &gram_kernel_const) {
        TRY(next_parameter(c, &parameter));
        TRY(add_constant(c, out, parameter, argument_value(k, 0), 1, 1));
    } else if (strcmp(name, "matern") == 0)
        FAIL(c->context, GRAM_ERROR_UNSUPPORTED, "%s: matern(nu=%g) has no finite state: nu must be 0.5, 1.5, ... 4.5",
             c->name, argument_value(k, 0));
    else
        FAIL(c->context, GRAM_ERROR_UNSUPPORTED, "%s: %s is not among the kernels with a finite state", c->name, name);
done:
    return status;
}

/* ---- nodes ---- */

static gram_status expand_operands(compiler *c, const gram_kernel *kernel, sum *out)
{
    gram_status status = GRAM_OK;
    TRY(expand(c, kernel->children[0], out));
    for (int i = 1; i < kernel->child_count; i++) {
        const sum before = *out;
        sum next = {0};
        TRY(expand(c, kernel->children[i], &next));
        if (kernel->node == GRAM_NODE_SUM) {
            TRY(add_sum(c, out, &next));
            continue;
        }
        TRY(new_sum(c, out));
        TRY(multiply_sums(c, &before, &next, out));
    }
done:
    return status;
}

static gram_status expand(compiler *c, const gram_kernel *kernel, sum *out)
{
    static const char *const names[] = {
        [GRAM_NODE_EXP] = "exp",     [GRAM_NODE_WARP] = "warp",     [GRAM_NODE_NORMALIZE] = "normalize",
        [GRAM_NODE_SCALE] = "scale", [GRAM_NODE_CENTRE] = "centre", [GRAM_NODE_MEAN] = "mean",
        [GRAM_NODE_AFTER] = "after"};
    gram_status status = GRAM_OK;
    sum base = {0};
    switch (kernel->node) {
    case GRAM_NODE_LEAF: return expand_leaf(c, kernel, out);
    case GRAM_NODE_SUM:
    case GRAM_NODE_PRODUCT: return expand_operands(c, kernel, out);
    case GRAM_NODE_ON: return expand(c, kernel->children[0], out); /* the one column that there is */
    case GRAM_NODE_POWER:
        TRY(expand(c, kernel->children[0], &base));
        TRY(raise_sum(c, &base, kernel->exponent, out));
        break;
    default: FAIL(c->context, GRAM_ERROR_UNSUPPORTED, "%s: %s has no finite state", c->name, names[kernel->node]);
    }
done:
    return status;
}

/* ---- sizes ---- */

/* Its states, powers of t and noise, from its factors. */
static gram_status measure(compiler *c, gram_markov_term *term)
{
    gram_status status = GRAM_OK;
    gram_markov_model *m = c->model;
    int splines = 0;
    term->states = 1;
    for (int i = 0; i < term->count; i++) {
        const gram_markov_leaf *leaf = &m->leaves[term->factors[i]];
        FAIL_IF(term->states * leaf->states > GRAM_MARKOV_STATES, c->context, GRAM_ERROR_UNSUPPORTED,
                "%s: a product with %s would have a state of more than %d numbers", c->name, leaf->name,
                GRAM_MARKOV_STATES);
        term->states *= leaf->states;
        term->lines += leaf->kind == GRAM_MARKOV_LINE;
        term->noisy |= leaf->kind == GRAM_MARKOV_MATERN || leaf->kind == GRAM_MARKOV_SPLINE;
        term->white |= leaf->kind == GRAM_MARKOV_WHITE;
        splines += leaf->kind == GRAM_MARKOV_SPLINE;
    }
    if (splines > 0 && term->count > 1 && !term->white) m->shifting = 1;
done:
    return status;
}

/* Where the term's numbers are among those of all. */
static gram_status place(compiler *c, gram_markov_term *term)
{
    gram_status status = GRAM_OK;
    gram_markov_model *m = c->model;
    if (term->white) goto done;
    FAIL_IF(m->states + term->states > GRAM_MARKOV_STATES, c->context, GRAM_ERROR_UNSUPPORTED,
            "%s: the state would have more than %d numbers", c->name, GRAM_MARKOV_STATES);
    term->first = m->states;
    term->block = m->blocks;
    term->noise = m->noises;
    m->states += term->states;
    m->blocks += term->states * term->states;
    m->noises += term->noisy ? term->states : 0;
done:
    return status;
}

static void add_slots(gram_markov_model *m, int number)
{
    const gram_markov_term *term = &m->terms[number];
    for (int i = 0; i < term->count; i++) {
        const int parameter = m->leaves[term->factors[i]].parameter;
        if (parameter < 0 || term->white) continue;
        m->slots[m->slot_count++] = (gram_markov_slot){number, i, parameter, m->slot_blocks};
        m->slot_blocks += 2 * term->states * term->states;
    }
}

/* Terms with a state first, those of white last. */
static gram_status finish(compiler *c, sum *s)
{
    gram_status status = GRAM_OK;
    gram_markov_model *m = c->model;
    TRY(gram_arena_take(c->context, &m->arena, "markov: terms", s->count + 1, sizeof *m->terms, (void **)&m->terms));
    for (int i = 0; i < s->count; i++) TRY(measure(c, &s->terms[i]));
    for (int white = 0; white < 2; white++)
        for (int i = 0; i < s->count; i++)
            if (s->terms[i].white == white) {
                m->terms[m->term_count + m->white_count] = s->terms[i];
                *(white ? &m->white_count : &m->term_count) += 1;
            }
    TRY(gram_arena_take(c->context, &m->arena, "markov: derivatives", m->term_count * GRAM_MARKOV_FACTORS + 1,
                        sizeof *m->slots, (void **)&m->slots));
    for (int i = 0; i < m->term_count; i++) {
        TRY(place(c, &m->terms[i]));
        add_slots(m, i);
    }
done:
    return status;
}

gram_status gram_markov_model_make(gram_context *context, const char *name, const gram_kernel *kernel, int structure,
                                   gram_markov_model *model)
{
    gram_status status = GRAM_OK;
    compiler c = {.context = context, .name = name, .model = model};
    sum whole = {0};
    memset(model, 0, sizeof *model);
    gram_arena_init(&model->arena, context->memory);
    model->lower = -INFINITY;
    FAIL_IF(kernel->size > MOST_NODES, context, GRAM_ERROR_UNSUPPORTED, "%s: a kernel of more than %d parts", name,
            MOST_NODES);
    if (!structure) TRY(gram_kernel_check_set(context, kernel));
    TRY(gram_kernel_check_dimension(context, kernel, 1));
    TRY(gram_arena_take(context, &model->arena, "markov: leaves", kernel->size, sizeof *model->leaves,
                        (void **)&model->leaves));
    TRY(expand(&c, kernel, &whole));
    model->parameters = c.parameter;
    TRY(finish(&c, &whole));
done:
    return status;
}

void gram_markov_model_free(gram_markov_model *model)
{
    gram_arena_release(&model->arena);
    memset(model, 0, sizeof *model);
}

/* ---- variances ---- */

double gram_markov_term_variance(const gram_markov_model *model, const gram_markov_term *term, double t)
{
    double product = 1, p[GRAM_MARKOV_LEAF * GRAM_MARKOV_LEAF];
    for (int i = 0; i < term->count; i++) {
        const gram_markov_leaf *leaf = &model->leaves[term->factors[i]];
        if (leaf->kind == GRAM_MARKOV_LINE) product *= t * t;
        if (leaf->kind != GRAM_MARKOV_SPLINE) continue;
        gram_markov_leaf_variance(leaf, t, p);
        product *= p[0];
    }
    return product;
}

double gram_markov_variance(const gram_markov_model *model, double t)
{
    double total = 0;
    for (int i = 0; i < model->term_count; i++)
        total += model->terms[i].coefficient * gram_markov_term_variance(model, &model->terms[i], t);
    return total;
}

double gram_markov_white(const gram_markov_model *model, double t)
{
    double total = 0;
    for (int i = model->term_count; i < model->term_count + model->white_count; i++)
        total += model->terms[i].coefficient * gram_markov_term_variance(model, &model->terms[i], t);
    return total;
}
