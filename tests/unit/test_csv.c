/* Delimited text: headers, text columns, missing values, wanted columns; large files by every way that leads to a table:
 * memory, file, gzip, standard input, blocks, any number of threads, all with the same bits. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "oom.h"
#include "support.h"

static gram_table_options options_of(gram_text text, int keep_missing)
{
    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    options.text = text;
    options.keep_missing = keep_missing;
    return options;
}

static gram_table *read_with(gram_context *context, const char *text, const gram_table_options *options)
{
    gram_table *table;
    OK(context, gram_table_read_memory(context, "data.csv", text, strlen(text), options, &table));
    return table;
}

static void refuse(gram_context *context, const char *text, const gram_table_options *options, const char *message)
{
    gram_table *table = (gram_table *)context;
    assert_int_equal(gram_table_read_memory(context, "data.csv", text, strlen(text), options, &table), GRAM_ERROR_DATA);
    assert_null(table);
    assert_string_equal(gram_context_message(context), message);
}

/* ---- headers ---- */

static void test_headers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int header;
    } cases[] = {
        {"a,b\n1,2\n", 1},
        {"1,2\n3,4\n", 0},
        {"5.1,3.5,setosa\n4.9,3.0,virginica\n", 0}, /* names are seldom numbers */
        {"setosa,1\nvirginica,2\n", 0},
        {"species,1\n3,2\n", 1}, /* text above a number */
        {"species,length\nsetosa,1\n", 1},
        {"red,small\nblue,large\nred,large\n", 0}, /* red is there again */
        {"colour,size\nblue,large\nred,large\n", 1},
        {"x,x\nblue,large\n", 0}, /* no name is there twice: but see below */
        {",a,b\n1,u,v\n2,w,z\n", 1},
        {"a,b\n", 1},
        {"age,name\n23,Ann\nunknown,Bob\n", 1},
        {"NA,1\n2,3\n", 0},
        {"a,b\nNA,\n", 1},
        {"inf,1\n2,3\n", 0},
    };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table_options options = options_of(GRAM_TEXT_CATEGORIES, 1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        gram_table *table;
        const char *text = cases[k].text;
        const gram_status status = gram_table_read_memory(context, "data.csv", text, strlen(text), &options, &table);
        if (strcmp(text, "a,b\n") == 0) {
            assert_int_equal(status, GRAM_ERROR_DATA);
            continue;
        }
        OK(context, status);
        if (gram_table_has_header(table) != cases[k].header) FAIL_TEST("header of %s", text);
        assert_int_equal(gram_table_line(table, 0), 1 + cases[k].header);
        gram_table_destroy(table);
    }
    options.header = GRAM_HEADER_NO;
    gram_table *table = read_with(context, "a,b\n1,2\n", &options);
    assert_int_equal(gram_table_rows(table), 2);
    assert_string_equal(gram_table_level(table, 0, 1), "a");
    gram_table_destroy(table);
    options.header = GRAM_HEADER_YES;
    table = read_with(context, "1,2\n3,4\n", &options);
    assert_int_equal(gram_table_rows(table), 1);
    assert_string_equal(gram_table_column_name(table, 1), "2");
    gram_table_destroy(table);
    refuse(context, "x,x\n1,2\n", &options, "data.csv: columns 1 and 2 are both named 'x'");
    gram_context_destroy(context);
}

/* ---- text ---- */

static void check_column(const gram_table *table, int64_t column, const char *wanted)
{
    char have[256] = "";
    for (int64_t i = 0; i < gram_table_rows(table); i++) {
        const double x = gram_table_numbers(table)[i * gram_table_ld(table) + column];
        strcat(have, i ? "|" : "");
        if (!isnan(x)) strcat(have, gram_table_level(table, column, (int64_t)x));
    }
    assert_string_equal(have, wanted);
}

