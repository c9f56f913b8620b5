#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"

void test_ok(const gram_context *context, gram_status status, const char *call, const char *file, int line)
{
    if (status == GRAM_OK) return;
    print_error("%s:%d: %s\n  gave %s: %s\n", file, line, call, gram_status_name(status),
                gram_context_message(context));
    fail();
}

void test_refused(const gram_context *context, gram_status got, gram_status wanted, const char *part, const char *call,
                  const char *file, int line)
{
    const char *message = gram_context_message(context);
    if (got != wanted || !*message || !strstr(message, part))
        FAIL_TEST("%s:%d: %s\n  gave %s '%s' instead of %s '...%s...'", file, line, call, gram_status_name(got),
                  message, gram_status_name(wanted), part);
}

gram_context *test_context_of(const gram_context_options *options)
{
    gram_context *context = NULL;
    assert_int_equal(gram_context_create(options, &context), GRAM_OK);
    return context;
}

gram_context *test_context(int threads, gram_isa isa)
{
    return TEST_CONTEXT(.threads = threads, .isa = isa);
}

int test_has_isa(gram_isa isa)
{
    const gram_context_options options = {.size = sizeof options, .isa = isa};
    gram_context *context = NULL;
    const gram_status status = gram_context_create(&options, &context);
    gram_context_destroy(context);
    return status == GRAM_OK;
}

int test_open(void **state)
{
    *state = test_context(2, GRAM_ISA_AUTO);
    return 0;
}

int test_close(void **state)
{
    gram_context *context = *state, *fresh = test_context(2, GRAM_ISA_AUTO);
    const int leaked = gram_context_memory_used(context) != gram_context_memory_used(fresh);
    gram_context_destroy(fresh);
    gram_context_destroy(context);
    return leaked;
}

int test_stop(void *user)
{
    return !user || --*(int *)user <= 0;
}

uint64_t test_to_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double test_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

gram_points *test_points(gram_context *context, int64_t n, int64_t d, const double *data)
{
    gram_points *points = NULL;
    OK(context, gram_points_create_f64(context, n, d, data, d, &points));
    return points;
}

gram_kernel *test_kernel(gram_context *context, const char *text)
{
    gram_kernel *kernel = NULL;
    const gram_status status = gram_kernel_parse(context, text, &kernel);
    if (status != GRAM_OK) FAIL_TEST("%s: %s", text, gram_context_message(context));
    return kernel;
}

void test_prints(const gram_kernel *kernel, const char *wanted)
{
    char text[512];
    (void)gram_kernel_print(kernel, text, sizeof text);
    assert_string_equal(text, wanted);
}

int64_t test_parameter_values(gram_context *context, const gram_kernel *kernel, double *values)
{
    const int64_t count = gram_kernel_parameter_count(kernel);
    for (int64_t i = 0; i < count; i++) {
        gram_parameter parameter;
        OK(context, gram_kernel_parameter_get(context, kernel, i, &parameter));
        values[i] = parameter.value;
    }
    return count;
}

gram_kernel *test_moved(gram_context *context, const gram_kernel *kernel, int64_t index, double step)
{
    gram_kernel *moved = NULL;
    double *values = test_numbers(gram_kernel_parameter_count(kernel));
    if (index < test_parameter_values(context, kernel, values)) values[index] += step;
    OK(context, gram_kernel_with_values(context, kernel, values, &moved));
    free(values);
    return moved;
}

double *test_matrix(gram_context *context, const gram_kernel *kernel, const gram_points *x, const gram_points *y)
{
    const int64_t columns = gram_points_count(y ? y : x);
    double *k = test_numbers(gram_points_count(x) * columns);
    OK(context, gram_matrix(context, kernel, x, y, k, columns));
    return k;
}

double *test_spread(uint64_t seed, int64_t n, int64_t d)
{
    double *data = test_numbers(n * d), *key = test_numbers(n);
    for (int64_t l = 0; l < d; l++) {
        test_uniform(seed + (uint64_t)l, n, 0, 1, key);
        for (int64_t i = 0; i < n; i++) {
            int64_t place = 0;
            for (int64_t j = 0; j < n; j++) place += key[j] < key[i];
            data[i * d + l] = 0.1 + 1.4 * ((double)place + 0.2 * key[i]) / (double)n;
        }
    }
    free(key);
    return data;
}

/* ---- the list of kernels ---- */

static void add(test_expressions *list, const char *text)
{
    assert_true(list->count < TEST_MAX_EXPRESSIONS);
    const size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, text, size);
    list->text[list->count++] = copy;
}

typedef enum metric_kind { ONE_LENGTH, LENGTHS, COVARIANCE } metric_kind;

