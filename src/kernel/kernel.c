/* Nodes of the expression tree, and leaves: made, counted, compared, released. kernel_combine.c makes larger ones of them.
 *
 * A node is one block of memory: the struct, then what it points to. Nodes never change once made, so trees share
 * subtrees freely; the same node may occur in many trees, or twice in one. `size` and `depth` count a shared subtree as
 * often as it is reached: they bound every walk. */
#include "kernel/kernel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/text.h>

/* ---- one block ---- */

gram_status gram_kernel_new(gram_context *context, gram_node node, gram_node_room room, gram_kernel **out)
{
    gram_status status = GRAM_OK;
    gram_kernel *made = NULL;
    const int64_t bytes = (int64_t)sizeof *made + room.values * ((int64_t)sizeof(double) + 1) +
                          room.children * (int64_t)sizeof(gram_kernel *) + room.columns * (int64_t)sizeof(int64_t);
    *out = NULL;
    TRY(gram_take(context, "kernel", bytes, 1, (void **)&made));
    memset(made, 0, sizeof *made);
    atomic_init(&made->references, 1);
    made->memory = gram_memory_retain(context->memory);
    made->node = node;
    made->depth = 1;
    made->size = 1;
    made->children = (gram_kernel **)(void *)(made + 1);
    made->child_count = (int)room.children;
    made->columns = (int64_t *)(void *)(made->children + room.children);
    made->column_count = room.columns;
    made->matrix = (double *)(void *)(made->columns + room.columns);
    *out = made;
done:
    return status;
}

gram_kernel *gram_kernel_retain(gram_kernel *kernel)
{
    if (kernel) atomic_fetch_add(&kernel->references, 1);
    return kernel;
}

/* The recursion is as deep as the tree: GRAM_KERNEL_MAX_DEPTH at most. */
void gram_kernel_release(gram_kernel *kernel)
{
    if (!kernel || atomic_fetch_sub(&kernel->references, 1) != 1) return;
    for (int i = 0; i < kernel->child_count; i++) gram_kernel_release(kernel->children[i]);
    gram_external_release(kernel->external);
    gram_memory *memory = kernel->memory;
    gram_memory_give(memory, kernel);
    gram_memory_release(memory);
}

/* ---- leaves ---- */

int gram_parameter_allows(const gram_parameter_spec *spec, double value)
{
    if (!isfinite(value) || value < spec->lower || value > spec->upper) return 0;
    if (spec->lower_open && value == spec->lower) return 0;
    return !spec->whole || value == floor(value);
}

/* "must be a whole number from 1 to 64", "must be above 0", "must be finite" */
static void describe_bounds(const gram_parameter_spec *spec, char *text, size_t size)
{
    char lower[GRAM_NUMBER_SIZE], upper[GRAM_NUMBER_SIZE];
    const char *what = spec->whole ? "a whole number " : "";
    gram_number_format(spec->lower, lower);
    gram_number_format(spec->upper, upper);
    if (isinf(spec->lower))
        (void)snprintf(text, size, "must be %s", spec->whole ? "a whole number" : "finite");
    else if (isfinite(spec->upper))
        (void)snprintf(text, size, "must be %s%s %s to %s", what, spec->lower_open ? "above" : "from", lower, upper);
    else
        (void)snprintf(text, size, "must be %s%s %s", what, spec->lower_open ? "above" : "at least", lower);
}

/* A value as the language has it. */
static const char *show_value(const gram_parameter_spec *spec, double value, char text[GRAM_NUMBER_SIZE])
{
    return spec->words ? spec->words[(int)value] : gram_number_format(value, text);
}

