/* Tables from delimited text: what is read, what is refused and with which words, columns by list, standardising. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oom.h"
#include "support.h"

static gram_status read_with(gram_context *context, const char *text, size_t length, const char *features,
                             const char *ignore, gram_table **table)
{
    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    options.features = features;
    options.ignore = ignore;
    return gram_table_read_memory(context, "data.csv", text, length, &options, table);
}

static gram_status read_text(gram_context *context, const char *text, gram_table **table)
{
    return read_with(context, text, strlen(text), NULL, NULL, table);
}

/* ---- what is read: always 2 rows of 1, 2.5, -3e-2 and 4, 5, 6, or their first columns ---- */

typedef struct good_case {
    const char *text;
    int d;
    const char *names;
} good_case;

static const good_case good_cases[] = {
    {"1,2.5,-3e-2\n4,5,6\n", 3, "x1 x2 x3"},
    {"1,2.5,-3e-2\n4,5,6", 3, "x1 x2 x3"},
    {"1;2.5;-.03\r\n4;5;6.\r\n", 3, "x1 x2 x3"},
    {"1\t2.5\t-0.03\n4\t5\t6\n", 3, "x1 x2 x3"},
    {"\xEF\xBB\xBFx,y,z\n1,2.5,-3e-2\n4,5,6\n", 3, "x y z"},
    {"# a comment, with \"a quote\n\n a , b ,c\n  \n1, 2.5 ,-3e-2\n# another\n4,5,6\n\n\n", 3, "a b c"},
    {"\"a\"\"b\",\"c,d\",\"e\nf\"\n\"1\",2.5, \"-3e-2\" \n4,5,6\n", 3, "a\"b c,d e\nf"},
    {"a,,c\n1,2.5,-3e-2\n4,5,6\n", 3, "a x2 c"},
    {"a;b\n1;2.5\n4;5\n", 2, "a b"},
    {"a (x;y),b\n1,2.5\n4,5\n", 2, "a (x;y) b"},
    {"1\n4\n", 1, "x1"},
    {"only\n1\n4\n", 1, "only"},
    {"5\" pipe,b\n1,2.5\n4,5\n", 2, "5\" pipe b"},
    {"country,2001\n+1,2.5\n4e0,5E+0\n", 2, "country 2001"},
};

static void test_good(void **state)
{
    (void)state;
    static const double numbers[2][3] = {{1, 2.5, -0.03}, {4, 5, 6}};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (size_t k = 0; k < sizeof good_cases / sizeof *good_cases; k++) {
        gram_table *table;
        char names[64] = "";
        OK(context, read_text(context, good_cases[k].text, &table));
        assert_int_equal(gram_table_rows(table), 2);
        assert_int_equal(gram_table_columns(table), good_cases[k].d);
        assert_int_equal(gram_table_ld(table), good_cases[k].d);
        for (int j = 0; j < good_cases[k].d; j++) {
            strcat(names, j ? " " : "");
            strcat(names, gram_table_column_name(table, j));
            for (int i = 0; i < 2; i++)
                assert_true(gram_table_numbers(table)[i * good_cases[k].d + j] == numbers[i][j]);
        }
        assert_string_equal(names, good_cases[k].names);
        gram_table_destroy(table);
    }
    gram_table_destroy(NULL);
    gram_context_destroy(context);
}

/* ---- what is refused ---- */

typedef struct bad_case {
    const char *text, *message;
} bad_case;

