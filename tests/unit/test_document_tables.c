/* Tables that are no CSV: FASTA, documents line by line, scipy's .npz. Each allocation of their readers failing in turn, and the lines that messages name. */
#include <string.h>

#include "model/archive.h"
#include "oom.h"
#include "support.h"

static const char FASTA[] = ">a class=x\nACGTACG\nTTACG\n>b class=y\nACGT\nACGTTTAC\n>c class=x\nAC\n";
static const char LINES[] = "one fine day\n\"two\" days, and a night\nx\n";

static gram_status read_text(gram_context *context, gram_format format, const char *text, gram_table **table)
{
    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    options.format = format;
    options.text = GRAM_TEXT_CATEGORIES;
    return gram_table_read_memory(context, "texts", text, strlen(text), &options, table);
}

/* From the file to a matrix of features. */
static gram_status play_texts(gram_context *context, gram_format format, const char *text, const char *expression)
{
    gram_status status;
    gram_table *table = NULL;
    gram_points *points = NULL;
    gram_kernel *kernel = NULL;
    double out[9];
    STEP(read_text(context, format, text, &table));
    STEP(gram_points_of_table(context, table, 1, NULL, &points));
    STEP(gram_kernel_parse(context, expression, &kernel));
    STEP(gram_matrix(context, kernel, points, NULL, out, 3));
done:
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_table_destroy(table);
    return status;
}

static gram_status play_fasta(gram_context *context)
{
    return play_texts(context, GRAM_FORMAT_FASTA, FASTA, "gapped(l=2, k=2, over=dna) + spectrum(k=2)");
}

static gram_status play_lines(gram_context *context)
{
    return play_texts(context, GRAM_FORMAT_TEXT, LINES, "spectrum(k=1, over=words)");
}

/* ---- .npz ---- */

enum { PART = 256 };

/* An array of the file: NumPy's header, and the numbers after it. */
static void set_part(gram_archive_part *part, char head[PART], const char *name, const char *type, const char *shape,
                     const void *data, size_t size)
{
    *part = (gram_archive_part){.head = head, .head_size = 128, .data = data, .data_size = size};
    (void)strcpy(part->name, name);
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10); /* 118 bytes follow */
    memset(head + 10, ' ', 118);
    head[127] = '\n';
    char *at = head + 10;
    at += sprintf(at, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    *at = ' ';
}

static size_t make_npz(gram_context *context, unsigned char *bytes, size_t room)
{
    static const int32_t indices[] = {0, 3, 1}, starts[] = {0, 2, 2, 3};
    static const int64_t shape[] = {3, 5};
    static const double values[] = {1, 2, 3}, y[] = {4, 5, 6};
    char heads[6][PART];
    gram_archive_part parts[6];
    size_t size;
    set_part(&parts[0], heads[0], "indices.npy", "<i4", "(3,)", indices, sizeof indices);
    set_part(&parts[1], heads[1], "indptr.npy", "<i4", "(4,)", starts, sizeof starts);
    set_part(&parts[2], heads[2], "format.npy", "|S3", "()", "csr", 3);
    set_part(&parts[3], heads[3], "shape.npy", "<i8", "(2,)", shape, sizeof shape);
    set_part(&parts[4], heads[4], "data.npy", "<f8", "(3,)", values, sizeof values);
    set_part(&parts[5], heads[5], "y.npy", "<f8", "(3,)", y, sizeof y);
    OK(context, gram_archive_write_memory(context, bytes, room, &size, 6, parts));
    assert_true(size <= room);
    return size;
}

static unsigned char npz[8192];
static size_t npz_size;

static gram_status play_npz(gram_context *context)
{
    gram_status status;
    gram_table_options options;
    gram_table *table = NULL;
    gram_points *points = NULL;
    gram_kernel *kernel = NULL;
    double out[9];
    gram_table_options_init(&options, sizeof options);
    options.format = GRAM_FORMAT_NPZ;
    options.sparse = 1;
    STEP(gram_table_read_memory(context, "x.npz", npz, npz_size, &options, &table));
    STEP(gram_points_of_table(context, table, 1, NULL, &points));
    STEP(gram_kernel_parse(context, "linear(c=0!)", &kernel));
    STEP(gram_matrix(context, kernel, points, NULL, out, 3));
    assert_true(out[0] == 5 && out[8] == 9 && out[2] == 0 && out[4] == 0);
done:
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_table_destroy(table);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    gram_context *context = *state;
    npz_size = make_npz(context, npz, sizeof npz);
    oom_all(play_fasta, 20);
    oom_all(play_lines, 20);
    oom_all(play_npz, 10);
}

/* ---- lines ---- */

static void refuse(gram_context *context, gram_format format, const char *text, const char *expression,
                   const char *where)
{
    REFUSED(context, play_texts(context, format, text, expression), GRAM_ERROR_DOMAIN, where);
}

static void lines_are_those_of_the_file(void **state)
{
    gram_context *context = *state;
    gram_table *table = NULL;
    OK(context, read_text(context, GRAM_FORMAT_FASTA, FASTA, &table));
    assert_true(gram_table_line(table, 0) == 1 && gram_table_line(table, 1) == 4 && gram_table_line(table, 2) == 7);
    gram_table_destroy(table);
    OK(context, read_text(context, GRAM_FORMAT_TEXT, LINES, &table));
    assert_true(gram_table_line(table, 0) == 1 && gram_table_line(table, 2) == 3);
    gram_table_destroy(table);
    refuse(context, GRAM_FORMAT_FASTA, FASTA, "spectrum(k=3)", "texts:7: spectrum: the text 'AC'");
    refuse(context, GRAM_FORMAT_FASTA, FASTA, "gapped(l=7, k=4, over=dna)", "texts:7: gapped: the text 'AC'");
    refuse(context, GRAM_FORMAT_TEXT, LINES, "spectrum(k=2)", "texts:3: spectrum: the text 'x'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(lines_are_those_of_the_file),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
