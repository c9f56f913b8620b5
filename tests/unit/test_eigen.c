/* Eigenvalues and vectors: spectra known in closed form, residuals and orthogonality, parts of the spectrum, the same bits
 * for any number of threads, bad use. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static const double PI = 3.141592653589793;
static const int64_t SIZES[] = {1, 2, 3, 31, 63, 64, 65, 97, 150, 257};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };

static gram_context *context;

static int set_up(void **state)
{
    (void)state;
    context = test_context(2, GRAM_ISA_AUTO);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gram_context_destroy(context);
    return 0;
}

/* Random symmetric, in the lower triangle; the rest is NaN, which must not be read. */
static double *random_lower(uint64_t seed, int64_t n, int64_t ld)
{
    double *a = test_random(seed, n * ld, -1, 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < ld; j++) a[i * ld + j] = NAN;
    return a;
}

static double entry(const double *a, int64_t ld, int64_t i, int64_t j)
{
    return i >= j ? a[i * ld + j] : a[j * ld + i];
}

static void within(double got, double want, double error, const char *what, int64_t n, int64_t j)
{
    if (!(fabs(got - want) <= error))
        FAIL_TEST("n = %lld, number %lld: %s is %.17g instead of %.17g", (long long)n, (long long)j, what, got, want);
}

/* The second difference: 2 - 2 cos(pi j/(n + 1)) */
static void second_difference(void **state)
{
    (void)state;
    for (int s = 0; s < SIZE_COUNT; s++) {
        const int64_t n = SIZES[s];
        double *a = test_numbers(n * n), *values = test_numbers(n);
        for (int64_t i = 0; i < n; i++) {
            a[i * n + i] = 2;
            if (i > 0) a[i * n + i - 1] = -1;
        }
        OK(context, gram_eigen_symmetric(context, n, a, n, 0, n, values, NULL, 0));
        for (int64_t j = 0; j < n; j++)
            within(values[j], 2 - 2 * cos(PI * (double)(n - j) / (double)(n + 1)), 1e-13, "eigenvalue", n, j);
        free(a);
        free(values);
    }
}

/* The covariance of Brownian motion at 1, 2, ..., n: 1/(4 sin^2((2j - 1) pi/(4n + 2))); condition about 1.6 n^2 */
static void brownian_motion(void **state)
{
    (void)state;
    enum { N = 97 };
    double *a = test_numbers(N * N), values[N];
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) a[i * N + j] = (double)(i < j ? i : j) + 1;
    OK(context, gram_eigen_symmetric(context, N, a, N, 0, N, values, NULL, 0));
    for (int j = 0; j < N; j++) {
        const double half = sin((2 * j + 1) * PI / (4 * N + 2)), want = 1 / (4 * half * half);
        within(values[j], want, 20 * DBL_EPSILON * values[0], "eigenvalue", N, j);
    }
    free(a);
}

/* |A v - lambda v| and |V V' - I|, all vectors, with strides */
static void all_vectors(void **state)
{
    (void)state;
    for (int s = 0; s < SIZE_COUNT; s++) {
        const int64_t n = SIZES[s], ld = n + 3, ldv = n + 2;
        double *a = random_lower(7 + (uint64_t)s, n, ld), *copy = test_numbers(n * ld),
               *vectors = test_numbers(n * ldv);
        double *values = test_numbers(n);
        memcpy(copy, a, (size_t)(n * ld) * sizeof *a);
        OK(context, gram_eigen_symmetric(context, n, a, ld, 0, n, values, vectors, ldv));
        for (int64_t k = 0; k < n; k++) {
            const double *v = vectors + k * ldv;
            if (k > 0) assert_true(values[k] <= values[k - 1]);
            for (int64_t i = 0; i < n; i++) {
                double product = 0;
                for (int64_t j = 0; j < n; j++) product += entry(copy, ld, i, j) * v[j];
                within(product, values[k] * v[i], 1e-14 * (double)(n + 10), "A v", n, k);
            }
            for (int64_t l = 0; l <= k; l++) {
                double dot = 0;
                for (int64_t j = 0; j < n; j++) dot += v[j] * vectors[l * ldv + j];
                within(dot, k == l, 1e-14 * (double)(n + 10), "v.w", n, k);
            }
        }
        free(a);
        free(copy);
        free(vectors);
        free(values);
    }
}

