/* What the engine promises of every kernel of the table, whatever its formula: exact symmetry, the same bits from every
 * function that gives the same number and for any number of threads, products equal to those of the whole matrix,
 * positive semi-definiteness, no cancellation between near points. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lapack.h"
#include "kernel/kernel.h"
#include "support.h"

static const int64_t SIZES[] = {1, 2, 15, 16, 17, 95, 96, 97, 200};
static const int64_t DIMENSIONS[] = {1, 3, 10, 70};

enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES, DIMENSION_COUNT = sizeof DIMENSIONS / sizeof *DIMENSIONS };

/* Everything that one call of a body below works with. */
typedef struct trial {
    gram_context *context;
    const char *text;
    gram_kernel *kernel;
    int64_t n, d;
    const double *data;
    gram_points *x;
    int whole; /* the kernel takes whole numbers only */
} trial;

typedef void (*trial_fn)(const trial *t);

static void run_one(gram_context *context, const char *text, int64_t n, int64_t d, const double *data, trial_fn body)
{
    trial t = {context, text, test_kernel(context, text), n, d, data, test_points(context, n, d, data), 0};
    body(&t);
    gram_points_release(t.x);
    gram_kernel_release(t.kernel);
}

/* Coordinates that every kernel takes: between 0.05 and 1.5, or 0 and 1. */
static double *coordinates(uint64_t seed, int64_t count, int whole)
{
    double *data = test_random(seed, count, 0.05, 1.5);
    for (int64_t i = 0; whole && i < count; i++) data[i] = data[i] > 0.7;
    return data;
}

/* body for the kernels that take whole numbers only */
static void run_whole(gram_context *context, int64_t n, int64_t d, trial_fn body)
{
    test_expressions list;
    double *data = coordinates((uint64_t)(100 * d + n), n * d, 1);
    test_expressions_make_whole(d, &list);
    assert_true(list.count > 0);
    for (int e = 0; e < list.count; e++) {
        const char *text = list.text[e];
        trial t = {context, text, test_kernel(context, text), n, d, data, test_points(context, n, d, data), 1};
        body(&t);
        gram_points_release(t.x);
        gram_kernel_release(t.kernel);
    }
    test_expressions_free(&list);
    free(data);
}

/* body for every kernel, every dimension and the given sizes; where that takes long, each kernel gets one of `every`
 * combinations of size and dimension, neighbours different ones */
static void run_all(const int64_t *sizes, int size_count, int every, trial_fn body)
{
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int k = 0; k < DIMENSION_COUNT; k++) {
        const int64_t d = DIMENSIONS[k];
        test_expressions list;
        test_expressions_make(d, &list);
        for (int s = 0; s < size_count; s++) {
            double *data = test_random((uint64_t)(100 * d + sizes[s]), sizes[s] * d, 0.05, 1.5);
            for (int e = 0; e < list.count; e++)
                if ((e + s + k) % every == 0) run_one(context, list.text[e], sizes[s], d, data, body);
            free(data);
            run_whole(context, sizes[s], d, body);
        }
        test_expressions_free(&list);
    }
    gram_context_destroy(context);
}

#define BROKEN(t, what)                                                                                                \
    FAIL_TEST("%.300s, n = %lld, d = %lld: %s", (t)->text, (long long)(t)->n, (long long)(t)->d, what)

static double *matrix(const trial *t, const gram_points *y, int64_t columns)
{
    double *k = test_numbers(t->n * columns);
    OK(t->context, gram_matrix(t->context, t->kernel, t->x, y, k, columns));
    return k;
}

/* ---- symmetry, diagonal, columns ---- */

static void check_symmetric(const trial *t)
{
    double *k = matrix(t, NULL, t->n);
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t j = 0; j <= i; j++)
            if (memcmp(&k[i * t->n + j], &k[j * t->n + i], sizeof *k) != 0) BROKEN(t, "K differs from its transpose");
    free(k);
}

static void check_diagonal(const trial *t)
{
    double *k = matrix(t, NULL, t->n), *diagonal = test_numbers(t->n);
    OK(t->context, gram_matrix_diagonal(t->context, t->kernel, t->x, diagonal));
    for (int64_t i = 0; i < t->n; i++)
        if (memcmp(&k[i * t->n + i], &diagonal[i], sizeof *k) != 0) BROKEN(t, "the diagonal has other bits");
    free(diagonal);
    free(k);
}

