/* The first eigenvalues of a Gram matrix, centred or weighted or as it is, and their vectors continued to functions of any point:
 * what kernel PCA and Mercer expansions share.
 *
 * With K~ = H K H (centred) or S K S, S = diag(sqrt(w)) (weighted, or w = 1), its eigenvalues l_s and unit vectors v_s,
 *
 *     f_s(x) = (1/sqrt(l_s)) sum_i v_is s_i k~(x_i, x),     f_s(x_i) = sqrt(l_s) v_is/s_i.
 *
 * The roads are those of <gram/pca.h>. */
#ifndef GRAM_SOLVE_COMPONENTS_COMPONENTS_H
#define GRAM_SOLVE_COMPONENTS_COMPONENTS_H

#include <gram/pca.h>

#include "base/context.h"

/* What is asked for. */
typedef struct gram_component_options {
    const char *who; /* the public function, for messages */
    int64_t count;   /* of components, 1 to n */
    int centre;
    const double *weights; /* n, all above 0; NULL: all 1. Not together with `centre`. */
    gram_pca_solver solver;
    int64_t rank;
    double tolerance;
    int any_rank; /* values that are not above rounding are allowed; what belongs to them says nothing */
} gram_component_options;

/* How it will be done: a solver that is not auto, its rank, whether K is held in memory, and bytes. */
typedef struct gram_component_plan {
    gram_pca_solver solver;
    int64_t rank;
    int packed;
    double bytes, seconds;
    const char *reason;
} gram_component_plan;

gram_component_plan gram_components_choose(const gram_context *context, const gram_kernel *kernel, int64_t n, int64_t d,
                                           const gram_component_options *options);

/* What is found; each f_s has the sign that makes its value of largest size over the points positive. */
typedef struct gram_components {
    int64_t n, count;
    gram_pca_solver solver;
    double *values;             /* count */
    double *coordinates;        /* n x count: f_s(x_i) */
    const gram_points *centres; /* f is a sum over them: x, or points of its own */
    gram_points *own_centres;   /* NULL: x */
    double *own_rows;           /* what those are of */
    double *coefficients;       /* centres x count */
    double *constant;           /* count */
    double *
        mean; /* centred: a weight for each centre; their sum of k(centre, .) is the mean that was taken off. Else NULL */
    double whole;       /* tr K, weighted but not centred: what rounding is measured by */
    double trace;       /* of K~; of nystrom at most */
    double residual;    /* the largest |K~ v - l v| over the largest l; NaN where it is at rounding by itself */
    double trace_error; /* of nystrom: tr(K - F F')/tr K */
    int64_t rank;       /* of nystrom; else n, or d of covariance */
    int64_t products;   /* columns multiplied by K~ */
    int converged;
} gram_components;

/* Refuses, by the names of gram_pca_options, what does not fit n points of this kernel. */
gram_status gram_components_check(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                  const gram_component_options *options);

/* GRAM_NOT_CONVERGED comes with the best that was found. More components than eigenvalues above rounding are
 * GRAM_ERROR_ARGUMENT, with their number; none at all is GRAM_ERROR_DATA. Free it after a failure, too. */
gram_status gram_components_find(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                 const gram_component_options *options, gram_components *found);
/* Takes zeroed ones. */
void gram_components_free(gram_memory *memory, gram_components *found);

/* ---- between the files ---- */

typedef struct gram_component_work {
    gram_context *context;
    gram_kernel *kernel;
    const gram_points *x;
    gram_component_options options;
    gram_components *found;
} gram_component_work;

/* The roads: eigenvectors of K~ (components_matrix.c), and of F'F for K = F F' (components_factor.c). */
gram_status gram_components_by_matrix(gram_component_work *work, const gram_component_plan *plan);
gram_status gram_components_by_factor(gram_component_work *work, const gram_component_plan *plan);

/* GRAM_OK if all eigenvalues are above rounding. */
gram_status gram_components_check_rank(const gram_component_work *work);

#endif
