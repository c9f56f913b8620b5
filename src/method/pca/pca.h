/* Between the files of kernel PCA. */
#ifndef GRAM_METHOD_PCA_PCA_H
#define GRAM_METHOD_PCA_PCA_H

#include <gram/pca.h>

#include "base/context.h"

struct gram_pca {
    gram_memory *memory;
    gram_function *function;
    gram_pca_report report;
    double *values;      /* components */
    double *coordinates; /* n x components */
    double *mean;        /* a weight for each centre of the function, or NULL */
    double *chance;      /* report.analysed, or NULL */
};

/* One fit, and what a road to the components must find: values, coordinates, and the function as centres, coefficients and
 * constant. */
typedef struct gram_pca_work {
    gram_context *context;
    gram_kernel *kernel;
    const gram_points *x;
    gram_pca_options options;
    gram_pca *pca;
    gram_points *centres; /* NULL: x */
    double *own_centres;  /* what they are of, if they are the road's own */
    double *coefficients; /* centres x components */
    double *constant;     /* components */
    double whole;         /* tr K, not centred: what rounding is measured by */
    int converged;
    int only_values; /* there may be fewer above rounding, and the rest is not needed */
} gram_pca_work;

/* How it will be done: a solver that is not auto, its rank, whether K is held in memory, and bytes. */
typedef struct gram_pca_plan {
    gram_pca_solver solver;
    int64_t rank;
    int packed;
    double bytes, seconds;
    const char *reason;
} gram_pca_plan;

gram_pca_plan gram_pca_choose(const gram_context *context, const gram_kernel *kernel, int64_t n, int64_t d,
                              const gram_pca_options *options);

/* The roads: eigenvectors of K~ (pca_matrix.c), and of F'F for K = F F' (pca_factor.c). */
gram_status gram_pca_by_matrix(gram_pca_work *work, const gram_pca_plan *plan);
gram_status gram_pca_by_factor(gram_pca_work *work, const gram_pca_plan *plan);

/* The first `components` eigenvalues of K~ and nothing more; those that K~ has not are about 0. */
gram_status gram_pca_values(gram_context *context, gram_kernel *kernel, const gram_points *x,
                            const gram_pca_options *options, double *values);

/* Parallel analysis: `chance` has room for options->most_components. */
typedef struct gram_pca_analysis {
    double *chance;
    int64_t significant, rows, tested;
} gram_pca_analysis;

gram_status gram_pca_parallel_analysis(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                       const gram_pca_options *options, gram_pca_analysis *found);

/* Is the fixed point for this kernel? */
int gram_preimage_has_fixed_point(const gram_kernel *kernel);

/* GRAM_OK if all eigenvalues are above rounding. */
gram_status gram_pca_check_rank(const gram_pca_work *work);

#endif
