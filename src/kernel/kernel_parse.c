/* The kernel language, read by recursive descent.
 *
 *   sum      = product { "+" product }
 *   product  = power { "*" power }
 *   power    = atom [ "^" whole number ]
 *   atom     = number ["!"] | "(" sum ")" | "on" "(" columns "," sum ")" | "exp" "(" sum ")" | "normalize" "(" sum ")"
 *            | "warp" "(" matrix "," sum ")" | "scale" "(" index "," sum ")" | "centre" "(" sum ")"
 *            | name [ "(" [ argument { "," argument } ] ")" ]
 *   columns  = item { "," item },  item = index | index ":" index | "[" columns "]"
 *   argument = [ name "=" ] value
 *   matrix   = "[" number { ("," | ";") number } "]"
 *   value    = ( word | number | "[" number ["!"] { ("," | ";") number ["!"] } "]" ) ["!"]
 *
 * White space is free between these. One stack holds the kernels read so far and not yet part of a larger one: whatever
 * goes wrong, emptying it is all there is to clean up. Nesting and the number of terms are limited, so that neither the
 * C stack nor memory grows with a hostile text. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernel/kernel.h"
#include <gram/text.h>

enum { PIECE_SIZE = 48, MAX_CANDIDATES = 128 };

typedef struct parser {
    gram_context *context;
    const char *text;
    size_t length;
    size_t at;
    int nesting;

    gram_kernel **stack; /* GRAM_KERNEL_MAX_SIZE of them */
    int count;

    double *values; /* the numbers of the leaf that is being read, above those of the warps around it */
    unsigned char *fixed;
    int64_t value_count;
    int64_t value_capacity;
} parser;

/* ---- messages ---- */

static gram_status fail_at(const parser *p, size_t at, gram_status code, const char *format, ...) GRAM_PRINTF(4, 5);