static const bad_case bad_cases[] = {
    {"", "data.csv: the file is empty"},
    {"\n  \n# nothing\n", "data.csv: the file is empty"},
    {"x,y\n", "data.csv: no rows after the header"},
    {"x1,x2,x3\n1,2,3\n4,5,abc\n", "data.csv:3: column 'x3': not a number: 'abc'"},
    {"# one\n\nx,y\n1,2\n\n3,\n", "data.csv:6: column 'y': missing value"},
    {"x,y\n1,NA\n", "data.csv:2: column 'y': missing value: 'NA'"},
    {"1,2\nnan,2\n", "data.csv:2: column 'x1': missing value: 'nan'"},
    {"NA,2\n", "data.csv:1: column 'x1': missing value: 'NA'"},
    {"1,-inf\n", "data.csv:1: column 'x2': not a finite number: '-inf'"},
    {"1,1e999\n", "data.csv:1: column 'x2': not a finite number: '1e999'"},
    {"1,2\n1,0x10\n", "data.csv:2: column 'x2': not a number: '0x10'"},
    {"a;b\n1,5;2.5\n", "data.csv:2: column 'a': not a number: '1,5'"},
    {"a;b\n1,500;2\n", "data.csv:2: column 'a': not a number: '1,500'"},
    {"1,2\n1 2,3\n", "data.csv:2: column 'x1': not a number: '1 2'"},
    {"1,2\n3\n", "data.csv:2: 1 field, expected 2"},
    {"1,2\n3,4\n5,6,7\n", "data.csv:3: 3 fields, expected 2"},
    {"a,b,a\n1,2,3\n", "data.csv: columns 1 and 3 are both named 'a'"},
    {"x2,\n1,2\n", "data.csv: columns 1 and 2 are both named 'x2'"},
    {"a,b\n1,\"2\n3,4\n", "data.csv:2: a quoted field does not end"},
    {"a,b\n1,\"2\"3\n", "data.csv:2: text after a closing quote"},
    {"\"a\"b,c\n1,2\n", "data.csv:1: text after a closing quote"},
    {"a,\"b\nc\"\n1,2\n3,x\n", "data.csv:4: column 'b\nc': not a number: 'x'"},
    {"\xFF\xFE"
     "1",
     "data.csv: the text is UTF-16; it must be UTF-8 or plain ASCII"},
    {"\x93NUMPY", "data.csv: this is an .npy file, not delimited text"},
    {"\x1F\x8B", "data.csv: the compressed file is cut off"},
    {"a\nan extremely long field that does not end where a message would like it to end\n",
     "data.csv:2: column 'a': not a number: 'an extremely long field that does not end wh...'"},
    {"a\nb\x01"
     "c\n",
     "data.csv:2: column 'a': not a number: 'b?c'"},
};

static void test_bad(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    const size_t before = gram_context_memory_used(context);
    for (size_t k = 0; k < sizeof bad_cases / sizeof *bad_cases; k++) {
        gram_table *table = (gram_table *)context;
        assert_int_equal(read_text(context, bad_cases[k].text, &table), GRAM_ERROR_DATA);
        assert_string_equal(gram_context_message(context), bad_cases[k].message);
        assert_null(table);
        assert_int_equal(gram_context_memory_used(context), before);
    }
    gram_table *table;
    assert_int_equal(read_with(context, "a\0b,c\n1,2\n", 10, NULL, NULL, &table), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "data.csv:1: the name of column 1 holds a zero byte");
    assert_int_equal(read_with(context, "a,b\n1,2\0\n", 9, NULL, NULL, &table), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "data.csv:2: column 'b': not a number: '2?'");
    gram_context_destroy(context);
}

/* ---- larger than the buffer ---- */

enum { ROWS = 30000, COLUMNS = 5 };

static double cell(int i, int j)
{
    return (i * 7919 % 10007) / 64.0 - j;
}

/* Rows with a quoted number now and then; one of them over three lines. */
static char *long_text(size_t *length)
{
    char *text = malloc(ROWS * COLUMNS * 24 + 400000);
    char digits[GRAM_NUMBER_SIZE], *end = text;
    assert_non_null(text);
    end += sprintf(end, "\"first\n\n\",b,c,d,e\n");
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            end += sprintf(end, (i + j) % 5 ? "%s%c" : "\"%s\"%c", gram_number_format(cell(i, j), digits),
                           j + 1 < COLUMNS ? ',' : '\n');
    *length = (size_t)(end - text);
    return text;
}