/* How a kernel of the table is written: what its metric is given by, and its length-scales, about `unit` each. */
typedef struct setting {
    metric_kind metric;
    int64_t d;
    double unit;
} setting;

/* Length-scales of the order of the distances between points with coordinates of the order of 1. */
static setting common(metric_kind metric, int64_t d)
{
    return (setting){metric, d, sqrt((double)d)};
}

/* "[0.8,1,1.2, ...]" */
static int write_lengths(const setting *s, char *text, int size)
{
    int at = snprintf(text, (size_t)size, "[");
    for (int64_t l = 0; l < s->d; l++)
        at += snprintf(text + at, (size_t)(size - at), "%s%g", l ? "," : "", (0.6 + 0.2 * (double)(l % 4)) * s->unit);
    return at + snprintf(text + at, (size_t)(size - at), "]");
}

/* A well-conditioned matrix with three bands */
static int write_covariance(int64_t d, char *text, int size)
{
    int at = snprintf(text, (size_t)size, "[");
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++) {
            const double entry = i == j ? 0.5 + 0.1 * (double)(i % 3) : i - j == 1 || j - i == 1 ? 0.15 : 0;
            at += snprintf(text + at, (size_t)(size - at), "%s%g", j ? "," : i ? ";" : "", entry * (double)d);
        }
    return at + snprintf(text + at, (size_t)(size - at), "]");
}

/* Kernels of inner products, which grow with d: these free numbers go with a power of d, so that values stay of the order
 * of 1. */
static const struct {
    const char *kernel, *spec;
    double power;
} SCALED[] = {{"expdot", "s", 0.5}, {"sigmoid", "a", -1}};

static double own_number(const gram_kernel_type *type, const gram_parameter_spec *spec, int64_t d)
{
    const double number = isnan(spec->initial) ? spec->resolved : spec->initial;
    for (size_t i = 0; i < sizeof SCALED / sizeof *SCALED; i++)
        if (strcmp(type->name, SCALED[i].kernel) == 0 && strcmp(spec->name, SCALED[i].spec) == 0)
            return number * pow((double)d, SCALED[i].power);
    return number;
}

static int write_argument(const gram_kernel_type *type, const gram_parameter_spec *spec, const setting *s, char *text,
                          int size)
{
    if (spec->role == GRAM_ROLE_LENGTH && s->metric == ONE_LENGTH)
        return snprintf(text, (size_t)size, "%s=%g", spec->name, 0.7 * s->unit);
    const int at = snprintf(text, (size_t)size, "%s=", spec->name);
    if (spec->role == GRAM_ROLE_LENGTH) return at + write_lengths(s, text + at, size - at);
    if (spec->role == GRAM_ROLE_COVARIANCE) return at + write_covariance(s->d, text + at, size - at);
    if (spec->words) return at + snprintf(text + at, (size_t)(size - at), "%s", spec->words[(int)spec->initial]);
    return at + snprintf(text + at, (size_t)(size - at), "%g", own_number(type, spec, s->d));
}

static int has_role(const gram_kernel_type *type, gram_role role)
{
    for (int i = 0; i < type->spec_count; i++)
        if (type->specs[i].role == role) return 1;
    return 0;
}

/* One kernel of the table, every parameter given. */
static void add_type(test_expressions *list, const gram_kernel_type *type, setting s)
{
    static char text[GRAM_KERNEL_MAX_TEXT];
    const gram_role other = s.metric == COVARIANCE ? GRAM_ROLE_LENGTH : GRAM_ROLE_COVARIANCE;
    int at = snprintf(text, sizeof text, "%s(", type->name), written = 0;
    for (int i = 0; i < type->spec_count; i++) {
        if (type->specs[i].role == other) continue;
        if (written++) at += snprintf(text + at, sizeof text - (size_t)at, ", ");
        at += write_argument(type, &type->specs[i], &s, text + at, (int)sizeof text - at);
    }
    (void)snprintf(text + at, sizeof text - (size_t)at, ")");
    add(list, text);
}

