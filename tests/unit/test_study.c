/* Studies: asking and telling, batches, constraints, candidates, failures, files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "study/search_domain.h"
#include "support.h"

static const char *const LEVELS[] = {"oak", "ash", "elm"};
static const gram_variable MIXED[] = {{"place", GRAM_VARIABLE_REAL, -1, 3, 0, NULL},
                                      {"rate", GRAM_VARIABLE_LOG, 1e-4, 1, 0, NULL},
                                      {"count", GRAM_VARIABLE_INTEGER, 1, 40, 0, NULL},
                                      {"wood", GRAM_VARIABLE_CATEGORY, 0, 0, 3, LEVELS}};
static const gram_variable PLANE[] = {{"x", GRAM_VARIABLE_REAL, -5, 10, 0, NULL},
                                      {"y", GRAM_VARIABLE_REAL, 0, 15, 0, NULL}};

static gram_study *make(gram_context *context, int64_t count, const gram_variable *variables,
                        const gram_study_options *options)
{
    gram_study *study;
    OK(context, gram_study_create(context, count, variables, options, &study));
    return study;
}

static gram_study_options defaults(void)
{
    gram_study_options options;
    gram_study_options_init(&options, sizeof options);
    return options;
}

/* Least 0 at (1.2, 0.01, 17, ash). */
static double mixed(const double *x)
{
    const double place = x[0] - 1.2, rate = log10(x[1]) + 2, count = (x[2] - 17) / 10;
    return place * place + rate * rate + count * count + (x[3] == 1 ? 0 : 1);
}

static double bowl(const double *x)
{
    return (x[0] - 2) * (x[0] - 2) + (x[1] - 4) * (x[1] - 4);
}

/* Asks and tells `count` times. */
static void play(gram_context *context, gram_study *study, int count, double (*f)(const double *))
{
    double x[8];
    gram_proposal p = {.size = sizeof p};
    for (int i = 0; i < count; i++) {
        OK(context, gram_study_ask(context, study, x, &p));
        OK(context, gram_study_tell(context, study, p.trial, f(x), NULL));
    }
}

static double best_value(gram_context *context, const gram_study *study)
{
    gram_trial trial = {.size = sizeof trial};
    OK(context, gram_study_trial(context, study, gram_study_best(study), &trial));
    return trial.value;
}

/* ---- the domain ---- */

static void points_go_round(void **state)
{
    gram_context *context = *state;
    gram_domain domain = {0};
    OK(context, gram_domain_make(context, "test", 4, MIXED, &domain));
    assert_int_equal(domain.columns, 6);
    for (int i = 0; i < 50; i++) {
        double share[4], x[4], u[6], back[4];
        gram_random_uniform((gram_random){1, 2}, (uint64_t)i * 4, 4, share);
        x[0] = -1 + 4 * share[0];
        x[1] = pow(10, -4 + 4 * share[1]);
        x[2] = floor(1 + 40 * share[2]);
        x[3] = floor(3 * share[3]);
        gram_domain_encode(&domain, x, u);
        gram_domain_decode(&domain, u, back);
        test_near("round", NULL, 4, back, x, 1e-12);
        assert_true(x[2] == back[2] && x[3] == back[3]);
    }
    gram_domain_free(&domain);
}

/* Each of the n strata of a real variable has one point; levels are shared out evenly. */
static void design_is_a_latin_hypercube(void **state)
{
    enum { COUNT = 12 };
    gram_context *context = *state;
    gram_domain domain = {0};
    double u[COUNT * 6];
    int strata[COUNT] = {0}, levels[3] = {0};
    OK(context, gram_domain_make(context, "test", 4, MIXED, &domain));
    OK(context, gram_domain_design(context, &domain, 7, 0, COUNT, 5, u));
    for (int i = 0; i < COUNT; i++) {
        strata[(int)(u[i * 6] * COUNT)]++;
        levels[gram_domain_index(domain.variables + 3, u + i * 6)]++;
    }
    for (int i = 0; i < COUNT; i++) assert_int_equal(strata[i], 1);
    for (int i = 0; i < 3; i++) assert_int_equal(levels[i], COUNT / 3);
    gram_domain_free(&domain);
}

