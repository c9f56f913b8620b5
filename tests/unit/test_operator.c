/* The contract of operators, run over every way to make one: a product equal to that of the matrix that it stands for,
 * and everything else consistent with it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static const int64_t SIZES[] = {1, 2, 95, 96, 97, 481, 700};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES, D = 3, SHIFTS = 7 };

static const char KERNEL[] = "1.5*rbf(ell=0.6) + 0.2*matern(nu=1.5, ell=[1,2,0.5]) + 0.3*white()";
static const double SHIFT = 0.75, WEIGHTS[3] = {2, -0.5, 1};

/* The points, the kernel and the caller's matrix that operators are made from, and K itself. */
typedef struct world {
    gram_context *context;
    int64_t n, ld;
    double *data, *k, *lower; /* lower: K with NaN above the diagonal and between the rows */
    double *means, mean;      /* of the rows of K, and of all */
    gram_points *x;
    gram_kernel *kernel;
} world;

static void world_make(int64_t n, world *w)
{
    *w = (world){.context = test_context(1, GRAM_ISA_AUTO), .n = n, .ld = n + 3};
    w->data = test_random((uint64_t)n, n * D, 0, 2);
    w->k = test_numbers(n * n);
    w->lower = test_numbers(n * w->ld);
    w->x = test_points(w->context, n, D, w->data);
    w->kernel = test_kernel(w->context, KERNEL);
    OK(w->context, gram_matrix(w->context, w->kernel, w->x, NULL, w->k, n));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < w->ld; j++) w->lower[i * w->ld + j] = j <= i ? w->k[i * n + j] : NAN;
    w->means = test_numbers(n);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) w->means[i] += w->k[i * n + j] / (double)n;
        w->mean += w->means[i] / (double)n;
    }
}

static void world_free(world *w)
{
    gram_kernel_release(w->kernel);
    gram_points_release(w->x);
    free(w->lower);
    free(w->means);
    free(w->k);
    free(w->data);
    gram_context_destroy(w->context);
}

/* ---- every way to make an operator: a new one is a row here ---- */

typedef struct operator_case {
    const char *kind;
    gram_operator *(*make)(const world *w);
    double factor, shift; /* the operator is factor K + shift I ... */
    double more;          /* ... + more diag(0, 1, 2, ..., SHIFTS - 1, 0, 1, ...), */
    int centred;          /* or, with factor 1, less the means of rows and columns, */
    int scaled;           /* or K_ij scaling(i) scaling(j) */
    int factored;         /* or the inner products of the points */
} operator_case;

static gram_operator *make_dense(const world *w)
{
    gram_operator *op = NULL;
    OK(w->context, gram_operator_create_dense(w->context, w->n, w->lower, w->ld, &op));
    return op;
}

static gram_operator *make_packed(const world *w)
{
    gram_operator *op = NULL;
    OK(w->context, gram_operator_create_packed(w->context, w->kernel, w->x, &op));
    return op;
}

static gram_operator *make_free(const world *w)
{
    gram_operator *op = NULL;
    OK(w->context, gram_operator_create_free(w->context, w->kernel, w->x, &op));
    return op;
}

static gram_operator *make_shifted(const world *w)
{
    gram_operator *op = NULL, *inner = make_packed(w);
    OK(w->context, gram_operator_create_shifted(w->context, inner, SHIFT, &op));
    gram_operator_release(inner);
    return op;
}

static gram_operator *make_shifted_by(const world *w)
{
    gram_operator *op = NULL, *inner = make_free(w);
    double *diagonal = test_numbers(w->n);
    for (int64_t i = 0; i < w->n; i++) diagonal[i] = SHIFT + 0.01 * (double)(i % SHIFTS);
    OK(w->context, gram_operator_create_shifted_by(w->context, inner, diagonal, &op));
    free(diagonal); /* it was copied */
    gram_operator_release(inner);
    return op;
}

static gram_operator *make_centred(const world *w)
{
    gram_operator *op = NULL, *inner = make_packed(w);
    OK(w->context, gram_operator_create_centred(w->context, inner, &op));
    gram_operator_release(inner);
    return op;
}

static double scaling(int64_t i)
{
    return 1 + 0.25 * (double)(i % 3);
}