static void check_columns(const trial *t)
{
    enum { COUNT = 19 };
    const int64_t ld = COUNT + 2;
    int64_t index[COUNT];
    for (int j = 0; j < COUNT; j++) index[j] = (7 * j + t->n - 1) % t->n; /* the last one first, some twice */
    double *k = matrix(t, NULL, t->n), *columns = test_numbers(t->n * ld), *want = test_numbers(t->n * ld);
    for (int64_t i = 0; i < t->n * ld; i++) columns[i] = want[i] = -7;
    for (int64_t i = 0; i < t->n; i++)
        for (int j = 0; j < COUNT; j++) want[i * ld + j] = k[i * t->n + index[j]];
    OK(t->context, gram_matrix_columns(t->context, t->kernel, t->x, COUNT, index, columns, ld));
    if (t->d <= 64 && !test_same_bits(t->n, ld, columns, ld, want, ld)) BROKEN(t, "columns have other bits");
    for (int64_t i = 0; i < t->n * ld; i++)
        if (!(fabs(columns[i] - want[i]) <= 1e-13 * fabs(want[i]))) BROKEN(t, "columns have other values");
    free(want);
    free(columns);
    free(k);
}

/* K(X, copy of X) and K(X, X) are the same numbers but for white, which sees different observations; ld does not
 * matter. */
static void check_cross(const trial *t)
{
    const int64_t ldx = t->d + 3, ld = t->n + 5;
    double *copy = test_numbers(t->n * ldx), *k = matrix(t, NULL, t->n), *cross = test_numbers(t->n * ld);
    for (int64_t i = 0; i < t->n; i++) {
        for (int64_t l = t->d; l < ldx; l++) copy[i * ldx + l] = NAN; /* between the rows: not ours to look at */
        memcpy(copy + i * ldx, t->data + i * t->d, (size_t)t->d * sizeof *copy);
    }
    for (int64_t i = 0; i < t->n * ld; i++) cross[i] = -7;
    gram_points *y = NULL;
    OK(t->context, gram_points_create_f64(t->context, t->n, t->d, copy, ldx, &y));
    OK(t->context, gram_matrix(t->context, t->kernel, t->x, y, cross, ld));
    const int white = strstr(t->text, "white") != NULL;
    for (int64_t i = 0; i < t->n; i++) {
        for (int64_t j = 0; j < t->n; j++)
            if (!(white && i == j) && memcmp(&k[i * t->n + j], &cross[i * ld + j], sizeof *k) != 0)
                BROKEN(t, "K(X, copy of X) differs from K(X, X)");
        for (int64_t j = t->n; j < ld; j++)
            if (cross[i * ld + j] != -7) BROKEN(t, "wrote between the rows");
        if (white && !(cross[i * ld + i] < k[i * t->n + i])) BROKEN(t, "white took copies for the same observation");
    }
    gram_points_release(y);
    free(cross);
    free(k);
    free(copy);
}

static void check_values(const trial *t)
{
    check_symmetric(t);
    check_diagonal(t);
    check_columns(t);
    check_cross(t);
}

static void values(void **state)
{
    (void)state;
    run_all(SIZES, SIZE_COUNT, 3, check_values);
}

/* ---- products ---- */

/* |out - K v| <= 1e-13 |K| |v|, entry by entry; what lies between the rows of out is left alone. */
static void check_against_dense(const trial *t, const double *k, int64_t m, int64_t columns, const double *v,
                                int64_t ldv, const double *out, int64_t ldo)
{
    for (int64_t i = 0; i < t->n; i++) {
        for (int64_t c = 0; c < columns; c++) {
            double want = 0, size = 0;
            for (int64_t j = 0; j < m; j++) {
                want += k[i * m + j] * v[j * ldv + c];
                size += fabs(k[i * m + j] * v[j * ldv + c]);
            }
            if (!(fabs(out[i * ldo + c] - want) <= 1e-13 * size)) BROKEN(t, "the product differs from the dense one");
        }
        for (int64_t c = columns; c < ldo; c++)
            if (out[i * ldo + c] != -7) BROKEN(t, "the product wrote between the rows");
    }
}

