/* What the tests of model files share: a model with everything in it, comparison bit for bit, files as bytes. */
#ifndef GRAM_TESTS_MODEL_SAMPLE_H
#define GRAM_TESTS_MODEL_SAMPLE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

enum { SAMPLE_N = 5, SAMPLE_D = 5, SAMPLE_OUTPUTS = 2 };

/* Names as CSV files have them: quotes, line ends, control characters, what is not UTF-8, and the characters that stand
 * for such bytes. */
static const char *const SAMPLE_LEVELS[] = {" ", "bl\"ue\\",
                                            "r\xc3\xa9"
                                            "d",
                                            "\x80\xff"};
static const gram_column SAMPLE_FEATURES[] = {
    {.name = "age, \"years\"\n\t\x01", .place = 3, .mean = 0.1, .deviation = 1e-300, .fill = -0.0},
    {.name = "\xf4\x8f\xbe\x80 \xe9t\xe9 \xf4\x8f\xbf\xbf",
     .place = 0,
     .text = 1,
     .deviation = 1,
     .fill = 2,
     .level_count = 4,
     .levels = SAMPLE_LEVELS}};
static const gram_column SAMPLE_TARGETS[] = {{.name = "y", .place = 4, .deviation = 1},
                                             {.name = "z \xe2\x82\xac", .place = 7, .deviation = 1}};
static const gram_column SAMPLE_WEIGHTS = {.name = "w", .place = 5, .deviation = 1};

/* A model; seed changes its numbers. */
static inline gram_status sample_make(gram_context *c, int single, uint64_t seed, gram_model **model)
{
    gram_status status;
    double x[SAMPLE_N * SAMPLE_D], a[SAMPLE_N * SAMPLE_OUTPUTS], constant[SAMPLE_OUTPUTS] = {-0.0, 1e308};
    float narrow[SAMPLE_N * SAMPLE_D];
    gram_kernel *kernel = NULL;
    gram_points *points = NULL;
    gram_function *function = NULL;
    gram_preparation *preparation = NULL;
    const gram_preparation_description description = {.feature_count = 2,
                                                      .features = SAMPLE_FEATURES,
                                                      .target_count = 2,
                                                      .targets = SAMPLE_TARGETS,
                                                      .weights = &SAMPLE_WEIGHTS,
                                                      .missing = GRAM_MISSING_MEAN,
                                                      .scaled = 1,
                                                      .named = 1};
    test_uniform(seed, SAMPLE_N * SAMPLE_D, -2, 2, x);
    test_uniform(seed + 1, SAMPLE_N * SAMPLE_OUTPUTS, -1, 1, a);
    a[3] = -0.0;
    a[4] = 5e-324;
    for (int i = 0; i < SAMPLE_N * SAMPLE_D; i++) narrow[i] = (float)x[i];
    *model = NULL;
    status = gram_kernel_parse(c, "0.1*rbf(ell=[0.1,0.2,0.3!,1e-10,3]) + white()", &kernel);
    if (status == GRAM_OK && single) status = gram_points_create_f32(c, SAMPLE_N, SAMPLE_D, narrow, SAMPLE_D, &points);
    if (status == GRAM_OK && !single) status = gram_points_create_f64(c, SAMPLE_N, SAMPLE_D, x, SAMPLE_D, &points);
    if (status == GRAM_OK)
        status = gram_function_create(c, kernel, points, SAMPLE_OUTPUTS, a, SAMPLE_OUTPUTS, constant, &function);
    if (status == GRAM_OK) status = gram_preparation_create(c, &description, &preparation);
    if (status == GRAM_OK) status = gram_model_create(c, "krr", "regression", preparation, function, model);
    if (status == GRAM_OK) status = gram_model_set_number(c, *model, "lambda", 0.1);
    if (status == GRAM_OK) status = gram_model_set_number(c, *model, "whole", 3);
    if (status == GRAM_OK) status = gram_model_set_number(c, *model, "minus nothing", -0.0);
    if (status == GRAM_OK) status = gram_model_set_number(c, *model, "unknown", NAN);
    if (status == GRAM_OK) status = gram_model_set_number(c, *model, "condition", INFINITY);
    if (status == GRAM_OK) status = gram_model_set_number(c, *model, "tiny", 5e-324);
    if (status == GRAM_OK) status = gram_model_set_integer(c, *model, "n", INT64_MAX);
    if (status == GRAM_OK) status = gram_model_set_integer(c, *model, "least", INT64_MIN);
    if (status == GRAM_OK) status = gram_model_set_text(c, *model, "solver \xff", "ex\"act\" \xc3\xa9\x80");
    if (status == GRAM_OK) status = gram_model_set_text(c, *model, "empty", "");
    if (status == GRAM_OK) status = gram_model_set_array(c, *model, "factor_1", 2, 3, x, 4);
    if (status == GRAM_OK) status = gram_model_set_array(c, *model, "B", 1, 1, a, 1);
    if (status != GRAM_OK) {
        gram_model_destroy(*model);
        *model = NULL;
    }
    gram_preparation_release(preparation);
    gram_function_release(function);
    gram_points_release(points);
    gram_kernel_release(kernel);
    return status;
}

/* ---- comparison: 1 if all is the same, bit for bit (NaN as NaN) ---- */

