/* Between the files of Mercer expansions. */
#ifndef GRAM_METHOD_MERCER_MERCER_H
#define GRAM_METHOD_MERCER_MERCER_H

#include <gram/mercer.h>

#include "solve/components/components.h"

struct gram_mercer {
    gram_memory *memory;
    gram_function *function;
    gram_mercer_report report;
    double *values; /* components */
};

/* The options as the roads read them (solve/components), for weights that are all above 0. */
gram_component_options gram_mercer_components(const gram_mercer_options *options);

#endif
