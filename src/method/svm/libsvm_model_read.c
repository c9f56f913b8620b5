/* Models from LIBSVM's text.
 *
 *     svm_type c_svc            one line for each key, in any order, up to SV
 *     kernel_type rbf
 *     gamma 0.5
 *     nr_class 2
 *     total_sv 3
 *     rho 0.1                   one for each pair of classes (0,1), (0,2), ..., (1,2), ...: f = sum_i a_i k(x_i, x) - rho
 *     label 1 -1                in the order of their first appearance
 *     probA -1.5  probB 0.1     P(first of the pair) = 1/(1 + exp(A f + B))
 *     nr_sv 1 2
 *     SV
 *     0.5 1:0.2 4:1             coefficients, one for each other class; then what is not 0, indices from 1
 *
 * The header is cut into lines first and understood when all of it is known. The support vectors are read twice, once to
 * check them and to find the greatest index, once to put them where they stay: so memory is taken when it is known that the
 * file is worth it. Every line must end: a file that was cut off anywhere is found out. */
#include "method/svm/libsvm_model.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/number.h"
#include "data/byte_source.h"
#include "function/function.h"
#include "model/model.h"
#include <gram/libsvm.h>
#include <gram/text.h>

const gram_libsvm_machine gram_libsvm_machines[GRAM_LIBSVM_MACHINES] = {{"c_svc", "classification", "c"},
                                                                        {"nu_svc", "classification", "nu"},
                                                                        {"one_class", "one-class", "one-class"},
                                                                        {"epsilon_svr", "regression", "epsilon"},
                                                                        {"nu_svr", "regression", "nu"}};

const char *const gram_libsvm_forms[GRAM_LIBSVM_FORMS] = {"linear", "polynomial", "rbf", "sigmoid"};

enum {
    MOST_INDEX = 1 << 24, /* as in data files */
    MOST_DEGREE = 64,     /* of poly */
    NAME_SIZE = 24,
    NUMBERS_PER_BYTE = 256,  /* of the file, ... */
    NUMBERS_AT_LEAST = 65536 /* ... which any file may have */
};

/* ---- lines and words ---- */

typedef struct words {
    const char *text; /* what is left of a line; NULL: there is no such line */
    size_t length;
    int64_t line; /* from 1 */
} words;

typedef struct token {
    const char *text;
    size_t length;
} token;

typedef enum key {
    SVM_TYPE,
    KERNEL_TYPE,
    DEGREE,
    GAMMA,
    COEF0,
    NR_CLASS,
    TOTAL_SV,
    RHO,
    LABEL,
    PROB_A,
    PROB_B,
    DENSITY,
    NR_SV,
    KEYS
} key;

static const char *const KEY_NAMES[KEYS] = {"svm_type", "kernel_type",        "degree", "gamma", "coef0",
                                            "nr_class", "total_sv",           "rho",    "label", "probA",
                                            "probB",    "prob_density_marks", "nr_sv"};

typedef struct reader {
    gram_context *context;
    const char *name;
    const char *text; /* the file */
    size_t length, at;
    int64_t line; /* lines before text[at] */
    words header[KEYS];
    size_t body; /* where the support vectors start */
    int64_t body_line;

    const gram_libsvm_machine *machine;
    gram_libsvm_kernel kernel;
    int64_t classes; /* 0: no classifier */
    int64_t outputs, coefficients, n, d;
    double *labels;  /* classes of them, in the file's order */
    int64_t *places; /* of these classes in ascending order */
    int64_t *counts; /* support vectors of each */
    gram_function *function;
} reader;

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static token next_word(words *w)
{
    while (w->length > 0 && is_space(w->text[0])) w->text++, w->length--;
    token t = {w->text, 0};
    while (t.length < w->length && !is_space(t.text[t.length])) t.length++;
    w->text += t.length;
    w->length -= t.length;
    return t;
}

static int is_word(token t, const char *word)
{
    return strlen(word) == t.length && memcmp(t.text, word, t.length) == 0;
}

static gram_status bad_word(const reader *r, int64_t line, token t, const char *what)
{
    char text[GRAM_EXCERPT_SIZE];
    return gram_fail(r->context, GRAM_ERROR_DATA, "%s:%" PRId64 ": %s: '%s'", r->name, line, what,
                     gram_data_excerpt(t.text, t.length, text));
}

