/* LIBSVM's model files: what is read is the function that the file describes (against its definition, written out here), what
 * is written reads back to the same function, what cannot be is refused with its reason, and no file, cut off or hostile,
 * does harm. */
#define _DEFAULT_SOURCE
#include "model_sample.h"
#include "oom.h"

/* Three classes in no order, probabilities, a class without support vectors of its own in one pair, sparse rows. */
static const char THREE[] = "svm_type c_svc\n"
                            "kernel_type %s\n"
                            "nr_class 3\n"
                            "total_sv 5\n"
                            "rho 0.25 -0.5 0.125\n"
                            "label 5 -3 1\n"
                            "probA -2 -1.5 -1.25\n"
                            "probB 0.1 -0.2 0.3\n"
                            "nr_sv 2 1 2\n"
                            "SV\n"
                            "0.5 1 1:0.25 3:-1 \n"
                            "0 0.75 2:0.5 \n"
                            "-0.5 0.625 1:-1 2:2 3:0.5 \n"
                            "-1 -0.625 1:1e-1\n"
                            "-0.75 -0 \t1:0.3 3:+1.5\r\n";

enum { VECTORS = 5, D = 3, POINTS = 7 };
static const double LABELS[3] = {5, -3, 1}, RHO[3] = {0.25, -0.5, 0.125};
static const double A[3] = {-2, -1.5, -1.25}, B[3] = {0.1, -0.2, 0.3};
static const int CLASS[VECTORS] = {0, 0, 1, 2, 2};
static const double COEFFICIENTS[VECTORS][2] = {{0.5, 1}, {0, 0.75}, {-0.5, 0.625}, {-1, -0.625}, {-0.75, -0.0}};
static const double X[VECTORS][D] = {{0.25, 0, -1}, {0, 0.5, 0}, {-1, 2, 0.5}, {0.1, 0, 0}, {0.3, 0, 1.5}};

typedef struct form {
    const char *text; /* the lines of the kernel */
    int kind, degree;
    double gamma, coef0;
} form;

static const form FORMS[] = {{"linear", 0, 0, 0, 0},
                             {"polynomial\ndegree 3\ngamma 0.7\ncoef0 0.35", 1, 3, 0.7, 0.35},
                             {"polynomial\ndegree 2\ngamma 1\ncoef0 0", 1, 2, 1, 0},
                             {"polynomial\ndegree 0\ngamma 2\ncoef0 3", 1, 0, 2, 3},
                             {"polynomial\ndegree 2\ngamma 0\ncoef0 3", 1, 2, 0, 3},
                             {"rbf\ngamma 0.35", 2, 0, 0.35, 0},
                             {"rbf\ngamma 0", 2, 0, 0, 0},
                             {"sigmoid\ngamma -0.4\ncoef0 -0.25", 3, 0, -0.4, -0.25}};
enum { FORM_COUNT = sizeof FORMS / sizeof *FORMS };

static double kernel_value(const form *k, const double *x, const double *y)
{
    double dot = 0, distance = 0;
    for (int l = 0; l < D; l++) {
        dot += x[l] * y[l];
        distance += (x[l] - y[l]) * (x[l] - y[l]);
    }
    if (k->kind == 0) return dot;
    if (k->kind == 1) return pow(k->gamma * dot + k->coef0, k->degree);
    return k->kind == 2 ? exp(-k->gamma * distance) : tanh(k->gamma * dot + k->coef0);
}

/* LIBSVM's decision value of classes i < j, in the order of the file. */
static double decision(const form *k, int i, int j, const double *x)
{
    double sum = 0;
    for (int v = 0; v < VECTORS; v++) {
        if (CLASS[v] == i) sum += COEFFICIENTS[v][j - 1] * kernel_value(k, X[v], x);
        if (CLASS[v] == j) sum += COEFFICIENTS[v][i] * kernel_value(k, X[v], x);
    }
    return sum - RHO[i == 0 ? j - 1 : 2];
}

static char *fill(const char *pattern, const char *middle)
{
    char *text = malloc(strlen(pattern) + strlen(middle) + 1);
    assert_non_null(text);
    (void)sprintf(text, pattern, middle);
    return text;
}

static gram_model *read_text(gram_context *context, const char *text)
{
    gram_model *model = NULL;
    OK(context, gram_model_read_libsvm_memory(context, "m.model", text, strlen(text), &model));
    return model;
}