/* ---- asking and telling ---- */

static void finds_a_mixed_minimum(void **state)
{
    gram_context *context = *state;
    gram_study *study = make(context, 4, MIXED, NULL);
    play(context, study, 45, mixed);
    assert_true(best_value(context, study) < 0.02);
    gram_study_destroy(study);
}

static double upside_down(const double *x)
{
    return 7 - bowl(x);
}

static void maximises(void **state)
{
    gram_context *context = *state;
    gram_study_options options = defaults();
    options.maximize = 1;
    gram_study *study = make(context, 2, PLANE, &options);
    play(context, study, 20, upside_down);
    assert_true(best_value(context, study) > 6.99);
    double mean, deviation;
    OK(context, gram_study_predict(context, study, 1, (const double[]){2, 4}, &mean, &deviation, NULL));
    assert_true(fabs(mean - 7) < 0.5 && deviation >= 0);
    gram_study_destroy(study);
}

static void every_acquisition_works(void **state)
{
    gram_context *context = *state;
    for (int kind = 0; gram_acquisition_name((gram_acquisition_kind)kind); kind++) {
        gram_study_options options = defaults();
        options.acquisition = (gram_acquisition_kind)kind;
        gram_study *study = make(context, 2, PLANE, &options);
        play(context, study, 20, bowl);
        if (kind != GRAM_ACQUISITION_VARIANCE && best_value(context, study) > 0.5)
            FAIL_TEST("%s: %g", gram_acquisition_name((gram_acquisition_kind)kind), best_value(context, study));
        gram_study_destroy(study);
    }
}

/* Points that are out are not proposed again, and their number does not stop a study. */
static void batches_are_apart(void **state)
{
    enum { BATCH = 5 };
    gram_context *context = *state;
    gram_study *study = make(context, 2, PLANE, NULL);
    play(context, study, 8, bowl);
    double x[BATCH][2];
    for (int i = 0; i < BATCH; i++) OK(context, gram_study_ask(context, study, x[i], NULL));
    for (int i = 0; i < BATCH; i++)
        for (int j = 0; j < i; j++) assert_true(hypot(x[i][0] - x[j][0], x[i][1] - x[j][1]) > 1e-3);
    for (int i = BATCH - 1; i >= 0; i--) OK(context, gram_study_tell(context, study, 8 + i, bowl(x[i]), NULL));
    assert_int_equal(gram_study_evaluation_count(study), 8 + BATCH);
    REFUSED(context, gram_study_tell(context, study, 8, 1, NULL), GRAM_ERROR_ARGUMENT, "already");
    REFUSED(context, gram_study_tell(context, study, 99, 1, NULL), GRAM_ERROR_ARGUMENT, "no trial 99");
    gram_study_destroy(study);
}

/* Without the constraint the minimum is at (2, 4); x + y >= 9 moves it to (3.5, 5.5), value 4.5. */
static void constraints_hold(void **state)
{
    gram_context *context = *state;
    gram_study_options options = defaults();
    gram_trial trial = {.size = sizeof trial};
    options.constraints = 1;
    gram_study *study = make(context, 2, PLANE, &options);
    for (int i = 0; i < 30; i++) {
        double x[2];
        gram_proposal p = {.size = sizeof p};
        OK(context, gram_study_ask(context, study, x, &p));
        OK(context, gram_study_tell(context, study, p.trial, bowl(x), (const double[]){9 - x[0] - x[1]}));
    }
    OK(context, gram_study_trial(context, study, gram_study_best(study), &trial));
    assert_true(trial.feasible && trial.constraints[0] <= 0);
    assert_true(trial.value < 4.7);
    gram_study_destroy(study);
}

