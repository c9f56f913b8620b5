/* A text that grows: what a verb prints is made whole before any of it is written. */
#ifndef GRAM_CLI_TERMINAL_GROWING_TEXT_H
#define GRAM_CLI_TERMINAL_GROWING_TEXT_H

#include <stddef.h>

typedef struct cli_text {
    char *data; /* always with a final 0, or NULL while nothing was added */
    size_t length;
    size_t room;
    int failed; /* there was no memory: what is here is not all */
} cli_text;

void cli_text_free(cli_text *text);
void cli_text_put(cli_text *text, const char *bytes, size_t length);
void cli_text_add(cli_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As a field of CSV: quoted if need be. */
void cli_text_add_field(cli_text *text, const char *value);

/* Spaces up to `column`, counted in characters from the start of the line; at least one. */
void cli_text_pad(cli_text *text, size_t column);

/* Characters of UTF-8 text. */
size_t cli_text_width(const char *bytes, size_t length);

enum { CLI_SHORT_SIZE = 32 };

/* Six digits for people; "-" for NaN. The point is a point: the command never sets a locale. */
char *cli_short_number(double value, char out[CLI_SHORT_SIZE]);

/* 1234567 as 1,234,567 */
char *cli_count(long long value, char out[CLI_SHORT_SIZE]);

#endif
