/* Numbers as text, for the library's own readers and reports. */
#ifndef GRAM_BASE_TEXT_NUMBER_H
#define GRAM_BASE_TEXT_NUMBER_H

#include <gram/text.h>

/* gram_number_parse, called without the detour that a public symbol of a shared library takes. */
size_t gram_number_read(const char *text, size_t length, double *value);

/* A few digits for people, as "%.*g" writes them, with a point whatever the locale. Returns text. */
char *gram_number_short(double value, int digits, char text[GRAM_NUMBER_SIZE]);

#endif