static void check_product_with(const trial *t, const gram_points *y, int64_t m, const double *k)
{
    static const int64_t COLUMNS[] = {1, 2, 3, 4, 7, 40};
    const size_t step = t->n > 100 ? 3 : 1; /* fewer of them for large n */
    for (size_t c = 0; c < sizeof COLUMNS / sizeof *COLUMNS; c += step) {
        const int64_t columns = COLUMNS[c], ldv = columns + (c % 2 ? 3 : 0), ldo = columns + (c % 3 ? 2 : 0);
        double *v = test_random(c, m * ldv, -1, 1), *out = test_numbers(t->n * ldo);
        for (int64_t i = 0; i < t->n * ldo; i++) out[i] = -7;
        for (int64_t j = 0; j < m; j++)
            for (int64_t between = columns; between < ldv; between++) v[j * ldv + between] = NAN;
        OK(t->context, gram_matrix_product(t->context, t->kernel, t->x, y, columns, v, ldv, out, ldo));
        check_against_dense(t, k, m, columns, v, ldv, out, ldo);
        free(out);
        free(v);
    }
}

static void check_product(const trial *t)
{
    const int64_t m = t->n * 2 / 3 + 3;
    double *k = matrix(t, NULL, t->n);
    check_product_with(t, NULL, t->n, k);
    free(k);
    double *other = coordinates(99, m * t->d, t->whole);
    gram_points *y = test_points(t->context, m, t->d, other);
    k = matrix(t, y, m);
    check_product_with(t, y, m, k);
    gram_points_release(y);
    free(other);
    free(k);
}

static void products(void **state)
{
    (void)state;
    static const int64_t FEW[] = {1, 97, 200};
    run_all(FEW, sizeof FEW / sizeof *FEW, 3, check_product);
}

/* One larger size, so that several panels meet. */
static void larger(void **state)
{
    (void)state;
    static const char *const KERNELS[] = {"rbf(ell=1.5)", "2*matern(nu=1.5, ell=1) + 0.5*white()", "min()*rbf(ell=2)"};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int64_t d = 2; d <= 70; d += 68) {
        double *data = test_random((uint64_t)d, 500 * d, 0.05, 1.5);
        for (size_t e = 0; e < sizeof KERNELS / sizeof *KERNELS; e++) {
            run_one(context, KERNELS[e], 500, d, data, check_values);
            run_one(context, KERNELS[e], 500, d, data, check_product);
        }
        free(data);
    }
    gram_context_destroy(context);
}

/* ---- threads ---- */

/* The results of every public function, one after the other. */
enum { RESULTS = 8 };
typedef struct results {
    int64_t count[RESULTS];
    double *numbers[RESULTS];
} results;

static double *result(results *r, int which, int64_t count)
{
    r->count[which] = count;
    return r->numbers[which] = test_numbers(count);
}

static void compute(gram_context *c, const trial *t, gram_points *y, int64_t m, const double *v, results *r)
{
    const int64_t n = t->n, columns = 3, index[3] = {n - 1, 0, n / 2}, p = gram_kernel_parameter_count(t->kernel);
    const gram_weights low = {.rank = columns, .a = v, .lda = columns, .b = v, .ldb = columns};
    OK(c, gram_matrix(c, t->kernel, t->x, NULL, result(r, 0, n * n), n));
    OK(c, gram_matrix(c, t->kernel, t->x, y, result(r, 1, n * m), m));
    OK(c, gram_matrix_diagonal(c, t->kernel, t->x, result(r, 2, n)));
    OK(c, gram_matrix_columns(c, t->kernel, t->x, 3, index, result(r, 3, n * 3), 3));
    OK(c, gram_matrix_product(c, t->kernel, t->x, NULL, columns, v, columns, result(r, 4, n * columns), columns));
    OK(c, gram_matrix_product(c, t->kernel, t->x, y, columns, v, columns, result(r, 5, n * columns), columns));
    OK(c, gram_matrix_parameter_gradient(c, t->kernel, t->x, NULL, &low, result(r, 6, p)));
    OK(c, gram_matrix_input_gradient(c, t->kernel, t->x, y, &low, result(r, 7, n * t->d), t->d));
}

static int is_coords(const gram_kernel *kernel)
{
    return kernel->node == GRAM_NODE_LEAF && kernel->type->form == GRAM_FORM_COORDS;
}

