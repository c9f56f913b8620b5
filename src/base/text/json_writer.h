/* The text of model.json: a small writer, and how names that are not UTF-8 are kept.
 *
 * The writer counts what it writes and writes what there is room for, so a caller runs it twice: once without room, to
 * learn the length, and once more. Numbers have the shortest digits that read back and always a point or an exponent,
 * which tells them from integers; NaN is null.
 *
 * Names come from CSV files and may be any bytes, JSON is UTF-8. A byte b that is not part of a UTF-8 character is written
 * as the character U+10FF00 + b, from the last plane for private use; characters U+10FF80 to U+10FFFF themselves are
 * written byte by byte in the same way. So every name comes back as it was, and all usual ones look like themselves. */
#ifndef GRAM_BASE_TEXT_JSON_WRITER_H
#define GRAM_BASE_TEXT_JSON_WRITER_H

#include <stddef.h>
#include <stdint.h>

typedef struct gram_json {
    char *text;    /* NULL: only count */
    size_t size;   /* room */
    size_t length; /* of what was written, whether or not there was room */
    int comma;     /* is due before the next value */
} gram_json;

/* `key` is NULL inside of an array and for the outermost object. `bracket` is '{' or '['. */
void gram_json_open(gram_json *json, const char *key, char bracket);
void gram_json_close(gram_json *json, char bracket);
void gram_json_string(gram_json *json, const char *key, const char *value);
void gram_json_number(gram_json *json, const char *key, double value);
void gram_json_integer(gram_json *json, const char *key, int64_t value);
void gram_json_truth(gram_json *json, const char *key, int value);
void gram_json_null(gram_json *json, const char *key);

/* Undoes what was done to a name: text (valid UTF-8) is copied to out, which has strlen(text) + 1 bytes. */
void gram_json_decode(const char *text, char *out);

#endif