static gram_status bad_line(const reader *r, int64_t line, const char *what)
{
    return gram_fail(r->context, GRAM_ERROR_DATA, "%s:%" PRId64 ": %s", r->name, line, what);
}

/* The next line; its text is NULL at the end. */
static gram_status next_line(reader *r, words *line)
{
    gram_status status = GRAM_OK;
    *line = (words){NULL, 0, r->line + 1};
    if (r->at == r->length) return GRAM_OK;
    const char *start = r->text + r->at, *end = memchr(start, '\n', r->length - r->at);
    if (!end) return bad_line(r, line->line, "the line does not end: is the file cut off?");
    *line = (words){start, (size_t)(end - start), ++r->line};
    r->at += line->length + 1;
    if (r->line % 4096 == 0) TRY(gram_pulse(r->context, "reading", (double)r->at / (double)r->length));
done:
    return status;
}

/* A finite number that is the whole word. */
static gram_status read_number(const reader *r, int64_t line, token t, double *value)
{
    if (t.length == 0) return bad_line(r, line, "a number is missing");
    if (gram_number_read(t.text, t.length, value) != t.length) return bad_word(r, line, t, "not a number");
    if (!isfinite(*value)) return bad_word(r, line, t, "not a finite number");
    return GRAM_OK;
}

static gram_status read_integer(const reader *r, int64_t line, token t, double least, double most, int64_t *value)
{
    gram_status status = GRAM_OK;
    double number;
    TRY(read_number(r, line, t, &number));
    if (number != floor(number)) return bad_word(r, line, t, "not a whole number");
    if (number < least || number > most) return bad_word(r, line, t, "the number is out of its range");
    *value = (int64_t)number;
done:
    return status;
}

static gram_status end_of_line(const reader *r, words *w)
{
    const token more = next_word(w);
    return more.length > 0 ? bad_word(r, w->line, more, "more than belongs on this line") : GRAM_OK;
}

/* ---- the header ---- */

static int find_key(token t)
{
    for (int k = 0; k < KEYS; k++)
        if (is_word(t, KEY_NAMES[k])) return k;
    return KEYS;
}

/* Cuts the header into lines, up to SV. */
static gram_status find_header(reader *r)
{
    gram_status status = GRAM_OK;
    for (;;) {
        words line;
        TRY(next_line(r, &line));
        FAIL_IF(!line.text, r->context, GRAM_ERROR_DATA, "%s: the file ends before its support vectors", r->name);
        const token word = next_word(&line);
        if (word.length == 0) continue;
        if (is_word(word, "SV")) {
            TRY(end_of_line(r, &line));
            break;
        }
        const int k = find_key(word);
        if (k == KEYS) {
            const int first = line.line == 1;
            TRY(bad_word(r, line.line, word, first ? "this is not a model of LIBSVM" : "not a key of LIBSVM's models"));
        }
        if (r->header[k].text) TRY(bad_word(r, line.line, word, "the key is given twice"));
        r->header[k] = line;
    }
    r->body = r->at;
    r->body_line = r->line;
done:
    return status;
}

static gram_status want(const reader *r, key k)
{
    if (r->header[k].text) return GRAM_OK;
    return gram_fail(r->context, GRAM_ERROR_DATA, "%s: the key '%s' is missing", r->name, KEY_NAMES[k]);
}

/* The only word of a key's line. */
static gram_status only_word(const reader *r, key k, token *word)
{
    gram_status status = GRAM_OK;
    TRY(want(r, k));
    words w = r->header[k];
    *word = next_word(&w);
    TRY(end_of_line(r, &w));
done:
    return status;
}

static gram_status only_integer(const reader *r, key k, double least, double most, int64_t *value)
{
    gram_status status = GRAM_OK;
    token word;
    TRY(only_word(r, k, &word));
    TRY(read_integer(r, r->header[k].line, word, least, most, value));
done:
    return status;
}

static gram_status only_number(const reader *r, key k, double *value)
{
    gram_status status = GRAM_OK;
    token word;
    TRY(only_word(r, k, &word));
    TRY(read_number(r, r->header[k].line, word, value));
done:
    return status;
}