static void check_threads(const trial *t)
{
    if (t->d != 3 && t->d != 70) return;           /* by differences and by inner products */
    if (t->d > 3 && strstr(t->text, "S=")) return; /* 2485 parameters */
    if (t->d > 3 && is_coords(t->kernel)) return;  /* one way only, and O(d^2) for derivatives by the inputs */
    const int64_t m = t->n + 30;
    double *v = test_random(5, m * 3, -1, 1), *other = coordinates(6, m * t->d, t->whole);
    gram_points *y = test_points(t->context, m, t->d, other);
    results first = {{0}, {NULL}}, now = {{0}, {NULL}};
    const int most = t->n > 200 ? 3 : 2;
    for (int threads = 1; threads <= most; threads++) {
        gram_context *context = test_context(threads, GRAM_ISA_AUTO);
        compute(context, t, y, m, v, threads == 1 ? &first : &now);
        for (int which = 0; which < RESULTS && threads > 1; which++) {
            if (!test_same_bits(1, first.count[which], first.numbers[which], 0, now.numbers[which], 0)) {
                print_error("result %d with %d threads\n", which, threads);
                BROKEN(t, "other bits with another number of threads");
            }
            free(now.numbers[which]);
        }
        gram_context_destroy(context);
    }
    for (int which = 0; which < RESULTS; which++) free(first.numbers[which]);
    gram_points_release(y);
    free(other);
    free(v);
}

/* Every kernel with few tasks; some with so many that every thread gets its share. */
static void threads(void **state)
{
    (void)state;
    static const int64_t FEW[] = {130};
    static const char *const KERNELS[] = {"rbf(ell=1.5)", "2*matern(nu=1.5, ell=1)*poly(m=2, c=1) + 0.5*white()"};
    run_all(FEW, sizeof FEW / sizeof *FEW, 1, check_threads);
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int64_t d = 3; d <= 70; d += 67) {
        double *data = test_random((uint64_t)d, 600 * d, 0.05, 1.5);
        for (size_t e = 0; e < sizeof KERNELS / sizeof *KERNELS; e++)
            run_one(context, KERNELS[e], 600, d, data, check_threads);
        free(data);
    }
    gram_context_destroy(context);
}

/* ---- f32 ---- */

/* Between f32 points everything is computed in f32; against f64 on the same rounded points the difference is at most
 * 4e-6 of the kernel's largest value on them: some sixty roundings to 24 bits, for poly of degree 5 included. What f32
 * has no numbers for (sobolev in 70 columns) is 0 or subnormal there. */
static void check_f32(const trial *t)
{
    const double tolerance = 4e-6;
    float *narrow = malloc((size_t)(t->n * t->d) * sizeof *narrow);
    double *wide = test_numbers(t->n * t->d), *k32 = test_numbers(t->n * t->n), *k64 = test_numbers(t->n * t->n);
    assert_non_null(narrow);
    for (int64_t i = 0; i < t->n * t->d; i++) wide[i] = narrow[i] = (float)t->data[i];
    gram_points *x32 = NULL, *x64 = test_points(t->context, t->n, t->d, wide);
    OK(t->context, gram_points_create_f32(t->context, t->n, t->d, narrow, t->d, &x32));
    OK(t->context, gram_matrix(t->context, t->kernel, x32, NULL, k32, t->n));
    OK(t->context, gram_matrix(t->context, t->kernel, x64, NULL, k64, t->n));
    double largest = 0;
    for (int64_t i = 0; i < t->n * t->n; i++) largest = fmax(largest, fabs(k64[i]));
    const double off = test_distance(t->n, t->n, k32, t->n, k64, t->n);
    if (!(off <= tolerance * largest + (double)FLT_MIN)) {
        print_error("off by %g of the largest value\n", off / largest);
        BROKEN(t, "f32 is too far from f64");
    }
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t j = 0; j < i; j++)
            if (k32[i * t->n + j] != k32[j * t->n + i]) BROKEN(t, "K in f32 differs from its transpose");

    double *v = test_random(3, t->n * 2, -1, 1), *p32 = test_numbers(t->n * 2), *diagonal = test_numbers(t->n);
    OK(t->context, gram_matrix_product(t->context, t->kernel, x32, NULL, 2, v, 2, p32, 2));
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t c = 0; c < 2; c++) {
            double want = 0;
            for (int64_t j = 0; j < t->n; j++) want += k64[i * t->n + j] * v[j * 2 + c];
            if (!(fabs(p32[i * 2 + c] - want) <= (tolerance * largest + (double)FLT_MIN) * (double)t->n))
                BROKEN(t, "the product in f32 is too far");
        }
    OK(t->context, gram_matrix_diagonal(t->context, t->kernel, x32, diagonal));
    for (int64_t i = 0; i < t->n; i++)
        if (diagonal[i] != k32[i * t->n + i]) BROKEN(t, "the diagonal in f32 has other bits");
    free(diagonal);
    free(p32);
    free(v);
    gram_points_release(x32);
    gram_points_release(x64);
    free(k64);
    free(k32);
    free(wide);
    free(narrow);
}

