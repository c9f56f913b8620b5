/* Work that several ranks share, with threads as ranks: against one process, and every allocation of one rank failing. */
#include <gram/collective.h>

#include "base/ranks/collective.h"
#include "rank_team.h"

enum { N = 211, D = 3, NEW = 40, MOST = 4000 };

static const int RANKS[] = {1, 2, 3, 4};

/* ---- the operations ---- */

static gram_status play_operations(gram_context *context, member *self)
{
    gram_status status = GRAM_OK;
    const int ranks = gram_ranks(context), rank = gram_rank(context);
    double sums[7], dealt[5] = {0}, parts[5] = {0}, least = 10 - rank;
    int64_t bytes = 0;
    for (int i = 0; i < 7; i++) sums[i] = ldexp(1, i * rank);
    for (int i = rank; i < 5; i += ranks) dealt[i] = i + 0.5;
    int64_t first, end;
    gram_ranks_part(context, 5, rank, &first, &end);
    for (int64_t i = first; i < end; i++) parts[i] = (double)i * 3;
    STEP(gram_ranks_sum(context, "test", 7, sums));
    STEP(gram_ranks_gather_dealt(context, "test", 5, 1, dealt));
    STEP(gram_ranks_gather(context, "test", 5, 1, parts));
    STEP(gram_ranks_least(context, &least));
    for (int i = 0; i < 7; i++) {
        double wanted = 0;
        for (int r = 0; r < ranks; r++) wanted += ldexp(1, i * r);
        if (sums[i] != wanted) status = GRAM_ERROR_INTERNAL;
    }
    for (int i = 0; i < 5; i++)
        if (dealt[i] != i + 0.5 || parts[i] != i * 3) status = GRAM_ERROR_INTERNAL;
    if (least != 10 - (ranks - 1)) status = GRAM_ERROR_INTERNAL;
    /* what the library counts is what went over the table */
    gram_collective_report report = {.size = sizeof report};
    STEP(gram_context_collective_report(context, &report));
    bytes = report.bytes_sent;
    if (bytes != self->moved || report.ranks != ranks || report.rank != rank) status = GRAM_ERROR_INTERNAL;
done:
    return status;
}

static void operations_are_right(void **state)
{
    (void)state;
    double none[TEAM_MOST];
    for (size_t i = 0; i < sizeof RANKS / sizeof *RANKS; i++)
        assert_int_equal(team_run(RANKS[i], 0, play_operations, 1, none, -1, -1), GRAM_OK);
}

/* One rank fails alone: all hear of it, in its words. */
static gram_status play_disagreement(gram_context *context, member *self)
{
    gram_status status = GRAM_OK;
    if (self->rank == 1) status = gram_fail(context, GRAM_ERROR_NUMERICAL, "rank one had no luck");
    status = gram_ranks_agree(context, status);
    self->out[0] = status == GRAM_ERROR_NUMERICAL && strstr(gram_context_message(context), "no luck") != NULL;
    return GRAM_OK;
}

static gram_status play_difference(gram_context *context, member *self)
{
    const double mine = self->rank == 2 ? 7 : 6;
    const gram_status same = gram_context_same_everywhere(context, "greeting", "hello", 5);
    const gram_status other = gram_context_same_everywhere(context, "number", &mine, sizeof mine);
    self->out[0] = same == GRAM_OK && other == GRAM_ERROR_DATA &&
                   strstr(gram_context_message(context), "rank 2 of 3 has another number than rank 0") != NULL;
    return GRAM_OK;
}

static void faults_are_heard_by_all(void **state)
{
    (void)state;
    double heard[TEAM_MOST];
    assert_int_equal(team_run(4, 0, play_disagreement, 1, heard, -1, -1), GRAM_OK);
    for (int r = 0; r < 4; r++) assert_true(heard[r] == 1);
    assert_int_equal(team_run(3, 0, play_difference, 1, heard, -1, -1), GRAM_OK);
    for (int r = 0; r < 3; r++) assert_true(heard[r] == 1);
}

