/* Structs of the interface that begin with `size_t size`: the rule of <gram/export.h>, in one place.
 *
 * Whatever a caller gave is read and written as far as its size says; inside, libgram has complete structs only. `name`
 * is what the caller calls the struct ("options", "options.gp"), for messages; `known` is its size here. */
#ifndef GRAM_BASE_SIZED_STRUCT_H
#define GRAM_BASE_SIZED_STRUCT_H

#include "base/context.h"

/* What an _init does: the defaults as far as `size` goes, 0 beyond them. made may be NULL. */
void gram_sized_init(void *made, size_t size, const void *defaults, size_t known);

/* Options: `out` holds the defaults and takes what was given, which may be NULL; its size is then the known one. A size
 * that is not valid is GRAM_ERROR_ARGUMENT and names `type`_init; so is a field that is unknown here and not 0.
 * context may be NULL, then there is no message. */
gram_status gram_sized_read(gram_context *context, const char *function, const char *name, const char *type,
                            const void *given, void *out, size_t known);

/* A report that is to be filled, or NULL: is its size valid? Before the work, so that it is not in vain. */
gram_status gram_sized_check(gram_context *context, const char *function, const char *name, const char *type,
                             const void *given, size_t known);

/* Fills it, but for its size. given may be NULL, and of size 0. */
void gram_sized_write(void *given, const void *made, size_t known);

/* Does the caller's struct reach to the end of this member? */
#define GRAM_SIZED_HAS(given, member)                                                                                  \
    ((given)->size >= (size_t)((const char *)(&(given)->member + 1) - (const char *)(given)))

#endif
