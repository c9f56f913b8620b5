/* The reader of NumPy's .npy. */
#include "table_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_input("input.npy", data, size);
    return 0;
}