static gram_status fail_at(const parser *p, size_t at, gram_status code, const char *format, ...)
{
    char message[GRAM_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return gram_fail(p->context, code, "kernel: column %zu: %s", at + 1, message);
}

/* Puts the place in front of the message of a failure below. */
static gram_status place(const parser *p, size_t at, gram_status status)
{
    if (status == GRAM_ERROR_ARGUMENT) {
        char message[GRAM_MESSAGE_SIZE];
        memcpy(message, p->context->message, sizeof message);
        message[sizeof message - 1] = 0;
        const char *rest = strncmp(message, "kernel: ", 8) == 0 ? message + 8 : message;
        return fail_at(p, at, status, "%s", rest);
    }
    return status;
}

/* text[from .. to) for a message: shortened, in one line */
static const char *piece(const parser *p, size_t from, size_t to, char out[PIECE_SIZE])
{
    const size_t most = PIECE_SIZE - 4;
    const size_t length = to - from < most ? to - from : most;
    for (size_t i = 0; i < length; i++) {
        const char c = p->text[from + i];
        out[i] = c >= ' ' && c <= '~' ? c : c == '\t' || c == '\n' || c == '\r' ? ' ' : '?';
    }
    memcpy(out + length, to - from > most ? "..." : "", to - from > most ? 4 : 1);
    return out;
}

/* ---- characters ---- */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The next character after white space, 0 at the end. */
static char peek(parser *p)
{
    while (p->at < p->length && strchr(" \t\r\n", p->text[p->at])) p->at++;
    return p->at < p->length ? p->text[p->at] : 0;
}

static int accept(parser *p, char c)
{
    if (peek(p) != c) return 0;
    p->at++;
    return 1;
}

static gram_status unexpected(parser *p, const char *wanted)
{
    if (peek(p) == 0) return fail_at(p, p->at, GRAM_ERROR_SYNTAX, "expected %s, but the text ends here", wanted);
    char found[PIECE_SIZE];
    return fail_at(p, p->at, GRAM_ERROR_SYNTAX, "expected %s, found '%s'", wanted, piece(p, p->at, p->at + 1, found));
}

static gram_status expect(parser *p, char c)
{
    const char wanted[] = {'\'', c, '\'', 0};
    return accept(p, c) ? GRAM_OK : unexpected(p, wanted);
}

/* The end of the name that starts at p->at. */
static size_t name_end(const parser *p)
{
    size_t end = p->at;
    while (end < p->length && (is_letter(p->text[end]) || is_digit(p->text[end]))) end++;
    return end;
}

static int name_is(const parser *p, size_t from, size_t to, const char *name)
{
    return strlen(name) == to - from && memcmp(p->text + from, name, to - from) == 0;
}

/* ---- numbers ---- */

static gram_status read_number(parser *p, double *value)
{
    gram_status status = GRAM_OK;
    char found[PIECE_SIZE];
    const char first = peek(p);
    const size_t start = p->at;
    const size_t sign = first == '-' || first == '+' ? 1 : 0;
    const size_t end = start + sign;
    if (is_letter(first)) {
        FAIL_IF(name_is(p, start, name_end(p), "inf") || name_is(p, start, name_end(p), "nan"), p->context,
                GRAM_ERROR_SYNTAX, "kernel: column %zu: '%s' is not a finite number", start + 1,
                piece(p, start, name_end(p), found));
    }
    const int starts = end < p->length && (is_digit(p->text[end]) || p->text[end] == '.');
    const size_t used = starts ? gram_number_parse(p->text + end, p->length - end, value) : 0;
    if (used == 0) {
        status = unexpected(p, "a number");
        goto done;
    }
    p->at = end + used;
    if (first == '-') *value = -*value;
    FAIL_IF(!isfinite(*value), p->context, GRAM_ERROR_ARGUMENT, "kernel: column %zu: '%s' is too large for a number",
            start + 1, piece(p, start, p->at, found));
done:
    return status;
}

/* A whole number from 1 to `most`. */
static gram_status read_whole(parser *p, const char *what, int64_t most, int64_t *value)
{
    char wanted[64], found[PIECE_SIZE];
    *value = 0;
    (void)snprintf(wanted, sizeof wanted, "%s from 1 to %lld", what, (long long)most);
    if (!is_digit(peek(p))) return unexpected(p, wanted);
    const size_t start = p->at;
    for (; p->at < p->length && is_digit(p->text[p->at]); p->at++)
        if (*value <= most) *value = 10 * *value + (p->text[p->at] - '0');
    if (*value >= 1 && *value <= most) return GRAM_OK;
    return fail_at(p, start, GRAM_ERROR_ARGUMENT, "expected %s, found '%s'", wanted, piece(p, start, p->at, found));
}

/* ---- the stack ---- */

static gram_status push(parser *p, gram_kernel *kernel)
{
    if (p->count == GRAM_KERNEL_MAX_SIZE) {
        gram_kernel_release(kernel);
        return fail_at(p, p->at, GRAM_ERROR_SYNTAX, "more than %d terms and factors", GRAM_KERNEL_MAX_SIZE);
    }
    p->stack[p->count++] = kernel;
    return GRAM_OK;
}

/* Releases what lies above `base` and puts kernel there instead. */
static void replace(parser *p, int base, gram_kernel *kernel)
{
    while (p->count > base) gram_kernel_release(p->stack[--p->count]);
    if (kernel) p->stack[p->count++] = kernel;
}

/* ---- leaves ---- */

typedef struct leaf_reader {
    const gram_kernel_type *type;
    size_t start;
    int positional; /* arguments without a name so far */
    int named;      /* an argument with a name has come */
    gram_argument arguments[GRAM_MAX_SPECS];
    const char *given[GRAM_MAX_SPECS]; /* the name under which it was given, or NULL */
} leaf_reader;

/* "rbf(el=1)": the leaf as it stands in the text, up to its closing parenthesis */
static const char *leaf_piece(const parser *p, const leaf_reader *leaf, char out[PIECE_SIZE])
{
    size_t end = leaf->start;
    while (end < p->length && p->text[end] != ')') end++;
    return piece(p, leaf->start, end < p->length ? end + 1 : end, out);
}

static gram_status fail_leaf(const parser *p, const leaf_reader *leaf, size_t at, gram_status code, const char *format,
                             ...) GRAM_PRINTF(5, 6);

static gram_status fail_leaf(const parser *p, const leaf_reader *leaf, size_t at, gram_status code, const char *format,
                             ...)
{
    char message[GRAM_MESSAGE_SIZE], shown[PIECE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return fail_at(p, at, code, "%s: %s", leaf_piece(p, leaf, shown), message);
}

static gram_status unknown_parameter(const parser *p, const leaf_reader *leaf, size_t from, size_t to)
{
    const char *names[MAX_CANDIDATES];
    char word[PIECE_SIZE];
    size_t count = 0;
    for (int i = 0; i < leaf->type->spec_count; i++) {
        const gram_parameter_spec *spec = &leaf->type->specs[i];
        names[count++] = spec->name;
        for (size_t a = 0; a < sizeof spec->aliases / sizeof *spec->aliases && spec->aliases[a].name; a++)
            names[count++] = spec->aliases[a].name;
    }
    const char *near = gram_suggest(piece(p, from, to, word), names, count);
    return near ? fail_leaf(p, leaf, from, GRAM_ERROR_SYNTAX, "no parameter '%s', did you mean '%s'?", word, near)
                : fail_leaf(p, leaf, from, GRAM_ERROR_SYNTAX, "no parameter '%s'", word);
}

/* The spec called text[from .. to), or -1; *alias is set if it is called by another name. */
static int find_spec(const parser *p, const gram_kernel_type *type, size_t from, size_t to, const gram_alias **alias)
{
    *alias = NULL;
    for (int i = 0; i < type->spec_count; i++) {
        const gram_parameter_spec *spec = &type->specs[i];
        if (name_is(p, from, to, spec->name)) return i;
        for (size_t a = 0; a < sizeof spec->aliases / sizeof *spec->aliases && spec->aliases[a].name; a++) {
            if (!name_is(p, from, to, spec->aliases[a].name)) continue;
            *alias = &spec->aliases[a];
            return i;
        }
    }
    return -1;
}

static gram_status store_value(parser *p, double value)
{
    if (p->value_count == p->value_capacity) /* every number or word takes two characters of the text */
        return fail_at(p, p->at, GRAM_ERROR_INTERNAL, "more numbers than the text has room for");
    p->values[p->value_count] = value;
    p->fixed[p->value_count++] = 0;
    return GRAM_OK;
}

static gram_status push_value(parser *p)
{
    double value;
    const gram_status status = read_number(p, &value);
    return status < 0 ? status : store_value(p, value);
}

typedef struct list_shape {
    int64_t rows;
    int64_t columns; /* of the first row */
    int64_t in_row;
    size_t mark; /* where an element had a "!", plus 1 */
} list_shape;

/* A row has ended, with ';' or ']'. */
static gram_status close_row(const parser *p, list_shape *shape)
{
    if (shape->rows == 0) shape->columns = shape->in_row;
    if (shape->in_row != shape->columns)
        return fail_at(p, p->at - 1, GRAM_ERROR_SYNTAX, "row %lld has %lld numbers, row 1 has %lld",
                       (long long)shape->rows + 1, (long long)shape->in_row, (long long)shape->columns);
    shape->rows++;
    shape->in_row = 0;
    return GRAM_OK;
}

/* The rest of a list after '['. */
static gram_status read_list(parser *p, list_shape *shape)
{
    gram_status status = GRAM_OK;
    for (;;) {
        TRY(push_value(p));
        shape->in_row++;
        if (accept(p, '!')) {
            p->fixed[p->value_count - 1] = 1;
            shape->mark = p->at;
        }
        if (accept(p, ',')) continue;
        const int semicolon = accept(p, ';');
        if (!semicolon && !accept(p, ']')) {
            status = unexpected(p, "',', ';' or ']'");
            goto done;
        }
        TRY(close_row(p, shape));
        if (!semicolon) break;
    }
done:
    return status;
}

/* A matrix as the value of a parameter. */
static gram_status check_square(const parser *p, size_t start, const list_shape *shape)
{
    if (shape->rows < 2) return GRAM_OK;
    if (shape->rows != shape->columns)
        return fail_at(p, start, GRAM_ERROR_SYNTAX, "a matrix of %lld x %lld numbers is not square",
                       (long long)shape->rows, (long long)shape->columns);
    if (shape->mark)
        return fail_at(p, shape->mark - 1, GRAM_ERROR_SYNTAX,
                       "the numbers of a matrix are held fixed together: put '!' after the bracket");
    return GRAM_OK;
}

/* One of the words that stand for a parameter's values. */
static gram_status push_word(parser *p, const leaf_reader *leaf, const gram_parameter_spec *spec)
{
    char word[PIECE_SIZE], list[PIECE_SIZE] = "";
    (void)peek(p);
    const size_t start = p->at, end = name_end(p);
    size_t used = 0;
    for (int i = 0; spec->words[i]; i++) {
        if (name_is(p, start, end, spec->words[i])) {
            p->at = end;
            return store_value(p, i);
        }
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? " or " : "", spec->words[i]);
    }
    if (end == start) return unexpected(p, list);
    return fail_leaf(p, leaf, start, GRAM_ERROR_SYNTAX, "%s is %s, not '%s'", spec->name, list,
                     piece(p, start, end, word));
}

static gram_status read_value(parser *p, const leaf_reader *leaf, const gram_parameter_spec *spec,
                              gram_argument *argument)
{
    gram_status status = GRAM_OK;
    const int64_t first = p->value_count;
    list_shape shape = {0, 0, 0, 0};
    if (spec->words) {
        TRY(push_word(p, leaf, spec));
    } else if (accept(p, '[')) {
        const size_t start = p->at - 1;
        TRY(read_list(p, &shape));
        TRY(check_square(p, start, &shape));
    } else {
        TRY(push_value(p));
    }
    argument->count = p->value_count - first;
    argument->rows = shape.rows > 1 ? shape.rows : 0;
    argument->set = 1;
    argument->values = p->values + first;
    argument->fixed = p->fixed + first;
    if (accept(p, '!')) memset(argument->fixed, 1, (size_t)argument->count);
done:
    return status;
}

/* Another tool's numbers -> ours. */
static gram_status convert(const parser *p, const leaf_reader *leaf, int spec, const gram_alias *alias, size_t at)
{
    const gram_argument *argument = &leaf->arguments[spec];
    for (int64_t i = 0; alias->convert && i < argument->count; i++) {
        char text[GRAM_NUMBER_SIZE];
        const double value = argument->values[i];
        argument->values[i] = alias->convert(value);
        if (!gram_parameter_allows(&leaf->type->specs[spec], argument->values[i]))
            return fail_leaf(p, leaf, at, GRAM_ERROR_ARGUMENT, "%s = %s is out of its range", alias->name,
                             gram_number_format(value, text));
    }
    return GRAM_OK;
}

/* Parameters that say the same in different words: those of the same spec, a length-scale and a covariance. */
static int same_matter(const gram_kernel_type *type, int a, int b)
{
    const gram_role p = type->specs[a].role, q = type->specs[b].role;
    const int form_a = p == GRAM_ROLE_LENGTH || p == GRAM_ROLE_COVARIANCE;
    const int form_b = q == GRAM_ROLE_LENGTH || q == GRAM_ROLE_COVARIANCE;
    return a == b || (form_a && form_b);
}

static gram_status check_given(const parser *p, const leaf_reader *leaf, int spec, const char *name, size_t at)
{
    for (int i = 0; i < leaf->type->spec_count; i++) {
        if (!leaf->given[i] || !same_matter(leaf->type, i, spec)) continue;
        if (strcmp(leaf->given[i], name) == 0)
            return fail_leaf(p, leaf, at, GRAM_ERROR_SYNTAX, "'%s' is given twice", name);
        return fail_leaf(p, leaf, at, GRAM_ERROR_SYNTAX, "give '%s' or '%s', not both", leaf->given[i], name);
    }
    return GRAM_OK;
}

/* The spec that an argument is for: the one whose name (or *alias) stands in front of '=', otherwise the next. */
static gram_status choose_spec(parser *p, leaf_reader *leaf, int *spec, const gram_alias **alias)
{
    gram_status status = GRAM_OK;
    const size_t start = p->at, end = name_end(p);
    *alias = NULL;
    *spec = -1;
    p->at = end;
    if (end > start && is_letter(p->text[start]) && accept(p, '=')) {
        *spec = find_spec(p, leaf->type, start, end, alias);
        if (*spec < 0) status = unknown_parameter(p, leaf, start, end);
        leaf->named = 1;
        return status;
    }
    p->at = start;
    if (leaf->named)
        return fail_leaf(p, leaf, start, GRAM_ERROR_SYNTAX, "arguments without a name come before those with one");
    if (leaf->positional == leaf->type->spec_count)
        return fail_leaf(p, leaf, start, GRAM_ERROR_SYNTAX, "'%s' takes %d argument%s", leaf->type->name,
                         leaf->type->spec_count, leaf->type->spec_count == 1 ? "" : "s");
    *spec = leaf->positional++;
    return status;
}

static gram_status read_argument(parser *p, leaf_reader *leaf)
{
    gram_status status = GRAM_OK;
    const gram_alias *alias;
    gram_argument argument;
    int spec;
    (void)peek(p);
    const size_t start = p->at;
    TRY(choose_spec(p, leaf, &spec, &alias));
    const char *name = alias ? alias->name : leaf->type->specs[spec].name;
    TRY(read_value(p, leaf, &leaf->type->specs[spec], &argument));
    TRY(check_given(p, leaf, spec, name, start));
    leaf->arguments[spec] = argument;
    leaf->given[spec] = name;
    if (alias) TRY(convert(p, leaf, spec, alias, start));
done:
    return status;
}

static gram_status read_leaf(parser *p, const gram_kernel_type *type, size_t end)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    leaf_reader leaf = {.start = p->at, .type = type};
    const int64_t base = p->value_count;
    p->at = end;
    if (accept(p, '(') && !accept(p, ')')) {
        do TRY(read_argument(p, &leaf));
        while (accept(p, ','));
        if (!accept(p, ')')) {
            status = unexpected(p, "',' or ')'");
            goto done;
        }
    }
    TRY(place(p, leaf.start, gram_kernel_leaf(p->context, leaf.type, leaf.arguments, &kernel)));
    TRY(push(p, kernel));
done:
    p->value_count = base;
    return status;
}

