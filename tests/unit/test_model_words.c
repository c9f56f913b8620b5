/* Models whose facts are one of a few words: another word is damage, to every user of the model; and descriptions of models that
 * lack facts have no empty rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { N = 30 };

static gram_model *learn(gram_context *context, const char *method, const char *option, const char *value)
{
    gram_learner *learner;
    gram_model *model;
    gram_arrays arrays;
    double x[N], y[N];
    test_uniform(1, N, 0, 10, x);
    for (int i = 0; i < N; i++) y[i] = floor(3 + 3 * sin(x[i])) + (strcmp(value, "poisson") == 0 ? 0 : 0.25);
    gram_arrays_init(&arrays, sizeof arrays);
    arrays.n = N;
    arrays.d = arrays.targets = arrays.ldx = arrays.ldy = 1;
    arrays.x = x;
    arrays.y = y;
    OK(context, gram_learner_create(context, &learner));
    OK(context, gram_learner_set(context, learner, "method", method));
    OK(context, gram_learner_set(context, learner, "task", "regression"));
    OK(context, gram_learner_set(context, learner, "kernel", "rbf(ell=1)"));
    OK(context, gram_learner_set(context, learner, "tune", "none"));
    OK(context, gram_learner_set(context, learner, option, value));
    OK(context, gram_learn_arrays(context, learner, &arrays, &model));
    gram_learner_destroy(learner);
    return model;
}

static const struct {
    const char *method, *option, *value, *fact;
} WORDS[] = {{"gp", "noise", "0.1", "solver"},
             {"gp", "noise", "0.1", "mean"},
             {"gp", "noise", "0.1", "precision"},
             {"krr", "lambda", "0.1", "solver"},
             {"krr", "lambda", "0.1", "precision"},
             {"krr", "loss", "huber", "loss"},
             {"svm", "C", "1", "svm"},
             {"gp", "likelihood", "poisson", "likelihood"},
             {"gp", "likelihood", "poisson", "solver"}};

static void other_words_are_damage(void **state)
{
    gram_context *context = *state;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        gram_model *model = learn(context, WORDS[i].method, WORDS[i].option, WORDS[i].value);
        gram_predictor *predictor = NULL;
        gram_description *description = NULL;
        char part[64];
        OK(context, gram_predictor_create(context, model, NULL, &predictor));
        gram_predictor_destroy(predictor);
        predictor = NULL;
        OK(context, gram_model_set_text(context, model, WORDS[i].fact, "magic"));
        snprintf(part, sizeof part, "damaged: its %s is 'magic'", WORDS[i].fact);
        REFUSED(context, gram_predictor_create(context, model, NULL, &predictor), GRAM_ERROR_DATA, part);
        REFUSED(context, gram_model_describe(context, model, NULL, &description), GRAM_ERROR_DATA, part);
        assert_null(predictor);
        assert_null(description);
        /* a part of a word is not the word, and nothing is none */
        OK(context, gram_model_set_text(context, model, WORDS[i].fact, "e"));
        REFUSED(context, gram_predictor_create(context, model, NULL, &predictor), GRAM_ERROR_DATA, "damaged");
        OK(context, gram_model_set_text(context, model, WORDS[i].fact, ""));
        REFUSED(context, gram_predictor_create(context, model, NULL, &predictor), GRAM_ERROR_DATA, "damaged");
        OK(context, gram_model_set_number(context, model, WORDS[i].fact, 2));
        REFUSED(context, gram_predictor_create(context, model, NULL, &predictor), GRAM_ERROR_DATA, "a number");
        gram_model_destroy(model);
    }
}

/* Facts as a file of another program might have them: one that a row begins with, and none of the rest. */
static void no_row_is_empty(void **state)
{
    gram_context *context = *state;
    static const char *const methods[] = {"krr", "gp", "svm"};
    const double at[] = {1, 2}, coefficients[] = {1, -1}, constant = 0;
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    gram_points *points = test_points(context, 2, 1, at);
    gram_function *function = NULL;
    OK(context, gram_function_create(context, kernel, points, 1, coefficients, 1, &constant, &function));
    for (int m = 0; m < 3; m++) {
        gram_model *model = NULL;
        gram_description *description = NULL;
        OK(context, gram_model_create(context, methods[m], "regression", NULL, function, &model));
        OK(context, gram_model_set_text(context, model, "solver", "exact"));
        OK(context, gram_model_set_text(context, model, "tune", "loo"));
        OK(context, gram_model_describe(context, model, NULL, &description));
        for (int64_t i = 0; i < gram_description_count(description); i++)
            if (gram_description_value(description, i)[0] == '\0')
                FAIL_TEST("%s: the row '%s' is empty", methods[m], gram_description_label(description, i));
        gram_description_destroy(description);
        gram_model_destroy(model);
    }
    gram_function_release(function);
    gram_points_release(points);
    gram_kernel_release(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(other_words_are_damage), cmocka_unit_test(no_row_is_empty)};
    return cmocka_run_group_tests(tests, test_open, test_close);
}