/* Any part of the spectrum is that part of the whole; a vector's largest entry is positive. */
static void parts(void **state)
{
    (void)state;
    enum { N = 97 };
    static const int64_t RANGES[][2] = {{0, 1}, {0, 5}, {N - 1, 1}, {40, 10}, {0, N}};
    double values[N], some[N], *vectors = test_numbers(N * N);
    double *a = random_lower(3, N, N);
    OK(context, gram_eigen_symmetric(context, N, a, N, 0, N, values, NULL, 0));
    free(a);
    for (size_t r = 0; r < sizeof RANGES / sizeof *RANGES; r++)
        for (int with = 0; with < 2; with++) {
            const int64_t first = RANGES[r][0], count = RANGES[r][1];
            a = random_lower(3, N, N);
            OK(context, gram_eigen_symmetric(context, N, a, N, first, count, some, with ? vectors : NULL, N));
            for (int64_t j = 0; j < count; j++) within(some[j], values[first + j], 1e-12, "eigenvalue", N, first + j);
            for (int64_t j = 0; with && j < count; j++) {
                double least = 0, most = 0;
                for (int64_t i = 0; i < N; i++) {
                    least = fmin(least, vectors[j * N + i]);
                    most = fmax(most, vectors[j * N + i]);
                }
                assert_true(most >= -least);
            }
            free(a);
        }
    free(vectors);
}

/* Eigenvalues of multiplicity n - 1, and the zero matrix: nothing to go by, and still an orthonormal basis. */
static void multiple_eigenvalues(void **state)
{
    (void)state;
    enum { N = 80 };
    double *a = test_numbers(N * N), *vectors = test_numbers(N * N), values[N];
    for (int zero = 0; zero < 2; zero++) {
        for (int i = 0; i < N * N; i++) a[i] = zero ? 0 : 1.0 + (i / N == i % N);
        OK(context, gram_eigen_symmetric(context, N, a, N, 0, N, values, vectors, N));
        for (int j = 0; j < N; j++) within(values[j], zero ? 0 : j == 0 ? N + 1 : 1, 1e-12, "eigenvalue", N, j);
        for (int k = 0; k < N; k++)
            for (int l = 0; l <= k; l++) {
                double dot = 0;
                for (int j = 0; j < N; j++) dot += vectors[k * N + j] * vectors[l * N + j];
                within(dot, k == l, 1e-12, "v.w", N, k);
            }
    }
    free(a);
    free(vectors);
}

/* A certificate: an indefinite matrix has v with v'Av = lambda < 0. [0 1; 1 0] in the middle of the identity. */
static void certificate(void **state)
{
    (void)state;
    enum { N = 70 };
    double *a = test_numbers(N * N), v[N], value;
    for (int i = 0; i < N; i++) a[i * N + i] = i == 20 || i == 50 ? 0 : 1;
    a[50 * N + 20] = 1;
    OK(context, gram_eigen_symmetric(context, N, a, N, N - 1, 1, &value, v, N));
    within(value, -1, 1e-14, "eigenvalue", N, N - 1);
    for (int i = 0; i < N; i++) within(fabs(v[i]), i == 20 || i == 50 ? sqrt(0.5) : 0, 1e-14, "entry", N, i);
    assert_true(v[20] * v[50] < 0);
    free(a);
}

/* Every single pair of small matrices, of both signs. */
static void each_pair(void **state)
{
    (void)state;
    enum { MOST = 6 };
    for (int64_t n = 1; n <= MOST; n++)
        for (uint64_t seed = 0; seed < 20; seed++)
            for (int64_t k = 0; k < n; k++) {
                double values[MOST], value, v[MOST], *a = random_lower(seed, n, n), *copy = random_lower(seed, n, n);
                for (int64_t i = 0; i < n; i++) copy[i * n + i] = a[i * n + i] += (double)(seed % 3) * 2 - 2;
                OK(context, gram_eigen_symmetric(context, n, a, n, 0, n, values, NULL, 0));
                free(a);
                a = random_lower(seed, n, n);
                for (int64_t i = 0; i < n; i++) a[i * n + i] = copy[i * n + i];
                OK(context, gram_eigen_symmetric(context, n, a, n, k, 1, &value, v, n));
                within(value, values[k], 1e-13, "eigenvalue", n, k);
                for (int64_t i = 0; i < n; i++) {
                    double product = 0;
                    for (int64_t j = 0; j < n; j++) product += entry(copy, n, i, j) * v[j];
                    within(product, value * v[i], 1e-13, "A v", n, k);
                }
                free(a);
                free(copy);
            }
}

