#include "base/text/spoken_failure.h"

#include <stdio.h>

void gram_write_dashes(const char *text, const char *dashes, char *out, size_t size)
{
    size_t at = 0;
    while (*text && at + 1 < size) {
        const int option = text[0] == '-' && text[1] == '-' && text[2] >= 'A' && text[2] <= 'z';
        if (!option) {
            out[at++] = *text++;
            continue;
        }
        for (const char *dash = dashes; *dash && at + 1 < size; dash++) out[at++] = *dash;
        text += 2;
    }
    out[at] = '\0';
}

gram_status gram_fail_spoken_list(gram_context *context, gram_status status, gram_speech speech, const char *advice,
                                  const char *format, va_list arguments)
{
    char message[GRAM_MESSAGE_SIZE], spoken[GRAM_MESSAGE_SIZE];
    (void)vsnprintf(message, sizeof message, format, arguments);
    gram_write_dashes(message, speech.dashes, spoken, sizeof spoken);
    (void)gram_fail(context, status, "%s: %s", speech.who, spoken);
    gram_write_dashes(advice ? advice : "", speech.dashes, spoken, sizeof spoken);
    return gram_advise(context, status, spoken);
}

gram_status gram_fail_spoken(gram_context *context, gram_status status, gram_speech speech, const char *advice,
                             const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)gram_fail_spoken_list(context, status, speech, advice, format, arguments);
    va_end(arguments);
    return status;
}
