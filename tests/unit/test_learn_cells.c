/* Cells: weights are a partition of unity and continuous, a part is the fit of its rows, predictions are the blend of the parts, and one cell is the
 * method itself. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/cells/cell_tree.h"

enum { N = 600, D = 2 };

static double x[N * D], y[N], labels[N];

static void make_data(void)
{
    double noise[N];
    test_uniform(11, N * D, 0, 10, x);
    test_uniform(12, N, -0.1, 0.1, noise);
    for (int i = 0; i < N; i++) {
        y[i] = sin(x[i * D]) + 0.2 * x[i * D + 1] + noise[i];
        labels[i] = x[i * D] < 1 ? 7 : sin(x[i * D]) + noise[i] > 0 ? 2 : 4; /* the class 7 is at one side only */
    }
}

/* ---- the tree ---- */

typedef struct sums {
    int64_t count[64], cells;
    double *total; /* of each row */
} sums;

static gram_status add_up(gram_context *context, void *argument, int64_t cell, int64_t count, const int64_t *rows,
                          const double *weights)
{
    sums *s = argument;
    (void)context;
    assert_in_range(cell, 0, 63);
    s->count[cell] = count;
    s->cells++;
    for (int64_t i = 0; i < count; i++) {
        assert_true(weights[i] > 0 && weights[i] <= 1);
        s->total[rows[i]] += weights[i];
    }
    return GRAM_OK;
}

static void weights_add_up_to_one(void **state)
{
    gram_context *context = *state;
    gram_cell_tree tree = {0};
    enum { PLACES = 4000 };
    double *places = test_random(5, PLACES * D, -3, 13), *total = test_numbers(PLACES);
    make_data();
    OK(context, gram_cell_tree_grow(context, N, D, x, 100, &tree));
    assert_true(gram_cell_tree_is_valid(&tree, D));
    assert_in_range(tree.cells, 6, 20);
    sums s = {.total = total};
    OK(context, gram_cell_tree_visit(context, &tree, PLACES, D, places, add_up, &s));
    for (int i = 0; i < PLACES; i++) assert_true(fabs(total[i] - 1) < 1e-14);
    s = (sums){.total = test_numbers(N)};
    OK(context, gram_cell_tree_visit(context, &tree, N, D, x, add_up, &s));
    assert_int_equal(s.cells, tree.cells);
    for (int64_t c = 0; c < tree.cells; c++) assert_in_range(s.count[c], 20, 100);
    tree.numbers[3] = 0; /* a node that is its own child */
    assert_false(gram_cell_tree_is_valid(&tree, D));
    free(s.total);
    free(places);
    free(total);
    gram_cell_tree_free(context, &tree);
}

/* ---- fits ---- */

typedef struct option {
    const char *name, *value;
} option;

static gram_status try_learn(gram_context *context, const double *targets, const option *options, gram_model **model)
{
    gram_learner *learner = NULL;
    gram_arrays arrays;
    gram_arrays_init(&arrays, sizeof arrays);
    arrays.n = N;
    arrays.d = arrays.ldx = D;
    arrays.targets = arrays.ldy = 1;
    arrays.x = x;
    arrays.y = targets;
    OK(context, gram_learner_create(context, &learner));
    for (; options->name; options++) OK(context, gram_learner_set(context, learner, options->name, options->value));
    const gram_status status = gram_learn_arrays(context, learner, &arrays, model);
    if (status >= 0) { /* what the learner says of its rows is what the model predicts */
        double *f = test_numbers(N);
        const char *what;
        OK(context, gram_learner_fitted(context, learner, *model, f, &what));
        free(f);
    }
    gram_learner_destroy(learner);
    return status;
}

static gram_model *learn(gram_context *context, const double *targets, const option *options)
{
    gram_model *model = NULL;
    OK(context, try_learn(context, targets, options, &model));
    return model;
}

