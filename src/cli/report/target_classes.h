/* The classes of a target: their names, and the numbers 0, 1, ... that learners know them by. */
#ifndef GRAM_CLI_REPORT_TARGET_CLASSES_H
#define GRAM_CLI_REPORT_TARGET_CLASSES_H

#include "cli/terminal/cli.h"
#include "cli/terminal/json_print.h"
#include "cli/verb/model_facts.h"

typedef struct cli_classes {
    int64_t count;  /* 0: none */
    char **names;   /* as the table has them */
    double *values; /* of a column of numbers, ascending; NULL for text */
} cli_classes;

/* The classes of a target of text, or of these numbers. Returns CLI_DONE or the exit code after a message; the caller frees
 * them in any case. */
int cli_classes_find(const gram_column *target, int64_t n, const double *y, cli_classes *classes);
/* Of a model. */
int cli_classes_of_model(const gram_model *model, const char *file, cli_classes *classes);
void cli_classes_free(cli_classes *classes);

/* The number of the class that a prepared target is; -1 if it is none. */
int64_t cli_classes_number(const cli_classes *classes, double y);

/* What a model must keep to know them again. */
void cli_classes_facts(cli_facts *facts, const cli_classes *classes);

/* "classes": [...] */
void cli_classes_json(cli_json *json, const cli_classes *classes);
/* "3 classes (a, b, c)" */
void cli_classes_print(cli_text *text, const cli_classes *classes);

#endif
