/* What reports and files are made of: a text that grows, and JSON onto it. */
#ifndef GRAM_OUTPUT_H
#define GRAM_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include <gram/export.h>

GRAM_BEGIN

/* ---- a text that grows ---- */

/* Starts as {0}; gram_string_free leaves it so. With `fixed`, data and room are the caller's: nothing is allocated, what
 * does not fit is only counted, and there is no final 0. */
typedef struct gram_string {
    char *data; /* with a final 0, or NULL while nothing was added */
    size_t length;
    size_t room;
    int failed; /* there was no memory: what is here is not all */
    int fixed;
} gram_string;

GRAM_API void gram_string_free(gram_string *text);
GRAM_API void gram_string_put(gram_string *text, const char *bytes, size_t length);

/* As printf does, so numbers with a fraction go by the locale: gram_number_format does not. Not for a fixed text. */
GRAM_API void gram_string_add(gram_string *text, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* As a field of CSV: quoted if need be. */
GRAM_API void gram_string_add_field(gram_string *text, const char *value);

/* Spaces up to `column`, counted in characters from the start of the line; at least one. */
GRAM_API void gram_string_pad(gram_string *text, size_t column);

/* Characters of UTF-8 text. */
GRAM_API size_t gram_string_width(const char *bytes, size_t length);

/* ---- JSON ---- */

/* Keys come in the order of the calls, numbers in the shortest digits that read back, null for NaN and infinity. Text is
 * UTF-8: of other bytes each becomes U+FFFD. With `exact`, for files that are read again, each such byte b becomes
 * U+10FF00 + b instead, so that nothing is lost, and numbers have a point or an exponent, which tells them from integers. */
typedef struct gram_json {
    gram_string *text;
    int exact;
    int comma; /* is due before the next value */
} gram_json;

/* `key` is NULL inside of an array and for the outermost object. `bracket` is '{' or '['. */
GRAM_API void gram_json_open(gram_json *json, const char *key, char bracket);
GRAM_API void gram_json_close(gram_json *json, char bracket);
GRAM_API void gram_json_string(gram_json *json, const char *key, const char *value);
GRAM_API void gram_json_number(gram_json *json, const char *key, double value);
GRAM_API void gram_json_integer(gram_json *json, const char *key, int64_t value);
GRAM_API void gram_json_truth(gram_json *json, const char *key, int value);
GRAM_API void gram_json_null(gram_json *json, const char *key);

GRAM_END

#endif