static void failures_are_left_behind(void **state)
{
    gram_context *context = *state;
    gram_study *study = make(context, 2, PLANE, NULL);
    double x[2];
    for (int i = 0; i < 7; i++) { /* all fail: points at random go on */
        OK(context, gram_study_ask(context, study, x, NULL));
        OK(context, gram_study_tell(context, study, i, NAN, NULL));
    }
    assert_int_equal(gram_study_best(study), -1);
    REFUSED(context, gram_study_learn(context, study), GRAM_ERROR_ARGUMENT, "7 failed");
    for (int i = 7; i < 40; i++) { /* fails where x > 3 */
        OK(context, gram_study_ask(context, study, x, NULL));
        OK(context, gram_study_tell(context, study, i, x[0] > 3 ? NAN : bowl(x), NULL));
    }
    assert_true(best_value(context, study) < 0.1);
    gram_study_destroy(study);
}

static void candidates_come_once(void **state)
{
    enum { ROWS = 25 };
    gram_context *context = *state;
    double table[ROWS * 2], x[2];
    int seen[ROWS] = {0};
    for (int i = 0; i < ROWS; i++) {
        table[i * 2] = -5 + 3.0 * (i % 5);
        table[i * 2 + 1] = 3.0 * (i / 5);
    }
    gram_study_options options = defaults();
    options.candidate_count = ROWS;
    options.candidates = table;
    gram_study *study = make(context, 2, PLANE, &options);
    for (int i = 0; i < ROWS; i++) {
        gram_proposal p = {.size = sizeof p};
        OK(context, gram_study_ask(context, study, x, &p));
        assert_true(p.row >= 0 && p.row < ROWS && !seen[p.row]++);
        assert_memory_equal(x, table + p.row * 2, sizeof x);
        OK(context, gram_study_tell(context, study, p.trial, bowl(x), NULL));
    }
    REFUSED(context, gram_study_ask(context, study, x, NULL), GRAM_ERROR_ARGUMENT, "all 25 candidates");
    gram_study_destroy(study);
}

static void the_users_point_comes_first(void **state)
{
    gram_context *context = *state;
    gram_study *study = make(context, 2, PLANE, NULL);
    const double mine[] = {1, 2};
    double x[2];
    OK(context, gram_study_suggest(context, study, mine));
    OK(context, gram_study_ask(context, study, x, NULL));
    assert_memory_equal(x, mine, sizeof x);
    OK(context, gram_study_ask(context, study, x, NULL));
    assert_memory_not_equal(x, mine, sizeof x);
    REFUSED(context, gram_study_suggest(context, study, (const double[]){11, 0}), GRAM_ERROR_DATA, "x = 11");
    gram_study_requeue(study);
    OK(context, gram_study_ask(context, study, x, NULL));
    assert_memory_equal(x, mine, sizeof x);
    gram_study_destroy(study);
}

/* Of twenty variables the search stays near the best point and gets down much further than chance. */
static double far_bowl(const double *x)
{
    double sum = 0;
    for (int l = 0; l < 20; l++) sum += (x[l] - 0.1 * (l % 7)) * (x[l] - 0.1 * (l % 7));
    return sum;
}

static void many_variables(void **state)
{
    enum { MANY = 20 };
    gram_context *context = *state;
    gram_variable variables[MANY];
    char names[MANY][8];
    double x[MANY], first = INFINITY;
    for (int l = 0; l < MANY; l++) {
        (void)snprintf(names[l], sizeof names[l], "x%d", l);
        variables[l] = (gram_variable){.name = names[l], .lower = -1, .upper = 1};
    }
    gram_study *study = make(context, MANY, variables, NULL);
    for (int i = 0; i < 45; i++) {
        OK(context, gram_study_ask(context, study, x, NULL));
        if (i < 20) first = fmin(first, far_bowl(x));
        OK(context, gram_study_tell(context, study, i, far_bowl(x), NULL));
    }
    assert_true(best_value(context, study) < 0.5 * first);
    gram_study_destroy(study);
}

