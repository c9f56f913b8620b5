/* What is known of models, kernels and matrices as JSON: whole texts by hand where all of it is known, and keys where a fit
 * decides the numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "support.h"

/* The object that `put` fills; freed by the caller. */
#define JSON_OF(put)                                                                                                   \
    do {                                                                                                               \
        gram_json_open(&json, NULL, '{');                                                                              \
        put;                                                                                                           \
        gram_json_close(&json, '{');                                                                                   \
    } while (0)

static void a_kernel_says_what_was_free(void **state)
{
    gram_context *context = *state;
    gram_string text = {0};
    gram_json json = {.text = &text};
    gram_kernel *given, *kernel;
    OK(context, gram_kernel_parse(context, "2!*rbf(ell=[3,5])", &kernel));
    OK(context, gram_kernel_parse(context, "const*rbf(ell=[3,5])", &given));
    JSON_OF(OK(context, gram_kernel_json(context, kernel, given, 2, &json)));
    assert_non_null(strstr(text.data, "{\"properties\": {\"positive_definite\": true, \"strictly\": true, "
                                      "\"stationary\": true, \"isotropic\": false,"));
    assert_non_null(strstr(text.data, "\"rank\": \"infinite\", \"derivatives\": \"infinite\", "
                                      "\"constant_diagonal\": true, \"draws_in_space\": false, "
                                      "\"draw_smoothness\": \"infinite\", \"sobolev_order\": null}"));
    assert_non_null(strstr(text.data, "{\"name\": \"const\", \"value\": 2, \"free\": true, "));
    assert_non_null(strstr(text.data, "{\"name\": \"rbf.ell[2]\", \"value\": 5, \"free\": false, "));
    assert_non_null(strstr(text.data, "\"scale\": \"log\", \"fixed\": true}"));
    gram_string_free(&text);
    REFUSED(context, gram_kernel_json(context, kernel, NULL, 3, &json), GRAM_ERROR_DIMENSION, "3");
    gram_string_free(&text);
    gram_kernel_release(given);
    gram_kernel_release(kernel);
}

/* Rows for people: a Brownian path has no derivative, and is Hoelder continuous of every order below 1/2. */
static void a_kernel_has_rows(void **state)
{
    static const struct {
        const char *label, *value;
    } rows[] = {{"positive definite", "yes"},
                {"rank", "infinite"},
                {"draws", "continuous, Hoelder below 0.5"},
                {"  in the RKHS", "no"}};
    gram_context *context = *state;
    gram_kernel *kernel = test_kernel(context, "min");
    gram_description *description = NULL;
    OK(context, gram_kernel_describe(context, kernel, 1, &description));
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        int64_t i = 0;
        while (i < gram_description_count(description) &&
               strcmp(gram_description_label(description, i), rows[k].label) != 0)
            i++;
        assert_true(i < gram_description_count(description));
        assert_string_equal(gram_description_value(description, i), rows[k].value);
    }
    gram_description_destroy(description);
    REFUSED(context, gram_kernel_describe(context, NULL, 1, &description), GRAM_ERROR_ARGUMENT, "kernel is NULL");
    gram_kernel_release(kernel);
}

static gram_status describe_a_kernel(gram_context *context)
{
    gram_kernel *kernel = NULL;
    gram_description *description = NULL;
    gram_status status = GRAM_OK;
    STEP(gram_kernel_parse(context, "matern(nu=1.5, ell=1)", &kernel));
    STEP(gram_kernel_describe(context, kernel, 2, &description));
done:
    gram_description_destroy(description);
    gram_kernel_release(kernel);
    return status;
}

static void rows_of_a_kernel_without_memory(void **state)
{
    (void)state;
    oom_all(describe_a_kernel, 2);
}

static void a_kernel_is_said_in_other_words(void **state)
{
    gram_context *context = *state;
    gram_string text = {0};
    gram_json json = {.text = &text};
    gram_kernel *kernel;
    OK(context, gram_kernel_parse(context, "rbf(ell=0.5)", &kernel));
    JSON_OF(gram_json_kernel(&json, "kernel", kernel); OK(context, gram_kernel_words_json(context, kernel, 1, &json)));
    assert_non_null(strstr(text.data, "{\"kernel\": \"rbf(ell=0.5)\", \"equivalents\": {\"scikit-learn\": "));
    assert_non_null(strstr(text.data, "\"LIBSVM\": \"-t 2 -g 2\""));
    gram_string_free(&text);
    gram_kernel_release(kernel);
}

