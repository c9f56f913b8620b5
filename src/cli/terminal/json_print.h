/* Writes one JSON object: keys in the order of the calls, shortest digits that read back, null for NaN and infinity. */
#ifndef GRAM_CLI_TERMINAL_JSON_PRINT_H
#define GRAM_CLI_TERMINAL_JSON_PRINT_H

#include <stdint.h>

#include <gram/kernel.h>

#include "cli/terminal/growing_text.h"

typedef struct cli_json {
    cli_text *text;
    int needs_comma;
} cli_json;

/* `key` is NULL inside of an array and for the outermost object. `bracket` is '{' or '['. */
void cli_json_open(cli_json *json, const char *key, char bracket);
void cli_json_close(cli_json *json, char bracket);

void cli_json_string(cli_json *json, const char *key, const char *value);
void cli_json_number(cli_json *json, const char *key, double value);
void cli_json_integer(cli_json *json, const char *key, int64_t value);
void cli_json_truth(cli_json *json, const char *key, int value);
void cli_json_null(cli_json *json, const char *key);
/* true, false, or null for what is not known */
void cli_json_answer(cli_json *json, const char *key, gram_answer value);

#endif
