/* Every allocation of the public API failing in turn.
 *
 * A script of calls runs with an allocator whose k-th allocation fails, for k = 0, 1, 2, ... until the script needs fewer:
 * each time the first failing call must say GRAM_ERROR_MEMORY, and once everything is destroyed nothing may be held. When
 * all later allocations fail too, some call must fail; when only the k-th one does, the library may do with less (an
 * arena asks for a smaller chunk). The same with a memory budget that grows: GRAM_ERROR_BUDGET with the sizes. */
#include <ctype.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/cg.h>
#include <gram/nystrom.h>

#include "support.h"

/* ---- an allocator that counts, and fails once ---- */

typedef struct bookkeeping {
    atomic_llong made;   /* allocations so far */
    atomic_llong blocks; /* held now */
    atomic_llong bytes;
    long long fail_at; /* this one fails; -1: none */
    int for_good;      /* and all after it */
} bookkeeping;

static void *allocate(void *user, size_t bytes)
{
    bookkeeping *book = user;
    const long long number = atomic_fetch_add(&book->made, 1);
    if (number == book->fail_at || (book->for_good && number > book->fail_at)) return NULL;
    void *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!block) return NULL;
    memset(block, 0xa5, bytes); /* whoever counts on zeros is found out */
    atomic_fetch_add(&book->blocks, 1);
    atomic_fetch_add(&book->bytes, (long long)bytes);
    return block;
}

static void give_back(void *user, void *block, size_t bytes)
{
    bookkeeping *book = user;
    if (!block) return;
    atomic_fetch_sub(&book->blocks, 1);
    atomic_fetch_sub(&book->bytes, (long long)bytes);
    free(block);
}

/* ---- the script ---- */

enum { N = 40, M = 30, D = 3, OPERATORS = 6 };

/* What the script makes; whatever was made is destroyed at its end, wherever that is. */
typedef struct play {
    gram_context *context;
    gram_points *x, *y, *narrow, *twice;
    gram_kernel *kernel, *parts[8], *smooth, *centred;
    gram_operator *ops[OPERATORS];
    gram_cholesky *factors[2];
    gram_nystrom *nystrom;
} play;

static double data[N * D], doubled[N * D], v[N * 2], out[N * N], dense[N * N];
static float data32[N * D];

#define STEP(call)                                                                                                     \
    do {                                                                                                               \
        status = (call);                                                                                               \
        if (status < 0) return status;                                                                                 \
    } while (0)

static gram_status play_kernels(play *p)
{
    gram_status status;
    gram_context *c = p->context;
    const int64_t columns[2] = {2, 0};
    const double values[1] = {0.5};
    gram_facts facts;
    gram_parameter parameter;
    size_t length;
    STEP(gram_kernel_parse(c,
                           "2*rbf(ell=[1,2,0.5]) + on(1:2, matern(nu=1.5, ell=0.7)^2)*poly(m=2, c=1) + "
                           "0.1*white() + rbf(S=[1,0.1,0;0.1,1,0;0,0,1])*laplace1(ell=3) + min(o=-1)",
                           &p->kernel));
    STEP(gram_kernel_parse(c, "rbf", &p->parts[0]));
    STEP(gram_kernel_constant(c, 2, &p->parts[1]));
    STEP(gram_kernel_multiply(c, p->parts[0], p->parts[1], &p->parts[2]));
    STEP(gram_kernel_sum(c, p->parts[2], p->kernel, &p->parts[3]));
    STEP(gram_kernel_power(c, p->parts[0], 3, &p->parts[4]));
    STEP(gram_kernel_on(c, 2, columns, p->parts[0], &p->parts[5]));
    STEP(gram_kernel_with_values(c, p->parts[0], values, &p->parts[6]));
    STEP(gram_kernel_resolve(c, p->parts[3], p->x, &p->parts[7]));
    gram_kernel_release(p->parts[7]);
    p->parts[7] = NULL;
    STEP(gram_kernel_with_ard(c, p->parts[3], D, &p->parts[7]));
    STEP(gram_kernel_check_dimension(c, p->kernel, D));
    STEP(gram_kernel_facts(c, p->kernel, D, &facts));
    STEP(gram_kernel_words(c, p->parts[5], D, GRAM_TOOL_GPYTORCH, NULL, 0, &length));
    STEP(gram_kernel_parameter_get(c, p->kernel, 0, &parameter));
    return GRAM_OK;
}