static void predict(gram_context *context, const gram_model *model, int prob, int64_t n, const double *places,
                    double *values, int64_t ld)
{
    gram_predict_options options;
    gram_predict_options_init(&options, sizeof options);
    options.prob = prob;
    OK(context, gram_predict(context, model, &options, n, places, D, values, ld));
}

/* A cell that holds all rows is the method's own fit. */
static void one_cell_is_the_method(void **state)
{
    gram_context *context = *state;
    double a[N], b[N];
    make_data();
    option options[] = {{"method", "krr"}, {"kernel", "rbf(ell=0.5)"}, {"noise", "0.1"}, {NULL, NULL}, {NULL, NULL}};
    gram_model *plain = learn(context, y, options);
    options[3] = (option){"solver", "cells:600"};
    gram_model *cells = learn(context, y, options);
    assert_string_equal(gram_model_method(cells), "cells");
    predict(context, plain, 0, N, x, a, 1);
    predict(context, cells, 0, N, x, b, 1);
    test_near("prediction", "one cell", N, b, a, 1e-12);
    gram_model_destroy(plain);
    gram_model_destroy(cells);
}

/* Away from borders a prediction is that of a fit to the rows of the cell alone; across them it is continuous, and all of it is near the truth. */
static void predictions_are_blended(void **state)
{
    gram_context *context = *state;
    enum { STEPS = 4000 };
    double *line = test_numbers(STEPS * D), *values = test_numbers(STEPS), worst = 0, step = 0;
    make_data();
    const option options[] = {
        {"method", "krr"}, {"kernel", "rbf(ell=0.5)"}, {"noise", "0.1"}, {"cells", "100"}, {NULL, NULL}};
    gram_model *model = learn(context, y, options);
    for (int i = 0; i < STEPS; i++) {
        line[i * D] = 0.5 + 9 * i / (STEPS - 1.0);
        line[i * D + 1] = 3;
    }
    predict(context, model, 0, STEPS, line, values, 1);
    for (int i = 0; i < STEPS; i++) {
        worst = fmax(worst, fabs(values[i] - sin(line[i * D]) - 0.6));
        if (i > 0) step = fmax(step, fabs(values[i] - values[i - 1]));
    }
    if (!(worst < 0.25 && step < 0.02)) FAIL_TEST("off by %g, a step of %g", worst, step);
    assert_true(gram_model_find(model, "cells").integer >= 6);
    gram_model_destroy(model);
    free(line);
    free(values);
}

/* Three classes, of which one is in some cells only; probabilities add up to 1 and labels are their greatest. */
static void classes_may_be_missing(void **state)
{
    gram_context *context = *state;
    static const option LOGISTIC[] = {
        {"method", "logistic"}, {"kernel", "rbf(ell=0.3)"}, {"lambda", "1e-3"}, {"cells", "120"}, {NULL, NULL}};
    static const option SVM[] = {{"method", "svm"}, {"kernel", "rbf(ell=0.3)"}, {"C", "10"},
                                 {"cells", "120"},  {"task", "classification"}, {NULL, NULL}};
    static const double NUMBERS[] = {2, 4, 7};
    double values[N * 4], right = 0;
    make_data();
    gram_model *model = learn(context, labels, LOGISTIC);
    predict(context, model, 1, N, x, values, 4);
    for (int i = 0; i < N; i++) {
        const double *p = values + i * 4 + 1;
        assert_true(fabs(p[0] + p[1] + p[2] - 1) < 1e-12);
        for (int c = 0; c < 3; c++) assert_true(p[c] <= p[(int)values[i * 4]]);
        right += NUMBERS[(int)values[i * 4]] == labels[i];
    }
    if (right < 0.93 * N) FAIL_TEST("%g of %d labels are right", right, (int)N);
    gram_model_destroy(model);
    model = learn(context, labels, SVM);
    predict(context, model, 0, N, x, values, 1);
    right = 0;
    for (int i = 0; i < N; i++) right += NUMBERS[(int)values[i]] == labels[i];
    if (right < 0.93 * N) FAIL_TEST("svm: %g of %d labels are right", right, (int)N);
    gram_model_destroy(model);
}