static void test_text(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table_options options = options_of(GRAM_TEXT_CATEGORIES, 1);
    gram_table *table = read_with(context,
                                  "a;b;c\r\nred;1;1\r\n\"blue; or \"\"sky\"\"\nblue\";02;NA\r\n;NaN;na\r\n"
                                  " red ;x;2\r\ngreen;1;inf\r\n",
                                  &options);
    assert_int_equal(gram_table_rows(table), 5);
    assert_true(gram_table_column_is_text(table, 0) && gram_table_column_is_text(table, 1));
    assert_false(gram_table_column_is_text(table, 2));
    assert_int_equal(gram_table_level_count(table, 0), 3);
    assert_int_equal(gram_table_level_count(table, 2), 0);
    assert_string_equal(gram_table_level(table, 0, 0), "blue; or \"sky\"\nblue");
    assert_string_equal(gram_table_level(table, 0, 2), "red");
    check_column(table, 0, "red|blue; or \"sky\"\nblue||red|green");
    check_column(table, 1, "1|02||x|1");
    const double *x = gram_table_numbers(table);
    assert_true(x[2] == 1 && isnan(x[5]) && isnan(x[8]) && x[11] == 2 && isinf(x[14]));
    const int64_t lines[] = {2, 3, 5, 6, 7};
    for (int i = 0; i < 5; i++) assert_int_equal(gram_table_line(table, i), lines[i]);
    OK(context, gram_table_select(context, table, "c,a", NULL));
    assert_true(gram_table_column_is_text(table, 1) && !gram_table_column_is_text(table, 0));
    check_column(table, 1, "red|blue; or \"sky\"\nblue||red|green");
    assert_int_equal(gram_table_standardise(context, table, NULL, NULL), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "data.csv:3: column 'c': missing value");
    OK(context, gram_table_select(context, table, "a", NULL));
    assert_int_equal(gram_table_standardise(context, table, NULL, NULL), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "data.csv: column 'a': text cannot be standardised");
    gram_table_destroy(table);

    options = options_of(GRAM_TEXT_CATEGORIES, 0);
    refuse(context, "a,b\nx,1\n,2\n", &options, "data.csv:3: column 'a': missing value");
    refuse(context, "a,b\nx,1\ny,inf\n", &options, "data.csv:3: column 'b': not a finite number: 'inf'");
    options = options_of(GRAM_TEXT_ERROR, 1);
    options.categories = "zip";
    table = read_with(context, "zip,b\n01,1\n1,NA\n", &options);
    check_column(table, 0, "01|1");
    assert_true(isnan(gram_table_numbers(table)[3]));
    gram_table_destroy(table);
    refuse(context, "zip,b\n01,1\n1,x\n", &options, "data.csv:3: column 'b': not a number: 'x'");
    gram_table *zero;
    assert_int_equal(gram_table_read_memory(context, "data.csv", "zip,b\n0\0,1\n", 11, &options, &zero),
                     GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "data.csv:2: column 'zip': a zero byte in the text");
    gram_context_destroy(context);
}

