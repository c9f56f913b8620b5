/* The names of classes, as reports print them. */
#ifndef GRAM_CLI_REPORT_CLASS_NAMES_H
#define GRAM_CLI_REPORT_CLASS_NAMES_H

#include "cli/terminal/cli.h"
#include "cli/terminal/json_print.h"

/* "classes": [...] */
void cli_classes_json(cli_json *json, const gram_classes *classes);
/* "3 classes (a, b, c)" */
void cli_classes_print(cli_text *text, const gram_classes *classes);

#endif
