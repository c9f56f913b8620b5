/* NumPy's .npy: what is read and refused, and files that are written aside and appear in one step. */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

/* ---- reading ---- */

typedef struct bytes {
    unsigned char data[4096];
    size_t length;
} bytes;

/* Magic, version, the dictionary padded to 64, then the numbers. */
static void make_file(bytes *file, int version, const char *dictionary, const void *numbers, size_t size)
{
    const size_t prelude = version == 1 ? 10 : 12;
    const size_t total = (prelude + strlen(dictionary) + 1 + 63) / 64 * 64;
    memset(file->data, ' ', total);
    memcpy(file->data, "\x93NUMPY", 6);
    file->data[6] = (unsigned char)version;
    file->data[7] = 0;
    file->data[8] = (unsigned char)((total - prelude) & 255);
    file->data[9] = (unsigned char)((total - prelude) >> 8);
    if (version > 1) file->data[10] = file->data[11] = 0;
    memcpy(file->data + prelude, dictionary, strlen(dictionary));
    file->data[total - 1] = '\n';
    if (size > 0) memcpy(file->data + total, numbers, size);
    file->length = total + size;
}

static gram_status read_bytes(gram_context *context, const bytes *file, const char *features, gram_table **table)
{
    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    options.features = features;
    return gram_table_read_memory(context, "a.npy", file->data, file->length, &options, table);
}

static const double six[6] = {1, 2.5, -3, 4, 1e300, 6};
static const float six_narrow[6] = {1, 2.5f, -3, 4, 0.1f, 6};

static void test_read(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *table;
    bytes file;
    for (int version = 1; version <= 3; version++) {
        make_file(&file, version, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", six, sizeof six);
        OK(context, read_bytes(context, &file, NULL, &table));
        assert_int_equal(gram_table_rows(table), 2);
        assert_int_equal(gram_table_columns(table), 3);
        assert_memory_equal(gram_table_numbers(table), six, sizeof six);
        assert_string_equal(gram_table_column_name(table, 2), "x3");
        gram_table_destroy(table);
    }
    make_file(&file, 1, "{\"shape\":(3,2),'descr':'<f8','fortran_order':True}", six, sizeof six);
    OK(context, read_bytes(context, &file, NULL, &table));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) assert_true(gram_table_numbers(table)[2 * i + j] == six[3 * j + i]);
    gram_table_destroy(table);
    make_file(&file, 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2)}", six_narrow, sizeof six_narrow);
    OK(context, read_bytes(context, &file, "x2", &table));
    for (int i = 0; i < 3; i++) assert_true(gram_table_numbers(table)[i] == (double)six_narrow[3 + i]);
    assert_string_equal(gram_table_column_name(table, 0), "x2");
    gram_table_destroy(table);
    make_file(&file, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", six_narrow, sizeof six_narrow);
    OK(context, read_bytes(context, &file, NULL, &table));
    assert_int_equal(gram_table_rows(table), 6);
    for (int i = 0; i < 6; i++) assert_true(gram_table_numbers(table)[i] == (double)six_narrow[i]);
    gram_table_destroy(table);
    gram_context_destroy(context);
}

typedef struct bad_case {
    const char *dictionary, *message;
    gram_status status;
} bad_case;

#define HEAD "{'descr': '<f8', 'fortran_order': False, "

static const bad_case bad_cases[] = {
    {HEAD "'shape': (2, 4)}", "the file is cut off: 2 x 4 numbers take 64 bytes, 48 are there", GRAM_ERROR_DATA},
    {HEAD "'shape': (2, 2)}", "16 bytes after the end of the array", GRAM_ERROR_DATA},
    {HEAD "'shape': (6)}", "its 'shape' is not a list of sizes", GRAM_ERROR_DATA},
    {HEAD "'shape': (-6,)}", "its 'shape' is not a list of sizes", GRAM_ERROR_DATA},
    {HEAD "'shape': ()}", "an array of 0 dimensions; 1 or 2 are needed", GRAM_ERROR_DATA},
    {HEAD "'shape': (1, 2, 3)}", "an array of 3 dimensions; 1 or 2 are needed", GRAM_ERROR_DATA},
    {HEAD "'shape': (0, 3)}", "no rows", GRAM_ERROR_DATA},
    {HEAD "'shape': (3, 0)}", "no columns", GRAM_ERROR_DATA},
    {HEAD "'shape': (4294967296, 4294967296)}", "4294967296 x 4294967296 numbers are more than can be addressed",
     GRAM_ERROR_OVERFLOW},
    {HEAD "'shape': (99999999999999999999,)}", "its 'shape' is not a list of sizes", GRAM_ERROR_DATA},
    {HEAD "'shape': (2, 3)} x", "its header has text after the dictionary", GRAM_ERROR_DATA},
    {HEAD "'shape': (2, 3), 'more': 1}", "its header has an unknown key", GRAM_ERROR_DATA},
    {HEAD "'shape': (2, 3), 'shape': (2, 3)}", "its header has a key twice", GRAM_ERROR_DATA},
    {HEAD "}", "its header lacks one of 'descr', 'fortran_order', 'shape'", GRAM_ERROR_DATA},
    {HEAD "'shape': (2, 3)", "its header is not a dictionary", GRAM_ERROR_DATA},
    {"(2, 3)", "its header is not a dictionary", GRAM_ERROR_DATA},
    {"{'descr': '>f8', 'fortran_order': False, 'shape': (2, 3)}",
     "numbers of type '>f8'; '<f8' and '<f4' can be read (in NumPy: a.astype('<f8'))", GRAM_ERROR_DATA},
    {"{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (2, 3)}", "its 'descr' is not a plain number type",
     GRAM_ERROR_DATA},
    {"{'descr': '<f8', 'fortran_order': 0, 'shape': (2, 3)}", "its 'fortran_order' is neither True nor False",
     GRAM_ERROR_DATA},
};