/* A column that looks like numbers for a long time, from every kind of source. */
static void test_late_text(void **state)
{
    (void)state;
    enum { N = 40000 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    gram_table_options options = options_of(GRAM_TEXT_CATEGORIES, 1);
    char *text = malloc(N * 24), *end = text;
    end += sprintf(end, "a,b,c\n");
    for (int i = 0; i < N; i++) end += sprintf(end, "%d,0%d,%s\n", i, i % 7, i == N - 1 ? "late" : "5");
    gram_table *table = read_with(context, text, &options);
    assert_true(!gram_table_column_is_text(table, 0) && !gram_table_column_is_text(table, 1));
    assert_int_equal(gram_table_level_count(table, 2), 2);
    assert_true(gram_table_numbers(table)[3 * (N - 1) + 2] == 1 && gram_table_numbers(table)[2] == 0);
    assert_true(gram_table_numbers(table)[3 * (N - 1)] == N - 1);
    gram_table_destroy(table);
    free(text);
    gram_context_destroy(context);
}

/* ? . and - are missing among numbers and levels among texts, whichever comes first; null is always missing. */
static void test_marks(void **state)
{
    (void)state;
    enum { N = 30000 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    gram_table_options options = options_of(GRAM_TEXT_CATEGORIES, 1);
    gram_table *table = read_with(context, "a,b,c,d\n?,-,1,-\n.,+,\"-\",?\nNULL,null,.,.\n-.5,?,-1,\n", &options);
    const double *x = gram_table_numbers(table);
    assert_int_equal(gram_table_rows(table), 4);
    check_column(table, 1, "-|+||?");
    for (int j = 0; j < 4; j++) assert_int_equal(gram_table_column_is_text(table, j), j == 1);
    for (int i = 0; i < 3; i++) assert_true(isnan(x[4 * i]) && isnan(x[4 * i + 3]));
    assert_true(x[12] == -0.5 && x[2] == 1 && isnan(x[6]) && isnan(x[10]) && x[14] == -1);
    gram_table_destroy(table);
    table = read_with(context, "-,red\n-,blue\n1,green\n", &options);
    assert_int_equal(gram_table_rows(table), 3); /* what is found again below is no name */
    gram_table_destroy(table);

    options.keep_missing = 0;
    refuse(context, "a,b\n1,2\n-,3\n", &options, "data.csv:3: column 'a': missing value: '-'");
    refuse(context, "a,b\n1,x\n2,null\n", &options, "data.csv:3: column 'b': missing value: 'null'");
    table = read_with(context, "a,b\n1,2\n-,3\nx,4\n", &options);
    check_column(table, 0, "1|-|x");
    gram_table_destroy(table);
    options.text = GRAM_TEXT_ERROR;
    refuse(context, "a,b\n1,2\n?,3\nx,4\n", &options, "data.csv:3: column 'a': missing value: '?'");
    options.format = GRAM_FORMAT_LIBSVM;
    refuse(context, "1 1:2 2:?\n", &options, "data.csv:1: missing value: '2:?'");

    /* a text after 30,000 numbers and marks: the marks were levels all the time */
    options = options_of(GRAM_TEXT_CATEGORIES, 0);
    char *text = malloc(N * 16), *end = text;
    end += sprintf(end, "a,b\n");
    for (int i = 0; i < N; i++) end += sprintf(end, "%d,%s\n", i, i == N - 1 ? "late" : i % 3 ? "5" : "-");
    table = read_with(context, text, &options);
    assert_int_equal(gram_table_level_count(table, 1), 3);
    assert_true(gram_table_numbers(table)[1] == 0 && gram_table_numbers(table)[3] == 1);
    gram_table_destroy(table);
    (void)strcpy(end - strlen("late\n"), "5\n");
    refuse(context, text, &options, "data.csv:2: column 'b': missing value: '-'");
    free(text);
    gram_context_destroy(context);
}

/* A return that does not end its line belongs to the text: half of it is no level. */
static void test_lone_return(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table_options options = options_of(GRAM_TEXT_CATEGORIES, 1);
    gram_table *table = read_with(context, "c,y\nu,1\nu\rv,2\nw,3\nu\rv,4\r\nx\r,5\n", &options);
    assert_int_equal(gram_table_level_count(table, 0), 4);
    assert_string_equal(gram_table_level(table, 0, 1), "u\rv");
    gram_table_destroy(table);
    table = read_with(context, "y,c\n1,u\rv\n2,u\rv\n3,w\r\n", &options);
    assert_int_equal(gram_table_level_count(table, 1), 2);
    gram_table_destroy(table);
    gram_context_destroy(context);
}

static void test_many_levels(void **state)
{
    (void)state;
    enum { N = 40000 };
    char *text = malloc(N * 24), *end = text;
    for (int excess = 0; excess < 2; excess++)
        for (int threads = 1; threads <= 2; threads++) {
            gram_context *context = test_context(threads, GRAM_ISA_AUTO);
            gram_table_options options = options_of(GRAM_TEXT_CATEGORIES, 0);
            end = text;
            for (int i = 0; i < N; i++) end += sprintf(end, "%d,t%05d\n", i, i * 7 % (GRAM_MOST_LEVELS + excess));
            if (excess) options.keep_missing = 1;
            gram_table *table = read_with(context, text, &options);
            assert_true(gram_table_column_is_text(table, 1));
            assert_int_equal(gram_table_level_count(table, 1), excess ? -1 : GRAM_MOST_LEVELS);
            for (int i = 0; i < N; i++) {
                const double x = gram_table_numbers(table)[2 * i + 1];
                assert_true(excess ? isnan(x) : x == i * 7 % GRAM_MOST_LEVELS);
            }
            gram_preparation *preparation;
            assert_int_equal(gram_preparation_learn(context, table, NULL, &preparation),
                             excess ? GRAM_ERROR_DATA : GRAM_OK);
            if (excess)
                assert_string_equal(gram_context_message(context), "data.csv: column 'x2': text with more than 10000 "
                                                                   "levels, or one of more than 1000 bytes; leave it "
                                                                   "out (--ignore)");
            gram_preparation_release(preparation);
            gram_table_destroy(table);
            gram_context_destroy(context);
        }
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table_options options = options_of(GRAM_TEXT_CATEGORIES, 1);
    memset(text, 'x', 1001);
    strcpy(text + 1001, ",1\nb,2\n");
    gram_table *table = read_with(context, text, &options);
    assert_int_equal(gram_table_level_count(table, 0), -1);
    gram_table_destroy(table);
    gram_context_destroy(context);
    free(text);
}

/* ---- wanted columns ---- */

static void test_wanted(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    const gram_wanted wanted[] = {{.name = "d", .text = 0, .optional = 0},
                                  {.name = "maybe", .text = 0, .optional = 1},
                                  {.name = "a", .text = 1, .optional = 0},
                                  {.name = "y,z", .text = 0, .optional = 1}};
    gram_table_options options = options_of(GRAM_TEXT_ERROR, 0);
    options.wanted = wanted;
    options.wanted_count = 4;
    gram_table *table = read_with(context, "a,b,\"y,z\",d\n5,x,1,2\n6,,3,4\n", &options);
    assert_int_equal(gram_table_columns(table), 3);
    assert_string_equal(gram_table_column_name(table, 2), "y,z");
    check_column(table, 1, "5|6");
    assert_true(gram_table_numbers(table)[0] == 2 && gram_table_numbers(table)[5] == 3);
    gram_table_destroy(table);
    refuse(context, "a,b,D\n5,x,1\n", &options, "data.csv: no column 'd', which is needed; is it 'D'?");
    options.wanted_count = 0;
    assert_int_equal(gram_table_read_memory(context, "data.csv", "1\n", 2, &options, &table), GRAM_ERROR_ARGUMENT);
    gram_context_destroy(context);
}

/* ---- large files, every way ---- */

enum { ROWS = 12000, COLUMNS = 6 };

typedef enum kind { PLAIN, MESSY, QUOTED, KINDS } kind;

/* ROWS rows: numbers of 17 digits; with comments, blank lines, CR LF, missing values and text; with quotes too, which hold
 * line ends and delimiters. Neither ends with a line end. */
static char *make_text(kind k, size_t *length)
{
    static const char *const texts[] = {"red", "-", "blue", "NA", "", "7"};
    static const char *const gaps[] = {" NA ", "Null", "?", ".", " - "};
    char *text = malloc(ROWS * COLUMNS * 30 + 1000), *end = text;
    uint64_t seed = 3 + (uint64_t)k;
    char digits[GRAM_NUMBER_SIZE];
    assert_non_null(text);
    end += sprintf(end, k == QUOTED ? "\xEF\xBB\xBF# top\n\"a\n1\",b,c,\"d\",e,f\n" : "a,b,c,d,e,f\n");
    for (int i = 0; i < ROWS; i++) {
        if (k != PLAIN && test_bits(&seed) % 50 == 0) end += sprintf(end, i % 2 ? "  \r\n" : "# 1,2,3,4,5,6\n");
        for (int j = 0; j < COLUMNS; j++) {
            const uint64_t bits = test_bits(&seed);
            const char *word = texts[bits % 6];
            end += sprintf(end, "%s", j ? "," : "");
            if (j < 3 || k == PLAIN)
                end += sprintf(end, "%s", gram_number_format((double)(int64_t)bits * 0x1p-60, digits));
            else if (j == 3)
                end += bits % 7 ? sprintf(end, "%d", (int)(bits % 1000)) : sprintf(end, "%s", gaps[bits / 7 % 5]);
            else if (k == MESSY || bits % 3)
                end += sprintf(end, "%s", word);
            else
                end += sprintf(end, bits % 2 ? "\"%s, \"\"%d\"\"\"" : "\"%s\n%d\"", word, (int)(bits % 5));
        }
        if (i + 1 < ROWS) end += sprintf(end, k == MESSY && i % 3 == 0 ? "\r\n" : "\n");
    }
    *length = (size_t)(end - text);
    return text;
}

static void check_same(const gram_table *a, int64_t from, const gram_table *b)
{
    const int64_t n = gram_table_rows(b), d = gram_table_columns(a);
    assert_int_equal(gram_table_columns(b), d);
    for (int64_t j = 0; j < d; j++) {
        assert_string_equal(gram_table_column_name(a, j), gram_table_column_name(b, j));
        assert_int_equal(gram_table_column_is_text(a, j), gram_table_column_is_text(b, j));
    }
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(gram_table_line(a, from + i), gram_table_line(b, i));
        for (int64_t j = 0; j < d; j++) {
            const double *x = gram_table_numbers(a) + (from + i) * d + j, *y = gram_table_numbers(b) + i * d + j;
            if (gram_table_column_is_text(a, j) && !isnan(*x))
                assert_string_equal(gram_table_level(a, j, (int64_t)*x), gram_table_level(b, j, (int64_t)*y));
            else if (isnan(*x))
                assert_true(isnan(*y));
            else
                assert_memory_equal(x, y, sizeof *x);
        }
    }
}

static void write_gzip(const char *path, const char *text, size_t length)
{
    gzFile file = gzopen(path, "wb1");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)(length / 2)), length / 2);
    gzclose(file);
    file = gzopen(path, "ab1"); /* a second member */
    assert_int_equal(gzwrite(file, text + length / 2, (unsigned)(length - length / 2)), length - length / 2);
    gzclose(file);
}

