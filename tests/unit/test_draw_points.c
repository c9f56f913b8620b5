/* Points to draw at: grids and files with and without a model, by hand; every allocation failing. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "oom.h"
#include "support.h"

static char path[] = "/tmp/gram-draw-points-XXXXXX.csv";

static int begin(void **state)
{
    const int descriptor = mkstemps(path, 4);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (!file || fputs("x1,other\n1,5\n,6\n4,7\n", file) < 0 || fclose(file) != 0) return 1;
    return test_open(state);
}

static int end(void **state)
{
    (void)unlink(path);
    return test_close(state);
}

/* A model of one feature x1, standardised by 0, 2, 4: mean 2, deviation sqrt(8/3). */
static gram_status learn(gram_context *context, gram_model **model)
{
    static const double x[] = {0, 2, 4}, y[] = {1, 0, 2};
    gram_status status;
    gram_learner *learner = NULL;
    gram_arrays arrays;
    gram_arrays_init(&arrays, sizeof arrays);
    arrays.n = 3;
    arrays.d = arrays.ldx = arrays.targets = arrays.ldy = 1;
    arrays.x = x;
    arrays.y = y;
    STEP(gram_learner_create(context, &learner));
    STEP(gram_learner_set(context, learner, "method", "gp"));
    STEP(gram_learner_set(context, learner, "kernel", "rbf(ell=1)"));
    STEP(gram_learner_set(context, learner, "noise", "0.1"));
    STEP(gram_learner_set(context, learner, "missing", "drop"));
    STEP(gram_learn_arrays(context, learner, &arrays, model));
done:
    gram_learner_destroy(learner);
    return status;
}

static void grids_have_names_and_points(void **state)
{
    static const double x[] = {0, 5, 0, 6, 1, 5, 1, 6};
    gram_context *context = *state;
    gram_draw_points *points;
    OK(context, gram_draw_points_of_grid(context, "0:1:2,5:6:2", NULL, &points));
    const gram_draw_points_report *report = gram_draw_points_get_report(points);
    assert_true(report->n == 4 && report->d == 2 && report->shown_columns == 2 && report->grid->axis_count == 2);
    assert_memory_equal(report->shown, x, sizeof x);
    assert_string_equal(report->names[1], "x2");
    assert_int_equal(gram_points_count(report->points), 4);
    gram_draw_points_destroy(points);
}

/* mean_i k(x_i, z) tells how the points were scaled: k(x, z) = linear is their product. */
static void a_model_scales_its_grid(void **state)
{
    gram_context *context = *state;
    gram_draw_points *points;
    gram_model *model = NULL;
    gram_kernel *kernel;
    double diagonal[2];
    OK(context, learn(context, &model));
    OK(context, gram_draw_points_of_grid(context, "0:6:2", model, &points));
    const gram_draw_points_report *report = gram_draw_points_get_report(points);
    assert_string_equal(report->names[0], "x1");
    assert_true(report->shown[0] == 0 && report->shown[1] == 6);
    OK(context, gram_kernel_parse(context, "linear(c=0)", &kernel));
    OK(context, gram_matrix_diagonal(context, kernel, report->points, diagonal));
    assert_true(fabs(diagonal[0] - 4 / (8.0 / 3)) < 1e-14 && fabs(diagonal[1] - 16 / (8.0 / 3)) < 1e-13);
    gram_kernel_release(kernel);
    gram_draw_points_destroy(points);
    REFUSED(context, gram_draw_points_of_grid(context, "0:6:2,0:6:2", model, &points), GRAM_ERROR_ARGUMENT,
            "a grid of 2 dimensions, and the model has 1 feature");
    gram_model_destroy(model);
}

/* The second row has no value and is dropped, as the model was fitted with missing=drop. */
static void rows_of_a_file_have_numbers(void **state)
{
    gram_context *context = *state;
    gram_draw_points *points;
    gram_model *model = NULL;
    OK(context, learn(context, &model));
    OK(context, gram_draw_points_read(context, path, model, &points));
    const gram_draw_points_report *report = gram_draw_points_get_report(points);
    assert_true(report->n == 2 && report->d == 1 && report->shown_columns == 1 && !report->grid);
    assert_true(report->shown[0] == 1 && report->shown[1] == 3);
    assert_string_equal(report->names[0], "row");
    gram_draw_points_destroy(points);
    gram_model_destroy(model);
    REFUSED(context, gram_draw_points_read(context, path, NULL, &points), GRAM_ERROR_DATA, "x1");
}

static void what_is_no_grid_is_refused(void **state)
{
    static const char *const texts[] = {"", "0:1", "1:0:5", "0:1:1", "0:1:10000001"};
    gram_context *context = *state;
    gram_draw_points *points;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        REFUSED(context, gram_draw_points_of_grid(context, texts[i], NULL, &points), GRAM_ERROR_ARGUMENT,
                "is not a:b:n");
    REFUSED(context, gram_draw_points_of_grid(context, "0:1:10000,0:1:10000", NULL, &points), GRAM_ERROR_ARGUMENT,
            "more than the limit");
}

static gram_status play(gram_context *context)
{
    gram_status status;
    gram_draw_points *grid = NULL, *rows = NULL;
    gram_model *model = NULL;
    STEP(learn(context, &model));
    STEP(gram_draw_points_of_grid(context, "0:6:3", model, &grid));
    STEP(gram_draw_points_read(context, path, model, &rows));
done:
    gram_draw_points_destroy(grid);
    gram_draw_points_destroy(rows);
    gram_model_destroy(model);
    return status;
}

static void no_memory_is_survived(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 20);
    (void)oom_each(play, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_have_names_and_points), cmocka_unit_test(a_model_scales_its_grid),
        cmocka_unit_test(rows_of_a_file_have_numbers), cmocka_unit_test(what_is_no_grid_is_refused),
        cmocka_unit_test(no_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
