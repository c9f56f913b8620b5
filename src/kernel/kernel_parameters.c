/* The numbers of a kernel that may be learnt, as one list, in the order in which they are printed.
 *
 * A leaf contributes one number for each of its arguments that is neither structural nor empty, one for each column if
 * it is a list; a covariance S contributes the lower triangle of its Cholesky factor L, row by row, because every L with
 * a positive diagonal is allowed while not every S is. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernel/kernel.h"
#include <gram/text.h>

/* ---- the numbers of one leaf ---- */

static int64_t argument_numbers(const gram_parameter_spec *spec, const gram_argument *argument)
{
    if (spec->role == GRAM_ROLE_STRUCTURE) return 0;
    if (spec->role == GRAM_ROLE_COVARIANCE) return argument->rows * (argument->rows + 1) / 2;
    return argument->count;
}

static int64_t leaf_numbers(const gram_kernel *leaf)
{
    int64_t count = 0;
    for (int i = 0; i < leaf->type->spec_count; i++)
        count += argument_numbers(&leaf->type->specs[i], &leaf->arguments[i]);
    return count;
}

/* Which number of a leaf: of which spec, which of its values; row and column in L for a covariance. */
typedef struct number {
    const gram_parameter_spec *spec;
    const gram_argument *argument;
    int64_t index;
    int64_t row, column;
} number;

static number find_number(const gram_kernel *leaf, int64_t index)
{
    int i = 0;
    int64_t here;
    while (index >= (here = argument_numbers(&leaf->type->specs[i], &leaf->arguments[i]))) {
        index -= here;
        i++;
    }
    number found = {&leaf->type->specs[i], &leaf->arguments[i], index, 0, index};
    while (found.argument->rows > 0 && found.column > found.row) found.column -= ++found.row;
    return found;
}

static int is_factor(const number *which)
{
    return which->spec->role == GRAM_ROLE_COVARIANCE;
}

static void describe_range(const number *which, gram_parameter *parameter)
{
    const int off_diagonal = is_factor(which) && which->row != which->column;
    const int diagonal = is_factor(which) && which->row == which->column;
    parameter->lower = diagonal ? 0 : which->spec->lower;
    parameter->upper = which->spec->upper;
    parameter->transform = off_diagonal ? GRAM_TRANSFORM_NONE : diagonal ? GRAM_TRANSFORM_LOG : which->spec->transform;
    parameter->set = which->argument->set;
    parameter->fixed = which->argument->fixed[is_factor(which) ? 0 : which->index];
}

static gram_status factor_value(gram_context *context, const number *which, double *value)
{
    gram_status status = GRAM_OK;
    double *factor = NULL;
    const int64_t d = which->argument->rows;
    TRY(gram_take(context, "kernel: the factor of S", d * d, sizeof(double), (void **)&factor));
    FAIL_IF(!gram_small_cholesky(d, which->argument->values, factor), context, GRAM_ERROR_INTERNAL,
            "kernel: S is not positive definite");
    *value = factor[which->row * d + which->column];
done:
    gram_give(context, factor);
    return status;
}

/* ".ell", ".ell[2]", ".S.L[2,1]"; nothing for const */
static void describe_place(const number *which, const gram_kernel *leaf, char *text, size_t size)
{
    text[0] = 0;
    if (is_factor(which))
        (void)snprintf(text, size, ".%s.L[%lld,%lld]", which->spec->name, (long long)which->row + 1,
                       (long long)which->column + 1);
    else if (which->argument->count > 1)
        (void)snprintf(text, size, ".%s[%lld]", which->spec->name, (long long)which->index + 1);
    else if (leaf->type != &gram_kernel_const)
        (void)snprintf(text, size, ".%s", which->spec->name);
}

/* ---- leaves, left to right ---- */

/* Non-zero stops the walk. */
typedef int (*leaf_visit)(void *state, const gram_kernel *leaf);

static int each_leaf(const gram_kernel *kernel, leaf_visit visit, void *state)
{
    if (kernel->node == GRAM_NODE_LEAF) return visit(state, kernel);
    for (int i = 0; i < kernel->child_count; i++)
        if (each_leaf(kernel->children[i], visit, state)) return 1;
    return 0;
}

static int add_numbers(void *state, const gram_kernel *leaf)
{
    *(int64_t *)state += leaf_numbers(leaf);
    return 0;
}