static double *values_of(gram_context *context, const gram_model *model, int64_t n, int64_t d, const double *x)
{
    const gram_function *f = gram_model_function(model);
    gram_points *points = test_points(context, n, d, x);
    double *out = test_numbers(n * gram_function_outputs(f));
    OK(context, gram_function_evaluate(context, f, points, out, gram_function_outputs(f)));
    gram_points_release(points);
    return out;
}

/* ---- text as a buffer ---- */

typedef struct buffer {
    char *text;
    size_t length;
    int calls, stop_at; /* 0: never */
} buffer;

static int keep_text(void *user, const char *bytes, size_t length)
{
    buffer *b = user;
    if (++b->calls == b->stop_at) return 1;
    b->text = realloc(b->text, b->length + length + 1);
    assert_non_null(b->text);
    memcpy(b->text + b->length, bytes, length);
    b->length += length;
    b->text[b->length] = '\0';
    return 0;
}

static char *print_text(gram_context *context, const gram_model *model)
{
    buffer b = {0};
    OK(context, gram_model_print_libsvm(context, model, keep_text, &b));
    return b.text;
}

/* ---- reading ---- */

static void check_three(gram_context *context, const gram_model *model, const form *k, double tolerance)
{
    static const int ASCENDING[3] = {1, 2, 0}; /* places in the file of -3, 1, 5 */
    double x[POINTS * D];
    int64_t rows, columns, pair = 0;
    test_uniform(7, POINTS * D, -2, 2, x);
    double *f = values_of(context, model, POINTS, D, x);
    const double *sigmoids = gram_model_array(model, "sigmoids", &rows, &columns);
    assert_true(sigmoids && rows == 3 && columns == 2);
    for (int a = 0; a < 3; a++)
        for (int b = a + 1; b < 3; b++, pair++) {
            const int i = ASCENDING[a], j = ASCENDING[b], low = i < j ? i : j, high = i < j ? j : i;
            const int in_file = low == 0 ? high - 1 : 2;
            for (int p = 0; p < POINTS; p++) {
                const double own = f[p * 3 + pair], theirs = decision(k, low, high, x + p * D);
                const double wanted = i < j ? theirs : -theirs;
                if (!(fabs(own - wanted) <= tolerance * (1 + fabs(wanted))))
                    FAIL_TEST("%s: pair %d: %.17g, not %.17g", k->text, (int)pair, own, wanted);
                const double q = 1 / (1 + exp(A[in_file] * theirs + B[in_file]));
                const double probability = 1 / (1 + exp(sigmoids[2 * pair] * own + sigmoids[2 * pair + 1]));
                assert_true(fabs(probability - (i < j ? q : 1 - q)) <= 1e-13);
            }
        }
    free(f);
}

static void three_classes(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int k = 0; k < FORM_COUNT; k++) {
        char *text = fill(THREE, FORMS[k].text);
        gram_model *model = read_text(context, text);
        int64_t rows, columns;
        const double *classes = gram_model_array(model, "classes", &rows, &columns);
        assert_true(classes && rows == 1 && columns == 3);
        assert_true(classes[0] == LABELS[1] && classes[1] == LABELS[2] && classes[2] == LABELS[0]);
        const double *order = gram_model_array(model, "vote_order", &rows, &columns);
        assert_true(order && columns == 3 && order[0] == 2 && order[1] == 0 && order[2] == 1);
        assert_string_equal(gram_model_method(model), "svm");
        assert_string_equal(gram_model_task(model), "classification");
        assert_string_equal(gram_model_find(model, "svm").text, "c");
        assert_int_equal(gram_model_find(model, "n_support").integer, VECTORS);
        check_three(context, model, &FORMS[k], 1e-14);
        /* and again after it was written */
        char *written = print_text(context, model);
        gram_model *again = read_text(context, written);
        assert_non_null(strstr(written, "\nlabel 5 -3 1\n"));
        check_three(context, again, &FORMS[k], 2e-14);
        char *twice = print_text(context, again);
        assert_string_equal(written, twice);
        free(twice);
        free(written);
        gram_model_destroy(again);
        gram_model_destroy(model);
        free(text);
    }
    gram_context_destroy(context);
}

static void columns_are_those_of_data(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    char *text = fill(THREE, FORMS[0].text);
    gram_model *model = read_text(context, text);
    const gram_preparation_description *known = gram_preparation_describe(gram_model_preparation(model));
    assert_int_equal(known->feature_count, D);
    assert_string_equal(known->features[2].name, "x3");
    assert_int_equal(known->target_count, 1);
    assert_string_equal(known->targets[0].name, "y");
    assert_true(known->named && !known->scaled);
    gram_model_destroy(model);
    free(text);
    gram_context_destroy(context);
}