static void single_precision(void **state)
{
    (void)state;
    static const int64_t FEW[] = {1, 17, 97};
    run_all(FEW, sizeof FEW / sizeof *FEW, 2, check_f32);
}

/* ---- positive semi-definiteness ---- */

static double smallest_eigenvalue(int64_t n, double *k)
{
    const int order = (int)n, work_size = 34 * order;
    int info = 0;
    double *eigenvalues = test_numbers(n), *work = test_numbers(work_size);
    dsyev_("N", "U", &order, k, &order, eigenvalues, work, &work_size, &info, 1, 1);
    assert_int_equal(info, 0);
    const double smallest = eigenvalues[0];
    free(work);
    free(eigenvalues);
    return smallest;
}

static void check_semidefinite(const trial *t)
{
    gram_properties facts;
    OK(t->context, gram_kernel_properties(t->context, t->kernel, t->d, &facts));
    if (facts.positive_definite != GRAM_YES) return;
    double *k = matrix(t, NULL, t->n), largest = 0;
    for (int64_t i = 0; i < t->n; i++) largest = fmax(largest, k[i * t->n + i]);
    const double smallest = smallest_eigenvalue(t->n, k);
    if (!(smallest >= -1e-12 * (double)t->n * largest)) {
        print_error("smallest eigenvalue %g, largest entry of the diagonal %g\n", smallest, largest);
        BROKEN(t, "not positive semi-definite");
    }
    free(k);
}

enum { SCATTERED, DUPLICATE, GRID, COLLINEAR, LAYOUTS };

static double *layout(int which, int64_t n, int64_t d)
{
    double *data = test_random((uint64_t)(1000 + d), n * d, 0.05, 1.5);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < d; l++) {
            double *at = &data[i * d + l];
            if (which == DUPLICATE) *at = data[i % 7 * d + l];
            if (which == GRID) *at = 0.1 + 0.25 * (double)(l == 0 ? i % 6 : l == 1 ? i / 6 : i % 2);
            if (which == COLLINEAR) *at = 0.1 + 0.02 * (double)i * (1 + (double)(l % 3));
        }
    return data;
}

static void semidefinite(void **state)
{
    (void)state;
    enum { N = 48 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int k = 0; k < DIMENSION_COUNT; k++) {
        test_expressions list;
        test_expressions_make(DIMENSIONS[k], &list);
        for (int which = 0; which < LAYOUTS; which++) {
            double *data = layout(which, N, DIMENSIONS[k]);
            for (int e = 0; e < list.count; e++)
                run_one(context, list.text[e], N, DIMENSIONS[k], data, check_semidefinite);
            free(data);
        }
        run_whole(context, N, DIMENSIONS[k], check_semidefinite);
        test_expressions_free(&list);
    }
    gram_context_destroy(context);
}

/* ---- near points ---- */

/* Pairs of points at 1e-9 of their norm from each other, with a length-scale of that order: 1 - k keeps six digits. */
typedef struct near_kernel {
    const char *name; /* with %s for the length-scale or the list of them */
    int l1;
    long double (*one_minus)(long double form); /* 1 - k as a function of sum |t| or sum t^2 */
} near_kernel;

static long double one_minus_rbf(long double z)
{
    return -expm1l(-z / 2);
}

static long double one_minus_exp(long double a)
{
    return -expm1l(-a);
}

static long double one_minus_matern12(long double z)
{
    return -expm1l(-sqrtl(z));
}

static long double one_minus_matern32(long double z)
{
    const long double a = sqrtl(3 * z);
    return 1 - (1 + a) * expl(-a);
}