static void test_refusals(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *table;
    bytes file;
    const size_t before = gram_context_memory_used(context);
    for (size_t k = 0; k < sizeof bad_cases / sizeof *bad_cases; k++) {
        make_file(&file, 1, bad_cases[k].dictionary, six, sizeof six);
        assert_int_equal(read_bytes(context, &file, NULL, &table), bad_cases[k].status);
        assert_memory_equal(gram_context_message(context), "a.npy: ", 7);
        assert_string_equal(gram_context_message(context) + 7, bad_cases[k].message);
        assert_int_equal(gram_context_memory_used(context), before);
    }
    make_file(&file, 4, HEAD "'shape': (2, 3)}", six, sizeof six);
    assert_int_equal(read_bytes(context, &file, NULL, &table), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "a.npy: version 4.0 of .npy is not known");
    make_file(&file, 2, HEAD "'shape': (2, 3)}", six, sizeof six);
    file.data[11] = 1;
    REFUSED(context, read_bytes(context, &file, NULL, &table), GRAM_ERROR_DATA, "bytes is too long");
    make_file(&file, 1, HEAD "'shape': (2, 3)}", six, sizeof six);
    for (size_t length = 0; length < file.length; length++) {
        bytes cut = file;
        cut.length = length;
        assert_int_equal(read_bytes(context, &cut, NULL, &table), GRAM_ERROR_DATA);
    }
    gram_context_destroy(context);
}

static void test_not_finite(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *table;
    bytes file;
    double numbers[6] = {1, 2, 3, 4, NAN, 6};
    make_file(&file, 1, HEAD "'shape': (2, 3)}", numbers, sizeof numbers);
    assert_int_equal(read_bytes(context, &file, NULL, &table), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "a.npy: row 2, column 'x2': missing value: 'nan'");
    OK(context, read_bytes(context, &file, "1,3", &table));
    gram_table_destroy(table);
    numbers[4] = -INFINITY;
    make_file(&file, 1, HEAD "'shape': (2, 3)}", numbers, sizeof numbers);
    assert_int_equal(read_bytes(context, &file, NULL, &table), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "a.npy: row 2, column 'x2': not a finite number: '-inf'");
    gram_context_destroy(context);
}

/* ---- writing ---- */

static char folder[64], path[128];

static int enter_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/gram-npy-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/K.npy", folder);
    return 0;
}

/* Everything in the folder goes, then it. */
static int leave_folder(void **state)
{
    (void)state;
    char name[512];
    DIR *list = opendir(folder);
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        (void)unlink(name);
    }
    closedir(list);
    return rmdir(folder);
}

static int files_in_folder(void)
{
    int count = 0;
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(list);
    return count;
}

static void write_matrix(gram_context *context, int64_t rows, int64_t columns, double first)
{
    gram_npy *file;
    OK(context, gram_npy_create(context, path, rows, columns, &file));
    double *numbers = gram_npy_numbers(file);
    assert_int_equal((uintptr_t)numbers % 64, 0);
    for (int64_t i = 0; i < rows * columns; i++) {
        assert_true(numbers[i] == 0);
        numbers[i] = first + (double)i;
    }
    OK(context, gram_npy_finish(context, file));
    assert_null(gram_npy_numbers(file));
    assert_int_equal(gram_npy_finish(context, file), GRAM_ERROR_ARGUMENT);
    gram_npy_destroy(file);
}

static void check_matrix(gram_context *context, int64_t rows, int64_t columns, double first)
{
    gram_table *table;
    OK(context, gram_table_read(context, path, NULL, &table));
    assert_int_equal(gram_table_rows(table), rows);
    assert_int_equal(gram_table_columns(table), columns);
    for (int64_t i = 0; i < rows * columns; i++) assert_true(gram_table_numbers(table)[i] == first + (double)i);
    gram_table_destroy(table);
}