static void numbers_and_one_class(void **state)
{
    (void)state;
    static const char *const TYPES[][3] = {{"epsilon_svr", "regression", "epsilon"},
                                           {"nu_svr", "regression", "nu"},
                                           {"one_class", "one-class", "one-class"}};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int t = 0; t < 3; t++) {
        char text[512];
        const double x[2] = {0.5, -1}, wanted = 0.75 * (0.5 * 2 - 1 * 3) - 0.5 * (0.5 * -1) - 1.5;
        (void)snprintf(text, sizeof text,
                       "svm_type %s\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 1.5\n%sSV\n0.75 1:2 2:3 \n-0.5 "
                       "1:-1 \n",
                       TYPES[t][0], t < 2 ? "probA 0.125\n" : "prob_density_marks 0.1 0.2\n");
        gram_model *model = read_text(context, text);
        double *f = values_of(context, model, 1, 2, x);
        assert_true(f[0] == wanted);
        assert_string_equal(gram_model_task(model), TYPES[t][1]);
        assert_string_equal(gram_model_find(model, "svm").text, TYPES[t][2]);
        assert_true(t == 2 || gram_model_find(model, "laplace_scale").number == 0.125);
        const gram_preparation_description *known = gram_preparation_describe(gram_model_preparation(model));
        assert_int_equal(known->target_count, t < 2);
        char *written = print_text(context, model);
        gram_model *again = read_text(context, written);
        assert_true(same_function(gram_model_function(model), gram_model_function(again)));
        assert_string_equal(gram_model_find(again, "svm").text, TYPES[t][2]);
        assert_true(t == 2 || gram_model_find(again, "laplace_scale").number == 0.125);
        free(written);
        free(f);
        gram_model_destroy(again);
        gram_model_destroy(model);
    }
    gram_context_destroy(context);
}

/* A regression that is a constant has no support vectors. */
static void no_support(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    const double x[1] = {3};
    gram_model *model = read_text(
        context, "svm_type epsilon_svr\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 0\nrho -0.1875\nSV\n");
    double *f = values_of(context, model, 1, 1, x);
    assert_true(f[0] == 0.1875);
    char *written = print_text(context, model);
    assert_non_null(strstr(written, "\ntotal_sv 0\nrho -0.1875\n"));
    free(written);
    free(f);
    gram_model_destroy(model);
    gram_context_destroy(context);
}

/* ---- bad files ---- */

static void refused(gram_context *context, const char *text, size_t length, gram_status wanted, const char *part)
{
    gram_model *model = NULL;
    const size_t before = gram_context_memory_used(context);
    const gram_status status = gram_model_read_libsvm_memory(context, "m.model", text, length, &model);
    if (status == GRAM_OK) FAIL_TEST("should be refused (%s):\n%.*s", part, (int)length, text);
    sample_refused(context, "m.model", status, wanted, part);
    assert_null(model);
    assert_true(gram_context_memory_used(context) == before);
}

static void truncated(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int k = 0; k < FORM_COUNT; k++) {
        char *text = fill(THREE, FORMS[k].text);
        for (size_t length = 0; length < strlen(text); length++) refused(context, text, length, GRAM_ERROR_DATA, "");
        free(text);
    }
    gram_context_destroy(context);
}

typedef struct change {
    const char *from, *to;
    const char *message;
} change;

