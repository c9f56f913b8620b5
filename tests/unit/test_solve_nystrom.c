/* The low-rank preconditioner: what its inverse says of itself, and what it does for conjugate gradients. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/cg.h>
#include <gram/nystrom.h>

#include "dense_twin.h"
#include "support.h"

enum { D = 3 };

typedef struct world {
    gram_context *context;
    int64_t n;
    double *data, *shift, *k;
    gram_points *x;
    gram_kernel *kernel;
} world;

static void world_make(int64_t n, int threads, uint64_t seed, const char *kernel, double shift, world *w)
{
    *w = (world){.context = TEST_CONTEXT(.threads = threads, .seed = seed), .n = n};
    w->data = test_random((uint64_t)n, n * D, 0, 2);
    w->shift = test_random(9, n, shift, 2 * shift);
    w->k = test_numbers(n * n);
    w->x = test_points(w->context, n, D, w->data);
    w->kernel = test_kernel(w->context, kernel);
    OK(w->context, gram_matrix(w->context, w->kernel, w->x, NULL, w->k, n));
}

static void world_free(world *w)
{
    gram_kernel_release(w->kernel);
    gram_points_release(w->x);
    free(w->k);
    free(w->shift);
    free(w->data);
    gram_context_destroy(w->context);
}

static gram_nystrom *make(const world *w, int64_t rank)
{
    gram_nystrom *made = NULL;
    OK(w->context, gram_nystrom_create(w->context, w->kernel, w->x, w->shift, rank, &made));
    return made;
}

/* M from its inverse on the unit vectors. */
static double *matrix_of(const world *w, const gram_nystrom *nystrom)
{
    const int64_t n = w->n;
    double *inverse = test_numbers(n * n);
    for (int64_t i = 0; i < n; i++) inverse[i * n + i] = 1;
    OK(w->context, gram_nystrom_solve(w->context, nystrom, n, inverse, n));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            assert_true(fabs(inverse[i * n + j] - inverse[j * n + i]) <= 1e-12 / w->shift[i]);
    (void)dense_invert(n, inverse);
    return inverse;
}

/* M - D has the rank, K + D - M has no negative eigenvalue, and its trace is the error that is returned. */
static void low_rank(void **state)
{
    (void)state;
    static const int64_t RANKS[] = {1, 20, 97, 150};
    for (int r = 0; r < 4; r++) {
        world w;
        world_make(150, 2, 1, "rbf(ell=0.7) + 0.5*matern(nu=0.5, ell=1)", 0.1, &w);
        const int64_t n = w.n;
        gram_nystrom *nystrom = make(&w, RANKS[r]);
        assert_int_equal(gram_nystrom_rank(nystrom), RANKS[r]);
        double *m = matrix_of(&w, nystrom), *rest = test_numbers(n * n), *values = test_numbers(n);
        double trace = 0, left = 0;
        for (int64_t i = 0; i < n; i++) {
            m[i * n + i] -= w.shift[i];
            trace += w.k[i * n + i];
            left += w.k[i * n + i] - m[i * n + i];
        }
        for (int64_t i = 0; i < n * n; i++) rest[i] = w.k[i] - m[i];
        assert_true(fabs(left / trace - gram_nystrom_trace_error(nystrom)) <= 1e-10);
        OK(w.context, gram_eigen_symmetric(w.context, n, rest, n, 0, n, values, NULL, 0));
        assert_true(values[n - 1] >= -1e-9);
        OK(w.context, gram_eigen_symmetric(w.context, n, m, n, 0, n, values, NULL, 0));
        assert_true(values[RANKS[r] - 1] > 1e-6);
        for (int64_t i = RANKS[r]; i < n; i++) assert_true(fabs(values[i]) <= 1e-9);
        gram_nystrom_destroy(nystrom);
        free(m), free(rest), free(values);
        world_free(&w);
    }
}

/* A kernel of rank 3 needs no more than that, whatever rank was asked for. */
static void early_end(void **state)
{
    (void)state;
    world w;
    world_make(300, 2, 1, "linear(c=0)", 0.1, &w);
    gram_nystrom *nystrom = make(&w, 200);
    assert_int_equal(gram_nystrom_rank(nystrom), 3);
    assert_true(gram_nystrom_trace_error(nystrom) <= 1e-13);
    gram_nystrom_destroy(nystrom);
    world_free(&w);
}

/* Nothing of K at all: M = diag(shift). */
static void no_rank(void **state)
{
    (void)state;
    enum { N = 30 };
    world w;
    world_make(N, 1, 1, "linear(c=0)", 0.1, &w);
    memset(w.data, 0, N * D * sizeof *w.data);
    gram_nystrom *nystrom = make(&w, 5);
    double *v = test_numbers(N);
    for (int i = 0; i < N; i++) v[i] = i;
    assert_int_equal(gram_nystrom_rank(nystrom), 0);
    OK(w.context, gram_nystrom_solve(w.context, nystrom, 1, v, 1));
    for (int i = 0; i < N; i++) assert_true(fabs(v[i] - i / w.shift[i]) <= 1e-12 * i / w.shift[i]);
    gram_nystrom_destroy(nystrom);
    free(v);
    world_free(&w);
}