static gram_status play_matrices(const play *p)
{
    gram_status status;
    gram_context *c = p->context;
    const gram_kernel *k = p->kernel;
    const int64_t index[2] = {5, 33};
    const gram_weights low = {.rank = 2, .a = v, .lda = 2, .b = v, .ldb = 2}, full = {.dense = dense, .ld = N};
    STEP(gram_matrix(c, k, p->x, NULL, out, N));
    STEP(gram_matrix(c, k, p->x, p->y, out, M));
    STEP(gram_matrix(c, k, p->narrow, NULL, out, N));
    STEP(gram_matrix_diagonal(c, k, p->x, out));
    STEP(gram_matrix_distance(c, k, p->x, p->y, out, M));
    STEP(gram_matrix_columns(c, k, p->x, 2, index, out, 2));
    STEP(gram_matrix_product(c, k, p->x, NULL, 2, v, 2, out, 2));
    STEP(gram_matrix_product(c, k, p->x, p->y, 2, v, 2, out, 2));
    STEP(gram_matrix_product(c, k, p->narrow, NULL, 2, v, 2, out, 2));
    STEP(gram_matrix_parameter_gradient(c, k, p->x, NULL, &low, out));
    STEP(gram_matrix_parameter_gradient(c, k, p->x, p->y, &full, out));
    STEP(gram_matrix_input_gradient(c, k, p->x, NULL, &full, out, D));
    STEP(gram_matrix_input_gradient(c, k, p->x, p->y, &low, out, D));
    return GRAM_OK;
}

static gram_status play_operators(play *p)
{
    gram_status status;
    gram_context *c = p->context;
    const int64_t index[2] = {0, N - 1};
    const double weights[4] = {1, 2, 3, 4};
    double trace;
    STEP(gram_operator_create_dense(c, N, dense, N, &p->ops[0]));
    STEP(gram_operator_create_packed(c, p->parts[6], p->x, &p->ops[1]));
    STEP(gram_operator_create_free(c, p->parts[6], p->x, &p->ops[2]));
    STEP(gram_operator_create_shifted(c, p->ops[1], 0.5, &p->ops[3]));
    STEP(gram_operator_create_sum(c, 4, p->ops, weights, &p->ops[4]));
    STEP(gram_operator_create_shifted_by(c, p->ops[2], data, &p->ops[5]));
    for (int i = 0; i < OPERATORS; i++) {
        STEP(gram_operator_apply(c, p->ops[i], 2, v, 2, out, 2));
        STEP(gram_operator_diagonal(c, p->ops[i], out));
        STEP(gram_operator_columns(c, p->ops[i], 2, index, out, 2));
        STEP(gram_operator_matrix(c, p->ops[i], out, N));
        STEP(gram_operator_trace(c, p->ops[i], &trace));
    }
    return GRAM_OK;
}

static gram_status play_eigen(const play *p)
{
    gram_status status;
    static double a[N * N], values[N], vectors[2 * N];
    memcpy(a, dense, sizeof a);
    STEP(gram_eigen_symmetric(p->context, N, a, N, 0, N, values, NULL, 0));
    memcpy(a, dense, sizeof a);
    STEP(gram_eigen_symmetric(p->context, N, a, N, 0, 2, values, vectors, N));
    return GRAM_OK;
}

static gram_status play_solve(play *p)
{
    gram_status status;
    gram_context *c = p->context;
    static double shift[N], b[N * 2], x[N * 2];
    double jitter, estimate;
    gram_cg_options options;
    memcpy(b, v, sizeof b);
    for (int i = 0; i < N; i++) shift[i] = -1e-13; /* indefinite, so that a jitter is searched for */
    STEP(gram_cholesky_create(c, p->kernel, p->twice, shift, GRAM_STORAGE_F64, &jitter, &p->factors[0]));
    STEP(gram_cholesky_create(c, p->kernel, p->x, data, GRAM_STORAGE_F32, NULL, &p->factors[1]));
    for (int i = 0; i < 2; i++) {
        STEP(gram_cholesky_solve(c, p->factors[i], 2, b, 2));
        STEP(gram_cholesky_half_solve(c, p->factors[i], 1, b, 2));
    }
    STEP(gram_cholesky_condition(c, p->factors[1], &estimate));
    gram_cg_options_init(&options, sizeof options);
    options.most = 1; /* all iterations take the same memory */
    options.precondition = gram_cg_precondition_factor;
    options.user = p->factors[1];
    memset(x, 0, sizeof x);
    STEP(gram_cg_solve(c, p->ops[5], 2, v, 2, x, 2, &options, NULL));
    STEP(gram_nystrom_create(c, p->kernel, p->x, data, 7, &p->nystrom));
    STEP(gram_nystrom_solve(c, p->nystrom, 2, b, 2));
    STEP(gram_cholesky_invert(c, p->factors[0]));
    STEP(gram_cholesky_inverse_diagonal(c, p->factors[0], out));
    STEP(gram_cholesky_inverse_matrix(c, p->factors[0], out, N));
    STEP(gram_cholesky_inverse_apply(c, p->factors[0], 2, v, 2, out, 2));
    return GRAM_OK;
}