/* Standard input becomes a pipe into which a child writes the text. */
static pid_t feed_input(const char *bytes, size_t length, int *saved)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        for (size_t at = 0; at < length;) {
            const ssize_t written = write(ends[1], bytes + at, length - at);
            if (written <= 0) break;
            at += (size_t)written;
        }
        _exit(0);
    }
    *saved = dup(STDIN_FILENO);
    assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return child;
}

static void restore_input(pid_t child, int saved)
{
    (void)dup2(saved, STDIN_FILENO);
    (void)close(saved);
    (void)waitpid(child, NULL, 0);
}

static void check_blocks(gram_context *context, const gram_table *whole, const char *path, const char *text,
                         size_t length, int64_t most)
{
    gram_table_options options = options_of(GRAM_TEXT_ERROR, 1);
    gram_reader *reader;
    const gram_table *block;
    int64_t rows = 0;
    if (gram_table_column_is_text(whole, 4)) options.categories = "e,f";
    if (path)
        OK(context, gram_reader_open(context, path, &options, &reader));
    else
        OK(context, gram_reader_open_memory(context, "data.csv", text, length, &options, &reader));
    for (;;) {
        OK(context, gram_reader_next(context, reader, most, &block));
        if (!block) break;
        assert_true(gram_table_rows(block) == most || rows + gram_table_rows(block) == ROWS);
        check_same(whole, rows, block);
        rows += gram_table_rows(block);
    }
    OK(context, gram_reader_next(context, reader, most, &block));
    assert_null(block);
    assert_int_equal(rows, ROWS);
    gram_reader_close(reader);
}