int64_t gram_kernel_parameter_count(const gram_kernel *kernel)
{
    int64_t count = 0;
    if (kernel) (void)each_leaf(kernel, add_numbers, &count);
    return count;
}

/* The leaf that holds a number, and how many leaves of its type there are. */
typedef struct search {
    int64_t index; /* in the leaf, once it is found */
    const gram_kernel *leaf;
    int64_t position; /* of the leaf, and of the one being looked at */
    int64_t at;
    int64_t ordinal; /* among leaves of its type, from 1 */
    int64_t total;
} search;

static int find_leaf(void *state, const gram_kernel *leaf)
{
    search *s = state;
    const int64_t here = leaf_numbers(leaf);
    s->leaf = leaf;
    if (s->index < here) return 1;
    s->index -= here;
    s->position++;
    return 0;
}

static int count_type(void *state, const gram_kernel *leaf)
{
    search *s = state;
    s->total += leaf->type == s->leaf->type;
    s->ordinal += leaf->type == s->leaf->type && s->at <= s->position;
    s->at++;
    return 0;
}

gram_status gram_kernel_parameter_get(gram_context *context, const gram_kernel *kernel, int64_t index,
                                      gram_parameter *parameter)
{
    gram_status status = GRAM_OK;
    if (!context || !parameter) return GRAM_ERROR_ARGUMENT;
    memset(parameter, 0, sizeof *parameter);
    const int64_t count = gram_kernel_parameter_count(kernel);
    FAIL_IF(index < 0 || index >= count, context, GRAM_ERROR_ARGUMENT,
            "kernel_parameter_get: index %lld, the kernel has %lld parameters", (long long)index, (long long)count);
    search s = {.index = index};
    (void)each_leaf(kernel, find_leaf, &s);
    (void)each_leaf(kernel, count_type, &s);
    const number which = find_number(s.leaf, s.index);
    describe_range(&which, parameter);
    parameter->value = which.argument->values[is_factor(&which) ? 0 : which.index];
    if (is_factor(&which)) TRY(factor_value(context, &which, &parameter->value));

    char place[64], ordinal[24] = "";
    describe_place(&which, s.leaf, place, sizeof place);
    if (s.total > 1) (void)snprintf(ordinal, sizeof ordinal, "#%lld", (long long)s.ordinal);
    (void)snprintf(parameter->name, sizeof parameter->name, "%.16s%.8s%.22s", s.leaf->type->name, ordinal, place);
done:
    return status;
}

/* ---- other values ---- */

typedef struct assignment {
    const double *values;
    int64_t at;
} assignment;

static int allowed(const number *which, double value)
{
    if (isnan(value)) return !which->argument->set; /* stays open */
    if (!is_factor(which)) return gram_parameter_allows(which->spec, value);
    return isfinite(value) && (which->row != which->column || value > 0);
}

/* Stops at the first value that its parameter does not allow. */
static int check_leaf_values(void *state, const gram_kernel *leaf)
{
    assignment *a = state;
    const int64_t count = leaf_numbers(leaf);
    for (int64_t i = 0; i < count; i++, a->at++) {
        const number which = find_number(leaf, i);
        if (!allowed(&which, a->values[a->at])) return 1;
    }
    return 0;
}

static gram_status check_values(gram_context *context, const gram_kernel *kernel, const double *values)
{
    gram_status status = GRAM_OK;
    gram_parameter parameter;
    char text[GRAM_NUMBER_SIZE];
    assignment a = {values, 0};
    if (!each_leaf(kernel, check_leaf_values, &a)) goto done;
    TRY(gram_kernel_parameter_get(context, kernel, a.at, &parameter));
    FAIL(context, GRAM_ERROR_ARGUMENT, "kernel_with_values: values[%lld] = %s is out of the bounds of %s",
         (long long)a.at, gram_number_format(values[a.at], text), parameter.name);
done:
    return status;
}

/* S = L L', l the lower triangle row by row */
static void multiply_factor(int64_t d, const double *l, double *s)
{
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0;
            for (int64_t k = 0; k <= j; k++) sum += l[i * (i + 1) / 2 + k] * l[j * (j + 1) / 2 + k];
            s[i * d + j] = s[j * d + i] = sum;
        }
}