static gram_status read_constant(parser *p)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    double value;
    unsigned char fixed = 0;
    char found[PIECE_SIZE];
    const size_t start = p->at;
    TRY(read_number(p, &value));
    FAIL_IF(value < 0, p->context, GRAM_ERROR_ARGUMENT,
            "kernel: column %zu: '%s' is negative; a constant kernel must be at least 0", start + 1,
            piece(p, start, p->at, found));
    fixed = (unsigned char)accept(p, '!');
    const gram_argument argument = {.count = 1, .set = 1, .values = &value, .fixed = &fixed};
    TRY(place(p, start, gram_kernel_leaf(p->context, &gram_kernel_const, &argument, &kernel)));
    TRY(push(p, kernel));
done:
    return status;
}

/* ---- on ---- */

/* index or index:index, appended to columns[0 .. *count) */
static gram_status read_range(parser *p, int64_t *columns, int64_t *count)
{
    gram_status status = GRAM_OK;
    int64_t first, last;
    (void)peek(p);
    const size_t start = p->at;
    TRY(read_whole(p, "a column", GRAM_KERNEL_MAX_COLUMN, &first));
    last = first;
    if (accept(p, ':')) TRY(read_whole(p, "a column", GRAM_KERNEL_MAX_COLUMN, &last));
    if (last < first)
        return fail_at(p, start, GRAM_ERROR_ARGUMENT, "on: the range %lld:%lld runs backwards", (long long)first,
                       (long long)last);
    if (last - first >= GRAM_KERNEL_MAX_COLUMNS - *count)
        return fail_at(p, start, GRAM_ERROR_ARGUMENT, "on: more than %d columns", GRAM_KERNEL_MAX_COLUMNS);
    for (int64_t column = first; column <= last; column++) columns[(*count)++] = column - 1;
done:
    return status;
}

