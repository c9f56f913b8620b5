/* The reader of LIBSVM's text. */
#include "table_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_input("input.libsvm", data, size);
    return 0;
}
