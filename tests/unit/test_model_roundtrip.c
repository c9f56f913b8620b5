/* Models that are written and read: the same bit for bit; every corruption is noticed or changes nothing; memory. */
#define _DEFAULT_SOURCE
#include "model_sample.h"
#include "oom.h"

static void round_trip(void **state)
{
    (void)state;
    char folder[64];
    sample_enter(folder);
    for (int single = 0; single < 2; single++) {
        gram_context *context = test_context(1, GRAM_ISA_AUTO);
        gram_model *model = NULL, *again = NULL, *third = NULL;
        size_t size, other;
        OK(context, sample_make(context, single, 1, &model));
        OK(context, gram_model_write(context, model, "m.gram"));
        OK(context, gram_model_read(context, "m.gram", &again));
        assert_true(same_model(model, again));
        OK(context, gram_model_write(context, again, "n.gram"));
        unsigned char *first = sample_load("m.gram", &size), *second = sample_load("n.gram", &other);
        assert_true(size == other && memcmp(first, second, size) == 0); /* the same model is the same bytes */
        OK(context, gram_model_read_memory(context, "memory", first, size, &third));
        assert_true(same_model(model, third));
        free(first);
        free(second);
        gram_context_destroy(context); /* models outlive it */
        assert_true(same_model(again, third));
        gram_model_destroy(model);
        gram_model_destroy(again);
        gram_model_destroy(third);
    }
    sample_leave(folder);
}

/* A model of bare arrays: no preparation, one output, no facts. */
static void bare(void **state)
{
    (void)state;
    char folder[64];
    sample_enter(folder);
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(context, "matern(nu=0.7, ell=0.30000000000000004)");
    double x[3] = {1, 2, 3}, a[3] = {-1, 0.5, 1e-17};
    gram_points *points = test_points(context, 3, 1, x);
    gram_function *f = NULL;
    gram_model *model = NULL, *again = NULL;
    OK(context, gram_function_create(context, kernel, points, 1, a, 1, NULL, &f));
    OK(context, gram_model_create(context, "m\xc3\xbcthod", "", NULL, f, &model));
    OK(context, gram_model_write(context, model, "bare.gram"));
    OK(context, gram_model_read(context, "bare.gram", &again));
    assert_true(same_model(model, again));
    assert_null(gram_model_preparation(again));
    assert_string_equal(gram_model_version(again), gram_version());
    gram_model_destroy(again);
    gram_model_destroy(model);
    gram_model_destroy(NULL);
    gram_function_release(f);
    gram_points_release(points);
    gram_kernel_release(kernel);
    gram_context_destroy(context);
    sample_leave(folder);
}

/* A second view, with a preparation of its own: kept bit for bit, replaced as a whole, and refused where it does not fit. */
static void two_views(void **state)
{
    (void)state;
    char folder[64];
    sample_enter(folder);
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(c, "2*rbf(ell=[0.1, 3])");
    double x[6] = {1, 2, 3, -4, 5, 6e-300}, a[6] = {-1, 0.5, 1e-17, 4, 5, 6};
    const gram_column column = {.name = "z", .deviation = 1};
    const gram_preparation_description one = {.feature_count = 1, .features = &column, .named = 1};
    gram_points *points = test_points(c, 3, 2, x);
    gram_function *f = NULL;
    gram_preparation *narrow = NULL;
    gram_model *model = NULL, *again = NULL, *plain = NULL;
    OK(c, gram_function_create(c, kernel, points, 2, a, 2, NULL, &f));
    OK(c, gram_preparation_create(c, &one, &narrow));
    OK(c, sample_make(c, 1, 1, &model));
    OK(c, sample_make(c, 1, 1, &plain));
    assert_null(gram_model_second_function(plain));
    REFUSED(c, gram_model_set_second(c, model, narrow, f), GRAM_ERROR_DIMENSION, "makes 1 columns");
    REFUSED(c, gram_model_set_second(c, model, NULL, NULL), GRAM_ERROR_ARGUMENT, "function is NULL");
    REFUSED(c, gram_model_set_array(c, model, "second_centres", 1, 1, a, 1), GRAM_ERROR_ARGUMENT, "function's");
    OK(c, gram_model_set_second(c, model, gram_model_preparation(model), gram_model_function(model)));
    OK(c, gram_model_write(c, model, "m.gram"));
    OK(c, gram_model_read(c, "m.gram", &again));
    assert_true(same_model(model, again) && same_model(plain, again));
    assert_non_null(gram_model_second_preparation(again));
    gram_model_destroy(again);
    OK(c, gram_model_set_second(c, model, NULL, f));
    OK(c, gram_model_write(c, model, "m.gram"));
    OK(c, gram_model_read(c, "m.gram", &again));
    const gram_function *g = gram_model_second_function(again);
    assert_true(gram_kernel_equal(gram_function_kernel(g), kernel));
    assert_memory_equal(gram_function_coefficients(g), a, sizeof a);
    assert_memory_equal(gram_function_centres_f64(g), x, sizeof x);
    assert_null(gram_model_second_preparation(again));
    gram_model_destroy(again), gram_model_destroy(model), gram_model_destroy(plain);
    gram_preparation_release(narrow);
    gram_function_release(f);
    gram_points_release(points);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
    sample_leave(folder);
}