static void test_long(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *table;
    size_t length;
    char *text = long_text(&length);
    OK(context, read_with(context, text, length, NULL, NULL, &table));
    assert_int_equal(gram_table_rows(table), ROWS);
    assert_int_equal(gram_table_columns(table), COLUMNS);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) assert_true(gram_table_numbers(table)[i * COLUMNS + j] == cell(i, j));
    /* the numbers, little more, and the buffer */
    assert_true(gram_context_memory_peak(context) < ROWS * COLUMNS * 8 * 13 / 10 + (512 << 10));
    gram_table_destroy(table);

    text[length - 2] = '?';
    assert_int_equal(read_with(context, text, length, NULL, NULL, &table), GRAM_ERROR_DATA);
    char expected[64];
    snprintf(expected, sizeof expected, "data.csv:%d: column 'e': not a number", ROWS + 3);
    assert_memory_equal(gram_context_message(context), expected, strlen(expected));
    free(text);
    gram_context_destroy(context);
}

/* One record that is longer than the buffer, and one that is too long for any. */
static void test_long_record(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *table;
    const int d = 200000;
    const size_t too_long = (size_t)70 << 20;
    char *text = malloc(too_long);
    assert_non_null(text);
    for (int j = 0; j < d; j++) memcpy(text + 4 * j, j + 1 < d ? "0.5," : "0.5\n", 4);
    OK(context, read_with(context, text, 4 * (size_t)d, NULL, NULL, &table));
    assert_int_equal(gram_table_rows(table), 1);
    assert_int_equal(gram_table_columns(table), d);
    assert_true(gram_table_numbers(table)[d - 1] == 0.5);
    assert_string_equal(gram_table_column_name(table, d - 1), "x200000");
    gram_table_destroy(table);
    memset(text, '1', too_long);
    memcpy(text, "a,b\n\"", 5);
    assert_int_equal(read_with(context, text, too_long, NULL, NULL, &table), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "data.csv:2: a line of more than 64 MiB; is a quote left open?");
    free(text);
    gram_context_destroy(context);
}

/* ---- columns ---- */

typedef struct list_case {
    const char *list;
    gram_status status;
    const char *result; /* places from 0, or the message */
} list_case;

static const list_case list_cases[] = {
    {"alpha", GRAM_OK, "0"},
    {"4,1", GRAM_OK, "3 0"},
    {"alpha,b:7", GRAM_OK, "0 1 2 3"}, /* a column is called 7: the name goes before the place */
    {"c:d", GRAM_OK, "4"},             /* and one c:d */
    {"2:3,5", GRAM_OK, "1 2 4"},
    {"alpah", GRAM_ERROR_DATA, "data.csv: no column 'alpah', did you mean 'alpha'?"},
    {"zzz", GRAM_ERROR_DATA, "data.csv: no column 'zzz', there are 'alpha', 'b', 'gamma', '7', 'c:d'"},
    {"6", GRAM_ERROR_DATA, "data.csv: no column 6, there are 5"},
    {"0", GRAM_ERROR_DATA, "data.csv: no column 0, there are 5"},
    {"99999999999999999999", GRAM_ERROR_DATA, NULL},
    {"2:9", GRAM_ERROR_DATA, "data.csv: no column 9, there are 5"},
    {"", GRAM_ERROR_SYNTAX, "columns '': an item is empty"},
    {"b,,gamma", GRAM_ERROR_SYNTAX, "columns 'b,,gamma': an item is empty"},
    {"b:", GRAM_ERROR_SYNTAX, "columns 'b:': a range has two ends, as in 2:5"},
    {"3:2", GRAM_ERROR_SYNTAX, "columns '3:2': the range runs backwards"},
    {"1:3,b", GRAM_ERROR_SYNTAX, "columns '1:3,b': 'b' is given twice"},
};

static void test_lists(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *table;
    int64_t columns[5], count;
    OK(context, read_text(context, "alpha,b,gamma,7,c:d\n1,2,3,4,5\n", &table));
    for (size_t k = 0; k < sizeof list_cases / sizeof *list_cases; k++) {
        char found[64] = "";
        assert_int_equal(gram_table_find_columns(context, table, list_cases[k].list, columns, &count),
                         list_cases[k].status);
        for (int64_t i = 0; i < count && list_cases[k].status == GRAM_OK; i++)
            sprintf(found + strlen(found), i ? " %d" : "%d", (int)columns[i]);
        if (list_cases[k].result)
            assert_string_equal(list_cases[k].status == GRAM_OK ? found : gram_context_message(context),
                                list_cases[k].result);
    }
    gram_table_destroy(table);
    gram_context_destroy(context);
}

