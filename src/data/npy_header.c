#include "data/npy_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_space(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n')) c->at++;
}

/* Takes the character after space; 0 if another one is there. */
static int take(cursor *c, char wanted)
{
    skip_space(c);
    if (c->at == c->end || *c->at != wanted) return 0;
    c->at++;
    return 1;
}

static int take_word(cursor *c, const char *word)
{
    const size_t length = strlen(word);
    skip_space(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return 0;
    c->at += length;
    return 1;
}

/* 'text' or "text", without escapes, shorter than `size` */
static int take_string(cursor *c, char *out, size_t size)
{
    skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) return 0;
    const char quote = *c->at++;
    const char *close = memchr(c->at, quote, (size_t)(c->end - c->at));
    const size_t length = close ? (size_t)(close - c->at) : size;
    if (length >= size || memchr(c->at, '\\', length) || memchr(c->at, '\0', length)) return 0;
    memcpy(out, c->at, length);
    out[length] = '\0';
    c->at = close + 1;
    return 1;
}

static int take_size(cursor *c, int64_t *value)
{
    skip_space(c);
    const char *start = c->at;
    *value = 0;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9') {
        if (*value > (INT64_MAX - 9) / 10) return 0;
        *value = 10 * *value + (*c->at++ - '0');
    }
    return c->at > start;
}

/* (), (3,), (3, 4), (3, 4, 5) */
static int take_shape(cursor *c, gram_npy_shape *shape)
{
    shape->dimensions = 0;
    if (!take(c, '(')) return 0;
    while (!take(c, ')')) {
        int64_t size;
        if (!take_size(c, &size)) return 0;
        if (shape->dimensions < GRAM_NPY_DIMENSIONS) shape->size[shape->dimensions] = size;
        shape->dimensions++;
        if (take(c, ',')) continue;
        if (shape->dimensions == 1 || !take(c, ')')) return 0; /* (3) is a number, not a tuple */
        break;
    }
    return 1;
}

static int take_truth(cursor *c, int *value)
{
    *value = take_word(c, "True");
    return *value || take_word(c, "False");
}

/* One key and its value; *seen gets the key's bit. */
static const char *take_entry(cursor *c, gram_npy_shape *shape, unsigned *seen)
{
    char key[GRAM_NPY_TYPE_SIZE];
    unsigned bit = 0;
    int good = 0;
    if (!take_string(c, key, sizeof key) || !take(c, ':')) return "its header is not a dictionary";
    if (strcmp(key, "descr") == 0) {
        bit = 1;
        good = take_string(c, shape->type, sizeof shape->type);
    } else if (strcmp(key, "fortran_order") == 0) {
        bit = 2;
        good = take_truth(c, &shape->fortran_order);
    } else if (strcmp(key, "shape") == 0) {
        bit = 4;
        good = take_shape(c, shape);
    }
    if (bit == 0) return "its header has an unknown key";
    if (*seen & bit) return "its header has a key twice";
    *seen |= bit;
    if (good) return NULL;
    return bit == 1   ? "its 'descr' is not a plain number type"
           : bit == 2 ? "its 'fortran_order' is neither True nor False"
                      : "its 'shape' is not a list of sizes";
}

const char *gram_npy_parse(const char *text, size_t length, gram_npy_shape *shape)
{
    cursor c = {text, text + length};
    unsigned seen = 0;
    memset(shape, 0, sizeof *shape);
    if (!take(&c, '{')) return "its header is not a dictionary";
    while (!take(&c, '}')) {
        const char *wrong = take_entry(&c, shape, &seen);
        if (wrong) return wrong;
        if (take(&c, ',')) continue;
        if (!take(&c, '}')) return "its header is not a dictionary";
        break;
    }
    skip_space(&c);
    if (c.at < c.end) return "its header has text after the dictionary";
    if (seen != 7) return "its header lacks one of 'descr', 'fortran_order', 'shape'";
    return NULL;
}

size_t gram_npy_format(const char *type, int64_t rows, int64_t columns, char header[GRAM_NPY_HEADER])
{
    const size_t prelude = 10, alignment = 64;
    memset(header, ' ', GRAM_NPY_HEADER);
    char shape[64];
    (void)snprintf(shape, sizeof shape, columns > 0 ? "(%" PRId64 ", %" PRId64 ")" : "(%" PRId64 ",)", rows, columns);
    const int written = snprintf(header + prelude, GRAM_NPY_HEADER - prelude,
                                 "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    const size_t end = prelude + (size_t)written;
    header[end] = ' ';
    const size_t total = (end + 1 + alignment - 1) / alignment * alignment;
    header[total - 1] = '\n';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)((total - prelude) & 0xFF);
    header[9] = (char)((total - prelude) >> 8);
    return total;
}
