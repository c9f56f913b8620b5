/* Kernels in the words of other tools: a table of templates by kernel and tool, and how each tool joins terms.
 *
 * In a template, {ell} is a parameter and {gamma:ell} a parameter after a conversion of the list below; {ard} and {on}
 * are GPyTorch's arguments for several length-scales and for chosen columns. The first row that applies is taken.
 *
 * Where the definitions were read: scikit-learn 1.2 (each row was compared with gram's formula in numbers), LIBSVM's
 * README, GPyTorch's sources (PeriodicKernel divides by its lengthscale, not by its square; CosineKernel has half our
 * period; both are compared as of 1.6; PiecewisePolynomialKernel takes its dimension from the columns it sees), kernlab's manual page "dots", liquidSVM's kernel_functions. */
#include <math.h>
#include <string.h>

#include "kernel/kernel.h"
#include <gram/text.h>
#include <gram/words.h>

/* ---- the tables ---- */

enum {
    ONE_ELL = 1,    /* a single length-scale only */
    ONE_COLUMN = 2, /* equal on R^1 only */
    C_ZERO = 4,     /* c = 0 */
    C_POSITIVE = 8, /* c > 0 */
    NU_HALVES = 16, /* nu = 1/2, 3/2 or 5/2 */
    NU_HALF = 32    /* nu = 1/2 */
};

typedef struct word {
    const char *kernel;
    gram_tool tool;
    unsigned needs;
    const char *text;
} word;

