/* Numbers as text, under whatever locale the test is run in. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/text.h>

#include "support.h"

typedef struct format_case {
    double value;
    const char *text;
} format_case;

static void test_format(void **state)
{
    (void)state;
    const format_case cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {0.3, "0.3"},
        {0.1 + 0.2, "0.30000000000000004"},
        {2, "2"},
        {-2, "-2"},
        {120, "120"},
        {0.00125, "0.00125"},
        {-1234.5, "-1234.5"},
        {1e-4, "0.0001"},
        {1e-5, "1e-05"},
        {1.25e-5, "1.25e-05"},
        {1e-7, "1e-07"},
        {1.5e20, "1.5e+20"},
        {1e15, "1000000000000000"},
        {9999999999999998, "9999999999999998"},
        {1e16, "1e+16"},
        {9007199254740992, "9007199254740992"},
        {1e22, "1e+22"},
        {1e23, "1e+23"},
        {5e-324, "5e-324"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {-DBL_MAX, "-1.7976931348623157e+308"},
        {1.0 / 3, "0.3333333333333333"},
        {0x1p-44, "5.684341886080802e-14"},
        {0x1p-1074 * 3, "1.5e-323"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
    };
    char text[GRAM_NUMBER_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ptr_equal(gram_number_format(cases[i].value, text), text);
        assert_string_equal(text, cases[i].text);
    }
}

typedef struct parse_case {
    const char *text;
    size_t taken;
    double value;
} parse_case;

static void test_parse(void **state)
{
    (void)state;
    const parse_case cases[] = {
        {"0", 1, 0},
        {"-0", 2, -0.0},
        {"+1.5", 4, 1.5},
        {"12,5", 2, 12},
        {"1.5.2", 3, 1.5},
        {"1.", 2, 1},
        {".5", 2, 0.5},
        {"-.5e1x", 5, -5},
        {"1e", 1, 1},
        {"1e+", 1, 1},
        {"1e5", 3, 1e5},
        {"1E-5,", 4, 1e-5},
        {"0x10", 1, 0},
        {"000000000000000000000000000012", 30, 12},
        {"0.00000000000000000000000000000000000012e30", 43, 0.00000012},
        {"123456789012345", 15, 123456789012345},
        {"9007199254740993", 16, 9007199254740992},
        {"9007199254740993.0000000000000000000001", 39, 9007199254740994},
        {"0.1e23", 6, 1e22},
        {"1e23", 4, 1e23},
        {"8.5e22", 6, 8.5e22},
        {"2.2250738585072011e-308", 23, 2.2250738585072011e-308},
        {"2.2250738585072012e-308", 23, 2.2250738585072014e-308},
        {"4.9406564584124654e-324", 23, 5e-324},
        {"2.4703282292062327e-324", 23, 0},
        {"2.4703282292062328e-324", 23, 5e-324},
        {"1.7976931348623157e308", 22, DBL_MAX},
        {"1.7976931348623159e308", 22, INFINITY},
        {"-1e400", 6, -INFINITY},
        {"1e-400", 6, 0},
        {"1e99999999999999999999999999", 28, INFINITY},
        {"1e-99999999999999999999999999", 29, 0},
        {"0e99999999999999999999999999", 28, 0},
        {"6929495644600919.5", 18, 6929495644600920},
        {"3.5844466002796428e+298", 23, 3.5844466002796428e+298},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = -77;
        assert_int_equal(gram_number_parse(cases[i].text, strlen(cases[i].text), &value), cases[i].taken);
        if (test_to_bits(value) != test_to_bits(cases[i].value))
            fail_msg("%s is %.17g, not %.17g", cases[i].text, value, cases[i].value);
    }
}

static void test_parse_nothing(void **state)
{
    (void)state;
    const char *const texts[] = {"", "-", "+", ".", "-.", "e5", ".e5", " 1", "inf", "nan", "-inf", "--1", "+-1", "x"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double value = -77;
        assert_int_equal(gram_number_parse(texts[i], strlen(texts[i]), &value), 0);
        assert_true(value == -77);
    }
}

/* Nothing past the given length is read: the digits that follow do not count. */
static void test_parse_length(void **state)
{
    (void)state;
    const char *text = "12.5e3";
    const double values[] = {0, 1, 12, 12, 12.5, 12.5, 12.5e3};
    const size_t taken[] = {0, 1, 2, 3, 4, 4, 6};
    for (size_t length = 0; length <= 6; length++) {
        double value = 0;
        char *copy = malloc(length + 1); /* exactly as long as said, for the address sanitizer */
        char *exact = realloc(copy, length ? length : 1);
        memcpy(exact, text, length);
        assert_int_equal(gram_number_parse(exact, length, &value), taken[length]);
        assert_true(value == values[length]);
        free(exact);
    }
}

