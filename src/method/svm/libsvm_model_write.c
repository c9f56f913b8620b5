/* Models as LIBSVM's text; libsvm_model_read.c describes it.
 *
 * A support vector of LIBSVM belongs to one class and has a coefficient for each other class; one of gram has a coefficient
 * for each pair. The signs tell: above 0 speaks for the first of a pair, so the coefficient comes from a point of the first
 * class, below 0 from one of the second. A centre whose coefficients come from several classes (equal points with different
 * labels that were merged) is written once for each. */
#define _POSIX_C_SOURCE 200809L
#include "method/svm/libsvm_model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_aside.h"
#include "data/byte_source.h"
#include "function/function.h"
#include "kernel/kernel.h"
#include "model/model.h"
#include <gram/libsvm.h>
#include <gram/text.h>

enum { BUFFER = 65536, INDEX_SIZE = 24, MOST_INDEX = 1 << 24 };

/* A column of the function: its index for LIBSVM, and how its numbers become those of the data. */
typedef struct column {
    int64_t index, place;
    double mean, deviation;
} column;

typedef struct writer {
    gram_context *context;
    const gram_model *model;
    const gram_function *f;
    const gram_preparation_description *known; /* or NULL */

    const gram_libsvm_machine *machine;
    gram_libsvm_kernel kernel;
    double factor;          /* of the kernel, for the coefficients */
    int64_t classes;        /* 0: no classifier */
    const double *labels;   /* ascending */
    int64_t *places;        /* of the classes in LIBSVM's order among these */
    const double *sigmoids; /* or NULL */
    column *columns;        /* d of them, indices ascending */
    int64_t *counts;        /* support vectors of each class */
    int64_t total;

    gram_text_fn put; /* of the caller, or NULL: to the file */
    void *user;
    gram_aside *file;
    char *buffer;
    size_t used;
    int64_t done; /* support vectors that are written */
} writer;

/* ---- what is written ---- */

static gram_status flush(writer *w)
{
    gram_status status = GRAM_OK;
    if (w->file) {
        TRY(gram_aside_write(w->context, w->file, w->buffer, w->used, (size_t)w->done, (size_t)w->total + 1));
    } else {
        TRY(gram_pulse(w->context, "writing", (double)w->done / (double)(w->total + 1)));
        FAIL_IF(w->put(w->user, w->buffer, w->used) != 0, w->context, GRAM_ERROR_FILE,
                "model_print_libsvm: the text was not taken");
    }
    w->used = 0;
done:
    return status;
}

static gram_status put(writer *w, const char *word)
{
    gram_status status = GRAM_OK;
    const size_t length = strlen(word);
    if (BUFFER - w->used < length) TRY(flush(w));
    memcpy(w->buffer + w->used, word, length);
    w->used += length;
done:
    return status;
}

static gram_status put_number(writer *w, const char *before, double value)
{
    gram_status status = GRAM_OK;
    char text[GRAM_NUMBER_SIZE];
    FAIL_IF(!isfinite(value), w->context, GRAM_ERROR_NUMERICAL, "model_print_libsvm: a number of the model overflows");
    TRY(put(w, before));
    TRY(put(w, gram_number_format(value, text)));
done:
    return status;
}

static gram_status put_line(writer *w, const char *key, const char *word)
{
    gram_status status = GRAM_OK;
    TRY(put(w, key));
    TRY(put(w, " "));
    TRY(put(w, word));
    TRY(put(w, "\n"));
done:
    return status;
}

static gram_status put_key(writer *w, const char *key, double value)
{
    gram_status status = GRAM_OK;
    TRY(put(w, key));
    TRY(put_number(w, " ", value));
    TRY(put(w, "\n"));
done:
    return status;
}

/* ---- is it a machine of LIBSVM? ---- */

static gram_status refuse(const writer *w, const char *why)
{
    return gram_fail(w->context, GRAM_ERROR_UNSUPPORTED, "LIBSVM cannot have this model: %s", why);
}

