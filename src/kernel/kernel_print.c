/* A kernel as text: each has exactly one, and it reads back to the same kernel.
 *
 *   2*rbf(ell=0.3) + on(3:5, matern(nu=2.5, ell=[1,2,1]))*(white() + 0.1!)
 *
 * Kernels that exist in C only have a text to look at, <callback NAME>, that cannot be read; the sample of centre(a) is not in its text. Spaces around +, none around *, ", " between arguments;
 * parentheses where the grammar needs them. Captions have fewer digits: those read back to a kernel nearby. */
#include "kernel/kernel_print.h"

#include <stdio.h>
#include <string.h>

#include "base/text/number.h"
#include "kernel/kernel.h"

typedef struct writer {
    char *text;
    size_t size;
    size_t length; /* of the whole, whether it fits or not */
    int digits;    /* of a number; 0: as many as it takes to read it back */
} writer;

static void put(writer *w, const char *piece)
{
    const size_t length = strlen(piece);
    if (w->length < w->size) {
        const size_t left = w->size - w->length;
        memcpy(w->text + w->length, piece, length < left ? length : left);
    }
    w->length += length;
}

static void put_number(writer *w, double value)
{
    char text[GRAM_NUMBER_SIZE];
    put(w, w->digits > 0 ? gram_number_short(value, w->digits, text) : gram_number_format(value, text));
}

static void put_index(writer *w, int64_t index)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", (long long)index);
    put(w, text);
}

static int all_fixed(const gram_argument *argument)
{
    for (int64_t i = 0; i < argument->count; i++)
        if (!argument->fixed[i]) return 0;
    return argument->count > 0;
}

static void put_value(writer *w, const gram_parameter_spec *spec, const gram_argument *argument)
{
    const int together = all_fixed(argument), bracket = argument->count > 1 || argument->rows > 0;
    if (bracket) put(w, "[");
    for (int64_t i = 0; i < argument->count; i++) {
        if (i > 0) put(w, argument->rows > 0 && i % argument->rows == 0 ? ";" : ",");
        if (spec->words)
            put(w, spec->words[(int)argument->values[i]]);
        else
            put_number(w, argument->values[i]);
        if (argument->fixed[i] && !together) put(w, "!");
    }
    if (bracket) put(w, "]");
    if (together) put(w, "!");
}

static void put_leaf(writer *w, const gram_kernel *leaf)
{
    const gram_kernel_type *type = leaf->type;
    const char *before = "(";
    if (leaf->external) {
        put(w, "<");
        put(w, type->name);
        put(w, " ");
        put(w, leaf->external->name);
        put(w, ">");
        return;
    }
    if (type == &gram_kernel_const && leaf->arguments[0].set) {
        put_value(w, &type->specs[0], &leaf->arguments[0]);
        return;
    }
    put(w, type->name);
    if (type->spec_count == 0) put(w, "()");
    for (int i = 0; i < type->spec_count; i++) {
        if (!leaf->arguments[i].set) continue;
        put(w, before);
        put(w, type->specs[i].name);
        put(w, "=");
        put_value(w, &type->specs[i], &leaf->arguments[i]);
        before = ", ";
    }
    if (before[0] == ',') put(w, ")");
}

/* 3, 3:5 or [1,3:5] */
static void put_columns(writer *w, const gram_kernel *on)
{
    const int bracket = gram_columns_run(on->columns, on->column_count, 0) < on->column_count;
    if (bracket) put(w, "[");
    for (int64_t start = 0, end; start < on->column_count; start = end) {
        end = gram_columns_run(on->columns, on->column_count, start);
        if (start > 0) put(w, ",");
        put_index(w, on->columns[start] + 1);
        if (end - start == 1) continue;
        put(w, ":");
        put_index(w, on->columns[end - 1] + 1);
    }
    if (bracket) put(w, "]");
}

static void put_kernel(writer *w, const gram_kernel *kernel);

