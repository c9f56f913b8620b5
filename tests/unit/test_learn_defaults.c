/* What a fit chooses by itself: the family of the kernel, against leave-one-out errors of separate fits; logarithms of features, against
 * their formula, and through a model file; fits to parts of the rows that begin where the whole ended. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "estimate_sets.h"
#include "tune/ridge_criterion.h"

enum { N = 150, D = 2 };

static const char *text_of(const gram_model *model, const char *name)
{
    const gram_fact found = gram_model_find(model, name);
    return found.name ? found.text : "";
}

static void kernel_of(const gram_model *model, char *text, size_t size)
{
    (void)gram_kernel_print(gram_function_kernel(gram_model_function(model)), text, size);
}

/* Kinks in two columns, hardly any noise: matern 3/2 is far better than rbf. */
static void make_kinks(uint64_t seed, double **x, double **y)
{
    double *noise = sample_normal(seed + 7, N);
    *x = test_random(seed, N * D, -1, 1);
    *y = test_numbers(N);
    for (int64_t i = 0; i < N; i++) (*y)[i] = fabs((*x)[i * D]) + fabs((*x)[i * D + 1] - 0.3) + 0.01 * noise[i];
    free(noise);
}

/* exp(-|x|^2/2) mixtures: rbf is as good as any. */
static void make_smooth(uint64_t seed, double **x, double **y)
{
    double *noise = sample_normal(seed + 7, N);
    *x = test_random(seed, N * D, -1, 1);
    *y = test_numbers(N);
    for (int64_t i = 0; i < N; i++) {
        const double a = (*x)[i * D], b = (*x)[i * D + 1];
        (*y)[i] = exp(-2 * (a * a + b * b)) - exp(-3 * ((a - 0.5) * (a - 0.5) + b * b)) + 0.02 * noise[i];
    }
    free(noise);
}

/* The number before " +- " that follows a name in the words. */
static double told(const char *words, const char *name)
{
    const char *at = strstr(words, name);
    if (!at) FAIL_TEST("'%s' does not name %s", words, name);
    return atof(at + strlen(name) + 1);
}

static void test_family_by_rows_left_out(void **state)
{
    gram_context *context = *state;
    const char *const itself[] = {"method", "krr", NULL};
    const char *const rbf[] = {"method", "krr", "kernel", "rbf", "ard", "yes", NULL};
    const char *const matern[] = {"method", "krr", "kernel", "matern(nu=1.5)", "ard", "yes", NULL};
    char kernel[512];
    double *x, *y;
    make_kinks(3, &x, &y);
    const gram_arrays arrays = arrays_of(N, D, x, y);
    gram_model *models[] = {learn(context, &arrays, itself), learn(context, &arrays, rbf),
                            learn(context, &arrays, matern)};
    const double ratio = fact(models[2], "loo_rmse") / fact(models[1], "loo_rmse");
    kernel_of(models[0], kernel, sizeof kernel);
    assert_true(strncmp(kernel, "matern(nu=1.5", 13) == 0);
    assert_true(ratio < 0.9);
    /* searches from other starts end in the same place to some thousandths */
    const double named = told(text_of(models[0], "kernel_choice"), "matern(nu=1.5)");
    if (fabs(named - ratio * ratio) > 0.03) FAIL_TEST("%g told, %g found", named, ratio * ratio);
    assert_true(fact(models[0], "loo_rmse") < 1.01 * fact(models[2], "loo_rmse"));
    assert_string_equal(text_of(models[1], "kernel_choice"), "");
    for (int k = 0; k < 3; k++) gram_model_destroy(models[k]);
    free(x);
    free(y);
}