static long double one_minus_matern52(long double z)
{
    const long double a = sqrtl(5 * z);
    return 1 - (1 + a + a * a / 3) * expl(-a);
}

static long double one_minus_power(long double z)
{
    return -expm1l(-powl(z, 0.45L));
}

static long double one_minus_rq3(long double z)
{
    return -expm1l(-3 * log1pl(z / 6));
}

static const near_kernel NEAR[] = {{"rbf(ell=%s)", 0, one_minus_rbf},
                                   {"laplace1(ell=%s)", 1, one_minus_exp},
                                   {"matern(nu=0.5, ell=%s)", 0, one_minus_matern12},
                                   {"matern(nu=1.5, ell=%s)", 0, one_minus_matern32},
                                   {"matern(nu=2.5, ell=%s)", 0, one_minus_matern52},
                                   {"laplace(ell=%s)", 0, one_minus_matern12},
                                   {"powexp(p=0.9, ell=%s)", 0, one_minus_power},
                                   {"rq(alpha=3, ell=%s)", 0, one_minus_rq3}};

/* Pairs are rows 2 i and 2 i + 1. */
static void check_near(gram_context *context, const near_kernel *kind, const char *lengths, const double *ell,
                       int64_t ell_step, int64_t n, int64_t d, const double *data)
{
    static char text[GRAM_KERNEL_MAX_TEXT];
    const size_t prefix = strcspn(kind->name, "%");
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)prefix, kind->name, lengths, kind->name + prefix + 2);
    gram_kernel *kernel = test_kernel(context, text);
    gram_points *x = test_points(context, n, d, data);
    double *k = test_numbers(n * n), worst = 0;
    int64_t asked = 0;
    OK(context, gram_matrix(context, kernel, x, NULL, k, n));
    for (int64_t i = 0; i + 1 < n; i += 2) {
        long double form = 0;
        for (int64_t l = 0; l < d; l++) {
            const long double t = ((long double)data[i * d + l] - data[(i + 1) * d + l]) / ell[l * ell_step];
            form += kind->l1 ? fabsl(t) : t * t;
        }
        const long double want = kind->one_minus(form);
        if (want < 0.01L || want > 0.99L) continue; /* nothing to ask for */
        asked++;
        worst = fmax(worst, (double)fabsl((1 - (long double)k[i * n + i + 1] - want) / want));
    }
    assert_true(asked >= n / 4);
    if (!(worst <= 1e-6)) FAIL_TEST("%.200s, d = %lld: 1 - k is off by %.2g", text, (long long)d, worst);
    free(k);
    gram_points_release(x);
    gram_kernel_release(kernel);
}

/* Row 2 i + 1 is row 2 i moved by 1e-9 of its norm in a random direction. */
static double *near_points(int64_t n, int64_t d)
{
    double *data = test_random((uint64_t)(50 + d), n * d, -1, 1);
    for (int64_t i = 0; i + 1 < n; i += 2) {
        double *x = data + i * d, *y = x + d, x_square = 0, y_square = 0;
        for (int64_t l = 0; l < d; l++) {
            x_square += x[l] * x[l];
            y_square += y[l] * y[l];
        }
        const double length = sqrt((double)d / 3); /* all of one norm */
        for (int64_t l = 0; l < d; l++) {
            x[l] *= length / sqrt(x_square);
            y[l] = x[l] + 1e-9 * length * y[l] / sqrt(y_square);
        }
    }
    return data;
}