static void check_source(gram_context *context, const gram_table *whole, const char *path,
                         const gram_table_options *options)
{
    gram_table *table;
    OK(context, gram_table_read(context, path, options, &table));
    assert_int_equal(gram_table_rows(table), ROWS);
    check_same(whole, 0, table);
    gram_table_destroy(table);
}

static void test_every_way(void **state)
{
    (void)state;
    char folder[] = "/tmp/gram-csv-XXXXXX", path[64], packed[64];
    const gram_table_options options = options_of(GRAM_TEXT_CATEGORIES, 1);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/data.csv", folder);
    snprintf(packed, sizeof packed, "%s/data.csv.gz", folder);
    for (kind k = PLAIN; k < KINDS; k++) {
        size_t length;
        char *text = make_text(k, &length);
        test_write_file(path, text, length);
        write_gzip(packed, text, length);
        gram_context *context = test_context(1, GRAM_ISA_AUTO);
        gram_table *whole;
        OK(context, gram_table_read_memory(context, "data.csv", text, length, &options, &whole));
        assert_int_equal(gram_table_rows(whole), ROWS);
        for (int threads = 1; threads <= 3; threads++) {
            gram_context *other = test_context(threads, GRAM_ISA_AUTO);
            check_source(other, whole, path, &options);
            check_source(other, whole, packed, &options);
            gram_context_destroy(other);
        }
        int saved;
        const pid_t child = feed_input(text, length, &saved);
        check_source(context, whole, "-", &options);
        restore_input(child, saved);
        check_blocks(context, whole, path, NULL, 0, 777);
        check_blocks(context, whole, packed, NULL, 0, 10000);
        check_blocks(context, whole, NULL, text, length, 1 << 30);
        gram_table_destroy(whole);
        gram_context_destroy(context);
        free(text);
    }
    unlink(path);
    unlink(packed);
    rmdir(folder);
}