static gram_status read_machine(reader *r)
{
    gram_status status = GRAM_OK;
    token word;
    TRY(only_word(r, SVM_TYPE, &word));
    for (int i = 0; i < GRAM_LIBSVM_MACHINES; i++)
        if (is_word(word, gram_libsvm_machines[i].name)) r->machine = &gram_libsvm_machines[i];
    if (!r->machine) TRY(bad_word(r, r->header[SVM_TYPE].line, word, "no such machine"));
    TRY(only_integer(r, NR_CLASS, 0, INT32_MAX, &r->classes));
    TRY(only_integer(r, TOTAL_SV, 0, INT32_MAX, &r->n));
    const int classifier = strcmp(r->machine->task, "classification") == 0;
    FAIL_IF(classifier && (r->classes < 2 || r->classes > GRAM_LIBSVM_MOST_CLASSES), r->context, GRAM_ERROR_DATA,
            "%s:%" PRId64 ": a classifier of %" PRId64 " class%s; 2 to %d are possible", r->name,
            r->header[NR_CLASS].line, r->classes, r->classes == 1 ? "" : "es", (int)GRAM_LIBSVM_MOST_CLASSES);
    if (!classifier && r->classes != 2) TRY(bad_line(r, r->header[NR_CLASS].line, "nr_class of this machine is 2"));
    r->outputs = classifier ? r->classes * (r->classes - 1) / 2 : 1;
    r->coefficients = r->classes - 1;
    if (!classifier) r->classes = 0;
done:
    return status;
}

static gram_status read_kernel(reader *r)
{
    gram_status status = GRAM_OK;
    gram_libsvm_kernel *k = &r->kernel;
    int64_t degree = 0;
    token word;
    TRY(only_word(r, KERNEL_TYPE, &word));
    FAIL_IF(is_word(word, "precomputed"), r->context, GRAM_ERROR_UNSUPPORTED,
            "%s:%" PRId64 ": a precomputed kernel: the file does not say what its support vectors are", r->name,
            r->header[KERNEL_TYPE].line);
    k->form = GRAM_LIBSVM_FORMS;
    for (int i = 0; i < GRAM_LIBSVM_FORMS; i++)
        if (is_word(word, gram_libsvm_forms[i])) k->form = (gram_libsvm_form)i;
    if (k->form == GRAM_LIBSVM_FORMS) TRY(bad_word(r, r->header[KERNEL_TYPE].line, word, "no such kernel"));
    if (k->form == GRAM_LIBSVM_POLYNOMIAL) TRY(only_integer(r, DEGREE, 0, MOST_DEGREE, &degree));
    if (k->form != GRAM_LIBSVM_LINEAR) TRY(only_number(r, GAMMA, &k->gamma));
    if (k->form == GRAM_LIBSVM_POLYNOMIAL || k->form == GRAM_LIBSVM_SIGMOID) TRY(only_number(r, COEF0, &k->coef0));
    k->degree = (int)degree;
    if (k->gamma < 0 && k->form != GRAM_LIBSVM_SIGMOID) TRY(bad_line(r, r->header[GAMMA].line, "gamma is negative"));
done:
    return status;
}

/* Numbers of a key's line, exactly `count` of them, to out[0], out[stride], ...; out may be NULL. */
static gram_status read_numbers(const reader *r, key k, int64_t count, double *out, int64_t stride)
{
    gram_status status = GRAM_OK;
    TRY(want(r, k));
    words w = r->header[k];
    for (int64_t i = 0; i < count; i++) {
        double value;
        TRY(read_number(r, w.line, next_word(&w), &value));
        if (out) out[i * stride] = value;
    }
    TRY(end_of_line(r, &w));
done:
    return status;
}

static gram_status refuse_keys(const reader *r)
{
    static const key OF_CLASSES[] = {LABEL, PROB_B, NR_SV};
    for (size_t i = 0; i < sizeof OF_CLASSES / sizeof *OF_CLASSES; i++)
        if (r->header[OF_CLASSES[i]].text)
            return bad_line(r, r->header[OF_CLASSES[i]].line, "this machine has no classes");
    return GRAM_OK;
}

static gram_status read_labels(reader *r)
{
    gram_status status = GRAM_OK;
    TRY(want(r, LABEL));
    words w = r->header[LABEL];
    for (int64_t i = 0; i < r->classes; i++) {
        const token word = next_word(&w);
        int64_t label;
        TRY(read_integer(r, w.line, word, INT32_MIN, INT32_MAX, &label));
        r->labels[i] = (double)label;
        r->places[i] = 0;
        for (int64_t j = 0; j < i; j++) {
            if (r->labels[j] == r->labels[i]) TRY(bad_word(r, w.line, word, "the label is given twice"));
            r->places[r->labels[j] < r->labels[i] ? i : j]++;
        }
    }
    TRY(end_of_line(r, &w));
done:
    return status;
}