/* A rival that gains nothing does not take its place, and nothing else changes then. */
static void test_default_stays(void **state)
{
    gram_context *context = *state;
    const char *const itself[] = {"method", "krr", NULL}, *const word[] = {"method", "krr", "kernel", "auto", NULL};
    const char *const rbf[] = {"method", "krr", "kernel", "rbf", "ard", "yes", NULL};
    const char *const gp[] = {"method", "gp", NULL};
    const char *const *const all[] = {itself, word, rbf, gp};
    char kernel[3][512];
    double *x, *y;
    make_smooth(5, &x, &y);
    const gram_arrays arrays = arrays_of(N, D, x, y);
    for (int k = 0; k < 3; k++) {
        gram_model *model = learn(context, &arrays, all[k]);
        kernel_of(model, kernel[k], sizeof kernel[k]);
        gram_model_destroy(model);
    }
    assert_string_equal(kernel[0], kernel[2]);
    assert_string_equal(kernel[1], kernel[2]);
    gram_model *model = learn(context, &arrays, gp);
    kernel_of(model, kernel[0], sizeof kernel[0]);
    assert_non_null(strstr(kernel[0], "*rbf("));
    assert_true(told(text_of(model, "kernel_choice"), "matern(nu=1.5)") > 0); /* of minus log densities */
    gram_model_destroy(model);
    free(x);
    free(y);
}

/* The same search from its own end is over after a few evaluations, and no worse. */
static void test_search_on_a_trail(void **state)
{
    gram_context *context = *state;
    gram_krr_tune_options options;
    gram_krr_tune_report first = {.size = sizeof first}, again = {.size = sizeof again};
    gram_arena arena;
    gram_kernel *rbf = NULL, *tuned[2] = {NULL, NULL};
    gram_points *points = NULL;
    double lambda[2], *x, *y;
    gram_search_trail trail = {.arena = &arena};
    make_smooth(6, &x, &y);
    gram_arena_init(&arena, context->memory);
    gram_krr_tune_options_init(&options, sizeof options);
    OK(context, gram_kernel_parse(context, "rbf", &rbf));
    OK(context, gram_points_create_f64(context, N, D, x, D, &points));
    OK(context, gram_krr_tune_along(context, rbf, points, 1, y, 1, &options, (gram_search_trails){.to = &trail},
                                    &tuned[0], &lambda[0], &first));
    OK(context, gram_krr_tune_along(context, rbf, points, 1, y, 1, &options, (gram_search_trails){.from = &trail},
                                    &tuned[1], &lambda[1], &again));
    if (4 * again.evaluations > first.evaluations)
        FAIL_TEST("%lld evaluations after %lld", (long long)again.evaluations, (long long)first.evaluations);
    if (again.value > first.value * (1 + 1e-3)) FAIL_TEST("%.17g after %.17g", again.value, first.value);
    for (int k = 0; k < 2; k++) gram_kernel_release(tuned[k]);
    gram_kernel_release(rbf);
    gram_points_release(points);
    gram_arena_release(&arena);
    free(x);
    free(y);
}

/* ---- logarithms ---- */

/* Log-normal numbers, of which the target is linear in the logarithm of the first; the second column has no tails. */
static void make_tails(uint64_t seed, double **x, double **y)
{
    double *z = sample_normal(seed, 2 * N), *flat = test_random(seed + 1, N, -1, 1);
    *x = test_numbers(N * D);
    *y = test_numbers(N);
    for (int64_t i = 0; i < N; i++) {
        (*x)[i * D] = exp(2 * z[i]);
        (*x)[i * D + 1] = flat[i];
        (*y)[i] = 2 * z[i] + flat[i] + 0.1 * z[N + i];
    }
    free(z);
    free(flat);
}

static double rmse_on(gram_context *context, const gram_model *model, uint64_t seed)
{
    double *x, *y, f[N], squares = 0;
    make_tails(seed, &x, &y);
    OK(context, gram_predict(context, model, NULL, N, x, D, f, 1));
    for (int64_t i = 0; i < N; i++) squares += (y[i] - f[i]) * (y[i] - f[i]) / N;
    free(x);
    free(y);
    return sqrt(squares);
}