static void importance_is_a_share(void **state)
{
    gram_context *context = *state;
    gram_study *study = make(context, 4, MIXED, NULL);
    double shares[4];
    play(context, study, 30, mixed);
    OK(context, gram_study_importance(context, study, shares));
    for (int l = 0; l < 4; l++) assert_true(shares[l] >= 0 && shares[l] < 1);
    assert_true(shares[0] > shares[3]); /* variance 64/45 or so against 2/9 */
    gram_study_destroy(study);
}

static void fill_proposals(gram_context *context, double *out)
{
    gram_study *study = make(context, 4, MIXED, NULL);
    for (int i = 0; i < 14; i++) {
        OK(context, gram_study_ask(context, study, out + 4 * i, NULL));
        OK(context, gram_study_tell(context, study, i, mixed(out + 4 * i), NULL));
    }
    gram_study_destroy(study);
}

static void same_for_any_threads(void **state)
{
    (void)state;
    test_any_threads(14 * 4, fill_proposals);
}

/* ---- noise, and what is recommended ---- */

static double ripples(const double *x)
{
    return bowl(x) + 8 * sin(40 * x[0]) * sin(40 * x[1]);
}

/* How many pairs of trials are at one point. */
static int count_repeats(gram_context *context, const gram_study *study)
{
    int found = 0;
    gram_trial a = {.size = sizeof a}, b = {.size = sizeof b};
    for (int64_t i = 0; i < gram_study_trial_count(study); i++)
        for (int64_t j = 0; j < i; j++) {
            OK(context, gram_study_trial(context, study, i, &a));
            OK(context, gram_study_trial(context, study, j, &b));
            found += memcmp(a.x, b.x, 2 * sizeof(double)) == 0;
        }
    return found;
}

/* A function that looks like noise to the model is asked once more at one point, and then its best value counts. */
static void ripples_are_not_noise(void **state)
{
    gram_context *context = *state;
    gram_study *study = make(context, 2, PLANE, NULL);
    double x[2], least = INFINITY;
    gram_proposal p = {.size = sizeof p};
    for (int i = 0; i < 30; i++) {
        OK(context, gram_study_ask(context, study, x, &p));
        OK(context, gram_study_tell(context, study, p.trial, ripples(x), NULL));
        least = fmin(least, ripples(x));
    }
    OK(context, gram_study_learn(context, study));
    assert_int_equal(count_repeats(context, study), 1);
    assert_true(best_value(context, study) == least);
    OK(context, gram_study_recommend(context, study, x, NULL, NULL));
    assert_true(ripples(x) == least);
    gram_study_destroy(study);
}

/* With noise the mean's least point is recommended, which no point of a grid is under. */
static void noise_has_a_recommendation(void **state)
{
    enum { SIDE = 41 };
    gram_context *context = *state;
    gram_study *study = make(context, 2, PLANE, NULL);
    double x[2], grid[SIDE * SIDE * 2], means[SIDE * SIDE], mean, deviation, bound, noise;
    gram_proposal p = {.size = sizeof p};
    for (int i = 0; i < 30; i++) {
        OK(context, gram_study_ask(context, study, x, &p));
        gram_random_normal((gram_random){5, 5}, (uint64_t)i, 1, &noise);
        OK(context, gram_study_tell(context, study, p.trial, bowl(x) + 10 * noise, NULL));
    }
    OK(context, gram_study_recommend(context, study, x, &mean, &deviation));
    for (int i = 0; i < SIDE * SIDE; i++) {
        grid[2 * i] = -5 + 15.0 * (i % SIDE) / (SIDE - 1);
        grid[2 * i + 1] = 15.0 * (double)(i / SIDE) / (SIDE - 1);
    }
    OK(context, gram_study_predict(context, study, SIDE * SIDE, grid, means, NULL, NULL));
    for (int i = 0; i < SIDE * SIDE; i++) assert_true(mean <= means[i] + 1e-6);
    assert_true(fabs(mean - bowl(x)) < 6 * deviation && deviation > 0);
    OK(context, gram_study_regret(context, study, &bound));
    assert_true(bound >= bowl(x)); /* the least value is 0 */
    gram_study_destroy(study);
}