/* Two scripts: what comes late in a long one costs a run of all before it for each of its allocations. */
static gram_status play_engine(const gram_context_options *options, play *p)
{
    gram_status status;
    STEP(gram_context_create(options, &p->context));
    STEP(gram_points_create_f64(p->context, N, D, data, D, &p->x));
    STEP(gram_points_create_f64(p->context, M, D, data, D, &p->y));
    STEP(gram_points_create_f32(p->context, N, D, data32, D, &p->narrow));
    STEP(play_kernels(p));
    STEP(play_matrices(p));
    STEP(play_operators(p));
    STEP(play_eigen(p));
    return GRAM_OK;
}

static gram_status play_solvers(const gram_context_options *options, play *p)
{
    gram_status status;
    STEP(gram_context_create(options, &p->context));
    STEP(gram_points_create_f64(p->context, N, D, data, D, &p->x));
    STEP(gram_points_create_f64(p->context, N, D, doubled, D, &p->twice));
    STEP(gram_kernel_parse(p->context, "rbf(ell=0.5)", &p->kernel));
    STEP(gram_operator_create_free(p->context, p->kernel, p->x, &p->ops[2]));
    STEP(gram_operator_create_shifted_by(p->context, p->ops[2], data, &p->ops[5]));
    STEP(play_solve(p));
    return GRAM_OK;
}

/* Second derivatives have a script of their own: two short ones take less time than one that is long. */
static gram_status play_derivatives(const gram_context_options *options, play *p)
{
    static double mixed[N * N * D * D];
    gram_status status;
    STEP(gram_context_create(options, &p->context));
    STEP(gram_points_create_f64(p->context, N, D, data, D, &p->x));
    STEP(gram_points_create_f64(p->context, M, D, data, D, &p->y));
    STEP(gram_kernel_parse(p->context,
                           "normalize(rbf(S=[1,0.1,0;0.1,1,0;0,0,1]) + poly(m=2, c=1)) + "
                           "on(1:2, warp([1,0.5;0.2,1], periodic(p=2, ell=1)))",
                           &p->smooth));
    STEP(gram_kernel_centre(p->context, p->y, p->smooth, &p->centred));
    STEP(gram_matrix_derivatives(p->context, p->centred, p->x, NULL, &(gram_derivatives){.ld = N, .mixed = mixed}));
    STEP(gram_matrix_derivatives(p->context, p->smooth, p->x, p->y, &(gram_derivatives){.ld = M, .trace = out}));
    return GRAM_OK;
}

typedef gram_status (*play_fn)(const gram_context_options *options, play *p);
static const play_fn SCRIPTS[] = {play_engine, play_solvers, play_derivatives};
enum { SCRIPT_COUNT = sizeof SCRIPTS / sizeof *SCRIPTS };

static void play_end(play *p)
{
    gram_points_destroy(p->x);
    gram_points_destroy(p->y);
    gram_points_destroy(p->narrow);
    gram_points_destroy(p->twice);
    gram_kernel_release(p->kernel);
    gram_kernel_release(p->centred);
    gram_kernel_release(p->smooth);
    for (int i = 0; i < 8; i++) gram_kernel_release(p->parts[i]);
    for (int i = 0; i < OPERATORS; i++) gram_operator_release(p->ops[i]);
    for (int i = 0; i < 2; i++) gram_cholesky_destroy(p->factors[i]);
    gram_nystrom_destroy(p->nystrom);
    gram_context_destroy(p->context);
    *p = (play){.context = NULL};
}

