/* How much memory the command used. */
#ifndef GRAM_CLI_TERMINAL_FREE_MEMORY_H
#define GRAM_CLI_TERMINAL_FREE_MEMORY_H

#include <gram/context.h>

/* The most that this process held, in bytes. */
static inline size_t cli_memory_peak(void)
{
    return gram_system_memory_peak();
}

#endif
