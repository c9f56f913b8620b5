/* A file that is written aside and put in its place in one step.
 *
 *   open aside     an older file stays whole until the end; a link is followed, only regular files are replaced, and
 *                  the new one has the permissions of the old one
 *   fallocate      a full disk is an error now, not a failure (or a SIGBUS) in the middle
 *   fsync          the bytes are on the disk before the name is
 *   rename         old or new, never half of one
 *   fsync(folder)  the name is on the disk
 *
 * Whatever fails, gram_aside_abandon leaves nothing behind. */
#ifndef GRAM_BASE_FILE_ASIDE_H
#define GRAM_BASE_FILE_ASIDE_H

#include <gram/output.h>

#include "base/context.h"

enum { GRAM_ASIDE_PATH = 4096 }; /* PATH_MAX, which a strict C library does not tell */

/* The public functions of output.h work on one that is allocated. */
struct gram_aside {
    gram_memory *memory; /* of an allocated one, else NULL */
    int descriptor;      /* -1 when closed */
    int exists;          /* the temporary file does */
    int elsewhere;       /* another rank writes it: nothing happens here */
    int mode;            /* permissions of the file that is replaced, -1 if there is none */
    char path[GRAM_ASIDE_PATH];
    char temporary[GRAM_ASIDE_PATH];
};

/* Opens a temporary file in the folder of `path`; `who` begins messages that cannot begin with the path. After a failure
 * there is nothing to abandon, but it does no harm. */
gram_status gram_aside_open(gram_context *context, const char *who, const char *path, gram_aside *aside);

/* Makes room for `bytes`, the size of the whole file. */
gram_status gram_aside_reserve(gram_context *context, gram_aside *aside, size_t bytes);

/* Writes at the present place of the file, piece by piece, with the context's callbacks; `done` of `total` bytes are
 * written before it. */
gram_status gram_aside_write(gram_context *context, gram_aside *aside, const void *bytes, size_t count, size_t done,
                             size_t total);

/* Closes and removes what gram_aside_finish did not finish. May be called twice. */
void gram_aside_abandon(gram_aside *aside);

/* Removes what a process that died had written aside for `path`. Only for whoever knows that it is dead: a lock says so. */
void gram_aside_sweep(const char *path, long process);

#endif
