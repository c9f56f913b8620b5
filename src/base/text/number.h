/* The number parser for the library's own readers. */
#ifndef GRAM_BASE_TEXT_NUMBER_H
#define GRAM_BASE_TEXT_NUMBER_H

#include <stddef.h>

/* gram_number_parse, called without the detour that a public symbol of a shared library takes. */
size_t gram_number_read(const char *text, size_t length, double *value);

#endif