static const word WORDS[] = {
    {"const", GRAM_TOOL_SCIKIT_LEARN, 0, "ConstantKernel({c})"},
    {"white", GRAM_TOOL_SCIKIT_LEARN, 0, "WhiteKernel(noise_level=1)"},
    {"linear", GRAM_TOOL_SCIKIT_LEARN, C_ZERO, "PairwiseKernel(metric='linear')"},
    {"linear", GRAM_TOOL_SCIKIT_LEARN, 0, "DotProduct(sigma_0={sqrt:c})"},
    {"poly", GRAM_TOOL_SCIKIT_LEARN, C_ZERO,
     "PairwiseKernel(metric='poly', gamma=1, pairwise_kernels_kwargs={'degree': {m}, 'coef0': 0})"},
    {"poly", GRAM_TOOL_SCIKIT_LEARN, 0, "DotProduct(sigma_0={sqrt:c})**{m}"},
    {"rbf", GRAM_TOOL_SCIKIT_LEARN, 0, "RBF(length_scale={ell})"},
    {"laplace", GRAM_TOOL_SCIKIT_LEARN, 0, "Matern(length_scale={ell}, nu=0.5)"},
    {"laplace1", GRAM_TOOL_SCIKIT_LEARN, ONE_ELL, "PairwiseKernel(metric='laplacian', gamma={inverse:ell})"},
    {"matern", GRAM_TOOL_SCIKIT_LEARN, 0, "Matern(length_scale={ell}, nu={nu})"},
    {"rq", GRAM_TOOL_SCIKIT_LEARN, ONE_ELL, "RationalQuadratic(length_scale={ell}, alpha={alpha})"},
    {"periodic", GRAM_TOOL_SCIKIT_LEARN, ONE_ELL | ONE_COLUMN, "ExpSineSquared(length_scale={ell}, periodicity={p})"},
    {"chi2", GRAM_TOOL_SCIKIT_LEARN, 0, "PairwiseKernel(metric='chi2', gamma={g})"},
    {"sigmoid", GRAM_TOOL_SCIKIT_LEARN, 0,
     "PairwiseKernel(metric='sigmoid', gamma={a}, pairwise_kernels_kwargs={'coef0': {c}})"},

    {"linear", GRAM_TOOL_SCIKIT_LEARN_SVM, C_ZERO, "SVC(kernel='linear')"},
    {"linear", GRAM_TOOL_SCIKIT_LEARN_SVM, 0, "SVC(kernel='poly', degree=1, gamma=1, coef0={c})"},
    {"poly", GRAM_TOOL_SCIKIT_LEARN_SVM, 0, "SVC(kernel='poly', degree={m}, gamma=1, coef0={c})"},
    {"rbf", GRAM_TOOL_SCIKIT_LEARN_SVM, ONE_ELL, "SVC(kernel='rbf', gamma={gamma:ell})"},
    {"sigmoid", GRAM_TOOL_SCIKIT_LEARN_SVM, 0, "SVC(kernel='sigmoid', gamma={a}, coef0={c})"},

    {"linear", GRAM_TOOL_LIBSVM, C_ZERO, "-t 0"},
    {"linear", GRAM_TOOL_LIBSVM, 0, "-t 1 -d 1 -g 1 -r {c}"},
    {"poly", GRAM_TOOL_LIBSVM, 0, "-t 1 -d {m} -g 1 -r {c}"},
    {"rbf", GRAM_TOOL_LIBSVM, ONE_ELL, "-t 2 -g {gamma:ell}"},
    {"sigmoid", GRAM_TOOL_LIBSVM, 0, "-t 3 -g {a} -r {c}"},

    {"const", GRAM_TOOL_GPYTORCH, C_POSITIVE, "ConstantKernel().initialize(constant=torch.tensor({c}))"},
    {"linear", GRAM_TOOL_GPYTORCH, C_ZERO, "LinearKernel({on}).initialize(variance=1)"},
    {"linear", GRAM_TOOL_GPYTORCH, C_POSITIVE, "PolynomialKernel(power=1{,on}).initialize(offset={c})"},
    {"poly", GRAM_TOOL_GPYTORCH, C_POSITIVE, "PolynomialKernel(power={m}{,on}).initialize(offset={c})"},
    {"rbf", GRAM_TOOL_GPYTORCH, 0, "RBFKernel({ard}{on}).initialize(lengthscale={ell})"},
    {"laplace", GRAM_TOOL_GPYTORCH, 0, "MaternKernel(nu=0.5{,ard}{,on}).initialize(lengthscale={ell})"},
    {"laplace1", GRAM_TOOL_GPYTORCH, ONE_ELL | ONE_COLUMN, "MaternKernel(nu=0.5{,on}).initialize(lengthscale={ell})"},
    {"matern", GRAM_TOOL_GPYTORCH, NU_HALVES, "MaternKernel(nu={nu}{,ard}{,on}).initialize(lengthscale={ell})"},
    {"rq", GRAM_TOOL_GPYTORCH, 0, "RQKernel({ard}{on}).initialize(lengthscale={ell}, alpha={alpha})"},
    {"periodic", GRAM_TOOL_GPYTORCH, ONE_ELL,
     "PeriodicKernel({on}).initialize(period_length={p}, lengthscale={square:ell})"},
    {"wendland", GRAM_TOOL_GPYTORCH, 0, "PiecewisePolynomialKernel(q={k}{,ard}{,on}).initialize(lengthscale={ell})"},
    {"cosine", GRAM_TOOL_GPYTORCH, ONE_COLUMN, "CosineKernel({on}).initialize(period_length={half:p})"},

    {"linear", GRAM_TOOL_KERNLAB, C_ZERO, "vanilladot()"},
    {"linear", GRAM_TOOL_KERNLAB, 0, "polydot(degree=1, scale=1, offset={c})"},
    {"poly", GRAM_TOOL_KERNLAB, 0, "polydot(degree={m}, scale=1, offset={c})"},
    {"rbf", GRAM_TOOL_KERNLAB, ONE_ELL, "rbfdot(sigma={gamma:ell})"},
    {"laplace", GRAM_TOOL_KERNLAB, ONE_ELL, "laplacedot(sigma={inverse:ell})"},
    {"laplace1", GRAM_TOOL_KERNLAB, ONE_ELL | ONE_COLUMN, "laplacedot(sigma={inverse:ell})"},
    {"matern", GRAM_TOOL_KERNLAB, ONE_ELL | NU_HALF, "laplacedot(sigma={inverse:ell})"},
    {"sigmoid", GRAM_TOOL_KERNLAB, 0, "tanhdot(scale={a}, offset={c})"},

    {"rbf", GRAM_TOOL_LIQUIDSVM, ONE_ELL, "KERNEL=GAUSS_RBF gamma={width:ell}"},
    {"laplace", GRAM_TOOL_LIQUIDSVM, ONE_ELL, "KERNEL=POISSON gamma={ell}"},
    {"laplace1", GRAM_TOOL_LIQUIDSVM, ONE_ELL | ONE_COLUMN, "KERNEL=POISSON gamma={ell}"},
    {"matern", GRAM_TOOL_LIQUIDSVM, ONE_ELL | NU_HALF, "KERNEL=POISSON gamma={ell}"},
};

