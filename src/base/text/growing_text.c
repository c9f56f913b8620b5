#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/output.h>

void gram_string_free(gram_string *text)
{
    free(text->data);
    *text = (gram_string){0};
}

/* Room for `more` bytes and the final 0. */
static int grow(gram_string *text, size_t more)
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

void gram_string_put(gram_string *text, const char *bytes, size_t length)
{
    const int fits =
        text->fixed ? text->length <= text->room && length <= text->room - text->length : grow(text, length);
    if (fits && length > 0) memcpy(text->data + text->length, bytes, length);
    if (fits || text->fixed) text->length += length;
    if (fits && !text->fixed) text->data[text->length] = '\0';
}

void gram_string_add(gram_string *text, const char *format, ...)
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

void gram_string_add_field(gram_string *text, const char *value)
{
    if (value[strcspn(value, "\",;\t\r\n")] == '\0') {
        gram_string_put(text, value, strlen(value));
        return;
    }
    gram_string_put(text, "\"", 1);
    for (; *value; value++) {
        if (*value == '"') gram_string_put(text, "\"", 1);
        gram_string_put(text, value, 1);
    }
    gram_string_put(text, "\"", 1);
}

size_t gram_string_width(const char *bytes, size_t length)
{
    size_t width = 0;
    for (size_t i = 0; i < length; i++) width += ((unsigned char)bytes[i] & 0xC0) != 0x80;
    return width;
}

void gram_string_pad(gram_string *text, size_t column)
{
    size_t start = text->length;
    while (start > 0 && text->data[start - 1] != '\n') start--;
    size_t width = gram_string_width(text->data + start, text->length - start);
    do {
        gram_string_put(text, " ", 1);
    } while (++width < column);
}
