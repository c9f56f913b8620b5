#include "base/text/json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/text.h>

/* Byte b is kept as KEPT + b; below 0x80 they are characters by themselves. */
enum { KEPT = 0x10FF00, FIRST_KEPT = KEPT + 0x80 };

/* ---- UTF-8 ---- */

/* The character at s and its length; 0 if there is none: cut off, overlong, a surrogate or above U+10FFFF. */
static size_t read_character(const unsigned char *s, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = s[0] < 0x80 ? 1 : s[0] >> 5 == 0x6 ? 2 : s[0] >> 4 == 0xE ? 3 : s[0] >> 3 == 0x1E ? 4 : 0;
    *code = s[0];
    if (length <= 1) return length;
    *code &= 0xFFu >> (length + 1);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        *code = *code << 6 | (s[i] & 0x3Fu);
    }
    return *code < least[length] || *code > 0x10FFFF || (*code >= 0xD800 && *code < 0xE000) ? 0 : length;
}

size_t gram_utf8_length(const char *bytes)
{
    uint32_t code;
    return read_character((const unsigned char *)bytes, &code);
}

void gram_json_decode(const char *text, char *out)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        uint32_t code;
        const size_t length = read_character(at, &code);
        if (length == 4 && code >= FIRST_KEPT) {
            *out++ = (char)(unsigned char)(code - KEPT);
            at += length;
            continue;
        }
        for (size_t i = length ? length : 1; i > 0; i--) *out++ = (char)*at++;
    }
    *out = '\0';
}

/* ---- writing ---- */

static void put(gram_json *json, const char *bytes, size_t count)
{
    gram_string_put(json->text, bytes, count);
}

static void put_text(gram_json *json, const char *text)
{
    put(json, text, strlen(text));
}

/* What stands for a byte that is not text: exactly, the surrogate pair of U+10FF00 + b. */
static void put_byte(gram_json *json, unsigned char byte)
{
    char escape[16] = "\\ufffd";
    if (json->exact) (void)snprintf(escape, sizeof escape, "\\udbff\\udf%02x", byte);
    put_text(json, escape);
}

static void put_quoted(gram_json *json, const char *value)
{
    const unsigned char *at = (const unsigned char *)value;
    char escape[8];
    put(json, "\"", 1);
    while (*at) {
        uint32_t code;
        const size_t length = read_character(at, &code);
        if (length == 0 || (json->exact && code >= FIRST_KEPT)) {
            put_byte(json, *at++);
            continue;
        }
        if (code == '"' || code == '\\') put(json, "\\", 1);
        if (code < ' ' || code == 0x7F) {
            (void)snprintf(escape, sizeof escape, "\\u%04x", (unsigned)code);
            put_text(json, escape);
        } else {
            put(json, (const char *)at, length);
        }
        at += length;
    }
    put(json, "\"", 1);
}

static void start(gram_json *json, const char *key)
{
    if (json->comma) put_text(json, ", ");
    json->comma = 1;
    if (!key) return;
    put_quoted(json, key);
    put_text(json, ": ");
}

void gram_json_open(gram_json *json, const char *key, char bracket)
{
    start(json, key);
    put(json, &bracket, 1);
    json->comma = 0;
}

void gram_json_close(gram_json *json, char bracket)
{
    put_text(json, bracket == '{' ? "}" : "]");
    json->comma = 1;
}

void gram_json_string(gram_json *json, const char *key, const char *value)
{
    start(json, key);
    if (value)
        put_quoted(json, value);
    else
        put_text(json, "null");
}

void gram_json_number(gram_json *json, const char *key, double value)
{
    char digits[GRAM_NUMBER_SIZE];
    start(json, key);
    if (!isfinite(value)) {
        put_text(json, "null");
        return;
    }
    put_text(json, gram_number_format(value, digits));
    if (json->exact && !strpbrk(digits, ".e")) put_text(json, ".0");
}

void gram_json_integer(gram_json *json, const char *key, int64_t value)
{
    char digits[GRAM_NUMBER_SIZE];
    start(json, key);
    (void)snprintf(digits, sizeof digits, "%" PRId64, value);
    put_text(json, digits);
}

void gram_json_truth(gram_json *json, const char *key, int value)
{
    start(json, key);
    put_text(json, value ? "true" : "false");
}

void gram_json_null(gram_json *json, const char *key)
{
    start(json, key);
    put_text(json, "null");
}

void gram_json_strings(gram_json *json, const char *key, int64_t count, const char *const *names)
{
    gram_json_open(json, key, '[');
    for (int64_t i = 0; i < count; i++) gram_json_string(json, NULL, names[i]);
    gram_json_close(json, '[');
}

void gram_json_numbers(gram_json *json, const char *key, int64_t count, const double *values, int64_t ld)
{
    gram_json_open(json, key, '[');
    for (int64_t i = 0; i < count; i++) gram_json_number(json, NULL, values[i * ld]);
    gram_json_close(json, '[');
}
