/* Explanations against slow twins: importance by permuting and predicting again, shares by differences, partial dependence by setting and averaging, terms by predictions
 * of each, parts by the kernel's formula; a straight line whose importance is known; text features; failing allocations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate_sets.h"
#include "oom.h"

enum { N = 40, D = 3, STREAM = 0x6578706c };

static void is_near(double got, double wanted, double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance)) FAIL_TEST("%.17g, not %.17g", got, wanted);
}

static gram_table *table_of(gram_context *context, int64_t n, int64_t d, const double *x, const double *y)
{
    gram_table *table = NULL;
    const gram_arrays arrays = arrays_of(n, d, x, y);
    OK(context, gram_arrays_table(context, &arrays, &table));
    return table;
}

static gram_explanation *explain(gram_context *context, const gram_model *model, const double *x, const double *y,
                                 int64_t row)
{
    gram_explanation *made = NULL;
    gram_explain_options how;
    gram_table *table = table_of(context, N, D, x, y);
    gram_explain_options_init(&how, sizeof how);
    how.repeats = 2;
    how.row = row;
    OK(context, gram_explain_table(context, model, table, "data", &how, &made));
    gram_table_destroy(table);
    return made;
}

static const gram_explained_feature *feature_of(const gram_explanation *explanation, int64_t feature)
{
    int64_t count;
    const gram_explained_feature *features = gram_explanation_features(explanation, &count);
    for (int64_t k = 0; k < count; k++)
        if (features[k].feature == feature) return &features[k];
    FAIL_TEST("no feature %d", (int)feature);
    return NULL;
}

static double predict(gram_context *context, const gram_model *model, const double *x)
{
    double f;
    OK(context, gram_predict(context, model, NULL, 1, x, D, &f, 1));
    return f;
}

/* ---- importance ---- */

static void check_permutations(gram_context *context, const gram_model *model, const gram_explanation *explanation,
                               const double *x, const double *y)
{
    const gram_random random = {gram_context_seed(context), STREAM};
    for (int64_t f = 0; f < D; f++) {
        double rises[N] = {0}, mean, se;
        for (int repeat = 0; repeat < 2; repeat++) {
            int64_t order[N];
            gram_random_permutation(random, (uint64_t)(f * 2 + repeat), N, order);
            for (int64_t i = 0; i < N; i++) {
                double row[D];
                memcpy(row, x + i * D, sizeof row);
                const double before = predict(context, model, row) - y[i];
                row[f] = x[order[i] * D + f];
                const double after = predict(context, model, row) - y[i];
                rises[i] += (after * after - before * before) / 2;
            }
        }
        mean_and_error(N, rises, &mean, &se);
        is_near(feature_of(explanation, f)->value, mean, 1e-9);
        is_near(feature_of(explanation, f)->se, se, 1e-9);
    }
}

static void check_shares(gram_context *context, const gram_model *model, const gram_explanation *explanation,
                         const double *x)
{
    const double h = 1e-5;
    double parts[N][D], whole = 0;
    for (int64_t l = 0; l < D; l++) {
        double mean = 0, variance = 0;
        for (int64_t i = 0; i < N; i++) mean += x[i * D + l] / N;
        for (int64_t i = 0; i < N; i++) variance += pow(x[i * D + l] - mean, 2) / N;
        for (int64_t i = 0; i < N; i++) {
            double row[D];
            memcpy(row, x + i * D, sizeof row);
            row[l] = x[i * D + l] + h;
            const double above = predict(context, model, row);
            row[l] = x[i * D + l] - h;
            const double slope = (above - predict(context, model, row)) / (2 * h);
            parts[i][l] = variance * slope * slope;
            whole += parts[i][l] / N;
        }
    }
    for (int64_t l = 0; l < D; l++) {
        double off[N], mean = 0, zero, se;
        for (int64_t i = 0; i < N; i++) mean += parts[i][l] / N;
        for (int64_t i = 0; i < N; i++) off[i] = parts[i][l] - mean / whole * (parts[i][0] + parts[i][1] + parts[i][2]);
        mean_and_error(N, off, &zero, &se);
        is_near(feature_of(explanation, l)->share, mean / whole, 1e-6);
        is_near(feature_of(explanation, l)->share_se, se / whole, 1e-6);
    }
}

/* ---- dependence ---- */