static inline int same_number(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static inline int same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static inline int same_column(const gram_column *a, const gram_column *b)
{
    if (!same_text(a->name, b->name) || a->place != b->place || !a->text != !b->text ||
        a->level_count != b->level_count)
        return 0;
    for (int64_t i = 0; i < a->level_count; i++)
        if (!same_text(a->levels[i], b->levels[i])) return 0;
    return same_number(a->mean, b->mean) && same_number(a->deviation, b->deviation) && same_number(a->fill, b->fill);
}

static inline int same_preparation(const gram_preparation *p, const gram_preparation *q)
{
    if (!p || !q) return !p && !q;
    const gram_preparation_description *a = gram_preparation_describe(p), *b = gram_preparation_describe(q);
    if (a->feature_count != b->feature_count || a->target_count != b->target_count || a->missing != b->missing ||
        !a->scaled != !b->scaled || !a->named != !b->named || !a->weights != !b->weights)
        return 0;
    for (int64_t i = 0; i < a->feature_count; i++)
        if (!same_column(&a->features[i], &b->features[i])) return 0;
    for (int64_t i = 0; i < a->target_count; i++)
        if (!same_column(&a->targets[i], &b->targets[i])) return 0;
    return !a->weights || same_column(a->weights, b->weights);
}

static inline int same_function(const gram_function *f, const gram_function *g)
{
    const int64_t n = gram_points_count(gram_function_centres(f)), d = gram_points_dimension(gram_function_centres(f));
    const int64_t m = gram_function_outputs(f);
    const void *x = gram_function_centres_f64(f), *y = gram_function_centres_f64(g);
    size_t item = sizeof(double);
    if (!x) {
        x = gram_function_centres_f32(f);
        y = gram_function_centres_f32(g);
        item = sizeof(float);
    }
    return gram_kernel_equal(gram_function_kernel(f), gram_function_kernel(g)) && y &&
           n == gram_points_count(gram_function_centres(g)) && d == gram_points_dimension(gram_function_centres(g)) &&
           m == gram_function_outputs(g) && memcmp(x, y, (size_t)(n * d) * item) == 0 &&
           memcmp(gram_function_coefficients(f), gram_function_coefficients(g), (size_t)(n * m) * 8) == 0 &&
           memcmp(gram_function_constant(f), gram_function_constant(g), (size_t)m * 8) == 0;
}

static inline int same_facts(const gram_model *p, const gram_model *q)
{
    if (gram_model_fact_count(p) != gram_model_fact_count(q)) return 0;
    for (int64_t i = 0; i < gram_model_fact_count(p); i++) {
        const gram_fact a = gram_model_fact(p, i), b = gram_model_fact(q, i);
        if (!same_text(a.name, b.name) || a.kind != b.kind || a.integer != b.integer || !same_text(a.text, b.text) ||
            !same_number(a.number, b.number))
            return 0;
    }
    return 1;
}

static inline int same_array(const gram_model *p, const gram_model *q, const char *name)
{
    int64_t rows, columns, others[2];
    const double *a = gram_model_array(p, name, &rows, &columns),
                 *b = gram_model_array(q, name, &others[0], &others[1]);
    return (!a && !b) || (a && b && rows == others[0] && columns == others[1] &&
                          memcmp(a, b, (size_t)(rows * columns) * sizeof *a) == 0);
}

static inline int same_model(const gram_model *p, const gram_model *q)
{
    return same_text(gram_model_method(p), gram_model_method(q)) && same_text(gram_model_task(p), gram_model_task(q)) &&
           same_text(gram_model_version(p), gram_model_version(q)) &&
           same_preparation(gram_model_preparation(p), gram_model_preparation(q)) &&
           same_function(gram_model_function(p), gram_model_function(q)) && same_facts(p, q) &&
           same_array(p, q, "factor_1") && same_array(p, q, "B");
}

/* ---- files ---- */

/* An empty folder of this process's own, which becomes the current one; sample_leave removes it with what is in it. */
static inline void sample_enter(char folder[64])
{
    (void)snprintf(folder, 64, "gram-model-XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
}

static inline void sample_leave(const char *folder)
{
    char command[96];
    assert_int_equal(chdir(".."), 0);
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

/* The same for cmocka_run_group_tests. */
static char sample_folder[64];

static inline int sample_set_up(void **state)
{
    (void)state;
    sample_enter(sample_folder);
    return 0;
}

static inline int sample_tear_down(void **state)
{
    (void)state;
    sample_leave(sample_folder);
    return 0;
}

static inline unsigned char *sample_load(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) FAIL_TEST("%s cannot be read", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    assert_int_equal(fclose(file), 0);
    bytes[*size] = 0;
    return bytes;
}

/* Files in the current folder, hidden ones too. */
static inline int sample_files(void)
{
    FILE *list = popen("ls -A | wc -l", "r");
    int count = -1;
    assert_non_null(list);
    assert_int_equal(fscanf(list, "%d", &count), 1);
    (void)pclose(list);
    return count;
}

/* The read must fail in this way, with a message that begins with the name and has this in it. */
static inline void sample_refused(gram_context *context, const char *name, gram_status status, gram_status wanted,
                                  const char *part)
{
    const char *message = gram_context_message(context);
    if (status != wanted || strncmp(message, name, strlen(name)) != 0 || !strstr(message, part))
        FAIL_TEST("%s '%s' instead of %s '%s...%s...'", gram_status_name(status), message, gram_status_name(wanted),
                  name, part);
}

#endif
