/* Arrays as data frames have them: names, levels of text, further columns; against the same rows read as a file. Kernels that are given as
 * they are; models as bytes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "support.h"

enum { N = 12 };

/* length, colour (blue, green, red), y */
static const double X[N][2] = {{0.5, 0}, {1.5, 1}, {2.5, 2}, {3.5, 0}, {4.5, 1}, {5.5, 2},
                               {0.7, 2}, {1.9, 1}, {2.2, 0}, {3.1, 2}, {4.8, 0}, {5.2, 1}};
static const double Y[N] = {1, 2.5, 3.25, 2, 4, 5, 1.5, 2, 2.25, 3.5, 4.5, 4.75};
static const double NOISE[N] = {0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.1, 0.2};
static const char *const COLOURS[] = {"blue", "green", "red"};
static const gram_column FEATURES[] = {{.name = "length"},
                                       {.name = "colour", .text = 1, .level_count = 3, .levels = COLOURS}};
static const gram_column TARGET = {.name = "price"};

static const char CSV[] = "length,colour,price,sigma\n0.5,blue,1,0.1\n1.5,green,2.5,0.2\n2.5,red,3.25,0.1\n"
                          "3.5,blue,2,0.2\n4.5,green,4,0.1\n5.5,red,5,0.2\n0.7,red,1.5,0.1\n1.9,green,2,0.2\n"
                          "2.2,blue,2.25,0.1\n3.1,red,3.5,0.2\n4.8,blue,4.5,0.1\n5.2,green,4.75,0.2\n";

static gram_arrays frame(void)
{
    gram_arrays arrays;
    gram_arrays_init(&arrays, sizeof arrays);
    arrays.n = N;
    arrays.d = 2;
    arrays.x = X[0];
    arrays.ldx = 2;
    arrays.targets = 1;
    arrays.y = Y;
    arrays.ldy = 1;
    arrays.features = FEATURES;
    arrays.target = &TARGET;
    return arrays;
}

static gram_table *csv(gram_context *context)
{
    gram_table *table = NULL;
    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    options.text = GRAM_TEXT_CATEGORIES;
    OK(context, gram_table_read_memory(context, "data.csv", CSV, sizeof CSV - 1, &options, &table));
    return table;
}

static gram_learner *learner_of(gram_context *context, const char *const *options)
{
    gram_learner *learner = NULL;
    OK(context, gram_learner_create(context, &learner));
    for (; options[0]; options += 2) OK(context, gram_learner_set(context, learner, options[0], options[1]));
    return learner;
}

/* The model as bytes; freed by the caller. */
static char *bytes_of(gram_context *context, const gram_model *model, size_t *size)
{
    OK(context, gram_model_write_memory(context, model, NULL, 0, size));
    char *bytes = malloc(*size);
    assert_non_null(bytes);
    OK(context, gram_model_write_memory(context, model, bytes, *size, size));
    return bytes;
}