static gram_status read_counts(reader *r)
{
    gram_status status = GRAM_OK;
    int64_t sum = 0;
    TRY(want(r, NR_SV));
    words w = r->header[NR_SV];
    for (int64_t i = 0; i < r->classes; i++) {
        TRY(read_integer(r, w.line, next_word(&w), 0, INT32_MAX, &r->counts[i]));
        sum += r->counts[i];
    }
    TRY(end_of_line(r, &w));
    FAIL_IF(sum != r->n, r->context, GRAM_ERROR_DATA,
            "%s:%" PRId64 ": nr_sv adds up to %" PRId64 " support vectors, total_sv is %" PRId64, r->name, w.line, sum,
            r->n);
done:
    return status;
}

/* Everything above SV but rho and the sigmoids, which go where they stay later, is read; these are checked. */
static gram_status read_header(reader *r)
{
    gram_status status = GRAM_OK;
    TRY(find_header(r));
    TRY(read_machine(r));
    TRY(read_kernel(r));
    TRY(read_numbers(r, RHO, r->outputs, NULL, 0));
    if (r->header[PROB_A].text) TRY(read_numbers(r, PROB_A, r->outputs, NULL, 0));
    if (r->classes == 0) return refuse_keys(r);
    if (r->header[PROB_A].text || r->header[PROB_B].text) {
        TRY(want(r, PROB_A));
        TRY(read_numbers(r, PROB_B, r->outputs, NULL, 0));
    }
    TRY(gram_take(r->context, "libsvm: labels", r->classes, sizeof *r->labels, (void **)&r->labels));
    TRY(gram_take(r->context, "libsvm: labels", r->classes, sizeof *r->places, (void **)&r->places));
    TRY(gram_take(r->context, "libsvm: labels", r->classes, sizeof *r->counts, (void **)&r->counts));
    TRY(read_labels(r));
    TRY(read_counts(r));
done:
    return status;
}

/* ---- support vectors ---- */

static gram_status read_index(const reader *r, int64_t line, token word, int64_t *index, token *value)
{
    const char *colon = memchr(word.text, ':', word.length);
    if (!colon) return bad_word(r, line, word, "not an index and a value, as in 7:0.5");
    const token digits = {word.text, (size_t)(colon - word.text)};
    *value = (token){colon + 1, word.length - digits.length - 1};
    for (size_t i = 0; i < digits.length; i++)
        if (digits.text[i] < '0' || digits.text[i] > '9')
            return bad_word(r, line, word, "not an index and a value, as in 7:0.5");
    return read_integer(r, line, digits, 1, MOST_INDEX, index);
}

/* In LIBSVM's f of a pair a coefficient counts as it is; the pair may have to be turned round. */
static void put_coefficient(const reader *r, int64_t class, int64_t column, double value, double *a)
{
    if (r->classes == 0) {
        a[0] = value;
        return;
    }
    const int64_t other = gram_libsvm_other(class, column), here = r->places[class], there = r->places[other];
    const int turned = (class < other) != (here < there);
    a[here < there ? gram_libsvm_pair(r->classes, here, there) : gram_libsvm_pair(r->classes, there, here)] =
        turned ? -value : value;
}

/* One line, which is only checked if x is NULL. */
static gram_status read_vector(reader *r, words line, int64_t class, double *x, double *a)
{
    gram_status status = GRAM_OK;
    int64_t before = 0;
    double value;
    for (int64_t column = 0; column < r->coefficients; column++) {
        TRY(read_number(r, line.line, next_word(&line), &value));
        if (a) put_coefficient(r, class, column, value, a);
    }
    for (;;) {
        const token word = next_word(&line);
        token digits = {NULL, 0};
        int64_t index = 0;
        if (word.length == 0) break;
        TRY(read_index(r, line.line, word, &index, &digits));
        if (index <= before) TRY(bad_word(r, line.line, word, "the indices do not ascend"));
        TRY(read_number(r, line.line, digits, &value));
        if (x) x[index - 1] = value;
        before = index;
    }
    if (before > r->d) r->d = before;
done:
    return status;
}