static gram_status check_bounds(gram_context *context, const gram_kernel_type *type, int spec_index,
                                const gram_argument *argument)
{
    const gram_parameter_spec *spec = &type->specs[spec_index];
    for (int64_t i = 0; i < argument->count; i++) {
        if (gram_parameter_allows(spec, argument->values[i])) continue;
        char value[GRAM_NUMBER_SIZE], bounds[96], place[32] = "";
        describe_bounds(spec, bounds, sizeof bounds);
        if (argument->count > 1) (void)snprintf(place, sizeof place, "[%lld]", (long long)i + 1);
        return gram_fail(context, GRAM_ERROR_ARGUMENT, "%s(%s%s=%s): %s %s", type->name, spec->name, place,
                         gram_number_format(argument->values[i], value), spec->name, bounds);
    }
    return GRAM_OK;
}

int gram_small_cholesky(int64_t d, const double *s, double *l)
{
    for (int64_t i = 0; i < d; i++) {
        for (int64_t j = 0; j < d; j++) {
            /* l_ij = (s_ij - sum_k<j l_ik l_jk)/l_jj, and the root of it on the diagonal */
            double rest = s[i * d + j];
            for (int64_t k = 0; k < j && j <= i; k++) rest -= l[i * d + k] * l[j * d + k];
            if (i == j && !(rest > 0 && isfinite(rest))) return 0;
            l[i * d + j] = j > i ? 0 : i == j ? sqrt(rest) : rest / l[j * d + j];
        }
    }
    return 1;
}

static gram_status check_covariance(gram_context *context, const gram_kernel_type *type, const gram_argument *s)
{
    gram_status status = GRAM_OK;
    double *factor = NULL;
    const int64_t d = s->rows;
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < i; j++)
            FAIL_IF(s->values[i * d + j] != s->values[j * d + i], context, GRAM_ERROR_ARGUMENT,
                    "%s: S is not symmetric: entry %lld,%lld differs from entry %lld,%lld", type->name,
                    (long long)i + 1, (long long)j + 1, (long long)j + 1, (long long)i + 1);
    TRY(gram_take(context, "kernel: the factor of S", s->count, sizeof(double), (void **)&factor));
    FAIL_IF(!gram_small_cholesky(d, s->values, factor), context, GRAM_ERROR_ARGUMENT, "%s: S is not positive definite",
            type->name);
done:
    gram_give(context, factor);
    return status;
}

static gram_status check_shape(gram_context *context, const gram_kernel_type *type, int spec_index,
                               const gram_argument *argument)
{
    gram_status status = GRAM_OK;
    const gram_parameter_spec *spec = &type->specs[spec_index];
    const int covariance = spec->role == GRAM_ROLE_COVARIANCE;
    const long long count = (long long)argument->count;
    FAIL_IF(count > GRAM_KERNEL_MAX_NUMBERS, context, GRAM_ERROR_ARGUMENT,
            "%s: %s has %lld numbers, more than the limit of %d", type->name, spec->name, count,
            GRAM_KERNEL_MAX_NUMBERS);
    FAIL_IF(covariance && argument->rows * argument->rows != argument->count, context, GRAM_ERROR_ARGUMENT,
            "%s: %s takes a square matrix such as [1,0;0,2], not a list of %lld numbers", type->name, spec->name,
            count);
    FAIL_IF(!covariance && argument->rows > 0, context, GRAM_ERROR_ARGUMENT, "%s: %s takes %s, not a matrix",
            type->name, spec->name, spec->role == GRAM_ROLE_LENGTH ? "a number or a list" : "one number");
    FAIL_IF(!covariance && spec->role != GRAM_ROLE_LENGTH && count != 1, context, GRAM_ERROR_ARGUMENT,
            "%s: %s takes one number, not a list of %lld", type->name, spec->name, count);
    for (int64_t i = 1; covariance && argument->fixed && i < argument->count; i++)
        FAIL_IF(argument->fixed[i] != argument->fixed[0], context, GRAM_ERROR_ARGUMENT,
                "%s: the numbers of %s are held fixed together or not at all", type->name, spec->name);
done:
    return status;
}

/* Arguments as given -> one for each spec, defaults filled in. initial[] and held[] have the numbers of the defaults and
 * whether they are fixed. */