static void test_logarithms(void **state)
{
    gram_context *context = *state;
    const char *const none[] = {"estimate", "folds:3", "transform", "none", "kernel", "rbf", NULL};
    const char *const itself[] = {"estimate", "folds:3", "kernel", "rbf", NULL};
    const char *const quick[] = {"kernel", "rbf", NULL}; /* without an estimate nothing is compared */
    double *x, *y, prepared[N * D];
    make_tails(11, &x, &y);
    const gram_arrays arrays = arrays_of(N, D, x, y);
    gram_model *models[] = {learn(context, &arrays, none), learn(context, &arrays, itself),
                            learn(context, &arrays, quick)};
    assert_true(rmse_on(context, models[1], 77) < 0.5 * rmse_on(context, models[0], 77));
    assert_non_null(strstr(text_of(models[1], "transform"), "logarithms of 1 feature"));
    assert_string_equal(text_of(models[0], "transform"), "");
    assert_string_equal(text_of(models[2], "transform"), "");
    const gram_preparation *preparation = gram_model_preparation(models[1]);
    const gram_column *features = gram_preparation_describe(preparation)->features;
    assert_true(features[0].log_size > 0 && features[1].log_size == 0);
    gram_preparation_scale(preparation, N, x, D, prepared);
    for (int64_t i = 0; i < N; i++) {
        const gram_column *f = &features[0];
        const double v = x[i * D], bent = log((v - f->log_centre) / f->log_size +
                                              sqrt(1 + pow((v - f->log_centre) / f->log_size, 2)));
        if (fabs(prepared[i * D] - (bent - f->mean) / f->deviation) > 1e-10)
            FAIL_TEST("row %d: %.17g", (int)i, prepared[i * D]);
        if (fabs(gram_preparation_unit(preparation, 0, prepared[i * D]) - v) > 1e-9 * (1 + fabs(v)))
            FAIL_TEST("row %d does not come back", (int)i);
    }
    for (int k = 0; k < 3; k++) gram_model_destroy(models[k]);
    free(x);
    free(y);
}

static void test_logarithms_in_files(void **state)
{
    gram_context *context = *state;
    const char *const options[] = {"transform", "log", "kernel", "rbf(ell=1)", "lambda", "0.01", NULL};
    double *x, *y, here[N], there[N];
    const char *const path = "defaults.gram";
    gram_model *read = NULL;
    make_tails(12, &x, &y);
    const gram_arrays arrays = arrays_of(N, D, x, y);
    gram_model *model = learn(context, &arrays, options);
    OK(context, gram_model_write(context, model, path));
    OK(context, gram_model_read(context, path, &read));
    OK(context, gram_predict(context, model, NULL, N, x, D, here, 1));
    OK(context, gram_predict(context, read, NULL, N, x, D, there, 1));
    assert_memory_equal(here, there, sizeof here);
    gram_model_destroy(model);
    gram_model_destroy(read);
    (void)remove(path);
    free(x);
    free(y);
}

/* Damaged numbers are refused by name. */
static void test_bad_logarithm(void **state)
{
    gram_context *context = *state;
    gram_column column = {.name = "a", .deviation = 1, .log_size = -1};
    gram_preparation_description known = {.feature_count = 1, .features = &column, .scaled = 1, .named = 1};
    gram_preparation *preparation = NULL;
    const double bad[] = {-1, NAN, INFINITY};
    for (int k = 0; k < 3; k++) {
        column.log_size = bad[k];
        assert_int_equal(gram_preparation_create(context, &known, &preparation), GRAM_ERROR_ARGUMENT);
        assert_non_null(strstr(gram_context_message(context), "logarithm"));
    }
    column.log_size = 1;
    known.scaled = 0;
    assert_int_equal(gram_preparation_create(context, &known, &preparation), GRAM_ERROR_ARGUMENT);
}

static void fill(gram_context *context, double *out)
{
    const char *const options[] = {"estimate", "auto", NULL};
    double *x, *y;
    make_tails(13, &x, &y);
    const gram_arrays arrays = arrays_of(80, D, x, y);
    gram_model *model = learn(context, &arrays, options);
    out[0] = fact(model, "estimate_rmse");
    out[1] = fact(model, "noise");
    gram_model_destroy(model);
    free(x);
    free(y);
}

static void test_threads(void **state)
{
    (void)state;
    test_any_threads(2, fill);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_family_by_rows_left_out),
        cmocka_unit_test(test_default_stays),
        cmocka_unit_test(test_search_on_a_trail),
        cmocka_unit_test(test_logarithms),
        cmocka_unit_test(test_logarithms_in_files),
        cmocka_unit_test(test_bad_logarithm),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