static void all_pairs(gram_context *other, double *out)
{
    enum { N = 150 };
    double *a = random_lower(5, N, N);
    OK(other, gram_eigen_symmetric(other, N, a, N, 0, N, out, out + N, N));
    assert_true(gram_context_memory_used(other) < 100000);
    assert_true(gram_context_memory_peak(other) < 8 * N * 200);
    free(a);
}

static void same_bits(void **state)
{
    (void)state;
    test_any_threads(150 * 151, all_pairs);
}

static void bad_use(void **state)
{
    (void)state;
    double a[4] = {1, 0, 0, 1}, values[2], vectors[4];
    assert_int_equal(gram_eigen_symmetric(NULL, 2, a, 2, 0, 2, values, NULL, 0), GRAM_ERROR_ARGUMENT);
    REFUSED(context, gram_eigen_symmetric(context, 2, NULL, 2, 0, 2, values, NULL, 0), GRAM_ERROR_ARGUMENT,
            "a is NULL");
    REFUSED(context, gram_eigen_symmetric(context, 2, a, 2, 0, 2, NULL, NULL, 0), GRAM_ERROR_ARGUMENT,
            "values is NULL");
    REFUSED(context, gram_eigen_symmetric(context, 0, a, 2, 0, 0, values, NULL, 0), GRAM_ERROR_ARGUMENT, "n = 0");
    REFUSED(context, gram_eigen_symmetric(context, 2, a, 1, 0, 2, values, NULL, 0), GRAM_ERROR_ARGUMENT, "lda = 1");
    REFUSED(context, gram_eigen_symmetric(context, 2, a, 2, 0, 2, values, vectors, 1), GRAM_ERROR_ARGUMENT, "ldv = 1");
    REFUSED(context, gram_eigen_symmetric(context, 2, a, 2, 1, 2, values, NULL, 0), GRAM_ERROR_ARGUMENT, "first = 1");
    REFUSED(context, gram_eigen_symmetric(context, 2, a, 2, -1, 1, values, NULL, 0), GRAM_ERROR_ARGUMENT, "first = -1");
    REFUSED(context, gram_eigen_symmetric(context, 2, a, 2, 0, 0, values, NULL, 0), GRAM_ERROR_ARGUMENT, "count = 0");
    REFUSED(context, gram_eigen_symmetric(context, 1 << 30, a, 1 << 30, 0, 1, values, NULL, 0), GRAM_ERROR_OVERFLOW,
            "LAPACK");
    a[2] = INFINITY;
    REFUSED(context, gram_eigen_symmetric(context, 2, a, 2, 0, 2, values, NULL, 0), GRAM_ERROR_NUMERICAL,
            "a[1][0] is inf");
}

static void cancelled(void **state)
{
    (void)state;
    enum { N = 2000 }; /* well over the twentieth of a second between two calls */
    gram_context *other = TEST_CONTEXT(.cancel = test_stop);
    double *a = random_lower(5, N, N), *values = test_numbers(N);
    assert_int_equal(gram_eigen_symmetric(other, N, a, N, 0, N, values, NULL, 0), GRAM_ERROR_CANCELLED);
    free(a);
    free(values);
    gram_context_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_difference),
        cmocka_unit_test(brownian_motion),
        cmocka_unit_test(all_vectors),
        cmocka_unit_test(parts),
        cmocka_unit_test(multiple_eigenvalues),
        cmocka_unit_test(certificate),
        cmocka_unit_test(each_pair),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(bad_use),
        cmocka_unit_test(cancelled),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