static void tables_are_checked(void **state)
{
    gram_context *context = *state;
    gram_collective table;
    gram_collective_init(&table, sizeof table);
    assert_int_equal(table.ranks, 1);
    OK(context, gram_context_set_collective(context, &table));
    table.ranks = 2;
    REFUSED(context, gram_context_set_collective(context, &table), GRAM_ERROR_ARGUMENT, "broadcast");
    table.rank = 2;
    REFUSED(context, gram_context_set_collective(context, &table), GRAM_ERROR_ARGUMENT, "rank = 2 of ranks = 2");
    table.rank = 0, table.broadcast = team_broadcast, table.gather = team_gather, table.exchange = team_exchange;
    table.factor = team_factor;
    REFUSED(context, gram_context_set_collective(context, &table), GRAM_ERROR_ARGUMENT, "together");
    table.factor = NULL, table.grid_rows = 3;
    REFUSED(context, gram_context_set_collective(context, &table), GRAM_ERROR_ARGUMENT, "grid_rows = 3");
    table.grid_rows = 0;
    OK(context, gram_context_set_time(context, 100));
    REFUSED(context, gram_context_set_collective(context, &table), GRAM_ERROR_ARGUMENT, "limit of time");
    OK(context, gram_context_set_time(context, 0));
    OK(context, gram_context_set_collective(context, NULL));
}

/* ---- fits ---- */

typedef struct world {
    double *x, *y;
    gram_points *points, *fresh;
    gram_kernel *kernel;
} world;

static gram_status open_world(gram_context *context, const char *kernel, world *w)
{
    gram_status status = GRAM_OK;
    w->x = test_spread(5, N + NEW, D);
    w->y = malloc(N * sizeof *w->y);
    for (int64_t i = 0; i < N; i++)
        w->y[i] = sin(3 * w->x[i * D]) + w->x[i * D + 1] * w->x[i * D + 2] + 0.1 * (double)(i % 5);
    STEP(gram_points_create_f64(context, N, D, w->x, D, &w->points));
    STEP(gram_points_create_f64(context, NEW, D, w->x + N * D, D, &w->fresh));
    STEP(gram_kernel_parse(context, kernel, &w->kernel));
done:
    return status;
}

static void close_world(world *w)
{
    gram_kernel_release(w->kernel);
    gram_points_release(w->points);
    gram_points_release(w->fresh);
    free(w->x);
    free(w->y);
}

/* Products of K with itself and with other rows, of one column and of several, in f64. */
static gram_status play_products(gram_context *context, member *self)
{
    gram_status status = GRAM_OK;
    world w = {0};
    double *v = test_spread(9, N, 6);
    STEP(open_world(context, "rbf(ell=0.5) + normalize(linear + 1)", &w));
    STEP(gram_matrix_product(context, w.kernel, w.points, NULL, 1, v, 1, self->out, 1));
    STEP(gram_matrix_product(context, w.kernel, w.points, NULL, 6, v, 6, self->out + N, 8));
    STEP(gram_matrix_product(context, w.kernel, w.fresh, w.points, 2, v, 2, self->out + 9 * N, 2));
done:
    free(v);
    close_world(&w);
    return status;
}

static gram_status play_krr(gram_context *context, member *self, gram_solver solver, gram_precision precision)
{
    gram_status status = GRAM_OK;
    world w = {0};
    gram_krr *krr = NULL;
    gram_krr_options options;
    gram_krr_options_init(&options, sizeof options);
    options.lambda = 1e-4;
    options.solver = solver;
    options.precision = precision;
    options.landmarks = solver == GRAM_SOLVER_NYSTROM ? 30 : 0;
    STEP(open_world(context, "rbf(ell=0.4)", &w));
    STEP(gram_krr_fit(context, w.kernel, w.points, 1, w.y, 1, &options, &krr));
    const gram_krr_report *report = gram_krr_get_report(krr);
    const double numbers[] = {report->train_rmse, report->norm, report->loo_rmse, report->effective_dimension,
                              report->log_marginal_likelihood};
    for (int i = 0; i < 5; i++) self->out[i] = isnan(numbers[i]) ? -1 : numbers[i];
    STEP(gram_function_evaluate(context, gram_krr_function(krr), w.fresh, self->out + 5, 1));
done:
    gram_krr_destroy(krr);
    close_world(&w);
    return status;
}

static gram_status play_exact(gram_context *context, member *self)
{
    return play_krr(context, self, GRAM_SOLVER_EXACT, GRAM_PRECISION_F64);
}

static gram_status play_mixed(gram_context *context, member *self)
{
    return play_krr(context, self, GRAM_SOLVER_EXACT, GRAM_PRECISION_MIXED);
}

static gram_status play_cg(gram_context *context, member *self)
{
    return play_krr(context, self, GRAM_SOLVER_CG, GRAM_PRECISION_F64);
}

static gram_status play_landmarks(gram_context *context, member *self)
{
    return play_krr(context, self, GRAM_SOLVER_NYSTROM, GRAM_PRECISION_F64);
}

