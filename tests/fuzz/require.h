/* What must hold of every input. */
#ifndef GRAM_FUZZ_REQUIRE_H
#define GRAM_FUZZ_REQUIRE_H

#include <stdio.h>
#include <stdlib.h>

#define require(truth)                                                                                                 \
    do {                                                                                                               \
        if (!(truth)) {                                                                                                \
            (void)fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #truth);                                  \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
