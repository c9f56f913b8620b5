/* Bayesian linear regression: a Gaussian process with a linear kernel is a distribution of weights. */
#ifndef GRAM_CLI_REPORT_WEIGHTS_REPORT_H
#define GRAM_CLI_REPORT_WEIGHTS_REPORT_H

#include "cli/terminal/cli.h"

/* What a model keeps of them, in the features' own units: nothing is said if there is nothing. */
void cli_weights_json(gram_json *json, const gram_model *model);
void cli_weights_print(cli_session *session, gram_string *text, const gram_model *model);

#endif
