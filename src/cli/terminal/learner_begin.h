/* What verbs that learn begin with: a learner with the options of the command line, which says its plan. */
#ifndef GRAM_CLI_TERMINAL_LEARNER_BEGIN_H
#define GRAM_CLI_TERMINAL_LEARNER_BEGIN_H

#include "cli/terminal/options.h"

/* `check`: what the options alone decide is checked before data are read. Returns CLI_DONE or the exit code after a message; the
 * caller destroys the learner in any case. */
int cli_learner_begin(cli_session *session, const char *verb, const cli_settings *const *settings, size_t count,
                      int check, gram_learner **learner);

#endif