/* Mean over rows, and the deviation over rows of curves less their own means; for gp twice the mean deviation of f. */
static void check_dependence(gram_context *context, const gram_model *model, const gram_dependence *d, const double *x,
                             int posterior)
{
    double own[N][32], deviation[32] = {0};
    assert_true(d->places > 1 && d->places <= 20 && d->curves == 1);
    assert_int_equal(d->posterior, posterior);
    for (int64_t i = 0; i < N; i++)
        for (int64_t g = 0; g < d->places; g++) {
            double row[D], values[2];
            gram_predict_options wish;
            gram_predict_options_init(&wish, sizeof wish);
            wish.std = wish.latent = posterior;
            memcpy(row, x + i * D, sizeof row);
            row[d->feature] = d->at[g];
            OK(context, gram_predict(context, model, &wish, 1, row, D, values, 1 + posterior));
            own[i][g] = values[0];
            if (posterior) deviation[g] += 2 * values[1] / N;
        }
    for (int64_t g = 0; g < d->places; g++) {
        double mean = 0, shapes[N], centre = 0, squares = 0;
        for (int64_t i = 0; i < N; i++) {
            double level = 0;
            for (int64_t k = 0; k < d->places; k++) level += own[i][k] / (double)d->places;
            mean += own[i][g] / N;
            shapes[i] = own[i][g] - level;
            centre += shapes[i] / N;
        }
        for (int64_t i = 0; i < N; i++) squares += pow(shapes[i] - centre, 2) / N;
        const double half = posterior ? deviation[g] : sqrt(squares);
        is_near(d->value[g], mean, 1e-9);
        is_near(d->upper[g] - d->value[g], half, 1e-6);
        is_near(d->value[g] - d->lower[g], half, 1e-6);
    }
}

static void check_model(gram_context *context, settings options, int posterior)
{
    double *x, *y;
    make_set(21, N, D, &x, &y);
    const gram_arrays arrays = arrays_of(N, D, x, y);
    gram_model *model = learn(context, &arrays, options);
    gram_explanation *explanation = explain(context, model, x, y, -1);
    assert_int_equal(gram_explanation_rows(explanation), N);
    check_permutations(context, model, explanation, x, y);
    check_shares(context, model, explanation, x);
    assert_int_equal(gram_explanation_dependences(explanation), D);
    for (int64_t k = 0; k < D; k++)
        check_dependence(context, model, gram_explanation_dependence(explanation, k), x, posterior);
    gram_explanation_destroy(explanation);
    gram_model_destroy(model);
    free(x);
    free(y);
}

static void test_krr(void **state)
{
    static const char *const options[] = {"method", "krr", "kernel", "rbf(ell=0.9)", "lambda", "0.01",
                                          "scale",  "no",  NULL};
    check_model(*state, options, 0);
}

static void test_gp(void **state)
{
    static const char *const options[] = {"method", "gp", "kernel", "rbf(ell=[0.9,1,3])", "noise", "0.1",
                                          "scale",  "no", NULL};
    check_model(*state, options, 1);
}

/* y = 3 x1 without noise: 2 * 9 * Var(x1), all of the derivatives, a straight line, no spread. */
static void test_line(void **state)
{
    static const char *const options[] = {"method", "bayes", NULL};
    gram_context *context = *state;
    enum { MANY = 1000 };
    double *x = test_random(31, MANY * D, -1, 1), *y = test_numbers(MANY);
    for (int64_t i = 0; i < MANY; i++) y[i] = 3 * x[i * D];
    const gram_arrays arrays = arrays_of(MANY, D, x, y);
    gram_model *model = learn(context, &arrays, options);
    gram_table *table = table_of(context, MANY, D, x, y);
    gram_explanation *made = NULL;
    OK(context, gram_explain_table(context, model, table, "data", NULL, &made));
    const gram_explained_feature *first = feature_of(made, 0);
    assert_true(fabs(first->value - 6) < 4 * first->se + 0.3); /* Var(x1) is 1/3 but for the sample */
    is_near(feature_of(made, 1)->value, 0, 1e-3);
    if (!gram_explanation_no_shares(made)) is_near(first->share, 1, 1e-4);
    const gram_dependence *d = gram_explanation_dependence(made, 0);
    assert_int_equal(d->feature, 0);
    is_near(d->value[d->places - 1] - d->value[0], 3 * (d->at[d->places - 1] - d->at[0]), 1e-3);
    gram_explanation_destroy(made);
    gram_table_destroy(table);
    gram_model_destroy(model);
    free(x);
    free(y);
}

/* ---- terms and rows ---- */

static double covariance(const double *a, const double *b)
{
    double means[2] = {0, 0}, sum = 0;
    for (int64_t i = 0; i < N; i++) means[0] += a[i] / N, means[1] += b[i] / N;
    for (int64_t i = 0; i < N; i++) sum += (a[i] - means[0]) * (b[i] - means[1]) / N;
    return sum;
}

