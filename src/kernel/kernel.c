/* Nodes of the expression tree: made, counted, compared, released.
 *
 * A node is one block of memory: the struct, then what it points to. Nodes never change once made, so trees share
 * subtrees freely; the same node may occur in many trees, or twice in one. `size` and `depth` count a shared subtree as
 * often as it is reached: they bound every walk. */
#include "kernel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/text.h>

/* ---- one block ---- */

typedef struct node_room {
    int64_t values;
    int64_t children;
    int64_t columns;
} node_room;

/* Returns where the values go, with their flags behind them, in *values. */
static gram_status new_node(gram_context *context, gram_node node, node_room room, gram_kernel **out, double **values)
{
    gram_status status = GRAM_OK;
    gram_kernel *made = NULL;
    const int64_t bytes = (int64_t)sizeof *made + room.values * ((int64_t)sizeof(double) + 1) +
                          room.children * (int64_t)sizeof(gram_kernel *) + room.columns * (int64_t)sizeof(int64_t);
    TRY(gram_take(context, "kernel", bytes, 1, (void **)&made));
    memset(made, 0, sizeof *made);
    atomic_init(&made->references, 1);
    made->memory = gram_memory_retain(context->memory);
    made->bytes = (size_t)bytes;
    made->node = node;
    made->depth = 1;
    made->size = 1;
    made->children = (gram_kernel **)(void *)(made + 1);
    made->child_count = (int)room.children;
    made->columns = (int64_t *)(void *)(made->children + room.children);
    made->column_count = room.columns;
    if (values) *values = (double *)(void *)(made->columns + room.columns);
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
    gram_memory *memory = kernel->memory;
    gram_memory_give(memory, kernel, kernel->bytes);
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
    gram_give(context, factor, s->count, sizeof(double));
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
                "%s: the numbers of %s are kept together or not at all", type->name, spec->name);
done:
    return status;
}

/* Arguments as given -> one for each spec, defaults filled in. initial[] holds the numbers of the defaults. */
static void fill_defaults(const gram_kernel_type *type, const gram_argument *given, gram_argument *full,
                          double *initial)
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
        full[i] = (gram_argument){.count = 1, .set = !isnan(spec->initial), .values = &initial[i]};
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
                                   gram_number_format(par[i], value));
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
    double initial[GRAM_MAX_SPECS], *values = NULL;
    node_room room = {0, 0, 0};
    *kernel = NULL;
    fill_defaults(type, arguments, full, initial);
    TRY(check_leaf(context, type, full));
    for (int i = 0; i < type->spec_count; i++) room.values += full[i].count;
    TRY(new_node(context, GRAM_NODE_LEAF, room, kernel, &values));
    (*kernel)->type = type;
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

/* ---- combinators ---- */

/* Makes children[0 .. count) the children of node: retains them, sets depth and size. */
static gram_status adopt(gram_context *context, gram_kernel *node, gram_kernel *const *children, int count)
{
    gram_status status = GRAM_OK;
    int depth = 0;
    int64_t size = 1;
    for (int i = 0; i < count; i++) {
        node->children[i] = gram_kernel_retain(children[i]);
        size += children[i]->size;
        if (children[i]->depth > depth) depth = children[i]->depth;
    }
    node->depth = depth + 1;
    node->size = size;
    FAIL_IF(node->depth > GRAM_KERNEL_MAX_DEPTH, context, GRAM_ERROR_ARGUMENT, "kernel: nested deeper than %d levels",
            GRAM_KERNEL_MAX_DEPTH);
    FAIL_IF(size > GRAM_KERNEL_MAX_SIZE, context, GRAM_ERROR_ARGUMENT, "kernel: more than %d terms and factors",
            GRAM_KERNEL_MAX_SIZE);
done:
    return status;
}

/* Writes the operands of a sum (product), with those that are sums (products) themselves opened, to out unless it is
 * NULL. Returns their number. */
