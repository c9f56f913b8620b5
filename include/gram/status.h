/* Status codes: what every function of libgram that can fail returns.
 *
 * 0 is success, a positive status is a usable result with a caveat, a negative one is a failure; the text of the last
 * failure is kept in the context (gram_context_message). */
#ifndef GRAM_STATUS_H
#define GRAM_STATUS_H

#include <gram/export.h>

GRAM_BEGIN

/* name, value, short text: the one list of them all */
#define GRAM_STATUS_LIST(ENTRY)                                                                                        \
    ENTRY(GRAM_OK, 0, "success")                                                                                       \
    ENTRY(GRAM_NOT_CONVERGED, 1, "stopped before it converged; the best result so far is returned")                    \
    ENTRY(GRAM_ERROR_INTERNAL, -1, "internal error")                                                                   \
    ENTRY(GRAM_ERROR_ARGUMENT, -2, "an argument is out of its range")                                                  \
    ENTRY(GRAM_ERROR_SYNTAX, -3, "a text cannot be read")                                                              \
    ENTRY(GRAM_ERROR_DATA, -4, "bad data")                                                                             \
    ENTRY(GRAM_ERROR_DIMENSION, -5, "dimensions do not fit")                                                           \
    ENTRY(GRAM_ERROR_DOMAIN, -6, "a point lies outside the kernel's domain")                                           \
    ENTRY(GRAM_ERROR_NUMERICAL, -7, "numerical failure")                                                               \
    ENTRY(GRAM_ERROR_UNSET, -8, "a kernel parameter has no value yet")                                                 \
    ENTRY(GRAM_ERROR_UNSUPPORTED, -9, "not available for this kernel")                                                 \
    ENTRY(GRAM_ERROR_MEMORY, -10, "the system has no more memory")                                                     \
    ENTRY(GRAM_ERROR_BUDGET, -11, "over the memory budget")                                                            \
    ENTRY(GRAM_ERROR_OVERFLOW, -12, "a size does not fit in memory's address range")                                   \
    ENTRY(GRAM_ERROR_FILE, -13, "a file cannot be read or written")                                                    \
    ENTRY(GRAM_ERROR_CANCELLED, -14, "cancelled by the caller")

typedef enum gram_status {
#define GRAM_STATUS_ENUM(name, value, text) name = (value),
    GRAM_STATUS_LIST(GRAM_STATUS_ENUM)
#undef GRAM_STATUS_ENUM
} gram_status;

/* The name of a status, "GRAM_OK" for 0; "GRAM_UNKNOWN_STATUS" for a number that is not a status. Static, never NULL. */
GRAM_API const char *gram_status_name(gram_status status);

/* What a status means, in a few words. Static, never NULL. */
GRAM_API const char *gram_status_text(gram_status status);

GRAM_END

#endif
