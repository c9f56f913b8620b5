/* Texts that grow or only count, and JSON: for reports, and exactly, for files that are read again. */
#include <dirent.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static void json_has_arrays_and_null(void **state)
{
    const char *const names[] = {"a", "b"};
    const double values[] = {1, 7, NAN, 7, 3};
    gram_string text = {0};
    gram_json json = {.text = &text};
    (void)state;
    gram_json_open(&json, NULL, '{');
    gram_json_strings(&json, "names", 2, names);
    gram_json_numbers(&json, "values", 3, values, 2);
    gram_json_numbers(&json, "none", 0, NULL, 1);
    gram_json_string(&json, "absent", NULL);
    gram_json_close(&json, '{');
    assert_string_equal(text.data, "{\"names\": [\"a\", \"b\"], \"values\": [1, null, 3], \"none\": [], "
                                   "\"absent\": null}");
    gram_string_free(&text);
}

static void characters_have_lengths(void **state)
{
    (void)state;
    assert_int_equal(gram_utf8_length("a"), 1);
    assert_int_equal(gram_utf8_length("\xc3\xa4x"), 2);
    assert_int_equal(gram_utf8_length("\xe2\x82\xac"), 3);
    assert_int_equal(gram_utf8_length("\xff"), 0);
    assert_int_equal(gram_utf8_length("\xc3"), 0); /* cut off */
}

/* ---- a file that is put in its place whole ---- */

static char folder[64], path[128];

static void write_old(void)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "old");
    fclose(file);
}

static void has(const char *wanted)
{
    char text[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_int_equal(length, strlen(wanted));
    assert_string_equal(text, wanted);
}

static int files_in_folder(void)
{
    int count = 0;
    DIR *open = opendir(folder);
    assert_non_null(open);
    while (readdir(open)) count++;
    closedir(open);
    return count - 2;
}

static void files_are_replaced_whole_or_not_at_all(void **state)
{
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_aside *aside = NULL;
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/gram-output-%d", (int)getpid());
    snprintf(path, sizeof path, "%s/file", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    write_old();
    OK(context, gram_aside_create(context, path, &aside));
    OK(context, gram_aside_put(context, aside, "half", 4));
    has("old");
    gram_aside_destroy(aside); /* not finished */
    has("old");
    assert_int_equal(files_in_folder(), 1);
    OK(context, gram_aside_create(context, path, &aside));
    OK(context, gram_aside_put(context, aside, "new", 3));
    OK(context, gram_aside_put(context, aside, "er", 2));
    OK(context, gram_aside_finish(context, aside));
    gram_aside_destroy(aside);
    has("newer");
    assert_int_equal(files_in_folder(), 1);
    REFUSED(context, gram_aside_create(context, folder, &aside), GRAM_ERROR_FILE, "it is a folder");
    assert_null(aside);
    gram_aside_destroy(NULL);
    remove(path);
    rmdir(folder);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_grow),
        cmocka_unit_test(fixed_texts_count_what_does_not_fit),
        cmocka_unit_test(fields_are_quoted_if_need_be),
        cmocka_unit_test(padding_counts_characters_of_the_line),
        cmocka_unit_test(json_is_for_reports_or_exact),
        cmocka_unit_test(json_has_arrays_and_null),
        cmocka_unit_test(characters_have_lengths),
        cmocka_unit_test(files_are_replaced_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
