/* Between the files of kernel PCA. */
#ifndef GRAM_METHOD_PCA_PCA_H
#define GRAM_METHOD_PCA_PCA_H

#include <gram/pca.h>

#include "solve/components/components.h"

struct gram_pca {
    gram_memory *memory;
    gram_function *function;
    gram_pca_report report;
    double *values;      /* components */
    double *coordinates; /* n x components */
};

/* The options as the roads read them (solve/components). */
gram_component_options gram_pca_components(const gram_pca_options *options);

#endif