static int64_t flatten(gram_node node, int count, gram_kernel *const *children, gram_kernel **out)
{
    int64_t total = 0;
    for (int i = 0; i < count; i++) {
        const int open = children[i]->node == node;
        gram_kernel *const *operands = open ? children[i]->children : &children[i];
        const int operand_count = open ? children[i]->child_count : 1;
        if (out) memcpy(out + total, operands, (size_t)operand_count * sizeof *out);
        total += operand_count;
    }
    return total;
}

gram_status gram_kernel_combine(gram_context *context, gram_node node, int count, gram_kernel *const *children,
                                gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    gram_kernel *made = NULL;
    node_room room = {0, 0, 0};
    *kernel = NULL;
    if (count == 1) {
        *kernel = gram_kernel_retain(children[0]);
        goto done;
    }
    room.children = flatten(node, count, children, NULL);
    FAIL_IF(room.children > GRAM_KERNEL_MAX_SIZE, context, GRAM_ERROR_ARGUMENT,
            "kernel: more than %d terms and factors", GRAM_KERNEL_MAX_SIZE);
    TRY(new_node(context, node, room, &made, NULL));
    (void)flatten(node, count, children, made->children);
    TRY(adopt(context, made, made->children, made->child_count));
    *kernel = made;
    made = NULL;
done:
    gram_kernel_release(made);
    return status;
}

static gram_status two_operands(gram_context *context, const char *name, gram_node node, gram_kernel *a, gram_kernel *b,
                                gram_kernel **kernel)
{
    gram_kernel *const operands[2] = {a, b};
    if (!context || !kernel) return GRAM_ERROR_ARGUMENT;
    *kernel = NULL;
    if (!a || !b) return gram_fail(context, GRAM_ERROR_ARGUMENT, "kernel_%s: %s is NULL", name, a ? "b" : "a");
    return gram_kernel_combine(context, node, 2, operands, kernel);
}

gram_status gram_kernel_sum(gram_context *context, gram_kernel *a, gram_kernel *b, gram_kernel **kernel)
{
    return two_operands(context, "sum", GRAM_NODE_SUM, a, b, kernel);
}

gram_status gram_kernel_multiply(gram_context *context, gram_kernel *a, gram_kernel *b, gram_kernel **kernel)
{
    return two_operands(context, "multiply", GRAM_NODE_PRODUCT, a, b, kernel);
}

gram_status gram_kernel_constant(gram_context *context, double value, gram_kernel **kernel)
{
    const gram_argument argument = {.count = 1, .set = 1, .values = &value};
    if (!context || !kernel) return GRAM_ERROR_ARGUMENT;
    return gram_kernel_leaf(context, &gram_kernel_const, &argument, kernel);
}

gram_status gram_kernel_power(gram_context *context, gram_kernel *a, int m, gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    gram_kernel *made = NULL;
    const node_room room = {.children = 1};
    if (!context || !kernel) return GRAM_ERROR_ARGUMENT;
    *kernel = NULL;
    FAIL_IF(!a, context, GRAM_ERROR_ARGUMENT, "kernel_power: a is NULL");
    FAIL_IF(m < 1 || m > GRAM_KERNEL_MAX_POWER, context, GRAM_ERROR_ARGUMENT,
            "kernel_power: m = %d, the exponent must be a whole number from 1 to %d", m, GRAM_KERNEL_MAX_POWER);
    if (m == 1) {
        *kernel = gram_kernel_retain(a);
        goto done;
    }
    TRY(new_node(context, GRAM_NODE_POWER, room, &made, NULL));
    made->exponent = m;
    TRY(adopt(context, made, &a, 1));
    *kernel = made;
    made = NULL;
done:
    gram_kernel_release(made);
    return status;
}

/* ---- columns ---- */

int64_t gram_columns_run(const int64_t *columns, int64_t count, int64_t start)
{
    int64_t end = start + 1;
    while (end < count && columns[end] == columns[end - 1] + 1) end++;
    return end;
}