/* Does a column item come next, and not the kernel? A number is a column if ',' or ':' follows it: the kernel comes
 * last, with ')' after it. */
static int at_column(parser *p)
{
    const char c = peek(p);
    const size_t start = p->at;
    if (c == '[') return 1;
    while (p->at < p->length && is_digit(p->text[p->at])) p->at++;
    const int number = p->at > start;
    const char next = peek(p);
    p->at = start;
    return number && (next == ',' || next == ':');
}

static gram_status read_columns(parser *p, int64_t *columns, int64_t *count)
{
    gram_status status = GRAM_OK;
    *count = 0;
    do {
        if (accept(p, '[')) {
            do TRY(read_range(p, columns, count));
            while (accept(p, ','));
            TRY(expect(p, ']'));
        } else {
            TRY(read_range(p, columns, count));
        }
        if (!accept(p, ',')) {
            status = unexpected(p, "',' and a kernel");
            goto done;
        }
    } while (at_column(p));
done:
    return status;
}

static gram_status read_sum(parser *p);

static gram_status read_inside(parser *p)
{
    if (p->nesting == GRAM_KERNEL_MAX_DEPTH)
        return fail_at(p, p->at, GRAM_ERROR_SYNTAX, "nested deeper than %d levels", GRAM_KERNEL_MAX_DEPTH);
    p->nesting++;
    const gram_status status = read_sum(p);
    p->nesting--;
    return status;
}