/* The likelihood with its gradient, the leave-one-out density with its own, and posterior means and variances. */
static gram_status play_gp(gram_context *context, member *self)
{
    gram_status status = GRAM_OK;
    world w = {0};
    gram_gp *gp = NULL;
    gram_gp_options options;
    gram_gp_options_init(&options, sizeof options);
    options.noise = 0.05;
    options.flat = 1;
    options.mean = GRAM_MEAN_LINEAR;
    options.solver = GRAM_SOLVER_EXACT;
    STEP(open_world(context, "2*rbf(ell=[0.4,0.6,0.9]) + normalize(linear + 1)", &w));
    double *out = self->out;
    STEP(gram_gp_objective_value(context, w.kernel, w.points, w.y, &options, GRAM_GP_OBJECTIVE_ML, out, out + 1));
    STEP(
        gram_gp_objective_value(context, w.kernel, w.points, w.y, &options, GRAM_GP_OBJECTIVE_LOO, out + 20, out + 21));
    STEP(gram_gp_fit(context, w.kernel, w.points, w.y, &options, &gp));
    STEP(gram_gp_predict(context, gp, w.fresh, NULL, 0, out + 40, out + 40 + NEW));
done:
    gram_gp_destroy(gp);
    close_world(&w);
    return status;
}

/* A permutation test: its sums over pairs are the same bits for any number of ranks, and so is the p-value. */
static gram_status play_test(gram_context *context, member *self)
{
    gram_status status = GRAM_OK;
    world w = {0};
    gram_mmd_options options;
    gram_mmd_result result;
    gram_mmd_options_init(&options, sizeof options);
    gram_mmd_result_init(&result, sizeof result);
    options.permutations = 99;
    options.method = GRAM_MMD_TEST_PERMUTATION;
    STEP(open_world(context, "rbf(ell=0.4)", &w));
    STEP(gram_mmd_test(context, w.kernel, w.points, w.fresh, &options, &result));
    self->out[0] = result.statistic;
    self->out[1] = result.p_value;
done:
    gram_mmd_result_clear(&result);
    close_world(&w);
    return status;
}

typedef struct road {
    const char *name;
    gram_status (*play)(gram_context *context, member *self);
    double tolerance;
} road;

static const road ROADS[] = {{"products", play_products, 1e-12},  {"exact", play_exact, 1e-10},
                             {"mixed", play_mixed, 1e-10},        {"cg", play_cg, 1e-8},
                             {"landmarks", play_landmarks, 1e-9}, {"gp", play_gp, 1e-9},
                             {"test", play_test, 1e-12}};

static void check_road(const road *r, int with_dense)
{
    static double one[MOST], many[TEAM_MOST * MOST];
    for (size_t i = 0; i < sizeof RANKS / sizeof *RANKS; i++) {
        const int ranks = RANKS[i];
        double *out = ranks == 1 ? one : many;
        for (int64_t k = 0; k < ranks * MOST; k++) out[k] = 0;
        assert_int_equal(team_run(ranks, with_dense, r->play, MOST, out, -1, -1), GRAM_OK);
        if (ranks == 1) continue;
        test_near(r->name, "several ranks", MOST, many, one, r->tolerance);
        for (int k = 1; k < ranks; k++) /* the same on every rank, bit for bit */
            assert_memory_equal(many + k * MOST, many, MOST * sizeof *many);
    }
}

static void ranks_give_what_one_gives(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROADS / sizeof *ROADS; i++) check_road(&ROADS[i], 1);
}

/* Without operations on dense matrices factors are made on every rank, and the rest is spread all the same. */
static void tables_need_no_dense(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROADS / sizeof *ROADS; i++) check_road(&ROADS[i], 0);
}

/* ---- failures ---- */

/* Some allocation of the second of two ranks fails: it says so, the other ends too, and nothing is leaked by either. */
static void check_failures(const road *r, long long stride)
{
    static double out[TEAM_MOST * MOST];
    for (long long k = 0;; k += k < 40 ? 1 : stride) {
        const gram_status status = team_run(2, 1, r->play, MOST, out, 1, k);
        if (status == GRAM_OK) break;
        if (status != GRAM_ERROR_MEMORY) FAIL_TEST("%s: failure %lld gave %s", r->name, k, gram_status_name(status));
        if (k > 100000) FAIL_TEST("%s does not end", r->name);
    }
}

static void failures_end_all_ranks(void **state)
{
    (void)state;
    check_failures(&ROADS[0], 1);
    check_failures(&ROADS[1], 7);
    check_failures(&ROADS[4], 7);
    check_failures(&ROADS[5], 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_right), cmocka_unit_test(faults_are_heard_by_all),
        cmocka_unit_test(tables_are_checked),   cmocka_unit_test(ranks_give_what_one_gives),
        cmocka_unit_test(tables_need_no_dense), cmocka_unit_test(failures_end_all_ranks),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