/* All lines after SV, into the function if there is one. */
static gram_status read_vectors(reader *r)
{
    gram_status status = GRAM_OK;
    gram_function *f = r->function;
    int64_t class = 0, left = r->classes > 0 ? r->counts[0] : r->n;
    words line;
    r->at = r->body;
    r->line = r->body_line;
    for (int64_t i = 0; i < r->n; i++, left--) {
        while (left == 0) left = r->counts[++class];
        TRY(next_line(r, &line));
        FAIL_IF(!line.text, r->context, GRAM_ERROR_DATA,
                "%s: the file ends after %" PRId64 " of its %" PRId64 " support vectors", r->name, i, r->n);
        TRY(read_vector(r, line, class, f ? f->f64 + i * f->d : NULL, f ? f->a + i * f->outputs : NULL));
    }
    for (;;) {
        TRY(next_line(r, &line));
        if (!line.text) break;
        TRY(end_of_line(r, &line));
    }
done:
    return status;
}

/* Support vectors are kept dense. A few words that name a far column would make much of it out of nothing. */
static gram_status check_size(const reader *r, int64_t rows)
{
    gram_status status = GRAM_OK;
    const double numbers = (double)rows * ((double)r->d + (double)r->outputs);
    FAIL_IF(numbers > NUMBERS_AT_LEAST + (double)NUMBERS_PER_BYTE * (double)r->length, r->context, GRAM_ERROR_DATA,
            "%s: too sparse: %" PRId64 " support vectors in %" PRId64 " columns from a file of %zu bytes", r->name,
            rows, r->d, r->length);
done:
    return status;
}

/* ---- the model ---- */

static double polynomial_factor(const gram_libsvm_kernel *k)
{
    double factor = 1;
    for (int i = 0; i < k->degree; i++) factor *= k->gamma;
    return factor;
}

static gram_status make_polynomial(const reader *r, char *text, size_t size)
{
    gram_status status = GRAM_OK;
    const gram_libsvm_kernel *k = &r->kernel;
    char first[GRAM_NUMBER_SIZE], second[GRAM_NUMBER_SIZE];
    const double factor = polynomial_factor(k), offset = k->gamma > 0 ? k->coef0 / k->gamma : 0;
    FAIL_IF(k->coef0 < 0, r->context, GRAM_ERROR_UNSUPPORTED,
            "%s:%" PRId64 ": coef0 = %s is negative: that kernel is not positive definite, and gram does not have it",
            r->name, r->header[COEF0].line, gram_number_format(k->coef0, first));
    if (k->degree == 0)
        (void)snprintf(text, size, "1");
    else if (k->gamma == 0)
        (void)snprintf(text, size, "%s", gram_number_format(pow(k->coef0, k->degree), first));
    else {
        FAIL_IF(factor < DBL_MIN || !isfinite(factor) || !isfinite(offset), r->context, GRAM_ERROR_DATA,
                "%s:%" PRId64 ": gamma = %s is out of range for the degree %d", r->name, r->header[GAMMA].line,
                gram_number_format(k->gamma, first), k->degree);
        (void)snprintf(text, size, "%s%spoly(m=%d, c=%s)", factor == 1 ? "" : gram_number_format(factor, first),
                       factor == 1 ? "" : "*", k->degree, gram_number_format(offset, second));
    }
done:
    return status;
}

/* Through the language of kernels, which knows all bounds. */
static gram_status make_kernel(const reader *r, gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    const gram_libsvm_kernel *k = &r->kernel;
    char text[128], first[GRAM_NUMBER_SIZE], second[GRAM_NUMBER_SIZE];
    if (k->form == GRAM_LIBSVM_LINEAR)
        (void)snprintf(text, sizeof text, "linear(c=0)");
    else if (k->form == GRAM_LIBSVM_POLYNOMIAL)
        TRY(make_polynomial(r, text, sizeof text));
    else if (k->form == GRAM_LIBSVM_SIGMOID)
        (void)snprintf(text, sizeof text, "sigmoid(a=%s, c=%s)", gram_number_format(k->gamma, first),
                       gram_number_format(k->coef0, second));
    else if (k->gamma == 0)
        (void)snprintf(text, sizeof text, "1");
    else /* rounded once, so that the gamma of an ell gives that ell back */
        (void)snprintf(text, sizeof text, "rbf(ell=%s)",
                       gram_number_format((double)sqrtl(0.5L / (long double)k->gamma), first));
    status = gram_kernel_parse(r->context, text, kernel);
    if (status == GRAM_ERROR_SYNTAX || status == GRAM_ERROR_ARGUMENT)
        status = gram_fail(r->context, GRAM_ERROR_DATA, "%s:%" PRId64 ": gram has no kernel %s", r->name,
                           r->header[KERNEL_TYPE].line, text);
done:
    return status;
}

