/* What is known of a model, in the same words from `fit`, which made it, and `info`, which read it. */
#ifndef GRAM_CLI_REPORT_MODEL_REPORT_H
#define GRAM_CLI_REPORT_MODEL_REPORT_H

#include "cli/terminal/cli.h"

/* `file`: where the model is kept; NULL: it is not. Returns the exit code. The caller destroys the description, before the model. */
int cli_model_report_find(cli_session *session, const gram_model *model, const char *file,
                          gram_description **description);

/* Kernel, ridge, solver, errors, weights, relevance: rows and headings. */
void cli_model_report_print(cli_session *session, gram_string *text, const gram_description *description);

/* The `most` most relevant features, with bars; nothing if the kernel does not tell. */
void cli_relevance_print(cli_session *session, gram_string *text, const gram_description *description, int64_t most);

/* The classes of a classifier: "3 classes (a, b, c)". */
void cli_classes_print(gram_string *text, const gram_classes *classes);

/* "y" or "y and z" or "7 targets"; "nothing" without one. */
void cli_add_targets(gram_string *text, const gram_preparation_description *known);
/* "10 features, 2 of them text with 7 levels" */
void cli_add_features(gram_string *text, const gram_preparation_description *known);

#endif