/* Any line end may be a cut: short lines of all lengths, so that cuts fall on every place of a line. */
static void test_cuts(void **state)
{
    (void)state;
    const size_t size = 1 << 20;
    char *text = malloc(size + 64);
    for (int width = 1; width < 40; width += 5) {
        size_t length = 0;
        int64_t n = 0;
        double sum = 0;
        while (length < size) {
            length += (size_t)sprintf(text + length, "%0*d\n", 1 + (int)(n % width), (int)(n % 10));
            sum += (double)(n++ % 10);
        }
        gram_context *context = test_context(2, GRAM_ISA_AUTO);
        gram_table *table;
        OK(context, gram_table_read_memory(context, "a.csv", text, length, NULL, &table));
        assert_int_equal(gram_table_rows(table), n);
        for (int64_t i = 0; i < n; i++) sum -= gram_table_numbers(table)[i];
        assert_true(sum == 0);
        gram_table_destroy(table);
        gram_context_destroy(context);
    }
    free(text);
}

/* Faults deep in a large text: the first one is reported, with its line. */
static void test_deep_faults(void **state)
{
    (void)state;
    for (kind k = PLAIN; k < KINDS; k++) {
        size_t length;
        char *text = make_text(k, &length), wanted[100];
        gram_context *context = test_context(2, GRAM_ISA_AUTO);
        gram_table_options options = options_of(GRAM_TEXT_ERROR, 1);
        gram_table *table;
        if (k != PLAIN) options.ignore = "e,f";
        for (int place = 3; place > 0; place--) {
            char *line = text + length * (size_t)place / 5;
            while (line[-1] != '\n' || line[0] == '#' || line[0] == ' ' || strcspn(line, ",") > strcspn(line, "\n") ||
                   strcspn(line, "\"") < strcspn(line, "\n") || !strchr("-0123456789", line[0]) ||
                   strcspn(line, ".") > strcspn(line, ","))
                line--;
            *line = '?';
            int64_t number = 1;
            for (const char *c = text; c < line; c++) number += *c == '\n';
            assert_int_equal(gram_table_read_memory(context, "d.csv", text, length, &options, &table), GRAM_ERROR_DATA);
            snprintf(wanted, sizeof wanted, "d.csv:%d: column '%s': not a number: '?", (int)number,
                     k == QUOTED ? "a\n1" : "a");
            assert_memory_equal(gram_context_message(context), wanted, strlen(wanted));
        }
        free(text);
        gram_context_destroy(context);
    }
}

/* A quote that is left open in a large file, and a line that is longer than any piece. */
static void test_odd_large(void **state)
{
    (void)state;
    const size_t size = 4 << 20;
    char *text = malloc(size + 1);
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    gram_table *table;
    for (size_t i = 0; i < size; i++) text[i] = "1,2\n"[i % 4];
    text[size / 2] = '"';
    assert_int_equal(gram_table_read_memory(context, "d.csv", text, size, NULL, &table), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "d.csv:524289: a quoted field does not end");
    text[size / 2] = '1';
    memset(text + size / 4, '0', 1 << 20);
    text[size / 4 + (1 << 20) - 1] = '\n';
    text[size / 4 + (1 << 19)] = ',';
    OK(context, gram_table_read_memory(context, "d.csv", text, size, NULL, &table));
    assert_int_equal(gram_table_rows(table), size / 4 - (1 << 18) + 1);
    assert_true(gram_table_numbers(table)[2 * (size / 16)] == 0);
    gram_table_destroy(table);
    free(text);
    gram_context_destroy(context);
}