static void check_row(const gram_table *table, const char *names, const char *numbers)
{
    char have_names[64] = "", have[64] = "", digits[GRAM_NUMBER_SIZE];
    for (int64_t i = 0; i < gram_table_rows(table); i++)
        for (int64_t j = 0; j < gram_table_columns(table); j++) {
            if (i == 0) strcat(strcat(have_names, gram_table_column_name(table, j)), " ");
            strcat(strcat(have, gram_number_format(gram_table_numbers(table)[i * gram_table_ld(table) + j], digits)),
                   " ");
        }
    assert_string_equal(have_names, names);
    assert_string_equal(have, numbers);
}

/* The same choice while reading (where what is ignored need not be numbers) and afterwards. */
static void test_select(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *table;
    const char *text = "a,b,c,d\n1,2,3,4\n5,6,7,8\n", *mixed = "a,b,c,d\n1,x,3,4\n5,,7,8\n";
    OK(context, read_text(context, text, &table));
    OK(context, gram_table_select(context, table, NULL, NULL));
    check_row(table, "a b c d ", "1 2 3 4 5 6 7 8 ");
    assert_int_equal(gram_table_select(context, table, "a:b", "2,a"), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "data.csv: no column is left");
    check_row(table, "a b c d ", "1 2 3 4 5 6 7 8 ");
    OK(context, gram_table_select(context, table, "d,c,a", "c,b"));
    check_row(table, "d a ", "4 1 8 5 ");
    OK(context, gram_table_select(context, table, NULL, "1"));
    check_row(table, "a ", "1 5 ");
    gram_table_destroy(table);

    OK(context, read_with(context, mixed, strlen(mixed), NULL, "b", &table));
    check_row(table, "a c d ", "1 3 4 5 7 8 ");
    gram_table_destroy(table);
    OK(context, read_with(context, mixed, strlen(mixed), "d,c,a", "c", &table));
    check_row(table, "d a ", "4 1 8 5 ");
    gram_table_destroy(table);
    assert_int_equal(read_with(context, mixed, strlen(mixed), "b,c", NULL, &table), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "data.csv:2: column 'b': not a number: 'x'");
    assert_int_equal(read_with(context, mixed, strlen(mixed), "1:2", "1:2", &table), GRAM_ERROR_DATA);
    gram_context_destroy(context);
}

static void test_standardise(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *table;
    double mean[3], deviation[3];
    OK(context, read_text(context, "1,0.1,1e9\n2,0.1,1000000001\n3,0.1,1000000002\n6,0.1,1000000001\n", &table));
    OK(context, gram_table_standardise(context, table, mean, deviation));
    assert_true(mean[0] == 3 && mean[1] == 0.1 && mean[2] == 1000000001);
    assert_true(fabs(deviation[0] - sqrt(3.5)) < 1e-15 && deviation[1] == 1);
    assert_true(fabs(deviation[2] - sqrt(0.5)) < 1e-15);
    const double *x = gram_table_numbers(table);
    for (int i = 0; i < 4; i++) assert_true(x[3 * i + 1] == 0);
    assert_true(fabs(x[0] + 2 / sqrt(3.5)) < 1e-15 && fabs(x[9] - 3 / sqrt(3.5)) < 1e-15);
    assert_true(fabs(x[2] + sqrt(2)) < 1e-15);
    OK(context, gram_table_standardise(context, table, NULL, NULL));
    gram_table_destroy(table);
    OK(context, read_text(context, "1e308\n-1e308\n", &table));
    assert_int_equal(gram_table_standardise(context, table, NULL, NULL), GRAM_ERROR_DATA);
    assert_true(gram_table_numbers(table)[0] == 1e308);
    gram_table_destroy(table);
    gram_context_destroy(context);
}

/* ---- files ---- */

