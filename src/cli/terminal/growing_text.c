#include "cli/terminal/growing_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cli_text_free(cli_text *text)
{
    free(text->data);
    *text = (cli_text){0};
}

/* Room for `more` bytes and the final 0. */
static int grow(cli_text *text, size_t more)
{
    if (text->failed || more >= (size_t)-1 / 4 - text->length) text->failed = 1;
    if (text->failed) return 0;
    if (text->length + more < text->room) return 1;
    const size_t room = 2 * (text->length + more) + 256;
    char *data = realloc(text->data, room);
    if (!data) {
        text->failed = 1;
        return 0;
    }
    text->data = data;
    text->room = room;
    return 1;
}

void cli_text_put(cli_text *text, const char *bytes, size_t length)
{
    if (!grow(text, length)) return;
    memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void cli_text_add(cli_text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    if (length >= 0 && grow(text, (size_t)length)) {
        (void)vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
    va_end(arguments);
}

void cli_text_add_field(cli_text *text, const char *value)
{
    if (value[strcspn(value, "\",;\t\r\n")] == '\0') {
        cli_text_put(text, value, strlen(value));
        return;
    }
    cli_text_put(text, "\"", 1);
    for (; *value; value++) {
        if (*value == '"') cli_text_put(text, "\"", 1);
        cli_text_put(text, value, 1);
    }
    cli_text_put(text, "\"", 1);
}

size_t cli_text_width(const char *bytes, size_t length)
{
    size_t width = 0;
    for (size_t i = 0; i < length; i++) width += ((unsigned char)bytes[i] & 0xC0) != 0x80;
    return width;
}

void cli_text_pad(cli_text *text, size_t column)
{
    size_t start = text->length;
    while (start > 0 && text->data[start - 1] != '\n') start--;
    size_t width = cli_text_width(text->data + start, text->length - start);
    do {
        cli_text_put(text, " ", 1);
    } while (++width < column);
}

char *cli_short_number(double value, char out[CLI_SHORT_SIZE])
{
    if (isnan(value)) return strcpy(out, "-");
    (void)snprintf(out, CLI_SHORT_SIZE, "%.6g", value);
    return out;
}

char *cli_count(long long value, char out[CLI_SHORT_SIZE])
{
    char digits[CLI_SHORT_SIZE];
    const int length = snprintf(digits, sizeof digits, "%lld", value);
    char *end = out;
    for (int i = 0; i < length; i++) {
        *end++ = digits[i];
        if (digits[i] != '-' && i + 1 < length && (length - i - 1) % 3 == 0) *end++ = ',';
    }
    *end = '\0';
    return out;
}
