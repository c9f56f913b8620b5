/* Texts as symbols: letters, bytes, words, bases, or the items of a list. */
#include <string.h>

#include "kernel/text/text_features.h"

const char *const gram_over_words[] = {"letters", "bytes", "words", "dna", "strands", NULL};

/* A code point of UTF-8, or a byte that is none; *at moves behind it. */
static uint64_t next_letter(const unsigned char *text, int64_t length, int64_t *at)
{
    const unsigned char first = text[*at];
    const int more = first < 0xc2 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : 0;
    uint64_t code = more ? first & (0x3fu >> more) : first;
    ++*at;
    for (int k = 0; k < more; k++) {
        if (*at >= length || (text[*at] & 0xc0) != 0x80) break;
        code = code << 6 | (text[(*at)++] & 0x3fu);
    }
    return code;
}

static int is_word(unsigned char c)
{
    return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static uint64_t next_word(const unsigned char *text, int64_t length, int64_t *at)
{
    uint64_t key = 0;
    while (*at < length && !is_word(text[*at])) ++*at;
    if (*at >= length) return GRAM_NO_SYMBOL;
    for (; *at < length && is_word(text[*at]); ++*at) key = gram_feature_mix(key, text[*at]);
    return key == GRAM_NO_SYMBOL ? 0 : key;
}

/* ---- items of a list ---- */

static int is_blank(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '"' || c == '\'';
}

static int is_bar(unsigned char c)
{
    return c == ',' || c == ';' || c == '|';
}

/* The next item of a list whose items end at bars, or at blanks if it has no bars; without blanks around it. */
static uint64_t next_item(const unsigned char *text, int64_t length, int bars, int64_t *at)
{
    uint64_t key = 0;
    while (*at < length && is_blank(text[*at])) ++*at;
    const int64_t start = *at;
    while (*at < length && !(bars ? is_bar(text[*at]) : is_blank(text[*at]))) ++*at;
    int64_t end = (*at)++;
    while (end > start && is_blank(text[end - 1])) end--;
    if (end == start) return GRAM_NO_SYMBOL;
    for (int64_t i = start; i < end; i++) key = gram_feature_mix(key, (uint64_t)text[i] + 1);
    return key == GRAM_NO_SYMBOL ? 0 : key;
}

static gram_symbols read_items(const unsigned char *text, int64_t length, uint64_t *code)
{
    int64_t count = 0, at = 0;
    int bars = 0;
    while (length > 0 && is_blank(text[length - 1])) length--;
    while (at < length && is_blank(text[at])) at++;
    if (length - at >= 2 && memchr("[{(", text[at], 3) && memchr("]})", text[length - 1], 3)) {
        at++;
        length--;
    }
    for (int64_t i = at; i < length; i++) bars |= is_bar(text[i]);
    while (at < length) {
        const uint64_t item = next_item(text, length, bars, &at);
        if (item != GRAM_NO_SYMBOL) code[count++] = item;
    }
    return (gram_symbols){count, code};
}

static uint64_t base_of(unsigned char letter)
{
    switch (letter | 0x20) {
    case 'a': return 0;
    case 'c': return 1;
    case 'g': return 2;
    case 't':
    case 'u': return 3;
    default: return GRAM_NO_SYMBOL;
    }
}

gram_symbols gram_symbols_read(int over, const char *bytes, int64_t length, uint64_t *code)
{
    const unsigned char *text = (const unsigned char *)bytes;
    int64_t count = 0;
    if (over == GRAM_OVER_ITEMS) return read_items(text, length, code);
    for (int64_t at = 0; at < length;) {
        switch (over) {
        case GRAM_OVER_LETTERS: code[count++] = next_letter(text, length, &at); break;
        case GRAM_OVER_WORDS: {
            const uint64_t word = next_word(text, length, &at);
            if (word != GRAM_NO_SYMBOL) code[count++] = word;
            break;
        }
        case GRAM_OVER_BYTES: code[count++] = text[at++]; break;
        default: code[count++] = base_of(text[at++]);
        }
    }
    return (gram_symbols){count, code};
}