static gram_status read_nested(parser *p)
{
    const gram_status status = read_inside(p);
    return status < 0 ? status : expect(p, ')');
}

/* The rest after "on(". */
static gram_status read_on(parser *p, size_t start)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    int64_t *columns = NULL, count;
    const int64_t room = GRAM_KERNEL_MAX_COLUMNS;
    TRY(gram_take(p->context, "kernel: columns", room, sizeof *columns, (void **)&columns));
    TRY(read_columns(p, columns, &count));
    TRY(read_nested(p));
    TRY(place(p, start, gram_kernel_on(p->context, count, columns, p->stack[p->count - 1], &kernel)));
    replace(p, p->count - 1, kernel);
done:
    gram_give(p->context, columns);
    return status;
}

/* ---- exp, normalize, warp ---- */

typedef gram_status (*one_operand)(gram_context *context, gram_kernel *a, gram_kernel **kernel);

/* The rest after "exp(". */
static gram_status read_one(parser *p, size_t start, one_operand make)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    TRY(read_nested(p));
    TRY(place(p, start, make(p->context, p->stack[p->count - 1], &kernel)));
    replace(p, p->count - 1, kernel);
done:
    return status;
}

/* The rest after "warp(". */
static gram_status read_warp(parser *p, size_t start)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    const int64_t base = p->value_count;
    const double *matrix = p->values + base;
    list_shape shape = {0, 0, 0, 0};
    if (!accept(p, '[')) return unexpected(p, "a matrix such as [1,0;0,2]");
    TRY(read_list(p, &shape));
    if (accept(p, '!')) shape.mark = p->at;
    if (shape.mark)
        return fail_at(p, shape.mark - 1, GRAM_ERROR_SYNTAX, "the matrix of a warp is never learnt: leave out the '!'");
    if (!accept(p, ',')) return unexpected(p, "',' and a kernel");
    TRY(read_nested(p));
    TRY(place(p, start,
              gram_kernel_warp(p->context, shape.rows, shape.columns, matrix, p->stack[p->count - 1], &kernel)));
    replace(p, p->count - 1, kernel);