/* ---- gzip ---- */

static void test_gzip(void **state)
{
    (void)state;
    unsigned char packed[400];
    const char *text = "a,b\n1,2\n3,4\n5,6\n7,8\n";
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char *)text;
    stream.avail_in = (uInt)strlen(text);
    stream.next_out = packed;
    stream.avail_out = sizeof packed;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    const size_t length = stream.total_out;
    deflateEnd(&stream);
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *table;
    OK(context, gram_table_read_memory(context, "d.csv.gz", packed, length, NULL, &table));
    assert_int_equal(gram_table_rows(table), 4);
    gram_table_destroy(table);
    for (size_t cut = 2; cut < length; cut++) {
        assert_int_equal(gram_table_read_memory(context, "d.csv.gz", packed, cut, NULL, &table), GRAM_ERROR_DATA);
        assert_string_equal(gram_context_message(context), "d.csv.gz: the compressed file is cut off");
    }
    for (size_t i = 2; i < length;
         i++) { /* all damage is seen, but for that of the time, the system, and bits without use */
        packed[i] ^= 0x10;
        const gram_status status = gram_table_read_memory(context, "d.csv.gz", packed, length, NULL, &table);
        if (!(status == GRAM_ERROR_DATA || (status == GRAM_OK && ((i >= 3 && i < 10) || i == length - 9))))
            FAIL_TEST("byte %d of %d: %s", (int)i, (int)length, gram_status_name(status));
        gram_table_destroy(table);
        packed[i] ^= 0x10;
    }
    packed[length] = 'x';
    assert_int_equal(gram_table_read_memory(context, "d.csv.gz", packed, length + 1, NULL, &table), GRAM_ERROR_DATA);
    OK(context,
       gram_table_read_memory(context, "D.CSV.GZ", text, strlen(text), NULL, &table)); /* not compressed at all */
    gram_table_destroy(table);
    gram_context_destroy(context);
}

/* ---- blocks ---- */

static void test_reader(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_reader *reader;
    const gram_table *block;
    gram_table_options options = options_of(GRAM_TEXT_CATEGORIES, 0);
    const char *text = "a,b\n1,2\n3,4\n\n5,x\n7,8\n";
    assert_int_equal(gram_reader_open_memory(context, "d.svm", "1 1:2\n", 6, &options, &reader), GRAM_ERROR_ARGUMENT);
    OK(context, gram_reader_open_memory(context, "d.csv", text, strlen(text), &options, &reader));
    OK(context, gram_reader_next(context, reader, 2, &block)); /* text is found in the first rows */
    assert_true(gram_table_column_is_text(block, 1));
    assert_int_equal(gram_reader_restarts(reader), 0);
    gram_reader_close(reader);
    OK(context, gram_reader_open_memory(context, "d.csv", text, strlen(text), NULL, &reader));
    assert_int_equal(gram_reader_next(context, reader, 0, &block), GRAM_ERROR_ARGUMENT);
    OK(context, gram_reader_next(context, reader, 2, &block));
    assert_int_equal(gram_table_rows(block), 2);
    assert_int_equal(gram_table_line(block, 1), 3);
    assert_int_equal(gram_reader_next(context, reader, 2, &block), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "d.csv:5: column 'b': not a number: 'x'");
    assert_null(block);
    assert_int_equal(gram_reader_next(context, reader, 2, &block), GRAM_ERROR_ARGUMENT);
    gram_reader_close(reader);
    gram_reader_close(NULL);
    text = "a,b\n";
    options = options_of(GRAM_TEXT_ERROR, 0);
    options.header = GRAM_HEADER_YES;
    OK(context, gram_reader_open_memory(context, "d.csv", text, strlen(text), &options, &reader));
    assert_int_equal(gram_reader_next(context, reader, 2, &block), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "d.csv: no rows after the header");
    gram_reader_close(reader);
    assert_int_equal(gram_reader_open_memory(context, "d.csv", "", 0, NULL, &reader), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "d.csv: the file is empty");
    assert_int_equal(gram_reader_open(context, "/nowhere/d.csv", NULL, &reader), GRAM_ERROR_FILE);
    gram_context_destroy(context);
}

