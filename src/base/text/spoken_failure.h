/* Failures in the words of whoever asked: who speaks, and what stands before the name of an option. A command says "thin: --scores ...",
 * a C program reads "scored_points: scores ...". Options are written --name in messages and advice. */
#ifndef GRAM_BASE_TEXT_SPOKEN_FAILURE_H
#define GRAM_BASE_TEXT_SPOKEN_FAILURE_H

#include <stdarg.h>

#include "base/context.h"

typedef struct gram_speech {
    const char *who, *dashes; /* "thin" and "--", or "scored_points" and "" */
} gram_speech;

/* gram_fail and gram_advise (advice NULL: none). Nothing is allocated. Returns the status. */
gram_status gram_fail_spoken(gram_context *context, gram_status status, gram_speech speech, const char *advice,
                             const char *format, ...) GRAM_PRINTF(5, 6);
gram_status gram_fail_spoken_list(gram_context *context, gram_status status, gram_speech speech, const char *advice,
                                  const char *format, va_list arguments);

/* Copies `text` with the dashes of the speaker instead of "--" before a letter. */
void gram_write_dashes(const char *text, const char *dashes, char *out, size_t size);

#endif