static const change CHANGES[] = {
    {"svm_type c_svc\n", "", "the key 'svm_type' is missing"},
    {"svm_type c_svc", "svm_type d_svc", ":1: no such machine: 'd_svc'"},
    {"svm_type c_svc", "svm_type c_svc more", ":1: more than belongs on this line: 'more'"},
    {"svm_type c_svc", "x,y", ":1: this is not a model of LIBSVM: 'x,y'"},
    {"nr_class", "nr_clas", ":4: not a key of LIBSVM's models: 'nr_clas'"},
    {"nr_class 3\n", "nr_class 3\nnr_class 3\n", ":5: the key is given twice"},
    {"nr_class 3", "nr_class 4", ":6: a number is missing"},
    {"nr_class 3", "nr_class 2", ":6: more than belongs on this line"},
    {"nr_class 3", "nr_class 1", ":4: a classifier of 1 class"},
    {"nr_class 3", "nr_class 2147483647", ":4: a classifier of 2147483647 classes"},
    {"nr_class 3", "nr_class 1e300", ":4: the number is out of its range"},
    {"nr_class 3", "nr_class -3", ":4: the number is out of its range"},
    {"nr_class 3", "nr_class 2.5", ":4: not a whole number"},
    {"nr_class 3", "nr_class", ":4: a number is missing"},
    {"total_sv 5", "total_sv 6", ":10: nr_sv adds up to 5 support vectors, total_sv is 6"},
    {"total_sv 5\n", "", "the key 'total_sv' is missing"},
    {"nr_sv 2 1 2", "nr_sv 2 1 1", ":10: nr_sv adds up to 4"},
    {"nr_sv 2 1 2", "nr_sv 3 -1 3", ":10: the number is out of its range"},
    {"total_sv 5\n", "total_sv 4\n", "total_sv is 4"},
    {"rho 0.25 -0.5 0.125\n", "", "the key 'rho' is missing"},
    {"rho 0.25", "rho nan", ":6: not a number: 'nan'"},
    {"rho 0.25", "rho 1e999", ":6: not a finite number: '1e999'"},
    {"rho 0.25", "rho 0x1p2", ":6: not a number"},
    {"label 5 -3 1", "label 5 -3 5", ":7: the label is given twice: '5'"},
    {"label 5 -3 1", "label 5 -3 1.5", ":7: not a whole number: '1.5'"},
    {"label 5 -3 1", "label 5 -3 4000000000", ":7: the number is out of its range"},
    {"label 5 -3 1\n", "", "the key 'label' is missing"},
    {"probB 0.1 -0.2 0.3\n", "", "the key 'probB' is missing"},
    {"probA -2 -1.5 -1.25\n", "", "the key 'probA' is missing"},
    {"probB 0.1", "probB", ":9: a number is missing"},
    {"gamma 0.35\n", "", "the key 'gamma' is missing"},
    {"gamma 0.35", "gamma -0.35", ":3: gamma is negative"},
    {"gamma 0.35", "gamma 0,35", ":3: not a number: '0,35'"},
    {"kernel_type rbf", "kernel_type rbg", ":2: no such kernel: 'rbg'"},
    {"kernel_type rbf", "kernel_type polynomial", "the key 'degree' is missing"},
    {"kernel_type rbf", "kernel_type polynomial\ncoef0 1\ndegree 65", ":4: the number is out of its range: '65'"},
    {"rbf\ngamma 0.35", "polynomial\ncoef0 1\ndegree 64\ngamma 1e-6",
     ":5: gamma = 1e-06 is out of range for the degree 64"},
    {"SV\n", "SW\n", "not a key of LIBSVM's models: 'SW'"},
    {"0.5 1 1:0.25", "0.5 1:0.25", ":12: not a number: '1:0.25'"},
    {"0.5 1 1:0.25", "0.5 1 7 1:0.25", ":12: not an index and a value, as in 7:0.5: '7'"},
    {"1:0.25 3:-1", "3:-1 1:0.25", ":12: the indices do not ascend: '1:0.25'"},
    {"1:0.25 3:-1", "3:-1 3:-1", ":12: the indices do not ascend"},
    {"1:0.25", "0:0.25", ":12: the number is out of its range"},
    {"1:0.25", "-1:0.25", ":12: not an index and a value"},
    {"1:0.25", ":0.25", ":12: a number is missing"},
    {"1:0.25", "1:", ":12: a number is missing"},
    {"1:0.25", "1:inf", ":12: not a number: 'inf'"},
    {"3:-1", "16777217:-1", ":12: the number is out of its range"},
    {"3:-1", "99999999999999999999999999:-1", ":12: the number is out of its range"},
    {"3:-1", "16777216:-1", "too sparse: 5 support vectors in 16777216 columns"},
    {"\r\n", "\r\n0 1 1:1\n", ":17: more than belongs on this line: '0'"},
    {"-1 -0.625 1:1e-1\n", "\n", ":15: a number is missing"},
    {"-1 -0.625 1:1e-1\n", "", "the file ends after 4 of its 5 support vectors"},
};

static char *changed(const char *text, const change *c)
{
    const char *at = strstr(text, c->from);
    if (!at) FAIL_TEST("'%s' is not in the text", c->from);
    char *out = malloc(strlen(text) + strlen(c->to) + 1);
    assert_non_null(out);
    (void)sprintf(out, "%.*s%s%s", (int)(at - text), text, c->to, at + strlen(c->from));
    return out;
}