/* Memory does not grow with the file. */
static void test_reader_memory(void **state)
{
    (void)state;
    size_t peak[2];
    for (int k = 0; k < 2; k++) {
        const size_t rows = k ? 400000 : 40000;
        char *text = malloc(rows * 8);
        for (size_t i = 0; i < rows; i++) memcpy(text + 8 * i, "1,2.125\n", 8);
        gram_context *context = test_context(1, GRAM_ISA_AUTO);
        gram_reader *reader;
        const gram_table *block;
        OK(context, gram_reader_open_memory(context, "d.csv", text, rows * 8, NULL, &reader));
        do OK(context, gram_reader_next(context, reader, 5000, &block));
        while (block);
        gram_reader_close(reader);
        peak[k] = gram_context_memory_peak(context);
        gram_context_destroy(context);
        free(text);
    }
    assert_true(peak[0] == peak[1] && peak[0] < 600 << 10);
}

/* ---- each allocation failing in turn ---- */

static const char *large;
static unsigned char *packed;
static size_t large_length, packed_length;

static gram_status read_blocks(gram_context *context)
{
    gram_table_options options = options_of(GRAM_TEXT_ERROR, 1);
    gram_reader *reader = NULL;
    const gram_table *block = NULL;
    options.categories = "e,f";
    gram_status status = gram_reader_open_memory(context, "d.csv", large, large_length, &options, &reader);
    for (int i = 0; i < 3 && status == GRAM_OK; i++) status = gram_reader_next(context, reader, 300, &block);
    gram_reader_close(reader);
    return status;
}

static gram_status read_whole(gram_context *context)
{
    const gram_table_options options = options_of(GRAM_TEXT_CATEGORIES, 1);
    gram_table *table = NULL;
    const gram_status status = gram_table_read_memory(context, "d.csv", large, large_length, &options, &table);
    gram_table_destroy(table);
    return status;
}

static gram_status read_packed(gram_context *context)
{
    const gram_table_options options = options_of(GRAM_TEXT_CATEGORIES, 1);
    gram_table *table = NULL;
    const gram_status status = gram_table_read_memory(context, "d.csv", packed, packed_length, &options, &table);
    gram_table_destroy(table);
    return status == GRAM_ERROR_DATA ? GRAM_OK : status; /* a quote was cut */
}

/* The pieces of a large text, its blocks, and a gzip file. */
static void test_no_memory(void **state)
{
    (void)state;
    size_t length;
    char *text = make_text(QUOTED, &length);
    z_stream stream = {0};
    packed = malloc(length);
    large = text;
    large_length = length > 400000 ? 400000 : length;
    while (text[large_length - 1] != '\n') large_length--;
    assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char *)text;
    stream.avail_in = 20000;
    stream.next_out = packed;
    stream.avail_out = (uInt)length;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed_length = stream.total_out;
    deflateEnd(&stream);
    assert_true(oom_each(read_whole, 0) > 10);
    assert_true(oom_each(read_blocks, 0) > 10);
    assert_true(oom_each(read_packed, 0) > 10);
    free(packed);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers),     cmocka_unit_test(test_text),        cmocka_unit_test(test_late_text),
        cmocka_unit_test(test_many_levels), cmocka_unit_test(test_wanted),      cmocka_unit_test(test_every_way),
        cmocka_unit_test(test_cuts),        cmocka_unit_test(test_deep_faults), cmocka_unit_test(test_odd_large),
        cmocka_unit_test(test_gzip),        cmocka_unit_test(test_reader),      cmocka_unit_test(test_reader_memory),
        cmocka_unit_test(test_no_memory),   cmocka_unit_test(test_lone_return), cmocka_unit_test(test_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
