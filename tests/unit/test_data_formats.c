/* LIBSVM's text and .npy: as a whole, by wanted columns, by blocks. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

static gram_status read_svm(gram_context *context, const char *text, const gram_table_options *options,
                            gram_table **table)
{
    return gram_table_read_memory(context, "d.libsvm", text, strlen(text), options, table);
}

static void check_numbers(const gram_table *table, int64_t n, int64_t d, const double *wanted)
{
    assert_int_equal(gram_table_rows(table), n);
    assert_int_equal(gram_table_columns(table), d);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++)
            assert_true(gram_table_numbers(table)[i * gram_table_ld(table) + j] == wanted[i * d + j]);
}

static void test_svm(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *table;
    const char *text = "# heart\n+1 1:0.5 3:-2 # a comment\r\n\n-1\t2:1e2\n 0.25 \n";
    OK(context, read_svm(context, text, NULL, &table));
    const double all[] = {0.5, 0, -2, 1, 0, 100, 0, -1, 0, 0, 0, 0.25};
    check_numbers(table, 3, 4, all);
    assert_string_equal(gram_table_column_name(table, 2), "x3");
    assert_string_equal(gram_table_column_name(table, 3), "y");
    assert_int_equal(gram_table_line(table, 0), 2);
    assert_int_equal(gram_table_line(table, 2), 5);
    assert_true(gram_table_has_header(table));
    gram_table_destroy(table);

    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    options.features = "y,x2";
    OK(context, read_svm(context, text, &options, &table));
    const double some[] = {1, 0, -1, 100, 0.25, 0};
    check_numbers(table, 3, 2, some);
    gram_table_destroy(table);

    /* wanted: an index that the file has not is 0, a name that no such file has is absent */
    gram_table_options_init(&options, sizeof options);
    const gram_wanted wanted[] = {{.name = "x7", .text = 0, .optional = 0},
                                  {.name = "x3", .text = 0, .optional = 0},
                                  {.name = "age", .text = 0, .optional = 1},
                                  {.name = "y", .text = 0, .optional = 1}};
    options.wanted = wanted;
    options.wanted_count = 4;
    const double chosen[] = {0, -2, 1, 0, 0, -1, 0, 0, 0.25};
    OK(context, read_svm(context, text, &options, &table));
    check_numbers(table, 3, 3, chosen);
    gram_table_destroy(table);
    gram_reader *reader;
    const gram_table *block;
    OK(context, gram_reader_open_memory(context, "d.svm", text, strlen(text), &options, &reader));
    OK(context, gram_reader_next(context, reader, 2, &block));
    check_numbers(block, 2, 3, chosen);
    OK(context, gram_reader_next(context, reader, 2, &block));
    check_numbers(block, 1, 3, chosen + 6);
    assert_int_equal(gram_table_line(block, 0), 5);
    OK(context, gram_reader_next(context, reader, 2, &block));
    assert_null(block);
    gram_reader_close(reader);
    const gram_wanted absent[] = {{.name = "age", .text = 0, .optional = 0}};
    options.wanted = absent;
    options.wanted_count = 1;
    assert_int_equal(read_svm(context, text, &options, &table), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context),
                        "d.libsvm: no column 'age', which is needed; LIBSVM's text has x1, x2, ... and y");
    assert_int_equal(gram_reader_open_memory(context, "d.svm", text, strlen(text), NULL, &reader), GRAM_ERROR_ARGUMENT);
    /* labels as categories */
    gram_table_options_init(&options, sizeof options);
    options.categories = "y";
    OK(context, read_svm(context, "2 1:1\n-1 1:2\n2 1:3\n", &options, &table));
    assert_int_equal(gram_table_level_count(table, 1), 2);
    assert_string_equal(gram_table_level(table, 1, 0), "-1");
    assert_true(gram_table_numbers(table)[1] == 1 && gram_table_numbers(table)[3] == 0);
    gram_table_destroy(table);
    gram_context_destroy(context);
}

static void test_bad_svm(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "d.libsvm: the file is empty"},
        {"# nothing\n\n", "d.libsvm: the file is empty"},
        {"1\n2\n", "d.libsvm: no line has an index and a value"},
        {"1 1:2\n1:2\n", "d.libsvm:2: the label is missing: '1:2'"},
        {"1 1:2\nabc 1:2\n", "d.libsvm:2: not a number: 'abc'"},
        {"1 1:2\n\n1 2:x\n", "d.libsvm:3: not a number: '2:x'"},
        {"1 1:\n", "d.libsvm:1: not a number: '1:'"},
        {"1 0:3\n", "d.libsvm:1: indices count from 1: '0:3'"},
        {"1 2:3 2:4\n", "d.libsvm:1: the indices do not ascend: '2:4'"},
        {"1 2:3 1:4\n", "d.libsvm:1: the indices do not ascend: '1:4'"},
        {"1 -1:3\n", "d.libsvm:1: not an index and a value, as in 7:0.5: '-1:3'"},
        {"1 qid:3 1:2\n", "d.libsvm:1: not an index and a value, as in 7:0.5: 'qid:3'"},
        {"1 5\n", "d.libsvm:1: not an index and a value, as in 7:0.5: '5'"},
        {"1 :5\n", "d.libsvm:1: not an index and a value, as in 7:0.5: ':5'"},
        {"1 99999999999999999999:5\n", "d.libsvm:1: the index is too large for a column: '99999999999999999999:5'"},
        {"1 1:nan\n", "d.libsvm:1: missing value: '1:nan'"},
        {"1 1:1e999\n", "d.libsvm:1: not a finite number: '1:1e999'"},
        {"\"1\n", "d.libsvm:1: not a number: '\"1'"},
    };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    const size_t before = gram_context_memory_used(context);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        gram_table *table;
        assert_int_equal(read_svm(context, cases[k].text, NULL, &table), GRAM_ERROR_DATA);
        assert_string_equal(gram_context_message(context), cases[k].message);
        assert_int_equal(gram_context_memory_used(context), before);
    }
    gram_context_destroy(context);
}