static void bad_files(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    char *text = fill(THREE, "rbf\ngamma 0.35");
    for (size_t i = 0; i < sizeof CHANGES / sizeof *CHANGES; i++) {
        char *bad = changed(text, &CHANGES[i]);
        refused(context, bad, strlen(bad), GRAM_ERROR_DATA, CHANGES[i].message);
        free(bad);
    }
    const change precomputed = {"kernel_type rbf", "kernel_type precomputed", ""};
    const change negative = {"rbf\ngamma 0.35", "polynomial\ndegree 2\ngamma 1\ncoef0 -1", ""};
    char *bad = changed(text, &precomputed), *other = changed(text, &negative);
    refused(context, bad, strlen(bad), GRAM_ERROR_UNSUPPORTED, ":2: a precomputed kernel");
    refused(context, other, strlen(other), GRAM_ERROR_UNSUPPORTED, ":5: coef0 = -1 is negative");
    refused(context, "PK\3\4", 4, GRAM_ERROR_DATA, "");
    const char *labelled = "svm_type nu_svr\nkernel_type linear\nnr_class 2\ntotal_sv 0\nrho 1\nlabel 1 2\nSV\n";
    refused(context, labelled, strlen(labelled), GRAM_ERROR_DATA, ":6: this machine has no classes");
    gram_model *model = NULL;
    sample_refused(context, "absent.model", gram_model_read_libsvm(context, "absent.model", &model), GRAM_ERROR_FILE,
                   "");
    free(other);
    free(bad);
    free(text);
    gram_context_destroy(context);
}

/* ---- writing ---- */

/* A classifier of random coefficients, of all signs: centres count for several classes. */
static gram_model *make_random(gram_context *context, const char *kernel_text, int64_t classes, int64_t n, int64_t d,
                               gram_preparation *preparation)
{
    const int64_t pairs = classes * (classes - 1) / 2;
    double *x = test_random(3, n * d, -2, 2), *a = test_random(4, n * pairs, -3, 3), *b = test_random(5, pairs, -1, 1);
    double *labels = test_numbers(classes);
    gram_kernel *kernel = test_kernel(context, kernel_text);
    gram_points *points = test_points(context, n, d, x);
    gram_function *f = NULL;
    gram_model *model = NULL;
    for (int64_t i = 0; i < n * pairs; i++)
        if (i % 3 == 0) a[i] = 0;
    for (int64_t c = 0; c < classes; c++) labels[c] = (double)(10 * c - 7);
    OK(context, gram_function_create(context, kernel, points, pairs, a, pairs, b, &f));
    OK(context, gram_model_create(context, "svm", "classification", preparation, f, &model));
    OK(context, gram_model_set_array(context, model, "classes", 1, classes, labels, classes));
    OK(context, gram_model_set_text(context, model, "svm", "nu"));
    gram_function_release(f);
    gram_points_release(points);
    gram_kernel_release(kernel);
    free(labels);
    free(b);
    free(a);
    free(x);
    return model;
}