/* b = -rho, turned round with its pair. */
static gram_status read_constants(const reader *r)
{
    gram_status status = GRAM_OK;
    words w = r->header[RHO];
    double rho;
    if (r->classes == 0) {
        TRY(only_number(r, RHO, &rho));
        r->function->constant[0] = 0 - rho;
    }
    for (int64_t i = 0; i < r->classes; i++)
        for (int64_t j = i + 1; j < r->classes; j++) {
            const int64_t a = r->places[i], b = r->places[j];
            TRY(read_number(r, w.line, next_word(&w), &rho));
            r->function->constant[gram_libsvm_pair(r->classes, a < b ? a : b, a < b ? b : a)] = a < b ? 0 - rho : rho;
        }
done:
    return status;
}

/* A function needs a centre even when nothing supports it. */
static gram_status make_function(reader *r)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    gram_function *made = NULL;
    const int64_t rows = r->n > 0 ? r->n : 1;
    TRY(read_vectors(r));
    if (r->d == 0) r->d = 1;
    TRY(check_size(r, rows));
    TRY(make_kernel(r, &kernel));
    TRY(gram_function_make(r->context, (gram_function_room){kernel, rows, r->d, r->outputs, 0}, &made));
    memset(made->f64, 0, (size_t)(rows * r->d) * sizeof(double));
    memset(made->a, 0, (size_t)(rows * r->outputs) * sizeof(double));
    r->function = made;
    TRY(read_vectors(r));
    TRY(read_constants(r));
    TRY(gram_function_seal(r->context, r->name, GRAM_ERROR_DATA, made));
done:
    gram_kernel_release(kernel);
    return status;
}

/* x1 .. xd as they are, and y: the columns of LIBSVM's data. */
static gram_status make_preparation(const reader *r, gram_preparation **preparation)
{
    gram_status status = GRAM_OK;
    gram_column *columns = NULL;
    char *names = NULL;
    const gram_column target = {.name = "y", .place = r->d, .deviation = 1};
    const int one_class = strcmp(r->machine->task, "one-class") == 0;
    TRY(gram_take(r->context, "libsvm: columns", r->d, sizeof *columns, (void **)&columns));
    TRY(gram_take(r->context, "libsvm: columns", r->d, NAME_SIZE, (void **)&names));
    for (int64_t i = 0; i < r->d; i++) {
        char *name = names + i * NAME_SIZE;
        (void)snprintf(name, NAME_SIZE, "x%" PRId64, i + 1);
        columns[i] = (gram_column){.name = name, .place = i, .deviation = 1};
    }
    const gram_preparation_description description = {.feature_count = r->d,
                                                      .features = columns,
                                                      .target_count = one_class ? 0 : 1,
                                                      .targets = one_class ? NULL : &target,
                                                      .named = 1};
    TRY(gram_preparation_create(r->context, &description, preparation));
done:
    gram_give(r->context, names);
    gram_give(r->context, columns);
    return status;
}

/* A and B of the pairs; f -> -f keeps A and turns B. */
static gram_status set_sigmoids(const reader *r, gram_model *model)
{
    gram_status status = GRAM_OK;
    words as = r->header[PROB_A], bs = r->header[PROB_B];
    double *sigmoids = NULL;
    TRY(gram_model_add_array(r->context, model, "sigmoids", r->outputs, 2, &sigmoids));
    for (int64_t i = 0; i < r->classes; i++)
        for (int64_t j = i + 1; j < r->classes; j++) {
            const int64_t a = r->places[i], b = r->places[j];
            double *pair = sigmoids + 2 * gram_libsvm_pair(r->classes, a < b ? a : b, a < b ? b : a);
            TRY(read_number(r, as.line, next_word(&as), &pair[0]));
            TRY(read_number(r, bs.line, next_word(&bs), &pair[1]));
            if (a > b) pair[1] = 0 - pair[1];
        }
done:
    return status;
}