static void near_duplicates(void **state)
{
    (void)state;
    static const int64_t D[] = {1, 2, 10, 64, 70, 200};
    enum { N = 60 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (size_t s = 0; s < sizeof D / sizeof *D; s++) {
        const int64_t d = D[s];
        double *data = near_points(N, d), *ell = test_numbers(d);
        static char list[GRAM_KERNEL_MAX_TEXT / 2];
        for (size_t e = 0; e < sizeof NEAR / sizeof *NEAR; e++) {
            const double one = 4e-10 * (NEAR[e].l1 ? (double)d : sqrt((double)d));
            (void)snprintf(list, sizeof list, "%.17g", one);
            ell[0] = one;
            check_near(context, &NEAR[e], list, ell, 0, N, d, data);
            int at = 0;
            for (int64_t l = 0; l < d; l++) {
                ell[l] = one * (0.5 + 0.5 * (double)(l % 3));
                at += snprintf(list + at, sizeof list - (size_t)at, "%s%.17g%s", l ? "," : "[", ell[l],
                               l == d - 1 ? "]" : "");
            }
            check_near(context, &NEAR[e], list, ell, 1, N, d, data);
        }
        free(ell);
        free(data);
    }
    gram_context_destroy(context);
}

/* t' T^-1 t, T with 1 on the diagonal and 0.3 beside it, by its bidiagonal Cholesky factor */
static long double banded_form(int64_t d, const long double *t)
{
    long double form = 0, diagonal = 0, solved = 0;
    for (int64_t l = 0; l < d; l++) {
        const long double below = l ? 0.3L / diagonal : 0;
        diagonal = sqrtl(1 - below * below);
        solved = (t[l] - below * solved) / diagonal;
        form += solved * solved;
    }
    return form;
}

/* "[s,0.3 s,0;0.3 s,s,0.3 s;...]" with s a power of two, so that S = s T up to the rounding of 0.3 */
static void write_banded(int64_t d, double s, char *text, size_t size)
{
    size_t at = 0;
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++) {
            const double entry = i == j ? s : i - j == 1 || j - i == 1 ? 0.3 * s : 0;
            at += (size_t)snprintf(text + at, size - at, "%s%.17g", j ? "," : i ? ";" : "", entry);
        }
    assert_true(at < size);
}

/* The same with a full covariance of that order. */
static void near_duplicates_covariance(void **state)
{
    (void)state;
    static const int64_t D[] = {2, 10, 70};
    enum { N = 60 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (size_t which = 0; which < sizeof D / sizeof *D; which++) {
        static char matrix_text[GRAM_KERNEL_MAX_TEXT / 2], text[GRAM_KERNEL_MAX_TEXT];
        const int64_t d = D[which];
        const double scale = d == 2 ? 0x1p-31 : d == 10 ? 0x1p-30 : 0x1p-28, s = scale * scale;
        double *data = near_points(N, d), *k = test_numbers(N * N), worst = 0;
        long double t[70];
        write_banded(d, s, matrix_text, sizeof matrix_text);
        (void)snprintf(text, sizeof text, "rbf(S=[%s])", matrix_text);
        gram_kernel *kernel = test_kernel(context, text);
        gram_points *x = test_points(context, N, d, data);
        OK(context, gram_matrix(context, kernel, x, NULL, k, N));
        int64_t asked = 0;
        for (int64_t i = 0; i < N; i += 2) {
            for (int64_t l = 0; l < d; l++) t[l] = ((long double)data[i * d + l] - data[(i + 1) * d + l]) / scale;
            const long double want = one_minus_rbf(banded_form(d, t));
            if (want < 0.01L || want > 0.99L) continue;
            asked++;
            worst = fmax(worst, (double)fabsl((1 - (long double)k[i * N + i + 1] - want) / want));
        }
        assert_true(asked >= N / 4);
        if (!(worst <= 1e-6)) FAIL_TEST("rbf(S), d = %lld: 1 - k is off by %.2g", (long long)d, worst);
        gram_points_release(x);
        gram_kernel_release(kernel);
        free(k);
        free(data);
    }
    gram_context_destroy(context);
}

/* ---- far ends of the numbers ---- */

/* Distances whose squares overflow and length-scales whose squares vanish: k is 1 on the diagonal and, between points
 * that are much further apart than ell, 0. Never NaN. */
typedef struct extreme {
    const char *ell;
    double scale; /* of the points */
    int single;   /* f32 */
    double want;  /* off the diagonal */
} extreme;

static void check_extreme(gram_context *context, const char *kind, const extreme *e, int64_t d)
{
    enum { N = 20 };
    char text[64];
    (void)snprintf(text, sizeof text, "%sell=%s)", kind, e->ell);
    double *data = test_random((uint64_t)d, N * d, -1, 1), k[N * N];
    float *narrow = calloc((size_t)(N * d), sizeof *narrow);
    assert_non_null(narrow);
    for (int64_t i = 0; i < N * d; i++) data[i] *= e->scale;
    for (int64_t i = 0; e->single && i < N * d; i++) narrow[i] = (float)data[i];
    gram_points *x = NULL;
    OK(context, e->single ? gram_points_create_f32(context, N, d, narrow, d, &x)
                          : gram_points_create_f64(context, N, d, data, d, &x));
    gram_kernel *kernel = test_kernel(context, text);
    OK(context, gram_matrix(context, kernel, x, NULL, k, N));
    for (int64_t i = 0; i < N * N; i++)
        if (!(k[i] == (i % (N + 1) == 0 ? 1 : e->want)))
            FAIL_TEST("%s, d = %lld, points of size %g: k(%lld, %lld) = %g", text, (long long)d, e->scale,
                      (long long)(i / N), (long long)(i % N), k[i]);
    gram_kernel_release(kernel);
    gram_points_release(x);
    free(narrow);
    free(data);
}

static void extremes(void **state)
{
    (void)state;
    static const char *const KINDS[] = {
        "rbf(",     "laplace1(",      "matern(nu=0.5, ", "matern(nu=1.5, ", "matern(nu=2.5, ",
        "laplace(", "powexp(p=0.7, ", "powexp(p=1.5, ",  "powexp(p=2, "};
    static const extreme CASES[] = {
        {"1", 1e200, 0, 0}, {"1e-200", 1, 0, 0}, {"1e200", 1, 0, 1}, {"1e-150", 1e-100, 0, 0},
        {"1", 1e30, 1, 0},  {"1e-30", 1, 1, 0},  {"1e30", 1, 1, 1},
    };
    static const int64_t D[] = {1, 10, 70};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (size_t s = 0; s < sizeof D / sizeof *D; s++)
        for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++)
            for (size_t e = 0; e < sizeof KINDS / sizeof *KINDS; e++) check_extreme(context, KINDS[e], &CASES[c], D[s]);
    gram_context_destroy(context);
}

