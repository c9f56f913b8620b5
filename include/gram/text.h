/* Numbers, sizes and near names as text, whatever the locale. */
#ifndef GRAM_TEXT_H
#define GRAM_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <gram/export.h>

GRAM_BEGIN

enum { GRAM_NUMBER_SIZE = 32, GRAM_BYTES_SIZE = 32 };

/* The shortest digits that read back to the same double, with a point whatever the locale: 0.3, -2, 1e-05, inf, nan.
 * Returns text. */
GRAM_API char *gram_number_format(double value, char text[GRAM_NUMBER_SIZE]);

/* Reads the longest decimal number (digits, one point, exponent; no hex, no inf or nan, no leading space) at the start
 * of text[0 .. length), correctly rounded. Returns how many characters it took, 0 if there is no number. An overflow
 * gives inf, an underflow 0 or a subnormal. */
GRAM_API size_t gram_number_parse(const char *text, size_t length, double *value);

/* "3.2 GiB", "17 B". Returns text. */
GRAM_API char *gram_bytes_format(size_t bytes, char text[GRAM_BYTES_SIZE]);

/* "8G", "512M", "1.5GiB", "100000": the other way round; B, K, M, G, T and P, capital or not, are powers of 1024. 0 if it is not such
 * a size, or not at least 1 and below 9e18. */
GRAM_API int gram_bytes_parse(const char *text, uint64_t *bytes);

/* "90", "90s", "5m", "1.5h": a time in seconds, minutes or hours. 0 if it is not one, or not above 0. */
GRAM_API int gram_seconds_parse(const char *text, double *seconds);

/* 1234567 as "1,234,567". Returns text. */
GRAM_API char *gram_count_format(int64_t count, char text[GRAM_NUMBER_SIZE]);

/* The candidate that `word` most likely meant: at most 2 edits away (insertion, deletion, substitution, swap of
 * neighbours; the case of letters does not count) and fewer than the word has letters, or, for two letters or more, the
 * first that begins with the word; the first of equally near ones. NULL if none is near. Of "nystorm:20" the part before
 * the colon counts where the whole is near none. O(count length^2), no allocation. */
GRAM_API const char *gram_suggest(const char *word, const char *const *candidates, size_t count);

/* The same of words in one text, with blanks between, copied to `found`. NULL if none is near, or the one that is has no room. */
enum { GRAM_WORD_SIZE = 64 };
GRAM_API const char *gram_suggest_word(const char *word, const char *words, char found[GRAM_WORD_SIZE]);

GRAM_END

#endif