static gram_operator *make_scaled(const world *w)
{
    gram_operator *op = NULL, *inner = make_free(w);
    double *factors = test_numbers(w->n);
    for (int64_t i = 0; i < w->n; i++) factors[i] = scaling(i);
    OK(w->context, gram_operator_create_scaled(w->context, inner, factors, &op));
    free(factors); /* it was copied */
    gram_operator_release(inner);
    return op;
}

static gram_operator *make_factor(const world *w)
{
    gram_operator *op = NULL;
    OK(w->context, gram_operator_create_factor(w->context, w->n, D, w->data, D, &op));
    return op;
}

static gram_operator *make_sum(const world *w)
{
    gram_operator *op = NULL, *terms[3] = {make_dense(w), make_free(w), make_shifted(w)};
    OK(w->context, gram_operator_create_sum(w->context, 3, terms, WEIGHTS, &op));
    for (int i = 0; i < 3; i++) gram_operator_release(terms[i]);
    return op;
}

static gram_operator *make_nested(const world *w)
{
    gram_operator *op = NULL, *sum = make_sum(w);
    OK(w->context, gram_operator_create_shifted(w->context, sum, -0.25, &op));
    gram_operator_release(sum);
    return op;
}

static const operator_case CASES[] = {
    {"dense", make_dense, 1, 0, 0, 0, 0, 0},
    {"packed", make_packed, 1, 0, 0, 0, 0, 0},
    {"free", make_free, 1, 0, 0, 0, 0, 0},
    {"shifted", make_shifted, 1, 0.75, 0, 0, 0, 0},
    {"sum", make_sum, 2.5, 0.75, 0, 0, 0, 0},
    {"shifted", make_nested, 2.5, 0.5, 0, 0, 0, 0},
    {"shifted", make_shifted_by, 1, 0.75, 0.01, 0, 0, 0},
    {"centred", make_centred, 1, 0, 0, 1, 0, 0},
    {"scaled", make_scaled, 1, 0, 0, 0, 1, 0},
    {"factor", make_factor, 1, 0, 0, 0, 0, 1},
};
enum { CASE_COUNT = sizeof CASES / sizeof *CASES };

#define BROKEN(w, c, what) FAIL_TEST("%s (case %d), n = %lld: %s", (c)->kind, (int)((c)-CASES), (long long)(w)->n, what)

static double inner_product(const double *a, const double *b)
{
    double sum = 0;
    for (int l = 0; l < D; l++) sum += a[l] * b[l];
    return sum;
}

static double entry(const world *w, const operator_case *c, int64_t i, int64_t j)
{
    const double centring = c->centred ? w->mean - w->means[i] - w->means[j] : 0;
    if (c->scaled) return w->k[i * w->n + j] * scaling(i) * scaling(j);
    if (c->factored) return inner_product(w->data + i * D, w->data + j * D);
    return c->factor * w->k[i * w->n + j] + centring + (i == j ? c->shift + c->more * (double)(i % SHIFTS) : 0);
}

/* What rounding is measured against: weights have both signs, so of all terms. */
static double term_size(const world *w, const operator_case *c, int64_t i, int64_t j)
{
    return c->factored ? entry(w, c, i, j) : 4 * w->k[i * w->n + j];
}

/* ---- the contract ---- */

/* indicator: at most one column of a row is not 0 */
static void check_apply(const world *w, const operator_case *c, const gram_operator *op, int64_t columns, int64_t spare,
                        int indicator)
{
    const int64_t n = w->n, ldv = columns + spare, ldo = columns + 2 * spare;
    double *v = test_random((uint64_t)columns, n * ldv, -1, 1), *out = test_numbers(n * ldo);
    for (int64_t i = 0; i < n * ldv && indicator; i++)
        if (i % ldv != i / ldv * 5 % 11 % columns || i / ldv % 13 == 4) v[i] = 0;
    for (int64_t i = 0; i < n * ldo; i++) out[i] = -7;
    OK(w->context, gram_operator_apply(w->context, op, columns, v, ldv, out, ldo));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t q = 0; q < columns; q++) {
            double want = 0, size = 0;
            for (int64_t j = 0; j < n; j++) {
                want += entry(w, c, i, j) * v[j * ldv + q];
                size += term_size(w, c, i, j) * fabs(v[j * ldv + q]);
            }
            if (!(fabs(out[i * ldo + q] - want) <= 1e-13 * (size + fabs(v[i * ldv + q]))))
                BROKEN(w, c, "the product differs");
        }
        for (int64_t q = columns; q < ldo; q++)
            if (out[i * ldo + q] != -7) BROKEN(w, c, "wrote between the rows");
    }
    free(out);
    free(v);
}