/* The matrix [4]: nothing is rounded. 4/(4 + lambda) = 1/2. */
static void a_spectrum_has_its_shares(void **state)
{
    static const double x[] = {1};
    gram_context *context = *state;
    gram_string text = {0};
    gram_json json = {.text = &text};
    gram_kernel *kernel;
    gram_points *points;
    gram_spectrum *spectrum;
    gram_spectrum_options options;
    gram_spectrum_options_init(&options, sizeof options);
    options.lambda = 4;
    OK(context, gram_kernel_parse(context, "const(4)", &kernel));
    OK(context, gram_points_create_f64(context, 1, 1, x, 1, &points));
    OK(context, gram_spectrum_create(context, kernel, points, &options, &spectrum));
    const gram_spectrum_report *report = gram_spectrum_get_report(spectrum);
    assert_true(report->lambda == 4 && !report->checked && report->trace == 4);
    JSON_OF(gram_spectrum_json(spectrum, 7, &json));
    assert_string_equal(text.data, "{\"rows_checked\": 1, \"psd\": true, \"min_eigenvalue\": 4, "
                                   "\"max_eigenvalue\": 4, \"tolerance\": 8.881784197001252e-16, "
                                   "\"spectrum\": [4], \"spectrum_shares\": [1], \"lambda\": 4, "
                                   "\"effective_dimension\": 0.5}");
    gram_string_free(&text);
    gram_spectrum_destroy(spectrum);
    gram_points_release(points);
    gram_kernel_release(kernel);
}