/* 1 + 2^-53 lies halfway between two doubles; a digit far to the right decides. */
static void test_long_digits(void **state)
{
    (void)state;
    enum { ZEROS = 5000 };
    static char text[2 * ZEROS + 100];
    const char *half = "1.00000000000000011102230246251565404236316680908203125";
    double value;
    strcpy(text, half);
    memset(text + strlen(half), '0', ZEROS);
    text[strlen(half) + ZEROS] = '\0';
    assert_int_equal(gram_number_parse(text, strlen(text), &value), strlen(text));
    assert_true(value == 1);
    strcat(text, "1");
    assert_int_equal(gram_number_parse(text, strlen(text), &value), strlen(text));
    assert_true(value == 1 + DBL_EPSILON);
    /* many zeros in front, made up for by the exponent; many digits, made up for likewise */
    text[0] = '.';
    memset(text + 1, '0', ZEROS);
    strcpy(text + 1 + ZEROS, "25e5002");
    assert_int_equal(gram_number_parse(text, strlen(text), &value), strlen(text));
    assert_true(value == 25);
    text[0] = '7';
    strcpy(text + 1 + ZEROS, "e-5000");
    assert_int_equal(gram_number_parse(text, strlen(text), &value), strlen(text));
    assert_true(value == 7);
}

static void check_round_trip(double value)
{
    char text[GRAM_NUMBER_SIZE + 1];
    double back;
    text[GRAM_NUMBER_SIZE] = 77;
    gram_number_format(value, text);
    const size_t length = strlen(text);
    assert_true(length < GRAM_NUMBER_SIZE && text[GRAM_NUMBER_SIZE] == 77);
    if (gram_number_parse(text, length, &back) != length || test_to_bits(back) != test_to_bits(value))
        fail_msg("%s is not %.17g", text, value);
}

static void test_round_trip_bits(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        const double value = test_from_bits(test_bits(&seed));
        if (isfinite(value)) check_round_trip(value);
    }
    for (int i = 0; i < 20000; i++) check_round_trip(test_from_bits(test_bits(&seed) >> (12 + i % 52)));
    for (int e = -1074; e < 1024; e++) check_round_trip(ldexp(1, e));
}

/* A number with at most 15 digits comes back as it was written. */
static void test_round_trip_digits(void **state)
{
    (void)state;
    uint64_t seed = 2;
    char text[GRAM_NUMBER_SIZE];
    for (int i = 0; i < 300000; i++) {
        const uint64_t bits = test_bits(&seed);
        const int64_t whole = (int64_t)(bits % 1000000), thousandths = (int64_t)(bits >> 32) % 1000;
        char wanted[GRAM_NUMBER_SIZE], *end = wanted;
        end += sprintf(end, "%lld", (long long)whole);
        if (thousandths) {
            end += sprintf(end, ".%03lld", (long long)thousandths);
            while (end[-1] == '0') *--end = '\0';
        }
        double value;
        assert_int_equal(gram_number_parse(wanted, strlen(wanted), &value), strlen(wanted));
        assert_true(value == (double)(whole * 1000 + thousandths) / 1000);
        assert_string_equal(gram_number_format(value, text), wanted);
    }
}

