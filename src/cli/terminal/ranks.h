/* One of several processes that a launcher (mpirun, srun) started.
 *
 * The command of `make cluster` works on one fit with all of them: each makes the same calls, the first alone prints and writes. Any other command says that it
 * cannot, since as many copies would do the same and write to the same files. */
#ifndef GRAM_CLI_TERMINAL_RANKS_H
#define GRAM_CLI_TERMINAL_RANKS_H

#include "cli/terminal/cli.h"

/* How many processes a launcher started together, by the environment, 1 if none did; and which of them this is. */
int cli_ranks_launched(int *rank);
/* A whole number in a variable of the environment; `otherwise` if there is none. */
int cli_ranks_number(const char *variable, int otherwise);

/* Before anything else. CLI_DONE, or the exit code after a message. */
int cli_ranks_begin(int *count, char ***arguments);
/* After everything else: the exit code of this process. If only some of the ranks failed, one of them says why, and all end. */
int cli_ranks_end(int code);

/* Is this the process that prints and writes? */
int cli_ranks_first(void);
/* Does a launcher stand between standard output and whoever reads it? */
int cli_ranks_share_output(void);
/* The message of a failure, which is printed by one rank only. */
void cli_ranks_keep_message(const char *message, const char *help);

/* What is left for each of the ranks of this machine, unless it was `given`; of all machines the least budget. */
int cli_ranks_threads(int threads, int given);
size_t cli_ranks_budget(size_t budget, int given);

/* The session's context works with the other ranks, if they have the same gram and the same command. CLI_DONE, or the exit code after a message. */
int cli_ranks_join(cli_session *session);

/* What was spread and what it cost, for reports. Called by all ranks. */
void cli_ranks_cost(cli_session *session, gram_string *text);
void cli_ranks_json(cli_session *session, gram_json *json);

#endif