/* Errors -3 and 1 about targets 1 and 5; a class taken for another; half of the observations below their median. */
static void scores_are_of_their_kind(void **state)
{
    static const char *const names[] = {"no", "yes"};
    static const double levels[] = {0.5}, values[] = {0, 1};
    const gram_classes none = {0}, two = {.count = 2, .names = names, .values = values};
    const gram_columns means = {.count = 1, .ld = 1, .outputs = 1, .classes = &none, .std = -1, .spread = -1},
                       quantiles = {.count = 1, .ld = 1, .classes = &none, .level_count = 1, .levels = levels},
                       classes = {.count = 1, .ld = 4, .classes = &two, .probability = 1, .score = 3};
    const struct {
        const gram_columns *columns;
        int64_t n;
        double y[3], values[12];
        const char *text;
    } cases[] = {
        {&means, 0, {0}, {0}, "{}"},
        {&means, 2, {1, 5}, {4, 4}, "{\"scored\": 2, \"rmse\": 2.23606797749979, \"mae\": 2, \"r2\": -0.25}"},
        {&quantiles, 2, {1, 5}, {4, 4}, "{\"quantiles\": [{\"level\": 0.5, \"loss\": 1, \"below\": 0.5}]}"},
        {&classes,
         3,
         {0, 1, 1},
         {0, NAN, NAN, -2, 1, NAN, NAN, 3, 0, NAN, NAN, -1},
         "{\"scored\": 3, \"accuracy\": 0.6666666666666666, \"auc\": 1, \"classes\": [\"no\", \"yes\"], "
         "\"confusion\": [[1, 0], [1, 1]]}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gram_context *context = *state;
        gram_string text = {0};
        gram_json json = {.text = &text};
        gram_score *score;
        OK(context, gram_score_create(context, cases[i].columns, &score));
        if (cases[i].n > 0)
            OK(context,
               gram_score_add(context, score, cases[i].n, cases[i].y, 1, cases[i].values, cases[i].columns->ld));
        JSON_OF(OK(context, gram_score_json(context, score, &json)));
        assert_string_equal(text.data, cases[i].text);
        gram_string_free(&text);
        gram_score_destroy(score);
    }
}

/* ---- models ---- */

enum { N = 12 };

static gram_status learn(gram_context *context, const char *method, const char *kernel, gram_model **model)
{
    static const double x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
    double y[N];
    gram_learner *learner = NULL;
    gram_arrays arrays;
    gram_status status;
    gram_arrays_init(&arrays, sizeof arrays);
    for (int i = 0; i < N; i++) y[i] = x[2 * i] - 0.5 * x[2 * i + 1] + 0.1 * (i % 3);
    arrays.n = N;
    arrays.d = arrays.ldx = 2;
    arrays.targets = arrays.ldy = 1;
    arrays.x = x;
    arrays.y = y;
    STEP(gram_learner_create(context, &learner));
    STEP(gram_learner_set(context, learner, "method", method));
    STEP(gram_learner_set(context, learner, "kernel", kernel));
    STEP(gram_learner_set(context, learner, "tune", "none"));
    STEP(gram_learner_set(context, learner, "noise", "0.1"));
    STEP(gram_learn_arrays(context, learner, &arrays, model));
done:
    gram_learner_destroy(learner);
    return status;
}

/* Lengths are in scaled units: 1/ell is 2 and 0.25. */
static void a_model_tells_its_relevance(void **state)
{
    gram_context *context = *state;
    gram_string text = {0};
    gram_json json = {.text = &text};
    gram_model *model = NULL;
    gram_description *description;
    int64_t count;
    OK(context, learn(context, "krr", "rbf(ell=[4,0.5])", &model));
    OK(context, gram_model_describe(context, model, NULL, &description));
    assert_ptr_equal(gram_description_model(description), model);
    const gram_relevance *rows = gram_description_relevance(description, &count);
    assert_int_equal(count, 2);
    assert_string_equal(rows[0].name, "x2");
    assert_true(rows[0].value == 2 && rows[1].value == 0.25);
    (void)gram_description_weights(description, &count);
    assert_int_equal(count, 0);
    JSON_OF(gram_description_json(description, &json));
    assert_non_null(strstr(text.data, "{\"method\": \"krr\", \"task\": \"regression\", "
                                      "\"kernel\": \"rbf(ell=[4,0.5])\", "));
    assert_non_null(strstr(text.data, "\"targets\": [\"y\"], \"features\": [\"x1\", \"x2\"], \"scaled\": true, "
                                      "\"relevance\": [{\"feature\": \"x2\", \"value\": 2, \"length\": "));
    gram_string_free(&text);
    gram_description_destroy(description);
    gram_model_destroy(model);
}

static gram_status describe_weights(gram_context *context)
{
    gram_status status;
    gram_model *model = NULL;
    gram_description *description = NULL;
    gram_string text = {0};
    gram_json json = {.text = &text};
    int64_t count = 0;
    STEP(learn(context, "gp", "linear", &model));
    STEP(gram_model_describe(context, model, NULL, &description));
    const gram_weight *weights = gram_description_weights(description, &count);
    assert_int_equal(count, 2);
    assert_string_equal(weights[1].name, "x2");
    assert_true(weights[0].mean > 0.9 && weights[0].mean < 1.1 && weights[1].mean < -0.4 && weights[1].mean > -0.6);
    JSON_OF(gram_description_json(description, &json); gram_preparation_json(gram_model_preparation(model), &json);
            STEP(gram_kernel_words_json(context, gram_function_kernel(gram_model_function(model)), 2, &json)));
    assert_non_null(strstr(text.data, "\"weights\": [{\"feature\": \"x1\", \"mean\": "));
    assert_non_null(strstr(text.data, "\"columns\": [{\"name\": \"x1\", \"kind\": \"number\", \"mean\": "));
done:
    gram_string_free(&text);
    gram_description_destroy(description);
    gram_model_destroy(model);
    return status;
}

static void weights_have_names(void **state)
{
    OK(*state, describe_weights(*state));
}

static void no_memory_is_survived(void **state)
{
    (void)state;
    assert_true(oom_each(describe_weights, 0) > 20);
    (void)oom_each(describe_weights, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_has_rows),           cmocka_unit_test(rows_of_a_kernel_without_memory),
        cmocka_unit_test(a_kernel_says_what_was_free), cmocka_unit_test(a_kernel_is_said_in_other_words),
        cmocka_unit_test(a_spectrum_has_its_shares),   cmocka_unit_test(scores_are_of_their_kind),
        cmocka_unit_test(a_model_tells_its_relevance), cmocka_unit_test(weights_have_names),
        cmocka_unit_test(no_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
