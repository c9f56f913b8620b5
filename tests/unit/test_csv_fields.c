/* Fields that are not plain numbers: dates, decimal commas, texts that mean a missing value, a few texts among numbers, digits
 * with separators between them. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "data/csv/csv_field.h"
#include "support.h"

static const gram_field_rules plain = {0};

static gram_field_kind kind_of(const gram_field_rules *rules, const char *text, double *value)
{
    const gram_csv_field field = {text, strlen(text), 0};
    return gram_field_read(rules, &field, value);
}

/* ---- dates ---- */

/* Against the C library's calendar, every day from 1600 to 2400. */
static void test_days(void **state)
{
    (void)state;
    double value;
    char text[32];
    for (long day = -135140; day < 157054; day++) {
        const time_t seconds = (time_t)day * 86400;
        struct tm parts;
        assert_non_null(gmtime_r(&seconds, &parts));
        assert_true(strftime(text, sizeof text, "%Y-%m-%d", &parts) == 10);
        assert_int_equal(kind_of(&plain, text, &value), GRAM_FIELD_DATE);
        assert_true(value == (double)day);
    }
}

static void test_times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"1970-01-02", 1},
        {"1970/01/02", 1},
        {"1970-01-02T12:00", 1.5},
        {"1970-01-02 06:00:00", 1.25},
        {"1970-01-01 00:00:43.2", 0.0005},
        {"1970-01-02T12:00:00Z", 1.5},
        {"1970-01-02T12:00:00+06:00", 1.25},
        {"1970-01-02T12:00-0600", 1.75},
        {"1970-01-02 12:00:00+03", 1.375},
        {"2024-02-29", 19782},
        {"1970-01-01 24:00", 1},
    };
    static const char *const bad[] = {
        "2023-02-29",        "2024-13-01",           "2024-00-10",      "2024-01-32",       "2024-1-5",
        "2024-01/05",        "2024-01-05x",          "2024-01-05 1:00", "2024-01-05T25:00", "2024-01-05T10:60",
        "2024-01-05T10:00+", "2024-01-05T10:00 UTC", "05-01-2024",      "0000-01-01",       "2024-01-05 10:00:61"};
    double value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(kind_of(&plain, good[i].text, &value), GRAM_FIELD_DATE);
        assert_true(fabs(value - good[i].value) < 1e-12);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(kind_of(&plain, bad[i], &value), GRAM_FIELD_TEXT);
}

/* ---- numbers ---- */

static void test_commas(void **state)
{
    (void)state;
    const gram_field_rules comma = {.comma = 1};
    double value;
    assert_int_equal(kind_of(&comma, "-1,5e2", &value), GRAM_FIELD_NUMBER);
    assert_true(value == -150);
    assert_int_equal(kind_of(&comma, "7", &value), GRAM_FIELD_NUMBER);
    assert_int_equal(kind_of(&comma, "1.5", &value), GRAM_FIELD_TEXT);
    assert_int_equal(kind_of(&comma, "1.234,5", &value), GRAM_FIELD_TEXT);
    assert_int_equal(kind_of(&comma, "1,2,3", &value), GRAM_FIELD_TEXT);
    assert_int_equal(kind_of(&plain, "1,5", &value), GRAM_FIELD_TEXT);
    static const struct {
        const char *text;
        int grouped;
    } cases[] = {{"1,000", 1}, {"-12,345,678.5", 1}, {"1'000", 1},   {"1.234,5", 1}, {"1,5", 1},
                 {"1000", 0},  {"1.5", 0},           {"1,", 0},      {",5", 0},      {"1,,5", 0},
                 {"a,5", 0},   {"1,5x", 0},          {"10.0.0.1", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const gram_csv_field field = {cases[i].text, strlen(cases[i].text), 0};
        assert_int_equal(gram_field_is_grouped(&field), cases[i].grouped);
    }
}

static void test_missing(void **state)
{
    (void)state;
    const gram_field_rules rules = {.missing = "unknown,-999,n/a"};
    double value;
    static const char *const missing[] = {"unknown", "-999", "n/a", "", "NA"};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        assert_int_equal(kind_of(&rules, missing[i], &value), GRAM_FIELD_MISSING);
        assert_true(isnan(value));
    }
    assert_int_equal(kind_of(&rules, "-99", &value), GRAM_FIELD_NUMBER);
    assert_int_equal(kind_of(&rules, "-999.0", &value), GRAM_FIELD_NUMBER);
    assert_int_equal(kind_of(&rules, "Unknown", &value), GRAM_FIELD_TEXT);
}

/* ---- tables ---- */

static gram_table *read_text(gram_context *context, const char *text, const char *missing, int odd)
{
    gram_table_options options;
    gram_table *table;
    gram_table_options_init(&options, sizeof options);
    options.text = GRAM_TEXT_CATEGORIES;
    options.keep_missing = 1;
    options.missing_texts = missing;
    options.odd_words = odd;
    OK(context, gram_table_read_memory(context, "data.csv", text, strlen(text), &options, &table));
    return table;
}

