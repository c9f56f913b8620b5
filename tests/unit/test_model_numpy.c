/* Models and Python: numpy.load reads what gram writes, and gram reads archives that Python's zipfile made from it.
 * Skipped where there is no NumPy. */
#define _DEFAULT_SOURCE
#include "model_sample.h"

static char python[256];

static const char *find_python(void)
{
    const char *wanted = getenv("PYTHON");
    return wanted && *wanted ? wanted : "/usr/bin/python3";
}

/* Writes points and what the function is there as .npy files. */
static void write_values(gram_context *context, const gram_model *model)
{
    enum { M = 6 };
    double values[M * SAMPLE_OUTPUTS];
    gram_npy *file = NULL;
    OK(context, gram_npy_create(context, "x.npy", M, SAMPLE_D, &file));
    double *x = gram_npy_numbers(file);
    test_uniform(9, M * SAMPLE_D, -2, 2, x);
    memcpy(x, gram_function_centres_f64(gram_model_function(model)), SAMPLE_D * sizeof(double));
    gram_points *points = test_points(context, M, SAMPLE_D, x);
    OK(context, gram_function_evaluate(context, gram_model_function(model), points, values, SAMPLE_OUTPUTS));
    gram_points_release(points);
    OK(context, gram_npy_finish(context, file));
    gram_npy_destroy(file);
    OK(context, gram_npy_create(context, "y.npy", M, SAMPLE_OUTPUTS, &file));
    memcpy(gram_npy_numbers(file), values, sizeof values);
    OK(context, gram_npy_finish(context, file));
    gram_npy_destroy(file);
}

static void both_ways(void **state)
{
    (void)state;
    char folder[64], command[1024];
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_model *model = NULL;
    sample_enter(folder);
    OK(context, sample_make(context, 0, 1, &model));
    OK(context, gram_model_write(context, model, "m.gram"));
    write_values(context, model);
    (void)snprintf(command, sizeof command, "%s %s/unit/model_numpy.py m.gram x.npy y.npy", python, GRAM_TEST_SOURCE);
    assert_int_equal(system(command), 0);
    const char *const good[] = {"python.gram", "zip64.gram", "numpy.gram"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        gram_model *again = NULL;
        OK(context, gram_model_read(context, good[i], &again));
        if (!same_model(model, again)) FAIL_TEST("%s is another model", good[i]);
        gram_model_destroy(again);
    }
    const struct {
        const char *path, *part;
    } bad[] = {{"deflated.gram", "is compressed"},
               {"comment.gram", "does not end as it should"},
               {"later.gram", "version 2 of the model format"},
               {"other.npz", "no model.json"},
               {"packed.npz", "is compressed"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gram_model *again = NULL;
        sample_refused(context, bad[i].path, gram_model_read(context, bad[i].path, &again), GRAM_ERROR_DATA,
                       bad[i].part);
    }
    /* unzip is content too, if it is there */
    if (system("command -v unzip >/dev/null") == 0) assert_int_equal(system("unzip -tq m.gram >/dev/null"), 0);
    gram_model_destroy(model);
    gram_context_destroy(context);
    sample_leave(folder);
}

int main(void)
{
    char command[320];
    (void)snprintf(python, sizeof python, "%s", find_python());
    (void)snprintf(command, sizeof command, "%s -c 'import numpy' 2>/dev/null", python);
    if (system(command) != 0) return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_ways)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