static void test_bytes(void **state)
{
    (void)state;
    const struct {
        size_t bytes;
        const char *text;
    } cases[] = {{0, "0 B"},           {17, "17 B"},         {1023, "1023 B"},
                 {1024, "1 KiB"},      {1536, "1.5 KiB"},    {65536, "64 KiB"},
                 {1048575, "1 MiB"},   {1048576, "1 MiB"},   {3435973836, "3.2 GiB"},
                 {SIZE_MAX, "16 EiB"}, {1047552, "1023 KiB"}};
    char text[GRAM_BYTES_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(gram_bytes_format(cases[i].bytes, text), cases[i].text);
}

static void test_suggest(void **state)
{
    (void)state;
    const char *const names[] = {"ell", "sigma", "matern12", "matern32", "nu", "min"};
    const size_t count = sizeof names / sizeof *names;
    assert_string_equal(gram_suggest("ell", names, count), "ell");
    assert_string_equal(gram_suggest("el", names, count), "ell");
    assert_string_equal(gram_suggest("lel", names, count), "ell");
    assert_string_equal(gram_suggest("lel:20", names, count), "ell");
    assert_string_equal(gram_suggest("elll", names, count), "ell");
    assert_string_equal(gram_suggest("SIGMA", names, count), "sigma");
    assert_string_equal(gram_suggest("sgmia", names, count), "sigma");
    assert_string_equal(gram_suggest("matern33", names, count), "matern32");
    assert_string_equal(gram_suggest("mat", names, count), "matern12");
    assert_string_equal(gram_suggest("un", names, count), "nu");
    assert_null(gram_suggest("lengthscale", names, count));
    assert_null(gram_suggest("x", names, count));
    assert_null(gram_suggest("", names, count));
    assert_null(gram_suggest("ell", names, 0));
    char word[300];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_null(gram_suggest(word, names, count));
    char found[GRAM_WORD_SIZE];
    assert_string_equal(gram_suggest_word("scater", " scatter  space boxes", found), "scatter");
    assert_ptr_equal(gram_suggest_word("boxs", "scatter space boxes", found), found);
    assert_null(gram_suggest_word("spectrum", "scatter space boxes", found));
    assert_null(gram_suggest_word("scatter", "", found));
    assert_null(gram_suggest_word("a", word, found));
}

static void test_bytes_parse(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } sizes[] = {{"1", 1},
                 {"100000", 100000},
                 {"8G", (uint64_t)8 << 30},
                 {"500m", (uint64_t)500 << 20},
                 {"1.5GiB", 3 << 29},
                 {"1000000B", 1000000},
                 {"2T", (uint64_t)2 << 40},
                 {"3KB", 3 << 10}};
    static const char *const none[] = {"", "G", "0", "-8G", "8X", "8GG", "1e99", "8 G", "0.5"};
    uint64_t bytes = 77;
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_true(gram_bytes_parse(sizes[i].text, &bytes));
        if (bytes != sizes[i].bytes) FAIL_TEST("%s is %llu", sizes[i].text, (unsigned long long)bytes);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (gram_bytes_parse(none[i], &bytes)) FAIL_TEST("'%s' is no size", none[i]);
}

static void test_count_format(void **state)
{
    char text[GRAM_NUMBER_SIZE];
    (void)state;
    assert_string_equal(gram_count_format(0, text), "0");
    assert_string_equal(gram_count_format(999, text), "999");
    assert_string_equal(gram_count_format(1000, text), "1,000");
    assert_string_equal(gram_count_format(-1234567, text), "-1,234,567");
    assert_string_equal(gram_count_format(INT64_MIN, text), "-9,223,372,036,854,775,808");
}

int main(void)
{
    setlocale(LC_ALL, "");
    print_message("decimal point here: '%s'\n", localeconv()->decimal_point);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_parse_nothing),
        cmocka_unit_test(test_parse_length),
        cmocka_unit_test(test_long_digits),
        cmocka_unit_test(test_round_trip_bits),
        cmocka_unit_test(test_round_trip_digits),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_bytes_parse),
        cmocka_unit_test(test_count_format),
        cmocka_unit_test(test_suggest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