static void round_trip(void **state)
{
    (void)state;
    static const char *const KERNELS[] = {
        "rbf(ell=0.7)",      "2.5*rbf(ell=[1.3,1.3,1.3])", "linear(c=0)",          "linear(c=0.5)",
        "poly(m=3, c=0.25)", "0.3*poly(m=2, c=0)*2",       "sigmoid(a=0.2, c=-1)", "const(c=2)"};
    enum { N = 12, CLASSES = 4, PAIRS = 6 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double x[POINTS * D];
    test_uniform(11, POINTS * D, -2, 2, x);
    for (size_t k = 0; k < sizeof KERNELS / sizeof *KERNELS; k++) {
        gram_model *model = make_random(context, KERNELS[k], CLASSES, N, D, NULL);
        char *text = print_text(context, model);
        gram_model *again = read_text(context, text);
        double *f = values_of(context, model, POINTS, D, x), *g = values_of(context, again, POINTS, D, x);
        double largest = 1;
        for (int i = 0; i < POINTS * PAIRS; i++) largest = fmax(largest, fabs(f[i]));
        const double error = test_distance(POINTS, PAIRS, f, PAIRS, g, PAIRS);
        if (!(error <= 1e-14 * largest)) FAIL_TEST("%s: off by %g", KERNELS[k], error);
        assert_string_equal(gram_model_find(again, "svm").text, "nu");
        assert_true(same_array(model, again, "classes"));
        assert_null(strstr(text, "e+"));
        free(f);
        free(g);
        free(text);
        gram_model_destroy(again);
        gram_model_destroy(model);
    }
    gram_context_destroy(context);
}

/* Signs as a machine has them, ell that gamma gives back: not a bit changes, up to the order of the centres. */
static void same_bits(void **state)
{
    (void)state;
    enum { N = 9 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *x = test_random(21, N * D, -2, 2), *a = test_random(22, N, 0.01, 3), b = -0.3;
    for (int ell = 1; ell <= 40; ell++) {
        char text[64];
        gram_function *f = NULL;
        gram_model *model = NULL;
        (void)snprintf(text, sizeof text, "rbf(ell=0.%d1)", ell);
        gram_kernel *kernel = test_kernel(context, text);
        gram_points *points = test_points(context, N, D, x);
        OK(context, gram_function_create(context, kernel, points, 1, a, 1, &b, &f));
        OK(context, gram_model_create(context, "svm", "regression", NULL, f, &model));
        char *written = print_text(context, model);
        gram_model *again = read_text(context, written);
        assert_true(same_function(f, gram_model_function(again)));
        gram_model_destroy(again);
        free(written);
        gram_model_destroy(model);
        gram_function_release(f);
        gram_points_release(points);
        gram_kernel_release(kernel);
    }
    free(a);
    free(x);
    gram_context_destroy(context);
}

static gram_preparation *make_preparation(gram_context *context, const gram_column *columns, int text_target)
{
    static const char *const LEVELS[] = {"no", "yes"};
    const gram_column target = {.name = "t",
                                .place = D,
                                .deviation = 1,
                                .text = text_target,
                                .level_count = text_target ? 2 : 0,
                                .levels = text_target ? LEVELS : NULL};
    const gram_preparation_description description = {
        .feature_count = D, .features = columns, .target_count = 1, .targets = &target, .scaled = 1, .named = 1};
    gram_preparation *preparation = NULL;
    OK(context, gram_preparation_create(context, &description, &preparation));
    return preparation;
}

/* rbf does not mind a shift, nor a scale that is the same for all in the end. */
static void scaled(void **state)
{
    (void)state;
    enum { CLASSES = 3, PAIRS = 3 };
    const gram_column columns[D] = {{.name = "u", .mean = 0.5, .deviation = 2},
                                    {.name = "v", .place = 1, .mean = -1.5, .deviation = 0.5},
                                    {.name = "w", .place = 2, .deviation = 1}};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_preparation *preparation = make_preparation(context, columns, 0);
    gram_model *model = make_random(context, "rbf(ell=[0.5,2,1])", CLASSES, 8, D, preparation);
    char *text = print_text(context, model);
    assert_non_null(strstr(text, "\ngamma 0.5\n"));
    gram_model *again = read_text(context, text);
    double raw[POINTS * D], prepared[POINTS * D];
    test_uniform(11, POINTS * D, -2, 2, raw);
    for (int i = 0; i < POINTS * D; i++) prepared[i] = (raw[i] - columns[i % D].mean) / columns[i % D].deviation;
    double *f = values_of(context, model, POINTS, D, prepared), *g = values_of(context, again, POINTS, D, raw);
    assert_true(test_distance(POINTS, PAIRS, f, PAIRS, g, PAIRS) < 1e-13);
    free(f);
    free(g);
    free(text);
    gram_model_destroy(again);
    gram_model_destroy(model);
    gram_preparation_release(preparation);
    gram_context_destroy(context);
}

/* Names like those of LIBSVM's data are indices, whatever the order. */
static void named_by_index(void **state)
{
    (void)state;
    gram_column columns[D] = {{.name = "x7", .deviation = 1},
                              {.name = "x2", .place = 1, .deviation = 1},
                              {.name = "x12", .place = 2, .deviation = 1}};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int other = 0; other < 2; other++) {
        if (other) columns[2].name = "x02";
        gram_preparation *preparation = make_preparation(context, columns, 0);
        gram_model *model = make_random(context, "linear(c=0)", 2, 4, D, preparation);
        char *text = print_text(context, model);
        gram_model *again = read_text(context, text);
        const gram_function *f = gram_model_function(again);
        double x[D] = {0.3, -1, 0.7}, wide[12] = {[6] = 0.3, [1] = -1, [11] = 0.7};
        assert_int_equal(gram_points_dimension(gram_function_centres(f)), other ? D : 12);
        double *a = values_of(context, model, 1, D, x),
               *b = values_of(context, again, 1, other ? D : 12, other ? x : wide);
        assert_true(fabs(a[0] - b[0]) < 1e-14);
        free(a);
        free(b);
        free(text);
        gram_model_destroy(again);
        gram_model_destroy(model);
        gram_preparation_release(preparation);
    }
    gram_context_destroy(context);
}

static void not_printed(gram_context *context, gram_model *model, gram_status wanted, const char *part)
{
    buffer b = {0};
    const size_t before = gram_context_memory_used(context);
    const gram_status status = gram_model_print_libsvm(context, model, keep_text, &b);
    if (status != wanted || !strstr(gram_context_message(context), part))
        FAIL_TEST("%s '%s' instead of '%s'", gram_status_name(status), gram_context_message(context), part);
    assert_true(gram_context_memory_used(context) == before);
    free(b.text);
}

static void cannot_be_written(void **state)
{
    (void)state;
    static const char *const BAD[][2] = {{"laplace(ell=1)", "its kernel is laplace(ell=1)"},
                                         {"rbf(ell=1) + 1", "its kernel is rbf(ell=1) + 1"},
                                         {"rbf(ell=1)*linear(c=0)", "LIBSVM has linear, poly, rbf and sigmoid"},
                                         {"rbf(ell=[1,2,1])", "a width for each feature"},
                                         {"rbf(S=[1,0,0;0,1,0;0,0,2])", "has a matrix"},
                                         {"on(1:2, linear(c=0))", "its kernel is"}};
    const gram_column columns[D] = {{.name = "u", .deviation = 2},
                                    {.name = "v", .place = 1, .mean = 0.5, .deviation = 1},
                                    {.name = "w", .place = 2, .deviation = 1}};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_model *model;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        model = make_random(context, BAD[i][0], 3, 4, D, NULL);
        not_printed(context, model, GRAM_ERROR_UNSUPPORTED, BAD[i][1]);
        gram_model_destroy(model);
    }
    gram_preparation *preparation = make_preparation(context, columns, 0);
    model = make_random(context, "rbf(ell=1)", 3, 4, D, preparation);
    not_printed(context, model, GRAM_ERROR_UNSUPPORTED, "fit it with --no-scale");
    gram_model_destroy(model);
    model = make_random(context, "linear(c=0)", 3, 4, D, preparation);
    not_printed(context, model, GRAM_ERROR_UNSUPPORTED, "fit it with --no-scale");
    gram_model_destroy(model);
    gram_preparation_release(preparation);
    preparation = make_preparation(context, columns, 1);
    model = make_random(context, "rbf(ell=1)", 2, 4, D, preparation);
    not_printed(context, model, GRAM_ERROR_UNSUPPORTED, "its classes are text");
    gram_model_destroy(model);
    gram_preparation_release(preparation);

    const double halves[3] = {-0.5, 1, 2}, few[2] = {1, 2}, descending[3] = {1, 3, 2}, order[3] = {0, 1, 1};
    model = make_random(context, "rbf(ell=1)", 3, 4, D, NULL);
    OK(context, gram_model_set_array(context, model, "classes", 1, 3, halves, 3));
    not_printed(context, model, GRAM_ERROR_UNSUPPORTED, "its class -0.5 is not a whole number");
    OK(context, gram_model_set_array(context, model, "classes", 1, 2, few, 2));
    not_printed(context, model, GRAM_ERROR_DATA, "do not belong together");
    OK(context, gram_model_set_array(context, model, "classes", 1, 3, descending, 3));
    not_printed(context, model, GRAM_ERROR_DATA, "do not belong together");
    gram_model_destroy(model);
    model = make_random(context, "rbf(ell=1)", 3, 4, D, NULL);
    OK(context, gram_model_set_array(context, model, "vote_order", 1, 3, order, 3));
    not_printed(context, model, GRAM_ERROR_DATA, "do not belong together");
    gram_model_destroy(model);
    OK(context, sample_make(context, 0, 1, &model));
    not_printed(context, model, GRAM_ERROR_UNSUPPORTED, "its method is 'krr'; fit it with --method svm");
    gram_model_destroy(model);
    model = make_random(context, "1e308*linear(c=0)", 3, 4, D, NULL);
    not_printed(context, model, GRAM_ERROR_NUMERICAL, "overflows");
    gram_model_destroy(model);
    gram_context_destroy(context);
}