/* Facts and arrays: set again, asked for, limits. */
static void facts_and_arrays(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    gram_model *model = NULL;
    OK(c, sample_make(c, 0, 1, &model));
    const int64_t count = gram_model_fact_count(model);
    OK(c, gram_model_set_text(c, model, "lambda", "ten"));
    assert_int_equal(gram_model_fact_count(model), count);
    assert_string_equal(gram_model_fact(model, 0).name, "lambda"); /* keeps its place */
    assert_string_equal(gram_model_find(model, "lambda").text, "ten");
    assert_int_equal(gram_model_find(model, "n").integer, INT64_MAX);
    assert_null(gram_model_find(model, "none").name);
    assert_true(isnan(gram_model_find(model, "none").number));
    assert_null(gram_model_fact(model, count).name);
    assert_null(gram_model_fact(model, -1).name);
    int64_t rows, columns;
    double one = 7;
    OK(c, gram_model_set_array(c, model, "factor_1", 1, 1, &one, 1));
    assert_true(*gram_model_array(model, "factor_1", &rows, &columns) == 7 && rows == 1 && columns == 1);
    assert_null(gram_model_array(model, "none", &rows, NULL));
    assert_int_equal(rows, 0);
    const char *const bad[] = {"", "a b", "../x", "centres", "01234567890123456789012345678901", "caf\xc3\xa9"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(gram_model_set_array(c, model, bad[i], 1, 1, &one, 1), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_model_set_array(c, model, "x", 0, 1, &one, 1), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_model_set_array(c, model, "x", 1, 2, &one, 1), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_model_set_array(c, model, "x", 1, 1, NULL, 1), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_model_set_array(c, model, "x", INT64_MAX / 2, 8, &one, 8), GRAM_ERROR_OVERFLOW);
    assert_int_equal(gram_model_set_text(c, model, "x", NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_model_set_number(c, model, NULL, 1), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_model_set_number(c, NULL, "x", 1), GRAM_ERROR_ARGUMENT);
    gram_status status = GRAM_OK;
    for (int i = 0; i < 5000 && status == GRAM_OK; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "f%d", i);
        status = gram_model_set_integer(c, model, name, i);
    }
    assert_int_equal(status, GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_model_fact_count(model), 4096);
    gram_model_destroy(model);
    gram_context_destroy(c);
}

static void bad_arguments(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    gram_model *model = NULL, *none = NULL;
    OK(c, sample_make(c, 0, 1, &model));
    gram_function *f = gram_model_function(model);
    assert_int_equal(gram_model_create(c, NULL, "t", NULL, f, &none), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_model_create(c, "m", NULL, NULL, f, &none), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_model_create(c, "m", "t", NULL, NULL, &none), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_model_create(NULL, "m", "t", NULL, f, &none), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_model_write(c, NULL, "m.gram"), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_model_write(c, model, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_model_read(c, NULL, &none), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_model_read_memory(c, NULL, "", 0, &none), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_model_read_memory(c, "m", NULL, 3, &none), GRAM_ERROR_ARGUMENT);
    double x[3] = {1, 2, 3}; /* the preparation makes 5 columns */
    gram_kernel *kernel = test_kernel(c, "rbf(ell=1)");
    gram_points *points = test_points(c, 1, 3, x);
    gram_function *flat = NULL;
    OK(c, gram_function_create(c, kernel, points, 1, x, 1, NULL, &flat));
    assert_int_equal(gram_model_create(c, "m", "t", gram_model_preparation(model), flat, &none), GRAM_ERROR_DIMENSION);
    assert_null(none);
    gram_function_release(flat);
    gram_points_release(points);
    gram_kernel_release(kernel);
    gram_model_destroy(model);
    gram_context_destroy(c);
}

static void nothing_kernel(void *user, int64_t d, int64_t rows, const double *x, int64_t ldx, int64_t columns,
                           const double *y, int64_t ldy, double *out, int64_t ldo)
{
    (void)user, (void)d, (void)x, (void)ldx, (void)y, (void)ldy;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) out[i * ldo + j] = 1;
}

static void kernels_of_c_only(void **state)
{
    (void)state;
    char folder[64];
    sample_enter(folder);
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    gram_kernel *callback = NULL, *rbf = test_kernel(c, "rbf(ell=1)"), *sum = NULL, *centred = NULL;
    double x[2] = {1, 2};
    gram_points *points = test_points(c, 2, 1, x);
    OK(c, gram_kernel_callback(c, "mine", nothing_kernel, NULL, NULL, &callback));
    OK(c, gram_kernel_sum(c, callback, rbf, &sum));
    OK(c, gram_kernel_centre(c, points, sum, &centred));
    gram_kernel *const kernels[] = {callback, sum, centred};
    for (int i = 0; i < 3; i++) {
        gram_function *f = NULL;
        gram_model *model = NULL;
        OK(c, gram_function_create(c, kernels[i], points, 1, x, 1, NULL, &f));
        OK(c, gram_model_create(c, "krr", "regression", NULL, f, &model));
        assert_int_equal(gram_model_write(c, model, "m.gram"), GRAM_ERROR_UNSUPPORTED);
        assert_non_null(strstr(gram_context_message(c), "<callback mine>"));
        gram_model_destroy(model);
        gram_function_release(f);
    }
    assert_int_equal(sample_files(), 0);
    for (int i = 0; i < 3; i++) gram_kernel_release(kernels[i]);
    gram_kernel_release(rbf);
    gram_points_release(points);
    gram_context_destroy(c);
    sample_leave(folder);
}

/* ---- damage ---- */

typedef struct specimen {
    gram_context *context;
    gram_model *model;
    unsigned char *bytes;
    size_t size;
} specimen;

static void specimen_make(specimen *s)
{
    char folder[64];
    s->context = test_context(1, GRAM_ISA_AUTO);
    OK(s->context, sample_make(s->context, 0, 1, &s->model));
    sample_enter(folder);
    OK(s->context, gram_model_write(s->context, s->model, "m.gram"));
    s->bytes = sample_load("m.gram", &s->size);
    sample_leave(folder);
}

static void specimen_end(specimen *s)
{
    free(s->bytes);
    gram_model_destroy(s->model);
    gram_context_destroy(s->context);
}

static void cut_everywhere(void **state)
{
    (void)state;
    specimen s;
    specimen_make(&s);
    const size_t before = gram_context_memory_used(s.context);
    for (size_t length = 0; length < s.size; length++) {
        gram_model *model = NULL;
        unsigned char *exact = malloc(length + 1); /* so that the sanitizer sees a byte too many */
        assert_non_null(exact);
        memcpy(exact, s.bytes, length);
        sample_refused(s.context, "m.gram: ", gram_model_read_memory(s.context, "m.gram", exact, length, &model),
                       GRAM_ERROR_DATA, "");
        assert_null(model);
        free(exact);
    }
    assert_true(gram_context_memory_used(s.context) == before);
    specimen_end(&s);
}

/* A bad byte is an error, or (dates, padding, attributes) changes nothing at all. */
static void damage_everywhere(void **state)
{
    (void)state;
    specimen s;
    specimen_make(&s);
    long accepted = 0;
    const unsigned char flips[] = {0x01, 0x80, 0xFF};
    for (size_t at = 0; at < s.size; at++)
        for (size_t f = 0; f < sizeof flips; f++) {
            gram_model *model = NULL;
            s.bytes[at] ^= flips[f];
            const gram_status status = gram_model_read_memory(s.context, "m.gram", s.bytes, s.size, &model);
            s.bytes[at] ^= flips[f];
            if (status == GRAM_OK) {
                if (!same_model(s.model, model)) FAIL_TEST("byte %zu: another model", at);
                accepted++;
            } else {
                sample_refused(s.context, "m.gram: ", status, GRAM_ERROR_DATA, "");
            }
            gram_model_destroy(model);
        }
    print_message("%ld of %zu changes were without effect\n", accepted, s.size * sizeof flips);
    assert_true(accepted < (long)s.size);
    specimen_end(&s);
}

/* Bytes before, between and after. */
static void added_bytes(void **state)
{
    (void)state;
    specimen s;
    specimen_make(&s);
    unsigned char *longer = malloc(s.size + 1);
    assert_non_null(longer);
    for (size_t at = 0; at <= s.size; at++) {
        gram_model *model = NULL;
        memcpy(longer, s.bytes, at);
        longer[at] = 0;
        memcpy(longer + at + 1, s.bytes + at, s.size - at);
        sample_refused(s.context, "m.gram: ", gram_model_read_memory(s.context, "m.gram", longer, s.size + 1, &model),
                       GRAM_ERROR_DATA, "");
    }
    free(longer);
    specimen_end(&s);
}

/* ---- memory ---- */

static gram_status play(gram_context *c)
{
    gram_model *model = NULL, *again = NULL;
    gram_status status = sample_make(c, 0, 1, &model);
    if (status == GRAM_OK) status = gram_model_write(c, model, "oom.gram");
    if (status == GRAM_OK) status = gram_model_read(c, "oom.gram", &again);
    if (status == GRAM_OK && !same_model(model, again)) FAIL_TEST("another model");
    gram_model_destroy(again);
    gram_model_destroy(model);
    return status;
}

static void memory(void **state)
{
    (void)state;
    char folder[64];
    sample_enter(folder);
    const long long allocations = oom_each(play, 0);
    print_message("%lld allocations\n", allocations);
    assert_true(allocations > 20);
    (void)oom_each(play, 1);
    print_message("the play needs at most %zu bytes\n", oom_budget(play));
    assert_int_equal(sample_files(), 1); /* nothing aside */
    sample_leave(folder);
}

/* A caller who changes his mind leaves the old file whole and nothing aside. */
static void cancelled(void **state)
{
    (void)state;
    char folder[64];
    sample_enter(folder);
    int left = 3;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_context *impatient = TEST_CONTEXT(.cancel = test_stop, .cancel_user = &left);
    gram_model *model = NULL, *other = NULL, *again = NULL;
    OK(context, sample_make(context, 0, 1, &model));
    OK(context, sample_make(context, 0, 5, &other));
    OK(context, gram_model_write(context, model, "m.gram"));
    assert_int_equal(gram_model_write(impatient, other, "m.gram"), GRAM_ERROR_CANCELLED);
    assert_int_equal(gram_model_read(impatient, "m.gram", &again), GRAM_ERROR_CANCELLED);
    OK(context, gram_model_read(context, "m.gram", &again));
    assert_true(same_model(model, again) && !same_model(other, again));
    assert_int_equal(sample_files(), 1);
    gram_model_destroy(again);
    gram_model_destroy(other);
    gram_model_destroy(model);
    gram_context_destroy(impatient);
    gram_context_destroy(context);
    sample_leave(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip),     cmocka_unit_test(bare),
                                       cmocka_unit_test(two_views),      cmocka_unit_test(facts_and_arrays),
                                       cmocka_unit_test(bad_arguments),  cmocka_unit_test(kernels_of_c_only),
                                       cmocka_unit_test(cut_everywhere), cmocka_unit_test(damage_everywhere),
                                       cmocka_unit_test(added_bytes),    cmocka_unit_test(memory),
                                       cmocka_unit_test(cancelled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