static gram_status find_machine(writer *w)
{
    gram_status status = GRAM_OK;
    const char *method = gram_model_method(w->model), *task = gram_model_task(w->model);
    const gram_fact svm = gram_model_find(w->model, "svm");
    FAIL_IF(strcmp(method, "svm") != 0, w->context, GRAM_ERROR_UNSUPPORTED,
            "LIBSVM cannot have this model: its method is '%.40s'; fit it with --method svm", method);
    for (int i = GRAM_LIBSVM_MACHINES - 1; i >= 0; i--)
        if (strcmp(task, gram_libsvm_machines[i].task) == 0 &&
            (!w->machine || (svm.text && strcmp(svm.text, gram_libsvm_machines[i].svm) == 0)))
            w->machine = &gram_libsvm_machines[i];
    FAIL_IF(!w->machine, w->context, GRAM_ERROR_UNSUPPORTED, "LIBSVM cannot have this model: its task is '%.40s'",
            task);
done:
    return status;
}

static gram_status mismatch(const writer *w)
{
    return gram_fail(w->context, GRAM_ERROR_DATA, "model_print_libsvm: parts of the model do not belong together");
}

/* The order in which LIBSVM gave the classes, if the model is from there: each of 0 .. classes - 1 once. */
static gram_status find_order(writer *w)
{
    gram_status status = GRAM_OK;
    int64_t rows, count;
    const double *order = gram_model_array(w->model, "vote_order", &rows, &count);
    if (order && (rows != 1 || count != w->classes)) return mismatch(w);
    TRY(gram_take(w->context, "libsvm: classes", w->classes, sizeof *w->places, (void **)&w->places));
    for (int64_t c = 0; c < w->classes; c++) {
        const double place = order ? order[c] : (double)c;
        if (!(place >= 0 && place < (double)w->classes) || place != floor(place)) return mismatch(w);
        w->places[c] = (int64_t)place;
        for (int64_t before = 0; before < c; before++)
            if (w->places[before] == w->places[c]) return mismatch(w);
    }
done:
    return status;
}

static gram_status find_classes(writer *w)
{
    gram_status status = GRAM_OK;
    char number[GRAM_NUMBER_SIZE];
    int64_t rows, columns;
    if (strcmp(w->machine->task, "classification") != 0) return w->f->outputs == 1 ? GRAM_OK : mismatch(w);
    if (w->known && w->known->target_count == 1 && w->known->targets[0].text)
        return refuse(w, "its classes are text, LIBSVM's are whole numbers; number them in the data and fit it again");
    w->labels = gram_model_array(w->model, "classes", &rows, &w->classes);
    if (!w->labels || rows != 1 || w->classes < 2 || w->classes > GRAM_LIBSVM_MOST_CLASSES ||
        w->f->outputs != w->classes * (w->classes - 1) / 2)
        return mismatch(w);
    for (int64_t i = 0; i < w->classes; i++) {
        const double label = w->labels[i];
        FAIL_IF(label != floor(label) || !(fabs(label) <= INT32_MAX), w->context, GRAM_ERROR_UNSUPPORTED,
                "LIBSVM cannot have this model: its class %s is not a whole number below 2^31",
                gram_number_format(label, number));
        if (i > 0 && !(label > w->labels[i - 1])) return mismatch(w);
    }
    w->sigmoids = gram_model_array(w->model, "sigmoids", &rows, &columns);
    if (w->sigmoids && (rows != w->f->outputs || columns != 2)) return mismatch(w);
    TRY(find_order(w));
done:
    return status;
}

/* ---- columns ---- */

/* The index of a column called x7, 0 if that is not its name. */
static int64_t index_of(const char *name)
{
    int64_t index = 0;
    if (name[0] != 'x' || name[1] < '1' || name[1] > '9') return 0;
    for (const char *c = name + 1; *c && index <= MOST_INDEX; c++) {
        if (*c < '0' || *c > '9') return 0;
        index = 10 * index + (*c - '0');
    }
    return index <= MOST_INDEX ? index : 0;
}