static void files(void **state)
{
    (void)state;
    char folder[64];
    size_t size;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_model *model = make_random(context, "rbf(ell=1)", 3, 4000, D, NULL), *again = NULL;
    gram_model *bad = make_random(context, "laplace(ell=1)", 3, 4, D, NULL);
    sample_enter(folder);
    char *text = print_text(context, model);
    OK(context, gram_model_write_libsvm(context, model, "m.model"));
    unsigned char *bytes = sample_load("m.model", &size);
    assert_string_equal((char *)bytes, text); /* more than a buffer of it */
    assert_true(size > 200000);
    OK(context, gram_model_read_libsvm(context, "m.model", &again));
    assert_true(gram_model_write_libsvm(context, bad, "m.model") == GRAM_ERROR_UNSUPPORTED);
    assert_true(gram_model_write_libsvm(context, model, ".") == GRAM_ERROR_FILE);
    assert_true(gram_model_write_libsvm(context, model, "absent/m.model") == GRAM_ERROR_FILE);
    assert_int_equal(sample_files(), 1);
    unsigned char *still = sample_load("m.model", &size);
    assert_string_equal((char *)still, text);
    assert_int_equal(system("gzip m.model"), 0);
    gram_model *packed = NULL;
    OK(context, gram_model_read_libsvm(context, "m.model.gz", &packed));
    assert_true(same_function(gram_model_function(again), gram_model_function(packed)));
    buffer b = {.stop_at = 2};
    assert_true(gram_model_print_libsvm(context, model, keep_text, &b) == GRAM_ERROR_FILE);
    assert_int_equal(b.calls, 2);
    free(b.text);
    sample_leave(folder);
    free(still);
    free(bytes);
    free(text);
    gram_model_destroy(packed);
    gram_model_destroy(again);
    gram_model_destroy(bad);
    gram_model_destroy(model);
    gram_context_destroy(context);
}