/* How a tool joins kernels; NULL: it does not. */
typedef struct joining {
    const char *name;
    const char *sum, *product, *power;
    int columns;              /* a leaf may be given its columns */
    const char *list, *close; /* around the numbers of a list */
} joining;

static const joining TOOLS[GRAM_TOOL_COUNT] = {
    [GRAM_TOOL_SCIKIT_LEARN] = {"scikit-learn", " + ", " * ", "**", 0, "[", "]"},
    [GRAM_TOOL_SCIKIT_LEARN_SVM] = {"scikit-learn SVC", NULL, NULL, NULL, 0, NULL, NULL},
    [GRAM_TOOL_LIBSVM] = {"LIBSVM", NULL, NULL, NULL, 0, NULL, NULL},
    [GRAM_TOOL_GPYTORCH] = {"GPyTorch", " + ", " * ", NULL, 1, "torch.tensor([", "])"},
    [GRAM_TOOL_KERNLAB] = {"kernlab", NULL, NULL, NULL, 0, NULL, NULL},
    [GRAM_TOOL_LIQUIDSVM] = {"liquidSVM", NULL, NULL, NULL, 0, NULL, NULL},
};

static double to_gamma(double ell)
{
    return (double)(0.5L / ((long double)ell * ell)); /* rounded once: 5.555555555555556 for 0.3 */
}

static double to_width(double ell)
{
    return sqrt(2.0) * ell;
}

static double to_inverse(double value)
{
    return 1 / value;
}

static double to_square(double value)
{
    return value * value;
}

static double to_half(double value)
{
    return 0.5 * value;
}

typedef struct conversion {
    const char *name;
    double (*convert)(double value);
} conversion;

static const conversion CONVERSIONS[] = {{"gamma", to_gamma},   {"width", to_width}, {"inverse", to_inverse},
                                         {"square", to_square}, {"half", to_half},   {"sqrt", sqrt}};

/* ---- writing ---- */

typedef struct writer {
    char *text;
    size_t size;
    size_t length; /* of the whole, whether it fits or not */
    gram_tool tool;
    int missing; /* something has no words */
} writer;

static void put_bytes(writer *w, const char *piece, size_t length)
{
    if (w->length < w->size) {
        const size_t left = w->size - w->length;
        memcpy(w->text + w->length, piece, length < left ? length : left);
    }
    w->length += length;
}

static void put(writer *w, const char *piece)
{
    put_bytes(w, piece, strlen(piece));
}

static void put_number(writer *w, double value)
{
    char text[GRAM_NUMBER_SIZE];
    if (!isfinite(value)) w->missing = 1; /* a conversion overflowed */
    put(w, gram_number_format(value, text));
}

static const gram_argument *find_argument(const gram_kernel *leaf, const char *name, size_t length)
{
    for (int i = 0; i < leaf->type->spec_count; i++)
        if (strlen(leaf->type->specs[i].name) == length && memcmp(leaf->type->specs[i].name, name, length) == 0)
            return &leaf->arguments[i];
    return NULL;
}

static void put_argument(writer *w, const gram_argument *argument, double (*convert)(double))
{
    const int list = argument->count > 1;
    if (list) put(w, TOOLS[w->tool].list);
    for (int64_t i = 0; i < argument->count; i++) {
        if (i > 0) put(w, ", ");
        put_number(w, convert ? convert(argument->values[i]) : argument->values[i]);
    }
    if (list) put(w, TOOLS[w->tool].close);
}

/* ard_num_dims=2 */
static int put_ard(writer *w, const gram_kernel *leaf, const char *before)
{
    const gram_argument *length = gram_kernel_argument(leaf, GRAM_ROLE_LENGTH);
    if (!length || length->count < 2) return 0;
    put(w, before);
    put(w, "ard_num_dims=");
    put_number(w, (double)length->count);
    return 1;
}

/* active_dims=(0, 2), which counts from 0; a single one needs a comma */
static void put_columns(writer *w, const gram_view *view, const char *before)
{
    if (!view->columns) return;
    put(w, before);
    put(w, "active_dims=(");
    for (int64_t i = 0; i < view->d; i++) {
        if (i > 0) put(w, " ");
        put_number(w, (double)view->columns[i]);
        if (i + 1 < view->d || i == 0) put(w, ",");
    }
    put(w, ")");
}

