/* Pivoted partial Cholesky factors: what they leave of K, whether the pivots are those of the rule, and where they end. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/pivoted_cholesky.h"
#include "support.h"

enum { D = 3 };

typedef struct world {
    gram_context *context;
    int64_t n;
    double *data, *k;
    gram_points *x;
    gram_kernel *kernel;
    gram_pivoted p;
} world;

static void world_make(int64_t n, int threads, uint64_t seed, const char *kernel, world *w)
{
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.threads = threads;
    options.seed = seed;
    *w = (world){.n = n};
    assert_int_equal(gram_context_create(&options, &w->context), GRAM_OK);
    w->data = test_random((uint64_t)n, n * D, 0, 2);
    w->x = test_points(w->context, n, D, w->data);
    w->kernel = test_kernel(w->context, kernel);
    w->k = test_matrix(w->context, w->kernel, w->x, NULL);
}

static void world_factor(world *w, const gram_pivot_rule *rule, int block, int64_t room, double tolerance)
{
    const gram_pivoted_options options = {.rule = rule, .room = room, .block = block, .tolerance = tolerance};
    gram_pivoted_free(w->context->memory, &w->p);
    OK(w->context, gram_pivoted_make(w->context, w->kernel, w->x, &options, &w->p));
}

static void world_free(world *w)
{
    gram_pivoted_free(w->context->memory, &w->p);
    gram_kernel_release(w->kernel);
    gram_points_release(w->x);
    free(w->k);
    free(w->data);
    gram_context_destroy(w->context);
}

/* Rows in order, all that are worth something: a way to choose of the test's own. */
static void propose_next(gram_pivot_search *s)
{
    s->candidates = 0;
    for (int64_t i = 0; i < s->n && s->candidates < s->block; i++)
        if (s->left[i] > s->floor) s->candidate[s->candidates++] = i;
}

static void accept_next(gram_pivot_search *s)
{
    while (s->count < s->most && s->h[s->count * s->block + s->count] > s->floor) gram_pivot_take(s, s->count);
}

static const gram_pivot_rule next_row = {propose_next, accept_next};
static const gram_pivot_rule *const RULES[] = {&gram_pivot_largest, &gram_pivot_drawn, &next_row};
static const int BLOCKS[] = {0, 1, 2, 7, GRAM_PIVOT_MOST};
enum { RULE_COUNT = 3, BLOCK_COUNT = 5 };

/* K - F F' */
static double *rest_of(const world *w)
{
    const int64_t n = w->n, room = w->p.room;
    double *rest = test_numbers(n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            rest[i * n + j] = w->k[i * n + j];
            for (int64_t k = 0; k < w->p.rank; k++) rest[i * n + j] -= w->p.f[i * room + k] * w->p.f[j * room + k];
        }
    return rest;
}

/* What is told is so: the diagonal, its sum, the pivots' rows are 0, no eigenvalue is negative. */
static void assert_factor(world *w)
{
    const int64_t n = w->n;
    double *rest = rest_of(w), *values = test_numbers(n), trace = 0, left = 0;
    for (int64_t i = 0; i < n; i++) {
        trace += w->k[i * n + i];
        left += w->p.left[i];
        assert_true(fabs(rest[i * n + i] - w->p.left[i]) <= 1e-10);
    }
    assert_true(fabs(trace - w->p.trace) <= 1e-10 * trace);
    assert_true(left == w->p.missed);
    for (int64_t k = 0; k < w->p.rank; k++) {
        for (int64_t j = 0; j < n; j++) assert_true(fabs(rest[w->p.pivot[k] * n + j]) <= 1e-10);
        for (int64_t l = 0; l < k; l++) assert_int_not_equal(w->p.pivot[k], w->p.pivot[l]);
    }
    OK(w->context, gram_eigen_symmetric(w->context, n, rest, n, 0, n, values, NULL, 0));
    assert_true(values[n - 1] >= -1e-9);
    free(rest);
    free(values);
}

static void contract(void **state)
{
    static const int64_t ROOMS[] = {1, 30, 90};
    world w;
    (void)state;
    world_make(90, 1, 1, "rbf(ell=0.7) + 0.5*matern(nu=0.5, ell=1)", &w);
    for (int r = 0; r < RULE_COUNT; r++)
        for (int b = 0; b < BLOCK_COUNT; b++)
            for (int m = 0; m < 3; m++) {
                world_factor(&w, RULES[r], BLOCKS[b], ROOMS[m], 0);
                assert_int_equal(w.p.rank, ROOMS[m]);
                assert_factor(&w);
            }
    world_free(&w);
}