/* The bound of an exact function falls to next to nothing, and is never below the regret. */
static void regret_is_bounded(void **state)
{
    gram_context *context = *state;
    gram_study_options options = defaults();
    double bound, x[2];
    options.noise = 0;
    gram_study *study = make(context, 2, PLANE, &options);
    play(context, study, 8, bowl);
    OK(context, gram_study_regret(context, study, &bound));
    assert_true(bound >= best_value(context, study));
    play(context, study, 14, bowl);
    OK(context, gram_study_regret(context, study, &bound));
    OK(context, gram_study_recommend(context, study, x, NULL, NULL));
    assert_true(bound >= bowl(x) && bound < 1);
    gram_study_destroy(study);
}

/* ---- files ---- */

static void studies_go_through_files(void **state)
{
    gram_context *context = *state;
    gram_study_options options = defaults();
    gram_study *study, *back;
    double x[4], again[4];
    options.constraints = 2;
    options.seed = 18446744073709551615U;
    study = make(context, 4, MIXED, &options);
    for (int i = 0; i < 12; i++) {
        OK(context, gram_study_ask(context, study, x, NULL));
        OK(context,
           gram_study_tell(context, study, i, i == 3 ? NAN : mixed(x) / 3, (const double[]){-0.1, x[0] - 2.5}));
    }
    OK(context, gram_study_ask(context, study, x, NULL)); /* is out */
    OK(context, gram_study_write(context, study, "study.json"));
    OK(context, gram_study_read(context, "study.json", &back));
    OK(context, gram_study_check_same(context, study, back));
    assert_int_equal(gram_study_trial_count(back), 13);
    assert_int_equal(gram_study_evaluation_count(back), 12);
    for (int i = 0; i < 13; i++) {
        gram_trial a = {.size = sizeof a}, b = {.size = sizeof b};
        OK(context, gram_study_trial(context, study, i, &a));
        OK(context, gram_study_trial(context, back, i, &b));
        assert_int_equal(a.state, b.state);
        assert_memory_equal(a.x, b.x, 4 * sizeof(double));
        assert_true(a.value == b.value || (isnan(a.value) && isnan(b.value)));
        if (a.state == GRAM_TRIAL_DONE) assert_memory_equal(a.constraints, b.constraints, 2 * sizeof(double));
    }
    gram_study_requeue(back);
    OK(context, gram_study_ask(context, back, again, NULL)); /* the one that was out */
    assert_memory_equal(x, again, sizeof x);
    gram_study_destroy(study);
    gram_study_destroy(back);
}

static void other_files_are_refused(void **state)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", "empty"},
        {"not json", "not JSON"},
        {"{\"format\":\"other\"}", "does not say so"},
        {"{\"format\":\"gram-study\",\"version\":9}", "version 9"},
        {"{\"format\":\"gram-study\",\"version\":1,\"variables\":[]}", "'variables'"},
        {"{\"format\":\"gram-study\",\"version\":1,\"variables\":[{\"name\":\"x\",\"kind\":\"odd\"}]}", "not one"}};
    gram_context *context = *state;
    gram_study *study;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_write_file("bad.json", cases[i].text, strlen(cases[i].text));
        REFUSED(context, gram_study_read(context, "bad.json", &study), GRAM_ERROR_DATA, cases[i].part);
    }
    REFUSED(context, gram_study_read(context, "none.json", &study), GRAM_ERROR_FILE, "none.json");
}

static void another_problem_is_told(void **state)
{
    gram_context *context = *state;
    gram_study_options options = defaults();
    gram_study *a = make(context, 2, PLANE, NULL), *b = make(context, 4, MIXED, NULL), *c;
    REFUSED(context, gram_study_check_same(context, a, b), GRAM_ERROR_DATA, "2 variables, not 4");
    options.maximize = 1;
    c = make(context, 2, PLANE, &options);
    REFUSED(context, gram_study_check_same(context, a, c), GRAM_ERROR_DATA, "minimises");
    gram_study_destroy(a);
    gram_study_destroy(b);
    gram_study_destroy(c);
}

/* ---- bad use, and no memory ---- */