/* A model learnt from LIBSVM's text, applied to a file with fewer and with more indices. */
static void test_svm_preparation(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *table, *other;
    gram_preparation *preparation;
    gram_prepared *prepared;
    gram_table_options options;
    OK(context, read_svm(context, "1 1:1 2:4\n2 1:3 2:0\n", NULL, &table));
    OK(context, gram_preparation_learn(context, table, NULL, &preparation));
    gram_table_options_init(&options, sizeof options);
    gram_preparation_reading(preparation, &options);
    for (int k = 0; k < 2; k++) {
        OK(context, read_svm(context, k ? "0 1:3 9:1\n" : "0 1:3\n", &options, &other));
        OK(context, gram_preparation_apply(context, preparation, other, 0, &prepared));
        assert_true(prepared->d == 2 && prepared->x[0] == 1 && prepared->x[1] == -1 && prepared->y[0] == 0);
        gram_prepared_destroy(prepared);
        gram_table_destroy(other);
    }
    gram_preparation_release(preparation);
    gram_table_destroy(table);
    gram_context_destroy(context);
}

/* ---- .npy by blocks ---- */

typedef struct bytes {
    unsigned char data[8192];
    size_t length;
} bytes;

enum { N = 50, D = 3 };

static double cell(int i, int j)
{
    return i + j / 8.0;
}

static void make_npy(bytes *file, int single, int fortran)
{
    char header[129];
    memset(header, ' ', 128);
    const int length = sprintf(header + 10, "{'descr': '<f%d', 'fortran_order': %s, 'shape': (%d, %d), }",
                               single ? 4 : 8, fortran ? "True" : "False", N, D);
    header[10 + length] = ' ';
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    header[127] = '\n';
    memcpy(file->data, header, 128);
    file->length = 128;
    for (int k = 0; k < N * D; k++) {
        const double wide = fortran ? cell(k % N, k / N) : cell(k / D, k % D);
        const float narrow = (float)wide;
        memcpy(file->data + file->length, single ? (const void *)&narrow : &wide, single ? 4 : 8);
        file->length += single ? 4 : 8;
    }
}

static void test_npy_blocks(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int k = 0; k < 16; k++) {
        const int chosen = k / 8, from_file = k / 4 % 2;
        bytes file;
        char path[] = "/tmp/gram-npy-XXXXXX.npy";
        gram_reader *reader;
        const gram_table *block;
        gram_table_options options;
        int rows = 0;
        make_npy(&file, k % 2, k / 2 % 2);
        gram_table_options_init(&options, sizeof options);
        if (chosen) options.features = "x3,x1";
        if (from_file) {
            const int descriptor = mkstemps(path, 4);
            assert_int_equal(write(descriptor, file.data, file.length), file.length);
            close(descriptor);
            OK(context, gram_reader_open(context, path, &options, &reader));
        } else {
            OK(context, gram_reader_open_memory(context, "d.npy", file.data, file.length, &options, &reader));
        }
        for (;;) {
            OK(context, gram_reader_next(context, reader, 7, &block));
            if (!block) break;
            for (int i = 0; i < gram_table_rows(block); i++, rows++)
                for (int j = 0; j < gram_table_columns(block); j++)
                    assert_true(gram_table_numbers(block)[i * gram_table_ld(block) + j] ==
                                cell(rows, chosen ? 2 - 2 * j : j));
            assert_int_equal(gram_table_line(block, 0), 0);
        }
        assert_int_equal(rows, N);
        gram_reader_close(reader);
        if (from_file) unlink(path);
    }
    gram_context_destroy(context);
}

/* Missing values by row, also in a later block; numbers as categories. */
static void test_npy_values(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    bytes file;
    const double nan = NAN;
    make_npy(&file, 0, 0);
    memcpy(file.data + 128 + 8 * (20 * D + 1), &nan, 8);
    gram_reader *reader;
    gram_table *table;
    const gram_table *block;
    gram_table_options options;
    OK(context, gram_reader_open_memory(context, "d.npy", file.data, file.length, NULL, &reader));
    OK(context, gram_reader_next(context, reader, 20, &block));
    assert_int_equal(gram_reader_next(context, reader, 20, &block), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "d.npy: row 21, column 'x2': missing value: 'nan'");
    gram_reader_close(reader);
    gram_table_options_init(&options, sizeof options);
    options.keep_missing = 1;
    options.categories = "x2";
    OK(context, gram_table_read_memory(context, "d.npy", file.data, file.length, &options, &table));
    assert_int_equal(gram_table_level_count(table, 1), N - 1);
    assert_string_equal(gram_table_level(table, 1, 0), "0.125");
    assert_true(isnan(gram_table_numbers(table)[20 * D + 1]) && gram_table_numbers(table)[1] == 0);
    gram_preparation *preparation;
    assert_int_equal(gram_preparation_learn(context, table, NULL, &preparation), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "d.npy: row 21, column 'x2': missing value");
    gram_table_destroy(table);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_svm),        cmocka_unit_test(test_bad_svm),    cmocka_unit_test(test_svm_preparation),
        cmocka_unit_test(test_npy_blocks), cmocka_unit_test(test_npy_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