done:
    p->value_count = base;
    return status;
}

/* The rest after "scale(": x_l a(x,y) y_l is the product with the linear kernel of that column, and is printed as that. */
static gram_status read_scale(parser *p, size_t start)
{
    gram_status status = GRAM_OK;
    gram_kernel *linear = NULL, *column = NULL, *kernel = NULL;
    int64_t index;
    (void)peek(p);
    TRY(read_whole(p, "a column", GRAM_KERNEL_MAX_COLUMN, &index));
    if (!accept(p, ',')) return unexpected(p, "',' and a kernel");
    TRY(read_nested(p));
    index--;
    TRY(gram_kernel_parse(p->context, "linear(c=0!)", &linear));
    TRY(place(p, start, gram_kernel_on(p->context, 1, &index, linear, &column)));
    TRY(place(p, start, gram_kernel_multiply(p->context, column, p->stack[p->count - 1], &kernel)));
    replace(p, p->count - 1, kernel);
done:
    gram_kernel_release(linear);
    gram_kernel_release(column);
    return status;
}

/* The rest after "mean(": a kernel, and the number of random frequencies. */
static gram_status read_mean(parser *p, size_t start)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    int64_t frequencies = 0;
    TRY(read_inside(p));
    if (accept(p, ',')) {
        (void)peek(p);
        const size_t at = p->at, end = name_end(p);
        if (!name_is(p, at, end, "fourier")) return unexpected(p, "'fourier='");
        p->at = end;
        TRY(expect(p, '='));
        (void)peek(p);
        TRY(read_whole(p, "fourier", GRAM_KERNEL_MAX_FREQUENCIES, &frequencies));
    }
    TRY(expect(p, ')'));
    TRY(place(p, start, gram_kernel_mean(p->context, p->stack[p->count - 1], (int)frequencies, &kernel)));
    replace(p, p->count - 1, kernel);
