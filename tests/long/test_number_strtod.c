/* The number parser against strtod, on tens of millions of numbers. */
#define ROUNDS 10000000
#include "unit/test_number_strtod.c"
