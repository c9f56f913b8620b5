/* A command without MPI: it has no other ranks, and says so where a launcher started several. */
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/ranks.h"

int cli_ranks_begin(int *count, char ***arguments)
{
    const char *each = getenv("GRAM_RANKS");
    int rank = 0;
    const int ranks = cli_ranks_launched(&rank);
    (void)count;
    (void)arguments;
    if (ranks < 2 || (each && strcmp(each, "each") == 0)) return CLI_DONE;
    if (rank > 0) return CLI_WRONG_USE;
    return cli_fail(CLI_WRONG_USE,
                    "Build it with `make cluster` and run build/cluster/bin/gram; or set GRAM_RANKS=each where every "
                    "process has a command of its own.",
                    "%d processes were started together, and this gram was built without MPI: each would do all of the "
                    "work and write to the same files",
                    ranks);
}

int cli_ranks_end(int code)
{
    return code;
}

int cli_ranks_first(void)
{
    return 1;
}

int cli_ranks_share_output(void)
{
    return 0;
}

void cli_ranks_keep_message(const char *message, const char *help)
{
    (void)message;
    (void)help;
}

int cli_ranks_threads(int threads, int given)
{
    (void)given;
    return threads;
}

size_t cli_ranks_budget(size_t budget, int given)
{
    (void)given;
    return budget;
}

int cli_ranks_join(cli_session *session)
{
    (void)session;
    return CLI_DONE;
}

void cli_ranks_cost(cli_session *session, gram_string *text)
{
    (void)session;
    (void)text;
}

void cli_ranks_json(cli_session *session, gram_json *json)
{
    (void)session;
    (void)json;
}