/* K - F F' of the random pivots is not much larger than that of the best pivots of each rank could be: its trace is
 * within three times the sum of the eigenvalues beyond half the rank, which random pivots promise on average. */
static void good_pivots(void **state)
{
    (void)state;
    enum { RANK = 80 };
    world w;
    world_make(500, 2, 7, "rbf(ell=0.5)", 0.1, &w);
    double *values = test_numbers(500), beyond = 0, trace = 0;
    gram_nystrom *nystrom = make(&w, RANK);
    OK(w.context, gram_eigen_symmetric(w.context, 500, w.k, 500, 0, 500, values, NULL, 0));
    for (int i = 0; i < 500; i++) {
        trace += values[i];
        if (i >= RANK / 2) beyond += values[i];
    }
    assert_true(gram_nystrom_trace_error(nystrom) * trace <= 3 * beyond);
    gram_nystrom_destroy(nystrom);
    free(values);
    world_free(&w);
}

static void faster(void **state)
{
    (void)state;
    world w;
    world_make(1500, 2, 3, "rbf(ell=1)", 0.01, &w);
    gram_operator *lazy = NULL, *op = NULL;
    gram_nystrom *nystrom = make(&w, 200);
    OK(w.context, gram_operator_create_free(w.context, w.kernel, w.x, &lazy));
    OK(w.context, gram_operator_create_shifted_by(w.context, lazy, w.shift, &op));
    double *b = test_random(4, 2 * w.n, -1, 1), *x = test_numbers(2 * w.n), *y = test_numbers(2 * w.n);
    gram_cg_options options;
    gram_cg_report with = {.size = sizeof with}, without = {.size = sizeof without};
    gram_cg_options_init(&options, sizeof options);
    assert_int_equal(gram_cg_solve(w.context, op, 2, b, 2, x, 2, &options, &without), GRAM_OK);
    options.precondition = gram_nystrom_precondition;
    options.user = nystrom;
    assert_int_equal(gram_cg_solve(w.context, op, 2, b, 2, y, 2, &options, &with), GRAM_OK);
    if (!(10 * with.iterations <= without.iterations))
        FAIL_TEST("%lld iterations instead of %lld", (long long)with.iterations, (long long)without.iterations);
    /* both within the tolerance times the condition number, which is below 2e5 */
    double size = 0;
    for (int64_t i = 0; i < 2 * w.n; i++) size = fmax(size, fabs(x[i]));
    assert_true(test_distance(1, 2 * w.n, x, 2 * w.n, y, 2 * w.n) <= 2e-8 * size);
    gram_operator_release(op);
    gram_operator_release(lazy);
    gram_nystrom_destroy(nystrom);
    free(b), free(x), free(y);
    world_free(&w);
}

/* The same bits for 1, 2 and 3 threads; other ones for another seed. */
static void bits(void **state)
{
    (void)state;
    enum { N = 1300, COLUMNS = 3 };
    double *results[4];
    for (int t = 0; t < 4; t++) {
        world w;
        world_make(N, t % 3 + 1, t < 3 ? 5 : 6, "rbf(ell=0.3)", 0.1, &w);
        gram_nystrom *nystrom = make(&w, 250);
        results[t] = test_random(2, N * (COLUMNS + 1), -1, 1);
        OK(w.context, gram_nystrom_solve(w.context, nystrom, COLUMNS, results[t], COLUMNS));
        OK(w.context, gram_nystrom_solve(w.context, nystrom, 1, results[t] + COLUMNS * N, 1));
        gram_nystrom_destroy(nystrom);
        world_free(&w);
    }
    const int64_t count = N * (COLUMNS + 1);
    for (int t = 1; t < 4; t++) assert_int_equal(test_same_bits(1, count, results[0], count, results[t], count), t < 3);
    for (int t = 0; t < 4; t++) free(results[t]);
}

static void bad_arguments(void **state)
{
    (void)state;
    world w;
    world_make(20, 1, 0, "rbf(ell=1)", 0.1, &w);
    gram_context *c = w.context;
    gram_nystrom *made = NULL, *good = make(&w, 5);
    double v[40] = {0};
    assert_int_equal(gram_nystrom_create(c, w.kernel, w.x, w.shift, 0, &made), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_nystrom_create(c, w.kernel, w.x, w.shift, 21, &made), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_nystrom_create(c, w.kernel, w.x, NULL, 5, &made), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_nystrom_create(c, NULL, w.x, w.shift, 5, &made), GRAM_ERROR_ARGUMENT);
    w.shift[3] = 0;
    REFUSED(c, gram_nystrom_create(c, w.kernel, w.x, w.shift, 5, &made), GRAM_ERROR_ARGUMENT, "shift[3] is 0");
    assert_null(made);
    assert_int_equal(gram_nystrom_solve(c, NULL, 1, v, 1), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_nystrom_solve(c, good, 1, NULL, 1), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_nystrom_solve(c, good, 2, v, 1), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_nystrom_bytes(20, 21), 0);
    assert_true(gram_nystrom_bytes(20, 5) >= 100 * sizeof(double));
    gram_nystrom_destroy(NULL);
    gram_nystrom_destroy(good);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(low_rank),      cmocka_unit_test(early_end), cmocka_unit_test(no_rank),
        cmocka_unit_test(good_pivots),   cmocka_unit_test(faster),    cmocka_unit_test(bits),
        cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
