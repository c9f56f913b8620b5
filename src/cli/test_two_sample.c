#include "test.h"

int cli_test_two_sample(int count, char **arguments)
{
    (void)count, (void)arguments;
    return cli_fail(CLI_FAULT, NULL, "test: not there yet");
}
