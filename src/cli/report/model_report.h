/* What is known of a model, in the same words from `fit`, which made it, and `info`, which read it. */
#ifndef GRAM_CLI_REPORT_MODEL_REPORT_H
#define GRAM_CLI_REPORT_MODEL_REPORT_H

#include "cli/report/relevance_report.h"
#include "cli/terminal/cli.h"

typedef struct cli_model_report {
    const gram_model *model; /* borrowed */
    char *kernel;            /* as text */
    char *second_kernel;     /* of a second view, or NULL */
    gram_description *description;
    cli_relevance relevance;
} cli_model_report;

/* `file`: where the model is kept; NULL: it is not. Returns the exit code. The caller frees the report, also after a failure,
 * and before the model. */
int cli_model_report_find(cli_session *session, const gram_model *model, const char *file, cli_model_report *report);
void cli_model_report_free(cli_model_report *report);

/* Keys of an object that is open. */
void cli_model_report_json(gram_json *json, const cli_model_report *report);

/* Kernel, ridge, solver, errors, relevance: rows and headings. */
void cli_model_report_print(cli_session *session, gram_string *text, const cli_model_report *report);

/* The classes of a classifier: "classes": [...], and "3 classes (a, b, c)". */
void cli_classes_json(gram_json *json, const gram_classes *classes);
void cli_classes_print(gram_string *text, const gram_classes *classes);

/* "y" or "y and z" or "7 targets"; "nothing" without one. */
void cli_add_targets(gram_string *text, const gram_preparation_description *known);
/* "10 features, 2 of them text with 7 levels" */
void cli_add_features(gram_string *text, const gram_preparation_description *known);

#endif