static int is_word(const char *text, size_t length, const char *wanted)
{
    return strlen(wanted) == length && memcmp(text, wanted, length) == 0;
}

/* {name}, {conversion:name}, {ard}, {on}; with a comma before the last two: ", " comes before what they print */
static void put_field(writer *w, const gram_kernel *leaf, const gram_view *view, const char *field, size_t length,
                      int *printed)
{
    double (*convert)(double) = NULL;
    const int comma = field[0] == ',';
    const char *name = field + comma, *before = comma || *printed ? ", " : "";
    size_t name_length = length - (size_t)comma;
    if (is_word(name, name_length, "ard")) {
        *printed = put_ard(w, leaf, before);
        return;
    }
    if (is_word(name, name_length, "on")) {
        put_columns(w, view, before);
        return;
    }
    const char *colon = memchr(name, ':', name_length);
    if (colon) {
        for (size_t i = 0; i < sizeof CONVERSIONS / sizeof *CONVERSIONS; i++)
            if (is_word(name, (size_t)(colon - name), CONVERSIONS[i].name)) convert = CONVERSIONS[i].convert;
        name_length -= (size_t)(colon + 1 - name);
        name = colon + 1;
    }
    const gram_argument *argument = find_argument(leaf, name, name_length);
    if (argument && (!colon || convert))
        put_argument(w, argument, convert);
    else
        w->missing = 1; /* a parameter of another name than the table thinks */
}

/* The end of a field that starts at `open`: its closing brace, if only letters, ":" and "," lie between. */
static const char *field_end(const char *open)
{
    const char *at = open + 1;
    while ((*at >= 'a' && *at <= 'z') || *at == ':' || *at == ',') at++;
    return *at == '}' && at > open + 1 ? at : NULL;
}

static void put_template(writer *w, const gram_kernel *leaf, const gram_view *view, const char *text)
{
    int printed = 0;
    while (*text) {
        const char *open = strchr(text, '{'), *end = open ? field_end(open) : NULL;
        const size_t plain = end ? (size_t)(open - text) : open ? (size_t)(open - text) + 1 : strlen(text);
        put_bytes(w, text, plain);
        text += plain;
        if (!end) continue;
        put_field(w, leaf, view, open + 1, (size_t)(end - open - 1), &printed);
        text = end + 1;
    }
}

/* ---- leaves ---- */

static double number(const gram_kernel *leaf, const char *name)
{
    const gram_argument *argument = find_argument(leaf, name, strlen(name));
    return argument && argument->count == 1 ? argument->values[0] : NAN;
}

static int applies(const word *row, const gram_kernel *leaf, const gram_view *view)
{
    const gram_argument *length = gram_kernel_argument(leaf, GRAM_ROLE_LENGTH);
    const double nu = number(leaf, "nu"), c = number(leaf, "c");
    if (row->needs & ONE_ELL && length && length->count > 1) return 0;
    if (row->needs & ONE_COLUMN && view->d > 1) return 0;
    if (row->needs & C_ZERO && c != 0) return 0;
    if (row->needs & C_POSITIVE && !(c > 0)) return 0;
    if (row->needs & NU_HALVES && nu != 0.5 && nu != 1.5 && nu != 2.5) return 0;
    if (row->needs & NU_HALF && nu != 0.5) return 0;
    return 1;
}

/* All numbers set, and no full covariance, which none of the tools has. */
static int is_complete(const gram_kernel *leaf)
{
    for (int i = 0; i < leaf->type->spec_count; i++)
        if (leaf->arguments[i].count > 0 && !leaf->arguments[i].set) return 0;
    return !gram_kernel_argument(leaf, GRAM_ROLE_COVARIANCE);
}

static void put_leaf(writer *w, const gram_kernel *leaf, const gram_view *view)
{
    w->missing |= !is_complete(leaf) || (view->columns && !TOOLS[w->tool].columns);
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS && !w->missing; i++) {
        if (WORDS[i].tool != w->tool || strcmp(WORDS[i].kernel, leaf->type->name) != 0) continue;
        if (!applies(&WORDS[i], leaf, view)) continue;
        put_template(w, leaf, view, WORDS[i].text);
        return;
    }
    w->missing = 1;
}