/* A column of the run [start, end) that a run before it has too, or -1. Runs are compared, not columns: long lists are
 * ranges. */
static int64_t find_repeated(const int64_t *columns, int64_t start, int64_t end)
{
    for (int64_t from = 0, to; from < start; from = to) {
        to = gram_columns_run(columns, start, from);
        const int64_t lowest = columns[from] > columns[start] ? columns[from] : columns[start];
        if (lowest <= columns[to - 1] && lowest <= columns[end - 1]) return lowest;
    }
    return -1;
}

static gram_status check_columns(gram_context *context, int64_t count, const int64_t *columns)
{
    gram_status status = GRAM_OK;
    FAIL_IF(count < 1 || !columns, context, GRAM_ERROR_ARGUMENT, "on: no columns");
    FAIL_IF(count > GRAM_KERNEL_MAX_COLUMNS, context, GRAM_ERROR_ARGUMENT, "on: more than %d columns",
            GRAM_KERNEL_MAX_COLUMNS);
    for (int64_t i = 0; i < count; i++)
        FAIL_IF(columns[i] < 0 || columns[i] >= GRAM_KERNEL_MAX_COLUMN, context, GRAM_ERROR_ARGUMENT,
                "on: columns[%lld] = %lld is not from 0 to %d", (long long)i, (long long)columns[i],
                GRAM_KERNEL_MAX_COLUMN - 1);
    for (int64_t start = 0, end; start < count; start = end) {
        end = gram_columns_run(columns, count, start);
        const int64_t repeated = find_repeated(columns, start, end);
        FAIL_IF(repeated >= 0, context, GRAM_ERROR_ARGUMENT, "on: column %lld is given twice", (long long)repeated + 1);
    }
done:
    return status;
}

gram_status gram_kernel_on(gram_context *context, int64_t count, const int64_t *columns, gram_kernel *a,
                           gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    gram_kernel *made = NULL;
    if (!context || !kernel) return GRAM_ERROR_ARGUMENT;
    *kernel = NULL;
    FAIL_IF(!a, context, GRAM_ERROR_ARGUMENT, "kernel_on: a is NULL");
    TRY(check_columns(context, count, columns));
    TRY(new_node(context, GRAM_NODE_ON, (node_room){.children = 1, .columns = count}, &made, NULL));
    memcpy(made->columns, columns, (size_t)count * sizeof *columns);
    TRY(adopt(context, made, &a, 1));
    *kernel = made;
    made = NULL;
done:
    gram_kernel_release(made);
    return status;
}

/* ---- equality ---- */

static int equal_leaves(const gram_kernel *a, const gram_kernel *b)
{
    if (a->type != b->type) return 0;
    for (int i = 0; i < a->type->spec_count; i++) {
        const gram_argument *p = &a->arguments[i], *q = &b->arguments[i];
        if (p->count != q->count || p->rows != q->rows || p->set != q->set) return 0;
        if (p->count > 0 && memcmp(p->fixed, q->fixed, (size_t)p->count) != 0) return 0;
        if (p->set && memcmp(p->values, q->values, (size_t)p->count * sizeof(double)) != 0) return 0;
    }
    return 1;
}

int gram_kernel_equal(const gram_kernel *a, const gram_kernel *b)
{
    if (a == b) return 1;
    if (!a || !b || a->node != b->node || a->size != b->size) return 0;
    if (a->node == GRAM_NODE_LEAF) return equal_leaves(a, b);
    if (a->child_count != b->child_count || a->exponent != b->exponent || a->column_count != b->column_count) return 0;
    if (memcmp(a->columns, b->columns, (size_t)a->column_count * sizeof *a->columns) != 0) return 0;
    for (int i = 0; i < a->child_count; i++)
        if (!gram_kernel_equal(a->children[i], b->children[i])) return 0;
    return 1;
}