static void bad_use(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_model *model = (gram_model *)context;
    assert_true(gram_model_read_libsvm(context, NULL, &model) == GRAM_ERROR_ARGUMENT);
    assert_null(model);
    assert_true(gram_model_read_libsvm(NULL, "m", &model) == GRAM_ERROR_ARGUMENT);
    assert_true(gram_model_read_libsvm(context, "m", NULL) == GRAM_ERROR_ARGUMENT);
    assert_true(gram_model_read_libsvm_memory(context, NULL, "", 0, &model) == GRAM_ERROR_ARGUMENT);
    assert_true(gram_model_read_libsvm_memory(context, "m", NULL, 1, &model) == GRAM_ERROR_ARGUMENT);
    assert_true(gram_model_read_libsvm_memory(context, "m", NULL, 0, &model) == GRAM_ERROR_DATA);
    assert_true(gram_model_write_libsvm(context, NULL, "m") == GRAM_ERROR_ARGUMENT);
    assert_true(gram_model_print_libsvm(context, NULL, keep_text, NULL) == GRAM_ERROR_ARGUMENT);
    assert_true(gram_model_print_libsvm(NULL, NULL, keep_text, NULL) == GRAM_ERROR_ARGUMENT);
    gram_context_destroy(context);
}

/* ---- memory ---- */

static int count_text(void *user, const char *bytes, size_t length)
{
    (void)bytes;
    *(size_t *)user += length;
    return 0;
}

static gram_status play(gram_context *context)
{
    gram_model *model = NULL;
    size_t length = 0;
    char *text = fill(THREE, FORMS[1].text);
    gram_status status = gram_model_read_libsvm_memory(context, "m.model", text, strlen(text), &model);
    if (status == GRAM_OK) status = gram_model_print_libsvm(context, model, count_text, &length);
    gram_model_destroy(model);
    free(text);
    return status;
}

static gram_status play_file(gram_context *context)
{
    gram_model *model = NULL;
    const gram_status status = gram_model_read_libsvm(context, "m.model", &model);
    gram_model_destroy(model);
    return status;
}

static void failures(void **state)
{
    (void)state;
    char folder[64];
    assert_true(oom_each(play, 0) > 15);
    (void)oom_each(play, 1);
    assert_true(oom_budget(play) < 150000); /* a buffer of 64 KiB, and little more */
    sample_enter(folder);
    char *text = fill(THREE, FORMS[1].text);
    FILE *file = fopen("m.model", "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
    free(text);
    assert_true(oom_each(play_file, 0) > 10);
    assert_true(oom_budget(play_file) < 250000);
    sample_leave(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_classes),
        cmocka_unit_test(columns_are_those_of_data),
        cmocka_unit_test(numbers_and_one_class),
        cmocka_unit_test(no_support),
        cmocka_unit_test(truncated),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(scaled),
        cmocka_unit_test(named_by_index),
        cmocka_unit_test(cannot_be_written),
        cmocka_unit_test(files),
        cmocka_unit_test(bad_use),
        cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