static const char *const MORE[] = {
    "matern(nu=0.5, ell=0.9)",
    "matern(nu=1.5, ell=0.9)",
    "matern(nu=0.7, ell=0.9)",
    "poly(m=1, c=0)",
    "poly(m=5, c=0.3)",
    "min(o=-0.5)",
    "linear(c=0.7)",
    "monomial(m=1)",
    "monomial(m=6)",
    "sigmoid(a=0.02, c=-0.3)",
    "powexp(p=0.7, ell=0.9)",
    "powexp(p=2, ell=0.9)",
    "rq(alpha=0.3, ell=0.9)",
    "rq(alpha=40, ell=0.9)",
    "imq(c=0.8, beta=0.3)",
    "imq(c=1.3, beta=1)",
    "imq(c=2, beta=9)",
    "periodic(p=0.7, ell=0.8)",
    "cosine(p=0.9)",
    "sinc(B=1.7)",
    "chi2(g=0.3)",
    "sobolev(a=1, null=0)",
    "sobolev(a=1, null=1)",
    "sobolev(a=3, null=1)",
    "sobolev(a=5, null=0)",
    "nngp(depth=3, act=relu, sw=1.3, sb=0.4, fan=2)",
    "nngp(depth=2, act=erf, sw=1.5, sb=0.3)",
    "ntk(depth=3, act=relu, sw=1.3, sb=0.4, fan=2)",
    "ntk(depth=2, act=erf, sw=1.5, sb=0)",
};

/* Kernels that vanish from a distance on, where some derivative of theirs jumps: %s is a number or a list. */
static const char *const COMPACT[] = {"wendland(k=0, ell=%s)", "wendland(k=2, ell=%s)"};

static void add_compact(test_expressions *list, setting s)
{
    static char lengths[GRAM_KERNEL_MAX_TEXT / 2], text[GRAM_KERNEL_MAX_TEXT];
    if (s.metric == ONE_LENGTH)
        (void)snprintf(lengths, sizeof lengths, "%g", 0.7 * s.unit);
    else
        (void)write_lengths(&s, lengths, sizeof lengths);
    for (size_t i = 0; i < sizeof COMPACT / sizeof *COMPACT; i++) {
        const size_t prefix = strcspn(COMPACT[i], "%");
        (void)snprintf(text, sizeof text, "%.*s%s%s", (int)prefix, COMPACT[i], lengths, COMPACT[i] + prefix + 2);
        add(list, text);
    }
}

static const char *const COMPOSITES[] = {
    "2*rbf(ell=0.9) + 0.5*matern(nu=2.5, ell=0.9) + 0.1",   "rbf(ell=1.5)*laplace1(ell=4) + 0.25*white()",
    "(rbf(ell=0.9) + 0.3*poly(m=2, c=0.5))^2*min(o=-1)",    "(white() + rbf(ell=2))^3",
    "rbf(ell=1) + rbf(ell=2) + rbf(ell=1)*rbf(ell=3)",      "exp(0.3*rbf(ell=1.2) + 0.1*laplace1(ell=3))",
    "2*normalize(poly(m=3, c=0.5) + rbf(ell=1))",           "normalize(expdot(s=3))*normalize(0.4 + min(o=-1))",
    "normalize(exp(normalize(poly(m=2, c=1)*rbf(ell=2))))",
};

static const char *const ON[] = {
    "on(1, rbf(ell=0.5)) + on(2:3, matern(nu=1.5, ell=[0.7,1.9]))*on(3, min())",
    "1.5*(on(3,1, laplace1(ell=[1,2])) + 0.2*rbf(ell=2))^2 + on(1:3, on(2, poly(m=2, c=1)))",
    "normalize(on([3,1], warp([1,0.5;0.25,1;0.3,0.7], rbf(ell=[0.8,1.2,2]) + on(2:3, poly(m=2, c=1)))))",
    "on(1:2, warp([0.5,1], warp([1;2], poly(m=2, c=1))*rbf(ell=1)))",
};

/* Is the kernel defined for whole numbers only? */
static int wants_whole(const gram_kernel_type *type)
{
    double par[GRAM_MAX_SPECS];
    for (int i = 0; i < type->spec_count; i++) par[i] = type->specs[i].initial;
    return type->domain_refuse && type->domain_refuse(par, 0.5) && !type->domain_refuse(par, 1);
}

void test_expressions_make_whole(int64_t d, test_expressions *list)
{
    list->count = 0;
    const gram_kernel_type *type;
    for (int i = 0; (type = gram_kernel_type_get(i)); i++)
        if (wants_whole(type)) add_type(list, type, common(ONE_LENGTH, d));
}

/* Is the kernel 0 between points that are far apart? */
static int is_compact(const gram_kernel_type *type)
{
    static const double DATA[] = {0.1, 2.1}; /* at three times the length-scale */
    if (!has_role(type, GRAM_ROLE_LENGTH)) return 0;
    test_expressions list = {.count = 0};
    double k[4];
    add_type(&list, type, common(ONE_LENGTH, 1));
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(context, list.text[0]);
    gram_points *x = test_points(context, 2, 1, DATA);
    OK(context, gram_matrix(context, kernel, x, NULL, k, 2));
    gram_points_release(x);
    gram_kernel_release(kernel);
    gram_context_destroy(context);
    test_expressions_free(&list);
    return k[1] == 0;
}