static gram_status leaf_with_values(gram_context *context, void *state, const gram_kernel *leaf, const gram_view *view,
                                    gram_kernel **out)
{
    gram_status status = GRAM_OK;
    assignment *a = state;
    gram_argument arguments[GRAM_MAX_SPECS];
    double *s = NULL;
    int64_t s_count = 0;
    (void)view;
    memcpy(arguments, leaf->arguments, sizeof arguments);
    for (int i = 0; i < leaf->type->spec_count; i++) {
        const gram_parameter_spec *spec = &leaf->type->specs[i];
        const int64_t count = argument_numbers(spec, &arguments[i]);
        const double *values = a->values + a->at;
        a->at += count;
        if (count == 0) continue;
        if (spec->role == GRAM_ROLE_COVARIANCE) {
            s_count = arguments[i].count;
            TRY(gram_take(context, "kernel: S", s_count, sizeof(double), (void **)&s));
            multiply_factor(arguments[i].rows, values, s);
            values = s;
        }
        arguments[i].values = (double *)values; /* gram_kernel_leaf copies */
        arguments[i].set = !isnan(values[0]);
    }
    TRY(gram_kernel_leaf(context, leaf->type, arguments, out));
done:
    gram_give(context, s);
    return status;
}

gram_status gram_kernel_with_values(gram_context *context, const gram_kernel *kernel, const double *values,
                                    gram_kernel **out)
{
    gram_status status = GRAM_OK;
    if (!context || !out) return GRAM_ERROR_ARGUMENT;
    *out = NULL;
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "kernel_with_values: kernel is NULL");
    FAIL_IF(!values && gram_kernel_parameter_count(kernel) > 0, context, GRAM_ERROR_ARGUMENT,
            "kernel_with_values: values is NULL");
    TRY(check_values(context, kernel, values));
    assignment a = {values, 0};
    TRY(gram_kernel_rebuild(context, kernel, NULL, leaf_with_values, &a, out));
done:
    return status;
}

static gram_status leaf_with_ard(gram_context *context, void *state, const gram_kernel *leaf, const gram_view *view,
                                 gram_kernel **out)
{
    gram_status status = GRAM_OK;
    gram_argument arguments[GRAM_MAX_SPECS];
    double *lengths = NULL;
    const int64_t d = view->d;
    (void)state;
    memcpy(arguments, leaf->arguments, sizeof arguments);
    for (int i = 0; i < leaf->type->spec_count; i++) {
        gram_argument *argument = &arguments[i];
        if (leaf->type->specs[i].role != GRAM_ROLE_LENGTH || argument->count != 1) continue;
        if (d == 1 || !argument->set || argument->fixed[0]) continue;
        TRY(gram_take(context, "kernel: length-scales", d, sizeof(double), (void **)&lengths));
        for (int64_t l = 0; l < d; l++) lengths[l] = argument->values[0];
        *argument = (gram_argument){.count = d, .set = 1, .values = lengths};
    }
    TRY(gram_kernel_leaf(context, leaf->type, arguments, out));
done:
    gram_give(context, lengths);
    return status;
}

gram_status gram_kernel_with_ard(gram_context *context, const gram_kernel *kernel, int64_t d, gram_kernel **out)
{
    gram_status status = GRAM_OK;
    const gram_view all = {.d = d};
    if (!context || !out) return GRAM_ERROR_ARGUMENT;
    *out = NULL;
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "kernel_with_ard: kernel is NULL");
    TRY(gram_kernel_check_dimension(context, kernel, d));
    TRY(gram_kernel_rebuild(context, kernel, &all, leaf_with_ard, NULL, out));
done:
    return status;
}

/* ---- is anything open? ---- */

static int find_open(void *state, const gram_kernel *leaf)
{
    int64_t *index = state;
    const int64_t count = leaf_numbers(leaf);
    for (int64_t i = 0; i < count; i++, ++*index)
        if (!find_number(leaf, i).argument->set) return 1;
    return 0;
}

gram_status gram_kernel_check_set(gram_context *context, const gram_kernel *kernel)
{
    gram_status status = GRAM_OK;
    gram_parameter parameter;
    int64_t index = 0;
    FAIL_IF(gram_kernel_lacks_sample(kernel), context, GRAM_ERROR_UNSET,
            "kernel: centre has no rows to centre about; gram_kernel_resolve takes those of a table, "
            "gram_kernel_centre those that are given");
    if (!each_leaf(kernel, find_open, &index)) goto done;
    TRY(gram_kernel_parameter_get(context, kernel, index, &parameter));
    FAIL(context, GRAM_ERROR_UNSET, "kernel: %s has no value; give one, or let gram_kernel_resolve choose it",
         parameter.name);
done:
    return status;
}
