/* Every allocation of the public API failing in turn.
 *
 * A script of calls runs with an allocator whose k-th allocation fails, for k = 0, 1, 2, ... until the script needs fewer:
 * each time the first failing call must say GRAM_ERROR_MEMORY, and once everything is destroyed nothing may be held. When
 * all later allocations fail too, some call must fail; when only the k-th one does, the library may do with less (an
 * arena asks for a smaller chunk). The same with a memory budget that grows: GRAM_ERROR_BUDGET with the sizes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/cg.h>
#include <gram/nystrom.h>

#include "oom.h"

/* ---- the script ---- */

enum { N = 40, M = 30, D = 3, OPERATORS = 9 };

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

static gram_status play_kernels(play *p)
{
    gram_status status;
    gram_context *c = p->context;
    const int64_t columns[2] = {2, 0};
    const double values[1] = {0.5};
    gram_properties facts;
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
    STEP(gram_kernel_properties(c, p->kernel, D, &facts));
    STEP(gram_kernel_words(c, p->parts[5], D, GRAM_TOOL_GPYTORCH, NULL, 0, &length));
    STEP(gram_kernel_parameter_get(c, p->kernel, 0, &parameter));
done:
    return status;
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
done:
    return status;
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
    STEP(gram_operator_create_centred(c, p->ops[1], &p->ops[6]));
    STEP(gram_operator_create_scaled(c, p->ops[1], data, &p->ops[7]));
    STEP(gram_operator_create_factor(c, N, 1, data, 1, &p->ops[8]));
    for (int i = 0; i < OPERATORS; i++) {
        STEP(gram_operator_apply(c, p->ops[i], 2, v, 2, out, 2));
        STEP(gram_operator_diagonal(c, p->ops[i], out));
        STEP(gram_operator_columns(c, p->ops[i], 2, index, out, 2));
        STEP(gram_operator_apply_columns(c, p->ops[i], 2, index, 2, v, 2, out, 2));
        STEP(gram_operator_matrix(c, p->ops[i], out, N));
        STEP(gram_operator_trace(c, p->ops[i], &trace));
    }
done:
    return status;
}

static gram_status play_eigen(const play *p)
{
    gram_status status;
    static double a[N * N], values[N], vectors[2 * N];
    memcpy(a, dense, sizeof a);
    STEP(gram_eigen_symmetric(p->context, N, a, N, 0, N, values, NULL, 0));
    memcpy(a, dense, sizeof a);
    STEP(gram_eigen_symmetric(p->context, N, a, N, 0, 2, values, vectors, N));
done:
    return status;
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
    options.iterations = 1; /* all iterations take the same memory */
    options.precondition = gram_cholesky_precondition;
    options.user = p->factors[1];
    memset(x, 0, sizeof x);
    STEP(gram_cg_solve(c, p->ops[5], 2, v, 2, x, 2, &options, NULL));
    STEP(gram_nystrom_create(c, p->kernel, p->x, data, 7, &p->nystrom));
    STEP(gram_nystrom_solve(c, p->nystrom, 2, b, 2));
    STEP(gram_cholesky_invert(c, p->factors[0]));
    STEP(gram_cholesky_inverse_diagonal(c, p->factors[0], out));
    STEP(gram_cholesky_inverse_matrix(c, p->factors[0], out, N));
    STEP(gram_cholesky_inverse_apply(c, p->factors[0], 2, v, 2, out, 2));
done:
    return status;
}

static void play_end(play *p)
{
    gram_points_release(p->x);
    gram_points_release(p->y);
    gram_points_release(p->narrow);
    gram_points_release(p->twice);
    gram_kernel_release(p->kernel);
    gram_kernel_release(p->centred);
    gram_kernel_release(p->smooth);
    for (int i = 0; i < 8; i++) gram_kernel_release(p->parts[i]);
    for (int i = 0; i < OPERATORS; i++) gram_operator_release(p->ops[i]);
    for (int i = 0; i < 2; i++) gram_cholesky_destroy(p->factors[i]);
    gram_nystrom_destroy(p->nystrom);
}

/* Two scripts: what comes late in a long one costs a run of all before it for each of its allocations. */
static gram_status play_engine(gram_context *c)
{
    gram_status status;
    play p = {.context = c};
    STEP(gram_points_create_f64(c, N, D, data, D, &p.x));
    STEP(gram_points_create_f64(c, M, D, data, D, &p.y));
    STEP(gram_points_create_f32(c, N, D, data32, D, &p.narrow));
    STEP(play_kernels(&p));
    STEP(play_matrices(&p));
    STEP(play_operators(&p));
    STEP(play_eigen(&p));
done:
    play_end(&p);
    return status;
}

static gram_status play_solvers(gram_context *c)
{
    gram_status status;
    play p = {.context = c};
    STEP(gram_points_create_f64(c, N, D, data, D, &p.x));
    STEP(gram_points_create_f64(c, N, D, doubled, D, &p.twice));
    STEP(gram_kernel_parse(c, "rbf(ell=0.5)", &p.kernel));
    STEP(gram_operator_create_free(c, p.kernel, p.x, &p.ops[2]));
    STEP(gram_operator_create_shifted_by(c, p.ops[2], data, &p.ops[5]));
    STEP(play_solve(&p));
done:
    play_end(&p);
    return status;
}

/* Second derivatives have a script of their own: two short ones take less time than one that is long. */
static gram_status play_derivatives(gram_context *c)
{
    static double mixed[N * N * D * D];
    gram_status status;
    play p = {.context = c};
    STEP(gram_points_create_f64(c, N, D, data, D, &p.x));
    STEP(gram_points_create_f64(c, M, D, data, D, &p.y));
    STEP(gram_kernel_parse(c,
                           "normalize(rbf(S=[1,0.1,0;0.1,1,0;0,0,1]) + poly(m=2, c=1)) + "
                           "on(1:2, warp([1,0.5;0.2,1], periodic(p=2, ell=1)))",
                           &p.smooth));
    STEP(gram_kernel_centre(c, p.y, p.smooth, &p.centred));
    STEP(gram_matrix_derivatives(c, p.centred, p.x, NULL, &(gram_derivatives){.ld = N, .mixed = mixed}));
    STEP(gram_matrix_derivatives(c, p.smooth, p.x, p.y, &(gram_derivatives){.ld = M, .trace = out}));
done:
    play_end(&p);
    return status;
}

static const oom_play SCRIPTS[] = {play_engine, play_solvers, play_derivatives};
enum { SCRIPT_COUNT = sizeof SCRIPTS / sizeof *SCRIPTS };

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

static long long fail_each(oom_play script, int threads)
{
    for (long long k = 0;; k++)
        if (oom_one(script, threads, k, 0)) return k;
}

static void each_allocation(void **state)
{
    (void)state;
    for (int i = 0; i < SCRIPT_COUNT; i++) {
        const long long one = fail_each(SCRIPTS[i], 1), two = fail_each(SCRIPTS[i], 2);
        print_message("%lld allocations, %lld with two threads\n", one, two);
        assert_true(one > 50);
    }
}

static void from_each_allocation_on(void **state)
{
    (void)state;
    for (int i = 0; i < SCRIPT_COUNT; i++) (void)oom_each(SCRIPTS[i], 1);
}

static void budget(void **state)
{
    (void)state;
    for (int i = 0; i < SCRIPT_COUNT; i++) {
        const size_t least = oom_budget(SCRIPTS[i]);
        print_message("the script needs at most %zu bytes\n", least);
        assert_true(least > 2000); /* more than ten budgets were refused */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation), cmocka_unit_test(from_each_allocation_on),
                                       cmocka_unit_test(budget)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