/* `reach`: a compact kernel's length-scales, in units of the others' */
static void make_list(int64_t d, double reach, test_expressions *list)
{
    list->count = 0;
    const gram_kernel_type *type;
    for (int i = 0; (type = gram_kernel_type_get(i)); i++) {
        if (wants_whole(type) || !gram_kernel_takes(type, GRAM_OBJECT_NONE)) continue;
        setting one = common(ONE_LENGTH, d), several = common(LENGTHS, d);
        if (reach > 1 && is_compact(type)) one.unit *= reach, several.unit *= reach;
        add_type(list, type, one);
        if (d > 1 && has_role(type, GRAM_ROLE_LENGTH)) add_type(list, type, several);
        if (d > 1 && d <= 100 && has_role(type, GRAM_ROLE_COVARIANCE)) add_type(list, type, common(COVARIANCE, d));
    }
    add_compact(list, (setting){ONE_LENGTH, d, reach * sqrt((double)d)});
    for (size_t i = 0; i < sizeof MORE / sizeof *MORE; i++) add(list, MORE[i]);
    for (size_t i = 0; i < sizeof COMPOSITES / sizeof *COMPOSITES; i++) add(list, COMPOSITES[i]);
    for (size_t i = 0; d >= 3 && i < sizeof ON / sizeof *ON; i++) add(list, ON[i]);
}

void test_expressions_make(int64_t d, test_expressions *list)
{
    make_list(d, 1, list);
}

void test_expressions_make_smooth(int64_t d, test_expressions *list)
{
    make_list(d, 3, list);
}

void test_expressions_make_lengths(int64_t d, double ell, test_expressions *list)
{
    const setting one = {ONE_LENGTH, d, ell / 0.7}, several = {LENGTHS, d, ell / 0.7};
    list->count = 0;
    const gram_kernel_type *type;
    for (int i = 0; (type = gram_kernel_type_get(i)); i++) {
        if (!has_role(type, GRAM_ROLE_LENGTH)) continue;
        add_type(list, type, one);
        if (d > 1) add_type(list, type, several);
    }
    add_compact(list, one);
    if (d > 1) add_compact(list, several);
}

void test_expressions_free(test_expressions *list)
{
    for (int i = 0; i < list->count; i++) free(list->text[i]);
    list->count = 0;
}

/* ---- comparing ---- */

double test_distance(int64_t rows, int64_t columns, const double *a, int64_t lda, const double *b, int64_t ldb)
{
    double largest = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            const double distance = fabs(a[i * lda + j] - b[i * ldb + j]);
            if (isnan(distance)) return INFINITY;
            if (distance > largest) largest = distance;
        }
    return largest;
}

int test_same_bits(int64_t rows, int64_t columns, const double *a, int64_t lda, const double *b, int64_t ldb)
{
    for (int64_t i = 0; i < rows; i++)
        if (memcmp(a + i * lda, b + i * ldb, (size_t)columns * sizeof *a) != 0) return 0;
    return 1;
}

void test_near(const char *what, const char *of, int64_t count, const double *a, const double *b, double tolerance)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance * (1 + fabs(b[i]))))
            FAIL_TEST("%s%s%s: [%lld] is %.17g instead of %.17g", what, of ? " of " : "", of ? of : "", (long long)i,
                      a[i], b[i]);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void test_sort(int64_t count, double *numbers)
{
    qsort(numbers, (size_t)count, sizeof *numbers, compare);
}

void test_any_threads(int64_t count, void (*fill)(gram_context *context, double *out))
{
    static const int THREADS[] = {1, 2, 3, 7};
    double *first = test_numbers(count), *out = test_numbers(count);
    for (size_t i = 0; i < sizeof THREADS / sizeof *THREADS; i++) {
        gram_context *context = test_context(THREADS[i], GRAM_ISA_AUTO);
        fill(context, i ? out : first);
        if (i && !test_same_bits(1, count, first, count, out, count))
            FAIL_TEST("other bits with %d threads than with one", THREADS[i]);
        gram_context_destroy(context);
    }
    free(first);
    free(out);
}

/* ---- files ---- */

FILE *test_open_reference(const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof path, GRAM_TEST_SOURCE "/reference/%s", name);
    FILE *file = fopen(path, "r");
    if (!file) FAIL_TEST("%s cannot be read", path);
    return file;
}

void test_read_numbers(FILE *file, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i++)
        if (fscanf(file, "%lf", &out[i]) != 1) FAIL_TEST("the table ends early");
}

void test_write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}