/* The product with some columns, in no order and one of them twice. */
static void check_apply_columns(const world *w, const operator_case *c, const gram_operator *op, int64_t count,
                                int64_t columns)
{
    const int64_t n = w->n, ldv = columns + 1, ldo = columns + 2;
    double *v = test_random((uint64_t)count, count * ldv, -1, 1), *out = test_numbers(n * ldo);
    int64_t *index = malloc((size_t)count * sizeof *index);
    assert_non_null(index);
    for (int64_t j = 0; j < count; j++) index[j] = j == count - 1 ? 0 : (n - 1) - j * 7919 % n;
    for (int64_t i = 0; i < n * ldo; i++) out[i] = -7;
    OK(w->context, gram_operator_apply_columns(w->context, op, count, index, columns, v, ldv, out, ldo));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t q = 0; q < columns; q++) {
            double want = 0, size = 0;
            for (int64_t j = 0; j < count; j++) {
                want += entry(w, c, i, index[j]) * v[j * ldv + q];
                size += (term_size(w, c, i, index[j]) + 1) * fabs(v[j * ldv + q]);
            }
            if (!(fabs(out[i * ldo + q] - want) <= 1e-13 * size)) BROKEN(w, c, "the product with columns differs");
        }
        if (out[i * ldo + columns] != -7 || out[i * ldo + columns + 1] != -7) BROKEN(w, c, "wrote between the rows");
    }
    free(index);
    free(out);
    free(v);
}

/* <u, A v> = <A u, v> */
static void check_symmetry(const world *w, const operator_case *c, const gram_operator *op)
{
    const int64_t n = w->n;
    double *u = test_random(1, n, -1, 1), *v = test_random(2, n, -1, 1), *au = test_numbers(n), *av = test_numbers(n);
    double left = 0, right = 0, size = 0;
    OK(w->context, gram_operator_apply(w->context, op, 1, u, 1, au, 1));
    OK(w->context, gram_operator_apply(w->context, op, 1, v, 1, av, 1));
    for (int64_t i = 0; i < n; i++) {
        left += u[i] * av[i];
        right += au[i] * v[i];
        size += fabs(u[i] * av[i]) + fabs(au[i] * v[i]);
    }
    if (!(fabs(left - right) <= 1e-12 * size)) BROKEN(w, c, "not symmetric");
    free(u), free(v), free(au), free(av);
}

static int close_to(double got, double want)
{
    return fabs(got - want) <= 2e-15 * (fabs(want) + 8);
}

static void check_entries(const world *w, const operator_case *c, const gram_operator *op)
{
    const int64_t n = w->n, ld = n + 2, index[3] = {n - 1, n / 2, n - 1};
    double *diagonal = test_numbers(n), *columns = test_numbers(n * 4), *whole = test_numbers(n * ld), trace = 0,
           sum = 0;
    OK(w->context, gram_operator_diagonal(w->context, op, diagonal));
    OK(w->context, gram_operator_columns(w->context, op, 3, index, columns, 4));
    OK(w->context, gram_operator_matrix(w->context, op, whole, ld));
    OK(w->context, gram_operator_trace(w->context, op, &trace));
    for (int64_t i = 0; i < n; i++) {
        sum += diagonal[i];
        if (!close_to(diagonal[i], entry(w, c, i, i))) BROKEN(w, c, "the diagonal differs");
        for (int64_t j = 0; j < 3; j++)
            if (!close_to(columns[i * 4 + j], entry(w, c, i, index[j]))) BROKEN(w, c, "columns differ");
        if (columns[i * 4 + 3] != 0) BROKEN(w, c, "columns: wrote between the rows");
        for (int64_t j = 0; j < n; j++) {
            if (!close_to(whole[i * ld + j], entry(w, c, i, j))) BROKEN(w, c, "the matrix differs");
            if (whole[i * ld + j] != whole[j * ld + i]) BROKEN(w, c, "the matrix differs from its transpose");
        }
        if (whole[i * ld + n] != 0 || whole[i * ld + n + 1] != 0) BROKEN(w, c, "matrix: wrote between the rows");
    }
    if (!(fabs(trace - sum) <= 1e-14 * fabs(sum) * (double)n)) BROKEN(w, c, "the trace is not the diagonal's sum");
    free(diagonal), free(columns), free(whole);
}

