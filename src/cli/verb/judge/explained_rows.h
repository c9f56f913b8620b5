/* An explanation for people. */
#ifndef GRAM_CLI_VERB_JUDGE_EXPLAINED_ROWS_H
#define GRAM_CLI_VERB_JUDGE_EXPLAINED_ROWS_H

#include "cli/terminal/cli.h"

/* `row`: that was asked for, from 1; 0: none. */
void cli_explanation_print(cli_session *session, gram_string *text, const gram_explanation *explanation,
                           const gram_model *model, int64_t row);

#endif
