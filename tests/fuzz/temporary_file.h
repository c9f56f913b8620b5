/* Inputs as files: what is opened by its path is not what is read from memory. The file has no name and goes with the
 * process. */
#ifndef GRAM_FUZZ_TEMPORARY_FILE_H
#define GRAM_FUZZ_TEMPORARY_FILE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TEMPORARY_PATH = 64 };

/* A path that opens these bytes, until the next call. */
static inline const char *temporary_file(const uint8_t *data, size_t size)
{
    static int descriptor = -1;
    static char path[TEMPORARY_PATH];
    if (descriptor < 0) descriptor = memfd_create("input", MFD_CLOEXEC);
    if (descriptor < 0 || ftruncate(descriptor, 0) != 0) abort();
    if (size > 0 && pwrite(descriptor, data, size, 0) != (ssize_t)size) abort();
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return path;
}

#endif