static int compare_indices(const void *a, const void *b)
{
    const column *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* Indices are places, or what the names say if they all do. */
static gram_status find_columns(writer *w)
{
    gram_status status = GRAM_OK;
    const int64_t d = w->f->d;
    int named = w->known && w->known->named;
    TRY(gram_take(w->context, "libsvm: columns", d, sizeof *w->columns, (void **)&w->columns));
    for (int64_t i = 0; i < d; i++) w->columns[i] = (column){i + 1, i, 0, 1};
    if (!w->known) return status;
    for (int64_t i = 0; i < w->known->feature_count; i++) {
        const gram_column *feature = &w->known->features[i];
        FAIL_IF(feature->text, w->context, GRAM_ERROR_UNSUPPORTED,
                "LIBSVM cannot have this model: its feature '%.60s' is text; fit it with --ignore, or with numbers",
                feature->name);
        FAIL_IF(
            feature->log_size > 0, w->context, GRAM_ERROR_UNSUPPORTED,
            "LIBSVM cannot have this model: its feature '%.60s' is taken as a logarithm; fit it with --transform none",
            feature->name);
        w->columns[i].mean = feature->mean;
        w->columns[i].deviation = feature->deviation;
        named = named && index_of(feature->name) > 0;
    }
    for (int64_t i = 0; i < d && named; i++) w->columns[i].index = index_of(w->known->features[i].name);
    if (named) qsort(w->columns, (size_t)d, sizeof *w->columns, compare_indices);
done:
    return status;
}

static int is_scaled(const writer *w)
{
    for (int64_t i = 0; i < w->f->d; i++)
        if (w->columns[i].mean != 0 || w->columns[i].deviation != 1) return 1;
    return 0;
}

/* ---- kernels ---- */

/* A product of constants and at most one other leaf: the constants' product, and the leaf or the last constant. 0: it is
 * something else. */
static int split_kernel(const gram_kernel *kernel, double *factor, const gram_kernel **leaf)
{
    const int product = kernel->node == GRAM_NODE_PRODUCT, count = product ? kernel->child_count : 1;
    int others = 0;
    *factor = 1;
    for (int i = 0; i < count; i++) {
        const gram_kernel *child = product ? kernel->children[i] : kernel;
        if (child->node != GRAM_NODE_LEAF || child->external) return 0;
        const int constant = child->type == &gram_kernel_const;
        if (constant) *factor *= child->arguments[0].values[0];
        if (!constant || others == 0) *leaf = child;
        others += !constant;
    }
    return others <= 1;
}

/* The kernel has one width in the units of the data: ell_l deviation_l, the same for all columns. */
static gram_status find_width(writer *w, const gram_kernel *leaf)
{
    const gram_argument *ell = gram_kernel_argument(leaf, GRAM_ROLE_LENGTH);
    double width = 0;
    if (!ell) return refuse(w, "rbf(S=...) has a matrix, LIBSVM's rbf one width; fit it with --kernel 'rbf(ell=1)'");
    for (int64_t i = 0; i < w->f->d; i++) {
        const column *own = &w->columns[i];
        const double here = ell->values[ell->count > 1 ? own->place : 0] * own->deviation;
        if (i > 0 && here != width)
            return refuse(w, is_scaled(w) ? "its features are scaled each in its own way; fit it with --no-scale"
                                          : "its rbf has a width for each feature, LIBSVM's one for all; fit it with "
                                            "--no-ard and --no-scale");
        width = here;
    }
    w->kernel = (gram_libsvm_kernel){.form = GRAM_LIBSVM_RBF,
                                     .gamma = (double)(0.5L / ((long double)width * (long double)width))};
    return GRAM_OK;
}

static gram_status find_kernel(writer *w)
{
    gram_status status = GRAM_OK;
    const gram_kernel *leaf = NULL;
    double par[GRAM_MAX_SPECS];
    char text[80];
    const int plain = split_kernel(w->f->kernel, &w->factor, &leaf);
    const char *name = plain ? leaf->type->name : "";
    if (plain) gram_kernel_par(leaf, par);
    if (strcmp(name, "rbf") == 0) return find_width(w, leaf);
    if (strcmp(name, "const") == 0) {
        w->kernel = (gram_libsvm_kernel){.form = GRAM_LIBSVM_RBF};
        return status;
    }
    if (strcmp(name, "linear") == 0 && par[0] == 0)
        w->kernel = (gram_libsvm_kernel){.form = GRAM_LIBSVM_LINEAR};
    else if (strcmp(name, "linear") == 0)
        w->kernel = (gram_libsvm_kernel){GRAM_LIBSVM_POLYNOMIAL, 1, 1, par[0]};
    else if (strcmp(name, "poly") == 0)
        w->kernel = (gram_libsvm_kernel){GRAM_LIBSVM_POLYNOMIAL, (int)par[0], 1, par[1]};
    else if (strcmp(name, "sigmoid") == 0)
        w->kernel = (gram_libsvm_kernel){GRAM_LIBSVM_SIGMOID, 0, par[0], par[1]};
    else {
        const size_t length = gram_kernel_print(w->f->kernel, text, sizeof text);
        FAIL(w->context, GRAM_ERROR_UNSUPPORTED,
             "LIBSVM cannot have this model: its kernel is %s%s; LIBSVM has linear, poly, rbf and sigmoid", text,
             length >= sizeof text ? "..." : "");
    }
    if (is_scaled(w)) return refuse(w, "its features are scaled; fit it with --no-scale");
done:
    return status;
}

/* ---- support vectors ---- */

/* The model's pair of two classes of LIBSVM's; *turned: they are the other way round there. */
static int64_t pair_of(const writer *w, int64_t a, int64_t b, int *turned)
{
    const int64_t p = w->places[a], q = w->places[b];
    *turned = p > q;
    return p < q ? gram_libsvm_pair(w->classes, p, q) : gram_libsvm_pair(w->classes, q, p);
}

/* The coefficient that centre i has for class c against class `other`: 0 if it comes from the other. */
static double coefficient(const writer *w, int64_t i, int64_t c, int64_t other)
{
    int turned;
    const int64_t pair = pair_of(w, c, other, &turned);
    const double a = w->f->a[i * w->f->outputs + pair], own = turned ? -a : a;
    if (own <= 0) return 0;
    return c < other ? own : -own;
}

static int is_support(const writer *w, int64_t i, int64_t c)
{
    if (w->classes == 0) return w->f->a[i] != 0;
    for (int64_t other = 0; other < w->classes; other++)
        if (other != c && coefficient(w, i, c, other) != 0) return 1;
    return 0;
}

static gram_status count_vectors(writer *w)
{
    gram_status status = GRAM_OK;
    const int64_t groups = w->classes > 0 ? w->classes : 1;
    TRY(gram_take(w->context, "libsvm: classes", groups, sizeof *w->counts, (void **)&w->counts));
    for (int64_t c = 0; c < groups; c++) {
        w->counts[c] = 0;
        for (int64_t i = 0; i < w->f->n; i++) w->counts[c] += is_support(w, i, c);
        w->total += w->counts[c];
    }
done:
    return status;
}

static gram_status put_vector(writer *w, int64_t i, int64_t c)
{
    gram_status status = GRAM_OK;
    const gram_function *f = w->f;
    char index[INDEX_SIZE];
    if (w->classes == 0) TRY(put_number(w, "", w->factor * f->a[i]));
    for (int64_t k = 0; k + 1 < w->classes; k++)
        TRY(put_number(w, k > 0 ? " " : "", w->factor * coefficient(w, i, c, gram_libsvm_other(c, k))));
    for (int64_t l = 0; l < f->d; l++) {
        const column *own = &w->columns[l];
        const int64_t at = i * f->d + own->place;
        const double value = (f->f64 ? f->f64[at] : (double)f->f32[at]) * own->deviation + own->mean;
        if (value == 0) continue;
        (void)snprintf(index, sizeof index, " %" PRId64 ":", own->index);
        TRY(put_number(w, index, value));
    }
    TRY(put(w, "\n"));
    w->done++;
done:
    return status;
}

static gram_status put_vectors(writer *w)
{
    gram_status status = GRAM_OK;
    const int64_t groups = w->classes > 0 ? w->classes : 1;
    TRY(put(w, "SV\n"));
    for (int64_t c = 0; c < groups; c++)
        for (int64_t i = 0; i < w->f->n; i++)
            if (is_support(w, i, c)) TRY(put_vector(w, i, c));
    TRY(flush(w));
done:
    return status;
}

/* ---- the header ---- */

static gram_status put_kernel(writer *w)
{
    gram_status status = GRAM_OK;
    const gram_libsvm_kernel *k = &w->kernel;
    TRY(put_line(w, "kernel_type", gram_libsvm_forms[k->form]));
    if (k->form == GRAM_LIBSVM_POLYNOMIAL) TRY(put_key(w, "degree", k->degree));
    if (k->form != GRAM_LIBSVM_LINEAR) TRY(put_key(w, "gamma", k->gamma));
    if (k->form == GRAM_LIBSVM_POLYNOMIAL || k->form == GRAM_LIBSVM_SIGMOID) TRY(put_key(w, "coef0", k->coef0));
done:
    return status;
}

/* A key and numbers[0], numbers[stride], ... of the pairs; `turns`: a pair that is turned round has the negative one. */
static gram_status put_pairs(writer *w, const char *key, const double *numbers, int64_t stride, int turns)
{
    gram_status status = GRAM_OK;
    TRY(put(w, key));
    for (int64_t a = 0; a < w->classes; a++)
        for (int64_t b = a + 1; b < w->classes; b++) {
            int turned;
            const double number = numbers[pair_of(w, a, b, &turned) * stride];
            TRY(put_number(w, " ", turned && turns ? 0 - number : number));
        }
    TRY(put(w, "\n"));
done:
    return status;
}

/* rho = -b */
static gram_status put_rho(writer *w)
{
    gram_status status = GRAM_OK;
    int turned;
    TRY(put(w, "rho"));
    if (w->classes == 0) TRY(put_number(w, " ", 0 - w->f->constant[0]));
    for (int64_t a = 0; a < w->classes; a++)
        for (int64_t b = a + 1; b < w->classes; b++) {
            const double constant = w->f->constant[pair_of(w, a, b, &turned)];
            TRY(put_number(w, " ", turned ? constant : 0 - constant));
        }
    TRY(put(w, "\n"));
done:
    return status;
}

static gram_status put_classes(writer *w)
{
    gram_status status = GRAM_OK;
    TRY(put(w, "label"));
    for (int64_t c = 0; c < w->classes; c++) TRY(put_number(w, " ", w->labels[w->places[c]]));
    TRY(put(w, "\n"));
    if (w->sigmoids) TRY(put_pairs(w, "probA", w->sigmoids, 2, 0));
    if (w->sigmoids) TRY(put_pairs(w, "probB", w->sigmoids + 1, 2, 1));
    TRY(put(w, "nr_sv"));
    for (int64_t c = 0; c < w->classes; c++) TRY(put_number(w, " ", (double)w->counts[c]));
    TRY(put(w, "\n"));
done:
    return status;
}

static gram_status put_header(writer *w)
{
    gram_status status = GRAM_OK;
    const gram_fact scale = gram_model_find(w->model, "laplace_scale");
    TRY(put_line(w, "svm_type", w->machine->name));
    TRY(put_kernel(w));
    TRY(put_key(w, "nr_class", w->classes > 0 ? (double)w->classes : 2));
    TRY(put_key(w, "total_sv", (double)w->total));
    TRY(put_rho(w));
    if (w->classes > 0) TRY(put_classes(w));
    if (strcmp(w->machine->task, "regression") == 0 && isfinite(scale.number)) TRY(put_key(w, "probA", scale.number));
done:
    return status;
}

/* ---- the whole ---- */

static gram_status write_model(writer *w)
{
    gram_status status = GRAM_OK;
    w->f = gram_model_function(w->model);
    if (gram_model_preparation(w->model)) w->known = gram_preparation_describe(gram_model_preparation(w->model));
    TRY(find_machine(w));
    TRY(find_classes(w));
    TRY(find_columns(w));
    TRY(find_kernel(w));
    TRY(count_vectors(w));
    TRY(gram_take(w->context, "libsvm: text", BUFFER, 1, (void **)&w->buffer));
    TRY(put_header(w));
    TRY(put_vectors(w));
done:
    gram_give(w->context, w->buffer);
    gram_give(w->context, w->places);
    gram_give(w->context, w->counts);
    gram_give(w->context, w->columns);
    return status;
}

gram_status gram_model_print_libsvm(gram_context *context, const gram_model *model, gram_text_fn put_text, void *user)
{
    gram_status status = GRAM_OK;
    writer w = {.context = context, .model = model, .put = put_text, .user = user};
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!model || !put_text, context, GRAM_ERROR_ARGUMENT, "model_print_libsvm: %s is NULL",
            !model ? "model" : "put");
    TRY(write_model(&w));
done:
    return status;
}

gram_status gram_model_write_libsvm(gram_context *context, const gram_model *model, const char *path)
{
    gram_status status = GRAM_OK;
    gram_aside aside = {.descriptor = -1};
    writer w = {.context = context, .model = model, .file = &aside};
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!model || !path, context, GRAM_ERROR_ARGUMENT, "model_write_libsvm: %s is NULL", !model ? "model" : "path");
    TRY(gram_aside_open(context, "model_write_libsvm", path, &aside));
    TRY(write_model(&w));
    TRY(gram_aside_finish(context, &aside));
done:
    gram_aside_abandon(&aside);
    return status;
}
