/* Points with scores from files: columns by hand, densities in closed form, files that do not fit, every allocation failing. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "oom.h"
#include "support.h"

static char folder[] = "/tmp/gram-scored-XXXXXX", data_file[64], score_file[64];

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
    (void)snprintf(data_file, sizeof data_file, "%s/data.csv", folder);
    (void)snprintf(score_file, sizeof score_file, "%s/scores.csv", folder);
    write_text(data_file, "s1,a,s2,b\n10,1,20,2\n30,3,40,4\n50,5,60,9\n");
    write_text(score_file, "u,v\n1,2\n3,4\n5,6\n");
    return test_open(state);
}

static int end(void **state)
{
    (void)unlink(data_file);
    (void)unlink(score_file);
    (void)rmdir(folder);
    return test_close(state);
}

static gram_scored_options options_of(const char *features)
{
    gram_scored_options options;
    gram_scored_options_init(&options, sizeof options);
    options.features = features;
    return options;
}

static void score_columns_are_told_from_points(void **state)
{
    static const double x[] = {1, 2, 3, 4, 5, 9}, s[] = {10, 20, 30, 40, 50, 60};
    gram_context *context = *state;
    gram_scored_points *scored;
    gram_scored_options options = options_of(NULL);
    options.score_columns = "s1,s2";
    OK(context, gram_scored_points_read(context, data_file, &options, &scored));
    const gram_scored_report *report = gram_scored_points_get_report(scored);
    assert_true(report->n == 3 && report->d == 2 && report->columns[0] == 1 && report->columns[1] == 3);
    assert_memory_equal(report->x, x, sizeof x);
    assert_memory_equal(report->scores, s, sizeof s);
    assert_string_equal(report->source, "scores in columns s1,s2");
    assert_int_equal(gram_table_columns(report->table), 4);
    gram_scored_points_destroy(scored);
}

/* grad log N(mu, sd^2) = (mu - x)/sd^2; the default kernel is gram_stein_kernel's. */
static void densities_give_scores(void **state)
{
    static const double x[] = {1, 2, 3, 4, 5, 9};
    gram_context *context = *state;
    gram_scored_points *scored;
    gram_kernel *kernel;
    gram_scored_options options = options_of("a,b");
    options.density = "gaussian(mean=1, sd=2)";
    OK(context, gram_scored_points_read(context, data_file, &options, &scored));
    const gram_scored_report *report = gram_scored_points_get_report(scored);
    for (int i = 0; i < 6; i++) assert_true(fabs(report->scores[i] - (1 - x[i]) / 4) < 1e-15);
    OK(context, gram_stein_kernel(context, report->points, GRAM_STEIN_METRIC_MED, 0, &kernel));
    assert_true(gram_kernel_equal(kernel, report->kernel));
    gram_kernel_release(kernel);
    gram_scored_points_destroy(scored);
}

/* Columns 1, 3, 5 and 2, 4, 9: means 3 and 5, population deviations sqrt(8/3) and sqrt(26/3). */
static void scaling_multiplies_scores(void **state)
{
    gram_context *context = *state;
    gram_scored_points *scored;
    gram_scored_options options = options_of("a,b");
    options.score_file = score_file;
    options.scale = 1;
    OK(context, gram_scored_points_read(context, data_file, &options, &scored));
    const gram_scored_report *report = gram_scored_points_get_report(scored);
    assert_true(fabs(report->x[0] + 2 / sqrt(8.0 / 3)) < 1e-14 && fabs(report->x[5] - 4 / sqrt(26.0 / 3)) < 1e-14);
    assert_true(fabs(report->scores[4] - 5 * sqrt(8.0 / 3)) < 1e-13);
    assert_true(fabs(report->scores[1] - 2 * sqrt(26.0 / 3)) < 1e-13);
    gram_scored_points_destroy(scored);
}

static void without_scores_there_is_a_sample(void **state)
{
    gram_context *context = *state;
    gram_scored_points *scored;
    OK(context, gram_scored_points_read(context, data_file, NULL, &scored));
    const gram_scored_report *report = gram_scored_points_get_report(scored);
    assert_true(!report->scores && report->d == 4 && gram_kernel_parameter_count(report->kernel) == 1);
    assert_string_equal(report->source, "the sample itself");
    gram_scored_points_destroy(scored);
}

/* The points' column 1 is the file's fourth, b. */
static void failures_name_what_is_wrong(void **state)
{
    gram_context *context = *state;
    gram_scored_points *scored = NULL;
    gram_scored_options options = options_of("a");
    options.score_file = score_file;
    REFUSED(context, gram_scored_points_read(context, data_file, &options, &scored), GRAM_ERROR_DATA,
            "3 rows of 2 scores for 3 rows of 1 column");
    options.density = "banana()";
    REFUSED(context, gram_scored_points_read(context, data_file, &options, &scored), GRAM_ERROR_ARGUMENT,
            "scored_points: scores and density are two ways");
    options = options_of("a,b");
    options.density = "gauss()";
    options.who = "thin";
    options.dashes = "--";
    REFUSED(context, gram_scored_points_read(context, data_file, &options, &scored), GRAM_ERROR_SYNTAX, "thin: ");
    assert_non_null(strstr(gram_context_advice(context), "--density-data"));
}

/* The points' only column is the file's fourth; standardised, its first two numbers are below 0. */
static void places_are_those_of_the_file(void **state)
{
    gram_context *context = *state;
    gram_scored_points *scored;
    gram_kernel *kernel;
    gram_scored_options options = options_of("b");
    options.score_columns = "s2";
    options.scale = 1;
    OK(context, gram_scored_points_read(context, data_file, &options, &scored));
    OK(context, gram_kernel_parse(context, "min()", &kernel));
    assert_int_equal(gram_matrix_check(context, kernel, gram_scored_points_get_report(scored)->points),
                     GRAM_ERROR_DOMAIN);
    gram_scored_points_name_place(context, scored);
    assert_non_null(strstr(gram_context_message(context), "data.csv: row 1, column 'b'"));
    gram_kernel_release(kernel);
    gram_scored_points_destroy(scored);
}

static gram_status play(gram_context *context)
{
    gram_scored_points *scored = NULL;
    gram_scored_options options = options_of("a,b");
    options.score_columns = "s1,s2";
    options.scale = 1;
    const gram_status status = gram_scored_points_read(context, data_file, &options, &scored);
    gram_scored_points_destroy(scored);
    return status;
}

static void no_memory_is_survived(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 5);
    (void)oom_each(play, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(score_columns_are_told_from_points),
        cmocka_unit_test(densities_give_scores),
        cmocka_unit_test(scaling_multiplies_scores),
        cmocka_unit_test(without_scores_there_is_a_sample),
        cmocka_unit_test(failures_name_what_is_wrong),
        cmocka_unit_test(places_are_those_of_the_file),
        cmocka_unit_test(no_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
