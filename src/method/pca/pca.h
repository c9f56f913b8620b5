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
    double *mean;        /* a weight for each centre of the function, or NULL */
    double *chance;      /* report.analysed, or NULL */
};

/* The options as the roads read them (solve/components). */
gram_component_options gram_pca_components(const gram_pca_options *options);

/* Parallel analysis: `chance` has room for options->most_components. */
typedef struct gram_pca_analysis {
    double *chance;
    int64_t significant, rows, tested;
} gram_pca_analysis;

gram_status gram_pca_parallel_analysis(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                       const gram_pca_options *options, gram_pca_analysis *found);

/* Is the fixed point for this kernel? */
int gram_preimage_has_fixed_point(const gram_kernel *kernel);

#endif