static void fill_defaults(const gram_kernel_type *type, const gram_argument *given, gram_argument *full,
                          double *initial, unsigned char *held)
{
    int covariance_given = 0;
    for (int i = 0; i < type->spec_count; i++)
        covariance_given |= type->specs[i].role == GRAM_ROLE_COVARIANCE && given[i].count > 0;
    for (int i = 0; i < type->spec_count; i++) {
        const gram_parameter_spec *spec = &type->specs[i];
        full[i] = given[i];
        if (given[i].count > 0 && given[i].set) {
            if (spec->role == GRAM_ROLE_COVARIANCE && given[i].count == 1) full[i].rows = 1;
            continue;
        }
        full[i] = (gram_argument){0};
        if (spec->role == GRAM_ROLE_COVARIANCE) continue;
        if (spec->role == GRAM_ROLE_LENGTH && covariance_given) continue;
        initial[i] = spec->initial;
        held[i] = spec->held != 0;
        full[i] = (gram_argument){.count = 1, .set = !isnan(spec->initial), .values = &initial[i], .fixed = &held[i]};
    }
}

/* "matern(nu=0.7)": the numbers of the profile, for the message of `refuse` */
static void describe_profile(const gram_kernel_type *type, const double *par, char *text, size_t size)
{
    size_t length = (size_t)snprintf(text, size, "%s(", type->name);
    const char *comma = "";
    for (int i = 0; i < type->spec_count && length < size; i++) {
        char value[GRAM_NUMBER_SIZE];
        if (isnan(par[i])) continue;
        length += (size_t)snprintf(text + length, size - length, "%s%s=%s", comma, type->specs[i].name,
                                   show_value(&type->specs[i], par[i], value));
        comma = ", ";
    }
    if (length < size) (void)snprintf(text + length, size - length, ")");
}

static int in_profile(const gram_parameter_spec *spec)
{
    return spec->role == GRAM_ROLE_SHAPE || spec->role == GRAM_ROLE_STRUCTURE;
}

static void profile_numbers(const gram_kernel_type *type, const gram_argument *arguments, double *par)
{
    for (int i = 0; i < type->spec_count; i++)
        par[i] = in_profile(&type->specs[i]) && arguments[i].set ? arguments[i].values[0] : NAN;
}

static gram_status check_leaf(gram_context *context, const gram_kernel_type *type, const gram_argument *arguments)
{
    gram_status status = GRAM_OK;
    double par[GRAM_MAX_SPECS];
    int length = -1;
    for (int i = 0; i < type->spec_count; i++) {
        const gram_role role = type->specs[i].role;
        if (!arguments[i].set) continue;
        TRY(check_shape(context, type, i, &arguments[i]));
        TRY(check_bounds(context, type, i, &arguments[i]));
        FAIL_IF(role == GRAM_ROLE_COVARIANCE && length >= 0, context, GRAM_ERROR_ARGUMENT,
                "%s: give %s or %s, not both", type->name, type->specs[length].name, type->specs[i].name);
        if (role == GRAM_ROLE_COVARIANCE) TRY(check_covariance(context, type, &arguments[i]));
        if (role == GRAM_ROLE_LENGTH) length = i;
    }
    profile_numbers(type, arguments, par);
    const char *reason = type->refuse ? type->refuse(par) : NULL;
    if (reason) {
        char text[160];
        describe_profile(type, par, text, sizeof text);
        FAIL(context, GRAM_ERROR_ARGUMENT, "%s: %s", text, reason);
    }
done:
    return status;
}

static void copy_argument(const gram_argument *from, int structural, double *values, unsigned char *fixed,
                          gram_argument *to)
{
    *to = *from;
    to->values = values;
    to->fixed = fixed;
    for (int64_t i = 0; i < from->count; i++) {
        values[i] = from->set ? from->values[i] + 0.0 : NAN; /* -0 + 0 = 0 */
        fixed[i] = from->set && !structural && from->fixed && from->fixed[i];
    }
}