/* The slow way with given pivots: for each of them what was left of it, and of the best, before it was taken. */
static void replay(const world *w, double *own, double *best)
{
    const int64_t n = w->n;
    long double *rest = calloc((size_t)(n * n), sizeof *rest);
    assert_non_null(rest);
    for (int64_t i = 0; i < n * n; i++) rest[i] = w->k[i];
    for (int64_t k = 0; k < w->p.rank; k++) {
        const int64_t p = w->p.pivot[k];
        const long double pivot = rest[p * n + p];
        own[k] = (double)pivot;
        best[k] = 0;
        for (int64_t i = 0; i < n; i++) best[k] = fmax(best[k], (double)rest[i * n + i]);
        for (int64_t i = 0; i < n; i++) {
            if (i == p) continue;
            const long double factor = rest[i * n + p] / pivot;
            for (int64_t j = 0; j < n; j++) rest[i * n + j] -= factor * rest[p * n + j];
        }
        for (int64_t i = 0; i < n; i++) rest[i * n + p] = rest[p * n + i] = 0;
    }
    free(rest);
}

/* One at a time they are the largest, in blocks at least half of the largest, all the way down. */
static void largest(void **state)
{
    enum { N = 130, ROOM = 60 };
    double own[ROOM], best[ROOM];
    world w;
    (void)state;
    world_make(N, 1, 0, "rbf(ell=0.8)", &w);
    for (int b = 0; b < BLOCK_COUNT; b++) {
        world_factor(&w, &gram_pivot_largest, BLOCKS[b], ROOM, 0);
        replay(&w, own, best);
        for (int k = 0; k < ROOM; k++) assert_true(own[k] >= (BLOCKS[b] == 1 ? 1 - 1e-6 : 0.5 - 1e-6) * best[k]);
        assert_true(best[ROOM - 1] < 0.1);
    }
    world_free(&w);
}

/* Without pivoting the factor is the Cholesky factor itself: lower triangular where the rows are in order. */
static void own_rule(void **state)
{
    enum { N = 90 };
    world w;
    (void)state;
    world_make(N, 1, 0, "matern(nu=0.5, ell=1)", &w);
    world_factor(&w, &next_row, 16, N, 0);
    for (int64_t i = 0; i < N; i++) {
        assert_int_equal(w.p.pivot[i], i);
        for (int64_t j = i + 1; j < N; j++) assert_true(fabs(w.p.f[i * N + j]) <= 1e-12);
    }
    world_free(&w);
}

/* The exact chances of the first two pivots against their shares over many seeds: one by one, and by rejection from blocks in which
 * rows come again and again. */
static void drawn_in_blocks(int block)
{
    enum { N = 4, RUNS = 4000 };
    double chance[N][N] = {{0}}, share[N][N] = {{0}}, trace = 0;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        world w;
        world_make(N, 1, seed, "linear(c=0.1) + 0.3*rbf(ell=1)", &w);
        world_factor(&w, &gram_pivot_drawn, block, 2, 0);
        share[w.p.pivot[0]][w.p.pivot[1]] += 1.0 / RUNS;
        if (seed == 0) {
            for (int i = 0; i < N; i++) trace += w.k[i * N + i];
            for (int i = 0; i < N; i++) {
                double left[N], total = 0;
                for (int j = 0; j < N; j++) {
                    left[j] = w.k[j * N + j] - w.k[i * N + j] * w.k[i * N + j] / w.k[i * N + i];
                    total += j == i ? 0 : left[j];
                }
                for (int j = 0; j < N; j++)
                    if (j != i) chance[i][j] = w.k[i * N + i] / trace * left[j] / total;
            }
        }
        world_free(&w);
    }
    double square = 0; /* chi-square of 11 degrees: above 37.4 once in ten thousand */
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            assert_true(fabs(share[i][j] - chance[i][j]) <= 4.5 * sqrt(chance[i][j] * (1 - chance[i][j]) / RUNS));
            if (i != j) square += RUNS * pow(share[i][j] - chance[i][j], 2) / chance[i][j];
        }
    if (square > 37.4) FAIL_TEST("blocks of %d: chi-square %g", block, square);
}

static void drawn(void **state)
{
    (void)state;
    drawn_in_blocks(1);
    drawn_in_blocks(2);
    drawn_in_blocks(7);
}

/* Blocks leave no more of K than one row at a time does, on average; pivots that are drawn leave less than the first rows. */
static void blocks_of_drawn(void **state)
{
    enum { N = 400, ROOM = 60, RUNS = 20 };
    double missed[2] = {0}, first = 0;
    (void)state;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        world w;
        world_make(N, 1, seed, "rbf(ell=0.4)", &w);
        for (int b = 0; b < 2; b++) {
            world_factor(&w, &gram_pivot_drawn, b, ROOM, 0); /* 0: blocks of the usual size */
            missed[b] += w.p.missed / RUNS;
        }
        world_factor(&w, &next_row, 0, ROOM, 0);
        first = w.p.missed;
        world_free(&w);
    }
    assert_true(missed[0] <= 1.05 * missed[1]);
    assert_true(missed[1] <= 0.95 * first);
}