/* ---- the tree ---- */

static gram_status put_kernel(gram_context *context, writer *w, const gram_kernel *kernel, const gram_view *view);

/* As an operand of `outer`, in parentheses if it binds less. A leaf of one power prints as a power itself. */
static gram_status put_operand(gram_context *context, writer *w, gram_node outer, const gram_kernel *kernel,
                               const gram_view *view)
{
    gram_status status = GRAM_OK;
    const int sum = kernel->node == GRAM_NODE_SUM, leaf = kernel->node == GRAM_NODE_LEAF;
    const int power = outer == GRAM_NODE_POWER && (!leaf || strcmp(kernel->type->name, "poly") == 0);
    const int parentheses = power || (outer == GRAM_NODE_PRODUCT && sum);
    if (parentheses) put(w, "(");
    TRY(put_kernel(context, w, kernel, view));
    if (parentheses) put(w, ")");
done:
    return status;
}

static gram_status put_on(gram_context *context, writer *w, const gram_kernel *kernel, const gram_view *view)
{
    gram_status status = GRAM_OK;
    gram_view inner = {.d = 0};
    TRY(gram_view_enter(context, kernel, view, &inner));
    TRY(put_kernel(context, w, kernel->children[0], &inner));
done:
    gram_view_leave(context, &inner);
    return status;
}

static gram_status put_kernel(gram_context *context, writer *w, const gram_kernel *kernel, const gram_view *view)
{
    gram_status status = GRAM_OK;
    const joining *tool = &TOOLS[w->tool];
    const char *between = kernel->node == GRAM_NODE_SUM ? tool->sum : tool->product;
    if (w->missing) return GRAM_OK;
    switch (kernel->node) {
    case GRAM_NODE_LEAF: put_leaf(w, kernel, view); break;
    case GRAM_NODE_ON: return put_on(context, w, kernel, view);
    case GRAM_NODE_POWER:
        TRY(put_operand(context, w, GRAM_NODE_POWER, kernel->children[0], view));
        w->missing |= !tool->power;
        if (w->missing) break;
        put(w, tool->power);
        put_number(w, kernel->exponent);
        break;
    case GRAM_NODE_SUM:
    case GRAM_NODE_PRODUCT:
        w->missing |= !between;
        for (int i = 0; i < kernel->child_count && !w->missing; i++) {
            if (i > 0) put(w, between);
            TRY(put_operand(context, w, kernel->node, kernel->children[i], view));
        }
        break;
    default: w->missing = 1;
    }
done:
    return status;
}

const char *gram_tool_name(gram_tool tool)
{
    return (int)tool >= 0 && (int)tool < GRAM_TOOL_COUNT ? TOOLS[tool].name : NULL;
}

gram_status gram_kernel_words(gram_context *context, const gram_kernel *kernel, int64_t d, gram_tool tool, char *text,
                              size_t size, size_t *length)
{
    gram_status status = GRAM_OK;
    writer w = {.text = text, .size = size, .tool = tool};
    const gram_view view = {.d = d};
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!length, context, GRAM_ERROR_ARGUMENT, "kernel_words: length is NULL");
    *length = 0;
    FAIL_IF(size > 0 && !text, context, GRAM_ERROR_ARGUMENT, "kernel_words: text is NULL");
    if (size > 0) text[0] = '\0';
    FAIL_IF(!gram_tool_name(tool), context, GRAM_ERROR_ARGUMENT, "kernel_words: tool = %d is not a valid tool",
            (int)tool);
    TRY(gram_kernel_check_dimension(context, kernel, d));
    TRY(put_kernel(context, &w, kernel, &view));
    *length = w.missing ? 0 : w.length;
    if (size > 0) text[*length < size ? *length : size - 1] = '\0';
done:
    return status;
}

gram_status gram_kernel_append_words(gram_context *context, const gram_kernel *kernel, int64_t d, gram_tool tool,
                                     gram_string *text)
{
    gram_status status = GRAM_OK;
    size_t length, start;
    TRY(gram_kernel_words(context, kernel, d, tool, NULL, 0, &length));
    start = text->length;
    for (size_t i = 0; i < length; i++) gram_string_put(text, " ", 1);
    if (length > 0 && !text->failed)
        TRY(gram_kernel_words(context, kernel, d, tool, text->data + start, length + 1, &length));
done:
    return status;
}
