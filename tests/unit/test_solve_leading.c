/* The largest eigenvalues of an operator from products with it: against the dense solver, with equal and missing eigenvalues,
 * indefinite matrices, restarts and any number of threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/eigen/leading_eigen.h"
#include "solve/eigen/tall_matrix.h"
#include "support.h"

enum { N = 400 };

/* n x n with the given eigenvalues: Q diag Q' for a product Q of random reflections. */
static double *matrix_of(int64_t n, const double *values)
{
    double *a = test_numbers(n * n), *u = test_numbers(n), *au = test_numbers(n);
    for (int64_t i = 0; i < n; i++) a[i * n + i] = values[i];
    for (uint64_t r = 0; r < 12; r++) {
        double square = 0, twice = 0;
        test_uniform(r + 5, n, -1, 1, u);
        for (int64_t i = 0; i < n; i++) square += u[i] * u[i];
        for (int64_t i = 0; i < n; i++) {
            au[i] = 0;
            for (int64_t j = 0; j < n; j++) au[i] += a[i * n + j] * u[j];
            twice += au[i] * u[i];
        }
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                a[i * n + j] -= 2 * (u[i] * au[j] + au[i] * u[j]) / square - 4 * twice * u[i] * u[j] / square / square;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) a[i * n + j] = a[j * n + i] = 0.5 * (a[i * n + j] + a[j * n + i]);
    free(u), free(au);
    return a;
}

typedef struct problem {
    gram_operator *op;
    double *a, *values, *vectors;
    gram_leading run;
} problem;

static gram_status solve(gram_context *context, int64_t n, const double *spectrum, gram_leading how, problem *p)
{
    p->a = matrix_of(n, spectrum);
    p->values = test_numbers(how.count);
    p->vectors = test_numbers(n * how.count);
    OK(context, gram_operator_create_dense(context, n, p->a, n, &p->op));
    p->run = how;
    p->run.a = p->op;
    p->run.values = p->values;
    p->run.vectors = p->vectors;
    return gram_leading_run(context, &p->run);
}

static void finish(problem *p)
{
    gram_operator_release(p->op);
    free(p->a), free(p->values), free(p->vectors);
}

/* Orthonormal, |A v - l v| small, signs by the rule, and the true residual is the one reported. */
static void check_pairs(const problem *p, int64_t n, const double *spectrum, double tolerance)
{
    const int64_t k = p->run.count;
    double worst = 0;
    test_near("eigenvalues", NULL, k, p->values, spectrum, tolerance);
    for (int64_t s = 0; s < k; s++) {
        double residual = 0, largest = 0;
        for (int64_t t = 0; t <= s; t++) {
            double inner = 0;
            for (int64_t i = 0; i < n; i++) inner += p->vectors[i * k + s] * p->vectors[i * k + t];
            assert_true(fabs(inner - (s == t)) < 1e-12);
        }
        for (int64_t i = 0; i < n; i++) {
            double image = 0;
            for (int64_t j = 0; j < n; j++) image += p->a[i * n + j] * p->vectors[j * k + s];
            residual += pow(image - p->values[s] * p->vectors[i * k + s], 2);
            if (fabs(p->vectors[i * k + s]) > fabs(largest)) largest = p->vectors[i * k + s];
        }
        assert_true(largest > 0);
        worst = fmax(worst, sqrt(residual));
        assert_true(sqrt(residual) <= 2e-8 * fabs(p->values[s]) + 1e-12 * fabs(p->values[0]));
    }
    const double reported = p->run.residual * fmax(fabs(p->values[0]), fabs(p->values[k - 1]));
    assert_true(fabs(worst - reported) <= 1e-2 * worst + 1e-13 * fabs(p->values[0]));
}

static void decaying_spectra(void **state)
{
    gram_context *context = *state;
    const double decay[] = {0.5, 0.9, 0.99};
    for (int c = 0; c < 3; c++)
        for (int64_t count = 1; count <= 21; count += 10) {
            double spectrum[N];
            problem p;
            for (int64_t i = 0; i < N; i++) spectrum[i] = 7 * pow(decay[c], (double)i);
            OK(context, solve(context, N, spectrum, (gram_leading){.count = count}, &p));
            check_pairs(&p, N, spectrum, 1e-10);
            assert_true(p.run.columns > 0);
            finish(&p);
        }
}

/* Eigenvalues that come many times, more often than a block has columns, and a matrix of low rank. */
static void equal_and_missing(void **state)
{
    gram_context *context = *state;
    double spectrum[N] = {0};
    problem p;
    for (int64_t i = 0; i < N; i++) spectrum[i] = i < 20 ? 3 : 1.0 / (double)(i + 1);
    OK(context, solve(context, N, spectrum, (gram_leading){.count = 12, .block = 4}, &p));
    check_pairs(&p, N, spectrum, 1e-10);
    finish(&p);
    for (int64_t i = 0; i < N; i++) spectrum[i] = i < 5 ? (double)(5 - i) : 0;
    OK(context, solve(context, N, spectrum, (gram_leading){.count = 9}, &p));
    test_near("eigenvalues of rank 5", NULL, 9, p.values, spectrum, 1e-13);
    finish(&p);
    memset(spectrum, 0, sizeof spectrum);
    OK(context, solve(context, N, spectrum, (gram_leading){.count = 3}, &p));
    test_near("eigenvalues of 0", NULL, 3, p.values, spectrum, 1e-300);
    finish(&p);
}

