/* An archive with an entry of more than 4 GiB and another after it: zip64 because it is needed. The bytes are untouched
 * zero pages, so that it takes disk but no memory. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "model/archive.h"
#include "unit/support.h"

static const size_t BIG = ((size_t)4 << 30) + 123;

/* Reads an entry piece by piece; its checksum is right. */
static void read_all(gram_context *context, const gram_archive *archive, const char *name, size_t size)
{
    enum { PIECE = 16 << 20 };
    const gram_archive_entry *entry = gram_archive_find(archive, name);
    gram_archive_cursor cursor;
    char *piece = malloc(PIECE);
    assert_non_null(entry);
    assert_non_null(piece);
    assert_int_equal(entry->size, (int64_t)size);
    gram_archive_start(archive, entry, &cursor);
    for (size_t left = size; left > 0;) {
        const size_t length = left < PIECE ? left : PIECE;
        OK(context, gram_archive_take(context, &cursor, piece, length));
        left -= length;
    }
    OK(context, gram_archive_end(context, &cursor));
    free(piece);
}

static void more_than_32_bits(void **state)
{
    (void)state;
    static const char path[] = "archive_big.gram";
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    void *zeros = mmap(NULL, BIG, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    gram_archive archive;
    assert_true(zeros != MAP_FAILED);
    const gram_archive_part parts[] = {{.name = "first", .head = "1", .head_size = 1},
                                       {.name = "big", .head = "head", .head_size = 4, .data = zeros, .data_size = BIG},
                                       {.name = "last", .head = "last", .head_size = 4}};
    OK(context, gram_archive_write(context, path, 3, parts, 0));
    OK(context, gram_archive_open(context, path, &archive));
    assert_true(gram_archive_find(&archive, "last")->offset > (int64_t)BIG);
    read_all(context, &archive, "first", 1);
    read_all(context, &archive, "big", BIG + 4);
    read_all(context, &archive, "last", 4);
    gram_archive_close(context, &archive);
    if (system("command -v unzip >/dev/null") == 0) assert_int_equal(system("unzip -tq archive_big.gram"), 0);
    assert_int_equal(unlink(path), 0);
    (void)munmap(zeros, BIG);
    gram_context_destroy(context);
}

int main(void)
{
    struct statvfs disk;
    if (statvfs(".", &disk) != 0 || (double)disk.f_bavail * (double)disk.f_frsize < 1.2 * (double)BIG) return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(more_than_32_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
