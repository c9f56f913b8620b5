/* Numbers as text, whatever the locale. */
#ifndef GRAM_BASE_NUMBER_H
#define GRAM_BASE_NUMBER_H

#include <stddef.h>

enum { GRAM_NUMBER_SIZE = 32, GRAM_BYTES_SIZE = 32 };

/* The shortest digits that read back to the same double, with a point whatever the locale: 0.3, -2, 1e-05, inf, nan.
 * Returns text. */
char *gram_number_format(double value, char text[GRAM_NUMBER_SIZE]);

/* Reads the longest decimal number (digits, one point, exponent; no hex, no inf or nan, no leading space) at the start
 * of text[0 .. length), correctly rounded. Returns how many characters it took, 0 if there is no number. An overflow
 * gives inf, an underflow 0 or a subnormal. */
size_t gram_number_parse(const char *text, size_t length, double *value);

/* "3.2 GiB", "17 B". Returns text. */
char *gram_bytes_format(size_t bytes, char text[GRAM_BYTES_SIZE]);

#endif
