/* Questions about kernels that need no points: which there are, and how many columns one takes. */
#include <math.h>
#include <stdio.h>

#include "kernel/kernel.h"
#include <gram/text.h>

const char *gram_kernel_name(int index)
{
    const gram_kernel_type *type = gram_kernel_type_get(index);
    return type ? type->name : NULL;
}

const char *gram_kernel_formula(int index)
{
    const gram_kernel_type *type = gram_kernel_type_get(index);
    return type ? type->formula : NULL;
}

size_t gram_kernel_signature(int index, char *text, size_t size)
{
    const gram_kernel_type *type = gram_kernel_type_get(index);
    char whole[256], number[GRAM_NUMBER_SIZE];
    if (size > 0) text[0] = '\0';
    if (!type) return 0;
    size_t length = (size_t)snprintf(whole, sizeof whole, "%s(", type->name);
    for (int i = 0; i < type->spec_count && length < sizeof whole; i++) {
        const gram_parameter_spec *spec = &type->specs[i];
        const int given = !isnan(spec->initial);
        length += (size_t)snprintf(whole + length, sizeof whole - length, "%s%s%s%s", i > 0 ? ", " : "", spec->name,
                                   given ? "=" : "", given ? gram_number_format(spec->initial, number) : "");
    }
    return (size_t)snprintf(text, size, "%s)", whole);
}

/* More columns than this are needed by no part; whether all parts can do with them is checked afterwards. */
static int64_t columns_needed(const gram_kernel *kernel)
{
    int64_t most = 1;
    if (kernel->node == GRAM_NODE_WARP) return kernel->matrix_columns;
    if (kernel->node == GRAM_NODE_MEAN) return 1; /* a column of bags */
    if (kernel->node == GRAM_NODE_ON) {
        for (int64_t i = 0; i < kernel->column_count; i++)
            if (kernel->columns[i] >= most) most = kernel->columns[i] + 1;
        return most;
    }
    if (kernel->node == GRAM_NODE_LEAF) {
        const gram_argument *length = gram_kernel_argument(kernel, GRAM_ROLE_LENGTH);
        const gram_argument *covariance = gram_kernel_argument(kernel, GRAM_ROLE_COVARIANCE);
        return covariance ? covariance->rows : length ? length->count : 1;
    }
    for (int i = 0; i < kernel->child_count; i++) {
        const int64_t needed = columns_needed(kernel->children[i]);
        if (needed > most) most = needed;
    }
    return most;
}

gram_status gram_kernel_least_dimension(gram_context *context, const gram_kernel *kernel, int64_t *d)
{
    gram_status status = GRAM_OK;
    if (!context || !d) return GRAM_ERROR_ARGUMENT;
    *d = 0;
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "kernel_least_dimension: kernel is NULL");
    const int64_t needed = columns_needed(kernel);
    TRY(gram_kernel_check_dimension(context, kernel, needed));
    *d = needed;
done:
    return status;
}

/* ---- what it takes ---- */

/* A bit for each kind of things that its leaves are about, and bit 0 for leaves of numbers. */
static unsigned kinds_of(const gram_kernel *kernel)
{
    unsigned kinds = 0;
    if (kernel->node == GRAM_NODE_LEAF) {
        const gram_form form = kernel->type->form;
        const int of_any = form == GRAM_FORM_NONE || form == GRAM_FORM_SAME || form == GRAM_FORM_INDEX;
        return of_any ? 0 : kernel->type->things ? kernel->type->things : 1u << GRAM_OBJECT_NONE;
    }
    for (int i = 0; i < kernel->child_count; i++) kinds |= kinds_of(kernel->children[i]);
    return kinds;
}

const char *gram_kernel_domain(const gram_kernel *kernel)
{
    const unsigned kinds = kinds_of(kernel);
    if (kinds == 0 || kinds == 1u << GRAM_OBJECT_NONE) return NULL;
    for (int kind = 1; kind < GRAM_OBJECT_KINDS; kind++)
        if (kinds == 1u << kind) return gram_object_kind_name((gram_object_kind)kind);
    return "columns of several kinds";
}

int gram_kernel_takes_given(const gram_kernel *kernel)
{
    return (int)(kinds_of(kernel) >> GRAM_OBJECT_GIVEN & 1);
}