static void test_tables(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *table = read_text(context, "day;a;b\n2024-01-05;1,5;x\n2024-01-06;-2,25;y\n", NULL, 1);
    assert_true(gram_table_has_header(table));
    assert_true(gram_table_column_is_date(table, 0) && !gram_table_column_is_text(table, 0));
    assert_true(gram_table_numbers(table)[0] == 19727 && gram_table_numbers(table)[4] == -2.25);
    assert_true(gram_table_column_is_text(table, 2));
    gram_table_destroy(table);
    /* dates and numbers in one column are neither */
    table = read_text(context, "day,a\n2024-01-05,1\n7,2\n", NULL, 0);
    assert_true(gram_table_column_is_text(table, 0) && !gram_table_column_is_date(table, 0));
    gram_table_destroy(table);
    table = read_text(context, "a,b\n-999,1\n3,?\n", "-999", 1);
    assert_true(isnan(gram_table_numbers(table)[0]) && isnan(gram_table_numbers(table)[3]));
    gram_table_destroy(table);
    /* without the option, one text makes a column of text, as it did */
    table = read_text(context, "a\n1\n2\n3\n4\n5\n6\nx\n", NULL, 0);
    assert_int_equal(gram_table_level_count(table, 0), 7);
    gram_table_destroy(table);
    gram_context_destroy(context);
}

static void learn_fails(gram_context *context, const char *text, const char *features, const char *message)
{
    gram_table *table = read_text(context, text, NULL, 1);
    gram_preparation_options options;
    gram_preparation *made = NULL;
    gram_preparation_options_init(&options, sizeof options);
    options.features = features;
    const gram_status status = gram_preparation_learn(context, table, &options, &made);
    assert_int_equal(status, message ? GRAM_ERROR_DATA : GRAM_OK);
    if (message) assert_string_equal(gram_context_message(context), message);
    gram_preparation_release(made);
    gram_table_destroy(table);
}

/* Odd texts are named with the row of the first; a column without a role may hold them. */
static void test_odd_words(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    const char *odd = "a,b,y\n1,u,1\n2,v,2\noops,u,3\n4,v,4\n5,u,5\n6,v,1\n7,u,2\n8,v,3\n9,u,4\nhm,v,5\n";
    learn_fails(
        context, odd, NULL,
        "data.csv:4: column 'a': 'hm', 'oops' among numbers, in 2 of 10 rows; if that means a missing value, --na "
        "'hm,oops'; if the column is of categories, --categories 'a'");
    learn_fails(context, odd, "b", NULL);
    /* categories that are numbers for the most part, and texts that are not few */
    learn_fails(context, "a,y\n1,1\n2,2\n3+,3\n3+,4\n1,5\n2,6\n", NULL, NULL);
    learn_fails(
        context, "a,y\n\"1,000\",1\n\"2,500\",2\n900,3\n", NULL,
        "data.csv: column 'a': numbers with separators between their digits, as '1,000'; write them without, or, if "
        "they are names, --categories 'a'");
    gram_context_destroy(context);
}

/* A text far below the first rows, in a file that is read by pieces: the column stays one of numbers, others turn to text. */
static void test_late(void **state)
{
    (void)state;
    enum { ROWS = 60000 };
    char *text = malloc((size_t)ROWS * 40), *end = text;
    assert_non_null(text);
    end += sprintf(end, "a,b,y\n");
    for (int i = 0; i < ROWS; i++)
        end += i == 50000 ? sprintf(end, "n.a.,%d,1\n", i)
                          : sprintf(end, "%d.25,%s%d,%d\n", i, i > 300 ? "t" : "", i % 7, i);
    gram_table *first = NULL;
    for (int threads = 1; threads <= 2; threads++) {
        gram_context *context = test_context(threads, GRAM_ISA_AUTO);
        gram_table *table = read_text(context, text, NULL, 1);
        assert_int_equal(gram_table_rows(table), ROWS);
        assert_false(gram_table_column_is_text(table, 0));
        assert_true(gram_table_column_is_text(table, 1));
        assert_true(isnan(gram_table_numbers(table)[50000 * 3]) && gram_table_numbers(table)[3 * 49999] == 49999.25);
        if (first) assert_memory_equal(gram_table_numbers(first), gram_table_numbers(table), ROWS * 3 * sizeof(double));
        if (threads == 2) gram_table_destroy(table);
        gram_table_destroy(first);
        first = threads == 1 ? table : NULL;
        learn_fails(
            context, text, "a",
            "data.csv:50002: column 'a': 'n.a.' among numbers, in 1 of 60000 rows; if that means a missing value, "
            "--na 'n.a.'; if the column is of categories, --categories 'a'");
        gram_context_destroy(context);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_days),    cmocka_unit_test(test_times),  cmocka_unit_test(test_commas),
        cmocka_unit_test(test_missing), cmocka_unit_test(test_tables), cmocka_unit_test(test_odd_words),
        cmocka_unit_test(test_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