static gram_status set_classes(const reader *r, gram_model *model)
{
    gram_status status = GRAM_OK;
    double *classes = NULL, *order = NULL;
    TRY(gram_model_set_integer(r->context, model, "class_count", r->classes));
    TRY(gram_model_add_array(r->context, model, "classes", 1, r->classes, &classes));
    for (int64_t i = 0; i < r->classes; i++) classes[r->places[i]] = r->labels[i];
    TRY(gram_model_add_array(r->context, model, "vote_order", 1, r->classes, &order));
    for (int64_t i = 0; i < r->classes; i++) order[i] = (double)r->places[i];
    if (r->header[PROB_A].text) TRY(set_sigmoids(r, model));
done:
    return status;
}

static gram_status make_model(const reader *r, gram_model **model)
{
    gram_status status = GRAM_OK;
    gram_preparation *preparation = NULL;
    gram_model *made = NULL;
    double scale;
    TRY(make_preparation(r, &preparation));
    TRY(gram_model_create(r->context, "svm", r->machine->task, preparation, r->function, &made));
    TRY(gram_model_set_text(r->context, made, "origin", "LIBSVM"));
    TRY(gram_model_set_integer(r->context, made, "d", r->d));
    TRY(gram_model_set_text(r->context, made, "svm", r->machine->svm));
    TRY(gram_model_set_integer(r->context, made, "n_support", r->n));
    if (r->classes > 0) TRY(set_classes(r, made));
    if (r->classes == 0 && r->header[PROB_A].text) {
        TRY(only_number(r, PROB_A, &scale));
        TRY(gram_model_set_number(r->context, made, "laplace_scale", scale));
    }
    *model = made;
    made = NULL;
done:
    gram_model_destroy(made);
    gram_preparation_release(preparation);
    return status;
}

static gram_status read_text(gram_context *context, const char *name, const char *text, size_t length,
                             gram_model **model)
{
    gram_status status = GRAM_OK;
    reader r = {.context = context, .name = name, .text = text, .length = length};
    FAIL_IF(length == 0, context, GRAM_ERROR_DATA, "%s: the file is empty", name);
    TRY(read_header(&r));
    TRY(make_function(&r));
    TRY(make_model(&r, model));
done:
    gram_function_release(r.function);
    gram_give(context, r.labels);
    gram_give(context, r.places);
    gram_give(context, r.counts);
    return status;
}

/* ---- files ---- */

/* All of a source; *room bytes at *text, of which *length are used. */
static gram_status read_all(gram_context *context, gram_source *source, char **text, int64_t *room, size_t *length)
{
    gram_status status = GRAM_OK;
    const int64_t known = gram_source_size(source);
    size_t got;
    *room = known >= 0 && known < INT64_MAX / 2 ? known + 1 : 65536;
    TRY(gram_take(context, "libsvm: the file", *room, 1, (void **)text));
    for (;;) {
        const size_t wanted = (size_t)*room - *length;
        TRY(gram_source_read(context, source, *text + *length, wanted, &got));
        *length += got;
        if (got < wanted) break;
        char *larger;
        TRY(gram_take(context, "libsvm: the file", 2 * *room, 1, (void **)&larger));
        memcpy(larger, *text, *length);
        gram_give(context, *text);
        *text = larger;
        *room *= 2;
    }
done:
    return status;
}

gram_status gram_model_read_libsvm(gram_context *context, const char *path, gram_model **model)
{
    gram_status status = GRAM_OK;
    gram_source *source = NULL;
    char *text = NULL;
    int64_t room = 0;
    size_t length = 0;
    if (!context || !model) return GRAM_ERROR_ARGUMENT;
    *model = NULL;
    FAIL_IF(!path, context, GRAM_ERROR_ARGUMENT, "model_read_libsvm: path is NULL");
    TRY(gram_source_open(context, path, 0, &source));
    TRY(read_all(context, source, &text, &room, &length));
    TRY(read_text(context, gram_source_name(source), text, length, model));
done:
    gram_give(context, text);
    gram_source_close(source);
    return status;
}

gram_status gram_model_read_libsvm_memory(gram_context *context, const char *name, const void *bytes, size_t length,
                                          gram_model **model)
{
    gram_status status = GRAM_OK;
    if (!context || !model) return GRAM_ERROR_ARGUMENT;
    *model = NULL;
    FAIL_IF(!name || (!bytes && length > 0), context, GRAM_ERROR_ARGUMENT, "model_read_libsvm_memory: %s is NULL",
            !name ? "name" : "bytes");
    TRY(read_text(context, name, bytes, length, model));
done:
    return status;
}
