#include "cli/terminal/json_print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/text.h>

/* Bytes of the UTF-8 character at s, 0 if there is none: cut off, overlong, a surrogate or above U+10FFFF. */
static size_t utf8_length(const unsigned char *s)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = s[0] < 0x80 ? 1 : s[0] >> 5 == 0x6 ? 2 : s[0] >> 4 == 0xE ? 3 : s[0] >> 3 == 0x1E ? 4 : 0;
    if (length <= 1) return length;
    unsigned code = s[0] & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        code = code << 6 | (s[i] & 0x3Fu);
    }
    return code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0 : length;
}

static void put_string(cli_text *text, const char *value)
{
    cli_text_put(text, "\"", 1);
    while (*value) {
        const unsigned char c = (unsigned char)*value;
        const size_t length = utf8_length((const unsigned char *)value);
        if (length == 0)
            cli_text_add(text, "\\ufffd");
        else if (c == '"' || c == '\\')
            cli_text_add(text, "\\%c", c);
        else if (c < ' ' || c == 0x7F)
            cli_text_add(text, "\\u%04x", c);
        else
            cli_text_put(text, value, length);
        value += length ? length : 1;
    }
    cli_text_put(text, "\"", 1);
}

static void start(cli_json *json, const char *key)
{
    if (json->needs_comma) cli_text_add(json->text, ", ");
    json->needs_comma = 1;
    if (!key) return;
    put_string(json->text, key);
    cli_text_add(json->text, ": ");
}

void cli_json_open(cli_json *json, const char *key, char bracket)
{
    start(json, key);
    cli_text_put(json->text, &bracket, 1);
    json->needs_comma = 0;
}

void cli_json_close(cli_json *json, char bracket)
{
    cli_text_put(json->text, bracket == '{' ? "}" : "]", 1);
    json->needs_comma = 1;
}

void cli_json_string(cli_json *json, const char *key, const char *value)
{
    start(json, key);
    put_string(json->text, value);
}

void cli_json_number(cli_json *json, const char *key, double value)
{
    char digits[GRAM_NUMBER_SIZE];
    start(json, key);
    cli_text_add(json->text, "%s", isfinite(value) ? gram_number_format(value, digits) : "null");
}

void cli_json_integer(cli_json *json, const char *key, int64_t value)
{
    start(json, key);
    cli_text_add(json->text, "%" PRId64, value);
}

void cli_json_truth(cli_json *json, const char *key, int value)
{
    start(json, key);
    cli_text_add(json->text, value ? "true" : "false");
}

void cli_json_null(cli_json *json, const char *key)
{
    start(json, key);
    cli_text_add(json->text, "null");
}

void cli_json_answer(cli_json *json, const char *key, gram_answer value)
{
    if (value == GRAM_UNKNOWN)
        cli_json_null(json, key);
    else
        cli_json_truth(json, key, value == GRAM_YES);
}