/* A model file keeps the parts: the same bits. */
static void files_keep_cells(void **state)
{
    gram_context *context = *state;
    double a[N * 2], b[N * 2];
    make_data();
    const option options[] = {
        {"quantile", "0.2,0.8"}, {"kernel", "rbf(ell=0.5)"}, {"lambda", "1e-3"}, {"cells", "100"}, {NULL, NULL}};
    gram_model *model = learn(context, y, options), *again = NULL;
    OK(context, gram_model_write(context, model, "test_cells.gram"));
    OK(context, gram_model_read(context, "test_cells.gram", &again));
    predict(context, model, 0, N, x, a, 2);
    predict(context, again, 0, N, x, b, 2);
    assert_true(test_same_bits(N, 2, a, 2, b, 2));
    double below[2] = {0, 0};
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 2; k++) below[k] += y[i] < a[i * 2 + k];
    assert_true(fabs(below[0] / N - 0.2) < 0.05 && fabs(below[1] / N - 0.8) < 0.05);
    gram_model_destroy(model);
    gram_model_destroy(again);
}

static void tuning_is_shared_or_not(void **state)
{
    gram_context *context = *state;
    make_data();
    option options[] = {{"method", "krr"}, {"cells", "300"}, {"cell-tuning", "shared"}, {NULL, NULL}};
    for (int each = 0; each < 2; each++) {
        options[2].value = each ? "each" : "shared";
        gram_model *model = learn(context, y, options);
        assert_string_equal(gram_model_find(model, "cell_tuning").text, options[2].value);
        const double rmse = gram_model_find(model, "train_rmse").number;
        if (!(rmse < 0.08)) FAIL_TEST("%s: rmse %g", options[2].value, rmse); /* the noise has 0.058 */
        gram_model_destroy(model);
    }
}

static void bad_use(void **state)
{
    gram_context *context = *state;
    gram_model *model = NULL;
    gram_learner *learner = NULL;
    make_data();
    const option gp[] = {{"method", "gp"}, {"cells", "100"}, {NULL, NULL}};
    REFUSED(context, try_learn(context, y, gp, &model), GRAM_ERROR_ARGUMENT, "cells are not for");
    const option small[] = {{"method", "krr"}, {"cells", "7"}, {NULL, NULL}};
    REFUSED(context, try_learn(context, y, small, &model), GRAM_ERROR_ARGUMENT, "cells of 7 rows are too small");
    OK(context, gram_learner_create(context, &learner));
    REFUSED(context, gram_learner_set(context, learner, "solver", "cells:x"), GRAM_ERROR_ARGUMENT,
            "cells cannot be 'x'");
    gram_learner_destroy(learner);
}

static void fill(gram_context *context, double *out)
{
    const option options[] = {{"method", "svm"}, {"kernel", "rbf(ell=0.3)"}, {"C", "10"},
                              {"cells", "150"},  {"task", "regression"},     {NULL, NULL}};
    gram_model *model = learn(context, y, options);
    predict(context, model, 0, N, x, out, 1);
    gram_model_destroy(model);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    make_data();
    test_any_threads(N, fill);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(weights_add_up_to_one, test_open, test_close),
        cmocka_unit_test_setup_teardown(one_cell_is_the_method, test_open, test_close),
        cmocka_unit_test_setup_teardown(predictions_are_blended, test_open, test_close),
        cmocka_unit_test_setup_teardown(classes_may_be_missing, test_open, test_close),
        cmocka_unit_test_setup_teardown(files_keep_cells, test_open, test_close),
        cmocka_unit_test_setup_teardown(tuning_is_shared_or_not, test_open, test_close),
        cmocka_unit_test_setup_teardown(bad_use, test_open, test_close),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
