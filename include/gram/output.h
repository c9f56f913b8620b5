/* What reports and files are made of: a text that grows, JSON onto it, and a file that is put in its place whole. */
#ifndef GRAM_OUTPUT_H
#define GRAM_OUTPUT_H

#include <gram/context.h>

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

/* Bytes of the character of UTF-8 that starts here, before a final 0; 0: there is none. */
GRAM_API size_t gram_utf8_length(const char *bytes);

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
GRAM_API void gram_json_string(gram_json *json, const char *key, const char *value); /* NULL: null */
GRAM_API void gram_json_number(gram_json *json, const char *key, double value);
GRAM_API void gram_json_integer(gram_json *json, const char *key, int64_t value);
GRAM_API void gram_json_truth(gram_json *json, const char *key, int value);
GRAM_API void gram_json_null(gram_json *json, const char *key);
/* Arrays: names[0 .. count), and values[0], values[ld], ... */
GRAM_API void gram_json_strings(gram_json *json, const char *key, int64_t count, const char *const *names);
GRAM_API void gram_json_numbers(gram_json *json, const char *key, int64_t count, const double *values, int64_t ld);

/* ---- a file that is put in its place whole ---- */

/* It is written aside, under another name in the same folder, and renamed in the end: until then an older file stays as it is,
 * and whatever fails leaves nothing behind. The new file has the permissions of the old one; a link is followed. Failures are
 * GRAM_ERROR_FILE and name the file: one that is there and not a regular file is refused. */
typedef struct gram_aside gram_aside;

/* The caller destroys it. */
GRAM_API gram_status gram_aside_create(gram_context *context, const char *path, gram_aside **aside);
/* Adds bytes. */
GRAM_API gram_status gram_aside_put(gram_context *context, gram_aside *aside, const void *bytes, size_t count);
/* Brings the bytes to the disk and then the file to its name. */
GRAM_API gram_status gram_aside_finish(gram_context *context, gram_aside *aside);
/* Drops what was not finished. Takes NULL. */
GRAM_API void gram_aside_destroy(gram_aside *aside);

GRAM_END

#endif
