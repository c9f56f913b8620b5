/* Samples of tests from files: groups, means and deviations by hand, columns that are not taken twice, every allocation failing. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "oom.h"
#include "support.h"

static char folder[] = "/tmp/gram-sample-XXXXXX", first_file[64], second_file[64];

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int begin(void **state)
{
    if (!mkdtemp(folder)) return 1;
    (void)snprintf(first_file, sizeof first_file, "%s/a.csv", folder);
    (void)snprintf(second_file, sizeof second_file, "%s/b.csv", folder);
    write_text(first_file, "p,colour,q\n1,red,10\n2,blue,20\n3,red,\n6,green,60\n");
    write_text(second_file, "q,p,colour\n1,0,red\n2,9,white\n");
    return test_open(state);
}

static int end(void **state)
{
    (void)unlink(first_file);
    (void)unlink(second_file);
    (void)rmdir(folder);
    return test_close(state);
}

static gram_sample_options options_of(gram_missing missing, int scale)
{
    gram_sample_options options;
    gram_sample_options_init(&options, sizeof options);
    options.missing = missing;
    options.scale = scale;
    return options;
}

/* q's row without a value is missing in the group of p, too. The text is one column for each level. */
static void groups_share_their_rows(void **state)
{
    static const char *const lists[] = {"q", "colour,p"};
    static const double x[] = {10, 0, 1, 1, 20, 1, 0, 2, 60, 0, 0, 6};
    gram_context *context = *state;
    gram_sample *sample;
    char name[32];
    const gram_sample_options options = options_of(GRAM_MISSING_DROP, 0);
    OK(context, gram_sample_read(context, first_file, &options, 2, lists, &sample));
    const gram_sample_report *report = gram_sample_get_report(sample);
    assert_true(report->group_count == 2 && report->dropped == 1 && report->data->n == 3);
    assert_true(report->groups[0].first == 0 && report->groups[0].d == 1 && report->groups[0].features == 1);
    assert_true(report->groups[1].first == 1 && report->groups[1].first_feature == 1);
    assert_int_equal(report->groups[1].features, 2);
    assert_int_equal(gram_points_dimension(report->groups[1].points), report->groups[1].d);
    const int64_t d = report->data->d;
    (void)gram_preparation_column_name(report->preparation, 1, name, sizeof name);
    assert_string_equal(name, "colour=blue");
    for (int i = 0; i < 3; i++) {
        assert_true(report->data->x[i * d] == x[4 * i] && report->data->x[i * d + 1] == x[4 * i + 1]);
        assert_true(report->data->x[i * d + d - 1] == x[4 * i + 3]);
    }
    gram_sample_destroy(sample);
}

static void each_column_may_be_a_group(void **state)
{
    static const char *const list[] = {"p,q"};
    gram_context *context = *state;
    gram_sample *sample;
    gram_sample_options options = options_of(GRAM_MISSING_MEAN, 1);
    options.each = 1;
    OK(context, gram_sample_read(context, first_file, &options, 1, list, &sample));
    const gram_sample_report *report = gram_sample_get_report(sample);
    assert_true(report->group_count == 2 && report->groups[1].first == 1 && report->groups[1].d == 1);
    assert_true(fabs(report->data->x[0] + 2 / sqrt(3.5)) < 1e-15); /* 1, 2, 3, 6: mean 3, variance 14/4 */
    gram_sample_destroy(sample);
}

/* p is 1, 2, 6 and 0, 9 in rows with all values: mean 18/5, and both are scaled by the same numbers. */
static void pairs_are_prepared_together(void **state)
{
    gram_context *context = *state;
    gram_sample *samples[2];
    const gram_sample_options options = options_of(GRAM_MISSING_DROP, 1);
    OK(context, gram_sample_read_pair(context, first_file, second_file, &options, samples));
    const gram_sample_report *a = gram_sample_get_report(samples[0]), *b = gram_sample_get_report(samples[1]);
    const gram_column *p = &gram_preparation_describe(a->preparation)->features[0];
    assert_ptr_equal(a->preparation, b->preparation);
    assert_string_equal(p->name, "p");
    assert_true(fabs(p->mean - 3.6) < 1e-14 && fabs(p->deviation - sqrt(122.0 / 5 - 3.6 * 3.6)) < 1e-14);
    assert_true(a->data->n == 3 && b->data->n == 2 && a->data->d == b->data->d && a->data->d == 6);
    assert_true(fabs(b->data->x[b->data->d] - (9 - p->mean) / p->deviation) < 1e-14);
    gram_sample_destroy(samples[0]);
    gram_sample_destroy(samples[1]);
}

static void failures_name_what_is_wrong(void **state)
{
    static const char *const twice[] = {"p,colour", "p"}, *const unknown[] = {"p", "r"};
    gram_context *context = *state;
    gram_sample *sample = NULL, *samples[2];
    gram_kernel *kernel;
    gram_sample_options options = options_of(GRAM_MISSING_DROP, 1);
    REFUSED(context, gram_sample_read(context, first_file, &options, 2, twice, &sample), GRAM_ERROR_ARGUMENT,
            "sample: column 'p' is in two groups");
    REFUSED(context, gram_sample_read(context, first_file, &options, 2, unknown, &sample), GRAM_ERROR_DATA, "'r'");
    REFUSED(context, gram_sample_read_pair(context, "-", "-", &options, samples), GRAM_ERROR_ARGUMENT,
            "both samples from standard input");
    options.features = "p";
    OK(context, gram_sample_read(context, first_file, &options, 0, NULL, &sample));
    OK(context, gram_kernel_parse(context, "min()", &kernel));
    assert_true(gram_sample_blame(context, sample, 0, kernel));
    assert_non_null(strstr(gram_context_message(context), "a.csv: row 1, column 'p'"));
    assert_non_null(strstr(gram_context_advice(context), "no-scale"));
    gram_kernel_release(kernel);
    OK(context, gram_kernel_parse(context, "rbf(ell=1)", &kernel));
    assert_false(gram_sample_blame(context, sample, 0, kernel));
    gram_kernel_release(kernel);
    gram_sample_destroy(sample);
}

static gram_status play(gram_context *context)
{
    static const char *const lists[] = {"q", "colour,p"};
    gram_status status;
    gram_sample *sample = NULL, *samples[2] = {NULL, NULL};
    const gram_sample_options options = options_of(GRAM_MISSING_DROP, 1);
    STEP(gram_sample_read(context, first_file, &options, 2, lists, &sample));
    STEP(gram_sample_read_pair(context, first_file, second_file, &options, samples));
done:
    gram_sample_destroy(sample);
    gram_sample_destroy(samples[0]);
    gram_sample_destroy(samples[1]);
    return status;
}

static void no_memory_is_survived(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 10);
    (void)oom_each(play, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_share_their_rows),     cmocka_unit_test(each_column_may_be_a_group),
        cmocka_unit_test(pairs_are_prepared_together), cmocka_unit_test(failures_name_what_is_wrong),
        cmocka_unit_test(no_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
