/* The names of classes, as reports print them. */
#ifndef GRAM_CLI_REPORT_CLASS_NAMES_H
#define GRAM_CLI_REPORT_CLASS_NAMES_H

#include "cli/terminal/cli.h"

/* "classes": [...] */
void cli_classes_json(gram_json *json, const gram_classes *classes);
/* "3 classes (a, b, c)" */
void cli_classes_print(gram_string *text, const gram_classes *classes);

#endif
