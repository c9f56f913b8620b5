/* Every allocation of the Stein methods, of thinning and of conditional embeddings failing in turn: GRAM_ERROR_MEMORY, or a
 * result that could do with less, and nothing held afterwards. As in test_oom.c, over a script of these calls. */
#include "oom.h"

enum { N = 98, D = 2, M = 6 };

static double x[N * D], s[N * D], out[N * N], labels[N];

typedef struct play {
    gram_context *context;
    gram_points *points;
    gram_kernel *kernels[3];
    gram_operator *ops[3];
    gram_density *densities[3];
    gram_conditional *conditional;
} play;

static gram_status play_stein(play *p)
{
    gram_status status;
    gram_context *c = p->context;
    const int64_t index[2] = {1, 97};
    gram_stein_test_options options;
    gram_stein_test_result result = {.size = sizeof result};
    gram_discrepancy discrepancy;
    gram_stein_test_options_init(&options, sizeof options);
    options.draws = 20;
    STEP(gram_stein_kernel(c, p->points, GRAM_STEIN_METRIC_SCLMED, M, &p->kernels[0]));
    STEP(gram_stein_kernel(c, p->points, GRAM_STEIN_METRIC_SMPCOV, M, &p->kernels[1]));
    STEP(gram_kernel_parse(c, "normalize(rbf(ell=1) + poly(m=2, c=1))", &p->kernels[2]));
    for (int k = 0; k < 3; k++) {
        STEP(gram_operator_create_stein(c, p->kernels[k], p->points, s, D, &p->ops[k]));
        STEP(gram_operator_apply(c, p->ops[k], 2, x, D, out, 2));
        STEP(gram_operator_diagonal(c, p->ops[k], out));
        STEP(gram_operator_columns(c, p->ops[k], 2, index, out, 2));
        STEP(gram_stein_discrepancy(c, p->kernels[k], p->points, s, D, labels, &discrepancy));
    }
    STEP(gram_stein_test(c, p->kernels[0], p->points, s, D, &options, &result));
done:
    return status;
}

static gram_status play_thin(play *p)
{
    gram_status status;
    gram_context *c = p->context;
    int64_t index[M];
    double weights[M], discrepancy[M];
    gram_scores_doubt doubt;
    gram_thin_options options;
    gram_thin_options_init(&options, sizeof options);
    for (int scores = 0; scores < 2; scores++)
        for (int method = GRAM_THIN_GREEDY; method <= GRAM_THIN_PLAIN; method++) {
            if (scores && method == GRAM_THIN_HERDING) continue;
            options.method = (gram_thin_method)method;
            STEP(gram_thin(c, p->kernels[0], p->points, scores ? s : NULL, D, &options, M, index, discrepancy));
        }
    STEP(gram_thin_weights(c, p->kernels[0], p->points, NULL, 0, M, index, weights, NULL));
    STEP(gram_thin_discrepancy(c, p->kernels[0], p->points, s, D, M, index, weights, discrepancy));
    options.method = GRAM_THIN_GREEDY;
    options.log_density = options.laplacian = labels;
    STEP(gram_thin(c, p->kernels[0], p->points, s, D, &options, M, index, discrepancy));
    STEP(gram_thin_density_weights(c, p->kernels[0], p->points, s, D, labels, labels, M, index, weights, NULL));
    STEP(gram_thin_from_sample(c, p->points, M, index, NULL, &weights[0], &weights[1]));
    STEP(gram_stein_scores_check(c, p->points, s, D, &doubt, &index[0]));
done:
    return status;
}

static gram_status play_rest(play *p)
{
    gram_status status;
    gram_context *c = p->context;
    STEP(gram_density_parse(c, "student(df=3, cov=[1,0.5;0.5,1])", D, &p->densities[0]));
    STEP(gram_density_parse(c, "mixture(means=[0,1;1,0], sd=[1,2])", D, &p->densities[1]));
    STEP(gram_density_logistic(c, N, D, x, D, labels, 1, &p->densities[2]));
    for (int i = 0; i < 3; i++) {
        STEP(gram_density_score(c, p->densities[i], p->points, out, D));
        STEP(gram_density_second(c, p->densities[i], p->points, out, D));
    }
    STEP(gram_conditional_create(c, p->kernels[0], p->points, 0.1, &p->conditional));
    STEP(gram_conditional_weights(c, p->conditional, p->points, out, N));
    STEP(gram_conditional_expect(c, p->conditional, D, x, D, p->points, out, D));
done:
    return status;
}

static void play_end(play *p)
{
    gram_conditional_destroy(p->conditional);
    for (int i = 0; i < 3; i++) {
        gram_density_destroy(p->densities[i]);
        gram_operator_release(p->ops[i]);
        gram_kernel_release(p->kernels[i]);
    }
    gram_points_release(p->points);
}

static gram_status play_all(gram_context *c)
{
    gram_status status;
    play p = {.context = c};
    STEP(gram_points_create_f64(c, N, D, x, D, &p.points));
    STEP(play_stein(&p));
    STEP(play_thin(&p));
    STEP(play_rest(&p));
done:
    play_end(&p);
    return status;
}

static void each_allocation(void **state)
{
    (void)state;
    const long long count = oom_each(play_all, 0);
    print_message("%lld allocations\n", count);
    assert_true(count > 100);
    (void)oom_each(play_all, 1);
}

static int set_up(void **state)
{
    (void)state;
    test_uniform(1, N * D, -1, 1, x);
    test_uniform(2, N * D, -1, 1, s);
    for (int i = 0; i < N; i++) labels[i] = i % 2;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
