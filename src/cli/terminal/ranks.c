/* What the environment says of other processes. */
#include "cli/terminal/ranks.h"

#include <stdlib.h>

/* A number in a variable of the environment; `otherwise` if there is none. */
int cli_ranks_number(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text && text[0] ? (int)strtol(text, NULL, 10) : otherwise;
}

/* Launchers tell their processes how many they are. Slurm's variables are there in a batch script too, but not those of a step with MPI. */
int cli_ranks_launched(int *rank)
{
    static const char *const words[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                           {"PMI_SIZE", "PMI_RANK"},
                                           {"MPI_LOCALNRANKS", "MPI_LOCALRANKID"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        *rank = cli_ranks_number(words[i][1], 0);
        if (cli_ranks_number(words[i][0], 0) > 1) return cli_ranks_number(words[i][0], 0);
    }
    *rank = cli_ranks_number("SLURM_PROCID", 0);
    return getenv("PMIX_RANK") || getenv("PMI_FD") ? cli_ranks_number("SLURM_STEP_NUM_TASKS", 1) : 1;
}