static void test_terms(void **state)
{
    static const char *const options[] = {
        "kernel", "on(1, rbf(ell=0.5)) + on(2:3, rbf(ell=1))", "lambda", "0.01", "scale", "no", NULL};
    gram_context *context = *state;
    double *x, *y, values[N * 3], terms[2][N], sums[N];
    int64_t count;
    make_set(22, N, D, &x, &y);
    const gram_arrays arrays = arrays_of(N, D, x, y);
    gram_model *model = learn(context, &arrays, options);
    gram_explanation *explanation = explain(context, model, x, y, -1);
    gram_predict_options wish;
    gram_predict_options_init(&wish, sizeof wish);
    wish.terms = 1;
    OK(context, gram_predict(context, model, &wish, N, x, D, values, 3));
    for (int64_t i = 0; i < N; i++) {
        for (int t = 0; t < 2; t++) terms[t][i] = values[i * 3 + 1 + t];
        sums[i] = terms[0][i] + terms[1][i];
    }
    const gram_explained_term *found = gram_explanation_terms(explanation, &count);
    assert_int_equal(count, 2);
    for (int t = 0; t < 2; t++) {
        is_near(found[t].std, sqrt(covariance(terms[t], terms[t])), 1e-10);
        is_near(found[t].share, covariance(terms[t], sums) / covariance(sums, sums), 1e-10);
    }
    is_near(found[0].share + found[1].share, 1, 1e-12);
    assert_string_equal(found[0].kernel, "on(1, rbf(ell=0.5))");
    gram_explanation_destroy(explanation);
    gram_model_destroy(model);
    free(x);
    free(y);
}

static void test_weights(void **state)
{
    static const char *const options[] = {"method", "krr", "kernel", "rbf(ell=0.9)", "lambda", "0.01",
                                          "scale",  "no",  NULL};
    enum { ROW = 17 };
    gram_context *context = *state;
    double *x, *y, function, constant;
    int64_t count;
    make_set(23, N, D, &x, &y);
    const gram_arrays arrays = arrays_of(N, D, x, y);
    gram_model *model = learn(context, &arrays, options);
    gram_explanation *explanation = explain(context, model, x, y, ROW);
    const gram_row_weight *weights = gram_explanation_weights(explanation, &count, &function, &constant);
    const double *a = gram_function_coefficients(gram_model_function(model));
    assert_int_equal(count, 10);
    is_near(function, predict(context, model, x + ROW * D), 1e-10);
    is_near(constant, gram_function_constant(gram_model_function(model))[0], 1e-9);
    assert_string_equal(gram_explanation_centres(explanation), "training rows");
    for (int64_t k = 0; k < count; k++) {
        double squares = 0;
        for (int64_t l = 0; l < D; l++) squares += pow(x[weights[k].centre * D + l] - x[ROW * D + l], 2);
        is_near(weights[k].part, a[weights[k].centre] * exp(-squares / (2 * 0.81)), 1e-10);
        assert_int_equal(weights[k].row, weights[k].centre);
    }
    for (int64_t i = 0; i < N; i++) { /* none that is left out is larger */
        double squares = 0;
        for (int64_t l = 0; l < D; l++) squares += pow(x[i * D + l] - x[ROW * D + l], 2);
        int listed = 0;
        for (int64_t k = 0; k < count; k++) listed |= weights[k].centre == i;
        if (!listed) assert_true(fabs(a[i] * exp(-squares / (2 * 0.81))) <= fabs(weights[count - 1].part) + 1e-12);
    }
    gram_explanation_destroy(explanation);
    gram_model_destroy(model);
    free(x);
    free(y);
}

/* ---- text, classes, refusals ---- */

static const char TEXT[] =
    "colour,size,y\nred,1,a\nblue,2,b\nred,1.5,a\ngreen,3,b\nblue,2.5,b\nred,0.5,a\ngreen,2.2,b\n"
    "blue,1.1,b\nred,0.7,a\ngreen,2.9,b\nred,1.2,a\nblue,2.1,b\n";

static gram_model *learn_text(gram_context *context, gram_table **table)
{
    static const char *const options[] = {"method", "logistic", "kernel", "rbf(ell=2)", "lambda", "0.1", NULL};
    gram_table_options reading;
    gram_model *model = NULL;
    gram_table_options_init(&reading, sizeof reading);
    reading.text = GRAM_TEXT_CATEGORIES;
    OK(context, gram_table_read_memory(context, "text.csv", TEXT, sizeof TEXT - 1, &reading, table));
    gram_learner *learner = learner_of(context, options);
    OK(context, gram_learn_table(context, learner, *table, "text.csv", &model));
    gram_learner_destroy(learner);
    return model;
}