gram_status gram_kernel_leaf(gram_context *context, const gram_kernel_type *type, const gram_argument *arguments,
                             gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    gram_argument full[GRAM_MAX_SPECS];
    double initial[GRAM_MAX_SPECS];
    unsigned char held[GRAM_MAX_SPECS];
    gram_node_room room = {0, 0, 0};
    *kernel = NULL;
    fill_defaults(type, arguments, full, initial, held);
    TRY(check_leaf(context, type, full));
    for (int i = 0; i < type->spec_count; i++) room.values += full[i].count;
    TRY(gram_kernel_new(context, GRAM_NODE_LEAF, room, kernel));
    (*kernel)->type = type;
    double *values = (*kernel)->matrix;
    (*kernel)->matrix = NULL;
    unsigned char *fixed = (unsigned char *)(values + room.values);
    for (int i = 0; i < type->spec_count; i++) {
        copy_argument(&full[i], type->specs[i].role == GRAM_ROLE_STRUCTURE, values, fixed, &(*kernel)->arguments[i]);
        values += full[i].count;
        fixed += full[i].count;
    }
done:
    return status;
}

void gram_kernel_par(const gram_kernel *leaf, double par[GRAM_MAX_SPECS])
{
    profile_numbers(leaf->type, leaf->arguments, par);
}

const gram_argument *gram_kernel_argument(const gram_kernel *leaf, gram_role role)
{
    for (int i = 0; i < leaf->type->spec_count; i++)
        if (leaf->type->specs[i].role == role && leaf->arguments[i].count > 0) return &leaf->arguments[i];
    return NULL;
}

gram_status gram_kernel_constant(gram_context *context, double value, gram_kernel **kernel)
{
    const gram_argument argument = {.count = 1, .set = 1, .values = &value};
    if (!context || !kernel) return GRAM_ERROR_ARGUMENT;
    return gram_kernel_leaf(context, &gram_kernel_const, &argument, kernel);
}

/* ---- equality ---- */

static int equal_leaves(const gram_kernel *a, const gram_kernel *b)
{
    if (a->type != b->type || !gram_external_equal(a->external, b->external)) return 0;
    for (int i = 0; i < a->type->spec_count; i++) {
        const gram_argument *p = &a->arguments[i], *q = &b->arguments[i];
        if (p->count != q->count || p->rows != q->rows || p->set != q->set) return 0;
        if (p->count > 0 && memcmp(p->fixed, q->fixed, (size_t)p->count) != 0) return 0;
        if (p->set && memcmp(p->values, q->values, (size_t)p->count * sizeof(double)) != 0) return 0;
    }
    return 1;
}

/* What a node has of its own, beside its children. */
static int equal_nodes(const gram_kernel *a, const gram_kernel *b)
{
    const size_t columns = (size_t)a->column_count * sizeof *a->columns;
    const size_t numbers = (size_t)(a->matrix_rows * a->matrix_columns) * sizeof *a->matrix;
    if (a->child_count != b->child_count || a->exponent != b->exponent || a->column_count != b->column_count ||
        a->matrix_rows != b->matrix_rows || a->matrix_columns != b->matrix_columns)
        return 0;
    return memcmp(a->columns, b->columns, columns) == 0 && memcmp(a->matrix, b->matrix, numbers) == 0 &&
           gram_external_equal(a->external, b->external);
}

int gram_kernel_equal(const gram_kernel *a, const gram_kernel *b)
{
    if (a == b) return 1;
    if (!a || !b || a->node != b->node || a->size != b->size) return 0;
    if (a->node == GRAM_NODE_LEAF) return equal_leaves(a, b);
    if (!equal_nodes(a, b)) return 0;
    for (int i = 0; i < a->child_count; i++)
        if (!gram_kernel_equal(a->children[i], b->children[i])) return 0;
    return 1;
}