static void a_frame_is_learnt_as_its_file_is(void **state)
{
    static const char *const options[] = {"method", "gp",        "kernel", "rbf(ell=2)", "tune",
                                          "none",   "row-noise", "sigma",  NULL};
    static const char *const more[] = {"sigma"};
    gram_context *context = *state;
    gram_arrays arrays = frame();
    gram_table *table = csv(context);
    gram_learner *a = learner_of(context, options), *b = learner_of(context, options);
    gram_model *from_arrays = NULL, *from_table = NULL;
    size_t sizes[2];
    arrays.extras = 1;
    arrays.extra = NOISE;
    arrays.extra_names = more;
    OK(context, gram_learner_set(context, b, "target", "price"));
    OK(context, gram_learn_arrays(context, a, &arrays, &from_arrays));
    OK(context, gram_learn_table(context, b, table, "data.csv", &from_table));
    char *left = bytes_of(context, from_arrays, &sizes[0]), *right = bytes_of(context, from_table, &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(left, right, sizes[0]);
    free(left);
    free(right);
    gram_model_destroy(from_arrays);
    gram_model_destroy(from_table);
    gram_learner_destroy(a);
    gram_learner_destroy(b);
    gram_table_destroy(table);
}

static void a_table_of_arrays_has_their_columns(void **state)
{
    gram_context *context = *state;
    gram_arrays arrays = frame();
    gram_table *table = NULL;
    static const double weights[N] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const gram_column clash[] = {{.name = "weights"}, {.name = "weights_"}};
    OK(context, gram_arrays_table(context, &arrays, &table));
    assert_int_equal(gram_table_rows(table), N);
    assert_string_equal(gram_table_column_name(table, 2), "price");
    assert_int_equal(gram_table_level_count(table, 1), 3);
    assert_string_equal(gram_table_level(table, 1, 2), "red");
    assert_true(gram_table_numbers(table)[2 * gram_table_ld(table) + 1] == 2);
    gram_table_destroy(table);
    arrays.features = clash; /* any column may be called so */
    arrays.weights = weights;
    OK(context, gram_arrays_table(context, &arrays, &table));
    assert_string_equal(gram_table_column_name(table, 3), "weights__");
    gram_table_destroy(table);
    arrays.features = FEATURES;
    static const char *const names[] = {"kind"};
    static const double kinds[N] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
    static const char *const words[] = {"slope", "value"};
    static const gram_column kind = {.text = 1, .level_count = 2, .levels = words};
    arrays.extras = 1;
    arrays.extra = kinds;
    arrays.extra_names = names;
    arrays.extra_columns = &kind;
    OK(context, gram_arrays_table(context, &arrays, &table));
    assert_string_equal(gram_table_column_name(table, 3), "kind");
    assert_string_equal(gram_table_level(table, 3, 1), "value");
    gram_table_destroy(table);
    static const double wrong[N][2] = {{0, 7}};
    arrays.x = wrong[0];
    REFUSED(context, gram_arrays_table(context, &arrays, &table), GRAM_ERROR_ARGUMENT, "7 is not the place");
    assert_null(table);
}

static void a_kernel_is_taken_as_it_is(void **state)
{
    static const char *const plain[] = {"method", "krr", "kernel", "rbf(ell=2)", "lambda", "0.1", "scale", "no", NULL};
    static const char *const without[] = {"method", "krr", "lambda", "0.1", "scale", "no", NULL};
    gram_context *context = *state;
    gram_arrays arrays = frame();
    gram_kernel *kernel = NULL;
    gram_learner *a = learner_of(context, plain), *b = learner_of(context, without);
    gram_model *by_text = NULL, *as_it_is = NULL;
    size_t sizes[2];
    OK(context, gram_kernel_parse(context, "rbf(ell=2)", &kernel));
    OK(context, gram_learner_set_kernel(context, b, kernel));
    gram_kernel_release(kernel);
    OK(context, gram_learn_arrays(context, a, &arrays, &by_text));
    OK(context, gram_learn_arrays(context, b, &arrays, &as_it_is));
    char *left = bytes_of(context, by_text, &sizes[0]), *right = bytes_of(context, as_it_is, &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(left, right, sizes[0]);
    free(left);
    free(right);
    gram_model_destroy(by_text);
    gram_model_destroy(as_it_is);
    gram_learner_destroy(a);
    gram_learner_destroy(b);
}

static void bytes_are_those_of_the_file(void **state)
{
    static const char *const options[] = {"method", "krr", "kernel", "rbf(ell=2)", "lambda", "0.1", NULL};
    gram_context *context = *state;
    gram_arrays arrays = frame();
    gram_learner *learner = learner_of(context, options);
    gram_model *model = NULL, *again = NULL;
    size_t size = 0, room = 0;
    OK(context, gram_learn_arrays(context, learner, &arrays, &model));
    char *bytes = bytes_of(context, model, &size);
    OK(context, gram_model_write(context, model, "arrays.gram"));
    FILE *file = fopen("arrays.gram", "rb");
    char *kept = malloc(size + 1);
    assert_non_null(file);
    assert_int_equal(fread(kept, 1, size + 1, file), size);
    fclose(file);
    remove("arrays.gram");
    assert_memory_equal(bytes, kept, size);
    memset(kept, 7, size);
    OK(context, gram_model_write_memory(context, model, kept, size - 1, &room)); /* too little: nothing is written */
    assert_int_equal(room, size);
    for (size_t i = 0; i < size; i++) assert_int_equal(kept[i], 7);
    OK(context, gram_model_read_memory(context, "bytes", bytes, size, &again));
    assert_string_equal(gram_model_method(again), "krr");
    REFUSED(context, gram_model_write_memory(context, model, NULL, 5, &room), GRAM_ERROR_ARGUMENT, "bytes is NULL");
    gram_model_destroy(again);
    gram_model_destroy(model);
    gram_learner_destroy(learner);
    free(bytes);
    free(kept);
}

static void add_one(void *user, int64_t d, int64_t rows, const double *x, int64_t ldx, int64_t columns, const double *y,
                    int64_t ldy, double *out, int64_t ldo)
{
    (void)user;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            out[i * ldo + j] = 1;
            for (int64_t l = 0; l < d; l++) out[i * ldo + j] += x[l * ldx + i] * y[l * ldy + j];
        }
}

/* The kernel is kept by the caller: the same bits with it, and refused without it or with another. */
static void a_kernel_of_this_program_is_kept_apart(void **state)
{
    static const char *const options[] = {"method", "krr", "lambda", "0.1", "scale", "no", NULL};
    gram_context *context = *state;
    gram_arrays arrays = frame();
    gram_kernel *kernel = NULL, *other = NULL;
    gram_learner *learner = learner_of(context, options);
    gram_model *model = NULL, *again = NULL;
    gram_points *points = NULL;
    double left[N], right[N];
    size_t size = 0;
    OK(context, gram_kernel_callback(context, "mine", add_one, NULL, NULL, &kernel));
    OK(context, gram_kernel_callback(context, "yours", add_one, NULL, NULL, &other));
    OK(context, gram_learner_set_kernel(context, learner, kernel));
    OK(context, gram_learn_arrays(context, learner, &arrays, &model));
    REFUSED(context, gram_model_write_memory(context, model, NULL, 0, &size), GRAM_ERROR_UNSUPPORTED, "this program");
    OK(context, gram_model_write_part(context, model, NULL, 0, &size));
    char *bytes = malloc(size);
    assert_non_null(bytes);
    OK(context, gram_model_write_part(context, model, bytes, size, &size));
    REFUSED(context, gram_model_read_memory(context, "bytes", bytes, size, &again), GRAM_ERROR_DATA, "callback");
    REFUSED(context, gram_model_read_part(context, "bytes", bytes, size, other, &again), GRAM_ERROR_ARGUMENT, "yours");
    OK(context, gram_model_read_part(context, "bytes", bytes, size, kernel, &again));
    const gram_function *f = gram_model_function(model), *g = gram_model_function(again);
    points = gram_points_retain(gram_function_centres(f));
    OK(context, gram_function_evaluate(context, f, points, left, 1));
    OK(context, gram_function_evaluate(context, g, points, right, 1));
    assert_memory_equal(left, right, sizeof left);
    free(bytes);
    gram_points_release(points);
    gram_kernel_release(kernel);
    gram_kernel_release(other);
    gram_model_destroy(again);
    gram_model_destroy(model);
    gram_learner_destroy(learner);
}

static void one_class_is_a_task(void **state)
{
    static const char *const options[] = {"method", "svm", "task", "one-class", "nu", "0.3", NULL};
    gram_context *context = *state;
    gram_arrays arrays = frame();
    gram_learner *learner = learner_of(context, options);
    gram_model *model = NULL;
    arrays.targets = 0;
    arrays.target = NULL;
    OK(context, gram_learn_arrays(context, learner, &arrays, &model));
    assert_string_equal(gram_model_task(model), "one-class");
    assert_string_equal(gram_model_find(model, "svm").text, "one-class");
    gram_model_destroy(model);
    gram_learner_destroy(learner);
}

/* Numbers with gaps or without, scaled or not, with weights, groups and classes of text: the same bytes as of a copy. */
static void learn_lent(gram_context *context, const gram_arrays *arrays, const char *const *options)
{
    gram_arrays lent = *arrays;
    gram_model *models[2] = {NULL, NULL};
    size_t sizes[2];
    double fitted[N], other[N];
    const char *what;
    gram_learner *a = learner_of(context, options), *b = learner_of(context, options);
    lent.lend = 1;
    OK(context, gram_learn_arrays(context, a, arrays, &models[0]));
    OK(context, gram_learn_arrays(context, b, &lent, &models[1]));
    OK(context, gram_learner_fitted(context, a, models[0], fitted, &what));
    OK(context, gram_learner_fitted(context, b, models[1], other, &what));
    assert_memory_equal(fitted, other, sizeof fitted);
    char *left = bytes_of(context, models[0], &sizes[0]), *right = bytes_of(context, models[1], &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(left, right, sizes[0]);
    free(left);
    free(right);
    gram_model_destroy(models[0]);
    gram_model_destroy(models[1]);
    gram_learner_destroy(a);
    gram_learner_destroy(b);
}

static void lent_features_make_the_same_model(void **state)
{
    static const char *const kinds[][9] = {
        {"method", "krr", "kernel", "rbf(ell=2)", "lambda", "0.1", "scale", "no", NULL},
        {"method", "krr", "kernel", "rbf(ell=2)", "lambda", "0.1", NULL},
        {"method", "krr", "kernel", "rbf", "missing", "mean", "scale", "no", NULL},
        {"method", "krr", "kernel", "rbf", "features", "x2", "scale", "no", NULL},
        {"method", "krr", "kernel", "rbf", "groups", "team", NULL}};
    static const double weights[N] = {1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2};
    static const double teams[N] = {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6};
    static const char *const names[] = {"team"};
    gram_context *context = *state;
    gram_arrays arrays = frame();
    arrays.features = NULL;
    arrays.extras = 1;
    arrays.extra = teams;
    arrays.extra_names = names;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        arrays.weights = i == 1 ? weights : NULL;
        arrays.d = 2;
        learn_lent(context, &arrays, kinds[i]);
        arrays.d = i == 3 ? 2 : 1; /* with gaps */
        learn_lent(context, &arrays, kinds[i]);
    }
    static const char *const classify[] = {"method", "svm", "kernel", "rbf(ell=1)", "C", "1", "scale", "no", NULL};
    static const double classes[N] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
    const gram_column target = {.name = "colour", .text = 1, .level_count = 3, .levels = COLOURS};
    arrays.d = 2;
    arrays.y = classes;
    arrays.target = &target;
    learn_lent(context, &arrays, classify);
}

/* The most that a fit on landmarks takes, beside the rows. */
static size_t peak_of(const gram_arrays *arrays)
{
    static const char *const options[] = {"method", "krr", "solver", "nystrom:4", "kernel", "rbf(ell=6)",
                                          "lambda", "1",   "scale",  "no",        NULL};
    gram_context_options how;
    gram_context *context = NULL;
    gram_model *model = NULL;
    gram_context_options_init(&how, sizeof how);
    assert_int_equal(gram_context_create(&how, &context), GRAM_OK);
    gram_learner *learner = learner_of(context, options);
    OK(context, gram_learn_arrays(context, learner, arrays, &model));
    const size_t peak = gram_context_memory_peak(context);
    gram_model_destroy(model);
    gram_learner_destroy(learner);
    gram_context_destroy(context);
    return peak;
}

/* Neither the table, nor the preparation, nor the packed points of the engine hold the rows again. */
static void lent_features_are_not_copied(void **state)
{
    enum { ROWS = 200000, COLUMNS = 40 };
    const size_t bytes = (size_t)ROWS * COLUMNS * sizeof(double);
    (void)state;
    double *x = malloc(bytes);
    gram_arrays arrays = frame();
    assert_non_null(x);
    for (int64_t i = 0; i < ROWS * COLUMNS; i++) x[i] = (double)(i * 7919 % 10007) / 10007;
    arrays.n = ROWS;
    arrays.d = arrays.ldx = COLUMNS;
    arrays.x = arrays.y = x;
    arrays.ldy = COLUMNS;
    arrays.features = arrays.target = NULL;
    const size_t copied = peak_of(&arrays);
    arrays.lend = 1;
    const size_t lent = peak_of(&arrays);
    assert_true(lent < bytes);
    assert_true(copied >= 2 * bytes);
    free(x);
}

static gram_status learn_all(gram_context *context)
{
    const gram_arrays arrays = frame();
    gram_learner *learner = NULL;
    gram_model *model = NULL;
    size_t size = 0;
    gram_status status = gram_learner_create(context, &learner);
    if (status >= 0) status = gram_learner_set(context, learner, "lambda", "0.1");
    if (status >= 0) status = gram_learner_set(context, learner, "kernel", "rbf(ell=2)");
    if (status >= 0) status = gram_learn_arrays(context, learner, &arrays, &model);
    if (status >= 0) status = gram_model_write_memory(context, model, NULL, 0, &size);
    gram_model_destroy(model);
    gram_learner_destroy(learner);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(oom_each(learn_all, 0) > 20);
    (void)oom_each(learn_all, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_is_learnt_as_its_file_is),
        cmocka_unit_test(a_table_of_arrays_has_their_columns),
        cmocka_unit_test(a_kernel_is_taken_as_it_is),
        cmocka_unit_test(bytes_are_those_of_the_file),
        cmocka_unit_test(a_kernel_of_this_program_is_kept_apart),
        cmocka_unit_test(one_class_is_a_task),
        cmocka_unit_test(lent_features_make_the_same_model),
        cmocka_unit_test(lent_features_are_not_copied),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