static void contract(void **state)
{
    (void)state;
    static const int64_t COLUMNS[] = {1, 2, 3, 7, 40};
    for (int s = 0; s < SIZE_COUNT; s++) {
        world w;
        world_make(SIZES[s], &w);
        for (int k = 0; k < CASE_COUNT; k++) {
            gram_operator *op = CASES[k].make(&w);
            assert_int_equal(gram_operator_size(op), w.n);
            assert_string_equal(gram_operator_kind(op), CASES[k].kind);
            const int some = w.n > 200 ? 2 : 5;
            for (int q = 0; q < some; q++) check_apply(&w, &CASES[k], op, COLUMNS[w.n > 200 ? 3 * q : q], q % 3, 0);
            check_apply(&w, &CASES[k], op, 8, 1, 1);
            check_apply_columns(&w, &CASES[k], op, 1, 3);
            check_apply_columns(&w, &CASES[k], op, w.n / 2 + 2, 5);
            check_symmetry(&w, &CASES[k], op);
            check_entries(&w, &CASES[k], op);
            gram_operator_release(op);
        }
        world_free(&w);
    }
}

/* Two threads, two contexts, same bits. */
static void threads(void **state)
{
    (void)state;
    static const int64_t FEW[] = {2, 97, 481};
    for (size_t s = 0; s < sizeof FEW / sizeof *FEW; s++) {
        world w;
        world_make(FEW[s], &w);
        gram_context *two = test_context(2, GRAM_ISA_AUTO);
        for (int k = 0; k < CASE_COUNT; k++) {
            const int64_t n = w.n, index[2] = {0, n - 1};
            double *v = test_random(9, n * 5, -1, 1),
                   *results[2] = {test_numbers(n * 13 + 1), test_numbers(n * 13 + 1)};
            for (int t = 0; t < 2; t++) {
                world same = w;
                same.context = t ? two : w.context;
                gram_operator *op = CASES[k].make(&same);
                OK(same.context, gram_operator_apply(same.context, op, 5, v, 5, results[t], 5));
                OK(same.context, gram_operator_diagonal(same.context, op, results[t] + 5 * n));
                OK(same.context, gram_operator_columns(same.context, op, 2, index, results[t] + 6 * n, 2));
                OK(same.context,
                   gram_operator_apply_columns(same.context, op, 2, index, 5, v, 5, results[t] + 8 * n, 5));
                OK(same.context, gram_operator_trace(same.context, op, results[t] + 13 * n));
                gram_operator_release(op);
            }
            if (!test_same_bits(1, n * 13 + 1, results[0], 0, results[1], 0)) BROKEN(&w, &CASES[k], "bits differ");
            free(results[0]), free(results[1]), free(v);
        }
        gram_context_destroy(two);
        world_free(&w);
    }
}

/* An operator keeps what it is made of, and outlives the context that it was made with. */
static void ownership(void **state)
{
    (void)state;
    world w;
    world_make(97, &w);
    gram_context *making = test_context(1, GRAM_ISA_AUTO), *using = test_context(1, GRAM_ISA_AUTO);
    gram_points *x = test_points(making, w.n, D, w.data);
    gram_kernel *kernel = test_kernel(making, KERNEL);
    const world other = {
        .context = making, .n = w.n, .ld = w.ld, .k = w.k, .lower = w.lower, .x = x, .kernel = kernel, .data = w.data};
    gram_operator *ops[CASE_COUNT];
    for (int k = 0; k < CASE_COUNT; k++) ops[k] = CASES[k].make(&other);
    gram_kernel_release(kernel);
    gram_points_release(x);
    gram_context_destroy(making);
    for (int k = 0; k < CASE_COUNT; k++) {
        gram_operator *second = gram_operator_retain(ops[k]);
        assert_ptr_equal(second, ops[k]);
        gram_operator_release(ops[k]);
        world later = w;
        later.context = using;
        check_apply(&later, &CASES[k], second, 3, 1, 0);
        check_entries(&later, &CASES[k], second);
        gram_operator_release(second);
    }
    gram_operator_release(NULL);
    gram_context_destroy(using);
    world_free(&w);
}

