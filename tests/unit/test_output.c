/* Texts that grow or only count, and JSON: for reports, and exactly, for files that are read again. */
#include <math.h>
#include <string.h>

#include "support.h"

static void texts_grow(void **state)
{
    gram_string text = {0};
    (void)state;
    for (int i = 0; i < 1000; i++) gram_string_add(&text, "%d%s", i, ",");
    assert_int_equal(text.length, 10 * 2 + 90 * 3 + 900 * 4);
    assert_int_equal(text.data[text.length], '\0');
    assert_int_equal(strncmp(text.data + 20, "10,11,", 6), 0);
    assert_false(text.failed);
    gram_string_free(&text);
    assert_null(text.data);
    assert_int_equal(text.length, 0);
}

static void fixed_texts_count_what_does_not_fit(void **state)
{
    char room[4] = "....";
    gram_string counted = {.fixed = 1}, text = {.fixed = 1, .data = room, .room = 3};
    (void)state;
    gram_string_put(&counted, "abcdef", 6);
    assert_int_equal(counted.length, 6);
    assert_null(counted.data);
    gram_string_put(&text, "ab", 2);
    gram_string_put(&text, "c", 1);
    gram_string_put(&text, "d", 1);
    assert_int_equal(text.length, 4);
    assert_memory_equal(room, "abc.", 4);
}

static void fields_are_quoted_if_need_be(void **state)
{
    gram_string text = {0};
    (void)state;
    gram_string_add_field(&text, "plain");
    gram_string_add_field(&text, " a \"b\", c");
    assert_string_equal(text.data, "plain\" a \"\"b\"\", c\"");
    gram_string_free(&text);
}

static void padding_counts_characters_of_the_line(void **state)
{
    gram_string text = {0};
    (void)state;
    gram_string_add(&text, "first\n\xc3\xa4\xc3\xb6");
    gram_string_pad(&text, 4);
    gram_string_add(&text, "|");
    gram_string_pad(&text, 2);
    assert_string_equal(text.data, "first\n\xc3\xa4\xc3\xb6  | ");
    assert_int_equal(gram_string_width(text.data, text.length), 6 + 6);
    gram_string_free(&text);
}

static void write_object(gram_json *json)
{
    gram_json_open(json, NULL, '{');
    gram_json_string(json, "a\"", "\\ \x01 \xc3\xa4 \xff");
    gram_json_open(json, "b", '[');
    gram_json_number(json, NULL, 2);
    gram_json_number(json, NULL, 0.3);
    gram_json_number(json, NULL, NAN);
    gram_json_integer(json, NULL, INT64_MIN);
    gram_json_close(json, '[');
    gram_json_truth(json, "c", 7);
    gram_json_truth(json, "d", 0);
    gram_json_null(json, "e");
    gram_json_close(json, '{');
}

static void json_is_for_reports_or_exact(void **state)
{
    gram_string text = {0};
    (void)state;
    write_object(&(gram_json){.text = &text});
    assert_string_equal(text.data, "{\"a\\\"\": \"\\\\ \\u0001 \xc3\xa4 \\ufffd\", "
                                   "\"b\": [2, 0.3, null, -9223372036854775808], "
                                   "\"c\": true, \"d\": false, \"e\": null}");
    gram_string_free(&text);
    write_object(&(gram_json){.text = &text, .exact = 1});
    assert_string_equal(text.data, "{\"a\\\"\": \"\\\\ \\u0001 \xc3\xa4 \\udbff\\udfff\", "
                                   "\"b\": [2.0, 0.3, null, -9223372036854775808], "
                                   "\"c\": true, \"d\": false, \"e\": null}");
    gram_string_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_grow),
        cmocka_unit_test(fixed_texts_count_what_does_not_fit),
        cmocka_unit_test(fields_are_quoted_if_need_be),
        cmocka_unit_test(padding_counts_characters_of_the_line),
        cmocka_unit_test(json_is_for_reports_or_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