static int set_up(void **state)
{
    (void)state;
    test_uniform(1, N * D, 0.1, 1.5, data);
    test_uniform(2, N * 2, -1, 1, v);
    for (int i = 0; i < N * D; i++) doubled[i] = data[i / (2 * D) * D + i % D]; /* each point twice */
    for (int i = 0; i < N * D; i++) data32[i] = (float)data[i];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) dense[i * N + j] = i == j ? 2 : 1.0 / (1 + abs(i - j));
    return 0;
}

static void options_make(bookkeeping *book, int threads, gram_context_options *options)
{
    gram_context_options_init(options, sizeof *options);
    options->threads = threads;
    options->allocator = (gram_allocator){allocate, give_back, book};
}

static void nothing_held(const bookkeeping *book, long long k)
{
    const long long blocks = atomic_load(&book->blocks), bytes = atomic_load(&book->bytes);
    if (blocks || bytes) FAIL_TEST("failure %lld: %lld blocks of %lld bytes leaked", k, blocks, bytes);
}

static long long fail_each(play_fn script, int threads, int for_good)
{
    for (long long k = 0;; k++) {
        bookkeeping book = {.fail_at = k, .for_good = for_good};
        gram_context_options options;
        play p = {.context = NULL};
        options_make(&book, threads, &options);
        const gram_status status = script(&options, &p);
        const int has_context = p.context != NULL, has_message = p.context && *gram_context_message(p.context);
        play_end(&p);
        nothing_held(&book, k);
        const long long made = atomic_load(&book.made);
        if (status == GRAM_OK && made <= k) return k;
        if (status == GRAM_OK && for_good) FAIL_TEST("failure %lld went unnoticed", k);
        if (status != GRAM_OK && status != GRAM_ERROR_MEMORY)
            FAIL_TEST("failure %lld gave %s", k, gram_status_name(status));
        if (status != GRAM_OK && has_context && !has_message) FAIL_TEST("failure %lld left no message", k);
    }
}

static void each_allocation(void **state)
{
    (void)state;
    for (int i = 0; i < SCRIPT_COUNT; i++) {
        const long long one = fail_each(SCRIPTS[i], 1, 0), two = fail_each(SCRIPTS[i], 2, 0);
        print_message("%lld allocations, %lld with two threads\n", one, two);
        assert_true(one > 50);
    }
}

static void from_each_allocation_on(void **state)
{
    (void)state;
    for (int i = 0; i < SCRIPT_COUNT; i++) (void)fail_each(SCRIPTS[i], 1, 1);
}

/* Sizes come in words: "needs 3.2 KiB, with 17 B in use and a memory budget of 1 KiB". */
static int names_sizes(const char *message)
{
    int sizes = 0;
    for (const char *at = message; (at = strchr(at, 'B')); at++)
        sizes += at > message && (at[-1] == 'i' || isspace((unsigned char)at[-1]));
    return sizes >= 2 && strstr(message, "budget");
}

static void grow_budget(play_fn script)
{
    size_t least = 0, refused = 0;
    for (size_t bytes = 512; !least; bytes += bytes / 16) {
        bookkeeping book = {.fail_at = -1};
        gram_context_options options;
        play p = {.context = NULL};
        options_make(&book, 1, &options);
        options.memory_budget = bytes;
        const gram_status status = script(&options, &p);
        if (status == GRAM_OK) least = bytes;
        if (status != GRAM_OK && status != GRAM_ERROR_BUDGET)
            FAIL_TEST("a budget of %zu bytes gave %s", bytes, gram_status_name(status));
        if (status == GRAM_ERROR_BUDGET && p.context) {
            refused++;
            const char *message = gram_context_message(p.context);
            if (!names_sizes(message)) FAIL_TEST("a budget of %zu bytes gave '%s'", bytes, message);
            assert_true(gram_context_memory_used(p.context) <= bytes);
            assert_true(gram_context_memory_peak(p.context) <= bytes);
        }
        play_end(&p);
        nothing_held(&book, (long long)bytes);
        assert_true(bytes < (size_t)1 << 32);
    }
    print_message("the script needs at most %zu bytes\n", least);
    assert_true(refused > 10);
}

static void budget(void **state)
{
    (void)state;
    for (int i = 0; i < SCRIPT_COUNT; i++) grow_budget(SCRIPTS[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation), cmocka_unit_test(from_each_allocation_on),
                                       cmocka_unit_test(budget)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