/* The packed one holds about half of n^2 numbers, the free one O(n d). */
static void memory(void **state)
{
    (void)state;
    world w;
    world_make(700, &w);
    const double square = (double)(w.n * w.n) * sizeof(double);
    size_t before = gram_context_memory_used(w.context);
    gram_operator *packed = make_packed(&w);
    const double held = (double)(gram_context_memory_used(w.context) - before);
    assert_true(held >= 0.5 * square && held <= 0.75 * square); /* whole tiles: more than 0.55 at this small n */
    gram_operator_release(packed);
    assert_int_equal(gram_context_memory_used(w.context), before);
    gram_operator *lazy = make_free(&w);
    assert_true((double)(gram_context_memory_used(w.context) - before) <= 0.1 * square);
    gram_operator_release(lazy);
    assert_int_equal(gram_context_memory_used(w.context), before);
    world_free(&w);
}

#define REFUSES(want, call) REFUSED(w.context, call, want, "")

static void bad_arguments(void **state)
{
    (void)state;
    world w, small;
    world_make(20, &w);
    world_make(5, &small);
    gram_operator *op = NULL, *a = make_packed(&w), *b = make_packed(&small), *terms[2] = {a, b};
    const double weights[2] = {1, 1}, bad_weights[2] = {1, NAN};
    double out[400];
    for (int i = 0; i < 400; i++) out[i] = -7;
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_create_dense(w.context, 0, w.k, 20, &op));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_create_dense(w.context, 20, w.k, 19, &op));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_create_dense(w.context, 20, NULL, 20, &op));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_create_shifted(w.context, a, NAN, &op));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_create_shifted_by(w.context, NULL, w.k, &op));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_create_centred(w.context, NULL, &op));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_create_shifted_by(w.context, a, NULL, &op));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_create_scaled(w.context, a, NULL, &op));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_create_scaled(w.context, a, bad_weights, &op));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_create_factor(w.context, 20, 3, NULL, 3, &op));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_create_factor(w.context, 20, 3, w.k, 2, &op));
    w.k[7] = INFINITY;
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_create_shifted_by(w.context, a, w.k, &op));
    assert_non_null(strstr(gram_context_message(w.context), "diagonal[7]"));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_create_sum(w.context, 0, terms, weights, &op));
    REFUSES(GRAM_ERROR_DIMENSION, gram_operator_create_sum(w.context, 2, terms, weights, &op));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_create_sum(w.context, 1, terms, bad_weights + 1, &op));
    assert_null(op);
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_apply(w.context, a, 2, w.k, 1, out, 2));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_apply(w.context, a, 2, w.k, 2, out, 1));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_apply(w.context, a, -1, w.k, 2, out, 2));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_matrix(w.context, a, out, 19));
    const int64_t beyond[2] = {0, 20}, below[2] = {-1, 0};
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_columns(w.context, a, 2, beyond, out, 2));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_columns(w.context, a, 2, below, out, 2));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_columns(w.context, a, 2, beyond, out, 1));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_apply_columns(w.context, a, 2, beyond, 1, w.k, 1, out, 1));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_apply_columns(w.context, a, 2, NULL, 1, w.k, 1, out, 1));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_apply_columns(w.context, a, 0, below, 1, w.k, 1, out, 1));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_operator_apply_columns(w.context, a, 1, beyond, 2, w.k, 1, out, 2));
    for (int i = 0; i < 400; i++) assert_true(out[i] == -7);
    gram_operator_release(a);
    gram_operator_release(b);
    world_free(&small);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contract), cmocka_unit_test(threads),       cmocka_unit_test(ownership),
        cmocka_unit_test(memory),   cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