static void test_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/gram-table-XXXXXX", path[64];
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *table;
    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/Data.CSV", folder);
    REFUSED(context, gram_table_read(context, path, NULL, &table), GRAM_ERROR_FILE, "Data.CSV: cannot be opened: ");
    assert_non_null(strstr(gram_context_message(context), strerror(ENOENT)));
    test_write_file(path, "x,y\n1,2\n", sizeof "x,y\n1,2\n" - 1);
    OK(context, gram_table_read(context, path, NULL, &table));
    check_row(table, "x y ", "1 2 ");
    gram_table_destroy(table);
    unlink(path);

    snprintf(path, sizeof path, "%s/data.dat", folder);
    test_write_file(path, "1;2\n", sizeof "1;2\n" - 1);
    REFUSED(context, gram_table_read(context, path, NULL, &table), GRAM_ERROR_DATA,
            "data.dat: its ending does not tell its format");
    options.format = GRAM_FORMAT_TSV;
    OK(context, gram_table_read(context, path, &options, &table));
    check_row(table, "x1 x2 ", "1 2 ");
    gram_table_destroy(table);
    unlink(path);

    assert_int_equal(gram_table_read(context, folder, &options, &table), GRAM_ERROR_FILE);
    assert_non_null(strstr(gram_context_message(context), strerror(EISDIR)));
    options.format = (gram_format)77;
    assert_int_equal(gram_table_read(context, path, &options, &table), GRAM_ERROR_ARGUMENT);
    options.size = 3;
    assert_int_equal(gram_table_read(context, path, &options, &table), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_table_read(context, NULL, NULL, &table), GRAM_ERROR_ARGUMENT);
    rmdir(folder);
    gram_context_destroy(context);
}

static void test_cancel_and_budget(void **state)
{
    (void)state;
    char path[] = "/tmp/gram-table-XXXXXX.csv";
    gram_table *table;
    const int descriptor = mkstemps(path, 4);
    assert_true(descriptor >= 0 && close(descriptor) == 0);
    test_write_file(path, "1,2\n", sizeof "1,2\n" - 1);
    gram_context *context = TEST_CONTEXT(.cancel = test_stop);
    assert_int_equal(gram_table_read(context, path, NULL, &table), GRAM_ERROR_CANCELLED);
    gram_context_destroy(context);
    unlink(path);

    size_t length;
    char *text = long_text(&length);
    context = TEST_CONTEXT(.memory_budget = ROWS * COLUMNS * 8);
    REFUSED(context, read_with(context, text, length, NULL, NULL, &table), GRAM_ERROR_BUDGET, "data.csv: needs ");
    gram_context_destroy(context);
    free(text);
}

/* ---- each allocation failing in turn ---- */

static void test_no_memory(void **state)
{
    (void)state;
    const char *text = "a,b,c\n1,x,3\n5,,7\n";
    gram_status status = GRAM_ERROR_MEMORY;
    long long k = 0;
    for (; status == GRAM_ERROR_MEMORY; k++) {
        oom_book book = {.fail_at = k};
        const gram_context_options options = {.size = sizeof options, .allocator = oom_allocator(&book)};
        gram_context *context;
        gram_table *table = NULL;
        status = gram_context_create(&options, &context);
        if (status == GRAM_OK) status = read_with(context, text, strlen(text), "a,c", "b", &table);
        if (status == GRAM_OK) status = gram_table_select(context, table, "c", NULL);
        if (status == GRAM_OK) status = gram_table_standardise(context, table, NULL, NULL);
        assert_true(status == GRAM_OK || status == GRAM_ERROR_MEMORY);
        gram_context_destroy(context);
        gram_table_destroy(table); /* outlives its context */
        oom_nothing_held(&book);
    }
    assert_true(k > 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_long),        cmocka_unit_test(test_long_record),
        cmocka_unit_test(test_lists),       cmocka_unit_test(test_select),
        cmocka_unit_test(test_standardise), cmocka_unit_test(test_files),
        cmocka_unit_test(test_no_memory),   cmocka_unit_test(test_cancel_and_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