done:
    return status;
}

/* The rest after "after(". */
static gram_status read_after(parser *p, size_t start)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    TRY(read_inside(p));
    if (!accept(p, ',')) return unexpected(p, "',' and a kernel of the distance");
    TRY(read_nested(p));
    TRY(place(p, start, gram_kernel_after(p->context, p->stack[p->count - 2], p->stack[p->count - 1], &kernel)));
    replace(p, p->count - 2, kernel);
done:
    return status;
}

/* ---- expressions ---- */

static gram_status read_exp(parser *p, size_t start)
{
    return read_one(p, start, gram_kernel_exp);
}

static gram_status read_normalize(parser *p, size_t start)
{
    return read_one(p, start, gram_kernel_normalize);
}

static gram_status read_centre(parser *p, size_t start)
{
    return read_one(p, start, gram_kernel_centre_later);
}

/* Names that no kernel of the table can have, what belongs after them, and who reads that after the '('. */
static const struct {
    const char *word;
    const char *needs;
    gram_status (*read)(parser *p, size_t start);
} WORDS[] = {
    {"on", "columns and a kernel: on(1:2, rbf)", read_on},
    {"exp", "a kernel: exp(rbf)", read_exp},
    {"normalize", "a kernel: normalize(poly)", read_normalize},
    {"warp", "a matrix and a kernel: warp([1,0;0,2], rbf)", read_warp},
    {"scale", "a column and a kernel: scale(2, rbf)", read_scale},
    {"centre", "a kernel: centre(rbf)", read_centre},
    {"mean", "a kernel of the rows of bags: mean(rbf)", read_mean},
    {"after", "a kernel and one of the distance that it makes: after(mean(rbf), rbf)", read_after},
};

static gram_status unknown_kernel(const parser *p, size_t from, size_t to)
{
    const char *names[MAX_CANDIDATES];
    char word[PIECE_SIZE];
    size_t count = 0;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) names[count++] = WORDS[i].word;
    for (int i = 0; gram_kernel_type_get(i) && count < MAX_CANDIDATES; i++)
        names[count++] = gram_kernel_type_get(i)->name;
    const char *near = gram_suggest(piece(p, from, to, word), names, count);
    return near ? fail_at(p, from, GRAM_ERROR_SYNTAX, "no kernel '%s', did you mean '%s'?", word, near)
                : fail_at(p, from, GRAM_ERROR_SYNTAX, "no kernel '%s'", word);
}

static gram_status read_name(parser *p)
{
    const size_t start = p->at, end = name_end(p);
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        if (!name_is(p, start, end, WORDS[i].word)) continue;
        p->at = end;
        if (!accept(p, '('))
            return fail_at(p, start, GRAM_ERROR_SYNTAX, "'%s' needs %s", WORDS[i].word, WORDS[i].needs);
        return WORDS[i].read(p, start);
    }
    const gram_kernel_type *type = gram_kernel_type_find(p->text + start, end - start);
    return type ? read_leaf(p, type, end) : unknown_kernel(p, start, end);
}

/* The end of "<scale f, <callback g>>", which starts at p->at. */
static size_t angle_end(const parser *p)
{
    size_t end = p->at;
    int open = 0;
    do {
        open += p->text[end] == '<';
        open -= p->text[end] == '>';
    } while (++end < p->length && open > 0);
    return end;
}