/* The largest, not those of largest size; and a slow spectrum that needs restarts. */
static void indefinite_and_slow(void **state)
{
    gram_context *context = *state;
    double spectrum[N];
    problem p;
    for (int64_t i = 0; i < N; i++) spectrum[i] = 2 - 12.0 * (double)i / N;
    OK(context, solve(context, N, spectrum, (gram_leading){.count = 4, .block = 4}, &p));
    check_pairs(&p, N, spectrum, 1e-10);
    assert_true(p.run.columns > 4 * 20); /* it restarted */
    finish(&p);
    const gram_status status = solve(context, N, spectrum, (gram_leading){.count = 4, .block = 4, .most = 40}, &p);
    assert_int_equal(status, GRAM_NOT_CONVERGED);
    assert_true(p.run.residual > 1e-8 && p.values[0] <= 2 + 1e-12 && p.values[0] > 1.5);
    finish(&p);
}

static void small_ones_are_dense(void **state)
{
    gram_context *context = *state;
    const double spectrum[] = {4, 3, 3, 1, 0, -2};
    problem p;
    for (int64_t count = 1; count <= 6; count += 5) {
        OK(context, solve(context, 6, spectrum, (gram_leading){.count = count}, &p));
        check_pairs(&p, 6, spectrum, 1e-13);
        finish(&p);
    }
    REFUSED(context, gram_leading_run(context, &(gram_leading){.a = NULL, .count = 0}), GRAM_ERROR_ARGUMENT,
            "a is NULL");
}

static void fill(gram_context *context, double *out)
{
    double spectrum[N];
    problem p;
    for (int64_t i = 0; i < N; i++) spectrum[i] = pow(0.9, (double)i);
    OK(context, solve(context, N, spectrum, (gram_leading){.count = 5}, &p));
    memcpy(out, p.values, 5 * sizeof *out);
    memcpy(out + 5, p.vectors, sizeof(double[N * 5]));
    finish(&p);
}

static void any_threads(void **state)
{
    (void)state;
    test_any_threads(5 + 5 * N, fill);
}

/* Columns that depend on each other, that are 0, or that lie in Q become an orthonormal basis all the same. */
static void lost_columns(void **state)
{
    enum { M = 700, P = 3, B = 6 };
    gram_context *context = *state;
    double *q = test_random(3, M * P, -1, 1), *b = test_numbers(M * B), inner[(P + B) * (P + B)];
    const gram_tall none = {M, 0, 1, NULL}, first = {M, P, P, q}, second = {M, B, B, b};
    OK(context, gram_tall_orthonormalise(context, none, first));
    for (int64_t i = 0; i < M; i++) {
        b[i * B] = q[i * P];                                    /* in Q */
        b[i * B + 1] = sin((double)i);                          /* a new one, */
        b[i * B + 2] = 1e9 * sin((double)i);                    /* the same again, */
        b[i * B + 3] = sin((double)i) + 1e-12 * cos((double)i); /* and nearly; then 0; then another */
        b[i * B + 5] = q[i * P + 1] - 2 * cos(0.1 * (double)i);
    }
    OK(context, gram_tall_orthonormalise(context, first, second));
    OK(context, gram_tall_inner(context, second, second, inner, B));
    for (int i = 0; i < B * B; i++) assert_true(fabs(inner[i] - (i % (B + 1) == 0)) < 1e-13);
    OK(context, gram_tall_inner(context, first, second, inner, B));
    for (int i = 0; i < P * B; i++) assert_true(fabs(inner[i]) < 1e-13);
    free(q), free(b);
}

/* A'B by chunks of rows and by strips of columns. */
static void inner_products(void **state)
{
    enum { M = 1100, P = 230, B = 7 };
    gram_context *context = *state;
    double *a = test_random(1, M * P, -1, 1), *b = test_random(2, M * B, -1, 1), *c = test_numbers(P * B);
    for (int64_t p = 5; p <= P; p += P - 5) {
        OK(context, gram_tall_inner(context, (gram_tall){M, p, P, a}, (gram_tall){M, B, B, b}, c, B));
        for (int64_t i = 0; i < p * B; i++) {
            double sum = 0;
            for (int64_t r = 0; r < M; r++) sum += a[r * P + i / B] * b[r * B + i % B];
            assert_true(fabs(sum - c[i]) < 1e-12 * M);
        }
    }
    free(a), free(b), free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decaying_spectra),    cmocka_unit_test(equal_and_missing),
        cmocka_unit_test(indefinite_and_slow), cmocka_unit_test(small_ones_are_dense),
        cmocka_unit_test(any_threads),         cmocka_unit_test(lost_columns),
        cmocka_unit_test(inner_products),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