/* As an operand of `outer`: in parentheses if it binds less than outer does. */
static void put_operand(writer *w, gram_node outer, const gram_kernel *kernel)
{
    const int sum = kernel->node == GRAM_NODE_SUM;
    const int compound = sum || kernel->node == GRAM_NODE_PRODUCT || kernel->node == GRAM_NODE_POWER;
    const int parentheses = (outer == GRAM_NODE_PRODUCT && sum) || (outer == GRAM_NODE_POWER && compound);
    if (parentheses) put(w, "(");
    put_kernel(w, kernel);
    if (parentheses) put(w, ")");
}

/* [1,0;0,2] */
static void put_matrix(writer *w, const gram_kernel *warp)
{
    put(w, "[");
    for (int64_t i = 0; i < warp->matrix_rows * warp->matrix_columns; i++) {
        if (i > 0) put(w, i % warp->matrix_columns == 0 ? ";" : ",");
        put_number(w, warp->matrix[i]);
    }
    put(w, "]");
}

/* What stands around the child of a node with one: "on(3:5, " and ")" */
static void put_enclosing(writer *w, const gram_kernel *kernel)
{
    const int angle = kernel->node == GRAM_NODE_SCALE;
    switch (kernel->node) {
    case GRAM_NODE_ON:
        put(w, "on(");
        put_columns(w, kernel);
        put(w, ", ");
        break;
    case GRAM_NODE_WARP:
        put(w, "warp(");
        put_matrix(w, kernel);
        put(w, ", ");
        break;
    case GRAM_NODE_SCALE:
        put(w, "<scale ");
        put(w, kernel->external->name);
        put(w, ", ");
        break;
    case GRAM_NODE_CENTRE: put(w, "centre("); break;
    case GRAM_NODE_MEAN: put(w, "mean("); break;
    case GRAM_NODE_AFTER: put(w, "after("); break;
    default: put(w, kernel->node == GRAM_NODE_EXP ? "exp(" : "normalize("); break;
    }
    put_kernel(w, kernel->children[0]);
    if (kernel->node == GRAM_NODE_AFTER) {
        put(w, ", ");
        put_kernel(w, kernel->children[1]);
    }
    if (kernel->node == GRAM_NODE_MEAN && kernel->exponent > 0) {
        put(w, ", fourier=");
        put_index(w, kernel->exponent);
    }
    put(w, angle ? ">" : ")");
}

static void put_kernel(writer *w, const gram_kernel *kernel)
{
    if (kernel->node == GRAM_NODE_LEAF) {
        put_leaf(w, kernel);
    } else if (kernel->node == GRAM_NODE_POWER) {
        put_operand(w, GRAM_NODE_POWER, kernel->children[0]);
        put(w, "^");
        put_index(w, kernel->exponent);
    } else if (kernel->node == GRAM_NODE_SUM || kernel->node == GRAM_NODE_PRODUCT) {
        for (int i = 0; i < kernel->child_count; i++) {
            if (i > 0) put(w, kernel->node == GRAM_NODE_SUM ? " + " : "*");
            put_operand(w, kernel->node, kernel->children[i]);
        }
    } else {
        put_enclosing(w, kernel);
    }
}

size_t gram_kernel_print_short(const gram_kernel *kernel, int digits, char *text, size_t size)
{
    writer w = {text, size, 0, digits};
    if (kernel) put_kernel(&w, kernel);
    if (size > 0) text[w.length < size ? w.length : size - 1] = 0;
    return w.length;
}

size_t gram_kernel_print(const gram_kernel *kernel, char *text, size_t size)
{
    return gram_kernel_print_short(kernel, 0, text, size);
}

void gram_kernel_append(const gram_kernel *kernel, gram_string *text)
{
    const size_t start = text->length, length = gram_kernel_print(kernel, NULL, 0);
    for (size_t i = 0; i < length; i++) gram_string_put(text, " ", 1);
    if (!text->failed) (void)gram_kernel_print(kernel, text->data + start, length + 1);
}