static gram_status read_atom(parser *p)
{
    const char c = peek(p);
    if (accept(p, '(')) return read_nested(p);
    if (is_digit(c) || c == '.' || c == '-') return read_constant(p);
    if (is_letter(c)) return read_name(p);
    if (c == '<') {
        char found[PIECE_SIZE];
        return fail_at(p, p->at, GRAM_ERROR_SYNTAX,
                       "'%s' stands for a kernel that exists in C only; no text can be read as it",
                       piece(p, p->at, angle_end(p), found));
    }
    return unexpected(p, "a kernel");
}

static gram_status read_power(parser *p)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    int64_t m;
    TRY(read_atom(p));
    if (!accept(p, '^')) goto done;
    (void)peek(p);
    const size_t at = p->at;
    TRY(read_whole(p, "an exponent", GRAM_KERNEL_MAX_POWER, &m));
    if (p->at < p->length && (p->text[p->at] == '.' || is_letter(p->text[p->at])))
        return fail_at(p, at, GRAM_ERROR_SYNTAX, "the exponent must be a whole number");
    if (peek(p) == '^') return fail_at(p, p->at, GRAM_ERROR_SYNTAX, "a power of a power needs parentheses: (a^2)^3");
    TRY(place(p, at, gram_kernel_power(p->context, p->stack[p->count - 1], (int)m, &kernel)));
    replace(p, p->count - 1, kernel);
done:
    return status;
}

/* What lies above `base` becomes one sum or product. */
static gram_status combine(parser *p, gram_node node, int base, size_t at)
{
    gram_kernel *kernel = NULL;
    const gram_status status =
        place(p, at, gram_kernel_combine(p->context, node, p->count - base, p->stack + base, &kernel));
    if (status >= 0) replace(p, base, kernel);
    return status;
}

static gram_status read_product(parser *p)
{
    gram_status status = GRAM_OK;
    const int base = p->count;
    (void)peek(p);
    const size_t at = p->at;
    do TRY(read_power(p));
    while (accept(p, '*'));
    TRY(combine(p, GRAM_NODE_PRODUCT, base, at));
done:
    return status;
}

static gram_status read_sum(parser *p)
{
    gram_status status = GRAM_OK;
    const int base = p->count;
    (void)peek(p);
    const size_t at = p->at;
    do TRY(read_product(p));
    while (accept(p, '+'));
    TRY(combine(p, GRAM_NODE_SUM, base, at));
done:
    return status;
}

static gram_status read_all(parser *p)
{
    gram_status status = GRAM_OK;
    TRY(read_sum(p));
    if (peek(p) == '-') return fail_at(p, p->at, GRAM_ERROR_SYNTAX, "'-': a difference of kernels is not a kernel");
    if (p->at < p->length) status = unexpected(p, "'+', '*', '^' or the end");
done:
    return status;
}

gram_status gram_kernel_parse(gram_context *context, const char *text, gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    parser p = {.context = context, .text = text};
    if (!context || !kernel) return GRAM_ERROR_ARGUMENT;
    *kernel = NULL;
    FAIL_IF(!text, context, GRAM_ERROR_ARGUMENT, "kernel_parse: text is NULL");
    p.length = strlen(text);
    FAIL_IF(p.length > GRAM_KERNEL_MAX_TEXT, context, GRAM_ERROR_SYNTAX,
            "kernel: the text has %zu characters, more than the limit of %d", p.length, GRAM_KERNEL_MAX_TEXT);
    p.value_capacity = (int64_t)p.length / 2 + 1;
    TRY(gram_take(context, "kernel: numbers", p.value_capacity, sizeof *p.values, (void **)&p.values));
    TRY(gram_take(context, "kernel: marks", p.value_capacity, sizeof *p.fixed, (void **)&p.fixed));
    TRY(gram_take(context, "kernel: terms", GRAM_KERNEL_MAX_SIZE, sizeof(gram_kernel *), (void **)&p.stack));
    TRY(read_all(&p));
    *kernel = p.stack[--p.count];
done:
    replace(&p, 0, NULL);
    gram_give(context, p.stack);
    gram_give(context, p.fixed);
    gram_give(context, p.values);
    return status;
}