/* Ends with the first column that brings the rest below the tolerance, column by column; with rounding where K has few
 * columns; at the room otherwise. */
static void ends(void **state)
{
    enum { N = 300 };
    world w;
    (void)state;
    world_make(N, 1, 0, "rbf(ell=2)", &w);
    world_factor(&w, &gram_pivot_largest, 1, N, 1e-8);
    const int64_t rank = w.p.rank;
    assert_true(rank > 3 && rank < N && w.p.missed <= 1e-8 * w.p.trace);
    world_factor(&w, &gram_pivot_largest, 1, rank - 1, 1e-8);
    assert_true(w.p.rank == rank - 1 && w.p.missed > 1e-8 * w.p.trace);
    for (int r = 0; r < RULE_COUNT; r++) {
        world_factor(&w, RULES[r], 0, N, 1e-8);
        assert_true(w.p.rank < N && w.p.missed <= 1e-8 * w.p.trace);
    }
    world_free(&w);
    world_make(N, 1, 0, "linear(c=0)", &w);
    for (int r = 0; r < 2; r++) /* rows in order are pivots too bad for that */
        for (int b = 0; b < BLOCK_COUNT; b++) {
            world_factor(&w, RULES[r], BLOCKS[b], 100, 0);
            assert_int_equal(w.p.rank, D);
            assert_true(w.p.missed <= 1e-13 * w.p.trace);
        }
    world_free(&w);
}

/* Points in f32: to their rounding. */
static void single(void **state)
{
    enum { N = 120 };
    float data[N * D];
    world w;
    (void)state;
    world_make(N, 1, 3, "rbf(ell=1.5)", &w);
    for (int i = 0; i < N * D; i++) data[i] = (float)w.data[i];
    gram_points_release(w.x);
    OK(w.context, gram_points_create_f32(w.context, N, D, data, D, &w.x));
    for (int r = 0; r < 2; r++)
        for (int b = 0; b < BLOCK_COUNT; b++) {
            world_factor(&w, RULES[r], BLOCKS[b], N, 0);
            assert_true(w.p.rank < N && w.p.missed <= 1e-5 * w.p.trace);
            double *rest = rest_of(&w);
            for (int64_t i = 0; i < N * N; i++) assert_true(fabs(rest[i]) <= 1e-4);
            free(rest);
        }
    world_free(&w);
}

/* The same bits for 1, 2 and 3 threads. */
static void bits(void **state)
{
    enum { N = 1300, ROOM = 70 };
    (void)state;
    for (int r = 0; r < 2; r++)
        for (int block = 0; block < 2; block++) {
            world w[3];
            for (int t = 0; t < 3; t++) {
                world_make(N, t + 1, 5, "rbf(ell=0.3)", &w[t]);
                world_factor(&w[t], RULES[r], block, ROOM, 0);
                assert_int_equal(test_same_bits(N, ROOM, w[0].p.f, ROOM, w[t].p.f, ROOM), 1);
                assert_memory_equal(w[0].p.pivot, w[t].p.pivot, ROOM * sizeof(int64_t));
            }
            for (int t = 0; t < 3; t++) world_free(&w[t]);
        }
}

static void refusals(void **state)
{
    world w;
    (void)state;
    world_make(20, 1, 0, "rbf(ell=1)", &w);
    for (int64_t room = 0; room < 42; room += 21) {
        const gram_pivoted_options options = {.rule = &gram_pivot_largest, .room = room};
        assert_int_equal(gram_pivoted_make(w.context, w.kernel, w.x, &options, &w.p), GRAM_ERROR_ARGUMENT);
        gram_pivoted_free(w.context->memory, &w.p);
    }
    const gram_pivoted_options options = {.rule = &gram_pivot_largest, .room = 5};
    gram_kernel *negative = test_kernel(w.context, "sigmoid(a=0.1, c=-5)");
    assert_int_equal(gram_pivoted_make(w.context, negative, w.x, &options, &w.p), GRAM_ERROR_NUMERICAL);
    assert_non_null(strstr(gram_context_message(w.context), "negative or not finite at row 0"));
    gram_kernel_release(negative);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contract),        cmocka_unit_test(largest),
        cmocka_unit_test(own_rule),        cmocka_unit_test(drawn),
        cmocka_unit_test(blocks_of_drawn), cmocka_unit_test(ends),
        cmocka_unit_test(single),          cmocka_unit_test(bits),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