/* Numbers of the kernel that f32 cannot hold, or where it would lose digits: between f32 points as between the same points
 * in f64, to 4e-6 of the largest value. */
static void extremes_f32(void **state)
{
    (void)state;
    enum { N = 40, D = 3 };
    static const char *const TEXTS[] = {
        "rq(alpha=1e12, ell=1)",   "rq(alpha=1e300, ell=0.5)", "rq(alpha=1e-200, ell=1)", "rq(alpha=900, ell=0.1)",
        "imq(c=1e25, beta=0.1)",   "imq(c=1e-25, beta=0.1)",   "imq(c=1e-18, beta=1)",    "imq(c=1e20, beta=0.5)",
        "imq(c=1.001, beta=5000)", "sigmoid(a=1e200, c=0)",    "sigmoid(a=1e-6, c=0)",    "sigmoid(a=-3, c=1e-9)",
        "powexp(p=0.01, ell=1)",   "powexp(p=1.9, ell=1e-3)",  "rq(alpha=1, ell=1e-15)",  "normalize(expdot(s=0.3))",
    };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *data = test_random(3, N * D, -1, 1);
    float narrow[N * D];
    for (int i = 0; i < N * D; i++) data[i] = (double)(narrow[i] = (float)data[i]);
    gram_points *x = test_points(context, N, D, data), *x32 = NULL;
    OK(context, gram_points_create_f32(context, N, D, narrow, D, &x32));
    for (size_t e = 0; e < sizeof TEXTS / sizeof *TEXTS; e++) {
        static double k[N * N], k32[N * N];
        double largest = 0;
        gram_kernel *kernel = test_kernel(context, TEXTS[e]);
        OK(context, gram_matrix(context, kernel, x, NULL, k, N));
        OK(context, gram_matrix(context, kernel, x32, NULL, k32, N));
        for (int i = 0; i < N * N; i++) largest = fmax(largest, fabs(k[i]));
        const double distance = test_distance(N, N, k, N, k32, N);
        if (!(distance <= 4e-6 * largest)) FAIL_TEST("%s: f32 is off by %g of %g", TEXTS[e], distance, largest);
        gram_kernel_release(kernel);
    }
    gram_points_release(x);
    gram_points_release(x32);
    free(data);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),           cmocka_unit_test(products),
        cmocka_unit_test(larger),           cmocka_unit_test(threads),
        cmocka_unit_test(single_precision), cmocka_unit_test(semidefinite),
        cmocka_unit_test(near_duplicates),  cmocka_unit_test(near_duplicates_covariance),
        cmocka_unit_test(extremes),         cmocka_unit_test(extremes_f32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