static void test_text(void **state)
{
    gram_context *context = *state;
    gram_table *table = NULL;
    gram_explanation *made = NULL;
    int64_t count;
    gram_model *model = learn_text(context, &table);
    OK(context, gram_explain_table(context, model, table, "text.csv", NULL, &made));
    (void)gram_explanation_features(made, &count);
    assert_int_equal(count, 2); /* levels together */
    is_near(feature_of(made, 0)->share + feature_of(made, 1)->share, 1, 1e-12);
    assert_true(feature_of(made, 0)->value > 0);
    for (int64_t k = 0; k < 2; k++) {
        const gram_dependence *d = gram_explanation_dependence(made, k);
        assert_string_equal(d->names[0], "b"); /* the second class */
        assert_true((d->feature == 0) == (d->levels != NULL));
        if (d->levels) {
            assert_int_equal(d->places, 3);
            assert_string_equal(d->levels[2], "red");
            assert_true(d->value[2] < d->value[0] && d->value[2] < d->value[1]);
        }
        for (int64_t g = 0; g < d->places; g++) assert_true(d->lower[g] >= 0 && d->upper[g] <= 1);
    }
    gram_explanation_destroy(made);
    gram_model_destroy(model);
    gram_table_destroy(table);
}

static void test_refusals(void **state)
{
    gram_context *context = *state;
    gram_table *table = NULL;
    gram_explanation *made = NULL;
    gram_explain_options how;
    gram_model *model = learn_text(context, &table);
    gram_explain_options_init(&how, sizeof how);
    how.features = "size,shape";
    REFUSED(context, gram_explain_table(context, model, table, "text.csv", &how, &made), GRAM_ERROR_ARGUMENT, "shape");
    how.features = "size";
    how.row = 12;
    REFUSED(context, gram_explain_table(context, model, table, "text.csv", &how, &made), GRAM_ERROR_ARGUMENT, "row 13");
    how.row = -1;
    how.repeats = 0;
    REFUSED(context, gram_explain_table(context, model, table, "text.csv", &how, &made), GRAM_ERROR_ARGUMENT,
            "repeats");
    assert_null(made);
    gram_model_destroy(model);
    gram_table_destroy(table);
}

static void test_threads(void **state)
{
    static const char *const options[] = {"method", "krr", "kernel", "rbf(ell=0.9)", "lambda", "0.01", NULL};
    gram_string texts[2] = {{0}, {0}};
    double *x, *y;
    (void)state;
    make_set(24, N, D, &x, &y);
    for (int k = 0; k < 2; k++) {
        gram_context *context = test_context(k == 0 ? 1 : 3, GRAM_ISA_AUTO);
        const gram_arrays arrays = arrays_of(N, D, x, y);
        gram_model *model = learn(context, &arrays, options);
        gram_explanation *made = explain(context, model, x, y, 3);
        gram_json json = {.text = &texts[k]};
        gram_explanation_json(made, &json);
        gram_explanation_destroy(made);
        gram_model_destroy(model);
        gram_context_destroy(context);
    }
    assert_string_equal(texts[0].data, texts[1].data);
    gram_string_free(&texts[0]);
    gram_string_free(&texts[1]);
    free(x);
    free(y);
}

static gram_status play(gram_context *context)
{
    gram_status status = GRAM_OK;
    gram_learner *learner = NULL;
    gram_table *table = NULL;
    gram_model *model = NULL;
    gram_explanation *made = NULL;
    double x[8 * D], y[8];
    for (int i = 0; i < 8; i++) x[i * D] = i, x[i * D + 1] = (i * 5) % 8, x[i * D + 2] = 1, y[i] = i * i;
    const gram_arrays arrays = arrays_of(8, D, x, y);
    gram_explain_options how;
    gram_explain_options_init(&how, sizeof how);
    how.row = 2;
    STEP(gram_learner_create(context, &learner));
    STEP(gram_learner_set(context, learner, "kernel", "rbf(ell=1) + linear"));
    STEP(gram_learner_set(context, learner, "lambda", "0.1"));
    STEP(gram_learn_arrays(context, learner, &arrays, &model));
    STEP(gram_arrays_table(context, &arrays, &table));
    STEP(gram_explain_table(context, model, table, "data", &how, &made));
done:
    gram_explanation_destroy(made);
    gram_table_destroy(table);
    gram_model_destroy(model);
    gram_learner_destroy(learner);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    assert_true(oom_some(play, 150, 7) > 20);
    assert_true(oom_every(play, 1, 5) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_krr),      cmocka_unit_test(test_gp),      cmocka_unit_test(test_line),
        cmocka_unit_test(test_terms),    cmocka_unit_test(test_weights), cmocka_unit_test(test_text),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_threads), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