static void bad_variables_are_named(void **state)
{
    static const struct {
        gram_variable variable;
        const char *part;
    } cases[] = {{{"x", GRAM_VARIABLE_REAL, 3, 1, 0, NULL}, "lower bound 3 is above upper bound 1"},
                 {{"x", GRAM_VARIABLE_REAL, 1, 1, 0, NULL}, "nothing can vary"},
                 {{"x", GRAM_VARIABLE_LOG, 0, 1, 0, NULL}, "not positive"},
                 {{"x", GRAM_VARIABLE_INTEGER, 0.5, 4, 0, NULL}, "whole numbers"},
                 {{"x", GRAM_VARIABLE_REAL, 0, INFINITY, 0, NULL}, "finite"},
                 {{"x", GRAM_VARIABLE_CATEGORY, 0, 0, 1, LEVELS}, "1 levels"},
                 {{"", GRAM_VARIABLE_REAL, 0, 1, 0, NULL}, "no name"}};
    gram_context *context = *state;
    gram_study *study;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        REFUSED(context, gram_study_create(context, 1, &cases[i].variable, NULL, &study), GRAM_ERROR_ARGUMENT,
                cases[i].part);
    REFUSED(context, gram_study_create(context, 2, (const gram_variable[]){PLANE[0], PLANE[0]}, NULL, &study),
            GRAM_ERROR_ARGUMENT, "two variables");
    gram_study_options options = defaults();
    options.noise = -1;
    REFUSED(context, gram_study_create(context, 2, PLANE, &options, &study), GRAM_ERROR_ARGUMENT, "noise = -1");
}

static gram_status short_play_of(gram_context *context, gram_acquisition_kind kind, int64_t constraints)
{
    gram_status status = GRAM_OK;
    gram_study *study = NULL;
    gram_study_options options = defaults();
    double x[2], shares[2];
    options.acquisition = kind;
    options.constraints = constraints;
    options.start = 2;
    STEP(gram_study_create(context, 2, PLANE, &options, &study));
    for (int i = 0; i < 3; i++) {
        STEP(gram_study_ask(context, study, x, NULL));
        STEP(gram_study_tell(context, study, i, bowl(x), constraints ? (const double[]){-1} : NULL));
    }
    STEP(gram_study_importance(context, study, shares));
done:
    gram_study_destroy(study);
    return status;
}

static gram_status short_play(gram_context *context)
{
    return short_play_of(context, GRAM_ACQUISITION_AUTO, 1);
}

static gram_status short_play_with_noise(gram_context *context)
{
    gram_status status = GRAM_OK;
    STEP(short_play_of(context, GRAM_ACQUISITION_NOISY, 0));
    STEP(short_play_of(context, GRAM_ACQUISITION_MEAN, 0));
done:
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    assert_true(oom_some(short_play, 60, 97) > 60);
    assert_true(oom_some(short_play_with_noise, 60, 97) > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_go_round),         cmocka_unit_test(design_is_a_latin_hypercube),
        cmocka_unit_test(finds_a_mixed_minimum),   cmocka_unit_test(maximises),
        cmocka_unit_test(every_acquisition_works), cmocka_unit_test(batches_are_apart),
        cmocka_unit_test(constraints_hold),        cmocka_unit_test(failures_are_left_behind),
        cmocka_unit_test(candidates_come_once),    cmocka_unit_test(the_users_point_comes_first),
        cmocka_unit_test(many_variables),          cmocka_unit_test(importance_is_a_share),
        cmocka_unit_test(same_for_any_threads),    cmocka_unit_test(studies_go_through_files),
        cmocka_unit_test(other_files_are_refused), cmocka_unit_test(another_problem_is_told),
        cmocka_unit_test(bad_variables_are_named), cmocka_unit_test(without_memory),
        cmocka_unit_test(ripples_are_not_noise),   cmocka_unit_test(noise_has_a_recommendation),
        cmocka_unit_test(regret_is_bounded)};
    return cmocka_run_group_tests(tests, test_open, test_close);
}