static void test_write(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    const char *expected = "\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
    char header[128];
    write_matrix(context, 2, 3, 0.5);
    check_matrix(context, 2, 3, 0.5);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(header, 1, sizeof header, file), sizeof header);
    fclose(file);
    assert_memory_equal(header, expected, 10 + strlen(expected + 10));
    assert_int_equal(header[127], '\n');
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_size, 128 + 48);
    const mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(facts.st_mode & 0777, 0666 & ~mask);
    write_matrix(context, 700, 900, -1); /* over an older one */
    check_matrix(context, 700, 900, -1);
    assert_int_equal(files_in_folder(), 1);
    assert_true(gram_context_memory_used(context) < 65536);
    gram_context_destroy(context);
}

static void test_given_up(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_npy *file;
    OK(context, gram_npy_create(context, path, 10, 10, &file));
    gram_npy_numbers(file)[0] = 1;
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(files_in_folder(), 1);
    gram_npy_destroy(file);
    assert_int_equal(files_in_folder(), 0);

    write_matrix(context, 3, 3, 7);
    OK(context, gram_npy_create(context, path, 10, 10, &file));
    gram_npy_numbers(file)[0] = 1;
    check_matrix(context, 3, 3, 7);
    gram_npy_destroy(file);
    check_matrix(context, 3, 3, 7);
    assert_int_equal(files_in_folder(), 1);
    gram_npy_destroy(NULL);
    gram_context_destroy(context);
}

static int stop_now;

static int when_asked(void *user)
{
    (void)user;
    return stop_now;
}

static void test_cancelled(void **state)
{
    (void)state;
    gram_context *context = TEST_CONTEXT(.cancel = when_asked);
    gram_npy *file;
    stop_now = 0;
    OK(context, gram_npy_create(context, path, 10, 10, &file));
    stop_now = 1;
    assert_int_equal(gram_npy_finish(context, file), GRAM_ERROR_CANCELLED);
    assert_int_equal(files_in_folder(), 0);
    gram_npy_destroy(file);
    assert_int_equal(gram_npy_create(context, path, 10, 10, &file), GRAM_ERROR_CANCELLED);
    assert_null(file);
    assert_int_equal(files_in_folder(), 0);
    gram_context_destroy(context);
}

static void test_links(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_npy *file;
    char link[160];
    write_matrix(context, 1, 1, 5);
    snprintf(link, sizeof link, "%s/link", folder);
    assert_int_equal(symlink("K.npy", link), 0);
    OK(context, gram_npy_create(context, link, 1, 2, &file));
    OK(context, gram_npy_finish(context, file));
    gram_npy_destroy(file);
    struct stat facts;
    assert_int_equal(lstat(link, &facts), 0);
    assert_true(S_ISLNK(facts.st_mode));
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_size, 128 + 16);
    gram_context_destroy(context);
}

static void test_cannot_write(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_npy *file;
    char missing[160];
    snprintf(missing, sizeof missing, "%s/no/K.npy", folder);
    REFUSED(context, gram_npy_create(context, missing, 2, 2, &file), GRAM_ERROR_FILE,
            "K.npy: cannot be written: No such file or directory");
    REFUSED(context, gram_npy_create(context, folder, 2, 2, &file), GRAM_ERROR_FILE, "it is a folder");
    assert_int_equal(gram_npy_create(context, "/dev/null", 2, 2, &file), GRAM_ERROR_FILE);
    assert_string_equal(gram_context_message(context), "/dev/null: cannot be written: it is not a regular file");
    assert_int_equal(gram_npy_create(context, "", 2, 2, &file), GRAM_ERROR_FILE);
    assert_int_equal(gram_npy_create(context, path, 0, 2, &file), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_npy_create(context, path, INT64_MAX, 2, &file), GRAM_ERROR_OVERFLOW);
    assert_int_equal(gram_npy_create(context, path, INT64_MAX / 8, 1, &file), GRAM_ERROR_OVERFLOW);
    /* more than any disk has: refused before the work, and nothing is left */
    REFUSED(context, gram_npy_create(context, path, (int64_t)1 << 28, (int64_t)1 << 28, &file), GRAM_ERROR_FILE,
            "K.npy: no room for its 512 PiB: ");
    assert_int_equal(files_in_folder(), 0);
    gram_context_destroy(context);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read), cmocka_unit_test(test_refusals), cmocka_unit_test(test_not_finite),
        IN_FOLDER(test_write),       IN_FOLDER(test_given_up),        IN_FOLDER(test_cancelled),
        IN_FOLDER(test_links),       IN_FOLDER(test_cannot_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
